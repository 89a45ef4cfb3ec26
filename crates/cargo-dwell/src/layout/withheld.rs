//! Why a change is not shown. Each change that saves enough is shown or withheld with its reason.

use dwell_output::units::count;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind of reason for which the report does not show a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// An attribute allows the lint that asks for the change.
    Allow,
    /// A comment `// dwell: keep, reason` declines changes of the type.
    Keep,
    /// The type is `Copy`, which a box would end.
    Copy,
    /// The program has no allocator.
    NoAlloc,
    /// A macro declares the type.
    Generated,
    /// Nothing shows that there are many values.
    #[default]
    Few,
    /// What the box would hold may be in most values.
    Common,
    /// A queue passes its values on, so each would be an allocation.
    Queue,
    /// The box saves memory only if few values need it, or saves little.
    Little,
    /// Another change saves the same bytes.
    Covered,
    /// The census has other numbers.
    Census,
}

impl Reason {
    /// Returns the reason after a number of changes: ``2 by `allow` ``.
    fn text(self) -> &'static str {
        match self {
            Self::Allow => "by `allow`",
            Self::Keep => "by `dwell: keep`",
            Self::Copy => "of a `Copy` type",
            Self::NoAlloc => "without an allocator",
            Self::Generated => "of a macro's type",
            Self::Few => "with few values",
            Self::Common => "for what most values may be",
            Self::Queue => "in a hot queue",
            Self::Little => "that would rarely pay",
            Self::Covered => "whose bytes another change saves",
            Self::Census => "by the census",
        }
    }
}

/// Why a change is not shown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Withheld {
    /// The kind of the reason.
    pub reason: Reason,
    /// The reason.
    pub why: String,
}

impl Withheld {
    pub(super) fn new(reason: Reason, why: impl Into<String>) -> Self {
        Self { reason, why: why.into() }
    }
}

/// Counts reasons: ``3 withheld: 2 by `allow`, 1 in a hot queue``.
pub(super) fn summary(reasons: impl Iterator<Item = Reason>) -> Option<String> {
    let mut counts: BTreeMap<Reason, u64> = BTreeMap::new();
    for reason in reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let all: u64 = counts.values().sum();
    let parts: Vec<String> =
        counts.iter().map(|(reason, number)| format!("{} {}", count(*number), reason.text())).collect();
    (all > 0).then(|| format!("{} withheld: {}", count(all), parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted() {
        let all = [Reason::Queue, Reason::Allow, Reason::Allow];
        assert_eq!(summary(all.into_iter()).as_deref(), Some("3 withheld: 2 by `allow`, 1 in a hot queue"));
        assert_eq!(summary(std::iter::empty()), None);
    }
}
