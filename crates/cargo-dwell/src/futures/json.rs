//! Futures as JSON, with the fields that `docs/json-output.md` documents.

use super::size::{AWAITED, Graph, coroutines_in, key, locals, total};
use super::suggestion::{Problem, Suggestion};
use crate::rank::Rank;
use dwell_debuginfo::{Coroutine, Field, Flavour, Kind, Program, TypeId};
use dwell_source::Edit;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// An `async fn`, block or closure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Future {
    /// The short name.
    pub name: String,
    /// The full path.
    pub path: String,
    /// `async fn`, `async block` or `async closure`.
    pub kind: String,
    /// The `async fn` itself, or the function that contains the block or closure.
    pub function: String,
    /// The position of its declaration.
    pub file: Option<String>,
    /// The position of its declaration.
    pub line: Option<u32>,
    /// The size in bytes.
    pub size: u64,
    /// The alignment in bytes.
    pub align: u64,
    /// Arguments and captured variables.
    #[serde(default)]
    pub captures: Vec<Held>,
    /// The `.await`s, in the order of the source.
    pub awaits: Vec<Await>,
    /// The futures that it contains.
    #[serde(default)]
    pub tree: Vec<Node>,
    /// Suggestions, largest saving first.
    #[serde(default)]
    pub suggestions: Vec<Advice>,
}

/// An `.await`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Await {
    /// The position of the `.await`.
    pub file: Option<String>,
    /// The position of the `.await`.
    pub line: Option<u32>,
    /// The awaited future.
    #[serde(default)]
    pub awaited: Option<Held>,
    /// The sum of the held values in bytes.
    #[serde(default)]
    pub held_size: u64,
    /// The values held across it.
    pub held: Vec<Held>,
}

/// A value in a future.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// The variable; `__awaitee` for the awaited future, `__0` and so on for temporaries.
    pub name: String,
    /// The short name of its type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The size in bytes.
    pub size: u64,
    /// The offset in the future, in bytes.
    #[serde(default)]
    pub offset: u64,
    /// The file that declares it.
    #[serde(default)]
    pub file: Option<String>,
    /// The line that declares it.
    #[serde(default)]
    pub line: Option<u32>,
}

/// A future inside another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The short name of its type.
    pub name: String,
    /// The variable that holds it; `__awaitee` for the awaited future.
    pub variable: String,
    /// The position of its declaration, for an `async` function, block or closure.
    pub file: Option<String>,
    /// The position of its declaration, for an `async` function, block or closure.
    pub line: Option<u32>,
    /// The lines of the `.await`s that await or hold it.
    pub lines: Vec<u32>,
    /// The size in bytes.
    pub size: u64,
    /// Whether its children are listed only at its first occurrence.
    #[serde(default)]
    pub repeated: bool,
    /// The futures that it contains, largest first.
    pub children: Vec<Node>,
}

/// A change that makes a future smaller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// The kind of the problem.
    pub kind: Problem,
    /// The future to change.
    pub future: String,
    /// The position of the code to change.
    pub file: Option<String>,
    /// The position of the code to change.
    pub line: Option<u32>,
    /// The problem, as text.
    pub what: String,
    /// The change, as text.
    pub how: String,
    /// The bytes saved in the future that lists the suggestion.
    pub saves: u64,
    /// The bytes saved in the future to change.
    #[serde(default)]
    pub saves_in_future: u64,
    /// The size of the future to change.
    #[serde(default)]
    pub future_size: u64,
    /// The bytes that each call allocates on the heap.
    #[serde(default)]
    pub heap: u64,
    /// The outermost future that becomes smaller by the most bytes.
    #[serde(default)]
    pub outermost: Option<String>,
    /// The bytes that it saves.
    #[serde(default)]
    pub saves_in_outermost: u64,
    /// The bytes that all outermost futures save by the change at this place, in all instances of a generic function: after
    /// the changes that save more, and less those on the heap. A box for a branch that few calls come to costs none here.
    #[serde(default)]
    pub saves_together: u64,
    /// How many values of the future to change the program may have.
    #[serde(default)]
    pub rank: Rank,
    /// Whether the report shows it: it saves bytes in all, not only in the future.
    #[serde(default)]
    pub shown: bool,
    /// The change of the source, if it shows the place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

impl Advice {
    /// Returns `true` if the future to change is in `main`, which runs once.
    pub(super) fn is_in_main(&self) -> bool {
        let name = self.future.trim_start_matches('{').trim_end_matches('}');
        name == "async fn main" || name.starts_with("async block in main:")
    }
}

/// The maximum number of suggestions for one future.
const SUGGESTIONS: usize = 10;

/// The maximum number of nodes of a tree.
const NODES: usize = 400;

impl Future {
    pub(super) fn new(program: &Program, graph: &Graph, id: TypeId, all: &[Suggestion]) -> Option<Self> {
        let ty = program.get(id);
        let Kind::Coroutine(coroutine) = &ty.kind else { return None };
        let file = ty.source.as_ref().map(|source| source.file.to_string());
        let held = |field: &Field| Held {
            name: field.name.to_string(),
            type_name: program.get(field.ty).name.to_string(),
            size: program.size_of(field.ty),
            offset: field.offset,
            file: file.clone().filter(|_| field.line.is_some()),
            line: field.line,
        };
        let parts = graph.parts.get(&id)?;
        let unmoved = parts.captures.iter().filter(|capture| !capture.moved);
        let unmoved: Vec<&Field> = unmoved.map(|capture| &capture.field).collect();
        let suspended = coroutine.states.iter().filter(|state| state.is_suspended());
        let awaits = suspended.map(|state| {
            let fields = locals(coroutine, state).into_iter().chain(unmoved.iter().copied());
            let mut held: Vec<Held> = fields.map(held).collect();
            // Zero-size values take no bytes.
            held.retain(|held| held.size > 0);
            held.sort_by(|a, b| b.size.cmp(&a.size).then(a.offset.cmp(&b.offset)));
            Await {
                file: state.source.as_ref().map(|source| source.file.to_string()),
                line: state.source.as_ref().map(|source| source.line),
                awaited: state.awaited.as_ref().map(|field| Held {
                    name: field.name.to_string(),
                    type_name: program.get(field.ty).name.to_string(),
                    size: program.size_of(field.ty),
                    offset: field.offset,
                    file: None,
                    line: None,
                }),
                held_size: total(held.iter().map(|held| held.size)),
                held,
            }
        });
        let mut awaits: Vec<Await> = awaits.collect();
        awaits.sort_by_key(|point| point.line);
        let mut suggestions: Vec<Advice> = all
            .iter()
            .filter_map(|suggestion| {
                let saves = *suggestion.saves.get(&id)?;
                Some(Advice {
                    kind: suggestion.problem,
                    future: program.get(suggestion.change.coroutine).name.to_string(),
                    file: suggestion.file(),
                    line: suggestion.line(),
                    what: suggestion.what.clone(),
                    how: suggestion.how.clone(),
                    saves,
                    saves_in_future: suggestion.own_saving(),
                    future_size: program.size_of(suggestion.change.coroutine),
                    heap: suggestion.heap,
                    outermost: suggestion.outermost.map(|(id, _)| program.get(id).name.to_string()),
                    saves_in_outermost: suggestion.reach(),
                    saves_together: suggestion.together,
                    rank: suggestion.rank,
                    shown: suggestion.is_shown,
                    edits: suggestion.edits.clone(),
                })
            })
            .collect();
        // For equal savings, changes of the future itself come before those of an inner future.
        suggestions.sort_by_key(|advice| (!advice.shown, std::cmp::Reverse(advice.saves), advice.future != *ty.name));
        suggestions.truncate(SUGGESTIONS);
        let mut left = NODES;
        Some(Self {
            name: ty.name.to_string(),
            path: ty.path.to_string(),
            kind: kind(coroutine).to_owned(),
            function: coroutine.function.to_string(),
            line: ty.source.as_ref().map(|source| source.line),
            size: ty.size,
            align: ty.align,
            captures: coroutine.captures.iter().map(held).collect(),
            awaits,
            tree: children(program, graph, id, &mut HashSet::from([id]), &mut left),
            suggestions,
            file,
        })
    }
}

pub(super) fn kind(coroutine: &Coroutine) -> &'static str {
    match coroutine.flavour {
        Flavour::AsyncFn => "async fn",
        Flavour::AsyncBlock => "async block",
        Flavour::AsyncClosure => "async closure",
        Flavour::Other => "coroutine",
    }
}

/// Returns the futures that a coroutine contains.
fn children(program: &Program, graph: &Graph, id: TypeId, seen: &mut HashSet<TypeId>, left: &mut usize) -> Vec<Node> {
    let (Kind::Coroutine(coroutine), Some(parts)) = (&program.get(id).kind, graph.parts.get(&id)) else {
        return Vec::new();
    };
    let moved = |field: &Field| {
        parts.captures.iter().filter_map(|capture| parts.local_of(capture)).any(|local| key(&local.field) == key(field))
    };
    let mut nodes: Vec<(TypeId, Node)> = Vec::new();
    for local in &parts.locals {
        let ty = local.field.ty;
        let awaited = *local.field.name == *AWAITED;
        let inner = coroutines_in(program, ty);
        if (inner.is_empty() && !awaited) || moved(&local.field) {
            continue;
        }
        let states = local.states.iter().map(|&index| &coroutine.states[index]);
        let lines = states.filter_map(|state| state.source.as_ref()).map(|source| source.line);
        if let Some((_, node)) =
            nodes.iter_mut().find(|(known, node)| *known == ty && *node.variable == *local.field.name)
        {
            node.lines.extend(lines);
            continue;
        }
        let node = node(program, graph, ty, &inner, seen, left);
        let Some(mut node) = node else { break };
        node.variable = local.field.name.to_string();
        node.lines = lines.collect();
        nodes.push((ty, node));
    }
    let mut nodes: Vec<Node> = nodes.into_iter().map(|(_, node)| node).collect();
    for node in &mut nodes {
        node.lines.sort_unstable();
        node.lines.dedup();
    }
    nodes.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.lines.cmp(&b.lines)));
    nodes
}

fn node(
    program: &Program,
    graph: &Graph,
    ty: TypeId,
    inner: &[TypeId],
    seen: &mut HashSet<TypeId>,
    left: &mut usize,
) -> Option<Node> {
    *left = left.checked_sub(1)?;
    let found = program.get(ty);
    let repeated = matches!(found.kind, Kind::Coroutine(_)) && !seen.insert(ty);
    let children = if repeated {
        Vec::new()
    } else if matches!(found.kind, Kind::Coroutine(_)) {
        children(program, graph, ty, seen, left)
    } else {
        // A struct of a library, such as `Timeout<F>`: list the futures that it contains.
        let mut inner: Vec<Node> =
            inner.iter().map_while(|&inner| node(program, graph, inner, &[], seen, left)).collect();
        inner.sort_by_key(|node| std::cmp::Reverse(node.size));
        inner
    };
    Some(Node {
        name: found.name.to_string(),
        variable: String::new(),
        file: found.source.as_ref().map(|source| source.file.to_string()),
        line: found.source.as_ref().map(|source| source.line),
        lines: Vec::new(),
        size: found.size,
        repeated,
        children,
    })
}
