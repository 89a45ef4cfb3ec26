//! An edit of the source, as JSON. `docs/json-output.md` names the fields.

use serde::{Deserialize, Serialize};

/// A text to replace in the source, so that a value lives elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Edit {
    /// The file, relative to the workspace's root.
    pub file: String,
    /// The line with the field, variant or expression, from 1.
    pub line: u32,
    /// The field or variant with its type: `Message::File`, `Entry.details`. If it is the same as `from`, the type is
    /// replaced wherever the package names it.
    pub item: String,
    /// The text in the source, if the line has it.
    pub from: String,
    /// The text to write instead; empty if the fields must first become a struct.
    pub to: String,
}
