//! A cache file for a parsed program, so that later commands on the same executable are fast.
//!
//! The file has a header (magic number, version, length and hash of the rest), a table of all texts, and then the
//! program with numbers as LEB128 and texts as indices. A file that cannot be read counts as missing: the executable is
//! parsed again.

use super::model::{
    Coroutine, Enum, Field, Flavour, Kind, Param, Program, Source, State, Static, Tag, Text, Type, TypeId, Variant,
    Vtable,
};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::fs;
use std::hash::BuildHasher;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The first bytes of a cache file. Change them with the format, and with the data that is read from an executable.
const MAGIC: &[u8] = concat!("dwell types 7 ", env!("CARGO_PKG_VERSION"), "\n").as_bytes();

/// The maximum number of files kept for one name, for a few profiles and targets.
const MOST: usize = 6;

/// The cache file of an executable.
#[derive(Debug)]
pub(super) struct Entry {
    folder: PathBuf,
    /// The executable's name; the oldest files with this name are removed.
    name: String,
    file: PathBuf,
}

impl Entry {
    /// Returns the entry of an executable.
    ///
    /// Identifies the executable by build id and length; without a build id, by path and modification time.
    pub(super) fn new(folder: &Path, path: &Path, build_id: Option<&str>) -> Self {
        let metadata = fs::metadata(path).ok();
        let length = metadata.as_ref().map_or(0, fs::Metadata::len);
        let id = if let Some(id) = build_id {
            id.to_owned()
        } else {
            let written = metadata.and_then(|metadata| metadata.modified().ok());
            let since = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_nanos());
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            format!("at-{:016x}", FixedState::with_seed(7).hash_one((path, since)))
        };
        let name = path.file_name().map_or_else(|| "executable".to_owned(), |name| name.to_string_lossy().into_owned());
        let file = folder.join(format!("{name}.{id}.{length}.types"));
        Self { folder: folder.to_owned(), name, file }
    }

    pub(super) fn read(&self) -> Option<Program> {
        decode(&fs::read(&self.file).ok()?)
    }

    /// Writes the program. Errors are ignored: the program is then not cached.
    pub(super) fn write(&self, program: &Program) {
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&self.folder)?;
            // A rename is atomic, so a concurrent reader sees the whole file or none.
            let unfinished = self.file.with_extension(format!("{}.tmp", std::process::id()));
            let mut file = fs::File::create(&unfinished)?;
            let written = file.write_all(&encode(program)).and_then(|()| fs::rename(&unfinished, &self.file));
            if written.is_err() {
                let _ = fs::remove_file(&unfinished);
            }
            written
        };
        if write().is_ok() {
            self.remove_old();
        }
    }

    fn remove_old(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let prefix = format!("{}.", self.name);
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name.starts_with(&prefix) && name.ends_with(".types")
            })
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        for (_, file) in files.iter().rev().skip(MOST) {
            let _ = fs::remove_file(file);
        }
    }
}

fn hash(body: &[u8]) -> u64 {
    FixedState::with_seed(1).hash_one(body)
}

fn encode(program: &Program) -> Vec<u8> {
    let mut out = Writer::default();
    out.program(program);
    let mut body = Vec::new();
    number(&mut body, out.texts.len() as u64);
    for text in &out.texts {
        number(&mut body, text.len() as u64);
    }
    for text in &out.texts {
        body.extend_from_slice(text.as_bytes());
    }
    body.append(&mut out.bytes);
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(&(body.len() as u64).to_le_bytes());
    file.extend_from_slice(&hash(&body).to_le_bytes());
    file.append(&mut body);
    file
}

fn decode(file: &[u8]) -> Option<Program> {
    let rest = file.strip_prefix(MAGIC)?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (sum, body) = rest.split_first_chunk::<8>()?;
    if body.len() as u64 != u64::from_le_bytes(*length) || hash(body) != u64::from_le_bytes(*sum) {
        return None;
    }
    let mut reader = Reader { rest: body, texts: Vec::new(), highest: 0 };
    let count = reader.count()?;
    let lengths: Vec<u64> = (0..count).map(|_| reader.number()).collect::<Option<_>>()?;
    for length in lengths {
        let (text, rest) = reader.rest.split_at_checked(usize::try_from(length).ok()?)?;
        reader.texts.push(std::str::from_utf8(text).ok()?.into());
        reader.rest = rest;
    }
    let program = reader.program()?;
    let names_types = program.types.is_empty() || (reader.highest as usize) < program.types.len();
    (reader.rest.is_empty() && names_types).then_some(program)
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    texts: Vec<Text>,
    known: HashMap<Text, u64, FixedState>,
}

impl Writer {
    fn number(&mut self, value: u64) {
        number(&mut self.bytes, value);
    }

    fn text(&mut self, text: &Text) {
        let next = self.texts.len() as u64;
        let index = *self.known.entry(Text::clone(text)).or_insert(next);
        if index == next {
            self.texts.push(Text::clone(text));
        }
        self.number(index);
    }

    fn some<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn each<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(values.len() as u64);
        for value in values {
            write(self, value);
        }
    }

    fn wide(&mut self, value: i128) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn id(&mut self, id: TypeId) {
        self.number(id.0.into());
    }

    fn program(&mut self, program: &Program) {
        let Program {
            file: _,
            build_id: _,
            rustc,
            pointer_size,
            units,
            bytes,
            damaged,
            statics,
            thread_locals,
            types,
            objects: _,
            files: _,
        } = program;
        self.some(rustc.as_ref(), Self::text);
        self.number(*pointer_size);
        self.number(*bytes);
        self.each(units, Self::text);
        self.each(damaged, |out, text| out.text(&text.as_str().into()));
        for all in [statics, thread_locals] {
            self.each(all, |out, variable| {
                out.number(variable.address);
                out.text(&variable.path);
                out.id(variable.ty);
            });
        }
        self.each(types, Self::ty);
    }

    fn ty(&mut self, ty: &Type) {
        let Type { name, path, size, align, kind, params, source, krate, own: _, public, unit } = ty;
        self.text(name);
        self.text(path);
        self.number(*size);
        self.number(*align);
        self.text(krate);
        self.number((*unit).into());
        self.number((*public).into());
        self.source(source.as_ref());
        self.each(params, |out, param| {
            out.text(&param.name);
            out.id(param.ty);
        });
        self.kind(kind);
    }

    fn source(&mut self, source: Option<&Source>) {
        self.some(source, |out, source| {
            out.text(&source.file);
            out.number(source.line.into());
        });
    }

    fn field(&mut self, field: &Field) {
        self.text(&field.name);
        self.id(field.ty);
        self.number(field.offset);
        self.number(field.line.map_or(0, |line| u64::from(line) + 1));
    }

    fn fields(&mut self, fields: &[Field]) {
        self.each(fields, Self::field);
    }

    fn tag(&mut self, tag: Option<&Tag>) {
        self.some(tag, |out, tag| {
            out.number(tag.offset);
            out.number(tag.size);
            out.some(tag.niche.as_ref(), Self::text);
        });
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::Primitive => self.number(0),
            Kind::Struct(fields) => {
                self.number(1);
                self.fields(fields);
            }
            Kind::Union(fields) => {
                self.number(2);
                self.fields(fields);
            }
            Kind::Enum(definition) => {
                self.number(3);
                self.tag(definition.tag.as_ref());
                self.each(&definition.variants, |out, variant| {
                    out.text(&variant.name);
                    out.each(&variant.discriminants, |out, range| {
                        out.wide(*range.start());
                        out.wide(*range.end());
                    });
                    out.fields(&variant.fields);
                });
            }
            Kind::Closure(fields) => {
                self.number(4);
                self.fields(fields);
            }
            Kind::Coroutine(coroutine) => {
                self.number(5);
                self.coroutine(coroutine);
            }
            Kind::Array { element, count } => {
                self.number(6);
                self.id(*element);
                self.number(*count);
            }
            Kind::Pointer { pointee } => {
                self.number(7);
                self.some(*pointee, Self::id);
            }
            Kind::WidePointer { pointee, fields } => {
                self.number(8);
                self.some(*pointee, Self::id);
                self.fields(fields);
            }
            Kind::Vtable(vtable) => {
                self.number(9);
                self.id(vtable.concrete);
                self.text(&vtable.trait_name);
                self.text(&vtable.trait_path);
            }
            Kind::Opaque => self.number(10),
        }
    }

    fn coroutine(&mut self, coroutine: &Coroutine) {
        self.number(match coroutine.flavour {
            Flavour::AsyncFn => 0,
            Flavour::AsyncBlock => 1,
            Flavour::AsyncClosure => 2,
            Flavour::Other => 3,
        });
        self.text(&coroutine.function);
        self.tag(coroutine.tag.as_ref());
        self.fields(&coroutine.captures);
        self.each(&coroutine.states, |out, state| {
            out.text(&state.name);
            out.some(state.discriminant, Self::wide);
            out.source(state.source.as_ref());
            out.fields(&state.held);
            out.some(state.awaited.as_ref(), Self::field);
        });
    }
}

struct Reader<'a> {
    rest: &'a [u8],
    texts: Vec<Text>,
    /// The highest type index that was referred to.
    highest: u32,
}

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Reads a number of elements, each of which takes at least a byte.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|count| *count <= self.rest.len())
    }

    fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    fn text(&mut self) -> Option<Text> {
        let index = usize::try_from(self.number()?).ok()?;
        self.texts.get(index).cloned()
    }

    #[expect(clippy::option_option, reason = "the outer `Option` is `None` if the file cannot be read")]
    fn some<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        match self.number()? {
            0 => Some(None),
            1 => read(self).map(Some),
            _ => None,
        }
    }

    fn each<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        let mut all = Vec::new();
        all.try_reserve_exact(count).ok()?;
        for _ in 0..count {
            all.push(read(self)?);
        }
        Some(all)
    }

    fn wide(&mut self) -> Option<i128> {
        let (bytes, rest) = self.rest.split_first_chunk::<16>()?;
        self.rest = rest;
        Some(i128::from_le_bytes(*bytes))
    }

    fn id(&mut self) -> Option<TypeId> {
        let id = self.small()?;
        self.highest = self.highest.max(id);
        Some(TypeId(id))
    }

    fn fixed(&mut self) -> Option<Static> {
        Some(Static { address: self.number()?, path: self.text()?, ty: self.id()? })
    }

    fn program(&mut self) -> Option<Program> {
        Some(Program {
            file: PathBuf::new(),
            build_id: None,
            rustc: self.some(Self::text)?,
            pointer_size: self.number()?,
            bytes: self.number()?,
            units: self.each(Self::text)?,
            damaged: self.each(|input| input.text().map(|text| text.to_string()))?,
            statics: self.each(Self::fixed)?,
            thread_locals: self.each(Self::fixed)?,
            types: self.each(Self::ty)?,
            objects: Vec::new(),
            files: Vec::new(),
        })
    }

    fn ty(&mut self) -> Option<Type> {
        Some(Type {
            name: self.text()?,
            path: self.text()?,
            size: self.number()?,
            align: self.number()?,
            krate: self.text()?,
            unit: self.small()?,
            public: self.number()? != 0,
            source: self.source()?,
            params: self.each(|input| Some(Param { name: input.text()?, ty: input.id()? }))?,
            own: false,
            kind: self.kind()?,
        })
    }

    #[expect(clippy::option_option, reason = "the outer `Option` is `None` if the file cannot be read")]
    fn source(&mut self) -> Option<Option<Source>> {
        self.some(|input| Some(Source { file: input.text()?, line: input.small()? }))
    }

    fn field(&mut self) -> Option<Field> {
        Some(Field {
            name: self.text()?,
            ty: self.id()?,
            offset: self.number()?,
            line: match self.number()? {
                0 => None,
                line => Some(u32::try_from(line - 1).ok()?),
            },
        })
    }

    fn fields(&mut self) -> Option<Vec<Field>> {
        self.each(Self::field)
    }

    #[expect(clippy::option_option, reason = "the outer `Option` is `None` if the file cannot be read")]
    fn tag(&mut self) -> Option<Option<Tag>> {
        self.some(|input| Some(Tag { offset: input.number()?, size: input.number()?, niche: input.some(Self::text)? }))
    }

    fn kind(&mut self) -> Option<Kind> {
        Some(match self.number()? {
            0 => Kind::Primitive,
            1 => Kind::Struct(self.fields()?),
            2 => Kind::Union(self.fields()?),
            3 => Kind::Enum(Enum {
                tag: self.tag()?,
                variants: self.each(|input| {
                    Some(Variant {
                        name: input.text()?,
                        discriminants: input.each(|input| Some(input.wide()?..=input.wide()?))?,
                        fields: input.fields()?,
                    })
                })?,
            }),
            4 => Kind::Closure(self.fields()?),
            5 => Kind::Coroutine(self.coroutine()?),
            6 => Kind::Array { element: self.id()?, count: self.number()? },
            7 => Kind::Pointer { pointee: self.some(Self::id)? },
            8 => Kind::WidePointer { pointee: self.some(Self::id)?, fields: self.fields()? },
            9 => Kind::Vtable(Vtable { concrete: self.id()?, trait_name: self.text()?, trait_path: self.text()? }),
            10 => Kind::Opaque,
            _ => return None,
        })
    }

    fn coroutine(&mut self) -> Option<Coroutine> {
        Some(Coroutine {
            flavour: match self.number()? {
                0 => Flavour::AsyncFn,
                1 => Flavour::AsyncBlock,
                2 => Flavour::AsyncClosure,
                3 => Flavour::Other,
                _ => return None,
            },
            function: self.text()?,
            tag: self.tag()?,
            captures: self.fields()?,
            states: self.each(|input| {
                Some(State {
                    name: input.text()?,
                    discriminant: input.some(Self::wide)?,
                    source: input.source()?,
                    held: input.fields()?,
                    awaited: input.some(Self::field)?,
                })
            })?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a program with one type of each kind.
    fn program() -> Program {
        let field = |name: &str| Field { name: name.into(), ty: TypeId(1), offset: 300, line: Some(7) };
        let tag = |niche: Option<&str>| Some(Tag { offset: 1, size: 2, niche: niche.map(Into::into) });
        let source = Some(Source { file: "src/main.rs".into(), line: u32::MAX });
        let state = |awaited| State {
            name: "Suspend0".into(),
            discriminant: Some(3),
            source: source.clone(),
            held: vec![field("held")],
            awaited,
        };
        let coroutine = |flavour| {
            Kind::Coroutine(Coroutine {
                flavour,
                function: "run".into(),
                tag: tag(None),
                captures: vec![field("self")],
                states: vec![state(None), state(Some(field("__awaitee")))],
            })
        };
        let variant = |discriminants| Variant { name: "A".into(), discriminants, fields: vec![field("0")] };
        let kinds = [
            Kind::Primitive,
            Kind::Struct(vec![field("a"), Field { line: None, ..field("b") }]),
            Kind::Union(vec![field("a")]),
            Kind::Enum(Enum {
                tag: tag(Some("buf.cap")),
                variants: vec![variant(vec![-1..=i128::MAX]), variant(vec![])],
            }),
            Kind::Enum(Enum { tag: None, variants: vec![] }),
            Kind::Closure(vec![field("captured")]),
            coroutine(Flavour::AsyncFn),
            coroutine(Flavour::AsyncBlock),
            coroutine(Flavour::AsyncClosure),
            coroutine(Flavour::Other),
            Kind::Array { element: TypeId(2), count: u64::MAX },
            Kind::Pointer { pointee: None },
            Kind::WidePointer { pointee: Some(TypeId(3)), fields: vec![field("length")] },
            Kind::Vtable(Vtable { concrete: TypeId(4), trait_name: "Draw".into(), trait_path: "app::Draw".into() }),
            Kind::Opaque,
        ];
        let types = kinds.into_iter().map(|kind| Type {
            name: "Type".into(),
            path: "app::Type".into(),
            size: 16,
            align: 8,
            kind,
            params: vec![Param { name: "T".into(), ty: TypeId(0) }],
            source: source.clone(),
            krate: "app".into(),
            own: false,
            public: true,
            unit: 5,
        });
        Program {
            rustc: Some("1.95.0".into()),
            pointer_size: 8,
            units: vec!["main.rs".into()],
            bytes: 1 << 40,
            damaged: vec!["a unit".into()],
            statics: vec![Static { address: 1 << 40, path: "app::TABLE".into(), ty: TypeId(2) }],
            thread_locals: vec![Static { address: 16, path: "app::CACHE".into(), ty: TypeId(2) }],
            types: types.collect(),
            ..Program::default()
        }
    }

    #[test]
    fn encoded_program_round_trips() {
        let program = program();
        let read = decode(&encode(&program)).unwrap();
        assert_eq!(format!("{read:?}"), format!("{program:?}"));
    }

    #[test]
    fn damaged_cache_file_is_rejected() {
        let good = encode(&program());
        assert!(decode(&good).is_some());
        for length in 0..good.len() {
            assert!(decode(&good[..length]).is_none());
        }
        let start = MAGIC.len() + 16;
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x41;
            assert!(decode(&bad).is_none(), "byte {at}");
            // The same damage with a matching hash: reading may succeed or fail, but must not panic.
            if at >= start {
                let sum = hash(&bad[start..]).to_le_bytes();
                bad[start - 8..start].copy_from_slice(&sum);
                let _ = decode(&bad);
            }
        }
    }

    #[test]
    fn old_cache_files_of_a_program_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let program = Program::default();
        for index in 0..10 {
            let id = format!("{index:08x}");
            let entry = Entry::new(folder.path(), Path::new("some/app"), Some(&id));
            assert!(entry.read().is_none());
            entry.write(&program);
            assert!(entry.read().is_some());
        }
        Entry::new(folder.path(), Path::new("some/app-two"), Some("00")).write(&program);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MOST + 1);
    }
}
