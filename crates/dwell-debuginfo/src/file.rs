//! Finds and maps the files with a program's debug info: the executable, a separate debug file, `.dwo` and `.dwp`
//! files, a `.dSYM`.

use super::budget::Budget;
use anyhow::{Context, Result, bail};
use gimli::{DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use memmap2::Mmap;
use object::{Architecture, CompressionFormat, Object, ObjectSection, ObjectSymbol as _, SymbolKind};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The reader type for `gimli`.
pub(super) type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// Maps a file into memory.
pub fn map(path: &Path) -> Result<Mmap> {
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => anyhow::anyhow!("{}: there is no such file", path.display()),
        _ => anyhow::anyhow!("{}: cannot be opened: {error}", path.display()),
    })?;
    if file.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        bail!("{}: is not a file; name an executable", path.display());
    }
    // SAFETY: the map is private and read-only, and every read checks its bounds. The contents change only if another
    // process writes to or truncates the file meanwhile. As debuggers do, this function relies on that not happening: a
    // build replaces an executable by a new file and does not write into the old one.
    unsafe { Mmap::map(&file) }.with_context(|| format!("{}: cannot be mapped", path.display()))
}

/// Reads the headers of an executable or of a file with its debug info.
pub(super) fn parse<'d>(path: &Path, data: &'d [u8]) -> Result<object::File<'d>> {
    let parsed = match object::File::parse(data) {
        Ok(file) => file,
        Err(_) if data.is_empty() => bail!("{}: is empty; name an executable", path.display()),
        Err(_) if data.starts_with(b"\x7fELF") => {
            bail!("{}: is a damaged ELF file, maybe truncated; build it again", path.display())
        }
        Err(_) if data.starts_with(b"MZ") => {
            bail!("{}: is a damaged Windows executable (PE), maybe truncated; build it again", path.display())
        }
        Err(_) if data.starts_with(b"Microsoft C/C++ ") => {
            bail!("{}: is a PDB file; only DWARF can be read (ELF, Mach-O, PE, WASM)", path.display())
        }
        Err(_) if data.starts_with(b"!<arch>") => {
            bail!("{}: is an archive of object files; name an executable that is linked with it", path.display())
        }
        Err(_) => bail!("{}: is not an executable (ELF, Mach-O, PE or WASM)", path.display()),
    };
    Ok(parsed)
}

/// Refuses an object file: the references between its sections are filled in by the linker.
pub(super) fn expect_linked(path: &Path, object: &object::File<'_>) -> Result<()> {
    if object.format() == object::BinaryFormat::Elf && object.kind() == object::ObjectKind::Relocatable {
        bail!("{}: is an object file that is not linked; name an executable or a shared library", path.display());
    }
    Ok(())
}

/// Returns the build id or UUID of an executable in hexadecimal digits.
pub(super) fn build_id(object: &object::File<'_>) -> Option<String> {
    let hex = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    match object.build_id() {
        Ok(Some(id)) if (4..=64).contains(&id.len()) => Some(hex(id)),
        _ => object.mach_uuid().ok().flatten().map(|id| hex(&id)),
    }
}

/// Returns `true` if the file itself contains debug info.
pub(super) fn has_debug_info(object: &object::File<'_>) -> bool {
    object.section_by_name(".debug_info").is_some_and(|section| section.size() > 0)
}

/// Returns the files that may have the debug info of a stripped executable: by build id, by debug link, or in a
/// `.dSYM`.
pub(super) fn separate(path: &Path, object: &object::File<'_>) -> Vec<PathBuf> {
    // The root of a container is a link that leads to this machine's own if its text is followed.
    let root = root_of_process(path);
    let path = match &root {
        Some(_) => path.to_owned(),
        None => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
    };
    let root = root.unwrap_or_else(|| "/".into());
    let folder = path.parent().unwrap_or(Path::new("."));
    let system = &root.join("usr/lib/debug");
    let mut files = Vec::new();
    if let Some(id) = build_id(object).filter(|_| matches!(object, object::File::Elf32(_) | object::File::Elf64(_))) {
        let name = Path::new(".build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
        files.extend([folder.join(&name), folder.join(".debug").join(&name), system.join(&name)]);
    }
    if let Ok(Some((name, _))) = object.gnu_debuglink()
        && let Ok(name) = std::str::from_utf8(name)
        && !name.is_empty()
        && Path::new(name).file_name().is_some_and(|file| file == name)
    {
        files.extend([folder.join(name), folder.join(".debug").join(name)]);
        if let Ok(below) = folder.strip_prefix(&root) {
            files.push(system.join(below).join(name));
        }
    }
    if let Some(name) = path.file_name() {
        let with = |end: &str| {
            let mut with = name.to_owned();
            with.push(end);
            with
        };
        files.push(folder.join(with(".debug")));
        files.push(folder.join(with(".dSYM")).join("Contents/Resources/DWARF").join(name));
    }
    if let Some(also) = ALSO.get() {
        if let Some(id) = build_id(object) {
            let name = Path::new(&id[..2]).join(format!("{}.debug", &id[2..]));
            // The folder of debuggers, and the one that debuginfod fills.
            files.extend([also.join(".build-id").join(&name), also.join(&name), also.join(&id).join("debuginfo")]);
            let known = KNOWN.get().into_iter().flatten();
            files.extend(known.filter(|(other, _)| *other == id).map(|(_, file)| file.clone()));
        }
        if let Ok(Some((name, _))) = object.gnu_debuglink()
            && let Ok(name) = std::str::from_utf8(name)
        {
            files.extend(Path::new(name).file_name().map(|name| also.join(name)));
        }
    }
    files.retain(|file| *file != path && file.is_file());
    files
}

/// A further folder with separate debug info.
static ALSO: OnceLock<PathBuf> = OnceLock::new();

/// Sets a further folder with separate debug info for this process.
///
/// # Errors
/// Returns an error if it is no folder.
pub fn search_also(folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        bail!("{}: there is no such folder", folder.display());
    }
    let _ = ALSO.set(folder.to_owned());
    Ok(())
}

/// The files in that folder, whatever their names are, by their build ids.
static KNOWN: OnceLock<Vec<(String, PathBuf)>> = OnceLock::new();

/// Tells which files of the further folder have which build id, in hexadecimal digits.
pub fn known(files: Vec<(String, PathBuf)>) {
    let _ = KNOWN.set(files);
}

/// Returns the start of a path that begins with `/proc/PID/root`.
fn root_of_process(path: &Path) -> Option<PathBuf> {
    let start: PathBuf = path.components().take(4).collect();
    let inside = start.strip_prefix("/proc").ok()?;
    let id = inside.parent().filter(|_| inside.file_name().is_some_and(|name| name == "root"))?;
    id.to_str()?.parse::<u32>().is_ok().then_some(start)
}

/// Returns `true` if `file` is the debug info of `object`: they have the same build id, or the checksum of the debug
/// link.
pub(super) fn belongs(object: &object::File<'_>, file: &object::File<'_>, data: &[u8]) -> bool {
    if let (Some(wanted), Some(found)) = (build_id(object), build_id(file)) {
        return wanted == found;
    }
    let Ok(Some((_, wanted))) = object.gnu_debuglink() else { return false };
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum() == wanted
}

/// Returns the sections of a file for [`super::read`], decompressed if necessary.
pub(super) fn sections<'d>(object: &object::File<'d>, budget: &Budget) -> Result<DwarfSections<Cow<'d, [u8]>>> {
    DwarfSections::load(|id| if is_needed(id) { section(object, id.name(), budget) } else { Ok(Cow::default()) })
}

/// Returns the sections of a `.dwo` file.
pub(super) fn dwo_sections<'d>(object: &object::File<'d>, budget: &Budget) -> Result<DwarfSections<Cow<'d, [u8]>>> {
    DwarfSections::load(|id| match id.dwo_name() {
        Some(name) if is_needed(id) => section(object, name, budget),
        _ => Ok(Cow::default()),
    })
}

/// Returns all sections of a `.dwp` file. The file's index refers to ranges of them.
pub(super) fn dwp_sections<'d>(
    object: &object::File<'d>,
    budget: &Budget,
) -> Result<gimli::DwarfPackageSections<Cow<'d, [u8]>>> {
    gimli::DwarfPackageSections::load(|id| match id.dwo_name() {
        Some(name) => section(object, name, budget),
        None => Ok(Cow::default()),
    })
}

fn is_needed(id: SectionId) -> bool {
    use SectionId::{
        DebugAbbrev, DebugAddr, DebugInfo, DebugLine, DebugLineStr, DebugLoc, DebugLocLists, DebugRanges,
        DebugRngLists, DebugStr, DebugStrOffsets,
    };
    matches!(
        id,
        DebugAbbrev
            | DebugAddr
            | DebugInfo
            | DebugLine
            | DebugLineStr
            | DebugLoc
            | DebugLocLists
            | DebugRanges
            | DebugRngLists
            | DebugStr
            | DebugStrOffsets
    )
}

fn section<'d>(object: &object::File<'d>, name: &str, budget: &Budget) -> Result<Cow<'d, [u8]>> {
    let Some(section) = object.section_by_name(name) else { return Ok(Cow::default()) };
    let compressed = section.compressed_data().with_context(|| format!("{name} is damaged"))?;
    if compressed.format == CompressionFormat::None {
        return Ok(Cow::Borrowed(compressed.data));
    }
    // The size is from the header, which may be wrong. Debug info compresses to between a third and a fifth.
    budget.charge(compressed.uncompressed_size / 2)?;
    compressed.decompress().with_context(|| format!("{name} cannot be decompressed"))
}

/// Returns a section in the form that `gimli` reads.
pub(super) fn slice(data: &[u8], endian: RunTimeEndian) -> Slice<'_> {
    EndianSlice::new(data, endian)
}

/// Returns the byte order of a file.
pub(super) fn endian(object: &object::File<'_>) -> RunTimeEndian {
    if object.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big }
}

/// Returns the offsets of thread-local symbols by their names. For aarch64, LLVM gives thread-local variables no location, since
/// its ELF has no relocation for one.
pub(super) fn thread_locals<'d>(object: &object::File<'d>) -> HashMap<&'d [u8], u64> {
    let mut all = HashMap::new();
    if object.architecture() == Architecture::Aarch64 {
        let defined = object.symbols().filter(|symbol| symbol.kind() == SymbolKind::Tls && !symbol.is_undefined());
        all.extend(defined.filter_map(|symbol| Some((symbol.name_bytes().ok()?, symbol.address()))));
    }
    all
}

/// Returns the places of an executable's `.dwp` file: beside it, and for one that was copied elsewhere, where the linker
/// wrote it. `name` is that of a `.dwo` file in it, `CRATE-HASH.UNIT.dwo`.
pub(super) fn packages(path: &Path, folder: Option<Slice<'_>>, name: &str) -> Vec<PathBuf> {
    let mut appended = path.as_os_str().to_owned();
    appended.push(".dwp");
    let mut all = vec![PathBuf::from(appended), path.with_extension("dwp")];
    let written = Path::new(&folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()).join(name);
    let first = written.file_name().and_then(|name| name.to_str()?.split('.').next()).unwrap_or_default();
    if !first.is_empty() {
        all.push(written.with_file_name(format!("{first}.dwp")));
    }
    if let (Some(also), Some(name)) = (ALSO.get(), path.file_name()) {
        let mut with = name.to_owned();
        with.push(".dwp");
        let by_linker = also.join(format!("{first}.dwp"));
        all.extend([also.join(with), also.join(Path::new(name).with_extension("dwp")), by_linker]);
    }
    all.dedup();
    all
}

/// Returns the `.dwo` file that a unit names: where the compiler wrote it, beside the executable, or in the further folder.
pub(super) fn dwo(executable: &Path, folder: Option<Slice<'_>>, name: &str) -> Option<PathBuf> {
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = executable.parent().unwrap_or(Path::new("."));
    let file = Path::new(name).file_name()?;
    let also = ALSO.get().map(|also| also.join(file));
    [Path::new(&folder).join(name), beside.join(name), beside.join(file), beside.join("deps").join(file)]
        .into_iter()
        .chain(also)
        .find(|file| file.is_file())
}
