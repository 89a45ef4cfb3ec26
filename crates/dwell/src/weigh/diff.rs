//! The difference between two trees.
#![forbid(unsafe_code)]

use super::render::{Path, align, bytes, count, header};
use super::tree::Tree;
use crate::weigh::sorted::sorted;
use core::fmt;
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// The difference between two trees: the result of [`diff`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Diff {
    /// The nodes that have changed, in descending order of the change in bytes.
    pub changes: Vec<Changed>,
    /// Bytes inline and on the heap, before and after.
    pub total: [u64; 2],
    /// Allocations before and after.
    pub allocations: [u64; 2],
}

/// A node before and after, with zeros if it did not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changed {
    /// The labels from the root to the node: `shapes.value.traits`.
    pub path: String,
    /// Bytes of the blocks that its values own directly.
    pub heap: [u64; 2],
    /// The number of those blocks.
    pub allocations: [u64; 2],
    /// The number of values.
    pub values: [u64; 2],
}

/// Compares two trees node by node.
///
/// It pairs nodes by the labels on the path from the root, so the types may differ.
///
/// ```
/// use dwell::weigh::{diff, tree};
///
/// let mut names = vec![String::from("a"); 4];
/// let before = tree(&names);
/// names[0] = "a longer one".into();
/// let diff = diff(&before, &tree(&names));
/// println!("{diff}"); // a table, the largest change first
/// assert_eq!(diff.changes.len(), 1);
/// assert_eq!((diff.changes[0].path.as_str(), diff.changes[0].heap), ("[]", [4, 15]));
/// ```
pub fn diff(before: &Tree, after: &Tree) -> Diff {
    let mut found: Vec<Changed> = Vec::new();
    for (when, tree) in [before, after].iter().enumerate() {
        let mut path = Path::default();
        tree.each(&mut |depth, index| {
            // The root has no label, so the path begins at its parts.
            if let Some(depth) = depth.checked_sub(1) {
                path.enter(depth, ".", tree.label(index));
            }
            let node = &tree.nodes[index];
            let one = |number: u64| if when == 0 { [number, 0] } else { [0, number] };
            let (heap, allocations, values) = (one(node.heap), one(node.allocations), one(node.instances));
            found.push(Changed { path: path.text.clone(), heap, allocations, values });
        });
    }
    let mut nodes: Vec<Changed> = Vec::new();
    for next in sorted(found, &|a, b| a.path.cmp(&b.path)) {
        match nodes.last_mut() {
            Some(node) if node.path == next.path => node.add(&next),
            _ => nodes.push(next),
        }
    }
    let mut changes: Vec<Changed> = Vec::new();
    for node in nodes {
        if node.is_one() {
            changes.push(node);
        }
    }
    Diff {
        changes: sorted(changes, &|a, b| b.difference().cmp(&a.difference())),
        total: [before.weight.total(), after.weight.total()],
        allocations: [before.weight.allocations, after.weight.allocations],
    }
}

impl Changed {
    fn add(&mut self, other: &Self) {
        for when in 0..2 {
            self.heap[when] = self.heap[when].saturating_add(other.heap[when]);
            self.allocations[when] = self.allocations[when].saturating_add(other.allocations[when]);
            self.values[when] = self.values[when].saturating_add(other.values[when]);
        }
    }

    fn difference(&self) -> u64 {
        self.heap[0].abs_diff(self.heap[1])
    }

    fn is_one(&self) -> bool {
        let [heap, allocations, values] = [self.heap, self.allocations, self.values];
        heap[0] != heap[1] || allocations[0] != allocations[1] || values[0] != values[1]
    }
}

/// Writes a table for a terminal: the bytes before, after, and their difference. It omits nodes with the same bytes and
/// blocks, even if the number of values has changed.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |path: &str, heap: [u64; 2], blocks: [u64; 2]| {
            let path = if path.is_empty() { "(the value itself)" } else { path };
            let blocks = format!("{} -> {}", count(blocks[0]), count(blocks[1]));
            Vec::from([path.into(), bytes(heap[0]), bytes(heap[1]), signed(heap), blocks])
        };
        let mut lines = Vec::from([header(&["", "before", "after", "bytes", "allocations"])]);
        for changed in &self.changes {
            if changed.heap[0] != changed.heap[1] || changed.allocations[0] != changed.allocations[1] {
                lines.push(line(&changed.path, changed.heap, changed.allocations));
            }
        }
        lines.push(line("total", self.total, self.allocations));
        f.write_str(&align(&lines))
    }
}

fn signed([before, after]: [u64; 2]) -> String {
    let sign = if after < before { "-" } else { "+" };
    format!("{sign}{}", bytes(before.abs_diff(after)))
}
