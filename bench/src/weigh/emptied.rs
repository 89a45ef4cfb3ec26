//! Maps that were filled and emptied. They do not report all memory that they own, so the weight is a lower bound, and
//! `is_exact` returns `false`.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use dwell::Weigh;
use dwell::weigh::weigh;

use super::ALLOCATOR;
use crate::count;
use crate::row::Row;

/// A hasher that returns the key, so that adjacent keys get adjacent buckets.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, n: u64) {
        self.0 = n;
    }
}

/// The number of entries of a hash map: the capacity of a table of 65,536 buckets.
const ENTRIES: u64 = 57_344;
const TREES: usize = 10_000;

pub(super) fn rows() -> Vec<Row> {
    count::start();
    let mut rows = Vec::new();
    rows.extend(said("hash map emptied", || {
        let mut map: HashMap<u64, u64> = (0..ENTRIES).map(|n| (n, n)).collect();
        map.retain(|_, _| false);
        map
    }));
    rows.extend(said("hash map emptied, identity hasher", || {
        let mut map: HashMap<u64, u64, BuildHasherDefault<Identity>> = (0..ENTRIES).map(|n| (n, n)).collect();
        map.retain(|_, _| false);
        map
    }));
    rows.extend(said("10,000 B-trees emptied", || {
        let mut maps: Vec<BTreeMap<u64, [u64; 8]>> = (0..TREES).map(|_| BTreeMap::from([(1, [1; 8])])).collect();
        for map in &mut maps {
            map.pop_first();
        }
        maps
    }));
    count::stop();
    rows
}

/// Returns rows for the bytes that the allocator counted, for the weight and its error, and 1 if the weight is exact.
fn said<T: Weigh>(workload: &str, make: impl FnOnce() -> T) -> [Row; 4] {
    let before = count::live().bytes;
    let value = make();
    let truth = (count::live().bytes - before).cast_unsigned() as f64;
    let weight = weigh(&value);
    let bytes = weight.heap as f64;
    let ratio = bytes / truth;
    let row = |subject: &str, metric, value, unit, ratio| Row {
        module: "weigh",
        workload: workload.to_owned(),
        subject: subject.to_owned(),
        metric,
        value,
        unit,
        baseline: ALLOCATOR.to_owned(),
        ratio,
    };
    [
        row(ALLOCATOR, "bytes", truth / 1e6, "MB", 1.0),
        row("dwell", "bytes", bytes / 1e6, "MB", ratio),
        row("dwell", "error", (ratio - 1.0).abs() * 100.0, "%", ratio),
        row("dwell", "exact", f64::from(u8::from(weight.is_exact())), "", ratio),
    ]
}
