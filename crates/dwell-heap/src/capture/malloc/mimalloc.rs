//! mimalloc 3: a map of pages, and the blocks of each page that are in none of its three lists of free blocks.
//!
//! The offsets in a page's header are those of the debug info of its C code.

use super::{Inside, ProcessImage, words};
use crate::arch;
use crate::capture::maps::Mapping;
use crate::debuginfo;
use anyhow::{Result, bail};
use std::collections::HashMap;

/// The variable that points to the map.
pub(super) const PAGE_MAP: &str = "_mi_page_map";
/// The header of a page.
const PAGE: &str = "mi_page_s";
/// The entries of the map, each of which points to a part, and of a part, each of which points to a header. There is a header
/// for each 64 KiB of addresses.
const PARTS: usize = 1 << (arch::ADDRESS_BITS - 13 - 16);
const PAGES: usize = 1 << 13;

/// mimalloc 3.
pub(super) struct Mimalloc {
    /// The address of [`PAGE_MAP`].
    pub(super) page_map: u64,
}

/// The offsets in a page's header.
struct Header {
    free: u64,
    local: u64,
    /// The blocks that other threads have freed; its lowest bit is a flag.
    threads: u64,
    capacity: u64,
    size: u64,
    start: u64,
}

impl Header {
    fn new(fields: &HashMap<String, u64>) -> Option<Self> {
        let at = |name: &str| fields.get(name).copied();
        // With keys, the lists are encoded.
        if at("keys").is_some() {
            return None;
        }
        Some(Self {
            free: at("free")?,
            local: at("local_free")?,
            threads: at("xthread_free")?,
            capacity: at("capacity")?,
            size: at("block_size")?,
            start: at("page_start")?,
        })
    }
}

impl Mimalloc {
    /// Returns the live blocks.
    pub(super) fn live(&self, process: &ProcessImage<'_>) -> Result<Inside> {
        let name = process.executable.0.display();
        let fields = debuginfo::c_struct(process.executable.1, PAGE);
        let Some(header) = fields.as_ref().and_then(Header::new) else {
            bail!(
                "{name}: its allocator is mimalloc, whose C code has no debug info, or is built with `secure` or `debug`; build \
                 it with `debug = 2` in the profile, or start it with `cargo dwell census --exe`"
            );
        };
        let pages = self.pages(process);
        let mut blocks = Vec::new();
        for page in &pages {
            header.blocks(process, *page, &mut blocks);
        }
        if blocks.is_empty() {
            bail!(
                "{name}: its allocator is mimalloc, but its pages were not found; start it with `cargo dwell census --exe`"
            );
        }
        blocks.sort_unstable();
        let is_own = |start: u64, end: u64| {
            let index = blocks.partition_point(|(addr, _)| *addr < start);
            blocks.get(index).is_some_and(|(addr, _)| *addr < end)
                || pages.iter().any(|page| (start..end).contains(page))
        };
        let own: Vec<(u64, u64)> =
            process.maps.iter().map(|map| (map.start, map.end)).filter(|(start, end)| is_own(*start, *end)).collect();
        Ok(Inside { blocks, own, allocator: "mimalloc 3" })
    }

    /// Returns the headers of all pages.
    fn pages(&self, process: &ProcessImage<'_>) -> Vec<u64> {
        let Some(map) = process.memory.word(self.page_map) else { return Vec::new() };
        let mut parts: Vec<u64> = words(process, map, PARTS).collect();
        parts.sort_unstable();
        parts.dedup();
        let mut pages: Vec<u64> = parts.into_iter().flat_map(|part| words(process, part, PAGES)).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }
}

impl Header {
    /// Adds the live blocks of a page.
    fn blocks(&self, process: &ProcessImage<'_>, page: u64, blocks: &mut Vec<(u64, u64)>) {
        let word = |at: u64| process.memory.word(page.checked_add(at)?);
        let (Some(start), Some(size)) = (word(self.start), word(self.size).filter(|size| *size >= 8)) else { return };
        let Some(bytes) = page.checked_add(self.capacity).and_then(|at| process.memory.bytes_at(at, 2)) else { return };
        let capacity = usize::from(u16::from_le_bytes([bytes[0], bytes[1]]));
        let end = size.checked_mul(capacity as u64).and_then(|bytes| start.checked_add(bytes));
        let is_around = |map: &Mapping| map.writable && map.is_anonymous() && map.contains(start);
        // A page that a thread is making has no blocks yet.
        if !process.maps.iter().any(|map| is_around(map) && end.is_some_and(|end| end <= map.end)) {
            return;
        }
        let mut is_free = vec![false; capacity];
        for list in [self.free, self.local, self.threads] {
            let mut block = word(list).unwrap_or(0) & !1;
            while block != 0
                && let Some(at) = block.checked_sub(start)
                && let Some(slot) = usize::try_from(at / size).ok().and_then(|index| is_free.get_mut(index))
                && !*slot
            {
                *slot = true;
                block = process.memory.word(block).unwrap_or(0);
            }
        }
        let live = (0_u64..).zip(is_free).filter(|(_, is_free)| !is_free);
        blocks.extend(live.filter_map(|(index, _)| Some((start.checked_add(index.checked_mul(size)?)?, size))));
    }
}
