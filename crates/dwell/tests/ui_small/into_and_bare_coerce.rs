//! A `Box<dyn Shape>` by `into`, and closures that name no target.
use dwell::SmallBox;
use dwell::slab::{Slab, Slot};
use std::fmt::Debug;

trait Shape {}
impl Shape for u8 {}

fn main() {
    let shape: Box<dyn Shape> = Box::new(1_u8);
    let _small: SmallBox<dyn Shape> = shape.into();

    let _new: SmallBox<dyn Debug> = SmallBox::new_coerced(1_u8, |v| v);
    let small: SmallBox<u8> = SmallBox::new(1);
    let _coerced: SmallBox<dyn Debug> = small.coerce(|v| v);
    let slot: Slot<u8> = Slab::new().insert(1);
    let _slot: Slot<dyn Debug> = slot.coerce(|v| v);
}
