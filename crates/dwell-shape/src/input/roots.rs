//! Documents of several types: which files have which.

use super::find::Found;
use crate::overrides::{Override, Step, What};
use crate::style;
use anyhow::{Result, bail};
use std::path::Path;
use std::sync::Arc;

/// The types of the documents, by the paths of their files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots(Vec<(String, Arc<str>)>);

impl Roots {
    /// Splits the values of `--root`, each `NAME` or `PATTERN=NAME`. Returns the name of the type of all documents, and the
    /// patterns.
    ///
    /// # Errors
    /// Returns an error if a name is not that of a type, or if there are several for all documents.
    pub fn parse(values: &[String]) -> Result<(Option<String>, Self)> {
        let (mut name, mut roots) = (None::<String>, Vec::new());
        for value in values {
            if let Some((pattern, name)) = value.rsplit_once('=') {
                style::check_root(name)?;
                let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
                roots.push((pattern.to_owned(), Arc::from(name)));
            } else if let Some(name) = &name {
                bail!(
                    "--root {value}: the documents are {name} already; several types need patterns, as in 'orders/*.json=Order'"
                );
            } else {
                name = Some(value.clone());
            }
        }
        Ok((name, Self(roots)))
    }

    /// Returns whether all documents are of one type.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the decisions that give each type its name.
    pub fn overrides(&self) -> Vec<Override> {
        let roots = Override { path: "$".to_owned(), steps: Vec::new(), what: What::Roots };
        let name = |(_, name): &(String, Arc<str>)| Override {
            path: format!("$.{name}"),
            steps: vec![Step::Key(name.to_string())],
            what: What::Name(name.to_string()),
        };
        std::iter::once(roots).filter(|_| !self.is_empty()).chain(self.0.iter().map(name)).collect()
    }

    /// Sets the types of the documents of these files, each by the first pattern that it matches.
    ///
    /// # Errors
    /// Returns an error if a file matches none, or a pattern no file.
    pub fn apply(&self, found: &mut Found) -> Result<()> {
        let mut used = vec![false; self.0.len()];
        for input in found.inputs.iter_mut().filter(|_| !self.is_empty()) {
            let Some(at) = self.0.iter().position(|(pattern, _)| is_match(&input.path, pattern)) else {
                bail!("{}: no pattern of --root matches it", input.path.display());
            };
            used[at] = true;
            input.root = Some(self.0[at].1.clone());
        }
        match used.iter().position(|used| !used) {
            Some(at) => bail!("--root {}={}: no file matches", self.0[at].0, self.0[at].1),
            None => Ok(()),
        }
    }
}

/// Returns whether a path is of a pattern: a file, a folder with it, or names in which `*` stands for any text and `**` for
/// any folders.
fn is_match(path: &Path, pattern: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    if !pattern.contains('*') {
        return path.starts_with(pattern);
    }
    let names: Vec<String> = path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let patterns: Vec<&str> = Path::new(pattern).components().filter_map(|part| part.as_os_str().to_str()).collect();
    are_names(&names, &patterns)
}

fn are_names(names: &[String], patterns: &[&str]) -> bool {
    match (patterns, names) {
        ([], names) => names.is_empty(),
        (["**", rest @ ..], names) => (0..=names.len()).any(|at| are_names(&names[at..], rest)),
        ([pattern, rest @ ..], [name, names @ ..]) => is_name(name, pattern) && are_names(names, rest),
        _ => false,
    }
}

fn is_name(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((front, rest)) => name.strip_prefix(front).is_some_and(|name| {
            name.char_indices().map(|(at, _)| at).chain([name.len()]).any(|at| is_name(&name[at..], rest))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_files_and_folders() {
        for (path, pattern, is) in [
            ("orders/1.json", "orders/*.json", true),
            ("./orders/1.json", "orders/*.json", true),
            ("orders/new/1.json", "orders/*.json", false),
            ("orders/new/1.json", "orders/**/*.json", true),
            ("orders/new/1.json", "orders", true),
            ("orders2/1.json", "orders", false),
            ("a/b/x-order.json", "**/*order*", true),
            ("/data/users.jsonl", "/data/users.jsonl", true),
            ("users.jsonl", "*.json", false),
        ] {
            assert_eq!(is_match(Path::new(path), pattern), is, "{path} {pattern}");
        }
    }

    #[test]
    fn values_are_a_name_or_patterns() {
        let parse = |values: &[&str]| Roots::parse(&values.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(parse(&["Order"]).unwrap(), (Some("Order".to_owned()), Roots::default()));
        let (name, roots) = parse(&["a/*=Order", "b=User"]).unwrap();
        assert_eq!((name, roots.overrides().len()), (None, 3));
        for (values, error) in [
            (&["a=order"][..], "--root order: not the name of a type, such as Order"),
            (
                &["A", "B"],
                "--root B: the documents are A already; several types need patterns, as in 'orders/*.json=Order'",
            ),
        ] {
            assert_eq!(parse(values).unwrap_err().to_string(), error);
        }
    }
}
