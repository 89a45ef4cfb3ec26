//! Descriptions of types: name, size, alignment and parts.

use super::Weigh;
use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use std_alloc::string::String;

/// Whether the values of a type may own memory. This determines whether a walk follows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Values own no memory and have no optional parts. No walk follows them.
    Plain,
    /// Values own no memory but have optional parts: an `Option`, an enum with fields. Only a walk for a tree follows
    /// them.
    Inline,
    /// Values may own memory. Every walk follows them.
    Heap,
}

impl Reach {
    /// Returns the larger of two, as a `const fn`.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if self as u8 >= other as u8 { self } else { other }
    }

    /// Returns the reach of a type with optional parts that own no memory. Zero-size values have no states.
    #[doc(hidden)]
    pub const fn of_parts(size: usize) -> Self {
        if size == 0 { Self::Plain } else { Self::Inline }
    }

    /// Returns whether a walk skips values of this reach.
    pub(super) const fn is_skipped(self, tree: bool) -> bool {
        match self {
            Self::Plain => true,
            Self::Inline => !tree,
            Self::Heap => false,
        }
    }
}

/// The description of a type: name, size and parts.
///
/// Each type that implements [`Weigh`] has one, [`Weigh::TYPE`]. The compiler may emit several copies of it; [`is`](Self::is)
/// compares the contents.
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
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
    /// The parts of the values.
    pub kind: Kind,
    /// Whether values may own memory.
    pub reach: Reach,
    /// Whether `#[derive(Weigh)]` made the description, so that the fields' names and attributes are known.
    pub(super) is_derived: bool,
    /// Whether the type has the default representation: no `repr`, no explicit discriminants.
    pub(super) is_regular: bool,
    /// Whether the compiler leaves the last field last, since its type may be unsized.
    pub(super) has_tail: bool,
}

/// A function that returns the type of a part. It is not the type itself, since types may be recursive.
pub type Part = fn() -> &'static Type;

/// Returns the description of `T`. This function is a [`Part`].
pub fn type_of<T: Weigh + ?Sized>() -> &'static Type {
    T::TYPE
}

/// Returns the description of a type that does not implement `Weigh`.
pub(super) fn opaque_type_of<T>() -> &'static Type {
    const { &Type::foreign::<T>(Kind::Opaque) }
}

/// Returns the description of a part of unknown type.
pub(super) const fn opaque_type_of_unit() -> &'static Type {
    const { &Type::foreign::<()>(Kind::Opaque) }
}

/// Returns the description of a shared pointer.
pub(super) fn shared_type_of<P: Deref<Target: Weigh>>() -> &'static Type {
    const { &Type::foreign::<P>(Kind::Pointer { to: type_of::<P::Target>, shared: true }) }
}

/// The parts of a type's values, with the part numbers that a [`Walk`](super::Walk) uses.
#[derive(Debug)]
#[non_exhaustive]
pub enum Kind {
    /// No parts.
    Plain,
    /// Unknown parts, such as those of a `dyn Any`.
    Opaque,
    /// A struct or tuple; part `i` is field `i`.
    Struct {
        /// The fields in order of declaration.
        fields: &'static [Field],
        /// The layout of the fields.
        repr: Repr,
    },
    /// An enum; part `i` is variant `i`, whose parts are its fields.
    Enum {
        /// The variants in order of declaration.
        variants: &'static [Variant],
    },
    /// An `Option`; part 0 is the value of `Some`.
    Optional {
        /// The type of the value.
        some: Part,
    },
    /// A cell or lock; part 0 is its value.
    Wrapper {
        /// The type of the value.
        inner: Part,
    },
    /// An array; part 0 is its elements.
    Array {
        /// The type of the elements.
        element: Part,
        /// The number of elements.
        len: usize,
    },
    /// A string.
    Text {
        /// Whether it may have spare capacity.
        growable: bool,
    },
    /// A collection of values of one type in heap blocks; part 0 is the elements.
    Sequence {
        /// The type of the elements.
        element: Part,
        /// Whether it may have spare capacity.
        growable: bool,
        /// Whether the elements are contiguous in one block.
        contiguous: bool,
    },
    /// A map; part 0 is the keys, part 1 the values.
    Map {
        /// The type of the keys.
        key: Part,
        /// The type of the values; `()` for a set.
        value: Part,
        /// Bytes of an entry: a key and its value.
        entry: usize,
        /// The kind of map.
        map: MapKind,
    },
    /// A pointer to a value in its own block; part 0 is that value.
    Pointer {
        /// The type of the value.
        to: Part,
        /// Whether other pointers may share the value.
        shared: bool,
    },
}

/// The kind of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MapKind {
    /// A hash table of buckets and control bytes.
    Hash,
    /// A B-tree with nodes of up to 11 keys.
    BTree,
    /// One sorted array of entries.
    Sorted,
}

/// The representation of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// `repr(Rust)`: the compiler orders the fields; padding is at the end only.
    Rust,
    /// `repr(C)`: fields in order of declaration, with padding between them.
    C,
    /// `repr(packed)`: fields in order of declaration, with less padding than their alignments require.
    Packed,
}

/// A field of a struct or of an enum's variant.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The name, or the number in a tuple.
    pub name: &'static str,
    /// The size in bytes.
    pub size: usize,
    /// The alignment.
    pub align: usize,
    /// The offset in bytes; `None` in an enum.
    pub offset: Option<usize>,
    /// The type; `None` if the walk skips the field.
    pub part: Option<Part>,
    /// The text of the serde attributes.
    pub(super) attributes: &'static str,
    type_name: fn() -> &'static str,
    has_niche: bool,
}

/// A variant of an enum.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// The name.
    pub name: &'static str,
    /// The fields.
    pub fields: &'static [Field],
}

impl Type {
    /// Creates the description of a sized type.
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
            has_tail: false,
        }
    }

    /// Creates the description of an unsized type.
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
            has_tail: false,
        }
    }

    /// Creates the description of a struct `T` whose last field, of type `L` or a subtype, may be unsized.
    ///
    /// `sizes` are those of `T`, if the derive could name them. They are unknown for a type parameter that is `?Sized`, even
    /// where it stands for a sized type. The compiler then leaves the last field last, so its type determines the size.
    #[doc(hidden)]
    pub const fn with_tail<T: Weigh + ?Sized, L: Weigh + ?Sized>(
        _: PhantomData<L>,
        kind: Kind,
        sizes: Option<Sizes>,
    ) -> Self {
        let is_sized = sizes.is_some() || L::TYPE.is_sized;
        let sizes = match (sizes, &kind) {
            (Some(sizes), _) => sizes,
            (None, Kind::Struct { fields, repr }) if is_sized => Sizes::before(fields, *repr).and(L::TYPE.sizes()),
            _ => Sizes { size: 0, align: 1, has_niche: false },
        };
        let Sizes { size, align, has_niche } = sizes;
        let has_tail = is_sized && matches!(kind, Kind::Struct { repr: Repr::Rust, .. });
        Self { size, align, has_niche, is_sized, has_tail, ..Self::new_unsized::<T>(kind) }
    }

    const fn sizes(&self) -> Sizes {
        Sizes { size: self.size, align: self.align, has_niche: self.has_niche }
    }

    /// Replaces the name.
    #[must_use]
    pub const fn shown_as(mut self, name: &'static str) -> Self {
        self.shown_as = Some(name);
        self
    }

    /// Marks the description as made by the derive.
    #[doc(hidden)]
    #[must_use]
    pub const fn derived(mut self, is_regular: bool) -> Self {
        self.is_derived = true;
        self.is_regular = is_regular;
        self
    }

    /// Returns whether the type is a struct or enum. Only these can be recursive.
    pub(super) fn is_named(&self) -> bool {
        matches!(self.kind, Kind::Enum { .. }) || matches!(self.kind, Kind::Struct { .. }) && !self.is_tuple()
    }

    /// Returns whether the type is a tuple.
    pub(super) fn is_tuple(&self) -> bool {
        (self.name)().starts_with('(')
    }

    /// Returns the name from [`type_name`].
    pub(super) fn full_name(&self) -> &'static str {
        (self.name)()
    }

    /// Returns the name with paths, or the name set by [`shown_as`](Self::shown_as).
    pub fn name(&self) -> &'static str {
        self.shown_as.unwrap_or_else(self.name)
    }

    /// Returns whether the type is std's `Box`.
    pub(super) fn is_box(&self) -> bool {
        (self.name)().starts_with("alloc::boxed::Box<")
    }

    /// Returns whether both describe the same type.
    pub fn is(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
            || (self.size == other.size
                && self.align == other.align
                && (self.name)() == (other.name)()
                && self.name() == other.name())
    }

    /// Returns the number of parts. [`Kind`] defines their numbers.
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
        // The parts are left out, since the type may be recursive.
        f.debug_struct("Type")
            .field("name", &self.name())
            .field("size", &self.size)
            .field("align", &self.align)
            .finish_non_exhaustive()
    }
}

impl Field {
    /// Describes a field of type `T`.
    pub const fn new<T: Weigh>(name: &'static str, offset: Option<usize>) -> Self {
        Self::with_part::<T>(name, offset, type_of::<T>)
    }

    /// Describes a field of type `T`, which implements [`Weigh`] with the description `part`.
    #[doc(hidden)]
    pub const fn with_part<T>(name: &'static str, offset: Option<usize>, part: Part) -> Self {
        Self { part: Some(part), ..Self::skipped::<T>(name, offset) }
    }

    /// Describes a field whose type is a subtype of `T`.
    #[doc(hidden)]
    pub const fn new_as<T: Weigh>(_: PhantomData<T>, name: &'static str, offset: Option<usize>) -> Self {
        Self::new::<T>(name, offset)
    }

    /// Describes the last field of a struct, which may be unsized. Its type is `T` or a subtype.
    #[doc(hidden)]
    pub const fn tail<T: Weigh + ?Sized>(_: PhantomData<T>, name: &'static str) -> Self {
        let part: Part = type_of::<T>;
        Self { part: Some(part), ..Self::skipped_tail::<T>(name, Some(T::TYPE.sizes())) }
    }

    /// Describes the last field of a struct, which may be unsized and which the walk skips.
    #[doc(hidden)]
    pub const fn skipped_tail<T: ?Sized>(name: &'static str, sizes: Option<Sizes>) -> Self {
        let Sizes { size, align, has_niche } = match sizes {
            Some(sizes) => sizes,
            None => Sizes { size: 0, align: 1, has_niche: false },
        };
        Self { name, size, align, offset: None, part: None, attributes: "", type_name: type_name::<T>, has_niche }
    }

    /// Describes a field that a function measures: `#[weigh(with = "..")]`.
    pub const fn opaque<T>(name: &'static str, offset: Option<usize>) -> Self {
        let part: Part = opaque_type_of::<T>;
        Self { part: Some(part), ..Self::skipped::<T>(name, offset) }
    }

    /// Describes a field that is a shared pointer.
    pub const fn shared<P: Deref<Target: Weigh>>(name: &'static str, offset: Option<usize>) -> Self {
        let part: Part = shared_type_of::<P>;
        Self { part: Some(part), ..Self::skipped::<P>(name, offset) }
    }

    /// Describes a field that the walk skips: `#[weigh(skip)]`.
    pub const fn skipped<T>(name: &'static str, offset: Option<usize>) -> Self {
        Self {
            name,
            size: size_of::<T>(),
            align: align_of::<T>(),
            offset,
            part: None,
            attributes: "",
            type_name: type_name::<T>,
            has_niche: size_of::<Option<T>>() == size_of::<T>(),
        }
    }

    /// Adds the attributes that a suggested change keeps.
    #[doc(hidden)]
    #[must_use]
    pub const fn with_attributes(mut self, attributes: &'static str) -> Self {
        self.attributes = attributes;
        self
    }

    /// Returns the name of the field's type, with paths.
    pub fn type_name(&self) -> &'static str {
        self.part.map_or_else(self.type_name, |part| part().name())
    }
}

/// Size, alignment and niche of a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    size: usize,
    align: usize,
    has_niche: bool,
}

impl Sizes {
    /// Returns the sizes of all fields but the last. The compiler orders them by alignment, so there is no padding between
    /// them.
    const fn before(fields: &[Field], repr: Repr) -> Self {
        let mut all = Self { size: 0, align: 1, has_niche: false };
        let mut at = 0;
        while at + 1 < fields.len() {
            let Field { size, align, has_niche, .. } = fields[at];
            all.size = match repr {
                Repr::C => all.size.next_multiple_of(align),
                Repr::Rust | Repr::Packed => all.size,
            } + size;
            all.align = if align > all.align { align } else { all.align };
            all.has_niche |= has_niche;
            at += 1;
        }
        all
    }

    /// Returns the sizes of a struct with these fields and a last one.
    const fn and(self, last: Self) -> Self {
        let align = if last.align > self.align { last.align } else { self.align };
        let size = (self.size.next_multiple_of(last.align) + last.size).next_multiple_of(align);
        Self { size, align, has_niche: self.has_niche || last.has_niche }
    }
}

/// A type of which the derive asks whether its size is known: `SizesOf::<T>::KNOWN`.
///
/// For a sized type this is the constant below. For any other type it is that of [`SizesUnknown`].
#[doc(hidden)]
#[derive(Debug)]
pub struct SizesOf<T: ?Sized>(PhantomData<T>);

impl<T> SizesOf<T> {
    /// The sizes of the type.
    pub const KNOWN: Option<Sizes> = Some(Sizes {
        size: size_of::<T>(),
        align: align_of::<T>(),
        has_niche: size_of::<Option<T>>() == size_of::<T>(),
    });
}

/// The constant of [`SizesOf`] for types whose size is unknown.
#[doc(hidden)]
pub trait SizesUnknown {
    /// No sizes.
    const KNOWN: Option<Sizes> = None;
}

impl<T: ?Sized> SizesUnknown for SizesOf<T> {}

/// The constants of a type.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// [`Weigh::REACH`]
    pub reach: Reach,
    /// [`Weigh::VACANT_MAPS`]
    pub vacant_maps: u64,
}

/// Returns the constants of a type that the compiler infers from a subtype: the derive names `fn(_)` for a field of type
/// `fn(&str)`, since no implementation of [`Weigh`] covers all types with `for<'a>`.
#[doc(hidden)]
pub const fn facts_of<T: Weigh + ?Sized>(_: PhantomData<T>) -> Facts {
    Facts { reach: T::REACH, vacant_maps: T::VACANT_MAPS }
}

impl Variant {
    /// Describes a variant with these fields.
    pub const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        Self { name, fields }
    }
}

/// Removes module paths from a type name: `Vec<Reference>` for `alloc::vec::Vec<smithy::Reference>`.
pub(super) fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut word = 0;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            // The text before `::` is a module, unless it is a `<T as Trait>`.
            if word < out.len() {
                out.truncate(word);
            } else {
                out.push_str("::");
            }
            rest = after;
            continue;
        }
        out.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word = out.len();
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_omit_paths() {
        for (name, is) in [
            ("u8", "u8"),
            ("alloc::vec::Vec<a::b::C>", "Vec<C>"),
            ("(core::option::Option<a::B>, &str)", "(Option<B>, &str)"),
            ("dyn core::fmt::Debug + core::marker::Send", "dyn Debug + Send"),
            ("<a::B as c::D>::E", "<B as D>::E"),
            ("[a::B; 3]", "[B; 3]"),
            ("a::S<'_, é::Ü>", "S<'_, Ü>"),
        ] {
            assert_eq!(short(name), is);
        }
    }
}
