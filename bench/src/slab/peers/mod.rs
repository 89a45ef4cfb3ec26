//! The subjects, each in a file.

pub(super) mod bare;
pub(super) mod by_key;
pub(super) mod dwell;
pub(super) mod heap;
pub(super) mod nexus;
pub(super) mod nexus_macro;
pub(super) mod plurality;
pub(super) mod sharded;
