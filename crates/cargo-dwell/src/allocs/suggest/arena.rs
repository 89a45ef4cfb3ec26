//! Blocks that are dropped together in an arena.

use super::super::calibrate::Place;
use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, shown};
use dwell_output::units::plural;

pub(super) struct Arena;

/// The part of the frees that must be in runs.
const TOGETHER: f64 = 0.8;
/// The part of the blocks that may be left: their owner is alive.
const FREED: f64 = 0.5;

impl Rule for Arena {
    fn kind(&self) -> &'static str {
        "arena"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let can_borrow =
            matches!(site.holder, Holder::Box | Holder::Text | Holder::Sequence) && site.of_trait.is_none();
        let is_together = site.freed_together() >= TOGETHER && super::part(counts.frees, counts.allocations) >= FREED;
        if cx.is_sampled || !can_borrow || !is_together || !site.is_own() || !site.is_dropped_on_its_thread() {
            return None;
        }
        // Without one value that drops them, there is nothing that an arena could be dropped with.
        let root = site.root.as_deref()?;
        Some(Proposal {
            instead: format!("a `Bump`, dropped or reset with `{root}`"),
            place: Place::Arena,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of {} were in runs of frees without an allocation between, in the drop of `{root}`",
                shown(counts.together, counts.frees),
                plural(counts.frees, "free")
            ),
            how: format!("make a `Bump` where `{root}` is made, allocate with `bump.alloc(value)`, and borrow from it"),
            costs: "a lifetime on the types; memory is freed with the arena only, and destructors run only for \
                    `bump::Box`"
                .into(),
            edits: Vec::new(),
        })
    }
}
