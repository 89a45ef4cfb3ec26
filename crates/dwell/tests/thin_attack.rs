//! Attempts to break `ThinSlice` and `ThinStr` with safe code, under an allocator that checks every block.

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::SmallBox;
use dwell::sparse::{ThinSlice, ThinStr};
use std::cell::Cell;
use std::iter;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Barrier};

fn spies(counts: &Counts, len: u32) -> ThinSlice<Spy<'_>> {
    (0..len).map(|n| counts.spy(n)).collect()
}

#[test]
fn every_element_is_dropped_once_and_every_block_freed() {
    for len in [0, 1, 2, 7] {
        let counts = Counts::default();
        let left = left_by(|| {
            let slice = spies(&counts, len);
            let mut copy = slice.clone();
            copy.clone_from(&slice); // assigns element by element
            copy.clone_from(&spies(&counts, len + 1)); // allocates a new block
            let vec = Vec::from(slice);
            let boxed = Box::<[_]>::from(ThinSlice::from(vec));
            let mut iter = ThinSlice::from(boxed).into_iter();
            drop((iter.next(), iter.next_back(), iter.clone()));
            ThinSlice::from([counts.spy(1), counts.spy(2)])
        });
        assert_eq!(left, (0, 0));
        assert!(counts.balanced(), "{counts:?}");
    }
}

#[test]
fn allocates_one_block_of_length_and_elements() {
    let mut kept = ThinSlice::empty();
    assert_eq!(left_by(|| kept = ThinSlice::from([1_u16, 2, 3])), (1, 8 + 3 * 2));
    assert_eq!(left_by(|| kept = ThinSlice::empty()), (-1, -14));
    let mut kept = ThinSlice::empty();
    assert_eq!(left_by(|| kept = (0..5_u64).filter(|n| n % 2 == 0).collect()), (1, 8 + 3 * 8));
    drop(kept);
    let mut kept = ThinStr::empty();
    assert_eq!(left_by(|| kept = "a".into()), (1, 2));
    assert_eq!(left_by(|| kept = "a".repeat(254).into()), (0, 253));
    assert_eq!(left_by(|| kept = "a".repeat(255).into()), (0, 9));
    assert_eq!(left_by(|| kept = ThinStr::empty()), (-1, -264));
}

#[test]
fn forgotten_iterator_leaks_only_its_elements() {
    let counts = Counts::default();
    // `ManuallyDrop` forgets the iterator like `mem::forget`. It is dropped at the end, so that leak checkers report
    // nothing.
    let mut iter = spies(&counts, 3).into_iter();
    drop(iter.next());
    let forgotten = ManuallyDrop::new(iter);
    assert_eq!((counts.made.get(), counts.dropped.get()), (3, 1));
    drop(ManuallyDrop::into_inner(forgotten));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn panic_in_drop_drops_the_other_elements_and_frees_the_block() {
    // The operations that drop the elements of a slice.
    let ways: [fn(ThinSlice<Spy<'_>>); 6] = [
        |s| drop(s),
        |mut s| drop(std::mem::take(&mut s)),
        |s| drop(s.into_iter()),
        |s| drop(Vec::from(s)),
        |s| drop(Box::<[_]>::from(s)),
        |s| {
            let mut iter = s.into_iter();
            let (_first, _last) = (iter.next(), iter.next_back());
            drop(iter);
        },
    ];
    for way in ways {
        for k in 1..=3 {
            let counts = Counts::default();
            counts.panic_at_drop.set(k);
            let left = left_by(|| assert!(panics(|| way(spies(&counts, 3)))));
            assert_eq!(left.1, 0, "all bytes freed");
            assert!(counts.balanced(), "{counts:?}");
        }
    }
}

#[test]
fn panic_in_clone_drops_the_cloned_elements() {
    for k in 1..=3 {
        let counts = Counts::default();
        let left = left_by(|| {
            let source = spies(&counts, 3);
            let iter = source.clone().into_iter();
            let mut longer = spies(&counts, 4);
            let mut same = spies(&counts, 3);
            let ways: [&mut dyn FnMut(); 5] = [
                &mut || drop(source.clone()),
                &mut || drop(ThinSlice::try_from_slice(&source)),
                &mut || drop(iter.clone()),
                &mut || longer.clone_from(&source),
                &mut || same.clone_from(&source),
            ];
            for way in ways {
                counts.panic_at_clone.set(counts.cloned.get() + k);
                assert!(panics(way));
            }
            assert_eq!((longer.len(), same.len()), (4, 3));
            assert!(same.iter().map(|spy| spy.value).eq(0..3));
        });
        assert_eq!(left.1, 0);
        assert!(counts.balanced(), "{counts:?}");
    }
}

#[test]
fn panicking_iterators_and_wrong_hints_are_memory_safe() {
    struct WrongHint<I>(I, usize);
    impl<I: Iterator> Iterator for WrongHint<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            self.0.next()
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (self.1, Some(self.1))
        }
    }

    let counts = Counts::default();
    let left = left_by(|| {
        let some = || iter::from_fn(|| Some(counts.spy(0)));
        for hint in [0, 1, 3, 100] {
            assert_eq!(WrongHint(some().take(3), hint).collect::<ThinSlice<_>>().len(), 3);
        }
        assert!(panics(|| {
            let elements = some().enumerate().map(|(n, spy)| if n == 3 { panic!("in the iterator") } else { spy });
            drop(elements.collect::<ThinSlice<_>>());
        }));
    });
    assert_eq!(left.1, 0);
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn zero_sized_elements_up_to_usize_max() {
    thread_local!(static DROPS: Cell<u32> = const { Cell::new(0) });
    struct Marker;
    impl Drop for Marker {
        fn drop(&mut self) {
            DROPS.set(DROPS.get() + 1);
        }
    }

    let left = left_by(|| {
        let most = ThinSlice::from(vec![(); usize::MAX]);
        assert_eq!(most.len(), usize::MAX);
        let mut iter = most.into_iter();
        assert_eq!((iter.next(), iter.next_back(), iter.len()), (Some(()), Some(()), usize::MAX - 2));
        assert_eq!(iter.as_slice().len(), usize::MAX - 2);
        drop(iter);
        assert_eq!(Vec::from(ThinSlice::from(vec![(); usize::MAX])).len(), usize::MAX);

        let mut markers = ThinSlice::from([Marker, Marker, Marker]).into_iter();
        drop(markers.next());
        assert_eq!(DROPS.get(), 1);
        drop(markers);
        assert_eq!(DROPS.get(), 3);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn over_aligned_elements() {
    fn check<T: Clone + PartialEq + std::fmt::Debug>(value: &T) {
        let align = align_of::<T>();
        let left = left_by(|| {
            let mut none = ThinSlice::<T>::empty();
            assert_eq!((none.as_ptr().addr() % align, none.len()), (0, 0));
            assert_eq!(none.as_mut_ptr().addr() % align, 0);
            assert_eq!(none.into_iter().as_slice().as_ptr().addr() % align, 0);
            for len in 1..4 {
                let slice = ThinSlice::from(vec![value.clone(); len]);
                assert_eq!(slice.as_ptr().addr() % align, 0);
                assert_eq!(*slice.clone(), *vec![value.clone(); len]);
                assert_eq!(Vec::from(slice), vec![value.clone(); len]);
            }
        });
        assert_eq!(left, (0, 0));
    }
    macro_rules! check {
        ($($align:literal)*) => {$({
            #[derive(Clone, PartialEq, Debug)]
            #[repr(align($align))]
            struct Wide(u8);
            #[derive(Clone, PartialEq, Debug)]
            #[repr(align($align))]
            struct Nothing;
            check(&Wide(7));
            check(&Nothing);
        })*};
    }
    check!(1 2 4 8 16 32 64 128 4096);
}

#[test]
fn failed_allocation_returns_the_input() {
    let counts = Counts::default();
    let left = left_by(|| {
        let vec: Vec<_> = (0..3).map(|n| counts.spy(n)).collect();
        let address = vec.as_ptr();
        let error = failing_after(0, || ThinSlice::try_from_vec(vec)).unwrap_err();
        assert_eq!(error.layout().size(), 8 + 3 * size_of::<Spy<'_>>());
        assert!(error.to_string().contains("56 bytes"), "{error}");
        let vec = error.into_inner();
        assert_eq!((vec.as_ptr(), vec.len()), (address, 3));

        let error = failing_after(0, || ThinSlice::try_from_slice(&vec)).unwrap_err();
        assert_eq!(error.into_inner().len(), 3);
        assert_eq!(counts.cloned.get(), 0);

        let error = failing_after(0, || ThinStr::try_new("abc")).unwrap_err();
        assert_eq!((error.layout().size(), error.into_inner()), (4, "abc"));
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

#[test]
fn failed_allocation_returns_all_elements() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut failures = 0;
        for k in 0.. {
            let values = (0..9).map(|n| counts.spy(n)).filter(|_| true); // has no exact size hint
            match failing_after(k, || ThinSlice::try_from_iter(values)) {
                Ok(slice) => {
                    assert_eq!(slice.len(), 9);
                    break;
                }
                Err(error) => assert!(error.into_inner().map(|spy| spy.value).eq(0..9)),
            }
            failures += 1;
        }
        assert!(failures > 2, "the vector grew, then the slice was made: {failures}");

        let slice = spies(&counts, 3);
        let slice = failing_after(0, || slice.try_into_vec()).unwrap_err().into_inner();
        assert_eq!(slice.len(), 3);
        assert_eq!(slice.try_into_vec().unwrap().len(), 3);

        let pieces = || ["ab", "", "cde", "a longer piece of text"].iter();
        let mut failures = 0;
        for k in 0.. {
            match failing_after(k, || ThinStr::try_from_iter(pieces())) {
                Ok(text) => {
                    assert_eq!(text, *pieces().copied().collect::<String>());
                    break;
                }
                Err(error) => {
                    let (text, rest) = error.into_inner();
                    assert_eq!(text + &rest.copied().collect::<String>(), pieces().copied().collect::<String>());
                }
            }
            failures += 1;
        }
        assert!(failures > 1, "{failures}");
        let text = ThinStr::from("abc");
        let text = failing_after(0, || text.try_into_string()).unwrap_err().into_inner();
        assert_eq!(text.try_into_string().unwrap(), "abc");
    });
    assert_eq!(left, (0, 0));
    assert!(counts.balanced(), "{counts:?}");
}

/// An error from the `fmt` of a piece is returned and does not panic.
#[test]
fn piece_whose_fmt_fails_is_returned() {
    struct Fails(&'static str);
    impl std::fmt::Display for Fails {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str(self.0)?;
            if self.0 == "bad" { Err(std::fmt::Error) } else { Ok(()) }
        }
    }
    let pieces = || ["good", "bad", "rest"].map(Fails);
    let Err(error) = ThinStr::try_from_iter(pieces()) else { panic!("a piece fails") };
    let (text, rest) = error.into_inner();
    assert_eq!((&*text, rest.map(|piece| piece.0).collect::<Vec<_>>()), ("good", vec!["bad", "rest"]));
    let Err(error) = SmallBox::<str>::try_from_iter(pieces()) else { panic!("a piece fails") };
    let (text, rest) = error.into_inner();
    assert_eq!((&*text, rest.count()), ("good", 2));
}

/// The part of a piece that was written before it failed is removed.
#[test]
fn partly_written_piece_is_returned_whole() {
    struct Halves;
    impl std::fmt::Display for Halves {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("half")?;
            f.write_str("and as much again, and more")
        }
    }
    let Err(error) = failing_after(1, || ThinStr::try_from_iter([Halves])) else { panic!("it needs two allocations") };
    let (text, mut rest) = error.into_inner();
    assert!(text.is_empty());
    assert!(rest.next().is_some() && rest.next().is_none());
}

/// A `fmt` that ignores errors writes on after a failed allocation. The text lacks a part, so the call fails.
#[test]
fn piece_that_ignores_a_failed_allocation_is_returned() {
    struct Ignores;
    impl std::fmt::Display for Ignores {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let _ = f.write_str("lost");
            Ok(())
        }
    }
    let Err(error) = failing_after(0, || ThinStr::try_from_iter([Ignores])) else { panic!("a part is missing") };
    assert_eq!(error.layout().size(), 4);
    let (text, rest) = error.into_inner();
    assert_eq!((&*text, rest.count()), ("", 1));
    let Err(error) = failing_after(0, || SmallBox::<str>::try_from_iter([Ignores])) else {
        panic!("a part is missing")
    };
    assert_eq!(error.into_inner().1.count(), 1);
}

#[test]
fn empty_values_need_no_allocation() {
    failing_after(0, || {
        assert!(ThinSlice::<String>::from(Vec::new()).clone().is_empty());
        assert!(ThinSlice::<String>::from([]).into_iter().clone().next().is_none());
        assert!(ThinSlice::<String>::try_from_slice(&[]).is_ok());
        assert!(Vec::from(ThinSlice::<String>::empty()).is_empty());
        assert!(ThinStr::try_new("").is_ok());
        assert!(ThinStr::default().clone().is_empty());
        assert!(String::from(ThinStr::from("")).is_empty());
        // `clone_from` of an empty string allocates nothing.
        let mut text = ThinStr::empty();
        text.clone_from(&ThinStr::empty());
    });
}

#[test]
fn mutating_an_empty_value_writes_nothing() {
    let (mut slice, mut text) = (ThinSlice::<u64>::empty(), ThinStr::empty());
    slice.fill(7);
    slice.sort_unstable();
    slice.reverse();
    text.make_ascii_uppercase();
    assert!(slice.iter_mut().next().is_none());
    assert!(ThinSlice::<u64>::empty().is_empty() && ThinStr::empty().is_empty());
}

#[test]
fn can_be_sent_and_shared_between_threads() {
    let shared = Arc::new((ThinSlice::from([String::from("a")]), ThinStr::from("b")));
    let barrier = Barrier::new(4);
    let lengths: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let (shared, barrier) = (Arc::clone(&shared), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    for _ in 0..if cfg!(miri) { 3 } else { 100 } {
                        assert_eq!((&*shared.0[0], &*shared.1), ("a", "b"));
                        drop((shared.0.clone(), shared.1.clone(), ThinSlice::<u8>::empty(), ThinStr::empty()));
                    }
                    (ThinSlice::from(vec![n; 3]), ThinStr::from("moved"))
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).map(|(slice, text)| slice.len() + text.len()).sum()
    });
    assert_eq!(lengths, 4 * 8);
}

/// An iterator whose `size_hint` cycles through the values that the test sets.
struct WrongHints<I>(I, Vec<usize>, Cell<usize>);

impl<I: Iterator> Iterator for WrongHints<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.2.set(self.2.get() + 1);
        let reported = self.1[self.2.get() % self.1.len()];
        (reported, Some(reported))
    }
}

#[test]
fn size_hints_are_not_trusted() {
    let left = left_by(|| {
        let lies = [vec![usize::MAX], vec![1 << 47], vec![usize::MAX - 1, 0, 3], vec![0], vec![isize::MAX as usize]];
        // Each case reserves 64 KiB, which is slow under Miri.
        for reported in lies.into_iter().step_by(if cfg!(miri) { 2 } else { 1 }) {
            let lies = |len| WrongHints((0..len).map(Box::new), reported.clone(), Cell::new(0));
            for len in [0, 1, 5, if cfg!(miri) { 40 } else { 300 }] {
                assert_eq!(lies(len).collect::<ThinSlice<_>>().len(), len);
                assert_eq!(ThinSlice::try_from_iter(lies(len)).ok().map(|slice| slice.len()), Some(len));
                let letters = || WrongHints(iter::repeat_n('a', len), reported.clone(), Cell::new(0));
                let texts = || letters().map(String::from);
                assert_eq!((letters().collect::<ThinStr>().len(), texts().collect::<ThinStr>().len()), (len, len));
                assert_eq!(ThinStr::try_from_iter(letters()).ok().map(|text| text.len()), Some(len));
                assert_eq!(
                    WrongHints(iter::repeat_n((), len), reported.clone(), Cell::new(0)).collect::<ThinSlice<_>>().len(),
                    len
                );
            }
        }
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn failed_allocation_returns_the_value() {
    let left = left_by(|| {
        let slice = ThinSlice::from([Box::new(1), Box::new(2)]);
        assert!(failing_after(0, || slice.try_clone()).is_err());
        assert_eq!(slice.try_clone().unwrap(), slice);
        let slice = failing_after(0, || slice.try_into_boxed_slice()).unwrap_err().into_inner();
        let slice = failing_after(0, || slice.try_into_vec()).unwrap_err().into_inner();
        assert_eq!(*slice.try_into_boxed_slice().unwrap(), [Box::new(1), Box::new(2)]);
        let text = ThinStr::from("text");
        assert!(failing_after(0, || text.try_clone()).is_err());
        assert_eq!(text.try_clone().unwrap(), text);
        let text = failing_after(0, || text.try_into_boxed_str()).unwrap_err().into_inner();
        assert_eq!(&*text.try_into_boxed_str().unwrap(), "text");
        failing_after(0, || {
            assert!(ThinStr::empty().try_clone().is_ok() && ThinSlice::<u8>::empty().try_clone().is_ok());
            assert!(ThinStr::empty().try_into_boxed_str().is_ok());
        });
    });
    assert_eq!(left, (0, 0));
}
