//! aarch64: one instruction is replaced by a branch, which reaches 128 MiB.

#![expect(
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "distances of code are below 2^47, and fields of instructions have their low bits"
)]

use super::super::layout::PLACEMENTS;
use super::Processor;

pub(super) struct Aarch64;

/// The size of an instruction in bytes.
const SIZE: u64 = 4;
/// `x16`, which a function may change before its first instruction: linkers use it for that.
const SCRATCH: u32 = 16;

impl Processor for Aarch64 {
    /// `ldr x16, <8 bytes ahead>; br x16`
    const STUB: [u8; 8] = [0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6];
    const FILLER: u8 = 0;
    /// With a placement at a distance of up to 63 MiB, each function reaches it.
    const LARGEST: u64 = 64;
    const DISTANCES: ([u64; PLACEMENTS / 2], [u64; PLACEMENTS / 2]) = ([1, 16, 32, 63], [63, 48, 32, 16]);

    fn replaced(code: &[u8], _addr: u64) -> Result<usize, String> {
        let Some(first) = code.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else {
            return Err("is too short".to_owned());
        };
        match Instruction::decode(first) {
            Instruction::Unmovable(what) => Err(format!("begins with {what}")),
            _ => Ok(SIZE as usize),
        }
    }

    fn moved(code: &[u8], from: u64, to: u64) -> Option<Vec<u8>> {
        let code = u32::from_le_bytes(*code.first_chunk()?);
        let moved = Instruction::decode(code).moved(code, from, to)?;
        Some(moved.iter().flat_map(|instruction| instruction.to_le_bytes()).collect())
    }

    fn counter(_: u8) -> Option<Vec<u8>> {
        None
    }

    fn jump(from: u64, to: u64) -> Option<Vec<u8>> {
        branch(from, to).map(|instruction| instruction.to_le_bytes().to_vec())
    }
}

/// What matters about an instruction that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instruction {
    /// It does not depend on its address.
    Free,
    /// `adr`: the register, and the distance of the address in bytes.
    Address(u32, i64),
    /// `adrp`: the register, and the distance in pages.
    Page(u32, i64),
    /// `b`: the distance of the target in bytes.
    Branch(i64),
    /// `b.cond`, `cbz`, `cbnz`, `tbz` or `tbnz`: the distance, and the bits of the instruction that hold it.
    Condition(i64, u32),
    /// `ldr` of a literal: the same load through the scratch register, and the distance of the literal.
    Literal(u32, i64),
    /// `prfm` of a literal, which only loads ahead.
    Prefetch,
    Unmovable(&'static str),
}

/// Returns a field of bits with its sign.
fn signed(code: u32, from: u32, len: u32) -> i64 {
    i64::from((code << (32 - from - len)).cast_signed() >> (32 - len))
}

impl Instruction {
    fn decode(code: u32) -> Self {
        let register = code & 31;
        let page = || signed(code, 5, 19) << 2 | i64::from(code >> 29 & 3);
        if code & 0x9f00_0000 == 0x1000_0000 {
            return Self::Address(register, page());
        }
        if code & 0x9f00_0000 == 0x9000_0000 {
            return Self::Page(register, page());
        }
        if code & 0xfc00_0000 == 0x1400_0000 {
            return Self::Branch(signed(code, 0, 26) * 4);
        }
        // `b.cond`, `bc.cond`; `cbz`, `cbnz`.
        if code & 0xff00_0000 == 0x5400_0000 || code & 0x7e00_0000 == 0x3400_0000 {
            return Self::Condition(signed(code, 5, 19) * 4, 0x7_ffff << 5);
        }
        if code & 0x7e00_0000 == 0x3600_0000 {
            return Self::Condition(signed(code, 5, 14) * 4, 0x3fff << 5);
        }
        if code & 0x3b00_0000 == 0x1800_0000 {
            // The same load from the address in a register, with an offset of 0.
            let load = match (code >> 30, code >> 26 & 1) {
                (0, 0) => 0xb940_0000,
                (1, 0) => 0xf940_0000,
                (2, 0) => 0xb980_0000,
                (3, 0) => return Self::Prefetch,
                (0, 1) => 0xbd40_0000,
                (1, 1) => 0xfd40_0000,
                (2, 1) => 0x3dc0_0000,
                _ => return Self::Unmovable("bytes that are not a valid instruction"),
            };
            return Self::Literal(load | SCRATCH << 5 | register, signed(code, 5, 19) * 4);
        }
        // A call leaves a return address, which unwinders look up.
        if code & 0xfc00_0000 == 0x9400_0000 || code & 0xfe9f_0000 == 0xd61f_0000 && code >> 21 & 3 == 1 {
            return Self::Unmovable("a call");
        }
        if code & 0xfe00_0000 == 0xd600_0000 {
            return Self::Unmovable("a return or a branch to a register");
        }
        // Exceptions, and the space that has no instructions.
        if code & 0xff00_0000 == 0xd400_0000 || code & 0x1e00_0000 == 0 {
            return Self::Unmovable("an instruction that cannot be moved");
        }
        Self::Free
    }

    /// Returns the instructions at another address, with a branch to what followed.
    fn moved(self, code: u32, from: u64, to: u64) -> Option<Vec<u32>> {
        let at = |index: u64| to.wrapping_add(SIZE * index);
        let rest = from.wrapping_add(SIZE);
        let target = |distance: i64| from.wrapping_add_signed(distance);
        let followed = |mut all: Vec<u32>| {
            all.push(branch(at(all.len() as u64), rest)?);
            Some(all)
        };
        match self {
            Self::Free => followed(vec![code]),
            Self::Prefetch => followed(Vec::new()),
            Self::Address(register, distance) => followed(address(register, to, target(distance))?),
            Self::Page(register, distance) => {
                let page = (from & !0xfff).wrapping_add_signed(distance << 12);
                followed(vec![page_address(register, to, page)?])
            }
            Self::Branch(distance) => Some(vec![branch(to, target(distance))?]),
            // The condition skips the branch to the rest.
            Self::Condition(distance, field) => {
                Some(vec![code & !field | 2 << 5, branch(at(1), rest)?, branch(at(2), target(distance))?])
            }
            Self::Literal(load, distance) => {
                let mut all = address(SCRATCH, to, target(distance))?;
                all.push(load);
                followed(all)
            }
            Self::Unmovable(_) => None,
        }
    }
}

/// Encodes `b`.
fn branch(from: u64, to: u64) -> Option<u32> {
    let distance = to.wrapping_sub(from) as i64;
    let fits = distance % 4 == 0 && (-(1 << 27)..1 << 27).contains(&distance);
    fits.then_some(0x1400_0000 | (distance >> 2) as u32 & 0x3ff_ffff)
}

/// Encodes `adrp`.
fn page_address(register: u32, from: u64, page: u64) -> Option<u32> {
    let pages = (page.wrapping_sub(from & !0xfff) as i64) >> 12;
    let fits = (-(1 << 20)..1 << 20).contains(&pages);
    let pages = pages as u32;
    fits.then_some(0x9000_0000 | (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5 | register)
}

/// Encodes `adrp; add`: any address in a distance of 4 GiB.
fn address(register: u32, from: u64, to: u64) -> Option<Vec<u32>> {
    let low = (to & 0xfff) as u32;
    Some(vec![page_address(register, from, to & !0xfff)?, 0x9100_0000 | low << 10 | register << 5 | register])
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: u64 = 0x40_1234;
    const TO: u64 = 0x12_0010;

    fn moved(code: u32) -> Option<Vec<u32>> {
        Instruction::decode(code).moved(code, FROM, TO)
    }

    /// Returns where an instruction at an address leads.
    fn leads(at: u64, code: u32) -> u64 {
        match Instruction::decode(code) {
            Instruction::Branch(distance) | Instruction::Condition(distance, _) | Instruction::Address(_, distance) => {
                at.wrapping_add_signed(distance)
            }
            Instruction::Page(_, pages) => (at & !0xfff).wrapping_add_signed(pages << 12),
            other => panic!("{other:?}"),
        }
    }

    /// Checks that the last instruction leads to the second one of the function.
    fn returns(all: &[u32]) {
        let at = TO + 4 * (all.len() as u64 - 1);
        assert_eq!(leads(at, all[all.len() - 1]), FROM + 4);
    }

    #[test]
    fn common_prologues_stay_as_they_are() {
        // stp x29, x30, [sp, #-32]!; sub sp, sp, #48; paciasp; bti c; mov x8, x0; cmp x0, #8; str x30, [sp, #-16]!; nop
        for code in
            [0xa9be_7bfd, 0xd100_c3ff, 0xd503_233f, 0xd503_245f, 0xaa00_03e8, 0xf100_201f, 0xf81f_0ffe, 0xd503_201f]
        {
            let all = moved(code).expect("it can be moved");
            assert_eq!((all[0], all.len()), (code, 2), "{code:x}");
            returns(&all);
        }
    }

    #[test]
    fn addresses_are_those_of_the_old_place() {
        // adr x3, #-0x1230 and adr x0, #0xfffff
        for (code, register, distance) in [(0x10ff_6e83, 3, -0x1230), (0x707f_ffe0, 0, 0xf_ffff)] {
            assert_eq!(Instruction::decode(code), Instruction::Address(register, distance));
            let all = moved(code).expect("it can be moved");
            let page = leads(TO, all[0]);
            // add xd, xd, #low
            assert_eq!(all[1] & 0xffc0_03ff, 0x9100_0000 | register << 5 | register);
            assert_eq!(page + u64::from(all[1] >> 10 & 0xfff), FROM.wrapping_add_signed(distance));
            returns(&all);
        }
        // adrp x8, 3 pages ahead, and 5 back
        for (code, pages) in [(0xf000_0008_u32, 3), (0xf0ff_ffc8, -5)] {
            assert_eq!(Instruction::decode(code), Instruction::Page(8, pages));
            let all = moved(code).expect("it can be moved");
            assert_eq!(leads(TO, all[0]), (FROM & !0xfff).wrapping_add_signed(pages << 12));
            assert_eq!(all[0] & 31, 8);
            returns(&all);
        }
    }

    #[test]
    fn branches_lead_to_the_old_targets() {
        // b #0x40
        let all = moved(0x1400_0010).expect("it can be moved");
        assert_eq!((all.len(), leads(TO, all[0])), (1, FROM + 0x40));
        // cbz x0, #0x20; cbnz w5, #-8; tbz x1, #3, #0x10; tbnz w2, #0, #-0x100; b.eq #0x1c; b.ne #-4
        for (code, distance) in [
            (0xb400_0100_u32, 0x20),
            (0x35ff_ffc5, -8),
            (0x3618_0081, 0x10),
            (0x3707_f802, -0x100),
            (0x5400_00e0, 0x1c),
            (0x54ff_ffe1, -4),
        ] {
            let Instruction::Condition(found, field) = Instruction::decode(code) else { panic!("{code:x}") };
            assert_eq!(found, distance, "{code:x}");
            let all = moved(code).expect("it can be moved");
            // The condition is the same.
            assert_eq!((all[0] & !field, leads(TO, all[0])), (code & !field, TO + 8), "{code:x}");
            assert_eq!(leads(TO + 4, all[1]), FROM + 4);
            assert_eq!(leads(TO + 8, all[2]), FROM.wrapping_add_signed(distance));
        }
    }

    #[test]
    fn literals_are_loaded_from_the_old_place() {
        // ldr w1, ldr x1, ldrsw x1, ldr s1, ldr d1, ldr q1 from #0x100; then with an offset of 0 from [x16]
        for (code, load) in [
            (0x1800_0801_u32, 0xb940_0201_u32),
            (0x5800_0801, 0xf940_0201),
            (0x9800_0801, 0xb980_0201),
            (0x1c00_0801, 0xbd40_0201),
            (0x5c00_0801, 0xfd40_0201),
            (0x9c00_0801, 0x3dc0_0201),
        ] {
            let all = moved(code).expect("it can be moved");
            assert_eq!(leads(TO, all[0]) + u64::from(all[1] >> 10 & 0xfff), FROM + 0x100, "{code:x}");
            assert_eq!(all[2], load, "{code:x}");
            returns(&all);
        }
        // prfm
        assert_eq!(moved(0xd800_0801).map(|all| all.len()), Some(1));
    }

    #[test]
    fn what_cannot_be_moved_is_refused() {
        let refused = |code: u32| Aarch64::replaced(&code.to_le_bytes(), FROM).expect_err("it is refused");
        // bl; blr x8; ret; br x16; retaa; svc; udf
        assert_eq!(refused(0x9400_0010), "begins with a call");
        assert_eq!(refused(0xd63f_0100), "begins with a call");
        for code in [0xd65f_03c0, 0xd61f_0200, 0xd65f_0bff] {
            assert_eq!(refused(code), "begins with a return or a branch to a register");
        }
        for code in [0xd400_0001, 0] {
            assert_eq!(refused(code), "begins with an instruction that cannot be moved");
        }
        assert_eq!(Aarch64::replaced(&[1, 2, 3], FROM), Err("is too short".to_owned()));
        // Too far.
        assert_eq!(Aarch64::jump(FROM, FROM + (128 << 20)), None);
        assert!(Aarch64::jump(FROM, FROM + (128 << 20) - 4).is_some());
        assert_eq!(Aarch64::moved(&0x1400_0010_u32.to_le_bytes(), FROM, FROM + (256 << 20)), None);
    }

    #[test]
    fn stub_jumps_to_the_address_behind_it() {
        let [load, jump] = [0, 4].map(|at| u32::from_le_bytes(Aarch64::STUB[at..][..4].try_into().unwrap()));
        // ldr x16, #8; br x16
        assert_eq!((load, jump), (0x5800_0050, 0xd61f_0200));
    }

    #[test]
    fn arbitrary_instructions_do_not_panic() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..100_000 {
            let code = random.u32(..);
            let (from, to) = (random.u64(..1 << 48) & !3, random.u64(..1 << 48) & !3);
            let _ = Aarch64::replaced(&code.to_le_bytes(), from);
            let _ = Aarch64::moved(&code.to_le_bytes(), from, to);
        }
    }
}
