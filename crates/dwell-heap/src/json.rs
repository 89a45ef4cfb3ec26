//! A census as JSON: what `--save` and `--format json` write. `docs/json-output.md` names the fields.

pub use crate::capture::run::Killed;
pub use crate::heap::paths::{Path, Step};
pub use crate::heap::resident::{Remedy, Rss, Survivor};
pub use crate::heap::rows::{
    Age, Bin, Blocks, CallSite, Enum, Field, Retained, RetainedKey, Sharer, Stack, Strings, Variant,
};
pub use crate::source::Finding;
use serde::{Deserialize, Serialize};

/// The version of the schema. It changes if a field is removed or changes its meaning, not if one is added.
pub const VERSION: u32 = 1;

/// All snapshots of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Document {
    /// The version of the schema, [`VERSION`].
    pub version: u32,
    /// The program.
    pub program: Program,
    /// The snapshots in the order of time.
    pub snapshots: Vec<Snapshot>,
}

/// The program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Program {
    /// The executable.
    pub file: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The build id in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// The version of rustc.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rustc: Option<String>,
    /// The running time in milliseconds.
    pub millis: u64,
    /// The mean number of bytes between two recorded allocations, if not all were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<u64>,
    /// The end, if the program was killed together with the agent's helper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed: Option<Killed>,
}

/// The heap at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Snapshot {
    /// `peak`, `growth`, `exit`, `signal`, or a time such as `30s`.
    pub at: String,
    /// The time since the start of the program in milliseconds.
    pub millis: u64,
    /// The number of requested bytes of the live blocks.
    pub live_bytes: u64,
    /// The number of live blocks.
    pub live_blocks: u64,
    /// The maximum of live bytes so far.
    pub peak_bytes: u64,
    /// The number of bytes of blocks whose type is known.
    pub typed_bytes: u64,
    /// The number of bytes of blocks with an owner: a field, a static, a raw pointer or a reference.
    pub owned_bytes: u64,
    /// The number of bytes of blocks without an owner, of which only type and call site are known.
    pub root_bytes: u64,
    /// The standard error of `live_bytes`, if not all allocations were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<u64>,
    /// The resident memory by part. It is missing in a sampled run, and if the program ended at that moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss: Option<Rss>,
    /// The number of blocks by size.
    pub sizes: Vec<Bin>,
    /// The blocks by owner and type, most bytes first.
    pub blocks: Vec<Blocks>,
    /// The fields of structs and of enums' variants.
    pub fields: Vec<Field>,
    /// Whole enums, futures among them.
    pub enums: Vec<Enum>,
    /// The strings by owner.
    pub strings: Vec<Strings>,
    /// What each static, local variable and field keeps, most bytes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retained: Vec<Retained>,
    /// The chains of owners that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Path>,
    /// The suggestions, largest saving first.
    pub findings: Vec<Finding>,
    /// The functions of `stacks`.
    pub frames: Vec<String>,
    /// The call stacks that allocated live blocks.
    pub stacks: Vec<Stack>,
}

impl Document {
    /// Returns the document without what was copied from the program's memory or from its command line.
    #[must_use]
    pub fn without_texts(&self) -> Self {
        let mut without = self.clone();
        without.program.arguments.clear();
        without.snapshots.iter_mut().for_each(|snapshot| snapshot.paths.clear());
        for kept in without.snapshots.iter_mut().flat_map(|snapshot| &mut snapshot.retained) {
            kept.keys.clear();
        }
        without
    }

    /// Returns the snapshot with the most live bytes, for formats with a single moment.
    pub fn largest(&self) -> Option<&Snapshot> {
        self.snapshots.iter().max_by_key(|snapshot| snapshot.live_bytes)
    }
}
