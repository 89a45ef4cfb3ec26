//! Small maps in boxes: a `SortedMap` is as large as the box, and has no unused nodes.

use super::kind::{Heap, Kind, WORD};
use super::search::sorted_map;
use crate::source::Finding;
use crate::units::{bytes, count};
use dwell_model::{Holder, Shape};

/// The most entries of a map that is searched as fast when sorted.
const SMALL: u64 = 16;

/// Boxes of small hash maps and B-trees.
pub(super) struct BoxedMap;

impl Kind for BoxedMap {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let program = heap.program;
        let field = &program.sites[site];
        let Shape::Pointer(Holder::Box, map) = field.shape else { return None };
        let of_map = &program.sites[map];
        let Shape::Map(Holder::Growable | Holder::BTree, key, value) = of_map.shape else { return None };
        let maps = field.counts.allocations;
        let used = of_map.counts.used;
        if !field.is_editable || maps == 0 || used > maps.saturating_mul(SMALL) {
            return None;
        }
        let entry = program.sites[key].own.size.saturating_add(program.sites[value].own.size);
        let taken = field.counts.requested.saturating_add(of_map.counts.requested);
        // Its block has a length and a capacity.
        let needed = used.saturating_mul(entry.next_multiple_of(WORD)).saturating_add(maps.saturating_mul(2 * WORD));
        let each = (used + maps / 2) / maps;
        Some(Finding {
            count: maps,
            bytes: taken,
            saves: taken.saturating_sub(needed),
            costs: "lookups by binary search; an insertion moves the entries after it; keys must be `Ord`".into(),
            why: format!(
                "{} {} on average, {} of {} unused",
                count(each),
                if each == 1 { "entry" } else { "entries" },
                bytes(of_map.counts.waste),
                bytes(of_map.counts.requested)
            ),
            how: format!("{} without the box", sorted_map(&of_map.ty)),
            ..heap.finding("sorted", site)
        })
    }
}
