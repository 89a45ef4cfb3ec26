//! The data of each thread.

use core::arch::{asm, global_asm};
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

/// All fields are zero in a new thread.
#[repr(C)]
pub struct Thread {
    /// Whether a hook is running. Nested calls, also from signal handlers, are not recorded.
    pub inside: Cell<u32>,
    /// Whether the thread is counted.
    pub known: Cell<u32>,
    /// Live bytes and allocations that are not reported yet.
    pub residue: Cell<i64>,
    pub allocations: Cell<u64>,
    /// The readable range of its stack, from `low` up to `high`.
    pub low: Cell<u64>,
    pub high: Cell<u64>,
    /// Bytes until the next sample, and the state of the random generator.
    pub until_sample: Cell<i64>,
    pub random: Cell<u64>,
    _rest: Cell<u64>,
}

// Thread-local memory with the initial-exec model, reserved at program start. Rust's `thread_local` in a library calls
// `__tls_get_addr`, which may allocate.
// `__tls_get_addr`, which may allocate.
global_asm!(
    ".pushsection .tbss.dwell_thread,\"awT\",@nobits",
    ".balign 16",
    ".globl dwell_thread",
    ".hidden dwell_thread",
    ".type dwell_thread, @object",
    ".size dwell_thread, 64",
    "dwell_thread:",
    ".zero 64",
    ".popsection",
);

const _: () = assert!(core::mem::size_of::<Thread>() == 64);

/// The calling thread's data. It is valid while the thread runs, and a hook does not change threads.
#[inline(always)]
pub fn current() -> &'static Thread {
    let thread: *const Thread;
    // SAFETY: the instructions add the offset of `dwell_thread`, which the loader put into the global offset table, to
    // the thread pointer, the first word of the thread's control block; they write no memory.
    unsafe {
        asm!(
            "mov {0}, qword ptr [rip + dwell_thread@gottpoff]",
            "add {0}, qword ptr fs:[0]",
            out(reg) thread,
            options(pure, readonly, nostack),
        );
    }
    // SAFETY: the address is that of 64 bytes, aligned to 16, zero at first, which belong only to this thread; all
    // fields are `Cell`s of integers, for which each bit pattern is a value.
    unsafe { &*thread }
}

/// The thread pointer, which is above the stack of a pthread.
#[inline(always)]
pub fn pointer() -> u64 {
    let pointer: u64;
    // SAFETY: the first word of the thread's control block is its own address, by the ABI of x86-64.
    unsafe { asm!("mov {0}, qword ptr fs:[0]", out(reg) pointer, options(pure, readonly, nostack, preserves_flags)) };
    pointer
}

/// The key whose destructor runs at the end of a thread; `u32::MAX` for none.
pub static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// Values of lower keys are in the thread's control block; setting others allocates.
const KEYS_WITHIN: u32 = 32;

extern "C" {
    fn pthread_key_create(key: *mut u32, destructor: Option<extern "C" fn(*mut u8)>) -> i32;
    fn pthread_setspecific(key: u32, value: *const u8) -> i32;
}

/// Makes the key.
pub fn prepare(destructor: extern "C" fn(*mut u8)) {
    let mut key = 0;
    // SAFETY: `key` is a word that the call writes to; the destructor is a function that lives as long as the library.
    let error = unsafe { pthread_key_create(&mut key, Some(destructor)) };
    if error == 0 && key < KEYS_WITHIN {
        KEY.store(key, Ordering::Relaxed);
    }
}

/// Registers the destructor for the calling thread. Returns whether it succeeded.
pub fn watch_end() -> bool {
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: the key was made by `pthread_key_create`. The value is never read through, it only must not be null.
    key != u32::MAX && unsafe { pthread_setspecific(key, 1 as *const u8) } == 0
}
