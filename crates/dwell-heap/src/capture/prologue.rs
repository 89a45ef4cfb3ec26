//! Finds a function's frame pointer by its first instructions.
//!
//! The registers of a thread that waits in some system calls are not known, apart from its stack pointer. A function that
//! was compiled with frame pointers, or that aligns its stack, keeps its caller's, and lowers the stack pointer by a fixed number
//! of bytes, apart from what the alignment takes.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use std::iter::StepBy;
use std::ops::Range;

/// The maximum number of instructions to read.
const LONGEST: usize = 24;
/// The largest alignment of a stack.
const ALIGNED: u64 = 4096;
/// The alignment of a frame pointer by the System V ABI.
const FRAME: usize = 16;

/// Returns the possible frame pointers of a function whose stack pointer is `stack` at a call: one, or several if it aligns its
/// stack. `code` begins with its first instruction.
pub(super) fn frame_pointers(code: &[u8], stack: u64) -> Option<StepBy<Range<u64>>> {
    // The instructions of other processors are not read. Frames end there.
    if cfg!(not(target_arch = "x86_64")) {
        return None;
    }
    let mut instructions = Decoder::new(64, code, DecoderOptions::NONE).into_iter().take(LONGEST).peekable();
    instructions.next_if(|instruction| instruction.code() == Code::Endbr64);
    let is_push = |instruction: &Instruction| {
        instruction.mnemonic() == Mnemonic::Push && instruction.op0_kind() == OpKind::Register
    };
    let is_copy = |instruction: &Instruction| {
        instruction.mnemonic() == Mnemonic::Mov
            && instruction.op0_register() == Register::RBP
            && instruction.op1_register() == Register::RSP
    };
    let saves = instructions
        .next()
        .is_some_and(|instruction| is_push(&instruction) && instruction.op0_register() == Register::RBP);
    if !saves || !instructions.next().is_some_and(|instruction| is_copy(&instruction)) {
        return None;
    }
    let mut bytes = 0_u64;
    while instructions.next_if(is_push).is_some() {
        bytes += 8;
    }
    let of_stack = |instruction: &Instruction| {
        instruction.op0_kind() == OpKind::Register && instruction.op0_register() == Register::RSP
    };
    let immediate = |instruction: &Instruction| match instruction.op1_kind() {
        OpKind::Immediate8to64 | OpKind::Immediate32to64 => Some(instruction.immediate(1)),
        _ => None,
    };
    let is = |mnemonic| move |instruction: &Instruction| of_stack(instruction) && instruction.mnemonic() == mnemonic;
    let align = match instructions.next_if(is(Mnemonic::And)) {
        Some(instruction) => immediate(&instruction)?.wrapping_neg(),
        None => 1,
    };
    if !align.is_power_of_two() || align > ALIGNED {
        return None;
    }
    if let Some(instruction) = instructions.next_if(is(Mnemonic::Sub)) {
        // A negative number, which no compiler writes, is no size.
        bytes = bytes.checked_add(immediate(&instruction)?)?;
    }
    // It uses the stack otherwise.
    if instructions.next_if(of_stack).is_some() {
        return None;
    }
    // A function with a large frame touches its pages first, and lowers the stack pointer again.
    if instructions.take(4).any(|instruction| of_stack(&instruction) && instruction.mnemonic() == Mnemonic::Sub) {
        return None;
    }
    let least = stack.checked_add(bytes)?;
    let start = if align > 1 { least.checked_next_multiple_of(FRAME as u64)? } else { least };
    Some((start..least.checked_add(align)?).step_by(FRAME))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::frame_pointers;

    fn all(code: &[u8], stack: u64) -> Option<Vec<u64>> {
        Some(frame_pointers(code, stack)?.collect())
    }

    #[test]
    fn pushes_and_a_fixed_size_are_added() {
        // push rbp; mov rbp, rsp; push r15; push rbx; sub rsp, 0x28; ..
        let code = [0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x28, 0x90, 0x90];
        assert_eq!(all(&code, 1000), Some(vec![1000 + 16 + 0x28]));
        // push rbp; mov rbp, rsp; push rbx; push rax; mov rdi, rsi
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x50, 0x48, 0x89, 0xf7];
        assert_eq!(all(&code, 1000), Some(vec![1016]));
        // push rbx; sub rsp, 16
        assert_eq!(all(&[0x53, 0x48, 0x83, 0xec, 0x10], 1000), None);
        assert_eq!(all(&[], 1000), None);
    }

    #[test]
    fn a_function_that_aligns_its_stack_has_several() {
        // push rbp; mov rbp, rsp; push rbx; and rsp, -64; sub rsp, 0x280; nop
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x81, 0xec, 0x80, 2, 0, 0, 0x90];
        let least = 64_000 + 0x280 + 8;
        assert_eq!(all(&code, 64_000), Some(vec![least + 8, least + 24, least + 40, least + 56]));
        // push rbp; mov rbp, rsp; and rsp, rax
        assert_eq!(all(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x21, 0xc4], 64_000), None);
        // push rbp; mov rbp, rsp; 16 times push rbx; sub rsp, -128
        let code = [&[0x55, 0x48, 0x89, 0xe5][..], &[0x53; 16], &[0x48, 0x83, 0xec, 0x80]].concat();
        assert_eq!(all(&code, 64_000), None);
        // push rbp; mov rbp, rsp; add rsp, 8
        assert_eq!(all(&[0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xc4, 8], 64_000), None);
    }
}
