//! How much more than at the base counts as growth: of everything, and of names in `dwell.toml`.

use super::costs::{Costs, Held, Span, TOTALS};
use super::row::Unit;
use crate::config::Limit;
use crate::exists::exists;
use crate::function_names::{ends_with, plain};
use dwell_debuginfo::Program;
use std::collections::BTreeMap;
use std::path::Path;

/// The number of bytes for which a block counts.
const BLOCK: u64 = 64;

/// The least growth of a number that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// The part of what there was before.
    share: f64,
    bytes: u64,
    blocks: u64,
}

impl Least {
    pub(super) fn new(share: f64, bytes: u64) -> Self {
        Self { share, bytes, blocks: bytes / BLOCK }
    }

    /// Returns whether that many more bytes are more than the least.
    #[expect(clippy::cast_precision_loss, reason = "a share of a number")]
    pub(super) fn counts(self, more: u64, before: Span) -> bool {
        more > self.bytes && more as f64 > before.most as f64 * self.share
    }

    /// Returns how much a number grew, if that is more than the least and than what differs between equal runs.
    pub(super) fn growth(self, before: Span, after: Span, unit: Unit) -> Option<u64> {
        let grown = after.least.checked_sub(before.most).filter(|grown| *grown > 0)?;
        let floor = if unit == Unit::Bytes { self.bytes } else { self.blocks };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a share of a number"
        )]
        let share = (before.most as f64 * self.share) as u64;
        (grown > floor.max(share) + before.noise() + after.noise()).then_some(grown)
    }
}

/// What counts as growth in a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<'a> {
    pub(super) default: Least,
    /// By the name of a total, an owner, a type or a function.
    pub(super) named: &'a BTreeMap<String, Limit>,
}

impl Limits<'_> {
    /// Returns the limit of a total, an owner, a type or a function.
    pub(super) fn least(&self, name: &str) -> Least {
        let found = self.named.iter().find(|(wanted, _)| is(name, wanted));
        found.map_or(self.default, |(_, limit)| match *limit {
            Limit::Share(share) => Least { share, bytes: 0, blocks: 0 },
            Limit::Number(number) => Least { share: 0.0, bytes: number, blocks: number },
        })
    }

    /// Returns a name that none of the runs has, with those that they have.
    pub(super) fn unknown<'c>(
        &self,
        costs: &[&'c Costs],
        program: (&Program, &Path),
        root: &Path,
    ) -> Option<(&str, Vec<&'c str>)> {
        let held = |costs: &'c Costs| costs.owners.iter().chain(&costs.leaks).chain(&costs.left);
        let names = |costs: &'c Costs| {
            let owners = held(costs).flat_map(|held: &Held| [&*held.owner, &*held.element]);
            owners.chain(costs.places.iter().map(|place| &*place.function))
        };
        let all: Vec<&str> =
            costs.iter().copied().flat_map(names).chain(TOTALS.iter().map(|(what, ..)| *what)).collect();
        let has = |wanted: &str| all.iter().any(|name| is(name, wanted)) || exists(program.0, program.1, wanted, root);
        let wanted = self.named.keys().find(|wanted| !has(wanted))?;
        Some((wanted, all))
    }
}

/// Returns whether a name is the wanted one: a path's last parts, also of the elements or keys of a field.
fn is(name: &str, wanted: &str) -> bool {
    let field = name.split(' ').next().unwrap_or(name);
    ends_with(name, wanted) || ends_with(field, wanted) || ends_with(&plain(name), &plain(wanted))
}
