//! The set of addresses of the shared blocks that a walk has visited.

use std_alloc::vec;
use std_alloc::vec::Vec;

/// A set of addresses with open addressing, at most half full.
///
/// The value 0 marks a free slot; no block has the address 0.
#[derive(Debug, Default)]
pub(super) struct Seen {
    slots: Vec<usize>,
    len: usize,
}

impl Seen {
    /// Inserts an address and returns whether it is new.
    pub(super) fn insert(&mut self, address: usize) -> bool {
        if self.slots.len() <= self.len * 2 {
            self.grow();
        }
        let Some(slot) = self.free(address) else { return false };
        self.slots[slot] = address;
        self.len += 1;
        true
    }

    pub(super) fn contains(&self, address: usize) -> bool {
        !self.slots.is_empty() && self.free(address).is_none()
    }

    /// Returns the slot for an address that is not in the set, or `None` if it is.
    fn free(&self, address: usize) -> Option<usize> {
        let mask = self.slots.len() - 1;
        // The multiplication mixes all bits into the high ones, so the slot is computed from these.
        let mixed = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let mut slot = mixed as usize & mask;
        loop {
            match self.slots[slot] {
                0 => return Some(slot),
                found if found == address => return None,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        let old = core::mem::take(&mut self.slots);
        self.slots = vec![0; (old.len() * 2).max(16)];
        for address in old {
            if address != 0
                && let Some(slot) = self.free(address)
            {
                self.slots[slot] = address;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_inserted_once() {
        let mut seen = Seen::default();
        assert!(!seen.contains(16));
        for address in (1..=if cfg!(miri) { 100 } else { 1000 }).map(|n| n * 16) {
            assert!(seen.insert(address));
            assert!(!seen.insert(address));
            assert!(seen.contains(address));
        }
        assert!(!seen.contains(8));
        assert!(seen.contains(16));
    }
}
