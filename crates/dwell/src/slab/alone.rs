//! Blocks with one value: what a pool has no slab for.
//!
//! A slot of a pool finds the owner of its place by its address alone, whatever it holds. So such a block begins as one of a
//! slab does, at a multiple of [`LEAST`] below the value; its owner is none.

use super::free::Place;
use super::geometry::LEAST;
use crate::alloc::try_alloc;
use core::alloc::Layout;
use core::ptr::NonNull;
use std_alloc::alloc::dealloc;

/// What the block begins with, below the value.
#[repr(C)] // `owner` first, as in the header of a block with many places
struct Alone {
    owner: NonNull<()>,
    block: Layout,
    /// Bytes from the start of the block to the value.
    offset: usize,
}

/// The least offset of a value: a line, so that it does not share one with this.
const LINE: usize = 64;

const _: () = assert!(size_of::<Alone>() <= LINE);

/// Where the owner of a place in a pool is written: below it, so that a value that is aligned to a block is in the one before.
#[inline(always)]
fn header<T>(place: Place) -> NonNull<T> {
    let start = place.as_ptr().map_addr(|addr| (addr - 1) & !(LEAST - 1));
    // SAFETY: blocks are not at address 0.
    unsafe { NonNull::new_unchecked(start.cast()) }
}

/// Whose place it is.
///
/// # Safety
///
/// It is a place of a pool: of a slab whose blocks have the least size, in a chunk that is still there, or [`make`]'s.
#[inline(always)]
pub(super) unsafe fn owner(place: Place) -> NonNull<()> {
    // SAFETY: by the caller there is a header, which begins with its owner.
    unsafe { *header(place).as_ptr() }
}

/// The block for a value of this layout, and where in it the value is.
pub(super) fn layout(value: Layout) -> Option<(Layout, usize)> {
    let offset = value.align().max(LINE);
    let size = offset.checked_add(value.size())?;
    Some((Layout::from_size_align(size, value.align().max(LEAST)).ok()?, offset))
}

/// A place in a block of its own, of which `owner` is said to be the owner.
#[cold]
pub(super) fn make(value: Layout, owner: NonNull<()>) -> Option<Place> {
    let (block, offset) = layout(value)?;
    let start = try_alloc(block)?;
    // SAFETY: `offset` is inside the block, or its end.
    let place = unsafe { start.add(offset) }.cast();
    // SAFETY: the multiple of `LEAST` below the place is in the block, since its start is one and below it; and there is room,
    // since the place is `LINE` bytes above at least, as a multiple of that.
    unsafe { header(place).write(Alone { owner, block, offset }) };
    Some(place)
}

/// # Safety
///
/// It came from [`make`], and is not used again.
pub(super) unsafe fn free(place: Place) {
    // SAFETY: by the caller.
    let Alone { block, offset, .. } = unsafe { header::<Alone>(place).read() };
    // SAFETY: `make` has added as much.
    let start = unsafe { place.byte_sub(offset) };
    // SAFETY: by the caller.
    unsafe { dealloc(start.cast().as_ptr(), block) };
}
