//! The order of the steps: report, copy, edit, repair, tests, measurement, and at the end the user's files.

use super::args::Apply;
use super::condition::KeepIf;
use super::folder::{JOURNAL, folder, manifest};
use super::moves::{self, Move, Saves};
use super::patched::Patched;
use super::proof::{self, Bench};
use super::repair::{self, Repaired};
use super::session::Session;
use super::tree::{Change, Tree};
use super::unbuilt::Place;
use super::{edit, format, git, imports, variants, write};
use crate::processes;
use crate::program::{self, BuildArgs};
use anyhow::{Context, Result, bail};
use cargo_metadata::Metadata;
use dwell_output::units;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::ExitCode;

/// The commands whose report is made if it is named.
const COMMANDS: [&str; 3] = ["census", "allocs", "layout"];

/// The number of findings that changes may add to those of the report.
const RENEWED: usize = 10;

/// How often a move is tried again without the edits that need a person.
const PARTS: usize = 3;

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

impl Apply {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if there is nothing to apply, if the tree must not be changed, or if cargo cannot be run.
    pub fn run(&self) -> Result<ExitCode> {
        if self.build.exe.is_some() {
            bail!("--exe: apply changes the source and builds the program itself; name a binary with --bin");
        }
        processes::ended_by_signals(|| {
            let Some(name) = &self.patched else { return run(self) };
            let Some((patched, build)) = Patched::new(name, &self.build)? else { return Ok(ExitCode::from(101)) };
            // The copy is not the user's tree.
            let code = run(&Self { build, allow_dirty: true, allow_no_vcs: true, ..self.clone() })?;
            if code == ExitCode::SUCCESS && !self.list && !self.dry_run && self.patch.is_none() {
                println!("these lines of Cargo.toml use the changed source of {}:\n{}", patched.package, patched.lines);
            }
            Ok(code)
        })
    }
}

fn run(args: &Apply) -> Result<ExitCode> {
    let Some(workspace) = program::workspace(&args.build)? else { return Ok(ExitCode::from(101)) };
    let (folder, _lock) = folder(&workspace)?;
    let journal = folder.join(JOURNAL);
    let from_file = args.from.as_deref().filter(|from| !COMMANDS.contains(from));
    let report = from_file.map(|file| moves::read(Path::new(file))).transpose()?;
    let mut moves = Vec::new();
    if let Some(report) = &report {
        moves::collect(report, "", &mut moves);
    }
    moves::locate(&mut moves, workspace.workspace_root.as_std_path());
    variants::locate(&mut moves, workspace.workspace_root.as_std_path());
    if args.list && from_file.is_some() {
        return list(&moves);
    }
    check_tree(args, &workspace)?;
    let arguments = arguments(args, report.as_ref());
    let build = report.as_ref().map_or_else(|| args.build.clone(), |saved| of_report(&args.build, saved, &workspace));
    let target = folder.join("target");
    let tree = Tree::copy(&workspace, &folder.join("copy"))?;
    let manifest = manifest(&args.build, &workspace, &tree);
    let bench = Bench {
        manifest,
        build: &build,
        arguments: &arguments,
        folder: &folder,
        target: &target,
        bound: args.timeout,
        driver: None,
    };
    let wants_census = args.from.as_deref() == Some("census") || args.from.is_none() && !args.args.is_empty();
    let mut session = Session::new(args, workspace, tree, target.clone());
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
    variants::locate(&mut moves, session.workspace.workspace_root.as_std_path());
    if args.list {
        return list(&moves);
    }
    let chosen = choose(args, &moves)?;
    let is_measured = !args.no_measure && !args.dry_run;
    session.bench = Some(bench).filter(|_| is_measured);
    // Only a census is made again after each change.
    let is_renewed = args.all && report.as_ref().map_or(wants_census, |report| report.get("snapshots").is_some());
    session.apply_all(
        chosen.into_iter().cloned().collect(),
        is_renewed,
        is_measured && (wants_census || from_file.is_some() || args.from.as_deref() == Some("allocs")),
        &journal,
    )
}

impl Session<'_> {
    fn apply_all(&mut self, moves: Vec<Move>, is_renewed: bool, census: bool, journal: &Path) -> Result<ExitCode> {
        let files = moves::files(&moves);
        self.check_before(&files)?;
        self.lint_before(&files)?;
        if !self.args.no_test && !self.args.dry_run {
            self.test_before()?;
        }
        self.measure_before(census);
        if moves.iter().any(Move::is_of_future) {
            self.futures = self.bench.as_ref().and_then(|bench| bench.futures().ok());
        }
        let (count, mut kept, mut already) = (moves.len(), 0, 0);
        // What was tried, and whether it saved too little.
        let mut tried: Vec<(Move, bool)> = Vec::new();
        let mut queue = VecDeque::from(moves);
        while let Some(next) = queue.pop_front() {
            let mark = self.tree.mark();
            let end = match self.apply(&next, &mark, kept + already) {
                // With --dry-run nothing is kept.
                Err(error) if processes::received().is_some() && kept > 0 && !self.args.dry_run => {
                    return Err(error.context(format!("{} kept before it", units::plural(kept as u64, "change"))));
                }
                // Of several moves, one that cannot be made does not end the others.
                Err(error) if count > 1 && processes::received().is_none() => {
                    // What an earlier run kept.
                    already += usize::from(error.to_string().ends_with(" already"));
                    println!("{}: not made: {error:#}", next.location);
                    End::Stuck
                }
                end => end?,
            };
            tried.push((next, matches!(end, End::NoGain)));
            match end {
                End::Holds => kept += 1,
                End::Stuck if self.args.keep && count == 1 => kept += 1,
                End::Stuck | End::Tests | End::Warned | End::NoGain => {
                    self.tree.restore(&mark)?;
                    continue;
                }
            }
            self.save(journal)?;
            if let Some(measured) = self.measured.as_ref().filter(|_| is_renewed) {
                // The places, the sizes and the types are those after the change.
                let mut renewed = Vec::new();
                moves::collect(&measured.report, "", &mut renewed);
                variants::locate(&mut renewed, &self.tree.root);
                // Another change may have made it larger.
                let is_done = |(old, is_small): &(Move, bool), change: &Move| {
                    old.proposes(change) && !(*is_small && change.saves_more_than(old))
                };
                let is_open =
                    |change: &Move| change.refusal().is_none() && !tried.iter().any(|old| is_done(old, change));
                renewed.retain(is_open);
                // A finding that the new report has not stays as it was.
                for queued in &mut queue {
                    if let Some(index) = renewed.iter().position(|new| new.is_for_same(queued)) {
                        *queued = renewed.remove(index);
                    }
                }
                renewed.truncate((count + RENEWED).saturating_sub(tried.len() + queue.len()));
                queue.extend(renewed);
            }
        }
        Ok(self.finish(kept))
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
    fn apply(&mut self, change: &Move, mark: &[Change], kept: usize) -> Result<End> {
        println!("{}: {}", change.location, change.how);
        let (part, made, repaired) = self.make(change, mark)?;
        if change.of_whole_variants {
            let items: Vec<&str> = part.edits.iter().map(|edit| edit.item.as_str()).collect();
            println!("  boxed, of fields larger than a text: {}", items.join(", "));
        } else if part.edits.len() < change.edits.len() && repaired.left.is_empty() {
            let left = change.edits.iter().filter(|edit| !part.edits.contains(edit)).map(|edit| edit.item.as_str());
            println!(
                "  {} of {} edits; left to a person: {}",
                part.edits.len(),
                change.edits.len(),
                left.collect::<Vec<_>>().join(", ")
            );
        }
        print_repaired(&repaired);
        if !repaired.left.is_empty() {
            return Ok(End::Stuck);
        }
        self.repair_documents(&made)?;
        self.tidy()?;
        let warnings = self.lint_after()?.unwrap_or(repaired.new_warnings);
        self.check_change(mark)?;
        if made.becomes.has_other_traits() && !self.args.breaking {
            let lost = self.lost_traits(mark)?;
            if !lost.is_empty() {
                bail!(
                    "{} would be lost, which is breaking for users of the crate; --breaking makes it",
                    lost.join(", ")
                );
            }
        }
        if self.args.breaking {
            for name in self.breaking(mark) {
                println!("  breaking for users of the crate: {name}");
            }
        }
        for warning in &warnings {
            println!("  note: new warning: {warning}");
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
        if let Some(before) = &self.tests {
            let compared = self.test_after(before)?;
            println!("  tests: {}", compared.as_ref().unwrap_or_else(|differ| differ));
            if compared.is_err() {
                return Ok(End::Tests);
            }
        }
        self.measure_after(change, mark, kept)
    }

    /// Makes a move, or the part of it that compiles, and repairs the uses.
    pub(super) fn make(&mut self, change: &Move, mark: &[Change]) -> Result<(Move, edit::Made, Repaired)> {
        let is_terminal = io::stderr().is_terminal();
        let tell = |round, errors| {
            if is_terminal {
                eprint!("\r  cargo check, round {round}: {errors} errors \x1b[K");
            }
        };
        let wanted = &self.large(change)?;
        let mut made = self.edit(wanted)?;
        self.check_change(mark)?;
        let mut repaired = repair::repair(&mut self.tree, &self.cargo, (&made.becomes, &made.names()), tell)?;
        let mut part = wanted.clone();
        for _ in 0..PARTS {
            // Uses of some of the fields need a person: the others are changed without them.
            let Some(less) = part.without(|edit| repaired.left.iter().any(|left| left.is_about(&edit.item))) else {
                break;
            };
            part = less;
            self.tree.restore(mark)?;
            made = self.edit(&part)?;
            repaired = repair::repair(&mut self.tree, &self.cargo, (&made.becomes, &made.names()), tell)?;
        }
        if !repaired.left.is_empty() && wanted.edits.len() > 1 {
            // One by one, each with those before it that compile.
            let mut kept: Option<Move> = None;
            for edit in &wanted.edits {
                let mut more = kept.clone().unwrap_or_else(|| Move { edits: Vec::new(), ..wanted.clone() });
                more.edits.push(edit.clone());
                self.tree.restore(mark)?;
                let Ok(some) = self.edit(&more) else { continue };
                if repair::repair(&mut self.tree, &self.cargo, (&some.becomes, &some.names()), tell)?.left.is_empty() {
                    kept = Some(more);
                }
            }
            if let Some(less) = kept {
                self.tree.restore(mark)?;
                made = self.edit(&less)?;
                repaired = repair::repair(&mut self.tree, &self.cargo, (&made.becomes, &made.names()), tell)?;
                part = less;
            }
        }
        if is_terminal {
            eprint!("\r\x1b[K");
        }
        Ok((part, made, repaired))
    }

    /// Imports what the changed files name often, and formats those that were formatted.
    pub(super) fn tidy(&mut self) -> Result<()> {
        let mark = self.tree.mark();
        let mut is_imported = false;
        for change in self.tree.changes() {
            if let Some(imported) = imports::added(&change.before, &change.after) {
                self.tree.write(&change.file, &imported)?;
                is_imported = true;
            }
        }
        // A feature may decide whether there is an `alloc`.
        if is_imported && !self.cargo.check()?.errors.is_empty() {
            self.tree.restore(&mark)?;
        }
        self.tree.changes().iter().try_for_each(|change| format::restore(&mut self.tree, change))
    }

    fn measure_after(&mut self, change: &Move, mark: &[Change], kept: usize) -> Result<End> {
        let Some(bench) = &self.bench else { return Ok(End::Holds) };
        let mut sizes = None;
        if let Some(before) = &self.sizes {
            let after = bench.layout()?;
            let resized = proof::resized(before, &after);
            let shown: Vec<String> =
                resized.iter().take(4).map(|(name, before, after)| format!("{name} {before} to {after}")).collect();
            if !shown.is_empty() {
                let more = if resized.len() > 4 { format!(" and {} more", resized.len() - 4) } else { String::new() };
                println!("  sizes in bytes: {}{more}", shown.join(", "));
            }
            sizes = Some(after);
        }
        let end = self.measure_program(change, mark, kept)?;
        if matches!(end, End::Holds) && sizes.is_some() {
            // Those of a change that is not kept are not those of the source.
            self.sizes = sizes;
        }
        Ok(end)
    }

    fn measure_program(&mut self, change: &Move, mark: &[Change], kept: usize) -> Result<End> {
        let Some(bench) = &self.bench else { return Ok(End::Holds) };
        if change.is_of_future() {
            return self.measure_futures();
        }
        let Some(before) = &self.measured else {
            if self.args.keep_if.is_some() {
                println!("  --keep-if: nothing was measured; name the program's arguments after --");
                return Ok(End::NoGain);
            }
            return Ok(End::Holds);
        };
        let after = bench.census("after")?;
        let mut saved = i128::from(before.live_bytes) - i128::from(after.live_bytes);
        let words = if saved >= 0 { "saved" } else { "more" };
        let amount = u64::try_from(saved.abs()).unwrap_or(u64::MAX);
        println!(
            "  live bytes at the peak: {} to {}: {} {words}, {}{}",
            units::bytes(before.live_bytes),
            units::bytes(after.live_bytes),
            units::bytes(amount),
            units::percent(amount, before.live_bytes),
            change.predicts(kept).map(|bytes| format!("; {bytes} were predicted")).unwrap_or_default(),
        );
        println!("  live blocks then: {} to {}", units::count(before.live_blocks), units::count(after.live_blocks));
        let times = proof::ratios(&bench.pairs(&before.executable, &after.executable)?);
        let is_of_time = matches!(change.saves, Saves::Nanos(_));
        if let [least, .., most] | [least @ most] = &times[..] {
            let predicted =
                if is_of_time { format!("; {} less was predicted", change.expects()) } else { String::new() };
            println!("  CPU time: {least:.2} to {most:.2} of before{predicted}");
        }
        if let Some(text) = proof::resized_file(&before.executable, &after.executable) {
            println!("  executable: {text}");
        }
        if let Some((least, most)) = proof::build_times(&mut self.tree, &self.cargo, mark)? {
            println!("  build time: {least:.2} to {most:.2} of before");
        }
        if self.args.all && saved > 0 && saved * 200 < i128::from(before.live_bytes) {
            // So little may be what two equal runs differ in.
            let again = bench.census("again")?;
            let noise = i128::from(after.live_bytes.abs_diff(again.live_bytes));
            saved = (saved - noise).max(0);
        }
        let is_faster = times.get(times.len() / 2).is_some_and(|median| *median < 0.99);
        let holds = match self.args.keep_if {
            Some(KeepIf::Percent(percent)) => saved as f64 >= before.live_bytes as f64 * percent / 100.0,
            Some(KeepIf::Bytes(bytes)) => saved >= i128::from(bytes),
            // One of many has to pay for itself.
            None if self.args.all && is_of_time => is_faster,
            None if self.args.all => saved > 0,
            // Capacity that comes back later was given back at the wrong place.
            // Equal values that are no clones share nothing.
            None if ["shrink", "intern", "duplicate"].contains(&&*change.kind) => saved > 0 || self.args.keep,
            None => true,
        };
        if !holds {
            println!("  not kept: it does not save enough");
            return Ok(End::NoGain);
        }
        self.measured = Some(after.kept_as("before")?);
        Ok(End::Holds)
    }

    /// A future has no live bytes of its own: it pays if futures get smaller.
    fn measure_futures(&mut self) -> Result<End> {
        let (Some(bench), Some(before)) = (&self.bench, &self.futures) else { return Ok(End::Holds) };
        let after = bench.futures()?;
        let resized = proof::resized_futures(before, &after);
        let shown: Vec<String> =
            resized.iter().take(4).map(|(name, before, after)| format!("{name} {before} to {after}")).collect();
        println!("  futures in bytes: {}", if shown.is_empty() { "as before".to_owned() } else { shown.join(", ") });
        let sum = |part: fn(&(String, u64, u64)) -> u64| resized.iter().map(part).sum::<u64>();
        if sum(|row| row.2) >= sum(|row| row.1) {
            println!("  not kept: no future gets smaller");
            return Ok(End::NoGain);
        }
        self.futures = Some(after);
        Ok(End::Holds)
    }

    /// Writes what was changed since the last time to the user's files, or all of it to the patch: what is kept is not lost if a later
    /// change is interrupted.
    fn save(&mut self, journal: &Path) -> Result<()> {
        let changes = self.tree.changes();
        if self.args.dry_run {
            return Ok(());
        }
        if let Some(patch) = &self.args.patch {
            let text: String = changes.iter().map(Change::diff).collect();
            return crate::report::saved::write(patch, |out| out.write_all(text.as_bytes()));
        }
        let since = changes.iter().map(|change| {
            let saved = self.saved.iter().find(|saved| saved.file == change.file);
            Change { before: saved.map_or(&change.before, |saved| &saved.after).clone(), ..change.clone() }
        });
        let since: Vec<Change> = since.filter(|change| change.before != change.after).collect();
        write::write(self.workspace.workspace_root.as_std_path(), &since, journal)?;
        self.saved = changes;
        Ok(())
    }

    /// Says what was written.
    fn finish(&self, kept: usize) -> ExitCode {
        let changes = self.tree.changes();
        if kept == 0 || changes.is_empty() {
            println!("nothing was changed");
            return ExitCode::from(1);
        }
        let files = units::plural(changes.len() as u64, "file");
        if self.args.dry_run {
            for change in &changes {
                print!("{}", change.diff());
            }
        } else if let Some(patch) = &self.args.patch {
            println!("written: {}, a patch of {files}", patch.display());
        } else {
            let shown = if self.args.patched.is_none() { "; `git diff` shows the change" } else { "" };
            println!("written: {files}{shown}");
        }
        ExitCode::SUCCESS
    }
}

fn print_repaired(repaired: &Repaired) {
    let count: usize = repaired.by.values().sum();
    let by =
        |name: &str, count: usize| format!("{count} by {}", if name == "rustc" { "rustc's suggestions" } else { name });
    let by: Vec<String> = repaired.by.iter().map(|(name, count)| by(name, *count)).collect();
    let rounds = units::plural(repaired.rounds as u64, "round");
    if repaired.left.is_empty() {
        if count == 0 {
            println!("  compiles: no other line changes");
        } else {
            println!("  compiles after {rounds}: {}", by.join(", "));
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
    let able: Vec<&Move> = moves.iter().filter(|candidate| candidate.refusal().is_none()).collect();
    if args.finding.is_empty() {
        let Some(first) = able.first() else {
            if moves.is_empty() {
                bail!(
                    "the report has no finding; save one with `cargo dwell census --save FILE` or `cargo dwell layout --format json`"
                );
            }
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
            .filter(|candidate| candidate.is_named(name))
            .min_by_key(|candidate| candidate.refusal().is_some())
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
    if moves.is_empty() {
        writeln!(out, "there is nothing to apply: the report has no finding")?;
    }
    for (index, change) in moves.iter().enumerate() {
        let saves = change.expects();
        match change.refusal() {
            None => writeln!(out, "{:3}  {saves:>10}  {}: {}", index + 1, change.location, change.how)?,
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

/// Returns the program's arguments: those given, or those of the saved report.
fn arguments(args: &Apply, report: Option<&serde_json::Value>) -> Vec<OsString> {
    if !args.args.is_empty() {
        return args.args.clone();
    }
    let saved = report.and_then(|report| report.pointer("/program/arguments")?.as_array());
    let texts = saved.into_iter().flatten().filter_map(serde_json::Value::as_str);
    texts.map(OsString::from).collect()
}

/// Returns the user's flags with the program of a saved report, if they choose none.
fn of_report(build: &BuildArgs, report: &serde_json::Value, workspace: &Metadata) -> BuildArgs {
    let mut build = build.clone();
    let is_chosen =
        build.lib || [&build.bin, &build.example, &build.test, &build.bench].iter().any(|name| name.is_some());
    let file = report.pointer("/program/file").and_then(serde_json::Value::as_str).map(Path::new);
    let Some(file) = file.filter(|_| !is_chosen) else { return build };
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let is_example = file.parent().is_some_and(|folder| folder.ends_with("examples"));
    for package in workspace.workspace_packages() {
        if build.package.as_ref().is_some_and(|chosen| *package.name != *chosen) {
            continue;
        }
        for target in &package.targets {
            let chosen = match (is_example, target.is_example(), target.is_bin()) {
                (true, true, _) if target.name == name => &mut build.example,
                (false, _, true) if target.name == name => &mut build.bin,
                _ => continue,
            };
            *chosen = Some(target.name.clone());
            build.package = Some(package.name.to_string());
            return build;
        }
    }
    build
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
