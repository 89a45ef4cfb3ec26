//! Where a block goes and how large a chunk is: numbers only, so that it can be tested and fuzzed by itself.
//!
//! What the callers promise of `pos`, `end` and `min`, here called *the ground*: `min` is a power of two up to
//! [`MAX_MIN_ALIGN`], `pos` and `end` are multiples of `min`, and `pos <= end <= TOP`.
#![forbid(unsafe_code)]

use core::alloc::Layout;
use core::marker::PhantomData;

/// The largest minimum alignment.
pub(super) const MAX_MIN_ALIGN: usize = 64;

/// Whether all memory is in the lower half of the address space: then an address and any layout's size can be added.
///
/// Elsewhere a kernel may be above, or a tag in an address's highest bits.
const LOWER_HALF: bool = cfg!(all(target_arch = "x86_64", target_pointer_width = "64", not(target_os = "none")));

/// No chunk ends above this address, so that a sum of an address in a chunk and [`SMALL`] does not wrap.
pub(super) const TOP: usize = if LOWER_HALF { isize::MAX.cast_unsigned() } else { HIGH_TOP };

/// [`TOP`] where memory may be anywhere.
const HIGH_TOP: usize = usize::MAX - SMALL;

/// Whether an allocation of `size` bytes that begins there ends at [`TOP`] or below.
#[inline]
pub(super) const fn ends_low(start: usize, size: usize) -> bool {
    // Between the halves of x86-64's address space there are no addresses: none begins in the lower and ends beyond.
    // And none wraps.
    if LOWER_HALF { start <= TOP } else { start.wrapping_add(size) <= TOP }
}

/// Sizes and alignments whose sum is at most this are added to addresses unchecked.
const SMALL: usize = 1 << 16;

/// What regular chunks begin with, in bytes: two such chunks and what malloc adds to them are a power of two.
pub(super) const FIRST_CHUNK: usize = 512 - MALLOC;

/// Regular chunks grow no further than this.
pub(super) const LARGEST_CHUNK: usize = (1 << 20) - MALLOC;

/// A request beyond this, and beyond the next regular chunk, gets a chunk of its own.
const APART: usize = (1 << 14) - MALLOC;

/// What a malloc keeps of its own per block, at a guess.
const MALLOC: usize = 16;

/// `addr` or the next multiple of `align` above it. The sum must not wrap.
#[inline]
pub(super) const fn up(addr: usize, align: usize) -> usize {
    (addr + (align - 1)) & !(align - 1)
}

/// What a type's layout decides before code is made of it: each number is worked out once for a type.
pub(super) struct For<const MIN_ALIGN: usize, T>(PhantomData<T>);

impl<const MIN_ALIGN: usize, T> For<MIN_ALIGN, T> {
    /// Whether [`constant`] may be asked.
    pub(super) const SMALL: bool = is_small(size_of::<T>(), align_of::<T>());

    /// Whether it has a size besides.
    pub(super) const DIRECT: bool = size_of::<T>() > 0 && Self::SMALL;

    /// What a value takes, in bytes.
    pub(super) const TAKEN: usize = if Self::SMALL { up(size_of::<T>(), MIN_ALIGN) } else { 0 };

    /// Whether any `pos` is aligned for it.
    pub(super) const ALIGNED: bool = align_of::<T>() <= MIN_ALIGN;

    /// Whether any number of them ends where another block may begin.
    pub(super) const WHOLE: bool = size_of::<T>().is_multiple_of(MIN_ALIGN);

    /// How a value that finds no room is handed on: as [`WORD`], [`PAIR`] or [`VALUE`], or it is not.
    ///
    /// Rust passes two words in registers, today: no more than speed is at stake. A value that is passed by address would
    /// have to be put together elsewhere first, on the fast path too.
    pub(super) const PASSED: u8 = {
        const ONE: usize = size_of::<usize>();
        const TWO: usize = 2 * ONE;
        // Words are written as a whole: a block has room for them if it is one for whole words.
        let in_words = align_of::<T>() <= ONE && ONE <= MIN_ALIGN;
        match size_of::<T>() {
            0..=ONE if in_words => WORD,
            0..=TWO if in_words => PAIR,
            0..=TWO => VALUE,
            _ => NOT,
        }
    };
}

/// As one word.
pub(super) const WORD: u8 = 0;
/// As two.
pub(super) const PAIR: u8 = 1;
/// As a value of its type.
pub(super) const VALUE: u8 = 2;
/// Not at all: a place is found first.
const NOT: u8 = 3;

/// Whether [`constant`] may be asked.
#[inline]
pub(super) const fn is_small(size: usize, align: usize) -> bool {
    size <= SMALL && align <= SMALL && size + align + MAX_MIN_ALIGN <= SMALL
}

/// Where a block begins and where the next may begin: for sizes known when the program is compiled.
///
/// One addition, one comparison. The layout [`is_small`].
#[inline]
pub(super) const fn constant(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<(usize, usize)> {
    // `pos` is aligned to `min`.
    let start = if align <= min { pos } else { up(pos, align) };
    // Below `TOP + SMALL`: does not wrap.
    let after = start + up(size, min);
    // `end` and `start` are multiples of `min`: rounding the size up does not change what fits.
    if has_room(start, end, up(size, min)) { Some((start, after)) } else { None }
}

/// Whether a block for which [`constant`] may be asked has room: `start` is `pos`, rounded up to its alignment, and `size` a
/// multiple of `min`. The same question in fewer lines for the compiler, which it is given for each type.
#[inline]
pub(super) const fn has_room(start: usize, end: usize, size: usize) -> bool {
    start + size <= end
}

/// Whether `size` bytes, at most `isize::MAX`, have room from `pos`: what [`any`] says if there is nothing to align.
#[inline]
pub(super) const fn has_room_at_pos(pos: usize, end: usize, size: usize) -> bool {
    if LOWER_HALF { pos + size <= end } else { size <= end - pos }
}

/// [`constant`] for a layout of any size: what `size` and `align` are is that of a `Layout`.
#[inline]
pub(super) const fn any(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<(usize, usize)> {
    if LOWER_HALF { low(pos, end, size, align, min) } else { high(pos, end, size, align, min) }
}

/// [`any`] where `end` is at most `isize::MAX`.
#[inline]
const fn low(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<(usize, usize)> {
    // To `pos` is added at most `isize::MAX`, which is what a `Layout` says of its size rounded up to its alignment.
    let start = up(pos, align);
    let after = start + size;
    // At most `end`, which is a multiple of `min`.
    if after > end { None } else { Some((start, up(after, min))) }
}

/// [`any`] where memory may be anywhere.
#[inline]
const fn high(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<(usize, usize)> {
    let pad = pos.wrapping_neg() & (align - 1);
    // At most `isize::MAX`, as above.
    let need = pad + size;
    if need > end - pos {
        return None;
    }
    Some((pos + pad, up(pos + need, min)))
}

/// Whether a block is the last one before `pos`, and `pos` can go back to it.
///
/// A block of another chunk is not: between its end and `pos` lies at least a header.
#[inline]
pub(super) const fn is_last(block: usize, size: usize, pos: usize, min: usize) -> bool {
    up(block + size, min) == pos
}

/// How a chunk is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// The least that the chunk must have, in bytes, header included.
    pub(super) least: usize,
    /// What it should have: at least as much.
    pub(super) size: usize,
    /// Whether the chunk is for this request alone.
    pub(super) apart: bool,
}

/// The chunk for a request that did not fit, or `None` when no chunk can be that large.
///
/// `header` is a multiple of `align`, the alignment of chunks; `next` is the size of the next regular chunk and `left`
/// the bytes up to the limit.
pub(super) fn plan(request: Layout, header: usize, align: usize, next: usize, left: usize) -> Option<Plan> {
    // A chunk's first block is aligned to `align`; for more, it may have to begin later.
    let pad = request.align().saturating_sub(align);
    let least = round(header.checked_add(pad)?.checked_add(request.size())?, align)?;
    if least > left {
        return None;
    }
    let apart = least > next && least > APART;
    let want = if apart { least } else { regular(least, next) };
    // Both are multiples of `align`.
    Some(Plan { least, size: round(want, align)?.min(left & !(align - 1)), apart })
}

/// The size of the regular chunk that holds `least` bytes, when the next would have `next`.
fn regular(least: usize, next: usize) -> usize {
    let mut size = next;
    while size < least {
        size = after(size);
    }
    size
}

/// The size of the regular chunk after one of `size`.
#[inline]
pub(super) const fn after(size: usize) -> usize {
    if size >= LARGEST_CHUNK { LARGEST_CHUNK } else { 2 * size + MALLOC }
}

/// The size of the next regular chunk of an arena that is reset, when it had `used` bytes in several.
///
/// One that holds them all, and some more, since rounds are not quite equal and padding falls differently. What was used
/// counts, not what the chunks had: otherwise rounds that grow slowly would double the arena each time.
#[inline]
pub(super) fn next_round(next: usize, used: usize) -> usize {
    next.max(used.saturating_add(used / 8).min(isize::MAX.cast_unsigned() / 2))
}

/// `size` as a chunk may have it: a multiple of `align` that is no more than a `Layout` of that alignment can be.
pub(super) fn round(size: usize, align: usize) -> Option<usize> {
    let rounded = size.checked_add(align - 1)? & !(align - 1);
    (rounded <= isize::MAX.cast_unsigned() + 1 - align).then_some(rounded)
}

#[cfg(test)]
mod tests {
    use super::{
        APART, FIRST_CHUNK, HIGH_TOP, LARGEST_CHUNK, MALLOC, MAX_MIN_ALIGN, TOP, after, any, constant, has_room_at_pos,
        high, is_last, is_small, low, plan, round, up,
    };
    use core::alloc::Layout;
    use proptest::prelude::*;

    const MAX: usize = isize::MAX.cast_unsigned();

    /// The same as `any` in numbers that do not wrap.
    fn naive(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<(usize, usize)> {
        let start = (pos as u128).next_multiple_of(align as u128);
        let after = (start + size as u128).next_multiple_of(min as u128);
        (after <= end as u128).then(|| (usize::try_from(start).unwrap(), usize::try_from(after).unwrap()))
    }

    /// A place anywhere, the top and the bottom of the address space more often.
    fn ground(top: usize) -> impl Strategy<Value = (usize, usize, usize)> {
        (0_u32..=6, prop_oneof![0..5000_usize, top - 5000..top, 0..top], prop_oneof![0..200_usize, 0..top]).prop_map(
            move |(min, pos, room)| {
                let min = 1 << min;
                let top = top & !(min - 1);
                let pos = (pos & !(min - 1)).max(min);
                (pos, pos.saturating_add(room & !(min - 1)).min(top), min)
            },
        )
    }

    fn layout() -> impl Strategy<Value = Layout> {
        (0_u32..usize::BITS - 1, prop_oneof![0..200_usize, 0..MAX, MAX - 200..MAX]).prop_map(|(align, size)| {
            let align = 1 << align;
            Layout::from_size_align(size.min(MAX - (align - 1)), align).unwrap()
        })
    }

    proptest! {
        #[test]
        fn low_is_exact((pos, end, min) in ground(MAX), layout in layout()) {
            let placed = low(pos, end, layout.size(), layout.align(), min);
            prop_assert_eq!(placed, naive(pos, end, layout.size(), layout.align(), min));
        }

        #[test]
        fn high_is_exact((pos, end, min) in ground(HIGH_TOP), layout in layout()) {
            let placed = high(pos, end, layout.size(), layout.align(), min);
            prop_assert_eq!(placed, naive(pos, end, layout.size(), layout.align(), min));
        }

        #[test]
        fn any_is_exact((pos, end, min) in ground(TOP), layout in layout()) {
            let placed = any(pos, end, layout.size(), layout.align(), min);
            prop_assert_eq!(placed, naive(pos, end, layout.size(), layout.align(), min));
            if layout.align() <= min {
                prop_assert_eq!(has_room_at_pos(pos, end, layout.size()), placed.is_some());
            }
            if let Some((start, after)) = placed {
                prop_assert!(is_last(start, layout.size(), after, min));
            }
        }

        #[test]
        fn constant_is_exact((pos, end, min) in ground(HIGH_TOP), align in 0_u32..=16, size in 0..1_usize << 16) {
            let align = 1 << align;
            prop_assume!(is_small(size, align));
            prop_assert_eq!(constant(pos, end, size, align, min), naive(pos, end, size, align, min));
        }

        #[test]
        fn a_planned_chunk_holds_the_request(
            layout in layout(),
            align in 4_u32..=6,
            chunks in 0..30,
            limit in prop_oneof![0..5000_usize, 0..=usize::MAX],
        ) {
            let align = 1 << align;
            let header = up(32, align);
            let next = (0..chunks).fold(FIRST_CHUNK, |size, _| after(size));
            let Some(plan) = plan(layout, header, align, next, limit) else { return Ok(()) };
            prop_assert!(plan.least <= plan.size && plan.size <= limit && plan.size.is_multiple_of(align));
            prop_assert!(Layout::from_size_align(plan.size, align).is_ok());
            // Wherever the chunk is, an aligned one.
            for place in [align, 3 * align, 1 << 20, (1 << 20) + align] {
                if let Some(end) = place.checked_add(plan.least).filter(|&end| end <= TOP) {
                    prop_assert!(any(place + header, end, layout.size(), layout.align(), align).is_some());
                }
            }
        }
    }

    #[test]
    fn nothing_fits_nowhere() {
        for min in (0..=6).map(|bits| 1 << bits) {
            assert_eq!(any(min, min, 1, 1, min), None);
            assert_eq!(any(min, min, MAX, 1, min), None);
            assert_eq!(constant(min, min, 1, 1, min), None);
            assert_eq!(any(min, min, 0, min, min), Some((min, min)));
        }
    }

    #[test]
    fn the_top_of_the_address_space() {
        let top = TOP & !(MAX_MIN_ALIGN - 1);
        assert_eq!(constant(top, top, 1, 1, 1), None);
        assert_eq!(constant(top, top, (1 << 16) - 128, 64, 64), None);
        assert_eq!(any(top, top, MAX, 1, 64), None);
        assert_eq!(any(top, top, 1, 1 << (usize::BITS - 2), 64), None);
        assert_eq!(any(top - 64, top, 64, 64, 64), Some((top - 64, top)));
    }

    #[test]
    fn no_chunk_is_larger_than_a_layout() {
        assert_eq!(round(usize::MAX, 16), None);
        assert_eq!(round(MAX, 16), None);
        assert_eq!(round(MAX - 15, 16), Some(MAX - 15));
        let huge = Layout::from_size_align(MAX, 1).unwrap();
        assert_eq!(plan(huge, 32, 16, FIRST_CHUNK, usize::MAX), None);
    }

    #[test]
    fn chunks_grow_up_to_a_cap() {
        let mut size = FIRST_CHUNK;
        for bits in 9..20 {
            assert_eq!(size, (1 << bits) - MALLOC);
            size = after(size);
        }
        assert_eq!(size, LARGEST_CHUNK);
        assert_eq!(after(size), LARGEST_CHUNK);
    }

    #[test]
    fn large_requests_go_apart_and_cost_no_more_than_themselves() {
        let request = |size| plan(Layout::from_size_align(size, 8).unwrap(), 32, 16, FIRST_CHUNK, usize::MAX).unwrap();
        assert!(!request(APART - 32).apart);
        let large = request(1 << 20);
        assert!(large.apart);
        assert_eq!(large.size, (1 << 20) + 32);
        // One that fits in the next chunk is no large one.
        let layout = Layout::from_size_align(1 << 19, 8).unwrap();
        assert!(!plan(layout, 32, 16, LARGEST_CHUNK, usize::MAX).unwrap().apart);
    }

    #[test]
    fn the_limit_takes_what_would_be_for_later() {
        let request = Layout::from_size_align(100, 1).unwrap();
        assert_eq!(plan(request, 32, 16, FIRST_CHUNK, 143), None);
        assert_eq!(plan(request, 32, 16, FIRST_CHUNK, 144).unwrap().size, 144);
        assert_eq!(plan(request, 32, 16, FIRST_CHUNK, 200).unwrap().size, 192);
    }
}
