//! Collecting from iterators whose `size_hint` may be wrong.
#![forbid(unsafe_code)]

use super::ThinSlice;
use super::thin_slice::Builder;
use std_alloc::alloc::handle_alloc_error;
use std_alloc::vec::Vec;

/// The most bytes that are reserved because a `size_hint` or a document says so. What is really there may take more.
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

/// `ThinSlice::from_iter`: in the final block at once if there are as many items as `size_hint` says.
pub(super) fn collect<I: IntoIterator>(items: I) -> ThinSlice<I::Item> {
    let mut items = Cautious(items.into_iter());
    let hint = items.size_hint().0;
    let mut builder = Builder::try_new(hint).unwrap_or_else(|layout| handle_alloc_error(layout));
    for _ in 0..hint {
        let Some(item) = items.next() else {
            return builder.finish_early().unwrap_or_else(|layout| handle_alloc_error(layout));
        };
        builder.push(item);
    }
    let slice = builder.finish();
    let Some(item) = items.next() else { return slice };
    let mut all = Vec::from(slice);
    all.push(item);
    all.extend(items);
    all.into()
}
