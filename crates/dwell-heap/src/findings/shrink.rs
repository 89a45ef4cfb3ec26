//! Collections with unused capacity.

use super::kind::{Heap, Kind};
use crate::heap::walk::Holds;
use crate::source::Finding;
use crate::units::count;
use dwell_model::Shape;

/// Collections with unused capacity.
pub(super) struct Shrink;

impl Kind for Shrink {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        if heap.change(site).is_some() {
            return None;
        }
        let field = &program.sites[site];
        let counts = &field.counts;
        let holds = walk.schema.sites.get(site - 1)?.decoder.holds();
        // Empty collections have a finding of their own.
        let hollow = walk.counted.tallies.get(site - 1)?.hollow_bytes;
        let saves = match holds {
            // One list that is more than half full may be growing: lists double.
            Holds::Elements | Holds::Text if counts.allocations == 1 && counts.used >= counts.element_slots / 2 => 0,
            Holds::Elements | Holds::Text => counts.waste.saturating_sub(hollow),
            // A table that has just grown will be filled.
            Holds::Table if counts.allocations == 1 && has_grown(counts.used, counts.element_slots) => 0,
            // A hash table always has empty buckets.
            Holds::Table => {
                let tables = counts.allocations.saturating_sub(counts.hollow).max(1);
                let buckets =
                    dwell_model::table::buckets_for(usize::try_from(counts.used / tables).unwrap_or(usize::MAX)) as u64;
                let now = counts.element_slots / counts.allocations.max(1);
                let requested = counts.requested.saturating_sub(hollow);
                requested.saturating_sub(requested.saturating_mul(buckets) / now.max(1))
            }
            _ => 0,
        };
        // The search may have made the elements smaller.
        let saves = match field.shape {
            Shape::Sequence(_, element) => heap.left(element, saves),
            Shape::Map(_, key, value) => heap.left(key, saves).min(heap.left(value, saves)),
            _ => saves,
        };
        if saves == 0 {
            return None;
        }
        let found = heap.finding("shrink", site);
        // The line that allocated the unused bytes, which may be another than that of most bytes.
        let rows = heap.blocks.iter().filter(|row| row.owner == found.location);
        let most =
            rows.flat_map(|row| &row.sites).max_by_key(|site| site.unused_bytes).filter(|site| site.unused_bytes > 0);
        let at = most.and_then(|site| site.at.clone()).or_else(|| found.at.clone());
        Some(Finding {
            count: counts.allocations,
            bytes: counts.requested,
            saves,
            at,
            costs: "a later insertion allocates".into(),
            why: format!("{} of {} slots in use", count(counts.used), count(counts.element_slots)),
            how: "call shrink_to_fit when it is complete, or with_capacity for the needed length".into(),
            ..found
        })
    }
}

/// Returns `true` if a table with `buckets` has as many elements as one with half of them can have: it has just grown.
fn has_grown(used: u64, buckets: u64) -> bool {
    let most = buckets / 2 * 7 / 8;
    (most..=most + 1).contains(&used)
}
