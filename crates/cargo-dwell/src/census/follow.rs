//! A census of a process and of those that it started: the workers of a server.

use super::output::{self, OutputArgs};
#[cfg(agent)]
use super::outside::{Exe, Target, census};
#[cfg(agent)]
use crate::processes;
#[cfg(agent)]
use anyhow::Context as _;
use anyhow::Result;
use comfy_table::Cell;
use dwell_heap::json::Document;
use dwell_heap::run::Child;
use dwell_heap::{Ran, Snapshot};
use dwell_output::units::{bytes, count, plural};
use dwell_output::{Format, Look, header, right};
#[cfg(agent)]
use std::fs;
use std::io::{self, Write};
#[cfg(agent)]
use std::process::ExitCode;

/// What one process holds.
#[derive(Clone, Debug, Default)]
struct Held {
    pid: u32,
    name: String,
    live_bytes: u64,
    live_blocks: u64,
    /// Its resident bytes, and its share of them: pages of several processes are divided by their number.
    rss: u64,
    pss: u64,
}

/// Prints a report for a program that was run and for each process that it started, then a table with their sum.
///
/// # Errors
/// Returns an error if no process can be read. Those that cannot be read are named, also the program: a script's shell.
pub(super) fn report(ran: &Ran, snapshots: Vec<Snapshot>, children: Vec<Child>, args: &OutputArgs) -> Result<()> {
    let beside = args.format == Format::Human;
    let mut all = Vec::new();
    let mut add = |pid: u32, name: &str, ran: &Ran, mut snapshots: Vec<Snapshot>| -> Result<()> {
        let document = dwell_heap::census(ran, &mut snapshots)?;
        drop(snapshots);
        if args.format != Format::Json {
            let which = if pid == 0 { format!("{name}:\n") } else { format!("Process {pid}, {name}:\n") };
            dwell_output::print_to(beside, |out| writeln!(out, "{which}"))?;
        }
        output::show(&document, args, beside)?;
        all.push(Held { pid, name: name.to_owned(), ..Held::of(&document) });
        Ok(())
    };
    let own = ran.executable.file_name().unwrap_or_default().to_string_lossy();
    let mut unread = add(0, &own, ran, snapshots).err();
    for child in children {
        let of_child = Ran {
            executable: child.executable,
            arguments: child.arguments,
            millis: child.run.millis,
            killed: child.run.killed,
            sample: child.run.sample.or(ran.sample),
            ..ran.clone()
        };
        for note in &child.run.notes {
            eprintln!("note: process {} ({}): {note}", child.pid, child.name);
        }
        if let Err(error) = add(child.pid, &child.name, &of_child, child.run.snapshots) {
            eprintln!("note: process {} ({}) is not counted: {error:#}", child.pid, child.name);
        }
    }
    if let Some(error) = unread.take_if(|_| !all.is_empty()) {
        eprintln!("note: the program is not counted: {error:#}");
    }
    match (unread, args.format) {
        (Some(error), _) => Err(error),
        (None, Format::Json) => Ok(()),
        (None, Format::Human) => dwell_output::print_to(beside, |mut out| table(&all, &Look::terminal(), &mut out)),
        (None, Format::Markdown) => dwell_output::print_to(beside, |mut out| table(&all, &Look::page(), &mut out)),
    }
}

impl Held {
    fn of(document: &Document) -> Self {
        let snapshot = document.snapshots.last();
        let [live_bytes, live_blocks] = snapshot.map_or([0; 2], |snapshot| [snapshot.live_bytes, snapshot.live_blocks]);
        Self { live_bytes, live_blocks, ..Self::default() }
    }
}

/// Prints a report for each process, then a table with their sum.
///
/// # Errors
/// Returns an error if the first process cannot be looked at, or a file should be written, since there are several reports. Other
/// processes that cannot be looked at are named.
#[cfg(agent)]
pub(super) fn run(pid: i32, exe: &Exe, ran: &Ran, args: &OutputArgs) -> Result<ExitCode> {
    let first = u32::try_from(pid).ok().filter(|pid| *pid > 0).with_context(|| format!("{pid}: is no process"))?;
    let mut pids = processes::descendants(first);
    // The first that was started comes first. A program that started this tool has it below itself: it must not stop itself.
    pids.reverse();
    pids.retain(|pid| *pid != std::process::id());
    let mut all = Vec::new();
    for number in std::iter::once(first).chain(pids) {
        let process = i32::try_from(number).map(Target::Process)?;
        // Workers may run another program than the one that was named.
        let own = if number == first { exe.clone() } else { Exe { file: None, ..exe.clone() } };
        let name = fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default().trim().to_owned();
        let [rss, pss] = resident(number);
        let document = match census(&process, &own, None, ran.clone()) {
            Ok(document) => document,
            Err(error) if number == first => return Err(error),
            Err(error) => {
                eprintln!("note: process {number} ({name}) is not counted: {error:#}");
                continue;
            }
        };
        if args.format != Format::Json {
            dwell_output::print(|out| writeln!(out, "Process {number}, {name}:\n"))?;
        }
        output::show(&document, args, false)?;
        all.push(Held { pid: number, name, rss, pss, ..Held::of(&document) });
    }
    match args.format {
        Format::Json => {}
        Format::Human => dwell_output::print(|mut out| table(&all, &Look::terminal(), &mut out))?,
        Format::Markdown => dwell_output::print(|mut out| table(&all, &Look::page(), &mut out))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the resident bytes of a process, and its share of them; 0 if the kernel does not tell.
#[cfg(agent)]
fn resident(pid: u32) -> [u64; 2] {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    ["Rss:", "Pss:"].map(|name| {
        let kib = text.lines().find_map(|line| line.strip_prefix(name)?.split_ascii_whitespace().next());
        kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
    })
}

fn table(all: &[Held], look: &Look, out: &mut impl Write) -> io::Result<()> {
    let sum = |part: fn(&Held) -> u64| all.iter().map(part).fold(0, u64::saturating_add);
    // Of a run, each process was copied at another moment, for instance at its own peak.
    let has_rss = sum(|held| held.rss) > 0;
    let resident = if has_rss { format!(", {} resident", bytes(sum(|held| held.pss))) } else { String::new() };
    let total = format!("  {} live{resident}", bytes(sum(|held| held.live_bytes)));
    look.heading(out, &plural(all.len() as u64, "process"), &total)?;
    let names = ["process", "live bytes", "blocks", "RSS", "share of it", "name"];
    let mut rows = vec![header(&if has_rss { names.to_vec() } else { vec![names[0], names[1], names[2], names[5]] })];
    for held in all {
        let pid = if held.pid == 0 { "the program".to_owned() } else { held.pid.to_string() };
        let mut row = vec![right(pid), right(bytes(held.live_bytes)), right(count(held.live_blocks))];
        if has_rss {
            row.extend([held.rss, held.pss].map(|part| right(bytes(part))));
        }
        row.push(Cell::new(&held.name));
        rows.push(row);
    }
    look.table(out, &rows)?;
    let note = if has_rss {
        "The share: pages that several processes have are divided by their number. Its sum is what they take together."
    } else {
        "Each process at its own moment. One that was forked has its parent's blocks, too."
    };
    writeln!(out, "\n{note}")
}
