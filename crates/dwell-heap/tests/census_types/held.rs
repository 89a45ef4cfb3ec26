//! `truth MODE`: a program of which it is known who holds what.
#![allow(dead_code)]

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};

/// A ring of one value.
pub struct Own {
    me: RefCell<Option<Rc<Own>>>,
    /// Equal texts, which nobody needs to share.
    text: String,
}

/// A tree whose nodes own their parents.
pub struct Parent {
    kids: RefCell<Vec<Rc<Kid>>>,
}

pub struct Kid {
    parent: RefCell<Option<Rc<Parent>>>,
    data: [u64; 8],
}

/// A ring of four, through the values of maps.
pub struct Peer {
    peers: Mutex<HashMap<u32, Arc<Peer>>>,
}

/// A callback that captures its owner.
pub struct Widget {
    on: RefCell<Option<Box<dyn Fn() -> usize>>>,
    data: [u64; 16],
}

/// A tree whose nodes know their parents by a `Weak`.
pub struct Good {
    kids: RefCell<Vec<Rc<GoodKid>>>,
}

pub struct GoodKid {
    up: RefCell<Weak<Good>>,
}

/// Rings that a static, a thread-local variable, a local variable or a raw pointer holds.
pub struct Kept {
    other: Mutex<Option<Arc<Kept>>>,
    data: [u64; 7],
}

static ALL: Mutex<Vec<Arc<Kept>>> = Mutex::new(Vec::new());

thread_local! {
    static OF_THREAD: RefCell<Vec<Arc<Kept>>> = const { RefCell::new(Vec::new()) };
}

fn kept() -> Arc<Kept> {
    let (one, two) = (
        Arc::new(Kept { other: Mutex::default(), data: [1; 7] }),
        Arc::new(Kept { other: Mutex::default(), data: [2; 7] }),
    );
    *one.other.lock().unwrap() = Some(two.clone());
    *two.other.lock().unwrap() = Some(one.clone());
    one
}

fn leak(number: u64) {
    let own = Rc::new(Own { me: RefCell::default(), text: "a text".repeat(10) });
    *own.me.borrow_mut() = Some(own.clone());
    let parent = Rc::new(Parent { kids: RefCell::default() });
    for _ in 0..3 {
        let kid = Rc::new(Kid { parent: RefCell::new(Some(parent.clone())), data: [number; 8] });
        parent.kids.borrow_mut().push(kid);
    }
    let peers: Vec<Arc<Peer>> = (0..4).map(|_| Arc::new(Peer { peers: Mutex::default() })).collect();
    for (index, peer) in peers.iter().enumerate() {
        peer.peers.lock().unwrap().insert(1, peers[(index + 1) % 4].clone());
    }
    let widget = Rc::new(Widget { on: RefCell::default(), data: [number; 16] });
    let captured = widget.clone();
    *widget.on.borrow_mut() = Some(Box::new(move || captured.data.len()));
}

fn live() -> Vec<Rc<Good>> {
    (0..50)
        .map(|_| {
            let good = Rc::new(Good { kids: RefCell::default() });
            for _ in 0..3 {
                good.kids.borrow_mut().push(Rc::new(GoodKid { up: RefCell::new(Rc::downgrade(&good)) }));
            }
            good
        })
        .collect()
}

pub struct Doc {
    body: String,
}

pub struct Tenant {
    docs: Vec<Doc>,
    index: BTreeMap<u64, Box<[u64; 8]>>,
    plan: Arc<str>,
}

pub struct Cache {
    tenants: HashMap<String, Tenant>,
}

static CACHE: Mutex<Option<Cache>> = Mutex::new(None);
static NUMBERS: Mutex<BTreeMap<u32, Vec<u8>>> = Mutex::new(BTreeMap::new());

pub struct Big {
    body: Vec<u8>,
}

pub struct Audit {
    entry: Arc<Big>,
}

static SHARED: Mutex<Vec<Arc<Big>>> = Mutex::new(Vec::new());
static LOG: Mutex<Vec<Audit>> = Mutex::new(Vec::new());

fn tenants() {
    let plan: Arc<str> = "a plan that all tenants share".repeat(1000).into();
    let mut cache = Cache { tenants: HashMap::new() };
    for number in 0..100_u64 {
        let many = if number == 42 { 10_000 } else { 10 };
        let docs = (0..many).map(|doc| Doc { body: format!("{doc:0100}") }).collect();
        let index = (0..many).map(|doc| (doc, Box::new([doc; 8]))).collect();
        cache.tenants.insert(format!("tenant {number}"), Tenant { docs, index, plan: plan.clone() });
        let size = if number == 3 { 100_000 } else { 10 };
        NUMBERS.lock().unwrap().insert(number as u32, vec![1; size]);
    }
    *CACHE.lock().unwrap() = Some(cache);
    for number in 0..500 {
        let big = Arc::new(Big { body: vec![number as u8; 1000] });
        LOG.lock().unwrap().push(Audit { entry: big.clone() });
        if number % 2 == 0 {
            SHARED.lock().unwrap().push(big);
        }
    }
}

/// Values whose fields have a better type.
pub struct Boxed {
    pub attrs: Box<BTreeMap<u32, u64>>,
    pub seldom: Option<[u64; 12]>,
    pub shared: Vec<
        // The type is on several lines.
        Option<[u64; 12]>,
    >,
    pub code: String,
}

mod inner {
    /// Another type of this name.
    pub struct Boxed {
        pub code: Vec<u8>,
    }
}

fn boxes() -> (Vec<Boxed>, Vec<inner::Boxed>) {
    let large = |i: u64| u64::MAX - i;
    let boxed = |i: u64| Boxed {
        attrs: Box::new([(i as u32, large(i))].into()),
        seldom: (i % 50 == 0).then(|| [large(i); 12]),
        shared: (0..2).map(|k| (i % 40 == k).then(|| [large(i); 12])).collect(),
        code: ["one of a few codes, as text", "another one of them, longer"][i as usize % 2].into(),
    };
    ((0..2000).map(boxed).collect(), (0..10).map(|i| inner::Boxed { code: vec![i; 9] }).collect())
}

pub struct Conn {
    id: u64,
    peer: String,
}

struct Never;

impl std::future::Future for Never {
    type Output = ();
    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        std::task::Poll::Pending
    }
}

async fn handle(conn: Conn) -> u64 {
    Never.await;
    conn.id + conn.peer.len() as u64
}

async fn outer(conn: Conn) -> u64 {
    let inner = handle(conn);
    inner.await
}

pub struct Tasks {
    all: Vec<std::pin::Pin<Box<dyn std::future::Future<Output = u64>>>>,
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("rings") => {
            (0..100).for_each(leak);
            std::mem::forget(black_box(live()));
        }
        Some("kept") => {
            ALL.lock().unwrap().push(kept());
            OF_THREAD.with_borrow_mut(|all| all.push(kept()));
            black_box(Arc::into_raw(kept()));
            let local = kept();
            black_box(&local);
            // The peak is here, while the local variable holds its ring.
            let last = black_box(vec![1_u8; 1_000_000]);
            println!("{}", local.data.len() + last.len());
        }
        Some("tenants") => tenants(),
        Some("boxes") => drop(Box::leak(black_box(Box::new(boxes())))),
        Some("moved") => {
            let mut tasks = Tasks { all: Vec::new() };
            for id in 0..100 {
                let conn = Conn { id, peer: format!("the peer {id:030}") };
                let mut task: std::pin::Pin<Box<dyn std::future::Future<Output = u64>>> = Box::pin(outer(conn));
                let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(task.as_mut().poll(&mut context).is_pending());
                tasks.all.push(task);
            }
            Box::leak(black_box(Box::new(tasks)));
        }
        _ => std::process::exit(2),
    }
}
