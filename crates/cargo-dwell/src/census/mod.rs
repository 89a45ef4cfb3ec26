//! `cargo dwell census`: the live heap of a program, by type and by field.

pub mod snapshot;
