//! The files that `--save` writes and `--base` reads.

use super::costs::Costs;
use super::runs::Measured;
use crate::report::saved;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The version of the files. It rises when a field is removed or changes its meaning.
const VERSION: u32 = 2;

/// The costs of all runs, as `--save` writes them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    version: u32,
    kind: String,
    pub(super) runs: BTreeMap<String, Costs>,
}

impl Saved {
    pub(super) fn new(measured: &[Measured]) -> Self {
        let runs = measured.iter().map(|run| (run.name.clone(), run.costs.clone())).collect();
        Self { version: VERSION, kind: "check".into(), runs }
    }

    pub(super) fn write(&self, file: &Path) -> Result<()> {
        saved::write(file, |out| serde_json::to_writer(out, self).map_err(Into::into))
    }

    pub(super) fn read(file: &Path) -> Result<Self> {
        /// The version alone, since a later version may have other fields.
        #[derive(Deserialize)]
        struct Version {
            version: u32,
            kind: String,
        }
        let name = file.display();
        let not_saved = || format!("{name}: is not a file that `cargo dwell check --save` wrote");
        let text = fs::read_to_string(file).with_context(|| format!("{name}: cannot be read"))?;
        let value: serde_json::Value = serde_json::from_str(&text).with_context(not_saved)?;
        let Version { version, kind } = Version::deserialize(&value).with_context(not_saved)?;
        if kind != "check" {
            bail!(not_saved());
        }
        if version != VERSION {
            bail!("{name}: has version {version} of the schema, not {VERSION}; save it again with this cargo dwell");
        }
        Self::deserialize(value).with_context(not_saved)
    }
}
