//! Compares `dwell::small` with `Box` and other boxes with inline storage.

mod subjects;
#[cfg(test)]
mod traits;
mod workloads;

use anyhow::Result;
use std::time::Instant;

use self::subjects::{Dwell, Nexus, SmallboxPeer, Std, Subject};
use crate::op::Suite;
use crate::row::{Output, Row};
use crate::select::Select;
use crate::time;

/// `Box` on the allocator of this process.
const BASELINE: &str = "box/glibc";

/// Returns the suite of all operations, with `Box` as the baseline.
pub(crate) fn suite() -> Suite {
    let mut ops = workloads::ops::<Std>();
    ops.extend(workloads::ops::<Dwell>());
    #[cfg(feature = "ssobox")]
    ops.extend(workloads::ops::<subjects::Ssobox>());
    ops.extend(workloads::ops::<SmallboxPeer>());
    ops.extend(workloads::ops::<Nexus>());
    ops.extend(workloads::loops::<Std>());
    Suite { module: "small", baseline: BASELINE, ops }
}

pub(crate) fn run(select: &Select, quick: bool, output: Output) -> Result<()> {
    let suite = suite();
    select.check(suite.names().chain([
        ("bulk/push", BASELINE),
        ("bulk/push", "dwell/push"),
        ("bulk/drain", BASELINE),
        ("bulk/extend", BASELINE),
    ]))?;
    let mut rows = select.rows(suite, quick, output, |_| true)?;
    if !select.ir {
        rows.extend(bulk(select, if quick { 5 } else { 21 }));
    }
    output.rows(&rows)?;
    Ok(())
}

/// The number of boxes in `bulk/*`. A vector of them is larger than a second-level cache.
const BULK: u32 = 1_000_000;

/// Times filling a vector with boxes of one word, by [`Subject::push`] and by `extend`, and draining it.
fn bulk(select: &Select, rounds: usize) -> Vec<Row> {
    /// A function that times filling and draining, in nanoseconds per element.
    type Bulk = fn() -> [f64; 2];
    fn clock<S: Subject>(fill: fn(&mut Vec<S::Object>, u64)) -> [f64; 2] {
        let mut boxes = Vec::with_capacity(BULK as usize);
        fill(&mut boxes, BULK.into()); // touches the memory
        boxes.clear();
        let mut timed = |step: &dyn Fn(&mut Vec<S::Object>)| {
            let start = Instant::now();
            step(&mut boxes);
            start.elapsed().as_secs_f64() * 1e9 / f64::from(BULK)
        };
        [timed(&|boxes| fill(boxes, BULK.into())), timed(&workloads::drain::<S>)]
    }
    let mut ways: Vec<(&'static str, &'static str, Bulk)> = vec![
        ("push", Std::NAME, || clock::<Std>(workloads::push::<Std>)),
        ("push", Dwell::NAME, || clock::<Dwell>(workloads::push::<Dwell>)),
        ("push", "dwell/push", || clock::<Dwell>(workloads::push_plainly::<Dwell>)),
        #[cfg(feature = "ssobox")]
        ("push", subjects::Ssobox::NAME, || clock::<subjects::Ssobox>(workloads::push::<subjects::Ssobox>)),
        ("push", SmallboxPeer::NAME, || clock::<SmallboxPeer>(workloads::push::<SmallboxPeer>)),
        ("push", Nexus::NAME, || clock::<Nexus>(workloads::push::<Nexus>)),
        ("extend", Std::NAME, || clock::<Std>(workloads::extend::<Std>)),
        ("extend", Dwell::NAME, || clock::<Dwell>(workloads::extend::<Dwell>)),
        #[cfg(feature = "ssobox")]
        ("extend", subjects::Ssobox::NAME, || clock::<subjects::Ssobox>(workloads::extend::<subjects::Ssobox>)),
        ("extend", SmallboxPeer::NAME, || clock::<SmallboxPeer>(workloads::extend::<SmallboxPeer>)),
        ("extend", Nexus::NAME, || clock::<Nexus>(workloads::extend::<Nexus>)),
    ];
    ways.retain(|(_, subject, _)| select.has_subject(subject, BASELINE));
    let times = time::in_turn(ways.len(), rounds, |at| ways[at].2());
    // Draining does not depend on how the vector was filled.
    let steps = ways.iter().zip(&times).flat_map(|(&(fill, subject, _), times)| {
        let times_of = |step: usize| times.iter().map(|time| time[step]).collect::<Vec<_>>();
        let drain = (fill == "push").then(|| (("bulk/drain".to_owned(), subject, BASELINE), times_of(1)));
        std::iter::once(((format!("bulk/{fill}"), subject, BASELINE), times_of(0))).chain(drain)
    });
    let (names, times): (Vec<_>, Vec<_>) = steps.unzip();
    let mut rows = time::paired("small", time::NS, &names, &times);
    rows.retain(|row| select.has_workload(&row.workload));
    rows
}
