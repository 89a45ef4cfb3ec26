//! Checks `cargo dwell shape` on the JSON of packages: `corpora [--quicktype FILE] CORPUS..`, a row of a table each.
//!
//! ```text
//! cargo run --release -p cargo-dwell --example corpora -- crate:openapiv3@2.2.0/fixtures npm:tr46@0.0.3/lib
//! ```
//!
//! A corpus is `crate:NAME@VERSION/FOLDER`, `npm:NAME@VERSION/FOLDER`, `npm-tree:NAME@VERSION` (the `package.json` of a package and
//! of all that it needs), or a folder. Packages come by `cargo` and `npm`. The lean types are compiled, all documents are loaded
//! under a counting allocator and compared with what is written back. `--quicktype` names the script of quicktype
//! (`node_modules/quicktype/dist/index.js`): its types are compiled and loaded too, and made from the same four fifths.

#[path = "../../tests/support/mod.rs"]
mod support;

use anyhow::{Context, Result, bail, ensure};
use cargo_dwell::shape::held_out::{self, Outcome, Rules};
use cargo_dwell::shape::input;
use cargo_dwell::shape::plan::{Plan, Set};
use cargo_dwell::shape::{quicktype, value};
use cargo_dwell::units::{bytes, count};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Fifths that are held back in turn.
const ROUNDS: u32 = 5;

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let script = arguments.next_if_eq("--quicktype").and_then(|_| arguments.next()).map(PathBuf::from);
    println!(
        "| corpus | texts, JSON | `Value` | quicktype's model | real quicktype | lean, predicted | measured | equal | \
         refused, changed, lost of held out | quicktype's model | real quicktype, refused |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
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
    let parts = |of: &str| -> Result<(String, String, String)> {
        let at = of.rfind('@').filter(|&at| at > 0).context("a version is missing, as in crate:url@2.5.8/tests")?;
        let (version, folder) = of[at + 1..].split_once('/').unwrap_or((&of[at + 1..], ""));
        Ok((of[..at].to_owned(), version.to_owned(), folder.to_owned()))
    };
    if let Some(of) = corpus.strip_prefix("crate:") {
        let (name, version, folder) = parts(of)?;
        return Ok(vec![source_of_crate(&cache, &name, &version)?.join(folder)]);
    }
    if let Some(of) = corpus.strip_prefix("npm:") {
        let (name, version, folder) = parts(of)?;
        return Ok(vec![npm(&cache, &name, &version)?.join("node_modules").join(name).join(folder)]);
    }
    if let Some(of) = corpus.strip_prefix("npm-tree:") {
        let (name, version, _) = parts(of)?;
        let modules = walkdir::WalkDir::new(npm(&cache, &name, &version)?.join("node_modules")).sort_by_file_name();
        let found = modules.into_iter().filter_map(Result::ok).filter(|entry| entry.file_name() == "package.json");
        return Ok(found.map(walkdir::DirEntry::into_path).collect());
    }
    Ok(vec![PathBuf::from(corpus)])
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

fn row(corpus: &str, script: Option<&Path>) -> Result<String> {
    let found = input::find(&files(corpus)?);
    let texts = input::texts(&found, held_out::MOST);
    let reading = input::read(&found, &input::Options { threads: 0, keep_going: true }, &|_| {});
    let schema = reading.accumulator.finish();
    if schema.documents == 0 {
        bail!("no text could be read");
    }
    let plan = Plan::new(&schema);
    let folder = tempfile::tempdir()?;
    let paths: Vec<String> =
        (0..).zip(&texts).map(|(index, text)| save(folder.path(), index, text)).collect::<Result<_>>()?;
    let predicted = plan.lean_heap();
    let measured = load("lean::Document", &plan.rust(Set::Lean), &paths)?;
    let theirs = quicktype::heap(&schema);
    let mut cells = vec![
        format!("`{corpus}`"),
        format!("{}, {}", count(schema.documents), bytes(schema.bytes)),
        bytes(value::heap(&schema).0.bytes),
        bytes(theirs.bytes),
    ];
    cells.push(match script {
        Some(script) => match of_quicktype(script, folder.path(), &paths, &paths) {
            Ok([live, _, 0, _]) => bytes(live),
            Ok([_, _, refused, _]) => format!("refuses {refused}"),
            Err(error) => format!("{error}"),
        },
        None => String::new(),
    });
    let off = 100.0 * (predicted.bytes as f64 / measured[0].max(1) as f64 - 1.0);
    let said = if plan.doubts().is_empty() { "exact" } else { "not exact, said" };
    cells.push(format!("{} ({said})", bytes(predicted.bytes)));
    cells.push(format!("{} ({off:+.2} %)", bytes(measured[0])));
    cells.push(format!("{} of {}", paths.len() as u64 - measured[2] - measured[3], paths.len()));
    let (mut ours, mut model, mut real) = (Outcome::default(), Outcome::default(), None);
    if texts.len() >= 5 {
        for round in 0..ROUNDS {
            let (left, right) = held_out::round_of(&texts, round, Rules::default());
            ours.merge(left);
            model.merge(right);
            if let Some(script) = script {
                let (held, kept): (Vec<_>, Vec<_>) =
                    paths.iter().cloned().enumerate().partition(|(index, _)| held_out::is_held(*index, round));
                let list = |of: Vec<(usize, String)>| of.into_iter().map(|(_, path)| path).collect::<Vec<_>>();
                if let Ok([_, _, refused, _]) = of_quicktype(script, folder.path(), &list(kept), &list(held)) {
                    *real.get_or_insert(0) += refused;
                }
            }
        }
        let cell = |of: &Outcome| format!("{}, {}, {} of {}", of.refused, of.changed, of.lost, of.tried);
        cells.extend([cell(&ours), cell(&model), real.map_or_else(String::new, |refused| refused.to_string())]);
    } else {
        cells.extend(["fewer than five".into(), String::new(), String::new()]);
    }
    Ok(format!("| {} |", cells.join(" | ")))
}

fn save(folder: &Path, index: usize, text: &str) -> Result<String> {
    let path = folder.join(format!("{index}.json"));
    std::fs::write(&path, text)?;
    Ok(path.to_str().context("UTF-8")?.to_owned())
}

/// Compiles types and loads files into them.
fn load(document: &str, types: &str, paths: &[String]) -> Result<[u64; 4]> {
    let main = include_str!("load.rs").replace("types::DOCUMENT", &format!("types::{document}"));
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    let types = format!("#![allow(warnings)]\n{types}");
    let printed =
        std::panic::catch_unwind(|| support::run("corpora", &[("main.rs", &main), ("types.rs", &types)], &arguments));
    let Ok(printed) = printed else { bail!("does not compile") };
    let numbers: Vec<u64> = printed.split_whitespace().filter_map(|text| text.parse().ok()).collect();
    numbers.try_into().ok().context("four numbers")
}

/// The same for the types that quicktype makes of `kept`.
fn of_quicktype(script: &Path, folder: &Path, kept: &[String], paths: &[String]) -> Result<[u64; 4]> {
    let out = folder.join("quicktype.rs");
    let options = ["--lang", "rust", "--src-lang", "json", "--visibility", "public", "--skip-serializing-none"];
    let output = Command::new("node")
        .arg(script)
        .args(options)
        .args(["--top-level", "Document", "--out"])
        .arg(&out)
        .args(kept)
        .output()
        .context("node")?;
    ensure!(output.status.success(), "quicktype fails");
    load("Document", &std::fs::read_to_string(out)?, paths)
}
