//! The time of eight erased layers: `cargo run --release -p dwell-bench --example layers`.
//!
//! `dwell-bench -- pin` times the same in long rounds, which other programs on the machine interrupt. Here the subjects
//! take turns in short rounds, so most rounds, and with them the median, are not interrupted.

use dwell::pin::ErasedExt;
use dwell::slab::sync::Pool;
use futures::future::{BoxFuture, FutureExt};
use std::alloc::{Layout, alloc};
use std::hint::black_box;
use std::pin::Pin;
use std::process::abort;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

const ROUNDS: usize = 401;
const OPERATIONS: u32 = 2000;

/// A layer: a word, and the inner future if there is one.
struct Layer<F>(u64, Option<F>);

impl<F: Future<Output = u64> + Unpin> Future for Layer<F> {
    type Output = u64;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        let Self(word, inner) = self.get_mut();
        match inner {
            Some(inner) => Pin::new(inner).poll(context).map(|value| value.wrapping_add(*word)),
            None => Poll::Ready(*word),
        }
    }
}

/// `.boxed()` that aborts if the allocation fails. It cannot unwind, so the value need not be in memory for a drop.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the other subjects are inlined too")]
fn boxed_or_abort<F: Future<Output = u64> + Send + 'static>(future: F) -> BoxFuture<'static, u64> {
    // SAFETY: no future here has size 0.
    let block = unsafe { alloc(Layout::new::<F>()) }.cast::<F>();
    if block.is_null() {
        abort();
    }
    // SAFETY: the block was allocated with the layout of an `F`.
    unsafe { block.write(future) };
    // SAFETY: the block came from the global allocator with the layout of an `F` and holds one.
    Box::into_pin(unsafe { Box::from_raw(block) })
}

/// Builds eight layers around a future, each erased inside the next one, polls them once and drops them.
macro_rules! layers {
    ($word:ident; $erase:expr) => {
        layers!($word; $erase; $erase(Layer($word, None::<BoxFuture<'static, u64>>)); 1 2 3 4 5 6 7 8)
    };
    ($word:ident; $erase:expr; $inner:expr;) => {{
        let mut future = black_box($inner);
        black_box(future.as_mut().poll(&mut Context::from_waker(Waker::noop()))).is_ready()
    }};
    ($word:ident; $erase:expr; $inner:expr; $_:tt $($rest:tt)*) => {
        layers!($word; $erase; $erase(Layer($word, Some($inner))); $($rest)*)
    };
}

type Operation = (&'static str, Box<dyn Fn(u64) -> bool>);

fn main() {
    let pool = Pool::new();
    let operations: [Operation; 4] = [
        ("boxed", Box::new(|word| layers!(word; FutureExt::boxed))),
        ("boxed, or abort", Box::new(|word| layers!(word; boxed_or_abort))),
        ("dwell/pool", Box::new(move |word| layers!(word; |future| ErasedExt::boxed_in(future, &pool)))),
        ("dwell/pooled", Box::new(|word| layers!(word; ErasedExt::pooled))),
    ];
    let mut times = operations.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for ((_, operation), times) in operations.iter().zip(&mut times) {
            let start = Instant::now();
            for _ in 0..OPERATIONS {
                assert!(operation(black_box(7)));
            }
            times.push(start.elapsed().as_secs_f64() * 1e9 / f64::from(OPERATIONS));
        }
    }
    let medians = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2]
    });
    for ((name, _), median) in operations.iter().zip(medians) {
        println!("{name:16} {median:6.1} ns {:5.2}", median / medians[0]);
    }
}
