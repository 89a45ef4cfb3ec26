//! `Weigh` for the types of `alloc`.

use super::side_by_side;
use crate::prefetch::prefetch;
use crate::weigh::{Kind, Reach, Type, Walk, Weigh, type_of};
use core::alloc::Layout;
use core::pin::Pin;
use core::ptr;
use std_alloc::borrow::{Cow, ToOwned};
use std_alloc::boxed::Box;
use std_alloc::collections::{BinaryHeap, LinkedList, VecDeque};
use std_alloc::ffi::CString;
use std_alloc::string::String;
use std_alloc::vec::Vec;
use std_alloc::{rc, sync};

impl Weigh for String {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    #[inline]
    fn is_default(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.text_block(self.as_bytes(), self.capacity());
    }
}

impl Weigh for CString {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.block(self.as_bytes_with_nul().len(), 1, 0);
    }
}

variants! {
    [B: ToOwned<Owned: Weigh> + ?Sized] Cow<'_, B> {
        0 "Borrowed": Cow::Borrowed(_) => [],
        1 "Owned": Cow::Owned(value) => [value: B::Owned],
    }
}

/// Implements `Weigh` for collections with their elements in one block, which may have spare capacity.
macro_rules! growable {
    ($($([$($bound:tt)*])? $ty:ident;)*) => {$(
        impl<T: Weigh> Weigh for $ty<T> {
            const TYPE: &'static Type =
                &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: true, contiguous: true });

            #[inline]
            fn is_vacant(&self) -> bool {
                // With zero-sized elements the capacity is unlimited and there is no block.
                if size_of::<T>() == 0 { self.is_empty() } else { self.capacity() == 0 }
            }

            #[inline]
            fn is_default(&self) -> bool {
                self.is_empty()
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                let (len, capacity) = (self.len(), self.capacity());
                if TREE || const { T::REACH.is_skipped(TREE) } {
                    grown(self, len, capacity, walk);
                } else if !self.is_vacant() {
                    grown_out_of_line(self, len, capacity, walk);
                }
            }
        }
    )*};
}

growable! {
    Vec; VecDeque; BinaryHeap;
}

/// Weighs a vector with a block. Out of line, so that its owner can test whether it is vacant without a call.
#[inline(never)]
fn grown_out_of_line<'a, 'v, C: Weigh + 'v, T: Weigh + 'v, const TREE: bool>(
    owner: &'a C,
    len: usize,
    capacity: usize,
    walk: &mut Walk<'a, 'v, TREE>,
) where
    &'a C: IntoIterator<Item = &'a T>,
{
    grown(owner, len, capacity, walk);
}

#[inline]
fn grown<'a, 'v, C: Weigh + 'v, T: Weigh + 'v, const TREE: bool>(
    owner: &'a C,
    len: usize,
    capacity: usize,
    walk: &mut Walk<'a, 'v, TREE>,
) where
    &'a C: IntoIterator<Item = &'a T>,
{
    let size = size_of::<T>();
    let capacity = if size == 0 { len } else { capacity };
    let follow = |walk: &mut Walk<'a, 'v, TREE>| {
        if TREE && len == 0 && size != 0 {
            walk.hollow();
        }
        walk.block(capacity * size, align_of::<T>(), (capacity - len) * size);
        walk.slots::<T>(0, capacity, len);
        walk.elements_here(0, owner);
    };
    if const { T::REACH.is_skipped(TREE) } { follow(walk) } else { walk.open(owner, follow) }
}

/// Returns size and alignment of a list's node: two links and a value.
const fn link<T>() -> (usize, usize) {
    side_by_side(&[Layout::new::<[usize; 2]>(), Layout::new::<T>()])
}

impl<T: Weigh> Weigh for LinkedList<T> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: false, contiguous: false });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        let (size, align) = const { link::<T>() };
        walk.blocks(size, align, self.len(), 0);
        walk.slots::<T>(0, self.len(), self.len());
        walk.elements(0, self);
    }
}

impl<T: Weigh + ?Sized> Weigh for Box<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });
    // Not for a boxed slice: its elements are contiguous, and the hardware prefetches them.
    const PREFETCHES: bool = matches!(T::REACH, Reach::Heap) && size_of::<&T>() == size_of::<usize>();

    #[inline]
    fn is_vacant(&self) -> bool {
        // A box of zero bytes owns no memory, like a vector without capacity.
        size_of_val::<T>(self) == 0 && T::is_vacant(self)
    }

    #[inline]
    fn is_default(&self) -> bool {
        T::is_default(self)
    }

    #[inline]
    fn prefetch(value: Option<&Self>) {
        if const { Self::PREFETCHES } {
            prefetch(value.map_or(ptr::null(), |value| ptr::from_ref::<T>(value).cast()));
        }
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if const { T::REACH.is_skipped(TREE) } {
            walk.last_block::<T>(self);
        } else if TREE {
            open(self, walk);
        } else if !self.is_vacant() {
            open_out_of_line(self, walk);
        }
    }
}

/// Weighs a box. Out of line, so that the owner of an `Option<Box<T>>` can test it without a call. A tree tests it
/// before any call.
#[expect(clippy::borrowed_box, reason = "the walk may defer the box")]
#[inline(never)]
fn open_out_of_line<'a, 'v, T: Weigh + ?Sized + 'v, const TREE: bool>(
    pointer: &'a Box<T>,
    walk: &mut Walk<'a, 'v, TREE>,
) {
    open(pointer, walk);
}

#[expect(clippy::borrowed_box, reason = "the walk may defer the box")]
#[inline]
fn open<'a, 'v, T: Weigh + ?Sized + 'v, const TREE: bool>(pointer: &'a Box<T>, walk: &mut Walk<'a, 'v, TREE>) {
    walk.open(pointer, |walk| {
        let block =
            |walk: &mut Walk<'a, 'v, TREE>| walk.block(size_of_val::<T>(pointer), align_of_val::<T>(pointer), 0);
        // A total counts the block after its contents, which saves stores. For an unsized value it would have to keep
        // the size meanwhile.
        let is_last = const { !TREE && size_of::<&T>() == size_of::<usize>() };
        if !is_last {
            block(walk);
        }
        walk.pointee_here::<T>(pointer);
        if is_last {
            block(walk);
        }
    });
}

impl<T: Weigh + ?Sized> Weigh for Pin<Box<T>> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.defer(self) {
            return;
        }
        walk.block(size_of_val::<T>(self), align_of_val::<T>(self), 0);
        walk.pointee::<T>(self);
    }
}

/// Returns size and alignment of the block of an `Rc` or `Arc`: two counts, then the value.
fn counted(value: Layout) -> (usize, usize) {
    let header = Layout::new::<[usize; 2]>();
    // The value exists, so its layout is valid.
    header.extend(value).map_or((usize::MAX, 1), |(block, _)| (block.pad_to_align().size(), block.align()))
}

/// Returns whether the target is the static that std shares among empty `Arc<str>`, `Arc<CStr>` and `Arc<[T]>`.
fn is_static<T: ?Sized>(target: &T) -> bool {
    // The static consists of the counts and its target, so the address of the target identifies it.
    size_of_val(target) <= 1 && size_of::<&T>() != size_of::<usize>() && {
        let address = ptr::from_ref(target).addr();
        let empty = sync::Arc::<[u8]>::default();
        address == ptr::from_ref::<[u8]>(&empty).addr()
    }
}

macro_rules! shared {
    ($($module:ident::$ty:ident)*) => {$(
        impl<T: Weigh + ?Sized> Weigh for $module::$ty<T> {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: true });

            #[inline]
            fn is_default(&self) -> bool {
                // Not of a shared value: several pointers may lead to it on each level of a type, and then the number
                // of paths is exponential.
                $module::$ty::strong_count(self) == 1 && T::is_default(self)
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                let address = $module::$ty::as_ptr(self).addr();
                // A walk visits a unique pointer once. Only a pointer inside its own target could lead to a second
                // visit, and such a target is unreachable.
                let is_shared = $module::$ty::strong_count(self) != 1;
                if const { !T::REACH.is_skipped(TREE) } && walk.is_deep() {
                    if !is_shared || !walk.was_at(address) {
                        walk.defer_shared(self);
                    }
                    return;
                }
                if is_shared && (!walk.is_first_at(address) || is_static::<T>(self)) {
                    return;
                }
                let (size, align) = counted(Layout::for_value::<T>(self));
                walk.block(size, align, 0);
                walk.pointee::<T>(self);
            }
        }

        impl<T: Weigh + ?Sized> Weigh for Pin<$module::$ty<T>> {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: true });

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if walk.defer(self) || !walk.is_first_at(ptr::from_ref::<T>(self).addr()) || is_static::<T>(self) {
                    return;
                }
                let (size, align) = counted(Layout::for_value::<T>(self));
                walk.block(size, align, 0);
                walk.pointee::<T>(self);
            }
        }

        // A weak pointer owns the block only if no strong pointer is left.
        impl<T> Weigh for $module::Weak<T> {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

            #[inline]
            fn is_vacant(&self) -> bool {
                self.strong_count() != 0 || self.ptr_eq(&Self::new())
            }

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if !self.is_vacant() && walk.is_first_at(self.as_ptr().addr()) {
                    let (size, align) = counted(Layout::new::<T>());
                    walk.block(size, align, size);
                }
            }
        }
    )*};
}

shared!(rc::Rc sync::Arc);
