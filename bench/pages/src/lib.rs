//! The code blocks of the README and of the book are tests: `cargo test -p dwell-pages`. A page without code of Rust is not here.

#![cfg(doctest)]

#[doc = include_str!("../../../README.md")]
mod readme {}
#[doc = include_str!("../../../docs/in-ci.md")]
mod in_ci {}
#[doc = include_str!("../../../docs/moving.md")]
mod moving {}
#[doc = include_str!("../../../docs/how-to/arenas.md")]
mod arenas {}
#[doc = include_str!("../../../docs/how-to/boxes.md")]
mod boxes {}
#[doc = include_str!("../../../docs/how-to/futures.md")]
mod futures {}
#[doc = include_str!("../../../docs/how-to/slabs.md")]
mod slabs {}
#[doc = include_str!("../../../docs/how-to/sparse.md")]
mod sparse {}
#[doc = include_str!("../../../docs/how-to/weigh.md")]
mod weigh {}
