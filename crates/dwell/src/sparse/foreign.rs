//! `IsEmpty`, and defaults to lend, for the types of other crates.
