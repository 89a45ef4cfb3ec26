//! glibc's malloc, 2.28 to 2.44, on processors with 64 bits.
//!
//! Memory is divided into *chunks*, each with its size in a word before the block, and with a bit that tells whether the
//! chunk before it is in use. A free chunk that can be merged clears that bit of the next one; a free chunk in a *fast bin*
//! or in a thread's cache (*tcache*) does not, so these lists are read. Chunks belong to *arenas*: the main one is in the
//! data of libc, and is found by the heads of its lists, which point to themselves if they are empty. Large blocks are
//! mapped separately.
//!
//! A thread may have been stopped at any instruction of malloc. glibc writes a chunk's size before it hands it out, and
//! the end of an arena (its *top*) before the size of the last chunk, so that at most that chunk is not seen.

use super::{Live, ProcessImage};
use crate::agent::layout::LARGEST_PAGE;
use crate::arch::SMALLEST_PAGE;
use crate::capture::Rounding;
use crate::capture::glibc::{
    BINS, Cache, FLAGS, HEAP, IS_MAPPED, LAYOUTS, LEAST_CHUNK, Layout, NEWEST, PREVIOUS_IN_USE, is_listed_size, layout,
};
use crate::capture::maps::Mapping;
use crate::debuginfo;
use anyhow::{Context as _, Result, bail};
use std::path::Path;

/// The smallest page, of which all others are multiples.
const PAGE: u64 = SMALLEST_PAGE;
/// The most arenas, and heaps of one.
const MOST: usize = 1 << 16;

/// Returns the live blocks of glibc. `others` are the ranges of another allocator, in which it maps none.
pub(super) fn blocks(process: &ProcessImage<'_>, others: &[(u64, u64)]) -> Result<Live> {
    let (libc, minor) = version(process)?;
    let anonymous: Vec<&Mapping> =
        process.maps.iter().filter(|map| map.readable && map.writable && map.is_anonymous()).collect();
    let heap = |layout| Heap { process, layout, anonymous: anonymous.clone(), others };
    let main = |heap: &Heap<'_>| {
        process.maps.iter().filter(|map| map.path == libc && map.writable).find_map(|map| heap.main_arena(map))
    };
    let Some(minor) = minor else {
        let read = |(number, layout): (usize, &Layout)| {
            let heap = heap(*layout);
            // By a wrong version, the last arena does not lead to the first one.
            let (arenas, is_ring) = heap.arenas(main(&heap)?);
            let last = LAYOUTS.get(number + 1).map_or(NEWEST, |next| next.from - 1);
            is_ring.then(|| heap.read(&arenas, &format!("glibc 2.{} to 2.{last}", layout.from)))
        };
        // A wrong version's caches list nothing that fits, so that fewer chunks are known to be free.
        let best = LAYOUTS.iter().enumerate().rev().filter_map(read).min_by_key(|live| (live.lost, live.blocks.len()));
        return best.with_context(|| {
            format!(
                "{}: its allocator is not known (it loads no glibc, and has neither glibc nor musl, mimalloc or jemalloc inside); \
                 build it for musl, or without crt-static",
                libc.display()
            )
        });
    };
    let Some(layout) = layout(minor) else {
        bail!(
            "glibc 2.{minor}: the structures of its malloc are not known, only those of 2.28 to 2.{NEWEST}; start the program \
             with `cargo dwell census --exe`"
        );
    };
    let heap = heap(layout);
    let main =
        main(&heap).with_context(|| format!("glibc 2.{minor}: its main arena was not found in {}", libc.display()))?;
    Ok(heap.read(&heap.arenas(main).0, &format!("glibc 2.{minor}")))
}

/// Returns the mapped files that are glibc's by their names.
fn files<'a>(process: &ProcessImage<'a>) -> impl Iterator<Item = &'a Path> {
    process.maps.iter().map(|map| &*map.path).filter(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        name.starts_with("libc.so.6") || name.starts_with("libc-2.")
    })
}

/// Returns `true` if a program has loaded glibc.
pub(super) fn is_loaded(process: &ProcessImage<'_>) -> bool {
    files(process).next().is_some()
}

/// Returns the file that has glibc, and its minor version; `None` if that is not in a program that has it inside.
fn version<'a>(process: &ProcessImage<'a>) -> Result<(&'a Path, Option<u32>)> {
    // A program that is linked statically has it inside.
    let path = files(process).next().unwrap_or(process.executable.0);
    if let Some(known) = process.glibc.and_then(|version| minor(version.strip_prefix("2.")?)) {
        return Ok((path, Some(known)));
    }
    let is_static = path == process.executable.0;
    let Some(file) = (process.file)(path) else {
        bail!(
            "{}: this machine has another build of it, or none, so the version of glibc is not known; put the file of the \
             other machine into the folder of --debug-dir",
            path.display()
        );
    };
    match banner(&debuginfo::map(&file)?) {
        found if found.is_some() || is_static => Ok((path, found)),
        _ => bail!("{}: has no version of glibc", path.display()),
    }
}

/// Finds the line with glibc's version, and returns N of 2.N.
fn banner(file: &[u8]) -> Option<u32> {
    const START: &[u8] = b"GNU C Library (";
    const RELEASE: &str = "release version 2.";
    let at = memchr::memmem::find(file, START)?;
    let line = file.get(at..)?.get(..512)?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    minor(line.split_once(RELEASE)?.1)
}

/// Returns the number at the start of a text. A development version is named by the one before, `42.9000`.
fn minor(text: &str) -> Option<u32> {
    let (number, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let number: u32 = number.parse().ok()?;
    Some(if rest.starts_with(".9000") { number + 1 } else { number })
}

struct Heap<'a> {
    process: &'a ProcessImage<'a>,
    layout: Layout,
    anonymous: Vec<&'a Mapping>,
    others: &'a [(u64, u64)],
}

/// A part of an arena: the first chunk, and the end. `top` is the top chunk, if it is in this part.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: u64,
    end: u64,
    top: Option<u64>,
    /// The memory in which nothing is mapped separately.
    around: (u64, u64),
}

impl Heap<'_> {
    /// Returns the word at an offset. An address in a core may be any number.
    fn word(&self, addr: u64, offset: u64) -> Option<u64> {
        self.process.memory.word(addr.checked_add(offset)?)
    }

    fn holding(&self, addr: u64) -> Option<&Mapping> {
        let index = self.anonymous.partition_point(|map| map.start <= addr).checked_sub(1)?;
        Some(self.anonymous[index]).filter(|map| map.contains(addr))
    }

    /// Finds the main arena in libc's data.
    fn main_arena(&self, map: &Mapping) -> Option<u64> {
        /// A program that is linked statically has its own data there, too.
        const SEARCHED: usize = 1 << 24;
        let all = (map.start..map.end.saturating_sub(self.layout.arena)).step_by(8);
        all.take(SEARCHED).find(|at| self.is_arena(*at))
    }

    /// Returns `true` if there is an arena: the head of each bin points to itself, or to chunks that point back.
    fn is_arena(&self, at: u64) -> bool {
        // The first bin that is looked at is nearly always empty.
        let mut empty = 0;
        for bin in 0..BINS - 2 {
            let words = self.layout.bins + 16 * bin;
            // A head is a chunk of which only the two pointers exist.
            let head = at.wrapping_add(words - 16);
            let (Some(next), Some(last)) = (self.word(at, words), self.word(at, words + 8)) else { return false };
            if next == head && last == head {
                empty += 1;
            } else if self.holding(next).is_none() || self.holding(last).is_none() {
                return false;
            }
        }
        // Any number: another user of `brk`, such as the start of a static program, ends anywhere.
        let system = self.word(at, self.layout.system());
        empty > 0 && system.is_some_and(|bytes| (1..1 << 48).contains(&bytes))
    }

    /// Returns all arenas, the main one first, and whether the last one leads to it.
    fn arenas(&self, main: u64) -> (Vec<u64>, bool) {
        let mut arenas = vec![main];
        loop {
            let next = self.word(arenas[arenas.len() - 1], self.layout.next());
            match next {
                Some(next) if next != main && arenas.len() < MOST && !arenas.contains(&next) && self.is_arena(next) => {
                    arenas.push(next);
                }
                _ => return (arenas, next == Some(main)),
            }
        }
    }

    fn read(&self, arenas: &[u64], allocator: &str) -> Live {
        let mut free = Vec::new();
        let mut parts = Vec::new();
        for (number, &arena) in arenas.iter().enumerate() {
            self.fast(arena, &mut free);
            let Some(top) = self.word(arena, self.layout.top) else { continue };
            if number == 0 { self.main_parts(top, &mut parts) } else { self.heaps(arena, top, &mut parts) }
        }
        let mut lost = 0;
        let mut chunks = Vec::new();
        for part in &parts {
            lost += self.chunks(*part, &mut chunks);
        }
        chunks.sort_unstable();
        // Forged parts may overlap.
        chunks.dedup_by(|next, before| before.0 + before.1 > next.0);
        self.caches(&chunks, &mut free);
        free.sort_unstable();
        let mut listed = free.iter().copied().peekable();
        // In place: there may be many millions.
        let mut blocks = chunks;
        blocks.retain_mut(|block| {
            let (at, size) = *block;
            while listed.next_if(|address| *address < at).is_some() {}
            *block = (at + 16, size - 8);
            listed.peek() != Some(&at)
        });
        self.mapped(&parts, &mut blocks);
        blocks.sort_unstable();
        Live {
            blocks,
            allocator: allocator.to_owned(),
            rounding: Rounding::Glibc(self.process.page),
            lost,
            unread: Vec::new(),
        }
    }

    /// Reads the fast bins.
    fn fast(&self, arena: u64, free: &mut Vec<u64>) {
        let Some((at, lists)) = self.layout.fast else { return };
        let most = self.process.memory.bytes() / LEAST_CHUNK;
        for list in 0..lists {
            let mut chunk = self.word(arena, at + 8 * list).unwrap_or(0);
            let mut left = most;
            while chunk != 0 && left > 0 {
                free.push(chunk);
                left -= 1;
                chunk = self.word(chunk, 16).map_or(0, |stored| self.layout.pointer(chunk + 16, stored));
            }
        }
    }

    /// Finds the memory of the main arena: what ends at the top chunk. Another user of `brk`, or memory that was mapped
    /// because `brk` failed, divides it.
    fn main_parts(&self, top: u64, parts: &mut Vec<Part>) {
        let heap = self.anonymous.iter().find(|map| map.path == Path::new("[heap]"));
        let around = self.holding(top);
        if let Some(map) = around {
            let first = self.first(map.start, top).unwrap_or(map.start);
            parts.push(Part { first, end: top, top: Some(top), around: (map.start, map.end) });
        }
        if let Some(map) = heap.filter(|map| around.is_none_or(|around| around.start != map.start)) {
            // Fence posts end it.
            parts.push(Part { first: map.start, end: map.end, top: None, around: (map.start, map.end) });
        }
    }

    /// Returns the first chunk from an address on whose chunks lead to the top one. A program that is linked statically uses the
    /// first bytes of its heap for something else.
    fn first(&self, start: u64, top: u64) -> Option<u64> {
        const SEARCHED: u64 = 64 << 10;
        let leads = |first: &u64| {
            let mut at = *first;
            // Garbage that looks like a size leads elsewhere soon.
            for _ in 0..64 {
                let size = self.word(at, 8).map(|word| word & !FLAGS);
                match size.and_then(|size| Some((size, at.checked_add(size)?))) {
                    _ if at == top => return true,
                    Some((size, next)) if size >= LEAST_CHUNK && size % 16 == 0 && next <= top => at = next,
                    _ => return false,
                }
            }
            true
        };
        (start..top.min(start.saturating_add(SEARCHED))).step_by(16).find(leads)
    }

    /// Finds the heaps of an arena, from the last one with the top chunk back to the one with the arena itself.
    fn heaps(&self, arena: u64, top: u64, parts: &mut Vec<Part>) {
        let mut heap = top & !(HEAP - 1);
        let mut last = Some(top);
        for _ in 0..MOST {
            let (Some(before), Some(size)) = (self.word(heap, 8), self.word(heap, 16)) else { break };
            let is_first = arena & !(HEAP - 1) == heap;
            let header = if is_first { (arena, self.layout.arena) } else { (heap, self.layout.heap) };
            let Some(first) = header.0.checked_add(header.1).and_then(|at| at.checked_next_multiple_of(16)) else {
                break;
            };
            let end = last.unwrap_or(heap.saturating_add(size.min(HEAP)));
            let around = (heap, heap.saturating_add(HEAP));
            parts.push(Part { first, end, top: last, around });
            last = None;
            if before == 0 || before % HEAP != 0 || parts.iter().any(|part| part.around.0 == before) {
                break;
            }
            heap = before;
        }
    }

    /// Adds the chunks of a part that are in use, or in a list of those that look like it. Returns the number of bytes that
    /// no chunk covers.
    fn chunks(&self, part: Part, found: &mut Vec<(u64, u64)>) -> u64 {
        let mut at = part.first;
        let Some(mut size) = self.word(at, 8) else { return 0 };
        while at < part.end {
            let bytes = size & !FLAGS;
            // Fence posts end a part that has no top chunk.
            if part.top.is_none() && bytes <= 16 {
                return 0;
            }
            let next = at.saturating_add(bytes);
            // Another user of `brk` took what is behind these, and the arena goes on there.
            if let (16, Some(top)) = (bytes, part.top)
                && let Some(first) = self.first(next.saturating_add(16), top)
                && let Some(following) = self.word(first, 8)
            {
                (at, size) = (first, following);
                continue;
            }
            if bytes < LEAST_CHUNK || !bytes.is_multiple_of(16) || next > part.end {
                // The last chunk was being divided.
                let is_last = bytes >= LEAST_CHUNK && bytes.is_multiple_of(16) && part.top.is_some();
                return if is_last && part.end - at < PAGE { 0 } else { part.end - at };
            }
            let Some(following) = self.word(next, 8) else { return part.end - at };
            if following & PREVIOUS_IN_USE != 0 {
                found.push((at, bytes));
            }
            at = next;
            size = following;
        }
        0
    }

    /// Finds the caches of threads among the chunks, and adds what they list. They are no blocks of the program, either.
    fn caches(&self, chunks: &[(u64, u64)], free: &mut Vec<u64>) {
        let size = self.layout.cache_chunk();
        for &(at, _) in chunks.iter().filter(|(_, bytes)| *bytes == size) {
            if let Some(listed) = self.cache(at, chunks) {
                free.extend(listed);
                free.push(at);
            }
        }
    }

    /// Returns the chunks in a cache, if a chunk is one: each list has as many chunks as its count tells, and all have the
    /// size of the list.
    fn cache(&self, chunk: u64, chunks: &[(u64, u64)]) -> Option<Vec<u64>> {
        const LONGEST: usize = 1 << 16;
        let Cache { lists, count, is_count } = self.layout.cache;
        let bytes = self.process.memory.bytes_at(chunk + 16, usize::try_from(lists * (count + 8)).ok()?)?;
        let mut found = Vec::new();
        let mut off = 0;
        for list in 0..lists {
            let at = usize::try_from(list * count).ok()?;
            let wanted = usize::from(if count == 1 {
                u16::from(*bytes.get(at)?)
            } else {
                u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)
            });
            let at = usize::try_from(lists * count + 8 * list).ok()?;
            let mut block = u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?);
            let mut length = 0;
            while block != 0 {
                let chunk = block.checked_sub(16)?;
                let index = chunks.binary_search_by_key(&chunk, |(at, _)| *at).ok()?;
                length += 1;
                if !is_listed_size(list, chunks[index].1) || length > LONGEST {
                    return None;
                }
                found.push(chunk);
                block = self.layout.pointer(block, self.word(block, 0)?);
            }
            // A thread may have been stopped between the list and its count.
            if is_count && length != wanted {
                off += 1;
                if length.abs_diff(wanted) > 1 || off > 1 {
                    return None;
                }
            }
        }
        // An empty cache cannot be told from other blocks, and has no list either.
        (!found.is_empty()).then_some(found)
    }

    /// Adds the blocks that are mapped separately: at the start of a page, with a size of whole pages. An aligned block
    /// begins later, and tells where its mapping does.
    fn mapped(&self, parts: &[Part], blocks: &mut Vec<(u64, u64)>) {
        let is_other = |addr: u64| {
            let mut all = self.others.iter().chain(parts.iter().map(|part| &part.around));
            all.any(|(start, end)| (*start..*end).contains(&addr))
        };
        for map in self.anonymous.iter().filter(|map| map.path != Path::new("[stack]")) {
            let mut at = map.start;
            // The page with the size was written to. The mapping may be much longer than what exists.
            for (from, to) in self.process.memory.copied(map.start, map.end) {
                at = at.max(from.checked_next_multiple_of(PAGE).unwrap_or(to));
                while at < to {
                    if !is_other(at)
                        && let Some((block, usable, end)) = self.mapped_at(at, map.end)
                    {
                        blocks.push((block, usable));
                        at = end;
                    } else {
                        at = at.saturating_add(PAGE);
                    }
                }
            }
        }
    }

    /// Returns the block at the start of a mapping, its usable size, and the end of the mapping.
    fn mapped_at(&self, start: u64, end: u64) -> Option<(u64, u64, u64)> {
        let chunk = |offset: u64| {
            let (before, word) = (self.word(start, offset)?, self.word(start, offset + 8)?);
            let size = word & !FLAGS;
            let whole = offset.checked_add(size)?.checked_add(self.layout.beside)?;
            // In the newest versions, a bit tells that the pages are huge.
            let is_one = before & !u64::from(self.layout.beside > 0) == offset
                && word & FLAGS == IS_MAPPED
                && size > LEAST_CHUNK
                && whole % PAGE == 0
                && whole <= end - start;
            is_one.then(|| (start + offset + 16, size + self.layout.beside - 16, start + whole))
        };
        // The offsets that alignments of 32 bytes to a page lead to.
        chunk(0).or_else(|| (5..=LARGEST_PAGE.ilog2()).find_map(|power| chunk((1 << power) - 16)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::copied::Copied;
    use crate::capture::glibc::OLDEST;

    #[test]
    fn aligned_blocks_that_are_mapped_separately_are_found() {
        let (start, len) = (1_u64 << 30, 4 * LARGEST_PAGE);
        let map = Mapping {
            start,
            end: start + len as u64,
            readable: true,
            writable: true,
            private: true,
            ..Mapping::default()
        };
        for power in 5..=LARGEST_PAGE.ilog2() {
            let at = (1 << power) - 16;
            let mut bytes = vec![0; len];
            bytes[at..at + 8].copy_from_slice(&(at as u64).to_le_bytes());
            bytes[at + 8..at + 16].copy_from_slice(&((len - at) as u64 | IS_MAPPED).to_le_bytes());
            let mut memory = Copied::default();
            let buffer = memory.buffer(Box::new(bytes));
            memory.part(start, buffer, 0, len);
            let file = |path: &Path| Some(path.to_owned());
            let executable = (Path::new("/a"), Path::new("/a"));
            let (threads, bias, page, glibc) = (&[], 0, PAGE, None);
            let process =
                ProcessImage { maps: &[], memory: &memory, threads, executable, bias, page, file: &file, glibc };
            let heap = Heap { process: &process, layout: OLDEST, anonymous: vec![&map], others: &[] };
            let mut blocks = Vec::new();
            heap.mapped(&[], &mut blocks);
            assert_eq!(blocks, [(start + (1 << power), (len - (1 << power)) as u64)], "{power}");
        }
    }

    #[test]
    fn versions_are_found() {
        let version = |text: &str| banner(&[b"\0\0", text.as_bytes(), &[0; 600][..]].concat());
        assert_eq!(version("GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\nCopy"), Some(36));
        assert_eq!(version("GNU C Library (GNU libc) development release version 2.42.9000.\n"), Some(43));
        assert_eq!(version("GNU C Library ("), None);
    }
}
