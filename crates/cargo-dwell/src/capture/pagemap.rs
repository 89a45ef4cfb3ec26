//! The pages of a process that exist.

use std::fs::File;
use std::os::unix::fs::FileExt;

pub(crate) const PAGE: u64 = 4096;
/// The page is in memory.
pub(crate) const PRESENT: u64 = 1 << 63;
/// The page was moved to a swap device.
pub(crate) const SWAPPED: u64 = 1 << 62;
/// The page is one of a file, or shared.
pub(crate) const OF_FILE: u64 = 1 << 61;

/// Tells which pages exist.
#[derive(Debug)]
pub(crate) enum PageMap {
    /// `/proc/PID/pagemap`.
    File(File),
    /// Sorted ranges of addresses.
    Known(Vec<(u64, u64)>),
}

impl PageMap {
    /// Opens the one of a process.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        File::open(format!("/proc/{pid}/pagemap")).ok().map(Self::File)
    }

    /// Returns the flags of `count` pages from page number `page` on, or of fewer if the rest is not known.
    pub(crate) fn flags(&self, page: u64, count: usize) -> Vec<u64> {
        match self {
            Self::File(file) => {
                let mut bytes = vec![0; count * 8];
                let read = file.read_at(&mut bytes, page * 8).unwrap_or(0);
                bytes[..read].as_chunks::<8>().0.iter().map(|flags| u64::from_le_bytes(*flags)).collect()
            }
            Self::Known(ranges) => {
                let mut flags = vec![0; count];
                let (start, end) = (page * PAGE, page.saturating_add(count as u64) * PAGE);
                let first = ranges.partition_point(|range| range.1 <= start);
                for &(from, to) in ranges[first..].iter().take_while(|range| range.0 < end) {
                    let index = |addr: u64| usize::try_from((addr - start) / PAGE).unwrap_or(count);
                    flags[index(from.max(start))..index(to.min(end))].fill(PRESENT);
                }
                flags
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_pages_are_present() {
        let map = PageMap::Known(vec![(0x1000, 0x3000), (0x5000, 0x6000)]);
        let present = |page, count| map.flags(page, count).iter().map(|flags| *flags == PRESENT).collect::<Vec<_>>();
        assert_eq!(present(0, 7), [false, true, true, false, false, true, false]);
        assert_eq!(present(2, 1), [true]);
        assert_eq!(present(6, 2), [false, false]);
    }
}
