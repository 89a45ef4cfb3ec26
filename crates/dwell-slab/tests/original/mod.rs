//! The package of the crate that a drop-in replaces, and a package that has the drop-in under its name.
//!
//! The original is a dev-dependency, so cargo has downloaded it where these tests run. Its tests and the examples of its
//! documentation are read from there, and none of them is in this repository.

use serde_json::Value;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};
use tempfile::TempDir;

/// Returns the folder of a package that this one depends on, or the reason why there is none.
pub(crate) fn folder(name: &str) -> Result<PathBuf, String> {
    // Without the platform, cargo also needs the packages that only other platforms use.
    let rustc = Command::new("rustc").arg("-vV").output().map_err(|error| format!("rustc does not start: {error}"))?;
    let rustc = String::from_utf8_lossy(&rustc.stdout);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc prints no host")?;
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .map_err(|error| format!("cargo metadata does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let manifests =
        packages.filter(|package| package["name"] == name).filter_map(|package| package["manifest_path"].as_str());
    let folder =
        manifests.filter_map(|manifest| Path::new(manifest).parent()).find(|folder| folder.join("src").is_dir());
    folder.map(Path::to_path_buf).ok_or_else(|| format!("cargo has not downloaded {name}"))
}

/// Creates a package whose dependency `original` is the drop-in in this folder, with these features.
pub(crate) fn package(original: &str, edition: &str, features: &[&str]) -> Result<TempDir, Box<dyn Error>> {
    let crate_dir = env!("CARGO_MANIFEST_DIR");
    let package = tempfile::tempdir()?;
    fs::create_dir_all(package.path().join("tests"))?;
    fs::create_dir_all(package.path().join("src"))?;
    fs::write(package.path().join("src/lib.rs"), "")?;
    fs::write(
        package.path().join("Cargo.toml"),
        format!(
            "[package]\nname = \"originals\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\n\n[dependencies]\n\
             {original} = {{ package = {:?}, path = {crate_dir:?}, features = {features:?} }}\n\n[workspace]\n",
            env!("CARGO_PKG_NAME"),
        ),
    )?;
    let lock = Path::new(crate_dir).join("../../Cargo.lock");
    if lock.is_file() {
        fs::copy(lock, package.path().join("Cargo.lock"))?;
    }
    Ok(package)
}

/// Runs `cargo test` in a package. Returns what it printed, and whether all tests passed.
pub(crate) fn cargo_test(package: &TempDir, args: &[&str]) -> Result<(String, bool), Box<dyn Error>> {
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline"])
        .args(args)
        .current_dir(package.path())
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("originals"))
        .env_remove("RUSTFLAGS")
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    Ok((printed.into_owned(), output.status.success()))
}

/// Runs the examples of the original's documentation with the drop-in. `differ` lists the items with examples that fail by
/// design, as `file::item`, with the reasons. The test fails if another one fails, or if one of these passes.
#[allow(dead_code, reason = "each test file uses a part of this module")]
pub(crate) fn examples(original: &str, features: &[&str], differ: &[(&str, &str)]) -> Result<(), Box<dyn Error>> {
    let folder = match folder(original) {
        Ok(folder) => folder,
        Err(reason) => {
            println!("skipped: {reason}");
            return Ok(());
        }
    };
    // An example of edition 2024 is compiled together with others, which takes a tenth of the time. All of them are valid there.
    let package = package(original, "2024", features)?;
    let mut source = String::from("#![allow(warnings)]\n");
    let mut files = Vec::new();
    collect(&folder.join("src"), &mut files)?;
    files.sort();
    for file in &files {
        let text = fs::read_to_string(file)?;
        let module = file.strip_prefix(folder.join("src"))?.with_extension("");
        let module = module.to_string_lossy().replace(['/', '\\'], "_");
        writeln!(source, "pub mod {module} {{")?;
        let mut used = Vec::new();
        for (item, lines) in documented(&text, &folder) {
            let count = used.iter().filter(|name| **name == item).count();
            used.push(item.clone());
            let number = if count == 0 { String::new() } else { format!("_{}", count + 1) };
            // One example that does not compile would make all of them be compiled one by one.
            let alone = differ.iter().any(|(listed, _)| *listed == format!("{module}::{item}{number}"));
            let mut is_code = false;
            for line in &lines {
                let is_fence = line.trim_start().starts_with("```");
                let mark = if is_fence && !is_code && alone { ",standalone_crate" } else { "" };
                is_code ^= is_fence;
                writeln!(source, "///{line}{mark}")?;
            }
            writeln!(source, "pub struct {item}{number}_;")?;
        }
        source.push_str("}\n");
    }
    fs::write(package.path().join("src/lib.rs"), source)?;

    let (printed, _) = cargo_test(&package, &["--doc"])?;
    let results = printed.lines().filter_map(|line| line.strip_prefix("test src/lib.rs - ")?.rsplit_once(" ... "));
    let results: Vec<(&str, &str)> =
        results.map(|(name, result)| (name.split("_ (line").next().unwrap_or(name), result)).collect();
    let passed = results.iter().filter(|(_, result)| *result == "ok").count();
    let mut failed: Vec<&str> =
        results.iter().filter(|(_, result)| *result == "FAILED").map(|(name, _)| *name).collect();
    failed.dedup();
    println!("{passed} of {} examples of {} pass", results.len(), folder.display());
    assert!(passed > 30, "{printed}");
    let is_listed = |name: &str| differ.iter().any(|(listed, _)| *listed == name);
    let unexpected: Vec<_> = failed.iter().filter(|name| !is_listed(name)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?} fail:\n{printed}");
    for (name, reason) in differ {
        assert!(failed.contains(name), "{name} passes, and need not be listed");
        println!("{name} differs: {reason}");
    }
    Ok(())
}

/// Lists the Rust files in a folder.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the documentation comments with examples, and the name of the item that each belongs to.
fn documented(text: &str, folder: &Path) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut lines = text.lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        let mut comment = Vec::new();
        let item = if line == r#"#![doc = include_str!("../README.md")]"# {
            let readme = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
            comment.extend(readme.lines().map(|line| format!(" {line}")));
            String::from("readme")
        } else if let Some(first) = line.strip_prefix("//!") {
            comment.push(String::from(first));
            while let Some(next) = lines.next_if(|line| line.starts_with("//!")) {
                comment.push(String::from(&next[3..]));
            }
            String::from("module")
        } else if let Some(first) = line.strip_prefix("///") {
            comment.push(String::from(first));
            while let Some(next) = lines.next_if(|line| line.starts_with("///")) {
                comment.push(String::from(&next[3..]));
            }
            while lines.next_if(|line| line.starts_with("#[")).is_some() {}
            lines.peek().map_or_else(String::new, |line| item_name(line))
        } else {
            continue;
        };
        if comment.iter().any(|line| line.trim_start().starts_with("```")) {
            found.push((item, comment));
        }
    }
    found
}

/// Returns the name of the item that a line of source declares.
fn item_name(line: &str) -> String {
    let mut words = line.split(|character: char| !character.is_alphanumeric() && character != '_' && character != '!');
    let kinds = ["fn", "struct", "enum", "trait", "type", "mod", "union", "const", "macro_rules!"];
    let name = words.find(|word| kinds.contains(word)).and_then(|_| words.find(|word| !word.is_empty()));
    name.unwrap_or("item").to_owned()
}
