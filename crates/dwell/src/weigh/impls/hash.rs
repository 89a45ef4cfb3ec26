//! Hash tables in the layout of hashbrown, which std uses: buckets, then a control byte for each bucket and one more
//! group.
//!
//! std does not report the number of buckets. Without removals the capacity determines it. A removed entry may leave a
//! tombstone, which reduces the capacity; then the distance between the addresses of the remaining entries gives a
//! lower bound.
#![allow(dead_code, reason = "without `std` and the crates' features no map uses it")]

use crate::weigh::table::{GROUP, buckets_at_least, buckets_for, capacity_of, layout};
use crate::weigh::{Walk, Weigh};
use core::ptr;

/// The number of entries up to which the walk always reads the addresses. In larger tables, tombstones rarely take
/// exactly half of the capacity.
const ALWAYS: usize = 1024;

/// The distance between the first and the last entry. An iterator yields the entries in the order of their addresses.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    last: usize,
}

impl Span {
    const NONE: Self = Self { first: 0, last: 0 };

    #[inline]
    fn meet<T>(&mut self, value: &T) {
        let address = ptr::from_ref(value).addr();
        if self.first == 0 {
            self.first = address;
        }
        self.last = address;
    }

    #[inline]
    fn reaches_beyond(self, bytes: usize) -> bool {
        self.first.abs_diff(self.last) >= bytes
    }

    /// Returns the smallest number of buckets that spans the distance.
    #[cold]
    fn buckets(self, entry: usize) -> usize {
        self.first.abs_diff(self.last).checked_div(entry).map_or(0, |entries| entries + 1)
    }
}

/// Returns the least number of buckets of a table that reports this capacity, with or without tombstones.
#[inline]
fn buckets_left_with(capacity: usize) -> usize {
    let buckets = buckets_at_least(capacity);
    if capacity_of(buckets) == capacity { buckets } else { buckets_with_tombstones(capacity) }
}

/// Returns the least number of buckets of a table that reports this capacity because it has tombstones.
#[cold]
#[inline(never)]
fn buckets_with_tombstones(capacity: usize) -> usize {
    let buckets = buckets_for(capacity);
    // hashbrown's `erase` leaves a tombstone only in a run of full buckets as long as a group. A table of one group has
    // no such run.
    if buckets <= GROUP && capacity_of(buckets) != capacity { 2 * GROUP } else { buckets }
}

/// Returns bytes and alignment of the smallest table with this capacity.
pub(super) fn layout_for(capacity: usize, entry: usize, align: usize) -> (usize, usize) {
    layout(buckets_for(capacity), entry, align)
}

/// The properties that a table reports.
#[derive(Clone, Copy)]
pub(super) struct Table {
    pub(super) len: usize,
    pub(super) capacity: usize,
    /// The bytes of the block, or 0 if the table does not report them.
    pub(super) bytes: usize,
    /// Whether the hasher spreads the keys over all of the table.
    pub(super) mixes: fn() -> bool,
}

/// Returns whether a hasher is known to distribute all keys evenly, as hashers that resist flooding attacks do.
pub(super) fn mixes<S>() -> bool {
    let name = core::any::type_name::<S>();
    name.contains("RandomState") || name.contains("DefaultHasher") || name.contains("DefaultHashBuilder")
}

/// The number of entries from which on tombstones are assumed not to hide half of a table. That requires all remaining
/// entries to be in one half by chance, which happens with 29 entries once in ten million times.
const MANY: usize = 29;

impl Table {
    /// Returns whether the number of buckets is certain.
    ///
    /// Until an entry is removed, a table that grew by insertions has the capacity of its size, and more entries than a
    /// table of half the size holds. A larger table looks the same if tombstones take exactly half of its capacity and
    /// all remaining entries are in one half. That happens in small tables, and in any table whose hasher places
    /// similar keys side by side.
    fn is_exact(&self, buckets: usize) -> bool {
        self.bytes != 0
            || self.len >= MANY
                && capacity_of(buckets) == self.capacity
                && self.len > capacity_of(buckets / 2)
                && (self.mixes)()
    }
}

/// Weighs an allocated table of `(K, V)` from its entries, length and capacity.
#[inline]
pub(super) fn weigh<'a, 'v, M, K, V, I, const TREE: bool>(
    walk: &mut Walk<'a, 'v, TREE>,
    map: &'a M,
    said: impl Fn(&M) -> Table,
    entries: impl Fn(&'a M) -> I,
) where
    M: Weigh + 'v,
    K: Weigh + 'v,
    V: Weigh + 'v,
    I: Iterator<Item = (&'a K, &'a V)>,
{
    walk.open_map(map, move |walk| follow(walk, said(map), || entries(map)));
}

#[inline]
fn follow<'a, 'v, K, V, I, const TREE: bool>(walk: &mut Walk<'a, 'v, TREE>, table: Table, entries: impl Fn() -> I)
where
    K: Weigh + 'v,
    V: Weigh + 'v,
    I: Iterator<Item = (&'a K, &'a V)>,
{
    let Table { len, capacity, bytes, .. } = table;
    let entry = size_of::<(K, V)>();
    let mut buckets = buckets_left_with(capacity);
    let mut span = Span::NONE;
    if const { !K::REACH.is_skipped(TREE) || !V::REACH.is_skipped(TREE) } {
        let entries = entries().inspect(|(key, _)| span.meet(*key));
        // A tree waits for memory and gains from prefetching; a total would gain little time for many more
        // instructions.
        if TREE { walk.entries_ahead(len, entries) } else { walk.entries_here(entries) }
    } else if bytes == 0 && (len <= ALWAYS || capacity_of(buckets) != capacity) {
        entries().for_each(|(key, _)| span.meet(key));
    }
    if span.reaches_beyond(buckets * entry) {
        buckets = buckets.max(span.buckets(entry).next_power_of_two());
    }
    let align = align_of::<(K, V)>().max(GROUP);
    // The table exists, so its size does not overflow.
    let mut size = (buckets * entry).next_multiple_of(align) + buckets + GROUP;
    while size < bytes {
        buckets = buckets.saturating_mul(2);
        size = layout(buckets, entry, align).0;
    }
    if TREE && len == 0 {
        walk.hollow();
    }
    if !table.is_exact(buckets) {
        walk.at_least();
    }
    walk.block(size, align, buckets.saturating_sub(len).saturating_mul(entry));
    walk.slots::<K>(0, buckets, len);
    walk.slots::<V>(1, buckets, len);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_and_buckets_match() {
        for buckets in (2..40).map(|power| 1_usize << power) {
            assert_eq!(buckets_for(capacity_of(buckets)), buckets);
            assert_eq!(buckets_for(capacity_of(buckets) + 1), buckets * 2);
            assert_eq!(buckets_left_with(capacity_of(buckets)), buckets);
            assert!(buckets_left_with(capacity_of(buckets) - 1) > GROUP);
        }
    }

    #[test]
    fn huge_capacities_do_not_overflow() {
        for capacity in [usize::MAX, usize::MAX / 2, usize::MAX / 8 * 7, isize::MAX.unsigned_abs()] {
            let buckets = buckets_for(capacity);
            assert!(layout(buckets, 3, 1).0 >= buckets);
        }
        assert_eq!(Span::NONE.buckets(8), 1);
        assert_eq!(Span::NONE.buckets(0), 0);
    }
}
