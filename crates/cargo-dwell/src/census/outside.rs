//! A census of a program that was started without the agent: a running process, or a core.

pub use super::output::{self, OutputArgs};
use anyhow::Result;
use dwell_heap::json::Document;
use dwell_heap::outside::{self, Captured};
use dwell_heap::{Ran, Snapshot};
use dwell_output::units;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// What to look at.
#[derive(Clone, Debug)]
pub enum Target {
    /// A running process.
    Process(i32),
    /// A core.
    Core(PathBuf),
}

/// The executable: the file that was named, one in a folder, or the one that the kernel or the core names.
#[derive(Clone, Debug, Default)]
pub struct Exe {
    /// The file that was named.
    pub file: Option<PathBuf>,
    /// The folder that is searched by build id.
    pub folder: Option<PathBuf>,
}

/// Looks at a program, `every` twice with this time between, and prints what was found.
///
/// # Errors
/// Returns an error in one line if the program cannot be looked at.
pub fn run(target: &Target, exe: &Exe, every: Option<Duration>, ran: Ran, args: &OutputArgs) -> Result<ExitCode> {
    let document = census(target, exe, every, ran)?;
    output::show(&document, args, false)
}

/// Summarises what was found.
///
/// # Errors
/// As [`run`].
pub fn census(target: &Target, exe: &Exe, every: Option<Duration>, mut ran: Ran) -> Result<Document> {
    let mut snapshots: Vec<Snapshot> = Vec::new();
    let mut notes = Vec::new();
    let mut add = |captured: Captured, notes: &mut Vec<String>| -> Result<()> {
        notes.extend(pause(&captured));
        captured.executable().clone_into(&mut ran.executable);
        let (snapshot, more) = captured.snapshot()?;
        notes.extend(more);
        snapshots.push(snapshot);
        Ok(())
    };
    match target {
        Target::Process(pid) => {
            for round in 0..=u32::from(every.is_some()) {
                if let Some(every) = every.filter(|_| round > 0) {
                    std::thread::sleep(every);
                }
                add(outside::attach(*pid, exe.file.as_deref(), exe.folder.as_deref())?, &mut notes)?;
            }
        }
        Target::Core(core) if core.is_dir() => {
            for captured in outside::history(core, exe.file.as_deref(), exe.folder.as_deref())? {
                add(captured, &mut notes)?;
            }
        }
        Target::Core(core) => add(outside::open(core, exe.file.as_deref(), exe.folder.as_deref())?, &mut notes)?,
    }
    for note in notes {
        eprintln!("note: {note}");
    }
    ran.millis = snapshots.last().map_or(0, |snapshot| snapshot.millis);
    dwell_heap::from_outside(&ran, &mut snapshots)
}

/// Tells how long the program was stopped.
fn pause(captured: &Captured) -> Option<String> {
    let pause = captured.pause?;
    let bytes = units::bytes(captured.bytes());
    Some(format!("the program was stopped for {} ms, in which {bytes} of its memory were copied", pause.as_millis()))
}
