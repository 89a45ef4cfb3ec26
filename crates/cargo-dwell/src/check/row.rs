//! A budget with what was measured, or something that grew.

use dwell_output::units::{bytes, count};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::Path;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Unit {
    Bytes,
    /// Blocks of the heap: live ones, or allocations.
    Blocks,
}

/// What a number is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Budget { most: u64 },
    Growth { before: u64 },
}

/// A budget, or something that grew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// The run; empty for the sizes of types.
    pub(super) run: String,
    pub(super) what: String,
    pub(super) unit: Unit,
    pub(super) kind: Kind,
    pub(super) now: u64,
    pub(super) cause: String,
    /// The file, relative to the workspace, and the line.
    pub(super) place: Option<(String, u32)>,
}

impl Row {
    pub(super) fn has_failed(&self) -> bool {
        match self.kind {
            Kind::Budget { most } => self.now > most,
            Kind::Growth { .. } => true,
        }
    }

    /// Returns how much more there is than at the base.
    pub(super) fn growth(&self) -> u64 {
        match self.kind {
            Kind::Budget { .. } => 0,
            Kind::Growth { before } => self.now.saturating_sub(before),
        }
    }

    pub(super) fn number(&self, number: u64) -> String {
        if self.unit == Unit::Bytes { bytes(number) } else { count(number) }
    }

    /// Returns `src/main.rs:12`, or nothing.
    pub(super) fn at(&self) -> String {
        self.place.as_ref().map_or_else(String::new, |(file, line)| format!("{file}:{line}"))
    }

    pub(super) fn name(&self) -> String {
        if self.run.is_empty() { self.what.clone() } else { format!("{}: {}", self.run, self.what) }
    }

    /// Returns what happened, as a sentence.
    pub(super) fn sentence(&self) -> String {
        let because = if self.cause.is_empty() { String::new() } else { format!(" ({})", self.cause) };
        let now = self.number(self.now);
        match self.kind {
            Kind::Budget { most } => {
                format!(
                    "{} is {now}, {} more than its budget of {}{because}",
                    self.name(),
                    self.number(self.now.saturating_sub(most)),
                    self.number(most)
                )
            }
            Kind::Growth { before } => {
                format!(
                    "{} grew from {} to {now}, by {}{because}",
                    self.name(),
                    self.number(before),
                    self.number(self.growth())
                )
            }
        }
    }

    pub(super) fn json(&self) -> Value {
        let mut row = json!({ "run": self.run, "what": self.what, "unit": self.unit, "now": self.now, "failed": self.has_failed(), "cause": self.cause });
        match self.kind {
            Kind::Budget { most } => row["most"] = most.into(),
            Kind::Growth { before } => row["before"] = before.into(),
        }
        if let Some((file, line)) = &self.place {
            row["file"] = file.clone().into();
            row["line"] = (*line).into();
        }
        row
    }
}

/// Returns the file and the line of a place such as `src/main.rs:12`, of a file in the workspace.
pub(super) fn place(at: &str, root: &Path) -> Option<(String, u32)> {
    let (file, line) = at.rsplit_once(':')?;
    let line = line.parse().ok()?;
    let path = Path::new(file);
    let file = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    root.join(file).is_file().then(|| (file.display().to_string(), line))
}
