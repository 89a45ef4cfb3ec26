//! The hooks: functions that replace an allocator's functions. They call the original and record the result.

use crate::arch::{after_frame, frame};
use crate::blocks;
use crate::helper;
use crate::layout::{Allocator, Call, FUNCTIONS, FUNCTION_COUNT};
use crate::profile;
use crate::sample;
use crate::stacks::Walked;
use crate::thread::{self, Thread};
use crate::{is_armed, STATE};
use core::sync::atomic::{compiler_fence, AtomicUsize, Ordering};

/// A hooked function. Each has at most three arguments, in registers; functions with fewer ignore the rest.
pub type Function = unsafe extern "C" fn(usize, usize, usize) -> usize;

extern "C" {
    fn __libc_malloc(size: usize, _: usize, _: usize) -> usize;
    fn __libc_calloc(count: usize, size: usize, _: usize) -> usize;
    fn __libc_realloc(block: usize, size: usize, _: usize) -> usize;
    fn __libc_memalign(align: usize, size: usize, _: usize) -> usize;
    fn __libc_valloc(size: usize, _: usize, _: usize) -> usize;
    fn __libc_pvalloc(size: usize, _: usize, _: usize) -> usize;
    fn __libc_free(block: usize, _: usize, _: usize) -> usize;
    pub fn __errno_location() -> *mut i32;
}

const EINVAL: i32 = 22;
const ENOMEM: i32 = 12;

/// Calls `original` and records the result. `frame` is the frame pointer of the hook.
///
/// # Safety
/// `original` must be a function of the kind `call`, and the arguments must be valid for it.
#[inline(always)]
unsafe fn run(allocator: Allocator, call: Call, original: Function, arguments: [usize; 3], frame: u64) -> usize {
    let [a, b, c] = arguments;
    if matches!(call, Call::Free) && sample::is_unrecorded(a as u64) {
        // SAFETY: `original` is the allocator's own function, called with the argument that the program passed to it.
        return unsafe { original(a, b, c) };
    }
    let thread = thread::current();
    if !is_armed() || thread.inside.get() != 0 {
        // SAFETY: `original` is the allocator's own function, called with the arguments that the program passed to it.
        return unsafe { original(a, b, c) };
    }
    thread.inside.set(1);
    compiler_fence(Ordering::SeqCst);
    if profile::is_on() {
        // SAFETY: the same as for this function, whose arguments are passed on.
        let result = unsafe { profile::run(thread, allocator, call, original, arguments, new_size(call, b, c), frame) };
        compiler_fence(Ordering::SeqCst);
        thread.inside.set(0);
        return result;
    }
    let before = match call {
        Call::Reallocate | Call::ReallocateMany | Call::Free if a != 0 => {
            let before = forget(thread, a as u64, new_size(call, b, c));
            if let (Call::Free, Some(blocks::Block::Small(pair)), true) = (call, before, profile::is_beside()) {
                profile::note_free(thread, pair, frame);
            }
            before
        }
        _ => None,
    };
    // SAFETY: `original` is the allocator's own function, called with the arguments that the program passed to it.
    // `forget` has removed the record of the block at `a`, so no record refers to the block while it is freed or moved.
    let result = unsafe { original(a, b, c) };
    match call {
        Call::Allocate(index) => record(thread, result as u64, arguments[index] as u64, frame, false),
        Call::AllocateMany => record(thread, result as u64, (a as u64).wrapping_mul(b as u64), frame, false),
        Call::AllocateInto if result == 0 => {
            // SAFETY: a function of the kind `AllocateInto` that returns 0 has written the block's address to its first
            // argument, so that address is readable.
            let block = unsafe { *(a as *const usize) };
            record(thread, block as u64, c as u64, frame, false);
        }
        Call::AllocateInto | Call::Free => {}
        Call::Reallocate | Call::ReallocateMany => {
            let size = new_size(call, b, c);
            match before {
                // The call failed and left the block unchanged.
                Some(before) if result == 0 && size != 0 => {
                    sample::raise(a as u64);
                    blocks::restore(a as u64, before);
                    add_live(thread, counted(before.size()));
                }
                _ => record(thread, result as u64, size, frame, before.is_some()),
            }
        }
    }
    compiler_fence(Ordering::SeqCst);
    thread.inside.set(0);
    result
}

/// Returns the size that a reallocation requests; 0 for other calls.
#[inline(always)]
fn new_size(call: Call, b: usize, c: usize) -> u64 {
    match call {
        Call::Reallocate => b as u64,
        Call::ReallocateMany => (b as u64).wrapping_mul(c as u64),
        _ => 0,
    }
}

/// Records a new block. `frame` is the frame pointer of the hook.
#[inline(always)]
fn record(thread: &Thread, block: u64, size: u64, frame: u64, is_reallocated: bool) {
    if block == 0 {
        return;
    }
    insert(thread, block, size, frame, is_reallocated);
}

#[inline(never)]
fn insert(thread: &Thread, block: u64, size: u64, frame: u64, is_reallocated: bool) {
    let mean = STATE.sample.load(Ordering::Relaxed);
    if mean != 0 && !sample::is_sampled(thread, size, mean) {
        return;
    }
    let stack = Walked::new(thread, frame);
    sample::raise(block);
    let stale = blocks::insert(block, size, &stack);
    if stale != 0 {
        sample::lower(block);
    }
    thread.allocations.set(thread.allocations.get() + 1);
    add_live(thread, counted(size) - counted(stale));
    if profile::is_beside() {
        profile::note_new(thread, block, size, &stack, is_reallocated);
    }
}

/// Removes the record of a block that is about to be freed, or replaced by one of `new` bytes. Takes a snapshot before
/// that if live bytes are about to fall from their peak.
#[inline(always)]
fn forget(thread: &Thread, addr: u64, new: u64) -> Option<blocks::Block> {
    if sample::is_unrecorded(addr) {
        return None;
    }
    let block = blocks::find(addr)?;
    let size = counted(block.size());
    let residue = thread.residue.get() - size;
    if residue + (new as i64) < -STATE.quantum.load(Ordering::Relaxed) {
        fall(thread, size - new as i64);
    }
    blocks::remove(addr, block);
    sample::lower(addr);
    thread.residue.set(thread.residue.get() - size);
    Some(block)
}

/// Returns the bytes that a block counts as: its size, or with sampling the bytes that it represents.
#[inline(always)]
fn counted(size: u64) -> i64 {
    let mean = STATE.sample.load(Ordering::Relaxed);
    if mean == 0 { size as i64 } else { sample::counted(size, mean) }
}

/// Adds to the thread's live bytes; reports them if they exceed the quantum.
#[inline(always)]
fn add_live(thread: &Thread, bytes: i64) {
    let residue = thread.residue.get() + bytes;
    thread.residue.set(residue);
    if residue > STATE.quantum.load(Ordering::Relaxed) {
        report_live(thread);
    }
}

/// All threads together keep at most 1/`PART` of the peak unreported.
const PART: i64 = 1024;
const MOST_KEPT: i64 = 64 << 10;
const LEAST_KEPT: i64 = 64;

/// Adds the thread's unreported bytes to the total, and returns the total.
#[cold]
#[inline(never)]
fn report_live(thread: &Thread) -> i64 {
    if thread.known.get() == 0 {
        thread.known.set(1);
        if thread::watch_end() {
            STATE.threads.fetch_add(1, Ordering::Relaxed);
        }
    }
    STATE.allocations.fetch_add(thread.allocations.replace(0), Ordering::Relaxed);
    let residue = thread.residue.replace(0);
    let live = STATE.live.fetch_add(residue, Ordering::Relaxed) + residue;
    let peak = STATE.peak.fetch_max(live, Ordering::Relaxed).max(live);
    let threads = i64::from(STATE.threads.load(Ordering::Relaxed)).max(1);
    STATE.quantum.store((peak / PART / threads).clamp(LEAST_KEPT, MOST_KEPT), Ordering::Relaxed);
    helper::after_growth(live, frame());
    live
}

/// Reports live bytes before they fall by `size`, and takes a snapshot if one is due.
#[cold]
#[inline(never)]
fn fall(thread: &Thread, size: i64) {
    let live = report_live(thread);
    helper::before_fall(live, size, frame());
}

/// Reports a thread's data at its end, as the destructor of [`thread::KEY`].
pub extern "C" fn end_of_thread(_: *mut u8) {
    let thread = thread::current();
    if !is_armed() || thread.inside.get() != 0 {
        return;
    }
    thread.inside.set(1);
    if profile::is_on() {
        profile::end(thread);
        thread.inside.set(0);
        return;
    }
    report_live(thread);
    profile::end(thread);
    // If a later destructor allocates, the thread becomes known again, and this runs again.
    thread.known.set(0);
    STATE.threads.fetch_sub(1, Ordering::Relaxed);
    thread.inside.set(0);
}

/// Returns `true` if a sampled run does not record this allocation, and then subtracts its size from the distance to the
/// next sample. Only for functions that no other hooked function calls: such a call would be subtracted twice.
#[inline(always)]
fn is_skipped(call: Call, arguments: [usize; 3]) -> bool {
    let size = match call {
        Call::Allocate(index) => arguments[index],
        Call::AllocateMany => arguments[0].wrapping_mul(arguments[1]),
        _ => return false,
    };
    // No allocator has a block of more than `i64::MAX` bytes.
    let Ok(size) = i64::try_from(size) else { return false };
    let thread = thread::current();
    // Without `--sample`, and before the thread's first sample, the distance is 0.
    let left = thread.until_sample.get().wrapping_sub(size);
    let is_skipped = left > 0 && thread.inside.get() == 0;
    if is_skipped {
        thread.until_sample.set(left);
    }
    is_skipped
}

macro_rules! export {
    ($($name:ident($($argument:ident),*) = $original:ident, $call:expr;)*) => {$(
        /// Wraps glibc's function of this name.
        ///
        /// # Safety
        /// The same as for glibc's function.
        #[no_mangle]
        pub unsafe extern "C" fn $name($($argument: usize),*) -> usize {
            // A function of its own, so that a call that is not recorded saves no registers.
            #[inline(never)]
            unsafe fn record(a: usize, b: usize, c: usize, frame: u64) -> usize {
                // SAFETY: the original is glibc's function of this kind. The caller passes the program's arguments.
                unsafe { run(Allocator::Glibc, $call, $original, [a, b, c], frame) }
            }
            let mut arguments = [0; 3];
            let mut index = 0;
            $(arguments[index] = $argument; index += 1;)*
            let _ = index;
            let [a, b, c] = arguments;
            if is_skipped($call, arguments) {
                // SAFETY: the original is glibc's function of this kind, and the arguments are those that the program
                // gave it.
                return unsafe { $original(a, b, c) };
            }
            // SAFETY: `record` calls the same function of glibc, with the arguments that the program gave it.
            after_frame(unsafe { record(a, b, c, frame()) })
        }
    )*};
}

export! {
    malloc(size) = __libc_malloc, Call::Allocate(0);
    calloc(count, size) = __libc_calloc, Call::AllocateMany;
    realloc(block, size) = __libc_realloc, Call::Reallocate;
    memalign(align, size) = __libc_memalign, Call::Allocate(1);
    aligned_alloc(align, size) = __libc_memalign, Call::Allocate(1);
    valloc(size) = __libc_valloc, Call::Allocate(0);
    pvalloc(size) = __libc_pvalloc, Call::Allocate(0);
}

/// Wraps glibc's `free`. It preserves `errno`.
///
/// # Safety
/// The same as for glibc's function.
#[no_mangle]
pub unsafe extern "C" fn free(block: usize) {
    // A function of its own, so that a call that is not recorded saves no registers.
    #[inline(never)]
    unsafe fn record(block: usize, frame: u64) {
        // SAFETY: the original is glibc's `free`, and the caller passes the program's block.
        unsafe { run(Allocator::Glibc, Call::Free, __libc_free, [block, 0, 0], frame) };
    }
    if sample::is_unrecorded(block as u64) {
        // SAFETY: the original is glibc's `free`, and the block is what the program gave it.
        unsafe { __libc_free(block, 0, 0) };
        return;
    }
    // SAFETY: `record` passes the program's block to glibc's `free` once. This function does not.
    unsafe { record(block, frame()) };
    after_frame(0);
}

/// Wraps glibc's `reallocarray`, for which glibc exports no second name.
///
/// # Safety
/// The same as for glibc's function.
#[no_mangle]
pub unsafe extern "C" fn reallocarray(block: usize, count: usize, size: usize) -> usize {
    match count.checked_mul(size) {
        // SAFETY: the original is glibc's `realloc`, and the block is what the program gave.
        Some(bytes) => unsafe { run(Allocator::Glibc, Call::Reallocate, __libc_realloc, [block, bytes, 0], frame()) },
        None => {
            // SAFETY: the function has no arguments, and always returns the address of the thread's `errno`.
            let errno = unsafe { __errno_location() };
            // SAFETY: the address is that of an aligned `int` that only this thread uses.
            unsafe { *errno = ENOMEM };
            0
        }
    }
}

/// Wraps glibc's `posix_memalign`.
///
/// # Safety
/// The same as for glibc's function: `out` must be valid for writes.
#[no_mangle]
pub unsafe extern "C" fn posix_memalign(out: *mut usize, align: usize, size: usize) -> i32 {
    if !align.is_power_of_two() || align % core::mem::size_of::<usize>() != 0 {
        return EINVAL;
    }
    // SAFETY: the original is glibc's `memalign`, which accepts every power of two.
    let block = unsafe { run(Allocator::Glibc, Call::Allocate(1), __libc_memalign, [align, size, 0], frame()) };
    if block == 0 {
        return ENOMEM;
    }
    // SAFETY: the caller guarantees that `out` is valid for writes.
    unsafe { *out = block };
    0
}

/// Replaces glibc's `mlockall` and does nothing. Locking all memory would map all pages of the shadow, which are tens of TiB.
/// The sanitizers of LLVM, whose shadows are as large, do the same.
#[no_mangle]
pub extern "C" fn mlockall(_: i32) -> i32 {
    0
}

/// The addresses of the moved first instructions of patched functions; 0 for functions that are not patched.
static ORIGINALS: [AtomicUsize; FUNCTION_COUNT] = {
    #[allow(clippy::declare_interior_mutable_const)]
    const NONE: AtomicUsize = AtomicUsize::new(0);
    [NONE; FUNCTION_COUNT]
};

/// Sets the address of a patched function's moved instructions.
pub fn set_original(function: usize, addr: usize) {
    if let Some(original) = ORIGINALS.get(function) {
        original.store(addr, Ordering::Relaxed);
    }
}

/// Wraps function number `F` of [`FUNCTIONS`].
unsafe extern "C" fn patched<const F: usize>(a: usize, b: usize, c: usize) -> usize {
    let original = ORIGINALS[F].load(Ordering::Relaxed);
    // SAFETY: only the stub of a patched function calls this hook, and `patch` sets the original before it writes the
    // jump to that stub. At that address are the function's own first instructions and a jump to the rest of it, so the
    // code takes the same arguments as the function.
    let original: Function = unsafe { core::mem::transmute::<usize, Function>(original) };
    // SAFETY: the arguments are those that the program gave the function.
    unsafe { run(FUNCTIONS[F].allocator, FUNCTIONS[F].call, original, [a, b, c], frame()) }
}

macro_rules! hooks {
    ($($number:literal)*) => { [$(patched::<$number>),*] };
}

/// The hooks, in the order of [`FUNCTIONS`].
pub static HOOKS: [Function; FUNCTION_COUNT] = hooks!(
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
    25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49
);
