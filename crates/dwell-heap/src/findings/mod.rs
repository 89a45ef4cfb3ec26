//! Suggestions with their savings, a file for each kind.
//!
//! The search of `dwell::weigh` changes types first, on the model of the heap. The kinds of `KINDS` then look at what
//! these changes leave.

pub(crate) mod also;
mod alternatives;
mod boxed_map;
mod constant;
mod dependencies;
mod duplicate;
mod edits;
mod empty;
mod finished;
mod future;
mod growth;
mod idle;
mod inline;
mod integers;
mod intern;
mod kind;
mod leak;
mod model;
mod nodes;
mod overlap;
mod padding;
mod pinned;
mod processors;
pub(crate) mod resident;
mod rounding;
mod search;
mod shareable;
mod short;
mod shrink;
mod slab;
mod unshared;

use crate::heap::rows::Blocks;
use crate::heap::walk::Walk;
use crate::heap::walk::roots::DROPPED;
use crate::source::Finding;
use crate::source::Items;
use also::Also;
use alternatives::{Alternative, alternatives};
use dwell_model::blocks::BLOCK;
use dwell_model::search::{Edit, LEAST, Step, Types, search_with};
use dwell_model::{Change, Plan, Program};
use kind::{Heap, Kind};

/// What is known beside the heap.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The values of further runs.
    pub(crate) also: Also,
    /// The declarations in the workspace's source.
    pub(crate) items: Items,
    /// The crates of the workspace, so that other crates are dependencies; empty if they are not known.
    pub(crate) own: Vec<String>,
}

/// The bytes that nobody changes a program for.
const LEAST_BYTES: u64 = 64;

/// The kinds of findings beside the changes of types.
const KINDS: [&dyn Kind; 19] = [
    &leak::Leak,
    &empty::Empty,
    &shrink::Shrink,
    &growth::Growth,
    &nodes::Nodes,
    &constant::Constant,
    &idle::Idle,
    &finished::Finished,
    &short::Short,
    &intern::Intern,
    &duplicate::Duplicate,
    &unshared::Unshared,
    &slab::Slab,
    &rounding::Rounding,
    &padding::Padding,
    &inline::Inline,
    &future::Future,
    &pinned::Pinned,
    &boxed_map::BoxedMap,
];

/// Returns `false` if an allocator takes most of what a step saves, or if most values of an enum would be boxed.
fn is_worth_its_blocks(program: &Program, step: &Step) -> bool {
    let saves = step.before.bytes.saturating_sub(step.after.bytes);
    let blocks = step.after.allocations.saturating_sub(step.before.allocations);
    let values = |def: usize, is_it: &dyn Fn(usize) -> bool| -> u64 {
        let variants = program.defs[def].variants.iter().enumerate().filter(|(variant, _)| is_it(*variant));
        variants.map(|(_, variant)| variant.counts.instances).sum()
    };
    let is_rare = |def: usize| {
        let boxed = values(def, &|variant| step.edits.contains(&Edit::Variant(def, variant)));
        boxed.saturating_mul(2) <= values(def, &|_| true)
    };
    let mut enums = step.edits.iter().filter_map(|edit| match edit {
        Edit::Variant(def, _) => Some(*def),
        _ => None,
    });
    saves > blocks.saturating_mul(2 * BLOCK) && enums.all(is_rare)
}

/// Returns a step with its sums after a plan. Types of std replace those of the library if they save at least 19 of 20 bytes
/// of what these do.
fn preferred(plan: &Plan<'_>, step: &Step) -> Step {
    let before = plan.sum();
    let with = |edits: Vec<Edit>| {
        let mut plan = plan.clone();
        plan.apply_all(&edits);
        Step { edits, before, after: plan.sum(), ..step.clone() }
    };
    let of_std = |edit: &Edit| match *edit {
        Edit::Site(site, Change::Thin) => Edit::Site(site, Change::Exact),
        other => other,
    };
    let (library, std) = (with(step.edits.clone()), with(step.edits.iter().map(of_std).collect()));
    let saves = |step: &Step| u128::from(step.before.bytes.saturating_sub(step.after.bytes));
    if saves(&std) * 20 >= saves(&library) * 19 && saves(&std) > 0 { std } else { library }
}

/// Returns all findings, largest saving first; those in dependencies come last.
pub(crate) fn find(walk: &Walk<'_, '_>, blocks: &[Blocks], known: &Known) -> Vec<Finding> {
    let Known { also, items, .. } = known;
    let program = model::build(walk, items);
    let first = Plan::new(&program);
    let mut plan = first.clone();
    // What a step saves if it is the only change.
    let alone = |step: &Step| {
        let mut plan = first.clone();
        plan.apply_all(&step.edits);
        first.sum().bytes.saturating_sub(plan.sum().bytes)
    };
    let leaked: u64 = walk.counted.leaks.iter().map(|leak| leak.bytes).fold(0, u64::saturating_add);
    // What is leaked is no part of the model.
    let total = plan.sum().bytes.saturating_add(leaked);
    let mut found = Vec::new();
    let steps = search_with(&program, Types::Dwell, |starts, run| processors::each(starts, run));
    let mut of_steps = Vec::new();
    for step in &steps {
        let old = plan.clone();
        // Steps that were left out change what this one saves.
        let step = preferred(&old, step);
        plan.apply_all(&step.edits);
        if is_worth_its_blocks(&program, &step) {
            of_steps.push(search::describe(&program, &step, &old, &plan, blocks).alone(alone(&step)));
        } else {
            plan = old;
            of_steps.push(Finding::default());
        }
    }
    for Alternative { step, old, new, instead_of } in alternatives(&program, &steps) {
        let mut finding = search::describe(&program, &step, &old, &new, blocks).alone(alone(&step));
        finding.instead_of = instead_of.iter().flat_map(|&step| of_steps[step].fields.clone()).collect();
        found.push(finding);
    }
    found.extend(of_steps);
    found.retain(|finding| finding.saves > 0);
    found.extend(integers::find(walk, &program, &mut plan, also));
    found.extend(dependencies::find(walk, items, blocks, total));
    let heap = Heap { walk, program: &program, plan: &plan, blocks, total };
    let unchanged = Heap { plan: &first, ..heap };
    let mut estimates = Vec::new();
    for site in (1..program.sites.len()).filter(|site| !walk.schema.is_scratch(site - 1)) {
        estimates.extend(KINDS.iter().filter_map(|kind| {
            let finding = kind.of_site(&heap, site)?;
            let alone = kind.of_site(&unchanged, site).map(|finding| finding.saves);
            Some(match alone {
                Some(alone) => finding.alone(alone),
                None => finding,
            })
        }));
    }
    estimates.extend(KINDS.iter().flat_map(|kind| kind.of_heap(&heap)));
    // Values that need no block save the allocations too.
    let most: u64 = blocks.iter().map(|row| row.blocks).sum();
    let is_worth = |finding: &Finding| {
        finding.saves > total / LEAST && finding.saves >= LEAST_BYTES
            || !finding.instead_of.is_empty()
            || finding.kind == "inline" && finding.saves >= LEAST_BYTES && finding.count > most / LEAST
    };
    found.extend(estimates);
    // A value that is on its way out: nobody can tell which variable or field it was in.
    found.retain(|finding| is_worth(finding) && !finding.location.starts_with(DROPPED));
    let mut rows = overlap::rows(found);
    edits::add(walk, items, &mut rows);
    rows
}
