//! `#[derive(Weigh)]`.
#![cfg(feature = "derive")]

use dwell::Weigh;
use dwell::weigh::Weight;

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
fn fields_and_recursion() {
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
    assert_eq!(tree.nodes[0].instances, 4);
}
