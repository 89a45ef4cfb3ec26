//! `cargo dwell shape`: how a corpus of JSON should live in Rust.

pub mod schema;

pub mod lean;
pub mod model;
pub mod names;
pub mod places;
pub mod rust;
pub mod types;
pub mod units;
