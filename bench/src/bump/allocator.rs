//! Workloads that use an arena through the trait `Allocator`: maps, vectors of allocator-api2, and single blocks.

use allocator_api2::alloc::Allocator;
use allocator_api2::vec::Vec as VecIn;
use fastrand::Rng;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::alloc::Layout;
use std::hint::black_box;

use super::rounds::{DRAWN, rounds};
use super::subject::Allocates;
use crate::op::Run;
use crate::sink;

#[inline(never)]
fn insert_all<S: Allocates>(arena: &S, keys: &[u64]) {
    let mut map = HashMap::with_hasher_in(FxBuildHasher, arena.allocator());
    for &key in keys {
        map.insert(key, key);
    }
    sink::pointer(&map);
}

/// Inserts a thousand entries into an empty map. An operation is an insertion.
pub(super) fn map<S: Allocates>() -> Run {
    let mut rng = Rng::with_seed(14);
    let keys: Vec<u64> = (0..DRAWN).map(|_| rng.u64(..)).collect();
    rounds::<S>(DRAWN, move |arena| insert_all(arena, black_box(&keys)))
}

/// The number of blocks in a round.
const BLOCKS: usize = 200;

#[inline(never)]
fn shrink_all<S: Allocates>(arena: &S, old: Layout, new: Layout) {
    let arena = arena.allocator();
    for _ in 0..BLOCKS {
        let block = arena.allocate(old).expect("there is memory").cast();
        sink::address(block.as_ptr());
        // SAFETY: `arena` has just allocated the block with the layout `old`, and the new one is no larger.
        let block = unsafe { arena.shrink(block, old, new) }.expect("it shrinks in place").cast::<u8>();
        sink::address(block.as_ptr());
    }
}

/// Allocates a block and shrinks it. Its layouts are not known to the compiler.
pub(super) fn shrink<S: Allocates>() -> Run {
    rounds::<S>(BLOCKS, |arena| {
        shrink_all(arena, black_box(Layout::new::<[u64; 4]>()), black_box(Layout::new::<[u64; 2]>()));
    })
}

#[inline(never)]
fn free_all<S: Allocates>(arena: &S, layout: Layout) {
    let arena = arena.allocator();
    for _ in 0..BLOCKS {
        let [older, last] = [(); 2].map(|()| arena.allocate(layout).expect("there is memory").cast::<u8>());
        sink::address(last.as_ptr());
        // SAFETY: `arena` has just allocated the block with this layout, and it is not used again.
        unsafe { arena.deallocate(older, layout) };
    }
}

/// Allocates two blocks and frees the first one. The layout is not known to the compiler.
pub(super) fn free_older<S: Allocates>() -> Run {
    rounds::<S>(BLOCKS, |arena| free_all(arena, black_box(Layout::new::<[u64; 4]>())))
}

/// A JSON value whose lists and texts are vectors in an arena.
enum Json<A: Allocator + Copy> {
    Number(u64),
    Text(VecIn<u8, A>),
    List(VecIn<Self, A>),
    Object(VecIn<(VecIn<u8, A>, Self), A>),
}

impl<A: Allocator + Copy> Json<A> {
    /// Parses a value without spaces, signs and escapes. Returns it and the rest of the text.
    fn parse(text: &[u8], arena: A) -> (Self, &[u8]) {
        let (&first, mut rest) = text.split_first().expect("a value");
        match first {
            b'[' => {
                let mut list = VecIn::new_in(arena);
                while rest[0] != b']' {
                    let (value, after) = Self::parse(rest, arena);
                    list.push(value);
                    rest = after.strip_prefix(b",").unwrap_or(after);
                }
                (Self::List(list), &rest[1..])
            }
            b'{' => {
                let mut object = VecIn::new_in(arena);
                while rest[0] != b'}' {
                    let (Self::Text(key), after) = Self::parse(rest, arena) else { panic!("a key") };
                    let (value, after) = Self::parse(&after[1..], arena);
                    object.push((key, value));
                    rest = after.strip_prefix(b",").unwrap_or(after);
                }
                (Self::Object(object), &rest[1..])
            }
            b'"' => {
                let mut copy = VecIn::new_in(arena);
                while rest[0] != b'"' {
                    copy.push(rest[0]);
                    rest = &rest[1..];
                }
                (Self::Text(copy), &rest[1..])
            }
            mut digit => {
                let mut number = 0;
                loop {
                    number = number * 10 + u64::from(digit - b'0');
                    match rest.split_first() {
                        Some((&next, after)) if next.is_ascii_digit() => (digit, rest) = (next, after),
                        _ => return (Self::Number(number), rest),
                    }
                }
            }
        }
    }

    fn sum(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Text(text) => text.len() as u64,
            Self::List(list) => list.iter().map(Self::sum).sum(),
            Self::Object(object) => object.iter().map(|(key, value)| key.len() as u64 + value.sum()).sum(),
        }
    }
}

/// Returns a random value as text.
fn json(rng: &mut Rng, depth: u32) -> String {
    let name = |rng: &mut Rng| format!("\"{}\"", ["id", "name", "position", "a longer name"][rng.usize(..4)]);
    let parts = |rng: &mut Rng, part: &dyn Fn(&mut Rng) -> String| {
        (0..rng.usize(1..8)).map(|_| part(rng)).collect::<Vec<_>>().join(",")
    };
    match rng.u8(..if depth == 0 { 2 } else { 6 }) {
        0 => rng.u32(..).to_string(),
        1 => name(rng),
        2 | 3 => format!("[{}]", parts(rng, &|rng| json(rng, depth - 1))),
        _ => format!("{{{}}}", parts(rng, &|rng| format!("{}:{}", name(rng), json(rng, depth - 1)))),
    }
}

#[inline(never)]
fn parse_and_sum<S: Allocates>(arena: &S, text: &str) {
    let (value, rest) = Json::parse(text.as_bytes(), arena.allocator());
    assert!(rest.is_empty());
    sink::word(value.sum());
}

/// Parses JSON into vectors in the arena, reads the tree once and drops it. An operation is a byte of text.
pub(super) fn documents<S: Allocates>() -> Run {
    let mut rng = Rng::with_seed(16);
    let documents: Vec<String> = (0..20).map(|_| json(&mut rng, 4)).collect();
    let text = format!("[{}]", documents.join(","));
    rounds::<S>(text.len(), move |arena| parse_and_sum(arena, black_box(&text)))
}
