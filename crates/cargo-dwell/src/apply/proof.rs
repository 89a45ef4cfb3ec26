//! Measures a program before and after a change: live bytes by the census, CPU time, sizes of types.

use super::cargo::{Cargo, args_of_program};
use super::tree::{Change, Tree};
use crate::allocators::Program;
use crate::processes::{self, Ran, Usage};
use crate::program::{self, BuildArgs, Outcome, Purpose};
use anyhow::{Context, Result, bail};
use dwell_output::units;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// The number of pairs of runs.
const PAIRS: u32 = 5;
/// The number of pairs of builds.
const BUILD_PAIRS: usize = 2;
/// Workspaces whose first build takes more CPU time are not built again.
const LONG_BUILD: Duration = Duration::from_secs(180);
/// The CPU time of all pairs: long programs are run in fewer.
const FOR_PAIRS: Duration = Duration::from_secs(20);
/// The CPU time of a program whose instructions valgrind counts, which takes some 50 times as long.
const FOR_VALGRIND: Duration = Duration::from_millis(150);

/// A program as it was measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The most live bytes.
    pub(super) live_bytes: u64,
    /// The number of live blocks then.
    pub(super) live_blocks: u64,
    /// The executable that cargo built, which the next build replaces.
    pub(super) built: PathBuf,
    /// A copy of it.
    pub(super) executable: PathBuf,
    /// The report.
    pub(super) report: Value,
    /// The instructions of a run, once valgrind counted them; `None`: it did not.
    instructions: OnceCell<Option<u64>>,
}

impl Measured {
    /// Copies the executable to another name beside it.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub(super) fn kept_as(self, name: &str) -> Result<Self> {
        let executable = self.executable.with_file_name(name);
        fs::copy(&self.executable, &executable)
            .with_context(|| format!("{}: cannot be written", executable.display()))?;
        Ok(Self { executable, ..self })
    }
}

/// What measuring needs.
#[derive(Debug)]
pub(super) struct Bench<'a> {
    /// The manifest in the copy.
    pub(super) manifest: PathBuf,
    /// The user's flags.
    pub(super) build: &'a BuildArgs,
    /// The program's arguments.
    pub(super) arguments: &'a [OsString],
    /// The folder for executables and reports.
    pub(super) folder: &'a Path,
    /// The target directory.
    pub(super) target: &'a Path,
    /// How long a step may take.
    pub(super) bound: Duration,
    /// What a server's load is.
    pub(super) driver: Option<&'a Path>,
}

impl Bench<'_> {
    /// Returns `cargo dwell COMMAND` on the copy, in the user's folder, so that relative paths among the arguments work.
    fn dwell(&self, command: &str) -> Result<Command> {
        let mut run = processes::own_command()?;
        run.args([command, "--manifest-path"]).arg(&self.manifest).env("CARGO_TARGET_DIR", self.target);
        let build = self.build;
        let named = [
            ("--package", &build.package),
            ("--bin", &build.bin),
            ("--example", &build.example),
            ("--test", &build.test),
            ("--bench", &build.bench),
            ("--profile", &build.profile),
            ("--target", &build.target),
            ("--jobs", &build.jobs),
        ];
        for (flag, value) in named {
            if let Some(value) = value {
                run.arg(flag).arg(value);
            }
        }
        for features in &build.features {
            run.arg("--features").arg(features);
        }
        for (flag, given) in [
            ("--all-features", build.all_features),
            ("--no-default-features", build.no_default_features),
            ("--release", build.release),
            ("--lib", build.lib),
            ("--locked", build.locked),
            ("--offline", build.offline),
            ("--frozen", build.frozen),
        ] {
            if given {
                run.arg(flag);
            }
        }
        Ok(run)
    }

    /// Runs the program under the census, and keeps its executable under a name.
    ///
    /// # Errors
    /// Returns an error if it cannot be built or run.
    pub(super) fn census(&self, name: &str) -> Result<Measured> {
        let file = self.folder.join(format!("{name}.json"));
        let _ = fs::remove_file(&file);
        let mut command = self.dwell("census")?;
        // A copy of the peak has at least 98 % of it; the one at the exit knows the most that was live.
        command.arg("--save").arg(&file).args(["--at", "peak,exit", "--"]).args(self.arguments);
        let ran = self.run(&mut command)?;
        let Ok(text) = fs::read(&file) else { bail!("the program was not measured: {}", reason(&ran.stderr)) };
        let report: Value = serde_json::from_slice(&text).context("the census cannot be read")?;
        let number = |snapshot: &Value, key: &str| snapshot.get(key).and_then(Value::as_u64).unwrap_or(0);
        let snapshots = report.get("snapshots").and_then(Value::as_array).cloned().unwrap_or_default();
        let largest = snapshots.iter().max_by_key(|snapshot| number(snapshot, "live_bytes"));
        let largest = largest.context("the census has no snapshot")?;
        let built = report.pointer("/program/file").and_then(Value::as_str).context("the census names no program")?;
        let executable = self.folder.join(name);
        fs::copy(built, &executable).with_context(|| format!("{}: cannot be written", executable.display()))?;
        let peak = snapshots.iter().map(|snapshot| number(snapshot, "peak_bytes")).max().unwrap_or_default();
        let (live_bytes, live_blocks) = (peak.max(number(largest, "live_bytes")), number(largest, "live_blocks"));
        let built = PathBuf::from(built);
        Ok(Measured { live_bytes, live_blocks, built, executable, report, instructions: OnceCell::new() })
    }

    /// Builds the program as the census does, without a bound. Returns `false` if cargo failed and printed the reason.
    ///
    /// # Errors
    /// Returns an error if cargo cannot be run, or if there is no such program.
    pub(super) fn build_program(&self) -> Result<bool> {
        let args = args_of_program(self.build, &self.manifest, self.target);
        processes::interruptible(|| {
            let Outcome::Done(choice) = program::choose(&args)? else { return Ok(false) };
            Ok(matches!(choice.build(Purpose::Run)?, Outcome::Done(_)))
        })
    }

    /// Counts the instructions of a run by valgrind, once. `usage` is that of a plain run. `None`: there is no valgrind, or it would take
    /// too long, or the program needs a driver.
    pub(super) fn instructions(&self, program: &Measured, usage: Usage) -> Option<u64> {
        let is_short = self.driver.is_none() && usage.cpu() <= FOR_VALGRIND;
        let count = || {
            let plain = Program { file: &program.executable, arguments: self.arguments, bound: self.bound };
            plain.instructions(None).ok().flatten()
        };
        if is_short { *program.instructions.get_or_init(count) } else { None }
    }

    /// Runs the program under `allocs`. Returns the report.
    ///
    /// # Errors
    /// Returns an error if it cannot be built or run.
    pub(super) fn allocs(&self) -> Result<Value> {
        let file = self.folder.join("allocs.json");
        let _ = fs::remove_file(&file);
        let mut command = self.dwell("allocs")?;
        command.arg("--once").arg("--save").arg(&file).arg("--").args(self.arguments);
        let ran = self.run(&mut command)?;
        let Ok(text) = fs::read(&file) else { bail!("the program was not measured: {}", reason(&ran.stderr)) };
        serde_json::from_slice(&text).context("the report of allocs cannot be read")
    }

    /// Returns the report of `layout`.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built.
    pub(super) fn layout(&self) -> Result<Value> {
        self.sizes(self.dwell("layout")?)
    }

    /// Returns the report of `futures`.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built.
    pub(super) fn futures(&self) -> Result<Value> {
        self.sizes(self.dwell("futures")?)
    }

    /// Returns the report of `layout` or `futures` on an executable that was built before.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub(super) fn sizes_of(&self, command: &str, executable: &Path) -> Result<Value> {
        let mut run = processes::own_command()?;
        run.args([command, "--manifest-path"]).arg(&self.manifest).arg("--exe").arg(executable);
        self.sizes(run)
    }

    fn sizes(&self, mut command: Command) -> Result<Value> {
        let ran = processes::run(command.args(["--format", "json"]), self.bound)?;
        if !ran.status.success() {
            bail!("the sizes were not measured: {}", reason(&ran.stderr));
        }
        serde_json::from_slice(&ran.stdout).context("the report of sizes cannot be read")
    }

    /// Runs two executables by turns. Returns what each pair used.
    ///
    /// # Errors
    /// Returns an error if one cannot be run.
    pub(super) fn pairs(&self, before: &Path, after: &Path) -> Result<Vec<[Seen; 2]>> {
        let pair = self.seen(before)?.usage.cpu() * 2;
        let pairs = (1..PAIRS).take_while(|more| pair * (more + 1) <= FOR_PAIRS).count() + 1;
        (0..pairs).map(|_| Ok([self.seen(before)?, self.seen(after)?])).collect()
    }

    fn seen(&self, executable: &Path) -> Result<Seen> {
        let ran = self.run(Command::new(executable).args(self.arguments))?;
        let mut printed = DefaultHasher::new();
        ran.stdout.hash(&mut printed);
        Ok(Seen { usage: ran.usage, status: ran.status, printed: printed.finish() })
    }

    /// Runs the program, or this tool with it, to its end or to that of the driver.
    fn run(&self, command: &mut Command) -> Result<Ran> {
        match self.driver {
            Some(driver) => processes::run_driven(command, self.folder, driver, self.bound),
            None => processes::run_with(command, processes::input_of_all()?, self.bound),
        }
    }
}

/// What a run of the program showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) usage: Usage,
    pub(super) status: ExitStatus,
    /// A hash of what it wrote to its standard output.
    pub(super) printed: u64,
}

/// Returns the ratios of the CPU times of pairs, in order of size. Shorter runs than these are mostly the start of a process.
pub(super) fn ratios(pairs: &[[Seen; 2]]) -> Vec<f64> {
    let is_long = |[before, _]: &&[Seen; 2]| before.usage.cpu() > Duration::from_millis(5);
    let ratio = |[before, after]: &[Seen; 2]| after.usage.cpu().as_secs_f64() / before.usage.cpu().as_secs_f64();
    let mut ratios: Vec<f64> = pairs.iter().filter(is_long).map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    ratios
}

/// Returns the line that says why the tool failed.
fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text.lines().rev().find_map(|line| line.strip_prefix("error: ")).or_else(|| text.lines().last());
    line.unwrap_or("it printed nothing").to_owned()
}

/// Builds the workspace by turns without and with a change, for which its files get the texts of `mark` and those of now.
/// Returns the least and the largest ratio of the CPU times of the pairs, if all differ by more than a per cent in one
/// direction; otherwise the difference may be noise.
///
/// # Errors
/// Returns an error if a file cannot be written, or if cargo cannot be run.
pub(super) fn build_times(tree: &mut Tree, cargo: &Cargo<'_>, mark: &[Change]) -> Result<Option<(f64, f64)>> {
    let now = tree.mark();
    // This builds what the timed builds need.
    if cargo.rebuild()?.is_none_or(|time| time > LONG_BUILD) {
        return Ok(None);
    }
    let mut ratios = Vec::new();
    for _ in 0..BUILD_PAIRS {
        let mut times = [Duration::ZERO; 2];
        for (texts, time) in [mark, &now].into_iter().zip(&mut times) {
            tree.restore(texts)?;
            *time = cargo.rebuild()?.unwrap_or_default();
        }
        ratios.push(times[1].as_secs_f64() / times[0].as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let ends = ratios.first().copied().zip(ratios.last().copied());
    Ok(ends.filter(|(least, most)| *least > 1.01 || *most < 0.99))
}

/// Returns the sizes of two executables, if they differ by more than a per cent.
pub(super) fn resized_file(before: &Path, after: &Path) -> Option<String> {
    let size = |file: &Path| fs::metadata(file).map(|metadata| metadata.len()).ok();
    let (before, after) = (size(before)?, size(after)?);
    let differs = before.abs_diff(after) > before / 100;
    differs.then(|| format!("{} to {}", units::bytes(before), units::bytes(after)))
}

/// Returns the types of a report of `layout` whose sizes differ in another: name, size before, size after.
pub(super) fn resized(before: &Value, after: &Value) -> Vec<(String, u64, u64)> {
    let sizes = |report: &Value| {
        let types = report.get("types").and_then(Value::as_array).cloned().unwrap_or_default();
        let with = |ty: &Value| {
            let own = ty.get("own").and_then(Value::as_bool).unwrap_or(false);
            let text = |key: &str| Some(ty.get(key)?.as_str()?.to_owned());
            own.then(|| Some((text("path")?, (text("name")?, ty.get("size")?.as_u64()?)))).flatten()
        };
        types.iter().filter_map(with).collect::<BTreeMap<_, _>>()
    };
    let (before, after) = (sizes(before), sizes(after));
    let changed = |(path, (name, size)): (&String, &(String, u64))| {
        let (_, now) = after.get(path)?;
        (now != size).then(|| (name.clone(), *size, *now))
    };
    let mut all: Vec<_> = before.iter().filter_map(changed).collect();
    all.sort_by_key(|(name, before, after)| (std::cmp::Reverse(before.abs_diff(*after)), name.clone()));
    all
}

/// Returns the futures of a report of `futures` whose sizes differ in another: name, size before, size after.
pub(super) fn resized_futures(before: &Value, after: &Value) -> Vec<(String, u64, u64)> {
    let sizes = |report: &Value| {
        let all = report.get("futures").and_then(Value::as_array).cloned().unwrap_or_default();
        let with = |with: &Value| Some((with.get("name")?.as_str()?.to_owned(), with.get("size")?.as_u64()?));
        let mut sizes = BTreeMap::<String, u64>::new();
        for (name, size) in all.iter().filter_map(with) {
            *sizes.entry(name).or_default() += size;
        }
        sizes
    };
    let (before, after) = (sizes(before), sizes(after));
    let changed = before.into_iter().filter_map(|(name, size)| Some((size, *after.get(&name)?, name)));
    let mut all: Vec<_> =
        changed.filter(|(size, now, _)| size != now).map(|(size, now, name)| (name, size, now)).collect();
    all.sort_by_key(|(name, before, after)| (std::cmp::Reverse(before.abs_diff(*after)), name.clone()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn types_with_other_sizes_are_listed() {
        let report = |a: u64, b: u64| {
            json!({"types": [{"name": "A", "path": "m::A", "own": true, "size": a},
                {"name": "B", "path": "m::B", "own": true, "size": b}, {"name": "C", "path": "d::C", "own": false, "size": a}]})
        };
        assert_eq!(resized(&report(64, 80), &report(64, 16)), [("B".to_owned(), 80, 16)]);
        assert!(resized(&report(1, 2), &json!({})).is_empty());
        let futures = |size: u64| json!({"futures": [{"name": "run", "size": size}, {"name": "main", "size": 8}]});
        assert_eq!(resized_futures(&futures(900), &futures(80)), [("run".to_owned(), 900, 80)]);
    }
}
