//! [`Surplus`]: when a pool gives memory back.
//!
//! ```text
//! vacant cells
//!  carved ┤                 ▲ drop          A push at the upper mark looks for chunks without values, if more than half
//!         ┤ upper mark ─ ─ ╱ ─ ─            of the cells are vacant. It counts the vacant cells of each chunk: only the
//!         ┤               ╱                 ones that were pushed since it counted last. It frees the chunks if they have a
//!         ┤ lower mark ─ ╱ ─ ─ ─            quarter of the cells. The next upper mark is where they can have as many at the
//!       0 ┴─────────────╱────────           earliest. A pop at the lower mark takes cells that are counted.
//! ```
//!
//! If the pool needs as many cells again within [`PAUSE`], as a program does that fills and empties it in a loop, it keeps the
//! memory the next time. Then both marks stay near the top of the stack: a pop at the lower one reads the clock, and frees what is
//! vacant if the memory was not needed for so long.
//!
//! The fast paths know nothing of this: a pop compares `top` with a lower bound anyway, and a push with an upper one.

use super::super::engine::{Core, CoreRef};
use super::super::memory::{Growth, Memory};
use super::super::stack::{CellPtr, FreeStack};
use super::AnyThread;
use core::cell::Cell;
use std::time::{Duration, Instant};

/// If up to this many bytes are needed again within this time, to give them back was a mistake: to free and to get 16 MiB takes about
/// 10 ms. More bytes have proportionally more time, so a loop whose rounds take longer because it has more values is seen as one.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_BYTES: usize = 16 << 20;

/// A pool gives back no less than this many bytes of a size class, nor fewer than [`FEW_CELLS`] cells.
const FEW_BYTES: usize = 128 * 1024;
const FEW_CELLS: usize = 64;

/// When a size class of a pool gives chunks back.
pub(super) struct Surplus {
    // # Invariants
    //
    // 1. Exactly the first `counted` cells of the stack are counted in their chunks, or `counted` is 0. While it is not, the
    //    lower mark of the stack is at least that, unless the slow path runs.
    counted: Cell<usize>,
    /// If the memory is kept, the number of vacant cells below which it is needed again. Otherwise 0.
    kept: Cell<usize>,
    /// How often no chunk could be freed since most cells are vacant.
    looks: Cell<usize>,
    /// The marks of the stack.
    low: Cell<usize>,
    high: Cell<usize>,
    /// When memory was last given back, or kept although most of it was vacant.
    since: Cell<Option<Instant>>,
    /// The number of cells that were given back, and the capacity after that.
    given: Cell<usize>,
    after: Cell<usize>,
    /// Whether the memory was needed again within `PAUSE` after `since`.
    reused: Cell<bool>,
}

/// Returns the time within which this many bytes may be needed again.
fn pause(bytes: usize) -> Duration {
    PAUSE.saturating_mul(u32::try_from(bytes / PAUSE_BYTES).unwrap_or(u32::MAX).max(1))
}

/// Returns the time, if the target has a clock.
fn now() -> Option<Instant> {
    let has_clock = cfg!(not(all(target_family = "wasm", target_os = "unknown")));
    has_clock.then(Instant::now)
}

impl Surplus {
    pub(super) const fn new() -> Self {
        Self {
            counted: Cell::new(0),
            kept: Cell::new(0),
            looks: Cell::new(0),
            low: Cell::new(0),
            high: Cell::new(usize::MAX),
            since: Cell::new(None),
            given: Cell::new(0),
            after: Cell::new(0),
            reused: Cell::new(false),
        }
    }

    /// Returns whether less than the [`pause`] has passed since `since`.
    fn is_soon(&self, bytes: usize) -> bool {
        let pause = pause(bytes);
        self.since.get().is_none_or(|since| now().is_none_or(|now| now.duration_since(since) < pause))
    }

    /// Frees a cell that the stack refused at its mark.
    ///
    /// # Safety
    ///
    /// `cell` is a vacant cell of `core`, which belongs to a pool of this thread. It is on no list, and the caller does not use it
    /// again.
    pub(super) unsafe fn free_at_mark(core: CoreRef<AnyThread>, cell: CellPtr) {
        // SAFETY: the caller guarantees that the pool has this core, which it drops on this thread only.
        let here = unsafe { core.get() };
        // SAFETY: the caller guarantees that the cell is vacant, on no list, and not used again. By invariant 2 of `Core` the stack
        // has capacity for it.
        let pushed = unsafe { here.free.push_beyond(cell) };
        debug_assert!(pushed.is_ok());
        Self::look_at(core, here);
    }

    /// Calls [`look`](Self::look) and sets the marks.
    fn look_at(core: CoreRef<AnyThread>, here: &Core<AnyThread>) {
        // The stack has no buffer meanwhile: the global allocator, if it re-enters, must not pop cells that are counted.
        let stack = here.free.take();
        let _ = here.grow(|memory| {
            here.owners.surplus().look(core, memory, &stack);
            Ok(())
        });
        here.free.swap(&stack);
        here.owners.surplus().mark(here);
    }

    /// Sets marks around the top of a stack whose memory is kept.
    fn follow(&self, vacant: usize, down: usize) {
        let step = FEW_CELLS.max(vacant / 256);
        self.low.set(vacant.saturating_sub(step.max(down)).max(self.kept.get()));
        self.high.set(vacant + step);
    }

    /// Frees chunks without values, if that is due. Sets the next marks.
    fn look(&self, owner: CoreRef<AnyThread>, memory: &mut Memory<CoreRef<AnyThread>>, stack: &FreeStack) {
        let few = FEW_CELLS.max(FEW_BYTES / memory.geometry().stride);
        loop {
            let (vacant, carved) = (stack.len(), memory.carved);
            if vacant < few || vacant < carved / 2 {
                self.watch(few.max(carved / 2));
                return;
            }
            if self.reused.get() {
                if self.kept.get() == 0 {
                    self.since.set(now());
                    self.counted.set(0);
                    self.kept.set(vacant / 2);
                }
                self.follow(vacant, 0);
                return;
            }
            if self.counted.get() == 0 {
                memory.forget_counts();
            }
            for cell in (self.counted.get()..vacant).filter_map(|number| stack.get(number)) {
                // SAFETY: a cell on the stack is one of this core, whose chunk is not freed.
                unsafe { memory.count(owner, cell, true) };
            }
            self.counted.set(vacant);
            self.low.set(vacant);
            let enough = few.max(carved / 4);
            let found = memory.vacancy(enough);
            if found.empty < enough {
                // To look at all chunks costs as much as a few pushes for each.
                let looks = self.looks.get() + 1;
                self.looks.set(looks);
                let rest = if looks * found.chunks > vacant { FEW_CELLS.max(found.chunks) } else { 1 };
                // The push that makes as many vacant comes here.
                self.high.set(vacant.saturating_add(found.missing.max(rest)) - 1);
                return;
            }
            // SAFETY: by invariant 2 of `Core` the cells on the stack are those of this core. By invariant 1 each is counted once.
            unsafe { memory.free_vacant(owner, stack) };
            self.counted.set(stack.len());
            stack.shrink(memory.capacity);
            let given = self.given.get();
            let before = if given != 0 && self.is_soon(given * memory.geometry().stride) { given } else { 0 };
            self.given.set(before + carved - memory.carved);
            self.after.set(memory.capacity);
            self.since.set(now());
        }
    }

    /// Sets only an upper mark.
    fn watch(&self, high: usize) {
        self.counted.set(0);
        self.kept.set(0);
        self.looks.set(0);
        self.low.set(0);
        self.high.set(high);
    }

    /// Marks the stack.
    fn mark(&self, core: &Core<AnyThread>) {
        debug_assert!(self.counted.get() <= core.free.len() && self.counted.get() <= self.low.get());
        core.free.mark(self.low.get(), self.high.get());
    }

    /// Before a refill, because the stack is empty or at its lower mark.
    pub(super) fn before_refill(core: CoreRef<AnyThread>) {
        // SAFETY: a pool or slab refills its own core, which it drops on the same thread only.
        let here = unsafe { core.get() };
        let this = here.owners.surplus();
        if this.low.get() == 0 || here.is_growing() {
            return;
        }
        let vacant = here.free.len();
        if this.kept.get() != 0 {
            let stride = here.memory(|memory| memory.geometry().stride).unwrap_or(0);
            let is_soon = this.is_soon(2 * this.kept.get() * stride);
            if vacant > this.kept.get() && is_soon {
                // Twice as far down the next time, so that a program that needs all of it again comes here a few times.
                this.follow(vacant, this.high.get().saturating_sub(vacant));
                return this.mark(here);
            }
            this.reused.set(is_soon);
            this.kept.set(0);
            this.low.set(0);
            here.free.unmark();
            if !is_soon {
                Self::look_at(core, here);
            }
        }
        if this.counted.get() == 0 {
            return;
        }
        let _ = here.memory(|memory| {
            // At least so many that the next pops do not come back here.
            let counted = this.counted.get().saturating_sub(FEW_CELLS.max(this.counted.get() / 4));
            for cell in (counted..this.counted.get()).filter_map(|number| here.free.get(number)) {
                // SAFETY: a cell on the stack is one of this core, whose chunk is not freed.
                unsafe { memory.count(core, cell, false) };
            }
            this.counted.set(counted);
            this.low.set(counted);
            this.high.set(this.high.get().max(here.free.len() + FEW_CELLS));
            here.free.mark(counted, this.high.get());
        });
    }

    /// After a refill or a sweep.
    pub(super) fn after_refill(core: CoreRef<AnyThread>) {
        // SAFETY: a pool or slab refills its own core, which it drops on the same thread only.
        let here = unsafe { core.get() };
        let this = here.owners.surplus();
        if this.low.get() != 0 && !here.is_growing() {
            return this.mark(here);
        }
        let _ = here.memory(|memory| {
            if memory.growth != Growth::ByQuarter {
                return;
            }
            if this.given.get() != 0 && memory.capacity >= this.after.get() + this.given.get() / 2 {
                this.reused.set(this.is_soon(this.given.get() * memory.geometry().stride));
                this.given.set(0);
            }
            this.watch(FEW_CELLS.max(FEW_BYTES / memory.geometry().stride).max(memory.carved / 2));
            here.free.mark(0, this.high.get());
        });
    }

    /// Ends the marks, and forgets what is counted.
    pub(super) fn unmark(core: CoreRef<AnyThread>) {
        // SAFETY: the caller is a method of a slab or pool that has this core and drops it on this thread only.
        let here = unsafe { core.get() };
        here.owners.surplus().watch(usize::MAX);
        here.free.unmark();
    }
}

#[cfg(test)]
mod tests {
    use super::{PAUSE, PAUSE_BYTES, pause};

    #[test]
    fn pause_is_in_proportion_to_the_bytes() {
        assert_eq!([0, PAUSE_BYTES, 2 * PAUSE_BYTES - 1].map(pause), [PAUSE; 3]);
        assert_eq!(pause(4 * PAUSE_BYTES), 4 * PAUSE);
        assert!(pause(usize::MAX) > pause(PAUSE_BYTES << 20));
    }
}
