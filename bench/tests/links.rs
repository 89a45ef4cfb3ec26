//! Checks that the links of the README, CONTRIBUTING, the book and the results resolve, that the summary of the book lists every
//! page, that what the pages name exists, and that numbers which the README repeats are those of the results.

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

/// Returns all documents: those at the root, the pages of the book, the results, and the READMEs of the crates.
fn documents() -> Vec<PathBuf> {
    let of_root = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "bench/README.md"].map(PathBuf::from);
    let of_book = pages().into_iter().map(|page| Path::new("docs").join(page));
    let of_crates = ["dwell-bumpalo", "dwell-slab"].map(|name| Path::new("crates").join(name).join("README.md"));
    let results = fs::read_dir(root().join("bench/results")).unwrap().map(|entry| entry.unwrap().path());
    let named = of_root.into_iter().chain(of_book).chain(of_crates);
    named.map(|path| root().join(path)).chain(results).collect()
}

/// Returns the words after `option` in a command: `ast` for `--example ast`.
fn after<'t>(line: &'t str, option: &str) -> Vec<&'t str> {
    let words: Vec<&str> =
        line.split(|c: char| c.is_whitespace() || matches!(c, '`' | ')' | ',' | ';' | '=')).collect();
    words.windows(2).filter(|two| two[0] == option && !two[1].is_empty()).map(|two| two[1]).collect()
}

/// Whether a package, or one of all if none is named, has a file or folder of this name in `folder`.
fn has(package: Option<&str>, folder: &str, name: &str) -> bool {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let bench = [root().join("bench"), root().join("bench/real")];
    crates.chain(bench).any(|path| {
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
        package.is_none_or(|package| manifest.contains(&format!("name = \"{package}\"")))
            && (path.join(folder).join(format!("{name}.rs")).exists() || path.join(folder).join(name).is_dir())
    })
}

/// A page must not name a program that is not in the repository, as pages about `mailer` did, nor one in another package.
#[test]
fn examples_tests_and_paths_of_the_pages_exist() {
    let mut missing = Vec::new();
    for file in documents() {
        let text = fs::read_to_string(&file).unwrap();
        let mut miss = |what: &str, line: &str| missing.push(format!("{}: no such {what}: {line}", file.display()));
        for line in text.lines() {
            let package = after(line, "-p").first().copied();
            for name in after(line, "--example").into_iter().filter(|name| *name != "NAME") {
                if !has(package, "examples", name) {
                    miss("example", line);
                }
            }
            // `cargo dwell allocs --test NAME` is about the user's own tests, and async-trait has its own.
            if line.contains("cargo test") && !line.contains("async-trait") {
                for name in after(line, "--test").into_iter().filter(|name| name.starts_with(char::is_lowercase)) {
                    if !has(package, "tests", name) {
                        miss("test", line);
                    }
                }
            }
        }
        for code in text.split('`').skip(1).step_by(2) {
            let is_path = ["crates/", "bench/", "docs/", ".ci/", "fuzz/"].iter().any(|of| code.starts_with(of));
            let is_plain = !code.contains(|c: char| c.is_whitespace() || matches!(c, '*' | '{' | '<' | ':' | '('));
            if is_path && is_plain && !code.contains("NAME") && !root().join(code).exists() {
                miss("path", code);
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The rows of real programs in the README and in the pages are those of the results, with fewer columns.
#[test]
fn rows_of_real_programs_are_those_of_the_results() {
    let cells =
        |line: &str| -> Vec<String> { line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect() };
    let text = fs::read_to_string(root().join("bench/results/real.md")).unwrap();
    let mut results = Vec::new();
    let (mut program, mut change) = (String::new(), String::new());
    for row in text.lines().filter(|line| line.starts_with("| ")).map(cells).filter(|row| row.len() == 11) {
        if !row[0].is_empty() {
            (program, change) = (row[0].clone(), row[1].clone());
        }
        results.push([&[program.clone(), change.clone(), row[4].clone()], &row[5..10]].concat());
    }
    assert!(results.len() > 30);
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let rows: Vec<Vec<String>> = readme
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(cells)
        .filter(|row| row.len() == 8 && row[3].contains('.'))
        .collect();
    assert!(rows.len() >= 6, "{rows:?}");
    for row in &rows {
        assert!(results.contains(row), "{row:?}");
    }
    let moving = fs::read_to_string(root().join("docs/moving.md")).unwrap();
    let rows = |cells_in_row: usize| -> Vec<Vec<String>> {
        let rows = moving.lines().filter(|line| line.starts_with("| ")).map(cells);
        rows.filter(|row| row.len() == cells_in_row && row[1].starts_with(['0', '1'])).collect()
    };
    assert!(rows(5).len() >= 3 && rows(3).len() >= 3, "{:?} {:?}", rows(5), rows(3));
    for row in rows(5) {
        // Without the column `mimalloc alone`.
        let is_row = |of: &Vec<String>| of[0].starts_with("lru") && [&of[2..5], &of[6..]].concat() == row[..];
        assert!(results.iter().any(is_row), "{row:?}");
    }
    for row in rows(3) {
        let program = row[0].split(' ').next().unwrap();
        let is_row = |of: &Vec<String>| of[0].starts_with(program) && of[4] == row[1] && of[7] == row[2];
        assert!(results.iter().any(is_row), "{row:?}");
    }
}

#[test]
fn links_resolve_to_files_and_headings() {
    let mut broken = Vec::new();
    for file in documents() {
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
