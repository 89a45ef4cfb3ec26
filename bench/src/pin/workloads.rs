//! The workloads of the article and the phases in which each is measured, generic over the subject.
//!
//! | phase | operation |
//! |---|---|
//! | `construct` | built, stored and dropped; the future escapes |
//! | `first_poll` | built, stored, polled once and dropped; the future escapes |
//! | `first_poll/published` | the same, but as in the article the future does not escape |
//! | `complete` | built, stored, polled until it is ready, and dropped; the future escapes |
//! | `poll` | one poll of a stored future |
//!
//! A future escapes if it is passed to the sink. The optimiser must then assume that other code changed the future, so
//! it elides no allocation and calls erased futures through their vtables.

use std::hint::black_box;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use super::subjects::{BoxPin, Boxed, ConcretePin, InSlab, InlineBox, LocalPool, NoBox, Pinned, Pool, Pooled};
use super::subjects::{Reusable, ReusableBox, Sends, Small, Stack, Subject, Work};
use crate::op::{LOOP, Op, Run};
use crate::sink;
use futures::FutureExt as _;

/// A function that builds a workload from the storage of inner layers, the value to return, and the number of polls
/// before it is ready.
pub(super) trait Build<P, F>: Fn(&P, u64, u64) -> F + Copy + 'static {}
impl<P, F, B: Fn(&P, u64, u64) -> F + Copy + 'static> Build<P, F> for B {}

/// A future that is pending for `left` polls and then ready.
pub(super) struct Pending {
    value: u64,
    left: u64,
}

impl Future for Pending {
    type Output = u64;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u64> {
        match self.left.checked_sub(1) {
            Some(fewer) => {
                self.left = fewer;
                Poll::Pending
            }
            None => Poll::Ready(self.value),
        }
    }
}

pub(super) fn pending(value: u64, left: u64) -> Pending {
    Pending { value, left }
}

/// A layer of middleware: one word and the inner future. (An `async fn` that awaits another is twice as large as the
/// inner one, so eight of them would measure `memcpy`.)
struct Layer<F> {
    add: u64,
    inner: F,
}

impl<F: Work> Future for Layer<F> {
    type Output = u64;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
        let add = self.add;
        // SAFETY: the field is structurally pinned: no code moves it, and `Layer` has no `Drop` and is `Unpin` only if
        // the field is.
        let inner = unsafe { self.map_unchecked_mut(|layer| &mut layer.inner) };
        inner.poll(context).map(|value| value.wrapping_add(add))
    }
}

#[expect(clippy::unused_async, reason = "a future that is ready at once")]
pub(super) async fn immediate(value: u64) -> u64 {
    value
}

#[expect(clippy::unused_async, reason = "a future that is ready at once")]
#[expect(clippy::large_types_passed_by_value, reason = "what makes the future large")]
async fn capture(bytes: [u8; 4096]) -> u64 {
    sink::pointer(&bytes);
    u64::from(bytes[0])
}

#[expect(clippy::cast_possible_truncation, reason = "any value that the compiler does not know")]
pub(super) fn large(value: u64) -> impl Work {
    let mut bytes = [0; 4096];
    bytes[0] = value as u8;
    capture(bytes)
}

/// Returns eight layers around `pending`. `S` stores the inner future of each layer.
pub(super) fn layered<S: Sends>(storage: &S::Storage, value: u64, n: u64) -> impl Work + use<S> {
    macro_rules! layers {
        ($future:expr;) => { $future };
        ($future:expr; $_:tt $($rest:tt)*) => { layers!(Layer { add: value, inner: S::hold(storage, $future) }; $($rest)*) };
    }
    layers!(pending(value, n); 1 2 3 4 5 6 7 8)
}

/// Returns eight nested `async` blocks around `pending`. Each awaits the inner one, which `S` stores.
fn layered_async<S: Sends>(storage: &S::Storage, value: u64, n: u64) -> impl Work + use<S> {
    macro_rules! layers {
        ($future:expr;) => { $future };
        ($future:expr; $_:tt $($rest:tt)*) => {
            layers!({ let inner = S::hold(storage, $future); async move { inner.await.wrapping_add(value) } }; $($rest)*)
        };
    }
    layers!(pending(value, n); 1 2 3 4 5 6 7 8)
}

#[inline(always)]
fn word(poll: Poll<u64>) -> u64 {
    match poll {
        Poll::Ready(value) => value,
        Poll::Pending => 0,
    }
}

/// Returns a chain of sixteen combinators of the crate futures around a ready value.
fn chain(value: u64) -> impl Work {
    macro_rules! mapped {
        ($future:expr;) => { $future };
        ($future:expr; $_:tt $($rest:tt)*) => { mapped!($future.map(|value: u64| value.wrapping_add(1)); $($rest)*) };
    }
    mapped!(futures::future::ready(value); 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16)
}

#[inline(never)]
fn construct<S: Subject, F: Work>(storage: &mut S::Storage, build: impl Build<S::Storage, F>, value: u64, n: u64) {
    let future = build(storage, value, n);
    let mut held = pin!(S::make(storage, future));
    sink::change(&mut held);
}

#[inline(never)]
fn first_poll<S: Subject, F: Work, const ESCAPES: bool>(
    storage: &mut S::Storage,
    build: impl Build<S::Storage, F>,
    value: u64,
    n: u64,
) {
    let future = build(storage, value, n);
    let mut held = pin!(S::make(storage, future));
    if ESCAPES {
        sink::change(&mut held);
    }
    let mut context = Context::from_waker(Waker::noop());
    sink::word(word(held.as_mut().poll(&mut context)));
}

#[inline(never)]
fn complete<S: Subject, F: Work>(storage: &mut S::Storage, build: impl Build<S::Storage, F>, value: u64, n: u64) {
    let future = build(storage, value, n);
    let mut held = pin!(S::make(storage, future));
    let mut context = Context::from_waker(Waker::noop());
    loop {
        sink::change(&mut held);
        if let Poll::Ready(value) = held.as_mut().poll(&mut context) {
            sink::word(value);
            break;
        }
    }
}

#[inline(never)]
fn polls<S: Subject, F: Work>(
    storage: &mut S::Storage,
    build: impl Build<S::Storage, F>,
    value: u64,
    operations: usize,
) {
    let future = build(storage, value, u64::MAX);
    let mut held = pin!(S::make(storage, future));
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..operations {
        sink::change(&mut held);
        sink::word(word(held.as_mut().poll(&mut context)));
    }
}

#[inline(never)]
fn nothing(value: u64, n: u64) {
    sink::word(value);
    sink::word(n);
}

/// The number of polls for which a workload is pending. If it is 0, only phases with at most one poll are measured.
#[derive(Clone, Copy)]
pub(super) struct Waits(pub(super) u64);

/// Adds all phases of a workload for one subject.
fn phases<S: Subject, F: Work>(
    all: &mut Vec<Op>,
    (workload, waits): (&str, Waits),
    subject: &'static str,
    build: impl Build<S::Storage, F>,
) {
    macro_rules! repeat {
        ($phase:literal, |$storage:ident, $value:ident, $n:ident| $body:expr) => {
            all.push(Op::new(format!("{workload}/{}", $phase), subject, move || -> Run {
                let mut storage = S::Storage::default();
                Box::new(move |operations| {
                    let ($storage, $value, $n) = (&mut storage, black_box(7), black_box(waits.0));
                    for _ in 0..operations {
                        $body;
                    }
                })
            }));
        };
    }
    repeat!("construct", |storage, value, n| construct::<S, F>(storage, build, value, n));
    repeat!("first_poll", |storage, value, n| first_poll::<S, F, true>(storage, build, value, n));
    repeat!("first_poll/published", |storage, value, n| first_poll::<S, F, false>(storage, build, value, n));
    if waits.0 > 0 {
        repeat!("complete", |storage, value, n| complete::<S, F>(storage, build, value, n));
        all.push(Op::new(format!("{workload}/poll"), subject, move || -> Run {
            let mut storage = S::Storage::default();
            Box::new(move |operations| polls::<S, F>(&mut storage, build, black_box(7), operations))
        }));
    }
}

/// Adds the loops alone of a workload, whose cost is subtracted from all subjects.
fn loops(all: &mut Vec<Op>, (workload, waits): (&str, Waits)) {
    let phases = ["construct", "first_poll", "first_poll/published", "complete"];
    for phase in phases.into_iter().take(if waits.0 > 0 { 4 } else { 3 }) {
        all.push(Op::new(format!("{workload}/{phase}"), LOOP, move || -> Run {
            Box::new(move |operations| {
                let (value, n) = (black_box(7), black_box(waits.0));
                (0..operations).for_each(|_| nothing(value, n));
            })
        }));
    }
}

/// Adds a workload without layers for every subject. `WORDS` and `BYTES` are the inline storage that its future needs.
fn plain<F: Work, const WORDS: usize, const BYTES: usize>(
    all: &mut Vec<Op>,
    workload: (&str, Waits),
    build: impl Fn(u64, u64) -> F + Copy + 'static,
) {
    macro_rules! each {
        ($($Subject:ty),* $(,)?) => {
            $(phases::<$Subject, F>(all, workload, <$Subject as Subject>::NAME, move |_: &_, value, n| build(value, n));)*
        };
    }
    each!(Boxed, NoBox, ConcretePin, BoxPin, Pinned, Stack<BYTES>, ReusableBox, InlineBox<WORDS>, Small<WORDS>);
    each!(InSlab, LocalPool, Pool, Pooled, Reusable);
    loops(all, workload);
}

/// Adds a workload with layers, stored at each layer and once as a whole.
fn layers<const WORDS: usize, const BYTES: usize>(all: &mut Vec<Op>, workload: (&str, Waits)) {
    macro_rules! each {
        ($($Subject:ty),* $(,)?) => {
            $(phases::<$Subject, _>(all, workload, <$Subject as Subject>::NAME, |storage: &_, value, n| {
                layered::<$Subject>(storage, value, n)
            });)*
        };
    }
    macro_rules! once {
        ($($Subject:ty),* $(,)?) => {
            $(phases::<$Subject, _>(all, workload, <$Subject as Subject>::ONCE, |_: &_, value, n| {
                layered::<NoBox>(&(), value, n)
            });)*
        };
    }
    // Inline storage of one size cannot store each layer, since a layer is larger than the inner one.
    each!(Boxed, NoBox, ConcretePin, BoxPin, Pinned, Small<2>, Pool, Pooled);
    once!(Boxed, Stack<BYTES>, ReusableBox, InlineBox<WORDS>, Small<WORDS>, InSlab, LocalPool, Pool, Pooled, Reusable);
    loops(all, workload);
}

/// Adds a workload whose layers are `async` blocks, with type erasure at each layer.
fn async_layers(all: &mut Vec<Op>, workload: (&str, Waits)) {
    macro_rules! each {
        ($($Subject:ty),* $(,)?) => {
            $(phases::<$Subject, _>(all, workload, <$Subject as Subject>::NAME, |storage: &_, value, n| {
                layered_async::<$Subject>(storage, value, n)
            });)*
        };
    }
    each!(Boxed, Small<4>, Pool, Pooled);
    loops(all, workload);
}

pub(super) fn ops() -> Vec<Op> {
    let mut all = Vec::new();
    plain::<_, 2, 16>(&mut all, ("immediate_ready", Waits(0)), |value, _| immediate(value));
    plain::<_, 2, 16>(&mut all, ("pending_8", Waits(8)), pending);
    plain::<_, 513, 4104>(&mut all, ("large_capture_4k", Waits(0)), |value, _| large(value));
    plain::<_, 2, 16>(&mut all, ("pending_64", Waits(64)), pending);
    plain::<_, 2, 16>(&mut all, ("combinator_chain_16", Waits(0)), |value, _| chain(value));
    layers::<10, 80>(&mut all, ("layered_pending_8_l8", Waits(8)));
    layers::<10, 80>(&mut all, ("layered_pending_64_l8", Waits(64)));
    async_layers(&mut all, ("layered_async_l8", Waits(1)));
    all
}
