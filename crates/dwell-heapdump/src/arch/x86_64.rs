//! x86-64.

use core::arch::asm;

/// Its number in ELF files.
pub(crate) const MACHINE: u16 = 62;
/// The words of `struct user_regs_struct`, and where they have the instruction pointer, the stack pointer and `fs`.
pub(crate) const REGISTERS: usize = 27;
pub(crate) const INSTRUCTION_POINTER: usize = 16;
pub(crate) const STACK_POINTER: usize = 19;
pub(crate) const POINTER: Option<usize> = Some(21);

/// Returns the registers of this thread as they are in the calling function, and its thread pointer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a frame of its own would be gone when the registers are used")]
pub(crate) fn registers() -> ([u64; REGISTERS], u64) {
    let mut all = [0; REGISTERS];
    let (instruction, stack, pointer): (u64, u64, u64);
    // SAFETY: the instructions read registers, and the word of the thread's control block that has its own address.
    unsafe {
        asm!(
            "mov [{all}], r15",
            "mov [{all} + 8], r14",
            "mov [{all} + 16], r13",
            "mov [{all} + 24], r12",
            "mov [{all} + 32], rbp",
            "mov [{all} + 40], rbx",
            all = in(reg) all.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
    // SAFETY: the instructions read registers, and the first word at `fs`, which is the thread's own address by the ABI.
    unsafe {
        asm!(
            "lea {instruction}, [rip]",
            "mov {stack}, rsp",
            "mov {pointer}, fs:[0]",
            instruction = out(reg) instruction,
            stack = out(reg) stack,
            pointer = out(reg) pointer,
            options(nostack, preserves_flags, readonly),
        );
    }
    all[INSTRUCTION_POINTER] = instruction;
    all[STACK_POINTER] = stack;
    (all, pointer)
}

/// The word of a thread's control block that is the same in all of them: what the stack protector compares with.
const GUARD: usize = 5;
/// The words of a control block that [`is_control_block`] needs.
pub(crate) const BLOCK: usize = GUARD + 1;

/// Returns `true` if the words at an address are the beginning of a thread's control block, as this thread's own one is:
/// the first has its own address.
pub(crate) fn is_control_block(address: u64, words: &[u64; BLOCK], own: &[u64; BLOCK]) -> bool {
    words[0] == address && words[GUARD] == own[GUARD]
}

/// Returns `true` if all bytes of memory are zero.
///
/// # Safety
/// The memory can be read, is aligned for words, and has whole ones.
pub(crate) unsafe fn is_zero(start: u64, bytes: u64) -> bool {
    let is_equal: u8;
    // SAFETY: the instructions read the words up to the first that is not zero. The direction flag is clear at calls.
    unsafe {
        asm!(
            "repe scasq",
            "sete {is_equal}",
            is_equal = out(reg_byte) is_equal,
            inout("rdi") start => _,
            inout("rcx") bytes / 8 => _,
            in("rax") 0_u64,
            options(nostack, readonly),
        );
    }
    is_equal == 1
}
