//! `cases MODE`: values that are hard to find, each in a small amount that is known.
#![allow(dead_code)]

use std::alloc::{Layout, alloc};
use std::collections::{BTreeMap, HashMap, LinkedList, VecDeque};
use std::future::Future;
use std::hint::black_box;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

struct Item {
    name: String,
    seldom: Option<[u64; 12]>,
}

struct Shelf {
    items: HashMap<u64, Item>,
}

fn item(number: u64) -> Item {
    Item { name: format!("this is item {number:08}"), seldom: (number % 50 == 0).then_some([number; 12]) }
}

/// A table of 1,024 buckets is full with 896 entries. The next one makes it grow, and nothing of that size follows.
fn grow(items: &mut HashMap<u64, Item>) {
    for number in 0..900 {
        items.insert(number, item(number));
    }
}

/// 112 B, and 16 if `note` is boxed.
struct Piece {
    note: Option<[u64; 12]>,
    number: u64,
}

/// 224 B for a variant that has no values.
enum Part {
    One(Piece),
    Two(Pair),
}

struct Pair {
    left: Piece,
    right: Piece,
}

struct Parts {
    parts: Vec<Part>,
}

struct Never;

impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

async fn waits(number: u64) -> usize {
    let mut queue: VecDeque<String> = (0..10).map(|i| format!("text {i} of {number:04}")).collect();
    queue.pop_front();
    let tree: BTreeMap<u64, String> = (0..3).map(|i| (i, format!("leaf {i} of {number:04}"))).collect();
    let list: LinkedList<[u64; 4]> = (0..2).map(|i| [i; 4]).collect();
    let (sender, receiver) = mpsc::channel::<Box<[u8; 48]>>();
    (0..5).for_each(|i| sender.send(Box::new([i; 48])).unwrap());
    Never.await;
    black_box((&queue, &tree, &list, &receiver));
    queue.len() + tree.len() + list.len()
}

/// Words that hold a value of any type of at most this size.
struct Erased {
    words: MaybeUninit<[usize; 3]>,
}

impl Erased {
    fn new<T>(value: T) -> Self {
        const { assert!(size_of::<T>() <= 24 && align_of::<T>() <= 8) };
        let mut words = MaybeUninit::<[usize; 3]>::uninit();
        // SAFETY: the value fits in the words, and they are aligned for it.
        unsafe { words.as_mut_ptr().cast::<T>().write(value) };
        Self { words }
    }
}

#[repr(C)]
union Either {
    list: ManuallyDrop<Vec<u32>>,
    number: u64,
}

struct Buffers {
    erased: Vec<Erased>,
    either: Vec<Either>,
}

trait Shape {
    fn area(&self) -> u64;
}

struct Polygon {
    sides: [u64; 9],
    name: Box<[u8; 40]>,
}

impl Shape for Polygon {
    fn area(&self) -> u64 {
        self.sides[0] + u64::from(self.name[0])
    }
}

/// A trait object, both parts of which are in memory without a type.
fn hidden(number: u64) {
    let polygon = Polygon { sides: [number; 9], name: Box::new([1; 40]) };
    // SAFETY: neither layout is of size 0.
    let (value, pair) = unsafe { (alloc(Layout::new::<Polygon>()), alloc(Layout::new::<[usize; 2]>())) };
    // SAFETY: the blocks have the size and alignment of their types.
    unsafe {
        value.cast::<Polygon>().write(polygon);
        pair.cast::<*mut dyn Shape>().write(value.cast::<Polygon>());
        // The optimiser does not know that the pair is the one above.
        let pair = black_box(pair);
        black_box((*pair.cast::<*mut dyn Shape>().read()).area());
    }
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("field") => {
            let mut shelf = Box::new(Shelf { items: HashMap::new() });
            grow(&mut shelf.items);
            black_box(&shelf);
        }
        Some("local") => {
            let mut items = HashMap::new();
            grow(&mut items);
            black_box(&items);
        }
        Some("futures") => {
            let tasks = (0..20).map(|number| {
                let mut task: Pin<Box<dyn Future<Output = usize>>> = Box::pin(waits(number));
                assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                task
            });
            Box::leak(black_box(Box::new(tasks.collect::<Vec<_>>())));
        }
        Some("buffers") => {
            let list = |number: u32| {
                let mut list = Vec::with_capacity(8);
                list.extend(std::iter::repeat_n(number, 6));
                Either { list: ManuallyDrop::new(list) }
            };
            let erased = |number: u64| Erased::new(vec![number; 5]);
            let buffers = Buffers { erased: (0..30).map(erased).collect(), either: (0..30).map(list).collect() };
            Box::leak(black_box(Box::new(buffers)));
        }
        Some("variants") => {
            let note = |number: u64| (number % 50 == 0).then_some([number; 12]);
            let mut parts: Vec<Part> = (0..1000).map(|number| Part::One(Piece { note: note(number), number })).collect();
            if std::env::args().count() > 2 {
                let piece = || Piece { note: None, number: 1 };
                parts[0] = Part::Two(Pair { left: piece(), right: piece() });
            }
            Box::leak(black_box(Box::new(Parts { parts })));
        }
        Some("objects") => (0..25).for_each(hidden),
        _ => std::process::exit(2),
    }
}
