//! The memory of a slab: chunks from the global allocator, their blocks, and the bits and numbers of the cells.
//!
//! A *chunk* is one allocation: one or more *blocks* in a row, the last of which may be cut short. A block is aligned to the
//! size that a whole one has and begins with a [`Header`], so that the address of anything in it, masked, is the header's.
//!
//! Inserts and drops use this module only if the free stack is empty or full.
//!
//! `W` is the type of the owner in a header: the pointer to the core. This module never dereferences it.

use super::geometry::{FIRST_CELLS, Geometry, MOST_SMALL};
use super::key::{Key, StampedKey};
use super::stack::{CellPtr, FreeStack};
use crate::alloc::try_alloc;
use core::alloc::Layout;
use core::cell::Cell;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::{iter, mem};
use std_alloc::alloc::dealloc;
use std_alloc::boxed::Box;
use std_alloc::vec::Vec;

/// A chunk grows with the slab up to this many bytes.
const LARGEST_CHUNK: usize = 1 << 20;

/// Cells that are carved at once have about this many bytes: a page.
const PAGE: usize = 4096;

/// The beginning of a block.
#[repr(C)] // `owner` first: a drop reads it at the masked address
pub(super) struct Header<W> {
    // # Invariants
    //
    // 1. `owner` is the owner of the block's cells.
    // 2. Behind the block's `cells` cells there is an initialised bitmap of them. A bit is set if and only if the cell holds a
    //    value that was leaked and is not lent.
    // 3. `stamps` is null, or a box of `cells` numbers: for each cell the stamp of its last leak, 0 if it had none.
    // 4. If `chunk_cells` is not 0 the block is the start of an allocation with the layout `geometry.chunk(chunk_cells)`. The
    //    first `carved` cells of that were handed out or came to the free stack, and the blocks which these are in have a header.
    owner: W,
    /// The block's number in the directory.
    number: u32,
    cells: u32,
    stamps: Cell<*mut u32>,
    /// Leaked cells, those that are lent too.
    leaked: Cell<u32>,
    /// The last stamp that was given in this block.
    serial: Cell<u32>,
    /// While [`Memory::sweep`] runs: vacant cells that it has found.
    vacant: Cell<u32>,
    /// While [`Memory::sweep`] runs: all cells of the chunk are vacant.
    doomed: Cell<bool>,
    /// Of the first block of a chunk: the cells of the chunk, 0 in other blocks; how many of them were carved; and the next chunk.
    chunk_cells: usize,
    carved: Cell<usize>,
    next: Cell<Option<Block<W>>>,
}

const _: () = assert!(size_of::<Header<NonNull<u8>>>() <= Geometry::HEADER && align_of::<Header<NonNull<u8>>>() <= 64);

/// The header of the block that a cell is in. Blocks have this size.
#[inline(always)]
fn header<W>(cell: CellPtr, block: usize) -> *mut Header<W> {
    cell.as_ptr().map_addr(|addr| addr & !(block - 1)).cast()
}

/// Whose cell it is.
///
/// # Safety
///
/// The cell is one of a `Memory<W>` whose blocks have this size, and its chunk was not freed.
#[inline(always)]
pub(super) unsafe fn owner<W: Copy>(cell: CellPtr, block: usize) -> W {
    // SAFETY: the caller says that the cell is in such a block. A block is aligned to its size and begins with its header, which
    // is therefore at the masked address; `owner` is written once, before the first cell is handed out.
    unsafe { (*header(cell, block)).owner }
}

/// A cell's entry in the header of its block.
pub(super) struct Entry<W> {
    // # Invariants
    //
    // 1. The block has this geometry, and `index` is less than its `cells`.
    block: Block<W>,
    geometry: Geometry,
    index: usize,
}

impl<W> Entry<W> {
    /// # Safety
    ///
    /// It is a cell of a `Memory<W>` with this geometry, and its chunk is not freed while the entry is there.
    pub(super) unsafe fn of(cell: CellPtr, geometry: Geometry) -> Self {
        let header = header(cell, geometry.block);
        let index = geometry.index(cell.addr().get() - header.addr());
        // SAFETY: a block is not at address 0, where no allocation is.
        Self { block: Block(unsafe { NonNull::new_unchecked(header) }), geometry, index }
    }

    pub(super) fn cell(&self) -> CellPtr {
        // SAFETY: by invariant 1 the cell with this index is inside the block, and the pointer may reach all of the block.
        unsafe { self.block.0.byte_add(self.geometry.offset(self.index)) }.cast()
    }

    pub(super) fn key(&self) -> Key {
        Key::at(self.geometry.position(self.block.number as usize) + self.index)
    }

    /// A word of the bitmap, which has a bit for each cell.
    fn word(&self, index: usize) -> &Cell<u64> {
        let cells = self.block.cells as usize;
        debug_assert!(index < cells.div_ceil(64));
        // SAFETY: by invariant 2 of `Header` the bitmap is behind the cells, and the pointer may reach all of the block.
        let word = unsafe { self.block.0.byte_add(self.geometry.offset(cells) + index * 8) }.cast::<Cell<u64>>();
        // SAFETY: `begin_block` has initialised the word, which is aligned: blocks, first cells and strides are multiples of 8.
        // It is only ever shared.
        unsafe { word.as_ref() }
    }

    pub(super) fn is_leaked(&self) -> bool {
        self.word(self.index / 64).get() & 1 << (self.index % 64) != 0
    }

    /// Sets or clears the cell's bit. Whether that changed it.
    fn mark(&self, leaked: bool) -> bool {
        let (word, bit) = (self.word(self.index / 64), 1 << (self.index % 64));
        let before = word.get();
        word.set(if leaked { before | bit } else { before & !bit });
        word.get() != before
    }

    /// The entry of the first leaked cell of this one's block from that index on.
    fn next_leaked(self, from: usize) -> Option<Self> {
        if self.block.leaked.get() == 0 {
            return None;
        }
        let mut mask = u64::MAX << (from % 64);
        (from / 64..(self.block.cells as usize).div_ceil(64)).find_map(|index| {
            let bits = self.word(index).get() & mem::replace(&mut mask, u64::MAX);
            // A bit is set by `leak` only, for a cell that there is: invariant 1 holds.
            (bits != 0).then(|| Self { index: index * 64 + bits.trailing_zeros() as usize, ..self })
        })
    }

    fn stamp(&self) -> Option<&Cell<u32>> {
        let stamps = NonNull::new(self.block.stamps.get())?;
        // SAFETY: by invariant 3 of `Header` the table has `cells` numbers, and `index` is less.
        let stamp = unsafe { stamps.add(self.index) };
        // SAFETY: the number is initialised and only ever shared, and `Cell<u32>` has the layout of a `u32`.
        Some(unsafe { stamp.cast::<Cell<u32>>().as_ref() })
    }

    /// Marks the cell as leaked: from now on its key finds what it holds.
    pub(super) fn leak(&self) -> Key {
        let leaks = self.mark(true);
        debug_assert!(leaks, "a leaked value has no slot");
        self.block.leaked.set(self.block.leaked.get() + 1);
        if let Some(stamp) = self.stamp() {
            stamp.set(0);
        }
        self.key()
    }

    /// Sees that the block has a table of stamps.
    pub(super) fn try_stamps(&self) -> Result<(), Layout> {
        if self.stamp().is_none() {
            let cells = self.block.cells as usize;
            let mut table = Vec::new();
            let layout = Layout::array::<u32>(cells).unwrap_or(Layout::new::<u32>());
            table.try_reserve_exact(cells).map_err(|_| layout)?;
            table.resize(cells, 0);
            // The global allocator may have re-entered and made one too, which then stays.
            if self.stamp().is_none() {
                self.block.stamps.set(Box::into_raw(table.into_boxed_slice()).cast());
            }
        }
        Ok(())
    }

    /// [`leak`](Self::leak) with a stamp that the next leak of this cell does not have. There is a table.
    pub(super) fn leak_stamped(&self) -> StampedKey {
        let key = self.leak();
        let serial = &self.block.serial;
        // 0 is for no stamp.
        serial.set(serial.get().checked_add(1).unwrap_or(1));
        self.stamp().expect("the caller made the table").set(serial.get());
        StampedKey::new(key, serial.get())
    }

    /// Whether the cell was last leaked with this stamp.
    pub(super) fn has_stamp(&self, stamp: u32) -> bool {
        stamp != 0 && self.stamp().is_some_and(|cell| cell.get() == stamp)
    }

    /// The cell, if it was leaked, taken from its key. Its value is the caller's.
    pub(super) fn reclaim(&self) -> Option<CellPtr> {
        self.mark(false).then(|| {
            self.block.leaked.set(self.block.leaked.get() - 1);
            self.cell()
        })
    }

    /// Hides the cell from its key for a while, if it was leaked.
    pub(super) fn lend(self) -> Option<Lent<W>> {
        self.mark(false).then(|| Lent(self))
    }
}

/// A leaked cell that its key does not find until this is dropped.
pub(super) struct Lent<W>(
    // Invariant: the cell holds a leaked value, and its bit is clear: no key finds it.
    Entry<W>,
);

impl<W> Lent<W> {
    #[inline(always)]
    pub(super) fn cell(&self) -> CellPtr {
        self.0.cell()
    }
}

impl<W> Drop for Lent<W> {
    #[inline]
    fn drop(&mut self) {
        self.0.mark(true);
    }
}

/// A block, by its header. A chunk is named by its first block.
struct Block<W>(
    // # Invariants
    //
    // 1. The header is that of a block of a slab, made from the chunk's pointer. The chunk is not freed as long as this is used.
    NonNull<Header<W>>,
);

impl<W> Clone for Block<W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Block<W> {}

impl<W> Deref for Block<W> {
    type Target = Header<W>;

    fn deref(&self) -> &Header<W> {
        // SAFETY: by invariant 1 the header is there. After it is written it is only ever shared: it changes through `Cell`s.
        unsafe { self.0.as_ref() }
    }
}

/// An entry of the directory.
enum Numbered<W> {
    /// The block with this number.
    Block(Block<W>),
    /// No block. The next number without one.
    Vacant(Option<u32>),
}

/// Why there is no cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All of this many cells are occupied.
    Full(usize),
    /// More cells were asked for than the slab can have; the layout is that of as many.
    TooMany { limit: usize, asked: usize, layout: Layout },
    /// The slab of this thread is set up already.
    #[cfg(feature = "std")]
    Initialized,
    /// The global allocator has no such block, or there is no such layout.
    Alloc(Layout),
}

/// All memory of one owner, which is the same in all headers.
pub(super) struct Memory<W> {
    // # Invariants
    //
    // 1. The chunks are linked from `first` to `last`. Their blocks have this geometry, and their headers one owner.
    // 2. The chunks in front of `carving` have no cell that was not carved.
    // 3. A block has as many cells as its number is for, or fewer. Its header has that number.
    //    The headers of small blocks are in `small`, those of others in `directory`, in which from `vacant` on the numbers are
    //    linked that have no block.
    // 4. No block that was freed gave a stamp above `serial`, before stamps began again.
    geometry: Geometry,
    first: Option<Block<W>>,
    carving: Option<Block<W>>,
    last: Option<Block<W>>,
    small: [Option<Block<W>>; MOST_SMALL],
    directory: Vec<Numbered<W>>,
    vacant: Option<u32>,
    serial: u32,
    /// Cells that were carved from all chunks.
    pub(super) carved: usize,
    /// Cells of all chunks.
    pub(super) capacity: usize,
    limit: usize,
    /// Cells of a chunk, or 0 to grow with the slab.
    chunk_cells: usize,
}

impl<W: Copy + PartialEq> Memory<W> {
    pub(super) const fn new(geometry: Geometry, limit: usize) -> Self {
        const { assert!(size_of::<W>() <= size_of::<usize>() && align_of::<W>() <= align_of::<usize>(), "a word") };
        Self {
            geometry,
            first: None,
            carving: None,
            last: None,
            small: [None; MOST_SMALL],
            directory: Vec::new(),
            vacant: None,
            serial: 0,
            carved: 0,
            capacity: 0,
            limit,
            chunk_cells: 0,
        }
    }

    /// Sets how the memory grows: to at most `limit` cells, by chunks of `chunk_cells`; 0 is the default.
    pub(super) fn configure(&mut self, limit: usize, chunk_cells: usize) {
        (self.limit, self.chunk_cells) = (limit.max(self.capacity), chunk_cells);
    }

    /// Carves cells that were never used, at most a page of them: one for the caller, the others for the stack, which gets capacity
    /// for all cells that were carved.
    pub(super) fn carve(&mut self, owner: W, stack: &FreeStack) -> Result<CellPtr, Refusal> {
        let geometry = self.geometry;
        let chunk = loop {
            match self.carving.map(|chunk| (chunk, chunk.next.get())) {
                Some((chunk, _)) if chunk.carved.get() < chunk.chunk_cells => break chunk,
                Some((_, Some(next))) => self.carving = Some(next),
                _ => self.grow(owner)?,
            }
        };
        let (cells, carved) = (chunk.chunk_cells, chunk.carved.get());
        let index = carved % geometry.cells;
        let block_cells = geometry.cells.min(cells - (carved - index));
        let count = (PAGE / geometry.stride).clamp(1, block_cells - index);
        // A wrong `Module` may have pushed more cells than this memory has carved.
        let least = self.carved.max(stack.len()) + count;
        if least > stack.capacity() {
            let usual = self.capacity.max(2 * stack.capacity()).max(least);
            stack.try_reserve(usual).or_else(|_| stack.try_reserve(least)).map_err(Refusal::Alloc)?;
        }
        // SAFETY: fewer cells than the chunk has were carved, so that the block of the next one is inside the chunk.
        let block = unsafe { chunk.0.byte_add(carved / geometry.cells * geometry.block) }.cast();
        if index == 0 && carved != 0 {
            let number = self.vacant_number(block_cells)?;
            // SAFETY: the block has so many cells, none of which was carved, by invariant 4 of `Header`.
            unsafe { self.begin_block(owner, block, number, block_cells, 0) };
        }
        // SAFETY: `index` is less than `block_cells`, so that the cell is inside the block.
        let first = unsafe { block.add(geometry.offset(index)) }.cast();
        chunk.carved.set(carved + count);
        self.carved += count;
        // SAFETY: from `first` on `count` cells are in the block, a stride apart. They were not carved before, by invariant 4 of
        // `Header`, so no other code has them.
        unsafe { stack.push_run(first, geometry.stride, count - 1) };
        stack.touch(self.carved - 1);
        Ok(first)
    }

    /// Gives a block a header, a bitmap and this number, which is vacant and for as many cells.
    ///
    /// # Safety
    ///
    /// It is in a chunk with this geometry and has this many cells, of which none was handed out.
    unsafe fn begin_block(
        &mut self,
        owner: W,
        block: NonNull<u8>,
        number: usize,
        cells: usize,
        chunk_cells: usize,
    ) -> Block<W> {
        let new = Block(block.cast::<Header<W>>());
        let empty = Header {
            owner,
            number: u32::try_from(number).expect("there are fewer numbers than keys"),
            cells: u32::try_from(cells).expect("a block has fewer cells than there are keys"),
            stamps: Cell::new(ptr::null_mut()),
            leaked: Cell::new(0),
            serial: Cell::new(self.serial),
            vacant: Cell::new(0),
            doomed: Cell::new(false),
            chunk_cells,
            carved: Cell::new(0),
            next: Cell::new(None),
        };
        // SAFETY: the block is aligned to its size, which is more than a header's alignment; it begins with `HEADER` bytes in front
        // of its first cell, which is not handed out, as the caller says.
        unsafe { new.0.write(empty) };
        // SAFETY: `Geometry::size` counts a bitmap of one bit a cell, in whole words, behind the cells.
        let bitmap = unsafe { block.add(self.geometry.offset(cells)) };
        // SAFETY: as many bytes as that has. The cells in front of it have so far no value, nor has the bitmap.
        unsafe { bitmap.write_bytes(0, cells.div_ceil(64) * 8) };
        match number.checked_sub(self.geometry.small) {
            None => self.small[number] = Some(new),
            Some(number) => {
                if let Numbered::Vacant(next) = mem::replace(&mut self.directory[number], Numbered::Block(new)) {
                    self.vacant = next;
                }
            }
        }
        new
    }

    /// A vacant number for a block of this many cells: that of a small block if there is one, else the first of the list, else one
    /// that is added to the directory.
    fn vacant_number(&mut self, cells: usize) -> Result<usize, Refusal> {
        let small = self.geometry.small;
        let fits = |&number: &usize| self.small[number].is_none() && cells <= FIRST_CELLS << number;
        if let Some(number) = (0..small).find(fits) {
            return Ok(number);
        }
        if self.vacant.is_none() {
            let number = self.directory.len();
            if self.geometry.position(small + number + 1) > Key::LIMIT {
                return Err(Refusal::Full(self.carved));
            }
            let layout = Layout::array::<Numbered<W>>(number + 1).unwrap_or(Layout::new::<Numbered<W>>());
            self.directory.try_reserve(1).map_err(|_| Refusal::Alloc(layout))?;
            self.directory.push(Numbered::Vacant(None));
            self.vacant = u32::try_from(number).ok();
        }
        Ok(small + self.vacant.map_or(0, |number| number as usize))
    }

    /// The block with this number.
    fn block(&self, number: usize) -> Option<Block<W>> {
        let Some(behind) = number.checked_sub(self.geometry.small) else { return self.small[number] };
        if let Numbered::Block(block) = *self.directory.get(behind)? { Some(block) } else { None }
    }

    /// Cells of the next chunk, as far as the limit allows them.
    ///
    /// The first has [`FIRST_CELLS`], and each that follows these and as many as there are, up to a block. From then on a chunk
    /// has as many blocks as there are, up to [`LARGEST_CHUNK`] bytes.
    fn usual(&self) -> usize {
        let Geometry { block, cells, .. } = self.geometry;
        let usual = match (self.chunk_cells, self.capacity + FIRST_CELLS) {
            (0, small) if small < cells => small,
            (0, large) => cells * large.checked_div(cells).unwrap_or(0).min(LARGEST_CHUNK / block).max(1),
            (chunk_cells, _) => chunk_cells,
        };
        usual.min(self.limit - self.capacity)
    }

    /// Adds a chunk of the usual size, or a block if the allocator does not have that much.
    fn grow(&mut self, owner: W) -> Result<(), Refusal> {
        let (cells, in_block) = (self.usual(), self.geometry.cells);
        if self.capacity == self.limit {
            return Err(Refusal::Full(self.limit));
        }
        match self.add(owner, cells) {
            Err(Refusal::Alloc(_)) if cells > in_block => self.add(owner, in_block),
            result => result,
        }
    }

    /// Adds a chunk of this many cells.
    fn add(&mut self, owner: W, cells: usize) -> Result<(), Refusal> {
        let layout = self.geometry.chunk(cells).ok_or(Refusal::Alloc(Geometry::LARGEST))?;
        let in_block = cells.min(self.geometry.cells);
        let number = self.vacant_number(in_block)?;
        let base = try_alloc(layout).ok_or(Refusal::Alloc(layout))?;
        // SAFETY: the layout is that of a chunk, whose first block has so many cells. It is new.
        let chunk = unsafe { self.begin_block(owner, base, number, in_block, cells) };
        self.link(chunk);
        self.capacity += cells;
        Ok(())
    }

    /// Puts a chunk at the end of the list.
    fn link(&mut self, chunk: Block<W>) {
        chunk.next.set(None);
        if let Some(last) = self.last.replace(chunk) {
            last.next.set(Some(chunk));
        } else {
            (self.first, self.carving) = (Some(chunk), Some(chunk));
        }
    }

    fn chunks(&self) -> impl Iterator<Item = Block<W>> + use<W> {
        iter::successors(self.first, |chunk| chunk.next.get())
    }

    /// Sees that there is memory for this many more cells than `occupied`, and capacity for all on the stack.
    pub(super) fn reserve(
        &mut self,
        owner: W,
        stack: &FreeStack,
        occupied: usize,
        additional: usize,
    ) -> Result<(), Refusal> {
        let missing = additional.saturating_sub(self.capacity.saturating_sub(occupied));
        if missing > self.limit - self.capacity {
            let asked = occupied.saturating_add(additional);
            let layout = asked.checked_mul(self.geometry.stride).map(|size| Layout::from_size_align(size, 8));
            let layout = layout.and_then(Result::ok).unwrap_or(Geometry::LARGEST);
            return Err(Refusal::TooMany { limit: self.limit, asked, layout });
        }
        if missing != 0 {
            self.add(owner, missing.max(self.usual()))?;
        }
        // A chunk's later blocks get their numbers when cells are carved from them. The inserts that follow are not to allocate.
        let blocks: usize = self.chunks().map(|chunk| chunk.chunk_cells.div_ceil(self.geometry.cells)).sum();
        let new = blocks.saturating_sub(self.directory.len());
        let layout = Layout::array::<Numbered<W>>(blocks).unwrap_or(Layout::new::<Numbered<W>>());
        self.directory.try_reserve(new).map_err(|_| Refusal::Alloc(layout))?;
        stack.try_reserve(self.capacity).map_err(Refusal::Alloc)
    }

    /// Calls `each`, which is no user's code, with the layout of each block of the allocator's, and the bytes of vacant cells
    /// in it. Which chunk the `occupied` cells are in is not known: as if they were in the first.
    pub(super) fn each_block(&self, mut occupied: usize, each: &mut dyn FnMut(Layout, usize)) {
        let directory = Layout::array::<Numbered<W>>(self.directory.capacity()).ok();
        directory.filter(|directory| directory.size() != 0).into_iter().for_each(|directory| each(directory, 0));
        for chunk in self.chunks() {
            let cells = chunk.chunk_cells;
            let taken = occupied.min(cells);
            occupied -= taken;
            if let Some(layout) = self.geometry.chunk(cells) {
                each(layout, (cells - taken) * self.geometry.stride);
            }
            let stamped = chunk.blocks(self.geometry).filter(|header| !header.stamps.get().is_null());
            for table in stamped.filter_map(|header| Layout::array::<u32>(header.cells as usize).ok()) {
                each(table, 0);
            }
        }
    }

    /// The entry of the cell that a key names, if there is such a cell.
    pub(super) fn find(&self, key: Key) -> Option<Entry<W>> {
        let (number, index) = self.geometry.locate(key.position()?)?;
        let entry = Entry { block: self.block(number)?, geometry: self.geometry, index };
        (entry.index < entry.block.cells as usize).then_some(entry)
    }

    /// Whether a block has a leaked cell.
    pub(super) fn has_leaked(&self) -> bool {
        self.chunks().flat_map(|chunk| chunk.blocks(self.geometry)).any(|header| header.leaked.get() != 0)
    }

    /// The key of the first leaked cell from this position on.
    pub(super) fn next_leaked(&self, from: usize) -> Option<Key> {
        let (number, mut index) = self.geometry.locate(from)?;
        (number..self.geometry.small + self.directory.len()).find_map(|number| {
            let from = mem::take(&mut index);
            // A block has a cell with the index 0.
            let entry = Entry { block: self.block(number)?, geometry: self.geometry, index: 0 };
            Some(entry.next_leaked(from)?.key())
        })
    }

    /// Frees every chunk.
    ///
    /// # Safety
    ///
    /// No cell is used again, not even as a vacant one.
    pub(super) unsafe fn free(self) {
        let mut next = self.first;
        while let Some(chunk) = next {
            next = chunk.next.get();
            // SAFETY: the caller says that no cell is used again, and the list is not.
            unsafe { chunk.free(self.geometry) };
        }
    }

    /// Frees the chunks whose cells are all vacant, and removes these cells from the stack; after the last chunk the directory too.
    ///
    /// The stack is not trusted: a chunk is freed only if each of its cells is on the stack. Cells of another owner, which a wrong
    /// `Module` may have put there, stay and do not count.
    ///
    /// # Safety
    ///
    /// The cells on the stack are of `Memory<W>`s with this geometry, in chunks that were not freed.
    pub(super) unsafe fn sweep(&mut self, owner: W, stack: &FreeStack) {
        let geometry = self.geometry;
        self.chunks().flat_map(|chunk| chunk.blocks(geometry)).for_each(|header| header.vacant.set(0));
        let own = |cell: CellPtr| {
            // SAFETY: the caller says that the cell is in a block with this geometry that was not freed.
            let header = unsafe { &*header::<W>(cell, geometry.block) };
            (header.owner == owner).then_some(header)
        };
        stack.retain(|cell| {
            if let Some(header) = own(cell) {
                header.vacant.set(header.vacant.get() + 1);
            }
            true
        });
        for chunk in self.chunks() {
            let vacant: usize = chunk.blocks(geometry).map(|header| header.vacant.get() as usize).sum();
            let doomed = vacant == chunk.carved.get();
            chunk.blocks(geometry).for_each(|header| header.doomed.set(doomed));
        }
        self.carved -= stack.retain(|cell| own(cell).is_none_or(|header| !header.doomed.get()));
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
            self.capacity -= chunk.chunk_cells;
            // SAFETY: all its cells are vacant, and since `retain` none is on the stack; its blocks are not in the directory, and it
            // is gone from the list.
            unsafe { chunk.free(geometry) };
        }
        if self.first.is_none() {
            let Self { serial, chunk_cells, .. } = *self;
            *self = Self { serial, chunk_cells, ..Self::new(geometry, self.limit) };
        }
    }
}

impl<W> Block<W> {
    /// The blocks of this chunk that have a header.
    fn blocks(self, geometry: Geometry) -> impl Iterator<Item = Self> {
        (0..self.carved.get().div_ceil(geometry.cells).max(1)).map(move |n| {
            // SAFETY: by invariant 4 of `Header` cells of so many blocks were carved, or this is the first, so that it is inside the
            // chunk. It begins with a header.
            Self(unsafe { self.0.byte_add(n * geometry.block) })
        })
    }

    /// Frees the chunk, and the tables of its blocks.
    ///
    /// # Safety
    ///
    /// It is the first block of a chunk, of which nothing is used again.
    unsafe fn free(self, geometry: Geometry) {
        for header in self.blocks(geometry) {
            let stamps = ptr::slice_from_raw_parts_mut(header.stamps.get(), header.cells as usize);
            if !stamps.is_null() {
                // SAFETY: by invariant 3 of `Header` it is a box of so many numbers, which only the header owned.
                drop(unsafe { Box::from_raw(stamps) });
            }
        }
        let layout = geometry.chunk(self.chunk_cells).expect("it was allocated with this layout");
        // SAFETY: by invariant 4 of `Header` it came from the global allocator with this layout; the caller says that it is not used again.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::Entry;
    use crate::slab::engine::{CoreRef, OneThread};
    use crate::slab::geometry::Geometry;
    use crate::slab::key::Key;
    use core::alloc::Layout;

    #[test]
    fn stamps_begin_again_behind_none() {
        let geometry = Geometry::of(Layout::new::<u64>());
        let core = CoreRef::<OneThread>::allocate(geometry, Key::LIMIT).unwrap();
        // SAFETY: the core was just allocated.
        let cell = unsafe { core.refill() }.unwrap();
        // SAFETY: the cell was just carved, and its chunk is there until the end of the test.
        let entry = unsafe { Entry::<CoreRef<OneThread>>::of(cell, geometry) };
        entry.try_stamps().unwrap();
        entry.block.serial.set(u32::MAX - 1);
        assert_eq!(entry.leak_stamped().stamp(), u32::MAX);
        assert!(entry.has_stamp(u32::MAX) && entry.reclaim() == Some(cell));
        assert_eq!(entry.leak_stamped().stamp(), 1, "0 is none");
        assert!(
            entry.has_stamp(1) && !entry.has_stamp(u32::MAX) && !entry.has_stamp(0) && entry.reclaim() == Some(cell)
        );
        entry.leak();
        assert!(!entry.has_stamp(0) && !entry.has_stamp(1));
        // SAFETY: neither the entry nor the cell nor the core is used again.
        unsafe { core.free() };
    }
}
