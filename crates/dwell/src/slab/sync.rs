//! Slabs whose slots go to other threads.
//!
//! A [`Slab`] belongs to the thread that made it: only that thread inserts. Its [`Slot`]s are `Send` if their values are, and any
//! thread may drop them. On the slab's own thread a drop is that of a [`slab::Slab`](super::Slab) after a comparison of thread
//! numbers. Another thread pushes the cell to a list of the slab with one atomic exchange; the slab takes the whole list when its
//! free stack is empty. [`drop_all`] returns many cells at once.
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
//! Slab and slots may be dropped in any order, on any threads: the last one frees the memory.

use super::engine::CoreRef;
use super::geometry::Geometry;
use super::kind::sealed::CrossThread;
use super::memory::owner;
use super::remote::Chain;
use super::stack::CellPtr;
use core::alloc::Layout;
use core::mem;

pub use super::remote::AnyThread;

/// The owner of a value in a [`sync::Slab`](Slab): `Send` and `Sync` where the value is.
///
/// It has all methods of a [`slab::Slot`](super::Slot) except those for keys.
pub type Slot<T> = super::Slot<T, AnyThread>;

/// A [`slab::Pool`](super::Pool) whose slots are `Send` and `Sync` where their values are.
///
/// ```
/// use dwell::slab::sync::{Pool, PoolSlot};
///
/// let pool = Pool::new();
/// let future: PoolSlot<dyn Future<Output = u32> + Send> = pool.insert(async { 1_u32 }).coerce(|view| view as _);
/// let mut pinned = future.into_pin();
/// std::thread::spawn(move || {
///     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
///     assert!(pinned.as_mut().poll(&mut context).is_ready());
/// })
/// .join()
/// .unwrap();
/// ```
pub type Pool = super::SizeClasses<AnyThread>;

/// The owner of a value in a [`sync::Pool`](Pool).
pub type PoolSlot<T> = super::Slot<T, super::InPool<AnyThread>>;

// SAFETY: on another thread than that of the slab `AnyThread` gives the cell to a list of atomics; and it is not `Keyed`.
unsafe impl CrossThread for AnyThread {}

/// Memory for values of one type, whose slots may be dropped on other threads.
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
///
/// Its methods are those of [`TypedSlab`](super::TypedSlab).
pub type Slab<T> = super::TypedSlab<T, AnyThread>;

/// Drops slots, and gives the cells of a run of slots of one slab back together, up to 256 of them: one atomic exchange instead
/// of one each.
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

/// The number of cells that a run keeps from their slab, since an iterator, such as that of a channel, may not end.
const LONGEST_RUN: usize = 256;

/// Cells of one slab. Its drop returns them, after a panic too.
struct Run(
    // Invariant: the cells of the chain are occupied cells of this core. Their values are gone, and they are the run's to free.
    Option<(CoreRef<AnyThread>, Chain)>,
);

impl Run {
    #[inline]
    fn push<T>(&mut self, slot: Slot<T>) {
        /// A cell that joins the run when its value is dropped, even if that panics.
        struct Joining<'a>(&'a mut Run, CellPtr, Layout);
        impl Drop for Joining<'_> {
            #[inline(always)]
            fn drop(&mut self) {
                let Self(run, cell, value) = self;
                // SAFETY: it is the cell of a slot of kind `AnyThread` with a value of this layout, so of a `Core<AnyThread>` with
                // that geometry. It is occupied, so that its chunk was not freed.
                let core = unsafe { owner(*cell, Geometry::block(*value)) };
                match &mut run.0 {
                    // SAFETY: the value is gone, and `into_cell` has given the cell to us; it is of the same slab.
                    Some((of, chain)) if *of == core && chain.len() < LONGEST_RUN => unsafe { chain.push(*cell) },
                    _ => {
                        run.give();
                        // SAFETY: the value is gone, and `into_cell` has given the cell to us.
                        run.0 = Some((core, unsafe { Chain::new(*cell) }));
                    }
                }
            }
        }
        let cell = slot.into_cell();
        let _joining = Joining(self, cell, Layout::new::<T>());
        if mem::needs_drop::<T>() {
            // SAFETY: the value was the slot's, which is consumed; no other pointer to it exists.
            unsafe { cell.cast::<T>().drop_in_place() };
        }
    }

    /// Gives the chain back.
    fn give(&mut self) {
        if let Some((core, chain)) = self.0.take() {
            // SAFETY: by the invariant they are occupied cells of this core, whose values are gone, and the run's to free.
            unsafe { AnyThread::give(core, chain) };
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.give();
    }
}
