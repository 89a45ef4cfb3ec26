//! A closure returns a value of another type, or another value of the type.
use dwell::SmallBox;
use std::fmt::Debug;

fn main() {
    let _text: SmallBox<dyn Debug> = SmallBox::new_coerced("text", |text| {
        let _number: SmallBox<dyn Debug> = SmallBox::new_coerced(7_u64, |_| text);
        text
    });
    let _outer: SmallBox<dyn Debug> = SmallBox::new_coerced(1_u64, |outer| {
        let _inner: SmallBox<dyn Debug> = SmallBox::new_coerced(2_u64, |_| outer as _);
        outer as _
    });
}
