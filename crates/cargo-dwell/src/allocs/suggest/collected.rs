//! Vectors that are collected and then iterated over once.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part, shown};
use dwell_calibrate::Place;
use dwell_output::units::plural;

pub(super) struct Collected;

/// The functions of std that make a vector of an iterator's values.
const COLLECTS: &[&str] = &["collect", "from_iter", "from_iter_nested"];
/// The part of the blocks that an iterator must have freed.
const CONSUMED: f64 = 0.9;

impl Rule for Collected {
    fn kind(&self) -> &'static str {
        "collected"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let is_collected = site.places.first().is_some_and(|place| place.goes_through(COLLECTS));
        let is_consumed = part(site.consumed, site.counts.allocations) >= CONSUMED;
        if cx.is_sampled || !site.is_own() || site.holder != Holder::Sequence || !is_collected || !is_consumed {
            return None;
        }
        Some(Proposal {
            instead: "the iterator itself, without `collect`".into(),
            place: Place::Borrowed,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of {} were freed by the iteration over them",
                shown(site.consumed, site.counts.allocations),
                plural(site.counts.allocations, "collected vector")
            ),
            how: "iterate where the vector is collected, or return `impl Iterator`".into(),
            costs: "none, unless the source changes during the iteration".into(),
            edits: Vec::new(),
        })
    }
}
