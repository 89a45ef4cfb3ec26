//! `Weigh` for structs whose last field is unsized, or may be.
#![cfg(all(feature = "std", feature = "derive"))]
#![allow(clippy::struct_field_names, reason = "the fields are named after what is tested")]

mod common;

use common::live;
use dwell::Weigh;
use dwell::weigh::{Edge, Model, Node, Tree};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

/// Asserts that the weight of the value is exact, and returns its tree.
fn exact<T: Weigh>(make: impl FnOnce() -> T) -> Tree {
    let before = live();
    let value = make();
    let after = live();
    let weight = dwell::weigh(&value);
    assert_eq!(weight.heap.cast_signed(), (after.1 - before.1) as i64);
    assert_eq!(weight.allocations.cast_signed(), (after.0 - before.0) as i64);
    let tree = dwell::weigh::tree(&value);
    assert_eq!(tree.weight, weight);
    assert_eq!(tree.nodes.iter().map(|node| node.heap).sum::<u64>(), weight.heap);
    for text in [tree.to_text(), tree.to_markdown(), tree.to_json(), tree.to_html(), tree.to_folded()] {
        assert!(!text.is_empty());
    }
    let advice = tree.advise();
    assert!(advice.after <= advice.before);
    assert_eq!(advice.before, weight.total());
    assert!(dwell::weigh::weigh_as(&value, Model::Glibc).heap >= weight.heap);
    tree
}

#[track_caller]
fn at<'t>(tree: &'t Tree, path: &[&str]) -> &'t Node {
    let mut node = 0;
    for label in path {
        let found = tree.nodes[node].children.iter().find(|child| tree.label(**child) == *label);
        node = *found.unwrap_or_else(|| panic!("no {label} in {:?}", tree.nodes[node]));
    }
    &tree.nodes[node]
}

#[derive(Weigh)]
struct Tail<T: ?Sized> {
    name: String,
    flag: bool,
    tail: T,
}

/// Whether the compiler was told to put fields in a random order. Sizes by the usual order do not hold then.
fn are_fields_shuffled() -> bool {
    let shuffled = std::env::var_os("DWELL_SHUFFLED_FIELDS").is_some();
    if shuffled {
        eprintln!("skipped: the fields are in a random order");
    }
    shuffled
}

fn tail<T>(name: &str, tail: T) -> Tail<T> {
    Tail { name: name.into(), flag: true, tail }
}

#[test]
fn tail_of_a_slice_is_followed() {
    let boxed = || -> Box<Tail<[String]>> { Box::new(tail("ab", ["x".to_owned(), String::new(), "yz".to_owned()])) };
    let tree = exact(|| vec![boxed(), boxed()]);
    assert_eq!(at(&tree, &["[]", "*", "name"]).heap, 4);
    let strings = at(&tree, &["[]", "*", "tail", "[]"]);
    assert_eq!((strings.heap, strings.slots, strings.filled), (6, 6, 4));
    assert_eq!(at(&tree, &["[]", "*", "tail"]).edge, Edge::Field(2));
    assert!(!at(&tree, &["[]", "*"]).ty.is_sized);
    assert_eq!(at(&tree, &["[]"]).heap, 2 * size_of_val::<Tail<[String]>>(&boxed()) as u64);
}

#[test]
fn empty_and_plain_tails_are_followed() {
    exact(|| -> Box<Tail<[String]>> { Box::new(tail("", [])) });
    exact(|| -> Box<Tail<[u64]>> { Box::new(tail("x", [1, 2])) });
    exact(|| -> Box<Tail<[()]>> { Box::new(tail("x", [(), ()])) });
    exact(|| -> Rc<Tail<[Option<u8>]>> { Rc::new(tail("x", [Some(1), None])) });
}

#[test]
fn tail_of_a_trait_object_is_opaque() {
    let tree = exact(|| -> Box<Tail<dyn Debug>> { Box::new(tail("abc", 1_u64)) });
    assert_eq!(at(&tree, &["*", "name"]).heap, 3);
    exact(|| -> Arc<Tail<dyn Debug + Send + Sync>> { Arc::new(tail("abc", [1_u8; 100])) });
    exact(|| -> Box<Tail<dyn Fn(u8) -> u8>> { Box::new(tail("x", |of| of)) });
}

#[test]
fn tail_of_a_sized_type_is_as_large_as_the_compiler_says() {
    if are_fields_shuffled() {
        return;
    }
    #[derive(Weigh)]
    #[repr(C)]
    struct C<T: ?Sized>(u8, u32, u8, T);

    #[derive(Weigh)]
    struct Three<T>(u8, u64, u16, [u8; 3], T)
    where
        T: ?Sized;

    fn check<T: Weigh>() {
        let ty = T::TYPE;
        assert!(ty.is_sized, "{ty:?}");
        assert_eq!((ty.size, ty.align), (size_of::<T>(), align_of::<T>()), "{ty:?}");
        assert_eq!(ty.has_niche, size_of::<Option<T>>() == size_of::<T>(), "{ty:?}");
    }
    check::<Tail<u8>>();
    check::<Tail<String>>();
    check::<Tail<Tail<u128>>>();
    check::<C<u8>>();
    check::<C<u64>>();
    check::<C<bool>>();
    check::<Three<()>>();
    check::<Three<u8>>();
    check::<Three<u32>>();
    check::<Three<u128>>();
    check::<Three<Tail<[u16; 5]>>>();
    let tree = exact(|| vec![tail("a", 1_u8), tail("bc", 2)]);
    assert_eq!(at(&tree, &["[]"]).size, 32);
    assert_eq!(at(&tree, &["[]", "tail"]).instances, 2);
}

#[test]
fn predictions_keep_the_last_field_last() {
    if are_fields_shuffled() {
        return;
    }
    // The compiler would put a `u64` first if it could.
    #[derive(Weigh)]
    struct Last<T: ?Sized> {
        a: u8,
        more: Option<[u64; 8]>,
        last: T,
    }
    let make = || (0..8).map(|n| Last { a: n, more: None, last: u16::from(n) }).collect::<Vec<_>>();
    let tree = exact(make);
    assert_eq!(size_of::<Last<u16>>(), 80);
    let advice = tree.advise();
    let first = &advice.suggestions[0];
    // By hand: `Option<Box<[u64; 8]>>`, a `u8`, and after one byte of padding the `u16`.
    assert_eq!((first.path.as_str(), first.type_size), ("Last<u16>.more", [80, 16]));
    // In this order by `repr(C)`: CI also runs with a random order of fields.
    #[repr(C)]
    struct After<T: ?Sized> {
        more: Option<Box<[u64; 8]>>,
        a: u8,
        last: T,
    }
    assert_eq!(size_of::<After<u16>>(), 16);
}

#[derive(Weigh)]
struct Concrete {
    len: usize,
    bytes: [String],
}

#[derive(Weigh)]
struct Outer {
    id: u32,
    inner: Tail<[Box<str>]>,
}

#[derive(Weigh)]
struct Text {
    is_short: bool,
    text: str,
}

#[derive(Weigh)]
struct Skipped<T: ?Sized> {
    name: String,
    #[weigh(skip)]
    skipped: T,
}

#[derive(Weigh)]
struct Object<'s> {
    owner: String,
    run: dyn Fn(&str) -> usize + Send + 's,
}

#[derive(Weigh)]
struct WithSized {
    name: String,
    // A sized type with an unsized argument.
    call: dwell::SmallBox<dyn Fn(u8) -> u8>,
}

#[test]
fn unsized_types_without_parameters_are_followed() {
    assert!(!Concrete::TYPE.is_sized && !Outer::TYPE.is_sized && !Text::TYPE.is_sized && !Object::TYPE.is_sized);
    assert!(!<Skipped<[NoWeigh]>>::TYPE.is_sized && <Skipped<NoWeigh>>::TYPE.size == 0);
    assert_eq!((WithSized::TYPE.size, WithSized::TYPE.is_sized), (size_of::<WithSized>(), true));
    let tree = exact(|| -> Box<Tail<Tail<[String]>>> { Box::new(tail("a", tail("bc", ["def".to_owned()]))) });
    assert_eq!(at(&tree, &["*", "tail", "tail", "[]"]).heap, 3);
    exact(|| -> Box<Skipped<[NoWeigh]>> { Box::new(Skipped { name: "x".into(), skipped: [NoWeigh] }) });
    exact(|| Skipped { name: "x".into(), skipped: NoWeigh });
    exact(|| WithSized { name: "x".into(), call: dwell::small_box!(|of| of) });
}

struct NoWeigh;
