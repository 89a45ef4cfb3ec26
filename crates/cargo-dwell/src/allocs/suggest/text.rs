//! Texts that another type holds better, by the table of `docs/how-to/sparse.md`.

use super::super::sites::Holder;
use super::borrow::CLONES;
use super::{Context, Proposal, Rule, Saved, Site, part, shown};
use dwell_calibrate::Place;
use dwell_model::text;
use dwell_output::units::plural;

pub(super) struct Text;

impl Rule for Text {
    fn kind(&self) -> &'static str {
        "text"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        if cx.is_sampled || !site.is_own() || site.holder != Holder::Text {
            return None;
        }
        let clones = site.places.iter().filter(|place| place.goes_through(&CLONES[..1]) && place.formats().is_none());
        let long = site.sizes.range(text::SHORT + 1..).map(|(_, blocks)| blocks).sum();
        let texts = text::Texts {
            made: counts.allocations,
            cloned: clones.map(|place| place.counts.allocations).sum(),
            kept: counts.live,
            // A text that grew has a block of each size.
            short: counts.allocations.saturating_sub(long),
            is_changed: counts.reallocations > 0,
            ..text::Texts::default()
        };
        let compact: &[text::Text] = if site.what == "String" { &[text::Text::Compact] } else { &[] };
        match texts.best(&[&[text::Text::Shared], compact].concat()) {
            text::Text::Shared => {
                let shared = if site.is_dropped_on_its_thread() { "Rc<str>" } else { "Arc<str>" };
                Some(Proposal {
                    instead: format!("`{shared}`"),
                    place: Place::Shared,
                    saved: Saved::Blocks(1.0),
                    why: format!("{} of texts that never grew", plural(texts.cloned, "clone")),
                    how: format!("hold the text as `{shared}`: a clone is then one more handle"),
                    costs: "the text cannot be changed while it is shared; the first handle copies it once".into(),
                    edits: Vec::new(),
                })
            }
            text::Text::Compact => Some(Proposal {
                instead: "`CompactString`".into(),
                place: Place::Inline,
                saved: Saved::Blocks(part(texts.short, texts.made)),
                why: format!("{} of the texts have at most {} bytes", shown(texts.short, texts.made), text::SHORT),
                how: "hold the text as `CompactString` of the crate compact_str, and write `format_compact!` for `format!`"
                    .into(),
                costs: "each read tests whether the text is inline".into(),
                edits: Vec::new(),
            }),
            _ => None,
        }
    }
}
