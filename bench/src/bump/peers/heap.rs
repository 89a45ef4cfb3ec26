use allocator_api2::alloc::{AllocError, Allocator};
use allocator_api2::boxed::Box;
use allocator_api2::vec::Vec;
use std::alloc::{GlobalAlloc, Layout, System, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::bump::subject::{Allocates, Arena, Line, Slices, Subject, Text, Vector, line, push};
use crate::sink;

/// A general-purpose allocator and the name of its boxes as a subject.
pub(in crate::bump) trait Named: GlobalAlloc + 'static {
    const NAME: &'static str;
    const SELF: &'static Self;
}

pub(in crate::bump) type Malloc = System;
pub(in crate::bump) type Mimalloc = mimalloc::MiMalloc;

impl Named for Malloc {
    const NAME: &'static str = "box/glibc";
    const SELF: &'static Self = &System;
}

impl Named for Mimalloc {
    const NAME: &'static str = "box/mimalloc";
    const SELF: &'static Self = &mimalloc::MiMalloc;
}

/// Boxes on an allocator that frees each block separately.
pub(in crate::bump) struct Heap<M>(PhantomData<M>);

impl<M> Clone for Heap<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Heap<M> {}

// SAFETY: a `GlobalAlloc` fulfils this contract for layouts with a nonzero size; zero-size layouts need no block.
unsafe impl<M: Named> Allocator for Heap<M> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let block = if layout.size() == 0 {
            std::ptr::without_provenance_mut(layout.align())
        } else {
            // SAFETY: the size is not 0.
            unsafe { M::SELF.alloc(layout) }
        };
        NonNull::new(block).map(|block| NonNull::slice_from_raw_parts(block, layout.size())).ok_or(AllocError)
    }

    #[inline]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        if layout.size() > 0 {
            // SAFETY: the block comes from `allocate`, which got it from `M` for a layout of this nonzero size.
            unsafe { M::SELF.dealloc(block.as_ptr(), layout) };
        }
    }

    #[inline]
    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if old.size() == 0 || old.align() != new.align() {
            return Err(AllocError); // no workload does this
        }
        // SAFETY: `M` allocated the block with the layout `old`, whose alignment is that of `new`. The new size is at
        // least the old one, which is not 0.
        let block = unsafe { M::SELF.realloc(block.as_ptr(), old, new.size()) };
        NonNull::new(block).map(|block| NonNull::slice_from_raw_parts(block, new.size())).ok_or(AllocError)
    }
}

impl<M: Named> Subject for Heap<M> {
    const NAME: &'static str = M::NAME;

    fn new() -> Self {
        Self(PhantomData)
    }

    fn reset(&mut self) {}
}

impl<M: Named> Arena for Heap<M> {
    type Ref<'a, T: 'a> = Box<T, Self>;
    type Bytes<'a> = Vec<u8, Self>;

    #[inline]
    fn alloc<'a, T: 'a>(&'a self, value: T) -> Box<T, Self> {
        Box::new_in(value, *self)
    }

    #[inline]
    fn copy(&self, bytes: &[u8]) -> Vec<u8, Self> {
        let mut copy = Vec::with_capacity_in(bytes.len(), *self);
        copy.extend_from_slice(bytes);
        copy
    }

    #[inline]
    fn block(&self, layout: Layout) {
        let Ok(block) = self.allocate(layout) else { handle_alloc_error(layout) };
        sink::address(block.as_ptr().cast());
        // SAFETY: the line above allocated the block with this layout.
        unsafe { self.deallocate(block.cast(), layout) };
    }
}

impl<M: Named> Vector for Heap<M> {
    #[inline]
    fn push(&self, count: u64) {
        push!(Vec::new_in(*self), count);
    }
}

struct Buffer<M: Named>(Vec<u8, Heap<M>>);

impl<M: Named> fmt::Write for Buffer<M> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl<M: Named> Text for Heap<M> {
    #[inline]
    fn format(&self, line: &Line<'_>) {
        let mut buffer = Buffer(Vec::new_in(*self));
        line!(line, |arguments| fmt::Write::write_fmt(&mut buffer, arguments)).expect("the buffer grows");
        sink::pointer(buffer.0.as_slice());
    }

    #[inline]
    fn pieces(&self, pieces: &[&str]) {
        let mut buffer = Vec::new_in(*self);
        for piece in pieces {
            buffer.extend_from_slice(piece.as_bytes());
        }
        sink::pointer(buffer.as_slice());
    }
}

impl<M: Named> Slices for Heap<M> {
    #[inline]
    fn collect(&self, count: usize) {
        let mut numbers = Vec::with_capacity_in(count, *self);
        numbers.extend(0..count);
        sink::pointer(numbers.as_slice());
    }
}

impl<M: Named> Allocates for Heap<M> {
    type Allocator<'a> = Self;

    fn allocator(&self) -> Self {
        *self
    }
}
