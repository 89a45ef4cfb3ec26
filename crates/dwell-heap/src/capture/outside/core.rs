//! Reads a core.
//!
//! Cores of the kernel and of `gcore` are ELF files: a segment for each mapping, with the bytes that were kept, and notes
//! with the registers of the threads and the names of the mapped files. Heap dumps of `dwell-heapdump` have a segment for
//! adjacent pages with contents, and the mappings in a note of their own.

#![expect(clippy::cast_possible_truncation, reason = "`usize` has 64 bits where this runs")]

use super::executable::{self, Executable, build_id_in, notes};
use super::folder::Folder;
use super::{Captured, Files, compressed};
use crate::agent::layout::LARGEST_PAGE;
use crate::arch::{IN_CORE, POINTER_IN_CORE, Registers, SMALLEST_PAGE};
use crate::capture::copied::Copied;
use crate::capture::maps::{self, Mapping};
use crate::capture::{Moment, Thread};
use crate::debuginfo;
use anyhow::{Context, Result, bail};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, elf};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const NT_PRSTATUS: u32 = 1;
const NT_AUXV: u32 = 6;
const NT_FILE: u32 = 0x4649_4c45;
/// The name of the notes of a heap dump, and the type of the one with the lines of `/proc/self/maps`.
const OF_DUMP: &[u8] = b"dwell";
const NT_DWELL_MAPS: u32 = 1;
/// The one with the time.
const NT_DWELL_TIME: u32 = 2;
/// The one with the version of glibc.
const NT_DWELL_GLIBC: u32 = 3;
/// The thread pointer of a thread, behind its registers.
const NT_ARM_TLS: u32 = 0x401;

/// Reads all heap dumps of a folder, the oldest first. Their moments are counted from the first one.
///
/// # Errors
/// Returns an error if there is none, or as [`open`].
pub fn history(folder: &Path, exe: Option<&Path>, debug: Option<&Path>) -> Result<Vec<Captured>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
    let is_dump = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        path.is_file() && Path::new(name).extension().is_some_and(|end| end == "core")
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_dump).collect();
    files.sort();
    if files.is_empty() {
        bail!("{}: has no heap dump (a file whose name ends with .core, .core.gz or .core.zst)", folder.display());
    }
    let all = files.iter().map(|file| read(file, exe, debug)).collect::<Result<Vec<_>>>()?;
    let mut all: Vec<(u64, Captured)> = all.into_iter().map(|(time, captured)| (time.unwrap_or(0), captured)).collect();
    all.sort_by_key(|(time, _)| *time);
    let first = all.first().map_or(0, |(time, _)| *time);
    let since_first = |(time, captured): (u64, Captured)| {
        let millis = time - first;
        Captured { moment: Moment::Dump(millis), millis, ..captured }
    };
    Ok(all.into_iter().map(since_first).collect())
}

/// Reads a core. The executable is `exe`, one that is found in the folder `debug`, or else the one that the core names.
///
/// # Errors
/// Returns an error in one line: the file is no core, is incomplete, or belongs to another executable.
pub fn open(path: &Path, exe: Option<&Path>, debug: Option<&Path>) -> Result<Captured> {
    Ok(read(path, exe, debug)?.1)
}

/// Reads a core, and the time at which it was written, if it has that.
fn read(path: &Path, exe: Option<&Path>, debug: Option<&Path>) -> Result<(Option<u64>, Captured)> {
    let shown = path.display();
    let data = compressed::map(path)?;
    if let Some(reason) = executable::refused(&data) {
        bail!("{shown}: {reason}");
    }
    let Ok(file) = ElfFile64::<LittleEndian>::parse(&*data) else { bail!("{shown}: {TRUNCATED}") };
    let e = LittleEndian;
    let system = file.elf_header().e_ident.os_abi;
    if ![elf::ELFOSABI_SYSV, elf::ELFOSABI_LINUX].contains(&system) {
        bail!("{shown}: is a core of another system; only those of Linux can be read");
    }
    if file.elf_header().e_type(e) != elf::ET_CORE {
        bail!("{shown}: is not a core; name the file that the kernel or `gcore` wrote");
    }
    let mut maps = Vec::new();
    let mut parts = Vec::new();
    let mut found = Notes::default();
    for header in file.elf_program_headers() {
        let (start, size, from, len) = (header.p_vaddr(e), header.p_memsz(e), header.p_offset(e), header.p_filesz(e));
        let Some(bytes) = from.checked_add(len).and_then(|end| data.get(from as usize..end as usize)) else {
            bail!("{shown}: {TRUNCATED}");
        };
        if header.p_type(e) == elf::PT_NOTE {
            found.read(bytes);
        }
        if header.p_type(e) == elf::PT_LOAD {
            let flags = header.p_flags(e);
            maps.push(Mapping {
                start,
                end: start.saturating_add(size),
                readable: flags & elf::PF_R == elf::PF_R,
                writable: flags & elf::PF_W == elf::PF_W,
                private: true,
                ..Mapping::default()
            });
            parts.push((start, from as usize, len as usize));
        }
    }
    // What a heap dump leaves out of memory without a file is zero.
    let is_dump = found.maps.is_some();
    match found.maps.take() {
        Some(mappings) => {
            maps = mappings;
            found.forget_unknown();
        }
        None => name(&mut maps, &found.files),
    }
    let is_kept = |map: &Mapping| parts.iter().any(|(start, _, len)| map.contains(*start) && *len > 0);
    if !maps.iter().any(|map| map.writable && map.is_anonymous() && is_kept(map)) {
        bail!(
            "{shown}: has no anonymous memory, in which the heap is; write 0x33 to /proc/PID/coredump_filter of the program \
             before it dies"
        );
    }
    let entry = found.entry.with_context(|| format!("{shown}: does not say where its executable is mapped"))?;
    let mapped = maps.iter().find(|map| map.contains(entry) && map.path.is_absolute());
    let mapped = mapped.with_context(|| format!("{shown}: does not name its executable (it has no NT_FILE note)"))?;
    let mut memory = Copied::default();
    let buffer = memory.buffer(Box::new(data));
    for (start, from, len) in parts {
        memory.part(start, buffer, from, len);
    }
    memory.sort();
    let first = maps.iter().filter(|map| map.path == mapped.path).map(|map| map.start).min().unwrap_or(0);
    let build_id = build_id_in(&memory, first);
    let folder = debug.map(Folder::read).transpose()?;
    let exe = match (exe, &folder) {
        (Some(exe), _) => exe.to_owned(),
        (None, Some(folder)) => folder.executable(build_id.as_deref(), &mapped.path, &format!("the core {shown}"))?,
        (None, None) => mapped.path.clone(),
    };
    if !exe.is_file() {
        bail!(
            "{}: the executable of the core is not here; name it with --exe, or a folder that has it with --debug-dir",
            exe.display()
        );
    }
    executable::expect_same(build_id.as_deref(), &exe, &format!("the core {shown}"))?;
    let libraries: Vec<PathBuf> = maps::files(&maps).into_iter().map(Path::to_owned).collect();
    executable::check(&exe, &libraries)?;
    let executable = Executable::find(&maps, entry, &exe).filter(|executable| is_mapped(&maps, executable));
    let executable = executable.with_context(|| {
        format!("{}: is not the executable of the core {shown}; name the right one with --exe", exe.display())
    })?;
    let files = files_here(&maps, &memory, folder.as_ref());
    memory.complete(&maps, &|path| files.file(path, &executable), is_dump);
    let captured = Captured {
        maps,
        memory,
        threads: found.threads,
        executable,
        page: found.page.unwrap_or(SMALLEST_PAGE).clamp(SMALLEST_PAGE, LARGEST_PAGE as u64),
        files,
        glibc: found.glibc,
        moment: Moment::Core,
        millis: 0,
        names: Vec::new(),
        smaps: None,
        pause: None,
    };
    Ok((found.time, captured))
}

/// Finds the mapped files of which there is the same build: at the same path, or in a folder.
fn files_here(maps: &[Mapping], memory: &Copied, folder: Option<&Folder>) -> Files {
    let mut files = HashMap::new();
    for map in maps.iter().filter(|map| map.offset == 0 && map.path.is_absolute()) {
        if files.contains_key(&map.path) {
            continue;
        }
        let here = map.path.is_file().then(|| map.path.clone());
        let found = match build_id_in(memory, map.start) {
            Some(id) => here
                .filter(|file| executable::build_id(file).is_some_and(|found| found == id))
                .or_else(|| folder?.of_build(&id).next().cloned()),
            // A core of the kernel may lack the headers.
            None => here,
        };
        files.extend(found.map(|file| (map.path.clone(), file)));
    }
    Files::Known(files)
}

const TRUNCATED: &str = "is a truncated core: the disk was full, or `ulimit -c` too small; nothing can be told from it";

/// What the notes of a core say.
#[derive(Default)]
struct Notes {
    threads: Vec<Thread>,
    /// First address, one past the last, offset, path.
    files: Vec<(u64, u64, u64, PathBuf)>,
    entry: Option<u64>,
    /// The bytes of a page.
    page: Option<u64>,
    /// The mappings, in a heap dump.
    maps: Option<Vec<Mapping>>,
    /// The time of a heap dump, in milliseconds since 1970.
    time: Option<u64>,
    /// The version of glibc, in a heap dump.
    glibc: Option<String>,
}

impl Notes {
    fn read(&mut self, bytes: &[u8]) {
        for (name, kind, contents) in notes(bytes) {
            if name == OF_DUMP {
                match kind {
                    NT_DWELL_MAPS => self.maps = Some(maps::mappings(&String::from_utf8_lossy(contents))),
                    NT_DWELL_TIME => self.time = word(contents, 0),
                    NT_DWELL_GLIBC => self.glibc = Some(String::from_utf8_lossy(contents).into_owned()),
                    _ => {}
                }
                continue;
            }
            match kind {
                NT_PRSTATUS => self.threads.extend(thread(contents)),
                NT_ARM_TLS if POINTER_IN_CORE.is_none() => {
                    if let Some(thread) = self.threads.last_mut() {
                        thread.pointer = word(contents, 0);
                    }
                }
                NT_AUXV => {
                    self.entry = super::word_in(contents, super::AT_ENTRY);
                    self.page = super::word_in(contents, super::AT_PAGESZ);
                }
                NT_FILE => self.files.extend(files(contents).unwrap_or_default()),
                _ => {}
            }
        }
    }
}

impl Notes {
    /// A heap dump has zero for the registers that a process does not know of its own threads.
    fn forget_unknown(&mut self) {
        for thread in &mut self.threads {
            thread.registers = thread.registers.map(|register| register.filter(|value| *value != 0));
            thread.pointer = thread.pointer.filter(|pointer| *pointer != 0);
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads a thread from a `struct elf_prstatus`.
fn thread(bytes: &[u8]) -> Option<Thread> {
    const PID: usize = 32;
    const REGISTERS: usize = 112;
    let register = |number: usize| word(bytes, REGISTERS + 8 * number);
    let registers: Registers = IN_CORE.map(register);
    let id = i32::from_le_bytes(*bytes.get(PID..)?.first_chunk()?);
    Some(Thread { id, registers, pointer: POINTER_IN_CORE.and_then(register) })
}

/// Reads the mapped files: their number, the size of a page, three words for each, and the names.
fn files(bytes: &[u8]) -> Option<Vec<(u64, u64, u64, PathBuf)>> {
    let (count, page) = (word(bytes, 0)? as usize, word(bytes, 8)?);
    let from = count.checked_mul(24)?.checked_add(16)?;
    let names = bytes.get(from..)?.split(|byte| *byte == 0);
    let entry = |(index, name): (usize, &[u8])| {
        let at = 16 + 24 * index;
        let offset = word(bytes, at + 16)?.checked_mul(page)?;
        let path = PathBuf::from(String::from_utf8_lossy(name).into_owned());
        Some((word(bytes, at)?, word(bytes, at + 8)?, offset, path))
    };
    (0..count).zip(names).map(entry).collect()
}

/// Gives the mappings the names of their files. `gcore` leaves out those of unchanged files.
fn name(maps: &mut Vec<Mapping>, files: &[(u64, u64, u64, PathBuf)]) {
    for (start, end, offset, path) in files.iter().filter(|(start, end, ..)| start < end) {
        if let Some(map) = maps.iter_mut().find(|map| map.start == *start) {
            path.clone_into(&mut map.path);
            map.offset = *offset;
        } else {
            maps.push(Mapping {
                start: *start,
                end: *end,
                readable: true,
                private: true,
                offset: *offset,
                path: path.clone(),
                ..Mapping::default()
            });
        }
    }
    maps.sort_by_key(|map| map.start);
}

/// Returns `true` if an executable has the segments that are mapped: the core may have no build id.
fn is_mapped(maps: &[Mapping], executable: &Executable) -> bool {
    const PAGE: u64 = 4096;
    let Ok(data) = debuginfo::map(&executable.file) else { return false };
    let Ok(file) = ElfFile64::<LittleEndian>::parse(&*data) else { return false };
    let e = LittleEndian;
    file.elf_program_headers()
        .iter()
        .filter(|segment| segment.p_type(e) == elf::PT_LOAD && segment.p_filesz(e) > 0)
        .all(|segment| {
            let at = segment.p_vaddr(e).wrapping_add(executable.bias);
            maps.iter().any(|map| {
                let offset = map.offset.wrapping_add((at - at % PAGE).wrapping_sub(map.start));
                map.path == executable.path
                    && map.contains(at)
                    && offset == segment.p_offset(e) - segment.p_offset(e) % PAGE
            })
        })
}
