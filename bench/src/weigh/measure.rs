//! Loads one layout and weighs it with all subjects. Each layout has a separate process, so that none profits from
//! another's heap.

use anyhow::{Context, Result};
use dwell::Weigh;
use dwell::weigh::{Model, WhatIf, tree, weigh_as};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::layouts::{self, Thinned};
use super::subjects::{self, Subject};
use crate::{again, count, sparse};

/// A layout of the service models: the types that store their values.
pub(super) struct Layout {
    /// The workload in rows, and the name on the hidden command line.
    pub(super) name: &'static str,
    run: fn(&Task) -> Result<Report>,
}

pub(super) const LAYOUTS: &[Layout] = &[
    Layout { name: "unboxed", run: |task| task.run::<layouts::unboxed::Model>(&subjects::all()) },
    Layout { name: "boxed", run: |task| task.run::<layouts::boxed::Model>(&subjects::all()) },
    Layout { name: "btree", run: |task| task.run::<layouts::btree::Model>(&subjects::all()) },
    Layout { name: "lean", run: |task| task.run::<layouts::lean::Model>(&subjects::dwell()) },
];

/// Returns the model of this process's allocator.
fn model() -> Model {
    match count::allocator() {
        "jemalloc" => Model::Jemalloc,
        "mimalloc" => Model::Mimalloc,
        _ => Model::Glibc,
    }
}

/// The arguments of a child process.
#[derive(clap::Args, Debug)]
pub(crate) struct Task {
    #[arg(long)]
    layout: String,
    #[arg(long)]
    models: PathBuf,
    /// The file for the page of the tree.
    #[arg(long)]
    tree: Option<PathBuf>,
    /// The number of times that each subject weighs.
    #[arg(long)]
    rounds: usize,
}

/// The result of a child process.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Report {
    /// The models as loaded, and after three quarters of the shapes were deleted.
    pub(super) states: [State; 2],
    /// The bytes that this program's allocator used for the models, and the bytes that `weigh` computes with its model.
    pub(super) taken: u64,
    pub(super) modelled: u64,
    pub(super) allocations: u64,
    /// The heap bytes and allocations of the article's layout, predicted from this one.
    pub(super) boxed: Option<(u64, u64)>,
    /// The suggestions for this layout.
    pub(super) advice: String,
}

/// The measurements of the models in one state.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct State {
    /// The requested bytes that the allocator counted.
    pub(super) truth: u64,
    pub(super) said: Vec<Said>,
}

/// The measurement of one subject.
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

    fn run<M: DeserializeOwned + Thinned + Weigh>(&self, subjects: &[Subject<Vec<M>>]) -> Result<Report> {
        let files = sparse::files(&self.models)?;
        count::start();
        count::start_asking();
        let mut models: Vec<M> = Vec::with_capacity(files.len());
        for file in &files {
            let json = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            models.push(
                serde_json::from_str(&json).with_context(|| format!("{} is not a Smithy model", file.display()))?,
            );
        }
        let live = count::live();
        let taken = count::taken().cast_unsigned() as u64;
        let modelled = weigh_as(&models, model()).heap;
        let allocations = live.blocks.cast_unsigned() as u64;
        let loaded = self.weigh(&models, live.bytes, subjects);
        let boxed = (self.layout == "unboxed").then(|| boxed(&models)).transpose()?;
        let tree = tree(&models);
        let advice = tree.advise().to_string();
        if let Some(file) = &self.tree {
            fs::write(file, tree.to_html()).with_context(|| format!("cannot write {}", file.display()))?;
        }
        drop(tree);
        // The results so far are live too and are subtracted.
        let said = count::live().bytes - live.bytes;
        models.iter_mut().for_each(Thinned::delete_three_quarters);
        let thinned = self.weigh(&models, count::live().bytes - said, subjects);
        Ok(Report { states: [loaded, thinned], taken, modelled, allocations, boxed, advice })
    }

    fn weigh<T>(&self, value: &T, live: isize, subjects: &[Subject<T>]) -> State {
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
                // The first call is not timed, since the caches have the data of the previous subject.
                black_box((subject.weigh)(black_box(value)));
                let start = Instant::now();
                black_box((subject.weigh)(black_box(value)));
                said.ms.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        State { truth: live.cast_unsigned() as u64, said }
    }
}

/// Predicts the heap bytes and allocations of the unboxed layout after the article's changes.
fn boxed<T: Weigh>(models: &T) -> Result<(u64, u64)> {
    let tree = tree(models);
    let mut what_if = WhatIf::new(&tree);
    for field in ["Shape.key", "Shape.value", "Shape.member", "Shape.input", "Shape.output"] {
        what_if.boxed(field)?;
    }
    what_if.boxed("Shape.traits")?;
    what_if.boxed("Reference.traits")?;
    Ok((what_if.total() - tree.weight.inline, what_if.allocations()))
}

/// Runs `layout` over `models` in a new process.
pub(super) fn measure(layout: &Layout, models: &Path, rounds: usize, html: Option<&Path>) -> Result<Report> {
    let rounds = rounds.to_string();
    let mut arguments =
        ["weigh-one", "--layout", layout.name, "--rounds", &rounds, "--models"].map(OsStr::new).to_vec();
    arguments.push(models.as_os_str());
    if let Some(file) = html {
        arguments.extend([OsStr::new("--tree"), file.as_os_str()]);
    }
    again::child(&arguments)
}
