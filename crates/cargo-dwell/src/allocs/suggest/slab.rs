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
        // A type that cannot be named, one of std's own, or one for any type has no place for a slab.
        if ty.size == 0 || !can_name(ty) {
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
            costs: if is_local {
                format!("the slab keeps its memory: {} live at most; {costs}", count(counts.most_live))
            } else {
                format!("the slab keeps its memory; {costs}")
            },
            edits: cx.sources.everywhere(
                &site.places,
                &format!("Box<{name}>"),
                format!("dwell::slab::Pooled<{name}>"),
            ),
        })
    }
}

/// Returns `true` if a person can write the type, and a slab for it.
pub(super) fn can_name(ty: &Type) -> bool {
    let of_std = ["std::", "alloc::", "core::"].iter().any(|start| ty.path.starts_with(start));
    let known = ["core::option::Option<", "core::result::Result<", "alloc::string::String", "alloc::vec::Vec<"];
    let is_known = known.iter().any(|start| ty.path.starts_with(start));
    !ty.name.contains('{') && (is_known || !of_std && ty.params.is_empty())
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
        assert!(!can_name(&ty("Node<u8>", "app::Node<u8>", 1)), "a generic type has no place for its slab");
    }
}
