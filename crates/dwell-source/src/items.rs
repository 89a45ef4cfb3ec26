//! Finds the declarations of the workspace's types in its source, which rustc's debug info does not name.

use super::growth::Growth;
use proc_macro2::{Delimiter, LineColumn, TokenStream, TokenTree};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The largest number of source files that are read.
const FILES: usize = 5_000;
/// The largest source file that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// A declaration of a struct, enum or union.
#[derive(Clone, Debug)]
pub struct Item {
    /// The file, relative to the workspace's root.
    pub file: String,
    /// The line of the declaration, from 1.
    pub line: u32,
    /// Its attributes, and those of its fields and variants.
    attributes: Vec<Attribute>,
    /// The number of `attributes` that are its own.
    own: usize,
    /// The lines from the declaration to its end.
    body: String,
    /// The modules that contain it, as far as the file's name and its text show them.
    modules: Vec<String>,
    /// The attributes of the file and of the modules in it that contain the declaration.
    around: Vec<Attribute>,
    /// The reason of a `// dwell: keep, reason` above the declaration or in it.
    kept: Option<String>,
}

/// An attribute: its identifiers in order, such as `allow`, `clippy` and `large_enum_variant`.
#[derive(Clone, Debug)]
struct Attribute(Vec<String>);

impl Attribute {
    fn new(tokens: TokenStream) -> Self {
        fn add(words: &mut Vec<String>, tokens: TokenStream) {
            for tree in tokens {
                match tree {
                    TokenTree::Ident(word) => words.push(word.to_string()),
                    TokenTree::Group(group) => add(words, group.stream()),
                    _ => {}
                }
            }
        }
        let mut words = Vec::new();
        add(&mut words, tokens);
        Self(words)
    }

    /// Returns the attributes in tokens, also those deeper inside.
    fn all(tokens: &[TokenTree], found: &mut Vec<Self>) {
        for (index, tree) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = tree else { continue };
            let is_attribute = group.delimiter() == Delimiter::Bracket
                && matches!(tokens[..index].last(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#');
            if is_attribute {
                found.push(Self::new(group.stream()));
            } else {
                Self::all(&group.stream().into_iter().collect::<Vec<_>>(), found);
            }
        }
    }

    /// Returns `true` if it is this one, perhaps under a condition (`cfg_attr`), with one of these words as an argument.
    fn has(&self, name: &str, words: &[&str]) -> bool {
        let at = match &self.0[..] {
            [first, rest @ ..] if first == "cfg_attr" => rest.iter().position(|word| word == name).map(|at| at + 1),
            [first, ..] => (first == name).then_some(0),
            [] => None,
        };
        at.is_some_and(|at| self.0[at + 1..].iter().any(|word| words.contains(&&**word)))
    }

    /// Returns `true` if it is one of these.
    fn is(&self, names: &[&str]) -> bool {
        self.0.first().is_some_and(|first| names.contains(&&**first))
    }
}

impl Item {
    /// Returns `true` if an attribute of the declaration, of its parts, or of the modules around it allows or expects one of
    /// these lints. A comment that names the lint decides nothing.
    pub fn allows(&self, lints: &[&str]) -> bool {
        let mut all = self.attributes.iter().chain(&self.around);
        all.any(|attribute| attribute.has("allow", lints) || attribute.has("expect", lints))
    }

    /// Returns the reason of the comment `// dwell: keep, reason`, with which an author declines changes of the type.
    pub fn kept(&self) -> Option<&str> {
        self.kept.as_deref()
    }

    /// Returns `true` if the type derives `Copy`: a box in it would end that.
    pub fn is_copy(&self) -> bool {
        self.derives(&["Copy"])
    }

    /// Returns `true` if the declaration has a `repr` attribute.
    pub fn has_repr(&self) -> bool {
        self.attributes[..self.own].iter().any(|attribute| {
            attribute.is(&["repr"]) || attribute.is(&["cfg_attr"]) && attribute.0.iter().any(|word| word == "repr")
        })
    }

    fn derives(&self, names: &[&str]) -> bool {
        self.attributes[..self.own].iter().any(|attribute| attribute.has("derive", names))
    }

    /// Returns the text from the declaration to its end.
    pub(super) fn text(&self) -> &str {
        &self.body
    }

    /// Returns `true` if values of the type are parsed from data, such as a configuration.
    pub fn is_deserialized(&self) -> bool {
        self.derives(&["Deserialize", "DeserializeOwned"])
    }

    /// Returns `true` if the type is the parsed command line: the program has one.
    pub fn is_command_line(&self) -> bool {
        self.derives(&["Parser", "Subcommand", "Args", "ValueEnum", "StructOpt", "FromArgs", "Options"])
            || self.attributes[..self.own].iter().any(|attribute| attribute.is(&["command", "clap"]))
    }
}

/// The declarations by name.
#[derive(Debug, Default)]
pub struct Items {
    by_name: HashMap<String, Vec<Item>>,
    /// The lines of functions with a foreign ABI, with their signatures.
    externs: Vec<(String, u32, String)>,
    /// The names of fields that code outside of tests unwraps.
    unwrapped: HashSet<String>,
    /// The fields whose collections code outside of tests lets grow.
    growth: Growth,
}

impl Items {
    /// Reads the sources below the workspace's root.
    pub fn new(root: Option<&Path>) -> Self {
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
                } else if name.ends_with(".rs")
                    && left > 0
                    && fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST)
                {
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
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    fn add(&mut self, file: &str, text: &str) {
        let lines: Vec<&str> = text.lines().collect();
        let is_test = file.split('/').any(|part| matches!(part, "tests" | "benches" | "tests.rs" | "test.rs"));
        let code = lines.iter().take_while(|line| !is_test && line.trim() != "#[cfg(test)]");
        let code: Vec<&str> = code.copied().collect();
        self.unwrapped.extend(code.iter().flat_map(|line| unwrapped(line)));
        self.growth.add(&code);
        for (index, line) in lines.iter().enumerate() {
            let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
            if line.contains("extern \"") && !line.trim_start().starts_with("//") {
                // A block of foreign functions, or the signature of one function.
                let is_block = !line.contains("fn ");
                let ends = |line: &&&str| if is_block { line.starts_with('}') } else { line.contains(['{', ';']) };
                let length = lines[index..].iter().position(|line| ends(&line)).unwrap_or(0);
                self.externs.push((file.to_owned(), number, lines[index..=index + length].join(" ")));
            }
        }
        // A file that is no Rust, such as a template, has no declarations.
        let is_worth = ["struct ", "enum ", "union "].iter().any(|word| text.contains(word));
        if let Some(Ok(tokens)) = is_worth.then(|| text.parse::<TokenStream>()) {
            let keeps = if text.contains(KEEP) { keeps(text, &tokens) } else { Vec::new() };
            let source = Source { file, lines: &lines, keeps };
            self.declarations(tokens, &source, &mut Around { modules: modules_of(file), attributes: Vec::new() });
        }
        proc_macro2::extra::invalidate_current_thread_spans();
    }

    /// Adds the declarations among the tokens of a file, also those in modules, functions and arguments of macros.
    fn declarations(&mut self, tokens: TokenStream, source: &Source<'_>, around: &mut Around) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        let mut rest = &trees[..];
        // The attributes of what comes next, and the line of the first.
        let mut pending: Vec<Attribute> = Vec::new();
        let mut first_line = None;
        let outside = around.attributes.len();
        while let Some(first) = rest.first() {
            let (after, inside) = match rest {
                [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(group), after @ ..]
                    if hash.as_char() == '#' && bang.as_char() == '!' =>
                {
                    around.attributes.push(Attribute::new(group.stream()));
                    (after, None)
                }
                [TokenTree::Punct(hash), TokenTree::Group(group), after @ ..]
                    if hash.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
                {
                    if pending.is_empty() {
                        first_line = Some(hash.span().start().line);
                    }
                    pending.push(Attribute::new(group.stream()));
                    (after, None)
                }
                // The rules of a macro declare nothing.
                [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Ident(_), TokenTree::Group(_), after @ ..]
                    if *word == "macro_rules" =>
                {
                    (after, None)
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(group), after @ ..]
                    if *word == "mod" =>
                {
                    let known = around.attributes.len();
                    around.attributes.append(&mut pending);
                    around.modules.push(name.to_string());
                    self.declarations(group.stream(), source, around);
                    around.modules.pop();
                    around.attributes.truncate(known);
                    (after, None)
                }
                [TokenTree::Ident(word), TokenTree::Ident(name), after @ ..]
                    if ["struct", "enum", "union"].iter().any(|keyword| word == keyword) =>
                {
                    let is_end = |tree: &TokenTree| match tree {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(punct) => punct.as_char() == ';',
                        _ => false,
                    };
                    let length = after.iter().position(is_end).unwrap_or(0);
                    let end = after.get(length).map_or_else(|| name.span().end().line, |tree| tree.span().end().line);
                    let mut attributes = std::mem::take(&mut pending);
                    let own = attributes.len();
                    Attribute::all(&after[..after.len().min(length + 1)], &mut attributes);
                    let start = word.span().start();
                    let whole = first_line.take().filter(|_| own > 0).unwrap_or(start.line)..=end;
                    let item = Item { attributes, own, kept: source.kept(whole), ..source.item(start, end, around) };
                    self.by_name.entry(plain(&name.to_string()).to_owned()).or_default().push(item);
                    (after, None)
                }
                [_, after @ ..] => (after, Some(first)),
                [] => break,
            };
            match inside {
                Some(TokenTree::Group(group)) => {
                    if group.delimiter() == Delimiter::Brace {
                        pending.clear();
                    }
                    self.declarations(group.stream(), source, around);
                }
                Some(TokenTree::Punct(punct)) if punct.as_char() == ';' => pending.clear(),
                _ => {}
            }
            rest = after;
        }
        around.attributes.truncate(outside);
    }

    /// Returns the declaration of the type with a path in the debug info. Of several with its name, it is the one whose file has the most parts of the
    /// type's module.
    pub fn at(&self, path: &str) -> Option<&Item> {
        let head = path.split('<').next().unwrap_or_default();
        let mut path: Vec<&str> = head.split("::").collect();
        let name = path.pop()?;
        // The modules that agree from the innermost one on, then those that agree anywhere. A type of the crate's root has no other modules.
        let score = |item: &&Item| {
            let same = item.modules.iter().rev().zip(path.iter().rev()).take_while(|(a, b)| a == b).count();
            let others = item.modules.iter().filter(|module| !path.contains(&module.as_str())).count();
            (
                same,
                path.iter().filter(|part| item.modules.iter().any(|module| module == **part)).count(),
                Reverse(others),
            )
        };
        // `max_by_key` takes the last of equals; the first file is the better guess.
        self.by_name.get(plain(name))?.iter().rev().max_by_key(score)
    }

    /// Returns the first declaration with this name.
    #[cfg(test)]
    pub(super) fn named(&self, name: &str) -> Option<&Item> {
        self.by_name.get(name)?.first()
    }

    /// Returns the field that a path names, such as `Page.author`, `Kind::Huge` or `Kind::Huge.size`: its declaration, the
    /// line, and the text of its type. `None` if there is none, or if several types have the name.
    pub fn field(&self, path: &str) -> Option<(&Item, u32, String)> {
        let only = |name: &str| match &self.by_name.get(name)?[..] {
            [item] => Some(item),
            _ => None,
        };
        let (head, field) = path.rsplit_once('.').map_or((path, "0"), |(head, field)| (head, field));
        let found = only(head).map(|item| (item, None)).or_else(|| {
            let (name, variant) = head.rsplit_once("::")?;
            Some((only(name)?, Some(variant)))
        });
        let (item, variant) = found?;
        let (line, text) = item.field_type(variant, field)?;
        Some((item, line, text))
    }

    /// Returns `true` if code unwraps an `Option` field with this name: it expects a value.
    pub fn is_unwrapped(&self, field: &str) -> bool {
        self.unwrapped.contains(field)
    }

    /// Returns `true` if code changes the length of a field's collection after it is made.
    pub fn grows(&self, ty: &str, field: &str) -> bool {
        self.growth.has(ty, field)
    }

    /// Returns the first function with a foreign ABI that names the type.
    pub fn foreign(&self, name: &str) -> Option<String> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let names = |text: &str| text.split(|c: char| !is_word(c)).any(|word| word == name);
        self.externs.iter().find(|(.., text)| names(text)).map(|(file, line, _)| format!("{file}:{line}"))
    }
}

/// What contains a declaration.
struct Around {
    modules: Vec<String>,
    attributes: Vec<Attribute>,
}

/// A source file.
struct Source<'s> {
    file: &'s str,
    lines: &'s [&'s str],
    /// The lines of code that a `// dwell: keep` is about, with its reason.
    keeps: Vec<(usize, String)>,
}

impl Source<'_> {
    /// Returns the declaration that begins at a place and ends on a line.
    fn item(&self, start: LineColumn, end: usize, around: &Around) -> Item {
        let index = start.line.saturating_sub(1);
        Item {
            file: self.file.to_owned(),
            line: u32::try_from(start.line).unwrap_or(u32::MAX),
            attributes: Vec::new(),
            own: 0,
            body: self.lines.get(index..end.min(self.lines.len())).unwrap_or_default().join("\n"),
            modules: around.modules.clone(),
            around: around.attributes.clone(),
            kept: None,
        }
    }

    /// Returns the reason of a `// dwell: keep` that is about one of these lines.
    fn kept(&self, lines: std::ops::RangeInclusive<usize>) -> Option<String> {
        self.keeps.iter().find(|(line, _)| lines.contains(line)).map(|(_, reason)| reason.clone())
    }
}

/// The comment with which an author declines changes of a type.
const KEEP: &str = "dwell: keep";

/// Finds the comments that decline changes: the line of the code that each is about, and its reason. A comment on a line of
/// its own is about the code below it.
fn keeps(text: &str, tokens: &TokenStream) -> Vec<(usize, String)> {
    fn spans(tokens: &TokenStream, found: &mut Vec<proc_macro2::Span>) {
        for tree in tokens.clone() {
            match tree {
                TokenTree::Group(group) => {
                    found.push(group.span_open());
                    spans(&group.stream(), found);
                    found.push(group.span_close());
                }
                other => found.push(other.span()),
            }
        }
    }
    let mut all = Vec::new();
    spans(tokens, &mut all);
    let mut found = Vec::new();
    let (mut start, mut line) = (0, 0);
    for span in all {
        let range = span.byte_range();
        let comments = text.get(start..range.start).unwrap_or_default();
        for (number, comment) in comments.lines().enumerate() {
            let Some(reason) = reason(comment) else { continue };
            // `lines` begins with the rest of the line of the token before.
            let is_beside = number == 0 && start > 0;
            found.push((if is_beside { line } else { span.start().line }, reason));
        }
        if range.end >= start {
            (start, line) = (range.end, span.end().line);
        }
    }
    let beside = text.get(start..).and_then(|rest| rest.lines().next());
    found.extend(beside.and_then(reason).map(|reason| (line, reason)));
    found
}

/// Returns the reason in a comment that declines changes.
fn reason(comment: &str) -> Option<String> {
    let (_, inside) = comment.split_once("//").or_else(|| comment.split_once("/*"))?;
    let reason = inside.trim_start().strip_prefix(KEEP)?.trim().trim_end_matches("*/").trim();
    match reason.strip_prefix([',', ':']).map(str::trim) {
        None if !reason.is_empty() => None,
        None | Some("") => Some("without a reason".to_owned()),
        Some(reason) => Some(reason.to_owned()),
    }
}

/// Returns the names of the fields that a line unwraps: `limit` in `self.limit.as_ref().unwrap()`.
fn unwrapped(line: &str) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let calls = [".unwrap()", ".expect("].iter().flat_map(|call| line.match_indices(call));
    let field = |(at, _): (usize, &str)| {
        let mut before = &line[..at];
        for adapter in [".as_ref()", ".as_mut()", ".as_deref()", ".take()", ".clone()"] {
            before = before.strip_suffix(adapter).unwrap_or(before);
        }
        let (owner, name) = before.rsplit_once('.')?;
        let is_field = !name.is_empty() && name.chars().all(is_word) && owner.ends_with(|c| is_word(c) || c == ']');
        is_field.then(|| name.to_owned())
    };
    calls.filter_map(field).collect()
}

/// Returns the modules that the path of a file names: `a` and `b` for `src/a/b.rs`.
fn modules_of(file: &str) -> Vec<String> {
    let name = file.trim_end_matches(".rs").replace('-', "_");
    let is_module = |part: &&str| !matches!(*part, "src" | "lib" | "main" | "mod" | "crates" | "bin" | "");
    name.split('/').filter(is_module).map(str::to_owned).collect()
}

/// Returns an identifier without `r#`.
pub(super) fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINT: &str = "large_enum_variant";

    fn items(text: &str) -> Items {
        let mut items = Items::default();
        items.add("src/a.rs", text);
        items
    }

    #[test]
    fn a_type_of_the_root_is_not_its_namesake_in_a_module() {
        let mut items = Items::default();
        items.add("src/ast.rs", "struct Case<'a> { docs: &'a str }");
        items.add("src/lib.rs", "pub struct Case { docs: String }");
        let file = |path: &str| &*items.at(path).unwrap().file;
        assert_eq!((file("wit_parser::Case"), file("wit_parser::ast::Case")), ("src/lib.rs", "src/ast.rs"));
    }

    #[test]
    fn declarations_and_their_parts_are_found() {
        let items = items("/// A.\n#[derive(Debug)]\npub enum Kind {\n    A(u8),\n    /// B\n    B { x: u8 },\n}\n");
        let item = &items.by_name["Kind"][0];
        assert_eq!((item.line, item.part("B").unwrap().0, item.part("A").unwrap().1), (3, 6, "A(u8)"));
        let line = "enum E { Idle, A(Box<u8>), Huge([u64; 9]), B { x: (u8, u8), y: u8 } }";
        let all = super::tests::items(line);
        let item = &all.by_name["E"][0];
        assert_eq!(item.part("Huge"), Some((1, "Huge([u64; 9])")));
        assert_eq!(item.part("B"), Some((1, "B { x: (u8, u8), y: u8 }")));
        assert_eq!((item.part("E"), item.part("x")), (None, Some((1, "x: (u8, u8)"))));
        assert!(item.part("C").is_none() && !item.allows(&[LINT]) && !item.has_repr());
        assert!(super::tests::items("#[repr(C)] struct A(u8);").by_name["A"][0].has_repr());
        assert!(super::tests::items("fn f() { let structure = 1; }").is_empty());
    }

    #[test]
    fn declarations_in_modules_are_told_apart() {
        let source = "// struct No { a: u8 }\nconst TEXT: &str = \"struct No { b: u8 }\";\nmacro_rules! m { () => { struct No; } }\n\
                      pub struct Same { first: u8 }\nmod inner {\n    /* enum No {} */\n    pub struct Same<T>\n    where\n        T: Copy,\n    {\n        \
                      second: Vec<\n            T,\n        >,\n    }\n    pub mod r#type { pub enum r#Match { A } }\n}\nfn f() { struct Local(u8); }\n";
        let items = items(source);
        assert!(!items.by_name.contains_key("No"));
        let line = |path: &str| items.at(path).map(|item| item.line);
        assert_eq!(
            (line("app::a::Same"), line("app::a::inner::Same<u8>"), line("app::a::f::Local")),
            (Some(4), Some(7), Some(17))
        );
        assert_eq!(line("app::inner::type::Match"), Some(15));
        assert_eq!(items.by_name["Same"][1].part("second"), Some((11, "second: Vec<\n            T,\n        >")));
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
            "#[expect(\n    clippy::large_enum_variant,\n    reason = \"few\"\n)]\npub(crate) enum Kind { A }\n",
            "#[cfg_attr(clippy, allow(clippy::large_enum_variant))] enum Kind { A }\n",
            "enum Kind {\n    #[allow(clippy::large_enum_variant)]\n    A([u64; 90]),\n}\n",
            "#![allow(clippy::large_enum_variant)]\nenum Kind {\n    A,\n}\n",
            "mod a {\n    #![allow(clippy::large_enum_variant)]\n    enum Kind { A }\n}\n",
            "#[allow(clippy::large_enum_variant)]\nmod a { enum Kind { A } }\n",
        ] {
            assert!(items(text).by_name["Kind"][0].allows(&[LINT]), "{text}");
        }
    }

    /// A comment or a name that speaks of boxes or lints decides nothing, nor does an attribute of something else.
    #[test]
    fn only_an_attribute_declines_a_box() {
        for text in [
            "enum Kind {\n    A,\n    B([f64; 24]), // with its bounding box\n}\n",
            "/// Do not box large_enum_variant.\nenum Kind { A }\n",
            "// #[allow(clippy::large_enum_variant)]\nenum Kind { A }\n",
            "#[doc = \"#[allow(clippy::large_enum_variant)]\"] enum Kind { A }\n",
            "#[warn(clippy::large_enum_variant)] enum Kind { A }\n",
            "#[allow(clippy::large_enum_variant)]\nenum Other { A }\nenum Kind { A }\n",
            "#[allow(clippy::large_enum_variant)]\nfn f() {}\nenum Kind { A }\n",
            "#[allow(clippy::large_enum_variant)]\nuse a::b;\nenum Kind { A }\n",
            "mod a { #![allow(clippy::large_enum_variant)] }\nenum Kind { A }\n",
            "const LINT: &str = \"allow(clippy::large_enum_variant)\";\nenum Kind { A }\n",
        ] {
            assert!(!items(text).by_name["Kind"][0].allows(&[LINT]), "{text}");
        }
    }

    #[test]
    fn comment_that_keeps_a_type_is_found() {
        let kept = |text: &str| items(text).by_name["Kind"][0].kept().map(str::to_owned);
        for text in [
            "struct A; // B\n// dwell: keep, hot\n#[derive(Debug)]\nenum Kind { A }\n",
            "#[derive(Debug)]\n// dwell: keep, hot\npub enum Kind { A }\n",
            "enum Kind { // dwell: keep: hot\n    A,\n}\n",
            "enum Kind {\n    A, // dwell: keep, hot\n    B,\n}\n",
            "enum Kind {\n    A,\n    B,\n} // dwell: keep, hot\n",
            "/// Text.\n/* dwell: keep, hot */ enum Kind { A }\n",
        ] {
            assert_eq!(kept(text).as_deref(), Some("hot"), "{text}");
        }
        assert_eq!(kept("// dwell: keep\nenum Kind { A }").as_deref(), Some("without a reason"));
        for text in [
            "struct A; // dwell: keep, hot\nenum Kind { A }\n",
            "/// dwell: keep, hot\nenum Kind { A }\n",
            "const A: &str = \"// dwell: keep, hot\"; enum Kind { A }\n",
            "// dwell: keepsake\nenum Kind { A }\n",
            "enum Kind { A }\n// dwell: keep, hot\nstruct A;\n",
            "// We let dwell: keep, hot\nenum Kind { A }\n",
        ] {
            assert_eq!(kept(text), None, "{text}");
        }
    }

    #[test]
    fn attributes_of_a_declaration_are_found() {
        assert!(items("#[repr(C)] pub struct Kind {\n    a: u8,\n}\n").by_name["Kind"][0].has_repr());
        for derive in ["#[derive(Clone, Copy)]", "#[derive(Debug)]\n#[derive(\n    Clone,\n    Copy,\n)]"] {
            assert!(
                items(&format!("{derive}\npub struct Kind {{\n    a: u8,\n}}\n")).by_name["Kind"][0].is_copy(),
                "{derive}"
            );
        }
        assert!(!items("#[derive(Clone, CopyTo)]\nstruct Kind {\n    a: u8,\n}\n").by_name["Kind"][0].is_copy());
        assert!(items("#[derive(Parser)] struct Kind { a: u8 }").by_name["Kind"][0].is_command_line());
        assert!(
            items("#[derive(Debug)]\n#[command(version)]\nstruct Kind { a: u8 }").by_name["Kind"][0].is_command_line()
        );
        assert!(items("#[derive(serde::Deserialize)] struct Kind { a: u8 }").by_name["Kind"][0].is_deserialized());
        assert!(
            !items("struct Kind { #[command(flatten)] a: u8 } // derive(Deserialize)").by_name["Kind"][0]
                .is_command_line()
        );
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
