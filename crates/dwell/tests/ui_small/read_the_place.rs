//! A place is not for reading.
use dwell::SmallBox;
use std::fmt::Debug;

fn main() {
    let _value: SmallBox<dyn Debug> = SmallBox::new_with(7_u64, |place| {
        println!("{}", place.value);
        place as _
    });
}
