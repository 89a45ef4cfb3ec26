//! A box on an explicit allocator, so that one program can compare two allocators.

use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::slab::subject::{Edits, Grows, Holds, Sends, by_deref, links_by_pointer};

/// An allocator without state.
pub(crate) trait Malloc: GlobalAlloc + 'static {
    const NAME: &'static str;
    const MALLOC: Self;
}

impl Malloc for System {
    const NAME: &'static str = "box/glibc";
    const MALLOC: Self = System;
}

impl Malloc for mimalloc::MiMalloc {
    const NAME: &'static str = "box/mimalloc";
    const MALLOC: Self = mimalloc::MiMalloc;
}

/// A replacement for `Box<T, A>`, which stable Rust does not have.
pub(crate) struct HeapBox<T, A: Malloc> {
    // Invariant: the block comes from `A` with the layout of a `T`, contains a value, and is owned by this box.
    block: NonNull<T>,
    owns: PhantomData<(T, A)>,
}

// SAFETY: the box owns its value. Any thread may free the block: `A` has no state, and all threads may use a global
// allocator.
unsafe impl<T: Send, A: Malloc> Send for HeapBox<T, A> {}

impl<T, A: Malloc> HeapBox<T, A> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Self {
        const { assert!(size_of::<T>() != 0) };
        // SAFETY: the assertion above says that the size is not zero.
        let block = unsafe { A::MALLOC.alloc(Layout::new::<T>()) };
        let Some(block) = NonNull::new(block.cast::<T>()) else { handle_alloc_error(Layout::new::<T>()) };
        // SAFETY: the block is new and has the layout of a `T`.
        unsafe { block.write(value) };
        Self { block, owns: PhantomData }
    }
}

impl<T, A: Malloc> Deref for HeapBox<T, A> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: by the invariant the block contains a value, which nothing changes while the box is borrowed.
        unsafe { self.block.as_ref() }
    }
}

impl<T, A: Malloc> DerefMut for HeapBox<T, A> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: by the invariant the block contains a value, which nothing else accesses while the box is mutably
        // borrowed.
        unsafe { self.block.as_mut() }
    }
}

impl<T, A: Malloc> Drop for HeapBox<T, A> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: by the invariant the block contains a value. It is not used again.
        unsafe { self.block.drop_in_place() };
        // SAFETY: by the invariant the block comes from `A` with this layout. It is not used again.
        unsafe { A::MALLOC.dealloc(self.block.as_ptr().cast(), Layout::new::<T>()) };
    }
}

/// Boxes on `A`.
pub(in crate::slab) struct Heap<A>(PhantomData<A>);

impl<T: 'static, A: Malloc> Holds<T> for Heap<A> {
    const NAME: &'static str = A::NAME;
    type Storage = ();
    type Slot = HeapBox<T, A>;

    fn storage(_: usize) {}

    #[inline(always)]
    fn insert((): &mut (), value: T) -> Self::Slot {
        HeapBox::new(value)
    }

    by_deref!(get: T);
}

impl<T: 'static, A: Malloc> Edits<T> for Heap<A> {
    by_deref!(get_mut: T);
}

impl<T: 'static, A: Malloc> Grows<T> for Heap<A> {}

impl<T: Send + 'static, A: Malloc> Sends<T> for Heap<A> {
    type Remote = ();

    fn remote((): &()) {}
}

links_by_pointer!(Heap<System>, |slot| slot.block.as_ptr());
links_by_pointer!(Heap<mimalloc::MiMalloc>, |slot| slot.block.as_ptr());
