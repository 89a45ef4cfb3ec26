//! Functions that box a value.

use super::SmallBox;
use super::storage::InlineStorage;
use crate::alloc::{AllocError, Allocator, Global, largest_layout};
use crate::coerce::Coercible;
use crate::raw::Meta;
use core::alloc::Layout;
use core::mem::{ManuallyDrop, MaybeUninit};
use core::ptr;
use std_alloc::alloc::handle_alloc_error;

impl<T> SmallBox<T> {
    /// Boxes a value of this type, with the default inline capacity of two words.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let byte = SmallBox::new(5_u8);
    /// assert_eq!(*byte, 5);
    /// ```
    ///
    /// For another inline capacity use [`From`] or [`new_in`](Self::new_in). For a `SmallBox<dyn Trait>` use
    /// [`small_box!`](crate::small_box), or [`from_box`](SmallBox::from_box) if you have a `Box<dyn Trait>`.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let wide: SmallBox<[u64; 4], 4> = SmallBox::from([1, 2, 3, 4]);
    /// assert!(wide.is_inline());
    /// ```
    #[inline]
    pub fn new(value: T) -> Self {
        Self::new_in(value, Global)
    }

    /// Like [`new`](Self::new), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value does not fit inline and the allocation fails; the error contains the value.
    #[inline]
    pub fn try_new(value: T) -> Result<Self, AllocError<T>> {
        Self::try_new_in(value, Global)
    }
}

impl<T, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes the result of `make`, and allocates before it calls `make`.
    ///
    /// This is for large values: optimised code writes the result to the box instead of the stack.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let page: SmallBox<[u8; 4096]> = SmallBox::new_with(|| [0; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline]
    pub fn new_with(make: impl FnOnce() -> T) -> Self {
        match Self::try_new_with(make) {
            Ok(this) => this,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// Like [`new_with`](Self::new_with), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If a `T` does not fit inline and the allocation fails; the error contains `make`, which was not called.
    #[inline]
    pub fn try_new_with<F: FnOnce() -> T>(make: F) -> Result<Self, AllocError<F>> {
        match SmallBox::<MaybeUninit<T>, N, Global, L>::try_new_uninit_in(Global) {
            Ok(mut this) => {
                this.write(make());
                // SAFETY: the line above initialises the value.
                Ok(unsafe { this.assume_init() })
            }
            Err(error) => Err(error.map(|()| make)),
        }
    }

    /// Creates a box of an uninitialised value. See [`assume_init`](SmallBox::assume_init), and
    /// [`new_with`](Self::new_with), which needs no `unsafe`.
    #[inline]
    pub fn new_uninit() -> SmallBox<MaybeUninit<T>, N, Global, L> {
        SmallBox::new_in(MaybeUninit::uninit(), Global)
    }

    /// Like [`new_uninit`](Self::new_uninit), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If a `T` does not fit inline and the allocation fails.
    #[inline]
    pub fn try_new_uninit() -> Result<SmallBox<MaybeUninit<T>, N, Global, L>, AllocError<()>> {
        SmallBox::try_new_uninit_in(Global)
    }

    /// Boxes a value that fits inline. Usable in constants.
    ///
    /// A value that does not fit is a compile error. For a `dyn Trait` see
    /// [`small_box_const!`](crate::small_box_const).
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// static ORIGIN: SmallBox<(u32, u32)> = SmallBox::new_const((0, 0));
    /// assert_eq!(*ORIGIN, (0, 0));
    /// ```
    #[track_caller]
    pub const fn new_const(value: T) -> Self {
        InlineStorage::<N, L>::assert_fits::<T>(); // in a constant, this names the line of the caller
        // SAFETY: `T` is sized, so its metadata does not depend on the pointer, and `new_inline` leaves the heap bit
        // clear.
        unsafe { Self::new_fitting(value, Meta::new_inline(ptr::dangling::<T>())) }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Stores a value inline. A value that does not fit is a compile error.
    ///
    /// # Safety
    ///
    /// `meta` is the metadata of a `U` as a `T`, without the heap bit.
    pub(super) const unsafe fn new_fitting<U>(value: U, meta: Meta<T>) -> Self {
        const { InlineStorage::<N, L>::assert_fits::<U>() };
        // SAFETY: the assertion above says that a `U` fits. The caller guarantees that `meta` is the metadata of a `U` as
        // a `T`, without the heap bit.
        unsafe { Self::new_storing(value, meta, Global) }
    }
}

impl<T, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// Like [`new`](SmallBox::new), but with an allocator.
    #[inline]
    pub fn new_in(value: T, alloc: A) -> Self {
        let block = Self::block_or_abort(Layout::new::<T>(), &alloc);
        let meta = Meta::new(ptr::dangling(), block.is_some());
        // SAFETY: `block_for` returned `block` for the layout of a `T` and this allocator. `T` is sized, so its
        // metadata does not depend on the pointer; the heap bit is set if there is a block.
        unsafe { Self::write_new(value, meta, block, alloc) }
    }

    /// Like [`try_new`](SmallBox::try_new), but with an allocator.
    ///
    /// # Errors
    ///
    /// If the value does not fit inline and the allocation fails; the error contains the value.
    #[inline]
    pub fn try_new_in(value: T, alloc: A) -> Result<Self, AllocError<T>> {
        let layout = Layout::new::<T>();
        let Ok(block) = Self::block_for(layout, &alloc) else { return Err(AllocError::new(value, layout)) };
        let meta = Meta::new(ptr::dangling(), block.is_some());
        // SAFETY: `block_for` returned `block` for the layout of a `T` and this allocator. `T` is sized, so its
        // metadata does not depend on the pointer; the heap bit is set if there is a block.
        Ok(unsafe { Self::write_new(value, meta, block, alloc) })
    }

    /// Moves the value out of the box.
    #[inline]
    pub fn into_inner(self) -> T {
        let mut shell = self.without_drop();
        // SAFETY: the value is live. The shell does not drop it, and this function does not use it again.
        unsafe { ManuallyDrop::take(&mut shell) }
    }
}

impl<T, const N: usize, A: Allocator, L> SmallBox<MaybeUninit<T>, N, A, L> {
    /// Like [`try_new_uninit`](SmallBox::try_new_uninit), but with an allocator.
    ///
    /// # Errors
    ///
    /// If a `T` does not fit inline and the allocation fails.
    #[inline]
    pub fn try_new_uninit_in(alloc: A) -> Result<Self, AllocError<()>> {
        Self::try_new_in(MaybeUninit::uninit(), alloc).map_err(|error| error.map(drop))
    }

    /// Asserts that the value is initialised, and returns its box.
    ///
    /// # Safety
    ///
    /// The value is initialised, as for [`MaybeUninit::assume_init`].
    #[inline]
    pub unsafe fn assume_init(self) -> SmallBox<T, N, A, L> {
        // SAFETY: a `MaybeUninit<T>` has the layout of a `T`, both are sized, and the caller guarantees that the value
        // is initialised.
        unsafe { self.retype() }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes a value that a closure coerces to a `T`.
    ///
    /// The closure gets a [`Coercible`], which it can only coerce and return. [`small_box!`](crate::small_box) needs no
    /// closure. A bare `|value| value` compiles only with the type named; elsewhere write `|value| value as _`.
    ///
    /// ```
    /// use dwell::SmallBox;
    /// use std::fmt::Debug;
    ///
    /// let number = SmallBox::<dyn Debug>::new_coerced(7, |value| value);
    /// let slice: SmallBox<[u8]> = SmallBox::new_coerced([1_u8, 2, 3], |value| value as _);
    /// assert_eq!(format!("{number:?} {slice:?}"), "7 [1, 2, 3]");
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the closure panics, or if the value is coerced to a slice of more than `usize::MAX / 32` elements. The
    /// value is dropped.
    #[doc(alias = "unsize")]
    #[inline]
    pub fn new_coerced<U, F>(value: U, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        Self::new_coerced_in(value, Global, unsize)
    }

    /// Like [`new_coerced`](Self::new_coerced), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value does not fit inline and the allocation fails, or if it is coerced to a slice of more than
    /// `usize::MAX / 32` elements. The error contains the value.
    ///
    /// # Panics
    ///
    /// Panics if the closure panics; the value is dropped.
    #[inline]
    pub fn try_new_coerced<U, F>(value: U, unsize: F) -> Result<Self, AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        Self::try_new_coerced_in(value, Global, unsize)
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// Like [`new_coerced`](Self::new_coerced), but with an allocator.
    #[inline]
    pub fn new_coerced_in<U, F>(value: U, alloc: A, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        let meta = Self::coerced_meta(&value, unsize);
        let block = Self::block_or_abort(Layout::new::<U>(), &alloc);
        // SAFETY: `block_for` returned `block` for the layout of a `U` and this allocator. It is `Some` if a `U` does
        // not fit, which is also when `meta` has the heap bit. `coerced_meta` returned the metadata of a `U` as a `T`.
        unsafe { Self::write_new(value, meta, block, alloc) }
    }

    /// Like [`try_new_coerced`](Self::try_new_coerced), but with an allocator.
    ///
    /// # Errors
    ///
    /// If the value does not fit inline and the allocation fails, or if it is coerced to a slice of more than
    /// `usize::MAX / 32` elements. The error contains the value.
    ///
    /// # Panics
    ///
    /// Panics if the closure panics; the value is dropped.
    #[inline]
    pub fn try_new_coerced_in<U, F>(value: U, alloc: A, unsize: F) -> Result<Self, AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        let coerced = Self::coerce_pointer(&value, unsize);
        let Some(meta) = Meta::try_new(coerced, !Self::fits(size_of::<U>(), align_of::<U>())) else {
            return Err(AllocError::new(value, largest_layout(align_of::<U>())));
        };
        let layout = Layout::new::<U>();
        let Ok(block) = Self::block_for(layout, &alloc) else { return Err(AllocError::new(value, layout)) };
        // SAFETY: `block_for` returned `block` for the layout of a `U` and this allocator. It is `Some` if a `U` does
        // not fit, which is also when `meta` has the heap bit. `coerce_pointer` returned the metadata of a `U` as a
        // `T`.
        Ok(unsafe { Self::write_new(value, meta, block, alloc) })
    }

    /// Returns the metadata of a `U` as a `T`, with the heap bit if a `U` does not fit.
    #[inline]
    fn coerced_meta<U, F>(value: &U, unsize: F) -> Meta<T>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        Meta::new(Self::coerce_pointer(value, unsize), !Self::fits(size_of::<U>(), align_of::<U>()))
    }

    /// Returns a pointer with the metadata of a `U` that is coerced to a `T`. Its address has no meaning.
    #[inline]
    fn coerce_pointer<U, F>(value: &U, unsize: F) -> *const T
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        // SAFETY: the value is live as long as it is borrowed, and the brand is its type. (To move the value into a
        // `Coercible` and out again would need no `unsafe`, but would copy it.)
        let wrapped = unsafe { Coercible::at(value) };
        // The closure may return a different `Coercible`. Every `Coercible<U, T>` was a `Coercible<U, U>` before it was
        // coerced, so its metadata is that of a `U` as a `T` in any case.
        unsize(wrapped).as_ptr()
    }
}
