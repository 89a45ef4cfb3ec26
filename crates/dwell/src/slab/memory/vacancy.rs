//! Which chunks have no occupied cell, and freeing them.

use super::super::stack::{CellPtr, FreeStack};
use super::{Block, Memory, Numbered, header};
use core::mem;
use core::ptr::NonNull;

/// What [`Memory::vacancy`] finds.
#[cfg(feature = "std")]
pub(in super::super) struct Vacancy {
    /// The number of carved cells in chunks without an occupied cell, except the starter.
    pub(in super::super) empty: usize,
    /// The least number of occupied cells in another chunk, except the starter.
    pub(in super::super) least: usize,
    pub(in super::super) chunks: usize,
}

impl<W: Copy + PartialEq> Memory<W> {
    /// Returns the first block of the chunk of a cell, or `None` if the cell has another owner.
    ///
    /// # Safety
    ///
    /// The cell belongs to a `Memory<W>` with this geometry, and its chunk is not freed while the result is used.
    unsafe fn chunk_of(&self, owner: W, cell: CellPtr) -> Option<Block<W>> {
        // SAFETY: the caller guarantees that the cell is in a block with this geometry. Its header is at the masked address, which is
        // not null, since the block is allocated.
        let block = Block(unsafe { NonNull::new_unchecked(header::<W>(cell, self.geometry.block)) });
        // SAFETY: `before` blocks of this size are in front of this one in the same chunk, which a `CellPtr` may access.
        let chunk = unsafe { block.0.byte_sub(block.before as usize * self.geometry.block) };
        (block.owner == owner).then_some(Block(chunk))
    }

    /// Sets all counts of [`count`](Self::count) to 0.
    pub(in super::super) fn forget_counts(&self) {
        self.chunks().for_each(|chunk| chunk.vacant.set(0));
    }

    /// Adds the cell to the count of vacant cells of its chunk, or subtracts it.
    ///
    /// # Safety
    ///
    /// The cell belongs to a `Memory<W>` with this geometry, and its chunk is not freed.
    pub(in super::super) unsafe fn count(&self, owner: W, cell: CellPtr, adds: bool) {
        // SAFETY: the caller guarantees this.
        if let Some(chunk) = unsafe { self.chunk_of(owner, cell) } {
            let before = chunk.vacant.get();
            chunk.vacant.set(if adds { before + 1 } else { before - 1 });
        }
    }

    /// Returns how many cells are in chunks that could be freed, if all vacant cells were [counted](Self::count).
    #[cfg(feature = "std")]
    pub(in super::super) fn vacancy(&self) -> Vacancy {
        let mut found = Vacancy { empty: 0, least: usize::MAX, chunks: 0 };
        for chunk in self.chunks().skip(usize::from(self.starter.is_some())) {
            found.chunks += 1;
            match (chunk.carved.get() - chunk.vacant.get()) as usize {
                0 => found.empty += chunk.carved.get() as usize,
                occupied => found.least = found.least.min(occupied),
            }
        }
        found
    }

    /// Frees the chunks whose cells are all vacant, except a starter, and removes these cells from the stack. If no chunk is
    /// left, it also frees the directory.
    ///
    /// The stack is not trusted: a chunk is freed only if each of its carved cells is on the stack. Cells of another
    /// owner, which a wrong `Module` may have pushed, stay there and do not count.
    ///
    /// # Safety
    ///
    /// Each cell on the stack belongs to a `Memory<W>` with this geometry, and its chunk is not freed.
    pub(in super::super) unsafe fn sweep(&mut self, owner: W, stack: &FreeStack) {
        self.forget_counts();
        stack.retain(|cell| {
            // SAFETY: the caller guarantees that the cells on the stack belong to such a memory and are not freed.
            unsafe { self.count(owner, cell, true) };
            true
        });
        // SAFETY: all cells on the stack were just counted, and the caller guarantees the rest.
        unsafe { self.free_vacant(owner, stack) };
    }

    /// Like [`sweep`](Self::sweep), if all cells on the stack were [counted](Self::count). They stay counted.
    ///
    /// # Safety
    ///
    /// The same as for [`sweep`](Self::sweep). No count is larger than the number of cells of the chunk on the stack.
    pub(in super::super) unsafe fn free_vacant(&mut self, owner: W, stack: &FreeStack) {
        let geometry = self.geometry;
        let mut starter = self.starter.is_some();
        let mut any = false;
        for chunk in self.chunks() {
            let keep = mem::take(&mut starter);
            let doomed = !keep && chunk.vacant.get() == chunk.carved.get();
            chunk.doomed.set(doomed);
            any |= doomed;
        }
        if !any {
            return;
        }
        self.carved -= stack.retain(|cell| {
            // SAFETY: the caller guarantees that the cells on the stack belong to such a memory, and none is freed yet.
            unsafe { self.chunk_of(owner, cell) }.is_none_or(|chunk| !chunk.doomed.get())
        });
        let mut next = self.first.take();
        (self.carving, self.last) = (None, None);
        while let Some(chunk) = next {
            next = chunk.next.get();
            if !chunk.doomed.get() {
                self.link(chunk);
                continue;
            }
            for header in chunk.blocks(geometry) {
                match (header.number as usize).checked_sub(geometry.small) {
                    None => self.small[header.number as usize] = None,
                    Some(number) => {
                        let next = mem::replace(&mut self.vacant, u32::try_from(number).ok());
                        self.directory[number] = Numbered::Vacant(next);
                    }
                }
                self.serial = self.serial.max(header.serial.get());
            }
            let cells = chunk.chunk_cells as usize;
            self.capacity -= cells;
            self.blocks -= cells.div_ceil(geometry.cells);
            // SAFETY: all carved cells of the chunk were on the stack, since as many were counted, so none is occupied, and
            // `retain` has removed them. Its blocks were removed from the directory above, and it is not linked to the list
            // again. So nothing uses it. A starter is not doomed.
            unsafe { chunk.free(geometry) };
        }
        if self.first.is_none() {
            let Self { serial, chunk_cells, growth, .. } = *self;
            *self = Self { serial, chunk_cells, growth, ..Self::new(geometry, self.limit) };
        }
    }
}
