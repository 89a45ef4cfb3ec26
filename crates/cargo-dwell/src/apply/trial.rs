//! Tries moves in a copy of a workspace, for the count of random moves: nothing is written.

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
    /// Whether all that compiled before compiles with the user's features.
    pub compiles: bool,
    /// The places that need `--accept`.
    pub places: Vec<String>,
    /// The number of rounds of `cargo check`.
    pub rounds: usize,
    /// The number of repairs by rule.
    pub repairs: Vec<(String, usize)>,
    /// What is left: place, source, message.
    pub left: Vec<(String, String, String)>,
}

/// What the kept moves of a package do together.
#[derive(Clone, Debug, Default)]
pub struct Together {
    /// The moves that compile, as indices.
    pub kept: Vec<usize>,
    /// What the tests say, which differ or not; `None`: they did not run.
    pub tests: Option<Result<String, String>>,
    /// The warnings of rustc and clippy that are new and that no repair takes away.
    pub new_warnings: Vec<String>,
    /// The moves that compiled with the user's features, and with others did not.
    pub lost: Vec<usize>,
    /// All moves as a diff.
    pub diff: String,
}

/// Makes the edits in a copy of a workspace, with one target folder for all, and repairs the uses. Each edit is made after those before it
/// that compile, and checked with the default build; the other builds, clippy and the tests, which run twice before, look at all of
/// them at once. If another build fails, the moves are made again, each checked by all. `each` gets an edit with its result, and returns
/// whether to go on.
///
/// # Errors
/// Returns an error if the workspace cannot be copied, checked or tested.
pub fn trials(
    manifest: &Path,
    edits: &[Edit],
    target: &Path,
    tests: bool,
    mut each: impl FnMut(&Edit, Result<Trial>) -> bool,
) -> Result<Together> {
    let build = BuildArgs { manifest_path: Some(manifest.to_owned()), ..BuildArgs::default() };
    let args =
        Apply { no_test: !tests, breaking: true, accept: true, ..Apply::of_tries(build, Duration::from_secs(900)) };
    let Some(workspace) = program::workspace(&args.build)? else {
        bail!("{}: cargo cannot read it", manifest.display())
    };
    let tree = Tree::copy(&workspace, &target.join("copy"))?;
    let mut session = Session::new(&args, workspace, tree, target.join("target"));
    let all: Vec<Move> = edits.iter().map(|edit| Move { edits: vec![edit.clone()], ..Move::default() }).collect();
    let files = moves::files(&all);
    session.check_before(&files)?;
    session.lint_before(&files)?;
    if tests {
        session.test_before()?;
    }
    let others = session.cargo.builds.split_off(1);
    let mut together = Together::default();
    for (index, (edit, change)) in edits.iter().zip(&all).enumerate() {
        let mark = session.tree.mark();
        let trial = one(&mut session, change, &mark);
        if trial.as_ref().is_ok_and(|trial| trial.compiles) {
            together.kept.push(index);
        } else {
            session.tree.restore(&mark)?;
        }
        if !each(edit, trial) {
            break;
        }
    }
    session.cargo.builds.extend(others);
    if !session.cargo.check().is_ok_and(|found| found.errors.is_empty()) {
        session.tree.restore(&[])?;
        for index in std::mem::take(&mut together.kept) {
            let mark = session.tree.mark();
            if one(&mut session, &all[index], &mark).is_ok_and(|trial| trial.compiles) {
                together.kept.push(index);
            } else {
                session.tree.restore(&mark)?;
                together.lost.push(index);
            }
        }
    }
    session.tidy()?;
    together.new_warnings = session.lint_after()?.unwrap_or_default();
    if let Some(before) = &session.tests {
        together.tests = Some(session.test_after(before)?);
    }
    together.diff = session.tree.changes().iter().map(Change::diff).collect();
    Ok(together)
}

fn one(session: &mut Session<'_>, change: &Move, mark: &[Change]) -> Result<Trial> {
    let (_, made, repaired): (_, edit::Made, _) = session.make(change, mark)?;
    let mut trial = Trial {
        compiles: repaired.left.is_empty(),
        rounds: repaired.rounds,
        repairs: repaired.by.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        left: repaired.left.into_iter().map(|left| (left.at, left.source, left.message)).collect(),
        ..Trial::default()
    };
    if trial.compiles {
        let places = session.places(&made, mark);
        trial.places =
            places.iter().map(|place| format!("{}:{}: {}", place.file.display(), place.line, place.why)).collect();
    }
    Ok(trial)
}
