//! The subjects, each in its own file.

pub(super) mod bare;
pub(super) mod dwell;
pub(super) mod heap;
pub(super) mod nexus;
pub(super) mod nexus_macro;
pub(super) mod plurality;
pub(super) mod sharded;
pub(super) mod slab;
pub(super) mod slotmap;
