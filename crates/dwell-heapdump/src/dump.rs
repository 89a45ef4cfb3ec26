//! The copy of the process that writes a dump, as its parent sees it.

use crate::arch;
use crate::child::{self, Control, Order, Stage};
use crate::error::Error;
use crate::limit::Limits;
use crate::sys::{self, Clone};
use crate::threads;
use libc::{c_char, c_int};
use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::process;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A [`Control`] that is shared with the child.
///
/// # Invariants
/// 1. The address is that of a mapping of its own with at least the bytes of a `Control`, which lives as long as this value.
struct Shared(NonNull<Control>);

// SAFETY: all fields are atomic.
unsafe impl Send for Shared {}
// SAFETY: a shared reference gives access to the atomic fields only.
unsafe impl Sync for Shared {}

impl Shared {
    fn new() -> Result<Self, Error> {
        let at =
            sys::map(size_of::<Control>(), true).map_err(|error| Error::Copy(io::Error::from_raw_os_error(error)))?;
        // All fields are zero, as the kernel gives the memory.
        NonNull::new(at.cast()).map(Self).ok_or(Error::Unsupported)
    }
}

impl Deref for Shared {
    type Target = Control;

    fn deref(&self) -> &Control {
        // SAFETY: (1); atomics may have any bits.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: (1), and the value ends here.
        unsafe { sys::unmap(self.0.as_ptr().cast(), size_of::<Control>()) };
    }
}

/// The right to write a dump, which one thread of the process has at a time.
struct Turn;

/// The process that has the turn: a child of the program has a copy of this.
static HOLDER: AtomicU32 = AtomicU32::new(0);
/// When the last dump began, in milliseconds after the first one, plus one.
static LAST: AtomicU64 = AtomicU64::new(0);

impl Turn {
    fn take(spacing: Duration) -> Result<Self, Error> {
        static FIRST: OnceLock<Instant> = OnceLock::new();
        let (me, holder) = (process::id(), HOLDER.load(Ordering::Acquire));
        if holder == me || HOLDER.compare_exchange(holder, me, Ordering::AcqRel, Ordering::Acquire).is_err() {
            return Err(Error::Busy);
        }
        let turn = Self;
        let now = millis(FIRST.get_or_init(Instant::now).elapsed()).saturating_add(1);
        let last = LAST.load(Ordering::Relaxed);
        if last > 0 && now - last < millis(spacing) {
            return Err(Error::Spacing);
        }
        LAST.store(now, Ordering::Relaxed);
        Ok(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::Release);
    }
}

/// What is known of a dump that was written.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The bytes of the dump.
    pub bytes: u64,
    /// The time in which the kernel copied the process's tables of pages. Only a thread that allocates, writes to a page for
    /// the first time, or maps memory waits in it.
    pub pause: Duration,
    /// The time from the call to the end of the dump.
    pub time: Duration,
    /// The number of threads.
    pub threads: usize,
    /// The number of those that ran at that moment, whose registers are therefore not in the dump.
    pub running: usize,
}

/// The bounds of a dump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) timeout: Duration,
    pub(crate) most: u64,
    pub(crate) keep_free: u64,
    pub(crate) spacing: Duration,
}

/// Where a dump goes.
pub(crate) struct Target<'a> {
    pub(crate) file: BorrowedFd<'a>,
    /// The name that the file gets in the end, the one that it has, and whether that one is removed.
    pub(crate) names: Option<(CString, CString, bool)>,
}

/// A child that writes a dump. It is killed and waited for on drop.
pub(crate) struct Child {
    id: i32,
    descriptor: Option<OwnedFd>,
    control: Shared,
    is_over: bool,
    began: Instant,
    timeout: Duration,
    limits: Limits,
    most: u64,
    keep_free: u64,
    pause: Duration,
    threads: (usize, usize),
    _turn: Turn,
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

const NO_SIGNALS: u64 = u64::MAX;

impl Child {
    /// Copies the process. The child begins to write.
    // The registers are those of this function, whose frame must exist as long as the child writes.
    #[inline(never)]
    pub(crate) fn start(target: &Target<'_>, bounds: &Bounds) -> Result<Self, Error> {
        let began = Instant::now();
        let turn = Turn::take(bounds.spacing)?;
        expect_same_namespace()?;
        let limits = Limits::find();
        let control = Shared::new()?;
        let words = words();
        let metadata = metadata(target.file).map_err(Error::Write)?;
        let mut threads = threads::threads()?;
        let page = words.chunks_exact(2).find(|pair| pair[0] == libc::AT_PAGESZ).map_or(4096, |pair| pair[1]);
        let (registers, pointer) = arch::registers();
        if let Some(own) = threads.all.first_mut() {
            (own.registers, own.pointer) = (registers, pointer);
        }
        let order = Order {
            file: target.file.as_raw_fd(),
            is_regular: metadata.is_file(),
            names: target.names.as_ref().map(|(to, from, is_removed)| (&**from, &**to, *is_removed)),
            threads: &threads.all,
            first: i32::try_from(process::id()).unwrap_or(0),
            words: &words,
            time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis),
            glibc: glibc(),
            most: bounds.most,
            keep_free: bounds.keep_free,
            seconds: bounds.timeout.as_secs().saturating_add(2),
            page: page.max(1 << 12),
            control: &control,
        };
        let blocked = sys::block(NO_SIGNALS);
        let before = Instant::now();
        // SAFETY: the child does nothing but `child::run`.
        let mut cloned = unsafe { sys::clone(true) };
        if matches!(cloned, Err(libc::EINVAL | libc::EMFILE | libc::ENFILE)) {
            // SAFETY: a child of this call does nothing but `child::run` either.
            cloned = unsafe { sys::clone(false) };
        }
        if matches!(cloned, Ok(Clone::Child)) {
            child::run(&order);
        }
        let pause = before.elapsed();
        sys::block(blocked);
        let (id, descriptor) = match cloned.map_err(|error| Error::Copy(io::Error::from_raw_os_error(error)))? {
            Clone::Parent(id, descriptor) => (id, descriptor),
            Clone::Child => return Err(Error::Unsupported),
        };
        // SAFETY: the kernel made the descriptor for this thread, which gives it to nobody else.
        let descriptor = descriptor.map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) });
        let threads = (threads.all.len(), threads.running);
        let (most, keep_free) = (bounds.most, bounds.keep_free);
        let timeout = bounds.timeout;
        Ok(Self {
            id,
            descriptor,
            control,
            is_over: false,
            began,
            timeout,
            limits,
            most,
            keep_free,
            pause,
            threads,
            _turn: turn,
        })
    }

    /// Returns the bytes of the dump once they are known.
    pub(crate) fn total(&self) -> Option<u64> {
        Some(self.control.total.load(Ordering::Acquire)).filter(|total| *total > 0)
    }

    fn descriptor(&self) -> Option<c_int> {
        self.descriptor.as_ref().map(OwnedFd::as_raw_fd)
    }

    /// Returns an error if the child is to be ended: it takes too long, or too little memory is left.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.began.elapsed() > self.timeout {
            return Err(Error::Timeout);
        }
        if self.limits.are_close() { Err(Error::Memory) } else { Ok(()) }
    }

    /// Waits until the child has ended.
    pub(crate) fn wait(&mut self) -> Result<Summary, Error> {
        const INTERVAL: u64 = 50;
        loop {
            match self.descriptor() {
                Some(descriptor) => {
                    sys::wait_to_read(descriptor, INTERVAL);
                }
                None => std::thread::sleep(Duration::from_millis(INTERVAL / 10)),
            }
            // A blocking wait would not see the time.
            match sys::wait(self.id, false) {
                Ok(None) => self.check()?,
                Ok(Some(status)) => {
                    self.is_over = true;
                    return self.result(Some(status));
                }
                // The program has waited for it: `waitpid(-1, .., __WALL)`.
                Err(_) => {
                    self.is_over = true;
                    return self.result(None);
                }
            }
        }
    }

    fn result(&self, status: Option<c_int>) -> Result<Summary, Error> {
        let control = &*self.control;
        let bytes = control.total.load(Ordering::Acquire);
        if control.is_done.load(Ordering::Acquire) == 1 {
            let (threads, running) = self.threads;
            return Ok(Summary { bytes, pause: self.pause, time: self.began.elapsed(), threads, running });
        }
        let failure = control.failure.load(Ordering::Acquire);
        let error = || io::Error::from_raw_os_error(i32::try_from(failure & 0xffff_ffff).unwrap_or(0));
        match Stage::from_number(failure >> 32) {
            Some(Stage::Maps) => Err(Error::Proc(error())),
            Some(Stage::Memory) => Err(Error::Copy(error())),
            Some(Stage::Write | Stage::Name) => Err(Error::Write(error())),
            Some(Stage::Size) => Err(Error::Size { needed: bytes, most: self.most }),
            Some(Stage::Disk) => Err(Error::Disk { needed: bytes.saturating_add(self.keep_free), free: 0 }),
            None => {
                let signal = status
                    .filter(|status| libc::WIFSIGNALED(*status))
                    .map_or(libc::SIGKILL, |status| libc::WTERMSIG(status));
                Err(if signal == libc::SIGALRM { Error::Timeout } else { Error::Killed(signal) })
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.is_over {
            sys::kill(self.id, self.descriptor());
            let _ = sys::wait(self.id, true);
        }
    }
}

/// Returns the kernel's words for this process, as pairs of a key and a value. Their file may be closed to it.
fn words() -> Vec<u64> {
    const AT_SYSINFO_EHDR: u64 = 33;
    let keys = [
        libc::AT_PHDR,
        libc::AT_PHENT,
        libc::AT_PHNUM,
        libc::AT_PAGESZ,
        libc::AT_BASE,
        libc::AT_ENTRY,
        AT_SYSINFO_EHDR,
        libc::AT_NULL,
    ];
    // SAFETY: the function looks a key up in a list, and takes any.
    keys.into_iter().flat_map(|key| [key, unsafe { libc::getauxval(key) }]).collect()
}

/// Returns the version of glibc, if the program is linked with it.
#[cfg_attr(target_env = "gnu", expect(clippy::unnecessary_wraps, reason = "there are other libcs"))]
fn glibc() -> Option<&'static CStr> {
    #[cfg(target_env = "gnu")]
    {
        // Older versions of the crate libc do not have it.
        unsafe extern "C" {
            safe fn gnu_get_libc_version() -> *const c_char;
        }
        let version = gnu_get_libc_version();
        // SAFETY: glibc returns a string of its own that never changes.
        Some(unsafe { CStr::from_ptr(version) })
    }
    #[cfg(not(target_env = "gnu"))]
    None
}

fn metadata(file: BorrowedFd<'_>) -> io::Result<fs::Metadata> {
    let file = fs::File::from(file.try_clone_to_owned()?);
    file.metadata()
}

/// The first child after `unshare(CLONE_NEWPID)` is the first process of a namespace, which ends with it.
fn expect_same_namespace() -> Result<(), Error> {
    let namespace = |name: &str| fs::read_link(format!("/proc/thread-self/ns/{name}")).ok();
    match (namespace("pid"), namespace("pid_for_children")) {
        (Some(own), Some(other)) if own != other => Err(Error::Namespace),
        (Some(_), None) => Err(Error::Namespace),
        _ => Ok(()),
    }
}

/// Returns how many bytes a dump would have now at most.
pub(crate) fn size() -> Result<u64, Error> {
    // SAFETY: the function looks a key up in a list.
    let page = unsafe { libc::getauxval(libc::AT_PAGESZ) };
    child::size(page.max(1 << 12)).map_err(|error| Error::Proc(io::Error::from_raw_os_error(error)))
}
