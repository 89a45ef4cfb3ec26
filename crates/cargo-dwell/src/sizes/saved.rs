//! The file of sizes that `--save` writes and `--diff` reads.

use crate::about::About;
use crate::futures;
use crate::{dyn_traits, layout};
use anyhow::{Context, Result, bail};
use dwell_debuginfo::Program;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;

/// The version of the schema.
const VERSION: u32 = 1;

/// All sizes of a program. `docs/json-output.md` names the fields.
#[derive(Debug, Serialize)]
pub struct Document {
    version: u32,
    program: About,
    /// Whether the types of dependencies are included.
    all: bool,
    types: Vec<layout::json::Type>,
    futures: Vec<futures::json::Future>,
    traits: Vec<dyn_traits::json::Trait>,
}

/// The selection of types in a document.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// Include the types of dependencies.
    pub all: bool,
    /// The folder that relative paths of sources start from, if it is known.
    pub root: Option<&'a Path>,
    /// The profile that the program was built with.
    pub profile: Option<&'a str>,
}

impl Document {
    /// Collects the sizes of a program.
    pub fn new(program: &Program, selection: Selection<'_>) -> Self {
        Self {
            version: VERSION,
            program: About::new(program, selection.profile),
            all: selection.all,
            types: layout::json::types(program, selection.all, selection.root),
            futures: futures::all(program, selection.all, selection.root),
            traits: dyn_traits::json::traits(program, selection.all, selection.root),
        }
    }

    /// Writes the document.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if it exists and `--save` did not write it.
    pub fn save(&self, file: &Path) -> Result<()> {
        check_target(file)?;
        let write = || -> std::io::Result<()> {
            let mut out = BufWriter::new(fs::File::create(file)?);
            serde_json::to_writer(&mut out, self)?;
            writeln!(out)?;
            out.flush()
        };
        write().with_context(|| format!("{}: cannot be written", file.display()))
    }
}

/// Checks that `--save` may write to `file`: it overwrites only its own files.
///
/// # Errors
/// Returns an error if `file` is a folder, if its folder does not exist, or if the file exists and `--save` did not
/// write it.
pub fn check_target(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.is_dir() {
        bail!("{}: is a folder; name a file in it", file.display());
    } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!("{}: the folder {} does not exist; create it first", file.display(), folder.display());
    } else if file.exists() && fs::metadata(file).is_ok_and(|file| file.len() > 0) && Known::read(file).is_err() {
        bail!("{}: already exists, and --save did not write it; name another file", file.display());
    }
    Ok(())
}

/// The fields that are read from a file of `--save` or from the output of `--format json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Known {
    #[serde(default)]
    pub(super) program: About,
    #[serde(default)]
    pub(super) all: bool,
    #[serde(default)]
    pub(super) types: Vec<KnownType>,
    #[serde(default)]
    pub(super) futures: Vec<futures::json::Future>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct KnownType {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) size: u64,
    #[serde(default)]
    pub(super) fields: Vec<KnownField>,
    #[serde(default)]
    pub(super) variants: Vec<KnownVariant>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct KnownField {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) type_name: String,
    pub(super) size: u64,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct KnownVariant {
    pub(super) name: String,
    pub(super) size: u64,
    #[serde(default)]
    pub(super) fields: Vec<KnownField>,
}

impl Known {
    /// Reads a file of `--save` or the output of `--format json`.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let reader =
            BufReader::new(fs::File::open(file).with_context(|| format!("{}: cannot be read", file.display()))?);
        /// The version alone, since a later version may have other fields.
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let value: serde_json::Value = serde_json::from_reader(reader).with_context(|| not_saved(file))?;
        let version = Version::deserialize(&value).with_context(|| not_saved(file))?.version;
        if version != VERSION {
            bail!(
                "{}: has version {version} of the schema, not {VERSION}; save it again with this cargo dwell",
                file.display()
            );
        }
        let known = Self::deserialize(value).with_context(|| not_saved(file))?;
        if known.types.is_empty() && known.futures.is_empty() && known.program.file.is_empty() {
            bail!("{}", not_saved(file));
        }
        Ok(known)
    }

    /// Converts a document as if it had been saved and read.
    pub(crate) fn from_document(document: &Document) -> Result<Self> {
        let value = serde_json::to_value(document).context("the sizes cannot be written as JSON")?;
        Self::deserialize(value).context("the sizes cannot be read back")
    }
}

fn not_saved(file: &Path) -> String {
    format!("{}: is neither a file that --save wrote nor an executable", file.display())
}
