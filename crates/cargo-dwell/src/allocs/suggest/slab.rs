//! Boxes of one type in slots of a slab.

use super::super::calibrate::Place;
use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, last_name};
use dwell_output::units::{count, plural};

pub(super) struct Slab;

/// The largest value for which the allocator's time matters beside the time to write the value.
const LARGEST: u64 = 1024;

impl Rule for Slab {
    fn kind(&self) -> &'static str {
        "slab"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        if site.holder != Holder::Box || site.of_trait.is_some() || site.largest() > LARGEST {
            return None;
        }
        let ty = cx.program.get(*site.types.keys().next()?);
        if ty.size == 0 {
            return None;
        }
        let name = last_name(&ty.name);
        let counts = &site.counts;
        let is_local = site.is_dropped_on_its_thread();
        let (instead, place, costs) = if is_local {
            (format!("a slot of a `slab!` or `Slab<{}>`", ty.name), Place::Slab, "slots do not leave their thread")
        } else {
            (
                format!("a slot of a `sync::Slab<{}>`", ty.name),
                Place::SyncSlab,
                "a slot that another thread drops takes longer than on its own",
            )
        };
        let foreign = if is_local {
            "each freed on its thread".to_owned()
        } else {
            format!("{} freed on another thread", count(counts.foreign))
        };
        Some(Proposal {
            instead,
            place,
            saved: Saved::Blocks(1.0),
            why: format!("{} of {} bytes, {foreign}", plural(counts.allocations, "value"), ty.size),
            how: "write `slab.insert(value)` instead of `Box::new(value)`, and `Slot<T>` instead of `Box<T>`; `Pooled<T>` is a \
                  slot that needs no slab of your own"
                .into(),
            costs: format!("the slab keeps its memory: {} live at most; {costs}", count(counts.most_live)),
            edits: cx.sources.everywhere(
                &site.places,
                &format!("Box<{name}>"),
                format!("dwell::slab::Pooled<{name}>"),
            ),
        })
    }
}
