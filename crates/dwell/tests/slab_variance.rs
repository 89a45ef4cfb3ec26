//! The slots of pools are covariant in the type of their value, as boxes are; those of slabs, which may be leaked, are
//! invariant. `tests/ui_small/slot_variance.rs` has the programs that must not compile.

#![cfg(feature = "std")]
#![forbid(unsafe_code)]

use dwell::pin::{ErasedExt, LocalPoolFuture, PoolFuture};
use dwell::slab::{BoxedIterExt, Pool, PoolIter, Pooled, Slab, Slot};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

// These functions are the test: they compile.
fn value<'a>(slot: Pooled<&'static str>) -> Pooled<&'a str> {
    slot
}
fn object<'a>(slot: Pooled<dyn Fn() -> u8>) -> Pooled<dyn Fn() -> u8 + 'a> {
    slot
}
fn pinned<'a>(slot: Pin<Pooled<&'static str>>) -> Pin<Pooled<&'a str>> {
    slot
}
fn future<'a>(_: &'a str, future: PoolFuture<'static, u8>) -> PoolFuture<'a, u8> {
    future
}
fn local_future<'a>(_: &'a str, future: LocalPoolFuture<'static, u8>) -> LocalPoolFuture<'a, u8> {
    future
}
fn iterator<'a>(_: &'a str, iterator: PoolIter<'static, u8>) -> PoolIter<'a, u8> {
    iterator
}
fn subtype(slot: Pooled<for<'a> fn(&'a u8) -> u8>) -> Pooled<fn(&'static u8) -> u8> {
    slot
}

#[test]
fn slots_of_pools_are_covariant() {
    let pool = Pool::new();
    let text = String::from("short");
    let mut slot = value(pool.insert("static"));
    *slot = &text;
    assert_eq!(std::mem::replace(&mut *slot, "static"), "short");
    drop(pool); // the slot keeps the memory
    assert_eq!(slot.into_inner(), "static");
    let pool = Pool::new();
    let call = pool.insert(|| 7_u8).coerce::<dyn Fn() -> u8, _>(|value| value);
    assert_eq!(object(call)(), 7);
    assert_eq!(**pinned(pool.insert("static").into_pin()), *"static");
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(future(&text, async { 1 }.pooled()).as_mut().poll(&mut context), Poll::Ready(1));
    assert_eq!(local_future(&text, async { 1 }.pooled_local_in(&pool)).as_mut().poll(&mut context), Poll::Ready(1));
    assert_eq!(iterator(&text, (0..3).boxed_iter()).sum::<u8>(), 3);
    assert_eq!(subtype(pool.insert(|n: &u8| *n))(&7), 7);
    let slab: Slab<u8> = Slab::new();
    let slot: Slot<u8> = slab.insert(2);
    assert_eq!(slab.reclaim(slot.leak()).map(|slot| *slot), Some(2));
}

/// Futures of several lifetimes in one collection.
#[test]
fn futures_of_several_lifetimes_in_one_vector() {
    let text = String::from("text");
    let forever: PoolFuture<'static, usize> = async { 1 }.pooled();
    let mut all: Vec<PoolFuture<'_, usize>> = vec![async { text.len() }.pooled()];
    all.push(forever);
    let mut context = Context::from_waker(Waker::noop());
    let done: Vec<_> = all.iter_mut().map(|future| future.as_mut().poll(&mut context)).collect();
    assert_eq!(done, [Poll::Ready(4), Poll::Ready(1)]);
}
