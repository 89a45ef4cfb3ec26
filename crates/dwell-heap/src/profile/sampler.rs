//! Samples the program's processor time by `perf_event_open`, and its counts for the curve.
//!
//! A clock around each call of the allocator would mislead: it takes longer than the call, and out-of-order execution
//! moves the costs. A sample has the instruction's address and the top of the stack. The instruction is in the agent, in
//! the program's own code, or in a library. A library's code belongs to the allocator if the agent called it: the first
//! return address on the stack that is in the agent or the executable decides.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes of mappings and file numbers are far from the bounds of their types"
)]

use super::records::ReadFrom;
use super::{POINTS, Point, Samples};
use crate::agent::layout::{self, SHARED_BYTES, Shared};
use crate::arch;
use crate::capture::maps::{Mapping, code_mappings};
use crate::capture::{Memory, Module};
use anyhow::{Context, Result};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Samples a second of each thread. The number is prime, so that it does not follow a period of the program.
const FREQUENCY: u64 = 1999;
/// The bytes of the stack in a sample.
const STACK: u32 = 1024;
/// The memory for samples that are not read yet, for all processors together: without a privilege the kernel allows
/// 516 KiB.
const BUFFERS: usize = 512 << 10;
/// How often samples are read.
const ROUND: Duration = Duration::from_millis(10);

/// A thread that reads samples while the program runs.
pub(super) struct Sampler {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Found>,
}

/// What the sampler found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) curve: Vec<Point>,
    /// The samples, or the reason why there are none.
    pub(super) samples: Result<Samples, String>,
    /// The number of samples by what they have.
    raw: HashMap<Sample, u64>,
    /// The processes that the program started, and whether it became another one.
    pub(super) children: HashSet<u32>,
    pub(super) executed: bool,
}

/// A sample: the instruction, and the return addresses on the stack as far as they may decide.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Sample {
    address: u64,
    /// What a library's caller is.
    caller: Part,
}

/// A part of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Agent,
    Executable,
    Library,
    Unknown,
}

impl Sampler {
    /// Starts to sample the process. `plan` begins with the page that the agent shares.
    pub(super) fn start(pid: i32, plan: &File, every: Option<Duration>) -> Result<Self> {
        // SAFETY: the plan's seals keep the file from being truncated. The page is accessed only through atomics.
        let page = unsafe { memmap2::MmapOptions::new().len(SHARED_BYTES).map_mut(plan) };
        let page = page.context("cannot map the memory shared with the program")?;
        let over = Arc::new(AtomicBool::new(false));
        let events = Events::open(pid, STACK);
        let attached = &shared(&page).attached;
        attached.store(1, Ordering::Release);
        // SAFETY: the call does not access the word; it uses the address only to find the waiting threads.
        unsafe { libc::syscall(libc::SYS_futex, attached.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        let thread = {
            let over = Arc::clone(&over);
            std::thread::spawn(move || watch(pid, &page, events, every, &over))
        };
        Ok(Self { over, thread })
    }

    /// Ends the sampling. `modules` are the files in the process, the executable first.
    pub(super) fn finish(self, modules: &[Module], executable: &Path) -> Found {
        self.over.store(true, Ordering::Relaxed);
        let failed = || Found {
            curve: Vec::new(),
            samples: Err("the sampling thread failed".into()),
            raw: HashMap::new(),
            children: HashSet::new(),
            executed: false,
        };
        let mut found = self.thread.join().unwrap_or_else(|_| failed());
        if found.samples.is_ok() {
            found.samples = Ok(classify(&found.raw, modules, executable));
        }
        found
    }
}

/// Counts the samples by the part of the program that they are in.
fn classify(raw: &HashMap<Sample, u64>, modules: &[Module], executable: &Path) -> Samples {
    let of_allocator = std::fs::read(executable).map(|data| allocator_functions(&data)).unwrap_or_default();
    let mut samples = Samples::default();
    for (sample, count) in raw {
        let module = modules.iter().position(|module| (module.start..module.end).contains(&sample.address));
        let is_allocator = |address: u64| of_allocator.iter().any(|(start, end)| (*start..*end).contains(&address));
        let sum = match (module, part(modules, sample.address), sample.caller) {
            (_, Part::Agent, _) => &mut samples.agent,
            (Some(0), ..) if is_allocator(sample.address.wrapping_sub(modules[0].bias)) => &mut samples.allocator,
            // Code without a file is that of the patches, which the agent calls.
            (_, Part::Library | Part::Unknown, Part::Agent) => &mut samples.allocator,
            _ => &mut samples.program,
        };
        *sum += count;
    }
    samples
}

/// Returns the addresses of the functions of allocators that are linked statically.
pub(super) fn allocator_functions(data: &[u8]) -> Vec<(u64, u64)> {
    use object::{Object, ObjectSymbol};
    let Ok(file) = object::File::parse(data) else { return Vec::new() };
    let starts = ["mi_", "_mi_", "_rjem_", "rjem_", "je_", "tikv_jemalloc", "jemalloc_"];
    let is_one = |name: &str| starts.iter().any(|start| name.starts_with(start));
    file.symbols()
        .filter(|symbol| symbol.size() > 0 && symbol.name().is_ok_and(is_one))
        .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
        .collect()
}

fn is_agent(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libcensus-agent"))
}

fn part(modules: &[Module], address: u64) -> Part {
    match modules.iter().enumerate().find(|(_, module)| (module.start..module.end).contains(&address)) {
        Some((_, module)) if is_agent(&module.path) => Part::Agent,
        Some((0, _)) => Part::Executable,
        Some(_) => Part::Library,
        None => Part::Unknown,
    }
}

fn watch(pid: i32, page: &[u8], events: Result<Events, String>, every: Option<Duration>, over: &AtomicBool) -> Found {
    let started = Instant::now();
    let memory = File::open(format!("/proc/{pid}/mem")).ok().map(Live);
    let mut raw = HashMap::new();
    let mut curve: Vec<Point> = Vec::new();
    let mut interval = every.unwrap_or(ROUND);
    let mut next = interval;
    let mut maps = Maps { pid, modules: Vec::new(), read: None };
    let (mut children, mut executed) = (HashSet::new(), false);
    loop {
        let is_last = over.load(Ordering::Relaxed);
        if let Ok(events) = &events {
            events.read(pid, &mut |seen| match seen {
                Seen::At(address, stack) => {
                    let caller = maps.caller(address, stack);
                    *raw.entry(Sample { address, caller }).or_insert(0) += 1;
                }
                Seen::Called { .. } => {}
                Seen::Started(child) => {
                    children.insert(child);
                }
                Seen::Executed => executed = true,
            });
        }
        if is_last {
            break;
        }
        if started.elapsed() >= next {
            next += interval;
            let state = shared(page).state.load(Ordering::Relaxed);
            let is_armed = shared(page).status.load(Ordering::Relaxed) == layout::Status::Armed as u32;
            let blocks = memory.as_ref().filter(|_| is_armed).and_then(|memory| ReadFrom { memory, state }.blocks());
            if let Some(blocks) = blocks {
                curve.push(Point { millis: started.elapsed().as_millis() as u64, blocks });
            }
            // A long run keeps every second point.
            if every.is_none() && curve.len() >= POINTS {
                curve = curve.into_iter().skip(1).step_by(2).collect();
                interval *= 2;
            }
        }
        std::thread::sleep(ROUND.min(interval));
    }
    children.remove(&shared(page).helper.load(Ordering::Relaxed));
    Found { curve, samples: events.map(|_| Samples::default()), raw, children, executed }
}

#[expect(clippy::cast_ptr_alignment, reason = "a mapping is aligned to a page")]
fn shared(page: &[u8]) -> &Shared {
    // SAFETY: the mapping is one aligned page, and a `Shared` fits in a page. It consists of atomic integers, for which
    // every bit pattern is valid and which the program may write at any time.
    unsafe { &*page.as_ptr().cast::<Shared>() }
}

/// A running program, whose counts can be read.
pub(super) struct Counting {
    page: memmap2::MmapMut,
    memory: Live,
}

impl Counting {
    /// Opens the memory of a program. `plan` begins with the page that it shares.
    pub(super) fn new(pid: i32, plan: &File) -> Result<Self> {
        // SAFETY: the plan's seals keep the file from being truncated. The page is accessed only through atomics.
        let page = unsafe { memmap2::MmapOptions::new().len(SHARED_BYTES).map_mut(plan) }?;
        Ok(Self { page, memory: Live(File::open(format!("/proc/{pid}/mem"))?) })
    }

    /// Returns what was counted until now, if the agent counts.
    pub(super) fn read(&self) -> Option<super::Profile> {
        let shared = shared(&self.page);
        let is_armed = shared.status.load(Ordering::Acquire) == layout::Status::Armed as u32;
        let state = shared.state.load(Ordering::Relaxed);
        is_armed.then(|| super::records::read(&ReadFrom { memory: &self.memory, state }).ok()).flatten()
    }
}

/// The memory of the running program.
struct Live(File);

impl Memory for Live {
    fn read(&self, addr: u64, into: &mut [u8]) -> usize {
        self.0.read_at(into, addr).unwrap_or(0)
    }
}

/// The mapped files of the running program, which change when it loads a library.
struct Maps {
    pid: i32,
    modules: Vec<Module>,
    /// When they were read last.
    read: Option<Instant>,
}

impl Maps {
    /// Returns the part that called the library with this instruction; for other code it does not matter.
    fn caller(&mut self, address: u64, stack: &[u64]) -> Part {
        let is_old = self.read.is_none_or(|read| read.elapsed() > ROUND);
        if is_old && part(&self.modules, address) == Part::Unknown {
            self.modules = modules_of(self.pid);
            self.read = Some(Instant::now());
        }
        let known = |address: &&u64| matches!(part(&self.modules, **address), Part::Agent | Part::Executable);
        stack.iter().find(known).map_or(Part::Unknown, |address| part(&self.modules, *address))
    }
}

/// Returns the mappings of a process that hold code, those of its executable first. Mappings of data are left out, so that
/// a pointer to data on the stack is not taken for a return address.
fn modules_of(pid: i32) -> Vec<Module> {
    let executable = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let module = |map: Mapping| Module { path: map.path, bias: 0, start: map.start, end: map.end };
    let mut all: Vec<Module> = code_mappings(pid).into_iter().map(module).collect();
    all.sort_by_key(|module| module.path != executable);
    all
}

/// What a record tells.
pub(super) enum Seen<'s> {
    /// A sample's instruction and stack.
    At(u64, &'s [u64]),
    /// A sample's instruction, its callers by frame pointers, the stack pointer, and the stack.
    Called { address: u64, chain: &'s [u64], stack_pointer: u64, stack: &'s [u64] },
    /// The process started another one with this number.
    Started(u32),
    /// It became another program.
    Executed,
}

/// The events, one for each processor.
#[derive(Debug)]
pub(super) struct Events(Vec<Event>);

/// The events of a processor, one for each thread, with their buffer.
#[derive(Debug)]
struct Event {
    _files: Vec<OwnedFd>,
    buffer: memmap2::MmapRaw,
    has_callers: bool,
}

/// The attributes of an event, `struct perf_event_attr` of the kernel in its fifth version.
#[derive(Default)]
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    frequency: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branches: u64,
    registers: u64,
    stack: u32,
    clock: i32,
    registers_of_interrupt: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112);

const SOFTWARE: u32 = 1;
const CPU_CLOCK: u64 = 0;
const SAMPLE_IP: u64 = 1;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_REGS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;
/// The bit of the stack pointer among the registers of a sample.
const STACK_POINTER: u64 = 1 << if cfg!(target_arch = "aarch64") { 31 } else { 7 };
/// The request to write the samples of an event to the buffer of another one.
const SET_OUTPUT: u64 = 0x2405;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HV: u64 = 1 << 6;
const BY_FREQUENCY: u64 = 1 << 10;
/// Leaves the kernel's own functions out of the callers.
const NO_KERNEL: u64 = 1 << 21;
const CLOSE_ON_EXEC: u64 = 1 << 3;
const WITH_EXEC: u64 = 1 << 9 | 1 << 24;
const WITH_TASKS: u64 = 1 << 13;
const RECORD_COMM: u32 = 3;
const RECORD_FORK: u32 = 7;
const RECORD_SAMPLE: u32 = 9;
/// The flag of a record that a name is that of an executed program.
const IS_EXEC: u64 = 1 << 13;
/// The offsets in the first page of a buffer: how far the kernel has written, how far this process has read, and where
/// the samples begin.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// Returns the bytes of a page, with which a buffer begins.
fn page() -> usize {
    arch::page() as usize
}

impl Events {
    /// Opens an event for each processor, for all threads that the process will have. A sample has this many bytes of the
    /// stack.
    pub(super) fn open(pid: i32, stack: u32) -> Result<Self, String> {
        let sample = SAMPLE_IP | SAMPLE_TID | if stack > 0 { SAMPLE_STACK_USER } else { 0 };
        Self::open_each(&[pid], &Attributes { sample_type: sample, stack, ..Attributes::default() })
            .map(|(events, _)| events)
    }

    /// Opens them for the threads of a running process, with the callers in each sample. Returns also the number of threads.
    pub(super) fn with_callers(threads: &[i32], stack: u32) -> Result<(Self, usize), String> {
        let sample = SAMPLE_IP | SAMPLE_TID | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER;
        let attributes = Attributes {
            sample_type: sample,
            stack,
            registers: STACK_POINTER,
            flags: NO_KERNEL,
            ..Attributes::default()
        };
        Self::open_each(threads, &attributes)
    }

    /// Opens the events for some threads and those that they start. Returns also for how many of them that was possible.
    fn open_each(threads: &[i32], attributes: &Attributes) -> Result<(Self, usize), String> {
        // SAFETY: the call takes a number, and accesses no memory of this process.
        let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) }.max(1);
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: CPU_CLOCK,
            frequency: FREQUENCY,
            flags: INHERIT | EXCLUDE_KERNEL | EXCLUDE_HV | BY_FREQUENCY | WITH_EXEC | WITH_TASKS | attributes.flags,
            ..*attributes
        };
        let mut all = Vec::new();
        let mut failure = None;
        // The number of pages of samples is a power of two.
        let pages = (BUFFERS / page() / processors as usize).max(4);
        let pages = 1 << pages.ilog2();
        let pages =
            if pages * processors as usize + processors as usize > BUFFERS / page() { pages / 2 } else { pages };
        let mut most = 0;
        for processor in 0..processors {
            let mut files: Vec<OwnedFd> = Vec::new();
            let mut buffer = None;
            for thread in threads {
                // SAFETY: the call reads the attributes, a local with the size that they state.
                let file = unsafe {
                    libc::syscall(
                        libc::SYS_perf_event_open,
                        &raw const attributes,
                        *thread,
                        processor,
                        -1,
                        CLOSE_ON_EXEC,
                    )
                };
                if file < 0 {
                    failure = Some(std::io::Error::last_os_error());
                    continue;
                }
                // SAFETY: the call succeeded, so the number is a new file without another owner.
                let file = unsafe { OwnedFd::from_raw_fd(file as i32) };
                // The first one has the buffer, which the others need before they can write to it.
                let has_output = match files.first() {
                    // SAFETY: the call takes two open files, and accesses no memory of this process.
                    Some(first) => (unsafe { libc::ioctl(file.as_raw_fd(), SET_OUTPUT as _, first.as_raw_fd()) }) == 0,
                    None => match memmap2::MmapOptions::new().len((1 + pages) * page()).map_raw(file.as_raw_fd()) {
                        Ok(of_first) => buffer.insert(of_first).len() > 0,
                        Err(error) => {
                            failure = Some(error);
                            false
                        }
                    },
                };
                if has_output {
                    files.push(file);
                }
            }
            most = most.max(files.len());
            let has_callers = attributes.sample_type & SAMPLE_CALLCHAIN != 0;
            all.extend(buffer.map(|buffer| Event { _files: files, buffer, has_callers }));
        }
        match failure {
            Some(error) if all.is_empty() => {
                Err(format!("the kernel allows no samples ({error}); set kernel.perf_event_paranoid to 2 or less"))
            }
            _ => Ok((Self(all), most)),
        }
    }

    /// Calls `found` with what each new record tells of the process.
    pub(super) fn read(&self, pid: i32, found: &mut dyn FnMut(Seen<'_>)) {
        for event in &self.0 {
            event.read(pid, found);
        }
    }
}

impl Event {
    #[expect(clippy::cast_ptr_alignment, reason = "a mapping is aligned to a page")]
    fn position(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the buffer's first page has this offset.
        let word = unsafe { self.buffer.as_ptr().add(at) };
        // SAFETY: the kernel and this process access the aligned word atomically. The mapping lives as long as `self`.
        unsafe { &*word.cast::<AtomicU64>() }
    }

    /// Copies bytes from the ring.
    fn copy(&self, from: u64, into: &mut [u8]) {
        let size = self.buffer.len() - page();
        for (at, byte) in (from..).zip(into) {
            let offset = page() + at as usize % size;
            // SAFETY: `offset` is within the mapping.
            let there = unsafe { self.buffer.as_ptr().add(offset) };
            // SAFETY: the byte is mapped, and the kernel does not write between the tail and the head.
            *byte = unsafe { there.read_volatile() };
        }
    }

    fn read(&self, pid: i32, found: &mut dyn FnMut(Seen<'_>)) {
        let head = self.position(HEAD).load(Ordering::Acquire);
        let mut tail = self.position(TAIL).load(Ordering::Relaxed);
        let mut record = Vec::new();
        while tail + 8 <= head {
            let mut header = [0; 8];
            self.copy(tail, &mut header);
            // The kind in four bytes, flags in two, the size in two.
            let header = u64::from_le_bytes(header);
            let size = header >> 48;
            if size < 8 || tail + size > head {
                break;
            }
            let kind = header as u32;
            if [RECORD_SAMPLE, RECORD_FORK, RECORD_COMM].contains(&kind) {
                record.resize(size as usize - 8, 0);
                self.copy(tail + 8, &mut record);
                let (words, _) = record.as_chunks::<8>();
                let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
                // Both begin with the number of a process; a fork has that of its parent in the upper half.
                let first = words.first().copied().unwrap_or(0);
                if kind == RECORD_FORK && (first >> 32) as u32 == pid as u32 && first as u32 != pid as u32 {
                    found(Seen::Started(first as u32));
                }
                if kind == RECORD_COMM && first as u32 == pid as u32 && (header >> 32) & IS_EXEC != 0 {
                    found(Seen::Executed);
                }
                // The instruction, the process and thread, the size of the stack, its bytes, and how many are valid.
                if let [address, task, rest @ ..] = &words[..]
                    && kind == RECORD_SAMPLE
                    && *task as u32 == pid as u32
                {
                    if self.has_callers {
                        callers(*address, rest, found);
                        tail += size;
                        continue;
                    }
                    let (size, stack) = rest.split_first().unwrap_or((&0, &[]));
                    let len = (*size as usize / 8).min(stack.len());
                    let valid = stack.get(len).map_or(0, |bytes| *bytes as usize / 8);
                    found(Seen::At(*address, &stack[..len.min(valid)]));
                }
            }
            tail += size;
        }
        self.position(TAIL).store(tail, Ordering::Release);
    }
}

/// Reads the part of a sample after the process: the number of callers and these, the kind of the registers and the stack
/// pointer, and the stack as in other samples.
fn callers(address: u64, rest: &[u64], found: &mut dyn FnMut(Seen<'_>)) {
    let Some((len, rest)) = rest.split_first() else { return };
    let Some((chain, rest)) = rest.split_at_checked(usize::try_from(*len).unwrap_or(usize::MAX)) else { return };
    // A thread of the kernel has no registers.
    let [kind, stack_pointer, size, stack @ ..] = rest else { return };
    if *kind == 0 {
        return;
    }
    let len = (*size as usize / 8).min(stack.len());
    let valid = stack.get(len).map_or(0, |bytes| *bytes as usize / 8);
    found(Seen::Called { address, chain, stack_pointer: *stack_pointer, stack: &stack[..len.min(valid)] });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_with_callers_are_read() {
        let record = [2, 0x1500, 0x1600, 2, 0x7000, 24, 7, 8, 9, 16];
        let mut all = Vec::new();
        let mut found = |seen: Seen<'_>| {
            if let Seen::Called { address, chain, stack_pointer, stack } = seen {
                all.push((address, chain.to_vec(), stack_pointer, stack.to_vec()));
            }
        };
        callers(0x1500, &record, &mut found);
        for len in 0..record.len() - 1 {
            callers(0x1500, &record[..len], &mut |_| {});
        }
        assert_eq!(all, [(0x1500, vec![0x1500, 0x1600], 0x7000, vec![7, 8])]);
    }

    fn modules() -> Vec<Module> {
        let module = |path: &str, start, end| Module { path: path.into(), bias: 0, start, end };
        vec![
            module("/a/program", 0x1000, 0x2000),
            module("/c/libcensus-agent-1.so", 0x3000, 0x4000),
            module("/l/libc.so.6", 0x5000, 0x6000),
        ]
    }

    #[test]
    fn library_code_belongs_to_the_allocator_if_the_agent_called_it() {
        let sample = |address, caller| (Sample { address, caller }, 1);
        let raw = [
            sample(0x1500, Part::Executable),
            sample(0x3500, Part::Executable),
            sample(0x5500, Part::Agent),
            sample(0x5600, Part::Executable),
        ];
        let samples = classify(&raw.into(), &modules(), Path::new("/none"));
        assert_eq!(samples, Samples { program: 2, allocator: 1, agent: 1 });
    }

    #[test]
    fn first_return_address_decides() {
        let mut maps = Maps { pid: 0, modules: modules(), read: Some(Instant::now()) };
        assert_eq!(maps.caller(0x5500, &[7, 0x5700, 0x3100, 0x1100]), Part::Agent);
        assert_eq!(maps.caller(0x5500, &[0x1100, 0x3100]), Part::Executable);
        assert_eq!(maps.caller(0x5500, &[0x5800]), Part::Unknown);
    }
}
