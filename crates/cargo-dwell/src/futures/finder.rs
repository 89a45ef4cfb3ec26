//! The changes that make one future smaller.

use super::size::{
    self, AWAITED, Becomes, Capture, Change, Edit, Graph, Local, Parts, Sizes, coroutines_in, key, values_in,
};
use super::source::Files;
use super::suggestion::{Problem, Suggestion, WORTH_A_BOX};
use dwell_debuginfo::{Coroutine, Field, Flavour, Kind, Program, Source, Type, TypeId};
use dwell_output::units::count;
use std::collections::{HashMap, HashSet};

/// The deepest nesting of types in which values are counted.
const DEEPEST: u32 = 32;

/// Finds the changes of one coroutine.
pub(super) struct Finder<'a, 'p> {
    pub(super) program: &'p Program,
    pub(super) graph: &'p Graph,
    pub(super) id: TypeId,
    pub(super) ty: &'p Type,
    pub(super) coroutine: &'p Coroutine,
    pub(super) parts: &'p Parts,
    pub(super) files: &'a mut Files,
    pub(super) found: Vec<Suggestion>,
}

impl Finder<'_, '_> {
    /// Adds a change that needs no allocation.
    fn add(&mut self, problem: Problem, what: String, how: String, at: Option<Source>, edits: Vec<Edit>) {
        self.add_boxed(problem, what, how, at, Change::new(self.id, edits), 0);
    }

    /// Adds a change that moves `heap` bytes to the heap at each call.
    fn add_boxed(
        &mut self,
        problem: Problem,
        what: String,
        how: String,
        at: Option<Source>,
        change: Change,
        heap: u64,
    ) {
        let at = at.or_else(|| self.ty.source.clone());
        self.found.push(Suggestion { at, heap, ..Suggestion::new(problem, what, how, change) });
    }

    fn size(&self, ty: TypeId) -> u64 {
        self.program.size_of(ty)
    }

    fn lines(&self) -> Option<(u32, u32)> {
        lines(self.ty, self.coroutine)
    }

    /// Returns the local that receives an argument's value, if there is one.
    fn second(&mut self, capture: &Capture) -> Option<Local> {
        if let Some(local) = self.parts.local_of(capture) {
            return Some(local.clone());
        }
        let (source, lines) = (self.ty.source.clone()?, self.lines().filter(|_| self.files.may_read(self.ty))?);
        let same = |local: &&Local| local.field.ty == capture.field.ty && *local.field.name != *AWAITED;
        let candidates: Vec<Local> = self.parts.locals.iter().filter(same).cloned().collect();
        candidates
            .into_iter()
            .find(|local| self.files.is_moved(&source.file, lines, &capture.field.name, &local.field.name))
    }

    pub(super) fn held_twice(&mut self) {
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
            edits.push(Edit { part: key(&local.field), awaited_in: None, becomes: Becomes::Gone });
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
        let edit = |local: &Field, state| Edit { part: key(local), awaited_in: state, becomes: Becomes::Boxed };
        let edits = vec![edit(&capture.field, None), edit(&awaited.field, awaited.states.first().copied())];
        let how = "pass `Box::pin(..)` as this argument, where the future is called".to_owned();
        let heap = self.size(capture.field.ty);
        self.add_boxed(Problem::HeldTwice, what, how, None, Change::new(self.id, edits), heap);
    }

    /// Returns the local of the `.await` that awaits an argument.
    fn awaited(&self, capture: &Capture) -> Option<Local> {
        if coroutines_in(self.program, capture.field.ty).is_empty() {
            return None;
        }
        let waits = |local: &&Local| *local.field.name == *AWAITED && local.field.ty == capture.field.ty;
        self.parts.locals.iter().find(waits).cloned()
    }

    pub(super) fn unused_arguments(&mut self) {
        for capture in self.parts.captures.iter().filter(|capture| capture.moved) {
            let size = self.size(capture.field.ty);
            let elsewhere = self.second(capture).is_some() || self.awaited(capture).is_some();
            if size <= self.program.pointer_size || elsewhere {
                continue;
            }
            // The callee takes it over: before the future begins there is nothing to do with it.
            if self.is_passed_on(capture) || !coroutines_in(self.program, capture.field.ty).is_empty() {
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
            let edit = Edit { part: key(&capture.field), awaited_in: None, becomes: Becomes::Gone };
            self.add(Problem::UnusedArgument, what, how, None, vec![edit]);
        }
    }

    /// Returns `true` if an awaited or held value contains one of an argument's type: the argument was moved into it.
    fn is_passed_on(&self, capture: &Capture) -> bool {
        self.parts.locals.iter().any(|local| contains(self.program, local.field.ty, capture.field.ty))
    }

    /// Suggests to return the awaited future, for a function that does nothing else.
    pub(super) fn only_awaits(&mut self) {
        let suspended: Vec<_> = self.coroutine.states.iter().filter(|state| state.is_suspended()).collect();
        let [only] = suspended[..] else { return };
        let (Some(awaited), Some(source), Some(lines)) = (&only.awaited, self.ty.source.clone(), self.lines()) else {
            return;
        };
        let is_plain = self.coroutine.flavour == Flavour::AsyncFn && self.files.may_read(self.ty);
        if !is_plain || !self.files.only_awaits(&source.file, lines) {
            return;
        }
        let callee = &self.program.get(awaited.ty).name;
        let function = last_segment(&self.coroutine.function);
        let what =
            format!("only awaits `{callee}`, and has its own copy of the arguments ({} bytes)", count(self.ty.size));
        let how = format!(
            "return that future: `fn {function}(..) -> impl Future<Output = ..> {{ .. }}`, without `async` and `.await`"
        );
        let after = (self.size(awaited.ty), self.program.get(awaited.ty).align);
        let change = Change { replaced: HashMap::from([(self.id, after)]), ..Change::new(self.id, Vec::new()) };
        self.add_boxed(Problem::ReturnFuture, what, how, None, change, 0);
    }

    /// Suggests `pin!` for a future in a variable that is moved into an `.await` or another future, and so takes its
    /// bytes twice.
    pub(super) fn pins(&mut self) {
        let pointer = self.program.pointer_size;
        for local in &self.parts.locals {
            let ty = local.field.ty;
            let name = &local.field.name;
            // The variables of a macro such as `join!` are not the user's.
            let is_of_macro = local.states.iter().all(|&state| {
                let at = self.coroutine.states[state].source.as_ref();
                at.zip(self.ty.source.as_ref()).is_some_and(|(at, own)| at.file != own.file)
            });
            let is_named = !name.starts_with("__") && **name != *"pinned" && !is_of_macro;
            if !is_named || self.size(ty) < WORTH_A_BOX / 2 || coroutines_in(self.program, ty).is_empty() {
                continue;
            }
            let boxed = HashMap::from([(ty, (pointer, pointer))]);
            let elsewhere = Change { replaced: boxed, ..Change::new(self.id, Vec::new()) };
            let within = elsewhere.within(self.graph);
            let mut edits = Vec::new();
            let mut states = Vec::new();
            for other in &self.parts.locals {
                let is_same = key(&other.field) == key(&local.field);
                let shared = other.states.iter().filter(|state| local.states.contains(state));
                // Two variables of one type are two futures.
                let is_another =
                    other.field.ty == ty && *other.field.name != *AWAITED && !size::is_temporary(&other.field.name);
                let has_it = shared.clone().next().is_some() && contains(self.program, other.field.ty, ty);
                if is_same || is_another || !has_it {
                    continue;
                }
                let after = Sizes::new(self.program, self.graph, &[&elsewhere], &within).size_of(other.field.ty);
                let align = if other.field.ty == ty { pointer } else { self.program.get(other.field.ty).align };
                let awaited_in = if *other.field.name == *AWAITED { other.states.first().copied() } else { None };
                edits.push(Edit { part: key(&other.field), awaited_in, becomes: Becomes::Sized(after, align) });
                states.extend(shared.copied());
            }
            if edits.is_empty() {
                continue;
            }
            // The pinned value, and the `Pin<&mut _>` to it.
            let align = self.program.get(ty).align.max(pointer);
            let pinned = Becomes::Sized(self.size(ty).saturating_add(2 * pointer - 1) / pointer * pointer, align);
            edits.push(Edit { part: key(&local.field), awaited_in: None, becomes: pinned });
            let what = format!(
                "holds `{}` twice {}: as the variable, and in the future that it is moved into",
                self.named(name, ty),
                self.at(&states)
            );
            let how = format!("`let mut {name} = pin!(..);` and pass or await `{name}.as_mut()`: no allocation");
            let at = self.ty.source.as_ref().zip(local.field.line);
            let at = at.map(|(source, line)| Source { file: source.file.clone(), line });
            let mut one = Suggestion::new(Problem::PinFuture, what, how, Change::new(self.id, edits));
            one.at = at.or_else(|| self.ty.source.clone());
            one.other = Some((elsewhere, self.size(ty)));
            self.found.push(one);
        }
    }

    pub(super) fn drop_before_await(&mut self) {
        let Some(lines) = self.lines().filter(|_| self.files.may_read(self.ty)) else { return };
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
            let edit = Edit { part: key(&local.field), awaited_in: None, becomes: Becomes::NotIn(unused) };
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
}

/// Boxes, which move bytes to the heap.
impl Finder<'_, '_> {
    pub(super) fn box_futures(&mut self) {
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
                Some(Edit { part: key(&local.field), awaited_in: Some(state), becomes: Becomes::Boxed })
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
            let states: Vec<usize> = set.iter().flat_map(|(_, states)| states).copied().collect();
            offers.push((what, how, at, edits(set), size, states));
        }
        let lines = self.lines().filter(|_| self.files.may_read(self.ty));
        for (what, how, at, edits, heap, states) in offers {
            let sources = states.iter().filter_map(|&state| self.coroutine.states[state].source.as_ref());
            let sources: Vec<&Source> = sources.collect();
            let is_in = |files: &mut Files, of_loop: bool| {
                let Some(lines) = lines.filter(|_| !sources.is_empty()) else { return false };
                let mut sources = sources.iter();
                if of_loop {
                    sources.all(|at| files.is_branch_of_loop(at, lines))
                } else {
                    sources.all(|at| files.is_branch(at, lines))
                }
            };
            let is_branch = is_in(self.files, true);
            let is_partial = is_in(self.files, false);
            let mut one = Suggestion::new(Problem::BoxFuture, what, how, Change::new(self.id, edits));
            (one.at, one.heap, one.is_branch, one.is_partial) = (at, heap, is_branch, is_partial);
            self.found.push(one);
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
                .any(|capture| self.parts.local_of(capture).is_some_and(|other| key(&other.field) == key(&local.field)))
            {
                continue;
            }
            let at = self.coroutine.states[local.states[0]].source.clone();
            let own = self.ty.source.as_ref();
            // A variable that `pins` names, or a copy of an argument, which needs its box at the call.
            let is_pinned = |one: &Suggestion| {
                let other = one.other.as_ref();
                one.problem == Problem::PinFuture && other.is_some_and(|(other, _)| other.replaced.contains_key(&ty))
            };
            let is_argument = |capture: &Capture| contains(self.program, ty, capture.field.ty);
            let inner_captures =
                self.parts.captures.iter().filter(|capture| self.size(capture.field.ty) >= WORTH_A_BOX);
            if self.found.iter().any(is_pinned) || inner_captures.into_iter().any(is_argument) {
                continue;
            }
            // A variable of a macro such as `join!`: the place is the user's call, and the boxes are its arguments.
            let is_macro = at.as_ref().zip(own).is_some_and(|(at, own)| at.file != own.file);
            let mut inner = coroutines_in(self.program, ty);
            inner.dedup();
            let boxed = |id: &TypeId| (*id, (pointer, pointer));
            let values = |id: &TypeId| values_in(self.program, self.graph, ty, *id, DEEPEST);
            let heap = inner.iter().map(|id| self.size(*id).saturating_mul(values(id))).fold(0, u64::saturating_add);
            let change = Change { replaced: inner.iter().map(boxed).collect(), ..Change::new(self.id, Vec::new()) };
            let declared = own.zip(local.field.line);
            let declared = declared.map(|(own, line)| Source { file: own.file.clone(), line });
            let (what, how) = if is_macro {
                let names: Vec<_> = inner.iter().map(|id| format!("`{}`", self.program.get(*id).name)).collect();
                let what = format!("holds the arguments of a macro, with {}", some(&names));
                (what, "`Box::pin(..)` around the macro's argument".to_owned())
            } else {
                let what = format!("holds the future `{}`", self.named(&local.field.name, ty));
                (what, "box it where it is made: `Box::pin(..)`".to_owned())
            };
            self.add_boxed(Problem::BoxFuture, what, how, declared.or(at), change, heap);
        }
    }

    pub(super) fn box_values(&mut self) {
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
            let boxed = |field: &Field| Edit { part: key(field), awaited_in: None, becomes: Becomes::Boxed };
            let at = self.coroutine.states[local.states[0]].source.clone();
            // If the local was an argument, the argument is boxed too.
            let captures = self.parts.captures.iter();
            let argument = captures.filter(|capture| {
                self.parts.local_of(capture).is_some_and(|other| key(&other.field) == key(&local.field))
            });
            let edits = argument.map(|capture| &capture.field).chain([&local.field]).map(boxed).collect();
            let declared = self.ty.source.as_ref().zip(local.field.line);
            let declared = declared.map(|(source, line)| Source { file: source.file.clone(), line });
            let change = Change::new(self.id, edits);
            self.add_boxed(Problem::BoxValue, what, how.to_owned(), declared.or(at), change, self.size(ty));
        }
    }

    /// Formats a name and its type: `name: Type`.
    fn named(&self, name: &str, ty: TypeId) -> String {
        let type_name = &self.program.get(ty).name;
        if size::is_temporary(name) { format!("a temporary: {type_name}") } else { format!("{name}: {type_name}") }
    }
}

/// Returns the lines of a coroutine's body.
pub(super) fn lines(ty: &Type, coroutine: &Coroutine) -> Option<(u32, u32)> {
    let first = ty.source.as_ref()?.line;
    let returned = coroutine.states.iter().find(|state| &*state.name == "Returned")?;
    let last = returned.source.as_ref()?.line;
    (first <= last).then_some((first, last))
}

/// Returns `true` if a value of type `outer` has one of type `inner` in it: in its fields, or as an argument of a future.
fn contains(program: &Program, outer: TypeId, inner: TypeId) -> bool {
    let mut seen = HashSet::new();
    let mut left = vec![outer];
    while let Some(id) = left.pop() {
        if id == inner {
            return true;
        }
        if program.size_of(id) < program.size_of(inner) || !seen.insert(id) {
            continue;
        }
        match &program.get(id).kind {
            Kind::Struct(fields) | Kind::Closure(fields) | Kind::Union(fields) => {
                left.extend(fields.iter().map(|field| field.ty));
            }
            Kind::Enum(def) => {
                left.extend(def.variants.iter().flat_map(|variant| &variant.fields).map(|field| field.ty));
            }
            Kind::Array { element, .. } => left.push(*element),
            Kind::Coroutine(coroutine) => left.extend(coroutine.captures.iter().map(|field| field.ty)),
            _ => {}
        }
    }
    false
}

/// Returns `true` if a value may borrow from another: its type contains a reference or a trait object.
fn may_borrow(program: &Program, ty: TypeId) -> bool {
    let mut seen = HashSet::new();
    let mut left = vec![ty];
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let ty = program.get(id);
        if ty.path.contains(['&']) || ty.path.contains("dyn ") {
            return true;
        }
        match &ty.kind {
            Kind::Primitive | Kind::Pointer { .. } | Kind::WidePointer { .. } => {}
            Kind::Struct(fields) | Kind::Union(fields) => left.extend(fields.iter().map(|field| field.ty)),
            Kind::Enum(def) => {
                left.extend(def.variants.iter().flat_map(|variant| &variant.fields).map(|field| field.ty));
            }
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

pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
