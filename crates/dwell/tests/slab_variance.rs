//! The slots of pools are covariant in the type of their value, as boxes are; those of slabs, which may be leaked, are
//! invariant. `tests/ui_small/slot_variance.rs` has the programs that must not compile.

#![cfg(feature = "std")]
#![forbid(unsafe_code)]

use dwell::pin::{ErasedExt, LocalPoolFuture, PoolFuture};
use dwell::slab::{Covariant, InPool, Invariant, KindSlot, OneThread, Pool, PoolSlot, Slab, Slot, SlotOfPool, sync};
use dwell::small::{BoxedIterExt, PoolIter};
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

// These functions are the test: they compile.
fn value<'a>(slot: PoolSlot<&'static str>) -> PoolSlot<&'a str> {
    slot
}
fn sync_value<'a>(slot: sync::PoolSlot<&'static str>) -> sync::PoolSlot<&'a str> {
    slot
}
fn object<'a>(slot: PoolSlot<dyn Fn() -> u8>) -> PoolSlot<dyn Fn() -> u8 + 'a> {
    slot
}
fn pinned<'a>(slot: Pin<PoolSlot<&'static str>>) -> Pin<PoolSlot<&'a str>> {
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
fn generic<'a, O: dwell::slab::Threading>(slot: SlotOfPool<&'static str, O>) -> SlotOfPool<&'a str, O> {
    slot
}
/// `KindSlot` names the same types.
fn same(slot: KindSlot<u8, InPool<OneThread>>, other: KindSlot<u8, OneThread>) -> (PoolSlot<u8>, Slot<u8>) {
    (slot, other)
}
/// The lifetime in `T` may be shortened without that in `Invariant`. Such a slot can neither be leaked nor coerced.
fn half<'a>(slot: Slot<&'static str>) -> Slot<&'a str, OneThread, Invariant<&'static str>> {
    slot
}
fn subtype(slot: PoolSlot<for<'a> fn(&'a u8) -> u8>) -> PoolSlot<fn(&'static u8) -> u8> {
    slot
}
fn explicit(slot: PoolSlot<u8>) -> Slot<u8, InPool<OneThread>, Covariant> {
    slot
}

#[test]
fn slots_of_pools_are_covariant() {
    let (pool, sync) = (Pool::new(), sync::Pool::new());
    let text = String::from("short");
    let mut slot = value(pool.insert("static"));
    *slot = &text;
    assert_eq!(slot.replace("static"), "short");
    drop(pool); // the slot keeps the memory
    assert_eq!(slot.into_inner(), "static");
    assert_eq!(*generic(sync_value(sync.insert("static"))), "static");
    let pool = Pool::new();
    let call = pool.insert(|| 7_u8).coerce::<dyn Fn() -> u8, _>(|value| value);
    assert_eq!(object(call)(), 7);
    assert_eq!(**pinned(pool.insert("static").into_pin()), *"static");
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(future(&text, async { 1 }.pooled()).as_mut().poll(&mut context), Poll::Ready(1));
    assert_eq!(local_future(&text, async { 1 }.boxed_local_in(&pool)).as_mut().poll(&mut context), Poll::Ready(1));
    assert_eq!(iterator(&text, (0..3).boxed_iter()).sum::<u8>(), 3);
    assert_eq!(subtype(pool.insert(|n: &u8| *n))(&7), 7);
    let slab = Slab::new();
    let (of_pool, of_slab) = same(pool.insert(1), slab.insert(2));
    assert_eq!((*explicit(of_pool), slab.reclaim(of_slab.leak()).map(|slot| *slot)), (1, Some(2)));
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

/// A slot that is shortened by half is dropped as any other, and so is the short value in it.
#[test]
fn half_shortened_slot_is_dropped() {
    struct Spy<'a>(&'a Cell<u32>);
    impl Drop for Spy<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }
    fn half<'a>(slot: Slot<Option<Spy<'static>>>) -> Slot<Option<Spy<'a>>, OneThread, Invariant<Option<Spy<'static>>>> {
        slot
    }
    let slab = Slab::new();
    let drops = Cell::new(0);
    let mut slot = half(slab.insert(None));
    *slot = Some(Spy(&drops));
    drop(slot);
    assert_eq!((drops.get(), slab.len()), (1, 0));
    let texts = Slab::new();
    let short = String::from("short");
    let mut slot = self::half(texts.insert("static"));
    *slot = &short;
    assert_eq!(*slot, "short");
    drop(slot);
    let _: Slot<&'static str> = texts.insert("static");
}
