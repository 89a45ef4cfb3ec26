//! `crates MODE`: a program with a known number of values of third-party types on its heap.

use bytes::{Bytes, BytesMut};
use compact_str::CompactString;
use dwell::slab::Slot;
use dwell::sparse::{SortedMap, ThinSlice, ThinStr};
use dwell::{Bump, SmallBox, Sparse, bump, small_box};
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::time::Duration;

trait Shape {
    fn area(&self) -> u64;
}
struct Square(u64);
struct Polygon([u64; 8]);
impl Shape for Square {
    fn area(&self) -> u64 {
        self.0 * self.0
    }
}
impl Shape for Polygon {
    fn area(&self) -> u64 {
        self.0[0]
    }
}

struct Node {
    name: String,
}
struct Leaf {
    boxed: Box<u8>,
}

struct Owner {
    small: Vec<SmallVec<[u32; 4]>>,
    nested: SmallVec<[String; 2]>,
    compact: Vec<CompactString>,
    bytes: Vec<Bytes>,
    shared: Vec<Bytes>,
    buffer: BytesMut,
    entries: slab::Slab<String>,
    shapes: Vec<SmallBox<dyn Shape>>,
    sparse: Vec<Sparse<Vec<String>>>,
    thin: Vec<ThinStr>,
    slices: Vec<ThinSlice<u16>>,
    sorted: SortedMap<u32, String>,
    slots: Vec<Slot<Node>>,
    leaves: bump::Vec<'static, Leaf>,
    borrowed: &'static Leaf,
}

fn text(value: &str) -> String {
    value.to_owned()
}

fn owner() -> Owner {
    let mut entries = slab::Slab::new();
    let keys: Vec<usize> = (0..5).map(|i| entries.insert(format!("entry {i}"))).collect();
    entries.remove(keys[1]);
    entries.remove(keys[3]);
    let mut shapes: Vec<SmallBox<dyn Shape>> = Vec::new();
    (0..10).for_each(|i| shapes.push(small_box!(Square(i))));
    (0..6).for_each(|i| shapes.push(small_box!(Polygon([i; 8]))));
    let nodes: &'static dwell::Slab<Node> = Box::leak(Box::new(dwell::Slab::new()));
    let arena: &'static Bump = Box::leak(Box::new(Bump::new()));
    let mut leaves = bump::Vec::new_in(arena);
    (0..9).for_each(|i| leaves.push(Leaf { boxed: Box::new(i) }));
    let shared = Bytes::from(vec![7; 64]);
    let mut buffer = BytesMut::with_capacity(128);
    buffer.extend_from_slice(b"five.");
    Owner {
        small: (0..100)
            .map(|i| if i < 60 { SmallVec::from_slice(&[i; 3]) } else { SmallVec::from_vec(vec![i; 10]) })
            .collect(),
        nested: SmallVec::from_buf([text("one"), text("two")]),
        compact: (0..50).map(|i| CompactString::new(if i < 30 { "short" } else { "a text of more than twenty-four bytes" })).collect(),
        bytes: (0..10).map(|i| Bytes::from(vec![i; 100])).collect(),
        shared: vec![shared.clone(), shared.slice(3..9), shared],
        buffer,
        entries,
        shapes,
        sparse: (0..20).map(|i| Sparse::new(if i % 5 == 0 { vec![text("sparse")] } else { Vec::new() })).collect(),
        thin: (0..30).map(|_| ThinStr::from("thin text")).collect(),
        slices: (0..5).map(|i| ThinSlice::from([i, i, i])).collect(),
        sorted: (0..7).map(|i| (i, format!("value {i}"))).collect(),
        slots: (0..12).map(|i| nodes.insert(Node { name: format!("node {i}") })).collect(),
        leaves,
        borrowed: arena.alloc(Leaf { boxed: Box::new(1) }),
    }
}

async fn asleep(number: u64) -> u64 {
    let held = vec![number; 4];
    tokio::time::sleep(Duration::from_secs(3600)).await;
    held[0]
}

async fn listening(heard: tokio::sync::oneshot::Receiver<String>) -> usize {
    let text = heard.await;
    text.map_or(0, |text| text.len())
}

struct Config {
    name: String,
}

enum Outcome {
    Done(u64),
    Failed { reason: String, trace: [u64; 12] },
}

struct Record {
    user: String,
    config: Arc<Config>,
    outcome: Outcome,
}

type Records = Arc<Mutex<HashMap<String, Vec<Record>>>>;

/// Adds 500 records, and waits for ever.
async fn serve(records: Records, config: Arc<Config>, number: u64) {
    for i in 0..500 {
        let user = format!("this is user {:06}", i % 40);
        let trace = [i; 12];
        let outcome =
            if i % 100 == 0 { Outcome::Failed { reason: text("timeout"), trace } } else { Outcome::Done(number) };
        let record = Record { user: user.clone(), config: config.clone(), outcome };
        records.lock().unwrap().entry(user).or_default().push(record);
    }
    std::future::pending::<()>().await;
}

fn service() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (records, config) = (Records::default(), Arc::new(Config { name: text("this is a configuration") }));
    (0..4).for_each(|number| drop(runtime.spawn(serve(records.clone(), config.clone(), number))));
    runtime.block_on(async { tokio::task::yield_now().await });
    let used: usize = records.lock().unwrap().values().flatten().map(|record| record.user.len() + record.config.name.len()).sum();
    black_box(used);
    let records_of = records.lock().unwrap();
    let failed = records_of.values().flatten().filter(|record| match &record.outcome {
        Outcome::Failed { reason, trace } => reason.len() as u64 + trace[0] > 0,
        Outcome::Done(number) => *number > 3,
    });
    black_box(failed.count());
    drop(records_of);
    Box::leak(black_box(Box::new((runtime, records, config))));
}

struct Message {
    text: String,
}

/// Waits, with its state in local variables, while another thread has the peak.
async fn state() -> usize {
    let message = |number: u32| Message { text: format!("this is message {number:06}") };
    let sessions: Vec<Message> = (0..200).map(message).collect();
    let mut queue = VecDeque::new();
    (0..300).for_each(|number| queue.push_back(message(number)));
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(700));
        drop(black_box(vec![1_u8; 4 << 20]));
        sender.send(()).unwrap();
    });
    receiver.await.unwrap();
    thread.join().unwrap();
    sessions.iter().chain(&queue).map(|message| message.text.len()).sum()
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("block_on") => {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            println!("{}", runtime.block_on(async { state().await }));
        }
        Some("types") => {
            let owner = Box::leak(black_box(Box::new(owner())));
            // Uses all fields, so that the optimiser keeps their types.
            black_box((&owner.borrowed.boxed, owner.shapes[0].area(), &owner.slots[0].name, &owner.leaves[0].boxed));
        }
        Some("tasks") => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            let mut senders = Vec::new();
            runtime.block_on(async {
                (0..30).for_each(|i| drop(tokio::spawn(asleep(i))));
                for _ in 0..10 {
                    let (sender, receiver) = tokio::sync::oneshot::channel();
                    senders.push(sender);
                    drop(tokio::spawn(listening(receiver)));
                }
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
            });
            Box::leak(black_box(Box::new((runtime, senders))));
        }
        Some("service") => service(),
        _ => std::process::exit(2),
    }
}
