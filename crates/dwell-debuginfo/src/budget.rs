//! Limits the memory for debug info. Damaged or hostile debug info can name a megabyte of text in one byte, and a
//! header can claim any size.

use anyhow::{Result, bail};
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes that may still be allocated.
#[derive(Debug)]
pub(super) struct Budget(AtomicU64);

impl Budget {
    /// Creates a budget of a few times the size of the files, plus a minimum for small files.
    pub(super) fn new(file_bytes: u64) -> Self {
        Self(AtomicU64::new(file_bytes.saturating_mul(4).saturating_add(16 << 20)))
    }

    /// Subtracts `bytes`.
    ///
    /// # Errors
    /// Returns an error if fewer are left.
    pub(super) fn charge(&self, bytes: u64) -> Result<()> {
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        if left.is_err() {
            bail!("the debug info is damaged: it describes more than a program of this size can have");
        }
        Ok(())
    }

    /// Adds `bytes` back.
    pub(super) fn refund(&self, bytes: u64) {
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left.saturating_add(bytes)));
    }

    /// Adds the allowance for another file.
    pub(super) fn add_file(&self, file_bytes: u64) {
        self.refund(file_bytes.saturating_mul(4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_is_enforced_and_does_not_overflow() {
        let budget = Budget::new(0);
        assert!(budget.charge(u64::MAX).is_err());
        assert!(budget.charge(16 << 20).is_ok());
        assert!(budget.charge(1).is_err());
        budget.add_file(u64::MAX);
        assert!(budget.charge(u64::MAX).is_ok());
    }
}
