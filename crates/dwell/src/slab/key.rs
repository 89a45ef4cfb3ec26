//! Names for values that were leaked into their slab.

use core::fmt;

/// The name of a cell in its slab: 4 bytes, for links between values and for storing elsewhere.
///
/// [`Slot::leak`](super::Slot::leak) gives a value to its slab and returns its key; the slab finds it again by `reclaim` and
/// `with`. A key names a *cell*, the memory of one value: it finds the value that was leaked there last. It never finds a value
/// that has a slot, so keys are safe. [`StampedKey`] finds one value only.
///
/// ```
/// use dwell::slab::{Key, Slab};
///
/// let slab = Slab::new();
/// let key = slab.insert("kept").leak();
/// assert_eq!(slab.reclaim(key).as_deref(), Some(&"kept"));
/// assert!(slab.reclaim(key).is_none());
/// assert!(slab.reclaim(Key::NONE).is_none());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)] // 4 bytes, as documented
pub struct Key(u32);

impl Key {
    /// A key that no value has.
    pub const NONE: Self = Self(u32::MAX);

    /// There are keys for this many cells.
    pub(super) const LIMIT: usize = u32::MAX as usize;

    /// The key of the cell at this position.
    ///
    /// # Panics
    ///
    /// When it is not less than `LIMIT`.
    pub(super) fn at(position: usize) -> Self {
        assert!(position < Self::LIMIT);
        Self(u32::try_from(position).expect("LIMIT is u32::MAX"))
    }

    /// The keys that `next` finds, which is given the position behind the last.
    pub(super) fn each(next: impl Fn(usize) -> Option<Self>) -> impl Iterator<Item = Self> {
        let mut from = 0;
        core::iter::from_fn(move || next(from).inspect(|key| from = key.0 as usize + 1))
    }

    pub(super) fn position(self) -> Option<usize> {
        self.is_some().then_some(self.0 as usize)
    }

    /// The number of the cell. Small: cells are numbered block by block from 0.
    pub const fn index(self) -> u32 {
        self.0
    }

    /// The key as a number, to be stored.
    pub const fn into_raw(self) -> u32 {
        self.0
    }

    /// The key with this number. Any number is allowed: a number that no value of the slab has finds nothing.
    pub const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// Whether this is [`NONE`](Self::NONE).
    pub const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }

    /// Whether this is not [`NONE`](Self::NONE).
    pub const fn is_some(self) -> bool {
        !self.is_none()
    }
}

impl Default for Key {
    /// [`NONE`](Self::NONE).
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() { f.write_str("Key::NONE") } else { f.debug_tuple("Key").field(&self.0).finish() }
    }
}

/// A key that does not find a later value in the same cell. It has 8 bytes.
///
/// [`Slot::leak_stamped`](super::Slot::leak_stamped) makes one. Inserts and drops are as fast as without; a block
/// with stamped keys has a table of 4 bytes for each of its cells. Stamps repeat after 2^32 leaks in one slab.
///
/// ```
/// use dwell::slab::Slab;
///
/// let slab = Slab::new();
/// let old = slab.insert(1).leak_stamped();
/// drop(slab.reclaim_stamped(old));
/// let new = slab.insert(2).leak_stamped();
/// assert_eq!(old.key(), new.key()); // the same cell
/// assert!(slab.reclaim_stamped(old).is_none());
/// assert_eq!(slab.reclaim_stamped(new).as_deref(), Some(&2));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StampedKey {
    key: Key,
    stamp: u32,
}

impl StampedKey {
    pub(super) fn new(key: Key, stamp: u32) -> Self {
        Self { key, stamp }
    }

    /// The cell.
    pub const fn key(self) -> Key {
        self.key
    }

    pub(super) fn stamp(self) -> u32 {
        self.stamp
    }

    /// The key as a number, to be stored.
    pub const fn into_raw(self) -> u64 {
        (self.stamp as u64) << 32 | self.key.0 as u64
    }

    /// The key with this number. Any number is allowed: a number that no value of the slab has finds nothing.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub const fn from_raw(raw: u64) -> Self {
        Self { key: Key(raw as u32), stamp: (raw >> 32) as u32 }
    }
}
