//! Boxes of one type in slots of a slab.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, last_name};
use dwell_calibrate::Place;
use dwell_debuginfo::Type;
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
        // A type that cannot be named, or one of std's own, has no place for a slab.
        if ty.size == 0 || !can_name(ty) {
            return None;
        }
        let name = last_name(&ty.name);
        let counts = &site.counts;
        let is_local = site.is_dropped_on_its_thread();
        // A slab of one type has no place in code for any type; the thread's pool needs none.
        let is_generic = !is_of_std(ty) && !ty.params.is_empty();
        if is_generic && !is_local {
            return None;
        }
        let (instead, place, costs) = if is_generic {
            (
                format!("`Pooled<{name}<..>>`, a slot of the thread's pool"),
                Place::Pool,
                "slots do not leave their thread",
            )
        } else if is_local {
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
            how: if is_generic {
                "write `Pooled::new(value)` instead of `Box::new(value)`, and `Pooled<T>` instead of `Box<T>`"
            } else {
                "write `slab.insert(value)` instead of `Box::new(value)`, and `Slot<T>` instead of `Box<T>`; `Pooled<T>` is a \
                  slot that needs no slab of your own"
            }
            .into(),
            costs: if is_local {
                format!("the slab keeps its memory: {} live at most; {costs}", count(counts.most_live))
            } else {
                format!("the slab keeps its memory; {costs}")
            },
            edits: if is_generic {
                // The arguments are those of one use, and the source has the parameters.
                Vec::new()
            } else {
                let (from, to) = (format!("Box<{name}>"), format!("dwell::slab::Pooled<{name}>"));
                cx.sources.everywhere(&site.places, &from, to)
            },
        })
    }
}

fn is_of_std(ty: &Type) -> bool {
    ["std::", "alloc::", "core::"].iter().any(|start| ty.path.starts_with(start))
}

/// Returns `true` if a person can write the type.
fn can_name(ty: &Type) -> bool {
    let known = ["core::option::Option<", "core::result::Result<", "alloc::string::String", "alloc::vec::Vec<"];
    let is_known = known.iter().any(|start| ty.path.starts_with(start));
    // A closure among the arguments stands for a parameter in the source.
    let name = if ty.params.is_empty() { &*ty.name } else { last_name(&ty.name) };
    !name.contains('{') && (is_known || !is_of_std(ty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell_debuginfo::{Kind, Param, TypeId};

    #[test]
    fn types_without_a_name_or_a_place_get_no_slab() {
        let ty = |name: &str, path: &str, params: usize| Type {
            name: name.into(),
            path: path.into(),
            size: 8,
            align: 8,
            kind: Kind::Opaque,
            params: (0..params).map(|_| Param { name: "T".into(), ty: TypeId(0) }).collect(),
            source: None,
            krate: "app".into(),
            own: true,
            public: false,
            unit: 0,
        };
        assert!(can_name(&ty("Node", "app::Node", 0)) && can_name(&ty("[u64; 4]", "[u64; 4]", 0)));
        assert!(can_name(&ty("Option<Node>", "core::option::Option<app::Node>", 1)));
        assert!(!can_name(&ty("{async block in main:3}", "app::main::{async_block_env#0}", 0)));
        assert!(!can_name(&ty("Block<u8>", "std::sync::mpmc::list::Block<u8>", 1)));
        assert!(can_name(&ty("Job<{closure in run:3}>", "app::Job<app::run::{closure_env#0}>", 1)));
    }
}
