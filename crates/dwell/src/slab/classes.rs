//! Size classes: the layouts of the cells of a pool. Arithmetic only.
#![forbid(unsafe_code)]

use core::alloc::Layout;

/// The size of the largest class in bytes: two pages. There is a class for each multiple of 8 up to 64 bytes, and four for
/// each doubling above. A larger value is a block of the global allocator.
const LARGEST: usize = 8 * 1024;

/// The size in bytes at which the doublings begin.
const LINE: usize = 64;

/// The maximum alignment of cells, in bytes. The alignment of a cell is the largest power of two that divides its size,
/// up to this maximum. Values aligned to 128 bytes are meant to have a cache line of their own.
const ALIGNED: usize = 128;

/// The number of classes below the first doubling.
const FIRST: usize = 8;
/// The number of classes in each doubling.
const EACH: usize = 4;

/// The number of classes.
pub(super) const CLASSES: usize = Class::of_size(LARGEST).index + 1;

/// A size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) index: usize,
    pub(super) layout: Layout,
}

/// Returns whether a value of this layout in a pool is a block of the global allocator with this layout.
#[inline(always)]
pub(super) const fn is_large(layout: Layout) -> bool {
    layout.size() > LARGEST
}

impl Class {
    /// Returns the class of values of this layout, or `None` if their size or alignment is too large.
    #[inline]
    pub(super) const fn of(layout: Layout) -> Option<Self> {
        let (size, align) = (layout.size(), layout.align());
        if is_large(layout) || align > ALIGNED {
            return None;
        }
        let least = if size < 8 { 8 } else { size };
        // In the doubling (2^n, 2^(n+1)] the spacing of classes is a quarter of 2^n, but at least 8.
        let doubling = (least - 1).ilog2() as usize;
        let spacing = if doubling < LINE.ilog2() as usize { 8 } else { 1 << (doubling - EACH.ilog2() as usize) };
        // This is a multiple of both, because one is a multiple of the other. It is at most the end of the doubling,
        // because that is a multiple of both too.
        let size = least.next_multiple_of(if align > spacing { align } else { spacing });
        Some(Self::of_size(size))
    }

    /// Returns the class of cells of exactly this size.
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
    fn layouts_fit_their_class_with_little_waste() {
        let mut seen: Vec<Option<usize>> = std_alloc::vec![None; CLASSES];
        let sizes: Vec<usize> = if cfg!(miri) {
            // Miri is slow, so it tests the sizes at the ends of classes and one byte above.
            let large = (6..13).flat_map(|doubling| (5..=8).map(move |quarters| (quarters << doubling) / 4));
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
                // A class has one size, and the layout of its cells maps to the same class. A value maps to the same
                // class before and after it is unsized, because its layout does not change.
                assert_eq!(*seen[class.index].get_or_insert(cell.size()), cell.size());
                assert_eq!(Class::of(cell), Some(class));
                // A drop does not look up the class, so the blocks of all classes must have this size.
                assert_eq!(Geometry::of(cell).block, MIN_BLOCK, "{size} {align}");
            }
        }
        let sizes: Vec<usize> = seen.into_iter().map(|size| size.expect("each class has a size")).collect();
        assert!(sizes.is_sorted() && sizes[0] == 8 && sizes[CLASSES - 1] == LARGEST, "{sizes:?}");
    }

    #[test]
    fn too_large_or_aligned_layouts_have_no_class() {
        assert_eq!(Class::of(Layout::from_size_align(LARGEST + 1, 1).unwrap()), None);
        assert_eq!(Class::of(Layout::from_size_align(8, 2 * ALIGNED).unwrap()), None);
        assert_eq!(Class::of(Layout::from_size_align(isize::MAX.cast_unsigned(), 1).unwrap()), None);
    }
}
