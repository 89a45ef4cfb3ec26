//! `cargo dwell census`: the live heap of a program, by type and by field.

pub mod agent;
mod args;
mod hooks;
mod image;
pub mod run;
pub mod snapshot;

pub use args::Census;
