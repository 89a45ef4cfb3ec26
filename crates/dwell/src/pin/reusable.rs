//! A block that holds one pinned value after another.

use crate::alloc::{AllocError, try_alloc};
use crate::raw::Meta;
use crate::small::Place;
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

/// A pinned value of an erased type, in a block that the next one uses again if it fits.
///
/// It has four words. A value that is too large or too aligned for the block gets a new one that has room for both, so that
/// values of any sizes in any order come to rest in one.
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
    // 1. If there is a `meta`, the block begins with a live `T` of this metadata, which fits there. It is pinned: it stays
    //    until it was dropped in place.
    meta: Option<Meta<T>>,
    // After the value is dropped, whether or not that panics.
    block: Block,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

// SAFETY: it owns its value and its block and nothing else, as a `Box<T>` does.
unsafe impl<T: ?Sized + Send> Send for Reusable<T> {}

// SAFETY: a shared one gives access to the value as shared, and to nothing else.
unsafe impl<T: ?Sized + Sync> Sync for Reusable<T> {}

// The value does not move with its owner.
impl<T: ?Sized> Unpin for Reusable<T> {}

// As `Box`: the raw pointers are there for other reasons.
impl<T: ?Sized + UnwindSafe> UnwindSafe for Reusable<T> {}
impl<T: ?Sized + RefUnwindSafe> RefUnwindSafe for Reusable<T> {}

/// A block of the global allocator.
struct Block {
    // # Invariants
    //
    // 1. `address` is aligned to `layout.align()`, and valid for `layout.size()` bytes, nobody else's. If that is not 0, it
    //    was allocated with this layout.
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

    /// What a block must be for values of this layout and for those it has had.
    fn layout_for_both(&self, layout: Layout) -> Layout {
        let (size, align) = (layout.size().max(self.layout.size()), layout.align().max(self.layout.align()));
        // The larger size rounded up to the larger alignment may be too much for a layout; then only this one is served.
        Layout::from_size_align(size, align).unwrap_or(layout)
    }
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: invariant 1.
            unsafe { dealloc(self.address.as_ptr(), self.layout) };
        }
    }
}

impl<T: ?Sized> Reusable<T> {
    /// Without a value and without a block.
    pub const fn new() -> Self {
        Self { meta: None, block: Block::EMPTY, owns: PhantomData }
    }

    /// The value, pinned, if there is one.
    #[inline]
    pub fn get(&mut self) -> Option<Pin<&mut T>> {
        let value = self.value()?;
        // SAFETY: by invariant 1 it is live, borrowed as `self` is.
        let value = unsafe { &mut *value };
        // SAFETY: by invariant 1 it is pinned.
        Some(unsafe { Pin::new_unchecked(value) })
    }

    /// The value, not to be moved out of.
    pub(crate) fn peek(&self) -> Option<&T> {
        let value = self.value()?;
        // SAFETY: by invariant 1 it is live, and shared as `self` is.
        Some(unsafe { &*value })
    }

    /// The layout of the block, of size 0 if there is none.
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
            // Before the drop, which may panic.
            self.meta = None;
            // SAFETY: by invariant 1 it is live; it is not reached again.
            unsafe { ptr::drop_in_place(value) };
        }
    }

    /// Drops the value and takes another in, seen as what the closure coerces it to.
    ///
    /// ```
    /// use dwell::pin::Reusable;
    /// use std::fmt::Display;
    ///
    /// let mut value = Reusable::<dyn Display>::new();
    /// value.set_with(7, |place| place);
    /// value.set_with("seven", |place| place);
    /// assert_eq!(value.get().unwrap().to_string(), "seven");
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure does, and the value is as it was; or if the drop of the value does, and there is none then. The other
    /// value is dropped.
    #[inline]
    pub fn set_with<U, F>(&mut self, value: U, unsize: F)
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        if let Err(error) = self.try_set_with(value, unsize) {
            handle_alloc_error(error.layout());
        }
    }

    /// [`set_with`](Self::set_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the other value does not fit and the allocator has no block for it; it comes back in the error, and the value is
    /// as it was.
    #[inline]
    pub fn try_set_with<U, F>(&mut self, value: U, unsize: F) -> Result<(), AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        let place = Place::new(value);
        let meta = Meta::new(unsize(&place).as_ptr(), false);
        let value = place.into_inner();
        let layout = Layout::new::<U>();
        if self.block.fits(layout) {
            self.clear();
        } else {
            let wanted = self.block.layout_for_both(layout);
            let Some(block) = Block::try_new(wanted) else { return Err(AllocError::new(value, wanted)) };
            self.clear();
            self.block = block;
        }
        // SAFETY: the block is large and aligned enough, and by `clear` vacant.
        unsafe { self.block.address.cast::<U>().write(value) };
        self.meta = Some(meta);
        Ok(())
    }
}

impl<'a, T> ReusableFuture<'a, T> {
    /// Drops the future and takes another in.
    ///
    /// # Panics
    ///
    /// If the drop of the future does; there is none then, and the other one is dropped.
    #[inline]
    pub fn set<F: Future<Output = T> + Send + 'a>(&mut self, future: F) {
        self.set_with(future, |place| place as _);
    }

    /// [`set`](Self::set) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the other future does not fit and the allocator has no block for it; it comes back in the error.
    #[inline]
    pub fn try_set<F: Future<Output = T> + Send + 'a>(&mut self, future: F) -> Result<(), AllocError<F>> {
        self.try_set_with(future, |place| place as _)
    }
}

impl<'a, T> LocalReusableFuture<'a, T> {
    /// [`set`](ReusableFuture::set) for a future that is not `Send`.
    ///
    /// # Panics
    ///
    /// As `set`.
    #[inline]
    pub fn set_local<F: Future<Output = T> + 'a>(&mut self, future: F) {
        self.set_with(future, |place| place as _);
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
/// If there is none. One that is ready stays, and is not to be polled again.
impl<F: ?Sized + Future> Future for Reusable<F> {
    type Output = F::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.get().expect("there is a future to poll").poll(context)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Reusable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: by invariant 1 it is live, and borrowed as `self` is.
        let value = self.value().map(|value| unsafe { &*value });
        f.debug_tuple("Reusable").field(&value).finish()
    }
}
