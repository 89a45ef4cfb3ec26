//! Copies the pages that a stopped process has changed.
//!
//! The kernel tells which they are, in ranges since Linux 6.7, and page by page before. Several threads copy: one does not
//! use all of the memory's bandwidth, and the pause is as long as the copy takes.

#![expect(clippy::cast_possible_truncation, reason = "`usize` has 64 bits where this runs")]

use super::halt;
use crate::arch;
use crate::capture::maps::Mapping;
use anyhow::{Context as _, Result, bail};
use memmap2::{Advice, MmapMut, MmapOptions, UncheckedAdvice};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The longest mapping that is read. Longer ones are address space that a sanitizer has reserved.
const LONGEST: u64 = 1 << 38;
/// The bytes that one call copies, and the ranges.
const AT_ONCE: usize = 4 << 20;
const RANGES: usize = 512;
/// The bytes for which a further thread is worth its start, and the most threads.
const WORTH: u64 = 32 << 20;
const THREADS: usize = 4;

/// Returns the ranges of pages that a process has changed: the first address and the number of bytes.
fn changed(pid: i32, maps: &[Mapping]) -> Vec<(u64, u64)> {
    let pagemap = File::open(format!("/proc/{pid}/pagemap")).ok();
    let is_read = |map: &&Mapping| {
        map.readable && map.private && map.end - map.start <= LONGEST && map.path != Path::new("[vvar]")
    };
    let mut ranges = Vec::new();
    let mut can_scan = true;
    for map in maps.iter().filter(is_read) {
        let before = ranges.len();
        can_scan = can_scan && pagemap.as_ref().is_some_and(|pagemap| scan(pagemap, map, &mut ranges));
        if !can_scan {
            ranges.truncate(before);
            by_page(pagemap.as_ref(), map, &mut ranges);
        }
    }
    ranges
}

/// The argument of [`SCAN`], as the kernel declares it.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    /// Where the call has ended.
    walked: u64,
    regions: u64,
    most_regions: u64,
    most_pages: u64,
    inverted: u64,
    /// All of these, and one of the next.
    all: u64,
    any: u64,
    returned: u64,
}

/// A range of pages that the kernel tells.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    kinds: u64,
}

const SCAN: u64 = 0xc060_6610;

/// Adds the changed pages of a mapping, as ranges that the kernel tells. Returns `false` if it is too old for that.
fn scan(pagemap: &File, map: &Mapping, ranges: &mut Vec<(u64, u64)>) -> bool {
    /// The page is one of a file, which nothing was written to; it exists; it is in the swap; it is the one with zeros.
    const OF_FILE: u64 = 1 << 2;
    const PRESENT: u64 = 1 << 3;
    const SWAPPED: u64 = 1 << 4;
    const ZERO: u64 = 1 << 5;
    let mut regions = [Region::default(); 256];
    let mut at = map.start;
    while at < map.end {
        let mut scan = Scan {
            size: size_of::<Scan>() as u64,
            start: at,
            end: map.end,
            regions: regions.as_mut_ptr().expose_provenance() as u64,
            most_regions: regions.len() as u64,
            inverted: OF_FILE | ZERO,
            all: OF_FILE | ZERO,
            any: PRESENT | SWAPPED,
            returned: OF_FILE,
            ..Scan::default()
        };
        // SAFETY: the call reads and writes the local, which has the type and the size that it requires, and writes at most
        // as many regions as the array has.
        let found = unsafe { libc::ioctl(pagemap.as_raw_fd(), SCAN, &raw mut scan) };
        let Ok(found) = usize::try_from(found) else { return false };
        for region in regions.iter().take(found) {
            match ranges.last_mut() {
                Some((from, len)) if *from + *len == region.start => *len += region.end - region.start,
                _ => ranges.push((region.start, region.end - region.start)),
            }
        }
        if scan.walked <= at {
            return false;
        }
        at = scan.walked;
    }
    true
}

/// Adds the changed pages of a mapping by the table of all its pages, or all that can be written to if there is none.
fn by_page(pagemap: Option<&File>, map: &Mapping, ranges: &mut Vec<(u64, u64)>) {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;
    const ENTRIES: u64 = 1 << 16;
    let size = arch::page();
    let mut bytes = Vec::new();
    let (mut page, last) = (map.start / size, map.end / size);
    while page < last {
        let count = ENTRIES.min(last - page);
        bytes.resize(count as usize * 8, 0);
        let known = pagemap.is_some_and(|file| file.read_exact_at(&mut bytes, page * 8).is_ok());
        for (index, flags) in (0..).zip(bytes.as_chunks::<8>().0) {
            let flags = u64::from_le_bytes(*flags);
            let is_own = flags & (PRESENT | SWAPPED) != 0 && flags & OF_FILE == 0;
            if known && !is_own || !known && !map.writable {
                continue;
            }
            let start = (page + index) * size;
            match ranges.last_mut() {
                Some((from, len)) if *from + *len == start => *len += size,
                _ => ranges.push((start, size)),
            }
        }
        page += count;
    }
}

/// Memory for the copy, which exists before the stop.
pub(super) struct Buffer {
    all: Vec<MmapMut>,
}

impl Buffer {
    pub(super) fn new(pid: i32, maps: &[Mapping]) -> Result<Self> {
        /// What the process may write to until it is stopped.
        const MORE: u64 = 16 << 20;
        let bytes: u64 = changed(pid, maps).iter().map(|(_, len)| len).sum();
        let wanted = bytes + bytes / 32 + MORE;
        // Too little memory on the machine would endanger the process, too.
        if let Some(free) = available().filter(|free| wanted.saturating_add(wanted / 4) > *free) {
            bail!(
                "process {pid} has {} MiB of memory, and only {} MiB are free here for the copy; take a core, and read it \
                 elsewhere with --core",
                bytes >> 20,
                free >> 20
            );
        }
        let mut buffer = Self { all: Vec::new() };
        buffer.grow(wanted as usize)?;
        Ok(buffer)
    }

    fn grow(&mut self, bytes: usize) -> Result<()> {
        let memory = MmapOptions::new().len(bytes.max(1)).map_anon().context("there is no memory for the copy")?;
        // Without huge pages, or with an older kernel, it only takes longer.
        let _ = memory.advise(Advice::HugePage);
        // The child that stops the process would share the pages, and this one copy each of them again.
        let _ = memory.advise(Advice::DontFork);
        let _ = memory.advise(Advice::PopulateWrite);
        self.all.push(memory);
        Ok(())
    }

    /// Returns the memory, without the pages behind the copied parts.
    pub(super) fn into_all(self, parts: &[Part]) -> impl Iterator<Item = MmapMut> {
        let ends = move |number: usize| {
            let of_this = parts.iter().filter(move |(_, to, _)| to.0 == number);
            of_this.map(|(_, to, len)| to.1 + len).max().unwrap_or(0)
        };
        self.all.into_iter().enumerate().map(move |(number, memory)| {
            let end = ends(number).next_multiple_of(arch::page() as usize);
            if let Some(rest) = memory.len().checked_sub(end).filter(|rest| *rest > 0) {
                // SAFETY: the bytes become zeros, which are initialised, and no reference to them exists.
                let _ = unsafe { memory.unchecked_advise_range(UncheckedAdvice::DontNeed, end, rest) };
            }
            memory
        })
    }

    /// Gives each batch its bytes.
    fn jobs(&mut self, batches: Vec<Vec<(u64, usize)>>) -> Result<Vec<Job<'_>>> {
        let bytes = |batch: &[(u64, usize)]| batch.iter().map(|(_, len)| len).sum::<usize>();
        let mut fits = self.all.last().map_or(0, |last| last.len());
        // What does not fit in the memory that exists takes a further buffer.
        let count = batches
            .iter()
            .take_while(|batch| fits.checked_sub(bytes(batch)).inspect(|left| fits = *left).is_some())
            .count();
        let more = batches[count..].iter().map(|batch| bytes(batch)).sum::<usize>();
        if more > 0 {
            self.grow(more)?;
        }
        let mut jobs = Vec::with_capacity(batches.len());
        let mut batches = batches.into_iter();
        for (number, memory) in self.all.iter_mut().enumerate() {
            let mut left = &mut **memory;
            let mut from = 0;
            let most = if number == 0 { count } else { usize::MAX };
            for ranges in batches.by_ref().take(most) {
                let len = bytes(&ranges);
                let (memory, rest) = left.split_at_mut(len);
                jobs.push(Job { ranges, to: (number, from), memory });
                left = rest;
                from += len;
            }
        }
        Ok(jobs)
    }
}

/// Returns the bytes of memory that are free on this machine, or in this control group.
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:")?.trim().strip_suffix("kB"))?;
    let free = kib.trim().parse::<u64>().ok()? << 10;
    let of_group = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    let group = of_group("memory.max").map(|most| most.saturating_sub(of_group("memory.current").unwrap_or(0)));
    Some(group.map_or(free, |group| group.min(free)))
}

/// A range of the process, the place in a buffer, and the number of bytes.
pub(super) type Part = (u64, (usize, usize), usize);

/// Ranges that one call copies to adjacent bytes.
struct Job<'b> {
    ranges: Vec<(u64, usize)>,
    /// The place in a buffer.
    to: (usize, usize),
    memory: &'b mut [u8],
}

/// Copies the changed pages of a stopped process.
pub(super) fn copy(pid: i32, maps: &[Mapping], buffer: &mut Buffer) -> Result<Vec<Part>> {
    let changed = changed(pid, maps);
    let all: u64 = changed.iter().map(|(_, len)| len).sum();
    let jobs = buffer.jobs(batches(&changed))?;
    let others =
        thread::available_parallelism().map_or(1, usize::from).min(THREADS).min((all / WORTH) as usize + 1) - 1;
    let jobs = Mutex::new(jobs.into_iter());
    let work = || -> Result<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(job) = job else { return Ok(parts) };
            job.run(pid, &mut parts)?;
        }
    };
    thread::scope(|scope| {
        // A thread that cannot be started is one less.
        let others: Vec<_> =
            (0..others).filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut parts = work();
        for other in others {
            let more = other.join().unwrap_or_else(|_| bail!("a thread that copies memory has ended"));
            parts = parts.and_then(|mut parts| {
                parts.extend(more?);
                Ok(parts)
            });
        }
        parts
    })
}

/// Divides ranges into those that one call copies.
fn batches(ranges: &[(u64, u64)]) -> Vec<Vec<(u64, usize)>> {
    let mut all = Vec::new();
    let mut batch = Vec::new();
    let mut bytes = 0;
    for &(mut from, mut len) in ranges {
        while len > 0 {
            let now = (len as usize).min(AT_ONCE - bytes);
            batch.push((from, now));
            bytes += now;
            from += now as u64;
            len -= now as u64;
            if bytes == AT_ONCE || batch.len() == RANGES {
                all.push(std::mem::take(&mut batch));
                bytes = 0;
            }
        }
    }
    all.push(batch);
    all
}

impl Job<'_> {
    fn run(self, pid: i32, parts: &mut Vec<Part>) -> Result<()> {
        let (number, from) = self.to;
        let mut done = 0;
        let mut rest = &*self.ranges;
        while !rest.is_empty() {
            let remote: Vec<libc::iovec> = rest
                .iter()
                .map(|(start, len)| libc::iovec {
                    iov_base: std::ptr::without_provenance_mut(*start as usize),
                    iov_len: *len,
                })
                .collect();
            let left = &mut self.memory[done..];
            let local = libc::iovec { iov_base: left.as_mut_ptr().cast(), iov_len: left.len() };
            // SAFETY: the call writes at most `iov_len` bytes, all of which are inside the slice that `local` is made from.
            let read =
                unsafe { libc::process_vm_readv(pid, &raw const local, 1, remote.as_ptr(), remote.len() as u64, 0) };
            let mut read = match usize::try_from(read) {
                Ok(0) => return Err(halt::gone(pid)),
                Ok(read) => read,
                Err(_) => {
                    let error = io::Error::last_os_error();
                    match error.raw_os_error() {
                        Some(libc::ESRCH) => return Err(halt::gone(pid)),
                        // A page that cannot be read, such as one beyond the end of its file.
                        Some(libc::EFAULT) => {
                            done += rest[0].1;
                            rest = &rest[1..];
                            continue;
                        }
                        _ => return Err(halt::refused(pid, &error)),
                    }
                }
            };
            // The call ends early at a page that cannot be read.
            while let Some(&(start, len)) = rest.first().filter(|_| read > 0) {
                let now = read.min(len);
                parts.push((start, (number, from + done), now));
                read -= now;
                done += len;
                rest = &rest[1..];
            }
        }
        Ok(())
    }
}
