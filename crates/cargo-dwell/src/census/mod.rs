//! `cargo dwell census`: the live heap of a program, by type and by field.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub mod agent;
mod alternatives;
mod args;
mod crate_types;
mod diff;
mod export;
mod fields;
mod findings;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod hooks;
mod html;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod image;
pub mod json;
mod once;
pub mod output;
mod owners;
mod pieces;
mod report;
pub mod run;
mod saved;
pub mod snapshot;
mod std_types;
mod summary;
mod texts;
mod types;
mod walk;

pub use args::Census;
