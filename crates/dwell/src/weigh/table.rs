//! The tables of hashbrown, which std's `HashMap` and `HashSet` use.

/// The [`GROUP`] of programs with SSE2, which all programs for x86-64 have.
pub const GROUP_OF_SSE2: usize = 16;

/// The number of control bytes that hashbrown reads at once, a *group*. A table has one control byte a bucket and one
/// more group.
pub const GROUP: usize = if cfg!(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2", not(miri)),
    all(target_arch = "loongarch64", target_feature = "lsx", not(miri)),
)) {
    GROUP_OF_SSE2
} else if cfg!(any(
    target_pointer_width = "64",
    target_arch = "aarch64",
    target_arch = "x86_64",
    target_arch = "wasm32",
)) {
    8
} else {
    4
};

/// Returns the capacity of a hash table with this number of buckets, without tombstones.
#[inline]
pub const fn capacity_of(buckets: usize) -> usize {
    let free = buckets / 8;
    buckets - if free == 0 { 1 } else { free }
}

/// Returns the least power of two that may be the number of buckets of a table with this capacity left.
#[inline]
pub fn buckets_at_least(capacity: usize) -> usize {
    capacity.max(4).checked_next_power_of_two().unwrap_or(1 << (usize::BITS - 1))
}

/// Returns the least number of buckets for this capacity, without tombstones.
#[inline]
pub fn buckets_for(capacity: usize) -> usize {
    let buckets = buckets_at_least(capacity);
    if capacity <= capacity_of(buckets) { buckets } else { buckets.saturating_mul(2) }
}

/// Returns bytes and alignment of a hash table: its entries, a control byte for each bucket, and a group.
#[inline]
pub fn layout(buckets: usize, entry: usize, align: usize) -> (usize, usize) {
    let align = align.max(GROUP);
    let entries = buckets.saturating_mul(entry);
    let entries = entries.checked_next_multiple_of(align).unwrap_or(usize::MAX);
    (entries.saturating_add(buckets).saturating_add(GROUP), align)
}

/// Returns the offset of a table's control bytes and its size, in a program with groups of `group` bytes. Returns
/// `None` on overflow.
pub fn layout_with(buckets: u64, entry: u64, align: u64, group: u64) -> Option<(u64, u64)> {
    let control = buckets.checked_mul(entry)?.checked_next_multiple_of(align.max(group))?;
    Some((control, control.checked_add(buckets)?.checked_add(group)?))
}

/// Returns the bytes of `tables` tables with `buckets` buckets in all. Their entries must satisfy
/// `blocks::table_is_regular`.
pub fn tables(tables: u64, buckets: u64, entry: u64) -> u64 {
    buckets.saturating_mul(entry.saturating_add(1)).saturating_add(tables.saturating_mul(GROUP as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_over_tables_matches_single_tables() {
        for (buckets, entry) in [(4, 4), (8, 24), (1024, 40)] {
            let (bytes, align) = layout(buckets, entry, 4);
            let (many, entry) = (buckets as u64, entry as u64);
            assert_eq!(tables(3, 3 * many, entry), 3 * bytes as u64);
            assert_eq!(layout_with(many, entry, 4, GROUP as u64), Some((many * entry, bytes as u64)));
            assert_eq!(align, GROUP);
        }
        assert_eq!(layout_with(1 << 40, 1 << 40, 1, 16), None);
        assert_eq!(layout_with(u64::MAX - 3, 1, 1, 16), None);
    }
}
