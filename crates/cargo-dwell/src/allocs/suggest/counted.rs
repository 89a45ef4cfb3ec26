//! Counted values of one type in slots of a pool.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site};
use dwell_calibrate::Place;
use dwell_output::units::{count, plural};

pub(super) struct Counted;

/// The largest value for which the allocator's time matters beside the time to write the value.
const LARGEST: u64 = 1024;

impl Rule for Counted {
    fn kind(&self) -> &'static str {
        "counted"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        if site.holder != Holder::Counted || site.of_trait.is_some() || site.largest() > LARGEST {
            return None;
        }
        let ty = cx.program.get(*site.types.keys().next()?);
        if ty.name.contains('{') {
            return None;
        }
        let (owner, value) = site.what.split_once('<')?;
        let value = value.strip_suffix('>')?;
        // An `Arc` may be sent, and only its type can say that it is not.
        let (pooled, place, costs) = match owner {
            "Rc" => ("PoolRc", Place::Pool, "the pool belongs to its thread"),
            "Arc" => ("PoolArc", Place::SyncSlab, "a slot that another thread drops takes longer than on its own"),
            _ => return None,
        };
        let counts = &site.counts;
        Some(Proposal {
            instead: format!("`{pooled}<{value}>`"),
            place,
            saved: Saved::Blocks(1.0),
            why: format!("{} of {} bytes, without the counts", plural(counts.allocations, "value"), ty.size),
            how: format!(
                "write `dwell::slab::{pooled}` instead of `{owner}`: it has weak pointers and `make_mut`; a slice or a trait object \
                 stays in `{owner}`"
            ),
            costs: format!("the pool keeps its memory: {} live at most; {costs}", count(counts.most_live)),
            edits: Vec::new(),
        })
    }
}
