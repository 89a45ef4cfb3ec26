//! B-trees whose nodes are half empty: many small ones, or one that was filled in the order of its keys.

use super::kind::{Heap, Kind};
use crate::source::Finding;
use crate::units::count;
use dwell_model::{Edge, Shape};

/// The part of the slots in percent that is used if keys come in order, and a little more. Keys in any other order use 70 %.
const IN_ORDER: u64 = 60;

/// B-trees whose nodes are half empty.
pub(super) struct Nodes;

impl Kind for Nodes {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let field = &heap.program.sites[site];
        let counts = &field.counts;
        if !["BTreeMap<", "BTreeSet<"].iter().any(|name| field.ty.starts_with(name)) || heap.change(site).is_some() {
            return None;
        }
        // A map in a box has a finding of its own.
        if field.edge == Edge::Pointee {
            return None;
        }
        let (nodes, used, slots) = (counts.allocations, counts.used, counts.element_slots);
        let trees = counts.filled.saturating_sub(counts.hollow).max(1);
        if used == 0 || nodes == 0 {
            return None;
        }
        let vacant = slots.checked_sub(used).filter(|vacant| *vacant > 0)?;
        let fill = format!("{} of {} slots in use", count(used), count(slots));
        let (saves, why, how, costs) = if nodes <= trees.saturating_mul(2) {
            // The block of a `Vec` has the entries and nothing else.
            let entries = u128::from(counts.waste / vacant) * u128::from(used);
            let mean = ((used + trees / 2) / trees).max(1);
            let why = format!("{fill}: {} on average, and a node has space for 11", count(mean));
            let how = "a Vec that is sorted by key, with the capacity it needs";
            (u128::from(counts.requested).checked_sub(entries)?, why, how, "an insertion moves the entries after it")
        } else if used.saturating_mul(100) < slots.saturating_mul(IN_ORDER) {
            let saves = u128::from(counts.requested) * u128::from(vacant) / u128::from(slots);
            let why = format!("{fill}: keys that come in order leave 5 of 11 in each node");
            (saves, why, "collect() the sorted entries, which fills the nodes", "a later insertion splits full nodes")
        } else {
            return None;
        };
        let saves = u64::try_from(saves).ok()?;
        // The search may have made the entries smaller.
        let saves = match field.shape {
            Shape::Map(_, key, value) => heap.left(key, saves).min(heap.left(value, saves)),
            Shape::Sequence(_, element) => heap.left(element, saves),
            _ => saves,
        };
        Some(Finding {
            count: nodes,
            bytes: counts.requested,
            saves,
            why,
            how: how.into(),
            costs: costs.into(),
            ..heap.finding("nodes", site)
        })
    }
}
