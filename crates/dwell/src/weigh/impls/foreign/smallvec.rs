//! smallvec: elements stored inline, or in one block like those of a `Vec`.

use crate::weigh::{Kind, Reach, Type, Walk, Weigh, type_of};
use ::smallvec::{Array, SmallVec};

impl<A: Array<Item: Weigh>> Weigh for SmallVec<A> {
    const REACH: Reach = Reach::Heap;
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<A::Item>, growable: true, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty() && !self.spilled()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        let (size, len) = (size_of::<A::Item>(), self.len());
        let capacity = if size == 0 { len } else { self.capacity() };
        if self.spilled() {
            walk.block(capacity * size, align_of::<A::Item>(), (capacity - len) * size);
        }
        walk.slots::<A::Item>(0, capacity, len);
        walk.elements(0, self.as_slice());
    }
}
