//! Runs the workloads to completion under an executor, as a program does.

use anyhow::Result;
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::runtime::{Builder, Runtime};

use super::BASELINE;
use super::subjects::{BoxPin, Boxed, ConcretePin, InlineBox, NoBox, Pinned, Pool, Pooled, Sends, Small, Stack, Work};
use super::workloads::{self, Build};
use crate::row::Row;
use crate::time;

/// The number of operations in a timing. An operation that wakes a thread takes microseconds.
const OPERATIONS: usize = 1_000;

/// A future that wakes its task whenever it is pending.
struct Woken<F>(F);

impl<F: Work> Future for Woken<F> {
    type Output = u64;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        // SAFETY: the field is structurally pinned: no code moves it, and `Woken` has no `Drop` and is `Unpin` only if
        // the field is.
        let future = unsafe { self.map_unchecked_mut(|woken| &mut woken.0) };
        let poll = future.poll(context);
        if poll.is_pending() {
            context.waker().wake_by_ref();
        }
        poll
    }
}

struct Executors {
    current: Runtime,
    multi: Runtime,
}

/// A workload of one subject under one executor. `run` returns nanoseconds per operation.
struct Trial {
    workload: String,
    subject: &'static str,
    run: Box<dyn Fn(&Executors) -> f64>,
}

fn timed(operation: impl Fn() -> u64) -> f64 {
    let start = Instant::now();
    for _ in 0..OPERATIONS {
        black_box(operation());
    }
    start.elapsed().as_secs_f64() * 1e9 / OPERATIONS as f64
}

fn trials<S: Sends, F: Work>(
    all: &mut Vec<Trial>,
    (workload, waits): (&str, u64),
    subject: &'static str,
    build: impl Build<S::Storage, F>,
) {
    macro_rules! trial {
        ($executor:literal, |$executors:ident, $future:ident| $run:expr) => {{
            let storage = S::Storage::default();
            let run = move |$executors: &Executors| {
                timed(|| {
                    let $future = Woken(S::hold(&storage, build(&storage, black_box(7), black_box(waits))));
                    $run
                })
            };
            all.push(Trial { workload: format!("{workload}/{}", $executor), subject, run: Box::new(run) });
        }};
    }
    trial!("block_on", |_executors, future| futures::executor::block_on(future));
    trial!("tokio_current", |executors, future| executors.current.block_on(future));
    trial!("tokio_multi", |executors, future| {
        executors.multi.block_on(executors.multi.spawn(future)).expect("no workload panics")
    });
}

fn all() -> Vec<Trial> {
    let mut all = Vec::new();
    macro_rules! plain {
        ($name:literal, $waits:literal, $words:literal, $bytes:literal, $build:expr) => {
            plain!($name, $waits, $build; Boxed, NoBox, ConcretePin, BoxPin, Pinned, Stack<$bytes>, InlineBox<$words>,
                Small<$words>, Pool, Pooled)
        };
        ($name:literal, $waits:literal, $build:expr; $($Subject:ty),*) => {
            $(trials::<$Subject, _>(&mut all, ($name, $waits), <$Subject as Sends>::NAME, |_: &_, value, n| $build(value, n));)*
        };
    }
    plain!("immediate_ready", 0, 2, 16, |value, _| workloads::immediate(value));
    plain!("pending_8", 8, 2, 16, workloads::pending);
    plain!("large_capture_4k", 0, 513, 4104, |value, _| workloads::large(value));
    macro_rules! layers {
        ($($Subject:ty),*) => {
            $(trials::<$Subject, _>(&mut all, ("layered_pending_8_l8", 8), <$Subject as Sends>::NAME, |storage: &_, value, n| {
                workloads::layered::<$Subject>(storage, value, n)
            });)*
        };
    }
    layers!(Boxed, NoBox, ConcretePin, BoxPin, Pinned, Pool, Pooled);
    all
}

/// Runs all trials in turn.
pub(super) fn rows(rounds: usize) -> Result<Vec<Row>> {
    let executors = Executors {
        current: Builder::new_current_thread().build()?,
        multi: Builder::new_multi_thread().worker_threads(2).build()?,
    };
    let trials = all();
    let times = time::in_turn(trials.len(), rounds, |at| (trials[at].run)(&executors));
    let names = trials.iter().map(|trial| (trial.workload.clone(), trial.subject, BASELINE));
    Ok(time::paired("pin", time::NS, &names.collect::<Vec<_>>(), &times))
}
