//! Call stacks of allocations: their functions, and the types that these show.

use crate::capture::Snapshot;
use crate::debuginfo::{Frames, Program};
use crate::heap::decode;
use crate::heap::walk::{self, Schema, owners};

#[cfg(agent)]
pub use crate::agent::layout::DEPTH;
pub use crate::heap::walk::owners::{
    BlockType, Origin, addresses, functions, short_file, shown, shown_function, without_allocator,
};

/// Returns what each stack of a snapshot shows of the blocks that it allocated.
pub fn origins(snapshot: &Snapshot, program: &Program, frames: &Frames) -> Vec<Origin> {
    owners::origins(snapshot, frames, &Schema::new(program, decode::FAMILIES))
}

/// Returns `true` if the path of a type or function, without arguments, is in the standard library.
pub fn is_std(path: &str) -> bool {
    walk::is_std(path)
}
