//! What glibc's chunks keep resident, as their headers in memory describe them. The version is not known.

use crate::capture::glibc::{
    Cache, FLAGS, HEAP, IS_MAPPED, LAYOUTS, LEAST_CHUNK, Layout, PREVIOUS_IN_USE, is_listed_size,
};
use crate::capture::{Block, Memory};

const PAGE: u64 = 4096;
const WORD: u64 = 8;
/// No smaller block is mapped separately, unless a tunable says so.
const LEAST_MAPPED: u64 = 64 << 10;
/// The bytes at the start of a free chunk that have its links.
const LINKS: u64 = 48;
/// Free chunks up to this size may be in a fast bin, whose chunks look as if they were in use.
const FAST: u64 = 128;

fn word(memory: &dyn Memory, addr: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (memory.read(addr, &mut bytes) == bytes.len()).then(|| u64::from_le_bytes(bytes))
}

/// Returns the range of a block's chunk if glibc mapped it separately.
pub(super) fn mapped(memory: &dyn Memory, block: &Block) -> Option<(u64, u64)> {
    if block.size < LEAST_MAPPED {
        return None;
    }
    let header = block.addr.checked_sub(2 * WORD)?;
    let size = word(memory, header + WORD)?;
    // The bytes before an aligned block. From glibc 2.43 on its lowest bit tells that the pages are huge.
    let before = word(memory, header)? & !1;
    let start = header.checked_sub(before)?;
    let end = header.checked_add(size & !FLAGS)?;
    // From glibc 2.43 on the size of a chunk does not have all bytes of the mapping.
    let mut ends = LAYOUTS.iter().filter_map(|layout| end.checked_add(layout.beside));
    let end = ends.find(|end| end.is_multiple_of(PAGE))?;
    let fits = size & FLAGS == IS_MAPPED && start.is_multiple_of(PAGE);
    let after = block.addr + block.size;
    (fits && before < HEAP && (after..after + 2 * PAGE).contains(&end)).then_some((start, end))
}

/// Returns the heaps of arenas in a mapping, each with its end.
pub(super) fn heaps(memory: &dyn Memory, (start, end): (u64, u64)) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut at = start.next_multiple_of(HEAP);
    while at < end {
        let field = |index: u64| word(memory, at + index * WORD).unwrap_or_default();
        let (arena, size, writable) = (field(0), field(2), field(3));
        // The arena is in its first heap, or in the C library.
        let is_arena = arena != 0 && arena.is_multiple_of(WORD) && arena % HEAP < PAGE && arena % HEAP > 0;
        if is_arena && size.is_multiple_of(PAGE) && size > 0 && size <= writable && writable <= HEAP {
            found.push((at, at + size));
        }
        at += HEAP;
    }
    found
}

/// Returns where the first chunk of an arena's heap may be: behind headers whose length depends on glibc's version, or else
/// at the first block.
pub(super) fn starts(memory: &dyn Memory, heap: u64, first: Option<&Block>) -> Vec<u64> {
    let arena = word(memory, heap).unwrap_or_default();
    let is_first = arena / HEAP * HEAP == heap;
    let header = |layout: &Layout| if is_first { arena + layout.arena } else { heap + layout.heap };
    let mut found: Vec<u64> = LAYOUTS.iter().map(|layout| header(layout).next_multiple_of(2 * WORD)).collect();
    found.extend(first.map(|block| block.addr - 2 * WORD));
    found.dedup();
    found
}

/// Words of a range, read in large pieces.
struct Reader<'m> {
    memory: &'m dyn Memory,
    start: u64,
    bytes: Vec<u8>,
}

impl Reader<'_> {
    fn word(&mut self, addr: u64) -> Option<u64> {
        const PIECE: usize = 1 << 18;
        let at = addr.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        if at.is_none_or(|at| at + 8 > self.bytes.len()) {
            self.bytes.resize(PIECE, 0);
            let read = self.memory.read(addr, &mut self.bytes);
            self.bytes.truncate(read);
            self.start = addr;
        }
        let at = usize::try_from(addr - self.start).ok()?;
        Some(u64::from_le_bytes(self.bytes.get(at..at + 8)?.try_into().ok()?))
    }
}

/// What is known of the chunks of a heap.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heap {
    /// Adjacent free chunks. Some may be in the cache of a thread.
    free: Vec<(u64, u64)>,
    /// Whether the last ones are the end of the heap.
    has_top: bool,
    /// The bytes of the chunk of each block.
    pub(super) chunks: Vec<u64>,
    /// The chunks that may be the cache of a thread.
    pub(super) caches: Vec<u64>,
}

/// Walks over the chunks of a heap from `start` on. `blocks` are those in the heap. Returns `None` if the chunks do not fit
/// the blocks.
pub(super) fn walk(memory: &dyn Memory, (start, end): (u64, u64), blocks: &[Block]) -> Option<Heap> {
    let mut reader = Reader { memory, start: 0, bytes: Vec::new() };
    let mut heap = Heap::default();
    let mut next = blocks.iter().peekable();
    // The first address of adjacent free chunks.
    let mut free: Option<u64> = None;
    let mut at = start;
    while at < end {
        let size = reader.word(at + WORD)? & !FLAGS;
        let is_top = at + size == end;
        // The end of a heap that is followed by another one of the arena has two words without a chunk.
        if size < LEAST_CHUNK && at + 4 * WORD >= end {
            break;
        }
        if size < LEAST_CHUNK || !size.is_multiple_of(2 * WORD) || size > end - at {
            return None;
        }
        let contents = at + 2 * WORD;
        let is_live = next.next_if(|block| block.addr == contents).is_some();
        if next.peek().is_some_and(|block| block.addr < contents + size) {
            return None;
        }
        if is_live {
            heap.chunks.push(size);
        } else if LAYOUTS.iter().any(|layout| layout.cache_chunk() == size) {
            heap.caches.push(at);
        }
        let is_free = !is_live && (is_top || size <= FAST || reader.word(at + size + WORD)? & PREVIOUS_IN_USE == 0);
        if is_free {
            free.get_or_insert(at);
        }
        if let Some(first) = free
            && (!is_free || is_top)
        {
            heap.free.push((first, if is_top { end } else { at }));
            heap.has_top = is_top;
            free = None;
        }
        at += size;
    }
    next.peek().is_none().then_some(heap)
}

/// Returns the free chunks in the cache of a thread, if the chunk at an address is one: each list has chunks of its size,
/// which are in these heaps.
pub(super) fn cache(memory: &dyn Memory, chunk: u64, heaps: &[((u64, u64), bool)]) -> Option<Vec<(u64, u64)>> {
    const LONGEST: usize = 1 << 16;
    let size = word(memory, chunk + WORD)? & !FLAGS;
    LAYOUTS.iter().filter(|layout| layout.cache_chunk() == size).find_map(|layout| {
        let Cache { lists, count, .. } = layout.cache;
        let first = chunk + 2 * WORD + lists * count;
        let mut found = Vec::new();
        for list in 0..lists {
            let mut block = word(memory, first + list * WORD)?;
            let mut length = 0;
            while block != 0 {
                let at = block.checked_sub(2 * WORD).filter(|_| block.is_multiple_of(2 * WORD))?;
                let size = word(memory, at + WORD)? & !FLAGS;
                length += 1;
                if !is_listed_size(list, size)
                    || length > LONGEST
                    || !heaps.iter().any(|((start, end), _)| (*start..*end).contains(&at))
                {
                    return None;
                }
                found.push((at, at + size));
                block = layout.pointer(block, word(memory, block)?);
            }
        }
        Some(found)
    })
}

/// Returns the ranges that `malloc_trim(0)` would return. `cached` are the chunks in the caches of threads, which it leaves
/// alone. `is_main` tells that the end of the heap can be given back.
pub(super) fn trimmed(heap: &Heap, cached: &[(u64, u64)], is_main: bool) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    let mut add = |start: u64, end: u64, is_top: bool| {
        found.extend(match (is_top, is_main) {
            (false, _) => inside(start, end),
            (true, true) => top(start, end),
            // `malloc_trim` leaves the ends of other arenas alone.
            (true, false) => None,
        });
    };
    for (number, &(mut start, end)) in (1..).zip(&heap.free) {
        let first = cached.partition_point(|chunk| chunk.0 < start);
        for chunk in cached[first..].iter().take_while(|chunk| chunk.0 < end) {
            add(start, chunk.0, false);
            start = chunk.1;
        }
        add(start, end, heap.has_top && number == heap.free.len());
    }
    found
}

/// Returns the pages of a free chunk that `malloc_trim` gives back.
fn inside(start: u64, end: u64) -> Option<(u64, u64)> {
    let (first, last) = ((start + LINKS).next_multiple_of(PAGE), end / PAGE * PAGE);
    (first < last).then_some((first, last))
}

/// Returns what `malloc_trim` gives back of the free chunk at the end of the heap.
fn top(start: u64, end: u64) -> Option<(u64, u64)> {
    let length = (end - start).checked_sub(LEAST_CHUNK + 1)? / PAGE * PAGE;
    (length > 0).then_some((end - length, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that begins at an address.
    struct Bytes(u64, Vec<u8>);

    impl Memory for Bytes {
        fn read(&self, addr: u64, into: &mut [u8]) -> usize {
            let from = addr.checked_sub(self.0).and_then(|at| self.1.get(usize::try_from(at).ok()?..));
            let from = from.unwrap_or_default();
            let len = from.len().min(into.len());
            into[..len].copy_from_slice(&from[..len]);
            len
        }
    }

    const START: u64 = 0x10000;

    /// A heap of chunks: the size of each and whether it is in use. The last one is the top.
    fn heap(chunks: &[(u64, bool)]) -> Bytes {
        let len: u64 = chunks.iter().map(|chunk| chunk.0).sum();
        let mut bytes = vec![0; usize::try_from(len).unwrap()];
        let (mut at, mut before) = (0, true);
        for &(size, used) in chunks {
            bytes[at + 8..at + 16].copy_from_slice(&(size | u64::from(before)).to_le_bytes());
            at += usize::try_from(size).unwrap();
            before = used;
        }
        Bytes(START, bytes)
    }

    fn block(at: u64, size: u64) -> Block {
        Block { addr: START + at + 16, size, stack: 0, weight: 1 }
    }

    #[test]
    fn trimmed_are_the_pages_inside_of_free_chunks() {
        let memory = heap(&[(64, true), (3 * PAGE, false), (64, true), (8128, false)]);
        let range = (START, START + 5 * PAGE + 64 - 64 + 64);
        let range = (range.0, START + memory.1.len() as u64);
        let blocks = [block(0, 40), block(64 + 3 * PAGE, 50)];
        let found = walk(&memory, range, &blocks).unwrap();
        assert_eq!(found.chunks, [64, 64]);
        let top = (range.1 - PAGE, range.1);
        assert_eq!(trimmed(&found, &[], true), [(START + PAGE, START + 3 * PAGE), top]);
        assert_eq!(trimmed(&found, &[], false), [(START + PAGE, START + 3 * PAGE)]);
    }

    #[test]
    fn chunks_of_fast_bins_count_as_free() {
        let small = [(128, true); 64];
        let memory = heap(&[&[(64, true)], &small[..], &[(64, true), (4096, false)]].concat());
        let range = (START, START + memory.1.len() as u64);
        let found = walk(&memory, range, &[block(0, 40), block(64 + 8192, 40)]).unwrap();
        assert_eq!(trimmed(&found, &[], false), [(START + PAGE, START + 2 * PAGE)]);
        // One of them is in the cache of a thread.
        let cached = (START + PAGE + 64, START + PAGE + 192);
        assert_eq!(trimmed(&found, &[cached], false), []);
    }

    #[test]
    fn the_cache_of_a_thread_is_found_by_its_lists() {
        // The cache, two free chunks of 48 bytes that look as if they were in use, and the end.
        let mut memory = heap(&[(0x290, true), (48, true), (48, true), (4096, false)]);
        let range = (START, START + memory.1.len() as u64);
        let first = START + 0x290 + 16;
        let second = first + 48;
        let mut set = |addr: u64, word: u64| {
            let at = usize::try_from(addr - START).unwrap();
            memory.1[at..at + 8].copy_from_slice(&word.to_le_bytes());
        };
        set(START + 16 + 128 + 8, first);
        set(first, second ^ (first >> 12));
        set(second, second >> 12);
        let found = walk(&memory, range, &[]).unwrap();
        assert_eq!(found.caches, [START]);
        let heaps = [(range, true)];
        let chunks = [(first - 16, first + 32), (second - 16, second + 32)];
        assert_eq!(cache(&memory, START, &heaps).as_deref(), Some(&chunks[..]));
        memory.1[0x290 + 8] = 65;
        assert_eq!(cache(&memory, START, &heaps), None, "another size");
    }

    #[test]
    fn damaged_chunks_are_refused() {
        let memory = heap(&[(64, true), (48, true), (4096, false)]);
        let range = (START, START + memory.1.len() as u64);
        assert!(walk(&memory, range, &[block(32, 8)]).is_none(), "a block inside of a chunk");
        assert!(walk(&memory, range, &[block(4096, 8)]).is_none(), "a block in the top");
        assert!(walk(&memory, (START, range.1 - 16), &[]).is_none(), "a chunk that is longer than the heap");
        assert!(walk(&memory, (START + 8, range.1), &[]).is_none());
    }

    #[test]
    fn separately_mapped_blocks_are_found_by_their_header() {
        let mut memory = Bytes(START, vec![0; 1 << 17]);
        memory.1[8..16].copy_from_slice(&((18 * PAGE) | IS_MAPPED).to_le_bytes());
        assert_eq!(mapped(&memory, &block(0, 17 * PAGE)), Some((START, START + 18 * PAGE)));
        assert_eq!(mapped(&memory, &block(0, 3 * PAGE)), None);
        assert_eq!(mapped(&memory, &block(64, 17 * PAGE)), None);
        // As glibc 2.43 writes it, with huge pages.
        memory.1[0] = 1;
        memory.1[8..16].copy_from_slice(&((18 * PAGE - 16) | IS_MAPPED).to_le_bytes());
        assert_eq!(mapped(&memory, &block(0, 17 * PAGE)), Some((START, START + 18 * PAGE)));
    }
}
