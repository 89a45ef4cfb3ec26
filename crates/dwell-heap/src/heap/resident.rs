//! The resident memory (RSS) by part, and which types and call sites keep pages that are mostly free.

use super::summary::owner;
use super::walk::{Origin, Walk};
use crate::capture::{Resident, Snapshot};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

const PAGE: u64 = 4096;
/// A page is mostly free if live blocks take at most this many bytes of it.
const MOSTLY_FREE: u32 = 2048;
/// The maximum number of survivors listed.
const SURVIVORS: usize = 10;
/// The maximum numbers of files and of names of threads listed.
const FILES: usize = 3;
const THREADS: usize = 3;
/// The least number of bytes that a remedy returns.
const LEAST: u64 = 1 << 20;

/// The resident memory of the program. All parts but `census` and `untouched` add up to `bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rss {
    /// The resident bytes, without those of census.
    pub bytes: u64,
    /// Live bytes on resident pages.
    pub live: u64,
    /// What the allocator adds to each live block: headers and rounding, as far as they are known.
    pub rounding: u64,
    /// Freed, but held: chunks in the caches of threads.
    pub cached: u64,
    /// Freed, but held: the rest of glibc's arenas of other threads.
    pub arenas: u64,
    /// Freed, but held: other resident pages of the allocator without any live byte.
    pub free_pages: u64,
    /// Freed, but held: other free bytes on pages with live bytes, which is fragmentation.
    pub fragmented: u64,
    /// Anonymous memory of no known allocator.
    pub mapped: u64,
    /// Who mapped most of it, in a run: the file and line, or the function, and the resident bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub largest_mapped: Vec<(String, u64)>,
    /// The stacks of threads.
    pub stacks: u64,
    /// The number of these stacks.
    pub threads: u64,
    /// The threads whose stacks are largest, by name: the name, their number, and the resident bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub largest_stacks: Vec<(String, u64, u64)>,
    /// Mapped files and shared memory.
    pub files: u64,
    /// The largest of these files with their resident bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub largest_files: Vec<(String, u64)>,
    /// The executable, its libraries and their statics.
    pub program: u64,
    /// The memory of census itself, which is no part of `bytes`.
    pub census: u64,
    /// Live bytes that were never touched, such as capacity: they are no part of `bytes`.
    pub untouched: u64,
    /// The pages that are mostly free, but have live bytes.
    pub mostly_free: u64,
    /// Who keeps the mostly free pages, most pages first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub survivors: Vec<Survivor>,
    /// What returns memory to the system, most bytes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
}

/// Blocks of one owner and call site on pages that are mostly free.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Survivor {
    /// The owner, as in [`super::rows::Blocks::owner`].
    pub owner: String,
    /// The type that holds the blocks.
    pub content: String,
    /// The file and line, or the function, that allocated them.
    pub at: String,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of their bytes.
    pub bytes: u64,
    /// The number of mostly free pages with such a block.
    pub pages: u64,
    /// The number of these pages without any other block.
    pub alone: u64,
    /// The bytes of those pages that would be free if these blocks were elsewhere, close together.
    pub returns: u64,
}

impl Rss {
    /// Adds a remedy, if it is worth it.
    pub(crate) fn offer(&mut self, remedy: Remedy) {
        if remedy.returns >= LEAST && remedy.returns >= self.bytes / 50 {
            self.remedies.push(remedy);
            self.remedies.sort_by_key(|remedy| std::cmp::Reverse(remedy.returns));
        }
    }
}

/// Something that returns memory to the system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remedy {
    /// `trim`, `apart` or `capacity`.
    pub kind: String,
    /// What to do.
    pub how: String,
    /// The resident bytes that it returns.
    pub returns: u64,
}

/// The pages of the heap in the order of their addresses.
struct Pages<'r> {
    ranges: &'r [(u64, u64)],
    /// The number of the first page of each range.
    first: Vec<usize>,
    /// The bytes of live blocks on each page, with header and rounding.
    used: Vec<u32>,
    /// The range of the last block.
    at: usize,
}

impl<'r> Pages<'r> {
    fn new(ranges: &'r [(u64, u64)]) -> Self {
        let mut count = 0;
        let mut first = Vec::with_capacity(ranges.len());
        for (start, end) in ranges {
            first.push(count);
            count += ((end - start) / PAGE) as usize;
        }
        Self { ranges, first, used: vec![0; count], at: 0 }
    }

    /// Calls `with` for each resident page in `start..end`, with its number and the bytes of the range in it. Later calls have
    /// a later range, or the same again after `self.at = 0`.
    #[expect(clippy::cast_possible_truncation, reason = "numbers of resident pages, and bytes in a page")]
    fn each(&mut self, (start, end): (u64, u64), mut with: impl FnMut(&mut u32, usize, u32)) {
        // A chunk begins before its block, so the range before may have its first bytes.
        self.at = self.at.saturating_sub(1);
        while self.ranges.get(self.at).is_some_and(|range| range.1 <= start) {
            self.at += 1;
        }
        for (range, first) in self.ranges[self.at..].iter().zip(&self.first[self.at..]) {
            if range.0 >= end {
                break;
            }
            let mut at = start.max(range.0);
            let until = end.min(range.1);
            while at < until {
                let next = (at / PAGE * PAGE + PAGE).min(until);
                let page = first + ((at - range.0) / PAGE) as usize;
                with(&mut self.used[page], page, (next - at) as u32);
                at = next;
            }
        }
    }
}

/// The free bytes of the resident pages of allocators.
#[derive(Debug, Default)]
struct Free {
    cached: u64,
    arenas: u64,
    /// Pages outside of these without live bytes.
    pages: u64,
}

impl Pages<'_> {
    /// Divides the free bytes, after the live ones are known.
    fn free(&mut self, resident: &Resident) -> Free {
        let mut cached = vec![0_u32; self.used.len()];
        self.at = 0;
        for range in resident.cached.all() {
            self.each(*range, |_, page, bytes| cached[page] += bytes);
        }
        let is_of_arena = |addr: u64| {
            let index = resident.arenas.partition_point(|range| range.0 <= addr);
            index.checked_sub(1).is_some_and(|index| addr < resident.arenas[index].1)
        };
        let mut free = Free::default();
        for (&(start, end), first) in self.ranges.iter().zip(&self.first) {
            for (page, addr) in (*first..).zip((start..end).step_by(4096)) {
                let (used, cached) = (u64::from(self.used[page]), u64::from(cached[page]));
                let rest = PAGE.saturating_sub(used + cached);
                free.cached += cached;
                if is_of_arena(addr) {
                    free.arenas += rest;
                } else if used == 0 {
                    free.pages += rest;
                }
            }
        }
        free
    }
}

/// Divides the resident memory of a snapshot; `None` if it is not known.
pub(crate) fn divide(walk: &Walk<'_, '_>, snapshot: &Snapshot, origins: &[Origin]) -> Option<Rss> {
    let resident = snapshot.memory.resident()?;
    let mut pages = Pages::new(resident.heap.all());
    let (mut live, mut used) = (0, 0);
    for (block, taken) in snapshot.blocks.iter().zip(&resident.taken) {
        live += resident.heap.bytes_in(block.addr, block.addr + block.size);
        pages.each(*taken, |of_page, _, bytes| {
            *of_page += bytes;
            used += u64::from(bytes);
        });
    }
    let heap = resident.heap.bytes();
    let free = pages.free(resident);
    let unwritten = resident.unwritten.min(live);
    let mostly = |used: u32| used > 0 && used <= MOSTLY_FREE;
    let mut rss = Rss {
        bytes: heap - unwritten + resident.mapped + resident.stacks + resident.files + resident.program,
        live: live - unwritten,
        rounding: used.saturating_sub(live),
        cached: free.cached,
        arenas: free.arenas,
        free_pages: free.pages,
        fragmented: heap
            .saturating_sub(used.max(live))
            .saturating_sub(free.cached)
            .saturating_sub(free.arenas)
            .saturating_sub(free.pages),
        mapped: resident.mapped,
        largest_mapped: largest(&mapped_by(resident, origins), FILES, |place| place.1 >= heap / 100),
        stacks: resident.stacks,
        threads: resident.threads,
        largest_stacks: largest(&resident.by_thread, THREADS, |stack| stack.2 >= heap / 100),
        files: resident.files,
        largest_files: largest(&resident.by_file, FILES, |file| file.1 >= heap / 100),
        program: resident.program,
        census: resident.census,
        untouched: snapshot.live_bytes.saturating_sub(live - unwritten),
        mostly_free: pages.used.iter().filter(|used| mostly(**used)).count() as u64,
        ..Rss::default()
    };
    let apart = survivors(walk, snapshot, origins, resident, &mut pages, &mut rss);
    for remedy in remedies(&rss, resident, apart) {
        rss.offer(remedy);
    }
    Some(rss)
}

/// Returns the bytes that were mapped by hand by the place that mapped them, most bytes first.
fn mapped_by(resident: &Resident, origins: &[Origin]) -> Vec<(String, u64)> {
    let mut found: HashMap<&str, u64> = HashMap::new();
    for (stack, bytes) in &resident.by_stack {
        let Some(origin) = origins.get(*stack as usize) else { continue };
        *found.entry(origin.at.as_ref().unwrap_or(&origin.function)).or_default() += bytes;
    }
    let mut all: Vec<_> = found.into_iter().map(|(place, bytes)| (place.to_owned(), bytes)).collect();
    all.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    all
}

fn largest<T: Clone>(rows: &[T], most: usize, is_large: impl Fn(&T) -> bool) -> Vec<T> {
    rows.iter().filter(|row| is_large(row)).take(most).cloned().collect()
}

/// What the blocks of an owner take of the resident memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// The bytes of the blocks.
    pub(crate) bytes: u64,
    /// Those on resident pages.
    pub(crate) resident: u64,
    /// Those on resident pages of blocks that are mapped separately.
    pub(crate) mapped: u64,
    /// The bytes of pages with blocks of this owner only, without separately mapped ones.
    pub(crate) alone: u64,
}

impl Held {
    /// Returns the sum.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            resident: self.resident.saturating_add(other.resident),
            mapped: self.mapped.saturating_add(other.mapped),
            alone: self.alone.saturating_add(other.alone),
        }
    }
}

/// Returns what each owner's blocks take of the resident memory; `None` if it is not known.
pub(crate) fn held(walk: &Walk<'_, '_>, snapshot: &Snapshot) -> Option<Vec<(String, Held)>> {
    let resident = snapshot.memory.resident()?;
    let mut all: Vec<(String, Held)> =
        walk.counted.holdings.iter().map(|holding| (owner(walk, holding).0, Held::default())).collect();
    let mut pages = Pages::new(resident.heap.all());
    let mut keepers = vec![Keeper::Nobody; pages.used.len()];
    for (number, (block, taken)) in snapshot.blocks.iter().zip(&resident.taken).enumerate() {
        let holding = walk.holding(number) as usize;
        let is_mapped = taken.0.is_multiple_of(PAGE) && taken.1.is_multiple_of(PAGE);
        pages.each(*taken, |_, page, _| {
            keepers[page] = match keepers[page] {
                Keeper::Nobody if !is_mapped => Keeper::One(holding),
                Keeper::One(other) if other == holding => Keeper::One(holding),
                _ => Keeper::Several,
            };
        });
        let Some((_, held)) = all.get_mut(holding) else { continue };
        let touched = resident.heap.bytes_in(block.addr, block.addr + block.size);
        held.bytes += block.size;
        held.resident += touched;
        held.mapped += if is_mapped { touched } else { 0 };
    }
    for keeper in keepers {
        if let Keeper::One(holding) = keeper
            && let Some((_, held)) = all.get_mut(holding)
        {
            held.alone += PAGE;
        }
    }
    Some(all)
}

/// Who keeps a page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeper {
    Nobody,
    One(usize),
    Several,
}

/// Lists the survivors on mostly free pages. Returns the bytes that all listed ones together keep.
fn survivors(
    walk: &Walk<'_, '_>,
    snapshot: &Snapshot,
    origins: &[Origin],
    resident: &Resident,
    pages: &mut Pages<'_>,
    rss: &mut Rss,
) -> u64 {
    let mut groups: Vec<Survivor> = Vec::new();
    let mut known: HashMap<(u32, u32), usize> = HashMap::new();
    let mut by_text: HashMap<(String, String, String), usize> = HashMap::new();
    let mut keepers = vec![Keeper::Nobody; pages.used.len()];
    // Each page counts once for a group: the last page that counted for it.
    let mut last: Vec<usize> = Vec::new();
    let mut of_block: Vec<Option<usize>> = Vec::with_capacity(snapshot.blocks.len());
    pages.at = 0;
    for (number, (block, taken)) in snapshot.blocks.iter().zip(&resident.taken).enumerate() {
        let mut group = None;
        pages.each(*taken, |used, page, _| {
            if *used > MOSTLY_FREE {
                return;
            }
            let index = *group.get_or_insert_with(|| {
                let holding = walk.holding(number);
                *known.entry((holding, block.stack)).or_insert_with(|| {
                    let of_block = walk
                        .counted
                        .holdings
                        .get(holding as usize)
                        .map(|holding| (owner(walk, holding).0, holding.content.clone()));
                    let (owner, content) = of_block.unwrap_or_default();
                    let origin = origins.get(block.stack as usize);
                    let at = origin
                        .map(|origin| origin.at.clone().unwrap_or_else(|| origin.function.clone()))
                        .unwrap_or_default();
                    *by_text.entry((owner.clone(), content.clone(), at.clone())).or_insert_with(|| {
                        groups.push(Survivor { owner, content, at, ..Survivor::default() });
                        last.push(usize::MAX);
                        groups.len() - 1
                    })
                })
            });
            if std::mem::replace(&mut last[index], page) != page {
                groups[index].pages += 1;
            }
            keepers[page] = match keepers[page] {
                Keeper::Nobody => Keeper::One(index),
                Keeper::One(other) if other == index => Keeper::One(index),
                _ => Keeper::Several,
            };
        });
        if let Some(index) = group {
            groups[index].blocks += 1;
            groups[index].bytes += block.size;
        }
        of_block.push(group);
    }
    for (keeper, used) in keepers.iter().zip(&pages.used) {
        if let Keeper::One(index) = keeper {
            groups[*index].alone += 1;
            groups[*index].returns += PAGE.saturating_sub(u64::from(*used));
        }
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(groups[*index].pages));
    order.retain(|index| groups[*index].pages * PAGE >= (rss.bytes / 100).max(PAGE));
    order.truncate(SURVIVORS);
    // Pages on which another block lives stay.
    let mut stays = vec![false; pages.used.len()];
    pages.at = 0;
    for (taken, group) in resident.taken.iter().zip(&of_block) {
        if group.is_some_and(|group| !order.contains(&group)) {
            pages.each(*taken, |_, page, _| stays[page] = true);
        }
    }
    let is_kept = |(page, used): &(usize, &u32)| **used > 0 && **used <= MOSTLY_FREE && !stays[*page];
    let kept = pages.used.iter().enumerate().filter(is_kept);
    let apart = kept.map(|(_, used)| PAGE - u64::from(*used)).sum();
    rss.survivors = order.into_iter().map(|index| groups[index].clone()).collect();
    apart
}

/// Returns what gives memory back. Fewer arenas and another allocator are not among these: on servers that were measured,
/// they held more (`docs/census-report.md`).
fn remedies(rss: &Rss, resident: &Resident, apart: u64) -> Vec<Remedy> {
    let remedy = |kind: &str, how: String, returns| Remedy { kind: kind.into(), how, returns };
    let mut all = Vec::new();
    if let Some(trim) = resident.trim {
        let how = "call malloc_trim(0) after the memory was freed: it returns pages without live bytes".to_owned();
        all.push(remedy("trim", how, trim));
    }
    let names: Vec<&str> = rss.survivors.iter().take(3).map(|survivor| survivor.owner.as_str()).collect();
    let how = format!(
        "allocate what survives apart, in an arena or a slab ({}){}: then the pages between are free too",
        names.join(", "),
        if resident.trim.is_some() { ", and call malloc_trim(0)" } else { "" }
    );
    // glibc gives back a page between others only if it is asked to, and then all free ones.
    let apart = if apart > 0 { apart.saturating_add(resident.trim.unwrap_or(0)) } else { 0 };
    all.push(remedy("apart", how, apart));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_blocks_are_found_across_ranges() {
        let ranges = [(0x1000, 0x3000), (0x5000, 0x6000)];
        let mut pages = Pages::new(&ranges);
        let mut found = Vec::new();
        for range in [(0x800, 0x1010), (0x1ff0, 0x2010), (0x2f00, 0x5008), (0x7000, 0x7010)] {
            pages.each(range, |used, page, bytes| {
                *used += bytes;
                found.push((page, bytes));
            });
        }
        assert_eq!(found, [(0, 16), (0, 16), (1, 16), (1, 256), (2, 8)]);
        assert_eq!(pages.used, [32, 272, 8]);
    }
}
