//! An owned slice behind one word: the length lives in the block.

use super::{IsEmpty, layout};
use crate::alloc::{AllocError, try_alloc, try_collect};
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop, MaybeUninit};
use core::ops::{Deref, DerefMut, Range};
use core::panic::UnwindSafe;
use core::ptr::{self, NonNull};
use core::slice;
use std_alloc::alloc::{Layout, dealloc, handle_alloc_error, realloc};
use std_alloc::boxed::Box;
use std_alloc::vec::Vec;

/// The alignment up to which all empty slices share one static header.
const SHARED_ALIGN: usize = 64;

/// What an empty slice points behind: its last word is the length 0.
#[repr(align(64))] // `SHARED_ALIGN`: the address right after it suits nearly every `T`
struct Shared([usize; SHARED_ALIGN / size_of::<usize>()]);

static SHARED: Shared = Shared([0; SHARED_ALIGN / size_of::<usize>()]);

/// Memory for a slice and its length; knows nothing of what is in the elements.
struct Block<T> {
    // # Invariants
    //
    // 1. Right before `data` there is an aligned, initialised `usize`, the length, which only this block writes and which
    //    may be read for as long as the block lives.
    // 2. If the length is 0, `data` is `EMPTY` and nothing is owned.
    // 3. Otherwise `layout::slice::<T>(len)` is `Ok`, and `data` lies `slice_offset` bytes into an allocation of that
    //    layout from the global allocator, to which no one else has a pointer; `data` may reach all of it.
    data: NonNull<T>,
    // Stands for elements of type `T`: drop check and variance are those of a `Box<[T]>`.
    owns: PhantomData<T>,
}

// SAFETY: by invariants 1 to 3 a block shares nothing but a constant, and its owners hand out its elements as `Box<[T]>`
// does: by `&self` shared, by `&mut self` exclusively, by value once.
unsafe impl<T: Send> Send for Block<T> {}

// SAFETY: as above; through `&Block<T>` one gets `&T` and nothing else.
unsafe impl<T: Sync> Sync for Block<T> {}

// A raw pointer is taken for a shared one; this one owns, so the rule is that of `Box<[T]>`.
impl<T: UnwindSafe> UnwindSafe for Block<T> {}

// The elements do not move when the block's owner does, and none is ever pinned.
impl<T> Unpin for Block<T> {}

impl<T> Block<T> {
    const EMPTY: NonNull<T> =
        NonNull::new(SHARED.0.as_ptr_range().end.cast::<T>().cast_mut()).expect("a static is not at null");

    const fn empty() -> Self {
        Self { data: Self::EMPTY, owns: PhantomData }
    }

    /// A block for `len` elements, or the layout that was refused.
    fn alloc(len: usize) -> Result<Self, Layout> {
        if len == 0 {
            return Ok(Self::empty());
        }
        let layout = layout::slice::<T>(len)?;
        let base = try_alloc(layout).ok_or(layout)?;
        // SAFETY: `base` is a fresh allocation of the layout for `len` elements.
        Ok(unsafe { Self::from_base(base, len) })
    }

    /// # Safety
    ///
    /// `base` is an allocation as in invariant 3 for `len` elements, `len` is not 0, and the block becomes its owner.
    unsafe fn from_base(base: NonNull<u8>, len: usize) -> Self {
        debug_assert!(len != 0);
        // SAFETY: the caller's layout has at least `slice_offset` bytes.
        let data = unsafe { base.add(layout::slice_offset::<T>()) }.cast::<T>();
        let block = Self { data, owns: PhantomData };
        // SAFETY: `slice_offset` leaves an aligned word before `data` that belongs to the allocation.
        unsafe { block.header().write(len) };
        block
    }

    /// Where the length is.
    fn header(&self) -> NonNull<usize> {
        // SAFETY: by invariant 1 a word before `data` is in the same allocation, be it the heap's or `SHARED`.
        unsafe { self.data.cast::<usize>().sub(1) }
    }

    fn len(&self) -> usize {
        // SAFETY: invariant 1.
        unsafe { self.header().read() }
    }

    /// The elements `range`, aligned and in bounds, as a pointer.
    ///
    /// # Safety
    ///
    /// `range` is within `0..len`.
    unsafe fn elements(&self, range: Range<usize>) -> NonNull<[T]> {
        debug_assert!(range.start <= range.end && range.end <= self.len());
        let data = if align_of::<T>() > SHARED_ALIGN && self.len() == 0 { NonNull::dangling() } else { self.data };
        // SAFETY: `start` is at most the length, so this stays within the block, or at `data` if there is none.
        let start = unsafe { data.add(range.start) };
        NonNull::slice_from_raw_parts(start, range.end - range.start)
    }

    /// The elements as memory. What is in it is the business of the block's owner.
    fn slots(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: `0..len` is within `0..len`.
        let elements = unsafe { self.elements(0..self.len()) };
        let mut slots = NonNull::slice_from_raw_parts(elements.cast::<MaybeUninit<T>>(), elements.len());
        // SAFETY: by invariant 3 the memory is the block's alone, and `self` is borrowed exclusively; a `MaybeUninit` may hold
        // anything.
        unsafe { slots.as_mut() }
    }

    /// The start and the layout of the allocation.
    ///
    /// # Safety
    ///
    /// The length is not 0.
    unsafe fn allocation(&self) -> (NonNull<u8>, Layout) {
        debug_assert!(self.len() != 0);
        // SAFETY: by invariant 3 the allocation begins `slice_offset` bytes before `data`.
        let base = unsafe { self.data.cast::<u8>().sub(layout::slice_offset::<T>()) };
        let size = layout::slice_offset::<T>() + self.len() * size_of::<T>();
        // SAFETY: by invariant 3 this is the layout that `layout::slice` found valid.
        (base, unsafe { Layout::from_size_align_unchecked(size, layout::slice_align::<T>()) })
    }

    /// Makes room for `len` elements; those that fit are kept bit by bit. On failure nothing has changed.
    fn resize(&mut self, len: usize) -> Result<(), Layout> {
        if len == 0 || self.len() == 0 {
            *self = Self::alloc(len)?;
            return Ok(());
        }
        let new = layout::slice::<T>(len)?;
        // SAFETY: the length is not 0.
        let (base, old) = unsafe { self.allocation() };
        // SAFETY: `base` is allocated with `old` by invariant 3, and `new` is a valid layout of the same alignment and at
        // least the header's size.
        let base = unsafe { realloc(base.as_ptr(), old, new.size()) };
        let base = NonNull::new(base).ok_or(new)?;
        // SAFETY: `base` is now an allocation of `new`, and the pointer to the old one is overwritten, not dropped.
        mem::forget(mem::replace(self, unsafe { Self::from_base(base, len) }));
        Ok(())
    }
}

/// An owned slice that costs one word where it is kept.
///
/// `Box<[T]>` is two words, `Vec<T>` three. This is one (8 bytes on a 64-bit target), and so is `Option<ThinSlice<T>>`.
/// An empty one owns no memory; any other owns one block, with the length before the elements:
///
/// ```text
///  ThinSlice<T>
///  +--------+        +- padding -+--------+------+------+-----+------+
///  |  data -|------. |  if T is  | length | T[0] | T[1] | ... |      |
///  +--------+      | |  aligned  | usize  |      |      |     |      |
///                  | |  above 8  |        |      |      |     |      |
///                  | +-----------+--------+------+------+-----+------+
///                  `-----------------------^ data
/// ```
///
/// ```
/// use dwell::sparse::ThinSlice;
///
/// let mut primes = ThinSlice::from([2, 3, 5]);
/// primes[0] = 1;
/// assert_eq!(*primes, [1, 3, 5]);
/// assert_eq!(size_of::<Option<ThinSlice<i32>>>(), size_of::<usize>());
/// ```
///
/// It does not grow: collect into a `Vec` and convert. The conversion allocates the exact block and copies once; so does
/// the one back.
pub struct ThinSlice<T> {
    // # Invariants
    //
    // 1. All elements of the block, `0..len`, are initialised and owned by this slice.
    block: Block<T>,
}

impl<T> ThinSlice<T> {
    /// An empty slice, which owns no memory.
    ///
    /// ```
    /// use dwell::sparse::ThinSlice;
    ///
    /// static NONE: ThinSlice<String> = ThinSlice::empty();
    /// assert!(NONE.is_empty());
    /// ```
    pub const fn empty() -> Self {
        Self { block: Block::empty() }
    }

    /// `ThinSlice::from(elements)` that reports a failed allocation.
    ///
    /// ```
    /// use dwell::sparse::ThinSlice;
    ///
    /// let bytes = ThinSlice::try_from_vec(vec![1, 2]).expect("some memory is left");
    /// assert_eq!(*bytes, [1, 2]);
    /// ```
    ///
    /// # Errors
    ///
    /// When the allocator has no block for the length and the elements; the vector comes back in the error as it was.
    pub fn try_from_vec(mut elements: Vec<T>) -> Result<Self, AllocError<Vec<T>>> {
        // SAFETY: on success the vector's length is set to 0 right below, before anything can drop its elements.
        match unsafe { Self::copy_out(&elements) } {
            Ok(slice) => {
                // SAFETY: 0 is within the capacity, and no element is in `0..0`.
                unsafe { elements.set_len(0) };
                Ok(slice)
            }
            Err(layout) => Err(AllocError::new(elements, layout)),
        }
    }

    /// Collecting that reports a failed allocation.
    ///
    /// ```
    /// use dwell::sparse::ThinSlice;
    ///
    /// let squares = ThinSlice::try_from_iter((1..4).map(|n| n * n));
    /// assert_eq!(*squares.ok().expect("some memory is left"), [1, 4, 9]);
    /// ```
    ///
    /// # Errors
    ///
    /// When the allocator has no block, for the elements while they are gathered or for the slice; the error has an iterator
    /// over all of them, those that were not asked for yet included.
    pub fn try_from_iter<I: IntoIterator<Item = T>>(elements: I) -> Result<Self, AllocError<impl Iterator<Item = T>>> {
        try_collect(elements, Self::try_from_vec)
    }

    /// `Vec::from(slice)` that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the allocator has no block for the elements; the slice comes back in the error.
    pub fn try_into_vec(self) -> Result<Vec<T>, AllocError<Self>> {
        let mut elements = Vec::new();
        if elements.try_reserve_exact(self.len()).is_err() {
            let layout = Layout::for_value(&*self);
            return Err(AllocError::new(self, layout));
        }
        elements.extend(self);
        Ok(elements)
    }

    /// A slice that owns bitwise copies of `elements`, or the layout that was refused.
    ///
    /// # Safety
    ///
    /// On success the caller gives up `elements` without dropping them.
    unsafe fn copy_out(elements: &[T]) -> Result<Self, Layout> {
        let block = Block::<T>::alloc(elements.len())?;
        // SAFETY: the block was made for as many elements.
        let to = unsafe { block.elements(0..elements.len()) };
        // SAFETY: both are valid for that many elements, and the block is fresh, so that they do not overlap.
        unsafe { to.cast::<T>().copy_from_nonoverlapping(NonNull::from(elements).cast(), elements.len()) };
        Ok(Self { block })
    }

    /// The elements as a pointer.
    fn elements(&self) -> NonNull<[T]> {
        // SAFETY: `0..len` is within `0..len`.
        unsafe { self.block.elements(0..self.block.len()) }
    }

    /// The block, with its elements left in it for the caller to see to.
    fn into_block(self) -> Block<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped or used again, so that the block has one owner.
        unsafe { ptr::read(&raw const this.block) }
    }

    /// Inserts an element before the one at `index`, at the price of a reallocation.
    ///
    /// # Panics
    ///
    /// When `index` is greater than the length.
    pub(super) fn try_insert(&mut self, index: usize, value: T) -> Result<(), AllocError<T>> {
        let len = self.len();
        assert!(index <= len);
        // The elements are one too few from here to the write below. No other code runs in between.
        let Some(resized) = len.checked_add(1).map(|more| self.block.resize(more)) else {
            return Err(AllocError::new(value, Layout::new::<usize>())); // 2^64 values of a type without size
        };
        if let Err(layout) = resized {
            return Err(AllocError::new(value, layout));
        }
        // SAFETY: `index` is at most the old length, so that it is within the new.
        let tail = unsafe { self.block.elements(index..len + 1) }.cast::<T>();
        // SAFETY: `tail` has room for one more than the `len - index` that are moved up by one.
        let after = unsafe { tail.add(1) };
        // SAFETY: both are within the block; they may overlap.
        unsafe { tail.copy_to(after, len - index) };
        // SAFETY: what was at `tail` has moved up, so nothing is overwritten.
        unsafe { tail.write(value) };
        Ok(())
    }

    /// Removes the element at `index`, at the price of a reallocation.
    ///
    /// # Panics
    ///
    /// When `index` is not less than the length.
    pub(super) fn try_remove(&mut self, index: usize) -> Result<T, Layout> {
        self[index..].rotate_left(1);
        let last = self.len() - 1;
        // SAFETY: the slice was not empty or the line above had panicked, so `last` is within it.
        let removed = unsafe { self.block.elements(last..last + 1) }.cast::<T>();
        // SAFETY: by the slice's invariant it is initialised. It is read twice only if shrinking fails: then this copy is
        // never used as a `T`.
        let removed = unsafe { removed.cast::<MaybeUninit<T>>().read() };
        if let Err(layout) = self.block.resize(last) {
            self[index..].rotate_right(1);
            return Err(layout);
        }
        // SAFETY: initialised, as above; the block no longer has the element.
        Ok(unsafe { removed.assume_init() })
    }
}

impl<T: Clone> ThinSlice<T> {
    /// `ThinSlice::from(elements)` that reports a failed allocation; `T::clone` itself may still abort.
    ///
    /// # Errors
    ///
    /// When the allocator has no block for the length and the elements; nothing was cloned then.
    pub fn try_from_slice(elements: &[T]) -> Result<Self, AllocError<&[T]>> {
        let mut filling = match Filling::try_new(elements.len()) {
            Ok(filling) => filling,
            Err(layout) => return Err(AllocError::new(elements, layout)),
        };
        for element in elements {
            filling.push(element.clone());
        }
        Ok(filling.finish())
    }
}

/// A slice that is being written, from the front. Drops what has been written if it is not finished.
pub(super) struct Filling<T>(IntoIter<T>);

impl<T> Filling<T> {
    /// For `len` elements.
    pub(super) fn try_new(len: usize) -> Result<Self, Layout> {
        Ok(Self(IntoIter { block: Block::alloc(len)?, alive: 0..0 }))
    }

    /// # Panics
    ///
    /// When there are as many elements as it is for.
    #[inline]
    pub(super) fn push(&mut self, element: T) {
        let IntoIter { block, alive } = &mut self.0;
        block.slots()[alive.end].write(element);
        alive.end += 1; // `alive` stays within the block, and the new one is initialised
    }

    /// # Panics
    ///
    /// When there are fewer elements.
    pub(super) fn finish(self) -> ThinSlice<T> {
        self.0.finish()
    }
}

macro_rules! drop_glue {
    ($($unsafe:ident)? $(#[$may_dangle:meta])?) => {
        // SAFETY (nightly): no element is touched.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for Block<T> {
            fn drop(&mut self) {
                if self.len() != 0 {
                    // SAFETY: the length is not 0.
                    let (base, layout) = unsafe { self.allocation() };
                    // SAFETY: by invariant 3 it is allocated with this layout, and the block is its only owner.
                    unsafe { dealloc(base.as_ptr(), layout) };
                }
            }
        }

        // Both of these drop the elements and leave the memory to the drop glue of their block, which runs even if the drop
        // of an element panics.

        // SAFETY (nightly): elements are only dropped, and `owns` tells the drop check that they are.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for ThinSlice<T> {
            fn drop(&mut self) {
                // SAFETY: by invariant 1 all elements are initialised and owned; no one uses them after this.
                unsafe { self.elements().drop_in_place() };
            }
        }

        // SAFETY (nightly): as above.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for IntoIter<T> {
            fn drop(&mut self) {
                // SAFETY: by invariant 1 `alive` is within the block.
                let alive = unsafe { self.block.elements(self.alive.clone()) };
                // SAFETY: by invariant 1 these elements are initialised and owned; no one uses them after this.
                unsafe { alive.drop_in_place() };
            }
        }
    };
}
#[cfg(feature = "nightly")]
drop_glue!(unsafe #[may_dangle]);
#[cfg(not(feature = "nightly"))]
drop_glue!();

impl<T> Deref for ThinSlice<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: by invariant 1 all elements are initialised, and `self` is borrowed as long as they are.
        unsafe { self.elements().as_ref() }
    }
}

impl<T> DerefMut for ThinSlice<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: by invariant 1 all elements are initialised and owned, and `self` is borrowed exclusively.
        unsafe { self.elements().as_mut() }
    }
}

impl<T> Default for ThinSlice<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T: Clone> Clone for ThinSlice<T> {
    fn clone(&self) -> Self {
        Self::from(&**self)
    }

    fn clone_from(&mut self, source: &Self) {
        if self.len() == source.len() {
            self.clone_from_slice(source); // keeps the block
        } else {
            *self = source.clone();
        }
    }
}

impl<T> From<Vec<T>> for ThinSlice<T> {
    fn from(elements: Vec<T>) -> Self {
        Self::try_from_vec(elements).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }
}

impl<T> From<Box<[T]>> for ThinSlice<T> {
    fn from(elements: Box<[T]>) -> Self {
        Self::from(elements.into_vec())
    }
}

impl<T, const N: usize> From<[T; N]> for ThinSlice<T> {
    fn from(elements: [T; N]) -> Self {
        let elements = ManuallyDrop::new(elements);
        // SAFETY: `elements` is never dropped.
        match unsafe { Self::copy_out(&*elements) } {
            Ok(slice) => slice,
            Err(layout) => handle_alloc_error(layout),
        }
    }
}

impl<T: Clone> From<&[T]> for ThinSlice<T> {
    fn from(elements: &[T]) -> Self {
        Self::try_from_slice(elements).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }
}

impl<T> From<ThinSlice<T>> for Vec<T> {
    fn from(slice: ThinSlice<T>) -> Self {
        let len = slice.len();
        let mut elements = Vec::with_capacity(len);
        let block = slice.into_block();
        // SAFETY: `0..len` is within `0..len`.
        let from = unsafe { block.elements(0..len) }.cast::<T>();
        // SAFETY: `from` holds `len` elements, the vector has room for them, and it is another allocation.
        unsafe { from.as_ptr().copy_to_nonoverlapping(elements.as_mut_ptr(), len) };
        // SAFETY: they are initialised now, and the block drops without dropping them.
        unsafe { elements.set_len(len) };
        elements
    }
}

impl<T> From<ThinSlice<T>> for Box<[T]> {
    fn from(slice: ThinSlice<T>) -> Self {
        Vec::from(slice).into_boxed_slice()
    }
}

impl<T> FromIterator<T> for ThinSlice<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::from(Vec::from_iter(elements))
    }
}

/// The elements of a [`ThinSlice`], by value.
pub struct IntoIter<T> {
    // # Invariants
    //
    // 1. `alive` is within `0..block.len()`, and exactly the elements `alive` are initialised and owned.
    block: Block<T>,
    alive: Range<usize>,
}

impl<T> IntoIter<T> {
    /// The elements that are still to come.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: by invariant 1 `alive` is within the block.
        let alive = unsafe { self.block.elements(self.alive.clone()) };
        // SAFETY: by invariant 1 these elements are initialised, and `self` is borrowed as long as they are.
        unsafe { alive.as_ref() }
    }

    /// The slice, when the block is full.
    fn finish(self) -> ThinSlice<T> {
        assert!(self.alive == (0..self.block.len()));
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped or used again, so that the block has one owner.
        ThinSlice { block: unsafe { ptr::read(&raw const this.block) } }
    }

    /// Moves the element at `index` out.
    ///
    /// # Safety
    ///
    /// `index` was in `alive` and has just been taken out of it.
    unsafe fn move_out(&self, index: usize) -> T {
        // SAFETY: it was in `alive`, so by invariant 1 within the block.
        let element = unsafe { self.block.elements(index..index + 1) };
        // SAFETY: by invariant 1 it was initialised, and the iterator owns it no longer.
        unsafe { element.cast::<T>().read() }
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let index = self.alive.next()?;
        // SAFETY: just taken out of `alive`.
        Some(unsafe { self.move_out(index) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.alive.size_hint()
    }
}

impl<T> DoubleEndedIterator for IntoIter<T> {
    fn next_back(&mut self) -> Option<T> {
        let index = self.alive.next_back()?;
        // SAFETY: just taken out of `alive`.
        Some(unsafe { self.move_out(index) })
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> FusedIterator for IntoIter<T> {}

impl<T: Clone> Clone for IntoIter<T> {
    fn clone(&self) -> Self {
        ThinSlice::from(self.as_slice()).into_iter()
    }
}

impl<T: fmt::Debug> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.as_slice()).finish()
    }
}

impl<T> IntoIterator for ThinSlice<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        let block = self.into_block();
        let alive = 0..block.len();
        IntoIter { block, alive }
    }
}

impl<'a, T> IntoIterator for &'a ThinSlice<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut ThinSlice<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

impl<T: PartialEq> PartialEq for ThinSlice<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for ThinSlice<T> {}

impl<T: PartialOrd> PartialOrd for ThinSlice<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord> Ord for ThinSlice<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

/// As a slice hashes, so that it can be looked up by one.
impl<T: Hash> Hash for ThinSlice<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: fmt::Debug> fmt::Debug for ThinSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> Borrow<[T]> for ThinSlice<T> {
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<T> BorrowMut<[T]> for ThinSlice<T> {
    fn borrow_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> AsRef<[T]> for ThinSlice<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T> AsMut<[T]> for ThinSlice<T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> IsEmpty for ThinSlice<T> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.block.len() == 0
    }
}
