//! Rust types for JSON data: inferred, written as source, and with the memory that they take.
//!
//! ```
//! use dwell_shape::{generate, plan::Set, style::Style};
//!
//! # let dir = std::env::temp_dir().join(format!("dwell-shape-{}", std::process::id()));
//! # std::fs::create_dir_all(&dir)?;
//! let data = dir.join("user.json");
//! std::fs::write(&data, r#"{"name": "Ann", "age": 41}"#)?;
//! let source = generate(&[data], Set::Std, &[], Style { root: "User".into(), ..Style::default() })?;
//! assert!(source.contains("pub struct User {"));
//! # std::fs::remove_dir_all(dir)?;
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! [`run`] is the command `cargo dwell shape`, and the program `dwell-shape` only that.
//!
//! # Where things are
//!
//! A document goes through these modules in this order; [`schema`] is the interface between the two halves.
//!
//! | module | what it does |
//! |---|---|
//! | [`input`] | finds files, splits and reads them, in threads; `other.rs` makes other formats JSON, `roots.rs` knows which type a file has |
//! | [`infer`] | `visit.rs` reads a value into `arena/`, which merges all values at a position; `decide.rs` decides whether these are a record or a map, `study.rs` finds the tags that **a union** may have, and its own `judge.rs` decides (`types/tags.rs` makes one of all its positions, `markers.rs` finds those without a tag), `text.rs` enums of strings; `build.rs` makes the [`schema`] |
//! | [`overrides`] | `--set` and `dwell.toml`: decisions of the user; [`decisions`] those of a run; [`declared`] those of a JSON Schema |
//! | [`schema`] | types with the counts of the data: [`Record`](schema::Record), [`Union`](schema::Union), [`Slot`](schema::Slot) |
//! | [`plan`] | the naive and the lean types ([`lean`]), their bytes ([`model`], [`types`]), and suggestions ([`advice`]) |
//! | [`rust`] | writes types as source; `json_schema.rs` as a JSON Schema |
//! | [`report`] | **report formats**: text, Markdown, JSON; [`html`] the page |
//!
//! [`against`] holds the user's own types against the data, [`held_out`] tests the inferred ones on documents that it did not
//! see (`loading.rs` has the rules by which a document loads), [`judge`] the decisions that a part of the documents changes, and
//! [`part`] stores counts between runs.

// Its `println!` and `eprintln!` take the place of those of std, which panic if nobody reads.
#[macro_use]
extern crate dwell_output;

pub mod advice;
pub mod against;
mod args;
mod borrow;
mod command;
pub mod decisions;
pub mod declared;
pub mod formats;
pub mod held_out;
pub mod html;
pub mod infer;
pub mod input;
mod json_schema;
pub mod judge;
pub mod lean;
mod loading;
pub mod model;
pub mod names;
mod open;
pub mod overrides;
pub mod part;
pub mod plan;
pub mod positions;
mod prose;
pub mod report;
pub mod rust;
pub mod sample;
pub mod schema;
pub mod style;
pub mod types;
pub mod value;

pub use args::{ShapeArgs, TextType, UnknownKeys};
pub use command::{generate, run};
