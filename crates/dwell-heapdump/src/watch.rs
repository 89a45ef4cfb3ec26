//! Dumps without a caller: on a signal, above a number of bytes, near a limit, or at an interval.

use crate::dump::Summary;
use crate::error::Error;
use crate::limit::{Limits, Used};
use crate::options::{Options, expect_folder};
use crate::sys;
use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, IntoRawFd as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A folder for dumps, and how many there may be.
///
/// The dumps are named by the program, the time in milliseconds and the process: `server.1735689600123.17.core`. No file is removed: if
/// the folder has as many dumps of the program as are allowed, there is none until somebody removes one.
///
/// ```no_run
/// use dwell_heapdump::{Folder, SIGUSR2, on_signal};
///
/// let folder = Folder::new("/var/dumps").files(3).report(|outcome| match outcome {
///     Ok((path, summary)) => eprintln!("{}: {} bytes", path.display(), summary.bytes),
///     Err(error) => eprintln!("{error}"),
/// });
/// on_signal(SIGUSR2, folder)?;
/// # Ok::<(), dwell_heapdump::Error>(())
/// ```
#[derive(Clone)]
pub struct Folder {
    path: PathBuf,
    files: usize,
    share: f64,
    options: Options,
    report: Arc<Report>,
}

/// A dump and its file, or why there is none.
pub type Outcome = Result<(PathBuf, Summary), Error>;

type Report = dyn Fn(&Outcome) + Send + Sync;

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, files, share, options, report: _ } = self;
        f.debug_struct("Folder")
            .field("path", path)
            .field("files", files)
            .field("share", share)
            .field("options", options)
            .finish_non_exhaustive()
    }
}

impl<P: AsRef<Path>> From<P> for Folder {
    fn from(path: P) -> Self {
        Self::new(path)
    }
}

impl Folder {
    /// Returns a folder for at most 5 dumps of this program, with at least 60 seconds between two of them.
    #[must_use]
    pub fn new(path: impl AsRef<Path>) -> Self {
        let options = Options::new().spacing(Duration::from_secs(60));
        Self { path: path.as_ref().to_owned(), files: 5, share: 0.9, options, report: Arc::new(print) }
    }

    /// Sets the number of dumps of this program that may be in the folder.
    #[must_use]
    pub fn files(mut self, most: usize) -> Self {
        self.files = most;
        self
    }

    /// Sets the bounds of each dump.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets the share of a limit, of which [`near_limit`] says that it is near: 0.9 if nothing else is said.
    #[must_use]
    pub fn share(mut self, share: f64) -> Self {
        self.share = share;
        self
    }

    /// Calls a function with each dump, and with each error, instead of a line on standard error. It runs on a thread of this
    /// crate, and should not panic.
    #[must_use]
    pub fn report(mut self, report: impl Fn(&Outcome) + Send + Sync + 'static) -> Self {
        self.report = Arc::new(report);
        self
    }

    /// Writes a dump to the folder.
    ///
    /// # Errors
    /// Returns an error if there is no dump, for example because the folder has as many as are allowed.
    pub fn write(&self) -> Outcome {
        let program = env::current_exe().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        // The kernel says so of an executable that was replaced since.
        let program = program.map_or_else(String::new, |name| name.trim_end_matches(" (deleted)").to_owned());
        let is_dump = |name: &str| {
            let numbers = name.strip_prefix(&program).and_then(|rest| rest.strip_prefix('.')?.strip_suffix(".core"));
            numbers.is_some_and(|numbers| numbers.split('.').all(|part| part.parse::<u64>().is_ok()))
        };
        let entries = fs::read_dir(&self.path).map_err(Error::Write)?;
        let count = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_dump)).count();
        if count >= self.files {
            return Err(Error::Full(self.path.clone(), self.files));
        }
        let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let path = self.path.join(format!("{program}.{millis}.{}.core", process::id()));
        let summary = self.options.write(&path)?;
        Ok((path, summary))
    }

    /// Returns the folder if dumps can be written to it.
    fn expected(self) -> Result<Self, Error> {
        expect_folder(&self.path).map(|()| self)
    }

    /// Returns `true` if the dump was given up because of the memory that was left.
    fn dump(&self) -> bool {
        let outcome = self.write();
        (self.report)(&outcome);
        matches!(outcome, Err(Error::Memory | Error::Killed(_) | Error::Copy(_)))
    }

    /// Writes again what was given up: that was no dump, from which time has to pass.
    fn again(&self) -> bool {
        let mut folder = self.clone();
        folder.options.bounds.spacing = Duration::ZERO;
        folder.dump()
    }
}

/// Writes a line to standard error.
fn print(outcome: &Outcome) {
    // Nobody may read it.
    let _ = match outcome {
        Ok((path, Summary { bytes, .. })) => {
            writeln!(io::stderr(), "heap dump: {} ({} MiB)", path.display(), bytes.div_ceil(1 << 20))
        }
        Err(error) => writeln!(io::stderr(), "heap dump: {error}"),
    };
}

/// A thread that waits for a reason to write a dump. It runs as long as the process, or until [`stop`](Self::stop).
#[derive(Clone, Debug)]
pub struct Watch {
    is_over: Arc<AtomicBool>,
    thread: thread::Thread,
}

impl Watch {
    /// Lets the thread end. A dump that is being written is completed.
    pub fn stop(self) {
        self.is_over.store(true, Ordering::Release);
        self.thread.unpark();
    }

    /// Starts a thread that looks at this interval whether there is a reason, of which it says how many dumps in a row
    /// were given up.
    fn start(
        folder: Folder,
        interval: Duration,
        mut has_reason: impl FnMut(u32) -> bool + Send + 'static,
    ) -> Result<Self, Error> {
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let run = move || {
            let mut next = Instant::now() + interval;
            let mut failed = 0;
            while !seen.load(Ordering::Acquire) {
                let now = Instant::now();
                if now < next {
                    thread::park_timeout(next - now);
                    continue;
                }
                if has_reason(failed) {
                    let is_given_up = if failed > 0 { folder.again() } else { folder.dump() };
                    failed = if is_given_up { failed + 1 } else { 0 };
                }
                next = Instant::now() + interval;
            }
        };
        let thread = spawn(run)?;
        Ok(Self { is_over, thread })
    }
}

fn spawn(run: impl FnOnce() + Send + 'static) -> Result<thread::Thread, Error> {
    const STACK: usize = 256 << 10;
    // The thread is not to run the handlers of the program's signals.
    let blocked = sys::block(u64::MAX);
    let thread = thread::Builder::new().name("heapdump".to_owned()).stack_size(STACK).spawn(run);
    sys::block(blocked);
    Ok(thread.map_err(Error::Copy)?.thread().clone())
}

/// How often memory is looked at.
const INTERVAL: Duration = Duration::from_millis(100);

/// A reason that holds for some time: it counts when it begins, and again after the spacing of the folder if it still holds.
struct Reason {
    since: Option<Instant>,
    spacing: Duration,
}

impl Reason {
    fn new(folder: &Folder) -> Self {
        Self { since: None, spacing: folder.options.bounds.spacing.max(Duration::from_secs(1)) }
    }

    /// `failed` dumps in a row were given up. The memory that was missing may be there a moment later (a table that grew
    /// has freed the old one), and the program may not live for the whole spacing.
    fn counts(&mut self, holds: bool, is_over: bool, failed: u32) -> bool {
        let is_new = self.since.is_none_or(|since| since.elapsed() > self.wait(failed));
        if holds && is_new {
            self.since = Some(Instant::now());
            return true;
        }
        if is_over && failed == 0 {
            self.since = None;
        }
        false
    }

    fn wait(&self, failed: u32) -> Duration {
        const FIRST: Duration = Duration::from_secs(1);
        match failed.checked_sub(1) {
            None => self.spacing,
            Some(times) => FIRST.saturating_mul(1_u32.checked_shl(times).unwrap_or(u32::MAX)).min(self.spacing),
        }
    }
}

/// Writes a dump when more bytes of the process are in memory than `bytes`.
///
/// It is written again after the spacing of the folder, if there are still more then, or if there were fewer meanwhile.
///
/// # Errors
/// Returns an error if no file can be made in the folder, `/proc/self/statm` cannot be read, or no thread can be started.
pub fn above_rss(bytes: u64, folder: impl Into<Folder>) -> Result<Watch, Error> {
    let folder = folder.into().expected()?;
    let file = File::open("/proc/self/statm").map_err(Error::Proc)?;
    let mut reason = Reason::new(&folder);
    Watch::start(folder, INTERVAL, move |failed| {
        let resident = resident(&file).unwrap_or(0);
        // A little below is no new beginning.
        reason.counts(resident > bytes, resident < bytes - bytes / 16, failed)
    })
}

/// Returns the bytes of this process that are in memory: the second number of pages.
fn resident(file: &File) -> Option<u64> {
    let mut bytes = [0; 256];
    let read = file.read_at(&mut bytes, 0).ok()?;
    let text = std::str::from_utf8(bytes.get(..read)?).ok()?;
    // SAFETY: the function looks a key up in a list.
    let page = unsafe { libc::getauxval(libc::AT_PAGESZ) };
    text.split(' ').nth(1)?.parse::<u64>().ok()?.checked_mul(page)
}

/// Writes a dump when most of the memory is used that the process can have: by the limits of its control groups (of both
/// versions), or of the machine (`MemAvailable`).
///
/// What share of it that is, [`Folder::share`] says. Pages of files that the kernel gives back first do not count. The child that
/// writes is the first process that the kernel ends if memory runs out, and it is ended before if 1.5 % are left. Then the dump
/// is tried again after a second, after two more, and so on.
///
/// # Errors
/// Returns an error if no file can be made in the folder, no limit is known, or no thread can be started.
pub fn near_limit(folder: impl Into<Folder>) -> Result<Watch, Error> {
    let folder = folder.into().expected()?;
    let limits = Limits::find();
    if !limits.are_known() {
        return Err(Error::NoLimit);
    }
    let share = folder.share;
    let mut reason = Reason::new(&folder);
    Watch::start(folder, INTERVAL, move |failed| {
        let used = limits.closest();
        let is_above = |share: f64| used.is_some_and(|used: Used| used.is_above(share));
        reason.counts(is_above(share), !is_above(share - 0.05), failed)
    })
}

/// Writes a dump at this interval, until the folder has as many as are allowed.
///
/// # Errors
/// Returns an error if no file can be made in the folder, or no thread can be started.
pub fn every(interval: Duration, folder: impl Into<Folder>) -> Result<Watch, Error> {
    Watch::start(folder.into().expected()?, interval, |_| true)
}

/// The end of a pipe that wakes the thread of [`on_signal`].
static WAKE: AtomicI32 = AtomicI32::new(-1);

extern "C" fn handler(_: libc::c_int) {
    request();
}

/// Lets the thread of [`on_signal`] write a dump. This may be called in a handler of a signal: it only writes a byte to a pipe.
/// Without [`on_signal`] nothing happens.
pub fn request() {
    let pipe = WAKE.load(Ordering::Acquire);
    if pipe >= 0 {
        sys::wake(pipe);
    }
}

/// Writes a dump each time that the process gets a signal, such as `SIGUSR2`. Call it once, and before other threads exist or
/// soon after: as always with signals, a system call that one interrupts may return `EINTR`.
///
/// The handler only wakes a thread that writes the dump.
///
/// # Errors
/// Returns an error if no file can be made in the folder, if the signal has a handler or is ignored already, if it cannot have one, or if no thread can be started.
pub fn on_signal(signal: i32, folder: impl Into<Folder>) -> Result<Watch, Error> {
    let folder = folder.into().expected()?;
    let (reader, writer) = io::pipe().map_err(Error::Write)?;
    // A handler must not wait. A full pipe has a request already.
    sys::set_nonblocking(writer.as_raw_fd());
    let writer = writer.into_raw_fd();
    if WAKE.compare_exchange(-1, writer, Ordering::AcqRel, Ordering::Acquire).is_err() {
        sys::close(writer);
        return Err(Error::Signal(signal));
    }
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let run = move || {
        let mut bytes = [0; 64];
        while !seen.load(Ordering::Acquire) {
            if !sys::wait_to_read(reader.as_raw_fd(), 250) {
                continue;
            }
            match sys::read(reader.as_raw_fd(), &mut bytes) {
                // The other end is closed, because the signal cannot have a handler.
                Ok(0) => break,
                Ok(_) => {
                    folder.dump();
                }
                Err(_) => {}
            }
        }
    };
    let result = spawn(run).and_then(|thread| {
        let watch = Watch { is_over: Arc::clone(&is_over), thread };
        if sys::handle(signal, handler) { Ok(watch) } else { Err(Error::Signal(signal)) }
    });
    if result.is_err() {
        is_over.store(true, Ordering::Release);
        WAKE.store(-1, Ordering::Release);
        sys::close(writer);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_is_tried_again_soon() {
        let mut reason = Reason { since: None, spacing: Duration::from_secs(60) };
        assert!(reason.counts(true, false, 0));
        assert!(!reason.counts(true, false, 0) && !reason.counts(true, false, 1));
        // It is not forgotten when less is used for a moment, or each such moment would have a copy.
        assert!(!reason.counts(false, true, 1) && !reason.counts(true, false, 1));
        assert!(!reason.counts(false, true, 0) && reason.counts(true, false, 0));
        let waits: Vec<u64> = (0..9).map(|failed| reason.wait(failed).as_secs()).collect();
        assert_eq!(waits, [60, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(reason.wait(u32::MAX).as_secs(), 60);
    }
}
