//! The additions of the feature `nightly`: `Unsize` constructors, the `Fn` traits, and `Box` with allocators.

use super::{Coercible, SmallBox};
use crate::alloc::{AllocError, Allocator, Global};
use crate::raw::Meta;
use core::marker::{Tuple, Unsize};
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};
use std_alloc::boxed::Box;

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Like [`new_coerced`](SmallBox::new_coerced), but without the closure.
    ///
    /// ```
    /// use dwell::SmallBox;
    /// use std::fmt::Debug;
    ///
    /// let value = SmallBox::<dyn Debug>::new_unsize(7);
    /// assert_eq!(format!("{value:?}"), "7");
    /// ```
    #[inline]
    pub fn new_unsize<U: Unsize<T>>(value: U) -> Self {
        Self::new_coerced(value, |value: &Coercible<U, U>| value)
    }

    /// Like [`new_unsize`](Self::new_unsize), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value does not fit inline and the allocation fails, or if it is coerced to a slice of more than
    /// `usize::MAX / 32` elements. The error contains the value.
    #[inline]
    pub fn try_new_unsize<U: Unsize<T>>(value: U) -> Result<Self, AllocError<U>> {
        Self::try_new_coerced(value, |value: &Coercible<U, U>| value)
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// Like [`coerce`](Self::coerce), but without the closure.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let array: SmallBox<[u8; 3]> = SmallBox::new([1, 2, 3]);
    /// let slice: SmallBox<[u8]> = array.unsize();
    /// assert_eq!(slice.len(), 3);
    /// ```
    #[inline]
    pub fn unsize<V: ?Sized>(self) -> SmallBox<V, N, A, L>
    where
        T: Unsize<V>,
    {
        // SAFETY: the closure is an unsizing coercion, which changes neither the address nor the layout of a value.
        unsafe { self.cast(|value| value as *const V) }
    }

    /// Like [`from_box`](SmallBox::from_box), but keeps the allocator of the `Box`.
    ///
    /// # Panics
    ///
    /// Panics if the value is a slice of more than `usize::MAX / 32` elements.
    #[inline]
    pub fn from_box_in(value: Box<T, A>) -> Self {
        let meta = Meta::new(&raw const *value, true);
        let (value, alloc) = Box::into_raw_with_allocator(value);
        // SAFETY: `Box::into_raw_with_allocator` returns a pointer that is not null, as that of `Box::into_raw` is.
        let block = unsafe { NonNull::new_unchecked(value.cast()) };
        // SAFETY: a `Box` has a block of its value's layout from its allocator, or a dangling aligned address for size
        // 0, and `into_raw_with_allocator` gave up its ownership. `meta` is the metadata of the value with the heap
        // bit.
        unsafe { Self::from_block(block, meta, alloc) }
    }

    /// Like [`try_into_box`](SmallBox::try_into_box), but keeps the allocator of the small box.
    ///
    /// # Errors
    ///
    /// If the value is inline and the allocation of a block for it fails; the error contains the small box.
    pub fn try_into_box_in(self) -> Result<Box<T, A>, AllocError<Self>> {
        let layout = self.layout();
        let block = if !self.is_inline() {
            // SAFETY: the heap bit is set, so the value is spilled.
            unsafe { self.heap_address() }
        } else {
            let Ok(block) = super::storage::allocate(layout, self.allocator()) else {
                return Err(AllocError::new(self, layout));
            };
            // SAFETY: the value is valid for reads of its size, and the block, which is new, for writes of as many
            // bytes.
            unsafe { ptr::copy_nonoverlapping(self.value().cast::<u8>(), block.as_ptr().cast::<u8>(), layout.size()) };
            block
        };
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped, and its allocator is not used again.
        let alloc = unsafe { Self::take_alloc(&this) };
        // SAFETY: the block came from this allocator with the value's layout, from `allocate` above or by invariant 3
        // of `SmallBox`, and holds the value. `this` is not dropped, so the `Box` is its only owner.
        Ok(unsafe { Box::from_raw_in(this.meta().decode(block.as_ptr()).cast_mut(), alloc) })
    }
}

impl<Args: Tuple, F: ?Sized + FnOnce<Args>, const N: usize, A: Allocator, L> FnOnce<Args> for SmallBox<F, N, A, L> {
    type Output = F::Output;

    #[inline]
    extern "rust-call" fn call_once(self, args: Args) -> F::Output {
        let mut shell = self.without_drop();
        // SAFETY: the shell does not drop its value, and nothing uses the value but the box made here, which the call
        // consumes. The shell, which has the value's memory, is dropped after the call, so that memory outlives the
        // box.
        let closure = unsafe { super::call::owned::take(&mut **shell) };
        <Box<F, _> as FnOnce<Args>>::call_once(closure, args)
    }
}

impl<Args: Tuple, F: ?Sized + FnMut<Args>, const N: usize, A: Allocator, L> FnMut<Args> for SmallBox<F, N, A, L> {
    #[inline]
    extern "rust-call" fn call_mut(&mut self, args: Args) -> F::Output {
        (**self).call_mut(args)
    }
}

impl<Args: Tuple, F: ?Sized + Fn<Args>, const N: usize, A: Allocator, L> Fn<Args> for SmallBox<F, N, A, L> {
    #[inline]
    extern "rust-call" fn call(&self, args: Args) -> F::Output {
        (**self).call(args)
    }
}
