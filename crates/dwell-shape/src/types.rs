//! Representations of Rust types, and their layouts.
//!
//! [`dwell_model::layout`] has the rules for structs and enums; this module adds scalars and containers. The language
//! does not guarantee these layouts, so a test compiles generated types and compares their sizes.

use super::formats::Format;
use dwell_model::Layout;
use dwell_model::layout::{array, enumeration, option, structure, tuple};

/// An index into the definitions.
pub type DefId = usize;

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Int {
    /// The width: 8, 16, 32 or 64 bits. It is the first field, so that types compare by width.
    pub bits: u32,
    /// Whether the type is one of `i8` to `i64`, and not one of `u8` to `u64`.
    pub signed: bool,
}

impl Int {
    /// Returns the narrowest type for a range within 64 bits.
    pub fn narrowest(min: i128, max: i128) -> Self {
        let all = [8, 16, 32, 64].map(|bits| Self { bits, signed: min < 0 });
        all.into_iter().find(|int| int.holds(min, max)).unwrap_or(all[3])
    }

    /// Returns whether a 64-bit type holds a range. 128-bit types are not used: serde cannot read them from a buffer.
    pub fn fits(min: i128, max: i128) -> bool {
        Self { bits: 64, signed: min < 0 }.holds(min, max)
    }

    /// Returns the naive type: `u64` if no value is negative, else `i64`.
    #[must_use]
    pub fn widest(self) -> Self {
        Self { bits: 64, ..self }
    }

    /// Returns the narrowest type with headroom for later values, up to sixteen times as large.
    pub fn with_headroom(min: i128, max: i128) -> Self {
        let all = [8, 16, 32, 64].map(|bits| Self { bits, signed: min < 0 });
        all.into_iter().find(|int| int.holds(min * 16, max * 16)).unwrap_or(all[3])
    }

    /// Returns whether a value fits.
    pub fn holds_one(self, value: i128) -> bool {
        self.holds(value, value)
    }

    fn holds(self, min: i128, max: i128) -> bool {
        let (low, high) = if self.signed {
            (-(1i128 << (self.bits - 1)), (1i128 << (self.bits - 1)) - 1)
        } else {
            (0, (1i128 << self.bits) - 1)
        };
        low <= min && max <= high
    }
}

/// A Rust type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `()`
    Unit,
    /// `bool`
    Bool,
    /// `u8` to `i64`
    Int(Int),
    /// `f64`
    Float,
    /// `serde_json::Number`
    Number,
    /// `String`
    String,
    /// `Box<str>`
    BoxStr,
    /// `dwell::sparse::ThinStr`
    ThinStr,
    /// `Cow<'a, str>`, which borrows from the JSON text: a field as it is, elsewhere in the generated type `Str`.
    Cow,
    /// `serde_json::Value`
    Value,
    /// A type of another crate for texts of this format.
    Foreign(Format),
    /// A struct or enum of the same set of types.
    Named(DefId),
    /// `Option<T>`
    Option(Box<Type>),
    /// `Box<T>`
    Box(Box<Type>),
    /// `dwell::Sparse<T>`
    Sparse(Box<Type>),
    /// `OrOther<T>`, a generated enum: a `T`, or any other value in a box.
    Open(Box<Type>),
    /// `Vec<T>`
    Vec(Box<Type>),
    /// `Box<[T]>`
    BoxSlice(Box<Type>),
    /// `dwell::sparse::ThinSlice<T>`
    ThinSlice(Box<Type>),
    /// `HashMap<String, T>`
    HashMap(Box<Type>),
    /// `dwell::sparse::SortedMap<K, T>`
    SortedMap(Box<Type>, Box<Type>),
    /// `(A, B, ..)`
    Tuple(Vec<Type>),
    /// `[T; N]`
    Array(Box<Type>, u64),
}

impl Type {
    /// Returns `Option<self>`.
    #[must_use]
    pub fn option(self) -> Self {
        Self::Option(Box::new(self))
    }

    /// Returns `Box<self>`.
    #[must_use]
    pub fn boxed(self) -> Self {
        Self::Box(Box::new(self))
    }

    /// Returns `OrOther<self>`.
    #[must_use]
    pub fn open(self) -> Self {
        Self::Open(Box::new(self))
    }

    /// Returns the type as Rust source; `name` returns the names of structs and enums.
    pub fn rust(&self, name: &dyn Fn(DefId) -> String) -> String {
        let text = |inner: &Self| inner.rust(name);
        match self {
            Self::Unit => "()".into(),
            Self::Bool => "bool".into(),
            Self::Int(Int { bits, signed }) => format!("{}{bits}", if *signed { 'i' } else { 'u' }),
            Self::Float => "f64".into(),
            Self::Number => "serde_json::Number".into(),
            Self::String => "String".into(),
            Self::BoxStr => "Box<str>".into(),
            Self::ThinStr => "ThinStr".into(),
            Self::Cow => "Str<'a>".into(),
            Self::Value => "serde_json::Value".into(),
            Self::Foreign(Format::Uuid) => "uuid::Uuid".into(),
            Self::Foreign(Format::Date) => "chrono::NaiveDate".into(),
            Self::Foreign(Format::Utc) => "chrono::DateTime<chrono::Utc>".into(),
            Self::Foreign(Format::Offset) => "chrono::DateTime<chrono::FixedOffset>".into(),
            Self::Foreign(Format::Url) => "url::Url".into(),
            Self::Named(id) => name(*id),
            Self::Option(inner) => format!("Option<{}>", text(inner)),
            Self::Box(inner) => format!("Box<{}>", text(inner)),
            Self::Sparse(inner) => format!("Sparse<{}>", text(inner)),
            Self::Open(inner) => format!("OrOther<{}>", text(inner)),
            Self::Vec(inner) => format!("Vec<{}>", text(inner)),
            Self::BoxSlice(inner) => format!("Box<[{}]>", text(inner)),
            Self::ThinSlice(inner) => format!("ThinSlice<{}>", text(inner)),
            Self::HashMap(inner) => format!("HashMap<String, {}>", text(inner)),
            Self::SortedMap(key, inner) => format!("SortedMap<{}, {}>", text(key), text(inner)),
            Self::Array(inner, length) => format!("[{}; {length}]", text(inner)),
            Self::Tuple(inner) => format!("({})", inner.iter().map(text).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Calls `f` on this type and all types inside it, without resolving names.
    pub fn walk(&self, f: &mut impl FnMut(&Self)) {
        f(self);
        match self {
            Self::Option(inner)
            | Self::Box(inner)
            | Self::Sparse(inner)
            | Self::Open(inner)
            | Self::Vec(inner)
            | Self::BoxSlice(inner)
            | Self::ThinSlice(inner)
            | Self::Array(inner, _)
            | Self::HashMap(inner) => inner.walk(f),
            Self::SortedMap(key, inner) => {
                key.walk(f);
                inner.walk(f);
            }
            Self::Tuple(inner) => inner.iter().for_each(|inner| inner.walk(f)),
            _ => {}
        }
    }
}

/// The parts of a struct or enum that determine its layout.
#[derive(Debug, Clone)]
pub enum Body {
    /// The types of its fields.
    Struct(Vec<Type>),
    /// The type of each variant's single field, if it has one.
    Enum(Vec<Option<Type>>),
}

/// The layouts of a set of types. The layout of each definition is computed once.
pub struct Layouts<'t> {
    bodies: &'t [Body],
    named: Vec<Option<Layout>>,
}

impl<'t> Layouts<'t> {
    /// Creates an empty cache.
    pub fn new(bodies: &'t [Body]) -> Self {
        Self { bodies, named: vec![None; bodies.len()] }
    }

    /// Returns the size of a type in bytes.
    pub fn size(&mut self, ty: &Type) -> u64 {
        self.layout(ty).size
    }

    /// Returns the layout of a type.
    pub fn layout(&mut self, ty: &Type) -> Layout {
        ty.layout(&mut |id| self.named(id))
    }

    /// Returns the layout of a struct or enum.
    pub fn named(&mut self, id: DefId) -> Layout {
        if let Some(known) = self.named[id] {
            return known;
        }
        let bodies = self.bodies;
        let layout = bodies[id].layout(&mut |id| self.named(id));
        self.named[id] = Some(layout);
        layout
    }
}

impl Type {
    /// Returns the layout of a type; `named` returns those of structs and enums.
    pub fn layout(&self, named: &mut dyn FnMut(DefId) -> Layout) -> Layout {
        match self {
            Self::Unit => Layout::NOTHING,
            Self::Bool => Layout::BOOL,
            Self::Int(int) => Layout::scalar(u64::from(int.bits / 8), 0),
            Self::Float => Layout::scalar(8, 0),
            // A tag for three variants; each variant holds 8 bytes, and alignment extends the tag to 8 bytes.
            Self::Number => Layout::words(2, (1 << 64) - 3),
            Self::String | Self::Vec(_) => Layout::VECTOR,
            Self::BoxStr | Self::BoxSlice(_) => Layout::WIDE_POINTER,
            Self::Cow => enumeration(&[vec![Layout::WIDE_POINTER], vec![Layout::VECTOR]]),
            Self::ThinStr | Self::Box(_) | Self::Sparse(_) | Self::ThinSlice(_) | Self::SortedMap(..) => {
                Layout::POINTER
            }
            // The pointer to the control bytes is not null; the hasher's keys take two words.
            Self::HashMap(_) => Layout::words(6, 1),
            Self::Foreign(format) => foreign(*format),
            // Three words, and a tag for six variants.
            Self::Value => Layout { niche: Layout::scalar(1, 250).niche, ..Layout::words(4, 0) },
            Self::Option(inner) => option(inner.layout(named)),
            Self::Open(inner) => {
                let variants = [&**inner, &Self::Value.boxed()].map(|ty| vec![ty.layout(named)]);
                enumeration(&variants)
            }
            Self::Tuple(fields) => {
                let fields: Vec<Layout> = fields.iter().map(|field| field.layout(named)).collect();
                tuple(&fields)
            }
            Self::Array(inner, length) => array(inner.layout(named), *length),
            Self::Named(id) => named(*id),
        }
    }
}

impl Body {
    /// Returns the layout of a struct or enum; `named` returns those of the others.
    pub fn layout(&self, named: &mut dyn FnMut(DefId) -> Layout) -> Layout {
        match self {
            Self::Struct(fields) => {
                let fields: Vec<Layout> = fields.iter().map(|field| field.layout(named)).collect();
                structure(&fields)
            }
            Self::Enum(variants) => {
                let mut field = |variant: &Option<Type>| variant.iter().map(|field| field.layout(named)).collect();
                let variants: Vec<Vec<Layout>> = variants.iter().map(&mut field).collect();
                enumeration(&variants)
            }
        }
    }

    /// Calls `f` with the types of its fields or variants.
    pub fn each(&self, f: &mut impl FnMut(&Type)) {
        match self {
            Self::Struct(fields) => fields.iter().for_each(f),
            Self::Enum(variants) => variants.iter().flatten().for_each(f),
        }
    }
}

/// Returns the layout of a type of uuid 1, chrono 0.4 or url 2.
fn foreign(format: Format) -> Layout {
    let word = Layout::scalar(4, 0);
    // A date is a `NonZero` integer.
    let date = Layout::scalar(4, 1);
    let time = || structure(&[date, structure(&[word, word])]);
    match format {
        Format::Uuid => Layout { size: 16, ..Layout::scalar(1, 0) },
        Format::Date => date,
        Format::Utc => time(),
        Format::Offset => structure(&[time(), word]),
        Format::Url => {
            let bytes = |size| Layout { size, ..Layout::scalar(1, 0) };
            let host = enumeration(&[vec![], vec![], vec![bytes(4)], vec![bytes(16)]]);
            let (text, port) = (Layout::VECTOR, option(Layout::scalar(2, 0)));
            structure(&[text, word, word, word, word, host, port, word, option(word), option(word)])
        }
    }
}
