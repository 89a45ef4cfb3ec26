//! The Rust source of a workspace: the declarations of its types, and suggested changes of them.
//!
//! [`Items`] reads all files below a folder, and finds the declaration of a type by its path in the debug info: its place, its
//! fields, and what its author decided about it. An [`Edit`] is a text to replace, and a [`Finding`] a suggested change with
//! what it saves, as in the reports' JSON.
//!
//! `items.rs` has the declarations, `fields.rs` the types of their fields, and `growth.rs` the fields whose collections change
//! their length.

mod edit;
mod fields;
mod finding;
mod growth;
mod items;

pub use edit::Edit;
pub use finding::{Finding, Target};
pub use items::{Item, Items};
