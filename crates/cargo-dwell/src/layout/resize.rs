//! The sizes of types after some of their parts have moved to boxes, by the layout rules of `dwell_model`.

use super::measure::Embedding;
use dwell_debuginfo::{Field, Kind, Program, Type, TypeId};
use dwell_model::layout::{self, Layout, Niche};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// The deepest nesting of types that is followed. This bounds the recursion on damaged debug info.
const DEEPEST: u32 = 64;
/// The number of types that contain a changed one and are laid out again.
const OUTER: usize = 4000;

/// A part of a type that moves to a box. Variants and fields are numbers; a struct has the variant 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Part {
    /// One field of a variant.
    Field(TypeId, usize, usize),
    /// All fields of a variant, in one box.
    Variant(TypeId, usize),
    /// A `String` or `Vec` of a variant, as a `Box<str>` or `Box<[T]>`.
    Slice(TypeId, usize, usize),
    /// An `Option` of a variant whose value has a niche for `None`.
    Niche(TypeId, usize, usize),
    /// A `bool` of a variant, as a bit of an integer.
    Flag(TypeId, usize, usize),
}

/// The fields of a struct, or those of each variant of an enum.
pub(super) fn variants(ty: &Type) -> Vec<&[Field]> {
    match &ty.kind {
        Kind::Struct(fields) | Kind::Closure(fields) => vec![fields],
        Kind::Enum(def) => def.variants.iter().map(|variant| &variant.fields[..]).collect(),
        _ => Vec::new(),
    }
}

/// Returns the `T` of `Option<T>`.
pub(super) fn optional(program: &Program, id: TypeId) -> Option<TypeId> {
    let ty = program.get(id);
    let Kind::Enum(def) = &ty.kind else { return None };
    let some = def.variants.iter().find(|variant| &*variant.name == "Some")?;
    Some(some.fields.first().filter(|_| ty.path.starts_with("core::option::Option<"))?.ty)
}

/// The present layouts of types, and those after the parts in `boxed` have moved to boxes.
#[derive(Debug)]
pub(super) struct Sizes<'p> {
    program: &'p Program,
    present: RefCell<HashMap<TypeId, Layout>>,
    boxed: HashSet<Part>,
    /// The types that the boxes change.
    changed: HashMap<TypeId, Layout>,
}

impl<'p> Sizes<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self { program, present: RefCell::default(), boxed: HashSet::new(), changed: HashMap::new() }
    }

    /// Returns the layout of a type.
    pub(super) fn layout(&self, id: TypeId) -> Layout {
        self.changed.get(&id).copied().unwrap_or_else(|| self.present(id, 0))
    }

    /// Returns `true` if a part is in a box.
    pub(super) fn is_boxed(&self, part: Part) -> bool {
        self.boxed.contains(&part)
    }

    /// Returns `true` if a value of `outer` still has one of `inner` in it.
    pub(super) fn is_inline(&self, inner: TypeId, outer: TypeId) -> bool {
        if self.boxed.is_empty() {
            return true;
        }
        let variants = variants(self.program.get(outer));
        variants.is_empty()
            || variants.iter().enumerate().any(|(variant, fields)| {
                let is_inline = |(field, member): (usize, &Field)| {
                    member.ty == inner && !self.is_boxed(Part::Field(outer, variant, field))
                };
                !self.is_boxed(Part::Variant(outer, variant)) && fields.iter().enumerate().any(is_inline)
            })
    }

    /// Returns the layouts of all types that change if these parts of `id` move to boxes too.
    pub(super) fn after(&self, embedding: &Embedding, id: TypeId, parts: &[Part]) -> HashMap<TypeId, Layout> {
        let mut affected = HashSet::from([id]);
        let mut left = vec![id];
        while let Some(inner) = left.pop() {
            for &outer in embedding.inside(inner) {
                if affected.len() < OUTER && self.is_inline(inner, outer) && affected.insert(outer) {
                    left.push(outer);
                }
            }
        }
        let mut trial = Trial { sizes: self, parts, affected: &affected, known: HashMap::new() };
        for &id in &affected {
            trial.layout(id, 0);
        }
        let mut known = trial.known;
        known.retain(|id, layout| self.layout(*id).size != layout.size);
        known
    }

    /// Moves parts to boxes. `layouts` are those that [`after`](Self::after) returned.
    pub(super) fn apply(&mut self, parts: &[Part], layouts: HashMap<TypeId, Layout>) {
        self.boxed.extend(parts);
        self.changed.extend(layouts);
    }

    /// Returns the layout by the debug info, with the niche that the rules give if they give the same size.
    fn present(&self, id: TypeId, depth: u32) -> Layout {
        if let Some(&known) = self.present.borrow().get(&id) {
            return known;
        }
        let ty = self.program.get(id);
        let is = Layout { niche_sure: false, ..Layout::plain(ty.size, ty.align.max(1)) };
        if depth > DEEPEST {
            return is;
        }
        let by_rules = self.by_rules(id, &mut |part| self.present(part, depth + 1), &|_| false).unwrap_or(is);
        let found = if (by_rules.size, by_rules.align) == (is.size, is.align) { by_rules } else { is };
        self.present.borrow_mut().insert(id, found);
        found
    }

    /// Returns the number of values of a word that have its high bit set: those that no capacity has.
    fn high_bit(&self) -> u128 {
        1 << (8 * self.program.pointer_size.clamp(1, 8) - 1)
    }

    /// Returns the layout that the rules give. `None` for types whose parts are not known.
    fn by_rules(
        &self,
        id: TypeId,
        layout_of: &mut dyn FnMut(TypeId) -> Layout,
        boxed: &dyn Fn(Part) -> bool,
    ) -> Option<Layout> {
        let ty = self.program.get(id);
        let is = Layout::plain(ty.size, ty.align.max(1));
        let size = self.program.pointer_size;
        let word = |free: u128| Layout { niche: Some(Niche { offset: 0, size, free }), ..is };
        let pointer = Layout::words_of(size, 1, 1);
        let head = ty.path.split('<').next().unwrap_or_default();
        let all = variants(ty);
        let mut variant = |number: usize| -> Vec<Layout> {
            if boxed(Part::Variant(id, number)) {
                return vec![pointer];
            }
            let is_flag = |(field, _): &(usize, &Field)| boxed(Part::Flag(id, number, *field));
            let flags = all[number].iter().enumerate().filter(is_flag).count() as u64;
            let fields = all[number].iter().enumerate().filter(|field| !is_flag(field));
            let integer = (flags > 0).then(|| integer_of(flags));
            fields
                .map(|(field, part)| match optional(self.program, part.ty) {
                    Some(_) if boxed(Part::Field(id, number, field)) => Layout::words_of(size, 1, 0),
                    Some(inside) if boxed(Part::Niche(id, number, field)) => {
                        Layout { niche: None, ..layout_of(inside) }
                    }
                    None if boxed(Part::Field(id, number, field)) => pointer,
                    None if boxed(Part::Slice(id, number, field)) => Layout::words_of(size, 2, 1),
                    _ => layout_of(part.ty),
                })
                .chain(integer)
                .collect()
        };
        Some(match (head, &ty.kind) {
            (_, Kind::Primitive) => match &*ty.path {
                "bool" => Layout::BOOL,
                "char" => Layout::CHAR,
                _ => is,
            },
            ("alloc::vec::Vec" | "alloc::string::String", _) => word(self.high_bit()),
            ("core::cell::UnsafeCell" | "core::mem::maybe_uninit::MaybeUninit", _) => is,
            ("core::ptr::non_null::NonNull", _) => word(1),
            (path, _) if path.starts_with("core::num::nonzero::NonZero") => Layout::scalar(ty.size, 1),
            (path, _) if path.ends_with("UsizeNoHighBit") => word(self.high_bit()),
            (path, _) if path.ends_with("::Nanoseconds") => {
                Layout { niche: Some(Niche { offset: 0, size: 4, free: (1 << 32) - 1_000_000_000 }), ..is }
            }
            (path, Kind::Pointer { .. } | Kind::WidePointer { .. }) => {
                if path.starts_with(['&', 'f', 'e', 'u']) || path.starts_with("alloc::boxed::Box") {
                    word(1)
                } else {
                    is
                }
            }
            (_, Kind::Struct(fields)) => {
                let parts = variant(0);
                let in_order = |layout: Layout| layout.size == ty.size && layout.align == ty.align;
                if ty.path.starts_with('(') {
                    layout::tuple(&parts)
                } else if fields.is_sorted_by_key(|field| field.offset)
                    && !in_order(layout::structure(&parts))
                    && in_order(layout::declared(&parts))
                {
                    layout::declared(&parts)
                } else {
                    layout::structure(&parts)
                }
            }
            (_, Kind::Closure(_)) => layout::structure(&variant(0)),
            (_, Kind::Enum(_)) => {
                let parts: Vec<Vec<Layout>> = (0..all.len()).map(variant).collect();
                layout::enumeration(&parts)
            }
            (_, Kind::Array { element, count }) => layout::array(layout_of(*element), *count),
            _ => return None,
        })
    }
}

/// Returns the layout of the smallest integers with so many bits.
fn integer_of(bits: u64) -> Layout {
    match bits {
        ..=64 => Layout::scalar(bits.div_ceil(8).next_power_of_two(), 0),
        _ => layout::array(Layout::scalar(8, 0), bits.div_ceil(64)),
    }
}

/// Layouts with further boxes.
struct Trial<'a, 'p> {
    sizes: &'a Sizes<'p>,
    parts: &'a [Part],
    affected: &'a HashSet<TypeId>,
    known: HashMap<TypeId, Layout>,
}

impl Trial<'_, '_> {
    fn layout(&mut self, id: TypeId, depth: u32) -> Layout {
        let sizes = self.sizes;
        if !self.affected.contains(&id) || depth > DEEPEST {
            return sizes.layout(id);
        }
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let own = sizes.present(id, 0);
        // A type cannot contain itself; for damaged debug info it keeps its size.
        self.known.insert(id, sizes.layout(id));
        let parts = self.parts;
        let is_boxed = |part| sizes.is_boxed(part) || parts.contains(&part);
        let before = sizes.by_rules(id, &mut |part| sizes.present(part, 0), &|_| false);
        let after = sizes.by_rules(id, &mut |part| self.layout(part, depth + 1), &is_boxed);
        let found = match (before, after) {
            (Some(before), Some(after)) => checked(own, before, after),
            _ => own,
        };
        self.known.insert(id, found);
        found
    }
}

/// Returns the layout of a changed type by the rules, or an estimate if the rules do not give the present layout.
fn checked(own: Layout, before: Layout, after: Layout) -> Layout {
    if (own.size, own.align) == (before.size, before.align) {
        return after;
    }
    let size = own.size.saturating_sub(before.size.saturating_sub(after.size));
    Layout { size: layout::up(size, after.align), niche_sure: false, ..after }
}
