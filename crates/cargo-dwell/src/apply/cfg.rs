//! The conditions of `#[cfg(..)]`, and which of them hold in a build.

use super::builds::Compiled;
use crate::processes::run;
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    /// `unix`, `feature = "std"`, as rustc prints it: `feature="std"`.
    Is(String),
}

impl Condition {
    /// Reads the tokens in the parentheses of `cfg(..)`.
    pub(super) fn of(tokens: TokenStream) -> Option<Self> {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        Some(match &all[..] {
            [TokenTree::Ident(name), TokenTree::Group(group), rest @ ..] if rest.len() <= 1 => {
                let inner = || list(group.stream());
                match name.to_string().as_str() {
                    "all" => Self::All(inner()?),
                    "any" => Self::Any(inner()?),
                    "not" => Self::Not(Box::new(Self::of(group.stream())?)),
                    other => Self::Is(format!("{other}({})", group.stream())),
                }
            }
            [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(value), rest @ ..] if rest.len() <= 1 => {
                Self::Is(format!("{name}={value}"))
            }
            [TokenTree::Ident(name), rest @ ..] if rest.len() <= 1 => match name.to_string().as_str() {
                "true" => Self::All(Vec::new()),
                "false" => Self::Any(Vec::new()),
                name => Self::Is(name.to_owned()),
            },
            _ => return None,
        })
    }

    /// Reads the tokens in the brackets of an attribute; `None`: it is no `cfg`.
    pub(super) fn of_attribute(tokens: TokenStream) -> Option<Self> {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        match &all[..] {
            [TokenTree::Ident(name), TokenTree::Group(group)]
                if *name == "cfg" && group.delimiter() == Delimiter::Parenthesis =>
            {
                Self::of(group.stream())
            }
            _ => None,
        }
    }

    /// Returns `true` if it holds where a unit was compiled. `base` is what rustc says of the target.
    pub(super) fn holds(&self, unit: &Compiled, base: &BTreeSet<String>) -> bool {
        match self {
            Self::All(all) => all.iter().all(|item| item.holds(unit, base)),
            Self::Any(all) => all.iter().any(|item| item.holds(unit, base)),
            Self::Not(not) => !not.holds(unit, base),
            Self::Is(name) if name == "test" => unit.is_test,
            Self::Is(name) => match name.strip_prefix("feature=") {
                Some(feature) => unit.features.contains(feature.trim_matches('"')),
                None => base.contains(name) || unit.cfgs.contains(name),
            },
        }
    }
}

impl std::fmt::Display for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |all: &[Self]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::All(all) | Self::Any(all) if all.len() == 1 => write!(f, "{}", all[0]),
            Self::All(all) => write!(f, "all({})", list(all)),
            Self::Any(all) => write!(f, "any({})", list(all)),
            Self::Not(not) => write!(f, "not({not})"),
            Self::Is(name) => f.write_str(&name.replacen('=', " = ", 1)),
        }
    }
}

/// Reads conditions that are separated by commas.
fn list(tokens: TokenStream) -> Option<Vec<Condition>> {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |tree: &TokenTree| matches!(tree, TokenTree::Punct(punct) if punct.as_char() == ',');
    let parts = all.split(is_comma).filter(|part| !part.is_empty());
    parts.map(|part| Condition::of(part.iter().cloned().collect())).collect()
}

/// Returns what rustc says of a target, and what the user's flags add.
pub(super) fn of_target(target: Option<&str>) -> BTreeSet<String> {
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    command.args(["--print", "cfg"]);
    if let Some(target) = target {
        command.args(["--target", target]);
    }
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").or_else(|_| std::env::var("RUSTFLAGS")).unwrap_or_default();
    let flags: Vec<&str> = flags.split(['\u{1f}', ' ']).collect();
    command.args(flags.windows(2).filter(|two| two[0] == "--cfg").flatten());
    command.args(flags.iter().filter(|flag| flag.starts_with("--cfg=")));
    let ran = run(&mut command, Duration::from_secs(60));
    let text = ran.map(|ran| String::from_utf8_lossy(&ran.stdout).into_owned()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_hold() {
        let base = BTreeSet::from(["unix".to_owned(), "target_os=\"linux\"".to_owned()]);
        let unit = Compiled { features: BTreeSet::from(["a".to_owned()]), is_test: true, ..Compiled::default() };
        let holds = |text: &str| Condition::of(text.parse().unwrap()).unwrap().holds(&unit, &base);
        for text in ["unix", "target_os = \"linux\"", "feature = \"a\"", "test", "all()", "not(windows)", "true"] {
            assert!(holds(text), "{text}");
        }
        for text in ["windows", "any()", "all(unix, feature = \"b\")", "not(any(unix, windows,))", "loom"] {
            assert!(!holds(text), "{text}");
        }
        let text = Condition::of("all(unix, not(feature = \"b\"))".parse().unwrap()).unwrap().to_string();
        assert_eq!(text, "all(unix, not(feature = \"b\"))");
    }
}
