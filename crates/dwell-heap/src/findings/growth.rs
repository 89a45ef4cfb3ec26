//! Tables that grow at the moment of the snapshot, so that the old one and the new one are live.

use super::kind::{Heap, Kind};
use super::model::in_model;
use crate::heap::walk::Owner;
use crate::source::Finding;
use crate::units::{bytes, count};
use dwell_model::Shape;
use std::collections::HashMap;

/// Tables that grow at the moment of the snapshot.
pub(super) struct Growth;

impl Kind for Growth {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        let walk = heap.walk;
        // By site: the bytes of the blocks that are left, and the entries and bytes of the others.
        let mut by_site: HashMap<usize, (u64, u64, u64, u64)> = HashMap::new();
        for holding in &walk.counted.holdings {
            let Owner::Copy(number) = holding.owner else { continue };
            let Some(kept) = walk.counted.holdings.get(number as usize) else { continue };
            let sum = by_site.entry(in_model(kept.site)).or_default();
            *sum = (sum.0 + holding.blocks, sum.1 + holding.bytes, sum.2 + kept.len, sum.3 + kept.bytes);
        }
        let finding = |(site, (number, old, entries, new)): (usize, (u64, u64, u64, u64))| Finding {
            count: number,
            bytes: old.saturating_add(new),
            // The search may have made the entries smaller.
            saves: match heap.program.sites[site].shape {
                Shape::Map(_, key, value) => heap.left(key, old).min(heap.left(value, old)),
                _ => old,
            },
            costs: "a table that is larger from the start".into(),
            why: format!(
                "this moment is inside a growth to {}: {} are the table before it, of {} entries",
                bytes(new),
                bytes(old),
                count(entries)
            ),
            how: format!(
                "with_capacity for the needed length: {} are then the most; a BTreeMap grows in pieces",
                bytes(new)
            ),
            ..heap.finding("growth", site)
        };
        let mut found: Vec<Finding> = by_site.into_iter().map(finding).collect();
        found.sort_by(|a, b| (b.saves, &a.location).cmp(&(a.saves, &b.location)));
        found
    }
}
