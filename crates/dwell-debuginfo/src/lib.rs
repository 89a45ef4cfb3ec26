//! The types of a program, from the debug info of its executable.
//!
//! ```no_run
//! let program = dwell_debuginfo::load("target/debug/app".as_ref(), &dwell_debuginfo::Options::default())?;
//! for (_, ty) in program.types().filter(|(_, ty)| ty.own) {
//!     println!("{} bytes: {}", ty.size, ty.path);
//! }
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! Only this crate knows DWARF, in ELF, Mach-O and WebAssembly. [`load`] returns a [`Program`]: plain values, which `model.rs`
//! declares. [`load_with_frames`] also returns the functions of addresses, [`load_objects`] the variables, of several files.
//!
//! # Where things are
//!
//! `file` finds and maps the files, `unit` opens a compilation unit, `read` reads all units with several threads (`entries`
//! and `attributes` read one `input`, into the types of `raw`), `pool` keeps each type once, `link` builds the model from them
//! with the help of `names`, and `cache` stores the result by build id. `frames` and `locals` read functions and variables, `objects` joins several files,
//! `c_structs` the structs of C code. `budget` limits the memory that these modules allocate for hostile debug info.

mod attributes;
mod budget;
mod c_structs;
mod cache;
mod entries;
mod file;
mod frames;
mod input;
mod link;
mod locals;
mod model;
mod names;
mod objects;
mod pool;
mod raw;
mod read;
mod unit;

pub use c_structs::c_struct;
pub use file::{known, map, search_also};
pub use locals::Locals;
pub use model::{
    Coroutine, Enum, Field, Flavour, Frame, Kind, Local, Param, Program, Source, State, Static, Tag, Text, Type,
    TypeId, Variant, Vtable,
};
pub use objects::{load_objects, object_at, of_object};

use anyhow::{Context as _, Result, bail};
use budget::Budget;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use object::Object as _;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Options for [`load`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The names of the workspace's own crates, with `_` for `-`.
    pub own_crates: Vec<String>,
    /// The folder for the cache of parsed programs; `None` for no cache.
    pub cache: Option<PathBuf>,
    /// Whether to show a progress bar on standard error.
    pub progress: bool,
}

/// Reads the types of an executable.
///
/// # Errors
/// Returns an error that says in one line what is wrong with the file and what to do: it does not exist, it is not an
/// executable, or it has no debug info.
pub fn load(path: &Path, options: &Options) -> Result<Program> {
    let map = file::map(path)?;
    let object = file::parse(path, &map)?;
    file::expect_linked(path, &object)?;
    let build_id = file::build_id(&object);
    let cache = options.cache.as_deref().map(|folder| cache::Entry::new(folder, path, build_id.as_deref()));
    let mut program = if let Some(program) = cache.as_ref().and_then(cache::Entry::read) {
        program
    } else {
        let program = read_files(path, &map, &object, options, At::default())?.program;
        if let Some(cache) = &cache {
            cache.write(&program);
        }
        program
    };
    path.clone_into(&mut program.file);
    program.build_id = build_id.map(Into::into);
    own(&mut program, &options.own_crates);
    Ok(program)
}

/// The functions that were running at addresses of an executable, innermost first.
pub type Frames = HashMap<u64, Vec<Frame>>;

/// Like [`load`], but also finds the functions at `addresses`, which count from the start of the executable.
///
/// Uses no cache.
///
/// # Errors
/// As [`load`].
pub fn load_with_frames(path: &Path, options: &Options, addresses: &[u64]) -> Result<(Program, Frames)> {
    let Read { program, frames, .. } = load_at(path, options, At { addresses, ..At::default() })?;
    Ok((program, frames))
}

/// Like [`load_with_frames`], but the variables of a function's frame include those of the functions inlined into it.
///
/// # Errors
/// As [`load`].
pub fn load_with_inlined(path: &Path, options: &Options, addresses: &[u64]) -> Result<(Program, Frames)> {
    let Read { program, frames, .. } = load_at(path, options, At { addresses, inlined: true, ..At::default() })?;
    Ok((program, frames))
}

fn load_at(path: &Path, options: &Options, at: At<'_>) -> Result<Read> {
    let map = file::map(path)?;
    let object = file::parse(path, &map)?;
    file::expect_linked(path, &object)?;
    let mut read = read_files(path, &map, &object, options, at)?;
    path.clone_into(&mut read.program.file);
    read.program.build_id = file::build_id(&object).map(Into::into);
    own(&mut read.program, &options.own_crates);
    Ok(read)
}

/// The addresses whose functions and variables are to be found.
#[derive(Clone, Copy, Default)]
struct At<'a> {
    addresses: &'a [u64],
    variables: &'a [u64],
    /// Whether the frames have the variables of inlined functions too.
    inlined: bool,
}

/// Returns the addresses and sizes of some symbols of an executable, or of the file with its debug info. They count from
/// its start.
pub fn symbols(path: &Path, wanted: &[&str]) -> HashMap<String, (u64, u64)> {
    use object::ObjectSymbol as _;
    let mut found = HashMap::new();
    let Ok(map) = file::map(path) else { return found };
    let Ok(object) = file::parse(path, &map) else { return found };
    let mut add = |object: &object::File<'_>| {
        for symbol in object.symbols().filter(|symbol| !symbol.is_undefined()) {
            if let Ok(name) = symbol.name()
                && wanted.contains(&name)
            {
                found.insert(name.to_owned(), (symbol.address(), symbol.size()));
            }
        }
    };
    add(&object);
    for separate in file::separate(path, &object) {
        if let Ok(other) = file::map(&separate)
            && let Ok(parsed) = file::parse(&separate, &other)
            && file::belongs(&object, &parsed, &other)
        {
            add(&parsed);
        }
    }
    found
}

/// Checks quickly that an executable, or a file beside it, has debug info with types.
///
/// # Errors
/// As [`load`], except for damaged debug info, which it does not read.
pub fn expect(path: &Path) -> Result<()> {
    let map = file::map(path)?;
    let object = file::parse(path, &map)?;
    if file::has_debug_info(&object) {
        return expect_types(path, &object, map.len());
    }
    for separate in file::separate(path, &object) {
        let other = file::map(&separate)?;
        let Ok(parsed) = file::parse(&separate, &other) else { continue };
        if file::has_debug_info(&parsed) && file::belongs(&object, &parsed, &other) {
            return expect_types(path, &parsed, other.len());
        }
    }
    bail!(no_debug_info(path, &object))
}

/// Checks that a unit by rustc has types. Those of std as it is shipped have none.
fn expect_types(path: &Path, object: &object::File<'_>, len: usize) -> Result<()> {
    let endian = file::endian(object);
    let sections = file::sections(object, &Budget::new(len as u64))?;
    let dwarf = sections.borrow(|section| file::slice(section, endian));
    let mut units = dwarf.units();
    let (mut last, mut has_rust) = (None, false);
    while let Ok(Some(header)) = units.next() {
        let Ok(opened) = unit::open(&dwarf, header, &mut last) else { continue };
        has_rust |= opened.is_rust;
        if opened.is_rust && opened.has_types() || opened.dwo_name.is_some() {
            return Ok(());
        }
    }
    bail!(if has_rust { lines_only(path) } else { not_of_rust(path) })
}

fn lines_only(path: &Path) -> String {
    format!(
        "{}: has debug info for line numbers only, or the program has no types; build it with CARGO_PROFILE_RELEASE_DEBUG=2 and without \
         -Cdebuginfo in RUSTFLAGS",
        path.display()
    )
}

/// Reads the types of an executable in memory, for tests and fuzzing. Does not open other files that it names.
///
/// # Errors
/// As [`load`].
pub fn parse(data: &[u8]) -> Result<Program> {
    let path = Path::new("executable");
    let object = file::parse(path, data)?;
    let budget = Budget::new(data.len() as u64);
    let program = read_sections(path, &object, &budget, false, false, At::default())?;
    Ok(check(path, program)?.program)
}

/// Guesses the own crates of an executable from elsewhere, marks their types, and returns them: the crate with `main`,
/// and those that cargo built from relative paths, as it does for a workspace.
pub fn guess_own(program: &mut Program) -> Vec<String> {
    let krate = |unit: &Text| {
        // `src/main.rs/@/fd.2f3a-cgu.0`; an incremental build has no crate there.
        let (file, unit) = unit.split_once("/@/")?;
        (!Path::new(file).is_absolute()).then(|| unit.split('.').next().unwrap_or_default().to_owned())
    };
    let mut crates: HashSet<String> = program.units.iter().filter_map(krate).collect();
    crates.extend(crate_of_main(&program.file));
    let declares: HashSet<&str> = program.types.iter().map(|ty| &*ty.krate).collect();
    let mut crates: Vec<String> = crates.into_iter().filter(|krate| declares.contains(krate.as_str())).collect();
    crates.sort_unstable();
    own(program, &crates);
    crates
}

/// Returns the crate with the function `main`, from the symbols.
fn crate_of_main(path: &Path) -> Option<String> {
    use object::{ObjectSymbol as _, SymbolKind};
    let map = file::map(path).ok()?;
    let object = file::parse(path, &map).ok()?;
    object.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text).find_map(|symbol| {
        let name = format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?));
        let krate = name.strip_suffix("::main")?;
        (!krate.contains(':') && !krate.contains('<')).then(|| krate.to_owned())
    })
}

/// Marks the types of the workspace's own crates.
fn own(program: &mut Program, crates: &[String]) {
    let crates: HashSet<&str> = crates.iter().map(String::as_str).collect();
    for ty in &mut program.types {
        ty.own = crates.contains(&*ty.krate);
    }
}

fn read_files(path: &Path, map: &[u8], object: &object::File<'_>, options: &Options, at: At<'_>) -> Result<Read> {
    let budget = Budget::new(map.len() as u64);
    if file::has_debug_info(object) {
        return check(path, read_sections(path, object, &budget, true, options.progress, at)?);
    }
    for separate in file::separate(path, object) {
        let other = file::map(&separate)?;
        let Ok(parsed) = file::parse(&separate, &other) else { continue };
        if file::has_debug_info(&parsed) && file::belongs(object, &parsed, &other) {
            budget.add_file(other.len() as u64);
            return check(&separate, read_sections(path, &parsed, &budget, true, options.progress, at)?);
        }
    }
    bail!(no_debug_info(path, object))
}

fn no_debug_info(path: &Path, object: &object::File<'_>) -> String {
    if matches!(object, object::File::Pe32(_) | object::File::Pe64(_)) {
        return format!(
            "{}: is a Windows executable (PE) without DWARF; a PDB file cannot be read, so build it for a `-gnu` target with \
             debug info",
            path.display()
        );
    }
    format!(
        "{}: has no debug info (it is stripped, or was built without); build it with CARGO_PROFILE_RELEASE_DEBUG=2 and \
         CARGO_PROFILE_RELEASE_STRIP=none, or leave --exe out",
        path.display()
    )
}

fn not_of_rust(path: &Path) -> String {
    format!("{}: has debug info, but none that rustc wrote", path.display())
}

/// Returns an error with advice if no types were found.
fn check(path: &Path, read: Read) -> Result<Read> {
    let program = &read.program;
    if read.rust_units == 0 {
        if let Some(damage) = program.damaged.first() {
            bail!("{damage}");
        }
        bail!(not_of_rust(path));
    }
    if !program.types().any(|(_, ty)| matches!(ty.kind, Kind::Struct(_) | Kind::Enum(_))) {
        if let Some(damage) = program.damaged.last() {
            bail!("{}: {damage}", path.display());
        }
        bail!(lines_only(path));
    }
    Ok(read)
}

/// The result of [`read_sections`].
struct Read {
    program: Program,
    frames: Frames,
    locals: Locals,
    rust_units: usize,
}

/// Reads the debug sections of `object`, and with `split` the files that they name.
fn read_sections(
    path: &Path,
    object: &object::File<'_>,
    budget: &Budget,
    split: bool,
    progress: bool,
    at: At<'_>,
) -> Result<Read> {
    let endian = file::endian(object);
    let sections = file::sections(object, budget)?;
    let dwarf = sections.borrow(|section| file::slice(section, endian));
    let name = path.display().to_string();
    let mut output = read::Output::new(file::thread_locals(object));
    let mut inputs = Vec::new();
    let mut units = dwarf.units();
    loop {
        match units.next() {
            Ok(Some(header)) => {
                budget.charge(size_of::<input::Input<'_, '_>>() as u64)?;
                let base = header.offset().0 as u64;
                inputs.push(input::Input { dwarf: &dwarf, header, base, file: &name, named_by: None });
            }
            Ok(None) => break,
            Err(error) => {
                bail!("{name}: its debug info is truncated or damaged ({error}); build the program again");
            }
        }
    }
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(16);
    let bytes = sections_len(&sections);
    let bar = bar(progress, inputs.iter().map(|input| input.header.length_including_self() as u64).sum());
    read::read(&inputs, threads, budget, &mut output, &|bytes| bar.inc(bytes))?;

    // Units whose types are in `.dwo` or `.dwp` files.
    let skeletons = std::mem::take(&mut output.skeletons);
    if !split || skeletons.is_empty() {
        bar.finish_and_clear();
        let rust_units = output.rust_units;
        let (mut program, offsets) = link::link(output, pointer_size(object), budget, !at.addresses.is_empty())?;
        program.bytes = bytes;
        let frames = frames::find(&inputs, &offsets, at.addresses, at.inlined, budget)?;
        let locals = locals::find(&inputs, &offsets, &frames, at.variables, budget)?;
        return Ok(Read { program, frames, locals, rust_units });
    }
    let first = &skeletons[0];
    let places = file::packages(path, first.folder, &first.name);
    let found = places.iter().find(|file| file.is_file());
    let package = found.map(|package| file::map(package).map(|map| (package, map))).transpose()?;
    let package_object = match &package {
        Some((path, map)) => {
            budget.add_file(map.len() as u64);
            Some(file::parse(path, map)?)
        }
        None => None,
    };
    let package_sections = package_object.as_ref().map(|object| file::dwp_sections(object, budget)).transpose()?;
    let package_dwarf = match &package_sections {
        Some(sections) => {
            let package = sections.borrow(|section| file::slice(section, endian), unit::empty(endian));
            Some(package.with_context(|| format!("{name}: its .dwp file is damaged"))?)
        }
        None => None,
    };
    let mut missing = Vec::new();
    let mut files = Vec::new();
    let mut dwarfs = Vec::new();
    for skeleton in &skeletons {
        let packed = match (&package_dwarf, skeleton.id) {
            (Some(package), Some(id)) => {
                package.find_cu(id, &dwarf).with_context(|| format!("{name}: its .dwp file is damaged"))?
            }
            _ => None,
        };
        if let Some(packed) = packed {
            dwarfs.push((packed, skeleton));
        } else if let Some(file) = file::dwo(path, skeleton.folder, &skeleton.name) {
            files.push((file::map(&file)?, file, skeleton));
        } else {
            missing.push(&skeleton.name);
        }
    }
    if let Some(first) = missing.first() {
        let lost = match found {
            Some(package) => format!("{} is of another build", package.display()),
            None => format!("neither {first} nor {} is there", places[0].display()),
        };
        output.damaged.push(format!(
            "the debug info of {} of {} units is missing, {lost}: copy the .dwp or .dwo files of this build beside the \
             executable, or build it again with split-debuginfo = \"off\" in its profile, which keeps them inside",
            missing.len(),
            skeletons.len(),
        ));
    }
    let mut objects = Vec::new();
    for (map, file, _) in &files {
        budget.add_file(map.len() as u64);
        objects.push(file::parse(file, map)?);
    }
    let dwo_sections = objects.iter().map(|object| file::dwo_sections(object, budget)).collect::<Result<Vec<_>>>()?;
    for (sections, (.., skeleton)) in dwo_sections.iter().zip(&files) {
        let mut dwo = sections.borrow(|section| file::slice(section, endian));
        dwo.make_dwo(&dwarf);
        dwarfs.push((dwo, skeleton));
    }
    let mut inputs = Vec::new();
    let mut base = 1_u64 << 48;
    for (unit, skeleton) in &dwarfs {
        let mut units = unit.units();
        while let Some(header) =
            units.next().with_context(|| format!("{name}: a file with its debug info is damaged"))?
        {
            let length = header.length_including_self() as u64;
            let named_by = Some((&dwarf, *skeleton));
            inputs.push(input::Input { dwarf: unit, header, base, file: &name, named_by });
            base += length;
        }
    }
    bar.inc_length(inputs.iter().map(|input| input.header.length_including_self() as u64).sum());
    read::read(&inputs, threads, budget, &mut output, &|bytes| bar.inc(bytes))?;
    bar.finish_and_clear();
    let rust_units = output.rust_units;
    let (mut program, offsets) = link::link(output, pointer_size(object), budget, !at.addresses.is_empty())?;
    let frames = frames::find(&inputs, &offsets, at.addresses, at.inlined, budget)?;
    let locals = locals::find(&inputs, &offsets, &frames, at.variables, budget)?;
    program.bytes = bytes
        + files.iter().map(|(map, ..)| map.len() as u64).sum::<u64>()
        + package.map_or(0, |(_, map)| map.len() as u64);
    Ok(Read { program, frames, locals, rust_units })
}

/// Returns the number of bytes in the sections that are read.
fn sections_len(sections: &gimli::DwarfSections<std::borrow::Cow<'_, [u8]>>) -> u64 {
    let mut total = 0;
    sections.borrow(|section| {
        total += section.len() as u64;
        file::slice(section, gimli::RunTimeEndian::Little)
    });
    total
}

fn pointer_size(object: &object::File<'_>) -> u64 {
    if object.is_64() { 8 } else { 4 }
}

/// Returns a progress bar on standard error, if that is a terminal and reading takes long.
fn bar(progress: bool, bytes: u64) -> ProgressBar {
    if !progress || bytes < 32 << 20 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(bytes), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("reading debug info {bar:40} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    bar
}
