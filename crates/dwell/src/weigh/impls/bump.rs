//! Arenas, which own their chunks, and the boxes, vectors and strings in them, which own only memory outside the arena.

use crate::alloc::Allocator;
use crate::bump::{Box, Bump, Checkpoint, String, Thin, Vec};
use crate::weigh::{Kind, Type, Walk, Weigh, type_of};
use core::pin::Pin;

plain! {
    Checkpoint;
    // A reference: the arena owns its target.
    @[H, T: ?Sized] Thin<'_, H, T>;
}

/// Counts the arena's chunks. A chunk in a buffer of the caller counts as if it came from the allocator.
impl<const MIN_ALIGN: usize, A: Allocator> Weigh for Bump<MIN_ALIGN, A> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        self.each_chunk(|size, free| walk.block(size, Self::CHUNK_ALIGN, free));
    }
}

#[cfg(feature = "std")]
impl<const MIN_ALIGN: usize, A: Allocator> Weigh for crate::bump::BumpPool<MIN_ALIGN, A> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let counted = self.each_idle(|arena| {
            walk.block(Self::ENTRY.size(), Self::ENTRY.align(), 0);
            arena.each_chunk(|size, free| walk.block(size, Bump::<MIN_ALIGN, A>::CHUNK_ALIGN, free));
        });
        if !counted {
            walk.opaque();
        }
    }
}

macro_rules! boxed {
    ($($ty:ty)*) => {$(
        impl<T: Weigh + ?Sized> Weigh for $ty {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if !walk.defer(self) {
                    walk.pointee::<T>(self);
                }
            }
        }
    )*};
}

boxed! {
    Box<'_, T> Pin<Box<'_, T>>
}

impl<T: Weigh, const MIN_ALIGN: usize, A: Allocator> Weigh for Vec<'_, T, MIN_ALIGN, A> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: true, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        if size_of::<T>() == 0 { self.is_empty() } else { self.capacity() == 0 }
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if !walk.defer(self) {
            let slots = if size_of::<T>() == 0 { self.len() } else { self.capacity() };
            walk.slots::<T>(0, slots, self.len());
            walk.elements(0, &**self);
        }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Weigh for String<'_, MIN_ALIGN, A> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
    }
}
