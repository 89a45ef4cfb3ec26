//! x86-64.

use crate::layout::ADDRESSES;
use core::arch::asm;

pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const CLOSE: usize = 3;
pub const MMAP: usize = 9;
pub const MPROTECT: usize = 10;
pub const MUNMAP: usize = 11;
pub const SIGPROCMASK: usize = 14;
pub const YIELD: usize = 24;
pub const MREMAP: usize = 25;
pub const MADVISE: usize = 28;
pub const GETPID: usize = 39;
pub const SOCKET: usize = 41;
pub const CONNECT: usize = 42;
pub const RECVMSG: usize = 47;
pub const CLONE: usize = 56;
pub const WAIT4: usize = 61;
pub const KILL: usize = 62;
pub const GETRLIMIT: usize = 97;
pub const SETSID: usize = 112;
pub const PRCTL: usize = 157;
pub const FUTEX: usize = 202;
pub const CLOCK_GETTIME: usize = 228;
pub const EXIT_GROUP: usize = 231;
pub const STAT_AT: usize = 262;
pub const POLL: usize = 271;
pub const PROCESS_VM_READV: usize = 310;
pub const CLOSE_RANGE: usize = 436;

/// Makes a system call. Errors are negative.
///
/// # Safety
/// All memory that the call accesses must be valid for that access, and the call must not unmap or overwrite a Rust
/// value that is in use.
#[inline(always)]
pub unsafe fn call(number: usize, args: [usize; 6]) -> isize {
    let result: isize;
    // SAFETY: the registers are those of Linux' convention on x86-64, which clobbers only rcx and r11 beside the
    // result. The caller guarantees that the call's accesses to memory are valid.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") args[0], in("rsi") args[1], in("rdx") args[2],
            in("r10") args[3], in("r8") args[4], in("r9") args[5],
            lateout("rcx") _, lateout("r11") _,
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
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "call r12",
            "ud2",
            "2:",
            inlateout("rax") CLONE => result,
            in("rdi") flags, in("rsi") stack, in("r12") main,
            in("rdx") 0_usize, in("r10") 0_usize, in("r8") 0_usize,
            lateout("rcx") _, lateout("r11") _,
        );
    }
    result
}

/// Returns the frame pointer of the calling function.
#[inline(always)]
pub fn frame() -> u64 {
    let frame: u64;
    // SAFETY: the agent is compiled with frame pointers; a register is read, nothing else.
    unsafe { asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags)) };
    frame
}

/// Returns the result of a function that was called with [`frame`]. A call in the last place may be a jump: the frame of
/// the function that it jumps to begins at the same address, with the same return address.
#[inline(always)]
pub fn after_frame(result: usize) -> usize {
    result
}

/// Returns a return address as it is on the stack.
#[inline(always)]
pub fn return_address(word: u64) -> u64 {
    word
}

/// Returns the address of the calling thread's `dwell_thread`.
#[inline(always)]
pub fn thread_data() -> usize {
    let thread: usize;
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
    thread
}

/// Returns the thread pointer, which is above the stack of a pthread.
#[inline(always)]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: the first word of the thread's control block is its own address, by the ABI of x86-64.
    unsafe { asm!("mov {0}, qword ptr fs:[0]", out(reg) pointer, options(pure, readonly, nostack, preserves_flags)) };
    pointer
}

/// Returns where the user address space ends. It is the same on all kernels.
pub fn end_of_addresses(_stack_end: u64) -> u64 {
    ADDRESSES
}

/// Returns where the user address space ends, as a power of two.
#[inline(always)]
pub fn addresses() -> u64 {
    ADDRESSES
}

/// Makes written code visible to the fetch of instructions, which this processor does itself.
///
/// # Safety
/// The bytes must be mapped.
pub unsafe fn written(_addr: usize, _len: usize) {}

/// The bytes that [`ends`] and [`kept`] look at.
const CODE: usize = 16;

/// Returns the code at a return address, if it is on one page.
#[inline(always)]
fn code(address: u64) -> Option<[u8; CODE]> {
    const PAGE: u64 = 4096;
    if address % PAGE > PAGE - CODE as u64 {
        return None;
    }
    // SAFETY: the caller continues at this address, so that the page is mapped. Code of x86-64 can be read, as linkers map it and
    // generated code is mapped, unless it was asked for execution alone on a kernel with protection keys. The bytes are on one
    // page. They may have any alignment and any values.
    Some(unsafe { (address as *const [u8; CODE]).read() })
}

/// Returns where the code goes on after `test rax, rax; je ..`.
#[inline(always)]
fn after_test(code: &[u8; CODE]) -> Option<usize> {
    match code {
        [0x48, 0x85, 0xc0, 0x74, ..] => Some(5),
        [0x48, 0x85, 0xc0, 0x0f, 0x84, ..] => Some(9),
        _ => None,
    }
}

/// Returns `false` if [`kept`] has nothing for a return address. Most code behind an allocation goes on with the block.
#[inline(always)]
pub fn ends(address: u64) -> bool {
    let Some(code) = code(address) else { return false };
    let Some(at) = after_test(&code) else { return false };
    matches!([code[at], code[at + 1]], [0x58..=0x5f | 0x41 | 0xc3, _] | [0x48, 0x83])
}

/// Returns how many words a function keeps on its stack at a call, by the code at the return address, if it returns at once
/// what is not null: C++'s `operator new`, which keeps no frame pointer.
pub fn kept(address: u64) -> Option<u64> {
    let code = code(address)?;
    let mut rest = &code[after_test(&code)?..];
    let mut words = 0;
    loop {
        rest = match rest {
            // pop
            [0x58..=0x5f, rest @ ..] | [0x41, 0x58..=0x5f, rest @ ..] => {
                words += 1;
                rest
            }
            // add rsp, ..
            [0x48, 0x83, 0xc4, bytes @ 8..=0x78, rest @ ..] if bytes % 8 == 0 => {
                words += u64::from(bytes / 8);
                rest
            }
            [0xc3, ..] => return Some(words),
            _ => return None,
        };
    }
}
