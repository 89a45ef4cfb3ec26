//! A reimplementation of the allocators of "Bump Allocation: Up or Down?": each has one block, cannot grow, and varies
//! the alignment and the direction.
//!
//! The article starts with `up/checked` and `down/checked`, which use checked arithmetic. `up/branch` needs one
//! comparison at alignment 1. The others keep the position aligned to 8 or 16. `Allocator for &Up` grows blocks in
//! place, which the article argues for.

use allocator_api2::alloc::{AllocError, Allocator};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::subject::{Allocates, Arena, Subject, Vector, push};
use crate::sink;

/// The bytes of the block, enough for all allocations of a workload between two resets, at any alignment.
const CAPACITY: usize = 4 << 20;
const BLOCK: Layout = match Layout::from_size_align(CAPACITY, 16) {
    Ok(layout) => layout,
    Err(_) => unreachable!(),
};

/// The block of an arena.
struct Memory(NonNull<u8>);

impl Memory {
    fn new() -> Self {
        // SAFETY: `BLOCK` has a nonzero size.
        Self(NonNull::new(unsafe { alloc(BLOCK) }).unwrap_or_else(|| handle_alloc_error(BLOCK)))
    }

    fn start(&self) -> *mut u8 {
        self.0.as_ptr()
    }

    fn end(&self) -> *mut u8 {
        // SAFETY: the block has `CAPACITY` bytes, so the result is one past its end.
        unsafe { self.start().add(CAPACITY) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `new` allocated the block with this layout, and nothing uses it after the drop.
        unsafe { dealloc(self.start(), BLOCK) };
    }
}

/// Returns the distance from `address` up to the next multiple of `align`.
#[inline]
const fn up_to(address: usize, align: usize) -> usize {
    address.wrapping_neg() & (align - 1)
}

#[inline]
const fn rounded(size: usize, min_align: usize) -> usize {
    if min_align == 0 { size } else { (size + min_align - 1) & !(min_align - 1) }
}

/// An arena that allocates upwards. A `MIN_ALIGN` of 0 selects the checked arithmetic from the start of the article.
pub(super) struct Up<const MIN_ALIGN: usize> {
    position: Cell<*mut u8>,
    end: *mut u8,
    memory: Memory,
}

impl<const MIN_ALIGN: usize> Up<MIN_ALIGN> {
    #[inline]
    fn place(&self, layout: Layout) -> Option<NonNull<u8>> {
        if MIN_ALIGN == 0 { self.checked(layout) } else { self.with_one_branch(layout) }
    }

    #[inline]
    fn checked(&self, layout: Layout) -> Option<NonNull<u8>> {
        let position = self.position.get();
        let aligned = position.addr().checked_add(layout.align() - 1)? & !(layout.align() - 1);
        let next = aligned.checked_add(layout.size())?;
        if next > self.end.addr() {
            return None;
        }
        self.position.set(position.with_addr(next));
        NonNull::new(position.with_addr(aligned))
    }

    /// Allocates with one comparison. Size and padding are each below `isize::MAX`, so their sum cannot wrap.
    #[inline]
    fn with_one_branch(&self, layout: Layout) -> Option<NonNull<u8>> {
        let position = self.position.get();
        let padding = if layout.align() > MIN_ALIGN { up_to(position.addr(), layout.align()) } else { 0 };
        if padding + layout.size() > self.end.addr() - position.addr() {
            return None;
        }
        self.position.set(position.wrapping_add(padding + rounded(layout.size(), MIN_ALIGN)));
        NonNull::new(position.wrapping_add(padding))
    }

    /// Resizes a block in place and returns `true` if it is the last one and the new size fits.
    #[inline]
    fn resize(&self, block: NonNull<u8>, old: usize, new: usize) -> bool {
        let last = block.addr().get() + rounded(old, MIN_ALIGN) == self.position.get().addr();
        let fits = last && new <= self.end.addr() - block.addr().get();
        if fits {
            self.position.set(block.as_ptr().wrapping_add(rounded(new, MIN_ALIGN)));
        }
        fits
    }
}

impl<const MIN_ALIGN: usize> Subject for Up<MIN_ALIGN> {
    const NAME: &'static str = match MIN_ALIGN {
        0 => "article/up/checked",
        1 => "article/up/branch",
        8 => "article/up/8",
        16 => "article/up/16",
        _ => panic!("the article has no other"),
    };

    fn new() -> Self {
        let memory = Memory::new();
        Self { position: Cell::new(memory.start()), end: memory.end(), memory }
    }

    fn reset(&mut self) {
        self.position.set(self.memory.start());
    }
}

/// An arena that allocates downwards. A `MIN_ALIGN` of 0 selects the checked arithmetic.
pub(super) struct Down<const MIN_ALIGN: usize> {
    start: *mut u8,
    position: Cell<*mut u8>,
    memory: Memory,
}

impl<const MIN_ALIGN: usize> Down<MIN_ALIGN> {
    #[inline]
    fn place(&self, layout: Layout) -> Option<NonNull<u8>> {
        let position = self.position.get();
        let size = rounded(layout.size(), MIN_ALIGN);
        let mut next = position.addr().checked_sub(size)?;
        if layout.align() > MIN_ALIGN {
            next &= !(layout.align() - 1);
        }
        if next < self.start.addr() {
            return None;
        }
        self.position.set(position.with_addr(next));
        NonNull::new(position.with_addr(next))
    }
}

impl<const MIN_ALIGN: usize> Subject for Down<MIN_ALIGN> {
    const NAME: &'static str = match MIN_ALIGN {
        0 => "article/down/checked",
        8 => "article/down/8",
        16 => "article/down/16",
        _ => panic!("the article has no other"),
    };

    fn new() -> Self {
        let memory = Memory::new();
        Self { position: Cell::new(memory.end()), start: memory.start(), memory }
    }

    fn reset(&mut self) {
        self.position.set(self.memory.end());
    }
}

#[cold]
#[inline(never)]
fn full() -> ! {
    panic!("a workload puts more than {CAPACITY} bytes between two resets")
}

macro_rules! arena {
    ($Arena:ident) => {
        impl<const MIN_ALIGN: usize> Arena for $Arena<MIN_ALIGN> {
            type Ref<'a, T: 'a> = &'a mut T;
            type Bytes<'a> = &'a mut [u8];

            #[inline]
            fn alloc<'a, T: 'a>(&'a self, value: T) -> &'a mut T {
                let mut start = self.place(Layout::new::<T>()).unwrap_or_else(|| full()).cast::<T>();
                // SAFETY: `place` returned a block of this layout that nothing else uses.
                unsafe { start.write(value) };
                // SAFETY: the line above wrote it. It is valid until `reset`, which needs `self` unborrowed.
                unsafe { start.as_mut() }
            }

            #[inline]
            fn copy<'a>(&'a self, bytes: &[u8]) -> &'a mut [u8] {
                let start = self.place(Layout::for_value(bytes)).unwrap_or_else(|| full());
                // SAFETY: `place` returned a block of the length of `bytes` that nothing else uses.
                unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), start.as_ptr(), bytes.len()) };
                // SAFETY: the line above wrote it. It is valid until `reset`, which needs `self` unborrowed.
                unsafe { NonNull::slice_from_raw_parts(start, bytes.len()).as_mut() }
            }

            #[inline]
            fn block(&self, layout: Layout) {
                let start = self.place(layout).unwrap_or_else(|| full());
                sink::address(start.as_ptr());
            }
        }
    };
}
arena!(Up);
arena!(Down);

// SAFETY: blocks do not overlap, and are valid until `reset`, which needs the arena unborrowed.
unsafe impl<const MIN_ALIGN: usize> Allocator for &Up<MIN_ALIGN> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let start = self.place(layout).ok_or(AllocError)?;
        Ok(NonNull::slice_from_raw_parts(start, layout.size()))
    }

    #[inline]
    unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
        self.resize(block, layout.size(), 0);
    }

    #[inline]
    unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if old.align() >= new.align() && self.resize(block, old.size(), new.size()) {
            return Ok(NonNull::slice_from_raw_parts(block, new.size()));
        }
        let start = self.allocate(new)?;
        // SAFETY: `allocate` returned another block, which has at least as many bytes as the old one.
        unsafe { ptr::copy_nonoverlapping(block.as_ptr(), start.cast().as_ptr(), old.size()) };
        Ok(start)
    }
}

impl<const MIN_ALIGN: usize> Vector for Up<MIN_ALIGN> {
    #[inline]
    fn push(&self, count: u64) {
        push!(allocator_api2::vec::Vec::new_in(self), count);
    }
}

impl<const MIN_ALIGN: usize> Allocates for Up<MIN_ALIGN> {
    type Allocator<'a> = &'a Self;

    fn allocator(&self) -> &Self {
        self
    }
}
