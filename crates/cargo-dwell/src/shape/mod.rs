//! `cargo dwell shape`: how a corpus of JSON should live in Rust.

pub mod advice;
pub mod lean;
pub mod model;
pub mod names;
pub mod places;
pub mod plan;
pub mod report;
pub mod rust;
pub mod schema;
pub mod types;
pub mod units;
