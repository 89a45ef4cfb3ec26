//! Arenas for short-lived threads.

use super::Bump;
use crate::alloc::{AllocError, Allocator, Global, try_box};
use core::cell::Cell;
use core::fmt;
use core::ops::Deref;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std_alloc::alloc::{Layout, handle_alloc_error};
use std_alloc::boxed::Box;

/// A pool that lends an arena to each thread and takes it back with its chunks and their contents.
///
/// Values that a thread [keeps](BumpPoolGuard::keep) live as long as the pool is borrowed, so other threads can use them after
/// that thread has ended. Temporary values belong in a [`scope`](Bump::scope).
///
/// ```
/// use dwell::bump::BumpPool;
/// use std::thread;
///
/// let mut pool = BumpPool::new();
/// let words = thread::scope(|threads| {
///     let work = ["b a", "d c"].map(|line| {
///         let pool = &pool;
///         threads.spawn(move || {
///             let bump = pool.get();
///             let words = bump.keep(|bump| bump.alloc_iter(line.split(' ')));
///             words.sort();
///             words
///         })
///     });
///     work.map(|thread| thread.join().unwrap())
/// });
/// assert_eq!(words, [["a", "b"], ["c", "d"]]);
/// pool.reset(); // `words` can not be used after this
/// ```
pub struct BumpPool<const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    idle: Mutex<Idle<MIN_ALIGN, A>>,
    /// The allocator whose clones new arenas get. It is not behind the lock, because `clone` is user code and may use
    /// the pool.
    alloc: A,
}

/// An arena of a pool.
///
/// It does not move until the pool is dropped, since a kept value may be a reference into the arena itself, such as one
/// that its allocator returned.
struct Entry<const MIN_ALIGN: usize, A: Allocator> {
    bump: Bump<MIN_ALIGN, A>,
    next: Cell<Next<MIN_ALIGN, A>>,
}

type Next<const MIN_ALIGN: usize, A> = Option<NonNull<Entry<MIN_ALIGN, A>>>;

/// A stack of the arenas that no thread uses.
// The pointers are raw, since moving a `Box` asserts that no other pointer to its value is used. The list is linked
// through the entries, since a push must not allocate.
struct Idle<const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `first` and the entries that follow it came from `Box`, are in the list once each, and belong to no `BumpPoolGuard`.
    first: Next<MIN_ALIGN, A>,
}

// SAFETY: an `Idle` owns its entries. Nothing else uses them except kept values, which borrow the pool.
unsafe impl<const MIN_ALIGN: usize, A: Allocator + Send> Send for Idle<MIN_ALIGN, A> {}

impl<const MIN_ALIGN: usize, A: Allocator> Idle<MIN_ALIGN, A> {
    fn iter(&self) -> impl Iterator<Item = NonNull<Entry<MIN_ALIGN, A>>> {
        let mut next = self.first;
        core::iter::from_fn(move || {
            let entry = next?;
            // SAFETY: entries of the list are not freed, and none is removed while `self` is borrowed.
            next = unsafe { entry.as_ref() }.next.get();
            Some(entry)
        })
    }

    fn pop(&mut self) -> Next<MIN_ALIGN, A> {
        let entry = self.first?;
        // SAFETY: entries are taken off the list before they are freed.
        self.first = unsafe { entry.as_ref() }.next.take();
        Some(entry)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Idle<MIN_ALIGN, A> {
    fn drop(&mut self) {
        while let Some(entry) = self.pop() {
            // SAFETY: the entry came from a `Box` (invariant 1), and `pop` took it off the list. The pool is no longer
            // borrowed, so no kept reference is used.
            drop(unsafe { Box::from_raw(entry.as_ptr()) });
        }
    }
}

impl BumpPool {
    /// Creates a pool without arenas.
    pub const fn new() -> Self {
        Self::new_in(Global)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> BumpPool<MIN_ALIGN, A> {
    /// The layout of an arena of a pool.
    pub(crate) const ENTRY: Layout = Layout::new::<Entry<MIN_ALIGN, A>>();

    /// Creates a pool without arenas. Its arenas allocate chunks from clones of `alloc`.
    pub const fn new_in(alloc: A) -> Self {
        Self { idle: Mutex::new(Idle { first: None }), alloc }
    }

    /// Locks the list. A poisoned lock is ignored: nothing that can panic runs while the list changes, so it is valid
    /// after any panic.
    fn idle(&self) -> MutexGuard<'_, Idle<MIN_ALIGN, A>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `each` for each arena that no thread uses. Returns false, without a call, if the lock is taken.
    pub(crate) fn each_idle(&self, mut each: impl FnMut(&Bump<MIN_ALIGN, A>)) -> bool {
        let idle = match self.idle.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(guard)) => guard.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        for entry in idle.iter() {
            // SAFETY: entries of the list are not freed, and no thread takes this one while the lock is held.
            each(&unsafe { entry.as_ref() }.bump);
        }
        true
    }

    /// Lends the arena that was returned last, or a new one.
    pub fn get(&self) -> BumpPoolGuard<'_, MIN_ALIGN, A>
    where
        A: Clone,
    {
        self.try_get().unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`get`](Self::get) that reports a failed allocation.
    ///
    /// ```
    /// use dwell::bump::BumpPool;
    ///
    /// let pool = BumpPool::new();
    /// let bump = pool.try_get()?;
    /// assert_eq!(*bump.try_alloc(7)?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When no arena is idle and there is no memory for a new one.
    pub fn try_get(&self) -> Result<BumpPoolGuard<'_, MIN_ALIGN, A>, AllocError<()>>
    where
        A: Clone,
    {
        let idle = self.idle().pop();
        let entry = if let Some(entry) = idle {
            entry
        } else {
            let entry = Entry { bump: Bump::new_in(self.alloc.clone()), next: Cell::new(None) };
            NonNull::from(Box::leak(try_box(entry).map_err(|error| error.map(drop))?))
        };
        Ok(BumpPoolGuard { entry, pool: self })
    }

    /// Resets all arenas. See [`Bump::reset`].
    pub fn reset(&mut self) {
        for entry in self.idle.get_mut().unwrap_or_else(PoisonError::into_inner).iter() {
            // SAFETY: entries of the list are not freed. The pool is borrowed exclusively, so no thread has the entry,
            // and no value that was kept in it is used again.
            unsafe { &mut (*entry.as_ptr()).bump }.reset();
        }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator + Default> Default for BumpPool<MIN_ALIGN, A> {
    fn default() -> Self {
        Self::new_in(A::default())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for BumpPool<MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let idle = self.idle().iter().count();
        f.debug_struct("BumpPool").field("arenas", &idle).finish_non_exhaustive()
    }
}

/// An arena on loan from a [`BumpPool`]. Dropping this returns the arena.
///
/// It dereferences to a [`Bump`]. References from the methods of `Bump` cannot outlive this value; those from
/// [`keep`](Self::keep) can.
pub struct BumpPoolGuard<'p, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `entry` belongs to the pool and is in no list. Apart from kept references, only this value uses it.
    // 2. The arena is only borrowed by `&`, so kept values stay in its chunks for `'p`.
    entry: NonNull<Entry<MIN_ALIGN, A>>,
    pool: &'p BumpPool<MIN_ALIGN, A>,
}

// SAFETY: only this value uses the arena (invariant 1), which is `Send` if the allocator is. The reference to the pool
// is `Send` if the allocator is `Send` and `Sync`.
unsafe impl<const MIN_ALIGN: usize, A: Allocator + Send + Sync> Send for BumpPoolGuard<'_, MIN_ALIGN, A> {}
// As for a `Bump` and a reference to the pool.
impl<const MIN_ALIGN: usize, A: Allocator + UnwindSafe + RefUnwindSafe> UnwindSafe for BumpPoolGuard<'_, MIN_ALIGN, A> {}
impl<const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> RefUnwindSafe for BumpPoolGuard<'_, MIN_ALIGN, A> {}

impl<'p, const MIN_ALIGN: usize, A: Allocator> BumpPoolGuard<'p, MIN_ALIGN, A> {
    /// Returns the value that `make` allocates, borrowed for as long as the pool is.
    pub fn keep<T: ?Sized>(&self, make: impl for<'b> FnOnce(&'b Bump<MIN_ALIGN, A>) -> &'b mut T) -> &'p mut T {
        let kept: *mut T = make(self);
        // SAFETY: `make` accepts every lifetime for which an arena can be borrowed, `'p` among them. So the value that
        // it returns is in a chunk of the arena, in a chunk of a forgotten scope, which is never freed, in the arena
        // itself, or borrowed for `'p` or longer. Chunks and arena stay where they are until the pool is dropped or
        // reset, which is impossible for `'p`, while the pool is borrowed. `make` returns an exclusive reference, so
        // nothing else refers to the value.
        unsafe { &mut *kept }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Deref for BumpPoolGuard<'_, MIN_ALIGN, A> {
    type Target = Bump<MIN_ALIGN, A>;

    fn deref(&self) -> &Self::Target {
        // SAFETY: only the pool frees entries, and it is borrowed. No exclusive reference to this one exists.
        &unsafe { self.entry.as_ref() }.bump
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for BumpPoolGuard<'_, MIN_ALIGN, A> {
    fn drop(&mut self) {
        let mut idle = self.pool.idle();
        // SAFETY: only the pool frees entries, and it is borrowed.
        unsafe { self.entry.as_ref() }.next.set(idle.first);
        idle.first = Some(self.entry);
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for BumpPoolGuard<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BumpPoolGuard").field(&**self).finish()
    }
}
