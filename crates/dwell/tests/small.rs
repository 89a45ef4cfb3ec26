//! Tests of `SmallBox`, whose behaviour is that of `Box`.

#![cfg_attr(feature = "nightly", feature(allocator_api))]

#[path = "ops/small.rs"]
mod ops;

use dwell::alloc::Global;
use dwell::small::{CallOnce, PushCoerced};
use dwell::{SmallBox, small_box, small_box_const};
use proptest::prelude::*;
use std::any::Any;
use std::borrow::{Borrow, Cow};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::{self, Debug, Display};
use std::future::Future;
use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn behaves_like_box(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        ops::run(&bytes);
    }
}

#[repr(align(32))]
struct Align32;

#[test]
fn size_and_niche() {
    const WORD: usize = size_of::<usize>();
    fn check<T: ?Sized>() {
        assert_eq!(size_of::<SmallBox<T>>(), 3 * WORD);
        assert_eq!(size_of::<Option<SmallBox<T>>>(), 3 * WORD);
        assert_eq!(size_of::<SmallBox<T, 1>>(), 2 * WORD);
        assert_eq!(size_of::<Option<SmallBox<T, 1>>>(), 2 * WORD);
        assert_eq!(size_of::<SmallBox<T, 7>>(), 8 * WORD);
        assert_eq!(align_of::<SmallBox<T>>(), align_of::<usize>());
        assert_eq!(align_of::<SmallBox<T, 2, Global, Align32>>(), 32);
        assert_eq!(size_of::<Option<SmallBox<T, 4, Global, Align32>>>(), 64);
    }
    check::<dyn Any>();
    check::<dyn Fn() + Send + Sync>();
    check::<[u8]>();
    check::<[u128]>();
    check::<str>();
    check::<u64>();
    check::<[u64; 100]>();
}

#[test]
fn the_niche_is_not_a_value() {
    let empty: Option<SmallBox<[u8]>> = Some(SmallBox::default());
    assert_eq!(empty.as_deref(), Some(&[][..]));
    let boxed: Option<SmallBox<[u8]>> = Some(SmallBox::from_box(Box::default()));
    assert_eq!(boxed.as_deref(), Some(&[][..]));
    let nothing: Option<SmallBox<()>> = Some(SmallBox::new(()));
    assert!(nothing.is_some());
    assert!(None::<SmallBox<dyn Any>>.is_none());
}

#[test]
fn values_of_up_to_n_words_are_inline() {
    fn inline<const N: usize, const BYTES: usize>() -> bool {
        let small: SmallBox<[u8], N> = small_box!([1_u8; BYTES]);
        assert_eq!(small.len(), BYTES);
        assert!(small.iter().all(|&byte| byte == 1));
        small.is_inline()
    }
    let word = size_of::<usize>();
    assert!(word == 8, "the sizes below are for 64 bits");
    assert!(inline::<1, 0>() && inline::<1, 1>() && inline::<1, 7>() && inline::<1, 8>() && !inline::<1, 9>());
    assert!(inline::<2, 13>() && inline::<2, 16>() && !inline::<2, 17>());
    assert!(inline::<32, 256>() && !inline::<32, 257>());
}

#[test]
fn alignment_is_kept_and_can_be_increased() {
    fn aligned<T: ?Sized + Any, const N: usize, L>(small: &SmallBox<T, N, Global, L>) -> bool {
        let (address, align) = ((&raw const **small).addr(), align_of_val(&**small));
        address.is_multiple_of(align)
    }
    #[repr(align(64))]
    struct Line(u8);

    let default: SmallBox<Line, 8> = SmallBox::from(Line(1));
    assert!(!default.is_inline() && aligned(&default) && default.0 == 1);
    let raised: SmallBox<Line, 8, Global, Line> = SmallBox::from(Line(2));
    assert!(raised.is_inline() && aligned(&raised) && raised.0 == 2);
    let erased: SmallBox<dyn Any, 8, Global, Line> = raised.coerce(|value| value as _);
    assert!(erased.is_inline());
    assert_eq!(erased.downcast_ref::<Line>().unwrap().0, 2);
    // The words added by padding are not inline capacity: only `N` counts.
    let narrow: SmallBox<Line, 7, Global, Line> = SmallBox::from(Line(3));
    assert!(!narrow.is_inline() && aligned(&narrow));
    // The heap pointer is at another offset than in a box of ordinary alignment.
    let large: SmallBox<dyn Any, 2, Global, Line> = small_box!([7_u64; 9]);
    assert_eq!(large.downcast_ref::<[u64; 9]>(), Some(&[7; 9]));
    let wide = large.resize::<16>();
    assert!(wide.is_inline());
    assert_eq!(wide.downcast_ref::<[u64; 9]>(), Some(&[7; 9]));
}

#[test]
fn construction() {
    assert_eq!(SmallBox::<_, 1>::new_in([1_u64, 2], Global).into_inner(), [1, 2]);
    assert_eq!(SmallBox::<_, 2>::new([1_u64, 2]).into_inner(), [1, 2]);
    assert_eq!(SmallBox::<u8, 2>::try_new(3).unwrap().into_inner(), 3);
    assert_eq!(**SmallBox::<Box<u8>>::new_with(|| Box::new(1)), 1);
    let display = SmallBox::<dyn Display, 3>::new_coerced("text", |value| value);
    assert_eq!(display.to_string(), "text");
    let tail: SmallBox<RefCell<dyn Any>> = small_box!(RefCell::new(7_u8));
    *(*tail).borrow_mut().downcast_mut::<u8>().unwrap() += 1;
    assert_eq!((*tail).borrow().downcast_ref::<u8>(), Some(&8));
    let mut uninit = SmallBox::<String>::new_uninit();
    uninit.write("written".into());
    // SAFETY: the value was written above.
    assert_eq!(*unsafe { uninit.assume_init() }, "written");
    // A closure that coerces in two steps.
    let by: SmallBox<dyn Error> = SmallBox::new_coerced(fmt::Error, |place| {
        let send: &dwell::small::Coercible<fmt::Error, dyn Error + Send + Sync> = place;
        send as _
    });
    assert_eq!(by.to_string(), fmt::Error.to_string());
}

#[test]
fn upcasting_keeps_the_value() {
    trait Base: Any {
        fn base(&self) -> u64;
    }
    trait Derived: Base + Debug {}
    #[derive(Debug)]
    struct Value<const N: usize>([u64; N]);
    impl<const N: usize> Base for Value<N> {
        fn base(&self) -> u64 {
            self.0.iter().sum()
        }
    }
    impl<const N: usize> Derived for Value<N> {}

    fn check<const N: usize>() {
        let derived: SmallBox<dyn Derived> = small_box!(Value([3; N]));
        let base: SmallBox<dyn Base> = derived.coerce(|value| value as _);
        assert_eq!(base.base(), 3 * N as u64);
        assert_eq!(base.is_inline(), N <= 2);
        let any: SmallBox<dyn Any> = base.coerce(|value| value as _);
        assert_eq!(any.downcast::<Value<N>>().unwrap().into_inner().0, [3; N]);
    }
    check::<0>();
    check::<2>();
    check::<3>();
}

#[test]
fn box_conversions_keep_the_block() {
    let boxed: Box<dyn Any> = Box::new(7_u8);
    let address = (&raw const *boxed).addr();
    let small: SmallBox<dyn Any> = boxed.into();
    assert!(!small.is_inline());
    assert_eq!((&raw const *small).addr(), address);
    let boxed = small.into_box();
    assert_eq!((&raw const *boxed).addr(), address);
    let inline = SmallBox::<dyn Any>::from_box(boxed).resize::<2>();
    assert!(inline.is_inline());
    assert_eq!(inline.into_box().downcast_ref::<u8>(), Some(&7));

    let slice: Box<[String]> = ["a", "b", "c"].map(String::from).into();
    let pointer = slice.as_ptr();
    let small: SmallBox<[String]> = slice.into();
    assert_eq!(small.as_ptr(), pointer);
    let vec = Vec::from(small);
    assert_eq!(vec.as_ptr(), pointer);
}

static SHAPE: SmallBox<dyn Display + Sync> = small_box_const!(7_u8);
static SLICE: SmallBox<[&str]> = small_box_const!(["one"]);
static COUNTER: SmallBox<AtomicU64> = SmallBox::new_const(AtomicU64::new(0));
static FUNCTION: SmallBox<dyn Fn(u8) -> u8 + Sync> = small_box_const!(PlusOne::plus_one);

trait PlusOne {
    fn plus_one(self) -> u8;
}

impl PlusOne for u8 {
    fn plus_one(self) -> u8 {
        self + 1
    }
}

#[test]
fn constants_and_statics() {
    assert_eq!(SHAPE.to_string(), "7");
    assert_eq!(&*SLICE, ["one"]);
    COUNTER.fetch_add(2, Ordering::Relaxed);
    assert_eq!(COUNTER.load(Ordering::Relaxed), 2);
    assert_eq!(FUNCTION(3), 4);
    assert!(SHAPE.is_inline() && SLICE.is_inline() && FUNCTION.is_inline());
}

#[test]
fn writes_through_interior_mutability_are_visible() {
    // Without `UnsafeCell` in the box, an optimised build could reuse the first value read.
    fn increment(cell: &SmallBox<Cell<u64>>) -> (u64, u64) {
        let before = cell.get();
        std::hint::black_box(&**cell).set(before + 1);
        (before, cell.get())
    }
    let cell = SmallBox::new(Cell::new(1));
    assert!(cell.is_inline());
    assert_eq!(increment(&cell), (1, 2));
    assert_eq!(increment(&cell), (2, 3));

    trait Count {
        fn count(&self) -> u64;
    }
    impl Count for Cell<u64> {
        fn count(&self) -> u64 {
            self.set(self.get() + 1);
            self.get()
        }
    }
    let counter: SmallBox<dyn Count> = small_box!(Cell::new(0_u64));
    assert_eq!((counter.count(), counter.count(), counter.count()), (1, 2, 3));
}

#[test]
fn inline_atomics_are_shared_between_threads() {
    trait Add: Sync + Send {
        fn add(&self);
        fn get(&self) -> u64;
    }
    impl Add for AtomicU64 {
        fn add(&self) {
            self.fetch_add(1, Ordering::Relaxed);
        }

        fn get(&self) -> u64 {
            self.load(Ordering::Relaxed)
        }
    }
    let n = match std::env::var_os("DWELL_TEST_CASES") {
        _ if cfg!(miri) => 20,
        Some(_) => 1_000,
        None => 100_000,
    };
    let shared: SmallBox<dyn Add> = small_box!(AtomicU64::new(0));
    assert!(shared.is_inline());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..n).for_each(|_| shared.add()));
        }
    });
    assert_eq!(shared.get(), 4 * n);
    // Sent to another thread and back.
    let back = std::thread::spawn(move || shared).join().unwrap();
    assert_eq!(back.get(), 4 * n);
}

#[test]
fn closures() {
    let add: SmallBox<dyn Fn(u32) -> u32> = small_box!(|n: u32| n + 1);
    assert_eq!(add(1), 2);
    let mut total = 0;
    let mut sum: SmallBox<dyn FnMut(u32) + '_> = small_box!(|n: u32| total += n);
    sum(2);
    sum(3);
    drop(sum);
    assert_eq!(total, 5);

    let counter = Rc::new(());
    let held = (Rc::clone(&counter), [1_u64; 4]);
    let large: SmallBox<dyn CallOnce<(u64,), Output = usize>> = small_box!(move |n: u64| {
        let held = &held; // captures the whole value
        held.1.len() + usize::try_from(n).unwrap()
    });
    assert!(!large.is_inline());
    assert_eq!(large.call_once((1,)), 5);
    let held = Rc::clone(&counter);
    let small: SmallBox<dyn CallOnce<(), Output = Rc<()>>> = small_box!(move || held);
    assert!(small.is_inline());
    assert!(Rc::ptr_eq(&small.call_once(()), &counter));
    let held = Rc::clone(&counter);
    let any: SmallBox<dyn for<'a> CallOnce<(&'a str,), Output = usize>> = small_box!(|text: &str| text.len());
    assert_eq!(any.call_once((&*String::from("four"),)), 4);
    let object: SmallBox<dyn FnOnce(&str) -> usize + Send> = small_box!(|text: &str| text.len());
    assert_eq!(object.into_box()("four"), 4);
    let object: SmallBox<dyn FnOnce(u8, u8) -> usize> = small_box!(move |a: u8, b: u8| {
        drop(held);
        usize::from(a + b)
    });
    assert_eq!(object.call_once((1, 2)), 3);
    let never_called: SmallBox<dyn FnOnce()> = small_box!({
        let held = Rc::clone(&counter);
        move || drop(held)
    });
    drop(never_called);
    assert_eq!(Rc::strong_count(&counter), 1);
}

#[test]
fn downcast_to_the_concrete_type() {
    let any: SmallBox<dyn Any + Send> = small_box!(String::from("text"));
    let any = any.downcast::<u8>().unwrap_err();
    assert_eq!(any.downcast::<String>().unwrap().into_inner(), "text");
    let any: SmallBox<dyn Any + Send + Sync> = small_box!(1_u8);
    assert!(any.downcast::<u8>().is_ok());

    fn fails() -> Result<(), SmallBox<dyn Error + Send + Sync>> {
        "x".parse::<u8>()?;
        Ok(())
    }
    let error = fails().unwrap_err();
    assert!(error.is_inline());
    assert!(error.downcast::<std::num::ParseIntError>().is_ok());
}

#[test]
fn slices_and_strings() {
    let slice: SmallBox<[u8]> = [1, 2, 3].into();
    let copy: SmallBox<[u8]> = (&[1, 2, 3][..]).into();
    assert_eq!(slice, copy);
    assert_eq!(slice, Cow::Borrowed(&[1_u8, 2, 3][..]).into());
    assert!(slice < SmallBox::from([1, 2, 4]));
    assert_eq!(Vec::from(slice.clone()), [1, 2, 3]);
    assert_eq!(SmallBox::<[u8; 3]>::try_from(slice.clone()).unwrap().into_inner(), [1, 2, 3]);
    assert!(SmallBox::<[u8; 4]>::try_from(slice.clone()).is_err());
    assert_eq!((&slice).into_iter().sum::<u8>(), 6);
    let mut changed = slice.clone();
    for byte in &mut changed {
        *byte += 1;
    }
    assert_eq!(*changed, [2, 3, 4]);
    changed.clone_from(&slice);
    assert_eq!(changed, slice);
    assert_eq!(SmallBox::<[String]>::default().len(), 0);

    let text: SmallBox<str> = "text".into();
    assert_eq!(text, String::from("text").into());
    assert_eq!(&*SmallBox::<str>::from("x".repeat(40)), "x".repeat(40));
    assert_eq!(&*SmallBox::<[u8]>::from(text.clone()), b"text");
    assert_eq!(String::from(text.clone()), "text");
    assert_eq!(["a", "b"].into_iter().collect::<SmallBox<str>>(), "ab".into());
    assert_eq!([text.clone(), text.clone()].into_iter().collect::<SmallBox<str>>(), "texttext".into());
    assert_eq!(&*SmallBox::<str>::default(), "");
    assert_eq!(&*SmallBox::<std::ffi::CStr>::from(c"c"), c"c");
    assert_eq!(SmallBox::<std::path::Path>::from(std::path::PathBuf::from("a/b")).file_name(), Some("b".as_ref()));
    #[expect(clippy::mutable_key_type, reason = "a `str` has no interior mutability, whatever holds it")]
    let map: HashMap<SmallBox<str>, u8> = [(text, 1)].into();
    assert_eq!(map.get("text"), Some(&1)); // `Borrow` and `Hash`
}

#[test]
fn collect_any_number_of_elements() {
    for len in 0..40 {
        let counter = Rc::new(());
        let values: SmallBox<[(u32, Rc<()>)], 6> = (0..len).map(|n| (n, Rc::clone(&counter))).collect();
        assert_eq!(values.len(), len as usize);
        assert_eq!(values.is_inline(), len <= 3);
        assert!(values.iter().enumerate().all(|(at, value)| value.0 as usize == at));
        let mut values = values.into_iter();
        assert_eq!(values.len(), len as usize);
        assert_eq!(values.next().map(|value| value.0), (len > 0).then_some(0));
        assert_eq!(values.next_back().map(|value| value.0), (len > 1).then(|| len - 1));
        drop(values);
        assert_eq!(Rc::strong_count(&counter), 1);
    }
    let nothing: SmallBox<[()]> = std::iter::repeat_n((), 1000).collect();
    assert_eq!(nothing.into_iter().count(), 1000);
}

#[test]
fn iterators_are_forwarded() {
    struct Steps(Vec<&'static str>);
    impl Iterator for &mut Steps {
        type Item = u8;
        fn next(&mut self) -> Option<u8> {
            self.0.push("next");
            Some(1)
        }
        fn size_hint(&self) -> (usize, Option<usize>) {
            (7, Some(7))
        }
        fn nth(&mut self, _: usize) -> Option<u8> {
            self.0.push("nth");
            Some(2)
        }
    }
    impl DoubleEndedIterator for &mut Steps {
        fn next_back(&mut self) -> Option<u8> {
            self.0.push("next_back");
            Some(3)
        }
        fn nth_back(&mut self, _: usize) -> Option<u8> {
            self.0.push("nth_back");
            Some(4)
        }
    }
    impl ExactSizeIterator for &mut Steps {
        fn len(&self) -> usize {
            9
        }
    }
    let mut steps = Steps(Vec::new());
    let mut small: SmallBox<dyn DoubleEndedIterator<Item = u8> + '_> = small_box!(&mut steps);
    assert_eq!(
        (small.next(), small.nth(3), small.next_back(), small.nth_back(1)),
        (Some(1), Some(2), Some(3), Some(4))
    );
    assert_eq!(small.size_hint(), (7, Some(7)));
    drop(small);
    assert_eq!(steps.0, ["next", "nth", "next_back", "nth_back"]);
    let small: SmallBox<dyn ExactSizeIterator<Item = u8> + '_> = small_box!(&mut steps);
    assert_eq!(small.len(), 9);
}

#[test]
fn readers_writers_and_hashers() {
    let mut reader: SmallBox<dyn BufRead> = small_box!(&b"line\nrest"[..]);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    reader.read_to_string(&mut line).unwrap();
    assert_eq!(line, "line\nrest");
    let mut bytes = Vec::new();
    let mut writer: SmallBox<dyn Write + '_> = small_box!(&mut bytes);
    write!(writer, "{}", 7).unwrap();
    drop(writer);
    assert_eq!(bytes, b"7");
    let mut cursor: SmallBox<dyn Seek, 4> = small_box!(std::io::Cursor::new(vec![0_u8; 9]));
    assert_eq!(cursor.seek(SeekFrom::End(-2)).unwrap(), 7);
    let mut text = String::new();
    let mut writer: SmallBox<dyn fmt::Write + '_> = small_box!(&mut text);
    fmt::Write::write_str(&mut writer, "text").unwrap();
    drop(writer);
    assert_eq!(text, "text");
    let mut small: SmallBox<dyn Hasher, 10> = small_box!(DefaultHasher::new());
    let mut plain = DefaultHasher::new();
    small.write_u32(7);
    plain.write_u32(7);
    assert_eq!(small.finish(), plain.finish());
}

/// A future that is ready at its second poll and borrows from itself, so it is not `Unpin`.
async fn two_polls(value: u32) -> u32 {
    let mut local = value;
    let pinned = &mut local; // borrows from the future itself
    let mut first = true;
    std::future::poll_fn(|_| if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) }).await;
    *pinned += 1;
    *pinned
}

#[test]
fn small_box_futures_can_be_awaited() {
    fn check<const N: usize>(inline: bool) {
        let future: SmallBox<dyn Future<Output = u32>, N> = small_box!(two_polls(7));
        assert_eq!(future.is_inline(), inline);
        let outer = async move { future.await + 1 };
        let mut outer = pin!(outer);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(outer.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(outer.as_mut().poll(&mut context), Poll::Ready(9));
    }
    check::<1>(false);
    check::<16>(true);
    // A future that may move needs no pin.
    let mut ready: SmallBox<dyn Future<Output = u8> + Unpin> = small_box!(std::future::ready(1_u8));
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(Pin::new(&mut ready).poll(&mut context), Poll::Ready(1));
}

#[test]
fn push_with_builds_the_box_in_the_vector() {
    const MANY: u64 = if cfg!(miri) { 20 } else { 100 };
    let mut boxes: Vec<SmallBox<dyn Any>> = Vec::new();
    for n in 0..MANY {
        boxes.push_coerced(n, |value| value);
        boxes.try_push_coerced([n; 3], |value| value).unwrap();
    }
    assert_eq!(boxes.len() as u64, 2 * MANY);
    assert!(boxes.iter().step_by(2).enumerate().all(|(n, value)| value.downcast_ref() == Some(&(n as u64))));
}

#[test]
fn comparisons_and_text() {
    let (one, two): (SmallBox<u8>, SmallBox<u8>) = (1.into(), 2.into());
    assert!(one < two && one != two && one == one.clone());
    assert_eq!(one.cmp(&two), std::cmp::Ordering::Less);
    assert_eq!(format!("{one} {one:?}"), "1 1");
    assert_eq!(format!("{one:p}"), format!("{:p}", &raw const *one));
    assert_eq!(*SmallBox::<u8>::default(), 0);
    let borrowed: &u8 = one.borrow();
    assert_eq!(borrowed, one.as_ref());
    let mut changed = one.clone();
    changed.clone_from(&two);
    *changed.as_mut() += 1;
    assert_eq!(*changed, 3);
}

#[cfg(feature = "serde")]
#[test]
fn serializes_like_the_value() {
    fn check<T: ?Sized>(json: &str)
    where
        SmallBox<T>: serde::Serialize + serde::de::DeserializeOwned,
    {
        let small: SmallBox<T> = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&small).unwrap(), json);
    }
    check::<u8>("7");
    check::<[u64; 4]>("[1,2,3,4]");
    check::<str>("\"text\"");
    check::<str>("\"more than sixteen bytes\"");
    check::<[String]>("[\"a\",\"b\",\"c\"]");
    check::<[u8]>("[]");
    assert!(serde_json::from_str::<SmallBox<[u8]>>("[1,\"x\"]").is_err());
    let bytes = postcard::to_allocvec(&SmallBox::<str>::from("text")).unwrap();
    assert_eq!(&*postcard::from_bytes::<SmallBox<str>>(&bytes).unwrap(), "text");
}

#[cfg(feature = "nightly")]
mod nightly {
    use dwell::SmallBox;
    use std::fmt::Debug;

    fn call(f: impl FnOnce(u8) -> u8) -> u8 {
        f(1)
    }

    #[test]
    fn boxes_of_closures_are_closures() {
        let held = vec![1_u8, 2];
        let once: SmallBox<dyn FnOnce(u8) -> u8, 4> = SmallBox::new_unsize(move |n| held.into_iter().sum::<u8>() + n);
        assert!(once.is_inline());
        assert_eq!(call(once), 4);
        let held = [1_u8; 100];
        let once: SmallBox<dyn FnOnce(u8) -> u8> = SmallBox::new_unsize(move |n| held[0] + n);
        assert_eq!(call(once), 2);
        let shared: SmallBox<dyn Fn(u8) -> u8> = SmallBox::new_unsize(|n| n * 3);
        assert_eq!((call(&shared), call(shared)), (3, 3));
    }

    #[test]
    fn unsizing() {
        let debug: SmallBox<dyn Debug> = SmallBox::<_>::new([1_u8, 2]).unsize();
        assert_eq!(format!("{debug:?}"), "[1, 2]");
        assert!(SmallBox::<[u8], 1>::try_new_unsize([1; 9]).is_ok());
    }
}
