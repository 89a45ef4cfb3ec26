//! A helper process that shares the program's memory and copies the program on request.
//!
//! The helper is a child of the tool and has its own file table, signal mask and session. So the program sees neither
//! the helper nor its copies: they are not its threads or children. The helper keeps the memory alive after any kind of
//! end of the program, and the tool reads the final state from it.

use crate::layout::{Event, Shared};
use crate::{arch, sys, STATE};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const CLONE_VM: usize = 0x100;
const CLONE_PARENT: usize = 0x8000;
const STACK: usize = 64 << 10;
const SET_MASK: usize = 2;
const ALL_SIGNALS: u64 = u64::MAX;
const POLL_HANG_UP: i16 = 0x10;

static SHARED: AtomicU64 = AtomicU64::new(0);
static SOCKET: AtomicU32 = AtomicU32::new(0);

/// Returns the page shared with the tool.
pub fn shared() -> &'static Shared {
    let shared = SHARED.load(Ordering::Relaxed) as *const Shared;
    // SAFETY: only the helper and armed hooks call this function. `start` stored the address of a page before either
    // could run, and the page stays mapped. All its fields are atomic integers.
    unsafe { &*shared }
}

/// The top of the helper's stack, and the result of its start, if it is started by another process.
static STACK_TOP: AtomicU64 = AtomicU64::new(0);
static STARTED: AtomicU32 = AtomicU32::new(0);

/// Starts the helper of the program or, with `is_child`, of a process that the program started; returns its process id or the error.
pub fn start(shared: &'static Shared, socket: u32, is_child: bool) -> Result<u32, u32> {
    SHARED.store(shared as *const Shared as u64, Ordering::Relaxed);
    SOCKET.store(socket, Ordering::Relaxed);
    STATE.start_nanos.store(sys::now(), Ordering::Relaxed);
    let stack = crate::map_for_good(STACK)?;
    let first = if is_child { crate::map_for_good(STACK)? } else { 0 };
    STACK_TOP.store((stack + STACK) as u64, Ordering::Relaxed);
    let mut before = 0_u64;
    let mask = ALL_SIGNALS;
    // SAFETY: the call reads one word and writes another, and both are locals. The helper inherits the mask.
    unsafe {
        sys::call(sys::SIGPROCMASK, [SET_MASK, &mask as *const u64 as usize, &mut before as *mut u64 as usize, 8, 0, 0]);
    }
    // SAFETY: the stack was mapped just now. The processes share memory, but `main` uses only atomics, its stack and system
    // calls. It uses no thread-local memory, because that would be this thread's.
    // The parent of a child is the program, which must not see the helper. So another process starts it and ends: the tool adopts it.
    let result = unsafe {
        if is_child { arch::start(CLONE_VM, first + STACK, between) } else { arch::start(CLONE_VM | CLONE_PARENT, stack + STACK, main) }
    };
    let result = if is_child && result > 0 {
        const ALL_KINDS: usize = 0x4000_0000;
        // SAFETY: the call waits for the process that was started just now, and writes nothing.
        unsafe { sys::call(sys::WAIT4, [result as usize, 0, ALL_KINDS, 0, 0, 0]) };
        STARTED.load(Ordering::Acquire) as i32 as isize
    } else {
        result
    };
    // SAFETY: the call reads `before`, a local that holds the previous mask.
    unsafe { sys::call(sys::SIGPROCMASK, [SET_MASK, &before as *const u64 as usize, 0, 8, 0, 0]) };
    if result < 0 { Err(-result as u32) } else { Ok(result as u32) }
}

fn socket() -> usize {
    SOCKET.load(Ordering::Relaxed) as usize
}

/// Closes all files except `keep`.
fn close_others(keep: usize) {
    let most = u32::MAX as usize;
    // SAFETY: the calling process has its own file table, and no Rust value owns a file in it.
    let error = unsafe { sys::call(sys::CLOSE_RANGE, [keep + 1, most, 0, 0, 0, 0]) };
    if error != 0 {
        // `close_range` is missing before Linux 5.9.
        for file in keep + 1..keep + 1024 {
            // SAFETY: the same as for `close_range` above.
            unsafe { sys::call(sys::CLOSE, [file, 0, 0, 0, 0, 0]) };
        }
    }
    for file in 0..keep {
        // SAFETY: the calling process has its own file table, and no Rust value owns a file in it.
        unsafe { sys::call(sys::CLOSE, [file, 0, 0, 0, 0, 0]) };
    }
}

/// Starts the helper, and ends.
extern "C" fn between() -> ! {
    // SAFETY: `start` mapped the stack for the helper alone. `main` needs no more than in `start`.
    let result = unsafe { arch::start(CLONE_VM, STACK_TOP.load(Ordering::Relaxed) as usize, main) };
    STARTED.store(result as u32, Ordering::Release);
    exit()
}

extern "C" fn main() -> ! {
    const SET_NAME: usize = 15;
    // SAFETY: the name is a NUL-terminated string, which the call only reads.
    unsafe { sys::call(sys::PRCTL, [SET_NAME, c"dwell-census".as_ptr() as usize, 0, 0, 0, 0]) };
    // SAFETY: the call has no arguments and accesses no memory. It keeps signals to the program's process group away
    // from the helper.
    unsafe { sys::call(sys::SETSID, [0; 6]) };
    close_others(socket());
    let shared = shared();
    loop {
        let bell = shared.doorbell.load(Ordering::Acquire);
        let wanted = STATE.wanted.load(Ordering::Acquire);
        if wanted != 0 {
            let pid = copy(wanted);
            if pid < 0 && wanted == Event::PEAK {
                STATE.disabled.store(1, Ordering::Relaxed);
            }
            STATE.wanted.store(0, Ordering::Relaxed);
            STATE.done.fetch_add(1, Ordering::Release);
            sys::wake(&STATE.done, false);
        }
        let answered = shared.answered.load(Ordering::Relaxed);
        if shared.asked.load(Ordering::Acquire) != answered {
            copy(Event::ASKED);
            shared.answered.store(answered.wrapping_add(1), Ordering::Release);
            continue;
        }
        if shared.ended.load(Ordering::Acquire) != 0 {
            notify(Event::ENDED, 0, false);
            sleep();
        }
        sys::wait(&shared.doorbell, bell, true);
        if hung_up() {
            exit();
        }
    }
}

/// Copies the process and notifies the tool. Returns the copy's process id, or a negative error number.
fn copy(what: u32) -> isize {
    let is_held = hold();
    // SAFETY: without CLONE_VM the new process has a copy of all memory and continues here, on its copy of the stack.
    // It only makes system calls.
    let pid = unsafe { sys::call(sys::CLONE, [CLONE_PARENT, 0, 0, 0, 0, 0]) };
    if pid == 0 {
        sleep();
    }
    notify(what, pid as i32, is_held);
    // Near a limit of memory the program must not grow until the copy is on disk.
    let busy = &shared().busy;
    while busy.load(Ordering::Acquire) != 0 && !hung_up() {
        sys::wait(busy, 1, true);
    }
    pid
}

/// Lets the tool stop the program's threads, until it gets the message about the copy. Returns `false` if it does not
/// within a second or two.
fn hold() -> bool {
    const PATIENCE: u64 = 2_000_000_000;
    let shared = shared();
    if shared.stops.load(Ordering::Acquire) == 0 {
        return false;
    }
    let before = shared.stopped.load(Ordering::Acquire);
    notify(Event::STOP, 0, false);
    let start = sys::now();
    while shared.stopped.load(Ordering::Acquire) == before {
        if sys::now().saturating_sub(start) > PATIENCE || hung_up() {
            return false;
        }
        sys::wait(&shared.stopped, before, true);
    }
    true
}

/// Waits until the tool closes its end of the socket, then exits. The tool usually kills the process earlier.
fn sleep() -> ! {
    loop {
        let mut byte = 0_u8;
        // SAFETY: the call writes one byte to a local.
        let read = unsafe { sys::call(sys::READ, [socket(), &mut byte as *mut u8 as usize, 1, 0, 0, 0]) };
        if read <= 0 {
            exit();
        }
    }
}

fn exit() -> ! {
    loop {
        // SAFETY: the call ends only the helper or its copy, accesses no memory, and does not return.
        unsafe { sys::call(sys::EXIT_GROUP, [0; 6]) };
    }
}

fn notify(what: u32, pid: i32, is_held: bool) {
    let event = Event {
        what,
        pid,
        nanos: sys::now(),
        stack: STATE.asker_stack.load(Ordering::Relaxed),
        thread: STATE.asker_thread.load(Ordering::Relaxed),
        held: u64::from(is_held),
    };
    // SAFETY: the call reads the bytes of a local without padding: two fields of four bytes and four of eight.
    unsafe { sys::call(sys::WRITE, [socket(), &event as *const Event as usize, Event::BYTES, 0, 0, 0]) };
}

/// Returns `true` if the tool has closed its end of the socket.
fn hung_up() -> bool {
    #[repr(C)]
    struct Poll {
        file: i32,
        wanted: i16,
        found: i16,
    }
    let mut poll = Poll { file: socket() as i32, wanted: 0, found: 0 };
    let at_once = [0_u64; 2];
    // SAFETY: the call reads and writes one `pollfd`, whose C type has these fields, and reads a timespec.
    unsafe { sys::call(sys::POLL, [&mut poll as *mut Poll as usize, 1, at_once.as_ptr() as usize, 0, 0, 0]) };
    poll.found & POLL_HANG_UP != 0
}

/// A snapshot requires that live bytes are about to fall to this share of their peak or less.
const FALL: (i64, i64) = (99, 100);
/// It also requires that the last snapshot has at most this share of the peak,
const NEAR: (i64, i64) = (98, 100);
/// or at most this share if snapshots took too much time.
const FAR: (i64, i64) = (93, 100);
/// The limit of the time that snapshots take: 1/`SHARE` of the running time.
const SHARE: u64 = 20;
/// Snapshots of this many bytes together take some tenths of a second and have no limit of time, so that equal runs of a small
/// program are copied at the same moments however busy the machine is.
const FREE_BYTES: i64 = 256 << 20;
/// What a snapshot of few bytes counts as: a copy of a process takes time for its other pages too.
const LEAST_COPY: i64 = 1 << 20;
/// The lowest peak for a snapshot, in bytes.
const LEAST: i64 = 1024;

/// Returns `true` if live bytes are within two standard errors of their peak, so that sampling cannot distinguish the
/// two.
///
/// The standard error is the square root of the peak times the mean distance of samples. Without `--sample` it is 0.
fn is_noise(peak: i64, live: i64) -> bool {
    let fallen = (peak - live) as i128;
    let variance = peak as i128 * STATE.sample.load(Ordering::Relaxed) as i128;
    // A fall to half or less always counts, so that a peak of few samples is copied too.
    2 * fallen < peak as i128 && fallen * fallen < 4 * variance
}

/// Takes a snapshot if live bytes, now `live`, are about to fall from their peak by `size`, and waits for it.
#[cold]
pub fn before_fall(live: i64, size: i64, frame: u64) {
    loop {
        let peak = STATE.peak.load(Ordering::Relaxed);
        let taken = STATE.taken.load(Ordering::Acquire);
        let below = |bytes: i64, (part, whole): (i64, i64)| bytes as i128 * whole as i128 <= peak as i128 * part as i128;
        if peak < LEAST
            || STATE.disabled.load(Ordering::Relaxed) != 0
            || !below(live - size, FALL)
            || is_noise(peak, live - size)
            || below(live, NEAR) && !is_noise(peak, live)
            || !below(taken, NEAR)
            || is_noise(peak, taken)
        {
            return;
        }
        let spent = STATE.spent_nanos.load(Ordering::Relaxed);
        let start = sys::now();
        let run = start.saturating_sub(STATE.start_nanos.load(Ordering::Relaxed));
        let is_free = STATE.copied.load(Ordering::Relaxed) <= FREE_BYTES;
        if !is_free && spent > run / SHARE && !below(taken, FAR) {
            return;
        }
        let done = STATE.done.load(Ordering::Acquire);
        if STATE.wanted.compare_exchange(0, Event::PEAK, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            STATE.asker_stack.store(frame, Ordering::Relaxed);
            STATE.asker_thread.store(arch::thread_pointer(), Ordering::Relaxed);
            ring();
            wait(done);
            STATE.taken.store(live, Ordering::Release);
            STATE.copied.fetch_add(live.max(LEAST_COPY), Ordering::Relaxed);
            STATE.spent_nanos.fetch_add(sys::now().saturating_sub(start), Ordering::Relaxed);
            return;
        }
        // Another thread requested a snapshot. Waiting keeps this thread's block alive for the copy.
        wait(done);
        if STATE.done.load(Ordering::Relaxed) == done {
            return;
        }
        if STATE.taken.load(Ordering::Acquire) == taken {
            sys::yield_now();
        }
    }
}

/// Takes a snapshot if live bytes, now `live`, have grown as much as the tool wants, and waits for it. So there is one if
/// the kernel kills the program and its helper.
#[inline]
pub fn after_growth(live: i64, frame: u64) {
    let shared = shared();
    shared.live.store(live.max(0) as u64, Ordering::Relaxed);
    if STATE.wanted.load(Ordering::Relaxed) == Event::GROWN {
        wait_for_copy();
    }
    let wanted = shared.grow_at.load(Ordering::Relaxed);
    if live.max(0) as u64 >= wanted {
        grown(wanted, frame);
    }
}

/// Waits for the copy that another thread requested: many threads would grow far beyond it until all of them are stopped.
#[cold]
#[inline(never)]
fn wait_for_copy() {
    let done = STATE.done.load(Ordering::Acquire);
    if STATE.wanted.load(Ordering::Acquire) == Event::GROWN && !is_helper_gone() {
        wait(done);
    }
}

#[cold]
#[inline(never)]
fn grown(at: u64, frame: u64) {
    let grow_at = &shared().grow_at;
    if grow_at.compare_exchange(at, u64::MAX, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        return;
    }
    let start = sys::now();
    let done = STATE.done.load(Ordering::Acquire);
    if STATE.wanted.compare_exchange(0, Event::GROWN, Ordering::AcqRel, Ordering::Relaxed).is_err() {
        // Another thread requested a copy. The next report tries again.
        grow_at.store(at, Ordering::Relaxed);
        return;
    }
    STATE.asker_stack.store(frame, Ordering::Relaxed);
    STATE.asker_thread.store(arch::thread_pointer(), Ordering::Relaxed);
    ring();
    wait(done);
    STATE.spent_nanos.fetch_add(sys::now().saturating_sub(start), Ordering::Relaxed);
}

fn ring() {
    let bell = &shared().doorbell;
    bell.fetch_add(1, Ordering::Release);
    sys::wake(bell, true);
}

/// Waits until more than `done` snapshots are answered, or the helper is gone.
fn wait(done: u32) {
    while STATE.done.load(Ordering::Acquire) == done {
        sys::wait(&STATE.done, done, false);
        if STATE.done.load(Ordering::Acquire) == done && is_helper_gone() {
            STATE.disabled.store(1, Ordering::Relaxed);
            return;
        }
    }
}

/// Returns `true` if the helper has ended.
fn is_helper_gone() -> bool {
    const NO_SUCH_PROCESS: isize = -3;
    let pid = shared().helper.load(Ordering::Relaxed) as usize;
    // SAFETY: the call sends no signal for the number 0; it only checks whether the process exists.
    shared().helper_ended.load(Ordering::Acquire) != 0 || unsafe { sys::call(sys::KILL, [pid, 0, 0, 0, 0, 0]) == NO_SUCH_PROCESS }
}
