//! Uses of a changed field in code that no build here compiles: behind a `cfg` for another system, in a package that does not
//! build, in documents whose tests do not run, and in macros that nothing here calls. Nobody would see that they break.

use super::builds::{Build, Compiled};
use super::cfg::Condition;
use super::git;
use super::tree::{Tree, normal};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A place that a person has to look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    /// Why.
    pub(super) why: String,
}

/// What changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    /// The structs, enums or variants with the changed fields, and the enums of these variants.
    pub(super) owners: BTreeSet<String>,
    pub(super) fields: BTreeSet<String>,
    /// Variants and tuple structs, which are used like functions.
    pub(super) tuples: BTreeSet<String>,
    /// Functions with another signature.
    pub(super) functions: BTreeSet<String>,
}

impl Names {
    /// Adds what an item of an edit names: `Entry.details`, `Kind::Huge`, `Kind::Named.details`, `Pair.0`.
    pub(super) fn add(&mut self, item: &str) {
        let (head, field) = item.split_once('.').map_or((item, None), |(head, field)| (head, Some(field)));
        let parts: Vec<&str> = head.split('<').next().unwrap_or_default().split("::").collect();
        let Some((last, before)) = parts.split_last() else { return };
        let is_type = |name: &&&str| name.starts_with(char::is_uppercase);
        self.owners.extend([*last].iter().chain(before.last().filter(is_type)).map(|name| (*name).to_owned()));
        match field {
            Some(name) if !name.starts_with(|letter: char| letter.is_ascii_digit()) => {
                self.fields.insert(name.split(' ').next().unwrap_or(name).trim_start_matches("r#").to_owned());
            }
            _ => _ = self.tuples.insert((*last).to_owned()),
        }
    }
}

/// What was built.
pub(super) struct Built<'a> {
    pub(super) builds: &'a [Build],
    /// What rustc says of the target.
    pub(super) base: BTreeSet<String>,
    /// Whether the tests ran, with those of documents.
    pub(super) tested: bool,
}

/// Returns the uses of what changed that no build compiles.
pub(super) fn find(tree: &Tree, built: &Built<'_>, names: &Names) -> Vec<Place> {
    let sources: Vec<(PathBuf, String)> =
        tree.sources(Path::new("")).into_iter().filter_map(|file| tree.read(&file).map(|text| (file, text))).collect();
    let calls: BTreeSet<String> = sources.iter().flat_map(|(_, text)| called(text)).collect();
    let wrappers: BTreeMap<String, Condition> =
        sources.iter().filter(|(_, text)| text.contains("macro_rules")).flat_map(|(_, text)| wrappers(text)).collect();
    let mut found = BTreeSet::new();
    for (file, text) in &sources {
        // A document names what it uses in its code too.
        let is_known = |name: &str| text.contains(name);
        let is_used = names.fields.iter().chain(&names.tuples).chain(&names.functions).any(|name| is_known(name));
        if !is_used && (built.tested || !is_known("include_str!")) {
            continue;
        }
        let all = built.builds.iter().flat_map(|build| &build.before.compiled);
        let units: Vec<&Compiled> = all.filter(|unit| unit.files.contains(file)).collect();
        // The data of tests: what the tests do with it, they do.
        let is_data =
            file.iter().any(|part| part == "tests") && file.iter().rev().nth(1).is_some_and(|item| item != "tests");
        // A module that is not built reaches the owner by another type's field.
        let is_module =
            file.iter().any(|part| part == "src") && ["crate::", "super::"].iter().any(|prefix| is_known(prefix));
        let has_owner = is_module || names.owners.iter().any(|owner| is_known(owner));
        if units.is_empty() && (is_data && built.tested || !has_owner) {
            continue;
        }
        if let Ok(tokens) = text.parse::<TokenStream>() {
            let walk = &mut Walk {
                built,
                names,
                units: &units,
                calls: &calls,
                wrappers: &wrappers,
                file,
                conditions: Vec::new(),
                found: &mut found,
            };
            walk.tokens(tokens, None);
        }
        if !built.tested {
            let mut all = vec![(file.clone(), documents(text, true))];
            for included in included(file, text) {
                all.extend(tree.read(&included).map(|text| (included, documents(&text, false))));
            }
            for (file, codes) in &all {
                for (first, code) in codes {
                    let Ok(tokens) = code.parse::<TokenStream>() else { continue };
                    let mut inner = BTreeSet::new();
                    let conditions = vec![Condition::Is("doctest".to_owned())];
                    let (calls, wrappers) = (&calls, &wrappers);
                    Walk { built, names, units: &[], calls, wrappers, file, conditions, found: &mut inner }
                        .tokens(tokens, None);
                    found.extend(inner.into_iter().map(|item| Place {
                        line: item.line + first - 1,
                        why: "a test of the document, which did not run, uses it".to_owned(),
                        ..item
                    }));
                }
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the uses in packages of the same repository that are outside of the workspace and depend on its packages by path: nothing
/// here builds them.
pub(super) fn outside(root: &Path, names: &Names) -> Vec<Place> {
    let depends = |manifest: &&PathBuf| {
        let folder = manifest.parent().unwrap_or(root);
        let text = fs::read_to_string(manifest).unwrap_or_default();
        let mut paths =
            text.split("path").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('=')?.split('"').nth(1));
        !folder.starts_with(root) && paths.any(|path| normal(&folder.join(path)).starts_with(root))
    };
    let manifests = git::files_of_repository(root, "*Cargo.toml");
    let folders: BTreeSet<&Path> = manifests.iter().filter(depends).filter_map(|manifest| manifest.parent()).collect();
    let mut found = BTreeSet::new();
    if folders.is_empty() {
        return Vec::new();
    }
    let (builds, base, calls, wrappers) = (&[], BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
    let built = &Built { builds, base, tested: true };
    for file in git::files_of_repository(root, "*.rs") {
        if file.starts_with(root) || !folders.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let Ok(tokens) = text.parse::<TokenStream>() else { continue };
        let mut inner = BTreeSet::new();
        let (calls, wrappers, conditions) = (&calls, &wrappers, Vec::new());
        Walk { built, names, units: &[], calls, wrappers, file: &file, conditions, found: &mut inner }
            .tokens(tokens, None);
        let why = "is outside of the workspace, is not built here, and uses it";
        found.extend(inner.into_iter().map(|item| Place { why: why.to_owned(), ..item }));
    }
    found.into_iter().collect()
}

/// Returns the names of the macros that a text calls.
fn called(text: &str) -> impl Iterator<Item = String> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices('!').filter_map(move |(at, _)| {
        let start = text[..at].trim_end_matches(is_word).len();
        (start < at && !text[at + 1..].starts_with('=')).then(|| text[start..at].to_owned())
    })
}

/// Returns the macros of a source that give a condition to what they get, `($($item:item)*) => { $(#[cfg(windows)] $item)* }`, each with it.
fn wrappers(text: &str) -> Vec<(String, Condition)> {
    fn given(tokens: TokenStream, to: &mut Vec<Condition>) {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < all.len() {
            let (conditions, after) = attributes(&all[at..]);
            at += after.max(1);
            if matches!(all.get(at - usize::from(after == 0)..), Some([TokenTree::Punct(punct), ..]) if punct.as_char() == '$')
            {
                to.extend(conditions);
            }
            if let Some(TokenTree::Group(group)) = all.get(at - 1) {
                given(group.stream(), to);
            }
        }
    }
    fn all(tokens: TokenStream, to: &mut Vec<(String, Condition)>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in tokens.iter().enumerate() {
            match (tree, tokens.get(at + 2), tokens.get(at + 3)) {
                (TokenTree::Ident(word), Some(TokenTree::Ident(name)), Some(TokenTree::Group(group)))
                    if *word == "macro_rules" =>
                {
                    let mut conditions = Vec::new();
                    given(group.stream(), &mut conditions);
                    if !conditions.is_empty() {
                        to.push((name.to_string(), Condition::Any(conditions)));
                    }
                }
                (TokenTree::Group(group), ..) => all(group.stream(), to),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    if let Ok(tokens) = text.parse() {
        all(tokens, &mut found);
    }
    found
}

/// Returns the documents that a source includes: `#![doc = include_str!("../README.md")]`.
pub(super) fn included(file: &Path, text: &str) -> Vec<PathBuf> {
    let names = text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folder = file.parent().unwrap_or(Path::new(""));
    names
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "md"))
        .map(|name| normal(&folder.join(name)))
        .collect()
}

/// Returns the code in the comments of a source that document its items, or in a document, with the lines where it begins.
pub(super) fn documents(text: &str, is_source: bool) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut open: Option<(usize, String, bool)> = None;
    let mut is_block = false;
    for (index, line) in text.lines().enumerate() {
        let Some(line) = (if is_source { of_comment(line, &mut is_block) } else { Some(line) }) else {
            open = None;
            continue;
        };
        let line = line.trim();
        if let Some(tags) = line.strip_prefix("```") {
            if let Some((first, code, is_rust)) = open.take() {
                all.extend(is_rust.then_some((first, code)));
            } else {
                let known = ["rust", "should_panic", "no_run", "ignore", "test_harness"];
                let mut tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
                let is_rust = tags.all(|tag| known.contains(&tag) || tag.starts_with("edition"));
                open = Some((index + 2, String::new(), is_rust));
            }
        } else if let Some((_, code, _)) = &mut open {
            code.push_str(line.strip_prefix("# ").unwrap_or(if line == "#" { "" } else { line }));
            code.push('\n');
        }
    }
    all
}

/// Returns what a line has of a comment that documents an item: `///`, `/** .. */`, `#[doc = ".."]`. `is_block` tells whether the line begins
/// inside of a block, and is changed.
fn of_comment<'t>(line: &'t str, is_block: &mut bool) -> Option<&'t str> {
    let line = line.trim();
    if *is_block {
        *is_block = !line.contains("*/");
        let is_mark = |rest: &&str| rest.is_empty() || rest.starts_with(' ');
        return is_block.then(|| line.strip_prefix('*').filter(is_mark).unwrap_or(line));
    }
    if let Some(rest) = line.strip_prefix("/**").or_else(|| line.strip_prefix("/*!")) {
        *is_block = !rest.contains("*/") && !rest.starts_with('*');
        return is_block.then_some(rest);
    }
    let attribute = line.strip_prefix("#[doc = \"").or_else(|| line.strip_prefix("#![doc = \""));
    let attribute = attribute.and_then(|rest| rest.strip_suffix("\"]")).filter(|text| !text.contains(['\\', '"']));
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).or(attribute)
}

/// Walks over tokens, with the conditions around them.
struct Walk<'a> {
    built: &'a Built<'a>,
    names: &'a Names,
    units: &'a [&'a Compiled],
    calls: &'a BTreeSet<String>,
    /// The macros that give a condition to what they get.
    wrappers: &'a BTreeMap<String, Condition>,
    file: &'a Path,
    conditions: Vec<Condition>,
    found: &'a mut BTreeSet<Place>,
}

impl Walk<'_> {
    /// Walks over the tokens of a file or a group, which stands after the name `head`.
    fn tokens(&mut self, tokens: TokenStream, head: Option<&str>) {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let depth = self.conditions.len();
        self.slice(&all, head);
        self.conditions.truncate(depth);
    }

    fn slice(&mut self, all: &[TokenTree], head: Option<&str>) {
        let mut at = 0;
        while at < all.len() {
            let (conditions, after) = attributes(&all[at..]);
            if !conditions.is_empty() {
                let start = at + after;
                let end = start + length(&all[start..]);
                let depth = self.conditions.len();
                self.conditions.extend(conditions);
                self.slice(&all[start..end], head);
                self.conditions.truncate(depth);
                at = end.max(at + 1);
                continue;
            }
            match &all[at..] {
                [TokenTree::Punct(hash), TokenTree::Punct(not), TokenTree::Group(group), ..]
                    if hash.as_char() == '#' && not.as_char() == '!' =>
                {
                    // Of the rest of the file.
                    self.conditions.extend(Condition::of_attribute(group.stream()));
                    at += 3;
                }
                [TokenTree::Ident(name), TokenTree::Punct(not), TokenTree::Group(group), ..]
                    if *name == "cfg_if" && not.as_char() == '!' =>
                {
                    self.alternatives(group);
                    at += 3;
                }
                [TokenTree::Ident(name), TokenTree::Punct(not), TokenTree::Group(group), ..]
                    if *name == "cfg_select" && not.as_char() == '!' =>
                {
                    self.selected(group);
                    at += 3;
                }
                [TokenTree::Ident(name), TokenTree::Punct(not), TokenTree::Group(group), ..]
                    if not.as_char() == '!' && self.wrappers.contains_key(&name.to_string()) =>
                {
                    self.conditions.push(self.wrappers[&name.to_string()].clone());
                    self.tokens(group.stream(), None);
                    self.conditions.pop();
                    at += 3;
                }
                [TokenTree::Ident(word), TokenTree::Punct(_), TokenTree::Ident(name), TokenTree::Group(group), ..]
                    if *word == "macro_rules" =>
                {
                    let is_called = self.calls.contains(&name.to_string());
                    let depth = self.conditions.len();
                    self.conditions.extend((!is_called).then(|| Condition::Is(format!("{name}!"))));
                    self.tokens(group.stream(), None);
                    self.conditions.truncate(depth);
                    at += 4;
                }
                [TokenTree::Group(group), ..] => {
                    let before = name_before(&all[..at]);
                    self.tokens(group.stream(), before.as_deref());
                    at += 1;
                }
                _ => {
                    if self.is_use(all, at, head) {
                        self.add(&all[at]);
                    }
                    at += 1;
                }
            }
        }
    }

    /// Walks over `if #[cfg(a)] { .. } else if #[cfg(b)] { .. } else { .. }`.
    fn alternatives(&mut self, arms: &Group) {
        let mut others = Vec::new();
        let mut condition = None;
        for tree in arms.stream() {
            let TokenTree::Group(group) = tree else { continue };
            if group.delimiter() == Delimiter::Bracket {
                condition = Condition::of_attribute(group.stream());
                continue;
            }
            let own = condition.take();
            let not = others.iter().map(|other: &Condition| Condition::Not(Box::new(other.clone())));
            let whole = Condition::All(not.chain(own.clone()).collect());
            others.extend(own);
            self.conditions.push(whole);
            self.tokens(group.stream(), None);
            self.conditions.pop();
        }
    }

    /// Walks over `windows => { .. } all(unix, a) => .., _ => { .. }`.
    fn selected(&mut self, group: &Group) {
        let all: Vec<TokenTree> = group.stream().into_iter().collect();
        let is = |index: usize, mark: char| matches!(all.get(index), Some(TokenTree::Punct(punct)) if punct.as_char() == mark);
        let (mut at, mut others) = (0, Vec::new());
        while let Some(arrow) = (at..all.len()).find(|&index| is(index, '=') && is(index + 1, '>')) {
            let body = arrow + 2;
            let end = match all.get(body) {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => body + 1,
                _ => (body..all.len()).find(|&index| is(index, ',')).unwrap_or(all.len()),
            };
            let own = Condition::of(all[at..arrow].iter().cloned().collect());
            let own = own.filter(|condition| *condition != Condition::Is("_".to_owned()));
            let not = others.iter().map(|other: &Condition| Condition::Not(Box::new(other.clone())));
            let whole = Condition::All(not.chain(own.clone()).collect());
            others.extend(own);
            self.conditions.push(whole);
            self.slice(&all[body..end], None);
            self.conditions.pop();
            at = if is(end, ',') { end + 1 } else { end };
        }
    }

    /// Returns `true` if a token uses what changed.
    fn is_use(&self, all: &[TokenTree], at: usize, head: Option<&str>) -> bool {
        let TokenTree::Ident(name) = &all[at] else { return false };
        let name = name.to_string();
        let name = name.trim_start_matches("r#");
        let punct = |index: Option<usize>| match index.and_then(|index| all.get(index)) {
            Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
            _ => None,
        };
        let (before, after) = (punct(at.checked_sub(1)), all.get(at + 1));
        let is_call = matches!(after, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
        if self.names.fields.contains(name) {
            let is_access = before == Some('.') && !is_call && punct(at.checked_sub(2)) != Some('.');
            let in_struct = head.is_some_and(|head| head == "Self" || self.names.owners.contains(head))
                && before.is_none_or(|mark| mark == ',' || mark == '&');
            return is_access || in_struct;
        }
        if self.names.tuples.contains(name) {
            let path = (before == Some(':')).then(|| name_before(&all[..at - 2])).flatten();
            let is_own = path.is_none_or(|owner| owner == "Self" || self.names.owners.contains(&owner));
            return is_own && (is_call || before == Some(':'));
        }
        self.names.functions.contains(name) && (is_call || before == Some(':'))
    }

    /// Adds a place if no unit compiles it.
    fn add(&mut self, token: &TokenTree) {
        let holds = |unit: &&Compiled| self.conditions.iter().all(|condition| condition.holds(unit, &self.built.base));
        if self.units.iter().any(holds) {
            return;
        }
        let why = if self.units.is_empty() {
            "is not built here, and uses it".to_owned()
        } else {
            // The innermost condition that no unit has.
            let fails = |condition: &&Condition| !self.units.iter().any(|unit| condition.holds(unit, &self.built.base));
            match self.conditions.iter().rev().find(fails).or(self.conditions.last()) {
                Some(Condition::Is(name)) if name.ends_with('!') => {
                    format!("the macro {name} uses it, and nothing here calls it")
                }
                Some(condition) => format!("cfg({condition}) is not built here, and uses it"),
                None => return,
            }
        };
        self.found.insert(Place { file: self.file.to_owned(), line: token.span().start().line, why });
    }
}

/// Returns the conditions of the attributes that tokens begin with, and the number of tokens of all attributes; none without a `cfg`.
fn attributes(all: &[TokenTree]) -> (Vec<Condition>, usize) {
    let (mut conditions, mut at) = (Vec::new(), 0);
    while let [TokenTree::Punct(hash), TokenTree::Group(group), ..] = &all[at..] {
        if hash.as_char() != '#' || group.delimiter() != Delimiter::Bracket {
            break;
        }
        conditions.extend(Condition::of_attribute(group.stream()));
        at += 2;
    }
    (conditions, at)
}

/// Returns the number of tokens of the item, statement, arm or field that tokens begin with.
fn length(all: &[TokenTree]) -> usize {
    let is_word = |tree: &TokenTree, word: &str| matches!(tree, TokenTree::Ident(ident) if *ident == word);
    // `let x = A { .. }.b;` has no end at a brace.
    let is_let = all.first().is_some_and(|first| is_word(first, "let"));
    let mut angles = 0_i32;
    for (index, tree) in all.iter().enumerate() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == ';' => return index + 1,
            TokenTree::Punct(punct) if punct.as_char() == '<' => angles += 1,
            TokenTree::Punct(punct) if punct.as_char() == '>' => angles = (angles - 1).max(0),
            TokenTree::Punct(punct) if punct.as_char() == ',' && angles == 0 && !is_let => return index + 1,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_let => {
                let goes_on = match all.get(index + 1) {
                    Some(TokenTree::Punct(punct)) => ['.', '?', '='].contains(&punct.as_char()),
                    Some(next) => is_word(next, "else"),
                    None => false,
                };
                if !goes_on {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    all.len()
}

/// Returns the last name of the path before a group, without the path's arguments.
fn name_before(all: &[TokenTree]) -> Option<String> {
    let mut angles = 0;
    for tree in all.iter().rev() {
        match tree {
            TokenTree::Punct(punct) if punct.as_char() == '>' => angles += 1,
            TokenTree::Punct(punct) if punct.as_char() == '<' => angles -= 1,
            TokenTree::Punct(punct) if punct.as_char() == ':' && angles == 0 => {}
            TokenTree::Ident(name) if angles == 0 => return Some(name.to_string()),
            _ if angles > 0 => {}
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
pub struct Entry { details: Option<Details> }
#[cfg(windows)]
#[inline]
pub fn win(details: Details) -> Entry { Entry { id: 0, details: Some(details) } }
#[cfg(feature = "extra")]
fn extra(entry: &Entry) -> bool { entry.details.is_some() }
#[cfg(all(unix, not(feature = "extra")))]
fn one(entry: &Entry) -> bool { entry.details.is_some() }
fn two(entry: &Entry) {
    #[cfg(target_os = "macos")]
    let x = Some(1).map(|of| of + 1).filter(|_| entry.details.is_some());
    #[cfg(unix)]
    let x = entry.details.is_some();
    match 1 { #[cfg(windows)] 1 => f(entry.details), _ => g(entry.details), }
    cfg_if! { if #[cfg(windows)] { entry.details } else if #[cfg(unix)] { entry.details } else { entry.details } }
    other.details(); details; Other { details };
}
macro_rules! used { ($x:expr) => { $x.details } }
macro_rules! unused { () => { $crate::Entry { details: None } } }
fn three() { used!(1); }
macro_rules! only { ($($item:item)*) => { $(#[cfg(windows)] #[cfg_attr(docs, doc(cfg(windows)))] $item)* } }
only! { fn four(of: &Entry) { of.details } }
macro_rules! here { ($($item:item)*) => { $(#[cfg(unix)] $item)* } }
here! { fn five(of: &Entry) { of.details } }
fn six(of: &Entry) {
    cfg_select! { windows => { of.details } feature = "extra" => of.details, all(unix, test) => { of.details } _ => { of.details } }
}
#[cfg(loom)] mod tests { fn f() { Kind::Huge(1); huge::Huge(2); Huge(3); Kind::Huge; sum(1); } }
"#;

    fn lines(names: &Names, features: &[&str]) -> Vec<(usize, String)> {
        let unit = |features: &[&str]| Compiled {
            files: BTreeSet::from(["a.rs".into()]),
            features: features.iter().map(|name| (*name).to_owned()).collect(),
            ..Compiled::default()
        };
        let built = Built { builds: &[], base: BTreeSet::from(["unix".to_owned()]), tested: true };
        let (without, with) = (unit(&[]), unit(features));
        let (calls, wrappers) = (called(TEXT).collect(), &wrappers(TEXT).into_iter().collect());
        let mut found = BTreeSet::new();
        let (file, units) = (Path::new("a.rs"), &[&without, &with][..]);
        Walk { built: &built, names, units, calls: &calls, wrappers, file, conditions: Vec::new(), found: &mut found }
            .tokens(TEXT.parse().unwrap(), None);
        found.into_iter().map(|item| (item.line, item.why)).collect()
    }

    #[test]
    fn uses_behind_conditions_that_no_build_has_are_found() {
        let mut names = Names::default();
        names.add("Entry.details");
        let found = lines(&names, &["extra"]);
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 12, 15, 16, 16, 20, 23, 27, 27]);
        assert_eq!(found[0].1, "cfg(windows) is not built here, and uses it");
        assert_eq!(found[5].1, "the macro unused! uses it, and nothing here calls it");
        assert_eq!(lines(&names, &[])[1].0, 7);
        let mut names = Names::default();
        names.add("m::Kind::Huge");
        names.functions.insert("sum".to_owned());
        assert_eq!(lines(&names, &[]).len(), 1);
    }

    #[test]
    fn code_of_documents_is_found() {
        let text =
            "/// A.\n/// ```\n/// # use a;\n/// f(entry.details);\n/// ```\n/// ```text\n/// x\n/// ```\nfn f() {}\n";
        assert_eq!(documents(text, true), [(3, "use a;\nf(entry.details);\n".to_owned())]);
        assert_eq!(documents("# A\n```\nf();\n```\n", false), [(3, "f();\n".to_owned())]);
        for text in [
            "/**\n```\nf();\n```\n*/\nfn a() {}",
            "/*! A.\n * ```\n * f();\n * ```\n */",
            "#[doc = \"A.\"]\n#[doc = \"```\"]\n#[doc = \"f();\"]\n#[doc = \"```\"]",
        ] {
            assert_eq!(documents(text, true), [(3, "f();\n".to_owned())], "{text}");
        }
        assert!(
            documents("/*\n```\nf();\n```\n*/", true).is_empty()
                && documents("/** A. */\n```\nf();\n```", true).is_empty()
        );
        let source = "#![doc = include_str!(\"../README.md\")]\n";
        assert_eq!(included(Path::new("a/src/lib.rs"), source), [PathBuf::from("a/README.md")]);
    }
}
