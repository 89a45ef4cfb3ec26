//! Finds executables and libraries in a folder by their build ids.

use super::executable::build_id;
use crate::debuginfo;
use anyhow::{Context as _, Result, bail};
use object::read::elf::{ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{LittleEndian, elf};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The most files that are looked at, and the deepest folder.
const MOST: usize = 20_000;
const DEEPEST: usize = 6;

/// A folder with executables, libraries and debug info.
pub(super) struct Folder {
    path: PathBuf,
    /// The ELF files with a build id.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// The number of all files.
    count: usize,
}

impl Folder {
    /// Reads a folder. Debug info is also searched there from now on.
    pub(super) fn read(path: &Path) -> Result<Self> {
        debuginfo::search_also(path)?;
        let mut files = Vec::new();
        list(path, 0, &mut files).with_context(|| format!("{}: cannot be read", path.display()))?;
        let count = files.len();
        let with_id =
            |file: PathBuf| Some(file).filter(|file| is_elf(file)).and_then(|file| Some((build_id(&file)?, file)));
        let files: Vec<_> = files.into_iter().filter_map(with_id).map(|(id, file)| (file, id)).collect();
        debuginfo::known(files.iter().map(|(file, id)| (hex(id), file.clone())).collect());
        Ok(Self { path: path.to_owned(), files, count })
    }

    /// Returns the executables or libraries of a build id.
    pub(super) fn of_build<'a>(&'a self, wanted: &'a [u8]) -> impl Iterator<Item = &'a PathBuf> {
        self.all(wanted).filter(|file| has_code(file))
    }

    fn all<'a>(&'a self, wanted: &'a [u8]) -> impl Iterator<Item = &'a PathBuf> {
        self.files.iter().filter(move |(_, id)| id == wanted).map(|(file, _)| file)
    }

    /// Returns the executable of a build id: the one with debug info if there are several, or a stripped one whose debug info is in
    /// a file of its own. That may be `path`, where the program was mapped from.
    pub(super) fn executable(&self, build_id: Option<&[u8]>, path: &Path, source: &str) -> Result<PathBuf> {
        let (shown, count) = (self.path.display(), self.count);
        let Some(wanted) = build_id else {
            bail!("{source} has no build id, by which {shown} could be searched; name its executable with --exe");
        };
        let own = path.to_owned();
        let own = (is_elf(path) && self::build_id(path).as_deref() == Some(wanted)).then_some(&own);
        let programs: Vec<&PathBuf> = self.of_build(wanted).chain(own.filter(|own| has_code(own))).collect();
        if let Some(program) = programs.iter().find(|file| debuginfo::expect(file).is_ok()) {
            return Ok((*program).clone());
        }
        let hex = hex(wanted);
        match (programs.first(), self.all(wanted).next()) {
            (Some(program), _) => bail!(
                "{shown}: has no debug info of {}, which is stripped: none of the build id {hex} with types; {count} files were \
                 looked at",
                program.display()
            ),
            (None, Some(debug)) => bail!(
                "{}: is the debug info of {source}, and its executable is not there; put the stripped one beside it",
                debug.display()
            ),
            (None, None) => {
                bail!(
                    "{shown}: has no executable of the build id {hex}, which {source} has; {count} files were looked at"
                )
            }
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn list(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // A link to a folder could lead back; one to a file is that file.
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth < DEEPEST {
            // A folder that cannot be read has nothing.
            let _ = list(&path, depth + 1, files);
        } else if path.is_file() && files.len() < MOST {
            files.push(path);
        }
    }
    Ok(())
}

fn is_elf(file: &Path) -> bool {
    let mut start = [0; 4];
    fs::File::open(file).is_ok_and(|mut file| std::io::Read::read_exact(&mut file, &mut start).is_ok())
        && start == *b"\x7fELF"
}

/// Returns `false` for a file with debug info alone, which has no contents for what is mapped.
fn has_code(file: &Path) -> bool {
    let Ok(data) = debuginfo::map(file) else { return false };
    let Ok(file) = ElfFile64::<LittleEndian>::parse(&*data) else { return false };
    let e = LittleEndian;
    let is_code = |segment: &&elf::ProgramHeader64<LittleEndian>| {
        segment.p_type(e) == elf::PT_LOAD && segment.p_flags(e) & elf::PF_X == elf::PF_X
    };
    // Such a file still has program headers, but no sections with the code.
    let sections: Vec<_> = file.elf_section_table().iter().collect();
    file.elf_header().e_type(e) != elf::ET_CORE
        && file.elf_program_headers().iter().any(|segment| is_code(&segment) && segment.p_filesz(e) > 0)
        && (sections.is_empty()
            || sections.iter().any(|section| {
                section.sh_type.get(e) == elf::SHT_PROGBITS
                    && section.sh_flags.get(e) & elf::SHF_EXECINSTR == elf::SHF_EXECINSTR
            }))
}
