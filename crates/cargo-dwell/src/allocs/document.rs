//! The result of a run as JSON, which all reports are made from. `docs/json-output.md` describes the fields.

use dwell_calibrate::{Calibration, Place};
use dwell_source::Edit;
use serde::{Deserialize, Serialize};

/// The version of the format. It rises when a field is removed or changes its meaning.
pub const VERSION: u32 = 1;

/// The allocations of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// [`VERSION`].
    pub version: u32,
    /// The kind of the file: `allocs`.
    pub kind: String,
    /// The program.
    pub program: Program,
    /// Its time.
    pub time: Time,
    /// The same program without recording, plain and under another allocator.
    pub again: Again,
    /// The function whose blocks alone were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub during: Option<During>,
    /// The sum of all counts.
    pub total: Counts,
    /// The functions of the workspace that allocate, with all that they call, by time.
    pub functions: Vec<Function>,
    /// The rows, by time.
    pub rows: Vec<Row>,
    /// The suggestions, by what they save.
    pub suggestions: Vec<Suggestion>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// The number of allocations and reallocations over time.
    pub curve: Vec<Point>,
    /// The costs on the machine of the run.
    pub calibration: Calibration,
    /// The names of the functions of [`stacks`](Self::stacks).
    pub frames: Vec<String>,
    /// The call stacks.
    pub stacks: Vec<Stack>,
}

/// A program that was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// The executable.
    pub file: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its build id.
    pub build_id: Option<String>,
    /// The compiler.
    pub rustc: Option<String>,
    /// The running time in milliseconds, with recording.
    pub millis: u64,
    /// The mean number of bytes between two recorded allocations, if not all were recorded.
    pub sample: Option<u64>,
    /// The process, if a running one was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    /// Whether only libraries allocated: the program has an allocator that is not known.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_unseen: bool,
}

/// The function whose blocks alone were asked for, with all that it calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct During {
    /// Its name, as it was asked for.
    pub name: String,
    /// How often it was called, if that was counted.
    pub calls: Option<u64>,
    /// Why it was not; empty if it was.
    pub why: String,
}

/// The processor time of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Time {
    /// In user mode, with recording, in nanoseconds.
    pub user: u64,
    /// In the kernel.
    pub system: u64,
    /// In user mode and the kernel, without recording as far as that is known.
    pub program: u64,
    /// In the allocator, in user mode.
    pub allocator: u64,
    /// How the time in the allocator is known: `plain` (samples of plain runs), `samples` (of the recorded run) or `model`.
    pub by: String,
    /// Why there are no samples; empty if there are.
    pub why: String,
    /// The numbers of samples in the program, in the allocator, and in the recording agent.
    pub samples: [u64; 3],
    /// The standard error of the time in the allocator.
    pub error: u64,
    /// The time in the allocator by the model alone.
    pub model: u64,
    /// The instructions in the allocator by the model; 0 if unknown.
    pub instructions: u64,
}

/// Runs without recording, in pairs: plain and under another allocator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Again {
    /// The other allocator: `mimalloc`; empty if it was not compared.
    pub other: String,
    /// Why it was not.
    pub why: String,
    /// The number of pairs.
    pub pairs: usize,
    /// The processor time on each side, in nanoseconds.
    pub nanos: [u64; 2],
    /// The time under the other by the plain time: least, median, most.
    pub ratio: [f64; 3],
    /// The time in each allocator; 0 if it was not measured.
    pub allocator: [u64; 2],
    /// The samples in each allocator.
    pub samples: [u64; 2],
    /// The largest resident bytes on each side.
    pub peak: [u64; 2],
    /// The instructions on each side, if they were counted.
    pub instructions: Option<[u64; 2]>,
}

/// Counts of calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Blocks that were allocated anew.
    pub allocations: u64,
    /// Blocks that were freed.
    pub frees: u64,
    /// Blocks that were reallocated.
    pub reallocations: u64,
    /// The bytes of all blocks.
    pub bytes: u64,
    /// The bytes that reallocations copied.
    pub copied: u64,
    /// Blocks that were live at the end.
    pub live: u64,
    /// The largest number of live blocks: exact for one thread, else an upper bound.
    pub most_live: u64,
    /// Frees on another thread.
    pub foreign: u64,
    /// Frees of the block that was allocated just before.
    pub temporary: u64,
    /// Frees of the newest live block.
    pub in_order: u64,
    /// Frees in runs of at least eight.
    pub together: u64,
    /// Allocations from the thread's cache, from fast bins, and from elsewhere, by the model of glibc.
    pub allocated: [u64; 3],
    /// Frees to these.
    pub freed: [u64; 3],
    /// Frees by the number of allocations since the block's: `[0, 1, 2-3, 4-7, ..]`, without zeros at the end.
    pub lifetimes: Vec<u64>,
}

/// A function of the workspace, with all that it calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its line with most blocks.
    pub at: Option<String>,
    /// The innermost function outside of std that nine of ten blocks come from.
    pub inside: Option<String>,
    /// The allocations and reallocations.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The time in the allocator.
    pub nanos: u64,
}

/// The blocks of one type from one place, or of all types behind one trait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// What the blocks are: `Box<Node>`, `String`, `Box<dyn Fn(u8)>`.
    pub what: String,
    /// The types of the values, if the blocks are boxes of a trait's.
    pub types: Vec<Type>,
    /// The places, the one with most time first.
    pub places: Vec<Spot>,
    /// The counts.
    pub counts: Counts,
    /// The smallest and the largest size in bytes.
    pub sizes: [u64; 2],
    /// The median of the lifetimes in nanoseconds, roughly; none if most blocks are live at the end or were freed
    /// elsewhere.
    pub lives: Option<u64>,
    /// The lifetimes in words.
    pub lifetime: String,
    /// The allocator.
    pub allocator: String,
    /// The time in nanoseconds, and its part of the program's in per cent.
    pub nanos: u64,
    /// The part of the program's time.
    pub percent: f64,
    /// The instructions by the model.
    pub instructions: u64,
    /// The type whose drop frees the blocks, if that was seen.
    pub root: Option<String>,
    /// The numbers of the suggestions in [`Document::suggestions`].
    pub suggestions: Vec<usize>,
}

/// A type of values behind a trait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Type {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// The number of allocations.
    pub allocations: u64,
}

/// A place in the source that allocates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spot {
    /// The function that calls std: the innermost one outside of it.
    pub function: String,
    /// Its file and line.
    pub at: Option<String>,
    /// Its crate, if it is not one of the workspace.
    pub dependency: Option<String>,
    /// The innermost function of the workspace, if that is another one.
    pub called_from: Option<String>,
    /// The allocations.
    pub allocations: u64,
    /// The reallocations.
    pub reallocations: u64,
    /// The time in nanoseconds.
    pub nanos: u64,
}

/// Of a report without other allocators nothing is known against a change.
fn yes() -> bool {
    true
}

/// A proposed change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Suggestion {
    /// The rule.
    pub kind: String,
    /// The number of its row in [`Document::rows`].
    pub row: usize,
    /// What to write instead.
    pub instead: String,
    /// Where the values live then.
    pub place: Option<Place>,
    /// The time that it saves in nanoseconds: at least, probably, at most.
    pub saves: [u64; 3],
    /// The same as a part of the program's time in per cent.
    pub percent: [f64; 3],
    /// The same under the other allocator, as a part of the time under it; none if that was not measured.
    pub other: Option<[f64; 3]>,
    /// Whether it pays also under the other allocator, as far as that is known.
    #[serde(default = "yes")]
    pub pays: bool,
    /// The instructions that it saves by the model; 0 if unknown.
    pub instructions: u64,
    /// The allocations that it saves.
    pub allocations: u64,
    /// Whether it saves 5 % of the time or more.
    pub is_worth_it: bool,
    /// What was seen.
    pub why: String,
    /// What to do.
    pub how: String,
    /// What it costs.
    pub costs: String,
    /// Edits of the source.
    pub edits: Vec<Edit>,
}

/// A thread, or several that ran one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Thread {
    /// The number of threads.
    pub threads: u64,
    /// Their allocations.
    pub allocations: u64,
    /// Their frees.
    pub frees: u64,
    /// Their reallocations.
    pub reallocations: u64,
}

/// A point of the curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// Milliseconds since the start.
    pub millis: u64,
    /// Allocations and reallocations so far.
    pub blocks: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A call stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stack {
    /// The functions, innermost first, as indexes into [`Document::frames`].
    pub frames: Vec<u32>,
    /// The time in nanoseconds.
    pub nanos: u64,
    /// The allocations and reallocations.
    pub blocks: u64,
    /// Of these the reallocations.
    #[serde(skip_serializing_if = "is_zero")]
    pub reallocations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The blocks that were live at the end.
    pub live_blocks: u64,
    /// Their bytes.
    pub live_bytes: u64,
}
