//! Boxes that are freed right after they were allocated.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part, shown};
use dwell_calibrate::Place;
use dwell_output::units::plural;

pub(super) struct Hoist;

/// The part of the frees that must follow their allocation at once.
const AT_ONCE: f64 = 0.95;

impl Rule for Hoist {
    fn kind(&self) -> &'static str {
        "hoist"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_at_once = part(counts.temporary, counts.frees) >= AT_ONCE && counts.frees * 2 > counts.allocations;
        let is_one = site.holder == Holder::Box && site.of_trait.is_none() && site.sizes.len() == 1;
        if cx.is_sampled || !site.is_own() || !is_at_once || !is_one {
            return None;
        }
        Some(Proposal {
            instead: "a variable without the box, or one box before the loop".into(),
            place: Place::Borrowed,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of {} were freed by the next call of the allocator",
                shown(counts.temporary, counts.frees),
                plural(counts.frees, "box").replace("boxs", "boxes")
            ),
            how: "keep the value in a variable, or make the box once and assign to it".into(),
            costs: format!("{} bytes of stack", site.largest()),
            edits: Vec::new(),
        })
    }
}
