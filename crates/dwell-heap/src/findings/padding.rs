//! Structs with padding.

use super::kind::SOME;
use super::kind::{Heap, Kind};
use crate::source::Finding;
use dwell_model::Shape;

/// Structs with padding.
pub(super) struct Padding;

impl Kind for Padding {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        let Heap { walk, program, plan, .. } = heap;
        let mut slots = vec![0_u64; program.defs.len()];
        for site in &program.sites {
            if let Shape::Def(def) = site.shape {
                slots[def] = slots[def].saturating_add(site.counts.slots);
            }
        }
        let mut found = Vec::new();
        for (number, (def, slots)) in program.defs.iter().zip(slots).enumerate() {
            let [variant] = def.variants.as_slice() else { continue };
            let instances = walk.counted.def_tallies.get(number).map_or(0, |tally| tally.instances);
            if def.is_enum || !def.is_editable || instances < SOME || variant.fields.len() < 2 {
                continue;
            }
            let size = plan.def(number).size;
            let used: u64 = variant.fields.iter().map(|field| plan.layout(field.site).size).sum();
            let Some(unused) = size.checked_sub(used).filter(|unused| *unused > 0) else { continue };
            let saves = unused.saturating_mul(slots);
            // It takes much work for each use of the type.
            if saves <= heap.total / 20 {
                continue;
            }
            found.push(Finding {
                kind: "padding".into(),
                location: def.name.clone(),
                fields: vec![def.name.clone()],
                count: instances,
                bytes: size.saturating_mul(slots),
                saves,
                costs: "several collections, or shifts and masks to read the fields".into(),
                why: format!("{unused} of {size} B are padding"),
                how: "join small fields in one integer, or use one collection for each field (struct of arrays)".into(),
                ..Finding::default()
            });
        }
        found
    }
}
