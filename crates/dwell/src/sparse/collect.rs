//! Collecting from iterators whose `size_hint` may be wrong.
#![forbid(unsafe_code)]

/// The maximum number of bytes that are reserved because of a `size_hint` or of a length in a document. Further items
/// grow the memory as they arrive.
pub(super) const TRUSTED_BYTES: usize = 1 << 16;

/// An iterator adapter whose `size_hint` is limited to [`TRUSTED_BYTES`] of items.
///
/// `Vec::from_iter` reserves what `size_hint` says: it panics for `usize::MAX`, and aborts for more bytes than the
/// allocator can provide.
pub(super) struct Cautious<I>(pub(super) I);

impl<I: Iterator> Iterator for Cautious<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.size_hint().0.min(TRUSTED_BYTES / size_of::<I::Item>().max(1)), None)
    }
}
