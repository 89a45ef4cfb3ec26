//! What safe code can do to a `Sparse`, under an allocator that watches every block.

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::Sparse;
use dwell::sparse::{DefaultCell, DefaultRef, IsEmpty};
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Barrier, Mutex};

/// A spy that can be absent: its default.
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
fn forgetting_one_leaks_it_and_no_more() {
    let counts = Counts::default();
    // `mem::forget` is this without the second half, which keeps leak checkers quiet.
    let mut forgotten = None;
    let left = left_by(|| forgotten = Some(ManuallyDrop::new(watched(&counts, 1))));
    assert_eq!(left, (1, size_of::<Watched<'_>>().cast_signed()));
    assert_eq!((counts.made.get(), counts.dropped.get()), (1, 0));
    drop(forgotten.map(ManuallyDrop::into_inner));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn a_panicking_drop_still_frees_the_block() {
    // How a `Sparse` with a value loses it.
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
fn compact_on_a_value_whose_drop_panics_leaves_it_empty() {
    struct Loud;
    impl IsEmpty for Loud {
        fn is_empty(&self) -> bool {
            true
        }
    }
    impl Default for Loud {
        fn default() -> Self {
            Loud
        }
    }
    impl Drop for Loud {
        fn drop(&mut self) {
            if !std::thread::panicking() {
                panic!("in drop");
            }
        }
    }

    let mut loud = Sparse::<Loud>::empty();
    loud.get_mut_or_default();
    assert!(panics(|| loud.compact()));
    assert!(loud.get().is_none());
}

#[test]
fn a_panicking_clone_changes_nothing() {
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
fn a_panicking_is_empty_or_default_changes_nothing() {
    thread_local!(static PANIC: Cell<bool> = const { Cell::new(false) });
    #[derive(Debug)]
    struct Moody(u8);
    impl IsEmpty for Moody {
        fn is_empty(&self) -> bool {
            assert!(!PANIC.get(), "in is_empty");
            self.0 == 0
        }
    }
    impl Default for Moody {
        fn default() -> Self {
            assert!(!PANIC.get(), "in default");
            Moody(0)
        }
    }

    let mut full = Sparse::new(Moody(1));
    let mut empty = Sparse::<Moody>::empty();
    PANIC.set(true);
    let left = left_by(|| {
        assert!(panics(|| full.compact()));
        assert!(panics(|| full.edit(|m| m.0 = 2)));
        assert!(panics(|| {
            empty.get_mut_or_default();
        }));
        assert!(panics(|| empty.edit(|m| m.0 = 1)));
        assert!(panics(|| drop(Sparse::new(Moody(3)))));
        assert!(panics(|| drop(Sparse::from_box(Box::new(Moody(3))))));
    });
    PANIC.set(false);
    assert_eq!(left.1, 0);
    assert_eq!(full.get().unwrap().0, 2);
    assert!(empty.get().is_none());
}

#[test]
fn re_entering_through_user_code_is_harmless() {
    // `is_empty` of the stored value looks at other `Sparse` values of the same type, and at its own default.
    #[derive(Default)]
    struct Nosy {
        value: u8,
        inner: Sparse<Nosy>,
    }
    impl IsEmpty for Nosy {
        fn is_empty(&self) -> bool {
            let other = Sparse::<Nosy>::empty();
            self.value == 0 && self.inner.is_empty() && other.get().is_none() && other.value == 0
        }
    }
    impl DefaultRef for Nosy {
        fn default_ref<'a>() -> &'a Self {
            static DEFAULT: DefaultCell<Nosy> = DefaultCell::new();
            DEFAULT.get()
        }
    }

    let mut nosy = Sparse::<Nosy>::empty();
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

        // A box of a zero-sized type may carry any address, the sentinel's too.
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
fn a_failed_allocation_gives_the_value_back() {
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
fn what_needs_no_memory_succeeds_without_any() {
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

/// An `IsEmpty` that contradicts itself may lose values. It must not touch memory it should not.
#[test]
fn a_lying_is_empty_is_only_wrong() {
    thread_local!(static CALLS: Cell<u32> = const { Cell::new(0) });
    #[derive(Debug, Default, Clone, PartialEq)]
    struct Liar(String);
    impl IsEmpty for Liar {
        fn is_empty(&self) -> bool {
            CALLS.set(CALLS.get() + 1);
            CALLS.get().is_multiple_of(2)
        }
    }

    let left = left_by(|| {
        for round in (0..100).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let mut liar = Sparse::new(Liar("x".repeat(round)));
            liar.compact();
            liar.edit(|l| l.0.push('y'));
            let other: Sparse<Liar> = liar.into_box().into();
            let _ = other == Sparse::empty();
            drop(other.into_inner());
        }
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn moves_between_threads_and_is_shared_by_them() {
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

/// Every round races for a default that was not read before.
#[test]
fn racing_for_a_fresh_default_makes_one() {
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
fn a_default_that_panics_is_asked_again() {
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

/// `IsEmpty` and `Default` that panic on demand.
#[derive(Debug)]
struct Moody<'a>(Option<Spy<'a>>);

thread_local!(static PANICS: Cell<(bool, bool)> = const { Cell::new((false, false)) });

impl Default for Moody<'_> {
    fn default() -> Self {
        assert!(!PANICS.get().0, "told to panic in default");
        Self(None)
    }
}

impl IsEmpty for Moody<'_> {
    fn is_empty(&self) -> bool {
        assert!(!PANICS.get().1, "told to panic in is_empty");
        self.0.is_none()
    }
}

#[test]
fn take_and_replace_drop_each_value_once_whatever_panics() {
    let counts = Counts::default();
    let full = |value| Sparse::new(Moody(Some(counts.spy(value))));
    let left = left_by(|| {
        for panicking in [(false, false), (true, false), (false, true)] {
            let on = || PANICS.set(panicking);
            let off = || PANICS.set((false, false));
            for stored in [false, true] {
                for given in [false, true] {
                    let mut value = if stored { full(1) } else { Sparse::empty() };
                    let new = Moody(given.then(|| counts.spy(2)));
                    on();
                    let has_panicked = panics(|| drop(value.replace(new)));
                    off();
                    assert!(panicking != (false, true) || has_panicked);
                    // As it was, or as it was to be.
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
        // The drop of the value that was replaced panics when the new one is in place.
        for replaced in [full(1), full(1)] {
            let mut value = replaced;
            counts.panic_at_drop.set(counts.dropped.get() + 1);
            assert!(panics(|| drop(value.replace(Moody(Some(counts.spy(2)))))));
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
fn replace_uses_the_block_again_and_gives_the_value_back_when_there_is_none() {
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
fn values_without_size_and_with_much_alignment_are_taken_and_replaced() {
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
        drop(value.replace(Nothing)); // a default is dropped
        drop(value.take_box());
        assert_eq!(DROPS.get(), 4);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn a_default_that_gets_no_memory_is_asked_again() {
    #[derive(Debug, Default, PartialEq)]
    struct Late([u64; 4]);

    static CELL: DefaultCell<Late> = DefaultCell::new();
    let error = failing_after(0, || CELL.try_get()).unwrap_err();
    assert_eq!((error.layout().size(), error.into_inner()), (32, Late::default()));
    let first = CELL.try_get().unwrap();
    assert!(failing_after(0, || std::ptr::eq(first, CELL.get()) && std::ptr::eq(first, CELL.try_get().unwrap())));
}
