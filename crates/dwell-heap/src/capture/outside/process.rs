//! Copies the memory of a running process.
//!
//! What takes time happens before the stop: the buffer is allocated and its pages exist, in huge ones where the kernel has
//! them. Then all threads are stopped, the pages that the process has changed are copied, and the threads continue.

#![expect(clippy::cast_possible_truncation, reason = "`usize` has 64 bits where this runs")]

use super::copy::{Buffer, copy};
use super::executable::{self, Executable};
use super::folder::Folder;
use super::guard::Guard;
use super::{Captured, Files, halt};
use crate::arch;
use crate::capture::Moment;
use crate::capture::copied::Copied;
use crate::capture::maps::{self, Mapping, below};
use crate::capture::resident;
use crate::capture::stop;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Copies a running process. Its executable is `exe`, one that is found in the folder `debug`, or else what the kernel names.
///
/// # Errors
/// Returns an error in one line: there is no such process, it must not be looked at, it has no debug info, or it ends
/// meanwhile.
pub fn attach(pid: i32, exe: Option<&Path>, debug: Option<&Path>) -> Result<Captured> {
    expect_process(pid)?;
    let (file, root) = files(pid, exe, debug)?;
    let libraries = mappings(pid).unwrap_or_default();
    let libraries: Vec<PathBuf> = maps::files(&libraries).into_iter().map(|path| below(&root, path)).collect();
    executable::check(&file, &libraries)?;
    let entry = entry(pid).ok_or_else(|| halt::gone(pid))?;
    let before = mappings(pid)?;
    let mut buffer = Buffer::new(pid, &before)?;
    let started = started(pid);

    let start = Instant::now();
    let mut guard = Guard::new(pid)?;
    let copied = mappings(pid).and_then(|maps| Ok((copy(pid, &maps, &mut buffer)?, maps)));
    let threads = std::mem::take(&mut guard.threads);
    guard.release();
    let pause = start.elapsed();

    let (parts, maps) = copied?;
    guard.end(pid)?;
    // What is resident of files changes seldom, so that this need not be read during the stop.
    let smaps = fs::read_to_string(format!("/proc/{pid}/smaps")).ok().map(|text| maps::mappings(&text));
    let names = resident::names(pid);
    let executable = Executable::find(&maps, entry, &file)
        .with_context(|| format!("{}: is not the executable of process {pid}", file.display()))?;
    let mut memory = Copied::default();
    let numbers: Vec<usize> = buffer.into_all(&parts).map(|all| memory.buffer(Box::new(all))).collect();
    for (start, (buffer, from), len) in parts {
        memory.part(start, numbers[buffer], from, len);
    }
    let files = Files::Below(root);
    memory.complete(&maps, &|path| files.file(path, &executable), true);
    let moment = Moment::Attached;
    let millis = started.unwrap_or(0);
    let page = arch::page();
    Ok(Captured {
        maps,
        memory,
        threads,
        executable,
        page,
        files,
        glibc: None,
        moment,
        millis,
        names,
        smaps,
        pause: Some(pause),
    })
}

/// Stops a process for this time, as [`attach`] does while it copies, and returns for how long it was stopped.
///
/// # Errors
/// Returns an error in one line if there is no such process, or if it must not be looked at.
pub fn hold(pid: i32, time: Duration) -> Result<Duration> {
    expect_process(pid)?;
    let start = Instant::now();
    let mut guard = Guard::new(pid)?;
    thread::sleep(time);
    guard.release();
    let pause = start.elapsed();
    guard.end(pid)?;
    Ok(pause)
}

/// Checks that there is such a process, and that it can have a heap.
fn expect_process(pid: i32) -> Result<()> {
    let status = |key: &str| stop::status(pid, pid, key);
    let Some(state) = status("State") else {
        let Ok(text) = fs::read_to_string(format!("/proc/{pid}/status")) else {
            bail!("there is no process {pid}");
        };
        let process = text.lines().find_map(|line| line.strip_prefix("Tgid:")).unwrap_or_default().trim();
        bail!("{pid} is a thread of process {process}; name that one");
    };
    if pid.cast_unsigned() == std::process::id() {
        bail!("process {pid} is this one; name another one");
    }
    if status("Tgid").is_some_and(|group| group != pid.to_string()) {
        bail!("{pid} is a thread of process {}; name that one", status("Tgid").unwrap_or_default());
    }
    if state.starts_with(['Z', 'X']) {
        bail!("process {pid} has ended, and waits for its parent (a zombie): it has no memory any more");
    }
    // One that ends has no memory, too.
    if status("VmSize").is_none() {
        if is_of_kernel(pid) {
            bail!("process {pid} is a thread of the kernel, and has no heap");
        }
        return Err(halt::gone(pid));
    }
    Ok(())
}

/// Returns the fields of `/proc/PID/stat` behind the name, which may have spaces.
fn stat(pid: i32, number: usize) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(number)?.parse().ok()
}

fn is_of_kernel(pid: i32) -> bool {
    const FLAGS: usize = 6;
    const OF_KERNEL: u64 = 0x20_0000;
    stat(pid, FLAGS).is_some_and(|flags| flags & OF_KERNEL != 0)
}

/// Returns the root of a process, if it is another one. A program that has changed it (`chroot`) has it in all paths.
fn changed_root(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/root")).ok().filter(|root| root != Path::new("/"))
}

/// Removes the path of the root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    path.strip_prefix(root).map_or_else(|_| path.to_owned(), |path| Path::new("/").join(path))
}

/// Returns where the executable of a process can be read, and the folder of the process's files.
fn files(pid: i32, exe: Option<&Path>, debug: Option<&Path>) -> Result<(PathBuf, PathBuf)> {
    let link = PathBuf::from(format!("/proc/{pid}/exe"));
    let path = fs::read_link(&link).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => halt::gone(pid),
        _ => halt::refused(pid, &error),
    })?;
    let running = fs::metadata(&link).map_err(|_| halt::gone(pid))?;
    let is_it = |file: &Path| {
        fs::metadata(file).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (running.dev(), running.ino()))
    };
    let of_process = PathBuf::from(format!("/proc/{pid}/root"));
    let space = |process: &str| fs::read_link(format!("/proc/{process}/ns/mnt")).ok();
    let has_own_files =
        space(&pid.to_string()) != space("self") || fs::read_link(&of_process).is_ok_and(|root| root != Path::new("/"));
    let root = if has_own_files { of_process } else { PathBuf::new() };
    let folder = debug.map(Folder::read).transpose()?;
    if let (None, Some(folder)) = (exe, &folder) {
        let wanted = executable::build_id(&link);
        let found = folder.executable(wanted.as_deref(), &link, &format!("process {pid}"))?;
        return Ok((found, root));
    }
    if let Some(exe) = exe {
        let wanted = executable::build_id(&link);
        executable::expect_same(wanted.as_deref(), exe, &format!("process {pid}"))?;
        return Ok((exe.to_owned(), root));
    }
    let places = [
        path.clone(),
        below(&root, &changed_root(pid).map_or_else(|| path.clone(), |changed| inside(&changed, &path))),
    ];
    // A file that was deleted, such as by an update, is there as long as the process runs.
    let file = places.into_iter().find(|file| is_it(file)).unwrap_or(link);
    Ok((file, root))
}

/// Returns the address of a process's first instruction.
fn entry(pid: i32) -> Option<u64> {
    let words = fs::read(format!("/proc/{pid}/auxv")).ok()?;
    super::word_in(&words, super::AT_ENTRY)
}

/// Returns the running time of a process in milliseconds.
fn started(pid: i32) -> Option<u64> {
    /// The units of `/proc/PID/stat`.
    const TICKS: u64 = 100;
    let ticks = stat(pid, 19)?;
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
    let mut maps = maps::mappings(&text);
    if let Some(root) = changed_root(pid) {
        for map in &mut maps {
            map.path = inside(&root, &map.path);
        }
    }
    if maps.is_empty() { Err(halt::gone(pid)) } else { Ok(maps) }
}
