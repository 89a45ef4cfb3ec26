//! Samples the program's processor time by `perf_event_open`, and its counts for the curve.
//!
//! A clock around each call of the allocator would mislead: it takes longer than the call, and out-of-order execution
//! moves the costs. A sample has the instruction's address and the top of the stack. The instruction is in the agent, in
//! the program's own code, or in a library. A library's code belongs to the allocator if the agent called it: the first
//! return address on the stack that is in the agent or the executable decides.

#![expect(clippy::cast_possible_truncation, reason = "milliseconds of a run are far from the bounds of their type")]

use super::records::ReadFrom;
use super::{POINTS, Point, Samples};
use crate::agent::layout::{self, SHARED_BYTES, Shared};
use crate::capture::events::{Events, Seen};
use crate::capture::maps::{Mapping, code_mappings};
use crate::capture::{Memory, Module};
use anyhow::{Context, Result};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The bytes of the stack in a sample.
const STACK: u32 = 1024;
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

/// The memory of a running process.
pub(super) struct Live(pub(super) File);

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
    let module = |map: Mapping| Module {
        path: map.path,
        bias: 0,
        start: map.start,
        end: map.end,
        is_executable: false,
        object: None,
    };
    let mut all: Vec<Module> = code_mappings(pid).into_iter().map(module).collect();
    all.sort_by_key(|module| module.path != executable);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules() -> Vec<Module> {
        let module = |path: &str, start, end| Module {
            path: path.into(),
            bias: 0,
            start,
            end,
            is_executable: false,
            object: None,
        };
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
