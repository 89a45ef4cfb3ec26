//! Compares `dwell::bump` with published arenas, the allocators of the article, and general-purpose allocators.

mod allocator;
mod article;
mod peers;
mod rounds;
mod subject;
mod tree;
mod workloads;

use anyhow::Result;

use self::article::{Down, Up};
use self::peers::{BlinkAlloc, Bumpalo, Downwards, Dwell, Heap, Malloc, Mimalloc, Upwards};
use self::subject::Subject;
use crate::op::Suite;
use crate::row::Output;
use crate::select::Select;

/// bumpalo with its default settings.
const BASELINE: &str = <Bumpalo<1> as Subject>::NAME;

/// Collects the operations of each subject from the named functions of `workloads`.
macro_rules! ops {
    ($($Subject:ty: $($ops:ident)*;)*) => {
        [$($(workloads::$ops::<$Subject>()),*),*].into_iter().flatten()
    };
}

/// Returns the suite of all operations, with bumpalo as the baseline.
pub(crate) fn suite() -> Suite {
    let mut ops: Vec<_> = ops! {
        Dwell<1>: ops vectors texts slices allocators;
        Dwell<8>: ops vectors texts slices allocators;
        Dwell<16>: singles;
        Bumpalo<1>: ops vectors texts slices allocators;
        Bumpalo<8>: ops vectors slices allocators;
        Bumpalo<16>: singles;
        Upwards<1>: ops vectors texts slices allocators;
        Upwards<8>: ops vectors texts slices allocators;
        Upwards<16>: singles;
        Downwards<1>: ops vectors texts slices allocators;
        Downwards<8>: ops vectors texts slices allocators;
        Downwards<16>: singles;
        BlinkAlloc: ops vectors;
        Up<0>: ops;
        Down<0>: ops;
        Up<1>: ops;
        Up<8>: ops vectors allocators;
        Down<8>: ops;
        Up<16>: ops;
        Down<16>: ops;
        Heap<Malloc>: ops vectors texts slices allocators;
        Heap<Mimalloc>: ops vectors texts slices allocators;
    }
    .collect();
    ops.extend(workloads::typed::ops());
    ops.push(workloads::typed::nodes_alone());
    ops.extend(workloads::loops());
    Suite { module: "bump", baseline: BASELINE, ops }
}

pub(crate) fn run(select: &Select, quick: bool, output: Output) -> Result<()> {
    let suite = suite();
    select.check(suite.names())?;
    output.rows(&select.rows(suite, quick, output, |_| true)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    /// The number of operations, enough for one round of any workload.
    const OPERATIONS: usize = 100_000;

    #[test]
    fn every_operation_runs() {
        for op in super::suite().ops {
            (op.prepare)()(OPERATIONS);
        }
    }
}
