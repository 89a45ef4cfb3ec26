//! Tests of iterators and closures in slots of the thread's pool: `.boxed_iter()` and `pooled!`.

#![allow(
    clippy::large_stack_arrays,
    clippy::result_large_err,
    clippy::unnecessary_fold,
    reason = "what is tested: large values, values returned in an error, `fold`"
)]

mod common;

use common::{Counts, Spy, failing_after, forget, left_by, panics};
use dwell::pooled;
use dwell::slab::{BoxedIterExt, PoolIter, Pooled};
use dwell::small::CallOnce;
use std::cell::Cell;
use std::fmt::Debug;
use std::iter::FusedIterator;
use std::mem;
use std::thread;

trait Both: DoubleEndedIterator + ExactSizeIterator {}
impl<I: DoubleEndedIterator + ExactSizeIterator> Both for I {}

#[test]
fn pool_slots_have_two_words_and_a_niche() {
    assert_eq!(size_of::<PoolIter<'_, u8>>(), size_of::<Box<dyn Iterator<Item = u8>>>());
    assert_eq!(size_of::<Option<PoolIter<'_, u8>>>(), size_of::<PoolIter<'_, u8>>());
    assert_eq!(size_of::<Pooled<dyn Fn()>>(), size_of::<Box<dyn Fn()>>());
}

#[test]
fn slots_implement_the_iterator_traits() {
    let numbers = [1, 2, 3, 4];
    let mut iter: PoolIter<'_, u8> = numbers.iter().copied().boxed_iter();
    assert_eq!((iter.size_hint(), iter.nth(1), iter.size_hint()), ((4, Some(4)), Some(2), (2, Some(2))));
    assert_eq!(iter.fold(0, |sum, n| sum + n), 7);
    let mut both: Pooled<dyn DoubleEndedIterator<Item = u8> + '_> = pooled!(numbers.iter().copied());
    assert_eq!((both.next_back(), both.nth_back(1), both.next(), both.next()), (Some(4), Some(2), Some(1), None));
    let exact: Pooled<dyn ExactSizeIterator<Item = u8> + '_> = pooled!(numbers.iter().copied());
    assert_eq!((exact.len(), exact.last()), (4, Some(4)));
    let all: Pooled<dyn Both<Item = u8> + '_> = pooled!(numbers.iter().copied());
    assert_eq!((all.len(), all.rev().collect::<Vec<_>>()), (4, vec![4, 3, 2, 1]));
    fn is_fused(iter: &mut impl FusedIterator<Item = u8>) -> Option<u8> {
        iter.next()
    }
    let mut fused: Pooled<dyn FusedIterator<Item = u8>> = pooled!(std::iter::once(1));
    assert_eq!((is_fused(&mut fused), is_fused(&mut fused)), (Some(1), None));
}

/// Returns nested boxed iterators: each level boxes an adapter of the level below.
fn words(text: &str, levels: u32) -> PoolIter<'_, &str> {
    if levels == 0 {
        return text.split_whitespace().boxed_iter();
    }
    words(text, levels - 1).filter(move |word| word.len() > levels as usize).boxed_iter()
}

#[test]
fn nested_iterators() {
    assert_eq!(words("a bb ccc dddd", 0).count(), 4);
    assert_eq!(words("a bb ccc dddd", 2).collect::<Vec<_>>(), ["ccc", "dddd"]);
    // Once the pool has grown, boxing allocates nothing.
    assert_eq!(failing_after(0, || words("a bb ccc dddd", 2).count()), 2);
}

#[test]
fn slots_of_closures_can_be_called() {
    let double: Pooled<dyn Fn(u8) -> u8> = pooled!(|x| x * 2);
    assert_eq!(double(4), 8);
    let mut count = 0;
    let mut next: Pooled<dyn FnMut() -> u32 + '_> = pooled!(|| {
        count += 1;
        count
    });
    assert_eq!((next(), next()), (1, 2));
    drop(next);
    assert_eq!(count, 2);
    let bytes: Pooled<[u64]> = pooled!([1, 2, 3]);
    assert_eq!(bytes.iter().sum::<u64>(), 6);
}

#[test]
fn closures_called_by_value() {
    let counts = Counts::default();
    let make = || {
        let spy = counts.spy(7);
        move |by: u32| {
            assert_ne!(by, 0, "intentional panic in a call");
            spy.value + by
        }
    };
    let own: Pooled<dyn CallOnce<(u32,), Output = u32> + '_> = pooled!(make());
    assert_eq!(own.call_once((1,)), 8);
    let core: Pooled<dyn FnOnce(u32) -> u32 + '_> = pooled!(make());
    assert_eq!(core.call_once((2,)), 9);
    assert!(counts.balanced());
    let left = left_by(|| {
        let panicking: Pooled<dyn CallOnce<(u32,), Output = u32> + '_> = pooled!(make());
        assert!(panics(|| _ = panicking.call_once((0,))));
        drop::<Pooled<dyn CallOnce<(u32,), Output = u32> + '_>>(pooled!(make()));
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
    // The cell of the closure that panicked is reused by a closure that makes and calls another one.
    let nested: Pooled<dyn CallOnce<(u32,), Output = u32> + '_> = pooled!(|by: u32| {
        let inner: Pooled<dyn CallOnce<(u32,), Output = u32>> = pooled!(move |more: u32| by + more);
        inner.call_once((1,))
    });
    assert_eq!(nested.call_once((2,)), 3);
}

/// An iterator that counts down and panics at 0.
struct Panics<'a>(#[expect(dead_code, reason = "dropped")] Spy<'a>, u32);

impl Iterator for Panics<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.1 = self.1.checked_sub(1).expect("intentional panic in next");
        Some(self.1)
    }
}

#[test]
fn panicking_iterators_are_dropped_once() {
    let counts = Counts::default();
    assert!(panics(|| _ = Panics(counts.spy(1), 3).boxed_iter().count()));
    assert!(counts.balanced());
    let counts = Counts::default();
    counts.panic_at_drop.set(1);
    assert!(panics(|| drop(Panics(counts.spy(1), 3).boxed_iter())));
    assert_eq!(Panics(counts.spy(1), 3).boxed_iter().take(2).sum::<u32>(), 3);
    assert!(counts.balanced());
}

#[test]
fn forgotten_slots_keep_their_memory() {
    let kept = [1, 2, 3].into_iter().boxed_iter();
    let address = kept.as_ptr().cast::<()>();
    forget(kept, address.addr());
    let others: Vec<PoolIter<'_, i32>> = (0..100).map(|_| [4, 5, 6].into_iter().boxed_iter()).collect();
    assert!(others.iter().all(|other| other.as_ptr().cast::<()>() != address));
}

/// Boxes and drops other iterators in `next` and in `drop`.
#[test]
fn next_and_drop_re_enter_the_pool() {
    struct Nested(u32);
    impl Iterator for Nested {
        type Item = u32;
        fn next(&mut self) -> Option<u32> {
            self.0 = self.0.checked_sub(1)?;
            Some(Nested(self.0 / 2).boxed_iter().sum::<u32>())
        }
    }
    impl Drop for Nested {
        fn drop(&mut self) {
            if self.0 > 0 {
                drop(Nested(self.0 - 1).boxed_iter());
            }
        }
    }
    let mut iter = Nested(6).boxed_iter();
    assert!(iter.next().is_some());
    drop(iter);
    assert_eq!(Nested(0).boxed_iter().count(), 0);
}

#[test]
fn values_do_not_move_with_their_slot() {
    #[derive(Clone, Copy)]
    #[repr(align(256))]
    struct Aligned;

    struct Addresses<T>(T);
    impl<T> Iterator for Addresses<T> {
        type Item = usize;
        fn next(&mut self) -> Option<usize> {
            Some((&raw const self.0).addr())
        }
    }

    assert_eq!(std::iter::empty::<u8>().boxed_iter().next(), None);
    for iter in [Addresses(()).boxed_iter(), Addresses([0_u8; 20_000]).boxed_iter(), Addresses(Aligned).boxed_iter()] {
        let mut moved = vec![iter];
        let first = moved[0].next();
        moved.reserve(10);
        assert_eq!(moved[0].next(), first, "the value does not move with its slot");
    }
    assert_eq!(Addresses(Aligned).boxed_iter().next().unwrap() % 256, 0);
    let most: Pooled<[()]> = pooled!([(); usize::MAX]);
    assert_eq!(most.len(), usize::MAX);
}

#[test]
fn failed_allocation_returns_the_iterator() {
    thread::scope(|scope| {
        // Uses a thread whose pool is empty, and a size that no other test uses.
        scope.spawn(|| {
            let wide = || [7_u64; 50].into_iter();
            let back = failing_after(0, || wide().try_boxed_iter().map(drop).unwrap_err()).into_inner();
            let back = failing_after(0, || back.try_boxed_iter_send().map(drop).unwrap_err()).into_inner();
            assert_eq!(back.len(), 50);
            assert_eq!(back.try_boxed_iter().unwrap().count(), 50);
            assert_eq!(failing_after(0, || wide().try_boxed_iter_send()).unwrap().count(), 50);
        });
    });
}

#[test]
fn boxed_iterators_outlive_their_thread() {
    let made = thread::spawn(|| [1, 2, 3].into_iter().boxed_iter_send()).join().unwrap();
    let used = thread::spawn(move || made.map(|n| n * 2).boxed_iter_send()).join().unwrap();
    assert_eq!(used.sum::<i32>(), 12);
    let call = thread::spawn(|| -> Pooled<dyn Fn(u8) -> u8 + Send> { pooled!(|x| x + 1) }).join().unwrap();
    assert_eq!(call(1), 2);
}

#[test]
fn iterators_can_be_boxed_during_thread_exit() {
    struct AtExit(Cell<bool>);
    impl Drop for AtExit {
        fn drop(&mut self) {
            assert_eq!([1, 2].into_iter().boxed_iter().sum::<i32>(), 3);
            self.0.set(true);
        }
    }
    thread_local!(static AT_EXIT: AtExit = const { AtExit(Cell::new(false)) });
    thread_local!(static KEPT: Cell<Option<PoolIter<'static, u8>>> = const { Cell::new(None) });
    thread::spawn(|| {
        AT_EXIT.with(|at| assert!(!at.0.get()));
        KEPT.set(Some(mem::take(&mut vec![1, 2]).into_iter().boxed_iter()));
    })
    .join()
    .unwrap();
}

#[test]
fn auto_traits() {
    fn is_send<T: Send>(_: &T) {}
    fn is_unpin<T: Unpin>(_: &T) {}
    let iter = [1].into_iter().boxed_iter_send();
    is_send(&iter);
    is_unpin(&iter);
    let debug: Pooled<dyn Debug + Send + Sync> = pooled!(7);
    is_send(&&debug);
    assert_eq!(format!("{debug:?}"), "7");
}
