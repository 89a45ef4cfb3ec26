//! The source of the user's workspace: declarations that debug info does not place, and edits.

mod edit;
mod fields;
mod growth;
mod items;

pub use edit::Edit;
pub(crate) use items::{Item, Items};
