//! [`Pooled`], a box in the pool of the thread.

use super::classes::CLASSES;
use super::coerce::{CoerceBrand, SlotView};
use super::insert::{self, CellAllocator};
use super::memory::Refusal;
use super::owner::{Handle, Owner};
use super::size_classes::InPool;
use super::stack::CellPtr;
use super::thread_pool::{self, ClassOf, ThreadPool};
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::pin::Pin;

/// A `Box<T>` in the pool of the thread that creates it: in place of `Box<T>`, with one line changed.
///
/// ```
/// type Box<T> = dwell::slab::Pooled<T>;
///
/// #[derive(Clone, Debug, PartialEq)]
/// enum Expr {
///     Number(i64),
///     Negate(Box<Expr>),
///     Add(Box<Expr>, Box<Expr>),
/// }
///
/// fn evaluate(expr: Expr) -> i64 {
///     match expr {
///         Expr::Number(number) => number,
///         Expr::Negate(inner) => -evaluate(inner.into_inner()), // `*inner` of a `Box`
///         Expr::Add(left, right) => evaluate(left.into_inner()) + evaluate(right.into_inner()),
///     }
/// }
///
/// let two = Box::new(Expr::Number(2));
/// let sum = Expr::Add(two.clone(), Box::new(Expr::Negate(two)));
/// assert_eq!(sum.clone(), sum);
/// assert_eq!(evaluate(sum), 0);
/// ```
///
/// It has 8 bytes, and `new`, `Clone`, `Default`, `From<T>`, `Deserialize` (feature `serde`) and the traits that a slot forwards
/// to its value work as those of a `Box`. It is `Send` and `Sync` where the value is, and may outlive its thread. What a `Box`
/// does that a type of a library cannot in stable Rust is in a table of the how-to on slabs. The most common:
///
/// | of a `Box` | write |
/// |---|---|
/// | `*boxed` moves the value out | [`into_inner`](Self::into_inner) |
/// | `fn eat(self: Box<Self>)` | `fn eat(this: Pooled<Self>)` |
/// | a `Box<T>` becomes a `Box<dyn Trait>` | [`pooled!`](crate::pooled), or [`coerce`](Self::coerce) |
///
/// With a [`Pool`](super::Pool) of your own, `pool.insert(value)` has the same type.
///
/// It is covariant in `T`, as a `Box` is:
///
/// ```
/// # use dwell::slab::Pooled;
/// fn shorten<'a>(pooled: Pooled<&'static str>) -> Pooled<&'a str> {
///     pooled
/// }
/// ```
#[must_use = "dropping it drops its value, and futures do nothing unless you `.await` or poll them"]
#[repr(transparent)] // one word, with its niche
pub struct Pooled<T: ?Sized> {
    owner: Owner<T, InPool>,
}

impl<T: ?Sized> Pooled<T> {
    pub(super) const fn from_owner(owner: Owner<T, InPool>) -> Self {
        Self { owner }
    }

    /// Returns a pointer to the value. Its address does not change while the value is in the pool.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.owner.as_ptr()
    }

    /// Returns a mutable pointer to the value.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.owner.as_mut_ptr()
    }

    /// Pins the value, as `Box::into_pin` does.
    ///
    /// ```
    /// use dwell::slab::Pooled;
    ///
    /// let mut future = Pooled::new(async { 7 }).into_pin();
    /// let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// assert!(Future::poll(future.as_mut(), &mut context).is_ready());
    /// ```
    #[inline]
    pub fn into_pin(self) -> Pin<Self> {
        // SAFETY: the value does not move when its owner does, `Deref` and `DerefMut` return a reference to this value, and
        // only `drop` frees the cell, after it has dropped the value in place, even if the pool or the thread ends first.
        // Moving the value out (`into_inner`) takes the owner itself, and a `Pin` gives it out for `Unpin` values only.
        unsafe { Pin::new_unchecked(self) }
    }

    /// Converts it to a raw pointer to its value, which [`from_raw`](Self::from_raw) converts back.
    ///
    /// Until then the value stays live and its memory occupied, even if its thread ends. Without `from_raw` both leak.
    ///
    /// ```
    /// use dwell::slab::Pooled;
    ///
    /// let raw: *mut String = Pooled::new(String::from("kept")).into_raw();
    /// // SAFETY: the pointer came from `into_raw` and is given back once.
    /// let pooled = unsafe { Pooled::from_raw(raw) };
    /// assert_eq!(*pooled, "kept");
    /// ```
    #[inline]
    pub fn into_raw(self) -> *mut T {
        self.owner.into_raw()
    }

    /// Converts a pointer from [`into_raw`](Self::into_raw) back.
    ///
    /// # Safety
    ///
    /// - `raw` came from `into_raw` of a `Pooled<U>`, and was not converted back since. A pointer that is made of a reference, such as
    ///   that of [`leak`](Self::leak), reaches only the value, and not what the pool has beside it.
    /// - The value is live. It is a `T` at the same address and of the same layout: `U` is `T` or a `ManuallyDrop` of it, or
    ///   the reverse, or was coerced to it as [`coerce`](Self::coerce) does.
    /// - `U` is `Send`, or the calling thread is the one that called `into_raw`.
    #[inline]
    pub unsafe fn from_raw(raw: *mut T) -> Self {
        // SAFETY: the caller guarantees that the pointer came from `into_raw` of a `Pooled`, was not converted back since, that
        // the value is live and a `T` of the same address and layout. The kind is `CrossThread`.
        Self::from_owner(unsafe { Owner::from_raw(raw) })
    }

    /// Unsizes the value: to a `dyn Trait`, or from an array to a slice. [`pooled!`](crate::pooled) does it for a new value.
    ///
    /// The closure gets a view of the value, which it can only coerce and return. `coerce(|view| view as _)` compiles where
    /// the context determines the type of the result.
    ///
    /// ```
    /// use dwell::slab::Pooled;
    /// use std::fmt::Display;
    ///
    /// let values = [
    ///     Pooled::new(7).coerce::<dyn Display, _>(|view| view),
    ///     Pooled::new("seven").coerce::<dyn Display, _>(|view| view),
    /// ];
    /// assert_eq!(format!("{} {}", values[0], values[1]), "7 seven");
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure panics. The value is dropped.
    #[doc(alias = "unsize")]
    #[inline]
    pub fn coerce<U: ?Sized, F>(self, unsize: F) -> Pooled<U>
    where
        F: for<'a, 'brand> FnOnce(&'a SlotView<CoerceBrand<'brand>, T>) -> &'a SlotView<CoerceBrand<'brand>, U>,
    {
        Pooled::from_owner(self.owner.coerce(unsize))
    }
}

impl<T> Pooled<T> {
    /// Stores a value in the pool of this thread.
    ///
    /// ```
    /// let number = dwell::slab::Pooled::new(7);
    /// assert_eq!(*number, 7);
    /// ```
    ///
    /// # Panics
    ///
    /// Never unwinds: if the allocation fails, calls the allocation error handler and aborts the process.
    /// [`try_new`](Self::try_new) returns the value instead.
    #[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
    #[inline(always)]
    pub fn new(value: T) -> Self {
        // Dropped by nobody until it is in its cell, which `cell` returns without unwinding: no code for a drop of it.
        let value = ManuallyDrop::new(value);
        let cell = thread_pool::cell::<T>().cast::<ManuallyDrop<T>>();
        // SAFETY: `cell` returned a vacant cell for values of a `T`, which no other code uses. `ManuallyDrop` has the same layout.
        unsafe { cell.write(value) };
        // SAFETY: the cell now contains a live value, is used by no other code and belongs to a pool, whose chunk is not freed while
        // the cell is occupied. A `CellPtr` may access its whole chunk.
        Self::from_owner(unsafe { Owner::owning(cell.cast()) })
    }

    /// Like [`new`](Self::new), but pins the value.
    pub fn pin(value: T) -> Pin<Self> {
        Self::new(value).into_pin()
    }

    /// Like [`new`](Self::new), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails; the error contains the value.
    #[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
    #[inline(always)]
    pub fn try_new(value: T) -> Result<Self, AllocError<T>> {
        insert::try_insert(&ThreadPool, value)
    }

    /// Stores the value that `make` returns. Takes a cell before it calls `make`, and frees it if `make` panics.
    ///
    /// ```
    /// let page = dwell::slab::Pooled::new_with(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
    #[inline(always)]
    pub fn new_with(make: impl FnOnce() -> T) -> Self {
        insert::insert_with(&ThreadPool, make)
    }

    /// Moves the value out.
    #[inline(always)]
    pub fn into_inner(self) -> T {
        self.owner.into_inner()
    }
}

// SAFETY: each cell comes from the size class of a `T`, whose cells are vacant, large enough, and that no other code
// uses and that `InPool` frees. The values of a pool may outlive it, so the thread's pool and the temporary
// one may end first.
unsafe impl<T> CellAllocator<T> for ThreadPool {
    type Kind = InPool;
    type Handle = Pooled<T>;

    #[inline(always)]
    fn pop(&self) -> Option<CellPtr> {
        if const { ClassOf::<T>::INDEX == CLASSES } {
            return None;
        }
        thread_pool::pop(ClassOf::<T>::INDEX)
    }

    #[inline(always)]
    fn refill(&self) -> Result<CellPtr, Refusal> {
        thread_pool::refill(Layout::new::<T>())
    }

    #[inline(always)]
    fn refill_or_stop(&self) -> CellPtr {
        thread_pool::refill_or_stop(size_of::<T>(), align_of::<T>())
    }
}

impl<T> Handle<T, InPool> for Pooled<T> {
    #[inline(always)]
    fn of(owner: Owner<T, InPool>) -> Self {
        Self::from_owner(owner)
    }
}

impl<T: ?Sized> Deref for Pooled<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.owner
    }
}

impl<T: ?Sized> DerefMut for Pooled<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.owner
    }
}

/// Clones the value directly into a cell of this thread's pool.
impl<T: Clone> Clone for Pooled<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self::new_with(|| (**self).clone())
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        (**self).clone_from(source);
    }
}

impl<T: Default> Default for Pooled<T> {
    #[inline]
    fn default() -> Self {
        Self::new_with(T::default)
    }
}

impl<T> From<T> for Pooled<T> {
    #[inline]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
