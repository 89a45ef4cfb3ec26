//! Loads all models in one layout and reports time and memory. Each layout runs in a separate process, so that none
//! profits from another's heap.

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::path::{Path, PathBuf};

use super::intern::settle;
use super::{canonical, layouts};
use crate::{again, count};

/// A layout of the service models: the types that store their values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The subject in rows, and the name on the hidden command line.
    pub(super) name: &'static str,
    run: fn(&Task) -> Result<Report>,
    #[cfg(test)]
    hash: fn(&str) -> serde_json::Result<u64>,
}

#[cfg(test)]
impl Layout {
    /// Returns the hash of a document in this layout.
    pub(super) fn hash(&self, json: &str) -> serde_json::Result<u64> {
        (self.hash)(json)
    }
}

macro_rules! layouts {
    ($($name:literal: $module:ident,)*) => {
        &[$(Layout {
            name: $name,
            run: |task| task.run::<layouts::$module::Model>(layouts::$module::SIZES),
            #[cfg(test)]
            hash: |json| canonical::hash_of(&serde_json::from_str::<layouts::$module::Model>(json)?),
        },)*]
    };
}

/// All layouts. Each of dwell's layouts adds one change to the one before.
pub(super) const LAYOUTS: &[Layout] = layouts! {
    "unboxed": unboxed,
    "boxed": boxed,
    "option-box": option_box,
    "dwell/sparse": sparse,
    "dwell/box-str": box_str,
    "dwell/sorted": sorted,
    "dwell/thin": thin,
    "dwell/interned": string_interner,
    "dwell/interned lasso 0.7.3": lasso,
    "dwell/interned ustr 1.1.0": ustr,
    "dwell/interned internment 0.8.6": internment,
    "dwell/bump": bump,
    "bumpalo 3.20.4": bumpalo,
};

/// The arguments of a child process.
#[derive(clap::Args, Debug)]
pub(crate) struct Task {
    #[arg(long)]
    layout: String,
    #[arg(long)]
    models: PathBuf,
    /// Count bytes and blocks and hash the loaded data; otherwise only measure the time
    #[arg(long)]
    count: bool,
}

/// The result of a child process.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Report {
    /// The user and system time of deserialization.
    pub(super) cpu_ms: f64,
    pub(super) counted: Option<Counted>,
    /// The sizes of a shape, a reference and traits.
    pub(super) sizes: [usize; 3],
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Counted {
    pub(super) bytes: isize,
    pub(super) blocks: isize,
    pub(super) jemalloc: Option<usize>,
    /// The increase in resident bytes by loading.
    pub(super) rss: usize,
    pub(super) hash: u64,
}

impl Task {
    /// Loads, measures and prints the report for [`measure`].
    pub(crate) fn answer(&self) -> Result<()> {
        let layout = LAYOUTS.iter().find(|layout| layout.name == self.layout).context("there is no such layout")?;
        println!("{}", serde_json::to_string(&(layout.run)(self)?)?);
        Ok(())
    }

    fn run<M: DeserializeOwned + Serialize>(&self, sizes: [usize; 3]) -> Result<Report> {
        let files = files(&self.models)?;
        let mut models = Vec::with_capacity(files.len());
        let rss = count::resident()?;
        if self.count {
            count::start();
        }
        let mut cpu_ms = 0.0;
        for file in &files {
            // The text is dropped before the next one is read, as in the article's program.
            let json = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            // Reading the file takes the same time for all layouts and is not measured.
            let start = process_cpu_ms();
            let model: M =
                serde_json::from_str(&json).with_context(|| format!("{} is not a Smithy model", file.display()))?;
            models.push(model);
            cpu_ms += process_cpu_ms() - start;
        }
        let start = process_cpu_ms();
        settle();
        cpu_ms += process_cpu_ms() - start;
        let models = black_box(models);
        let live = count::live();
        let counted = self.count.then(|| -> Result<Counted> {
            let rss = count::resident()?.saturating_sub(rss);
            let jemalloc = jemalloc()?;
            let mut state = DefaultHasher::new();
            models.iter().try_for_each(|model| canonical::hash(model, &mut state))?;
            Ok(Counted { bytes: live.bytes, blocks: live.blocks, jemalloc, rss, hash: state.finish() })
        });
        Ok(Report { cpu_ms, counted: counted.transpose()?, sizes })
    }
}

/// Returns the `.json` files of a folder, sorted by name.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!("{} contains no .json file", folder.display());
    }
    files.sort();
    Ok(files)
}

/// Runs `layout` over `models` in a new process.
pub(super) fn measure(layout: Layout, models: &Path, count: bool) -> Result<Report> {
    let arguments = ["load", "--layout", layout.name, "--models"].map(OsStr::new);
    let count = count.then_some(OsStr::new("--count"));
    again::child(&arguments.into_iter().chain([models.as_os_str()]).chain(count).collect::<Vec<_>>())
}

/// Returns the user and system time of this process in milliseconds.
fn process_cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

#[cfg(feature = "profile")]
fn jemalloc() -> Result<Option<usize>> {
    use tikv_jemalloc_ctl::{epoch, stats};
    // jemalloc updates its statistics when the epoch advances.
    epoch::advance().map_err(anyhow::Error::msg)?;
    Ok(Some(stats::allocated::read().map_err(anyhow::Error::msg)?))
}

#[cfg(not(feature = "profile"))]
#[expect(clippy::unnecessary_wraps, reason = "the signature is the same as with the feature")]
fn jemalloc() -> Result<Option<usize>> {
    Ok(None)
}
