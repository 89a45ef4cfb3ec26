//! Finds a function's frame pointer by its first instructions.
//!
//! The registers of a thread that waits in some system calls are not known, apart from its stack pointer. A function that
//! was compiled with frame pointers keeps its caller's, and lowers the stack pointer by a fixed number of bytes.

use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

/// The maximum number of instructions to read.
const LONGEST: usize = 24;

/// Returns the frame pointer of a function whose stack pointer is `stack` at a call. `code` begins with its first
/// instruction.
pub(super) fn frame_pointer(code: &[u8], stack: u64) -> Option<u64> {
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
    match instructions.next().filter(of_stack) {
        Some(instruction) if instruction.mnemonic() == Mnemonic::Sub => {
            if !matches!(instruction.op1_kind(), OpKind::Immediate8to64 | OpKind::Immediate32to64) {
                return None;
            }
            bytes += instruction.immediate(1);
        }
        // It aligns the stack, or uses it otherwise.
        Some(_) => return None,
        None => {}
    }
    // A function with a large frame touches its pages first, and lowers the stack pointer again.
    if instructions.take(4).any(|instruction| of_stack(&instruction) && instruction.mnemonic() == Mnemonic::Sub) {
        return None;
    }
    stack.checked_add(bytes)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::frame_pointer;

    #[test]
    fn pushes_and_a_fixed_size_are_added() {
        // push rbp; mov rbp, rsp; push r15; push rbx; sub rsp, 0x28; ..
        let code = [0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x53, 0x48, 0x83, 0xec, 0x28, 0x90, 0x90];
        assert_eq!(frame_pointer(&code, 1000), Some(1000 + 16 + 0x28));
        // push rbp; mov rbp, rsp; push rbx; push rax; mov rdi, rsi
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x50, 0x48, 0x89, 0xf7];
        assert_eq!(frame_pointer(&code, 1000), Some(1016));
        // push rbp; mov rbp, rsp; and rsp, -32
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xe0];
        assert_eq!(frame_pointer(&code, 1000), None);
        // push rbx; sub rsp, 16
        assert_eq!(frame_pointer(&[0x53, 0x48, 0x83, 0xec, 0x10], 1000), None);
        assert_eq!(frame_pointer(&[], 1000), None);
    }
}
