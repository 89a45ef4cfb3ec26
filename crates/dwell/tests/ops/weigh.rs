//! Values of every type of core, alloc and std that can own memory, made from bytes, whose weight is compared with the
//! allocator's counts: random bytes in `tests/weigh.rs`, a fuzzer's in `fuzz/fuzz_targets/weigh.rs`. The including file
//! defines a function `live` that returns the number of allocated blocks and bytes.

use super::live;
use dwell::sparse::{SortedMap, ThinSlice, ThinStr};
use dwell::weigh::{Accuracy, Tree, Weigh};
use dwell::{SmallBox, Sparse};
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::ops::{Bound, ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::task::Poll;

/// A source of numbers that also tracks the nesting depth of a value: it reads bytes, and after their end derives
/// pseudo-random numbers from them.
struct Gen<'b> {
    bytes: &'b [u8],
    state: u64,
    depth: u32,
}

impl<'b> Gen<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let mix = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        Self { bytes, state: bytes.iter().fold(0xCBF2_9CE4_8422_2325, mix) | 1, depth: 0 }
    }

    fn next(&mut self) -> u64 {
        if let Some((bytes, rest)) = self.bytes.split_first_chunk() {
            self.bytes = rest;
            return u64::from(u32::from_le_bytes(*bytes)) << 11;
        }
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: u64) -> usize {
        usize::try_from((self.next() >> 11) % n).unwrap()
    }

    /// Returns a length: mostly short, sometimes long, and shorter for deeply nested values.
    fn len(&mut self) -> usize {
        let most = match (self.depth, self.below(16)) {
            (0, 0) if !cfg!(miri) => 3000,
            (0, _) => 80,
            (1, 0) if !cfg!(miri) => 100,
            (1, _) => 12,
            _ => 4,
        };
        self.below(most + 1)
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let value = f(self);
        self.depth -= 1;
        value
    }
}

/// A random value of a type, to be weighed. The values of a type differ in the memory that they own.
trait Make {
    fn make(g: &mut Gen<'_>) -> Self;
}

macro_rules! make {
    ($($(@[$($generics:tt)*])? $ty:ty: |$g:ident| $value:expr;)*) => {$(
        impl $(<$($generics)*>)? Make for $ty {
            fn make($g: &mut Gen<'_>) -> Self {
                $value
            }
        }
    )*};
}

/// Pushes random elements, removes some, and sometimes shrinks the collection.
macro_rules! grown {
    ($g:ident, $new:expr, $push:expr, $pop:expr, $shrink:expr) => {{
        let (mut value, len) = ($new, $g.len());
        for _ in 0..len {
            let element = $g.nested(Make::make);
            $push(&mut value, element);
        }
        if $g.below(3) == 0 {
            for _ in 0..$g.below(len as u64 + 1) {
                $pop(&mut value);
            }
        }
        if $g.below(4) == 0 {
            $shrink(&mut value);
        }
        value
    }};
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(align(32))]
struct Wide(u8);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Odd([u8; 3]);

macro_rules! by_hand {
    ($($ty:ident)*) => {$(
        impl Weigh for $ty {
            const REACH: dwell::weigh::Reach = dwell::weigh::Reach::Plain;
            const TYPE: &'static dwell::weigh::Type = &dwell::weigh::Type::new::<Self>(dwell::weigh::Kind::Opaque);
            fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut dwell::weigh::Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
            }
        }
    )*};
}

by_hand!(Wide Odd);

make! {
    (): |_g| ();
    u8: |g| g.next() as u8;
    u16: |g| g.next() as u16;
    u64: |g| g.next();
    u128: |g| u128::from(g.next());
    Wide: |g| Wide(g.next() as u8);
    Odd: |g| Odd([g.next() as u8, g.next() as u8, g.next() as u8]);
    String: |g| {
        let mut text = "a".repeat(g.len() / 2);
        text.reserve(if g.below(2) == 0 { g.len() } else { 0 });
        text
    };
    CString: |g| CString::new("c".repeat(g.len())).unwrap();
    OsString: |g| { let mut text = OsString::with_capacity(g.len()); text.push("os"); text };
    PathBuf: |g| { let mut path = PathBuf::from("/"); for _ in 0..g.below(5) { path.push("part"); } path };
    Box<str>: |g| String::make(g).into();
    Box<CStr>: |g| CString::make(g).into();
    Box<OsStr>: |g| OsString::make(g).into();
    Box<Path>: |g| PathBuf::make(g).into();
    Rc<str>: |g| String::make(g).into();
    Arc<str>: |g| String::make(g).into();
    ThinStr: |g| ThinStr::new(&"t".repeat(g.below(300)));
    Cow<'static, str>: |g| if g.below(2) == 0 { Cow::Borrowed("lent") } else { Cow::Owned(Make::make(g)) };
    @[T: Make + Clone] Cow<'static, [T]>: |g| Cow::Owned(Make::make(g));
    @[T: Make] Vec<T>: |g| grown!(g, Vec::with_capacity(g.len() / 2), Vec::push, Vec::pop, Vec::shrink_to_fit);
    @[T: Make] VecDeque<T>: |g| {
        let front = g.below(2) == 0;
        let push = |deque: &mut VecDeque<T>, value| if front { deque.push_front(value) } else { deque.push_back(value) };
        grown!(g, VecDeque::new(), push, VecDeque::pop_front, VecDeque::shrink_to_fit)
    };
    @[T: Make] LinkedList<T>: |g| grown!(g, LinkedList::new(), LinkedList::push_back, LinkedList::pop_front, |_: &mut _| ());
    @[T: Make + Ord] BinaryHeap<T>: |g| grown!(g, BinaryHeap::new(), BinaryHeap::push, BinaryHeap::pop, BinaryHeap::shrink_to_fit);
    @[T: Make] Box<[T]>: |g| Vec::make(g).into();
    @[T: Make] Rc<[T]>: |g| Vec::make(g).into();
    @[T: Make] Arc<[T]>: |g| Vec::make(g).into();
    @[T: Make] ThinSlice<T>: |g| Vec::make(g).into();
    @[K: Make + Ord, V: Make] SortedMap<K, V>: |g| (0..g.len() / 8).map(|_| g.nested(|g| (K::make(g), V::make(g)))).collect();
    @[T: Make] Box<T>: |g| Box::new(g.nested(T::make));
    @[T: Make] Pin<Box<T>>: |g| Box::pin(g.nested(T::make));
    @[T: Make] Rc<T>: |g| Rc::new(g.nested(T::make));
    @[T: Make] Arc<T>: |g| Arc::new(g.nested(T::make));
    @[T: Make] Pin<Rc<T>>: |g| Rc::pin(g.nested(T::make));
    @[T: Make] Option<T>: |g| (g.below(3) != 0).then(|| T::make(g));
    @[T: Make, E: Make] Result<T, E>: |g| if g.below(2) == 0 { Ok(T::make(g)) } else { Err(E::make(g)) };
    @[T: Make] RefCell<T>: |g| RefCell::new(T::make(g));
    @[T: Make] Mutex<T>: |g| Mutex::new(T::make(g));
    @[T: Make] RwLock<T>: |g| RwLock::new(T::make(g));
    @[T: Make] OnceCell<T>: |g| { let cell = OnceCell::new(); if g.below(2) == 0 { let _ = cell.set(T::make(g)); } cell };
    @[T: Make] OnceLock<T>: |g| { let cell = OnceLock::new(); if g.below(2) == 0 { let _ = cell.set(T::make(g)); } cell };
    @[T: Make] Poll<T>: |g| if g.below(2) == 0 { Poll::Ready(T::make(g)) } else { Poll::Pending };
    @[T: Make] Bound<T>: |g| match g.below(3) { 0 => Bound::Included(T::make(g)), 1 => Bound::Excluded(T::make(g)), _ => Bound::Unbounded };
    @[T: Make] ControlFlow<T>: |g| if g.below(2) == 0 { ControlFlow::Break(T::make(g)) } else { ControlFlow::Continue(()) };
    @[T: Make] Range<T>: |g| T::make(g)..T::make(g);
    @[A: Make, B: Make] (A, B): |g| (A::make(g), B::make(g));
    @[A: Make, B: Make, C: Make] (A, B, C): |g| (A::make(g), B::make(g), C::make(g));
    @[T: Make] [T; 3]: |g| std::array::from_fn(|_| T::make(g));
    @[T: Make] [T; 0]: |_g| [];
    @[T: Make + dwell::sparse::IsEmpty + Default] Sparse<T>: |g| if g.below(2) == 0 { Sparse::empty() } else { Sparse::new(T::make(g)) };
    @[T: Make] SmallBox<T>: |g| SmallBox::new(T::make(g));
    @[K: Make + Ord, V: Make] BTreeMap<K, V>: |g| {
        let len = g.len();
        let pairs = |g: &mut Gen<'_>, n: usize| (0..n).map(|_| g.nested(|g| (K::make(g), V::make(g)))).collect::<Vec<_>>();
        // Builds the map at once, one entry at a time, or from two maps.
        let pairs = pairs(g, len);
        let mut map: BTreeMap<K, V> = if g.below(2) == 0 {
            pairs.into_iter().collect()
        } else {
            let mut map = BTreeMap::new();
            for (k, v) in pairs { map.insert(k, v); }
            map
        };
        match g.below(4) {
            0 => { let mut n = 0; let keep = 2 + g.below(8); let first = g.below(2); map.retain(|_, _| { n += 1; n % keep == 0 || n == first }); }
            1 => { for _ in 0..map.len() / 2 { map.pop_first(); } }
            2 => { let mut other: BTreeMap<K, V> = (0..g.len()).map(|_| g.nested(|g| (K::make(g), V::make(g)))).collect(); map.append(&mut other); }
            _ => {}
        }
        map
    };
    @[T: Make + Ord] BTreeSet<T>: |g| {
        let map: BTreeMap<T, ()> = Make::make(g);
        map.into_keys().collect()
    };
    @[K: Make + Hash + Eq, V: Make, S: BuildHasher + Default] HashMap<K, V, S>: |g| {
        let mut map = HashMap::with_capacity_and_hasher(if g.below(2) == 0 { g.len() } else { 0 }, S::default());
        for _ in 0..g.len() { map.insert(g.nested(K::make), g.nested(V::make)); }
        match g.below(4) {
            0 => { let mut n = 0; let keep = 1 + g.below(70); map.retain(|_, _| { n += 1; n % keep == 0 }); }
            1 => map.shrink_to_fit(),
            2 => { map.reserve(g.len()); }
            _ => {}
        }
        map
    };
    @[T: Make + Hash + Eq, S: BuildHasher + Default] HashSet<T, S>: |g| {
        let map: HashMap<T, (), S> = Make::make(g);
        let mut set: HashSet<T, S> = map.into_keys().collect();
        if g.below(2) == 0 { let mut n = 0; set.retain(|_| { n += 1; n % 3 != 0 }); }
        set
    };
}

/// A user-defined hasher.
#[derive(Default)]
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3).rotate_left(23);
        }
    }
}

type Fast = BuildHasherDefault<Fnv>;

/// std's hasher with fixed keys, so that a seed makes the same table in each run.
pub(crate) type Sip = BuildHasherDefault<DefaultHasher>;

/// A hasher that returns the key, so that neighbouring keys stay neighbours.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u64::from(*byte);
        }
    }
    fn write_u64(&mut self, n: u64) {
        // There are few keys, so that many are neighbours.
        self.0 = n >> 40;
    }
}

type IdentityHash = BuildHasherDefault<Identity>;

/// Asserts that the sums over a tree equal its total.
fn consistent(tree: &Tree) {
    let sum = |part: fn(&dwell::weigh::Node) -> u64| tree.nodes.iter().map(part).sum::<u64>();
    assert_eq!(sum(|node| node.heap), tree.weight.heap);
    assert_eq!(sum(|node| node.requested), tree.weight.heap);
    assert_eq!(sum(|node| node.allocations), tree.weight.allocations);
    assert_eq!(tree.heap_below()[0], tree.weight.heap);
    for (index, node) in tree.nodes.iter().enumerate() {
        assert!(node.parent.is_none_or(|parent| parent < index));
        assert!(node.instances <= node.slots, "{node:?}");
        assert!(node.filled <= node.instances || node.edge.is_inline(), "{node:?}");
        assert!(node.filled <= node.slots, "{node:?}");
        assert!(node.waste <= node.requested, "{node:?}");
    }
}

fn exact<T: Weigh>(make: impl FnOnce() -> T) {
    let before = live();
    let value = make();
    let after = live();
    let weight = dwell::weigh(&value);
    let name = std::any::type_name::<T>();
    assert_eq!(weight.inline, size_of::<T>() as u64);
    let (bytes, blocks) = ((after.1 - before.1).unsigned_abs() as u64, (after.0 - before.0).unsigned_abs() as u64);
    if weight.is_exact() {
        assert_eq!(weight.heap, bytes, "bytes of a {name}");
        assert_eq!(weight.allocations, blocks, "blocks of a {name}");
    } else {
        // Only the weight of std's hash maps and B-trees may be inexact.
        assert!(name.contains("Map") || name.contains("Set"), "{name}: {weight}");
        assert_eq!(weight.accuracy(), Accuracy::AtLeast);
        assert!(weight.heap <= bytes, "bytes of a {name}: {weight}, {bytes}");
        assert!(weight.allocations <= blocks, "blocks of a {name}: {weight}, {blocks}");
    }
    assert_eq!((weight.opaque, weight.at_most), (0, 0));
    let tree = dwell::weigh::tree(&value);
    assert_eq!(tree.weight, weight);
    consistent(&tree);
    drop(tree);
    assert_eq!(live(), after, "the walk itself leaves nothing");
}

/// Defines a function for each group of types, and one for all.
macro_rules! groups {
    ($($name:ident: $($ty:ty),+ $(,)?;)*) => {
        $(
            #[allow(dead_code, reason = "the fuzzer calls them by `run`")]
            pub(crate) fn $name(bytes: &[u8]) {
                $(exact(|| <$ty>::make(&mut Gen::new(bytes)));)+
            }
        )*

        /// Weighs a value of the type that the first two bytes select, made from the other bytes.
        #[allow(dead_code, reason = "the tests call them by name")]
        pub(crate) fn run(bytes: &[u8]) {
            let types: &[fn(&[u8])] = &[$($(|bytes| exact(|| <$ty>::make(&mut Gen::new(bytes)))),+),*];
            if let Some((first, rest)) = bytes.split_first_chunk() {
                types[usize::from(u16::from_le_bytes(*first)) % types.len()](rest);
            }
        }
    };
}

groups! {
    texts: String, CString, OsString, PathBuf, Box<str>, Box<CStr>, Box<OsStr>, Box<Path>, Rc<str>, Arc<str>, Cow<'static, str>;
    vectors: Vec<()>, Vec<u8>, Vec<Odd>, Vec<Wide>, Vec<String>, Vec<Vec<u16>>, Vec<Option<Box<u64>>>, Vec<[String; 3]>;
    deques: VecDeque<u8>, VecDeque<()>, VecDeque<String>, VecDeque<Wide>;
    heaps: BinaryHeap<u16>, BinaryHeap<String>;
    lists: LinkedList<()>, LinkedList<u8>, LinkedList<Wide>, LinkedList<String>, LinkedList<Odd>;
    slices: Box<[u8]>, Box<[()]>, Box<[String]>, Rc<[u8]>, Rc<[Wide]>, Arc<[String]>, Arc<[Odd]>;
    pointers: Box<()>, Box<Wide>, Box<String>, Pin<Box<String>>, Rc<()>, Rc<u8>, Rc<Wide>, Rc<String>, Arc<Odd>, Pin<Rc<String>>;
    choices: Option<String>, Result<String, Vec<u64>>, Poll<String>, Bound<String>, ControlFlow<String>, Range<String>, Vec<Option<Result<String, Box<u8>>>>;
    cells: RefCell<String>, Mutex<Vec<String>>, RwLock<String>, OnceCell<String>, OnceLock<String>, Vec<RefCell<Option<String>>>;
    tuples: (String, Vec<u8>), (u8, String, Box<u64>), [String; 3], [String; 0], Cow<'static, [String]>;
    maps: HashMap<u8, u8, Sip>, HashMap<u64, String, Sip>, HashMap<String, Vec<String>, Sip>, HashMap<Odd, Wide, Sip>, HashMap<(), String, Sip>, HashMap<u16, (), Sip>;
    hashers: HashMap<u64, Box<u8>, Fast>, HashMap<String, u8, Fast>, HashSet<u64, Fast>, HashSet<Odd, Fast>, HashMap<u64, u16, IdentityHash>, HashSet<u64, IdentityHash>;
    sets: HashSet<u8, Sip>, HashSet<(), Sip>, HashSet<u64, Sip>, HashSet<String, Sip>, HashSet<Wide, Sip>, HashSet<Box<[u8]>, Sip>;
    trees: BTreeMap<u8, u8>, BTreeMap<u64, String>, BTreeMap<String, Vec<u8>>, BTreeMap<Odd, Wide>, BTreeMap<Wide, ()>, BTreeMap<u64, ()>, BTreeMap<u16, Odd>;
    tree_sets: BTreeSet<u8>, BTreeSet<u64>, BTreeSet<String>, BTreeSet<Odd>, BTreeSet<Wide>, BTreeSet<u128>;
    own: Sparse<Vec<String>>, ThinStr, ThinSlice<String>, ThinSlice<Wide>, ThinSlice<()>, SortedMap<u64, String>, SortedMap<ThinStr, u8>, SmallBox<[String; 3]>, SmallBox<u64>;
    mixed: BTreeMap<String, HashMap<u64, Vec<Option<Rc<str>>>, Sip>>, HashMap<String, BTreeMap<u8, Box<[String]>>, Sip>, Vec<Arc<Mutex<LinkedList<String>>>>;
}
