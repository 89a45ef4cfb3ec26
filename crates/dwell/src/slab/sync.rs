//! Slabs whose slots may be sent to other threads.
//!
//! A [`Slab`] belongs to the thread that made it: only that thread inserts. Its [`Slot`]s are `Send` if their values
//! are, and any thread may drop them. On the slab's own thread a drop compares two thread numbers and then does the
//! same as in a [`slab::Slab`](super::Slab). Another thread pushes the cell to a list of the slab with one atomic
//! exchange; the slab takes the whole list when its free stack is empty. [`drop_all`] returns many cells at once.
//!
//! ```
//! use dwell::slab::sync::Slab;
//! use std::thread;
//!
//! let slab = Slab::new();
//! let slot = slab.insert(String::from("sent"));
//! thread::spawn(move || assert_eq!(*slot, "sent")).join().unwrap();
//! assert!(slab.is_empty());
//! ```
//!
//! The slab and its slots may be dropped in any order, and the slots on any thread. The last of them frees the memory.

use super::engine::CoreRef;
use super::geometry::Geometry;
use super::kind::sealed::CrossThread;
use super::memory::owner;
use super::remote::Chain;
use super::stack::CellPtr;
use super::typed::{TypedSlab, slab_methods};
use core::alloc::Layout;
use core::mem;

use super::remote::AnyThread;

/// The owner of a value in a [`sync::Slab`](Slab): `Send` and `Sync` where the value is.
///
/// It has all methods of a [`slab::Slot`](super::Slot) except those for keys.
pub type Slot<T> = super::Slot<T, AnyThread>;

// SAFETY: `AnyThread` uses the free stack only on the slab's own thread. On other threads it adds the cell to
// `Returns`, whose fields are atomics. It is not `Keyed`.
unsafe impl CrossThread for AnyThread {}

/// A growing slab for values of one type, whose slots may be dropped on any thread.
///
/// It stays on the thread that made it: it is neither `Send` nor `Sync`. Its chunks never move.
///
/// ```
/// use dwell::slab::sync::{Slab, Slot};
/// use std::sync::mpsc;
/// use std::thread;
///
/// let (send, receive) = mpsc::channel::<Slot<[u8; 64]>>();
/// let consumer = thread::spawn(move || receive.into_iter().map(|block| usize::from(block[0])).sum::<usize>());
/// let blocks = Slab::new();
/// for _ in 0..1000 {
///     send.send(blocks.insert([1; 64])).unwrap();
/// }
/// drop((send, blocks)); // in any order
/// assert_eq!(consumer.join().unwrap(), 1000);
/// ```
pub struct Slab<T> {
    pub(super) slab: TypedSlab<T, AnyThread>,
}

slab_methods!(Slab, Slot<T>, "slab::sync::Slab");

/// Drops slots and returns the cells of consecutive slots of one slab together.
///
/// A run of up to 256 cells takes one atomic exchange, instead of one for each cell.
///
/// ```
/// use dwell::slab::sync::{Slab, drop_all};
/// use std::thread;
///
/// let slab = Slab::new();
/// let slots: Vec<_> = (0..1000).map(|n| slab.insert(n)).collect();
/// thread::spawn(move || drop_all(slots)).join().unwrap();
/// assert!(slab.is_empty());
/// ```
pub fn drop_all<T>(slots: impl IntoIterator<Item = Slot<T>>) {
    let mut run = Run(None);
    for slot in slots {
        run.push(slot);
    }
}

/// The maximum number of cells in a run. A run keeps them from their slab, and an iterator, such as that of a channel,
/// may never end.
const LONGEST_RUN: usize = 256;

/// A run of cells of one slab. Its drop returns them, even after a panic.
struct Run(
    // Invariant: the cells of the chain are occupied cells of this core whose values were dropped. Only the run may
    // free them.
    Option<(CoreRef<AnyThread>, Chain)>,
);

impl Run {
    #[inline]
    fn push<T>(&mut self, slot: Slot<T>) {
        /// A guard that adds a cell to the run after its value is dropped, even if the destructor panics.
        struct Joining<'a>(&'a mut Run, CellPtr, Layout);
        impl Drop for Joining<'_> {
            #[inline(always)]
            fn drop(&mut self) {
                let Self(run, cell, value) = self;
                // SAFETY: the cell is that of a slot of kind `AnyThread` with a value of this layout, so it belongs to
                // a `Core<AnyThread>` with the geometry of this layout. It is occupied, so its chunk is not freed.
                let core = unsafe { owner(*cell, Geometry::block(*value)) };
                match &mut run.0 {
                    // SAFETY: the value was dropped, and `into_cell` gave up the only slot of the cell. The cell has at
                    // least 8 bytes, aligned to 8, and the same owner as the others.
                    Some((known, chain)) if *known == core && chain.len() < LONGEST_RUN => unsafe { chain.push(*cell) },
                    _ => {
                        run.give();
                        // SAFETY: the value was dropped, and `into_cell` gave up the only slot of the cell, which has
                        // at least 8 bytes, aligned to 8.
                        run.0 = Some((core, unsafe { Chain::new(*cell) }));
                    }
                }
            }
        }
        let cell = slot.into_owner().into_cell();
        let _joining = Joining(self, cell, Layout::new::<T>());
        if mem::needs_drop::<T>() {
            // SAFETY: the value is live and was owned by the slot only, which `into_cell` consumed. It is dropped once.
            unsafe { cell.cast::<T>().drop_in_place() };
        }
    }

    /// Returns the chain to its slab.
    fn give(&mut self) {
        if let Some((core, chain)) = self.0.take() {
            // SAFETY: by the invariant these are occupied cells of this core whose values were dropped, and only the
            // run may free them. `take` has removed them from the run, so they are not used again.
            unsafe { AnyThread::give(core, chain) };
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.give();
    }
}
