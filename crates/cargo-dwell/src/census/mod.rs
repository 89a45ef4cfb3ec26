//! `cargo dwell census`: the live heap of a program, by type and by field.

mod args;
pub mod output;

pub use args::Census;
