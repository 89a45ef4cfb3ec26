//! Checks `cargo dwell shape` on the JSON of packages: `corpora [--quicktype FILE] CORPUS..`, a row of a table each.
//!
//! ```text
//! cargo run --release -p dwell-shape --example corpora -- crate:openapiv3@2.2.0/fixtures npm:tr46@0.0.3/lib
//! ```
//!
//! A corpus is `crate:NAME@VERSION/PATH`, `npm:NAME@VERSION/PATH`, `pypi:NAME@VERSION/PATH`, `npm-tree:NAME@VERSION` (the
//! `package.json` of a package and of all that it needs), or a path; a path ends in a folder, a file, or a pattern such as `*/ca-*.json`.
//! Packages come by `cargo`, `npm` and `pip`. The lean types are compiled, all documents (the first 64 MiB of them) are loaded
//! under a counting allocator and compared with what is written back. `--quicktype` names the script of quicktype
//! (`node_modules/quicktype/dist/index.js`): its types are compiled and loaded too, and made from the same four fifths.
//!
//! `corpora --parts CORPUS..` instead divides the files at random into parts that are read by one form, and compares the
//! types and the JSON report of the merged parts with those of one run.
//!
//! `corpora --tenths [DECISION..] CORPUS..` leaves out each tenth of the texts in turn and counts the types of the others: a change of the
//! data that a person would hardly notice should hardly change the types.

#[path = "../../tests/support/mod.rs"]
mod support;
mod tenths;

use anyhow::{Context, Result, bail, ensure};
use dwell_output::units::{bytes, count};
use dwell_shape::held_out::{self, Outcome, Rules};
use dwell_shape::infer::Accumulator;
use dwell_shape::input;
use dwell_shape::plan::{Plan, Set};
use dwell_shape::{part, report, value};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Fifths that are held back in turn.
const ROUNDS: u32 = 5;

/// Random divisions of a corpus into parts.
const DIVISIONS: u64 = 3;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if_eq("--parts").is_some() {
        println!("| corpus | files | divisions with the output of one run |");
        println!("|---|--:|--:|");
        for corpus in arguments {
            match parts_row(&corpus) {
                Ok(row) => println!("{row}"),
                Err(error) => println!("| {corpus} | {error:#} |"),
            }
        }
        return;
    }
    if arguments.next_if_eq("--tenths").is_some() {
        println!("{}", tenths::HEAD);
        let mut given = Vec::new();
        while let Some(one) = arguments.next_if(|one| one.starts_with('$')) {
            given.push(one.parse().expect("a decision, as in $.users=map"));
        }
        for corpus in arguments {
            match files(&corpus).and_then(|files| tenths::row(&corpus, &files, &given)) {
                Ok(row) => println!("{row}"),
                Err(error) => println!("| {corpus} | {error:#} |"),
            }
        }
        return;
    }
    let script = arguments.next_if_eq("--quicktype").and_then(|_| arguments.next()).map(PathBuf::from);
    println!(
        "| corpus | texts, JSON | inferred in | `Value` | quicktype | lean, predicted | measured | equal | \
         refused, changed, lost of held out | quicktype, refused |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for corpus in arguments {
        match row(&corpus, script.as_deref()) {
            Ok(row) => println!("{row}"),
            Err(error) => println!("| {corpus} | {error:#} |"),
        }
    }
}

/// The folder or the files of a corpus.
fn files(corpus: &str) -> Result<Vec<PathBuf>> {
    let cache = support::target_dir().join("corpora");
    let parts = |place: &str| -> Result<(String, String, String)> {
        let at = place.rfind('@').filter(|&at| at > 0).context("a version is missing, as in crate:url@2.5.8/tests")?;
        let (version, path) = place[at + 1..].split_once('/').unwrap_or((&place[at + 1..], ""));
        Ok((place[..at].to_owned(), version.to_owned(), path.to_owned()))
    };
    let (kind, source) = corpus.split_once(':').unwrap_or(("", corpus));
    let (folder, path) = match kind {
        "crate" => {
            let (name, version, path) = parts(source)?;
            (source_of_crate(&cache, &name, &version)?, path)
        }
        "npm" => {
            let (name, version, path) = parts(source)?;
            (npm(&cache, &name, &version)?.join("node_modules").join(name), path)
        }
        "pypi" => {
            let (name, version, path) = parts(source)?;
            (pypi(&cache, &name, &version)?, path)
        }
        "npm-tree" => {
            let (name, version, _) = parts(source)?;
            let modules = walkdir::WalkDir::new(npm(&cache, &name, &version)?.join("node_modules")).sort_by_file_name();
            let found = modules.into_iter().filter_map(Result::ok).filter(|entry| entry.file_name() == "package.json");
            return Ok(found.map(walkdir::DirEntry::into_path).collect());
        }
        _ => (PathBuf::new(), corpus.to_owned()),
    };
    if !path.contains('*') {
        return Ok(vec![folder.join(path)]);
    }
    let all = walkdir::WalkDir::new(&folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let is = |entry: &walkdir::DirEntry| {
        let below = entry.path().strip_prefix(&folder).unwrap_or(entry.path());
        let (names, patterns) = (below.to_str().unwrap_or_default().split('/'), path.split('/'));
        names.clone().count() == patterns.clone().count()
            && names.zip(patterns).all(|(name, pattern)| matches(name, pattern))
    };
    Ok(all.filter(is).map(walkdir::DirEntry::into_path).collect())
}

/// Whether a name is of a pattern in which `*` stands for any text.
fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((front, rest)) => name
            .strip_prefix(front)
            .is_some_and(|name| (0..=name.len()).any(|at| name.get(at..).is_some_and(|name| matches(name, rest)))),
    }
}

/// A folder with a package of `PyPI`.
fn pypi(cache: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let folder = cache.join("pypi").join(format!("{name}-{version}"));
    if !folder.exists() {
        let install = ["install", "--quiet", "--no-deps", "--only-binary=:all:", "--target"];
        let output =
            Command::new("pip").args(install).arg(&folder).arg(format!("{name}=={version}")).output().context("pip")?;
        ensure!(output.status.success(), "pip: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(folder)
}

/// The folder of a crate's source in cargo's registry, after cargo has fetched it.
fn source_of_crate(cache: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let folder = cache.join("crates").join(format!("{name}-{version}"));
    std::fs::create_dir_all(folder.join("src"))?;
    std::fs::write(folder.join("src/lib.rs"), "")?;
    let manifest = format!(
        "[workspace]\n[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n{name} = {{ version = \
         \"={version}\", default-features = false }}\n"
    );
    std::fs::write(folder.join("Cargo.toml"), manifest)?;
    let metadata =
        || Command::new(env!("CARGO")).args(["metadata", "--format-version=1"]).current_dir(&folder).output();
    let output = metadata()?;
    ensure!(output.status.success(), "cargo: {}", String::from_utf8_lossy(&output.stderr).trim());
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let package = packages.iter().find(|package| package["name"] == name && package["version"] == version);
    let manifest = package.and_then(|package| package["manifest_path"].as_str()).context("no such package")?;
    Ok(Path::new(manifest).parent().context("a manifest is in a folder")?.to_owned())
}

/// A folder with a package of npm and all that it needs; no script of theirs runs.
fn npm(cache: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let folder = cache.join("npm").join(format!("{}-{version}", name.replace('/', "-")));
    if !folder.join("node_modules").exists() {
        std::fs::create_dir_all(&folder)?;
        let install = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"];
        let output = Command::new("npm").args(install).arg(&folder).arg(format!("{name}@{version}")).output()?;
        ensure!(output.status.success(), "npm: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(folder)
}

/// Reads a corpus at once, and in random parts that are saved and merged.
fn parts_row(corpus: &str) -> Result<String> {
    let found = input::find(&files(corpus)?);
    let paths: Vec<PathBuf> = found.inputs.iter().map(|input| input.path().to_owned()).collect();
    let folder = tempfile::tempdir()?;
    let form = folder.path().join("form");
    part::save_form(&form, false, input::form(&found, &[]))?;
    let form = part::form(&form)?;
    let options = input::Options { keep_going: true, ..Default::default() };
    let read = |paths: &[PathBuf]| input::read_by(&form, &input::find(paths), &options, &|_| {}).accumulator;
    let output = |accumulator: Accumulator| -> Result<(String, Vec<u8>)> {
        let schema = accumulator.finish();
        ensure!(schema.documents > 0, "no text could be read");
        let (plan, mut text) = (Plan::new(&schema), Vec::new());
        plan.write(report::Format::Json, &report::Options::default(), &mut text)?;
        Ok((plan.rust(Set::Both), text))
    };
    let whole = output(read(&paths))?;
    let mut equal = 0;
    for seed in 0..DIVISIONS {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut parts = vec![Vec::new(); rng.usize(2..6)];
        for path in &paths {
            let part = rng.usize(0..parts.len());
            parts[part].push(path.clone());
        }
        let mut saved = Vec::new();
        for (number, paths) in parts.iter().enumerate().filter(|(_, paths)| !paths.is_empty()) {
            saved.push(folder.path().join(format!("{seed}.{number}")));
            part::save(&saved[saved.len() - 1], false, read(paths))?;
        }
        equal += u64::from(output(part::merge(&saved)?)? == whole);
    }
    Ok(format!("| `{corpus}` | {} | {equal} of {DIVISIONS} |", count(paths.len() as u64)))
}

fn row(corpus: &str, script: Option<&Path>) -> Result<String> {
    let texts = input::texts(&input::find(&files(corpus)?), held_out::MOST);
    let folder = tempfile::tempdir()?;
    let paths: Vec<String> =
        (0..).zip(&texts).map(|(index, text)| save(folder.path(), index, text)).collect::<Result<_>>()?;
    let found = input::find(&[folder.path().to_owned()]);
    let start = Instant::now();
    let reading = input::read(&found, &input::Options { keep_going: true, ..Default::default() }, &|_| {});
    let schema = reading.accumulator.finish();
    if schema.documents == 0 {
        bail!("no text could be read");
    }
    let plan = Plan::new(&schema);
    let predicted = plan.lean_heap();
    let took = start.elapsed();
    let [measured] = load(&[("lean::Document", plan.rust(Set::Lean))], std::slice::from_ref(&paths))?[..] else {
        bail!("one set of numbers")
    };
    let mut cells = vec![
        format!("`{corpus}`"),
        format!("{}, {}", count(schema.documents), bytes(schema.bytes)),
        format!("{:.1} s", took.as_secs_f64()),
        bytes(value::heap(&schema).0.bytes),
    ];
    let mut ours = Outcome::default();
    // The first set is of all texts.
    let mut splits = vec![(paths.clone(), paths.clone())];
    if texts.len() >= 5 {
        for round in 0..ROUNDS {
            ours.merge(held_out::round_of(&texts, round, Rules::default(), &[]));
            let (held, kept): (Vec<_>, Vec<_>) =
                paths.iter().cloned().enumerate().partition(|(index, _)| held_out::is_held(*index, round));
            let list = |paths: Vec<(usize, String)>| paths.into_iter().map(|(_, path)| path).collect::<Vec<_>>();
            splits.push((list(kept), list(held)));
        }
    }
    let real: Vec<Result<[u64; 4]>> =
        script.map_or_else(Vec::new, |script| of_quicktype(script, folder.path(), &splits));
    cells.push(match real.first() {
        Some(Ok([live, _, 0, 0])) => bytes(*live),
        Some(Ok([live, _, 0, unequal])) => format!("{}, {unequal} not equal", bytes(*live)),
        Some(Ok([_, _, refused, _])) => format!("refuses {refused}"),
        Some(Err(error)) => format!("{error:#}"),
        None => String::new(),
    });
    let off = 100.0 * (predicted.bytes as f64 / measured[0].max(1) as f64 - 1.0);
    let said = if plan.doubts().is_empty() { "exact" } else { "not exact, said" };
    cells.push(format!("{} ({said})", bytes(predicted.bytes)));
    cells.push(format!("{} ({off:+.2} %)", bytes(measured[0])));
    cells.push(format!("{} of {}", paths.len() as u64 - measured[2] - measured[3], paths.len()));
    if texts.len() >= 5 {
        let cell = |outcome: &Outcome| {
            format!("{}, {}, {} of {}", outcome.refused, outcome.changed, outcome.lost, outcome.tried)
        };
        cells.push(cell(&ours));
        cells.push(match real.get(1..) {
            None | Some([]) => String::new(),
            Some(rounds) => {
                let failed = rounds.iter().filter(|round| round.is_err()).count();
                let refused: u64 = rounds.iter().flatten().map(|numbers| numbers[2]).sum();
                if failed == 0 { refused.to_string() } else { format!("{refused}; {failed} of 5 do not compile") }
            }
        });
        for line in ours.lines().into_iter().take(REASONS) {
            eprintln!("{corpus}: held out: {line}");
        }
    } else {
        cells.extend(["fewer than five".into(), String::new()]);
    }
    Ok(format!("| {} |", cells.join(" | ")))
}

/// Reasons of refused, changed and lost texts that are printed on standard error.
const REASONS: usize = 12;

fn save(folder: &Path, index: usize, text: &str) -> Result<String> {
    let path = folder.join(format!("{index:08}.json"));
    std::fs::write(&path, text)?;
    Ok(path.to_str().context("UTF-8")?.to_owned())
}

/// Compiles sets of types and loads a list of files into each.
fn load(sets: &[(&str, String)], files: &[Vec<String>]) -> Result<Vec<[u64; 4]>> {
    let (mut modules, mut calls) = (String::new(), String::new());
    let mut sources = Vec::new();
    for (index, (document, types)) in sets.iter().enumerate() {
        let _ = writeln!(modules, "mod set{index};");
        let _ = writeln!(calls, "load::<set{index}::{document}>(groups.next().expect(\"a list of files\"));");
        sources.push((format!("set{index}.rs"), format!("#![allow(warnings)]\n{types}")));
    }
    let main = include_str!("load.rs").replace("// MODULES", &modules).replace("// CALLS", &calls);
    let mut sources: Vec<(&str, &str)> = sources.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    sources.push(("main.rs", &main));
    let arguments = files.iter().flat_map(|files| std::iter::once("--").chain(files.iter().map(String::as_str)));
    let arguments: Vec<&str> = arguments.collect();
    let printed = std::panic::catch_unwind(|| support::run("corpora", &sources, &arguments));
    let Ok(printed) = printed else { bail!("does not compile") };
    let numbers = |line: &str| -> Option<[u64; 4]> {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|text| text.parse().ok()).collect();
        numbers.try_into().ok()
    };
    printed.lines().map(numbers).collect::<Option<_>>().context("four numbers a line")
}

/// The same for the types that quicktype makes of the first files of each split.
fn of_quicktype(script: &Path, folder: &Path, splits: &[(Vec<String>, Vec<String>)]) -> Vec<Result<[u64; 4]>> {
    let types: Vec<Result<String>> = splits.iter().map(|(kept, _)| types_of_quicktype(script, folder, kept)).collect();
    let good: Vec<usize> = (0..types.len()).filter(|&index| types[index].is_ok()).collect();
    let set = |index: usize| ("Document", types[index].as_ref().map_or_else(|_| String::new(), Clone::clone));
    let sets: Vec<(&str, String)> = good.iter().map(|&index| set(index)).collect();
    let files: Vec<Vec<String>> = good.iter().map(|&index| splits[index].1.clone()).collect();
    let together = load(&sets, &files);
    types
        .iter()
        .enumerate()
        .map(|(index, types)| match (types, &together) {
            (Err(error), _) => Err(anyhow::anyhow!("{error:#}")),
            (_, Ok(numbers)) => Ok(numbers[good.iter().position(|&at| at == index).context("it is there")?]),
            // One of them does not compile.
            (Ok(_), Err(_)) => Ok(load(&[set(index)], &[splits[index].1.clone()])?[0]),
        })
        .collect()
}

fn types_of_quicktype(script: &Path, folder: &Path, kept: &[String]) -> Result<String> {
    let out = folder.join("quicktype.rs");
    let options = ["--lang", "rust", "--src-lang", "json", "--visibility", "public", "--skip-serializing-none"];
    // `timeout` is of coreutils.
    let output = Command::new("timeout")
        .args(["300", "node", "--max-old-space-size=3000"])
        .arg(script)
        .args(options)
        .args(["--top-level", "Document", "--out"])
        .arg(&out)
        .args(kept)
        .output()
        .context("timeout node")?;
    match output.status.code() {
        Some(0) => Ok(std::fs::read_to_string(out)?),
        Some(124) => bail!("quicktype takes more than 5 minutes"),
        _ => bail!("quicktype fails"),
    }
}
