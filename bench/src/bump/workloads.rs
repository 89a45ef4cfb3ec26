//! The workloads. Each is generic over the subject.
//!
//! Every allocated address is passed to the sink, which the compiler assumes to write memory. So it merges no two
//! allocations, and loads and stores the state of an arena at each of them, as in a program with other work in between.

use fastrand::Rng;
use std::alloc::Layout;
use std::hint::black_box;

use super::allocator;
use super::rounds::{DRAWN, rounds};
use super::subject::{Allocates, Arena, Line, Put, Slices, Subject, Text, Vector};
use super::tree::{Binary, Call, Expression, weight};
use crate::op::{LOOP, Op, Run, whole_rounds};
use crate::sink;

/// The number of allocations between two resets, as in the article.
const ROUND: usize = 10_000;

/// The number of mixed layouts between two resets, and the number of such parts before the layouts repeat.
const PART: usize = 16 * DRAWN;
const PARTS: usize = 16;

/// A type of the article, or an array of five words.
trait Number: Sized + 'static {
    fn from_u64(n: u64) -> Self;
}

macro_rules! numbers {
    ($($number:ty: $make:expr),*) => {$(
        impl Number for $number {
            #[inline]
            fn from_u64(n: u64) -> Self {
                let make: fn(u64) -> Self = $make;
                make(n)
            }
        }
    )*};
}
numbers! { u8: |n| (n & 0xff) as Self, u64: |n| n, u128: Self::from, [u64; 5]: |n| [n; 5] }

#[inline(never)]
fn put_all<T: Number, S: Put<T>>(subject: &S) {
    for n in 0..ROUND as u64 {
        subject.put(T::from_u64(n));
    }
}

#[inline(never)]
fn count_all() {
    (0..ROUND as u64).for_each(sink::word);
}

fn single<T: Number, S: Put<T>>() -> Run {
    rounds::<S>(ROUND, put_all::<T, S>)
}

#[inline(never)]
fn bytes_of_all<A: Arena>(arena: &A, lengths: &[usize]) {
    for &length in lengths {
        arena.block(Layout::array::<u8>(length).expect("short"));
    }
}

/// Returns random lengths from 1 to 64.
fn lengths() -> Vec<usize> {
    let mut rng = Rng::with_seed(11);
    (0..DRAWN).map(|_| rng.usize(1..=64)).collect()
}

fn bytes<A: Arena>() -> Run {
    let lengths = lengths();
    rounds::<A>(DRAWN, move |arena| bytes_of_all(arena, black_box(&lengths)))
}

#[inline(never)]
fn copy_all<A: Arena>(arena: &A, slices: &[Vec<u8>]) {
    for slice in slices {
        sink::address(arena.copy(slice).as_ptr());
    }
}

fn copies<A: Arena>() -> Run {
    let slices: Vec<Vec<u8>> = lengths().into_iter().map(|length| vec![7; length]).collect();
    rounds::<A>(DRAWN, move |arena| copy_all(arena, black_box(&slices)))
}

#[inline(never)]
fn blocks_of_all<A: Arena>(arena: &A, layouts: &[Layout]) {
    for &layout in layouts {
        arena.block(layout);
    }
}

/// Allocates random sizes from 1 to 128 with alignments from 1 to 16. They are too many for the branch predictor, which
/// learns a repeating sequence of 16,000.
fn mixed<A: Arena>() -> Run {
    let mut rng = Rng::with_seed(12);
    let layout = || Layout::from_size_align(rng.usize(1..=128), 1 << rng.u8(0..=4)).expect("small");
    let layouts: Vec<Layout> = std::iter::repeat_with(layout).take(PARTS * PART).collect();
    let mut part = 0;
    rounds::<A>(PART, move |arena| {
        blocks_of_all(arena, black_box(&layouts[part * PART..][..PART]));
        part = (part + 1) % PARTS;
    })
}

fn walk_nothing<T: Clone + 'static>(item: T) -> Run {
    #[inline(never)]
    fn walk<T>(items: &[T]) {
        items.iter().for_each(sink::pointer);
    }
    let items = vec![item; DRAWN];
    Box::new(move |operations| whole_rounds(operations, DRAWN).for_each(|_| walk(black_box(&items))))
}

#[derive(Clone, Copy)]
enum Token {
    Number(u64),
    Name(&'static str),
    Negate,
    Binary(u8),
    Call(&'static str),
}

/// Returns a random program in postfix order that leaves one value on the stack.
fn program(rng: &mut Rng) -> Vec<Token> {
    const NAMES: [&str; 8] = ["i", "len", "index", "position", "self", "total_size", "min_align", "chunk"];
    let mut tokens = Vec::with_capacity(DRAWN);
    let mut depth = 0_usize;
    while tokens.len() < DRAWN {
        let name = NAMES[rng.usize(..NAMES.len())];
        let left = DRAWN - tokens.len();
        let token = match rng.u8(..10) {
            _ if depth > left => Token::Binary(b'+'), // the remaining tokens must combine the operands
            0..2 if depth < left => Token::Number(rng.u64(..)),
            2..5 if depth < left => Token::Name(name),
            _ if depth == 0 => Token::Number(1),
            5..6 => Token::Negate,
            6..8 if depth >= 2 => Token::Call(name),
            _ if depth >= 2 => Token::Binary(b'*'),
            _ => Token::Negate,
        };
        match token {
            Token::Number(_) | Token::Name(_) => depth += 1,
            Token::Negate => {}
            Token::Binary(_) | Token::Call(_) => depth -= 1,
        }
        tokens.push(token);
    }
    assert_eq!(depth, 1);
    tokens
}

#[inline(never)]
fn parse<'a, A: Arena>(arena: &'a A, tokens: &[Token], stack: &mut Vec<Expression<'a, A>>) {
    for &token in tokens {
        let expression = match token {
            Token::Number(n) => Expression::Number(n),
            Token::Name(name) => Expression::Name(arena.copy(name.as_bytes())),
            Token::Negate => {
                let Some(value) = stack.pop() else { return };
                Expression::Negation(arena.alloc(value))
            }
            Token::Binary(operator) => {
                let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else { return };
                Expression::Binary(arena.alloc(Binary { operator, sides: [left, right] }))
            }
            Token::Call(function) => {
                let (Some(right), Some(left)) = (stack.pop(), stack.pop()) else { return };
                let function = arena.copy(function.as_bytes());
                Expression::Call(arena.alloc(Call { function, arguments: [left, right] }))
            }
        };
        stack.push(expression);
    }
}

/// Builds a syntax tree and reads it once. An operation is a token.
fn ast<A: Arena>() -> Run {
    let tokens = program(&mut Rng::with_seed(13));
    rounds::<A>(DRAWN, move |arena| {
        let mut stack = Vec::with_capacity(DRAWN);
        parse(arena, black_box(&tokens), &mut stack);
        sink::word(stack.iter().map(weight::<A>).sum());
    })
}

struct Tree<'a, A: Arena> {
    number: u64,
    children: Option<[A::Ref<'a, Tree<'a, A>>; 2]>,
}

/// The number of levels of a tree.
const LEVELS: u32 = 10;
const NODES: usize = (1 << LEVELS) - 1;

/// Builds a full binary tree of references returned by `put`, and returns the root.
#[inline]
fn grow<R>(levels: u32, put: &impl Fn(u64, Option<[R; 2]>) -> R) -> R {
    if levels == 1 {
        return put(1, None);
    }
    let left = grow(levels - 1, put);
    let right = grow(levels - 1, put);
    put(u64::from(levels), Some([left, right]))
}

impl<'a, A: Arena> Tree<'a, A> {
    #[inline(never)]
    fn plant(arena: &'a A) -> A::Ref<'a, Self> {
        grow(LEVELS, &|number, children| arena.alloc(Self { number, children }))
    }

    fn sum(&self) -> u64 {
        self.number + self.children.iter().flatten().map(|child| child.sum()).sum::<u64>()
    }
}

/// Builds a tree, sums it and resets the arena. An operation is a node.
fn tree<A: Arena>() -> Run {
    rounds::<A>(NODES, |arena| sink::word(Tree::plant(arena).sum()))
}

/// The number of pushes to one vector.
const PUSHES: usize = 100_000;

#[inline(never)]
fn push_all<V: Vector>(vector: &V) {
    vector.push(black_box(PUSHES as u64));
}

/// Grows a vector in an arena that held one of the same length before its reset.
fn vec_warm<V: Vector>() -> Run {
    rounds::<V>(PUSHES, push_all::<V>)
}

/// Grows a vector in a new arena.
fn vec_fresh<V: Vector>() -> Run {
    Box::new(|operations| {
        for _ in whole_rounds(operations, PUSHES) {
            push_all(black_box(&V::new()));
        }
    })
}

/// The number of pushes to each short vector, and the number of vectors in a round.
const SHORT: usize = 16;
const VECTORS: usize = 600;

#[inline(never)]
fn push_short<V: Vector>(vector: &V) {
    (0..VECTORS).for_each(|_| vector.push(black_box(SHORT as u64)));
}

/// Grows short vectors one after the other. An operation is a push.
fn vec_short<V: Vector>() -> Run {
    rounds::<V>(VECTORS * SHORT, push_short::<V>)
}

/// The number of elements of a collected slice, and the number of slices in a round.
const ELEMENTS: usize = 100;
const SLICES: usize = 100;

#[inline(never)]
fn collect_all<S: Slices>(arena: &S) {
    (0..SLICES).for_each(|_| arena.collect(black_box(ELEMENTS)));
}

/// Collects slices from iterators of known length. An operation is an element.
fn collected<S: Slices>() -> Run {
    rounds::<S>(SLICES * ELEMENTS, collect_all::<S>)
}

#[inline(never)]
fn push_pieces<T: Text>(arena: &T, pieces: &[&str]) {
    pieces.chunks_exact(PIECES).for_each(|pieces| arena.pieces(pieces));
}

/// The number of pieces of a text.
const PIECES: usize = 5;

/// Builds texts of five short pieces. An operation is a text.
fn pieces<T: Text>() -> Run {
    let pieces = ["fn", " name", "(arguments)", " -> ", "Result<()>"].repeat(DRAWN);
    rounds::<T>(DRAWN, move |arena| push_pieces(arena, black_box(&pieces)))
}

#[inline(never)]
fn put_ten<A: Arena>(arena: &A) {
    for n in 0..10_u64 {
        sink::address(std::ptr::from_ref(&*arena.alloc(n)).cast());
    }
}

/// Allocates ten numbers and resets the arena. Both together are one operation.
fn reset<A: Arena>() -> Run {
    rounds::<A>(1, put_ten::<A>)
}

#[inline(never)]
fn format_all<T: Text>(arena: &T, names: &[&str], all_kinds: bool) {
    for (number, name) in (1..).zip(names) {
        arena.format(&Line { name, number, all_kinds });
    }
}

fn text<T: Text>(all_kinds: bool) -> Run {
    let names = ["alpha", "beta", "a longer name", "x"].repeat(DRAWN / 4);
    rounds::<T>(DRAWN, move |arena| format_all(arena, black_box(&names), black_box(all_kinds)))
}

/// Creates an arena, allocates three values, and drops the arena.
#[inline(never)]
fn create<A: Arena>(n: u64) {
    let arena = A::new();
    let first = arena.alloc(n);
    sink::address((&raw const *first).cast());
    let second = arena.alloc([n; 5]);
    sink::address((&raw const *second).cast());
    let third = arena.alloc((n, 1_u8));
    sink::address((&raw const *third).cast());
}

/// The baseline of [`create`]: only the call and the loop around it.
#[inline(never)]
fn create_nothing(n: u64) {
    sink::word(n);
}

fn creation<A: Arena>() -> Run {
    Box::new(|operations| (0..operations as u64).for_each(create::<A>))
}

/// A workload's name and constructor.
type Workload = (&'static str, fn() -> Run);

fn named<S: Subject>(workloads: Vec<Workload>) -> Vec<Op> {
    workloads.into_iter().map(|(workload, prepare)| Op::new(workload, S::NAME, prepare)).collect()
}

/// Returns the operations of all arenas.
pub(super) fn ops<A: Arena>() -> Vec<Op> {
    let mut ops = singles::<A>();
    ops.extend(named::<A>(vec![
        ("bytes", bytes::<A>),
        ("bytes/copy", copies::<A>),
        ("mixed", mixed::<A>),
        ("ast", ast::<A>),
        ("tree", tree::<A>),
        ("creation", creation::<A>),
        ("reset", reset::<A>),
    ]));
    ops
}

/// Returns the operations that allocate values of one type.
pub(super) fn singles<S: Put<u8> + Put<u64> + Put<u128> + Put<[u64; 5]>>() -> Vec<Op> {
    named::<S>(vec![
        ("u8", single::<u8, S>),
        ("u64", single::<u64, S>),
        ("u128", single::<u128, S>),
        ("struct40", single::<[u64; 5], S>),
    ])
}

pub(super) fn vectors<V: Vector>() -> Vec<Op> {
    named::<V>(vec![("vec/warm", vec_warm::<V>), ("vec/fresh", vec_fresh::<V>), ("vec/short", vec_short::<V>)])
}

pub(super) fn texts<T: Text>() -> Vec<Op> {
    named::<T>(vec![("fmt", || text::<T>(false)), ("fmt/debug", || text::<T>(true)), ("pieces", pieces::<T>)])
}

pub(super) fn slices<S: Slices>() -> Vec<Op> {
    named::<S>(vec![("iter", collected::<S>)])
}

/// Returns the operations through the trait `Allocator`.
pub(super) fn allocators<S: Allocates>() -> Vec<Op> {
    named::<S>(vec![
        ("hashbrown", allocator::map::<S>),
        ("json", allocator::documents::<S>),
        ("shrink", allocator::shrink::<S>),
        ("free/older", allocator::free_older::<S>),
    ])
}

/// The operations of arenas for one type.
pub(super) mod typed {
    use std::cell::Cell;
    use std::ptr::NonNull;

    use super::{LEVELS, NODES, Number, Op, Put, Run, Subject, black_box, grow, single, sink};
    use crate::bump::peers::TypedArena;

    struct Tree<'a> {
        number: u64,
        children: Option<[&'a Tree<'a>; 2]>,
    }

    impl Tree<'_> {
        fn sum(&self) -> u64 {
            self.number + self.children.iter().flatten().map(|child| child.sum()).sum::<u64>()
        }
    }

    #[inline(never)]
    fn plant<'a>(arena: &'a typed_arena::Arena<Tree<'a>>) -> &'a Tree<'a> {
        grow(LEVELS, &|number, children| &*arena.alloc(Tree { number, children }))
    }

    fn tree() -> Run {
        Box::new(|operations| {
            for _ in crate::op::whole_rounds(operations, NODES) {
                let arena = typed_arena::Arena::new();
                sink::word(plant(&arena).sum());
            }
        })
    }

    #[derive(Clone, Copy)]
    #[expect(dead_code, reason = "written like an arena's nodes, but only those of another tree are read")]
    struct Node {
        number: u64,
        children: Option<[NonNull<Cell<Self>>; 2]>,
    }

    #[inline(never)]
    fn plant_in_one_cell(cell: &Cell<Node>) {
        grow(LEVELS, &|number, children| {
            cell.set(Node { number, children });
            sink::address(cell.as_ptr().cast());
            NonNull::from(cell)
        });
    }

    /// Returns the work that all trees have in common: the same recursion writes all nodes to one address and sums an
    /// existing tree.
    pub(in crate::bump) fn nodes_alone() -> Op {
        let run = || -> Run {
            Box::new(|operations| {
                let arena = typed_arena::Arena::new();
                let there = plant(&arena);
                let cell = Cell::new(Node { number: 0, children: None });
                for _ in crate::op::whole_rounds(operations, NODES) {
                    plant_in_one_cell(black_box(&cell));
                    sink::word(black_box(there).sum());
                }
            })
        };
        Op::new("tree", "nodes alone", run)
    }

    fn op<T: Number>(workload: &'static str) -> Op
    where
        TypedArena<T>: Put<T>,
    {
        Op::new(workload, <TypedArena<T> as Subject>::NAME, single::<T, TypedArena<T>>)
    }

    pub(in crate::bump) fn ops() -> Vec<Op> {
        let tree = Op::new("tree", <TypedArena<u8> as Subject>::NAME, tree);
        vec![op::<u8>("u8"), op::<u64>("u64"), op::<u128>("u128"), op::<[u64; 5]>("struct40"), tree]
    }
}

/// Returns the loops alone, whose cost is subtracted. If the loop is part of the measured use, nothing is subtracted.
pub(super) fn loops() -> Vec<Op> {
    fn count() -> Run {
        Box::new(|operations| whole_rounds(operations, ROUND).for_each(|_| count_all()))
    }
    fn nothing() -> Run {
        Box::new(|_| ())
    }
    let loops: Vec<Workload> = vec![
        ("u8", count),
        ("u64", count),
        ("u128", count),
        ("struct40", count),
        ("bytes", || walk_nothing(1_usize)),
        ("bytes/copy", || walk_nothing(Vec::<u8>::new())),
        ("mixed", || walk_nothing(Layout::new::<u8>())),
        ("ast", nothing),
        ("tree", nothing),
        ("vec/warm", nothing),
        ("vec/fresh", nothing),
        ("vec/short", nothing),
        ("iter", nothing),
        ("pieces", nothing),
        ("reset", nothing),
        ("fmt", nothing),
        ("fmt/debug", nothing),
        ("hashbrown", nothing),
        ("json", nothing),
        ("shrink", nothing),
        ("free/older", nothing),
        ("creation", || Box::new(|operations| (0..operations as u64).for_each(create_nothing))),
    ];
    loops.into_iter().map(|(workload, prepare)| Op::new(workload, LOOP, prepare)).collect()
}
