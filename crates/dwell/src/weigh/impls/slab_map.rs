//! `SlabMap`: one block of entries, vacant or occupied.

use crate::slab::SlabMap;
use crate::weigh::{Kind, Type, Walk, Weigh, type_of};

impl<T: Weigh> Weigh for SlabMap<T> {
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
        let (entry, capacity) = (Self::ENTRY, self.capacity());
        walk.block(entry.size() * capacity, entry.align(), (capacity - self.len()) * entry.size());
        walk.slots::<T>(0, capacity, self.len());
        walk.elements(0, self.iter().map(|(_, value)| value));
    }
}
