//! Who mapped memory without a file: `mmap` and its relatives are replaced, and a record has the call stack.
//!
//! glibc's own calls do not come here, nor system calls that the program makes itself. The tool divides by the kernel's list
//! of mappings, so a record of what is gone changes nothing.

use crate::arch::{after_frame, frame};
use crate::hooks::__errno_location;
use crate::stacks::Walked;
use crate::sys::{call, MMAP, MREMAP, MUNMAP};
use crate::{is_armed, profile, thread, STATE};
use core::sync::atomic::{compiler_fence, Ordering};

const MAP_ANONYMOUS: i32 = 0x20;

/// Returns what libc's function does for a result of the kernel: errors are in `errno`.
fn returned(result: isize) -> usize {
    if (-4095..0).contains(&result) {
        // SAFETY: the function has no arguments, and always returns the address of the thread's `errno`.
        let errno = unsafe { __errno_location() };
        // SAFETY: the address is that of an aligned `int` that only this thread uses.
        unsafe { *errno = -result as i32 };
        return usize::MAX;
    }
    result as usize
}

/// Runs `record` unless another hook runs in this thread, or the blocks are not recorded.
fn recorded(record: impl FnOnce(&thread::Thread)) {
    if !is_armed() {
        return;
    }
    let thread = thread::current();
    if thread.inside.get() != 0 || profile::is_on() {
        return;
    }
    thread.inside.set(1);
    compiler_fence(Ordering::SeqCst);
    record(thread);
    compiler_fence(Ordering::SeqCst);
    thread.inside.set(0);
}

/// Notes who mapped `len` bytes at an address.
#[inline(never)]
fn note(addr: usize, len: usize, frame: u64) {
    recorded(|thread| STATE.mapped.set(addr as u64, len as u64, Walked::new(thread, frame).of_mapping().number()));
}

/// Forgets the first `len` bytes of what is mapped at an address. Returns the stack of its record.
fn forget(addr: usize, len: usize) -> Option<u32> {
    let mut found = None;
    recorded(|_| {
        found = STATE.mapped.take(addr as u64).map(|(size, stack)| {
            if size > len as u64 {
                STATE.mapped.set((addr as u64).wrapping_add(len as u64), size - len as u64, stack);
            }
            stack
        });
    });
    found
}

macro_rules! export {
    ($($name:ident)*) => {$(
        /// Wraps libc's function of this name.
        ///
        /// # Safety
        /// The same as for libc's function.
        #[no_mangle]
        pub unsafe extern "C" fn $name(
            addr: usize,
            len: usize,
            protection: i32,
            flags: i32,
            file: i32,
            offset: i64,
        ) -> usize {
            let signed = |number: i32| number as isize as usize;
            let arguments = [addr, len, signed(protection), signed(flags), signed(file), offset as usize];
            // SAFETY: libc's function makes this call with these arguments, which are the program's.
            let mapped = returned(unsafe { call(MMAP, arguments) });
            if flags & MAP_ANONYMOUS != 0 && mapped != usize::MAX {
                note(mapped, len, frame());
            }
            after_frame(mapped)
        }
    )*};
}

export! { mmap mmap64 }

/// Wraps libc's `munmap`.
///
/// # Safety
/// The same as for libc's function.
#[no_mangle]
pub unsafe extern "C" fn munmap(addr: usize, len: usize) -> i32 {
    forget(addr, len);
    // SAFETY: libc's function makes this call with these arguments, which are the program's.
    returned(unsafe { call(MUNMAP, [addr, len, 0, 0, 0, 0]) }) as i32
}

/// Wraps libc's `mremap`, whose last argument the kernel ignores unless the flags ask for it.
///
/// # Safety
/// The same as for libc's function.
#[no_mangle]
pub unsafe extern "C" fn mremap(addr: usize, len: usize, new_len: usize, flags: i32, to: usize) -> usize {
    // Before the call: after it another thread may get the address.
    let stack = forget(addr, len);
    // SAFETY: libc's function makes this call with these arguments, which are the program's.
    let mapped = returned(unsafe { call(MREMAP, [addr, len, new_len, flags as isize as usize, to, 0]) });
    if let Some(stack) = stack {
        let (addr, len) = if mapped == usize::MAX { (addr, len) } else { (mapped, new_len) };
        recorded(|_| STATE.mapped.set(addr as u64, len as u64, stack));
    }
    mapped
}
