//! The executable of a process or a core, and the comparison of builds.

use crate::agent::loadable::is_rust;
use crate::arch::{MACHINE, NAME};
use crate::capture::Module;
use crate::capture::copied::Copied;
use crate::capture::maps::Mapping;
use crate::debuginfo;
use anyhow::{Result, bail};
use object::read::elf::{ElfFile64, FileHeader as _};
use object::{LittleEndian, Object as _, elf};
use std::path::{Path, PathBuf};

/// The executable of a program.
#[derive(Clone, Debug)]
pub(super) struct Executable {
    /// Its path in the mappings.
    pub(super) path: PathBuf,
    /// Where it can be read.
    pub(super) file: PathBuf,
    /// The difference between an address in the process and in the file.
    pub(super) bias: u64,
}

impl Executable {
    /// Finds the executable among the mappings, by the address of its first instruction in the process.
    pub(super) fn find(maps: &[Mapping], entry: u64, file: &Path) -> Option<Self> {
        let path = maps.iter().find(|map| map.contains(entry) && map.path.is_absolute())?.path.clone();
        let data = debuginfo::map(file).ok()?;
        let elf = ElfFile64::<LittleEndian>::parse(&*data).ok()?;
        let bias = entry.wrapping_sub(elf.entry());
        (bias % PAGE == 0).then(|| Self { path, file: file.to_owned(), bias })
    }
}

const PAGE: u64 = 4096;

/// Checks that a file is an executable for this architecture, and that it has debug info, or that a library with Rust code has some
/// if it is no Rust program.
pub(super) fn check(file: &Path, libraries: &[PathBuf]) -> Result<()> {
    let data = debuginfo::map(file)?;
    if let Some(reason) = refused(&data) {
        bail!("{}: {reason}", file.display());
    }
    let result = debuginfo::expect(file);
    let has_library = || !is_rust(&data) && libraries.iter().any(|library| debuginfo::expect(library).is_ok());
    result.or_else(|error| if has_library() { Ok(()) } else { Err(error) })
}

/// Returns why an executable or core cannot be read, if it is of another architecture.
pub(super) fn refused(data: &[u8]) -> Option<String> {
    const HEADER: usize = 64;
    const CLASS: usize = 4;
    const OF_MACHINE: usize = 18;
    const BITS_32: u8 = 1;
    const BITS_64: u8 = 2;
    if !data.starts_with(b"\x7fELF") {
        return Some("is not an ELF file".to_owned());
    }
    if data.len() < HEADER && data.get(CLASS) != Some(&BITS_32) {
        return Some("has a truncated ELF header; it was not written to its end".to_owned());
    }
    let machine = data.get(OF_MACHINE..OF_MACHINE + 2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]));
    match (data.get(CLASS), machine) {
        (Some(&BITS_64), Some(MACHINE)) => None,
        (Some(&BITS_32), _) => Some(format!("is a program of 32 bits; only {NAME} can be read")),
        _ => Some(format!("is for another architecture; only {NAME} can be read, which this tool was built for")),
    }
}

/// Returns the build id of a file.
pub(super) fn build_id(file: &Path) -> Option<Vec<u8>> {
    let data = debuginfo::map(file).ok()?;
    let elf = ElfFile64::<LittleEndian>::parse(&*data).ok()?;
    elf.build_id().ok().flatten().map(<[u8]>::to_vec)
}

/// Returns the build id that a mapped file has in memory, if its headers are there.
pub(super) fn build_id_in(memory: &Copied, start: u64) -> Option<Vec<u8>> {
    const HEADER: usize = 64;
    const MOST: u64 = 64;
    const LONGEST: u64 = 4096;
    const BUILD_ID: u32 = 3;
    let e = LittleEndian;
    let header = memory.bytes_at(start, HEADER)?;
    let header = elf::FileHeader64::<LittleEndian>::parse(&*header).ok()?;
    let (at, number) = (header.e_phoff(e), u64::from(header.e_phnum(e)).min(MOST));
    let size = u64::from(header.e_phentsize(e));
    let mut first = None;
    for index in 0..number {
        let at = start.checked_add(at)?.checked_add(index * size)?;
        let bytes = memory.bytes_at(at, size_of::<elf::ProgramHeader64<LittleEndian>>())?;
        let (segment, _) = object::from_bytes::<elf::ProgramHeader64<LittleEndian>>(&bytes).ok()?;
        let (kind, address) = (segment.p_type.get(e), segment.p_vaddr.get(e));
        if kind == elf::PT_LOAD && first.is_none() {
            first = Some(address - address % PAGE);
        }
        if kind == elf::PT_NOTE {
            let at = address.wrapping_sub(first.unwrap_or(0)).wrapping_add(start);
            let bytes = memory.bytes_at(at, usize::try_from(segment.p_memsz.get(e).min(LONGEST)).ok()?)?;
            if let Some((.., id)) = notes(&bytes).find(|(_, kind, _)| *kind == BUILD_ID) {
                return Some(id.to_vec());
            }
        }
    }
    None
}

/// Returns the names, types and contents of notes.
pub(super) fn notes(bytes: &[u8]) -> impl Iterator<Item = (&[u8], u32, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let word = |at: usize| Some(u32::from_le_bytes(*rest.get(at..)?.first_chunk()?));
        let (name_len, len, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let from = 12_usize.checked_add(name_len.checked_next_multiple_of(4)?)?;
        // It ends with a zero.
        let name = rest.get(12..12_usize.checked_add(name_len.saturating_sub(1))?)?;
        let contents = rest.get(from..from.checked_add(len)?)?;
        rest = rest.get(from + len.checked_next_multiple_of(4)?..).unwrap_or_default();
        Some((name, kind, contents))
    })
}

/// Returns `false` if a file is surely another build than the mapped one.
pub(super) fn is_same(memory: &Copied, module: &Module) -> bool {
    match (build_id_in(memory, module.start), build_id(&module.path)) {
        (Some(mapped), Some(of_file)) => mapped == of_file,
        _ => true,
    }
}

/// Returns an error if two builds differ.
pub(super) fn expect_same(wanted: Option<&[u8]>, file: &Path, source: &str) -> Result<()> {
    let hex = |id: &[u8]| id.iter().take(4).fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    match (wanted, build_id(file)) {
        (Some(wanted), Some(found)) if wanted != found => bail!(
            "{}: is not the executable of {source}: its build id begins with {}, and that of {source} with {}; name the same build \
             with --exe",
            file.display(),
            hex(&found),
            hex(wanted)
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_notes_end() {
        let mut bytes = Vec::new();
        bytes.extend([4_u32, 3, 7].map(u32::to_le_bytes).concat());
        bytes.extend(b"GNU\0abc\0");
        assert_eq!(notes(&bytes).collect::<Vec<_>>(), [(&b"GNU"[..], 7, &b"abc"[..])]);
        bytes.extend([u32::MAX, u32::MAX, 7].map(u32::to_le_bytes).concat());
        assert_eq!(notes(&bytes).count(), 1);
    }
}
