//! The bytes that an allocator uses for a request: arithmetic only.

/// A model of an allocator: the requested bytes, or the bytes after the allocator's rounding.
///
/// | model | allocator | modelled |
/// |---|---|---|
/// | `Requested` | any allocator | the requested sizes, exactly |
/// | `Glibc` | malloc of glibc 2.26 and later, 64-bit or 32-bit | chunk headers and alignment, pages of large blocks |
/// | `Jemalloc` | jemalloc 5.3.1 and later | size classes, pages of large blocks |
/// | `Mimalloc` | mimalloc 3 | size classes, larger steps for large blocks |
///
/// The models do not include freed memory that the allocator keeps for reuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Model {
    /// The requested bytes.
    #[default]
    Requested,
    /// glibc's malloc.
    Glibc,
    /// jemalloc.
    Jemalloc,
    /// mimalloc.
    Mimalloc,
}

/// The size from which on glibc always maps a block separately. The limit begins at 128 KiB. When a mapped block is
/// freed, for example by a growing vector, the limit rises to the size of that block, but not above this constant.
const GLIBC_MMAP: u64 = 4 * 1024 * 1024 * size_of::<usize>() as u64;
/// The size from which on jemalloc rounds up to whole pages.
const JEMALLOC_LARGE: u64 = 14 * 1024 + 1;
/// The largest size of mimalloc's size classes.
const MIMALLOC_LARGE: u64 = 512 * 1024;
const PAGE: u64 = 4096;

impl Model {
    /// Returns the bytes that a block of `size` bytes aligned to `align` takes.
    ///
    /// ```
    /// use dwell::weigh::Model;
    ///
    /// assert_eq!(Model::Requested.bytes(100, 8), 100);
    /// # #[cfg(target_pointer_width = "64")]
    /// assert_eq!(Model::Glibc.bytes(100, 8), 112);
    /// assert_eq!(Model::Jemalloc.bytes(100, 8), 112);
    /// ```
    pub fn bytes(self, size: u64, align: u64) -> u64 {
        // No block has another alignment.
        let align = if align.is_power_of_two() { align } else { 1 };
        match self {
            Self::Requested => size,
            _ if size == 0 => 0,
            Self::Glibc => glibc(size),
            Self::Jemalloc => jemalloc(size, align),
            Self::Mimalloc => mimalloc(size, align),
        }
    }
}

fn glibc(size: u64) -> u64 {
    let word = size_of::<usize>() as u64;
    if size >= GLIBC_MMAP {
        return up(size.saturating_add(2 * word), PAGE);
    }
    // A header of one word. The smallest chunk holds the two links of a free list.
    up(size + word, 2 * word).max(4 * word)
}

/// Rounds up to a size class of jemalloc and mimalloc, of which each doubling has four: 80, 96, 112, 128, 160, ...
fn class(size: u64) -> u64 {
    let step = (size - 1).ilog2().saturating_sub(2);
    up(size, 1 << step)
}

fn jemalloc(size: u64, align: u64) -> u64 {
    let size = up(size, align.max(1));
    match size {
        0..=8 => 8,
        9..=128 => up(size, 16),
        // The default since jemalloc 5.3.1. Before, these sizes had classes too.
        JEMALLOC_LARGE.. => up(size, PAGE),
        _ => class(size),
    }
}

fn mimalloc(size: u64, align: u64) -> u64 {
    let size = if align > 16 { up(size, align) } else { size };
    match size {
        0..=8 => 8,
        9..=64 => up(size, 16),
        65..=MIMALLOC_LARGE => class(size),
        // Larger blocks have their own pages.
        _ => {
            let mebibytes = size >> 20;
            let step = match mebibytes {
                0..2 => 64 << 10,
                2..8 => 256 << 10,
                8..32 => 1 << 20,
                _ => 4 << 20,
            };
            up(size, step)
        }
    }
}

/// Rounds `size` up to a multiple of `to`, a power of two. Returns `u64::MAX` on overflow.
fn up(size: u64, to: u64) -> u64 {
    size.checked_add(to - 1).map_or(u64::MAX, |size| size & !(to - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_match_jemalloc_and_mimalloc() {
        // From jemalloc's manual, table "Size classes", and glibc's malloc.c.
        let classes = [8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640];
        for pair in classes.windows(2) {
            assert_eq!(Model::Jemalloc.bytes(pair[0], 1), pair[0]);
            assert_eq!(Model::Jemalloc.bytes(pair[0] + 1, 1), pair[1]);
            assert_eq!(Model::Mimalloc.bytes(pair[0], 1), pair[0]);
            assert_eq!(Model::Mimalloc.bytes(pair[0] + 1, 1), pair[1]);
        }
        assert_eq!(Model::Jemalloc.bytes(16 << 10, 1), 16 << 10);
        assert_eq!(Model::Jemalloc.bytes((16 << 10) + 1, 1), 20 << 10);
        assert_eq!(Model::Jemalloc.bytes((1 << 20) + 1, 1), (1 << 20) + 4096);
        assert_eq!(Model::Jemalloc.bytes(8, 64), 64);
        assert_eq!(Model::Mimalloc.bytes((512 << 10) + 1, 1), (512 + 64) << 10);
        assert_eq!(Model::Mimalloc.bytes(9 << 20, 1), 9 << 20);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn chunk_sizes_match_glibc() {
        for (size, chunk) in [
            (1, 32),
            (24, 32),
            (25, 48),
            (40, 48),
            (41, 64),
            (1000, 1008),
            (1 << 20, (1 << 20) + 16),
            (64 << 20, (64 << 20) + 4096),
        ] {
            assert_eq!(Model::Glibc.bytes(size, 8), chunk, "{size}");
        }
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        for model in [Model::Requested, Model::Glibc, Model::Jemalloc, Model::Mimalloc] {
            for size in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) + 1, i64::MAX as u64] {
                assert!(model.bytes(size, 1) >= size);
                assert!(model.bytes(size, 4096) >= size);
                assert!(model.bytes(size, 1 << 63) >= size);
            }
            assert_eq!(model.bytes(0, 8), 0);
            for align in [0, 3, 24, u64::MAX] {
                assert_eq!(model.bytes(100, align), model.bytes(100, 1), "alignment {align}");
            }
        }
    }
}
