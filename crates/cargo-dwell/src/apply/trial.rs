//! Tries moves in a copy of a workspace, each alone, for the count of random moves: nothing is written.

use super::args::Apply;
use super::edit;
use super::moves::{self, Move};
use super::session::Session;
use super::tree::{Change, Tree};
use crate::program::{self, BuildArgs};
use anyhow::{Result, bail};
use dwell_source::Edit;
use std::path::Path;
use std::time::Duration;

/// The result of a move that was tried in a copy.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Whether all that compiled before compiles.
    pub compiles: bool,
    /// Whether the tests have the outcomes that they had before; `None`: they did not run.
    pub same_tests: Option<bool>,
    /// The warnings of the compiler that are new.
    pub new_warnings: Vec<String>,
    /// The places that need `--accept`.
    pub places: Vec<String>,
    /// The number of rounds of `cargo check`.
    pub rounds: usize,
    /// The number of repairs by rule.
    pub repairs: Vec<(String, usize)>,
    /// What is left: place, source, message.
    pub left: Vec<(String, String, String)>,
    /// The change as a diff.
    pub diff: String,
}

/// Makes each of the edits in a copy of a workspace, with one target folder for all, and repairs its uses. With `tests` the tests run
/// twice before, and after each move that compiles. `each` gets an edit with its result, and returns whether to go on.
///
/// # Errors
/// Returns an error if the workspace cannot be copied, checked or tested.
pub fn trials(
    manifest: &Path,
    edits: &[Edit],
    target: &Path,
    tests: bool,
    mut each: impl FnMut(&Edit, Result<Trial>) -> bool,
) -> Result<()> {
    let build = BuildArgs { manifest_path: Some(manifest.to_owned()), ..BuildArgs::default() };
    let args =
        Apply { no_test: !tests, breaking: true, accept: true, ..Apply::of_tries(build, Duration::from_secs(900)) };
    let Some(workspace) = program::workspace(&args.build)? else {
        bail!("{}: cargo cannot read it", manifest.display())
    };
    let tree = Tree::copy(&workspace, &target.join("copy"))?;
    let mut session = Session::new(&args, workspace, tree, target.join("target"));
    let all: Vec<Move> = edits.iter().map(|edit| Move { edits: vec![edit.clone()], ..Move::default() }).collect();
    session.check_before(&moves::files(&all))?;
    if tests {
        session.test_before()?;
    }
    for (edit, of) in edits.iter().zip(&all) {
        let trial = one(&mut session, of);
        let goes_on = each(edit, trial);
        session.tree.restore(&[])?;
        if !goes_on {
            break;
        }
    }
    Ok(())
}

fn one(session: &mut Session<'_>, of: &Move) -> Result<Trial> {
    let (_, made, repaired): (_, edit::Made, _) = session.make(of, &[])?;
    let mut trial = Trial {
        compiles: repaired.left.is_empty(),
        rounds: repaired.rounds,
        repairs: repaired.by.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        new_warnings: repaired.new_warnings,
        left: repaired.left.into_iter().map(|left| (left.at, left.source, left.message)).collect(),
        ..Trial::default()
    };
    if trial.compiles {
        session.tidy()?;
        let places = session.places(&made, &[]);
        trial.places = places.iter().map(|of| format!("{}:{}: {}", of.file.display(), of.line, of.why)).collect();
        if let Some(before) = &session.tests {
            trial.same_tests = Some(session.test_after(before)?.is_ok());
        }
    }
    trial.diff = session.tree.changes().iter().map(Change::diff).collect();
    Ok(trial)
}
