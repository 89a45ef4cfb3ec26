//! Searches for the changes with the largest savings.
//!
//! The search is lazy greedy (see [`Queue`]). An enum is as large as its largest variant, so a single change may save
//! nothing where several save much. `candidates` groups such changes, and the search evaluates the groups again after
//! each step. When no candidate with a sufficient saving is left, the search evaluates all of them again, since later
//! steps may have increased their savings. Finally it tries to leave out each edit, and each of the first steps, and
//! keeps the result if it is better.

use super::blocks::BLOCK;
use super::known::Tried;
use super::layout::WORD;
use super::plan::{Change, Plan, Sum};
use super::program::{Def, DefId, Edge, Holder, Program, ReprOf, Shape, Site, SiteId};
use super::queue::Queue;
use super::sorted::{Map, Set, sorted};
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::sync::Arc;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// The divisor of the total bytes that gives the least saving of a step: one thousandth.
pub const LEAST: u64 = 1000;
/// The number of groups that the search tries as the first step.
const FIRST: usize = 6;
/// The average number of entries up to which a sorted map is suggested. An insertion into it moves all later entries.
const SORTED: u64 = 1024;

/// One edit of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edit {
    /// Changes the type of a site.
    Site(SiteId, Change),
    /// Moves the fields of a variant into a box.
    Variant(DefId, usize),
    /// Removes `repr(C)` from a struct, so that the compiler orders its fields.
    Reorder(DefId),
}

impl Edit {
    /// Returns the costs of the edit besides bytes, in words.
    pub const fn cost(self) -> &'static str {
        match self {
            Self::Site(_, change) => change.cost(),
            Self::Variant(..) => "an indirection in that variant, and a block for each value of it",
            Self::Reorder(_) => "its layout no longer matches C",
        }
    }
}

/// Edits that belong together, and the bytes before and after them.
#[derive(Clone, Debug)]
pub struct Step {
    /// The edits, all of one kind.
    pub edits: Vec<Edit>,
    /// Bytes and allocations before the step.
    pub before: Sum,
    /// Bytes and allocations after the step.
    pub after: Sum,
    /// Whether `after` is exact.
    pub is_exact: bool,
}

/// The types that may be suggested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Types {
    /// The types of std only.
    Std,
    /// The types of std and of Dwell.
    Dwell,
}

impl Plan<'_> {
    /// Makes an edit unless an edit has already changed its target, and returns whether it did.
    pub fn apply(&mut self, edit: Edit) -> bool {
        match edit {
            Edit::Site(site, change) => {
                let is_new = self.change(site).is_none();
                if is_new {
                    self.set_change(site, Some(change));
                }
                is_new
            }
            Edit::Variant(def, variant) => {
                let is_new = !self.is_boxed(def, variant);
                if is_new {
                    self.set_boxed(def, variant, true);
                }
                is_new
            }
            Edit::Reorder(def) => {
                let is_new = !self.is_reordered(def);
                if is_new {
                    self.set_reordered(def, true);
                }
                is_new
            }
        }
    }

    /// Makes all edits except those with a target that is already changed.
    pub fn apply_all(&mut self, edits: &[Edit]) {
        for &edit in edits {
            self.apply(edit);
        }
    }

    /// Undoes an edit.
    pub fn undo(&mut self, edit: Edit) {
        match edit {
            Edit::Site(site, _) => self.set_change(site, None),
            Edit::Variant(def, variant) => self.set_boxed(def, variant, false),
            Edit::Reorder(def) => self.set_reordered(def, false),
        }
    }

    /// Calls `f` with more edits, which are undone again. Returns also the edits among them that are new.
    pub(super) fn with<R>(&mut self, edits: &[Edit], f: impl FnOnce(&Self) -> R) -> (R, Vec<Edit>) {
        self.begin();
        let new: Vec<Edit> = edits.iter().copied().filter(|&edit| self.apply(edit)).collect();
        let found = f(self);
        for &edit in &new {
            self.undo(edit);
        }
        self.end();
        (found, new)
    }
}

/// Where a greedy search starts: the edits that it makes first, and the candidates that it leaves out.
#[derive(Clone, Debug, Default)]
pub struct Start {
    first: Vec<Edit>,
    banned: Vec<Vec<Edit>>,
}

/// Returns the steps that save most. Each assumes the steps before it.
pub fn search(program: &Program, types: Types) -> Vec<Step> {
    search_with(program, types, |starts, run| starts.iter().map(run).collect())
}

/// See [`search`]. `each` calls a function for each start, on several threads if it can, and returns the results in their order.
pub fn search_with(
    program: &Program,
    types: Types,
    each: impl Fn(&[Start], &(dyn Fn(&Start) -> Vec<Step> + Sync)) -> Vec<Vec<Step>>,
) -> Vec<Step> {
    let search = Search::new(program, types);
    let run = |start: &Start| polished(program, search.greedy(&start.first, &start.banned), search.least);
    // Tries the groups that shrink an enum most as the first step: a single edit that looked better may exclude them.
    let mut plan = Plan::new(program);
    let size = |def: DefId| i128::from(program.defs[def].own.size);
    let mut groups: Vec<(i128, &Arc<[Edit]>)> = Vec::new();
    for (candidate, _) in search.candidates.iter().filter(|(candidate, _)| candidate.edits.len() > 1) {
        let Some(def) = candidate.edits.iter().find_map(|edit| enum_of(program, *edit)) else { continue };
        let (new, _) = plan.with(&candidate.edits, |plan| plan.def(def).size);
        groups.push((i128::from(new) - size(def), &candidate.edits));
    }
    let groups = sorted(groups, &|(a, few), (b, more)| (a, few.len()).cmp(&(b, more.len())));
    let firsts = groups.into_iter().take(FIRST).map(|(_, first)| Start { first: first.to_vec(), banned: Vec::new() });
    let starts: Vec<Start> = [Start::default()].into_iter().chain(firsts).collect();
    let mut best = Vec::new();
    for other in each(&starts, &run) {
        if end(&other) < end(&best) {
            best = other;
        }
    }
    // Tries to leave out each of the first steps: an alternative that it displaced may be better.
    let mut open: Vec<Vec<Edit>> = best.iter().take(4).map(|step| step.edits.clone()).collect();
    let mut banned: Vec<Vec<Edit>> = Vec::new();
    while !open.is_empty() {
        let without = |edits: &Vec<Edit>| banned.iter().chain([edits]).cloned().collect();
        let starts: Vec<Start> = open.iter().map(|edits| Start { first: Vec::new(), banned: without(edits) }).collect();
        let found = each(&starts, &run);
        let is_better = |other: &Vec<Step>| end(other).saturating_add(search.least) < end(&best);
        let Some(better) = found.iter().position(is_better) else { break };
        // The steps behind it are tried again, on top of it.
        open.drain(..=better);
        (best, banned) = (found.into_iter().nth(better).unwrap_or_default(), starts[better].banned.clone());
    }
    best
}

/// Returns the enum whose size an edit changes.
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

/// Returns the steps without the edits that later ones made worthless.
fn polished(program: &Program, steps: Vec<Step>, least: i128) -> Vec<Step> {
    let mut plan = Plan::new(program);
    steps.iter().flat_map(|step| &step.edits).for_each(|&edit| _ = plan.apply(edit));
    let mut best = plan.sum().cost();
    let mut lists: Vec<Vec<Edit>> = Vec::new();
    for step in steps {
        let mut kept = Vec::new();
        for unit in units(program, &step.edits) {
            for &edit in &unit {
                plan.undo(edit);
            }
            let without = plan.sum().cost();
            if without <= best {
                best = without;
            } else {
                plan.apply_all(&unit);
                kept.extend(unit);
            }
        }
        lists.push(kept);
    }
    lists.retain(|edits| !edits.is_empty());
    // Orders the remaining edits by saving, and drops those that save little after the others.
    let candidates = valued(program, lists);
    let instances = Instances::default();
    Search { program, candidates, groups: Vec::new(), instances, types: Types::Std, least }.greedy(&[], &[])
}

fn end(steps: &[Step]) -> i128 {
    steps.last().map_or(i128::MAX, |step| step.after.cost())
}

/// Edits, and what they saved in the last trial.
#[derive(Clone, Debug)]
struct Candidate {
    edits: Arc<[Edit]>,
    last: Option<(Arc<Tried>, i128)>,
}

impl Candidate {
    fn new(edits: Vec<Edit>) -> Self {
        Self { edits: edits.into(), last: None }
    }

    /// Returns the saving against `now`, the sum of `plan`. A trial is made only if a change since the last one matters.
    fn saving(&mut self, plan: &mut Plan<'_>, now: Sum) -> i128 {
        if let Some((_, saves)) = self.last.as_ref().filter(|(tried, _)| plan.is_same(tried)) {
            return *saves;
        }
        let (sum, new) = plan.with(&self.edits, Plan::sum);
        let saves = if new.is_empty() { 0 } else { now.cost() - sum.cost() };
        self.last = Some((Arc::new(plan.tried().clone()), saves));
        saves
    }
}

/// Returns candidates with their savings in the unchanged program.
fn valued(program: &Program, candidates: Vec<Vec<Edit>>) -> Vec<(Candidate, i128)> {
    let mut plan = Plan::new(program);
    let now = plan.sum();
    let valued = candidates.into_iter().map(|edits| {
        let mut candidate = Candidate::new(edits);
        let saves = candidate.saving(&mut plan, now);
        (candidate, saves)
    });
    valued.collect()
}

/// The candidates of a search.
struct Search<'p> {
    program: &'p Program,
    /// The candidates with their savings in the unchanged program. Of equal savings the first wins.
    candidates: Vec<(Candidate, i128)>,
    /// Edits of several fields of an enum, which may save bytes only with boxes for its largest variants.
    groups: Vec<Vec<Edit>>,
    instances: Instances,
    types: Types,
    /// The saving that each step must exceed.
    least: i128,
}

impl<'p> Search<'p> {
    fn new(program: &'p Program, types: Types) -> Self {
        let (mut candidates, groups) = candidates(program, types);
        candidates.extend(with_largest_variants(&mut Plan::new(program), &groups));
        let instances = Instances::new(program);
        let complete = |edits: Vec<Edit>| instances.complete(program, types, edits);
        let candidates: Vec<Vec<Edit>> = candidates.into_iter().filter_map(complete).collect();
        // Of candidates with the same saving, the one with the fewest edits wins.
        let mut candidates = sorted(candidates, &|a, b| (a.len(), a).cmp(&(b.len(), b)));
        candidates.dedup();
        let least = i128::from(Plan::new(program).sum().bytes / LEAST);
        Self { program, candidates: valued(program, candidates), groups, instances, types, least }
    }

    /// Returns the steps that begin with `first`, without the candidates in `banned`.
    fn greedy(&self, first: &[Edit], banned: &[Vec<Edit>]) -> Vec<Step> {
        let least = self.least;
        let mut plan = Plan::new(self.program);
        let mut now = plan.sum();
        let is_allowed = |edits: &[Edit]| !banned.iter().any(|other| other == edits);
        let allowed = self.candidates.iter().filter(|(candidate, _)| is_allowed(&candidate.edits));
        let mut open = Queue::new(allowed.cloned());
        let mut known: Set<Vec<Edit>> = Set::new();
        let mut steps = Vec::new();
        if !first.is_empty() {
            plan.apply_all(first);
            let after = plan.sum();
            steps.push(Step { edits: first.to_vec(), before: now, after, is_exact: plan.is_exact() });
            now = after;
            open.update(|candidate, _| Some(candidate.saving(&mut plan, now)));
        }
        loop {
            while let Some(candidate) = open.pop(least, |candidate| candidate.saving(&mut plan, now)) {
                let edits = pruned(&mut plan, &candidate.edits);
                plan.apply_all(&edits);
                let after = plan.sum();
                steps.push(Step { edits, before: now, after, is_exact: plan.is_exact() });
                now = after;
                // A group may save more than before, since another variant of its enum may have become the largest.
                let is_group = |candidate: &mut Candidate, stale: i128| candidate.edits.len() > 1 && stale > least;
                open.update(|candidate, stale| is_group(candidate, stale).then(|| candidate.saving(&mut plan, now)));
            }
            // After the step, other variants may be the largest.
            for edits in with_largest_variants(&mut plan, &self.groups) {
                let Some(edits) = self.instances.complete(self.program, self.types, edits) else { continue };
                if is_allowed(&edits) && known.insert(edits.clone()) {
                    open.push(Candidate::new(edits), 0);
                }
            }
            open.update(|candidate, _| Some(candidate.saving(&mut plan, now)));
            if open.is_below(least) {
                return steps;
            }
        }
    }
}

/// Returns the edits of a step without those that save nothing.
fn pruned(plan: &mut Plan<'_>, edits: &[Edit]) -> Vec<Edit> {
    let (sum, edits) = plan.with(edits, Plan::sum);
    let mut best = sum.cost();
    let mut units = units(plan.program, &edits);
    let mut index = 0;
    while units.len() > 1 && index < units.len() {
        let mut fewer = units.clone();
        fewer.remove(index);
        let cost = plan.with(&fewer.concat(), Plan::sum).0.cost();
        if cost <= best {
            (best, units) = (cost, fewer);
        } else {
            index += 1;
        }
    }
    units.concat()
}

/// Groups edits that are one change of the source: a field of a generic type is one line in all instances of the type.
fn units(program: &Program, edits: &[Edit]) -> Vec<Vec<Edit>> {
    let mut units: Vec<(String, Vec<Edit>)> = Vec::new();
    for &edit in edits {
        let line = line_of(program, edit);
        match units.iter_mut().find(|(known, _)| *known == line) {
            Some((_, unit)) => unit.push(edit),
            None => units.push((line, vec![edit])),
        }
    }
    units.into_iter().map(|(_, unit)| unit).collect()
}

/// Returns a name for the line of the source that an edit changes.
fn line_of(program: &Program, edit: Edit) -> String {
    match edit {
        Edit::Site(site, _) => without_arguments(&program.sites[site].path),
        Edit::Variant(def, variant) => {
            let def = &program.defs[def];
            format!("{}::{}", without_arguments(&def.name), def.variants[variant].name)
        }
        Edit::Reorder(def) => without_arguments(&program.defs[def].name),
    }
}

/// The instances of generic types and the sites in them, by their lines in the source.
#[derive(Default)]
struct Instances {
    defs: Map<String, Vec<DefId>>,
    sites: Map<String, Vec<SiteId>>,
}

impl Instances {
    fn new(program: &Program) -> Self {
        let mut instances = Self::default();
        for (id, def) in program.defs.iter().enumerate().filter(|(_, def)| def.is_editable && def.name.contains('<')) {
            instances.defs.or_default(without_arguments(&def.name)).push(id);
        }
        instances.defs.retain(|_, defs| defs.len() > 1);
        let is_in = |def: DefId| instances.defs.entries().iter().any(|(_, defs)| defs.contains(&def));
        let generic: Vec<bool> = (0..program.defs.len()).map(is_in).collect();
        for (id, site) in program.sites.iter().enumerate() {
            if site.is_editable && site.def.is_some_and(|def| generic[def]) {
                instances.sites.or_default(without_arguments(&site.path)).push(id);
            }
        }
        instances
    }

    /// Returns the edits together with the same edits of all other instances, or `None` if one of these is impossible.
    fn complete(&self, program: &Program, types: Types, edits: Vec<Edit>) -> Option<Vec<Edit>> {
        let mut all = Vec::with_capacity(edits.len());
        let mut add = |edit: Edit| {
            if !all.contains(&edit) {
                all.push(edit);
            }
        };
        for edit in edits {
            add(edit);
            match edit {
                Edit::Site(site, change) => {
                    let Some(others) = self.sites.get(&line_of(program, edit)) else { continue };
                    for &other in others.iter().filter(|&&other| other != site) {
                        // A box is possible around any type.
                        let is_box = matches!(change, Change::Boxed | Change::BoxedAlways);
                        let is_like = program.sites[other].ty == program.sites[site].ty;
                        let is_possible = is_box
                            || is_like
                            || of_site(program, other, &program.sites[other], types).contains(&change);
                        if !is_possible {
                            return None;
                        }
                        add(Edit::Site(other, change));
                    }
                }
                Edit::Variant(def, variant) => {
                    let others = self.defs.get(&without_arguments(&program.defs[def].name));
                    others.into_iter().flatten().for_each(|&other| add(Edit::Variant(other, variant)));
                }
                Edit::Reorder(def) => {
                    let others = self.defs.get(&without_arguments(&program.defs[def].name));
                    others.into_iter().flatten().for_each(|&other| add(Edit::Reorder(other)));
                }
            }
        }
        Some(all)
    }
}

/// Returns the candidates: single edits, and groups of edits that may save more together. Returns the groups also
/// separately.
fn candidates(program: &Program, types: Types) -> (Vec<Vec<Edit>>, Vec<Vec<Edit>>) {
    let mut alone: Vec<Edit> = Vec::new();
    for (id, site) in program.sites.iter().enumerate().filter(|(_, site)| site.is_editable) {
        alone.extend(of_site(program, id, site, types).into_iter().map(|change| Edit::Site(id, change)));
    }
    let mut found: Vec<Vec<Edit>> = Vec::new();
    // Groups fields of one type in the same struct or enum, and fields of one name in all variants.
    let mut by_type: Map<(DefId, Change, String), Vec<Edit>> = Map::new();
    let mut by_name: Map<(DefId, Change, String), Vec<Edit>> = Map::new();
    for &edit in &alone {
        let Edit::Site(id, change) = edit else { continue };
        let site = &program.sites[id];
        if let (Edge::Field(variant, field), Some(def)) = (site.edge, site.def) {
            by_type.or_default((def, change, site.ty.clone())).push(edit);
            let name = program.defs[def].variants[variant].fields[field].name.clone();
            by_name.or_default((def, change, name)).push(edit);
        } else if let Some(def) = site.def {
            by_type.or_default((def, change, site.ty.clone())).push(edit);
        }
    }
    // The single edits, in the order of the program.
    for &edit in &alone {
        let Edit::Site(id, change) = edit else { continue };
        let site = &program.sites[id];
        // Boxing the only field of a variant is the same as boxing the variant.
        let is_alone = match (site.edge, site.def) {
            (Edge::Field(variant, _), Some(def)) => {
                program.defs[def].is_enum && program.defs[def].variants[variant].fields.len() == 1
            }
            _ => false,
        };
        if !(is_alone && matches!(change, Change::Boxed | Change::BoxedAlways)) {
            found.push(vec![edit]);
        }
    }
    let groups = by_type.into_entries().into_iter().chain(by_name.into_entries()).map(|(_, edits)| edits);
    let groups: Vec<Vec<Edit>> = groups.filter(|edits| edits.len() > 1).collect();
    found.extend(groups.iter().cloned());
    let is_c = |(_, def): &(DefId, &Def)| def.is_editable && !def.is_enum && def.repr == ReprOf::C;
    found.extend(program.defs.iter().enumerate().filter(is_c).map(|(id, _)| vec![Edit::Reorder(id)]));
    (found, groups)
}

/// Returns boxes for the largest variants of each enum, alone and with each group of edits of its fields.
fn with_largest_variants(plan: &mut Plan<'_>, groups: &[Vec<Edit>]) -> Vec<Vec<Edit>> {
    let program = plan.program;
    let mut found = Vec::new();
    let mut with = |plan: &Plan<'_>, def: DefId, most: usize, edits: &[Edit]| {
        // An enum is as large as its largest variant, so the candidates are the largest variant, the two largest, and
        // so on.
        let largest = plan.largest_variants(def, WORD);
        for many in 1..=largest.len().min(most) {
            let boxed = largest[..many].iter().map(|&variant| Edit::Variant(def, variant));
            found.push(edits.iter().copied().chain(boxed).collect());
        }
    };
    for edits in groups {
        let Some(&Edit::Site(first, Change::Boxed | Change::BoxedAlways | Change::Sparse)) = edits.first() else {
            continue;
        };
        let Some(def) = program.sites[first].def.filter(|&def| program.defs[def].is_enum) else { continue };
        plan.with(edits, |plan| with(plan, def, 4, edits));
    }
    for (id, _) in program.defs.iter().enumerate().filter(|(_, def)| def.is_editable && def.is_enum) {
        with(plan, id, 16, &[]);
    }
    found
}

/// Removes the arguments of the type at the beginning of a path: `Page.title` for `Page<u8>.title`.
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

/// Returns the possible changes of a site's type.
fn of_site(program: &Program, id: SiteId, site: &Site, types: Types) -> Vec<Change> {
    let mut found = Vec::new();
    let counts = &site.counts;
    let dwell = types == Types::Dwell;
    // A variant without values affects the size of the enum as much as a frequent one.
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
        u128::from(filled) * u128::from(bytes.saturating_add(BLOCK))
            < u128::from(counts.slots) * u128::from(bytes - WORD)
    };
    // An element is always present, so a pointer that may be null saves bytes only if the element is an `Option`.
    let is_element = matches!(site.edge, Edge::Element | Edge::Array);
    let is_always = !is_option && counts.filled == counts.instances;
    if is_always && !is_element && (in_enum || is_rare(counts.instances)) {
        found.push(Change::BoxedAlways);
    }
    // In an enum all variants may have to change together, including those without values.
    let is_slot = is_option || !is_element && site.edge != Edge::Value;
    if is_slot && (in_enum || !is_always && is_rare(counts.filled)) {
        found.push(Change::Boxed);
    }
    let of_inner = &program.sites[inner].counts;
    let non_default = of_inner.filled.saturating_sub(of_inner.defaults);
    let has_default = |def: DefId| {
        let def = &program.defs[def];
        def.is_editable && def.is_shareable && !def.is_enum
    };
    let is_optional_slot = matches!(site.edge, Edge::Field(..) | Edge::Tuple(_) | Edge::Value);
    if dwell
        && is_optional_slot
        && matches!(program.sites[inner].shape, Shape::Def(def) if has_default(def))
        && (in_enum || is_rare(non_default))
    {
        // An `Option` becomes `Sparse` only if some values equal the default: `Sparse` does not distinguish `None` from
        // `Some` of a default. If one in twenty does not, a box serves as well, and a struct that never equals its default, or has no
        // values, may not even implement `Default`.
        let are_others = of_inner.defaults.saturating_mul(20) < of_inner.filled;
        if !are_others && (of_inner.defaults != 0 || !is_option && non_default < counts.instances) {
            found.insert(0, Change::Sparse);
        }
    }
    found
}
