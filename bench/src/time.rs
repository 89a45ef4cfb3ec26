//! Time per operation: subjects interleaved round by round, each round with its data at new places of the heap.

use std::time::Instant;

use crate::op::{LOOP, Suite};
use crate::row::Row;

/// Operations in one timing: long against the clock's resolution, short against the machine's moods.
const OPERATIONS: usize = 400_000;

/// A row for each operation: the median over `rounds`, and the median of the ratios to the baseline in the same round.
pub(crate) fn rows(suite: &Suite, rounds: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for workload in suite.workloads() {
        let ops: Vec<_> = suite.of(workload).collect();
        let mut times = vec![Vec::with_capacity(rounds); ops.len()];
        for round in 0..rounds {
            // Holes of another size each round, so that the data does not land where it was.
            let holes: Vec<Vec<u8>> = (0..64).map(|index| vec![0; 16 + (index * 40 + round * 24) % 1000]).collect();
            let mut runs: Vec<_> = ops.iter().map(|op| (op.prepare)()).collect();
            drop(holes);
            for (run, times) in runs.iter_mut().zip(&mut times) {
                run(OPERATIONS / 10);
                let start = Instant::now();
                run(OPERATIONS);
                times.push(start.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64);
            }
        }
        let baseline = ops.iter().position(|op| op.subject == suite.baseline).expect("a suite has its baseline");
        for (op, time) in ops.iter().zip(&times) {
            let ratios = time.iter().zip(&times[baseline]).map(|(time, baseline)| time / baseline).collect();
            rows.push(Row {
                module: suite.module,
                workload: workload.to_owned(),
                subject: op.subject.to_owned(),
                metric: "ns",
                value: median(time.clone()),
                unit: "ns",
                baseline: suite.baseline.to_owned(),
                ratio: if op.subject == LOOP { 0.0 } else { median(ratios) },
            });
        }
    }
    rows
}

/// The middle value, or the mean of the middle two.
///
/// # Panics
///
/// If there is none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) { f64::midpoint(values[middle - 1], values[middle]) } else { values[middle] }
}

#[cfg(test)]
mod tests {
    #[test]
    #[expect(clippy::float_cmp, reason = "exact in binary")]
    fn median_is_in_the_middle() {
        assert_eq!(super::median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(super::median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
    }
}
