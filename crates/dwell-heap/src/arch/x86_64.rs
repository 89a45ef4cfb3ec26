//! x86-64.

/// Its name, the target to build programs for, and its number in ELF files.
pub(crate) const NAME: &str = "x86-64";
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";
pub(crate) const MACHINE: u16 = 62;

/// The bits of a user address.
pub(crate) const ADDRESS_BITS: u32 = 47;

/// The registers that are read: `rax`, `rdx`, `rcx`, `rbx`, `rsi`, `rdi`, `rbp`, `rsp`, `r8` to `r15`, `rip`.
pub(crate) const REGISTERS: usize = 17;
/// The numbers of registers in DWARF.
pub(crate) const FRAME_POINTER: usize = 6;
pub(crate) const STACK_POINTER: usize = 7;
/// The instruction pointer, in the column of the return address.
pub(crate) const INSTRUCTION_POINTER: usize = 16;
/// The column of the return address.
pub(crate) const RETURN_ADDRESS: usize = 16;
/// The registers that a function keeps for its caller: `rbx`, `rbp`, `r12` to `r15`.
pub(crate) const PRESERVED: [usize; 6] = [3, 6, 12, 13, 14, 15];
/// Whose unwind instructions there are.
pub(crate) const VENDOR: gimli::Vendor = gimli::Vendor::Default;

/// Where a core has the DWARF registers, as words from [`PRSTATUS`] on in `struct elf_prstatus`.
pub(crate) const IN_CORE: [usize; REGISTERS] = [10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0, 16];
/// The word with the thread pointer, `fs`, if it is there.
pub(crate) const POINTER_IN_CORE: Option<usize> = Some(21);

/// The width of hashbrown's groups of control bytes.
pub(crate) const GROUP: u64 = dwell_model::table::GROUP_OF_SSE2 as u64;

/// The bytes of a thread before and behind its pointer: thread-local memory is before it, and the control block behind.
pub(crate) const AROUND: (u64, u64) = (16 << 10, 2304);

/// The distance from where [`is_control_block`] finds a thread's control block to its pointer.
pub(crate) const TO_POINTER: Option<u64> = Some(0);

/// Returns `true` if the words from an address on are those of a thread's control block, which has its own address in two
/// fields.
pub(crate) fn is_control_block(word: impl Fn(usize) -> u64, addr: u64, _id: i32) -> bool {
    word(0) == addr && word(2) == addr
}

/// The kind of relocation that is the number of a library's block of thread-local memory.
pub(crate) const TLS_MODULE: object::elf::RelocationType = object::elf::R_X86_64_DTPMOD64;
/// From the thread pointer to the address of glibc's vector of these blocks.
pub(crate) const TO_DYNAMIC: u64 = 8;

/// Returns where the executable's block of thread-local memory begins, by its size and alignment. It ends at the thread
/// pointer.
pub(crate) fn thread_locals(pointer: u64, size: u64, align: u64) -> Option<u64> {
    pointer.checked_sub(size.checked_next_multiple_of(align.max(1))?)
}

/// Returns an address of code as it is in a register or on the stack.
pub(crate) fn code_address(word: u64) -> u64 {
    word
}

/// The most bytes of a call.
pub(crate) const LONGEST_CALL: u64 = 7;

/// Returns `true` if the last instruction of these bytes may be a call: with an offset, or by a register or memory.
pub(crate) fn ends_with_call(code: &[u8]) -> bool {
    let by_operand = |len: usize, rest: usize| {
        code.len() >= len && code[code.len() - len] == 0xff && code[code.len() - len + 1] & 0o70 == 0o20 && {
            // The bytes behind the operand are those of its mode.
            let (mode, register) = (code[code.len() - len + 1] >> 6, code[code.len() - len + 1] & 7);
            let scaled = usize::from(mode != 3 && register == 4);
            let offset = match mode {
                1 => 1,
                2 => 4,
                0 if register == 5 => 4,
                _ => 0,
            };
            rest == scaled + offset
        }
    };
    code.len() >= 5 && code[code.len() - 5] == 0xe8 || (0..=5).any(|rest| by_operand(2 + rest, rest))
}

/// The bytes of a function that [`saves_frame_pointer`] needs.
pub(crate) const PROLOGUE: u64 = 8;

/// Returns `true` if a function begins by saving the caller's frame pointer.
pub(crate) fn saves_frame_pointer(code: &[u8]) -> bool {
    // Behind `endbr64`: `push rbp; mov rbp, rsp`.
    code.strip_prefix(b"\xf3\x0f\x1e\xfa").unwrap_or(code).starts_with(b"\x55\x48\x89\xe5")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_recognised() {
        // call rel32; call rax; call [rax + 8]; call [rip + n]; call [rsp + rax * 8]; call r11
        for code in [
            &[0xe8, 1, 2, 3, 4][..],
            &[0x90, 0x90, 0xff, 0xd0],
            &[0xff, 0x50, 8],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x14, 0xc4],
            &[0x41, 0xff, 0xd3],
        ] {
            assert!(ends_with_call(code), "{code:x?}");
        }
        // jmp rax; push [rax]; mov; nothing
        for code in [&[0xff, 0xe0][..], &[0xff, 0x30], &[0x48, 0x89, 0xc7], &[]] {
            assert!(!ends_with_call(code), "{code:x?}");
        }
    }
}
