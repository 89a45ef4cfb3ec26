//! Trait objects in slots of the thread's pool.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, last_name, shown};
use dwell_calibrate::Place;
use dwell_output::units::{count, plural};

pub(super) struct Pool;

impl Rule for Pool {
    fn kind(&self) -> &'static str {
        "pool"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let of_trait = site.of_trait.as_deref()?;
        if site.holder != Holder::Box || site.largest() > LARGEST {
            return None;
        }
        let is_future = of_trait.starts_with("Future");
        let (instead, how, from, to) = if is_future {
            (
                "`.pooled()`, a slot of the thread's pool",
                "write `future.pooled()` instead of `Box::pin(future)`, and `PoolFuture` instead of `Pin<Box<dyn Future>>`; \
                 `#[dwell::erased]` instead of `#[async_trait]`",
                "Pin<Box<dyn Future>>".to_owned(),
                "dwell::pin::PoolFuture".to_owned(),
            )
        } else if of_trait.starts_with("FnOnce") {
            // Stable Rust calls an `FnOnce` by value only in a box, so that the library has a trait of its own.
            (
                "`Pooled<OnceFn>`, a slot of the thread's pool",
                "write `pooled!(closure)` instead of `Box::new(closure)`, `Pooled<OnceFn>` (`SendOnceFn` between threads) for its \
                 type, and `call_once`",
                "Box<dyn FnOnce>".to_owned(),
                "dwell::slab::Pooled<dwell::small::OnceFn>".to_owned(),
            )
        } else {
            let name = last_name(of_trait);
            (
                "`pooled!`, a slot of the thread's pool",
                "write `pooled!(value)` instead of `Box::new(value)`, and `Pooled<dyn Trait>` instead of `Box<dyn Trait>`",
                format!("Box<dyn {name}>"),
                format!("dwell::slab::Pooled<dyn {name}>"),
            )
        };
        let counts = &site.counts;
        Some(Proposal {
            instead: instead.into(),
            place: Place::Pool,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of {} behind `dyn {of_trait}`, {} of them freed on the thread that allocated them",
                plural(counts.allocations, "box").replace("boxs", "boxes"),
                plural(site.types.len() as u64, "type"),
                shown(counts.frees - counts.foreign, counts.frees),
            ),
            how: how.into(),
            costs: format!("the pool keeps its memory: {} live at most", count(counts.most_live)),
            edits: cx.sources.everywhere(&site.places, &from, to),
        })
    }
}

/// The largest size class of a pool.
const LARGEST: u64 = 4096;
