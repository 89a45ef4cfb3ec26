//! Small trait objects, for which a `SmallBox` has inline storage.

use super::kind::{Heap, Kind, WORD, allocated, dependency};
use super::model::{arguments, in_model};
use crate::heap::walk::{Holds, Owner, SiteId};
use crate::source::{Finding, Target};
use crate::units::count;
use std::collections::HashMap;

/// The inline sizes, in words, that are considered for a `SmallBox`.
const INLINE: [u64; 5] = [1, 2, 3, 4, 6];

/// Small trait objects, for which a `SmallBox` has inline storage.
pub(super) struct Inline;

impl Kind for Inline {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        let walk = heap.walk;
        let mut by_site: HashMap<SiteId, Vec<(u64, u64, u64)>> = HashMap::new();
        for holding in &walk.counted.holdings {
            if let (Owner::Site(site), Some(_), false) = (&holding.owner, holding.concrete, holding.is_leaked)
                && walk.schema.sites[*site].decoder.holds() == Holds::Dyn
            {
                by_site.entry(*site).or_default().push((holding.element_size, holding.blocks, holding.bytes));
            }
        }
        let mut found = Vec::new();
        for (site, sizes) in by_site {
            let field = &walk.schema.sites[site];
            let instances = walk.counted.tallies.get(site).map_or(0, |tally| tally.counts.instances);
            let all: u64 = sizes.iter().map(|size| size.1).sum();
            let caught = |words: u64| sizes.iter().filter(move |size| size.0 <= words * WORD);
            // The fewest words that hold nine tenths of the values.
            let Some(words) =
                INLINE.into_iter().find(|words| caught(*words).map(|size| size.1).sum::<u64>() * 10 >= all * 9)
            else {
                continue;
            };
            let freed: u64 = caught(words).map(|size| size.2).sum();
            let number: u64 = caught(words).map(|size| size.1).sum();
            let more = instances.saturating_mul((words - 1) * WORD);
            found.push(Finding {
                kind: "inline".into(),
                location: field.path.clone(),
                fields: vec![field.path.clone()],
                count: number,
                bytes: sizes.iter().map(|size| size.2).sum(),
                saves: freed.saturating_sub(more),
                costs: format!("each takes {} B inline", (words + 1) * WORD),
                why: format!(
                    "{} of {} have at most {} B and would need no block",
                    count(number),
                    count(all),
                    words * WORD
                ),
                how: format!("SmallBox<{}, {words}>", arguments(&field.name)),
                targets: vec![Target::Site(in_model(site), None)],
                at: allocated(heap.blocks, |row| row.owner == field.path),
                dependency: dependency(walk, in_model(site)),
                ..Finding::default()
            });
        }
        found.sort_by(|a, b| (b.count, &a.location).cmp(&(a.count, &b.location)));
        found
    }
}
