//! `truth MODE FILE`: a program whose allocator writes down each live block. `hold` builds data, writes the blocks to FILE
//! and waits for the end of its standard input; `churn` also allocates on three threads without pause meanwhile; `dump` first
//! writes a heap dump of itself to FILE.core.
#![allow(dead_code, unexpected_cfgs)]

#[cfg(mimalloc)]
use mimalloc::MiMalloc as Inner;
#[cfg(not(any(jemalloc, mimalloc)))]
use std::alloc::System as Inner;
use std::alloc::{GlobalAlloc, Layout};
use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, LinkedList, VecDeque};
use std::future::Future;
use std::hint::black_box;
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll};
#[cfg(jemalloc)]
use tikv_jemallocator::Jemalloc as Inner;

/// Pairs of an address and a size.
const SLOTS: usize = 1 << 18;
static TABLE: [[AtomicUsize; 2]; SLOTS] = [const { [const { AtomicUsize::new(0) }; 2] }; SLOTS];
/// Whether blocks are written down.
static RECORDS: AtomicBool = AtomicBool::new(true);
const GONE: usize = 1;

struct Recorder;

fn slot(block: usize) -> usize {
    (block >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40
}

fn insert(block: *mut u8, size: usize) {
    if !RECORDS.load(Ordering::Relaxed) {
        return;
    }
    let mut at = slot(block.addr());
    loop {
        let known = &TABLE[at % SLOTS];
        for free in [0, GONE] {
            if known[0].compare_exchange(free, block.addr(), Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                known[1].store(size, Ordering::Relaxed);
                return;
            }
        }
        at += 1;
    }
}

fn remove(block: *mut u8) {
    if !RECORDS.load(Ordering::Relaxed) {
        return;
    }
    let mut at = slot(block.addr());
    for _ in 0..SLOTS {
        let known = &TABLE[at % SLOTS][0];
        match known.load(Ordering::Relaxed) {
            0 => return,
            addr if addr == block.addr() => return known.store(GONE, Ordering::Relaxed),
            _ => at += 1,
        }
    }
}

unsafe impl GlobalAlloc for Recorder {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = unsafe { Inner.alloc(layout) };
        insert(block, layout.size());
        block
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        remove(block);
        unsafe { Inner.dealloc(block, layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        remove(block);
        let block = unsafe { Inner.realloc(block, layout, size) };
        insert(block, size);
        block
    }
}

#[global_allocator]
static ALLOCATOR: Recorder = Recorder;

#[derive(Clone, Debug)]
struct Item {
    name: String,
    tags: Vec<u16>,
    more: Option<Box<Item>>,
}

trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64, [u8; 33]);
struct Path(Vec<(u32, u32)>);
impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}
impl Shape for Path {
    fn area(&self) -> u64 {
        self.0.len() as u64
    }
}

#[repr(align(64))]
struct Line([u64; 8]);

#[derive(Default)]
struct World {
    items: HashMap<String, Item>,
    order: BTreeMap<u64, String>,
    set: BTreeSet<u32>,
    recent: VecDeque<Item>,
    shapes: Vec<Box<dyn Shape>>,
    names: Vec<Arc<str>>,
    shared: Vec<Arc<[u32]>>,
    list: LinkedList<[u64; 3]>,
    lines: Vec<Box<Line>>,
    large: Vec<u8>,
    aligned: Vec<Line>,
    any: Vec<Box<dyn Any + Send>>,
}
unsafe impl Send for World {}

static WORLD: Mutex<Option<World>> = Mutex::new(None);

thread_local! {
    static MINE: RefCell<Vec<Box<[u8; 77]>>> = const { RefCell::new(Vec::new()) };
}

fn item(number: u64) -> Item {
    let more = (number % 5 == 0).then(|| Box::new(Item { name: format!("inner {number}"), tags: vec![7], more: None }));
    Item { name: format!("item number {number}"), tags: (0..number as u16 % 9).collect(), more }
}

fn world() -> World {
    let mut world = World::default();
    for number in 0..6000 {
        world.items.insert(format!("key {number}"), item(number));
        world.order.insert(number * 3, "x".repeat(number as usize % 40));
        world.set.insert(number as u32);
    }
    for number in 0..3000 {
        // Free chunks of all sizes between live ones.
        if number % 3 == 0 {
            world.items.remove(&format!("key {number}"));
        }
        world.recent.push_back(item(number));
        if number % 2 == 0 {
            world.recent.pop_front();
        }
        world.shapes.push(if number % 2 == 0 {
            Box::new(Square(number, [1; 33]))
        } else {
            Box::new(Path(vec![(1, 2); number as usize % 17]))
        });
        world.names.push(format!("name {number}").into());
        world.shared.push(vec![number as u32; number as usize % 30].into());
        world.list.push_back([number; 3]);
    }
    world.lines = (0..200).map(|number| Box::new(Line([number; 8]))).collect();
    world.aligned = (0..5000).map(|number| Line([number; 8])).collect();
    world.large = vec![1; 3 << 20];
    world.any = (0..50_u64).map(|number| Box::new((number, number)) as Box<dyn Any + Send>).collect();
    world
}

struct Never;
impl Future for Never {
    type Output = ();
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

async fn task(number: u64) {
    let held = vec![item(number); 3];
    Never.await;
    black_box(&held);
}

/// Keeps values in variables of its frames.
#[inline(never)]
fn worker(number: u64, ready: mpsc::Sender<()>, end: &Mutex<()>) {
    let own: Vec<String> = (0..100).map(|index| format!("{number} {index}")).collect();
    MINE.with_borrow_mut(|mine| mine.extend((0..20).map(|_| Box::new([number as u8; 77]))));
    let map: HashMap<u64, Box<u64>> = (0..50).map(|key| (key, Box::new(key))).collect();
    ready.send(()).unwrap();
    drop(ready);
    drop(end.lock());
    black_box((&own, &map));
}

/// Allocates and frees without pause, and checks what it wrote. Returns the number of rounds.
fn churn(seed: u64, end: &AtomicBool, rounds: &AtomicU64) {
    let mut state = seed;
    let mut held: Vec<Vec<u8>> = Vec::new();
    while !end.load(Ordering::Relaxed) {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let size = (state >> 33) as usize % if state >> 60 == 0 { 200_000 } else { 900 };
        let byte = (state >> 20) as u8;
        if held.len() > 400 {
            let block = held.swap_remove((state >> 40) as usize % held.len());
            assert!(block.iter().all(|byte| *byte == block[0]), "a block was changed");
        }
        held.push(vec![byte; size.max(1)]);
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

/// The kernel's `struct epoll_event`, which has no padding on x86-64.
#[cfg_attr(target_arch = "x86_64", repr(C, packed))]
#[cfg_attr(not(target_arch = "x86_64"), repr(C))]
struct Event {
    events: u32,
    data: u64,
}

unsafe extern "C" {
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(epoll: i32, operation: i32, file: i32, event: *mut Event) -> i32;
    fn epoll_wait(epoll: i32, events: *mut Event, most: i32, timeout: i32) -> i32;
}

/// Waits for the end of the standard input in `epoll_wait`, which must not fail.
fn wait() {
    let epoll = unsafe { epoll_create1(0) };
    let mut event = Event { events: 1, data: 0 };
    assert_eq!(unsafe { epoll_ctl(epoll, 1, 0, &mut event) }, 0);
    let mut byte = [0];
    loop {
        let ready = unsafe { epoll_wait(epoll, &mut event, 1, -1) };
        if ready < 0 {
            println!("epoll_wait: {}", std::io::Error::last_os_error());
            std::process::exit(9);
        }
        if std::io::stdin().read(&mut byte).unwrap() == 0 {
            return;
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    *WORLD.lock().unwrap() = Some(world());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for number in 0..300 {
        runtime.spawn(task(number));
    }
    runtime.block_on(async { tokio::task::yield_now().await });
    for _ in 0..10 {
        runtime.block_on(async { tokio::task::yield_now().await });
    }
    let end = Arc::new(Mutex::new(()));
    let guard = end.lock().unwrap();
    let (ready, is_ready) = mpsc::channel();
    let threads: Vec<_> = (0..6)
        .map(|number| {
            let (ready, end) = (ready.clone(), Arc::clone(&end));
            std::thread::spawn(move || worker(number, ready, &end))
        })
        .collect();
    for _ in 0..6 {
        is_ready.recv().unwrap();
    }
    // The threads wait for the lock soon.
    std::thread::sleep(std::time::Duration::from_millis(50));
    let stop = Arc::new(AtomicBool::new(false));
    let rounds: Arc<[AtomicU64; 3]> = Arc::default();
    RECORDS.store(false, Ordering::Relaxed);
    if arguments[1] == "churn" {
        for seed in 0..3 {
            let (stop, rounds) = (Arc::clone(&stop), Arc::clone(&rounds));
            std::thread::spawn(move || churn(seed as u64 + 1, &stop, &rounds[seed]));
        }
    }
    let table = unsafe { std::slice::from_raw_parts(TABLE.as_ptr().cast::<u8>(), size_of_val(&TABLE)) };
    std::fs::File::create(&arguments[2]).unwrap().write_all(table).unwrap();
    if arguments[1] == "dump" {
        dwell_heapdump::write(format!("{}.core", arguments[2])).unwrap();
    }
    println!("ready");
    wait();
    stop.store(true, Ordering::Relaxed);
    drop(guard);
    for thread in threads {
        thread.join().unwrap();
    }
    println!("fine {}", rounds.iter().map(|round| round.load(Ordering::Relaxed)).min().unwrap());
    std::process::exit(0);
}
