//! Allocation of single values.

use super::Bump;
use crate::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::ptr::NonNull;
use std_alloc::alloc::handle_alloc_error;

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Moves a value into the arena, which never drops it.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let number = bump.alloc(1);
    /// *number += 1;
    /// assert_eq!(*number, 2);
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn alloc<T>(&self, value: T) -> &mut T {
        if const { size_of::<T>() == 0 || size_of::<T>() > 2 * size_of::<usize>() } {
            return self.alloc_with(|| value);
        }
        // The slow path is a tail call that takes up to two words in registers, so the fast path saves no registers. A
        // larger value would be built on the stack and passed by address. `alloc_with` takes its block first instead.
        match self.take_typed::<T>() {
            // SAFETY: the block was just allocated for a `T`, so it is valid and aligned, and no other pointer to it
            // exists.
            Some(block) => unsafe { Self::fill(block.cast(), value) },
            None => self.alloc_slow(value),
        }
    }

    /// [`alloc`](Self::alloc) of a small value that does not fit in the free range.
    #[cold]
    #[inline(never)]
    fn alloc_slow<T>(&self, value: T) -> &mut T {
        let layout = Layout::new::<T>();
        let block = self.refill(layout).unwrap_or_else(|| handle_alloc_error(layout));
        // SAFETY: the block was just allocated for a `T`, so it is valid and aligned, and no other pointer to it
        // exists.
        unsafe { Self::fill(block.cast(), value) }
    }

    /// Writes a value to its block.
    ///
    /// # Safety
    ///
    /// `block` is valid for writes of a `T`, aligned, and nothing else accesses it for `'a`.
    #[inline(always)]
    pub(super) unsafe fn fill<'a, T>(block: NonNull<T>, value: T) -> &'a mut T {
        // SAFETY: the caller guarantees that the block is valid for writes and aligned.
        unsafe { block.write(value) };
        // SAFETY: the line above wrote a value to it, and the caller guarantees that nothing else accesses it for `'a`.
        unsafe { &mut *block.as_ptr() }
    }

    /// [`alloc`](Self::alloc) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    #[inline]
    pub fn try_alloc<T>(&self, value: T) -> Result<&mut T, AllocError<T>> {
        match self.block_for::<T>() {
            // SAFETY: `block_for` returned a block for a `T` (dangling if `T` has size 0), so it is valid and aligned,
            // and no other pointer to it exists.
            Some(block) => Ok(unsafe { Self::fill(block, value) }),
            None => Err(AllocError::new(value, Layout::new::<T>())),
        }
    }

    /// Allocates a block for a value.
    #[inline]
    pub(super) fn block_for<T>(&self) -> Option<NonNull<T>> {
        if size_of::<T>() == 0 {
            return Some(NonNull::dangling());
        }
        self.take_typed::<T>().or_else(|| self.refill(Layout::new::<T>())).map(NonNull::cast)
    }

    /// Allocates a block and writes the value that `make` returns to it.
    ///
    /// For large values: optimised code writes the result to the block and not to the stack first.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let page: &mut [u8; 4096] = bump.alloc_with(|| [0; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn alloc_with<T>(&self, make: impl FnOnce() -> T) -> &mut T {
        let block = self.block_for::<T>().unwrap_or_else(|| handle_alloc_error(Layout::new::<T>()));
        // `make` may use the arena: the block already belongs to this call.
        // SAFETY: the block was just allocated for a `T`, so it is valid and aligned, and no other pointer to it
        // exists.
        unsafe { Self::fill(block, make()) }
    }

    /// [`alloc_with`](Self::alloc_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. `make` is returned in the error and was not called.
    #[inline]
    pub fn try_alloc_with<T, F: FnOnce() -> T>(&self, make: F) -> Result<&mut T, AllocError<F>> {
        match self.block_for::<T>() {
            // SAFETY: `block_for` returned a block for a `T` (dangling if `T` has size 0), so it is valid and aligned.
            // No other pointer to it exists, whatever `make` does with the arena.
            Some(block) => Ok(unsafe { Self::fill(block, make()) }),
            None => Err(AllocError::new(make, Layout::new::<T>())),
        }
    }
}
