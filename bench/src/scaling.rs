//! `dwell-bench scaling`, which measures the cost of an operation with more live values and more threads, and the
//! memory in use after many operations.
//!
//! More values cause more misses of the caches and of the TLB. More threads cause more contention on shared data.
//! Subjects take turns, each with fresh data.

use anyhow::Result;
use dwell::pin::ErasedExt;
use dwell::slab::{Slab, sync};
use dwell::{SmallBox, Sparse, bump, small_box};
use futures::future::FutureExt;
use mem_dbg::{MemSize, SizeFlags};
use mimalloc::MiMalloc;
use serde::{Deserialize, Serialize};
use std::alloc::System;
use std::ffi::OsStr;
use std::time::Instant;

use crate::row::{Output, Row};
use crate::slab::HeapBox;
use crate::{again, count, sink, time};

/// A type of 64 bytes.
type Value = [u64; 8];

const GLIBC: &str = "box/glibc";
const MIMALLOC: &str = "box/mimalloc";

/// The number of operations in a timing.
const OPERATIONS: usize = 1_000_000;

/// The workload, the subject, its baseline, and a function that takes the number of live values (or of threads) and
/// returns nanoseconds for each operation.
type Case = (&'static str, &'static str, &'static str, fn(usize) -> f64);

/// A generator of numbers that no branch predictor learns, in three instructions.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((u128::from(self.0) * bound as u128) >> 64).expect("less than the bound")
    }
}

fn random() -> Random {
    Random(0x9E37_79B9_7F4A_7C15)
}

/// Returns the mean time of an operation in nanoseconds.
fn clock(operations: usize, mut operation: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..operations {
        operation();
    }
    start.elapsed().as_secs_f64() * 1e9 / operations as f64
}

fn value(word: usize) -> Value {
    [sink::opaque(word as u64); 8]
}

/// Times the replacement of a random value by a new one, including the drop.
fn exchange<S>(live: usize, make: impl Fn(Value) -> S) -> f64 {
    let mut slots: Vec<S> = (0..live).map(|word| make(value(word))).collect();
    let mut random = random();
    clock(OPERATIONS, || {
        let at = random.below(live);
        slots[at] = make(value(at));
        sink::change(&mut slots);
    })
}

fn in_slab(live: usize) -> f64 {
    let slab = Slab::new();
    exchange(live, |value| slab.insert(value))
}

fn in_sync_slab(live: usize) -> f64 {
    let slab = sync::Slab::with_capacity(0);
    exchange(live, |value| slab.insert(value))
}

/// The number of values of each thread.
const IN_THREAD: usize = 50_000;

/// Times the same in several threads at once, each with its own values.
fn in_threads(threads: usize, run: fn(usize) -> f64) -> f64 {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(|| run(IN_THREAD))).collect();
        let times = running.into_iter().map(|thread| thread.join().expect("a thread that measures does not panic"));
        times.sum::<f64>() / threads as f64
    })
}

trait Object {
    fn call(&self) -> u64;
}

impl Object for Value {
    fn call(&self) -> u64 {
        self[0]
    }
}

impl Object for [u64; 2] {
    fn call(&self) -> u64 {
        self[1]
    }
}

/// Times the read of a random value.
fn read<T>(live: usize, make: impl Fn(usize) -> T, read: impl Fn(&T) -> u64) -> f64 {
    let values: Vec<T> = (0..live).map(make).collect();
    let values = std::hint::black_box(values);
    let mut random = random();
    clock(OPERATIONS, || sink::word(read(&values[random.below(live)])))
}

#[derive(Default, Sparse)]
struct Part {
    count: u64,
    rest: [u64; 7],
}

/// Returns a part for one value in ten.
fn part(at: usize) -> Option<Part> {
    at.is_multiple_of(10).then_some(Part { count: at as u64, rest: [at as u64; 7] })
}

const CASES: &[Case] = &[
    ("slab/exchange", "dwell", GLIBC, in_slab),
    ("slab/exchange", "dwell/sync", GLIBC, in_sync_slab),
    ("slab/exchange", GLIBC, GLIBC, |live| exchange(live, HeapBox::<Value, System>::new)),
    ("slab/exchange", MIMALLOC, GLIBC, |live| exchange(live, HeapBox::<Value, MiMalloc>::new)),
    ("small/call", "dwell", GLIBC, |live| {
        let make = |word| -> SmallBox<dyn Object> { small_box!([word as u64; 2]) };
        read(live, make, |object| object.call())
    }),
    ("small/call", GLIBC, GLIBC, |live| {
        let make = |word| -> Box<dyn Object> { Box::new([word as u64; 2]) };
        read(live, make, |object| object.call())
    }),
    ("sparse/read", "dwell", "option-box", |live| {
        read(live, |at| part(at).map_or_else(Sparse::empty, Sparse::new), |part| part.count ^ part.rest[6])
    }),
    ("sparse/read", "option-box", "option-box", |live| {
        read(live, |at| part(at).map(Box::new), |part| part.as_ref().map_or(0, |part| part.count ^ part.rest[6]))
    }),
    ("sparse/read", "inline", "option-box", |live| {
        read(live, part, |part| part.as_ref().map_or(0, |part| part.count ^ part.rest[6]))
    }),
    ("bump/first", "dwell", GLIBC, |live| in_bump(0, live)),
    ("bump/first", "bumpalo 3.20.4", GLIBC, |live| in_bumpalo(0, live)),
    ("bump/first", GLIBC, GLIBC, |live| in_boxes(0, live)),
    ("bump/fill", "dwell", GLIBC, |live| in_bump(2, live)),
    ("bump/fill", "bumpalo 3.20.4", GLIBC, |live| in_bumpalo(2, live)),
    ("bump/fill", GLIBC, GLIBC, |live| in_boxes(2, live)),
    ("pin/exchange", "dwell/pooled", "boxed", |live| exchange(live, |value| async move { value[0] }.pooled())),
    ("pin/exchange", "boxed", "boxed", |live| exchange(live, |value| async move { value[0] }.boxed())),
    ("weigh/block", "dwell", "mem_dbg 0.4.4", |live| walk(live, |boxes| dwell::weigh::weigh(boxes).heap)),
    ("weigh/block", "mem_dbg 0.4.4", "mem_dbg 0.4.4", |live| {
        walk(live, |boxes| boxes.mem_size(SizeFlags::CAPACITY | SizeFlags::FOLLOW_RCS) as u64)
    }),
];

const THREADED: &[Case] = &[
    ("slab/threads", "dwell", GLIBC, |threads| in_threads(threads, in_slab)),
    ("slab/threads", "dwell/sync", GLIBC, |threads| in_threads(threads, in_sync_slab)),
    ("slab/threads", GLIBC, GLIBC, |threads| in_threads(threads, |live| exchange(live, HeapBox::<Value, System>::new))),
    ("slab/threads", MIMALLOC, GLIBC, |threads| {
        in_threads(threads, |live| exchange(live, HeapBox::<Value, MiMalloc>::new))
    }),
];

/// Times the allocation of a number of values that are freed together, after some rounds of the same.
///
/// In the first round the kernel maps every page. From the second round on an arena is one chunk, half of which is
/// still untouched; from the third round on all of it is mapped.
fn fill<A>(
    before: usize,
    live: usize,
    arena: &mut A,
    mut alloc: impl FnMut(&mut A, Value),
    reset: impl Fn(&mut A),
) -> f64 {
    let mut round = || {
        let start = Instant::now();
        for word in 0..live {
            alloc(arena, value(word));
        }
        reset(arena);
        start.elapsed().as_secs_f64() * 1e9 / live as f64
    };
    (0..before).for_each(|_| _ = round());
    round()
}

fn in_bump(before: usize, live: usize) -> f64 {
    let mut arena: bump::Bump = bump::Bump::new();
    fill(before, live, &mut arena, |arena, value| sink::pointer(arena.alloc(value)), bump::Bump::reset)
}

fn in_bumpalo(before: usize, live: usize) -> f64 {
    let mut arena = bumpalo::Bump::new();
    fill(before, live, &mut arena, |arena, value| sink::pointer(arena.alloc(value)), bumpalo::Bump::reset)
}

fn in_boxes(before: usize, live: usize) -> f64 {
    let alloc = |boxes: &mut Vec<_>, value| boxes.push(HeapBox::<Value, System>::new(value));
    fill(before, live, &mut Vec::new(), alloc, Vec::clear)
}

/// A value that the walk must read block by block: each capacity is in a separate block.
type Weighed = Vec<Box<Vec<u8>>>;

/// Times a walk over a vector of boxes, for each box.
fn walk(live: usize, weigh: impl Fn(&Weighed) -> u64) -> f64 {
    let boxes: Weighed = (0..live).map(|at| Box::new(Vec::with_capacity(at % 4))).collect();
    let rounds = (OPERATIONS / live).max(1);
    clock(rounds, || sink::word(weigh(std::hint::black_box(&boxes)))) / live as f64
}

pub(crate) fn run(quick: bool, output: Output) -> Result<()> {
    let (most, rounds) = if quick { (100_000, 2) } else { (10_000_000, 5) };
    output.say("nanoseconds an operation, by number of live values:")?;
    let sizes = std::iter::successors(Some(1_000), |size| Some(size * 10)).take_while(|size| *size <= most);
    output.rows(&sizes.flat_map(|size| measure(CASES, size, rounds)).collect::<Vec<_>>())?;
    output.say(&format!("\nnanoseconds an operation, by number of threads, each with {IN_THREAD} live values:"))?;
    output.rows(&[1, 2].into_iter().flat_map(|threads| measure(THREADED, threads, rounds)).collect::<Vec<_>>())?;
    output.say(
        "\nresident memory after random allocations and frees of 32, 64 and 256 bytes, half of 200,000 slots full:",
    )?;
    output.rows(&left_over(if quick { 1_000_000 } else { 100_000_000 })?)?;
    Ok(())
}

/// Returns the rows of all cases at one size.
fn measure(cases: &[Case], size: usize, rounds: usize) -> Vec<Row> {
    let times = time::in_turn(cases.len(), rounds, |at| cases[at].3(size));
    let names = cases.iter().map(|&(workload, subject, baseline, _)| (format!("{workload}/{size}"), subject, baseline));
    time::paired("scaling", time::NS, &names.collect::<Vec<_>>(), &times)
}

/// The work of a child process, which creates and drops random values and prints its memory.
#[derive(clap::Args, Debug)]
pub(crate) struct Task {
    subject: String,
    operations: usize,
}

/// The result of a child process: nanoseconds for each operation, and bytes with all values and with a tenth of them.
#[derive(Deserialize, Serialize)]
struct Left {
    ns: f64,
    full: f64,
    tenth: f64,
}

/// A value of one of three sizes.
enum Held<A, B, C> {
    Small(A),
    Middle(B),
    Large(C),
}

impl Task {
    pub(crate) fn answer(&self) -> Result<()> {
        let left = match self.subject.as_str() {
            "dwell" => {
                let (small, middle, large) = (Slab::new(), Slab::new(), Slab::new());
                self.left(|kind, word| match kind {
                    0 => Held::Small(small.insert([word; 4])),
                    1 => Held::Middle(middle.insert([word; 8])),
                    _ => Held::Large(large.insert([word; 32])),
                })
            }
            GLIBC => self.left(|kind, word| match kind {
                0 => Held::Small(HeapBox::<_, System>::new([word; 4])),
                1 => Held::Middle(HeapBox::<_, System>::new([word; 8])),
                _ => Held::Large(HeapBox::<_, System>::new([word; 32])),
            }),
            MIMALLOC => self.left(|kind, word| match kind {
                0 => Held::Small(HeapBox::<_, MiMalloc>::new([word; 4])),
                1 => Held::Middle(HeapBox::<_, MiMalloc>::new([word; 8])),
                _ => Held::Large(HeapBox::<_, MiMalloc>::new([word; 32])),
            }),
            other => anyhow::bail!("no such subject: {other}"),
        }?;
        println!("{}", serde_json::to_string(&left)?);
        Ok(())
    }

    fn left<A, B, C>(&self, make: impl Fn(usize, u64) -> Held<A, B, C>) -> Result<Left> {
        const SLOTS: usize = 200_000;
        let mut slots: Vec<Option<Held<A, B, C>>> = Vec::new();
        slots.resize_with(SLOTS, || None);
        let before = count::resident()? as f64;
        let mut random = random();
        let ns = clock(self.operations, || {
            let at = random.below(SLOTS);
            slots[at] = if slots[at].is_some() { None } else { Some(make(at % 3, at as u64)) };
            sink::change(&mut slots);
        });
        let full = count::resident()? as f64 - before;
        for slot in &mut slots {
            if random.below(10) != 0 {
                *slot = None;
            }
        }
        for held in slots.iter().flatten() {
            match held {
                Held::Small(held) => sink::pointer(held),
                Held::Middle(held) => sink::pointer(held),
                Held::Large(held) => sink::pointer(held),
            }
        }
        Ok(Left { ns, full, tenth: count::resident()? as f64 - before })
    }
}

fn left_over(operations: usize) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut baseline = None;
    for subject in [GLIBC, MIMALLOC, "dwell"] {
        let left: Left = again::child(&["left-over", subject, &operations.to_string()].map(OsStr::new))?;
        let base = baseline.get_or_insert(Left { ..left });
        for (workload, metric, unit, value, reference) in [
            ("random/all", "rss", "MB", left.full / 1e6, base.full / 1e6),
            ("random/a tenth left", "rss", "MB", left.tenth / 1e6, base.tenth / 1e6),
            ("random/all", "ns", "ns", left.ns, base.ns),
        ] {
            let (workload, subject, baseline) = (workload.to_owned(), subject.to_owned(), GLIBC.to_owned());
            rows.push(Row {
                module: "scaling",
                workload,
                subject,
                metric,
                value,
                unit,
                baseline,
                ratio: value / reference,
            });
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::{CASES, THREADED, Task};

    #[test]
    fn every_case_runs() {
        for ((workload, .., run), size) in
            CASES.iter().map(|case| (case, 10)).chain(THREADED.iter().map(|case| (case, 2)))
        {
            assert!(run(size) > 0.0, "{workload}");
        }
    }

    #[test]
    fn every_subject_answers() {
        for subject in ["dwell", super::GLIBC, super::MIMALLOC] {
            Task { subject: subject.to_owned(), operations: 100_000 }.answer().unwrap();
        }
        assert!(Task { subject: "none".to_owned(), operations: 1 }.answer().is_err());
    }
}
