//! A finding as JSON. `docs/json-output.md` names the fields.

use crate::Edit;
use dwell_model::Change;
use serde::{Deserialize, Serialize};

/// A suggested change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// `leak`, `box`, `sparse`, `exact`, `thin`, `sorted`, `variant`, `reorder`, `niche`, `narrow`, `padding`, `empty`,
    /// `shrink`, `growth`, `short`, `intern`, `duplicate`, `slab`, `rounding`, `inline`, `unshared`, `pinned`,
    /// `nodes`, `constant`, `idle`, `finished` or `future`.
    pub kind: String,
    /// The field, variant or type.
    #[serde(rename = "where")]
    pub location: String,
    /// The fields, if there are several.
    pub fields: Vec<String>,
    /// The number of values that the change concerns.
    pub count: u64,
    /// Their present bytes, inline and in blocks.
    pub bytes: u64,
    /// The number of bytes that this change saves after the findings before it.
    pub saves: u64,
    /// The number of bytes that it saves if it is the only change, where that is another number: findings before it may have
    /// made the same values smaller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves_alone: Option<u64>,
    /// The bytes of RSS that it saves, if that can be said; 0: it frees no page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss: Option<u64>,
    /// Other costs.
    pub costs: String,
    /// The reason.
    pub why: String,
    /// The suggested type or change.
    pub how: String,
    /// Whether the savings are exact, and not an estimate.
    pub exact: bool,
    /// The call site that allocated most of the bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The crate that declares the field, if it is not a crate of the workspace. Its author can make the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependency: Option<String>,
    /// Whether the saved bytes are the allocator's own, which are not counted as live.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_allocator: bool,
    /// The changes of the source, if they were found there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
    /// Other changes of the same values: make this one or one of these. Their savings are not added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Finding>,
    /// What is changed, by its index in the model.
    #[serde(skip)]
    pub targets: Vec<Target>,
    /// In an alternative, the fields whose findings it replaces. `saves` is its saving instead of theirs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead_of: Vec<String>,
}

impl Finding {
    /// Sets the bytes that it saves if it is the only change.
    #[must_use]
    pub fn alone(mut self, bytes: u64) -> Self {
        self.saves_alone = (bytes != self.saves).then_some(bytes);
        self
    }
}

/// A thing that a finding changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// A site of the model, and the change of its type if the search found it.
    Site(usize, Option<Change>),
    /// A variant of an enum, of which the fields are boxed.
    Variant(usize, usize),
    /// An integer of a site, and its new type.
    Scalar(usize, String),
}
