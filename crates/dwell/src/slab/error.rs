//! The errors of slabs.

use super::insert::InsertError;
use super::memory::Refusal;
use crate::alloc::AllocError;
use core::alloc::Layout;
use core::error::Error;
use core::fmt;

/// The error of a slab that is full or cannot allocate. It contains the value that was not inserted.
///
/// ```
/// use dwell::slab::Bounded;
///
/// let slab = Bounded::with_capacity(1);
/// let _taken = slab.insert("first");
/// let error = slab.try_insert("second").unwrap_err();
/// assert_eq!(error.to_string(), "the slab is full: it has 1 slot");
/// assert_eq!(error.into_inner(), "second");
/// ```
pub struct Full<T> {
    value: T,
    refusal: Refusal,
}

impl<T> Full<T> {
    /// Returns the value that was not inserted.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Returns the layout that could not be allocated, or `None` if no allocation failed.
    pub fn layout(&self) -> Option<Layout> {
        match self.refusal {
            Refusal::Alloc(layout) => Some(layout),
            _ => None,
        }
    }
}

impl<T> InsertError<T> for Full<T> {
    #[inline]
    fn new(value: T, refusal: Refusal, _: Layout) -> Self {
        Self { value, refusal }
    }
}

impl<T> InsertError<T> for AllocError<T> {
    #[inline]
    fn new(value: T, refusal: Refusal, layout: Layout) -> Self {
        Self::new(value, refusal.layout(layout))
    }
}

impl Refusal {
    /// Returns the layout that could not be allocated, or `value` if the refusal has none.
    fn layout(self, value: Layout) -> Layout {
        match self {
            Self::Alloc(layout) | Self::TooMany { layout, .. } => layout,
            _ => value,
        }
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Full").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<T> Error for Full<T> {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(1) => f.write_str("the slab is full: it has 1 slot"),
            Self::Full(limit) => write!(f, "the slab is full: it has {limit} slots"),
            Self::TooMany { limit, asked, .. } => write!(f, "the slab can have at most {limit} slots, not {asked}"),
            #[cfg(feature = "std")]
            Self::Initialized => f.write_str("the slab is already initialized on this thread"),
            Self::ReEntered => f.write_str(
                "the global allocator inserted a value into a slab or pool that was calling the global allocator; there, use the \
                 `try_` functions and handle the error",
            ),
            Self::Alloc(layout) => {
                write!(f, "failed to allocate {} bytes with alignment {}", layout.size(), layout.align())
            }
        }
    }
}

/// The error of a `shutdown`: the slab still has this many values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotsRemaining(pub usize);

impl fmt::Display for SlotsRemaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 value is still in the slab"),
            n => write!(f, "{n} values are still in the slab"),
        }
    }
}

impl Error for SlotsRemaining {}
