//! What an executor and a futures crate give, in short.

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

/// Two futures side by side.
pub struct Join<A: Future, B: Future> {
    left: Result<A, Option<A::Output>>,
    right: Result<B, Option<B::Output>>,
}

pub fn join<A: Future, B: Future>(left: A, right: B) -> Join<A, B> {
    Join { left: Ok(left), right: Ok(right) }
}

fn poll_half<F: Future>(half: Pin<&mut Result<F, Option<F::Output>>>, context: &mut Context<'_>) {
    // SAFETY: the future stays where it is; it is replaced only when it is done, which drops it there.
    let half = unsafe { half.get_unchecked_mut() };
    if let Ok(future) = half {
        // SAFETY: `half` was pinned, and so is its field.
        if let Poll::Ready(value) = unsafe { Pin::new_unchecked(future) }.poll(context) {
            *half = Err(Some(value));
        }
    }
}

impl<A: Future, B: Future> Future for Join<A, B> {
    type Output = (A::Output, B::Output);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // SAFETY: nothing is moved out of it but the outputs.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `this` is pinned, and so are its fields.
        poll_half(unsafe { Pin::new_unchecked(&mut this.left) }, context);
        // SAFETY: `this` is pinned, and so are its fields.
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

/// Whichever of two futures is ready first.
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
        // SAFETY: nothing is moved out of it.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: `this` is pinned, and so are its fields.
        if let Poll::Ready(value) = unsafe { Pin::new_unchecked(&mut this.left) }.poll(context) {
            return Poll::Ready(Either::Left(value));
        }
        // SAFETY: `this` is pinned, and so are its fields.
        unsafe { Pin::new_unchecked(&mut this.right) }.poll(context).map(Either::Right)
    }
}

pub trait Stream {
    type Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>>;
}

/// The next item of a stream.
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

/// Counts up to an end.
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
