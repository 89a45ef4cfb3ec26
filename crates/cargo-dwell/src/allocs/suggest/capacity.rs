//! Collections that grow step by step.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use dwell_calibrate::Place;
use dwell_output::units::{bytes, count};

pub(super) struct Capacity;

/// The reallocations for each collection from which on it grows step by step.
const STEPS: f64 = 0.5;
/// The most doublings that a capacity is proposed for.
const MOST_DOUBLINGS: u64 = 10;

impl Rule for Capacity {
    fn kind(&self) -> &'static str {
        "capacity"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_growable = matches!(site.holder, Holder::Text | Holder::Sequence);
        let steps = part(counts.reallocations, counts.allocations);
        // In a sampled run a reallocation counts by its new size, so that its number per collection is unknown.
        let is_formatted = site.places.first().is_some_and(super::Spot::is_formatted);
        if !is_growable || cx.is_sampled || !site.is_own() || is_formatted || steps < STEPS {
            return None;
        }
        let name = site.what.split('<').next().unwrap_or_default().to_owned();
        // A collection that doubled so many times from its first size.
        let first: u64 = if site.holder == Holder::Text { 8 } else { 4 };
        let doublings = (counts.reallocations + counts.allocations / 2) / counts.allocations.max(1);
        let expected = first << doublings.min(MOST_DOUBLINGS);
        Some(Proposal {
            instead: format!("`{name}::with_capacity`, or `reserve`"),
            place: Place::Borrowed,
            saved: Saved::Growth,
            why: format!(
                "{} reallocations of {} collections ({steps:.1} each) copied {}; the largest got {}",
                count(counts.reallocations),
                count(counts.allocations),
                bytes(counts.copied),
                bytes(site.largest())
            ),
            how: "state the expected length when the collection is made".into(),
            costs: "memory, if the length is overestimated".into(),
            edits: cx.sources.replaced(&site.places, &name, &format!("{name}::new()"), |_| {
                format!("{name}::with_capacity({expected})")
            }),
        })
    }
}
