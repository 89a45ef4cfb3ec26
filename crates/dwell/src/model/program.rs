//! The types of a program, and the counts at each of their sites.

use super::layout::Layout;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// Number of a struct or enum in a [`Program`].
pub type DefId = usize;

/// Number of a site in a [`Program`].
pub type SiteId = usize;

/// The types of a program and the counts at each of their sites. `sites[0]` is the single root value.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// The structs and enums, each once.
    pub defs: Vec<Def>,
    /// The sites: each is a field, or a part of a field's type, in the source.
    pub sites: Vec<Site>,
    /// Bytes of the value itself.
    pub inline: u64,
}

/// A struct or enum.
#[derive(Debug, Clone)]
pub struct Def {
    /// Its name without paths.
    pub name: String,
    /// The layout that it has.
    pub own: Layout,
    /// Whether its definition can be changed: it is not a type of std or of another crate.
    pub is_editable: bool,
    /// Of an enum, whether it is one.
    pub is_enum: bool,
    /// How the fields of a struct are laid out.
    pub repr: ReprOf,
    /// One for a struct.
    pub variants: Vec<VariantDef>,
}

/// How the fields of a struct are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReprOf {
    /// In the compiler's order.
    Rust,
    /// In order of declaration.
    C,
    /// In order of declaration, without padding.
    Packed,
}

/// A variant of an enum, or all of a struct.
#[derive(Debug, Clone)]
pub struct VariantDef {
    /// Its name; that of the type for a struct.
    pub name: String,
    /// Its fields in order of declaration.
    pub fields: Vec<FieldDef>,
    /// The counts of the variant; zero for a struct.
    pub counts: Counts,
}

/// A field.
#[derive(Debug, Clone)]
pub struct FieldDef {
    /// Its name, or number.
    pub name: String,
    /// Its attributes that a change of its type keeps, as they are written.
    pub attributes: &'static str,
    /// Where its type is written.
    pub site: SiteId,
}

/// A site: where the source names a type.
#[derive(Debug, Clone)]
pub struct Site {
    /// As a person writes it: `Shape.traits`, `Shape.members key`.
    pub path: String,
    /// The name of the type without paths.
    pub ty: String,
    /// The parts of the type.
    pub shape: Shape,
    /// The layout that it has.
    pub own: Layout,
    /// The part of its parent that it is.
    pub edge: Edge,
    /// The struct or enum that contains it; `None` for the type of the value itself.
    pub def: Option<DefId>,
    /// Whether its text can be changed.
    pub is_editable: bool,
    /// The counts.
    pub counts: Counts,
}

/// Which part of its owner a site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Edge {
    /// The value itself.
    Root,
    /// The field of a struct or of a variant, by numbers.
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
    /// An `Option`, or another type that is laid out as one.
    Optional {
        /// What it holds.
        some: SiteId,
        /// Whether it is an `Option`.
        is_option: bool,
    },
    /// A cell or lock around one value.
    Wrapper(SiteId),
    /// An array.
    Array(SiteId, u64),
    /// A string.
    Text(Holder),
    /// Many values in blocks.
    Sequence(Holder, SiteId),
    /// Keys and values.
    Map(Holder, SiteId, SiteId),
    /// A value in a block of its own.
    Pointer(Holder, SiteId),
}

/// The kind of a collection or pointer, which determines its blocks and the possible changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// `String`, `Vec<T>`, `HashMap<K, V>`: may have more capacity than it uses.
    Growable,
    /// Of that layout, but another type: `VecDeque`, `OsString`, `IndexMap`.
    LikeGrowable,
    /// `str`, `[T]`, `CStr`: has no size of its own.
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
    /// Another, unknown type.
    Other,
}

/// The counts at a site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Slots, occupied or vacant.
    pub slots: u64,
    /// Slots that hold a value.
    pub instances: u64,
    /// Values that are not empty.
    pub filled: u64,
    /// Those of them that equal the default of their type.
    pub defaults: u64,
    /// Requested bytes of the blocks that the values own directly.
    pub requested: u64,
    /// How many blocks.
    pub allocations: u64,
    /// Unused bytes of those blocks.
    pub waste: u64,
    /// Blocks without a byte in use.
    pub hollow: u64,
    /// Strings of [`LONG_TEXT`](super::LONG_TEXT) bytes and more.
    pub long: u64,
    /// Slots in those blocks for the first part: elements, keys, targets.
    pub element_slots: u64,
    /// The number of occupied ones among them.
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
    /// The sites of the parts that a site's type contains inline.
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

    /// What an `Option` holds, or the site itself.
    pub fn without_option(&self, site: SiteId) -> SiteId {
        match self.sites[site].shape {
            Shape::Optional { some, is_option: true } => some,
            _ => site,
        }
    }
}
