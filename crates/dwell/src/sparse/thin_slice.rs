//! An owned slice with a handle of one word: the length is stored in the block.

use super::collect::Cautious;
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

/// The alignment up to which the empty slices of all types share one header.
const SHARED_ALIGN: usize = 64;

/// The header of empty slices: its last word is their length, 0, and the address right after it is their `data`.
#[repr(align(64))] // `SHARED_ALIGN`, so that the address behind it is aligned for nearly every `T`
struct EmptyHeader([usize; SHARED_ALIGN / size_of::<usize>()]);

static EMPTY_HEADER: EmptyHeader = EmptyHeader([0; SHARED_ALIGN / size_of::<usize>()]);

/// Memory for a slice and its length. It does not track which elements are initialised.
struct Block<T> {
    // # Invariants
    //
    // 1. The word right before `data` is an aligned, initialised `usize`, the length, readable as long as the block
    //    lives.
    // 2. If the length is 0, `data` is `EMPTY` and the block owns nothing.
    // 3. Otherwise the block is the only owner of an allocation of the global allocator with the layout
    //    `layout::slice::<T>(len)`, which is `Ok`. `data` lies `slice_offset` bytes into it, is aligned for `T`, and
    //    has the provenance of the whole allocation.
    data: NonNull<T>,
    // Owns elements of type `T`: drop check and variance are those of a `Box<[T]>`.
    owns: PhantomData<T>,
}

// SAFETY: sending a block sends an allocation that nothing else points to (invariant 3), or a pointer to a static that
// is never written (invariant 2). Apart from the length it gives access only to `T`s, which are `Send`.
unsafe impl<T: Send> Send for Block<T> {}

// SAFETY: no method writes through `&Block`, so threads that share one only read the length and the `T`s, which are
// `Sync`.
unsafe impl<T: Sync> Sync for Block<T> {}

// As `Box<[T]>`: owning `T`s is as unwind safe as they are (a bare `NonNull` would require `RefUnwindSafe`).
impl<T: UnwindSafe> UnwindSafe for Block<T> {}

// The elements are on the heap and do not move with the block's owner.
impl<T> Unpin for Block<T> {}

impl<T> Block<T> {
    const EMPTY: NonNull<T> =
        NonNull::new(EMPTY_HEADER.0.as_ptr_range().end.cast::<T>().cast_mut()).expect("a static is not at null");

    const fn empty() -> Self {
        Self { data: Self::EMPTY, owns: PhantomData }
    }

    /// Allocates a block for `len` elements, or returns the layout whose allocation failed.
    fn alloc(len: usize) -> Result<Self, Layout> {
        if len == 0 {
            return Ok(Self::empty());
        }
        let layout = layout::slice::<T>(len)?;
        let base = try_alloc(layout).ok_or(layout)?;
        // SAFETY: `base` has just been allocated with `layout::slice::<T>(len)`, nothing else uses it, and `len` is not
        // 0.
        Ok(unsafe { Self::from_base(base, len) })
    }

    /// Takes ownership of an allocation and writes the length into it.
    ///
    /// # Safety
    ///
    /// - `len` is not 0 and `layout::slice::<T>(len)` is `Ok`.
    /// - `base` was allocated by the global allocator with that layout, and nothing else uses or frees it.
    unsafe fn from_base(base: NonNull<u8>, len: usize) -> Self {
        debug_assert!(len != 0);
        // SAFETY: `slice_offset` is at most the size of the layout, which is `slice_offset` plus the size of the
        // elements.
        let data = unsafe { base.add(layout::slice_offset::<T>()) }.cast::<T>();
        let block = Self { data, owns: PhantomData };
        // SAFETY: `slice_offset` is at least a word and a multiple of a word's alignment, and `base` is aligned to a
        // word: so the word before `data` lies in the allocation and is aligned. The caller guarantees that nothing
        // else uses the allocation.
        unsafe { block.header().write(len) };
        block
    }

    /// Returns the address of the length.
    fn header(&self) -> NonNull<usize> {
        // SAFETY: `data` lies at least a word after the start of the memory that it points into: `slice_offset` bytes
        // after the start of an allocation, or after all words of `EMPTY_HEADER` (invariants 2 and 3).
        unsafe { self.data.cast::<usize>().sub(1) }
    }

    fn len(&self) -> usize {
        // SAFETY: the word before `data` is an aligned, initialised `usize` (invariant 1). It is written only by
        // `from_base`, before the block exists.
        unsafe { self.header().read() }
    }

    /// Returns a pointer to the elements in `range`. It is aligned for `T` and valid for these elements as long as the
    /// block lives.
    ///
    /// # Safety
    ///
    /// `range.start <= range.end <= len`.
    unsafe fn elements(&self, range: Range<usize>) -> NonNull<[T]> {
        debug_assert!(range.start <= range.end && range.end <= self.len());
        let data = if align_of::<T>() > SHARED_ALIGN && self.len() == 0 { NonNull::dangling() } else { self.data };
        // SAFETY: `range.start` is at most the length: the result lies in the allocation of `len` elements or right
        // after it, or `range.start` is 0 and nothing is added.
        let start = unsafe { data.add(range.start) };
        NonNull::slice_from_raw_parts(start, range.end - range.start)
    }

    /// Returns the memory of all elements, initialised or not.
    fn slots(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: the range `0..len` satisfies `start <= end <= len`.
        let elements = unsafe { self.elements(0..self.len()) };
        let mut slots = NonNull::slice_from_raw_parts(elements.cast::<MaybeUninit<T>>(), elements.len());
        // SAFETY: the pointer is aligned and valid for `len` elements; a `MaybeUninit` needs no initialised value. The
        // block is the only owner of the allocation (invariant 3) and is borrowed exclusively, so nothing else reads or
        // writes it.
        unsafe { slots.as_mut() }
    }

    /// Returns the start and the layout of the allocation, or `None` if the block owns none.
    fn allocation(&self) -> Option<(NonNull<u8>, Layout)> {
        let len = self.len();
        if len == 0 {
            return None;
        }
        // SAFETY: the length is not 0, so `data` lies `slice_offset` bytes into the allocation (invariant 3).
        let base = unsafe { self.data.cast::<u8>().sub(layout::slice_offset::<T>()) };
        let size = layout::slice_offset::<T>() + len * size_of::<T>();
        // SAFETY: these are the size and the alignment of `layout::slice::<T>(len)`, which is `Ok` (invariant 3): the
        // size is no more than `isize::MAX` rounded down to the alignment, and the alignment is a power of two.
        Some((base, unsafe { Layout::from_size_align_unchecked(size, layout::slice_align::<T>()) }))
    }

    /// Changes the number of elements to `len` by reallocation. The bytes of the elements below both lengths are kept;
    /// on failure nothing changes.
    fn resize(&mut self, len: usize) -> Result<(), Layout> {
        let Some((base, old)) = self.allocation().filter(|_| len != 0) else {
            *self = Self::alloc(len)?;
            return Ok(());
        };
        let new = layout::slice::<T>(len)?;
        // SAFETY: `base` is allocated with `old` by the global allocator. `new.size()` is not 0, since the header is a
        // part of it, and it is the size of a valid layout with the same alignment.
        let base = unsafe { realloc(base.as_ptr(), old, new.size()) };
        let base = NonNull::new(base).ok_or(new)?;
        // SAFETY: `len` is not 0. `realloc` returned an allocation with the layout `new`, which is
        // `layout::slice::<T>(len)`, and nothing else uses it: the old `self`, which points to the freed allocation, is
        // forgotten here.
        mem::forget(mem::replace(self, unsafe { Self::from_base(base, len) }));
        Ok(())
    }
}

/// An owned slice with a handle of one word.
///
/// A `Box<[T]>` has two words, a `Vec<T>` three. A `ThinSlice` has one (8 bytes on a 64-bit target), and so has
/// `Option<ThinSlice<T>>`. An empty slice owns no memory; any other owns one block with the length before the elements:
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
/// A `ThinSlice` does not grow: collect into a `Vec` and convert it. A conversion in either direction allocates a block
/// of the exact size and copies the elements once.
pub struct ThinSlice<T> {
    // # Invariants
    //
    // 1. All elements of the block, `0..block.len()`, are initialised, and this slice is their only owner.
    block: Block<T>,
}

impl<T> ThinSlice<T> {
    /// Creates an empty slice, which owns no memory.
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

    /// Like `ThinSlice::from(elements)`, but returns an error if the allocation fails.
    ///
    /// ```
    /// use dwell::sparse::ThinSlice;
    ///
    /// let bytes = ThinSlice::try_from_vec(vec![1, 2]).expect("memory is left");
    /// assert_eq!(*bytes, [1, 2]);
    /// ```
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the vector unchanged.
    pub fn try_from_vec(mut elements: Vec<T>) -> Result<Self, AllocError<Vec<T>>> {
        // SAFETY: after `Ok`, the vector's length is set to 0 before any other code runs, so the vector neither uses
        // nor drops the elements again.
        match unsafe { Self::move_from(&elements) } {
            Ok(slice) => {
                // SAFETY: 0 is within the capacity, and no element below it must be initialised.
                unsafe { elements.set_len(0) };
                Ok(slice)
            }
            Err(layout) => Err(AllocError::new(elements, layout)),
        }
    }

    /// Collects elements, or returns an error if an allocation fails.
    ///
    /// ```
    /// use dwell::sparse::ThinSlice;
    ///
    /// let squares = ThinSlice::try_from_iter((1..4).map(|n| n * n));
    /// assert_eq!(*squares.ok().expect("memory is left"), [1, 4, 9]);
    /// ```
    ///
    /// # Errors
    ///
    /// If an allocation fails, for the elements while they are collected or for the slice. The error contains an
    /// iterator over all elements, including those that the iterator had not yielded yet.
    pub fn try_from_iter<I: IntoIterator<Item = T>>(elements: I) -> Result<Self, AllocError<impl Iterator<Item = T>>> {
        try_collect(Cautious(elements.into_iter()), Self::try_from_vec)
    }

    /// Like `Vec::from(slice)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the slice.
    pub fn try_into_vec(self) -> Result<Vec<T>, AllocError<Self>> {
        let mut elements = Vec::new();
        if elements.try_reserve_exact(self.len()).is_err() {
            let layout = Layout::for_value(&*self);
            return Err(AllocError::new(self, layout));
        }
        elements.extend(self);
        Ok(elements)
    }

    /// Like `Box::<[T]>::from(slice)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the slice.
    pub fn try_into_boxed_slice(self) -> Result<Box<[T]>, AllocError<Self>> {
        self.try_into_vec().map(Vec::into_boxed_slice)
    }

    /// Creates a slice that owns bitwise copies of `elements`, or returns the layout whose allocation failed.
    ///
    /// # Safety
    ///
    /// After `Ok`, `elements` are neither used nor dropped again: the slice owns them.
    unsafe fn move_from(elements: &[T]) -> Result<Self, Layout> {
        let block = Block::<T>::alloc(elements.len())?;
        // SAFETY: the block has just been allocated for `elements.len()` elements.
        let to = unsafe { block.elements(0..elements.len()) };
        // SAFETY: both are aligned and valid for `elements.len()` elements. They do not overlap: `to` has just been
        // allocated, or there are no elements.
        unsafe { to.cast::<T>().copy_from_nonoverlapping(NonNull::from(elements).cast(), elements.len()) };
        Ok(Self { block })
    }

    /// Returns a pointer to all elements.
    fn elements(&self) -> NonNull<[T]> {
        // SAFETY: the range `0..len` satisfies `start <= end <= len`.
        unsafe { self.block.elements(0..self.block.len()) }
    }

    /// Returns the block, without dropping its elements.
    fn into_block(self) -> Block<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this.block` is a valid block. `this` is in a `ManuallyDrop` and not used again, so the copy is its
        // only owner.
        unsafe { ptr::read(&raw const this.block) }
    }

    /// Inserts an element before the one at `index`. Reallocates.
    ///
    /// # Panics
    ///
    /// Panics if `index` is greater than the length.
    pub(super) fn try_insert(&mut self, index: usize, value: T) -> Result<(), AllocError<T>> {
        let len = self.len();
        assert!(index <= len);
        let Some(more) = len.checked_add(1) else {
            return Err(AllocError::new(value, Layout::new::<usize>())); // `usize::MAX` elements of a zero-sized type
        };
        // From here to the `write` below the last element is not initialised. In between runs only the global
        // allocator, which must not unwind.
        if let Err(layout) = self.block.resize(more) {
            return Err(AllocError::new(value, layout));
        }
        // SAFETY: `index <= len < more`, and `more` is the block's length now.
        let tail = unsafe { self.block.elements(index..more) }.cast::<T>();
        // SAFETY: `tail` is valid for `more - index` elements, which is at least one.
        let after = unsafe { tail.add(1) };
        // SAFETY: `tail` is valid for `more - index` elements, so `after`, one element further, is valid for
        // `len - index`. `copy_to` allows the overlap.
        unsafe { tail.copy_to(after, len - index) };
        // SAFETY: `tail` is aligned and valid for one element. The element that was there has been copied to `after`,
        // or `tail` is the old end, so nothing is lost by overwriting it.
        unsafe { tail.write(value) };
        Ok(())
    }

    /// Removes the element at `index`. Reallocates.
    ///
    /// # Panics
    ///
    /// Panics if `index` is not less than the length.
    pub(super) fn try_remove(&mut self, index: usize) -> Result<T, Layout> {
        self[index..].rotate_left(1); // panics if the slice is empty
        let last = self.len() - 1;
        // SAFETY: `last < len`.
        let removed = unsafe { self.block.elements(last..last + 1) }.cast::<T>();
        // SAFETY: the pointer is aligned and valid for one element. As a `MaybeUninit`, the copy is not a second owner
        // of the element.
        let removed = unsafe { removed.cast::<MaybeUninit<T>>().read() };
        if let Err(layout) = self.block.resize(last) {
            self[index..].rotate_right(1);
            return Err(layout);
        }
        // SAFETY: the copy was made of an initialised element (invariant 1). The block is one element shorter now and
        // no longer contains it.
        Ok(unsafe { removed.assume_init() })
    }
}

impl<T: Clone> ThinSlice<T> {
    /// Like `ThinSlice::from(elements)`, but returns an error if the allocation fails. `T::clone` itself may still
    /// abort.
    ///
    /// # Errors
    ///
    /// If the allocation fails. No element has been cloned then.
    pub fn try_from_slice(elements: &[T]) -> Result<Self, AllocError<&[T]>> {
        let mut builder = match Builder::try_new(elements.len()) {
            Ok(builder) => builder,
            Err(layout) => return Err(AllocError::new(elements, layout)),
        };
        for element in elements {
            builder.push(element.clone());
        }
        Ok(builder.finish())
    }

    /// Like `clone`, but returns an error if the allocation fails. `T::clone` itself may still abort.
    ///
    /// # Errors
    ///
    /// If the allocation fails. No element has been cloned then.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Self::try_from_slice(self).map_err(|error| error.map(|_| ()))
    }
}

/// A slice under construction, written from the front. If it is not finished, it drops the written elements.
pub(super) struct Builder<T>(IntoIter<T>);

impl<T> Builder<T> {
    /// Creates a builder for `len` elements.
    pub(super) fn try_new(len: usize) -> Result<Self, Layout> {
        Ok(Self(IntoIter { block: Block::alloc(len)?, alive: 0..0 }))
    }

    /// Writes the next element.
    ///
    /// # Panics
    ///
    /// Panics if it has `len` elements already.
    #[inline]
    pub(super) fn push(&mut self, element: T) {
        let IntoIter { block, alive } = &mut self.0;
        block.slots()[alive.end].write(element);
        alive.end += 1; // the element at the old `alive.end`, which is below the block's length, is initialised now
    }

    /// Returns the elements so far, in a block of their size.
    pub(super) fn finish_early(mut self) -> Result<ThinSlice<T>, Layout> {
        let IntoIter { block, alive } = &mut self.0;
        if alive.end < block.len() {
            if alive.end == 0 {
                return Ok(ThinSlice::empty());
            }
            block.resize(alive.end)?; // `realloc` keeps the bytes of the elements `alive`
        }
        Ok(self.finish())
    }

    /// Returns the finished slice.
    ///
    /// # Panics
    ///
    /// Panics if it has fewer than `len` elements.
    pub(super) fn finish(self) -> ThinSlice<T> {
        assert!(self.0.alive == (0..self.0.block.len()));
        // All elements of the block are alive, as the invariant of `ThinSlice` requires.
        ThinSlice { block: self.0.into_block() }
    }
}

macro_rules! drop_glue {
    ($($unsafe:ident)? $(#[$may_dangle:meta])?) => {
        // SAFETY (nightly): `T` may dangle, since this frees memory and neither reads nor drops a `T`.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for Block<T> {
            fn drop(&mut self) {
                if let Some((base, layout)) = self.allocation() {
                    // SAFETY: `base` is allocated with `layout` by the global allocator, and the block, which is not
                    // used after this, is the only owner (invariant 3).
                    unsafe { dealloc(base.as_ptr(), layout) };
                }
            }
        }

        // The next two drop the elements. Their field `block` then frees the memory, even if the drop of an element
        // panics.

        // SAFETY (nightly): `T` may dangle, since this only drops `T`s; `Block::owns` tells the drop check that it
        // does.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for ThinSlice<T> {
            fn drop(&mut self) {
                // SAFETY: all elements are initialised and this slice is their only owner (invariant 1). It is not used
                // after this, and dropping its block does not touch them.
                unsafe { self.elements().drop_in_place() };
            }
        }

        // SAFETY (nightly): `T` may dangle, since this only drops `T`s; `Block::owns` tells the drop check that it
        // does.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for IntoIter<T> {
            fn drop(&mut self) {
                // SAFETY: `alive.start <= alive.end <= block.len()` (invariant 1).
                let alive = unsafe { self.block.elements(self.alive.clone()) };
                // SAFETY: these elements are initialised and this iterator is their only owner (invariant 1). It is not
                // used after this, and dropping its block does not touch them.
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
        // SAFETY: the pointer is aligned and valid for all elements, which are initialised and owned (invariant 1).
        // Nothing writes them while `self` is borrowed.
        unsafe { self.elements().as_ref() }
    }
}

impl<T> DerefMut for ThinSlice<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the pointer is aligned and valid for all elements, which are initialised and which nothing else owns
        // (invariant 1). `self` is borrowed exclusively as long as the reference lives. An empty slice has no bytes, so
        // nothing can write to `EMPTY_HEADER`.
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
        // SAFETY: `elements` is in a `ManuallyDrop` and not used after this.
        match unsafe { Self::move_from(&*elements) } {
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
        // SAFETY: `len` is the length of the block, which was the slice's.
        let from = unsafe { block.elements(0..len) }.cast::<T>();
        // SAFETY: `from` is valid for `len` elements, and so is the vector's buffer, which is another allocation.
        unsafe { from.as_ptr().copy_to_nonoverlapping(elements.as_mut_ptr(), len) };
        // SAFETY: the capacity is at least `len`, and `len` elements have been copied. The vector is their only owner:
        // `block` frees its memory without dropping them.
        unsafe { elements.set_len(len) };
        elements
    }
}

impl<T> From<ThinSlice<T>> for Box<[T]> {
    fn from(slice: ThinSlice<T>) -> Self {
        Vec::from(slice).into_boxed_slice()
    }
}

/// Collects the elements. The iterator's `size_hint` is not trusted.
impl<T> FromIterator<T> for ThinSlice<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        collect(elements)
    }
}

/// Collects items for `ThinSlice::from_iter`. If there are as many as `size_hint` says, it writes them directly to the
/// final block.
pub(super) fn collect<I: IntoIterator>(items: I) -> ThinSlice<I::Item> {
    let mut items = Cautious(items.into_iter());
    let hint = items.size_hint().0;
    let mut builder = Builder::try_new(hint).unwrap_or_else(|layout| handle_alloc_error(layout));
    for _ in 0..hint {
        let Some(item) = items.next() else {
            return builder.finish_early().unwrap_or_else(|layout| handle_alloc_error(layout));
        };
        builder.push(item);
    }
    let slice = builder.finish();
    let Some(item) = items.next() else { return slice };
    let mut all = Vec::from(slice);
    all.push(item);
    all.extend(items);
    all.into()
}

/// An iterator over the elements of a [`ThinSlice`], by value.
pub struct IntoIter<T> {
    // # Invariants
    //
    // 1. `alive.start <= alive.end <= block.len()`. The elements in `alive` are initialised, and this iterator is their
    //    only owner. All other elements of the block have been moved out or were never written.
    block: Block<T>,
    alive: Range<usize>,
}

impl<T> IntoIter<T> {
    /// Returns the remaining elements.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: `alive.start <= alive.end <= block.len()` (invariant 1).
        let alive = unsafe { self.block.elements(self.alive.clone()) };
        // SAFETY: the pointer is aligned and valid for these elements, which are initialised (invariant 1). Nothing
        // writes or moves them while `self` is borrowed.
        unsafe { alive.as_ref() }
    }

    /// Returns the block, without dropping its elements.
    fn into_block(self) -> Block<T> {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this.block` is a valid block. `this` is in a `ManuallyDrop` and not used again, so the copy is its
        // only owner.
        unsafe { ptr::read(&raw const this.block) }
    }

    /// Moves the element at `index` out.
    ///
    /// # Safety
    ///
    /// `index` was in `alive` and has just been removed from it.
    unsafe fn move_out(&self, index: usize) -> T {
        // SAFETY: the caller guarantees that `index` was in `alive`, so it is below `block.len()` (invariant 1).
        let element = unsafe { self.block.elements(index..index + 1) };
        // SAFETY: the pointer is aligned and valid for one element, which is initialised, because `index` was in
        // `alive` (invariant 1). The caller has removed `index` from `alive`, so the returned value is the only owner.
        unsafe { element.cast::<T>().read() }
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let index = self.alive.next()?;
        // SAFETY: the line above removed `index` from `alive`.
        Some(unsafe { self.move_out(index) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.alive.size_hint()
    }
}

impl<T> DoubleEndedIterator for IntoIter<T> {
    fn next_back(&mut self) -> Option<T> {
        let index = self.alive.next_back()?;
        // SAFETY: the line above removed `index` from `alive`.
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

/// Hashes as the slice does, so that maps can look it up by a slice.
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
