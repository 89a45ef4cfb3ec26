//! The engine of [`SortedMap`](super::SortedMap) and [`SortedSet`](super::SortedSet): a slice of entries in order of
//! their keys.
#![forbid(unsafe_code)]

use super::ThinSlice;
use super::thin_slice::Builder;
use crate::alloc::{AllocError, largest_layout};
use core::alloc::Layout;
use core::borrow::Borrow;
use core::cmp::Ordering;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Bound, Range, RangeBounds};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::vec::Vec;

/// The key that an entry `E` is sorted by.
pub(super) trait Keyed<E> {
    type Key;

    fn key(entry: &E) -> &Self::Key;

    /// Updates `first` with `later`, an entry with an equal key, as an insertion does.
    fn update(first: &mut E, later: &mut E);
}

/// The entries of a map: pairs, sorted by the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pairs;

impl<K, V> Keyed<(K, V)> for Pairs {
    type Key = K;

    #[inline]
    fn key(entry: &(K, V)) -> &K {
        &entry.0
    }

    fn update(first: &mut (K, V), later: &mut (K, V)) {
        mem::swap(&mut first.1, &mut later.1);
    }
}

/// The entries of a set: keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Keys;

impl<T> Keyed<T> for Keys {
    type Key = T;

    #[inline]
    fn key(entry: &T) -> &T {
        entry
    }

    fn update(_first: &mut T, _later: &mut T) {}
}

/// A slice of entries, in strictly ascending order of the keys if their [`Ord`] is a total order. No `unsafe` code
/// relies on the order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Sorted<E, S> {
    pub(super) entries: ThinSlice<E>,
    sorted_by: PhantomData<S>,
}

impl<E, S> Sorted<E, S> {
    pub(super) const fn new() -> Self {
        Self { entries: ThinSlice::empty(), sorted_by: PhantomData }
    }

    /// Removes the entry at an index below the length.
    pub(super) fn try_remove_at(&mut self, index: usize) -> Result<E, AllocError<()>> {
        self.entries.try_remove(index).map_err(|layout| AllocError::new((), layout))
    }

    pub(super) fn try_pop_first(&mut self) -> Result<Option<E>, AllocError<()>> {
        if self.entries.is_empty() { Ok(None) } else { self.try_remove_at(0).map(Some) }
    }

    pub(super) fn try_pop_last(&mut self) -> Result<Option<E>, AllocError<()>> {
        self.entries.len().checked_sub(1).map(|last| self.try_remove_at(last)).transpose()
    }

    /// Removes the entries that `keep` rejects. If `keep` or the drop of an entry panics, the entries that were not
    /// rejected stay.
    pub(super) fn retain(&mut self, keep: impl FnMut(&mut E) -> bool) {
        /// Stores the remaining entries, even if `keep` panics.
        struct PutBack<'a, E> {
            slice: &'a mut ThinSlice<E>,
            entries: Vec<E>,
        }

        impl<E> Drop for PutBack<'_, E> {
            fn drop(&mut self) {
                *self.slice = mem::take(&mut self.entries).into();
            }
        }

        let entries = mem::take(&mut self.entries).into();
        let mut guard = PutBack { slice: &mut self.entries, entries };
        guard.entries.retain_mut(keep);
    }

    /// Calls `keep` for all entries, then removes those that it rejected. If `keep` panics or an allocation fails, all
    /// stay.
    pub(super) fn try_retain(&mut self, keep: impl FnMut(&mut E) -> bool) -> Result<(), AllocError<()>> {
        let refused = |layout| AllocError::new((), layout);
        let mut kept = with_capacity(self.entries.len()).map_err(refused)?;
        kept.extend(self.entries.iter_mut().map(keep));
        let left = kept.iter().filter(|keep| **keep).count();
        let mut rejected = with_capacity(kept.len() - left).map_err(refused)?;
        let mut left = Builder::try_new(left).map_err(refused)?;
        for (entry, keep) in mem::take(&mut self.entries).into_iter().zip(kept) {
            if keep {
                left.push(entry);
            } else {
                rejected.push(entry); // within its capacity
            }
        }
        // The rejected entries are dropped last, since a drop may panic.
        self.entries = left.finish();
        Ok(())
    }
}

impl<E: Clone, S> Sorted<E, S> {
    pub(super) fn try_clone(&self) -> Result<Self, AllocError<()>> {
        let entries = ThinSlice::try_from_slice(&self.entries).map_err(|error| error.map(|_| ()))?;
        Ok(Self { entries, sorted_by: PhantomData })
    }
}

impl<E, S: Keyed<E, Key: Ord>> Sorted<E, S> {
    /// Returns the index of the key, or as an error the index at which to insert it. All lookups, insertions and
    /// removals use this function, which compares only by `Ord`.
    #[inline]
    pub(super) fn search<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        S::Key: Borrow<Q>,
    {
        // Not `binary_search_by`, which compares until one entry is left. This search ends when it finds the key: among
        // four strings it takes two comparisons instead of three (`docs/sparse.md` has the numbers).
        let entries = &*self.entries;
        let (mut start, mut end) = (0, entries.len());
        while start < end {
            let middle = start + (end - start) / 2;
            match S::key(&entries[middle]).borrow().cmp(key) {
                Ordering::Less => start = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => end = middle,
            }
        }
        Err(start)
    }

    /// Returns the indices of the keys in a range.
    ///
    /// # Panics
    ///
    /// Panics if the start of the range is greater than the end, or if both are equal and excluded.
    pub(super) fn indices<Q: Ord + ?Sized>(&self, range: &impl RangeBounds<Q>) -> Range<usize>
    where
        S::Key: Borrow<Q>,
    {
        match (range.start_bound(), range.end_bound()) {
            (Bound::Excluded(start), Bound::Excluded(end)) if start.cmp(end).is_eq() => {
                panic!("range start and end are equal and excluded");
            }
            (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
                assert!(start.cmp(end).is_le(), "range start is greater than range end");
            }
            _ => {}
        }
        // The index of the first key that is not before a bound.
        let first = |is_before: &dyn Fn(Ordering) -> bool, bound: &Q| {
            self.entries.partition_point(|entry| is_before(S::key(entry).borrow().cmp(bound)))
        };
        let start = match range.start_bound() {
            Bound::Unbounded => 0,
            Bound::Included(bound) => first(&Ordering::is_lt, bound),
            Bound::Excluded(bound) => first(&Ordering::is_le, bound),
        };
        let end = match range.end_bound() {
            Bound::Unbounded => self.entries.len(),
            Bound::Included(bound) => first(&Ordering::is_le, bound),
            Bound::Excluded(bound) => first(&Ordering::is_lt, bound),
        };
        // An `Ord` that contradicts itself may give an end before the start.
        start..end.max(start)
    }

    /// Sorts the entries once. Of entries with equal keys, the first stays and is updated with the later ones.
    pub(super) fn from_unsorted(entries: ThinSlice<E>) -> Self {
        Self { entries: sort::<E, S>(entries), sorted_by: PhantomData }
    }

    /// Like [`from_unsorted`](Self::from_unsorted), but returns an error if an allocation fails. The error contains the
    /// entries, perhaps sorted and merged.
    pub(super) fn try_from_vec(entries: Vec<E>) -> Result<Self, AllocError<Vec<E>>> {
        let entries = ThinSlice::try_from_vec(try_sort::<E, S>(entries)?)?;
        Ok(Self { entries, sorted_by: PhantomData })
    }

    /// Adds entries, which may be in any order. If a comparison panics, the present entries stay.
    pub(super) fn extend(&mut self, more: ThinSlice<E>) {
        if more.is_empty() {
            return;
        }
        let more = sort::<E, S>(more);
        let plan = self.plan(&more).unwrap_or_else(|layout| handle_alloc_error(layout));
        self.merge(plan, more);
    }

    /// Like [`extend`](Self::extend), but returns an error if an allocation fails. The error contains the entries,
    /// perhaps sorted and merged.
    pub(super) fn try_extend(&mut self, more: Vec<E>) -> Result<(), AllocError<Vec<E>>> {
        if more.is_empty() {
            return Ok(());
        }
        let more = try_sort::<E, S>(more)?;
        match self.plan(&more) {
            Ok(plan) => self.merge(plan, more),
            Err(layout) => return Err(AllocError::new(more, layout)),
        }
        Ok(())
    }

    /// Moves all entries of `other` to `self`. If a comparison panics or an allocation fails, both stay unchanged.
    pub(super) fn try_append(&mut self, other: &mut Self) -> Result<(), AllocError<()>> {
        if other.entries.is_empty() {
            return Ok(());
        }
        if self.entries.is_empty() {
            mem::swap(self, other);
            return Ok(());
        }
        let plan = self.plan(&other.entries).map_err(|layout| AllocError::new((), layout))?;
        self.merge(plan, mem::take(&mut other.entries));
        Ok(())
    }

    /// Compares all keys and allocates all memory that adding `more` needs.
    fn plan(&self, more: &[E]) -> Result<Plan<E>, Layout> {
        let mut found = with_capacity(more.len())?;
        found.extend(more.iter().map(|entry| self.search(S::key(entry))));
        let new = found.iter().filter(|index| index.is_err()).count();
        let replaced = with_capacity(found.len() - new)?;
        // Saturates only for two slices of zero-sized entries.
        let all = Builder::try_new(self.entries.len().saturating_add(new))?;
        Ok(Plan { found, all, replaced })
    }

    /// Adds the entries that `plan` was made for. No user code runs before all entries are stored: replaced values
    /// are dropped last.
    fn merge(&mut self, plan: Plan<E>, more: impl IntoIterator<Item = E>) {
        let Plan { found, mut all, mut replaced } = plan;
        let mut old = mem::take(&mut self.entries).into_iter();
        let mut taken = 0; // of `old`
        for (mut entry, index) in more.into_iter().zip(found) {
            let (Ok(to) | Err(to)) = index;
            // With an inconsistent `Ord`, `to` may be less than `taken`. A new entry is then pushed here, and any other
            // is dropped.
            old.by_ref().take(to.saturating_sub(taken)).for_each(|entry| all.push(entry));
            taken = taken.max(to);
            if index.is_err() {
                all.push(entry);
                continue;
            }
            if taken == to
                && let Some(mut first) = old.next()
            {
                S::update(&mut first, &mut entry);
                all.push(first);
                taken += 1;
            }
            replaced.push(entry); // within its capacity
        }
        old.for_each(|entry| all.push(entry));
        self.entries = all.finish();
    }

    /// Moves the entries whose keys are not less than `key` to a new slice.
    pub(super) fn try_split_off<Q: Ord + ?Sized>(&mut self, key: &Q) -> Result<Self, AllocError<()>>
    where
        S::Key: Borrow<Q>,
    {
        let refused = |layout| AllocError::new((), layout);
        let (Ok(at) | Err(at)) = self.search(key);
        if at == 0 {
            return Ok(mem::replace(self, Self::new()));
        }
        if at == self.entries.len() {
            return Ok(Self::new());
        }
        let mut head = Builder::try_new(at).map_err(refused)?;
        let mut tail = Builder::try_new(self.entries.len() - at).map_err(refused)?;
        let mut entries = mem::take(&mut self.entries).into_iter();
        entries.by_ref().take(at).for_each(|entry| head.push(entry));
        entries.for_each(|entry| tail.push(entry));
        self.entries = head.finish();
        Ok(Self { entries: tail.finish(), sorted_by: PhantomData })
    }
}

/// The indices and the memory for adding entries to a [`Sorted`].
struct Plan<E> {
    /// For each new entry the index of its key, or as an error the index at which to insert it.
    found: Vec<Result<usize, usize>>,
    /// Memory for the present and the new entries.
    all: Builder<E>,
    /// Memory for the replaced values, one for each key that was found.
    replaced: Vec<E>,
}

/// Creates a vector for `len` values, or returns the layout whose allocation failed.
fn with_capacity<T>(len: usize) -> Result<Vec<T>, Layout> {
    let mut values = Vec::new();
    match values.try_reserve_exact(len) {
        Ok(()) => Ok(values),
        Err(_) => Err(Layout::array::<T>(len).unwrap_or(largest_layout(align_of::<T>()))),
    }
}

/// Returns whether two entries have equal keys. If they do, it updates `first` with `later`.
fn is_merged<E, S: Keyed<E, Key: Ord>>(later: &mut E, first: &mut E) -> bool {
    let is_equal = S::key(later).cmp(S::key(first)).is_eq();
    if is_equal {
        S::update(first, later);
    }
    is_equal
}

/// Sorts by key and merges the entries with equal keys.
fn sort<E, S: Keyed<E, Key: Ord>>(mut entries: ThinSlice<E>) -> ThinSlice<E> {
    entries.sort_by(|a, b| S::key(a).cmp(S::key(b))); // stable: equal keys keep their order
    if entries.windows(2).all(|pair| S::key(&pair[0]).cmp(S::key(&pair[1])).is_ne()) {
        return entries;
    }
    let mut entries = Vec::from(entries);
    entries.dedup_by(is_merged::<E, S>);
    entries.into()
}

/// Like [`sort`], but returns an error if an allocation fails. The error contains the entries unchanged.
fn try_sort<E, S: Keyed<E, Key: Ord>>(mut entries: Vec<E>) -> Result<Vec<E>, AllocError<Vec<E>>> {
    // std's stable sort aborts if its allocation fails. An unstable sort is stable too if each entry is paired with its
    // index and compared by it last.
    let mut indexed = match with_capacity(entries.len()) {
        Ok(indexed) => indexed,
        Err(layout) => return Err(AllocError::new(entries, layout)),
    };
    indexed.extend(entries.drain(..).zip(0_usize..));
    indexed.sort_unstable_by(|(a, i), (b, j)| S::key(a).cmp(S::key(b)).then(i.cmp(j)));
    indexed.dedup_by(|(later, _), (first, _)| is_merged::<E, S>(later, first));
    entries.extend(indexed.into_iter().map(|(entry, _)| entry)); // within its capacity
    Ok(entries)
}
