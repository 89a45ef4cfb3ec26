//! What must stay invariant: slots that can be leaked, and interior mutability in a pool.
use dwell::slab::{Pooled, Slab, Slot};
use std::cell::Cell;

fn of_slab<'a>(slot: Slot<&'static str>) -> Slot<&'a str> {
    slot
}

fn coerced<'a>(slot: Slot<&'static str>) -> Slot<&'a str> {
    slot.coerce(|view| view)
}

fn slab<'a>(slab: Slab<&'static str>) -> Slab<&'a str> {
    slab
}

fn interior<'a>(slot: Pooled<Cell<&'static str>>) -> Pooled<Cell<&'a str>> {
    slot
}

fn behind_a_reference<'s, 'a>(slot: &'s mut Pooled<&'static str>) -> &'s mut Pooled<&'a str> {
    slot
}

fn longer<'a>(slot: Pooled<&'a str>) -> Pooled<&'static str> {
    slot
}

fn output<'a>(
    slot: Pooled<dyn Future<Output = &'static str>>,
) -> Pooled<dyn Future<Output = &'a str>> {
    slot
}

fn main() {}
