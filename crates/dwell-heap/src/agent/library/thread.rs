//! The data of each thread.

use crate::arch;
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};

/// A thread's data. All fields are zero in a new thread.
#[repr(C)]
pub struct Thread {
    /// Whether a hook is running. Nested calls, also from signal handlers, are not recorded.
    pub inside: Cell<u32>,
    /// Whether the thread is counted.
    pub known: Cell<u32>,
    /// The live bytes and the number of allocations that are not reported yet.
    pub residue: Cell<i64>,
    pub allocations: Cell<u64>,
    /// The readable range of the thread's stack, from `low` up to `high`.
    pub low: Cell<u64>,
    pub high: Cell<u64>,
    /// The number of bytes until the next sample, and the state of the random generator.
    pub until_sample: Cell<i64>,
    pub random: Cell<u64>,
    /// The address of the thread's ledger; 0 if it has none.
    pub ledger: Cell<u64>,
}

const _: () = assert!(core::mem::size_of::<Thread>() == 64);

/// Returns the calling thread's data. The reference is valid while the thread runs, and a hook does not change threads.
#[inline(always)]
pub fn current() -> &'static Thread {
    let thread = arch::thread_data() as *const Thread;
    // SAFETY: `dwell_thread` has 64 bytes, the size of a `Thread`. They are aligned to 16, zero at first, and belong
    // only to this thread. All fields are `Cell`s of integers, for which every bit pattern is valid.
    unsafe { &*thread }
}

/// The pthread key with the destructor that runs at the end of a thread; `u32::MAX` if there is none.
pub static KEY: AtomicU32 = AtomicU32::new(u32::MAX);
/// The number of keys with a value in the thread's control block. To set the value of a higher key allocates.
const KEYS_WITHIN: u32 = 32;

extern "C" {
    fn pthread_key_create(key: *mut u32, destructor: Option<extern "C" fn(*mut u8)>) -> i32;
    fn pthread_setspecific(key: u32, value: *const u8) -> i32;
}

/// Creates the key. A key whose values would allocate is not used.
pub fn prepare(destructor: extern "C" fn(*mut u8)) {
    let mut key = 0;
    // SAFETY: the call writes to `key`, a local. The destructor is a function, which lives as long as the library.
    let error = unsafe { pthread_key_create(&mut key, Some(destructor)) };
    if error == 0 && key < KEYS_WITHIN {
        KEY.store(key, Ordering::Relaxed);
    }
}

/// Registers the destructor for the calling thread. Returns `true` if it succeeded.
pub fn watch_end() -> bool {
    let key = KEY.load(Ordering::Relaxed);
    // SAFETY: `prepare` made the key by `pthread_key_create`. The value is never dereferenced; the destructor runs only
    // if it is not null.
    key != u32::MAX && unsafe { pthread_setspecific(key, 1 as *const u8) } == 0
}
