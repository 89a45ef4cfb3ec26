//! The types of a program, from the debug info of its executable.
//!
//! This is the one place that knows DWARF; the rest of the tool sees the plain values of [`model`].

pub mod model;

pub use model::{
    Coroutine, Enum, Field, Flavour, Kind, Param, Program, Source, State, Tag, Text, Type, TypeId, Variant, Vtable,
};

use anyhow::Result;
use std::path::{Path, PathBuf};

/// How to [`load`].
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The names of the workspace's own crates, with `_` for `-`.
    pub own_crates: Vec<String>,
    /// Where parsed programs are kept by build id, so that a second question is quick. `None`: nowhere.
    pub cache: Option<PathBuf>,
    /// Whether to show a progress bar on standard error.
    pub progress: bool,
}

/// Reads the types of an executable.
///
/// # Errors
/// In one line what is wrong with the file and what to do: it is not there, not an executable, has no debug info.
pub fn load(path: &Path, options: &Options) -> Result<Program> {
    let _ = (path, options);
    anyhow::bail!("reading debug info is not there yet")
}
