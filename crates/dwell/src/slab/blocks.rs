//! The memory of a slab: chunks from the allocator, blocks within them, and what is known of each place.
//!
//! A *chunk* is one allocation: one or more *blocks* in a row, the last of which may be cut short. A block is aligned to its
//! size and begins with a [`Header`], so that the address of anything in it, masked, is the header's.
//!
//! Nothing here is touched by an insert or a drop that finds the stack of vacant places as it should be.

use super::free::{Place, Stack};
use super::geometry::Geometry;
use super::key::{Key, StampedKey};
use crate::alloc::try_alloc;
use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::{self, NonNull};
use std_alloc::alloc::dealloc;
use std_alloc::boxed::Box;
use std_alloc::vec::Vec;

/// A chunk grows with the slab up to this many blocks.
const MOST_BLOCKS: usize = 16;

/// Vacant places that are made at once have about this many bytes: a page.
const BATCH: usize = 4096;

/// What a block begins with. The bitmap of leaked places follows it.
#[repr(C)] // `owner` first: a drop reads it
pub(super) struct Header {
    // # Invariants
    //
    // 1. `owner` is whose places these are: for the identity of a per-thread slab, and for reading in a slab of its own.
    // 2. A place's bit is set if and only if the place holds a value that was leaked, and nobody uses it.
    // 3. `stamps` is null or has a number for each place of the block, 0 if it was not stamped when last leaked.
    owner: *const (),
    /// Its number in the directory.
    number: u32,
    /// Bits that are set, and places that are lent.
    leaked: Cell<u32>,
    stamps: Cell<*mut u32>,
    /// The last stamp given.
    serial: Cell<u32>,
    /// Vacant places, while `Blocks::sweep` counts.
    seen: Cell<u32>,
}

const _: () = assert!(size_of::<Header>() <= Geometry::HEADER && align_of::<Header>() <= 64);

/// `seen` in a block that is about to be freed.
const DOOMED: u32 = u32::MAX;

/// The header of the block that a place is in.
#[inline(always)]
pub(super) fn header(place: Place, block: usize) -> NonNull<Header> {
    let start = place.as_ptr().map_addr(|addr| addr & !(block - 1));
    // SAFETY: blocks are not at address 0.
    unsafe { NonNull::new_unchecked(start.cast()) }
}

/// Whose place it is.
///
/// # Safety
///
/// It is a place of a slab whose blocks have this size, and of a chunk that is still there.
#[inline(always)]
pub(super) unsafe fn owner(place: Place, block: usize) -> NonNull<()> {
    // SAFETY: by the caller the masked address is a header; `owner` does not change.
    let owner = unsafe { (*header(place, block).as_ptr()).owner };
    // SAFETY: the address of a slab is not null.
    unsafe { NonNull::new_unchecked(owner.cast_mut()) }
}

/// A place's entry in its block.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    // # Invariants
    //
    // 1. `header` is that of a block with this geometry, in a chunk that is there while the entry is used; it may reach
    //    the whole block. `index` is less than `geometry.places`.
    //
    // A raw pointer: a reference to the header would not reach the bitmap.
    header: NonNull<Header>,
    geometry: Geometry,
    index: usize,
}

impl Entry {
    /// # Safety
    ///
    /// It is a place of a slab with this geometry, in a chunk that is there while the entry is used.
    pub(super) unsafe fn of(place: Place, geometry: Geometry) -> Self {
        let header = header(place, geometry.block);
        Self { header, geometry, index: geometry.number(place.addr().get() - header.addr().get()) }
    }

    fn header(&self) -> &Header {
        // SAFETY: invariant 1; headers are only ever shared once they are written.
        unsafe { self.header.as_ref() }
    }

    pub(super) fn place(&self) -> Place {
        // SAFETY: by invariant 1 the place is inside the block.
        unsafe { self.header.byte_add(self.geometry.offset(self.index)) }.cast()
    }

    pub(super) fn key(&self) -> Key {
        Key::at(self.header().number as usize * self.geometry.places + self.index)
    }

    /// The word of the bitmap, and the bit in it.
    fn bit(&self) -> (&Cell<u64>, u64) {
        let at = size_of::<Header>() + self.index / 64 * 8;
        // SAFETY: by invariant 3 of `Geometry` the bitmap is inside the block and has this word.
        let word = unsafe { self.header.byte_add(at) };
        // SAFETY: aligned to 8, since headers are to more and their size is a multiple; `begin` wrote it; it is shared.
        (unsafe { word.cast::<Cell<u64>>().as_ref() }, 1 << (self.index % 64))
    }

    pub(super) fn is_leaked(&self) -> bool {
        let (word, bit) = self.bit();
        word.get() & bit != 0
    }

    fn stamp(&self) -> Option<&Cell<u32>> {
        let stamps = NonNull::new(self.header().stamps.get())?;
        // SAFETY: by invariant 3 of `Header` the table has this number.
        let stamp = unsafe { stamps.add(self.index) };
        // SAFETY: as above; `Cell` is transparent, and the table is only ever shared.
        Some(unsafe { stamp.cast::<Cell<u32>>().as_ref() })
    }

    /// Marks the place as leaked: what it holds may be found by its key.
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
            let places = self.geometry.places;
            let mut table = Vec::new();
            table
                .try_reserve_exact(places)
                .map_err(|_| Layout::array::<u32>(places).unwrap_or(Layout::new::<u32>()))?;
            table.resize(places, 0);
            self.header().stamps.set(Box::into_raw(table.into_boxed_slice()).cast());
        }
        Ok(())
    }

    /// [`leak`](Self::leak) with a number that the next leak of this place does not have. There is a table.
    pub(super) fn leak_stamped(&self) -> StampedKey {
        let key = self.leak();
        let serial = &self.header().serial;
        // 0 is none.
        serial.set(serial.get().checked_add(1).unwrap_or(1));
        self.stamp().expect("the caller made the table").set(serial.get());
        StampedKey::new(key, serial.get())
    }

    /// Whether the place was leaked; it is not any more.
    pub(super) fn unleak(&self) -> bool {
        let (word, bit) = self.bit();
        let leaked = word.get() & bit != 0;
        if leaked {
            word.set(word.get() & !bit);
            self.header().leaked.set(self.header().leaked.get() - 1);
        }
        leaked
    }

    /// Whether the place was last leaked with this stamp.
    pub(super) fn has_stamp(&self, stamp: u32) -> bool {
        stamp != 0 && self.stamp().is_some_and(|cell| cell.get() == stamp)
    }

    /// Takes the place away from its key for a while, if it was leaked.
    pub(super) fn lend(self) -> Option<Lent> {
        let (word, bit) = self.bit();
        let leaked = word.get() & bit != 0;
        word.set(word.get() & !bit);
        leaked.then(|| Lent(self))
    }
}

/// A leaked place that its key does not find until this is dropped.
pub(super) struct Lent(
    // Invariant: the place holds a leaked value, and its bit is clear: nobody else has it.
    Entry,
);

impl Lent {
    #[inline(always)]
    pub(super) fn place(&self) -> Place {
        self.0.place()
    }
}

impl Drop for Lent {
    #[inline]
    fn drop(&mut self) {
        let (word, bit) = self.0.bit();
        word.set(word.get() | bit);
    }
}

/// One allocation.
struct Chunk {
    // # Invariants
    //
    // 1. `base` is a block of the allocator's with the layout `geometry.chunk(places)`.
    // 2. The blocks of the first `begun` places have a header and are in the directory; `begun` is `places` or a multiple
    //    of a block's.
    base: NonNull<u8>,
    places: usize,
    begun: usize,
}

/// A number in the directory.
struct Listed {
    // # Invariants
    //
    // 1. `header` is null or that of a block with this number.
    header: *mut Header,
    /// While there is no block: the last stamp that a block of this number gave.
    serial: u32,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All of this many places are taken.
    Limit(usize),
    /// The allocator has no such block, or there is no such layout.
    Alloc(Layout),
}

/// Places that were made at once: `count` of them from `first` on, each a stride behind the last.
pub(super) struct Carved {
    pub(super) first: Place,
    pub(super) count: usize,
}

/// All memory of one slab.
pub(super) struct Blocks {
    // # Invariants
    //
    // 1. All methods of one `Blocks` are called with the same geometry and owner.
    // 2. `left` places from `at` on are in the last block that was begun, and were never handed out.
    // 3. `carved` places of the chunks were handed out by `carve`.
    // 4. No block of a number that is not in the directory gave a stamp above `serial`, before stamps began again.
    chunks: Vec<Chunk>,
    directory: Vec<Listed>,
    serial: u32,
    /// The chunk whose blocks are begun next.
    carving: usize,
    at: *mut (),
    left: usize,
    pub(super) carved: usize,
    /// Places in all chunks.
    pub(super) capacity: usize,
    /// No more than this.
    pub(super) limit: usize,
    /// Places a chunk, or 0 to grow with the slab.
    pub(super) chunk_places: usize,
}

impl Blocks {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            chunks: Vec::new(),
            directory: Vec::new(),
            serial: 0,
            carving: 0,
            at: ptr::null_mut(),
            left: 0,
            carved: 0,
            capacity: 0,
            limit,
            chunk_places: 0,
        }
    }

    /// Hands out places that were never used, at most a page of them, and sees that the stack has room for all.
    pub(super) fn carve(&mut self, geometry: Geometry, owner: *const (), stack: &Stack) -> Result<Carved, Refusal> {
        while self.left == 0 {
            match self.chunks.get(self.carving) {
                Some(chunk) if chunk.begun < chunk.places => self.begin_block(geometry, owner)?,
                Some(_) if self.carving + 1 < self.chunks.len() => self.carving += 1,
                _ => self.grow(geometry)?,
            }
        }
        let count = (BATCH / geometry.stride).clamp(1, self.left);
        // Of another slab's places, on this stack only if a module lies, there are as many as were counted.
        let least = self.carved.max(stack.len()) + count;
        // In steps that grow with the slab. A slab grows when its stack is empty, so that nothing is copied.
        let room = if least <= stack.room() { least } else { self.capacity.max(2 * stack.room()) };
        stack.try_room(room.max(least)).or_else(|_| stack.try_room(least)).map_err(Refusal::Alloc)?;
        let first = NonNull::new(self.at).expect("places are left");
        self.at = first.as_ptr().wrapping_byte_add(count * geometry.stride);
        self.left -= count;
        self.carved += count;
        Ok(Carved { first, count })
    }

    /// Gives the next block of the chunk a header and a number.
    fn begin_block(&mut self, geometry: Geometry, owner: *const ()) -> Result<(), Refusal> {
        let vacant = self.directory.iter().position(|listed| listed.header.is_null());
        let number = vacant.unwrap_or(self.directory.len());
        // The key of its last place.
        let fits = (number + 1).checked_mul(geometry.places).is_some_and(|end| end <= Key::LIMIT);
        if !fits {
            return Err(Refusal::Limit(self.carved));
        }
        if vacant.is_none() {
            let layout = Layout::array::<Listed>(self.directory.len() + 1).unwrap_or(Layout::new::<Listed>());
            self.directory.try_reserve(1).map_err(|_| Refusal::Alloc(layout))?;
            self.directory.push(Listed { header: ptr::null_mut(), serial: self.serial });
        }
        let listed = &mut self.directory[number];
        let chunk = &mut self.chunks[self.carving];
        // SAFETY: there are places left in the chunk by the caller, so its block is inside it.
        let start = unsafe { chunk.base.add(chunk.begun / geometry.places * geometry.block) };
        let header = start.cast::<Header>();
        let number = u32::try_from(number).expect("there are fewer blocks than keys");
        // SAFETY: the block begins with room for a header, is aligned to more, and nothing of it is in use.
        unsafe {
            header.write(Header {
                owner,
                number,
                leaked: Cell::new(0),
                stamps: Cell::new(ptr::null_mut()),
                serial: Cell::new(listed.serial),
                seen: Cell::new(0),
            });
        }
        // SAFETY: the bitmap is behind the header and inside the block.
        let bitmap = unsafe { start.add(size_of::<Header>()) };
        // SAFETY: as above, and by invariant 3 of `Geometry` it has these words.
        unsafe { bitmap.write_bytes(0, geometry.words * 8) };
        listed.header = header.as_ptr();
        self.left = geometry.places.min(chunk.places - chunk.begun);
        chunk.begun += self.left;
        self.at = start.as_ptr().wrapping_add(geometry.first).cast();
        Ok(())
    }

    /// Adds a chunk as large as is usual, or a block if there is not that much.
    fn grow(&mut self, geometry: Geometry) -> Result<(), Refusal> {
        let most = (MOST_BLOCKS * 64 * 1024 / geometry.block).max(1);
        let usual = match self.chunk_places {
            0 => self.directory.len().clamp(1, most) * geometry.places,
            places => places,
        };
        let places = usual.min(self.limit - self.capacity);
        if places == 0 && geometry.places != 0 {
            return Err(Refusal::Limit(self.limit));
        }
        match self.add(geometry, places) {
            Err(Refusal::Alloc(_)) if places > geometry.places => self.add(geometry, geometry.places),
            result => result,
        }
    }

    /// Adds a chunk of this many places.
    fn add(&mut self, geometry: Geometry, places: usize) -> Result<(), Refusal> {
        let Some(layout) = geometry.chunk(places) else {
            return Err(Refusal::Alloc(
                Layout::from_size_align(isize::MAX.cast_unsigned(), 1).unwrap_or(Layout::new::<()>()),
            ));
        };
        self.chunks.try_reserve(1).map_err(|_| Refusal::Alloc(Layout::new::<Chunk>()))?;
        let base = try_alloc(layout).ok_or(Refusal::Alloc(layout))?;
        self.chunks.push(Chunk { base, places, begun: 0 });
        self.capacity += places;
        Ok(())
    }

    /// Adds a chunk, if there is none for this many places more than `occupied`.
    pub(super) fn reserve(&mut self, geometry: Geometry, occupied: usize, places: usize) -> Result<(), Refusal> {
        let missing = places.saturating_sub(self.capacity.saturating_sub(occupied));
        if missing == 0 {
            return Ok(());
        }
        if missing > self.limit - self.capacity {
            return Err(Refusal::Limit(self.limit));
        }
        self.add(geometry, missing.max(self.chunk_places.min(self.limit - self.capacity)))
    }

    /// Calls `each` with the layout of each block of the allocator's that it has, and the bytes of vacant places in it. Which
    /// chunk the `occupied` places are in is not known: as if they were in the first.
    pub(super) fn each_block(&self, geometry: Geometry, mut occupied: usize, each: &mut dyn FnMut(Layout, usize)) {
        let tables =
            [Layout::array::<Chunk>(self.chunks.capacity()), Layout::array::<Listed>(self.directory.capacity())];
        tables.into_iter().flatten().filter(|table| table.size() != 0).for_each(|table| each(table, 0));
        for chunk in &self.chunks {
            let taken = occupied.min(chunk.places);
            occupied -= taken;
            if let Some(layout) = geometry.chunk(chunk.places) {
                each(layout, (chunk.places - taken) * geometry.stride);
            }
            let stamped = chunk.headers(geometry).filter(|header| !header.stamps.get().is_null());
            for table in stamped.filter_map(|_| Layout::array::<u32>(geometry.places).ok()) {
                each(table, 0);
            }
        }
    }

    /// The place that a key names, if there is such a place.
    pub(super) fn find(&self, geometry: Geometry, key: Key) -> Option<Entry> {
        let index = key.position()?;
        let (number, index) = (index.checked_div(geometry.places)?, index % geometry.places);
        let header = NonNull::new(self.directory.get(number)?.header)?;
        Some(Entry { header, geometry, index })
    }

    /// The first leaked place at or behind this one.
    pub(super) fn next_leaked(&self, geometry: Geometry, from: usize) -> Option<Entry> {
        let mut index = from % geometry.places.max(1);
        for listed in self.directory.iter().skip(from.checked_div(geometry.places)?) {
            if let Some(header) = NonNull::new(listed.header) {
                // SAFETY: by invariant 1 of `Listed` it is a header.
                let leaked = unsafe { &(*header.as_ptr()).leaked }.get();
                if leaked != 0 {
                    let mut entries = (index..geometry.places).map(|index| Entry { header, geometry, index });
                    if let Some(entry) = entries.find(Entry::is_leaked) {
                        return Some(entry);
                    }
                }
            }
            index = 0;
        }
        None
    }
}

impl Blocks {
    /// Frees every chunk, and forgets all but the limits.
    ///
    /// # Safety
    ///
    /// No place is used again, not even as a vacant one.
    pub(super) unsafe fn free_all(&mut self, geometry: Geometry) {
        for chunk in &self.chunks {
            chunk.headers(geometry).for_each(|header| header.free_stamps(geometry));
            // SAFETY: none of its places is used again; the chunks are forgotten below.
            unsafe { chunk.free(geometry) };
        }
        self.forget();
    }

    /// Forgets chunks that are freed. Stamps go on behind the last of them: a key from before finds nothing later.
    fn forget(&mut self) {
        let serial = self.directory.iter().map(|listed| listed.serial).fold(self.serial, u32::max);
        *self = Self { chunk_places: self.chunk_places, serial, ..Self::new(self.limit) };
    }

    /// Gives back the memory of the directory too if there is no chunk.
    #[cfg(feature = "std")]
    pub(super) fn forget_if_empty(&mut self) {
        if self.chunks.is_empty() {
            self.forget();
        }
    }

    /// How it grows from now on. There is no chunk yet.
    #[cfg(feature = "std")]
    pub(super) fn configure(&mut self, limit: usize, chunk_places: usize) {
        (self.limit, self.chunk_places) = (limit.max(self.capacity), chunk_places);
    }

    /// Frees the chunks whose every place is vacant, and takes their places off the stack. The number of those that stay.
    ///
    /// What is on the stack is not trusted: places of another owner stay there and count for nothing.
    ///
    /// # Safety
    ///
    /// The stack has places with this geometry, in chunks that are there.
    pub(super) unsafe fn sweep(&mut self, geometry: Geometry, owner: *const (), stack: &Stack) -> usize {
        for header in self.directory.iter().filter_map(|listed| NonNull::new(listed.header)) {
            // SAFETY: by invariant 1 of `Listed` it is a header.
            unsafe { header.as_ref() }.seen.set(0);
        }
        let seen_by = |place| {
            // SAFETY: by the caller it is a place with this geometry, in a chunk that is there.
            let header = unsafe { header(place, geometry.block).as_ref() };
            (header.owner == owner).then_some(&header.seen)
        };
        let see = |place, places: usize| {
            if let Some(seen) = seen_by(place) {
                seen.set(seen.get() + u32::try_from(places).expect("there are fewer places than keys"));
            }
        };
        stack.each(|place| see(place, 1));
        // Those that were never handed out are vacant too.
        let carving = NonNull::new(self.at).filter(|_| self.left != 0);
        if let Some(at) = carving {
            see(at, self.left);
        }
        for chunk in &self.chunks {
            if chunk.headers(geometry).map(|header| header.seen.get() as usize).sum::<usize>() == chunk.begun {
                chunk.headers(geometry).for_each(|header| header.seen.set(DOOMED));
            }
        }
        let is_doomed = |place| seen_by(place).is_some_and(|seen| seen.get() == DOOMED);
        if carving.is_some_and(is_doomed) {
            self.left = 0;
        }
        self.carved -= stack.retain(|place| !is_doomed(place));
        self.carving = 0;
        let Self { chunks, directory, capacity, .. } = self;
        chunks.retain_mut(|chunk| {
            let keep = chunk.headers(geometry).any(|header| header.seen.get() != DOOMED);
            if !keep {
                for header in chunk.headers(geometry) {
                    let listed = &mut directory[header.number as usize];
                    *listed = Listed { header: ptr::null_mut(), serial: header.serial.get() };
                    header.free_stamps(geometry);
                }
                *capacity -= chunk.places;
                // SAFETY: all its places are vacant and, since `retain`, on no stack; its blocks are in no directory.
                unsafe { chunk.free(geometry) };
            }
            keep
        });
        chunks.len()
    }
}

impl Chunk {
    /// The headers of its blocks that have one.
    fn headers(&self, geometry: Geometry) -> impl Iterator<Item = &Header> {
        (0..self.begun.div_ceil(geometry.places)).map(move |n| {
            // SAFETY: by invariant 2 the blocks of the first `begun` places are inside the chunk.
            let start = unsafe { self.base.add(n * geometry.block) };
            // SAFETY: by invariant 2 it begins with a header, which is only ever shared.
            unsafe { start.cast::<Header>().as_ref() }
        })
    }

    /// # Safety
    ///
    /// Nothing of it is used again, and neither is `self`.
    unsafe fn free(&self, geometry: Geometry) {
        let layout = geometry.chunk(self.places).expect("it was allocated with this layout");
        // SAFETY: by invariant 1 it came from the allocator with this layout.
        unsafe { dealloc(self.base.as_ptr(), layout) };
    }
}

impl Header {
    /// Frees the table of stamps, if there is one.
    fn free_stamps(&self, geometry: Geometry) {
        let stamps = self.stamps.replace(ptr::null_mut());
        if !stamps.is_null() {
            // SAFETY: `try_stamps` made it of a box of this many numbers, and nothing else has it.
            drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(stamps, geometry.places)) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, Entry};
    use crate::slab::free::Stack;
    use crate::slab::geometry::Geometry;
    use crate::slab::key::Key;
    use core::alloc::Layout;
    use core::ptr;

    #[test]
    fn stamps_begin_again_behind_none() {
        let geometry = Geometry::of(Layout::new::<u64>());
        let (stack, mut blocks) = (Stack::new(), Blocks::new(Key::LIMIT));
        let place = blocks.carve(geometry, ptr::null(), &stack).map(|carved| carved.first).unwrap();
        // SAFETY: the place was just carved, and its chunk is there until the end of the test.
        let entry = unsafe { Entry::of(place, geometry) };
        entry.try_stamps().unwrap();
        entry.header().serial.set(u32::MAX - 1);
        assert_eq!(entry.leak_stamped().stamp(), u32::MAX);
        assert!(entry.has_stamp(u32::MAX) && entry.unleak());
        assert_eq!(entry.leak_stamped().stamp(), 1, "0 is none");
        assert!(entry.has_stamp(1) && !entry.has_stamp(u32::MAX) && !entry.has_stamp(0) && entry.unleak());
        entry.leak();
        assert!(!entry.has_stamp(0) && !entry.has_stamp(1));
        // SAFETY: neither the entry nor the place is used again.
        unsafe { blocks.free_all(geometry) };
        stack.free();
    }
}
