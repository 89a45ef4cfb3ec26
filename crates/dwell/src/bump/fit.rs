//! Where a block goes and how large a chunk is: numbers only, so that it can be tested and fuzzed by itself.
//!
//! What the callers promise of `pos`, `end` and `min`, here called *the ground*: `min` is a power of two up to
//! [`MAX_MIN_ALIGN`], `pos` and `end` are multiples of `min`, and `pos <= end <= TOP`.
#![forbid(unsafe_code)]

use core::alloc::Layout;

/// The largest minimum alignment.
pub(super) const MAX_MIN_ALIGN: usize = 64;

/// No chunk ends above this address, so that a sum of an address in a chunk and [`SMALL`] does not wrap.
pub(super) const TOP: usize = usize::MAX - SMALL;

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
    if after > end { None } else { Some((start, after)) }
}

/// [`constant`] for a layout of any size: what `size` and `align` are is that of a `Layout`.
#[inline]
pub(super) const fn any(pos: usize, end: usize, size: usize, align: usize, min: usize) -> Option<(usize, usize)> {
    let pad = pos.wrapping_neg() & (align - 1);
    // At most `isize::MAX`, which is what a `Layout` says of its size rounded up to its alignment.
    let need = pad + size;
    if need > end - pos {
        return None;
    }
    // At most `end`, which is a multiple of `min`.
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
pub(super) const fn after(size: usize) -> usize {
    if size >= LARGEST_CHUNK { size } else { 2 * size + MALLOC }
}

/// `size` as a chunk may have it: a multiple of `align` that is no more than a `Layout` of that alignment can be.
pub(super) fn round(size: usize, align: usize) -> Option<usize> {
    let rounded = size.checked_next_multiple_of(align)?;
    (rounded <= isize::MAX.cast_unsigned() + 1 - align).then_some(rounded)
}
