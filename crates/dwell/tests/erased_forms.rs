//! `#[erased]` in code that is unlike most: names that the macro uses, lints that are forbidden, receivers and attributes of
//! every kind.
#![cfg(feature = "derive")]
#![allow(
    clippy::elidable_lifetime_names,
    clippy::ignored_unit_patterns,
    clippy::match_single_binding,
    clippy::needless_borrow,
    clippy::non_minimal_cfg,
    clippy::semicolon_if_nothing_returned,
    clippy::unused_unit,
    reason = "what is tested"
)]
#![forbid(
    dead_code,
    unsafe_code,
    unused_mut,
    unused_variables,
    unused_imports,
    unused_must_use,
    unused_lifetimes,
    elided_lifetimes_in_paths,
    mismatched_lifetime_syntaxes,
    let_underscore_drop,
    missing_docs,
    unnameable_types,
    unreachable_code,
    unreachable_pub,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility
)]

use std::future::{Future as Fut, ready};
use std::pin::Pin as Pinned;
use std::task::{Context as Cx, Poll as P, Waker};

fn block_on<F: Fut>(future: F) -> F::Output {
    let mut future = Box::pin(future); // `pin!` of a nightly std has an `expect(unreachable_code)`
    let mut context = Cx::from_waker(Waker::noop());
    loop {
        if let P::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

fn is_sync<T: Sync>(value: T) -> T {
    value
}

/// The names that the macro uses are taken.
mod shadowed {
    #![allow(non_camel_case_types, non_upper_case_globals, reason = "names that the macro may use")]
    use super::{block_on, is_send};

    mod core {}
    mod std {}
    mod dwell {}
    mod alloc {}
    struct Box;
    struct Option;
    struct Pin;
    struct PoolFuture;
    struct Future;
    struct bool;
    struct u64;
    type Result = String;
    trait Send: Sync {}
    trait Sync {}
    fn both<T: Send>(_: &T) {}
    const __ret: u8 = 1;
    const __arg1: u8 = 2;
    const __self: u8 = 3;
    const future: u8 = 4;
    const value: u8 = 5;
    const output: u8 = 6;
    const key: u8 = 7;
    macro_rules! matches {
        () => {};
    }

    #[::dwell::erased]
    trait Shadowed {
        async fn default(&self, (left, right): (u8, u8)) -> u8 {
            left + right + __ret + __arg1
        }
        async fn nothing(&self) {}
        async fn required(&mut self, text: &str, [first, ..]: [u8; 3]) -> Result;
    }

    struct Thing;

    impl Send for Thing {}
    impl Sync for Thing {}

    #[::dwell::erased]
    impl Shadowed for Thing {
        async fn required(&mut self, text: &str, [first, ..]: [u8; 3]) -> Result {
            if text.is_empty() {
                return String::new();
            }
            format!("{text}{first}")
        }
    }

    #[test]
    fn names_of_the_users_do_not_meet_those_of_the_macro() {
        matches!();
        let _ = (Box, Option, Pin, PoolFuture, Future, bool, u64);
        let _: [u8; 5] = [__self, future, value, output, key];
        let mut thing = Thing;
        both(&thing);
        assert_eq!(block_on(is_send(thing.default((1, 2)))), 6);
        block_on(thing.nothing());
        assert_eq!(block_on(is_send(thing.required("x", [7, 8, 9]))), "x7");
        assert_eq!(block_on(thing.required("", [7, 8, 9])), "");
    }
}

/// Lifetimes with the names of generated ones.
mod lifetimes {
    use super::{block_on, is_send};

    struct Both<'life0, 'life1>(&'life0 str, &'life1 str);

    #[dwell::erased]
    trait Lifetimes<'life0, 'life2> {
        async fn both(&self, other: &str, of: Both<'life0, '_>) -> &'life0 str;
        async fn named<'life1>(&'life1 self, other: &str, last: &'life2 str) -> (&'life1 str, &'life2 str)
        where
            'life2: 'life1;
        async fn raw<'r#fn>(&self, one: &'r#fn str, other: &str) -> &'r#fn str;
    }

    #[dwell::erased]
    impl<'life0, 'life1, 'life2> Lifetimes<'life0, 'life2> for Both<'life0, 'life1> {
        async fn both(&self, other: &str, of: Both<'life0, '_>) -> &'life0 str {
            if other.is_empty() { of.0 } else { self.0 }
        }
        async fn named<'a>(&'a self, other: &str, last: &'life2 str) -> (&'a str, &'life2 str)
        where
            'life2: 'a,
        {
            (if other.is_empty() { self.1 } else { self.0 }, last)
        }
        async fn raw<'a>(&self, one: &'a str, other: &str) -> &'a str {
            if other.is_empty() { "" } else { one }
        }
    }

    #[test]
    fn lifetimes_of_the_users_do_not_meet_those_of_the_macro() {
        let long = String::from("long");
        let found = {
            let short = String::from("short");
            let both = Both(&long, &short);
            assert_eq!(block_on(is_send(both.named("", &long))), ("short", "long"));
            assert_eq!(block_on(is_send(both.raw(&short, "x"))), "short");
            block_on(is_send(both.both(&short, Both(&long, &short))))
        };
        assert_eq!(found, "long");
    }
}

/// Nested items with their own `self`, `Self` and arguments.
mod nested {
    use super::{block_on, is_send};
    use std::rc::Rc;

    #[dwell::erased]
    trait Nested: Sized {
        // Without a receiver and without `Self` outside the nested items, `Self` need not be `Send`.
        async fn nested(start: u8) -> u8 {
            struct Counter(u8);
            impl Counter {
                fn next(&mut self) -> u8 {
                    self.0 += 1;
                    self.0
                }
                fn start() -> Self {
                    Self(0)
                }
            }
            trait Doubles {
                fn double(self) -> Self;
            }
            impl Doubles for u8 {
                fn double(self) -> Self {
                    self * 2
                }
            }
            macro_rules! method {
                ($name:ident) => {
                    impl Counter {
                        fn $name(&self) -> u8 {
                            self.0
                        }
                    }
                };
            }
            method!(get);
            let mut counter = Counter::start();
            counter.next();
            self::add(counter.next(), start).double() + counter.get()
        }

        async fn with_self(self, start: u8) -> (Self, u8)
        where
            Self: Send,
        {
            struct Own;
            impl Own {
                fn two(&self) -> u8 {
                    let this = self;
                    let _ = this;
                    2
                }
            }
            let inner = async |of: u8| of + Own.two();
            (self, inner(start).await)
        }
    }

    fn add(left: u8, right: u8) -> u8 {
        left + right
    }

    struct NotSend(Rc<u8>);

    #[dwell::erased]
    impl Nested for NotSend {}

    #[dwell::erased]
    impl Nested for u8 {}

    #[test]
    fn self_of_nested_items_is_their_own() {
        assert_eq!(block_on(is_send(NotSend::nested(3))), 12);
        assert_eq!(*NotSend(Rc::new(1)).0, 1);
        assert_eq!(block_on(is_send(5_u8.with_self(1))), (5, 3));
    }
}

/// Default bodies with every receiver: `Self` needs only the auto traits that its receiver needs.
mod receivers {
    use super::{Pinned, block_on, is_send};
    use std::cell::Cell;
    use std::sync::{Arc, MutexGuard};

    #[dwell::erased]
    trait Receivers {
        fn number(&self) -> u8;
        async fn shared(&self) -> u8 {
            self.number()
        }
        async fn reference(self: &Self) -> u8 {
            self.number()
        }
        async fn of_reference(self: &&Self) -> u8 {
            self.number()
        }
        async fn exclusive(&mut self) -> u8 {
            self.number()
        }
        async fn value(self) -> u8
        where
            Self: Sized,
        {
            self.number()
        }
        async fn mutable(mut self) -> u8
        where
            Self: Sized,
        {
            let this = &mut self;
            this.number()
        }
        async fn boxed(self: Box<Self>) -> u8 {
            self.number()
        }
        async fn arc(self: Arc<Self>) -> u8 {
            self.number()
        }
        async fn path(self: ::std::sync::Arc<Self>) -> u8 {
            self.number()
        }
        async fn of_arc(self: &Arc<Self>) -> u8 {
            self.number()
        }
        async fn of_box(self: &mut Box<Self>) -> u8 {
            self.number()
        }
        async fn pinned(self: Pinned<&Self>) -> u8 {
            self.number()
        }
        async fn pinned_mut(self: Pinned<&mut Self>) -> u8 {
            self.number()
        }
        async fn pinned_box(self: Pinned<Box<Self>>) -> u8 {
            self.number()
        }
        async fn pinned_arc(self: Pinned<Arc<Self>>) -> u8 {
            self.number()
        }
    }

    struct Both(u8);
    impl Receivers for Both {
        fn number(&self) -> u8 {
            self.0
        }
    }

    /// `Send`, not `Sync`.
    struct OnlySend(Cell<u8>);
    impl Receivers for OnlySend {
        fn number(&self) -> u8 {
            self.0.get()
        }
    }

    /// `Sync`, not `Send`.
    struct OnlySync(MutexGuard<'static, u8>);
    impl Receivers for OnlySync {
        fn number(&self) -> u8 {
            *self.0
        }
    }

    #[test]
    fn default_bodies_need_what_their_receivers_need() {
        let mut both = Both(1);
        assert_eq!(block_on(is_send(both.shared())), 1);
        assert_eq!(block_on(is_send(both.reference())), 1);
        assert_eq!(block_on(is_send((&&both).of_reference())), 1);
        assert_eq!(block_on(is_send(both.exclusive())), 1);
        assert_eq!(block_on(is_send(Pinned::new(&both).pinned())), 1);
        assert_eq!(block_on(is_send(Pinned::new(&mut both).pinned_mut())), 1);
        assert_eq!(block_on(is_send(Arc::new(Both(2)).arc())), 2);
        assert_eq!(block_on(is_send(Arc::new(Both(2)).path())), 2);
        assert_eq!(block_on(is_send(Arc::new(Both(2)).of_arc())), 2);
        assert_eq!(block_on(is_send(Arc::pin(Both(2)).pinned_arc())), 2);

        let only_send = || OnlySend(Cell::new(3));
        assert_eq!(block_on(is_send(only_send().exclusive())), 3);
        assert_eq!(block_on(is_send(only_send().value())), 3);
        assert_eq!(block_on(is_send(only_send().mutable())), 3);
        assert_eq!(block_on(is_send(Box::new(only_send()).boxed())), 3);
        assert_eq!(block_on(is_send(Box::new(only_send()).of_box())), 3);
        assert_eq!(block_on(is_send(Pinned::new(&mut only_send()).pinned_mut())), 3);
        assert_eq!(block_on(is_send(Box::pin(only_send()).pinned_box())), 3);

        static LOCK: std::sync::Mutex<u8> = std::sync::Mutex::new(4);
        let only_sync = OnlySync(LOCK.lock().unwrap());
        assert_eq!(block_on(is_send(only_sync.shared())), 4);
        assert_eq!(block_on(is_send((&&only_sync).of_reference())), 4);
        assert_eq!(block_on(is_send(Pinned::new(&only_sync).pinned())), 4);
    }
}

/// Attributes on arguments, functions and traits.
mod attributes {
    use super::{block_on, is_send};

    #[dwell::erased]
    #[doc = "A trait."]
    trait Attributes {
        /// A function.
        #[cfg(all())]
        #[must_use = "the user's own words"]
        async fn arguments(
            &self,
            #[allow(unused_assignments)] mut first: u8,
            #[cfg(any())] missing: Missing,
            #[cfg(all())] second: String,
            #[expect(non_snake_case)] THIRD: u8,
            #[allow(clippy::ptr_arg)] fourth: &String,
            #[cfg_attr(all(), allow(clippy::ptr_arg))] fifth: &String,
        ) -> usize {
            first += THIRD;
            first.into_usize() + second.len() + fourth.len() + fifth.len()
        }

        #[cfg(any())]
        async fn missing(&self, of: Missing) -> Missing;

        async fn patterns(&self, #[cfg(all())] (a, mut b): (u8, u8), (ref c, ref mut d): (u8, u8), _: u8) -> u8;
    }

    trait IntoUsize {
        fn into_usize(self) -> usize;
    }

    impl IntoUsize for u8 {
        fn into_usize(self) -> usize {
            self.into()
        }
    }

    #[dwell::erased]
    impl Attributes for u8 {
        async fn patterns(&self, #[cfg(all())] (a, mut b): (u8, u8), (ref c, ref mut d): (u8, u8), _: u8) -> u8 {
            b += a;
            *d += c;
            b + *d + self
        }

        #[cfg(any())]
        async fn missing(&self, of: Missing) -> Missing {
            of
        }
    }

    #[dwell::erased]
    #[inline]
    async fn free(#[cfg(any())] of: Missing, #[allow(non_snake_case)] OF: u8) -> u8 {
        OF
    }

    #[test]
    fn attributes_stay_where_they_have_an_effect() {
        let text = String::from("ab");
        assert_eq!(block_on(is_send(1_u8.arguments(1, "x".into(), 0, &text, &text))), 6);
        assert_eq!(block_on(is_send(1_u8.patterns((1, 2), (3, 4), 5))), 11);
        assert_eq!(block_on(free(1)), 1);
    }
}

/// Functions that do not return, and results of unusual types.
mod results {
    use super::{Fut, Pinned, block_on, is_send, ready};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[dwell::erased]
    trait Results {
        async fn never(&self) -> !;
        async fn forever(&self, of: u8) -> ! {
            loop {
                ready(()).await;
                self.stop(of);
            }
        }
        async fn awaits_never(&self) -> ! {
            self.never().await
        }
        fn stop(&self, of: u8);
        async fn unit(&self) -> ();
        async fn future(&self) -> Pinned<Box<dyn Fut<Output = u8> + Send>>;
        async fn never_or(&self, stop: bool) -> Result<u8, String> {
            if stop {
                self.never().await
            }
            Ok(1)
        }
        async fn diverges(&self) -> u8 {
            unimplemented!("on purpose")
        }
        async fn uninhabited(&self, of: Result<std::convert::Infallible, u8>) -> std::convert::Infallible {
            of.unwrap()
        }
        async fn temporaries(&self, text: std::sync::Mutex<String>) -> usize {
            // A temporary of the last expression borrows an argument.
            match text.lock().unwrap().as_str() {
                text => text.len(),
            }
        }
    }

    #[dwell::erased]
    impl Results for u8 {
        async fn never(&self) -> ! {
            panic!("on purpose")
        }
        fn stop(&self, of: u8) {
            assert_ne!(of, 1, "on purpose");
        }
        async fn unit(&self) -> () {}
        async fn future(&self) -> Pinned<Box<dyn Fut<Output = u8> + Send>> {
            let own = *self;
            Box::pin(async move { own })
        }
    }

    #[dwell::erased]
    async fn free_never() -> ! {
        std::process::exit(0)
    }

    #[dwell::erased(?Send)]
    async fn local_never(of: std::rc::Rc<u8>) -> ! {
        panic!("on purpose {of}")
    }

    #[test]
    fn functions_that_do_not_return_have_a_future() {
        let _not_polled = is_send(free_never());
        let panics = |future: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(future)).is_err();
        assert!(panics(&mut || drop(block_on(1_u8.never_or(true)))));
        assert!(panics(&mut || block_on(is_send(1_u8.never()))));
        assert!(panics(&mut || block_on(is_send(1_u8.forever(1)))));
        assert!(panics(&mut || block_on(is_send(1_u8.awaits_never()))));
        assert!(panics(&mut || block_on(local_never(1.into()))));
        assert!(panics(&mut || _ = block_on(1_u8.diverges())));
        assert!(panics(&mut || _ = block_on(1_u8.uninhabited(Err(1)))));
        assert_eq!(block_on(1_u8.never_or(false)), Ok(1));
        block_on(1_u8.unit());
        assert_eq!(block_on(block_on(is_send(7_u8.future()))), 7);
        assert_eq!(block_on(is_send(7_u8.temporaries(String::from("abc").into()))), 3);
    }
}

/// Futures that are `Sync`.
mod sync {
    use super::{block_on, is_send, is_sync};
    use dwell::pin::SyncPoolFuture;
    use std::cell::Cell;

    #[dwell::erased(Sync)]
    trait Synced {
        async fn get(&self) -> u8;
        async fn twice(&self) -> u8 {
            self.get().await * 2
        }
        async fn take(self: Box<Self>) -> u8 {
            self.get().await
        }
        async fn local() -> u8 {
            let cell = Cell::new(1);
            cell.set(2);
            cell.get()
        }
    }

    #[dwell::erased(Sync)]
    impl Synced for u8 {
        async fn get(&self) -> u8 {
            *self
        }
    }

    #[dwell::erased(Sync, crate = "::dwell")]
    async fn free(text: &str) -> usize {
        text.len()
    }

    #[test]
    fn futures_can_be_sync() {
        assert_eq!(block_on(is_sync(is_send(2_u8.twice()))), 4);
        assert_eq!(block_on(is_sync(is_send(Box::new(3_u8).take()))), 3);
        assert_eq!(block_on(is_sync(is_send(<u8 as Synced>::local()))), 2);
        let future: SyncPoolFuture<'_, usize> = is_sync(free("abc"));
        assert_eq!(block_on(future), 3);
    }
}

/// A body that borrows or assigns `self` itself, as with async-trait.
mod own_self {
    use super::{block_on, is_send};

    #[dwell::erased]
    trait Moves {
        async fn next(&mut self) -> u8;
        async fn keeps(&mut self) -> u8 {
            self.next().await + self.next().await
        }
    }

    #[dwell::erased]
    impl Moves for &[u8] {
        async fn next(&mut self) -> u8 {
            let this = &mut self;
            let (first, rest) = this.split_first().unwrap();
            let first = *first;
            **this = rest;
            first
        }
    }

    #[test]
    fn a_body_may_borrow_self() {
        let bytes = [1, 2, 3];
        let mut rest = bytes.as_slice();
        assert_eq!(block_on(is_send(rest.next())), 1);
        assert_eq!(block_on(is_send(rest.keeps())), 5);
    }
}

/// Generated by another macro.
mod in_macros {
    use super::block_on;

    macro_rules! store {
        ($name:ident, $of:ty, $argument:ident, |$this:ident| $body:expr) => {
            #[dwell::erased]
            trait $name {
                async fn call(&self, $argument: $of) -> $of;
                async fn pattern(&self, ($argument, other): ($of, $of)) -> $of {
                    self.call($argument + other).await
                }
            }

            #[dwell::erased]
            impl $name for u8 {
                async fn call(&self, $argument: $of) -> $of {
                    let $this = self;
                    $body
                }
            }
        };
    }

    store!(Store, u16, argument, |this| argument + u16::from(*this));

    #[test]
    fn items_of_other_macros_are_transformed() {
        assert_eq!(block_on(2_u8.pattern((3, 4))), 9);
    }
}
