//! What `Rc`, `Arc` and `Box` have as well: cyclic values, weak pointers to none, slices and texts, downcasts, pins.

mod common;

use common::Counts;
use dwell::pooled;
use dwell::slab::{PoolArc, PoolArcWeak, PoolRc, PoolRcWeak, Pooled, trim};
use std::any::Any;
use std::cell::RefCell;
use std::fmt::{Debug, Display};

use std::sync::OnceLock;
use std::task::{Context, Waker};
use std::thread;

#[test]
fn weak_pointers_to_no_value() {
    let none: PoolRcWeak<String> = PoolRcWeak::new();
    assert!(none.upgrade().is_none() && none.clone().upgrade().is_none());
    assert_eq!((none.strong_count(), none.weak_count()), (0, 0));
    assert!(none.ptr_eq(&PoolRcWeak::default()));
    let one = PoolRc::new(String::from("one"));
    let weak = PoolRc::downgrade(&one);
    assert!(!weak.ptr_eq(&none) && weak.ptr_eq(&weak.clone()));
    assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    drop(one);
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 0));
    let shown: PoolRcWeak<dyn Debug> = none.coerce(|view| view as _);
    assert!(shown.clone().upgrade().is_none() && shown.ptr_eq(&shown.clone()));
    static NONE: PoolArcWeak<u64> = PoolArcWeak::new();
    assert!(thread::spawn(|| NONE.clone().upgrade().is_none()).join().unwrap());
}

#[test]
fn weak_pointers_are_unsized() {
    let number = PoolArc::new([7_u32; 3]);
    let weak = PoolArc::downgrade(&number);
    let slice: PoolArcWeak<[u32]> = weak.clone().coerce(|view| view as _);
    let shown: PoolArcWeak<dyn Debug + Send + Sync> = weak.coerce(|view| view as _);
    assert_eq!((slice.upgrade().unwrap().len(), slice.weak_count()), (3, 2));
    assert_eq!(format!("{:?}", shown.upgrade().unwrap()), "[7, 7, 7]");
    let before = PoolArc::downgrade(&number);
    drop(number);
    assert!(slice.upgrade().is_none());
    // The value was dropped before.
    let after: PoolArcWeak<dyn Any + Send + Sync> = before.coerce(|view| view as _);
    drop((slice, shown));
    trim();
    assert!(after.upgrade().is_none());
}

struct Node<'a> {
    this: PoolRcWeak<Node<'a>>,
    children: RefCell<Vec<PoolRc<Node<'a>>>>,
    _spy: common::Spy<'a>,
}

#[test]
fn cyclic_values() {
    let counts = Counts::default();
    let left = common::left_by(|| {
        let root = PoolRc::new_cyclic(|this: &PoolRcWeak<Node<'_>>| {
            assert!(this.upgrade().is_none());
            assert_eq!((this.strong_count(), this.weak_count()), (0, 0));
            Node { this: this.clone(), children: RefCell::default(), _spy: counts.spy(1) }
        });
        assert_eq!((PoolRc::strong_count(&root), PoolRc::weak_count(&root)), (1, 1));
        let child =
            PoolRc::new_cyclic(|this| Node { this: this.clone(), children: RefCell::default(), _spy: counts.spy(2) });
        root.children.borrow_mut().push(child);
        let again = root.this.upgrade().unwrap();
        assert!(PoolRc::ptr_eq(&root, &again));
        drop(root);
        let parent = again.this.clone();
        drop(again);
        assert!(parent.upgrade().is_none());
        drop(parent);
        // A panic frees the cell, now or with the last weak pointer.
        let mut kept = None;
        assert!(common::panics(|| {
            PoolRc::new_cyclic(|this: &PoolRcWeak<Node<'_>>| {
                kept = Some(this.clone());
                panic!("no value")
            });
        }));
        assert!(kept.unwrap().upgrade().is_none());
        assert!(common::panics(|| drop(PoolArc::new_cyclic(|_: &PoolArcWeak<[u8; 9000]>| panic!("no large value")))));
        trim();
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

#[test]
fn cyclic_values_are_upgraded_by_other_threads() {
    for _ in 0..if cfg!(miri) { 3 } else { 300 } {
        let mut other = None;
        let value = PoolArc::new_cyclic(|weak: &PoolArcWeak<[u64; 3]>| {
            let weak = weak.clone();
            other = Some(thread::spawn(move || {
                loop {
                    if let Some(value) = weak.upgrade() {
                        return value[2];
                    }
                    thread::yield_now();
                }
            }));
            [1, 2, 3]
        });
        assert_eq!(other.unwrap().join().unwrap(), 3);
        drop(value);
    }
}

#[test]
fn exactly_one_into_inner_gets_the_value() {
    for _ in 0..if cfg!(miri) { 3 } else { 300 } {
        let pointers: Vec<_> = std::iter::repeat_n(PoolArc::new(String::from("one")), 3).collect();
        let weak = PoolArc::downgrade(&pointers[0]);
        let threads: Vec<_> =
            pointers.into_iter().map(|pointer| thread::spawn(move || PoolArc::into_inner(pointer))).collect();
        let got: Vec<String> = threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(got, ["one"]);
        assert!(weak.upgrade().is_none());
    }
    let one = PoolRc::new(Box::new(1));
    let two = one.clone();
    assert_eq!(PoolRc::into_inner(one), None);
    assert_eq!(PoolRc::into_inner(two), Some(Box::new(1)));
}

#[test]
fn slices_and_texts() {
    let counts = Counts::default();
    let left = common::left_by(|| {
        for len in if cfg!(miri) { [0, 1, 2, 5, 30] } else { [0, 1, 2, 100, 3000] } {
            let boxed = |n: usize| (Box::new(n), counts.spy(0));
            let counted: PoolRc<[_]> = (0..len).map(boxed).collect::<Vec<_>>().into();
            let owned: Pooled<[_]> = (0..len).map(boxed).collect();
            assert!(counted.iter().zip(&*owned).zip(0..).all(|((one, two), n)| (*one.0, *two.0) == (n, n)));
            assert_eq!((counted.len(), owned.len()), (len, len));
            let weak = PoolRc::downgrade(&counted);
            let other = counted.clone();
            drop(counted);
            assert_eq!(weak.upgrade().unwrap().len(), len);
            drop(other);
            assert!(weak.upgrade().is_none());
            let text = "ä".repeat(len);
            let (shared, owned) = (PoolArc::<str>::from(text.as_str()), Pooled::<str>::from(text.clone()));
            assert_eq!((&*shared, &*owned), (&*text, &*text));
            assert_eq!(shared.len() + owned.len(), 4 * len);
        }
        let array: PoolArc<[u16]> = [1, 2, 3].into();
        assert_eq!(&array[..], [1, 2, 3]);
        let copied: PoolRc<[String]> = PoolRc::from(&[String::from("a")][..]);
        assert_eq!(copied[0], Pooled::<[String]>::from(&copied[..])[0]);
        let empty: PoolRc<[u128]> = Vec::new().into();
        assert!(empty.is_empty() && PoolRc::as_ptr(&empty).cast::<u128>().is_aligned());
        #[repr(align(256))]
        #[derive(Clone, PartialEq, Debug)]
        struct Wide(u8);
        let wide: PoolArc<[Wide]> = vec![Wide(1), Wide(2)].into();
        let owned: Pooled<[Wide]> = wide.iter().cloned().collect();
        assert!(wide.as_ptr().is_aligned() && owned.as_ptr().cast::<Wide>().is_aligned());
        assert_eq!((&wide[1], &owned[0]), (&Wide(2), &Wide(1)));
        drop((wide, owned));
        assert!(PoolArc::<[Wide]>::from(Vec::new()).is_empty() && Pooled::<[Wide]>::from(Vec::new()).is_empty());
        let units: PoolRc<[()]> = vec![(); 5].into();
        assert_eq!(units.len(), 5);
        drop(units);
        drop((array, copied, empty));
        trim();
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

#[test]
fn slices_and_texts_are_dropped_on_other_threads() {
    let (shared, owned) = (PoolArc::<str>::from("shared"), Pooled::<[String]>::from(vec![String::from("owned")]));
    let other = shared.clone();
    assert_eq!(thread::spawn(move || other.len() + owned[0].len()).join().unwrap(), 11);
    assert_eq!(&*shared, "shared");
}

#[test]
fn downcasts() {
    let any: Pooled<dyn Any> = pooled!(String::from("text"));
    let any = any.downcast::<u8>().unwrap_err();
    assert_eq!(*any.downcast::<String>().unwrap(), "text");
    let any: Pooled<dyn Any + Send> = pooled!([1_u8; 9000]);
    assert_eq!(any.downcast::<[u8; 9000]>().unwrap()[8999], 1);
    let any: PoolRc<dyn Any> = PoolRc::new(7_u64).coerce(|view| view as _);
    let other = any.clone();
    let any = any.downcast::<String>().unwrap_err();
    assert_eq!((*any.downcast::<u64>().unwrap(), other.is::<u64>()), (7, true));
    let any: PoolArc<dyn Any + Send + Sync> = PoolArc::new(String::from("text")).coerce(|view| view as _);
    assert_eq!(*thread::spawn(move || any.downcast::<String>().unwrap()).join().unwrap(), "text");
}

#[test]
fn pins_and_leaks() {
    let mut future = Box::pin(async {
        let pinned = PoolRc::pin(String::from("pinned"));
        let other = pinned.clone();
        std::future::ready(()).await;
        pinned.len() + other.len()
    });
    let mut context = Context::from_waker(Waker::noop());
    assert!(Future::poll(future.as_mut(), &mut context).is_ready());
    // A static keeps it, so that sanitizers see no leak. `from_raw` must not get it: a reference reaches the value only.
    static LEAKED: OnceLock<&'static (dyn Display + Send + Sync)> = OnceLock::new();
    let leaked: &'static mut (dyn Display + Send + Sync) = Pooled::leak(pooled!(7));
    assert_eq!(LEAKED.get_or_init(|| leaked).to_string(), "7");
}

#[test]
fn a_pooled_reader_writes_and_hashes_as_its_value() {
    use std::fmt::Write as _;
    use std::hash::Hasher;
    use std::io::{BufRead, Cursor, Read, Seek, Write};
    let mut file: Pooled<Cursor<Vec<u8>>> = Pooled::new(Cursor::new(Vec::new()));
    file.write_all(b"one\ntwo").unwrap();
    file.rewind().unwrap();
    let mut line = String::new();
    assert_eq!((file.read_line(&mut line).unwrap(), line.as_str()), (4, "one\n"));
    let mut file: Pooled<dyn Read> = file.coerce(|view| view as _);
    line.clear();
    assert_eq!((file.read_to_string(&mut line).unwrap(), line.as_str()), (3, "two"));
    let mut text = Pooled::new(String::new());
    write!(text, "{}", 7).unwrap();
    let mut hasher = Pooled::new(std::hash::DefaultHasher::new());
    let mut own = std::hash::DefaultHasher::new();
    hasher.write(text.as_bytes());
    own.write(b"7");
    assert_eq!(hasher.finish(), own.finish());
    assert_eq!(*Pooled::pin(String::from("pinned")), "pinned");
}
