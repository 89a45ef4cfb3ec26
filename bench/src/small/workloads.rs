//! The workloads. Each is generic over the subject.
//!
//! Values come from `black_box`ed data, or boxes are passed to the sink, so that the compiler does not know what a box
//! contains. Each result is passed to the sink, so that nothing is folded or vectorised.

use fastrand::Rng;
use std::collections::VecDeque;
use std::hint::black_box;

use super::subjects::{Node, Object, Subject, World};
use crate::op::{LOOP, Op, Run, whole_rounds};
use crate::sink;

struct Empty;
struct Words<const N: usize>([u64; N]);

impl Object for Empty {
    fn call(&self) -> u64 {
        1
    }
}

impl<const N: usize> Object for Words<N> {
    fn call(&self) -> u64 {
        self.0[0]
    }
}

/// The types of the boxed values.
#[derive(Clone, Copy)]
enum Sizes {
    /// A zero-size type.
    Empty,
    /// One word.
    Small,
    /// Eight words.
    Large,
    /// All three, in random order.
    Varied,
    /// One word or eight, in random order.
    Two,
}

fn object<S: Subject>(sizes: Sizes, rng: &mut Rng) -> S::Object {
    let n = rng.u64(..);
    match sizes {
        Sizes::Empty => S::object(Empty),
        Sizes::Small => S::object(Words([n])),
        Sizes::Large => S::object(Words([n; 8])),
        Sizes::Varied => object::<S>([Sizes::Empty, Sizes::Small, Sizes::Large][rng.usize(..3)], rng),
        Sizes::Two => object::<S>([Sizes::Small, Sizes::Large][rng.usize(..2)], rng),
    }
}

#[inline(never)]
fn walk<B: std::ops::Deref<Target = dyn Object>>(boxes: &[B]) {
    for object in boxes {
        sink::word(object.call());
    }
}

#[inline(never)]
fn jump<B: std::ops::Deref<Target = dyn Object>>(boxes: &[B], order: &[u32]) {
    for &at in order {
        sink::word(boxes[at as usize].call());
    }
}

/// A number of boxes that fit into the first-level cache.
const FEW: usize = 500;
/// A number of boxes that fit into a second-level cache.
const MANY: u32 = 16 * 1024;
/// The number of rounds with different orders. A branch predictor would learn an order that repeats, and in programs
/// none does.
const ORDERS: usize = 25;

fn orders(count: u32, rng: &mut Rng) -> Vec<u32> {
    (0..count as usize * ORDERS).map(|_| rng.u32(..count)).collect()
}

fn access<S: Subject>(sizes: Sizes, count: usize) -> Run {
    let mut rng = Rng::with_seed(2);
    let boxes: Vec<S::Object> = (0..count).map(|_| object::<S>(sizes, &mut rng)).collect();
    Box::new(move |operations| whole_rounds(operations, count).for_each(|_| walk(black_box(&boxes))))
}

fn random<S: Subject>(sizes: Sizes) -> Run {
    let mut rng = Rng::with_seed(3);
    let boxes: Vec<S::Object> = (0..MANY).map(|_| object::<S>(sizes, &mut rng)).collect();
    let orders = orders(MANY, &mut rng);
    Box::new(move |operations| {
        let orders = orders.chunks(MANY as usize).cycle();
        orders
            .take(whole_rounds(operations, MANY as usize).len())
            .for_each(|order| jump(black_box(&boxes), black_box(order)));
    })
}

/// Returns a single order, which all rounds repeat.
fn order(count: u32, rng: &mut Rng) -> Vec<u32> {
    (0..count).map(|_| rng.u32(..count)).collect()
}

fn slice<S: Subject>(len: usize, n: u64) -> S::Slice {
    match len {
        0 => S::slice([]),
        1 => S::slice([n]),
        2 => S::slice([n; 2]),
        3 => S::slice([n; 3]),
        4 => S::slice([n; 4]),
        5 => S::slice([n; 5]),
        _ => S::slice([n; 6]),
    }
}

#[inline(never)]
fn sum_all<B: std::ops::Deref<Target = [u64]>>(slices: &[B], order: &[u32]) {
    for &at in order {
        let mut sum = 0_u64;
        for &value in &*slices[at as usize] {
            sum = sum.wrapping_add(value);
            sink::word(sum); // keeps the compiler from replacing the loop
        }
    }
}

fn slices<S: Subject>(count: u32, longest: usize, orders: fn(u32, &mut Rng) -> Vec<u32>) -> Run {
    let mut rng = Rng::with_seed(4);
    let slices: Vec<S::Slice> = (0..count).map(|_| slice::<S>(rng.usize(1..=longest), rng.u64(..))).collect();
    let orders = orders(count, &mut rng);
    Box::new(move |operations| {
        let orders = orders.chunks(count as usize).cycle();
        orders
            .take(whole_rounds(operations, count as usize).len())
            .for_each(|order| sum_all(black_box(&slices), black_box(order)));
    })
}

// The loop is inside the `inline(never)` function, since a call for each box takes longer than creating an inline one.
// The box is passed to the sink before the drop. Otherwise the compiler knows that the value is inline.

#[inline(never)]
fn make_empty<S: Subject>(operations: usize) {
    for _ in 0..operations {
        let mut object = S::object(Empty);
        sink::change(&mut object);
    }
}

#[inline(never)]
fn make<S: Subject, const N: usize>(operations: usize) {
    for n in 0..operations {
        let mut object = S::object(Words([n as u64; N]));
        sink::change(&mut object);
    }
}

/// Returns a box of eight words from one function and drops it in another, which does not know the type of the value.
fn between_functions<S: Subject>(operations: usize) {
    #[inline(never)]
    fn make<S: Subject>(n: u64) -> S::Object {
        S::object(Words([n; 8]))
    }
    #[inline(never)]
    fn take<S: Subject>(object: S::Object) {
        sink::pointer(&*object);
        drop(object);
    }
    for n in 0..operations as u64 {
        take::<S>(black_box(make::<S> as fn(u64) -> S::Object)(n));
    }
}

/// Sorts boxes of one word and of eight by a key, in another order each round. An operation is a box.
fn sort<S: Subject>() -> Run {
    let mut rng = Rng::with_seed(6);
    let mut boxes: Vec<S::Object> = (0..FEW).map(|_| object::<S>(Sizes::Two, &mut rng)).collect();
    let mut key = 0_u64;
    Box::new(move |operations| {
        for _ in whole_rounds(operations, FEW) {
            // Multiplication by an odd factor permutes the keys, so that each round has another order.
            key = key.wrapping_add(0x9E37_79B9_7F4A_7C16) | 1;
            boxes.sort_unstable_by_key(|object| object.call().wrapping_mul(key));
            sink::pointer(&*boxes[0]);
        }
    })
}

#[inline(never)]
fn make_nothing(operations: usize) {
    for n in 0..operations {
        sink::word(n as u64);
    }
}

/// The number of boxes in a round of `bulk/push+drain`. It is less than the number of operations in a measurement.
const BULK: u32 = 100_000;

fn bulk<S: Subject>() -> Run {
    let mut boxes = Vec::with_capacity(BULK as usize);
    Box::new(move |operations| {
        for _ in whole_rounds(operations, BULK as usize) {
            push::<S>(&mut boxes, BULK.into());
            drain::<S>(&mut boxes);
        }
    })
}

/// Pushes boxes of a word.
#[inline(never)]
pub(super) fn push<S: Subject>(boxes: &mut Vec<S::Object>, count: u64) {
    for n in 0..count {
        S::push(boxes, Words([n]));
    }
}

/// Pushes boxes of a word by `Vec::push`, where [`push`] uses what the documentation recommends.
#[inline(never)]
pub(super) fn push_plainly<S: Subject>(boxes: &mut Vec<S::Object>, count: u64) {
    for n in 0..count {
        boxes.push(S::object(Words([n])));
    }
}

/// Adds boxes of a word by `Vec::extend`.
#[inline(never)]
pub(super) fn extend<S: Subject>(boxes: &mut Vec<S::Object>, count: u64) {
    boxes.extend((0..count).map(|n| S::object(Words([n]))));
}

/// Drains the boxes.
#[inline(never)]
pub(super) fn drain<S: Subject>(boxes: &mut Vec<S::Object>) {
    for object in boxes.drain(..) {
        sink::pointer(&object);
    }
}

/// The number of pending events.
const QUEUE: usize = 256;

/// Runs the oldest event and adds a new one in each operation. Seven of ten events capture one word, the others five.
fn events<S: Subject>() -> Run {
    fn event<S: Subject>(rng: &mut Rng) -> S::Event {
        let n = rng.u64(..);
        match rng.u8(..10) {
            0..4 => S::event(move |world| *world = world.wrapping_add(n)),
            4..7 => S::event(move |world| *world ^= n.rotate_left((n % 64) as u32)),
            _ => {
                let more = [n; 5];
                S::event(move |world| *world = more.iter().fold(*world, |world, n| world.wrapping_mul(31) ^ n))
            }
        }
    }
    let mut rng = Rng::with_seed(5);
    let mut queue: VecDeque<S::Event> = (0..QUEUE).map(|_| event::<S>(&mut rng)).collect();
    let mut world: World = 1;
    Box::new(move |operations| {
        for _ in 0..operations {
            if let Some(event) = queue.pop_front() {
                S::happen(event, &mut world);
            }
            queue.push_back(event::<S>(&mut rng));
        }
        sink::word(world);
    })
}

struct Number(u64);
struct Add<S: Subject>(S::Node, S::Node);
struct Negate<S: Subject>(S::Node);

impl Node for Number {
    fn value(&self) -> u64 {
        self.0
    }
}

impl<S: Subject> Node for Add<S> {
    fn value(&self) -> u64 {
        self.0.value().wrapping_add(self.1.value())
    }
}

impl<S: Subject> Node for Negate<S> {
    fn value(&self) -> u64 {
        self.0.value().wrapping_neg()
    }
}

fn tree<S: Subject>(nodes: usize, rng: &mut Rng) -> S::Node {
    match nodes {
        0 | 1 => S::node(Number(rng.u64(..))),
        2 => S::node(Negate::<S>(tree::<S>(1, rng))),
        _ => {
            let left = rng.usize(1..nodes - 1);
            let (left, right) = (tree::<S>(left, rng), tree::<S>(nodes - 1 - left, rng));
            S::node(Add::<S>(left, right))
        }
    }
}

/// The number of nodes of a syntax tree.
const TREE: usize = 1000;

/// Builds a tree, evaluates it twice and drops it. An operation is a node.
fn ast<S: Subject>() -> Run {
    let mut rng = Rng::with_seed(6);
    Box::new(move |operations| {
        for _ in whole_rounds(operations, TREE) {
            let root = tree::<S>(TREE, &mut rng);
            sink::word(root.value());
            sink::word(root.value());
        }
    })
}

type Workload = (&'static str, fn() -> Run, fn() -> Run);

/// Returns the workloads of a subject: the name, the workload, and its loop alone. The latter is empty if the loop is
/// part of the measured use.
fn workloads<S: Subject>() -> Vec<Workload> {
    fn walk_nothing() -> Run {
        let values: Vec<u64> = (0..FEW as u64).collect();
        Box::new(move |operations| {
            for _ in whole_rounds(operations, FEW) {
                black_box(&values).iter().for_each(sink::pointer);
            }
        })
    }
    fn jump_nothing() -> Run {
        let values: Vec<u32> = (0..MANY).collect();
        Box::new(move |operations| {
            for _ in whole_rounds(operations, MANY as usize) {
                black_box(&values).iter().for_each(sink::pointer);
            }
        })
    }
    let make_nothing = || Box::new(make_nothing) as Run;
    let nothing: fn() -> Run = || Box::new(|_| ());
    vec![
        ("create+drop/empty", || Box::new(make_empty::<S>), make_nothing),
        ("create+drop/small", || Box::new(make::<S, 1>), make_nothing),
        ("create+drop/large", || Box::new(make::<S, 8>), make_nothing),
        ("access/empty", || access::<S>(Sizes::Empty, FEW), walk_nothing),
        ("access/small", || access::<S>(Sizes::Small, FEW), walk_nothing),
        ("access/large", || access::<S>(Sizes::Large, FEW), walk_nothing),
        // A branch predictor learns the order of a walk over 500 boxes, part of that over 4,000, and none of the others.
        ("access/varied", || access::<S>(Sizes::Varied, FEW), walk_nothing),
        ("access/varied/4000", || access::<S>(Sizes::Varied, 8 * FEW), walk_nothing),
        ("access/varied/40000", || access::<S>(Sizes::Varied, 80 * FEW), walk_nothing),
        ("access/random/2", || random::<S>(Sizes::Two), jump_nothing),
        ("access/random/3", || random::<S>(Sizes::Varied), jump_nothing),
        ("slices/random", || slices::<S>(MANY, 6, orders), jump_nothing),
        ("slices/hot", || slices::<S>(64, 2, order), jump_nothing),
        ("between functions/large", || Box::new(between_functions::<S>), make_nothing),
        ("sort/500", sort::<S>, nothing),
        ("bulk/push+drain", bulk::<S>, nothing),
        ("events", events::<S>, nothing),
        ("ast", ast::<S>, nothing),
    ]
}

pub(super) fn ops<S: Subject>() -> Vec<Op> {
    workloads::<S>().into_iter().map(|(workload, prepare, _)| Op::new(workload, S::NAME, prepare)).collect()
}

pub(super) fn loops<S: Subject>() -> Vec<Op> {
    workloads::<S>().into_iter().map(|(workload, _, prepare)| Op::new(workload, LOOP, prepare)).collect()
}
