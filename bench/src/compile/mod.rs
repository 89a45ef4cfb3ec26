//! Measures compile times: of programs that erase futures in different ways (with no box, with `.pinned()` or `.boxed()`
//! at each layer, erased once), and of a program that calls different arenas.
//!
//! The programs are written to a temporary folder and built offline: generated ones with this workspace's `Cargo.lock`,
//! published ones with the versions that they require. Dependencies are built first. Then the subjects are built in
//! turn, and the processor time of cargo and rustc is measured, which other programs on the machine affect little.

mod calls;
mod generated;
mod published;

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;
use std::{fs, mem};

use crate::row::{Output, Row};
use crate::time::paired;

/// The positions at which a program boxes its futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boxes {
    None,
    /// `.pinned()` at each layer.
    Pinned,
    /// `.boxed()` at each layer.
    Boxed,
    /// The innermost service of each route is erased, so that the layers are compiled once for all routes.
    OnceInside,
    /// Each route is erased as a whole.
    Once,
    /// Each route is erased as a whole, by `.pooled()`.
    OncePooled,
}

impl Boxes {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "no_box",
            Self::Pinned => "pinned",
            Self::Boxed => "boxed",
            Self::OnceInside => "once/inside",
            Self::Once => "once",
            Self::OncePooled => "once/dwell",
        }
    }
}

/// A program of one subject, in a separate folder.
struct Program {
    workload: String,
    subject: &'static str,
    folder: PathBuf,
    /// The target folder, which programs share so that dependencies are built once.
    target: PathBuf,
    /// The binary that is built.
    binary: &'static str,
    /// The file with a function that the innermost code calls. `Task::Incremental` changes it.
    leaf: PathBuf,
}

/// The kind of build that is measured.
#[derive(Clone, Copy, Debug)]
enum Task {
    Check,
    Dev,
    Release,
    /// A dev build after a change of the leaf crate, with the output of the build before.
    Incremental,
}

impl Task {
    const ALL: [Self; 4] = [Self::Check, Self::Dev, Self::Release, Self::Incremental];

    const fn name(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Dev => "dev",
            Self::Release => "release",
            Self::Incremental => "leaf",
        }
    }
}

/// Returns the seconds of user and system time of the child processes that have ended.
fn children() -> f64 {
    // SAFETY: `rusage` consists of integers, for which zero bytes are valid.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    // SAFETY: the pointer is to a local `rusage`, which the call may write.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

impl Program {
    fn cargo(&self, arguments: &[&str], incremental: bool) -> Result<()> {
        let output = Command::new("cargo")
            .args(arguments)
            .args(["--quiet", "--offline", "--bin", self.binary])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", if incremental { "1" } else { "0" })
            .env_remove("RUSTFLAGS")
            .output()
            .context("cannot run cargo")?;
        if !output.status.success() {
            let messages = String::from_utf8_lossy(&output.stderr);
            bail!("{} with {} does not compile: {messages}", self.workload, self.subject);
        }
        Ok(())
    }

    /// Returns the processor time of one build.
    fn once(&self, task: Task, round: usize) -> Result<f64> {
        let touched = if let Task::Incremental = task {
            self.cargo(&["build"], true)?;
            let leaf = fs::read_to_string(&self.leaf)?;
            let changed = leaf.replace(&leaf_constant(round), &leaf_constant(round + 1));
            if changed == leaf {
                bail!("{} has no constant to be changed", self.leaf.display());
            }
            changed
        } else {
            fs::read_to_string(&self.leaf)?
        };
        // Cargo compiles again if the modification time is new, even if the content is the same.
        fs::write(&self.leaf, touched)?;
        let before = children();
        match task {
            Task::Check => self.cargo(&["check"], false)?,
            Task::Dev => self.cargo(&["build"], false)?,
            Task::Release => self.cargo(&["build", "--release"], false)?,
            Task::Incremental => self.cargo(&["build"], true)?,
        }
        Ok(children() - before)
    }

    /// Returns the bytes of the last release binary, without symbols.
    fn size(&self) -> Result<f64> {
        let binary = self.target.join("release").join(self.binary);
        Ok(fs::metadata(&binary).with_context(|| format!("no {}", binary.display()))?.len() as f64)
    }

    /// Returns the lines of LLVM IR that rustc passes to LLVM in a dev build, for the program and its own library.
    fn lines(&self) -> Result<f64> {
        let mut lines = 0;
        let library = self.folder.join("src/lib.rs").exists().then_some(&["--lib"][..]);
        for what in library.into_iter().chain([&["--bin", self.binary][..]]) {
            let file = self.folder.join("program.ll");
            let emit = format!("--emit=llvm-ir={}", file.display());
            let output = Command::new("cargo")
                .args(["rustc", "--quiet", "--offline"])
                .args(what)
                .args(["--", &emit, "-Ccodegen-units=1", "-Cno-prepopulate-passes"])
                .current_dir(&self.folder)
                .env("CARGO_TARGET_DIR", &self.target)
                .env("CARGO_INCREMENTAL", "0")
                .env_remove("RUSTFLAGS")
                .output()
                .context("cannot run cargo")?;
            if !output.status.success() {
                bail!("no LLVM IR: {}", String::from_utf8_lossy(&output.stderr));
            }
            let text = fs::read_to_string(&file).with_context(|| format!("no {}", file.display()))?;
            lines += text.lines().count();
        }
        Ok(lines as f64)
    }
}

/// Returns the line of a leaf that `Task::Incremental` changes.
fn leaf_constant(round: usize) -> String {
    format!("const LEAF: u64 = {round};")
}

/// The dependency on this workspace's `dwell`.
const DWELL: &str = concat!("dwell = { path = \"", env!("CARGO_MANIFEST_DIR"), "/../crates/dwell\" }");

/// The build profile of all programs, so that the profile of a workspace has no effect.
const PROFILE: &str = "[profile.release]\nstrip = true\n";

#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Measures only programs with this text in their name.
    #[arg(long, value_name = "TEXT", default_value = "")]
    workload: String,
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let rounds = if quick { 1 } else { 3 };
    let mut programs = generated::write(folder.path(), quick)?;
    programs.retain(|subjects: &Vec<Program>| subjects[0].workload.contains(&args.workload));
    for crate_ in published::ALL.iter().filter(|crate_| crate_.name.contains(&args.workload)) {
        match crate_.write(folder.path()) {
            Ok(more) => programs.push(more),
            Err(reason) => output.say(&format!("skipped {}: {reason:#}", crate_.name))?,
        }
    }
    if programs.is_empty() {
        bail!("no program has `{}` in its name", args.workload);
    }
    output.say(&format!("processor seconds, medians of {rounds}; `leaf`: a dev build after a leaf was changed"))?;
    for subjects in &programs {
        match rows(subjects, rounds) {
            Ok(rows) => {
                output.say(&format!("\n{}", subjects[0].workload))?;
                output.rows(&rows)?;
            }
            // A published program may no longer compile.
            Err(reason) => output.say(&format!("skipped {}: {reason:#}", subjects[0].workload))?,
        }
    }
    Ok(())
}

/// Returns the rows of one program for all its subjects.
fn rows(subjects: &[Program], rounds: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let name = |program: &Program| (program.workload.clone(), program.subject, subjects[0].subject);
    let names: Vec<_> = subjects.iter().map(name).collect();
    let mut add = |metric, unit, values: &[Vec<f64>]| rows.extend(paired("compile", (&[metric], unit), &names, values));
    let mut sizes = vec![Vec::new(); subjects.len()];
    for task in Task::ALL {
        let mut times = vec![Vec::new(); subjects.len()];
        // The build of the dependencies, and the first build for incremental ones, are not measured.
        let before = if let Task::Incremental = task { subjects.len() } else { 1 };
        for program in &subjects[..before] {
            program.once(task, 0)?;
        }
        for round in 1..=rounds {
            for (index, program) in subjects.iter().enumerate() {
                times[index].push(program.once(task, round)?);
                if let Task::Release = task {
                    sizes[index].push(program.size()?);
                }
            }
        }
        add(task.name(), "s", &times);
    }
    add("size", "", &sizes);
    let lines: Vec<Vec<f64>> = subjects.iter().map(|program| Ok(vec![program.lines()?])).collect::<Result<_>>()?;
    add("llvm-ir", "lines", &lines);
    Ok(rows)
}
