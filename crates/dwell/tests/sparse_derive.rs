//! Tests of `#[derive(Sparse)]` on every kind of type that it supports.
#![cfg(feature = "derive")]

use dwell::Sparse;
use dwell::sparse::{ConstDefault, DefaultRef, IsEmpty, SortedMap, ThinStr};
use std::borrow::Cow;
use std::collections::HashMap;

#[derive(Debug, Default, Clone, PartialEq, Sparse)]
struct Traits {
    title: Option<String>,
    tags: Vec<String>,
    codes: HashMap<String, u16>,
    deep: Sparse<Traits>,
}

#[test]
fn struct_is_empty_if_all_fields_are() {
    assert!(Traits::default().is_empty());
    assert!(!Traits { title: Some(String::new()), ..Traits::default() }.is_empty());
    assert!(!Traits { tags: vec![String::new()], ..Traits::default() }.is_empty());
    let mut deep = Traits::default();
    deep.deep.edit(|d| d.tags.push("a".into()));
    assert!(!deep.is_empty());
    assert_eq!(Sparse::<Traits>::empty().deep.deep.title, None);
}

#[test]
fn default_ref_returns_one_value() {
    let (a, b) = (Sparse::<Traits>::empty(), Sparse::<Traits>::empty());
    assert!(std::ptr::eq(&raw const *a, &raw const *b));
    assert!(std::ptr::eq(Traits::default_ref(), &raw const *a));
}

#[test]
fn default_is_lent_for_any_lifetime() {
    #[derive(Default, Sparse)]
    struct Borrowed<'a> {
        name: &'a str,
        text: Cow<'a, str>,
        more: Option<&'a [u8]>,
    }

    let owned = String::from("name");
    let mut sparse = Sparse::<Borrowed<'_>>::empty();
    assert_eq!(sparse.name, "");
    sparse.edit(|b| b.name = &owned);
    assert_eq!(sparse.name, "name");
    assert_eq!(sparse.text, "");
    assert!(sparse.more.is_none());
    sparse.edit(|b| b.name = "");
    assert!(sparse.get().is_none());
}

#[test]
fn each_instantiation_has_its_own_default() {
    #[derive(Default, Sparse)]
    struct Page<T, const N: usize = 4>
    where
        T: Clone,
    {
        first: Option<T>,
        rest: Vec<[T; N]>,
        nested: Sparse<Vec<T>>,
    }

    assert!(Sparse::<Page<u8>>::empty().first.is_none());
    assert!(Sparse::<Page<String>>::empty().rest.is_empty());
    assert!(Sparse::<Page<String, 7>>::empty().rest.is_empty());
    assert!(Sparse::<Page<String>>::empty().nested.is_empty());
    let (a, b) = (Sparse::<Page<u8>>::empty(), Sparse::<Page<u8>>::empty());
    assert!(std::ptr::eq(&raw const *a, &raw const *b));
    assert!(!Page::<u8> { first: Some(0), rest: vec![], nested: Sparse::empty() }.is_empty());
}

/// An enum is empty in its default variant, and a type marked `eq` by `==`: neither requires `IsEmpty` of a type
/// parameter.
#[test]
fn type_parameters_need_not_be_is_empty() {
    #[derive(Debug, Default, PartialEq)]
    struct Opaque(u8);

    #[derive(Default, Sparse)]
    enum Known<T> {
        Item(T),
        #[default]
        Unknown,
    }

    #[derive(Default, PartialEq, Sparse)]
    #[sparse(eq)]
    struct Whole<T>(Option<T>, u8);

    assert!(Sparse::new(Known::<Opaque>::Unknown).is_empty() && !Known::Item(Opaque(0)).is_empty());
    assert!(matches!(&*Sparse::new(Known::Item(Opaque(7))), Known::Item(Opaque(7))));
    assert!(Sparse::new(Whole::<Opaque>(None, 0)).is_empty());
    assert_eq!(Sparse::new(Whole(Some(Opaque(1)), 0)).0, Some(Opaque(1)));
}

/// The derive used to implement `Deref` only for `'static`.
#[test]
fn generic_type_with_a_lifetime_lends_its_default_for_any_lifetime() {
    #[derive(Default, Sparse)]
    struct Page<'a, T: Clone + 'a, const N: usize = 2>
    where
        T: IntoIterator<Item: Copy>,
        'a: 'a,
    {
        name: &'a str,
        text: Cow<'a, str>,
        first: Option<&'a T>,
        rest: Vec<[T; N]>,
        next: Sparse<Page<'a, T, N>>,
    }

    fn first_letter<'a>(page: &'a Sparse<Page<'_, [u8; 1]>>) -> &'a str {
        page.name.get(..1).unwrap_or(page.next.name)
    }

    let (owned, value) = (String::from("owned"), [7]);
    let mut page = Sparse::<Page<'_, [u8; 1]>>::empty();
    assert_eq!(first_letter(&page), "");
    page.edit(|page| page.next.edit(|next| next.name = &owned));
    assert_eq!(first_letter(&page), "owned");
    page.edit(|page| (page.name, page.first) = (&owned, Some(&value)));
    assert_eq!((first_letter(&page), page.first), ("o", Some(&[7])));
    assert!(page.text.is_empty() && page.rest.is_empty());
    let (a, b) = (Sparse::<Page<'_, [u8; 1]>>::empty(), Sparse::<Page<'static, [u8; 1]>>::empty());
    assert!(std::ptr::eq(&raw const *a, &raw const *b), "one default for all lifetimes");
    assert_eq!(Sparse::<Page<'_, Vec<u8>, 9>>::empty().next.name, "");
}

/// The compiler cannot distinguish `T: Named<'a>` from `T: Named<'static>`, so only the `'static` type lends its
/// default.
#[test]
fn bounds_that_name_a_lifetime() {
    trait Named<'a>: Default {
        fn name(&self) -> &'a str;
    }
    impl<'a> Named<'a> for u8 {
        fn name(&self) -> &'a str {
            "number"
        }
    }

    #[derive(Default, Sparse)]
    struct Both<'a, 'b: 'a, T: Named<'a> + 'a> {
        short: Option<&'a str>,
        long: &'b str,
        named: T,
    }

    let owned = String::from("long");
    let both = Sparse::new(Both { long: &owned, short: None, named: 7 });
    assert_eq!(both.get().map(|both| (both.long, both.short, both.named.name())), Some(("long", None, "number")));
    let empty = Sparse::<Both<'static, 'static, u8>>::empty();
    assert_eq!((empty.long, empty.named), ("", 0));

    // Without type parameters too.
    #[derive(Default, Sparse)]
    struct Bounded<'a>
    where
        &'a str: Default,
        u8: Named<'a>,
        Self: Send,
    {
        text: Option<&'a str>,
    }
    #[derive(Sparse)]
    #[sparse(const)]
    struct Constant<'a>
    where
        u8: Named<'a>,
    {
        text: &'a str,
    }
    #[derive(Default, Sparse)]
    struct Unbounded<'a>
    where
        Self: Sized,
    {
        text: Option<&'a str>,
    }
    assert_eq!(Sparse::new(Bounded { text: Some(&owned) }).get().unwrap().text, Some("long"));
    assert_eq!((Sparse::<Bounded<'static>>::empty().text, Sparse::<Constant<'static>>::empty().text), (None, ""));
    assert_eq!(Sparse::new(Constant { text: &owned }).get().unwrap().text, "long");
    assert_eq!(Sparse::new(Unbounded { text: Some(&owned) }).text, Some("long"));
}

/// Types without interior mutability of their own, though they may own some on the heap, and one that allows it by an
/// attribute.
#[test]
fn types_without_interior_mutability_are_accepted() {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Default, Sparse)]
    struct Allowed<'a, T, const N: usize = 3> {
        array: Option<[u8; N]>,
        counts: Vec<AtomicU32>,
        name: &'a str,
        names: [Option<&'a str>; 3],
        unknown: Option<T>,
        boxed: Option<Box<AtomicU32>>,
        own: Sparse<Self>,
        #[sparse(is_empty = "is_not_made", allow_interior_mutability)]
        cache: OnceLock<usize>,
    }
    fn is_not_made(_: &OnceLock<usize>) -> bool {
        true
    }

    let empty = Sparse::<Allowed<'_, u8, 0>>::empty();
    assert_eq!(*empty.cache.get_or_init(|| empty.name.len() + 7), 7);
    assert_eq!(Sparse::<Allowed<'_, u8, 0>>::empty().cache.get(), Some(&7), "all empty ones share the default");
    let counted = Sparse::new(Allowed::<u8, 0> { counts: vec![AtomicU32::new(1)], ..Allowed::default() });
    assert_eq!(counted.counts[0].fetch_add(1, Ordering::Relaxed), 1);
    assert_eq!(counted.counts[0].load(Ordering::Relaxed), 2);

    // Without type parameters, `Self` is a type that the derive checks.
    #[derive(Default, Sparse)]
    struct Tree<'a>
    where
        Self: Send,
    {
        own: Sparse<Self>,
        list: Vec<Self>,
        text: Option<Box<(&'a str, Self)>>,
    }
    assert!(Tree::default().own.own.list.is_empty() && Tree::default().own.text.is_none());

    #[derive(Sparse)]
    #[sparse(const)]
    enum Switch {
        #[default]
        Off,
        #[allow(dead_code, reason = "never constructed: the default is the other variant")]
        On(AtomicU32),
    }
    assert!(Sparse::new(Switch::Off).get().is_none());
}

#[test]
fn bound_attribute_replaces_bounds() {
    #[derive(Default)]
    struct Plain; // not `IsEmpty`

    #[derive(Default, Sparse)]
    #[sparse(bound = "T: Default")]
    struct Holder<T> {
        value: Option<T>,
    }

    assert!(Holder::<Plain>::default().is_empty());
    assert!(!Holder { value: Some(Plain) }.is_empty());
}

#[test]
fn tuple_and_unit_structs() {
    #[derive(Default, Sparse)]
    struct Pair(u8, #[sparse(eq)] String);
    #[derive(Default, Sparse)]
    struct Unit;

    assert!(Pair::default().is_empty());
    assert!(!Pair(1, String::new()).is_empty());
    assert!(!Pair(0, "a".into()).is_empty());
    assert!(Unit.is_empty());
    assert!(Sparse::new(Unit).get().is_none());
}

#[test]
fn enum_is_empty_in_its_default_variant() {
    #[derive(Debug, PartialEq, Sparse)]
    #[sparse(const)]
    enum Switch {
        #[default]
        Off,
        On(u8),
    }
    #[derive(Debug, Default, PartialEq, Sparse)]
    enum Level {
        #[default]
        Off,
        On(u8),
    }

    assert_eq!(Switch::default(), Switch::DEFAULT);
    assert!(Switch::Off.is_empty() && !Switch::On(1).is_empty());
    assert!(Level::Off.is_empty());
    assert!(!Level::On(0).is_empty());
    assert_eq!(*Sparse::<Level>::empty(), Level::Off);
}

#[test]
fn eq_attribute_compares_an_enum_with_its_default() {
    #[derive(PartialEq, Sparse)]
    #[sparse(eq)]
    enum Depth {
        Of(u8),
        Endless,
    }
    impl Default for Depth {
        fn default() -> Self {
            Depth::Of(3)
        }
    }

    assert!(Depth::Of(3).is_empty());
    assert!(!Depth::Of(0).is_empty());
    assert!(!Depth::Endless.is_empty());
}

/// A hand-written default whose fields are not all empty is never replaced by an empty value, or the reverse.
#[test]
fn hand_written_default_of_a_struct_is_kept() {
    #[derive(Debug, PartialEq, Sparse)]
    struct Settings {
        retries: u8,
        name: String,
    }
    impl Default for Settings {
        fn default() -> Self {
            Self { retries: 3, name: String::new() }
        }
    }

    let zero = || Settings { retries: 0, name: String::new() };
    assert!(!zero().is_empty());
    assert_eq!(Sparse::new(zero()).into_inner(), zero());
    assert_eq!(Sparse::<Settings>::empty().retries, 3);
    assert_eq!(Sparse::new(Settings::default()).into_inner(), Settings::default());

    #[derive(PartialEq, Sparse)]
    #[sparse(eq)]
    struct Whole {
        retries: u8,
    }
    impl Default for Whole {
        fn default() -> Self {
            Self { retries: 3 }
        }
    }

    assert!(Whole::default().is_empty());
    assert!(Sparse::new(Whole { retries: 3 }).get().is_none());
    assert!(Sparse::new(Whole { retries: 0 }).get().is_some());
}

/// The same for an enum: `#[default]` may belong to another derive, with a hand-written `Default`.
#[test]
fn hand_written_default_of_an_enum_is_kept() {
    #[derive(Debug, PartialEq, Sparse)]
    enum Code {
        Zero,
        #[default]
        Other,
    }
    #[expect(clippy::derivable_impls, reason = "this is what is tested")]
    impl Default for Code {
        fn default() -> Self {
            Self::Zero
        }
    }

    for code in [|| Code::Zero, || Code::Other] {
        assert_eq!(Sparse::new(code()).into_inner(), code());
    }
    assert_eq!(*Sparse::<Code>::empty(), Code::Zero);
}

#[test]
fn equality_order_and_hash_agree_with_deref() {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Sparse)]
    struct Settings {
        retries: u8,
    }
    impl Default for Settings {
        fn default() -> Self {
            Self { retries: 3 }
        }
    }

    let (empty, boxed) = (Sparse::<Settings>::empty(), Sparse::new(Settings::default()));
    let hash = |value: &Sparse<Settings>| BuildHasherDefault::<DefaultHasher>::new().hash_one(value);
    assert_eq!(*empty, *boxed);
    assert_eq!(empty, boxed);
    assert_eq!(empty.cmp(&boxed), std::cmp::Ordering::Equal);
    assert_eq!(hash(&empty), hash(&boxed));
    assert_ne!(empty, Sparse::new(Settings { retries: 0 }));
    assert_eq!(Sparse::new(-0.0), Sparse::empty());
}

/// Structs made by `macro_rules!` carry its hygiene.
#[test]
fn works_on_structs_from_macro_rules() {
    macro_rules! make {
        ($name:ident, $type:ident, $($rest:tt)*) => {
            #[derive(Default, Sparse)]
            struct $name { a: $type, b: $($rest)* }
        };
    }
    make!(Made, String, Vec<u8>);
    #[allow(non_upper_case_globals, dead_code, reason = "a name that a derive might capture")]
    const value: u8 = 0;

    assert!(Made::default().is_empty());
    assert!(!Made { a: "a".into(), b: vec![] }.is_empty());
}

/// The same for a default that depends on a const parameter.
#[test]
fn hand_written_generic_default_is_kept() {
    #[derive(Sparse)]
    struct Sized<const N: usize> {
        size: usize,
    }
    impl<const N: usize> Default for Sized<N> {
        fn default() -> Self {
            Self { size: N }
        }
    }

    assert!(Sized::<0> { size: 0 }.is_empty());
    assert!(!Sized::<1> { size: 0 }.is_empty());
    assert_eq!(Sparse::<Sized<1>>::empty().size, 1);
    assert_eq!(Sparse::<Sized<0>>::empty().size, 0);
}

#[test]
fn const_attribute_makes_the_default_a_constant() {
    #[derive(Debug, PartialEq, Sparse)]
    #[sparse(const)]
    struct Inner(u8, f64);
    #[derive(Debug, PartialEq, Sparse)]
    #[sparse(const)]
    struct Constant<'a> {
        title: Option<Box<str>>,
        name: &'a str,
        text: ThinStr,
        map: SortedMap<String, u8>,
        hashed: HashMap<u8, u8, std::hash::BuildHasherDefault<std::hash::DefaultHasher>>,
        inner: Inner,
        deep: Sparse<Inner>,
    }
    #[derive(Debug, PartialEq, Sparse)]
    #[sparse(const)]
    struct Generic<T>(Option<T>);
    #[derive(Debug, PartialEq, Sparse)]
    #[sparse(const)]
    struct Unit;

    assert_eq!(Constant::default(), Constant::DEFAULT);
    assert!(Constant::default().is_empty());
    let owned = String::from("a");
    assert!(!Constant { name: &owned, ..Constant::default() }.is_empty());
    assert_eq!(Sparse::<Constant<'_>>::empty().inner, Inner(0, 0.0));
    assert!(std::ptr::eq(Constant::default_ref(), Constant::default_ref()));
    assert_eq!(Sparse::<Generic<String>>::empty().0, None);
    assert_eq!(Sparse::new(Unit).get(), None);
}

#[test]
fn is_empty_attribute_names_a_function() {
    #[derive(Default)]
    struct Foreign(u8);
    fn is_zero(value: &Foreign) -> bool {
        value.0 == 0
    }

    #[derive(Default, Sparse)]
    struct Owner {
        #[sparse(is_empty = "is_zero")]
        foreign: Foreign,
    }

    assert!(Owner::default().is_empty());
    assert!(!Owner { foreign: Foreign(1) }.is_empty());
}

/// Names in scope that the derive must neither use nor shadow.
#[test]
fn is_hygienic() {
    #![allow(non_camel_case_types, dead_code, reason = "names a derive might trip over")]
    trait Default {}
    trait IsEmpty {}
    struct Option;
    enum Result {}
    mod core {}
    mod std {}

    #[derive(::core::default::Default, Sparse)]
    struct value {
        all_empty: u8,
        r#type: u8,
    }
    #[derive(::core::default::Default, Sparse)]
    struct __NoInteriorMutability<FIELD_0> {
        any_value: ::std::vec::Vec<FIELD_0>,
    }

    assert!(dwell::sparse::IsEmpty::is_empty(&__NoInteriorMutability::<u8>::default()));
    assert!(dwell::sparse::IsEmpty::is_empty(&value { all_empty: 0, r#type: 0 }));
    assert!(!dwell::sparse::IsEmpty::is_empty(&value { all_empty: 0, r#type: 1 }));
}

#[test]
fn crate_attribute_renames_the_crate() {
    mod elsewhere {
        pub(super) use dwell as renamed;
    }

    #[derive(Default, Sparse)]
    #[sparse(crate = "elsewhere::renamed")]
    struct Here {
        a: u8,
    }

    assert!(Here { a: 0 }.is_empty());
}

#[test]
fn racing_threads_get_the_same_default() {
    #[derive(Default, Sparse)]
    struct Raced {
        value: Option<String>,
    }
    #[derive(Default, Sparse)]
    #[sparse(bound = "")]
    struct RacedGeneric<T> {
        value: Option<T>,
    }

    let barrier = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                assert!(Sparse::<Raced>::empty().value.is_none());
                assert!(Sparse::<RacedGeneric<u8>>::empty().value.is_none());
                assert!(Sparse::<RacedGeneric<u16>>::empty().value.is_none());
                assert!(Sparse::new(Raced { value: None }).get().is_none());
            });
        }
    });
    assert!(std::ptr::eq(Raced::default_ref(), Raced::default_ref()));
}

/// Each level of a recursive type is compared once. Comparing each twice would take exponential time.
#[test]
fn comparing_a_deep_value_takes_linear_time() {
    #[derive(Default, PartialEq, PartialOrd, Sparse)]
    #[sparse(eq)]
    struct Schema {
        items: Sparse<Schema>,
        kind: u8,
    }
    let deep = |levels| (0..levels).fold(Schema::default(), |items, _| Schema { items: Sparse::new(items), kind: 1 });
    let (one, other) = (deep(100), deep(100));
    assert!(one == other && one.partial_cmp(&other) == Some(std::cmp::Ordering::Equal));
    assert!(deep(99) < one && deep(0).items.is_empty());
}

/// The test of a generic type also tests the type's default. If that repeated itself for each part on each level, the
/// test would take exponential time.
#[test]
fn is_empty_of_nested_generic_types_takes_polynomial_time() {
    #[derive(Default, Sparse)]
    struct Field<T>(T, u8);
    #[derive(Default, Sparse)]
    struct Parts<T>([(u8, Box<T>); 1]);
    #[derive(Sparse)]
    struct Retries<T>(T, u8);
    impl<T: Default> Default for Retries<T> {
        fn default() -> Self {
            Self(T::default(), 3)
        }
    }
    type Six<T> = Field<Parts<Field<Parts<Field<Parts<T>>>>>>;
    type Deep<T> = Six<Six<Six<Six<Six<Six<Six<T>>>>>>>;

    assert!(Sparse::new(Deep::<u8>::default()).get().is_none());
    assert!(!Field(Deep::<u8>::default(), 1).is_empty());
    let mut inside = Six::<u8>::default();
    *inside.0.0[0].1.0.0[0].1.0.0[0].1 = 1;
    assert!(!inside.is_empty());
    // The default of the innermost type is not empty, so nothing around it is.
    assert!(!Six::<Retries<u8>>::default().is_empty());
    assert!(!Field(Retries(0_u8, 0), 0).is_empty());
    assert!(!Parts([(0, Box::new(Retries(0_u8, 0)))]).is_empty());
}

/// `Self` in the length of an array became `Type<>`, which is no expression.
#[test]
fn field_types_may_name_constants_of_self() {
    #[derive(Debug, Default, PartialEq, Sparse)]
    struct Plain {
        bytes: [u8; Self::N],
    }
    impl Plain {
        const N: usize = 4;
    }
    #[derive(Debug, Default, PartialEq, Sparse)]
    struct Lifetime<'a> {
        bytes: [u8; Plain::N],
        names: Option<&'a [Self]>,
    }
    assert_eq!(Sparse::<Plain>::default().bytes, [0; 4]);
    assert_eq!(*Sparse::<Lifetime<'_>>::default(), Lifetime::default());
}
