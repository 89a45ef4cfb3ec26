//! The interface of the crate slab 0.4.12 over [`dwell::slab::SlabMap`].
//!
//! A program that uses slab can try dwell by one line of its `Cargo.toml`, without a change of its source:
//!
//! ```toml
//! slab = { package = "dwell-slab", version = "0.1" }
//! ```
//!
//! ```
//! use dwell_slab::Slab; // `slab::Slab` with the line above
//!
//! let mut slab = Slab::new();
//! let key = slab.insert("hello");
//! assert_eq!(slab[key], "hello");
//! ```
//!
//! `README.md` lists the differences from slab, with the reasons.
//!
//! # Features
//!
//! `std` (default) and `serde`, as in slab.

#![no_std]
#![forbid(unsafe_code)]

pub use dwell::slab::SlabMap as Slab;
pub use dwell::slab::map::{Drain, GetDisjointMutError, IntoIter, Iter, IterMut, VacantEntry};
