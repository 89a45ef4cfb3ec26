//! The types, owners and lengths of the blocks of a captured heap.

pub(crate) mod crate_types;
mod fields;
mod once;
pub(crate) mod owners;
pub mod rows;
pub(crate) mod std_types;
pub(crate) mod summary;
mod texts;
pub(crate) mod types;
pub(crate) mod walk;
