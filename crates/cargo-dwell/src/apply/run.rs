//! The order of the steps: report, copy, edit, repair, tests, measurement, and at the end the user's files.

use super::args::Apply;
use super::builds::{self, Build, Features};
use super::cargo::Cargo;
use super::condition::KeepIf;
use super::moves::{self, Move, Saves};
use super::outcomes::Tests;
use super::package::published_library;
use super::proof::{self, Bench, Measured};
use super::repair::{self, Repaired};
use super::tree::{Change, Tree};
use super::unbuilt::{self, Built, Names, Place};
use super::{api, cfg, edit, effects, git, processes, write};
use crate::program::{self, BuildArgs};
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use dwell_output::units;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The commands whose report is made if it is named.
const COMMANDS: [&str; 3] = ["census", "allocs", "layout"];

/// How often a move is tried again without the edits that need a person.
const PARTS: usize = 3;

/// The contents of a file that marks a folder as a cache: <https://bford.info/cachedir/>.
const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n";

/// How a move ended.
enum End {
    /// It holds.
    Holds,
    /// It does not compile; this is left for a person.
    Stuck,
    /// Tests have other outcomes.
    Tests,
    /// Places are named whose effect no test sees.
    Warned,
    /// It does not save what was asked for.
    NoGain,
}

/// A run of the command.
struct Session<'a> {
    args: &'a Apply,
    workspace: Metadata,
    tree: Tree,
    cargo: Cargo<'a>,
    bench: Option<Bench<'a>>,
    tests: Option<Tests>,
    /// The tests that have another outcome in each run.
    flaky: BTreeMap<String, String>,
    measured: Option<Measured>,
    sizes: Option<serde_json::Value>,
}

impl Apply {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if there is nothing to apply, if the tree must not be changed, or if cargo cannot be run.
    pub fn run(&self) -> Result<ExitCode> {
        if self.build.exe.is_some() {
            bail!("--exe: apply changes the source and builds the program itself; name a binary with --bin");
        }
        processes::watch_signals();
        match (run(self), processes::received()) {
            (Err(error), Some(signal)) => {
                eprintln!("error: {error:#}");
                Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)))
            }
            (result, _) => result,
        }
    }
}

fn run(args: &Apply) -> Result<ExitCode> {
    let Some(workspace) = program::workspace(&args.build)? else { return Ok(ExitCode::from(101)) };
    let folder = workspace.target_directory.join("dwell/apply").into_std_path_buf();
    fs::create_dir_all(&folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    // The copy is no source of the workspace: tools that look for sources leave out folders with this file, as those of cargo.
    fs::write(folder.join("CACHEDIR.TAG"), CACHE_TAG)
        .with_context(|| format!("{}: cannot be written", folder.display()))?;
    // The lock ends with this process.
    let _lock = lock(&folder)?;
    let journal = folder.join("journal.json");
    match write::recover(&journal)? {
        0 => {}
        files => eprintln!(
            "note: an interrupted apply had written {}; they are as before it",
            units::plural(files as u64, "file")
        ),
    }
    let from_file = args.from.as_deref().filter(|from| !COMMANDS.contains(from));
    let mut moves = match from_file {
        Some(file) => moves::read(Path::new(file))?,
        None => Vec::new(),
    };
    moves::locate(&mut moves, workspace.workspace_root.as_std_path());
    if args.list && from_file.is_some() {
        return list(&moves);
    }
    check_tree(args, &workspace)?;
    let arguments = arguments(args, from_file);
    let target = folder.join("target");
    let tree = Tree::copy(&workspace, &folder.join("copy"))?;
    let cargo = Cargo {
        root: tree.root.clone(),
        target: target.clone(),
        build: &args.build,
        builds: Vec::new(),
        tested: Vec::new(),
        bound: args.timeout,
    };
    let manifest = manifest(args, &workspace, &tree);
    let bench = Bench {
        manifest,
        build: &args.build,
        arguments: &arguments,
        folder: &folder,
        target: &target,
        bound: args.timeout,
    };
    let wants_census = args.from.as_deref() == Some("census") || args.from.is_none() && !args.args.is_empty();
    let mut session = Session {
        args,
        workspace,
        tree,
        cargo,
        bench: None,
        tests: None,
        flaky: BTreeMap::new(),
        measured: None,
        sizes: None,
    };
    if args.from.as_deref() == Some("allocs") {
        moves::collect(&bench.allocs()?, "", &mut moves);
    } else if from_file.is_none() && wants_census {
        let measured = bench.census("before")?;
        moves::collect(&measured.report, "", &mut moves);
        session.measured = Some(measured);
    } else if from_file.is_none() {
        let report = bench.layout()?;
        moves::collect(&report, "", &mut moves);
        session.sizes = Some(report);
    }
    if args.list {
        return list(&moves);
    }
    let chosen = choose(args, &moves)?;
    let is_measured = !args.no_measure && !args.dry_run;
    session.bench = Some(bench).filter(|_| is_measured);
    session.apply_all(
        &chosen,
        is_measured && (wants_census || from_file.is_some() || args.from.as_deref() == Some("allocs")),
        &journal,
    )
}

impl Session<'_> {
    fn apply_all(&mut self, moves: &[&Move], census: bool, journal: &Path) -> Result<ExitCode> {
        self.check_before(moves)?;
        if !self.args.no_test && !self.args.dry_run {
            self.test_before()?;
        }
        self.measure_before(census);
        let mut kept = 0;
        for of in moves {
            let mark = self.tree.mark();
            let end = match self.apply(of, &mark, kept) {
                // Of several moves, one that cannot be made does not end the others.
                Err(error) if moves.len() > 1 && processes::received().is_none() => {
                    println!("{}: not made: {error:#}", of.location);
                    End::Stuck
                }
                end => end?,
            };
            match end {
                End::Holds => kept += 1,
                End::Stuck if self.args.keep && moves.len() == 1 => kept += 1,
                End::Stuck | End::Tests | End::Warned | End::NoGain => self.tree.restore(&mark)?,
            }
        }
        self.finish(kept, journal)
    }

    /// Checks what compiles before the change, and refuses a package whose library or program does not.
    fn check_before(&mut self, moves: &[&Move]) -> Result<()> {
        let files: Vec<PathBuf> = moves.iter().flat_map(|of| &of.edits).map(|edit| PathBuf::from(&edit.file)).collect();
        let affected = builds::affected(&self.workspace, &files);
        let mut own = Build::new("", Features::Given);
        let (checked, failed) = self.cargo.check_build(&own)?;
        let original = self.workspace.workspace_root.as_std_path();
        let is_whole =
            files.iter().filter_map(|file| super::package::package_of(&self.workspace, file)).all(|package| {
                let below =
                    package.manifest_path.as_std_path().strip_prefix(original).unwrap_or(Path::new("Cargo.toml"));
                let mut targets = package.targets.iter();
                targets.all(|target| {
                    let is_needed = builds::is_main(&target.kind) && target.required_features.is_empty();
                    !is_needed || checked.has(&self.tree.root.join(below), &target.name)
                })
            });
        let first = checked.errors.first().map(|(_, error)| {
            let at = error.spans.first().map(|span| format!("{}:{}: ", span.file_name, span.line_start));
            format!("{}{}", at.unwrap_or_default(), error.message)
        });
        match (first, failed) {
            (Some(first), _) if !is_whole => bail!("the workspace does not compile before the change: {first}"),
            (None, Some(failed)) => bail!("the workspace does not compile before the change: {failed}"),
            (Some(first), _) => println!("does not compile before the change, and is not looked at: {first}"),
            (None, None) => {}
        }
        own.before = checked;
        let mut all = vec![own];
        let given = |package: &cargo_metadata::Package| given_features(&self.args.build, package);
        let (sets, left) = builds::of_features(&affected, &given);
        let mut others: Vec<Build> = sets.into_iter().map(|set| Build::new("", set)).collect();
        others.extend(
            builds::excluded(&self.tree, &self.workspace).into_iter().map(|of| Build::new(of, Features::Given)),
        );
        for build in others {
            self.add_build(build, &mut all)?;
        }
        for set in &self.args.features_set {
            let build = Build::new("", Features::Only(set.clone()));
            let name = build.name();
            if !self.add_build(build, &mut all)? {
                bail!("the workspace does not compile with {name} before the change");
            }
        }
        for features in builds::required(&affected, &self.tree.root, original, &all) {
            self.add_build(Build::new("", features), &mut all)?;
        }
        let names: Vec<String> = all.iter().skip(1).map(Build::name).collect();
        if !names.is_empty() {
            let more = if left == 0 { String::new() } else { format!("; {left} more features are not checked alone") };
            println!("also checked: {}{more}", names.join(", "));
        }
        if self.args.build.package.is_some() {
            self.cargo.tested = affected.iter().map(|package| package.name.to_string()).collect();
        }
        self.cargo.builds = all;
        Ok(())
    }

    /// Adds a build with what it compiles now. Returns `false` if that is nothing.
    fn add_build(&self, mut build: Build, to: &mut Vec<Build>) -> Result<bool> {
        let (checked, _) = self.cargo.check_build(&build)?;
        let is_some = !checked.units.is_empty();
        if is_some {
            build.before = checked;
            to.push(build);
        } else {
            println!("does not compile before the change, and is not looked at: {}", build.name());
        }
        Ok(is_some)
    }

    /// Runs the tests twice: one that has two outcomes without a change tells nothing about one.
    fn test_before(&mut self) -> Result<()> {
        let command = self.args.test_command.as_deref();
        let mut tests = self.cargo.test(command)?;
        if !tests.success && tests.outcomes.is_empty() {
            bail!("the tests fail before the change, and none has an outcome; --no-test leaves them out");
        }
        self.flaky = tests.differ(&self.cargo.test(command)?);
        if !self.flaky.is_empty() {
            let names: Vec<&str> = self.flaky.values().map(String::as_str).collect();
            println!("not compared, as it differs between two runs before the change: {}", names.join(", "));
            tests.without(&self.flaky);
            tests.success = true;
        }
        self.tests = Some(tests);
        Ok(())
    }

    /// Runs the tests, and compares their outcomes with those before. Returns `false` if some differ in two runs.
    fn test_after(&self, before: &Tests) -> Result<bool> {
        let run = || -> Result<Tests> {
            let mut tests = self.cargo.test(self.args.test_command.as_deref())?;
            if !self.flaky.is_empty() {
                tests.without(&self.flaky);
                tests.success = true;
            }
            Ok(tests)
        };
        let mut differ = before.differ(&run()?);
        if !differ.is_empty() {
            // A test that depends on time may fail once.
            let again = before.differ(&run()?);
            let once: Vec<String> =
                differ.iter().filter(|(name, _)| !again.contains_key(*name)).map(|(_, of)| of.clone()).collect();
            differ.retain(|name, _| again.contains_key(name));
            if !once.is_empty() && differ.is_empty() {
                println!("  note: in one of two runs {}", once.join(", "));
            }
        }
        if !differ.is_empty() {
            let all: Vec<&str> = differ.values().map(String::as_str).collect();
            println!("  tests: not as before: {}", all.join(", "));
            return Ok(false);
        }
        let failed = match before.count("FAILED") {
            0 => String::new(),
            failed => format!(", {failed} failed, as before"),
        };
        let ignored = match before.count("ignored") {
            0 => String::new(),
            ignored => format!(", {ignored} ignored and not run"),
        };
        println!("  tests: {} passed{failed}{ignored}", before.count("ok"));
        Ok(true)
    }

    /// Returns what becomes another type for users of libraries that can be published, since the files had the texts of `mark`.
    fn breaking(&self, mark: &[Change]) -> Vec<String> {
        let changes = self.tree.changes();
        let files: Vec<PathBuf> = changes.iter().map(|change| change.file.clone()).collect();
        let before = |file: &Path| {
            let marked = mark.iter().find(|change| change.file == file);
            marked.map(|change| change.after.clone()).or_else(|| self.tree.read_before(file))
        };
        let mut all = Vec::new();
        for package in builds::affected(&self.workspace, &files) {
            if let Some(root) = published_library(&self.workspace, package) {
                all.extend(api::changed(&api::of(&root, &before), &api::of(&root, &|file| self.tree.read(file))));
            }
        }
        all
    }

    /// Refuses a change of files that must stay, or of what users of a library see.
    fn check_change(&self, mark: &[Change]) -> Result<()> {
        self.tree.check_changes()?;
        if self.args.breaking {
            return Ok(());
        }
        match &self.breaking(mark)[..] {
            [] => Ok(()),
            [one] => bail!("{one} is public: the change is breaking for users of the crate; --breaking makes it"),
            [one, more @ ..] => bail!(
                "{one} and {} more are public: the change is breaking for users of the crate; --breaking makes it",
                more.len()
            ),
        }
    }

    /// Returns the places that a person has to look at, since neither the compiler nor the tests do.
    fn places(&self, made: &edit::Made, mark: &[Change]) -> Vec<Place> {
        let changes = self.tree.changes();
        let files: Vec<PathBuf> = changes.iter().map(|change| change.file.clone()).collect();
        let affected = builds::affected(&self.workspace, &files);
        let mut names = Names::default();
        made.changed.iter().for_each(|of| names.add(&of.item));
        for change in &changes {
            let marked = mark.iter().find(|of| of.file == change.file);
            let before = marked.map_or(&change.before, |of| &of.after);
            names.functions.extend(api::changed_functions(before, &change.after));
        }
        let own = self.args.test_command.is_some();
        let has_documents = |tests: &Tests| !own || tests.outcomes.keys().any(|(name, _)| name.contains(".rs - "));
        let built = Built {
            builds: &self.cargo.builds,
            base: cfg::of_target(self.args.build.target.as_deref()),
            tested: self.tests.as_ref().is_some_and(has_documents),
        };
        let mut all = unbuilt::find(&self.tree, &built, &names);
        let root = &self.workspace.workspace_root;
        let folders = affected.iter().filter_map(|package| package.manifest_path.parent()?.strip_prefix(root).ok());
        let is_main =
            |file: &PathBuf| !file.iter().any(|part| ["tests", "benches", "examples"].iter().any(|of| part == *of));
        let sources: BTreeSet<PathBuf> =
            folders.flat_map(|folder| self.tree.sources(folder.as_std_path())).filter(is_main).collect();
        let is_published = affected.iter().any(|package| published_library(&self.workspace, package).is_some());
        all.extend(effects::find(&self.tree, &sources.into_iter().collect::<Vec<_>>(), &made.changed, is_published));
        all
    }

    /// Measures the program before the change. What cannot be measured is said once, and left out.
    fn measure_before(&mut self, census: bool) {
        let Some(bench) = &self.bench else { return };
        if census && self.measured.is_none() {
            match bench.census("before") {
                Ok(measured) => self.measured = Some(measured),
                Err(error) => println!("  not measured: {error:#}"),
            }
        }
        if self.sizes.is_none() {
            self.sizes = bench.layout().ok();
        }
    }

    /// Makes a move in the copy, whose files have the texts of `mark` before it.
    fn apply(&mut self, of: &Move, mark: &[Change], kept: usize) -> Result<End> {
        let mut made = edit::make(&mut self.tree, &self.workspace, self.args, of)?;
        self.check_change(mark)?;
        println!("{}: {}", of.location, of.how);
        let is_terminal = io::stderr().is_terminal();
        let tell = |round, errors| {
            if is_terminal {
                eprint!("\r  cargo check, round {round}: {errors} errors \x1b[K");
            }
        };
        let mut repaired = repair::repair(&mut self.tree, &self.cargo, &made.becomes, tell)?;
        let mut part = of.clone();
        for _ in 0..PARTS {
            // Uses of some of the fields need a person: the others are changed without them.
            let Some(less) = part.without(|edit| repaired.left.iter().any(|left| left.is_about(&edit.item))) else {
                break;
            };
            part = less;
            self.tree.restore(mark)?;
            made = edit::make(&mut self.tree, &self.workspace, self.args, &part)?;
            repaired = repair::repair(&mut self.tree, &self.cargo, &made.becomes, tell)?;
        }
        if is_terminal {
            eprint!("\r\x1b[K");
        }
        if part.edits.len() < of.edits.len() && repaired.left.is_empty() {
            let left = of.edits.iter().filter(|edit| !part.edits.contains(edit)).map(|edit| edit.item.as_str());
            println!(
                "  {} of {} edits; left to a person: {}",
                part.edits.len(),
                of.edits.len(),
                left.collect::<Vec<_>>().join(", ")
            );
        }
        print_repaired(&repaired);
        if !repaired.left.is_empty() {
            return Ok(End::Stuck);
        }
        self.check_change(mark)?;
        if self.args.breaking {
            for name in self.breaking(mark) {
                println!("  breaking for users of the crate: {name}");
            }
        }
        let places = self.places(&made, mark);
        for Place { file, line, why } in &places {
            println!("  warning: {}:{line}: {why}", file.display());
        }
        if !places.is_empty() && !self.args.accept && !self.args.dry_run {
            println!("  not kept: look at {}; --accept makes the change", units::plural(places.len() as u64, "place"));
            return Ok(End::Warned);
        }
        if self.args.dry_run {
            return Ok(End::Holds);
        }
        if let Some(before) = &self.tests
            && !self.test_after(before)?
        {
            return Ok(End::Tests);
        }
        self.measure_after(of, mark, kept)
    }

    fn measure_after(&mut self, of: &Move, mark: &[Change], kept: usize) -> Result<End> {
        let Some(bench) = &self.bench else { return Ok(End::Holds) };
        if let Some(before) = &self.sizes {
            let after = bench.layout()?;
            let resized = proof::resized(before, &after);
            let shown: Vec<String> =
                resized.iter().take(4).map(|(name, before, after)| format!("{name} {before} to {after}")).collect();
            if !shown.is_empty() {
                let more = if resized.len() > 4 { format!(" and {} more", resized.len() - 4) } else { String::new() };
                println!("  sizes in bytes: {}{more}", shown.join(", "));
            }
            self.sizes = Some(after);
        }
        let Some(before) = &self.measured else {
            if self.args.keep_if.is_some() {
                println!("  --keep-if: nothing was measured; name the program's arguments after --");
                return Ok(End::NoGain);
            }
            return Ok(End::Holds);
        };
        let after = bench.census("after")?;
        let saved = i128::from(before.live_bytes) - i128::from(after.live_bytes);
        let words = if saved >= 0 { "saved" } else { "more" };
        let amount = u64::try_from(saved.abs()).unwrap_or(u64::MAX);
        println!(
            "  live bytes at the peak: {} to {}: {} {words}, {}{}",
            units::bytes(before.live_bytes),
            units::bytes(after.live_bytes),
            units::bytes(amount),
            units::percent(amount, before.live_bytes),
            of.predicts(kept).map(|bytes| format!("; {bytes} were predicted")).unwrap_or_default(),
        );
        println!("  live blocks then: {} to {}", units::count(before.live_blocks), units::count(after.live_blocks));
        let times = bench.times(&before.executable, &after.executable)?;
        let is_of_time = matches!(of.saves, Saves::Nanos(_));
        if let [least, .., most] | [least @ most] = &times[..] {
            let predicted = if is_of_time { format!("; {} less was predicted", of.expects()) } else { String::new() };
            println!("  CPU time: {least:.2} to {most:.2} of before{predicted}");
        }
        if let Some(text) = proof::resized_file(&before.executable, &after.executable) {
            println!("  executable: {text}");
        }
        if let Some((least, most)) = proof::build_times(&mut self.tree, &self.cargo, mark)? {
            println!("  build time: {least:.2} to {most:.2} of before");
        }
        let is_faster = times.get(times.len() / 2).is_some_and(|median| *median < 0.99);
        let holds = match self.args.keep_if {
            Some(KeepIf::Percent(percent)) => saved as f64 >= before.live_bytes as f64 * percent / 100.0,
            Some(KeepIf::Bytes(bytes)) => saved >= i128::from(bytes),
            // One of many has to pay for itself.
            None if self.args.all && is_of_time => is_faster,
            None if self.args.all => saved > 0,
            // Capacity that comes back later was given back at the wrong place.
            None if of.kind == "shrink" => saved > 0 || self.args.keep,
            None => true,
        };
        if !holds {
            println!("  not kept: it does not save enough");
            return Ok(End::NoGain);
        }
        let executable = before.executable.clone();
        fs::rename(&after.executable, &executable)
            .with_context(|| format!("{}: cannot be written", executable.display()))?;
        self.measured = Some(Measured { executable, ..after });
        Ok(End::Holds)
    }

    /// Writes the user's files.
    fn finish(&self, kept: usize, journal: &Path) -> Result<ExitCode> {
        let changes = self.tree.changes();
        if kept == 0 || changes.is_empty() {
            println!("nothing was changed");
            return Ok(ExitCode::from(1));
        }
        let files = units::plural(changes.len() as u64, "file");
        if self.args.dry_run {
            for change in &changes {
                print!("{}", change.diff());
            }
        } else if let Some(patch) = &self.args.patch {
            let text: String = changes.iter().map(Change::diff).collect();
            crate::report::saved::write(patch, |out| out.write_all(text.as_bytes()))?;
            println!("written: {}, a patch of {files}", patch.display());
        } else {
            write::write(self.workspace.workspace_root.as_std_path(), &changes, journal)?;
            println!("written: {files}; `git diff` shows the change");
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print_repaired(repaired: &Repaired) {
    let count: usize = repaired.by.values().sum();
    let by =
        |name: &str, count: usize| format!("{count} by {}", if name == "rustc" { "rustc's suggestions" } else { name });
    let by: Vec<String> = repaired.by.iter().map(|(name, count)| by(name, *count)).collect();
    let rounds = units::plural(repaired.rounds as u64, "round");
    if repaired.left.is_empty() {
        match count {
            0 => println!("  compiles: no other line changes"),
            _ => println!("  compiles after {rounds}: {}", by.join(", ")),
        }
    } else {
        println!("  does not compile after {rounds}; left for a person:");
        for left in repaired.left.iter().take(20) {
            println!("    {}: {}\n      {}", left.at, left.source, left.message);
        }
        if repaired.left.len() > 20 {
            println!("    and {} more", repaired.left.len() - 20);
        }
    }
    for file in &repaired.clones {
        println!("  note: {file}: rustc's suggestion adds a clone, which may allocate");
    }
}

/// Returns the moves to make.
fn choose<'a>(args: &Apply, moves: &'a [Move]) -> Result<Vec<&'a Move>> {
    let able: Vec<&Move> = moves.iter().filter(|of| of.refusal().is_none()).collect();
    if args.finding.is_empty() {
        let Some(first) = able.first() else {
            let why = moves.iter().find_map(Move::refusal);
            bail!("no finding can be applied{}", why.map(|why| format!(": {why}")).unwrap_or_default());
        };
        if args.all {
            return Ok(able);
        }
        return Ok(if io::stdin().is_terminal() && io::stdout().is_terminal() {
            vec![ask(moves)?]
        } else {
            vec![first]
        });
    }
    args.finding.iter().map(|name| named(moves, name)).collect()
}

fn named<'a>(moves: &'a [Move], name: &str) -> Result<&'a Move> {
    let found = match name.parse::<usize>() {
        Ok(number) => number.checked_sub(1).and_then(|index| moves.get(index)).with_context(|| {
            format!("there is no finding {number}; the report has {}, and --list lists them", moves.len())
        })?,
        Err(_) => moves
            .iter()
            .filter(|of| of.is_named(name))
            .min_by_key(|of| of.refusal().is_some())
            .with_context(|| format!("no finding is about {name}; --list lists them"))?,
    };
    match found.refusal() {
        Some(refusal) => bail!("{refusal}"),
        None => Ok(found),
    }
}

fn ask(moves: &[Move]) -> Result<&Move> {
    list(moves)?;
    print!("apply which? ");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    named(moves, line.trim())
}

/// Lists the findings with their numbers.
fn list(moves: &[Move]) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for (index, of) in moves.iter().enumerate() {
        let saves = of.expects();
        match of.refusal() {
            None => writeln!(out, "{:3}  {saves:>10}  {}: {}", index + 1, of.location, of.how)?,
            Some(refusal) => writeln!(out, "  -  {saves:>10}  {refusal}")?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses a tree that cannot be restored.
fn check_tree(args: &Apply, workspace: &Metadata) -> Result<()> {
    if args.dry_run || args.patch.is_some() {
        return Ok(());
    }
    let root = workspace.workspace_root.as_std_path();
    match git::is_dirty(root) {
        None if !args.allow_no_vcs => {
            bail!(
                "{}: is not in a git repository, so a change cannot be undone; --allow-no-vcs allows it",
                root.display()
            )
        }
        Some(true) if !args.allow_dirty => {
            bail!("{}: has uncommitted changes; commit them, or allow it with --allow-dirty", root.display())
        }
        _ => Ok(()),
    }
}

/// Returns the program's arguments: those given, or those of the saved census.
fn arguments(args: &Apply, from_file: Option<&str>) -> Vec<OsString> {
    if !args.args.is_empty() {
        return args.args.clone();
    }
    let saved = || {
        let text = fs::read(from_file?).ok()?;
        let value: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let arguments = value.pointer("/program/arguments")?.as_array()?.clone();
        Some(arguments.iter().filter_map(|argument| Some(OsString::from(argument.as_str()?))).collect())
    };
    saved().unwrap_or_default()
}

/// Returns the manifest in the copy that stands for the user's.
fn manifest(args: &Apply, workspace: &Metadata, tree: &Tree) -> PathBuf {
    let given = args.build.manifest_path.clone().or_else(program::manifest_above);
    let root = workspace.workspace_root.as_std_path();
    let below =
        given.and_then(|path| Some(path.canonicalize().ok()?.strip_prefix(root.canonicalize().ok()?).ok()?.to_owned()));
    tree.root.join(below.unwrap_or_else(|| "Cargo.toml".into()))
}

/// Returns the features of a package that the user's flags activate.
fn given_features(build: &BuildArgs, package: &cargo_metadata::Package) -> Vec<String> {
    if build.all_features {
        return package.features.keys().cloned().collect();
    }
    let names = build.features.iter().flat_map(|list| list.split([' ', ',']));
    let own = names.filter_map(|name| match name.split_once('/') {
        Some((of, name)) => (*package.name == *of).then_some(name),
        None => Some(name),
    });
    let default = if build.no_default_features { None } else { Some("default") };
    own.chain(default).filter(|name| package.features.contains_key(*name)).map(str::to_owned).collect()
}

/// Locks the folder for this process.
fn lock(folder: &Path) -> Result<fs::File> {
    let path = folder.join("lock");
    let file = fs::File::create(&path).with_context(|| format!("{}: cannot be written", path.display()))?;
    // SAFETY: `flock` reads no memory, and `file` keeps the descriptor open.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
        bail!("another cargo dwell apply works in this workspace; wait until it ends");
    }
    Ok(file)
}

/// The result of a move that was tried in a copy, for the mutation test.
#[derive(Clone, Debug, Default)]
pub struct Trial {
    /// Whether all targets compile.
    pub compiles: bool,
    /// The number of rounds of `cargo check`.
    pub rounds: usize,
    /// The number of repairs by rule.
    pub repairs: Vec<(String, usize)>,
    /// What is left: place, source, message.
    pub left: Vec<(String, String, String)>,
    /// The change as a diff.
    pub diff: String,
}

/// Boxes a field or variant in a copy of a workspace, and repairs its uses. Nothing is written to the workspace.
///
/// # Errors
/// Returns an error if the workspace cannot be copied or checked, or if the edit cannot be made.
pub fn trial(manifest: &Path, edit: &dwell_source::Edit, target: &Path) -> Result<Trial> {
    let build = BuildArgs { manifest_path: Some(manifest.to_owned()), ..BuildArgs::default() };
    let args = Apply {
        finding: Vec::new(),
        from: None,
        all: false,
        list: false,
        dry_run: true,
        patch: None,
        keep_if: None,
        keep: false,
        no_test: true,
        test_command: None,
        no_measure: true,
        features_set: Vec::new(),
        dwell: None,
        breaking: true,
        accept: true,
        allow_dirty: true,
        allow_no_vcs: true,
        timeout: Duration::from_secs(1800),
        build,
        args: Vec::new(),
    };
    let Some(workspace) = program::workspace(&args.build)? else {
        bail!("{}: cargo cannot read it", manifest.display())
    };
    let tree = Tree::copy(&workspace, &target.join("copy"))?;
    let cargo = Cargo {
        root: tree.root.clone(),
        target: target.join("target"),
        build: &args.build,
        builds: Vec::new(),
        tested: Vec::new(),
        bound: args.timeout,
    };
    let mut session = Session {
        args: &args,
        workspace,
        tree,
        cargo,
        bench: None,
        tests: None,
        flaky: BTreeMap::new(),
        measured: None,
        sizes: None,
    };
    let of = Move { edits: vec![edit.clone()], ..Move::default() };
    session.check_before(&[&of])?;
    let made = edit::make(&mut session.tree, &session.workspace, &args, &of)?;
    let repaired = repair::repair(&mut session.tree, &session.cargo, &made.becomes, |_, _| ())?;
    Ok(Trial {
        compiles: repaired.left.is_empty(),
        rounds: repaired.rounds,
        repairs: repaired.by.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
        left: repaired.left.into_iter().map(|left| (left.at, left.source, left.message)).collect(),
        diff: session.tree.changes().iter().map(Change::diff).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_chosen_by_number_and_name() {
        let edit =
            dwell_source::Edit { item: "A.b".into(), from: "B".into(), to: "Box<B>".into(), ..Default::default() };
        let able = Move { location: "m::A.b".into(), edits: vec![edit], ..Move::default() };
        let unable = Move { location: "C.d".into(), dependency: Some("hyper".into()), ..Move::default() };
        let moves = [able, unable];
        assert_eq!(named(&moves, "1").unwrap().location, "m::A.b");
        assert_eq!(named(&moves, "A.b").unwrap().location, "m::A.b");
        for (name, wrong) in [("2", "hyper"), ("0", "no finding 0"), ("3", "no finding 3"), ("X.y", "about X.y")] {
            assert!(named(&moves, name).unwrap_err().to_string().contains(wrong), "{name}");
        }
    }
}
