//! Trait objects inside of a `SmallBox`.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, last_name, part};
use dwell_calibrate::Place;
use dwell_output::units::plural;

pub(super) struct Inline;

/// The most words that are proposed for inline storage.
const MOST_WORDS: u64 = 6;
/// The part of the blocks that must fit, in per cent.
const FITTING: u64 = 90;

impl Rule for Inline {
    fn kind(&self) -> &'static str {
        "inline"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let of_trait = site.of_trait.as_deref()?;
        // A pinned value cannot move with its handle, and a counted one has several.
        if of_trait.starts_with("Future") || site.holder != Holder::Box {
            return None;
        }
        let words = site.size_of_most(FITTING).div_ceil(8).max(1);
        if words > MOST_WORDS {
            return None;
        }
        let name = last_name(of_trait);
        let blocks: u64 = site.sizes.values().sum();
        let fitting: u64 = site.sizes.iter().filter(|(size, _)| **size <= words * 8).map(|(_, blocks)| blocks).sum();
        let grows =
            if words > 1 { format!("; a handle takes {} bytes instead of 16", (words + 1) * 8) } else { String::new() };
        Some(Proposal {
            instead: format!("`SmallBox<dyn {of_trait}, {words}>`"),
            place: Place::Inline,
            saved: Saved::Blocks(part(fitting, blocks)),
            why: format!(
                "{:.0} % of {} have at most {}",
                part(fitting, blocks) * 100.0,
                plural(blocks, "value"),
                plural(words, "word")
            ),
            how: if of_trait.starts_with("FnOnce") {
                "write `small_box!(closure)` instead of `Box::new(closure)`, `SmallBox<OnceFn, N>` (`SendOnceFn` between \
                 threads) for its type, and `call_once`"
            } else {
                "write `small_box!(value)` instead of `Box::new(value)`"
            }
            .into(),
            costs: format!("values that hold such handles grow{grows}"),
            edits: cx.sources.everywhere(
                &site.places,
                &format!("Box<dyn {name}>"),
                format!("dwell::SmallBox<dyn {name}, {words}>"),
            ),
        })
    }
}
