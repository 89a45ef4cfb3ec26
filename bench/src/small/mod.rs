//! `dwell::small` beside `Box` and the other boxes that keep small values in place.

mod prototypes;
mod subjects;
#[cfg(test)]
mod traits;
mod workloads;

use anyhow::Result;
use std::time::Instant;

use self::subjects::{BranchPrototype, Dwell, DwellPush, Nexus, SentinelPrototype, SmallboxPeer, Std, Subject};
use crate::op::Suite;
use crate::row::{Output, Row};
use crate::{callgrind, time};

/// `Box` on the allocator that this program is built with.
const BASELINE: &str = if cfg!(feature = "mimalloc") { "box/mimalloc" } else { "box/glibc" };

/// Compared with `Box`.
pub(crate) fn suite() -> Suite {
    let mut ops = workloads::ops::<Std>();
    ops.extend(workloads::ops::<Dwell>());
    #[cfg(feature = "ssobox")]
    ops.extend(workloads::ops::<subjects::Ssobox>());
    ops.extend(workloads::ops::<SmallboxPeer>());
    ops.extend(workloads::ops::<Nexus>());
    ops.extend(workloads::ops::<SentinelPrototype>());
    ops.extend(workloads::ops::<BranchPrototype>());
    ops.extend(workloads::loops::<Std>());
    Suite { module: "small", baseline: BASELINE, ops }
}

pub(crate) fn run(quick: bool, output: Output) -> Result<()> {
    let suite = suite();
    output.say("ratios of ir are taken after the loop's own ir is taken off")?;
    if !cfg!(feature = "ssobox") {
        output.say("without ssobox, which needs a nightly: cargo +nightly run --features ssobox ...")?;
    }
    let mut rows = Vec::new();
    if let Some(version) = callgrind::version() {
        output.say(&format!("({version})"))?;
        rows = callgrind::rows(&suite, |_, _| true)?;
    } else {
        eprintln!("no valgrind: the column `ir` is left out");
    }
    let rounds = if quick { 5 } else { 21 };
    rows.extend(time::rows(&suite, rounds));
    rows.extend(pushes(rounds));
    output.rows(&rows)?;
    Ok(())
}

/// Pushing alone, for boxes of one word; they are dropped off the clock.
fn pushes(rounds: usize) -> Vec<Row> {
    type Push = (&'static str, fn() -> f64);
    fn once<S: Subject>() -> f64 {
        let mut boxes = Vec::with_capacity(workloads::BULK);
        workloads::push::<S>(&mut boxes); // touches the memory
        boxes.clear();
        let start = Instant::now();
        workloads::push::<S>(&mut boxes);
        start.elapsed().as_secs_f64() * 1e9 / workloads::BULK as f64
    }
    let pushes: Vec<Push> = vec![
        (Std::NAME, once::<Std>),
        (Dwell::NAME, once::<Dwell>),
        (DwellPush::NAME, once::<DwellPush>),
        #[cfg(feature = "ssobox")]
        (subjects::Ssobox::NAME, once::<subjects::Ssobox>),
        (SmallboxPeer::NAME, once::<SmallboxPeer>),
        (Nexus::NAME, once::<Nexus>),
    ];
    let mut times = vec![Vec::new(); pushes.len()];
    for _ in 0..rounds {
        for ((_, push), times) in pushes.iter().zip(&mut times) {
            times.push(push());
        }
    }
    let row = |(subject, time): (&str, &Vec<f64>)| Row {
        module: "small",
        workload: "bulk/push".to_owned(),
        subject: subject.to_owned(),
        metric: "ns",
        value: time::median(time.clone()),
        unit: "ns",
        baseline: BASELINE.to_owned(),
        ratio: time::median(time.iter().zip(&times[0]).map(|(time, baseline)| time / baseline).collect()),
    };
    pushes.iter().map(|push| push.0).zip(&times).map(row).collect()
}
