//! Attempts to break a walk: depth, cycles, locks, sizes, panics, threads.
#![cfg(all(feature = "std", feature = "derive"))]

mod common;

use common::{left_by, panics};
use dwell::weigh::{Model, Tree};
use dwell::{Weigh, assert_weighs, weigh};
use std::any::Any;
use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::{Rc, Weak};
use std::sync::{Arc, Barrier, LazyLock, Mutex, OnceLock, RwLock};
use std::thread;

/// The length of a list whose recursive walk would overflow the stack of [`on_a_small_stack`].
const LONG: usize = if cfg!(miri) { 100 } else { 20_000 };

/// Runs `f` on a stack of 1 MiB: enough for the 256 guards that the walk holds at a time, also with the larger frames
/// of `ThreadSanitizer`.
fn on_a_small_stack(f: impl FnOnce() + Send) {
    thread::scope(|scope| {
        let small = thread::Builder::new().stack_size(1 << 20);
        small.spawn_scoped(scope, f).unwrap().join().unwrap();
    });
}

/// Asserts that both walks agree, and returns the total bytes and blocks.
fn both<T: Weigh + ?Sized>(value: &T) -> (u64, u64) {
    let weight = weigh(value);
    let tree = weigh::tree(value);
    assert_eq!(tree.weight, weight);
    (weight.heap, weight.allocations)
}

fn of<T>(n: usize) -> (u64, u64) {
    ((n * size_of::<T>()) as u64, n as u64)
}

#[derive(Weigh)]
struct Boxed {
    next: Option<Box<Boxed>>,
}

impl Drop for Boxed {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

#[test]
fn long_list_of_boxes_needs_no_recursion() {
    let mut list = Boxed { next: None };
    for _ in 0..LONG {
        list = Boxed { next: Some(Box::new(list)) };
    }
    on_a_small_stack(|| assert_eq!(both(&list), of::<Boxed>(LONG)));
}

/// A depth at which recursion would overflow the stack; low under Miri, which has no such limit.
const DEEP: usize = if cfg!(miri) { 100 } else { 20_000 };

#[derive(Weigh)]
struct Deep {
    children: Vec<Deep>,
    name: String,
}

#[test]
fn deep_tree_needs_no_recursion() {
    let mut tree = Deep { children: Vec::new(), name: String::new() };
    for _ in 0..DEEP {
        tree = Deep { children: vec![tree, Deep { children: Vec::new(), name: "x".into() }], name: String::new() };
    }
    assert_eq!(both(&tree), (DEEP as u64 * (2 * size_of::<Deep>() as u64 + 1), 2 * DEEP as u64));
    // Dropped without recursion.
    let mut todo = vec![tree];
    while let Some(mut tree) = todo.pop() {
        todo.append(&mut tree.children);
    }
}

#[derive(Weigh)]
struct Linked {
    next: RefCell<Option<Rc<Linked>>>,
    back: RefCell<Weak<Linked>>,
}

impl Linked {
    fn new(next: Option<Rc<Self>>) -> Rc<Self> {
        let node = Rc::new(Self { next: RefCell::new(next), back: RefCell::default() });
        if let Some(next) = &*node.next.borrow() {
            *next.back.borrow_mut() = Rc::downgrade(&node);
        }
        node
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node).ok().and_then(|node| node.next.take());
        }
    }
}

/// The layout of the block of an `Rc` or `Arc`.
type Counted<T> = (usize, usize, T);

#[test]
fn long_list_behind_guards_needs_no_recursion() {
    on_a_small_stack(|| {
        let mut list = Linked::new(None);
        for _ in 1..LONG {
            list = Linked::new(Some(list));
        }
        assert_eq!(both(&list), of::<Counted<Linked>>(LONG));
    });
}

#[derive(Weigh)]
struct Locked {
    next: Mutex<Option<Arc<Locked>>>,
}

impl Drop for Locked {
    fn drop(&mut self) {
        let mut next = self.next.get_mut().unwrap().take();
        while let Some(node) = next {
            next = Arc::try_unwrap(node).ok().and_then(|node| node.next.lock().unwrap().take());
        }
    }
}

#[test]
fn long_list_behind_locks_needs_no_recursion() {
    on_a_small_stack(|| {
        let mut list = Arc::new(Locked { next: Mutex::new(None) });
        for _ in 1..LONG {
            list = Arc::new(Locked { next: Mutex::new(Some(list)) });
        }
        assert_eq!(both(&list), of::<Counted<Locked>>(LONG));
    });
}

#[derive(Weigh)]
struct Guarded {
    next: RefCell<Option<Box<Guarded>>>,
}

#[test]
fn too_many_nested_guards_are_opaque() {
    let chain = |n: usize| {
        let mut list = Guarded { next: RefCell::new(None) };
        for _ in 0..n {
            list = Guarded { next: RefCell::new(Some(Box::new(list))) };
        }
        list
    };
    let short = chain(200);
    assert_eq!(both(&short), of::<Guarded>(200));
    assert_eq!(weigh(&short).opaque, 0);
    let long = chain(2000);
    let weight = weigh(&long);
    assert_eq!(weight.opaque, 1);
    assert!(weight.heap < 2000 * size_of::<Guarded>() as u64);
}

#[derive(Weigh)]
struct Lent<'a> {
    #[weigh(shared)]
    next: Next<'a>,
}

#[derive(Clone, Copy)]
struct Next<'a>(&'a [Lent<'a>]);

impl<'a> std::ops::Deref for Next<'a> {
    type Target = [Lent<'a>];
    fn deref(&self) -> &Self::Target {
        self.0
    }
}

#[test]
fn long_list_of_references_needs_no_recursion() {
    let mut last: &[Lent<'_>] = &[];
    for _ in 0..DEEP {
        last = Box::leak(Box::new([Lent { next: Next(last) }]));
    }
    common::forget(last, last.as_ptr().addr());
    let first = Lent { next: Next(last) };
    assert_eq!(both(&first), of::<Lent<'_>>(DEEP));
    // Two references to the same slice count once.
    assert_eq!(both(&[Lent { next: Next(last) }, Lent { next: Next(last) }]), of::<Lent<'_>>(DEEP));
}

#[derive(Weigh)]
struct Graph {
    edges: RefCell<Vec<Rc<Graph>>>,
    label: String,
}

#[test]
fn walk_of_a_cycle_terminates() {
    const NODES: usize = if cfg!(miri) { 50 } else { 1000 };
    let node = |label: &str| Rc::new(Graph { edges: RefCell::default(), label: label.to_owned() });
    let nodes: Vec<_> = (0..NODES).map(|n| node(&"n".repeat(n % 7))).collect();
    for (index, from) in nodes.iter().enumerate() {
        let edges = (1..=3).map(|n| Rc::clone(&nodes[(index * n + n) % nodes.len()])).collect();
        *from.edges.borrow_mut() = edges;
    }
    let labels: usize = nodes.iter().map(|node| node.label.len()).sum();
    let each = size_of::<Counted<Graph>>() + 3 * size_of::<Rc<Graph>>();
    let (bytes, _) = both(&nodes);
    assert_eq!(bytes, (NODES * each + labels + nodes.capacity() * size_of::<Rc<Graph>>()) as u64);
    // A walk of a block that refers to itself counts it once.
    let around = Rc::new(RefCell::new(None::<Rc<dyn Any>>));
    *around.borrow_mut() = Some(around.clone());
    assert_eq!(weigh(&around).allocations, 1);
    around.take();
    for node in &nodes {
        node.edges.borrow_mut().clear();
    }
}

#[test]
fn shared_blocks_count_once_per_walk() {
    let text: Rc<str> = "shared".into();
    let many = vec![Rc::clone(&text); 100];
    let block = 2 * size_of::<usize>() as u64 + 8;
    assert_eq!(both(&many), (100 * size_of::<Rc<str>>() as u64 + block, 2));
    assert_eq!(both(&text).0, block);
    let nested = Rc::new(RefCell::new(vec![Rc::new(String::from("deep"))]));
    let inner = Rc::clone(&nested.borrow()[0]);
    assert_eq!(both(&(nested.clone(), inner.clone())), both(&(inner, nested)));
}

#[test]
fn weak_pointers_own_only_dead_blocks() {
    let strong = Rc::new([0_u64; 4]);
    let weak = Rc::downgrade(&strong);
    assert_eq!(both(&weak), (0, 0));
    assert_eq!(both(&(weak.clone(), strong.clone())), (48, 1));
    drop(strong);
    assert_eq!(both(&[weak.clone(), weak]), (48, 1));
    assert_eq!(both(&Weak::<u64>::new()), (0, 0));
    assert_eq!(both(&std::sync::Weak::<String>::new()), (0, 0));
}

#[test]
fn borrowed_and_locked_values_are_opaque_without_blocking() {
    let cell = RefCell::new(String::from("text"));
    let guard = cell.borrow_mut();
    assert_eq!((weigh(&cell).heap, weigh(&cell).opaque), (0, 1));
    drop(guard);
    let reading = cell.borrow();
    assert_eq!((weigh(&cell).heap, weigh(&cell).opaque), (4, 0));
    drop(reading);

    let lock = Mutex::new(String::from("text"));
    let guard = lock.lock().unwrap();
    assert_eq!((weigh(&lock).heap, weigh(&lock).opaque), (0, 1));
    drop(guard);
    let lock = RwLock::new(String::from("text"));
    let guard = lock.write().unwrap();
    assert_eq!((weigh(&lock).heap, weigh(&lock).opaque), (0, 1));
    drop(guard);
    assert_eq!((weigh(&lock).heap, weigh(&lock).opaque), (4, 0));
    // A locked value of a plain type owns nothing, so it is not opaque.
    let plain = Mutex::new(7);
    let _guard = plain.lock().unwrap();
    assert_eq!(weigh(&plain).opaque, 0);
}

#[test]
fn poisoned_locks_are_weighed() {
    let (mutex, rw) = (Mutex::new(String::from("text")), RwLock::new(vec![1_u8, 2]));
    assert!(panics(|| {
        let (_a, _b) = (mutex.lock().unwrap(), rw.write().unwrap());
        panic!("poison");
    }));
    assert!(mutex.is_poisoned() && rw.is_poisoned());
    assert_eq!(both(&mutex), (4, 1));
    assert_eq!(both(&rw), (2, 1));
}

#[test]
fn cells_and_lazy_values_are_opaque() {
    assert_eq!(weigh(&Cell::new(3)).opaque, 0);
    assert_eq!(weigh(&Cell::new(String::from("text"))).opaque, 1);
    assert_eq!(weigh(&LazyCell::new(|| String::from("text"))).opaque, 1);
    assert_eq!(weigh(&LazyLock::new(|| String::from("text"))).opaque, 1);
    assert_eq!((weigh(&OnceCell::<String>::new()).opaque, weigh(&OnceLock::<String>::new()).opaque), (0, 0));
}

#[test]
fn zero_sized_values_own_nothing() {
    assert_eq!(both(&vec![(); 1_000_000_007]), (0, 0));
    let many: VecDeque<()> = std::iter::repeat_n((), 1000).collect();
    assert_eq!(both(&many), (0, 0));
    assert_eq!(both(&vec![[0_u64; 0]; 5]), (0, 0));
    // The number of slots overflows and saturates.
    let most = vec![(); usize::MAX];
    let two = [most.clone(), most];
    assert_eq!(both(&two), (0, 0));
    let tree = weigh::tree(&two);
    assert!(tree.nodes.iter().any(|node| node.slots == u64::MAX));
}

#[test]
fn untouched_capacity_is_counted() {
    // The capacity is limited, since the test allocator overwrites freed memory.
    let bytes = if cfg!(miri) { 1 << 16 } else { 1 << 24 };
    let large: Vec<u8> = Vec::with_capacity(bytes);
    assert_eq!(both(&large), (bytes as u64, 1));
    let entries = bytes / 16;
    let map: HashMap<u64, u64> = HashMap::with_capacity(entries);
    // hashbrown's groups have 16 buckets with SSE2, which Miri does not have.
    let group = if cfg!(miri) { 8 } else { 16 };
    assert_eq!(both(&map), (2 * entries as u64 * 17 + group, 1));
}

/// A key whose hash is always the same.
#[derive(Clone, PartialEq, Eq, Weigh)]
struct Same(u32);

impl Hash for Same {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

thread_local!(static PANICKING: Cell<bool> = const { Cell::new(false) });

#[derive(Clone, Default)]
struct PanickingState;

impl BuildHasher for PanickingState {
    type Hasher = std::hash::DefaultHasher;
    fn build_hasher(&self) -> Self::Hasher {
        assert!(!PANICKING.get(), "intentional panic in hash");
        Self::Hasher::default()
    }
}

#[test]
fn maps_are_walked_without_user_code() {
    let mut map: HashMap<Same, String, PanickingState> = HashMap::default();
    for n in 0..100 {
        map.insert(Same(n), "x".repeat(n as usize));
    }
    let set: HashSet<u32, PanickingState> = (0..100).collect();
    PANICKING.set(true);
    assert!(panics(|| {
        map.contains_key(&Same(1));
    }));
    assert_eq!(both(&map).1, 1 + 99);
    assert_eq!(both(&set).1, 1);
    PANICKING.set(false);
}

#[test]
fn panic_in_a_with_function_leaks_nothing() {
    #[derive(Weigh)]
    struct Outer {
        list: Vec<RefCell<Inner>>,
    }
    #[derive(Weigh)]
    struct Inner {
        #[weigh(with = "fails")]
        _value: u8,
        name: Rc<str>,
    }
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as the derive calls it")]
    fn fails(_: &u8) -> weigh::Weight {
        panic!("intentional")
    }
    let value = Outer { list: vec![RefCell::new(Inner { _value: 1, name: "x".into() })] };
    assert_eq!(
        left_by(|| {
            assert!(panics(|| {
                weigh(&value);
            }));
            assert!(panics(|| {
                weigh::tree(&value);
            }));
        }),
        (0, 0)
    );
    assert!(value.list[0].try_borrow_mut().is_ok());
    assert_eq!(Rc::strong_count(&value.list[0].borrow().name), 1);
}

#[test]
fn inconsistent_ord_is_harmless() {
    #[derive(PartialEq, Eq, Weigh)]
    struct AlwaysGreater(u8);
    impl PartialOrd for AlwaysGreater {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for AlwaysGreater {
        fn cmp(&self, _: &Self) -> std::cmp::Ordering {
            std::cmp::Ordering::Greater
        }
    }
    let set: BTreeSet<AlwaysGreater> = (0..200).map(AlwaysGreater).collect();
    assert!(both(&set).0 >= 200);
    // All keys have the same address: only the values distinguish the entries.
    #[derive(PartialEq, Eq, Weigh)]
    struct Nothing;
    impl PartialOrd for Nothing {
        fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
            Some(self.cmp(other))
        }
    }
    impl Ord for Nothing {
        fn cmp(&self, _: &Self) -> std::cmp::Ordering {
            std::cmp::Ordering::Greater
        }
    }
    let mut map = BTreeMap::new();
    let before = common::live();
    for n in 0..200_u32 {
        map.insert(Nothing, n);
    }
    let after = common::live();
    assert_eq!(both(&map).0.cast_signed(), (after.1 - before.1) as i64);
}

#[test]
fn threads_walk_concurrently() {
    const ROUNDS: usize = if cfg!(miri) { 4 } else { 1000 };
    let shared = Arc::new(RwLock::new(HashMap::from([(String::from("key"), vec![1_u64; 10])])));
    let expected = both(&shared);
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                barrier.wait();
                for _ in 0..ROUNDS {
                    assert_eq!(weigh(&shared).heap, expected.0);
                }
            });
        }
    });
    // While other threads write, a walk terminates and reports a locked value as opaque.
    let counter = Mutex::new(vec![0_u8; 10]);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..ROUNDS {
                counter.lock().unwrap().resize(n, 0);
            }
        });
        while !writer.is_finished() {
            let weight = weigh(&counter);
            assert!(weight.opaque == 1 || weight.allocations == 1);
        }
    });
}

#[test]
fn number_of_nodes_depends_on_types_only() {
    const MANY: usize = if cfg!(miri) { 30 } else { 2000 };
    fn nodes(tree: &Tree) -> usize {
        tree.nodes.len()
    }
    let make = |n: usize| -> Vec<Deep> {
        (0..n).map(|_| Deep { children: vec![Deep { children: vec![], name: "y".into() }], name: "x".into() }).collect()
    };
    let (few, many) = (weigh::tree(&make(2)), weigh::tree(&make(MANY)));
    assert_eq!(nodes(&few), nodes(&many));
    assert_eq!(many.nodes[1].instances, 2 * MANY as u64);
}

/// Mutually recursive types: a tree with one node for each path without repetition would exceed the memory.
mod mutual {
    use dwell::Weigh;

    macro_rules! types {
        ($($name:ident)*) => { types!(@ [$($name)*] $($name)*); };
        (@ $all:tt $($name:ident)*) => { $(types!(@one $name $all);)* };
        (@one $name:ident [$($all:ident)*]) => {
            #[derive(Default, Weigh)]
            #[allow(non_snake_case)]
            pub(super) struct $name {
                $($all: Option<Box<super::mutual::$all>>,)*
            }
            impl $name {
                pub(super) fn full(depth: u32) -> Self {
                    if depth == 0 {
                        return Self::default();
                    }
                    Self { $($all: Some(Box::new(super::mutual::$all::full(depth - 1))),)* }
                }
            }
        };
    }

    types!(A B C D E F G H);
}

#[test]
fn many_mutually_recursive_types_share_nodes() {
    let value = mutual::A::full(if cfg!(miri) { 2 } else { 5 });
    let tree = weigh::tree(&value);
    assert_eq!(tree.nodes.iter().map(|node| node.heap).sum::<u64>(), weigh(&value).heap);
    assert!(tree.nodes.len() < 1 << 20, "{}", tree.nodes.len());
}

/// Recursive types whose recursion leads through a tuple in a vector, as that of a JSON object does, through an `Option`
/// in a box, or through a `RefCell` in an `Rc`: the part behind the pointer is not the type itself.
#[test]
fn recursion_through_tuples_options_and_cells_reuses_nodes() {
    #[derive(Default, Weigh)]
    struct Object {
        fields: Vec<(String, Object)>,
    }
    impl Drop for Object {
        fn drop(&mut self) {
            let mut todo = std::mem::take(&mut self.fields);
            while let Some((_, mut object)) = todo.pop() {
                todo.append(&mut object.fields);
            }
        }
    }
    #[derive(Weigh)]
    struct Optional {
        next: Box<Option<Optional>>,
    }
    impl Drop for Optional {
        fn drop(&mut self) {
            let mut next = self.next.take();
            while let Some(mut node) = next {
                next = node.next.take();
            }
        }
    }
    let object =
        |n: usize| (0..n).fold(Object::default(), |inner, _| Object { fields: vec![(String::from("key"), inner)] });
    let optional =
        |n: usize| (0..n).fold(Optional { next: Box::new(None) }, |inner, _| Optional { next: Box::new(Some(inner)) });
    #[derive(Weigh)]
    struct Counted {
        next: Option<Rc<RefCell<Counted>>>,
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            let mut next = self.next.take();
            while let Some(node) = next {
                next = Rc::try_unwrap(node).ok().and_then(|node| node.into_inner().next.take());
            }
        }
    }
    fn check(few: &Tree, many: &Tree) {
        assert_eq!(many.nodes.len(), few.nodes.len());
        assert_eq!(many.nodes.iter().map(|node| node.heap).sum::<u64>(), many.weight.heap);
        assert!(many.nodes.iter().any(|node| node.instances == LONG as u64), "{many}");
        #[cfg(all(feature = "advice", not(miri)))] // many steps without a pointer
        assert_eq!(many.advise().before, many.weight.total());
    }
    let (few, many) = (object(5), object(LONG));
    assert_eq!(both(&many), (LONG as u64 * (size_of::<(String, Object)>() as u64 + 3), 2 * LONG as u64));
    check(&weigh::tree(&few), &weigh::tree(&many));
    let counted =
        |n: usize| (0..n).fold(Counted { next: None }, |inner, _| Counted { next: Some(Rc::new(RefCell::new(inner))) });
    let (few, many) = (counted(5), counted(LONG));
    assert_eq!(both(&many), of::<(usize, usize, RefCell<Counted>)>(LONG));
    check(&weigh::tree(&few), &weigh::tree(&many));
    let (few, many) = (optional(5), optional(LONG));
    assert_eq!(both(&many), of::<Option<Optional>>(LONG + 1));
    check(&weigh::tree(&few), &weigh::tree(&many));
}

/// A recursive type that is neither a struct nor an enum to the walk.
#[test]
fn recursive_collection_written_by_hand_has_one_node() {
    use dwell::weigh::{Kind, Type, Walk, type_of};
    #[derive(Default)]
    struct Forest(Vec<Forest>);
    impl Drop for Forest {
        fn drop(&mut self) {
            let mut todo = std::mem::take(&mut self.0);
            while let Some(mut forest) = todo.pop() {
                todo.append(&mut forest.0);
            }
        }
    }
    impl Weigh for Forest {
        const TYPE: &'static Type =
            &Type::new::<Self>(Kind::Sequence { element: type_of::<Self>, growable: true, contiguous: true });

        fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
        where
            Self: 'v,
        {
            if walk.defer(self) {
                return;
            }
            walk.block(self.0.capacity() * size_of::<Self>(), align_of::<Self>(), 0);
            walk.slots::<Self>(0, self.0.capacity(), self.0.len());
            walk.elements(0, &self.0);
        }
    }
    let forest = (0..LONG).fold(Forest::default(), |inner, _| Forest(vec![inner]));
    assert_eq!(both(&forest), of::<Forest>(LONG));
    let tree = weigh::tree(&forest);
    assert_eq!((tree.nodes.len(), tree.nodes[0].instances), (1, LONG as u64 + 1));
    // The suggestions describe the type by its parts, and used to overflow the stack.
    #[cfg(feature = "advice")]
    assert_eq!(tree.advise().before, tree.weight.total());
}

#[derive(Weigh)]
struct Twice<T>(Rc<T>, Rc<T>);

/// Each level shares its default, so that there are 2^40 paths to the innermost one.
#[test]
fn shared_defaults_take_linear_time() {
    fn twice<T>(inner: T) -> Twice<T> {
        let shared = Rc::new(inner);
        Twice(shared.clone(), shared)
    }
    fn five<T>(inner: T) -> Twice<Twice<Twice<Twice<Twice<T>>>>> {
        twice(twice(twice(twice(twice(inner)))))
    }
    let shared = five(five(five(five(five(five(five(five(0_u8))))))));
    assert_eq!(both(&shared).1, 40);
    assert_eq!(weigh::tree(&shared).nodes.len(), 1 + 2 * 40 + 40);
}

/// Values of size 0 are all alike, so the walk need not follow each of `usize::MAX`.
#[test]
fn zero_sized_values_take_no_time() {
    #[derive(Clone, Copy, Weigh)]
    enum Single {
        Only(()),
    }
    #[derive(Weigh)]
    struct Marked {
        marks: [(); usize::MAX],
        name: String,
    }
    fn check<T: Weigh>(values: T) {
        assert_eq!(both(&values), (0, 0));
        assert_eq!(both(&[Some(values)]), (0, 0));
    }
    check([None::<std::convert::Infallible>; usize::MAX]);
    check([Ok::<(), std::convert::Infallible>(()); usize::MAX]);
    check([Single::Only(()); usize::MAX]);
    assert_eq!(both(&vec![[Single::Only(()); usize::MAX]; 3]), (0, 0));
    let marked = [Marked { marks: [(); usize::MAX], name: String::from("name") }];
    assert_eq!(both(&marked), (4, 1));
    let tree = weigh::tree(&vec![[Ok::<(), ()>(()); 7]; 3]);
    assert!(tree.nodes.iter().any(|node| node.instances == 21));
}

#[test]
fn allocator_models_round_up() {
    let value = vec![String::from("x"); 100];
    let asked = weigh(&value).heap;
    for model in [Model::Glibc, Model::Jemalloc, Model::Mimalloc] {
        let taken = weigh::weigh_as(&value, model).heap;
        assert!(taken > asked);
        let tree = weigh::tree_as(&value, model);
        assert_eq!((tree.weight.heap, tree.nodes.iter().map(|node| node.requested).sum::<u64>()), (taken, asked));
    }
}

#[test]
fn assert_weighs_compares_and_panics() {
    let text = String::from("twelve bytes");
    let total = 12 + size_of::<String>() as u64;
    assert_weighs!(text == total);
    assert_weighs!(text <= 1 KiB);
    assert_weighs!(&text < 1 MB, "with {}", "a message");
    assert_weighs!([text.clone(), text.clone()] <= 0.1 KiB,);
    assert_weighs!(text <= 10_000);
    assert!(panics(|| assert_weighs!(text < total)));
    let cell = RefCell::new(text);
    let _guard = cell.borrow_mut();
    assert!(panics(|| assert_weighs!(cell <= 1 GiB)));
}
