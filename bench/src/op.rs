//! Operations to measure. An operation runs one workload on one subject.

use std::cell::Cell;
use std::ops::Range;

use crate::row::distinct;

/// Runs the operation `n` times.
pub(crate) type Run = Box<dyn FnMut(usize)>;

/// One operation of one subject. All subjects share the workload code; a new peer adds operations.
pub(crate) struct Op {
    pub(crate) workload: String,
    pub(crate) subject: &'static str,
    /// Builds the operation's data, at a different heap address each time.
    pub(crate) prepare: Box<dyn Fn() -> Run>,
}

impl Op {
    pub(crate) fn new(workload: impl Into<String>, subject: &'static str, prepare: impl Fn() -> Run + 'static) -> Self {
        Self { workload: workload.into(), subject, prepare: Box::new(prepare) }
    }
}

thread_local! {
    /// The number of operations after `whole_rounds` has rounded it up.
    static DONE: Cell<usize> = const { Cell::new(0) };
    /// The number of repetitions of the work in one call.
    static TIMES: Cell<usize> = const { Cell::new(1) };
}

/// Returns the smallest range of whole rounds with at least `operations` operations, for workloads that run in rounds.
pub(crate) fn whole_rounds(operations: usize, per_round: usize) -> Range<usize> {
    let times = TIMES.get();
    let rounds = (operations / times).div_ceil(per_round) * times;
    DONE.set(rounds * per_round);
    0..rounds
}

/// Runs an operation `operations * times` times, or slightly more often to complete the last round. Returns the actual
/// number.
pub(crate) fn repeat(run: &mut Run, operations: usize, times: usize) -> usize {
    DONE.set(operations * times);
    TIMES.set(times);
    run(operations * times);
    TIMES.set(1);
    DONE.get()
}

/// The operations of one module and their baseline.
pub(crate) struct Suite {
    pub(crate) module: &'static str,
    pub(crate) baseline: &'static str,
    pub(crate) ops: Vec<Op>,
}

/// The subject with an empty body, which measures the loop around the others.
pub(crate) const LOOP: &str = "loop";

impl Suite {
    /// Returns the workloads, in order.
    pub(crate) fn workloads(&self) -> Vec<&str> {
        distinct(self.ops.iter().map(|op| op.workload.as_str()))
    }

    /// Returns the operations of one workload.
    pub(crate) fn ops_of<'a>(&'a self, workload: &'a str) -> impl Iterator<Item = &'a Op> {
        self.ops.iter().filter(move |op| op.workload == workload)
    }

    pub(crate) fn find(&self, workload: &str, subject: &str) -> Option<&Op> {
        self.ops.iter().find(|op| op.workload == workload && op.subject == subject)
    }

    pub(crate) fn find_owned(self, workload: &str, subject: &str) -> Option<Op> {
        self.ops.into_iter().find(|op| op.workload == workload && op.subject == subject)
    }
}
