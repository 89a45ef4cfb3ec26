//! Finds the declarations of the workspace's types in its source, which rustc's debug info does not name.

use crate::debuginfo::Type;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The largest number of source files that are read.
const FILES: usize = 5_000;
/// The largest source file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// A declaration of a struct, enum or union.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The file, relative to the workspace's root.
    pub(crate) file: String,
    /// The line of the declaration, from 1.
    pub(crate) line: u32,
    /// The attributes and comments above it.
    above: String,
    /// The lines from the declaration to its end.
    body: Vec<String>,
    /// The inner attributes of the file.
    of_file: String,
}

impl Item {
    /// Returns `true` if an attribute or a comment shows that the author decided against boxing.
    pub(crate) fn declines_a_box(&self) -> bool {
        let lints = ["large_enum_variant", "result_large_err", "large_types_passed_by_value"];
        let allows = |text: &str| lints.iter().any(|lint| text.contains(lint));
        let comments = self.body.iter().map(String::as_str).chain(self.above.lines());
        let mut comments = comments.filter_map(|line| Some(line.split_once("//")?.1));
        let says_box = |text: &str| {
            let lower = text.to_lowercase();
            lower.split(|of: char| !of.is_alphanumeric()).any(|word| matches!(word, "box" | "boxed" | "boxing"))
        };
        allows(&self.above) || allows(&self.of_file) || comments.any(says_box)
    }

    /// Returns `true` if the declaration has a `repr` attribute.
    pub(crate) fn has_repr(&self) -> bool {
        self.above.contains("repr(") || self.body.first().is_some_and(|line| line.contains("repr("))
    }

    /// Returns the line of a field or variant, and its text there: `File(Attachment)`, `details: Option<Details>`.
    pub(crate) fn part(&self, name: &str) -> Option<(u32, &str)> {
        for (index, line) in self.body.iter().enumerate() {
            let text = line.split("//").next().unwrap_or_default();
            // The first line has the name of the type before the parts.
            let start = if index == 0 { text.find(['{', '(']).map_or(text.len(), |at| at + 1) } else { 0 };
            if let Some(at) = find_part(&text[start..], name) {
                let rest = &text[start + at..];
                return Some((self.line + u32::try_from(index).ok()?, rest[..part_end(rest)].trim()));
            }
        }
        None
    }

    /// Returns the text from the declaration to its end.
    pub(super) fn text(&self) -> String {
        self.body.join("\n")
    }

    /// Returns `true` if values of the type are parsed from data, such as a configuration.
    pub(crate) fn is_deserialized(&self) -> bool {
        self.above.lines().any(|line| line.contains("derive(") && line.contains("Deserialize"))
    }

    /// Returns `true` if the type is the parsed command line: the program has one.
    pub(crate) fn is_command_line(&self) -> bool {
        let derives = ["Parser", "Subcommand", "Args", "ValueEnum", "StructOpt", "FromArgs", "Options"];
        let words = |line: &str| line.split(|of: char| !of.is_alphanumeric()).any(|word| derives.contains(&word));
        self.above.lines().any(|line| line.contains("derive(") && words(line))
            || self.above.contains("#[command(")
            || self.above.contains("#[clap(")
    }
}

/// Returns the index of a field's or variant's name where it begins a part: at the start, or after a comma.
fn find_part(text: &str, name: &str) -> Option<usize> {
    let is_word = |of: char| of.is_alphanumeric() || of == '_';
    text.match_indices(name).map(|(at, _)| at).find(|&at| {
        let before = text[..at].trim_end();
        let before = before.strip_suffix("pub").unwrap_or(before).trim_end();
        let is_first = before.is_empty() || before.ends_with([',', '{', '(', ']']) || before.starts_with("pub(");
        let after = text[at + name.len()..].chars().next();
        is_first && !after.is_some_and(is_word) && !text[..at].ends_with(is_word)
    })
}

/// Returns the end of a part: the next comma or closing delimiter outside of brackets.
fn part_end(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, of) in text.char_indices() {
        match of {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' | ']' | '}' | '>' if depth > 0 => depth -= 1,
            ',' | ')' | '}' | '>' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// The declarations by name.
#[derive(Debug, Default)]
pub(crate) struct Items {
    by_name: HashMap<String, Vec<Item>>,
    /// The lines of functions with a foreign ABI, with their signatures.
    externs: Vec<(String, u32, String)>,
    /// The names of fields that code outside of tests unwraps.
    unwrapped: HashSet<String>,
}

impl Items {
    /// Reads the sources below the workspace's root.
    pub(crate) fn new(root: Option<&Path>) -> Self {
        let mut items = Self::default();
        let Some(root) = root else { return items };
        let mut folders = vec![root.to_owned()];
        let mut left = FILES;
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            let mut entries: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            entries.sort();
            for path in entries {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let is_link = path.is_symlink();
                if path.is_dir() && !is_link {
                    if !name.starts_with('.') && !path.join("CACHEDIR.TAG").exists() {
                        folders.push(path);
                    }
                } else if name.ends_with(".rs") && left > 0 && fs::metadata(&path).is_ok_and(|of| of.len() <= LARGEST) {
                    left -= 1;
                    let Ok(text) = fs::read_to_string(&path) else { continue };
                    let file = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    items.add(&file, &text);
                }
            }
        }
        items
    }

    /// Returns `true` if no source was found, so that a missing declaration means nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    fn add(&mut self, file: &str, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let of_file: String = lines.iter().filter(|line| line.trim_start().starts_with("#![")).copied().collect();
        let is_test = file.split('/').any(|part| matches!(part, "tests" | "benches" | "tests.rs" | "test.rs"));
        let code = lines.iter().take_while(|line| !is_test && line.trim() != "#[cfg(test)]");
        self.unwrapped.extend(code.flat_map(|line| unwrapped(line)));
        for (index, line) in lines.iter().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            if line.contains("extern \"") && !line.trim_start().starts_with("//") {
                // A block of foreign functions, or the signature of one function.
                let is_block = !line.contains("fn ");
                let ends = |line: &&&str| if is_block { line.starts_with('}') } else { line.contains(['{', ';']) };
                let length = lines[index..].iter().position(|line| ends(&line)).unwrap_or(0);
                self.externs.push((file.to_owned(), number, lines[index..=index + length].join(" ")));
            }
            let Some(name) = declared(line) else { continue };
            let is_above = |line: &&&str| {
                let line = line.trim();
                line.starts_with("#[") || line.starts_with("//") || line.ends_with(")]") || line.ends_with(',')
            };
            let above: Vec<&str> = lines[..index].iter().rev().take(40).take_while(is_above).copied().collect();
            let indent = line.len() - line.trim_start().len();
            let ends = |line: &str| {
                line.trim_start().starts_with(['}', ')']) && line.len() - line.trim_start().len() == indent
            };
            let is_one_line = line.trim_end().ends_with([';', '}']);
            let length =
                if is_one_line { 0 } else { lines[index + 1..].iter().position(|of| ends(of)).map_or(0, |at| at + 1) };
            let body = lines[index..=index + length].iter().map(|line| (*line).to_owned()).collect();
            let above = above.join("\n");
            let item = Item { file: file.to_owned(), line: number, above, body, of_file: of_file.clone() };
            self.by_name.entry(name.to_owned()).or_default().push(item);
        }
    }

    /// Returns the declaration of a type. Of several with its name, it is the one whose file has the most parts of the
    /// type's module.
    pub(crate) fn of(&self, ty: &Type) -> Option<&Item> {
        let head = ty.path.split('<').next().unwrap_or_default();
        let mut path: Vec<&str> = head.split("::").collect();
        let name = path.pop()?;
        let score = |item: &&Item| {
            let file = item.file.trim_end_matches(".rs").replace('-', "_");
            path.iter().filter(|part| file.split('/').any(|of| of == **part)).count()
        };
        // `max_by_key` takes the last of equals; the first file is the better guess.
        self.by_name.get(name)?.iter().rev().max_by_key(score)
    }

    /// Returns `true` if code unwraps an `Option` field with this name: it expects a value.
    pub(crate) fn is_unwrapped(&self, field: &str) -> bool {
        self.unwrapped.contains(field)
    }

    /// Returns the first declaration with this name.
    #[cfg(test)]
    pub(super) fn named(&self, name: &str) -> Option<&Item> {
        self.by_name.get(name)?.first()
    }

    /// Returns the first function with a foreign ABI that names the type.
    pub(crate) fn foreign(&self, name: &str) -> Option<String> {
        let is_word = |of: char| of.is_alphanumeric() || of == '_';
        let names = |text: &str| text.split(|of: char| !is_word(of)).any(|word| word == name);
        self.externs.iter().find(|(.., text)| names(text)).map(|(file, line, _)| format!("{file}:{line}"))
    }
}

/// Returns the names of the fields that a line unwraps: `limit` in `self.limit.as_ref().unwrap()`.
fn unwrapped(line: &str) -> Vec<String> {
    let is_word = |of: char| of.is_alphanumeric() || of == '_';
    let calls = [".unwrap()", ".expect("].iter().flat_map(|call| line.match_indices(call));
    let field = |(at, _): (usize, &str)| {
        let mut before = &line[..at];
        for adapter in [".as_ref()", ".as_mut()", ".as_deref()", ".take()", ".clone()"] {
            before = before.strip_suffix(adapter).unwrap_or(before);
        }
        let (owner, name) = before.rsplit_once('.')?;
        let is_field = !name.is_empty() && name.chars().all(is_word) && owner.ends_with(|of| is_word(of) || of == ']');
        is_field.then(|| name.to_owned())
    };
    calls.filter_map(field).collect()
}

/// Returns the name of the type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    // One line may have the attributes too.
    while let Some(attribute) = rest.strip_prefix("#[") {
        rest = attribute.split_once(']')?.1.trim_start_matches([']', ' ']);
    }
    if let Some(public) = rest.strip_prefix("pub") {
        let after = public.trim_start();
        rest = if after.starts_with('(') { after.split_once(')')?.1 } else { public }.trim_start();
    }
    let after = ["struct ", "enum ", "union "].iter().find_map(|word| rest.strip_prefix(word))?.trim_start();
    let end = after.find(|of: char| !(of.is_alphanumeric() || of == '_')).unwrap_or(after.len());
    Some(&after[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Items {
        let mut items = Items::default();
        items.add("src/a.rs", text);
        items
    }

    #[test]
    fn declarations_and_their_parts_are_found() {
        let items =
            items("/// A.\n#[derive(Debug)]\npub(crate) enum Kind {\n    A(u8),\n    /// B\n    B { x: u8 },\n}\n");
        let item = &items.by_name["Kind"][0];
        assert_eq!((item.line, item.part("B").unwrap().0, item.part("A").unwrap().1), (3, 6, "A(u8)"));
        let line = "enum E { Idle, A(Box<u8>), Huge([u64; 9]), B { x: (u8, u8), y: u8 } }";
        let all = super::tests::items(line);
        let item = &all.by_name["E"][0];
        assert_eq!(item.part("Huge"), Some((1, "Huge([u64; 9])")));
        assert_eq!(item.part("B"), Some((1, "B { x: (u8, u8), y: u8 }")));
        assert_eq!((item.part("E"), item.part("x")), (None, Some((1, "x: (u8, u8)"))));
        assert!(item.part("C").is_none() && !item.declines_a_box() && !item.has_repr());
        assert_eq!(declared("#[repr(C)] struct A(u8);"), Some("A"));
        assert_eq!(declared("let structure = 1;"), None);
    }

    #[test]
    fn unwrapped_fields_are_found() {
        let items = items(
            "fn f() { self.limit.as_ref().unwrap(); a[0].sheet.take().expect(\"x\"); list.first().unwrap(); b.unwrap(); }\n\
             #[cfg(test)]\nmod tests { fn g() { self.other.unwrap(); } }\n",
        );
        assert!(items.is_unwrapped("limit") && items.is_unwrapped("sheet"));
        assert!(!items.is_unwrapped("first") && !items.is_unwrapped("b") && !items.is_unwrapped("other"));
    }

    #[test]
    fn authors_decision_is_found() {
        for text in [
            "#[allow(clippy::large_enum_variant)]\n#[derive(Debug)]\nenum Kind {\n    A,\n}\n",
            "enum Kind {\n    // Most are this one: do not box it.\n    A,\n}\n",
            "#![allow(clippy::large_enum_variant)]\nenum Kind {\n    A,\n}\n",
        ] {
            assert!(items(text).by_name["Kind"][0].declines_a_box(), "{text}");
        }
        assert!(items("#[repr(C)] pub struct Kind {\n    a: u8,\n}\n").by_name["Kind"][0].has_repr());
        assert!(!items("enum Kind {\n    A(Box<u8>), // a boxer\n}\n").by_name["Kind"][0].declines_a_box());
    }

    #[test]
    fn foreign_functions_are_found() {
        let items = items(
            "extern \"C\" fn f(\n    a: *const Kind,\n) {\n}\nextern \"C\" {\n    fn g(o: Other);\n}\nfn h(x: Third) {}\n",
        );
        assert_eq!(items.foreign("Kind").as_deref(), Some("src/a.rs:1"));
        assert_eq!(items.foreign("Other").as_deref(), Some("src/a.rs:5"));
        assert_eq!(items.foreign("Third"), None);
    }
}
