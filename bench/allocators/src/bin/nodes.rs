//! A tree of small boxes that is made and dropped again and again on one thread.
use std::hint::black_box;

struct Node {
    _value: u64,
    children: Vec<Box<Node>>,
}

fn tree(depth: u32) -> Box<Node> {
    let children = if depth == 0 { Vec::new() } else { (0..4).map(|_| tree(depth - 1)).collect() };
    Box::new(Node { _value: 7, children })
}

fn main() {
    for _ in 0..120 {
        black_box(tree(7).children.len());
    }
}
