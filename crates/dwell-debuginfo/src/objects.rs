//! The types of a process with several objects: its executable and the libraries with Rust code.

use super::locals::Locals;
use super::model::{Field, Kind, Program, TypeId, Variant};
use super::{At, Frames, Options, Read, load_at};
use anyhow::{Result, bail};
use std::collections::HashSet;
use std::path::Path;

/// Addresses of programs have fewer bits.
const BITS: u32 = 48;

/// Returns the address in a [`Program`] of an address in one of its objects.
pub const fn of_object(object: u32, address: u64) -> u64 {
    address.wrapping_add((object as u64) << BITS)
}

/// Returns the number of the object of an address in a [`Program`], and the address there.
pub const fn object_at(address: u64) -> (u32, u64) {
    ((address >> BITS) as u32, address & ((1 << BITS) - 1))
}

/// Reads the types of all objects of a process, and finds the functions at `addresses` and the variables that are in scope at
/// some of these, `variables`. [`of_object`] makes such addresses, also those of the result.
///
/// Types of equal path in two objects are two types. Of an object that cannot be read, other than the first one,
/// [`Program::damaged`] has the reason.
///
/// # Errors
/// As [`load`](super::load).
pub fn load_objects<P: AsRef<Path>>(
    files: &[P],
    options: &Options,
    addresses: &[u64],
    variables: &[u64],
) -> Result<(Program, Frames, Locals)> {
    let within = |object: u32, all: &[u64]| -> Vec<u64> {
        all.iter().map(|all| object_at(*all)).filter(|(of, _)| *of == object).map(|(_, address)| address).collect()
    };
    let read = |object: u32, file: &P| -> Result<_> {
        let (addresses, variables) = (&*within(object, addresses), &*within(object, variables));
        let Read { program, frames, locals, .. } =
            load_at(file.as_ref(), options, At { addresses, variables, ..At::default() })?;
        Ok((program, frames, locals))
    };
    let mut files = (0..1 << (u64::BITS - BITS)).zip(files);
    let Some((_, first)) = files.next() else { bail!("the process has no Rust code") };
    let (mut program, mut frames, mut locals) = read(0, first)?;
    for (object, file) in files {
        let (added, of_added) = match read(object, file) {
            Ok((added, frames, locals)) => (added, (frames, locals)),
            Err(error) => {
                let damaged = vec![format!("{error:#}")];
                let file = file.as_ref().to_owned();
                (Program { file, damaged, ..Program::default() }, (Frames::new(), Locals::new()))
            }
        };
        let base = program.add(added, object)?;
        let id = |ty: &mut TypeId| ty.0 += base;
        for (address, mut all) in of_added.0 {
            for frame in &mut all {
                frame.params.iter_mut().for_each(|param| id(&mut param.ty));
                frame.locals.iter_mut().for_each(|(_, ty, _)| id(ty));
            }
            frames.insert(of_object(object, address), all);
        }
        for (address, mut all) in of_added.1 {
            for local in &mut all {
                id(&mut local.ty);
            }
            locals.insert(of_object(object, address), all);
        }
    }
    Ok((program, frames, locals))
}

impl Program {
    /// Returns the number of the object that a type is of: 0 for the executable.
    #[expect(clippy::cast_possible_truncation, reason = "addresses have 16 bits for the number")]
    pub fn object_of(&self, id: TypeId) -> u32 {
        self.objects.partition_point(|first| *first <= id) as u32
    }

    /// Adds the types of another object. Returns the number of types before them.
    ///
    /// A short name that an earlier object has too gets the name of the file: `librows.so!Row`.
    fn add(&mut self, mut other: Self, object: u32) -> Result<u32> {
        let total = u32::try_from(self.types.len() + other.types.len());
        let (Ok(base), Ok(_)) = (u32::try_from(self.types.len()), total) else {
            bail!("{}: its types and those of the other objects are more than {}", other.file.display(), u32::MAX);
        };
        let units = u32::try_from(self.units.len()).unwrap_or(u32::MAX);
        other.qualify(&self.own_names());
        let id = |ty: &mut TypeId| ty.0 += base;
        for ty in &mut other.types {
            ty.kind.each_id(&id);
            ty.params.iter_mut().for_each(|param| id(&mut param.ty));
            ty.unit = ty.unit.saturating_add(units);
        }
        for variable in &mut other.statics {
            id(&mut variable.ty);
            variable.address = of_object(object, variable.address);
        }
        other.thread_locals.iter_mut().for_each(|variable| id(&mut variable.ty));
        self.objects.push(TypeId(base));
        self.files.push(other.file);
        self.types.extend(other.types);
        self.units.extend(other.units);
        self.damaged.extend(other.damaged);
        self.bytes += other.bytes;
        self.statics.extend(other.statics);
        self.statics.sort_by_key(|variable| variable.address);
        self.thread_locals.extend(other.thread_locals);
        self.rustc = self.rustc.take().or(other.rustc);
        Ok(base)
    }

    /// Returns the short names of the types outside of std, without arguments.
    fn own_names(&self) -> HashSet<&str> {
        let of_std = ["", "core", "alloc", "std", "hashbrown"];
        let own = self.types.iter().filter(|ty| !of_std.contains(&&*ty.krate));
        own.map(|ty| ty.name.split('<').next().unwrap_or_default()).filter(|name| !name.starts_with('{')).collect()
    }

    /// Puts the name of the file before the names of this object's own types that are `taken`.
    fn qualify(&mut self, taken: &HashSet<&str>) {
        let own = self.own_names();
        let both: HashSet<String> = own.intersection(taken).map(|name| (*name).to_owned()).collect();
        let file = self.file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        for ty in self.types.iter_mut().filter(|_| !both.is_empty()) {
            let is_part = |char: char| char.is_alphanumeric() || matches!(char, '_' | ':');
            let mut name = String::with_capacity(ty.name.len());
            let mut rest = &*ty.name;
            while !rest.is_empty() {
                let word = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
                if both.contains(&rest[..word]) {
                    name.push_str(&file);
                    name.push('!');
                }
                let end = rest[word..].find(is_part).map_or(rest.len(), |end| word + end);
                name.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            ty.name = name.into();
        }
    }
}

impl Kind {
    /// Calls a function with the id of each part.
    fn each_id(&mut self, change: &impl Fn(&mut TypeId)) {
        let all = |fields: &mut Vec<Field>| fields.iter_mut().for_each(|field| change(&mut field.ty));
        match self {
            Self::Primitive | Self::Opaque => {}
            Self::Struct(fields) | Self::Union(fields) | Self::Closure(fields) => all(fields),
            Self::Enum(definition) => definition.variants.iter_mut().for_each(|Variant { fields, .. }| all(fields)),
            Self::Coroutine(coroutine) => {
                all(&mut coroutine.captures);
                for state in &mut coroutine.states {
                    all(&mut state.held);
                    state.awaited.iter_mut().for_each(|field| change(&mut field.ty));
                }
            }
            Self::Array { element, .. } => change(element),
            Self::Pointer { pointee } => pointee.iter_mut().for_each(change),
            Self::WidePointer { pointee, fields } => {
                pointee.iter_mut().for_each(change);
                all(fields);
            }
            Self::Vtable(vtable) => change(&mut vtable.concrete),
        }
    }
}
