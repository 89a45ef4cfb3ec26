//! Reads the agent's records from a copy of the process.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "halves of words are taken on purpose, and `usize` has 64 bits where this runs"
)]

use super::maps::{Mapping, mappings};
use super::pagemap::{PAGE, PRESENT, PageMap, SWAPPED};
use super::resident::{self, Names, OfThread, Pages, Resident, Sources};
use super::{Block, Memory, Module, Moment, Snapshot, Thread};
use crate::agent::hooks;
use crate::agent::layout::{
    self, ADDRESSES, Allocator, COUNTED, Counts, ENTRY, FRAMES, GRANULE, LEDGER_BYTES, LEDGERS, PAIRS, Pair, SHARDS,
    Shard, Slot, State,
};
use crate::arch::{self, AROUND};
use anyhow::{Context, Result, bail};
use std::collections::HashMap;
use std::fs::{self, File};
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stopped process: a copy of the program, or the agent's helper after the end of the program. It is killed on drop.
pub(crate) struct Process {
    pid: i32,
    memory: File,
    /// An open end of the socket: all copies exit when it is closed.
    _socket: Arc<std::os::fd::OwnedFd>,
}

impl Process {
    /// Opens the memory of a child process.
    pub(crate) fn new(pid: i32, socket: Arc<std::os::fd::OwnedFd>) -> Result<Self> {
        let path = format!("/proc/{pid}/mem");
        let opened = File::open(&path);
        let memory = match opened {
            Ok(memory) => memory,
            Err(error) => {
                end(pid);
                bail!(
                    "the copy of the program cannot be read ({path}: {error}); run this as the program's user, where /proc \
                     is mounted and ptrace is allowed"
                );
            }
        };
        Ok(Self { pid, memory, _socket: socket })
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        end(self.pid);
    }
}

/// Kills a copy or the helper and reaps it.
pub(crate) fn end(pid: i32) {
    if pid <= 0 {
        return;
    }
    // SAFETY: the call accesses no memory of this process. The child was not waited for yet, so the id is still its
    // own.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    let mut status = 0;
    // SAFETY: the call writes the status to a local.
    unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
}

/// The error if the memory of the agent's records cannot be read.
pub(crate) const NO_RECORDS: &str = "the agent's records cannot be read from the program's memory";

/// The memory of a [`Process`].
pub(crate) struct ProcessMemory(pub(crate) Arc<Process>);

impl Memory for ProcessMemory {
    fn read(&self, addr: u64, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let Some(at) = addr.checked_add(done as u64).filter(|at| *at < ADDRESSES) else { break };
            match self.0.memory.read_at(&mut into[done..], at) {
                Ok(read) if read > 0 => done += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        done
    }
}

/// The data of a snapshot apart from its memory.
#[derive(Clone, Debug)]
pub(crate) struct About {
    pub(crate) at: Moment,
    /// The time of the monotonic clock.
    pub(crate) nanos: u64,
    /// The stack pointers of threads, if known.
    pub(crate) stacks: Vec<u64>,
    /// The thread pointers of known threads.
    pub(crate) threads: Vec<u64>,
    /// The registers of the threads, if they were stopped.
    pub(crate) registers: Vec<Thread>,
    /// The address of the agent's [`State`].
    pub(crate) state: u64,
    pub(crate) bias: u64,
    pub(crate) executable: PathBuf,
    /// The names of its threads at that moment.
    pub(crate) names: Names,
    /// `smaps` of the program at that moment, if it was read. A copy has no pages of files.
    pub(crate) smaps: Option<String>,
    /// Whether the copy is being written to disk.
    pub(crate) is_on_its_way: bool,
    /// The allocator that is linked statically.
    pub(crate) allocator: Option<Allocator>,
}

/// A copy of a process: its mappings, which of its pages exist, and its memory.
pub(crate) struct Source {
    pub(crate) maps: Vec<Mapping>,
    pub(crate) pagemap: Option<PageMap>,
    pub(crate) memory: Box<dyn Memory + Send>,
}

impl Source {
    /// Reads a process.
    pub(crate) fn open(process: Arc<Process>) -> Result<Self> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid))
            .context("the mappings of the program's copy cannot be read")?;
        let (maps, pagemap) = (mappings(&maps), PageMap::open(process.pid));
        Ok(Self { maps, pagemap, memory: Box::new(ProcessMemory(process)) })
    }

    /// Returns the ranges that [`snapshot`] reads.
    pub(crate) fn wanted(&self, about: &About) -> Result<Vec<(u64, u64)>> {
        let state = WordArray::read(&*self.memory, about.state, size_of::<State>()).context(NO_RECORDS)?;
        let bases = bases(&state);
        let fixed = bases.into_iter().chain(ledgers(&*self.memory, &state));
        let of_pages = |(start, end): (u64, u64)| (start / PAGE * PAGE, end.next_multiple_of(PAGE));
        let own: Vec<_> = fixed.map(|(start, len)| (start, start.saturating_add(len))).collect();
        let mut all = Vec::new();
        for (start, end) in without(self.maps.iter().filter(|map| map.private), &own) {
            all.push((start, end));
            all.push(of_pages((to_shadow(bases[0].0, start), to_shadow(bases[0].0, end))));
        }
        for (base, len) in [(bases[1].0, offset_of!(State, pairs_len)), (bases[2].0, offset_of!(State, frames_len))] {
            all.push(of_pages((base, base.saturating_add(state.get(len / 8).min(FRAMES) * 8))));
        }
        // The ranges of the shadow touch.
        all.sort_unstable();
        all.dedup_by(|next, last| {
            let joins = next.0 <= last.1;
            last.1 = if joins { last.1.max(next.1) } else { last.1 };
            joins
        });
        Ok(all)
    }
}

/// Returns the address and the length of the shadow, the pairs and the frames.
fn bases(state: &WordArray) -> [(u64, u64); 3] {
    let word = |at: usize| state.get(at / 8);
    [
        (word(offset_of!(State, shadow)), word(offset_of!(State, addresses)).min(ADDRESSES) / GRANULE * ENTRY),
        (word(offset_of!(State, pairs)), PAIRS * 8),
        (word(offset_of!(State, frames)), FRAMES * 8),
    ]
}

/// Returns the addresses and the lengths of the threads' counts.
fn ledgers(memory: &dyn Memory, state: &WordArray) -> Vec<(u64, u64)> {
    let word = |at: usize| state.get(at / 8);
    let count = word(offset_of!(State, ledgers_len)).min(LEDGERS) as usize;
    let bytes = LEDGER_BYTES as u64 + COUNTED * size_of::<Counts>() as u64;
    let read = (count > 0).then(|| WordArray::read(memory, word(offset_of!(State, ledgers)), count * 8)).flatten();
    read.map_or_else(Vec::new, |all| (0..count).map(|number| (all.get(number), bytes)).collect())
}

/// Reads the live blocks with their call stacks.
pub(crate) fn snapshot(source: Source, about: &About) -> Result<Snapshot> {
    bounded(source, about, usize::MAX).map(|(snapshot, _)| snapshot)
}

/// Reads at most about so many of the live blocks. Also returns the mean number of bytes between two of them, if that are not all.
pub(crate) fn bounded(source: Source, about: &About, most: usize) -> Result<(Snapshot, Option<u64>)> {
    let Source { maps, pagemap, memory } = source;
    let state = WordArray::read(&*memory, about.state, size_of::<State>()).context(NO_RECORDS)?;
    let word = |at: usize| state.get(at / 8);
    let bases = bases(&state);
    let fixed: Vec<_> = bases.into_iter().chain(ledgers(&*memory, &state)).collect();
    // Before the memory is read, since a read makes pages.
    let records = records(&fixed, &state);
    // A sample of the blocks does not tell which bytes are free.
    let is_sampled = word(offset_of!(State, sample)) != 0;
    let smaps = about.smaps.as_ref().filter(|_| !is_sampled && arch::page() == PAGE);
    let pages = smaps.map(|smaps| Pages::read(smaps, pagemap.as_ref(), &records));

    let pairs_len = word(offset_of!(State, pairs_len)).min(PAIRS);
    let frames_len = word(offset_of!(State, frames_len)).min(FRAMES);
    let pairs = WordArray::read(&*memory, bases[1].0, pairs_len as usize * size_of::<Pair>()).context(NO_RECORDS)?;
    let frames = WordArray::read(&*memory, bases[2].0, frames_len as usize * 8).context(NO_RECORDS)?;
    let weights = word(offset_of!(State, sample));

    let mut stacks = Stacks { frames: &frames, known: HashMap::default(), found: Vec::new() };
    let mut chosen = Chosen::new(weights, most);
    let own: Vec<_> = fixed.iter().map(|(start, len)| (*start, start.saturating_add(*len))).collect();
    for (start, end) in without(maps.iter().filter(|map| !map.path.starts_with("/usr")), &own) {
        shadow(&*memory, pagemap.as_ref(), bases[0].0, (start, end), &mut |addr, number| {
            let pair = pairs.get(number as usize);
            if number == 0 || u64::from(number) >= pairs_len {
                return;
            }
            let (stack, size) = (pair as u32, pair >> 32);
            chosen.add(addr, size, || stacks.number(stack));
        });
    }
    for shard in 0..SHARDS {
        slots(&*memory, &state, of_shard(shard), |[addr, size, stack]| {
            chosen.add(addr, size, || stacks.number(stack as u32));
        });
    }
    let mut mapped = Vec::new();
    slots(&*memory, &state, offset_of!(State, mapped), |[addr, size, stack]| {
        mapped.push((addr, addr.saturating_add(size), stacks.number(stack as u32)));
    });
    let mean = chosen.mean;
    let mut blocks = chosen.weighted();
    blocks.sort_unstable_by_key(|block| (block.addr, block.size));
    // If a free was missed, its block may overlap others. Keep the first of overlapping blocks.
    let mut end = 0;
    blocks.retain(|block| {
        let fits = block.addr >= end;
        end = if fits { block.addr.saturating_add(block.size.max(1)) } else { end };
        fits
    });

    let stacks = stacks.found;
    let mut roots: Vec<(u64, u64)> = Vec::new();
    let holding = |addr: u64| maps.iter().find(|map| map.readable && (map.start..map.end).contains(&addr));
    for stack in &about.stacks {
        roots.extend(holding(*stack).map(|map| (*stack & !7, map.end)));
    }
    for thread in &about.threads {
        roots.extend(
            holding(*thread).map(|map| {
                (map.start.max(thread.saturating_sub(AROUND.0)), map.end.min(thread.saturating_add(AROUND.1)))
            }),
        );
    }
    roots.sort_unstable();
    roots.dedup();
    let start = word(offset_of!(State, start_nanos));
    let live_bytes = blocks.iter().map(|block| block.size * u64::from(block.weight)).sum();
    let threads = threads(&*memory, &maps, about);
    let thinned = Some(mean).filter(|mean| *mean != weights);
    let resident = pages.filter(|_| thinned.is_none()).map(|pages| {
        let known = threads.iter().filter_map(|thread| OfThread::new(thread, &about.names));
        let others = about.stacks.iter().map(|stack| OfThread { stack: *stack, ..OfThread::default() });
        let (blocks, stacks) = (blocks.as_slice(), known.chain(others).collect());
        let has_classes = matches!(about.allocator, Some(Allocator::Mimalloc | Allocator::Jemalloc));
        let agent = Some(about.state);
        resident::divide(&pages, &Sources { memory: &*memory, blocks, records, mapped, agent, stacks, has_classes })
    });
    let anonymous = resident.iter().flat_map(|resident| resident.heap.all().iter().chain(resident.pages.all()));
    let snapshot = Snapshot {
        anonymous: anonymous.copied().collect(),
        at: about.at.clone(),
        millis: about.nanos.saturating_sub(start) / 1_000_000,
        live_bytes,
        live_blocks: blocks.iter().map(|block| u64::from(block.weight)).sum(),
        peak_bytes: word(offset_of!(State, peak)).max(live_bytes),
        blocks,
        stacks,
        modules: modules(&maps, about),
        roots,
        threads,
        usable: None,
        memory: Box::new(Copy { memory, resident }),
    };
    Ok((snapshot, thinned))
}

/// Returns the offset of a shard in [`State`].
const fn of_shard(shard: usize) -> usize {
    offset_of!(State, shards) + shard * size_of::<Shard>()
}

/// Calls `each` with the slots that are in use of a [`Shard`] at an offset of the state.
fn slots(memory: &dyn Memory, state: &WordArray, at: usize, mut each: impl FnMut([u64; 3])) {
    let word = |field: usize| state.get((at + field) / 8);
    let (addr, count) = (word(offset_of!(Shard, slots)), word(offset_of!(Shard, mask)).wrapping_add(1));
    if addr == 0 || count > 1 << 32 {
        return;
    }
    let Some(slots) = WordArray::read(memory, addr, count as usize * size_of::<Slot>()) else { return };
    let (slots, _) = slots.0.as_chunks::<3>();
    slots.iter().filter(|[addr, ..]| *addr > layout::TOMBSTONE).for_each(|slot| each(*slot));
}

/// A copy of a process, and what its resident memory is for.
pub(super) struct Copy {
    pub(super) memory: Box<dyn Memory + Send>,
    pub(super) resident: Option<Resident>,
}

impl Memory for Copy {
    fn read(&self, addr: u64, into: &mut [u8]) -> usize {
        self.memory.read(addr, into)
    }

    fn around(&self, addr: u64) -> Option<(u64, &[u8])> {
        self.memory.around(addr)
    }

    fn resident(&self) -> Option<&Resident> {
        self.resident.as_ref()
    }
}

/// Returns the address ranges of the agent's records: the `fixed` ones, the tables of large blocks, and others.
fn records(fixed: &[(u64, u64)], state: &WordArray) -> Vec<(u64, u64)> {
    let word = |at: usize| state.get(at / 8);
    let shard = |at: usize| {
        let count = word(at + offset_of!(Shard, mask)).wrapping_add(1);
        (word(at + offset_of!(Shard, slots)), count.saturating_mul(size_of::<Slot>() as u64))
    };
    let table = |number: usize| {
        let at = offset_of!(State, tables) + number * 16;
        (word(at), word(at + 8))
    };
    let all = fixed
        .iter()
        .copied()
        .chain((0..SHARDS).map(of_shard).chain([offset_of!(State, mapped)]).map(shard))
        .chain((0..layout::TABLES).map(table));
    all.filter(|(start, _)| *start != 0)
        .map(|(start, len)| (start, start.saturating_add(len).next_multiple_of(4096)))
        .collect()
}

/// Returns the threads with their thread pointers. That of a thread whose registers are not known is found by its control
/// block, which glibc puts at the end of the stack.
fn threads(memory: &dyn Memory, maps: &[Mapping], about: &About) -> Vec<Thread> {
    const SEARCHED: u64 = 16 << 10;
    let holding = |addr: u64| maps.iter().find(|map| map.readable && (map.start..map.end).contains(&addr));
    let control_block = |thread: &Thread, start: u64, end: u64| {
        let start = start.next_multiple_of(16);
        let words = WordArray::read(memory, start, end.checked_sub(start)? as usize)?;
        let addr = |at: usize| start + 8 * at as u64;
        let is_own = |at: &usize| arch::is_control_block(|word| words.get(at + word), addr(*at), thread.id);
        (0..words.0.len()).step_by(2).rev().find(is_own).map(addr)
    };
    let is_main = |stack: u64| holding(stack).is_some_and(|map| map.path == Path::new("[stack]"));
    let main = about.threads.first().copied();
    // In which distance of the pointer the block is found, is the same for all threads.
    let distance = arch::TO_POINTER.or_else(|| {
        let thread = about.registers.iter().find(|thread| thread.stack_pointer().is_some_and(is_main))?;
        let start = holding(main?)?.start.max(main?.checked_sub(AROUND.0)?);
        main?.checked_sub(control_block(thread, start, main?)?)
    });
    let pointer = |thread: &Thread| {
        let stack = thread.stack_pointer()?;
        if is_main(stack) {
            return main;
        }
        let map = holding(stack)?;
        control_block(thread, map.end.checked_sub(SEARCHED)?.max(map.start), map.end)?.checked_add(distance?)
    };
    let known = |thread: &Thread| Thread { pointer: thread.pointer.or_else(|| pointer(thread)), ..thread.clone() };
    about.registers.iter().map(known).collect()
}

/// Returns the mapped files, the executable first.
pub(crate) fn files(process: &Process, about: &About) -> Result<Vec<Module>> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid))
        .context("the mappings of the program cannot be read")?;
    Ok(modules(&mappings(&maps), about))
}

/// Returns the live bytes in the last copy at the peak, those that the threads have reported so far, and the most of these.
pub(crate) fn live(process: &Arc<Process>, state: u64) -> Option<[i64; 3]> {
    let words = WordArray::read(&ProcessMemory(Arc::clone(process)), state, size_of::<State>())?;
    Some(
        [offset_of!(State, taken), offset_of!(State, live), offset_of!(State, peak)].map(|at| words.get(at / 8) as i64),
    )
}

/// Returns the libraries with Rust code that contain an allocator: only functions of the executable are hooked.
pub(crate) fn with_allocator(process: &Process, about: &About) -> Vec<PathBuf> {
    let modules = files(process, about).unwrap_or_default();
    let libraries = super::rust(&modules).filter(|module| !module.is_executable).map(|module| module.path.clone());
    libraries.filter(|file| fs::read(file).is_ok_and(|data| hooks::plan(&data, &[]).allocator.is_some())).collect()
}

/// Checks whether code of the executable has ever allocated a block. Returns `None` if its memory cannot be read.
pub(crate) fn saw_executable(process: &Arc<Process>, about: &About) -> Option<bool> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid)).ok()?;
    let modules = modules(&mappings(&maps), about);
    let executable = modules.first().filter(|module| module.path == about.executable)?;
    let memory = ProcessMemory(Arc::clone(process));
    let state = WordArray::read(&memory, about.state, size_of::<State>())?;
    let word = |at: usize| state.get(at / 8);
    let frames_len = word(offset_of!(State, frames_len)).min(FRAMES) as usize;
    let frames = WordArray::read(&memory, word(offset_of!(State, frames)), frames_len * 8)?;
    let mut at = 1;
    while at < frames_len {
        let word = frames.get(at);
        let len = length(word);
        // glibc also allocates in the program's threads, so the innermost frame decides.
        if len > 0 && word & layout::OF_MAPPING == 0 && (executable.start..executable.end).contains(&frames.get(at + 1))
        {
            return Some(true);
        }
        at += 1 + len;
    }
    Some(false)
}

/// The blocks that are read: all, or if those were too many, a sample of them as the agent makes one.
struct Chosen {
    blocks: Vec<Block>,
    most: usize,
    /// The mean number of bytes between two blocks that were recorded, and between two that are kept; 0 for all.
    recorded: u64,
    mean: u64,
}

impl Chosen {
    /// The least number of blocks that is worth a report.
    const LEAST: usize = 20_000;

    fn new(recorded: u64, most: usize) -> Self {
        Self { blocks: Vec::new(), most: most.max(Self::LEAST), recorded, mean: recorded }
    }

    /// Whether a block is kept is told by its address, so that a block that a larger mean keeps is kept by each smaller one.
    fn keeps(&self, addr: u64, size: u64) -> bool {
        let mixed = (addr ^ addr >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let uniform = ((mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb) >> 11) as f64 / (1_u64 << 53) as f64;
        uniform * chance(size, self.recorded) < chance(size, self.mean)
    }

    fn add(&mut self, addr: u64, size: u64, stack: impl FnOnce() -> u32) {
        const FIRST: u64 = 64;
        const LAST: u64 = 1 << 40;
        if self.mean != self.recorded && !self.keeps(addr, size) {
            return;
        }
        self.blocks.push(Block { addr, size, stack: stack(), weight: 1 });
        while self.blocks.len() > self.most && self.mean < LAST {
            self.mean = self.mean.saturating_mul(2).max(FIRST);
            let blocks = std::mem::take(&mut self.blocks);
            self.blocks = blocks.into_iter().filter(|block| self.keeps(block.addr, block.size)).collect();
        }
    }

    fn weighted(self) -> Vec<Block> {
        let mut blocks = self.blocks;
        for block in &mut blocks {
            block.weight = weight(block.addr, block.size, self.mean);
        }
        blocks
    }
}

/// Returns the probability that a block is in a sample with so many bytes between two blocks; 0 for all.
fn chance(size: u64, mean: u64) -> f64 {
    if mean == 0 || size == 0 { 1.0 } else { -(-(size as f64) / mean as f64).exp_m1() }
}

/// Returns the number of blocks that a sampled block represents: the inverse of its probability, `1 - exp(-size /
/// mean)`. A hash of the block's address decides the rounding, so that sums are unbiased.
#[expect(clippy::cast_sign_loss, reason = "it is at least 1")]
fn weight(block: u64, size: u64, mean: u64) -> u32 {
    if mean == 0 || size == 0 {
        return 1;
    }
    let inverse = 1.0 / chance(size, mean);
    let uniform = ((block ^ size).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1_u64 << 53) as f64;
    (inverse + uniform).floor().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// Some words of the process's memory.
struct WordArray(Vec<u64>);

impl WordArray {
    fn read(memory: &dyn Memory, addr: u64, bytes: usize) -> Option<Self> {
        let mut raw = vec![0; bytes.next_multiple_of(8)];
        (memory.read(addr, &mut raw[..bytes]) == bytes).then(|| {
            let (words, _) = raw.as_chunks::<8>();
            Self(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
        })
    }

    /// Returns the word at an index; 0 beyond the end.
    fn get(&self, index: usize) -> u64 {
        self.0.get(index).copied().unwrap_or_default()
    }
}

/// Returns the number of frames of a call stack by its first word.
fn length(word: u64) -> usize {
    (word & !layout::OF_MAPPING).min(layout::DEPTH as u64) as usize
}

/// The call stacks of blocks, numbered in order of appearance.
struct Stacks<'f> {
    frames: &'f WordArray,
    known: HashMap<u32, u32>,
    found: Vec<Vec<u64>>,
}

impl Stacks<'_> {
    fn number(&mut self, at: u32) -> u32 {
        *self.known.entry(at).or_insert_with(|| {
            let len = if at == 0 { 0 } else { length(self.frames.get(at as usize)) };
            self.found.push((1..=len).map(|index| self.frames.get(at as usize + index)).collect());
            self.found.len() as u32 - 1
        })
    }
}

/// Returns the parts of readable mappings that can contain blocks, which excludes the ranges in `own`.
fn without<'m>(maps: impl Iterator<Item = &'m Mapping>, own: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut parts = Vec::new();
    for map in maps.filter(|map| map.readable) {
        let mut start = map.start;
        let mut cuts: Vec<_> = own.iter().filter(|(from, to)| *from < map.end && *to > map.start).collect();
        cuts.sort_unstable();
        for (from, to) in cuts {
            if *from > start {
                parts.push((start, *from));
            }
            start = start.max(*to);
        }
        if start < map.end {
            parts.push((start, map.end));
        }
    }
    parts
}

/// Returns the address of the shadow's entry for an address.
fn to_shadow(base: u64, addr: u64) -> u64 {
    base.saturating_add(addr / GRANULE * ENTRY)
}

/// Calls `found` with each block in the shadow for an address of a range.
fn shadow(
    memory: &dyn Memory,
    pagemap: Option<&PageMap>,
    base: u64,
    (start, end): (u64, u64),
    found: &mut dyn FnMut(u64, u32),
) {
    const AT_ONCE: u64 = 1 << 16;
    let (first, last) = (to_shadow(base, start) / PAGE, to_shadow(base, end).div_ceil(PAGE));
    let mut bytes = Vec::new();
    let mut page = first;
    while page < last {
        let count = AT_ONCE.min(last - page);
        let flags = match pagemap {
            Some(pagemap) => pagemap.flags(page, count as usize),
            None => vec![PRESENT; count as usize],
        };
        let mut index = 0;
        let exists = |index: usize| flags.get(index).is_some_and(|flags| flags & (PRESENT | SWAPPED) != 0);
        while index < flags.len() {
            if !exists(index) {
                index += 1;
                continue;
            }
            let run = (index..flags.len()).take_while(|index| exists(*index)).take(256).count();
            bytes.resize(run * PAGE as usize, 0);
            let at = (page + index as u64) * PAGE;
            let read = memory.read(at, &mut bytes);
            let (numbers, _) = bytes[..read].as_chunks::<4>();
            for (offset, number) in (0..).zip(numbers) {
                let number = u32::from_le_bytes(*number);
                if number != 0 {
                    let addr = (at - base) / ENTRY * GRANULE + offset * GRANULE;
                    // Pages at the boundaries belong to two ranges.
                    if (start..end).contains(&addr) {
                        found(addr, number);
                    }
                }
            }
            index += run;
        }
        page += count;
    }
}

/// Returns the mapped files, the executable first.
fn modules(maps: &[Mapping], about: &About) -> Vec<Module> {
    let is_executable = |path: &Path| same_file(path, &about.executable);
    let mut modules = super::maps::modules(maps, &is_executable, &about.executable, about.bias);
    super::maps::put_rust_first(&mut modules, maps);
    modules
}

fn same_file(left: &Path, right: &Path) -> bool {
    left == right || matches!((left.canonicalize(), right.canonicalize()), (Ok(left), Ok(right)) if left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_reserved_by_the_agent_are_excluded() {
        let map =
            |start, end| Mapping { start, end, readable: true, writable: true, private: true, ..Mapping::default() };
        let maps = [map(10, 20), map(30, 60), map(70, 80)];
        assert_eq!(without(maps.iter(), &[(40, 50), (70, 80)]), [(10, 20), (30, 40), (50, 60)]);
        assert_eq!(without(maps.iter(), &[(0, 100)]), []);
    }

    #[test]
    fn of_too_many_blocks_a_sample_with_their_sums_is_read() {
        // Small and large blocks, more than may be read.
        let read = |recorded: u64, most: usize| {
            let mut chosen = Chosen::new(recorded, most);
            for number in 0..1_000_000_u64 {
                let size = if number % 1000 == 0 { 50_000 } else { 24 + number % 50 };
                chosen.add(0x7f00_0000_0000 + 64 * number, size, || 7);
            }
            let mean = chosen.mean;
            (chosen.weighted(), mean)
        };
        let (all, mean) = read(0, usize::MAX);
        assert!(all.len() == 1_000_000 && mean == 0 && all.iter().all(|block| block.weight == 1 && block.stack == 7));
        let sum = |blocks: &[Block]| -> u64 { blocks.iter().map(|block| block.size * u64::from(block.weight)).sum() };
        let (some, mean) = read(0, 50_000);
        assert!(some.len() <= 50_000 && some.len() > 15_000 && mean >= 64, "{} {mean}", some.len());
        assert!(sum(&some).abs_diff(sum(&all)) * 50 < sum(&all), "{} {}", sum(&some), sum(&all));
        let count: u64 = some.iter().map(|block| u64::from(block.weight)).sum();
        assert!(count.abs_diff(1_000_000) < 40_000, "{count}");
        // Nearly all large ones are in it.
        assert!(some.iter().filter(|block| block.size == 50_000).count() > 950);
        // Never fewer than tell something.
        assert!(read(0, 0).0.len() > 5_000);
    }

    #[test]
    fn sample_weight_is_the_inverse_of_the_probability() {
        assert_eq!(weight(16, 100, 0), 1);
        assert_eq!(weight(16, 1 << 30, 1 << 10), 1);
        assert_eq!(weight(0, 1, 1 << 16), 65537);
        // A block of the mean size is recorded with a probability of 1 - 1/e.
        let sum: u32 = (0..1_000_000).map(|block| weight(block * 16, 4096, 4096)).sum();
        assert!((f64::from(sum) / 1e6 - 1.0 / (1.0 - (-1_f64).exp())).abs() < 1e-3, "{sum}");
    }
}
