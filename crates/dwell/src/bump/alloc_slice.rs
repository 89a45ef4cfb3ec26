//! Methods that create slices, strings and values in the arena: thin functions over blocks and [`Vec`].

use super::capacity::expected;
use super::{Bump, Vec};
use crate::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::convert::Infallible;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};
use core::{error, fmt, slice, str};
use std_alloc::alloc::handle_alloc_error;

/// Copies.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Copies a slice into the arena.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let copy = bump.alloc_slice_copy(&[1, 2, 3]);
    /// copy.reverse();
    /// assert_eq!(copy, [3, 2, 1]);
    /// ```
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn alloc_slice_copy<T: Copy>(&self, values: &[T]) -> &mut [T] {
        self.try_alloc_slice_copy(values).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`alloc_slice_copy`](Self::alloc_slice_copy) that reports a failed allocation.
    #[cfg_attr(debug_assertions, inline)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn try_alloc_slice_copy<T: Copy>(&self, values: &[T]) -> Result<&mut [T], AllocError<()>> {
        let layout = Layout::for_value(values);
        let block = self.take_slice::<T>(layout.size()).or_else(|| self.refill(layout));
        let to = block.ok_or(AllocError::new((), layout))?.cast::<T>().as_ptr();
        // SAFETY: the block was just allocated for these values, so it has capacity for them and is aligned. No other pointer
        // to it exists, so it does not overlap them.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), to, values.len()) };
        // SAFETY: the line above wrote the values, to a block that was just allocated. It stays where it is while the
        // arena is borrowed, and no other code accesses it.
        Ok(unsafe { slice::from_raw_parts_mut(to, values.len()) })
    }

    /// Copies a string into the arena.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let name = bump.alloc_str("name");
    /// name.make_ascii_uppercase();
    /// assert_eq!(name, "NAME");
    /// ```
    #[inline]
    pub fn alloc_str(&self, text: &str) -> &mut str {
        self.try_alloc_str(text).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`alloc_str`](Self::alloc_str) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_str(&self, text: &str) -> Result<&mut str, AllocError<()>> {
        let bytes = self.try_alloc_slice_copy(text.as_bytes())?;
        // SAFETY: these are copies of the bytes of a `str`, thus UTF-8.
        Ok(unsafe { str::from_utf8_unchecked_mut(bytes) })
    }
}

/// Slices of values that are created one by one.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Clones the elements of a slice into the arena, which never drops them.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let copy = bump.alloc_slice_clone(&[Some(1), None]);
    /// assert_eq!(copy, [Some(1), None]);
    /// ```
    pub fn alloc_slice_clone<T: Clone>(&self, values: &[T]) -> &mut [T] {
        self.alloc_slice_fill_with(values.len(), |index| values[index].clone())
    }

    /// [`alloc_slice_clone`](Self::alloc_slice_clone) that reports a failed allocation.
    pub fn try_alloc_slice_clone<T: Clone>(&self, values: &[T]) -> Result<&mut [T], AllocError<()>> {
        let result = self.try_alloc_slice_fill_with(values.len(), |index| values[index].clone());
        result.map_err(|error| error.map(drop))
    }

    /// Allocates a slice of `len` elements, which `make` returns for their indices.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// assert_eq!(bump.alloc_slice_fill_with(4, |n| n * n), [0, 1, 4, 9]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `make` panics; the elements so far are dropped. If the slice would have more than `isize::MAX` bytes.
    pub fn alloc_slice_fill_with<T>(&self, len: usize, make: impl FnMut(usize) -> T) -> &mut [T] {
        let filled = fill(Vec::with_capacity_in(len, self), len, infallible(make));
        filled.unwrap_or_else(|never| match never {})
    }

    /// [`alloc_slice_fill_with`](Self::alloc_slice_fill_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. `make` is returned in the error and was not called.
    pub fn try_alloc_slice_fill_with<T, F: FnMut(usize) -> T>(
        &self,
        len: usize,
        make: F,
    ) -> Result<&mut [T], AllocError<F>> {
        match Vec::try_with_capacity_in(len, self) {
            Ok(vec) => Ok(fill(vec, len, infallible(make)).unwrap_or_else(|never| match never {})),
            Err(error) => Err(error.map(|()| make)),
        }
    }

    /// Allocates a slice of `len` copies of a value.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let buffer: &mut [u8] = bump.alloc_slice_fill_copy(4, 0);
    /// assert_eq!(buffer, [0; 4]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the slice would have more than `isize::MAX` bytes.
    pub fn alloc_slice_fill_copy<T: Copy>(&self, len: usize, value: T) -> &mut [T] {
        self.alloc_slice_fill_with(len, |_| value)
    }

    /// [`alloc_slice_fill_copy`](Self::alloc_slice_fill_copy) that reports a failed allocation.
    pub fn try_alloc_slice_fill_copy<T: Copy>(&self, len: usize, value: T) -> Result<&mut [T], AllocError<T>> {
        self.try_alloc_slice_fill_with(len, |_| value).map_err(|error| error.map(|_| value))
    }

    /// Allocates a slice of `len` clones of a value.
    ///
    /// # Panics
    ///
    /// If the slice would have more than `isize::MAX` bytes.
    pub fn alloc_slice_fill_clone<T: Clone>(&self, len: usize, value: &T) -> &mut [T] {
        self.alloc_slice_fill_with(len, |_| value.clone())
    }

    /// [`alloc_slice_fill_clone`](Self::alloc_slice_fill_clone) that reports a failed allocation.
    pub fn try_alloc_slice_fill_clone<T: Clone>(&self, len: usize, value: &T) -> Result<&mut [T], AllocError<()>> {
        self.try_alloc_slice_fill_with(len, |_| value.clone()).map_err(|error| error.map(drop))
    }

    /// Allocates a slice of `len` default values.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let counts: &mut [u32] = bump.alloc_slice_fill_default(3);
    /// assert_eq!(counts, [0; 3]);
    /// ```
    ///
    /// # Panics
    ///
    /// If the slice would have more than `isize::MAX` bytes.
    pub fn alloc_slice_fill_default<T: Default>(&self, len: usize) -> &mut [T] {
        self.alloc_slice_fill_with(len, |_| T::default())
    }

    /// [`alloc_slice_fill_default`](Self::alloc_slice_fill_default) that reports a failed allocation.
    pub fn try_alloc_slice_fill_default<T: Default>(&self, len: usize) -> Result<&mut [T], AllocError<()>> {
        self.try_alloc_slice_fill_with(len, |_| T::default()).map_err(|error| error.map(drop))
    }

    /// Collects the items of an iterator into a slice.
    ///
    /// The size hint of the iterator is not trusted.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let words: &[&str] = bump.alloc_iter("where values live".split(' '));
    /// assert_eq!(words.len(), 3);
    /// ```
    pub fn alloc_iter<T>(&self, values: impl IntoIterator<Item = T>) -> &mut [T] {
        Vec::from_iter_in(values, self).into_slice()
    }

    /// [`alloc_iter`](Self::alloc_iter) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory. The error returns the values so far and the value that did not fit.
    #[expect(clippy::type_complexity, reason = "a type alias would hide the result")]
    pub fn try_alloc_iter<T>(
        &self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut [T], AllocError<(Vec<'_, T, MIN_ALIGN, A>, T)>> {
        let mut values = values.into_iter();
        let mut vec = Vec::with_free_capacity(expected(&values), self);
        match vec.extend_until_full(&mut values) {
            Ok(()) => Ok(vec.into_slice()),
            Err((value, no)) => Err(no.error((vec, value))),
        }
    }
}

/// Uninitialised memory.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Allocates uninitialised memory for a value.
    #[inline]
    pub fn alloc_uninit<T>(&self) -> &mut MaybeUninit<T> {
        self.alloc(MaybeUninit::uninit())
    }

    /// [`alloc_uninit`](Self::alloc_uninit) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_uninit<T>(&self) -> Result<&mut MaybeUninit<T>, AllocError<()>> {
        self.try_alloc(MaybeUninit::uninit()).map_err(|error| error.map(drop))
    }

    /// Allocates a block of this layout, which is valid as long as a reference from [`alloc`](Self::alloc).
    #[inline]
    pub fn alloc_layout(&self, layout: Layout) -> NonNull<u8> {
        self.take_or_refill(layout).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// [`alloc_layout`](Self::alloc_layout) that reports a failed allocation.
    #[inline]
    pub fn try_alloc_layout(&self, layout: Layout) -> Result<NonNull<u8>, AllocError<()>> {
        self.take_or_refill(layout).ok_or(AllocError::new((), layout))
    }
}

/// Values that fallible functions return.
impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Allocates a block and writes the value that `make` returns to it, or returns the error of `make`.
    ///
    /// If `make` returns an error, the block is freed if it is still the last one of the arena or has a chunk of its own that
    /// is still the newest.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let number: &mut u32 = bump.alloc_try_with(|| "7".parse())?;
    /// assert_eq!(*number, 7);
    /// assert!(bump.alloc_try_with(|| "seven".parse::<u32>()).is_err());
    /// # Ok::<(), std::num::ParseIntError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `make`.
    #[inline]
    pub fn alloc_try_with<F, T, E>(&self, make: F) -> Result<&mut T, E>
    where
        F: FnOnce() -> Result<T, E>,
    {
        self.try_alloc_try_with(make).map_err(AllocOrInitError::init_or_abort)
    }

    /// [`alloc_try_with`](Self::alloc_try_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// [`Alloc`](AllocOrInitError::Alloc) with `make`, which was not called, when there is no memory.
    /// [`Init`](AllocOrInitError::Init) with the error of `make`.
    #[inline]
    pub fn try_alloc_try_with<F, T, E>(&self, make: F) -> Result<&mut T, AllocOrInitError<E, F>>
    where
        F: FnOnce() -> Result<T, E>,
    {
        let layout = Layout::new::<T>();
        let Some(block) = self.block_for::<T>() else {
            return Err(AllocOrInitError::Alloc(AllocError::new(make, layout)));
        };
        match make() {
            // SAFETY: `block_for` returned a block for a `T` (dangling if `T` has size 0), so it is valid and aligned.
            // No other pointer to it exists, whatever `make` did with the arena.
            Ok(value) => Ok(unsafe { Self::fill(block, value) }),
            Err(error) => {
                // SAFETY: if `T` is not zero-sized, the arena handed the block out with this layout above. Only this call
                // has its address, so the block was not freed.
                if let Some(block) = unsafe { self.block(block.cast(), layout) } {
                    block.free();
                }
                Err(AllocOrInitError::Init(error))
            }
        }
    }

    /// Allocates a slice of `len` elements, which `make` returns for their indices, or returns its first error.
    ///
    /// On an error, the elements so far are dropped.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let words = ["1", "2"];
    /// let numbers = bump.alloc_slice_try_fill_with(2, |at| words[at].parse::<u32>())?;
    /// assert_eq!(numbers, [1, 2]);
    /// # Ok::<(), std::num::ParseIntError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The error of `make`.
    ///
    /// # Panics
    ///
    /// If `make` panics; the elements so far are dropped. If the slice would have more than `isize::MAX` bytes.
    pub fn alloc_slice_try_fill_with<T, F, E>(&self, len: usize, make: F) -> Result<&mut [T], E>
    where
        F: FnMut(usize) -> Result<T, E>,
    {
        fill(Vec::with_capacity_in(len, self), len, make)
    }

    /// [`alloc_slice_try_fill_with`](Self::alloc_slice_try_fill_with) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// [`Alloc`](AllocOrInitError::Alloc) with `make`, which was not called, when there is no memory.
    /// [`Init`](AllocOrInitError::Init) with the error of `make`.
    pub fn try_alloc_slice_try_fill_with<T, F, E>(
        &self,
        len: usize,
        make: F,
    ) -> Result<&mut [T], AllocOrInitError<E, F>>
    where
        F: FnMut(usize) -> Result<T, E>,
    {
        match Vec::try_with_capacity_in(len, self) {
            Ok(vec) => fill(vec, len, make).map_err(AllocOrInitError::Init),
            Err(error) => Err(AllocOrInitError::Alloc(error.map(|()| make))),
        }
    }

    /// Collects the values of an iterator of results into a slice, or returns its first error.
    ///
    /// On an error, the elements so far are dropped.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let numbers = bump.alloc_slice_try_fill_iter(["1", "2"].map(str::parse::<u32>))?;
    /// assert_eq!(numbers, [1, 2]);
    /// # Ok::<(), std::num::ParseIntError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error of the iterator.
    ///
    /// # Panics
    ///
    /// If the iterator returns fewer values than its `len`, or the slice would have more than `isize::MAX` bytes.
    pub fn alloc_slice_try_fill_iter<T, I, E>(&self, values: I) -> Result<&mut [T], E>
    where
        I: IntoIterator<Item = Result<T, E>>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut values = values.into_iter();
        self.alloc_slice_try_fill_with(values.len(), |_| values.next().expect(TOO_FEW))
    }

    /// [`alloc_slice_try_fill_iter`](Self::alloc_slice_try_fill_iter) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// [`Alloc`](AllocOrInitError::Alloc) with the iterator, from which nothing was taken, when there is no memory.
    /// [`Init`](AllocOrInitError::Init) with the first error of the iterator.
    ///
    /// # Panics
    ///
    /// When the iterator returns fewer values than its `len`.
    pub fn try_alloc_slice_try_fill_iter<T, I, E>(
        &self,
        values: I,
    ) -> Result<&mut [T], AllocOrInitError<E, I::IntoIter>>
    where
        I: IntoIterator<Item = Result<T, E>>,
        I::IntoIter: ExactSizeIterator,
    {
        let mut values = values.into_iter();
        let len = values.len();
        match Vec::try_with_capacity_in(len, self) {
            Ok(vec) => fill(vec, len, |_| values.next().expect(TOO_FEW)).map_err(AllocOrInitError::Init),
            Err(error) => Err(AllocOrInitError::Alloc(error.map(|()| values))),
        }
    }
}

/// The message about an `ExactSizeIterator` whose `len` was wrong.
const TOO_FEW: &str = "the iterator returned fewer items than its `ExactSizeIterator::len`";

/// Converts a function that returns values to one that returns results.
fn infallible<T>(mut make: impl FnMut(usize) -> T) -> impl FnMut(usize) -> Result<T, Infallible> {
    move |index| Ok(make(index))
}

/// Fills an empty vector with capacity for `len` elements and converts it to a slice.
fn fill<'a, T: 'a, E, const MIN_ALIGN: usize, A: Allocator>(
    mut vec: Vec<'a, T, MIN_ALIGN, A>,
    len: usize,
    mut make: impl FnMut(usize) -> Result<T, E>,
) -> Result<&'a mut [T], E> {
    assert!(vec.capacity() - vec.len() >= len);
    for index in 0..len {
        let value = make(index)?;
        // SAFETY: `index` elements have been pushed, which is less than `len`, and the check above found capacity for
        // `len`.
        unsafe { vec.push_unchecked(value) };
    }
    Ok(vec.into_slice())
}

/// The error of an allocation with a fallible function: no memory, or the error of the function.
pub enum AllocOrInitError<E, V = ()> {
    /// There was no memory. The error contains the arguments.
    Alloc(AllocError<V>),
    /// The error of the function or of the iterator.
    Init(E),
}

impl<E, V> AllocOrInitError<E, V> {
    /// Returns the error of the function, and aborts if there was no memory.
    fn init_or_abort(self) -> E {
        match self {
            Self::Alloc(error) => handle_alloc_error(error.layout()),
            Self::Init(error) => error,
        }
    }
}

impl<E, V> From<AllocError<V>> for AllocOrInitError<E, V> {
    fn from(error: AllocError<V>) -> Self {
        Self::Alloc(error)
    }
}

impl<E: fmt::Debug, V> fmt::Debug for AllocOrInitError<E, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alloc(error) => f.debug_tuple("Alloc").field(error).finish(),
            Self::Init(error) => f.debug_tuple("Init").field(error).finish(),
        }
    }
}

impl<E: fmt::Display, V> fmt::Display for AllocOrInitError<E, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alloc(error) => error.fmt(f),
            Self::Init(error) => error.fmt(f),
        }
    }
}

impl<E: error::Error, V> error::Error for AllocOrInitError<E, V> {}
