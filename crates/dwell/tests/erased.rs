//! Tests of `#[erased]`: the supported signatures of an `async fn`, and the drop, cancellation and reuse of its
//! futures.
#![cfg(feature = "derive")]
#![allow(
    clippy::large_stack_arrays,
    clippy::large_types_passed_by_value,
    clippy::multiple_bound_locations,
    clippy::redundant_iter_cloned,
    reason = "what is tested: large arguments, bounds in generics and in the where clause"
)]

mod common;

use common::{Counts, Spy, panics};
use dwell::erased;
use dwell::pin::{LocalPoolFuture, PoolFuture};
use std::cell::RefCell;
use std::fmt::Display;
use std::marker::PhantomData;
use std::mem;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// Is pending once.
async fn pause() {
    let mut paused = false;
    std::future::poll_fn(move |_| if mem::replace(&mut paused, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

fn is_send<T: Send>(value: T) -> T {
    value
}

struct Number(u32);

mod receivers {
    use super::{Arc, Number, Pin, block_on, erased, is_send, pause};

    #[erased]
    trait Receivers: Send + Sync {
        async fn shared(&self) -> u32;
        async fn exclusive(&mut self, by: u32) -> u32;
        async fn value(self) -> u32
        where
            Self: Sized;
        async fn pinned(self: Pin<&mut Self>, by: u32) -> u32;
        async fn boxed(self: Box<Self>) -> u32;
        async fn arc(self: Arc<Self>) -> u32;
        async fn none(by: u32) -> u32
        where
            Self: Sized;
    }

    #[erased]
    impl Receivers for Number {
        async fn shared(&self) -> u32 {
            pause().await;
            self.0
        }

        async fn exclusive(&mut self, by: u32) -> u32 {
            self.0 += by;
            pause().await;
            self.0
        }

        async fn value(mut self) -> u32 {
            self.0 += 1;
            pause().await;
            self.0
        }

        async fn pinned(mut self: Pin<&mut Self>, by: u32) -> u32 {
            self.0 += by;
            pause().await;
            self.0
        }

        async fn boxed(self: Box<Self>) -> u32 {
            pause().await;
            self.0
        }

        async fn arc(self: Arc<Self>) -> u32 {
            pause().await;
            self.0
        }

        async fn none(by: u32) -> u32 {
            Self(by).shared().await
        }
    }

    #[test]
    fn all_receivers_are_supported() {
        let mut number = Number(1);
        let object: &mut dyn Receivers = &mut number;
        assert_eq!(block_on(is_send(object.shared())), 1);
        assert_eq!(block_on(is_send(object.exclusive(2))), 3);
        // SAFETY: the value is `Unpin`, and it is not moved while the reference lives.
        let pinned: Pin<&mut dyn Receivers> = unsafe { Pin::new_unchecked(object) };
        assert_eq!(block_on(is_send(pinned.pinned(3))), 6);
        assert_eq!(block_on(is_send(number.value())), 7);
        let boxed: Box<dyn Receivers> = Box::new(Number(8));
        assert_eq!(block_on(is_send(boxed.boxed())), 8);
        let arc: Arc<dyn Receivers> = Arc::new(Number(9));
        assert_eq!(block_on(is_send(arc.arc())), 9);
        assert_eq!(block_on(is_send(Number::none(10))), 10);
    }
}

mod signatures {
    use super::{Display, PhantomData, block_on, erased, is_send, pause};

    struct Text<'a>(&'a str);

    #[erased]
    trait Signatures<'t>: Sync {
        type Output: Send + Sync + From<u8>;

        async fn elided(&self, text: &str, other: &'_ str) -> usize;
        async fn elided_result<'a>(&self, text: &'a str) -> &'a str;
        async fn of_self(&self) -> &str;
        async fn in_a_type(&self, text: Text<'_>) -> usize;
        async fn of_the_trait(&self, text: Text<'t>) -> &'t str;
        async fn generic<T: Display + Send + Sync, const N: usize>(&self, values: [T; N]) -> String
        where
            T: Clone;
        async fn impl_trait(&self, value: impl Display + Send, call: &(impl Fn(&str) -> usize + Sync)) -> usize;
        async fn function(&self, call: fn(&str) -> &str, object: &(dyn Fn(&u8) -> u8 + Sync)) -> u8;
        async fn associated(&self) -> Self::Output;
        async fn phantom(&self, _: PhantomData<dyn Display + Send>) {}
        async fn by_default(&self, text: &str) -> Option<usize> {
            if text.is_empty() {
                return None;
            }
            Some(self.elided(text, "").await)
        }
    }

    struct Simple(String);

    #[erased]
    impl<'t> Signatures<'t> for Simple {
        type Output = u64;

        async fn elided(&self, text: &str, other: &'_ str) -> usize {
            pause().await;
            self.0.len() + text.len() + other.len()
        }

        async fn elided_result<'a>(&self, text: &'a str) -> &'a str {
            pause().await;
            text
        }

        async fn of_self(&self) -> &str {
            pause().await;
            &self.0
        }

        async fn in_a_type(&self, text: Text<'_>) -> usize {
            pause().await;
            text.0.len()
        }

        async fn of_the_trait(&self, Text(text): Text<'t>) -> &'t str {
            pause().await;
            text
        }

        async fn generic<T: Display + Send + Sync, const N: usize>(&self, values: [T; N]) -> String
        where
            T: Clone,
        {
            pause().await;
            values.iter().cloned().map(|value| value.to_string()).collect()
        }

        async fn impl_trait(&self, value: impl Display + Send, call: &(impl Fn(&str) -> usize + Sync)) -> usize {
            pause().await;
            call(&value.to_string())
        }

        async fn function(&self, call: fn(&str) -> &str, object: &(dyn Fn(&u8) -> u8 + Sync)) -> u8 {
            pause().await;
            object(&call("abc").as_bytes()[0])
        }

        async fn associated(&self) -> Self::Output {
            pause().await;
            7_u8.into()
        }
    }

    #[test]
    fn all_signatures_are_supported() {
        let simple = Simple("ab".into());
        let text = String::from("cde");
        assert_eq!(block_on(is_send(simple.elided(&text, "f"))), 6);
        assert_eq!(block_on(simple.elided_result(&text)), "cde");
        assert_eq!(block_on(simple.of_self()), "ab");
        assert_eq!(block_on(is_send(simple.in_a_type(Text(&text)))), 3);
        let outlives: &str = {
            let short_lived = Simple(String::new());
            block_on(short_lived.of_the_trait(Text(&text)))
        };
        assert_eq!(outlives, "cde");
        assert_eq!(block_on(is_send(simple.generic([1, 2, 3]))), "123");
        assert_eq!(block_on(is_send(simple.impl_trait(1234, &|text: &str| text.len()))), 4);
        assert_eq!(block_on(simple.function(|text| &text[1..], &|byte| byte + 1)), b'c');
        assert_eq!(block_on(is_send(simple.associated())), 7);
        block_on(simple.phantom(PhantomData));
        assert_eq!(block_on(simple.by_default("")), None);
        assert_eq!(block_on(is_send(simple.by_default("x"))), Some(3));
    }

    #[erased]
    trait OfTypes<T>: Send + Sync {
        async fn take(&self, value: T) -> Vec<T>
        where
            T: Send + 'async_trait;
    }

    struct Doubles;

    #[erased]
    impl<T: Clone> OfTypes<T> for Doubles {
        async fn take(&self, value: T) -> Vec<T>
        where
            T: Send + 'async_trait,
        {
            pause().await;
            vec![value.clone(), value]
        }
    }

    #[test]
    fn trait_type_parameters_are_supported() {
        let text = String::from("x");
        let object: &dyn OfTypes<&str> = &Doubles;
        assert_eq!(block_on(is_send(object.take(&text))), ["x", "x"]);
    }
}

#[erased]
async fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    fibonacci(n - 1).await + fibonacci(n - 2).await
}

#[erased]
async fn longest<'a>(left: &'a str, right: &'a str) -> &'a str {
    pause().await;
    if left.len() < right.len() { right } else { left }
}

#[erased]
async fn boxed_result(yes: bool) -> Box<dyn Iterator<Item = u8> + Send> {
    if yes {
        return Box::new(std::iter::once(1));
    }
    Box::new(std::iter::empty())
}

#[test]
fn free_functions_are_supported() {
    assert_eq!(block_on(is_send(fibonacci(10))), 55);
    let future: PoolFuture<'static, u64> = fibonacci(1);
    assert_eq!(block_on(future), 1);
    let text = String::from("long");
    assert_eq!(block_on(is_send(longest(&text, "x"))), "long");
    assert_eq!(block_on(boxed_result(true)).count() + block_on(boxed_result(false)).count(), 1);
}

struct Inherent<T>(T);

#[erased]
impl<T: Display + Sync> Inherent<T> {
    /// With a visibility and an attribute.
    #[must_use]
    pub(crate) async fn shown(&self) -> String {
        pause().await;
        self.0.to_string()
    }

    fn not_async(&self) -> &T {
        &self.0
    }
}

impl Inherent<u8> {
    #[erased]
    async fn one_method(&self, mut by: u8) -> u8 {
        by += self.0;
        by
    }
}

#[test]
fn inherent_functions_are_supported() {
    let inherent = Inherent(7);
    assert_eq!(block_on(is_send(inherent.shown())), "7");
    assert_eq!(block_on(inherent.one_method(*inherent.not_async())), 14);
}

mod not_send {
    use super::{LocalPoolFuture, Rc, RefCell, block_on, erased, pause};

    #[erased(?Send)]
    trait Local {
        async fn log(&self, text: Rc<str>) -> usize;
        async fn twice(&self, text: Rc<str>) -> usize {
            self.log(text.clone()).await;
            self.log(text).await
        }
    }

    #[erased(?Send)]
    impl Local for Rc<RefCell<Vec<Rc<str>>>> {
        async fn log(&self, text: Rc<str>) -> usize {
            let kept = text.clone();
            pause().await;
            self.borrow_mut().push(kept);
            self.borrow().len()
        }
    }

    #[test]
    fn futures_need_not_be_send() {
        let log = Rc::default();
        let object: &dyn Local = &log;
        let future: LocalPoolFuture<'_, usize> = object.twice("x".into());
        assert_eq!(block_on(future), 2);
    }
}

mod drops {
    use super::{Counts, Spy, block_on, erased, mem, panics, pause};
    use std::cell::RefCell;
    use std::future::poll_fn;
    use std::task::Poll;

    /// A value that records its name when it is dropped.
    struct Noted<'a>(&'static str, &'a RefCell<Vec<&'static str>>);

    impl Drop for Noted<'_> {
        fn drop(&mut self) {
            self.1.borrow_mut().push(self.0);
        }
    }

    struct Owner<'a>(Noted<'a>);

    #[erased(?Send)]
    trait Order {
        async fn erased(self, unused: Noted<'_>, _: Noted<'_>, (left, _): (Noted<'_>, Noted<'_>), _named: Noted<'_>);
    }

    #[erased(?Send)]
    impl Order for Owner<'_> {
        async fn erased(self, unused: Noted<'_>, _: Noted<'_>, (left, _): (Noted<'_>, Noted<'_>), _named: Noted<'_>) {
            let _local = Noted("local", unused.1);
            pause().await;
            unused.1.borrow_mut().push("end");
            let _ = (&self.0, &left);
        }
    }

    impl Owner<'_> {
        async fn plain(self, unused: Noted<'_>, _: Noted<'_>, (left, _): (Noted<'_>, Noted<'_>), _named: Noted<'_>) {
            let _local = Noted("local", unused.1);
            pause().await;
            unused.1.borrow_mut().push("end");
            let _ = (&self.0, &left);
        }
    }

    #[test]
    fn arguments_drop_in_the_order_of_an_async_fn() {
        let note = |name, of| Noted(name, of);
        let [plain, erased] = [RefCell::default(), RefCell::default()];
        for (log, is_erased) in [(&plain, false), (&erased, true)] {
            let owner = Owner(note("self", log));
            let arguments = (note("unused", log), note("_", log), (note("left", log), note("right", log)));
            let (unused, ignored, pair) = arguments;
            if is_erased {
                block_on(owner.erased(unused, ignored, pair, note("_named", log)));
            } else {
                block_on(owner.plain(unused, ignored, pair, note("_named", log)));
            }
        }
        assert_eq!(plain, erased);
        assert_eq!(plain.borrow().len(), 8);
    }

    #[erased(?Send)]
    async fn holds(spy: Spy<'_>, until: u32) -> u32 {
        for n in 0..until {
            assert_ne!(n, 2, "intentional panic in poll");
            pause().await;
        }
        spy.value
    }

    #[test]
    fn futures_are_dropped_once() {
        let counts = Counts::default();
        drop(holds(counts.spy(1), 1)); // not polled
        assert_eq!(block_on(holds(counts.spy(3), 1)), 3);
        let mut cancelled = holds(counts.spy(1), 2);
        block_on(poll_fn(|context| {
            let _ = cancelled.as_mut().poll(context);
            Poll::Ready(())
        }));
        drop(cancelled);
        assert!(panics(|| _ = block_on(holds(counts.spy(1), 9))));
        assert!(counts.balanced());
        // The slot of the future that panicked is reused.
        assert_eq!(block_on(holds(counts.spy(4), 0)), 4);
        assert!(counts.balanced());
    }

    #[test]
    fn panic_in_drop_frees_the_slot() {
        let counts = Counts::default();
        counts.panic_at_drop.set(1);
        assert!(panics(|| drop(holds(counts.spy(1), 1))));
        assert_eq!(block_on(holds(counts.spy(5), 1)), 5);
        assert!(counts.balanced());
    }

    #[test]
    fn forgotten_futures_keep_their_memory() {
        thread_local!(static KEPT: RefCell<Vec<super::PoolFuture<'static, u32>>> = const { RefCell::new(Vec::new()) });
        #[erased]
        async fn value(of: u32) -> u32 {
            pause().await;
            of
        }
        let first = value(1);
        let address = (&raw const *first).cast::<()>();
        KEPT.with(|kept| kept.borrow_mut().push(first));
        let second = value(2);
        assert_ne!((&raw const *second).cast::<()>(), address);
        assert_eq!(block_on(second), 2);
        let first = KEPT.with(|kept| mem::take(&mut *kept.borrow_mut())).pop().unwrap();
        assert_eq!(block_on(first), 1);
    }
}

/// Each future makes and drops other futures of the same function while it is polled and dropped.
#[test]
fn futures_re_enter_in_poll_and_drop() {
    struct Reenters(u32);

    impl Drop for Reenters {
        fn drop(&mut self) {
            if self.0 > 0 {
                assert_eq!(block_on(nest(Reenters(self.0 - 1))), self.0 - 1);
            }
        }
    }

    #[erased]
    async fn nest(of: Reenters) -> u32 {
        pause().await;
        let inner = nest_unpolled(Reenters(of.0 / 2));
        drop(inner);
        of.0
    }

    #[erased]
    async fn nest_unpolled(of: Reenters) -> u32 {
        of.0
    }

    assert_eq!(block_on(nest(Reenters(4))), 4);
}

#[test]
fn large_aligned_and_empty_futures_complete() {
    #[repr(align(256))]
    #[derive(Clone, Copy)]
    struct Aligned(u8);

    #[erased]
    async fn large(of: [u64; 4096]) -> u64 {
        pause().await;
        of[4095]
    }

    #[erased]
    async fn aligned(of: Aligned) -> bool {
        let here = &of;
        pause().await;
        (&raw const *here).addr().is_multiple_of(256) && here.0 == 1
    }

    #[erased]
    async fn empty() {}

    assert_eq!(block_on(large([7; 4096])), 7);
    assert!(block_on(aligned(Aligned(1))));
    block_on(empty());
}

#[test]
fn future_outlives_its_thread() {
    #[erased]
    async fn answer(text: String) -> usize {
        pause().await;
        text.len()
    }

    let mut futures: Vec<PoolFuture<'static, usize>> = Vec::new();
    for n in 0..3 {
        let begun = thread::spawn(move || {
            let mut future = answer("x".repeat(n));
            let mut context = Context::from_waker(Waker::noop());
            assert!(future.as_mut().poll(&mut context).is_pending());
            future
        });
        futures.push(begun.join().unwrap());
    }
    let ended = thread::spawn(move || futures.into_iter().map(block_on).sum::<usize>());
    assert_eq!(ended.join().unwrap(), 3);
}

#[test]
fn futures_can_be_made_during_thread_exit() {
    #[erased]
    async fn late(of: u32) -> u32 {
        pause().await;
        of
    }

    struct AtExit;

    impl Drop for AtExit {
        fn drop(&mut self) {
            assert_eq!(block_on(late(7)), 7);
        }
    }

    thread_local!(static AT_EXIT: AtExit = const { AtExit });
    thread::spawn(|| {
        AT_EXIT.with(|_| ());
        assert_eq!(block_on(late(1)), 1);
    })
    .join()
    .unwrap();
}
