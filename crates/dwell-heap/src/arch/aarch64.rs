//! aarch64.

/// Its name, the target to build programs for, and its number in ELF files.
pub(crate) const NAME: &str = "aarch64";
pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";
pub(crate) const MACHINE: u16 = 183;

/// The bits of a user address, if nobody asks for more.
pub(crate) const ADDRESS_BITS: u32 = 48;

/// The registers that are read: `x0` to `x30`, `sp`, `pc`.
pub(crate) const REGISTERS: usize = 33;
/// The numbers of registers in DWARF.
pub(crate) const FRAME_POINTER: usize = 29;
pub(crate) const STACK_POINTER: usize = 31;
pub(crate) const INSTRUCTION_POINTER: usize = 32;
/// The column of the return address.
pub(crate) const RETURN_ADDRESS: usize = 30;
/// The registers that a function keeps for its caller: `x19` to `x29`, and `x30` of a function that calls no other.
pub(crate) const PRESERVED: [usize; 12] = [19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30];
/// Whose unwind instructions there are.
pub(crate) const VENDOR: gimli::Vendor = gimli::Vendor::AArch64;

/// Where a core has the DWARF registers, as words of `struct elf_prstatus` behind its head.
pub(crate) const IN_CORE: [usize; REGISTERS] = {
    let mut all = [0; REGISTERS];
    let mut number = 0;
    while number < REGISTERS {
        all[number] = number;
        number += 1;
    }
    all
};
/// The word with the thread pointer, if it is there. A note of its own has it.
pub(crate) const POINTER_IN_CORE: Option<usize> = None;

/// The width of hashbrown's groups of control bytes.
pub(crate) const GROUP: u64 = 8;

/// The bytes of a thread before and behind its pointer: the control block is before it, and thread-local memory behind.
pub(crate) const AROUND: (u64, u64) = (2304, 16 << 10);

/// The distance from where [`is_control_block`] finds a thread's control block to its pointer. It differs between versions of
/// glibc.
pub(crate) const TO_POINTER: Option<u64> = None;

/// Returns `true` if the words from an address on are those of a thread's control block: the thread's number, and the address
/// of the list of the mutexes that it holds, of which the list has a copy if it is empty.
pub(crate) fn is_control_block(word: impl Fn(usize) -> u64, addr: u64, id: i32) -> bool {
    let list = addr.wrapping_add(16);
    word(0) & u64::from(u32::MAX) == u64::from(id.unsigned_abs()) && word(1) == list && word(2) == list
}

/// The kind of relocation that is the number of a library's block of thread-local memory.
pub(crate) const TLS_MODULE: object::elf::RelocationType = object::elf::R_AARCH64_TLS_DTPMOD;
/// From the thread pointer to the address of glibc's vector of these blocks.
pub(crate) const TO_DYNAMIC: u64 = 0;

/// Returns where the executable's block of thread-local memory begins, by its size and alignment. It is behind the thread
/// pointer and two words.
pub(crate) fn thread_locals(pointer: u64, _size: u64, align: u64) -> Option<u64> {
    const WORDS: u64 = 16;
    pointer.checked_add(WORDS.checked_next_multiple_of(align.max(1))?)
}

/// Returns an address of code as it is in a register or on the stack: without the signature of pointer authentication, which
/// is in the bits above the address.
pub(crate) fn code_address(word: u64) -> u64 {
    word & ((1 << ADDRESS_BITS) - 1)
}

/// The most bytes of a call.
pub(crate) const LONGEST_CALL: u64 = 4;

/// Returns `true` if the last instruction of these bytes is a call: `bl`, or `blr`.
pub(crate) fn ends_with_call(code: &[u8]) -> bool {
    let Some(word) = code.last_chunk().map(|word| u32::from_le_bytes(*word)) else { return false };
    word >> 26 == 0b10_0101 || word & 0xffff_fc1f == 0xd63f_0000
}

/// The bytes of a function that [`saves_frame_pointer`] needs.
pub(crate) const PROLOGUE: u64 = 64;

/// Returns `true` if a function begins with a frame pointer of its own. The caller's may be saved like any register.
pub(crate) fn saves_frame_pointer(code: &[u8]) -> bool {
    let (instructions, _) = code.as_chunks::<4>();
    // `add x29, sp, #n`; `mov x29, sp` is that with 0.
    instructions
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .any(|instruction| instruction & 0xffc0_03ff == 0x9100_03fd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prologues_are_recognised() {
        let code = |instructions: &[u32]| {
            instructions.iter().flat_map(|instruction| instruction.to_le_bytes()).collect::<Vec<_>>()
        };
        // paciasp; stp x29, x30, [sp, #-32]!; mov x29, sp
        assert!(saves_frame_pointer(&code(&[0xd503_233f, 0xa9be_7bfd, 0x9100_03fd])));
        // sub sp, sp, #48; stp x29, x30, [sp, #32]; add x29, sp, #32
        assert!(saves_frame_pointer(&code(&[0xd100_c3ff, 0xa902_7bfd, 0x9100_83fd])));
        // stp x29, x30, [sp, #-16]!; ldr x29, [x0]
        assert!(!saves_frame_pointer(&code(&[0xa9bf_7bfd, 0xf940_001d])));
    }

    #[test]
    fn control_blocks_are_recognised() {
        let words = [7, 0x1010, 0x1010];
        assert!(is_control_block(|at| words[at], 0x1000, 7));
        assert!(!is_control_block(|at| words[at], 0x1000, 8) && !is_control_block(|at| words[at], 0x2000, 7));
    }

    #[test]
    fn thread_locals_are_behind_the_pointer() {
        assert_eq!(thread_locals(0x1000, 40, 8), Some(0x1010));
        assert_eq!(thread_locals(0x1000, 40, 64), Some(0x1040));
    }
}
