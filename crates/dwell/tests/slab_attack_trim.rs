//! Attempts to break pools that give memory back, with safe code: destructors that trim, panic and insert, threads that end in every
//! order, and cells that are handed out again.

use dwell::slab::{Pool, PoolArc, PoolRc, PoolRcWeak, Pooled, trim};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::mpsc;
use std::{ptr, thread};

/// A value of 2 KiB, so that a few are as many bytes as a pool gives back.
type Words = [u64; 250];

const MANY: usize = if cfg!(miri) { 150 } else { 3_000 };

fn is_whole(words: &Words, n: u64) -> bool {
    words.iter().step_by(if cfg!(miri) { 83 } else { 1 }).all(|&word| word == n)
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

thread_local! {
    static DROPPED: Cell<usize> = const { Cell::new(0) };
    static LATER: RefCell<Vec<Pooled<Angry>>> = const { RefCell::new(Vec::new()) };
}

/// Its destructor trims, inserts, or panics, by its number.
struct Angry(u64, Words);

impl Angry {
    fn new(n: u64) -> Self {
        Self(n, [n; 250])
    }
}

impl Drop for Angry {
    fn drop(&mut self) {
        assert!(is_whole(&self.1, self.0), "{} was overwritten", self.0);
        DROPPED.set(DROPPED.get() + 1);
        if self.0.is_multiple_of(13) {
            trim();
        }
        if self.0.is_multiple_of(5) {
            LATER.with_borrow_mut(|later| later.push(Pooled::new(Self::new(1))));
        }
        // Not a panic, whose message would be printed.
        if self.0.is_multiple_of(7) {
            resume_unwind(Box::new(self.0));
        }
    }
}

/// The pool gives chunks back while destructors panic, trim it, and insert values of the same size.
#[test]
fn destructors_trim_insert_and_panic() {
    let mut random = Random(1);
    for round in 0..2 {
        let mut values: Vec<_> = (2..MANY as u64).map(|n| Pooled::new(Angry::new(n))).collect();
        let kept = values.split_off(MANY - 10);
        let (mut made, mut panics) = (values.len(), 0);
        while !values.is_empty() {
            let value = values.swap_remove(random.below(values.len()));
            panics += u32::from(catch_unwind(AssertUnwindSafe(|| drop(value))).is_err());
        }
        trim();
        let later = LATER.take();
        made += later.len();
        assert!(panics > 10 && later.len() > 10);
        drop(later);
        assert!(kept.iter().all(|value| is_whole(&value.1, value.0)), "round {round}");
        assert_eq!(DROPPED.take(), made);
        for value in kept {
            drop(catch_unwind(AssertUnwindSafe(|| drop(value))));
        }
        drop(LATER.take());
        DROPPED.take();
        trim();
    }
}

/// A counted value whose destructor panics is dropped once, and its cell stays for the weak pointers.
#[test]
fn counted_destructors_panic_while_weak_pointers_stay() {
    let mut weak = Vec::new();
    for n in 2..MANY as u64 {
        let value = PoolRc::new(Angry::new(n));
        weak.push(PoolRc::downgrade(&value));
        let panicked = catch_unwind(AssertUnwindSafe(|| drop(value))).is_err();
        assert_eq!(panicked, n.is_multiple_of(7));
    }
    trim();
    assert!(weak.iter().all(|weak| weak.upgrade().is_none() && weak.strong_count() == 0));
    drop(LATER.take());
    assert_eq!(DROPPED.take(), MANY - 2 + (2..MANY).filter(|n| n.is_multiple_of(5)).count());
}

/// What a cell is used for.
enum Held {
    Owned(Pooled<Words>, u64),
    Small(Pooled<[u64; 5]>, u64),
    Counted(PoolRc<Words>, u64),
    /// Its value was dropped, but the cell is not free.
    Weak(PoolRcWeak<Words>),
}

impl Held {
    fn check(&self) {
        match self {
            Self::Owned(words, n) => assert!(is_whole(words, *n)),
            Self::Counted(words, n) => assert!(is_whole(words, *n)),
            Self::Small(words, n) => assert_eq!(**words, [*n; 5]),
            Self::Weak(weak) => assert!(weak.upgrade().is_none()),
        }
    }
}

/// No cell is handed out while it is in use, be it only by a weak pointer: ranges of addresses are compared, and values are dropped here and
/// elsewhere, in bursts, with trims in between.
#[test]
fn cells_in_use_are_never_handed_out_again() {
    let mut random = Random(7);
    let mut all: Vec<(usize, Held)> = Vec::new();
    let mut ranges: BTreeMap<usize, usize> = BTreeMap::new();
    let insert = |ranges: &mut BTreeMap<usize, usize>, all: &mut Vec<(usize, Held)>, random: &mut Random, n: u64| {
        let (held, start, size) = match random.below(4) {
            0 => {
                let value = Pooled::new([n; 5]);
                let at = value.as_ptr().addr();
                (Held::Small(value, n), at, 40)
            }
            1 => {
                let value = Pooled::new([n; 250]);
                let at = value.as_ptr().addr();
                (Held::Owned(value, n), at, 2000)
            }
            kind => {
                let value = PoolRc::new([n; 250]);
                let at = PoolRc::as_ptr(&value).addr();
                let weak = PoolRc::downgrade(&value);
                (if kind == 2 { Held::Counted(value, n) } else { Held::Weak(weak) }, at, 2000)
            }
        };
        let before = ranges.range(..start + size).next_back();
        assert!(before.is_none_or(|(at, len)| at + len <= start), "{start:x} is in use");
        ranges.insert(start, size);
        all.push((start, held));
    };
    let mut n = 0;
    for burst in 0..if cfg!(miri) { 6 } else { 60 } {
        for _ in 0..random.below(MANY) {
            n += 1;
            insert(&mut ranges, &mut all, &mut random, n);
        }
        let mut elsewhere = Vec::new();
        for _ in 0..random.below(all.len() + 1) {
            let (start, held) = all.swap_remove(random.below(all.len()));
            held.check();
            ranges.remove(&start);
            match held {
                Held::Owned(words, _) if burst % 3 == 1 => elsewhere.push(words),
                held => drop(held),
            }
            if random.below(400) == 0 {
                trim();
            }
        }
        thread::spawn(move || drop(elsewhere)).join().unwrap();
        if burst % 4 == 3 {
            trim();
        }
    }
    for (_, held) in &all {
        held.check();
    }
}

thread_local! {
    static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Last>> = const { RefCell::new(None) };
    static THIRD: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// What a thread-local variable holds when its thread ends. Its destructor uses the pool, which may have ended before.
struct Last {
    owned: Vec<Pooled<Words>>,
    shared: PoolArc<Words>,
    counted: PoolRc<Words>,
    weak: PoolRcWeak<Words>,
    send: mpsc::Sender<(PoolArc<Words>, Pooled<Words>)>,
}

impl Drop for Last {
    fn drop(&mut self) {
        assert!(self.owned.iter().all(|words| is_whole(words, 3)) && is_whole(&self.shared, 4));
        drop(self.owned.split_off(self.owned.len() / 2));
        trim();
        let again = self.weak.upgrade().expect("`counted` lives");
        assert!(ptr::eq(&raw const *again, &raw const *self.counted));
        self.counted = PoolRc::new([6; 250]);
        drop(again);
        assert!(self.weak.upgrade().is_none());
        trim();
        let new = Pooled::new([7; 250]);
        assert!(is_whole(&new, 7) && is_whole(&self.counted, 6));
        let _ = self.send.send((self.shared.clone(), new));
    }
}

/// Thread-local variables are made before and after the pool, in every order, and trim, upgrade and insert when the thread ends. What
/// they send outlives it.
#[test]
fn pools_are_used_in_destructors_of_threads_that_end_in_every_order() {
    // 0, 1 and 2 are the variables, 3 the pool.
    for order in (0..24).step_by(if cfg!(miri) { 7 } else { 1 }) {
        let mut rest = vec![0, 1, 2, 3];
        let (mut picks, mut at) = (Vec::new(), order);
        while !rest.is_empty() {
            picks.push(rest.remove(at % rest.len()));
            at /= rest.len() + 1;
        }
        let (give, received) = mpsc::channel();
        let thread = thread::spawn(move || {
            for &pick in &picks {
                match pick {
                    0 => FIRST.with_borrow(|_| ()),
                    1 => SECOND.with_borrow(|_| ()),
                    2 => THIRD.with_borrow(|_| ()),
                    _ => drop(Pooled::new([0_u64; 250])),
                }
            }
            for slot in [&FIRST, &SECOND, &THIRD] {
                let counted = PoolRc::new([5; 250]);
                let last = Last {
                    owned: (0..if cfg!(miri) { 8 } else { 100 }).map(|_| Pooled::new([3; 250])).collect(),
                    shared: PoolArc::new([4; 250]),
                    weak: PoolRc::downgrade(&counted),
                    counted,
                    send: give.clone(),
                };
                slot.set(Some(last));
            }
        });
        thread.join().unwrap();
        let sent: Vec<_> = received.iter().collect();
        assert_eq!(sent.len(), 3, "order {order}");
        trim();
        assert!(sent.iter().all(|(shared, new)| is_whole(shared, 4) && is_whole(new, 7)));
        assert!(sent.iter().all(|(shared, _)| PoolArc::strong_count(shared) == 1));
    }
}

/// The last value of a pool owns the pool, which so ends in the middle of the drop of its own value.
#[test]
fn a_value_owns_its_pool() {
    struct Owner(Option<Rc<Pool>>, Words, Vec<Pooled<Owner>>);
    impl Drop for Owner {
        fn drop(&mut self) {
            if let Some(pool) = self.0.take() {
                pool.shrink_to_fit();
                self.2.push(pool.insert(Self(None, [8; 250], Vec::new())));
                drop(pool);
                assert!(is_whole(&self.1, 9) && is_whole(&self.2[0].1, 8));
            }
        }
    }
    for others in [0, 1, MANY] {
        let pool = Rc::new(Pool::new());
        let mut values: Vec<_> = (0..others).map(|_| pool.insert(Owner(None, [9; 250], Vec::new()))).collect();
        values.push(pool.insert(Owner(Some(Rc::clone(&pool)), [9; 250], Vec::new())));
        let ended = Rc::downgrade(&pool);
        drop(pool);
        drop(values.pop());
        assert!(ended.upgrade().is_none());
        assert!(values.iter().all(|value| is_whole(&value.1, 9)));
    }
}
