//! Percentiles of the latency of operations, in ticks of the processor's counter.
//!
//! Hot operations are timed 64 at a time, because a read of the counter costs as much as several of them. Cold ones are
//! timed alone or as a burst of 64, each after a walk over more memory than the second-level cache holds. The cost of
//! the counter is subtracted. Subjects take turns, round by round.

use std::hint::black_box;
use std::sync::mpsc;

use fastrand::Rng;

use super::operations::{LIVE, Live, exchange, live_once, warm};
use super::subject::{Edits, Grows, Holds, Sends, Words};
use super::{BASELINE, ticks};
use crate::row::{Row, distinct};
use crate::sink;

/// A function that takes a number of samples, in ticks. Each sample has `batch` operations.
type Sample = Box<dyn FnMut(&mut Vec<u32>, usize)>;

/// A workload of one subject.
pub(super) struct Probe {
    workload: String,
    subject: &'static str,
    /// The number of operations in a sample.
    batch: usize,
    /// The number of samples in a round.
    samples: usize,
    /// The largest number of rounds.
    rounds: usize,
    prepare: fn() -> Sample,
}

impl Probe {
    /// Returns the workload and the subject.
    pub(super) fn names(&self) -> (&str, &str) {
        (&self.workload, self.subject)
    }
}

/// The number of operations that are timed together.
const BATCH: usize = 64;

/// Calls `f` and adds its ticks to the samples.
#[inline(always)]
fn timed<R>(samples: &mut Vec<u32>, f: impl FnOnce() -> R) -> R {
    let start = ticks::start();
    let result = f();
    samples.push(ticks::since(start));
    result
}

/// Memory whose walk evicts all other data from the first two caches.
struct Cold(Vec<u64>);

impl Cold {
    fn new() -> Self {
        // Four times a large second-level cache, and more pages than a second-level TLB has entries.
        Self(vec![1; 8 * 1024 * 1024 / 8])
    }

    #[inline(never)]
    fn evict(&self) {
        for line in self.0.chunks(8) {
            sink::word(line[0]);
        }
    }
}

/// The operation that is timed.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    Insert,
    Remove,
}

/// Inserts 64 values.
#[inline(never)]
fn insert<S: Holds<Words<N>>, const N: usize>(storage: &mut S::Storage, slots: &mut Vec<S::Slot>, word: u64) {
    for at in 0..BATCH as u64 {
        let slot = S::insert(storage, Words::new(word + at));
        S::get(storage, &slot, sink::pointer);
        sink::change(storage);
        slots.push(slot);
    }
}

/// Inserts 64 values and removes them in the order of insertion.
fn half<S: Holds<Words<N>>, const N: usize>(timed_half: Half) -> Sample {
    #[inline(never)]
    fn remove<S: Holds<Words<N>>, const N: usize>(storage: &mut S::Storage, slots: &mut Vec<S::Slot>) {
        for slot in slots.drain(..) {
            S::remove(storage, slot);
            sink::change(storage);
        }
    }
    let mut live = warm::<S, N>(LIVE);
    let mut slots = Vec::with_capacity(BATCH);
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let storage = &mut live.storage;
            if timed_half == Half::Insert {
                timed(samples, || insert::<S, N>(storage, &mut slots, word));
                remove::<S, N>(storage, &mut slots);
            } else {
                insert::<S, N>(storage, &mut slots, word);
                timed(samples, || remove::<S, N>(storage, &mut slots));
            }
        }
    })
}

/// Returns a container with live values, whose slots are in random order.
fn mixed<S: Holds<Words<N>>, const N: usize>() -> Live<S, Words<N>> {
    let mut live = warm::<S, N>(LIVE);
    Rng::with_seed(7).shuffle(&mut live.slots);
    live
}

fn lifecycle<S: Holds<Words<N>>, const N: usize>() -> Sample {
    let mut live = mixed::<S, N>();
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let storage = &mut live.storage;
            timed(samples, || (0..BATCH as u64).for_each(|at| live_once::<S, N>(storage, word + at)));
        }
    })
}

fn churn<S: Holds<Words<N>>, const N: usize>() -> Sample {
    let mut live = mixed::<S, N>();
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let Live { slots, storage } = &mut live;
            let slots: &mut [_; LIVE] = slots.as_mut_slice().try_into().expect("of this length");
            timed(samples, || {
                (0..BATCH as u64).for_each(|at| exchange::<S, N>(storage, slots, word * BATCH as u64 + at));
            });
        }
    })
}

/// Times one insertion and one removal, each after a walk over other memory.
fn cold_single<S: Holds<Words<N>>, const N: usize>() -> Sample {
    let mut live = warm::<S, N>(LIVE);
    let cold = Cold::new();
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let storage = &mut live.storage;
            cold.evict();
            let start = ticks::start();
            let slot = S::insert(storage, Words::new(word));
            S::get(storage, &slot, sink::pointer);
            let insert = ticks::since(start);
            let slot = black_box(slot);
            cold.evict();
            let start = ticks::start();
            S::remove(storage, slot);
            samples.push(insert.saturating_add(ticks::since(start)));
        }
    })
}

/// Times 64 insertions and 64 removals of random values, each after a walk over other memory.
fn cold_burst<S: Holds<Words<N>>, const N: usize>() -> Sample {
    let mut live = warm::<S, N>(LIVE);
    let cold = Cold::new();
    let mut rng = Rng::with_seed(8);
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let Live { slots, storage } = &mut live;
            cold.evict();
            let start = ticks::start();
            insert::<S, N>(storage, slots, word);
            let inserted = ticks::since(start);
            rng.shuffle(slots);
            let mut going = slots.split_off(LIVE);
            cold.evict();
            let start = ticks::start();
            going.drain(..).for_each(|slot| S::remove(storage, slot));
            samples.push(inserted.saturating_add(ticks::since(start)));
        }
    })
}

fn get<S: Holds<Words<N>>, const N: usize>() -> Sample {
    let live = warm::<S, N>(BATCH);
    Box::new(move |samples, count| {
        for _ in 0..count {
            timed(samples, || {
                for slot in black_box(&live.slots) {
                    S::get(&live.storage, slot, |value| sink::word(value.0[0]));
                }
            });
        }
    })
}

fn get_mut<S: Edits<Words<N>>, const N: usize>() -> Sample {
    let mut live = warm::<S, N>(BATCH);
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let Live { slots, storage } = &mut live;
            let slots = black_box(slots);
            timed(samples, || {
                for slot in slots {
                    S::get_mut(storage, slot, |value| {
                        value.0[0] = word;
                        sink::pointer(value);
                    });
                }
            });
        }
    })
}

fn replace<S: Edits<Words<N>>, const N: usize>() -> Sample {
    let mut live = warm::<S, N>(BATCH);
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let Live { slots, storage } = &mut live;
            let slots = black_box(slots);
            timed(samples, || {
                for slot in slots {
                    S::get_mut(storage, slot, |value| {
                        let old = std::mem::replace(value, Words::new(word));
                        sink::word(old.0[0]);
                        sink::pointer(value);
                    });
                }
            });
        }
    })
}

/// The number of values of a container that grows, or that is emptied in random order and refilled.
const MILLION: usize = 1_000_000;

/// Times each of the first insertions into an empty container.
fn growth<S: Grows<Words<8>>>() -> Sample {
    Box::new(|samples, count| {
        samples.reserve(count);
        let mut live = Live::<S, _> { slots: Vec::with_capacity(count), storage: S::empty() };
        for word in 0..count as u64 {
            let storage = &mut live.storage;
            let slot = timed(samples, || {
                let slot = S::insert(storage, Words::new(word));
                S::get(storage, &slot, sink::pointer);
                slot
            });
            live.slots.push(slot);
        }
    })
}

/// Times each of the first removals from a container that has only grown, in the order of insertion.
fn first_drops<S: Grows<Words<8>>>() -> Sample {
    Box::new(|samples, count| {
        samples.reserve(count);
        let mut live = Live::<S, _> { slots: Vec::with_capacity(count), storage: S::empty() };
        for word in 0..count as u64 {
            let slot = S::insert(&mut live.storage, Words::new(word));
            S::get(&live.storage, &slot, sink::pointer);
            live.slots.push(slot);
        }
        let storage = &mut live.storage;
        for slot in live.slots.drain(..) {
            timed(samples, || S::remove(storage, slot));
        }
    })
}

macro_rules! eight {
    ($what:stmt) => {
        $what $what $what $what $what $what $what $what
    };
}

/// Like [`lifecycle`], but straight-line code as in `perf_vs_box` of nexus-slab: the container is not passed to the
/// sink, so the compiler may keep values in registers that it knows to be unchanged.
fn straight<S: Holds<Words<N>>, const N: usize>() -> Sample {
    #[inline(never)]
    fn run<S: Holds<Words<N>>, const N: usize>(storage: &mut S::Storage, word: u64) {
        eight!(eight! {{
            let slot = S::insert(storage, Words::new(word));
            S::get(storage, &slot, sink::pointer);
            S::remove(storage, slot);
        }});
    }
    let mut live = warm::<S, N>(LIVE);
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let storage = &mut live.storage;
            timed(samples, || run::<S, N>(storage, word));
        }
    })
}

/// Like [`straight`], with as many instructions, but four containers take turns, so that no operation waits for the one
/// before.
fn straight_four<S: Holds<Words<N>>, const N: usize>() -> Sample {
    #[inline(never)]
    fn run<S: Holds<Words<N>>, const N: usize>([a, b, c, d]: [&mut S::Storage; 4], word: u64) {
        macro_rules! one {
            ($storage:ident) => {
                let slot = S::insert($storage, Words::new(word));
                S::get($storage, &slot, sink::pointer);
                S::remove($storage, slot);
            };
        }
        eight! {{ one!(a); one!(b); one!(c); one!(d); }}
        eight! {{ one!(a); one!(b); one!(c); one!(d); }}
    }
    let mut live: [_; 4] = std::array::from_fn(|_| warm::<S, N>(LIVE));
    Box::new(move |samples, count| {
        for word in 0..count as u64 {
            let storages = live.each_mut().map(|live| &mut live.storage);
            timed(samples, || run::<S, N>(storages, word));
        }
    })
}

/// Returns a container with `batches * BATCH` values, whose slots are in random order.
fn shuffled<S: Grows<Words<8>>>(batches: usize) -> Live<S, Words<8>> {
    let mut live = Live::<S, _> { slots: Vec::with_capacity(batches * BATCH), storage: S::empty() };
    for word in 0..(batches * BATCH) as u64 {
        let slot = S::insert(&mut live.storage, Words::new(word));
        live.slots.push(slot);
    }
    Rng::with_seed(9).shuffle(&mut live.slots);
    live
}

/// Removes a million values in random order.
fn random_free<S: Grows<Words<8>>>() -> Sample {
    Box::new(|samples, count| {
        let mut live = shuffled::<S>(count);
        let mut batch = Vec::with_capacity(BATCH);
        for _ in 0..count {
            batch.extend(live.slots.drain(live.slots.len() - BATCH..));
            let storage = &mut live.storage;
            timed(samples, || batch.drain(..).for_each(|slot| S::remove(storage, slot)));
        }
    })
}

/// Inserts a million values after as many were removed in random order.
fn refill<S: Grows<Words<8>>>() -> Sample {
    Box::new(|samples, count| {
        let mut live = shuffled::<S>(count);
        let Live { slots, storage } = &mut live;
        slots.drain(..).for_each(|slot| S::remove(storage, slot));
        for word in 0..count as u64 {
            timed(samples, || {
                for at in 0..BATCH as u64 {
                    let slot = S::insert(storage, Words::new(word + at));
                    S::get(storage, &slot, sink::pointer);
                    slots.push(slot);
                }
            });
        }
    })
}

/// The number of values that are sent to another thread together.
const PARCEL: usize = 1024;

/// Inserts on one thread and frees on another, in turns. The frees are timed.
fn remote_free<S: Sends<Words<8>>>() -> Sample {
    let mut live = warm::<S, 8>(PARCEL);
    live.slots.drain(..).for_each(|slot| S::remove(&mut live.storage, slot));
    Box::new(move |samples, count| {
        let remote = S::remote(&live.storage);
        let (send, receive) = mpsc::sync_channel::<Vec<S::Slot>>(1);
        let (answer, answered) = mpsc::sync_channel(1);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for mut slots in receive {
                    let start = ticks::start();
                    S::free_all(&remote, slots.drain(..));
                    let ticks = ticks::since(start);
                    if answer.send((slots, ticks)).is_err() {
                        return;
                    }
                }
            });
            let mut slots = Vec::with_capacity(PARCEL);
            for word in 0..count as u64 {
                let storage = &mut live.storage;
                for at in 0..PARCEL as u64 {
                    let slot = S::insert(storage, Words::new(word + at));
                    S::get(storage, &slot, sink::pointer);
                    slots.push(slot);
                }
                send.send(slots).expect("the other thread runs");
                let (empty, freed) = answered.recv().expect("the other thread answers");
                samples.push(freed);
                slots = empty;
            }
            drop(send);
        });
    })
}

/// The probes of one subject.
struct List<'a> {
    probes: &'a mut Vec<Probe>,
    subject: &'static str,
}

impl List<'_> {
    fn hot(&mut self, workload: impl Into<String>, prepare: fn() -> Sample) {
        self.add(workload, BATCH, 2_000, 50, prepare);
    }

    fn cold(&mut self, workload: String, batch: usize, prepare: fn() -> Sample) {
        self.add(workload, batch, 100, 20, prepare);
    }

    fn add(
        &mut self,
        workload: impl Into<String>,
        batch: usize,
        samples: usize,
        rounds: usize,
        prepare: fn() -> Sample,
    ) {
        let (workload, subject) = (workload.into(), self.subject);
        self.probes.push(Probe { workload, subject, batch, samples, rounds, prepare });
    }
}

/// Adds the probes of every subject for values of one size. Workloads without a size in their name have 64 bytes.
pub(super) fn sized<S: Holds<Words<N>>, const N: usize>(probes: &mut Vec<Probe>) {
    let mut list = List { probes, subject: S::NAME };
    let bytes = 8 * N;
    if bytes == 64 {
        list.hot("insert", || half::<S, N>(Half::Insert));
        list.hot("get", get::<S, N>);
        list.hot("straight/64B", straight::<S, N>);
        list.hot("remove", || half::<S, N>(Half::Remove));
    }
    list.hot(format!("lifecycle/{bytes}B"), lifecycle::<S, N>);
    list.hot(format!("churn/{bytes}B"), churn::<S, N>);
    list.cold(format!("cold/single/{bytes}B"), 1, cold_single::<S, N>);
    list.cold(format!("cold/burst/{bytes}B"), BATCH, cold_burst::<S, N>);
}

pub(super) fn several<S: Holds<Words<8>>>(probes: &mut Vec<Probe>) {
    List { probes, subject: S::NAME }.hot("straight/four/64B", straight_four::<S, 8>);
}

pub(super) fn editing<S: Edits<Words<N>>, const N: usize>(probes: &mut Vec<Probe>) {
    let mut list = List { probes, subject: S::NAME };
    list.hot(format!("get_mut/{}B", 8 * N), get_mut::<S, N>);
    list.hot(format!("replace/{}B", 8 * N), replace::<S, N>);
}

pub(super) fn growing<S: Grows<Words<8>>>(probes: &mut Vec<Probe>) {
    let mut list = List { probes, subject: S::NAME };
    list.add("growth/64B", 1, MILLION, 5, growth::<S>);
    list.add("first-drops/64B", 1, 100_000, 20, first_drops::<S>);
    list.add("random-free/64B", BATCH, MILLION / BATCH, 5, random_free::<S>);
    list.add("refill/64B", BATCH, MILLION / BATCH, 5, refill::<S>);
}

pub(super) fn sending<S: Sends<Words<8>>>(probes: &mut Vec<Probe>) {
    let mut list = List { probes, subject: S::NAME };
    list.add("remote/free/64B", PARCEL, 200, 20, remote_free::<S>);
}

/// Returns a percentile of sorted samples. `share` is in ten-thousandths.
fn percentile(sorted: &[u32], share: usize) -> f64 {
    let at = sorted.len() * share / 10_000;
    f64::from(sorted[at.min(sorted.len() - 1)])
}

/// The reported percentiles: the name, the share in ten-thousandths, and the smallest number of samples that it needs.
const PERCENTILES: [(&str, usize, usize); 4] =
    [("p50", 5_000, 1), ("p99", 9_900, 1_000), ("p999", 9_990, 1_000), ("p9999", 9_999, 1_000_000)];

/// Returns a row for each percentile of each probe.
pub(super) fn rows(probes: &[Probe], quick: bool) -> Vec<Row> {
    let mut rows = Vec::new();
    for workload in distinct(probes.iter().map(|probe| probe.workload.as_str())) {
        let probes: Vec<_> = probes.iter().filter(|probe| probe.workload == workload).collect();
        let mut samples = vec![Vec::new(); probes.len()];
        let rounds = if quick { probes[0].rounds.div_ceil(5) } else { probes[0].rounds };
        // New containers every five rounds, so that the heap addresses differ.
        for _ in 0..rounds.div_ceil(5) {
            let mut runs: Vec<_> = probes.iter().map(|probe| (probe.prepare)()).collect();
            for _ in 0..rounds.min(5) {
                for ((probe, run), samples) in probes.iter().zip(&mut runs).zip(&mut samples) {
                    run(samples, probe.samples);
                }
            }
        }
        for samples in &mut samples {
            samples.sort_unstable();
        }
        let baseline =
            probes.iter().position(|probe| probe.subject == BASELINE).expect("each workload has its baseline");
        for (probe, sorted) in probes.iter().zip(&samples) {
            for (metric, share, least) in PERCENTILES {
                if sorted.len() < least {
                    continue;
                }
                let value = percentile(sorted, share);
                rows.push(Row {
                    module: "slab",
                    workload: workload.to_owned(),
                    subject: probe.subject.to_owned(),
                    metric,
                    value: value / probe.batch as f64,
                    unit: ticks::UNIT,
                    baseline: probes[baseline].subject.to_owned(),
                    ratio: value / percentile(&samples[baseline], share),
                });
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    #[test]
    #[expect(clippy::float_cmp, reason = "small whole numbers")]
    fn percentile_selects_by_rank() {
        let sorted: Vec<u32> = (0..10_000).collect();
        assert_eq!(super::percentile(&sorted, 5_000), 5000.0);
        assert_eq!(super::percentile(&sorted, 9_990), 9990.0);
        assert_eq!(super::percentile(&[7], 9_999), 7.0);
    }
}
