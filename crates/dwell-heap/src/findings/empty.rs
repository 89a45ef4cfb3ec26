//! Collections that are empty but own memory.

use super::kind::{Heap, Kind};
use crate::heap::walk::Holds;
use crate::source::Finding;
use crate::units::count;
use dwell_model::Shape;

/// Collections that are empty but own memory.
pub(super) struct Empty;

impl Kind for Empty {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        if heap.change(site).is_some() {
            return None;
        }
        let field = &program.sites[site];
        let holds = walk.schema.sites.get(site - 1)?.decoder.holds();
        let is_it = matches!(holds, Holds::Elements | Holds::Text | Holds::Table);
        let tally = walk.counted.tallies.get(site - 1).filter(|tally| is_it && tally.hollow_bytes > 0)?;
        // The search may have made the elements smaller.
        let saves = match field.shape {
            Shape::Sequence(_, element) => heap.left(element, tally.hollow_bytes),
            _ => tally.hollow_bytes,
        };
        Some(Finding {
            count: field.counts.hollow,
            bytes: tally.hollow_bytes,
            saves,
            costs: "the first insertion allocates".into(),
            why: format!(
                "{} of {} blocks contain no element",
                count(field.counts.hollow),
                count(field.counts.allocations)
            ),
            how: "create it with `new`; when it becomes empty, call shrink_to_fit or mem::take".into(),
            exact: true,
            ..heap.finding("empty", site)
        })
    }
}
