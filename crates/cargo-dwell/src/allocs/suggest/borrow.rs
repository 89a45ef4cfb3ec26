//! Texts and slices that are cloned, not changed, and dropped.

use super::super::calibrate::Place;
use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use dwell_output::units::plural;

pub(super) struct Borrow;

/// The functions that copy a text or slice.
pub(super) const CLONES: &[&str] = &["clone", "to_owned", "to_vec", "to_string", "to_vec_in", "into_owned"];
/// A life that ends while its source probably lives: fewer than 2^`BITS` allocations of the thread.
const BITS: usize = 8;
const SHORT: f64 = 0.9;

impl Rule for Borrow {
    fn kind(&self) -> &'static str {
        "borrow"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_short = site.freed_within(BITS) >= SHORT && part(counts.frees, counts.allocations) >= SHORT;
        let can_borrow = matches!(site.holder, Holder::Text | Holder::Sequence);
        let is_clone = site.places.first().is_some_and(|place| place.goes_through(CLONES));
        if cx.is_sampled || !site.is_own() || !can_borrow || !is_clone || !is_short || counts.reallocations > 0 {
            return None;
        }
        let borrowed = if site.holder == Holder::Text { "`&str` or `Cow<str>`" } else { "`&[T]` or `Cow<[T]>`" };
        Some(Proposal {
            instead: borrowed.into(),
            place: Place::Borrowed,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} that never grew and were soon dropped",
                plural(counts.allocations, "copy").replace("copys", "copies")
            ),
            how: "borrow the original, or clone it only where it is changed".into(),
            costs: "a lifetime on the types that hold it".into(),
            edits: Vec::new(),
        })
    }
}
