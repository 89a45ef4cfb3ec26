//! `cargo dwell census`: the live heap of a program, by type and by field.

mod args;
mod follow;
pub mod output;
#[cfg(agent)]
pub mod outside;
#[cfg(agent)]
mod watched;

pub use args::Census;
