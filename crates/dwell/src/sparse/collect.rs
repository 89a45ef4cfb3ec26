//! Collecting from iterators whose `size_hint` may be wrong.
#![forbid(unsafe_code)]

/// The most bytes that are reserved on the word of a `size_hint` or a document. More items grow the memory as they come.
pub(super) const TRUSTED_BYTES: usize = 1 << 16;

/// An iterator whose `size_hint` is at most [`TRUSTED_BYTES`] of items.
///
/// `Vec::from_iter` reserves what `size_hint` says: it panics for `usize::MAX`, and aborts for more than there is memory.
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
