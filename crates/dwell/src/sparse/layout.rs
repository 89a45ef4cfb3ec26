//! Sizes and offsets of the thin blocks: arithmetic only, so that it can be tested separately.
//!
//! A function whose result would exceed the limits of `Layout` returns `Err` with the largest layout of the same
//! alignment, for error messages. No allocator is called with it.
#![forbid(unsafe_code)]

use core::alloc::Layout;

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Returns the number of bytes from the start of a slice's block to its elements. The length is in the word before the
/// elements.
///
/// The size of a word and all alignments are powers of two, so the larger of the two is a multiple of the smaller. Both
/// the length and the elements are therefore aligned.
pub(super) const fn slice_offset<T>() -> usize {
    max(size_of::<usize>(), align_of::<T>())
}

/// Returns the alignment of a slice's block.
pub(super) const fn slice_align<T>() -> usize {
    max(align_of::<usize>(), align_of::<T>())
}

/// Returns the layout of the block of a slice of `len` elements.
pub(crate) fn slice<T>(len: usize) -> Result<Layout, Layout> {
    checked(size_of::<T>().saturating_mul(len).saturating_add(slice_offset::<T>()), slice_align::<T>())
}

/// Returns the number of header bytes before a string of `len` bytes: one, or one and a word.
pub(super) const fn str_offset(len: usize) -> usize {
    if len < STR_LONG as usize { 1 } else { 1 + size_of::<usize>() }
}

/// The length byte of a string whose length does not fit in that byte. A word before it holds the length.
pub(super) const STR_LONG: u8 = u8::MAX;

/// Returns the layout of the block of a string of `len` bytes.
#[inline]
pub(crate) fn str(len: usize) -> Result<Layout, Layout> {
    checked(len.saturating_add(str_offset(len)), 1)
}

/// Makes a layout. A sum that would overflow was saturated to `usize::MAX`, which exceeds the limit of `Layout`.
#[inline]
fn checked(size: usize, align: usize) -> Result<Layout, Layout> {
    Layout::from_size_align(size, align).map_err(|_| largest(align))
}

#[cold]
fn largest(align: usize) -> Layout {
    // The largest size that does not exceed `isize::MAX` when it is rounded up to the alignment.
    Layout::from_size_align(isize::MAX.unsigned_abs() + 1 - align, align).expect("it is within the limit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Wide;

    #[test]
    fn slice_size_is_limited_to_isize_max() {
        let limit = isize::MAX as usize - size_of::<usize>();
        assert_eq!(slice::<u8>(0).unwrap().size(), size_of::<usize>());
        // The size is rounded up to the alignment before it is compared with the limit.
        let last = limit / size_of::<usize>();
        assert!(slice::<usize>(last).is_ok());
        assert!(slice::<usize>(last + 1).is_err());
        for len in [isize::MAX as usize, usize::MAX / 2 + 1, usize::MAX - 7, usize::MAX] {
            assert!(slice::<u8>(len).is_err());
            assert!(slice::<u64>(len).is_err());
            assert_eq!(slice::<()>(len), Ok(Layout::new::<usize>()));
            assert_eq!(slice::<Wide>(len), Ok(Layout::from_size_align(64, 64).unwrap()));
        }
        assert_eq!(slice::<u8>(usize::MAX).unwrap_err().align(), align_of::<usize>());
    }

    #[test]
    fn string_header_grows_at_255_bytes() {
        assert_eq!((str_offset(1), str_offset(254)), (1, 1));
        assert_eq!((str_offset(255), str_offset(usize::MAX)), (1 + size_of::<usize>(), 1 + size_of::<usize>()));
        assert_eq!(str(254).unwrap().size(), 255);
        assert_eq!(str(255).unwrap().size(), 256 + size_of::<usize>());
        let last = isize::MAX as usize - 1 - size_of::<usize>();
        assert!(str(last).is_ok());
        assert!(str(last + 1).is_err());
        assert_eq!(str(usize::MAX), Err(Layout::from_size_align(isize::MAX as usize, 1).unwrap()));
    }
}
