//! Vectors whose few elements fit in their owner.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, part};
use dwell_calibrate::Place;
use dwell_output::units::{bytes, plural};

pub(super) struct Short;

/// The largest buffer that moves into the owner, and the part of the vectors that must fit.
const LARGEST: u64 = 64;
const FITTING: f64 = 0.95;
/// More live ones than this would make their owners large for good.
const LIVE: f64 = 0.5;

impl Rule for Short {
    fn kind(&self) -> &'static str {
        "short"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let blocks: u64 = site.sizes.values().sum();
        let fitting: u64 = site.sizes.iter().filter(|(size, _)| **size <= LARGEST).map(|(_, blocks)| blocks).sum();
        let fits = part(fitting, blocks) >= FITTING && part(site.counts.live, site.counts.allocations) <= LIVE;
        let element = site.what.strip_prefix("Vec<").and_then(|rest| rest.strip_suffix('>'));
        if cx.is_sampled || !site.is_own() || site.holder != Holder::Sequence || !fits {
            return None;
        }
        let element = element.filter(|name| !name.contains('{'))?;
        let most = site.sizes.keys().rev().find(|size| **size <= LARGEST)?;
        let of_element =
            cx.program.types().find(|(_, ty)| &*ty.name == element).map(|(_, ty)| ty.size).filter(|size| *size > 0)?;
        let length = (most / of_element).max(1);
        Some(Proposal {
            instead: format!("`SmallVec<[{element}; {length}]>`, or `ArrayVec`"),
            place: Place::Inline,
            saved: Saved::Blocks(part(fitting, blocks)),
            why: format!(
                "{:.0} % of {} have at most {}",
                part(fitting, blocks) * 100.0,
                plural(site.counts.allocations, "vector"),
                bytes(*most)
            ),
            how: "write `SmallVec` of the crate smallvec for the type, and `smallvec![]` for `vec![]`".into(),
            costs: format!("values that hold one grow to {} bytes", 16 + (length * of_element).next_multiple_of(8)),
            edits: Vec::new(),
        })
    }
}
