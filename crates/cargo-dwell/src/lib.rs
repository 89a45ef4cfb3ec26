//! The commands of `cargo dwell`: their arguments, what they do in which order, and their reports.
//!
//! | command | where | uses |
//! |---|---|---|
//! | `shape` | the crate `dwell-shape` | |
//! | `layout`, `futures`, `dyn` | `layout/`, `futures/`, `dyn_traits/`, and `inspect.rs` for what they share: builds, `sizes/` (budgets, `--save`, `--diff`) | `dwell-debuginfo` |
//! | `stack` | `stack/` | `dwell-debuginfo` |
//! | `census` | `census/` | `dwell-heap` |
//! | `allocs` | `allocs/`, with a file for each suggestion in `suggest/`; `allocators.rs` runs the program again under mimalloc | `dwell-heap`, `dwell-calibrate` |
//! | `check` | `check/`: runs `census` and `allocs`, and compares with budgets and a base | |
//! | `apply` | `apply/`, with a file for each **repair rule** in `repair/` | `dwell-source` |
//!
//! `cli.rs` lists the commands. `program/` finds or builds the executable that a command reads. **Report formats** of a census
//! are in `report/`, a file for each, and a line in `FORMATS` of `report/files.rs` for those that write a file. What reports
//! of all commands share is in `dwell-output`. **Decoders** and findings are in `dwell-heap`, **JSON unions** in `dwell-shape`.

#![allow(unreachable_pub, reason = "a program: its root exports the command line, and the rest only to tests")]

// Its `println!` and `eprintln!` take the place of those of std, which panic if nobody reads.
#[macro_use]
extern crate dwell_output;

mod about;
mod allocators;
mod allocs;
mod apply;
mod census;
mod check;
mod cli;
mod config;
mod dyn_traits;
mod exists;
mod function_names;
mod futures;
mod inspect;
mod layout;
mod pprof;
mod processes;
mod program;
mod rank;
mod report;
mod settings;
mod sizes;
mod stack;

pub use cli::Cli;

/// The rows of the reports as JSON, and what the project's own measurements run.
pub mod parts {
    #[doc(inline)]
    pub use crate::apply::{Limits, Together, Trial, trials};
    pub use crate::dyn_traits::json as dyn_json;
    pub use crate::layout::json as layout_json;
}
