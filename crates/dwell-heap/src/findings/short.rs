//! Texts of at most 24 bytes, for which there is an inline text type.

use super::kind::{Heap, Kind};
use crate::heap::walk::SHORT;
use crate::source::Finding;
use crate::units::count;
use dwell_model::text::{Text, Texts};

/// Texts of at most 24 bytes, for which there is an inline text type.
pub(super) struct Short;

impl Kind for Short {
    fn of_site(&self, heap: &Heap<'_, '_, '_, '_>, site: usize) -> Option<Finding> {
        let Heap { walk, program, .. } = *heap;
        if heap.change(site).is_some() {
            return None;
        }
        let field = &program.sites[site];
        let tally = walk.counted.tallies.get(site - 1)?;
        let (number, saves) = tally.short;
        let texts = Texts {
            made: field.counts.allocations,
            kept: field.counts.allocations,
            short: number,
            distinct: tally.texts.as_ref().map(|texts| texts.distinct()),
            ..Texts::default()
        };
        // Where few are distinct, `intern` says so.
        if field.ty != "String" || texts.best(&[Text::Interned, Text::Compact]) != Text::Compact {
            return None;
        }
        Some(Finding {
            count: number,
            bytes: field.counts.requested,
            saves,
            costs: "each read tests whether the text is inline".into(),
            why: format!("{} of {} texts have at most {SHORT} bytes", count(number), count(field.counts.allocations)),
            how: "CompactString of the crate compact_str: as large as a String, and stores these texts inline".into(),
            ..heap.finding("short", site)
        })
    }
}
