//! `cargo dwell census`: the live heap of a program, by type and by field.

mod args;
mod follow;
pub mod output;
#[cfg(agent)]
pub mod outside;

pub use args::Census;
