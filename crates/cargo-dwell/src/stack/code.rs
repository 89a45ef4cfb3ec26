//! The calls of a function and the bytes that its prologue takes from the stack, from its instructions. The encodings are those of
//! the processors' manuals: Intel 64 (decoded by `iced-x86`), Arm A64, T32 and A32, RISC-V with compressed instructions.

use iced_x86::{Decoder, DecoderOptions, FlowControl, Mnemonic, OpKind, Register};
use object::Architecture;

/// A set of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Processor {
    X86 {
        bits: u32,
    },
    Aarch64,
    /// T32, unless a function's address says A32.
    Thumb,
    Arm,
    Riscv {
        bits: u32,
    },
}

/// What the instructions of a function say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// The addresses that it calls or jumps to.
    pub(super) calls: Vec<u64>,
    /// Whether it calls what an address in memory or a register names.
    pub(super) is_open: bool,
    /// The bytes by which the prologue moves the stack pointer, with saved registers.
    pub(super) below: u64,
}

/// A page, which the loop that touches a large frame takes from the stack in each round.
const PAGE: u64 = 4096;

impl Processor {
    pub(super) fn of(architecture: Architecture) -> Option<Self> {
        Some(match architecture {
            Architecture::X86_64 => Self::X86 { bits: 64 },
            Architecture::I386 => Self::X86 { bits: 32 },
            Architecture::Aarch64 => Self::Aarch64,
            Architecture::Arm => Self::Thumb,
            Architecture::Riscv32 => Self::Riscv { bits: 32 },
            Architecture::Riscv64 => Self::Riscv { bits: 64 },
            _ => return None,
        })
    }

    /// Returns the size of an address in bytes.
    pub(super) fn word(self) -> u8 {
        match self {
            Self::X86 { bits: 32 } | Self::Thumb | Self::Arm | Self::Riscv { bits: 32 } => 4,
            _ => 8,
        }
    }

    /// Returns the bytes that a call takes from the stack: elsewhere the return address is in a register.
    pub(super) fn return_address(self) -> u64 {
        if matches!(self, Self::X86 { .. }) { u64::from(self.word()) } else { 0 }
    }

    /// Returns the number of the stack pointer in DWARF.
    pub(super) fn stack_pointer(self) -> u16 {
        match self {
            Self::X86 { bits: 32 } => 4,
            Self::X86 { .. } => 7,
            Self::Aarch64 => 31,
            Self::Thumb | Self::Arm => 13,
            Self::Riscv { .. } => 2,
        }
    }

    /// Reads a function. `data` says whether an address has a constant between instructions.
    pub(super) fn decode(self, body: &[u8], start: u64, data: &dyn Fn(u64) -> bool) -> Code {
        let mut reader =
            Reader { code: Code::default(), body: start..start.saturating_add(body.len() as u64), is_prologue: true };
        match self {
            Self::X86 { bits } => reader.x86(body, bits),
            Self::Aarch64 => reader.aarch64(body),
            Self::Thumb => reader.thumb(body, data),
            Self::Arm => reader.arm(body, data),
            Self::Riscv { bits } => reader.riscv(body, bits),
        }
        reader.code.calls.sort_unstable();
        reader.code.calls.dedup();
        reader.code
    }
}

struct Reader {
    code: Code,
    body: std::ops::Range<u64>,
    is_prologue: bool,
}

impl Reader {
    /// The prologue takes bytes from the stack.
    fn takes(&mut self, bytes: u64) {
        if self.is_prologue {
            self.code.below = self.code.below.saturating_add(bytes);
        }
    }

    fn goes(&mut self, target: u64, is_call: bool) {
        self.is_prologue = false;
        if !self.body.contains(&target) || is_call && target == self.body.start {
            self.code.calls.push(target);
        }
    }

    fn calls_unknown(&mut self) {
        self.is_prologue = false;
        self.code.is_open = true;
    }

    fn x86(&mut self, body: &[u8], bits: u32) {
        let pointer = if bits == 64 { Register::RSP } else { Register::ESP };
        for instruction in Decoder::with_ip(bits, body, self.body.start, DecoderOptions::NONE) {
            let is_number = matches!(
                instruction.op1_kind(),
                OpKind::Immediate32to64 | OpKind::Immediate8to64 | OpKind::Immediate32 | OpKind::Immediate8to32
            );
            match instruction.mnemonic() {
                Mnemonic::Push => self.takes(u64::from(bits / 8)),
                Mnemonic::Sub if instruction.op0_register() == pointer && is_number => {
                    self.takes(instruction.immediate(1));
                }
                // The end of the loop that touches each page of a large frame, one of which the loop's `sub` takes.
                Mnemonic::Lea
                    if instruction.memory_base() == pointer && instruction.op0_register() == Register::R11 =>
                {
                    self.takes(instruction.memory_displacement64().wrapping_neg().saturating_sub(PAGE));
                }
                _ => {}
            }
            match instruction.flow_control() {
                FlowControl::Call => self.goes(instruction.near_branch_target(), true),
                FlowControl::UnconditionalBranch => self.goes(instruction.near_branch_target(), false),
                FlowControl::IndirectCall => self.calls_unknown(),
                FlowControl::Return => self.is_prologue = false,
                _ => {}
            }
        }
    }

    fn aarch64(&mut self, body: &[u8]) {
        for (number, word) in body.as_chunks::<4>().0.iter().enumerate() {
            let word = u32::from_le_bytes(*word);
            let at = self.body.start + 4 * number as u64;
            let target = |bits: u32| at.wrapping_add_signed(4 * signed(word, bits));
            let immediate = u64::from(word >> 10 & 0xfff) << (12 * (word >> 22 & 1));
            if word & 0xff80_03ff == 0xd100_03ff {
                // sub sp, sp, #immediate
                self.takes(immediate);
            } else if word & 0xffc0_03e0 == 0xd140_03e0 {
                // sub x9, sp, #immediate: as `lea` above
                self.takes(immediate.saturating_sub(PAGE));
            } else if matches!(word & 0xffc0_03e0, 0xa980_03e0 | 0x6d80_03e0) {
                // stp a, b, [sp, #immediate]!
                self.takes((-8 * signed(word >> 15, 7)).max(0).unsigned_abs());
            } else if word & 0xffe0_0fe0 == 0xf800_0fe0 {
                // str a, [sp, #immediate]!
                self.takes((-signed(word >> 12, 9)).max(0).unsigned_abs());
            } else if word & 0xfc00_0000 == 0x9400_0000 {
                self.goes(target(26), true);
            } else if word & 0xfc00_0000 == 0x1400_0000 {
                self.goes(target(26), false);
            } else if word & 0xffff_fc1f == 0xd63f_0000 {
                self.calls_unknown();
            } else if word == 0xd65f_03c0 {
                self.is_prologue = false;
            }
        }
    }

    fn thumb(&mut self, body: &[u8], data: &dyn Fn(u64) -> bool) {
        let half = |at: usize| body.get(at..at + 2).map(|bytes| u32::from(u16::from_le_bytes([bytes[0], bytes[1]])));
        // What the last `movw`, `movt` or load of a constant wrote.
        let mut registers = [0_u32; 16];
        let mut at = 0;
        while let Some(first) = half(at) {
            let address = self.body.start + at as u64;
            if data(address) {
                at += 2;
                continue;
            }
            let is_long = first >> 11 > 0b11100;
            let second = if is_long { half(at + 2).unwrap_or(0) } else { 0 };
            at += if is_long { 4 } else { 2 };
            // The program counter is two instructions ahead.
            let target = |distance: i64| address.wrapping_add(4).wrapping_add_signed(distance);
            let register = (second >> 8 & 15) as usize;
            let immediate = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xff;
            match (first, second) {
                // push {registers}, short and long; push of one register; vpush
                (0xb400..=0xb5ff, _) => self.takes(u64::from(4 * (first & 0x1ff).count_ones())),
                (0xe92d, _) => self.takes(u64::from(4 * second.count_ones())),
                (0xf84d, _) if second & 0xfff == 0xd04 => self.takes(4),
                (0xed2d | 0xed6d, _) => self.takes(u64::from(4 * (second & 0xff))),
                // sub sp, #immediate, in three encodings; sub sp, sp, register; add sp, register
                (0xb080..=0xb0ff, _) => self.takes(u64::from(4 * (first & 0x7f))),
                (0xf1ad | 0xf5ad, _) if register == 13 => self.takes(u64::from(expanded(immediate))),
                (0xf2ad | 0xf6ad, _) if register == 13 => self.takes(u64::from(immediate)),
                (0xebad, _) if second & 0xfff0 == 0x0d00 => {
                    self.takes(u64::from(registers[(second & 15) as usize]));
                }
                (0x4485..=0x44fd, _) if first & 0xff87 == 0x4485 => {
                    let added = registers[(first >> 3 & 15) as usize].cast_signed();
                    self.takes(u64::from(added.min(0).unsigned_abs()));
                }
                // movw, movt, and ldr of a constant behind the function
                (..) if is_long && first & 0xfbf0 == 0xf240 => {
                    registers[register] = (first & 15) << 12 | immediate;
                }
                (..) if is_long && first & 0xfbf0 == 0xf2c0 => {
                    registers[register] = registers[register] & 0xffff | ((first & 15) << 12 | immediate) << 16;
                }
                (0x4800..=0x4fff, _) => {
                    let constant = (target(0) & !3).wrapping_add(u64::from(4 * (first & 0xff)));
                    let from = constant.wrapping_sub(self.body.start);
                    let from = usize::try_from(from).unwrap_or(usize::MAX);
                    let word = from.checked_add(4).and_then(|end| body.get(from..end)?.first_chunk::<4>());
                    registers[(first >> 8 & 7) as usize] = word.map_or(0, |word| u32::from_le_bytes(*word));
                }
                // b; bl and b.w; blx register; a return
                (0xe000..=0xe7ff, _) => self.goes(target(2 * signed(first, 11)), false),
                (0xf000..=0xf7ff, _) if matches!(second & 0xd000, 0x9000 | 0xd000) => {
                    let [sign, one, two] = [first >> 10, second >> 13, second >> 11].map(|bit| bit & 1);
                    let distance = sign << 24 | (1 ^ one ^ sign) << 23 | (1 ^ two ^ sign) << 22;
                    let distance = distance | (first & 0x3ff) << 12 | (second & 0x7ff) << 1;
                    self.goes(target(signed(distance, 25)), second & 0x4000 != 0);
                }
                (0x4780..=0x47ff, _) => self.calls_unknown(),
                (0x4770 | 0xbd00..=0xbdff, _) => self.is_prologue = false,
                _ => {}
            }
        }
    }

    fn arm(&mut self, body: &[u8], data: &dyn Fn(u64) -> bool) {
        // What the last `movw` or `movt` wrote.
        let mut registers = [0_u32; 16];
        for (number, word) in body.as_chunks::<4>().0.iter().enumerate() {
            let at = self.body.start.wrapping_add(4 * number as u64);
            if data(at) {
                continue;
            }
            let word = u32::from_le_bytes(*word);
            // The program counter is two instructions ahead.
            let target = at.wrapping_add(8).wrapping_add_signed(4 * signed(word, 24));
            let immediate = word >> 4 & 0xf000 | word & 0xfff;
            let register = &mut registers[(word >> 12 & 15) as usize];
            // Without the condition.
            match word & 0x0fff_ffff {
                // sub sp, sp, #immediate; push {registers}; push {register}; vpush; sub sp, sp, register
                0x024d_d000..=0x024d_dfff => {
                    self.takes(u64::from((word & 0xff).rotate_right((word >> 8 & 15) * 2)));
                }
                0x092d_0000..=0x092d_ffff => self.takes(u64::from(4 * (word & 0xffff).count_ones())),
                code if code & 0x0fff_0fff == 0x052d_0004 => self.takes(4),
                code if code & 0x0fbf_0e00 == 0x0d2d_0a00 => self.takes(u64::from(4 * (word & 0xff))),
                0x004d_d000..=0x004d_d00f => self.takes(u64::from(registers[(word & 15) as usize])),
                // movw and movt
                0x0300_0000..=0x030f_ffff => *register = immediate,
                0x0340_0000..=0x034f_ffff => *register = *register & 0xffff | immediate << 16,
                // bl; b; blx register; bx lr
                0x0b00_0000..=0x0bff_ffff => self.goes(target, true),
                0x0a00_0000..=0x0aff_ffff if word >> 28 == 14 => self.goes(target, false),
                0x012f_ff30..=0x012f_ff3f => self.calls_unknown(),
                0x012f_ff1e => self.is_prologue = false,
                _ => {}
            }
        }
    }

    fn riscv(&mut self, body: &[u8], bits: u32) {
        let half = |at: usize| body.get(at..at + 2).map(|bytes| u32::from(u16::from_le_bytes([bytes[0], bytes[1]])));
        // The addresses that `auipc` wrote.
        let mut registers = [None::<u64>; 32];
        let mut at = 0;
        while let Some(low) = half(at) {
            let address = self.body.start + at as u64;
            if low & 3 != 3 {
                at += 2;
                let near = |bit: u32, to: u32| (low >> bit & 1) << to;
                let jump = near(12, 11) | near(8, 10) | (low >> 9 & 3) << 8 | near(6, 7) | near(7, 6) | near(2, 5);
                let jump = address.wrapping_add_signed(signed(jump | near(11, 4) | (low >> 3 & 7) << 1, 12));
                let register = (low >> 7 & 31) as usize;
                match (low >> 13, low & 3) {
                    // c.addi sp, and c.addi16sp
                    (0b000, 1) if register == 2 => {
                        self.takes((-signed(low >> 7 & 32 | low >> 2 & 31, 6)).max(0).unsigned_abs());
                    }
                    (0b011, 1) if register == 2 => {
                        let number = near(12, 9) | (low >> 3 & 3) << 7 | near(5, 6) | near(2, 5) | near(6, 4);
                        self.takes((-signed(number, 10)).max(0).unsigned_abs());
                    }
                    (0b101, 1) => self.goes(jump, false),
                    (0b001, 1) if bits == 32 => self.goes(jump, true),
                    // c.jr and c.jalr
                    (0b100, 2) if low & 0x7c == 0 && register != 0 => {
                        self.goes_by_register(registers[register], 0, low >> 12 & 1 == 1);
                    }
                    _ => {}
                }
                continue;
            }
            let word = low | half(at + 2).unwrap_or(0) << 16;
            at += 4;
            let (to, from) = ((word >> 7 & 31) as usize, (word >> 15 & 31) as usize);
            let number = signed(word >> 20, 12);
            match word & 0x7f {
                // addi sp, sp, number
                0x13 if word & 0xf_ffff == 0x1_0113 => self.takes((-number).max(0).unsigned_abs()),
                0x17 => registers[to] = Some(address.wrapping_add_signed(i64::from((word & !0xfff).cast_signed()))),
                0x6f => {
                    let distance = word >> 11 & 0x10_0000 | word & 0xf_f000 | word >> 9 & 0x800 | word >> 20 & 0x7fe;
                    self.goes(address.wrapping_add_signed(signed(distance, 21)), to != 0);
                }
                0x67 => self.goes_by_register(registers[from], number, to != 0),
                _ => {}
            }
        }
    }

    fn goes_by_register(&mut self, known: Option<u64>, distance: i64, is_call: bool) {
        match known {
            Some(address) => self.goes(address.wrapping_add_signed(distance), is_call),
            None if is_call => self.calls_unknown(),
            // A return, or a table of jumps.
            None => self.is_prologue = false,
        }
    }
}

/// Returns the number in the lowest `bits` of a word.
fn signed(word: u32, bits: u32) -> i64 {
    let unused = 32 - bits;
    i64::from((word << unused).cast_signed() >> unused)
}

/// Returns the number that twelve bits of a T32 instruction stand for (Arm's manual: `ThumbExpandImm`).
fn expanded(immediate: u32) -> u32 {
    let byte = immediate & 0xff;
    match immediate >> 8 {
        0 => byte,
        1 => byte << 16 | byte,
        2 => byte << 24 | byte << 8,
        3 => byte << 24 | byte << 16 | byte << 8 | byte,
        _ => (0x80 | immediate & 0x7f).rotate_right(immediate >> 7),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(processor: Processor, body: &[u8]) -> Code {
        processor.decode(body, 0x1000, &|_| false)
    }

    fn code(calls: &[u64], is_open: bool, below: u64) -> Code {
        Code { calls: calls.to_vec(), is_open, below }
    }

    #[test]
    fn prologues_and_calls_are_those_of_the_disassembler() {
        // push {r4, r5, r7, lr}; add r7, sp, #8; sub.w sp, sp, #608; bl 0x1000; blx r3; b.w 0x2000
        let thumb = [
            0xb0, 0xb5, 0x02, 0xaf, 0xad, 0xf5, 0x18, 0x7d, 0xff, 0xf7, 0xfa, 0xff, 0x98, 0x47, 0x00, 0xf0, 0xf7, 0xbf,
        ];
        assert_eq!(read(Processor::Thumb, &thumb), code(&[0x1000, 0x2000], true, 16 + 608));
        // push {r7, lr}; sub sp, #508; sub sp, #100; pop {r7, pc}; sub sp, #4
        let small = [0x80, 0xb5, 0xff, 0xb0, 0x99, 0xb0, 0x80, 0xbd, 0x81, 0xb0];
        assert_eq!(read(Processor::Thumb, &small), code(&[], false, 616));
        // movw r12, #0x2710; sub.w sp, sp, r12; vpush {d8, d9}; push.w {r8}; push.w {r8, r9}
        let large = [
            0x42, 0xf2, 0x10, 0x7c, 0xad, 0xeb, 0x0c, 0x0d, 0x2d, 0xed, 0x04, 0x8b, 0x4d, 0xf8, 0x04, 0x8d, 0x2d, 0xe9,
            0x00, 0x03,
        ];
        assert_eq!(read(Processor::Thumb, &large), code(&[], false, 10_000 + 16 + 4 + 8));
        // ldr r4, [pc, #0]; add sp, r4; the constant -2000
        let constant = [0x00, 0x4c, 0xa5, 0x44, 0x30, 0xf8, 0xff, 0xff];
        let found = Processor::Thumb.decode(&constant, 0x1000, &|at| at >= 0x1004);
        assert_eq!(found, code(&[], false, 2000));
        // push {r4, r5, r11, lr}; add r11, sp, #8; sub sp, sp, #608; bl 0x1000; blx r3; b 0x2000
        let arm = [
            0x30, 0x48, 0x2d, 0xe9, 0x08, 0xb0, 0x8d, 0xe2, 0x26, 0xde, 0x4d, 0xe2, 0xfb, 0xff, 0xff, 0xeb, 0x33, 0xff,
            0x2f, 0xe1, 0xf9, 0x03, 0x00, 0xea,
        ];
        assert_eq!(read(Processor::Arm, &arm), code(&[0x1000, 0x2000], true, 16 + 608));
        // addi sp, sp, -624; auipc ra, 0; jalr -94(ra); c.jalr a5; auipc t1, 1; jr 70(t1)
        let riscv = [
            0x13, 0x01, 0x01, 0xd9, 0x97, 0, 0, 0, 0xe7, 0x80, 0x20, 0xfa, 0x82, 0x97, 0x17, 0x13, 0, 0, 0x67, 0x00,
            0x63, 0x04,
        ];
        let found = read(Processor::Riscv { bits: 32 }, &riscv);
        assert_eq!(found, code(&[0x1004 - 94, 0x100e + 0x1000 + 70], true, 624));
        // c.addi sp, -16; c.addi16sp sp, -64; c.jal 0x1100; jal ra, 0x800; ret
        let short = [0x41, 0x11, 0x39, 0x71, 0xf1, 0x28, 0xef, 0xf0, 0xaf, 0xff, 0x82, 0x80];
        let found = read(Processor::Riscv { bits: 32 }, &short);
        assert_eq!((found.below, found.calls.len(), found.is_open), (80, 2, false));
        assert_eq!(read(Processor::Riscv { bits: 64 }, &short).calls.len(), 1, "c.addiw is no call");
        // str x29, [sp, #-32]!; stp x30, x19, [sp, #16]; sub sp, sp, #608; bl 0x1000; blr x8; b 0x2000
        let aarch64 = [
            0xfd, 0x0f, 0x1e, 0xf8, 0xfe, 0x4f, 0x01, 0xa9, 0xff, 0x83, 0x09, 0xd1, 0xfd, 0xff, 0xff, 0x97, 0x00, 0x01,
            0x3f, 0xd6, 0xfb, 0x03, 0x00, 0x14,
        ];
        assert_eq!(read(Processor::Aarch64, &aarch64), code(&[0x1000, 0x2000], true, 640));
        // push rbp; mov rbp, rsp; push r15; sub rsp, 0x1000; call 0x1000; jmp 0x2000
        let x86 = [
            0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x48, 0x81, 0xec, 0, 0x10, 0, 0, 0xe8, 0xee, 0xff, 0xff, 0xff, 0xe9,
            0xe9, 0x0f, 0, 0,
        ];
        assert_eq!(read(Processor::X86 { bits: 64 }, &x86), code(&[0x1000, 0x2000], false, 16 + 4096));
    }

    #[test]
    fn any_bytes_end() {
        let mut random = 1_u64;
        for _ in 0..200 {
            let bytes: Vec<u8> = (0..67)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (random >> 56) as u8
                })
                .collect();
            for processor in [
                Processor::X86 { bits: 64 },
                Processor::X86 { bits: 32 },
                Processor::Aarch64,
                Processor::Thumb,
                Processor::Arm,
                Processor::Riscv { bits: 32 },
                Processor::Riscv { bits: 64 },
            ] {
                processor.decode(&bytes, u64::MAX - 80, &|_| false);
            }
        }
    }
}
