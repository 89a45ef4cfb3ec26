//! The value of one box, returned for another.
use dwell::{SmallBox, small_box};
use std::any::Any;
use std::error::Error;

fn main() {
    let first: SmallBox<dyn Any> = small_box!(1_u8);
    let second: SmallBox<dyn Any> = small_box!(String::new());
    let _value = first.coerce::<dyn Any, _>(|outer| {
        let _value = second.coerce::<dyn Any, _>(|_inner| outer);
        outer
    });
    let _error: Option<&dyn Error> = None;
}
