//! Attempts to break `SmallBox` with safe code, by bugs that inline boxes and similar containers have had.
#![cfg_attr(feature = "nightly", feature(allocator_api))]

mod common;

use common::{Counts, Spy, failing_after, left_by, panics};
use dwell::alloc::Global;
use dwell::small::{CallOnce, Coercible, PushCoerced};
use dwell::{SmallBox, small_box, small_box_const};
use std::any::Any;
use std::cell::Cell;
use std::mem;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// A spy with padding that makes it too large for two words.
#[derive(Clone)]
struct Large<'a>(Spy<'a>, #[allow(dead_code, reason = "size")] [u64; 4]);

trait Object {}
impl<T> Object for T {}

fn small(counts: &Counts) -> SmallBox<dyn Object + '_> {
    let boxed: SmallBox<dyn Object + '_> = small_box!(counts.spy(1));
    assert!(boxed.is_inline());
    boxed
}

fn large(counts: &Counts) -> SmallBox<dyn Object + '_> {
    let boxed: SmallBox<dyn Object + '_> = small_box!(Large(counts.spy(1), [7; 4]));
    assert!(!boxed.is_inline());
    boxed
}

#[test]
fn every_exit_drops_once_and_frees_the_block() {
    let counts = Counts::default();
    let left = left_by(|| {
        for make in [small, large] {
            drop(make(&counts));
            drop(make(&counts).into_box());
            drop(make(&counts).resize::<1>());
            drop(make(&counts).resize::<9>());
            drop(make(&counts).resize::<9>().resize::<2>());
            drop(SmallBox::<_, 2>::from_box(make(&counts).into_box()));
            let mut replaced = Some(make(&counts));
            drop(replaced.replace(make(&counts)));
        }
        drop(SmallBox::<_, 2>::new(counts.spy(1)).into_inner());
        drop(SmallBox::<_, 2>::new(Large(counts.spy(1), [0; 4])).into_inner());
        drop(SmallBox::<Spy<'_>, 2>::from(Box::new(counts.spy(1))).into_inner());
        drop(SmallBox::<_, 2>::new_with(|| counts.spy(1)));
        drop(SmallBox::<[Spy<'_>]>::from([counts.spy(1), counts.spy(2)]));
        drop(SmallBox::<[Spy<'_>]>::from(vec![counts.spy(1)]));
        drop(SmallBox::<[Spy<'_>]>::from(vec![counts.spy(1), counts.spy(2)]).into_iter());
        let spy = counts.spy(1);
        let call: SmallBox<dyn CallOnce<(), Output = u32> + '_> = small_box!(move || spy.value);
        assert_eq!(call.call_once(()), 1);
        let spy = counts.spy(1);
        let call: SmallBox<dyn FnOnce() -> u32 + '_> = small_box!(move || spy.value);
        assert_eq!(call.call_once(()), 1);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

/// A call of a spilled closure keeps its block until the call ends, so nothing is allocated; also of one without a size, which
/// has no block. A call that panics frees it.
#[test]
fn calling_a_spilled_closure_allocates_nothing() {
    #[repr(align(64))]
    #[derive(Clone, Copy)]
    struct Aligned<const N: usize>([u8; N]);
    fn call<'a, F: FnOnce(bool) -> usize + 'a>(closure: F, expected: usize) {
        let closure: SmallBox<dyn FnOnce(bool) -> usize + 'a> = small_box!(closure);
        assert!(!closure.is_inline());
        if expected == 0 {
            assert!(panics(|| _ = closure.call_once((true,))));
        } else {
            assert_eq!(failing_after(0, || closure.call_once((false,))), expected);
        }
    }
    fn called<const N: usize>(counts: &Counts, value: Aligned<N>, result: usize) -> impl FnOnce(bool) -> usize {
        let spy = counts.spy(1);
        move |panics| {
            let (_spy, value) = (spy, value);
            assert!((&raw const value).addr().is_multiple_of(64));
            assert!(!panics, "in the call");
            value.0.len() + result
        }
    }
    let counts = Counts::default();
    let left = left_by(|| {
        call(called(&counts, Aligned([1; 64]), 0), 64);
        let no_size = Aligned([]);
        call(
            move |_| {
                let value = no_size;
                1 + (&raw const value).addr() % 64
            },
            1,
        );
        call(called(&counts, Aligned([1; 64]), 0), 0);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

/// With an allocator other than `Global` a spilled closure cannot move to a `Box` without a copy.
#[cfg(any(feature = "allocator-api2", feature = "nightly"))]
#[test]
fn calling_a_spilled_closure_of_another_allocator_frees_its_block() {
    let counts = Counts::default();
    let spy = Large(counts.spy(1), [0; 4]);
    let left = left_by(|| {
        let other: SmallBox<dyn FnOnce() -> u32 + '_, 2, _> =
            SmallBox::new_coerced_in(move || { spy }.0.value, &Global, |value| value as _);
        assert_eq!(other.call_once(()), 1);
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

/// smallbox #25: `into_inner` frees the block, and the value is not dropped twice.
#[test]
fn into_inner_moves_the_value_and_frees_the_block() {
    let left = left_by(|| {
        let value = SmallBox::<String, 1>::from(String::from("on the heap twice")).into_inner();
        assert_eq!(value, "on the heap twice");
        let value = SmallBox::<String, 3>::from(String::from("stored inline")).into_inner();
        assert_eq!(value, "stored inline");
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn panic_in_drop_frees_the_block() {
    for make in [small, large] {
        let counts = Counts::default();
        counts.panic_at_drop.set(1);
        let left = left_by(|| assert!(panics(|| drop(make(&counts)))));
        assert!(counts.balanced());
        assert_eq!(left.0, 0);
    }
    // In a slice, the other elements are dropped as well.
    let counts = Counts::default();
    counts.panic_at_drop.set(2);
    let slice: SmallBox<[Spy<'_>], 1> = (0..4).map(|n| counts.spy(n)).collect();
    assert!(panics(|| drop(slice)));
    assert!(counts.balanced());
    let counts = Counts::default();
    counts.panic_at_drop.set(2);
    let mut values = (0..4).map(|n| counts.spy(n)).collect::<SmallBox<[Spy<'_>], 1>>().into_iter();
    drop(values.next());
    assert!(panics(|| drop(values)));
    assert!(counts.balanced());
}

#[test]
fn panic_in_clone_drops_the_cloned_elements() {
    for at in 1..=4 {
        let counts = Counts::default();
        let left = left_by(|| {
            let few: SmallBox<[Spy<'_>], 8> = (0..4).map(|n| counts.spy(n)).collect();
            let many: SmallBox<[Spy<'_>], 1> = (0..4).map(|n| counts.spy(n)).collect();
            counts.panic_at_clone.set(at);
            assert!(panics(|| drop(few.clone())));
            counts.cloned.set(0);
            assert!(panics(|| drop(many.clone())));
            counts.cloned.set(0);
            assert!(panics(|| drop(SmallBox::<[Spy<'_>], 8>::from(&*few))));
            counts.panic_at_clone.set(0);
        });
        assert!(counts.balanced());
        assert_eq!(left.0, 0);
    }
}

#[test]
fn panic_in_a_closure_drops_the_value() {
    let counts = Counts::default();
    let left = left_by(|| {
        assert!(panics(|| drop(SmallBox::<dyn Object>::new_coerced(counts.spy(1), |_| panic!("no value")))));
        let value = Large(counts.spy(1), [0; 4]);
        assert!(panics(|| drop(SmallBox::<dyn Object>::new_coerced(value, |_| panic!("no value")))));
        for make in [small, large] {
            let boxed = make(&counts);
            assert!(panics(|| drop(boxed.coerce::<dyn Object, _>(|_| panic!("no value")))));
        }
        assert!(panics(|| drop(SmallBox::<[u64; 40]>::new_with(|| panic!("no value")))));
        let spy = counts.spy(1);
        let call: SmallBox<dyn CallOnce<(), Output = ()> + '_, 1> = small_box!(move || {
            let _spy = (spy, 1);
            assert!(mem::size_of::<u8>() == 2, "in the call");
        });
        assert!(!call.is_inline());
        assert!(panics(|| call.call_once(())));
        let mut boxes: Vec<SmallBox<dyn Object + '_>> = Vec::new();
        assert!(panics(|| boxes.push_coerced(counts.spy(1), |_| panic!("no value"))));
        assert_eq!(boxes.len(), 0);
    });
    assert!(counts.balanced());
    assert_eq!(left.0, 0);
}

#[test]
fn forgotten_boxes_only_leak() {
    let counts = Counts::default();
    mem::forget(small(&counts));
    mem::forget(SmallBox::<[Spy<'_>], 4>::from([counts.spy(1), counts.spy(2)]).into_iter()); // inline, leaks no block
    assert_eq!(counts.dropped.get(), 0);
    assert_eq!(counts.made.get(), 3);
}

/// smallbox #46 and #47: a reference to a zero-sized value is aligned for its type.
#[test]
fn over_aligned_zero_sized_values_stay_aligned() {
    #[repr(align(4096))]
    struct Page;
    trait Address {
        fn address(&self) -> usize;
    }
    impl Address for Page {
        fn address(&self) -> usize {
            (&raw const *self).addr()
        }
    }
    let left = left_by(|| {
        let boxed: SmallBox<dyn Address> = small_box!(Page);
        assert!(boxed.address().is_multiple_of(4096));
        let boxed = boxed.resize::<8>();
        assert!(boxed.address().is_multiple_of(4096));
        assert!(boxed.into_box().address().is_multiple_of(4096));
        let slice: SmallBox<[Page]> = small_box!([Page, Page, Page]);
        assert_eq!(slice.len(), 3);
        assert!((&raw const slice[2]).addr().is_multiple_of(4096));
        assert_eq!(slice.into_iter().count(), 3);
        let slice: SmallBox<[Page]> = (0..5).map(|_| Page).collect();
        assert_eq!(slice.len(), 5);
        let empty: SmallBox<[u128]> = SmallBox::default();
        assert!(empty.as_ptr().addr().is_multiple_of(align_of::<u128>()));
        let _page: Page = SmallBox::<Page>::new(Page).into_inner();
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn too_long_slices_panic() {
    const MOST: usize = if usize::BITS == 64 { usize::MAX / 32 } else { usize::MAX / 4 };
    assert!(panics(|| drop(SmallBox::<[()]>::from(vec![(); usize::MAX]))));
    assert!(panics(|| drop(SmallBox::<[()]>::from_box(vec![(); MOST + 1].into_boxed_slice()))));
    assert!(panics(|| drop(SmallBox::<[()]>::new_uninit_slice(usize::MAX))));
    assert!(panics(|| drop(SmallBox::<[u64]>::new_uninit_slice(usize::MAX / 8))));
    let slice = SmallBox::<[()]>::from(vec![(); MOST]);
    assert_eq!(slice.len(), MOST);
    assert_eq!(slice.into_box().len(), MOST);
    let array: SmallBox<[()]> = small_box!([(); MOST]);
    assert_eq!(array.len(), MOST);
    assert!(panics(|| drop(SmallBox::<[()]>::new_coerced([(); usize::MAX], |value| value))));
}

/// The bug class "null from the allocator is ignored".
#[test]
fn failed_allocation_returns_the_value() {
    let counts = Counts::default();
    let left = left_by(|| {
        let value = Large(counts.spy(7), [1; 4]);
        let error = failing_after(0, || SmallBox::<_, 2>::try_new(value).map(drop).unwrap_err());
        assert_eq!(error.layout().size(), size_of::<Large<'_>>());
        let value = error.into_inner();
        let error = failing_after(0, || {
            SmallBox::<dyn Object + '_>::try_new_coerced(value, |value| value).map(drop).unwrap_err()
        });
        let value = error.into_inner();
        assert_eq!(value.0.value, 7);
        let made = failing_after(0, || {
            SmallBox::<dyn Object + '_, 2, Global>::try_new_coerced_in(value, Global, |value| value).map(drop)
        });
        let value = made.unwrap_err().into_inner();
        let uninit = || SmallBox::<mem::MaybeUninit<Large<'_>>, 2, Global>::try_new_uninit_in(Global);
        assert_eq!(failing_after(0, || uninit().map(drop).unwrap_err()).layout().size(), size_of::<Large<'_>>());
        let mut filled = uninit().expect("there is memory");
        filled.write(value);
        // SAFETY: the value was written above.
        let value = unsafe { filled.assume_init() }.into_inner();
        let boxed = failing_after(0, || SmallBox::<_, 8>::try_new_in(value, Global))
            .expect("an inline value needs no allocation");
        let boxed = failing_after(0, || boxed.try_resize::<1>().map(drop).unwrap_err()).into_inner();
        assert!(boxed.is_inline());
        let boxed = failing_after(0, || boxed.try_into_box().map(drop).unwrap_err()).into_inner();
        let mut pushed: Vec<SmallBox<Large<'_>, 2>> = Vec::new();
        let value = boxed.into_inner();
        let refused = failing_after(0, || pushed.try_push_coerced(value, |value| value).unwrap_err());
        assert_eq!(refused.layout().size(), size_of_val(&pushed));
        let value = refused.into_inner();
        let value = failing_after(1, || pushed.try_push_coerced(value, |value| value).unwrap_err()).into_inner();
        assert_eq!((pushed.len(), value.0.value), (0, 7));
        let made = Cell::new(false);
        let error =
            failing_after(0, || SmallBox::<[u64; 9]>::try_new_with(|| [made.replace(true).into(); 9]).map(drop));
        assert!(error.is_err());
        assert!(!made.get(), "not called without memory");
        assert!(failing_after(0, || SmallBox::<[u64]>::try_new_uninit_slice(3).is_err()));
        assert!(failing_after(0, || SmallBox::<[u64]>::try_from_slice_in(&[1, 2, 3], Global).is_err()));
        let text = "seventeen bytes..";
        assert!(failing_after(0, || SmallBox::<str>::try_from_ref_in(text, Global).is_err()));
        assert!(failing_after(0, || SmallBox::<str>::try_from_ref_in(&text[1..], Global).is_ok()));
    });
    assert!(counts.balanced());
    assert_eq!(left.0, 0);
}

#[test]
#[expect(clippy::result_large_err, reason = "an iterator over the results")]
fn failed_allocation_returns_all_elements() {
    let counts = Counts::default();
    let left = left_by(|| {
        for len in [0, 1, 2, 3, 9] {
            for k in 0.. {
                let values = (0..len).map(|n| counts.spy(n)).filter(|_| true); // has no exact size hint
                match failing_after(k, || SmallBox::<[Spy<'_>], 4>::try_from_iter(values)) {
                    Ok(slice) => {
                        assert!(slice.iter().map(|spy| spy.value).eq(0..len));
                        assert_eq!(k > 0, len > 2, "an inline value needs no allocation");
                        break;
                    }
                    Err(error) => assert!(error.into_inner().map(|spy| spy.value).eq(0..len)),
                }
            }
        }
        // A vector with spare capacity must be reallocated to the slice's layout; a full one already has it.
        let mut vec = Vec::with_capacity(9);
        vec.extend((0..5).map(|n| counts.spy(n)));
        let address = vec.as_ptr();
        let error = failing_after(0, || SmallBox::<[Spy<'_>]>::try_from_vec(vec).map(drop).unwrap_err());
        let vec = error.into_inner();
        assert_eq!((vec.as_ptr(), vec.len(), vec.capacity()), (address, 5, 9));
        let slice = SmallBox::<[Spy<'_>]>::try_from_vec(vec).unwrap();
        let full = Vec::from(slice);
        let slice = failing_after(0, || SmallBox::<[Spy<'_>]>::try_from_vec(full)).unwrap();
        assert_eq!(slice.len(), 5);
        assert!(failing_after(0, || slice.try_clone().is_err()));
        assert_eq!(counts.cloned.get(), 0);
        assert_eq!(slice.try_clone().unwrap().len(), 5);

        let large = SmallBox::<_, 2>::new(Large(counts.spy(7), [1; 4]));
        let clone = failing_after(0, || large.try_clone().map(drop).unwrap_err()).into_inner();
        assert_eq!(clone.0.value, 7);
        assert_eq!(large.try_clone().unwrap().0.value, 7);

        let pieces = || ["ab", "", "cde", "a longer piece of text"].iter();
        for k in 0.. {
            match failing_after(k, || SmallBox::<str>::try_from_iter(pieces())) {
                Ok(text) => {
                    assert_eq!(*text, *pieces().copied().collect::<String>());
                    assert!(failing_after(0, || text.try_clone().is_err()));
                    assert_eq!(k, 3, "the text grew twice, then the box was made");
                    break;
                }
                Err(error) => {
                    let (text, rest) = error.into_inner();
                    assert_eq!(text + &rest.copied().collect::<String>(), pieces().copied().collect::<String>());
                }
            }
        }
        let path = std::path::Path::new("/a/path/of/more/than/two/words");
        assert!(failing_after(0, || SmallBox::<std::path::Path>::try_from_ref_in(path, Global).is_err()));
        assert_eq!(*SmallBox::<std::path::Path>::try_from_ref_in(path, Global).unwrap().try_clone().unwrap(), *path);
        assert!(failing_after(0, || SmallBox::<[u64; 3]>::try_new_uninit().is_err()));
        assert!(failing_after(0, || SmallBox::<[u64; 2]>::try_new_uninit().is_ok()));
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

/// During const evaluation a slice's address cannot be read as an integer, only its length can. The evaluation fails
/// under Miri and with `-Zextra-const-ub-checks` if both words of the pointer are read as integers.
#[test]
fn small_box_const_does_not_read_an_address_as_an_integer() {
    struct Tail<T: ?Sized>(u8, T);
    static WORDS: SmallBox<[u64]> = small_box_const!([1_u64, 2]);
    static EMPTY: SmallBox<[&str]> = small_box_const!([]);
    static TAIL: SmallBox<Tail<[u8]>> = small_box_const!(Tail(1, [2_u8; 3]));
    static OBJECT: SmallBox<Tail<dyn std::fmt::Display + Sync>> = small_box_const!(Tail(1, 7_u32));
    assert_eq!(*WORDS, [1, 2]);
    assert!(EMPTY.is_empty());
    assert_eq!((TAIL.0, &TAIL.1), (1, &[2; 3][..]));
    assert_eq!((OBJECT.0, OBJECT.1.to_string()), (1, "7".to_owned()));
}

/// A packed value has a pointer across two words of the inline buffer, which a constant must move as a whole.
#[test]
fn constants_move_pointers_at_odd_offsets() {
    #[repr(C, packed)]
    #[derive(Clone, Copy)]
    struct Packed(u8, &'static str);
    impl std::fmt::Display for Packed {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let Self(number, text) = *self;
            write!(f, "{number} {text}")
        }
    }
    const fn boxed() -> SmallBox<dyn std::fmt::Display + Sync, 3> {
        small_box_const!(Packed(1, "packed"))
    }
    static STATIC: SmallBox<Packed, 3> = SmallBox::new_const(Packed(2, "static"));
    let ([one], [other]) = const { ([boxed()], [boxed()]) };
    assert_eq!(one.resize::<1>().to_string() + &other.resize::<9>().to_string(), "1 packed1 packed");
    assert_eq!(STATIC.to_string(), "2 static");
}

/// The offset of an unsized tail depends on the alignment of the value, also while the value moves.
#[test]
fn unsized_tails_stay_aligned_through_moves() {
    #[repr(align(64))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Wide;
    struct Tail<H, T: ?Sized>(H, T);
    trait At: std::fmt::Debug {
        fn address(&self) -> usize;
    }
    impl<T: std::fmt::Debug> At for T {
        fn address(&self) -> usize {
            std::ptr::from_ref(self).addr()
        }
    }
    fn check<T: At + 'static, const N: usize, L>(value: T, align: usize, inline: bool) {
        let shown = format!("{value:?}");
        let is_good = |tail: &Tail<u8, dyn At>| {
            assert_eq!((tail.0, format!("{:?}", &tail.1)), (7, shown.clone()));
            assert_eq!(tail.1.address() % align, 0);
        };
        let first: SmallBox<Tail<u8, dyn At>, 1, Global, L> =
            SmallBox::new_coerced(Tail(7_u8, value), |tail| tail as _);
        is_good(&first);
        let resized = first.resize::<N>();
        assert_eq!(resized.is_inline(), inline);
        is_good(&resized);
        let boxed = resized.into_box();
        is_good(&boxed);
        is_good(&SmallBox::<_, N, Global, L>::from_box(boxed).resize::<2>());
    }
    check::<_, 4, usize>(String::from("text"), align_of::<String>(), true);
    check::<_, 8, Wide>(Wide, 64, true);
    check::<_, 8, usize>(Wide, 64, false);
    check::<_, 16, Wide>([Wide; 3], 64, true);
    let slice: SmallBox<Tail<Wide, [Wide]>> = SmallBox::new_coerced(Tail(Wide, [Wide; 5]), |tail| tail as _);
    let slice: SmallBox<Tail<Wide, [Wide]>, 1, Global, Wide> = SmallBox::from_box(slice.into_box());
    let slice = slice.resize::<2>();
    assert!(slice.is_inline() && slice.1 == [Wide; 5] && slice.1.as_ptr().addr().is_multiple_of(64));
}

#[test]
fn small_values_allocate_nothing() {
    failing_after(0, || {
        let call: SmallBox<dyn Fn(u64) -> u64> = small_box!({
            let (a, b) = (1_u64, 2_u64);
            move |n| n + a + b
        });
        assert_eq!(call(1), 4);
        let text: SmallBox<str> = "sixteen bytes ok".into();
        assert_eq!(text.clone().len(), 16);
        let bytes: SmallBox<[u8]> = (0..16).collect(); // align 1: smallbox #15
        assert_eq!(bytes.into_iter().rev().count(), 16);
        let once: SmallBox<dyn CallOnce<(), Output = u64>, 3> = small_box!(move || call(0));
        assert_eq!(once.call_once(()), 3);
    });
}

/// A padded type keeps its bytes when the box moves (smallbox 0.8.9 loses them with a padded buffer type).
#[test]
fn moves_copy_every_byte() {
    #[derive(Clone, Copy)]
    #[repr(C)]
    struct Padded(u8, u64);
    let bytes: SmallBox<[u8]> = small_box!([0x5A_u8; 16]);
    let moved = std::hint::black_box(Some(std::hint::black_box(bytes)));
    assert_eq!(*moved.unwrap(), [0x5A; 16]);
    let raised: SmallBox<[u8], 3, Global, u128> = small_box!([0xA5_u8; 24]);
    assert!(raised.is_inline());
    let moved = std::hint::black_box(Box::new(std::hint::black_box(raised)));
    assert_eq!(**moved, [0xA5; 24]);
    let padded: SmallBox<Padded> = SmallBox::new(Padded(1, 2));
    let copy = *std::hint::black_box(padded);
    assert_eq!((copy.0, copy.1), (1, 2));
}

/// An iterator of `left` values with an arbitrary size hint.
struct WrongHint<T> {
    left: u8,
    hint: (usize, Option<usize>),
    make: fn(u8) -> T,
}

impl<T> Iterator for WrongHint<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        Some((self.make)(self.left))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.hint
    }
}

/// A hint of `usize::MAX` used to panic, and one of `1 << 47` to abort.
#[test]
fn size_hints_are_not_trusted() {
    const HUGE: usize = 1 << (usize::BITS - 17);
    let hints = [0, 2, 100, HUGE, usize::MAX].map(|n| (n, Some(n))).into_iter().chain([
        (0, None),
        (HUGE, None),
        (usize::MAX, None),
    ]);
    for (hint, left) in hints.flat_map(|hint| [0, 1, 2, 3, 9].map(|left| (hint, left))) {
        let len = usize::from(left);
        let blocks = left_by(|| {
            let values = WrongHint { left, hint, make: Box::new };
            let slice: SmallBox<[Box<u8>]> = values.collect();
            assert!(slice.iter().map(|value| **value).eq((0..left).rev()));
            let values = WrongHint { left, hint, make: Box::new };
            let slice = SmallBox::<[Box<u8>], 1>::try_from_iter(values);
            assert_eq!(slice.expect("there is memory").len(), len);
            let empty: SmallBox<[()]> = WrongHint { left, hint, make: |_| () }.collect();
            assert_eq!(empty.len(), len);
            let text: SmallBox<str> = WrongHint { left, hint, make: char::from }.collect();
            assert_eq!(text.len(), len);
            let text: SmallBox<str> = WrongHint { left, hint, make: |_| &'x' }.collect();
            assert_eq!(text.len(), len);
            let text: SmallBox<str> = WrongHint { left, hint, make: |_| "xy" }.collect();
            assert_eq!(text.len(), 2 * len);
            let text: SmallBox<str> = WrongHint { left, hint, make: |n| n.to_string() }.collect();
            assert_eq!(text.len(), len);
            let text: SmallBox<str> =
                WrongHint { left, hint, make: |n| SmallBox::<str>::from(n.to_string()) }.collect();
            assert_eq!(text.len(), len);
            let text = SmallBox::<str>::try_from_iter(WrongHint { left, hint, make: |n| n });
            assert_eq!(text.expect("there is memory").len(), len);
        });
        assert_eq!(blocks, (0, 0));
    }
    // An iterator that panics midway.
    let counts = Counts::default();
    for at in 0..6 {
        assert!(panics(|| {
            let values = (0..6).map(|n| if n == at { panic!("no more") } else { counts.spy(n) });
            drop(values.collect::<SmallBox<[Spy<'_>], 4>>());
        }));
    }
    assert!(counts.balanced());
}

/// The closure may view the `Coercible` as one of a supertype. The box then has the vtable of the supertype, which is
/// valid for the value too.
#[test]
fn coercible_may_be_viewed_as_a_supertype() {
    type Any1 = for<'a> fn(&'a u8) -> u8;
    type Static1 = fn(&'static u8) -> u8;
    static SEVEN: u8 = 7;
    let any: SmallBox<dyn Any> = SmallBox::new_coerced((|n: &u8| *n) as Any1, |value| {
        let wider: &Coercible<Any1, Static1> = value;
        wider as _
    });
    assert!(any.downcast_ref::<Any1>().is_none());
    assert_eq!(any.downcast::<Static1>().unwrap()(&SEVEN), 7);
}

/// An implementation of `CallOnce` may leave its value in place instead of moving it out.
#[test]
fn call_once_impl_may_leave_the_value() {
    struct Idle<'a>(Spy<'a>, [u64; 3]);
    impl CallOnce<()> for Idle<'_> {
        type Output = u32;
        unsafe fn call_in_place(&mut self, (): ()) -> u32 {
            assert!(self.0.value > 0, "a panic in the call");
            self.0.value + u32::try_from(self.1.len()).unwrap()
        }
    }
    let counts = Counts::default();
    let left = left_by(|| {
        let call: SmallBox<Idle<'_>> = SmallBox::new(Idle(counts.spy(1), [0; 3]));
        assert!(!call.is_inline());
        assert_eq!(call.call_once(()), 4);
        let call: SmallBox<dyn CallOnce<(), Output = u32> + '_, 8> = small_box!(Idle(counts.spy(0), [0; 3]));
        assert!(panics(|| _ = call.call_once(())));
    });
    // The values are leaked, which is allowed, and their blocks are freed.
    assert_eq!((counts.made.get(), counts.dropped.get()), (2, 0));
    assert_eq!(left, (0, 0));
}

/// A pinned value may point to itself until its drop ends, so the box must not assume unique access to it.
#[test]
fn self_referential_future_is_dropped_while_pending() {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    /// A value that writes through its reference when it is dropped.
    struct Writes<'a>(&'a mut u64, &'a Cell<u64>);
    impl Drop for Writes<'_> {
        fn drop(&mut self) {
            *self.0 += 1;
            self.1.set(*self.0);
        }
    }
    async fn waits(seen: &Cell<u64>) {
        let mut own = 41;
        let _writes = Writes(&mut own, seen);
        poll_fn(|_| Poll::<()>::Pending).await;
    }
    fn check<const N: usize>(inline: bool) {
        let seen = Cell::new(0);
        let left = left_by(|| {
            let future: SmallBox<dyn Future<Output = ()> + '_, N> = small_box!(waits(&seen));
            assert_eq!(future.is_inline(), inline);
            let mut future = Box::pin(future);
            let mut context = Context::from_waker(Waker::noop());
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert!(future.as_mut().poll(&mut context).is_pending());
            drop(future);
            assert_eq!(seen.replace(0), 42);
            // `Pin::set` drops the old value in place.
            let future: SmallBox<dyn Future<Output = ()> + '_, N> = small_box!(waits(&seen));
            let mut future = pin!(future);
            assert!(future.as_mut().poll(&mut context).is_pending());
            future.set(small_box!(async {}));
            assert_eq!(seen.get(), 42);
            assert!(future.poll(&mut context).is_ready());
        });
        assert_eq!(left, (0, 0));
    }
    check::<1>(false);
    check::<12>(true);
}

/// Closures, iterators and destructors that run inside an operation and make boxes find consistent state.
#[test]
fn construction_and_drop_re_enter() {
    struct Nested<'a>(Option<SmallBox<dyn Object + 'a>>, #[expect(dead_code, reason = "dropped")] Spy<'a>);
    impl Drop for Nested<'_> {
        fn drop(&mut self) {
            let taken = self.0.take();
            let again: SmallBox<dyn Object + '_> = small_box!((taken, [0_u64; 3]));
            drop(again.resize::<9>());
        }
    }
    let counts = Counts::default();
    let left = left_by(|| {
        let mut nested: SmallBox<dyn Object + '_> = small(&counts);
        for _ in 0..50 {
            nested = small_box!(Nested(Some(nested), counts.spy(1)));
        }
        drop(nested);
        let made =
            SmallBox::<[SmallBox<dyn Object + '_>; 3]>::new_with(|| [small(&counts), large(&counts), small(&counts)]);
        let [first, second, third] = made.into_inner();
        drop((third, first, second));
        // The iterator makes boxes, and panics, while the slice is partly written.
        let values = || (0..7).map(|n| if n % 2 == 0 { small(&counts) } else { large(&counts) });
        let slice: SmallBox<[SmallBox<dyn Object + '_>], 4> = values().collect();
        assert_eq!(slice.len(), 7);
        assert!(panics(|| {
            let values = values().enumerate().map(|(n, value)| if n == 5 { panic!("no more") } else { value });
            drop(values.collect::<SmallBox<[SmallBox<dyn Object + '_>], 20>>());
        }));
    });
    assert!(counts.balanced());
    assert_eq!(left.0, 0);
}

/// A destructor may replace or take the box that is being dropped, through the cell that holds the box.
#[test]
fn drop_may_replace_its_own_box() {
    type Holder<'a> = Cell<Option<SmallBox<dyn Object + 'a, 3>>>;
    /// A value whose destructor puts the next of `left` values into the cell.
    struct Replaces<'a, const N: usize>(&'a Holder<'a>, &'a Counts, u8, [u64; N]);
    impl<'a, const N: usize> Replaces<'a, N> {
        fn new(holder: &'a Holder<'a>, counts: &'a Counts, left: u8) -> Self {
            mem::forget(counts.spy(0)); // counted as made
            Self(holder, counts, left, [7; N])
        }
    }
    impl<'a, const N: usize> Drop for Replaces<'a, N> {
        fn drop(&mut self) {
            assert_eq!(self.3, [7; N]);
            self.1.dropped.set(self.1.dropped.get() + 1);
            if let Some(left) = self.2.checked_sub(1) {
                let next = Replaces::<'a, N>::new(self.0, self.1, left);
                // Drops the value in the cell, whose destructor replaces it again.
                self.0.set(Some(small_box!(next)));
            } else {
                drop(self.0.take().map(SmallBox::resize::<1>));
            }
        }
    }
    fn check<const N: usize>(inline: bool) {
        let counts = Counts::default();
        // Leaked, since its values borrow it, and the drop check would reject that.
        let holder: &'static Holder<'static> = Box::leak(Box::default());
        let counts: &'static Counts = Box::leak(Box::new(counts));
        for rounds in 0..6 {
            let value: SmallBox<dyn Object, 3> = small_box!(Replaces::<N>::new(holder, counts, rounds));
            assert_eq!(value.is_inline(), inline);
            holder.set(Some(value));
            while let Some(value) = holder.take() {
                drop(value);
            }
        }
        assert!(counts.balanced());
        assert_eq!(counts.made.get(), 1 + 2 + 3 + 4 + 5 + 6);
        // SAFETY: the pointer came from `Box::leak`, and the cell is empty, so nothing borrows it.
        drop(unsafe { Box::from_raw((&raw const *holder).cast_mut()) });
        // SAFETY: the pointer came from `Box::leak`, and all spies that borrow it were dropped.
        drop(unsafe { Box::from_raw((&raw const *counts).cast_mut()) });
    }
    check::<0>(true);
    check::<3>(false);
}

/// A panic in an element's clone leaves a slice of old and new elements.
#[test]
fn panic_in_clone_from_leaves_a_valid_slice() {
    for at in 1..=4 {
        let counts = Counts::default();
        let left = left_by(|| {
            let new: SmallBox<[Spy<'_>], 8> = (10..14).map(|n| counts.spy(n)).collect();
            let mut old: SmallBox<[Spy<'_>], 8> = (0..4).map(|n| counts.spy(n)).collect();
            counts.panic_at_clone.set(at);
            assert!(panics(|| old.clone_from(&new)));
            counts.panic_at_clone.set(0);
            assert!(old.iter().zip(0_u32..).all(|(spy, n)| spy.value == if n + 1 < at { n + 10 } else { n }));
            // A slice of another length is only replaced when all elements were cloned.
            let fewer: SmallBox<[Spy<'_>], 8> = (20..23).map(|n| counts.spy(n)).collect();
            counts.cloned.set(0);
            counts.panic_at_clone.set(at.min(3));
            assert!(panics(|| old.clone_from(&fewer)));
            counts.panic_at_clone.set(0);
            assert_eq!(old.len(), 4);
        });
        assert!(counts.balanced());
        assert_eq!(left.0, 0);
    }
}

/// The `try_` functions return an error for a slice that is too long, and do not panic.
#[test]
fn try_functions_report_too_long_slices() {
    const MOST: usize = if usize::BITS == 64 { usize::MAX / 32 } else { usize::MAX / 4 };
    let left = left_by(|| {
        let error = SmallBox::<[u64]>::try_new_uninit_slice(usize::MAX).err().unwrap();
        assert_eq!(error.layout().align(), align_of::<u64>());
        assert!(error.layout().size() > isize::MAX.unsigned_abs() - align_of::<u64>());
        assert!(SmallBox::<[u8]>::try_new_uninit_slice(isize::MAX.unsigned_abs()).is_err());
        assert!(SmallBox::<[()]>::try_new_uninit_slice(MOST + 1).is_err());
        assert!(SmallBox::<[()]>::try_new_uninit_slice(MOST).is_ok());
        assert!(SmallBox::<[()]>::try_from_slice_in(&[(); MOST + 1], Global).is_err());
        let error = SmallBox::<[()]>::try_from_vec(vec![(); usize::MAX]).unwrap_err();
        assert_eq!(error.into_inner().len(), usize::MAX);
        let error = SmallBox::<[()]>::try_new_coerced([(); MOST + 1], |value| value).unwrap_err();
        assert_eq!(error.into_inner().len(), MOST + 1);
        assert!(SmallBox::<[()]>::try_new_coerced([(); MOST], |value| value).is_ok());
        let mut boxes: Vec<SmallBox<[()]>> = Vec::new();
        assert!(boxes.try_push_coerced([(); MOST + 1], |value| value).is_err());
        assert_eq!(boxes.len(), 0);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn failed_allocation_returns_owned_strings() {
    use std::ffi::{CStr, CString, OsStr, OsString};
    use std::path::{Path, PathBuf};
    let left = left_by(|| {
        let spare = "more than two words of text";
        let mut other = String::with_capacity(100);
        other.push_str(spare);
        let text = failing_after(0, || SmallBox::<str>::try_from_string(other).unwrap_err()).into_inner();
        assert_eq!((text.capacity(), &*text), (100, spare));
        let small = SmallBox::<str>::try_from_string(text).unwrap();
        assert_eq!((small.is_inline(), &*small), (false, spare));
        // Strings without spare capacity keep their block, and short ones are stored inline.
        let full = String::from(small);
        let address = full.as_ptr();
        let small = failing_after(0, || SmallBox::<str>::try_from_string(full)).unwrap();
        assert_eq!(small.as_ptr(), address);
        let short = String::from("short");
        assert!(failing_after(0, || SmallBox::<str>::try_from_string(short)).unwrap().is_inline());
        let c = CString::new("more than two words of text").unwrap();
        assert_eq!(failing_after(0, || SmallBox::<CStr>::try_from_c_string(c)).unwrap().to_bytes().len(), 27);
        let mut os = OsString::from(spare);
        os.reserve(100);
        let os = failing_after(0, || SmallBox::<OsStr>::try_from_os_string(os).unwrap_err()).into_inner();
        assert_eq!(*SmallBox::<OsStr>::try_from_os_string(os).unwrap(), *spare);
        let mut path = PathBuf::from(spare);
        path.reserve(100);
        let path = failing_after(0, || SmallBox::<Path>::try_from_path_buf(path).unwrap_err()).into_inner();
        assert_eq!(*SmallBox::<Path>::try_from_path_buf(path).unwrap(), *Path::new(spare));
    });
    assert_eq!(left, (0, 0));
}

/// Two flag bits share a word with the length: no operation on the metadata may mix them.
#[test]
fn conversions_keep_length_and_storage() {
    for len in (0..40).chain([1000]) {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
        let small: SmallBox<[u8]> = (&*bytes).into();
        assert_eq!((small.is_inline(), small.len()), (len <= 16, len));
        let small = small.resize::<1>();
        assert_eq!((small.is_inline(), small.len()), (len <= 8, len));
        let small = SmallBox::<[u8]>::from_box(small.into_box());
        assert_eq!((small.is_inline(), &*small), (false, &*bytes), "a box keeps its block");
        let small = small.resize::<5>().resize::<2>();
        assert_eq!((small.is_inline(), &*small), (len <= 16, &*bytes));
        let some = std::hint::black_box(Some(small));
        assert_eq!(*some.unwrap(), *bytes);
        let text: SmallBox<str> = "x".repeat(len).into();
        let bytes: SmallBox<[u8]> = text.clone().into();
        assert_eq!((bytes.len(), text.len()), (len, len));
        let array = SmallBox::<[u8; 16]>::try_from(bytes);
        assert_eq!(array.is_ok(), len == 16);
    }
}

#[test]
fn auto_traits_match_box() {
    fn send<T: Send + ?Sized>() {}
    fn sync<T: Sync>() {}
    fn unpin<T: Unpin>() {}
    fn unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
    send::<SmallBox<dyn Any + Send>>();
    sync::<SmallBox<dyn Any + Sync>>();
    unpin::<SmallBox<str>>();
    unpin::<SmallBox<dyn Future<Output = ()> + Unpin>>();
    unwind_safe::<SmallBox<str>>();
    unwind_safe::<SmallBox<dyn Any + UnwindSafe + RefUnwindSafe>>();
    send::<dwell::small::IntoIter<u8>>();
    sync::<dwell::small::IntoIter<u8>>();
    unpin::<dwell::small::IntoIter<u8>>();
    // A `Cell` is `UnwindSafe`, and so is a box that owns one.
    fn moves_through_unwinding<T: UnwindSafe>() {}
    moves_through_unwinding::<SmallBox<Cell<u8>>>();
    moves_through_unwinding::<SmallBox<[Cell<u8>]>>();
    moves_through_unwinding::<dwell::small::IntoIter<Cell<u8>>>();
    moves_through_unwinding::<dwell::pin::InlineBox<Cell<u8>, 1>>();
    moves_through_unwinding::<dwell::pin::Reusable<Cell<u8>>>();
}

/// smallbox #40.
#[test]
fn covariance() {
    fn shorter<'a>(long: SmallBox<&'static str>, _: &'a str) -> SmallBox<&'a str> {
        long
    }
    fn erased<'a>(long: SmallBox<dyn Any + 'static>) -> SmallBox<dyn Any + 'a> {
        long
    }
    let local = String::from("local");
    assert_eq!(*shorter(SmallBox::new("static"), &local), "static");
    assert!(erased(small_box!(1_u8)).is_inline());
}

#[cfg(any(feature = "allocator-api2", feature = "allocator-api2-04", feature = "nightly"))]
mod allocator {
    use super::*;
    use dwell::alloc::Allocator;

    #[derive(Clone, Copy)]
    enum Mode {
        Gives,
        Refuses,
        /// `allocate` panics instead of allocating, and `deallocate` after freeing.
        Panics,
    }
    use Mode::{Gives, Panics, Refuses};

    /// An allocator that counts its blocks and fails or panics on request.
    #[derive(Clone, Copy)]
    struct Counting<'a>(&'a Cell<isize>, &'a Cell<Mode>);

    /// Implements one of the allocator traits for `Counting`.
    macro_rules! counting {
        ($Allocator:path, $Refused:ty, $refused:expr, $Global:path) => {
            // SAFETY: both functions forward to `Global` with the same layout.
            unsafe impl $Allocator for Counting<'_> {
                fn allocate(&self, layout: std::alloc::Layout) -> Result<std::ptr::NonNull<[u8]>, $Refused> {
                    match self.1.get() {
                        Gives => {}
                        Refuses => return Err($refused),
                        Panics => panic!("no block"),
                    }
                    self.0.set(self.0.get() + 1);
                    <$Global as $Allocator>::allocate(&$Global, layout)
                }

                unsafe fn deallocate(&self, block: std::ptr::NonNull<u8>, layout: std::alloc::Layout) {
                    self.0.set(self.0.get() - 1);
                    // SAFETY: the caller guarantees that the block came from `allocate` with this layout, so it came
                    // from `Global`.
                    unsafe { <$Global as $Allocator>::deallocate(&$Global, block, layout) };
                    assert!(!matches!(self.1.get(), Panics), "it is back");
                }
            }
        };
    }
    #[cfg(feature = "nightly")]
    counting!(Allocator, std::alloc::AllocError, std::alloc::AllocError, Global);
    #[cfg(all(feature = "allocator-api2", not(feature = "nightly")))]
    counting!(Allocator, allocator_api2::alloc::AllocError, allocator_api2::alloc::AllocError, Global);
    #[cfg(feature = "allocator-api2-04")]
    counting!(
        allocator_api2_04::alloc::Allocator,
        allocator_api2_04::alloc::AllocError,
        allocator_api2_04::alloc::AllocError,
        allocator_api2_04::alloc::Global
    );

    fn check<A: Allocator + Copy>(alloc: A, Counting(blocks, mood): Counting<'_>) {
        let counts = Counts::default();
        let small: SmallBox<dyn Object + '_, 2, _> = SmallBox::new_coerced_in(counts.spy(1), alloc, |value| value as _);
        assert_eq!(blocks.get(), 0);
        let out = small.resize::<1>();
        assert_eq!(blocks.get(), 1);
        let back = out.resize::<3>();
        assert_eq!(blocks.get(), 0);
        mood.set(Refuses);
        let back = back.try_resize::<1>().map(drop).unwrap_err().into_inner();
        mood.set(Gives);
        drop(back);
        let large: SmallBox<[u64], 2, _> = SmallBox::try_from_slice_in(&[1, 2, 3], alloc).unwrap();
        let clone = large.clone();
        assert_eq!((blocks.get(), &*clone), (2, &[1, 2, 3][..]));
        assert_eq!(clone.into_iter().sum::<u64>(), 6);
        drop(large);
        let value = SmallBox::<_, 2, _>::new_in([7_u64; 5], alloc).into_inner();
        assert_eq!((value, blocks.get()), ([7; 5], 0));
        panicking(alloc, mood, &counts);
        assert!(counts.balanced());
        assert_eq!(blocks.get(), 0);
    }

    /// If the allocator or a destructor panics, values are dropped once and blocks are freed.
    fn panicking<A: Allocator + Copy>(alloc: A, mood: &Cell<Mode>, counts: &Counts) {
        let object = |value| SmallBox::<dyn Object + '_, 2, _>::new_coerced_in(value, alloc, |value| value as _);
        let with = |now, f: &mut dyn FnMut()| {
            mood.set(now);
            assert!(panics(f));
            mood.set(Gives);
        };
        let mut small = Some(object(counts.spy(1)));
        let large = || Some(SmallBox::<_, 2, _>::new_in(Large(counts.spy(1), [1; 4]), alloc));
        with(Panics, &mut || drop(SmallBox::<_, 2, _>::new_in(Large(counts.spy(1), [1; 4]), alloc)));
        with(Panics, &mut || drop(small.take().map(SmallBox::resize::<1>)));
        let mut boxed = large();
        with(Panics, &mut || drop(boxed.take()));
        let mut boxed = large();
        with(Panics, &mut || drop(boxed.take().map(SmallBox::resize::<9>)));
        let spies = (0..3).map(|n| counts.spy(n)).collect::<Vec<_>>();
        let mut slice = Some(SmallBox::<[Spy<'_>], 2, _>::try_from_slice_in(&spies, alloc).unwrap());
        with(Panics, &mut || drop(slice.clone()));
        with(Panics, &mut || drop(slice.take().map(SmallBox::into_iter)));
        // A panic in the value's drop still frees the block.
        let mut boxed = large();
        counts.panic_at_drop.set(counts.dropped.get() + 1);
        with(Gives, &mut || drop(boxed.take()));
        counts.panic_at_drop.set(0);
    }

    #[test]
    fn custom_allocator_frees_its_blocks() {
        let (blocks, mood) = (Cell::new(0), Cell::new(Gives));
        let counting = Counting(&blocks, &mood);
        #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
        check(counting, counting);
        #[cfg(feature = "allocator-api2-04")]
        check(dwell::alloc::V04(counting), counting);
    }

    /// `V04` forwards every function of the trait.
    #[cfg(all(feature = "allocator-api2-04", any(feature = "allocator-api2", feature = "nightly")))]
    #[test]
    fn v04_forwards_every_function() {
        use dwell::alloc::V04;
        use std::alloc::Layout;
        let (blocks, mood) = (Cell::new(0), Cell::new(Gives));
        let alloc = V04(Counting(&blocks, &mood));
        let (one, four) = (Layout::new::<u64>(), Layout::new::<[u64; 4]>());
        let block = alloc.allocate_zeroed(one).unwrap().cast::<u8>();
        // SAFETY: the block came from `alloc` with this layout.
        let block = unsafe { alloc.grow_zeroed(block, one, four) }.unwrap();
        // SAFETY: the whole block is zeroed, and nothing else uses it.
        assert!(unsafe { &block.as_ref()[..four.size()] }.iter().all(|byte| *byte == 0));
        mood.set(Refuses);
        // SAFETY: the block came from `alloc` with this layout; if `shrink` fails, it stays valid.
        assert!(unsafe { alloc.shrink(block.cast(), four, one) }.is_err());
        mood.set(Gives);
        // SAFETY: as above.
        let block = unsafe { alloc.shrink(block.cast(), four, one) }.unwrap();
        // SAFETY: `shrink` returned the block for this layout.
        let block = unsafe { alloc.grow(block.cast(), one, four) }.unwrap();
        // SAFETY: `grow` returned the block for this layout.
        unsafe { alloc.deallocate(block.cast(), four) };
        assert_eq!(blocks.get(), 0);
    }
}
