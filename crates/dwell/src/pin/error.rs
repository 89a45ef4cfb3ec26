//! The error for a value that does not fit inline.

use crate::small::InlineStorage;
use core::fmt;

/// The error for a value that does not fit the inline buffer of an [`InlineFuture`](super::InlineFuture) or
/// [`InlineBox`](super::InlineBox), with the value.
///
/// ```
/// use dwell::pin::InlineFuture;
///
/// let large = std::future::ready([7_u64; 4]);
/// let error = InlineFuture::<[u64; 4], 2>::try_new(large).unwrap_err();
/// assert!(error.to_string().ends_with("does not fit the inline buffer of 16 bytes aligned to 8"));
/// let boxed = Box::pin(error.into_inner());
/// # drop(boxed);
/// ```
pub struct DoesNotFit<T> {
    value: T,
    /// The size of the buffer and its alignment, in bytes.
    buffer: [usize; 2],
}

impl<T> DoesNotFit<T> {
    /// Creates the error for a buffer of `N` words that is aligned as `L`.
    pub(super) fn new<const N: usize, L>(value: T) -> Self {
        Self { value, buffer: [size_of::<[usize; N]>(), align_of::<InlineStorage<N, L>>()] }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> fmt::Debug for DoesNotFit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoesNotFit").field("message", &format_args!("{self}")).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for DoesNotFit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([size, align], [buffer, buffer_align]) = ([size_of::<T>(), align_of::<T>()], self.buffer);
        write!(
            f,
            "a value of {size} bytes aligned to {align} does not fit the inline buffer of {buffer} bytes aligned to \
             {buffer_align}"
        )
    }
}

impl<T> core::error::Error for DoesNotFit<T> {}
