//! Tests of `Sparse`, whose behaviour is that of the plain value.

#[path = "ops/sparse.rs"]
mod ops;

use dwell::Sparse;
use dwell::sparse::{ConstDefault, DefaultCell, DefaultRef, IsEmpty, SortedMap, ThinSlice, ThinStr};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// The number of cases of a random test; `DWELL_TEST_CASES` lowers it for slow tools.
fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn behaves_like_the_plain_value(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        ops::run(&bytes);
    }
}

#[test]
fn is_one_word_with_a_niche() {
    assert_eq!(size_of::<Sparse<[u64; 100]>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Sparse<[u64; 100]>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Sparse<()>>>(), size_of::<usize>());
    assert_eq!(align_of::<Sparse<u8>>(), align_of::<usize>());
}

#[test]
fn option_of_sparse_has_three_states() {
    let states: [Option<Sparse<u8>>; 3] = [None, Some(Sparse::empty()), Some(Sparse::new(1))];
    assert!(states[0].is_none());
    assert!(states[1].as_ref().is_some_and(|s| s.get().is_none()));
    assert!(states[2].as_ref().is_some_and(|s| s.get() == Some(&1)));
}

#[test]
fn is_covariant() {
    fn shorten<'a>(value: Sparse<&'static str>) -> Sparse<&'a str> {
        value
    }
    assert_eq!(shorten(Sparse::new("a")).get(), Some(&"a"));
}

#[test]
fn auto_traits_match_box() {
    fn holds<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    holds::<Sparse<String>>();
    fn unpin<T: Unpin>() {}
    unpin::<Sparse<std::marker::PhantomPinned>>();
    fn unwind_safe<T: UnwindSafe>() {}
    unwind_safe::<Sparse<std::cell::Cell<u8>>>();
}

#[test]
fn empty_works_in_statics() {
    static EMPTY: Sparse<Vec<u8>> = Sparse::empty();
    const ALSO: Sparse<Vec<u8>> = Sparse::empty();
    assert!(EMPTY.is_empty());
    assert!(ALSO.is_empty());
}

#[test]
fn box_conversions_keep_the_block() {
    let boxed = Box::new(5_u64);
    let address = &raw const *boxed;
    let sparse: Sparse<u64> = boxed.into();
    assert_eq!(sparse.get().map(|v| &raw const *v), Some(address));
    assert_eq!(sparse.into_box().map(|v| &raw const *v), Some(address));
}

#[test]
fn clone_from_keeps_the_block() {
    let mut to = Sparse::new(1_u64);
    let address = &raw const *to;
    to.clone_from(&Sparse::new(2));
    assert_eq!(&raw const *to, address);
    assert_eq!(*to, 2);
}

#[test]
fn panic_in_edit_keeps_the_stored_value() {
    let mut value = Sparse::new(vec![1]);
    let mut empty = Sparse::<Vec<i32>>::empty();
    for value in [&mut value, &mut empty] {
        let edited = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            value.edit(|v| {
                v.push(2);
                panic!("in the closure");
            });
        }));
        assert!(edited.is_err());
    }
    assert_eq!(*value, [1, 2]);
    assert!(empty.get().is_none());
}

#[test]
fn recursive_types_are_supported() {
    #[derive(Debug, Default, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
    struct Node {
        name: String,
        next: Sparse<Node>,
    }
    impl IsEmpty for Node {
        fn is_empty(&self) -> bool {
            self.name.is_empty() && self.next.is_empty()
        }
    }
    impl DefaultRef for Node {
        fn default_ref<'a>() -> &'a Self {
            static DEFAULT: DefaultCell<Node> = DefaultCell::new();
            DEFAULT.get()
        }
    }

    let mut list = Node::default();
    list.next.edit(|n| n.next.edit(|n| n.name.push('b')));
    assert_eq!(list.next.next.name, "b");
    assert_eq!(list.next.next.next.next.next.name, ""); // the default's own default, at any depth
    assert_eq!(list, list.clone());
    assert!(list > Node::default());
    assert_eq!(HashSet::from([list.clone(), list.clone()]).len(), 1);
    assert_eq!(format!("{:?}", list.next.next.next), "Empty");
    list.next.edit(|n| n.next.edit(|n| n.name.clear()));
    assert!(list.next.get().is_none());
}

#[test]
fn boxed_default_equals_empty() {
    let mut boxed = Sparse::<String>::empty();
    boxed.get_mut_or_default();
    assert!(boxed.get().is_some());
    assert_eq!(boxed, Sparse::empty());
    assert_eq!(boxed.cmp(&Sparse::empty()), std::cmp::Ordering::Equal);
    assert_eq!(HashSet::from([boxed, Sparse::empty()]).len(), 1);
}

/// `IsEmpty` must agree with `Default`, or `Sparse` would change values.
#[test]
fn is_empty_agrees_with_default_for_std_types() {
    #[expect(clippy::needless_pass_by_value, reason = "thirty calls read better without `&`")]
    fn agrees<T: Default + IsEmpty>(other: T) {
        assert!(T::default().is_empty(), "{}", std::any::type_name::<T>());
        assert!(!other.is_empty(), "{}", std::any::type_name::<T>());
    }
    agrees(true);
    agrees('a');
    agrees(-0.0_f32);
    agrees(-0.0_f64);
    agrees(f64::NAN);
    agrees(String::from("a"));
    agrees(Some(0));
    agrees(vec![0]);
    agrees(VecDeque::from([0]));
    agrees(LinkedList::from([0]));
    agrees(BinaryHeap::from([0]));
    agrees(BTreeSet::from([0]));
    agrees(BTreeMap::from([(0, 0)]));
    agrees(HashSet::from([0]));
    agrees(HashMap::from([(0, 0)]));
    agrees([0, 0, 1]);
    agrees(Box::new(1));
    agrees::<Box<str>>("a".into());
    agrees::<std::rc::Rc<str>>("a".into());
    agrees::<std::sync::Arc<str>>("a".into());
    agrees(std::borrow::Cow::Borrowed("a"));
    agrees("a");
    agrees(std::num::Wrapping(1));
    agrees(Sparse::new(1));
    agrees(std::time::Duration::from_nanos(1));
    agrees(std::ffi::OsString::from("a"));
    agrees(std::path::PathBuf::from("a"));
    agrees((0, 1));
    agrees((0, 0, 0, 0, 0, 1));
    agrees(1_i128);
    assert!(().is_empty());
    assert!(std::marker::PhantomData::<u8>.is_empty());
}

#[test]
fn std_collections_implement_default_ref() {
    fn lends<T: Default + DefaultRef + PartialEq + std::fmt::Debug>() {
        assert_eq!(*Sparse::<T>::empty(), T::default());
    }
    fn constant<T: ConstDefault + PartialEq + std::fmt::Debug>() {
        assert_eq!(T::DEFAULT, T::default());
    }
    constant::<u8>();
    constant::<&str>();
    constant::<Option<String>>();
    constant::<Sparse<String>>();
    constant::<ThinStr>();
    constant::<ThinSlice<u8>>();
    constant::<SortedMap<u8, u8>>();
    constant::<HashMap<u8, u8, BuildHasherDefault<DefaultHasher>>>();
    constant::<HashSet<u8, BuildHasherDefault<DefaultHasher>>>();
    constant::<std::marker::PhantomData<u8>>();
    constant::<std::time::Duration>();
    lends::<u8>();
    lends::<bool>();
    lends::<char>();
    lends::<f64>();
    lends::<String>();
    lends::<Option<String>>();
    lends::<Vec<String>>();
    lends::<VecDeque<u8>>();
    lends::<LinkedList<u8>>();
    lends::<BTreeMap<u8, u8>>();
    lends::<BTreeSet<u8>>();
    lends::<HashMap<u8, String>>();
    lends::<HashMap<u16, String>>(); // another instantiation with the same static
    lends::<HashSet<u8>>();
    assert_eq!(Sparse::<BinaryHeap<u8>>::empty().len(), 0);
}
