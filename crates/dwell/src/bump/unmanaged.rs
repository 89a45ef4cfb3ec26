//! A vector of 16 bytes that has no reference to its arena.

use super::Bump;
use super::capacity::{NoMemory, array, expected};
use crate::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::panic::UnwindSafe;
use core::ptr::{self, NonNull};
use core::slice;

/// A vector of 16 bytes (on 64-bit targets) in an arena, without a reference to the arena.
///
/// Each call that grows it takes the arena. It does not drop its elements, so their type must not need drop.
///
/// It suits trees whose nodes have lists of children: a [`bump::Vec`](super::Vec) has 32 bytes and a drop. Zig calls
/// such a vector an unmanaged list, and clang has it as `ASTVector`.
///
/// ```
/// use dwell::Bump;
/// use dwell::bump::UnmanagedVec;
///
/// struct Node<'a> {
///     name: &'a str,
///     children: UnmanagedVec<'a, Node<'a>>,
/// }
///
/// let bump = Bump::new();
/// let mut root = Node { name: "root", children: UnmanagedVec::new() };
/// for name in ["a", "b"] {
///     root.children.push(&bump, Node { name: bump.alloc_str(name), children: UnmanagedVec::new() });
/// }
/// assert_eq!(root.children.iter().map(|child| child.name).collect::<String>(), "ab");
/// assert_eq!(size_of::<UnmanagedVec<u8>>(), 16);
/// assert!(!std::mem::needs_drop::<Node>());
/// # assert_eq!(root.name, "root");
/// ```
///
/// It grows in place while its block is the last one of the arena. If a call that grows it passes another arena than
/// that of its block, the elements are copied there. The block begins with a word that identifies its arena.
///
/// A vector that grew in a scope cannot outlive it:
///
/// ```compile_fail,E0521
/// use dwell::Bump;
/// use dwell::bump::UnmanagedVec;
///
/// let bump = Bump::new();
/// let mut vec = UnmanagedVec::new();
/// bump.scope(|scope| vec.push(scope, 1));
/// assert_eq!(vec, [1]);
/// ```
///
/// Elements that need drop do not compile:
///
/// ```compile_fail,E0080
/// use dwell::bump::UnmanagedVec;
///
/// let strings = UnmanagedVec::<String>::new();
/// # drop(strings);
/// ```
// The order of the fields is fixed, so the size is 16 bytes whatever layout rustc would choose.
#[repr(C)]
pub struct UnmanagedVec<'a, T> {
    // # Invariants
    //
    // 1. `len <= cap`, and the first `len` elements from `start` are live and owned by this vector.
    // 2. If `T` is not zero-sized and `cap` is not 0, `start` is `OFFSET` bytes behind the beginning of a block, which
    //    an arena handed out with the layout that `block_layout` returns for `cap`. Only this vector accesses the
    //    block. The block begins with the address of the arena, which is borrowed for `'a`, so it is still there, and no
    //    other arena has that address: one that lies in it, in its allocator, begins behind its first field.
    // 3. Otherwise `start` is dangling and aligned, and `cap` is `u32::MAX` if `T` is zero-sized and 0 if not.
    start: NonNull<T>,
    len: u32,
    cap: u32,
    // Owns elements in a borrowed arena, and drops none.
    owns: PhantomData<(&'a (), T)>,
}

// SAFETY: the vector is the only owner of its elements and does not access the arena.
unsafe impl<T: Send> Send for UnmanagedVec<'_, T> {}
// SAFETY: a shared vector gives access to `&T` only.
unsafe impl<T: Sync> Sync for UnmanagedVec<'_, T> {}
impl<T: UnwindSafe> UnwindSafe for UnmanagedVec<'_, T> {}

impl<'a, T> UnmanagedVec<'a, T> {
    /// Creates an empty vector.
    #[inline]
    pub const fn new() -> Self {
        const { assert!(!mem::needs_drop::<T>(), "elements of an `UnmanagedVec` must not need `drop`") };
        let cap = if size_of::<T>() == 0 { u32::MAX } else { 0 };
        Self { start: NonNull::dangling(), len: 0, cap, owns: PhantomData }
    }

    /// Creates an empty vector with capacity for `capacity` elements.
    ///
    /// # Panics
    ///
    /// When `capacity` is more than `u32::MAX`.
    pub fn with_capacity_in<const MIN_ALIGN: usize, A: Allocator>(
        capacity: usize,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Self {
        let mut vec = Self::new();
        vec.reserve(bump, capacity);
        vec
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation.
    pub fn try_with_capacity_in<const MIN_ALIGN: usize, A: Allocator>(
        capacity: usize,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<()>> {
        let mut vec = Self::new();
        vec.try_reserve(bump, capacity)?;
        Ok(vec)
    }

    /// Creates a vector of the items of an iterator.
    ///
    /// The size hint of the iterator is not trusted.
    ///
    /// # Panics
    ///
    /// When there are more than `u32::MAX` items.
    pub fn from_iter_in<const MIN_ALIGN: usize, A: Allocator>(
        values: impl IntoIterator<Item = T>,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Self {
        let mut vec = Self::new();
        vec.extend(bump, values);
        vec
    }

    /// [`from_iter_in`](Self::from_iter_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the vector with the values so far, the value that did not fit, and
    /// the iterator with the remaining ones.
    pub fn try_from_iter_in<I: IntoIterator<Item = T>, const MIN_ALIGN: usize, A: Allocator>(
        values: I,
        bump: &'a Bump<MIN_ALIGN, A>,
    ) -> Result<Self, AllocError<(Self, T, I::IntoIter)>> {
        let mut vec = Self::new();
        match vec.try_extend(bump, values) {
            Ok(()) => Ok(vec),
            Err(error) => Err(error.map(|(value, rest)| (vec, value, rest))),
        }
    }

    /// Returns the number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns whether the vector has no elements.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns a pointer to the first element, valid for reads of the whole capacity.
    #[inline]
    pub fn as_ptr(&self) -> *const T {
        self.start.as_ptr()
    }

    /// Returns a pointer to the first element, valid for the whole capacity.
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.start.as_ptr()
    }

    /// Returns the capacity in elements.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.cap as usize
    }

    /// Reserves capacity for at least `more` more elements.
    ///
    /// # Panics
    ///
    /// When there would be more than `u32::MAX` elements.
    #[inline]
    pub fn reserve<const MIN_ALIGN: usize, A: Allocator>(&mut self, bump: &'a Bump<MIN_ALIGN, A>, more: usize) {
        self.grow_for(bump, more).unwrap_or_else(|no| no.abort());
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    #[inline]
    pub fn try_reserve<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        more: usize,
    ) -> Result<(), AllocError<()>> {
        self.grow_for(bump, more).map_err(|no| no.error(()))
    }

    #[inline]
    fn grow_for<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        more: usize,
    ) -> Result<(), NoMemory> {
        if more > self.capacity() - self.len() { self.grow(bump, more) } else { Ok(()) }
    }

    /// The number of bytes in a block before the elements: the address of the arena, and padding.
    const OFFSET: usize = if size_of::<usize>() > align_of::<T>() { size_of::<usize>() } else { align_of::<T>() };

    /// Returns the layout of a block for `cap` elements, if its size is at most `isize::MAX` bytes.
    fn block_layout(cap: usize) -> Option<Layout> {
        let (layout, offset) = Layout::new::<usize>().extend(array(Layout::new::<T>(), cap)?).ok()?;
        debug_assert_eq!(offset, Self::OFFSET);
        Some(layout)
    }

    /// Returns the block, its layout, and the address of the arena that handed it out.
    fn block(&self) -> Option<(NonNull<u8>, Layout, usize)> {
        if size_of::<T>() == 0 || self.cap == 0 {
            return None;
        }
        let layout = Self::block_layout(self.capacity())?;
        // SAFETY: the elements begin `OFFSET` bytes behind the beginning of the block (invariant 2).
        let block = unsafe { self.start.cast::<u8>().sub(Self::OFFSET) };
        // SAFETY: the block begins with an initialised `usize` and is aligned for it (invariant 2).
        let arena = unsafe { block.cast::<usize>().read() };
        Some((block, layout, arena))
    }

    /// Grows to a capacity for at least `more` more elements.
    #[cold]
    #[inline(never)]
    fn grow<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        more: usize,
    ) -> Result<(), NoMemory> {
        let least = self.len().checked_add(more).filter(|least| u32::try_from(*least).is_ok());
        let least = least.ok_or(NoMemory::too_many::<T>())?;
        let first = if size_of::<T>() <= 1024 { 4 } else { 1 };
        // The capacity is a `u32`.
        let cap = least.max(self.capacity().saturating_mul(2)).max(first).min(u32::MAX as usize);
        if size_of::<T>() == 0 {
            return Err(NoMemory::too_many::<T>()); // The capacity is `u32::MAX`.
        }
        let new = Self::block_layout(cap).ok_or(NoMemory::too_many::<T>())?;
        const { assert!(mem::offset_of!(Bump<MIN_ALIGN, A>, pos) == 0, "two arenas could have the same address") };
        let arena = ptr::from_ref(bump).addr();
        let (block, copies) = match self.block() {
            // SAFETY: the arena at this address handed the block out with the layout `old`, and no other arena is at
            // that address (invariant 2). The block is live, `new` is no smaller, and the vector uses only the returned
            // block.
            Some((block, old, owner)) if owner == arena => (unsafe { bump.grown(block, old, new) }, false),
            _ => (bump.take_or_refill(new), true),
        };
        let block = block.ok_or(NoMemory::Refused(new))?;
        // SAFETY: the block has more than `OFFSET` bytes, since its layout is that of `OFFSET` bytes and `cap`
        // elements.
        let start = unsafe { block.add(Self::OFFSET) }.cast::<T>();
        if copies {
            // SAFETY: the new block has capacity for `len` elements. If there is an old block, it is another one, is
            // live, and has `len` live elements. Otherwise `len` is 0.
            unsafe { start.copy_from_nonoverlapping(self.start, self.len()) };
        }
        // SAFETY: the block's layout begins with a `usize`, so it is valid for the write and aligned for it.
        unsafe { block.cast::<usize>().write(arena) };
        self.start = start;
        self.cap = u32::try_from(cap).unwrap_or(u32::MAX);
        Ok(())
    }
}

/// Elements.
impl<'a, T> UnmanagedVec<'a, T> {
    /// Appends an element.
    ///
    /// # Panics
    ///
    /// When there would be more than `u32::MAX` elements.
    #[inline]
    pub fn push<const MIN_ALIGN: usize, A: Allocator>(&mut self, bump: &'a Bump<MIN_ALIGN, A>, value: T) {
        if self.len == self.cap {
            self.grow(bump, 1).unwrap_or_else(|no| no.abort());
        }
        // SAFETY: `grow` made capacity if the vector was full, so the capacity is greater than the length.
        unsafe { self.push_unchecked(value) };
    }

    /// [`push`](Self::push) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory, or there are `u32::MAX` elements; the value is returned in the error.
    #[inline]
    pub fn try_push<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        value: T,
    ) -> Result<(), AllocError<T>> {
        if self.len == self.cap
            && let Err(no) = self.grow(bump, 1)
        {
            return Err(no.error(value));
        }
        // SAFETY: `grow` made capacity if the vector was full, so the capacity is greater than the length.
        unsafe { self.push_unchecked(value) };
        Ok(())
    }

    /// Appends an element within the capacity.
    ///
    /// # Safety
    ///
    /// `len` is less than `cap`.
    #[inline]
    unsafe fn push_unchecked(&mut self, value: T) {
        // SAFETY: the caller guarantees that `len` is less than `cap`, so the slot is in the block.
        let end = unsafe { self.start.add(self.len()) };
        // SAFETY: the slot is in the vector's block, thus valid for writes and aligned, and no live element is in it.
        unsafe { end.write(value) };
        self.len += 1;
    }

    /// Appends the elements of an iterator.
    ///
    /// # Panics
    ///
    /// When there would be more than `u32::MAX` elements.
    pub fn extend<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        values: impl IntoIterator<Item = T>,
    ) {
        if let Err((value, no)) = self.extend_until_full(bump, &mut values.into_iter()) {
            drop(value);
            no.abort();
        }
    }

    /// [`extend`](Self::extend) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the value that did not fit, and the iterator with the remaining ones.
    pub fn try_extend<I: IntoIterator<Item = T>, const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        values: I,
    ) -> Result<(), AllocError<(T, I::IntoIter)>> {
        let mut values = values.into_iter();
        self.extend_until_full(bump, &mut values).map_err(|(value, no)| no.error((value, values)))
    }

    fn extend_until_full<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        values: &mut impl Iterator<Item = T>,
    ) -> Result<(), (T, NoMemory)> {
        let hint = expected(values);
        // The hint may be too large. If there is no memory for that many items, there may be enough for the actual
        // ones.
        let _ = self.grow_for(bump, hint);
        for value in values {
            if self.len == self.cap
                && let Err(no) = self.grow(bump, 1)
            {
                return Err((value, no));
            }
            // SAFETY: `grow` made capacity if the vector was full, so the capacity is greater than the length.
            unsafe { self.push_unchecked(value) };
        }
        Ok(())
    }

    /// Appends copies of the elements of a slice.
    ///
    /// # Panics
    ///
    /// When there would be more than `u32::MAX` elements.
    pub fn extend_from_slice<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        values: &[T],
    ) where
        T: Copy,
    {
        self.reserve(bump, values.len());
        // SAFETY: the line above reserved capacity for the values.
        unsafe { self.extend_unchecked(values) };
    }

    /// [`extend_from_slice`](Self::extend_from_slice) that reports a failed allocation.
    pub fn try_extend_from_slice<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        values: &[T],
    ) -> Result<(), AllocError<()>>
    where
        T: Copy,
    {
        self.try_reserve(bump, values.len())?;
        // SAFETY: the line above reserved capacity for the values.
        unsafe { self.extend_unchecked(values) };
        Ok(())
    }

    /// Appends copies of the values within the capacity.
    ///
    /// # Safety
    ///
    /// `cap - len` is at least the number of values.
    unsafe fn extend_unchecked(&mut self, values: &[T])
    where
        T: Copy,
    {
        // SAFETY: `len` is at most the capacity (invariant 1), so the result is in the block or at its end.
        let end = unsafe { self.start.add(self.len()) };
        // SAFETY: the caller guarantees that the block has capacity for the values behind `end`. The values are
        // borrowed, so they are not in that capacity.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), end.as_ptr(), values.len()) };
        // The sum is at most the capacity, which is a `u32`, so the conversion succeeds.
        self.len += u32::try_from(values.len()).unwrap_or(0);
    }

    /// Removes and returns the last element.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        // SAFETY: `len` was greater than 0 and is now less than the capacity, so the result is in the block (invariants
        // 1 and 2).
        let last = unsafe { self.start.add(self.len()) };
        // SAFETY: the element was live (invariant 1), and the vector no longer counts it.
        Some(unsafe { last.read() })
    }

    /// Inserts an element before the one at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is more than the length, or there would be more than `u32::MAX` elements.
    pub fn insert<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        index: usize,
        value: T,
    ) {
        assert!(index <= self.len(), "insertion index (is {index}) should be <= len (is {})", self.len);
        self.push(bump, value);
        self[index..].rotate_right(1);
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the value is returned in the error.
    ///
    /// # Panics
    ///
    /// When `index` is more than the length.
    pub fn try_insert<const MIN_ALIGN: usize, A: Allocator>(
        &mut self,
        bump: &'a Bump<MIN_ALIGN, A>,
        index: usize,
        value: T,
    ) -> Result<(), AllocError<T>> {
        assert!(index <= self.len(), "insertion index (is {index}) should be <= len (is {})", self.len);
        self.try_push(bump, value)?;
        self[index..].rotate_right(1);
        Ok(())
    }

    /// Removes and returns the element at `index`; later elements move forward.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn remove(&mut self, index: usize) -> T {
        assert!(index < self.len(), "removal index (is {index}) should be < len (is {})", self.len);
        self[index..].rotate_left(1);
        self.pop().expect("the vector is not empty")
    }

    /// Removes and returns the element at `index` and moves the last one there.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    pub fn swap_remove(&mut self, index: usize) -> T {
        assert!(index < self.len(), "swap_remove index (is {index}) should be < len (is {})", self.len);
        let last = self.len() - 1;
        self.swap(index, last);
        self.pop().expect("the vector is not empty")
    }

    /// Shortens the vector to `len` elements.
    pub fn truncate(&mut self, len: usize) {
        self.len = u32::try_from(len).map_or(self.len, |len| len.min(self.len));
    }

    /// Removes all elements.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    /// Keeps the elements for which `keep` returns true.
    pub fn retain(&mut self, mut keep: impl FnMut(&mut T) -> bool) {
        // Kept elements are swapped to the front, so that all elements are in the vector if `keep` panics.
        let mut kept = 0;
        for index in 0..self.len() {
            if keep(&mut self[index]) {
                self.swap(kept, index);
                kept += 1;
            }
        }
        self.truncate(kept);
    }

    /// Converts the vector to a slice in the arena.
    #[inline]
    pub fn into_slice(self) -> &'a mut [T]
    where
        T: 'a,
    {
        // SAFETY: the first `len` elements are live, in a block that stays for `'a`, or zero-sized (invariants 1 and
        // 2). Only this vector accessed them, and it is consumed.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len()) }
    }
}

impl<T> Default for UnmanagedVec<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Deref for UnmanagedVec<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` elements from `start` are live, and `&self` borrows them (invariant 1).
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len()) }
    }
}

impl<T> DerefMut for UnmanagedVec<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the first `len` elements from `start` are live and owned by this vector, and `&mut self` borrows it
        // (invariant 1).
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len()) }
    }
}

impl<'v, T> IntoIterator for &'v UnmanagedVec<'_, T> {
    type Item = &'v T;
    type IntoIter = slice::Iter<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'v, T> IntoIterator for &'v mut UnmanagedVec<'_, T> {
    type Item = &'v mut T;
    type IntoIter = slice::IterMut<'v, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<T: fmt::Debug> fmt::Debug for UnmanagedVec<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> AsRef<[T]> for UnmanagedVec<'_, T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T> AsMut<[T]> for UnmanagedVec<'_, T> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> Borrow<[T]> for UnmanagedVec<'_, T> {
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<T> BorrowMut<[T]> for UnmanagedVec<'_, T> {
    fn borrow_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: PartialEq> PartialEq for UnmanagedVec<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for UnmanagedVec<'_, T> {
    fn eq(&self, other: &[T; N]) -> bool {
        **self == *other
    }
}

impl<T: PartialEq> PartialEq<[T]> for UnmanagedVec<'_, T> {
    fn eq(&self, other: &[T]) -> bool {
        **self == *other
    }
}

impl<T: Eq> Eq for UnmanagedVec<'_, T> {}

impl<T: PartialOrd> PartialOrd for UnmanagedVec<'_, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Ord> Ord for UnmanagedVec<'_, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: Hash> Hash for UnmanagedVec<'_, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

#[cfg(feature = "serde")]
impl<T: serde::Serialize> serde::Serialize for UnmanagedVec<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
