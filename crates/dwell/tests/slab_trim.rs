//! When slabs and pools give memory back: after a spike, when a thread ends, by `trim`, and with an allocator that uses the pool
//! while it gives memory back.
#![expect(clippy::large_stack_arrays, reason = "values too large for every size class")]

use dwell::slab::{PoolArc, PoolArcWeak, PoolRc, Pooled, Slab, sync, trim};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, mpsc};
use std::thread;
use std::time::Instant;

/// Counts the bytes of large blocks that are allocated and the chunks of slabs, and uses the pool of the thread while it frees one, if asked to.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);
static CHUNKS: AtomicUsize = AtomicUsize::new(0);

/// The alignment of a chunk.
const BLOCK: usize = 64 * 1024;

thread_local! {
    static RE_ENTERS: Cell<bool> = const { Cell::new(false) };
    static INSERTS: Cell<bool> = const { Cell::new(false) };
    static KEPT: ManuallyDrop<RefCell<Option<Pooled<Cells>>>> = const { ManuallyDrop::new(RefCell::new(None)) };
}

type Cells = [u64; 250];

// SAFETY: both functions forward to `System` with the same layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(counted(layout), Ordering::Relaxed);
        CHUNKS.fetch_add(usize::from(layout.align() == BLOCK), Ordering::Relaxed);
        if layout.align() == BLOCK && INSERTS.try_with(Cell::take) == Ok(true) {
            drop(Pooled::new(7_u16));
        }
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(counted(layout), Ordering::Relaxed);
        if layout.align() == BLOCK {
            re_enter();
        }
        // SAFETY: the caller's contract is that of `System`.
        unsafe { System.dealloc(block, layout) };
    }
}

/// Returns the bytes of a block, or 0 if it is small: the threads of the test harness allocate and free small blocks meanwhile.
fn counted(layout: Layout) -> isize {
    if layout.size() < 1024 { 0 } else { layout.size().cast_signed() }
}

/// Drops a value of the pool that may be giving memory back, inserts another, and trims.
fn re_enter() {
    if RE_ENTERS.try_with(Cell::get) != Ok(true) {
        return;
    }
    let _ = KEPT.try_with(|kept| {
        if let Ok(mut kept) = kept.try_borrow_mut() {
            drop(kept.take());
            trim();
            *kept = Pooled::try_new([7; 250]).ok();
        }
    });
}

/// The tests read a counter of the process, so one runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn live() -> isize {
    LIVE.load(Ordering::Relaxed)
}

/// Returns how many bytes more are allocated after `f` than before, while its result lives.
fn growth<R>(f: impl FnOnce() -> R) -> (isize, R) {
    let before = live();
    let result = f();
    (live() - before, result)
}

/// The number of values in a spike: several chunks. Their cells have 2048 bytes.
const MANY: usize = if cfg!(miri) { 150 } else { 5_000 };
/// No chunk of a pool is larger.
const CHUNK: isize = 1024 * 1024;

fn spike() -> Vec<Pooled<Cells>> {
    (0..MANY).map(|n| Pooled::new([n as u64; 250])).collect()
}

/// Returns whether all words of a value are equal. Miri is slow, so it compares some.
fn is_whole(value: &Cells) -> bool {
    value.iter().step_by(if cfg!(miri) { 100 } else { 1 }).all(|word| *word == value[0])
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.below(end + 1));
        }
    }
}

/// A slot that outlived its thread or its slab kept all memory of its slab or size class.
#[test]
fn one_survivor_keeps_one_chunk() {
    let _alone = alone();
    fn ended<T: Send + 'static>(make: impl FnOnce() -> T + Send + 'static) -> (isize, T) {
        drop(thread::spawn(|| ()).join());
        growth(|| thread::spawn(make).join().unwrap())
    }
    let (grown, kept) = ended(|| spike().swap_remove(MANY / 2));
    assert!((2000..CHUNK + 32_768).contains(&grown), "{grown}");
    assert_eq!(kept[249], MANY as u64 / 2);
    drop(kept);
    let (grown, kept) = ended(|| (0..MANY).map(|n| PoolArc::new([n; 250])).collect::<Vec<_>>().swap_remove(MANY / 2));
    assert!((2000..CHUNK + 32_768).contains(&grown), "{grown}");
    assert_eq!(kept[249], MANY / 2);
    drop(kept);
    let (grown, kept) = growth(|| {
        let slab = sync::Slab::new();
        let mut slots: Vec<_> = (0..MANY).map(|n| slab.insert([n; 250])).collect();
        let kept = slots.swap_remove(MANY / 2);
        drop(slots);
        kept
    });
    assert!((2000..CHUNK + 32_768).contains(&grown), "{grown}");
    assert_eq!(kept[249], MANY / 2);
    drop(kept);
    let (grown, kept) = growth(|| {
        let slab = Slab::new();
        let mut slots: Vec<_> = (0..MANY).map(|n| slab.insert([n; 250])).collect();
        let kept = slots.swap_remove(MANY / 2);
        drop(slots);
        kept
    });
    assert!((2000..CHUNK + 32_768).contains(&grown), "{grown}");
    assert_eq!(kept[249], MANY / 2);
}

/// The pool of a thread kept all chunks until the thread ended.
#[test]
fn a_spike_is_given_back() {
    let _alone = alone();
    for order in 0..3 {
        // On a thread of its own, so that the rule has no history.
        let (most, left, trimmed) = thread::spawn(move || {
            let before = live();
            let mut values = spike();
            match order {
                0 => {}
                1 => values.reverse(),
                _ => Random(order).shuffle(&mut values),
            }
            assert!(values.iter().all(|value| is_whole(value)));
            let most = live() - before;
            drop(values);
            let left = live() - before;
            trim();
            (most, left, live() - before)
        })
        .join()
        .unwrap();
        assert!(most > 2000 * MANY.cast_signed(), "{most}");
        assert!(left < most / 4 + CHUNK, "order {order}: {left} of {most}");
        assert!(trimmed < 32_768, "order {order}: {trimmed}");
    }
}

/// Values that live on, among those of a spike, keep their chunks and nothing else.
#[test]
fn values_that_live_on_keep_their_chunks() {
    let _alone = alone();
    thread::spawn(|| {
        let before = live();
        let base: Vec<Pooled<Cells>> = (0..20).map(|n| Pooled::new([n; 250])).collect();
        let mut values = spike();
        Random(1).shuffle(&mut values);
        drop(values);
        trim();
        let left = live() - before;
        assert!(left < 2 * CHUNK, "{left}");
        assert!(base.iter().zip(0..).all(|(value, n)| **value == [n; 250]));
    })
    .join()
    .unwrap();
}

/// A program that fills and empties a pool in a loop does not pay for what it gives back: after a few rounds there are no
/// allocations.
#[test]
#[cfg_attr(miri, ignore = "it measures time")]
fn a_loop_keeps_its_memory() {
    let _alone = alone();
    thread::spawn(|| {
        let mut quick = 0;
        for _ in 0..20 {
            let (begun, before) = (Instant::now(), CHUNKS.load(Ordering::Relaxed));
            drop(spike());
            drop(spike());
            let chunks = CHUNKS.load(Ordering::Relaxed) - before;
            // On a machine that is too busy the rule sees a pause.
            quick = if begun.elapsed().as_millis() < 50 { quick + 1 } else { 0 };
            assert!(quick < 6 || chunks == 0, "{chunks} chunks in round {quick}");
        }
        // After a pause, use of a part of it gives the rest back.
        let before = live();
        thread::sleep(std::time::Duration::from_millis(150));
        for _ in 0..3 {
            drop((0..MANY / 8).map(|n| Pooled::new([n as u64; 250])).collect::<Vec<_>>());
        }
        assert!(live() < before / 2 || before < 4 * CHUNK, "{} of {before}", live());
    })
    .join()
    .unwrap();
}

/// Values that other threads drop are vacant when their own thread needs a cell, or trims.
#[test]
fn values_dropped_elsewhere_are_given_back() {
    let _alone = alone();
    thread::spawn(|| {
        let before = live();
        let values = spike();
        let shared: Vec<_> = (0..MANY).map(|n| PoolArc::new([n; 250])).collect();
        let other = shared.clone();
        thread::scope(|threads| {
            threads.spawn(move || drop(values));
            threads.spawn(move || drop(other));
            threads.spawn(trim);
            drop(shared);
        });
        trim();
        let left = live() - before;
        assert!(left < 32_768, "{left}");
    })
    .join()
    .unwrap();
}

/// Other threads drop values while the owner fills, empties and trims its pool.
#[test]
fn threads_drop_while_the_owner_trims() {
    let _alone = alone();
    let (send, receive) = mpsc::channel::<Pooled<Cells>>();
    let dropper = thread::spawn(move || receive.into_iter().map(|value| value[100]).sum::<u64>());
    let owner = thread::spawn(move || {
        let mut sum = 0;
        for round in 0..if cfg!(miri) { 2 } else { 20 } {
            for (n, value) in spike().into_iter().enumerate() {
                if n % 3 == 0 {
                    sum += value[100];
                    send.send(value).unwrap();
                }
            }
            if round % 2 == 0 {
                trim();
            }
        }
        sum
    });
    assert_eq!(owner.join().unwrap(), dropper.join().unwrap());
}

/// Other threads upgrade weak pointers while the owner of the pool drops the values, trims and ends. Each value is dropped once, and
/// its cell is freed after its last weak pointer.
#[test]
fn weak_pointers_race_with_drops_and_trims() {
    struct Value(Cells, mpsc::Sender<u64>);
    impl Drop for Value {
        fn drop(&mut self) {
            let _ = self.1.send(self.0[249]);
        }
    }
    let _alone = alone();
    let count: u64 = if cfg!(miri) { 12 } else { 3000 };
    for _ in 0..if cfg!(miri) { 1 } else { 10 } {
        let before = live();
        let (send, dropped) = mpsc::channel();
        let (give, weak) = mpsc::channel::<Vec<PoolArcWeak<Value>>>();
        let owner = thread::spawn(move || {
            let values: Vec<_> = (0..count).map(|n| PoolArc::new(Value([n; 250], send.clone()))).collect();
            for _ in 0..3 {
                give.send(values.iter().map(PoolArc::downgrade).collect()).unwrap();
            }
            drop(give);
            for (n, value) in values.into_iter().enumerate() {
                drop(value);
                if n % 500 == 7 {
                    trim();
                }
            }
            trim();
        });
        let upgraders: Vec<_> = (0..2)
            .map(|_| {
                let weak = weak.recv().unwrap();
                thread::spawn(move || {
                    let held = weak.iter().zip(0..).filter_map(|(weak, n)| {
                        let value = weak.upgrade()?;
                        assert!(value.0[0] == n && value.0[249] == n);
                        (n % 4 == 0).then_some(value)
                    });
                    drop(held.collect::<Vec<_>>());
                    trim();
                    weak
                })
            })
            .collect();
        let rest = weak.recv().unwrap();
        owner.join().unwrap();
        let others: Vec<_> = upgraders.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(rest.iter().chain(others.iter().flatten()).all(|weak| weak.upgrade().is_none()));
        let mut numbers: Vec<u64> = dropped.try_iter().collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..count));
        drop((rest, others));
        assert!(live() - before < 32_768, "{}", live() - before);
    }
}

/// Compares a pool with a plain vector: values of four size classes are inserted and dropped in bursts, in any order, and trimmed.
#[test]
fn model() {
    let _alone = alone();
    fn check<const N: usize>(random: &mut Random, values: &mut Vec<(u64, Pooled<[u64; N]>)>, burst: usize) {
        if random.below(2) == 0 {
            for _ in 0..random.below(burst) {
                let fill = random.0;
                values.push((fill, Pooled::new([fill; N])));
            }
        } else {
            let mut left = random.below(values.len() + 1);
            if random.below(3) == 0 {
                left = left.min(3);
            }
            if random.below(2) == 0 {
                random.shuffle(values);
            }
            for (fill, value) in values.drain(left..) {
                assert!(value[0] == fill && value[N - 1] == fill);
            }
        }
        for (fill, value) in values {
            assert!(value[0] == *fill && value[N - 1] == *fill);
        }
    }
    for seed in 0..if cfg!(miri) { 1 } else { 10 } {
        thread::spawn(move || {
            let mut random = Random(seed);
            let before = live();
            let (mut small, mut line, mut page) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..if cfg!(miri) { 12 } else { 60 } {
                check::<1>(&mut random, &mut small, MANY);
                check::<8>(&mut random, &mut line, MANY);
                check::<512>(&mut random, &mut page, if cfg!(miri) { 200 } else { 2000 });
                if random.below(8) == 0 {
                    trim();
                }
            }
            drop((small, line, page));
            trim();
            let left = live() - before;
            assert!(left < 32_768, "{left}");
        })
        .join()
        .unwrap();
    }
}

/// The allocator drops and inserts values, and trims, while the pool frees chunks: in a drop, in an insert, in `trim`, and when the
/// thread ends.
#[test]
fn the_allocator_uses_the_pool_that_gives_memory_back() {
    let _alone = alone();
    let grown = growth(|| {
        for seed in 0..if cfg!(miri) { 2 } else { 10 } {
            let kept = thread::spawn(move || {
                let mut random = Random(seed);
                RE_ENTERS.set(true);
                let mut kept = Vec::new();
                for _ in 0..if cfg!(miri) { 2 } else { 8 } {
                    let mut values = spike();
                    random.shuffle(&mut values);
                    let chance = 1 + random.below(40);
                    for value in values {
                        if random.below(chance) == 7 {
                            kept.push(value);
                        }
                    }
                    trim();
                    random.shuffle(&mut kept);
                    kept.truncate(10);
                }
                assert!(kept.iter().all(|value| is_whole(value)));
                // It has no destructor: Miri or a sanitizer would find a leak.
                if cfg!(miri) || std::env::var("RUSTFLAGS").is_ok_and(|flags| flags.contains("sanitizer")) {
                    RE_ENTERS.set(false);
                    KEPT.with(|kept| drop(kept.take()));
                }
                kept
            })
            .join()
            .unwrap();
            assert!(kept.iter().all(|value| is_whole(value)));
        }
    })
    .0;
    // The value that the allocator keeps has no destructor.
    assert!(grown < 20 * (CHUNK + 32_768), "{grown}");
}

/// `trim` in a value's constructor and destructor, in one that unwinds, and when the thread has ended its pool.
#[test]
fn trim_where_a_cell_has_no_value() {
    let _alone = alone();
    struct Trims(u64);
    impl Drop for Trims {
        fn drop(&mut self) {
            trim();
            drop(Pooled::new([self.0; 3]));
            trim();
        }
    }
    struct Late(RefCell<Vec<Pooled<Trims>>>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.get_mut().push(Pooled::new(Trims(1)));
            trim();
            self.0.get_mut().clear();
            trim();
        }
    }
    thread_local!(static LATE: Late = const { Late(RefCell::new(Vec::new())) });
    thread::spawn(|| {
        LATE.with(|late| late.0.borrow_mut().push(Pooled::new(Trims(0))));
        let made = Pooled::new_with(|| {
            trim();
            let value = Trims(**Pooled::new(Pooled::new(3)));
            trim();
            value
        });
        assert_eq!(made.0, 3);
        drop(made);
        let unwound = std::panic::catch_unwind(|| {
            Pooled::new_with(|| -> Trims {
                trim();
                std::panic::resume_unwind(Box::new(1))
            })
        });
        assert!(unwound.is_err());
        let counted = PoolRc::new(Trims(4));
        let weak = PoolRc::downgrade(&counted);
        drop(counted);
        trim();
        assert!(weak.upgrade().is_none());
    })
    .join()
    .unwrap();
}

/// Values above two pages took blocks at multiples of 64 KiB: 64 MB for a thousand values of 20,000 bytes.
#[test]
fn large_values_take_what_a_box_takes() {
    let _alone = alone();
    let (grown, values) = growth(|| {
        let mut values = Vec::with_capacity(10);
        values.extend((0..10_u8).map(|n| Pooled::new_with(|| [n; 20_000])));
        values
    });
    // With blocks at multiples of 64 KiB it was 655,360.
    assert!((10 * 20_000..10 * 21_000).contains(&grown), "{grown}");
    assert!(values.iter().zip(0..).all(|(value, n)| value.iter().all(|byte| *byte == n)));
    let bytes: Pooled<[u8]> = Pooled::new_with(|| [1_u8; 9000]).coerce(|view| view as _);
    let shown: Pooled<dyn Fn() -> u8> = {
        let bytes = [2_u8; 9000];
        Pooled::new(move || bytes[8999]).coerce(|view| view as _)
    };
    thread::spawn(move || {
        assert_eq!((bytes.len(), values.len()), (9000, 10));
        drop((bytes, values));
    })
    .join()
    .unwrap();
    assert_eq!(shown(), 2);
    let unwound =
        std::panic::catch_unwind(|| Pooled::new_with(|| -> [u8; 9000] { std::panic::resume_unwind(Box::new(1)) }));
    assert!(unwound.is_err());
    assert_eq!(Pooled::new([3_u8; 9000]).into_inner()[0], 3);
    assert_eq!(PoolArc::try_unwrap(PoolArc::new([4_u8; 9000])).unwrap()[8999], 4);
}

/// The process ended with "memory allocation of 560 bytes failed".
#[test]
#[cfg_attr(miri, ignore = "it starts a process")]
fn an_allocator_that_uses_the_pool_that_calls_it_is_told_so() {
    const CHILD: &str = "DWELL_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        drop(Pooled::new(1_u16));
        INSERTS.set(true);
        drop((0..10_000_u16).map(Pooled::new).collect::<Vec<_>>());
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "an_allocator_that_uses_the_pool_that_calls_it_is_told_so", "--nocapture"]);
    let output = child.env(CHILD, "1").output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        message.contains("the global allocator inserted a value into a slab or pool that was calling"),
        "{message}"
    );
}
