//! The types of a program, and the counts at each of their sites.

use super::layout::Layout;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// The number of a struct or enum in a [`Program`].
pub type DefId = usize;

/// The number of a site in a [`Program`].
pub type SiteId = usize;

/// The types of a program and the counts at each of their sites. `sites[0]` is the single root value.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The structs and enums, each once.
    pub defs: Vec<Def>,
    /// The sites. Each is a field, or a part of a field's type, in the source.
    pub sites: Vec<Site>,
    /// The bytes of the root value itself.
    pub inline: u64,
}

/// A struct or enum.
#[derive(Debug, Clone)]
pub struct Def {
    /// The name without paths.
    pub name: String,
    /// The present layout.
    pub own: Layout,
    /// Whether the definition can be changed: the type is not from std or another crate.
    pub is_editable: bool,
    /// Whether all threads may share a value, as they share the default of a `Sparse`.
    pub is_shareable: bool,
    /// Whether the type is an enum.
    pub is_enum: bool,
    /// The order of the fields of a struct.
    pub repr: ReprOf,
    /// The variants; a struct has one.
    pub variants: Vec<VariantDef>,
}

/// The order of the fields of a struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReprOf {
    /// The compiler orders the fields.
    Rust,
    /// The compiler orders the fields and leaves the last field last, since its type may be unsized.
    Tail,
    /// The fields are in order of declaration.
    C,
    /// The fields are in order of declaration, with less padding than their alignments require.
    Packed,
}

/// A variant of an enum, or a struct as its single variant.
#[derive(Debug, Clone)]
pub struct VariantDef {
    /// The name; for a struct, the name of the type.
    pub name: String,
    /// The fields in order of declaration.
    pub fields: Vec<FieldDef>,
    /// The counts of the variant; zero for a struct.
    pub counts: Counts,
}

/// A field of a struct or variant.
#[derive(Debug, Clone)]
pub struct FieldDef {
    /// The name, or the number.
    pub name: String,
    /// The text of the attributes that a change of the type keeps.
    pub attributes: &'static str,
    /// The site of the field's type.
    pub site: SiteId,
}

/// A site: a position in the source that names a type.
#[derive(Debug, Clone)]
pub struct Site {
    /// The path: `Shape.traits`, `Shape.members key`.
    pub path: String,
    /// The name of the type without paths.
    pub ty: String,
    /// The parts of the type.
    pub shape: Shape,
    /// The present layout.
    pub own: Layout,
    /// The position in its owner.
    pub edge: Edge,
    /// The struct or enum whose definition contains the site; `None` for the root value and its parts.
    pub def: Option<DefId>,
    /// Whether the source of the site can be changed.
    pub is_editable: bool,
    /// The counts.
    pub counts: Counts,
}

/// The position of a site in its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// The root value.
    Root,
    /// A field, by the number of the variant (0 for a struct) and the number of the field.
    Field(usize, usize),
    /// A part of a tuple.
    Tuple(usize),
    /// The value of an option.
    Optional,
    /// The value of a cell or lock.
    Inner,
    /// The elements of an array.
    Array,
    /// The elements of a collection.
    Element,
    /// The keys of a map.
    Key,
    /// The values of a map.
    Value,
    /// The target of a pointer.
    Pointee,
}

/// The parts of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// No parts that could change.
    Leaf,
    /// A struct or enum.
    Def(DefId),
    /// A tuple.
    Tuple(Vec<SiteId>),
    /// An `Option`, or another type with the same layout.
    Optional {
        /// The value of `Some`.
        some: SiteId,
        /// Whether the type is `Option`.
        is_option: bool,
    },
    /// A cell or lock around one value.
    Wrapper(SiteId),
    /// An array.
    Array(SiteId, u64),
    /// A string.
    Text(Holder),
    /// A collection of values in blocks.
    Sequence(Holder, SiteId),
    /// A map of keys and values.
    Map(Holder, SiteId, SiteId),
    /// A pointer to a value in its own block.
    Pointer(Holder, SiteId),
}

/// The kind of a collection or pointer, which determines its blocks and the possible changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// `String`, `Vec<T>`, `HashMap<K, V>`: may have spare capacity.
    Growable,
    /// Another type with blocks like those: `VecDeque`, `OsString`, `IndexMap`.
    LikeGrowable,
    /// `str`, `[T]`, `CStr`: an unsized type.
    Unsized,
    /// `Box<T>`
    Box,
    /// `Sparse<T>`
    Sparse,
    /// `Rc<T>`, `Arc<T>`
    Counted,
    /// `LinkedList<T>`
    Linked,
    /// `BTreeMap<K, V>`
    BTree,
    /// `ThinStr`, `ThinSlice<T>`, `SortedMap<K, V>`
    Thin,
    /// Any other type.
    Other,
}

/// The counts at a site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of slots, occupied or vacant.
    pub slots: u64,
    /// The number of slots that hold a value.
    pub instances: u64,
    /// The number of values that are not empty.
    pub filled: u64,
    /// The number of `filled` values that equal the default of their type.
    pub defaults: u64,
    /// Requested bytes of the blocks that the values own directly.
    pub requested: u64,
    /// The number of those blocks.
    pub allocations: u64,
    /// Unused bytes of those blocks.
    pub waste: u64,
    /// The number of those blocks without a used byte.
    pub hollow: u64,
    /// The number of strings of at least [`LONG_TEXT`](super::LONG_TEXT) bytes.
    pub long: u64,
    /// The number of slots in those blocks for the first part: elements, keys, targets.
    pub element_slots: u64,
    /// The number of `element_slots` that are occupied.
    pub used: u64,
}

impl Counts {
    /// Adds other counts.
    pub fn add(&mut self, other: &Self) {
        let Self {
            slots,
            instances,
            filled,
            defaults,
            requested,
            allocations,
            waste,
            hollow,
            long,
            element_slots,
            used,
        } = self;
        for (sum, more) in [
            (slots, other.slots),
            (instances, other.instances),
            (filled, other.filled),
            (defaults, other.defaults),
            (requested, other.requested),
            (allocations, other.allocations),
            (waste, other.waste),
            (hollow, other.hollow),
            (long, other.long),
            (element_slots, other.element_slots),
            (used, other.used),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

impl Program {
    /// Returns the sites of the parts of a site's type, except the fields of a struct or enum.
    pub fn parts(&self, site: SiteId) -> Vec<SiteId> {
        match &self.sites[site].shape {
            Shape::Leaf | Shape::Def(_) | Shape::Text(_) => Vec::new(),
            Shape::Tuple(parts) => parts.clone(),
            Shape::Optional { some: part, .. }
            | Shape::Wrapper(part)
            | Shape::Array(part, _)
            | Shape::Sequence(_, part)
            | Shape::Pointer(_, part) => Vec::from([*part]),
            Shape::Map(_, key, value) => Vec::from([*key, *value]),
        }
    }

    /// Returns the site of the value in an `Option`, or the site itself.
    pub fn without_option(&self, site: SiteId) -> SiteId {
        match self.sites[site].shape {
            Shape::Optional { some, is_option: true } => some,
            _ => site,
        }
    }
}
