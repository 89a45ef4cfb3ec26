//! Blocks with equal contents, which can be shared.

use super::kind::{Heap, Kind, WORD};
use super::model::in_model;
use crate::source::Finding;
use crate::units::count;
use dwell_model::Shape;

/// Blocks with equal contents, which can be shared.
pub(super) struct Duplicate;

impl Kind for Duplicate {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        let of_content = walk.schema.sites.get(site - 1)?;
        let contents = walk.counted.tallies.get(site - 1)?.contents.as_ref()?;
        let parent = in_model(of_content.parent?);
        // Each remaining block gets two reference counts.
        let saves = contents.duplicate_bytes.saturating_sub(contents.distinct().saturating_mul(2 * WORD));
        if contents.duplicates == 0 || saves == 0 || of_content.ty.is_some_and(|ty| walk.schema.has_cell(ty, 0)) {
            return None;
        }
        let collection = &program.sites[parent];
        // A collection with spare capacity may still grow, and a shared one cannot.
        if collection.counts.waste > 0 {
            return None;
        }
        let saves = heap.left(site, saves);
        let target = match collection.shape {
            Shape::Pointer(..) => of_content.name.to_string(),
            // What is declared as a `Vec` is changed somewhere.
            _ if collection.ty.starts_with("Vec<") => collection.ty.clone(),
            _ => format!("[{}]", of_content.name),
        };
        Some(Finding {
            count: contents.count,
            bytes: contents.bytes,
            saves,
            costs: "a lookup for each new value, unless it is a clone; a shared value is copied when it changes".into(),
            why: format!("{} distinct values in {} blocks", count(contents.distinct()), count(contents.count)),
            how: format!("share equal values as Rc<{target}> or Arc<{target}>, with `make_mut` where one changes"),
            ..heap.finding("duplicate", parent)
        })
    }
}
