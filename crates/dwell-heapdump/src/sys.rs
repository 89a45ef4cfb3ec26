//! System calls of the child, and of the thread that starts it.
//!
//! Nothing here takes a lock or allocates with the program's allocator. The functions of libc that are called are [`syscall`],
//! which only enters the kernel and sets `errno`, and the accessor of `errno`, which is thread-local.

#![expect(
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "the kernel's words are of both signs, and `usize` has 64 bits where this runs"
)]

use crate::arch;
use core::ffi::CStr;
use core::ptr;
use libc::{c_int, c_long, syscall};

/// The number of an error, as `errno` has it.
pub(crate) type Errno = i32;

fn errno() -> Errno {
    // SAFETY: the function returns the address of the thread's own `errno`, and has no other effect.
    let at = unsafe { libc::__errno_location() };
    // SAFETY: the address is valid as long as the thread runs.
    unsafe { *at }
}

fn checked(value: c_long) -> Result<usize, Errno> {
    if value == -1 { Err(errno()) } else { Ok(value as usize) }
}

/// What `clone` returned.
pub(crate) enum Clone {
    Child,
    /// The parent, with the child's id, and a descriptor of the child if the kernel knows them (Linux 5.2).
    Parent(i32, Option<c_int>),
}

/// Copies the process, as `fork` does, but the child sends no signal when it ends, and no handlers of `pthread_atfork` run.
///
/// # Safety
/// The child calls only functions of this file, and ends by [`exit`].
pub(crate) unsafe fn clone(with_descriptor: bool) -> Result<Clone, Errno> {
    // Older versions of the crate libc do not have it.
    const CLONE_PIDFD: c_int = 0x1000;
    let mut descriptor: c_int = -1;
    let flags = libc::CLONE_UNTRACED | if with_descriptor { CLONE_PIDFD } else { 0 };
    // SAFETY: without `CLONE_VM` the child has its own copy of all memory. The kernel writes the descriptor to the local.
    let id = unsafe { syscall(libc::SYS_clone, c_long::from(flags), 0_usize, &raw mut descriptor, 0_usize, 0_usize) };
    match checked(id)? {
        0 => Ok(Clone::Child),
        id => Ok(Clone::Parent(id as i32, (descriptor >= 0).then_some(descriptor))),
    }
}

/// Ends the child.
pub(crate) fn exit(code: i32) -> ! {
    loop {
        // SAFETY: the call does not return.
        unsafe { syscall(libc::SYS_exit_group, c_long::from(code)) };
    }
}

/// Sets the signals that are blocked, and returns those that were.
pub(crate) fn block(signals: u64) -> u64 {
    let mut old = 0_u64;
    // SAFETY: the kernel reads and writes the locals, which have the size that is given. `SIG_SETMASK` has no other effect.
    unsafe {
        syscall(libc::SYS_rt_sigprocmask, c_long::from(libc::SIG_SETMASK), &raw const signals, &raw mut old, 8_usize)
    };
    old
}

/// Lets the kernel end the process after so many seconds. For the child, which has no timer and no handlers of its own.
pub(crate) fn end_after(seconds: u64) {
    // `struct sigaction` and `struct itimerval` as the kernel declares them: the default action, and one expiry.
    let default = [0_u64; 8];
    // SAFETY: the kernel reads fewer bytes than the array has. The child shares no handlers with its parent.
    unsafe {
        syscall(libc::SYS_rt_sigaction, c_long::from(libc::SIGALRM), default.as_ptr(), ptr::null_mut::<u64>(), 8_usize)
    };
    let timer = [0, 0, seconds, 0];
    // SAFETY: the kernel reads the four words.
    unsafe { syscall(libc::SYS_setitimer, c_long::from(libc::ITIMER_REAL), timer.as_ptr(), ptr::null_mut::<u64>()) };
}

/// Lowers the priority of this thread, and makes the process the first that ends if memory runs out.
pub(crate) fn step_back() {
    const NICE: c_long = 10;
    let parameter = 0_u64;
    // A program of realtime priority has children of the same.
    // SAFETY: the kernel reads the first four bytes of the local.
    unsafe { syscall(libc::SYS_sched_setscheduler, 0_usize, c_long::from(libc::SCHED_OTHER), &raw const parameter) };
    // SAFETY: the call takes no pointers. It concerns the calling thread, the only one of the child.
    unsafe { syscall(libc::SYS_setpriority, libc::PRIO_PROCESS as usize, 0_usize, NICE) };
    let name = c"heapdump";
    // SAFETY: the kernel reads the name up to its end.
    unsafe { syscall(libc::SYS_prctl, c_long::from(libc::PR_SET_NAME), name.as_ptr()) };
    if let Ok(file) = open(c"/proc/self/oom_score_adj", libc::O_WRONLY) {
        let _ = write(file, b"1000".as_ptr(), 4);
        close(file);
    }
}

/// Closes all descriptors but two, of which the second may be the first.
pub(crate) fn close_others(kept: [c_int; 2]) {
    let (low, high) = (kept[0].min(kept[1]), kept[0].max(kept[1]));
    let ranges = [(0, low - 1), (low + 1, high - 1), (high + 1, c_int::MAX)];
    for (first, last) in ranges.into_iter().filter(|(first, last)| first <= last) {
        // SAFETY: the child has a table of descriptors of its own. Nothing in it uses one of those that are closed.
        let closed = unsafe { syscall(libc::SYS_close_range, first as usize, last as usize, 0_usize) };
        if closed == -1 {
            // Linux before 5.9, or a filter that does not know the call.
            const MOST: c_int = 1 << 16;
            for descriptor in first..=last.min(MOST) {
                close(descriptor);
            }
        }
    }
}

pub(crate) fn open(path: &CStr, flags: c_int) -> Result<c_int, Errno> {
    // SAFETY: the kernel reads the path up to its end.
    let file = unsafe {
        syscall(
            libc::SYS_openat,
            c_long::from(libc::AT_FDCWD),
            path.as_ptr(),
            c_long::from(flags | libc::O_CLOEXEC),
            0_usize,
        )
    };
    checked(file).map(|file| file as c_int)
}

pub(crate) fn close(file: c_int) {
    // SAFETY: the callers own the descriptor.
    unsafe { syscall(libc::SYS_close, c_long::from(file)) };
}

pub(crate) fn read(file: c_int, into: &mut [u8]) -> Result<usize, Errno> {
    // SAFETY: the kernel writes at most the bytes of the slice.
    checked(unsafe { syscall(libc::SYS_read, c_long::from(file), into.as_mut_ptr(), into.len()) })
}

pub(crate) fn read_words(file: c_int, into: &mut [u64], offset: u64) -> Result<usize, Errno> {
    let bytes = size_of_val(into);
    // SAFETY: the kernel writes at most the bytes of the slice.
    let read = unsafe { syscall(libc::SYS_pread64, c_long::from(file), into.as_mut_ptr(), bytes, offset) };
    Ok(checked(read)? / 8)
}

/// Writes bytes at any address. The kernel reports an address that cannot be read.
pub(crate) fn write(file: c_int, from: *const u8, len: usize) -> Result<usize, Errno> {
    // SAFETY: the kernel checks each page before it reads it, so that any address may be given.
    checked(unsafe { syscall(libc::SYS_write, c_long::from(file), from, len) })
}

/// Waits until a descriptor can be written to.
pub(crate) fn wait_to_write(file: c_int) {
    let mut poll = libc::pollfd { fd: file, events: libc::POLLOUT, revents: 0 };
    // SAFETY: the kernel reads and writes one entry, and waits without a bound.
    unsafe { syscall(libc::SYS_ppoll, &raw mut poll, 1_usize, ptr::null::<u64>(), ptr::null::<u64>(), 8_usize) };
}

/// Waits until a descriptor can be read, at most so many milliseconds. Returns `false` after that time.
pub(crate) fn wait_to_read(file: c_int, millis: u64) -> bool {
    let mut poll = libc::pollfd { fd: file, events: libc::POLLIN, revents: 0 };
    let mut time = [millis / 1000, millis % 1000 * 1_000_000];
    // SAFETY: the kernel reads and writes one entry, reads the two words of the time, and may write what is left of it.
    let ready =
        unsafe { syscall(libc::SYS_ppoll, &raw mut poll, 1_usize, time.as_mut_ptr(), ptr::null::<u64>(), 8_usize) };
    ready > 0
}

/// Tells the kernel that the pages of a file that were just written need not stay in memory.
pub(crate) fn written(file: c_int, from: u64, len: u64) {
    const START: usize = 2;
    // SAFETY: the call takes no pointers.
    unsafe { syscall(libc::SYS_sync_file_range, c_long::from(file), from, len, START) };
    // SAFETY: the call takes numbers only.
    unsafe { syscall(libc::SYS_fadvise64, c_long::from(file), 0_usize, from, c_long::from(libc::POSIX_FADV_DONTNEED)) };
}

/// Returns the bytes that are free where a file is, for who is not root.
pub(crate) fn free_disk(file: c_int) -> Result<u64, Errno> {
    // SAFETY: a value of this type may have all bits zero.
    let mut stat: libc::statfs = unsafe { core::mem::zeroed() };
    // SAFETY: the kernel writes a value of this type.
    checked(unsafe { syscall(libc::SYS_fstatfs, c_long::from(file), &raw mut stat) })?;
    Ok(stat.f_bavail.saturating_mul(stat.f_bsize as u64))
}

/// Gives a file a name. `from` is one that it has already.
pub(crate) fn link(from: &CStr, to: &CStr) -> Result<(), Errno> {
    let here = c_long::from(libc::AT_FDCWD);
    // SAFETY: the kernel reads the paths up to their ends.
    let linked = unsafe {
        syscall(libc::SYS_linkat, here, from.as_ptr(), here, to.as_ptr(), c_long::from(libc::AT_SYMLINK_FOLLOW))
    };
    checked(linked).map(|_| ())
}

/// Removes a name.
pub(crate) fn unlink(path: &CStr) {
    // SAFETY: the kernel reads the path up to its end.
    unsafe { syscall(libc::SYS_unlinkat, c_long::from(libc::AT_FDCWD), path.as_ptr(), 0_usize) };
}

/// Returns memory without contents: of this process alone, or shared with its children.
pub(crate) fn map(bytes: usize, is_shared: bool) -> Result<*mut u8, Errno> {
    let kind = if is_shared { libc::MAP_SHARED } else { libc::MAP_PRIVATE };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel chooses an address where nothing is mapped.
    let at = unsafe {
        syscall(
            libc::SYS_mmap,
            0_usize,
            bytes,
            c_long::from(access),
            c_long::from(kind | libc::MAP_ANONYMOUS),
            -1 as c_long,
            0_usize,
        )
    };
    checked(at).map(ptr::with_exposed_provenance_mut)
}

/// Enlarges memory of [`map`], which may move.
///
/// # Safety
/// The memory is the caller's alone, and `old` its length.
pub(crate) unsafe fn remap(at: *mut u8, old: usize, new: usize) -> Result<*mut u8, Errno> {
    // SAFETY: the caller owns the memory, and uses only the returned address from now on.
    let at = unsafe { syscall(libc::SYS_mremap, at, old, new, c_long::from(libc::MREMAP_MAYMOVE)) };
    checked(at).map(ptr::with_exposed_provenance_mut)
}

/// Gives memory of [`map`] back.
///
/// # Safety
/// The memory is the caller's alone, who does not use it any more.
pub(crate) unsafe fn unmap(at: *mut u8, bytes: usize) {
    // SAFETY: as the caller says.
    unsafe { syscall(libc::SYS_munmap, at, bytes) };
}

/// Drops the contents of pages.
///
/// # Safety
/// Nothing in this process reads or writes the pages any more.
pub(crate) unsafe fn forget(start: u64, len: u64) {
    // SAFETY: as the caller says.
    unsafe { syscall(libc::SYS_madvise, start, len, c_long::from(libc::MADV_DONTNEED)) };
}

/// Fills in the argument of the `ioctl` that scans page tables, and returns the number of ranges that the kernel wrote.
pub(crate) fn scan(pagemap: c_int, argument: &mut [u64; 12], ranges: &mut [[u64; 3]]) -> Result<usize, Errno> {
    const PAGEMAP_SCAN: usize = 0xc060_6610;
    const INTO: usize = 5;
    const LEN: usize = 6;
    argument[INTO] = ranges.as_mut_ptr().expose_provenance() as u64;
    argument[LEN] = ranges.len() as u64;
    // SAFETY: the kernel reads and writes the argument, whose first word is its size, and writes at most as many ranges as
    // the slice has.
    checked(unsafe { syscall(libc::SYS_ioctl, c_long::from(pagemap), PAGEMAP_SCAN, argument.as_mut_ptr()) })
}

/// Returns the address of the list of robust mutexes of a thread of this process, which is at a fixed distance from the
/// thread pointer. 0 stands for the calling thread.
pub(crate) fn robust_list(thread: i32) -> Option<u64> {
    let (mut head, mut len) = (0_u64, 0_usize);
    // SAFETY: the kernel writes the two locals.
    checked(unsafe { syscall(libc::SYS_get_robust_list, c_long::from(thread), &raw mut head, &raw mut len) }).ok()?;
    (head != 0).then_some(head)
}

/// Returns the id of the calling thread.
pub(crate) fn thread_id() -> i32 {
    // SAFETY: the call takes no arguments.
    (unsafe { syscall(libc::SYS_gettid) }) as i32
}

/// Ends a child. The descriptor is one of the child, which cannot become that of another process.
pub(crate) fn kill(id: i32, descriptor: Option<c_int>) {
    let signal = c_long::from(libc::SIGKILL);
    match descriptor {
        // SAFETY: the call takes no pointers but a null pointer.
        Some(process) => unsafe {
            syscall(libc::SYS_pidfd_send_signal, c_long::from(process), signal, 0_usize, 0_usize)
        },
        // SAFETY: the call takes no pointers. The child was not waited for, so the id is still its own.
        None => unsafe { syscall(libc::SYS_kill, c_long::from(id), signal) },
    };
}

/// Returns how a child ended, or `None` if it runs. An error tells that another thread has waited for it.
pub(crate) fn wait(id: i32, is_blocking: bool) -> Result<Option<c_int>, Errno> {
    let mut status: c_int = 0;
    let options = libc::__WALL | if is_blocking { 0 } else { libc::WNOHANG };
    loop {
        // SAFETY: the kernel writes the local.
        let ended = unsafe {
            syscall(libc::SYS_wait4, c_long::from(id), &raw mut status, c_long::from(options), ptr::null_mut::<u64>())
        };
        match checked(ended) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(Some(status)),
            Err(libc::EINTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns `true` if a thread's control block is at an address. `own` is that of this thread.
///
/// # Safety
/// Both addresses are aligned for words, and the words of a control block there can be read.
pub(crate) unsafe fn is_control_block(address: u64, own: u64) -> bool {
    let words = |at: u64| ptr::with_exposed_provenance::<[u64; arch::BLOCK]>(at as usize);
    // SAFETY: as the caller says.
    let found = unsafe { words(address).read() };
    // SAFETY: as the caller says.
    let own = unsafe { words(own).read() };
    arch::is_control_block(address, &found, &own)
}

/// Lets a pipe have up to a mebibyte of contents.
pub(crate) fn enlarge_pipe(file: c_int) {
    const BYTES: usize = 1 << 20;
    // SAFETY: the call takes no pointers.
    unsafe { syscall(libc::SYS_fcntl, c_long::from(file), c_long::from(libc::F_SETPIPE_SZ), BYTES) };
}

/// Writes a byte to a pipe, and leaves `errno` as it was: for a handler of a signal.
pub(crate) fn wake(pipe: c_int) {
    // SAFETY: the function returns the address of the thread's own `errno`.
    let at = unsafe { libc::__errno_location() };
    // SAFETY: the address is valid as long as the thread runs.
    let before = unsafe { *at };
    let _ = write(pipe, b"1".as_ptr(), 1);
    // SAFETY: the thread still runs, so the address of its `errno` is valid, and nothing else refers to it.
    unsafe { *at = before };
}

/// Lets a write to a full pipe fail.
pub(crate) fn set_nonblocking(file: c_int) {
    // SAFETY: the call takes no pointers.
    unsafe {
        syscall(libc::SYS_fcntl, c_long::from(file), c_long::from(libc::F_SETFL), c_long::from(libc::O_NONBLOCK))
    };
}

/// Sets the handler of a signal that has none. Returns `false` if it has, or if it cannot have one.
pub(crate) fn handle(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
    // SAFETY: all bits zero are a value of this type: the default action.
    let mut old: libc::sigaction = unsafe { core::mem::zeroed() };
    // SAFETY: the function writes the local.
    let known = unsafe { libc::sigaction(signal, ptr::null(), &raw mut old) };
    if known != 0 || old.sa_sigaction != libc::SIG_DFL {
        return false;
    }
    let mut new = old;
    new.sa_sigaction = handler as *const () as usize;
    new.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the function reads the local. The handler calls only what a handler may.
    (unsafe { libc::sigaction(signal, &raw const new, ptr::null_mut()) }) == 0
}
