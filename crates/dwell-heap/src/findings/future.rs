//! Futures that are suspended in states that hold much less than their size.

use super::kind::{Heap, Kind, of_dependency};
use crate::source::Finding;
use crate::units::count;

/// Futures that are suspended in states that hold much less than their size.
pub(super) struct Future;

impl Kind for Future {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        let walk = heap.walk;
        let schema = &walk.schema;
        let mut found = Vec::new();
        for (number, (def, tally)) in schema.defs.iter().zip(&walk.counted.def_tallies).enumerate() {
            if !def.is_coroutine || tally.instances < 2 {
                continue;
            }
            let size = schema.get(def.ty).size;
            let needed = |variant: usize| {
                let fields = def.variants.get(variant).map_or(&[][..], |variant| &variant.fields);
                fields.iter().map(|field| field.at.saturating_add(schema.sites[field.site].size)).max().unwrap_or(0)
            };
            let idle: u64 = tally
                .variants
                .iter()
                .enumerate()
                .map(|(variant, values)| values.saturating_mul(size.saturating_sub(needed(variant))))
                .sum();
            let Some((most, values)) = tally.variants.iter().enumerate().max_by_key(|(_, values)| **values) else {
                continue;
            };
            let largest = (0..def.variants.len()).max_by_key(|variant| needed(*variant)).unwrap_or(0);
            found.push(Finding {
                kind: "future".into(),
                location: def.name.to_string(),
                fields: Vec::new(),
                count: tally.instances,
                bytes: size.saturating_mul(tally.instances),
                saves: idle,
                costs: "a block for each future that reaches this state".into(),
                why: format!(
                    "{} of {} are in {}, which needs {} of {} B",
                    count(*values),
                    count(tally.instances),
                    def.variants[most].name,
                    count(needed(most)),
                    count(size)
                ),
                how: format!(
                    "box the values that {} holds, or drop them before the `.await`",
                    def.variants[largest].name
                ),
                dependency: of_dependency(walk, number),
                at: schema.get(def.ty).source.as_ref().map(|source| format!("{}:{}", source.file, source.line)),
                ..Finding::default()
            });
        }
        found
    }
}
