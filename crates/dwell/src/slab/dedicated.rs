//! Dedicated blocks: one allocation for one value that no size class of a pool fits.
//!
//! A slot of a pool finds the owner of its cell by the cell's address. So a dedicated block has a header where a block of a slab
//! has one: at a multiple of [`MIN_BLOCK`] below the value. Its owner is the empty core.

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
    /// Bytes from the start of the block to the value.
    offset: usize,
}

/// The least offset of a value: a cache line, so that the value does not share one with the header.
const LINE: usize = 64;

const _: () = assert!(size_of::<Dedicated<NonNull<u8>>>() <= LINE && align_of::<Dedicated<NonNull<u8>>>() <= LINE);

/// Where the header of a cell in a pool is: at the last multiple of `MIN_BLOCK` below it. Not at the cell: a value that is
/// aligned to more than that is at such a multiple itself.
#[inline(always)]
fn header<W>(cell: CellPtr) -> *mut Dedicated<W> {
    cell.as_ptr().map_addr(|addr| (addr - 1) & !(MIN_BLOCK - 1)).cast()
}

/// The owner of a cell in a pool.
///
/// # Safety
///
/// It is a cell of a `Memory<W>` whose blocks are of `MIN_BLOCK` bytes, in a chunk that was not freed; or [`allocate`]'s.
#[inline(always)]
pub(super) unsafe fn owner<W: Copy>(cell: CellPtr) -> W {
    // SAFETY: the caller says that the cell is in such a block, behind the header at its start, or that `allocate` made it, which
    // has written a header there. Both begin with the owner. Only that is read: a block of a slab has no more in common.
    unsafe { (*header::<W>(cell)).owner }
}

/// The block for a value of this layout, and the offset of the value in it.
pub(super) fn layout(value: Layout) -> Option<(Layout, usize)> {
    let offset = value.align().max(LINE);
    let size = offset.checked_add(value.size())?;
    Some((Layout::from_size_align(size, value.align().max(MIN_BLOCK)).ok()?, offset))
}

/// A cell in a block of its own, if the allocator has one.
#[cold]
pub(super) fn allocate<W: Copy>(value: Layout, owner: W) -> Option<CellPtr> {
    const { assert!(size_of::<W>() <= size_of::<usize>() && align_of::<W>() <= align_of::<usize>(), "a word") };
    let (block, offset) = layout(value)?;
    let start = try_alloc(block)?;
    // SAFETY: the block has `offset + value.size()` bytes.
    let cell = unsafe { start.add(offset) }.cast();
    // SAFETY: the block begins at a multiple of `MIN_BLOCK`, and the cell is `offset` bytes behind that, a power of two of at least
    // `LINE`. So the last such multiple below the cell is in the block, aligned, and at least `LINE` bytes below the cell.
    unsafe { header(cell).write(Dedicated { owner, block, offset }) };
    Some(cell)
}

/// Frees a dedicated block.
///
/// # Safety
///
/// The cell came from [`allocate`] with this `W`, and is not used again.
pub(super) unsafe fn free<W>(cell: CellPtr) {
    // SAFETY: the caller says that `allocate` made it, which has written the header.
    let Dedicated { block, offset, .. } = unsafe { header::<W>(cell).read() };
    // SAFETY: the header says how far behind the block's start the cell is.
    let start = unsafe { cell.byte_sub(offset) };
    // SAFETY: `allocate` got the block with this layout from the global allocator; the caller does not use it again.
    unsafe { dealloc(start.cast().as_ptr(), block) };
}
