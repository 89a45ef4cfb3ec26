//! What must stay invariant: slots that can be leaked, in each spelling, and interior mutability in a pool.
use dwell::slab::{Invariant, OneThread, PoolSlot, Slab, Slot};
use std::cell::Cell;

type Half<'a> = Slot<&'a str, OneThread, Invariant<&'static str>>;

fn of_slab<'a>(slot: Slot<&'static str>) -> Slot<&'a str> {
    slot
}

fn coerced<'a>(slot: Slot<&'static str>) -> Slot<&'a str> {
    slot.coerce(|view| view)
}

fn whole<'a>(slot: Half<'a>) -> Slot<&'a str> {
    slot
}

fn leaked<'a>(slot: Half<'a>) -> dwell::slab::Key {
    slot.leak()
}

fn coerced_half<'a>(slot: Half<'a>) -> Slot<&'a str> {
    slot.coerce(|view| view)
}

fn slab<'a>(slab: Slab<&'static str>) -> Slab<&'a str> {
    slab
}

fn interior<'a>(slot: PoolSlot<Cell<&'static str>>) -> PoolSlot<Cell<&'a str>> {
    slot
}

fn behind_a_reference<'s, 'a>(slot: &'s mut PoolSlot<&'static str>) -> &'s mut PoolSlot<&'a str> {
    slot
}

fn longer<'a>(slot: PoolSlot<&'a str>) -> PoolSlot<&'static str> {
    slot
}

fn output<'a>(
    slot: PoolSlot<dyn Future<Output = &'static str>>,
) -> PoolSlot<dyn Future<Output = &'a str>> {
    slot
}

fn main() {}
