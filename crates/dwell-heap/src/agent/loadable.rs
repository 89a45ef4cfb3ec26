//! Checks whether the agent can be loaded into an executable.

use crate::arch::{MACHINE, NAME, PROLOGUE, TARGET, saves_frame_pointer};
use anyhow::{Context, Result, bail};
use object::elf;
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{LittleEndian, Object, ObjectSymbol};
use std::fs::File;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// An executable that the agent can be loaded into.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: PathBuf,
    pub(crate) data: memmap2::Mmap,
    pub(crate) entry: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Target {
    /// Reads the file's headers.
    ///
    /// # Errors
    /// Returns an error that says in one line why the agent cannot be loaded, and what to do.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display();
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!("{name}: there is no such file"),
            Err(error) => bail!("{name}: cannot be opened: {error}"),
        };
        let metadata = file.metadata().with_context(|| format!("{name}: cannot be read"))?;
        if !metadata.is_file() {
            bail!("{name}: is not a file; name an executable");
        }
        let mode = metadata.permissions().mode();
        if mode & 0o111 == 0 {
            bail!("{name}: is not executable");
        }
        if mode & (libc::S_ISUID | libc::S_ISGID) != 0 {
            bail!("{name}: is setuid or setgid, so the loader takes no agent; run a copy without that bit");
        }
        // SAFETY: the map is private and read-only, and every read checks its bounds. The contents change only if
        // another process writes to or truncates the file meanwhile. As debuggers do, this function relies on that not
        // happening: builds write new files.
        let data = unsafe { memmap2::Mmap::map(&file) }.with_context(|| format!("{name}: cannot be mapped"))?;
        let entry = check(&data).with_context(|| name.to_string())?;
        // Use one canonical name for the program, the debug info and the mappings.
        let path = path.canonicalize().with_context(|| format!("{name}: cannot be found"))?;
        Ok(Self { path, data, entry, device: metadata.dev(), inode: metadata.ino() })
    }
}

fn check(data: &[u8]) -> Result<u64> {
    if data.starts_with(b"#!") {
        bail!("is a script; name the executable that it runs");
    }
    let Some(ident) = data.get(..20).filter(|ident| ident.starts_with(&elf::ELFMAG)) else {
        bail!("is not an ELF executable");
    };
    if ident[4] == elf::ELFCLASS32.0 {
        bail!("is a 32-bit executable; build it for {TARGET}");
    }
    let machine = u16::from_le_bytes([ident[18], ident[19]]);
    if ident[5] != elf::ELFDATA2LSB.0 || machine != MACHINE {
        bail!("is not for {NAME}; build it for {TARGET}");
    }
    let Ok(file) = ElfFile64::<LittleEndian>::parse(data) else {
        bail!("is a damaged ELF file, maybe truncated; build it again");
    };
    let header = file.elf_header();
    if ![elf::ET_EXEC, elf::ET_DYN].contains(&header.e_type(LittleEndian)) {
        bail!("is an object file, not an executable");
    }
    let Some(interpreter) = interpreter(&file, data) else {
        bail!("is linked statically, so no agent can be loaded; build it for {TARGET}, without crt-static");
    };
    if !is_of_glibc(&interpreter) {
        bail!("is not for glibc (its loader is {interpreter}); build it for {TARGET}");
    }
    Ok(header.e_entry(LittleEndian))
}

/// Returns the loader that an executable names.
fn interpreter(file: &ElfFile64<'_, LittleEndian>, data: &[u8]) -> Option<String> {
    let mut headers = file.elf_program_headers().iter();
    let name = headers.find_map(|segment| segment.interpreter(LittleEndian, data).ok().flatten())?;
    Some(String::from_utf8_lossy(name).into_owned())
}

fn is_of_glibc(interpreter: &str) -> bool {
    interpreter.contains("ld-linux")
}

/// Returns `false` for an executable that can be run and loads no agent: it is linked statically, or for musl.
#[must_use]
pub fn loads_agent(path: &Path) -> bool {
    let Ok(data) = crate::debuginfo::map(path) else { return true };
    let is_own = data.get(18..20) == Some(&MACHINE.to_le_bytes());
    let Ok(file) = ElfFile64::<LittleEndian>::parse(&*data) else { return true };
    let is_executable = [elf::ET_EXEC, elf::ET_DYN].contains(&file.elf_header().e_type(LittleEndian));
    !is_own || !is_executable || interpreter(&file, &data).is_some_and(|name| is_of_glibc(&name))
}

/// Checks whether std is in an executable: it reads this variable.
pub(crate) fn is_rust(data: &[u8]) -> bool {
    memchr::memmem::find(data, b"RUST_BACKTRACE").is_some()
}

/// Checks whether most of the program's functions begin by saving the caller's frame pointer. Ignores functions of the
/// standard library. Returns `None` if there are no symbols.
pub(crate) fn has_frame_pointers(data: &[u8]) -> Option<bool> {
    const MOST: usize = 2000;
    let file = ElfFile64::<LittleEndian>::parse(data).ok()?;
    let (mut with, mut without) = (0, 0);
    for symbol in file.symbols().filter(|symbol| symbol.size() >= 64) {
        let Ok(name) = symbol.name() else { continue };
        // The standard library has them however the program was built.
        let Ok(name) = rustc_demangle::try_demangle(name) else { continue };
        if is_of_std(&format!("{name:#}")) {
            continue;
        }
        let Some(code) = code_at(&file, data, symbol.address(), PROLOGUE) else { continue };
        if saves_frame_pointer(code) {
            with += 1;
        } else {
            without += 1;
        }
        if with + without == MOST {
            break;
        }
    }
    // Leaf functions may omit the frame pointer.
    (with + without > 0).then_some(with > without / 2)
}

/// Returns `true` if a function is of the standard library: `<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt`.
fn is_of_std(name: &str) -> bool {
    const CRATES: [&str; 12] = [
        "std",
        "core",
        "alloc",
        "hashbrown",
        "gimli",
        "addr2line",
        "object",
        "miniz_oxide",
        "rustc_demangle",
        "__rustc",
        "compiler_builtins",
        "memchr",
    ];
    let crate_of = |mut path: &str| {
        while let Some(rest) =
            ["<", "&", "*", "[", "(", "mut ", "dyn "].iter().find_map(|start| path.strip_prefix(*start))
        {
            path = rest;
        }
        path.split_once("::").map(|(krate, _)| krate.to_owned())
    };
    let Some(of_type) = name.strip_prefix('<') else {
        return crate_of(name).is_some_and(|krate| CRATES.contains(&&*krate));
    };
    // A type without a path is one of the language: `<u8 as core::fmt::Debug>::fmt`. Then its trait says whose function it is.
    let (ty, of_trait) =
        of_type.split_once(" as ").unwrap_or((of_type.split('>').next().unwrap_or_default(), "core::"));
    let krate = crate_of(ty).or_else(|| crate_of(of_trait)).unwrap_or_default();
    CRATES.contains(&&*krate)
}

/// Returns `len` bytes of code at an address of the file.
pub(crate) fn code_at<'d>(file: &ElfFile64<'d, LittleEndian>, data: &'d [u8], addr: u64, len: u64) -> Option<&'d [u8]> {
    let segment = file.elf_program_headers().iter().find(|segment| {
        let start = segment.p_vaddr(LittleEndian);
        segment.p_type(LittleEndian) == elf::PT_LOAD
            && segment.p_flags(LittleEndian) & elf::PF_X == elf::PF_X
            && addr >= start
            && addr.checked_add(len).is_some_and(|end| end - start <= segment.p_filesz(LittleEndian))
    })?;
    let at = usize::try_from(segment.p_offset(LittleEndian) + (addr - segment.p_vaddr(LittleEndian))).ok()?;
    data.get(at..at.checked_add(usize::try_from(len).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::is_of_std;

    #[test]
    fn functions_of_std_are_known_by_their_crate() {
        for name in [
            "core::cell::once::OnceCell<u8>::get",
            "<alloc::vec::Vec<app::A> as app::B>::c",
            "<&mut [core::a::B]>::c",
            "<u8 as core::fmt::Debug>::fmt",
            "<u64>::from_ascii_radix",
            "<dyn core::any::Any>::type_id",
        ] {
            assert!(is_of_std(name), "{name}");
        }
        for name in ["app::main", "<app::A as core::fmt::Debug>::fmt", "<[app::A]>::core", "<u8 as app::A>::a"] {
            assert!(!is_of_std(name), "{name}");
        }
    }
}
