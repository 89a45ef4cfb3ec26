//! A cache for the memory of a snapshot: a walk reads many small values that are close together.

use super::Memory;

/// The size of a piece in bytes.
const PIECE: usize = 1 << 16;
/// The maximum number of cached pieces, which take 64 MiB.
const PIECES: usize = 1 << 10;

/// Memory with a cache of a fixed size.
pub(crate) struct Image<'m> {
    memory: &'m dyn Memory,
    /// The cached pieces, each at the index of its number modulo [`PIECES`]: the number, and the readable bytes from
    /// its start.
    pieces: Vec<(u64, Vec<u8>)>,
}

impl<'m> Image<'m> {
    pub(crate) fn new(memory: &'m dyn Memory) -> Self {
        Self { memory, pieces: vec![(u64::MAX, Vec::new()); PIECES] }
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
        let Some(end) = addr.checked_add(length as u64) else { return false };
        let mut at = addr;
        while at < end {
            let piece = self.piece(at / PIECE as u64);
            let from = usize::try_from(at % PIECE as u64).unwrap_or(0);
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX).min(PIECE - from);
            let Some(bytes) = piece.get(from..from + wanted) else { return false };
            into.extend_from_slice(bytes);
            at += wanted as u64;
        }
        true
    }

    /// Reads a word.
    pub(crate) fn word(&mut self, addr: u64) -> Option<u64> {
        let (number, from) = (addr / PIECE as u64, usize::try_from(addr % PIECE as u64).ok()?);
        if let Some(bytes) = self.piece(number).get(from..from + 8) {
            return bytes.try_into().ok().map(u64::from_le_bytes);
        }
        let mut bytes = [0; 8];
        (self.memory.read(addr, &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
    }

    fn piece(&mut self, number: u64) -> &[u8] {
        let slot = &mut self.pieces[usize::try_from(number).unwrap_or(0) % PIECES];
        if slot.0 != number {
            slot.1.resize(PIECE, 0);
            // A piece may begin before its mapping or end after it, so the readable part is searched page by page.
            let start = number.saturating_mul(PIECE as u64);
            let read = self.memory.read(start, &mut slot.1);
            if read < PIECE {
                for page in (read / PAGE * PAGE..PIECE).step_by(PAGE) {
                    self.memory.read(start + page as u64, &mut slot.1[page..page + PAGE]);
                }
            }
            slot.0 = number;
        }
        &slot.1
    }
}

const PAGE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

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
    }
}
