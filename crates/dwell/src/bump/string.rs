//! Text in an arena.

#![expect(clippy::mut_from_ref, reason = "each call of an allocating method returns another value")]

use super::{Bump, Vec};
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::fmt::{self, Write};
use core::ops::Deref;
use core::ptr::NonNull;
use core::{slice, str};
use std_alloc::alloc::handle_alloc_error;

/// A string that grows in an arena, in place as long as it is the last there.
///
/// ```
/// use dwell::{Bump, bump};
/// use std::fmt::Write;
///
/// let bump = Bump::new();
/// let mut text = bump::String::new_in(&bump);
/// text.push_str("x = ");
/// write!(text, "{}", 7).unwrap();
/// let text: &str = text.into_str(); // stays when the string is gone
/// assert_eq!(text, "x = 7");
/// ```
pub struct String<'a, const MIN_ALIGN: usize = 8, A: Allocator = Global> {
    // # Invariants
    //
    // 1. The bytes are UTF-8.
    bytes: Vec<'a, u8, MIN_ALIGN, A>,
}

impl<'a, const MIN_ALIGN: usize, A: Allocator> String<'a, MIN_ALIGN, A> {
    /// An empty string.
    #[inline]
    pub fn new_in(bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self { bytes: Vec::new_in(bump) }
    }

    /// An empty string with room for `capacity` bytes.
    pub fn with_capacity_in(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Self {
        Self { bytes: Vec::with_capacity_in(capacity, bump) }
    }

    /// [`with_capacity_in`](Self::with_capacity_in) that reports a failed allocation.
    pub fn try_with_capacity_in(capacity: usize, bump: &'a Bump<MIN_ALIGN, A>) -> Result<Self, AllocError<()>> {
        Ok(Self { bytes: Vec::try_with_capacity_in(capacity, bump)? })
    }

    /// A string that begins with this text.
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

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        self
    }

    /// The bytes that fit without moving.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Appends text.
    #[inline]
    pub fn push_str(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// [`push_str`](Self::push_str) that reports a failed allocation.
    #[inline]
    pub fn try_push_str(&mut self, text: &str) -> Result<(), AllocError<()>> {
        self.bytes.try_extend_from_slice(text.as_bytes())
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

    /// Takes the last character off.
    pub fn pop(&mut self) -> Option<char> {
        let last = self.chars().next_back()?;
        self.bytes.truncate(self.len() - last.len_utf8());
        Some(last)
    }

    /// Keeps the first `len` bytes.
    ///
    /// # Panics
    ///
    /// When these end within a character.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            assert!(self.is_char_boundary(len), "byte {len} is within a character");
            self.bytes.truncate(len);
        }
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// The text as a part of the arena.
    #[inline]
    pub fn into_str(self) -> &'a mut str {
        let bytes = self.bytes.into_slice();
        // SAFETY: invariant 1.
        unsafe { str::from_utf8_unchecked_mut(bytes) }
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Deref for String<'_, MIN_ALIGN, A> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        // SAFETY: invariant 1.
        unsafe { str::from_utf8_unchecked(&self.bytes) }
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

/// Text at the end of the arena that takes each piece as it comes.
///
/// It has no room of its own behind what is written, unless something else was allocated there meanwhile.
struct Tail<'a, const MIN_ALIGN: usize, A: Allocator> {
    // # Invariants
    //
    // 1. `start` is a block of `bump`'s of `len + slack` bytes, aligned to 1, that this alone reaches; the first `len` are
    //    written, with whole `str`s.
    // 2. `after` is where the arena's `pos` is as long as the block is the last, or 0. It is 0 if there is slack.
    bump: &'a Bump<MIN_ALIGN, A>,
    start: NonNull<u8>,
    len: usize,
    slack: usize,
    after: usize,
    /// What there was no room for.
    refused: Option<Layout>,
}

fn bytes(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, 1).ok()
}

/// Copies a piece of text. Most are numbers and single characters, for which a call would cost more than all the rest.
///
/// # Safety
///
/// The `len` bytes from `from` are text, those from `to` can be written, and they are apart.
#[inline]
unsafe fn copy_piece(from: NonNull<u8>, to: NonNull<u8>, len: usize) {
    match len {
        // SAFETY: the caller's promise; there is one byte.
        1 => unsafe { to.copy_from_nonoverlapping(from, 1) },
        // SAFETY: the caller's promise; `len` is 2 or 3.
        2..4 => unsafe { copy_ends::<2>(from, to, len) },
        // SAFETY: the caller's promise; `len` is from 4 to 8.
        4..=8 => unsafe { copy_ends::<4>(from, to, len) },
        // SAFETY: the caller's promise.
        _ => unsafe { to.copy_from_nonoverlapping(from, len) },
    }
}

/// Copies the first `N` bytes and the last, which together are all.
///
/// # Safety
///
/// As `copy_piece`; `len` is from `N` to `2 * N`.
#[inline]
unsafe fn copy_ends<const N: usize>(from: NonNull<u8>, to: NonNull<u8>, len: usize) {
    // SAFETY: there are at least `N` bytes.
    unsafe { to.copy_from_nonoverlapping(from, N) };
    // SAFETY: as above.
    let from = unsafe { from.add(len - N) };
    // SAFETY: as above.
    let to = unsafe { to.add(len - N) };
    // SAFETY: `N` bytes are left of both.
    unsafe { to.copy_from_nonoverlapping(from, N) };
}

impl<const MIN_ALIGN: usize, A: Allocator> Tail<'_, MIN_ALIGN, A> {
    /// A place for the next `more` bytes behind the text, if nothing was allocated since the last piece, as for by far the
    /// most. They count as written: the caller writes them before anything else.
    #[inline]
    fn place(&mut self, more: usize) -> Option<NonNull<u8>> {
        // SAFETY: invariants 1 and 2.
        self.after = unsafe { self.bump.extend_last(self.start, self.len, more, self.after) }?;
        Some(self.next(more))
    }

    /// The next `more` bytes of the block, which count as written from now on: there are as many.
    #[inline]
    fn next(&mut self, more: usize) -> NonNull<u8> {
        // SAFETY: it is in the block, whose pointer is the arena's own and reaches all of its chunk.
        let place = unsafe { self.start.add(self.len) };
        self.len += more;
        place
    }

    /// A piece that goes to what is left of a block that was moved, or to another block.
    #[cold]
    #[inline(never)]
    fn write_elsewhere(&mut self, text: &str) -> fmt::Result {
        let more = text.len();
        if more > self.slack {
            let (had, least) = (self.len + self.slack, self.len.checked_add(more).ok_or(fmt::Error)?);
            // Where it has to move, it may have to again.
            let (old, new) = (bytes(had), bytes(least.max(had.saturating_mul(2))));
            let (Some(old), Some(new)) = (old, new) else { return Err(fmt::Error) };
            // SAFETY: invariant 1.
            let Some(start) = (unsafe { self.bump.grow_block(self.start, old, new) }) else {
                // For good: a `fmt` that goes on all the same would leave a gap.
                self.refused = Some(new);
                return Err(fmt::Error);
            };
            (self.start, self.slack, self.after) = (start, new.size() - self.len, 0);
        }
        self.slack -= more;
        let place = self.next(more);
        // SAFETY: as in `write_str`.
        unsafe { place.copy_from_nonoverlapping(NonNull::from(text).cast(), more) };
        if self.slack == 0 {
            self.after = self.bump.after_last(self.start, self.len).unwrap_or(0);
        }
        Ok(())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Write for Tail<'_, MIN_ALIGN, A> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let Some(place) = self.place(text.len()) else { return self.write_elsewhere(text) };
        // SAFETY: there is room for the text, which is not in this block: nobody else reaches that.
        unsafe { copy_piece(NonNull::from(text).cast(), place, text.len()) };
        Ok(())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Formats text into the arena, where it takes what it needs.
    ///
    /// ```
    /// use dwell::Bump;
    ///
    /// let bump = Bump::new();
    /// let key: &str = bump.alloc_fmt(format_args!("{}/{}", "shapes", 7));
    /// assert_eq!(key, "shapes/7");
    /// ```
    ///
    /// # Panics
    ///
    /// When a value's formatting fails.
    pub fn alloc_fmt(&self, text: fmt::Arguments<'_>) -> &mut str {
        match self.try_alloc_fmt(text) {
            Ok(text) => text,
            Err(error) => handle_alloc_error(error.layout()),
        }
    }

    /// [`alloc_fmt`](Self::alloc_fmt) that reports a failed allocation.
    ///
    /// # Panics
    ///
    /// When a value's formatting fails for another reason.
    pub fn try_alloc_fmt(&self, text: fmt::Arguments<'_>) -> Result<&mut str, AllocError<()>> {
        if let Some(text) = text.as_str() {
            return self.try_alloc_str(text);
        }
        // A block of no bytes, for which there is always room.
        let start = self.pos();
        let mut tail = Tail { bump: self, start, len: 0, slack: 0, after: start.addr().get(), refused: None };
        let result = tail.write_fmt(text);
        let (old, new) = (bytes(tail.len + tail.slack), bytes(tail.len));
        let (Some(old), Some(new)) = (old, new) else { unreachable!("it has that many") };
        if let Some(layout) = tail.refused {
            // SAFETY: invariant 1 of `Tail`; it is not used again.
            unsafe { self.free_block(tail.start, old) };
            return Err(AllocError::new((), layout));
        }
        assert!(result.is_ok(), "a value's `fmt` returned an error");
        if old.size() != new.size() {
            // SAFETY: invariant 1 of `Tail`; the new layout is smaller.
            tail.start = unsafe { self.shrink_block(tail.start, old, new) }.unwrap_or(tail.start);
        }
        // SAFETY: invariant 1 of `Tail`, which is not used again; the arena is borrowed.
        let bytes = unsafe { slice::from_raw_parts_mut(tail.start.as_ptr(), tail.len) };
        // SAFETY: whole `str`s, one after the other.
        Ok(unsafe { str::from_utf8_unchecked_mut(bytes) })
    }
}
