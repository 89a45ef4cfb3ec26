//! The types, functions and statics of a unit as their entries describe them.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A handle of a type in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Handle(pub(super) u32);

/// A static, a thread-local variable or a vtable, with the global offset of its type.
#[derive(Debug)]
pub(super) struct RawStatic {
    pub address: u64,
    pub is_thread_local: bool,
    pub path: Box<str>,
    pub ty: Option<u64>,
}

/// The types of a unit, by their handles in the pool.
#[derive(Debug)]
pub(super) struct UnitTypes {
    pub name: String,
    pub base: u64,
    /// Offsets from `base` with handles, sorted.
    pub types: Vec<(u32, Handle)>,
    /// Unnamed types.
    pub unnamed: Vec<Unnamed>,
}

/// An array, or a pointer without a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unnamed {
    /// Offset from the unit's base.
    pub at: u32,
    /// The global offset of the element or of the pointer's target.
    pub target: u64,
    /// The number of elements; `None` for a pointer.
    pub count: Option<u64>,
}

/// A type as its entries describe it. References are global offsets.
#[derive(Debug)]
pub(super) struct RawType<'d> {
    pub path: Box<str>,
    pub kind: RawKind,
    pub size: u64,
    pub align: Option<u64>,
    pub fields: Vec<RawField<'d>>,
    pub variants: Vec<RawVariant<'d>>,
    /// The tag's offset and type.
    pub tag: Option<(u64, Option<u64>)>,
    pub params: Vec<(&'d [u8], Option<u64>)>,
    /// The target of a pointer, or the concrete type of a vtable.
    pub target: Option<u64>,
    pub is_public: bool,
    pub unit: u32,
    pub offset: u64,
}

impl RawType<'_> {
    /// Returns `true` if the entries say only that the type exists.
    pub(super) fn is_declaration(&self) -> bool {
        self.kind == RawKind::Opaque && self.size == 0
    }

    /// Returns an estimate of the type's memory here and as a [`Type`](super::Type).
    pub(super) fn bytes(&self) -> u64 {
        let fields: usize = self.variants.iter().map(|variant| variant.fields.len() + 2).sum();
        let fields = fields + self.fields.len() + self.params.len();
        (size_of::<Self>() + 2 * self.path.len() + fields * size_of::<RawField>()) as u64
    }
}

/// The kind of an entry, from its DWARF tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum RawKind {
    Base,
    Struct,
    Union,
    /// A struct with a variant part.
    Variants,
    /// An enumeration type.
    Enumeration,
    Pointer,
    Vtable,
    Opaque,
}

#[derive(Clone, Debug)]
pub(super) struct RawField<'d> {
    pub name: &'d [u8],
    pub ty: Option<u64>,
    pub offset: u64,
    /// The alignment of its type.
    pub align: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) struct RawVariant<'d> {
    pub name: &'d [u8],
    pub discriminants: Discriminants,
    pub fields: Vec<RawField<'d>>,
    pub source: Option<(Arc<str>, u32)>,
}

/// The tag values of a variant.
#[derive(Clone, Debug, Default, Hash)]
pub(super) struct Discriminants {
    pub(super) values: Vec<RangeInclusive<i128>>,
    /// The number of bytes of the constant, if its form has no sign; 0 otherwise.
    pub(super) bytes: u32,
}

impl Discriminants {
    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the values for a tag with or without a sign. LLVM writes the constant in the fewest bytes for this kind
    /// of tag: one byte of 251 is -5 for an `i16`, and 251 for a `u16`.
    pub(super) fn of_tag(&self, is_signed: bool) -> Vec<RangeInclusive<i128>> {
        let unused = 128 - 8 * self.bytes;
        let extend = |value: i128| if is_signed && self.bytes > 0 { value << unused >> unused } else { value };
        self.values.iter().map(|range| extend(*range.start())..=extend(*range.end())).collect()
    }
}

/// The function of a closure or coroutine.
#[derive(Debug)]
pub(super) struct Body {
    pub file: Arc<str>,
    pub line: u32,
    pub variables: Vec<Variable>,
    pub(super) offset: u64,
}

/// A local variable of a coroutine's function.
#[derive(Debug)]
pub(super) struct Variable {
    pub name: Box<str>,
    pub line: u32,
    /// Its offset in the coroutine, if the debug info gives one for the whole scope.
    pub offset: Option<u64>,
}

/// Keeps the copy of a generic function with the most variables, since the optimiser may have removed some in others.
pub(super) fn merge_body(bodies: &mut HashMap<String, Body>, path: String, body: Body) {
    let better = |kept: &Body| (kept.variables.len(), body.offset) < (body.variables.len(), kept.offset);
    if bodies.get(&path).is_none_or(better) {
        bodies.insert(path, body);
    }
}
