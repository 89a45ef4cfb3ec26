//! Boxes random fields and variants of packages, and counts how many compile without a person, whether all of a package have the same tests,
//! and how many new warnings they give.
//!
//! ```text
//! cargo run -p cargo-dwell --example apply_moves -- [--moves N] [--seed N] [--seconds N] [--no-test] [--diff] FOLDER..
//! ```
//! Each FOLDER has the Cargo.toml of a package or workspace. Nothing is written there: the moves are tried in a copy below
//! `target/apply_moves`, with one target folder for all. `--seconds` bounds the time for a package: half of it for its moves, then they are
//! judged. A candidate is a field `Option<T>` or a variant with one field `T`,
//! where `T` is a struct or enum of the workspace.

use anyhow::{Context, Result, bail};
use cargo_dwell::parts::{Limits, trials};
use dwell_source::Edit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};
use syn::spanned::Spanned as _;

fn main() -> Result<()> {
    let (mut moves, mut seed, mut seconds, mut diff, mut tests) = (10_usize, 7_u64, 86_400, false, true);
    let mut folders = Vec::new();
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
        match argument.as_str() {
            "--moves" => moves = usize::try_from(number().context("--moves takes a number")?)?,
            "--seed" => seed = number().context("--seed takes a number")?,
            "--seconds" => seconds = number().context("--seconds takes a number")?,
            "--no-test" => tests = false,
            "--diff" => diff = true,
            flag if flag.starts_with("--") => bail!("{flag}: unknown; see the first lines of this example"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    if folders.is_empty() {
        bail!("name at least one folder with a Cargo.toml");
    }
    let mut whole = Sums::default();
    let mut kinds = BTreeMap::<String, usize>::new();
    for folder in folders {
        let name = folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut edits = candidates(&folder)?;
        let candidates = edits.len();
        fastrand::Rng::with_seed(seed).shuffle(&mut edits);
        let below = env::current_dir()?.join("target/apply_moves");
        let limits = Limits {
            copy: below.join(&name),
            target: below.join("target"),
            tests,
            end: Instant::now() + Duration::from_secs(seconds),
        };
        let mut here = Sums::default();
        let begin = Instant::now();
        if edits.is_empty() {
            println!("{name}: not looked at: it has no candidate\n");
            continue;
        }
        let mut start = begin;
        let tried = trials(&folder.join("Cargo.toml"), &edits, &limits, |edit, trial| {
            let place = format!("{name} {}:{} {}", edit.file, edit.line, edit.item);
            let took = std::mem::replace(&mut start, Instant::now()).elapsed().as_secs();
            match trial {
                Err(error) => println!("{place}: refused: {error:#}"),
                Ok(trial) => {
                    let by: Vec<String> = trial.repairs.iter().map(|(name, count)| format!("{name} {count}")).collect();
                    let verdict =
                        if trial.compiles { "compiles".to_owned() } else { format!("{} left", trial.left.len()) };
                    println!("{place}: {verdict}, {} rounds, {took} s ({})", trial.rounds, by.join(", "));
                    for (at, source, message) in &trial.left {
                        println!("    {at}: {source}\n      {message}");
                        *kinds.entry(message.chars().take(60).collect()).or_default() += 1;
                    }
                    trial.breaking.iter().for_each(|item| println!("    breaking: {item}"));
                    here.breaking += usize::from(!trial.breaking.is_empty());
                    trial.places.iter().for_each(|place| println!("    to accept: {place}"));
                    here.tried += 1;
                    here.named += usize::from(!trial.places.is_empty());
                }
            }
            here.tried < moves
        });
        let took = begin.elapsed().as_secs();
        match tried {
            Ok(together) => {
                here.compile = together.kept.len();
                here.compile_elsewhere = together.lost.as_ref().map_or(0, |_| together.kept.len());
                here.linted = together.new_warnings.as_ref().map_or(0, |_| together.kept.len());
                here.warnings = together.new_warnings.iter().flatten().count();
                let tests = match together.tests {
                    None => "did not run".to_owned(),
                    Some(Ok(same)) => {
                        here.same = here.compile;
                        format!("as before: {same}")
                    }
                    Some(Err(differ)) => differ,
                };
                for index in together.lost.into_iter().flatten() {
                    println!("    {} does not compile with other features", edits[index].item);
                }
                together.not_judged.iter().for_each(|step| println!("    not judged: {step}"));
                together.new_warnings.iter().flatten().for_each(|warning| println!("    new warning: {warning}"));
                if diff {
                    print!("{}", together.diff);
                }
                println!("{name}: {here}; tests: {tests}; {candidates} candidates, {took} s\n");
            }
            Err(error) => println!("{name}: not looked at after {took} s: {error:#}\n"),
        }
        whole.add(&here);
    }
    println!("all: {whole}");
    for (kind, count) in kinds {
        println!("  {count:4} {kind}");
    }
    Ok(())
}

/// How moves ended.
#[derive(Default)]
struct Sums {
    tried: usize,
    compile: usize,
    /// With all features that compiled before.
    compile_elsewhere: usize,
    /// Whose warnings are known.
    linted: usize,
    /// With the same outcomes of tests.
    same: usize,
    /// The new warnings of clippy and the compiler.
    warnings: usize,
    /// With places to accept.
    named: usize,
    /// That change what users of a library see.
    breaking: usize,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.tried += other.tried;
        self.compile += other.compile;
        self.compile_elsewhere += other.compile_elsewhere;
        self.linted += other.linted;
        self.breaking += other.breaking;
        self.same += other.same;
        self.warnings += other.warnings;
        self.named += other.named;
    }
}

impl std::fmt::Display for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tried, compile, compile_elsewhere, linted, same, warnings, named, breaking } = self;
        write!(
            f,
            "{compile} of {tried} compile, {compile_elsewhere} with other features, {same} with the same tests, {warnings} new warnings of {linted}, \
             {named} with places to accept, {breaking} breaking"
        )
    }
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
            } else if path.starts_with(folder.join("src"))
                && path.extension().is_some_and(|extension| extension == "rs")
            {
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
                            let path = format!("{}::{}", item.ident, variant.ident);
                            add(&text, &below, path, &fields.unnamed[0].ty, false, &mut found);
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
