//! A box that stores small values inline.
//!
//! A `Box<dyn Trait>` allocates for every value, and most values are small: a closure with one captured pointer, a node
//! with two fields. A [`SmallBox<dyn Trait>`](SmallBox) has an inline capacity of two words and allocates only for
//! values that are larger.
//!
//! ```
//! use dwell::{SmallBox, small_box};
//!
//! trait Shape {
//!     fn area(&self) -> f64;
//! }
//!
//! struct Square(f64);
//!
//! impl Shape for Square {
//!     fn area(&self) -> f64 {
//!         self.0 * self.0
//!     }
//! }
//!
//! let shape: SmallBox<dyn Shape> = small_box!(Square(3.0)); // no allocation
//! assert_eq!(shape.area(), 9.0);
//! assert!(shape.is_inline());
//! assert_eq!(size_of_val(&shape), 24);
//! ```
//!
//! # When to use something else
//!
//! - Values that are nearly always large: a `Box` is a word smaller and as fast.
//! - A closed set of types: an `enum` needs no vtable.
//! - An address that must not change while the box moves (`Pin<Box<T>>`): a small box moves its value. The box itself
//!   can be pinned, and a `SmallBox<dyn Future>` can be awaited as it is.
//!
//! `docs/small.md` in the repository describes the representation, the comparison with other crates, and the
//! implemented traits.

mod any;
#[cfg(all(feature = "slab", feature = "std"))]
mod boxed;
mod call;
mod coerce;
mod forward;
mod iter;
#[cfg(feature = "nightly")]
mod nightly;
mod push;
#[cfg(feature = "serde")]
mod serde;
mod slice;

use crate::alloc::{AllocError, Allocator, Global, Refused, is_global, largest_layout};
use crate::raw::{Meta, layout_of};
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

#[cfg(all(feature = "slab", feature = "std"))]
#[doc(hidden)]
pub use self::boxed::pool_incoming;
#[cfg(all(feature = "slab", feature = "std"))]
pub use self::boxed::{BoxedIterExt, PoolIter};
pub use self::call::CallOnce;
#[doc(hidden)]
pub use self::coerce::{Coerced, Incoming, IncomingStorage};
pub use self::iter::{BoxedIterator, IntoIter};
pub use self::push::PushWith;
pub use crate::coerce::{Brand, Coercible};

/// A box that stores a value of up to `N` words inline and allocates for a larger one.
///
/// It has `N + 1` words: on a 64-bit target 24 bytes with the default `N` of 2, and 16 bytes for `SmallBox<T, 1>`. With an `L`
/// of a larger alignment both parts are rounded up to that, and an allocator that is not zero-sized is added. An
/// `Option<SmallBox<T>>` has the same size. `T` may be a `dyn Trait`, a slice, `str`, a struct that ends in one of
/// these, or a sized type.
///
/// ```
/// use dwell::{SmallBox, small_box};
/// use std::fmt::Display;
///
/// let values: Vec<SmallBox<dyn Display>> = vec![small_box!(1), small_box!('c'), small_box!([b'x'; 3].escape_ascii())];
/// assert_eq!(values[0].to_string(), "1");
/// assert!(values[1].is_inline());
///
/// let text: SmallBox<str> = "up to 16 bytes".into();
/// assert!(text.is_inline());
/// ```
///
/// # Closures
///
/// Call a box of a `dyn Fn` or `dyn FnMut` like the closure itself. Call a box of a `dyn FnOnce` with
/// [`call_once`](Self::call_once), which takes the arguments as a tuple. For a `FnOnce` that takes a reference, write
/// `dyn for<'a> CallOnce<(&'a mut T,), Output = R>`: stable Rust cannot call an inline `dyn FnOnce`.
///
/// ```
/// use dwell::small::CallOnce;
/// use dwell::{SmallBox, small_box};
/// use std::collections::VecDeque;
///
/// #[derive(Default)]
/// struct World {
///     log: Vec<String>,
/// }
///
/// let mut on_tick: SmallBox<dyn FnMut(u32) -> u32> = small_box!(|n: u32| n + 1);
/// assert_eq!(on_tick(1), 2);
///
/// let mut events: VecDeque<SmallBox<dyn for<'a> CallOnce<(&'a mut World,), Output = ()> + Send>> = VecDeque::new();
/// for id in 0..3 {
///     events.push_back(small_box!(move |world: &mut World| world.log.push(format!("event {id}"))));
/// }
/// let mut world = World::default();
/// while let Some(event) = events.pop_front() {
///     event.call_once((&mut world,));
/// }
/// assert_eq!(world.log.len(), 3);
/// ```
///
/// # The parameters
///
/// - `N`: the inline capacity in words. It must be at least 1, for the address of a spilled value:
///
/// ```compile_fail
/// let byte: dwell::SmallBox<u8, 0> = dwell::SmallBox::from(7);
/// ```
///
/// - `A`: the allocator for spilled values. See [`alloc`](crate::alloc).
/// - `L`: a type that raises the alignment of the inline buffer. A value is stored inline only if its alignment is at
///   most that of `L` or of a word, whichever is larger. Only the alignment of `L` matters:
///
/// ```
/// # #![cfg_attr(feature = "nightly", feature(allocator_api))]
/// use dwell::{SmallBox, alloc::Global};
///
/// assert!(!SmallBox::<u128>::from(1).is_inline()); // aligned to 16, the box to 8
/// assert!(SmallBox::<u128, 2, Global, u128>::from(1).is_inline());
/// ```
///
/// # Pinning
///
/// A `SmallBox` is `Unpin` only if `T` is, because an inline value moves with the box. In return a pinned `SmallBox`
/// pins its value, so `SmallBox<dyn Future>` is a `Future` for every future.
// `repr(C)`: the storage is at offset 0, so an inline value has the address of its box and reading it needs no offset.
#[repr(C)]
pub struct SmallBox<T: ?Sized, const N: usize = 2, A: Allocator = Global, L = usize> {
    // # Invariants
    //
    // The box owns one live `T`, the value.
    //
    // 1. `meta` is the value's metadata. Its heap bit is set if the value is spilled, and clear if it is inline.
    // 2. An inline value begins at `storage.words`, and `fits` holds for its layout.
    // 3. The address of a spilled value is stored at `storage.words` as an initialised pointer. The value fills a block
    //    of its own layout from `alloc`. A value of size 0 has no block, and its address is dangling and aligned.
    // 4. The box itself never reads or writes the bytes of an inline value except to move all of them.
    //
    //   word  0           1           2
    //         ┌───────────┬───────────┬────────┐
    // inline  │ value ..              │ meta|0 │
    //         ├───────────┼───────────┼────────┤
    // spilled │ address   │ (uninit)  │ meta|1 │      `L` may put padding before and after `meta`.
    //         └───────────┴───────────┴────────┘
    storage: InlineStorage<N, L>,
    meta: Meta<T>,
    alloc: A,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

/// `N` uninitialised words, aligned at least as `L`.
#[repr(C)] // `words` at offset 0
pub(crate) struct InlineStorage<const N: usize, L> {
    // Raises the alignment to that of `L`.
    align: [L; 0],
    // `UnsafeCell`: the value may have interior mutability, and a shared box gives access to it. `MaybeUninit` words: a
    // move copies every byte of them, where a move of a type with padding may lose the bytes of the padding.
    pub(crate) words: UnsafeCell<[MaybeUninit<usize>; N]>,
}

impl<const N: usize, L> InlineStorage<N, L> {
    pub(crate) const fn new() -> Self {
        Self { align: [], words: UnsafeCell::new([MaybeUninit::uninit(); N]) }
    }

    /// Returns whether a value of this size and alignment, in bytes, can begin at `words`.
    pub(crate) const fn fits(size: usize, align: usize) -> bool {
        size <= size_of::<[usize; N]>() && align <= align_of::<Self>()
    }
}

/// Allocates a block of this layout from `alloc`. For size 0 it returns a dangling aligned address and does not call
/// `alloc`.
#[inline]
fn allocate(layout: Layout, alloc: &impl Allocator) -> Result<NonNull<()>, Refused> {
    if layout.size() == 0 {
        // The address is the alignment, which is not 0.
        return NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(Refused {});
    }
    alloc.allocate(layout).map(NonNull::cast)
}

/// Frees a block.
///
/// # Safety
///
/// `allocate` returned `block` for this layout and this allocator. It is not used afterwards.
#[inline]
unsafe fn deallocate(block: NonNull<()>, layout: Layout, alloc: &impl Allocator) {
    if layout.size() != 0 {
        // SAFETY: the size is not 0, so `allocate` got the block from `alloc` for this layout. The caller guarantees
        // that it is not used afterwards.
        unsafe { alloc.deallocate(block.cast(), layout) };
    }
}

/// A guard that frees a block of an allocator other than [`Global`] after the drop of its value: by
/// [`free`](Self::free), or when the value's drop unwinds.
struct BlockGuard<'a, A: Allocator> {
    // # Invariants
    //
    // 1. `allocate` returned `block` for `layout` and `alloc`. Only this guard frees it.
    block: NonNull<()>,
    layout: Layout,
    alloc: &'a A,
}

impl<A: Allocator> BlockGuard<'_, A> {
    /// Frees the block.
    #[inline]
    fn free(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: `allocate` returned the block for this layout and allocator, and only this guard frees it (invariant
        // 1). `this` is in a `ManuallyDrop`, so the guard's drop does not free it again.
        unsafe { deallocate(this.block, this.layout, this.alloc) };
    }
}

impl<A: Allocator> Drop for BlockGuard<'_, A> {
    // Not inlined: a box's drop then contains the allocator's code only once and stays small enough to be inlined
    // itself (`docs/small.md`, "Dropping").
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: `allocate` returned the block for this layout and allocator, and only this guard frees it (invariant
        // 1). The guard is not used after its drop.
        unsafe { deallocate(self.block, self.layout, self.alloc) };
    }
}

// SAFETY: a `SmallBox` owns its value and its allocator, which are `Send`, and nothing else, as a `Box<T, A>` does.
unsafe impl<T: ?Sized + Send, const N: usize, A: Allocator + Send, L> Send for SmallBox<T, N, A, L> {}

// SAFETY: a `&SmallBox` gives only shared access to the value and the allocator, which are `Sync`.
unsafe impl<T: ?Sized + Sync, const N: usize, A: Allocator + Sync, L> Sync for SmallBox<T, N, A, L> {}

// An inline value moves with the box, so it is pinned only if the box is (see `project`).
impl<T: ?Sized + Unpin, const N: usize, A: Allocator, L> Unpin for SmallBox<T, N, A, L> {}

// As `Box`: the `UnsafeCell` lets the value have interior mutability and adds none of its own.
impl<T: ?Sized + UnwindSafe, const N: usize, A: Allocator + UnwindSafe, L> UnwindSafe for SmallBox<T, N, A, L> {}
impl<T: ?Sized + RefUnwindSafe, const N: usize, A: Allocator + RefUnwindSafe, L> RefUnwindSafe
    for SmallBox<T, N, A, L>
{
}

/// Boxes a value and coerces it to the type that the context asks for.
///
/// Types are inferred as for `Box::new(value)`: the target determines the types of literals and of a closure's
/// parameters.
///
/// ```
/// use dwell::{SmallBox, small_box};
///
/// let double: SmallBox<dyn Fn(u8) -> u8> = small_box!(|x| x * 2);
/// assert_eq!(double(4), 8);
///
/// let words: SmallBox<[u64]> = small_box!([1, 2, 3]);
/// assert_eq!(words.iter().sum::<u64>(), 6);
/// ```
///
/// The target type must be known at the macro call: from a type annotation, a field, an argument, or the return type of
/// the enclosing closure. If it becomes known only later, write
/// [`SmallBox::new_with(value, |value| value as _)`](SmallBox::new_with). For a sized target use [`SmallBox::new`].
#[macro_export]
macro_rules! small_box {
    ($value:expr $(,)?) => {
        $crate::SmallBox::from_incoming($crate::small::IncomingStorage::new().fill($value))
    };
}

/// Like [`small_box!`](crate::small_box), but usable in constants. A value that does not fit inline is a compile error.
///
/// ```
/// use dwell::{SmallBox, small_box_const};
/// use std::fmt::Display;
///
/// static ANSWER: SmallBox<dyn Display + Sync> = small_box_const!(42);
/// assert_eq!(ANSWER.to_string(), "42");
/// ```
#[macro_export]
macro_rules! small_box_const {
    ($value:expr $(,)?) => {
        match $crate::small::Coercible::new($value) {
            value => $crate::SmallBox::from_coerced(&$crate::small::Coerced::of(&value), value),
        }
    };
}

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
    /// let page: SmallBox<[u8; 4096]> = SmallBox::from_fn(|| [0; 4096]);
    /// assert_eq!(page.len(), 4096);
    /// ```
    #[inline]
    pub fn from_fn(make: impl FnOnce() -> T) -> Self {
        match Self::try_from_fn(make) {
            Ok(this) => this,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// Like [`from_fn`](Self::from_fn), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If a `T` does not fit inline and the allocation fails; the error contains `make`, which was not called.
    #[inline]
    pub fn try_from_fn<F: FnOnce() -> T>(make: F) -> Result<Self, AllocError<F>> {
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
    /// [`from_fn`](Self::from_fn), which needs no `unsafe`.
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
    pub const fn new_const(value: T) -> Self {
        const {
            assert!(
                Self::fits(size_of::<T>(), align_of::<T>()),
                "the value is too large or too aligned to be stored inline"
            );
        }
        // SAFETY: the assertion above says that a `T` fits. `T` is sized, so its metadata does not depend on the
        // pointer, and `new_inline` leaves the heap bit clear.
        unsafe { Self::new_storing(value, Meta::new_inline(ptr::dangling::<T>()), Global) }
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
    /// The closure gets a [`Coercible`], which it can only coerce and return. [`small_box!`](crate::small_box) writes
    /// the closure.
    ///
    /// ```
    /// use dwell::SmallBox;
    /// use std::fmt::Debug;
    ///
    /// let number = SmallBox::<dyn Debug>::new_with(7, |value| value);
    /// let slice: SmallBox<[u8]> = SmallBox::new_with([1_u8, 2, 3], |value| value as _);
    /// assert_eq!(format!("{number:?} {slice:?}"), "7 [1, 2, 3]");
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the closure panics, or if the value is coerced to a slice of more than `usize::MAX / 32` elements. The
    /// value is dropped.
    #[inline]
    pub fn new_with<U, F>(value: U, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        Self::new_with_in(value, Global, unsize)
    }

    /// Like [`new_with`](Self::new_with), but returns an error if the allocation fails.
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
    pub fn try_new_with<U, F>(value: U, unsize: F) -> Result<Self, AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        Self::try_new_with_in(value, Global, unsize)
    }

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
    fn from_box_inline(value: Box<T>) -> Self {
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
        let this = ManuallyDrop::new(self);
        if this.meta.is_heap() {
            // SAFETY: a spilled value is live in a block of its own layout from `Global` (invariant 3), as
            // `Box::from_raw` requires. `this` is not dropped, so the `Box` is its only owner.
            return Ok(unsafe { Box::from_raw(this.value()) });
        }
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
    /// Like [`new_with`](Self::new_with), but with an allocator.
    #[inline]
    pub fn new_with_in<U, F>(value: U, alloc: A, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Coercible<U, U>) -> &'a Coercible<U, T>,
    {
        let meta = Self::coerced_meta(&value, unsize);
        let block = Self::block_or_abort(Layout::new::<U>(), &alloc);
        // SAFETY: `block_for` returned `block` for the layout of a `U` and this allocator. It is `Some` if a `U` does
        // not fit, which is also when `meta` has the heap bit. `coerced_meta` returned the metadata of a `U` as a `T`.
        unsafe { Self::write_new(value, meta, block, alloc) }
    }

    /// Like [`try_new_with`](Self::try_new_with), but with an allocator.
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
    pub fn try_new_with_in<U, F>(value: U, alloc: A, unsize: F) -> Result<Self, AllocError<U>>
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

    /// Coerces the value of a box, for example to a supertrait.
    ///
    /// The closure gets a [`Coercible`], which it can only coerce and return.
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
    #[inline]
    pub fn coerce<V: ?Sized, F>(self, unsize: F) -> SmallBox<V, N, A, L>
    where
        F: for<'a, 'brand> FnOnce(&'a Coercible<Brand<'brand>, T>) -> &'a Coercible<Brand<'brand>, V>,
    {
        // SAFETY: the value is live as long as `self` is borrowed, which is until the closure has returned. The closure
        // is generic over the lifetime of the brand.
        let wrapped = unsafe { Coercible::at(self.value()) };
        let meta = Meta::new(unsize(wrapped).as_ptr(), self.meta.is_heap());
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
        let old = self.meta.is_heap().then(|| unsafe { self.heap_address() });
        let fits = SmallBox::<T, M, A, L>::fits(layout.size(), layout.align());
        let new = match (old, fits) {
            (_, true) => None,
            (Some(block), false) => Some(block), // the value keeps its block
            (None, false) => match allocate(layout, &self.alloc) {
                Ok(block) => Some(block),
                Err(_) => return Err(AllocError::new(self, layout)),
            },
        };
        let this = ManuallyDrop::new(self);
        let value = this.value();
        // SAFETY: `this` is not dropped and its allocator is not used again, so this moves it.
        let alloc = unsafe { ptr::read(&raw const this.alloc) };
        // SAFETY: the value is live and has this size and metadata (invariant 1). `this` is not dropped, so the value is
        // not used again at its old address. `new` is `None` if the value fits, and otherwise its own block or a new
        // block of its layout from this allocator.
        let resized = unsafe { SmallBox::move_from(value, layout.size(), this.meta, new, alloc) };
        if let (Some(block), true) = (old, fits) {
            // SAFETY: the block came from this allocator with the value's layout (invariant 3), and the value has been
            // moved out of it.
            unsafe { deallocate(block, layout, &resized.alloc) };
        }
        Ok(resized)
    }

    /// Returns whether the value is stored inline.
    #[inline]
    pub fn is_inline(&self) -> bool {
        !self.meta.is_heap()
    }

    /// Returns the allocator.
    #[inline]
    pub fn allocator(&self) -> &A {
        &self.alloc
    }

    /// Returns whether a value of this size and alignment, in bytes, is stored inline.
    #[inline]
    pub const fn fits(size: usize, align: usize) -> bool {
        InlineStorage::<N, L>::fits(size, align)
    }

    /// Allocates the block for a value of this layout, or returns `None` if it is stored inline.
    #[inline]
    fn block_for(layout: Layout, alloc: &A) -> Result<Option<NonNull<()>>, Refused> {
        if Self::fits(layout.size(), layout.align()) {
            return Ok(None);
        }
        allocate(layout, alloc).map(Some)
    }

    /// Like [`block_for`](Self::block_for), but calls [`handle_alloc_error`] if the allocation fails.
    #[inline]
    fn block_or_abort(layout: Layout, alloc: &A) -> Option<NonNull<()>> {
        match Self::block_for(layout, alloc) {
            Ok(block) => block,
            Err(_) => handle_alloc_error(layout),
        }
    }

    /// Creates a box whose storage begins with `stored`.
    ///
    /// # Safety
    ///
    /// - `fits` holds for a `U`.
    /// - Either `stored` is the value, and `meta` is the metadata of a `U` as a `T` without the heap bit; or `stored`
    ///   is the address of a block, and the block and `meta` are as [`from_block`](Self::from_block) requires.
    #[inline]
    const unsafe fn new_storing<U>(stored: U, meta: Meta<T>, alloc: A) -> Self {
        // Writes each field separately: an uninitialised `InlineStorage` that is passed by value goes through
        // registers, which costs a store of zeros (`create+drop/small` of
        // `cargo run --release -p dwell-bench -- small`).
        let mut this = MaybeUninit::<Self>::uninit();
        let fields = this.as_mut_ptr();
        // SAFETY: the pointer is to the field `meta` of `this`, so it is aligned and valid for writes of a `Meta<T>`.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, meta)).cast::<Meta<T>>().write(meta) };
        // SAFETY: the pointer is to the field `alloc` of `this`, so it is aligned and valid for writes of an `A`.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, alloc)).cast::<A>().write(alloc) };
        // SAFETY: the pointer is to the field `storage` of `this`, which begins with the words. The caller guarantees
        // that `fits` holds for a `U`, so the words are large and aligned enough for one.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, storage)).cast::<U>().write(stored) };
        // SAFETY: `meta` and `alloc` are written. The other fields are `MaybeUninit` words and types of size 0, which
        // need no initialisation.
        unsafe { this.assume_init() }
    }

    /// Creates a box of a spilled value.
    ///
    /// # Safety
    ///
    /// - `allocate` returned `block` for the value's layout and for `alloc`, which may have been moved since. The block
    ///   holds the live value, which has no other owner.
    /// - `meta` is the value's metadata with the heap bit.
    #[inline]
    unsafe fn from_block(block: NonNull<()>, meta: Meta<T>, alloc: A) -> Self {
        const { assert!(N > 0, "the inline capacity `N` of a SmallBox must be at least 1") };
        // SAFETY: an address fits, because `N` is at least 1, as asserted above. The caller guarantees that `block` is
        // the address of the value and that `meta` is the value's metadata with the heap bit, which is all that
        // `new_storing` requires.
        unsafe { Self::new_storing(block, meta, alloc) }
    }

    /// Creates a box of `value`.
    ///
    /// # Safety
    ///
    /// - [`block_for`](Self::block_for) returned `block` for the layout of a `U` and `alloc`.
    /// - `meta` is the metadata of a `U` as a `T`, with the heap bit if there is a block.
    #[inline]
    unsafe fn write_new<U>(value: U, meta: Meta<T>, block: Option<NonNull<()>>, alloc: A) -> Self {
        debug_assert!(meta.is_heap() == block.is_some());
        let Some(block) = block else {
            // SAFETY: `block_for` returned no block, so a `U` fits. The caller guarantees that `meta` then has no heap
            // bit and is the metadata of a `U` as a `T`.
            return unsafe { Self::new_storing(value, meta, alloc) };
        };
        // SAFETY: the caller guarantees that `block_for` returned the block for the layout of a `U`, so it is valid for
        // writes of one and aligned.
        unsafe { block.cast::<U>().write(value) };
        // SAFETY: `block_for` returned the block for the layout of a `U` and `alloc`, and it now holds the live value.
        // The caller guarantees that `meta` is the value's metadata, with the heap bit because there is a block.
        unsafe { Self::from_block(block, meta, alloc) }
    }

    /// Creates a box of a value that it moves from `value`.
    ///
    /// # Safety
    ///
    /// - `value` points to a live `T` of `size` bytes. It is not used as a `T` afterwards, unless a copy of its bytes
    ///   is a value as well.
    /// - `meta` is the metadata of the value. Its heap bit is ignored.
    /// - `block` is `None` if the value fits inline. Otherwise it is the block that contains `value`, or a new block of
    ///   the value's layout. Either came from `alloc`, which may have been moved since.
    #[inline]
    unsafe fn move_from(value: *const T, size: usize, meta: Meta<T>, block: Option<NonNull<()>>, alloc: A) -> Self {
        let meta = meta.with_heap(block.is_some());
        if let Some(block) = block {
            // SAFETY: the value and the block, which has its layout, are valid for `size` bytes. They may be the same
            // memory, so this is `copy`.
            unsafe { ptr::copy(value.cast::<u8>(), block.as_ptr().cast::<u8>(), size) };
            // SAFETY: the caller guarantees that the block has the value's layout and came from `alloc`. It now holds
            // the value, and `meta` has the heap bit.
            return unsafe { Self::from_block(block, meta, alloc) };
        }
        let mut storage = InlineStorage::new();
        let to = storage.words.get_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: the value is valid for reads of `size` bytes. Without a block it fits inline, so the words, which are
        // new, are valid for writes of as many bytes.
        unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), to, size) };
        Self { meta, storage, alloc, owns: PhantomData }
    }

    /// Replaces the metadata.
    ///
    /// # Safety
    ///
    /// With the metadata `meta`, the value is a live `V`. Its layout is unchanged or, if the value is inline, any
    /// layout that fits. The heap bit of `meta` is that of the box.
    #[inline]
    unsafe fn with_meta<V: ?Sized>(self, meta: Meta<V>) -> SmallBox<V, N, A, L> {
        debug_assert!(self.meta.is_heap() == meta.is_heap());
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped and its storage is not used again, so this moves it with the value or address
        // in it.
        let storage = unsafe { ptr::read(&raw const this.storage) };
        // SAFETY: `this` is not dropped and its allocator is not used again, so this moves it.
        let alloc = unsafe { ptr::read(&raw const this.alloc) };
        SmallBox { meta, storage, alloc, owns: PhantomData }
    }

    /// Replaces the metadata with that of the pointer that `view` returns.
    ///
    /// # Safety
    ///
    /// `view` returns its argument's address with metadata that makes the value a live `V`. The value's layout is
    /// unchanged or, if the value is inline, any layout that fits.
    #[inline]
    unsafe fn cast<V: ?Sized>(self, view: impl FnOnce(*const T) -> *const V) -> SmallBox<V, N, A, L> {
        let meta = Meta::new(view(self.value()), self.meta.is_heap());
        // SAFETY: the caller guarantees that `view` returned metadata that makes the value a live `V` of the same
        // layout or, if it is inline, of a layout that fits. The heap bit is the same.
        unsafe { self.with_meta(meta) }
    }

    /// Converts to a box of a `V` that has the same metadata, such as a wrapper of a `T`.
    ///
    /// # Safety
    ///
    /// A `V` has the layout and the metadata of a `T`, and the value is a live `V`.
    #[inline]
    unsafe fn retype<V: ?Sized>(self) -> SmallBox<V, N, A, L> {
        // SAFETY: the caller guarantees that a `V` has the metadata of a `T`.
        let meta = unsafe { self.meta.cast::<V>() };
        // SAFETY: the caller guarantees that the value is a live `V` of the same layout. The word of `meta`, and with
        // it the heap bit, is the same.
        unsafe { self.with_meta(meta) }
    }

    /// Returns a pointer to the value. It may be written through if `self` is borrowed exclusively or owned.
    #[inline]
    fn value(&self) -> *mut T {
        const { assert!(N > 0, "the inline capacity `N` of a SmallBox must be at least 1") };
        // SAFETY: `N` is at least 1, as asserted above, so the storage has a word. With the heap bit, that word is an
        // initialised pointer (invariant 3), which only a function with `&mut self` or `self` writes.
        unsafe { self.meta.locate(self.storage.words.get().cast()) }.cast_mut()
    }

    /// Converts to a box that does not drop its value.
    #[inline]
    fn without_drop(self) -> SmallBox<ManuallyDrop<T>, N, A, L> {
        // SAFETY: `ManuallyDrop` is `repr(transparent)`: it has the layout and the metadata of a `T`, and a live `T` is
        // a live `ManuallyDrop<T>`.
        unsafe { self.retype() }
    }

    /// Returns the layout of the value.
    #[inline]
    fn layout(&self) -> Layout {
        // SAFETY: the box owns a live value, and `value` returns a pointer that has write permission: to the storage
        // through its `UnsafeCell`, or as the allocator returned it.
        unsafe { layout_of(self.value()) }
    }

    /// Returns the address of the inline buffer with the value's metadata.
    #[inline]
    fn inline_value(&self) -> *mut T {
        self.meta.decode_known(false, self.storage.words.get().cast()).cast_mut()
    }

    /// Returns the address of a spilled value.
    ///
    /// # Safety
    ///
    /// The value is spilled.
    #[inline]
    unsafe fn heap_address(&self) -> NonNull<()> {
        debug_assert!(self.meta.is_heap());
        // SAFETY: the caller guarantees that the value is spilled, so the storage begins with its address as an
        // initialised pointer (invariant 3), which is not null.
        unsafe { self.storage.words.get().cast::<NonNull<()>>().read() }
    }

    /// Drops a spilled value and frees its block.
    ///
    /// # Safety
    ///
    /// The value is spilled, and neither it nor its block is used afterwards.
    #[inline]
    unsafe fn drop_spilled(&mut self) {
        // SAFETY: the caller guarantees that the value is spilled.
        let block = unsafe { self.heap_address() };
        let value = self.meta.decode_known(true, block.as_ptr()).cast_mut();
        if is_global::<A>() {
            // A `Box` drops the value: this needs no guard and reads the size after the drop, which takes 166
            // instructions instead of 184 (`create+drop/large` of `cargo run --release -p dwell-bench -- small`).
            // SAFETY: the value is live, in a block of its own layout from the global allocator (invariant 3), as
            // `Box::from_raw` requires. The caller guarantees that nothing uses it afterwards.
            drop(unsafe { Box::from_raw(value) });
            return;
        }
        // SAFETY: the value is live until `drop_in_place` below, and the pointer, which the allocator returned, may be
        // written through.
        let layout = unsafe { layout_of(value) };
        // `allocate` returned the block for this layout and allocator (invariant 3), and nothing else frees it.
        let guard = BlockGuard { block, layout, alloc: &self.alloc };
        // SAFETY: the value is live, and the caller guarantees that nothing uses it afterwards.
        unsafe { ptr::drop_in_place(value) };
        guard.free();
    }
}

/// Moves a value to a new `Box`, or returns its layout if the allocation fails.
///
/// # Safety
///
/// `value` points to a live `T` and may be written through. If it is moved, it is not used or dropped afterwards.
unsafe fn move_to_box<T: ?Sized>(value: *mut T) -> Result<Box<T>, Layout> {
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

macro_rules! drop_glue {
    ($($unsafe:ident)? $(#[$may_dangle:meta])?) => {
        // SAFETY (nightly): `drop` does nothing with the value but drop it, and because of the field `owns` the drop
        // check treats the box as the owner of a `T`.
        $($unsafe)? impl<$(#[$may_dangle])? T: ?Sized, const N: usize, A: Allocator, L> Drop for SmallBox<T, N, A, L> {
            #[inline]
            fn drop(&mut self) {
                if self.meta.is_heap() {
                    // SAFETY: the heap bit is set, so the value is spilled. The box is not used after its drop.
                    unsafe { self.drop_spilled() };
                } else {
                    // SAFETY: the heap bit is clear, so the live value is inline. The box is not used after its drop.
                    unsafe { ptr::drop_in_place(self.inline_value()) };
                }
            }
        }
    };
}
#[cfg(feature = "nightly")]
drop_glue!(unsafe #[may_dangle]);
#[cfg(not(feature = "nightly"))]
drop_glue!();

impl<T: ?Sized, const N: usize, A: Allocator, L> Deref for SmallBox<T, N, A, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the box owns a live value, which is borrowed for as long as `self` is.
        unsafe { &*self.value() }
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> DerefMut for SmallBox<T, N, A, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns a live value, which is borrowed for as long as `self` is, exclusively. The storage is an
        // `UnsafeCell`, so `value`, which borrows `self` shared, returns a pointer that may be written through.
        unsafe { &mut *self.value() }
    }
}
