//! The subjects, which measure the heap bytes of a value as their crates define them.

use allocative::{Allocative, FlameGraphBuilder};
use datasize::DataSize;
use deepsize::DeepSizeOf;
use dwell::Weigh;
use dwell::weigh::{tree, weigh};
use get_size2::GetSize;
use mem_dbg::{MemSize, SizeFlags};

/// A subject that measures how large a value is.
pub(super) struct Subject<T> {
    pub(super) name: &'static str,
    /// Returns the bytes on the heap.
    pub(super) weigh: fn(&T) -> u64,
}

/// The baseline of the times.
pub(super) const BASELINE: &str = "mem_dbg 0.4.4";

fn heap<T>(size: usize) -> u64 {
    (size - size_of::<T>()) as u64
}

fn graph<T: Allocative>(value: &T) -> u64 {
    let mut builder = FlameGraphBuilder::default();
    builder.visit_root(value);
    heap::<T>(builder.finish().flamegraph().total_size())
}

/// Returns Dwell's subjects: `weigh` returns the total, and `tree` the bytes by type and field.
pub(super) fn dwell<T: Weigh>() -> Vec<Subject<T>> {
    vec![
        Subject { name: "dwell", weigh: |value| weigh(value).heap },
        Subject { name: "dwell/tree", weigh: |value| tree(value).nodes.iter().map(|node| node.heap).sum() },
    ]
}

/// Returns the subjects of Dwell and of the published crates.
pub(super) fn all<T: Weigh + Allocative + DataSize + DeepSizeOf + GetSize + MemSize>() -> Vec<Subject<T>> {
    let mut all = dwell();
    all.extend([
        Subject {
            name: BASELINE,
            weigh: |value: &T| heap::<T>(value.mem_size(SizeFlags::CAPACITY | SizeFlags::FOLLOW_RCS)),
        },
        Subject { name: "get-size2 0.11.1", weigh: |value: &T| value.get_heap_size() as u64 },
        Subject { name: "deepsize 0.2.0", weigh: |value: &T| heap::<T>(value.deep_size_of()) },
        Subject { name: "datasize 0.2.15", weigh: |value: &T| value.estimate_heap_size() as u64 },
        // The flame graph, since `size_of_unique_allocated_data` finds even less.
        Subject { name: "allocative 0.3.7", weigh: graph },
    ]);
    all
}
