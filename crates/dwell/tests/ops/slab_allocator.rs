//! A global allocator that uses slabs itself and fails at random: it re-enters a slab that is growing. The test in
//! `slab_attack_allocator.rs` and the fuzz target share this file.
//!
//! The allocator must not panic, and its thread-local variables have no destructors.

use dwell::slab::thread::{self as module, PerThread};
use dwell::slab::{Full, Pool, Pooled, Slab, Slot, sync};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::thread::LocalKey;

struct ReEnters;

#[global_allocator]
static ALLOCATOR: ReEnters = ReEnters;

dwell::slab!(mod pairs: [u64; 2]);

const KEPT: usize = 64;

/// Storage for slots, without a destructor.
type Kept<T> = ManuallyDrop<RefCell<[Option<T>; KEPT]>>;

thread_local! {
    static RANDOM: Cell<u64> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static PAIRS: Kept<pairs::Slot> = const { ManuallyDrop::new(RefCell::new([const { None }; KEPT])) };
    static DIRECT: Kept<Slot<[u64; 2]>> = const { ManuallyDrop::new(RefCell::new([const { None }; KEPT])) };
    static SYNC: Kept<sync::Slot<[u64; 2]>> = const { ManuallyDrop::new(RefCell::new([const { None }; KEPT])) };
    static POOL: Kept<Pooled<[u64; 2]>> = const { ManuallyDrop::new(RefCell::new([const { None }; KEPT])) };
    /// Slabs that end in the middle of a program, before or after their slots.
    static OTHERS: Kept<Slabs> = const { ManuallyDrop::new(RefCell::new([const { None }; KEPT])) };
    static LIES: Kept<Lie> = const { ManuallyDrop::new(RefCell::new([const { None }; KEPT])) };
    /// The slabs that the allocator uses, or `None` while it must not use any.
    static SLABS: Cell<Option<&'static Slabs>> = const { Cell::new(None) };
    /// Whether the allocator also makes and drops slabs.
    static MAKES_SLABS: Cell<bool> = const { Cell::new(false) };
    static A: module::ThreadSlab<[u64; 2]> = const { module::ThreadSlab::new(100_000) };
    static B: module::ThreadSlab<[u64; 2]> = const { module::ThreadSlab::new(100_000) };
}

pub(crate) struct Slabs {
    direct: Slab<[u64; 2]>,
    sync: sync::Slab<[u64; 2]>,
    pool: Pool,
}

impl Slabs {
    fn try_new() -> Option<Self> {
        Some(Self { direct: Slab::try_new().ok()?, sync: sync::Slab::try_new().ok()?, pool: Pool::new() })
    }
}

/// A `Module` that returns one of two slabs at random.
struct LyingModule;

type Lie = Slot<[u64; 2], PerThread<LyingModule>>;

fn try_lie() -> Result<Lie, Full<[u64; 2]>> {
    module::try_insert::<LyingModule>(value())
}

impl module::Module for LyingModule {
    type Value = [u64; 2];
    const LIMIT: usize = 100_000;
    fn local() -> &'static LocalKey<module::ThreadSlab<[u64; 2]>> {
        if random(2) == 0 { &A } else { &B }
    }
}

fn random(below: usize) -> usize {
    let next = RANDOM.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    RANDOM.set(next);
    usize::try_from(next >> 33).unwrap_or(0) % below
}

fn take<T>(kept: &'static LocalKey<Kept<T>>, at: usize) -> Option<T> {
    kept.with(|kept| kept.try_borrow_mut().ok().and_then(|mut kept| kept[at].take()))
}

/// Stores `new`, and drops what was there.
fn put<T>(kept: &'static LocalKey<Kept<T>>, at: usize, new: Option<T>) {
    let left = kept.with(|kept| match kept.try_borrow_mut() {
        Ok(mut kept) => mem::replace(&mut kept[at], new),
        Err(_) => new,
    });
    drop(left);
}

/// Drops a random slot of `kept` and stores a new one there, if `make` returns one.
fn exchange<T>(kept: &'static LocalKey<Kept<T>>, make: impl FnOnce() -> Option<T>, words: impl Fn(&T) -> [u64; 2]) {
    let at = random(KEPT);
    let old = take(kept, at);
    if let Some(old) = &old {
        let [word, again] = words(old);
        if word != !again {
            std::process::abort(); // values overlap
        }
    }
    drop(old);
    put(kept, at, make());
}

fn value() -> [u64; 2] {
    let word = RANDOM.get();
    [word, !word]
}

/// Uses some of the slabs that the allocator has made, or drops them and makes new ones.
fn use_other_slabs() {
    let at = random(KEPT);
    let slabs = take(&OTHERS, at).filter(|_| random(4) != 0);
    let Some(slabs) = slabs else { return put(&OTHERS, at, Slabs::try_new()) };
    exchange(&DIRECT, || slabs.direct.try_insert(value()).ok(), |slot| **slot);
    exchange(&SYNC, || slabs.sync.try_insert(value()).ok(), |slot| **slot);
    exchange(&POOL, || slabs.pool.try_insert(value()).ok(), |slot| **slot);
    slabs.sync.shrink_to_fit();
    put(&OTHERS, at, Some(slabs));
}

/// Performs a few random operations.
fn run_random_operations(slabs: &'static Slabs) {
    for _ in 0..random(6) {
        if MAKES_SLABS.get() && random(4) == 0 {
            use_other_slabs();
        }
        match random(8) {
            0 | 1 => exchange(&PAIRS, || pairs::try_insert(value()).ok(), |slot| **slot),
            2 => exchange(&DIRECT, || slabs.direct.try_insert(value()).ok(), |slot| **slot),
            3 => exchange(&SYNC, || slabs.sync.try_insert(value()).ok(), |slot| **slot),
            4 => exchange(&POOL, || slabs.pool.try_insert(value()).ok(), |slot| **slot),
            5 | 6 => exchange(&LIES, || try_lie().ok(), |slot| **slot),
            _ if random(20) == 0 => {
                pairs::shrink_to_fit();
                slabs.direct.shrink_to_fit();
                slabs.sync.shrink_to_fit();
                module::shrink_to_fit::<LyingModule>();
                let _ = (pairs::try_reserve(random(3000)), slabs.direct.try_reserve(random(3000)));
            }
            _ => {}
        }
    }
}

/// Re-enters the slabs, and returns whether the next allocation fails.
fn re_enter() -> bool {
    let Some(slabs) = SLABS.get() else { return false };
    if DEPTH.get() >= 3 {
        return random(3) == 0;
    }
    DEPTH.set(DEPTH.get() + 1);
    run_random_operations(slabs);
    DEPTH.set(DEPTH.get() - 1);
    random(3) == 0
}

// SAFETY: both functions forward to `System` with the same layout, or `alloc` returns null.
unsafe impl GlobalAlloc for ReEnters {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if re_enter() {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller guarantees that the layout's size is not 0, as `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        re_enter();
        // SAFETY: the caller guarantees that `alloc` returned the block for this layout, so `System` allocated it.
        unsafe { System.dealloc(block, layout) };
    }
}

fn clear<T>(kept: &'static LocalKey<Kept<T>>) {
    for at in 0..KEPT {
        drop(kept.with(|kept| kept.borrow_mut()[at].take()));
    }
}

/// Returns slabs that are never freed, initialised before the allocator uses them.
pub(crate) fn set_up() -> &'static Slabs {
    let slabs: &'static Slabs =
        Box::leak(Box::new(Slabs { direct: Slab::new(), sync: sync::Slab::new(), pool: Pool::new() }));
    // The first insert registers the thread-exit destructor; it must not come from inside the allocator.
    drop(pairs::insert(value()));
    for _ in 0..2 {
        (0..8).for_each(|_| drop(try_lie()));
    }
    pairs::shutdown().unwrap();
    slabs
}

/// Runs one program, determined by the seed: `inserts` inserts while the allocator performs random operations.
pub(crate) fn program(slabs: &'static Slabs, seed: u64, inserts: usize) {
    RANDOM.set(seed);
    MAKES_SLABS.set(seed % 8 == 1);
    let mut held = Vec::with_capacity(2 * inserts);
    SLABS.set(Some(slabs));
    for _ in 0..inserts {
        // Holds more slots than `KEPT`, so that the slabs grow.
        if let Ok(slot) = slabs.direct.try_insert(value()) {
            held.push((Some(slot), None));
        }
        if let Ok(slot) = pairs::try_insert(value()) {
            held.push((None, Some(slot)));
        }
        drop(try_lie());
        run_random_operations(slabs);
    }
    SLABS.set(None);
    for (direct, pair) in &held {
        assert!(direct.as_deref().into_iter().chain(pair.as_deref()).all(|[word, again]| *word == !*again));
    }
    let counted = held.iter().filter(|(direct, _)| direct.is_some()).count();
    drop(held);
    assert!((inserts < 1000 || counted > 100) && slabs.direct.len() <= KEPT && pairs::len() <= KEPT, "{counted}");
}

/// Drops the slots that the allocator has kept.
pub(crate) fn clear_all(slabs: &Slabs) {
    clear(&PAIRS);
    clear(&DIRECT);
    clear(&SYNC);
    clear(&POOL);
    clear(&LIES);
    clear(&OTHERS);
    assert!(slabs.direct.is_empty() && slabs.sync.is_empty());
    // Frees the chunks too, so that a program does not depend on those before it.
    slabs.direct.shrink_to_fit();
    slabs.sync.shrink_to_fit();
    pairs::shutdown().unwrap();
}
