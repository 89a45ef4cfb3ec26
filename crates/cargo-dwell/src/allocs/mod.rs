//! `cargo dwell allocs`: what the allocator costs a program, by type and call site, and what each change would save.

mod again;
mod args;
mod budget;
mod build;
mod calls;
mod diff;
pub mod document;
mod folded;
mod html;
#[cfg(agent)]
mod live;
mod model;
mod output;
mod places;
mod pprof;
mod sites;
mod suggest;
mod text;

pub use args::Allocs;
pub(crate) use budget::{Taken, taken};
pub(crate) use build::{Scope, document};
