//! `cargo dwell dyn`: the types of a program's trait objects, and the inline size that holds most of them.

mod blocks;
mod edits;
pub mod json;

use crate::about::About;
use anyhow::{Result, bail};
use clap::Args;
use comfy_table::Cell;
use dwell_debuginfo::Program;
use dwell_output::units::{count, percent};
use dwell_output::{Format, Look, header, right};
use json::Trait;
use serde::Serialize;
use std::io;
use std::path::Path;

/// The arguments of `cargo dwell dyn`.
#[derive(Clone, Debug, Default, Args)]
pub struct DynArgs {
    /// Show only traits whose name contains TRAIT, with all their types
    #[arg(value_name = "TRAIT")]
    pub pattern: Option<String>,
    /// Also show traits for which no type of the workspace has a vtable
    #[arg(long)]
    pub all: bool,
    /// Show the first N traits
    #[arg(long, value_name = "N")]
    pub top: Option<usize>,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// The default number of rows.
const ROWS: usize = 30;

#[derive(Serialize)]
struct Document {
    version: u32,
    program: About,
    traits: Vec<Trait>,
}

/// Writes the report to standard output. Sources are read below `root`, and `profile` is the profile of the build, if they
/// are known.
///
/// # Errors
/// Returns an error if no trait's name contains the pattern, or if standard output cannot be written.
pub fn run(program: &Program, args: &DynArgs, root: Option<&Path>, profile: Option<&str>) -> Result<()> {
    let every = json::traits(program, true, root);
    let has_own = program.types().any(|(_, ty)| ty.own);
    let all = args.all || !has_own;
    let mut traits: Vec<Trait> = every.iter().filter(|dyn_trait| all || dyn_trait.own).cloned().collect();
    if let Some(pattern) = &args.pattern {
        let fits =
            |dyn_trait: &Trait| dyn_trait.name.contains(pattern.as_str()) || dyn_trait.path.contains(pattern.as_str());
        if !traits.iter().any(fits) && every.iter().any(fits) {
            bail!("only dependencies have a trait with a vtable that matches `{pattern}`; --all shows them");
        }
        traits.retain(fits);
        if traits.is_empty() {
            let names = every.iter().map(|dyn_trait| &*dyn_trait.name);
            bail!("no trait with a vtable matches `{pattern}`{}", dwell_output::nearest::suggestion(pattern, names));
        }
    }
    let about = About::new(program, profile);
    let sizes = [every.len() as u64, program.pointer_size];
    dwell_output::print(|mut out| match args.format {
        Format::Json => {
            serde_json::to_writer(&mut out, &Document { version: 1, program: about, traits })?;
            writeln!(out)
        }
        Format::Human => text(&traits, sizes, args, &Look::terminal(), &mut out),
        Format::Markdown => text(&traits, sizes, args, &Look::page(), &mut out),
    })
}

fn text(
    traits: &[Trait],
    [every, word]: [u64; 2],
    args: &DynArgs,
    look: &Look,
    out: &mut impl io::Write,
) -> io::Result<()> {
    if look.markdown {
        writeln!(out, "# Types behind trait objects\n")?;
    }
    writeln!(
        out,
        "{} traits have vtables, {} of them shown. A type has a vtable if the program converts it to a `dyn Trait`.",
        count(every),
        count(traits.len() as u64)
    )?;
    if traits.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let mut rows =
        vec![header(&["trait", "types", "largest", "8 B", "16 B", "24 B", "32 B", "48 B", "SmallBox<dyn _, N>"])];
    let shown = args.top.unwrap_or(if look.markdown { usize::MAX } else { ROWS }).min(traits.len());
    for dyn_trait in &traits[..shown] {
        let mut row = vec![
            Cell::new(&dyn_trait.name),
            right(count(dyn_trait.implementors.len() as u64)),
            right(dyn_trait.implementors.iter().map(|one| one.size).max().map_or_else(String::new, count)),
        ];
        row.extend(dyn_trait.fits.iter().map(|fit| right(percent(fit.types, dyn_trait.implementors.len() as u64))));
        row.push(Cell::new(match (dyn_trait.suggested_n, dyn_trait.boxed, dyn_trait.shared) {
            (Some(n), ..) => format!("N = {n} ({} bytes)", n.saturating_mul(word)),
            (None, true, _) => "`Box` (most types do not fit in 48 bytes)".to_owned(),
            (None, false, true) => "`Rc` or `Arc` only, which share the value".to_owned(),
            (None, false, false) => "no `Box<dyn _>` in a type of the workspace".to_owned(),
        }));
        rows.push(row);
    }
    look.table(out, &rows)?;
    if shown < traits.len() {
        writeln!(out, "{} more are not shown (--top, TRAIT).", traits.len() - shown)?;
    }
    let sentences = traits[..shown].iter().flat_map(|dyn_trait| {
        let n = dyn_trait.suggested_n.unwrap_or_default();
        dyn_trait.blocks.iter().map(move |block| format!("`dyn {}`: {}", dyn_trait.name, block.text(n)))
    });
    for sentence in sentences {
        writeln!(out, "{sentence}")?;
    }
    let listed = if args.pattern.is_some() { shown.min(5) } else { shown.min(1) };
    for dyn_trait in &traits[..listed] {
        look.heading(
            out,
            &format!("dyn {}", dyn_trait.name),
            &format!("  {} types with a vtable", dyn_trait.implementors.len()),
        )?;
        let mut rows = vec![header(&["size", "align", "type"])];
        let most = if args.pattern.is_some() { usize::MAX } else { ROWS };
        for one in dyn_trait.implementors.iter().take(most) {
            rows.push(vec![right(count(one.size)), right(count(one.align)), Cell::new(&one.type_name)]);
        }
        look.table(out, &rows)?;
    }
    Ok(())
}
