//! Attempts to break `Sparse` with safe code, under an allocator that checks every block.

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::Sparse;
use dwell::sparse::{DefaultCell, DefaultRef, IsEmpty};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Barrier, Mutex};

/// An optional spy, which is empty without one.
#[derive(Debug, Default, Clone)]
struct Watched<'a>(Option<Spy<'a>>);

impl IsEmpty for Watched<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

fn watched(counts: &Counts, value: u32) -> Sparse<Watched<'_>> {
    Sparse::new(Watched(Some(counts.spy(value))))
}

#[test]
fn every_value_is_dropped_once_and_every_block_freed() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut one = watched(&counts, 1);
        let mut two = one.clone();
        two.clone_from(&one);
        one.edit(|w| w.0 = Some(counts.spy(3)));
        one.edit(|w| w.0 = None);
        one.get_mut_or_default().0 = Some(counts.spy(4));
        one.clear();
        let three = two.try_clone().unwrap();
        let boxed = three.into_box().unwrap();
        let four = Sparse::from_box(boxed).into_inner();
        drop(four);
        two = watched(&counts, 5);
        drop(two);
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn forgotten_sparse_leaks_only_its_value() {
    let counts = Counts::default();
    // `ManuallyDrop` forgets the value like `mem::forget`. It is dropped at the end, so that leak checkers report
    // nothing.
    let mut forgotten = None;
    let left = left_by(|| forgotten = Some(ManuallyDrop::new(watched(&counts, 1))));
    assert_eq!(left, (1, size_of::<Watched<'_>>().cast_signed()));
    assert_eq!((counts.made.get(), counts.dropped.get()), (1, 0));
    drop(forgotten.map(ManuallyDrop::into_inner));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn panic_in_drop_frees_the_block() {
    // The operations that drop the value of a `Sparse`.
    let ways: [fn(Sparse<Watched<'_>>); 6] = [
        |s| drop(s),
        |mut s| s.clear(),
        |mut s| drop(std::mem::replace(&mut s, Sparse::empty())),
        |mut s| s.edit(|w| w.0 = None),
        |s| drop(s.into_inner()),
        |s| drop(s.into_box()),
    ];
    for way in ways {
        let counts = Counts::default();
        counts.panic_at_drop.set(1);
        let left = left_by(|| assert!(panics(|| way(watched(&counts, 1)))));
        assert_eq!(left.1, 0, "all bytes freed");
        assert!(counts.balanced(), "{counts:?}");
    }
}

#[test]
fn panic_in_drop_during_compact_leaves_it_empty() {
    struct PanicsInDrop;
    impl IsEmpty for PanicsInDrop {
        fn is_empty(&self) -> bool {
            true
        }
    }
    impl Default for PanicsInDrop {
        fn default() -> Self {
            PanicsInDrop
        }
    }
    impl Drop for PanicsInDrop {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("in drop");
            }
        }
    }

    let mut loud = Sparse::<PanicsInDrop>::empty();
    loud.get_mut_or_default();
    assert!(panics(|| loud.compact()));
    assert!(loud.get().is_none());
}

#[test]
fn panic_in_clone_leaves_values_unchanged() {
    let counts = Counts::default();
    let left = left_by(|| {
        let source = watched(&counts, 1);
        let mut full = watched(&counts, 2);
        let mut empty = Sparse::<Watched<'_>>::empty();
        counts.panic_at_clone.set(1);
        assert!(panics(|| drop(source.clone())));
        counts.panic_at_clone.set(2);
        assert!(panics(|| drop(source.try_clone())));
        counts.panic_at_clone.set(3);
        assert!(panics(|| full.clone_from(&source)));
        counts.panic_at_clone.set(4);
        assert!(panics(|| empty.clone_from(&source)));
        assert!(empty.get().is_none());
        assert_eq!(full.get().unwrap().0.as_ref().unwrap().value, 2);
    });
    assert_eq!(left.1, 0);
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn panic_in_is_empty_or_default_loses_nothing() {
    thread_local!(static PANIC: Cell<bool> = const { Cell::new(false) });
    #[derive(Debug)]
    struct PanicsOnDemand(u8);
    impl IsEmpty for PanicsOnDemand {
        fn is_empty(&self) -> bool {
            assert!(!PANIC.get(), "in is_empty");
            self.0 == 0
        }
    }
    impl Default for PanicsOnDemand {
        fn default() -> Self {
            assert!(!PANIC.get(), "in default");
            PanicsOnDemand(0)
        }
    }

    let mut full = Sparse::new(PanicsOnDemand(1));
    let mut empty = Sparse::<PanicsOnDemand>::empty();
    PANIC.set(true);
    let left = left_by(|| {
        assert!(panics(|| full.compact()));
        assert!(panics(|| full.edit(|m| m.0 = 2)));
        assert!(panics(|| {
            empty.get_mut_or_default();
        }));
        assert!(panics(|| empty.edit(|m| m.0 = 1)));
        assert!(panics(|| drop(Sparse::new(PanicsOnDemand(3)))));
        assert!(panics(|| drop(Sparse::from_box(Box::new(PanicsOnDemand(3))))));
    });
    PANIC.set(false);
    assert_eq!(left.1, 0);
    assert_eq!(full.get().unwrap().0, 2);
    assert!(empty.get().is_none());
}

#[test]
fn is_empty_may_re_enter() {
    // `is_empty` of the stored value uses other `Sparse` values of the same type, and the type's default.
    #[derive(Default)]
    struct ReEnters {
        value: u8,
        inner: Sparse<ReEnters>,
    }
    impl IsEmpty for ReEnters {
        fn is_empty(&self) -> bool {
            let other = Sparse::<ReEnters>::empty();
            self.value == 0 && self.inner.is_empty() && other.get().is_none() && other.value == 0
        }
    }
    impl DefaultRef for ReEnters {
        fn default_ref<'a>() -> &'a Self {
            static DEFAULT: DefaultCell<ReEnters> = DefaultCell::new();
            DEFAULT.get()
        }
    }

    let mut nosy = Sparse::<ReEnters>::empty();
    nosy.edit(|n| n.inner.edit(|i| i.value = 1));
    assert_eq!(nosy.inner.value, 1);
    nosy.edit(|n| n.inner.edit(|i| i.value = 0));
    assert!(nosy.get().is_none());
}

#[test]
fn zero_sized_values_are_stored_and_dropped() {
    thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });
    #[derive(Default)]
    struct Marker;
    impl IsEmpty for Marker {
        fn is_empty(&self) -> bool {
            false
        }
    }
    impl Drop for Marker {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }

    let left = left_by(|| {
        let sparse = Sparse::new(Marker);
        assert!(sparse.get().is_some());
        drop(sparse);
        assert_eq!(DROPS.get(), 1);

        // A box of a zero-sized type may have any address, also the sentinel's.
        // SAFETY: a non-null, aligned pointer is a valid box of a zero-sized type.
        let odd = unsafe { Box::from_raw(std::ptr::without_provenance_mut::<Marker>(usize::MAX)) };
        let sparse = Sparse::from_box(odd);
        assert!(sparse.get().is_some(), "not taken for empty");
        drop(sparse.into_box());
        assert_eq!(DROPS.get(), 2);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn over_aligned_values() {
    #[derive(Debug, Default, Clone, Copy, PartialEq)]
    #[repr(align(4096))]
    struct Page(u8);
    #[derive(Debug, Default, Clone, Copy, PartialEq)]
    #[repr(align(256))]
    struct Nothing;
    impl IsEmpty for Page {
        fn is_empty(&self) -> bool {
            self.0 == 0
        }
    }
    impl IsEmpty for Nothing {
        fn is_empty(&self) -> bool {
            false
        }
    }
    impl DefaultRef for Page {
        fn default_ref<'a>() -> &'a Self {
            static DEFAULT: DefaultCell<Page> = DefaultCell::new();
            DEFAULT.get()
        }
    }

    let left = left_by(|| {
        let page = Sparse::new(Page(7));
        assert_eq!((&raw const *page).addr() % 4096, 0);
        assert_eq!(page.clone().into_inner(), Page(7));
        let nothing = Sparse::new(Nothing);
        assert_eq!((&raw const *nothing.get().unwrap()).addr() % 256, 0);
        assert_eq!(nothing.into_inner(), Nothing);
    });
    assert_eq!(left, (0, 0));
    assert_eq!((&raw const *Sparse::<Page>::empty()).addr() % 4096, 0, "the default is aligned too");
}

#[test]
fn failed_allocation_returns_the_value() {
    let counts = Counts::default();
    let left = left_by(|| {
        let spy = Watched(Some(counts.spy(1)));
        let error = failing_after(0, || Sparse::try_new(spy)).unwrap_err();
        assert_eq!(error.layout(), std::alloc::Layout::new::<Watched<'_>>());
        assert!(error.to_string().contains("16 bytes"), "{error}");
        assert_eq!(error.into_inner().0.unwrap().value, 1);

        let full = watched(&counts, 2);
        let error = failing_after(0, || full.try_clone()).unwrap_err();
        assert_eq!(error.into_inner().0.unwrap().value, 2);

        let mut empty = Sparse::<Watched<'_>>::empty();
        let spy = counts.spy(3);
        let error = failing_after(0, || {
            empty.try_edit(|w| {
                w.0 = Some(spy);
                "said"
            })
        })
        .unwrap_err();
        let (value, result) = error.into_inner();
        assert_eq!((value.0.unwrap().value, result), (3, "said"));
        assert!(failing_after(0, || empty.try_get_mut_or_default().is_err()));
        assert!(empty.get().is_none());
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn empty_values_need_no_allocation() {
    let mut full = Sparse::new(vec![1]);
    failing_after(0, || {
        assert!(Sparse::try_new(0_u64).is_ok());
        assert!(Sparse::<String>::empty().clone().get().is_none());
        let mut empty = Sparse::<Vec<u8>>::default();
        assert_eq!(empty.edit(|v| v.len()), 0);
        assert_eq!(empty.len(), 0); // the default of a std type is a constant
        assert!(full.try_get_mut_or_default().is_ok());
        assert_eq!(full.try_edit(Vec::pop).unwrap(), Some(1));
    });
    assert!(full.get().is_none());
}

/// An inconsistent `IsEmpty` may lose values, but memory stays safe.
#[test]
fn inconsistent_is_empty_is_memory_safe() {
    thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
    #[derive(Debug, Default, Clone, PartialEq)]
    struct InconsistentIsEmpty(String);
    impl IsEmpty for InconsistentIsEmpty {
        fn is_empty(&self) -> bool {
            CALLS.set(CALLS.get() + 1);
            CALLS.get().is_multiple_of(2)
        }
    }

    let left = left_by(|| {
        for round in (0..100).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let mut liar = Sparse::new(InconsistentIsEmpty("x".repeat(round)));
            liar.compact();
            liar.edit(|l| l.0.push('y'));
            let other: Sparse<InconsistentIsEmpty> = liar.into_box().into();
            let _ = other == Sparse::empty();
            drop(other.into_inner());
        }
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn can_be_sent_and_shared_between_threads() {
    const ROUNDS: usize = if cfg!(miri) { 4 } else { 100 };
    let shared = Arc::new((Sparse::new(String::from("shared")), Mutex::new(Sparse::<Vec<u32>>::empty())));
    let barrier = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let (shared, barrier) = (Arc::clone(&shared), Arc::clone(&barrier));
            std::thread::spawn(move || {
                barrier.wait();
                for _ in 0..ROUNDS {
                    assert_eq!(shared.0.len(), 6);
                    shared.1.lock().unwrap().edit(|v| v.push(n));
                }
                Sparse::new(n)
            })
        })
        .collect();
    let sum: u32 = threads.into_iter().map(|t| t.join().unwrap().into_inner()).sum();
    assert_eq!(sum, 6);
    assert_eq!(shared.1.lock().unwrap().len(), 4 * ROUNDS);
}

/// In each round threads race to initialise a new default.
#[test]
fn racing_threads_get_the_same_default() {
    #[derive(Debug, Default, PartialEq)]
    struct Fresh(Vec<u8>);

    const ROUNDS: usize = if cfg!(miri) { 3 } else { 50 };
    static CELLS: [DefaultCell<Fresh>; ROUNDS] = [const { DefaultCell::new() }; ROUNDS];
    for cell in &CELLS {
        let barrier = Barrier::new(4);
        let addresses: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        barrier.wait();
                        let value = cell.get();
                        assert_eq!(*value, Fresh::default());
                        (&raw const *value).addr()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(addresses.iter().all(|a| *a == addresses[0]));
    }
}

#[test]
fn panicking_default_is_retried() {
    thread_local!(static PANIC: Cell<bool> = const { Cell::new(true) });
    struct Late(u8);
    impl Default for Late {
        fn default() -> Self {
            assert!(!PANIC.get(), "not yet");
            Late(9)
        }
    }

    static CELL: DefaultCell<Late> = DefaultCell::new();
    assert!(panics(|| {
        CELL.get();
    }));
    PANIC.set(false);
    assert_eq!(CELL.get().0, 9);
}

/// At thread exit a thread-local `Sparse` is dropped like any other value.
#[test]
fn is_dropped_at_thread_exit() {
    let dropped = Arc::new(());
    #[derive(Default)]
    struct Held(Option<Arc<()>>);
    impl IsEmpty for Held {
        fn is_empty(&self) -> bool {
            self.0.is_none()
        }
    }
    thread_local!(static HELD: Cell<Sparse<Held>> = const { Cell::new(Sparse::empty()) });

    let clone = Arc::clone(&dropped);
    std::thread::spawn(move || HELD.set(Sparse::new(Held(Some(clone))))).join().unwrap();
    assert_eq!(Arc::strong_count(&dropped), 1);
}

/// A value whose `IsEmpty` and `Default` panic on demand.
#[derive(Debug)]
struct PanicsOnDemand<'a>(Option<Spy<'a>>);

thread_local!(static PANICS: Cell<(bool, bool)> = const { Cell::new((false, false)) });

impl Default for PanicsOnDemand<'_> {
    fn default() -> Self {
        assert!(!PANICS.get().0, "intentional panic in default");
        Self(None)
    }
}

impl IsEmpty for PanicsOnDemand<'_> {
    fn is_empty(&self) -> bool {
        assert!(!PANICS.get().1, "intentional panic in is_empty");
        self.0.is_none()
    }
}

#[test]
fn panic_in_take_or_replace_drops_each_value_once() {
    let counts = Counts::default();
    let full = |value| Sparse::new(PanicsOnDemand(Some(counts.spy(value))));
    let left = left_by(|| {
        for panicking in [(false, false), (true, false), (false, true)] {
            let on = || PANICS.set(panicking);
            let off = || PANICS.set((false, false));
            for stored in [false, true] {
                for given in [false, true] {
                    let mut value = if stored { full(1) } else { Sparse::empty() };
                    let new = PanicsOnDemand(given.then(|| counts.spy(2)));
                    on();
                    let has_panicked = panics(|| drop(value.replace(new)));
                    off();
                    assert!(panicking != (false, true) || has_panicked);
                    // The value is the old one or the new one.
                    let now = value.get().and_then(|value| value.0.as_ref()).map(|spy| spy.value);
                    assert!(now == given.then_some(2) || has_panicked && now == stored.then_some(1), "{now:?}");
                    on();
                    let taken = panics(|| drop(value.take()));
                    off();
                    assert!(!taken || panicking.0);
                    assert!(value.get().is_none());
                }
            }
        }
        // The drop of the replaced value panics after the new one was stored.
        for replaced in [full(1), full(1)] {
            let mut value = replaced;
            counts.panic_at_drop.set(counts.dropped.get() + 1);
            assert!(panics(|| drop(value.replace(PanicsOnDemand(Some(counts.spy(2)))))));
            assert_eq!(value.get().and_then(|value| value.0.as_ref()).map(|spy| spy.value), Some(2));
            counts.panic_at_drop.set(counts.dropped.get() + 1);
            assert!(panics(|| value.clear()));
            assert!(value.get().is_none());
        }
        drop(full(3).take_box());
    });
    assert_eq!(left.1, 0);
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn replace_reuses_the_block_and_returns_a_refused_value() {
    let mut value = Sparse::new(String::from("a"));
    assert_eq!(failing_after(0, || value.replace(String::new())), "a");
    assert!(value.get().is_none());
    let text = String::from("b");
    let error = failing_after(0, || value.try_replace(text)).unwrap_err();
    assert_eq!(error.into_inner(), "b");
    assert!(value.get().is_none());
    value = Sparse::new(String::from("c"));
    let again = (&raw const *value).addr();
    let text = String::from("d");
    assert_eq!(failing_after(0, || value.try_replace(text)).unwrap(), "c");
    assert_eq!((&raw const *value).addr(), again);
}

#[test]
fn over_aligned_zero_sized_values_are_taken_and_replaced() {
    thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });
    #[derive(Default)]
    #[repr(align(4096))]
    struct Nothing;
    impl Drop for Nothing {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }
    impl IsEmpty for Nothing {
        fn is_empty(&self) -> bool {
            false
        }
    }
    let left = left_by(|| {
        let mut value = Sparse::new(Nothing);
        assert_eq!((&raw const *value.get().unwrap()).addr() % 4096, 0);
        drop(value.replace(Nothing));
        assert_eq!(DROPS.get(), 1);
        drop(value.take());
        assert_eq!((DROPS.get(), value.get().is_none()), (2, true));
        drop(value.replace(Nothing)); // also drops the returned default
        drop(value.take_box());
        assert_eq!(DROPS.get(), 4);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn failed_allocation_of_a_default_is_retried() {
    #[derive(Debug, Default, PartialEq)]
    struct Late([u64; 4]);

    static CELL: DefaultCell<Late> = DefaultCell::new();
    let error = failing_after(0, || CELL.try_get()).unwrap_err();
    assert_eq!((error.layout().size(), error.into_inner()), (32, Late::default()));
    let first = CELL.try_get().unwrap();
    assert!(failing_after(0, || std::ptr::eq(first, CELL.get()) && std::ptr::eq(first, CELL.try_get().unwrap())));
}
