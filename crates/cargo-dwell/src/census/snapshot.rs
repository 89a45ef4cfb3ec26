//! A snapshot of a process: its live blocks, where each was allocated, and its memory.

use std::path::PathBuf;

/// A live block of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The address of its first byte.
    pub addr: u64,
    /// The bytes that were asked for.
    pub size: u64,
    /// The call stack that allocated it, an index of [`Snapshot::stacks`].
    pub stack: u32,
    /// How many blocks it represents: 1, or more if blocks were sampled.
    pub weight: u32,
}

/// A file that is mapped into the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// The file.
    pub path: PathBuf,
    /// The difference between an address of the process and one of the file.
    pub bias: u64,
    /// The first address of the process that it takes.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// When a snapshot was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Live bytes were within 2 % of their maximum.
    Peak,
    /// The program ended.
    Exit,
    /// It was asked for by a signal.
    Signal,
    /// So many milliseconds after the program began.
    After(u64),
}

/// The memory of a process that does not change any more.
pub trait Memory: Sync {
    /// Reads `into.len()` bytes from `addr` on, or as many as there are: returns how many.
    fn read(&self, addr: u64, into: &mut [u8]) -> usize;
}

/// A process at one moment.
pub struct Snapshot {
    /// When it was taken.
    pub at: Moment,
    /// Milliseconds since the program began.
    pub millis: u64,
    /// Bytes that were live.
    pub live_bytes: u64,
    /// Blocks that were live.
    pub live_blocks: u64,
    /// The most bytes that were live until then.
    pub peak_bytes: u64,
    /// Sorted by address; no two overlap.
    pub blocks: Vec<Block>,
    /// Return addresses, innermost first.
    pub stacks: Vec<Vec<u64>>,
    /// The executable first.
    pub modules: Vec<Module>,
    /// Stacks of threads (from the stack pointer up) and thread-local memory, where known: from the first address to one past
    /// the last.
    pub roots: Vec<(u64, u64)>,
    /// What the blocks hold.
    pub memory: Box<dyn Memory + Send>,
}
