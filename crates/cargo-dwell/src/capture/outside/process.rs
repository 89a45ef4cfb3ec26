//! Copies the memory of a running process.
//!
//! What takes time happens before the stop: the buffer is allocated and its pages exist, in huge ones where the kernel has
//! them. Then all threads are stopped, the pages that the process has changed are copied, and the threads continue.

#![expect(clippy::cast_possible_truncation, reason = "`usize` has 64 bits where this runs")]

use super::Captured;
use super::executable::{self, Executable};
use super::guard::Guard;
use super::halt;
use crate::capture::Moment;
use crate::capture::copied::Copied;
use crate::capture::maps::{self, Mapping, below};
use anyhow::{Context, Result, bail};
use memmap2::{Advice, MmapMut, MmapOptions};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

const PAGE: u64 = 4096;
/// The longest mapping that is read. Longer ones are address space that a sanitizer has reserved.
const LONGEST: u64 = 1 << 38;
/// The bytes that are copied by one call.
const AT_ONCE: usize = 16 << 20;

/// Copies a running process. Its executable is `exe`, or else what the kernel names.
///
/// # Errors
/// Returns an error in one line: there is no such process, it must not be looked at, it has no debug info, or it ends
/// meanwhile.
pub fn attach(pid: i32, exe: Option<&Path>) -> Result<Captured> {
    expect_process(pid)?;
    let (file, root) = files(pid, exe)?;
    executable::check(&file)?;
    let entry = entry(pid).ok_or_else(|| halt::gone(pid))?;
    let before = mappings(pid)?;
    let mut buffer = Buffer::new(pid, &before)?;
    let started = started(pid);

    let start = Instant::now();
    let mut guard = Guard::new(pid)?;
    let copied = copy(pid, &mut buffer);
    let threads = std::mem::take(&mut guard.threads);
    let released = guard.release(pid);
    let pause = start.elapsed();

    let (maps, parts) = copied?;
    released?;
    let executable = Executable::find(&maps, entry, &file)
        .with_context(|| format!("{}: is not the executable of process {pid}", file.display()))?;
    let mut memory = Copied::default();
    let numbers: Vec<usize> = buffer.all.into_iter().map(|all| memory.buffer(Box::new(all))).collect();
    for (start, (buffer, from), len) in parts {
        memory.part(start, numbers[buffer], from, len);
    }
    memory.complete(&maps, &root, (&executable.path, &executable.file), true);
    let moment = Moment::Attached;
    let millis = started.unwrap_or(0);
    Ok(Captured { maps, memory, threads, executable, root, moment, millis, pause: Some(pause) })
}

/// Checks that there is such a process, and that it can have a heap.
fn expect_process(pid: i32) -> Result<()> {
    let status = |key: &str| halt::status(pid, pid, key);
    let Some(state) = status("State") else {
        let Ok(text) = fs::read_to_string(format!("/proc/{pid}/status")) else {
            bail!("there is no process {pid}");
        };
        let of = text.lines().find_map(|line| line.strip_prefix("Tgid:")).unwrap_or_default().trim();
        bail!("{pid} is a thread of process {of}; name that one");
    };
    if pid.cast_unsigned() == std::process::id() {
        bail!("process {pid} is this one; name another one");
    }
    if status("Tgid").is_some_and(|of| of != pid.to_string()) {
        bail!("{pid} is a thread of process {}; name that one", status("Tgid").unwrap_or_default());
    }
    if state.starts_with(['Z', 'X']) {
        bail!("process {pid} has ended, and waits for its parent (a zombie): it has no memory any more");
    }
    // Only the kernel's own have no memory.
    if status("VmSize").is_none() {
        bail!("process {pid} is a thread of the kernel, and has no heap");
    }
    Ok(())
}

/// Returns where the executable of a process can be read, and the folder of the process's files.
fn files(pid: i32, exe: Option<&Path>) -> Result<(PathBuf, PathBuf)> {
    let link = PathBuf::from(format!("/proc/{pid}/exe"));
    let path = fs::read_link(&link).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => halt::gone(pid),
        _ => halt::refused(pid, &error),
    })?;
    let running = fs::metadata(&link).map_err(|_| halt::gone(pid))?;
    let is_it = |file: &Path| fs::metadata(file).is_ok_and(|of| (of.dev(), of.ino()) == (running.dev(), running.ino()));
    let of_process = PathBuf::from(format!("/proc/{pid}/root"));
    let space = |of: &str| fs::read_link(format!("/proc/{of}/ns/mnt")).ok();
    let has_own_files =
        space(&pid.to_string()) != space("self") || fs::read_link(&of_process).is_ok_and(|root| root != Path::new("/"));
    let root = if has_own_files { of_process } else { PathBuf::new() };
    if let Some(exe) = exe {
        let wanted = executable::build_id(&link);
        executable::expect_same(wanted.as_deref(), exe, &format!("process {pid}"))?;
        return Ok((exe.to_owned(), root));
    }
    let places = [path.clone(), below(&root, &path)];
    // A file that was deleted, such as by an update, is there as long as the process runs.
    let file = places.into_iter().find(|file| is_it(file)).unwrap_or(link);
    Ok((file, root))
}

/// Returns the address of a process's first instruction.
fn entry(pid: i32) -> Option<u64> {
    let words = fs::read(format!("/proc/{pid}/auxv")).ok()?;
    super::entry_in(&words)
}

/// Returns the running time of a process in milliseconds.
fn started(pid: i32) -> Option<u64> {
    /// The units of `/proc/PID/stat`.
    const TICKS: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have spaces.
    let ticks: u64 = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()?;
    let up = fs::read_to_string("/proc/uptime").ok()?;
    let up: f64 = up.split_ascii_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_sign_loss, reason = "it is positive")]
    Some(((up * 1000.0) as u64).saturating_sub(ticks * 1000 / TICKS))
}

fn mappings(pid: i32) -> Result<Vec<Mapping>> {
    let text = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => halt::refused(pid, &error),
        _ => halt::gone(pid),
    })?;
    let maps = maps::mappings(&text);
    if maps.is_empty() { Err(halt::gone(pid)) } else { Ok(maps) }
}

/// Returns the ranges of pages that a process has changed: the first address and the number of bytes.
fn changed(pid: i32, maps: &[Mapping]) -> Vec<(u64, u64)> {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    /// The page is one of a file, which nothing was written to.
    const OF_FILE: u64 = 1 << 61;
    const ENTRIES: u64 = 1 << 16;
    let pagemap = File::open(format!("/proc/{pid}/pagemap")).ok();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    let mut bytes = Vec::new();
    let is_read = |map: &&Mapping| {
        map.readable && map.private && map.end - map.start <= LONGEST && map.path != Path::new("[vvar]")
    };
    for map in maps.iter().filter(is_read) {
        let (mut page, last) = (map.start / PAGE, map.end / PAGE);
        while page < last {
            let count = ENTRIES.min(last - page);
            bytes.resize(count as usize * 8, 0);
            let known = pagemap.as_ref().is_some_and(|file| file.read_exact_at(&mut bytes, page * 8).is_ok());
            for (index, flags) in (0..).zip(bytes.as_chunks::<8>().0) {
                let flags = u64::from_le_bytes(*flags);
                let is_own = flags & (PRESENT | SWAPPED) != 0 && flags & OF_FILE == 0;
                if known && !is_own || !known && !map.writable {
                    continue;
                }
                let start = (page + index) * PAGE;
                match ranges.last_mut() {
                    Some((from, len)) if *from + *len == start => *len += PAGE,
                    _ => ranges.push((start, PAGE)),
                }
            }
            page += count;
        }
    }
    ranges
}

/// Memory for the copy, which exists before the stop.
struct Buffer {
    all: Vec<MmapMut>,
    /// The bytes of the last one that are in use.
    used: usize,
}

impl Buffer {
    fn new(pid: i32, maps: &[Mapping]) -> Result<Self> {
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
        let mut buffer = Self { all: Vec::new(), used: 0 };
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
        self.used = 0;
        Ok(())
    }

    /// Reserves bytes, and returns the buffer's number and the offset.
    fn reserve(&mut self, bytes: usize) -> Result<(usize, usize)> {
        if self.all.last().is_none_or(|last| last.len() - self.used < bytes) {
            self.grow(bytes.max(AT_ONCE))?;
        }
        let from = self.used;
        self.used += bytes;
        Ok((self.all.len() - 1, from))
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
type Part = (u64, (usize, usize), usize);

/// Copies the changed pages of a stopped process.
fn copy(pid: i32, buffer: &mut Buffer) -> Result<(Vec<Mapping>, Vec<Part>)> {
    let maps = mappings(pid)?;
    let mut parts = Vec::new();
    // Several ranges by one call.
    let mut batch: Vec<(u64, usize)> = Vec::new();
    let mut bytes = 0;
    let most = 512;
    for (mut from, mut len) in changed(pid, &maps) {
        while len > 0 {
            let now = (len as usize).min(AT_ONCE - bytes);
            batch.push((from, now));
            bytes += now;
            from += now as u64;
            len -= now as u64;
            if bytes == AT_ONCE || batch.len() == most {
                read(pid, &batch, buffer, &mut parts)?;
                batch.clear();
                bytes = 0;
            }
        }
    }
    read(pid, &batch, buffer, &mut parts)?;
    Ok((maps, parts))
}

/// Copies ranges.
fn read(pid: i32, ranges: &[(u64, usize)], buffer: &mut Buffer, parts: &mut Vec<Part>) -> Result<()> {
    let bytes = ranges.iter().map(|(_, len)| len).sum();
    let (number, from) = buffer.reserve(bytes)?;
    let memory = &mut buffer.all[number][from..from + bytes];
    let mut done = 0;
    let mut rest = ranges;
    while let Some(&(start, len)) = rest.first() {
        let remote: Vec<libc::iovec> = rest
            .iter()
            .map(|(start, len)| libc::iovec {
                iov_base: std::ptr::without_provenance_mut(*start as usize),
                iov_len: *len,
            })
            .collect();
        let local = libc::iovec { iov_base: memory[done..].as_mut_ptr().cast(), iov_len: bytes - done };
        // SAFETY: the call writes at most `iov_len` bytes, all of which are inside the slice that `local` is made from.
        let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, remote.as_ptr(), remote.len() as u64, 0) };
        let Ok(mut read) = usize::try_from(read) else {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::ESRCH) => return Err(halt::gone(pid)),
                // A page that cannot be read, such as one beyond the end of its file.
                Some(libc::EFAULT) => {
                    done += len;
                    rest = &rest[1..];
                    continue;
                }
                _ => return Err(halt::refused(pid, &error)),
            }
        };
        if read == 0 {
            return Err(halt::gone(pid));
        }
        // The call ends early at a page that cannot be read.
        while let Some(&(start, len)) = rest.first().filter(|_| read > 0) {
            let now = read.min(len);
            parts.push((start, (number, from + done), now));
            read -= now;
            done += len;
            rest = &rest[1..];
        }
        let _ = (start, len);
    }
    Ok(())
}
