//! The layout of each type, and the targets of its pointers.
//!
//! A *site* is a use of a type: a field, a part of a field's type, the elements of a collection. Sites have the same
//! paths as those of `dwell::weigh`. A struct or enum that a program declares is described once, even if many sites
//! have it.

use super::{
    Array, Blocks, Declared, Decoded, Decoder, Family, Holds, Opaque, Parts, Plain, Pointer, StdEnum, searched,
};
use crate::debuginfo::{Coroutine, Field, Flavour, Kind, Program, State, Tag, Text, Type, TypeId};
use dwell_model::Edge;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The bytes of a pointer.
pub(crate) const WORD: u64 = 8;

/// The index of a site in [`Schema::sites`].
pub(crate) type SiteId = usize;

/// The index of a struct or enum in [`Schema::defs`].
pub(crate) type DefId = usize;

/// The deepest nesting of std's types that is followed.
const DEEPEST: u32 = 48;

/// The types of a program that a walk has met.
pub(crate) struct Schema<'p> {
    pub(crate) program: &'p Program,
    /// The families of types with decoders.
    pub(super) families: &'static [&'static Family],
    pub(crate) sites: Vec<Site>,
    pub(crate) defs: Vec<Def>,
    by_type: HashMap<TypeId, DefId>,
    /// By the object and the path.
    by_path: HashMap<(u32, &'p str), TypeId>,
    plain: HashMap<TypeId, bool>,
    paddings: HashMap<TypeId, Ranges>,
    /// The crates of the workspace; empty if they are not known.
    pub(super) own: HashSet<String>,
    /// The crates whose functions have a variable at a root.
    pub(super) crates: HashMap<SiteId, String>,
    facts: HashMap<&'static str, Option<u64>>,
    depth: u32,
}

/// A use of a type.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The type; `None` if the debug info has none, as for the text in an `Rc<str>`.
    pub(crate) ty: Option<TypeId>,
    /// The short name of the type.
    pub(crate) name: Text,
    /// The size of a value in bytes.
    pub(crate) size: u64,
    pub(crate) align: u64,
    /// The path, such as `Shape.members` or `Shape.members []`.
    pub(crate) path: String,
    pub(crate) edge: Edge,
    /// The struct or enum that declares the site.
    pub(crate) def: Option<DefId>,
    pub(crate) is_editable: bool,
    /// The site that contains this one.
    pub(crate) parent: Option<SiteId>,
    /// The kind of integer, if the type is an integer of at least two bytes.
    pub(crate) integer: Option<Integer>,
    pub(crate) decoder: Rc<dyn Decoder>,
}

/// Kinds of integers of at least two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Integer {
    Signed,
    Unsigned,
}

impl Integer {
    fn from_type(ty: &Type) -> Option<Self> {
        match (&ty.kind, &*ty.path) {
            (Kind::Primitive, "u16" | "u32" | "u64" | "u128" | "usize") => Some(Self::Unsigned),
            (Kind::Primitive, "i16" | "i32" | "i64" | "i128" | "isize") => Some(Self::Signed),
            _ => None,
        }
    }

    /// Returns the value of these bytes.
    pub(crate) fn read(self, bytes: &[u8]) -> Option<i128> {
        let size = bytes.len() as u64;
        let value = number(bytes, 0, size)?;
        match self {
            // A `u128` above `i128::MAX` needs all its bytes in any case.
            Self::Unsigned => Some(i128::try_from(value).unwrap_or(i128::MAX)),
            Self::Signed => {
                let unused = 128_u32.checked_sub(u32::try_from(size * 8).ok()?).filter(|bits| *bits < 128)?;
                Some((value << unused).cast_signed() >> unused)
            }
        }
    }

    /// Returns the size of the smallest integer type for both values, in bytes.
    pub(crate) fn bytes_for(self, low: i128, high: i128) -> u64 {
        [1_u64, 2, 4, 8]
            .into_iter()
            .find(|bytes| match self {
                Self::Unsigned => high < 1 << (8 * bytes),
                Self::Signed => low >= -(1 << (8 * bytes - 1)) && high < 1 << (8 * bytes - 1),
            })
            .unwrap_or(16)
    }

    /// Returns the name of the type with this size.
    pub(crate) fn name(self, bytes: u64) -> String {
        let sign = if self == Self::Signed { 'i' } else { 'u' };
        format!("{sign}{}", bytes * 8)
    }
}

/// The second word of a pointer, with its offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Meta {
    None,
    /// The length of a slice.
    Length(u64),
    /// The vtable of a trait object.
    Vtable(u64),
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) at: u64,
    pub(crate) site: SiteId,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variant {
    pub(crate) name: Text,
    pub(crate) parts: Vec<Part>,
}

/// The decoding of an enum's variant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TagDecode {
    pub(crate) at: u64,
    pub(crate) size: u64,
    /// Ranges of the tag with the index of their variant.
    ranges: Vec<(u128, u128, usize)>,
    /// The variant for all other tags.
    other: Option<usize>,
}

impl TagDecode {
    fn new(tag: &Tag, values: &[Vec<std::ops::RangeInclusive<i128>>]) -> Self {
        let mask = mask(tag.size);
        let mut ranges = Vec::new();
        let mut other = None;
        for (index, discriminants) in values.iter().enumerate() {
            if discriminants.is_empty() {
                other = Some(index);
            }
            for range in discriminants {
                // The debug info may have the value with or without its sign.
                let (low, high) = (range.start().cast_unsigned() & mask, range.end().cast_unsigned() & mask);
                ranges.push((low, high, index));
            }
        }
        Self { at: tag.offset, size: tag.size, ranges, other }
    }

    /// Returns the variant of a value; `None` if the bytes are not valid.
    pub(crate) fn variant(&self, bytes: &[u8]) -> Option<usize> {
        let value = number(bytes, self.at, self.size)?;
        self.ranges.iter().find(|(low, high, _)| (*low..=*high).contains(&value)).map(|found| found.2).or(self.other)
    }
}

fn mask(size: u64) -> u128 {
    if size >= 16 { u128::MAX } else { (1 << (8 * size)) - 1 }
}

/// Returns the integer of up to 16 bytes at an offset.
pub(crate) fn number(bytes: &[u8], at: u64, size: u64) -> Option<u128> {
    let (at, size) = (usize::try_from(at).ok()?, usize::try_from(size).ok()?);
    let from = bytes.get(at..at.checked_add(size)?)?;
    let mut all = [0; 16];
    all.get_mut(..size)?.copy_from_slice(from);
    Some(u128::from_le_bytes(all))
}

/// Returns the word at an offset.
pub(crate) fn word(bytes: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

/// Returns a range of a value's bytes; empty if the value does not have all of them.
pub(crate) fn sub(bytes: &[u8], at: u64, size: u64) -> &[u8] {
    let range = at.checked_add(size).and_then(|end| Some(usize::try_from(at).ok()?..usize::try_from(end).ok()?));
    range.and_then(|range| bytes.get(range)).unwrap_or_default()
}

/// A struct or enum of a crate.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a type")]
pub(crate) struct Def {
    pub(crate) ty: TypeId,
    pub(crate) name: Text,
    pub(crate) is_editable: bool,
    pub(crate) is_enum: bool,
    /// Whether it is a future, whose variants are states.
    pub(crate) is_coroutine: bool,
    pub(crate) tag: Option<TagDecode>,
    /// The variants; a struct has one. Empty until the walk meets a value.
    pub(crate) variants: Vec<DefVariant>,
    pub(crate) is_ready: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct DefVariant {
    pub(crate) name: Text,
    pub(crate) fields: Vec<DefField>,
}

#[derive(Clone, Debug)]
pub(crate) struct DefField {
    pub(crate) name: Text,
    /// Whether the value may have been moved away: it counts if nothing else owns what it points to.
    pub(crate) is_moved: bool,
    pub(crate) at: u64,
    pub(crate) site: SiteId,
}

/// Returns the path of a type without arguments: `alloc::vec::Vec`.
pub(crate) fn head(path: &str) -> &str {
    match path.find('<') {
        Some(0) | None => path,
        Some(end) => &path[..end],
    }
}

/// Returns `true` if a type belongs to std.
pub(crate) fn is_std(path: &str) -> bool {
    ["core::", "alloc::", "std::", "hashbrown::"].iter().any(|start| path.starts_with(start))
}

impl<'p> Schema<'p> {
    pub(crate) fn new(program: &'p Program, families: &'static [&'static Family]) -> Self {
        let mut by_path = HashMap::new();
        for (id, ty) in program.types() {
            by_path.entry((program.object_of(id), &*ty.path)).or_insert(id);
        }
        Self {
            program,
            families,
            sites: Vec::new(),
            defs: Vec::new(),
            by_type: HashMap::new(),
            by_path,
            plain: HashMap::new(),
            paddings: HashMap::new(),
            own: program.types().filter(|(_, ty)| ty.own).map(|(_, ty)| ty.krate.to_string()).collect(),
            crates: HashMap::new(),
            facts: HashMap::new(),
            depth: 0,
        }
    }

    pub(crate) fn get(&self, id: TypeId) -> &'p Type {
        self.program.get(id)
    }

    /// Returns the type with a full path in the object of another type.
    pub(crate) fn by_path(&self, path: &str, near: TypeId) -> Option<TypeId> {
        self.by_path.get(&(self.program.object_of(near), path)).copied()
    }

    /// Returns the argument of a type parameter.
    pub(crate) fn param(&self, id: TypeId, name: &str) -> Option<TypeId> {
        self.get(id).params.iter().find(|param| &*param.name == name).map(|param| param.ty)
    }

    /// Creates a site without a parent: a static, or a block whose type is known from its call stack.
    pub(crate) fn root(&mut self, ty: TypeId, path: &str) -> SiteId {
        self.site(ty, path.to_owned(), Edge::Root, None, None)
    }

    /// Creates a site that has no type in the debug info. Its decoder may have parts of the site.
    pub(crate) fn made(
        &mut self,
        name: &str,
        path: &str,
        decoder: impl FnOnce(&mut Self, SiteId) -> Rc<dyn Decoder>,
    ) -> SiteId {
        let id = self.sites.len();
        self.sites.push(Site {
            ty: None,
            name: name.into(),
            size: 0,
            align: 1,
            path: path.to_owned(),
            edge: Edge::Root,
            def: None,
            is_editable: false,
            parent: None,
            integer: None,
            decoder: Rc::new(Opaque),
        });
        self.sites[id].decoder = decoder(self, id);
        id
    }

    /// Returns a number that is the same for all sites of the program, computed at the first call.
    pub(crate) fn fact(&mut self, name: &'static str, compute: fn(&Self) -> Option<u64>) -> Option<u64> {
        if let Some(&known) = self.facts.get(name) {
            return known;
        }
        let found = compute(self);
        self.facts.insert(name, found);
        found
    }

    /// Returns the name and size of a site's values.
    pub(crate) fn element(&self, site: SiteId) -> (Text, u64) {
        (Text::clone(&self.sites[site].name), self.sites[site].size)
    }

    /// Returns the name and size of the values behind a vtable.
    pub(crate) fn concrete(&self, concrete: Option<TypeId>) -> (Text, u64) {
        match concrete {
            Some(concrete) => (Text::clone(&self.get(concrete).name), self.get(concrete).size),
            None => ("?".into(), 0),
        }
    }

    /// Returns the site of a part of `parent`.
    pub(crate) fn part(&mut self, ty: TypeId, parent: SiteId, edge: Edge) -> SiteId {
        let owner = &self.sites[parent];
        let path = match edge {
            Edge::Tuple(index) => format!("{}.{index}", owner.path),
            Edge::Optional | Edge::Inner | Edge::Root => owner.path.clone(),
            Edge::Array | Edge::Element => format!("{} []", owner.path),
            Edge::Key => format!("{} key", owner.path),
            Edge::Value => format!("{} value", owner.path),
            Edge::Pointee => format!("{} *", owner.path),
            Edge::Field(..) => unreachable_path(&owner.path),
        };
        let def = owner.def;
        self.site(ty, path, edge, def, Some(parent))
    }

    fn site(&mut self, ty: TypeId, path: String, edge: Edge, def: Option<DefId>, parent: Option<SiteId>) -> SiteId {
        let definition = self.get(ty);
        let id = self.sites.len();
        self.sites.push(Site {
            ty: Some(ty),
            name: Text::clone(&definition.name),
            size: definition.size,
            align: definition.align,
            path,
            edge,
            def,
            is_editable: def.is_some_and(|def| self.defs[def].is_editable),
            parent,
            integer: Integer::from_type(definition),
            decoder: Rc::new(Plain),
        });
        self.depth += 1;
        let decoder = if self.depth > DEEPEST { Rc::new(Opaque) } else { self.decoder(ty, id) };
        self.depth -= 1;
        self.sites[id].decoder = decoder;
        id
    }

    /// Returns the decoder of a type with a family.
    fn known(&mut self, ty: TypeId, site: SiteId) -> Decoded {
        let head = head(&self.get(ty).path);
        let (_, recognise) = self.families.iter().flat_map(|family| family.types).find(|(path, _)| *path == head)?;
        recognise(self, ty, site)
    }

    /// Returns the blocks of a family with a [`Blocks::name`].
    pub(super) fn blocks(&self, name: &str) -> Option<&'static Blocks> {
        self.families.iter().filter_map(|family| family.blocks.as_ref()).find(|blocks| blocks.name == name)
    }

    fn decoder(&mut self, ty: TypeId, site: SiteId) -> Rc<dyn Decoder> {
        let definition = self.get(ty);
        if let Some(decoder) = self.known(ty, site) {
            return decoder;
        }
        match &definition.kind {
            Kind::Primitive | Kind::Vtable(_) => Rc::new(Plain),
            Kind::Opaque => Rc::new(Opaque),
            Kind::Union(_) => searched(definition),
            Kind::Pointer { pointee } => Rc::new(Pointer { pointee: *pointee, meta: Meta::None, is_text: false }),
            Kind::WidePointer { pointee, fields } => {
                let meta = match fields.get(1) {
                    Some(field) if &*field.name == "length" => Meta::Length(field.offset),
                    Some(field) => Meta::Vtable(field.offset),
                    None => Meta::None,
                };
                Rc::new(Pointer { pointee: *pointee, meta, is_text: &*definition.path == "&str" })
            }
            Kind::Array { .. } if self.is_plain(ty, 0) => Rc::new(Plain),
            Kind::Array { element, count } => {
                let stride = self.get(*element).size;
                Rc::new(Array { element: self.part(*element, site, Edge::Array), stride, count: *count })
            }
            Kind::Struct(fields) if definition.path.starts_with('(') => {
                let part = |(index, field): (usize, &Field)| Part {
                    at: field.offset,
                    site: self.part(field.ty, site, Edge::Tuple(index)),
                };
                Rc::new(Parts { parts: fields.iter().enumerate().map(part).collect(), is_tuple: true })
            }
            Kind::Struct(fields) if is_std(&definition.path) => {
                if self.is_plain(ty, 0) {
                    return Rc::new(Plain);
                }
                let mut part = |field: &Field| Part { at: field.offset, site: self.part(field.ty, site, Edge::Inner) };
                Rc::new(Parts { parts: fields.iter().map(&mut part).collect(), is_tuple: false })
            }
            Kind::Enum(of_enum) if is_std(&definition.path) => {
                let is_option = head(&definition.path) == "core::option::Option";
                let values: Vec<_> = of_enum.variants.iter().map(|variant| variant.discriminants.clone()).collect();
                let mut variants = Vec::new();
                for variant in &of_enum.variants {
                    let parts = variant
                        .fields
                        .iter()
                        .map(|field| Part { at: field.offset, site: self.part(field.ty, site, Edge::Optional) });
                    variants.push(Variant { name: Text::clone(&variant.name), parts: parts.collect() });
                }
                Rc::new(StdEnum {
                    tag: of_enum.tag.as_ref().map(|tag| TagDecode::new(tag, &values)),
                    variants,
                    is_option,
                })
            }
            Kind::Struct(_) | Kind::Enum(_) | Kind::Closure(_) | Kind::Coroutine(_) => Rc::new(Declared(self.def(ty))),
        }
    }

    /// Returns `true` for the buffer of a reader or writer and what is in it: bytes on their way, which no field keeps.
    pub(crate) fn is_scratch(&self, site: SiteId) -> bool {
        let mut at = Some(site);
        while let Some(field) = at.and_then(|at| self.sites.get(at)) {
            let ty = field.ty.map(|ty| head(&self.get(ty).path));
            if ty == Some("core::mem::maybe_uninit::MaybeUninit") && field.edge == Edge::Element {
                return true;
            }
            let around = match field.parent {
                Some(parent) => self.sites[parent].ty,
                None => field.def.map(|def| self.defs[def].ty),
            };
            // A field whose type is an argument is what is read or written.
            let is_own = |around: &TypeId| self.get(*around).params.iter().all(|param| Some(param.ty) != field.ty);
            if around.filter(is_own).is_some_and(|around| is_buffered(&self.get(around).path)) {
                return true;
            }
            at = field.parent;
        }
        false
    }

    /// Returns the description of a struct or enum, which it creates at the first call.
    pub(crate) fn def(&mut self, ty: TypeId) -> DefId {
        if let Some(&def) = self.by_type.get(&ty) {
            return def;
        }
        let definition = self.get(ty);
        let def = self.defs.len();
        let is_declared = matches!(definition.kind, Kind::Struct(_) | Kind::Enum(_));
        self.defs.push(Def {
            ty,
            name: Text::clone(&definition.name),
            is_editable: is_declared && (definition.own || !self.has_own() && !is_std(&definition.path)),
            is_enum: matches!(definition.kind, Kind::Enum(_) | Kind::Coroutine(_)),
            is_coroutine: matches!(definition.kind, Kind::Coroutine(_)),
            tag: None,
            variants: Vec::new(),
            is_ready: false,
        });
        self.by_type.insert(ty, def);
        def
    }

    /// Reads the fields of a struct or enum when the walk meets its first value.
    pub(crate) fn prepare(&mut self, def: DefId) {
        if self.defs[def].is_ready {
            return;
        }
        self.defs[def].is_ready = true;
        let definition = self.get(self.defs[def].ty);
        let name = Text::clone(&definition.name);
        let mut variants: Vec<(Text, String, Vec<Field>)> = Vec::new();
        let mut moved: Vec<(usize, u64)> = Vec::new();
        let mut tag = None;
        match &definition.kind {
            Kind::Struct(fields) | Kind::Closure(fields) => {
                variants.push((Text::clone(&name), name.to_string(), fields.clone()));
            }
            Kind::Enum(of_enum) => {
                let values: Vec<_> = of_enum.variants.iter().map(|variant| variant.discriminants.clone()).collect();
                tag = of_enum.tag.as_ref().map(|tag| TagDecode::new(tag, &values));
                for variant in &of_enum.variants {
                    let path = format!("{name}::{}", variant.name);
                    variants.push((Text::clone(&variant.name), path, variant.fields.clone()));
                }
            }
            Kind::Coroutine(coroutine) => {
                let values: Vec<_> = coroutine
                    .states
                    .iter()
                    .map(|state| state.discriminant.map(|value| value..=value).into_iter().collect())
                    .collect();
                tag = coroutine.tag.as_ref().map(|tag| TagDecode::new(tag, &values));
                for state in &coroutine.states {
                    let shown: Text = match (&state.source, state.is_suspended()) {
                        (Some(source), true) => format!("{} ({}:{})", state.name, source.file, source.line).into(),
                        _ => Text::clone(&state.name),
                    };
                    let mut fields: Vec<Field> = state.held.clone();
                    fields.retain(|field| !is_copied(coroutine, state, field));
                    let may_be = fields.iter().filter(|field| self.may_be_moved(coroutine, state, field));
                    moved.extend(may_be.map(|field| (variants.len(), field.offset)));
                    fields.extend(state.awaited.clone());
                    variants.push((shown, name.to_string(), fields));
                }
            }
            _ => {}
        }
        let variants = variants.into_iter().enumerate().map(|(number, (name, path, fields))| {
            let fields = fields.iter().enumerate().map(|(index, field)| DefField {
                name: Text::clone(&field.name),
                is_moved: moved.contains(&(number, field.offset)),
                at: field.offset,
                site: self.site(
                    field.ty,
                    format!("{path}.{}", field.name),
                    Edge::Field(number, index),
                    Some(def),
                    None,
                ),
            });
            DefVariant { name, fields: fields.collect() }
        });
        let variants: Vec<DefVariant> = variants.collect();
        let def = &mut self.defs[def];
        def.tag = tag;
        def.variants = variants;
    }

    /// Reads the fields of the types that known types store inline, although the walk met no value of them: the size of an enum
    /// depends on all its variants. They are only read, since no value shows what to change in them.
    pub(crate) fn prepare_inline(&mut self) {
        let mut site = 0;
        while let Some(field) = self.sites.get(site) {
            let is_inline = !matches!(field.edge, Edge::Element | Edge::Key | Edge::Value | Edge::Pointee);
            if let Holds::Def(def) = field.decoder.holds()
                && is_inline
                && !self.defs[def].is_ready
            {
                self.defs[def].is_editable = false;
                self.prepare(def);
            }
            site += 1;
        }
    }

    /// Returns `true` if a value of a suspended future may have been moved: an argument of its function, or a value
    /// like the awaited future or one of its arguments.
    fn may_be_moved(&self, coroutine: &Coroutine, state: &State, field: &Field) -> bool {
        if !state.is_suspended() {
            return false;
        }
        let is_argument = coroutine.flavour == Flavour::AsyncFn && is_capture(coroutine, field);
        let is_awaited = |awaited: &Field| match &self.get(awaited.ty).kind {
            _ if awaited.ty == field.ty => true,
            Kind::Coroutine(inner) => inner.captures.iter().any(|capture| capture.ty == field.ty),
            _ => false,
        };
        is_argument || state.awaited.as_ref().is_some_and(is_awaited)
    }
}

/// The bytes of a type.
impl Schema<'_> {
    /// Returns the padding of a type, except inside enums.
    pub(crate) fn padding(&mut self, ty: TypeId) -> Ranges {
        if let Some(known) = self.paddings.get(&ty) {
            return Rc::clone(known);
        }
        let size = usize::try_from(self.get(ty).size).unwrap_or(0);
        let mut used = Vec::new();
        self.used(ty, 0, 0, &mut used);
        used.sort_unstable();
        let mut found = Vec::new();
        let mut at = 0;
        for (start, end) in used {
            if start > at {
                found.push((at, start.min(size)));
            }
            at = at.max(end);
        }
        if at < size {
            found.push((at, size));
        }
        let found: Ranges = found.into();
        self.paddings.insert(ty, Rc::clone(&found));
        found
    }

    fn used(&self, ty: TypeId, at: u64, depth: u32, into: &mut Vec<(usize, usize)>) {
        let definition = self.get(ty);
        match &definition.kind {
            Kind::Struct(fields) | Kind::Closure(fields) if depth < DEEPEST && into.len() < 4096 => {
                for field in fields {
                    self.used(field.ty, at.saturating_add(field.offset), depth + 1, into);
                }
            }
            Kind::Array { element, count } if depth < DEEPEST && *count <= 64 && into.len() < 4096 => {
                let size = self.get(*element).size;
                for index in 0..*count {
                    self.used(*element, at.saturating_add(index.saturating_mul(size)), depth + 1, into);
                }
            }
            _ => {
                let range = (usize::try_from(at), usize::try_from(at.saturating_add(definition.size)));
                if let (Ok(start), Ok(end)) = range {
                    into.push((start, end));
                }
            }
        }
    }

    /// Returns `true` if a value can change through a shared reference, so that equal values cannot be shared.
    pub(crate) fn has_cell(&self, ty: TypeId, depth: u32) -> bool {
        let definition = self.get(ty);
        let any = |fields: &[Field]| fields.iter().any(|field| self.has_cell(field.ty, depth + 1));
        depth < DEEPEST
            && match &definition.kind {
                _ if head(&definition.path) == "core::cell::UnsafeCell" => true,
                Kind::Struct(fields) | Kind::Closure(fields) | Kind::Union(fields) => any(fields),
                Kind::Enum(of_enum) => of_enum.variants.iter().any(|variant| any(&variant.fields)),
                Kind::Array { element, .. } => self.has_cell(*element, depth + 1),
                _ => false,
            }
    }

    /// Returns `true` if values of a type contain only numbers.
    pub(crate) fn is_plain(&mut self, ty: TypeId, depth: u32) -> bool {
        if let Some(&known) = self.plain.get(&ty) {
            return known;
        }
        if depth > DEEPEST {
            return false;
        }
        let definition = self.get(ty);
        let all = |this: &mut Self, fields: &[Field]| fields.iter().all(|field| this.is_plain(field.ty, depth + 1));
        let is_plain = match &definition.kind {
            Kind::Primitive => true,
            Kind::Array { element, .. } => self.is_plain(*element, depth + 1),
            Kind::Struct(fields) if is_std(&definition.path) || definition.path.starts_with('(') => all(self, fields),
            // Enums of other crates are not plain, because their variants are counted.
            Kind::Enum(of_enum) => {
                is_std(&definition.path) && of_enum.variants.iter().all(|variant| variant.fields.is_empty())
            }
            _ => definition.size == 0,
        };
        self.plain.insert(ty, is_plain);
        is_plain
    }
}

/// Returns `true` for the readers and writers with a buffer of std, tokio, futures and others.
fn is_buffered(path: &str) -> bool {
    let name = head(path).rsplit("::").next();
    matches!(name, Some("BufReader" | "BufWriter" | "LineWriter" | "LineWriterShim" | "BufStream"))
}

fn is_capture(coroutine: &Coroutine, field: &Field) -> bool {
    coroutine.captures.iter().any(|capture| capture.offset == field.offset && capture.name == field.name)
}

/// Returns `true` for an argument that a suspended future has moved into a variable of the same name.
fn is_copied(coroutine: &Coroutine, state: &State, field: &Field) -> bool {
    let is_variable = |other: &Field| other.name == field.name && other.ty == field.ty && other.offset != field.offset;
    state.is_suspended() && is_capture(coroutine, field) && state.held.iter().any(is_variable)
}

/// Ranges of bytes in a value, with exclusive ends.
pub(crate) type Ranges = Rc<[(usize, usize)]>;

/// Returns a path that is never shown: [`Schema::prepare`] renames the fields.
fn unreachable_path(path: &str) -> String {
    path.to_owned()
}
