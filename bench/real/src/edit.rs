//! Edit scripts, which change a published source: they find exact texts and replace them. A missing text is an error.
//!
//! ```text
//! file src/lib.rs
//! <<<<<<<
//! the lines to find, which occur once
//! =======
//! the lines to put in their place
//! >>>>>>>
//! ```
//!
//! `<<<<<<< all` replaces every occurrence; with `file src/*.rs` in all matching files. `<<<<<<< words` does the same
//! for a part of a line. `{dwell}` in a new line stands for the path of this repository. Lines that begin with `#`
//! outside of an edit are comments.

use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;

/// One replacement in one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    file: String,
    find: String,
    put: String,
    every: bool,
}

/// Reads a script.
///
/// # Errors
///
/// If a line is neither a comment, nor `file NAME`, nor in an edit, or if an edit has no end.
pub(crate) fn parse(script: &str) -> Result<Vec<Edit>> {
    let mut edits = Vec::new();
    let mut file = None;
    let mut lines = script.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if let Some(name) = line.strip_prefix("file ") {
            file = Some(name.trim().to_owned());
        } else if ["<<<<<<<", "<<<<<<< all", "<<<<<<< words"].contains(&line) {
            let mut until = |marker: &str| {
                let mut text = String::new();
                for (_, line) in lines.by_ref() {
                    if line == marker {
                        return Ok(text);
                    }
                    text.push_str(line);
                    text.push('\n');
                }
                bail!("the edit in line {} has no line `{marker}`", at + 1)
            };
            let (mut find, mut put) = (until("=======")?, until(">>>>>>>")?);
            if line.ends_with("words") {
                find.truncate(find.trim_end().len());
                put.truncate(put.trim_end().len());
            }
            ensure!(!find.is_empty(), "the edit in line {} finds nothing", at + 1);
            let file =
                file.clone().with_context(|| format!("the edit in line {} follows no line `file NAME`", at + 1))?;
            edits.push(Edit { file, find, put, every: line != "<<<<<<<" });
        } else if !line.is_empty() && !line.starts_with('#') {
            bail!("line {} is no part of an edit script: {line}", at + 1);
        }
    }
    Ok(edits)
}

/// Applies the edits to the files that they name. After an error, some files are edited already.
///
/// # Errors
///
/// If a file does not exist, or if a text to replace does not occur, or occurs more than once.
pub(crate) fn apply(edits: &[Edit], files: &mut BTreeMap<String, Vec<u8>>, dwell: &str) -> Result<()> {
    for edit in edits {
        let first = edit.find.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let of_file = |name: &String| match edit.file.split_once('*') {
            Some((start, end)) => name.starts_with(start) && name.ends_with(end),
            None => *name == edit.file,
        };
        let (mut files_found, mut found) = (0, 0);
        for (name, bytes) in files.iter_mut().filter(|(name, _)| of_file(name)) {
            let text = str::from_utf8(bytes).with_context(|| format!("{name} is not UTF-8"))?;
            // Some files are published with the line ends of Windows.
            let ends =
                |script: &str| if text.contains("\r\n") { script.replace('\n', "\r\n") } else { script.to_owned() };
            let find = ends(&edit.find);
            files_found += 1;
            found += text.matches(&find).count();
            if text.contains(&find) {
                *bytes = text.replace(&find, &ends(&edit.put.replace("{dwell}", dwell))).into_bytes();
            }
        }
        ensure!(files_found > 0, "there is no file {}", edit.file);
        ensure!(found > 0, "{} does not contain the text to edit, which begins with `{first}`", edit.file);
        let once = edit.every || found == 1;
        ensure!(once, "{} contains {found} times the text to edit, which begins with `{first}`", edit.file);
    }
    Ok(())
}

/// Returns the number of lines that differ between two versions of files. Each block counts as its longer side.
pub(crate) fn lines_changed(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> usize {
    let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
    let changed = |(name, new): (&String, &Vec<u8>)| match before.get(name) {
        Some(old) if old == new => 0,
        Some(old) => differing(&lines(old), &lines(new)),
        None => lines(new).len(),
    };
    after.iter().map(changed).sum()
}

/// Returns the number of differing lines of a file. A block ends at the next line of `new` that follows soon in `old`.
fn differing(old: &[String], new: &[String]) -> usize {
    let (mut at_old, mut at_new, mut count) = (0, 0, 0);
    while at_old < old.len() || at_new < new.len() {
        if old.get(at_old) == new.get(at_new) {
            (at_old, at_new) = (at_old + 1, at_new + 1);
            continue;
        }
        // Take the block that skips the fewest lines of both.
        let (left, right) = (&old[at_old..], &new[at_new..]);
        let next = (1..=left.len() + right.len()).find_map(|skipped| {
            (0..=skipped.min(left.len())).find_map(|of_old| {
                let of_new = skipped - of_old;
                let meet = match (left.get(of_old), right.get(of_new)) {
                    // Two lines, because a single brace is equal to too many others.
                    (Some(one), Some(_)) => {
                        left[of_old..].iter().take(2).eq(right[of_new..].iter().take(2)) && !one.trim().is_empty()
                    }
                    _ => of_old == left.len() && of_new == right.len(),
                };
                meet.then_some((of_old, of_new))
            })
        });
        let (of_old, of_new) = next.unwrap_or((left.len(), right.len()));
        count += of_old.max(of_new);
        (at_old, at_new) = (at_old + of_old, at_new + of_new);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "# why\nfile a.rs\n<<<<<<<\nlet a = Box::new(1);\n=======\nlet a = small_box!(1);\n>>>>>>>\n";

    fn files(text: &str) -> BTreeMap<String, Vec<u8>> {
        BTreeMap::from([("a.rs".to_owned(), text.as_bytes().to_vec())])
    }

    #[test]
    fn edit_replaces_its_text() {
        let mut files = files("fn f() {\nlet a = Box::new(1);\n}\n");
        apply(&parse(SCRIPT).unwrap(), &mut files, "").unwrap();
        assert_eq!(files["a.rs"], b"fn f() {\nlet a = small_box!(1);\n}\n");
    }

    #[test]
    fn edit_keeps_the_line_endings_of_the_file() {
        let mut files = files("fn f() {\r\nlet a = Box::new(1);\r\n}\r\n");
        apply(&parse(SCRIPT).unwrap(), &mut files, "").unwrap();
        assert_eq!(files["a.rs"], b"fn f() {\r\nlet a = small_box!(1);\r\n}\r\n");
    }

    #[test]
    fn missing_or_ambiguous_text_gives_a_one_line_error() {
        let edits = parse(SCRIPT).unwrap();
        for (text, expected) in [
            ("nothing\n", "a.rs does not contain the text to edit, which begins with `let a = Box::new(1);`"),
            ("let a = Box::new(1);\nlet a = Box::new(1);\n", "a.rs contains 2 times the text to edit"),
        ] {
            let error = apply(&edits, &mut files(text), "").unwrap_err().to_string();
            assert!(error.starts_with(expected) && error.lines().count() == 1, "{error}");
        }
        let error = apply(&edits, &mut BTreeMap::new(), "").unwrap_err().to_string();
        assert_eq!(error, "there is no file a.rs");
    }

    #[test]
    fn all_words_and_globs_replace_every_match() {
        let edits = parse("file a.rs\n<<<<<<< all\nx\n=======\n{dwell}/y\n>>>>>>>\n").unwrap();
        let mut files = files("x\nz\nx\n");
        apply(&edits, &mut files, "/d").unwrap();
        assert_eq!(files["a.rs"], b"/d/y\nz\n/d/y\n");
        let words = parse("file a.rs\n<<<<<<< words\ny\n=======\nYY\n>>>>>>>\n").unwrap();
        apply(&words, &mut files, "").unwrap();
        assert_eq!(files["a.rs"], b"/d/YY\nz\n/d/YY\n");
        let edits = parse("file *.rs\n<<<<<<< all\nx\n=======\ny\n>>>>>>>\n").unwrap();
        let mut two = BTreeMap::from(["b.rs", "c.rs", "d.txt"].map(|name| (name.to_owned(), b"x\n".to_vec())));
        apply(&edits, &mut two, "").unwrap();
        assert_eq!((&*two["b.rs"], &*two["c.rs"], &*two["d.txt"]), (&b"y\n"[..], &b"y\n"[..], &b"x\n"[..]));
    }

    #[test]
    fn invalid_script_is_refused() {
        for (script, expected) in [
            ("<<<<<<<\na\n=======\n>>>>>>>\n", "the edit in line 1 follows no line `file NAME`"),
            ("file a\n<<<<<<<\na\n=======\nb\n", "the edit in line 2 has no line `>>>>>>>`"),
            ("file a\n<<<<<<<\n=======\nb\n>>>>>>>\n", "the edit in line 2 finds nothing"),
            ("fiel a\n", "line 1 is no part of an edit script: fiel a"),
        ] {
            assert_eq!(parse(script).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn changed_lines_are_counted_per_block() {
        for (old, new, count) in [
            ("a\nb\nc\n", "a\nb\nc\n", 0),
            ("a\nb\nc\n", "a\nX\nc\n", 1),
            ("a\nb\nc\n", "a\nX\nY\nc\n", 2),
            ("a\nb\nc\n", "a\nc\n", 1),
            ("a\nb\nc\nd\n", "A\nb\nc\nD\nE\n", 3),
            ("a\n", "a\nb\n", 1),
            ("a\nb\n", "c\nd\ne\n", 3),
        ] {
            assert_eq!(lines_changed(&files(old), &files(new)), count, "{old:?} {new:?}");
        }
        assert_eq!(lines_changed(&BTreeMap::new(), &files("a\nb\n")), 2);
    }
}
