//! Tests of the advisor: its predictions compared with the allocator's counts, and suggestions that it must not make.

#![cfg(all(feature = "advice", feature = "derive", feature = "std"))]

use dwell::Weigh;
use dwell::weigh::{Accuracy, SuggestionKind, Texts, WhatIf, tree, tree_with_texts};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap, LinkedList};
use std::rc::Rc;
use std::sync::Arc;

/// Fewer values under Miri.
const SCALE: usize = if cfg!(miri) { 10 } else { 1 };
const MANY: usize = 1000 / SCALE;

fn cases() -> u32 {
    if cfg!(miri) {
        return 1;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20)
}

/// Uses a fixed seed, so that each run checks the same cases.
fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(21),
        ..ProptestConfig::with_cases(cases())
    }
}

/// Defines the same structs with other field types.
macro_rules! program {
    ($module:ident: $text:ty, $list:ident, $link:ident, $part:ident, $large:ty) => {
        mod $module {
            use super::*;

            pub(super) type Text = $text;

            #[derive(Weigh, Default)]
            pub(super) struct Part {
                pub(super) name: Option<Text>,
                pub(super) note: Option<Text>,
                pub(super) codes: $list<u16>,
            }

            #[derive(Weigh)]
            pub(super) struct Item {
                pub(super) id: u32,
                pub(super) name: Text,
                pub(super) part: $part<Part>,
                pub(super) link: $link<Part>,
                pub(super) shape: Shape,
            }

            #[derive(Weigh)]
            pub(super) enum Shape {
                Dot,
                Line(u64),
                Large($large),
            }

            #[derive(Weigh, Default)]
            pub(super) struct All {
                pub(super) list: $list<Item>,
                pub(super) map: HashMap<Text, Item>,
                pub(super) sorted: BTreeMap<Text, Item>,
                pub(super) linked: LinkedList<Item>,
                pub(super) shared: Vec<Rc<Item>>,
                pub(super) slots: $list<Option<Item>>,
            }
        }
    };
}

type BoxSlice<T> = Box<[T]>;
type OptionBox<T> = Option<Box<T>>;
type Plain<T> = T;
type Large = (u64, [u64; 12], Option<String>);

program!(naive: String, Vec, Option, Plain, Large);
program!(lean: Box<str>, BoxSlice, OptionBox, OptionBox, Box<Large>);

/// The contents of an item.
#[derive(Clone, Debug)]
struct Seed {
    name: String,
    part: Option<(String, Vec<u16>)>,
    #[expect(clippy::option_option, reason = "tells a link without a name from no link")]
    link: Option<Option<String>>,
    shape: u8,
}

/// Builds the same value from naive or lean types.
macro_rules! build {
    ($module:ident, $part:expr, $link:expr, $large:expr, $seeds:expr) => {{
        use $module::*;
        let text = |text: &String| Text::from(text.clone());
        let item = |seed: &Seed| Item {
            id: 7,
            name: text(&seed.name),
            part: $part(seed.part.as_ref().map(|(name, codes)| Part {
                name: Some(text(name)),
                note: None,
                codes: codes.clone().into(),
            })),
            link: seed.link.as_ref().map(|name| $link(Part { name: name.as_ref().map(text), ..Part::default() })),
            shape: match seed.shape {
                0 => Shape::Large($large((1, [2; 12], Some("large".to_owned())))),
                1 => Shape::Line(1),
                _ => Shape::Dot,
            },
        };
        let seeds: &[Vec<Seed>; 6] = $seeds;
        All {
            list: seeds[0].iter().map(item).collect::<Vec<_>>().into(),
            map: seeds[1].iter().map(|seed| (text(&seed.name), item(seed))).collect(),
            sorted: seeds[2].iter().map(|seed| (text(&seed.name), item(seed))).collect(),
            linked: seeds[3].iter().map(item).collect(),
            shared: seeds[4].iter().map(|seed| Rc::new(item(seed))).collect(),
            slots: seeds[5].iter().map(|seed| (seed.shape > 1).then(|| item(seed))).collect::<Vec<_>>().into(),
        }
    }};
}

fn seed() -> impl Strategy<Value = Seed> {
    let name = || "[a-z]{1,12}";
    let part = proptest::option::weighted(0.3, (name(), proptest::collection::vec(any::<u16>(), 0..4)));
    let link = proptest::option::weighted(0.2, proptest::option::of(name()));
    (name(), part, link, 0_u8..8).prop_map(|(name, part, link, shape)| Seed { name, part, link, shape })
}

fn seeds() -> impl Strategy<Value = [Vec<Seed>; 6]> {
    // Under Miri only the first has items: the search takes time with the square of the number of places.
    let list = |items| proptest::collection::vec(seed(), items);
    let rest = || list(0..if cfg!(miri) { 1 } else { 40 });
    [list(if cfg!(miri) { 3..4 } else { 0..40 }), rest(), rest(), rest(), rest(), rest()]
}

proptest! {
    #![proptest_config(config())]

    /// Makes all changes at once: the prediction from the naive types is the weight of the lean ones.
    #[test]
    fn combined_suggestions_are_predicted_exactly(seeds in seeds()) {
        let naive = build!(naive, |part: Option<Part>| part.unwrap_or_default(), |part| part, |large| large, &seeds);
        let lean = build!(lean, |part: Option<Part>| part.map(Box::new), Box::new, Box::new, &seeds);
        let tree = tree(&naive);
        let mut what_if = WhatIf::new(&tree);
        // A type without values has no node to change, so errors are ignored.
        for path in ["Item.part", "Item.link"] {
            let _ = what_if.boxed(path);
        }
        for path in ["All.list", "All.slots", "Item.name", "All.map key", "All.sorted key"] {
                let _ = what_if.exact(path);
        }
        for path in ["Part.name Some", "Part.note Some", "Part.codes"] {
            let _ = what_if.exact(path);
        }
        let _ = what_if.boxed_variant("Shape::Large");
        let weight = dwell::weigh(&lean);
        // No entry was removed, so the lower bounds of small maps are exact.
        prop_assert_eq!(what_if.accuracy(), tree.weight.accuracy());
        prop_assert_eq!(what_if.total(), weight.total());
        prop_assert_eq!(what_if.allocations(), weight.allocations);
    }

    /// The savings of the suggestions, applied one after the other, add up to the total.
    #[test]
    fn savings_of_suggestions_add_up(seeds in seeds()) {
        let naive = build!(naive, |part: Option<Part>| part.unwrap_or_default(), |part| part, |large| large, &seeds);
        let advice = tree(&naive).advise();
        let exact = advice.suggestions.iter().filter(|made| made.kind != SuggestionKind::Shrink);
        prop_assert_eq!(advice.before - advice.after, exact.map(|made| made.saves).sum::<u64>());
        prop_assert!(advice.suggestions.iter().all(|made| made.saves > 0));
    }
}

#[derive(Weigh, Default, Clone)]
struct Rare {
    words: Option<[u64; 12]>,
}

#[derive(Weigh, Default, Clone)]
struct Owner {
    id: u64,
    rare: Rare,
}

fn owners(filled: usize) -> Vec<Owner> {
    let mut owners = vec![Owner::default(); MANY];
    owners[..filled].iter_mut().for_each(|owner| owner.rare.words = Some([1; 12]));
    owners
}

#[test]
fn mostly_present_fields_are_not_boxed() {
    for (filled, boxes) in [(0, true), (10, true), (700, true), (950, false), (1000, false)] {
        let advice = tree(&owners(filled / SCALE)).advise();
        let kinds = [SuggestionKind::Box, SuggestionKind::Sparse];
        let boxed = advice.suggestions.iter().any(|made| kinds.contains(&made.kind));
        assert_eq!(boxed, boxes, "{filled}: {:?}", advice.suggestions);
    }
}

#[test]
fn nested_boxes_count_once() {
    let owners = owners(10);
    let tree = tree(&owners);
    let total = |paths: &[&str]| {
        let mut what_if = WhatIf::new(&tree);
        for path in paths {
            what_if.boxed(path).unwrap();
        }
        what_if.total()
    };
    let (vec, many) = (size_of::<Vec<Owner>>() as u64, owners.len() as u64);
    assert_eq!(total(&[]), vec + many * (8 + 104));
    assert_eq!(total(&["Owner.rare"]), vec + many * 16 + 10 * 104);
    assert_eq!(total(&["Rare.words"]), vec + many * 16 + 10 * 96);
    assert_eq!(total(&["Owner.rare", "Rare.words"]), vec + many * 16 + 10 * (8 + 96));
}

#[test]
fn small_values_have_no_suggestions() {
    assert!(tree(&5_u64).advise().suggestions.is_empty());
    assert!(tree(&Vec::<String>::new()).advise().suggestions.is_empty());
    assert!(tree(&vec![1_u8, 2, 3].into_boxed_slice()).advise().suggestions.is_empty());
}

#[test]
fn unknown_field_is_an_error() {
    let owners = owners(1);
    let tree = tree(&owners);
    let mut what_if = WhatIf::new(&tree);
    for path in ["Owner.other", "rare", "", "Owner", "value"] {
        assert_eq!(
            what_if.boxed(path).unwrap_err().to_string(),
            format!("no field `{path}` that supports this change")
        );
    }
    assert!(what_if.exact("Owner.rare").is_err());
    assert!(what_if.boxed_variant("Owner.rare").is_err());
    assert_eq!(what_if.total(), tree.weight.total());
}

#[test]
fn repr_c_fields_are_reordered() {
    #[derive(Weigh, Clone)]
    #[repr(C)]
    struct Padded {
        a: u8,
        b: u64,
        c: u8,
        name: Box<str>,
    }
    #[derive(Weigh, Clone)]
    #[repr(C)]
    struct Tight {
        a: u64,
        name: Box<str>,
    }
    let advice = tree(&vec![Padded { a: 1, b: 2, c: 3, name: "n".into() }; 100]).advise_std();
    assert_eq!(advice.suggestions.len(), 1, "{:?}", advice.suggestions);
    let made = &advice.suggestions[0];
    assert_eq!((made.kind, made.path.as_str(), made.saves), (SuggestionKind::Reorder, "Padded", 800));
    let tight = Tight { a: 1, name: "n".into() };
    assert!(tree(&vec![tight; 100]).advise_std().suggestions.is_empty());
}

#[test]
fn large_rare_variant_is_boxed() {
    #[derive(Weigh)]
    #[expect(clippy::large_enum_variant, reason = "the test checks that this is found")]
    enum Event {
        Key(u32),
        Image([u64; 100]),
    }
    let mut events: Vec<Event> = (0..99).map(Event::Key).collect();
    events.push(Event::Image([0; 100]));
    events.shrink_to_fit();
    let advice = tree(&events).advise();
    let made = &advice.suggestions[0];
    assert_eq!((made.kind, made.path.as_str(), made.filled), (SuggestionKind::Variant, "Event::Image", 1));
    #[expect(dead_code, reason = "only its size is asked for")]
    enum Lean {
        Key(u32),
        Image(Box<[u64; 100]>),
    }
    assert_eq!(advice.after, 24 + 100 * size_of::<Lean>() as u64 + 800);
}

#[test]
fn unused_capacity_is_shrunk() {
    let mut map: HashMap<u64, u64> = HashMap::with_capacity(10_000);
    map.insert(1, 2);
    let advice = tree(&map).advise();
    assert_eq!(advice.suggestions.len(), 1);
    assert_eq!((advice.suggestions[0].kind, advice.suggestions[0].is_exact), (SuggestionKind::Shrink, false));
    let before = dwell::weigh(&map).heap;
    map.shrink_to_fit();
    let saved = before - dwell::weigh(&map).heap;
    assert!(advice.suggestions[0].saves.abs_diff(saved) == 0, "{} {saved}", advice.suggestions[0].saves);
    // A full map is not shrunk.
    let full: HashMap<u64, u64> = (0..100).map(|n| (n, n)).collect();
    assert!(tree(&full).advise().suggestions.is_empty());
}

/// The concrete type is unknown, so only the size of the block decides whether the object fits inline.
#[test]
fn small_trait_objects_are_stored_inline() {
    let boxes: Vec<Box<dyn std::any::Any>> = (0..10_u64).map(|n| Box::new(n) as _).collect();
    let advice = tree(&boxes).advise();
    assert_eq!(advice.suggestions.len(), 1, "{:?}", advice.suggestions);
    let made = &advice.suggestions[0];
    assert_eq!((made.kind, made.allocations, made.to.as_str()), (SuggestionKind::Inline, -10, "SmallBox<dyn Any, 1>"));
    let large: Vec<Box<dyn std::any::Any>> = (0..10_u64).map(|n| Box::new([n; 100]) as _).collect();
    assert!(tree(&large).advise().suggestions.is_empty());
}

#[derive(Weigh)]
struct Row<Unit, Id> {
    unit: Unit,
    id: Id,
}

const UNITS: [&str; 4] = ["metre", "second", "kilogram", "ampere"];

#[test]
fn equal_strings_are_interned() {
    let id = |n: usize| format!("{n:08}");
    let as_is: Vec<Row<String, String>> = (0..MANY).map(|n| Row { unit: UNITS[n % 4].into(), id: id(n) }).collect();
    // Without reading the strings there is no suggestion.
    assert!(tree(&as_is).advise().suggestions.iter().all(|made| made.kind != SuggestionKind::Intern));

    let advice = tree_with_texts(&as_is).advise_std();
    let interned: Vec<_> = advice.suggestions.iter().filter(|made| made.kind == SuggestionKind::Intern).collect();
    // The identifiers are distinct and are not interned.
    assert_eq!(interned.len(), 1, "{advice}");
    assert_eq!((interned[0].path.as_str(), interned[0].is_exact), ("Row<String, String>.unit", false));
    assert_eq!(interned[0].allocations, 4 - MANY.cast_signed() as i64);

    // Compares all suggestions together with the changed program.
    let shared = UNITS.map(Arc::<str>::from);
    let made = |n: usize| Row { unit: shared[n % 4].clone(), id: id(n).into_boxed_str() };
    let made: Vec<Row<Arc<str>, Box<str>>> = (0..MANY).map(made).collect();
    let measured = dwell::weigh(&made);
    let predicted = advice.before - advice.suggestions.iter().map(|made| made.saves).sum::<u64>();
    assert!(predicted.abs_diff(measured.total()) <= 16, "{predicted} {measured}\n{advice}");
    let more: i64 = advice.suggestions.iter().map(|made| made.allocations).sum();
    assert_eq!(2 * MANY.cast_signed() as i64 + 1 + more, measured.allocations.cast_signed());
}

#[test]
fn boxed_strings_are_compared_too() {
    let texts: Vec<Box<str>> = (0..100).map(|n| UNITS[n % 4].into()).collect();
    let tree = tree_with_texts(&texts);
    assert_eq!(tree.nodes[1].texts.as_ref().map(Texts::distinct), Some(4));
    assert_eq!(tree.advise_std().suggestions[0].kind, SuggestionKind::Intern);
    assert_eq!(tree.weight, dwell::weigh(&texts));
}

/// Elements and values of a recursive type are counted at the node where the type occurs first.
#[test]
fn predictions_for_recursive_types_are_exact() {
    macro_rules! json {
        ($module:ident: $text:ty, $list:ty, $map:ty) => {
            mod $module {
                use super::*;

                #[derive(Weigh)]
                pub(super) enum Json {
                    Null,
                    Text($text),
                    Array($list),
                    Object($map),
                }

                pub(super) fn value(depth: usize) -> Json {
                    let inner = || (0..depth * 3).map(|n| value(if n % 2 == 0 { depth - 1 } else { 0 }));
                    match depth % 3 {
                        _ if depth == 0 => Json::Null,
                        0 => Json::Text("text".into()),
                        1 => {
                            let mut list: Vec<Json> = Vec::with_capacity(depth * 7);
                            list.extend(inner());
                            Json::Array(list.into())
                        }
                        _ => {
                            let map: HashMap<String, Json> =
                                inner().enumerate().map(|(n, v)| (n.to_string(), v)).collect();
                            Json::Object(map.into())
                        }
                    }
                }
            }
        };
    }
    json!(naive: String, Vec<Json>, HashMap<String, Json>);
    json!(lean: Box<str>, Box<[Json]>, Box<HashMap<String, Json>>);
    for depth in 0..9 {
        let value = naive::value(depth);
        let tree = tree(&value);
        let mut what_if = WhatIf::new(&tree);
        what_if.exact("Json::Text.0").unwrap();
        what_if.exact("Json::Array.0").unwrap();
        what_if.boxed_variant("Json::Object").unwrap();
        let lean = dwell::weigh(&lean::value(depth));
        assert_eq!(what_if.accuracy(), tree.weight.accuracy());
        assert_eq!((what_if.total(), what_if.allocations()), (lean.total(), lean.allocations), "{depth}\n{tree}");
    }
}

/// Returns the paths of the suggestions of these kinds.
fn paths(advice: &dwell::weigh::Advice, kinds: &[SuggestionKind]) -> Vec<String> {
    let of_kind = advice.suggestions.iter().filter(|made| kinds.contains(&made.kind));
    of_kind.map(|made| made.path.clone()).collect()
}

#[test]
fn rare_elements_are_boxed() {
    type Big = [u64; 20];
    let list: Vec<Option<Big>> = (0..1000).map(|n| (n % 100 == 0).then_some([n; 20])).collect();
    let advice = tree(&list).advise();
    let made = &advice.suggestions[0];
    assert_eq!((made.path.as_str(), made.to.as_str(), made.is_exact), ("value []", "Option<Box<[u64; 20]>>", true));
    assert_eq!(made.type_size, [168, 8]);
    let lean: Vec<Option<Box<Big>>> = list.iter().map(|big| big.map(Box::new)).collect();
    assert_eq!((advice.before, advice.after), (168_024, 9_624));
    assert_eq!(advice.after, dwell::weigh(&lean).total());
}

#[test]
fn large_map_values_are_boxed() {
    let map: HashMap<u64, [u64; 50]> = (0..40).map(|n| (n, [n; 50])).collect();
    let advice = tree(&map).advise_std();
    assert_eq!(
        (advice.suggestions[0].path.as_str(), advice.suggestions[0].to.as_str()),
        ("value value", "Box<[u64; 50]>")
    );
    let lean: HashMap<u64, Box<[u64; 50]>> = map.iter().map(|(&n, &large)| (n, Box::new(large))).collect();
    assert_eq!(advice.after, dwell::weigh(&lean).total());
}

#[test]
fn variants_with_the_same_large_field_are_boxed_together() {
    #[derive(Weigh)]
    enum Event {
        Key(u32),
        Open([u64; 50]),
        Close([u64; 50]),
    }
    let mut events: Vec<Event> = (0..98).map(Event::Key).collect();
    events.extend([Event::Open([0; 50]), Event::Close([0; 50])]);
    let advice = tree(&events.into_boxed_slice()).advise();
    let made = &advice.suggestions[0];
    assert_eq!((made.path.as_str(), made.to.as_str()), ("2 fields of Event", "Box<[u64; 50]>"));
    assert_eq!(made.type_size, [408, 16]);
    assert_eq!(advice.after, 16 + 100 * 16 + 400 + 400);
}

#[test]
fn field_of_all_variants_is_boxed_in_all() {
    #[derive(Weigh, Default, Clone)]
    struct Traits {
        text: Option<Box<str>>,
        a: Option<u64>,
        b: Option<u64>,
        c: Option<u64>,
        d: Option<u64>,
        e: Option<u64>,
        f: Option<u64>,
    }
    #[derive(Weigh)]
    enum Shape {
        Text {
            traits: Traits,
        },
        List {
            member: u32,
            traits: Traits,
        },
        Map {
            key: u32,
            value: u32,
            traits: Traits,
        },
        #[expect(dead_code, reason = "never constructed, but counts for the size of the enum")]
        Never {
            traits: Traits,
        },
    }
    let traits = |n: usize| Traits { text: n.is_multiple_of(50).then(|| "text".into()), ..Traits::default() };
    let shapes: Box<[Shape]> = (0..MANY)
        .map(|n| match n % 3 {
            0 => Shape::Text { traits: traits(n) },
            1 => Shape::List { member: 1, traits: traits(n) },
            _ => Shape::Map { key: 1, value: 2, traits: traits(n) },
        })
        .collect();
    let advice = tree(&shapes).advise_std();
    let made = &advice.suggestions[0];
    assert_eq!(made.path, "traits in 4 variants of Shape", "{advice}");
    assert_eq!((made.to.as_str(), made.paths.len(), made.is_exact), ("Option<Box<Traits>>", 4, true));
    assert!(
        made.patch().contains("-    Never.traits: Traits,\n+    Never.traits: Option<Box<Traits>>,"),
        "{}",
        made.patch()
    );
    assert!(advice.after * 4 < advice.before, "{advice}");
}

#[test]
fn fields_of_one_type_share_a_suggestion() {
    #[derive(Weigh, Default)]
    struct Operation {
        id: Box<str>,
        words: [u64; 20],
    }
    #[derive(Weigh, Default)]
    struct PathItem {
        get: Option<Operation>,
        put: Option<Operation>,
        post: Option<Operation>,
        delete: Option<Operation>,
    }
    let operation = || Some(Operation { id: "id".into(), words: [1; 20] });
    let items: Box<[PathItem]> =
        (0..100).map(|n| PathItem { get: operation().filter(|_| n % 2 == 0), ..PathItem::default() }).collect();
    let advice = tree(&items).advise_std();
    assert_eq!(paths(&advice, &[SuggestionKind::Box]), ["4 fields of PathItem"]);
    let made = &advice.suggestions[0];
    assert_eq!((made.filled, made.slots, made.type_size), (50, 400, [4 * size_of::<Option<Operation>>() as u64, 32]));
}

#[test]
fn fields_equal_to_their_default_become_sparse() {
    #[derive(Weigh, Default, Clone, PartialEq, dwell::Sparse)]
    struct Data {
        nullable: bool,
        read_only: bool,
        title: Option<Box<str>>,
        note: [u64; 16],
    }
    #[derive(Weigh)]
    struct Schema {
        data: Data,
        id: u32,
    }
    let data = |n: u32| if n.is_multiple_of(10) { Data { nullable: true, ..Data::default() } } else { Data::default() };
    let schemas: Box<[Schema]> = (0..).take(MANY).map(|id| Schema { data: data(id), id }).collect();
    let advice = tree(&schemas).advise();
    let made = &advice.suggestions[0];
    assert_eq!(
        (made.path.as_str(), made.to.as_str(), made.kind),
        ("Schema.data", "Sparse<Data>", SuggestionKind::Sparse)
    );
    #[derive(Weigh)]
    struct Lean {
        data: dwell::Sparse<Data>,
        id: u32,
    }
    let lean: Box<[Lean]> = (0..).take(MANY).map(|id| Lean { data: dwell::Sparse::new(data(id)), id }).collect();
    assert!(lean[10].id == 10 && lean[10].data.nullable && made.is_exact);
    assert_eq!(made.total, dwell::weigh(&lean).total());
    // Boxing would save nothing, since every value is present.
    assert!(paths(&tree(&schemas).advise_std(), &[SuggestionKind::Box]).is_empty());
}

#[test]
fn foreign_types_get_no_suggestions() {
    use std::borrow::Cow;
    #[derive(Weigh)]
    struct Page {
        title: Cow<'static, str>,
        range: std::ops::Range<String>,
        result: Result<String, Vec<u8>>,
    }
    let page = |n: usize| Page {
        title: Cow::Owned(String::with_capacity(100 + n)),
        range: "a".repeat(n)..String::with_capacity(200),
        result: Ok(String::with_capacity(300)),
    };
    let pages: Vec<Page> = (0..100).map(page).collect();
    let advice = tree(&pages).advise();
    for suggestion in &advice.suggestions {
        for path in &suggestion.paths {
            assert!(path.starts_with("Page") || path.starts_with("value"), "{path}");
        }
    }
    let tree = tree(&pages);
    let mut what_if = WhatIf::new(&tree);
    assert!(what_if.exact("Cow::Owned.0").is_err() && what_if.exact("Result::Ok.0").is_err());
    assert!(!pages[0].title.contains('x') && pages[0].range.end.is_empty() && pages[0].result.is_ok());
}

#[test]
fn serde_attributes_are_kept() {
    #[derive(Weigh, Default, serde::Deserialize)]
    struct Page {
        #[serde(default, rename = "Title")]
        title: Option<[u64; 20]>,
    }
    let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
    let advice = tree(&pages).advise();
    let patch = advice.to_patch();
    assert!(patch.contains("#[serde(default, rename = \"Title\")]"), "{patch}");
    assert!(patch.contains("+    title: Option<Box<[u64; 20]>>,") && patch.contains(".as_deref()"), "{patch}");
    assert_eq!(pages[0].title, None);
}

/// Memory that removed entries left in a map is not measured: the prediction is then a bound, like the weight.
#[test]
fn prediction_is_as_exact_as_the_weight() {
    #[derive(Weigh)]
    struct Page {
        links: BTreeMap<u64, u64>,
        note: Option<[u64; 20]>,
    }
    let page = |n: u64| {
        let mut links = BTreeMap::from([(1, n)]);
        links.pop_first();
        Page { links, note: None }
    };
    let pages: Vec<Page> = (0..10).map(page).collect();
    let tree = tree(&pages);
    let mut what_if = WhatIf::new(&tree);
    assert!(!what_if.is_exact());
    what_if.boxed("Page.note").unwrap();
    assert_eq!((what_if.is_exact(), what_if.accuracy()), (false, Accuracy::AtLeast));
    assert!(pages[0].links.is_empty() && pages[0].note.is_none());
}

/// Each patch removes the lines that the patches before it left.
#[test]
fn each_patch_starts_from_the_previous_one() {
    #[derive(Weigh)]
    struct Book {
        words: HashMap<String, String>,
        lines: Vec<Vec<String>>,
        pair: (String, Option<String>),
        note: Option<[u64; 20]>,
    }
    let book = |n: u64| Book {
        words: HashMap::from([("word".repeat(3), "meaning".repeat(4))]),
        lines: vec![vec!["a line".to_owned(); 3]; 3],
        pair: ("first".to_owned(), Some("second".to_owned())),
        note: n.is_multiple_of(20).then_some([n; 20]),
    };
    let books: Vec<Book> = (0..200 / SCALE as u64).map(book).collect();
    let advice = tree(&books).advise();
    let mut now = BTreeMap::from([
        ("words", "HashMap<String, String>"),
        ("lines", "Vec<Vec<String>>"),
        ("pair", "(String, Option<String>)"),
        ("note", "Option<[u64; 20]>"),
    ]);
    let patch = advice.to_patch();
    let mut lines = patch.lines();
    while let Some(line) = lines.next() {
        let Some((field, old)) = line.strip_prefix("-    ").and_then(|line| line.split_once(": ")) else { continue };
        assert_eq!(old.strip_suffix(','), now.get(field).copied(), "{patch}");
        let new =
            lines.next().and_then(|line| line.strip_prefix("+    ")).and_then(|line| line.split_once(": ")).unwrap();
        assert_eq!(new.0, field);
        now.insert(field, new.1.strip_suffix(',').unwrap());
    }
    assert_eq!(now["words"], "SortedMap<ThinStr, ThinStr>", "{patch}");
    assert_eq!(now["lines"], "Box<[Box<[ThinStr]>]>", "{patch}");
    assert_eq!(now["pair"], "(ThinStr, Option<ThinStr>)", "{patch}");
    assert_eq!(now["note"], "Option<Box<[u64; 20]>>", "{patch}");
    // The comment names the type whose size changes if that is not the struct.
    assert!(patch.starts_with("struct Book { // String 24 -> 8 B; "), "{patch}");
    let kinds: Vec<SuggestionKind> = advice.suggestions.iter().map(|made| made.kind).collect();
    assert!(kinds.contains(&SuggestionKind::Thin) && kinds.contains(&SuggestionKind::Sorted));
    let made = &books[0];
    assert!(made.words.len() == 1 && made.lines.len() == 3 && made.pair.0 == "first" && made.note.is_some());
}

/// The fields of a `Sparse` type must implement `IsEmpty`: the patch names their types too, as types that need the
/// derive.
#[test]
fn patch_names_the_types_inside_a_sparse_type() {
    #[derive(Weigh, Default)]
    enum Format<T> {
        #[expect(dead_code, reason = "only its size counts")]
        Known(T, Held),
        #[default]
        Empty,
    }
    #[derive(Weigh, Default)]
    struct Held(u64);
    #[derive(Weigh, Default)]
    struct Range {
        from: u64,
        to: u64,
        unit: Unit,
    }
    #[derive(Weigh, Default)]
    struct Unit(u8);
    #[derive(Weigh, Default)]
    struct Rule {
        format: Format<u64>,
        ranges: [Box<Range>; 2],
        pair: (Unit, u64),
        list: Vec<Held>,
        more: Option<Held>,
    }
    #[derive(Weigh)]
    struct Field {
        rule: Rule,
    }
    let fields: Vec<Field> = (0..100).map(|_| Field { rule: Rule::default() }).collect();
    let advice = tree(&fields).advise();
    let made = &advice.suggestions[0];
    assert_eq!((made.path.as_str(), made.to.as_str()), ("Field.rule", "Sparse<Rule>"), "{advice}");
    assert!(made.patch().contains("derive `Sparse` and `Default` for Rule, Format, Range, Unit; "), "{}", made.patch());
    let Rule { format, ranges: [range, _], pair, list, more } = &fields[0].rule;
    assert!(matches!(format, Format::Empty) && range.from == range.to && range.unit.0 == pair.0.0);
    assert!(pair.1 == 0 && list.iter().chain(more).all(|held| held.0 == 0));
}

/// Fields of different types change together, each to `Sparse` of its own type: the patch names all of them.
#[test]
fn patch_names_all_types_of_one_step() {
    #[derive(Weigh, Default)]
    struct Text {
        words: [Option<u64>; 9],
    }
    #[derive(Weigh, Default)]
    struct Number {
        digits: [Option<u64>; 8],
    }
    #[derive(Weigh)]
    enum Value {
        Text(Text, u8),
        Number(Number, u8),
    }
    let value =
        |n: u8| if n.is_multiple_of(2) { Value::Text(Text::default(), n) } else { Value::Number(Number::default(), n) };
    let values: Box<[Value]> = (0..100).map(value).collect();
    let advice = tree(&values).advise();
    let made = &advice.suggestions[0];
    assert_eq!(
        (made.kind, made.from.as_str(), made.to.as_str()),
        (SuggestionKind::Sparse, "_", "Sparse<_>"),
        "{advice}"
    );
    assert!(made.patch().contains("derive `Sparse` and `Default` for Text, Number; "), "{}", made.patch());
    let held = values.iter().map(|value| match value {
        Value::Text(text, n) => text.words.len() + usize::from(*n),
        Value::Number(number, n) => number.digits.len() + usize::from(*n),
    });
    assert_eq!(held.sum::<usize>(), 50 * 17 + 99 * 50);
}

/// If most lists are empty, a handle of one word outweighs the additional word in each block.
#[test]
fn mostly_empty_lists_become_thin_slices() {
    #[derive(Weigh)]
    struct Page {
        tags: Vec<u64>,
    }
    let pages: Vec<Page> = (0..100).map(|n| Page { tags: vec![n; usize::from(n.is_multiple_of(10))] }).collect();
    let advice = tree(&pages).advise();
    let made = &advice.suggestions[0];
    assert_eq!((made.to.as_str(), made.type_size, made.kind), ("ThinSlice<u64>", [24, 8], SuggestionKind::Thin));
    // `collect` would reuse the vector's block.
    let mut lean = Vec::with_capacity(100);
    lean.extend(pages.into_iter().map(|page| dwell::sparse::ThinSlice::from(page.tags)));
    assert_eq!(advice.after, dwell::weigh(&lean).total());
    assert!(advice.to_string().contains("24 -> 8 B"), "{advice}");
}

/// An attribute that names a function of the field's type changes with the type.
#[test]
fn serde_function_attributes_change_with_the_type() {
    #[derive(Weigh, serde::Serialize)]
    struct Page {
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lines: Vec<u64>,
    }
    let pages: Vec<Page> = (0..10).map(|n| Page { lines: vec![n; 3] }).collect();
    let patch = tree(&pages).advise().to_patch();
    let lines = [
        "-    #[serde(default, skip_serializing_if = \"Vec::is_empty\")]",
        "-    lines: Vec<u64>,",
        "+    #[serde(default, skip_serializing_if = \"<[_]>::is_empty\")]",
        "+    lines: Box<[u64]>,",
    ];
    assert!(patch.contains(&lines.join("\n")), "{patch}");
    assert_eq!(pages[1].lines, [1, 1, 1]);
}

#[test]
fn sizes_just_above_a_limit_get_a_hint() {
    #[derive(Weigh, Clone)]
    struct Row {
        words: [u64; 9],
    }
    let rows = vec![Row { words: [1; 9] }; 10];
    let advice = tree(&rows).advise();
    let hint = &advice.hints[0];
    assert_eq!(
        (hint.type_name.as_str(), hint.size, hint.limit, hint.limit_kind, hint.values),
        ("Row", 72, 64, "cache line", 10)
    );
    assert!(advice.to_string().contains("hint: Row is 72 B, 8 B above a cache line of 64 B (10 values)"), "{advice}");
}

#[test]
fn user_defined_weights_saturate() {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "`with` calls it with a reference")]
    fn all(_: &u8) -> dwell::weigh::Weight {
        dwell::weigh::Weight::of_blocks(u64::MAX, u64::MAX)
    }
    #[derive(Weigh)]
    struct Large {
        #[weigh(with = "all")]
        a: u8,
        #[weigh(with = "all")]
        b: u8,
        c: String,
    }
    let value = vec![Large { a: 1, b: 2, c: "c".into() }, Large { a: 1, b: 2, c: "c".into() }];
    let weight = dwell::weigh(&value);
    assert_eq!((weight.heap, weight.allocations), (u64::MAX, u64::MAX));
    let tree = tree(&value);
    assert_eq!((tree.weight, weight.total()), (weight, u64::MAX));
    let advice = tree.advise();
    assert!(!advice.to_json().is_empty() && !tree.to_text().is_empty() && !tree.to_html().is_empty());
    assert_eq!(dwell::weigh::diff(&tree, &tree).changes.len(), 0);
    assert!(value[0].a + value[0].b == 3 && value[0].c == "c");
}

/// A boxed slice becomes thin, and its elements become smaller.
#[test]
fn elements_of_a_thin_slice_count_once() {
    #[derive(Weigh)]
    struct All<T> {
        list: T,
    }
    #[derive(Weigh)]
    struct Lean {
        id: u64,
        rare: Option<Box<Rare>>,
    }
    for filled in [0, 10, 900].map(|filled| filled / SCALE) {
        let all = All { list: owners(filled).into_boxed_slice() };
        let tree = tree(&all);
        let lean = |owner: &Owner| Lean {
            id: owner.id,
            rare: owner.rare.words.is_some().then(|| Box::new(owner.rare.clone())),
        };
        let lean = All { list: all.list.iter().map(lean).collect::<dwell::sparse::ThinSlice<_>>() };
        assert!(
            lean.list.iter().all(|owner| owner.id == 0)
                && lean.list.iter().filter_map(|owner| owner.rare.as_ref()).count() == filled
        );
        let measured = dwell::weigh(&lean);
        for paths in [["All.list", "Owner.rare"], ["Owner.rare", "All.list"]] {
            let mut what_if = WhatIf::new(&tree);
            for path in paths {
                if path == "All.list" { what_if.thin(path).unwrap() } else { what_if.boxed(path).unwrap() }
            }
            assert!(what_if.is_exact());
            assert_eq!((what_if.total(), what_if.allocations()), (measured.total(), measured.allocations));
        }
    }
}

/// Suggests a change that saves nothing by itself but much after another one.
#[test]
fn changes_that_pay_off_later_are_suggested() {
    macro_rules! program {
        ($module:ident: $text:ty) => {
            mod $module {
                #[derive(dwell::Weigh)]
                pub(super) struct Path {
                    pub(super) text: $text,
                    pub(super) note: $text,
                }
                #[derive(dwell::Weigh)]
                pub(super) enum Kind {
                    Name($text, $text),
                    Path(Path),
                    Same(Box<Kind>),
                }
                #[derive(dwell::Weigh)]
                pub(super) struct All {
                    pub(super) paths: Box<[Path]>,
                    pub(super) kinds: Box<[Kind]>,
                }
                pub(super) fn all() -> All {
                    let path = || Path { text: "a path".to_owned().into(), note: "a note".to_owned().into() };
                    let kind = |n: usize| match n % 3 {
                        0 => Kind::Name("a name".to_owned().into(), "another".to_owned().into()),
                        1 => Kind::Path(path()),
                        _ => Kind::Same(Box::new(Kind::Path(path()))),
                    };
                    All {
                        paths: (0..300 / super::SCALE).map(|_| path()).collect(),
                        kinds: (0..300 / super::SCALE).map(kind).collect(),
                    }
                }
            }
        };
    }
    program!(before: String);
    program!(after: dwell::sparse::ThinStr);
    let advice = tree(&before::all()).advise();
    assert_eq!(paths(&advice, &[SuggestionKind::Thin]), ["2 fields of Path", "2 fields of Kind"], "{advice}");
    assert_eq!((advice.suggestions.len(), advice.after), (2, dwell::weigh(&after::all()).total()), "{advice}");
}

/// A field or variant of a generic type is one source line, so it changes in all instantiations.
#[test]
fn generic_type_changes_in_all_instantiations() {
    macro_rules! program {
        ($module:ident: $large:ty) => {
            mod $module {
                #[derive(dwell::Weigh)]
                pub(super) enum Maybe<T> {
                    Item(T),
                    Other($large),
                }
                #[derive(dwell::Weigh)]
                pub(super) struct All {
                    pub(super) some: Box<[Maybe<u64>]>,
                    pub(super) few: Box<[Maybe<u32>]>,
                }
                pub(super) fn all() -> All {
                    let other = |n: u64| n.is_multiple_of(10);
                    let some = |n| if other(n) { Maybe::Other([n; 20].into()) } else { Maybe::Item(n) };
                    let few = |n| if other(n) { Maybe::Other([n; 20].into()) } else { Maybe::Item(7) };
                    All { some: (0..super::MANY as u64).map(some).collect(), few: (0..10).map(few).collect() }
                }
            }
        };
    }
    program!(before: [u64; 20]);
    program!(after: Box<[u64; 20]>);
    let advice = tree(&before::all()).advise();
    let made = &advice.suggestions[0];
    assert_eq!((advice.suggestions.len(), made.paths.len(), made.is_exact), (1, 2, true), "{advice}");
    assert_eq!(made.patch().matches("Box<").count(), 1, "{}", made.patch());
    assert_eq!(advice.after, dwell::weigh(&after::all()).total(), "{advice}");
}
