//! Slices and strings.

use super::{InlineStorage, SmallBox};
use crate::alloc::{AllocError, Allocator, Global, largest_layout, try_collect, try_push_all, try_write};
use crate::raw::Meta;
use core::alloc::Layout;
use core::ffi::CStr;
use core::fmt;
use core::iter;
use core::mem::{self, MaybeUninit};
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::borrow::Cow;
use std_alloc::boxed::Box;
use std_alloc::ffi::CString;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// The reason why a slice or text cannot be boxed.
enum Refusal {
    /// The value has more than `isize::MAX` bytes, or more elements than the word of metadata can hold.
    TooLong,
    /// The allocation of a block of this layout failed.
    NoBlock(Layout),
}

impl Refusal {
    /// Fails as functions without a `Result` do: panics if the value is too long, and calls the allocation error
    /// handler if the allocation failed.
    fn raise(self) -> ! {
        match self {
            Self::TooLong => panic!("the slice has too many elements for a SmallBox"),
            Self::NoBlock(layout) => handle_alloc_error(layout),
        }
    }

    /// Converts to the error of a `try_` function. `align` is the alignment of the elements, in bytes.
    fn into_error<T>(self, value: T, align: usize) -> AllocError<T> {
        match self {
            Self::TooLong => AllocError::new(value, largest_layout(align)),
            Self::NoBlock(layout) => AllocError::new(value, layout),
        }
    }
}

impl<T, const N: usize, L> SmallBox<[T], N, Global, L> {
    /// Creates an uninitialised slice of `len` elements.
    ///
    /// ```
    /// use dwell::SmallBox;
    /// use std::mem::MaybeUninit;
    ///
    /// let mut bytes = SmallBox::<[u8]>::new_uninit_slice(3);
    /// bytes.fill(MaybeUninit::new(7));
    /// // SAFETY: all three are written.
    /// let bytes = unsafe { bytes.assume_init() };
    /// assert_eq!(*bytes, [7, 7, 7]);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the slice has more than `isize::MAX` bytes or more than `usize::MAX / 32` elements.
    pub fn new_uninit_slice(len: usize) -> SmallBox<[MaybeUninit<T>], N, Global, L> {
        SmallBox::uninit_slice(len, Global).unwrap_or_else(|refusal| refusal.raise())
    }

    /// Like [`new_uninit_slice`](Self::new_uninit_slice), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the slice does not fit inline and the allocation fails, or if it has more than `isize::MAX` bytes or more
    /// than `usize::MAX / 32` elements. In the second case the error contains the largest layout of the alignment.
    #[expect(clippy::type_complexity, reason = "a type alias would hide the result")]
    pub fn try_new_uninit_slice(len: usize) -> Result<SmallBox<[MaybeUninit<T>], N, Global, L>, AllocError<()>> {
        SmallBox::uninit_slice(len, Global).map_err(|refusal| refusal.into_error((), align_of::<T>()))
    }
}

impl<T, const N: usize, A: Allocator, L> SmallBox<[MaybeUninit<T>], N, A, L> {
    fn uninit_slice(len: usize, alloc: A) -> Result<Self, Refusal> {
        let layout = Layout::array::<T>(len).map_err(|_| Refusal::TooLong)?;
        let like = ptr::slice_from_raw_parts(ptr::dangling::<MaybeUninit<T>>(), len);
        let meta = Meta::try_new(like, false).ok_or(Refusal::TooLong)?;
        let block = Self::block_for(layout, &alloc).map_err(|_| Refusal::NoBlock(layout))?;
        let meta = meta.with_heap(block.is_some());
        Ok(match block {
            // SAFETY: `block_for` took the block from `alloc` for this layout, which is that of the slice. The elements
            // are `MaybeUninit`, so an uninitialised block holds a live value. `meta` has the slice's length and the
            // heap bit.
            Some(block) => unsafe { Self::from_block(block, meta, alloc) },
            // SAFETY: `block_for` returned no block, so the slice fits. The elements are `MaybeUninit`, so new storage
            // begins with a live value. `meta` has the slice's length and no heap bit.
            None => unsafe { Self::from_inline(InlineStorage::new(), meta, alloc) },
        })
    }

    /// Asserts that all elements are initialised, and returns their box.
    ///
    /// # Safety
    ///
    /// All elements are initialised, as for [`MaybeUninit::assume_init`].
    #[inline]
    pub unsafe fn assume_init(self) -> SmallBox<[T], N, A, L> {
        // SAFETY: a `[MaybeUninit<T>]` has the layout and the metadata of a `[T]`, and the caller guarantees that each
        // element is initialised.
        unsafe { self.retype() }
    }
}

/// A slice that is written from the front. Unless it is finished, its drop drops the elements written so far.
struct Partial<T, const N: usize, A: Allocator, L> {
    // # Invariants
    //
    // 1. The first `len` elements are initialised and owned.
    slice: SmallBox<[MaybeUninit<T>], N, A, L>,
    len: usize,
}

impl<T, const N: usize, A: Allocator, L> Partial<T, N, A, L> {
    fn push(&mut self, value: T) {
        self.slice[self.len].write(value);
        self.len += 1;
    }

    /// Returns the slice of the elements that were written.
    ///
    /// # Panics
    ///
    /// Panics if the slice is spilled and not full: its block has the layout of the full slice.
    fn finish(self) -> SmallBox<[T], N, A, L> {
        assert!(self.len == self.slice.len() || self.slice.is_inline(), "a spilled slice must be full");
        let this = mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped and its slice is not used again, so this moves it.
        let slice = unsafe { ptr::read(&raw const this.slice) };
        // SAFETY: the closure keeps the address. The first `len` elements are initialised (invariant 1). By the
        // assertion above, either these are all elements, so the layout is the same, or the slice is inline, where
        // fewer elements fit as well.
        unsafe { slice.cast(|slice| ptr::slice_from_raw_parts(slice.cast::<T>(), this.len)) }
    }
}

impl<T, const N: usize, A: Allocator, L> Drop for Partial<T, N, A, L> {
    fn drop(&mut self) {
        let live: *mut [MaybeUninit<T>] = &raw mut self.slice[..self.len];
        self.len = 0;
        // SAFETY: the first `len` elements were initialised and owned (invariant 1). `len` is 0 now, so nothing uses
        // them again.
        unsafe { ptr::drop_in_place(live as *mut [T]) };
    }
}

impl<T: Clone, const N: usize, A: Allocator, L> SmallBox<[T], N, A, L> {
    /// Clones a slice into a box with this allocator.
    ///
    /// # Errors
    ///
    /// If the slice does not fit inline and the allocation fails, or if it has more than `usize::MAX / 32` elements.
    pub fn try_from_slice_in(slice: &[T], alloc: A) -> Result<Self, AllocError<()>> {
        Self::clone_slice_in(slice, alloc).map_err(|refusal| refusal.into_error((), align_of::<T>()))
    }

    fn clone_slice_in(slice: &[T], alloc: A) -> Result<Self, Refusal> {
        let mut partial = Partial { slice: SmallBox::uninit_slice(slice.len(), alloc)?, len: 0 };
        for value in slice {
            partial.push(value.clone());
        }
        Ok(partial.finish())
    }

    fn from_slice_in(slice: &[T], alloc: A) -> Self {
        Self::clone_slice_in(slice, alloc).unwrap_or_else(|refusal| refusal.raise())
    }
}

impl<T: Clone, const N: usize, A: Allocator + Clone, L> SmallBox<[T], N, A, L> {
    /// Like `clone`, but returns an error if the allocation fails. `T::clone` itself may still abort.
    ///
    /// # Errors
    ///
    /// If the slice does not fit inline and the allocation fails; nothing has been cloned then.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Self::try_from_slice_in(self, self.allocator().clone())
    }
}

impl<T: Clone, const N: usize, A: Allocator + Clone, L> Clone for SmallBox<[T], N, A, L> {
    fn clone(&self) -> Self {
        Self::from_slice_in(self, self.allocator().clone())
    }

    fn clone_from(&mut self, source: &Self) {
        if self.len() == source.len() {
            self.clone_from_slice(source);
        } else {
            *self = source.clone();
        }
    }
}

/// Unsized types that can be copied byte by byte.
///
/// # Safety
///
/// A copy of the bytes of a value is a value, and values have no drop.
unsafe trait Bytes {}
// SAFETY: a `str` is a sequence of bytes in UTF-8, and so is a copy of its bytes. It has no drop.
unsafe impl Bytes for str {}
// SAFETY: a `CStr` is a sequence of bytes of which only the last is 0, and so is a copy of its bytes. It has no drop.
unsafe impl Bytes for CStr {}
// SAFETY: an `OsStr` is a sequence of bytes in an encoding of the platform, and so is a copy of its bytes. It has no
// drop.
#[cfg(feature = "std")]
unsafe impl Bytes for std::ffi::OsStr {}
// SAFETY: a `Path` is an `OsStr`, so a copy of its bytes is a `Path` as well. It has no drop.
#[cfg(feature = "std")]
unsafe impl Bytes for std::path::Path {}

#[expect(private_bounds, reason = "the functions are private as well")]
impl<T: ?Sized + Bytes, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    fn copy_in(source: &T, alloc: A) -> Result<Self, Refusal> {
        let layout = Layout::for_value(source);
        let meta = Meta::try_new(source, false).ok_or(Refusal::TooLong)?;
        let block = Self::block_for(layout, &alloc).map_err(|_| Refusal::NoBlock(layout))?;
        // SAFETY: the source is live and has this size and metadata. It stays in use as a value, which is allowed
        // because a copy of its bytes is a value too and neither has a drop (`Bytes`). `block_for` returned `block` for
        // its layout and this allocator.
        Ok(unsafe { Self::move_from(source, layout.size(), meta, block, alloc) })
    }

    fn copy_or_abort(source: &T, alloc: A) -> Self {
        Self::copy_in(source, alloc).unwrap_or_else(|refusal| refusal.raise())
    }
}

macro_rules! bytes {
    ($($Type:ty, $Owned:ty, $into_box:ident, $try_from_owned:ident, |$owned:ident| $full:expr $(, $std:literal)?);*) => {$(
        $(#[cfg(feature = $std)])?
        impl<const N: usize, A: Allocator, L> SmallBox<$Type, N, A, L> {
            /// Copies a value into a box with this allocator.
            ///
            /// # Errors
            ///
            /// If the value does not fit inline and the allocation fails, or if it has more than `usize::MAX / 32`
            /// bytes.
            pub fn try_from_ref_in(source: &$Type, alloc: A) -> Result<Self, AllocError<()>> {
                Self::copy_in(source, alloc).map_err(|refusal| refusal.into_error((), 1))
            }

            /// Like `clone`, but returns an error if the allocation fails.
            ///
            /// # Errors
            ///
            /// If the value does not fit inline and the allocation fails.
            pub fn try_clone(&self) -> Result<Self, AllocError<()>>
            where
                A: Clone,
            {
                Self::try_from_ref_in(self, self.allocator().clone())
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> SmallBox<$Type, N, Global, L> {
            /// Like `SmallBox::from` of an owned value, but returns an error if the allocation fails.
            ///
            /// A value that does not fit inline keeps its block only if the block has no spare capacity.
            ///
            /// # Errors
            ///
            /// If the value does not fit inline and the allocation fails, or if it has more than `usize::MAX / 32`
            /// bytes. The error contains the owned value unchanged.
            pub fn $try_from_owned($owned: $Owned) -> Result<Self, AllocError<$Owned>> {
                let borrowed: &$Type = &$owned;
                let fits = Self::fits(size_of_val(borrowed), 1);
                if !fits && $full && Meta::try_new(borrowed, true).is_some() {
                    return Ok($owned.$into_box().into()); // allocates nothing
                }
                Self::copy_in(borrowed, Global).map_err(|refusal| refusal.into_error($owned, 1))
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, A: Allocator + Clone, L> Clone for SmallBox<$Type, N, A, L> {
            fn clone(&self) -> Self {
                Self::copy_or_abort(self, self.allocator().clone())
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> From<&$Type> for SmallBox<$Type, N, Global, L> {
            fn from(value: &$Type) -> Self {
                Self::copy_or_abort(value, Global)
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> From<&mut $Type> for SmallBox<$Type, N, Global, L> {
            fn from(value: &mut $Type) -> Self {
                Self::copy_or_abort(value, Global)
            }
        }

        /// Copies a value that fits inline, and keeps the block of a larger one.
        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> From<$Owned> for SmallBox<$Type, N, Global, L> {
            fn from(value: $Owned) -> Self {
                let borrowed: &$Type = &value;
                if Self::fits(size_of_val(borrowed), 1) { Self::from(borrowed) } else { value.$into_box().into() }
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> From<Cow<'_, $Type>> for SmallBox<$Type, N, Global, L> {
            fn from(value: Cow<'_, $Type>) -> Self {
                match value {
                    Cow::Borrowed(value) => value.into(),
                    Cow::Owned(value) => value.into(),
                }
            }
        }
    )*};
}
bytes!(
    str, String, into_boxed_str, try_from_string, |text| text.capacity() == text.len();
    CStr, CString, into_boxed_c_str, try_from_c_string, |text| true;
    std::ffi::OsStr, std::ffi::OsString, into_boxed_os_str, try_from_os_string, |text| text.capacity() == text.len(), "std";
    std::path::Path, std::path::PathBuf, into_boxed_path, try_from_path_buf,
        |path| path.capacity() == path.as_os_str().len(), "std"
);

impl<T, const N: usize, L> Default for SmallBox<[T], N, Global, L> {
    fn default() -> Self {
        Self::from([])
    }
}

impl<const N: usize, L> Default for SmallBox<str, N, Global, L> {
    fn default() -> Self {
        Self::from("")
    }
}

impl<const N: usize, L> Default for SmallBox<CStr, N, Global, L> {
    fn default() -> Self {
        Self::from(c"")
    }
}

#[cfg(feature = "std")]
impl<const N: usize, L> Default for SmallBox<std::ffi::OsStr, N, Global, L> {
    fn default() -> Self {
        Self::from(std::ffi::OsStr::new(""))
    }
}

impl<T: Clone, const N: usize, L> From<&[T]> for SmallBox<[T], N, Global, L> {
    fn from(slice: &[T]) -> Self {
        Self::from_slice_in(slice, Global)
    }
}

impl<T: Clone, const N: usize, L> From<&mut [T]> for SmallBox<[T], N, Global, L> {
    fn from(slice: &mut [T]) -> Self {
        Self::from_slice_in(slice, Global)
    }
}

impl<T: Clone, const N: usize, L> From<Cow<'_, [T]>> for SmallBox<[T], N, Global, L> {
    fn from(slice: Cow<'_, [T]>) -> Self {
        match slice {
            Cow::Borrowed(slice) => slice.into(),
            Cow::Owned(slice) => slice.into(),
        }
    }
}

impl<T, const M: usize, const N: usize, L> From<[T; M]> for SmallBox<[T], N, Global, L> {
    /// # Panics
    ///
    /// When `M` is more than `usize::MAX / 32`, which only zero-sized elements allow.
    fn from(array: [T; M]) -> Self {
        Self::new_coerced(array, |value| value as _)
    }
}

/// Moves a slice that fits inline, and keeps the block of a larger one.
impl<T, const N: usize, L> From<Vec<T>> for SmallBox<[T], N, Global, L> {
    fn from(vec: Vec<T>) -> Self {
        if !Self::fits(size_of_val(&*vec), align_of::<T>()) {
            return vec.into_boxed_slice().into();
        }
        Self::move_vec(vec).unwrap_or_else(|(_, refusal)| refusal.raise())
    }
}

impl<T, const N: usize, L> SmallBox<[T], N, Global, L> {
    /// Like `SmallBox::from(vec)`, but returns an error if the allocation fails.
    ///
    /// A slice that does not fit inline keeps its block only if the vector has no spare capacity.
    ///
    /// # Errors
    ///
    /// If the slice does not fit inline and the allocation fails, or if it has more than `usize::MAX / 32` elements.
    /// The error contains the vector unchanged.
    pub fn try_from_vec(vec: Vec<T>) -> Result<Self, AllocError<Vec<T>>> {
        let fits = Self::fits(size_of_val(&*vec), align_of::<T>());
        if !fits && vec.len() == vec.capacity() && Meta::try_new(&raw const *vec, true).is_some() {
            return Ok(vec.into_boxed_slice().into()); // allocates nothing
        }
        Self::move_vec(vec).map_err(|(vec, refusal)| refusal.into_error(vec, align_of::<T>()))
    }

    /// Moves the elements to a new box.
    fn move_vec(mut vec: Vec<T>) -> Result<Self, (Vec<T>, Refusal)> {
        let len = vec.len();
        let mut slice = match SmallBox::uninit_slice(len, Global) {
            Ok(slice) => slice,
            Err(refusal) => return Err((vec, refusal)),
        };
        // SAFETY: 0 is within the capacity, and no element below it must be initialised. From here on `slice` owns the
        // elements; nothing below unwinds.
        unsafe { vec.set_len(0) };
        let to = NonNull::from(&mut *slice).cast::<T>();
        // SAFETY: the vector's buffer is valid for reads of `len` elements, and the slice for writes of `len` elements.
        // The slice is new, so they do not overlap.
        unsafe { ptr::copy_nonoverlapping(vec.as_ptr(), to.as_ptr(), len) };
        // SAFETY: all `len` elements have been written.
        Ok(unsafe { slice.assume_init() })
    }

    /// Collects values, or returns an error if an allocation fails.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let squares = SmallBox::<[u32]>::try_from_iter((1..4).map(|n| n * n));
    /// assert_eq!(*squares.ok().expect("needs no memory"), [1, 4, 9]);
    /// ```
    ///
    /// # Errors
    ///
    /// If the values do not fit inline and an allocation fails, while they are collected or for the slice, or if there
    /// are more than `usize::MAX / 32`. The error contains an iterator over all values, including those not yet taken
    /// from `values`.
    pub fn try_from_iter<I: IntoIterator<Item = T>>(values: I) -> Result<Self, AllocError<impl Iterator<Item = T>>> {
        match Self::collect_inline(values) {
            Ok(slice) => Ok(slice),
            Err(values) => try_collect(values, Self::try_from_vec),
        }
    }

    /// Collects the values if all of them fit inline, or returns an iterator over them. Does not use their `size_hint`.
    fn collect_inline<I: IntoIterator<Item = T>>(values: I) -> Result<Self, impl Iterator<Item = T>> {
        let mut values = values.into_iter().fuse();
        // Zero-size values go to a `Vec`, which needs no memory for them, because any number of them fits.
        let capacity = if size_of::<T>() == 0 || align_of::<T>() > align_of::<InlineStorage<N, L>>() {
            0
        } else {
            size_of::<[usize; N]>() / size_of::<T>()
        };
        let mut front = Partial { slice: Self::new_uninit_slice(capacity), len: 0 };
        while front.len < capacity {
            match values.next() {
                Some(value) => front.push(value),
                None => return Ok(front.finish()),
            }
        }
        let Some(next) = values.next() else { return Ok(front.finish()) };
        Err(front.finish().into_iter().chain(iter::once(next)).chain(values))
    }
}

impl<const N: usize, L> SmallBox<str, N, Global, L> {
    /// Collects items that can be written as text, or returns an error if an allocation fails.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let text = SmallBox::<str>::try_from_iter(["a", "b"]);
    /// assert_eq!(*text.ok().expect("memory is left"), *"ab");
    /// ```
    ///
    /// # Errors
    ///
    /// If an allocation fails, for the text while it is written or for the box, or if a piece's `fmt` returns an error.
    /// The error contains the text written so far and the pieces that are not in it.
    pub fn try_from_iter<I: IntoIterator<Item: fmt::Display>>(
        pieces: I,
    ) -> Result<Self, AllocError<(String, impl Iterator<Item = I::Item>)>> {
        try_write(pieces, |text| Self::try_from_ref_in(text, Global).map_err(|error| error.layout()))
    }
}

/// Keeps the block of a spilled slice.
impl<T, const N: usize, L> From<SmallBox<[T], N, Global, L>> for Vec<T> {
    fn from(slice: SmallBox<[T], N, Global, L>) -> Self {
        slice.into_box().into()
    }
}

/// Keeps the block of a spilled string.
impl<const N: usize, L> From<SmallBox<str, N, Global, L>> for String {
    fn from(text: SmallBox<str, N, Global, L>) -> Self {
        text.into_box().into()
    }
}

impl<const N: usize, A: Allocator, L> From<SmallBox<str, N, A, L>> for SmallBox<[u8], N, A, L> {
    fn from(text: SmallBox<str, N, A, L>) -> Self {
        // SAFETY: a `str` has the layout and the metadata of a `[u8]`, and its bytes are a live `[u8]`.
        unsafe { text.retype() }
    }
}

impl<T, const M: usize, const N: usize, A: Allocator, L> TryFrom<SmallBox<[T], N, A, L>> for SmallBox<[T; M], N, A, L> {
    type Error = SmallBox<[T], N, A, L>;

    fn try_from(slice: SmallBox<[T], N, A, L>) -> Result<Self, Self::Error> {
        if slice.len() != M {
            return Err(slice);
        }
        // SAFETY: the closure keeps the address. A slice of `M` elements has the layout of a `[T; M]`, and its elements
        // are live.
        Ok(unsafe { slice.cast(<*const [T]>::cast::<[T; M]>) })
    }
}

/// Collects the values inline if all of them fit, and otherwise in a `Vec`.
impl<T, const N: usize, L> FromIterator<T> for SmallBox<[T], N, Global, L> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::collect_inline(values).unwrap_or_else(|mut values| {
            let mut vec = Vec::new();
            match try_push_all(&mut vec, &mut values) {
                Ok(()) => vec.into(),
                Err((_, layout)) => handle_alloc_error(layout),
            }
        })
    }
}

// The pieces are pushed one by one, because `String`'s own `FromIterator` trusts the `size_hint` of an iterator of
// `char`.
macro_rules! from_iterator {
    ($($Piece:ty, |$text:ident, $piece:ident| $push:expr $(, $lifetime:lifetime)?);* $(;)?) => {$(
        impl<$($lifetime,)? const N: usize, L> FromIterator<$Piece> for SmallBox<str, N, Global, L> {
            fn from_iter<I: IntoIterator<Item = $Piece>>(pieces: I) -> Self {
                let mut $text = String::new();
                pieces.into_iter().for_each(|$piece| $push);
                $text.into()
            }
        }
    )*};
}
from_iterator! {
    char, |text, piece| text.push(piece);
    &'a char, |text, piece| text.push(*piece), 'a;
    &'a str, |text, piece| text.push_str(piece), 'a;
    String, |text, piece| text.push_str(&piece);
    Box<str>, |text, piece| text.push_str(&piece);
    Cow<'a, str>, |text, piece| text.push_str(&piece), 'a;
}

impl<const M: usize, A: Allocator, K, const N: usize, L> FromIterator<SmallBox<str, M, A, K>>
    for SmallBox<str, N, Global, L>
{
    fn from_iter<I: IntoIterator<Item = SmallBox<str, M, A, K>>>(pieces: I) -> Self {
        let mut text = String::new();
        text.extend(pieces);
        text.into()
    }
}

impl<const N: usize, A: Allocator, L> Extend<SmallBox<str, N, A, L>> for String {
    fn extend<I: IntoIterator<Item = SmallBox<str, N, A, L>>>(&mut self, pieces: I) {
        pieces.into_iter().for_each(|piece| self.push_str(&piece));
    }
}
