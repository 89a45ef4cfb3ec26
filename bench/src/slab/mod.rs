//! Compares `dwell::slab` with the allocators, slabs and pools that it can replace.
#![expect(clippy::inline_always, reason = "a call around an operation would cost more than the operation")]

mod book;
mod latency;
mod operations;
mod peers;
mod subject;
mod tables;
mod ticks;

use anyhow::{Result, bail};
use mimalloc::MiMalloc;
use std::alloc::System;

pub(crate) use self::peers::heap::HeapBox;

use self::latency::Probe;
use self::peers::{bare::Bare, dwell, heap::Heap, nexus, nexus_macro, plurality::Plurality, sharded::Sharded};
use self::peers::{slab::SlabCrate, slotmap::Slotmap};
use self::subject::{Books, Edits, Grows, Holds, Names, Sends, Visits, Words};
use crate::op::{Op, Suite};
use crate::row::{Output, distinct};
use crate::{callgrind, time};

/// All operations and probes.
#[derive(Default)]
struct Measures {
    ops: Vec<Op>,
    probes: Vec<Probe>,
}

/// Adds the workloads of every subject.
fn holding<S: Holds<Words<8>> + Holds<Words<32>> + Holds<Words<512>>>(all: &mut Measures) {
    operations::sized::<S, 8>(&mut all.ops);
    operations::sized::<S, 32>(&mut all.ops);
    operations::sized::<S, 512>(&mut all.ops);
    latency::sized::<S, 8>(&mut all.probes);
    latency::sized::<S, 32>(&mut all.probes);
    latency::sized::<S, 512>(&mut all.probes);
}

fn editing<S: Edits<Words<8>> + Edits<Words<512>>>(all: &mut Measures) {
    operations::editing::<S, 8>(&mut all.ops);
    operations::editing::<S, 512>(&mut all.ops);
    latency::editing::<S, 8>(&mut all.probes);
    latency::editing::<S, 512>(&mut all.probes);
}

fn naming<S: Names<Words<8>>>(all: &mut Measures) {
    operations::naming::<S>(&mut all.ops);
    latency::naming::<S>(&mut all.probes);
}

fn growing<S: Grows<Words<8>>>(all: &mut Measures) {
    operations::growing::<S>(&mut all.ops);
    latency::growing::<S>(&mut all.probes);
}

fn visiting<S: Visits<Words<8>>>(all: &mut Measures) {
    operations::visiting::<S>(&mut all.ops);
}

fn sending<S: Sends<Words<8>>>(all: &mut Measures) {
    operations::sending::<S>(&mut all.ops);
    latency::sending::<S>(&mut all.probes);
}

fn booking<S: Books>(all: &mut Measures) {
    book::ops::<S>(&mut all.ops);
}

fn measures() -> Measures {
    let mut all = Measures::default();
    macro_rules! each {
        ($function:ident: $($Subject:ty),* $(,)?) => {
            $($function::<$Subject>(&mut all);)*
        };
    }
    each!(holding: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Fixed, dwell::Sync, dwell::Pooled, dwell::Map,
        nexus_macro::Bounded, nexus::Bounded, nexus::Unbounded, SlabCrate, Slotmap, Sharded, Plurality, Bare);
    each!(editing: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Pooled, dwell::Map, nexus_macro::Bounded,
        nexus::Bounded, nexus::Unbounded, SlabCrate, Slotmap, Plurality, Bare);
    each!(naming: dwell::Thread, dwell::Direct, dwell::Map, nexus_macro::Bounded, SlabCrate, Slotmap);
    operations::boxes(&mut all.ops);
    each!(visiting: dwell::Direct, dwell::Map, SlabCrate, Slotmap);
    each!(growing: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Sync, dwell::Map, nexus_macro::Unbounded,
        nexus::Unbounded, SlabCrate, Slotmap, Sharded, Plurality);
    each!(sending: Heap<System>, Heap<MiMalloc>, dwell::Sync, dwell::SyncTogether, Sharded, Plurality);
    each!(booking: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Pooled, dwell::Map, nexus_macro::Bounded,
        nexus::Bounded, nexus::Unbounded, SlabCrate, Slotmap, Plurality);
    all
}

/// The baseline: a box on the system's allocator.
const BASELINE: &str = "box/glibc";

fn suite_of(ops: Vec<Op>) -> Suite {
    Suite { module: "slab", baseline: BASELINE, ops }
}

pub(crate) fn suite() -> Suite {
    suite_of(measures().ops)
}

/// The arguments of `dwell-bench slab`.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Measures times only, and counts no instructions.
    #[arg(long)]
    times: bool,
    /// Measures only workloads whose name contains this text.
    #[arg(long, default_value = "")]
    only: String,
    /// Prints the tables of docs/slab.md.
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: &Args, quick: bool, output: Output) -> Result<()> {
    let Measures { mut ops, mut probes } = measures();
    let all: Vec<String> = ops
        .iter()
        .map(|op| op.workload.as_str())
        .chain(probes.iter().map(|probe| probe.names().0))
        .map(str::to_owned)
        .collect();
    ops.retain(|op| op.workload.contains(&args.only));
    probes.retain(|probe| probe.names().0.contains(&args.only));
    if ops.is_empty() && probes.is_empty() {
        bail!(
            "no workload has `{}` in its name; there are: {}",
            args.only,
            distinct(all.iter().map(String::as_str)).join(", ")
        );
    }
    let suite = suite_of(ops);
    let mut rows = Vec::new();
    if args.times {
        // Nothing is counted.
    } else if let Some(version) = callgrind::version() {
        output.say(&format!("({version})"))?;
        rows = callgrind::rows(&suite, |_, _| true)?;
    } else {
        eprintln!("valgrind is not installed: the column `ir` is left out");
    }
    rows.extend(time::rows(&suite, if quick { 5 } else { 21 }));
    rows.extend(latency::rows(&probes, quick));
    if args.markdown {
        output.say(&tables::markdown(&rows))?;
    } else {
        output.rows(&rows)?;
    }
    Ok(())
}
