//! Threads whose variables own blocks of the heap while they wait.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hint::black_box;
use std::rc::Rc;
use std::sync::{Arc, Barrier};

struct Item {
    name: String,
    weights: Vec<u32>,
}

fn item(number: usize) -> Item {
    Item { name: format!("the item of the number {number}"), weights: vec![7; 10] }
}

/// A value that only a thread's variable holds.
struct Session {
    items: Vec<Item>,
    by_name: HashMap<String, Box<Item>>,
    shared: Arc<Vec<u64>>,
}

thread_local! {
    static CACHE: RefCell<HashMap<u64, Vec<u8>>> = RefCell::new(HashMap::new());
    static PLAIN: Cell<Option<&'static [u16]>> = const { Cell::new(None) };
    static BUFFER: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// std has a type of this name too.
struct Node {
    next: RefCell<Option<Rc<Node>>>,
    bytes: Vec<u8>,
}

/// Waits twice: until all threads have their values, and until the snapshot was taken.
fn park(barrier: &Barrier) {
    barrier.wait();
    barrier.wait();
}

#[inline(never)]
fn lists(barrier: &Barrier) -> usize {
    let items: Vec<Item> = (0..1000).map(item).collect();
    let queue: VecDeque<u64> = (0..500).collect();
    let heap: BinaryHeap<u16> = (0..200).collect();
    let list: LinkedList<[u8; 40]> = (0..50).map(|byte| [byte; 40]).collect();
    let text = String::from("a text that no field owns, with some letters");
    park(barrier);
    items.iter().map(|item| item.name.len() + item.weights.len()).sum::<usize>()
        + queue.len()
        + heap.len()
        + list.len()
        + text.len()
}

#[inline(never)]
fn maps(barrier: &Barrier) -> usize {
    let hashed: HashMap<u64, [u64; 4]> = (0..3000).map(|key| (key, [key; 4])).collect();
    let set: HashSet<u32> = (0..900).collect();
    let tree: BTreeMap<u32, String> = (0..700).map(|key| (key, format!("the value of the number {key}"))).collect();
    let ordered: BTreeSet<u64> = (0..400).collect();
    park(barrier);
    hashed.len() + set.len() + tree.len() + ordered.len() + tree.values().map(String::len).sum::<usize>()
}

#[inline(never)]
fn session(barrier: &Barrier, shared: Arc<Vec<u64>>) -> usize {
    let session = Session {
        items: (0..100).map(item).collect(),
        by_name: (0..60).map(|key| (format!("a key of the number {key}"), Box::new(item(key)))).collect(),
        shared,
    };
    run(session, barrier)
}

/// Gets its value by a move, so that the caller has a stale copy.
#[inline(never)]
fn run(mut session: Session, barrier: &Barrier) -> usize {
    session.items.extend((0..700).map(item));
    park(barrier);
    session.items.len() + session.by_name.len() + session.shared.len()
}

#[inline(never)]
fn pointers(barrier: &Barrier) -> usize {
    let boxed: Box<dyn Fn(usize) -> usize> = {
        let captured = vec![3_usize; 300];
        Box::new(move |index| captured[index])
    };
    let ring = Rc::new(Node { next: RefCell::new(None), bytes: vec![1; 5000] });
    let other = Rc::new(Node { next: RefCell::new(Some(Rc::clone(&ring))), bytes: vec![2; 5000] });
    *ring.next.borrow_mut() = Some(other);
    park(barrier);
    let len = boxed(7) + ring.bytes.len();
    *ring.next.borrow_mut() = None;
    len
}

#[inline(never)]
fn cached(barrier: &Barrier) -> usize {
    CACHE.with_borrow_mut(|cache| cache.extend((0..150).map(|key| (key, vec![5; 100]))));
    PLAIN.set(Some(Box::leak(vec![9_u16; 800].into_boxed_slice())));
    BUFFER.with_borrow_mut(|buffer| buffer.extend(0..250));
    park(barrier);
    CACHE.with_borrow(HashMap::len) + PLAIN.get().map_or(0, <[u16]>::len)
}

/// Its variables are dead while it waits: they were moved away, dropped, or have no value yet.
#[inline(never)]
fn dead(barrier: &Barrier) -> usize {
    let gone: Vec<[u64; 16]> = vec![[1; 16]; 64];
    let mut len = gone.len();
    drop(black_box(gone));
    // Takes the block of the dropped one, if the allocator reuses it.
    let other: Vec<[u32; 32]> = vec![[2; 32]; 64];
    let moved = black_box(other);
    park(barrier);
    len += moved.len();
    let late: Vec<Item> = (0..black_box(10)).map(item).collect();
    len + late.len()
}

/// Calls C's allocator.
#[inline(never)]
fn allocate_by_c() {
    unsafe extern "C" {
        fn malloc(size: usize) -> *mut u8;
    }
    black_box(unsafe { malloc(300) });
}

fn main() {
    (0..40).for_each(|_| allocate_by_c());
    let barrier = Arc::new(Barrier::new(7));
    let shared = Arc::new(vec![1_u64; 4000]);
    let spawn = |run: fn(&Barrier) -> usize| {
        let barrier = Arc::clone(&barrier);
        std::thread::spawn(move || run(&barrier))
    };
    let mut threads = vec![spawn(lists), spawn(maps), spawn(pointers), spawn(cached), spawn(dead)];
    threads.push({
        let (barrier, shared) = (Arc::clone(&barrier), Arc::clone(&shared));
        std::thread::spawn(move || session(&barrier, shared))
    });
    barrier.wait();
    // The peak is before these bytes are dropped.
    let most = vec![1_u8; 1 << 20];
    drop(black_box(most));
    barrier.wait();
    let sum: usize = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
    println!("{sum} {}", shared.len());
}
