//! Attempts to break sweeps of pools, with safe code: values that are not finished, that run, or that have no size, and an allocator that
//! fails while memory is given back.

use dwell::pooled;
use dwell::slab::{BoxedIterExt, PoolArc, PoolArcWeak, PoolIter, PoolRc, PoolRcWeak, Pooled, trim};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::{ptr, thread};

/// A value of 2 KiB, so that a few are as many bytes as a pool gives back.
type Words = [u64; 250];

const MANY: usize = if cfg!(miri) { 150 } else { 2_000 };

fn is_whole(words: &Words, n: u64) -> bool {
    words.iter().step_by(if cfg!(miri) { 83 } else { 1 }).all(|&word| word == n)
}

/// Fills many cells and frees them, so that the pool gives memory back, and trims.
fn spike() {
    drop((0..MANY as u64).map(|n| Pooled::new([n; 250])).collect::<Vec<_>>());
    trim();
}

/// The system's allocator, which refuses on a thread that says so.
struct Failing;

thread_local! {
    static FAILS: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: each method returns what `System`'s method of the same name returns, or null, which says that there is no memory.
unsafe impl GlobalAlloc for Failing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if FAILS.get() {
            return ptr::null_mut();
        }
        // SAFETY: the contract of this method is that of `System::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if FAILS.get() {
            return ptr::null_mut();
        }
        // SAFETY: all blocks are `System`'s, and the contract of this method is that of `System::realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: all blocks are `System`'s, and the contract of this method is that of `System::dealloc`.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Failing = Failing;

/// A cell that has no value yet: while `new_cyclic` runs its closure, the pool gives memory back, the weak pointer is copied, and the
/// closure panics or not.
#[test]
fn cyclic_values_are_made_during_sweeps() {
    struct Node(Words, PoolRcWeak<Node>);
    let mut kept: Vec<PoolRc<Node>> = Vec::new();
    let mut weak: Vec<PoolRcWeak<Node>> = Vec::new();
    for n in 0..if cfg!(miri) { 12 } else { 40 } {
        let made = catch_unwind(AssertUnwindSafe(|| {
            PoolRc::new_cyclic(|own: &PoolRcWeak<Node>| {
                assert!(own.upgrade().is_none() && own.strong_count() == 0);
                weak.push(own.clone());
                if n % 4 == 0 {
                    spike();
                }
                if n % 3 == 0 {
                    // Not a panic, whose message would be printed.
                    resume_unwind(Box::new(n));
                }
                // A value of the same class, made and dropped in between.
                drop(PoolRc::new_cyclic(|_: &PoolRcWeak<Node>| Node([1; 250], PoolRcWeak::new())));
                Node([n; 250], own.clone())
            })
        }));
        assert_eq!(made.is_err(), n % 3 == 0);
        kept.extend(made);
        if n % 5 == 0 {
            trim();
        }
    }
    for node in &kept {
        assert!(is_whole(&node.0, node.0[0]) && PoolRc::ptr_eq(&node.1.upgrade().unwrap(), node));
    }
    let live = weak.iter().filter(|weak| weak.upgrade().is_some()).count();
    assert_eq!(live, kept.len());
    drop(kept);
    trim();
    assert!(weak.iter().all(|weak| weak.upgrade().is_none()));
    drop(weak);
    trim();
}

type Strong = PoolArc<dyn Whole>;
type Weak = PoolArcWeak<dyn Whole>;

trait Whole: Send + Sync {
    fn is_whole(&self) -> bool;
}

impl Whole for Words {
    fn is_whole(&self) -> bool {
        is_whole(self, self[0])
    }
}

impl Whole for [u64; 3] {
    fn is_whole(&self) -> bool {
        *self == [self[0]; 3]
    }
}

/// Weak pointers whose type lost its size are upgraded and dropped by other threads while the pool of their values is swept, ends, and its
/// last values are dropped.
#[test]
fn weak_pointers_without_a_size_outlive_their_pool() {
    let (threads, rounds) = if cfg!(miri) { (2, 2) } else { (4, 20) };
    for round in 0..rounds {
        let begin = Arc::new(Barrier::new(threads + 1));
        let (mut strong, weak): (Vec<Strong>, Vec<Weak>) = (0..MANY as u64 / 10)
            .map(|n| {
                let value: Strong = if n % 2 == 0 {
                    PoolArc::new([n; 250]).coerce(|view| view as _)
                } else {
                    PoolArc::new([n; 3]).coerce(|view| view as _)
                };
                let weak = if n % 3 == 0 {
                    let sized = PoolArc::new([n; 250]);
                    let weak = PoolArc::downgrade(&sized).coerce(|view| view as _);
                    // Its value is gone, its cell is not.
                    drop(sized);
                    weak
                } else {
                    PoolArc::downgrade(&value)
                };
                (value, weak)
            })
            .unzip();
        let others: Vec<_> = (0..threads)
            .map(|_| {
                let (weak, begin) = (weak.clone(), Arc::clone(&begin));
                thread::spawn(move || {
                    begin.wait();
                    let upgraded: Vec<_> = weak.iter().filter_map(PoolArcWeak::upgrade).collect();
                    assert!(upgraded.iter().all(|value| value.is_whole()));
                    drop(weak);
                    trim();
                })
            })
            .collect();
        drop(weak);
        begin.wait();
        strong.retain(|value| PoolArc::as_ptr(value).addr() / 64 % 3 != round % 3);
        trim();
        let rest = thread::spawn(move || {
            assert!(strong.iter().all(|value| value.is_whole()));
            strong.truncate(5);
            trim();
            strong
        });
        for thread in others {
            thread.join().unwrap();
        }
        spike();
        assert!(rest.join().unwrap().iter().all(|value| value.is_whole()));
    }
}

/// Iterators and futures in a pool give its memory back from inside: their own cells stay.
#[test]
fn values_sweep_the_pool_while_they_run() {
    fn steps(n: u64) -> PoolIter<'static, u64> {
        let words = [n; 250];
        (0..usize::try_from(n).expect("a small number"))
            .map(move |step| {
                if step == 2 {
                    spike();
                }
                words[step]
            })
            .boxed_iter()
    }
    /// Pends while it replaces futures of its own pool, and wakes.
    struct Replaces(Words, Vec<Pin<Pooled<dyn Future<Output = u64>>>>, u8);
    impl Future for Replaces {
        type Output = u64;
        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u64> {
            let n = self.0[0];
            self.1 = (0..MANY as u64 / 10)
                .map(|m| {
                    let words = [m; 250];
                    let future: Pooled<dyn Future<Output = u64>> = pooled!(async move { words[7] });
                    future.into_pin()
                })
                .collect();
            trim();
            self.1.truncate(3);
            spike();
            let all: Vec<_> = self.1.iter_mut().map(|future| future.as_mut().poll(context)).collect();
            assert!(all.iter().zip(0..).all(|(found, m)| *found == Poll::Ready(m)));
            self.2 += 1;
            assert!(is_whole(&self.0, n));
            if self.2 == 3 { Poll::Ready(n) } else { Poll::Pending }
        }
    }
    let nested: Vec<PoolIter<'static, u64>> =
        (3..8).map(|n| steps(n).flat_map(|n| if n == 5 { steps(4) } else { steps(1) }).boxed_iter()).collect();
    let sums: Vec<u64> = nested.into_iter().map(Iterator::sum).collect();
    assert_eq!(sums, [3, 4, 80, 6, 7]);
    let replaces: Pooled<dyn Future<Output = u64>> = pooled!(Replaces([11; 250], Vec::new(), 0));
    let mut future = replaces.into_pin();
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..2 {
        assert!(future.as_mut().poll(&mut context).is_pending());
        trim();
    }
    assert_eq!(pin!(future).poll(&mut context), Poll::Ready(11));
}

/// The value of a `pooled!` contains others, sweeps, and does not come to its end.
#[test]
fn unfinished_values_of_pooled_are_dropped_once() {
    thread_local!(static LIVE: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) });
    struct Counted(u64, Words);
    impl Counted {
        fn new(n: u64) -> Self {
            LIVE.with_borrow_mut(|live| live.push(n));
            Self(n, [n; 250])
        }

        fn number(&self) -> u64 {
            self.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            assert!(is_whole(&self.1, self.0));
            LIVE.with_borrow_mut(|live| {
                let at = live.iter().position(|&n| n == self.0).expect("dropped once");
                live.swap_remove(at);
            });
        }
    }
    type Job = Pooled<dyn Fn() -> u64>;
    fn job(n: u64, depth: u64) -> Job {
        let own = Counted::new(1000 * n + depth);
        pooled!({
            let inner: Option<Job> = (depth != 0).then(|| job(n, depth - 1));
            if depth == 2 && n.is_multiple_of(4) {
                spike();
            }
            if depth == 1 && n.is_multiple_of(3) {
                resume_unwind(Box::new(n));
            }
            move || own.number() + inner.as_ref().map_or(0, |inner| inner())
        })
    }
    let mut jobs = Vec::new();
    for n in 1..=if cfg!(miri) { 8 } else { 30 } {
        let made = catch_unwind(|| job(n, 3));
        assert_eq!(made.is_err(), n % 3 == 0);
        jobs.extend(made.ok().map(|job| (n, job)));
        trim();
    }
    assert_eq!(LIVE.with_borrow(Vec::len), 4 * jobs.len());
    assert!(jobs.iter().all(|(n, job)| job() == 4000 * n + 6));
    drop(jobs);
    assert_eq!(LIVE.with_borrow(Vec::len), 0);
}

/// The allocator refuses while a pool gives memory back, and while it is used after that: nothing is lost but what was refused.
#[test]
fn the_allocator_fails_while_memory_is_given_back() {
    // On a thread of its own, whose pool is new: what is refused does not depend on the tests beside this one.
    thread::spawn(|| {
        for round in 0..if cfg!(miri) { 3 } else { 10 } {
            let mut values: Vec<_> = (0..MANY as u64).map(|n| Pooled::new([n; 250])).collect();
            let mut small: Vec<_> = (0..10 * MANY as u64).map(Pooled::new).collect();
            let weak: Vec<_> = (0..20).map(|n| PoolRc::downgrade(&PoolRc::new([n; 250]))).collect();
            let mut more = Vec::with_capacity(2 * MANY);
            FAILS.set(true);
            values.retain(|value| value[0] % 50 == round);
            small.retain(|value| **value % 500 == 3);
            drop(weak);
            trim();
            let refused = loop {
                match Pooled::try_new([9; 250]) {
                    Ok(value) if more.len() < more.capacity() => more.push(value),
                    Ok(_) => break false,
                    Err(error) => break is_whole(&error.into_inner(), 9),
                }
            };
            trim();
            FAILS.set(false);
            assert!(refused, "an allocator that fails gives no chunk");
            assert!(more.iter().all(|value| is_whole(value, 9)));
            assert!(values.iter().all(|value| is_whole(value, value[0]) && value[0] % 50 == round));
            assert!(small.iter().all(|value| **value % 500 == 3));
            drop(more.split_off(more.len() / 2));
            let again: Vec<_> = (0..100).map(|n| Pooled::new([n; 250])).collect();
            assert!(again.iter().zip(0..).all(|(value, n)| is_whole(value, n)));
            trim();
        }
    })
    .join()
    .unwrap();
}
