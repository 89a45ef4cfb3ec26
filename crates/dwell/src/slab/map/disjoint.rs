//! References to several values of a [`SlabMap`] at once.

use super::{Entry, SlabMap};
use core::fmt;

/// The error of [`SlabMap::get_disjoint_mut`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetDisjointMutError {
    /// A key has no value.
    IndexVacant,
    /// A key is out of bounds: the map has no entry for it.
    IndexOutOfBounds,
    /// Two keys are equal.
    OverlappingIndices,
}

impl fmt::Display for GetDisjointMutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IndexVacant => "a key has no value",
            Self::IndexOutOfBounds => "a key is out of bounds",
            Self::OverlappingIndices => "two keys are equal",
        })
    }
}

impl core::error::Error for GetDisjointMutError {}

impl<T> SlabMap<T> {
    /// Returns mutable references to the values of two keys, if both have one.
    ///
    /// # Panics
    ///
    /// When the keys are equal.
    pub fn get2_mut(&mut self, key1: usize, key2: usize) -> Option<(&mut T, &mut T)> {
        assert!(key1 != key2, "the keys are equal");
        self.get_disjoint_mut([key1, key2]).ok().map(|[first, second]| (first, second))
    }

    /// Returns mutable references to the values of several keys.
    ///
    /// ```
    /// use dwell::slab::SlabMap;
    ///
    /// let mut map: SlabMap<u8> = [(0, 1), (1, 2)].into_iter().collect();
    /// let [a, b] = map.get_disjoint_mut([0, 1]).unwrap();
    /// std::mem::swap(a, b);
    /// assert_eq!((map[0], map[1]), (2, 1));
    /// ```
    ///
    /// # Errors
    ///
    /// When two keys are equal or a key has no value.
    #[expect(clippy::missing_panics_doc, reason = "the keys are checked before")]
    pub fn get_disjoint_mut<const N: usize>(&mut self, keys: [usize; N]) -> Result<[&mut T; N], GetDisjointMutError> {
        // In the order of the crate slab: first whether the keys differ, then each key.
        if keys.iter().enumerate().any(|(index, key)| keys[..index].contains(key)) {
            return Err(GetDisjointMutError::OverlappingIndices);
        }
        for key in keys {
            match self.entries.get(key) {
                Some(Entry::Occupied(_)) => {}
                Some(Entry::Vacant(_)) => return Err(GetDisjointMutError::IndexVacant),
                None => return Err(GetDisjointMutError::IndexOutOfBounds),
            }
        }
        let entries = self.entries.get_disjoint_mut(keys).expect("the keys differ and are in bounds");
        Ok(entries.map(|entry| entry.value_mut().expect("each entry was seen to be occupied")))
    }

    /// Returns mutable references to the values of two keys that are known to be in bounds.
    ///
    /// # Safety
    ///
    /// Both keys are in bounds, as [`get_unchecked`](Self::get_unchecked) requires, and they are not equal.
    ///
    /// # Panics
    ///
    /// When a key has no value.
    pub unsafe fn get2_unchecked_mut(&mut self, key1: usize, key2: usize) -> (&mut T, &mut T) {
        debug_assert!(key1 != key2 && key1.max(key2) < self.entries.len());
        // SAFETY: only the methods that the contract names remove entries, so the entries of the values that the
        // caller refers to are there, and the keys are at most their indices. The caller guarantees that the keys differ.
        let [first, second] = unsafe { self.entries.get_disjoint_unchecked_mut([key1, key2]) };
        (first.value_mut().expect("invalid key"), second.value_mut().expect("invalid key"))
    }
}
