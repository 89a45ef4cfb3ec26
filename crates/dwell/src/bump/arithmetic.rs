//! The arena's arithmetic on addresses and sizes: the end of the next block, and the size of the next chunk.
//!
//! It handles only numbers, no pointers and no allocator. So it forbids unsafe code, and its tests cover both ends of
//! the address space. Its callers keep the *ground rules*: `min` is a power of two of at most [`MAX_MIN_ALIGN`], `pos`
//! and `end` are multiples of `min`, `pos <= end <= TOP`, and `size` and `align` are those of a
//! [`Layout`](core::alloc::Layout).
//!
//! A block begins at `pos` rounded up to its alignment, and takes its size rounded up to `min`. docs/bump.md has
//! measurements. The end of a block of a *type* is rounded up instead. The size of a type is a multiple of its
//! alignment, so that is the same address.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

/// The largest minimum alignment, in bytes.
pub(super) const MAX_MIN_ALIGN: usize = 64;

/// Whether all memory is in the lower half of the address space, where the sum of an address and a layout's size fits
/// in a `usize`. On other targets a kernel may be in the upper half, or a tag in the highest bits of an address.
const LOWER_HALF: bool = cfg!(all(target_arch = "x86_64", target_pointer_width = "64", not(target_os = "none")));

/// Sizes and alignments whose sum is at most this are added to addresses unchecked.
const SMALL: usize = 1 << 16;

/// The highest address at which a shared chunk may end, so that an address plus [`SMALL`] does not overflow.
pub(super) const TOP: usize = if LOWER_HALF { isize::MAX.cast_unsigned() - SMALL } else { HIGH_TOP };

/// The value of [`TOP`] if memory may be in the upper half.
const HIGH_TOP: usize = usize::MAX - SMALL;

/// The size of an arena's first chunk. This size and its double, with the 16 bytes that malloc adds to each, are powers
/// of two.
pub(super) const FIRST_CHUNK: usize = 512 - MALLOC;

/// The size up to which chunks for small blocks grow by doubling.
const LARGEST_CHUNK: usize = (1 << 20) - MALLOC;

/// The size in bytes above which a chunk for one block is dedicated to it.
const DEDICATED: usize = 1 << 14;

/// The number of bytes that malloc adds to each allocation, estimated.
const MALLOC: usize = 16;

/// Returns whether an allocation of `size` bytes at `start` ends at [`TOP`] or below.
#[inline]
pub(super) const fn ends_low(start: usize, size: usize) -> bool {
    size <= TOP && start <= TOP - size
}

/// Rounds `n` up to a multiple of `align`. The sum must not overflow.
#[inline]
pub(super) const fn up(n: usize, align: usize) -> usize {
    (n + (align - 1)) & !(align - 1)
}

/// Returns the number of bytes from an address to the next multiple of `align`: 0 if it is one.
#[inline]
pub(super) const fn padding(addr: usize, align: usize) -> usize {
    addr.wrapping_neg() & (align - 1)
}

/// Returns the end of the block at `start` when it takes `taken` bytes, or `None` if that is behind `end`. `start` must be
/// at most `end`.
#[inline]
pub(super) const fn grown(start: usize, taken: usize, end: usize) -> Option<usize> {
    if taken <= end - start { Some(start + taken) } else { None }
}

/// Returns the number of bytes that a block takes: its size rounded up to `min`.
///
/// The result is at most `isize::MAX + 1`.
#[inline]
pub(super) const fn taken(size: usize, min: usize) -> usize {
    up(size, min)
}

/// Returns whether a block that takes `taken` bytes ends at `pos`.
#[inline]
pub(super) const fn ends_at(block: usize, taken: usize, pos: usize) -> bool {
    // The block of a dedicated chunk may end at the top of the address space, where the sum is 0. `pos` is never 0.
    block.wrapping_add(taken) == pos
}

/// The placement of a block for a type. Everything is computed at compile time except the addition to `pos`.
pub(super) struct Typed<const MIN_ALIGN: usize, T>(PhantomData<T>);

impl<const MIN_ALIGN: usize, T> Typed<MIN_ALIGN, T> {
    /// Whether [`place`](Self::place) may be called: the type is not zero-sized, and adding its size to an address does
    /// not overflow.
    pub(super) const IS_SMALL: bool = {
        let (size, align) = (size_of::<T>(), align_of::<T>());
        size > 0 && size <= SMALL && align <= SMALL && size + align + MAX_MIN_ALIGN <= SMALL
    };

    /// Whether every `pos` is aligned for the type.
    pub(super) const IS_ALIGNED: bool = align_of::<T>() <= MIN_ALIGN;

    /// The number of bytes that a value takes.
    pub(super) const TAKEN: usize = taken(size_of::<T>(), MIN_ALIGN);

    /// Returns the end of a block placed at `pos` or behind it. The block begins [`TAKEN`](Self::TAKEN) bytes before
    /// its end.
    #[inline]
    pub(super) const fn place(pos: usize) -> usize {
        let after = pos + Self::TAKEN;
        if Self::IS_ALIGNED { after } else { up(after, align_of::<T>()) }
    }
}

/// Returns the end of a block placed at `pos` or behind it, or `None` if that is behind `end`. The block begins
/// [`taken`] bytes before its end.
#[inline]
pub(super) const fn place(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<usize> {
    if LOWER_HALF { place_low(pos, end, size, align, min) } else { place_high(pos, end, size, align, min) }
}

/// [`place`] for an `end` of at most `isize::MAX - SMALL`.
#[inline]
const fn place_low(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<usize> {
    // No overflow: `pos` is at most `isize::MAX - SMALL`. The padding and the size are at most `isize::MAX` together, and
    // rounding up to `min` adds less than `SMALL`.
    let after = up(pos, align) + taken(size, min);
    if after <= end { Some(after) } else { None }
}

/// [`place`] for memory anywhere in the address space. It takes three more instructions.
#[inline]
const fn place_high(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<usize> {
    // The padding and the size are at most `isize::MAX` together, so this is at most `isize::MAX + 63`.
    let need = padding(pos, align) + taken(size, min);
    if need <= end - pos { Some(pos + need) } else { None }
}

/// [`place`] for a block that begins at `pos`, which is aligned for it.
#[inline]
pub(super) const fn place_aligned(pos: usize, end: usize, size: usize, min: usize) -> Option<usize> {
    // `end` is a multiple of `min`, so rounding up does not exceed it.
    let fits = if LOWER_HALF { pos + size <= end } else { size <= end - pos };
    if fits { Some(up(pos + size, min)) } else { None }
}

/// Returns the smallest size of a chunk that holds a block of this layout, at whatever multiple of `chunk_align` the
/// chunk begins. Returns `None` if no allocation is that large.
///
/// `overhead` is the size of the header and the gap, a multiple of `chunk_align`, which is a multiple of the minimum
/// alignment.
pub(super) fn least_chunk(size: usize, align: usize, overhead: usize, chunk_align: usize) -> Option<usize> {
    // The header ends at a multiple of `chunk_align`. A larger alignment needs padding.
    let padding = align.saturating_sub(chunk_align);
    round(overhead.checked_add(padding)?.checked_add(up(size, align))?, chunk_align)
}

/// Returns whether a block gets a dedicated chunk, given the smallest size of its chunk.
pub(super) const fn is_dedicated(least: usize) -> bool {
    least > DEDICATED
}

/// Returns whether a block of this layout may have a dedicated chunk.
///
/// The size of such a chunk is at most the block's size, twice its alignment and 191 bytes.
#[inline]
pub(super) const fn may_be_dedicated(size: usize, align: usize) -> bool {
    size | align >= DEDICATED / 4
}

/// Returns the size of a new chunk for small blocks, of which one needs a chunk of `least` bytes.
///
/// `current` is the size of the full chunk, if there is one, and `left` the number of bytes within the limit. All sizes
/// but `left` are those of chunks. The result is less than `least` only if `left` is.
pub(super) fn next_chunk(least: usize, current: Option<usize>, left: usize, chunk_align: usize) -> usize {
    let doubled = current.map_or(FIRST_CHUNK, |size| (2 * size + MALLOC).min(LARGEST_CHUNK));
    let holds = (least + MALLOC).next_power_of_two() - MALLOC;
    // A chunk's size is at most `isize::MAX`, so rounding up does not overflow.
    up(doubled.max(holds), chunk_align).min(left & !(chunk_align - 1))
}

/// Returns the size of a chunk that holds `used` bytes and an eighth more, since two rounds of the same work are not
/// quite equal.
///
/// The size depends on the used bytes and not on the size of the chunks. Otherwise rounds that grow slowly would double
/// the arena.
pub(super) fn chunk_for_round(used: usize, overhead: usize, chunk_align: usize) -> usize {
    let bytes = used.saturating_add(used / 8).saturating_add(overhead);
    // If no allocation can have this size, `reset` requests none.
    round(bytes, chunk_align).unwrap_or(0)
}

/// Rounds `size` up to a size that a chunk may have: a multiple of `chunk_align` that is valid in a `Layout` of that
/// alignment.
pub(super) fn round(size: usize, chunk_align: usize) -> Option<usize> {
    let rounded = size.checked_add(chunk_align - 1)? & !(chunk_align - 1);
    (rounded <= isize::MAX.cast_unsigned() + 1 - chunk_align).then_some(rounded)
}

#[cfg(test)]
mod tests {
    use super::{
        DEDICATED, FIRST_CHUNK, HIGH_TOP, LARGEST_CHUNK, LOWER_HALF, MALLOC, MAX_MIN_ALIGN, SMALL, TOP, Typed,
        chunk_for_round, ends_at, ends_low, is_dedicated, least_chunk, may_be_dedicated, next_chunk, place,
        place_aligned, place_high, place_low, round, taken, up,
    };
    use core::alloc::Layout;
    use proptest::prelude::*;

    const MAX: usize = isize::MAX.cast_unsigned();

    /// Computes where a block ends, in numbers that do not overflow.
    fn naive(pos: usize, end: usize, layout: Layout, min: usize) -> Option<usize> {
        let start = (pos as u128).next_multiple_of(layout.align() as u128);
        let after = start + (layout.size() as u128).next_multiple_of(min as u128);
        (after <= end as u128).then(|| usize::try_from(after).unwrap())
    }

    /// Generates a free range, more often at the top and the bottom of the address space, and a minimum alignment.
    fn range(top: usize) -> impl Strategy<Value = (usize, usize, usize)> {
        (0_u32..=6, prop_oneof![0..5000_usize, top - 5000..top, 0..top], prop_oneof![0..200_usize, 0..top]).prop_map(
            move |(min, pos, free)| {
                let min = 1 << min;
                let top = top & !(min - 1);
                let pos = (pos & !(min - 1)).max(min);
                (pos, pos.saturating_add(free & !(min - 1)).min(top), min)
            },
        )
    }

    fn layout() -> impl Strategy<Value = Layout> {
        (0_u32..usize::BITS - 1, prop_oneof![0..200_usize, 0..MAX, MAX - 200..MAX]).prop_map(|(align, size)| {
            let align = 1 << align;
            Layout::from_size_align(size.min(MAX - (align - 1)), align).unwrap()
        })
    }

    /// The number of cases. Miri needs a second for each.
    const CASES: u32 = if cfg!(miri) { 4 } else { 256 };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(CASES))]

        #[test]
        fn place_low_is_exact((pos, end, min) in range(MAX - SMALL), layout in layout()) {
            prop_assert_eq!(place_low(pos, end, layout.size(), layout.align(), min), naive(pos, end, layout, min));
        }

        #[test]
        fn place_high_is_exact((pos, end, min) in range(HIGH_TOP), layout in layout()) {
            prop_assert_eq!(place_high(pos, end, layout.size(), layout.align(), min), naive(pos, end, layout, min));
        }

        #[test]
        fn place_is_exact((pos, end, min) in range(TOP), layout in layout()) {
            let (size, align) = (layout.size(), layout.align());
            let after = place(pos, end, size, align, min);
            prop_assert_eq!(after, naive(pos, end, layout, min));
            if align <= min {
                prop_assert_eq!(place_aligned(pos, end, size, min), after);
            }
            if let Some(after) = after {
                let start = after - taken(size, min);
                prop_assert!(start >= pos && start.is_multiple_of(align) && start + size <= after);
                prop_assert!(ends_at(start, taken(size, min), after));
            }
        }

        #[test]
        fn typed_place_matches_the_layout((pos, end, min) in range(TOP)) {
            fn check<const MIN_ALIGN: usize, T>(pos: usize, end: usize) {
                if Typed::<MIN_ALIGN, T>::IS_SMALL {
                    let after = Typed::<MIN_ALIGN, T>::place(pos);
                    assert_eq!((after <= end).then_some(after), naive(pos, end, Layout::new::<T>(), MIN_ALIGN));
                }
            }
            fn check_all<const MIN_ALIGN: usize>(pos: usize, end: usize) {
                #[repr(align(4096))]
                struct Page;
                check::<MIN_ALIGN, u8>(pos, end);
                check::<MIN_ALIGN, [u8; 3]>(pos, end);
                check::<MIN_ALIGN, u64>(pos, end);
                check::<MIN_ALIGN, (u128, u8)>(pos, end);
                check::<MIN_ALIGN, [u64; 5]>(pos, end);
                check::<MIN_ALIGN, [Page; 5]>(pos, end);
                check::<MIN_ALIGN, (Page, u8)>(pos, end);
                check::<MIN_ALIGN, [u8; SMALL - 65]>(pos, end);
            }
            match min {
                1 => check_all::<1>(pos, end),
                8 => check_all::<8>(pos, end),
                _ => check_all::<64>(up(pos, 64), up(pos, 64).max(end & !63)),
            }
        }

        #[test]
        fn least_chunk_fits_the_block(layout in layout(), chunk_align in 4_u32..=6, min in 0_u32..=6) {
            let chunk_align: usize = 1 << chunk_align;
            let min = (1 << min).min(chunk_align);
            let header = up(32, chunk_align);
            let (size, align) = (layout.size(), layout.align());
            let Some(least) = least_chunk(size, align, header + chunk_align, chunk_align) else { return Ok(()) };
            prop_assert!(Layout::from_size_align(least, chunk_align).is_ok());
            prop_assert!(!is_dedicated(least) || may_be_dedicated(size, align));
            // Wherever the chunk begins, at a multiple of `chunk_align`.
            for chunk in [chunk_align, 3 * chunk_align, 1 << 20, (1 << 20) + chunk_align] {
                if ends_low(chunk, least) {
                    let end = chunk + least - chunk_align;
                    prop_assert!(place(chunk + header, end, size, align, min).is_some());
                }
            }
        }

        #[test]
        fn next_chunk_is_at_least_the_minimum(
            size in 1..DEDICATED - 64,
            current in prop_oneof![1..5000_usize, 1..MAX],
            is_first in any::<bool>(),
            limit in 0..MAX,
            chunk_align in 4_u32..=6,
        ) {
            let chunk_align = 1 << chunk_align;
            let least = least_chunk(size, 1, up(32, chunk_align), chunk_align).unwrap();
            let current = (!is_first).then_some(round(current, chunk_align).unwrap_or(chunk_align));
            let size = next_chunk(least, current, limit, chunk_align);
            prop_assert!(size <= limit && size.is_multiple_of(chunk_align));
            prop_assert!(size >= least || limit < least);
        }
    }

    #[test]
    fn empty_range_fits_only_zero_size_blocks() {
        for min in (0..=6).map(|bits| 1 << bits) {
            assert_eq!(place(min, min, 1, 1, min), None);
            assert_eq!(place(min, min, MAX, 1, min), None);
            assert_eq!(place_aligned(min, min, 1, min), None);
            assert_eq!(place_aligned(min, min, MAX, min), None);
            assert_eq!(place(min, min, 0, min, min), Some(min));
        }
    }

    #[test]
    fn blocks_at_the_top_of_the_address_space() {
        let top = TOP & !(MAX_MIN_ALIGN - 1);
        assert!(Typed::<1, u8>::place(top) > top);
        assert!(Typed::<64, [u8; SMALL - 128]>::place(top) > top);
        assert_eq!(place(top, top, MAX, 1, 64), None);
        assert_eq!(place(top, top, 1, 1 << (usize::BITS - 2), 64), None);
        assert_eq!(place(top - 64, top, 64, 64, 64), Some(top));
        assert!(ends_low(TOP - 64, 64) && !ends_low(TOP - 63, 64) && !ends_low(usize::MAX - 15, 16));
        // This address is in the upper half.
        assert_eq!(ends_low(16, MAX + 1), !LOWER_HALF);
    }

    #[test]
    fn chunk_sizes_do_not_exceed_isize_max() {
        assert_eq!(round(usize::MAX, 16), None);
        assert_eq!(round(MAX, 16), None);
        assert_eq!(round(MAX - 15, 16), Some(MAX - 15));
        assert_eq!(least_chunk(MAX, 1, 32, 16), None);
        assert_eq!(least_chunk(1, 1 << (usize::BITS - 3), 32, 16).map(is_dedicated), Some(true));
        assert_eq!(chunk_for_round(MAX, 32, 16), 0);
    }

    #[test]
    fn chunks_grow_up_to_the_maximum() {
        let next = |current| next_chunk(48, current, MAX, 16);
        let mut size = next(None);
        assert_eq!(size, FIRST_CHUNK);
        for bits in 9..20 {
            assert_eq!(size, (1 << bits) - MALLOC);
            size = next(Some(size));
        }
        assert_eq!((size, next(Some(size))), (LARGEST_CHUNK, LARGEST_CHUNK));
        // A block that needs more than the next chunk gets one as if there had been chunks before.
        assert_eq!(next_chunk(3000, None, MAX, 16), 4096 - MALLOC);
        // The limit bounds all sizes.
        assert_eq!(next_chunk(48, Some(496), 1000, 16), 992);
    }

    #[test]
    fn large_blocks_get_dedicated_chunks() {
        assert!(!is_dedicated(least_chunk(DEDICATED - 32, 8, 32, 16).unwrap()));
        assert!(is_dedicated(least_chunk(DEDICATED - 31, 8, 32, 16).unwrap()));
        assert_eq!(least_chunk(1 << 20, 8, 32, 16), Some((1 << 20) + 32));
    }
}
