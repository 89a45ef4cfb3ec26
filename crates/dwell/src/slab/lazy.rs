//! [`LazyCore`], the core of a slab or of a size class, which the first insert allocates.

use super::engine::{Core, CoreRef, Owners};
use super::geometry::Geometry;
use super::memory::{Growth, Refusal};
use super::stack::CellPtr;
use core::alloc::Layout;
use core::cell::Cell;

/// A pointer to a core, which is allocated when it is needed: together with the first cells, in one allocation, if these are small.
/// Until then it points to the empty core, whose free stack has no buffer, so that a pop needs no test.
///
/// `AHEAD` is the number of words below the bottom of the free stack, by which pops prefetch, or 0 if they do not.
pub(super) struct LazyCore<O: Owners, const AHEAD: usize>(
    // # Invariants
    //
    // 1. The core is `O::NO_SLAB`, or was allocated on this thread, and was not torn down.
    // 2. The free stack has `AHEAD` words below the bottom, or no buffer.
    Cell<CoreRef<O>>,
);

impl<O: Owners> LazyCore<O, 0> {
    /// Takes ownership of a core.
    ///
    /// # Safety
    ///
    /// The core came from [`CoreRef::allocate`] on this thread, was not torn down, and nothing else tears it down.
    pub(super) unsafe fn of(core: CoreRef<O>) -> Self {
        Self(Cell::new(core))
    }
}

impl<O: Owners, const AHEAD: usize> LazyCore<O, AHEAD> {
    /// Creates a pointer to no core.
    pub(super) const fn new() -> Self {
        Self(Cell::new(O::NO_SLAB))
    }

    /// Returns the core, unless none is allocated.
    #[inline(always)]
    pub(super) fn get(&self) -> Option<&Core<O>> {
        let core = self.0.get();
        // SAFETY: the core is not `NO_SLAB`, so by invariant 1 it was not torn down and is not freed. Callers of `tear_down`
        // guarantee that no such reference is used afterwards.
        (core != O::NO_SLAB).then(|| unsafe { core.get() })
    }

    /// Takes a cell from the free stack.
    #[inline(always)]
    pub(super) fn pop(&self) -> Option<CellPtr> {
        // SAFETY: by invariant 1 the core was not torn down or is a static, so it is not freed.
        let core = unsafe { self.0.get().get() };
        if AHEAD == 0 {
            core.free.pop()
        } else {
            // SAFETY: by invariant 2 the stack has this many words below the bottom, or no buffer.
            unsafe { core.free.pop_prefetch::<AHEAD>() }
        }
    }

    /// Returns a vacant cell if the free stack is empty. A new core has this geometry, and grows in this way.
    pub(super) fn refill(&self, geometry: Geometry, growth: Growth) -> Result<CellPtr, Refusal> {
        let core = self.core(geometry, growth, 1)?;
        // SAFETY: the core is not `NO_SLAB`, so by invariant 1 it was made on this thread and is not freed.
        unsafe { core.refill() }
    }

    /// Reserves memory for `additional` more values. A new core has this geometry.
    pub(super) fn reserve(&self, geometry: Geometry, additional: usize) -> Result<(), Refusal> {
        let core = self.core(geometry, Growth::Double, additional)?;
        // SAFETY: the core is not `NO_SLAB`, so by invariant 1 it was made on this thread and is not freed.
        unsafe { core.reserve(additional) }
    }

    /// Returns the core. If there is none yet, allocates one for that many cells.
    fn core(&self, geometry: Geometry, growth: Growth, cells: usize) -> Result<CoreRef<O>, Refusal> {
        if self.0.get() == O::NO_SLAB {
            let new = CoreRef::allocate_for(geometry, AHEAD, cells)?;
            // SAFETY: the core was just allocated, and is not freed before the next line.
            unsafe { new.get() }.memory(|memory| memory.grow_by(growth))?;
            if self.0.get() == O::NO_SLAB {
                self.0.set(new);
            } else {
                // The global allocator has re-entered and made a core, which may have values.
                Self::tear_down_core(new);
            }
        }
        Ok(self.0.get())
    }

    /// Frees the chunks without values, and the core if there are no values at all.
    pub(super) fn sweep(&self) {
        let Some(core) = self.get() else { return };
        // SAFETY: the core is not `NO_SLAB`, so by invariant 1 it was made on this thread and is not freed.
        unsafe { self.0.get().sweep() };
        if core.is_unused() {
            // SAFETY: `core` is not used again. While the core grows or shrinks, which may re-enter this slab, `is_unused` is false,
            // so no function further up the stack uses it.
            unsafe { self.tear_down() };
        }
    }

    /// Tears down the core, if there is one. The next insert makes another one.
    ///
    /// # Safety
    ///
    /// No reference to the core that [`get`](Self::get) returned is used again.
    pub(super) unsafe fn tear_down(&self) {
        Self::tear_down_core(self.0.replace(O::NO_SLAB));
    }

    /// Tears down a core that is no longer in a `LazyCore`, unless it is the empty one.
    fn tear_down_core(core: CoreRef<O>) {
        if core != O::NO_SLAB {
            // SAFETY: by invariant 1 the core was allocated on this thread and was not torn down. The callers have removed it from
            // its `LazyCore`, or never put it into one, so it is not used again.
            unsafe { O::tear_down(core) };
        }
    }

    /// Calls `each` with the layout of each allocation and the number of unused bytes in it. `each` must not be user code.
    pub(super) fn each_block(&self, each: &mut dyn FnMut(Layout, usize)) {
        if let Some(core) = self.get() {
            core.each_block(each);
        }
    }
}
