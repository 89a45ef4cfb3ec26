//! Compares boxes: the cost of returning an iterator, a closure or a future of an erased type.
//!
//! ```text
//! cargo run --release -p dwell --features derive --example which_box
//! ```
//!
//! Each workload runs N and 2N times under callgrind (valgrind must be installed). The difference divided by N is the
//! number of instructions for one value, which is created, returned by a function that is not inlined, used, and
//! dropped.

use dwell::pin::{ErasedExt, InlineFuture};
use dwell::slab::{BoxedIterExt, PoolIter, Pooled};
use dwell::{SmallBox, pooled, small_box};
use std::env;
use std::hint::black_box;
use std::pin::{Pin, pin};
use std::process::{Command, ExitCode};
use std::task::{Context, Poll, Waker};

const N: u64 = 1000;

type Row = (&'static str, &'static str, fn(u64));

/// The rows: the group, the box, and the function that runs N times.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("iterator of 4 words, 4 items", "Box", |n| repeat(n, |k| boxed::evens(&DATA, k).sum())),
    ("iterator of 4 words, 4 items", "SmallBox<_, 2>", |n| repeat(n, |k| small::<2>(&DATA, k).sum())),
    ("iterator of 4 words, 4 items", "SmallBox<_, 4>", |n| repeat(n, |k| small::<4>(&DATA, k).sum())),
    ("iterator of 4 words, 4 items", ".boxed_iter()", |n| repeat(n, |k| slot::evens(&DATA, k).sum())),
    ("iterator in iterator, 4 deep", "Box", |n| repeat(n, |k| boxed::nested(&DATA, k, 3).sum())),
    ("iterator in iterator, 4 deep", "SmallBox<_, 4>", |n| repeat(n, |k| small_nested::<4>(&DATA, k, 3).sum())),
    ("iterator in iterator, 4 deep", ".boxed_iter()", |n| repeat(n, |k| slot::nested(&DATA, k, 3).sum())),
    ("closure of 1 word, called twice", "Box", |n| repeat(n, |k| { let f = boxed::adder(k); f(1) + f(2) })),
    ("closure of 1 word, called twice", "SmallBox<_, 1>", |n| repeat(n, |k| { let f = small_adder::<1>(k); f(1) + f(2) })),
    ("closure of 1 word, called twice", "SmallBox<_, 2>", |n| repeat(n, |k| { let f = small_adder::<2>(k); f(1) + f(2) })),
    ("closure of 1 word, called twice", "pooled!", |n| repeat(n, |k| { let f = slot::adder(k); f(1) + f(2) })),
    ("closure of 4 words, called twice", "Box", |n| repeat(n, |k| { let f = boxed::mixer([k; 4]); f(1) + f(2) })),
    ("closure of 4 words, called twice", "SmallBox<_, 2>", |n| repeat(n, |k| { let f = small_mixer::<2>([k; 4]); f(1) + f(2) })),
    ("closure of 4 words, called twice", "SmallBox<_, 4>", |n| repeat(n, |k| { let f = small_mixer::<4>([k; 4]); f(1) + f(2) })),
    ("closure of 4 words, called twice", "pooled!", |n| repeat(n, |k| { let f = slot::mixer([k; 4]); f(1) + f(2) })),
    ("async method of a dyn Trait", "async-trait 0.1", |n| repeat(n, |k| ready(by_async_trait::object(&k).load(1)))),
    ("async method of a dyn Trait", "#[erased]", |n| repeat(n, |k| ready(by_erased::object(&k).load(1)))),
    ("async method of a dyn Trait", ".inline::<4>()", |n| repeat(n, |k| ready(inline(&k, 1)))),
    ("async method that calls 3 more", "async-trait 0.1", |n| repeat(n, |k| ready(by_async_trait::object(&k).sum(3)))),
    ("async method that calls 3 more", "#[erased]", |n| repeat(n, |k| ready(by_erased::object(&k).sum(3)))),
    ("recursive async fn, fibonacci(8)", "Box::pin", |n| repeat(n, |k| ready(boxed::fibonacci(k)))),
    ("recursive async fn, fibonacci(8)", "#[erased]", |n| repeat(n, |k| ready(slot::fibonacci(k)))),
];

static DATA: [u64; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

fn repeat(n: u64, run: impl Fn(u64) -> u64) {
    for _ in 0..n {
        black_box(run(black_box(8)));
    }
}

/// Returns the output of a future that is ready at the first poll.
fn ready<F: Future<Output = u64>>(future: F) -> u64 {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => 0,
    }
}

#[inline]
fn evens(numbers: &[u64], k: u64) -> impl Iterator<Item = u64> + '_ {
    let factor = black_box(3);
    numbers.iter().filter(|n| **n % 2 == 0).map(move |n| n * factor + k)
}

type Small<'a, const N: usize> = SmallBox<dyn Iterator<Item = u64> + 'a, N>;

#[inline(never)]
fn small<const N: usize>(numbers: &[u64], k: u64) -> Small<'_, N> {
    small_box!(evens(numbers, k))
}

#[inline(never)]
fn small_nested<const N: usize>(numbers: &[u64], k: u64, levels: u32) -> Small<'_, N> {
    if levels == 0 {
        return small(numbers, k);
    }
    small_box!(small_nested::<N>(numbers, k, levels - 1).map(move |n| n ^ k))
}

#[inline(never)]
fn small_adder<const N: usize>(by: u64) -> SmallBox<dyn Fn(u64) -> u64, N> {
    small_box!(move |x| x + by)
}

#[inline(never)]
fn small_mixer<const N: usize>(by: [u64; 4]) -> SmallBox<dyn Fn(u64) -> u64, N> {
    small_box!(move |x| x + by[0] + by[1] + by[2] + by[3])
}

mod boxed {
    use super::Pin;

    #[inline(never)]
    pub(super) fn evens(numbers: &[u64], k: u64) -> Box<dyn Iterator<Item = u64> + '_> {
        Box::new(super::evens(numbers, k))
    }

    #[inline(never)]
    pub(super) fn nested(numbers: &[u64], k: u64, levels: u32) -> Box<dyn Iterator<Item = u64> + '_> {
        if levels == 0 {
            return evens(numbers, k);
        }
        Box::new(nested(numbers, k, levels - 1).map(move |n| n ^ k))
    }

    #[inline(never)]
    pub(super) fn adder(by: u64) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |x| x + by)
    }

    #[inline(never)]
    pub(super) fn mixer(by: [u64; 4]) -> Box<dyn Fn(u64) -> u64> {
        Box::new(move |x| x + by[0] + by[1] + by[2] + by[3])
    }

    #[inline(never)]
    pub(super) fn fibonacci(n: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
        Box::pin(async move { if n < 2 { n } else { fibonacci(n - 1).await + fibonacci(n - 2).await } })
    }
}

mod slot {
    use super::{BoxedIterExt, PoolIter, Pooled, pooled};

    #[inline(never)]
    pub(super) fn evens(numbers: &[u64], k: u64) -> PoolIter<'_, u64> {
        super::evens(numbers, k).boxed_iter()
    }

    #[inline(never)]
    pub(super) fn nested(numbers: &[u64], k: u64, levels: u32) -> PoolIter<'_, u64> {
        if levels == 0 {
            return evens(numbers, k);
        }
        nested(numbers, k, levels - 1).map(move |n| n ^ k).boxed_iter()
    }

    #[inline(never)]
    pub(super) fn adder(by: u64) -> Pooled<dyn Fn(u64) -> u64> {
        pooled!(move |x| x + by)
    }

    #[inline(never)]
    pub(super) fn mixer(by: [u64; 4]) -> Pooled<dyn Fn(u64) -> u64> {
        pooled!(move |x| x + by[0] + by[1] + by[2] + by[3])
    }

    #[dwell::erased]
    #[inline(never)]
    pub(super) async fn fibonacci(n: u64) -> u64 {
        if n < 2 { n } else { fibonacci(n - 1).await + fibonacci(n - 2).await }
    }
}

macro_rules! store {
    ($module:ident, $attribute:path) => {
        mod $module {
            #[$attribute]
            pub(super) trait Store: Sync {
                async fn load(&self, key: u64) -> u64;

                async fn sum(&self, keys: u64) -> u64 {
                    let mut sum = 0;
                    for key in 0..keys {
                        sum += self.load(key).await;
                    }
                    sum
                }
            }

            #[$attribute]
            impl Store for u64 {
                async fn load(&self, key: u64) -> u64 {
                    self + key
                }
            }

            #[inline(never)]
            pub(super) fn object(of: &u64) -> &dyn Store {
                std::hint::black_box(of)
            }
        }
    };
}
store!(by_async_trait, async_trait::async_trait);
store!(by_erased, dwell::erased);

#[inline(never)]
fn inline(number: &u64, key: u64) -> InlineFuture<'_, u64, 4> {
    async move { number + key }.inline()
}

/// Returns the number of instructions of a run in a separate process.
fn count(row: usize, n: u64) -> Result<u64, String> {
    let own = env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(own)
        .args([row.to_string(), n.to_string()])
        .output()
        .map_err(|error| format!("valgrind does not start: {error}; install it"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected :"));
    collected
        .and_then(|(_, count)| count.trim().parse().ok())
        .ok_or_else(|| format!("callgrind printed no count: {text}"))
}

fn print() -> Result<(), String> {
    println!("| workload | box | instructions |\n|---|---|--:|");
    for (index, (workload, name, _)) in ROWS.iter().enumerate() {
        let (once, twice) = (count(index, N)?, count(index, 2 * N)?);
        println!("| {workload} | {name} | {:.0} |", (twice as f64 - once as f64) / N as f64);
    }
    Ok(())
}

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1).filter_map(|argument| argument.parse().ok());
    if let (Some(row), Some(n)) = (arguments.next(), arguments.next())
        && let Some((_, _, run)) = usize::try_from(row).ok().and_then(|row| ROWS.get(row))
    {
        run(n);
        return ExitCode::SUCCESS;
    }
    match print() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
