//! Slices and strings.

use super::{Room, SmallBox};
use crate::alloc::{AllocError, Allocator, Global, try_collect, try_write};
use crate::raw::Meta;
use core::alloc::Layout;
use core::ffi::CStr;
use core::fmt;
use core::iter;
use core::marker::PhantomData;
use core::mem::{self, MaybeUninit};
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::borrow::Cow;
use std_alloc::boxed::Box;
use std_alloc::ffi::CString;
use std_alloc::string::String;
use std_alloc::vec::Vec;

impl<T, const N: usize, L> SmallBox<[T], N, Global, L> {
    /// A slice of `len` elements with no values yet.
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
    pub fn new_uninit_slice(len: usize) -> SmallBox<[MaybeUninit<T>], N, Global, L> {
        match Self::try_new_uninit_slice(len) {
            Ok(this) => this,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// [`new_uninit_slice`](Self::new_uninit_slice) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When the slice does not fit and the allocator has no block for it.
    ///
    /// # Panics
    ///
    /// When it has more than `isize::MAX` bytes, or more than `usize::MAX / 32` elements.
    #[expect(clippy::type_complexity, reason = "a box and its error")]
    pub fn try_new_uninit_slice(len: usize) -> Result<SmallBox<[MaybeUninit<T>], N, Global, L>, AllocError<()>> {
        SmallBox::uninit_slice(len, Global)
    }
}

impl<T, const N: usize, A: Allocator, L> SmallBox<[MaybeUninit<T>], N, A, L> {
    fn uninit_slice(len: usize, alloc: A) -> Result<Self, AllocError<()>> {
        let layout = Layout::array::<T>(len).expect("a slice has at most isize::MAX bytes");
        // Before there is a block to lose: it panics for too many elements.
        let like = ptr::slice_from_raw_parts(ptr::dangling::<MaybeUninit<T>>(), len);
        let meta = Meta::new(like, false);
        let Ok(address) = Self::find(layout, &alloc) else { return Err(AllocError::new((), layout)) };
        let meta = meta.with_heap(address.is_some());
        Ok(match address {
            // SAFETY: the block is for this layout, and a `MaybeUninit` needs no initialisation.
            Some(address) => unsafe { Self::outside(address, meta, alloc) },
            None => Self { meta, room: Room::new(), alloc, owns: PhantomData },
        })
    }

    /// The box of the slice that was written.
    ///
    /// # Safety
    ///
    /// All elements are initialised, as for [`MaybeUninit::assume_init`].
    #[inline]
    pub unsafe fn assume_init(self) -> SmallBox<[T], N, A, L> {
        // SAFETY: a `MaybeUninit<T>` has the layout of a `T`, and the caller says that each holds one.
        unsafe { self.retype() }
    }
}

/// A slice that is being written, from the front. Drops what has been written if it is not finished.
struct Partial<T, const N: usize, A: Allocator, L> {
    // # Invariants
    //
    // 1. The first `len` elements are live.
    slice: SmallBox<[MaybeUninit<T>], N, A, L>,
    len: usize,
}

impl<T, const N: usize, A: Allocator, L> Partial<T, N, A, L> {
    fn push(&mut self, value: T) {
        self.slice[self.len].write(value);
        self.len += 1;
    }

    /// The slice of what has been written: all of it, or less if it is in place.
    fn finish(self) -> SmallBox<[T], N, A, L> {
        assert!(self.len == self.slice.len() || self.slice.is_inline(), "a block has the layout of its value");
        let this = mem::ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped and not used again.
        let slice = unsafe { ptr::read(&raw const this.slice) };
        // SAFETY: by invariant 1 these elements are live; in place, fewer fit as well, and a block has as many.
        unsafe { slice.cast(|slice| ptr::slice_from_raw_parts(slice.cast::<T>(), this.len)) }
    }
}

impl<T, const N: usize, A: Allocator, L> Drop for Partial<T, N, A, L> {
    fn drop(&mut self) {
        let live: *mut [MaybeUninit<T>] = &raw mut self.slice[..self.len];
        self.len = 0;
        // SAFETY: by invariant 1 these were live; they are not counted any more.
        unsafe { ptr::drop_in_place(live as *mut [T]) };
    }
}

impl<T: Clone, const N: usize, A: Allocator, L> SmallBox<[T], N, A, L> {
    /// A copy of a slice, in a box with this allocator.
    ///
    /// # Errors
    ///
    /// When the slice does not fit and the allocator has no block for it.
    pub fn try_from_slice_in(slice: &[T], alloc: A) -> Result<Self, AllocError<()>> {
        let mut partial = Partial { slice: SmallBox::uninit_slice(slice.len(), alloc)?, len: 0 };
        for value in slice {
            partial.push(value.clone());
        }
        Ok(partial.finish())
    }

    fn from_slice_in(slice: &[T], alloc: A) -> Self {
        match Self::try_from_slice_in(slice, alloc) {
            Ok(this) => this,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }
}

impl<T: Clone, const N: usize, A: Allocator + Clone, L> SmallBox<[T], N, A, L> {
    /// `clone` that reports a failed allocation; `T::clone` itself may still abort.
    ///
    /// # Errors
    ///
    /// When the slice does not fit and the allocator has no block for it; nothing was cloned then.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Self::try_from_slice_in(self, self.alloc.clone())
    }
}

impl<T: Clone, const N: usize, A: Allocator + Clone, L> Clone for SmallBox<[T], N, A, L> {
    fn clone(&self) -> Self {
        Self::from_slice_in(self, self.alloc.clone())
    }

    fn clone_from(&mut self, source: &Self) {
        if self.len() == source.len() {
            self.clone_from_slice(source);
        } else {
            *self = source.clone();
        }
    }
}

/// Values without drop and without a type of their own at the end: their bytes are all there is.
///
/// # Safety
///
/// A copy of the bytes of a value is a value, and the value has no drop.
unsafe trait Bytes {}
// SAFETY: `str` is bytes that are UTF-8.
unsafe impl Bytes for str {}
// SAFETY: `CStr` is bytes that end in 0.
unsafe impl Bytes for CStr {}
// SAFETY: `OsStr` is bytes in an encoding that a copy has as well.
#[cfg(feature = "std")]
unsafe impl Bytes for std::ffi::OsStr {}
// SAFETY: `Path` is an `OsStr`.
#[cfg(feature = "std")]
unsafe impl Bytes for std::path::Path {}

#[expect(private_bounds, reason = "the functions are private as well")]
impl<T: ?Sized + Bytes, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    fn try_copy_in(source: &T, alloc: A) -> Result<Self, AllocError<()>> {
        let layout = Layout::for_value(source);
        let meta = Meta::new(source, false);
        let Ok(address) = Self::find(layout, &alloc) else { return Err(AllocError::new((), layout)) };
        // SAFETY: the place was found for this layout, and the source remains: a copy of its bytes is a value (`Bytes`).
        // `fill_from` only reads from it.
        Ok(unsafe { Self::fill_from(source, layout.size(), meta, address, alloc) })
    }

    fn copy_in(source: &T, alloc: A) -> Self {
        match Self::try_copy_in(source, alloc) {
            Ok(this) => this,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }
}

macro_rules! bytes {
    ($($Type:ty, $Owned:ty, $into_box:ident $(, $std:literal)?);*) => {$(
        $(#[cfg(feature = $std)])?
        impl<const N: usize, A: Allocator, L> SmallBox<$Type, N, A, L> {
            /// A copy, in a box with this allocator.
            ///
            /// # Errors
            ///
            /// When it does not fit and the allocator has no block for it.
            pub fn try_from_ref_in(source: &$Type, alloc: A) -> Result<Self, AllocError<()>> {
                Self::try_copy_in(source, alloc)
            }

            /// `clone` that reports a failed allocation.
            ///
            /// # Errors
            ///
            /// When it does not fit and the allocator has no block for it.
            pub fn try_clone(&self) -> Result<Self, AllocError<()>>
            where
                A: Clone,
            {
                Self::try_copy_in(self, self.alloc.clone())
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, A: Allocator + Clone, L> Clone for SmallBox<$Type, N, A, L> {
            fn clone(&self) -> Self {
                Self::copy_in(self, self.alloc.clone())
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> From<&$Type> for SmallBox<$Type, N, Global, L> {
            fn from(value: &$Type) -> Self {
                Self::copy_in(value, Global)
            }
        }

        $(#[cfg(feature = $std)])?
        impl<const N: usize, L> From<&mut $Type> for SmallBox<$Type, N, Global, L> {
            fn from(value: &mut $Type) -> Self {
                Self::copy_in(value, Global)
            }
        }

        /// Moves a small value in, and takes the block of a larger one over.
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
    str, String, into_boxed_str;
    CStr, CString, into_boxed_c_str;
    std::ffi::OsStr, std::ffi::OsString, into_boxed_os_str, "std";
    std::path::Path, std::path::PathBuf, into_boxed_path, "std"
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
    fn from(array: [T; M]) -> Self {
        Self::new_with(array, |place| place as _)
    }
}

/// Moves a small slice in, and takes the block of a larger one over.
impl<T, const N: usize, L> From<Vec<T>> for SmallBox<[T], N, Global, L> {
    fn from(vec: Vec<T>) -> Self {
        if !Self::fits(size_of_val(&*vec), align_of::<T>()) {
            return vec.into_boxed_slice().into();
        }
        Self::try_from_vec(vec).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }
}

impl<T, const N: usize, L> SmallBox<[T], N, Global, L> {
    /// `SmallBox::from(vec)` that reports a failed allocation.
    ///
    /// The block of a large slice is taken over only if it is full.
    ///
    /// # Errors
    ///
    /// When the slice does not fit and the allocator has no block for it; the vector comes back in the error as it was.
    ///
    /// # Panics
    ///
    /// When it has more than `usize::MAX / 32` elements.
    pub fn try_from_vec(mut vec: Vec<T>) -> Result<Self, AllocError<Vec<T>>> {
        let len = vec.len();
        if len == vec.capacity() && !Self::fits(size_of_val(&*vec), align_of::<T>()) {
            return Ok(vec.into_boxed_slice().into()); // allocates nothing
        }
        let mut slice = match Self::try_new_uninit_slice(len) {
            Ok(slice) => slice,
            Err(error) => return Err(error.map(|()| vec)),
        };
        // SAFETY: the vec has none of the elements from here on; `slice` has copies of all of them, and nothing panics
        // before they are counted as its own.
        unsafe { vec.set_len(0) };
        let to = NonNull::from(&mut *slice).cast::<T>();
        // SAFETY: both are valid for `len` elements, and apart, for the one was made just now.
        unsafe { ptr::copy_nonoverlapping(vec.as_ptr(), to.as_ptr(), len) };
        // SAFETY: all elements have been written.
        Ok(unsafe { slice.assume_init() })
    }

    /// Collecting that reports a failed allocation.
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
    /// When the values do not fit and the allocator has no block, for them while they are gathered or for the slice; the
    /// error has an iterator over all of them, those that were not asked for yet included.
    pub fn try_from_iter<I: IntoIterator<Item = T>>(values: I) -> Result<Self, AllocError<impl Iterator<Item = T>>> {
        match Self::front(values) {
            Ok(front) => Ok(front),
            Err(values) => try_collect(values, Self::try_from_vec),
        }
    }

    /// The slice of all values, or if they are more than fit in place an iterator over them.
    fn front<I: IntoIterator<Item = T>>(values: I) -> Result<Self, impl Iterator<Item = T>> {
        let mut values = values.into_iter().fuse();
        let room = if align_of::<T>() > align_of::<Room<N, L>>() || size_of::<T>() == 0 {
            0
        } else {
            size_of::<[usize; N]>() / size_of::<T>()
        };
        let mut front = Partial { slice: Self::new_uninit_slice(room), len: 0 };
        while front.len < room {
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
    /// Collecting that reports a failed allocation, from whatever can be written as text.
    ///
    /// ```
    /// use dwell::SmallBox;
    ///
    /// let text = SmallBox::<str>::try_from_iter(["a", "b"]);
    /// assert_eq!(*text.ok().expect("some memory is left"), *"ab");
    /// ```
    ///
    /// # Errors
    ///
    /// When the allocator has no block, for the text while it is written or for the box; the error has the text so far and the
    /// pieces that it has not.
    pub fn try_from_iter<I: IntoIterator<Item: fmt::Display>>(
        pieces: I,
    ) -> Result<Self, AllocError<(String, impl Iterator<Item = I::Item>)>> {
        try_write(pieces, |text| Self::try_copy_in(text, Global).map_err(|error| error.layout()))
    }
}

/// A large slice keeps its block.
impl<T, const N: usize, L> From<SmallBox<[T], N, Global, L>> for Vec<T> {
    fn from(slice: SmallBox<[T], N, Global, L>) -> Self {
        slice.into_box().into()
    }
}

/// A large string keeps its block.
impl<const N: usize, L> From<SmallBox<str, N, Global, L>> for String {
    fn from(text: SmallBox<str, N, Global, L>) -> Self {
        text.into_box().into()
    }
}

impl<const N: usize, A: Allocator, L> From<SmallBox<str, N, A, L>> for SmallBox<[u8], N, A, L> {
    fn from(text: SmallBox<str, N, A, L>) -> Self {
        // SAFETY: a `str` is a `[u8]` in layout.
        unsafe { text.retype() }
    }
}

impl<T, const M: usize, const N: usize, A: Allocator, L> TryFrom<SmallBox<[T], N, A, L>> for SmallBox<[T; M], N, A, L> {
    type Error = SmallBox<[T], N, A, L>;

    fn try_from(slice: SmallBox<[T], N, A, L>) -> Result<Self, Self::Error> {
        if slice.len() != M {
            return Err(slice);
        }
        // SAFETY: a slice of `M` elements is a `[T; M]` in layout.
        Ok(unsafe { slice.cast(<*const [T]>::cast::<[T; M]>) })
    }
}

/// Collects in place as far as there is room, then in a `Vec`.
impl<T, const N: usize, L> FromIterator<T> for SmallBox<[T], N, Global, L> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::front(values).unwrap_or_else(|values| values.collect::<Vec<T>>().into())
    }
}

macro_rules! from_iterator {
    ($($Piece:ty $(, $lifetime:lifetime)?);*) => {$(
        impl<$($lifetime,)? const N: usize, L> FromIterator<$Piece> for SmallBox<str, N, Global, L> {
            fn from_iter<I: IntoIterator<Item = $Piece>>(pieces: I) -> Self {
                String::from_iter(pieces).into()
            }
        }
    )*};
}
from_iterator!(char; &'a char, 'a; &'a str, 'a; String; Box<str>; Cow<'a, str>, 'a);

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
