//! Tests of `#[derive(Weigh)]`, and of the trees of derived types.
#![cfg(all(feature = "std", feature = "derive"))]

mod common;

use common::live;
use dwell::Weigh;
use dwell::weigh::{Edge, Kind, Node, Reach, Repr, Tree, Weight};
use std::collections::{BTreeMap, HashMap};
use std::marker::PhantomData;

/// Asserts that the weight of the value is exact, and returns its tree with the same weight.
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
    tree
}

/// Returns the node at the end of these labels.
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
struct Shape<'s, T, const N: usize> {
    name: String,
    parts: Vec<Shape<'s, T, N>>,
    next: Option<Box<Shape<'s, T, N>>>,
    value: T,
    #[weigh(skip)]
    lent: &'s [u8; N],
    #[weigh(with = "two_bytes", name = "foreign")]
    opaque: Foreign,
}

struct Foreign;

fn two_bytes(_: &Foreign) -> Weight {
    Weight::of_blocks(2, 1)
}

#[test]
fn fields_and_recursive_types_are_weighed() {
    let leaf = |n: u8| Shape {
        name: "x".repeat(n.into()),
        parts: Vec::new(),
        next: None,
        value: n,
        lent: &[0; 3],
        opaque: Foreign,
    };
    let shape = Shape { parts: vec![leaf(1), leaf(2)], next: Some(Box::new(leaf(3))), ..leaf(4) };
    let size = size_of::<Shape<'_, u8, 3>>() as u64;
    let weight = dwell::weigh(&shape);
    assert_eq!((weight.inline, weight.heap, weight.allocations), (size, 3 * size + 10 + 8, 4 + 2 + 4));
    let tree = dwell::weigh::tree(&shape);
    assert_eq!(tree.weight, weight);
    assert_eq!(tree.nodes.iter().map(|node| node.heap).sum::<u64>(), weight.heap);
    let root = &tree.nodes[0];
    assert_eq!((root.instances, root.slots, root.filled), (4, 4, 4));
    assert_eq!(at(&tree, &["name"]).heap, 10);
    assert_eq!((at(&tree, &["parts"]).filled, at(&tree, &["parts"]).slots), (1, 4));
    assert_eq!((at(&tree, &["foreign"]).heap, at(&tree, &["foreign"]).allocations), (8, 4));
    // The elements have the root's type and share its node.
    assert_eq!(at(&tree, &["parts"]).children, [0]);
    assert_eq!(at(&tree, &["next", "Some"]).children, [0]);
    assert_eq!(root.edge, Edge::Root);
    let Kind::Struct { fields, repr: Repr::Rust } = &root.ty.kind else { panic!("{:?}", root.ty.kind) };
    assert!(fields[4].part.is_none());
    assert!(fields.iter().all(|field| field.offset.unwrap() + field.size <= root.ty.size));
}

#[derive(Weigh)]
#[expect(clippy::large_enum_variant, reason = "the test finds it by its size")]
enum Message {
    Quit,
    Move {
        x: i32,
        y: i32,
    },
    Write(String),
    Many(Vec<Message>, #[weigh(skip)] PhantomData<String>),
    #[expect(dead_code, reason = "never constructed, so its node has no value")]
    Large([u64; 32]),
}

#[test]
fn variants_are_counted() {
    let tree = exact(|| {
        vec![
            Message::Quit,
            Message::Move { x: 1, y: 2 },
            Message::Write("hello".into()),
            Message::Quit,
            Message::Many(vec![Message::Quit, Message::Write(String::new())], PhantomData),
        ]
    });
    let count = |name| at(&tree, &["[]", name]).instances;
    assert_eq!((count("Quit"), count("Move"), count("Write"), count("Many"), count("Large")), (3, 1, 2, 1, 0));
    assert_eq!(at(&tree, &["[]"]).slots, 7);
    let text = at(&tree, &["[]", "Write", "0"]);
    assert_eq!((text.instances, text.filled, text.heap), (2, 1, 5));
    assert_eq!(at(&tree, &["[]", "Move", "y"]).instances, 1);
}

#[derive(Weigh)]
enum Never {}

#[derive(Weigh)]
struct Unit;

#[derive(Weigh)]
struct Newtype(String);

#[derive(Clone, Copy, Weigh)]
enum Level {
    Low,
    High = 7,
}

#[derive(Weigh)]
#[repr(C)]
struct Padded {
    a: u8,
    b: u64,
    c: u8,
}

#[test]
fn box_of_an_empty_slice_is_vacant() {
    let boxes = [Box::<[String]>::default(), vec!["x".to_owned()].into(), Box::default()];
    assert_eq!(boxes.each_ref().map(Weigh::is_vacant), [true, false, true]);
    assert!(!Box::<[()]>::from([()]).is_vacant(), "it holds something, if not in memory");
    assert!(!Box::new(Level::Low).is_vacant());
    let tree = exact(|| boxes.to_vec());
    assert_eq!((at(&tree, &["[]"]).slots, at(&tree, &["[]"]).filled), (3, 1));
}

#[test]
fn types_without_heap_memory() {
    assert_eq!(
        (Never::REACH, Unit::REACH, Level::REACH, Padded::REACH),
        (Reach::Plain, Reach::Plain, Reach::Plain, Reach::Plain)
    );
    // An `Option<Never>` is always `None`, and no walk follows it.
    assert_eq!((Option::<Level>::REACH, Option::<Never>::REACH), (Reach::Inline, Reach::Plain));
    assert!(Unit.is_vacant());
    exact(|| (Unit, Newtype("x".into()), [Level::Low, Level::High]));
    // Variants that were not counted have no nodes.
    assert!(at(&dwell::weigh::tree(&vec![Level::Low]), &["[]"]).children.is_empty());
    let Kind::Struct { fields, repr } = &Padded::TYPE.kind else { panic!() };
    assert_eq!((fields[1].offset, fields[2].offset, *repr), (Some(8), Some(16), Repr::C));
    let _ = Padded { a: 1, b: 2, c: 3 };
}

/// A type without `Weigh`, for type parameters that no walk reaches.
struct NotWeigh;

#[derive(Weigh)]
#[allow(dead_code)]
struct Unreached<'a, T, U: ?Sized, F> {
    marker: PhantomData<T>,
    lent: &'a U,
    raw: *const T,
    make: fn(F) -> T,
    pair: (PhantomData<F>, [&'a T; 2]),
}

#[test]
fn unreached_type_parameters_need_no_bound() {
    let make: fn(NotWeigh) -> NotWeigh = |value| value;
    let value: Unreached<'_, NotWeigh, str, NotWeigh> =
        Unreached { marker: PhantomData, lent: "x", raw: std::ptr::null(), make, pair: (PhantomData, [&NotWeigh; 2]) };
    assert_eq!(dwell::weigh(&value).heap, 0);
}

#[derive(Weigh)]
struct Projected<I: Iterator> {
    items: Vec<I::Item>,
    first: Option<I::Item>,
}

#[derive(Weigh)]
#[weigh(bound = "T: Named", name = "Chosen", crate = "dwell")]
struct Bounded<T> {
    value: Vec<T>,
}

trait Named: Weigh {}
impl Named for String {}

#[test]
fn bound_name_and_crate_attributes() {
    exact(|| Projected::<std::vec::IntoIter<String>> { items: vec!["x".into()], first: Some("y".into()) });
    let tree = exact(|| Bounded { value: vec![String::from("x")] });
    assert_eq!(tree.nodes[0].ty.name(), "Chosen");
}

#[derive(Weigh)]
struct Shared<'a> {
    #[weigh(shared)]
    lent: &'a Vec<String>,
    #[weigh(shared)]
    counted: std::rc::Rc<[u32]>,
}

#[test]
fn shared_targets_count_once() {
    let list = vec![String::from("abc")];
    let numbers: std::rc::Rc<[u32]> = [1, 2, 3].into();
    let one = |_| Shared { lent: &list, counted: numbers.clone() };
    let many: [Shared<'_>; 5] = std::array::from_fn(one);
    let weight = dwell::weigh(&many);
    assert_eq!(weight.heap, 2 * size_of::<Vec<String>>() as u64 + 3 + 12);
    assert_eq!(weight.allocations, 4);
    assert_eq!(dwell::weigh::tree(&many).weight, weight);
    assert!(!many[0].lent.is_empty() && many[0].counted[0] == 1);
}

/// User names and generics that must not clash with those of the derive.
#[derive(Weigh)]
#[allow(non_camel_case_types, clippy::struct_field_names)]
struct Hygiene<'a, 'v, T, const TREE: bool, const __DWELL: usize> {
    r#type: Option<T>,
    walk: Vec<T>,
    __walk: String,
    lent: &'a &'v str,
    #[deprecated]
    old: [u8; __DWELL],
}

macro_rules! written_elsewhere {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $ty:ty),* }) => {
        $(#[$meta])*
        struct $name { $($field: $ty),* }
    };
}

written_elsewhere! {
    #[derive(Weigh)]
    ByMacro { text: String, list: Vec<u8> }
}

#[test]
#[expect(deprecated, reason = "the derive also supports deprecated types")]
fn derive_is_hygienic() {
    let tree = exact(|| Hygiene::<'_, '_, String, true, 3> {
        r#type: Some("x".into()),
        walk: vec!["yy".into()],
        __walk: "zzz".into(),
        lent: &"",
        old: [0; 3],
    });
    assert_eq!(at(&tree, &["type"]).filled, 1);
    exact(|| ByMacro { text: "x".into(), list: vec![1] });
}

#[derive(Default, Weigh)]
struct Traits {
    title: Option<String>,
    tags: Vec<String>,
    rare: Option<[u64; 8]>,
}

#[derive(Weigh)]
struct Member {
    traits: Traits,
    target: String,
}

#[test]
fn empty_slots_are_counted() {
    let tree = exact(|| {
        let mut members: HashMap<u32, Member> = HashMap::with_capacity(100);
        for n in 0..50 {
            let mut traits = Traits::default();
            if n % 10 == 0 {
                traits.title = Some(String::from("title"));
            }
            members.insert(n, Member { traits, target: "target".into() });
        }
        members
    });
    let map = &tree.nodes[0];
    assert_eq!(map.waste, (128 - 50) * size_of::<(u32, Member)>() as u64);
    let traits = at(&tree, &["value", "traits"]);
    assert_eq!((traits.slots, traits.instances, traits.filled), (128, 50, 5));
    assert_eq!(traits.inline(), 128 * size_of::<Traits>() as u64);
    assert_eq!(traits.empty(), 123 * size_of::<Traits>() as u64);
    let title = at(&tree, &["value", "traits", "title"]);
    assert_eq!((title.slots, title.filled, title.percent_empty()), (128, 5, 123.0 / 128.0 * 100.0));
    let rare = at(&tree, &["value", "traits", "rare"]);
    assert_eq!((rare.slots, rare.filled), (128, 0));
    assert_eq!(at(&tree, &["value", "target"]).heap, 300);
    assert_eq!((at(&tree, &["key"]).slots, at(&tree, &["key"]).filled), (128, 50));
}

type Maybe = Option<Box<(u8, String)>>;

/// A walk over a B-tree prefetches a few entries: at the end none is skipped or visited twice.
#[test]
fn btree_entries_are_visited_once() {
    #[derive(Weigh)]
    struct Part {
        name: String,
        more: Option<Box<(String, u8)>>,
        below: BTreeMap<u8, Box<str>>,
    }

    fn part(n: usize) -> Part {
        let more = n.is_multiple_of(3).then(|| Box::new(("more".into(), 0)));
        let below = (0..n % 4).map(|key| (0, "x".repeat(key).into())).collect();
        Part { name: "x".repeat(n % 2), more, below }
    }

    for len in (0..=40).step_by(if cfg!(miri) { 13 } else { 1 }).chain(if cfg!(miri) { [12, 60] } else { [150, 1000] })
    {
        let tree =
            exact(|| (0..len).map(|n| (format!("{n:04}").repeat(n % 5), part(n))).collect::<BTreeMap<String, _>>());
        // All entries with an empty key are one entry.
        let kept: Vec<usize> = (0..len).filter(|n| n % 5 != 0).chain((0..len).rev().find(|n| n % 5 == 0)).collect();
        let count = |is: fn(usize) -> bool| kept.iter().filter(|n| is(**n)).count() as u64;
        if len != 0 {
            let (key, value) = (at(&tree, &["key"]), at(&tree, &["value"]));
            assert_eq!((key.instances, key.filled), (count(|_| true), count(|n| n % 5 != 0)));
            assert_eq!(value.instances, count(|_| true));
            assert_eq!(value.filled, count(|n| n % 2 != 0 || n % 3 == 0 || n % 4 != 0));
            assert_eq!(at(&tree, &["value", "more"]).filled, count(|n| n % 3 == 0));
        }
    }

    // Plain keys or plain values are not visited.
    for len in (0..=40).step_by(if cfg!(miri) { 13 } else { 1 }) {
        exact(|| (0..len).map(|n| (n, Box::new(n))).collect::<BTreeMap<_, _>>());
        exact(|| (0..len).map(|n| (Box::new(n), n)).collect::<BTreeMap<_, _>>());
        exact(|| (0..len).map(|n| (n, (n % 2 == 0).then_some(n))).collect::<BTreeMap<_, _>>());
    }
}

#[test]
fn nested_parts_are_counted() {
    let tree = exact(|| {
        let mut map: BTreeMap<String, Vec<Maybe>> = BTreeMap::new();
        for n in 0..30 {
            map.insert(n.to_string(), (0..4).map(|m| (m == 0).then(|| Box::new((1, "text".into())))).collect());
        }
        map
    });
    let boxes = at(&tree, &["value", "[]"]);
    assert_eq!((boxes.slots, boxes.filled, boxes.instances), (120, 30, 120));
    let pair = at(&tree, &["value", "[]", "Some", "*"]);
    assert_eq!((pair.instances, pair.slots), (30, 30));
    assert_eq!(at(&tree, &["value", "[]", "Some", "*", "1"]).heap, 120);
    assert_eq!(at(&tree, &["value", "[]", "Some"]).heap, 30 * size_of::<(u8, String)>() as u64);
}
