//! The memory of a slab: chunks from the global allocator, their blocks, and the leaked bits, stamps and numbers of
//! cells.
//!
//! A *chunk* is one allocation: one or more *blocks* in a row, of which the last may be shorter. A block is aligned to
//! the size of a whole block and begins with a [`Header`], so masking any address in the block gives the address of the
//! header.
//!
//! Inserts and drops use this module only if the free stack is empty or full.
//!
//! `W` is the type of the owner in a header: a pointer to the core. This module never dereferences it.

mod discard;
mod vacancy;

use super::geometry::{FIRST_CELLS, Geometry, MOST_SMALL, Starter};
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

/// The size up to which chunks grow with the slab, in bytes.
const LARGEST_CHUNK: usize = 1 << 20;

/// The least bytes of cells in a chunk of a pool after the first: the slab doubles, but by at least the one and at most the other. The
/// headers and the first cells of all chunks lie at multiples of 64 KiB and compete for the same sets of the first-level cache. pom,
/// whose classes had 12 chunks each of 12 cells or a few more, has 0.85 of the misses in a cache of 32 KiB with this and 0.59 in one of
/// 48, and 0.96 of the memory, since each chunk has a header (`valgrind --tool=cachegrind --cache-sim=yes --D1=32768,8,64` or
/// `--D1=49152,12,64` of what `dwell-bench-real pom` builds).
const FIRST_IN_POOL: [usize; 2] = [1024, 1536];

/// The approximate number of bytes of cells that are carved at once: a page.
const PAGE: usize = 4096;

/// The header of a block.
#[repr(C)] // `owner` first: a drop reads it at the masked address
pub(super) struct Header<W> {
    // # Invariants
    //
    // 1. `owner` is the owner of the block's cells: a copy of the `CoreRef` that was passed in, never made from a reference.
    // 2. The block's `cells` cells are followed by an initialised bitmap with a bit for each. A bit is set if and only
    //    if its cell holds a value that was leaked and is not lent.
    // 3. `stamps` is null or comes from a box of `cells` numbers, which this header owns: for each cell the stamp of
    //    its last leak, or 0 if that had none.
    // 4. `before` blocks of whole size precede this one in its chunk. If `chunk_cells` is not 0, the block is the first of a chunk, which the global allocator allocated with the
    //    layout `geometry.chunk(chunk_cells)`, or with that of a starter. Exactly the first `carved` cells of the chunk were carved: handed out or
    //    pushed to the free stack. The first block and every block with a carved cell have a header.
    owner: W,
    /// The number of the block.
    number: u32,
    cells: u32,
    stamps: Cell<*mut u32>,
    /// The number of leaked cells, including lent ones.
    leaked: Cell<u32>,
    /// In the first block of a chunk, the number of cells of the chunk that [`Memory::count`] has found on the stack.
    vacant: Cell<u32>,
    /// The number of the last stamped leak in this block: see [`stamp_of`].
    serial: Cell<u64>,
    /// In the first block of a chunk, the number of cells of the chunk. 0 in other blocks.
    chunk_cells: u32,
    /// In the first block of a chunk, the number of cells that were carved from the chunk.
    carved: Cell<u32>,
    /// In the first block of a chunk, during [`Memory::free_vacant`]: whether all cells of the chunk are vacant.
    doomed: Cell<bool>,
    /// The number of blocks before this one in its chunk.
    before: u32,
    /// In the first block of a chunk, the next chunk.
    next: Cell<Option<Block<W>>>,
}

const _: () = assert!(size_of::<Header<NonNull<u8>>>() <= Geometry::HEADER && align_of::<Header<NonNull<u8>>>() <= 64);

/// Returns the address of the header for a cell in a block of `block` bytes.
#[inline(always)]
fn header<W>(cell: CellPtr, block: usize) -> *mut Header<W> {
    cell.as_ptr().map_addr(|addr| addr & !(block - 1)).cast()
}

/// Returns the owner of a cell.
///
/// # Safety
///
/// The cell belongs to a `Memory<W>` whose blocks have `block` bytes, and its chunk is not freed.
#[inline(always)]
pub(super) unsafe fn owner<W: Copy>(cell: CellPtr, block: usize) -> W {
    // SAFETY: the caller guarantees that the cell is in such a block, which is not freed. A block is aligned to its
    // size and begins with its header, so the header is at the masked address, and a `CellPtr` may access the whole
    // chunk. `owner` is written once, before the first cell of the block is handed out.
    unsafe { (*header(cell, block)).owner }
}

/// Returns the stamp of the stamped leak with this number: its lowest 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "these are the lowest 32 bits")]
fn stamp_of(serial: u64) -> u32 {
    serial as u32
}

/// The entry of a cell in its block: its leaked bit, stamp and key.
pub(crate) struct CellEntry<W> {
    // # Invariants
    //
    // 1. The block has this geometry, and `index` is less than its `cells`.
    block: Block<W>,
    geometry: Geometry,
    index: usize,
}

impl<W> CellEntry<W> {
    /// Returns the entry of a cell.
    ///
    /// # Safety
    ///
    /// The cell belongs to a `Memory<W>` with this geometry, and its chunk is not freed while the entry is used.
    pub(super) unsafe fn of(cell: CellPtr, geometry: Geometry) -> Self {
        let header = header(cell, geometry.block);
        let index = geometry.index(cell.addr().get() - header.addr());
        // SAFETY: the caller guarantees that the cell is in a block. The masked address is the start of that block,
        // which is allocated, so it is not null.
        Self { block: Block(unsafe { NonNull::new_unchecked(header) }), geometry, index }
    }

    pub(super) fn cell(&self) -> CellPtr {
        // SAFETY: by invariant 1 the cell with this index is inside the block. The pointer is derived from the chunk's,
        // so it may access the whole block.
        unsafe { self.block.0.byte_add(self.geometry.offset(self.index)) }.cast()
    }

    pub(super) fn key(&self) -> Key {
        Key::at(self.geometry.position(self.block.number as usize) + self.index)
    }

    /// Returns the word of the bitmap with this index, which must be less than `cells.div_ceil(64)`.
    fn word(&self, index: usize) -> &Cell<u64> {
        let cells = self.block.cells as usize;
        debug_assert!(index < cells.div_ceil(64));
        // SAFETY: by invariant 2 of `Header` the bitmap follows the cells. Callers pass the word of a cell of the
        // block, so the word is inside the bitmap. The pointer is derived from the chunk's, so it may access the whole
        // block.
        let word = unsafe { self.block.0.byte_add(self.geometry.offset(cells) + index * 8) }.cast::<Cell<u64>>();
        // SAFETY: `begin_block` has initialised the word. It is aligned, because blocks, first cells and strides are
        // multiples of 8. It is accessed only through `&Cell`s.
        unsafe { word.as_ref() }
    }

    pub(super) fn is_leaked(&self) -> bool {
        self.word(self.index / 64).get() & 1 << (self.index % 64) != 0
    }

    /// Sets or clears the cell's leaked bit. Returns whether that changed the bit.
    fn mark(&self, leaked: bool) -> bool {
        let (word, bit) = (self.word(self.index / 64), 1 << (self.index % 64));
        let before = word.get();
        word.set(if leaked { before | bit } else { before & !bit });
        word.get() != before
    }

    /// Returns the entry of the first leaked cell in the same block whose index is at least `from`.
    #[inline]
    fn next_leaked(self, from: usize) -> Option<Self> {
        if self.block.leaked.get() == 0 {
            return None;
        }
        let mut mask = u64::MAX << (from % 64);
        (from / 64..(self.block.cells as usize).div_ceil(64)).find_map(|index| {
            let bits = self.word(index).get() & mem::replace(&mut mask, u64::MAX);
            // `mark` sets only bits of cells of the block, so invariant 1 holds.
            (bits != 0).then(|| Self { index: index * 64 + bits.trailing_zeros() as usize, ..self })
        })
    }

    fn stamp(&self) -> Option<&Cell<u32>> {
        let stamps = NonNull::new(self.block.stamps.get())?;
        // SAFETY: by invariant 3 of `Header` the table has `cells` numbers, and by invariant 1 `index` is less than
        // `cells`.
        let stamp = unsafe { stamps.add(self.index) };
        // SAFETY: the number is initialised and accessed only through `&Cell`s, and a `Cell<u32>` has the layout of a
        // `u32`.
        Some(unsafe { stamp.cast::<Cell<u32>>().as_ref() })
    }

    /// Marks the cell as leaked and returns its key, which finds the value from now on.
    pub(super) fn leak(&self) -> Key {
        let leaks = self.mark(true);
        debug_assert!(leaks, "a leaked value has no slot");
        self.block.leaked.set(self.block.leaked.get() + 1);
        if let Some(stamp) = self.stamp() {
            stamp.set(0);
        }
        self.key()
    }

    /// Ensures that the block has a table of stamps. Returns the table's layout if the allocation fails.
    pub(super) fn try_stamps(&self) -> Result<(), Layout> {
        if self.stamp().is_none() {
            let cells = self.block.cells as usize;
            let mut table = Vec::new();
            let layout = Layout::array::<u32>(cells).unwrap_or(Layout::new::<u32>());
            table.try_reserve_exact(cells).map_err(|_| layout)?;
            table.resize(cells, 0);
            // If the global allocator re-entered and made a table too, that table stays.
            if self.stamp().is_none() {
                self.block.stamps.set(Box::into_raw(table.into_boxed_slice()).cast());
            }
        }
        Ok(())
    }

    /// Like [`leak`](Self::leak), but with a stamp that the next leak of this cell does not get. The block must have a
    /// table of stamps.
    pub(super) fn leak_stamped(&self) -> StampedKey {
        let key = self.leak();
        let next = self.block.serial.get() + 1;
        // 0 means that there is no stamp.
        let next = if stamp_of(next) == 0 { next + 1 } else { next };
        self.block.serial.set(next);
        let stamp = stamp_of(next);
        self.stamp().expect("the caller made the table").set(stamp);
        StampedKey::new(key, stamp)
    }

    /// Returns whether the cell was last leaked with this stamp.
    pub(super) fn has_stamp(&self, stamp: u32) -> bool {
        stamp != 0 && self.stamp().is_some_and(|cell| cell.get() == stamp)
    }

    /// Returns the cell if it is leaked. The key no longer finds the value, which the caller then owns.
    pub(super) fn reclaim(&self) -> Option<CellPtr> {
        self.mark(false).then(|| {
            self.block.leaked.set(self.block.leaked.get() - 1);
            self.cell()
        })
    }

    /// Lends the cell if it is leaked: the key does not find the value until the result is dropped.
    pub(super) fn lend(self) -> Option<Lent<W>> {
        self.mark(false).then(|| Lent(self))
    }
}

/// A leaked cell that is lent: its key does not find the value until this is dropped.
pub(super) struct Lent<W>(
    // Invariant: the cell holds a leaked value, and its bit is clear: no key finds it.
    CellEntry<W>,
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

/// A pointer to a block. The pointer to its first block stands for a chunk.
struct Block<W>(
    // # Invariants
    //
    // 1. The pointer is that of a block's header and is derived from the pointer to the chunk. The chunk is not freed
    //    while this is used.
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
        // SAFETY: by invariant 1 the pointer is that of a header which is not freed. After `begin_block` has written
        // the header, it is accessed only through shared references and changes only through `Cell`s.
        unsafe { self.0.as_ref() }
    }
}

/// Which block of a chunk [`Memory::begin_block`] begins.
#[derive(Clone, Copy)]
enum Part {
    /// The first of a chunk of this many cells.
    Chunk { cells: usize },
    /// The block after this many others.
    Later { before: usize },
}

/// An entry of the directory.
enum Numbered<W> {
    /// The block with this number.
    Block(Block<W>),
    /// No block has this number. Contains the next vacant number.
    Vacant(Option<u32>),
}

/// The reason why a slab has no cell or was not set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The slab is full: all cells, of this number, are occupied.
    Full(usize),
    /// The request exceeds the limit of the slab. `layout` is that of `asked` cells.
    TooMany { limit: usize, asked: usize, layout: Layout },
    /// The slab of this thread is already set up.
    #[cfg(feature = "std")]
    Initialized,
    /// The global allocator has re-entered the slab while the slab called it.
    ReEntered,
    /// The global allocator failed to allocate this layout, or the needed layout does not exist.
    Alloc(Layout),
}

/// The memory of one owner, which is the same in all headers.
pub(super) struct Memory<W> {
    // # Invariants
    //
    // 1. The chunks are linked from `first` to `last`. Their blocks have this geometry, and their headers one owner.
    // 2. In the chunks before `carving` every cell was carved.
    // 3. A block has at most as many cells as its number reserves, and its header has that number. `small` contains the
    //    small blocks and `directory` the others. The numbers without a block in `directory` are a linked list that
    //    begins at `vacant`.
    // 4. `serial` is at least the `serial` of every block that was freed.
    // 5. If `starter` is not `None`, `first` is a starter, which was allocated with this layout.
    geometry: Geometry,
    pub(super) starter: Option<Layout>,
    first: Option<Block<W>>,
    carving: Option<Block<W>>,
    last: Option<Block<W>>,
    small: [Option<Block<W>>; MOST_SMALL],
    directory: Vec<Numbered<W>>,
    vacant: Option<u32>,
    serial: u64,
    /// The number of cells that were carved from all chunks.
    pub(super) carved: usize,
    /// The number of cells in all chunks.
    pub(super) capacity: usize,
    /// The number of blocks in all chunks, including those that have no header yet.
    blocks: usize,
    limit: usize,
    /// The number of cells in each new chunk, or 0 if chunks grow with the slab.
    chunk_cells: usize,
    pub(super) growth: Growth,
}

/// How a slab grows while its chunks are smaller than a block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    /// A chunk has as many cells as the slab.
    Double,
    /// A chunk has a quarter as many cells as the slab, after some of [`FIRST_IN_POOL`] bytes: in a pool, which has many slabs, of
    /// which each is half empty after it has doubled.
    /// Cells then have numbers with gaps, which only keys show.
    ByQuarter,
}

impl<W: Copy + PartialEq> Memory<W> {
    pub(super) const fn new(geometry: Geometry, limit: usize) -> Self {
        const { assert!(size_of::<W>() <= size_of::<usize>() && align_of::<W>() <= align_of::<usize>(), "a word") };
        Self {
            geometry,
            starter: None,
            first: None,
            carving: None,
            last: None,
            small: [None; MOST_SMALL],
            directory: Vec::new(),
            vacant: None,
            serial: 0,
            carved: 0,
            capacity: 0,
            blocks: 0,
            limit,
            chunk_cells: 0,
            growth: Growth::Double,
        }
    }

    /// Sets how the slab grows.
    pub(super) fn grow_by(&mut self, growth: Growth) {
        self.growth = growth;
    }

    /// Limits the memory to `limit` cells and to the number of keys, or to its capacity if that is more, and sets the number of cells in each new
    /// chunk. With `chunk_cells == 0` chunks grow with the slab.
    pub(super) fn configure(&mut self, limit: usize, chunk_cells: usize) {
        (self.limit, self.chunk_cells) = (limit.min(Key::LIMIT).max(self.capacity), chunk_cells);
    }

    /// Adds the first chunk, which is a starter.
    ///
    /// # Safety
    ///
    /// `base` was just allocated with the layout of `starter`, which is that of this geometry. This memory has no chunk yet, and
    /// the owner frees the chunk that [`free`](Self::free) returns.
    pub(super) unsafe fn start(&mut self, owner: W, base: NonNull<u8>, starter: Starter) {
        // By invariant 3 of `Starter` the first small number is that of a block of this size. There is no chunk yet, so it is
        // vacant.
        //
        // SAFETY: `base` was just allocated, so none of its cells was handed out, and by invariants 1 and 2 of `Starter` an
        // aligned block of this many cells begins there.
        let chunk = unsafe { self.begin_block(owner, base, 0, FIRST_CELLS, Part::Chunk { cells: FIRST_CELLS }) };
        self.link(chunk);
        (self.capacity, self.blocks, self.starter) = (FIRST_CELLS, 1, Some(starter.layout));
    }

    /// Returns whether all of the memory is a starter, or there is none in a pool, which has no limit, and no key has a stamp: then a
    /// new core may take the place of this one.
    pub(super) fn is_only_starter(&self) -> bool {
        let stamped = self.serial != 0 || self.first.is_some_and(|chunk| chunk.serial.get() != 0);
        let blocks = usize::from(self.starter.is_some());
        (blocks == 1 || self.growth == Growth::ByQuarter) && self.blocks == blocks && !stamped
    }

    /// Carves about a page of cells that were never used. Returns the first one and pushes the others to the stack,
    /// which gets capacity for all carved cells.
    pub(super) fn carve(&mut self, owner: W, stack: &FreeStack) -> Result<CellPtr, Refusal> {
        let geometry = self.geometry;
        let chunk = loop {
            match self.carving.map(|chunk| (chunk, chunk.next.get())) {
                Some((chunk, _)) if chunk.carved.get() < chunk.chunk_cells => break chunk,
                Some((_, Some(next))) => self.carving = Some(next),
                _ => self.grow(owner)?,
            }
        };
        let (cells, carved) = (chunk.chunk_cells as usize, chunk.carved.get() as usize);
        let index = carved % geometry.cells;
        let block_cells = geometry.cells.min(cells - (carved - index));
        let count = (PAGE / geometry.stride).clamp(1, block_cells - index);
        // A wrong `Module` may have pushed more cells than this memory has carved.
        let least = self.carved.max(stack.len()) + count;
        if least > stack.capacity() {
            // While chunks grow by a quarter, the stack does too.
            let doubled = if self.growth == Growth::ByQuarter && self.capacity < geometry.cells {
                0
            } else {
                2 * stack.capacity()
            };
            let usual = self.capacity.max(doubled).max(least);
            stack.try_reserve(usual).or_else(|_| stack.try_reserve(least)).map_err(Refusal::Alloc)?;
        }
        // SAFETY: the loop ended with `carved < chunk_cells`, so the block of the next cell is inside the chunk.
        let block = unsafe { chunk.0.byte_add(carved / geometry.cells * geometry.block) }.cast();
        if index == 0 && carved != 0 {
            let number = self.vacant_number(block_cells)?;
            // SAFETY: the block has `block_cells` cells. By invariant 4 of `Header` none of them was carved, because
            // `index` is 0.
            unsafe {
                self.begin_block(owner, block, number, block_cells, Part::Later { before: carved / geometry.cells })
            };
        }
        // SAFETY: `index` is less than `block_cells`, so the cell is inside the block.
        let first = unsafe { block.add(geometry.offset(index)) }.cast();
        chunk.carved.set(u32::try_from(carved + count).expect("at most `chunk_cells`"));
        self.carved += count;
        // SAFETY: the block has at least `count` cells from `first` on, one stride apart. By invariant 4 of `Header`
        // they were not carved before, so no other code uses them.
        unsafe { stack.push_run(first, geometry.stride, count - 1) };
        stack.touch(self.carved - 1);
        Ok(first)
    }

    /// Writes the header and the bitmap of a block. `number` must be vacant and reserve at least `cells` cells.
    ///
    /// # Safety
    ///
    /// The block is in a chunk with this geometry and has this many cells, none of which was handed out.
    unsafe fn begin_block(
        &mut self,
        owner: W,
        block: NonNull<u8>,
        number: usize,
        cells: usize,
        part: Part,
    ) -> Block<W> {
        let (chunk_cells, before) = match part {
            Part::Chunk { cells } => (cells, 0),
            Part::Later { before } => (0, before),
        };
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
            before: u32::try_from(before).expect("a chunk has fewer blocks than there are keys"),
            chunk_cells: u32::try_from(chunk_cells).expect("a chunk has fewer cells than there are keys"),
            carved: Cell::new(0),
            next: Cell::new(None),
        };
        // SAFETY: a block is aligned to its size, which is a multiple of the header's alignment. By invariant 3 of
        // `Geometry` at least `HEADER` bytes precede its first cell, and an assertion above says that they hold a
        // header. The caller guarantees that no cell was handed out, so no other code uses the block.
        unsafe { new.0.write(empty) };
        // SAFETY: `Geometry::size`, the size of the block, includes a bitmap after the cells, so the result is inside
        // the block.
        let bitmap = unsafe { block.add(self.geometry.offset(cells)) };
        // SAFETY: `Geometry::size` includes exactly this many bytes for the bitmap. No cell was handed out, so no other
        // code uses it.
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

    /// Returns a vacant number for a block of this many cells: that of a small block if one fits, otherwise the first
    /// of the list, otherwise a number that it adds to the directory.
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

    /// Returns the block with this number, if there is one.
    #[inline]
    fn block(&self, number: usize) -> Option<Block<W>> {
        let Some(behind) = number.checked_sub(self.geometry.small) else { return self.small[number] };
        if let Numbered::Block(block) = *self.directory.get(behind)? { Some(block) } else { None }
    }

    /// Returns the number of cells for the next chunk, as far as the limit allows.
    ///
    /// The first chunk has [`FIRST_CELLS`] cells. Each further chunk has [`FIRST_CELLS`] more than the slab, up to a
    /// whole block. From then on a chunk has as many blocks as the slab, up to [`LARGEST_CHUNK`] bytes. In a pool a chunk below a
    /// whole block has a quarter as many cells as the slab, and at least [`FIRST_CELLS`].
    fn usual(&self) -> usize {
        let Geometry { block, cells, .. } = self.geometry;
        let grown = match self.growth {
            Growth::Double => self.capacity + FIRST_CELLS,
            Growth::ByQuarter => {
                let [least, most] = FIRST_IN_POOL;
                let bytes = (self.capacity * self.geometry.stride).clamp(least, most);
                FIRST_CELLS.max(bytes / self.geometry.stride).max(self.capacity / 4)
            }
        };
        let usual = match (self.chunk_cells, grown) {
            (0, small) if small < cells => small,
            (0, large) => cells * large.checked_div(cells).unwrap_or(0).min(LARGEST_CHUNK / block).max(1),
            (chunk_cells, _) => chunk_cells,
        };
        usual.min(self.limit - self.capacity)
    }

    /// Adds a chunk of the usual size, or one of a single block if that allocation fails.
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
        // SAFETY: `base` was just allocated with the layout of a chunk, whose first block has `in_block` cells. None
        // was handed out.
        let chunk = unsafe { self.begin_block(owner, base, number, in_block, Part::Chunk { cells }) };
        self.link(chunk);
        self.capacity += cells;
        self.blocks += cells.div_ceil(self.geometry.cells);
        Ok(())
    }

    /// Appends a chunk to the list.
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

    /// Ensures that there is memory for `occupied + additional` cells, and that the stack has capacity for all cells.
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
            let usual = self.usual();
            match self.add(owner, missing.max(usual)) {
                Err(Refusal::Alloc(_)) if missing < usual => self.add(owner, missing)?,
                result => result?,
            }
        }
        // The later blocks of a chunk get their numbers when cells are carved from them. Reserve memory for these
        // numbers, so that the following inserts do not allocate. A single block is the first of its chunk and has a number.
        let new = if self.blocks <= 1 { 0 } else { self.blocks.saturating_sub(self.directory.len()) };
        let layout = Layout::array::<Numbered<W>>(self.blocks).unwrap_or(Layout::new::<Numbered<W>>());
        self.directory.try_reserve(new).map_err(|_| Refusal::Alloc(layout))?;
        stack.try_reserve(self.capacity).map_err(Refusal::Alloc)
    }

    /// Calls `each` with the layout of each allocation and the number of bytes of vacant cells in it. `each` must not
    /// be user code. Which chunks contain the `occupied` cells is not known, so they are counted as if they filled the
    /// first chunks.
    pub(super) fn each_block(&self, mut occupied: usize, each: &mut dyn FnMut(Layout, usize)) {
        let directory = Layout::array::<Numbered<W>>(self.directory.capacity()).ok();
        directory.filter(|directory| directory.size() != 0).into_iter().for_each(|directory| each(directory, 0));
        let mut starter = self.starter;
        for chunk in self.chunks() {
            let cells = chunk.chunk_cells as usize;
            let taken = occupied.min(cells);
            occupied -= taken;
            if let Some(layout) = starter.take().or_else(|| self.geometry.chunk(cells)) {
                each(layout, (cells - taken) * self.geometry.stride);
            }
            let stamped = chunk.blocks(self.geometry).filter(|header| !header.stamps.get().is_null());
            for table in stamped.filter_map(|header| Layout::array::<u32>(header.cells as usize).ok()) {
                each(table, 0);
            }
        }
    }

    /// Returns the geometry of the blocks.
    #[inline]
    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Returns the entry of the cell with this key, if there is such a cell.
    #[inline]
    pub(super) fn find(&self, key: Key) -> Option<CellEntry<W>> {
        let (number, index) = self.geometry.locate(key.position()?)?;
        let entry = CellEntry { block: self.block(number)?, geometry: self.geometry, index };
        (entry.index < entry.block.cells as usize).then_some(entry)
    }

    /// Returns the number of leaked cells, including lent ones.
    pub(super) fn leaked(&self) -> usize {
        self.chunks().flat_map(|chunk| chunk.blocks(self.geometry)).map(|header| header.leaked.get() as usize).sum()
    }

    /// Returns the entry of the first leaked cell whose position is at least `from`.
    #[inline]
    pub(super) fn next_leaked(&self, from: usize) -> Option<CellEntry<W>> {
        let (number, mut index) = self.geometry.locate(from)?;
        (number..self.geometry.small + self.directory.len()).find_map(|number| {
            let from = mem::take(&mut index);
            // Index 0 is valid, because every block has a cell.
            let entry = CellEntry { block: self.block(number)?, geometry: self.geometry, index: 0 };
            entry.next_leaked(from)
        })
    }
}

impl<W: Copy + PartialEq> Memory<W> {
    /// Frees every chunk and the directory, except a starter, which the caller must free: returns its address and layout.
    ///
    /// # Safety
    ///
    /// No cell is used again, not even as a vacant one, and this memory is not used again.
    pub(super) unsafe fn free(&mut self) -> Option<(NonNull<u8>, Layout)> {
        drop(mem::take(&mut self.directory));
        let mut next = self.first.take();
        let starter = next.zip(self.starter);
        if let Some((chunk, _)) = starter {
            next = chunk.next.get();
            // SAFETY: `first` was the first block of a chunk, by invariant 1. No cell of any chunk is used again, so nobody reads
            // the stamp of one.
            unsafe { chunk.free_stamps(self.geometry) };
        }
        while let Some(chunk) = next {
            next = chunk.next.get();
            // SAFETY: the caller guarantees that no cell is used again. `take` has removed the list, and `next` was read before. By
            // invariant 5 only the first chunk may be a starter.
            unsafe { chunk.free(self.geometry, false) };
        }
        starter.map(|(chunk, layout)| (chunk.0.cast(), layout))
    }
}

impl<W> Block<W> {
    /// Returns the blocks of this chunk that have a header.
    fn blocks(self, geometry: Geometry) -> impl Iterator<Item = Self> {
        (0..(self.carved.get() as usize).div_ceil(geometry.cells).max(1)).map(move |n| {
            // SAFETY: block `n` is the first one or, by invariant 4 of `Header`, contains a carved cell. So it is
            // inside the chunk and begins with a header.
            Self(unsafe { self.0.byte_add(n * geometry.block) })
        })
    }

    /// Frees the stamp tables of the blocks of this chunk.
    ///
    /// # Safety
    ///
    /// This is the first block of a chunk, and no cell of the chunk is used again.
    unsafe fn free_stamps(self, geometry: Geometry) {
        for header in self.blocks(geometry) {
            let stamps = ptr::slice_from_raw_parts_mut(header.stamps.get(), header.cells as usize);
            if !stamps.is_null() {
                // SAFETY: `stamps` is not null, so by invariant 3 of `Header` it came from a box of `cells` numbers
                // that only this header owns. No cell is used again, so nothing reads a stamp again.
                drop(unsafe { Box::from_raw(stamps) });
            }
        }
    }

    /// Frees the chunk and the stamp tables of its blocks. If `discards`, gives its pages back to the system before.
    ///
    /// # Safety
    ///
    /// This is the first block of a chunk, which is no starter, and nothing in the chunk is used again.
    unsafe fn free(self, geometry: Geometry, discards: bool) {
        // SAFETY: the caller guarantees that this is the first block of a chunk, of which nothing is used again.
        unsafe { self.free_stamps(geometry) };
        let layout = geometry.chunk(self.chunk_cells as usize).expect("it was allocated with this layout");
        if discards {
            // SAFETY: the chunk is freed below, begins at a multiple of a block, and nothing in it is used again.
            unsafe { discard::discard(self.0.cast(), layout.size()) };
        }
        // SAFETY: by invariant 4 of `Header` the chunk came from the global allocator with this layout, because it is no
        // starter. The caller guarantees that nothing in it is used again.
        unsafe { dealloc(self.0.as_ptr().cast(), layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::CellEntry;
    use crate::slab::engine::{CoreRef, OneThread};
    use crate::slab::geometry::Geometry;
    use crate::slab::key::Key;
    use core::alloc::Layout;

    #[test]
    fn stamps_wrap_around_skip_zero_and_continue_in_a_new_block() {
        let geometry = Geometry::of(Layout::new::<u64>());
        let core = CoreRef::<OneThread>::allocate(geometry, Key::LIMIT).unwrap();
        // SAFETY: the core was just allocated on this thread and is not freed.
        let cell = unsafe { core.refill() }.unwrap();
        // SAFETY: the cell was just carved from a core with this geometry, which is freed only at the end of the test.
        let entry = unsafe { CellEntry::<CoreRef<OneThread>>::of(cell, geometry) };
        entry.try_stamps().unwrap();
        entry.block.serial.set(u64::from(u32::MAX) - 1);
        assert_eq!(entry.leak_stamped().stamp(), u32::MAX);
        assert!(entry.has_stamp(u32::MAX) && entry.reclaim() == Some(cell));
        assert_eq!(entry.leak_stamped().stamp(), 1, "0 is none");
        assert!(
            entry.has_stamp(1) && !entry.has_stamp(u32::MAX) && !entry.has_stamp(0) && entry.reclaim() == Some(cell)
        );
        entry.leak();
        assert!(!entry.has_stamp(0) && !entry.has_stamp(1));
        assert_eq!(entry.reclaim(), Some(cell));
        // A new block at the same address and with the same number continues. It began with stamp 1 again.
        // SAFETY: the cell is an occupied cell of the core without a value, and the entry is not used again.
        unsafe { core.free_cell(cell) };
        // SAFETY: the core is not freed yet and belongs to this thread.
        unsafe { core.sweep() };
        // SAFETY: the core is not freed yet and belongs to this thread.
        let cell = unsafe { core.refill() }.unwrap();
        // SAFETY: the cell was just carved from a core with this geometry.
        let entry = unsafe { CellEntry::<CoreRef<OneThread>>::of(cell, geometry) };
        entry.try_stamps().unwrap();
        assert_eq!(entry.leak_stamped().stamp(), 2);
        // SAFETY: neither the entry nor the cell nor the core is used again.
        unsafe { core.free() };
    }
}
