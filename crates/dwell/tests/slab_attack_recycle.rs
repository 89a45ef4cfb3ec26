//! Attempts to break pools with safe code and an allocator that hands the last chunk that was given back to the next pool that asks for
//! one, of whichever thread, and finds writes to it in between.
#![cfg(feature = "std")]

use dwell::slab::{Pool, PoolArc, PoolArcWeak, PoolRc, PoolRcWeak, Pooled, trim};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::{hint, thread};

/// The alignment of chunks, which nothing else in these tests has.
const CHUNK: usize = 64 * 1024;

/// What a chunk has in it while no pool has it.
const POISON: u8 = 0xA5;

const MOST: usize = 256;

/// The chunks that were given back, the last one at the end.
struct Recycler {
    locked: AtomicBool,
    // Invariant: used only by the thread that has set `locked`.
    chunks: UnsafeCell<([(usize, *mut u8); MOST], usize)>,
}

// SAFETY: by the invariant of `chunks` one thread at a time uses it. The addresses are those of blocks that nothing else uses.
unsafe impl Sync for Recycler {}

/// The number of chunks that were handed out again.
static AGAIN: AtomicUsize = AtomicUsize::new(0);

impl Recycler {
    fn locked<R>(&self, f: impl FnOnce(&mut [(usize, *mut u8); MOST], &mut usize) -> R) -> R {
        while self.locked.swap(true, Ordering::Acquire) {
            hint::spin_loop();
        }
        // SAFETY: this thread has set `locked`, and clears it after the last use.
        let (chunks, len) = unsafe { &mut *self.chunks.get() };
        let result = f(chunks, len);
        self.locked.store(false, Ordering::Release);
        result
    }
}

// SAFETY: each block is `System`'s. One of the alignment of a chunk that was freed is handed out again for the same layout, or freed.
unsafe impl GlobalAlloc for Recycler {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() != CHUNK {
            // SAFETY: the contract of this method is that of `System::alloc`.
            return unsafe { System.alloc(layout) };
        }
        let found = self.locked(|chunks, len| {
            let at = chunks[..*len].iter().rposition(|(size, _)| *size == layout.size())?;
            let block = chunks[at].1;
            chunks.copy_within(at + 1..*len, at);
            *len -= 1;
            Some(block)
        });
        let Some(block) = found else {
            // SAFETY: the contract of this method is that of `System::alloc`.
            return unsafe { System.alloc(layout) };
        };
        AGAIN.fetch_add(1, Ordering::Relaxed);
        let step = if cfg!(miri) { 509 } else { 1 };
        for at in (0..layout.size()).step_by(step) {
            // SAFETY: the block has this size.
            let byte = unsafe { block.add(at) };
            // SAFETY: the block was filled when it was freed, and is in no list any more.
            if unsafe { byte.read() } != POISON {
                eprintln!("byte {at} of a chunk of {} bytes was written to after it was given back", layout.size());
                std::process::abort();
            }
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.align() == CHUNK {
            // SAFETY: the caller gives the block back, which has this size.
            unsafe { block.write_bytes(POISON, layout.size()) };
            let is_kept = self.locked(|chunks, len| {
                let is_kept = *len < MOST;
                if is_kept {
                    chunks[*len] = (layout.size(), block);
                    *len += 1;
                }
                is_kept
            });
            if is_kept {
                return;
            }
        }
        // SAFETY: all blocks are `System`'s, and the contract of this method is that of `System::dealloc`.
        unsafe { System.dealloc(block, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Recycler =
    Recycler { locked: AtomicBool::new(false), chunks: UnsafeCell::new(([(0, std::ptr::null_mut()); MOST], 0)) };

/// A value of 2 KiB, so that a few are as many bytes as a pool gives back.
type Words = [u64; 250];

const MANY: u64 = if cfg!(miri) { 80 } else { 1_000 };

fn is_whole(words: &[u64], n: u64) -> bool {
    words.iter().step_by(if cfg!(miri) { 83 } else { 1 }).all(|&word| word == n)
}

/// Fills the pool with values of two classes, and gives them back.
fn spike(n: u64) {
    let words: Vec<_> = (0..MANY).map(|_| Pooled::new([n; 250])).collect();
    let small: Vec<_> = (0..MANY).map(|_| Pooled::new([n; 5])).collect();
    drop((words, small));
    trim();
}

/// Weak pointers keep their chunk while all others are given back and used by pools of other classes.
#[test]
fn a_weak_pointer_keeps_its_chunk() {
    let mut kept: Vec<(PoolRcWeak<Words>, PoolRc<[u64; 5]>, u64)> = Vec::new();
    for n in 0..if cfg!(miri) { 3 } else { 20 } {
        let values: Vec<PoolRc<Words>> = (0..MANY).map(|_| PoolRc::new([n; 250])).collect();
        let weak = PoolRc::downgrade(&values[values.len() / 2]);
        assert!(is_whole(&*weak.upgrade().unwrap(), n));
        drop(values);
        trim();
        spike(n + 100);
        kept.push((weak, PoolRc::new([n; 5]), n));
        for (weak, small, n) in &kept {
            assert!(weak.upgrade().is_none() && weak.strong_count() == 0 && **small == [*n; 5]);
        }
        if n % 3 == 2 {
            kept.swap_remove(0);
            trim();
        }
    }
}

/// A pool of one's own ends, and its chunks are another pool's, while values and weak pointers of it live on.
#[test]
fn chunks_of_a_pool_that_ended_are_another_pools() {
    let mut kept = Vec::new();
    for n in 0..if cfg!(miri) { 3 } else { 20 } {
        let (old, new) = (Pool::new(), Pool::new());
        let mut values: Vec<_> = (0..MANY).map(|at| old.insert([n ^ at; 250])).collect();
        let survivor = values.swap_remove(usize::try_from(MANY / 3).unwrap());
        let counted = PoolArc::new_in([n; 250], &old);
        let weak = PoolArc::downgrade(&counted);
        drop((values, counted, old));
        let others: Vec<_> = (0..MANY).map(|at| new.insert([at; 250])).collect();
        kept.push((survivor, n ^ (MANY / 3), weak));
        drop(new);
        for (survivor, n, weak) in &kept {
            assert!(is_whole(&**survivor, *n) && weak.upgrade().is_none());
        }
        assert!(others.iter().zip(0..).all(|(words, at)| is_whole(&**words, at)));
    }
    assert!(AGAIN.load(Ordering::Relaxed) > 0, "no chunk was handed out again");
}

/// What threads send to each other.
enum Sent {
    Strong(PoolArc<Words>, u64),
    Weak(PoolArcWeak<Words>, u64),
    Owned(Pooled<[u64; 5]>, u64),
    Large(Pooled<Words>, u64),
}

impl Sent {
    fn check(&self) {
        match self {
            Self::Strong(words, n) => assert!(is_whole(&**words, *n)),
            Self::Weak(weak, n) => assert!(weak.upgrade().is_none_or(|words| is_whole(&*words, *n))),
            Self::Owned(words, n) => assert_eq!(**words, [*n; 5]),
            Self::Large(words, n) => assert!(is_whole(&**words, *n)),
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A thread makes values, keeps some of those that it gets, sends others on, trims, and ends while others have its values.
fn wander(seed: u64, inbox: &Mutex<Receiver<Sent>>, others: &Sender<Sent>) {
    let mut random = Random(seed);
    let mut held: Vec<Sent> = Vec::new();
    for step in 0..if cfg!(miri) { 60 } else { 600 } {
        let n = seed << 32 | step;
        let new = match random.below(6) {
            0 | 1 => {
                let words = PoolArc::new([n; 250]);
                held.push(Sent::Weak(PoolArc::downgrade(&words), n));
                Sent::Strong(words, n)
            }
            2 => Sent::Owned(Pooled::new([n; 5]), n),
            3 => Sent::Large(Pooled::new([n; 250]), n),
            _ => match inbox.lock().unwrap().try_recv() {
                Ok(sent) => sent,
                Err(_) => continue,
            },
        };
        new.check();
        held.push(new);
        let at = random.below(held.len());
        let one = held.swap_remove(at);
        one.check();
        match random.below(4) {
            0 => drop(one),
            1 => {
                if let Sent::Weak(weak, n) = &one
                    && let Some(strong) = weak.upgrade()
                {
                    held.push(Sent::Strong(strong, *n));
                }
                held.push(one);
            }
            _ => drop(others.send(one)),
        }
        if random.below(40) == 0 {
            let end = random.below(held.len() + 1);
            held.drain(..end).for_each(|one| one.check());
            trim();
        }
        if step % 300 == 299 {
            spike(n);
        }
    }
    held.iter().for_each(Sent::check);
}

/// Strong and weak pointers and values go from thread to thread, and threads end, while chunks go from pool to pool.
#[test]
fn values_wander_while_chunks_do() {
    let (send, get) = mpsc::channel();
    let get = Mutex::new(get);
    for round in 0..if cfg!(miri) { 2 } else { 6 } {
        thread::scope(|threads| {
            for seed in 1..=3 {
                let (send, get) = (send.clone(), &get);
                threads.spawn(move || wander(round * 3 + seed, get, &send));
            }
        });
        wander(100 + round, &get, &send);
    }
    drop(send);
    get.into_inner().unwrap().iter().for_each(|one| one.check());
}
