//! `cargo dwell census`: the live heap of a program, by type and by field.

mod diff;
mod export;
mod findings;
pub mod json;
pub mod output;
mod owners;
mod pieces;
mod report;
mod saved;
pub mod snapshot;
mod std_types;
mod summary;
mod texts;
mod types;
mod walk;
