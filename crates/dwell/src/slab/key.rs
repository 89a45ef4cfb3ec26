//! Keys of values that were leaked into their slab.

use core::fmt;

/// A 4-byte key of a leaked value, for links between values and for storage elsewhere.
///
/// [`Slot::leak`](super::Slot::leak) gives a value to its slab and returns the key, by which the slab's methods
/// `reclaim` and `with` find the value. A key identifies a *cell*, the memory for one value, and finds the value that
/// was leaked there last. It never finds a value that a slot owns, so keys are safe. A [`StampedKey`] finds one value
/// only.
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

    /// The number of keys, and so the maximum number of cells.
    pub(super) const LIMIT: usize = u32::MAX as usize;

    /// Returns the key of the cell at this position.
    ///
    /// # Panics
    ///
    /// When the position is not less than `LIMIT`.
    #[inline]
    pub(super) fn at(position: usize) -> Self {
        assert!(position < Self::LIMIT);
        Self(u32::try_from(position).expect("LIMIT is u32::MAX"))
    }

    /// Returns an iterator over the keys that `next` finds. `next` gets the position after that of the previous key, at
    /// first 0.
    pub(super) fn each(next: impl Fn(usize) -> Option<Self>) -> impl Iterator<Item = Self> {
        let mut from = 0;
        core::iter::from_fn(move || next(from).inspect(|key| from = key.0 as usize + 1))
    }

    pub(super) fn position(self) -> Option<usize> {
        self.is_some().then_some(self.0 as usize)
    }

    /// Returns the number of the cell. Cells are numbered block by block.
    ///
    /// The numbers of a slab that only grows, by inserts, begin at 0 and have no gaps. `with_capacity`, `reserve`,
    /// `chunk_capacity` and `shrink_to_fit` may leave gaps, each of up to the cells of a block of 64 KiB.
    pub const fn index(self) -> u32 {
        self.0
    }

    /// Converts the key to a number, for storage.
    pub const fn into_raw(self) -> u32 {
        self.0
    }

    /// Creates a key from a number. Any number is allowed: if no leaked value has it, the key finds nothing.
    pub const fn from_raw(raw: u32) -> Self {
        Self(raw)
    }

    /// Returns whether this is [`NONE`](Self::NONE).
    pub const fn is_none(self) -> bool {
        self.0 == u32::MAX
    }

    /// Returns whether this is not [`NONE`](Self::NONE).
    pub const fn is_some(self) -> bool {
        !self.is_none()
    }
}

impl Default for Key {
    /// Returns [`NONE`](Self::NONE).
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() { f.write_str("Key::NONE") } else { f.debug_tuple("Key").field(&self.0).finish() }
    }
}

/// An 8-byte key that finds one value and no later value in the same cell.
///
/// [`Slot::leak_stamped`](super::Slot::leak_stamped) returns one. Inserts and drops are as fast as without stamps. A
/// block with stamped keys has a table of 4 bytes for each of its cells. Stamps repeat after 2^32 stamped leaks in one
/// slab.
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

    /// Returns the key of the cell, without the stamp.
    pub const fn key(self) -> Key {
        self.key
    }

    pub(super) fn stamp(self) -> u32 {
        self.stamp
    }

    /// Converts the key to a number, for storage.
    pub const fn into_raw(self) -> u64 {
        (self.stamp as u64) << 32 | self.key.0 as u64
    }

    /// Creates a key from a number. Any number is allowed: if no leaked value has it, the key finds nothing.
    #[expect(clippy::cast_possible_truncation, reason = "splits the number into key and stamp")]
    pub const fn from_raw(raw: u64) -> Self {
        Self { key: Key(raw as u32), stamp: (raw >> 32) as u32 }
    }
}
