//! `Rc`s with one owner, for which a `Box` is enough.

use super::kind::WORD;
use super::kind::{Heap, Kind};
use super::model::arguments;
use crate::source::Finding;
use crate::units::count;

/// `Rc`s with one owner, for which a `Box` is enough. An `Arc` that is not shared now is one that threads share at other
/// moments.
pub(super) struct Unshared;

impl Kind for Unshared {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        let tally = walk.counted.tallies.get(site - 1)?;
        let field = &program.sites[site];
        let all = tally.counts.allocations;
        if tally.unshared == 0 || tally.unshared < all || !field.ty.starts_with("Rc<") {
            return None;
        }
        Some(Finding {
            count: all,
            bytes: tally.counts.requested,
            saves: all.saturating_mul(2 * WORD),
            costs: "it can no longer be shared".into(),
            why: format!("none of {} is shared at the moment of the snapshot", count(all)),
            how: format!("Box<{}>", arguments(&field.ty)),
            ..heap.finding("unshared", site)
        })
    }
}
