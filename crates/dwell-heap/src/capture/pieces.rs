//! A cache for the memory of a snapshot: a walk reads many small values that are close together, or in the order of a hash
//! table.
//!
//! A value that was not read before makes a page known. A second one beside it makes a larger *piece* known, so values in
//! the order of their addresses need few calls. Values in any other order would copy a piece for each of them. What was
//! copied already, as of a process from outside, is read where it is.

use super::Memory;

/// The sizes of a piece and of a page in bytes.
const PIECE: usize = 1 << 16;
const PAGE: usize = 1 << 12;
/// The maximum numbers of cached pieces and pages, which take 32 and 64 MiB.
const PIECES: usize = 1 << 9;
const PAGES: usize = 1 << 14;

/// Memory with a cache of a fixed size.
pub(crate) struct Image<'m> {
    memory: &'m dyn Memory,
    /// The last part of memory that needs no copy, with its first address.
    near: (u64, &'m [u8]),
    pieces: Cache<PIECE>,
    pages: Cache<PAGE>,
    /// The piece of the last value that was not cached.
    last: u64,
}

/// Adjacent bytes, each of `SIZE` at the index of its number modulo that of the slots: the number, and the readable bytes from its
/// start.
struct Cache<const SIZE: usize>(Vec<(u64, Vec<u8>)>);

impl<const SIZE: usize> Cache<SIZE> {
    fn new(slots: usize) -> Self {
        Self(vec![(u64::MAX, Vec::new()); slots])
    }

    fn slot(&self, addr: u64) -> (u64, usize) {
        let number = addr / SIZE as u64;
        (number, usize::try_from(number % self.0.len() as u64).unwrap_or(0))
    }

    /// Returns the index of the bytes around an address, if they are known.
    fn find(&self, addr: u64) -> Option<usize> {
        let (number, slot) = self.slot(addr);
        (self.0[slot].0 == number).then_some(slot)
    }

    /// Reads the bytes around an address, and returns their index.
    fn load(&mut self, memory: &dyn Memory, addr: u64) -> usize {
        let (number, slot) = self.slot(addr);
        let (cached, bytes) = &mut self.0[slot];
        bytes.resize(SIZE, 0);
        let read = memory.read(number.saturating_mul(SIZE as u64), bytes);
        bytes.truncate(read);
        *cached = number;
        slot
    }

    /// Returns the readable bytes from an address in a slot.
    fn from(&self, slot: usize, addr: u64) -> &[u8] {
        self.0[slot].1.get(usize::try_from(addr % SIZE as u64).unwrap_or(0)..).unwrap_or_default()
    }
}

impl<'m> Image<'m> {
    pub(crate) fn new(memory: &'m dyn Memory) -> Self {
        Self { memory, near: (0, &[]), pieces: Cache::new(PIECES), pages: Cache::new(PAGES), last: u64::MAX }
    }

    /// Frees the cached bytes.
    pub(crate) fn forget(&mut self) {
        (self.pieces, self.pages) = (Cache::new(PIECES), Cache::new(PAGES));
    }

    /// Reads `length` bytes at `addr` into `into`. Returns `true` if all were readable.
    pub(crate) fn read(&mut self, addr: u64, length: usize, into: &mut Vec<u8>) -> bool {
        into.clear();
        if length > 8 * PIECE {
            into.resize(length, 0);
            let read = self.memory.read(addr, into);
            into.truncate(read);
            return read == length;
        }
        if addr.checked_add(length as u64).is_none() {
            return false;
        }
        while into.len() < length {
            let bytes = self.from(addr + into.len() as u64);
            if bytes.is_empty() {
                return false;
            }
            into.extend_from_slice(&bytes[..bytes.len().min(length - into.len())]);
        }
        true
    }

    /// Reads a word.
    pub(crate) fn word(&mut self, addr: u64) -> Option<u64> {
        if let Some(bytes) = self.from(addr).first_chunk() {
            return Some(u64::from_le_bytes(*bytes));
        }
        let mut bytes = [0; 8];
        (self.memory.read(addr, &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
    }

    /// Returns some of the readable bytes from an address; none if it cannot be read.
    fn from(&mut self, addr: u64) -> &[u8] {
        if let Some(bytes) = near(self.near, addr) {
            return bytes;
        }
        if let Some(slot) = self.pieces.find(addr) {
            return self.pieces.from(slot, addr);
        }
        if let Some(slot) = self.pages.find(addr) {
            return self.pages.from(slot, addr);
        }
        if let Some(part) = self.memory.around(addr) {
            self.near = part;
            return near(part, addr).unwrap_or_default();
        }
        let piece = addr / PIECE as u64;
        if std::mem::replace(&mut self.last, piece) == piece {
            let slot = self.pieces.load(self.memory, addr);
            // A piece may begin before its mapping or end after it.
            if self.pieces.0[slot].1.len() == PIECE {
                return self.pieces.from(slot, addr);
            }
            self.pieces.0[slot].0 = u64::MAX;
        }
        let slot = self.pages.load(self.memory, addr);
        self.pages.from(slot, addr)
    }
}

/// Returns the bytes from an address on in a part with this first address.
fn near((start, bytes): (u64, &[u8]), addr: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(addr.checked_sub(start)?).ok()?..).filter(|bytes| !bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Memory that counts what is copied from it.
    struct Counted(Vec<u8>, AtomicUsize);

    impl Memory for Counted {
        fn read(&self, addr: u64, into: &mut [u8]) -> usize {
            let from = self.0.get(usize::try_from(addr).unwrap_or(usize::MAX)..).unwrap_or_default();
            let length = from.len().min(into.len());
            into[..length].copy_from_slice(&from[..length]);
            self.1.fetch_add(length, Ordering::Relaxed);
            length
        }
    }

    /// Each value copied 64 KiB if there were more pieces than the cache has.
    #[test]
    fn values_in_the_order_of_a_hash_table_copy_pages() {
        const BYTES: usize = 128 << 20;
        let memory = Counted(vec![1; BYTES], AtomicUsize::new(0));
        let mut image = Image::new(&memory);
        let mut at = 1_usize;
        for _ in 0..10_000 {
            at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            assert!(image.word((at >> 20) as u64 % (BYTES as u64 - 8)).is_some());
        }
        let copied = memory.1.swap(0, Ordering::Relaxed);
        assert!(copied < 10_000 * 2 * PAGE, "{copied}");
        let mut image = Image::new(&memory);
        for at in (0..8_u64 << 20).step_by(64) {
            assert!(image.word(at).is_some());
        }
        let copied = memory.1.into_inner();
        assert!(copied < (8 << 20) * 9 / 8, "{copied}");
    }

    struct Range(u64, Vec<u8>);

    impl Memory for Range {
        fn read(&self, addr: u64, into: &mut [u8]) -> usize {
            let Some(from) = addr.checked_sub(self.0).and_then(|from| self.1.get(usize::try_from(from).ok()?..)) else {
                return 0;
            };
            let length = from.len().min(into.len());
            into[..length].copy_from_slice(&from[..length]);
            length
        }
    }

    #[test]
    fn reads_span_pieces() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|index| index.to_le_bytes()[0]).collect();
        let memory = Range(0x1_f000, bytes);
        let mut image = Image::new(&memory);
        let mut into = Vec::new();
        assert!(image.read(0x1_f005, 150_000, &mut into));
        assert!(into.iter().zip(5_u32..).all(|(byte, index)| *byte == index.to_le_bytes()[0]));
        assert_eq!(image.word(0x1_f001), Some(u64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8])));
        assert!(!image.read(u64::MAX - 3, 100, &mut into));
        // Before the first byte, and behind the last one, where a piece has other bytes.
        assert_eq!((image.word(0x1_effc), image.word(0x1_f000 + 199_996)), (None, None));
        assert!(!image.read(0x1_f000 + 199_990, 20, &mut into));
    }
}
