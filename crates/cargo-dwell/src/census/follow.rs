//! A census of a process and of those that it started: the workers of a server.

use super::output::{self, OutputArgs};
use super::outside::{Exe, Target, census};
use crate::processes;
use anyhow::{Context as _, Result, bail};
use comfy_table::Cell;
use dwell_heap::Ran;
use dwell_output::units::{bytes, count, plural};
use dwell_output::{Format, Look, header, right};
use std::fs;
use std::io::{self, Write};
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

/// Prints a report for each process, then a table with their sum.
///
/// # Errors
/// Returns an error if the first process cannot be looked at, or a file should be written, since there are several reports. Other
/// processes that cannot be looked at are named.
pub(super) fn run(pid: i32, exe: &Exe, ran: &Ran, args: &OutputArgs) -> Result<ExitCode> {
    if args.save.is_some() || args.diff.is_some() || args.files.paths().next().is_some() {
        bail!("--follow: a file has one process; leave out the files, or --follow");
    }
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
        let snapshot = document.snapshots.last();
        let [live_bytes, live_blocks] = snapshot.map_or([0; 2], |snapshot| [snapshot.live_bytes, snapshot.live_blocks]);
        all.push(Held { pid: number, name, live_bytes, live_blocks, rss, pss });
    }
    match args.format {
        Format::Json => {}
        Format::Human => dwell_output::print(|mut out| table(&all, &Look::terminal(), &mut out))?,
        Format::Markdown => dwell_output::print(|mut out| table(&all, &Look::page(), &mut out))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the resident bytes of a process, and its share of them; 0 if the kernel does not tell.
fn resident(pid: u32) -> [u64; 2] {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap_or_default();
    ["Rss:", "Pss:"].map(|name| {
        let kib = text.lines().find_map(|line| line.strip_prefix(name)?.split_ascii_whitespace().next());
        kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
    })
}

fn table(all: &[Held], look: &Look, out: &mut impl Write) -> io::Result<()> {
    let sum = |part: fn(&Held) -> u64| all.iter().map(part).fold(0, u64::saturating_add);
    let total = format!("  {} live, {} resident", bytes(sum(|held| held.live_bytes)), bytes(sum(|held| held.pss)));
    look.heading(out, &plural(all.len() as u64, "process"), &total)?;
    let mut rows = vec![header(&["process", "live bytes", "blocks", "RSS", "share of it", "name"])];
    for held in all {
        rows.push(vec![
            right(held.pid.to_string()),
            right(bytes(held.live_bytes)),
            right(count(held.live_blocks)),
            right(bytes(held.rss)),
            right(bytes(held.pss)),
            Cell::new(&held.name),
        ]);
    }
    look.table(out, &rows)?;
    writeln!(
        out,
        "\nThe share: pages that several processes have are divided by their number. Its sum is what they take together."
    )
}
