//! Measures how a type uses its bytes.

use dwell_debuginfo::{Field, Kind, Program, State, Tag, Type, TypeId};
use std::collections::HashMap;

/// A variant of an enum or a state of a coroutine. A struct has a single part.
#[derive(Clone, Debug)]
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) fields: Vec<&'a Field>,
    /// The end of the part's bytes, including the tag.
    pub(super) end: u64,
    /// The number of bytes of the fields and the tag.
    pub(super) used: u64,
    /// The end of the last field.
    last: u64,
    /// The number of bytes between the fields as `-Zprint-type-sizes` counts them. It does not count a tag in a niche
    /// as a field.
    gaps: u64,
}

impl Part<'_> {
    /// Returns the size as `-Zprint-type-sizes` counts it: up to the end of the last field, without a tag that has its
    /// own bytes.
    pub(super) fn size(&self, tag: Option<&Tag>) -> u64 {
        self.last.saturating_sub(own_bytes(tag))
    }

    /// Returns the padding as `-Zprint-type-sizes` counts it.
    pub(super) fn gaps(&self) -> u64 {
        self.gaps
    }

    /// Returns the number of bytes of the fields.
    pub(super) fn content(&self, tag: Option<&Tag>) -> u64 {
        let own = own_bytes(tag);
        if self.fields.is_empty() { 0 } else { self.used.saturating_sub(own) }
    }
}

/// The parts of a type, its tag, and its unused bytes.
#[derive(Clone, Debug)]
pub(super) struct Measured<'a> {
    pub(super) tag: Option<&'a Tag>,
    /// Whether the parts are variants or states, not one struct or union.
    pub(super) has_variants: bool,
    pub(super) parts: Vec<Part<'a>>,
    /// Padding: bytes that no variant uses.
    pub(super) padding: u64,
    /// The largest variant of an enum, and the bytes by which it exceeds the next.
    pub(super) gap: Option<(usize, u64)>,
}

/// Returns `true` if `layout` lists types of this kind.
pub(super) fn is_listed(ty: &Type) -> bool {
    matches!(ty.kind, Kind::Struct(_) | Kind::Union(_) | Kind::Enum(_) | Kind::Closure(_) | Kind::Coroutine(_))
}

/// Measures a type.
pub(super) fn measure<'a>(program: &'a Program, ty: &'a Type) -> Measured<'a> {
    type Named<'a> = (&'a str, Vec<&'a Field>);
    let (tag, has_variants, fields): (Option<&Tag>, bool, Vec<Named<'_>>) = match &ty.kind {
        Kind::Struct(fields) | Kind::Union(fields) | Kind::Closure(fields) | Kind::WidePointer { fields, .. } => {
            (None, false, vec![("", fields.iter().collect())])
        }
        Kind::Enum(def) => {
            let variants = def.variants.iter().map(|variant| (&*variant.name, variant.fields.iter().collect()));
            (def.tag.as_ref(), true, variants.collect())
        }
        Kind::Coroutine(coroutine) => {
            let states = coroutine.states.iter().map(|state| (&*state.name, state_fields(state)));
            (coroutine.tag.as_ref(), true, states.collect())
        }
        _ => (None, false, Vec::new()),
    };
    let parts: Vec<Part<'_>> = fields.into_iter().map(|(name, fields)| part(program, ty, name, fields, tag)).collect();
    // A type without parts (`u8`, a pointer) has no padding.
    let padding = ty.size.saturating_sub(parts.iter().map(|part| part.used).max().unwrap_or(ty.size));
    let mut ends: Vec<(u64, usize)> = parts.iter().enumerate().map(|(index, part)| (part.end, index)).collect();
    ends.sort_by_key(|(end, index)| (std::cmp::Reverse(*end), *index));
    // A future passes through all its states, so a large state is no waste.
    let gap = match (matches!(ty.kind, Kind::Enum(_)), &ends[..]) {
        (true, [(largest, index), (next, _), ..]) if largest > next => Some((*index, largest - next)),
        _ => None,
    };
    // An uninhabited or foreign type may have a size without fields: the use of its bytes is unknown.
    let padding = if parts.iter().all(|part| part.fields.is_empty()) && tag.is_none() { 0 } else { padding };
    Measured { tag, has_variants, parts, padding, gap }
}

/// Returns the values that a state holds, by offset.
pub(super) fn state_fields(state: &State) -> Vec<&Field> {
    let mut fields: Vec<&Field> = state.held.iter().chain(&state.awaited).collect();
    fields.sort_by_key(|field| field.offset);
    fields
}

fn part<'a>(program: &Program, ty: &Type, name: &'a str, fields: Vec<&'a Field>, tag: Option<&Tag>) -> Part<'a> {
    let mut ranges: Vec<(u64, u64)> = fields
        .iter()
        .map(|field| (field.offset, field.offset.saturating_add(program.size_of(field.ty)).min(ty.size)))
        .chain(tag.map(|tag| (tag.offset, tag.offset.saturating_add(tag.size).min(ty.size))))
        .filter(|(start, end)| start < end)
        .collect();
    ranges.sort_unstable();
    let (mut used, mut end) = (0, 0);
    for (start, stop) in ranges {
        used += stop.saturating_sub(start.max(end));
        end = end.max(stop);
    }
    let mut sorted: Vec<(u64, u64)> = fields.iter().map(|field| (field.offset, program.size_of(field.ty))).collect();
    sorted.sort_unstable();
    let (mut last, mut gaps, mut next) = (0, 0_u64, own_bytes(tag));
    for (offset, size) in sorted {
        gaps = gaps.saturating_add(offset.saturating_sub(next));
        next = offset.saturating_add(size);
        last = next.max(last);
    }
    Part { name, fields, end, used, last, gaps }
}

/// Returns the number of bytes of a tag, or 0 if the tag is in a field's niche.
fn own_bytes(tag: Option<&Tag>) -> u64 {
    tag.filter(|tag| tag.niche.is_none()).map_or(0, |tag| tag.size)
}

/// The types that contain each type by value.
#[derive(Debug)]
pub(super) struct Embedding {
    outer: HashMap<TypeId, Vec<TypeId>>,
}

impl Embedding {
    pub(super) fn new(program: &Program) -> Self {
        let mut outer: HashMap<TypeId, Vec<TypeId>> = HashMap::new();
        for (id, ty) in program.types() {
            let mut add = |inner: TypeId| {
                let outer = outer.entry(inner).or_default();
                if outer.last() != Some(&id) && inner != id {
                    outer.push(id);
                }
            };
            match &ty.kind {
                Kind::Array { element, count: 1.. } => add(*element),
                _ => measure(program, ty).parts.iter().flat_map(|part| &part.fields).for_each(|field| add(field.ty)),
            }
        }
        for outer in outer.values_mut() {
            outer.sort_unstable();
            outer.dedup();
        }
        Self { outer }
    }

    /// Returns the types that contain `id` directly, largest first.
    pub(super) fn outer(&self, program: &Program, id: TypeId) -> Vec<TypeId> {
        let mut outer = self.outer.get(&id).cloned().unwrap_or_default();
        outer.sort_by_key(|outer| (std::cmp::Reverse(program.size_of(*outer)), *outer));
        outer
    }

    /// Returns the types that contain `id` directly.
    pub(super) fn inside(&self, id: TypeId) -> &[TypeId] {
        self.outer.get(&id).map_or(&[], |outer| outer)
    }

    /// Returns the outermost type whose size is mainly due to `id`, and the bytes that values of `id` take in it: at
    /// each step inward, one field takes at least half of the bytes, or all elements of an array do. Types of the
    /// workspace take precedence over wrappers of the standard library.
    pub(super) fn makes_big(&self, program: &Program, id: TypeId) -> Option<(TypeId, u64)> {
        let mut best: Option<(TypeId, u64)> = None;
        let mut current = id;
        let mut taken = program.size_of(id);
        for _ in 0..32 {
            let size = program.size_of(current);
            let outer = self.outer(program, current);
            let is_array = |outer: TypeId| matches!(program.get(outer).kind, Kind::Array { .. });
            let big = outer
                .into_iter()
                .filter(|outer| size > 0 && (is_array(*outer) || program.size_of(*outer) <= size.saturating_mul(2)));
            let Some(next) = big.max_by_key(|outer| (program.get(*outer).own, program.size_of(*outer))) else { break };
            if next == id || best.is_some_and(|(best, _)| best == next) {
                break;
            }
            current = next;
            let ty = program.get(next);
            if let Kind::Array { count, .. } = ty.kind {
                taken = taken.saturating_mul(count);
            }
            // `ManuallyDrop` and `MaybeUninit` are of std's collections.
            let is_wrapper = ty.path.starts_with("core::mem::");
            if is_listed(ty) && !is_wrapper && (ty.own || best.is_none_or(|(best, _)| !program.get(best).own)) {
                best = Some((next, taken));
            }
        }
        best
    }
}
