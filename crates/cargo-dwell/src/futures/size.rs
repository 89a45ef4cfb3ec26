//! Predicts the size of a future that holds fewer or smaller values, by rustc's layout of coroutines.
//!
//! rustc (`rustc_abi::layout::coroutine`) first lays out a prefix: the captures, the tag, and every local that more
//! than one state holds. After the prefix each state has the locals that only it holds; the states share these bytes.
//! The prefix is sorted by falling alignment and the rest by rising alignment, to reduce padding.

use dwell_debuginfo::{Coroutine, Field, Flavour, Kind, Program, State, Text, TypeId};
use std::collections::{HashMap, HashSet};

/// A name, a type and an offset, which together identify a coroutine's local.
pub(super) type Key = (Text, TypeId, u64);

/// A value that a coroutine holds.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) field: Field,
    /// The states that hold it, as indices of [`Coroutine::states`].
    pub(super) states: Vec<usize>,
    /// Whether it is in the prefix, which all states share.
    pub(super) promoted: bool,
}

/// The parts of a coroutine's layout.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) captures: Vec<Capture>,
    pub(super) locals: Vec<Local>,
    tag: u64,
}

/// An argument or a captured variable.
#[derive(Clone, Debug)]
pub(super) struct Capture {
    pub(super) field: Field,
    /// Whether its value is moved into a local at the first poll. The bytes of the capture then stay, unused.
    pub(super) moved: bool,
}

pub(super) fn key(field: &Field) -> Key {
    (field.name.clone(), field.ty, field.offset)
}

/// Returns `true` if the compiler introduced this local.
pub(super) fn is_temporary(name: &str) -> bool {
    name.starts_with("__") && name != "__self" && name != AWAITED
}

/// The name of the local for the future that an `.await` polls.
pub(super) const AWAITED: &str = "__awaitee";

/// Returns the locals that a state holds, except captures and the awaited future.
pub(super) fn locals<'c>(coroutine: &'c Coroutine, state: &'c State) -> Vec<&'c Field> {
    let mut seen: Vec<&Field> = Vec::new();
    for field in &state.held {
        let captured = coroutine.captures.iter().any(|capture| key(capture) == key(field));
        if !captured && !seen.iter().any(|known| key(known) == key(field)) {
            seen.push(field);
        }
    }
    seen
}

impl Parts {
    pub(super) fn new(program: &Program, coroutine: &Coroutine) -> Self {
        let end = |field: &Field| field.offset.saturating_add(program.size_of(field.ty));
        let mut locals: Vec<Local> = Vec::new();
        for (index, state) in coroutine.states.iter().enumerate().filter(|(_, state)| state.is_suspended()) {
            for field in self::locals(coroutine, state) {
                match locals.iter_mut().find(|local| *local.field.name != *AWAITED && key(&local.field) == key(field)) {
                    Some(local) => local.states.push(index),
                    None => locals.push(Local { field: field.clone(), states: vec![index], promoted: false }),
                }
            }
            // Each `.await` has its own local for the future, even if two have the same type and offset.
            if let Some(field) = &state.awaited {
                locals.push(Local { field: field.clone(), states: vec![index], promoted: false });
            }
        }
        // The prefix ends before the first byte that two states use differently.
        let mut shared = u64::MAX;
        for local in &locals {
            let overlaps = |other: &Local| {
                other.field.offset < end(&local.field)
                    && local.field.offset < end(&other.field)
                    && other.states.iter().all(|state| !local.states.contains(state))
            };
            if *local.field.name == *AWAITED || locals.iter().any(overlaps) {
                shared = shared.min(local.field.offset);
            }
        }
        for local in &mut locals {
            local.promoted = local.field.offset < shared && local.states.len() > 1;
        }
        let moves = |capture: &Field| {
            let becomes = |local: &Local| {
                let name = *local.field.name == *capture.name || *local.field.name == *format!("__{}", capture.name);
                name && local.field.ty == capture.ty && local.field.offset != capture.offset
            };
            // rustc begins the body of an `async fn` with `let argument = argument;`.
            coroutine.flavour == Flavour::AsyncFn || locals.iter().any(becomes)
        };
        let captures = coroutine.captures.iter();
        let captures = captures.map(|field| Capture { field: field.clone(), moved: moves(field) }).collect();
        Self { captures, locals, tag: coroutine.tag.as_ref().map_or(1, |tag| tag.size) }
    }

    /// Returns the local that receives an argument.
    pub(super) fn local_of(&self, capture: &Capture) -> Option<&Local> {
        let inner = format!("__{}", capture.field.name);
        self.locals.iter().find(|local| {
            let name = local.field.name == capture.field.name || *local.field.name == *inner;
            name && local.field.ty == capture.field.ty && local.field.offset != capture.field.offset
        })
    }
}

/// A change to a part of a coroutine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// The part is removed.
    Gone,
    /// The states with these indices no longer hold the part.
    NotIn(Vec<usize>),
    /// The part moves behind a thin pointer.
    Boxed,
    /// The part gets another size and alignment.
    Sized(u64, u64),
}

/// Rounds up to a multiple of an alignment. Saturates, since debug info may have any sizes.
fn aligned(size: u64, align: u64) -> u64 {
    size.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
}

/// Returns the sum of sizes.
pub(super) fn total(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(0, u64::saturating_add)
}

/// A change to one part of a coroutine.
#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) part: Key,
    /// The state that awaits it: futures of one type may share their bytes in several states.
    pub(super) awaited_in: Option<usize>,
    pub(super) becomes: Becomes,
}

/// A change to one coroutine.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) coroutine: TypeId,
    pub(super) edits: Vec<Edit>,
    /// The types that are replaced wherever they occur, with the new size and alignment.
    pub(super) replaced: HashMap<TypeId, (u64, u64)>,
}

impl Change {
    pub(super) fn new(coroutine: TypeId, edits: Vec<Edit>) -> Self {
        Self { coroutine, edits, replaced: HashMap::new() }
    }

    /// Returns the types that the change may shrink.
    pub(super) fn within(&self, graph: &Graph) -> HashSet<TypeId> {
        let mut within = if self.edits.is_empty() { HashSet::new() } else { graph.within(self.coroutine) };
        for id in self.replaced.keys() {
            within.extend(graph.within(*id));
        }
        within
    }
}

/// Sizes after a change.
#[derive(Debug)]
pub(super) struct Sizes<'p> {
    program: &'p Program,
    graph: &'p Graph,
    changes: &'p [&'p Change],
    /// The types that contain a changed coroutine; other types keep their size.
    within: &'p HashSet<TypeId>,
    known: HashMap<TypeId, u64>,
    depth: u32,
}

/// The deepest nesting of types that change their size. This bounds the recursion on damaged debug info.
const DEEPEST: u32 = 200;

impl<'p> Sizes<'p> {
    pub(super) fn new(
        program: &'p Program,
        graph: &'p Graph,
        changes: &'p [&'p Change],
        within: &'p HashSet<TypeId>,
    ) -> Self {
        Self { program, graph, changes, within, known: HashMap::new(), depth: 0 }
    }

    fn replaced(&self, id: TypeId) -> Option<(u64, u64)> {
        self.changes.iter().find_map(|change| change.replaced.get(&id)).copied()
    }

    /// Returns the size of a type after the change.
    pub(super) fn size_of(&mut self, id: TypeId) -> u64 {
        if let Some((size, _)) = self.replaced(id) {
            return size;
        }
        if !self.within.contains(&id) || self.depth == DEEPEST {
            return self.program.size_of(id);
        }
        if let Some(&size) = self.known.get(&id) {
            return size;
        }
        // A type cannot contain itself; for damaged debug info it keeps its size.
        self.known.insert(id, self.program.size_of(id));
        self.depth += 1;
        let size = self.compute(id);
        self.depth -= 1;
        self.known.insert(id, size);
        size
    }

    fn align(&self, id: TypeId) -> u64 {
        self.replaced(id).map_or(self.program.get(id).align, |(_, align)| align)
    }

    fn compute(&mut self, id: TypeId) -> u64 {
        let ty = self.program.get(id);
        let padded = |size: u64| aligned(size, ty.align);
        match &ty.kind {
            Kind::Struct(fields) | Kind::Closure(fields) => {
                let less = total(fields.iter().map(|field| self.less(field)));
                if less == 0 { ty.size } else { padded(ty.size.saturating_sub(less)).min(ty.size) }
            }
            Kind::Union(fields) => self.largest(ty.size, ty.align, fields.iter().map(std::slice::from_ref)),
            Kind::Enum(of_enum) => {
                let variants = of_enum.variants.iter().map(|variant| &variant.fields[..]);
                self.largest(ty.size, ty.align, variants)
            }
            Kind::Array { element, count } => self.size_of(*element).saturating_mul(*count).min(ty.size),
            Kind::Coroutine(_) => self.coroutine(id),
            _ => ty.size,
        }
    }

    fn less(&mut self, field: &Field) -> u64 {
        self.program.size_of(field.ty).saturating_sub(self.size_of(field.ty))
    }

    /// Returns the size of a type with alternative sets of fields.
    fn largest<'f>(&mut self, size: u64, align: u64, sets: impl Iterator<Item = &'f [Field]>) -> u64 {
        let (mut before, mut after) = (0, 0);
        for fields in sets {
            let end = fields.iter().map(|field| field.offset.saturating_add(self.program.size_of(field.ty)));
            let end = end.max().unwrap_or(0);
            let less = total(fields.iter().map(|field| self.less(field)));
            before = before.max(end);
            after = after.max(end.saturating_sub(less));
        }
        let rest = size.saturating_sub(before);
        if after == before { size } else { aligned(after.saturating_add(rest), align).min(size) }
    }

    fn coroutine(&mut self, id: TypeId) -> u64 {
        let (program, graph) = (self.program, self.graph);
        let ty = program.get(id);
        let Some(parts) = graph.parts.get(&id) else { return ty.size };
        let of_this = self.changes.iter().filter(|change| change.coroutine == id);
        let edits: Vec<Edit> = of_this.flat_map(|change| change.edits.iter().cloned()).collect();
        let pointer = program.pointer_size;
        let before = parts.layout(&mut |field| (program.size_of(field.ty), program.get(field.ty).align), &[], pointer);
        let mut sizes = |field: &Field| (self.size_of(field.ty), self.align(field.ty));
        let after = parts.layout(&mut sizes, &edits, pointer);
        let less = before.saturating_sub(after);
        // Where rustc found a smaller layout than the rules do, less of it can be saved.
        let less =
            if before > ty.size { u128::from(less) * u128::from(ty.size) / u128::from(before) } else { less.into() };
        ty.size.saturating_sub(u64::try_from(less).unwrap_or(u64::MAX))
    }
}

impl Parts {
    fn layout(&self, size: &mut impl FnMut(&Field) -> (u64, u64), edits: &[Edit], pointer: u64) -> u64 {
        let mut prefix = vec![(self.tag, self.tag.max(1))];
        let mut rest: HashMap<usize, Vec<(u64, u64)>> = HashMap::new();
        let find = |field: &Field, states: &[usize]| {
            let fits = |edit: &&Edit| edit.part == key(field) && edit.awaited_in.is_none_or(|state| states == [state]);
            edits.iter().find(fits).map(|edit| &edit.becomes)
        };
        for capture in &self.captures {
            match find(&capture.field, &[]) {
                Some(Becomes::Gone | Becomes::NotIn(_)) => {}
                Some(Becomes::Boxed) => prefix.push((pointer, pointer)),
                Some(Becomes::Sized(size, align)) => prefix.push((*size, *align)),
                None => prefix.push(size(&capture.field)),
            }
        }
        for local in &self.locals {
            let mut states = local.states.clone();
            let mut part = size(&local.field);
            match find(&local.field, &local.states) {
                Some(Becomes::Gone) => states.clear(),
                Some(Becomes::NotIn(gone)) => states.retain(|state| !gone.contains(state)),
                Some(Becomes::Boxed) => part = (pointer, pointer),
                Some(Becomes::Sized(size, align)) => part = (*size, *align),
                None => {}
            }
            match states[..] {
                [] => {}
                [state] => rest.entry(state).or_default().push(part),
                // A local of several states is one local in the prefix, or stands for several of one name that rustc
                // overlays.
                _ if local.promoted => prefix.push(part),
                _ => states.iter().for_each(|&state| rest.entry(state).or_default().push(part)),
            }
        }
        let align = prefix.iter().chain(rest.values().flatten()).map(|part| part.1).max().unwrap_or(1).max(1);
        prefix.sort_by_key(|part| std::cmp::Reverse(part.1));
        let append = |end: u64, &(size, align): &(u64, u64)| aligned(end, align).saturating_add(size);
        let prefix_align = prefix.iter().map(|part| part.1).max().unwrap_or(1).max(1);
        let prefix = aligned(prefix.iter().fold(0, append), prefix_align);
        let ends = rest.values_mut().map(|parts| {
            parts.sort_by_key(|part| part.1);
            parts.iter().fold(prefix, append)
        });
        aligned(ends.max().unwrap_or(prefix).max(prefix), align)
    }
}

/// The types that contain each type, and the parts of each coroutine.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// For each type, the types with a field of it.
    outer: HashMap<TypeId, Vec<TypeId>>,
    pub(super) parts: HashMap<TypeId, Parts>,
}

impl Graph {
    pub(super) fn new(program: &Program) -> Self {
        let mut graph = Self::default();
        for (id, ty) in program.types() {
            let mut inner: Vec<TypeId> = Vec::new();
            match &ty.kind {
                Kind::Struct(fields) | Kind::Closure(fields) | Kind::Union(fields) => {
                    inner.extend(fields.iter().map(|field| field.ty));
                }
                Kind::Enum(def) => {
                    inner.extend(def.variants.iter().flat_map(|variant| &variant.fields).map(|field| field.ty));
                }
                Kind::Array { element, .. } => inner.push(*element),
                Kind::Coroutine(coroutine) => {
                    let parts = Parts::new(program, coroutine);
                    inner.extend(parts.captures.iter().map(|capture| capture.field.ty));
                    inner.extend(parts.locals.iter().map(|local| local.field.ty));
                    graph.parts.insert(id, parts);
                }
                _ => {}
            }
            inner.sort_unstable();
            inner.dedup();
            for part in inner {
                if program.size_of(part) > 0 {
                    graph.outer.entry(part).or_default().push(id);
                }
            }
        }
        graph
    }

    /// Returns all types that contain this one, and the type itself.
    pub(super) fn within(&self, id: TypeId) -> HashSet<TypeId> {
        let mut found = HashSet::from([id]);
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            for &outer in self.outer.get(&id).into_iter().flatten() {
                if found.insert(outer) {
                    left.push(outer);
                }
            }
        }
        found
    }
}

/// Returns the number of values of the coroutine `future` that a value of a type is made with. A coroutine that takes one as
/// an argument, and then moves it, has it once.
pub(super) fn values_in(program: &Program, graph: &Graph, id: TypeId, future: TypeId, depth: u32) -> u64 {
    if id == future {
        return 1;
    }
    if depth == 0 || program.size_of(id) < program.size_of(future) {
        return 0;
    }
    let inside = |ty: TypeId| values_in(program, graph, ty, future, depth - 1);
    let sum = |fields: &[Field]| total(fields.iter().map(|field| inside(field.ty)));
    match &program.get(id).kind {
        Kind::Struct(fields) | Kind::Closure(fields) => sum(fields),
        Kind::Union(fields) => fields.iter().map(|field| inside(field.ty)).max().unwrap_or(0),
        Kind::Enum(def) => def.variants.iter().map(|variant| sum(&variant.fields)).max().unwrap_or(0),
        Kind::Array { element, count } => inside(*element).saturating_mul(*count),
        Kind::Coroutine(coroutine) => {
            let taken = sum(&coroutine.captures);
            if taken > 0 {
                return taken;
            }
            let Some(parts) = graph.parts.get(&id) else { return 0 };
            let in_state = |state: usize| {
                let held = parts.locals.iter().filter(|local| local.states.contains(&state));
                held.map(|local| inside(local.field.ty)).max().unwrap_or(0)
            };
            (0..coroutine.states.len()).map(in_state).max().unwrap_or(0)
        }
        _ => 0,
    }
}

/// Returns the coroutines inside a value of a type, except those behind pointers and those in other coroutines.
pub(super) fn coroutines_in(program: &Program, id: TypeId) -> Vec<TypeId> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut left = vec![id];
    while let Some(id) = left.pop() {
        if program.size_of(id) == 0 || !seen.insert(id) {
            continue;
        }
        match &program.get(id).kind {
            Kind::Coroutine(_) => found.push(id),
            Kind::Struct(fields) | Kind::Closure(fields) | Kind::Union(fields) => {
                left.extend(fields.iter().rev().map(|field| field.ty));
            }
            Kind::Enum(def) => {
                left.extend(def.variants.iter().flat_map(|variant| &variant.fields).rev().map(|field| field.ty));
            }
            Kind::Array { element, .. } => left.push(*element),
            _ => {}
        }
    }
    found
}
