//! The pages of a mapping that belong to this process alone.

use crate::maps::Mapping;
use crate::sys::{self, Errno};

/// Adjacent pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pages {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Whether they are in memory: a read finds them there.
    pub(crate) are_present: bool,
}

/// The kernel's tables of pages.
pub(crate) struct PageMap {
    /// `/proc/self/pagemap`; `None` if this process may not read it.
    file: Option<i32>,
    /// Whether the kernel can scan them (Linux 6.7).
    can_scan: bool,
    page: u64,
}

impl PageMap {
    pub(crate) fn new(page: u64) -> Self {
        let file = sys::open(c"/proc/self/pagemap", libc::O_RDONLY).ok();
        Self { file, can_scan: true, page }
    }

    /// Calls `found` for the pages of a mapping that were written to, or, if they are not known, for all that can be.
    pub(crate) fn own(
        &mut self,
        map: &Mapping<'_>,
        found: &mut dyn FnMut(Pages) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let Some(file) = self.file else { return unknown(map, found) };
        let mut at = map.start;
        while self.can_scan && at < map.end {
            match scan(file, at, map.end, found)? {
                Some(next) if next > at => at = next,
                _ => self.can_scan = false,
            }
        }
        if at < map.end { self.by_page(file, at, map, found) } else { Ok(()) }
    }

    /// Reads the entry of each page from `at` on.
    fn by_page(
        &self,
        file: i32,
        mut at: u64,
        map: &Mapping<'_>,
        found: &mut dyn FnMut(Pages) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        const PRESENT: u64 = 1 << 63;
        const SWAPPED: u64 = 1 << 62;
        const OF_FILE: u64 = 1 << 61;
        let mut entries = [0_u64; 512];
        while at < map.end {
            let read = sys::read_words(file, &mut entries, at / self.page * 8).unwrap_or(0);
            let Some(entries) = entries.get(..read).filter(|entries| !entries.is_empty()) else {
                return unknown(&Mapping { start: at, ..*map }, found);
            };
            for entry in entries {
                let end = at + self.page;
                if at < map.end && entry & (PRESENT | SWAPPED) != 0 && entry & OF_FILE == 0 {
                    found(Pages { start: at, end, are_present: entry & PRESENT != 0 })?;
                }
                at = end;
            }
        }
        Ok(())
    }
}

impl Drop for PageMap {
    fn drop(&mut self) {
        if let Some(file) = self.file {
            sys::close(file);
        }
    }
}

fn unknown(map: &Mapping<'_>, found: &mut dyn FnMut(Pages) -> Result<(), Errno>) -> Result<(), Errno> {
    let is_written = map.flags.get(1) == Some(&b'w');
    if is_written { found(Pages { start: map.start, end: map.end, are_present: map.is_anonymous() }) } else { Ok(()) }
}

/// Lets the kernel tell the pages from `at` on. Returns where it stopped, or `None` if it is too old for that.
fn scan(file: i32, at: u64, end: u64, found: &mut dyn FnMut(Pages) -> Result<(), Errno>) -> Result<Option<u64>, Errno> {
    /// The page is one of a file, which nothing was written to; it is in memory; it is in the swap; it is the one with zeros.
    const OF_FILE: u64 = 1 << 2;
    const PRESENT: u64 = 1 << 3;
    const SWAPPED: u64 = 1 << 4;
    const ZERO: u64 = 1 << 5;
    const WALKED: usize = 4;
    // `struct pm_scan_arg`: its size, flags, first and last address, where it stopped, the vector and its length, the most pages, which kinds
    // are inverted, which are all required, of which one is, and which are returned.
    let mut ranges = [[0; 3]; 64];
    let mut argument = [96, 0, at, end, 0, 0, 0, 0, OF_FILE | ZERO, OF_FILE | ZERO, PRESENT | SWAPPED, PRESENT];
    let Ok(count) = sys::scan(file, &mut argument, &mut ranges) else { return Ok(None) };
    for [start, end, kinds] in ranges.into_iter().take(count) {
        found(Pages { start, end, are_present: kinds & PRESENT != 0 })?;
    }
    Ok(Some(argument[WALKED]))
}
