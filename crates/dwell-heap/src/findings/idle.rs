//! Locks without contents that only a map holds: one for each key that was ever used.

use super::kind::{Heap, Kind, SOME};
use crate::source::Finding;
use crate::units::count;
use dwell_model::Edge;

/// Locks without contents that only a map holds.
pub(super) struct Idle;

impl Kind for Idle {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let field = &heap.program.sites[site];
        let tally = heap.walk.counted.tallies.get(site - 1)?;
        let (all, alone) = (tally.counts.allocations, tally.unshared);
        // A lock around a value is a store, in which a count of 1 is usual.
        let is_lock = ["Mutex<", "RwLock<"].iter().any(|name| field.ty.contains(name)) && field.ty.ends_with("()>>");
        if field.edge != Edge::Value || !field.ty.starts_with("Arc<") || !is_lock || alone < SOME || alone < all / 2 {
            return None;
        }
        let saves = u128::from(tally.counts.requested) * u128::from(alone) / u128::from(all.max(1));
        Some(Finding {
            count: alone,
            bytes: tally.counts.requested,
            saves: u64::try_from(saves).ok()?,
            costs: "the next user of the key makes a lock again".into(),
            why: format!("{} of {} locks are held by nothing but the map", count(alone), count(all)),
            how: "remove an entry when its last user is done (Arc::strong_count is 1 then), with its key".into(),
            ..heap.finding("idle", site)
        })
    }
}
