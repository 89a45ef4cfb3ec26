//! `cargo dwell shape`: how a corpus of JSON should live in Rust.

pub mod schema;
