//! System calls without libc: nothing here allocates, sets `errno` or reads thread-local memory.

pub use crate::arch::{
    call, CLOCK_GETTIME, CLONE, CLOSE, CLOSE_RANGE, CONNECT, EXIT_GROUP, FUTEX, GETPID, GETRLIMIT, KILL, MADVISE, MMAP,
    MPROTECT, MREMAP, MUNMAP, POLL, PRCTL, PROCESS_VM_READV, READ, RECVMSG, SETSID, SIGPROCMASK, SOCKET, STAT_AT, WAIT4, WRITE, YIELD,
};
use core::sync::atomic::{AtomicU32, Ordering};

const PROT_READ_WRITE: usize = 3;
const MAP_PRIVATE_ANONYMOUS_NORESERVE: usize = 0x2 | 0x20 | 0x4000;

/// Maps zeroed memory. Pages take no memory until they are touched.
pub fn map(bytes: usize) -> Result<usize, u32> {
    // SAFETY: the kernel chooses an unused address, so the new mapping replaces nothing.
    let result = unsafe {
        call(MMAP, [0, bytes, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS_NORESERVE, usize::MAX, 0])
    };
    if result < 0 && result >= -4095 { Err(-result as u32) } else { Ok(result as usize) }
}

/// Returns the time of the monotonic clock in nanoseconds.
pub fn now() -> u64 {
    let mut time = [0_u64; 2];
    // SAFETY: the call writes two words to `time`, which is two words.
    unsafe { call(CLOCK_GETTIME, [1, time.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

const FUTEX_PRIVATE: usize = 128;

/// Sleeps until another thread wakes the caller or a second passes. Returns at once if `word` is not `value`.
pub fn wait(word: &AtomicU32, value: u32, shared: bool) {
    let second = [1_u64, 0];
    let operation = if shared { 0 } else { FUTEX_PRIVATE };
    // SAFETY: the call reads an aligned word and a timespec, both of which outlive it.
    unsafe {
        call(FUTEX, [word.as_ptr() as usize, operation, value as usize, second.as_ptr() as usize, 0, 0]);
    }
}

/// Wakes all threads that wait on `word`.
pub fn wake(word: &AtomicU32, shared: bool) {
    let operation = 1 | if shared { 0 } else { FUTEX_PRIVATE };
    // SAFETY: the call does not access the word; it uses the address only to find the waiting threads.
    unsafe { call(FUTEX, [word.as_ptr() as usize, operation, i32::MAX as usize, 0, 0, 0]) };
}

/// Yields the processor.
pub fn yield_now() {
    // SAFETY: the call has no arguments and touches no memory.
    unsafe { call(YIELD, [0; 6]) };
}

/// Acquires a spin lock. The critical sections are short, and make system calls only to map and unmap memory.
pub fn lock(lock: &AtomicU32) {
    let mut tries = 0_u32;
    while lock.compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
        tries += 1;
        if tries % 64 == 0 {
            yield_now();
        }
        core::hint::spin_loop();
    }
}

/// Releases a spin lock.
pub fn unlock(lock: &AtomicU32) {
    lock.store(0, Ordering::Release);
}

/// Reads up to `out.len()` words of this process into `out`, and stops before memory that cannot be read. Returns the
/// number of words.
pub fn read_own(addr: u64, out: &mut [u64]) -> usize {
    let local = [out.as_mut_ptr() as usize, core::mem::size_of_val(out)];
    // The kernel stops at an entry that it cannot read, so each page has its own.
    let bytes = local[1];
    let first = bytes.min(4096 - (addr as usize & 4095));
    let remote = [addr as usize, first, addr as usize + first, bytes - first];
    // SAFETY: the kernel writes at most `bytes` bytes to `out`, which is that long, and checks each address that it
    // reads.
    let read = unsafe {
        call(PROCESS_VM_READV, [own_pid(), local.as_ptr() as usize, 1, remote.as_ptr() as usize, 2, 0])
    };
    read.max(0) as usize / 8
}

/// Returns `true` if all pages from the page of `from` to the page of `to` can be read.
pub fn is_readable(from: u64, to: u64) -> bool {
    const AT_ONCE: usize = 64;
    let (mut page, last) = (from & !4095, to & !4095);
    let mut bytes = [0_u8; AT_ONCE];
    let mut remote = [[0_usize; 2]; AT_ONCE];
    while page <= last {
        let count = (((last - page) >> 12) as usize + 1).min(AT_ONCE);
        for (index, entry) in remote.iter_mut().enumerate().take(count) {
            *entry = [page as usize + (index << 12), 1];
        }
        let local = [bytes.as_mut_ptr() as usize, count];
        // SAFETY: the kernel writes at most `count` bytes to `bytes`, which is at least that long, and checks each
        // address that it reads.
        let read = unsafe {
            call(PROCESS_VM_READV, [own_pid(), local.as_ptr() as usize, 1, remote.as_ptr() as usize, count, 0])
        };
        if read != count as isize {
            return false;
        }
        page += (count as u64) << 12;
    }
    true
}

fn own_pid() -> usize {
    // SAFETY: the call has no arguments and touches no memory.
    unsafe { call(GETPID, [0; 6]) as usize }
}
