//! `WhatIf` compared with programs in which the changes were made: generated types, recursive, mutually recursive and
//! generic, each in a module `before` and a module `after`.
//!
//! The crate in `programs` makes them from fixed seeds while this test is compiled.
#![cfg(all(feature = "advice", feature = "derive", feature = "std"))]
#![allow(clippy::cast_possible_truncation, clippy::linkedlist, reason = "random values of any kind")]

mod common;

use common::live;
use dwell::sparse::{SortedMap, Sparse, ThinSlice, ThinStr};
use dwell::weigh::{NoSuchField, Tree, WhatIf, tree};
use dwell::{Sparse as DeriveSparse, Weigh};
use std::collections::{BTreeMap, HashMap, LinkedList};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::rc::Rc;

/// std's map with fixed hasher keys, so that each run makes the same tables.
type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// The most values of named types in a program.
const MOST: u32 = if cfg!(miri) { 40 } else { 400 };

/// A random number generator that also tracks the nesting depth of a value.
struct Gen {
    state: u64,
    depth: u32,
    /// The number of values of named types that may still be made.
    left: u32,
}

impl Gen {
    fn below(&mut self, n: u64) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        (self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16) % n
    }

    fn is_deep(&self) -> bool {
        self.depth > 5 || self.left == 0
    }

    fn nested<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        self.left = self.left.saturating_sub(1);
        let value = make(self);
        self.depth -= 1;
        value
    }

    fn len(&mut self) -> usize {
        let len = self.below(4);
        if self.is_deep() { 0 } else { usize::try_from(len).unwrap() }
    }
}

/// A random value of a std type that contains no other values.
trait Make {
    fn make(g: &mut Gen) -> Self;
}

macro_rules! make {
    ($($ty:ty: |$g:ident| $value:expr;)*) => {$(
        impl Make for $ty {
            fn make($g: &mut Gen) -> Self {
                $value
            }
        }
    )*};
}

make! {
    (): |_g| ();
    u8: |g| g.below(2) as u8;
    u16: |g| g.below(3) as u16;
    u32: |g| g.below(2) as u32;
    u64: |g| g.below(2);
    f64: |g| g.below(2) as f64;
    bool: |g| g.below(2) == 0;
    char: |g| if g.below(2) == 0 { '\0' } else { 'c' };
    [u8; 3]: |g| [g.below(2) as u8; 3];
    [u64; 9]: |g| [g.below(2); 9];
    std::num::NonZero<u32>: |g| std::num::NonZero::new(1 + g.below(9) as u32).unwrap();
    String: |g| {
        let len = match g.below(20) { 0 => 300, n if n < 6 => 0, n => n };
        let mut text = String::with_capacity(usize::try_from(len + g.below(4) / 3 * 5).unwrap());
        text.extend((0..len).map(|_| 'x'));
        text
    };
    Box<str>: |g| String::make(g).into();
}

fn m<T: Make>(g: &mut Gen) -> T {
    T::make(g)
}

fn option<T>(g: &mut Gen, make: impl FnOnce(&mut Gen) -> T) -> Option<T> {
    (g.below(3) == 0 && !g.is_deep()).then(|| make(g))
}

fn vec<T>(g: &mut Gen, mut make: impl FnMut(&mut Gen) -> T) -> Vec<T> {
    let len = g.len();
    let mut list = Vec::with_capacity(len + usize::try_from(g.below(3)).unwrap());
    list.extend((0..len).map(|_| make(g)));
    list
}

fn map<K: std::hash::Hash + Eq + Make, V>(g: &mut Gen, mut make: impl FnMut(&mut Gen) -> V) -> Map<K, V> {
    let len = g.len();
    (0..len).map(|_| (m(g), make(g))).collect()
}

fn sorted<K: Ord + Make, V>(g: &mut Gen, mut make: impl FnMut(&mut Gen) -> V) -> BTreeMap<K, V> {
    let len = if g.depth < 3 { g.len() * 9 } else { g.len() };
    (0..len).map(|n| (n, m::<K>(g), make(g))).map(|(_, key, value)| (key, value)).collect()
}

fn list<T>(g: &mut Gen, mut make: impl FnMut(&mut Gen) -> T) -> LinkedList<T> {
    let len = g.len();
    (0..len).map(|_| make(g)).collect()
}

/// Returns a boxed field: `None` if the value is vacant.
fn boxed<T: Weigh>(value: T) -> Option<Box<T>> {
    (!value.is_vacant()).then(|| Box::new(value))
}

/// A generated program, before and after the changes.
struct Program {
    name: &'static str,
    /// Returns the tree before the changes, and the measured bytes and blocks after them.
    run: fn(u64) -> (Tree, u64, u64),
    changes: &'static [(&'static str, &'static str)],
}

/// Returns a value, and the bytes and blocks that the allocator counted for it.
fn measured<T>(make: impl FnOnce() -> T) -> (T, u64, u64) {
    let before = live();
    let value = make();
    let after = live();
    (
        value,
        size_of::<T>() as u64 + (after.1 - before.1).unsigned_abs() as u64,
        (after.0 - before.0).unsigned_abs() as u64,
    )
}

macro_rules! programs {
    ($($name:ident: $changes:expr;)*) => {
        const PROGRAMS: &[Program] = &[$(Program {
            name: stringify!($name),
            run: |seed| {
                let gen_ = || Gen { state: seed, depth: 0, left: MOST };
                let before = tree(&$name::before::make(&mut gen_()));
                let (_value, bytes, blocks) = measured(|| $name::after::make(&mut gen_()));
                (before, bytes, blocks)
            },
            changes: &$changes,
        }),*];
    };
}

dwell_test_programs::declare!();

fn change(what_if: &mut WhatIf<'_>, kind: &str, path: &str) -> Result<(), NoSuchField> {
    match kind {
        "boxed" => what_if.boxed(path),
        "boxed_always" => what_if.boxed_always(path),
        "exact" => what_if.exact(path),
        "thin" => what_if.thin(path),
        "sorted" => what_if.sorted(path),
        "sparse" => what_if.sparse(path),
        "boxed_variant" => what_if.boxed_variant(path),
        _ => unreachable!("the generator knows no `{kind}`"),
    }
}

#[test]
fn predictions_match_the_measured_weight() {
    let cases = std::env::var("DWELL_TEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let seeds: u64 = if cfg!(miri) { 1 } else { cases.unwrap_or(6) };
    let (mut exact, mut all, mut moved) = (0, 0, 0);
    let mut wrong = Vec::new();
    for program in PROGRAMS.iter().step_by(if cfg!(miri) { 5 } else { 1 }) {
        for seed in 1..=seeds {
            let seed = seed * 0x9E37_79B9;
            let (tree, bytes, blocks) = (program.run)(seed);
            let mut what_if = WhatIf::new(&tree);
            assert_eq!(what_if.total(), tree.weight.total(), "{}", program.name);
            for (kind, path) in program.changes {
                change(&mut what_if, kind, path).unwrap_or_else(|error| panic!("{}: {kind} {error}", program.name));
            }
            all += 1;
            moved += u32::from(bytes != tree.weight.total());
            // No entry was removed, so the lower bounds of small maps are exact.
            if what_if.accuracy() == tree.weight.accuracy() {
                exact += 1;
                if (what_if.total(), what_if.allocations()) != (bytes, blocks) {
                    let said = (what_if.total(), what_if.allocations());
                    wrong.push(format!(
                        "{} {seed}: {said:?} for {:?} {:?}",
                        program.name,
                        (bytes, blocks),
                        program.changes
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {all} are wrong, {exact} exact\n{}", wrong.len(), wrong.join("\n"));
    println!("{exact} of {all} predictions are exact; {moved} changes changed the bytes");
    assert!(moved * 4 >= all * 3, "only {moved} of {all} changes changed the bytes");
    assert!(exact * 10 >= all * 9, "only {exact} of {all} predictions are exact");
}

/// A recursive type that occurs first in a struct: a boxed child has the new size too.
#[test]
fn predictions_for_recursive_types_in_a_struct_are_exact() {
    mod before {
        #[derive(dwell::Weigh)]
        #[allow(dead_code, clippy::large_enum_variant, reason = "never constructed")]
        pub(super) enum Ty {
            Infer(u32),
            Slice(Box<Ty>),
            Q { a: [u64; 9] },
        }
        #[derive(dwell::Weigh)]
        pub(super) struct S {
            pub(super) name: u32,
            pub(super) ty: Ty,
        }
    }
    mod after {
        #[derive(dwell::Weigh)]
        #[allow(dead_code, reason = "never constructed")]
        pub(super) enum Ty {
            Infer(u32),
            Slice(Box<Ty>),
            Q(Box<[u64; 9]>),
        }
        #[derive(dwell::Weigh)]
        pub(super) struct S {
            pub(super) name: u32,
            pub(super) ty: Ty,
        }
    }
    let value = vec![before::S { name: 1, ty: before::Ty::Slice(Box::new(before::Ty::Infer(2))) }];
    let tree = tree(&value);
    let mut what_if = WhatIf::new(&tree);
    what_if.boxed_variant("Ty::Q").unwrap();
    let changed = vec![after::S { name: 1, ty: after::Ty::Slice(Box::new(after::Ty::Infer(2))) }];
    let measured = dwell::weigh(&changed);
    assert!(what_if.is_exact());
    assert_eq!((what_if.total(), what_if.allocations()), (measured.total(), measured.allocations));
    assert_eq!((measured.total(), value[0].name), (64, 1));
}

/// Two fields of one type through which a struct contains itself: each has its own node and its own prediction.
#[test]
fn predictions_for_recursion_through_tuples_are_exact() {
    macro_rules! program {
        ($version:ident, $item:ty, $wrap:expr) => {
            mod $version {
                use crate::Gen;

                #[derive(Default, dwell::Weigh)]
                pub(super) struct Item {
                    one: Vec<(u8, $item)>,
                    other: Vec<(u8, Item)>,
                    nested: Vec<Vec<(u8, $item)>>,
                }

                impl Item {
                    pub(super) fn make(random: &mut Gen) -> Self {
                        let mut item = Self::default();
                        for _ in 0..if random.is_deep() { 0 } else { random.len() } {
                            let inner = random.nested(Self::make);
                            match random.below(3) {
                                0 => item.one.push((0, $wrap(inner))),
                                1 => item.other.push((0, inner)),
                                _ => item.nested.push(vec![(0, $wrap(inner))]),
                            }
                        }
                        item
                    }
                }
            }
        };
    }
    program!(before, Item, std::convert::identity);
    program!(after, Box<Item>, Box::new);
    for state in 1..if cfg!(miri) { 3 } else { 50 } {
        let random = || Gen { state, depth: 0, left: 200 };
        let tree = tree(&before::Item::make(&mut random()));
        let mut what_if = WhatIf::new(&tree);
        for path in ["Item.one [].1", "Item.nested [] [].1"] {
            what_if.boxed_always(path).unwrap();
        }
        let weight = dwell::weigh(&after::Item::make(&mut random()));
        assert_eq!((what_if.total(), what_if.allocations()), (weight.total(), weight.allocations));
        assert!(what_if.is_exact());
    }
}
