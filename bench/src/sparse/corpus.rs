//! The models to load: a folder of real ones, or the generated sample.

use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The number of generated models. A quick run has a tenth of them.
const MODELS: usize = 400;
const SEED: u64 = 1;

pub(crate) struct Corpus {
    folder: PathBuf,
    /// The folder of the sample, which is removed when the corpus is dropped.
    made: Option<TempDir>,
    pub(crate) files: usize,
    pub(crate) bytes: u64,
}

impl Corpus {
    /// Opens the folder `models`, or writes the sample to a temporary folder.
    pub(crate) fn open(models: Option<&Path>, quick: bool) -> Result<Self> {
        let (folder, made) = if let Some(folder) = models {
            (folder.to_owned(), None)
        } else {
            let made = sample(if quick { MODELS / 10 } else { MODELS })?;
            (made.path().to_owned(), Some(made))
        };
        let files = super::load::files(&folder)?;
        let mut bytes = 0;
        for file in &files {
            bytes += fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
        }
        Ok(Self { folder, made, files: files.len(), bytes })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Describes the corpus in words.
    pub(crate) fn describe(&self) -> String {
        let what = if self.made.is_some() { "generated models (dwell_shape::sample, seed 1)" } else { "models" };
        format!("{} {what}, {:.1} MB of JSON", self.files, self.bytes as f64 / 1e6)
    }
}

fn sample(models: usize) -> Result<TempDir> {
    let folder = tempfile::tempdir().context("cannot make a folder for the sample")?;
    for (name, json) in dwell_shape::sample::documents(SEED, models) {
        fs::write(folder.path().join(name), json).context("cannot write the sample")?;
    }
    Ok(folder)
}
