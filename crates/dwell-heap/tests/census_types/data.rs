// Known data. The program `truth` keeps it on its heap; the test builds the same data and measures it with
// `dwell::weigh`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::path::PathBuf;
use std::rc::{Rc, Weak};
use std::sync::{Arc, Mutex};

#[cfg_attr(test, derive(dwell::Weigh))]
pub struct Traits {
    pub numbers: [u64; 30],
    pub name: String,
}

#[cfg_attr(test, derive(dwell::Weigh))]
pub enum Kind {
    A,
    B(Vec<u8>),
    C([u64; 20]),
}

#[cfg_attr(test, derive(dwell::Weigh))]
pub struct Member {
    pub id: u64,
    pub name: String,
    pub opt: Option<Traits>,
    pub kind: Kind,
    pub flag: Option<bool>,
    pub letter: Option<Option<char>>,
    pub wide: Option<u64>,
    pub children: Vec<u32>,
    pub inner: Vec<Option<Pair>>,
}

#[cfg_attr(test, derive(dwell::Weigh))]
pub struct Pair {
    pub left: Option<Box<u16>>,
    pub right: Result<u32, String>,
}

pub trait Draw {
    fn draw(&self) -> u64;
}
pub struct Circle(pub u64, pub u64);
pub struct Dot;
impl Draw for Circle {
    fn draw(&self) -> u64 {
        self.0 + self.1
    }
}
impl Draw for Dot {
    fn draw(&self) -> u64 {
        1
    }
}
impl Draw for u32 {
    fn draw(&self) -> u64 {
        u64::from(*self)
    }
}

pub struct Tree {
    pub parent: RefCell<Weak<Tree>>,
    pub kids: RefCell<Vec<Rc<Tree>>>,
}

/// The part of the data that implements `dwell::Weigh`.
#[cfg_attr(test, derive(dwell::Weigh))]
pub struct Plain {
    pub members: Vec<Member>,
    pub map: HashMap<u64, String>,
    pub set: HashSet<u32>,
    pub ordered: BTreeMap<u32, [u64; 4]>,
    pub names: BTreeSet<String>,
    pub deque: VecDeque<Box<u64>>,
    pub list: LinkedList<String>,
    pub slices: Vec<Box<[u16]>>,
    pub heap: BinaryHeap<u64>,
    pub path: PathBuf,
    pub lock: Mutex<Vec<Option<Box<u16>>>>,
    pub boxed: Box<str>,
}

pub struct Data {
    pub plain: Plain,
    pub shapes: Vec<Box<dyn Draw>>,
    pub calls: Vec<Box<dyn Fn(u64) -> u64>>,
    pub root: Rc<Tree>,
    pub gone: Weak<u128>,
    pub texts: Vec<Arc<str>>,
    pub shared: Vec<Arc<[u32]>>,
    pub objects: Vec<Rc<dyn Draw>>,
    pub cow: Vec<std::borrow::Cow<'static, str>>,
    pub os: std::ffi::OsString,
    pub c: std::ffi::CString,
    pub weak: std::sync::Weak<[u8; 3]>,
    pub hole: std::mem::MaybeUninit<String>,
    pub left: std::vec::IntoIter<String>,
    pub once: std::sync::OnceLock<Vec<u8>>,
    pub never: std::sync::OnceLock<String>,
    pub place: Box<std::path::Path>,
    pub places: Vec<Rc<std::path::Path>>,
    pub borrowed: &'static [Note],
    pub word: &'static str,
    pub locked: Arc<Mutex<Vec<u8>>>,
}

pub struct Note {
    pub at: u64,
    pub text: String,
}

/// A ring of values that own each other.
pub struct Ring {
    pub next: Mutex<Option<Arc<Ring>>>,
    pub bytes: Vec<u8>,
}

/// Leaks a ring of `number` values with three bytes each.
pub fn leak_ring(number: usize) {
    let ring: Vec<Arc<Ring>> =
        (0..number).map(|_| Arc::new(Ring { next: Mutex::default(), bytes: vec![1; 3] })).collect();
    for (index, link) in ring.iter().enumerate() {
        *link.next.lock().unwrap() = Some(Arc::clone(&ring[(index + 1) % number]));
    }
}

pub fn members() -> Vec<Member> {
    let mut members = Vec::with_capacity(1024);
    for i in 0..1000_u64 {
        members.push(Member {
            id: i,
            name: format!("name {}", i % 10),
            opt: if i % 100 == 0 { Some(Traits { numbers: [i; 30], name: "x".repeat(20) }) } else { None },
            kind: match i % 10 {
                0..6 => Kind::A,
                6 => Kind::B(vec![1; 10]),
                _ => Kind::C([i; 20]),
            },
            flag: match i % 4 {
                0 => None,
                1 => Some(true),
                _ => Some(false),
            },
            letter: match i % 5 {
                0 => None,
                1 => Some(None),
                _ => Some(Some('y')),
            },
            wide: (i % 2 == 0).then_some(i),
            children: (0..(i % 3) as u32).collect(),
            inner: match i % 50 {
                0 => vec![
                    None,
                    Some(Pair { left: Some(Box::new(7)), right: Ok(1) }),
                    Some(Pair { left: None, right: Err("no".into()) }),
                ],
                _ => Vec::new(),
            },
        });
    }
    members
}

pub fn plain() -> Plain {
    let mut map = HashMap::new();
    (0..600).for_each(|i| drop(map.insert(i, format!("v{i}"))));
    (0..100).for_each(|i| drop(map.remove(&i)));
    let mut ordered = BTreeMap::new();
    (0..300_u32).for_each(|i| drop(ordered.insert(i, [u64::from(i); 4])));
    (0..50).for_each(|i| drop(ordered.remove(&i)));
    let mut deque = VecDeque::with_capacity(16);
    (0..12).for_each(|i| deque.push_back(Box::new(i)));
    (0..8).for_each(|_| drop(deque.pop_front()));
    (0..10).for_each(|i| deque.push_back(Box::new(i)));
    Plain {
        members: members(),
        map,
        set: (0..77).collect(),
        ordered,
        names: (0..40).map(|i| format!("n{i}")).collect(),
        deque,
        list: (0..20).map(|i| format!("l{i}")).collect(),
        slices: (0..9_u16).map(|i| (0..i).collect()).collect(),
        heap: (0..33).collect(),
        path: "/some/where/else".into(),
        lock: Mutex::new((0..50).map(|i| (i % 5 == 0).then(|| Box::new(i))).collect()),
        boxed: "boxed text".into(),
    }
}

pub fn data() -> Data {
    let mut shapes: Vec<Box<dyn Draw>> = Vec::new();
    for i in 0..30_u64 {
        shapes.push(match i % 3 {
            0 => Box::new(i as u32),
            1 => Box::new(Circle(i, i)),
            _ => Box::new(Dot),
        });
    }
    let mut calls: Vec<Box<dyn Fn(u64) -> u64>> = Vec::new();
    for i in 0..10_u64 {
        let text = format!("call {i}");
        calls.push(Box::new(move |x| x + i + text.len() as u64));
    }
    let root = Rc::new(Tree { parent: RefCell::default(), kids: RefCell::default() });
    for _ in 0..5 {
        let kid = Tree { parent: RefCell::new(Rc::downgrade(&root)), kids: RefCell::default() };
        root.kids.borrow_mut().push(Rc::new(kid));
    }
    // A cycle: the root owns itself.
    root.kids.borrow_mut().push(Rc::clone(&root));
    Data {
        plain: plain(),
        shapes,
        calls,
        root,
        gone: Rc::downgrade(&Rc::new(1_u128)),
        texts: (0..40).map(|i| Arc::from(format!("text {}", i % 4))).collect(),
        shared: (0..6_u32).map(|i| (0..=i).collect()).collect(),
        objects: (0..8_u64).map(|i| Rc::new(Circle(i, 0)) as Rc<dyn Draw>).collect(),
        cow: (0..12).map(|i| if i % 3 == 0 { format!("own {i}").into() } else { "static".into() }).collect(),
        os: "an os string".into(),
        c: c"a c string".into(),
        weak: Arc::downgrade(&Arc::new([1, 2, 3])),
        hole: std::mem::MaybeUninit::uninit(),
        left: {
            let mut left = (0..10).map(|i| format!("left {i}")).collect::<Vec<_>>().into_iter();
            left.next();
            left.nth_back(1);
            left
        },
        once: std::sync::OnceLock::from(vec![1; 21]),
        never: std::sync::OnceLock::new(),
        place: std::path::Path::new("a/place").into(),
        places: (0..3).map(|_| Rc::from(std::path::Path::new("places"))).collect(),
        borrowed: (0..3).map(|i| Note { at: i, text: "borrowed".into() }).collect::<Vec<_>>().leak(),
        word: String::from("a word").leak(),
        locked: Arc::new(Mutex::new(vec![1; 5])),
    }
}
