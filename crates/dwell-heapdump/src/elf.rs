//! The form of a core: the file header, a header for each part, and notes.

#![forbid(unsafe_code)]
#![expect(clippy::cast_possible_truncation, reason = "sizes of notes and numbers of parts are small")]

use crate::arch;

pub(crate) const FILE_HEADER: usize = 64;
pub(crate) const PART_HEADER: usize = 56;
/// The most parts, and one for the notes: their number has 16 bits, of which the largest value has another meaning.
pub(crate) const MOST_PARTS: usize = 0xfff0;

pub(crate) const NT_PRSTATUS: u32 = 1;
pub(crate) const NT_AUXV: u32 = 6;
pub(crate) const NT_FILE: u32 = 0x4649_4c45;
pub(crate) const NT_ARM_TLS: u32 = 0x401;

/// The name of the notes that only this crate writes.
pub(crate) const OWN: &[u8] = b"dwell";
/// Its contents are the lines of `/proc/self/maps`. What no part has of memory without a file is zero.
pub(crate) const OWN_MAPS: u32 = 1;
/// Its contents are the milliseconds since 1970, as a word.
pub(crate) const OWN_TIME: u32 = 2;
/// Its contents are the version of glibc, as `2.36`. There is none with another libc.
pub(crate) const OWN_GLIBC: u32 = 3;

/// Returns the header of the file.
pub(crate) fn file_header(parts: usize) -> [u8; FILE_HEADER] {
    let mut header = [0; FILE_HEADER];
    // 64 bits, little-endian, version 1; a core, for this machine, version 1.
    put(&mut header, 0, &[0x7f, b'E', b'L', b'F', 2, 1, 1]);
    put(&mut header, 16, &4_u16.to_le_bytes());
    put(&mut header, 18, &arch::MACHINE.to_le_bytes());
    put(&mut header, 20, &1_u32.to_le_bytes());
    // Where the headers of the parts are, and the sizes of headers.
    put(&mut header, 32, &(FILE_HEADER as u64).to_le_bytes());
    put(&mut header, 52, &(FILE_HEADER as u16).to_le_bytes());
    put(&mut header, 54, &(PART_HEADER as u16).to_le_bytes());
    put(&mut header, 56, &(parts as u16).to_le_bytes());
    header
}

/// Returns the header of a part: of the notes if there is no address.
pub(crate) fn part_header(offset: u64, address: Option<u64>, len: u64, flags: [u8; 4], page: u64) -> [u8; PART_HEADER] {
    const NOTES: u32 = 4;
    const LOADED: u32 = 1;
    let mut header = [0; PART_HEADER];
    put(&mut header, 0, &address.map_or(NOTES, |_| LOADED).to_le_bytes());
    let bit = |index: usize, letter: u8, bit: u32| if flags.get(index) == Some(&letter) { bit } else { 0 };
    put(&mut header, 4, &(bit(0, b'r', 4) | bit(1, b'w', 2) | bit(2, b'x', 1)).to_le_bytes());
    let (of_notes, in_memory) = if address.is_some() { (page, len) } else { (4, 0) };
    for (index, word) in [offset, address.unwrap_or(0), 0, len, in_memory, of_notes].into_iter().enumerate() {
        put(&mut header, 8 + 8 * index, &word.to_le_bytes());
    }
    header
}

/// Returns the first bytes of a note: its header, and its name with zeros up to a multiple of four.
pub(crate) fn note(name: &[u8], kind: u32, len: usize) -> ([u8; 20], usize) {
    let mut header = [0; 20];
    for (index, word) in [name.len() as u32 + 1, len as u32, kind].into_iter().enumerate() {
        put(&mut header, 4 * index, &word.to_le_bytes());
    }
    put(&mut header, 12, name);
    (header, 12 + (name.len() + 1).next_multiple_of(4))
}

/// What is known of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) id: i32,
    /// The registers of `struct elf_prstatus`: zero if not known.
    pub(crate) registers: [u64; arch::REGISTERS],
    /// The thread pointer.
    pub(crate) pointer: u64,
}

impl Thread {
    /// Returns a thread of which only the id is known.
    pub(crate) fn new(id: i32) -> Self {
        Self { id, registers: [0; arch::REGISTERS], pointer: 0 }
    }
}

/// The bytes of `struct elf_prstatus`.
pub(crate) const STATUS: usize = 112 + 8 * arch::REGISTERS + 8;

/// Returns a `struct elf_prstatus`.
pub(crate) fn status(thread: &Thread) -> [u8; STATUS] {
    const ID: usize = 32;
    const REGISTERS: usize = 112;
    let mut bytes = [0; STATUS];
    put(&mut bytes, ID, &thread.id.to_le_bytes());
    for (index, value) in thread.registers.iter().enumerate() {
        put(&mut bytes, REGISTERS + 8 * index, &value.to_le_bytes());
    }
    if let Some(index) = arch::POINTER {
        put(&mut bytes, REGISTERS + 8 * index, &thread.pointer.to_le_bytes());
    }
    bytes
}

fn put(into: &mut [u8], at: usize, bytes: &[u8]) {
    for (to, from) in into.iter_mut().skip(at).zip(bytes) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_notes_are_padded() {
        let (header, len) = note(b"CORE", 1, 336);
        assert_eq!(len, 20);
        assert_eq!(header, *b"\x05\0\0\0\x50\x01\0\0\x01\0\0\0CORE\0\0\0\0");
        assert_eq!(note(OWN, 1, 0).1, 20);
    }

    #[test]
    fn parts_have_addresses_and_notes_none() {
        let header = part_header(0x1000, Some(0x7000), 0x2000, *b"rw-p", 4096);
        let word = |at: usize| u64::from_le_bytes(*header[at..].first_chunk().unwrap());
        assert_eq!((header[0], header[4]), (1, 6));
        assert_eq!([8, 16, 24, 32, 40, 48].map(word), [0x1000, 0x7000, 0, 0x2000, 0x2000, 4096]);
        let notes = part_header(64, None, 100, *b"----", 4096);
        assert_eq!((notes[0], notes[4], notes[32], notes[40]), (4, 0, 100, 0));
    }

    #[test]
    fn registers_are_behind_the_id() {
        let mut thread = Thread { pointer: 0x99, ..Thread::new(7) };
        thread.registers[arch::STACK_POINTER] = 0x1234;
        let bytes = status(&thread);
        let word = |at: usize| u64::from_le_bytes(*bytes[at..].first_chunk().unwrap());
        assert_eq!(bytes[32], 7);
        assert_eq!(word(112 + 8 * arch::STACK_POINTER), 0x1234);
        assert!(arch::POINTER.is_none_or(|index| word(112 + 8 * index) == 0x99));
    }
}
