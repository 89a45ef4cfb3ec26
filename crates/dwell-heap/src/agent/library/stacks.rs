//! Call stacks, walked by frame pointers. Each distinct stack is stored once.

use crate::arch::{ends, kept, return_address, thread_pointer};
use crate::layout::{DEPTH, FRAMES, OF_MAPPING, PAIRS};
use crate::thread::Thread;
use crate::{STATE, sys};
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A call stack that was walked to compute its hash. If the stack is unknown, which is rare, it is walked again.
pub struct Walked<'t> {
    thread: &'t Thread,
    frame: u64,
    hash: u64,
    /// What is added to its length: [`OF_MAPPING`] or 0.
    flag: u64,
}

/// The greatest distance of a frame from the thread pointer for which the stack counts as the thread's own.
const FAR: u64 = 64 << 20;
/// The most calls of a function by itself that are left out of a stack.
const RECURSION: u32 = 256;
/// The maximum number of words read of a foreign stack, such as a coroutine's or a signal handler's.
const WINDOW: usize = 256;

/// The maximum number of frames to walk. It is halved for each [`CROWDED`] stored words, because code without frame
/// pointers can produce a new stack for each allocation. The innermost frame is always correct.
static LIMIT: AtomicU32 = AtomicU32::new(DEPTH as u32);
const CROWDED: u64 = 8 << 20;

/// The thread pointer of the main thread, and the range of its stack.
pub static MAIN_THREAD: AtomicU64 = AtomicU64::new(0);
pub static MAIN_LOW: AtomicU64 = AtomicU64::new(0);
pub static MAIN_HIGH: AtomicU64 = AtomicU64::new(0);

impl<'t> Walked<'t> {
    /// Walks the stack from `frame`.
    #[inline(always)]
    pub fn new(thread: &'t Thread, frame: u64) -> Self {
        let mut hash = SEED;
        walk(thread, frame, |address| hash = hash.wrapping_mul(FACTOR).wrapping_add(address));
        Self { thread, frame, hash: mix(hash), flag: 0 }
    }

    /// Makes it one that mapped memory, which is not equal to one that allocated a block.
    pub fn of_mapping(self) -> Self {
        Self { hash: mix(self.hash ^ OF_MAPPING), flag: OF_MAPPING, ..self }
    }

    /// Returns the index of the stack in the frames; 0 if the frames are full.
    #[inline]
    pub fn number(&self) -> u32 {
        STACKS.get(self.hash).unwrap_or_else(|| self.store())
    }

    /// Returns the number of the pair of this stack and `size`; 0 if the pairs are full.
    #[inline(always)]
    pub fn pair(&self, size: u32) -> u32 {
        let hash = mix(self.hash ^ (u64::from(size) << 1 | 1));
        PAIR_NUMBERS.get(hash).unwrap_or_else(|| self.store_pair(hash, size))
    }

    #[cold]
    #[inline(never)]
    fn store(&self) -> u32 {
        let mut frames = [0; DEPTH];
        let mut len = 0;
        walk(self.thread, self.frame, |address| {
            if let Some(frame) = frames.get_mut(len) {
                *frame = address;
                len += 1;
            }
        });
        STACKS.get_or_insert(self.hash, || {
            let at = STATE.frames_len.load(Ordering::Relaxed);
            let end = at + 1 + len as u64;
            if end > FRAMES {
                return None;
            }
            let base = STATE.frames.load(Ordering::Relaxed) as *mut u64;
            let words = core::iter::once(len as u64 | self.flag).chain(frames[..len].iter().copied());
            for (index, word) in (at as usize..).zip(words) {
                // SAFETY: `index` is below `end`, which was checked to be at most FRAMES, the number of words reserved
                // at `base`.
                let target = unsafe { base.add(index) };
                // SAFETY: the word is mapped and aligned. It is written once, under the lock of the map, and no other
                // thread has its index yet.
                unsafe { target.write(word) };
            }
            STATE.frames_len.store(end, Ordering::Release);
            LIMIT.store((DEPTH as u32 >> (end / CROWDED)).max(1), Ordering::Relaxed);
            Some(at as u32)
        })
    }

    #[cold]
    #[inline(never)]
    fn store_pair(&self, hash: u64, size: u32) -> u32 {
        let stack = self.number();
        PAIR_NUMBERS.get_or_insert(hash, || {
            let number = STATE.pairs_len.load(Ordering::Relaxed);
            if stack == 0 || number >= PAIRS {
                return None;
            }
            let pair = pair(number as u32);
            pair.stack.store(stack, Ordering::Relaxed);
            pair.size.store(size, Ordering::Relaxed);
            STATE.pairs_len.store(number + 1, Ordering::Release);
            Some(number as u32)
        })
    }
}

/// Calls `found` with the return addresses from `frame` on, at most [`DEPTH`].
#[inline(always)]
fn walk(thread: &Thread, frame: u64, found: impl FnMut(u64)) {
    if (thread.low.get()..thread.high.get()).contains(&frame) || learn(thread, frame) {
        walk_by(frame, thread.high.get() - 8, found, |addr| {
            // SAFETY: `walk_by` passes multiples of 8 from `frame`, which is at or above `low`, up to `high - 8`. The
            // memory between is the thread's stack. For the main thread the kernel keeps it mapped from the stack
            // pointer up. For other threads `learn` has read from each of its pages, and a stack is not unmapped while
            // its thread runs.
            Some(unsafe { (addr as *const u64).read_volatile() })
        });
    } else {
        walk_foreign(frame, found);
    }
}

/// Walks a foreign stack above `frame`. The kernel copies it, and reports memory that cannot be read.
#[cold]
#[inline(never)]
fn walk_foreign(frame: u64, found: impl FnMut(u64)) {
    let start = frame & !7;
    let mut window = [0; WINDOW];
    let words = sys::read_own(start, &mut window);
    walk_by(frame, (start + words as u64 * 8).saturating_sub(8), found, |addr| {
        window[..words].get(((addr - start) / 8) as usize).copied()
    });
}

#[inline(always)]
fn walk_by(mut frame: u64, last: u64, mut found: impl FnMut(u64), read: impl Fn(u64) -> Option<u64>) {
    let mut left = LIMIT.load(Ordering::Relaxed);
    let (mut before, mut repeated, mut is_innermost) = (0, 0, true);
    // A frame is the caller's frame pointer, then the return address.
    while frame < last && frame % 8 == 0 {
        let (Some(next), Some(address)) = (read(frame), read(frame + 8)) else { break };
        // A function that calls itself in one place is there once, so that its callers are there, too.
        if address == before && repeated < RECURSION {
            repeated += 1;
        } else {
            found(return_address(address));
            left -= 1;
            if is_innermost && left > 0 && ends(address) {
                left -= u32::from(behind_frameless([frame, next], address, last, &read, &mut found));
            }
        }
        is_innermost = false;
        if next <= frame || left == 0 {
            break;
        }
        before = address;
        frame = next;
    }
}

/// Calls `found` for the caller of a function that keeps no frame pointer, such as C++'s `operator new`, if that is not the one of
/// the `next` frame, and returns `true` then. The function was called with this `frame`, and returns to `address`.
#[cold]
#[inline(never)]
fn behind_frameless(
    [frame, next]: [u64; 2],
    address: u64,
    last: u64,
    read: &dyn Fn(u64) -> Option<u64>,
    found: &mut dyn FnMut(u64),
) -> bool {
    let Some(at) = kept(address).map(|words| frame + 16 + 8 * words).filter(|at| *at <= last) else { return false };
    let Some(caller) = read(at) else { return false };
    // The function has a frame.
    if frame < next && next < last && next % 8 == 0 && read(next + 8) == Some(caller) {
        return false;
    }
    found(return_address(caller));
    true
}

/// Returns the pair with a number from the shadow.
#[inline(always)]
pub fn pair(number: u32) -> &'static crate::layout::Pair {
    let base = STATE.pairs.load(Ordering::Relaxed) as *const crate::layout::Pair;
    // SAFETY: `store_pair` makes only numbers below PAIRS, which is the number of pairs reserved at `base`.
    let pair = unsafe { base.add(number as usize) };
    // SAFETY: the reservation is never unmapped, and `base` is page-aligned. A pair is two atomic integers, for which
    // every bit pattern is valid.
    unsafe { &*pair }
}

/// Determines the readable range of the calling thread's own stack. Returns `true` if `frame` is in it.
#[cold]
fn learn(thread: &Thread, frame: u64) -> bool {
    let pointer = thread_pointer();
    if pointer == MAIN_THREAD.load(Ordering::Relaxed) {
        let range = MAIN_LOW.load(Ordering::Relaxed)..MAIN_HIGH.load(Ordering::Relaxed);
        // The kernel maps the pages of the main thread's stack on demand.
        thread.low.set(range.start);
        thread.high.set(range.end);
        return range.contains(&frame);
    }
    let known = |cell: &Cell<u64>| Some(cell.get()).filter(|addr| *addr != 0);
    let top = known(&thread.low).unwrap_or(pointer);
    if frame >= top || pointer - frame > FAR || !sys::is_readable(frame, top) {
        return false;
    }
    thread.low.set(frame & !4095);
    thread.high.set(pointer);
    true
}

const SEED: u64 = 0x243f_6a88_85a3_08d3;
/// An odd multiplier for multiplicative congruential generators, from L'Ecuyer (1999).
const FACTOR: u64 = 0xd134_2543_de82_ef95;

/// Mixes the bits of a value by a folded multiplication, as in wyhash and foldhash.
#[inline(always)]
pub fn mix(value: u64) -> u64 {
    let product = u128::from(value) * 0x9e37_79b9_7f4a_7c15_u128;
    (product as u64) ^ ((product >> 64) as u64)
}

/// A hash table that maps hashes to numbers and only grows. Readers take no lock.
struct Map {
    /// The address of the table: its number of slots, then the slots at an offset of 64 bytes. 0 if there is no table.
    table: AtomicUsize,
    lock: AtomicU32,
    used: AtomicU32,
}

#[repr(C)]
struct MapSlot {
    /// 0 if the slot is empty.
    key: AtomicU64,
    value: AtomicU64,
}

static STACKS: Map = Map::new();
static PAIR_NUMBERS: Map = Map::new();
const FIRST_SLOTS: usize = 1 << 12;

/// Calls `done` with the lock of each map.
pub fn locks(done: fn(&AtomicU32)) {
    [&PAIR_NUMBERS, &STACKS].into_iter().for_each(|map| done(&map.lock));
}

impl Map {
    const fn new() -> Self {
        Self { table: AtomicUsize::new(0), lock: AtomicU32::new(0), used: AtomicU32::new(0) }
    }

    /// Returns the slots of a table.
    #[inline(always)]
    fn slots(table: usize) -> &'static [MapSlot] {
        if table == 0 {
            return &[];
        }
        // SAFETY: a table that is not 0 was mapped by `grow`, which wrote its number of slots to its first word.
        let count = unsafe { *(table as *const usize) };
        // SAFETY: `grow` mapped `count` slots at this offset. A table is never unmapped, because another thread may
        // still read it. A slot is two atomic integers, for which every bit pattern is valid.
        unsafe { core::slice::from_raw_parts((table + 64) as *const MapSlot, count) }
    }

    #[inline(always)]
    fn find(slots: &[MapSlot], key: u64) -> Result<&MapSlot, Option<&MapSlot>> {
        let mask = slots.len().wrapping_sub(1);
        // The lowest bit is the same in all keys.
        let mut index = (key >> 1) as usize & mask;
        // Tables are never full.
        while let Some(slot) = slots.get(index) {
            match slot.key.load(Ordering::Acquire) {
                found if found == key => return Ok(slot),
                0 => return Err(Some(slot)),
                _ => index = (index + 1) & mask,
            }
        }
        Err(None)
    }

    #[inline(always)]
    fn get(&self, hash: u64) -> Option<u32> {
        let slots = Self::slots(self.table.load(Ordering::Acquire));
        Self::find(slots, hash | 1).ok().map(|slot| slot.value.load(Ordering::Relaxed) as u32)
    }

    /// Returns the number of `hash`, or inserts the number that `make` returns. Returns 0 if the table is full or
    /// `make` returns `None`.
    fn get_or_insert(&self, hash: u64, make: impl FnOnce() -> Option<u32>) -> u32 {
        let key = hash | 1;
        sys::lock(&self.lock);
        if self.used.load(Ordering::Relaxed) as usize * 2 >= Self::slots(self.table.load(Ordering::Relaxed)).len() {
            self.grow();
        }
        let number = match Self::find(Self::slots(self.table.load(Ordering::Relaxed)), key) {
            Ok(slot) => slot.value.load(Ordering::Relaxed) as u32,
            // If there is no memory to grow, keep an empty slot, at which `find` ends.
            Err(Some(_)) if self.is_crowded() => 0,
            Err(Some(slot)) => match make() {
                Some(number) => {
                    slot.value.store(u64::from(number), Ordering::Relaxed);
                    slot.key.store(key, Ordering::Release);
                    self.used.fetch_add(1, Ordering::Relaxed);
                    number
                }
                None => 0,
            },
            Err(None) => 0,
        };
        sys::unlock(&self.lock);
        number
    }

    fn is_crowded(&self) -> bool {
        self.used.load(Ordering::Relaxed) as usize * 8 >= Self::slots(self.table.load(Ordering::Relaxed)).len() * 7
    }

    /// Doubles the table. If there is no memory, the old table stays.
    fn grow(&self) {
        let old = Self::slots(self.table.load(Ordering::Relaxed));
        let count = (old.len() * 2).max(FIRST_SLOTS);
        let Ok(table) = crate::map_for_good(64 + count * core::mem::size_of::<MapSlot>()) else { return };
        // SAFETY: the table is fresh memory of at least 64 bytes that no other thread knows.
        unsafe { (table as *mut usize).write(count) };
        let slots = Self::slots(table);
        for slot in old {
            let key = slot.key.load(Ordering::Relaxed);
            if key != 0 {
                if let Err(Some(empty)) = Self::find(slots, key) {
                    empty.value.store(slot.value.load(Ordering::Relaxed), Ordering::Relaxed);
                    empty.key.store(key, Ordering::Relaxed);
                }
            }
        }
        self.table.store(table, Ordering::Release);
    }
}
