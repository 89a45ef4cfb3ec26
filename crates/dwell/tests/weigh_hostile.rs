//! Implementations of `Weigh` that report any numbers: sums and products saturate, and nothing panics.
#![cfg(all(feature = "std", feature = "derive"))]
#![allow(
    clippy::cast_possible_truncation,
    clippy::trivially_copy_pass_by_ref,
    clippy::zero_sized_map_values,
    reason = "what is tested: any number, and small types"
)]

use dwell::Weigh;
use dwell::weigh::{Field, Kind, MapKind, Model, Reach, Repr, Tree, Type, Variant, Walk, Weight, WhatIf, type_of};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The models of allocators.
const MODELS: [Model; 4] = [Model::Requested, Model::Glibc, Model::Jemalloc, Model::Mimalloc];

/// Runs everything that reads the numbers of a tree.
fn read(tree: &Tree) {
    for text in [tree.to_text(), tree.to_markdown(), tree.to_json(), tree.to_html(), tree.to_folded()] {
        assert!(!text.is_empty());
    }
    let below = tree.heap_below();
    assert_eq!(below[0], tree.nodes.iter().fold(0, |sum: u64, node| sum.saturating_add(node.heap)));
    for node in &tree.nodes {
        let _ = (node.inline(), node.empty(), node.percent_empty());
    }
    for advice in [tree.advise(), tree.advise_std()] {
        let _ = (advice.to_string(), advice.to_markdown());
        advice.hints.iter().for_each(|hint| assert!(!hint.to_string().is_empty()));
        advice.suggestions.iter().for_each(|made| assert!(!made.patch().is_empty()));
    }
    let mut changes = WhatIf::new(tree);
    for path in ["Around.one", "Around.many", "Around.text", "Around.map", "Around.maybe", "Strange.0"] {
        let _ = changes.boxed(path);
        let _ = (changes.total(), changes.allocations(), changes.is_exact(), changes.before());
        let _ = (changes.boxed_always(path), changes.thin(path), changes.sorted(path), changes.exact(path));
        let _ = (changes.total(), changes.allocations());
    }
    let diff = dwell::weigh::diff(tree, tree);
    assert!(diff.changes.is_empty() && !diff.to_string().is_empty());
}

/// Weighs a value in every way, and returns its weight.
fn all<T: Weigh>(value: &T) -> Weight {
    for model in MODELS {
        let weight = dwell::weigh::weigh_as(value, model);
        assert!(weight.total() >= weight.heap);
        assert!(!weight.to_string().is_empty());
        read(&dwell::weigh::tree_as(value, model));
    }
    let tree = dwell::weigh::tree_with_texts(value);
    read(&tree);
    let weight = dwell::weigh(value);
    assert_eq!(weight, tree.weight);
    weight
}

/// Reports blocks and slots of the largest sizes.
struct Most;

impl Weigh for Most {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<u64>, growable: true, contiguous: true });
    const VACANT_MAPS: u64 = u64::MAX;

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.block(usize::MAX, usize::MAX, usize::MAX);
        walk.block(usize::MAX, 3, 1);
        walk.blocks(usize::MAX, 0, usize::MAX, u64::MAX);
        walk.blocks(1 << 40, 8, 1 << 40, 1 << 50);
        walk.slots::<u64>(0, usize::MAX, usize::MAX);
        walk.slots::<u64>(0, usize::MAX, 0);
        walk.slots::<u64>(0, 0, usize::MAX);
        walk.text(b"x");
        walk.at_least();
        walk.at_most();
        walk.opaque();
    }
}

#[test]
fn largest_numbers_saturate() {
    #[derive(Weigh)]
    struct Around {
        one: Most,
        many: Vec<Most>,
        maybe: Option<Box<Most>>,
        #[weigh(with = "most")]
        custom: u8,
        text: String,
        map: BTreeMap<u8, Most>,
    }
    fn most(_: &u8) -> Weight {
        let mut weight = Weight::of_blocks(u64::MAX, u64::MAX);
        (weight.opaque, weight.at_least, weight.at_most) = (u64::MAX, u64::MAX, u64::MAX);
        weight
    }
    let around = |n: usize| Around {
        one: Most,
        many: (0..n).map(|_| Most).collect(),
        maybe: Some(Box::new(Most)),
        custom: 0,
        text: "x".into(),
        map: BTreeMap::from([(1, Most), (2, Most)]),
    };
    for value in [vec![around(0)], vec![around(1), around(3)]] {
        let weight = all(&value);
        assert_eq!((weight.heap, weight.allocations, weight.total()), (u64::MAX, u64::MAX, u64::MAX));
        assert_eq!((weight.opaque, weight.at_least), (u64::MAX, u64::MAX));
    }
    let weight = all(&Some(Rc::new(RefCell::new([Most, Most]))));
    assert_eq!((weight.heap, weight.allocations), (u64::MAX, u64::MAX));
}

#[test]
fn products_saturate() {
    struct Product;

    impl Weigh for Product {
        const TYPE: &'static Type = &Type::new::<Self>(Kind::Plain);

        fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
        where
            Self: 'v,
        {
            // The product wraps to 0.
            walk.blocks(1 << (usize::BITS / 2), 8, 1 << (usize::BITS / 2), 0);
        }
    }
    assert_eq!(dwell::weigh(&Product).heap, usize::MAX as u64);
    assert_eq!(all(&[Product, Product]).allocations, 2 << (usize::BITS / 2));
}

#[test]
fn constants_of_vacant_maps_saturate() {
    #[derive(Weigh)]
    struct Vacant(Option<u8>, Most, [Most; 3], (Most, Most));
    assert_eq!(<[[Most; 1000]; 1000]>::VACANT_MAPS, u64::MAX);
    assert_eq!(Vacant::VACANT_MAPS, u64::MAX);
    assert_eq!(<(Most, Most)>::VACANT_MAPS, u64::MAX);
}

/// Describes itself by a size and an alignment that no type has.
struct Odd;

impl Weigh for Odd {
    const TYPE: &'static Type = &{
        let mut ty = Type::new::<Self>(Kind::Plain);
        (ty.size, ty.align, ty.has_niche) = (usize::MAX, 3, true);
        ty
    };

    fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
    }
}

/// Describes itself by sizes and parts that no type has.
struct Strange(Cell<u64>);

impl Weigh for Strange {
    const REACH: Reach = Reach::Heap;
    const TYPE: &'static Type = &{
        const FIELD: Field = {
            let mut field = Field::new::<Odd>("0", Some(usize::MAX));
            (field.size, field.align) = (usize::MAX, 0);
            field
        };
        let mut ty = Type::new::<Self>(Kind::Enum {
            variants: &[Variant::new("A", &[FIELD, FIELD]), Variant::new("B", &[]), Variant::new("C", &[FIELD])],
        });
        (ty.size, ty.align, ty.has_niche) = (usize::MAX, 0, true);
        ty
    };

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let seed = self.0.get();
        if seed == 0 {
            return;
        }
        self.0.set(0);
        let number = |n: u32| (seed.rotate_left(n) >> (seed.rotate_right(n) % 64)) as usize;
        walk.variant(number(1) % 3, |walk| {
            walk.block(number(2), number(3), number(4));
            walk.blocks(number(5), number(6), number(7), number(8) as u64);
        });
        walk.block(number(9), number(10), number(11));
        self.0.set(seed);
    }
}

/// A collection that describes itself as `KIND` and reports numbers from its seed.
struct Any<const KIND: u8>(u64);

impl<const KIND: u8> Weigh for Any<KIND> {
    const TYPE: &'static Type = &{
        let mut ty = Type::new::<Self>(match KIND {
            0 => Kind::Sequence { element: type_of::<[u64; 9]>, growable: true, contiguous: true },
            1 => Kind::Map { key: type_of::<u128>, value: type_of::<Strange>, entry: usize::MAX, map: MapKind::Hash },
            2 => Kind::Map { key: type_of::<u8>, value: type_of::<Option<[u64; 9]>>, entry: 0, map: MapKind::BTree },
            3 => Kind::Pointer { to: type_of::<Strange>, shared: true },
            4 => Kind::Array { element: type_of::<Strange>, len: usize::MAX },
            5 => Kind::Optional { some: type_of::<Strange> },
            6 => Kind::Wrapper { inner: type_of::<Strange> },
            7 => Kind::Text { growable: true },
            8 => Kind::Map { key: type_of::<u8>, value: type_of::<Strange>, entry: 1, map: MapKind::Sorted },
            _ => Kind::Struct {
                fields: const { &[Field::new::<Strange>("0", None), Field::new::<u8>("1", Some(usize::MAX))] },
                repr: Repr::Packed,
            },
        });
        (ty.size, ty.align) = (usize::MAX - 1, usize::MAX);
        ty
    };

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let number = |n: u32| (self.0.rotate_left(n) >> (self.0.rotate_right(n) % 64)) as usize;
        walk.block(number(1), number(2), number(3));
        walk.blocks(number(4), number(5), number(6), number(7) as u64);
        if KIND != 7 {
            walk.slots::<Strange>(0, number(8), number(9));
            walk.slots::<Strange>(0, number(10), number(11));
        }
        walk.text(&[0; 1]);
    }
}

#[derive(Weigh)]
struct Around {
    one: Strange,
    many: Vec<Option<Strange>>,
    map: Any<1>,
    sorted: Any<2>,
    thin: Any<8>,
    pointer: Box<Any<3>>,
    array: Any<4>,
    maybe: Option<Any<5>>,
    wrapper: (Any<6>, Any<9>),
    text: Any<7>,
    list: Vec<Any<0>>,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(12), ..ProptestConfig::default() })]

    #[test]
    fn random_numbers_saturate(seeds in prop::collection::vec(any::<u64>(), 11)) {
        let [a, b, c, d, e, f, g, h, i, j, k] = seeds[..] else { unreachable!() };
        let one = |seed: u64| Strange(Cell::new(seed));
        let around = || Around {
            one: one(a),
            many: vec![Some(one(b)), None, Some(one(0))],
            map: Any(c),
            sorted: Any(d),
            thin: Any(e),
            pointer: Box::new(Any(f)),
            array: Any(g),
            maybe: Some(Any(h)),
            wrapper: (Any(i), Any(j)),
            text: Any(k),
            list: vec![Any(a), Any(b)],
        };
        all(&around());
        all(&vec![around(), around()]);
    }
}

#[test]
fn strange_types_by_themselves_are_read() {
    for seed in [1, 7, u64::MAX, 1 << 63, 0xDEAD_BEEF_0BAD_F00D] {
        all(&Strange(Cell::new(seed)));
        all(&Any::<0>(seed));
        all(&Any::<1>(seed));
        all(&Any::<2>(seed));
        all(&Any::<3>(seed));
        all(&Any::<4>(seed));
        all(&Any::<5>(seed));
        all(&Any::<6>(seed));
        all(&Any::<7>(seed));
        all(&Any::<8>(seed));
        all(&Any::<9>(seed));
    }
}
