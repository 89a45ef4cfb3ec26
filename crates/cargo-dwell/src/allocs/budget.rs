//! Budgets of allocations, from the command line and from `dwell.toml`.

use super::document::Document;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use dwell_output::units::count;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
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

/// The contents of `dwell.toml`. Budgets of sizes are for other commands.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct Config {
    max_allocs: Option<u64>,
    max_allocs_per: BTreeMap<String, u64>,
    #[serde(rename = "max-size")]
    _max_size: Option<IgnoredAny>,
    #[serde(rename = "max-future")]
    _max_future: Option<IgnoredAny>,
}

impl Config {
    fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            anyhow!("{}{line}: {what}; correct this line", file.display())
        })
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
        per.extend(configured.filter(|of| !self.max_allocs_per.iter().any(|asked| asked.name == of.name)));
        Ok(Budgets { total: self.max_allocs.or(config.max_allocs), per })
    }
}

/// Returns `true` if a name is another one's last parts.
fn fits(text: &str, name: &str) -> bool {
    text == name || text.strip_suffix(name).is_some_and(|start| start.ends_with("::"))
}

impl Budgets {
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
            let (blocks, at) = taken(document, &budget.name);
            if blocks > budget.most {
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

/// Returns the blocks of a function, with all that it calls, or else of a type, and the place that takes most of them.
fn taken(document: &Document, name: &str) -> (u64, String) {
    let function = |frame: &str| frame.rsplit_once(" (").map_or_else(|| frame.to_owned(), |(name, _)| name.to_owned());
    let is_named: Vec<bool> = document.frames.iter().map(|frame| fits(&function(frame), name)).collect();
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
        let at = at.map_or_else(String::new, |at| format!(", most of them in {at}"));
        return (stacks.iter().map(|stack| stack.blocks).sum(), at);
    }
    let rows: Vec<_> = document.rows.iter().filter(|row| fits(&row.what, name)).collect();
    let most = rows.iter().max_by_key(|row| row.counts.allocations).and_then(|row| row.places.first()?.at.clone());
    let at = most.map_or_else(String::new, |at| format!(", most of them at {at}"));
    (rows.iter().map(|row| row.counts.allocations + row.counts.reallocations).sum(), at)
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
        assert_eq!(taken(&document, "parse"), (20, ", most of them in app::parse (src/main.rs:3)".into()));
        assert_eq!(taken(&document, "app::main").0, 35);
        assert_eq!(taken(&document, "Box<Node>").0, 35);
        assert_eq!(taken(&document, "arse").0, 0);
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
    fn wrong_budgets_are_explained_in_a_line() {
        for wrong in ["parse", "=3", "parse=", "parse=-1", "parse=many"] {
            assert!(!wrong.parse::<Budget>().unwrap_err().contains('\n'), "{wrong}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dwell.toml");
        std::fs::write(&file, "max-future = 3\nmax-allocs = -1\n").unwrap();
        let error = Config::read(&file).unwrap_err().to_string();
        assert!(error.contains("dwell.toml:2: invalid value") && !error.contains('\n'), "{error}");
        std::fs::write(&file, "max-allocs = 9\n[max-allocs-per]\nparse = 0\n[max-size]\nA = 3\n").unwrap();
        let args = BudgetArgs { max_allocs_per: vec!["parse=7".parse().unwrap()], ..BudgetArgs::default() };
        let budgets = args.budgets(Some(&file)).unwrap();
        assert_eq!((budgets.total, budgets.per.len(), budgets.per[0].most), (Some(9), 1, 7));
    }
}
