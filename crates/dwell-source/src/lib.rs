//! The source of the user's workspace: declarations that debug info does not place, and edits.

mod edit;
mod fields;
mod finding;
mod growth;
mod items;

pub use edit::Edit;
pub use finding::{Finding, Target};
pub use items::{Item, Items};
