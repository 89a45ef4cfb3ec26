//! Futures as tables or as JSON.

use super::FuturesArgs;
use super::json::{Advice, Await, Future, Held, Node};
use super::size::{AWAITED, is_temporary, total};
use crate::about::About;
use crate::rank::Rank;
use comfy_table::Cell;
use dwell_output::units::count;
use dwell_output::{Format, Look, header, right};
use serde::Serialize;
use std::collections::HashSet;
use std::io;

#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) version: u32,
    pub(super) program: About,
    /// The number of futures in the program, and of those from its workspace.
    #[serde(skip)]
    pub(super) all: usize,
    #[serde(skip)]
    pub(super) own: usize,
    pub(super) futures: Vec<Future>,
}

/// The default number of rows.
const ROWS: usize = 20;
/// The number of futures whose `.await`s are shown by default.
const SHOWN: usize = 3;
/// The maximum number of `.await`s shown for a future, without a pattern.
const AWAITS: usize = 8;
/// The maximum number of values shown for one `.await`.
const HELD: usize = 6;
/// The least number of bytes that a box must move to be named.
const LARGE: u64 = 1024;
/// The maximum number of suggestions shown for a future.
const BEST: usize = 3;

impl Report {
    pub(super) fn write(&self, args: &FuturesArgs, out: &mut impl io::Write) -> io::Result<()> {
        match args.format {
            Format::Human => self.text(args, out, &Look::terminal()),
            Format::Markdown => self.text(args, out, &Look::page()),
            Format::Json => {
                serde_json::to_writer(&mut *out, self)?;
                writeln!(out)
            }
        }
    }

    fn text(&self, args: &FuturesArgs, out: &mut impl io::Write, look: &Look) -> io::Result<()> {
        if look.markdown {
            writeln!(out, "# Futures\n")?;
        }
        writeln!(out, "{}", self.summary(args))?;
        if self.futures.is_empty() {
            return Ok(());
        }
        let rows = args.top.unwrap_or(if look.markdown { usize::MAX } else { ROWS }).min(self.futures.len());
        writeln!(out)?;
        look.table(out, &table(&self.futures[..rows]))?;
        if rows < self.futures.len() {
            writeln!(out, "{} smaller ones are not shown (--top, PATTERN).", self.futures.len() - rows)?;
        }
        self.suggestions(args, out, look)?;
        let shown = match (args.top, &args.pattern) {
            (Some(top), _) => top,
            (None, Some(_)) => ROWS,
            (None, None) => SHOWN,
        };
        let most = if args.pattern.is_some() { usize::MAX } else { AWAITS };
        for future in self.futures.iter().take(shown) {
            describe(future, most, out, look)?;
        }
        if shown < self.futures.len() {
            writeln!(out, "\n`cargo dwell futures PATTERN` shows what another future holds.")?;
        }
        Ok(())
    }

    fn summary(&self, args: &FuturesArgs) -> String {
        let file = std::path::Path::new(&self.program.file).file_name();
        let name = file.map_or_else(|| self.program.file.clone(), |name| name.to_string_lossy().into_owned());
        let profile = self.program.profile.as_ref().map_or_else(String::new, |profile| format!(", profile {profile}"));
        let rustc = self.program.rustc.as_ref().map_or_else(String::new, |rustc| format!(", rustc {rustc}"));
        let what = match (self.all, self.own) {
            (0, _) => "no async fn, block or closure".to_owned(),
            (all, 0) if !args.all => {
                format!("no future of its own, {} of dependencies (--all shows them)", count(all as u64))
            }
            (all, own) => {
                format!("{} futures of its own, {} of dependencies", count(own as u64), count((all - own) as u64))
            }
        };
        format!("`{name}`{profile}{rustc}: {what}.")
    }

    /// Returns the suggestions, one for each place in the source, largest saving first.
    pub(super) fn advice(&self) -> Vec<&Advice> {
        let mut all: Vec<&Advice> = self
            .futures
            .iter()
            .flat_map(|future| future.suggestions.iter().filter(|one| one.future == future.name))
            .collect();
        all.sort_by_key(|one| std::cmp::Reverse((one.saves_together, one.saves_in_future)));
        // Instances of a generic function have one source.
        let mut seen = HashSet::new();
        all.retain(|one| seen.insert((&one.file, one.line, one.kind, one.what.split('<').next())));
        all
    }

    /// Writes the suggestions: those that save bytes in all, or else those that move the most bytes to the heap.
    fn suggestions(&self, args: &FuturesArgs, out: &mut impl io::Write, look: &Look) -> io::Result<()> {
        let most = args.top.unwrap_or(ROWS / 2).max(1);
        let (shown, moves): (Vec<&Advice>, Vec<&Advice>) = self.advice().into_iter().partition(|one| one.shown);
        let (many, once): (Vec<&Advice>, Vec<&Advice>) = shown.into_iter().partition(|one| one.rank >= Rank::Task);
        // What needs no heap is free.
        let is_enough = |one: &&Advice| one.heap == 0 || one.saves_in_future >= LARGE / 2;
        let once: Vec<&Advice> = once.into_iter().filter(is_enough).collect();
        if !many.is_empty() {
            write(look, out, "What to change, largest saving first", &many, most)?;
        }
        if !once.is_empty() {
            let title = "What to change; each of these futures exists once, as far as the program's types show";
            write(look, out, title, &once, most)?;
        }
        if many.is_empty() && once.is_empty() {
            let is_large = |one: &&&Advice| {
                let half = one.future_size / 2;
                one.saves_in_future >= LARGE && one.saves_in_future >= half && one.heap > 0 && !one.is_in_main()
            };
            let large: Vec<&Advice> = moves.iter().filter(is_large).copied().take(SHOWN).collect();
            if !large.is_empty() {
                let title = "What makes them large; a box only moves these bytes to the heap, at each call";
                write(look, out, title, &large, most)?;
            }
        }
        Ok(())
    }
}

/// Writes suggestions as a table.
fn write(look: &Look, out: &mut impl io::Write, title: &str, list: &[&Advice], most: usize) -> io::Result<()> {
    look.heading(out, title, "")?;
    let mut rows = vec![header(&["saves", "of", "future", "where", "what", "how", "heap a call"])];
    for one in list.iter().take(most) {
        // What is not shown by default has no saving beside the others.
        let saves = if one.shown { one.saves_together } else { one.saves_in_future };
        rows.push(vec![
            right(count(saves)),
            right(count(one.future_size)),
            Cell::new(&one.future),
            Cell::new(at(one.file.as_ref(), one.line)),
            Cell::new(format!("{}{}", one.what, whose(one))),
            Cell::new(&one.how),
            right(if one.heap == 0 { "none".to_owned() } else { count(one.heap) }),
        ]);
    }
    look.table(out, &rows)?;
    if list.len() > most {
        writeln!(out, "{} that save less are not shown (--top, --format json).", list.len() - most)?;
    }
    Ok(())
}

/// Says which outer future has room for a branch that few calls come to.
fn whose(one: &Advice) -> String {
    match &one.outermost {
        Some(outer) if one.heap > 0 && *outer != one.future && !outer.contains(" in main:") => {
            format!("; each `{outer}` has room for it ({} bytes less)", count(one.saves_in_outermost))
        }
        _ => String::new(),
    }
}

fn table(futures: &[Future]) -> Vec<Vec<Cell>> {
    let mut rows = vec![header(&["size", "future", "where", "largest `.await`"])];
    for future in futures {
        let most = future.awaits.iter().max_by_key(|point| bytes(point)).map_or_else(String::new, |point| {
            let largest = point.held.iter().chain(&point.awaited).max_by_key(|held| held.size);
            let largest = largest.map_or_else(String::new, |held| format!(": {}", name(held)));
            format!("line {}, {} bytes{largest}", line(point.line), count(bytes(point)))
        });
        rows.push(vec![
            right(count(future.size)),
            Cell::new(&future.name),
            Cell::new(at(future.file.as_ref(), future.line)),
            Cell::new(most),
        ]);
    }
    rows
}

fn describe(future: &Future, most: usize, out: &mut impl io::Write, look: &Look) -> io::Result<()> {
    let head =
        format!("  {} bytes, align {}, {}", count(future.size), future.align, at(future.file.as_ref(), future.line));
    look.heading(out, &future.name, &head)?;
    if !future.captures.is_empty() {
        let bytes = total(future.captures.iter().map(|held| held.size));
        writeln!(out, "arguments and captures, {} bytes: {}\n", count(bytes), list(&future.captures))?;
    }
    if !future.awaits.is_empty() {
        look.table(out, &awaits(future, most))?;
        if future.awaits.len() > most {
            writeln!(out, "{} more `.await`s hold less (PATTERN shows them).", future.awaits.len() - most)?;
        }
    }
    if !future.tree.is_empty() {
        writeln!(out, "\nThe futures inside it:\n")?;
        if look.markdown {
            writeln!(out, "```")?;
        }
        writeln!(out, "{} {}", future.name, count(future.size))?;
        for node in &future.tree {
            tree(node, future.size, 1, out)?;
        }
        if look.markdown {
            writeln!(out, "```")?;
        }
    }
    let shown: Vec<&Advice> = future.suggestions.iter().filter(|one| one.shown).collect();
    if !shown.is_empty() {
        writeln!(out, "\nSuggestions for it:\n")?;
        let mut rows = vec![header(&["saves", "where", "what", "how"])];
        for one in shown.into_iter().take(BEST) {
            let whose = if one.future == future.name { "" } else { &one.future };
            rows.push(vec![
                right(count(one.saves)),
                Cell::new(at(one.file.as_ref(), one.line)),
                Cell::new(format!("{whose} {}", one.what).trim()),
                Cell::new(&one.how),
            ]);
        }
        look.table(out, &rows)?;
    }
    Ok(())
}

/// Returns the `.await`s that hold the most bytes, in the order of the source, with the held values.
fn awaits(future: &Future, most: usize) -> Vec<Vec<Cell>> {
    let mut largest: Vec<usize> = (0..future.awaits.len()).collect();
    largest.sort_by_key(|&index| std::cmp::Reverse(bytes(&future.awaits[index])));
    largest.truncate(most);
    largest.sort_unstable();
    let mut rows = vec![header(&[".await at", "", "type", "bytes", "declared at"])];
    for point in largest.into_iter().map(|index| &future.awaits[index]) {
        let mut location = at(point.file.as_ref(), point.line);
        let mut row = |what: String, type_name: &str, size: u64, line: String| {
            let size = if size == 0 { String::new() } else { count(size) };
            let location = std::mem::take(&mut location);
            rows.push(vec![Cell::new(location), Cell::new(what), Cell::new(type_name), right(size), Cell::new(line)]);
        };
        if let Some(held) = &point.awaited {
            row("waits for".to_owned(), &held.type_name, held.size, String::new());
        }
        for held in point.held.iter().take(HELD) {
            let what = if is_temporary(&held.name) { "a temporary" } else { &held.name };
            let declared = if held.line.is_some() { at(held.file.as_ref(), held.line) } else { String::new() };
            row(format!("holds {what}"), &held.type_name, held.size, declared);
        }
        if point.held.len() > HELD {
            let rest = &point.held[HELD..];
            row(format!("and {} more", rest.len()), "", total(rest.iter().map(|held| held.size)), String::new());
        }
        if point.held.is_empty() && point.awaited.is_none() {
            row("holds nothing".to_owned(), "", 0, String::new());
        }
    }
    rows
}

/// Returns the number of bytes that an `.await` holds: the awaited future and the held values.
fn bytes(point: &Await) -> u64 {
    point.held_size.saturating_add(point.awaited.as_ref().map_or(0, |held| held.size))
}

/// Prints a future, and the futures inside it that take at least a twentieth of the whole.
fn tree(node: &Node, whole: u64, depth: usize, out: &mut impl io::Write) -> io::Result<()> {
    let lines: Vec<_> = node.lines.iter().map(u32::to_string).collect();
    let location = match (&*node.variable, &lines[..]) {
        ("", _) => String::new(),
        (AWAITED, []) => "awaits ".to_owned(),
        (AWAITED, lines) => format!("line {}: ", lines.join(", ")),
        (variable, _) if is_temporary(variable) => "a temporary: ".to_owned(),
        (variable, _) => format!("{variable}: "),
    };
    let again = if node.repeated { " (as above)" } else { "" };
    writeln!(out, "{:indent$}{location}{} {}{again}", "", node.name, count(node.size), indent = depth * 2)?;
    let mut small = (0, 0);
    for child in &node.children {
        if child.size.saturating_mul(20) >= whole || node.children.len() == 1 {
            tree(child, whole, depth + 1, out)?;
        } else if child.size > 0 {
            small = (small.0 + 1, small.1.max(child.size));
        }
    }
    let indent = depth * 2 + 2;
    match small {
        (0, _) => {}
        (1, size) => writeln!(out, "{:indent$}(1 smaller future, {} bytes)", "", count(size))?,
        (all, most) => writeln!(out, "{:indent$}({all} smaller futures, at most {} bytes each)", "", count(most))?,
    }
    Ok(())
}

/// Formats a held value: `name: Type 24`.
fn name(held: &Held) -> String {
    let name = match &*held.name {
        AWAITED => return format!("the awaited {} {}", held.type_name, count(held.size)),
        name if is_temporary(name) => "a temporary",
        name => name,
    };
    format!("{name}: {} {}", held.type_name, count(held.size))
}

fn list(held: &[Held]) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = held.iter().take(MOST).map(name).collect();
    if held.len() > MOST {
        names.push(format!("{} more", held.len() - MOST));
    }
    names.join(", ")
}

fn line(line: Option<u32>) -> String {
    line.map_or_else(|| "?".to_owned(), |line| line.to_string())
}

fn at(file: Option<&String>, line: Option<u32>) -> String {
    let Some(file) = file else { return "unknown".to_owned() };
    // Shorten a path in a registry to package and version, and one in std to the library.
    let package = file.split_once("/registry/src/").and_then(|(_, rest)| Some(rest.split_once('/')?.1));
    let std = file.strip_prefix("/rustc/").and_then(|rest| Some(rest.split_once('/')?.1));
    let file = package.or(std).unwrap_or(file);
    line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}
