//! The description of a program: its package, the change, and the workloads.

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// A published program, measured before and after a change to Dwell.
pub(crate) struct Program {
    /// What the command line calls it.
    pub(crate) name: &'static str,
    /// What changes, in a few words.
    pub(crate) change: &'static str,
    /// The packages that are copied and may be edited. The first is the program.
    pub(crate) packages: &'static [Package],
    /// The `[dependencies]` of the driver, on both sides.
    pub(crate) dependencies: &'static str,
    /// More of them, on the changed side. `{dwell}` is the path of this repository.
    pub(crate) more_after: &'static str,
    /// A file that the driver reads. `{input}` in the driver is its path.
    pub(crate) input: Option<Input>,
    /// The driver, a file in `programs/`: a module with `pub fn workload(name: &str) -> Box<dyn FnMut() -> u64>`.
    pub(crate) driver: &'static str,
    /// An edit script of the driver, on the changed side; empty if it is the same. The file that it edits is
    /// `program.rs`.
    pub(crate) driver_after: &'static str,
    /// What is measured.
    pub(crate) workloads: &'static [&'static str],
}

/// Where a file that a driver reads comes from.
pub(crate) enum Input {
    /// A package of the registry ships it.
    Shipped { package: &'static str, version: &'static str, path: &'static str },
    /// rustdoc writes it: the JSON of a package of the registry, in the version of the format that the program reads.
    RustdocJson { package: &'static str, version: &'static str, features: &'static [&'static str], format: u32 },
}

/// One package of the registry at an exact version.
pub(crate) struct Package {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Its edit script, a file in `programs/`; empty if it stays as it is.
    pub(crate) edits: &'static str,
    /// How the tests that it ships are run: arguments of `cargo test`, or none if it ships none.
    pub(crate) tests: Option<&'static [&'static str]>,
}

impl Program {
    /// A program without a part that most do not have.
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

    /// The package that gives the program its version.
    pub(crate) fn main(&self) -> &Package {
        &self.packages[0]
    }
}

/// A driver or an edit script. No name is no text.
pub(crate) fn text(name: &str) -> Result<String> {
    if name.is_empty() {
        return Ok(String::new());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(name);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}
