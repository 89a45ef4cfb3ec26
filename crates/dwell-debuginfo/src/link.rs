//! Builds a [`Program`] from the entries of all units: resolves references, infers alignments, names types, and
//! recognises enums, closures, coroutines, vtables and wide pointers.

use super::budget::Budget;
use super::model::{
    Coroutine, Enum, Field, Flavour, Kind, Param, Program, Source, State, Static, Tag, Text, Type, TypeId, Variant,
    Vtable,
};
use super::names::{self, ImplFor, Namer};
use super::pool::Ranks;
use super::raw::{Body, RawField, RawKind, RawStatic, RawType, RawVariant, UnitTypes, Unnamed};
use super::read::Output;
use anyhow::Result;
use std::collections::{HashMap, HashSet};

/// The deepest nesting of arrays and fields that is followed.
const DEEPEST: u32 = 64;

/// Builds the program without its file, build id and own crates.
///
/// # Errors
/// Returns an error if the budget is exceeded.
pub(super) fn link(
    output: Output<'_>,
    pointer_size: u64,
    budget: &Budget,
    with_offsets: bool,
) -> Result<(Program, Offsets)> {
    let Output { pool, units, bodies, impls, statics, damaged, rustc, .. } = output;
    let (raws, ranks) = pool.into_ordered();
    let mut resolver = Resolver::new(&units, &ranks);
    let count_named = raws.len();
    let mut made = Made { ids: HashMap::new(), list: Vec::new(), first: count_named };
    made.resolve_all(&mut resolver, budget)?;
    let count = count_named + made.list.len() + 1;
    let unknown = id_of(count - 1);
    let find = |offset: Option<u64>| offset.and_then(|offset| resolver.find(offset)).unwrap_or(unknown);

    let aligns = Aligns::new(&raws, &made.list, &find, pointer_size, count);
    // The path of an array or pointer contains the path of its target, which has a lower index.
    let mut paths: Vec<Text> = raws.iter().map(|raw| Text::from(&*raw.path)).collect();
    for (target, count) in &made.list {
        let target_path = paths.get(target.0 as usize).map_or("_", |path| path);
        let path = match count {
            Some(count) => format!("[{target_path}; {count}]"),
            None => format!("*const {target_path}"),
        };
        budget.charge(2 * path.len() as u64 + 256)?;
        paths.push(path.into());
    }
    paths.push("_".into());

    let places_of_coroutines: HashMap<&str, Source> = raws
        .iter()
        .filter(|raw| raw.kind == RawKind::Variants && names::generated(names::head(&raw.path)).is_some())
        .filter_map(|raw| Some((names::head(&raw.path), source(raw.variants.first()?)?)))
        .collect();
    let source_of = |head: &str| {
        let body = bodies.get(&head.replacen("_env#", "#", usize::MAX));
        body.map(|body| Source { file: Text::clone(&body.file), line: body.line })
            .or_else(|| places_of_coroutines.get(head).cloned())
    };
    // Vtables refer to traits, which are not types.
    let traits = raws
        .iter()
        .filter(|raw| raw.kind == RawKind::Vtable)
        .filter_map(|raw| names::vtable(&raw.path))
        .map(|(_, of_trait)| names::head(of_trait));
    let heads = raws
        .iter()
        .filter(|raw| !matches!(raw.kind, RawKind::Base | RawKind::Pointer | RawKind::Vtable | RawKind::Opaque))
        .map(|raw| names::head(&raw.path))
        .chain(traits)
        .filter(|head| is_path(head));
    let namer = Namer::new(heads, source_of, &impls);
    let mut texts = Texts::default();
    let mut types: Vec<Type> = Vec::with_capacity(count);
    let mut linker = Linker {
        raws: &raws,
        made: &made.list,
        find: &find,
        bodies: &bodies,
        impls: &impls,
        namer: &namer,
        texts: &mut texts,
    };
    for (index, raw) in raws.iter().enumerate() {
        let path = Text::clone(&paths[index]);
        let name = linker.name(&path);
        let kind = linker.kind(raw, pointer_size);
        let params =
            raw.params.iter().map(|(name, ty)| Param { name: linker.texts.get(name), ty: find(*ty) }).collect();
        let is_generated = matches!(kind, Kind::Closure(_) | Kind::Coroutine(_));
        types.push(Type {
            krate: linker.krate(&path, raw.kind),
            name,
            size: raw.size,
            align: aligns.get(index),
            source: if is_generated { source_of(names::head(&path)) } else { None },
            path,
            kind,
            params,
            own: false,
            public: raw.is_public,
            unit: raw.unit,
        });
    }
    let empty = linker.texts.get(b"");
    for (index, (element, count)) in made.list.iter().enumerate() {
        let path = Text::clone(&paths[count_named + index]);
        let target = types.get(element.0 as usize);
        let size = count.map_or(pointer_size, |count| target.map_or(0, |target| target.size).saturating_mul(count));
        let unit = target.map_or(0, |target| target.unit);
        types.push(Type {
            name: linker.name(&path),
            path,
            size,
            align: aligns.get(count_named + index),
            kind: match *count {
                Some(count) => Kind::Array { element: *element, count },
                None => Kind::Pointer { pointee: Some(*element) },
            },
            params: Vec::new(),
            source: None,
            krate: Text::clone(&empty),
            own: false,
            public: false,
            unit,
        });
    }
    types.push(Type {
        name: "_".into(),
        path: "_".into(),
        size: 0,
        align: 1,
        kind: Kind::Opaque,
        params: Vec::new(),
        source: None,
        krate: empty,
        own: false,
        public: false,
        unit: 0,
    });
    name_niches(&mut types);
    set_unsized_tails(&mut types);
    let (thread_locals, statics): (Vec<_>, Vec<_>) = statics.into_iter().partition(|variable| variable.is_thread_local);
    let fixed =
        |variable: RawStatic| Static { address: variable.address, path: variable.path.into(), ty: find(variable.ty) };
    let statics = statics.into_iter().map(fixed).collect();
    let thread_locals = thread_locals.into_iter().map(fixed).collect();
    let offsets = if with_offsets { Offsets::new(&resolver, &units, budget)? } else { Offsets(Vec::new()) };
    let program = Program {
        rustc: rustc.map(Into::into),
        pointer_size,
        units: units.into_iter().map(|unit| unit.name.into()).collect(),
        damaged,
        statics,
        thread_locals,
        types,
        ..Program::default()
    };
    Ok((program, offsets))
}

/// The types by their global offsets: offsets in the concatenation of all files.
#[derive(Debug)]
pub(super) struct Offsets(Vec<(u64, TypeId)>);

impl Offsets {
    fn new(resolver: &Resolver<'_>, units: &[UnitTypes], budget: &Budget) -> Result<Self> {
        let number = units.iter().map(|unit| unit.types.len()).sum::<usize>() + resolver.made.len();
        budget.charge((number * size_of::<(u64, TypeId)>()) as u64)?;
        let named = units.iter().flat_map(|unit| {
            unit.types.iter().map(|(at, handle)| (unit.base + u64::from(*at), TypeId(resolver.ranks.get(*handle))))
        });
        let mut all: Vec<(u64, TypeId)> = named.chain(resolver.made.iter().map(|(at, id)| (*at, *id))).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        Ok(Self(all))
    }

    pub(super) fn find(&self, offset: u64) -> Option<TypeId> {
        self.0.binary_search_by_key(&offset, |(at, _)| *at).ok().map(|index| self.0[index].1)
    }
}

/// Returns the id of the type at `index`.
#[expect(clippy::cast_possible_truncation, reason = "the pool and the budget limit the number of types to `u32::MAX`")]
fn id_of(index: usize) -> TypeId {
    TypeId(index as u32)
}

fn source(variant: &RawVariant<'_>) -> Option<Source> {
    variant.source.as_ref().map(|(file, line)| Source { file: Text::clone(file), line: *line })
}

/// Returns `true` if a path names an item of a crate, unlike `&T` and `(A, B)`.
fn is_path(path: &str) -> bool {
    path.starts_with(|first: char| first.is_alphabetic() || first == '_' || first == '{') && !path.starts_with("dyn ")
}

/// Resolves global offsets to types.
struct Resolver<'a> {
    /// The units, sorted by their first offset.
    units: Vec<&'a UnitTypes>,
    ranks: &'a Ranks,
    /// The types created for unnamed entries, by the entries' global offsets.
    made: HashMap<u64, TypeId>,
}

impl<'a> Resolver<'a> {
    fn new(units: &'a [UnitTypes], ranks: &'a Ranks) -> Self {
        let mut units: Vec<_> = units.iter().collect();
        units.sort_by_key(|unit| unit.base);
        Self { units, ranks, made: HashMap::new() }
    }

    fn find(&self, offset: u64) -> Option<TypeId> {
        let unit = self.units[..self.units.partition_point(|unit| unit.base <= offset)].last()?;
        let local = u32::try_from(offset - unit.base).ok()?;
        match unit.types.binary_search_by_key(&local, |(at, _)| *at) {
            Ok(index) => Some(TypeId(self.ranks.get(unit.types[index].1))),
            Err(_) => self.made.get(&offset).copied(),
        }
    }
}

/// The distinct unnamed types: element and length of an array, or target and `None` for a pointer.
struct Made {
    ids: HashMap<(TypeId, Option<u64>), TypeId>,
    list: Vec<(TypeId, Option<u64>)>,
    first: usize,
}

impl Made {
    /// Resolves the types with known elements, then the types made of these, and so on.
    fn resolve_all(&mut self, resolver: &mut Resolver<'_>, budget: &Budget) -> Result<()> {
        let units = resolver.units.iter();
        let mut open: Vec<(u64, Unnamed)> = units
            .flat_map(|unit| unit.unnamed.iter().map(|unnamed| (unit.base + u64::from(unnamed.at), *unnamed)))
            .collect();
        for _ in 0..DEEPEST {
            let before = open.len();
            let mut left = Vec::new();
            for (at, unnamed) in open {
                let Some(target) = resolver.find(unnamed.target) else {
                    left.push((at, unnamed));
                    continue;
                };
                budget.charge(48)?;
                let next = id_of(self.first + self.list.len());
                let id = *self.ids.entry((target, unnamed.count)).or_insert(next);
                if id == next {
                    self.list.push((target, unnamed.count));
                }
                resolver.made.insert(at, id);
            }
            open = left;
            if open.is_empty() || open.len() == before {
                break;
            }
        }
        Ok(())
    }
}

/// The alignments of all types. rustc writes the alignments of structs and of some fields; the others follow from
/// these.
struct Aligns(Vec<u64>);

impl Aligns {
    fn new(
        raws: &[RawType<'_>],
        made: &[(TypeId, Option<u64>)],
        find: &impl Fn(Option<u64>) -> TypeId,
        pointer_size: u64,
        count: usize,
    ) -> Self {
        let mut aligns = vec![0; count];
        for (index, raw) in raws.iter().enumerate() {
            aligns[index] = raw.align.unwrap_or(0);
        }
        let fields = |raw: &RawType<'_>| -> Vec<(Option<u64>, Option<u64>)> {
            let all = raw.variants.iter().flat_map(|variant| &variant.fields).chain(&raw.fields);
            all.map(|field: &RawField<'_>| (field.ty, field.align)).collect()
        };
        for raw in raws {
            for (ty, align) in fields(raw) {
                if let (Some(align), Some(ty)) = (align, ty) {
                    let kept = &mut aligns[find(Some(ty)).0 as usize];
                    *kept = if *kept == 0 { align } else { *kept };
                }
            }
        }
        for (index, raw) in raws.iter().enumerate() {
            if aligns[index] == 0 {
                aligns[index] = match raw.kind {
                    RawKind::Base | RawKind::Enumeration if raw.size.is_power_of_two() => raw.size.min(16),
                    RawKind::Pointer | RawKind::Vtable => pointer_size,
                    RawKind::Opaque | RawKind::Base | RawKind::Enumeration => 1,
                    RawKind::Struct | RawKind::Union | RawKind::Variants => 0,
                };
            }
        }
        // An array has a higher index than its element, except for structs without a known alignment, so this repeats.
        for _ in 0..8 {
            let mut is_done = true;
            for (index, (target, count)) in made.iter().enumerate() {
                let align = if count.is_some() { aligns[target.0 as usize] } else { pointer_size };
                if aligns[raws.len() + index] == 0 && align != 0 {
                    aligns[raws.len() + index] = align;
                    is_done = false;
                }
            }
            for (index, raw) in raws.iter().enumerate() {
                if aligns[index] != 0 {
                    continue;
                }
                let align = fields(raw).iter().map(|(ty, _)| aligns[find(*ty).0 as usize]).max().unwrap_or(1).max(1);
                // A packed struct has a lower alignment than its fields. Its size is a multiple of it, so the size
                // limits the guess.
                let fits = 1 << raw.size.trailing_zeros().min(63);
                aligns[index] = if raw.size == 0 { align } else { align.min(fits) };
                is_done = false;
            }
            if is_done {
                break;
            }
        }
        Self(aligns)
    }

    fn get(&self, index: usize) -> u64 {
        self.0[index].max(1)
    }
}

/// Interned texts.
#[derive(Default)]
struct Texts<'d> {
    known: HashMap<&'d [u8], Text>,
    owned: HashSet<Text>,
}

impl<'d> Texts<'d> {
    fn get(&mut self, bytes: &'d [u8]) -> Text {
        Text::clone(self.known.entry(bytes).or_insert_with(|| String::from_utf8_lossy(bytes).into()))
    }

    fn get_owned(&mut self, text: &str) -> Text {
        if let Some(known) = self.owned.get(text) {
            return Text::clone(known);
        }
        let new = Text::from(text);
        self.owned.insert(Text::clone(&new));
        new
    }
}

struct Linker<'a, 'd, F> {
    raws: &'a [RawType<'d>],
    made: &'a [(TypeId, Option<u64>)],
    find: &'a F,
    bodies: &'a HashMap<String, Body>,
    impls: &'a HashMap<String, ImplFor>,
    namer: &'a Namer<'a>,
    texts: &'a mut Texts<'d>,
}

impl<'d, F: Fn(Option<u64>) -> TypeId> Linker<'_, 'd, F> {
    fn name(&self, path: &Text) -> Text {
        if let Some((implementor, for_trait)) = names::vtable(path) {
            return format!("<{} as {}>::{{vtable}}", self.namer.name(implementor), self.namer.trait_name(for_trait))
                .into();
        }
        let name = self.namer.name(path);
        if name == **path { Text::clone(path) } else { name.into() }
    }

    fn krate(&mut self, path: &str, kind: RawKind) -> Text {
        let is_declared = is_path(path) && !matches!(kind, RawKind::Base | RawKind::Pointer | RawKind::Vtable);
        let krate = match names::head(path).split_once("::") {
            Some((krate, _)) if is_declared => krate,
            _ => "",
        };
        self.texts.get_owned(krate)
    }

    /// Returns the fields of a struct or variant. The compiler names the fields of a tuple `__0`, `__1`.
    fn fields(&mut self, fields: &[RawField<'d>]) -> Vec<Field> {
        self.fields_named(fields, |name| {
            name.strip_prefix(b"__").filter(|rest| rest.iter().all(u8::is_ascii_digit)).unwrap_or(name)
        })
    }

    /// Returns the captures of a closure or coroutine. The compiler names captures by reference `_ref__name`.
    fn captures(&mut self, fields: &[RawField<'d>]) -> Vec<Field> {
        self.fields_named(fields, |name| name.strip_prefix(b"_ref__").unwrap_or(name))
    }

    fn fields_named(&mut self, fields: &[RawField<'d>], name: impl Fn(&'d [u8]) -> &'d [u8]) -> Vec<Field> {
        fields
            .iter()
            .map(|field| Field {
                name: self.texts.get(name(field.name)),
                ty: (self.find)(field.ty),
                offset: field.offset,
                line: None,
            })
            .collect()
    }

    /// Returns the type that the pointer `id` points to.
    fn pointee(&self, id: TypeId) -> Option<TypeId> {
        match self.raws.get(id.0 as usize) {
            Some(raw) => raw.target.filter(|_| raw.kind == RawKind::Pointer).map(|target| (self.find)(Some(target))),
            None => self.made.get(id.0 as usize - self.raws.len()).filter(|made| made.1.is_none()).map(|made| made.0),
        }
    }

    fn kind(&mut self, raw: &RawType<'d>, pointer_size: u64) -> Kind {
        match raw.kind {
            RawKind::Base => Kind::Primitive,
            RawKind::Opaque => Kind::Opaque,
            RawKind::Pointer => Kind::Pointer { pointee: raw.target.map(|target| (self.find)(Some(target))) },
            RawKind::Union => Kind::Union(self.fields(&raw.fields)),
            RawKind::Struct => {
                let fields = self.fields(&raw.fields);
                let is_wide = fields.len() == 2
                    && raw.size == 2 * pointer_size
                    && matches!((&*fields[0].name, &*fields[1].name), ("data_ptr", "length") | ("pointer", "vtable"));
                if is_wide {
                    Kind::WidePointer { pointee: self.pointee(fields[0].ty), fields }
                } else if names::generated(names::head(&raw.path)).is_some() {
                    Kind::Closure(self.captures(&raw.fields))
                } else {
                    Kind::Struct(fields)
                }
            }
            RawKind::Vtable => {
                let path = names::vtable(&raw.path).map_or("", |(_, path)| if path == "_" { "" } else { path });
                let name = self.namer.trait_name(path);
                Kind::Vtable(Vtable {
                    concrete: (self.find)(raw.target),
                    trait_name: self.texts.get_owned(&name),
                    trait_path: self.texts.get_owned(path),
                })
            }
            RawKind::Variants | RawKind::Enumeration => match names::generated(names::head(&raw.path)) {
                Some((outer, kind)) if raw.kind == RawKind::Variants => {
                    Kind::Coroutine(self.coroutine(raw, outer, kind))
                }
                _ => {
                    let tag = raw.tag.map(|(offset, ty)| self.tag(offset, ty, raw));
                    let is_signed = self.is_signed(raw);
                    let variants = raw
                        .variants
                        .iter()
                        .map(|variant| Variant {
                            name: self.texts.get(variant.name),
                            discriminants: variant.discriminants.of_tag(is_signed),
                            fields: self.fields(&variant.fields),
                        })
                        .collect();
                    Kind::Enum(Enum { tag, variants })
                }
            },
        }
    }

    fn tag(&self, offset: u64, ty: Option<u64>, raw: &RawType<'_>) -> Tag {
        let size = self.raws.get((self.find)(ty).0 as usize).map(|tag| tag.size);
        // The field with the niche is found later, when all types are known.
        let is_niche = raw.kind == RawKind::Variants
            && raw.variants.len() > 1
            && raw.variants.iter().any(|variant| variant.discriminants.is_empty());
        Tag { offset, size: size.unwrap_or(raw.size), niche: is_niche.then(|| Text::from("")) }
    }

    /// Returns `true` if the tag is a signed integer.
    fn is_signed(&self, raw: &RawType<'_>) -> bool {
        let tag = raw.tag.and_then(|(_, ty)| self.raws.get((self.find)(ty).0 as usize));
        tag.is_some_and(|tag| matches!(&*tag.path, "i8" | "i16" | "i32" | "i64" | "isize"))
    }

    fn coroutine(&mut self, raw: &RawType<'d>, outer: &str, kind: &str) -> Coroutine {
        let body = self.bodies.get(&names::head(&raw.path).replacen("_env#", "#", usize::MAX));
        let mut captures = Vec::new();
        let states = raw
            .variants
            .iter()
            .map(|variant| {
                let source = source(variant);
                let line = source.as_ref().map(|source| source.line);
                let mut held = self.captures(&variant.fields);
                for field in &mut held {
                    field.line = if &*field.name == "__awaitee" { line } else { declared(body, field, line) };
                }
                let mut seen = HashSet::new();
                held.retain(|field| seen.insert((Text::clone(&field.name), field.ty, field.offset)));
                let name = self.texts.get(variant.name);
                let awaited = held.iter().position(|field| &*field.name == "__awaitee").map(|index| held.remove(index));
                match &*name {
                    "Unresumed" => captures.clone_from(&held),
                    // The captures are dropped in these states, although the compiler lists them.
                    "Returned" | "Panicked" => held.clear(),
                    _ => {}
                }
                State {
                    name,
                    discriminant: variant.discriminants.of_tag(false).first().map(|range| *range.start()),
                    source,
                    held,
                    awaited,
                }
            })
            .collect();
        Coroutine {
            flavour: match kind {
                "async fn" => Flavour::AsyncFn,
                "async block" => Flavour::AsyncBlock,
                "async closure" => Flavour::AsyncClosure,
                _ => Flavour::Other,
            },
            function: self.texts.get_owned(&names::function(outer, 0, self.impls)),
            tag: raw.tag.map(|(offset, ty)| self.tag(offset, ty, raw)),
            captures,
            states,
        }
    }
}

/// Returns the line that declares a value of a coroutine.
///
/// Of several variables with the value's name, it takes the one at the value's offset, or else the last one before the
/// `.await`.
fn declared(body: Option<&Body>, field: &Field, awaited: Option<u32>) -> Option<u32> {
    let named = || body.into_iter().flat_map(|body| &body.variables).filter(|variable| *variable.name == *field.name);
    let here = named().find(|variable| variable.offset == Some(field.offset));
    let before = || {
        named().filter(|variable| awaited.is_none_or(|line| variable.line <= line)).max_by_key(|variable| variable.line)
    };
    here.or_else(before).or_else(|| named().next()).map(|variable| variable.line)
}

/// Gives the last field of an unsized struct an unsized type. rustc describes it as one element.
fn set_unsized_tails(types: &mut Vec<Type>) {
    let mut slices: HashMap<(TypeId, bool), TypeId> = HashMap::new();
    for index in 0..types.len() {
        let ty = &types[index];
        let Kind::Struct(fields) = &ty.kind else { continue };
        let Some((last, field)) = fields.iter().enumerate().max_by_key(|(_, field)| field.offset) else { continue };
        let element = &types[field.ty.0 as usize];
        if field.offset.saturating_add(element.size) <= ty.size {
            continue;
        }
        let is_text = ty.path.ends_with("str>") && &*element.name == "u8";
        let name = |element: &str| if is_text { "str".into() } else { format!("[{element}]").into() };
        let next = id_of(types.len());
        let id = *slices.entry((field.ty, is_text)).or_insert(next);
        if id == next {
            let slice = Type {
                name: name(&element.name),
                path: name(&element.path),
                size: 0,
                kind: Kind::Opaque,
                params: Vec::new(),
                source: None,
                own: false,
                public: false,
                krate: "".into(),
                ..*element
            };
            types.push(slice);
        }
        if let Kind::Struct(fields) = &mut types[index].kind {
            fields[last].ty = id;
        }
    }
}

/// Finds the field that contains each niche.
fn name_niches(types: &mut [Type]) {
    let mut found = Vec::new();
    for (index, ty) in types.iter().enumerate() {
        let Kind::Enum(Enum { tag: Some(Tag { offset, niche: Some(_), .. }), variants }) = &ty.kind else { continue };
        let Some(variant) = variants.iter().find(|variant| variant.discriminants.is_empty()) else { continue };
        let mut name = String::new();
        niche(types, &variant.fields, *offset, &mut name, 0);
        found.push((index, Text::from(name)));
    }
    for (index, name) in found {
        if let Kind::Enum(Enum { tag: Some(tag), .. }) = &mut types[index].kind {
            tag.niche = Some(name);
        }
    }
}

/// Appends the field names on the way to `offset`.
fn niche(types: &[Type], fields: &[Field], offset: u64, name: &mut String, depth: u32) {
    let covers = |field: &&Field| {
        let size = types[field.ty.0 as usize].size;
        field.offset <= offset && offset - field.offset < size
    };
    let Some(field) = fields.iter().find(covers).filter(|_| depth < DEEPEST && name.len() < 1000) else { return };
    if !name.is_empty() {
        name.push('.');
    }
    name.push_str(&field.name);
    let inner: &[Field] = match &types[field.ty.0 as usize].kind {
        Kind::Struct(fields) | Kind::Closure(fields) => fields,
        Kind::Enum(inner) => match inner.variants.iter().find(|variant| variant.discriminants.is_empty()) {
            Some(variant) => &variant.fields,
            None => return,
        },
        _ => return,
    };
    niche(types, inner, offset - field.offset, name, depth + 1);
}
