//! Divides the resident memory of a process.

use super::{Ranges, Resident, classes, glibc};
use crate::arch::{self, AROUND};
use crate::capture::copied::Copied;
use crate::capture::maps::{Mapping, mappings};
use crate::capture::pagemap::{PAGE, PRESENT, PageMap};
use crate::capture::{Block, Memory, Thread};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

/// Larger mappings are not divided by page: their page table would take too long to read.
const MOST: u64 = 1 << 36;

/// The sources of a process's resident memory.
pub(in crate::capture) struct Sources<'s> {
    pub(in crate::capture) memory: &'s dyn Memory,
    /// The live blocks.
    pub(in crate::capture) blocks: &'s [Block],
    /// The mappings of the agent's records.
    pub(in crate::capture) records: Vec<(u64, u64)>,
    /// What the program mapped without a file: from an address up to another, and the number of the call stack.
    pub(in crate::capture) mapped: Vec<(u64, u64, u32)>,
    /// An address in the agent's library, if it is there.
    pub(in crate::capture) agent: Option<u64>,
    /// The threads' stacks.
    pub(in crate::capture) stacks: Vec<OfThread>,
    /// Whether the allocator rounds sizes up to the classes of mimalloc and jemalloc.
    pub(in crate::capture) has_classes: bool,
}

/// The names of a process's threads by their numbers.
pub(in crate::capture) type Names = Vec<(i32, String)>;

/// Reads the names of a process's threads.
pub(in crate::capture) fn names(process: i32) -> Names {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return Names::new() };
    let name = |task: fs::DirEntry| {
        let name = fs::read(task.path().join("comm")).ok()?;
        let id = task.file_name().to_str()?.parse().ok()?;
        Some((id, String::from_utf8_lossy(name.trim_ascii_end()).into_owned()))
    };
    tasks.filter_map(|task| name(task.ok()?)).collect()
}

/// Where a thread's stack is.
#[derive(Clone, Debug, Default)]
pub(in crate::capture) struct OfThread {
    /// The stack pointer.
    pub(in crate::capture) stack: u64,
    /// The base of its thread-local memory, if known.
    pub(in crate::capture) pointer: Option<u64>,
    /// Its name, if known.
    pub(in crate::capture) name: Option<String>,
}

impl OfThread {
    /// Returns `None` if the stack is not known.
    pub(in crate::capture) fn new(thread: &Thread, names: &Names) -> Option<Self> {
        let name = names.iter().find(|(id, _)| *id == thread.id).map(|(_, name)| name.clone());
        Some(Self { stack: thread.stack_pointer()?, pointer: thread.pointer, name })
    }
}

/// The anonymous resident pages of a process, to be read before the memory: a read makes pages.
pub(in crate::capture) struct Pages(Vec<(Mapping, Option<Ranges>)>);

impl Pages {
    /// Reads the mappings, and the pages of those without a file. `records` are the agent's.
    pub(in crate::capture) fn read(smaps: &str, pagemap: Option<&PageMap>, records: &[(u64, u64)]) -> Self {
        let pages = |mapping: &Mapping| {
            let is_of_agent = records.iter().any(|(start, end)| *start <= mapping.start && mapping.end <= *end);
            let is_divided = mapping.is_anonymous() && mapping.resident > 0 && !is_of_agent;
            (is_divided && mapping.end - mapping.start <= MOST).then(|| present(pagemap, mapping)).flatten()
        };
        Self(mappings(smaps).into_iter().map(|mapping| (mapping.clone(), pages(&mapping))).collect())
    }
}

impl Pages {
    /// Takes the pages of a process whose memory was copied. Those without a file are the copied ones; `smaps`, which may be
    /// read later, tells how much of each file is resident.
    pub(in crate::capture) fn copied(maps: &[Mapping], smaps: &[Mapping], memory: &Copied) -> Self {
        let pages = |map: &Mapping| {
            let (resident, pages) = if map.is_anonymous() {
                let pages = Ranges::new(memory.copied(map.start, map.end).collect());
                (pages.bytes(), Some(pages))
            } else {
                let same = smaps.iter().find(|mapping| (mapping.start, mapping.end) == (map.start, map.end));
                (same.map_or(0, |mapping| mapping.resident), None)
            };
            (Mapping { resident, ..map.clone() }, pages)
        };
        Self(maps.iter().map(pages).collect())
    }
}

/// Returns the pages of a mapping that are in memory.
fn present(pagemap: Option<&PageMap>, mapping: &Mapping) -> Option<Ranges> {
    const AT_ONCE: u64 = 1 << 16;
    let mut found: Vec<(u64, u64)> = Vec::new();
    let mut page = mapping.start / PAGE;
    let last = mapping.end / PAGE;
    while page < last {
        let count = usize::try_from(AT_ONCE.min(last - page)).ok()?;
        let flags = pagemap?.flags(page, count);
        if flags.len() < count {
            return None;
        }
        for flags in flags {
            if flags & PRESENT != 0 {
                let start = page * PAGE;
                match found.last_mut().filter(|last| last.1 == start) {
                    Some(last) => last.1 += PAGE,
                    None => found.push((start, start + PAGE)),
                }
            }
            page += 1;
        }
    }
    Some(Ranges(found))
}

/// Returns a note if the resident memory cannot be divided here: what is free of a page is known by pages of 4 KiB.
pub(in crate::capture) fn undivided() -> Option<String> {
    let page = arch::page() / 1024;
    (arch::page() != PAGE)
        .then(|| format!("RSS is not divided: it is counted in pages of 4 KiB, and those of this kernel have {page}"))
}

/// Divides the resident memory.
pub(in crate::capture) fn divide(pages: &Pages, sources: &Sources<'_>) -> Resident {
    let mappings = &pages.0;
    let of_agent = sources.agent.and_then(|agent| mappings.iter().find(|(mapping, _)| mapping.contains(agent)));
    let census_path = of_agent.map(|(mapping, _)| &mapping.path);
    let census_path = census_path.filter(|path| path.is_absolute());
    let is_of_agent = |path: &Path| {
        Some(path) == census_path.map(|path| &**path) || path.to_string_lossy().starts_with("/memfd:cargo-dwell-census")
    };
    let loaded: Vec<&Path> =
        mappings.iter().filter(|(mapping, _)| mapping.executable).map(|(mapping, _)| &*mapping.path).collect();
    let records = Ranges::new(sources.records.clone());
    let (heap, arenas) = heap(mappings, sources);
    let heap = heap.without(&records);
    let of_threads = sources.stacks.iter().filter_map(|thread| stack(mappings, thread.stack, thread.pointer));
    let stacks = Ranges::new(of_threads.chain(ended(mappings, sources.memory)).collect());
    let stacks = stacks.without(&records).without(&heap);

    let mut all = Resident { arenas, ..Resident::default() };
    let mut by_file: HashMap<&Path, u64> = HashMap::new();
    let (mut of_heap, mut of_stacks, mut of_mapped) = (Vec::new(), Vec::new(), Vec::new());
    // The file of the mapping that ends where the next one starts.
    let mut before: Option<(u64, &Path)> = None;
    for (mapping, present) in mappings {
        let behind = before.take().filter(|(end, _)| *end == mapping.start).map(|(_, path)| path);
        let path: &Path = &mapping.path;
        if !mapping.is_anonymous() {
            before = Some((mapping.end, path));
            let part = if is_of_agent(path) {
                &mut all.census
            } else if loaded.contains(&path) {
                &mut all.program
            } else {
                *by_file.entry(path).or_default() += mapping.resident;
                &mut all.files
            };
            *part += mapping.resident;
            continue;
        }
        let Some(present) = present else {
            let is_of_agent = records.bytes_in(mapping.start, mapping.end) > 0;
            *(if is_of_agent { &mut all.census } else { &mut all.mapped }) += mapping.resident;
            // Which of its pages are resident is not known: its start stands for them.
            of_mapped.extend((!is_of_agent).then_some((mapping.start, mapping.start + mapping.resident)));
            continue;
        };
        let statics = behind.filter(|path| loaded.contains(path));
        if let Some(path) = statics.filter(|_| heap.bytes_in(mapping.start, mapping.end) == 0) {
            *(if is_of_agent(path) { &mut all.census } else { &mut all.program }) += mapping.resident;
            continue;
        }
        let is_named = |name: &str| path == Path::new(name);
        if is_named("[vdso]") || is_named("[vvar]") || is_named("[vsyscall]") {
            all.program += mapping.resident;
            continue;
        }
        let rest = present.without(&records);
        let in_records = present.bytes() - rest.bytes();
        let in_heap = rest.and(&heap);
        let rest = rest.without(&heap);
        let in_stacks = if is_named("[stack]") { rest.clone() } else { rest.and(&stacks) };
        let mapped = rest.without(&in_stacks);
        of_mapped.extend_from_slice(mapped.all());
        let mapped = mapped.bytes();
        all.census += in_records;
        all.stacks += in_stacks.bytes();
        of_stacks.extend_from_slice(in_stacks.all());
        // The kernel does not count pages that were never written; and a copy lacks what is shared or excluded from it.
        let unwritten = present.bytes().saturating_sub(mapping.resident);
        let unwritten_in_heap = unwritten.min(in_heap.bytes());
        all.unwritten += unwritten_in_heap;
        all.mapped += mapped.saturating_sub(unwritten - unwritten_in_heap);
        all.mapped += mapping.resident.saturating_sub(present.bytes());
        of_heap.extend_from_slice(in_heap.all());
    }
    all.threads =
        stacks.0.len() as u64 + u64::from(mappings.iter().any(|(mapping, _)| mapping.path == Path::new("[stack]")));
    all.by_file = by_file.into_iter().map(|(path, bytes)| (path.display().to_string(), bytes)).collect();
    all.by_file.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    all.by_thread = by_thread(mappings, &sources.stacks, &Ranges::new(of_stacks));
    all.pages = Ranges::new(of_mapped);
    all.by_stack = by_stack(&sources.mapped, &all.pages);
    all.heap = Ranges::new(of_heap);
    chunks(&mut all, mappings, sources);
    all
}

/// Returns the stack of a thread: from its mapping's start to the thread's control block, which glibc puts at its end.
fn stack(mappings: &[(Mapping, Option<Ranges>)], stack: u64, thread: Option<u64>) -> Option<(u64, u64)> {
    let (mapping, _) = mappings.iter().find(|(mapping, _)| mapping.contains(stack))?;
    let end = thread.filter(|thread| mapping.contains(*thread) && *thread > stack);
    let end = end.map_or(mapping.end, |thread| (thread + AROUND.1).next_multiple_of(PAGE).min(mapping.end));
    mapping.is_anonymous().then_some((mapping.start, end))
}

/// Returns the resident bytes of stacks by the names of their threads, with the number of these, most bytes first.
fn by_thread(
    mappings: &[(Mapping, Option<Ranges>)],
    of_threads: &[OfThread],
    stacks: &Ranges,
) -> Vec<(String, u64, u64)> {
    let mut found: HashMap<&str, (u64, u64)> = HashMap::new();
    let mut seen = HashSet::new();
    for thread in of_threads {
        let (Some(name), Some((start, end))) = (&thread.name, stack(mappings, thread.stack, thread.pointer)) else {
            continue;
        };
        if seen.insert(start) {
            let (threads, bytes) = found.entry(name).or_default();
            *threads += 1;
            *bytes += stacks.bytes_in(start, end);
        }
    }
    let mut all: Vec<_> = found.into_iter().map(|(name, (threads, bytes))| (name.to_owned(), threads, bytes)).collect();
    all.sort_by(|a, b| (b.2, &a.0).cmp(&(a.2, &b.0)));
    all
}

/// Returns the resident bytes of what was mapped by hand by the call stack that mapped it.
fn by_stack(mapped: &[(u64, u64, u32)], pages: &Ranges) -> Vec<(u32, u64)> {
    let mut mapped = mapped.to_vec();
    mapped.sort_unstable();
    let mut found: HashMap<u32, u64> = HashMap::new();
    for (index, &(start, end, stack)) in mapped.iter().enumerate() {
        // A later mapping may have replaced the rest of an earlier one.
        let end = mapped.get(index + 1).map_or(end, |next| end.min(next.0));
        *found.entry(stack).or_default() += pages.bytes_in(start, end);
    }
    let mut all: Vec<_> = found.into_iter().filter(|(_, bytes)| *bytes > 0).collect();
    all.sort_unstable();
    all
}

/// Returns the stacks of threads that are not known: those that ended with the program, and those that glibc keeps for later
/// threads. A stack is above pages that cannot be read, and a thread's control block at its end has its own address in two
/// fields.
fn ended(mappings: &[(Mapping, Option<Ranges>)], memory: &dyn Memory) -> Vec<(u64, u64)> {
    /// A larger stack is not searched.
    const SEARCHED: u64 = 64 << 20;
    /// The alignment of a control block, and the bytes of a page.
    const STEP: usize = 64;
    const LENGTH: usize = 4096;
    let mut found = Vec::new();
    for pair in mappings.windows(2) {
        let [(guard, _), (mapping, Some(pages))] = pair else { continue };
        let is_guarded = guard.end == mapping.start && !guard.readable && guard.is_anonymous();
        if !is_guarded || !mapping.path.as_os_str().is_empty() {
            continue;
        }
        let inside = pages.0.iter().flat_map(|(start, end)| (*start..*end).step_by(LENGTH));
        let control_block = inside.take_while(|page| page - mapping.start < SEARCHED).find_map(|page| {
            let mut bytes = [0; LENGTH];
            let read = memory.read(page, &mut bytes);
            let word = |at: usize| {
                bytes[..read].get(at..at + 8).and_then(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
            };
            let is_own = |at: &usize| [0, 16].iter().all(|field| word(at + field) == Some(page + *at as u64));
            (0..LENGTH).step_by(STEP).find(is_own).map(|at| page + at as u64)
        });
        found.extend(control_block.and_then(|thread| stack(mappings, mapping.start, Some(thread))));
    }
    found
}

/// Returns the address ranges of allocators, and the heaps of arenas of glibc.
fn heap(mappings: &[(Mapping, Option<Ranges>)], sources: &Sources<'_>) -> (Ranges, Vec<(u64, u64)>) {
    let mut ranges = Vec::new();
    let mut arenas = Vec::new();
    for (mapping, _) in mappings.iter().filter(|(mapping, _)| mapping.is_anonymous() && mapping.readable) {
        let range = (mapping.start, mapping.end);
        if mapping.path == Path::new("[heap]") {
            ranges.push(range);
        } else if mapping.resident > 0 && mapping.end - mapping.start <= MOST {
            arenas.extend(glibc::heaps(sources.memory, range));
        }
    }
    ranges.extend_from_slice(&arenas);
    let known = Ranges::new(ranges.clone());
    for block in sources.blocks {
        if known.bytes_in(block.addr, block.addr + 1) > 0 {
            continue;
        }
        if ranges.last().is_some_and(|range| (range.0..range.1).contains(&block.addr)) {
            continue;
        }
        // Another allocator: its whole mapping. The last mapping that starts before the block contains it.
        let index = mappings.partition_point(|(mapping, _)| mapping.start <= block.addr);
        let mapping = index.checked_sub(1).map(|index| &mappings[index].0);
        let whole = mapping.filter(|mapping| mapping.is_anonymous()).map(|mapping| (mapping.start, mapping.end));
        ranges.extend(glibc::mapped(sources.memory, block).or(whole));
    }
    (Ranges::new(ranges), arenas)
}

/// Finds what each block takes, the caches of threads, and what `malloc_trim` would return.
fn chunks(all: &mut Resident, mappings: &[(Mapping, Option<Ranges>)], sources: &Sources<'_>) {
    all.taken = sources.blocks.iter().map(|block| (block.addr, block.addr.saturating_add(block.size))).collect();
    let mut is_known = vec![false; sources.blocks.len()];
    let inside = |(start, end): (u64, u64)| {
        let first = sources.blocks.partition_point(|block| block.addr < start);
        first..sources.blocks.partition_point(|block| block.addr < end)
    };
    let main = mappings.iter().filter(|(mapping, _)| mapping.path == Path::new("[heap]"));
    let main = main.map(|(mapping, _)| ((mapping.start, mapping.end), true));
    let ranges: Vec<_> = main.chain(all.arenas.iter().map(|range| (*range, false))).collect();
    let mut heaps = Vec::new();
    let mut is_whole = true;
    for &(range, is_main) in &ranges {
        let blocks = inside(range);
        let first = sources.blocks[blocks.clone()].first();
        let starts = if is_main { vec![range.0] } else { glibc::starts(sources.memory, range.0, first) };
        let of_heap = &sources.blocks[blocks.clone()];
        let walked = starts.iter().find_map(|start| glibc::walk(sources.memory, (*start, range.1), of_heap));
        let Some(heap) = walked else {
            // Without blocks nothing is known that must fit.
            if blocks.is_empty() {
                continue;
            }
            is_whole = false;
            continue;
        };
        for (number, size) in blocks.clone().zip(&heap.chunks) {
            // Its own size, up to the size of the next chunk.
            let start = sources.blocks[number].addr - 8;
            all.taken[number] = (start, start + size);
        }
        is_known[blocks].fill(true);
        heaps.push((heap, is_main));
    }
    let mut cached: Vec<(u64, u64)> = Vec::new();
    for at in heaps.iter().flat_map(|(heap, _)| &heap.caches) {
        cached.extend(glibc::cache(sources.memory, *at, &ranges).unwrap_or_default());
    }
    cached.sort_unstable();
    let trimmed = heaps.iter().flat_map(|(heap, is_main)| glibc::trimmed(heap, &cached, *is_main));
    let trimmed = trimmed.map(|(start, end)| all.heap.bytes_in(start, end)).sum();
    all.cached = Ranges::new(cached).and(&all.heap);
    for (number, block) in sources.blocks.iter().enumerate() {
        if is_known[number] {
            continue;
        }
        if let Some(range) = glibc::mapped(sources.memory, block) {
            all.taken[number] = range;
            is_known[number] = true;
        }
    }
    // C code uses glibc beside another allocator of Rust.
    all.trim = (is_whole && !heaps.is_empty()).then_some(trimmed);
    if sources.has_classes {
        classes::round(sources.blocks, &is_known, &mut all.taken);
    }
}
