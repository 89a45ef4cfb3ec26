//! Budgets of allocations, from the command line and from `dwell.toml`.

use super::document::Document;
use crate::config::Config;
use crate::function_names::{ends_with, plain};
use anyhow::Result;
use clap::Args;
use dwell_output::nearest;
use dwell_output::units::count;
use std::path::Path;
use std::str::FromStr;

/// The arguments for budgets.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Budgets")]
pub(super) struct BudgetArgs {
    /// Fail with exit code 1 if the program allocates and reallocates more than N blocks
    #[arg(long, value_name = "N")]
    max_allocs: Option<u64>,
    /// Fail with exit code 1 if a function, with all that it calls, or a type takes more than N blocks: `parse=0`,
    /// `Box<Node>=1000`
    #[arg(long, value_name = "NAME=N")]
    max_allocs_per: Vec<Budget>,
}

/// The most blocks of a function or type.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Budget {
    name: String,
    most: u64,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A type's name may contain `=` too.
        let (name, most) = text.rsplit_once('=').ok_or("write it as NAME=N, such as `parse=0`")?;
        let most = most.trim().parse().map_err(|_| format!("`{}` must be a number", most.trim()))?;
        let name = name.trim().to_owned();
        if name.is_empty() {
            return Err("name a function or type before the `=`, such as `parse=0`".into());
        }
        Ok(Self { name, most })
    }
}

/// The budgets of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    total: Option<u64>,
    per: Vec<Budget>,
}

impl BudgetArgs {
    /// Combines the arguments with `dwell.toml`. The arguments take precedence.
    ///
    /// # Errors
    /// Returns an error if `dwell.toml` cannot be read or has unknown keys.
    pub(super) fn budgets(&self, config: Option<&Path>) -> Result<Budgets> {
        let config = config.map_or_else(|| Ok(Config::default()), Config::read)?;
        let mut per = self.max_allocs_per.clone();
        let configured = config.max_allocs_per.into_iter().map(|(name, most)| Budget { name, most });
        per.extend(configured.filter(|budget| !self.max_allocs_per.iter().any(|asked| asked.name == budget.name)));
        Ok(Budgets { total: self.max_allocs.or(config.max_allocs), per })
    }
}

impl Budgets {
    /// Returns a line for each name that no function and type of the program has. `exists` tells those that took no block.
    pub(super) fn unknown(&self, document: &Document, exists: &dyn Fn(&str) -> bool) -> Vec<String> {
        let functions = || document.frames.iter().map(|frame| frame.split(" (").next().unwrap_or(frame));
        let names = || functions().chain(document.rows.iter().map(|row| &*row.what));
        let unknown = self.per.iter().filter(|budget| !taken(document, &budget.name).is_known && !exists(&budget.name));
        let line = |budget: &Budget| {
            // The same method of another type is nearer than a name with a letter in common.
            let last = budget.name.rsplit("::").next().unwrap_or(&budget.name);
            let alike = functions().map(plain).find(|name| budget.name.contains("::") && ends_with(name, last));
            let near = match alike {
                Some(alike) => format!(
                    "; did you mean `{}`?",
                    alike.rsplitn(3, "::").take(2).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("::")
                ),
                None => nearest::suggestion(&budget.name, names()),
            };
            format!("error: the program has no function or type `{}`{near}", budget.name)
        };
        unknown.map(line).collect()
    }

    /// Returns a line for each budget that is exceeded.
    pub(super) fn exceeded(&self, document: &Document) -> Vec<String> {
        let mut lines = Vec::new();
        let total = document.total.allocations + document.total.reallocations;
        if let Some(most) = self.total.filter(|most| total > *most) {
            lines.push(format!(
                "the program takes {} blocks, {} more than its budget of {}",
                count(total),
                count(total - most),
                count(most)
            ));
        }
        for budget in &self.per {
            let Taken { blocks, at, .. } = taken(document, &budget.name);
            if blocks > budget.most {
                let at = at.map_or_else(String::new, |at| format!(", most of them in {at}"));
                lines.push(format!(
                    "`{}` takes {} blocks, {} more than its budget of {}{at}",
                    budget.name,
                    count(blocks),
                    count(blocks - budget.most),
                    count(budget.most)
                ));
            }
        }
        lines
    }
}

/// The blocks of a function, with all that it calls, or else of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) blocks: u64,
    /// Of these the reallocations.
    pub(crate) reallocations: u64,
    /// The line of the program that takes most of them.
    pub(crate) at: Option<String>,
    /// Whether the run has a function or type with the name.
    pub(crate) is_known: bool,
}

/// Returns the blocks of a function or type.
pub(crate) fn taken(document: &Document, name: &str) -> Taken {
    let wanted = plain(name);
    let function = |frame: &str| frame.rsplit_once(" (").map_or_else(|| frame.to_owned(), |(name, _)| name.to_owned());
    let is_named: Vec<bool> = document.frames.iter().map(|frame| ends_with(&function(frame), &wanted)).collect();
    if is_named.contains(&true) {
        let is_below = |frames: &[u32]| frames.iter().any(|frame| is_named.get(*frame as usize) == Some(&true));
        let stacks: Vec<_> = document.stacks.iter().filter(|stack| is_below(&stack.frames)).collect();
        let most = stacks.iter().max_by_key(|stack| stack.blocks);
        let of_program = |frame: &&String| {
            !["alloc::", "core::", "std::", "<alloc", "<core"].iter().any(|std| frame.starts_with(std))
        };
        let at = most.and_then(|stack| {
            stack
                .frames
                .iter()
                .filter_map(|frame| document.frames.get(*frame as usize))
                .filter(|frame| frame.contains(" ("))
                .find(of_program)
        });
        return Taken {
            blocks: stacks.iter().map(|stack| stack.blocks).sum(),
            reallocations: stacks.iter().map(|stack| stack.reallocations).sum(),
            at: at.cloned(),
            is_known: true,
        };
    }
    let rows: Vec<_> = document.rows.iter().filter(|row| ends_with(&row.what, name)).collect();
    let most = rows.iter().max_by_key(|row| row.counts.allocations).and_then(|row| row.places.first()?.at.clone());
    let blocks = rows.iter().map(|row| row.counts.allocations + row.counts.reallocations).sum();
    let reallocations = rows.iter().map(|row| row.counts.reallocations).sum();
    Taken { blocks, reallocations, at: most, is_known: !rows.is_empty() }
}

#[cfg(test)]
mod tests {
    use super::super::document::{Counts, Row, Stack};
    use super::*;

    fn document() -> Document {
        let counts = Counts { allocations: 30, reallocations: 5, ..Counts::default() };
        let stack = |frames: &[u32], blocks| Stack { frames: frames.to_vec(), blocks, ..Stack::default() };
        Document {
            total: counts.clone(),
            rows: vec![Row { what: "Box<Node>".into(), counts, ..Row::default() }],
            frames: ["alloc::alloc::alloc (a.rs:1)", "app::parse (src/main.rs:3)", "app::main (src/main.rs:9)"]
                .map(str::to_owned)
                .to_vec(),
            stacks: vec![stack(&[0, 1, 2], 20), stack(&[0, 2], 15)],
            ..Document::default()
        }
    }

    #[test]
    fn budgets_count_a_function_with_all_that_it_calls() {
        let document = document();
        let taken_by = |name: &str| taken(&document, name);
        assert_eq!(
            (taken_by("parse").blocks, taken_by("parse").at.as_deref()),
            (20, Some("app::parse (src/main.rs:3)"))
        );
        assert_eq!(taken_by("app::main").blocks, 35);
        assert_eq!(taken_by("parse::<u8>").blocks, 20);
        assert_eq!(taken_by("Box<Node>").blocks, 35);
        assert_eq!(taken_by("arse"), Taken::default());
    }

    #[test]
    fn exceeded_budgets_give_a_line_each() {
        let per = ["parse=19", "main=35", "Box<Node>=0"].map(|text| text.parse().unwrap()).to_vec();
        let lines = Budgets { total: Some(34), per }.exceeded(&document());
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert_eq!(lines[0], "the program takes 35 blocks, 1 more than its budget of 34");
        assert!(lines[1].starts_with("`parse` takes 20 blocks, 1 more than its budget of 19"));
    }

    #[test]
    fn names_that_nothing_has_are_told_with_the_nearest() {
        let per = ["parse=0", "Box<Node>=0", "prase=0", "Codec::parse=0", "quiet=0"]
            .map(|text| text.parse().unwrap())
            .to_vec();
        let lines = Budgets { total: None, per }.unknown(&document(), &|name| name == "quiet");
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("error: the program has no function or type `prase`"), "{lines:?}");
        assert!(lines[1].ends_with("`Codec::parse`; did you mean `app::parse`?"), "{lines:?}");
    }

    #[test]
    fn wrong_budgets_are_explained_in_a_line() {
        for wrong in ["parse", "=3", "parse=", "parse=-1", "parse=many"] {
            assert!(!wrong.parse::<Budget>().unwrap_err().contains('\n'), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dwell.toml");
        std::fs::write(&file, "max-allocs = 9\n[max-allocs-per]\nparse = 0\n[max-size]\nA = 3\n").unwrap();
        let args = BudgetArgs { max_allocs_per: vec!["parse=7".parse().unwrap()], ..BudgetArgs::default() };
        let budgets = args.budgets(Some(&file)).unwrap();
        assert_eq!((budgets.total, budgets.per.len(), budgets.per[0].most), (Some(9), 1, 7));
    }
}
