//! What is known of a type before any of its values is seen.

use super::Weigh;
use core::any::type_name;
use core::fmt;
use core::ops::Deref;

/// How far a value of a type reaches, which is how far a walk follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// All values are the same to a walk: nothing outside them, nothing that may be absent.
    Plain,
    /// Owns nothing outside itself, but has parts that may be absent: an `Option`, an enum with fields. Only a tree looks
    /// into these.
    Inline,
    /// May own memory.
    Heap,
}

impl Reach {
    /// The farther of two, in constants.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if self as u8 >= other as u8 { self } else { other }
    }

    /// Whether a walk passes by such values.
    pub(super) const fn is_skipped(self, tree: bool) -> bool {
        match self {
            Self::Plain => true,
            Self::Inline => !tree,
            Self::Heap => false,
        }
    }
}

/// A type as a tree sees it: name, size and parts.
///
/// Each type has one as [`Weigh::TYPE`]. The compiler may keep more than one copy of it; [`is`](Self::is) compares what
/// they say.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
#[non_exhaustive]
pub struct Type {
    name: fn() -> &'static str,
    shown_as: Option<&'static str>,
    /// Bytes of a value; 0 for an unsized type.
    pub size: usize,
    /// The alignment of a value; 1 for an unsized type.
    pub align: usize,
    /// Whether `Option<T>` is as small as `T`.
    pub has_niche: bool,
    /// Whether values have a size known to the compiler.
    pub is_sized: bool,
    /// What values consist of.
    pub kind: Kind,
    /// How far values reach.
    pub reach: Reach,
    /// Whether it is described by `#[derive(Weigh)]`: its text is at hand.
    pub(super) is_derived: bool,
    /// Whether the compiler's rules say how it is laid out, without a `repr` or discriminants of its own.
    pub(super) is_regular: bool,
}

/// The type of a part. A function, since types may be recursive.
pub type Part = fn() -> &'static Type;

/// The description of `T`, to be named where a [`Part`] is wanted.
pub fn type_of<T: Weigh + ?Sized>() -> &'static Type {
    T::TYPE
}

/// The description of a type that is not `Weigh`.
pub(super) fn opaque_type_of<T>() -> &'static Type {
    const { &Type::foreign::<T>(Kind::Opaque) }
}

/// The description of what is not known at all.
pub(super) const fn opaque_type_of_unit() -> &'static Type {
    const { &Type::foreign::<()>(Kind::Opaque) }
}

/// The description of a pointer whose target is shared.
pub(super) fn shared_type_of<P: Deref<Target: Weigh>>() -> &'static Type {
    const { &Type::foreign::<P>(Kind::Pointer { to: type_of::<P::Target>, shared: true }) }
}

/// What the values of a type consist of. The numbers are those by which the walk names the parts.
#[derive(Debug)]
#[non_exhaustive]
pub enum Kind {
    /// No parts.
    Plain,
    /// Parts that the walk does not know, as in a `dyn Any`.
    Opaque,
    /// A struct or tuple; part `i` is field `i`.
    Struct {
        /// In order of declaration.
        fields: &'static [Field],
        /// How the fields are laid out.
        repr: Repr,
    },
    /// An enum; part `i` is variant `i`, whose parts are its fields.
    Enum {
        /// In order of declaration.
        variants: &'static [Variant],
    },
    /// An `Option`; part 0 is what it holds.
    Optional {
        /// What it holds.
        some: Part,
    },
    /// A cell or lock; part 0 is what it holds, always there.
    Wrapper {
        /// What it holds.
        inner: Part,
    },
    /// An array; part 0 is its elements.
    Array {
        /// What it holds.
        element: Part,
        /// How many.
        len: usize,
    },
    /// Bytes that are not looked into: a string.
    Text {
        /// Whether it may have more capacity than length.
        growable: bool,
    },
    /// Many values of one type in blocks of their own; part 0 is the elements.
    Sequence {
        /// What it holds.
        element: Part,
        /// Whether it may have more capacity than length.
        growable: bool,
        /// Whether the elements lie side by side in one block.
        contiguous: bool,
    },
    /// Keys (part 0) and values (part 1).
    Map {
        /// What it is sorted or looked up by.
        key: Part,
        /// `()` in a set.
        value: Part,
        /// Bytes of a key and its value side by side.
        entry: usize,
        /// Which kind of map.
        map: MapKind,
    },
    /// A pointer to a value in a block of its own; part 0 is that value.
    Pointer {
        /// What it points to.
        to: Part,
        /// Whether other pointers may point there too.
        shared: bool,
    },
}

/// Which kind of map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapKind {
    /// Buckets and control bytes.
    Hash,
    /// Nodes of up to 11 keys.
    BTree,
    /// Entries side by side.
    Sorted,
}

/// How the fields of a struct are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// In an order of the compiler's choice, without padding but at the end.
    Rust,
    /// In order of declaration, with padding between.
    C,
    /// In order of declaration, with less padding than their alignments ask for.
    Packed,
}

/// A field of a struct or of an enum's variant.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// Its name, or number in a tuple.
    pub name: &'static str,
    /// Bytes of it.
    pub size: usize,
    /// Its alignment.
    pub align: usize,
    /// Bytes before it; not known in an enum.
    pub offset: Option<usize>,
    /// Its type; `None` when the walk leaves it out.
    pub part: Option<Part>,
    /// Attributes of serde's, as they are written.
    pub(super) attributes: &'static str,
    type_name: fn() -> &'static str,
}

/// A variant of an enum.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

impl Type {
    /// The description of a sized type.
    pub const fn new<T: Weigh>(kind: Kind) -> Self {
        Self { reach: T::REACH, ..Self::foreign::<T>(kind) }
    }

    const fn foreign<T>(kind: Kind) -> Self {
        Self {
            name: type_name::<T>,
            shown_as: None,
            size: size_of::<T>(),
            align: align_of::<T>(),
            has_niche: size_of::<Option<T>>() == size_of::<T>(),
            is_sized: true,
            kind,
            reach: Reach::Heap,
            is_derived: false,
            is_regular: true,
        }
    }

    /// The description of a type whose values differ in size.
    pub const fn new_unsized<T: Weigh + ?Sized>(kind: Kind) -> Self {
        Self {
            name: type_name::<T>,
            shown_as: None,
            size: 0,
            align: 1,
            has_niche: false,
            is_sized: false,
            kind,
            reach: T::REACH,
            is_derived: false,
            is_regular: true,
        }
    }

    /// The same under another name.
    #[must_use]
    pub const fn shown_as(mut self, name: &'static str) -> Self {
        self.shown_as = Some(name);
        self
    }

    /// The same, described by the derive.
    #[doc(hidden)]
    #[must_use]
    pub const fn derived(mut self, is_regular: bool) -> Self {
        self.is_derived = true;
        self.is_regular = is_regular;
        self
    }

    /// Whether it is a struct or enum, which alone can hold itself.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.kind, Kind::Enum { .. }) || matches!(self.kind, Kind::Struct { .. }) && !self.is_tuple()
    }

    /// Whether it is a tuple.
    pub(super) fn is_tuple(&self) -> bool {
        (self.name)().starts_with('(')
    }

    /// The name that the compiler gives it.
    pub(super) fn full_name(&self) -> &'static str {
        (self.name)()
    }

    /// Its name, with paths, unless another was chosen.
    pub fn name(&self) -> &'static str {
        self.shown_as.unwrap_or_else(self.name)
    }

    /// Whether it is std's box.
    pub(super) fn is_box(&self) -> bool {
        (self.name)().starts_with("alloc::boxed::Box<")
    }

    /// Whether both describe the same type.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
            || (self.size == other.size
                && self.align == other.align
                && (self.name)() == (other.name)()
                && self.name() == other.name())
    }

    /// How many parts it has, by the numbers of [`Kind`].
    pub(super) fn parts(&self) -> usize {
        match self.kind {
            Kind::Plain | Kind::Opaque | Kind::Text { .. } => 0,
            Kind::Struct { fields, .. } => fields.len(),
            Kind::Enum { variants } => variants.len(),
            Kind::Map { .. } => 2,
            _ => 1,
        }
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the parts: the type may be recursive.
        f.debug_struct("Type")
            .field("name", &self.name())
            .field("size", &self.size)
            .field("align", &self.align)
            .finish_non_exhaustive()
    }
}

impl Field {
    /// A field of type `T`.
    pub const fn new<T: Weigh>(name: &'static str, offset: Option<usize>) -> Self {
        Self {
            name,
            size: size_of::<T>(),
            align: align_of::<T>(),
            offset,
            part: Some(type_of::<T>),
            attributes: "",
            type_name: type_name::<T>,
        }
    }

    /// A field that a function weighs.
    pub const fn opaque<T>(name: &'static str, offset: Option<usize>) -> Self {
        let part: Part = opaque_type_of::<T>;
        Self { part: Some(part), ..Self::skipped::<T>(name, offset) }
    }

    /// A field whose target is shared.
    pub const fn shared<P: Deref<Target: Weigh>>(name: &'static str, offset: Option<usize>) -> Self {
        let part: Part = shared_type_of::<P>;
        Self { part: Some(part), ..Self::skipped::<P>(name, offset) }
    }

    /// A field that the walk leaves out.
    pub const fn skipped<T>(name: &'static str, offset: Option<usize>) -> Self {
        Self {
            name,
            size: size_of::<T>(),
            align: align_of::<T>(),
            offset,
            part: None,
            attributes: "",
            type_name: type_name::<T>,
        }
    }

    /// The same with attributes that a change of its type keeps.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_attributes(mut self, attributes: &'static str) -> Self {
        self.attributes = attributes;
        self
    }

    /// The name of its type, with paths.
    pub fn type_name(&self) -> &'static str {
        self.part.map_or_else(self.type_name, |part| part().name())
    }
}

impl Variant {
    /// A variant with these fields.
    pub const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        Self { name, fields }
    }
}
