//! A closure returns a value of another type.
use dwell::SmallBox;
use dwell::small::Coercible;
use std::fmt::Debug;

static OTHER: Coercible<u8, u8> = Coercible::new(1);

fn main() {
    let _value: SmallBox<dyn Debug> = SmallBox::new_with(7_u64, |_| &OTHER as _);
}
