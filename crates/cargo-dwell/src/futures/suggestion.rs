//! A suggestion that makes a future smaller, and what makes it worth while.

use super::size::Change;
use crate::rank::Rank;
use dwell_debuginfo::{Source, TypeId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// An argument or variable takes bytes twice: its own, and those of the local that it is moved into.
    HeldTwice,
    /// An argument takes bytes in the future although no `.await` holds it.
    UnusedArgument,
    /// A local is not used after an `.await` and could be dropped before it.
    DropBeforeAwait,
    /// A function only awaits another, and could return its future.
    ReturnFuture,
    /// A future in a variable is moved into an `.await` or another future.
    PinFuture,
    /// Functions pass a future on by value, and each has a copy.
    BoxArgument,
    /// A branch awaits a large future.
    BoxFuture,
    /// A large value is held across an `.await`.
    BoxValue,
}

/// A change that makes a future smaller.
#[derive(Clone, Debug)]
pub(super) struct Suggestion {
    pub(super) problem: Problem,
    pub(super) what: String,
    pub(super) how: String,
    pub(super) at: Option<Source>,
    pub(super) change: Change,
    /// The futures that become smaller with their savings, including the changed one.
    pub(super) saves: HashMap<TypeId, u64>,
    /// The bytes that each call allocates on the heap.
    pub(super) heap: u64,
    /// Another change of the same place, and its bytes on the heap.
    pub(super) other: Option<(Change, u64)>,
    /// Whether it is for a branch inside of a loop.
    pub(super) is_branch: bool,
    /// Whether the changed part is in a branch of the future that [`outermost`](Self::outermost) names.
    pub(super) is_partial: bool,
    /// The future around all others that becomes smaller by the most bytes, and these bytes.
    pub(super) outermost: Option<(TypeId, u64)>,
    /// The bytes that all outermost futures save by the change at this place in all instances, after the changes before
    /// it, less those on the heap.
    pub(super) together: u64,
    /// How many values of the future the program may have.
    pub(super) rank: Rank,
    /// Whether the report shows it.
    pub(super) is_shown: bool,
    /// The change of the source, if it shows the place.
    pub(super) edits: Vec<dwell_source::Edit>,
}

impl Suggestion {
    pub(super) fn new(problem: Problem, what: String, how: String, change: Change) -> Self {
        Self {
            problem,
            what,
            how,
            at: None,
            change,
            saves: HashMap::new(),
            heap: 0,
            other: None,
            is_branch: false,
            is_partial: false,
            outermost: None,
            together: 0,
            rank: Rank::Once,
            is_shown: false,
            edits: Vec::new(),
        }
    }

    /// Returns the number of bytes that the changed future itself saves.
    pub(super) fn own_saving(&self) -> u64 {
        self.saves.get(&self.change.coroutine).copied().unwrap_or(0)
    }

    /// Returns the file to edit.
    pub(super) fn file(&self) -> Option<String> {
        let edited = self.edits.first().map(|edit| edit.file.clone());
        edited.or_else(|| self.at.as_ref().map(|at| at.file.to_string()))
    }

    /// Returns the line to edit: that of the call, not of its `.await`.
    pub(super) fn line(&self) -> Option<u32> {
        self.edits.first().map(|edit| edit.line).or_else(|| self.at.as_ref().map(|at| at.line))
    }

    /// Returns the place of the edit, which instances of a generic function share.
    pub(super) fn place(&self) -> (Problem, Option<String>, Option<u32>, String) {
        let what = self.what.split('<').next().unwrap_or_default().to_owned();
        (self.problem, self.file(), self.line(), what)
    }

    /// Returns `true` if a box moves the bytes to the heap, for the few calls that come to it.
    pub(super) fn is_box(&self) -> bool {
        matches!(self.problem, Problem::BoxFuture | Problem::BoxValue)
    }

    /// Returns the bytes that the change saves in all.
    pub(super) fn net(&self) -> u64 {
        self.own_saving().saturating_sub(self.heap)
    }

    /// Returns the bytes that a task or block with the future saves.
    pub(super) fn reach(&self) -> u64 {
        self.outermost.map_or(0, |(_, saves)| saves)
    }

    /// Returns `true` if the change saves bytes, and enough of them. `size` is that of the changed future, `outer` that of
    /// the outermost one.
    pub(super) fn is_worth_it(&self, size: u64, outer: u64) -> bool {
        let least = LEAST.max(size / 8);
        // Other branches of the outer future are as large.
        if self.reach() < LEAST {
            return false;
        }
        // All tasks have room for a branch that few come to.
        let is_rare = self.is_partial && self.reach() >= RARE_BRANCH.max(outer / 4);
        match self.problem {
            Problem::BoxFuture => {
                let is_large = self.is_branch && self.own_saving() >= LARGE_BRANCH.max(size / 4);
                self.change.edits.len() == 1 && (is_large || is_rare)
            }
            // So much overflows stacks on its way to the heap.
            Problem::BoxValue => self.heap >= OVERFLOWS && self.heap >= size / 2 || is_rare,
            // The box goes around the argument at the call, where `BoxArgument` names it.
            Problem::HeldTwice if self.heap > 0 => false,
            // These make the code longer.
            Problem::HeldTwice | Problem::UnusedArgument => self.net() >= LARGE_ARGUMENT.max(size / 4),
            _ => self.net() >= least,
        }
    }
}

/// The least size in bytes of a value for which a box is suggested.
pub(super) const WORTH_A_BOX: u64 = 128;
/// The least saving in bytes that is shown.
pub(super) const LEAST: u64 = 128;
/// The least saving of a change of a function's arguments.
const LARGE_ARGUMENT: u64 = 1024;
/// The least saving of a box in a branch of a loop.
const LARGE_BRANCH: u64 = 1024;
/// The least saving of a box in a branch that few tasks come to.
const RARE_BRANCH: u64 = 2048;
/// The size from which clippy's `large_futures` warns.
const OVERFLOWS: u64 = 16 << 10;
