//! A run of the command: the copy, and what is known of the state before a change.

use super::args::Apply;
use super::builds::Checked;
use super::cargo::Cargo;
use super::outcomes::Tests;
use super::proof::{Bench, Measured};
use super::tree::{Change, Tree};
use cargo_metadata::Metadata;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A run of the command.
pub(super) struct Session<'a> {
    pub(super) args: &'a Apply,
    pub(super) workspace: Metadata,
    pub(super) tree: Tree,
    pub(super) cargo: Cargo<'a>,
    pub(super) bench: Option<Bench<'a>>,
    pub(super) tests: Option<Tests>,
    /// The tests that have another outcome in each run.
    pub(super) flaky: BTreeMap<String, String>,
    pub(super) measured: Option<Measured>,
    pub(super) sizes: Option<serde_json::Value>,
    /// The sizes of futures.
    pub(super) futures: Option<serde_json::Value>,
    /// The packages that clippy looks at, and what it said of them before the change.
    pub(super) lints: Option<(Vec<String>, Checked)>,
    /// What was written to the user's files.
    pub(super) saved: Vec<Change>,
    /// Says what is seen on the way.
    pub(super) tell: fn(&str),
}

impl<'a> Session<'a> {
    /// Starts a run in a copy of which nothing is known yet.
    pub(super) fn new(args: &'a Apply, workspace: Metadata, tree: Tree, target: PathBuf) -> Self {
        let cargo = Cargo {
            root: tree.root.clone(),
            target,
            build: &args.build,
            builds: Vec::new(),
            tested: Vec::new(),
            bound: args.timeout,
        };
        Self {
            args,
            workspace,
            tree,
            cargo,
            bench: None,
            tests: None,
            flaky: BTreeMap::new(),
            measured: None,
            sizes: None,
            futures: None,
            lints: None,
            saved: Vec::new(),
            tell: |text| println!("{text}"),
        }
    }
}
