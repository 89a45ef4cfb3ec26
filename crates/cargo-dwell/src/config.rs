//! `dwell.toml`: the budgets of a package or workspace.

use anyhow::{Context, Result, anyhow};
use dwell_output::units::parse_bytes;
use serde::Deserialize;
use serde::de::{Error, IgnoredAny, Unexpected, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// The contents of `dwell.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Config {
    /// The largest size of types.
    pub(crate) max_size: BTreeMap<String, Bytes>,
    /// The largest size of a future.
    pub(crate) max_future: Option<Bytes>,
    /// The largest stack frame of functions.
    pub(crate) max_frame: BTreeMap<String, Bytes>,
    /// The largest type behind a trait.
    pub(crate) max_dyn: BTreeMap<String, Bytes>,
    /// The most blocks that `cargo dwell allocs` may count.
    pub(crate) max_allocs: Option<u64>,
    /// The same for functions and types.
    pub(crate) max_allocs_per: BTreeMap<String, u64>,
    /// The runs of `cargo dwell check`, by name.
    pub(crate) check: BTreeMap<String, Run>,
    /// For `cargo dwell shape`.
    #[serde(rename = "shape")]
    _shape: Option<IgnoredAny>,
}

/// A program that `cargo dwell check` runs, with its budgets. Bytes are those that it requested of its allocator.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(crate) struct Run {
    /// An executable that is built already, instead of a target of a package.
    pub(crate) exe: Option<PathBuf>,
    pub(crate) package: Option<String>,
    pub(crate) bin: Option<String>,
    pub(crate) example: Option<String>,
    pub(crate) test: Option<String>,
    pub(crate) bench: Option<String>,
    pub(crate) lib: bool,
    pub(crate) features: Vec<String>,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    /// The file that standard input reads.
    pub(crate) stdin: Option<PathBuf>,
    /// Live bytes and blocks at the peak.
    pub(crate) peak_bytes: Option<Bytes>,
    pub(crate) peak_blocks: Option<u64>,
    /// Live bytes and blocks at the exit.
    pub(crate) exit_bytes: Option<Bytes>,
    pub(crate) exit_blocks: Option<u64>,
    /// Bytes at the exit that nothing reaches.
    pub(crate) leaked_bytes: Option<Bytes>,
    /// The resident memory at the peak of live bytes.
    pub(crate) rss: Option<Bytes>,
    /// Unused capacity at the peak.
    pub(crate) unused_bytes: Option<Bytes>,
    /// Live bytes and blocks at the peak by type or owner.
    pub(crate) bytes: BTreeMap<String, Bytes>,
    pub(crate) blocks: BTreeMap<String, u64>,
    /// Allocations and reallocations in all.
    pub(crate) allocs: Option<u64>,
    pub(crate) reallocs: Option<u64>,
    /// Both, of a function with all that it calls, or of a type.
    pub(crate) allocs_in: BTreeMap<String, u64>,
    /// Reallocations alone, of the same.
    pub(crate) reallocs_in: BTreeMap<String, u64>,
    /// The least growth since a base that counts, of totals, owners, types and functions.
    pub(crate) growth: BTreeMap<String, Limit>,
}

impl Run {
    /// Returns the budget of a number of the run as a whole, by its key in `dwell.toml`.
    pub(crate) fn most(&self, key: &str) -> Option<u64> {
        let (bytes, blocks) = match key {
            "peak-bytes" => (self.peak_bytes, None),
            "peak-blocks" => (None, self.peak_blocks),
            "exit-bytes" => (self.exit_bytes, None),
            "exit-blocks" => (None, self.exit_blocks),
            "leaked-bytes" => (self.leaked_bytes, None),
            "unused-bytes" => (self.unused_bytes, None),
            "rss" => (self.rss, None),
            "allocs" => (None, self.allocs),
            "reallocs" => (None, self.reallocs),
            _ => (None, None),
        };
        bytes.map(|bytes| bytes.0).or(blocks)
    }

    /// Returns `true` if a budget is about the live heap at its peak.
    pub(crate) fn needs_peak(&self) -> bool {
        let bytes = [self.peak_bytes, self.rss, self.unused_bytes];
        bytes.iter().any(Option::is_some)
            || self.peak_blocks.is_some()
            || !(self.bytes.is_empty() && self.blocks.is_empty())
    }

    /// Returns `true` if a budget is about the live heap at the exit.
    pub(crate) fn needs_exit(&self) -> bool {
        self.exit_bytes.or(self.leaked_bytes).is_some() || self.exit_blocks.is_some()
    }

    /// Returns `true` if a budget is about all allocations.
    pub(crate) fn needs_allocs(&self) -> bool {
        self.allocs.is_some() || self.reallocs.is_some() || !(self.allocs_in.is_empty() && self.reallocs_in.is_empty())
    }
}

/// A number of bytes, as a number or as a text: `65536`, `"64KB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) u64);

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfBytes;
        impl Visitor<'_> for OfBytes {
            type Value = Bytes;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a number of bytes such as 64 or \"64KB\"")
            }

            fn visit_u64<E>(self, bytes: u64) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }

            fn visit_i64<E: Error>(self, bytes: i64) -> Result<Bytes, E> {
                u64::try_from(bytes).map(Bytes).map_err(|_| E::invalid_value(Unexpected::Signed(bytes), &self))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                let size = parse_bytes(text).map_err(|_| E::invalid_value(Unexpected::Str(text), &self))?;
                Ok(Bytes(size.as_u64()))
            }
        }
        deserializer.deserialize_any(OfBytes)
    }
}

/// What counts as growth: more than a share of what there was, or more than a number of bytes or blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Limit {
    Share(f64),
    Number(u64),
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        let expected = "a growth is a share such as \"5%\", or a number such as 64 or \"64KB\"";
        let text = match Written::deserialize(deserializer).map_err(|_| D::Error::custom(expected))? {
            Written::Number(number) => return Ok(Self::Number(number)),
            Written::Text(text) => text,
        };
        let share = |percent: &str| percent.trim().parse().ok().filter(|percent| (0.0..=1000.0).contains(percent));
        match text.strip_suffix('%') {
            Some(percent) => share(percent).map(|percent| Self::Share(percent / 100.0)),
            None => parse_bytes(&text).ok().map(|bytes| Self::Number(bytes.as_u64())),
        }
        .ok_or_else(|| D::Error::custom(expected))
    }
}

impl Config {
    /// Reads a `dwell.toml`.
    ///
    /// # Errors
    /// Returns an error of one line if it cannot be read, has unknown keys or wrong values.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| format!("{}: cannot be read", file.display()))?;
        toml::from_str(&text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            anyhow!("{}{line}: {what}; correct this line", file.display())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dwell.toml");
        for (text, expected) in [
            ("max-future = 1\nmax-sizes = 3\n", "dwell.toml:2: unknown field `max-sizes`"),
            ("max-future = -1\n", "dwell.toml:1: invalid value: integer `-1`"),
            ("max-future = \"big\"\n", "dwell.toml:1: invalid value: string \"big\""),
            ("max-future = 3\nmax-allocs = -1\n", "dwell.toml:2: invalid value"),
            ("[max-size]\nConfig = \"x\"\n", "dwell.toml:2: invalid value: string \"x\""),
            ("[max-size\n", "dwell.toml:1: "),
            ("max-future = 99999999999999999999\n", "dwell.toml:1: "),
            ("[check.load.growth]\nallocs = \"5 %%\"\n", "dwell.toml:2: a growth is a share such as"),
            ("[check.load.growth]\nallocs = -1\n", "dwell.toml:2: a growth is a share such as"),
            ("[check.load]\npeak-byte = 3\n", "unknown field `peak-byte`"),
            ("[check.load]\npeak-bytes = \"3 sheep\"\n", "invalid value: string \"3 sheep\""),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = format!("{:#}", Config::read(&file).unwrap_err());
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn budgets_of_sizes_and_runs_are_read() {
        let text = "max-future = \"4KiB\"\n[max-size]\nConfig = 64\n\"Option<Config>\" = 72\n[check.load]\nexample = \"load\"\n\
                    args = [\"9\"]\npeak-bytes = \"1MB\"\n[check.load.allocs-in]\nparse = 3\n[check.load.growth]\nallocs = 64\nparse = \"2.5%\"\n[check.none]\n[shape]\nx = 1\n";
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("dwell.toml");
        std::fs::write(&file, text).unwrap();
        let config = Config::read(&file).unwrap();
        assert_eq!((config.max_future, config.max_size.len()), (Some(Bytes(4096)), 2));
        let run = &config.check["load"];
        assert_eq!((run.example.as_deref(), run.peak_bytes), (Some("load"), Some(Bytes(1_000_000))));
        assert!(run.needs_peak() && run.needs_allocs() && !run.needs_exit());
        assert_eq!((run.growth["allocs"], run.growth["parse"]), (Limit::Number(64), Limit::Share(0.025)));
        let none = &config.check["none"];
        assert!(!none.needs_peak() && !none.needs_allocs());
    }
}
