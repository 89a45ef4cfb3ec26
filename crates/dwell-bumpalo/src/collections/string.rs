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

/// An iterator over the removed characters of a range of a [`String`]. [`String::drain`] returns it.
pub type Drain<'a, 'bump> = bump::DrainChars<'a, 'bump, 1>;

/// Creates a [`String`](crate::collections::String) in an arena from formatted text, like bumpalo's `format!`.
#[macro_export]
macro_rules! format {
    (in $bump:expr, $($text:tt)+) => {{
        let mut text = $crate::collections::String::new_in($bump);
        let _ = ::core::fmt::Write::write_fmt(&mut text, ::core::format_args!($($text)+));
        text
    }};
}

/// bumpalo's `String`, a wrapper of [`bump::String`].
#[derive(PartialOrd, Eq, Ord, Hash)]
pub struct String<'bump>(bump::String<'bump, 1>);

/// The error of [`String::from_utf8`]: bytes that are not UTF-8.
#[derive(Debug)]
pub struct FromUtf8Error<'bump> {
    bytes: Vec<'bump, u8>,
    error: Utf8Error,
}

/// The error of [`String::from_utf16_in`]: code units that are not UTF-16.
#[derive(Debug)]
pub struct FromUtf16Error(());

impl<'bump> String<'bump> {
    /// Creates an empty string.
    #[inline]
    pub fn new_in(bump: &'bump Bump) -> Self {
        Self(bump::String::new_in(bump))
    }

    /// Creates an empty string with capacity for `capacity` bytes.
    #[inline]
    pub fn with_capacity_in(capacity: usize, bump: &'bump Bump) -> Self {
        Self(bump::String::try_with_capacity_in(capacity, bump).unwrap_or_else(out_of_memory))
    }

    /// Converts a vector of bytes to a string, if they are UTF-8.
    pub fn from_utf8(vec: Vec<'bump, u8>) -> Result<Self, FromUtf8Error<'bump>> {
        match bump::String::from_utf8(vec.into_inner()) {
            Ok(text) => Ok(Self(text)),
            Err(error) => Err(FromUtf8Error { error: error.utf8_error(), bytes: Vec::from_inner(error.into_bytes()) }),
        }
    }

    /// Copies bytes to a string, and replaces invalid UTF-8 by U+FFFD.
    pub fn from_utf8_lossy_in(v: &[u8], bump: &'bump Bump) -> Self {
        Self(bump::String::try_from_utf8_lossy_in(v, bump).unwrap_or_else(out_of_memory))
    }

    /// Creates a string from UTF-16 code units, if they are valid.
    pub fn from_utf16_in(v: &[u16], bump: &'bump Bump) -> Result<Self, FromUtf16Error> {
        let mut text = Self::with_capacity_in(v.len(), bump);
        for character in char::decode_utf16(v.iter().copied()) {
            text.push(character.map_err(|_| FromUtf16Error(()))?);
        }
        Ok(text)
    }

    /// Copies a `str` to a string in an arena.
    pub fn from_str_in(s: &str, bump: &'bump Bump) -> Self {
        Self(bump::String::try_from_str_in(s, bump).unwrap_or_else(out_of_memory))
    }

    /// Creates a string from the characters of an iterator.
    pub fn from_iter_in<I: IntoIterator<Item = char>>(iter: I, bump: &'bump Bump) -> Self {
        let mut text = Self::new_in(bump);
        text.extend(iter);
        text
    }

    /// Creates a string from its raw parts.
    ///
    /// # Safety
    ///
    /// The parts are those of a forgotten string of this arena, and no other string was made from them.
    pub unsafe fn from_raw_parts_in(buf: *mut u8, length: usize, capacity: usize, bump: &'bump Bump) -> Self {
        // SAFETY: the caller guarantees that the parts are those of a forgotten string of this arena, thus of its
        // vector, and that no other was made from them.
        let bytes = unsafe { bump::Vec::from_raw_parts_in(buf, length, capacity, bump) };
        // SAFETY: the bytes are those of a string, thus UTF-8.
        Self(unsafe { bump::String::from_utf8_unchecked(bytes) })
    }

    /// Converts a vector of bytes to a string without checking that they are UTF-8.
    ///
    /// # Safety
    ///
    /// The bytes are UTF-8.
    #[inline]
    pub unsafe fn from_utf8_unchecked(bytes: Vec<'bump, u8>) -> Self {
        // SAFETY: the caller guarantees that the bytes are UTF-8.
        Self(unsafe { bump::String::from_utf8_unchecked(bytes.into_inner()) })
    }

    /// Returns the arena of the string.
    #[inline]
    pub fn bump(&self) -> &'bump Bump {
        Bump::of(self.0.bump())
    }

    /// Converts the string to its vector of bytes.
    #[inline]
    pub fn into_bytes(self) -> Vec<'bump, u8> {
        Vec::from_inner(self.0.into_bytes())
    }

    /// Converts the string to a `str` in the arena.
    #[inline]
    pub fn into_bump_str(self) -> &'bump str {
        self.0.into_str()
    }

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        self
    }

    /// Returns the text, mutably.
    #[inline]
    pub fn as_mut_str(&mut self) -> &mut str {
        self
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Appends text.
    #[inline]
    pub fn push_str(&mut self, string: &str) {
        self.0.try_push_str(string).unwrap_or_else(out_of_memory);
    }

    /// Returns the capacity in bytes.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.0.capacity()
    }

    /// Reserves capacity for at least `additional` more bytes.
    #[inline]
    pub fn reserve(&mut self, additional: usize) {
        self.0.try_reserve(additional).unwrap_or_else(out_of_memory);
    }

    /// Reserves capacity for exactly `additional` more bytes.
    #[inline]
    pub fn reserve_exact(&mut self, additional: usize) {
        // SAFETY: `reserve_exact` changes no bytes, so they stay UTF-8.
        unsafe { self.as_mut_vec() }.reserve_exact(additional);
    }

    /// Shrinks the capacity to the length. The unused bytes return to the arena if the string is its last block.
    #[inline]
    pub fn shrink_to_fit(&mut self) {
        self.0.shrink_to_fit();
    }

    /// Appends a character.
    #[inline]
    pub fn push(&mut self, ch: char) {
        self.0.try_push(ch).unwrap_or_else(out_of_memory);
    }

    /// Shortens the string to `new_len` bytes.
    #[inline]
    pub fn truncate(&mut self, new_len: usize) {
        self.0.truncate(new_len);
    }

    /// Removes and returns the last character.
    #[inline]
    pub fn pop(&mut self) -> Option<char> {
        self.0.pop()
    }

    /// Removes and returns the character that begins at the byte `idx`.
    #[inline]
    pub fn remove(&mut self, idx: usize) -> char {
        self.0.remove(idx)
    }

    /// Keeps the characters for which `f` returns true.
    #[inline]
    pub fn retain<F: FnMut(char) -> bool>(&mut self, f: F) {
        self.0.retain(f);
    }

    /// Inserts a character before the byte at `idx`.
    #[inline]
    pub fn insert(&mut self, idx: usize, ch: char) {
        self.0.try_insert(idx, ch).unwrap_or_else(out_of_memory);
    }

    /// Inserts text before the byte at `idx`.
    #[inline]
    pub fn insert_str(&mut self, idx: usize, string: &str) {
        self.0.try_insert_str(idx, string).unwrap_or_else(out_of_memory);
    }

    /// Returns a mutable reference to the string's vector of bytes.
    ///
    /// # Safety
    ///
    /// The bytes are UTF-8 when the borrow ends.
    #[inline]
    pub unsafe fn as_mut_vec(&mut self) -> &mut Vec<'bump, u8> {
        // SAFETY: the caller guarantees that the bytes are UTF-8 when the borrow ends.
        Vec::of(unsafe { self.0.as_mut_vec() })
    }

    /// Returns the number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the string is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Moves the text from the byte `at` on to a new string.
    #[inline]
    #[must_use]
    pub fn split_off(&mut self, at: usize) -> Self {
        Self(self.0.try_split_off(at).unwrap_or_else(out_of_memory))
    }

    /// Removes all text and keeps the capacity.
    #[inline]
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Removes a range of bytes and returns an iterator over its characters.
    pub fn drain<'a, R: RangeBounds<usize>>(&'a mut self, range: R) -> Drain<'a, 'bump> {
        self.0.drain(range)
    }

    /// Replaces a range of bytes by text.
    pub fn replace_range<R: RangeBounds<usize>>(&mut self, range: R, replace_with: &str) {
        self.0.try_replace_range(range, replace_with).unwrap_or_else(out_of_memory);
    }
}

impl<'bump> FromUtf8Error<'bump> {
    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the vector of bytes.
    pub fn into_bytes(self) -> Vec<'bump, u8> {
        self.bytes
    }

    /// Returns the description of the first invalid byte.
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
