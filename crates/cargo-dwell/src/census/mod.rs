//! `cargo dwell census`: the live heap of a program, by type and by field.

mod args;
pub mod output;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod outside;

pub use args::Census;
