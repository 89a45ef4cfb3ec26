//! mimalloc 3: a map of pages, and the blocks of each page that are in none of its three lists of free blocks.

use super::{Allocator, Live, Place};
use anyhow::{Result, bail};

/// The variable that leads to the pages.
pub(super) const PAGE_MAP: &str = "_mi_page_map";

/// mimalloc 3.
pub(super) struct Mimalloc;

impl Allocator for Mimalloc {
    fn live(&self, of: &Place<'_>) -> Result<Live> {
        bail!(
            "{}: its allocator is mimalloc, whose lists of blocks cannot be read from outside; start it with `cargo dwell \
             census --exe`",
            of.executable.0.display()
        )
    }
}
