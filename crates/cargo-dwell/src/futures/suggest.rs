//! Suggestions that make a future smaller, with their savings.

use super::size::{self, AWAITED, Becomes, Capture, Change, Edit, Graph, Local, Parts, Sizes, coroutines_in, key};
use super::source::Files;
use crate::debuginfo::{Coroutine, Field, Flavour, Kind, Program, Source, Type, TypeId};
use crate::units::count;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

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
}

impl Suggestion {
    /// Returns the number of bytes that the changed future itself saves.
    pub(super) fn own_saving(&self) -> u64 {
        self.saves.get(&self.change.coroutine).copied().unwrap_or(0)
    }
}

/// The least size in bytes of a value for which a box is suggested.
const WORTH_A_BOX: u64 = 128;

/// Returns all suggestions for these futures, largest saving first.
pub(super) fn suggest(program: &Program, graph: &Graph, futures: &[TypeId], files: &mut Files) -> Vec<Suggestion> {
    let mut all: Vec<Suggestion> = Vec::new();
    for &id in futures {
        let of = program.get(id);
        let (Kind::Coroutine(coroutine), Some(parts)) = (&of.kind, graph.parts.get(&id)) else { continue };
        let mut found = Finder { program, id, of, coroutine, parts, files, found: Vec::new() };
        found.held_twice();
        found.unused_arguments();
        found.drop_before_await();
        found.box_futures();
        found.box_values();
        let within = graph.within(id);
        for mut suggestion in found.found {
            let mut sizes = Sizes::new(program, graph, &suggestion.change, &within);
            let saved = |&future: &TypeId| Some((future, program.size_of(future).checked_sub(sizes.of(future))?));
            let shrunk = futures.iter().filter(|future| within.contains(future)).filter_map(saved);
            suggestion.saves = shrunk.filter(|&(_, bytes)| bytes > 0).collect();
            // Boxing a further branch must save enough by itself.
            let boxed = |other: &&Suggestion| {
                other.change.coroutine == id
                    && other.problem == Problem::BoxFuture
                    && other.change.edits.iter().all(|edit| suggestion.change.edits.iter().any(|of| of.of == edit.of))
            };
            let fewer = all.iter().filter(boxed).map(Suggestion::own_saving).max().unwrap_or(0);
            let least = if suggestion.problem == Problem::BoxFuture { fewer + fewer / 8 } else { 0 };
            if suggestion.own_saving() > least {
                all.push(suggestion);
            }
        }
    }
    // A generic function has several futures but one source: report the largest saving.
    all.sort_by(|a, b| b.own_saving().cmp(&a.own_saving()).then_with(|| a.what.cmp(&b.what)));
    all
}

struct Finder<'a, 'p> {
    program: &'p Program,
    id: TypeId,
    of: &'p Type,
    coroutine: &'p Coroutine,
    parts: &'p Parts,
    files: &'a mut Files,
    found: Vec<Suggestion>,
}

impl Finder<'_, '_> {
    fn add(&mut self, problem: Problem, what: String, how: String, at: Option<Source>, edits: Vec<Edit>) {
        let change = Change { coroutine: self.id, edits };
        let at = at.or_else(|| self.of.source.clone());
        self.found.push(Suggestion { problem, what, how, at, change, saves: HashMap::new() });
    }

    fn size(&self, ty: TypeId) -> u64 {
        self.program.size_of(ty)
    }

    /// Returns the lines of the body.
    fn lines(&self) -> Option<(u32, u32)> {
        let first = self.of.source.as_ref()?.line;
        let returned = self.coroutine.states.iter().find(|state| &*state.name == "Returned")?;
        let last = returned.source.as_ref()?.line;
        (first <= last).then_some((first, last))
    }

    /// Returns the local that receives an argument's value, if there is one.
    fn second(&mut self, capture: &Capture) -> Option<Local> {
        if let Some(local) = self.parts.local_of(capture) {
            return Some(local.clone());
        }
        let (source, lines) = (self.of.source.clone()?, self.lines().filter(|_| self.files.may_read(self.of))?);
        let same = |local: &&Local| local.field.ty == capture.field.ty && *local.field.name != *AWAITED;
        let candidates: Vec<Local> = self.parts.locals.iter().filter(same).cloned().collect();
        candidates
            .into_iter()
            .find(|local| self.files.is_moved(&source.file, lines, &capture.field.name, &local.field.name))
    }

    fn held_twice(&mut self) {
        let mut edits = Vec::new();
        let mut names = Vec::new();
        for capture in &self.parts.captures {
            let size = self.size(capture.field.ty);
            if size == 0 {
                continue;
            }
            let Some(local) = self.second(capture) else {
                self.awaited_argument(capture);
                continue;
            };
            let moved = if local.field.name == capture.field.name { "" } else { &local.field.name };
            names.push((
                size,
                capture.field.name.to_string(),
                self.named(&capture.field.name, capture.field.ty),
                moved.to_owned(),
            ));
            edits.push(Edit { of: key(&local.field), awaited_in: None, becomes: Becomes::Gone });
        }
        if edits.is_empty() {
            return;
        }
        names.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let called = self.called();
        let (what, how, it) = match &names[..] {
            [(_, name, typed, moved)] => {
                let local = if moved.is_empty() { "the local".to_owned() } else { format!("`{moved}`") };
                (
                    format!("`{typed}` is held twice: as the {called} and as {local} that it is moved into"),
                    format!("`{name}`"),
                    "it",
                )
            }
            several => {
                let typed: Vec<_> = several.iter().map(|(_, _, typed, _)| format!("`{typed}`")).collect();
                let what =
                    format!("{} are held twice: as {called}s and as the locals that they are moved into", some(&typed));
                (what, "them".to_owned(), "them")
            }
        };
        let how = match self.coroutine.flavour {
            Flavour::AsyncFn => format!(
                "take {how} by reference, or use {how} without moving {it}: `fn {}(..) -> impl Future<..> {{ async \
                 move {{ .. }} }}`",
                last_segment(&self.coroutine.function)
            ),
            _ => format!("use {how} without moving {it}, or capture a reference"),
        };
        self.add(Problem::HeldTwice, what, how, None, edits);
    }

    /// Returns what a capture is in the source.
    fn called(&self) -> &'static str {
        match self.coroutine.flavour {
            Flavour::AsyncFn | Flavour::AsyncClosure => "argument",
            _ => "captured variable",
        }
    }

    /// Suggests awaiting an argument that is a future without moving it first.
    fn awaited_argument(&mut self, capture: &Capture) {
        let Some(awaited) = self.awaited(capture) else { return };
        let what = format!(
            "`{}` is held twice: as the {} and as the future awaited {}",
            self.named(&capture.field.name, capture.field.ty),
            self.called(),
            self.at(&awaited.states)
        );
        let edit = |local: &Field, state| Edit { of: key(local), awaited_in: state, becomes: Becomes::Boxed };
        let edits = vec![edit(&capture.field, None), edit(&awaited.field, awaited.states.first().copied())];
        self.add(Problem::HeldTwice, what, "take it as `Pin<&mut F>` or `Pin<Box<F>>`".to_owned(), None, edits);
    }

    /// Returns the local of the `.await` that awaits an argument.
    fn awaited(&self, capture: &Capture) -> Option<Local> {
        if coroutines_in(self.program, capture.field.ty).is_empty() {
            return None;
        }
        let waits = |local: &&Local| *local.field.name == *AWAITED && local.field.ty == capture.field.ty;
        self.parts.locals.iter().find(waits).cloned()
    }

    fn unused_arguments(&mut self) {
        for capture in self.parts.captures.iter().filter(|capture| capture.moved) {
            let size = self.size(capture.field.ty);
            let elsewhere = self.second(capture).is_some() || self.awaited(capture).is_some();
            if size <= self.program.pointer_size || elsewhere {
                continue;
            }
            let name = &capture.field.name;
            // rustc gives these names to a value that a pattern destructures. Its parts are locals.
            if name.starts_with("__arg") {
                continue;
            }
            let what =
                format!("`{}` is stored in the future, but no `.await` needs it", self.named(name, capture.field.ty));
            let how = format!(
                "use it before the future begins: `fn {}({name}: ..) -> impl Future<..> {{ ..; async move {{ .. }} }}`",
                last_segment(&self.coroutine.function)
            );
            let edit = Edit { of: key(&capture.field), awaited_in: None, becomes: Becomes::Gone };
            self.add(Problem::UnusedArgument, what, how, None, vec![edit]);
        }
    }

    fn drop_before_await(&mut self) {
        let Some(lines) = self.lines().filter(|_| self.files.may_read(self.of)) else { return };
        for local in &self.parts.locals {
            let name = &local.field.name;
            if name.starts_with("__") || self.size(local.field.ty) == 0 {
                continue;
            }
            let mut unused = Vec::new();
            for &index in &local.states {
                let state = &self.coroutine.states[index];
                let Some(at) = &state.source else { continue };
                let held = |name: &str| state.held.iter().find(|field| *field.name == *name);
                let may_borrow = |name: &str| held(name).is_some_and(|field| may_borrow(self.program, field.ty));
                if self.files.is_unused_after(at, lines, name, &may_borrow) {
                    unused.push(index);
                }
            }
            let Some(at) = unused.first().and_then(|&index| self.coroutine.states[index].source.clone()) else {
                continue;
            };
            let typed = self.named(name, local.field.ty);
            let at_lines = self.at(&unused);
            let what = format!("nothing uses `{typed}` after the `.await` {at_lines}, which holds it");
            let how = format!(
                "end the scope of `{name}` before the `.await`, with a block `{{ .. }}`; `drop({name})` does not \
                 free its bytes"
            );
            let edit = Edit { of: key(&local.field), awaited_in: None, becomes: Becomes::NotIn(unused) };
            self.add(Problem::DropBeforeAwait, what, how, Some(at), vec![edit]);
        }
    }

    /// Formats the lines of states: `in line 7`, `in lines 7 and 9`.
    fn at(&self, states: &[usize]) -> String {
        let states = states.iter().map(|&index| &self.coroutine.states[index]);
        let mut lines: Vec<u32> = states.filter_map(|state| state.source.as_ref()).map(|source| source.line).collect();
        lines.sort_unstable();
        lines.dedup();
        super::in_lines(&lines)
    }

    fn box_futures(&mut self) {
        let pointer = self.program.pointer_size;
        // A future that awaits only one future is as large as that one, so a box would save nothing.
        let waits = self.coroutine.states.iter().filter(|state| state.is_suspended()).count();
        // The awaited futures by type: boxing at one of two `.await`s would leave the other.
        let mut groups: Vec<(TypeId, Vec<usize>)> = Vec::new();
        for local in self.parts.locals.iter().filter(|local| *local.field.name == *AWAITED) {
            let ty = local.field.ty;
            if self.size(ty) < WORTH_A_BOX || coroutines_in(self.program, ty).is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(known, _)| *known == ty) {
                Some((_, states)) => states.extend(&local.states),
                None => groups.push((ty, local.states.clone())),
            }
        }
        groups.sort_by_key(|&(ty, _)| std::cmp::Reverse(self.size(ty)));
        let edits = |groups: &[(TypeId, Vec<usize>)]| -> Vec<Edit> {
            let awaited = |ty, state: usize| {
                let local = self.parts.locals.iter().find(|local| local.field.ty == ty && local.states == [state])?;
                Some(Edit { of: key(&local.field), awaited_in: Some(state), becomes: Becomes::Boxed })
            };
            groups.iter().flat_map(|(ty, states)| states.iter().filter_map(|&state| awaited(*ty, state))).collect()
        };
        // The states share their bytes, so boxing one branch saves only its excess over the next. So the two and the
        // three largest are suggested together as well.
        let mut sets: Vec<&[(TypeId, Vec<usize>)]> = if waits > 1 { groups.chunks(1).collect() } else { Vec::new() };
        sets.extend((2..=groups.len().min(3)).map(|count| &groups[..count]).filter(|_| waits > 1));
        let mut offers = Vec::new();
        for set in sets {
            let named: Vec<_> = set
                .iter()
                .map(|(ty, states)| format!("`{}` {}", self.program.get(*ty).name, self.at(states)))
                .collect();
            let size = self.size(set[0].0);
            let what = match set {
                [_] => format!("waits for {}, {} bytes", named[0], count(size)),
                _ => format!("waits for {}", some(&named)),
            };
            let how = match set {
                [_] => "box it: `Box::pin(..).await`".to_owned(),
                _ => "box each: `Box::pin(..).await`".to_owned(),
            };
            let at = self.coroutine.states[set[0].1[0]].source.clone();
            offers.push((what, how, at, edits(set)));
        }
        for (what, how, at, edits) in offers {
            self.add(Problem::BoxFuture, what, how, at, edits);
        }
        // Futures pinned on the stack of the coroutine, as by `pin!`.
        for local in self.parts.locals.iter().filter(|local| *local.field.name != *AWAITED) {
            let ty = local.field.ty;
            if self.size(ty) <= pointer.max(WORTH_A_BOX) || coroutines_in(self.program, ty).is_empty() {
                continue;
            }
            if self
                .parts
                .captures
                .iter()
                .any(|capture| self.parts.local_of(capture).is_some_and(|of| key(&of.field) == key(&local.field)))
            {
                continue;
            }
            let what = format!("holds the future `{}`", self.named(&local.field.name, ty));
            let edit = Edit { of: key(&local.field), awaited_in: None, becomes: Becomes::Boxed };
            let at = self.coroutine.states[local.states[0]].source.clone();
            self.add(Problem::BoxFuture, what, "box it: `Box::pin(..)`".to_owned(), at, vec![edit]);
        }
    }

    fn box_values(&mut self) {
        for local in &self.parts.locals {
            let ty = local.field.ty;
            let awaited = *local.field.name == *AWAITED;
            if awaited || self.size(ty) < WORTH_A_BOX || !coroutines_in(self.program, ty).is_empty() {
                continue;
            }
            let name = &local.field.name;
            let typed = self.named(name, ty);
            let what = format!("holds `{typed}` across the `.await` {}", self.at(&local.states));
            let how = match self.program.get(ty).kind {
                Kind::Array { .. } => "keep it in a `Vec` or a `Box`",
                _ => "keep it in a `Box`",
            };
            let boxed = |field: &Field| Edit { of: key(field), awaited_in: None, becomes: Becomes::Boxed };
            let at = self.coroutine.states[local.states[0]].source.clone();
            // If the local was an argument, the argument is boxed too.
            let captures = self.parts.captures.iter();
            let argument =
                captures.filter(|of| self.parts.local_of(of).is_some_and(|of| key(&of.field) == key(&local.field)));
            let edits = argument.map(|capture| &capture.field).chain([&local.field]).map(boxed).collect();
            self.add(Problem::BoxValue, what, how.to_owned(), at, edits);
        }
    }

    /// Formats a name and its type: `name: Type`.
    fn named(&self, name: &str, ty: TypeId) -> String {
        let of = &self.program.get(ty).name;
        if size::is_temporary(name) { format!("a temporary: {of}") } else { format!("{name}: {of}") }
    }
}

/// Returns `true` if a value may borrow from another: its type contains a reference or a trait object.
fn may_borrow(program: &Program, ty: TypeId) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut left = vec![ty];
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let of = program.get(id);
        if of.path.contains(['&']) || of.path.contains("dyn ") {
            return true;
        }
        match &of.kind {
            Kind::Primitive | Kind::Pointer { .. } | Kind::WidePointer { .. } => {}
            Kind::Struct(fields) | Kind::Union(fields) => left.extend(fields.iter().map(|field| field.ty)),
            Kind::Enum(of) => left.extend(of.variants.iter().flat_map(|of| &of.fields).map(|field| field.ty)),
            Kind::Array { element, .. } => left.push(*element),
            _ => return true,
        }
    }
    false
}

/// Lists names: `a, b and c`. Of more than three, lists the first two and a count.
fn some(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if first.len() < 3 => format!("{} and {last}", first.join(", ")),
        [a, b, rest @ ..] => format!("{a}, {b} and {} more", rest.len()),
    }
}

fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
