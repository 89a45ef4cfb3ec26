//! Tries moves in a copy of a workspace, for the count of random moves: nothing is written.

use super::args::Apply;
use super::edit;
use super::moves::{self, Move};
use super::session::Session;
use super::tree::{Change, Tree};
use crate::program::{self, BuildArgs};
use anyhow::{Result, bail};
use dwell_source::Edit;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The result of a move that was tried in a copy.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Whether all that compiled before compiles with the user's features.
    pub compiles: bool,
    /// The places that need `--accept`.
    pub places: Vec<String>,
    /// What becomes another type for users of a library that can be published.
    pub breaking: Vec<String>,
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
    /// The warnings of rustc and clippy that are new and that no repair takes away; `None`: clippy did not run.
    pub new_warnings: Option<Vec<String>>,
    /// The moves that compiled with the user's features, and with others did not; `None`: the others were not checked.
    pub lost: Option<Vec<usize>>,
    /// What was not judged, and why.
    pub not_judged: Vec<String>,
    /// All moves as a diff.
    pub diff: String,
}

/// Where moves are tried, and for how long.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The folder of the copy, which is emptied.
    pub copy: PathBuf,
    /// The target folder, which several packages may share.
    pub target: PathBuf,
    /// Whether the tests run.
    pub tests: bool,
    /// When the moves and their checks end. Half of the time after the first check is for the moves.
    pub end: Instant,
}

/// Makes the edits in a copy of a workspace, with one target folder for all, and repairs the uses. Each edit is made after those before it
/// that compile, and checked with the default build; then the other builds, clippy and the tests look at all of
/// them at once, before and after. If another build fails, the moves are made again, each checked by all. `each` gets an edit with its result,
/// and returns whether to go on.
///
/// # Errors
/// Returns an error if the workspace cannot be copied or checked.
pub fn trials(
    manifest: &Path,
    edits: &[Edit],
    limits: &Limits,
    mut each: impl FnMut(&Edit, Result<Trial>) -> bool,
) -> Result<Together> {
    let build = BuildArgs { manifest_path: Some(manifest.to_owned()), ..BuildArgs::default() };
    let args =
        Apply { no_test: !limits.tests, breaking: true, accept: true, ..Apply::of_tries(build, left(limits.end)) };
    let Some(workspace) = program::workspace(&args.build)? else {
        bail!("{}: cargo cannot read it", manifest.display())
    };
    let tree = Tree::copy(&workspace, &limits.copy)?;
    let mut session = Session::new(&args, workspace, tree, limits.target.clone());
    let all: Vec<Move> = edits.iter().map(|edit| Move { edits: vec![edit.clone()], ..Move::default() }).collect();
    let files = moves::files(&all);
    session.check_given_before(&files)?;
    let end_of_moves = Instant::now() + left(limits.end) / 2;
    let mut together = Together::default();
    for (index, (edit, change)) in edits.iter().zip(&all).enumerate() {
        session.cargo.bound = left(limits.end);
        let mark = session.tree.mark();
        let trial = one(&mut session, change, &mark);
        if trial.as_ref().is_ok_and(|trial| trial.compiles) {
            together.kept.push(index);
        } else {
            session.tree.restore(&mark)?;
        }
        if !each(edit, trial) || Instant::now() > end_of_moves {
            break;
        }
    }
    if !together.kept.is_empty() {
        judge(&mut session, &files, &all, limits, &mut together)?;
    }
    together.diff = session.tree.changes().iter().map(Change::diff).collect();
    Ok(together)
}

/// Judges the kept moves by clippy, the other features and the tests, each before and after, as far as there is time.
fn judge(
    session: &mut Session<'_>,
    files: &[PathBuf],
    all: &[Move],
    limits: &Limits,
    together: &mut Together,
) -> Result<()> {
    let mut missing = Vec::new();
    let mut step = |session: &mut Session<'_>, name: &str, run: &mut dyn FnMut(&mut Session<'_>) -> Result<()>| {
        session.cargo.bound = left(limits.end);
        let ran = run(session);
        missing.extend(ran.as_ref().err().map(|error| format!("{name}: {error:#}")));
        ran.is_ok()
    };
    session.tidy()?;
    let mut made = session.tree.mark();
    session.tree.restore(&[])?;
    let has_lints = step(session, "clippy", &mut |session| session.lint_before(files));
    let has_builds = step(session, "other features", &mut |session| session.check_others_before(files));
    let has_tests = limits.tests && step(session, "tests", &mut |session| session.test_once_before());
    session.tree.restore(&made)?;
    if has_lints {
        step(session, "clippy", &mut |session| {
            together.new_warnings = session.lint_after()?;
            Ok(())
        });
        made = session.tree.mark();
    }
    if has_builds {
        let mut lost = Vec::new();
        let is_judged = step(session, "other features", &mut |session| {
            if session.cargo.check()?.errors.is_empty() {
                return Ok(());
            }
            session.tree.restore(&[])?;
            for index in &together.kept {
                let mark = session.tree.mark();
                session.cargo.bound = left(limits.end);
                if !one(session, &all[*index], &mark).is_ok_and(|trial| trial.compiles) {
                    session.tree.restore(&mark)?;
                    lost.push(*index);
                }
            }
            session.tidy()
        });
        if is_judged {
            together.kept.retain(|index| !lost.contains(index));
            together.lost = Some(lost);
        } else {
            session.tree.restore(&made)?;
        }
    }
    if has_tests {
        step(session, "tests", &mut |session| {
            let Some(mut before) = session.tests.clone() else { return Ok(()) };
            let mut after = session.test_after(&before)?;
            if after.is_err() {
                let made = session.tree.mark();
                session.tree.restore(&[])?;
                session.flaky = before.differ(&session.cargo.test(None)?);
                session.tree.restore(&made)?;
                if !session.flaky.is_empty() {
                    before.without(&session.flaky);
                    before.success = true;
                    after = session.test_after(&before)?;
                }
            }
            together.tests = Some(after);
            Ok(())
        });
    }
    together.not_judged = missing;
    Ok(())
}

/// Returns the time until then, at least a second.
fn left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now()).max(Duration::from_secs(1))
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
        session.repair_documents(&made)?;
        trial.breaking = session.breaking(mark);
        let places = session.places(&made, mark);
        trial.places =
            places.iter().map(|place| format!("{}:{}: {}", place.file.display(), place.line, place.why)).collect();
    }
    Ok(trial)
}
