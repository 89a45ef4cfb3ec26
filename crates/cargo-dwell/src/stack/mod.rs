//! `cargo dwell stack`: the stack frames of functions, the locals that fill them, and the deepest call paths.

mod advice;
mod code;
mod depth;
mod frames;
mod page;

use crate::program::{self, BuildArgs, Outcome, Purpose};
use crate::report::saved;
use anyhow::{Result, bail};
use clap::Args;
use comfy_table::Cell;
use depth::Depth;
use dwell_debuginfo::{Options, Program};
use dwell_output::units::count;
use dwell_output::{Format, Look, header, right};
use frames::Function;
use serde::Serialize;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Returns the functions of an executable with the sizes of their frames in bytes.
///
/// # Errors
/// Returns an error if the file cannot be read, or is for a processor whose instructions are not read.
pub(crate) fn frame_sizes(executable: &Path) -> Result<Vec<(String, u64)>> {
    Ok(frames::read(executable)?.all.into_iter().map(|function| (function.name, function.frame)).collect())
}

/// `cargo dwell stack`
#[derive(Debug, Args)]
pub struct Stack {
    /// Show only functions whose name contains PATTERN
    #[arg(value_name = "PATTERN")]
    pub pattern: Option<String>,
    /// Also show functions of dependencies
    #[arg(long)]
    pub all: bool,
    /// Show the N largest frames
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Also write a page to FILE: the deepest paths with the locals of each frame, and a table to search
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    build: BuildArgs,
}

/// The least size of a local that is listed, in bytes.
const LEAST_LOCAL: u64 = 64;
/// The least number of bytes without a name that are listed.
const LEAST_UNNAMED: u64 = 1024;
/// The number of locals that are listed for a function.
const LOCALS: usize = 4;
/// The number of functions that are shown of a path.
const PATH: usize = 24;

#[derive(Serialize)]
struct Document {
    version: u32,
    file: String,
    profile: Option<String>,
    functions: Vec<Row>,
}

/// A function in the report.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    file: Option<String>,
    line: Option<u32>,
    /// The bytes of its frame.
    frame: u64,
    /// The variables in the frame, largest first. The optimiser may give several the same bytes.
    locals: Vec<Local>,
    /// The bytes of its frame and of the deepest known path below it.
    deepest: u64,
    /// Whether a path below may be deeper: it has a recursion, or a call by a pointer or of a library.
    is_least: bool,
    /// Whether it calls itself, by itself or through others.
    recursive: bool,
    /// The functions of the deepest path, with their frames.
    path: Vec<Step>,
    #[serde(skip)]
    target: Target,
}

/// What a program runs on.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    /// Whether a value can be on the heap.
    allocates: bool,
    /// Whether it is a microcontroller, whose stacks have some KiB.
    is_small: bool,
}

#[derive(Debug, Serialize)]
struct Local {
    name: String,
    #[serde(rename = "type")]
    type_name: String,
    size: u64,
    /// Whether a function declares it that is inlined into this one.
    is_inlined: bool,
}

#[derive(Debug, Serialize)]
struct Step {
    name: String,
    frame: u64,
}

impl Stack {
    /// Runs the command.
    ///
    /// # Errors
    /// Returns an error if the program cannot be built or read, or if nothing matches the pattern.
    pub fn run(&self) -> Result<ExitCode> {
        let executable = match program::built(&self.build, Purpose::Inspect)? {
            Outcome::Done(executable) => executable,
            Outcome::Failed(code) => return Ok(code),
        };
        dwell_debuginfo::expect(&executable.file)?;
        let frames::Functions { all: functions, word } = frames::read(&executable.file)?;
        let depths = depth::depths(&functions);
        let mut order: Vec<usize> = (0..functions.len()).filter(|&index| !functions[index].name.is_empty()).collect();
        order.sort_by_key(|&index| (std::cmp::Reverse(functions[index].frame), index));
        let options = Options { own_crates: executable.own_crates.clone(), cache: None, progress: true };
        let mut own_crates = executable.own_crates.clone();
        let is_own = |function: &Function, crates: &[String]| {
            let name = function.name.strip_prefix('<').unwrap_or(&function.name);
            crates.iter().any(|krate| name.strip_prefix(krate.as_str()).is_some_and(|rest| rest.starts_with("::")))
        };
        if !functions.iter().any(|function| is_own(function, &own_crates)) {
            let (mut program, _) = dwell_debuginfo::load_with_frames(&executable.file, &options, &[])?;
            own_crates = dwell_debuginfo::guess_own(&mut program);
        }
        order.retain(|&index| self.all || is_own(&functions[index], &own_crates));
        if let Some(pattern) = &self.pattern {
            order.retain(|&index| functions[index].name.contains(pattern.as_str()));
            if order.is_empty() {
                let names = functions.iter().map(|function| &*function.name);
                bail!("no function matches `{pattern}`{}", dwell_output::nearest::suggestion(pattern, names));
            }
        }
        let total = order.len();
        order.truncate(self.top);
        let addresses: Vec<u64> = order.iter().map(|&index| functions[index].address).collect();
        let (program, known) = dwell_debuginfo::load_with_inlined(&executable.file, &options, &addresses)?;
        let allocates = crate::layout::allocates(&program);
        let target = Target { allocates, is_small: word == 4 && !allocates };
        let rows: Vec<Row> = order
            .iter()
            .map(|&index| {
                let known = known.get(&functions[index].address).and_then(|frames| frames.last());
                row(&program, (&functions, target), &depths, index, known)
            })
            .collect();
        let document = Document {
            version: 1,
            file: executable.file.display().to_string(),
            profile: executable.profile.clone(),
            functions: rows,
        };
        if let Some(file) = &self.html {
            saved::write(file, |out| out.write_all(page::page(&document).html().as_bytes()))?;
        }
        dwell_output::print(|mut out| match self.format {
            Format::Json => {
                serde_json::to_writer(&mut out, &document)?;
                writeln!(out)
            }
            Format::Human => text(&document, total, &Look::terminal(), &mut out),
            Format::Markdown => text(&document, total, &Look::page(), &mut out),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn row(
    program: &Program,
    (functions, target): (&[Function], Target),
    depths: &[Depth],
    index: usize,
    known: Option<&dwell_debuginfo::Frame>,
) -> Row {
    let function = &functions[index];
    let depth = depths[index];
    let mut locals: Vec<Local> = known
        .iter()
        .flat_map(|frame| &frame.locals)
        .map(|(name, ty, is_inlined)| {
            let value = program.get(*ty);
            Local {
                name: name.to_string(),
                type_name: value.name.to_string(),
                size: value.size,
                is_inlined: *is_inlined,
            }
        })
        .filter(|local| local.size >= LEAST_LOCAL)
        .collect();
    locals.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.name.cmp(&b.name)));
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    let mut next = Some(index);
    while let Some(at) = next.filter(|at| seen.insert(*at)) {
        path.push(Step { name: functions[at].name.clone(), frame: functions[at].frame });
        next = depths[at].next;
    }
    let source = known.and_then(|frame| frame.source.as_ref());
    Row {
        name: function.name.clone(),
        file: source.map(|source| source.file.to_string()),
        line: source.map(|source| source.line),
        frame: function.frame,
        locals,
        deepest: depth.bytes,
        is_least: depth.is_least,
        recursive: depth.is_recursive,
        path,
        target,
    }
}

fn text(document: &Document, total: usize, look: &Look, out: &mut impl io::Write) -> io::Result<()> {
    if look.markdown {
        writeln!(out, "# Stack frames\n")?;
    }
    if document.functions.is_empty() {
        return writeln!(out, "There is no function to show (--all shows those of dependencies).");
    }
    let profile = document.profile.as_ref().map_or_else(String::new, |profile| format!(", profile {profile}"));
    writeln!(out, "{} functions{profile}. The largest frames:\n", count(total as u64))?;
    let mut rows = vec![header(&["frame", "deepest", "function", "where", "the locals that fill it", "what to try"])];
    for row in &document.functions {
        let locals: Vec<_> = row
            .locals
            .iter()
            .take(LOCALS)
            .map(|local| format!("{}: {} {}", local.name, local.type_name, count(local.size)))
            .collect();
        let mut locals = locals;
        let more = row.locals.len().saturating_sub(LOCALS);
        locals.extend((more > 0).then(|| format!("{more} more")));
        let unnamed = row.unnamed();
        locals.extend((unnamed >= LEAST_UNNAMED.max(row.frame / 2)).then(|| format!("temporaries {}", count(unnamed))));
        let mark = if row.recursive { " (recursive)" } else { "" };
        let least = if row.is_least { ">= " } else { "" };
        let at = row.file.as_ref().zip(row.line).map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
        rows.push(vec![
            right(count(row.frame)),
            right(format!("{least}{}", count(row.deepest))),
            Cell::new(format!("{}{mark}", row.name)),
            Cell::new(at),
            Cell::new(locals.join(", ")),
            Cell::new(row.advice()),
        ]);
    }
    look.table(out, &rows)?;
    writeln!(
        out,
        "\n`deepest` is the frame with those of the deepest known call path below it. `>=`: a call by a pointer, of a \
         library, or in a recursion may be deeper."
    )?;
    if let Some(deepest) = document.functions.iter().max_by_key(|function| function.deepest) {
        look.heading(out, "The deepest path", &format!("  {} bytes", count(deepest.deepest)))?;
        let mut rows = vec![header(&["frame", "function"])];
        for step in deepest.path.iter().take(PATH) {
            rows.push(vec![right(count(step.frame)), Cell::new(&step.name)]);
        }
        look.table(out, &rows)?;
        if deepest.path.len() > PATH {
            writeln!(out, "{} more below.", deepest.path.len() - PATH)?;
        }
    }
    Ok(())
}
