//! Suggestions that make a future smaller, with their savings.
//!
//! A box moves bytes to the heap at each call, so by itself it saves nothing. A suggestion is shown if it saves bytes in
//! all: it needs no allocation, or the box replaces several copies of one future, or it is for a rare branch of a
//! long-lived task.

use super::edits::edits;
use super::finder::{Finder, lines};
use super::size::{Change, Graph, Parts, Sizes, coroutines_in, values_in};
use super::source::Files;
use super::suggestion::{LEAST, Problem, Suggestion, WORTH_A_BOX};
use crate::layout::Places;
use crate::rank::Rank;
use dwell_debuginfo::{Kind, Program, Source, State, TypeId};
use dwell_output::units::count;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The number of futures that are followed through the functions that they are passed to.
const PASSED: usize = 300;

/// The number of places in the source whose changes are computed together.
const PLACES: usize = 300;

/// The number of futures that may make one of these and are examined.
const MAKERS: usize = 64;

/// Returns all suggestions for these futures: those that are shown first, and the largest saving first.
pub(super) fn suggest(program: &Program, graph: &Graph, futures: &[TypeId], files: &mut Files) -> Vec<Suggestion> {
    let places = Places::new(program);
    let allocates = crate::layout::allocates(program);
    let mut all: Vec<Suggestion> = Vec::new();
    for &id in futures {
        let ty = program.get(id);
        let (Kind::Coroutine(coroutine), Some(parts)) = (&ty.kind, graph.parts.get(&id)) else { continue };
        let mut found = Finder { program, graph, id, ty, coroutine, parts, files, found: Vec::new() };
        found.held_twice();
        found.unused_arguments();
        found.drop_before_await();
        found.only_awaits();
        found.pins();
        found.box_futures();
        found.box_values();
        for mut suggestion in found.found {
            if !allocates {
                suggestion.other = None;
                if suggestion.heap > 0 {
                    continue;
                }
            }
            suggestion.saves = savings(program, graph, &suggestion.change, futures);
            // Boxing a further branch must save enough by itself.
            let boxed = |other: &&Suggestion| {
                other.change.coroutine == id
                    && other.problem == Problem::BoxFuture
                    && other.change.replaced.is_empty()
                    && other
                        .change
                        .edits
                        .iter()
                        .all(|edit| suggestion.change.edits.iter().any(|known| known.part == edit.part))
            };
            let is_box = suggestion.problem == Problem::BoxFuture && suggestion.change.replaced.is_empty();
            let fewer = all.iter().filter(boxed).map(Suggestion::own_saving).max().unwrap_or(0);
            let least = if is_box { fewer + fewer / 8 } else { 0 };
            if suggestion.own_saving() <= least {
                continue;
            }
            if let Some((change, heap)) = &suggestion.other {
                let saves = savings(program, graph, change, &[id]).get(&id).copied().unwrap_or(0);
                if saves > suggestion.own_saving() {
                    suggestion.how = format!(
                        "{}. With `Box::pin(..)` instead it saves {}, and each call has {} on the heap",
                        suggestion.how,
                        count(saves),
                        count(*heap)
                    );
                }
            }
            all.push(suggestion);
        }
    }
    if allocates {
        passed_on(program, graph, futures, &mut all);
    }
    let mut ranks: HashMap<TypeId, Rank> = HashMap::new();
    let inside = inside_others(program, graph);
    let mut branches: HashMap<TypeId, bool> = HashMap::new();
    for suggestion in &mut all {
        let id = suggestion.change.coroutine;
        suggestion.rank = *ranks.entry(id).or_insert_with(|| places.rank(program, id));
        // A type that is replaced may be in other futures too.
        let around = graph.within(id);
        let is_outer =
            |(id, _): &(&TypeId, &u64)| around.contains(*id) && (!inside.contains(*id) || places.is_on_heap(**id));
        let outermost = suggestion.saves.iter().filter(is_outer).max_by_key(|(id, saves)| (**saves, Reverse(**id)));
        suggestion.outermost = outermost.map(|(id, saves)| (*id, *saves));
        // A value is in the branch of an outer future; the `.await` of a future may be in a branch itself.
        suggestion.is_partial |= *branches.entry(id).or_insert_with(|| is_in_branch(program, graph, id, files));
        let outer = suggestion.outermost.map_or(0, |(id, _)| program.size_of(id));
        suggestion.is_shown = suggestion.is_worth_it(program.size_of(id), outer);
        suggestion.edits = edits(program, graph, suggestion, files);
    }
    only_at_source(program, graph, &mut all);
    let is_outer = |id: &TypeId| graph.parts.contains_key(id) && (!inside.contains(id) || places.is_on_heap(*id));
    let outer: Vec<TypeId> = futures.iter().copied().filter(is_outer).collect();
    one_after_another(program, graph, &outer, &mut all);
    // A generic function has several futures but one source: report the largest saving.
    all.sort_by(|a, b| {
        let order = |suggestion: &Suggestion| (suggestion.is_shown, suggestion.together, suggestion.own_saving());
        order(b).cmp(&order(a)).then_with(|| a.what.cmp(&b.what))
    });
    all
}

/// Returns the futures that other futures have in them.
fn inside_others(program: &Program, graph: &Graph) -> HashSet<TypeId> {
    let parts = |parts: &Parts| {
        let captures = parts.captures.iter().map(|capture| capture.field.ty);
        captures.chain(parts.locals.iter().map(|local| local.field.ty)).collect::<HashSet<_>>()
    };
    graph.parts.values().flat_map(parts).flat_map(|ty| coroutines_in(program, ty)).collect()
}

/// Returns `true` if only a branch of the futures around this one awaits it.
fn is_in_branch(program: &Program, graph: &Graph, id: TypeId, files: &mut Files) -> bool {
    let within = graph.within(id);
    let mut outer: Vec<TypeId> =
        within.into_iter().filter(|holder| *holder != id && graph.parts.contains_key(holder)).collect();
    outer.sort_unstable();
    outer.truncate(MAKERS);
    outer.into_iter().any(|outer| {
        let ty = program.get(outer);
        let Kind::Coroutine(coroutine) = &ty.kind else { return false };
        let Some(lines) = lines(ty, coroutine).filter(|_| files.may_read(ty)) else { return false };
        let awaits = |state: &&State| state.awaited.as_ref().is_some_and(|field| has(program, graph, field.ty, id));
        let mut awaits = coroutine.states.iter().filter(awaits).filter_map(|state| state.source.as_ref()).peekable();
        awaits.peek().is_some() && awaits.all(|at| files.is_branch(at, lines))
    })
}

/// Returns `true` if a value of type `outer` has the future `id` in it.
fn has(program: &Program, graph: &Graph, outer: TypeId, id: TypeId) -> bool {
    program.size_of(outer) >= program.size_of(id) && graph.within(id).contains(&outer)
}

/// Of a large value and the futures around it, only the value gets its box: there the bytes come from.
fn only_at_source(program: &Program, graph: &Graph, all: &mut [Suggestion]) {
    let values: Vec<(TypeId, u64)> = all
        .iter()
        .filter(|suggestion| suggestion.is_shown && suggestion.problem == Problem::BoxValue)
        .map(|suggestion| (suggestion.change.coroutine, suggestion.reach()))
        .collect();
    for suggestion in all.iter_mut().filter(|suggestion| suggestion.problem == Problem::BoxFuture) {
        let is_same = |(inner, reach): &(TypeId, u64)| {
            has(program, graph, suggestion.change.coroutine, *inner)
                && reach.saturating_mul(10) >= suggestion.reach().saturating_mul(9)
        };
        if values.iter().any(is_same) {
            suggestion.is_shown = false;
        }
    }
}

/// Makes the changes one after another, those that need no heap first: each byte is saved once, by the first change that saves it. What
/// then saves too little is not shown. `outer` are the futures around all others.
fn one_after_another(program: &Program, graph: &Graph, outer: &[TypeId], all: &mut [Suggestion]) {
    let mut by_place: HashMap<_, Vec<usize>> = HashMap::new();
    for (index, suggestion) in all.iter().enumerate().filter(|(_, suggestion)| suggestion.is_shown) {
        by_place.entry(suggestion.place()).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = by_place.into_values().collect();
    let heap = |group: &[usize], all: &[Suggestion]| {
        group.iter().map(|&index| if all[index].is_box() { 0 } else { all[index].heap }).max().unwrap_or(0)
    };
    groups.sort_by_cached_key(|group| {
        let first = &all[group[0]];
        let best = group.iter().map(|&index| all[index].reach()).max().unwrap_or(0);
        (first.is_box(), Reverse(best.saturating_sub(heap(group, all))), first.what.clone(), first.line())
    });
    for index in groups.split_off(PLACES.min(groups.len())).into_iter().flatten() {
        all[index].is_shown = false;
    }
    let mut made: Vec<usize> = Vec::new();
    let mut made_sizes: HashMap<TypeId, (u64, u64)> = HashMap::new();
    let mut known: HashMap<TypeId, u64> = HashMap::new();
    for group in groups {
        let changes: Vec<&Change> = made.iter().chain(&group).map(|&index| &all[index].change).collect();
        // Only the futures around this change become smaller by it.
        let around: HashSet<TypeId> =
            group.iter().flat_map(|&index| graph.within(all[index].change.coroutine)).collect();
        let mut resolved = made_sizes.clone();
        let after = sizes_after(program, graph, &changes, &around, &mut resolved, outer);
        let before = |id: TypeId| known.get(&id).copied().unwrap_or_else(|| program.size_of(id));
        let heap = heap(&group, all);
        // Each outermost future that becomes smaller makes its own boxes.
        let saved = after.iter().map(|(id, size)| before(*id).saturating_sub(*size).saturating_sub(heap));
        let saved = saved.fold(0, u64::saturating_add);
        let alone = group.iter().map(|&index| all[index].reach()).max().unwrap_or(0);
        let is_enough = saved >= LEAST.max(if all[group[0]].is_box() { alone / 4 } else { 0 });
        for &index in &group {
            all[index].together = saved;
            all[index].is_shown = is_enough;
        }
        if is_enough {
            known.extend(after);
            made.extend(group);
            made_sizes = resolved;
        }
    }
}

/// Returns the sizes of those of some futures that are around changed ones. `resolved` gets the sizes of the changed ones, with their
/// alignment; those that are not in `around` it has already.
///
/// A box around a future's argument is made in the changed future: elsewhere the argument's type is as large as before.
fn sizes_after(
    program: &Program,
    graph: &Graph,
    changes: &[&Change],
    around: &HashSet<TypeId>,
    resolved: &mut HashMap<TypeId, (u64, u64)>,
    futures: &[TypeId],
) -> Vec<(TypeId, u64)> {
    let mut ids: Vec<TypeId> = changes.iter().map(|change| change.coroutine).filter(|id| around.contains(id)).collect();
    ids.sort_unstable_by_key(|id| (program.size_of(*id), *id));
    ids.dedup();
    for id in &ids {
        resolved.remove(id);
    }
    for id in ids {
        let inside = Change { replaced: resolved.clone(), ..Change::new(id, Vec::new()) };
        let of_this = changes.iter().copied().filter(|change| change.coroutine == id);
        let own: Vec<&Change> = of_this.chain([&inside]).collect();
        let within = own.iter().flat_map(|change| change.within(graph)).collect();
        let size = Sizes::new(program, graph, &own, &within).size_of(id);
        resolved.insert(id, (size, program.get(id).align));
    }
    let Some(first) = changes.first() else { return Vec::new() };
    let all = Change { replaced: resolved.clone(), ..Change::new(first.coroutine, Vec::new()) };
    let (within, all) = (all.within(graph), [&all]);
    let mut sizes = Sizes::new(program, graph, &all, &within);
    futures.iter().filter(|id| around.contains(id)).map(|id| (*id, sizes.size_of(*id))).collect()
}

/// Returns the savings of a change, by future.
fn savings(program: &Program, graph: &Graph, change: &Change, futures: &[TypeId]) -> HashMap<TypeId, u64> {
    let around = graph.within(change.coroutine);
    let after = sizes_after(program, graph, &[change], &around, &mut HashMap::new(), futures);
    let saved = after.into_iter().filter_map(|(id, size)| Some((id, program.size_of(id).checked_sub(size)?)));
    saved.filter(|&(_, bytes)| bytes > 0).collect()
}

/// Finds futures that functions take by value and hold several times, and suggests a box where the future is made: in
/// the innermost future that contains the copies and is not generic over it.
fn passed_on(program: &Program, graph: &Graph, futures: &[TypeId], all: &mut Vec<Suggestion>) {
    let pointer = program.pointer_size;
    let mut passed: Vec<TypeId> = graph
        .parts
        .values()
        .flat_map(|parts| &parts.captures)
        .flat_map(|capture| coroutines_in(program, capture.field.ty))
        .collect::<HashSet<_>>()
        .into_iter()
        .filter(|id| program.size_of(*id) >= WORTH_A_BOX)
        .collect();
    passed.sort_by_key(|id| (std::cmp::Reverse(program.size_of(*id)), *id));
    passed.truncate(PASSED);
    for future in passed {
        let inner = program.get(future);
        let replaced = HashMap::from([(future, (pointer, pointer))]);
        let within = graph.within(future);
        let is_maker =
            |id: &&TypeId| **id != future && within.contains(id) && !program.get(**id).path.contains(&*inner.path);
        let mut makers: Vec<TypeId> = futures.iter().filter(is_maker).copied().collect();
        makers.sort_by_key(|id| (program.size_of(*id), *id));
        for id in makers.into_iter().take(MAKERS) {
            let change = Change { replaced: replaced.clone(), ..Change::new(id, Vec::new()) };
            let saves = savings(program, graph, &change, futures);
            let values = values_in(program, graph, id, future, 32).max(1);
            let heap = inner.size.saturating_mul(values);
            let own = saves.get(&id).copied().unwrap_or(0);
            if own.saturating_sub(heap) < LEAST.max(program.size_of(id) / 8) {
                continue;
            }
            // `pin!` needs no allocation.
            let is_pinned = |known: &Suggestion| {
                known.problem == Problem::PinFuture
                    && known.change.coroutine == id
                    && known.other.as_ref().is_some_and(|(other, _)| other.replaced.contains_key(&future))
            };
            if all.iter().any(is_pinned) {
                continue;
            }
            let (wrapper, at) = place(program, id, future);
            let what = format!(
                "has {} bytes of copies of `{}` ({} bytes), which `{wrapper}` takes by value and moves",
                count(own.saturating_add(pointer)),
                inner.name,
                count(inner.size),
            );
            let how = "`Box::pin(..)` around that argument, at the call".to_owned();
            let mut one = Suggestion::new(Problem::BoxArgument, what, how, change);
            (one.saves, one.heap) = (saves, heap);
            one.at = at.or_else(|| program.get(id).source.clone());
            all.push(one);
            break;
        }
    }
}

/// Returns the name of the value in a future that holds most copies of another future, and the line that awaits it.
fn place(program: &Program, id: TypeId, inner: TypeId) -> (String, Option<Source>) {
    let Kind::Coroutine(coroutine) = &program.get(id).kind else { return (String::new(), None) };
    let path = &program.get(inner).path;
    let mut best: Option<(u64, String, Option<Source>)> = None;
    for state in coroutine.states.iter().filter(|state| state.is_suspended()) {
        for field in state.held.iter().chain(&state.awaited) {
            let ty = program.get(field.ty);
            if ty.path.contains(&**path) && best.as_ref().is_none_or(|(size, ..)| *size < ty.size) {
                best = Some((ty.size, ty.name.to_string(), state.source.clone()));
            }
        }
    }
    best.map_or_else(|| (program.get(id).name.to_string(), None), |(_, name, at)| (name, at))
}
