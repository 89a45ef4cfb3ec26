//! A box that keeps small values in place.
//!
//! A `Box<dyn Trait>` allocates whatever it holds, and most of what it holds is small: a closure with one captured
//! pointer, a node with two fields. A [`SmallBox<dyn Trait>`](SmallBox) has room for two words of its own and allocates
//! only for values that are larger.
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
//! - An address that must not change while the box moves (`Pin<Box<T>>`): a small box moves its value. It can be pinned
//!   itself, and a `SmallBox<dyn Future>` can be awaited as it is.
//!
//! `docs/small.md` in the repository has the representation, what it is compared with, and the table of traits.

mod any;
mod call;
mod forward;
mod iter;
#[cfg(feature = "nightly")]
mod nightly;
mod place;
mod push;
#[cfg(feature = "serde")]
mod serde;
mod slice;

use crate::alloc::{AllocError, Allocator, Global, is_global};
use crate::raw::{Meta, layout_of};
use core::alloc::Layout;
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

pub use self::call::CallOnce;
pub use self::iter::{BoxedIterator, IntoIter};
#[doc(hidden)]
pub use self::place::View;
pub use self::place::{Brand, Place};
pub use self::push::PushWith;

/// A box that keeps a value of up to `N` words in place, and allocates for a larger one.
///
/// It has `N + 1` words: 24 bytes on a 64-bit target unless said otherwise, 16 for `SmallBox<T, 1>`. An
/// `Option<SmallBox<T>>` has the same size. `T` may be a `dyn Trait`, a slice, `str`, a struct that ends in one of these,
/// or a sized type.
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
/// A box of a `dyn Fn` or `dyn FnMut` is called as the closure is. One of a `dyn FnOnce` is called by
/// [`call_once`](Self::call_once) with the arguments as a tuple. For a `FnOnce` that takes a reference, write
/// `dyn for<'a> CallOnce<(&'a mut T,), Output = R>`: stable Rust cannot call its `dyn FnOnce` in place.
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
/// - `N`: the words in place. There must be one for an address:
///
/// ```compile_fail
/// let byte: dwell::SmallBox<u8, 0> = dwell::SmallBox::new(7);
/// ```
///
/// - `A`: where larger values are allocated. See [`alloc`](crate::alloc).
/// - `L`: a type as aligned as values in place may be. It is used for nothing else:
///
/// ```
/// # #![cfg_attr(feature = "nightly", feature(allocator_api))]
/// use dwell::{SmallBox, alloc::Global};
///
/// assert!(!SmallBox::<u128, 2>::new(1).is_inline()); // aligned to 16, the box to 8
/// assert!(SmallBox::<u128, 2, Global, u128>::new(1).is_inline());
/// ```
///
/// # Pinning
///
/// A `SmallBox` is `Unpin` only if `T` is, because its value moves with it. In return a pinned `SmallBox` pins its value,
/// so that `SmallBox<dyn Future>` is a `Future` for every future.
// In this order, since the address of a box is then that of its value in place.
#[repr(C)]
pub struct SmallBox<T: ?Sized, const N: usize = 2, A: Allocator = Global, L = usize> {
    // # Invariants
    //
    // The box owns one live `T`, the value, and
    //
    // 1. `meta` is the value's metadata, and its bit says whether the value is outside (`heap`).
    // 2. Not `heap`: the value begins at `room.words`; it is no larger and no more aligned than that (`fits`).
    // 3. `heap`: `room.words` begins with the value's address as an initialised pointer, N is at least 1, and the value is
    //    in a block of its own layout that came from `alloc` or, with size 0, at a dangling address that is aligned for it.
    // 4. While not `heap`, nobody but the value's users reads or writes `room`; a look at `meta` is a look at nothing of
    //    theirs.
    //
    //   word  0           1           2
    //         ┌───────────┬───────────┬────────┐
    // inline  │ value ..              │ meta|0 │
    //         ├───────────┼───────────┼────────┤
    // heap    │ address   │ (uninit)  │ meta|1 │      `L` may put padding before and after `meta`.
    //         └───────────┴───────────┴────────┘
    room: Room<N, L>,
    meta: Meta<T>,
    alloc: A,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

/// The words in place.
#[repr(C)] // no field of its own but `words`, at offset 0
pub(crate) struct Room<const N: usize, L> {
    // Raises the alignment.
    align: [L; 0],
    // `UnsafeCell`: the value may have interior mutability, and is reached through a shared box. `MaybeUninit` words: a
    // type with padding would lose the value's bytes there when the box moves.
    pub(crate) words: UnsafeCell<[MaybeUninit<usize>; N]>,
}

impl<const N: usize, L> Room<N, L> {
    pub(crate) const fn new() -> Self {
        Self { align: [], words: UnsafeCell::new([MaybeUninit::uninit(); N]) }
    }
}

/// A block of this layout; an aligned address without a block if it has no size.
#[inline]
fn allocate(layout: Layout, alloc: &impl Allocator) -> Result<NonNull<()>, NoBlock> {
    if layout.size() == 0 {
        return NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(NoBlock);
    }
    match alloc.allocate(layout) {
        Ok(block) => Ok(block.cast()),
        Err(_) => Err(NoBlock),
    }
}

/// Gives a block back.
///
/// # Safety
///
/// `address` is what `allocate` returned for this layout and allocator, and is not used again.
#[inline]
unsafe fn deallocate(address: NonNull<()>, layout: Layout, alloc: &impl Allocator) {
    if layout.size() != 0 {
        // SAFETY: the caller says that it came from this allocator with this layout.
        unsafe { alloc.deallocate(address.cast(), layout) };
    }
}

/// The allocator refused.
struct NoBlock;

/// Gives a block of another allocator than [`Global`] back when its value's drop unwinds. Otherwise [`leave`](Self::leave) does.
struct Leaving<'a, A: Allocator> {
    // # Invariants
    //
    // 1. `address` is what `allocate` returned for this layout and allocator, and this guard's alone to give back.
    address: NonNull<()>,
    layout: Layout,
    alloc: &'a A,
}

impl<A: Allocator> Leaving<'_, A> {
    /// Gives the block back.
    #[inline]
    fn leave(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: invariant 1; `this` is not dropped.
        unsafe { deallocate(this.address, this.layout, this.alloc) };
    }
}

impl<A: Allocator> Drop for Leaving<'_, A> {
    // Outside, so that a box's drop has the allocator's code once and stays small enough to be inlined.
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: invariant 1.
        unsafe { deallocate(self.address, self.layout, self.alloc) };
    }
}

// SAFETY: a `SmallBox` owns its value and its allocator and nothing else, as a `Box<T, A>` does.
unsafe impl<T: ?Sized + Send, const N: usize, A: Allocator + Send, L> Send for SmallBox<T, N, A, L> {}

// SAFETY: a shared `SmallBox` gives access to the value and the allocator as shared, and nothing else.
unsafe impl<T: ?Sized + Sync, const N: usize, A: Allocator + Sync, L> Sync for SmallBox<T, N, A, L> {}

// The value moves with the box, so it is pinned with it, and only then (see `forward::Future`).
impl<T: ?Sized + Unpin, const N: usize, A: Allocator, L> Unpin for SmallBox<T, N, A, L> {}

// As `Box`: the `UnsafeCell` is there for the value's sake and says nothing of its own.
impl<T: ?Sized + UnwindSafe, const N: usize, A: Allocator + UnwindSafe, L> UnwindSafe for SmallBox<T, N, A, L> {}
impl<T: ?Sized + RefUnwindSafe, const N: usize, A: Allocator + RefUnwindSafe, L> RefUnwindSafe
    for SmallBox<T, N, A, L>
{
}

/// The box for a value, seen as whatever the context says: `SmallBox::new_with(value, |place| place as _)`.
///
/// ```
/// use dwell::{SmallBox, small_box};
///
/// let double: SmallBox<dyn Fn(u32) -> u32> = small_box!(|x: u32| x * 2);
/// assert_eq!(double(4), 8);
/// ```
///
/// The target must be known: from a type as above, a field, or an argument. For a sized target use [`SmallBox::new`].
#[macro_export]
macro_rules! small_box {
    ($value:expr $(,)?) => {
        $crate::SmallBox::new_with($value, |place| place as _)
    };
}

/// [`small_box!`](crate::small_box) in a constant: the value must fit in place, which is checked when it is compiled.
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
    ($value:expr $(,)?) => {{
        let place = $crate::small::Place::new($value);
        let view = $crate::small::View::of(&place as _);
        $crate::SmallBox::from_view(place, &view)
    }};
}

impl<T, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes a value of this type. For a `SmallBox<dyn Trait>` take [`small_box!`](crate::small_box), and
    /// [`from_box`](SmallBox::from_box) if there is a `Box<dyn Trait>` already.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let point: SmallBox<(f32, f32)> = SmallBox::new((1.0, 2.0));
    /// assert_eq!(point.0, 1.0);
    /// ```
    #[inline]
    pub fn new(value: T) -> Self {
        Self::new_in(value, Global)
    }

    /// [`new`](Self::new) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the value does not fit and the allocator has no block for it; the value comes back in the error.
    #[inline]
    pub fn try_new(value: T) -> Result<Self, AllocError<T>> {
        Self::try_new_in(value, Global)
    }

    /// Boxes what `make` returns, after its place was found.
    ///
    /// For large values: optimised code writes the result where it belongs instead of on the stack.
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

    /// [`from_fn`](Self::from_fn) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When a `T` does not fit and the allocator has no block for it; `make` comes back in the error, not called.
    #[inline]
    pub fn try_from_fn<F: FnOnce() -> T>(make: F) -> Result<Self, AllocError<F>> {
        match SmallBox::<MaybeUninit<T>, N, Global, L>::try_new_uninit_in(Global) {
            Ok(mut this) => {
                this.write(make());
                // SAFETY: just written.
                Ok(unsafe { this.assume_init() })
            }
            Err(error) => Err(error.map(|()| make)),
        }
    }

    /// A box with no value yet. See [`assume_init`](SmallBox::assume_init), and [`from_fn`](Self::from_fn), which needs
    /// no `unsafe`.
    #[inline]
    pub fn new_uninit() -> SmallBox<MaybeUninit<T>, N, Global, L> {
        SmallBox::new(MaybeUninit::uninit())
    }

    /// [`new_uninit`](Self::new_uninit) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When a `T` does not fit and the allocator has no block for it.
    #[inline]
    pub fn try_new_uninit() -> Result<SmallBox<MaybeUninit<T>, N, Global, L>, AllocError<()>> {
        SmallBox::try_new_uninit_in(Global)
    }

    /// A box of a value known to fit, in a constant.
    ///
    /// That it fits is checked when the program is compiled. See [`small_box_const!`](crate::small_box_const) for `dyn`.
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
                "the value is too large or too aligned to be kept in place"
            );
        }
        // SAFETY: it fits; a thin pointer's metadata is that of every thin pointer.
        unsafe { Self::new_inline(value, Meta::new_inline(ptr::dangling::<T>()), Global) }
    }
}

impl<T, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// [`new`](SmallBox::new) with an allocator.
    #[inline]
    pub fn new_in(value: T, alloc: A) -> Self {
        let address = Self::find_or_abort(Layout::new::<T>(), &alloc);
        let meta = Meta::new(ptr::dangling(), address.is_some());
        // SAFETY: the place was found for a `T`; a thin pointer's metadata is that of every thin pointer.
        unsafe { Self::fill(value, meta, address, alloc) }
    }

    /// [`try_new`](SmallBox::try_new) with an allocator.
    ///
    /// # Errors
    ///
    /// When the value does not fit and the allocator has no block for it; the value comes back in the error.
    #[inline]
    pub fn try_new_in(value: T, alloc: A) -> Result<Self, AllocError<T>> {
        let layout = Layout::new::<T>();
        let Ok(address) = Self::find(layout, &alloc) else { return Err(AllocError::new(value, layout)) };
        let meta = Meta::new(ptr::dangling(), address.is_some());
        // SAFETY: as in `new_in`.
        Ok(unsafe { Self::fill(value, meta, address, alloc) })
    }

    /// The value, out of its box.
    #[inline]
    pub fn into_inner(self) -> T {
        let mut shell = self.without_drop();
        // SAFETY: the shell does not drop its value, and is not used for it again.
        unsafe { ManuallyDrop::take(&mut shell) }
    }
}

impl<T, const N: usize, A: Allocator, L> SmallBox<MaybeUninit<T>, N, A, L> {
    /// [`new_uninit`](SmallBox::new_uninit) with an allocator, that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When a `T` does not fit and the allocator has no block for it.
    #[inline]
    pub fn try_new_uninit_in(alloc: A) -> Result<Self, AllocError<()>> {
        Self::try_new_in(MaybeUninit::uninit(), alloc).map_err(|error| error.map(drop))
    }

    /// The box of the value that was written.
    ///
    /// # Safety
    ///
    /// The value is initialised, as for [`MaybeUninit::assume_init`].
    #[inline]
    pub unsafe fn assume_init(self) -> SmallBox<T, N, A, L> {
        // SAFETY: a `MaybeUninit<T>` has the layout of a `T`, and the caller says that it holds one.
        unsafe { self.retype() }
    }
}

impl<T: ?Sized, const N: usize, L> SmallBox<T, N, Global, L> {
    /// Boxes a value as what the closure coerces it to.
    ///
    /// The closure gets a [`Place`] and can do nothing with it but coerce and return it. [`small_box!`](crate::small_box)
    /// writes the closure.
    ///
    /// ```
    /// use dwell::SmallBox;
    /// use std::fmt::Debug;
    ///
    /// let number = SmallBox::<dyn Debug>::new_with(7, |place| place);
    /// let slice: SmallBox<[u8]> = SmallBox::new_with([1_u8, 2, 3], |place| place as _);
    /// assert_eq!(format!("{number:?} {slice:?}"), "7 [1, 2, 3]");
    /// ```
    ///
    /// # Panics
    ///
    /// If the closure does (the value is dropped), or when the value is coerced to a slice of more than
    /// `usize::MAX / 32` elements.
    #[inline]
    pub fn new_with<U, F>(value: U, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        Self::new_with_in(value, Global, unsize)
    }

    /// [`new_with`](Self::new_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the value does not fit and the allocator has no block for it; the value comes back in the error.
    #[inline]
    pub fn try_new_with<U, F>(value: U, unsize: F) -> Result<Self, AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        Self::try_new_with_in(value, Global, unsize)
    }

    /// Takes a box over with its block: nothing is allocated, moved or freed.
    ///
    /// A small value stays outside, until [`resize`](Self::resize) moves it in.
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
    /// When it is a slice of more than `usize::MAX / 32` elements.
    #[inline]
    pub fn from_box(value: Box<T>) -> Self {
        let meta = Meta::new(&raw const *value, true);
        // SAFETY: a box's address is not null.
        let address = unsafe { NonNull::new_unchecked(Box::into_raw(value).cast()) };
        // SAFETY: a `Box` has a block from the global allocator of its value's layout, or with size 0 an aligned address; it
        // is ours now.
        unsafe { Self::outside(address, meta, Global) }
    }

    /// The value in a `Box`. A value outside keeps its block: nothing is allocated or moved.
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

    /// [`into_box`](Self::into_box) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the value is in place and the allocator has no block for it; the small box comes back in the error.
    pub fn try_into_box(self) -> Result<Box<T>, AllocError<Self>> {
        if !self.meta.is_heap() {
            let this = ManuallyDrop::new(self);
            // SAFETY: the box owns its value; if it has been moved, `this` is not used again, and it is never dropped.
            // `Global` has nothing to drop.
            return unsafe { move_to_box(this.value()) }
                .map_err(|layout| AllocError::new(ManuallyDrop::into_inner(this), layout));
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: by invariant 3 the block is the global allocator's and of the value's layout; `this` is not dropped.
        Ok(unsafe { Box::from_raw(this.value()) })
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// [`new_with`](Self::new_with) with an allocator.
    #[inline]
    pub fn new_with_in<U, F>(value: U, alloc: A, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        let meta = Self::see(&value, unsize);
        let address = Self::find_or_abort(Layout::new::<U>(), &alloc);
        // SAFETY: the place was found for a `U`, and `see` returned its metadata.
        unsafe { Self::fill(value, meta, address, alloc) }
    }

    /// [`try_new_with`](Self::try_new_with) with an allocator.
    ///
    /// # Errors
    ///
    /// When the value does not fit and the allocator has no block for it; the value comes back in the error.
    #[inline]
    pub fn try_new_with_in<U, F>(value: U, alloc: A, unsize: F) -> Result<Self, AllocError<U>>
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        let meta = Self::see(&value, unsize);
        let layout = Layout::new::<U>();
        let Ok(address) = Self::find(layout, &alloc) else { return Err(AllocError::new(value, layout)) };
        // SAFETY: as in `new_with_in`.
        Ok(unsafe { Self::fill(value, meta, address, alloc) })
    }

    /// The metadata of a `U` seen as a `T`, with the bit that a box of it has.
    #[inline]
    fn see<U, F>(value: &U, unsize: F) -> Meta<T>
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        // SAFETY: the value is live while it is borrowed here; its type is the brand. (Moving it into a place and out again
        // would be safe, and a copy.)
        let place = unsafe { Place::at(value) };
        // By invariant 1 of `Place` it is that, whichever `Place<U, _>` the closure returned.
        Meta::new(unsize(place).as_ptr(), !Self::fits(size_of::<U>(), align_of::<U>()))
    }

    /// The same box seen as what the closure coerces it to, such as a supertrait.
    ///
    /// ```
    /// use dwell::{SmallBox, small_box};
    /// use std::error::Error;
    /// use std::fmt::Debug;
    ///
    /// let error: SmallBox<dyn Error> = small_box!(std::fmt::Error);
    /// let debug: SmallBox<dyn Debug> = error.coerce(|place| place as _);
    /// assert_eq!(format!("{debug:?}"), "Error");
    /// ```
    #[inline]
    pub fn coerce<V: ?Sized, F>(self, unsize: F) -> SmallBox<V, N, A, L>
    where
        F: for<'a, 'brand> FnOnce(&'a Place<Brand<'brand>, T>) -> &'a Place<Brand<'brand>, V>,
    {
        // SAFETY: the value is live while `self` is borrowed, which it is until the closure returns. The closure accepts
        // every brand.
        let place = unsafe { Place::at(self.value()) };
        let meta = Meta::new(unsize(place).as_ptr(), self.meta.is_heap());
        // SAFETY: the closure accepts every brand, so what it returned is the only place with this one (invariant 2 of
        // `Place`): the value, coerced. A coercion changes neither the address nor the layout of a value.
        unsafe { self.with_meta(meta) }
    }

    /// The same value in a box of another size: moved in if it fits there, moved out if it does not.
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

    /// [`resize`](Self::resize) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the value is moved out and the allocator has no block for it; the box as it was comes back in the error.
    pub fn try_resize<const M: usize>(self) -> Result<SmallBox<T, M, A, L>, AllocError<Self>> {
        let layout = self.layout();
        // SAFETY: it is asked for only if the value is outside.
        let old = self.meta.is_heap().then(|| unsafe { self.address() });
        let fits = SmallBox::<T, M, A, L>::fits(layout.size(), layout.align());
        let address = match (old, fits) {
            (_, true) => None,
            (Some(address), false) => Some(address), // the block goes along
            (None, false) => {
                let block = allocate(layout, &self.alloc);
                let Ok(address) = block else { return Err(AllocError::new(self, layout)) };
                Some(address)
            }
        };
        let this = ManuallyDrop::new(self);
        let value = this.value();
        // SAFETY: `this` is not dropped, so that the allocator is taken over once.
        let alloc = unsafe { ptr::read(&raw const this.alloc) };
        // SAFETY: the value is live and moved from, since `this` is not dropped. Its new place fits, is a new block of its
        // layout, or is where it is.
        let new = unsafe { SmallBox::fill_from(value, layout.size(), this.meta, address, alloc) };
        if let (Some(address), true) = (old, fits) {
            // SAFETY: by invariant 3 the block came from the allocator with this layout. The value has been moved out.
            unsafe { deallocate(address, layout, &new.alloc) };
        }
        Ok(new)
    }

    /// Whether the value is in place, that is, needs no block.
    #[inline]
    pub fn is_inline(&self) -> bool {
        !self.meta.is_heap()
    }

    /// The allocator.
    #[inline]
    pub fn allocator(&self) -> &A {
        &self.alloc
    }

    /// Whether a value of this size and alignment fits in place.
    #[inline]
    pub const fn fits(size: usize, align: usize) -> bool {
        size <= size_of::<[usize; N]>() && align <= align_of::<Room<N, L>>()
    }

    /// Finds the place for a layout: none is needed, or a block.
    #[inline]
    fn find(layout: Layout, alloc: &A) -> Result<Option<NonNull<()>>, NoBlock> {
        if Self::fits(layout.size(), layout.align()) {
            return Ok(None);
        }
        allocate(layout, alloc).map(Some)
    }

    /// [`find`](Self::find) that does not return without.
    #[inline]
    fn find_or_abort(layout: Layout, alloc: &A) -> Option<NonNull<()>> {
        match Self::find(layout, alloc) {
            Ok(address) => address,
            Err(NoBlock) => handle_alloc_error(layout),
        }
    }

    /// The box with `value` at the start of its room.
    ///
    /// # Safety
    ///
    /// - A `U` fits.
    /// - `meta` is the metadata of a `U` seen as a `T` and says "inline", or `value` is an address and `meta` as
    ///   [`outside`](Self::outside) asks.
    #[inline]
    const unsafe fn new_inline<U>(value: U, meta: Meta<T>, alloc: A) -> Self {
        // Written field by field, for an uninitialised `Room` by value travels in registers, which costs a store of zeros.
        let mut this = MaybeUninit::<Self>::uninit();
        let fields = this.as_mut_ptr();
        // SAFETY: a field of `this`.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, meta)).cast::<Meta<T>>().write(meta) };
        // SAFETY: a field of `this`.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, alloc)).cast::<A>().write(alloc) };
        // SAFETY: the caller says that it fits, so the words are large and aligned enough.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, room)).cast::<U>().write(value) };
        // SAFETY: `meta` and `alloc` are written, and the room may be uninitialised.
        unsafe { this.assume_init() }
    }

    /// The box of a value that is in a block.
    ///
    /// # Safety
    ///
    /// - The value at `address` is live, and in a block from `alloc` for its layout (invariant 3).
    /// - `meta` is its metadata, and says "heap".
    #[inline]
    unsafe fn outside(address: NonNull<()>, meta: Meta<T>, alloc: A) -> Self {
        const { assert!(N > 0, "a SmallBox needs a word for an address") };
        // SAFETY: an address fits a word, and there is one; what it means is what the caller says.
        unsafe { Self::new_inline(address, meta, alloc) }
    }

    /// The box of a value, whose place was found.
    ///
    /// # Safety
    ///
    /// - `address` is none and a `U` fits, or a block from `alloc` for the layout of a `U`.
    /// - `meta` is the metadata of a `U` seen as a `T`, and says "heap" if there is an address.
    #[inline]
    unsafe fn fill<U>(value: U, meta: Meta<T>, address: Option<NonNull<()>>, alloc: A) -> Self {
        debug_assert!(meta.is_heap() == address.is_some());
        let Some(address) = address else {
            // SAFETY: the caller says so.
            return unsafe { Self::new_inline(value, meta, alloc) };
        };
        // SAFETY: the block is aligned and large enough for a `U`.
        unsafe { address.cast::<U>().write(value) };
        // SAFETY: the block has been written; the caller says the rest.
        unsafe { Self::outside(address, meta, alloc) }
    }

    /// The box of a value that is moved from `value`.
    ///
    /// # Safety
    ///
    /// - `value` is a live `T` of this size that is not used afterwards.
    /// - `address` is none and the value fits, or `value` itself, or a block from `alloc` for its layout; or `value` is in
    ///   a block from `alloc` for its layout.
    /// - `meta` is its metadata.
    #[inline]
    unsafe fn fill_from(value: *const T, size: usize, meta: Meta<T>, address: Option<NonNull<()>>, alloc: A) -> Self {
        let meta = meta.with_heap(address.is_some());
        if let Some(address) = address {
            // SAFETY: the caller says that both are valid for the value's size. They may be the same, so this is no
            // `copy_nonoverlapping`.
            unsafe { ptr::copy(value.cast::<u8>(), address.as_ptr().cast::<u8>(), size) };
            // SAFETY: the value is there now; the caller says the rest.
            return unsafe { Self::outside(address, meta, alloc) };
        }
        let mut room = Room::new();
        let to = room.words.get_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: the caller says that the value is valid for reads of its size and fits the room, which is new.
        unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), to, size) };
        Self { meta, room, alloc, owns: PhantomData }
    }

    /// The same box with other metadata.
    ///
    /// # Safety
    ///
    /// `meta` says where the value is as before, and makes the value a live `V`: of the same layout, or in place of any
    /// that fits.
    #[inline]
    unsafe fn with_meta<V: ?Sized>(self, meta: Meta<V>) -> SmallBox<V, N, A, L> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again and not dropped, so the room and what is in it are moved.
        let room = unsafe { ptr::read(&raw const this.room) };
        // SAFETY: as above, for the allocator.
        let alloc = unsafe { ptr::read(&raw const this.alloc) };
        SmallBox { meta, room, alloc, owns: PhantomData }
    }

    /// The same box, its value seen through another pointer.
    ///
    /// # Safety
    ///
    /// `view` returns its argument's address, with metadata that makes the value a live `V`: of the same layout, or in
    /// place of any that fits.
    #[inline]
    unsafe fn cast<V: ?Sized>(self, view: impl FnOnce(*const T) -> *const V) -> SmallBox<V, N, A, L> {
        let meta = Meta::new(view(self.value()), self.meta.is_heap());
        // SAFETY: the caller says so, and the bit is the same.
        unsafe { self.with_meta(meta) }
    }

    /// The same box of a `V` with the same metadata, such as a wrapper of a `T`.
    ///
    /// # Safety
    ///
    /// A `V` has the layout and the metadata of a `T`, and the value is a live `V`.
    #[inline]
    unsafe fn retype<V: ?Sized>(self) -> SmallBox<V, N, A, L> {
        // SAFETY: the caller says that the metadata is the same.
        let meta = unsafe { self.meta.cast::<V>() };
        // SAFETY: the caller says that the value is a live `V`; the bit is the same.
        unsafe { self.with_meta(meta) }
    }

    /// The value's address and metadata. It may be written through as far as the borrow of `self` lets.
    #[inline]
    fn value(&self) -> *mut T {
        const { assert!(N > 0, "a SmallBox needs a word for an address") };
        // SAFETY: the room is a word or more, and by invariant 3 begins with an initialised pointer if `meta` says "heap".
        unsafe { self.meta.locate(self.room.words.get().cast()) }.cast_mut()
    }

    /// The same box with nothing to do for its value when it drops.
    #[inline]
    fn without_drop(self) -> SmallBox<ManuallyDrop<T>, N, A, L> {
        // SAFETY: a `ManuallyDrop<T>` is a `T` in layout, with the same metadata.
        unsafe { self.retype() }
    }

    #[inline]
    fn layout(&self) -> Layout {
        // SAFETY: the box owns a live value.
        unsafe { layout_of(self.value()) }
    }

    /// The value's address in the room, if that is where it is.
    #[inline]
    fn inline_value(&self) -> *mut T {
        self.meta.decode_known(false, self.room.words.get().cast()).cast_mut()
    }

    /// The heap word.
    ///
    /// # Safety
    ///
    /// The value is outside.
    #[inline]
    unsafe fn address(&self) -> NonNull<()> {
        debug_assert!(self.meta.is_heap());
        // SAFETY: the caller says that the value is outside; then the room begins with its address (invariant 3).
        unsafe { self.room.words.get().cast::<NonNull<()>>().read() }
    }

    /// Drops a value that is outside, and its block.
    ///
    /// # Safety
    ///
    /// The value is outside, and not used after this.
    #[inline]
    unsafe fn drop_outside(&mut self) {
        // SAFETY: the caller says that the value is outside.
        let address = unsafe { self.address() };
        let value = self.meta.decode_known(true, address.as_ptr()).cast_mut();
        if is_global::<A>() {
            // A `Box` needs no guard, and reads the size only when the value is gone.
            // SAFETY: by invariant 3 the block is a `Box`'s; this is the end of the small one.
            drop(unsafe { Box::from_raw(value) });
            return;
        }
        // SAFETY: the value is live until it is dropped below.
        let layout = unsafe { layout_of(value) };
        // By invariant 3 the block came from `alloc` with this layout; this is the end of the box.
        let leaving = Leaving { address, layout, alloc: &self.alloc };
        // SAFETY: the box owns a live value; the caller says that it is not used after this.
        unsafe { ptr::drop_in_place(value) };
        leaving.leave();
    }
}

/// Moves a value to a new `Box`; without a block for it nothing happens.
///
/// # Safety
///
/// `value` is a live `T`, ours to write, which is not used again and not dropped if it was moved.
unsafe fn move_to_box<T: ?Sized>(value: *mut T) -> Result<Box<T>, Layout> {
    // SAFETY: the caller says that it is live and ours.
    let layout = unsafe { layout_of(value) };
    let meta = Meta::new(value, true);
    let Ok(address) = allocate(layout, &Global) else { return Err(layout) };
    // SAFETY: both are valid for the value's size: the value, and a block of its layout, which is new and so elsewhere.
    unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), address.as_ptr().cast::<u8>(), layout.size()) };
    // SAFETY: the block is the global allocator's, of the value's layout and has held it since the copy.
    Ok(unsafe { Box::from_raw(meta.decode(address.as_ptr()).cast_mut()) })
}

macro_rules! drop_glue {
    ($($unsafe:ident)? $(#[$may_dangle:meta])?) => {
        // SAFETY (nightly): the value is only dropped, and `owns` tells the drop check that it is.
        $($unsafe)? impl<$(#[$may_dangle])? T: ?Sized, const N: usize, A: Allocator, L> Drop for SmallBox<T, N, A, L> {
            #[inline]
            fn drop(&mut self) {
                if self.meta.is_heap() {
                    // SAFETY: it is outside, and this is the end of the box.
                    unsafe { self.drop_outside() };
                } else {
                    // SAFETY: the box owns a live value, which is not used after this.
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
        // SAFETY: the box owns a live value, borrowed as `self` is.
        unsafe { &*self.value() }
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> DerefMut for SmallBox<T, N, A, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns a live value, borrowed as `self` is; the room is an `UnsafeCell`, so that a pointer made
        // from a shared borrow may write there, and the borrow is exclusive.
        unsafe { &mut *self.value() }
    }
}
