//! x86-64.

#![expect(clippy::cast_possible_wrap, reason = "distances of code are below 2^31")]

use super::super::layout::{PATCH_BYTES, PLACEMENTS};
use super::Processor;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionBlock,
    OpKind,
};

/// The size of `jmp rel32` in bytes.
const JUMP: usize = 5;

pub(super) struct X86_64;

impl Processor for X86_64 {
    /// `jmp [rip+2]`, and two bytes of padding.
    const STUB: [u8; 8] = [0xff, 0x25, 2, 0, 0, 0, 0xcc, 0xcc];
    /// `nop`
    const FILLER: u8 = 0x90;
    /// Half of the range of a jump.
    const LARGEST: u64 = 1024;
    const DISTANCES: ([u64; PLACEMENTS / 2], [u64; PLACEMENTS / 2]) = ([1, 16, 256, 900], [900, 512, 256, 64]);

    fn replaced(code: &[u8], addr: u64) -> Result<usize, String> {
        Ok(first_instructions(code, addr)?.iter().map(Instruction::len).sum())
    }

    fn moved(code: &[u8], from: u64, to: u64) -> Option<Vec<u8>> {
        let mut instructions: Vec<_> = Decoder::with_ip(64, code, from, DecoderOptions::NONE).into_iter().collect();
        if !instructions.last().is_some_and(ends) {
            let rest = from + code.len() as u64;
            instructions.push(Instruction::with_branch(Code::Jmp_rel32_64, rest).ok()?);
        }
        let block = InstructionBlock::new(&instructions, to);
        Some(BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?.code_buffer)
    }

    fn counter(address: u8) -> Option<Vec<u8>> {
        // push rax; mov rax, [rip+distance]; lock inc qword [rax]; pop rax. A function's arguments are in other registers or
        // behind the return address, and no flag has a meaning at its start.
        let distance = address.checked_sub(8)?;
        Some(vec![0x50, 0x48, 0x8b, 5, distance, 0, 0, 0, 0xf0, 0x48, 0xff, 0, 0x58])
    }

    fn jump(from: u64, to: u64) -> Option<Vec<u8>> {
        let distance = i32::try_from(to.wrapping_sub(from + JUMP as u64) as i64).ok()?;
        Some([&[0xe9][..], &distance.to_le_bytes()].concat())
    }
}

/// Returns the instructions that the jump replaces, or the reason why the function cannot be patched.
fn first_instructions(code: &[u8], addr: u64) -> Result<Vec<Instruction>, String> {
    let mut first: Vec<Instruction> = Vec::new();
    let mut len = 0;
    for instruction in Decoder::with_ip(64, code, addr, DecoderOptions::NONE) {
        if len < JUMP {
            if let Some(reason) = unmovable(&instruction) {
                return Err(format!("begins with {reason}"));
            }
            len += instruction.len();
            first.push(instruction);
            if len < JUMP && ends(&instruction) {
                return Err("is too short".to_owned());
            }
            continue;
        }
        // Data between instructions may decode as branches. At worst that refuses a function that could be patched.
        let target = near_target(&instruction);
        if target.is_some_and(|target| (addr + 1..addr + len as u64).contains(&target)) {
            return Err("branches to its first instructions".to_owned());
        }
    }
    if !(JUMP..=PATCH_BYTES).contains(&len) {
        return Err("is too short".to_owned());
    }
    Ok(first)
}

fn ends(instruction: &Instruction) -> bool {
    matches!(
        instruction.flow_control(),
        FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::IndirectBranch | FlowControl::Exception
    )
}

fn near_target(instruction: &Instruction) -> Option<u64> {
    let is_near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    (is_near && instruction.op_count() > 0).then(|| instruction.near_branch64())
}

/// Returns the reason why an instruction cannot be moved, if there is one. Operands relative to `rip` can be encoded
/// again.
fn unmovable(instruction: &Instruction) -> Option<&'static str> {
    match instruction.flow_control() {
        FlowControl::Next => (instruction.code() == Code::INVALID).then_some("bytes that are not a valid instruction"),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => None,
        FlowControl::Return => Some("a return"),
        // A call pushes a return address, which unwinders look up.
        FlowControl::Call | FlowControl::IndirectCall => Some("a call"),
        _ => Some("an instruction that cannot be moved"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{STUB, Site, encode};
    use super::*;
    use crate::agent::layout::{Patch, Patches};

    const ADDR: u64 = 0x1000;

    fn refused(code: &[u8]) -> String {
        first_instructions(code, ADDR).expect_err("it is refused")
    }

    #[test]
    fn common_prologue_can_be_moved() {
        // push rbp; mov rbp, rsp; push rbx; sub rsp, 8; ret
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 8, 0xc3];
        let first = first_instructions(&code, ADDR).expect("it can be moved");
        assert_eq!(first.iter().map(Instruction::len).sum::<usize>(), 5);
    }

    #[test]
    fn rip_relative_instruction_is_encoded_for_its_new_address() {
        // mov rax, [rip+0x100]; ret
        let code = [0x48, 0x8b, 5, 0, 1, 0, 0, 0xc3];
        let instructions = first_instructions(&code, ADDR).expect("it can be moved");
        let len = instructions.iter().map(Instruction::len).sum();
        let site = Site { addr: ADDR, function: 0, code: &code[..len] };
        let mut placements = [0x10_0000; PLACEMENTS];
        placements[1] = 0x20_0000;
        let bytes = encode::<X86_64>(&[site], &placements).expect("it is encoded");
        const PAGE: usize = super::super::PAGE as usize;
        let codes = size_of::<Patches>() + size_of::<Patch>();
        for (number, base) in [(0, 0x10_0000_u64), (1, 0x20_0000)] {
            let code = &bytes[codes + number * PAGE..][..PAGE];
            let mut decoder = Decoder::with_ip(64, &code[STUB..], base + STUB as u64, DecoderOptions::NONE);
            assert_eq!(decoder.decode().ip_rel_memory_address(), ADDR + 7 + 0x100);
            assert_eq!(decoder.decode().near_branch64(), ADDR + 7);
            // The patched function begins with a jump to the stub.
            let new = size_of::<Patches>() + 24 + PATCH_BYTES * (1 + number);
            let jump = Decoder::with_ip(64, &bytes[new..], ADDR, DecoderOptions::NONE).decode();
            assert_eq!(jump.near_branch64(), base);
        }
    }

    #[test]
    fn counted_function_adds_one_and_goes_on() {
        // push rbp; mov rbp, rsp; push rbx; ret
        let code = [0x55, 0x48, 0x89, 0xe5, 0x53, 0xc3];
        let site = Site { addr: ADDR, function: super::super::CALLS as usize, code: &code[..5] };
        let base = 0x10_0000;
        let bytes = encode::<X86_64>(&[site], &[base; PLACEMENTS]).expect("it is encoded");
        let part = &bytes[size_of::<Patches>() + size_of::<Patch>()..];
        let decoder = Decoder::with_ip(64, part, base, DecoderOptions::NONE);
        let all: Vec<Instruction> = decoder.into_iter().take(8).collect();
        assert_eq!(all[1].ip_rel_memory_address(), base + super::super::ADDRESS as u64);
        assert!(all[2].has_lock_prefix() && all[2].code() == Code::Inc_rm64, "{all:?}");
        assert_eq!(all[4].ip(), base + 13, "the function's own code follows");
        assert_eq!(all[7].near_branch64(), ADDR + 5);
    }

    #[test]
    fn unmovable_prologues_are_refused() {
        // ret
        assert_eq!(refused(&[0xc3]), "begins with a return");
        // push rbp, then nothing
        assert_eq!(refused(&[0x55]), "is too short");
        // call rel32
        assert_eq!(refused(&[0xe8, 0, 0, 0, 0, 0xc3]), "begins with a call");
        // push rbp; mov rbp, rsp; dec edi; jne to the second instruction; ret
        assert_eq!(
            refused(&[0x55, 0x48, 0x89, 0xe5, 0xff, 0xcf, 0x75, 0xf9, 0xc3]),
            "branches to its first instructions"
        );
        assert_eq!(refused(&[0x06, 0x06, 0x06, 0x06, 0x06, 0x06]), "begins with an instruction that cannot be moved");
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2000 {
            let code: Vec<u8> = (0..random.usize(0..40)).map(|_| random.u8(..)).collect();
            if let Ok(len) = X86_64::replaced(&code, ADDR) {
                let _ = X86_64::moved(&code[..len], ADDR, 0x10_0000);
            }
        }
    }
}
