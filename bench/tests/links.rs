//! Checks that the links of the README, CONTRIBUTING and the book resolve, and that the summary of the book lists every
//! page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the pages of the book by their paths in `docs/`.
fn pages() -> BTreeSet<PathBuf> {
    let docs = root().join("docs");
    let mut found = BTreeSet::new();
    let mut folders = vec![docs.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.insert(path.strip_prefix(&docs).unwrap().to_owned());
            }
        }
    }
    found
}

/// Returns the targets of the links `[text](target)` outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        fenced ^= line.trim_start().starts_with("```");
        if fenced || line.starts_with("    ") {
            continue;
        }
        // Every second piece between backticks is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("_");
        for rest in prose.split("](").skip(1) {
            links.extend(rest.split_once(')').map(|(target, _)| target.to_owned()));
        }
    }
    links
}

/// Returns the anchor that Markdown renderers generate for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

fn has_anchor(page: &Path, wanted: &str) -> bool {
    let text = fs::read_to_string(page).unwrap();
    text.lines().filter(|line| line.starts_with('#')).any(|line| anchor(line.trim_start_matches('#').trim()) == wanted)
}

#[test]
fn links_resolve_to_files_and_headings() {
    let docs = root().join("docs");
    let mut files = vec![root().join("README.md"), root().join("CONTRIBUTING.md")];
    files.extend(pages().into_iter().map(|page| docs.join(page)));
    let mut broken = Vec::new();
    for file in files {
        for link in links(&fs::read_to_string(&file).unwrap()) {
            if link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            if !target.exists() || !anchor.is_empty() && !has_anchor(&target, anchor) {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn summary_lists_every_page() {
    let docs = root().join("docs");
    let listed = links(&fs::read_to_string(docs.join("SUMMARY.md")).unwrap());
    let listed: BTreeSet<PathBuf> = listed.into_iter().map(PathBuf::from).collect();
    let mut pages = pages();
    pages.remove(Path::new("SUMMARY.md"));
    let unlisted: Vec<_> = pages.difference(&listed).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");
}

#[test]
fn links_in_code_are_ignored() {
    let text = "[a](b.md) `x[i](y)` [`c`](d.md#e)\n```\n[f](g.md)\n```\n";
    assert_eq!(links(text), ["b.md", "d.md#e"]);
    assert_eq!(anchor("`--format json`, version 2"), "--format-json-version-2");
}
