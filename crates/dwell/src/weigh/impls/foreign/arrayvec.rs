//! arrayvec: all elements are stored inline.

use crate::weigh::{Kind, Reach, Type, Walk, Weigh, type_of};
use ::arrayvec::{ArrayString, ArrayVec};

plain! {
    @[const N: usize] ArrayString<N>;
}

impl<T: Weigh, const N: usize> Weigh for ArrayVec<T, N> {
    const REACH: Reach = T::REACH.max(Reach::Inline);
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: false, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.slots::<T>(0, N, self.len());
        walk.elements(0, self.as_slice());
    }
}
