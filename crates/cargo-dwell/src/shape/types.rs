//! Rust types as data, and how `rustc` lays them out on a 64-bit target.
//!
//! The layout is not promised by the language, so a test compiles many generated types and compares; what is written
//! here are the rules of `rustc` 1.95 for `repr(Rust)`:
//!
//! - **Structs** are sorted by falling alignment, so that padding appears only at the end. Of equal alignment the field
//!   with the most *niche* (bit patterns that are no value) goes first, or last if that brings it nearer to an edge.
//! - **Enums** are laid out twice, with a tag in front of each variant and with the discriminant in a niche of the
//!   largest variant, around which the others must fit. The smaller layout wins, then the one with more niche left.
//! - What holds a pointer has a size of its own, whatever it points at. So recursion ends.

use super::formats::Format;

/// Index into the definitions.
pub type DefId = usize;

/// An integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Int {
    /// 8, 16, 32 or 64; the first, so that order is by width.
    pub bits: u32,
    /// `i8` to `i64`, else `u8` to `u64`.
    pub signed: bool,
}

impl Int {
    /// The narrowest type for a range, of which all is within 64 bits.
    pub fn narrowest(min: i128, max: i128) -> Self {
        let all = [8, 16, 32, 64].map(|bits| Self { bits, signed: min < 0 });
        all.into_iter().find(|int| int.holds(min, max)).unwrap_or(all[3])
    }

    /// Whether a type of 64 bits holds a range. One of 128 does not help: serde cannot read it from a buffer.
    pub fn fits(min: i128, max: i128) -> bool {
        Self { bits: 64, signed: min < 0 }.holds(min, max)
    }

    /// The naive type: `u64` if no value is negative, else `i64`.
    #[must_use]
    pub fn widest(self) -> Self {
        Self { bits: 64, ..self }
    }

    /// The type for a range with headroom for later values, up to sixteen times as large.
    pub fn with_headroom(min: i128, max: i128) -> Self {
        let all = [8, 16, 32, 64].map(|bits| Self { bits, signed: min < 0 });
        all.into_iter().find(|int| int.holds(min * 16, max * 16)).unwrap_or(all[3])
    }

    /// Whether a value fits.
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

/// A type as it is written in Rust.
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
    /// `Option<self>`
    #[must_use]
    pub fn option(self) -> Self {
        Self::Option(Box::new(self))
    }

    /// `Box<self>`
    #[must_use]
    pub fn boxed(self) -> Self {
        Self::Box(Box::new(self))
    }

    /// As it is written in Rust; `name` names the structs and enums.
    pub fn rust(&self, name: &dyn Fn(DefId) -> String) -> String {
        let of = |inner: &Self| inner.rust(name);
        match self {
            Self::Unit => "()".into(),
            Self::Bool => "bool".into(),
            Self::Int(Int { bits, signed }) => format!("{}{bits}", if *signed { 'i' } else { 'u' }),
            Self::Float => "f64".into(),
            Self::Number => "serde_json::Number".into(),
            Self::String => "String".into(),
            Self::BoxStr => "Box<str>".into(),
            Self::ThinStr => "ThinStr".into(),
            Self::Value => "serde_json::Value".into(),
            Self::Foreign(Format::Uuid) => "uuid::Uuid".into(),
            Self::Foreign(Format::Date) => "chrono::NaiveDate".into(),
            Self::Foreign(Format::Utc) => "chrono::DateTime<chrono::Utc>".into(),
            Self::Foreign(Format::Offset) => "chrono::DateTime<chrono::FixedOffset>".into(),
            Self::Foreign(Format::Url) => "url::Url".into(),
            Self::Named(id) => name(*id),
            Self::Option(inner) => format!("Option<{}>", of(inner)),
            Self::Box(inner) => format!("Box<{}>", of(inner)),
            Self::Sparse(inner) => format!("Sparse<{}>", of(inner)),
            Self::Vec(inner) => format!("Vec<{}>", of(inner)),
            Self::BoxSlice(inner) => format!("Box<[{}]>", of(inner)),
            Self::ThinSlice(inner) => format!("ThinSlice<{}>", of(inner)),
            Self::HashMap(inner) => format!("HashMap<String, {}>", of(inner)),
            Self::SortedMap(key, inner) => format!("SortedMap<{}, {}>", of(key), of(inner)),
            Self::Array(inner, length) => format!("[{}; {length}]", of(inner)),
            Self::Tuple(inner) => format!("({})", inner.iter().map(of).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Calls `f` on this type and all that it is made of, names not resolved.
    pub fn walk(&self, f: &mut impl FnMut(&Self)) {
        f(self);
        match self {
            Self::Option(inner)
            | Self::Box(inner)
            | Self::Sparse(inner)
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
    /// The types of its variants' one field, if they have one.
    Enum(Vec<Option<Type>>),
}

/// Size, alignment, and the bit patterns left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// In bytes, a multiple of `align`.
    pub size: u64,
    /// In bytes, a power of two.
    pub align: u64,
    niche: Option<Niche>,
}

/// Bit patterns that are no value, in one scalar of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Niche {
    /// The offset of the scalar.
    offset: u64,
    /// Its size.
    size: u64,
    /// How many patterns are free.
    free: u128,
}

impl Layout {
    const fn scalar(size: u64, free: u128) -> Self {
        let niche = if free == 0 { None } else { Some(Niche { offset: 0, size, free }) };
        Self { size, align: if size == 0 { 1 } else { size }, niche }
    }

    /// `words` words, the first of which has a niche.
    const fn words(words: u64, free: u128) -> Self {
        let niche = if free == 0 { None } else { Some(Niche { offset: 0, size: 8, free }) };
        Self { size: 8 * words, align: 8, niche }
    }

    fn free(&self) -> u128 {
        self.niche.map_or(0, |niche| niche.free)
    }
}

/// A capacity is at most `isize::MAX`.
const CAPACITY: u128 = 1 << 63;

/// The layouts of a set of types, each named one worked out once.
pub struct Layouts<'t> {
    bodies: &'t [Body],
    named: Vec<Option<Layout>>,
}

impl<'t> Layouts<'t> {
    /// Nothing worked out yet.
    pub fn new(bodies: &'t [Body]) -> Self {
        Self { bodies, named: vec![None; bodies.len()] }
    }

    /// The size of a type in bytes.
    pub fn size(&mut self, of: &Type) -> u64 {
        self.layout(of).size
    }

    /// The layout of a type.
    pub fn layout(&mut self, of: &Type) -> Layout {
        match of {
            Type::Unit => Layout::scalar(0, 0),
            Type::Bool => Layout::scalar(1, 254),
            Type::Int(int) => Layout::scalar(u64::from(int.bits / 8), 0),
            Type::Float => Layout::scalar(8, 0),
            // A tag of three variants that each have 8 bytes, grown to 8 bytes itself.
            Type::Number => Layout::words(2, (1 << 64) - 3),
            Type::String | Type::Vec(_) => Layout::words(3, CAPACITY),
            // The pointer is not null.
            Type::BoxStr | Type::BoxSlice(_) => Layout::words(2, 1),
            Type::ThinStr | Type::Box(_) | Type::Sparse(_) | Type::ThinSlice(_) | Type::SortedMap(..) => {
                Layout::words(1, 1)
            }
            // Its control bytes' pointer is not null; two words are the hasher's keys.
            Type::HashMap(_) => Layout::words(6, 1),
            Type::Foreign(format) => foreign(*format),
            // A tag of six variants beside three words.
            Type::Value => Layout { niche: Layout::scalar(1, 250).niche, ..Layout::words(4, 0) },
            Type::Option(inner) => {
                let inner = self.layout(inner);
                enumeration(&[vec![], vec![inner]])
            }
            Type::Tuple(fields) => {
                let fields: Vec<Layout> = fields.iter().map(|field| self.layout(field)).collect();
                tuple(&fields)
            }
            // The niche is that of the first element.
            Type::Array(inner, length) => {
                let inner = self.layout(inner);
                Layout { size: inner.size * length, ..inner }
            }
            Type::Named(id) => self.named(*id),
        }
    }

    /// The layout of a struct or enum.
    pub fn named(&mut self, id: DefId) -> Layout {
        if let Some(known) = self.named[id] {
            return known;
        }
        let bodies = self.bodies;
        let layout = match &bodies[id] {
            Body::Struct(fields) => {
                let fields: Vec<Layout> = fields.iter().map(|field| self.layout(field)).collect();
                structure(&fields)
            }
            Body::Enum(variants) => {
                let mut field = |variant: &Option<Type>| variant.iter().map(|field| self.layout(field)).collect();
                let variants: Vec<Vec<Layout>> = variants.iter().map(&mut field).collect();
                enumeration(&variants)
            }
        };
        self.named[id] = Some(layout);
        layout
    }
}

/// The layout of a type of uuid 1, chrono 0.4 or url 2.
fn foreign(format: Format) -> Layout {
    let word = Layout::scalar(4, 0);
    // A `NonZero`.
    let date = Layout::scalar(4, 1);
    let optional = |of: Layout| enumeration(&[vec![], vec![of]]);
    let time = || structure(&[date, structure(&[word, word])]);
    match format {
        Format::Uuid => Layout { size: 16, ..Layout::scalar(1, 0) },
        Format::Date => date,
        Format::Utc => time(),
        Format::Offset => structure(&[time(), word]),
        Format::Url => {
            let bytes = |size| Layout { size, ..Layout::scalar(1, 0) };
            let host = enumeration(&[vec![], vec![], vec![bytes(4)], vec![bytes(16)]]);
            let (text, port) = (Layout::words(3, CAPACITY), optional(Layout::scalar(2, 0)));
            structure(&[text, word, word, word, word, host, port, word, optional(word), optional(word)])
        }
    }
}

/// The layout of a struct.
pub fn structure(fields: &[Layout]) -> Layout {
    let first = sorted(fields, Bias::Start);
    let Some(niche) = first.niche else { return first };
    let (head, tail) = (niche.offset, first.size - niche.offset - niche.size);
    if fields.len() > 1 && head != 0 && tail > 0 {
        let last = sorted(fields, Bias::End);
        if last.niche.is_some_and(|niche| head > last.size - niche.offset - niche.size) {
            return last;
        }
    }
    first
}

/// The last field of a tuple stays last, as it would have to if it were unsized.
fn tuple(fields: &[Layout]) -> Layout {
    let Some((last, sized)) = fields.split_last() else { return structure(fields) };
    place(0, 1, order(sized, Bias::Start).into_iter().chain([last]), Bias::Start)
}

/// To which end of a struct the niche is to go.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bias {
    Start,
    End,
}

/// The exponent by which fields are grouped: that of the alignment, or of the size if that has more factors of two.
fn group(field: &Layout) -> u32 {
    field.align.max(field.size).trailing_zeros()
}

fn sorted(fields: &[Layout], bias: Bias) -> Layout {
    place(0, 1, order(fields, bias).into_iter(), bias)
}

fn order(fields: &[Layout], bias: Bias) -> Vec<&Layout> {
    let most = fields.iter().map(Layout::free).max().unwrap_or(0);
    let max_align = fields.iter().map(|field| field.align).max().unwrap_or(1).trailing_zeros();
    let mut order: Vec<&Layout> = fields.iter().collect();
    order.sort_by_key(|field| {
        let group = match bias {
            _ if most == 0 => group(field),
            Bias::Start => group(field).min(max_align),
            Bias::End if field.free() == most => field.align.trailing_zeros(),
            Bias::End => group(field),
        };
        let free = match bias {
            Bias::Start => !field.free(),
            Bias::End => field.free(),
        };
        let offset = field.niche.map_or(0, |niche| match bias {
            Bias::Start => niche.offset,
            Bias::End => !(field.size - niche.size - niche.offset),
        });
        (std::cmp::Reverse(group), free, offset)
    });
    order
}

fn place<'a>(start: u64, align: u64, order: impl Iterator<Item = &'a Layout>, bias: Bias) -> Layout {
    let (mut end, mut align, mut niche) = (start, align, None::<Niche>);
    for field in order {
        let offset = end.next_multiple_of(field.align);
        align = align.max(field.align);
        if let Some(new) = field.niche {
            let better = niche.is_none_or(|old| match bias {
                Bias::Start => new.free > old.free,
                Bias::End => new.free >= old.free,
            });
            if better {
                niche = Some(Niche { offset: offset + new.offset, ..new });
            }
        }
        end = offset + field.size;
    }
    Layout { size: end.next_multiple_of(align), align, niche }
}

/// The layout of an enum.
pub fn enumeration(variants: &[Vec<Layout>]) -> Layout {
    if let [only] = variants {
        return structure(only);
    }
    let tagged = tagged(variants);
    match niche_filled(variants) {
        Some(filled) if filled.size < tagged.size => filled,
        Some(filled) if filled.size == tagged.size && filled.free() > tagged.free() => filled,
        _ => tagged,
    }
}

fn tagged(variants: &[Vec<Layout>]) -> Layout {
    let tag_size: u64 = if variants.len() <= 1 << 8 { 1 } else { 2 };
    let (mut size, mut align, mut first_align) = (0, 1, u64::MAX);
    for fields in variants {
        let mut order: Vec<&Layout> = fields.iter().collect();
        // Rising alignment, for the tag is in front.
        let most = fields.iter().map(Layout::free).max().unwrap_or(0);
        let max_align = fields.iter().map(|field| field.align).max().unwrap_or(1).trailing_zeros();
        let key = |field: &Layout| if most > 0 { group(field).min(max_align) } else { group(field) };
        order.sort_by_key(|field| (key(field), field.free()));
        let variant = place(tag_size, tag_size, order.iter().copied(), Bias::Start);
        if let Some(first) = order.iter().find(|field| field.size > 0 || field.align > 1) {
            first_align = first_align.min(first.align);
        }
        size = size.max(variant.size);
        align = align.max(variant.align);
    }
    // The tag grows into the padding that no variant can use.
    let tag_size = if (tag_size + 1..=8).contains(&first_align) { first_align } else { tag_size };
    let patterns = 1u128 << (8 * tag_size);
    let niche = Some(Niche { offset: 0, size: tag_size, free: patterns - variants.len() as u128 });
    Layout { size: size.next_multiple_of(align), align, niche: niche.filter(|niche| niche.free > 0) }
}

fn niche_filled(variants: &[Vec<Layout>]) -> Option<Layout> {
    let layouts: Vec<Layout> = variants.iter().map(|fields| structure(fields)).collect();
    let largest = (0..layouts.len()).max_by_key(|&index| layouts[index].size)?;
    let others = || (0..layouts.len()).filter(|&index| index != largest);
    let needed = (others().next_back()? - others().next()? + 1) as u128;
    let niche = layouts[largest].niche.filter(|niche| niche.free >= needed)?;
    let align = layouts.iter().map(|layout| layout.align).max()?;
    let size = layouts[largest].size.next_multiple_of(align);
    let fits = |layout: &Layout| {
        let behind = (niche.offset + niche.size).next_multiple_of(layout.align);
        layout.size <= niche.offset || behind + layout.size <= size
    };
    if !others().all(|index| fits(&layouts[index])) {
        return None;
    }
    let free = niche.free - needed;
    Some(Layout { size, align, niche: (free > 0).then_some(Niche { free, ..niche }) })
}
