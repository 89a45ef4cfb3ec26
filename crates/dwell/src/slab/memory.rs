//! The memory of a slab: chunks from the global allocator, blocks within them, and what is known of each cell.
//!
//! A *chunk* is one allocation: one or more *blocks* in a row, the last of which may be cut short. A block is aligned to its
//! size and begins with a [`Header`], so that the address of anything in it, masked, is the header's.
//!
//! Inserts and drops do not come here as long as the free stack has a cell and room for one.

use super::engine::{CoreRef, Owners};
use super::geometry::Geometry;
use super::key::{Key, StampedKey};
use super::stack::{CellPtr, FreeStack};
use crate::alloc::try_alloc;
use core::alloc::Layout;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use std_alloc::alloc::dealloc;
use std_alloc::boxed::Box;
use std_alloc::vec::Vec;

/// A chunk grows with the slab up to this many blocks of 64 KiB.
const MOST_BLOCKS: usize = 16;

/// Cells that are carved at once have about this many bytes: a page.
const PAGE: usize = 4096;

/// What a block begins with. The bitmap of leaked cells follows it.
#[repr(C)] // `owner` first: a drop reads it at the masked address
pub(super) struct Header<O> {
    // # Invariants
    //
    // 1. `owner` is the core whose cells these are.
    // 2. A cell's bit is set if and only if the cell holds a value that was leaked and is not lent.
    // 3. `stamps` is null, or a box of `geometry.cells` numbers: for each cell the stamp of its last leak, 0 if it had none.
    owner: CoreRef<O>,
    /// The block's number in the directory.
    number: u32,
    /// Leaked cells, those that are lent too.
    leaked: Cell<u32>,
    stamps: Cell<*mut u32>,
    /// The last stamp that was given in this block.
    serial: Cell<u32>,
    /// While [`Memory::sweep`] runs: vacant cells that it has found.
    vacant: Cell<u32>,
    /// While [`Memory::sweep`] runs: all cells of the chunk are vacant.
    doomed: Cell<bool>,
}

const _: () = assert!(size_of::<Header<()>>() <= Geometry::HEADER && align_of::<Header<()>>() <= 64);

/// The header of the block that a cell is in. Blocks have this size.
#[inline(always)]
fn header<O>(cell: CellPtr, block: usize) -> *mut Header<O> {
    cell.as_ptr().map_addr(|addr| addr & !(block - 1)).cast()
}

/// The core whose cell it is.
///
/// # Safety
///
/// The cell is one of a `Core<O>` whose blocks have this size, and its chunk was not freed.
#[inline(always)]
pub(super) unsafe fn owner<O>(cell: CellPtr, block: usize) -> CoreRef<O> {
    // SAFETY: the caller says that the cell is in such a block. A block is aligned to its size and begins with its header, which
    // is therefore at the masked address; `owner` is written once, before the first cell is handed out.
    unsafe { (*header(cell, block)).owner }
}

/// A cell's entry in the header of its block.
pub(super) struct Entry<O> {
    // # Invariants
    //
    // 1. `header` is that of a block with this geometry, made from the chunk's pointer; the chunk is not freed while the entry
    //    is there. `index` is less than `geometry.cells`.
    //
    // A raw pointer, because the bitmap is behind the header and a reference would not reach it.
    header: NonNull<Header<O>>,
    geometry: Geometry,
    index: usize,
}

impl<O> Entry<O> {
    /// # Safety
    ///
    /// It is a cell of a `Core<O>` with this geometry, and its chunk is not freed while the entry is there.
    pub(super) unsafe fn of(cell: CellPtr, geometry: Geometry) -> Self {
        let header = header(cell, geometry.block);
        let index = geometry.index(cell.addr().get() - header.addr());
        // SAFETY: a block is not at address 0, where no allocation is.
        Self { header: unsafe { NonNull::new_unchecked(header) }, geometry, index }
    }

    fn header(&self) -> &Header<O> {
        // SAFETY: by invariant 1 the header is there. After it is written it is only ever shared: it changes through `Cell`s.
        unsafe { self.header.as_ref() }
    }

    pub(super) fn cell(&self) -> CellPtr {
        // SAFETY: by invariant 1 the cell with this index is inside the block, and the pointer may reach all of the block.
        unsafe { self.header.byte_add(self.geometry.offset(self.index)) }.cast()
    }

    pub(super) fn key(&self) -> Key {
        Key::at(self.header().number as usize * self.geometry.cells + self.index)
    }

    /// A word of the bitmap, of which there are `geometry.words`.
    fn word(&self, index: usize) -> &Cell<u64> {
        debug_assert!(index < self.geometry.words);
        // SAFETY: `Geometry` places `words` words behind the header, in front of the first cell.
        let word = unsafe { self.header.byte_add(size_of::<Header<O>>() + index * 8) }.cast::<Cell<u64>>();
        // SAFETY: a header's size is a multiple of 8, so the word is aligned; `begin_block` initialised it; it is only ever
        // shared.
        unsafe { word.as_ref() }
    }

    /// The cell's word of the bitmap, and its bit in it.
    fn bit(&self) -> (&Cell<u64>, u64) {
        (self.word(self.index / 64), 1 << (self.index % 64))
    }

    pub(super) fn is_leaked(&self) -> bool {
        let (word, bit) = self.bit();
        word.get() & bit != 0
    }

    /// The entry of the first leaked cell of the block from this one on.
    fn next_leaked(mut self) -> Option<Self> {
        if self.header().leaked.get() == 0 {
            return None;
        }
        let mut mask = u64::MAX << (self.index % 64);
        for index in self.index / 64..self.geometry.words {
            let bits = self.word(index).get() & mask;
            if bits != 0 {
                // A bit is set by `leak` only, for a cell that there is: invariant 1 holds.
                self.index = index * 64 + bits.trailing_zeros() as usize;
                return Some(self);
            }
            mask = u64::MAX;
        }
        None
    }

    fn stamp(&self) -> Option<&Cell<u32>> {
        let stamps = NonNull::new(self.header().stamps.get())?;
        // SAFETY: by invariant 3 of `Header` the table has `geometry.cells` numbers, and `index` is less.
        let stamp = unsafe { stamps.add(self.index) };
        // SAFETY: the number is initialised and only ever shared, and `Cell<u32>` has the layout of a `u32`.
        Some(unsafe { stamp.cast::<Cell<u32>>().as_ref() })
    }

    /// Marks the cell as leaked: from now on its key finds what it holds.
    pub(super) fn leak(&self) -> Key {
        let (word, bit) = self.bit();
        debug_assert!(word.get() & bit == 0, "a leaked value has no slot");
        word.set(word.get() | bit);
        self.header().leaked.set(self.header().leaked.get() + 1);
        if let Some(stamp) = self.stamp() {
            stamp.set(0);
        }
        self.key()
    }

    /// Sees that the block has a table of stamps.
    pub(super) fn try_stamps(&self) -> Result<(), Layout> {
        if self.stamp().is_none() {
            let cells = self.geometry.cells;
            let mut table = Vec::new();
            let layout = Layout::array::<u32>(cells).unwrap_or(Layout::new::<u32>());
            table.try_reserve_exact(cells).map_err(|_| layout)?;
            table.resize(cells, 0);
            // The global allocator may have re-entered and made one too, which then stays.
            if self.stamp().is_none() {
                self.header().set_stamps(Some(table.into_boxed_slice()), self.geometry);
            }
        }
        Ok(())
    }

    /// [`leak`](Self::leak) with a stamp that the next leak of this cell does not have. There is a table.
    pub(super) fn leak_stamped(&self) -> StampedKey {
        let key = self.leak();
        let serial = &self.header().serial;
        // 0 is for no stamp.
        serial.set(serial.get().checked_add(1).unwrap_or(1));
        self.stamp().expect("the caller made the table").set(serial.get());
        StampedKey::new(key, serial.get())
    }

    /// Whether the cell was leaked; it is not any more.
    pub(super) fn unleak(&self) -> bool {
        let (word, bit) = self.bit();
        let leaked = word.get() & bit != 0;
        if leaked {
            word.set(word.get() & !bit);
            self.header().leaked.set(self.header().leaked.get() - 1);
        }
        leaked
    }

    /// Whether the cell was last leaked with this stamp.
    pub(super) fn has_stamp(&self, stamp: u32) -> bool {
        stamp != 0 && self.stamp().is_some_and(|cell| cell.get() == stamp)
    }

    /// Hides the cell from its key for a while, if it was leaked.
    pub(super) fn lend(self) -> Option<Lent<O>> {
        let (word, bit) = self.bit();
        let leaked = word.get() & bit != 0;
        word.set(word.get() & !bit);
        leaked.then(|| Lent(self))
    }
}

/// A leaked cell that its key does not find until this is dropped.
pub(super) struct Lent<O>(
    // Invariant: the cell holds a leaked value, and its bit is clear: no key finds it.
    Entry<O>,
);

impl<O> Lent<O> {
    #[inline(always)]
    pub(super) fn cell(&self) -> CellPtr {
        self.0.cell()
    }
}

impl<O> Drop for Lent<O> {
    #[inline]
    fn drop(&mut self) {
        let (word, bit) = self.0.bit();
        word.set(word.get() | bit);
    }
}

/// One allocation.
struct Chunk<O> {
    // # Invariants
    //
    // 1. `base` is a block of the global allocator's with the layout `geometry.chunk(cells)`.
    // 2. The blocks of the first `begun` cells have a header and are in the directory; `begun` is `cells` or a multiple of
    //    a block's.
    base: NonNull<u8>,
    cells: usize,
    begun: usize,
    of: PhantomData<NonNull<Header<O>>>,
}

/// What a number of the directory stands for.
enum Numbered<O> {
    /// The header of the block with this number.
    Block(NonNull<Header<O>>),
    /// No block. `next` is the next number without one; `serial` the last stamp that a block of this number gave.
    Vacant { next: Option<u32>, serial: u32 },
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

/// All memory of one core.
pub(super) struct Memory<O> {
    // # Invariants
    //
    // 1. The blocks of `chunks` have this geometry, and their headers one owner.
    // 2. `left` cells from `at` on are in the last block that was begun, and were never carved.
    // 3. `carved` cells of the chunks were carved.
    // 4. From `vacant` the numbers without a block are linked; all others have one, whose header has that number.
    // 5. No block that was freed gave a stamp above `serial` or that of its number, before stamps began again.
    geometry: Geometry,
    chunks: Vec<Chunk<O>>,
    directory: Vec<Numbered<O>>,
    vacant: Option<u32>,
    serial: u32,
    /// The chunk whose blocks are begun next.
    carving: usize,
    at: *mut (),
    left: usize,
    carved: usize,
    capacity: usize,
    limit: usize,
    /// Cells of a chunk, or 0 to grow with the slab.
    chunk_cells: usize,
}

impl<O: Owners> Memory<O> {
    pub(super) const fn new(geometry: Geometry, limit: usize) -> Self {
        Self {
            geometry,
            chunks: Vec::new(),
            directory: Vec::new(),
            vacant: None,
            serial: 0,
            carving: 0,
            at: ptr::null_mut(),
            left: 0,
            carved: 0,
            capacity: 0,
            limit,
            chunk_cells: 0,
        }
    }

    /// How it grows from now on: to at most `limit` cells, by chunks of so many or, if that is 0, as usual.
    pub(super) fn configure(&mut self, limit: usize, chunk_cells: usize) {
        (self.limit, self.chunk_cells) = (limit.max(self.capacity), chunk_cells);
    }

    /// Cells of all chunks.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Cells that were carved from them.
    pub(super) fn carved(&self) -> usize {
        self.carved
    }

    /// Carves cells that were never used, at most a page of them: one for the caller, the others for the stack, which gets room
    /// for all cells that were carved.
    pub(super) fn carve(&mut self, owner: CoreRef<O>, stack: &FreeStack) -> Result<CellPtr, Refusal> {
        while self.left == 0 {
            match self.chunks.get(self.carving) {
                Some(chunk) if chunk.begun < chunk.cells => self.begin_block(owner)?,
                Some(_) if self.carving + 1 < self.chunks.len() => self.carving += 1,
                _ => self.grow()?,
            }
        }
        let stride = self.geometry.stride;
        let count = (PAGE / stride).clamp(1, self.left);
        // A module that lies may have put more cells on the stack than this memory has carved.
        let least = self.carved.max(stack.len()) + count;
        if least > stack.room() {
            let usual = self.capacity.max(2 * stack.room()).max(least);
            stack.try_room(usual).or_else(|_| stack.try_room(least)).map_err(Refusal::Alloc)?;
        }
        let first = NonNull::new(self.at).expect("cells are left");
        self.at = first.as_ptr().wrapping_byte_add(count * stride);
        self.left -= count;
        self.carved += count;
        // SAFETY: by invariant 2 the cells are in one block, a stride apart, and were never handed out.
        unsafe { stack.push_run(first, stride, count - 1) };
        stack.touch(self.carved - 1);
        Ok(first)
    }

    /// Gives the next block of the chunk at `carving` a header and a number.
    fn begin_block(&mut self, owner: CoreRef<O>) -> Result<(), Refusal> {
        let (geometry, number) = (self.geometry, self.vacant_number()?);
        let (next, serial) = match self.directory[number as usize] {
            Numbered::Vacant { next, serial } => (next, serial),
            Numbered::Block(_) => unreachable!("the number is vacant"),
        };
        let chunk = &mut self.chunks[self.carving];
        // SAFETY: `carve` found cells in the chunk that are in no block yet, so that this block is inside it.
        let start = unsafe { chunk.base.add(chunk.begun / geometry.cells * geometry.block) };
        let header = start.cast::<Header<O>>();
        let empty = Header {
            owner,
            number,
            leaked: Cell::new(0),
            stamps: Cell::new(ptr::null_mut()),
            serial: Cell::new(serial),
            vacant: Cell::new(0),
            doomed: Cell::new(false),
        };
        // SAFETY: the block is aligned to its size, which is more than a header's alignment; it begins with room for one, as
        // `Geometry::HEADER` says; and none of its cells was handed out.
        unsafe { header.write(empty) };
        // SAFETY: `Geometry` places the bitmap behind the header, inside the block.
        let bitmap = unsafe { start.add(size_of::<Header<O>>()) };
        // SAFETY: `Geometry` places `words` words there, in front of the first cell.
        unsafe { bitmap.write_bytes(0, geometry.words * 8) };
        (self.directory[number as usize], self.vacant) = (Numbered::Block(header), next);
        self.left = geometry.cells.min(chunk.cells - chunk.begun);
        chunk.begun += self.left;
        self.at = start.as_ptr().wrapping_add(geometry.first).cast();
        Ok(())
    }

    /// The number for the next block: the first vacant one, or one that is added to the directory.
    fn vacant_number(&mut self) -> Result<u32, Refusal> {
        if let Some(number) = self.vacant {
            return Ok(number);
        }
        let number = self.directory.len();
        let end = (number + 1).checked_mul(self.geometry.cells).filter(|&end| end <= Key::LIMIT);
        let number = end.and_then(|_| u32::try_from(number).ok()).ok_or(Refusal::Full(self.carved))?;
        let layout = Layout::array::<Numbered<O>>(self.directory.len() + 1).unwrap_or(Layout::new::<Numbered<O>>());
        self.directory.try_reserve(1).map_err(|_| Refusal::Alloc(layout))?;
        self.directory.push(Numbered::Vacant { next: None, serial: self.serial });
        self.vacant = Some(number);
        Ok(number)
    }

    /// Adds a chunk of the usual size, or a block if the allocator does not have that much.
    fn grow(&mut self) -> Result<(), Refusal> {
        let geometry = self.geometry;
        let most = (MOST_BLOCKS * 64 * 1024 / geometry.block).max(1);
        let usual = match self.chunk_cells {
            0 => self.directory.len().clamp(1, most) * geometry.cells,
            cells => cells,
        };
        let cells = usual.min(self.limit - self.capacity);
        if cells == 0 && geometry.cells != 0 {
            return Err(Refusal::Full(self.limit));
        }
        match self.add(cells) {
            Err(Refusal::Alloc(_)) if cells > geometry.cells => self.add(geometry.cells),
            result => result,
        }
    }

    /// Adds a chunk of this many cells.
    fn add(&mut self, cells: usize) -> Result<(), Refusal> {
        let layout = self.geometry.chunk(cells).ok_or(Refusal::Alloc(Geometry::LARGEST))?;
        self.chunks.try_reserve(1).map_err(|_| Refusal::Alloc(Layout::new::<Chunk<O>>()))?;
        let base = try_alloc(layout).ok_or(Refusal::Alloc(layout))?;
        self.chunks.push(Chunk { base, cells, begun: 0, of: PhantomData });
        self.capacity += cells;
        Ok(())
    }

    /// Sees that there is memory for this many more cells than `occupied`, and room for all on the stack.
    pub(super) fn reserve(&mut self, occupied: usize, additional: usize, stack: &FreeStack) -> Result<(), Refusal> {
        let missing = additional.saturating_sub(self.capacity.saturating_sub(occupied));
        if missing > self.limit - self.capacity {
            let asked = occupied.saturating_add(additional);
            let layout = asked.checked_mul(self.geometry.stride).map(|size| Layout::from_size_align(size, 8));
            let layout = layout.and_then(Result::ok).unwrap_or(Geometry::LARGEST);
            return Err(Refusal::TooMany { limit: self.limit, asked, layout });
        }
        if missing != 0 {
            self.add(missing.max(self.chunk_cells.min(self.limit - self.capacity)))?;
        }
        stack.try_room(self.capacity).map_err(Refusal::Alloc)
    }

    /// Calls `each`, which is no user's code, with the layout of each block of the allocator's, and the bytes of vacant cells
    /// in it. Which chunk the `occupied` cells are in is not known: as if they were in the first.
    pub(super) fn each_block(&self, mut occupied: usize, each: &mut dyn FnMut(Layout, usize)) {
        let tables = [
            Layout::array::<Chunk<O>>(self.chunks.capacity()),
            Layout::array::<Numbered<O>>(self.directory.capacity()),
        ];
        tables.into_iter().flatten().filter(|table| table.size() != 0).for_each(|table| each(table, 0));
        for chunk in &self.chunks {
            let taken = occupied.min(chunk.cells);
            occupied -= taken;
            if let Some(layout) = self.geometry.chunk(chunk.cells) {
                each(layout, (chunk.cells - taken) * self.geometry.stride);
            }
            let stamped = chunk.headers(self.geometry).filter(|header| !header.stamps.get().is_null());
            for table in stamped.filter_map(|_| Layout::array::<u32>(self.geometry.cells).ok()) {
                each(table, 0);
            }
        }
    }

    /// The entry of the cell that a key names, if there is such a cell.
    pub(super) fn find(&self, key: Key) -> Option<Entry<O>> {
        let position = key.position()?;
        let number = position.checked_div(self.geometry.cells)?;
        match self.directory.get(number)? {
            Numbered::Block(header) => {
                Some(Entry { header: *header, geometry: self.geometry, index: position % self.geometry.cells })
            }
            Numbered::Vacant { .. } => None,
        }
    }

    /// The key of the first leaked cell from this position on.
    pub(super) fn next_leaked(&self, from: usize) -> Option<Key> {
        let number = from.checked_div(self.geometry.cells)?;
        let mut index = from % self.geometry.cells;
        self.directory.get(number..)?.iter().find_map(|numbered| {
            let index = core::mem::take(&mut index);
            let Numbered::Block(header) = *numbered else { return None };
            Some(Entry { header, geometry: self.geometry, index }.next_leaked()?.key())
        })
    }

    /// Frees every chunk, and forgets all but the limits.
    ///
    /// # Safety
    ///
    /// No cell is used again, not even as a vacant one.
    pub(super) unsafe fn free_all(&mut self) {
        for chunk in core::mem::take(&mut self.chunks) {
            // SAFETY: the caller says that no cell is used again, and the chunk is gone from the list.
            unsafe { chunk.free(self.geometry) };
        }
        self.forget();
    }

    /// Forgets chunks that were freed, and frees the directory. Stamps go on behind the last of them: a key from before finds
    /// nothing later.
    fn forget(&mut self) {
        let serials = self.directory.iter().map(|numbered| match numbered {
            Numbered::Block(_) => 0,
            Numbered::Vacant { serial, .. } => *serial,
        });
        let serial = serials.fold(self.serial, u32::max);
        let chunk_cells = self.chunk_cells;
        *self = Self { serial, chunk_cells, ..Self::new(self.geometry, self.limit) };
    }

    /// Frees the directory too if there is no chunk.
    #[cfg(feature = "std")]
    pub(super) fn forget_if_empty(&mut self) {
        if self.chunks.is_empty() {
            self.forget();
        }
    }

    /// Frees the chunks whose every cell is vacant, and takes their cells off the stack.
    ///
    /// The stack is not trusted: a chunk goes only if each of its cells was found there, and cells of another owner, which a
    /// module that lies may have put there, stay and count for nothing.
    ///
    /// # Safety
    ///
    /// The cells on the stack are of `Core<O>`s with this geometry, in chunks that were not freed.
    pub(super) unsafe fn sweep(&mut self, owner: CoreRef<O>, stack: &FreeStack) {
        let geometry = self.geometry;
        for header in self.chunks.iter().flat_map(|chunk| chunk.headers(geometry)) {
            header.vacant.set(0);
            header.doomed.set(false);
        }
        let own = |cell: CellPtr| {
            // SAFETY: the caller says that the cell is in a block with this geometry that was not freed.
            let header = unsafe { &*header::<O>(cell, geometry.block) };
            (header.owner == owner).then_some(header)
        };
        let see = |cell: CellPtr, cells: usize| {
            if let Some(header) = own(cell) {
                header.vacant.set(header.vacant.get() + u32::try_from(cells).expect("there are fewer cells than keys"));
            }
        };
        stack.retain(|cell| {
            see(cell, 1);
            true
        });
        // Those that were never carved are vacant too.
        let uncarved = NonNull::new(self.at).filter(|_| self.left != 0);
        if let Some(at) = uncarved {
            see(at, self.left);
        }
        for chunk in &self.chunks {
            let vacant: usize = chunk.headers(geometry).map(|header| header.vacant.get() as usize).sum();
            chunk.headers(geometry).for_each(|header| header.doomed.set(vacant == chunk.begun));
        }
        let is_doomed = |cell| own(cell).is_some_and(|header| header.doomed.get());
        if uncarved.is_some_and(is_doomed) {
            self.left = 0;
        }
        self.carved -= stack.retain(|cell| !is_doomed(cell));
        self.carving = 0;
        let Self { chunks, directory, vacant, capacity, .. } = self;
        for chunk in chunks.extract_if(.., |chunk| chunk.headers(geometry).all(|header| header.doomed.get())) {
            for header in chunk.headers(geometry) {
                directory[header.number as usize] = Numbered::Vacant { next: *vacant, serial: header.serial.get() };
                *vacant = Some(header.number);
            }
            *capacity -= chunk.cells;
            // SAFETY: all its cells are vacant, and since `retain` none is on the stack; its blocks are not in the directory, and
            // the chunk is gone from the list.
            unsafe { chunk.free(geometry) };
        }
    }
}

impl<O> Chunk<O> {
    /// The headers of its blocks that have one.
    fn headers(&self, geometry: Geometry) -> impl Iterator<Item = &Header<O>> {
        (0..self.begun.div_ceil(geometry.cells)).map(move |n| {
            // SAFETY: by invariant 2 the blocks of the first `begun` cells are inside the chunk.
            let start = unsafe { self.base.add(n * geometry.block) };
            // SAFETY: by invariant 2 the block begins with a header, which is only ever shared.
            unsafe { start.cast::<Header<O>>().as_ref() }
        })
    }

    /// Frees the chunk, and the tables of its blocks.
    ///
    /// # Safety
    ///
    /// Nothing of it is used again.
    unsafe fn free(self, geometry: Geometry) {
        self.headers(geometry).for_each(|header| header.set_stamps(None, geometry));
        let layout = geometry.chunk(self.cells).expect("it was allocated with this layout");
        // SAFETY: by invariant 1 it came from the global allocator with this layout; the caller says that it is not used again.
        unsafe { dealloc(self.base.as_ptr(), layout) };
    }
}

impl<O> Header<O> {
    /// Exchanges the table of stamps, and frees the old one.
    fn set_stamps(&self, table: Option<Box<[u32]>>, geometry: Geometry) {
        let table = table.map_or(ptr::null_mut(), |table| Box::into_raw(table).cast());
        let old = self.stamps.replace(table);
        if !old.is_null() {
            // SAFETY: by invariant 3 it was a box of so many numbers, and since `replace` the header does not have it any more.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(old, geometry.cells)) });
        }
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
        let entry = unsafe { Entry::<OneThread>::of(cell, geometry) };
        entry.try_stamps().unwrap();
        entry.header().serial.set(u32::MAX - 1);
        assert_eq!(entry.leak_stamped().stamp(), u32::MAX);
        assert!(entry.has_stamp(u32::MAX) && entry.unleak());
        assert_eq!(entry.leak_stamped().stamp(), 1, "0 is none");
        assert!(entry.has_stamp(1) && !entry.has_stamp(u32::MAX) && !entry.has_stamp(0) && entry.unleak());
        entry.leak();
        assert!(!entry.has_stamp(0) && !entry.has_stamp(1));
        // SAFETY: neither the entry nor the cell nor the core is used again.
        unsafe { core.free() };
    }
}
