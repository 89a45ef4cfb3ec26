//! Suggestions that make a future smaller, with their savings.
//!
//! A box moves bytes to the heap at each call, so by itself it saves nothing. A suggestion is shown if it saves bytes in
//! all: it needs no allocation, or the box replaces several copies of one future, or it is for a rare branch of a
//! long-lived task.

use super::finder::Finder;
use super::size::{Change, Graph, Sizes, coroutines_in, values_in};
use super::source::Files;
use crate::debuginfo::{Kind, Program, Source, TypeId};
use crate::layout::{Places, Rank};
use crate::units::count;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// An argument or variable takes bytes twice: its own, and those of the local that it is moved into.
    HeldTwice,
    /// An argument takes bytes in the future although no `.await` holds it.
    UnusedArgument,
    /// A local is not used after an `.await` and could be dropped before it.
    DropBeforeAwait,
    /// A function only awaits another, and could return its future.
    ReturnFuture,
    /// A future in a variable is moved into an `.await` or another future.
    PinFuture,
    /// Functions pass a future on by value, and each has a copy.
    BoxArgument,
    /// A branch awaits a large future.
    BoxFuture,
    /// A large value is held across an `.await`.
    BoxValue,
}

/// A change that makes a future smaller.
#[derive(Clone, Debug)]
pub(super) struct Suggestion {
    pub(super) problem: Problem,
    pub(super) what: String,
    pub(super) how: String,
    pub(super) at: Option<Source>,
    pub(super) change: Change,
    /// The futures that become smaller with their savings, including the changed one.
    pub(super) saves: HashMap<TypeId, u64>,
    /// The bytes that each call allocates on the heap.
    pub(super) heap: u64,
    /// Another change of the same place, and its bytes on the heap.
    pub(super) other: Option<(Change, u64)>,
    /// Whether it is for a branch inside of a loop.
    pub(super) is_branch: bool,
    /// How many values of the future the program may have.
    pub(super) rank: Rank,
    /// Whether the report shows it.
    pub(super) is_shown: bool,
}

impl Suggestion {
    pub(super) fn new(problem: Problem, what: String, how: String, change: Change) -> Self {
        Self {
            problem,
            what,
            how,
            at: None,
            change,
            saves: HashMap::new(),
            heap: 0,
            other: None,
            is_branch: false,
            rank: Rank::Once,
            is_shown: false,
        }
    }

    /// Returns the number of bytes that the changed future itself saves.
    pub(super) fn own_saving(&self) -> u64 {
        self.saves.get(&self.change.coroutine).copied().unwrap_or(0)
    }

    /// Returns the bytes that the change saves in all.
    fn net(&self) -> u64 {
        self.own_saving().saturating_sub(self.heap)
    }

    /// Returns `true` if the change saves bytes, and enough of them.
    fn is_worth_it(&self, size: u64) -> bool {
        let least = LEAST.max(size / 8);
        match self.problem {
            Problem::BoxFuture => {
                self.is_branch && self.change.edits.len() == 1 && self.own_saving() >= LARGE_BRANCH.max(size / 4)
            }
            // So much overflows stacks on its way to the heap.
            Problem::BoxValue => self.heap >= OVERFLOWS && self.heap >= size / 2,
            // The box goes around the argument at the call, where `BoxArgument` names it.
            Problem::HeldTwice if self.heap > 0 => false,
            // These make the code longer.
            Problem::HeldTwice | Problem::UnusedArgument => self.net() >= LARGE_ARGUMENT.max(size / 4),
            _ => self.net() >= least,
        }
    }
}

/// The least size in bytes of a value for which a box is suggested.
pub(super) const WORTH_A_BOX: u64 = 128;
/// The least saving in bytes that is shown.
const LEAST: u64 = 128;
/// The least saving of a change of a function's arguments.
const LARGE_ARGUMENT: u64 = 256;
/// The least saving of a box in a branch of a loop.
const LARGE_BRANCH: u64 = 1024;
/// The size from which clippy's `large_futures` warns.
const OVERFLOWS: u64 = 16 << 10;
/// The number of futures that are followed through the functions that they are passed to.
const PASSED: usize = 300;

/// The number of futures that may make one of these and are examined.
const MAKERS: usize = 64;

/// Returns all suggestions for these futures: those that are shown first, and the largest saving first.
pub(super) fn suggest(program: &Program, graph: &Graph, futures: &[TypeId], files: &mut Files) -> Vec<Suggestion> {
    let places = Places::new(program);
    let mut all: Vec<Suggestion> = Vec::new();
    for &id in futures {
        let of = program.get(id);
        let (Kind::Coroutine(coroutine), Some(parts)) = (&of.kind, graph.parts.get(&id)) else { continue };
        let mut found = Finder { program, graph, id, of, coroutine, parts, files, found: Vec::new() };
        found.held_twice();
        found.unused_arguments();
        found.drop_before_await();
        found.only_awaits();
        found.pins();
        found.box_futures();
        found.box_values();
        for mut suggestion in found.found {
            suggestion.saves = savings(program, graph, &suggestion.change, futures);
            // Boxing a further branch must save enough by itself.
            let boxed = |other: &&Suggestion| {
                other.change.coroutine == id
                    && other.problem == Problem::BoxFuture
                    && other.change.replaced.is_empty()
                    && other.change.edits.iter().all(|edit| suggestion.change.edits.iter().any(|of| of.of == edit.of))
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
    passed_on(program, graph, futures, &mut all);
    let mut ranks: HashMap<TypeId, Rank> = HashMap::new();
    for of in &mut all {
        let id = of.change.coroutine;
        of.rank = *ranks.entry(id).or_insert_with(|| places.rank(program, id));
        of.is_shown = of.is_worth_it(program.size_of(id));
    }
    // A generic function has several futures but one source: report the largest saving.
    all.sort_by(|a, b| {
        let order = |of: &Suggestion| (of.is_shown, if of.is_shown { of.net() } else { 0 }, of.own_saving());
        order(b).cmp(&order(a)).then_with(|| a.what.cmp(&b.what))
    });
    all
}

/// Returns the savings of a change, by future.
fn savings(program: &Program, graph: &Graph, change: &Change, futures: &[TypeId]) -> HashMap<TypeId, u64> {
    let within = change.within(graph);
    let mut sizes = Sizes::new(program, graph, change, &within);
    let saved = |&future: &TypeId| Some((future, program.size_of(future).checked_sub(sizes.of(future))?));
    let shrunk = futures.iter().filter(|future| within.contains(future)).filter_map(saved);
    shrunk.filter(|&(_, bytes)| bytes > 0).collect()
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
    for of in passed {
        let inner = program.get(of);
        let replaced = HashMap::from([(of, (pointer, pointer))]);
        let within = graph.within(of);
        let is_maker =
            |id: &&TypeId| **id != of && within.contains(id) && !program.get(**id).path.contains(&*inner.path);
        let mut makers: Vec<TypeId> = futures.iter().filter(is_maker).copied().collect();
        makers.sort_by_key(|id| (program.size_of(*id), *id));
        for id in makers.into_iter().take(MAKERS) {
            let change = Change { replaced: replaced.clone(), ..Change::new(id, Vec::new()) };
            let saves = savings(program, graph, &change, futures);
            let values = values_in(program, graph, id, of, 32).max(1);
            let heap = inner.size.saturating_mul(values);
            let own = saves.get(&id).copied().unwrap_or(0);
            if own.saturating_sub(heap) < LEAST.max(program.size_of(id) / 8) {
                continue;
            }
            // `pin!` needs no allocation.
            let is_pinned = |known: &Suggestion| {
                known.problem == Problem::PinFuture
                    && known.change.coroutine == id
                    && known.other.as_ref().is_some_and(|(other, _)| other.replaced.contains_key(&of))
            };
            if all.iter().any(is_pinned) {
                continue;
            }
            let (wrapper, at) = place(program, id, of);
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
fn place(program: &Program, id: TypeId, of: TypeId) -> (String, Option<Source>) {
    let Kind::Coroutine(coroutine) = &program.get(id).kind else { return (String::new(), None) };
    let path = &program.get(of).path;
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
