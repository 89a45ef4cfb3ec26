//! Formatting into an arena.

use super::{Bump, String};
use crate::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::fmt::{self, Write};
use std_alloc::alloc::handle_alloc_error;

/// The reason why text could not be formatted.
pub(super) enum Unwritten {
    /// There was no memory for this layout.
    NoMemory(Layout),
    /// A value's `fmt` returned an error of its own. The layout is that of the text written so far.
    Failed(Layout),
}

impl Unwritten {
    #[cold]
    pub(super) fn abort(self) -> ! {
        match self {
            Self::NoMemory(layout) => handle_alloc_error(layout),
            Self::Failed(_) => panic!("a `Display` implementation returned an error"),
        }
    }

    pub(super) fn layout(self) -> Layout {
        match self {
            Self::NoMemory(layout) | Self::Failed(layout) => layout,
        }
    }
}

/// A writer to a string, which stores the layout of a failed allocation.
struct Writer<'s, 'a, const MIN_ALIGN: usize, A: Allocator> {
    text: &'s mut String<'a, MIN_ALIGN, A>,
    refused: Option<Layout>,
}

impl<const MIN_ALIGN: usize, A: Allocator> Writer<'_, '_, MIN_ALIGN, A> {
    /// Writes a piece that exceeds the capacity. The call is a tail call, so the fast path saves no register (814
    /// instructions, and 933 if this is inlined: `cargo run --release -p dwell-bench -- bump --workload fmt --ir`).
    #[cold]
    #[inline(never)]
    fn write_slow(&mut self, piece: &str) -> fmt::Result {
        self.text.try_push_str(piece).map_err(|error| {
            // `refused` makes the whole call fail, even if a `fmt` ignores this error and writes on: the text would
            // lack a piece.
            self.refused = Some(error.layout());
            fmt::Error
        })
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Write for Writer<'_, '_, MIN_ALIGN, A> {
    #[inline]
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if piece.len() > self.text.left() {
            return self.write_slow(piece);
        }
        // SAFETY: the check above found enough unused capacity for the piece.
        unsafe { self.text.push_piece(piece) };
        Ok(())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Formats text into the arena, in a block of its length.
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
        match self.format_str(text) {
            Ok(text) => text,
            Err(unwritten) => unwritten.abort(),
        }
    }

    /// [`alloc_fmt`](Self::alloc_fmt) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory, or when a value's `fmt` returns an error of its own. In the second case the error's
    /// layout is that of the text written so far.
    pub fn try_alloc_fmt(&self, text: fmt::Arguments<'_>) -> Result<&mut str, AllocError<()>> {
        self.format_str(text).map_err(|unwritten| AllocError::new((), unwritten.layout()))
    }

    /// Formats text into the arena. See "Why `alloc_fmt` is sound" at the top of `bump/mod.rs`.
    #[inline]
    fn format_str(&self, text: fmt::Arguments<'_>) -> Result<&mut str, Unwritten> {
        if let Some(text) = text.as_str() {
            return self.try_alloc_str(text).map_err(|error| Unwritten::NoMemory(error.layout()));
        }
        let mut string = self.line();
        string.write_formatted(text)?;
        Ok(string.into_str())
    }

    /// Formats text into a string.
    pub(super) fn format(&self, text: fmt::Arguments<'_>) -> Result<String<'_, MIN_ALIGN, A>, Unwritten> {
        let mut string = self.line();
        string.write_formatted(text)?;
        Ok(string)
    }

    /// Creates an empty string with capacity for a line of 64 bytes, if the free range has that many: most texts fit in
    /// it. `alloc_fmt` returns the unused bytes to the arena at the end.
    #[inline]
    fn line(&self) -> String<'_, MIN_ALIGN, A> {
        const LINE: usize = 64;
        String::with_free_capacity(LINE, self)
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> String<'_, MIN_ALIGN, A> {
    /// Appends formatted text.
    pub(super) fn write_formatted(&mut self, text: fmt::Arguments<'_>) -> Result<(), Unwritten> {
        let mut writer = Writer { text: self, refused: None };
        let written = writer.write_fmt(text);
        match (writer.refused, written) {
            (Some(layout), _) => Err(Unwritten::NoMemory(layout)),
            (None, Err(fmt::Error)) => Err(Unwritten::Failed(Layout::for_value(self.as_bytes()))),
            (None, Ok(())) => Ok(()),
        }
    }
}
