//! Type-erased futures with inline storage and their own vtable. A future that does not fit is a compile error.

use super::DoesNotFit;
use crate::small::InlineStorage;
use core::fmt;
use core::marker::PhantomData;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr::{self, NonNull};
use core::task::{Context, Poll};

/// A type-erased future, stored inline in `N` words: the result of [`inline`](super::ErasedExt::inline).
///
/// It has `N` words and one more for the vtable, both rounded up to the alignment of `L`, and is a future itself. The alignment
/// of `L` is the largest that the future may have.
///
/// ```
/// use dwell::pin::{ErasedExt, InlineFuture};
///
/// fn double(x: &u32) -> InlineFuture<'_, u32, 2> {
///     async move { *x * 2 }.inline()
/// }
///
/// async fn quadruple(x: u32) -> u32 {
///     double(&double(&x).await).await
/// }
/// # let future = std::pin::pin!(quadruple(2));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(future.poll(&mut context), std::task::Poll::Ready(8));
/// ```
pub type InlineFuture<'a, T, const N: usize, L = usize> =
    ErasedInlineFuture<T, dyn Future<Output = T> + Send + 'a, N, L>;

/// An [`InlineFuture`] that need not be `Send`: the result of [`inline_local`](super::ErasedExt::inline_local).
///
/// ```compile_fail,E0277
/// use dwell::pin::ErasedExt;
///
/// let future = std::future::ready(1).inline_local::<2>();
/// std::thread::spawn(move || drop(future));
/// ```
pub type LocalInlineFuture<'a, T, const N: usize, L = usize> = ErasedInlineFuture<T, dyn Future<Output = T> + 'a, N, L>;

/// An [`InlineFuture`] or a [`LocalInlineFuture`]: a future whose output is a `T`, with the auto traits and the
/// lifetime of `D`.
///
/// An [`InlineBox<dyn Future>`](super::InlineBox) has more methods and takes a few instructions more: the compiler's vtable
/// may have no drop function, so each drop tests for one.
// `repr(C)`: the storage is at offset 0, so the future has the address of its owner and reading it needs no offset.
#[must_use = "futures do nothing unless you `.await` or poll them"]
#[repr(C)]
pub struct ErasedInlineFuture<T, D: ?Sized, const N: usize, L = usize> {
    // # Invariants
    //
    // 1. `storage.words` begins with a live future that this struct owns; `fits` holds for its layout. The future has
    //    the auto traits of `D` and lives as long as `D`.
    // 2. `table` points to the constant `Table::of` for the type of that future.
    storage: InlineStorage<N, L>,
    // A raw pointer, since `&'static Table<T>` would require `T: 'static`.
    table: NonNull<Table<T>>,
    // Owns such a future: drop check and auto traits are those of a `Box<D>`.
    owns: PhantomData<D>,
}

/// The vtable of a type-erased future. Each function takes the address of the future.
struct Table<T> {
    /// # Safety
    ///
    /// The address is that of a live future of the table's type, which is pinned and borrowed exclusively.
    poll: unsafe fn(*mut (), &mut Context<'_>) -> Poll<T>,
    /// # Safety
    ///
    /// The address is that of a live future of the table's type, which the caller owns and does not use afterwards.
    drop: unsafe fn(*mut ()),
}

impl<T> Table<T> {
    const fn of<F: Future<Output = T>>() -> Self {
        Self { poll: poll::<F>, drop: drop_future::<F> }
    }
}

/// Polls the future at `future`. A wrapper, because control-flow integrity (`-Zsanitizer=cfi`) aborts the program when a
/// function is called through a pointer of another type, and `F::poll` takes a `Pin<&mut F>`.
///
/// # Safety
///
/// `future` is the address of a live `F`, which is pinned and borrowed exclusively.
unsafe fn poll<F: Future>(future: *mut (), context: &mut Context<'_>) -> Poll<F::Output> {
    // SAFETY: the caller guarantees that this is the address of a live `F`, which is borrowed exclusively.
    let future = unsafe { &mut *future.cast::<F>() };
    // SAFETY: the caller guarantees that the future is pinned.
    unsafe { Pin::new_unchecked(future) }.poll(context)
}

/// Drops the future at `future`.
///
/// # Safety
///
/// `future` is the address of a live `F`, which the caller owns and does not use afterwards.
unsafe fn drop_future<F>(future: *mut ()) {
    // SAFETY: the caller guarantees that this is the address of a live `F`, which it owns and does not use afterwards.
    unsafe { ptr::drop_in_place(future.cast::<F>()) };
}

// SAFETY: it owns its future, which is `Send` because `D` is (invariant 1), and a pointer to a constant.
unsafe impl<T, D: ?Sized + Send, const N: usize, L> Send for ErasedInlineFuture<T, D, N, L> {}

// SAFETY: no function accesses the future through a `&ErasedInlineFuture`.
unsafe impl<T, D: ?Sized + Sync, const N: usize, L> Sync for ErasedInlineFuture<T, D, N, L> {}

// The future moves with its owner, so it is pinned only if its owner is (see `poll`).
impl<T, D: ?Sized + Unpin, const N: usize, L> Unpin for ErasedInlineFuture<T, D, N, L> {}

// As `Box`: the `UnsafeCell` lets the future have interior mutability and adds none of its own.
impl<T, D: ?Sized + UnwindSafe, const N: usize, L> UnwindSafe for ErasedInlineFuture<T, D, N, L> {}
impl<T, D: ?Sized + RefUnwindSafe, const N: usize, L> RefUnwindSafe for ErasedInlineFuture<T, D, N, L> {}

impl<'a, T, const N: usize, L> InlineFuture<'a, T, N, L> {
    /// Stores a future. The compiler checks that it fits.
    ///
    /// ```
    /// use dwell::pin::InlineFuture;
    ///
    /// let aligned = InlineFuture::<u128, 4, u128>::new(core::future::ready(7_u128));
    /// # assert_eq!(align_of_val(&aligned), 16);
    /// ```
    #[inline]
    pub fn new<F: Future<Output = T> + Send + 'a>(future: F) -> Self {
        // SAFETY: an `F` is `Send` and lives for `'a`, as the `dyn Future + Send + 'a` of this type.
        unsafe { Self::store(future) }
    }

    /// Like [`new`](Self::new), but returns an error if the future does not fit. So generic code can box such a future
    /// instead.
    ///
    /// ```
    /// use dwell::pin::InlineFuture;
    ///
    /// let small = InlineFuture::<u8, 2>::try_new(std::future::ready(7)).unwrap();
    /// let error = InlineFuture::<[u8; 99], 2>::try_new(std::future::ready([7; 99])).unwrap_err();
    /// let boxed = Box::pin(error.into_inner());
    /// # drop((small, boxed));
    /// ```
    ///
    /// # Errors
    ///
    /// If the future does not fit. The error contains the future.
    #[inline]
    pub fn try_new<F: Future<Output = T> + Send + 'a>(future: F) -> Result<Self, DoesNotFit<F>> {
        // SAFETY: an `F` is `Send` and lives for `'a`, as the `dyn Future + Send + 'a` of this type.
        unsafe { Self::try_store(future) }
    }
}

impl<'a, T, const N: usize, L> LocalInlineFuture<'a, T, N, L> {
    /// Like [`new`](InlineFuture::new), but for a future that is not `Send`.
    #[inline]
    pub fn new_local<F: Future<Output = T> + 'a>(future: F) -> Self {
        // SAFETY: an `F` lives for `'a`, as the `dyn Future + 'a` of this type, which has no auto trait.
        unsafe { Self::store(future) }
    }

    /// Like [`new_local`](Self::new_local), but returns an error if the future does not fit.
    ///
    /// # Errors
    ///
    /// If the future does not fit. The error contains the future.
    #[inline]
    pub fn try_new_local<F: Future<Output = T> + 'a>(future: F) -> Result<Self, DoesNotFit<F>> {
        // SAFETY: an `F` lives for `'a`, as the `dyn Future + 'a` of this type, which has no auto trait.
        unsafe { Self::try_store(future) }
    }
}

impl<T, D: ?Sized, const N: usize, L> ErasedInlineFuture<T, D, N, L> {
    /// Returns whether a future of this size and alignment, in bytes, fits.
    ///
    /// ```
    /// assert!(dwell::pin::InlineFuture::<(), 2>::fits(16, 8));
    /// assert!(!dwell::pin::InlineFuture::<(), 2>::fits(17, 1));
    /// ```
    pub const fn fits(size: usize, align: usize) -> bool {
        InlineStorage::<N, L>::fits(size, align)
    }

    /// Stores a future. The compiler checks that it fits.
    ///
    /// # Safety
    ///
    /// An `F` has the auto traits of `D` and lives as long as `D`.
    #[inline]
    unsafe fn store<F: Future<Output = T>>(future: F) -> Self {
        const { InlineStorage::<N, L>::assert_fits::<F>() };
        // SAFETY: the constant above asserts that an `F` fits. The caller guarantees that it has the auto traits of `D`
        // and lives as long.
        unsafe { Self::store_fitting(future) }
    }

    /// Stores a future if it fits.
    ///
    /// # Safety
    ///
    /// An `F` has the auto traits of `D` and lives as long as `D`.
    #[inline]
    unsafe fn try_store<F: Future<Output = T>>(future: F) -> Result<Self, DoesNotFit<F>> {
        if !Self::fits(size_of::<F>(), align_of::<F>()) {
            return Err(DoesNotFit::new::<N, L>(future));
        }
        // SAFETY: an `F` fits, as checked above. The caller guarantees that it has the auto traits of `D` and lives as
        // long.
        Ok(unsafe { Self::store_fitting(future) })
    }

    /// Stores a future that fits.
    ///
    /// # Safety
    ///
    /// `fits` holds for an `F`, which has the auto traits of `D` and lives as long as `D`.
    #[inline]
    unsafe fn store_fitting<F: Future<Output = T>>(future: F) -> Self {
        let storage = InlineStorage::<N, L>::new();
        // SAFETY: the caller guarantees that an `F` fits, so the words are large and aligned enough for one.
        unsafe { storage.words.get().cast::<F>().write(future) };
        Self { storage, table: NonNull::from(const { &Table::<T>::of::<F>() }), owns: PhantomData }
    }

    #[inline]
    fn table(&self) -> &Table<T> {
        // SAFETY: `table` points to a constant (invariant 2), which lives forever and is never written.
        unsafe { self.table.as_ref() }
    }

    /// Returns the address of the future. It may be written through if `self` is borrowed exclusively or owned.
    #[inline]
    fn value(&self) -> *mut () {
        self.storage.words.get().cast()
    }
}

impl<T, D: ?Sized, const N: usize, L> Drop for ErasedInlineFuture<T, D, N, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the table is for the type of the live future at this address, which `self` owns (invariants 1 and 2).
        // Nothing uses the future after the drop of its owner.
        unsafe { (self.table().drop)(self.value()) };
    }
}

impl<T, D: ?Sized, const N: usize, L> Future for ErasedInlineFuture<T, D, N, L> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Structural pinning, as the documentation of `core::pin` requires: the owner is `Unpin` only if `D` is; its
        // drop drops the future at its address before the memory is used for anything else; and no function moves the
        // future out.
        // SAFETY: nothing is moved out of the reference, which is used only for the next line.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the table is for the type of the live future at this address (invariants 1 and 2). The future is
        // borrowed exclusively as `self` is, and moves only with its owner, which is pinned.
        unsafe { (this.table().poll)(this.value(), context) }
    }
}

impl<T, D: ?Sized, const N: usize, L> fmt::Debug for ErasedInlineFuture<T, D, N, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InlineFuture").finish_non_exhaustive()
    }
}
