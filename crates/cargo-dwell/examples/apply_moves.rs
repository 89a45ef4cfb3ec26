//! Boxes random fields and variants of packages, each alone, and counts how many compile without a person.
//!
//! ```text
//! cargo run --release -p cargo-dwell --example apply_moves -- [--moves N] [--seed N] [--diff] FOLDER..
//! ```
//! Each FOLDER has the Cargo.toml of a package or workspace. Nothing is written there: the moves are tried in copies below
//! `target/apply_moves`. A candidate is a field `Option<T>` or a variant with one field `T`, where `T` is a struct or
//! enum of the workspace.

use anyhow::{Context, Result, bail};
use cargo_dwell::apply::trial;
use dwell_source::Edit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs};
use syn::spanned::Spanned as _;

fn main() -> Result<()> {
    let (mut moves, mut seed, mut diff, mut folders) = (10_usize, 7_u64, false, Vec::new());
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
        match argument.as_str() {
            "--moves" => moves = usize::try_from(number().context("--moves takes a number")?)?,
            "--seed" => seed = number().context("--seed takes a number")?,
            "--diff" => diff = true,
            flag if flag.starts_with("--") => bail!("{flag}: unknown; see the first lines of this example"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    if folders.is_empty() {
        bail!("name at least one folder with a Cargo.toml");
    }
    let (mut all, mut compile) = (0, 0);
    let mut kinds = BTreeMap::<String, usize>::new();
    for folder in folders {
        let name = folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut edits = candidates(&folder)?;
        let candidates = edits.len();
        fastrand::Rng::with_seed(seed).shuffle(&mut edits);
        let target = env::current_dir()?.join("target/apply_moves").join(&name);
        let (mut here, mut tried) = (0, 0);
        let mut repairs = BTreeMap::<String, usize>::new();
        for edit in edits {
            if tried == moves {
                break;
            }
            let start = Instant::now();
            let place = format!("{name} {}:{} {}", edit.file, edit.line, edit.item);
            let trial = match trial(&folder.join("Cargo.toml"), &edit, &target) {
                Ok(trial) => trial,
                Err(error) => {
                    println!("{place}: refused: {error:#}");
                    continue;
                }
            };
            tried += 1;
            let seconds = start.elapsed().as_secs();
            let by: Vec<String> = trial.repairs.iter().map(|(name, count)| format!("{name} {count}")).collect();
            let verdict = if trial.compiles { "compiles".to_owned() } else { format!("{} left", trial.left.len()) };
            println!("{place}: {verdict}, {} rounds, {seconds} s ({})", trial.rounds, by.join(", "));
            for (at, source, message) in &trial.left {
                println!("    {at}: {source}\n      {message}");
                *kinds.entry(message.chars().take(60).collect()).or_default() += 1;
            }
            for (name, count) in trial.repairs {
                *repairs.entry(name).or_default() += count;
            }
            if diff {
                print!("{}", trial.diff);
            }
            here += usize::from(trial.compiles);
        }
        println!("{name}: {here} of {tried} compile; {candidates} candidates; repairs {repairs:?}\n");
        all += tried;
        compile += here;
    }
    println!("{compile} of {all} compile");
    for (kind, count) in kinds {
        println!("  {count:4} {kind}");
    }
    Ok(())
}

/// Returns the fields and variants to box.
fn candidates(folder: &Path) -> Result<Vec<Edit>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("{}: cannot be read", next.display()))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !name.starts_with('.') && !path.join("CACHEDIR.TAG").exists() {
                folders.push(path);
            } else if path.starts_with(folder.join("src")) && path.extension().is_some_and(|of| of == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    let (mut local, mut found) = (BTreeSet::new(), Vec::new());
    for path in files {
        let text = fs::read_to_string(&path)?;
        let Ok(file) = syn::parse_file(&text) else { continue };
        let below = path.strip_prefix(folder)?.to_string_lossy().into_owned();
        for item in &file.items {
            match item {
                syn::Item::Struct(item) if item.generics.params.is_empty() => {
                    local.insert(item.ident.to_string());
                    for field in &item.fields {
                        if let Some(name) = &field.ident {
                            add(&text, &below, format!("{}.{name}", item.ident), &field.ty, true, &mut found);
                        }
                    }
                }
                syn::Item::Enum(item) if item.generics.params.is_empty() => {
                    local.insert(item.ident.to_string());
                    for variant in &item.variants {
                        if let (syn::Fields::Unnamed(fields), 1) = (&variant.fields, variant.fields.len()) {
                            let of = format!("{}::{}", item.ident, variant.ident);
                            add(&text, &below, of, &fields.unnamed[0].ty, false, &mut found);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    let is_local = |edit: &Edit| local.contains(edit.from.trim_start_matches("Option<").trim_end_matches('>'));
    found.retain(is_local);
    Ok(found)
}

fn add(text: &str, file: &str, item: String, ty: &syn::Type, is_option: bool, to: &mut Vec<Edit>) {
    let from = text[ty.span().byte_range()].to_owned();
    let boxed = match from.strip_prefix("Option<").and_then(|rest| rest.strip_suffix('>')) {
        Some(inner) => format!("Option<Box<{inner}>>"),
        None if is_option => return,
        None => format!("Box<{from}>"),
    };
    let line = u32::try_from(ty.span().start().line).unwrap_or(0);
    to.push(Edit { file: file.to_owned(), line, item, from, to: boxed });
}
