//! Texts of at most 24 bytes, for which there is an inline text type.

use super::kind::{Heap, Kind};
use crate::heap::walk::SHORT;
use crate::source::Finding;
use crate::units::count;

/// Texts of at most 24 bytes, for which there is an inline text type.
pub(super) struct Short;

impl Kind for Short {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        if heap.change(site).is_some() {
            return None;
        }
        let field = &program.sites[site];
        let tally = walk.counted.tallies.get(site - 1)?;
        let (number, saves) = tally.short;
        if field.ty != "String" || number == 0 {
            return None;
        }
        Some(Finding {
            count: number,
            bytes: field.counts.requested,
            saves,
            costs: "each read tests whether the text is inline".into(),
            why: format!("{} of {} texts have at most {SHORT} bytes", count(number), count(field.counts.allocations)),
            how: "CompactString of the crate compact_str: as large as a String, and stores these texts inline".into(),
            ..heap.finding("short", site)
        })
    }
}
