//! Blocks that are dropped together in an arena.

use super::super::sites::Holder;
use super::{Context, Proposal, Rule, Saved, Site, shown};
use dwell_calibrate::Place;
use dwell_debuginfo::{Kind, Program, TypeId};
use dwell_output::units::plural;
use std::collections::HashSet;

pub(super) struct Arena;

/// The part of the frees that must be in runs.
const TOGETHER: f64 = 0.8;
/// The part of the blocks that may be left: their owner is alive.
const FREED: f64 = 0.5;

impl Rule for Arena {
    fn kind(&self) -> &'static str {
        "arena"
    }

    fn propose(&self, site: &Site, cx: &Context<'_>) -> Option<Proposal> {
        let counts = &site.counts;
        let can_borrow =
            matches!(site.holder, Holder::Box | Holder::Text | Holder::Sequence) && site.of_trait.is_none();
        let is_together = site.freed_together() >= TOGETHER && super::part(counts.frees, counts.allocations) >= FREED;
        if cx.is_sampled || !can_borrow || !is_together || !site.is_own() || !site.is_dropped_on_its_thread() {
            return None;
        }
        // Without one value that drops them, there is nothing that an arena could be dropped with.
        let root = site.root.as_deref()?;
        // Its sharers drop a counted value at different times, and an arena drops no values.
        let is_shared = root.contains("Rc<") || root.contains("Arc<");
        if is_shared || site.types.keys().any(|ty| owns(cx.program, *ty)) || holds(&site.what) {
            return None;
        }
        Some(Proposal {
            instead: format!("a `Bump`, dropped or reset with `{root}`"),
            place: Place::Arena,
            saved: Saved::Blocks(1.0),
            why: format!(
                "{} of {} were in runs of frees without an allocation between, in the drop of `{root}`",
                shown(counts.together, counts.frees),
                plural(counts.frees, "free")
            ),
            how: format!("make a `Bump` where `{root}` is made, allocate with `bump.alloc(value)`, and borrow from it"),
            costs: "a lifetime on the types; memory is freed with the arena only".into(),
            edits: Vec::new(),
        })
    }
}

/// Returns `true` if the elements of a collection are collections or pointers.
fn holds(what: &str) -> bool {
    let inside = what.split_once('<').map_or("", |(_, inside)| inside);
    ["String", "Vec<", "Box<", "Rc<", "Arc<", "PathBuf", "Map<", "Set<"].iter().any(|owner| inside.contains(owner))
        && !what.starts_with("Box<")
}

/// Returns `true` if a value owns texts, vectors or other memory beside boxes, which could lie in the arena, too.
fn owns(program: &Program, ty: TypeId) -> bool {
    let (mut met, mut open) = (HashSet::from([ty]), vec![ty]);
    while let Some(ty) = open.pop() {
        let inner = program.get(ty);
        if ["alloc::", "std::", "hashbrown::"].iter().any(|start| inner.path.starts_with(start))
            && !inner.path.starts_with("alloc::boxed::Box<")
        {
            return true;
        }
        let mut add = |ty: TypeId| {
            if met.insert(ty) {
                open.push(ty);
            }
        };
        match &inner.kind {
            Kind::Struct(fields) | Kind::Closure(fields) => fields.iter().for_each(|field| add(field.ty)),
            Kind::Enum(def) => def.variants.iter().flat_map(|variant| &variant.fields).for_each(|field| add(field.ty)),
            Kind::Array { element, .. } => add(*element),
            _ => {}
        }
    }
    false
}
