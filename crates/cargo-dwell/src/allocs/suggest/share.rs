//! Texts that are cloned and not changed.

use super::super::sites::Holder;
use super::borrow::CLONES;
use super::{Context, Proposal, Rule, Saved, Site};
use dwell_calibrate::Place;
use dwell_output::units::plural;

pub(super) struct Share;

impl Rule for Share {
    fn kind(&self) -> &'static str {
        "share"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_clone =
            site.places.first().is_some_and(|place| place.goes_through(&CLONES[..1]) && place.formats().is_none());
        if cx.is_sampled || !site.is_own() || site.holder != Holder::Text || !is_clone || counts.reallocations > 0 {
            return None;
        }
        let shared = if site.is_dropped_on_its_thread() { "Rc<str>" } else { "Arc<str>" };
        Some(Proposal {
            instead: format!("`{shared}`"),
            place: Place::Shared,
            saved: Saved::Blocks(1.0),
            why: format!("{} of texts that never grew", plural(counts.allocations, "clone")),
            how: format!("hold the text as `{shared}`: a clone is then one more handle"),
            costs: "the text cannot be changed while it is shared; the first handle copies it once".into(),
            edits: Vec::new(),
        })
    }
}
