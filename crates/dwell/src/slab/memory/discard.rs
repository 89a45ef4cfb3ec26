//! Gives the pages of a chunk back to the system before the chunk is freed.
//!
//! An allocator returns few of the pages of a large block that lies between others: after a spike of 50 MB, glibc and mimalloc
//! kept all that a pool had freed (`cargo run --release -p dwell-bench --example spike`). The contents of a chunk that is being
//! freed are of no use to anybody, so the system may forget them.

use core::ptr::NonNull;

/// The size of a page, or a multiple of it on all systems with this processor.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
const PAGE: usize = if cfg!(target_arch = "x86_64") { 4096 } else { 65536 };

/// Tells the system that the contents of the whole pages in `len` bytes are not needed.
///
/// # Safety
///
/// The bytes are of a block of the global allocator that is freed next. `start` is a multiple of 64 KiB.
#[cfg(all(target_os = "linux", feature = "std", not(miri)))]
pub(super) unsafe fn discard(start: NonNull<u8>, len: usize) {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        fn madvise(address: *mut c_void, len: usize, advice: c_int) -> c_int;
    }
    const DONTNEED: c_int = 4;
    debug_assert!(start.addr().get().is_multiple_of(PAGE));
    // SAFETY: the range has whole pages only, all of the block, since `start` is a multiple of `PAGE` and the length is rounded
    // down. Their contents may change to zeros, since the caller frees the block next, and an allocator does not read the
    // contents of a block. An error, such as for locked pages, changes nothing.
    unsafe { madvise(start.as_ptr().cast(), len / PAGE * PAGE, DONTNEED) };
}

/// Does nothing on other systems.
///
/// # Safety
///
/// None is needed.
#[cfg(not(all(target_os = "linux", feature = "std", not(miri))))]
pub(super) unsafe fn discard(_: NonNull<u8>, _: usize) {}
