//! One layout, loaded and weighed by all: in a process of its own, so that none profits from another's heap.

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::layouts::{self, Thinned};
use super::subjects::{self, Subject};
use crate::{count, sparse};

/// Where a service model's values live.
pub(super) struct Layout {
    /// The workload in rows, and the name on the hidden command line.
    pub(super) name: &'static str,
    run: fn(&Task) -> Result<Report>,
}

pub(super) const LAYOUTS: &[Layout] = &[
    Layout { name: "naive", run: |task| task.run::<layouts::naive::Model>(&subjects::peers()) },
    Layout { name: "boxed", run: |task| task.run::<layouts::boxed::Model>(&subjects::peers()) },
    Layout { name: "btree", run: |task| task.run::<layouts::btree::Model>(&subjects::peers()) },
];

/// What one process is to do.
#[derive(clap::Args, Debug)]
pub(crate) struct Task {
    #[arg(long)]
    layout: String,
    #[arg(long)]
    models: PathBuf,
    /// How often each subject weighs.
    #[arg(long)]
    rounds: usize,
}

/// What one process found.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Report {
    /// As loaded, then after three quarters of the shapes were deleted.
    pub(super) states: [State; 2],
}

/// The models at one time.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct State {
    /// What the allocator says, in bytes as requested.
    pub(super) truth: u64,
    pub(super) said: Vec<Said>,
}

/// What one subject says.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Said {
    pub(super) subject: String,
    pub(super) bytes: u64,
    /// A time for each round.
    pub(super) ms: Vec<f64>,
}

impl Task {
    /// Loads, weighs and prints the report for [`measure`].
    pub(crate) fn answer(&self) -> Result<()> {
        let layout = LAYOUTS.iter().find(|layout| layout.name == self.layout).context("no such layout")?;
        println!("{}", serde_json::to_string(&(layout.run)(self)?)?);
        Ok(())
    }

    fn run<M: DeserializeOwned + Thinned>(&self, subjects: &[Subject<Vec<M>>]) -> Result<Report> {
        let files = sparse::files(&self.models)?;
        count::start();
        let mut models: Vec<M> = Vec::with_capacity(files.len());
        for file in &files {
            let json = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            models.push(serde_json::from_str(&json).with_context(|| format!("{} is no model", file.display()))?);
        }
        // What the list of files and the JSON took is not the models'.
        let loaded = self.weigh(&models, subjects);
        models.iter_mut().for_each(Thinned::delete_three_quarters);
        let thinned = self.weigh(&models, subjects);
        Ok(Report { states: [loaded, thinned] })
    }

    fn weigh<T>(&self, value: &T, subjects: &[Subject<T>]) -> State {
        // Nothing else is live that was not before counting began.
        let truth = count::live().bytes.cast_unsigned() as u64;
        let mut said: Vec<Said> = subjects
            .iter()
            .map(|subject| Said {
                subject: subject.name.to_owned(),
                bytes: (subject.weigh)(value),
                ms: Vec::with_capacity(self.rounds),
            })
            .collect();
        for _ in 0..self.rounds {
            for (subject, said) in subjects.iter().zip(&mut said) {
                let start = Instant::now();
                black_box((subject.weigh)(black_box(value)));
                said.ms.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        State { truth, said }
    }
}

/// Runs `layout` over `models` in a new process.
pub(super) fn measure(layout: &Layout, models: &Path, rounds: usize) -> Result<Report> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["weigh-one", "--layout", layout.name, "--rounds", &rounds.to_string(), "--models"]).arg(models);
    let output = command.output().context("cannot run this program again")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        bail!("{}", message.trim().trim_start_matches("error: "));
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("{} gave no report", layout.name))
}
