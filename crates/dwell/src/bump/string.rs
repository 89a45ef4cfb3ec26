//! Text in an arena.

use super::{Bump, Vec};
use crate::alloc::{AllocError, Allocator, Global};
use core::alloc::Layout;
use core::fmt::{self, Write};
use core::ops::Deref;
use core::str;
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

    /// An empty string with capacity for `capacity` bytes.
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
        self.bytes.reserve(text.len());
        // SAFETY: the capacity is enough for the text.
        unsafe { self.bytes.push_piece(text.as_bytes()) };
    }

    /// [`push_str`](Self::push_str) that reports a failed allocation.
    #[inline]
    pub fn try_push_str(&mut self, text: &str) -> Result<(), AllocError<()>> {
        self.bytes.try_reserve(text.len())?;
        // SAFETY: the capacity is enough for the text.
        unsafe { self.bytes.push_piece(text.as_bytes()) };
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

    /// Appends what the items of an iterator display as: characters, strings, or `format_args!(..)`.
    ///
    /// This is [`extend`](Extend::extend) and [`write!`] that report a failed allocation.
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
    /// When there is no memory for an item, or its `fmt` returns an error. The string is as before that item, which comes back in
    /// the error, with an iterator of those after it.
    #[expect(clippy::type_complexity, reason = "a name would hide what comes back")]
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

    /// Appends formatted text.
    fn write_formatted(&mut self, text: fmt::Arguments<'_>) -> Result<(), Unwritten> {
        let mut writer = Writer { text: self, refused: None };
        let written = writer.write_fmt(text);
        match (writer.refused, written) {
            (Some(layout), _) => Err(Unwritten::NoMemory(layout)),
            (None, Err(fmt::Error)) => Err(Unwritten::Failed(Layout::for_value(self.as_bytes()))),
            (None, Ok(())) => Ok(()),
        }
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
        // SAFETY: the bytes are UTF-8, and what was handed out of them stays so (invariant 1).
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

/// Why formatted text is not there.
enum Unwritten {
    /// There was no memory for this layout.
    NoMemory(Layout),
    /// A value's `fmt` returned an error of its own. The layout is that of the text until then.
    Failed(Layout),
}

impl Unwritten {
    fn layout(self) -> Layout {
        match self {
            Self::NoMemory(layout) | Self::Failed(layout) => layout,
        }
    }
}

/// Writes to a string, and remembers what there was no memory for.
struct Writer<'s, 'a, const MIN_ALIGN: usize, A: Allocator> {
    text: &'s mut String<'a, MIN_ALIGN, A>,
    refused: Option<Layout>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Writer<'_, '_, MIN_ALIGN, A> {
    /// Writes a piece that the capacity is not enough for. A tail call: the fast path keeps nothing for after it.
    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, piece: &str) -> fmt::Result {
        self.text.try_push_str(piece).map_err(|error| {
            // For good: a `fmt` that goes on after this would leave a gap.
            self.refused = Some(error.layout());
            fmt::Error
        })
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Write for Writer<'_, '_, MIN_ALIGN, A> {
    #[inline]
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if piece.len() > self.text.bytes.left() {
            return self.write_slow(piece);
        }
        // SAFETY: the capacity is enough for the piece.
        unsafe { self.text.bytes.push_piece(piece.as_bytes()) };
        Ok(())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Formats text into the arena, where it takes what it needs.
    ///
    /// The `Display` implementations may use the arena.
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
    /// When a value's `fmt` returns an error of its own.
    pub fn alloc_fmt(&self, text: fmt::Arguments<'_>) -> &mut str {
        match self.format(text) {
            Ok(text) => text,
            Err(Unwritten::NoMemory(layout)) => handle_alloc_error(layout),
            Err(Unwritten::Failed(_)) => panic!("a value's `fmt` returned an error"),
        }
    }

    /// [`alloc_fmt`](Self::alloc_fmt) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory, or a value's `fmt` returns an error of its own: then the error's layout is that of the text until
    /// there.
    pub fn try_alloc_fmt(&self, text: fmt::Arguments<'_>) -> Result<&mut str, AllocError<()>> {
        self.format(text).map_err(|unwritten| AllocError::new((), unwritten.layout()))
    }

    /// Formats text into a string: see "Why `alloc_fmt` is sound" at the top of `bump/mod.rs`.
    #[inline]
    fn format(&self, text: fmt::Arguments<'_>) -> Result<&mut str, Unwritten> {
        if let Some(text) = text.as_str() {
            return self.try_alloc_str(text).map_err(|error| Unwritten::NoMemory(error.layout()));
        }
        // Most texts fit in this many bytes. What is left over goes back to the arena at the end.
        const LINE: usize = 64;
        let mut string = String { bytes: Vec::with_free_capacity(LINE, self) };
        string.write_formatted(text)?;
        Ok(string.into_str())
    }
}
