//! The order of the steps: what the program costs, the candidates, the tries one by one, the answer.

use super::super::allocator;
use super::super::args::Apply;
use super::super::folder;
use super::super::git;
use super::super::moves::{self, Move};
use super::super::patched::Patched;
use super::super::proof::{Bench, Measured, ratios};
use super::super::session::Session;
use super::super::tree::{Change, Tree};
use super::super::variants;
use super::answer::{Answer, Ended, Tried, WORTH_A_LINE};
use super::args::Advise;
use super::branch::Commit;
use super::candidates::{self, Candidate};
use super::costs::{About, Gain, Noise};
use super::resume::Saved;
use super::{branch, record};
use crate::{processes, program};
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long a step may take before the first try.
const BOUND: Duration = Duration::from_secs(1800);
/// No try begins if less time is left.
const SHORT: Duration = Duration::from_secs(5);
/// The number of changes that are tried together because each saves too little.
const TOGETHER: usize = 6;
/// The number of changes that need a person from the begin.
const PERSONS: usize = 5;

impl Advise {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built, tested or run.
    pub fn run(&self) -> Result<ExitCode> {
        if let Some(file) = &self.errors {
            record::print(&record::read(file)?, &mut io::stdout().lock())?;
            return Ok(ExitCode::SUCCESS);
        }
        if self.build.exe.is_some() {
            bail!("--exe: advise changes the source and builds the program itself; name a binary with --bin");
        }
        processes::ended_by_signals(|| {
            let Some(name) = &self.patched else { return advise(self, None) };
            let Some((patched, build)) = Patched::new(name, &self.build)? else { return Ok(ExitCode::from(101)) };
            advise(&Self { build, ..self.clone() }, Some(&patched))
        })
    }
}

fn advise(args: &Advise, dependency: Option<&Patched>) -> Result<ExitCode> {
    let end = Instant::now() + args.time;
    let Some(workspace) = program::workspace(&args.build)? else { return Ok(ExitCode::from(101)) };
    let root = workspace.workspace_root.clone().into_std_path_buf();
    if let Some(name) = &args.branch {
        branch::check(&root, name)?;
        if git::is_dirty(&root) == Some(true) {
            bail!(
                "--branch: {} has uncommitted changes, which its commits would have; commit them first",
                root.display()
            );
        }
    }
    let driver = args.driver.as_ref().map(|file| {
        file.canonicalize().with_context(|| format!("--driver: {}: there is no such script", file.display()))
    });
    let driver = driver.transpose()?;
    let unsure = match &args.record {
        Some(file) if file.exists() => record::unsure(&record::read(file)?),
        _ => Vec::new(),
    };
    let patches = patches(args, workspace.target_directory.as_std_path())?;
    let (folder, _lock) = folder::folder(&workspace)?;
    let state = folder.join("advise.json");
    let saved = if args.resume { Saved::read(&state, &args.args)? } else { None };
    let target = folder.join("target");
    let tree = Tree::copy(&workspace, &folder.join("copy"))?;
    let manifest = folder::manifest(&args.build, &workspace, &tree);
    let apply = Apply {
        no_test: args.no_test,
        test_command: args.test_command.clone(),
        dwell: args.dwell.clone(),
        breaking: args.breaking,
        ..Apply::of_tries(args.build.clone(), BOUND)
    };
    let mut session = Session::new(&apply, workspace, tree, target.clone());
    session.tell = |text| eprintln!("note: {text}");
    session.bench = Some(Bench {
        manifest,
        build: &args.build,
        arguments: &args.args,
        folder: &folder,
        target: &target,
        bound: BOUND,
        driver: driver.as_deref(),
    });
    let mut tries = Tries::before(args, session, end)?;
    if let Some(saved) = saved {
        tries.resume(saved)?;
    }
    let answered = tries.all(&state);
    let signal = processes::received();
    if signal.is_none() {
        answered?;
    }
    tries.finish(args, &root, &patches, &folder, &unsure, dependency)?;
    Ok(match signal {
        Some(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
        None if tries.held().next().is_none() => ExitCode::from(1),
        None => ExitCode::SUCCESS,
    })
}

/// Returns the folder for the patches, without those of an earlier run.
fn patches(args: &Advise, target: &Path) -> Result<PathBuf> {
    let folder = args.patch.clone().unwrap_or_else(|| target.join("dwell/advise"));
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    let folder = folder.canonicalize().with_context(|| format!("{}: cannot be read", folder.display()))?;
    let files = fs::read_dir(&folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
    for file in files.flatten() {
        if args.patch.is_some() {
            bail!("--patch: {} has files; name a new folder", folder.display());
        }
        if file.path().extension().is_some_and(|extension| extension == "patch") {
            let _ = fs::remove_file(file.path());
        }
    }
    Ok(folder)
}

/// A run of the command after the program was measured.
struct Tries<'a> {
    session: Session<'a>,
    end: Instant,
    args: &'a Advise,
    /// The program before all changes, and with those that held.
    first: Measured,
    now: Measured,
    /// CPU time and resident bytes before all changes.
    usage: processes::Usage,
    noise: Noise,
    /// The files that the changes of the begin edit.
    files: Vec<PathBuf>,
    /// Whether it is known what holds before a change.
    is_known: bool,
    queue: VecDeque<Candidate>,
    tried: Vec<Tried>,
    /// What saves something, but too little alone.
    small: Vec<Move>,
}

impl<'a> Tries<'a> {
    /// Measures the program, and collects what to try.
    fn before(args: &'a Advise, mut session: Session<'a>, end: Instant) -> Result<Self> {
        let bench = session.bench.as_ref().context("there is nothing to measure with")?;
        let driver_is_none = args.driver.is_none();
        progress("builds the program and takes a census of it");
        let first = bench.census("before")?;
        progress("measures how much equal runs differ");
        let runs = bench.pairs(&first.executable, &first.executable)?;
        let again = bench.census("again")?;
        // One of five pairs may be far off.
        let mut apart: Vec<f64> = ratios(&runs).iter().map(|ratio| (ratio - 1.0).abs()).collect();
        apart.sort_by(f64::total_cmp);
        let all: Vec<u64> = runs.iter().flatten().map(|run| run.usage.resident).collect();
        let (least, most) = (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0));
        let noise = Noise {
            live: first.live_bytes.abs_diff(again.live_bytes),
            cpu: apart.get(apart.len() / 2).copied().unwrap_or_default(),
            resident: (most - least) as f64 / (least as f64).max(1.0),
        };
        let usage = runs.first().map(|pair| pair[0].usage).unwrap_or_default();
        if let Some(status) =
            runs.first().map(|pair| pair[0].status).filter(|status| !status.success() && driver_is_none)
        {
            eprintln!("note: the program ends with {status}");
        }
        let mut counted = Vec::new();
        moves::collect(&first.report, "", &mut counted);
        if args.goal != Some(super::costs::Goal::Memory) {
            progress("records its allocations");
            let mut report = bench.allocs()?;
            candidates::add_places(&mut report, &session.tree.root);
            moves::collect(&report, "", &mut counted);
        }
        progress("reads the sizes of its types and futures");
        let mut sizes = Vec::new();
        for command in ["layout", "futures"] {
            // A program without futures has no such report.
            if let Ok(report) = bench.sizes_of(command, &first.executable) {
                moves::collect(&report, "", &mut sizes);
            }
        }
        let root = session.workspace.workspace_root.clone();
        for list in [&mut counted, &mut sizes] {
            variants::locate(list, root.as_std_path());
        }
        let counted = if uses_library(args, &session.workspace) { counted } else { without_library(counted) };
        let (able, person) = candidates::sorted(counted, sizes, first.live_bytes, args.goal);
        let is_worth_it = |change: &&Move| candidates::share(change, first.live_bytes, args.goal) >= WORTH_A_LINE;
        let tried = person.iter().filter(is_worth_it).take(PERSONS).map(|item| {
            // What apply cannot make, a person may: what to do is all that there is to say.
            let why = match item.refusal() {
                Some(_) if item.dependency.is_none() => {
                    format!("{}: {}", item.location, item.how)
                }
                refusal => refusal.unwrap_or_default(),
            };
            Tried::new(&Candidate::Counted(Box::new(item.clone())), Ended::Person { why })
        });
        let tried = tried.collect();
        let mut queue = VecDeque::from(able);
        queue.push_front(Candidate::Allocator);
        let moves: Vec<Move> = queue.iter().flat_map(Candidate::moves).cloned().collect();
        let mut files = moves::files(&moves);
        files.extend(allocator::root_of(&session.workspace, &first.built));
        progress("checks what compiles before a change");
        session.check_given_before(&files)?;
        let now = first.clone().kept_as("now")?;
        let small = Vec::new();
        Ok(Self { session, end, args, first, now, usage, noise, files, is_known: false, queue, tried, small })
    }

    /// Finds what holds before a change: other features, lints, tests. Most changes do not pay, and need none of it.
    fn know_before(&mut self, mark: &[Change]) -> Result<()> {
        self.session.tree.restore(&[])?;
        self.session.cargo.bound = BOUND;
        progress("checks what compiles with other features before a change");
        self.session.check_others_before(&self.files)?;
        self.session.lint_before(&self.files)?;
        if !self.args.no_test {
            progress("runs the tests");
            self.session.test_before()?;
        }
        self.is_known = true;
        self.session.tree.restore(mark)
    }

    /// Goes on where a run ended.
    fn resume(&mut self, saved: Saved) -> Result<()> {
        let root = self.session.workspace.workspace_root.clone();
        let Some(changes) = saved.changes(root.as_std_path()) else {
            eprintln!("note: the source changed since the last run: this one begins anew");
            return Ok(());
        };
        for change in &changes {
            self.session.tree.write(&change.file, &change.after)?;
        }
        if !changes.is_empty() {
            let bench = self.session.bench.as_ref().context("there is nothing to measure with")?;
            self.now = bench.census("after")?.kept_as("now")?;
        }
        self.queue.retain(|candidate| {
            !saved.tried.iter().any(|tried| tried.name == candidate.name() && tried.how == candidate.how())
        });
        self.tried = saved.tried;
        self.move_lines(&[]);
        Ok(())
    }

    /// Tries what is left, as long as there is time.
    fn all(&mut self, state: &Path) -> Result<()> {
        loop {
            if self.queue.is_empty() && self.small.len() > 1 {
                self.queue.push_back(Candidate::Together(std::mem::take(&mut self.small)));
            }
            let left = self.end.saturating_duration_since(Instant::now());
            let Some(candidate) = self.queue.front().cloned().filter(|_| left > SHORT) else { return Ok(()) };
            progress(&format!(
                "{} of {}, {}:{:02} left: {}",
                self.tried.len() + 1,
                self.tried.len() + self.queue.len(),
                left.as_secs() / 60,
                left.as_secs() % 60,
                candidate.name()
            ));
            self.session.cargo.bound = left;
            if let Some(bench) = &mut self.session.bench {
                bench.bound = left;
            }
            let mark = self.session.tree.mark();
            let ended = match self.one(&candidate, &mark) {
                Ok(Some(ended)) => Ok(ended),
                Ok(None) => {
                    self.know_before(&mark)?;
                    continue;
                }
                Err(error) => Err(error),
            };
            if !matches!(ended, Ok(Ended::Held { .. })) {
                self.session.tree.restore(&mark)?;
            }
            let ended = match ended {
                Ok(ended) => ended,
                // What was not finished was not tried.
                Err(error) if processes::received().is_some() => return Err(error),
                Err(_) if Instant::now() >= self.end => return Ok(()),
                Err(error) => Ended::Person {
                    why: format!("{}: {}", candidate.name(), without_place(&candidate, &format!("{error:#}"))),
                },
            };
            self.queue.pop_front();
            let holds = matches!(ended, Ended::Held { .. });
            self.tried.push(Tried::new(&candidate, ended));
            if holds {
                self.move_lines(&mark);
                self.renew();
                // A type whose fields were changed has no longer the size that was read.
                let is_part = |part: &str, whole: &str| {
                    part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                };
                let is_of = |other: &Move| {
                    let mut edits = candidate.moves().iter().flat_map(|change| &change.edits);
                    edits.any(|edit| {
                        let same = |name: &str| is_part(name, &edit.item) || is_part(&edit.item, name);
                        other.edits.iter().any(|other| same(&other.item))
                    })
                };
                self.queue.retain(|other| !matches!(other, Candidate::Size(other) if is_of(other)));
            }
            Saved::new(&self.args.args, &self.tried, self.session.tree.changes()).write(state)?;
        }
    }

    /// Tries one change. `None`: it pays, and what holds before it is not known yet.
    fn one(&mut self, candidate: &Candidate, mark: &[Change]) -> Result<Option<Ended>> {
        let mut all_made = Vec::new();
        if *candidate == Candidate::Allocator
            && let Err(error) = allocator::set(&mut self.session, &self.first.built)
        {
            return Ok(Some(Ended::Person { why: format!("{}: {error:#}", candidate.name()) }));
        }
        for part in candidate.moves() {
            let before = self.session.tree.mark();
            let (_, made, repaired) = self.session.make(part, &before)?;
            if let [first, rest @ ..] = &repaired.left[..] {
                let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
                let why = format!("{}: {} has to change by hand: {}{more}", candidate.name(), first.at, first.message);
                return Ok(Some(Ended::Person { why }));
            }
            all_made.push(made);
        }
        if *candidate == Candidate::Allocator
            && let Some(error) = self.session.cargo.check()?.errors.first()
        {
            return Ok(Some(Ended::Lost { gain: None, why: format!("does not compile: {}", error.message) }));
        }
        self.session.tidy()?;
        self.session.check_change(mark)?;
        if all_made.iter().any(|made| made.becomes.has_other_traits()) && !self.args.breaking {
            let lost = self.session.lost_traits(mark)?;
            if !lost.is_empty() {
                bail!("{} would be lost, which is breaking for users of the crate", lost.join(", "));
            }
        }
        let bench = self.session.bench.as_ref().context("there is nothing to measure with")?;
        let after = bench.census("after")?;
        let gain = Gain::measure(bench, &self.now, &after)?;
        let about = if *candidate == Candidate::Allocator { About::Allocator } else { About::Code };
        if let Err(why) = gain.judge(about, self.args.goal, self.noise) {
            let is_small = gain.live[1] < gain.live[0] || gain.saved_time() > 0.0;
            if let (Candidate::Counted(change), true) = (candidate, is_small && self.small.len() < TOGETHER) {
                self.small.push((**change).clone());
            }
            return Ok(Some(Ended::Lost { gain: Some(gain), why }));
        }
        if !self.is_known {
            return Ok(None);
        }
        let mut notes: Vec<String> = self.session.lint_after()?.unwrap_or_default();
        for made in &all_made {
            if let Some(place) = self.session.places(made, mark).first() {
                let why = format!(
                    "{}: look at {}:{}: {}; `cargo dwell apply --accept` makes it",
                    candidate.name(),
                    place.file.display(),
                    place.line,
                    place.why
                );
                return Ok(Some(Ended::Person { why }));
            }
        }
        if let Some(before) = &self.session.tests {
            match self.session.test_after(before)? {
                Ok(words) => notes.extend(words.contains("in one of two runs").then_some(words)),
                Err(why) => return Ok(Some(Ended::Lost { gain: Some(gain), why: format!("tests: {why}") })),
            }
        }
        self.now = after.kept_as("now")?;
        let changes = since(&self.session.tree.changes(), mark);
        let patch: String = changes.iter().map(Change::diff).collect();
        let count = |sign: char| {
            let is_line = |line: &&str| line.starts_with(sign) && !line.starts_with(&sign.to_string().repeat(3));
            patch.lines().filter(is_line).count()
        };
        let lines = [count('+'), count('-')];
        let files = changes.into_iter().map(|change| (change.file, change.after)).collect();
        Ok(Some(Ended::Held { gain, files, lines, patch, notes }))
    }

    /// Gives the edits that are left the lines that their places have now.
    fn move_lines(&mut self, mark: &[Change]) {
        let changes = since(&self.session.tree.changes(), mark);
        let edits = self.queue.iter_mut().flat_map(|item| match item {
            Candidate::Allocator => &mut [][..],
            Candidate::Counted(change) | Candidate::Size(change) => std::slice::from_mut(&mut **change),
            Candidate::Together(all) => all,
        });
        for edit in edits.chain(&mut self.small).flat_map(|change| &mut change.edits) {
            if let Some(change) = changes.iter().find(|change| change.file == Path::new(&edit.file)) {
                edit.line = candidates::moved_line(&change.before, &change.after, edit.line);
            }
        }
    }

    /// Adds what the census of the changed program proposes, and gives what is left the types of now.
    fn renew(&mut self) {
        let mut renewed = Vec::new();
        moves::collect(&self.now.report, "", &mut renewed);
        variants::locate(&mut renewed, &self.session.tree.root);
        if !uses_library(self.args, &self.session.workspace) {
            renewed = without_library(renewed);
        }
        let is_known = |new: &Move| self.tried.iter().any(|old| old.name == new.location && old.how == new.how);
        renewed.retain(|new| new.refusal().is_none() && !is_known(new));
        candidates::renew(&mut self.queue, renewed, self.now.live_bytes, self.args.goal);
    }

    fn held(&self) -> impl Iterator<Item = (&Tried, &Ended)> {
        let all = self.tried.iter().map(|tried| (tried, &tried.ended));
        all.filter(|(_, ended)| matches!(ended, Ended::Held { .. }))
    }

    /// Writes the patches, and prints the answer.
    fn finish(
        &mut self,
        args: &Advise,
        root: &Path,
        patches: &Path,
        folder: &Path,
        unsure: &[String],
        dependency: Option<&Patched>,
    ) -> Result<()> {
        let is_interrupted = processes::received().is_some();
        let (mut files, mut commits) = (Vec::new(), Vec::new());
        for (number, (tried, ended)) in self.held().enumerate() {
            let Ended::Held { patch, gain, files: changed, .. } = ended else { continue };
            // In the order in which they apply, also by name.
            let path = patches.join(format!("{:02}-{}.patch", number + 1, slug(&tried.name)));
            crate::report::saved::write(&path, |out| out.write_all(patch.as_bytes()))?;
            files.push(path);
            let message = format!("{}: {}\n\n{}\n", tried.name, tried.how, gain.words());
            commits.push(Commit { message, files: changed.clone() });
        }
        if let (Some(name), false) = (&args.branch, commits.is_empty()) {
            branch::make(root, folder, name, &commits)?;
        }
        let together = match &self.session.bench {
            Some(bench) if self.held().count() > 1 && !is_interrupted => {
                Gain::measure(bench, &self.first, &self.now).ok()
            }
            _ => None,
        };
        if let Some(file) = &args.record {
            record::append(file, &self.program(), &self.tried)?;
        }
        let program = self.program();
        let answer = Answer {
            program: &program,
            live: [self.first.live_bytes, self.first.live_blocks],
            resident: self.usage.resident,
            seconds: self.usage.cpu().as_secs_f64(),
            noise: self.noise,
            tried: &self.tried,
            together,
            untried: self.queue.len(),
            is_interrupted,
            patches: &files,
            patched: dependency,
            root,
            branch: args.branch.as_deref().filter(|_| !commits.is_empty()),
            unsure,
        };
        if io::stderr().is_terminal() {
            eprint!("\r\x1b[K");
        }
        answer.print(&mut io::stdout().lock()).context("the answer cannot be written")
    }

    fn program(&self) -> String {
        self.first.built.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Returns an error without the place that the name of its change has.
fn without_place<'e>(candidate: &Candidate, error: &'e str) -> &'e str {
    let place = candidate.name().rsplit_once(" at ").map(|(_, place)| format!("{place}: "));
    place.and_then(|place| error.strip_prefix(place.as_str())).unwrap_or(error)
}

/// Returns whether types of the library `dwell` may be used.
fn uses_library(args: &Advise, workspace: &Metadata) -> bool {
    let packages = workspace.workspace_packages();
    args.dwell.is_some()
        || packages.iter().any(|package| package.dependencies.iter().any(|dependency| dependency.name == "dwell"))
}

/// Returns changes with types of std in the place of those of the library. Those that std has none for stay, and need a person.
fn without_library(all: Vec<Move>) -> Vec<Move> {
    let needs = |change: &Move| {
        change.edits.iter().any(|edit| change.becomes(edit).is_some_and(|becomes| !becomes.features().is_empty()))
    };
    let of_std = |change: Move| match candidates::of_std(&change) {
        _ if !needs(&change) => change,
        Some(change) => change,
        None => Move {
            edits: Vec::new(),
            how: format!("{} of the library dwell; --dwell PATH names a folder with it", change.how),
            ..change
        },
    };
    all.into_iter().map(of_std).collect()
}

/// Returns the changes since a mark.
fn since(changes: &[Change], mark: &[Change]) -> Vec<Change> {
    let all = changes.iter().map(|change| {
        let marked = mark.iter().find(|item| item.file == change.file);
        Change { before: marked.map_or(&change.before, |marked_change| &marked_change.after).clone(), ..change.clone() }
    });
    all.filter(|change| change.before != change.after).collect()
}

/// Says on standard error what is done: one line that the next replaces, in a terminal.
fn progress(what: &str) {
    if io::stderr().is_terminal() {
        eprint!("\r{what}\x1b[K");
    } else {
        eprintln!("note: {what}");
    }
}

/// Returns a name for a file.
fn slug(name: &str) -> String {
    let with = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
    let text: String = name.chars().map(with).collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-").chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_have_names_of_files() {
        assert_eq!(slug("app::Node<T>.name"), "app-node-t-name");
        assert_eq!(slug("::"), "");
        assert!(slug(&"x".repeat(100)).len() == 60);
    }

    #[test]
    fn changes_since_a_mark_begin_there() {
        let with = |file: &str, before: &str, after: &str| Change {
            file: file.into(),
            before: before.into(),
            after: after.into(),
        };
        let mark = [with("a", "1", "2"), with("b", "1", "2")];
        let now = [with("a", "1", "3"), with("b", "1", "2"), with("c", "1", "2")];
        assert_eq!(since(&now, &mark), [with("a", "2", "3"), with("c", "1", "2")]);
    }
}
