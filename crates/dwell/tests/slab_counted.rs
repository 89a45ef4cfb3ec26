//! Attempts to break `Pooled`, `PoolRc` and `PoolArc` with safe code, and their interfaces.

#![allow(
    clippy::large_stack_arrays,
    clippy::result_large_err,
    reason = "what is tested: large values, and errors with them"
)]

mod common;

use common::{Counts, Spy, failing_after, forget, left_by, panics};
use dwell::slab::Pool;
use dwell::slab::{PoolArc, PoolArcWeak, PoolRc, PoolRcWeak, Pooled};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[test]
fn pooled_works_as_a_box() {
    type Box<T> = Pooled<T>;
    #[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    enum Expr {
        #[default]
        Nothing,
        Text(String),
        Pair(Box<Expr>, Box<Expr>),
        Maybe(Option<Box<Expr>>),
    }
    let text = Box::new(Expr::Text("a".into()));
    let mut pair = Expr::Pair(text.clone(), Box::default());
    assert_eq!(pair, Expr::Pair(Box::from(Expr::Text("a".into())), Expr::Nothing.into()));
    assert!(pair < Expr::Maybe(Some(text)));
    if let Expr::Pair(left, right) = &mut pair {
        left.clone_from(right);
        **right = Expr::Text(String::from("b"));
    }
    assert_eq!(format!("{pair:?}"), "Pair(Nothing, Text(\"b\"))");
    let Expr::Pair(_, right) = pair else { panic!("a pair") };
    assert_eq!(right.into_inner(), Expr::Text("b".into()));
    assert_eq!(size_of::<Option<Box<Expr>>>(), size_of::<usize>());
    let dynamic: Box<dyn Debug + Send> = Box::new(7).coerce(|view| view as _);
    assert_eq!(thread::spawn(move || format!("{dynamic:?}")).join().unwrap(), "7");
}

#[test]
fn panics_give_the_cell_back() {
    let counts = Counts::default();
    let one = Pooled::new(counts.spy(1));
    let free = Pooled::new(counts.spy(2));
    let address = free.as_ptr();
    drop(free);
    counts.panic_at_clone.set(1);
    assert!(panics(|| _ = one.clone()));
    assert!(panics(|| _ = Pooled::<Spy<'_>>::new_with(|| panic!("in the closure"))));
    let next = one.clone();
    assert_eq!(next.as_ptr(), address, "the cell of the failed clone is free");
    drop((one, next));
    assert!(counts.balanced());
    struct Panics([u64; 7]);
    impl Default for Panics {
        fn default() -> Self {
            panic!("intentional panic in default")
        }
    }
    let address = {
        let free = Pooled::new(Panics([0; 7]));
        assert_eq!(free.0[0], 0);
        free.as_ptr()
    };
    assert!(panics(|| _ = Pooled::<Panics>::default()));
    assert_eq!(Pooled::new(Panics([1; 7])).as_ptr(), address);
}

#[test]
fn failed_allocation_returns_the_value() {
    thread::spawn(|| {
        let back = failing_after(0, || Pooled::try_new([7_u64; 61]).map(drop).unwrap_err()).into_inner();
        let back = failing_after(0, || PoolRc::try_new(back).map(drop).unwrap_err()).into_inner();
        let back = failing_after(0, || PoolArc::try_new(back).map(drop).unwrap_err()).into_inner();
        assert_eq!(back, [7; 61]);
        let kept = PoolRc::try_new(back).unwrap();
        // The next one takes a cell of the same chunk.
        assert_eq!(*failing_after(0, || PoolRc::try_new([8_u64; 61])).unwrap(), [8; 61]);
        drop(kept);
    })
    .join()
    .unwrap();
}

#[test]
fn counts_and_weak_pointers() {
    let counts = Counts::default();
    let one = PoolRc::new(counts.spy(1));
    let weak: PoolRcWeak<Spy<'_>> = PoolRc::downgrade(&one);
    let two = weak.upgrade().unwrap();
    assert_eq!((PoolRc::strong_count(&one), PoolRc::weak_count(&one)), (2, 1));
    assert!(PoolRc::ptr_eq(&one, &two));
    let two = PoolRc::try_unwrap(two).unwrap_err();
    drop(one);
    assert_eq!(counts.dropped.get(), 0);
    let other = weak.clone();
    drop(two);
    assert_eq!(counts.dropped.get(), 1);
    assert!(weak.upgrade().is_none() && other.upgrade().is_none());
    // The cell stays occupied while there are weak pointers.
    let next = PoolRc::new(counts.spy(2));
    assert!(weak.upgrade().is_none());
    drop((weak, other));
    assert_eq!(next.value, 2);
    assert_eq!(PoolRc::try_unwrap(next).map_err(drop).unwrap().value, 2);
    assert!(counts.balanced());
}

#[test]
fn make_mut_clones_moves_or_does_neither() {
    let counts = Counts::default();
    let mut one = PoolRc::new(counts.spy(1));
    let address = PoolRc::as_ptr(&one);
    PoolRc::make_mut(&mut one).value = 2;
    assert_eq!((PoolRc::as_ptr(&one), counts.cloned.get()), (address, 0));

    let weak = PoolRc::downgrade(&one);
    assert!(PoolRc::get_mut(&mut one).is_none());
    PoolRc::make_mut(&mut one).value = 3; // moved
    assert_ne!(PoolRc::as_ptr(&one), address);
    assert_eq!((counts.cloned.get(), counts.dropped.get(), one.value), (0, 0, 3));
    assert!(weak.upgrade().is_none());
    assert_eq!((PoolRc::strong_count(&one), PoolRc::weak_count(&one)), (1, 0));
    drop(weak);

    let two = PoolRc::clone(&one);
    PoolRc::make_mut(&mut one).value = 4; // cloned
    assert_eq!((counts.cloned.get(), one.value, two.value), (1, 4, 3));
    let three = PoolRc::clone(&one);
    counts.panic_at_clone.set(2);
    assert!(panics(|| PoolRc::make_mut(&mut one).value = 5));
    assert!(PoolRc::ptr_eq(&one, &three) && PoolRc::strong_count(&one) == 2);
    drop(three);
    PoolRc::get_mut(&mut one).unwrap().value = 6;
    assert_eq!(PoolRc::unwrap_or_clone(one).value, 6);
    drop(two);
    assert!(counts.balanced());
}

/// A clone that drops the other pointers to the value that it clones.
#[test]
fn a_clone_may_drop_the_other_pointers() {
    thread_local!(static OTHER: RefCell<Option<PoolRc<Sneaky>>> = const { RefCell::new(None) });
    struct Sneaky(String);
    impl Clone for Sneaky {
        fn clone(&self) -> Self {
            drop(OTHER.take());
            Self(self.0.clone())
        }
    }
    let mut one = PoolRc::new(Sneaky(String::from("kept")));
    OTHER.set(Some(PoolRc::clone(&one)));
    let weak = PoolRc::downgrade(&one);
    PoolRc::make_mut(&mut one).0.push('!');
    assert_eq!(one.0, "kept!");
    assert!(weak.upgrade().is_none());
}

#[test]
fn panic_in_drop_frees_the_cell() {
    let counts = Counts::default();
    counts.panic_at_drop.set(1);
    let one = PoolRc::new(counts.spy(1));
    let address = PoolRc::as_ptr(&one);
    let weak = PoolRc::downgrade(&one);
    assert!(panics(|| drop(one)));
    assert!(weak.upgrade().is_none());
    drop(weak);
    let next = PoolRc::new(counts.spy(2));
    assert_eq!(PoolRc::as_ptr(&next), address);
    drop(next);
    assert!(counts.balanced());
}

/// A value whose drop looks for itself, makes weak pointers and other values.
#[test]
fn drop_re_enters() {
    struct Node {
        me: RefCell<Option<PoolRcWeak<Node>>>,
        next: Option<PoolRc<Node>>,
        drops: PoolRc<Cell<u32>>,
    }
    impl Drop for Node {
        fn drop(&mut self) {
            let me = self.me.take().unwrap();
            assert!(me.upgrade().is_none(), "being dropped");
            let again = me.clone();
            drop(me);
            self.drops.set(self.drops.get() + 1);
            drop(self.next.take());
            let other = PoolRc::new([7_u64; 5]);
            assert!(again.upgrade().is_none());
            drop(other);
        }
    }
    let drops = PoolRc::new(Cell::new(0));
    let mut list = None;
    for _ in 0..10 {
        let node = PoolRc::new(Node { me: RefCell::default(), next: list.take(), drops: drops.clone() });
        *node.me.borrow_mut() = Some(PoolRc::downgrade(&node));
        list = Some(node);
    }
    drop(list);
    assert_eq!((drops.get(), PoolRc::strong_count(&drops)), (10, 1));
}

#[test]
fn cycles_and_forgotten_pointers_only_leak() {
    let one = PoolRc::new(RefCell::new(None::<PoolRc<String>>));
    *one.borrow_mut() = Some(PoolRc::new(String::from("kept")));
    let weak = PoolRc::downgrade(&one);
    let address = PoolRc::as_ptr(&one);
    forget(PoolRc::clone(&one), address.addr());
    drop(one);
    let others: Vec<_> = (0..100).map(|_| PoolRc::new(RefCell::new(None::<PoolRc<String>>))).collect();
    assert!(others.iter().all(|other| PoolRc::as_ptr(other) != address));
    assert_eq!(**weak.upgrade().unwrap().borrow().as_ref().unwrap(), "kept");
}

#[test]
fn values_of_any_layout() {
    #[repr(align(128))]
    #[derive(Clone)]
    struct Line(u8);
    #[repr(align(1024))]
    #[derive(Clone)]
    struct Page;
    fn check<T: Clone + 'static>(value: T) {
        trait Any {}
        impl<T> Any for T {}
        let mut one = PoolArc::new(value);
        assert_eq!(PoolArc::as_ptr(&one).addr() % align_of::<T>(), 0);
        let weak = PoolArc::downgrade(&one);
        PoolArc::make_mut(&mut one);
        assert!(weak.upgrade().is_none());
        let dynamic: PoolArc<dyn Any> = PoolArc::clone(&one).coerce(|view| view as _);
        assert_eq!(size_of_val(&*dynamic), size_of::<T>());
        assert_eq!((&raw const *dynamic).cast::<()>(), PoolArc::as_ptr(&one).cast());
        let raw = PoolArc::into_raw(one);
        // SAFETY: the pointer came from `into_raw`, and is converted back once.
        drop(unsafe { PoolArc::from_raw(raw) });
        let raw: *const dyn Any = PoolArc::into_raw(dynamic);
        // SAFETY: the pointer came from `into_raw`, and is converted back once.
        let dynamic = unsafe { PoolArc::from_raw(raw) };
        let weak = PoolArc::downgrade(&dynamic);
        assert_eq!(PoolArc::strong_count(&weak.upgrade().unwrap()), 2);
        drop(dynamic);
        assert!(weak.upgrade().is_none());
    }
    check(());
    check(1_u8);
    check(String::from("a"));
    check(Line(1));
    check(Page);
    check([0_u64; 5000]);
    assert_eq!(Line(1).0, 1);
    let slice: PoolRc<[u16]> = PoolRc::new([1_u16, 2, 3]).coerce(|view| view as _);
    assert_eq!(slice.iter().sum::<u16>(), 6);
    assert!(panics(|| _ = PoolRc::new(1).coerce::<dyn Debug, _>(|_| panic!("no view"))));
}

#[test]
fn in_a_pool_of_your_own() {
    let left = left_by(|| {
        let pool = Pool::new();
        let (one, two) = (PoolRc::new_in(1, &pool), PoolArc::new_in(2, &pool));
        let weak = PoolRc::downgrade(&one);
        drop(pool);
        assert_eq!(*one + *two, 3);
        drop(one);
        drop(two);
        assert!(weak.upgrade().is_none());
    });
    assert_eq!(left, (0, 0), "the last pointer frees the pool's memory");
}

#[test]
fn pointers_outlive_their_thread() {
    struct AtExit(RefCell<Option<PoolRc<String>>>);
    impl Drop for AtExit {
        fn drop(&mut self) {
            let made = PoolRc::new(String::from("made at the end"));
            assert_eq!(PoolRc::clone(&made).len(), 15);
            assert_eq!(**self.0.take().as_ref().unwrap(), "kept");
        }
    }
    thread_local!(static AT_EXIT: AtExit = const { AtExit(RefCell::new(None)) });
    let shared = thread::spawn(|| {
        AT_EXIT.with(|at| at.0.replace(Some(PoolRc::new(String::from("kept")))));
        PoolArc::new(String::from("from a thread"))
    })
    .join()
    .unwrap();
    let weak: PoolArcWeak<String> = PoolArc::downgrade(&shared);
    assert_eq!(*weak.upgrade().unwrap(), "from a thread");
    drop(shared);
    thread::spawn(move || assert!(weak.upgrade().is_none())).join().unwrap();
}

/// Threads clone, drop, upgrade, and ask for the only pointer. The value is dropped once, after all that.
#[test]
fn threads_share_a_value() {
    struct Shared<'a>(u64, &'a AtomicUsize);
    impl Drop for Shared<'_> {
        fn drop(&mut self) {
            self.0 = u64::MAX;
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    impl Clone for Shared<'_> {
        fn clone(&self) -> Self {
            Shared(self.0, self.1)
        }
    }
    let rounds = if cfg!(miri) { 3 } else { 200 };
    for _ in 0..rounds {
        let drops = AtomicUsize::new(0);
        let (barrier, one) = (Barrier::new(3), PoolArc::new(Shared(1, &drops)));
        thread::scope(|scope| {
            let (mine, weak) = (PoolArc::clone(&one), PoolArc::downgrade(&one));
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                let mut mine = mine;
                assert!(mine.0 >= 1);
                PoolArc::make_mut(&mut mine).0 += 1;
                let weak = PoolArc::downgrade(&mine);
                drop(mine);
                assert!(weak.upgrade().is_none_or(|shared| shared.0 >= 2));
            });
            scope.spawn(move || {
                barrier.wait();
                for _ in 0..3 {
                    let other = weak.clone();
                    if let Some(mut shared) = other.upgrade() {
                        assert!(shared.0 >= 1 && shared.0 < 10);
                        if let Some(only) = PoolArc::get_mut(&mut shared) {
                            only.0 += 1;
                        }
                    }
                }
            });
            barrier.wait();
            if let Ok(mut shared) = PoolArc::try_unwrap(one) {
                shared.0 += 1;
            }
        });
        assert!((1..=2).contains(&drops.load(Ordering::Relaxed)));
    }
}

#[test]
fn auto_traits_and_forwarded_traits() {
    fn is_send_sync<T: Send + Sync>() {}
    fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe + Unpin>() {}
    is_send_sync::<PoolArc<u8>>();
    is_send_sync::<PoolArcWeak<u8>>();
    is_send_sync::<Pooled<u8>>();
    is_unwind_safe::<PoolArc<u8>>();
    is_unwind_safe::<PoolRc<u8>>();
    let map = HashMap::from([(PoolRc::new(String::from("key")), 1)]);
    assert_eq!(map.get(&String::from("key")), Some(&1));
    let pointers = [PoolRc::from(2), PoolRc::default()];
    assert_eq!((pointers.iter().min().unwrap().as_ref(), format!("{pointers:?}")), (&0, String::from("[2, 0]")));
    assert_eq!(size_of::<Option<PoolRc<u8>>>(), 8);
    fn shorten<'a>(long: PoolRc<&'static str>) -> PoolRc<&'a str> {
        long
    }
    assert_eq!(*shorten(PoolRc::new("a")), "a");
}

#[cfg(feature = "serde")]
#[test]
fn serde_round_trip() {
    let value = (Pooled::new(1_u8), PoolRc::new(String::from("a")), PoolArc::new(vec![2]));
    let json = serde_json::to_string(&value).unwrap();
    assert_eq!(json, "[1,\"a\",[2]]");
    assert_eq!(serde_json::from_str::<(Pooled<u8>, PoolRc<String>, PoolArc<Vec<i32>>)>(&json).unwrap(), value);
}

/// A shared value is counted once, and its own bytes belong to the pool.
#[cfg(feature = "weigh")]
#[test]
fn weigh_counts_a_shared_value_once() {
    let one = PoolRc::new(String::from("sixteen bytes at"));
    assert_eq!(dwell::weigh(&one).heap, 16);
    let pointers = [PoolRc::clone(&one), PoolRc::clone(&one), one];
    assert_eq!(dwell::weigh(&pointers).heap, 16);
    assert_eq!(dwell::weigh(&PoolRc::downgrade(&pointers[0])).heap, 0);
    let dynamic: PoolArc<[String]> = PoolArc::new([String::from("ab"), String::new()]).coerce(|view| view as _);
    assert_eq!(dwell::weigh(&dynamic).heap, 2);
    assert!(dwell::weigh(&PoolArc::new([0_u64; 5000])).heap >= 40_000, "a dedicated block");
}
