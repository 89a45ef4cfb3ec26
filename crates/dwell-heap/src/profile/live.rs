//! Samples the call stacks of a running process: which code calls its allocator.
//!
//! The kernel takes the samples, so that the process is neither stopped nor changed. libc keeps no frame pointers and uses their
//! register, so that the kernel's call stack of a sample in `malloc` may be wrong. Its caller is the first return address on the
//! stack that is in code of another file; from there on the stack has the frame pointers of the program.

use super::plain::of_allocator;
use crate::capture::Module;
use crate::capture::events::{Events, Seen};
use crate::capture::maps::{self, Mapping};
use crate::debuginfo;
use anyhow::{Context, Result, bail};
use object::{Object, ObjectSegment};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The bytes of the stack in a sample.
const STACK: u32 = 8 << 10;
/// How often samples are read: before the buffer is full.
const ROUND: Duration = Duration::from_millis(5);
/// How often the mappings are read again for code that is in none.
const AGAIN: Duration = Duration::from_millis(100);
/// The most functions of a call stack.
const DEPTH: usize = 64;
/// The largest distance between two frames on a stack.
const FRAME: u64 = 1 << 20;

/// What the samples show.
#[derive(Debug, Default)]
pub struct Live {
    /// The samples in the program, and in its allocator.
    pub samples: [u64; 2],
    /// The call stacks in the allocator as return addresses, innermost first, with the number of samples.
    pub stacks: Vec<(Vec<u64>, u64)>,
    /// The mapped files, the executable first.
    pub modules: Vec<Module>,
    /// The processor time of the process meanwhile, in nanoseconds.
    pub nanos: u64,
    /// The threads that were sampled, and all.
    pub threads: [usize; 2],
}

/// Samples a process for some time, or until `is_over` returns `true` or it ends.
///
/// # Errors
/// Returns an error if there is no such process, or if the kernel allows no samples of it.
pub fn sample(pid: i32, length: Duration, is_over: &mut dyn FnMut() -> bool) -> Result<Live> {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let tasks = fs::read_dir(folder.join("task")).with_context(|| format!("there is no process {pid}"))?;
    let numbers = tasks.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let threads: Vec<i32> = numbers.collect();
    let path = fs::read_link(folder.join("exe"))
        .with_context(|| format!("process {pid} is another user's, or the kernel's; run as its user or as root"))?;
    let (events, sampled) = Events::with_callers(&threads, STACK).map_err(|reason| anyhow::anyhow!(reason))?;
    let mut code =
        Code { folder: folder.clone(), maps: Vec::new(), ranges: HashMap::new(), files: HashMap::new(), read: None };
    code.read();
    let modules = modules(&code.maps, &path, &folder);
    let mut live = Live { threads: [sampled, threads.len()], ..Live::default() };
    let mut stacks: HashMap<Vec<u64>, u64> = HashMap::new();
    let (started, before) = (Instant::now(), time(&folder));
    let mut after = before;
    loop {
        let is_last = started.elapsed() >= length || is_over();
        after = time(&folder).or(after);
        events.read(pid, &mut |seen| {
            let Seen::Called { address, chain, stack_pointer, stack } = seen else { return };
            let is_allocator = code.is_allocator(address);
            live.samples[usize::from(is_allocator)] += 1;
            if is_allocator {
                *stacks.entry(code.callers(chain, stack_pointer, stack)).or_default() += 1;
            }
        });
        // A process that ended has no mappings.
        if is_last || fs::read_link(folder.join("exe")).is_err() {
            break;
        }
        std::thread::sleep(ROUND.min(length));
    }
    if live.samples == [0; 2] && before.is_none() {
        bail!("process {pid} ended");
    }
    live.nanos = after.unwrap_or(0).saturating_sub(before.unwrap_or(0));
    live.stacks = stacks.into_iter().collect();
    live.stacks.sort();
    live.modules = modules;
    Ok(live)
}

/// Returns the mapped files, the executable first.
fn modules(all: &[Mapping], path: &Path, folder: &Path) -> Vec<Module> {
    let first = all.iter().filter(|map| map.path == path && map.offset == 0).map(|map| map.start).min();
    let data = fs::read(folder.join("exe")).unwrap_or_default();
    let lowest =
        object::File::parse(&*data).ok().and_then(|file| file.segments().map(|segment| segment.address()).min());
    let bias = first.unwrap_or(0).wrapping_sub(lowest.unwrap_or(0) & !0xfff);
    let mut modules = maps::modules(all, &|file| file == path, &folder.join("exe"), bias);
    maps::put_rust_first(&mut modules, all);
    modules
}

/// Returns the processor time of a process in user mode and in the kernel, in nanoseconds.
fn time(folder: &Path) -> Option<u64> {
    let text = fs::read_to_string(folder.join("stat")).ok()?;
    // The name in parentheses may contain anything.
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = [11, 12].iter().filter_map(|at| words.get(*at)?.parse::<u64>().ok()).sum();
    // SAFETY: the call takes a number, and accesses no memory of this process.
    let per_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Some(ticks.saturating_mul(1_000_000_000 / u64::try_from(per_second).unwrap_or(100).max(1)))
}

/// The code of a process.
struct Code {
    folder: PathBuf,
    maps: Vec<Mapping>,
    /// The offsets in each file that are code of an allocator.
    ranges: HashMap<PathBuf, Vec<(u64, u64)>>,
    /// The files.
    files: HashMap<PathBuf, Option<memmap2::Mmap>>,
    /// When the mappings were read.
    read: Option<Instant>,
}

impl Code {
    fn read(&mut self) {
        self.read = Some(Instant::now());
        let text = fs::read_to_string(self.folder.join("maps")).unwrap_or_default();
        let maps = maps::mappings(&text);
        if !maps.is_empty() {
            self.maps = maps;
            self.maps.retain(|map| map.executable && map.path.is_absolute() || map.offset == 0);
        }
    }

    fn mapping_at(&self, address: u64) -> Option<&Mapping> {
        self.maps.iter().find(|map| map.executable && map.contains(address) && map.path.is_absolute())
    }

    /// Returns `true` if an instruction is one of an allocator.
    fn is_allocator(&mut self, address: u64) -> bool {
        if self.mapping_at(address).is_none() && self.read.is_none_or(|read| read.elapsed() > AGAIN) {
            self.read();
        }
        let Some(map) = self.maps.iter().find(|map| map.executable && map.contains(address)) else { return false };
        let file = maps::below(&self.folder.join("root"), &map.path);
        let ranges = self.ranges.entry(map.path.clone()).or_insert_with(|| of_allocator(&file));
        let offset = address - map.start + map.offset;
        ranges.iter().any(|(start, end)| (*start..*end).contains(&offset))
    }

    /// Returns `true` if the instruction before an address is a call.
    fn follows_call(&mut self, address: u64) -> bool {
        let Some(map) = self.mapping_at(address) else { return false };
        let (path, at) = (map.path.clone(), address - map.start + map.offset);
        let file = maps::below(&self.folder.join("root"), &path);
        let code = self.files.entry(path).or_insert_with(|| debuginfo::map(&file).ok());
        let at = usize::try_from(at).unwrap_or(0);
        let before = code.as_ref().and_then(|code| code.get(at.checked_sub(LONGEST)?..at));
        before.is_none_or(is_call)
    }

    /// Returns the return addresses of a sample in the allocator, innermost first.
    fn callers(&mut self, chain: &[u64], stack_pointer: u64, stack: &[u64]) -> Vec<u64> {
        // A pointer to a function may be on the stack, too.
        let calls = |at: &usize| {
            let address = stack[*at];
            self.mapping_at(address).is_some_and(is_program)
                && !self.is_allocator(address)
                && self.follows_call(address)
        };
        let caller = (0..stack.len()).find(calls);
        let Some(caller) = caller else { return Vec::new() };
        let mut found = vec![stack[caller]];
        let address = |at: usize| stack_pointer + at as u64 * 8;
        let is_frame = |at: usize| {
            let next = stack[at].checked_sub(address(at)).is_some_and(|distance| (1..FRAME).contains(&distance));
            next && stack[at].is_multiple_of(8) && self.mapping_at(stack[at + 1]).is_some()
        };
        let mut next = (caller + 1..stack.len().saturating_sub(1)).find(|at| is_frame(*at));
        while let Some(at) = next.filter(|_| found.len() < DEPTH) {
            found.push(stack[at + 1]);
            let above = stack[at].checked_sub(stack_pointer).and_then(|bytes| usize::try_from(bytes / 8).ok());
            next = above
                .filter(|above| *above > at && above + 1 < stack.len() && self.mapping_at(stack[above + 1]).is_some());
        }
        // What is further up is only in the kernel's.
        let last = found[found.len() - 1];
        if let Some(at) = chain.iter().position(|address| *address == last) {
            found.extend(chain[at + 1..].iter().take(DEPTH - found.len().min(DEPTH)));
        }
        found
    }
}

/// The longest call in bytes.
const LONGEST: usize = 8;

/// Returns `true` if code ends with a call.
fn is_call(code: &[u8]) -> bool {
    if cfg!(target_arch = "aarch64") {
        // `bl` or `blr`
        let last = code.last_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        return last & 0xfc00_0000 == 0x9400_0000 || last & 0xffff_fc1f == 0xd63f_0000;
    }
    // `call rel32`, or `call` of a register or memory, whose second byte says how many more follow.
    let from_end = |len: usize| code.len().checked_sub(len).map(|at| &code[at..]);
    let indirect = |len: usize| from_end(len).is_some_and(|code| code[0] == 0xff && code[1] >> 3 & 7 == 2);
    from_end(5).is_some_and(|code| code[0] == 0xe8) || [2, 3, 4, 6, 7].into_iter().any(indirect)
}

/// Returns `true` for code that calls an allocator: not libc's own.
fn is_program(map: &Mapping) -> bool {
    let name = map.path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    !["libc.so", "libc-", "ld-linux"].iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> Code {
        let map =
            |path: &str, start, end| Mapping { start, end, executable: true, path: path.into(), ..Mapping::default() };
        let maps = vec![map("/a/program", 0x1000, 0x2000), map("/l/libc.so.6", 0x5000, 0x6000)];
        let ranges = HashMap::from([("/l/libc.so.6".into(), vec![(0, 0x100)]), ("/a/program".into(), Vec::new())]);
        Code { folder: PathBuf::new(), maps, ranges, files: HashMap::new(), read: None }
    }

    #[test]
    fn callers_of_the_allocator_are_on_the_stack() {
        let mut code = code();
        assert!(code.is_allocator(0x5080) && !code.is_allocator(0x5180) && !code.is_allocator(0x1100));
        // A return into libc, one into the program, its locals, then the frames of its callers at 0x7028 and 0x7038.
        let stack = [0x5080, 3, 0x1100, 0x1900, 4, 0x7038, 0x1200, 0x7048, 0x1300, 9];
        assert_eq!(code.callers(&[0x1300, 0x1400], 0x7000, &stack), [0x1100, 0x1200, 0x1300, 0x1400]);
        assert_eq!(code.callers(&[], 0x7000, &stack[..3]), [0x1100]);
        assert_eq!(code.callers(&[], 0x7000, &[0x5080, 3]), Vec::<u64>::new());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn return_addresses_follow_a_call() {
        // call rel32; call [rip+1]; call rax; call [rax+8]; then a jump, and nothing
        for code in [&[0, 0xe8, 1, 0, 0, 0][..], &[0xff, 0x15, 1, 0, 0, 0], &[0, 0xff, 0xd0], &[0xff, 0x50, 8]] {
            assert!(is_call(code), "{code:x?}");
        }
        assert!(!is_call(&[0, 0, 0xe9, 1, 0, 0, 0]) && !is_call(&[]));
    }

    #[test]
    fn a_process_that_is_none_is_an_error() {
        let error = sample(i32::MAX, Duration::from_millis(1), &mut || false).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no process {}", i32::MAX));
    }

    #[test]
    fn the_callers_of_malloc_in_this_process_are_sampled() {
        #[inline(never)]
        fn busy(over: &std::sync::atomic::AtomicBool) {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                // Beyond what libc keeps for a thread, so that its own work takes longer.
                drop(std::hint::black_box(Vec::<u8>::with_capacity(4000)));
            }
        }
        let over = std::sync::atomic::AtomicBool::new(false);
        let pid = i32::try_from(std::process::id()).unwrap();
        let live = std::thread::scope(|scope| {
            scope.spawn(|| busy(&over));
            // It waits for a state: until enough samples are there, also if many processes share the processors.
            let live = (0..9).map(|round| sample(pid, Duration::from_millis(200 << round), &mut || false));
            let found = live.into_iter().find(|live| live.as_ref().map_or(true, |live| live.samples[1] > 40));
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            found
        });
        match live {
            Some(Ok(live)) => {
                let own = live.modules[0].start..live.modules[0].end;
                let known: u64 = live
                    .stacks
                    .iter()
                    .filter(|(stack, _)| stack.first().is_some_and(|address| own.contains(address)))
                    .map(|stack| stack.1)
                    .sum();
                // Other tests run in this process too, some in libc.
                assert!(known * 2 > live.samples[1], "{live:?}");
            }
            Some(Err(reason)) => eprintln!("skipped: {reason}"),
            None => panic!("there are no samples in the allocator"),
        }
    }
}
