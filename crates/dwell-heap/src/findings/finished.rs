//! Tasks of tokio that have ended, and whose results nobody has taken.

use super::kind::{Heap, Kind, SOME};
use crate::heap::walk::{argument, head};
use crate::source::Finding;
use crate::units::count;

const STAGE: &str = "tokio::runtime::task::core::Stage";
/// The variant of a task that has ended.
const FINISHED: &str = "Finished";

/// Tasks that have ended, and whose results nobody has taken.
pub(super) struct Finished;

impl Kind for Finished {
    fn of_heap(&self, heap: &Heap<'_, '_, '_, '_>) -> Vec<Finding> {
        let (walk, schema) = (heap.walk, &heap.walk.schema);
        let mut found = Vec::new();
        for (number, definition) in
            schema.defs.iter().enumerate().filter(|(_, definition)| head(&schema.get(definition.ty).path) == STAGE)
        {
            let (Some(tally), Some(variant)) = (
                walk.counted.def_tallies.get(number),
                definition.variants.iter().position(|variant| &*variant.name == FINISHED),
            ) else {
                continue;
            };
            let (ended, all) = (tally.variants.get(variant).copied().unwrap_or(0), tally.instances);
            let location = format!("task {}", argument(&schema.get(definition.ty).name));
            let tasks = heap.blocks.iter().filter(|row| row.content == location);
            let bytes: u64 = tasks.clone().map(|row| row.bytes).sum();
            if ended < SOME || bytes == 0 {
                continue;
            }
            let saves = u128::from(bytes) * u128::from(ended) / u128::from(all.max(1));
            found.push(Finding {
                kind: "finished".into(),
                count: ended,
                bytes,
                saves: u64::try_from(saves).unwrap_or(bytes),
                costs: String::new(),
                why: format!("{} of {} tasks have ended, and their results were not taken", count(ended), count(all)),
                how: "take them while more are spawned (JoinSet::try_join_next), or drop the handles".into(),
                at: tasks.clone().find_map(|row| row.sites.first()?.at.clone()),
                fields: vec![location.clone()],
                location,
                ..Finding::default()
            });
        }
        found
    }
}
