//! Values that no size class of a pool fits: large ones, each a block of the global allocator with the layout of the value,
//! and small ones that are aligned to more than a cell, each in a *dedicated block*.
//!
//! A slot of a pool knows the layout of its value, so a drop knows whether the value is large. It finds the owner of any other
//! cell by the cell's address. So a dedicated block has its header where a block of a slab has one: at a multiple of
//! [`MIN_BLOCK`]. Its owner is an empty core, since the value is in no slab.

use super::classes::is_large;
use super::geometry::MIN_BLOCK;
use super::stack::CellPtr;
use crate::alloc::try_alloc;
use core::alloc::Layout;
use core::ptr::NonNull;
use std_alloc::alloc::dealloc;

/// The header of a dedicated block, below the value, or at its address if the value has no bytes and is aligned to a block.
#[repr(C)] // `owner` first, as in the header of a block of a slab
struct Dedicated<W> {
    owner: W,
    block: Layout,
    /// The number of bytes from the start of the block to the value.
    offset: usize,
}

/// The minimum offset of a value with bytes: one cache line, so that the value does not share a line with the header.
const LINE: usize = 64;

const _: () = assert!(size_of::<Dedicated<NonNull<u8>>>() <= LINE && align_of::<Dedicated<NonNull<u8>>>() <= LINE);

/// Returns the address of the header for a cell in a pool whose value is not large: the last multiple of `MIN_BLOCK` up to
/// the cell.
#[inline(always)]
fn header_in_pool<W>(cell: CellPtr) -> *mut Dedicated<W> {
    cell.as_ptr().map_addr(|addr| addr & !(MIN_BLOCK - 1)).cast()
}

/// Returns the owner of a cell in a pool.
///
/// # Safety
///
/// The cell belongs to a `Memory<W>` whose blocks have `MIN_BLOCK` bytes, or came from [`allocate`] with this `W` for a value
/// that is not large. Its chunk or dedicated block is not freed.
#[inline(always)]
pub(super) unsafe fn owner_in_pool<W: Copy>(cell: CellPtr) -> W {
    // SAFETY: the caller guarantees that the cell is in a block of a slab, which is aligned to its size and begins with
    // a header, or came from `allocate`, which wrote a header at this address. Both headers are `repr(C)` and begin
    // with the owner. Only the owner is read, because the headers have nothing else in common.
    unsafe { (*header_in_pool::<W>(cell)).owner }
}

/// Returns the layout of the dedicated block for a value of this layout that is not large, and the offset of the value in it.
fn block(value: Layout) -> Option<(Layout, usize)> {
    // A value that is not large has no bytes if it is aligned to more than its size.
    let offset = if value.align() >= MIN_BLOCK { 0 } else { value.align().max(LINE) };
    let size = offset.checked_add(value.size().max(LINE))?;
    Some((Layout::from_size_align(size, value.align().max(MIN_BLOCK)).ok()?, offset))
}

/// Returns the layout of the allocation for a value of this layout that no size class fits.
pub(super) fn layout(value: Layout) -> Option<Layout> {
    if is_large(value) { Some(value) } else { block(value).map(|(block, _)| block) }
}

/// Allocates a cell for a value that no size class fits, or returns `None` if the allocation fails.
#[cold]
pub(super) fn allocate<W: Copy>(value: Layout, owner: W) -> Option<CellPtr> {
    const { assert!(size_of::<W>() <= size_of::<usize>() && align_of::<W>() <= align_of::<usize>(), "a word") };
    if is_large(value) {
        return try_alloc(value).map(NonNull::cast);
    }
    let (block, offset) = block(value)?;
    let start = try_alloc(block)?;
    // SAFETY: the block has at least `offset + LINE` bytes, so the result is in bounds.
    let cell = unsafe { start.add(offset) }.cast();
    // SAFETY: the block begins at a multiple of `MIN_BLOCK`, and the cell is less than `MIN_BLOCK` bytes after that. So the last
    // such multiple up to the cell is the start of the block. It has at least `LINE` bytes before the value, or a value without
    // bytes. The assertion above says that `LINE` bytes hold a header.
    unsafe { header_in_pool(cell).write(Dedicated { owner, block, offset }) };
    Some(cell)
}

/// Frees the block of a large value. Not inlined.
///
/// # Safety
///
/// The cell came from [`allocate`] for a value of this layout, which is large, and is not used again.
#[cold]
#[inline(never)]
pub(super) unsafe fn free_large(cell: CellPtr, value: Layout) {
    // SAFETY: the caller guarantees that the cell came from `allocate`, which got a large one from the global allocator with the
    // layout of its value, and that it is not used again.
    unsafe { dealloc(cell.cast().as_ptr(), value) };
}

/// Frees a dedicated block.
///
/// # Safety
///
/// The cell came from [`allocate`] with this `W` for a value that is not large, and is not used again.
pub(super) unsafe fn free<W>(cell: CellPtr) {
    // SAFETY: the caller guarantees that the cell came from `allocate` with this `W`, which wrote this header.
    let Dedicated { block, offset, .. } = unsafe { header_in_pool::<W>(cell).read() };
    // SAFETY: `allocate` returned the address `offset` bytes after the start of the block, so the result is that start.
    let start = unsafe { cell.byte_sub(offset) };
    // SAFETY: `allocate` got the block from the global allocator with this layout, and the caller does not use the cell
    // again.
    unsafe { dealloc(start.cast().as_ptr(), block) };
}
