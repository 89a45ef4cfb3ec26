//! The types, owners and lengths of the blocks of a captured heap.
//!
//! `walk` is the core: a queue of blocks, their owners, the counts, and the uses of types that it meets. `decode` has a
//! file for each family of types. `summary` makes rows of the result.

#![expect(clippy::similar_names, reason = "`site` and `size` are used together")]

pub(crate) mod ages;
pub(crate) mod decode;
mod dominators;
mod keys;
pub mod names;
pub(crate) mod paths;
pub(crate) mod resident;
pub(crate) mod retained;
pub(crate) mod rows;
pub(crate) mod summary;
mod texts;
pub(crate) mod walk;
