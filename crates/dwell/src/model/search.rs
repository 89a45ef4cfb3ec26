//! Searches for the changes that save most.
//!
//! The search is lazy greedy (Minoux, "Accelerated greedy algorithms", 1978): a change mostly reduces what the others save, so the
//! search evaluates the candidate with the largest known saving again, and takes it if it still saves more than the others are
//! known to. An enum is as large as its largest variant, so that one change may save nothing where several save much.
//! [`candidates`] groups such changes, and the search evaluates the groups again after each step. In the end it undoes each edit
//! once, and each of the first steps, and keeps the result if it is better.

use super::layout::WORD;
use super::plan::{Change, Plan, Sum};
use super::program::{DefId, Edge, Holder, Program, ReprOf, Shape, Site, SiteId};
use std_alloc::collections::{BTreeMap, BTreeSet};
use std_alloc::string::String;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// Bytes that an allocator adds to a block.
pub const BLOCK: u64 = 16;
/// The search reports a step if it saves more than this fraction of the total.
pub const LEAST: u64 = 1000;
/// The number of groups that the search tries as the first step.
const FIRST: usize = 6;
/// The average number of entries up to which a sorted map is suggested. Its insertions move the later entries.
const SORTED: u64 = 1024;

/// One edit of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Another type for a site.
    Site(SiteId, Change),
    /// The fields of a variant move into a box.
    Variant(DefId, usize),
    /// A `repr(C)` struct lets the compiler order its fields.
    Reorder(DefId),
}

/// Edits that are made together, and the bytes before and after.
#[derive(Clone, Debug)]
pub struct Step {
    /// The edits, all of one kind.
    pub edits: Vec<Edit>,
    /// As it was before.
    pub before: Sum,
    /// As it is then.
    pub after: Sum,
    /// Whether `after` is exact.
    pub is_exact: bool,
}

/// The types that may be suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// Those of std only.
    Std,
    /// Those of Dwell too.
    Dwell,
}

impl Plan<'_> {
    /// Makes an edit, unless its site has been changed.
    pub fn apply(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Site(site, change) => {
                if self.changes.contains_key(&site) {
                    return false;
                }
                self.changes.insert(site, change);
                true
            }
            Edit::Variant(def, variant) => self.variants.insert((def, variant)),
            Edit::Reorder(def) => self.reordered.insert(def),
        }
    }

    /// Makes edits, but those whose sites are changed already.
    pub fn apply_all(&mut self, edits: &[Edit]) {
        for &edit in edits {
            self.apply(edit);
        }
    }

    /// Undoes an edit.
    pub fn undo(&mut self, edit: Edit) {
        match edit {
            Edit::Site(site, _) => _ = self.changes.remove(&site),
            Edit::Variant(def, variant) => _ = self.variants.remove(&(def, variant)),
            Edit::Reorder(def) => _ = self.reordered.remove(&def),
        }
    }

    /// The sum with some more edits, and those of them that were new.
    fn with(&mut self, edits: &[Edit]) -> (Sum, Vec<Edit>) {
        let new: Vec<Edit> = edits.iter().copied().filter(|&edit| self.apply(edit)).collect();
        let sum = self.sum();
        for &edit in &new {
            self.undo(edit);
        }
        (sum, new)
    }
}

/// Bytes with what an allocator spends on each block.
fn cost(sum: Sum) -> i128 {
    i128::from(sum.bytes) + i128::from(sum.allocations) * i128::from(BLOCK)
}

/// The steps that save most, each after those before it.
pub fn search(program: &Program, types: Types) -> Vec<Step> {
    let all = candidates(program, types);
    let least = i128::from(Plan::new(program).sum().bytes / LEAST);
    let run = |first: &[Edit], banned: &[Vec<Edit>]| polished(program, greedy(program, &all, least, first, banned));
    let mut best = run(&[], &[]);
    // What saves most together in an enum, made first: an edit that looked better by itself may exclude it.
    let plan = Plan::new(program);
    let size = |def: DefId| i128::from(program.defs[def].own.size);
    let mut groups: Vec<(i128, &Vec<Edit>)> = Vec::new();
    for edits in all.iter().filter(|edits| edits.len() > 1) {
        let Some(def) = edits.iter().find_map(|edit| enum_of(program, *edit)) else { continue };
        let mut plan = plan.clone();
        plan.apply_all(edits);
        groups.push((i128::from(plan.def(def).size) - size(def), edits));
    }
    groups.sort_by_key(|&(change, edits)| (change, edits.len()));
    for (_, first) in groups.into_iter().take(FIRST) {
        let other = run(first, &[]);
        if end(&other) < end(&best) {
            best = other;
        }
    }
    // Without each step once: what it hid may be better.
    let mut banned: Vec<Vec<Edit>> = Vec::new();
    for step in best.clone().into_iter().take(4) {
        let mut without = banned.clone();
        without.push(step.edits);
        let other = run(&[], &without);
        if end(&other).saturating_add(least) < end(&best) {
            (best, banned) = (other, without);
        }
    }
    best
}

/// The enum whose size an edit changes.
fn enum_of(program: &Program, edit: Edit) -> Option<DefId> {
    let def = match edit {
        Edit::Site(site, _) => {
            program.sites[site].def.filter(|_| matches!(program.sites[site].edge, Edge::Field(..)))?
        }
        Edit::Variant(def, _) => def,
        Edit::Reorder(_) => return None,
    };
    program.defs[def].is_enum.then_some(def)
}

/// The steps without edits that later ones made worthless.
fn polished(program: &Program, steps: Vec<Step>) -> Vec<Step> {
    let mut plan = Plan::new(program);
    steps.iter().flat_map(|step| &step.edits).for_each(|&edit| _ = plan.apply(edit));
    let mut best = cost(plan.sum());
    let mut lists: Vec<Vec<Edit>> = steps.into_iter().map(|step| step.edits).collect();
    for edits in &mut lists {
        edits.retain(|&edit| {
            plan.undo(edit);
            let without = cost(plan.sum());
            if without <= best {
                best = without;
                return false;
            }
            plan.apply(edit);
            true
        });
    }
    lists.retain(|edits| !edits.is_empty());
    // The most worth first.
    greedy(program, &lists, 0, &[], &[])
}

fn end(steps: &[Step]) -> i128 {
    steps.last().map_or(i128::MAX, |step| cost(step.after))
}

fn greedy(program: &Program, all: &[Vec<Edit>], least: i128, first: &[Edit], banned: &[Vec<Edit>]) -> Vec<Step> {
    let mut plan = Plan::new(program);
    let mut now = plan.sum();
    let gain = |plan: &mut Plan<'_>, edits: &[Edit], now: Sum| {
        let (sum, new) = plan.with(edits);
        // Of edits that do the same, the fewer.
        (cost(now) - cost(sum), new.len())
    };
    let mut open: Vec<(i128, &Vec<Edit>)> = all
        .iter()
        .filter(|edits| !banned.contains(edits))
        .map(|edits| (gain(&mut plan, edits, now).0, edits))
        .collect();
    let mut steps = Vec::new();
    if !first.is_empty() {
        plan.apply_all(first);
        let after = plan.sum();
        steps.push(Step { edits: first.to_vec(), before: now, after, is_exact: plan.is_exact() });
        now = after;
        for (stale, edits) in &mut open {
            *stale = gain(&mut plan, edits, now).0;
        }
    }
    loop {
        open.retain(|&(gain, _)| gain > least);
        // Stable, so that equal ones stay in the order of the program.
        open.sort_by_key(|&(gain, edits)| (core::cmp::Reverse(gain), edits.len()));
        let Some(&(_, edits)) = open.first() else { break };
        let (again, new) = gain(&mut plan, edits, now);
        open[0].0 = if new == 0 { 0 } else { again };
        if open[0].0 <= least || open.get(1).is_some_and(|next| open[0].0 < next.0) {
            continue;
        }
        open.remove(0);
        let edits = pruned(&mut plan, edits);
        plan.apply_all(&edits);
        let after = plan.sum();
        steps.push(Step { edits, before: now, after, is_exact: plan.is_exact() });
        now = after;
        // What changes together in an enum may be worth more than before: another variant was the largest.
        for (stale, edits) in open.iter_mut().filter(|(_, edits)| edits.len() > 1) {
            *stale = gain(&mut plan, edits, now).0;
        }
    }
    steps
}

/// The edits of a step that it needs.
fn pruned(plan: &mut Plan<'_>, edits: &[Edit]) -> Vec<Edit> {
    let (sum, mut edits) = plan.with(edits);
    let mut best = cost(sum);
    let mut index = 0;
    while edits.len() > 1 && index < edits.len() {
        let mut fewer = edits.clone();
        fewer.remove(index);
        let cost = cost(plan.with(&fewer).0);
        if cost <= best {
            (best, edits) = (cost, fewer);
        } else {
            index += 1;
        }
    }
    edits
}

/// The candidates: single edits, and groups of edits that may save more together.
pub fn candidates(program: &Program, types: Types) -> Vec<Vec<Edit>> {
    let mut alone: Vec<Edit> = Vec::new();
    for (id, site) in program.sites.iter().enumerate().filter(|(_, site)| site.is_editable) {
        alone.extend(of_site(program, id, site, types).into_iter().map(|change| Edit::Site(id, change)));
    }
    let mut found: Vec<Vec<Edit>> = Vec::new();
    // A field of a generic type is one line of text in all of its instances.
    let mut by_text: BTreeMap<(String, Change, String), Vec<Edit>> = BTreeMap::new();
    // Fields of one type in the same struct or enum, and of one name in all variants.
    let mut by_type: BTreeMap<(DefId, Change, String), Vec<Edit>> = BTreeMap::new();
    let mut by_name: BTreeMap<(DefId, Change, String), Vec<Edit>> = BTreeMap::new();
    for &edit in &alone {
        let Edit::Site(id, change) = edit else { continue };
        let site = &program.sites[id];
        by_text.entry((without_arguments(&site.path), change, site.ty.clone())).or_default().push(edit);
        if let (Edge::Field(variant, field), Some(def)) = (site.edge, site.def) {
            by_type.entry((def, change, site.ty.clone())).or_default().push(edit);
            let name = program.defs[def].variants[variant].fields[field].name.clone();
            by_name.entry((def, change, name)).or_default().push(edit);
        } else if let Some(def) = site.def {
            by_type.entry((def, change, site.ty.clone())).or_default().push(edit);
        }
    }
    // In the order of the program.
    for &edit in &alone {
        let Edit::Site(id, change) = edit else { continue };
        let site = &program.sites[id];
        let Some(same) = by_text.remove(&(without_arguments(&site.path), change, site.ty.clone())) else { continue };
        // The one field of a variant is boxed with the variant.
        let is_alone = match (site.edge, site.def) {
            (Edge::Field(variant, _), Some(def)) => {
                program.defs[def].is_enum && program.defs[def].variants[variant].fields.len() == 1
            }
            _ => false,
        };
        if !(is_alone && matches!(change, Change::Boxed | Change::BoxedAlways)) {
            found.push(same);
        }
    }
    let plan = Plan::new(program);
    let groups: Vec<Vec<Edit>> =
        by_type.into_values().chain(by_name.into_values()).filter(|edits| edits.len() > 1).collect();
    for edits in &groups {
        with_variants(program, edits, &mut found);
    }
    found.extend(groups);
    for (id, def) in program.defs.iter().enumerate().filter(|(_, def)| def.is_editable) {
        if def.is_enum {
            let mut by_size: Vec<(u64, usize)> =
                (0..def.variants.len()).map(|variant| (plan.variant_size(id, variant), variant)).collect();
            by_size.retain(|&(size, _)| size > WORD);
            by_size.sort_by_key(|&(size, variant)| (core::cmp::Reverse(size), variant));
            // An enum is as large as its largest variant: the candidates are the largest, the two largest, and so on.
            for many in 1..=by_size.len().min(16) {
                found.push(by_size[..many].iter().map(|&(_, variant)| Edit::Variant(id, variant)).collect());
            }
        } else if def.repr == ReprOf::C {
            found.push(vec![Edit::Reorder(id)]);
        }
    }
    found.sort();
    let mut met = BTreeSet::new();
    found.retain(|edits| met.insert(edits.clone()));
    found
}

/// A field in many variants together with the variants that are largest without it.
fn with_variants(program: &Program, edits: &[Edit], found: &mut Vec<Vec<Edit>>) {
    let Some(&Edit::Site(first, Change::Boxed | Change::BoxedAlways | Change::Sparse)) = edits.first() else { return };
    let Some(def) = program.sites[first].def.filter(|&def| program.defs[def].is_enum) else { return };
    let mut plan = Plan::new(program);
    plan.apply_all(edits);
    let variants = 0..program.defs[def].variants.len();
    let mut by_size: Vec<(u64, usize)> = variants.map(|variant| (plan.variant_size(def, variant), variant)).collect();
    by_size.retain(|&(size, _)| size > WORD);
    by_size.sort_by_key(|&(size, variant)| (core::cmp::Reverse(size), variant));
    for many in 1..=by_size.len().min(4) {
        let boxed = by_size[..many].iter().map(|&(_, variant)| Edit::Variant(def, variant));
        found.push(edits.iter().copied().chain(boxed).collect());
    }
}

/// `Page.title` for `Page<u8>.title`.
pub fn without_arguments(path: &str) -> String {
    let mut depth = 0_u32;
    let mut text = String::with_capacity(path.len());
    let end = path.find(['.', ' ']).unwrap_or(path.len());
    let (ty, rest) = match path.find('<') {
        Some(open) if open < end => {
            let mut close = path.len();
            for (index, c) in path.char_indices().skip(open) {
                match c {
                    '<' => depth += 1,
                    '>' => depth = depth.saturating_sub(1),
                    _ => continue,
                }
                if depth == 0 {
                    close = index + 1;
                    break;
                }
            }
            (&path[..open], &path[close..])
        }
        _ => (path, ""),
    };
    text.push_str(ty);
    text.push_str(rest);
    text
}

/// The other types that a site could have.
fn of_site(program: &Program, id: SiteId, site: &Site, types: Types) -> Vec<Change> {
    let mut found = Vec::new();
    let counts = &site.counts;
    let dwell = types == Types::Dwell;
    // A variant that no value has is as large as one that many have.
    let in_enum = matches!(site.edge, Edge::Field(..)) && site.def.is_some_and(|def| program.defs[def].is_enum);
    if matches!(site.edge, Edge::Root | Edge::Pointee | Edge::Inner) {
        return found;
    }
    match site.shape {
        Shape::Text(Holder::Growable) | Shape::Sequence(Holder::Growable, _) => {
            found.push(Change::Exact);
            let is_sized = match site.shape {
                Shape::Sequence(_, element) => program.sites[element].own.size != 0,
                _ => true,
            };
            if dwell && is_sized {
                found.push(Change::Thin);
            }
        }
        Shape::Pointer(Holder::Box, to) if dwell => match program.sites[to].shape {
            Shape::Text(Holder::Unsized) if program.sites[to].ty == "str" => found.push(Change::Thin),
            Shape::Sequence(Holder::Unsized, element) if program.sites[element].own.size != 0 => {
                found.push(Change::Thin);
            }
            _ => {}
        },
        Shape::Map(Holder::Growable | Holder::BTree, ..) if dwell && counts.used / counts.filled.max(1) <= SORTED => {
            found.push(Change::Sorted);
        }
        _ => {}
    }
    let inner = program.without_option(id);
    let is_option = inner != id;
    let is_worth_a_box =
        matches!(program.sites[inner].shape, Shape::Def(_) | Shape::Tuple(_) | Shape::Array(..) | Shape::Map(..));
    let bytes = site.own.size;
    if !is_worth_a_box || bytes <= WORD || matches!(site.edge, Edge::Key | Edge::Optional) {
        return found;
    }
    let is_rare = |filled: u64| {
        u128::from(filled) * u128::from(bytes + BLOCK) < u128::from(counts.slots) * u128::from(bytes - WORD)
    };
    // An element is there by itself: only one that is an `Option` is better held by a pointer that may be none.
    let is_element = matches!(site.edge, Edge::Element | Edge::Array);
    let is_always = !is_option && counts.filled == counts.instances;
    if is_always && !is_element && (in_enum || is_rare(counts.instances)) {
        found.push(Change::BoxedAlways);
    }
    // In an enum all variants may have to change together, those without a value too.
    let is_place = is_option || !is_element && site.edge != Edge::Value;
    if is_place && (in_enum || !is_always && is_rare(counts.filled)) {
        found.push(Change::Boxed);
    }
    let of_inner = &program.sites[inner].counts;
    let told = of_inner.filled.saturating_sub(of_inner.defaults);
    let is_struct = |def: DefId| program.defs[def].is_editable && !program.defs[def].is_enum;
    let is_optional_place = matches!(site.edge, Edge::Field(..) | Edge::Tuple(_) | Edge::Value);
    if dwell
        && is_optional_place
        && matches!(program.sites[inner].shape, Shape::Def(def) if is_struct(def))
        && (in_enum || is_rare(told))
    {
        // An `Option` stays one unless defaults are many: `Sparse` does not tell `None` from `Some` of a default. And a struct
        // that never equals its default may have none.
        if of_inner.defaults != 0 || !is_option && (told < counts.instances || counts.instances == 0) {
            found.insert(0, Change::Sparse);
        }
    }
    found
}
