//! A string in an arena.

use super::capacity::indices;
use super::gap::Gap;
use super::{Box, Bump, Vec};
use crate::alloc::{AllocError, Allocator, Global};
use core::error;
use core::fmt::{self, Write};
use core::iter::FusedIterator;
use core::ops::{Deref, DerefMut, Range, RangeBounds};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::str::{self, Utf8Error};
use std_alloc::alloc::handle_alloc_error;

/// A string in an arena. It grows in place while it is the arena's last block.
///
/// ```
/// use dwell::{Bump, bump};
/// use std::fmt::Write;
///
/// let bump = Bump::new();
/// let mut text = bump::String::new_in(&bump);
/// text.push_str("x = ");
/// write!(text, "{}", 7).unwrap();
/// let text: &str = text.into_str(); // outlives the string
/// assert_eq!(text, "x = 7");
/// ```
pub struct String<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. The bytes are UTF-8.
    bytes: Vec<'a, u8, MIN_ALIGN, A>,
}

impl<'a, const MIN_ALIGN: usize, A: Allocator> String<'a, MIN_ALIGN, A> {
    /// Creates an empty string.
    #[inline]
    pub fn new_in(bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self { bytes: Vec::new_in(bump) }
    }

    /// Creates an empty string with capacity for `capacity` bytes.
    pub fn with_capacity_in(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self { bytes: Vec::with_capacity_in(capacity, bump) }
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation.
    pub fn try_with_capacity_in(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<()>> {
        Ok(Self { bytes: Vec::try_with_capacity_in(capacity, bump)? })
    }

    /// Creates an empty string with this capacity if the free range is large enough, and with capacity 0 otherwise.
    #[inline]
    pub(super) fn with_free_capacity(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self { bytes: Vec::with_free_capacity(capacity, bump) }
    }

    /// Copies a `str` to a string in an arena.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut path = bump::String::from_str_in("shapes", &bump);
    /// path += "/7";
    /// assert_eq!(path, "shapes/7");
    /// ```
    pub fn from_str_in(text: &str, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        let mut string = Self::with_capacity_in(text.len(), bump);
        string.push_str(text);
        string
    }

    /// [`from_str_in`](Self::from_str_in) that reports a failed allocation.
    pub fn try_from_str_in(text: &str, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<()>> {
        let mut string = Self::try_with_capacity_in(text.len(), bump)?;
        string.try_push_str(text)?;
        Ok(string)
    }

    /// Creates a string of formatted text.
    ///
    /// [`bump::format!`](super::format!) is a shorter form.
    ///
    /// # Panics
    ///
    /// When a value's `fmt` returns an error of its own.
    pub fn from_fmt_in(text: fmt::Arguments<'_>, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        bump.format(text).unwrap_or_else(|unwritten| unwritten.abort())
    }

    /// [`from_fmt_in`](Self::from_fmt_in) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory, or when a value's `fmt` returns an error of its own. In the second case the error's
    /// layout is that of the text written so far.
    pub fn try_from_fmt_in(text: fmt::Arguments<'_>, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<()>> {
        bump.format(text).map_err(|unwritten| AllocError::new((), unwritten.layout()))
    }

    /// Converts a vector of bytes to a string, if they are UTF-8.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let heart = bump::String::from_utf8(bump::vec![in &bump; 0xE2, 0x99, 0xA5]).unwrap();
    /// assert_eq!(heart, "\u{2665}");
    /// let error = bump::String::from_utf8(bump::vec![in &bump; 0xE2]).unwrap_err();
    /// assert_eq!(error.into_bytes(), [0xE2]);
    /// ```
    ///
    /// # Errors
    ///
    /// When the bytes are not UTF-8. They are returned in the error.
    pub fn from_utf8(bytes: Vec<'a, u8, MIN_ALIGN, A>) -> Result<Self, FromUtf8Error<'a, MIN_ALIGN, A>> {
        match str::from_utf8(&bytes) {
            Ok(_) => Ok(Self { bytes }),
            Err(error) => Err(FromUtf8Error { bytes, error }),
        }
    }

    /// Copies bytes to a string, and replaces invalid UTF-8 by U+FFFD.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// assert_eq!(bump::String::from_utf8_lossy_in(b"a\xFFb", &bump), "a\u{FFFD}b");
    /// ```
    pub fn from_utf8_lossy_in(bytes: &[u8], bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self::try_from_utf8_lossy_in(bytes, bump).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`from_utf8_lossy_in`](Self::from_utf8_lossy_in) that reports a failed allocation.
    pub fn try_from_utf8_lossy_in(bytes: &[u8], bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<()>> {
        let mut string = Self::try_with_capacity_in(bytes.len(), bump)?;
        for chunk in bytes.utf8_chunks() {
            string.try_push_str(chunk.valid())?;
            if !chunk.invalid().is_empty() {
                string.try_push_str("\u{FFFD}")?;
            }
        }
        Ok(string)
    }

    /// Converts a vector of bytes to a string without checking that they are UTF-8.
    ///
    /// # Safety
    ///
    /// The bytes are UTF-8.
    #[inline]
    pub unsafe fn from_utf8_unchecked(bytes: Vec<'a, u8, MIN_ALIGN, A>) -> Self {
        Self { bytes }
    }

    /// Converts the string to its vector of bytes.
    #[inline]
    pub fn into_bytes(self) -> Vec<'a, u8, MIN_ALIGN, A> {
        self.bytes
    }

    /// Returns a mutable reference to the string's vector of bytes.
    ///
    /// # Safety
    ///
    /// The bytes are UTF-8 when the borrow ends.
    #[inline]
    pub unsafe fn as_mut_vec(&mut self) -> &mut Vec<'a, u8, MIN_ALIGN, A> {
        &mut self.bytes
    }
}

/// Parts of the string, and capacity.
impl<'a, const MIN_ALIGN: usize, A: Allocator> String<'a, MIN_ALIGN, A> {
    /// Returns the arena of the string.
    #[inline]
    pub fn bump(&self) -> &'a Bump<MIN_ALIGN, A> {
        self.bytes.bump()
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
        &self.bytes
    }

    /// Returns the number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether the string is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the capacity in bytes.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns the number of unused bytes of the capacity.
    #[inline]
    pub(super) fn left(&self) -> usize {
        self.bytes.left()
    }

    /// Reserves capacity for at least `more` more bytes.
    pub fn reserve(&mut self, more: usize) {
        self.bytes.reserve(more);
    }

    /// [`reserve`](Self::reserve) that reports a failed allocation.
    pub fn try_reserve(&mut self, more: usize) -> Result<(), AllocError<()>> {
        self.bytes.try_reserve(more)
    }

    /// Shrinks the capacity to the length. The unused bytes return to the arena if the string is its last block.
    pub fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
    }
}

/// Text.
impl<'a, const MIN_ALIGN: usize, A: Allocator> String<'a, MIN_ALIGN, A> {
    /// Appends text.
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        self.bytes.reserve(text.len());
        // SAFETY: the line above reserved capacity for the text.
        unsafe { self.push_piece(text) };
    }

    /// Appends text within the capacity.
    ///
    /// # Safety
    ///
    /// [`left`](Self::left) is at least the number of bytes.
    #[inline]
    pub(super) unsafe fn push_piece(&mut self, text: &str) {
        // SAFETY: the caller guarantees capacity for the text, whose bytes are UTF-8.
        unsafe { self.bytes.push_piece(text.as_bytes()) };
    }

    /// [`push_str`](Self::push_str) that reports a failed allocation.
    #[inline]
    pub fn try_push_str(&mut self, text: &str) -> Result<(), AllocError<()>> {
        self.bytes.try_reserve(text.len())?;
        // SAFETY: the line above reserved capacity for the text.
        unsafe { self.push_piece(text) };
        Ok(())
    }

    /// Appends a character.
    #[inline]
    pub fn push(&mut self, character: char) {
        self.push_str(character.encode_utf8(&mut [0; 4]));
    }

    /// [`push`](Self::push) that reports a failed allocation.
    #[inline]
    pub fn try_push(&mut self, character: char) -> Result<(), AllocError<char>> {
        self.try_push_str(character.encode_utf8(&mut [0; 4])).map_err(|error| error.map(|()| character))
    }

    /// Appends the `Display` output of each item of an iterator: characters, strings, or `format_args!(..)`.
    ///
    /// It is the fallible form of [`extend`](Extend::extend) and of [`write!`].
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut text = bump::String::new_in(&bump);
    /// text.try_extend(["a", "b"]).unwrap();
    /// text.try_extend([format_args!("{}{}", 'c', 4)]).unwrap();
    /// assert_eq!(text, "abc4");
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no memory for an item, or when its `fmt` returns an error. The string is as before that item. The
    /// item is returned in the error, with an iterator over the remaining ones.
    #[expect(clippy::type_complexity, reason = "a type alias would hide the result")]
    pub fn try_extend<I: IntoIterator<Item: fmt::Display>>(
        &mut self,
        items: I,
    ) -> Result<(), AllocError<(I::Item, I::IntoIter)>> {
        let mut items = items.into_iter();
        while let Some(item) = items.next() {
            let len = self.len();
            if let Err(unwritten) = self.write_formatted(format_args!("{item}")) {
                self.bytes.truncate(len);
                return Err(AllocError::new((item, items), unwritten.layout()));
            }
        }
        Ok(())
    }

    /// Removes and returns the last character.
    pub fn pop(&mut self) -> Option<char> {
        let last = self.chars().next_back()?;
        self.bytes.truncate(self.len() - last.len_utf8());
        Some(last)
    }

    /// Shortens the string to `len` bytes.
    ///
    /// # Panics
    ///
    /// When `len` is within a character.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            assert!(self.is_char_boundary(len), "byte index {len} is not a char boundary");
            self.bytes.truncate(len);
        }
    }

    /// Removes all text and keeps the capacity.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Inserts a character before the byte at `index`.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut text = bump::String::from_str_in("b", &bump);
    /// text.insert(0, 'a');
    /// text.insert_str(2, "cd");
    /// assert_eq!(text, "abcd");
    /// ```
    ///
    /// # Panics
    ///
    /// When `index` is within a character or after the end of the text.
    pub fn insert(&mut self, index: usize, character: char) {
        self.insert_str(index, character.encode_utf8(&mut [0; 4]));
    }

    /// [`insert`](Self::insert) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the character is returned in the error.
    ///
    /// # Panics
    ///
    /// When `index` is within a character or after the end of the text.
    pub fn try_insert(&mut self, index: usize, character: char) -> Result<(), AllocError<char>> {
        self.try_insert_str(index, character.encode_utf8(&mut [0; 4])).map_err(|error| error.map(|()| character))
    }

    /// Inserts text before the byte at `index`.
    ///
    /// # Panics
    ///
    /// When `index` is within a character or after the end of the text.
    pub fn insert_str(&mut self, index: usize, text: &str) {
        self.check_boundary(index);
        self.bytes.reserve(text.len());
        // SAFETY: `index` is at most the length, since it is a character boundary, and the line above reserved capacity for
        // the text.
        unsafe { self.bytes.insert_piece(index, text.as_bytes()) };
    }

    /// [`insert_str`](Self::insert_str) that reports a failed allocation.
    ///
    /// # Panics
    ///
    /// When `index` is within a character or after the end of the text.
    pub fn try_insert_str(&mut self, index: usize, text: &str) -> Result<(), AllocError<()>> {
        self.check_boundary(index);
        self.bytes.try_reserve(text.len())?;
        // SAFETY: `index` is at most the length, since it is a character boundary, and the line above reserved capacity for
        // the text.
        unsafe { self.bytes.insert_piece(index, text.as_bytes()) };
        Ok(())
    }

    /// Panics unless `index` is a character boundary.
    fn check_boundary(&self, index: usize) {
        assert!(self.is_char_boundary(index), "byte index {index} is not a char boundary, or it is out of bounds");
    }

    /// Removes and returns the character that begins at the byte `index`.
    ///
    /// # Panics
    ///
    /// When no character begins at `index`.
    pub fn remove(&mut self, index: usize) -> char {
        let character = self[index..].chars().next().expect("cannot remove a char from the end of a string");
        drop(self.bytes.drain(index..index + character.len_utf8()));
        character
    }

    /// Keeps the characters for which `keep` returns true.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut text = bump::String::from_str_in("a-b-c", &bump);
    /// text.retain(|character| character != '-');
    /// assert_eq!(text, "abc");
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(char) -> bool) {
        // The gap skips or keeps whole characters only, so the bytes stay UTF-8 if `keep` panics. The remaining
        // characters are kept then.
        let mut gap = Gap::new(&mut self.bytes, 0, 0);
        loop {
            // SAFETY: the bytes of a string are UTF-8 (invariant 1), and the remaining ones lack only whole characters
            // at their front.
            let rest = unsafe { str::from_utf8_unchecked(gap.rest()) };
            let Some(character) = rest.chars().next() else { return };
            if keep(character) {
                gap.keep(character.len_utf8());
            } else {
                gap.skip(character.len_utf8());
            }
        }
    }

    /// Removes a range of bytes and returns an iterator over its characters.
    ///
    /// ```
    /// use dwell::{Bump, bump};
    ///
    /// let bump = Bump::new();
    /// let mut text = bump::String::from_str_in("a = b", &bump);
    /// assert!(text.drain(..4).eq(['a', ' ', '=', ' ']));
    /// assert_eq!(text, "b");
    /// ```
    ///
    /// The text is removed when the iterator is dropped. If it is forgotten, the string is unchanged.
    ///
    /// # Panics
    ///
    /// When the range starts after its end, ends after the end of the text, or has a bound within a character.
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> DrainChars<'_, 'a, MIN_ALIGN, A> {
        let range = indices(&range, self.len());
        self.check_boundary(range.start);
        self.check_boundary(range.end);
        DrainChars { front: range.start, back: range.end, range, text: self }
    }

    /// Replaces a range of bytes by text.
    ///
    /// # Panics
    ///
    /// When the range starts after its end, ends after the end of the text, or has a bound within a character.
    pub fn replace_range(&mut self, range: impl RangeBounds<usize>, text: &str) {
        self.try_replace_range(range, text).unwrap_or_else(|error| handle_alloc_error(error.layout()));
    }

    /// [`replace_range`](Self::replace_range) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the string is unchanged.
    ///
    /// # Panics
    ///
    /// When the range starts after its end, ends after the end of the text, or has a bound within a character.
    pub fn try_replace_range(&mut self, range: impl RangeBounds<usize>, text: &str) -> Result<(), AllocError<()>> {
        let range = indices(&range, self.len());
        self.check_boundary(range.start);
        self.check_boundary(range.end);
        self.try_insert_str(range.end, text)?;
        drop(self.bytes.drain(range));
        Ok(())
    }

    /// Moves the text from the byte `at` on to a new string in the same arena.
    ///
    /// # Panics
    ///
    /// When `at` is within a character or after the end of the text.
    #[must_use = "use `truncate` if you do not need the tail"]
    pub fn split_off(&mut self, at: usize) -> Self {
        self.check_boundary(at);
        Self { bytes: self.bytes.split_off(at) }
    }

    /// [`split_off`](Self::split_off) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the string is unchanged.
    ///
    /// # Panics
    ///
    /// When `at` is within a character or after the end of the text.
    pub fn try_split_off(&mut self, at: usize) -> Result<Self, AllocError<()>> {
        self.check_boundary(at);
        Ok(Self { bytes: self.bytes.try_split_off(at)? })
    }

    /// [`clone`](Clone::clone) that reports a failed allocation.
    pub fn try_clone(&self) -> Result<Self, AllocError<()>> {
        Self::try_from_str_in(self, self.bump())
    }

    /// Converts the string to a boxed `str`.
    pub fn into_boxed_str(self) -> Box<'a, str> {
        let text = self.into_str();
        // SAFETY: `into_str` consumed the string, so nothing else uses the text. A `str` needs no drop.
        unsafe { Box::from_mut(text) }
    }

    /// Converts the string to a `str` in the arena.
    #[inline]
    pub fn into_str(self) -> &'a mut str {
        let bytes = self.bytes.into_slice();
        // SAFETY: the bytes of a string are UTF-8 (invariant 1), and a `&mut str` keeps them so.
        unsafe { str::from_utf8_unchecked_mut(bytes) }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Deref for String<'_, MIN_ALIGN, A> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: the bytes of a string are UTF-8 (invariant 1).
        unsafe { str::from_utf8_unchecked(&self.bytes) }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> DerefMut for String<'_, MIN_ALIGN, A> {
    #[inline]
    fn deref_mut(&mut self) -> &mut str {
        // SAFETY: the bytes of a string are UTF-8 (invariant 1), and a `&mut str` keeps them so.
        unsafe { str::from_utf8_unchecked_mut(&mut self.bytes) }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Clone for String<'_, MIN_ALIGN, A> {
    /// Copies the text to a new string in the same arena.
    fn clone(&self) -> Self {
        Self::from_str_in(self, self.bump())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Write for String<'_, MIN_ALIGN, A> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for String<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Display for String<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// An iterator over the removed characters of a range of a [`String`]. [`String::drain`] returns it.
pub struct DrainChars<'s, 'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. `range.start <= front <= back <= range.end <= text.len()`, and all of them are character boundaries.
    text: &'s mut String<'a, MIN_ALIGN, A>,
    range: Range<usize>,
    front: usize,
    back: usize,
}

impl<const MIN_ALIGN: usize, A: Allocator> DrainChars<'_, '_, MIN_ALIGN, A> {
    /// Returns the remaining text.
    pub fn as_str(&self) -> &str {
        // SAFETY: `front` and `back` are character boundaries of the text, and `front` is not behind `back` (invariant 1).
        unsafe { self.text.get_unchecked(self.front..self.back) }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Iterator for DrainChars<'_, '_, MIN_ALIGN, A> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        let character = self.as_str().chars().next()?;
        self.front += character.len_utf8();
        Some(character)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.as_str().chars().size_hint()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> DoubleEndedIterator for DrainChars<'_, '_, MIN_ALIGN, A> {
    fn next_back(&mut self) -> Option<char> {
        let character = self.as_str().chars().next_back()?;
        self.back -= character.len_utf8();
        Some(character)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Drop for DrainChars<'_, '_, MIN_ALIGN, A> {
    fn drop(&mut self) {
        // Removes whole characters only, since the bounds of the range are character boundaries (invariant 1).
        drop(self.text.bytes.drain(self.range.clone()));
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> FusedIterator for DrainChars<'_, '_, MIN_ALIGN, A> {}

// As for std's `Drain`: a panic leaves a valid string.
impl<const MIN_ALIGN: usize, A: Allocator + RefUnwindSafe> UnwindSafe for DrainChars<'_, '_, MIN_ALIGN, A> {}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for DrainChars<'_, '_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DrainChars").field(&self.as_str()).finish()
    }
}

/// The error of [`String::from_utf8`]: bytes that are not UTF-8.
pub struct FromUtf8Error<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    bytes: Vec<'a, u8, MIN_ALIGN, A>,
    error: Utf8Error,
}

impl<'a, const MIN_ALIGN: usize, A: Allocator> FromUtf8Error<'a, MIN_ALIGN, A> {
    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the vector of bytes.
    pub fn into_bytes(self) -> Vec<'a, u8, MIN_ALIGN, A> {
        self.bytes
    }

    /// Returns the description of the first invalid byte.
    pub fn utf8_error(&self) -> Utf8Error {
        self.error
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for FromUtf8Error<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromUtf8Error").field("bytes", &self.bytes).field("error", &self.error).finish()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Display for FromUtf8Error<'_, MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> error::Error for FromUtf8Error<'_, MIN_ALIGN, A> {}
