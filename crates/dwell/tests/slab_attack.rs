//! Attempts to break slabs with safe code, by bugs that slabs, arenas and similar containers have had.
#![allow(
    clippy::cast_possible_truncation,
    clippy::large_stack_arrays,
    reason = "values of all sizes, filled with a byte"
)]

mod common;

use common::{Counts, Spy, failing_above, failing_after, forget, left_by, live, panics};
use dwell::slab::{Bounded, Key, Pool, Slab, Slot, SlotsRemaining, sync};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fmt::Debug;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::{Sender, channel};

/// Runs `f` on a new thread and returns the blocks and bytes that are still allocated when the thread has ended.
fn left_by_thread(f: fn()) -> (isize, isize) {
    // Subtracts the change of an idle thread: it frees memory that the spawning thread allocated, and keeps some until
    // it ends.
    let (idle, left) = (change_by_thread(|| ()), change_by_thread(f));
    (left.0 - idle.0, left.1 - idle.1)
}

fn change_by_thread(f: fn()) -> (isize, isize) {
    struct Report(Sender<(isize, isize)>, (isize, isize));
    impl Drop for Report {
        fn drop(&mut self) {
            let after = live();
            // Sending may allocate, so it comes after the count.
            let _ = self.0.send((after.0 - self.1.0, after.1 - self.1.1));
        }
    }
    // On this platform the first registered thread-local is destroyed last.
    thread_local!(static REPORT: RefCell<Option<Report>> = const { RefCell::new(None) });
    let (send, receive) = channel();
    let thread = std::thread::spawn(move || {
        REPORT.with(|report| *report.borrow_mut() = Some(Report(send, live())));
        f();
    });
    thread.join().unwrap();
    receive.recv().unwrap()
}

/// Enough values for several chunks; under Miri, which is a thousand times slower, for one block.
macro_rules! many {
    () => {
        if cfg!(miri) { 16 } else { 3000 }
    };
}

/// Returns a repetition count that is lower under Miri.
const fn scaled(count: usize) -> usize {
    if cfg!(miri) { count.div_ceil(40) } else { count }
}

// Bugs of other slab crates, as named in docs/slab.md.

/// A value with alignment 32 was written with aligned stores to a misaligned address.
#[test]
fn cells_are_aligned() {
    #[repr(align(32))]
    struct Line([u8; 33]);
    #[repr(align(4096))]
    #[expect(dead_code, reason = "alignment")]
    struct Page(u8);
    #[repr(align(131072))]
    struct Huge(u8);
    const MANY: usize = if cfg!(miri) { 10 } else { 50 };
    fn check<T>(make: impl Fn(usize) -> T) {
        let left = left_by(|| {
            let slab = Slab::new();
            let slots: Vec<Slot<T>> = (0..MANY).map(|n| slab.insert(make(n))).collect();
            let addresses: HashSet<usize> = slots.iter().map(|slot| slot.as_ptr().addr()).collect();
            assert_eq!(addresses.len(), MANY);
            assert!(addresses.iter().all(|address| address % align_of::<T>() == 0));
            let mut sorted: Vec<usize> = addresses.into_iter().collect();
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|pair| pair[1] - pair[0] >= size_of::<T>()), "values overlap");
        });
        assert_eq!(left, (0, 0));
    }
    check(|n| Line([n as u8; 33]));
    check(|n| Page(n as u8));
    check(|n| n as u8);
    check(|_| ());
    check(|n| [n as u8; 65536]);
    check(|n| [n as u8; 4096]);
    check(|n| (n as u128, n as u8));
    let slab = Slab::new();
    let huge = [slab.insert_with(|| Huge(1)), slab.insert_with(|| Huge(2))];
    assert!(huge.iter().all(|slot| slot.as_ptr().addr() % 131_072 == 0) && huge[0].0 + huge[1].0 == 3);
    drop(slab);
    assert_eq!(Line([7; 33]).0[32], 7);
}

/// An insert before `init` read a null pointer.
#[test]
fn insert_before_init() {
    dwell::slab!(mod texts: String);
    assert!(!texts::is_initialized());
    assert_eq!((texts::len(), texts::capacity()), (0, 0));
    assert!(texts::reclaim(Key::from_raw(0)).is_none() && !texts::contains_key(Key::NONE));
    assert_eq!(texts::insert("first".into()), texts::insert("first".into()));
    assert!(texts::is_initialized() && texts::is_empty());
    assert!(panics(|| texts::init().build()), "it is set up");
    texts::shutdown().unwrap();
    assert!(!texts::is_initialized());
    texts::init().bounded(3).build();
    assert_eq!(texts::capacity(), 3);
    let _three = [(); 3].map(|()| texts::insert(String::new()));
    assert!(texts::try_insert("back".into()).is_err_and(|full| full.into_inner() == "back"));
    assert_eq!(texts::shutdown(), Err(SlotsRemaining(3)));
}

/// A slot in thread-local storage was dropped after its slab.
#[test]
fn slot_in_thread_local_storage() {
    dwell::slab!(mod boxes: Box<u64>);
    thread_local! {
        static EARLY: RefCell<Vec<boxes::Slot>> = const { RefCell::new(Vec::new()) };
        static LATE: RefCell<Vec<boxes::Slot>> = const { RefCell::new(Vec::new()) };
    }
    let left = left_by_thread(|| {
        EARLY.with(|early| early.borrow_mut().push(boxes::insert(Box::new(1)))); // dropped after the slab
        LATE.with(|late| late.borrow_mut().extend((0..many!()).map(|n| boxes::insert(Box::new(n)))));
        EARLY.with(|early| early.borrow_mut().extend((0..many!()).map(|n| boxes::insert(Box::new(n)))));
    });
    assert_eq!(left, (0, 0));
}

/// A thread-local destructor used a slab that had been torn down.
#[test]
fn insert_while_the_thread_ends() {
    dwell::slab!(mod boxes: Box<u64>);
    struct AtEnd(Option<boxes::Slot>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            let slots: Vec<boxes::Slot> = (0..many!()).map(|n| boxes::insert(Box::new(n))).collect();
            assert_eq!(boxes::len(), many!() + usize::from(self.0.is_some()));
            let kept = self.0.take();
            drop(slots);
            drop(boxes::insert(Box::new(1)));
            drop(kept);
            assert!(boxes::is_empty());
            let key = boxes::insert(Box::new(7)).leak();
            assert_eq!(**boxes::reclaim(key).unwrap(), 7);
        }
    }
    thread_local!(static AT_END: RefCell<AtEnd> = const { RefCell::new(AtEnd(None)) });
    // The slab is initialized before or after `AT_END`, or only by its destructor.
    assert_eq!(left_by_thread(|| AT_END.with(|_| ())), (0, 0));
    assert_eq!(left_by_thread(|| AT_END.with(|end| end.borrow_mut().0 = Some(boxes::insert(Box::new(1))))), (0, 0));
    let left = left_by_thread(|| {
        let slot = boxes::insert(Box::new(1));
        AT_END.with(|end| end.borrow_mut().0 = Some(slot));
    });
    assert_eq!(left, (0, 0));
}

/// Each thread leaked its slab when it ended.
#[test]
fn threads_free_their_memory() {
    dwell::slab!(mod boxes: Box<u64>);
    fn fill<const VALUES: u64>() {
        let slots: Vec<boxes::Slot> = (0..VALUES).map(|n| boxes::insert(Box::new(n))).collect();
        assert_eq!(boxes::len(), slots.len());
        for slot in slots {
            if **slot % 2 == 0 {
                slot.leak(); // dropped at thread exit
            }
        }
    }
    for f in [fill::<0>, fill::<1>, fill::<{ many!() }>] {
        assert_eq!(left_by_thread(f), (0, 0));
    }
}

/// A panicking destructor leaked its cell, so `shutdown` never succeeded.
#[test]
fn panic_in_drop_frees_the_cell() {
    thread_local!(static ARMED: Cell<bool> = const { Cell::new(false) });
    struct Bomb(#[allow(dead_code, reason = "size")] u64);
    impl Drop for Bomb {
        fn drop(&mut self) {
            if ARMED.replace(false) {
                panic!("intentional");
            }
        }
    }
    dwell::slab!(mod bombs: Bomb);
    for _ in 0..10 {
        let bomb = bombs::insert(Bomb(1));
        ARMED.set(true);
        assert!(panics(|| drop(bomb)));
        assert!(bombs::is_empty());
    }
    bombs::shutdown().unwrap();

    let counts = Counts::default();
    counts.panic_at_drop.set(2);
    let left = left_by(|| {
        let slab = Slab::new();
        let slots: Vec<Slot<Spy<'_>>> = (0..4).map(|n| slab.insert(counts.spy(n))).collect();
        assert!(panics(|| drop(slots)));
        assert!(slab.is_empty() && counts.balanced());
    });
    assert_eq!(left.0, 0);
}

/// A capacity of 2^32 + 1 was truncated to 1.
#[test]
fn capacity_above_the_limit_is_refused() {
    let too_many = u32::MAX as usize + 2;
    let message = std::panic::catch_unwind(|| Bounded::<u8>::with_capacity(too_many)).unwrap_err();
    assert_eq!(message.downcast_ref::<String>().unwrap(), "the slab can have at most 4294967295 slots, not 4294967297");
    dwell::slab!(mod bytes: u8);
    assert!(panics(|| bytes::init().bounded(too_many).build()));
    assert!(panics(|| drop(Slab::<u8>::builder().chunk_capacity(0))));
    let empty = Bounded::with_capacity(0);
    assert_eq!(empty.try_insert(7).unwrap_err().to_string(), "the slab is full: it has 0 slots");
    assert!(empty.is_full() && empty.is_empty());
    // More than the memory, more than the number of keys, and sizes for which there is no `Layout`.
    assert!(Slab::<u64>::new().try_reserve(usize::MAX).is_err());
    assert!(Slab::<u64>::new().try_reserve(u32::MAX as usize + 1).is_err());
    let slab = Slab::<[u8; 1 << 46]>::new();
    assert!(slab.try_reserve(1 << 20).is_err());
    // Some allocators abort on a request of this size, so the test allocator fails before it forwards the request.
    assert!(failing_after(1, || slab.try_reserve(1).is_err()));
    assert!(slab.reclaim(Key::from_raw(0)).is_none() && slab.leaked().next().is_none());
    slab.shrink_to_fit();
    assert_eq!((slab.len(), slab.capacity()), (0, 0));
}

/// The value that a full slab refused was dropped.
#[test]
fn full_slab_returns_the_value() {
    let counts = Counts::default();
    let slab = Bounded::with_capacity(1);
    let taken = slab.insert(counts.spy(1));
    let back = slab.try_insert(counts.spy(2)).unwrap_err().into_inner();
    assert_eq!((back.value, counts.dropped.get()), (2, 0));
    assert!(panics(|| drop(slab.insert_with(|| unreachable!()))), "it is full");
    drop(taken);
    assert_eq!(slab.insert(back).value, 2);
    assert!(counts.balanced());
}

/// A full slab returns a refused value in registers or in memory, depending on its size; both paths drop it once.
#[test]
fn value_refused_by_a_full_slab_is_dropped_once() {
    fn check<const N: usize>() {
        let counts = Counts::default();
        let slab = Bounded::with_capacity(1);
        let taken = slab.insert((counts.spy(1), [7_u64; N]));
        assert_eq!((taken.0.value, taken.1), (1, [7; N]));
        assert!(panics(|| drop(slab.insert((counts.spy(2), [8; N])))));
        assert_eq!(counts.dropped.get(), 1);
        drop(taken);
        assert!(counts.balanced());
    }
    check::<0>();
    check::<1>();
    check::<2>();
    check::<3>();
    check::<20>();
}

/// Two slots from one key dropped a value twice.
#[test]
fn a_key_reclaims_one_slot() {
    let counts = Counts::default();
    let slab = Slab::new();
    let slot = slab.insert(counts.spy(1));
    let key = slot.key();
    assert!(slab.reclaim(key).is_none(), "the slot owns the value");
    assert_eq!(slot.leak(), key);
    let slot = slab.reclaim(key).unwrap();
    assert!(slab.reclaim(key).is_none());
    assert!(slab.with(key, |_| ()).is_none());
    drop(slot);
    assert!(slab.reclaim(key).is_none(), "it is dropped");
    let other = slab.insert(counts.spy(2));
    assert_eq!(other.key(), key);
    assert!(slab.reclaim(key).is_none(), "the key belongs to another value");
    // Any number can be passed as a key.
    for raw in (0..3000).step_by(if cfg!(miri) { 37 } else { 1 }).chain([u32::MAX - 1, u32::MAX, 1 << 31]) {
        assert!(slab.reclaim(Key::from_raw(raw)).is_none());
    }
    drop(other);
    assert!(counts.balanced());
}

/// Memory of live values was freed.
#[test]
fn shrink_to_fit_keeps_occupied_chunks() {
    const ALL: usize = if cfg!(miri) { 200 } else { 1000 };
    const KEPT: usize = ALL / 25;
    let slab = Slab::builder().chunk_capacity(10).build();
    let mut slots: Vec<Slot<Box<usize>>> = (0..ALL).map(|n| slab.insert(Box::new(n))).collect();
    assert_eq!(slab.capacity(), ALL);
    let mut index = 0;
    slots.retain(|_| {
        index += 1;
        index % 25 == 0
    });
    slab.shrink_to_fit();
    assert_eq!((slab.len(), slab.capacity()), (KEPT, 10 * KEPT));
    assert!(slots.iter().enumerate().all(|(n, slot)| ***slot == n * 25 + 24));
    let more: Vec<Slot<Box<usize>>> = (0..ALL).map(|n| slab.insert(Box::new(n))).collect();
    assert_eq!(slab.len(), ALL + KEPT);
    let keys: HashSet<Key> = slots.iter().chain(&more).map(Slot::key).collect();
    assert_eq!(keys.len(), ALL + KEPT, "numbers of freed blocks are used again, once");
    for slot in more {
        let (value, key) = (**slot, slot.leak());
        assert_eq!(**slab.reclaim(key).unwrap(), value);
    }
    drop(slots);
    slab.shrink_to_fit();
    assert_eq!((slab.len(), slab.capacity()), (0, 0));
    drop(slab.insert(Box::new(1)));
}

/// A cell was read although the closure that should have initialised it had panicked.
#[test]
fn panic_in_insert_with_frees_the_cell() {
    let counts = Counts::default();
    let left = left_by(|| {
        let slab = Slab::new();
        for _ in 0..5 {
            assert!(panics(|| drop(slab.insert_with(|| -> Spy<'_> { panic!("no value") }))));
            assert!(slab.is_empty());
        }
        assert_eq!(slab.insert_with(|| counts.spy(3)).value, 3);
    });
    assert!(counts.balanced());
    assert_eq!(left.0, 0);
}

/// A slot outlived its slab.
#[test]
fn slots_outlive_their_slab() {
    let counts = Counts::default();
    let left = left_by(|| {
        let slab = Slab::new();
        let mut slots: Vec<Slot<Spy<'_>>> = (0..many!()).map(|n| slab.insert(counts.spy(n))).collect();
        drop(slab);
        assert!(slots.iter().enumerate().all(|(n, slot)| slot.value as usize == n));
        slots[5].value = 7;
        drop(slots.swap_remove(0));
        assert_eq!(slots.swap_remove(5).into_inner().value, 7);
        drop(std::mem::replace(&mut *slots.pop().unwrap(), counts.spy(9)));
        let bounded = Bounded::with_capacity(2);
        let (_a, b) = (bounded.insert(counts.spy(1)), bounded.insert(counts.spy(2)));
        drop(b);
        drop(bounded);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

// Bugs found in a review.

/// Dropping a slab searched for each leaked value from the start: 800,000 values took 3.5 seconds.
#[test]
fn leaked_values_are_dropped_in_linear_time() {
    fn in_a_slab(values: usize) {
        let slab = Slab::new();
        for n in 0..values {
            slab.insert(n).leak();
        }
        assert_eq!(slab.len(), values);
    }
    fn at_the_end_of_a_thread(values: usize) {
        dwell::slab!(mod numbers: usize);
        let thread = std::thread::spawn(move || {
            for n in 0..values {
                numbers::insert(n).leak();
            }
        });
        thread.join().unwrap();
    }
    for f in [in_a_slab, at_the_end_of_a_thread] {
        // Quadratic time would take sixteen times as long.
        let values = if cfg!(miri) { 10 } else { 5_000 };
        assert!(is_faster(|| f(4 * values), || f(values), 8), "the time is not linear");
    }
}

/// Returns whether `long` takes less than `most` times as long as `short`. The measurement is repeated, since the machine
/// may be busy. Under Miri both run once.
fn is_faster(long: impl Fn(), short: impl Fn(), most: u32) -> bool {
    let time = |f: &dyn Fn()| {
        let start = std::time::Instant::now();
        f();
        start.elapsed()
    };
    (0..if cfg!(miri) { 1 } else { 20 }).any(|_| time(&long) < most * time(&short)) || cfg!(miri)
}

/// Each `reserve` visited all chunks, so a loop that reserves memory for each value took quadratic time: 179 seconds for
/// 40,000 chunks of one value.
#[test]
fn reserve_does_not_visit_the_chunks() {
    let slabs = [10, 1_000].map(|chunks| {
        let slab = Slab::builder().chunk_capacity(1).build();
        for n in 0..if cfg!(miri) { chunks / 10 } else { chunks } {
            slab.insert(n).leak();
        }
        slab
    });
    let reserve = |slab: &Slab<i32>| {
        for _ in 0..if cfg!(miri) { 10 } else { 5_000 } {
            slab.reserve(1);
        }
    };
    assert!(is_faster(|| reserve(&slabs[1]), || reserve(&slabs[0]), 10), "a hundred times the chunks take longer");
}

/// Exceeding the key limit was reported as a failed allocation of 0 bytes, which aborts.
#[test]
fn too_large_capacity_panics_with_the_limit() {
    fn message(f: impl FnOnce()) -> String {
        let mut message = String::new();
        assert!(panics(|| {
            let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_err();
            message = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            panic!("as expected");
        }));
        message
    }
    dwell::slab!(mod bytes: u8);
    dwell::slab!(mod few: u8, bounded(3));
    for too_many in [dwell::slab::MAX_CAPACITY + 1, 1 << 47, usize::MAX] {
        let expected = format!("the slab can have at most 4294967295 slots, not {too_many}");
        assert_eq!(message(|| drop(Slab::<u64>::with_capacity(too_many))), expected);
        assert_eq!(message(|| drop(Slab::<u64>::builder().preallocate(too_many).build())), expected);
        assert_eq!(message(|| Slab::<()>::new().reserve(too_many)), expected);
        assert_eq!(message(|| drop(Bounded::<u64>::with_capacity(too_many))), expected);
        assert_eq!(message(|| drop(sync::Slab::<u64>::with_capacity(too_many))), expected);
        assert_eq!(message(|| sync::Slab::<[u8; 5000]>::new().reserve(too_many)), expected);
        assert_eq!(message(|| bytes::reserve(too_many)), expected);
        // The `try_` functions neither panic nor abort, and allocate nothing.
        assert!(Slab::<u64>::try_with_capacity(too_many).is_err());
        assert!(Slab::<[u8; 5000]>::builder().preallocate(too_many).try_build().is_err());
        assert!(Slab::<()>::new().try_reserve(too_many).is_err_and(|error| error.layout().size() != 0));
        assert!(Bounded::<u64>::try_with_capacity(too_many).is_err());
        assert!(sync::Slab::<u64>::try_with_capacity(too_many).is_err());
        assert!(sync::Slab::<u64>::new().try_reserve(too_many).is_err());
        assert_eq!(bytes::try_reserve(too_many).unwrap_err().to_string(), expected);
    }
    assert_eq!(message(|| few::reserve(4)), "the slab can have at most 3 slots, not 4");
    let slab = Slab::new();
    let _slot = slab.insert(1_u8);
    assert!(slab.try_reserve(usize::MAX).is_err(), "one more than that is counted up");
}

#[test]
fn try_functions_report_failed_allocations() {
    let left = left_by(|| {
        assert!(failing_after(0, || Slab::<u64>::try_new().is_ok() && sync::Slab::<u64>::try_new().is_ok()));
        assert!(failing_after(0, || Slab::<u64>::try_with_capacity(1).is_err()));
        let (pool, shared_pool, shared) = (Pool::new(), Pool::new(), sync::Slab::<u64>::new());
        let make = || -> u64 { unreachable!("it is not called") };
        failing_after(0, || {
            assert!(pool.try_insert_with(make).is_err_and(|error| error.layout().size() != 0));
            assert!(shared_pool.try_insert_with(make).is_err());
            assert!(shared.try_insert_with(make).is_err());
        });
        let slots = (pool.try_insert_with(|| 1).unwrap(), shared_pool.try_insert_with(|| 2).unwrap());
        assert_eq!((*slots.0, *slots.1, *shared.try_insert_with(|| 3).unwrap()), (1, 2, 3));
    });
    assert_eq!(left, (0, 0));
    // `try_build` used to panic here.
    dwell::slab!(mod twice: u8);
    twice::init().try_build().unwrap();
    assert_eq!(twice::init().try_build().unwrap_err().to_string(), "the slab is already initialized on this thread");
    twice::shutdown().unwrap();
}

/// A failed `try_build` used to leave its limit behind, which held for later inserts.
#[test]
fn failed_try_build_changes_nothing() {
    dwell::slab!(mod pages: [u64; 100]);
    for successes in 0..5 {
        let built = failing_after(successes, || pages::init().bounded(3).chunk_capacity(1).try_build());
        let limit = if built.is_ok() { 3 } else { 20 };
        assert_eq!((pages::is_initialized(), pages::capacity()), (built.is_ok(), if built.is_ok() { 3 } else { 0 }));
        let slots: Vec<_> = (0..20).map_while(|n| pages::try_insert([n; 100]).ok()).collect();
        assert_eq!(slots.len(), limit, "after {successes} allocations");
        drop(slots);
        pages::shutdown().unwrap();
    }
}

/// The numbers of freed blocks are reused, each once. The search for a free number was linear.
#[test]
fn numbers_of_freed_blocks_are_reused() {
    let slab = Slab::builder().chunk_capacity(1).build();
    let blocks = if cfg!(miri) { 16 } else { 60 };
    let mut slots: Vec<Slot<usize>> = (0..blocks).map(|n| slab.insert(n)).collect();
    let first: HashSet<Key> = slots.iter().map(Slot::key).collect();
    for round in 1..5 {
        let mut index = 0;
        slots.retain(|_| {
            index += 1;
            index % (round + 1) == 0
        });
        slab.shrink_to_fit();
        assert_eq!(slab.capacity(), slots.len());
        slots.extend((slots.len()..blocks).map(|n| slab.insert(n)));
        assert_eq!(slots.iter().map(Slot::key).collect::<HashSet<Key>>(), first);
    }
}

/// A destructor that runs while the slab is dropped leaks slots of it, both before and after the position of the
/// search.
#[test]
fn values_leaked_during_drop_are_dropped() {
    struct Leaks<'a>(&'a Cell<u32>, Option<Slot<Leaks<'a>>>);
    impl Drop for Leaks<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
            if let Some(other) = self.1.take() {
                other.leak();
            }
        }
    }
    let dropped = Cell::new(0);
    let left = left_by(|| {
        let slab = Slab::new();
        // In half of the pairs the value in the later cell owns the slot of the earlier one, in the others the reverse.
        let early: Vec<_> = (0..scaled(2000)).map(|_| slab.insert(Leaks(&dropped, None))).collect();
        for (n, inner) in early.into_iter().enumerate() {
            let outer = slab.insert(Leaks(&dropped, None));
            let (mut outer, inner) = if n % 2 == 0 { (outer, inner) } else { (inner, outer) };
            outer.1 = Some(inner);
            outer.leak();
        }
        drop(slab);
    });
    assert_eq!((dropped.get() as usize, left), (2 * scaled(2000), (0, 0)));
}

/// A destructor leaks a new value each time, so that there is always a leaked one. The thread did not end.
#[test]
fn thread_ends_if_each_destructor_leaks_a_value() {
    dwell::slab!(mod idle: Connection);
    thread_local! {
        static REST: Rest = const { Rest };
        static IS_CLOSED: Cell<bool> = const { Cell::new(false) };
        static DROPPED: Cell<usize> = const { Cell::new(0) };
    }
    /// Returns to the list of idle connections when it is dropped, `copies` times.
    struct Connection {
        copies: usize,
    }
    impl Drop for Connection {
        fn drop(&mut self) {
            DROPPED.set(DROPPED.get() + 1);
            for _ in 0..if IS_CLOSED.get() { 0 } else { self.copies } {
                idle::insert(Connection { copies: self.copies }).leak();
            }
        }
    }
    /// Drops the values that the slab has left.
    struct Rest;
    impl Drop for Rest {
        fn drop(&mut self) {
            let (dropped, left) = (DROPPED.get(), idle::len());
            assert!(dropped >= 100 && left >= 100, "{dropped} dropped and {left} left");
            IS_CLOSED.set(true);
            idle::leaked().collect::<Vec<Key>>().into_iter().for_each(|key| drop(idle::reclaim(key)));
            assert!(idle::is_empty() && DROPPED.get() == dropped + left);
        }
    }
    fn leak<const COPIES: usize>() {
        // Its destructor runs after that of the slab, since it is registered before.
        REST.with(|_| ());
        for _ in 0..100 {
            idle::insert(Connection { copies: COPIES }).leak();
        }
    }
    assert_eq!((left_by_thread(leak::<1>), left_by_thread(leak::<2>)), ((0, 0), (0, 0)));
}

/// A failed `try_reserve` or `try_insert` set the module up, so that `init` failed afterwards.
#[test]
fn failed_call_does_not_initialize_a_module() {
    dwell::slab!(mod numbers: u64);
    assert!(numbers::try_reserve(usize::MAX).is_err());
    assert!(failing_after(0, || numbers::try_insert(1).is_err()));
    assert!(!numbers::is_initialized());
    numbers::init().bounded(10).build();
    assert!(numbers::is_initialized() && numbers::try_insert(1).is_ok());
    numbers::shutdown().unwrap();
}

/// `try_reserve` requested only a chunk of the usual size, even if there was memory for the reserved values.
#[test]
fn reserve_falls_back_to_a_smaller_chunk() {
    let slab = Slab::new();
    let mut slots: Vec<Slot<[u64; 32]>> = (0..400).map(|n| slab.insert([n; 32])).collect();
    while slab.len() < slab.capacity() {
        slots.push(slab.insert([0; 32]));
    }
    failing_above(16 << 10, || slab.try_reserve(1)).unwrap();
    assert!(slab.capacity() > slab.len());
    assert!(failing_above(16 << 10, || slab.try_reserve(1_000)).is_err());
}

// Known bug classes of arenas and containers.

#[test]
fn forgotten_slot_keeps_its_memory() {
    let slab = Slab::new();
    let slot = slab.insert([7_u8; 100]);
    let address = slot.as_ptr();
    forget(slot, address.addr());
    drop(slab);
    // SAFETY: the slot was forgotten, so the value was not dropped, and its memory was neither freed nor reused.
    assert_eq!(unsafe { address.read() }, [7; 100]);
}

#[test]
fn leaked_values_are_dropped_with_the_slab() {
    let counts = Counts::default();
    let left = left_by(|| {
        let slab = Slab::new();
        let keys: Vec<Key> = (0..many!()).map(|n| slab.insert(counts.spy(n)).leak()).collect();
        assert_eq!(slab.leaked().collect::<Vec<_>>(), keys);
        let kept = slab.reclaim(keys[many!() / 2]).unwrap();
        assert_eq!(slab.len(), many!());
        drop(slab);
        assert_eq!(counts.dropped.get(), many!() - 1);
        drop(kept);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
    // If one drop panics, the others are still dropped and the memory is freed.
    let counts = Counts::default();
    counts.panic_at_drop.set(3);
    let left = left_by(|| {
        let slab = Slab::new();
        for n in 0..10 {
            slab.insert(counts.spy(n)).leak();
        }
        assert!(panics(|| drop(slab)));
    });
    assert!(counts.balanced());
    assert_eq!(left.0, 0);
    // A slot that is leaked after the slab was dropped leaks its memory permanently.
    let slab = Slab::new();
    let slot = slab.insert(1_u64);
    let copy = slab.insert(2_u64);
    drop(slab);
    let address = copy.as_ptr().addr();
    forget(copy, address);
    slot.leak();
}

#[test]
fn drop_re_enters_the_slab() {
    struct Node {
        slab: Rc<Slab<Node>>,
        next: Option<Slot<Node>>,
        depth: u32,
    }
    impl Drop for Node {
        fn drop(&mut self) {
            if self.depth > 0 {
                let slab = self.slab.clone();
                let child = slab.insert(Node { slab: slab.clone(), next: None, depth: self.depth - 1 });
                let other = slab.insert(Node { slab: slab.clone(), next: self.next.take(), depth: 0 });
                drop(child);
                drop(other);
            }
        }
    }
    let left = left_by(|| {
        let slab = Rc::new(Slab::new());
        let mut last = None;
        for depth in 0..8 {
            let next = last.take();
            last = Some(slab.insert(Node { slab: slab.clone(), next, depth }));
        }
        drop(slab); // the nodes still own it
        drop(last);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn closures_re_enter_the_slab() {
    let slab = Slab::new();
    let outer = slab.insert_with(|| {
        let inner = slab.insert_with(|| slab.insert(1).into_inner() + 1);
        *inner + 1
    });
    assert_eq!((*outer, slab.len()), (3, 1));
    let key = outer.leak();
    // While `with` runs, the key finds no value.
    slab.with(key, |value| {
        assert!(slab.with(key, |_| ()).is_none() && slab.reclaim(key).is_none());
        assert!(slab.leaked().next().is_none());
        slab.shrink_to_fit();
        drop(slab.insert(9));
        *value += 1;
    });
    assert!(panics(|| slab.with(key, |_| panic!("in with")).unwrap_or_default()));
    assert_eq!(slab.reclaim(key).map(Slot::into_inner), Some(4));
}

#[test]
fn unwinding_drops_slots() {
    let counts = Counts::default();
    let slab = Slab::new();
    assert!(panics(|| {
        let _slot = slab.insert(counts.spy(1));
        let _pinned = slab.insert(counts.spy(2)).into_pin();
        panic!("past two slots");
    }));
    assert!(slab.is_empty() && counts.balanced());
}

#[test]
fn failed_allocation_returns_the_value() {
    let left = left_by(|| {
        assert!(failing_after(0, || Slab::<u8>::builder().preallocate(1).try_build().is_err()));
        assert!(failing_after(1, || Bounded::<u8>::try_with_capacity(10).is_err()));
        let built = || Slab::builder().chunk_capacity(20).build();
        for (slab, successes) in [(Slab::new(), 0), (built(), 0), (built(), 1)] {
            // The failing allocation is that of a small slab, or the chunk, then the free stack.
            let error = failing_after(successes, || slab.try_insert(String::new()).map(drop).unwrap_err());
            assert_eq!(error.into_inner(), "");
            assert!(slab.is_empty());
            assert_eq!(*slab.insert(String::from("now")), "now");
        }
        for successes in 0..3 {
            // Large values: the core, the chunk, the free stack.
            let slab = Slab::new();
            failing_after(successes, || slab.try_insert([0_u64; 100]).map(drop).unwrap_err());
            assert_eq!((slab.len(), slab.insert([7; 100])[99]), (0, 7));
        }
        let slab = Slab::new();
        let slots: Vec<Slot<String>> = (0..many!()).map(|n| slab.insert(n.to_string())).collect();
        slab.reserve(0);
        // Fails while the slab has many values.
        let mut more = Vec::with_capacity(200_000);
        failing_after(0, || {
            while let Ok(slot) = slab.try_insert(String::new()) {
                more.push(slot);
            }
        });
        assert_eq!(slab.len(), slots.len() + more.len());
        assert!(failing_after(0, || slab.try_reserve(1_000_000).is_err()));
        let full = failing_after(0, || slab.try_insert_with(|| unreachable!()).map(drop).map_err(drop));
        assert!(full.is_err(), "the closure is not called");
        let slot = failing_after(0, || more.pop().unwrap().try_leak_stamped().unwrap_err());
        let key = slot.into_inner().leak_stamped();
        assert!(slab.contains_key(key.key()) && slab.reclaim_stamped(key).is_some_and(|slot| slot.is_empty()));
        let kept = slab.insert(String::from("in the popped cell"));
        assert!(slots.iter().enumerate().all(|(n, slot)| **slot == n.to_string()));
        drop((kept, slab.insert(String::from("after"))));
    });
    assert_eq!(left, (0, 0));
    dwell::slab!(mod bytes: u8);
    let left = left_by_thread(|| {
        // Each failure is one allocation later: the registration of the thread-exit destructor, the chunk, the free
        // stack.
        for successes in [0, 1, 1] {
            let full = failing_after(successes, || bytes::try_insert(7).map(drop).unwrap_err());
            assert!(full.layout().is_some() && full.into_inner() == 7);
        }
        assert_eq!(*bytes::insert(8), 8);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn stamped_keys_find_one_value() {
    let left = left_by(|| {
        let slab = Slab::builder().chunk_capacity(1).build();
        let first = slab.insert(Box::new(1)).leak_stamped();
        assert_eq!(**slab.reclaim_stamped(first).unwrap(), 1);
        let second = slab.insert(Box::new(2)).leak_stamped();
        assert_eq!(first.key(), second.key());
        assert!(slab.reclaim_stamped(first).is_none());
        slab.with(second.key(), |value| **value += 1); // it has the same stamp afterwards
        assert_eq!(**slab.reclaim_stamped(second).unwrap(), 3);
        let plain = slab.insert(Box::new(4)).leak();
        assert!(slab.reclaim_stamped(second).is_none() && slab.reclaim_stamped(first).is_none());
        drop(slab.reclaim(plain));
        // Nor after the block was freed in between.
        slab.shrink_to_fit();
        assert_eq!(slab.capacity(), 0);
        let third = slab.insert(Box::new(5)).leak_stamped();
        assert_eq!(third.key(), first.key());
        assert!(slab.reclaim_stamped(first).is_none() && slab.reclaim_stamped(second).is_none());
        let raw = third.into_raw();
        assert_eq!(**slab.reclaim_stamped(dwell::slab::StampedKey::from_raw(raw)).unwrap(), 5);
        assert!(slab.reclaim_stamped(dwell::slab::StampedKey::from_raw(0)).is_none());
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn coerced_slots_drop_and_reclaim() {
    const MANY: u32 = if cfg!(miri) { 20 } else { 200 };
    trait Shape: Debug {
        fn sides(&mut self) -> u32;
    }
    #[derive(Debug)]
    struct Drawn<'a>(Spy<'a>, #[expect(dead_code, reason = "size")] [u64; 9]);
    impl Shape for Drawn<'_> {
        fn sides(&mut self) -> u32 {
            self.0.value += 1;
            self.0.value
        }
    }
    #[derive(Debug)]
    #[repr(align(4096))]
    struct Page;
    impl Shape for Page {
        fn sides(&mut self) -> u32 {
            4
        }
    }
    let counts = Counts::default();
    let left = left_by(|| {
        let (drawn, pages, large) = (Slab::new(), Slab::new(), Slab::new());
        let mut shapes: Vec<Slot<dyn Shape + '_>> = Vec::new();
        for n in 0..MANY {
            shapes.push(drawn.insert(Drawn(counts.spy(n), [7; 9])).coerce(|view| view as _));
            shapes.push(pages.insert(Page).coerce(|view| view as _));
        }
        assert_eq!(shapes[6].sides(), 4);
        assert_eq!(shapes[7].sides(), 4);
        let debug: Slot<dyn Debug + '_> = shapes.pop().unwrap().coerce(|view| view as _);
        assert_eq!(format!("{debug:?}"), "Page");
        drop(debug);
        assert_eq!((drawn.len(), pages.len()), (MANY as usize, MANY as usize - 1));
        let key = shapes.remove(0).leak();
        assert_eq!(drawn.reclaim(key).unwrap().0.value, 0);
        drop(drawn);
        drop(shapes);
        assert!(pages.is_empty());
        // Values of this size have their own mask from an address to the start of its block.
        let bytes: Slot<[u8]> = large.insert([1_u8; 100_000]).coerce(|view| view as _);
        let more: Slot<[u8]> = large.insert([2_u8; 100_000]).coerce(|view| view as _);
        assert_eq!((bytes.len(), bytes[99_999], more[0]), (100_000, 1, 2));
        assert_ne!(bytes.key(), more.key());
        drop(large);
        let any: Slot<dyn Any> = Slab::new().insert(String::from("any")).coerce(|view| view as _);
        assert_eq!(any.downcast_ref::<String>().unwrap(), "any");
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
    // A panic in the closure drops the value.
    let slab = Slab::new();
    let slot = slab.insert(counts.spy(1));
    assert!(panics(|| drop(slot.coerce::<dyn Debug, _>(|_| panic!("no view")))));
    assert!(slab.is_empty() && counts.balanced());
    // A slice may have any length.
    let long = Slab::new();
    assert_eq!(long.insert([(); usize::MAX]).coerce::<[()], _>(|view| view).len(), usize::MAX);
    assert!(long.is_empty());
}

#[test]
fn pinned_values_do_not_move() {
    let slab = Slab::new();
    let pinned: Pin<Slot<[u64; 4]>> = slab.insert([1; 4]).into();
    let address: *const [u64; 4] = &raw const *pinned;
    let moved = Box::new(pinned);
    assert_eq!(&raw const **moved, address);
    let future: Slot<dyn Future<Output = u32>> = Slab::new().insert(async { 7_u32 }).coerce(|view| view as _);
    let mut future = future.into_pin();
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(future.as_mut().poll(&mut context), std::task::Poll::Ready(7));
}

/// A slab and its slots are thread-locals that are destroyed in either order, and slots own other slots.
#[test]
fn thread_exit_in_every_order() {
    struct Held {
        _other: Option<Slot<Held>>,
        _owned: Box<u64>,
    }
    thread_local! {
        static SLAB: RefCell<Option<Slab<Held>>> = const { RefCell::new(None) };
        static SLOTS: RefCell<Vec<Slot<Held>>> = const { RefCell::new(Vec::new()) };
    }
    fn fill() {
        SLAB.with_borrow_mut(|slab| {
            let slab = slab.insert(Slab::new());
            SLOTS.with_borrow_mut(|slots| {
                for n in 0..many!() {
                    let other = slots.pop();
                    slots.push(slab.insert(Held { _other: other.filter(|_| n % 10 != 0), _owned: Box::new(n) }));
                    slots.push(slab.insert(Held { _other: None, _owned: Box::new(n) }));
                }
                for n in 0..if cfg!(miri) { 20 } else { 100 } {
                    slab.insert(Held { _other: slots.pop(), _owned: Box::new(n) }).leak();
                }
            });
        });
    }
    let slab_first = left_by_thread(|| {
        SLOTS.with_borrow(|_| ());
        fill();
    });
    let slots_first = left_by_thread(|| {
        SLAB.with_borrow(|_| ());
        fill();
    });
    assert_eq!((slab_first, slots_first), ((0, 0), (0, 0)));
}

/// The destructor of a leaked value, which runs at thread exit, leaks another value, which is found and dropped too.
#[test]
fn values_leaked_at_thread_exit_are_dropped() {
    dwell::slab!(mod nodes: Node);
    thread_local!(static DROPPED: Cell<u32> = const { Cell::new(0) });
    struct Node(Box<u32>);
    impl Drop for Node {
        fn drop(&mut self) {
            let counted = DROPPED.try_with(|dropped| dropped.set(dropped.get() + 1));
            if let (Ok(()), Some(less)) = (counted, self.0.checked_sub(1)) {
                nodes::insert(Node(Box::new(less))).leak();
            }
        }
    }
    let left = left_by_thread(|| {
        nodes::insert(Node(Box::new(20))).leak();
        drop(nodes::insert(Node(Box::new(5))));
        assert_eq!((nodes::len(), DROPPED.get()), (2, 1));
    });
    assert_eq!(left, (0, 0));
}

/// The cached cell of a module counts as vacant, like the cells on its free stack.
#[test]
fn cached_cell_is_vacant() {
    dwell::slab!(mod words: u64);
    let left = left_by_thread(|| {
        drop(words::insert(1));
        let capacity = words::capacity();
        words::reserve(capacity);
        assert_eq!(words::capacity(), capacity, "the cached cell was counted as occupied");
        drop(words::insert(1));
        assert_eq!((words::len(), words::is_empty()), (0, true));
        words::insert(2).leak();
        let _kept = words::insert(3);
        drop(words::insert(4));
        words::shrink_to_fit();
        assert_eq!((words::len(), words::capacity()), (2, capacity));
        words::leaked().for_each(|key| drop(words::reclaim(key)));
    });
    assert_eq!(left, (0, 0));
    let left = left_by_thread(|| {
        drop(words::insert(5));
        words::shrink_to_fit();
        assert_eq!(words::capacity(), 0, "its chunk was kept");
        drop(words::insert(6));
    });
    assert_eq!(left, (0, 0));
}

/// Closures call every function of the module that would be unsound in the middle of another operation.
#[test]
fn closures_re_enter_the_module() {
    dwell::slab!(mod texts: String);
    let slot = texts::insert_with(|| {
        assert_eq!(texts::len(), 1, "the slot is in use");
        assert_eq!(texts::shutdown(), Err(SlotsRemaining(1)));
        assert!(panics(|| texts::init().build()));
        texts::shrink_to_fit();
        texts::reserve(10_000);
        drop((0..many!()).map(|n| texts::insert(n.to_string())).collect::<Vec<_>>());
        String::from("made")
    });
    let key = slot.leak();
    texts::with(key, |text| {
        assert!(texts::reclaim(key).is_none() && !texts::contains_key(key));
        assert!(texts::with(key, |_| ()).is_none());
        assert_eq!(texts::shutdown(), Err(SlotsRemaining(1)));
        texts::shrink_to_fit();
        text.push('!');
    });
    assert!(panics(|| texts::with(key, |text| {
        text.push('?');
        panic!("in with")
    })
    .unwrap_or_default()));
    assert_eq!(*texts::reclaim(key).unwrap(), "made!?");
    assert!(panics(|| drop(texts::insert_with(|| panic!("no value")))));
    texts::shutdown().unwrap();
    assert_eq!((texts::len(), texts::capacity()), (0, 0));
}

/// Slots are leaked and reclaimed after their slab was torn down.
#[test]
fn keys_are_valid_after_teardown() {
    dwell::slab!(mod boxes: Box<u64>);
    struct AtEnd(Vec<boxes::Slot>);
    impl Drop for AtEnd {
        fn drop(&mut self) {
            // Some cells are vacant and some are live; inserts and reclaims still work on both.
            for slot in mem::take(&mut self.0) {
                let (value, key) = (**slot, slot.leak());
                assert!(boxes::contains_key(key));
                let stamped = boxes::reclaim(key).unwrap().leak_stamped();
                assert!(boxes::insert(Box::new(0)).key() != key, "it is taken");
                assert_eq!(**boxes::reclaim_stamped(stamped).unwrap(), value);
            }
            assert!(boxes::is_empty());
        }
    }
    thread_local!(static AT_END: RefCell<AtEnd> = const { RefCell::new(AtEnd(Vec::new())) });
    let left = left_by_thread(|| {
        AT_END.with_borrow(|_| ()); // destroyed after the slab
        let mut slots: Vec<boxes::Slot> = (0..many!()).map(|n| boxes::insert(Box::new(n))).collect();
        slots.retain(|slot| ***slot % 3 != 0);
        AT_END.with_borrow_mut(|end| end.0 = slots);
    });
    assert_eq!(left, (0, 0));
}

/// Runs all operations of a slab on values of many sizes and alignments.
#[test]
fn values_of_all_sizes_and_alignments() {
    #[derive(Clone, PartialEq, Debug)]
    #[repr(align(128))]
    struct Aligned(u8);
    #[derive(Clone, PartialEq, Debug)]
    #[repr(align(131_072))]
    struct Huge(u8);
    #[derive(Clone, PartialEq, Debug)]
    #[repr(align(256))]
    struct Nothing;
    const MANY: usize = if cfg!(miri) { 8 } else { 40 };
    fn check<T: Clone + PartialEq + Debug>(value: &T) {
        let left = left_by(|| {
            let slab = Slab::new();
            let mut slots: Vec<Slot<T>> = (0..MANY).map(|_| slab.insert(value.clone())).collect();
            let addresses: HashSet<usize> = slots.iter().map(|slot| slot.as_ptr().addr()).collect();
            assert_eq!(addresses.len(), MANY, "even zero-size values have a cell each");
            assert!(addresses.iter().all(|value| value.is_multiple_of(align_of::<T>())));
            let stamped = slots.pop().unwrap().leak_stamped();
            let key = slots.pop().unwrap().leak();
            assert_ne!(key, stamped.key());
            slots.truncate(MANY / 2);
            slab.shrink_to_fit();
            assert_eq!(slab.with(key, |found| found.clone()).as_ref(), Some(value));
            assert_eq!(slab.reclaim_stamped(stamped).as_deref(), Some(value));
            drop(slab);
            assert!(slots.iter().all(|slot| **slot == *value));
        });
        assert_eq!(left, (0, 0));
        let bounded = Bounded::with_capacity(5);
        let slots: Vec<Slot<T>> = (0..5).map(|_| bounded.insert(value.clone())).collect();
        assert!(bounded.try_insert(value.clone()).is_err_and(|full| full.into_inner() == *value));
        drop(slots);
        assert!(bounded.is_empty());
    }
    // In a debug build each function that a value passes through reserves stack space for it.
    let stack = std::thread::Builder::new().stack_size(64 << 20);
    let all = stack.spawn(|| {
        check(&());
        check(&Nothing);
        check(&1_u8);
        check(&[1_u8; 7]);
        check(&Aligned(1));
        check(&Huge(2));
        check(&[3_u8; 64 * 1024]);
        check(&[4_u64; 128]);
    });
    all.unwrap().join().unwrap();
}

/// Cells are pushed to the free stack and popped in any order, around the lengths at which it grows.
#[test]
fn each_vacant_cell_is_reused_once() {
    for chunk in if cfg!(miri) { vec![1, 65] } else { vec![1, 2, 63, 64, 65, 1000] } {
        let slab = Slab::builder().chunk_capacity(chunk).build();
        let mut slots: Vec<Slot<Box<usize>>> = Vec::new();
        for round in 1..if cfg!(miri) { 6 } else { 40_usize } {
            slots.extend((0..round * 7).map(|n| slab.insert(Box::new(n))));
            let addresses: HashSet<*const Box<usize>> = slots.iter().map(Slot::as_ptr).collect();
            assert_eq!((addresses.len(), slab.len()), (slots.len(), slots.len()));
            let mut index = round;
            slots.retain(|_| {
                index += 1;
                index % 3 == 0
            });
            if round % 5 == 0 {
                slab.shrink_to_fit();
            }
            if round % 13 == 0 {
                slab.reserve(round * 10);
            }
            assert_eq!(slab.len(), slots.len());
        }
        slots.extend((0..70).map(|n| slab.insert(Box::new(n))));
        slots.clear();
        slab.shrink_to_fit();
        assert_eq!((slab.len(), slab.capacity()), (0, 0));
    }
}

/// The macro's output does not depend on the names in scope.
mod names {
    #![allow(dead_code, non_camel_case_types, non_upper_case_globals, reason = "names to be confused with")]

    struct Option;
    struct Slot;
    struct Result;
    mod std {}
    mod core {}
    mod dwell {}
    const LOCAL: usize = 3;
    const Module: usize = 4;
    struct Value([u8; LOCAL]);

    ::dwell::slab! {
        /// Documented.
        #[cfg(all())]
        mod values: Value, bounded(Module);
    }
    ::dwell::slab! {
        /// The attributes hold for all that the macro generates.
        #[cfg(any())]
        #[doc(hidden)]
        pub mod left_out: Missing;
    }
    ::dwell::slab!(pub(crate) mod arrays: [u8; LOCAL]);
    ::dwell::slab!(pub(super) mod above: self::inner::Named<[u8; LOCAL]>);
    ::dwell::slab!(pub(in crate::names) mod within: Value);
    mod numbers {
        struct usize;
        ::dwell::slab!(pub mod bytes: u8);
    }
    mod inner {
        pub(crate) struct Named<T>(pub(crate) T);
        ::dwell::slab!(pub(crate) mod texts: &'static str);
        ::dwell::slab!(pub(self) mod own: Named<u8>);
        mod innermost {
            pub(in super::super) struct Hidden(pub(in super::super) u8);
            ::dwell::slab!(pub(in super::super) mod above: Hidden);
        }
        pub(super) use innermost::{Hidden, above};

        pub(super) fn insert_own() -> u8 {
            own::insert(Named(8)).0
        }
    }

    #[test]
    fn macro_output_ignores_names_in_scope() {
        let four: ::std::vec::Vec<values::Slot> = (0..4).map(|n| values::insert(Value([n; LOCAL]))).collect();
        assert!(values::try_insert(Value([0; 3])).is_err() && four[3].0[0] == 3);
        assert_eq!(*arrays::insert([1, 2, 3]), [1, 2, 3]);
        assert_eq!(above::insert(inner::Named([5; 3])).0, [5; 3]);
        assert_eq!(within::insert(Value([6; 3])).0, [6; 3]);
        assert_eq!((inner::insert_own(), inner::above::insert(inner::Hidden(9)).0), (8, 9));
        let key = inner::texts::insert("a").leak();
        assert_eq!(inner::texts::leaked().next(), ::core::option::Option::Some(key));
        inner::texts::with(key, |text| *text = "b");
        assert_eq!(*inner::texts::reclaim(key).unwrap(), "b");
        enum Here {
            A,
        }
        ::dwell::slab!(mod here: Here);
        assert!(matches!(*here::insert(Here::A), Here::A));
    }
}
