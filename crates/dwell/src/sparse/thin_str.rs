//! An owned string with a handle of one word: the length is stored in the block, mostly in one byte.

use super::collect::Cautious;
use super::{IsEmpty, layout};
use crate::alloc::{AllocError, try_alloc, try_write};
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::convert::Infallible;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::{slice, str};
use std_alloc::alloc::{Layout, dealloc, handle_alloc_error};
use std_alloc::borrow::Cow;
use std_alloc::boxed::Box;
use std_alloc::string::String;

/// The length byte of empty strings. The address right after it is their `data`.
static EMPTY_HEADER: [u8; 1] = [0];

/// An owned string with a handle of one word.
///
/// A `Box<str>` has two words, a `String` three. A `ThinStr` has one (8 bytes on a 64-bit target), and so has
/// `Option<ThinStr>`. An empty string owns no memory; any other owns one block of alignment 1. The block is one byte
/// longer than a text of up to 254 bytes, and nine bytes longer than a longer text:
///
/// ```text
///  ThinStr                                 ThinStr
///  +--------+       +-----+---------+     +--------+       +--------+-----+-------------+
///  |  data -|-----. | len | "Ada"   |     |  data -|-----. | length | 255 | "It was ..."|
///  +--------+     | +-----+---------+     +--------+     | +--------+-----+-------------+
///                 `--------^ data                        `---------------^ data
/// ```
///
/// ```
/// use dwell::sparse::ThinStr;
///
/// let name = ThinStr::from("Ada");
/// assert_eq!(name.len(), 3);
/// assert_eq!(name, "Ada");
/// assert_eq!(size_of::<Option<ThinStr>>(), size_of::<usize>());
/// ```
///
/// A `ThinStr` dereferences to `str` but does not grow: build a `String` and convert it. A conversion in either
/// direction allocates a block of the exact size and copies the text once.
pub struct ThinStr {
    // # Invariants
    //
    // 1. The byte before `data` is the length if that is less than `STR_LONG`; otherwise it is `STR_LONG`, and the
    //    unaligned word before it is the length, which is then at least `STR_LONG`. They are initialised and never
    //    written again.
    // 2. If the length is 0, `data` points right after `EMPTY_HEADER` and this string owns nothing.
    // 3. Otherwise this string is the only owner of an allocation of the global allocator with the layout
    //    `layout::str(len)`, which is `Ok`. `data` lies `str_offset(len)` bytes into it and has the provenance of all
    //    of it.
    // 4. The `len` bytes at `data` are initialised and valid UTF-8.
    data: NonNull<u8>,
}

// SAFETY: sending a `ThinStr` sends an allocation of bytes that nothing else points to (invariant 3), or a pointer to a
// static that is never written (invariant 2).
unsafe impl Send for ThinStr {}

// SAFETY: no method writes through `&ThinStr`, so threads that share one only read bytes.
unsafe impl Sync for ThinStr {}

impl ThinStr {
    const EMPTY: NonNull<u8> =
        NonNull::new(EMPTY_HEADER.as_ptr_range().end.cast_mut()).expect("a static is not at null");

    /// Creates an empty string, which owns no memory.
    ///
    /// ```
    /// use dwell::sparse::ThinStr;
    ///
    /// static NAME: ThinStr = ThinStr::empty();
    /// assert_eq!(NAME, "");
    /// ```
    pub const fn empty() -> Self {
        Self { data: Self::EMPTY }
    }

    /// Copies a string into a new `ThinStr`.
    ///
    /// ```
    /// use dwell::sparse::ThinStr;
    ///
    /// assert_eq!(ThinStr::new("Ada").to_uppercase(), "ADA");
    /// ```
    pub fn new(text: &str) -> Self {
        Self::copy(text).unwrap_or_else(|layout| handle_alloc_error(layout))
    }

    /// Like [`new`](Self::new), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains `text`.
    pub fn try_new(text: &str) -> Result<Self, AllocError<&str>> {
        Self::copy(text).map_err(|layout| AllocError::new(text, layout))
    }

    /// Collects items that can be written as text, or returns an error if an allocation fails.
    ///
    /// ```
    /// use dwell::sparse::ThinStr;
    ///
    /// let text = ThinStr::try_from_iter(["a", "b"]);
    /// assert_eq!(text.ok().expect("memory is left"), "ab");
    /// ```
    ///
    /// # Errors
    ///
    /// If an allocation fails, for the text while it is written or for the string, or if a piece's `fmt` returns an
    /// error. The error contains the text so far and the pieces that are not in it.
    pub fn try_from_iter<I: IntoIterator<Item: fmt::Display>>(
        pieces: I,
    ) -> Result<Self, AllocError<(String, impl Iterator<Item = I::Item>)>> {
        try_write(pieces, Self::copy)
    }

    /// Like `String::from(text)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the `ThinStr`.
    pub fn try_into_string(self) -> Result<String, AllocError<Self>> {
        let mut string = String::new();
        if string.try_reserve_exact(self.len()).is_err() {
            let layout = Layout::for_value(self.as_str());
            return Err(AllocError::new(self, layout));
        }
        string.push_str(&self);
        Ok(string)
    }

    /// Like `Box::<str>::from(text)`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails. The error contains the `ThinStr`.
    pub fn try_into_boxed_str(self) -> Result<Box<str>, AllocError<Self>> {
        self.try_into_string().map(String::into_boxed_str)
    }

    /// Like `clone`, but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the allocation fails.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Self::copy(self).map_err(|layout| AllocError::new((), layout))
    }

    /// Copies `text`, or returns the layout whose allocation failed.
    fn copy(text: &str) -> Result<Self, Layout> {
        let len = text.len();
        if len == 0 {
            return Ok(Self::empty());
        }
        let layout = layout::str(len)?;
        let base = try_alloc(layout).ok_or(layout)?;
        // SAFETY: the allocation has `str_offset(len) + len` bytes.
        let data = unsafe { base.add(layout::str_offset(len)) };
        // SAFETY: `str_offset` is at least 1, so the byte before `data` lies in the allocation.
        let byte = unsafe { data.sub(1) };
        match u8::try_from(len) {
            Ok(len) if len != layout::STR_LONG => {
                // SAFETY: the byte before `data` is in the allocation, which nothing else uses.
                unsafe { byte.write(len) };
            }
            _ => {
                // SAFETY: the byte before `data` is in the allocation, which nothing else uses.
                unsafe { byte.write(layout::STR_LONG) };
                // SAFETY: `len` is at least `STR_LONG`, so `str_offset(len)` is a word and a byte: the allocation
                // begins with a word, which nothing else uses.
                unsafe { base.cast::<usize>().write_unaligned(len) };
            }
        }
        // SAFETY: `len` bytes follow `data` in the allocation. It was made in this call, so `text` is not in it.
        unsafe { data.copy_from_nonoverlapping(NonNull::from(text).cast(), len) };
        Ok(Self { data })
    }

    /// Returns the length byte, which is right before the text.
    #[inline]
    fn length_byte(&self) -> u8 {
        // SAFETY: `data` lies at least one byte after the start of its allocation or of `EMPTY_HEADER` (invariants 2
        // and 3).
        let byte = unsafe { self.data.sub(1) };
        // SAFETY: the byte before `data` is initialised, and never written again (invariant 1).
        unsafe { byte.read() }
    }

    /// Returns the length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        let byte = self.length_byte();
        if byte != layout::STR_LONG {
            return usize::from(byte);
        }
        // SAFETY: the byte is `STR_LONG`, so a word lies before it in the same allocation (invariant 1).
        let word = unsafe { self.data.sub(layout::str_offset(usize::MAX)) };
        // SAFETY: that word is initialised, and never written again (invariant 1). It may be unaligned, as this read
        // allows.
        unsafe { word.cast::<usize>().read_unaligned() }
    }

    /// Returns whether the string is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.length_byte() == 0
    }

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        // SAFETY: the `len` bytes at `data` are initialised (invariant 4) and lie in one allocation, or there are none.
        // Nothing writes or frees them while `self` is borrowed.
        let bytes = unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len()) };
        // SAFETY: the bytes are valid UTF-8 (invariant 4).
        unsafe { str::from_utf8_unchecked(bytes) }
    }

    /// Returns the text mutably, for changes that keep its length, such as `make_ascii_lowercase`.
    pub fn as_mut_str(&mut self) -> &mut str {
        // SAFETY: the `len` bytes at `data` are initialised (invariant 4) and lie in an allocation that nothing else
        // uses (invariant 3), or there are none. `self` is borrowed exclusively as long as the reference lives.
        let bytes = unsafe { slice::from_raw_parts_mut(self.data.as_ptr(), self.len()) };
        // SAFETY: the bytes are valid UTF-8 (invariant 4), and safe code can write only valid UTF-8 through a
        // `&mut str`.
        unsafe { str::from_utf8_unchecked_mut(bytes) }
    }
}

impl Drop for ThinStr {
    #[inline]
    fn drop(&mut self) {
        let len = self.len();
        if len == 0 {
            return;
        }
        let offset = layout::str_offset(len);
        // SAFETY: the length is not 0, so `data` lies `str_offset(len)` bytes into an allocation (invariant 3).
        let base = unsafe { self.data.sub(offset) };
        // SAFETY: these are the size and the alignment of `layout::str(len)`, which is `Ok` (invariant 3): the size is
        // at most `isize::MAX`, and 1 is a power of two.
        let layout = unsafe { Layout::from_size_align_unchecked(offset + len, 1) };
        // SAFETY: `base` is allocated with `layout` by the global allocator, and `self`, which is not used after this,
        // is the only owner (invariant 3).
        unsafe { dealloc(base.as_ptr(), layout) };
    }
}

impl Deref for ThinStr {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl DerefMut for ThinStr {
    fn deref_mut(&mut self) -> &mut str {
        self.as_mut_str()
    }
}

impl Default for ThinStr {
    fn default() -> Self {
        Self::empty()
    }
}

impl Clone for ThinStr {
    fn clone(&self) -> Self {
        Self::new(self)
    }

    fn clone_from(&mut self, source: &Self) {
        if self.len() != source.len() {
            *self = source.clone();
            return;
        }
        // SAFETY: both have `source.len()` bytes, as compared above. If that is not 0, the bytes do not overlap: `self`
        // is the only owner of its allocation (invariant 3) and is not `source`, since it is borrowed exclusively. The
        // copied bytes are valid UTF-8 (invariant 4).
        unsafe { self.data.copy_from_nonoverlapping(source.data, source.len()) };
    }
}

impl From<&str> for ThinStr {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<&mut str> for ThinStr {
    fn from(text: &mut str) -> Self {
        Self::new(text)
    }
}

impl From<&String> for ThinStr {
    fn from(text: &String) -> Self {
        Self::new(text)
    }
}

impl From<String> for ThinStr {
    fn from(text: String) -> Self {
        Self::new(&text)
    }
}

impl From<Box<str>> for ThinStr {
    fn from(text: Box<str>) -> Self {
        Self::new(&text)
    }
}

impl From<Cow<'_, str>> for ThinStr {
    fn from(text: Cow<'_, str>) -> Self {
        Self::new(&text)
    }
}

impl From<char> for ThinStr {
    fn from(char: char) -> Self {
        Self::new(char.encode_utf8(&mut [0; 4]))
    }
}

impl From<ThinStr> for String {
    fn from(text: ThinStr) -> Self {
        Self::from(text.as_str())
    }
}

impl From<ThinStr> for Box<str> {
    fn from(text: ThinStr) -> Self {
        Self::from(text.as_str())
    }
}

impl str::FromStr for ThinStr {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::new(text))
    }
}

/// Collects the items that a `String` collects: `char`, `&str`, `String` and more. The iterator's `size_hint` is not
/// trusted.
impl<A> FromIterator<A> for ThinStr
where
    String: FromIterator<A>,
{
    fn from_iter<I: IntoIterator<Item = A>>(parts: I) -> Self {
        Self::from(Cautious(parts.into_iter()).collect::<String>())
    }
}

impl PartialEq for ThinStr {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        // Most strings that differ have different length bytes, so most comparisons end before a length is decoded.
        self.length_byte() == other.length_byte() && self.as_str() == other.as_str()
    }
}

impl Eq for ThinStr {}

macro_rules! compares_with {
    ($($other:ty)*) => {$(
        impl PartialEq<$other> for ThinStr {
            #[inline]
            fn eq(&self, other: &$other) -> bool {
                *self.as_str() == **other
            }
        }

        impl PartialEq<ThinStr> for $other {
            #[inline]
            fn eq(&self, other: &ThinStr) -> bool {
                **self == *other.as_str()
            }
        }
    )*};
}
compares_with!(&str String Box<str> Cow<'_, str>);

impl PartialEq<str> for ThinStr {
    #[inline]
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<ThinStr> for str {
    #[inline]
    fn eq(&self, other: &ThinStr) -> bool {
        self == other.as_str()
    }
}

impl PartialOrd for ThinStr {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ThinStr {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// Hashes as the `str` does, so that maps can look it up by a `str`.
impl Hash for ThinStr {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for ThinStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for ThinStr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), f)
    }
}

impl Borrow<str> for ThinStr {
    #[inline]
    fn borrow(&self) -> &str {
        self
    }
}

impl BorrowMut<str> for ThinStr {
    fn borrow_mut(&mut self) -> &mut str {
        self
    }
}

impl AsRef<str> for ThinStr {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for ThinStr {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl AsMut<str> for ThinStr {
    fn as_mut(&mut self) -> &mut str {
        self
    }
}

#[cfg(feature = "std")]
impl AsRef<std::ffi::OsStr> for ThinStr {
    fn as_ref(&self) -> &std::ffi::OsStr {
        self.as_str().as_ref()
    }
}

#[cfg(feature = "std")]
impl AsRef<std::path::Path> for ThinStr {
    fn as_ref(&self) -> &std::path::Path {
        self.as_str().as_ref()
    }
}

impl IsEmpty for ThinStr {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
}
