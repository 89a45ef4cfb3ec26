//! Size classes: the layout of the cell for a value of a pool. Arithmetic only.
#![forbid(unsafe_code)]

use core::alloc::Layout;

/// The size of the largest class in bytes, of which four cells fit in a block of 64 KiB. There is a class for each multiple of 8
/// up to 64 bytes, and four for each doubling above.
const LARGEST: usize = 14 * 1024;

/// Where the doublings begin.
const LINE: usize = 64;

/// The largest alignment of cells. A cell has the largest power of two that divides its size as alignment, up to this: values
/// aligned to 128 bytes want a cache line of their own.
const ALIGNED: usize = 128;

/// Classes below the first doubling, and in each.
const FIRST: usize = 8;
const EACH: usize = 4;

/// All classes.
pub(super) const CLASSES: usize = Class::of_size(LARGEST).index + 1;

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) index: usize,
    pub(super) layout: Layout,
}

impl Class {
    /// The class of values of this layout, or `None` if they are too large or too aligned for any.
    #[inline]
    pub(super) const fn of(layout: Layout) -> Option<Self> {
        let (size, align) = (layout.size(), layout.align());
        if size > LARGEST || align > ALIGNED {
            return None;
        }
        let least = if size < 8 { 8 } else { size };
        // In the doubling (2^n, 2^(n+1)] the spacing of classes is a quarter of 2^n, but at least 8.
        let doubling = (least - 1).ilog2() as usize;
        let spacing = if doubling < LINE.ilog2() as usize { 8 } else { 1 << (doubling - EACH.ilog2() as usize) };
        // A multiple of both, because one is a multiple of the other; no larger than the doubling's end, because that is a
        // multiple of all of them.
        let size = least.next_multiple_of(if align > spacing { align } else { spacing });
        Some(Self::of_size(size))
    }

    /// The class of cells of exactly this size.
    #[inline]
    const fn of_size(size: usize) -> Self {
        let doubling = (size - 1).ilog2() as usize;
        let index = if size <= LINE {
            size / 8 - 1
        } else {
            let spacing = 1 << (doubling - EACH.ilog2() as usize);
            let before = (size - (1 << doubling)) / spacing - 1;
            FIRST + EACH * (doubling - LINE.ilog2() as usize) + before
        };
        let align = 1 << size.trailing_zeros();
        let align = if align > ALIGNED { ALIGNED } else { align };
        match Layout::from_size_align(size, align) {
            Ok(layout) => Self { index, layout },
            Err(_) => panic!("a class is small"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::geometry::{Geometry, MIN_BLOCK};
    use super::{ALIGNED, CLASSES, Class, LARGEST};
    use core::alloc::Layout;
    use std_alloc::vec::Vec;

    #[test]
    fn every_layout_fits_its_class_and_wastes_little() {
        let mut seen: Vec<Option<usize>> = std_alloc::vec![None; CLASSES];
        let sizes: Vec<usize> = if cfg!(miri) {
            // Miri is slow, so it tests the sizes at the ends of classes and one byte above.
            let large = (6..14).flat_map(|doubling| (5..=8).map(move |quarters| (quarters << doubling) / 4));
            let ends = (0..=8).map(|n| 8 * n).chain(large);
            ends.flat_map(|end| [end, end + 1]).filter(|&size| size <= LARGEST).collect()
        } else {
            (0..=LARGEST).collect()
        };
        for align in [1, 2, 4, 8, 16, 32, 64, 128] {
            for &size in sizes.iter().filter(|&size| align == 1 || size % align == 0) {
                let class = Class::of(Layout::from_size_align(size, align).unwrap()).unwrap();
                let cell = class.layout;
                assert!(
                    cell.size() >= size && cell.size().is_multiple_of(align) && cell.align() >= align,
                    "{size} {align}"
                );
                assert!(cell.size() - size <= 8.max(size / 4).max(align), "{size} {align}: {cell:?}");
                // A class is of one size, and a cell finds its class again: so do a value and its unsized self.
                assert_eq!(*seen[class.index].get_or_insert(cell.size()), cell.size());
                assert_eq!(Class::of(cell), Some(class));
                // It is given back without a look at its class.
                assert_eq!(Geometry::of(cell).block, MIN_BLOCK, "{size} {align}");
            }
        }
        let sizes: Vec<usize> = seen.into_iter().map(|size| size.expect("each class has a size")).collect();
        assert!(sizes.is_sorted() && sizes[0] == 8 && sizes[CLASSES - 1] == LARGEST, "{sizes:?}");
    }

    #[test]
    fn the_others_have_none() {
        assert_eq!(Class::of(Layout::from_size_align(LARGEST + 1, 1).unwrap()), None);
        assert_eq!(Class::of(Layout::from_size_align(8, 2 * ALIGNED).unwrap()), None);
        assert_eq!(Class::of(Layout::from_size_align(isize::MAX.cast_unsigned(), 1).unwrap()), None);
    }
}
