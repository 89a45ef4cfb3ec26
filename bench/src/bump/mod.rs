//! Compares `dwell::bump` with published arenas, the allocators of the article, and general-purpose allocators.

mod article;
mod claims;
mod compile;
mod parser;
mod peers;
mod subject;
mod targets;
mod tree;
mod workloads;

use anyhow::Result;
use clap::Args as ClapArgs;

use self::article::{Down, Up};
use self::peers::{BlinkAlloc, Bumpalo, Downwards, Dwell, Heap, Malloc, Mimalloc, Upwards};
use self::subject::Subject;
use crate::op::Suite;
use crate::row::Output;
use crate::{callgrind, time};

#[derive(ClapArgs, Debug, Default)]
pub(crate) struct Args {
    /// Measures these workloads only.
    #[arg(long)]
    workload: Vec<String>,
    /// Counts instructions only.
    #[arg(long)]
    ir: bool,
    /// Measures times only.
    #[arg(long, conflicts_with = "ir")]
    times: bool,
    /// Measures only the compile time of a program with 900 calls.
    #[arg(long)]
    compile: bool,
}

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
        Dwell<1>: ops vectors texts slices maps;
        Dwell<8>: ops vectors texts slices maps;
        Dwell<16>: singles;
        Bumpalo<1>: ops vectors texts slices maps;
        Bumpalo<8>: ops vectors slices maps;
        Bumpalo<16>: singles;
        Upwards<1>: ops vectors texts slices maps;
        Upwards<8>: ops vectors texts slices maps;
        Upwards<16>: singles;
        Downwards<1>: ops vectors texts slices maps;
        Downwards<8>: ops vectors texts slices maps;
        Downwards<16>: singles;
        BlinkAlloc: ops vectors;
        Up<0>: ops;
        Down<0>: ops;
        Up<1>: ops;
        Up<8>: ops vectors maps;
        Down<8>: ops;
        Up<16>: ops;
        Down<16>: ops;
        Heap<Malloc>: ops vectors texts slices maps;
        Heap<Mimalloc>: ops vectors texts slices maps;
    }
    .collect();
    ops.extend(workloads::typed::ops());
    ops.push(workloads::typed::nodes_alone());
    ops.extend(workloads::loops());
    Suite { module: "bump", baseline: BASELINE, ops }
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    if args.compile {
        output.rows(&compile::rows(if quick { 3 } else { 7 })?)?;
        return Ok(());
    }
    let mut suite = suite();
    if !args.workload.is_empty() {
        suite.keep(|workload| args.workload.iter().any(|wanted| wanted == workload))?;
    }
    output.say("ratios of ir exclude the loop's instructions")?;
    let mut rows = Vec::new();
    if args.times {
        // Nothing is counted.
    } else if let Some(version) = callgrind::version() {
        output.say(&format!("({version})"))?;
        rows = callgrind::rows(&suite, |_, _| true)?;
    } else {
        eprintln!("valgrind is not installed: the column `ir` is left out");
    }
    if !args.ir {
        rows.extend(time::rows(&suite, if quick { 5 } else { 21 }));
    }
    output.rows(&rows)?;
    output.say("\nthe best settings of bumpalo and bump-scope, without the loop:\n")?;
    output.say(&targets::table(&rows))?;
    output.say("the article's allocators:\n")?;
    output.say(&claims::table(&rows))?;
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
