//! Arenas for threads that come and go.

use super::Bump;
use crate::alloc::{Allocator, Global};
use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std_alloc::vec::Vec;

/// Hands out an arena to each thread that asks and takes it back, with its chunks and what is in them.
///
/// Values that a thread [keeps](Pooled::keep) live as long as the pool is borrowed, so that others can use them when the
/// thread has gone. What it needs for a while goes to a [`scope`](Bump::scope).
///
/// ```
/// use dwell::bump::Pool;
/// use std::thread;
///
/// let mut pool = Pool::new();
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
pub struct Pool<const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    shelf: Mutex<Vec<Bump<MIN_ALIGN, A>>>,
    /// What a new arena's allocator is cloned from. Not on the shelf: a clone is the user's code, and may come back here.
    alloc: A,
}

impl Pool {
    /// A pool without arenas.
    pub const fn new() -> Self {
        Self::new_in(Global)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Pool<MIN_ALIGN, A> {
    /// A pool without arenas, whose chunks will come from clones of `alloc`.
    pub const fn new_in(alloc: A) -> Self {
        Self { shelf: Mutex::new(Vec::new()), alloc }
    }

    /// The shelf is in order whatever panicked: arenas are put there and taken off whole.
    fn shelf(&self) -> MutexGuard<'_, Vec<Bump<MIN_ALIGN, A>>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `f` on the arenas that nobody has, unless another thread is at the shelf.
    pub(crate) fn shelved<R>(&self, f: impl FnOnce(&Vec<Bump<MIN_ALIGN, A>>) -> R) -> Option<R> {
        match self.shelf.try_lock() {
            Ok(guard) => Some(f(&guard)),
            Err(TryLockError::Poisoned(guard)) => Some(f(&guard.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// An arena for a thread: the one that came back last, or a new one.
    pub fn get(&self) -> Pooled<'_, MIN_ALIGN, A>
    where
        A: Clone,
    {
        let shelved = self.shelf().pop();
        let bump = shelved.unwrap_or_else(|| Bump::new_in(self.alloc.clone()));
        Pooled { bump: ManuallyDrop::new(bump), pool: self }
    }

    /// Forgets everything that was allocated in the arenas. See [`Bump::reset`].
    pub fn reset(&mut self) {
        self.shelf.get_mut().unwrap_or_else(PoisonError::into_inner).iter_mut().for_each(Bump::reset);
    }
}

impl<const MIN_ALIGN: usize, A: Allocator + Default> Default for Pool<MIN_ALIGN, A> {
    fn default() -> Self {
        Self::new_in(A::default())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Pool<MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("arenas", &self.shelf().len()).finish_non_exhaustive()
    }
}

/// An arena of a [`Pool`]'s, which goes back to it when this is dropped.
///
/// It is used like a [`Bump`]. References from its methods are gone when it is; those from [`keep`](Self::keep) are not.
pub struct Pooled<'p, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `bump` is there until this is dropped, and no one has it but by `&`: what was kept for `'p` stays in its chunks,
    //    which are the pool's again afterwards.
    bump: ManuallyDrop<Bump<MIN_ALIGN, A>>,
    pool: &'p Pool<MIN_ALIGN, A>,
}

impl<'p, const MIN_ALIGN: usize, A: Allocator> Pooled<'p, MIN_ALIGN, A> {
    /// What `make` puts into the arena, for as long as the pool is borrowed.
    pub fn keep<T: ?Sized>(&self, make: impl for<'b> FnOnce(&'b Bump<MIN_ALIGN, A>) -> &'b mut T) -> &'p mut T {
        let kept: *mut T = make(&self.bump);
        // SAFETY: `make` returns it for every lifetime that it may be called with, so that it is in the arena or lives
        // longer than any. The arena's chunks stay with the pool for `'p` (invariant 1), whose `reset` needs it exclusively.
        unsafe { &mut *kept }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Deref for Pooled<'_, MIN_ALIGN, A> {
    type Target = Bump<MIN_ALIGN, A>;

    fn deref(&self) -> &Self::Target {
        &self.bump
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for Pooled<'_, MIN_ALIGN, A> {
    fn drop(&mut self) {
        // SAFETY: by invariant 1 it is there; it is not used again.
        let bump = unsafe { ManuallyDrop::take(&mut self.bump) };
        self.pool.shelf().push(bump);
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Pooled<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pooled").field(&*self.bump).finish()
    }
}
