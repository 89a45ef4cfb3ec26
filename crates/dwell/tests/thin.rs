//! Tests of `ThinSlice` and `ThinStr`, whose behaviour is that of `Box<[T]>` and `Box<str>`.

#[path = "ops/thin.rs"]
mod ops;

use dwell::Sparse;
use dwell::sparse::{IsEmpty, ThinSlice, ThinStr};
use proptest::prelude::*;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::MutexGuard;

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(250)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn behave_like_vec_and_string(bytes in prop::collection::vec(any::<u8>(), 0..if cfg!(miri) { 24 } else { 200 })) {
        ops::run(&bytes);
    }

    #[test]
    fn any_string_round_trips(text in any::<String>(), times in 0..40_usize) {
        let text = text.repeat(times);
        let thin = ThinStr::new(&text);
        prop_assert_eq!(thin.as_str(), &text);
    }
}

#[test]
fn are_one_word_with_a_niche() {
    assert_eq!(size_of::<ThinSlice<u128>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<ThinSlice<u128>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<ThinSlice<()>>>(), size_of::<usize>());
    assert_eq!(size_of::<ThinStr>(), size_of::<usize>());
    assert_eq!(size_of::<Option<ThinStr>>(), size_of::<usize>());
    assert_eq!(align_of::<ThinStr>(), align_of::<usize>());
}

#[test]
fn option_distinguishes_none_from_empty() {
    assert!(Some(ThinSlice::<u8>::empty()).is_some());
    assert!(Some(ThinStr::empty()).is_some_and(|text| text.is_empty()));
}

#[test]
fn slices_are_covariant() {
    fn shorten<'a>(value: ThinSlice<&'static str>) -> ThinSlice<&'a str> {
        value
    }
    assert_eq!(*shorten(ThinSlice::from(["a"])), ["a"]);
}

#[test]
fn auto_traits_match_box() {
    // `Answer::<T>::YES` is the inherent constant if the bound holds, and the trait's if not.
    trait No {
        const YES: bool = false;
    }
    struct Answer<T>(T);
    macro_rules! has {
        ($type:ty: $bound:ident) => {{
            struct Asked<T>(T);
            impl<T> No for Answer<Asked<T>> {}
            #[allow(dead_code, reason = "not used for types without the trait")]
            impl<T: $bound> Answer<Asked<T>> {
                const YES: bool = true;
            }
            <Answer<Asked<$type>>>::YES
        }};
    }
    macro_rules! as_a_box {
        ($element:ty: $($bound:ident $expected:literal)*) => {$(
            const { assert!(has!(Box<[$element]>: $bound) == $expected) };
            const { assert!(has!(ThinSlice<$element>: $bound) == $expected) };
            const { assert!(has!(<ThinSlice<$element> as IntoIterator>::IntoIter: $bound) == $expected) };
        )*};
    }
    as_a_box!(String: Send true Sync true Unpin true UnwindSafe true RefUnwindSafe true);
    as_a_box!(Cell<u8>: Send true Sync false UnwindSafe true RefUnwindSafe false);
    as_a_box!(Rc<u8>: Send false Sync false);
    as_a_box!(MutexGuard<'static, u8>: Send false Sync true);
    as_a_box!(&'static mut u8: UnwindSafe false RefUnwindSafe true);
    as_a_box!(PhantomPinned: Unpin true);

    fn all<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    all::<ThinStr>();
}

/// As with `Box`, data that an element borrows may be dropped before the slice.
#[cfg(feature = "nightly")]
#[test]
fn elements_may_dangle_when_their_owner_drops() {
    let (_slice, _iter, _map);
    let local = String::new();
    _slice = ThinSlice::from([&local]);
    _iter = ThinSlice::from([&local]).into_iter();
    _map = dwell::sparse::SortedMap::from([(1, &local)]);
}

#[test]
fn empty_works_in_statics() {
    static SLICE: ThinSlice<Vec<u8>> = ThinSlice::empty();
    static TEXT: ThinStr = ThinStr::empty();
    const ALSO: ThinSlice<Vec<u8>> = ThinSlice::empty();
    assert!(SLICE.is_empty() && ALSO.is_empty() && TEXT.is_empty());
}

#[test]
fn string_header_grows_at_255_bytes() {
    // Miri takes minutes for long texts, and gets only a few lengths around the one at which the header grows.
    let (every, long): (usize, &[usize]) = if cfg!(miri) { (84, &[700]) } else { (1, &[65_535, 65_536, 1 << 20]) };
    for len in (3..600).step_by(every).chain([0, 1, 2, 254, 256]).chain(long.iter().copied()) {
        let text = "x".repeat(len);
        let mut thin = ThinStr::new(&text);
        assert_eq!(thin.len(), len);
        assert_eq!(thin.is_empty(), len == 0);
        assert_eq!(thin, text);
        thin.make_ascii_uppercase();
        assert_eq!(thin, "X".repeat(len));
        assert_eq!(thin.len(), len);
        assert_eq!(String::from(thin.clone()), *thin);
    }
}

#[test]
fn string_keys_are_looked_up_by_str() {
    let map: HashMap<ThinStr, u8> = [("a".into(), 1), ("b".into(), 2)].into();
    assert_eq!(map.get("b"), Some(&2));
    let set: BTreeSet<ThinStr> = ["b", "a"].into_iter().map(ThinStr::from).collect();
    assert!(set.contains("a"));
    let slices: HashSet<ThinSlice<u8>> = [ThinSlice::from([1, 2])].into();
    assert!(slices.contains(&[1, 2][..]));
}

#[test]
#[expect(clippy::cmp_owned, clippy::nonminimal_bool, reason = "these operators are what is tested")]
fn strings_compare_with_all_string_types() {
    let thin = ThinStr::from("a");
    assert!(thin == *"a" && thin == "a" && thin == String::from("a"));
    assert!(thin == Box::<str>::from("a") && thin == Cow::Borrowed("a"));
    assert!(*"a" == thin && "a" == thin && String::from("a") == thin);
    assert!(thin != "b" && "b" != thin && thin < ThinStr::from("b"));
    assert_eq!("a".parse::<ThinStr>(), Ok(thin));
    assert_eq!(["a", "b"].into_iter().collect::<ThinStr>(), "ab");
}

#[test]
fn empty_values_are_the_default() {
    assert!(IsEmpty::is_empty(&ThinStr::default()) && !IsEmpty::is_empty(&ThinStr::from("a")));
    assert!(IsEmpty::is_empty(&ThinSlice::<u8>::default()) && !IsEmpty::is_empty(&ThinSlice::from([0])));
    assert!(Sparse::new(ThinStr::from("")).get().is_none());
    assert!(Sparse::new(ThinSlice::from([(); 3])).get().is_some());
}

#[test]
fn clone_from_keeps_a_block_of_the_right_length() {
    let mut slice = ThinSlice::from([1, 2, 3]);
    let mut text = ThinStr::from("abc");
    let before = (slice.as_ptr(), text.as_ptr());
    slice.clone_from(&ThinSlice::from([4, 5, 6]));
    text.clone_from(&ThinStr::from("def"));
    assert_eq!((slice.as_ptr(), text.as_ptr()), before);
    assert_eq!((&*slice, &*text), (&[4, 5, 6][..], "def"));
}

#[test]
fn iteration_by_reference_and_by_value() {
    let mut slice = ThinSlice::from([1, 2, 3]);
    for n in &mut slice {
        *n *= 2;
    }
    assert_eq!((&slice).into_iter().sum::<i32>(), 12);
    let mut iter = slice.into_iter();
    assert_eq!(iter.next_back(), Some(6));
    assert_eq!((iter.size_hint(), iter.len()), ((2, Some(2)), 2));
    assert_eq!(format!("{iter:?}"), "IntoIter([2, 4])");
    assert_eq!(iter.by_ref().last(), Some(4));
    assert_eq!((iter.next(), iter.next_back()), (None, None));
}

#[cfg(feature = "serde")]
mod serde {
    use super::*;
    use ::serde::de::value::{BytesDeserializer, Error};
    use ::serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Serialize, Deserialize, Default)]
    struct Document {
        #[serde(default, skip_serializing_if = "ThinStr::is_empty")]
        title: ThinStr,
        #[serde(default, skip_serializing_if = "IsEmpty::is_empty")]
        tags: ThinSlice<ThinStr>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<ThinStr>,
    }

    #[test]
    fn json_round_trips() {
        for json in ["{}", r#"{"title":"a \"b\" ä"}"#, r#"{"tags":["a","","c"]}"#, r#"{"note":""}"#] {
            let document: Document = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&document).unwrap(), json);
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            assert_eq!(Document::deserialize(value).unwrap(), document);
        }
        let error = serde_json::from_str::<ThinStr>("7").unwrap_err();
        assert!(error.to_string().contains("expected a string"), "{error}");
        assert!(serde_json::from_str::<ThinSlice<u8>>("[1, 300]").is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases().div_ceil(5)))]

        #[test]
        fn serialize_like_vec_and_string(
            title in any::<String>(),
            tags in prop::collection::vec(any::<String>(), 0..if cfg!(miri) { 4 } else { 100 }),
        ) {
            let thin = (ThinStr::from(&title), tags.iter().map(ThinStr::from).collect::<ThinSlice<_>>());
            let plain = (title, tags);

            let json = serde_json::to_string(&plain).unwrap();
            prop_assert_eq!(&serde_json::to_string(&thin).unwrap(), &json);
            prop_assert_eq!(&serde_json::from_str::<(ThinStr, ThinSlice<ThinStr>)>(&json).unwrap(), &thin);

            let bytes = postcard::to_allocvec(&plain).unwrap();
            prop_assert_eq!(&postcard::to_allocvec(&thin).unwrap(), &bytes);
            prop_assert_eq!(&postcard::from_bytes::<(ThinStr, ThinSlice<ThinStr>)>(&bytes).unwrap(), &thin);
        }
    }

    #[test]
    fn string_deserializes_from_utf8_bytes() {
        let read = |bytes| ThinStr::deserialize(BytesDeserializer::<Error>::new(bytes));
        assert_eq!(read("ä".as_bytes()).unwrap(), "ä");
        assert!(read(&[0xFF]).unwrap_err().to_string().contains("expected a string"));
    }
}
