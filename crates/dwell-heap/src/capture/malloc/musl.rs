//! musl's malloc, 1.2.1 and later ("mallocng"), on processors with 64 bits.
//!
//! Blocks are slots of *groups*. The header of a group is apart from it, among others in an *area* of a page, and tells which slots
//! are free. In front of a block are the number of its slot and how many bytes of the slot it does not use, so that the
//! requested sizes are known. A slot may be a whole group of smaller ones.
//!
//! The state of the allocator is a static variable. It is found without symbols, because its first word is a secret that each
//! area begins with.

use super::{Live, ProcessImage};
use crate::capture::Rounding;
use std::collections::HashSet;

/// The unit of sizes, and the bytes of the header in front of a block.
const UNIT: u64 = 16;
const IN_FRONT: u64 = 4;
/// The bytes of an area.
const AREA: u64 = 4096;
/// The size classes, in units.
const CLASSES: [u64; 48] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 20, 25, 31, 36, 42, 50, 63, 72, 84, 102, 127, 146, 170, 204, 255, 292,
    340, 409, 511, 584, 682, 818, 1023, 1169, 1364, 1637, 2047, 2340, 2730, 3276, 4095, 4680, 5460, 6552, 8191,
];
/// In the state: the number that tells that it is initialised, and the first area. On processors whose pages have several sizes
/// that of a page is between them and the secret.
const PAGE_SIZE: u64 = if cfg!(target_arch = "x86_64") { 0 } else { 8 };
const IS_READY: u64 = 8 + PAGE_SIZE;
const FIRST_AREA: u64 = 56 + PAGE_SIZE;
/// In an area: the next one, the number of headers, and the headers.
const NEXT: u64 = 8;
const COUNT: u64 = 16;
const HEADERS: u64 = 24;
/// The bytes of a header.
const HEADER: u64 = 40;
const MOST_HEADERS: u64 = (AREA - HEADERS) / HEADER;

/// musl's malloc.
pub(super) struct Musl {
    secret: u64,
    first: u64,
}

/// A group of slots.
struct Group {
    /// The first slot, and the distance of the slots.
    start: u64,
    stride: u64,
    /// A bit for each slot that is in use.
    used: u32,
}

/// What is in a slot.
enum Slot {
    Block(u64, u64),
    /// A group, or nothing yet.
    Other,
    Damaged,
}

impl Musl {
    /// Finds the state in the data of the program, or of musl's library.
    pub(super) fn find(process: &ProcessImage<'_>) -> Option<Self> {
        /// The most words that are looked at.
        const SEARCHED: usize = 1 << 22;
        let is_libc = |name: &str| name.starts_with("ld-musl-") || name.starts_with("libc.musl-");
        let mut end = None;
        let data = process.maps.iter().filter(|map| {
            let is_file = map.path == process.executable.0
                || map.path.file_name().and_then(|name| name.to_str()).is_some_and(is_libc);
            // Statics that are zero at the start are in memory behind the file.
            let is_behind = map.is_anonymous() && end == Some(map.start);
            if is_file {
                end = Some(map.end);
            }
            (is_file || is_behind) && map.writable && map.readable
        });
        let mut words = data.flat_map(|map| (map.start..map.end.saturating_sub(FIRST_AREA + 8)).step_by(8));
        words.by_ref().take(SEARCHED).find_map(|at| Self::at(process, at))
    }

    fn at(process: &ProcessImage<'_>, state: u64) -> Option<Self> {
        let word = |offset: u64| process.memory.word(state.checked_add(offset)?);
        let secret = word(0).filter(|secret| *secret != 0)?;
        let first = word(FIRST_AREA).filter(|first| *first != 0 && first.is_multiple_of(AREA))?;
        let is_ready = word(IS_READY)? & 0xffff_ffff == 1;
        let count = process.memory.word(first.checked_add(COUNT)?)? & 0xffff_ffff;
        (is_ready && process.memory.word(first) == Some(secret) && count == MOST_HEADERS)
            .then_some(Self { secret, first })
    }

    /// Returns the live blocks.
    pub(super) fn live(&self, process: &ProcessImage<'_>) -> Live {
        let mut blocks = Vec::new();
        let mut lost = 0;
        for group in self.groups(process) {
            for index in (0..32).filter(|index| group.used >> index & 1 == 1) {
                match group.slot(process, index) {
                    Slot::Block(at, size) => blocks.push((at, size)),
                    Slot::Other => {}
                    Slot::Damaged => lost += group.stride,
                }
            }
        }
        blocks.sort_unstable();
        // Damaged groups may overlap.
        blocks.dedup_by(|next, before| before.0 + before.1 > next.0);
        Live { blocks, allocator: "musl".into(), rounding: Rounding::None, lost, unread: Vec::new() }
    }

    fn groups(&self, process: &ProcessImage<'_>) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut seen = HashSet::new();
        let mut area = self.first;
        while area != 0
            && area.is_multiple_of(AREA)
            && process.memory.word(area) == Some(self.secret)
            && seen.insert(area)
        {
            let count = process.memory.word(area + COUNT).unwrap_or(0) & 0xffff_ffff;
            let headers = (0..count.min(MOST_HEADERS)).map(|number| area + HEADERS + HEADER * number);
            groups.extend(headers.filter_map(|header| Group::read(process, header)));
            area = process.memory.word(area + NEXT).unwrap_or(0);
        }
        groups
    }
}

impl Group {
    /// Reads a header, if it has a group: the one before and the next one of a list, the group, two masks, and sizes.
    fn read(process: &ProcessImage<'_>, header: u64) -> Option<Self> {
        let word = |offset: u64| process.memory.word(header + offset);
        let memory = word(16).filter(|memory| *memory != 0)?;
        // The group points back.
        if process.memory.word(memory)? != header {
            return None;
        }
        let (masks, sizes) = (word(24)?, word(32)?);
        let (last, class, pages) = (sizes & 31, sizes >> 6 & 63, sizes >> 12);
        let stride = if last == 0 && pages > 0 {
            (pages << 12) - UNIT
        } else {
            UNIT * CLASSES.get(usize::try_from(class).ok()?)?
        };
        // Free, or freed and not yet to be used again.
        let free = (masks | masks >> 32) & 0xffff_ffff;
        let used = u32::try_from(!free & ((2 << last) - 1)).ok()?;
        memory.checked_add(UNIT)?.checked_add(32_u64.checked_mul(stride)?)?;
        Some(Self { start: memory + UNIT, stride, used })
    }

    fn slot(&self, process: &ProcessImage<'_>, index: u64) -> Slot {
        /// What the upper bits in front of a block say: so many bytes are not used, this one and larger numbers of them are behind
        /// the block, it is a group, or the block begins later in its slot.
        const COUNTED: u8 = 5;
        const GROUP: u8 = 6;
        const LATER: u8 = 7;
        /// The distance of blocks whose distance from the start of the slot has the same 16 bits.
        const STEP: u64 = UNIT << 16;
        let start = self.start + self.stride * index;
        let end = start + self.stride - IN_FRONT;
        let front = |at: u64| process.memory.bytes_at(at - 8, 8)?.first_chunk::<8>().copied();
        let Some([.., kind, low, high]) = front(start) else { return Slot::Damaged };
        let mut at = start;
        if kind == LATER << 5 {
            at = at.saturating_add(UNIT * u64::from(u16::from_le_bytes([low, high])));
        }
        loop {
            if at >= end {
                return Slot::Damaged;
            }
            let Some([a, b, c, d, is_long, kind, low, high]) = front(at) else { return Slot::Damaged };
            let distance = match is_long {
                0 => u32::from(u16::from_le_bytes([low, high])),
                _ => u32::from_le_bytes([a, b, c, d]),
            };
            if kind >> 5 == LATER {
                // A thread is about to use it.
                return Slot::Other;
            }
            if u64::from(kind & 31) == index && u64::from(distance) == (at - self.start) / UNIT {
                let unused = match kind >> 5 {
                    GROUP => return Slot::Other,
                    COUNTED => process.memory.bytes_at(end - 4, 4).and_then(|bytes| Some(*bytes.first_chunk()?)),
                    few => Some(u32::from(few).to_le_bytes()),
                };
                let unused = unused.map(|bytes| u64::from(u32::from_le_bytes(bytes)));
                return match unused.and_then(|unused| (end - at).checked_sub(unused)) {
                    Some(size) => Slot::Block(at, size),
                    None => Slot::Damaged,
                };
            }
            at = at.saturating_add(STEP);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::copied::Copied;
    use crate::capture::maps::Mapping;
    use std::path::Path;

    const STATE: u64 = 0x1_0040;
    const DATA: u64 = 0x1_0000;
    const FIRST: u64 = 0x2_0000;
    const GROUP: u64 = 0x3_0000;
    const END: u64 = 0x4_0000;

    /// Memory from [`DATA`] to [`END`].
    struct Bytes(Vec<u8>);

    impl Bytes {
        fn put(&mut self, at: u64, bytes: &[u8]) {
            let at = usize::try_from(at - DATA).unwrap();
            self.0[at..at + bytes.len()].copy_from_slice(bytes);
        }

        fn word(&mut self, at: u64, word: u64) {
            self.put(at, &word.to_le_bytes());
        }

        /// Writes what is in front of a block: the number of its slot, the upper bits, and its distance in units.
        fn front(&mut self, at: u64, slot: u8, upper: u8, distance: u64) {
            self.put(at - 4, &[0, slot | upper << 5]);
            self.put(at - 2, &u16::try_from(distance).unwrap().to_le_bytes());
        }
    }

    /// Returns the state with one group of slots of so many units, of which those in a mask are free.
    fn bytes(class: u64, last: u64, free: u32) -> Bytes {
        let mut bytes = Bytes(vec![0; usize::try_from(END - DATA).unwrap()]);
        bytes.word(STATE, 0x5ec_2e70);
        bytes.word(STATE + IS_READY, 1);
        bytes.word(STATE + FIRST_AREA, FIRST);
        bytes.word(FIRST, 0x5ec_2e70);
        bytes.word(FIRST + COUNT, MOST_HEADERS);
        // The second header; the first has no group.
        let header = FIRST + HEADERS + HEADER;
        bytes.word(header + 16, GROUP);
        bytes.put(header + 24, &free.to_le_bytes());
        bytes.word(header + 32, last | class << 6);
        bytes.word(GROUP, header);
        bytes
    }

    fn live(bytes: Bytes) -> Option<Live> {
        let map = |start, end, path: &str| Mapping {
            start,
            end,
            readable: true,
            writable: true,
            private: true,
            path: path.into(),
            ..Mapping::default()
        };
        let maps = [map(DATA, FIRST, "/a"), map(FIRST, END, "")];
        let mut memory = Copied::default();
        let buffer = memory.buffer(Box::new(bytes.0));
        memory.part(DATA, buffer, 0, usize::try_from(END - DATA).unwrap());
        let file = |path: &Path| Some(path.to_owned());
        let executable = (Path::new("/a"), Path::new("/a"));
        let (threads, bias, page, glibc) = (&[], 0, 4096, None);
        let process =
            ProcessImage { maps: &maps, memory: &memory, threads, executable, bias, page, file: &file, glibc };
        Some(Musl::find(&process)?.live(&process))
    }

    #[test]
    fn blocks_have_the_sizes_that_were_requested() {
        // Slots of 8 units: 128 bytes, of which a block has at most 124.
        let mut bytes = bytes(7, 6, 1 << 5);
        let slot = |number: u64| GROUP + UNIT + 128 * number;
        // 3 bytes are not used; 24, counted behind the block.
        bytes.front(slot(0), 0, 3, 0);
        bytes.front(slot(1), 1, 5, 8);
        bytes.put(slot(2) - 8, &24_u32.to_le_bytes());
        // It begins three units later.
        bytes.front(slot(2), 0, 7, 3);
        bytes.front(slot(2) + 48, 2, 0, 19);
        // A group, a slot that a thread is about to use, a free one, and one whose bytes contradict.
        bytes.front(slot(3), 3, 6, 24);
        bytes.put(slot(4) - 3, &[255]);
        bytes.front(slot(5), 5, 0, 40);
        bytes.front(slot(6), 6, 0, 47);
        let live = live(bytes).unwrap();
        assert_eq!(live.blocks, [(slot(0), 121), (slot(1), 100), (slot(2) + 48, 76)]);
        assert_eq!(live.lost, 128);
        assert!(live.rounding.fits(121, 121) && !live.rounding.fits(120, 121));
    }

    #[test]
    fn damaged_lists_end() {
        let count_after = |change: &dyn Fn(&mut Bytes)| {
            let mut bytes = bytes(0, 31, 1);
            change(&mut bytes);
            live(bytes).map(|live| live.blocks.len())
        };
        assert_eq!(count_after(&|bytes| bytes.word(FIRST + NEXT, FIRST)), Some(0));
        assert_eq!(count_after(&|bytes| bytes.word(FIRST + NEXT, u64::MAX)), Some(0));
        assert_eq!(count_after(&|bytes| bytes.word(GROUP, 7)), Some(0));
        assert_eq!(count_after(&|bytes| bytes.word(FIRST + HEADERS + HEADER + 16, u64::MAX - 7)), Some(0));
        assert_eq!(count_after(&|bytes| bytes.word(FIRST + HEADERS + HEADER + 32, u64::MAX)), Some(0));
        assert_eq!(count_after(&|bytes| bytes.word(FIRST, 1)), None);
        assert_eq!(count_after(&|bytes| bytes.word(STATE + IS_READY, 0)), None);
    }
}
