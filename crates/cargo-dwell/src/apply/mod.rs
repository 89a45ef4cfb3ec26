//! `cargo dwell apply`: makes the change that a report proposes, compiles it, runs the tests, and measures.
//!
//! All work is done in a copy of the workspace (`tree`). The definition is edited on the syntax tree (`definition`), and the uses
//! are repaired by what rustc says (`repair`). The user's files are written at the end (`write`), if it compiles, if the tests
//! have the same outcomes as before, and if it pays. `docs/apply.md` describes the rules.

mod advise;
mod allocator;
mod api;
mod args;
mod boxes;
mod builds;
mod capacity;
mod cargo;
mod cfg;
mod check;
mod complete;
mod condition;
mod definition;
mod documents;
mod edit;
mod effects;
mod everywhere;
mod folder;
mod format;
mod git;
mod identity;
mod imports;
mod library;
mod lints;
mod local;
mod moves;
mod narrow;
mod outcomes;
mod package;
mod patched;
mod proof;
mod repair;
mod run;
mod session;
mod shared;
mod shrink;
mod syntax;
mod tree;
mod trial;
mod types;
mod unbuilt;
mod variants;
mod weigh;
mod write;

pub use advise::Advise;
pub use args::Apply;
pub use trial::{Limits, Together, Trial, trials};
