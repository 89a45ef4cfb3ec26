//! A heap block that holds one pinned value after another.

use crate::alloc::{AllocError, largest_layout, try_alloc};
use crate::coerce::Coercible;
use crate::raw::Meta;
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr::{self, NonNull};
use core::task::{Context, Poll};
use std_alloc::alloc::{dealloc, handle_alloc_error};

/// A [`Reusable`] for futures.
pub type ReusableFuture<'a, T> = Reusable<dyn Future<Output = T> + Send + 'a>;

/// A [`Reusable`] for futures that are not `Send`.
pub type LocalReusableFuture<'a, T> = Reusable<dyn Future<Output = T> + 'a>;

/// A type-erased, pinned value in a heap block that the next value reuses if it fits.
///
/// It has four words. If a value does not fit the block, a new block of the larger size and the larger alignment of
/// both replaces it. Values that alternate between layouts therefore stop allocating after one round.
///
/// ```
/// use dwell::pin::ReusableFuture;
/// # use std::task::{Context, Poll, Waker};
/// # let mut context = Context::from_waker(Waker::noop());
///
/// let mut future = ReusableFuture::new();
/// for n in 0..1000 {
///     future.set(async move { n + 1 }); // allocates once
/// #   assert_eq!(std::pin::Pin::new(&mut future).poll(&mut context), Poll::Ready(n + 1));
/// }
/// ```
pub struct Reusable<T: ?Sized> {
    // # Invariants
    //
    // 1. If there is a `meta`, the block begins with a live `T` of this metadata, which is owned and fits.
    // 2. That value is pinned: nothing moves it, and its block is neither used for anything else nor freed before its
    //    drop has run.
    meta: Option<Meta<T>>,
    // The drop of this field frees the block after `Reusable::drop` has dropped the value, even if that unwinds.
    block: Block,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

// SAFETY: a `Reusable` owns its value, which is `Send`, and a block of the global allocator, as a `Box<T>` does.
unsafe impl<T: ?Sized + Send> Send for Reusable<T> {}

// SAFETY: a `&Reusable` gives only shared access to the value, which is `Sync`, and to the layout of the block.
unsafe impl<T: ?Sized + Sync> Sync for Reusable<T> {}

// The value does not move with its owner.
impl<T: ?Sized> Unpin for Reusable<T> {}

// As `Box`: the raw pointers of `Meta` and `Block` add no interior mutability.
impl<T: ?Sized + UnwindSafe> UnwindSafe for Reusable<T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for Reusable<T> {}

/// A block of the global allocator.
struct Block {
    // # Invariants
    //
    // 1. If the size of `layout` is not 0, the global allocator returned `address` for it, and only this struct frees
    //    it. If it is 0, `address` is dangling and aligned.
    address: NonNull<u8>,
    layout: Layout,
}

impl Block {
    const EMPTY: Self = Self { address: NonNull::<usize>::dangling().cast(), layout: Layout::new::<[usize; 0]>() };

    fn try_new(layout: Layout) -> Option<Self> {
        let address = if layout.size() == 0 {
            NonNull::new(ptr::without_provenance_mut(layout.align()))?
        } else {
            try_alloc(layout)?
        };
        Some(Self { address, layout })
    }

    #[inline]
    fn fits(&self, layout: Layout) -> bool {
        layout.size() <= self.layout.size() && layout.align() <= self.layout.align()
    }

    /// Returns the layout of a block for values of `layout` and for all values that fit this block.
    fn layout_for_both(&self, layout: Layout) -> Layout {
        let (size, align) = (layout.size().max(self.layout.size()), layout.align().max(self.layout.align()));
        // The larger size, rounded up to the larger alignment, may exceed the limit of `Layout`. The new block then
        // fits only values of `layout`.
        Layout::from_size_align(size, align).unwrap_or(layout)
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: the size is not 0, so the global allocator returned the address for this layout, and it is freed
            // once (invariant 1).
            unsafe { dealloc(self.address.as_ptr(), self.layout) };
        }
    }
}

impl<T: ?Sized> Reusable<T> {
    /// Creates a `Reusable` without a value and without a block.
    pub const fn new() -> Self {
        Self { meta: None, block: Block::EMPTY, owns: PhantomData }
    }

    /// Returns the pinned value, if there is one.
    #[inline]
    pub fn get(&mut self) -> Option<Pin<&mut T>> {
        let value = self.value()?;
        // SAFETY: the value is live (invariant 1), and is borrowed for as long as `self` is, exclusively.
        let value = unsafe { &mut *value };
        // SAFETY: the value stays at its address until its drop has run (invariant 2).
        Some(unsafe { Pin::new_unchecked(value) })
    }

    /// Returns the value by shared reference. A shared reference moves nothing, so it needs no `Pin`.
    pub(crate) fn peek(&self) -> Option<&T> {
        let value = self.value()?;
        // SAFETY: the value is live (invariant 1), and is borrowed for as long as `self` is.
        Some(unsafe { &*value })
    }

    /// Returns the layout of the block, of size 0 if there is none.
    pub(crate) fn block(&self) -> Layout {
        self.block.layout
    }

    #[inline]
    fn value(&self) -> Option<*mut T> {
        Some(self.meta?.decode(self.block.address.as_ptr().cast_const().cast()).cast_mut())
    }

    /// Drops the value, and keeps the block.
    #[inline]
    pub fn clear(&mut self) {
        if let Some(value) = self.value() {
            // Cleared before the drop, which may unwind.
            self.meta = None;
            // SAFETY: the value was live and owned (invariant 1). Without a `meta` nothing reaches it again.
            unsafe { ptr::drop_in_place(value) };
        }
    }

    /// Drops the value and stores another, which a closure coerces to a `T`.
    ///
    /// ```
    /// use dwell::pin::Reusable;
    /// use std::fmt::Display;
    ///
    /// let mut value = Reusable::<dyn Display>::new();
    /// value.set_coerced(7, |value| value);
    /// value.set_coerced("seven", |value| value);
    /// assert_eq!(value.get().unwrap().to_string(), "seven");
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the closure panics, or if the new value is coerced to a slice of more than `usize::MAX / 32` elements;
    /// the old value stays. Panics if the drop of the old value panics; no value is left. In each case the new value is
    /// dropped.
    #[inline]
    pub fn set_coerced<U, F>(&mut self, value: U, unsize: F)
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        let value = Coercible::new(value);
        let meta = Meta::new(unsize(&value).as_ptr(), false);
        // SAFETY: the closure returned a `Coercible<U, T>`, which was a `Coercible<U, U>` before it was coerced
        // (invariant 1 of `Coercible`). `U` is sized, so each `U` has the same metadata as a `T`.
        if let Err(error) = unsafe { self.replace(value.into_inner(), meta) } {
            handle_alloc_error(error.layout());
        }
    }

    /// Like [`set_coerced`](Self::set_coerced), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the new value does not fit and the allocation of a block fails, or if it is coerced to a slice of more than
    /// `usize::MAX / 32` elements. The error contains the new value, and the old one stays.
    ///
    /// # Panics
    ///
    /// Panics if the closure panics; the old value stays. Panics if the drop of the old value panics; no value is left.
    /// In each case the new value is dropped.
    #[inline]
    pub fn try_set_coerced<U, F>(&mut self, value: U, unsize: F) -> Result<(), AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        let value = Coercible::new(value);
        let Some(meta) = Meta::try_new(unsize(&value).as_ptr(), false) else {
            return Err(AllocError::new(value.into_inner(), largest_layout(align_of::<U>())));
        };
        // SAFETY: the closure returned a `Coercible<U, T>`, which was a `Coercible<U, U>` before it was coerced
        // (invariant 1 of `Coercible`). `U` is sized, so each `U` has the same metadata as a `T`.
        unsafe { self.replace(value.into_inner(), meta) }
    }

    /// Drops the value and stores another.
    ///
    /// # Safety
    ///
    /// `meta` is the metadata of a `U` as a `T`, with a clear heap bit.
    #[inline]
    unsafe fn replace<U>(&mut self, value: U, meta: Meta<T>) -> Result<(), AllocError<U>> {
        debug_assert!(!meta.is_heap());
        let layout = Layout::new::<U>();
        if self.block.fits(layout) {
            self.clear();
        } else {
            let wanted = self.block.layout_for_both(layout);
            let Some(block) = Block::try_new(wanted) else { return Err(AllocError::new(value, wanted)) };
            self.clear();
            self.block = block;
        }
        // SAFETY: the block is large and aligned enough for a `U`: `fits` says so, or the block is new and has at least
        // this layout. `clear` has dropped the old value.
        unsafe { self.block.address.cast::<U>().write(value) };
        self.meta = Some(meta);
        Ok(())
    }
}

impl<'a, T> ReusableFuture<'a, T> {
    /// Drops the future and stores another.
    ///
    /// # Panics
    ///
    /// Panics if the drop of the old future panics. No future is left, and the new one is dropped.
    #[inline]
    pub fn set<F: Future<Output = T> + Send + 'a>(&mut self, future: F) {
        self.set_coerced(future, |value| value as _);
    }

    /// Like [`set`](Self::set), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the new future does not fit and the allocation of a block fails. The error contains the new future, and the
    /// old one stays.
    ///
    /// # Panics
    ///
    /// Panics if the drop of the old future panics. No future is left, and the new one is dropped.
    #[inline]
    pub fn try_set<F: Future<Output = T> + Send + 'a>(&mut self, future: F) -> Result<(), AllocError<F>> {
        self.try_set_coerced(future, |value| value as _)
    }
}

impl<'a, T> LocalReusableFuture<'a, T> {
    /// Like [`set`](ReusableFuture::set), but for a future that is not `Send`.
    ///
    /// # Panics
    ///
    /// Panics if the drop of the old future panics. No future is left, and the new one is dropped.
    #[inline]
    pub fn set_local<F: Future<Output = T> + 'a>(&mut self, future: F) {
        self.set_coerced(future, |value| value as _);
    }

    /// Like [`set_local`](Self::set_local), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the new future does not fit and the allocation of a block fails. The error contains the new future, and the
    /// old one stays.
    ///
    /// # Panics
    ///
    /// Panics if the drop of the old future panics. No future is left, and the new one is dropped.
    #[inline]
    pub fn try_set_local<F: Future<Output = T> + 'a>(&mut self, future: F) -> Result<(), AllocError<F>> {
        self.try_set_coerced(future, |value| value as _)
    }
}

impl<T: ?Sized> Default for Reusable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> Drop for Reusable<T> {
    #[inline]
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            self.clear();
        }
    }
}

/// Polls the future.
///
/// # Panics
///
/// Panics if there is no future. A future that has returned `Ready` stays; do not poll it again.
impl<F: ?Sized + Future> Future for Reusable<F> {
    type Output = F::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.get().expect("polled without a future").poll(context)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Reusable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reusable").field(&self.peek()).finish()
    }
}
