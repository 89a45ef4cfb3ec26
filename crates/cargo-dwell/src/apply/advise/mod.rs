//! `cargo dwell advise`: tries the changes that the reports propose, one by one in a copy, and prints what held.
//!
//! The copy, the edits, the repairs and the tests are those of `cargo dwell apply`; the user's files are not written. A try ends in
//! one of the states of [`answer::Ended`].

mod answer;
mod args;
mod branch;
mod candidates;
mod costs;
mod record;
mod resume;
mod tries;

pub use args::Advise;
