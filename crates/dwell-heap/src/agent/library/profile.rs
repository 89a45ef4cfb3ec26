//! Counts the calls of the allocator, in a [`Ledger`] for each thread.
//!
//! An entry of the shadow has a block's pair of size and call stack, its thread's ledger, and its time of allocation.
//! So a free costs a few additions to counters that no other thread writes to. The time is the number of blocks that the
//! thread has got: a clock would take longer than the allocation, and would measure the recording.

use crate::layout::{
    rounded, Allocator, Call, Counts, Depot, Ledger, Mode, CACHED, COUNTED, GRANULE, HUGE, LEDGERS, LEDGER_BYTES, LIFETIMES,
    RECENT, RUN, SMALL,
};
use crate::stacks::Walked;
use crate::thread::{self, Thread};
use crate::{arch, blocks, sample, sys, STATE};
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// The size of an entry of the shadow in this mode.
pub const ENTRY: u64 = 8;

static ON: AtomicU32 = AtomicU32::new(0);

/// Sets the mode.
pub fn prepare(mode: u32) {
    ON.store(mode, Ordering::Relaxed);
}

/// Returns `true` if the hooks count calls instead of recording the live blocks.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed) == Mode::Counts as u32
}

/// Returns `true` if the hooks record the live blocks and count allocations too.
#[inline(always)]
pub fn is_beside() -> bool {
    ON.load(Ordering::Relaxed) == Mode::Both as u32
}

/// Counts a new block, whose record is in the shadow if it is small.
pub fn note_new(thread: &Thread, block: u64, size: u64, stack: &Walked<'_>, is_reallocated: bool) {
    let Some(ledger) = ledger(thread) else { return };
    let recorded = if size < SMALL { blocks::find(block) } else { None };
    let number = match recorded {
        Some(blocks::Block::Small(pair)) => u64::from(pair),
        _ => u64::from(stack.pair(stored(size))),
    };
    // Pair 0 counts what the tables have no space for.
    let pair = if number < COUNTED { number } else { 0 };
    let counts = ledger.counts(pair);
    ledger.reach(pair);
    add(&counts.bytes, size);
    add(if is_reallocated { &counts.reallocations } else { &counts.allocations }, 1);
}

/// Counts the free of a block of a pair: the functions of its first one name the type if those of the allocation do not.
pub fn note_free(thread: &Thread, pair: u32, frame: u64) {
    let Some(ledger) = ledger(thread) else { return };
    let pair = u64::from(pair);
    if pair >= COUNTED {
        return;
    }
    let counts = ledger.counts(pair);
    ledger.reach(pair);
    if add(&counts.frees, 1) == 1 {
        first_free(thread, counts, frame);
    }
}

/// A block's record, in one word: whether there is one, the number of its pair, its ledger, and the time.
#[derive(Clone, Copy)]
struct Record(u64);

const TIME_BITS: u32 = 29;
const TIME: u64 = (1 << TIME_BITS) - 1;

impl Record {
    #[inline(always)]
    fn new(pair: u64, ledger: u64, time: u64) -> Self {
        Self(1 << 63 | pair << 41 | ledger << TIME_BITS | time & TIME)
    }

    #[inline(always)]
    fn pair(self) -> u64 {
        self.0 >> 41 & (COUNTED - 1)
    }

    #[inline(always)]
    fn ledger(self) -> u64 {
        self.0 >> TIME_BITS & (LEDGERS - 1)
    }

    /// Returns the time between this record's and `now`.
    #[inline(always)]
    fn age(self, now: u64) -> u64 {
        now.wrapping_sub(self.0) & TIME
    }
}

/// Returns the shadow's entry for an address, if it has one.
#[inline(always)]
fn entry(addr: u64) -> Option<&'static AtomicU64> {
    if addr % GRANULE != 0 {
        return None;
    }
    let at = STATE.shadow.load(Ordering::Relaxed) + (addr & (arch::addresses() - 1)) / GRANULE * ENTRY;
    // SAFETY: in this mode the shadow has a word for each granule below `addresses`, and the mask keeps the address below
    // that. The shadow is mapped before the hooks are armed and never unmapped. Every bit pattern is valid.
    Some(unsafe { &*(at as *const AtomicU64) })
}

#[inline(always)]
fn put(addr: u64, record: Record) {
    match entry(addr) {
        Some(entry) => entry.store(record.0, Ordering::Relaxed),
        None => blocks::insert_word(addr, record.0),
    }
}

/// Removes the record of a block.
#[inline(always)]
fn take(addr: u64) -> Option<Record> {
    let word = match entry(addr) {
        Some(entry) => {
            let word = entry.load(Ordering::Relaxed);
            if word != 0 {
                entry.store(0, Ordering::Relaxed);
            }
            word
        }
        None => blocks::take_word(addr),
    };
    (word != 0).then_some(Record(word))
}

/// Adds to a counter that only this thread writes to.
#[inline(always)]
fn add(counter: &AtomicU64, more: u64) -> u64 {
    let sum = counter.load(Ordering::Relaxed).wrapping_add(more);
    counter.store(sum, Ordering::Relaxed);
    sum
}

#[inline(always)]
fn add_live(counts: &Counts, more: i64) {
    let live = counts.live.load(Ordering::Relaxed) + more;
    counts.live.store(live, Ordering::Relaxed);
    if live > counts.most_live.load(Ordering::Relaxed) {
        raise(&counts.most_live, live);
    }
}

#[inline(always)]
fn raise(counter: &AtomicI64, to: i64) {
    counter.store(to, Ordering::Relaxed);
}

/// Returns the thread's ledger; `None` if there are too many threads.
#[inline(always)]
fn ledger(thread: &Thread) -> Option<&'static Ledger> {
    match thread.ledger.get() {
        0 => acquire(thread),
        // SAFETY: `acquire` stored the address of a ledger that it mapped and that is never unmapped. All its fields
        // are atomic integers.
        addr => Some(unsafe { &*(addr as *const Ledger) }),
    }
}

static LOCK: AtomicU32 = AtomicU32::new(0);

/// Calls `done` with the lock of the ledgers.
pub fn locks(done: fn(&AtomicU32)) {
    done(&LOCK);
}

/// Gives the thread a ledger that no thread uses.
#[cold]
#[inline(never)]
fn acquire(thread: &Thread) -> Option<&'static Ledger> {
    sys::lock(&LOCK);
    let found = free_ledger().or_else(new_ledger);
    if let Some(ledger) = found {
        ledger.busy.store(1, Ordering::Relaxed);
    }
    sys::unlock(&LOCK);
    let Some(ledger) = found else {
        STATE.lost.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    add(&ledger.threads, 1);
    for word in [&ledger.run, &ledger.run_stack, &ledger.last, &ledger.top, &ledger.bottom] {
        word.store(0, Ordering::Relaxed);
    }
    // The cache of a new thread is empty. Fast bins belong to an arena, which the next thread may use too.
    ledger.cached.iter().for_each(|cached| cached.store(0, Ordering::Relaxed));
    thread.ledger.set(ledger as *const Ledger as u64);
    thread::watch_end();
    Some(ledger)
}

fn table() -> &'static [AtomicU64] {
    let table = STATE.ledgers.load(Ordering::Relaxed) as *const AtomicU64;
    // SAFETY: the table is mapped with LEDGERS words before the hooks are armed, and never unmapped.
    unsafe { core::slice::from_raw_parts(table, LEDGERS as usize) }
}

fn free_ledger() -> Option<&'static Ledger> {
    let len = STATE.ledgers_len.load(Ordering::Relaxed) as usize;
    table()[..len].iter().find_map(|addr| {
        // SAFETY: `new_ledger` stored the address of a ledger that is never unmapped.
        let ledger = unsafe { &*(addr.load(Ordering::Relaxed) as *const Ledger) };
        (ledger.busy.load(Ordering::Relaxed) == 0).then_some(ledger)
    })
}

fn new_ledger() -> Option<&'static Ledger> {
    let number = STATE.ledgers_len.load(Ordering::Relaxed);
    let slot = table().get(number as usize)?;
    let addr = sys::map(LEDGER_BYTES + COUNTED as usize * core::mem::size_of::<Counts>()).ok()?;
    // SAFETY: the mapping is fresh, aligned to a page and larger than a ledger. Its zeros are valid atomic integers.
    let ledger = unsafe { &*(addr as *const Ledger) };
    ledger.number.store(number as u32, Ordering::Relaxed);
    slot.store(addr as u64, Ordering::Relaxed);
    STATE.ledgers_len.store(number + 1, Ordering::Release);
    Some(ledger)
}

/// Returns the ledger of a thread that ends to the unused ones.
pub fn end(thread: &Thread) {
    if let Some(ledger) = (thread.ledger.get() != 0).then(|| ledger(thread)).flatten() {
        thread.ledger.set(0);
        ledger.busy.store(0, Ordering::Release);
    }
}

impl Ledger {
    #[inline(always)]
    fn counts(&self, pair: u64) -> &Counts {
        let first = (self as *const Self as usize + LEDGER_BYTES) as *const Counts;
        // SAFETY: a ledger is the start of a mapping with COUNTED counts at this offset, and `pair` is below COUNTED:
        // it comes from a record, which masks it, or from `pair`, which checks it.
        let counts = unsafe { first.add(pair as usize) };
        // SAFETY: the mapping is never unmapped; every bit pattern is valid for atomic integers.
        unsafe { &*counts }
    }

    /// Returns the ledger of the thread that allocated a block.
    #[inline(always)]
    fn home(&self, record: Record) -> &Self {
        if record.ledger() == u64::from(self.number.load(Ordering::Relaxed)) {
            return self;
        }
        let addr = table()[record.ledger() as usize].load(Ordering::Relaxed);
        // SAFETY: a record has the number of a ledger that `new_ledger` added to the table, and that is never unmapped.
        unsafe { &*(addr as *const Self) }
    }

    /// Records that the ledger has counts of this pair.
    #[inline(always)]
    fn reach(&self, pair: u64) {
        if pair >= self.pairs.load(Ordering::Relaxed) {
            self.pairs.store(pair + 1, Ordering::Relaxed);
        }
    }

    /// Adds a block to the recent ones.
    #[inline(always)]
    fn push(&self, addr: u64) {
        let top = self.top.load(Ordering::Relaxed);
        self.recent[top as usize % RECENT].store(addr, Ordering::Relaxed);
        self.top.store(top + 1, Ordering::Relaxed);
        if top + 1 - self.bottom.load(Ordering::Relaxed) > RECENT as u64 {
            self.bottom.store(top + 1 - RECENT as u64, Ordering::Relaxed);
        }
    }

    /// Removes a block from the recent ones. Returns `true` if it was the newest.
    #[inline(always)]
    fn pop(&self, addr: u64) -> bool {
        let (top, bottom) = (self.top.load(Ordering::Relaxed), self.bottom.load(Ordering::Relaxed));
        let at = |index: u64| &self.recent[index as usize % RECENT];
        if top > bottom && at(top - 1).load(Ordering::Relaxed) == addr {
            let mut top = top - 1;
            // Blocks below it may have been freed before.
            while top > bottom && at(top - 1).load(Ordering::Relaxed) == 0 {
                top -= 1;
            }
            self.top.store(top, Ordering::Relaxed);
            return true;
        }
        const SEARCHED: u64 = 8;
        let mut index = top;
        while index > bottom && top - index < SEARCHED {
            index -= 1;
            if at(index).load(Ordering::Relaxed) == addr {
                at(index).store(0, Ordering::Relaxed);
                break;
            }
        }
        false
    }

    /// Replaces a recent block that `realloc` moved.
    #[inline(always)]
    fn moved(&self, from: u64, to: u64) {
        let top = self.top.load(Ordering::Relaxed);
        if top > self.bottom.load(Ordering::Relaxed) {
            let newest = &self.recent[(top - 1) as usize % RECENT];
            if newest.load(Ordering::Relaxed) == from {
                newest.store(to, Ordering::Relaxed);
            }
        }
    }

    /// Takes a block of this size from the model of glibc's allocator.
    #[inline(always)]
    fn take_cached(&self, size: u64) -> Depot {
        let class = class(size);
        let Some(cached) = self.cached.get(class) else { return Depot::Heap };
        let here = cached.load(Ordering::Relaxed);
        if here > 0 {
            cached.store(here - 1, Ordering::Relaxed);
            return Depot::Thread;
        }
        let Some(fast) = self.fast.get(class) else { return Depot::Heap };
        let here = fast.load(Ordering::Relaxed);
        if here == 0 {
            return Depot::Heap;
        }
        // The blocks behind it move to the cache.
        let moved = (here - 1).min(CACHE);
        cached.store(moved, Ordering::Relaxed);
        fast.store(here - 1 - moved, Ordering::Relaxed);
        Depot::Fast
    }

    /// Returns a block of this size to the model. A fast bin is that of the arena that has the block, here of the thread
    /// that allocated it, `home`; another thread may add to it at the same time, and the model then loses a block.
    #[inline(always)]
    fn keep_cached(&self, size: u64, home: &Self) -> Depot {
        let class = class(size);
        let Some(cached) = self.cached.get(class) else { return Depot::Heap };
        let here = cached.load(Ordering::Relaxed);
        if here < CACHE {
            cached.store(here + 1, Ordering::Relaxed);
            return Depot::Thread;
        }
        match home.fast.get(class) {
            Some(fast) => {
                fast.store(fast.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                Depot::Fast
            }
            None => Depot::Heap,
        }
    }
}

/// The number of blocks of a class that glibc keeps for a thread.
const CACHE: u32 = 7;

/// Returns glibc's class of a size: chunks of 32 bytes, 48, and so on.
#[inline(always)]
fn class(size: u64) -> usize {
    // A chunk has 8 bytes more than the block, and at least 32.
    const _: () = assert!(CACHED == 64);
    ((size.max(24) + 8 + 15) / 16) as usize - 2
}

/// Returns the size of a pair as it is stored: large sizes in pages.
fn stored(size: u64) -> u32 {
    let size = rounded(size);
    if size < HUGE { size as u32 } else { (HUGE | (size >> 12).min(HUGE - 1)) as u32 }
}

fn pair(thread: &Thread, size: u64, frame: u64) -> u64 {
    let pair = u64::from(Walked::new(thread, frame).pair(stored(size)));
    // Pair 0 counts what the tables have no space for.
    if pair < COUNTED { pair } else { 0 }
}

/// A function of an allocator.
type Original = unsafe extern "C" fn(usize, usize, usize) -> usize;

/// Calls `original` and counts the call. `new_size` is the size that a reallocation requests.
///
/// # Safety
/// `original` must be a function of the kind `call`, and the arguments must be valid for it.
#[inline(always)]
pub unsafe fn run(
    thread: &Thread,
    allocator: Allocator,
    call: Call,
    original: Original,
    arguments: [usize; 3],
    new_size: u64,
    frame: u64,
) -> usize {
    let [a, b, c] = arguments;
    let is_move = matches!(call, Call::Reallocate | Call::ReallocateMany);
    let before = if (is_move || matches!(call, Call::Free)) && a != 0 && !sample::is_unrecorded(a as u64) {
        take(a as u64)
    } else {
        None
    };
    if let (Some(record), Call::Free) = (before, call) {
        freed(thread, record, a as u64, frame);
    }
    // SAFETY: `original` is the allocator's own function, called with the arguments that the program passed to it. The
    // record of the block at `a` was removed, so no record refers to it while it is freed or moved.
    let result = unsafe { original(a, b, c) };
    match call {
        Call::Allocate(index) => allocated(thread, allocator, result as u64, arguments[index] as u64, frame, None),
        Call::AllocateMany => {
            allocated(thread, allocator, result as u64, (a as u64).wrapping_mul(b as u64), frame, None);
        }
        Call::AllocateInto if result == 0 => {
            // SAFETY: a function of the kind `AllocateInto` that returns 0 has written the block's address to its first
            // argument, so that address is readable.
            let block = unsafe { *(a as *const usize) };
            allocated(thread, allocator, block as u64, c as u64, frame, None);
        }
        Call::AllocateInto | Call::Free => {}
        Call::Reallocate | Call::ReallocateMany => {
            let size = new_size;
            match before {
                // The call failed and left the block unchanged.
                Some(record) if result == 0 && size != 0 => put(a as u64, record),
                Some(record) if result == 0 => freed(thread, record, a as u64, frame),
                Some(record) => allocated(thread, allocator, result as u64, size, frame, Some((record, a as u64))),
                None => allocated(thread, allocator, result as u64, size, frame, None),
            }
        }
    }
    result
}

/// Returns the size of the blocks of a pair.
#[inline(always)]
fn size_of(pair: u64) -> u64 {
    if pair == 0 {
        return 0;
    }
    let stored = u64::from(crate::stacks::pair(pair as u32).size.load(Ordering::Relaxed));
    if stored & HUGE == 0 { stored } else { (stored & (HUGE - 1)) << 12 }
}

/// Counts a new block. `from` is the record and the address of the block that it replaces.
#[inline(always)]
fn allocated(thread: &Thread, allocator: Allocator, block: u64, size: u64, frame: u64, from: Option<(Record, u64)>) {
    if block == 0 {
        return;
    }
    insert(thread, allocator, block, size, frame, from);
}

#[inline(never)]
fn insert(thread: &Thread, allocator: Allocator, block: u64, size: u64, frame: u64, from: Option<(Record, u64)>) {
    let mean = STATE.sample.load(Ordering::Relaxed);
    let is_sampled = mean == 0 || sample::is_sampled(thread, size, mean);
    if let Some((record, addr)) = from {
        sample::lower(addr);
        replaced(thread, record, addr != block);
    }
    // A sampled run decides anew for the block that `realloc` returns, because its size is another one.
    if !is_sampled {
        return;
    }
    let Some(ledger) = ledger(thread) else { return };
    let pair = pair(thread, size, frame);
    let counts = ledger.counts(pair);
    ledger.reach(pair);
    counts.allocator.store(allocator as u32, Ordering::Relaxed);
    let now = add(&ledger.blocks, 1);
    ledger.run.store(0, Ordering::Relaxed);
    ledger.last.store(block, Ordering::Relaxed);
    add(&counts.bytes, size);
    match from {
        None => {
            add(&counts.allocations, 1);
            add(&counts.allocated[ledger.take_cached(size) as usize], 1);
            ledger.push(block);
        }
        Some((record, addr)) => {
            add(&counts.reallocations, 1);
            if addr != block {
                add(&counts.copied, size_of(record.pair()).min(size));
                add(&counts.allocated[ledger.take_cached(size) as usize], 1);
            }
            ledger.moved(addr, block);
        }
    }
    add_live(counts, 1);
    sample::raise(block);
    put(block, Record::new(pair, u64::from(ledger.number.load(Ordering::Relaxed)), now));
}

/// Counts the end of a block that `realloc` replaces.
fn replaced(thread: &Thread, record: Record, is_moved: bool) {
    let Some(ledger) = ledger(thread) else { return };
    let counts = ledger.counts(record.pair());
    ledger.reach(record.pair());
    add(&counts.replaced, 1);
    add_live(counts, -1);
    if is_moved {
        add(&counts.freed[ledger.keep_cached(size_of(record.pair()), ledger.home(record)) as usize], 1);
    }
}

/// Stores the call stack of a free: its functions name the type if those of the allocation do not.
#[cold]
#[inline(never)]
fn first_free(thread: &Thread, counts: &Counts, frame: u64) {
    counts.free_stack.store(Walked::new(thread, frame).number(), Ordering::Relaxed);
}

/// Counts the free of a block.
#[inline(always)]
fn freed(thread: &Thread, record: Record, addr: u64, frame: u64) {
    sample::lower(addr);
    let Some(ledger) = ledger(thread) else { return };
    let pair = record.pair();
    let counts = ledger.counts(pair);
    ledger.reach(pair);
    if add(&counts.frees, 1) == 1 {
        first_free(thread, counts, frame);
    }
    add_live(counts, -1);
    add(&counts.freed[ledger.keep_cached(size_of(pair), ledger.home(record)) as usize], 1);
    if record.ledger() == u64::from(ledger.number.load(Ordering::Relaxed)) {
        let age = record.age(ledger.blocks.load(Ordering::Relaxed));
        let bin = (64 - age.leading_zeros() as usize).min(LIFETIMES - 1);
        add(&counts.lifetimes[bin], 1);
    } else {
        add(&counts.foreign, 1);
    }
    if ledger.last.load(Ordering::Relaxed) == addr {
        add(&counts.temporary, 1);
    }
    ledger.last.store(0, Ordering::Relaxed);
    if ledger.pop(addr) {
        add(&counts.in_order, 1);
    }
    let run = add(&ledger.run, 1);
    if run >= RUN {
        if run == RUN || run == RUN * RUN {
            ledger.run_stack.store(u64::from(Walked::new(thread, frame).number()), Ordering::Relaxed);
        }
        add(&counts.together, 1);
        counts.run_stack.store(ledger.run_stack.load(Ordering::Relaxed) as u32, Ordering::Relaxed);
    }
}
