//! The order of the steps: what the program costs, the candidates, the tries one by one, the answer.

use super::super::allocator;
use super::super::args::Apply;
use super::super::builds::{Build, Features};
use super::super::edit::Made;
use super::super::folder;
use super::super::git;
use super::super::moves::{self, Move};
use super::super::patched::Patched;
use super::super::proof::{Bench, Measured};
use super::super::session::Session;
use super::super::tree::{Change, Tree};
use super::super::variants;
use super::answer::{Answer, Ended, Known, Tried, WORTH_A_LINE};
use super::args::Advise;
use super::branch::Commit;
use super::candidates::{self, Candidate, Sorted};
use super::costs::{self, About, Gain, Goal, Noise};
use super::resume::Saved;
use super::{branch, record};
use crate::{processes, program};
use anyhow::{Context, Result, anyhow, bail};
use cargo_metadata::Metadata;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long a step may take before the first try.
const BOUND: Duration = Duration::from_secs(1800);
/// How long a run may take at least before the first try.
const RUN: Duration = Duration::from_secs(30);
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
            let Some((patched, build)) = Patched::new(name, &self.build)? else { return Ok(ExitCode::from(2)) };
            advise(&Self { build, ..self.clone() }, Some(&patched))
        })
    }
}

fn advise(args: &Advise, dependency: Option<&Patched>) -> Result<ExitCode> {
    let start = Instant::now();
    let Some(workspace) = program::workspace(&args.build)? else { return Ok(ExitCode::from(2)) };
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
    let mut known = Known::default();
    let begun = Tries::before(args, session, start, &mut known).and_then(|tries| {
        let Some(mut tries) = tries else { return Ok(None) };
        saved.map_or(Ok(()), |saved| tries.resume(saved))?;
        Ok(Some(tries))
    });
    // What is built and measured stays for a run that goes on.
    if !state.exists() {
        Saved::new(&args.args, &[], Vec::new()).write(&state)?;
    }
    let mut tries = match begun {
        Ok(Some(tries)) => tries,
        Ok(None) => return Ok(ExitCode::from(2)),
        Err(error) => {
            if processes::received().is_some() {
                known.print_interrupted(&mut io::stdout().lock()).context("the answer cannot be written")?;
            }
            return Err(error);
        }
    };
    let answered = tries.all(&state);
    let signal = processes::received();
    if signal.is_none() {
        answered?;
    }
    tries.finish(args, &root, &patches, &folder, &unsure, dependency)?;
    if let Some(error) = tries.stopped.take().filter(|_| signal.is_none()) {
        return Err(error);
    }
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
    began: Instant,
    end: Instant,
    args: &'a Advise,
    /// The program before all changes, and with those that held.
    first: Measured,
    now: Measured,
    /// What is printed of it.
    known: Known,
    noise: Noise,
    /// The files that the changes of the begin edit.
    files: Vec<PathBuf>,
    /// The build of the program, which decides whether a change pays.
    program: Build,
    /// What else holds before a change; empty: no change has paid yet.
    others: Vec<Build>,
    /// Whether the uses are repaired in all builds: the change pays, and another build has errors.
    is_thorough: bool,
    /// Whether the tests ran twice before a change, so that it is known which have two outcomes.
    is_tested_twice: bool,
    /// Why no change can be proven.
    stopped: Option<anyhow::Error>,
    /// When the first try began.
    first_try: Option<Instant>,
    queue: VecDeque<Candidate>,
    tried: Vec<Tried>,
    /// What saves something, but too little alone.
    small: Vec<Move>,
}

impl<'a> Tries<'a> {
    /// Measures the program, and collects what to try. `None`: cargo does not build it, and printed why.
    fn before(args: &'a Advise, mut session: Session<'a>, began: Instant, known: &mut Known) -> Result<Option<Self>> {
        let step = |known: &mut Known, name: &'static str| {
            known.step = name;
            progress(name);
        };
        let bench = session.bench.as_mut().context("there is nothing to measure with")?;
        step(known, "builds the program");
        if !bench.build_program()? {
            return Ok(None);
        }
        // The first build takes what it takes, and so do the first check and tests.
        let end = Instant::now() + args.time;
        // What takes longer once cannot be tried.
        bench.bound = args.time.max(RUN);
        let (bound, started) = (bench.bound, Instant::now());
        step(known, "takes a census of the program");
        let first = match bench.census("before") {
            Err(_) if processes::received().is_none() && started.elapsed() >= bound => bail!(
                "the program did not end in {} s: --time gives more; --driver ends a server when its script ends",
                bound.as_secs()
            ),
            first => first?,
        };
        known.program = name_of(&first.built);
        known.live = [first.live_bytes, first.live_blocks];
        step(known, "measures how much equal runs differ");
        let runs = bench.pairs(&first.executable, &first.executable)?;
        let usage = runs.first().map(|pair| pair[0].usage).unwrap_or_default();
        known.usage = Some(usage);
        let again = bench.census("again")?;
        let by_valgrind = || bench.instructions(&first, usage).zip(bench.instructions(&again, usage));
        let instructions = costs::counted(&runs).or_else(|| by_valgrind().map(|(one, other)| [one, other]));
        let noise = Noise::of(&runs, [first.live_bytes, again.live_bytes], instructions);
        known.noise = Some(noise);
        if let Some(status) = runs.first().map(|pair| pair[0].status)
            && !status.success()
            && args.driver.is_none()
        {
            eprintln!("note: the program ends with {status}");
        }
        let mut counted = Vec::new();
        moves::collect(&first.report, "", &mut counted);
        if args.goal != Some(Goal::Memory) {
            step(known, "records its allocations");
            let mut report = bench.allocs()?;
            candidates::add_places(&mut report, &session.tree.root);
            moves::collect(&report, "", &mut counted);
        }
        step(known, "reads the sizes of its types and futures");
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
        let Sorted { able, mut small, person } = candidates::sorted(counted, sizes, first.live_bytes, args.goal);
        small.truncate(TOGETHER);
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
        let moves: Vec<Move> = queue.iter().flat_map(Candidate::moves).chain(&small).cloned().collect();
        let mut files = moves::files(&moves);
        files.extend(allocator::root_of(&session.workspace, &first.built));
        let now = first.clone().kept_as("now")?;
        let mut program = Build::new("", Features::Program(bench.manifest.clone()));
        program.before = session.cargo.check_build(&program)?.0;
        let known = known.clone();
        Ok(Some(Self {
            session,
            began,
            end,
            args,
            first,
            now,
            known,
            noise,
            files,
            program,
            others: Vec::new(),
            is_thorough: false,
            is_tested_twice: false,
            stopped: None,
            first_try: None,
            queue,
            tried,
            small,
        }))
    }

    /// Finds what else holds before a change: other targets and features, lints, tests. Most changes do not pay, and need none of it.
    fn know_before(&mut self) -> Result<()> {
        let now = self.session.tree.mark();
        self.session.tree.restore(&[])?;
        self.session.cargo.bound = BOUND.max(self.args.time);
        progress("checks what compiles before a change");
        self.session.check_before(&self.files)?;
        self.session.lint_before(&self.files)?;
        if !self.args.no_test {
            progress("runs the tests");
            self.session.test_once_before()?;
        }
        self.others.clone_from(&self.session.cargo.builds);
        self.session.tree.restore(&now)
    }

    /// Compares the tests with those before. Those that differ may have two outcomes without a change.
    fn test(&mut self) -> Result<Result<String, String>> {
        let Some(before) = &self.session.tests else { return Ok(Ok(String::new())) };
        let compared = self.session.test_after(before)?;
        if compared.is_ok() || self.is_tested_twice {
            return Ok(compared);
        }
        progress("runs the tests without the change once more");
        let now = self.session.tree.mark();
        self.session.tree.restore(&[])?;
        self.session.test_again_before()?;
        self.is_tested_twice = true;
        self.session.tree.restore(&now)?;
        let Some(before) = &self.session.tests else { return Ok(compared) };
        self.session.test_after(before)
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
        let persons = std::mem::replace(&mut self.tried, saved.tried);
        for person in persons {
            if !self.tried.iter().any(|tried| tried.name == person.name && tried.how == person.how) {
                self.tried.push(person);
            }
        }
        self.move_lines(&[]);
        Ok(())
    }
}

/// The tries.
impl Tries<'_> {
    /// Tries what is left, as long as there is time.
    fn all(&mut self, state: &Path) -> Result<()> {
        loop {
            if self.queue.is_empty() && self.small.len() > 1 {
                let all = Candidate::Together(std::mem::take(&mut self.small));
                self.queue.extend(Some(all).filter(|all| !self.tried.iter().any(|tried| tried.name == all.name())));
            }
            let left = self.end.saturating_duration_since(Instant::now());
            let Some(candidate) = self.queue.front().cloned().filter(|_| left > SHORT) else { return Ok(()) };
            self.first_try.get_or_insert_with(Instant::now);
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
                    self.session.tree.restore(&mark)?;
                    self.is_thorough = true;
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
                    why: format!(
                        "{}: {}",
                        candidate.name(),
                        without_place(&candidate, &format!("{error:#}").replace("--timeout allows", "--time gives"))
                    ),
                },
            };
            if self.stopped.is_some() {
                // Tests that cannot be compared with tell nothing about the others either.
                self.tried.push(Tried::new(&candidate, ended));
                return Ok(());
            }
            // Without the parts that could not be made.
            let candidate = self.queue.pop_front().filter(Candidate::has_some).unwrap_or(candidate);
            self.is_thorough = false;
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

    /// Tries one change. `None`: it pays, and has to be made again, since another build has errors.
    fn one(&mut self, candidate: &Candidate, mark: &[Change]) -> Result<Option<Ended>> {
        let mut all_made = Vec::new();
        self.session.cargo.builds = if self.is_thorough { self.others.clone() } else { vec![self.program.clone()] };
        if *candidate == Candidate::Allocator
            && let Err(error) = allocator::set(&mut self.session, &self.first.built)
        {
            return Ok(Some(Ended::Person { why: format!("{}: {error:#}", candidate.name()) }));
        }
        for part in candidate.moves() {
            let before = self.session.tree.mark();
            let made = self.session.make(part, &before);
            let is_made = made.as_ref().is_ok_and(|(_, _, repaired)| repaired.left.is_empty());
            if let Some(Candidate::Together(all)) = self.queue.front_mut()
                && !is_made
                && processes::received().is_none()
            {
                all.retain(|other| other != part);
                self.session.tree.restore(&before)?;
                continue;
            }
            let (_, made, repaired) = made?;
            if let [first, rest @ ..] = &repaired.left[..] {
                let more = if rest.is_empty() { String::new() } else { format!(", and {} more", rest.len()) };
                let why = format!("{}: {} has to change by hand: {}{more}", candidate.name(), first.at, first.message);
                return Ok(Some(Ended::Person { why }));
            }
            all_made.push(made);
        }
        if all_made.is_empty() && *candidate != Candidate::Allocator {
            return Ok(Some(Ended::Lost { gain: None, why: "none of them can be made".to_owned() }));
        }
        if *candidate == Candidate::Allocator
            && let Some(error) = self.session.cargo.check()?.errors.first()
        {
            return Ok(Some(Ended::Lost { gain: None, why: format!("does not compile: {}", error.message) }));
        }
        self.session.tidy()?;
        self.session.check_change(mark)?;
        let bench = self.session.bench.as_ref().context("there is nothing to measure with")?;
        let after = bench.census("after")?;
        let gain = Gain::measure(bench, &self.now, &after)?;
        let about = if *candidate == Candidate::Allocator { About::Allocator } else { About::Code };
        if let Err(why) = gain.judge(about, self.args.goal, self.noise) {
            let is_small = gain.live[1] < gain.live[0] || gain.saved_time() > 0.0;
            if let Candidate::Counted(change) | Candidate::Size(change) = candidate
                && is_small
                && self.small.len() < TOGETHER
            {
                self.small.push((**change).clone());
            }
            return Ok(Some(Ended::Lost { gain: Some(gain), why }));
        }
        if self.others.is_empty() {
            let began = Instant::now();
            if let Err(error) = self.know_before() {
                processes::check()?;
                let error = format!("{error:#}").replace("--timeout allows", "--time gives");
                let why = format!("{}: pays ({}), but {error}", candidate.name(), gain.words());
                self.stopped = Some(anyhow!(error));
                return Ok(Some(Ended::Person { why }));
            }
            // The first tests are not cut short, and neither are the first with a change.
            self.end += began.elapsed();
            let left = self.end.saturating_duration_since(Instant::now());
            self.session.cargo.bound = left.max(began.elapsed() * 2);
        }
        let words = gain.words();
        let ended = match self.prove(candidate, mark, &all_made, gain) {
            Err(error) if processes::received().is_none() => {
                Some(Ended::Person { why: format!("{}: pays ({words}), but {error:#}", candidate.name()) })
            }
            ended => ended?,
        };
        if matches!(ended, Some(Ended::Held { .. })) {
            self.now = after.kept_as("now")?;
        }
        Ok(ended)
    }

    /// Checks a change that pays: other features, lints, places that no test sees, tests.
    fn prove(
        &mut self,
        candidate: &Candidate,
        mark: &[Change],
        all_made: &[Made],
        gain: Gain,
    ) -> Result<Option<Ended>> {
        self.session.cargo.builds.clone_from(&self.others);
        if let Some(error) = self.session.cargo.check()?.errors.first() {
            if !self.is_thorough {
                return Ok(None);
            }
            bail!("another build does not compile: {}", error.message);
        }
        if all_made.iter().any(|made| made.becomes.has_other_traits()) && !self.args.breaking {
            let lost = self.session.lost_traits(mark)?;
            if !lost.is_empty() {
                bail!("{} would be lost, which is breaking for users of the crate", lost.join(", "));
            }
        }
        let mut notes: Vec<String> = self.session.lint_after()?.unwrap_or_default();
        for made in all_made {
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
        match self.test()? {
            Ok(words) => notes.extend(words.contains("in one of two runs").then_some(words)),
            Err(why) => return Ok(Some(Ended::Lost { gain: Some(gain), why: format!("tests: {why}") })),
        }
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
        // What promised too little of the bytes before may promise more of those that are left.
        let (tried, untried): (Vec<Move>, Vec<Move>) = std::mem::take(&mut self.small).into_iter().partition(is_known);
        self.small = tried;
        self.queue.extend(untried.into_iter().map(|item| Candidate::Counted(Box::new(item))));
        candidates::renew(&mut self.queue, &mut self.small, renewed, self.now.live_bytes, self.args.goal);
        self.small.truncate(TOGETHER);
    }

    fn held(&self) -> impl Iterator<Item = (&Tried, &Ended)> {
        let all = self.tried.iter().map(|tried| (tried, &tried.ended));
        all.filter(|(_, ended)| matches!(ended, Ended::Held { .. }))
    }
}

/// The answer.
impl Tries<'_> {
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
            record::append(file, &self.known.program, &self.tried)?;
        }
        let answer = Answer {
            known: &self.known,
            tried: &self.tried,
            together,
            untried: self.queue.len(),
            waited: self.first_try.unwrap_or_else(Instant::now).saturating_duration_since(self.began),
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

/// Returns the name of a program, without the hash that cargo adds to those of tests and benchmarks.
fn name_of(executable: &Path) -> String {
    let name = executable.file_name().unwrap_or_default().to_string_lossy();
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => name.to_owned(),
        _ => name.into_owned(),
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
    fn programs_have_the_names_of_their_targets() {
        for (file, name) in
            [("deps/it-e432c9d31b9a4721", "it"), ("my-app", "my-app"), ("a-e432c9d31b9a472x", "a-e432c9d31b9a472x")]
        {
            assert_eq!(name_of(Path::new(file)), name);
        }
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
