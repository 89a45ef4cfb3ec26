//! A minimal executor and the combinators of a futures crate.

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// A future that is ready when polled the second time.
pub struct Step(bool);

pub fn step() -> Step {
    Step(false)
}

impl Future for Step {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

pub fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Polls two futures to completion at the same time.
pub struct Join<A: Future, B: Future> {
    left: Result<A, Option<A::Output>>,
    right: Result<B, Option<B::Output>>,
}

pub fn join<A: Future, B: Future>(left: A, right: B) -> Join<A, B> {
    Join { left: Ok(left), right: Ok(right) }
}

fn poll_half<F: Future>(half: Pin<&mut Result<F, Option<F::Output>>>, context: &mut Context<'_>) {
    // SAFETY: the future is not moved out of `half`. It is only replaced after completion, which drops it in place.
    let half = unsafe { half.get_unchecked_mut() };
    if let Ok(future) = half {
        // SAFETY: `half` was pinned and `future` is its field, which is never moved.
        if let Poll::Ready(value) = unsafe { Pin::new_unchecked(future) }.poll(context) {
            *half = Err(Some(value));
        }
    }
}

impl<A: Future, B: Future> Future for Join<A, B> {
    type Output = (A::Output, B::Output);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the futures are not moved out of `self`; only outputs are, which need no pinning.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `self` was pinned, and this field is never moved out of it.
        poll_half(unsafe { Pin::new_unchecked(&mut this.left) }, context);
        // SAFETY: `self` was pinned, and this field is never moved out of it.
        poll_half(unsafe { Pin::new_unchecked(&mut this.right) }, context);
        match (&mut this.left, &mut this.right) {
            (Err(left @ Some(_)), Err(right @ Some(_))) => Poll::Ready((left.take().unwrap(), right.take().unwrap())),
            _ => Poll::Pending,
        }
    }
}

pub enum Either<A, B> {
    Left(A),
    Right(B),
}

/// Polls two futures until one of them is ready.
pub struct Select<A, B> {
    left: A,
    right: B,
}

pub fn select<A: Future, B: Future>(left: A, right: B) -> Select<A, B> {
    Select { left, right }
}

impl<A: Future, B: Future> Future for Select<A, B> {
    type Output = Either<A::Output, B::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: the futures are not moved out of `self`.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `self` was pinned, and this field is never moved out of it.
        if let Poll::Ready(value) = unsafe { Pin::new_unchecked(&mut this.left) }.poll(context) {
            return Poll::Ready(Either::Left(value));
        }
        // SAFETY: `self` was pinned, and this field is never moved out of it.
        unsafe { Pin::new_unchecked(&mut this.right) }.poll(context).map(Either::Right)
    }
}

pub trait Stream {
    type Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>>;
}

/// A future of the next item of a stream.
pub struct Next<'a, S: ?Sized>(&'a mut S);

pub fn next<S: Stream + Unpin + ?Sized>(stream: &mut S) -> Next<'_, S> {
    Next(stream)
}

impl<S: Stream + Unpin + ?Sized> Future for Next<'_, S> {
    type Output = Option<S::Item>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut *self.0).poll_next(context)
    }
}

/// A stream of the numbers up to `end`.
pub struct Counter {
    pub next: u32,
    pub end: u32,
}

impl Stream for Counter {
    type Item = u32;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<u32>> {
        let number = self.next;
        self.next += 1;
        Poll::Ready((number < self.end).then_some(number))
    }
}
