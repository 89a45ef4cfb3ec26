//! The types, owners and lengths of the blocks of a captured heap.
//!
//! `walk` is the core: a queue of blocks, their owners, the counts. `types` has the uses of types that it meets,
//! `owners` what call stacks show. A decoder reads the values of a type: those of `structure` by the kind of the type,
//! those in `decode/` by its path, a file for each family. `summary` makes rows of the result.

#![expect(clippy::similar_names, reason = "`site` and `size` are used together")]

mod decode;
pub(crate) mod decoder;
mod fields;
pub(crate) mod owners;
pub mod rows;
mod structure;
pub(crate) mod summary;
mod texts;
pub(crate) mod types;
pub(crate) mod walk;
