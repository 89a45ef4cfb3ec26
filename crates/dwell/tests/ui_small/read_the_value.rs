//! A closure that coerces a value cannot read it.
use dwell::SmallBox;
use std::fmt::Debug;

fn main() {
    let _value: SmallBox<dyn Debug> = SmallBox::new_coerced(7_u64, |value| {
        println!("{}", value.value);
        value as _
    });
}
