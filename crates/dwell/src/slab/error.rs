//! Why a slab did not do as asked.

use super::blocks::Refusal;
use core::alloc::Layout;
use core::error::Error;
use core::fmt;

/// There was no place for a value, which comes back with the error.
///
/// ```
/// use dwell::slab::Bounded;
///
/// let slab = Bounded::with_capacity(1);
/// let _taken = slab.insert("first");
/// let error = slab.try_insert("second").unwrap_err();
/// assert_eq!(error.to_string(), "the slab is full: it has 1 place");
/// assert_eq!(error.into_inner(), "second");
/// ```
pub struct Full<T> {
    value: T,
    refusal: Refusal,
}

impl<T> Full<T> {
    pub(super) fn new(value: T, refusal: Refusal) -> Self {
        Self { value, refusal }
    }

    #[cfg(feature = "std")]
    pub(super) fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// The value that found no place.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// What was asked of the allocator, if it is that which had no memory.
    pub fn layout(&self) -> Option<Layout> {
        match self.refusal {
            Refusal::Alloc(layout) => Some(layout),
            Refusal::Limit(_) => None,
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
            Self::Limit(1) => f.write_str("the slab is full: it has 1 place"),
            Self::Limit(limit) => write!(f, "the slab is full: it has {limit} places"),
            Self::Alloc(layout) => {
                write!(f, "the allocator has no block of {} bytes aligned to {}", layout.size(), layout.align())
            }
        }
    }
}

/// A slab was not shut down, because it has this many values.
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
