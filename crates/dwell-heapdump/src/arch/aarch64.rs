//! aarch64.

use core::arch::asm;

/// Its number in ELF files.
pub(crate) const MACHINE: u16 = 183;
/// The words of `struct user_pt_regs`, and where they have the instruction pointer and the stack pointer. The thread
/// pointer is in a note of its own.
pub(crate) const REGISTERS: usize = 34;
pub(crate) const INSTRUCTION_POINTER: usize = 32;
pub(crate) const STACK_POINTER: usize = 31;
pub(crate) const POINTER: Option<usize> = None;

/// Returns the registers of this thread as they are in the calling function, and its thread pointer.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a frame of its own would be gone when the registers are used")]
pub(crate) fn registers() -> ([u64; REGISTERS], u64) {
    let mut all = [0; REGISTERS];
    let (instruction, stack, pointer): (u64, u64, u64);
    // SAFETY: the instructions read registers, and write the words of the array.
    unsafe {
        asm!(
            "stp x19, x20, [{all}, #152]",
            "stp x21, x22, [{all}, #168]",
            "stp x23, x24, [{all}, #184]",
            "stp x25, x26, [{all}, #200]",
            "stp x27, x28, [{all}, #216]",
            "stp x29, x30, [{all}, #232]",
            all = in(reg) all.as_mut_ptr(),
            options(nostack, preserves_flags),
        );
    }
    // SAFETY: the instructions read registers.
    unsafe {
        asm!(
            "adr {instruction}, .",
            "mov {stack}, sp",
            "mrs {pointer}, tpidr_el0",
            instruction = out(reg) instruction,
            stack = out(reg) stack,
            pointer = out(reg) pointer,
            options(nomem, nostack, preserves_flags),
        );
    }
    all[INSTRUCTION_POINTER] = instruction;
    all[STACK_POINTER] = stack;
    (all, pointer)
}

/// The words of a control block that [`is_control_block`] needs.
pub(crate) const BLOCK: usize = 1;

/// Returns `false`: a thread's control block has no word by which it is known.
pub(crate) fn is_control_block(_: u64, _: &[u64; BLOCK], _: &[u64; BLOCK]) -> bool {
    false
}

/// Returns `true` if all bytes of memory are zero.
///
/// # Safety
/// The memory can be read, is aligned for words, and has a positive even number of them.
pub(crate) unsafe fn is_zero(start: u64, bytes: u64) -> bool {
    let found: u64;
    // SAFETY: the instructions read the words up to the first two that are not zero.
    unsafe {
        asm!(
            "2:",
            "ldp {found}, {second}, [{at}], #16",
            "orr {found}, {found}, {second}",
            "cbnz {found}, 3f",
            "subs {left}, {left}, #16",
            "b.ne 2b",
            "3:",
            found = out(reg) found,
            second = out(reg) _,
            at = inout(reg) start => _,
            left = inout(reg) bytes => _,
            options(nostack, readonly),
        );
    }
    found == 0
}
