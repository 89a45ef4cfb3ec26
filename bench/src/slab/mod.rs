//! Compares `dwell::slab` with the allocators, slabs and pools that it can replace.
#![expect(clippy::inline_always, reason = "a call around an operation would cost more than the operation")]

mod book;
mod latency;
mod operations;
mod peers;
mod subject;
mod ticks;

use anyhow::Result;
use mimalloc::MiMalloc;
use std::alloc::System;

pub(crate) use self::peers::heap::HeapBox;

use self::latency::Probe;
use self::peers::by_key::{Map, SlabCrate, Slotmap};
use self::peers::{bare::Bare, dwell, heap::Heap, nexus, nexus_macro, plurality::Plurality, sharded::Sharded};
use self::subject::{Books, Edits, Grows, Holds, Names, Sends, Visits, Words};
use crate::op::{Op, Suite};
use crate::row::Output;
use crate::select::Select;

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
    operations::reading::<S>(&mut all.ops);
    latency::sized::<S, 8>(&mut all.probes);
    latency::sized::<S, 32>(&mut all.probes);
    latency::sized::<S, 512>(&mut all.probes);
}

/// Adds the workload of four containers, for subjects of which a program can have several.
fn several<S: Holds<Words<8>>>(all: &mut Measures) {
    latency::several::<S>(&mut all.probes);
}

fn editing<S: Edits<Words<8>> + Edits<Words<512>>>(all: &mut Measures) {
    operations::editing::<S, 8>(&mut all.ops);
    operations::editing::<S, 512>(&mut all.ops);
    latency::editing::<S, 8>(&mut all.probes);
    latency::editing::<S, 512>(&mut all.probes);
}

fn naming<S: Names<Words<8>>>(all: &mut Measures) {
    operations::naming::<S>(&mut all.ops);
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
    each!(holding: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Fixed, dwell::Sync, dwell::Pooled, Map,
        nexus_macro::Bounded, nexus::Bounded, nexus::Unbounded, SlabCrate, Slotmap, Sharded, Plurality, Bare);
    each!(several: Heap<System>, dwell::Direct, dwell::Fixed, SlabCrate);
    each!(editing: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Pooled, Map, nexus_macro::Bounded,
        nexus::Bounded, nexus::Unbounded, SlabCrate, Slotmap, Plurality, Bare);
    each!(naming: dwell::Thread, dwell::Direct, Map, nexus_macro::Bounded, SlabCrate, Slotmap);
    operations::by_address(&mut all.ops);
    operations::boxes::<System>(&mut all.ops);
    operations::boxes::<MiMalloc>(&mut all.ops);
    each!(visiting: dwell::Direct, Map, SlabCrate, Slotmap);
    each!(growing: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Sync, Map, nexus_macro::Unbounded,
        nexus::Unbounded, SlabCrate, Slotmap, Sharded, Plurality);
    each!(sending: Heap<System>, Heap<MiMalloc>, dwell::Sync, dwell::SyncTogether, Sharded, Plurality);
    each!(booking: Heap<System>, Heap<MiMalloc>, dwell::Thread, dwell::Direct, dwell::Pooled, Map, nexus_macro::Bounded,
        nexus::Bounded, nexus::Unbounded, SlabCrate, Slotmap, Plurality);
    all
}

/// Returns the names of all probes.
#[cfg(test)]
pub(crate) fn probe_names() -> Vec<(String, String)> {
    measures().probes.iter().map(Probe::names).map(|(workload, subject)| (workload.into(), subject.into())).collect()
}

/// The baseline: a box on the system's allocator.
const BASELINE: &str = "box/glibc";

fn suite_of(ops: Vec<Op>) -> Suite {
    Suite { module: "slab", baseline: BASELINE, ops }
}

pub(crate) fn suite() -> Suite {
    suite_of(measures().ops)
}

pub(crate) fn run(select: &Select, quick: bool, output: Output) -> Result<()> {
    let Measures { ops, mut probes } = measures();
    let suite = suite_of(ops);
    select.check(suite.names().chain(probes.iter().map(Probe::names)))?;
    let mut rows = select.rows(suite, quick, output, |_| true)?;
    probes.retain(|probe| {
        let (workload, subject) = probe.names();
        !select.ir && select.has_workload(workload) && select.has_subject(subject, BASELINE)
    });
    rows.extend(latency::rows(&probes, quick));
    output.rows(&rows)?;
    Ok(())
}
