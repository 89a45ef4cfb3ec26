//! Conversions between boxes: from and to `Box` and raw pointers, to another type, and to another inline capacity.

use super::SmallBox;
use super::storage::{allocate, deallocate};
use crate::alloc::{AllocError, Allocator, Global};
use crate::coerce::{Brand, Coercible};
use crate::raw::{Meta, layout_of};
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::pin::Pin;
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Converts from a `Box` and keeps its block. Nothing is allocated, moved or freed.
    ///
    /// A small value stays on the heap until [`resize`](Self::resize) moves it inline.
    ///
    /// ```
    /// use dwell::SmallBox;
    /// use std::fmt::Display;
    ///
    /// let boxed: Box<dyn Display> = Box::new(7);
    /// let small: SmallBox<dyn Display> = SmallBox::from_box(boxed);
    /// assert!(!small.is_inline());
    /// assert_eq!(small.to_string(), "7");
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the value is a slice of more than `usize::MAX / 32` elements.
    #[doc(alias = "into")]
    #[doc(alias = "from")]
    #[inline]
    pub fn from_box(value: Box<T>) -> Self {
        let meta = Meta::new(&raw const *value, true);
        // SAFETY: `Box::into_raw` returns a pointer that is not null, as its documentation says.
        let block = unsafe { NonNull::new_unchecked(Box::into_raw(value).cast()) };
        // SAFETY: a `Box` has a block of its value's layout from the global allocator, or a dangling aligned address
        // for size 0 ("Memory layout" in its documentation), and `into_raw` gave up its ownership. `meta` is the
        // metadata of the value with the heap bit.
        unsafe { Self::from_block(block, meta, Global) }
    }

    /// Like [`from_box`](Self::from_box), but moves a value that fits to the inline buffer. If the `Box` is created in
    /// the same function, the optimiser removes its allocation.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the optimiser removes the allocation only if this function is inlined")]
    pub(super) fn from_box_inline(value: Box<T>) -> Self {
        let meta = Meta::new(&raw const *value, false);
        let value = Box::into_raw(value);
        // SAFETY: the value is live, and the pointer from `Box::into_raw` may be written through.
        let layout = unsafe { layout_of(value) };
        if !Self::fits(layout.size(), layout.align()) {
            // SAFETY: `into_raw` returned the pointer above, and it is not used again.
            return Self::from_box(unsafe { Box::from_raw(value) });
        }
        // SAFETY: the value is live and has this size and metadata. It fits inline, as checked above, so no block is
        // needed. It is not used in its old block again.
        let this = unsafe { Self::move_from(value, layout.size(), meta, None, Global) };
        // SAFETY: `Box::into_raw` returns a pointer that is not null, as its documentation says.
        let block = unsafe { NonNull::new_unchecked(value.cast()) };
        // SAFETY: the block came from a `Box`: the global allocator allocated it with the layout of the value ("Memory
        // layout" in its documentation), or there is none for size 0. The value was moved out of it, and it is not used
        // again.
        unsafe { deallocate(block, layout, &Global) };
        this
    }

    /// Converts to a `Box`. A spilled value keeps its block: nothing is allocated or moved.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    /// use std::fmt::Display;
    ///
    /// let small: SmallBox<dyn Display> = small_box!(7);
    /// let boxed: Box<dyn Display> = small.into_box();
    /// assert_eq!(boxed.to_string(), "7");
    /// ```
    #[inline]
    pub fn into_box(self) -> Box<T> {
        match self.try_into_box() {
            Ok(boxed) => boxed,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// Like [`into_box`](Self::into_box), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value is inline and the allocation of a block for it fails; the error contains the small box.
    pub fn try_into_box(self) -> Result<Box<T>, AllocError<Self>> {
        let this = match self.try_unspill() {
            Ok(boxed) => return Ok(boxed),
            Err(this) => ManuallyDrop::new(this),
        };
        // SAFETY: the value is live, `this` owns it, and `value` returns a pointer to the inline storage that may be
        // written through. `this` is in a `ManuallyDrop` and is not used again if the value was moved. `Global` needs no
        // drop.
        unsafe { move_to_box(this.value()) }.map_err(|layout| AllocError::new(ManuallyDrop::into_inner(this), layout))
    }

    /// Converts to a pinned `Box`. An inline value is moved to the heap, because it would move with its small box.
    ///
    /// A `SmallBox` that is pinned itself needs no allocation: see [`project`](Self::project).
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    /// use std::pin::Pin;
    ///
    /// let small: SmallBox<dyn Future<Output = u8>> = small_box!(async { 7 });
    /// let pinned: Pin<Box<dyn Future<Output = u8>>> = small.into_pin();
    /// # drop(pinned);
    /// ```
    #[inline]
    pub fn into_pin(self) -> Pin<Box<T>> {
        Box::into_pin(self.into_box())
    }

    /// Like [`into_pin`](Self::into_pin), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value is inline and the allocation of a block for it fails; the error contains the small box.
    #[inline]
    pub fn try_into_pin(self) -> Result<Pin<Box<T>>, AllocError<Self>> {
        self.try_into_box().map(Box::into_pin)
    }

    /// Leaks the box and returns a reference to its value. An inline value is first moved to the heap, because its
    /// memory is part of the box.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    ///
    /// let names: SmallBox<[&str]> = small_box!(["a"]);
    /// let names: &'static mut [&str] = names.leak();
    /// assert_eq!(names, ["a"]);
    /// # drop(SmallBox::<[&str]>::from_box(unsafe { Box::from_raw(names) })); // Miri looks for leaks
    /// ```
    #[inline]
    pub fn leak<'a>(self) -> &'a mut T
    where
        T: 'a,
    {
        Box::leak(self.into_box())
    }

    /// Like [`leak`](Self::leak), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value is inline and the allocation of a block for it fails; the error contains the small box.
    #[inline]
    pub fn try_leak<'a>(self) -> Result<&'a mut T, AllocError<Self>>
    where
        T: 'a,
    {
        self.try_into_box().map(Box::leak)
    }

    /// Converts to a raw pointer, as [`Box::into_raw`] does. The caller then owns the value.
    ///
    /// An inline value is first moved to the heap, because its memory is part of the box and a pointer to it would
    /// dangle. Pass the pointer to [`from_raw`](Self::from_raw) or [`Box::from_raw`] to free it.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    /// use std::fmt::Display;
    ///
    /// let small: SmallBox<dyn Display> = small_box!(7);
    /// let raw: *mut dyn Display = small.into_raw();
    /// // SAFETY: `into_raw` returned the pointer, and nothing else uses it.
    /// let small: SmallBox<dyn Display> = unsafe { SmallBox::from_raw(raw) };
    /// assert_eq!(small.to_string(), "7");
    /// ```
    #[inline]
    pub fn into_raw(self) -> *mut T {
        Box::into_raw(self.into_box())
    }

    /// Like [`into_raw`](Self::into_raw), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value is inline and the allocation of a block for it fails; the error contains the small box.
    #[inline]
    pub fn try_into_raw(self) -> Result<*mut T, AllocError<Self>> {
        self.try_into_box().map(Box::into_raw)
    }

    /// Creates a box from a pointer that [`into_raw`](Self::into_raw) returned. The value stays spilled until
    /// [`resize`](Self::resize) moves it inline.
    ///
    /// # Safety
    ///
    /// `raw` meets the requirements of [`Box::from_raw`]: [`into_raw`](Self::into_raw) or [`Box::into_raw`] returned
    /// it, and no other box was made from it.
    ///
    /// # Panics
    ///
    /// Panics if the value is a slice of more than `usize::MAX / 32` elements.
    #[inline]
    pub unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller guarantees that `Box::into_raw`, or `SmallBox::into_raw`, which calls it, returned the
        // pointer, and that no other box was made from it. So the new `Box` is the only owner.
        Self::from_box(unsafe { Box::from_raw(raw) })
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// Coerces the value of a box, for example to a supertrait.
    ///
    /// The closure gets a [`Coercible`], which it can only coerce and return. Write `|value| value as _`, as here. A bare
    /// `|value| value` compiles only with the type named, `coerce::<dyn Debug, _>(|value| value)`: otherwise the closure
    /// returns what it got, and the compiler reports mismatched types.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    /// use std::error::Error;
    /// use std::fmt::Debug;
    ///
    /// let error: SmallBox<dyn Error> = small_box!(std::fmt::Error);
    /// let debug: SmallBox<dyn Debug> = error.coerce(|value| value as _);
    /// assert_eq!(format!("{debug:?}"), "Error");
    /// ```
    ///
    /// # Panics
    ///
    /// When the result is a slice of more than `usize::MAX / 32` elements, which only zero-sized elements allow.
    #[doc(alias = "unsize")]
    #[doc(alias = "upcast")]
    #[inline]
    pub fn coerce<V: ?Sized, F>(self, unsize: F) -> SmallBox<V, N, A, L>
    where
        F: for<'a, 'brand> FnOnce(&'a Coercible<Brand<'brand>, T>) -> &'a Coercible<Brand<'brand>, V>,
    {
        // SAFETY: the value is live as long as `self` is borrowed, which is until the closure has returned. The closure
        // is generic over the lifetime of the brand.
        let wrapped = unsafe { Coercible::at(self.value()) };
        let meta = Meta::new(unsize(wrapped).as_ptr(), self.meta().is_heap());
        // SAFETY: the closure is generic over the brand, so the only `Coercible` with this brand is the closure's
        // argument, and the closure returned that argument, coerced. A coercion changes neither the address nor the
        // layout of a value, and the heap bit is the same.
        unsafe { self.with_meta(meta) }
    }

    /// Converts to a box of another inline capacity. The value moves inline if it fits there; otherwise it moves to the
    /// heap or stays there.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    ///
    /// let large: SmallBox<[u64]> = small_box!([1_u64, 2, 3, 4]);
    /// assert!(!large.is_inline());
    /// let wide: SmallBox<[u64], 4> = large.resize();
    /// assert!(wide.is_inline());
    /// ```
    #[inline]
    pub fn resize<const M: usize>(self) -> SmallBox<T, M, A, L> {
        match self.try_resize() {
            Ok(resized) => resized,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// Like [`resize`](Self::resize), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value has to move to the heap and the allocation fails; the error contains the box unchanged.
    pub fn try_resize<const M: usize>(self) -> Result<SmallBox<T, M, A, L>, AllocError<Self>> {
        let layout = self.layout();
        // SAFETY: `then` calls the closure only if the heap bit is set, and then the value is spilled.
        let old = self.meta().is_heap().then(|| unsafe { self.heap_address() });
        let fits = SmallBox::<T, M, A, L>::fits(layout.size(), layout.align());
        let new = match (old, fits) {
            (_, true) => None,
            (Some(block), false) => Some(block), // the value keeps its block
            (None, false) => match allocate(layout, self.allocator()) {
                Ok(block) => Some(block),
                Err(_) => return Err(AllocError::new(self, layout)),
            },
        };
        let this = ManuallyDrop::new(self);
        let value = this.value();
        // SAFETY: `this` is not dropped, and its allocator is not used again.
        let alloc = unsafe { Self::take_alloc(&this) };
        // SAFETY: the value is live and has this size and metadata (invariant 1). `this` is not dropped, so the value is
        // not used again at its old address. `new` is `None` if the value fits, and otherwise its own block or a new
        // block of its layout from this allocator.
        let resized = unsafe { SmallBox::move_from(value, layout.size(), this.meta(), new, alloc) };
        if let (Some(block), true) = (old, fits) {
            // SAFETY: the block came from this allocator with the value's layout (invariant 3), and the value has been
            // moved out of it.
            unsafe { deallocate(block, layout, resized.allocator()) };
        }
        Ok(resized)
    }
}

/// Moves a value to a new `Box`, or returns its layout if the allocation fails.
///
/// # Safety
///
/// `value` points to a live `T` and may be written through. If it is moved, it is not used or dropped afterwards.
pub(super) unsafe fn move_to_box<T: ?Sized>(value: *mut T) -> Result<Box<T>, Layout> {
    // SAFETY: the caller guarantees that the value is live and that the pointer may be written through.
    let layout = unsafe { layout_of(value) };
    let meta = Meta::new(value, true);
    let Ok(block) = allocate(layout, &Global) else { return Err(layout) };
    // SAFETY: the value is valid for reads of its size, and the block, which is new, for writes of as many bytes.
    unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), block.as_ptr().cast::<u8>(), layout.size()) };
    // SAFETY: the block came from the global allocator with the value's layout and holds the value. The caller
    // guarantees that the value is not used at its old address afterwards.
    Ok(unsafe { Box::from_raw(meta.decode(block.as_ptr()).cast_mut()) })
}
