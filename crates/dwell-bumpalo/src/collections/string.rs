//! bumpalo's `String`.

use super::{Vec, out_of_memory};
use crate::Bump;
use alloc::borrow::Cow;
use core::borrow::{Borrow, BorrowMut};
use core::ops::{Add, AddAssign, Deref, DerefMut, Index, IndexMut, Range, RangeBounds};
use core::ops::{RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use core::str::Utf8Error;
use core::{error, fmt};
use dwell::bump;

/// The characters of a range, which leave a [`String`].
pub type Drain<'a, 'bump> = bump::DrainChars<'a, 'bump, 1>;

/// A string in an arena of formatted text, as bumpalo has it.
#[macro_export]
macro_rules! format {
    (in $bump:expr, $($text:tt)+) => {{
        let mut text = $crate::collections::String::new_in($bump);
        let _ = ::core::fmt::Write::write_fmt(&mut text, ::core::format_args!($($text)+));
        text
    }};
}

/// bumpalo's string, over [`bump::String`].
#[derive(PartialOrd, Eq, Ord, Hash)]
pub struct String<'bump>(bump::String<'bump, 1>);

/// Bytes that are not UTF-8: the error of [`String::from_utf8`].
#[derive(Debug)]
pub struct FromUtf8Error<'bump> {
    bytes: Vec<'bump, u8>,
    error: Utf8Error,
}

/// Code units that are not UTF-16: the error of [`String::from_utf16_in`].
#[derive(Debug)]
pub struct FromUtf16Error(());

impl<'bump> String<'bump> {
    /// An empty string.
    #[inline]
    pub fn new_in(bump: &'bump Bump) -> Self {
        Self(bump::String::new_in(bump))
    }

    /// An empty string with capacity for `capacity` bytes.
    #[inline]
    pub fn with_capacity_in(capacity: usize, bump: &'bump Bump) -> Self {
        Self(bump::String::try_with_capacity_in(capacity, bump).unwrap_or_else(out_of_memory))
    }

    /// A string of these bytes, if they are UTF-8.
    pub fn from_utf8(vec: Vec<'bump, u8>) -> Result<Self, FromUtf8Error<'bump>> {
        match bump::String::from_utf8(vec.into_inner()) {
            Ok(text) => Ok(Self(text)),
            Err(error) => Err(FromUtf8Error { error: error.utf8_error(), bytes: Vec::from_inner(error.into_bytes()) }),
        }
    }

    /// A string of these bytes, with U+FFFD instead of bytes that are not UTF-8.
    pub fn from_utf8_lossy_in(v: &[u8], bump: &'bump Bump) -> Self {
        Self(bump::String::try_from_utf8_lossy_in(v, bump).unwrap_or_else(out_of_memory))
    }

    /// A string of these code units, if they are UTF-16.
    pub fn from_utf16_in(v: &[u16], bump: &'bump Bump) -> Result<Self, FromUtf16Error> {
        let mut text = Self::with_capacity_in(v.len(), bump);
        for character in char::decode_utf16(v.iter().copied()) {
            text.push(character.map_err(|_| FromUtf16Error(()))?);
        }
        Ok(text)
    }

    /// A string of this text.
    pub fn from_str_in(s: &str, bump: &'bump Bump) -> Self {
        Self(bump::String::try_from_str_in(s, bump).unwrap_or_else(out_of_memory))
    }

    /// A string of the characters of an iterator.
    pub fn from_iter_in<I: IntoIterator<Item = char>>(iter: I, bump: &'bump Bump) -> Self {
        let mut text = Self::new_in(bump);
        text.extend(iter);
        text
    }

    /// A string of its parts.
    ///
    /// # Safety
    ///
    /// They are those of a string of this arena, which was forgotten.
    pub unsafe fn from_raw_parts_in(buf: *mut u8, length: usize, capacity: usize, bump: &'bump Bump) -> Self {
        // SAFETY: the parts are those of a string of this arena, thus of a vector, of which no other is made.
        let bytes = unsafe { bump::Vec::from_raw_parts_in(buf, length, capacity, bump) };
        // SAFETY: they were a string.
        Self(unsafe { bump::String::from_utf8_unchecked(bytes) })
    }

    /// A string of these bytes.
    ///
    /// # Safety
    ///
    /// They are UTF-8.
    #[inline]
    pub unsafe fn from_utf8_unchecked(bytes: Vec<'bump, u8>) -> Self {
        // SAFETY: the bytes are UTF-8, which this function requires of its caller.
        Self(unsafe { bump::String::from_utf8_unchecked(bytes.into_inner()) })
    }

    /// The arena.
    #[inline]
    pub fn bump(&self) -> &'bump Bump {
        Bump::of(self.0.bump())
    }

    /// The bytes.
    #[inline]
    pub fn into_bytes(self) -> Vec<'bump, u8> {
        Vec::from_inner(self.0.into_bytes())
    }

    /// The text, as a part of the arena.
    #[inline]
    pub fn into_bump_str(self) -> &'bump str {
        self.0.into_str()
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        self
    }

    /// The text.
    #[inline]
    pub fn as_mut_str(&mut self) -> &mut str {
        self
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Appends text.
    #[inline]
    pub fn push_str(&mut self, string: &str) {
        self.0.try_push_str(string).unwrap_or_else(out_of_memory);
    }

    /// The bytes that fit without moving.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Reserves capacity for more bytes.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.0.try_reserve(additional).unwrap_or_else(out_of_memory);
    }

    /// Reserves capacity for more bytes, and no more than that.
    #[inline]
    pub fn reserve_exact(&mut self, additional: usize) {
        // SAFETY: the bytes are not changed.
        unsafe { self.as_mut_vec() }.reserve_exact(additional);
    }

    /// Returns unused capacity to the arena, if the string is its last block.
    #[inline]
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Appends a character.
    #[inline]
    pub fn push(&mut self, ch: char) {
        self.0.try_push(ch).unwrap_or_else(out_of_memory);
    }

    /// Keeps the first `new_len` bytes.
    #[inline]
    pub fn truncate(&mut self, new_len: usize) {
        self.0.truncate(new_len);
    }

    /// Takes the last character off.
    #[inline]
    pub fn pop(&mut self) -> Option<char> {
        self.0.pop()
    }

    /// Takes the character out that begins at a byte.
    #[inline]
    pub fn remove(&mut self, idx: usize) -> char {
        self.0.remove(idx)
    }

    /// Keeps the characters for which `f` returns true.
    #[inline]
    pub fn retain<F: FnMut(char) -> bool>(&mut self, f: F) {
        self.0.retain(f);
    }

    /// Puts a character in front of a byte.
    #[inline]
    pub fn insert(&mut self, idx: usize, ch: char) {
        self.0.try_insert(idx, ch).unwrap_or_else(out_of_memory);
    }

    /// Puts text in front of a byte.
    #[inline]
    pub fn insert_str(&mut self, idx: usize, string: &str) {
        self.0.try_insert_str(idx, string).unwrap_or_else(out_of_memory);
    }

    /// The vector that the bytes are in.
    ///
    /// # Safety
    ///
    /// They are UTF-8 when the borrow ends.
    #[inline]
    pub unsafe fn as_mut_vec(&mut self) -> &mut Vec<'bump, u8> {
        // SAFETY: the bytes are UTF-8 when the borrow ends, which this function requires of its caller.
        Vec::of(unsafe { self.0.as_mut_vec() })
    }

    /// How many bytes there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the text from the byte `at` on to another string.
    #[inline]
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Self {
        Self(self.0.try_split_off(at).unwrap_or_else(out_of_memory))
    }

    /// Makes it empty.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes a range.
    pub fn drain<'a, R: RangeBounds<usize>>(&'a mut self, range: R) -> Drain<'a, 'bump> {
        self.0.drain(range)
    }

    /// Replaces a range.
    pub fn replace_range<R: RangeBounds<usize>>(&mut self, range: R, replace_with: &str) {
        self.0.try_replace_range(range, replace_with).unwrap_or_else(out_of_memory);
    }
}

impl<'bump> FromUtf8Error<'bump> {
    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The vector that was to become a string.
    pub fn into_bytes(self) -> Vec<'bump, u8> {
        self.bytes
    }

    /// What is wrong with the bytes.
    pub fn utf8_error(&self) -> Utf8Error {
        self.error
    }
}

impl fmt::Display for FromUtf8Error<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl error::Error for FromUtf8Error<'_> {}

impl fmt::Display for FromUtf16Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid utf-16: lone surrogate found")
    }
}

impl error::Error for FromUtf16Error {}

impl Clone for String<'_> {
    fn clone(&self) -> Self {
        Self(self.0.try_clone().unwrap_or_else(out_of_memory))
    }
}

impl Extend<char> for String<'_> {
    fn extend<I: IntoIterator<Item = char>>(&mut self, iter: I) {
        iter.into_iter().for_each(|character| self.push(character));
    }
}

impl<'a> Extend<&'a char> for String<'_> {
    fn extend<I: IntoIterator<Item = &'a char>>(&mut self, iter: I) {
        Extend::<char>::extend(self, iter.into_iter().copied());
    }
}

impl<'a> Extend<&'a str> for String<'_> {
    fn extend<I: IntoIterator<Item = &'a str>>(&mut self, iter: I) {
        iter.into_iter().for_each(|text| self.push_str(text));
    }
}

macro_rules! extends_by {
    ($([$($generics:tt)*] $Text:ty;)*) => {$(
        impl<'bump, $($generics)*> Extend<$Text> for String<'bump> {
            fn extend<I: IntoIterator<Item = $Text>>(&mut self, iter: I) {
                iter.into_iter().for_each(|text| self.push_str(&text));
            }
        }
    )*};
}
extends_by! {
    [] String<'bump>;
    [] alloc::string::String;
    ['a] Cow<'a, str>;
}

impl PartialEq for String<'_> {
    #[inline]
    fn eq(&self, other: &String<'_>) -> bool {
        self[..] == other[..]
    }
}

macro_rules! compares_with {
    ($([$($generics:tt)*] $Text:ty;)*) => {$(
        impl<$($generics)*> PartialEq<$Text> for String<'_> {
            #[inline]
            fn eq(&self, other: &$Text) -> bool {
                self[..] == other[..]
            }
        }

        impl<'bump, $($generics)*> PartialEq<String<'bump>> for $Text {
            #[inline]
            fn eq(&self, other: &String<'bump>) -> bool {
                self[..] == other[..]
            }
        }
    )*};
}
compares_with! {
    [] str;
    ['a] &'a str;
    ['a] Cow<'a, str>;
    [] alloc::string::String;
}

impl fmt::Display for String<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl fmt::Debug for String<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl Add<&str> for String<'_> {
    type Output = Self;

    #[inline]
    fn add(mut self, other: &str) -> Self {
        self.push_str(other);
        self
    }
}

impl AddAssign<&str> for String<'_> {
    #[inline]
    fn add_assign(&mut self, other: &str) {
        self.push_str(other);
    }
}

macro_rules! is_indexed_by {
    ($($Range:ty)*) => {$(
        impl Index<$Range> for String<'_> {
            type Output = str;

            #[inline]
            fn index(&self, range: $Range) -> &str {
                &(**self)[range]
            }
        }

        impl IndexMut<$Range> for String<'_> {
            #[inline]
            fn index_mut(&mut self, range: $Range) -> &mut str {
                &mut (**self)[range]
            }
        }
    )*};
}
is_indexed_by!(Range<usize> RangeTo<usize> RangeFrom<usize> RangeFull RangeInclusive<usize> RangeToInclusive<usize>);

impl Deref for String<'_> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

impl DerefMut for String<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut str {
        &mut self.0
    }
}

impl AsRef<str> for String<'_> {
    fn as_ref(&self) -> &str {
        self
    }
}

impl AsRef<[u8]> for String<'_> {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Write for String<'_> {
    #[inline]
    fn write_str(&mut self, s: &str) -> fmt::Result {
        self.push_str(s);
        Ok(())
    }

    #[inline]
    fn write_char(&mut self, c: char) -> fmt::Result {
        self.push(c);
        Ok(())
    }
}

impl Borrow<str> for String<'_> {
    fn borrow(&self) -> &str {
        self
    }
}

impl BorrowMut<str> for String<'_> {
    fn borrow_mut(&mut self) -> &mut str {
        self
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for String<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
