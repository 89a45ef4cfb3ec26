//! `cargo dwell futures`: the values that futures hold across their `.await`s, and suggestions for smaller futures.

mod edits;
mod files;
mod finder;
pub mod json;
mod report;
mod size;
mod source;
mod suggest;
mod suggestion;

use crate::about::About;
use anyhow::{Result, bail};
use bytesize::ByteSize;
use clap::Args;
use dwell_debuginfo::{Flavour, Kind, Program, TypeId};
use dwell_output::Format;
use std::path::{Path, PathBuf};

/// The arguments of `cargo dwell futures`.
#[derive(Debug, Args)]
pub struct FuturesArgs {
    /// Show only futures whose name contains PATTERN
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// Also show futures of dependencies
    #[arg(long)]
    pub all: bool,
    /// Leave out smaller futures
    #[arg(long, value_name = "BYTES", value_parser = dwell_output::units::parse_bytes)]
    pub min: Option<ByteSize>,
    /// Show the N largest futures with what each holds
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Also write a page to FILE: what to change, what the largest futures hold, and a table to search
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also write the suggestions to FILE as SARIF, which editors and code scanning show at the lines
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

/// Returns the futures of a program with suggestions, largest first. Without `all`, only those of the workspace.
/// Relative paths of sources start from `root`, if known.
pub fn all(program: &Program, all: bool, root: Option<&Path>) -> Vec<json::Future> {
    let ids = select(program, &|id| all || program.get(id).own);
    describe(program, &ids, root)
}

/// Writes the report to standard output.
///
/// # Errors
/// Returns an error if no future's name contains the pattern, or if standard output cannot be written.
pub fn run(program: &Program, args: &FuturesArgs, root: Option<&Path>, profile: Option<&str>) -> Result<()> {
    let every = select(program, &|_| true);
    let own = every.iter().filter(|&&id| program.get(id).own).count();
    // Without a workspace, all futures count as the user's own.
    let all = args.all || !program.types().any(|(_, ty)| ty.own);
    let mut ids: Vec<TypeId> = every.iter().copied().filter(|&id| all || program.get(id).own).collect();
    if let Some(pattern) = &args.pattern {
        let has = |&id: &TypeId| {
            let ty = program.get(id);
            ty.name.contains(pattern.as_str()) || ty.path.contains(pattern.as_str())
        };
        if !ids.iter().any(has) && every.iter().any(has) {
            bail!("only dependencies have a future that matches `{pattern}`; --all shows them");
        }
        if !ids.iter().any(has) {
            let names = every.iter().map(|&id| &*program.get(id).name);
            bail!("no future matches `{pattern}`{}", dwell_output::nearest::suggestion(pattern, names));
        }
        ids.retain(has);
    }
    let min = args.min.map_or(0, |size| size.as_u64());
    ids.retain(|&id| program.size_of(id) >= min);
    let futures = describe(program, &ids, root);
    let report = report::Report { version: 1, program: About::new(program, profile), all: every.len(), own, futures };
    files::write(program, &ids, &report, args)?;
    dwell_output::print(|mut out| report.write(args, &mut out))
}

/// Returns the selected futures, largest first.
fn select(program: &Program, wanted: &dyn Fn(TypeId) -> bool) -> Vec<TypeId> {
    let is_future = |kind: &Kind| matches!(kind, Kind::Coroutine(coroutine) if coroutine.flavour != Flavour::Other);
    let found = program.types().filter(|(id, ty)| is_future(&ty.kind) && wanted(*id));
    let mut ids: Vec<TypeId> = found.map(|(id, _)| id).collect();
    ids.sort_by_key(|&id| (std::cmp::Reverse(program.size_of(id)), id));
    ids
}

fn describe(program: &Program, ids: &[TypeId], root: Option<&Path>) -> Vec<json::Future> {
    let graph = size::Graph::new(program);
    // Suggestions for an inner future also shrink the outer ones, so all futures of the workspace are examined.
    let mut changed: Vec<TypeId> = select(program, &|id| program.get(id).own);
    changed.extend(ids.iter().filter(|&&id| !program.get(id).own));
    let mut files = source::Files::new(root, &program.file);
    let suggestions = suggest::suggest(program, &graph, &changed, &mut files);
    ids.iter().filter_map(|&id| json::Future::new(program, &graph, id, &suggestions)).collect()
}

/// Formats line numbers: `in line 7`, `in lines 7 and 9`.
fn in_lines(lines: &[u32]) -> String {
    match lines {
        [] => "in an unknown line".to_owned(),
        [line] => format!("in line {line}"),
        [first @ .., last] if first.len() < 4 => {
            let first: Vec<_> = first.iter().map(u32::to_string).collect();
            format!("in lines {} and {last}", first.join(", "))
        }
        [first, .., last] => format!("in {} lines from {first} to {last}", lines.len()),
    }
}
