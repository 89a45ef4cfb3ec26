//! aarch64.

use crate::layout::ADDRESSES;
use crate::STATE;
use core::arch::asm;
use core::sync::atomic::Ordering;

pub const CLOSE: usize = 57;
pub const READ: usize = 63;
pub const WRITE: usize = 64;
pub const POLL: usize = 73;
pub const STAT_AT: usize = 79;
pub const EXIT_GROUP: usize = 94;
pub const FUTEX: usize = 98;
pub const CLOCK_GETTIME: usize = 113;
pub const YIELD: usize = 124;
pub const KILL: usize = 129;
pub const SIGPROCMASK: usize = 135;
pub const SETSID: usize = 157;
pub const GETRLIMIT: usize = 163;
pub const PRCTL: usize = 167;
pub const GETPID: usize = 172;
pub const SOCKET: usize = 198;
pub const CONNECT: usize = 203;
pub const RECVMSG: usize = 212;
pub const MUNMAP: usize = 215;
pub const MREMAP: usize = 216;
pub const CLONE: usize = 220;
pub const MMAP: usize = 222;
pub const MPROTECT: usize = 226;
pub const MADVISE: usize = 233;
pub const WAIT4: usize = 260;
pub const PROCESS_VM_READV: usize = 270;
pub const CLOSE_RANGE: usize = 436;

/// Makes a system call. Errors are negative.
///
/// # Safety
/// All memory that the call accesses must be valid for that access, and the call must not unmap or overwrite a Rust
/// value that is in use.
#[inline(always)]
pub unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the registers are those of Linux' convention on aarch64, which clobbers only the result. The caller
    // guarantees that the call's accesses to memory are valid.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") args[0] => result,
            in("x1") args[1], in("x2") args[2], in("x3") args[3], in("x4") args[4], in("x5") args[5],
            options(nostack),
        );
    }
    result
}

/// Starts a process that calls `main` on a stack which ends at `stack`. Returns its process id or a negative error.
///
/// # Safety
/// With these flags of `clone`, `main` must be able to run beside this process. The stack must be mapped and unused.
pub unsafe fn start(flags: usize, stack: usize, main: extern "C" fn() -> !) -> isize {
    let result: isize;
    // SAFETY: the new process runs on its own stack and calls `main`, which does not return; this process skips that
    // call. The caller guarantees the rest.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "blr x9",
            "brk 1",
            "2:",
            in("x8") CLONE,
            inlateout("x0") flags => result,
            in("x1") stack, in("x2") 0_usize, in("x3") 0_usize, in("x4") 0_usize, in("x9") main,
            lateout("x30") _,
        );
    }
    result
}

/// Returns the frame pointer of the calling function.
#[inline(always)]
pub fn frame() -> u64 {
    let frame: u64;
    // SAFETY: the agent is compiled with frame pointers; a register is read, nothing else.
    unsafe { asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

/// Returns the result of a function that was called with [`frame`]. The compiler cannot make that call a jump, with which
/// the frame would end before the call.
#[inline(always)]
pub fn after_frame(result: usize) -> usize {
    let mut result = result;
    // SAFETY: there are no instructions.
    unsafe { asm!("/* {0} */", inout(reg) result, options(nomem, nostack, preserves_flags)) };
    result
}

/// Returns a return address as it is on the stack: without the signature of pointer authentication, which is in the bits
/// above the address.
#[inline(always)]
pub fn return_address(word: u64) -> u64 {
    word & (ADDRESSES - 1)
}

/// Returns the address of the calling thread's `dwell_thread`.
#[inline(always)]
pub fn thread_data() -> usize {
    let thread: usize;
    // SAFETY: the instructions add the offset of `dwell_thread`, which the loader put into the global offset table, to
    // the thread pointer; they write no memory.
    unsafe {
        asm!(
            "adrp {0}, :gottprel:dwell_thread",
            "ldr {0}, [{0}, :gottprel_lo12:dwell_thread]",
            "mrs {1}, tpidr_el0",
            "add {0}, {0}, {1}",
            out(reg) thread, out(reg) _,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    thread
}

/// Returns the thread pointer, which is above the stack of a pthread.
#[inline(always)]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: a register is read, nothing else.
    unsafe { asm!("mrs {0}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags)) };
    pointer
}

/// Returns where the user address space ends, by the end of the main thread's stack, which is near it. Kernels have 39 bits
/// of addresses, 42, 47 or 48; those with 52 use the first 48 if nobody asks for more.
pub fn end_of_addresses(stack_end: u64) -> u64 {
    stack_end.next_power_of_two().min(ADDRESSES)
}

/// Returns where the user address space ends, as a power of two.
#[inline(always)]
pub fn addresses() -> u64 {
    STATE.addresses.load(Ordering::Relaxed)
}

/// Makes written code visible to the fetch of instructions.
///
/// # Safety
/// The bytes must be mapped.
pub unsafe fn written(addr: usize, len: usize) {
    let sizes: usize;
    // SAFETY: a register is read, nothing else.
    unsafe { asm!("mrs {0}, ctr_el0", out(reg) sizes, options(pure, nomem, nostack, preserves_flags)) };
    // The lowest and another field have the sizes of lines, as powers of two of four bytes.
    let (data, code) = (4 << (sizes >> 16 & 15), 4 << (sizes & 15));
    for line in (addr & !(data - 1)..addr + len).step_by(data) {
        // SAFETY: the instruction faults on memory that is not mapped. The line has bytes of the range, which the caller guarantees to
        // be mapped, and no line spans two pages. Its contents stay as they are.
        unsafe { asm!("dc cvau, {0}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: the instruction only waits.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) };
    for line in (addr & !(code - 1)..addr + len).step_by(code) {
        // SAFETY: the line has bytes of the mapped range, as in the loop before. What is invalidated is fetched from memory again.
        unsafe { asm!("ic ivau, {0}", in(reg) line, options(nostack, preserves_flags)) };
    }
    // SAFETY: the instructions only wait.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
}

/// Code for aarch64 keeps its frame pointers, also that of C++.
#[inline(always)]
pub fn ends(_: u64) -> bool {
    false
}

/// The same.
pub fn kept(_: u64) -> Option<u64> {
    None
}
