//! Small blocks, each of which the allocator makes larger.

use super::kind::{Heap, Kind};
use super::slab::rounded;
use crate::heap::walk::Holds;
use crate::source::Finding;

/// Small blocks, each of which the allocator makes larger. Assumes glibc's rounding.
pub(super) struct Rounding;

impl Kind for Rounding {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let walk = heap.walk;
        let tally = walk.counted.tallies.get(site - 1)?;
        let counts = &tally.counts;
        // Collections that are complete. Maps and trees have no such form, and what may grow needs blocks of its own.
        let is_run = matches!(walk.schema.sites.get(site - 1)?.decoder.holds(), Holds::Elements | Holds::Text);
        if !is_run || counts.waste > 0 || tally.rounding <= heap.total / 20 || tally.rounding == 0 {
            return None;
        }
        Some(Finding {
            count: counts.allocations,
            bytes: counts.requested,
            saves: tally.rounding,
            costs: "all of them are freed together".into(),
            why: rounded(counts.allocations, counts.requested, tally.rounding),
            how: "store them in one buffer with ranges, if they are dropped together".into(),
            of_allocator: true,
            ..heap.finding("rounding", site)
        })
    }
}
