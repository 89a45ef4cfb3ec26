//! Measures the compile time of a program that calls an arena at 900 call sites, in debug and in release.
//!
//! For each subject a crate with this workspace's `Cargo.lock` is written to a temporary folder and built without
//! network. Dependencies are built first. Then the crates are compiled in turn, and the processor time of cargo and
//! rustc is measured.

use anyhow::{Context, Result, bail};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{fs, mem};

use crate::row::Row;
use crate::time::median;

/// The number of types. The program allocates each of them in three ways.
const TYPES: usize = 300;

/// A subject: its name, its dependency, the type of an arena, and the expression that creates one.
struct Subject {
    name: &'static str,
    dependency: &'static str,
    arena: &'static str,
    new: &'static str,
}

/// The subjects, the baseline first.
const SUBJECTS: [Subject; 3] = [
    Subject {
        name: "bumpalo 3.20.3",
        dependency: "bumpalo = \"=3.20.3\"",
        arena: "bumpalo::Bump<8>",
        new: "bumpalo::Bump::with_min_align()",
    },
    Subject {
        name: "bump-scope 2.4.1",
        dependency: "bump-scope = \"=2.4.1\"",
        arena: "bump_scope::Bump<bump_scope::alloc::Global, bump_scope::settings::BumpSettings<8>>",
        new: "bump_scope::Bump::new()",
    },
    Subject {
        name: "dwell",
        dependency: concat!("dwell = { path = \"", env!("CARGO_MANIFEST_DIR"), "/../crates/dwell\" }"),
        arena: "dwell::Bump",
        new: "dwell::Bump::new()",
    },
];

/// Returns the program. The calls are the same for all arenas, since the methods have the same names.
fn program(subject: &Subject) -> String {
    let Subject { arena, new, .. } = subject;
    let mut text = format!("use std::hint::black_box;\ntype Arena = {arena};\n");
    for n in 0..TYPES {
        // Sizes from 8 to 64 bytes.
        let (words, odd) = (n % 7, n % 250);
        let _ = write!(
            text,
            "#[derive(Clone, Copy)]\nstruct T{n} {{ a: [u64; {words}], b: u32, c: u8 }}\n\
             #[inline(never)]\nfn f{n}(arena: &Arena, c: u8) {{\n\
             let value = T{n} {{ a: [{n}; {words}], b: {n}, c }};\n\
             black_box(&*arena.alloc(value));\n\
             black_box(&*arena.alloc_with(|| T{n} {{ a: [{odd}; {words}], b: 7, c }}));\n\
             black_box(&*arena.alloc_slice_copy(&[value; 3]));\n}}\n"
        );
    }
    let _ = writeln!(text, "fn main() {{\nlet arena: Arena = {new};");
    for n in 0..TYPES {
        let _ = writeln!(text, "f{n}(&arena, {});", n % 200);
    }
    text + "}\n"
}

fn write_crate(folder: &Path, subject: &Subject) -> Result<()> {
    fs::create_dir_all(folder.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"calls\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n{}\n[workspace]\n",
        subject.dependency
    );
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    fs::copy(&lock, folder.join("Cargo.lock")).with_context(|| format!("cannot copy {}", lock.display()))?;
    fs::write(folder.join("src/main.rs"), program(subject))?;
    Ok(())
}

fn build(folder: &Path, release: bool) -> Result<()> {
    let mut command = Command::new("cargo");
    command.args(["build", "--quiet", "--offline"]).current_dir(folder).env("CARGO_TARGET_DIR", folder.join("target"));
    // An incremental debug build of an unchanged text would compile nothing.
    command.env("CARGO_INCREMENTAL", "0");
    if release {
        command.arg("--release");
    }
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!("the program does not compile: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
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

/// Returns the processor time of one compilation.
fn once(folder: &Path, release: bool) -> Result<f64> {
    // Cargo compiles again if the modification time is new.
    let main = folder.join("src/main.rs");
    let text = fs::read(&main)?;
    fs::write(&main, text)?;
    let before = children();
    build(folder, release)?;
    Ok(children() - before)
}

/// Returns a row for each subject and profile: the median of the times, and of the ratios within rounds.
pub(super) fn rows(rounds: usize) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let mut rows = Vec::new();
    for (workload, release) in [("compile/debug", false), ("compile/release", true)] {
        let mut times = vec![Vec::new(); SUBJECTS.len()];
        for (subject, index) in SUBJECTS.iter().zip(0..) {
            let folder = folder.path().join(format!("{index}"));
            write_crate(&folder, subject)?;
            build(&folder, release)?;
        }
        for _ in 0..rounds {
            for (index, times) in times.iter_mut().enumerate() {
                times.push(once(&folder.path().join(format!("{index}")), release)?);
            }
        }
        for (subject, time) in SUBJECTS.iter().zip(&times) {
            let ratios = time.iter().zip(&times[0]).map(|(time, baseline)| time / baseline).collect();
            rows.push(Row {
                module: "bump",
                workload: workload.to_owned(),
                subject: subject.name.to_owned(),
                metric: "s",
                value: median(time.clone()),
                unit: "s",
                baseline: SUBJECTS[0].name.to_owned(),
                ratio: median(ratios),
            });
        }
    }
    Ok(rows)
}
