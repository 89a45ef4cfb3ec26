//! The pages of a process that exist.

use crate::arch;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// The bytes of a page here. A page of the kernel may be several of them.
pub(crate) const PAGE: u64 = arch::SMALLEST_PAGE;
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
    pub(crate) fn open(pid: i32) -> Option<Self> {
        File::open(format!("/proc/{pid}/pagemap")).ok().map(Self::File)
    }

    /// Returns the flags of `count` pages from page number `page` on, or of fewer if the rest is not known.
    pub(crate) fn flags(&self, page: u64, count: usize) -> Vec<u64> {
        match self {
            Self::File(file) => {
                let parts = arch::page() / PAGE;
                let (first, last) = whole(page, count, parts);
                let mut bytes = vec![0; usize::try_from(last - first).unwrap_or(0) * 8];
                let read = file.read_at(&mut bytes, first * 8).unwrap_or(0);
                let flags = bytes[..read].as_chunks::<8>().0.iter().map(|flags| u64::from_le_bytes(*flags));
                divided(flags, page - first * parts, count, parts)
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

/// Returns the first page of the kernel of which one of `count` pages is a part, and one past the last. A page of the kernel
/// has so many `parts`.
pub(crate) fn whole(page: u64, count: usize, parts: u64) -> (u64, u64) {
    (page / parts, page.saturating_add(count as u64).div_ceil(parts))
}

/// Gives each part of the kernel's pages the flags of its page. Leaves out the first `skipped` parts, and all behind `count`.
fn divided(flags: impl Iterator<Item = u64>, skipped: u64, count: usize, parts: u64) -> Vec<u64> {
    let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
    let parts = usize::try_from(parts).unwrap_or(1);
    flags.flat_map(|flags| std::iter::repeat_n(flags, parts)).skip(skipped).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_pages_are_divided() {
        // Pages of 4 KiB are the kernel's.
        assert_eq!(whole(7, 3, 1), (7, 10));
        assert_eq!(divided([1, 2, 3].into_iter(), 0, 3, 1), [1, 2, 3]);
        // Of 16 KiB: from the last part of the second one to the first of the fourth.
        assert_eq!(whole(7, 6, 4), (1, 4));
        assert_eq!(divided([1, 2, 3].into_iter(), 3, 6, 4), [1, 2, 2, 2, 2, 3]);
        // Of 64 KiB, of which the file tells only one.
        assert_eq!(whole(16, 32, 16), (1, 3));
        assert_eq!(divided([5].into_iter(), 0, 32, 16), [5; 16]);
        assert_eq!(whole(u64::MAX, 5, 16).1, u64::MAX.div_ceil(16));
    }

    #[test]
    fn known_pages_are_present() {
        let map = PageMap::Known(vec![(0x1000, 0x3000), (0x5000, 0x6000)]);
        let present = |page, count| map.flags(page, count).iter().map(|flags| *flags == PRESENT).collect::<Vec<_>>();
        assert_eq!(present(0, 7), [false, true, true, false, false, true, false]);
        assert_eq!(present(2, 1), [true]);
        assert_eq!(present(6, 2), [false, false]);
    }
}
