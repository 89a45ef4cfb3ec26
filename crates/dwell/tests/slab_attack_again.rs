//! More attempts to break slabs with safe code: destructors that re-enter the slab, and teardown in any order.

mod common;
#[path = "ops/slab_reenter.rs"]
mod reenter;

use common::{failing_after, left_by, panics};
use dwell::slab::{Bounded, Pool, Pooled, Slab, Slot, StampedKey, sync};
use std::any::Any;
use std::cell::RefCell;
use std::convert::Infallible;
use std::fmt::Display;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, thread};

/// A stamped key never finds a later value, even if the slab was shut down in between.
#[test]
fn stamps_are_not_reused_after_shutdown() {
    dwell::slab!(mod texts: String);
    let mut old: Vec<StampedKey> = Vec::new();
    for round in 0..4 {
        for _ in 0..=round {
            let key = texts::insert(format!("of round {round}")).leak_stamped();
            assert!(old.iter().all(|&old| old != key && texts::reclaim_stamped(old).is_none()));
            old.push(key);
            assert_eq!(*texts::reclaim_stamped(key).unwrap(), format!("of round {round}"));
        }
        texts::shutdown().unwrap();
        assert_eq!(texts::capacity(), 0);
    }
}

#[test]
fn drops_closures_and_iterators_re_enter() {
    let cases = env::var("DWELL_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    let ops = cases * 4;
    let mut random = 8_u64;
    let mut byte = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random.to_le_bytes()[5]
    };
    for kind in 0..5 {
        let bytes: Vec<u8> = [kind].into_iter().chain((0..2 * ops).map(|_| byte())).collect();
        let panicked = reenter::run(&bytes);
        assert!(panicked > ops / 100 || ops < 1000, "{panicked} of {ops}");
    }
}

/// `insert_with` panicked while a reference to an uninhabited type existed, which is undefined behaviour. A review with
/// Miri found it.
#[test]
fn panic_frees_the_cell_of_an_uninhabited_type() {
    dwell::slab!(mod none: std::convert::Infallible);
    let make = || -> Infallible { panic!("on purpose") };
    let slab = Slab::new();
    let shared = sync::Slab::new();
    let bounded = Bounded::with_capacity(1);
    let (pool, shared_pool) = (Pool::new(), Pool::new());
    for _ in 0..3 {
        assert!(panics(|| drop(slab.insert_with(make))));
        assert!(panics(|| drop(slab.try_insert_with(make).ok())));
        assert!(panics(|| drop(shared.insert_with(make))));
        assert!(panics(|| drop(bounded.insert_with(make))));
        assert!(panics(|| drop(pool.insert_with(make))));
        assert!(panics(|| drop(shared_pool.insert_with(make))));
        assert!(panics(|| drop(none::insert_with(make))));
    }
    assert_eq!((slab.len(), shared.len(), bounded.len(), none::len()), (0, 0, 0, 0));
}

/// `drop_all` frees cells while its iterator is still running, not only at the end.
#[test]
fn drop_all_frees_cells_before_the_iterator_ends() {
    let count = if cfg!(miri) { 1_000 } else { 100_000 };
    let (send, receive) = std::sync::mpsc::sync_channel::<sync::Slot<u64>>(16);
    let consumer = thread::spawn(move || sync::drop_all(receive));
    let slab = sync::Slab::new();
    for n in 0..count {
        send.send(slab.insert(n)).unwrap();
    }
    assert!(slab.capacity() < 4_000, "{} cells for 17 values", slab.capacity());
    drop(send);
    consumer.join().unwrap();
    assert!(slab.is_empty());
}

/// Inserting up to the reserved capacity does not allocate.
#[test]
fn reserved_capacity_needs_no_allocator() {
    let count = if cfg!(miri) { 3_000 } else { 100_000 };
    let bounded = Bounded::<[u8; 64]>::with_capacity(count);
    let slab = Slab::<[u8; 64]>::with_capacity(count);
    let shared = sync::Slab::<[u8; 64]>::new();
    shared.reserve(count);
    let mut slots = Vec::with_capacity(2 * count);
    let mut shared_slots = Vec::with_capacity(count);
    failing_after(0, || {
        for _ in 0..count {
            slots.push(bounded.try_insert([1; 64]).expect("it has the memory"));
            slots.push(slab.try_insert([1; 64]).expect("it has the memory"));
            shared_slots.push(shared.try_insert([1; 64]).expect("it has the memory"));
        }
    });
}

/// The destructor of a value drops the slab that holds the value, and other values of the same slab.
#[test]
fn values_own_the_slab_they_are_in() {
    struct Owner(#[expect(dead_code, reason = "dropped")] (Rc<Pool>, Option<Pooled<dyn Any>>));
    struct Shares(RefCell<Vec<sync::Slot<Owned>>>, sync::Slab<Owned>);
    struct Owned(Rc<Shares>, Box<u32>);
    impl Drop for Owned {
        fn drop(&mut self) {
            // Frees a second cell of the slab while `drop_all` links a run of freed cells.
            let other = self.0.0.borrow_mut().pop();
            *self.1 += u32::from(other.is_some());
        }
    }
    let left = left_by(|| {
        for count in 2..if cfg!(miri) { 6 } else { 20 } {
            let shares = Rc::new(Shares(RefCell::default(), sync::Slab::new()));
            let mut slots: Vec<_> = (0..count).map(|n| shares.1.insert(Owned(shares.clone(), Box::new(n)))).collect();
            let half = slots.split_off(slots.len() / 2);
            *shares.0.borrow_mut() = half;
            drop(shares);
            sync::drop_all(slots);
        }
        for count in 0..10 {
            let pool = Rc::new(Pool::new());
            let mut last: Option<Pooled<dyn Any>> = None;
            for _ in 0..count {
                last = Some(pool.insert(Owner((pool.clone(), last))).coerce(|view| view as _));
            }
            drop(pool);
            drop(last);
        }
    });
    assert_eq!(left, (0, 0));
}

/// Leaked values of two modules own slots of each other, and either module is torn down first.
#[test]
fn leaked_values_of_two_modules_own_each_other() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    struct Left(#[expect(dead_code, reason = "dropped")] Option<rights::Slot>, Box<u32>);
    #[expect(dead_code, reason = "dropped")]
    struct Right(Option<lefts::Slot>, Box<u32>);
    dwell::slab!(mod lefts: Left);
    dwell::slab!(mod rights: Right);
    impl Drop for Left {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            if let Some(less) = self.1.checked_sub(1) {
                // The slab may already be torn down, where a leaked value would leak permanently.
                drop(rights::insert(Right(None, Box::new(less))));
            }
        }
    }
    impl Drop for Right {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
            drop(lefts::insert(Left(None, Box::new(0))));
        }
    }
    let mut dropped = Vec::new();
    for left_first in [true, false] {
        DROPPED.store(0, Ordering::Relaxed);
        thread::spawn(move || {
            if left_first {
                lefts::reserve(1);
            } else {
                rights::reserve(1);
            }
            for n in 0..if cfg!(miri) { 10 } else { 50 } {
                let right = rights::insert(Right(None, Box::new(n)));
                let left = lefts::insert(Left(Some(right), Box::new(n % 3)));
                let outer = rights::insert(Right(Some(left), Box::new(n)));
                if n % 2 == 0 {
                    outer.leak();
                } else {
                    lefts::insert(Left(Some(outer), Box::new(0))).leak();
                }
            }
        })
        .join()
        .unwrap();
        // 50 rounds make 100 `Right` and 75 `Left`. Dropping a `Right` makes a `Left`, and dropping some `Left` makes a
        // `Right`. The total is the same in both orders.
        dropped.push(DROPPED.load(Ordering::Relaxed));
    }
    assert!(dropped[0] >= if cfg!(miri) { 55 } else { 275 } && dropped[0] == dropped[1], "{dropped:?}");
}

/// Slots of every kind are converted to raw pointers and back. The pointer may access the header of its block, and the
/// slab may have been dropped.
#[test]
fn into_raw_and_from_raw_round_trip() {
    dwell::slab!(mod texts: String);
    let left = left_by(|| {
        let (slab, pool) = (Slab::new(), Pool::new());
        let raw = slab.insert(String::from("direct")).into_raw();
        let raw_pooled = pool.insert(String::from("pooled")).into_raw();
        let raw_large = pool.insert([1_u8; 15_000]).coerce::<[u8], _>(|view| view).into_raw();
        drop((slab, pool));
        // SAFETY: `into_raw` of a slot of this type returned the pointer, and `from_raw` is called once with it.
        let direct = unsafe { Slot::<String>::from_raw(raw) };
        // SAFETY: `into_raw` of a slot of this type returned the pointer, and `from_raw` is called once with it.
        let pooled = unsafe { Pooled::<String>::from_raw(raw_pooled) };
        // SAFETY: `into_raw` of the coerced slot, which has this type, returned the pointer, and `from_raw` is called
        // once with it.
        let large = unsafe { Pooled::<[u8]>::from_raw(raw_large) };
        assert_eq!((&**direct, &**pooled, large.len()), ("direct", "pooled", 15_000));
    });
    assert_eq!(left, (0, 0));
    // A slot of a `sync::Slab` is `Send`, so another thread may drop it.
    struct Raw(*mut String);
    // SAFETY: the pointer is that of a `sync::Slot<String>`, which is `Send`, and nothing else uses it.
    unsafe impl Send for Raw {}
    let shared = sync::Slab::new();
    let raw = Raw(shared.insert(String::from("shared")).into_raw());
    drop(shared);
    let there = thread::spawn(move || {
        let Raw(raw) = { raw };
        // SAFETY: `into_raw` of a slot of this type returned the pointer, and `from_raw` is called once with it.
        unsafe { sync::Slot::<String>::from_raw(raw) }.into_inner()
    });
    assert_eq!(there.join().unwrap(), "shared");
    let raw = texts::insert(String::from("of a thread")).into_raw();
    // SAFETY: `into_raw` of a slot of this type returned the pointer on this thread, and `from_raw` is called once with
    // it.
    let key = unsafe { texts::Slot::from_raw(raw) }.leak();
    assert_eq!(*texts::reclaim(key).unwrap(), "of a thread");
    let any = texts::insert(String::from("any")).coerce::<dyn Any, _>(|view| view).into_raw();
    // SAFETY: `into_raw` of a slot coerced to this type, of the same kind, returned the pointer, and `from_raw` is
    // called once with it.
    let any = unsafe { Slot::<dyn Any, dwell::slab::thread::PerThread<texts::Module>>::from_raw(any) };
    assert!(any.is::<String>());
    drop(any);
    texts::shutdown().unwrap();
}

/// `coerce` with an explicit target type compiles where inference fails: in a method chain, with a lifetime, with a
/// type parameter, and with an opaque type.
#[test]
fn coerce_with_an_explicit_type() {
    fn shown<'a, T: Display + 'a>(slab: &Slab<T>, value: T) -> Slot<dyn Display + 'a> {
        slab.insert(value).coerce::<dyn Display + 'a, _>(|view| view)
    }
    fn numbers<T: Copy>(values: &[T]) -> impl Iterator<Item = T> + '_ {
        values.iter().copied()
    }
    let text = String::from("borrowed");
    assert_eq!(shown(&Slab::new(), &*text).to_string(), "borrowed");
    let values = [1, 2, 3];
    let slab = Slab::new();
    assert_eq!(slab.insert(numbers(&values)).coerce::<dyn Iterator<Item = i32> + '_, _>(|view| view).sum::<i32>(), 6);
    assert_eq!(Slab::new().insert([7, 8]).coerce::<[i32], _>(|view| view).len(), 2);
    let future = Slab::new().insert(async { 7 }).coerce::<dyn Future<Output = i32>, _>(|view| view).into_pin();
    drop(future);
}

/// A `Module` written by hand uses the slab of another module, with a limit beyond the number of keys.
#[test]
fn two_modules_share_a_slab() {
    use dwell::slab::thread as module;

    dwell::slab!(mod boxes: Box<u64>);
    struct Other;
    impl module::Module for Other {
        type Value = Box<u64>;
        const LIMIT: usize = usize::MAX;
        fn local() -> &'static thread::LocalKey<module::ThreadSlab<Box<u64>>> {
            &boxes::LOCAL
        }
    }

    let (first, second) =
        (boxes::insert(Box::new(1)).leak_stamped(), module::insert::<Other>(Box::new(2)).leak_stamped());
    assert_eq!(**module::reclaim_stamped::<Other>(first).unwrap(), 1);
    assert_eq!(**boxes::reclaim_stamped(second).unwrap(), 2);
    let third = module::insert::<Other>(Box::new(3));
    assert!(boxes::shutdown().is_err());
    drop(third);
    module::shutdown::<Other>().unwrap(); // sets the limit of `Other`
    assert!(module::try_reserve::<Other>(usize::MAX / 4).is_err());
    drop(boxes::insert(Box::new(4)));
    boxes::shutdown().unwrap();
}

/// A module without destructors has nothing to drop when its thread ends, but memory to free, also after a slot that outlives the slab.
#[test]
fn leaked_values_without_a_destructor_are_freed_with_their_thread() {
    dwell::slab!(mod words: u64);
    dwell::slab!(mod units: ());
    thread_local!(static LAST: RefCell<Option<words::Slot>> = const { RefCell::new(None) });
    std::thread::spawn(|| {
        LAST.set(None); // destroyed after the slab, which is used later
        let keys: Vec<_> = (0..100).map(|n| words::insert(n).leak()).collect();
        (0..10).map(|_| units::insert(()).leak()).for_each(|_key| ());
        LAST.set(words::reclaim(keys[50]));
        assert_eq!((words::len(), units::len()), (100, 10));
        assert_eq!(words::with(keys[51], |word| *word), Some(51));
    })
    .join()
    .unwrap();
    assert_eq!((words::len(), units::len()), (0, 0));
}
