//! Boxes of one type that are many, for which a slab is better.

use super::kind::{Heap, Kind};
use super::model::arguments;
use crate::heap::walk::Holds;
use crate::source::Finding;
use crate::units::count;
use dwell_model::Edge;

/// The least number of boxes for which a slab is suggested.
const MANY: u64 = 1000;

/// Boxes of one type that are many, for which a slab is better.
pub(super) struct Slab;

impl Kind for Slab {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        let tally = walk.counted.tallies.get(site - 1)?;
        let counts = &tally.counts;
        let is_box = walk.schema.sites.get(site - 1)?.decoder.holds() == Holds::Box;
        if !is_box || counts.allocations < MANY || tally.rounding == 0 {
            return None;
        }
        let inner = arguments(&program.sites[site].ty);
        // In any other place the value would enlarge the type that holds the box.
        let is_element = program.sites[site].edge == Edge::Element;
        let how = if is_element {
            format!("dwell::slab! of {inner}, or Vec<{inner}> without boxes")
        } else {
            format!("dwell::slab! of {inner}")
        };
        Some(Finding {
            count: counts.allocations,
            bytes: counts.requested,
            saves: tally.rounding,
            costs: "a slab keeps its memory for later values".into(),
            why: rounded(counts.allocations, counts.requested, tally.rounding),
            how,
            of_allocator: true,
            ..heap.finding("slab", site)
        })
    }
}

/// Returns the reason: blocks, their mean size, and what an allocator adds. Assumes glibc's rounding.
pub(super) fn rounded(allocations: u64, requested: u64, rounding: u64) -> String {
    format!(
        "{} blocks of {} B on average; an allocator such as glibc's adds {} B to each",
        count(allocations),
        count(requested / allocations.max(1)),
        count(rounding / allocations.max(1))
    )
}
