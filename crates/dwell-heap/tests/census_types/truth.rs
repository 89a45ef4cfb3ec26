//! `truth MODE`: a program with known data on its heap.
#![allow(unexpected_cfgs, dead_code)]

mod advice;
mod data;
mod waste;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};

#[cfg(mimalloc)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(jemalloc)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

static TABLE: Mutex<Vec<Box<[u8; 100]>>> = Mutex::new(Vec::new());

/// All zero, so it is not in the executable's file, and larger than a page.
static SLOTS: [Mutex<Option<Box<u16>>>; 2000] = [const { Mutex::new(None) }; 2000];

static LAZY: LazyLock<Vec<Box<[u8; 50]>>> = LazyLock::new(|| (0..9).map(|i| Box::new([i; 50])).collect());

struct Never;

impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

struct Visit {
    seldom: Option<[u64; 16]>,
}

struct Folder {
    entries: std::fs::ReadDir,
}

struct Server {
    tasks: Vec<Pin<Box<dyn Future<Output = u64>>>>,
}

async fn task(number: u64) -> u64 {
    if number % 4 == 0 {
        let held = vec![number; 16];
        Never.await;
        return held.len() as u64;
    }
    let large = [number; 64];
    Never.await;
    black_box(&large);
    large[0]
}

struct Link {
    next: *mut Link,
    text: String,
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("data") => {
            let data = Box::leak(black_box(Box::new(data::data())));
            data::leak_ring(7);
            black_box(LAZY.len());
            SLOTS.iter().for_each(|slot| *slot.lock().unwrap() = Some(Box::new(1)));
            TABLE.lock().unwrap().extend((0..7).map(|i| Box::new([i; 100])));
            black_box(&data.shapes);
        }
        Some("waste") => {
            Box::leak(black_box(Box::new(waste::waste())));
            Box::leak(black_box(Box::new(waste::texts())));
        }
        Some("advice") => drop(Box::leak(black_box(Box::new(advice::advice())))),
        Some("more") => {
            let more = Box::leak(black_box(Box::new(waste::more())));
            black_box(more.areas.iter().map(|shape| shape.area()).fold(0, u64::wrapping_add));
        }
        // Collections whose functions have equal code.
        Some("merged") => {
            let (mut whole, mut real, mut boxes) = (Vec::new(), Vec::new(), Vec::new());
            let (mut queue, mut real_queue) = (VecDeque::new(), VecDeque::new());
            let (mut numbers, mut texts) = (BTreeMap::new(), BTreeMap::new());
            for i in 0..100_u64 {
                whole.push(i);
                real.push(i as f64);
                boxes.push(Box::new(i as u16));
                queue.push_back(i);
                real_queue.push_back(i as f64);
            }
            (0..100_u64).for_each(|i| drop(numbers.insert(i, [i; 3])));
            (0..100_u64).for_each(|i| drop(texts.insert(i, format!("text {i}"))));
            std::mem::forget(black_box((whole, real, boxes, queue, real_queue, numbers, texts)));
        }
        Some("tasks") => {
            let mut server = Box::new(Server { tasks: Vec::new() });
            for number in 0..40 {
                let mut task: Pin<Box<dyn Future<Output = u64>>> = Box::pin(task(number));
                assert!(task.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                server.tasks.push(task);
            }
            Box::leak(black_box(server));
        }
        Some("leak") => {
            for number in 0..10_000_u32 {
                black_box(Box::leak(Box::new(number)));
            }
            std::mem::forget(black_box(vec![String::from("one"); 3]));
            std::mem::forget(black_box((0..500).map(|i| (i, Box::new(i))).collect::<BTreeMap<u16, Box<u16>>>()));
        }
        Some("pointers") => {
            let mut first = Link { next: std::ptr::null_mut(), text: "first".into() };
            for number in 0..100 {
                first.next = Box::into_raw(Box::new(Link { next: first.next, text: format!("link {number}") }));
            }
            Box::leak(black_box(Box::new(first)));
            // C allocates the `DIR`: only the pointer gives its type.
            let entries = std::fs::read_dir("/").unwrap();
            Box::leak(black_box(Box::new(Folder { entries })));
        }
        Some("threads") => {
            let threads: Vec<_> = (0..4_u64)
                .map(|thread| {
                    std::thread::spawn(move || {
                        let own: Vec<Box<u64>> = (0..100 + thread).map(Box::new).collect();
                        Box::leak(black_box(Box::new(own)));
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
        Some("local") => {
            let members = data::members();
            let total: usize = members.iter().map(|member| member.name.len()).sum();
            println!("{total}");
            black_box(&members);
        }
        Some("maps") => {
            let mut large: HashMap<u64, [u32; 8]> = HashMap::with_capacity(5000);
            (0..5000).for_each(|i| drop(large.insert(i, [1; 8])));
            large.retain(|key, _| *key < 20);
            let entries: BTreeMap<u64, Visit> =
                (0..1000).map(|i| (i, Visit { seldom: (i % 100 == 0).then_some([i; 16]) })).collect();
            // The peak is here, when both maps are complete.
            let last = black_box(vec![1_u8; 1_000_000]);
            let filled = entries.values().filter(|entry| entry.seldom.is_some()).count();
            println!("{}", filled + large.len() + last.len());
            black_box((&large, &entries));
        }
        _ => std::process::exit(2),
    }
}
