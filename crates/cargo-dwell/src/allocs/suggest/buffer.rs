//! Collections that live shortly, one after the other: one buffer could serve all.

use super::super::calibrate::Place;
use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use crate::units::{bytes, plural};

pub(super) struct Buffer;

/// A short life: fewer than 2^`BITS` allocations of the thread.
const BITS: usize = 4;
const SHORT: f64 = 0.9;

impl Rule for Buffer {
    fn kind(&self) -> &'static str {
        "buffer"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let is_short = site.freed_within(BITS) >= SHORT && part(counts.frees, counts.allocations) >= SHORT;
        let is_growable = matches!(site.holder, Holder::Text | Holder::Sequence) && !site.what.starts_with("Box<");
        if cx.is_sampled || !is_growable || !is_short || !site.is_dropped_on_its_thread() {
            return None;
        }
        let is_text = site.holder == Holder::Text;
        let fill = if is_text { "`write!` or `push_str`" } else { "`extend`" };
        Some(Proposal {
            instead: "a buffer that is cleared and used again".into(),
            place: Place::Buffer,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of up to {}, each dropped soon after it was made",
                plural(counts.allocations, "collection"),
                bytes(site.largest())
            ),
            how: format!("keep one outside of the loop, `clear()` it, and fill it with {fill}"),
            costs: "the buffer keeps the memory of the largest".into(),
            edits: Vec::new(),
        })
    }
}
