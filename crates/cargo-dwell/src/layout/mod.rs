//! `cargo dwell layout`: the sizes of a program's types, and suggestions for smaller ones.

mod candidates;
mod compact;
mod counts;
mod explain;
mod files;
mod holders;
pub mod json;
mod measure;
mod picture;
mod report;
mod resize;
mod statics;
mod suggest;
mod withheld;

pub use holders::Places;
pub(crate) use picture::picture;

use anyhow::{Result, bail};
use bytesize::ByteSize;
use clap::Args;
use dwell_debuginfo::{Program, Type, TypeId};
use dwell_output::Format;
use measure::{is_listed, measure};
use std::path::{Path, PathBuf};

/// The arguments of `cargo dwell layout`.
#[derive(Clone, Debug, Default, Args)]
pub struct LayoutArgs {
    /// Show only types whose name contains PATTERN
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// Draw the bytes of TYPE, field by field and variant by variant
    #[arg(long, value_name = "TYPE", conflicts_with = "pattern")]
    pub explain: Option<String>,
    /// The order of the table [default: padding plus the bytes that only the largest variant uses]
    #[arg(long, value_enum)]
    pub sort: Option<Sort>,
    /// Also show types of dependencies
    #[arg(long)]
    pub all: bool,
    /// Leave out smaller types
    #[arg(long, value_name = "BYTES", value_parser = dwell_output::units::parse_bytes)]
    pub min: Option<ByteSize>,
    /// List the statics, such as pools of tasks, instead of the types
    #[arg(long, conflicts_with = "explain")]
    pub statics: bool,
    /// Count values by a census: FILE that `cargo dwell census --save FILE` wrote [default: one of this program in this
    /// folder or the workspace's]
    #[arg(long, value_name = "FILE")]
    pub census: Option<PathBuf>,
    /// Also list the changes that are withheld, with the reasons
    #[arg(long)]
    pub withheld: bool,
    /// Show the first N types
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Also write a page to FILE: what to change, the bytes of the largest types, and a table to search
    #[arg(long, value_name = "FILE", conflicts_with_all = ["explain", "statics"])]
    pub html: Option<PathBuf>,
    /// Also write the suggestions to FILE as SARIF, which editors and code scanning show at the lines
    #[arg(long, value_name = "FILE", conflicts_with_all = ["explain", "statics"])]
    pub sarif: Option<PathBuf>,
}

/// The order of types. Types of the workspace come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sort {
    /// Bytes of a value
    Size,
    /// Bytes that no value uses
    Padding,
    /// Bytes by which the largest variant exceeds the next
    VariantGap,
}

/// The default number of rows.
const ROWS: usize = 20;
/// The largest number of types that `--explain` draws.
const MOST_EXPLAINED: usize = 5;

/// Writes the report to standard output. Sources are read below `root`, if it is known, and `profile` is the profile of
/// the build.
///
/// # Errors
/// Returns an error if no type's name contains the pattern, if the census cannot be read, or if standard output cannot
/// be written.
pub fn run(program: &Program, args: &LayoutArgs, root: Option<&Path>, profile: Option<&str>) -> Result<()> {
    let listed: Vec<TypeId> = program.types().filter(|(_, ty)| is_listed(ty)).map(|(id, _)| id).collect();
    let build_id = program.build_id.as_deref();
    let found = if args.census.is_none() && !args.statics && args.explain.is_none() {
        let name = program.file.file_name().unwrap_or_default().to_string_lossy();
        counts::find(&folders(program, root), build_id, &name)
    } else {
        None
    };
    if let Some(file) = &found {
        eprintln!("note: the values are counted by the census in {}", file.display());
    }
    let census = args.census.as_ref().or(found.as_ref());
    let counts = census.map(|file| counts::Counts::read(file, build_id)).transpose()?;
    let facts = suggest::Facts::new(program, root, counts);
    let about = report::About { program, profile, listed: &listed, facts: &facts };
    if args.statics {
        return dwell_output::print(|mut out| statics::write(program, args, &mut out));
    }
    if let Some(name) = &args.explain {
        let mut found = named(program, name)?;
        sort(program, &mut found, None);
        if found.len() > MOST_EXPLAINED && args.format == Format::Human {
            eprintln!(
                "note: {} types have this name; these are the first {MOST_EXPLAINED}. Give a full path",
                found.len()
            );
            found.truncate(MOST_EXPLAINED);
        }
        return dwell_output::print(|mut out| match args.format {
            Format::Json => report::json(&about, &found, &mut out),
            format => explain::write(program, &facts.embedding, &found, format, &mut out),
        });
    }
    let has_own = listed.iter().any(|id| program.get(*id).own);
    let all = args.all || !has_own;
    let mut ids: Vec<TypeId> = listed.iter().copied().filter(|id| all || program.get(*id).own).collect();
    if let Some(pattern) = &args.pattern {
        let fits = |id: &TypeId| matches(program.get(*id), pattern);
        if !ids.iter().any(fits) && listed.iter().any(fits) {
            bail!("only dependencies have a type that matches `{pattern}`; --all shows them");
        }
        ids.retain(fits);
        if ids.is_empty() {
            let names = listed.iter().map(|id| &*program.get(*id).name);
            bail!("no type matches `{pattern}`{}", dwell_output::nearest::suggestion(pattern, names));
        }
    }
    let min = args.min.map_or(0, |bytes| bytes.as_u64());
    ids.retain(|id| program.size_of(*id) >= min);
    sort(program, &mut ids, args.sort);
    if !has_own && !args.all && args.format == Format::Human {
        eprintln!("note: the program has no types of its own, so the report lists those of all crates");
    }
    files::write(&about, &ids, args)?;
    dwell_output::print(|mut out| match args.format {
        Format::Json => report::json(&about, &ids, &mut out),
        _ => report::text(&about, &ids, args, &mut out),
    })
}

/// Returns `true` if a program allocates, so that it can have a `Box`: it has a type of `alloc`.
pub fn allocates(program: &Program) -> bool {
    program.types().any(|(_, ty)| matches!(&*ty.krate, "alloc" | "std"))
}

/// Returns the folders in which a census may have been saved.
fn folders(program: &Program, root: Option<&Path>) -> Vec<PathBuf> {
    let current = std::env::current_dir().ok();
    let beside = program.file.parent().map(Path::to_owned);
    let mut all: Vec<PathBuf> = current.into_iter().chain(root.map(Path::to_owned)).chain(beside).collect();
    all.extend(root.map(|root| root.join("target/dwell")));
    all.dedup();
    all
}

/// Returns `true` if a name or path contains `pattern`.
fn matches(ty: &Type, pattern: &str) -> bool {
    ty.name.contains(pattern) || ty.path.contains(pattern)
}

/// Returns the types with the name `name`: exact matches, else matches without arguments, else names that contain it.
fn named(program: &Program, name: &str) -> Result<Vec<TypeId>> {
    let ends = |path: &str, sep: &str| {
        path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with(sep))
    };
    let bare = |text: &str| text.find('<').filter(|at| *at > 0).map_or(text.to_owned(), |at| text[..at].to_owned());
    let is_exact = |ty: &Type| *ty.name == *name || *ty.path == *name;
    let is_bare = |ty: &Type| ends(&bare(&ty.path), "::") || ends(&ty.path, "::") || bare(&ty.name) == name;
    let is_similar = |ty: &Type| is_listed(ty) && matches(ty, name);
    let tries: [&dyn Fn(&Type) -> bool; 3] = [&is_exact, &is_bare, &is_similar];
    for fits in tries {
        let found: Vec<TypeId> = program.types().filter(|(_, ty)| fits(ty)).map(|(id, _)| id).collect();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    let names = program.types().filter(|(_, ty)| is_listed(ty)).map(|(_, ty)| &*ty.name);
    bail!("there is no type `{name}`{}", dwell_output::nearest::suggestion(name, names))
}

/// Sorts own types first, then by `--sort`, largest first.
fn sort(program: &Program, ids: &mut [TypeId], by: Option<Sort>) {
    ids.sort_by_cached_key(|id| {
        let ty = program.get(*id);
        let measured = measure(program, ty);
        let gap = measured.gap.map_or(0, |(_, bytes)| bytes);
        let most = match by {
            Some(Sort::Size) => ty.size,
            Some(Sort::Padding) => measured.padding,
            Some(Sort::VariantGap) => gap,
            None => measured.padding + gap,
        };
        (!ty.own, std::cmp::Reverse((most, ty.size)), *id)
    });
}
