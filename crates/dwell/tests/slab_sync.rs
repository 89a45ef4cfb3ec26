//! Tests of the public API of `slab::sync`, and attempts to break it with safe code. Threads meet at barriers, so that
//! races are likely to show.
#![expect(clippy::large_stack_arrays, reason = "values too large for every size class")]

mod common;

use dwell::slab::sync::{Slab, Slot, drop_all};
use dwell::slab::{Pool, Pooled};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;

/// The number of rounds in tests with racing threads.
const ROUNDS: usize = if cfg!(miri) { 3 } else { 200 };

/// Enough values for several chunks, or for one under Miri.
const MANY: usize = if cfg!(miri) { 40 } else { 10_000 };

/// A value that counts its drops on any thread.
struct Counted(Arc<AtomicUsize>, usize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn sizes_and_auto_traits() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    send::<Slot<u8>>();
    sync::<Slot<u8>>();
    send::<Slot<Cell<u8>>>(); // `Cell` is `Send`
    send::<Pooled<dyn Fn() + Send>>();
    sync::<Pooled<dyn Fn() + Sync>>();
    assert_eq!(size_of::<Slot<[u64; 8]>>(), 8);
    assert_eq!(size_of::<Option<Slot<[u64; 8]>>>(), 8);
    assert_eq!(size_of::<Option<Pooled<dyn Fn()>>>(), 16);
}

/// The owner pointer in a block's header was derived from a reference, and the last slot freed the slab through it:
/// undefined behaviour, which Miri reports.
#[test]
fn last_slot_frees_the_slab_with_the_original_pointer() {
    let slab = Slab::new();
    let slot = slab.insert(String::from("last"));
    drop(slab);
    drop(slot);
    let slab = Slab::new();
    let (mine, theirs) = (slab.insert(String::from("first")), slab.insert(String::from("last")));
    drop(slab);
    drop(mine);
    thread::spawn(move || drop(theirs)).join().unwrap();
}

/// The same in a pool.
#[test]
fn last_slot_frees_the_pool_with_the_original_pointer() {
    let pool = Pool::new();
    let slot = pool.insert(String::from("last"));
    drop(pool);
    drop(slot);
    let pool = Pool::new();
    let (small, large) = (pool.insert(1_u8), pool.insert([1_u8; 20_000]));
    drop(pool);
    thread::spawn(move || drop((small, large))).join().unwrap();
}

#[test]
fn slabs_and_slots_are_unwind_safe() {
    fn unwind_safe<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    unwind_safe::<Slab<u64>>();
    unwind_safe::<Slot<u64>>();
    unwind_safe::<Pool>();
    unwind_safe::<dwell::slab::Slab<u64>>();
    unwind_safe::<dwell::slab::Bounded<u64>>();
    unwind_safe::<dwell::slab::Pool>();
    unwind_safe::<dwell::slab::Pooled<u64>>();
    unwind_safe::<dwell::slab::SlabMap<u64>>();
    dwell::slab!(mod numbers: u64);
    unwind_safe::<numbers::Slot>();
}

#[test]
fn cells_freed_by_other_threads_are_reused() {
    let slab = Slab::new();
    let first = slab.insert([7_u64; 256]);
    let address = first.as_ptr().addr();
    let capacity = slab.capacity();
    thread::spawn(move || drop(first)).join().unwrap();
    assert!(slab.is_empty());
    assert_eq!(slab.insert([8; 256]).as_ptr().addr(), address);
    // All cells are freed by another thread and reused, also when the owner does not look for freed cells.
    for _ in 0..if cfg!(miri) { 1 } else { 3 } {
        let slots: Vec<_> = (0..capacity as u64).map(|n| slab.insert([n; 256])).collect();
        assert_eq!((slab.len(), slab.capacity()), (capacity, capacity));
        thread::spawn(move || drop(slots)).join().unwrap();
    }
}

#[test]
fn threads_free_slots_while_the_owner_inserts() {
    const THREADS: usize = 4;
    let dropped = Arc::new(AtomicUsize::new(0));
    {
        let slab = Slab::new();
        let barrier = Arc::new(Barrier::new(THREADS + 1));
        thread::scope(|scope| {
            let senders: Vec<_> = (0..THREADS)
                .map(|n| {
                    let (send, receive) = mpsc::channel::<Vec<Slot<Counted>>>();
                    let barrier = barrier.clone();
                    scope.spawn(move || {
                        barrier.wait();
                        for slots in receive {
                            assert!(slots.iter().all(|slot| slot.1 % THREADS == n));
                            if slots.len() % 2 == 0 { drop_all(slots) } else { drop(slots) }
                        }
                    });
                    send
                })
                .collect();
            barrier.wait();
            for round in 0..ROUNDS {
                for (n, sender) in senders.iter().enumerate() {
                    let slots = (0..=round % 8).map(|i| slab.insert(Counted(dropped.clone(), n + i * THREADS)));
                    sender.send(slots.collect()).unwrap();
                    drop(slab.insert(Counted(dropped.clone(), 0)));
                }
            }
        });
        assert!(slab.is_empty());
        let made: usize = (0..ROUNDS).map(|round| THREADS * (2 + round % 8)).sum();
        assert_eq!(dropped.load(Ordering::Relaxed), made);
    }
}

/// The slab, slots on its own thread and slots on two other threads are dropped at the same time.
#[test]
fn teardown_in_any_order_drops_everything_once() {
    for round in 0..ROUNDS {
        let dropped = Arc::new(AtomicUsize::new(0));
        let slab = Slab::new();
        let take = |count: usize| -> Vec<Slot<Counted>> {
            (0..count).map(|n| slab.insert(Counted(dropped.clone(), n))).collect()
        };
        let (mine, one, two) = (take(3), take(1 + round % 3), take(100));
        let all = mine.len() + one.len() + two.len();
        let barrier = Arc::new(Barrier::new(3));
        let threads = [(one, false), (two, round % 2 == 0)].map(|(slots, together)| {
            let barrier = barrier.clone();
            thread::spawn(move || {
                barrier.wait();
                if together { drop_all(slots) } else { drop(slots) }
            })
        });
        barrier.wait();
        if round % 4 < 2 {
            drop(mine);
            drop(slab);
        } else {
            drop(slab);
            drop(mine);
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(dropped.load(Ordering::Relaxed), all);
    }
}

#[test]
fn last_slot_frees_the_memory_on_any_thread() {
    // The test allocator counts per thread, so everything here happens on one thread.
    let left = common::left_by(|| {
        let slab = Slab::new();
        let (one, two) = (slab.insert([1_u64; 8]), slab.insert([2; 8]));
        drop(slab);
        assert_eq!(*one, [1; 8]);
        drop(one);
        drop(two);
    });
    assert_eq!(left, (0, 0));
    // Allocated on another thread and freed on this one: both counts must match.
    let (slot, allocated) = thread::spawn(|| {
        let mut kept = None;
        let allocated = common::left_by(|| {
            let slab = Slab::new();
            kept = Some(slab.insert([3_u64; 8]));
        });
        (kept.unwrap(), allocated)
    })
    .join()
    .unwrap();
    assert!(allocated.0 > 0);
    assert_eq!(*slot, [3; 8]);
    assert_eq!(common::left_by(|| drop(slot)), (-allocated.0, -allocated.1));
}

#[test]
fn slot_outlives_the_thread_of_its_slab() {
    let slots = thread::spawn(|| {
        let slab = Slab::new();
        let slots: Vec<_> = (0..MANY).map(|n| slab.insert(vec![n; 3])).collect();
        slots
    })
    .join()
    .unwrap();
    assert!(slots.iter().enumerate().all(|(n, slot)| slot[2] == n));
    // A later thread with its own slab is not mistaken for the thread that ended.
    thread::spawn(move || {
        let own = Slab::new();
        let mine = own.insert(vec![0]);
        drop_all(slots);
        assert_eq!(own.len(), 1);
        drop(mine);
    })
    .join()
    .unwrap();
}

#[test]
fn slots_in_thread_locals_are_dropped_at_thread_exit() {
    thread_local! {
        static KEPT: Cell<Option<Slot<Counted>>> = const { Cell::new(None) };
        static SLAB: Slab<Counted> = const { Slab::new() };
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    for slab_first in [false, true] {
        let value = Counted(dropped.clone(), 0);
        thread::spawn(move || {
            if slab_first {
                SLAB.with(Slab::len);
                KEPT.with(|_| ());
            } else {
                KEPT.with(|_| ());
            }
            KEPT.set(Some(SLAB.with(|slab| slab.insert(value))));
        })
        .join()
        .unwrap();
    }
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}

#[test]
fn forgotten_slot_keeps_its_memory() {
    let slab = Slab::new();
    // To the slab this is a forgotten slot. It is dropped at the end of the test, so that leak checkers report nothing.
    let slot = ManuallyDrop::new(slab.insert(1_u64));
    drop(slab);
    assert_eq!(**slot, 1);
    thread::spawn(move || drop(ManuallyDrop::into_inner(slot))).join().unwrap();
}

/// A value that counts its drop and then panics if the flag is set.
struct Panics(Arc<AtomicUsize>, bool);

impl Drop for Panics {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        if self.1 && !thread::panicking() {
            panic!("intentional panic in drop");
        }
    }
}

#[test]
fn panic_in_drop_frees_the_cell() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let slab = Slab::new();
    let slots: Vec<_> = (0..10).map(|n| slab.insert(Panics(dropped.clone(), n == 4))).collect();
    let there = thread::spawn(move || common::panics(|| drop_all(slots)));
    assert!(there.join().unwrap());
    // Unwinding drops the slots that `drop_all` had not reached.
    assert_eq!((slab.len(), dropped.load(Ordering::Relaxed)), (0, 10));
    let slot = slab.insert(Panics(dropped.clone(), true));
    assert!(thread::spawn(move || common::panics(|| drop(slot))).join().unwrap());
    let slot = slab.insert(Panics(dropped.clone(), true));
    assert!(common::panics(|| drop(slot)));
    assert!(common::panics(|| drop(slab.insert_with(|| panic!("no value")))));
    assert!(slab.is_empty());
}

#[test]
fn drop_all_accepts_slots_of_several_slabs() {
    let (here, there) = (Slab::new(), Slab::new());
    let (send, receive) = mpsc::channel();
    let other = thread::spawn(move || {
        let slab = Slab::new();
        send.send((0..100).map(|n| slab.insert(n)).collect::<Vec<Slot<usize>>>()).unwrap();
        slab.is_empty() // keeps the slab alive until the slots were sent
    });
    let foreign: Vec<_> = receive.recv().unwrap();
    other.join().unwrap();
    let mut mixed = Vec::new();
    for (n, slot) in foreign.into_iter().enumerate() {
        mixed.push(slot);
        mixed.push(here.insert(n));
        mixed.push(here.insert(n));
        if n % 3 == 0 {
            mixed.push(there.insert(n));
        }
    }
    drop_all(mixed);
    assert_eq!((here.len(), there.len()), (0, 0));
    drop_all(None::<Slot<u8>>);
}

#[test]
fn drop_re_enters_the_slab() {
    /// A value whose destructor drops another slot and inserts into the slab.
    struct Node(Option<Slot<Node>>, *const Slab<Node>);
    // SAFETY: the pointer to the slab is null in every node that is sent to another thread.
    unsafe impl Send for Node {}
    impl Drop for Node {
        fn drop(&mut self) {
            drop(self.0.take());
            // SAFETY: the pointer is null on other threads, and on this one the slab lives until the end of the test.
            if let Some(slab) = unsafe { self.1.as_ref() } {
                drop(slab.insert(Node(None, std::ptr::null())));
            }
        }
    }
    let slab = Slab::new();
    let mut list = None;
    for _ in 0..MANY / 10 {
        list = Some(slab.insert(Node(list, &raw const slab)));
    }
    drop(list);
    assert!(slab.is_empty());
    let mut list = None;
    for _ in 0..MANY / 10 {
        list = Some(slab.insert(Node(list, std::ptr::null())));
    }
    thread::spawn(move || drop(list)).join().unwrap();
    assert!(slab.is_empty());
}

#[test]
fn values_of_all_sizes_and_alignments() {
    #[repr(align(32))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Aligned(u8);
    #[repr(align(4096))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Page(u8);
    fn check<T: Send + Clone + PartialEq + std::fmt::Debug + 'static>(value: &T) {
        let slab = Slab::new();
        for _ in 0..3 {
            let slots: Vec<_> = (0..40).map(|_| slab.insert(value.clone())).collect();
            assert!(slots.iter().all(|slot| slot.as_ptr().addr() % align_of::<T>() == 0));
            let value = value.clone();
            thread::spawn(move || assert!(slots.into_iter().all(|slot| slot.into_inner() == value))).join().unwrap();
        }
        assert!(slab.is_empty());
        slab.shrink_to_fit();
        assert_eq!(slab.capacity(), 0);
    }
    check(&());
    check(&1_u8);
    check(&Aligned(1));
    check(&Page(1));
    check(&[1_u8; 4096]);
    check(&vec![1; 3]);
    check(&Box::new([1_u8; 64 * 1024]));
}

#[test]
fn failed_allocation_returns_the_value() {
    for successes in 0..5 {
        let slab = common::failing_after(successes, || Slab::<String>::try_with_capacity(10));
        if let Ok(slab) = slab {
            drop(slab.insert("not full".into()));
            continue;
        }
        assert!(successes < 4, "four blocks are enough");
    }
    let slab = Slab::new();
    let error = common::failing_after(0, || slab.try_insert(String::new())).unwrap_err();
    assert_eq!(error.into_inner(), "");
    drop(slab.try_insert("there is".to_owned()).unwrap());
}

#[test]
fn pool_slots_of_all_types_can_be_sent() {
    let pool = Pool::new();
    for _ in 0..ROUNDS {
        type Number = Pooled<dyn Fn() -> usize + Send>;
        let number = |n: usize| -> Number { pool.insert(move || n).coerce(|view| view as _) };
        let numbers: Vec<Number> = (0..50).map(number).collect();
        let texts: Vec<Pooled<String>> = (0..50).map(|n| pool.insert(n.to_string())).collect();
        let pages: Vec<Pooled<[u8; 20_000]>> = (0..2).map(|n| pool.insert([n; 20_000])).collect();
        thread::spawn(move || {
            assert!(numbers.iter().enumerate().all(|(n, number)| number() == n));
            assert_eq!((&**texts[7], pages[1][19_999]), ("7", 1));
        })
        .join()
        .unwrap();
    }
    let last = pool.insert(5_u64);
    drop(pool);
    thread::spawn(move || assert_eq!(*last, 5)).join().unwrap();
}

#[test]
fn unwinding_thread_drops_its_slots() {
    let slab = Slab::new();
    let slots: Vec<_> = (0..100).map(|n| slab.insert(n)).collect();
    let result = thread::spawn(move || {
        let _slots = slots;
        catch_unwind(AssertUnwindSafe(|| common::panics(|| panic!("expected")))).unwrap()
    });
    assert!(result.join().unwrap());
    assert!(slab.is_empty());
}
