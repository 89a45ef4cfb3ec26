//! Attacks by wrong implementations of `Module`, the trait of the modules that `slab!` generates. They may leak memory, so Miri
//! does not check this file for leaks.
#![cfg(feature = "std")]

use dwell::slab::Slot;
use dwell::slab::thread::{self as module, PerThread};
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::LocalKey;

/// A `Module` implementation that returns a different slab on each call cannot make safe code free live memory.
#[test]
fn lying_module_impl_frees_no_live_memory() {
    thread_local! {
        static A: module::ThreadSlab<Box<u64>> = const { module::ThreadSlab::new(100_000) };
        static B: module::ThreadSlab<Box<u64>> = const { module::ThreadSlab::new(100_000) };
        static TURN: Cell<u32> = const { Cell::new(1) };
    }
    struct LyingModule;
    impl module::Module for LyingModule {
        type Value = Box<u64>;
        const LIMIT: usize = 100_000;
        fn local() -> &'static LocalKey<module::ThreadSlab<Box<u64>>> {
            let turn = TURN.with(|turn| {
                turn.set(turn.get().wrapping_mul(1_103_515_245).wrapping_add(12345));
                turn.get()
            });
            if turn >> 16 & 1 == 0 { &A } else { &B }
        }
    }
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut slots = Vec::new();
        for round in 0..if cfg!(miri) { 4_u64 } else { 50 } {
            slots.extend(
                (0..if cfg!(miri) { 30 } else { 500 })
                    .map(|n| (n ^ round, module::insert::<LyingModule>(Box::new(n ^ round)))),
            );
            assert!(slots.iter().all(|(n, slot)| ***slot == *n), "values overlap");
            let half = slots.len() / 2;
            slots.drain(..half);
            module::shrink_to_fit::<LyingModule>();
            let _ = module::shutdown::<LyingModule>();
        }
        for (n, slot) in slots {
            let key = slot.leak();
            // `reclaim` picks one of the two slabs at random, so it is repeated until it picks the owner.
            let found = (0..64).find_map(|_| module::reclaim::<LyingModule>(key));
            assert!(found.is_some_and(|slot| **slot < 600 && n < 600));
        }
        send.send(()).unwrap();
        // The thread never ends, so leaked memory stays reachable for leak checkers.
        loop {
            std::thread::park();
        }
    });
    receive.recv().unwrap();
}

/// The initialiser of a `Module`'s thread-local variable uses the module, so std initialises the variable twice and
/// overwrites the slab that the first slots are in. Their chunks have the same owner as those of the second slab.
#[test]
fn module_initialised_by_itself_frees_no_live_memory() {
    type Bytes = MaybeUninit<module::ThreadSlab<Box<u64>>>;
    thread_local! {
        static SLAB: module::ThreadSlab<Box<u64>> = {
            if !NESTED.replace(true) {
                let slots = (0..30).map(|n| module::insert::<Recursive>(Box::new(n))).collect();
                FIRST.with(|first| first.set(slots));
                // Leak checkers find the memory of the overwritten slab through this copy of its bytes.
                let copy = SLAB.with(|slab| {
                    let bytes = ptr::from_ref(slab).cast::<Bytes>();
                    // SAFETY: the pointer is that of a live slab. The copy is never used as a slab.
                    Box::new(unsafe { bytes.read() })
                });
                COPY.with(|kept| kept.set(Some(copy)));
            }
            module::ThreadSlab::new(100_000)
        };
        static NESTED: Cell<bool> = const { Cell::new(false) };
        static FIRST: Cell<Vec<Slot<Box<u64>, PerThread<Recursive>>>> = const { Cell::new(Vec::new()) };
        static COPY: Cell<Option<Box<Bytes>>> = const { Cell::new(None) };
    }
    struct Recursive;
    impl module::Module for Recursive {
        type Value = Box<u64>;
        const LIMIT: usize = 100_000;
        fn local() -> &'static LocalKey<module::ThreadSlab<Box<u64>>> {
            &SLAB
        }
    }
    let (send, receive) = channel();
    std::thread::spawn(move || {
        drop(module::insert::<Recursive>(Box::new(7)));
        let mut first = FIRST.with(Cell::take);
        assert_eq!(first.drain(10..).map(|slot| **slot).sum::<u64>(), (10..30).sum());
        let mut slots: Vec<_> = (0..50).map(|n| module::insert::<Recursive>(Box::new(n))).collect();
        let keys: Vec<_> = slots.drain(..10).map(Slot::leak).collect();
        for _ in 0..3 {
            slots.truncate(slots.len() - 10);
            module::shrink_to_fit::<Recursive>();
            let _ = module::shutdown::<Recursive>();
            assert!(
                first.iter().zip(0..).chain(slots.iter().zip(10..)).all(|(slot, n)| ***slot == n),
                "values overlap"
            );
        }
        for key in keys {
            drop(module::reclaim::<Recursive>(key));
        }
        drop((first, slots));
        send.send(()).unwrap();
        // The thread never ends, so leaked memory stays reachable for leak checkers.
        loop {
            std::thread::park();
        }
    });
    receive.recv().unwrap();
}

/// A `Module` that returns one slab when each of its two slabs is torn down: the slab is torn down twice. The last slot
/// still frees its memory.
#[test]
fn slab_torn_down_twice_is_freed_by_its_last_slot() {
    thread_local! {
        // Destroyed after the list of slabs to tear down, because it is initialised before.
        static KEPT: Kept = const { Kept(Cell::new(Vec::new())) };
        static ONE: module::ThreadSlab<Box<u64>> = const { module::ThreadSlab::new(1000) };
        static OTHER: module::ThreadSlab<Box<u64>> = const { module::ThreadSlab::new(1000) };
        static LOCAL: Cell<&'static LocalKey<module::ThreadSlab<Box<u64>>>> = const { Cell::new(&ONE) };
    }
    struct TwoSlabs;
    impl module::Module for TwoSlabs {
        type Value = Box<u64>;
        const LIMIT: usize = 1000;
        fn local() -> &'static LocalKey<module::ThreadSlab<Box<u64>>> {
            LOCAL.get()
        }
    }
    struct Kept(Cell<Vec<Slot<Box<u64>, PerThread<TwoSlabs>>>>);
    impl Drop for Kept {
        fn drop(&mut self) {
            let mut slots = self.0.take();
            assert_eq!((slots.len(), module::len::<TwoSlabs>()), (20, 20));
            slots.truncate(10);
            let again = module::insert::<TwoSlabs>(Box::new(7)); // takes the slow path
            drop(again);
            assert_eq!(slots.iter().map(|slot| ***slot).sum::<u64>(), (0..10).sum());
            assert_ne!(module::capacity::<TwoSlabs>(), 0);
            drop(slots);
            CAPACITY.store(module::capacity::<TwoSlabs>(), Ordering::Relaxed);
        }
    }
    static CAPACITY: AtomicUsize = AtomicUsize::new(usize::MAX);
    std::thread::spawn(|| {
        KEPT.with(|kept| kept.0.set(Vec::new()));
        let slots = (0..20).map(|n| module::insert::<TwoSlabs>(Box::new(n))).collect();
        KEPT.with(|kept| kept.0.set(slots));
        LOCAL.set(&OTHER);
        module::reserve::<TwoSlabs>(0); // has `OTHER` torn down at the thread's end too
        LOCAL.set(&ONE);
    })
    .join()
    .unwrap();
    assert_eq!(CAPACITY.load(Ordering::Relaxed), 0);
}
