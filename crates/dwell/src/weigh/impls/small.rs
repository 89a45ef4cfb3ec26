//! `SmallBox`: a value that is stored inline or spilled.

use crate::alloc::Allocator;
use crate::small::SmallBox;
use crate::weigh::{Kind, Type, Walk, Weigh, type_of};

impl<T: Weigh + ?Sized, const N: usize, A: Allocator, L> Weigh for SmallBox<T, N, A, L> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        if !self.is_inline() {
            walk.block(size_of_val::<T>(self), align_of_val::<T>(self), 0);
        }
        walk.pointee::<T>(self);
    }
}
