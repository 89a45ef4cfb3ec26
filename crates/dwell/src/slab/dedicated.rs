//! Dedicated blocks: one allocation for one value that no size class of a pool fits.
//!
//! A slot of a pool finds the owner of its cell by the cell's address. So a dedicated block has its header where a
//! block of a slab has one: at a multiple of [`MIN_BLOCK`] below the value. Its owner is an empty core, since the value
//! is in no slab.

use super::geometry::MIN_BLOCK;
use super::stack::CellPtr;
use crate::alloc::try_alloc;
use core::alloc::Layout;
use core::ptr::NonNull;
use std_alloc::alloc::dealloc;

/// The header of a dedicated block, below the value.
#[repr(C)] // `owner` first, as in the header of a block of a slab
struct Dedicated<W> {
    owner: W,
    block: Layout,
    /// The number of bytes from the start of the block to the value.
    offset: usize,
}

/// The minimum offset of a value: one cache line, so that the value does not share a line with the header.
const LINE: usize = 64;

const _: () = assert!(size_of::<Dedicated<NonNull<u8>>>() <= LINE && align_of::<Dedicated<NonNull<u8>>>() <= LINE);

/// Returns the address of the header for a cell in a pool: the last multiple of `MIN_BLOCK` below the cell. This is
/// never the address of the cell itself, which is such a multiple if the value is aligned to `MIN_BLOCK` or more.
#[inline(always)]
fn header_in_pool<W>(cell: CellPtr) -> *mut Dedicated<W> {
    cell.as_ptr().map_addr(|addr| (addr - 1) & !(MIN_BLOCK - 1)).cast()
}

/// Returns the owner of a cell in a pool.
///
/// # Safety
///
/// The cell belongs to a `Memory<W>` whose blocks have `MIN_BLOCK` bytes, or came from [`allocate`] with this `W`. Its
/// chunk or dedicated block is not freed.
#[inline(always)]
pub(super) unsafe fn owner_in_pool<W: Copy>(cell: CellPtr) -> W {
    // SAFETY: the caller guarantees that the cell is in a block of a slab, which is aligned to its size and begins with
    // a header, or came from `allocate`, which wrote a header at this address. Both headers are `repr(C)` and begin
    // with the owner. Only the owner is read, because the headers have nothing else in common.
    unsafe { (*header_in_pool::<W>(cell)).owner }
}

/// Returns the layout of the block for a value of this layout, and the offset of the value in it.
pub(super) fn layout(value: Layout) -> Option<(Layout, usize)> {
    let offset = value.align().max(LINE);
    let size = offset.checked_add(value.size())?;
    Some((Layout::from_size_align(size, value.align().max(MIN_BLOCK)).ok()?, offset))
}

/// Allocates a dedicated block and returns its cell, or `None` if the allocation fails.
#[cold]
pub(super) fn allocate<W: Copy>(value: Layout, owner: W) -> Option<CellPtr> {
    const { assert!(size_of::<W>() <= size_of::<usize>() && align_of::<W>() <= align_of::<usize>(), "a word") };
    let (block, offset) = layout(value)?;
    let start = try_alloc(block)?;
    // SAFETY: the block has `offset + value.size()` bytes, so the result is in bounds.
    let cell = unsafe { start.add(offset) }.cast();
    // SAFETY: the block begins at a multiple of `MIN_BLOCK`, and the cell is `offset` bytes after that, a power of two
    // that is at least `LINE`. So the last such multiple below the cell is in the block, aligned, and at least `LINE`
    // bytes below the cell. The assertion above says that `LINE` bytes hold a header.
    unsafe { header_in_pool(cell).write(Dedicated { owner, block, offset }) };
    Some(cell)
}

/// Frees a dedicated block.
///
/// # Safety
///
/// The cell came from [`allocate`] with this `W`, and is not used again.
pub(super) unsafe fn free<W>(cell: CellPtr) {
    // SAFETY: the caller guarantees that the cell came from `allocate` with this `W`, which wrote this header.
    let Dedicated { block, offset, .. } = unsafe { header_in_pool::<W>(cell).read() };
    // SAFETY: `allocate` returned the address `offset` bytes after the block's start, so the result is that start.
    let start = unsafe { cell.byte_sub(offset) };
    // SAFETY: `allocate` got the block from the global allocator with this layout, and the caller does not use the cell
    // again.
    unsafe { dealloc(start.cast().as_ptr(), block) };
}
