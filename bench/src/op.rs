//! A thing to be measured: one subject doing one workload.

use crate::row::distinct;

/// Runs the operation as often as it is told.
pub(crate) type Run = Box<dyn FnMut(usize)>;

/// One operation of one subject. The same workload code serves all subjects; adding a peer adds these.
pub(crate) struct Op {
    pub(crate) workload: String,
    pub(crate) subject: &'static str,
    /// Builds what the operation works on, at a place of the heap of its own each time.
    pub(crate) prepare: Box<dyn Fn() -> Run>,
}

impl Op {
    pub(crate) fn new(workload: impl Into<String>, subject: &'static str, prepare: impl Fn() -> Run + 'static) -> Self {
        Self { workload: workload.into(), subject, prepare: Box::new(prepare) }
    }
}

/// The operations of one module, and what each is compared with.
pub(crate) struct Suite {
    pub(crate) module: &'static str,
    pub(crate) baseline: &'static str,
    pub(crate) ops: Vec<Op>,
}

/// The subject whose body is empty: what the loop around the others costs.
pub(crate) const LOOP: &str = "loop";

impl Suite {
    /// The workloads, in order.
    pub(crate) fn workloads(&self) -> Vec<&str> {
        distinct(self.ops.iter().map(|op| op.workload.as_str()))
    }

    /// The operations of one workload.
    pub(crate) fn of<'a>(&'a self, workload: &'a str) -> impl Iterator<Item = &'a Op> {
        self.ops.iter().filter(move |op| op.workload == workload)
    }

    pub(crate) fn find(&self, workload: &str, subject: &str) -> Option<&Op> {
        self.ops.iter().find(|op| op.workload == workload && op.subject == subject)
    }
}
