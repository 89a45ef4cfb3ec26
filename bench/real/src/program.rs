//! The description of a program: its package, the change, and the workloads.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A published program, measured before and after a change to Dwell.
pub(crate) struct Program {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// The change, in a few words.
    pub(crate) change: &'static str,
    /// The packages that are copied and may be edited. The first is the program.
    pub(crate) packages: &'static [Package],
    /// The `[dependencies]` of the driver on both sides.
    pub(crate) dependencies: &'static str,
    /// Further dependencies on the changed side. `{dwell}` stands for the path of this repository.
    pub(crate) more_after: &'static str,
    /// A file that the driver reads. `{input}` in the driver stands for its path.
    pub(crate) input: Option<Input>,
    /// The driver, a file in `programs/`: a module with `pub fn workload(name: &str) -> Box<dyn FnMut() -> u64>`.
    pub(crate) driver: &'static str,
    /// The edit script of the driver for the changed side; empty if there is none. It edits the file
    /// `program.rs`.
    pub(crate) driver_after: &'static str,
    /// The workloads to measure.
    pub(crate) workloads: &'static [&'static str],
}

/// The origin of a file that a driver reads.
pub(crate) enum Input {
    /// A file in a package of the registry.
    Shipped { package: &'static str, version: &'static str, path: &'static str },
    /// rustdoc's JSON of a package of the registry, in the version of the format that the program reads.
    RustdocJson { package: &'static str, version: &'static str, features: &'static [&'static str], format: u32 },
}

/// A package of the registry at an exact version.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Its edit script, a file in `programs/`; empty if it is not edited.
    pub(crate) edits: &'static str,
    /// The arguments of `cargo test` for the tests that it ships; `None` if it ships none.
    pub(crate) tests: Option<&'static [&'static str]>,
}

impl Program {
    /// A program without the optional parts.
    pub(crate) const NONE: Self = Self {
        name: "",
        change: "",
        packages: &[],
        dependencies: "",
        more_after: "",
        input: None,
        driver: "",
        driver_after: "",
        workloads: &[],
    };

    /// Returns the package that gives the program its version.
    pub(crate) fn main(&self) -> &Package {
        &self.packages[0]
    }
}

/// Returns the text of a driver or an edit script; empty if there is no name.
pub(crate) fn text(name: &str) -> Result<String> {
    if name.is_empty() {
        return Ok(String::new());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}
