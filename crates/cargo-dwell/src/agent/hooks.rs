//! Plans the hooks for allocators that are linked statically.
//!
//! A jump to a stub near the executable replaces a function's first instructions, at least five bytes. The stub jumps
//! to the agent's hook. The replaced instructions move next to the stub, followed by a jump to the rest of the
//! function; the hook calls this code as the original function. The tool encodes all code for several addresses, and
//! the agent picks a free address and copies the bytes.
//!
//! A function is not patched, and a note says so, if one of its first instructions cannot be moved, or if the function
//! branches back to one of them.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "sizes of code are below 2^31, and `usize` has 64 bits where this runs"
)]

use super::layout::{Allocator, FUNCTIONS, PATCH_BYTES, PLACEMENTS, Patch, Patches};
use crate::program::loadable::code_at;
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionBlock,
    OpKind,
};
use object::read::elf::ElfFile64;
use object::{LittleEndian, Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// The patches for an executable.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The patches in the format of the agent; empty if there are none.
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
    /// The allocator that is linked statically.
    pub(crate) allocator: Option<Allocator>,
    /// Functions that cannot be patched, with reasons.
    pub(crate) refused: Vec<String>,
}

/// The size of `jmp rel32` in bytes.
const JUMP: usize = 5;
/// The size of a stub in bytes: `jmp [rip+2]`, two bytes of padding, the hook's address.
const STUB: usize = 16;
const PAGE: u64 = 4096;
/// The range of a jump in bytes. The executable may take half of it.
const REACH: u64 = 1 << 31;
const MEGABYTE: u64 = 1 << 20;

/// Plans the patches for an executable.
pub(crate) fn plan(data: &[u8]) -> Plan {
    let mut plan = Plan::default();
    let Ok(file) = ElfFile64::<LittleEndian>::parse(data) else { return plan };
    let found = functions(&file);
    plan.allocator = found.values().map(|(function, ..)| FUNCTIONS[*function].of).min();
    let mut sites = Vec::new();
    for (addr, (function, name, size)) in found {
        let Some(code) = code_at(&file, data, addr, size) else { continue };
        match first_instructions(code, addr) {
            Ok(instructions) => sites.push(Site { addr, function, code, instructions }),
            Err(reason) => plan.refused.push(format!("{name} {reason}")),
        }
    }
    if sites.is_empty() {
        return plan;
    }
    let start = file.segments().map(|segment| segment.address()).min().unwrap_or(0) & !(PAGE - 1);
    let end =
        file.segments().map(|segment| segment.address() + segment.size()).max().unwrap_or(0).next_multiple_of(PAGE);
    if end - start > REACH / 2 {
        plan.refused.push("the executable is larger than 1 GiB in memory".to_owned());
        return plan;
    }
    if let Some(bytes) = encode(&sites, &placements(start, end)) {
        plan.bytes = bytes;
        plan.count = sites.len() as u32;
    } else {
        plan.refused.push(format!("the first instructions of {} functions cannot be relocated", sites.len()));
    }
    plan
}

/// A function to patch.
struct Site<'d> {
    addr: u64,
    function: usize,
    code: &'d [u8],
    instructions: Vec<Instruction>,
}

impl Site<'_> {
    /// Returns the number of replaced bytes.
    fn len(&self) -> usize {
        self.instructions.iter().map(Instruction::len).sum()
    }
}

/// Returns the functions of known allocators by address. A function with several names is listed once.
fn functions<'d>(file: &ElfFile64<'d, LittleEndian>) -> BTreeMap<u64, (usize, &'d str, u64)> {
    let mut named = BTreeMap::new();
    for symbol in file.symbols() {
        if symbol.kind() == SymbolKind::Text
            && symbol.address() != 0
            && symbol.is_definition()
            && let Ok(name) = symbol.name()
        {
            named.entry(name).or_insert((symbol.address(), symbol.size()));
        }
    }
    let prefix =
        ["_rjem_", "je_", "jemalloc_"].into_iter().find(|prefix| named.contains_key(&*format!("{prefix}mallocx")));
    let mut found = BTreeMap::new();
    for (index, function) in FUNCTIONS.iter().enumerate() {
        let name = match (function.of, prefix) {
            (Allocator::Jemalloc, None) => continue,
            (Allocator::Jemalloc, Some(prefix)) => format!("{prefix}{}", function.name),
            _ => function.name.to_owned(),
        };
        if let Some((name, (addr, size))) = named.get_key_value(&*name) {
            found.entry(*addr).or_insert((index, *name, *size));
        }
    }
    found
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

/// Returns addresses for the code: below the executable, and above it with space for the heap between.
fn placements(start: u64, end: u64) -> [u64; PLACEMENTS] {
    let before = |megabytes: u64| start.wrapping_sub(megabytes * MEGABYTE);
    [
        before(1),
        before(16),
        before(256),
        before(900),
        end + 900 * MEGABYTE,
        end + 512 * MEGABYTE,
        end + 256 * MEGABYTE,
        end + 64 * MEGABYTE,
    ]
}

/// Encodes the plan.
fn encode(sites: &[Site<'_>], placements: &[u64; PLACEMENTS]) -> Option<Vec<u8>> {
    let mut patches: Vec<Patch> = sites
        .iter()
        .map(|site| {
            let mut old = [0; PATCH_BYTES];
            let len = site.len();
            old[..len].copy_from_slice(&site.code[..len]);
            Patch {
                addr: site.addr,
                function: site.function as u32,
                len: len as u32,
                moved: 0,
                hook: 0,
                old,
                // `nop`s after the jump.
                new: [[0x90; PATCH_BYTES]; PLACEMENTS],
            }
        })
        .collect();
    // A moved instruction may become longer, so each function gets a part of a fixed size.
    const PART: usize = 128;
    let code_bytes = (sites.len() * PART).next_multiple_of(PAGE as usize);
    let mut codes = Vec::new();
    for (number, base) in placements.iter().enumerate() {
        let mut code = vec![0xcc; code_bytes];
        for ((index, site), patch) in sites.iter().enumerate().zip(&mut patches) {
            let at = index * PART;
            let part = &mut code[at..at + PART];
            part[..6].copy_from_slice(&[0xff, 0x25, 2, 0, 0, 0]);
            patch.hook = (at + 8) as u32;
            patch.moved = (at + STUB) as u32;
            let moved = base.wrapping_add((at + STUB) as u64);
            let rest = site.addr + site.len() as u64;
            let mut instructions = site.instructions.clone();
            if !instructions.last().is_some_and(ends) {
                instructions.push(Instruction::with_branch(Code::Jmp_rel32_64, rest).ok()?);
            }
            let block = InstructionBlock::new(&instructions, moved);
            let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?.code_buffer;
            part[STUB..].get_mut(..encoded.len())?.copy_from_slice(&encoded);
            let distance = base.wrapping_add(at as u64).wrapping_sub(site.addr + JUMP as u64) as i64;
            let new = &mut patch.new[number];
            new[0] = 0xe9;
            new[1..JUMP].copy_from_slice(&i32::try_from(distance).ok()?.to_le_bytes());
        }
        codes.push(code);
    }
    let head = Patches { count: sites.len() as u32, code_bytes: code_bytes as u32, placements: *placements };
    let mut bytes = head.to_bytes();
    for patch in &patches {
        bytes.extend(patch.to_bytes());
    }
    bytes.extend(codes.concat());
    Some(bytes)
}

impl Patches {
    /// Returns the in-memory representation.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.count.to_ne_bytes());
        bytes.extend(self.code_bytes.to_ne_bytes());
        bytes.extend(self.placements.iter().flat_map(|placement| placement.to_ne_bytes()));
        debug_assert_eq!(bytes.len(), size_of::<Self>());
        bytes
    }
}

impl Patch {
    /// Returns the in-memory representation.
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend(self.addr.to_ne_bytes());
        for word in [self.function, self.len, self.moved, self.hook] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend(self.old);
        bytes.extend(self.new.concat());
        debug_assert_eq!(bytes.len(), size_of::<Self>());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let site = Site { addr: ADDR, function: 0, code: &code, instructions };
        let mut placements = [0x10_0000; PLACEMENTS];
        placements[1] = 0x20_0000;
        let bytes = encode(&[site], &placements).expect("it is encoded");
        let codes = size_of::<Patches>() + size_of::<Patch>();
        for (number, base) in [(0, 0x10_0000_u64), (1, 0x20_0000)] {
            let code = &bytes[codes + number * 4096..][..4096];
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
            if let Ok(instructions) = first_instructions(&code, ADDR) {
                let site = Site { addr: ADDR, function: 0, code: &code, instructions };
                let _ = encode(&[site], &placements(0, 0x10_0000));
            }
        }
        assert!(plan(b"").bytes.is_empty());
        assert!(plan(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0]).bytes.is_empty());
    }
}
