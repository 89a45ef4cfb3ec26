//! Slabs, which own the memory of their cells, and slots, which own the memory that their values own.

use crate::slab::kind::SlotKind;
#[cfg(feature = "std")]
use crate::slab::size_classes::dedicated_block;
use crate::slab::{Bounded, Key, Slab, Slot, StampedKey};
#[cfg(feature = "std")]
use crate::slab::{Pool, Pooled};
use crate::weigh::{Kind, Type, Walk, Weigh, type_of};
use core::alloc::Layout;
use core::pin::Pin;

plain! {
    Key; StampedKey;
}

/// A slab owns its blocks and the leaked values. The other values belong to their slots.
impl<T: Weigh> Weigh for Slab<T> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: true, contiguous: true });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        self.each_block(&mut |block, spare| walk.block(block.size(), block.align(), spare));
        for key in self.leaked() {
            walk.slots::<T>(0, 1, 1);
            if !const { T::REACH.is_skipped(TREE) } {
                self.with(key, |value| walk.guarded(&*value));
            }
        }
    }
}

impl<T: Weigh> Weigh for Bounded<T> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: false, contiguous: true });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        self.slab.weigh(walk);
    }
}

/// A pool owns the blocks of its slabs. The values belong to their owners.
#[cfg(feature = "std")]
impl Weigh for Pool {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        self.each_block(&mut |block, spare| walk.block(block.size(), block.align(), spare));
    }
}

#[cfg(feature = "std")]
impl<T> Weigh for crate::slab::sync::Slab<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        self.each_block(&mut |block, spare| walk.block(block.size(), block.align(), spare));
    }
}

macro_rules! handle {
    ($($(#[$attr:meta])* [$($generics:tt)*] $Handle:ty: $block:expr;)*) => {$(
        $(#[$attr])*
        impl<T: Weigh + ?Sized, $($generics)*> Weigh for $Handle {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if !walk.defer(self) {
                    let value = Layout::for_value::<T>(self);
                    let dedicated: fn(Layout) -> Option<Layout> = $block;
                    if let Some(block) = dedicated(value) {
                        walk.block(block.size(), block.align(), block.size() - value.size());
                    }
                    walk.pointee::<T>(self);
                }
            }
        }
    )*};
}
handle! {
    /// A slot owns the memory that its value owns. The value's own bytes belong to the slab.
    [K: SlotKind] Slot<T, K>: |_| None;
    /// A slot owns the memory that its value owns. The value's own bytes belong to the slab.
    [K: SlotKind] Pin<Slot<T, K>>: |_| None;
    /// It owns the memory that its value owns. The value's own bytes belong to the pool, unless it has a dedicated block.
    #[cfg(feature = "std")]
    [] Pooled<T>: dedicated_block;
    /// It owns the memory that its value owns. The value's own bytes belong to the pool, unless it has a dedicated block.
    #[cfg(feature = "std")]
    [] Pin<Pooled<T>>: dedicated_block;
}

#[cfg(feature = "std")]
macro_rules! counted {
    ($($Rc:ident $Weak:ident;)*) => {$(
        /// A counted pointer owns the memory that its value owns, together with the other pointers to it. The value's own bytes belong to the
        /// pool, unless it has a dedicated block.
        impl<T: Weigh + ?Sized> Weigh for crate::slab::$Rc<T> {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: true });

            #[inline]
            fn is_default(&self) -> bool {
                // As for an `Rc`: not of a shared value.
                Self::strong_count(self) == 1 && T::is_default(self)
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                let address = Self::as_ptr(self).addr();
                let is_shared = Self::strong_count(self) != 1;
                if const { !T::REACH.is_skipped(TREE) } && walk.is_deep() {
                    if !is_shared || !walk.was_at(address) {
                        walk.defer_shared(self);
                    }
                    return;
                }
                if is_shared && !walk.is_first_at(address) {
                    return;
                }
                let contents = Self::contents(self);
                if let Some(block) = dedicated_block(contents) {
                    walk.block(block.size(), block.align(), block.size() - contents.size());
                }
                walk.pointee::<T>(self);
            }
        }

        /// A weak pointer owns nothing: its cell belongs to the pool.
        impl<T: ?Sized> Weigh for crate::slab::$Weak<T> {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

            fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
            }
        }
    )*};
}
#[cfg(feature = "std")]
counted! {
    PoolRc PoolRcWeak;
    PoolArc PoolArcWeak;
}
