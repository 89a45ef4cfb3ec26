//! `InlineBox` and `Reusable`, the boxes of `pin`.

use crate::pin::{InlineBox, Reusable};
use crate::weigh::{Kind, Reach, Type, Walk, Weigh, type_of};

impl<T: Weigh + ?Sized, const N: usize, L> Weigh for InlineBox<T, N, L> {
    const REACH: Reach = T::REACH;
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<T> });

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.field::<T>(0, self);
    }
}

impl<T: Weigh + ?Sized> Weigh for Reusable<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.block().size() == 0 && self.peek().is_none()
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        let (block, value) = (self.block(), self.peek());
        walk.block(block.size(), block.align(), block.size() - value.map_or(0, size_of_val));
        if let Some(value) = value {
            walk.pointee(value);
        }
    }
}
