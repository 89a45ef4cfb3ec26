//! Time per operation. Subjects take turns in each round, and each round has its data at new heap addresses.

use std::time::Instant;

pub(crate) use dwell_bench_real::{median, spread};

use crate::op::{LOOP, Suite, repeat};
use crate::row::Row;

/// The number of operations in one timing. The time is long relative to the clock's resolution, and short relative to
/// changes in the machine's speed.
const OPERATIONS: usize = 400_000;
/// The number of rounds up to which a run counts as quick and takes fewer operations.
const QUICK: usize = 5;

/// Returns rows for each operation: the median over `rounds` of its time and of its ratio to the baseline in the same
/// round, and the confidence intervals of these medians (`ns_low`, `ns_high`).
///
/// No subject is always first, or always after the same one: each round starts with another subject, and every second
/// round is in reverse order.
pub(crate) fn rows(suite: &Suite, rounds: usize) -> Vec<Row> {
    rows_of(suite, rounds, rounds <= QUICK)
}

/// Returns the same rows as [`rows`], with short rounds if `short` is `true`.
pub(crate) fn rows_of(suite: &Suite, rounds: usize, short: bool) -> Vec<Row> {
    let operations = if short { OPERATIONS / 10 } else { OPERATIONS };
    let mut rows = Vec::new();
    for workload in suite.workloads() {
        let ops: Vec<_> = suite.ops_of(workload).collect();
        let mut times = vec![Vec::with_capacity(rounds); ops.len()];
        for round in 0..rounds {
            // Allocates blocks of other sizes before the data in each round, so that the data gets new addresses.
            let holes: Vec<Vec<u8>> = (0..64).map(|index| vec![0; 16 + (index * 40 + round * 24) % 1000]).collect();
            let mut runs: Vec<_> = ops.iter().map(|op| (op.prepare)()).collect();
            drop(holes);
            for at in turns(ops.len(), round) {
                runs[at](operations / 10);
                let start = Instant::now();
                let done = repeat(&mut runs[at], operations, 1);
                times[at].push(start.elapsed().as_secs_f64() * 1e9 / done as f64);
            }
        }
        let names: Vec<_> = ops.iter().map(|op| (workload.to_owned(), op.subject, suite.baseline)).collect();
        rows.extend(paired(suite.module, NS, &names, &times));
    }
    rows
}

/// The metrics of a time, which are the median and its confidence interval, and their unit.
pub(crate) const NS: (&[&str], &str) = (&["ns", "ns_low", "ns_high"], "ns");

/// Returns the results of each subject in each round.
pub(crate) fn in_turn<T>(subjects: usize, rounds: usize, mut run: impl FnMut(usize) -> T) -> Vec<Vec<T>> {
    let mut results: Vec<_> = (0..subjects).map(|_| Vec::with_capacity(rounds)).collect();
    for round in 0..rounds {
        for at in turns(subjects, round) {
            results[at].push(run(at));
        }
    }
    results
}

/// Returns rows for numbers that were measured in rounds: the median, its confidence interval if `metrics` names it, and
/// the same of the ratios within rounds. The names are a workload, a subject, and the baseline.
pub(crate) fn paired(
    module: &'static str,
    (metrics, unit): (&[&'static str], &'static str),
    names: &[(String, &str, &str)],
    numbers: &[Vec<f64>],
) -> Vec<Row> {
    let mut rows = Vec::new();
    for ((workload, subject, baseline), of_subject) in names.iter().zip(numbers) {
        let is_baseline = |(other, subject, _): &(String, &str, &str)| other == workload && subject == baseline;
        let of_baseline = &numbers[names.iter().position(is_baseline).expect("a workload has its baseline")];
        let ratios = spread(of_subject.iter().zip(of_baseline).map(|(number, base)| number / base).collect());
        let values = spread(of_subject.clone());
        for (at, &metric) in metrics.iter().enumerate() {
            rows.push(Row {
                module,
                workload: workload.clone(),
                subject: (*subject).to_owned(),
                metric,
                value: values[at],
                unit,
                baseline: (*baseline).to_owned(),
                ratio: if *subject == LOOP { 0.0 } else { ratios[at] },
            });
        }
    }
    rows
}

/// Returns the order of the subjects in a round.
pub(crate) fn turns(subjects: usize, round: usize) -> impl Iterator<Item = usize> {
    (0..subjects).map(move |turn| {
        let turn = if round.is_multiple_of(2) { turn } else { subjects - 1 - turn };
        (turn + round / 2) % subjects
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_subject_takes_turns_at_going_first() {
        let mut first = Vec::new();
        for round in 0..10 {
            let mut order: Vec<usize> = super::turns(5, round).collect();
            first.push(order[0]);
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3, 4]);
        }
        for subject in 0..5 {
            assert_eq!(first.iter().filter(|&&at| at == subject).count(), 2);
        }
    }
}
