//! Tests of postfix pinning and inline values, also with misbehaving user code.

#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod common;
#[path = "ops/pin.rs"]
mod ops;

use common::{Counts, failing_after, left_by, panics};
use dwell::SmallBox;
use dwell::alloc::Global;
use dwell::pin::{ErasedExt, InlineBox, InlineFuture, LocalInlineFuture, PinExt};
use proptest::prelude::*;
use std::cell::Cell;
use std::fmt::Debug;
use std::future::{poll_fn, ready};
use std::marker::PhantomPinned;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn futures_do_not_move_and_drop_once(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        ops::run(&bytes);
    }
}

/// Polls a future until it is ready.
fn block_on<F: Future + ?Sized>(mut future: Pin<&mut F>) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// Waits for `n` polls: the future is ready at poll `n + 1`.
async fn pending(n: u32) {
    let mut left = n;
    poll_fn(|_| {
        left = left.wrapping_sub(1);
        if left == u32::MAX { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A future that borrows from itself across an await point.
async fn borrows_itself(n: u32) -> u32 {
    let numbers = [n; 4];
    let third = &numbers[2];
    pending(3).await;
    *third
}

/// A future that detects whether it was moved after its first poll.
#[derive(Default)]
struct Address {
    seen: Option<usize>,
    polls: u32,
    _pinned: PhantomPinned,
}

impl Future for Address {
    type Output = bool;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<bool> {
        let here = (&raw const *self).addr();
        // SAFETY: no field is moved out of the pinned value.
        let this = unsafe { self.get_unchecked_mut() };
        let same = *this.seen.get_or_insert(here) == here;
        this.polls += 1;
        if this.polls == 3 || !same { Poll::Ready(same) } else { Poll::Pending }
    }
}

#[test]
fn pinned_keeps_the_type() {
    let mut boxed: Pin<Box<Address>> = Address::default().pinned();
    assert!(block_on(boxed.as_mut()));
    let rc: Pin<Rc<u8>> = 7.pinned_rc();
    let arc: Pin<Arc<u8>> = 7.pinned_arc();
    let global: Pin<Box<u8>> = 7.pinned_in(Global);
    assert_eq!((*rc, *arc, *global), (7, 7, 7));
    assert_eq!(left_by(|| String::from("x").pinned()), (0, 0));
}

#[test]
fn failed_allocation_returns_the_value() {
    let error = failing_after(0, || [7_u64; 4].try_pinned()).unwrap_err();
    assert_eq!(error.into_inner(), [7; 4]);
    assert!([7_u64; 4].try_pinned().is_ok());
    let nothing = failing_after(0, || ().try_pinned()); // zero-sized, so it needs no block
    assert!(nothing.is_ok());
}

#[test]
fn sizes() {
    const WORD: usize = size_of::<usize>();
    assert_eq!(size_of::<InlineFuture<'_, (), 3>>(), 4 * WORD);
    assert_eq!(size_of::<Option<InlineFuture<'_, (), 3>>>(), 4 * WORD);
    assert_eq!(size_of::<InlineBox<dyn Debug, 0>>(), WORD);
    assert_eq!(size_of::<LocalInlineFuture<'_, String, 0>>(), WORD);
    assert_eq!(align_of::<InlineFuture<'_, (), 4, u128>>(), align_of::<u128>());
    assert_eq!(align_of::<InlineBox<dyn Debug, 4, u128>>(), align_of::<u128>());
}

#[test]
fn inline_futures_allocate_nothing() {
    failing_after(0, || {
        let future: InlineFuture<'_, u32, 8> = borrows_itself(5).inline();
        assert_eq!(block_on(pin!(future)), 5);
        let local: LocalInlineFuture<'_, u32, 8> = borrows_itself(6).inline_local();
        assert_eq!(block_on(pin!(local)), 6);
    });
}

#[test]
fn inline_future_may_move_before_it_is_pinned() {
    let future: InlineFuture<'_, bool, 4> = Address::default().inline();
    let elsewhere = Box::new(future);
    assert!(block_on(Box::into_pin(elsewhere).as_mut()));
}

#[test]
fn recursive_futures_can_be_awaited() {
    fn sum<'a>(numbers: &'a [u32]) -> Pin<Box<dyn Future<Output = u32> + Send + 'a>> {
        async move {
            match numbers {
                [] => 0,
                [first, rest @ ..] => {
                    let rest: SmallBox<dyn Future<Output = u32> + Send, 2> = sum(rest).small();
                    pending(1).await;
                    first + rest.await
                }
            }
        }
        .pinned()
    }
    assert_eq!(block_on(pin!(sum(&[1, 2, 3, 4]))), 10);
}

#[test]
fn small_spills_large_futures() {
    let large: SmallBox<dyn Future<Output = [u64; 8]> + Send, 2> = ready([1; 8]).small();
    assert!(!large.is_inline());
    assert_eq!(block_on(pin!(large)), [1; 8]);
    let local: SmallBox<dyn Future<Output = Rc<u8>>, 2> = ready(Rc::new(1)).small_local();
    assert!(local.is_inline());
}

#[test]
fn cancellation_at_every_await_drops_once() {
    let counts = Counts::default();
    for polls in 0..5 {
        let work = async {
            let _a = counts.spy(1);
            pending(1).await;
            let _b = counts.spy(2);
            pending(1).await;
            let _c = counts.spy(3);
        };
        let mut future = pin!(work.inline_local::<16>());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..polls {
            if future.as_mut().poll(&mut context).is_ready() {
                break;
            }
        }
    }
    assert!(counts.balanced());
    assert_eq!(counts.made.get(), 1 + 2 + 3 + 3); // none at 0 polls
}

#[test]
fn panic_in_poll_or_drop_drops_once() {
    let counts = Counts::default();
    let in_poll = async || {
        let _a = counts.spy(1);
        pending(1).await;
        if counts.made.get() == 1 {
            panic!("intentional panic in poll");
        }
    };
    assert!(panics(|| {
        let future: InlineBox<dyn Future<Output = ()>, 8> = InlineBox::new_coerced(in_poll(), |value| value as _);
        block_on(pin!(future));
    }));
    assert!(counts.balanced());
    counts.made.set(0);
    counts.dropped.set(0);
    assert!(panics(|| block_on(pin!(in_poll().inline_local::<8>()))));
    assert!(counts.balanced());

    let at_drop = counts.spy(4);
    counts.panic_at_drop.set(counts.dropped.get() + 1);
    assert!(panics(|| drop(LocalInlineFuture::<_, 2>::new_local(ready(at_drop)))));
    assert!(counts.balanced());

    counts.panic_at_drop.set(counts.dropped.get() + 1);
    assert!(panics(|| drop(InlineBox::<dyn Debug + '_, 2>::new_coerced(counts.spy(2), |value| value))));
    assert!(counts.balanced());

    assert!(panics(|| drop(InlineBox::<dyn Debug + '_, 2>::new_coerced(counts.spy(3), |_| panic!("intentional")))));
    assert!(counts.balanced());
}

#[test]
fn forgotten_futures_only_leak() {
    let counts = Counts::default();
    mem::forget(InlineBox::<dyn Debug + '_, 2>::new_coerced(counts.spy(1), |value| value));
    mem::forget(LocalInlineFuture::<_, 2>::new_local(ready(counts.spy(2))));
    assert_eq!(counts.dropped.get(), 0);
}

#[test]
fn values_of_all_layouts() {
    #[derive(Debug)]
    #[repr(align(64))]
    struct Aligned(#[expect(dead_code, reason = "printed")] u8);
    #[derive(Debug)]
    struct Nothing;

    let aligned = InlineBox::<dyn Debug, 8, Aligned>::new_coerced(Aligned(7), |value| value);
    assert_eq!((&raw const *aligned).addr() % 64, 0);
    assert_eq!(format!("{aligned:?}"), "Aligned(7)");
    assert_eq!(format!("{:?}", InlineBox::<dyn Debug, 0>::new_coerced(Nothing, |value| value)), "Nothing");
    let slice = InlineBox::<[u8], 1>::new_coerced([1, 2, 3], |value| value);
    assert_eq!(*slice, [1, 2, 3]);
    let mut sized = InlineBox::<u8, 1>::new_coerced(7, |value| value);
    *sized += 1;
    assert_eq!(*sized, 8);
}

#[test]
fn futures_of_all_layouts() {
    #[derive(Debug, PartialEq)]
    #[repr(align(64))]
    struct Aligned(u8);

    let aligned = InlineFuture::<_, 16, Aligned>::new(ready(Aligned(7)));
    assert_eq!((&raw const aligned).addr() % 64, 0);
    assert_eq!(format!("{aligned:?}"), "InlineFuture { .. }");
    assert_eq!(block_on(pin!(aligned)), Aligned(7));
    let nothing: InlineFuture<'_, u8, 0> = std::future::pending().inline();
    let mut context = Context::from_waker(Waker::noop());
    assert!(pin!(nothing).poll(&mut context).is_pending());
    // The output may be larger than the future.
    let large = pin!(InlineFuture::<[u64; 100], 1>::new(poll_fn(|_| Poll::Ready([7; 100]))));
    assert_eq!(large.poll(&mut context), Poll::Ready([7; 100]));
}

#[test]
fn inline_future_is_covariant_over_its_lifetime() {
    fn either<'a>(first: InlineFuture<'a, u32, 2>, _: &'a u32) -> InlineFuture<'a, u32, 2> {
        first
    }
    let lives = 7;
    let forever: InlineFuture<'static, u32, 2> = ready(1).inline();
    assert_eq!(block_on(pin!(either(forever, &lives))), 1);
}

#[test]
fn writes_through_interior_mutability_are_visible() {
    let cell = InlineBox::<dyn Fn() -> u32, 1>::new_coerced(
        {
            let count = Cell::new(0);
            move || count.replace(count.get() + 1)
        },
        |value| value,
    );
    assert_eq!((cell(), cell(), cell()), (0, 1, 2));
}

#[test]
fn future_completes_on_another_thread() {
    let mut future: Pin<Box<InlineFuture<'_, u32, 8>>> = borrows_itself(9).inline().pinned();
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
    assert_eq!(thread::spawn(move || block_on(future.as_mut())).join().unwrap(), 9);
}

#[test]
fn auto_traits() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn unpin<T: Unpin>() {}
    fn unwind<T: UnwindSafe + RefUnwindSafe>() {}
    send::<InlineBox<dyn Debug + Send, 2>>();
    sync::<InlineBox<dyn Debug + Sync, 2>>();
    unpin::<InlineBox<dyn Debug + Unpin, 2>>();
    unwind::<InlineBox<dyn Debug + UnwindSafe + RefUnwindSafe, 2>>();
    send::<InlineFuture<'_, Rc<u8>, 2>>();
}
