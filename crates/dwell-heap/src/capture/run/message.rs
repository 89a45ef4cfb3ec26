//! What the thread that follows a run is told.

use crate::agent::layout::Event;
use crate::capture::Thread;
use crate::capture::resident::Names;
use crate::capture::spill::Spilled;
use std::process::ExitStatus;

pub(super) enum Message {
    /// A message of the helper.
    Event(Event, Moved),
    /// A copy is on disk: the kind of its event, its time, and the copy.
    Spilled(u32, u64, anyhow::Result<Spilled>),
    /// The program has ended at this time.
    Ended(std::io::Result<ExitStatus>, u64),
    /// The program that started the process has ended.
    Over,
    /// The process became another program.
    Replaced,
    /// A signal, and whether only this process received it.
    Signal(i32, bool),
}

/// What was found while the program was copied.
#[derive(Default)]
pub(super) struct Moved {
    /// The program's threads if they were stopped.
    pub(super) threads: Vec<Thread>,
    /// The names of its threads, and its mappings.
    pub(super) names: Names,
    pub(super) smaps: Option<String>,
    /// Whether the copy is to be written to disk at once.
    pub(super) spill: bool,
}
