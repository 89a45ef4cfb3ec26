//! [`VacantEntry`].

use super::SlabMap;
use crate::alloc::AllocError;

/// A vacant entry of a [`SlabMap`]. See [`SlabMap::vacant_entry`].
#[derive(Debug)]
pub struct VacantEntry<'a, T> {
    pub(super) map: &'a mut SlabMap<T>,
}

impl<'a, T> VacantEntry<'a, T> {
    /// Returns the key that the value will have.
    pub fn key(&self) -> usize {
        self.map.next
    }

    /// Inserts the value.
    ///
    /// # Panics
    ///
    /// When the map must grow and its capacity would exceed `isize::MAX` bytes.
    pub fn insert(self, value: T) -> &'a mut T {
        let key = self.map.insert(value);
        self.map.get_mut(key).expect("the value was just put there")
    }

    /// Like [`insert`](Self::insert), but returns the value in an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// When the map has no vacant entry and cannot grow.
    pub fn try_insert(self, value: T) -> Result<&'a mut T, AllocError<T>> {
        match self.map.try_reserve(1) {
            Ok(()) => Ok(self.insert(value)),
            Err(error) => Err(error.map(|()| value)),
        }
    }
}
