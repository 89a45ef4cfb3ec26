//! slotmap: one block of slots, occupied or vacant. The first slot is always unused.

use crate::weigh::{Kind, Type, Walk, Weigh, type_of};
use ::slotmap::{DefaultKey, Key, KeyData, SecondaryMap, SlotMap};
use core::mem::ManuallyDrop;
use core::num::NonZero;

plain! {
    DefaultKey; KeyData;
}

/// A struct with the size and alignment of slotmap's slots.
#[expect(dead_code, reason = "only its layout is asked for")]
struct Slot<T> {
    content: Content<T>,
    version: u32,
}

#[expect(dead_code, reason = "only its layout is asked for")]
union Content<T> {
    value: ManuallyDrop<T>,
    next_free: u32,
}

/// An enum with the size and alignment of a `SecondaryMap`'s slots.
#[expect(dead_code, reason = "only its layout is asked for")]
enum SecondarySlot<T> {
    Occupied { value: T, version: NonZero<u32> },
    Vacant,
}

macro_rules! maps {
    ($($map:ident: $slot:ident;)*) => {$(
        impl<K: Key, V: Weigh> Weigh for $map<K, V> {
            const TYPE: &'static Type =
                &Type::new::<Self>(Kind::Sequence { element: type_of::<V>, growable: true, contiguous: true });

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if walk.defer(self) {
                    return;
                }
                let (slot, slots) = (size_of::<$slot<V>>(), self.capacity() + 1);
                walk.block(slot * slots, align_of::<$slot<V>>(), (slots - self.len()) * slot);
                walk.slots::<V>(0, slots, self.len());
                walk.elements(0, self.values());
            }
        }
    )*};
}

maps! {
    SlotMap: Slot;
    SecondaryMap: SecondarySlot;
}
