//! slab: one block of entries, occupied or vacant.

use crate::weigh::{Kind, Type, Walk, Weigh, type_of};
use ::slab::Slab;

/// An enum with the size and alignment of slab's entries.
#[expect(dead_code, reason = "only its layout is asked for")]
enum Entry<T> {
    Vacant(usize),
    Occupied(T),
}

impl<T: Weigh> Weigh for Slab<T> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: true, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        let (entry, capacity) = (size_of::<Entry<T>>(), self.capacity());
        walk.block(entry * capacity, align_of::<Entry<T>>(), (capacity - self.len()) * entry);
        walk.slots::<T>(0, capacity, self.len());
        walk.elements(0, self.iter().map(|(_, value)| value));
    }
}
