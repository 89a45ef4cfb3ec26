//! [`Pooled`], a box in the pool of the thread.

use super::sync::PoolSlot;
use super::thread_pool;
use crate::alloc::AllocError;

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
/// to its value work as those of a `Box`. It is `Send` and `Sync` where the value is, and may outlive its thread. Three things
/// of a `Box` do not exist in stable Rust:
///
/// | of a `Box` | write |
/// |---|---|
/// | `*boxed` moves the value out | [`into_inner`](super::Slot::into_inner) |
/// | `fn eat(self: Box<Self>)` | `fn eat(this: Pooled<Self>)` |
/// | a `Box<T>` becomes a `Box<dyn Trait>` | [`pooled!`](crate::pooled), or [`coerce`](super::Slot::coerce) |
///
/// It is a [`PoolSlot`](super::sync::PoolSlot); with a pool of your own, `pool.insert(value)` has the same type.
pub type Pooled<T> = PoolSlot<T>;

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
    /// Calls the allocation error handler if the allocation fails. [`try_new`](Self::try_new) returns the value instead.
    #[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
    #[inline(always)]
    pub fn new(value: T) -> Self {
        thread_pool::insert(value)
    }

    /// Like [`new`](Self::new), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails; the error contains the value.
    #[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
    #[inline(always)]
    pub fn try_new(value: T) -> Result<Self, AllocError<T>> {
        thread_pool::try_insert(value)
    }

    /// Stores the value that `make` returns. Takes a cell before it calls `make`, and frees it if `make` panics.
    ///
    /// ```
    /// let page = dwell::slab::Pooled::from_fn(|| [0_u8; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[expect(clippy::inline_always, reason = "a value that is passed to a function is written to memory twice")]
    #[inline(always)]
    pub fn from_fn(make: impl FnOnce() -> T) -> Self {
        thread_pool::insert_with(make)
    }
}

/// Clones the value directly into a cell of this thread's pool.
impl<T: Clone> Clone for Pooled<T> {
    #[inline]
    fn clone(&self) -> Self {
        Self::from_fn(|| (**self).clone())
    }

    #[inline]
    fn clone_from(&mut self, source: &Self) {
        (**self).clone_from(source);
    }
}

impl<T: Default> Default for Pooled<T> {
    #[inline]
    fn default() -> Self {
        Self::from_fn(T::default)
    }
}

impl<T> From<T> for Pooled<T> {
    #[inline]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}
