//! Reads the source to find out whether a local is used after an `.await`.
//!
//! The source is read as tokens, so that macros can be read too. If the tokens do not decide, the local counts as used.

use dwell_debuginfo::{Source, Type};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files that debug info names.
#[derive(Debug, Default)]
pub(super) struct Files {
    root: Option<PathBuf>,
    /// The time of the build. A file with a later time may have other lines.
    built: Option<SystemTime>,
    read: HashMap<String, Option<Tokens>>,
}

/// A file's tokens as a flat list.
#[derive(Debug)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    pub(super) text: String,
}

#[derive(Debug)]
pub(super) struct Token {
    pub(super) line: usize,
    /// The bytes of the token in the text.
    pub(super) range: Range<usize>,
    pub(super) is: Is,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Is {
    Word(String),
    /// A literal. Its text may be a format string that names variables in braces.
    Literal(String),
    Punct(char),
    /// An opening delimiter, with the index of the closing one.
    Open(Delimiter, usize),
    /// A closing delimiter, with the index of the opening one.
    Close(usize),
}

/// What is around an `.await`.
#[derive(Clone, Copy, Debug)]
struct Around {
    in_branch: bool,
    in_branch_of_loop: bool,
}

impl Files {
    /// Returns the source files of `executable`. Relative paths start from `root`.
    pub(super) fn new(root: Option<&Path>, executable: &Path) -> Self {
        let built = std::fs::metadata(executable).and_then(|file| file.modified()).ok();
        Self { root: root.map(Path::to_owned), built, read: HashMap::new() }
    }

    /// Returns `true` if the path of a future's source can be resolved. Paths of dependencies are relative to other
    /// folders.
    pub(super) fn may_read(&self, future: &Type) -> bool {
        let absolute = future.source.as_ref().is_some_and(|source| Path::new(&*source.file).is_absolute());
        absolute || (future.own && self.root.is_some())
    }

    /// Returns the path of a file below the root. `None`: it is elsewhere.
    pub(super) fn name(&self, file: &str) -> Option<String> {
        let path = Path::new(file);
        if path.is_relative() {
            return Some(file.to_owned());
        }
        Some(path.strip_prefix(self.root.as_deref()?).ok()?.to_string_lossy().into_owned())
    }

    /// Returns the tokens of a file that did not change after the build.
    pub(super) fn tokens(&mut self, file: &str) -> Option<&Tokens> {
        let path = self.root.as_deref().unwrap_or(Path::new("")).join(file);
        let built = self.built;
        let read = self.read.entry(file.to_owned()).or_insert_with(|| {
            let changed = std::fs::metadata(&path).and_then(|file| file.modified()).ok()?;
            if built.is_none_or(|built| changed > built) {
                return None;
            }
            let text = std::fs::read_to_string(&path).ok()?;
            Tokens::new(text)
        });
        read.as_ref()
    }

    /// Returns `true` if the source shows that a local is not used after an `.await`.
    ///
    /// That is, between the `.await` and the end of the body in `lines`, no token names the local or a variable that
    /// may borrow from it. `may_borrow` tells for each name that the `.await` holds whether it may borrow.
    pub(super) fn is_unused_after(
        &mut self,
        at: &Source,
        lines: (u32, u32),
        name: &str,
        may_borrow: &dyn Fn(&str) -> bool,
    ) -> bool {
        let Some(tokens) = self.tokens(&at.file) else { return false };
        let lines = (lines.0 as usize, lines.1 as usize);
        tokens.is_unused_after(at.line as usize, lines, name, may_borrow).unwrap_or(false)
    }

    /// Returns `true` if the body in `lines` is one expression that ends in its only `.await`, so that the function can
    /// return the awaited future instead.
    pub(super) fn only_awaits(&mut self, file: &str, lines: (u32, u32)) -> bool {
        self.tokens(file)
            .is_some_and(|tokens| tokens.only_awaits((lines.0 as usize, lines.1 as usize)).unwrap_or(false))
    }

    /// Returns `true` if an `.await` is in a branch inside of a loop: a long-lived task comes to it now and then.
    pub(super) fn is_branch_of_loop(&mut self, at: &Source, lines: (u32, u32)) -> bool {
        let Some(tokens) = self.tokens(&at.file) else { return false };
        tokens
            .around(at.line as usize, (lines.0 as usize, lines.1 as usize))
            .is_some_and(|place| place.in_branch_of_loop)
    }

    /// Returns `true` if an `.await` is in a branch, so that not all calls come to it.
    pub(super) fn is_branch(&mut self, at: &Source, lines: (u32, u32)) -> bool {
        let Some(tokens) = self.tokens(&at.file) else { return false };
        tokens.around(at.line as usize, (lines.0 as usize, lines.1 as usize)).is_some_and(|place| place.in_branch)
    }

    /// Returns `true` if these lines contain `let to = from;`.
    pub(super) fn is_moved(&mut self, file: &str, lines: (u32, u32), from: &str, to: &str) -> bool {
        let Some(tokens) = self.tokens(file) else { return false };
        let inside = |token: &Token| (lines.0 as usize..=lines.1 as usize).contains(&token.line);
        let list: Vec<&Is> = tokens.list.iter().filter(|token| inside(token)).map(|token| &token.is).collect();
        list.windows(6).any(|window| {
            let (binding, rest) = match window[1] {
                Is::Word(word) if word == "mut" => (window[2], &window[3..]),
                _ => (window[1], &window[2..5]),
            };
            word(window[0], "let")
                && word(binding, to)
                && *rest[0] == Is::Punct('=')
                && word(rest[1], from)
                && *rest[2] == Is::Punct(';')
        })
    }
}

pub(super) fn word(is: &Is, expected: &str) -> bool {
    matches!(is, Is::Word(word) if word == expected)
}

impl Tokens {
    pub(super) fn new(text: String) -> Option<Self> {
        let stream: TokenStream = text.parse().ok()?;
        let mut list = Vec::new();
        // The open groups: the remaining tokens of each, the index of its delimiter, and where it ends.
        let mut open = vec![(stream.into_iter(), None, (0, 0..0))];
        while let Some((stream, start, end)) = open.last_mut() {
            let Some(tree) = stream.next() else {
                if let Some(start) = *start {
                    let close_at = list.len();
                    let Token { is: Is::Open(_, close), .. } = &mut list[start] else { return None };
                    *close = close_at;
                    list.push(Token { line: end.0, range: end.1.clone(), is: Is::Close(start) });
                }
                open.pop();
                continue;
            };
            let line = tree.span().start().line;
            let range = tree.span().byte_range();
            match tree {
                TokenTree::Group(group) => {
                    let start = list.len();
                    let range = group.span_open().byte_range();
                    list.push(Token { line, range, is: Is::Open(group.delimiter(), 0) });
                    let end = (group.span_close().end().line, group.span_close().byte_range());
                    open.push((group.stream().into_iter(), Some(start), end));
                }
                TokenTree::Ident(ident) => list.push(Token { line, range, is: Is::Word(ident.to_string()) }),
                TokenTree::Punct(punct) => list.push(Token { line, range, is: Is::Punct(punct.as_char()) }),
                TokenTree::Literal(literal) => list.push(Token { line, range, is: Is::Literal(literal.to_string()) }),
            }
        }
        Some(Self { list, text })
    }

    /// Returns `None` if the tokens are not as expected.
    fn is_unused_after(
        &self,
        line: usize,
        lines: (usize, usize),
        name: &str,
        may_borrow: &dyn Fn(&str) -> bool,
    ) -> Option<bool> {
        let first = self.list.iter().position(|token| token.line >= line)?;
        let mut body = self.list.iter().position(|token| token.line >= lines.0)?;
        let end = self.list.iter().rposition(|token| token.line <= lines.1)? + 1;
        let is_await = |index: &usize| word(&self.list[*index].is, "await") && self.list[*index].line == line;
        // A macro may hide the `.await`, or a line may have several: then the whole line counts as after it.
        let awaits: Vec<_> = (first..end).take_while(|&index| self.list[index].line == line).filter(is_await).collect();
        let [at] = awaits[..] else { return Some(false) };
        // A macro may have created the name.
        if !(body..at).any(|index| word(&self.list[index].is, name)) {
            return Some(false);
        }
        // The groups around the `.await`, innermost first. A function's signature does not use its arguments.
        let mut around: Vec<usize> = Vec::new();
        for open in (body..at).rev() {
            if matches!(self.list[open].is, Is::Open(_, close) if (at..end).contains(&close)) {
                if (self.statement_start(open, body)..open).any(|index| word(&self.list[index].is, "fn")) {
                    body = open;
                    break;
                }
                around.push(open);
            }
        }

        // The variables made from the local, and those of them that can borrow from it after the `.await`.
        let mut made = BTreeSet::from([name.to_owned()]);
        while self.add_made(body, at, may_borrow, &mut made) {}
        let borrowers = made.iter().filter(|other| *other == name || may_borrow(other)).cloned().collect();
        let named = |names: &BTreeSet<String>, from: usize, to: usize| (from..to).any(|index| self.names(index, names));
        // The awaited future itself may borrow the local.
        if named(&made, self.statement_start(at, body), at) || named(&borrowers, at + 1, end) {
            return Some(false);
        }
        let declared = self.declared(name, body, at);
        for &open in &around {
            let Is::Open(delimiter, close) = self.list[open].is else { return None };
            if delimiter != Delimiter::Brace {
                continue;
            }
            let header = self.statement_start(open, body);
            // `match`, `if let` and `for` bind parts of the expression in their header.
            if named(&made, header, open) {
                return Some(false);
            }
            let loops = (header..open).any(|index| {
                let is = &self.list[index].is;
                word(is, "loop") || word(is, "while") || word(is, "for")
            });
            // The next iteration of a loop comes after the `.await`.
            if loops && declared.is_none_or(|declared| declared < open) && named(&borrowers, open, close) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the body of the function in `lines`: the indices of its braces.
    pub(super) fn body(&self, lines: (usize, usize)) -> Option<(usize, usize)> {
        let start = self.list.iter().position(|token| token.line >= lines.0)?;
        let function = (start..self.list.len()).find(|&index| word(&self.list[index].is, "fn"))?;
        let mut index = function;
        while self.list.get(index)?.line <= lines.1 {
            match self.list[index].is {
                Is::Open(Delimiter::Brace, close) => return Some((index, close)),
                Is::Open(_, close) => index = close,
                Is::Punct(';') => return None,
                _ => {}
            }
            index += 1;
        }
        None
    }

    fn only_awaits(&self, lines: (usize, usize)) -> Option<bool> {
        let (open, close) = self.body(lines)?;
        let inside = &self.list[open + 1..close];
        let (last, rest) = inside.split_last()?;
        // A statement, an early return, a loop or a branch, or a second `.await` needs the coroutine.
        let needs = |token: &Token| match &token.is {
            Is::Punct(mark) => matches!(mark, ';' | '?' | '!'),
            Is::Word(word) => {
                matches!(
                    word.as_str(),
                    "await" | "return" | "let" | "if" | "match" | "loop" | "while" | "for" | "async"
                )
            }
            Is::Open(delimiter, _) => *delimiter == Delimiter::Brace,
            _ => false,
        };
        Some(word(&last.is, "await") && !rest.iter().any(needs))
    }

    fn around(&self, line: usize, lines: (usize, usize)) -> Option<Around> {
        let (body, end) = self.body(lines)?;
        let is_await = |index: &usize| word(&self.list[*index].is, "await") && self.list[*index].line == line;
        let at = (body..end).find(is_await)?;
        let around = (body + 1..at).filter(|&open| matches!(self.list[open].is, Is::Open(_, close) if close > at));
        let (mut in_loop, mut in_branch, mut in_branch_of_loop) = (false, false, false);
        for open in around {
            let header = self.statement_start(open, body + 1)..open;
            let has = |name: &str| header.clone().any(|index| word(&self.list[index].is, name));
            if has("loop") || has("while") || has("for") {
                (in_loop, in_branch_of_loop) = (true, false);
            }
            let divides = has("if") || has("match") || has("else");
            in_branch |= divides;
            in_branch_of_loop |= divides;
        }
        // An arm, as of `match` and `select!`: `=>` before the `.await`, in the innermost group.
        let arm = |pair: &[Token]| pair[0].is == Is::Punct('=') && pair[1].is == Is::Punct('>');
        let is_arm = self.list[self.statement_start(at, body + 1)..at].windows(2).any(arm);
        Some(Around { in_branch: in_branch || is_arm, in_branch_of_loop: in_loop && (in_branch_of_loop || is_arm) })
    }

    /// Returns `true` if the token names one of these variables.
    fn names(&self, index: usize, names: &BTreeSet<String>) -> bool {
        match &self.list[index].is {
            Is::Word(word) => names.contains(word),
            Is::Literal(text) => names.iter().any(|name| text.contains(&format!("{{{name}"))),
            _ => false,
        }
    }

    /// Returns the start of the statement or block header that contains a token.
    pub(super) fn statement_start(&self, token: usize, body: usize) -> usize {
        let mut index = token;
        while index > body {
            match self.list[index - 1].is {
                Is::Punct(';') | Is::Open(Delimiter::Brace, _) => break,
                Is::Close(open) if matches!(self.list[open].is, Is::Open(Delimiter::Brace, _)) => {
                    // A block ends a statement, unless the statement continues: `if .. {} else {`, `match x {}.await`.
                    let goes_on = match &self.list[index].is {
                        Is::Word(word) => word == "else",
                        Is::Punct(punct) => *punct != '#',
                        _ => false,
                    };
                    if !goes_on {
                        break;
                    }
                    index = open.max(body);
                }
                Is::Close(open) => index = open.max(body),
                _ => index -= 1,
            }
        }
        index
    }

    /// Returns the last `let` that binds the name.
    fn declared(&self, name: &str, body: usize, at: usize) -> Option<usize> {
        (body..at).rev().find(|&index| {
            word(&self.list[index].is, "let")
                && (index..at)
                    .take_while(|&other| !matches!(self.list[other].is, Is::Punct('=' | ';')))
                    .any(|other| word(&self.list[other].is, name))
        })
    }

    /// Adds the variables that are bound by statements with one of the variables, and other variables in these
    /// statements that may borrow. Returns `true` if it added any.
    fn add_made(&self, body: usize, at: usize, may_borrow: &dyn Fn(&str) -> bool, made: &mut BTreeSet<String>) -> bool {
        let known = made.len();
        for index in body..at {
            if !self.names(index, made) {
                continue;
            }
            let start = self.statement_start(index, body);
            let words = |from: usize, to: usize| {
                self.list[from..to].iter().filter_map(|token| match &token.is {
                    Is::Word(word) => Some(word),
                    _ => None,
                })
            };
            made.extend(words(start, index).filter(|word| may_borrow(word)).cloned());
            let end = (index..self.list.len())
                .find(|&index| matches!(self.list[index].is, Is::Punct(';') | Is::Open(Delimiter::Brace, _)));
            made.extend(words(index, end.unwrap_or(index)).filter(|word| may_borrow(word)).cloned());
            let Some(binding) = (start..index).find(|&index| word(&self.list[index].is, "let")) else { continue };
            let Some(equals) = (binding..index).find(|&index| self.list[index].is == Is::Punct('=')) else { continue };
            made.extend(words(binding + 1, equals).filter(|word| !["mut", "ref"].contains(&word.as_str())).cloned());
        }
        made.len() > known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the variable is unused after the first `.await` of `source`, which is a whole function.
    fn unused(source: &str, name: &str) -> bool {
        unused_if(source, name, &|_| true)
    }

    fn unused_if(source: &str, name: &str, may_borrow: &dyn Fn(&str) -> bool) -> bool {
        let tokens = Tokens::new(source.to_owned()).unwrap();
        let line = 1 + source.lines().position(|line| line.contains(".await")).unwrap();
        tokens.is_unused_after(line, (1, source.lines().count()), name, may_borrow).unwrap_or(false)
    }

    #[test]
    fn body_that_only_awaits_is_found() {
        let only = |source: &str| {
            let tokens = Tokens::new(source.to_owned()).unwrap();
            tokens.only_awaits((1, source.lines().count())).unwrap_or(false)
        };
        assert!(only("async fn f(a: [u8; 9]) -> Result<(), E> {\n    self.g(now() + 1, a).await\n}"));
        assert!(!only("async fn f(a: u8) {\n    g(a).await;\n}"), "its output is dropped");
        assert!(!only("async fn f(a: u8) {\n    g(a).await?\n}"));
        assert!(!only("async fn f(a: u8) {\n    let b = a;\n    g(&b).await\n}"));
        assert!(!only("async fn f(a: u8) {\n    g(h().await).await\n}"));
        assert!(!only("async fn f(a: u8) {\n    if a > 1 { g(a) } else { h(a) }.await\n}"));
    }

    #[test]
    fn branch_of_a_loop_is_found() {
        let branch = |source: &str| {
            let tokens = Tokens::new(source.to_owned()).unwrap();
            let line = 1 + source.lines().position(|line| line.contains("handle")).unwrap();
            tokens.around(line, (1, source.lines().count())).is_some_and(|place| place.in_branch_of_loop)
        };
        assert!(branch("async fn f() {\nloop {\nselect! {\na = b() => handle(a).await,\n}\n}\n}"));
        assert!(branch("async fn f() {\nwhile let Some(a) = next() {\nif a {\nhandle(a).await;\n}\n}\n}"));
        assert!(!branch("async fn f() {\nloop {\nhandle(a).await;\n}\n}"));
        assert!(!branch("async fn f() {\nif a {\nhandle(a).await;\n}\n}"));
    }

    #[test]
    fn variable_not_named_again_is_unused() {
        assert!(unused("async fn f() {\nlet a = make();\nprint(&a);\nstep().await;\n}", "a"));
        assert!(unused("async fn f(a: Vec<u8>) {\nstep().await;\nlet b = 1;\n}", "a"));
        assert!(unused("async fn f() {\nloop {\nlet a = make();\nlook(&a);\nstep().await;\n}\n}", "a"));
    }

    #[test]
    fn variable_named_again_is_used() {
        assert!(!unused("async fn f() {\nlet a = make();\nstep().await;\ndrop(a);\n}", "a"));
        assert!(!unused("async fn f() {\nlet a = make();\nstep().await;\nprintln!(\"{a}\");\n}", "a"));
        assert!(!unused("async fn f() {\nlet a = make();\nstep().await;\nprintln!(\"{}\", a);\n}", "a"));
    }

    #[test]
    fn borrowed_variable_is_used() {
        assert!(!unused("async fn f() {\nlet a = make();\nstep(&a).await;\n}", "a"));
        assert!(!unused("async fn f() {\nlet a = make();\nlet b = &a;\nstep(b).await;\n}", "a"));
        assert!(!unused(
            "async fn f() {\nlet a = make();\nlet b = a.iter().map(|x| { x + 1 });\nstep().await;\nuse_it(b);\n}",
            "a"
        ));
        assert!(!unused("async fn f() {\nlet a = make();\nlet x = wrap(\n&a,\n).poll()\n.await;\n}", "a"));
    }

    #[test]
    fn number_derived_from_a_variable_does_not_borrow_it() {
        let source = "async fn f() {\nlet a = make();\nlet n = a.len();\nstep().await;\nuse_it(n);\n}";
        assert!(!unused(source, "a"));
        assert!(unused_if(source, "a", &|name| name != "n"));
        let source = "async fn f() {\nlet a = make();\nlist.push(&a);\nstep().await;\nuse_it(list);\n}";
        assert!(!unused_if(source, "a", &|name| name == "list"));
    }

    #[test]
    fn variable_of_the_next_loop_iteration_is_used() {
        assert!(!unused("async fn f() {\nlet a = make();\nloop {\nlook(&a);\nstep().await;\n}\n}", "a"));
        assert!(!unused("async fn f(a: Vec<u8>) {\nfor x in &a {\nstep().await;\n}\n}", "a"));
        assert!(!unused("async fn f(a: Vec<u8>) {\nwhile let Some(x) = a.pop() {\nstep().await;\n}\n}", "a"));
    }

    #[test]
    fn matched_variable_is_used() {
        assert!(!unused(
            "async fn f() {\nlet a = make();\nmatch a.first() {\nSome(x) => {\nstep().await;\nlook(x);\n}\nNone => {}\n}\n}",
            "a"
        ));
        assert!(!unused("async fn f() {\nlet a = make();\nif let Some(x) = &a {\nstep().await;\nlook(x);\n}\n}", "a"));
    }

    #[test]
    fn variable_hidden_by_a_macro_is_used() {
        assert!(!unused("async fn f() {\nstep().await;\n}", "a"));
        assert!(!unused(
            "async fn f() {\nlet a = make();\nselect! { x = one.await => {}, y = two.await => {} }\n}",
            "a"
        ));
    }

    #[test]
    fn moves_between_variables_are_found() {
        let dir = tempfile::TempDir::new().unwrap();
        std::fs::write(dir.path().join("a.rs"), "fn f() {\nlet mut b = a;\nlet c = b;\n}\n").unwrap();
        std::fs::write(dir.path().join("exe"), "").unwrap();
        let mut files = Files::new(Some(dir.path()), &dir.path().join("exe"));
        assert!(files.is_moved("a.rs", (1, 4), "a", "b"));
        assert!(files.is_moved("a.rs", (1, 4), "b", "c"));
        assert!(!files.is_moved("a.rs", (1, 4), "c", "b"));
        assert!(!files.is_moved("missing.rs", (1, 4), "a", "b"));
        let mut unknown = Files::new(Some(dir.path()), &dir.path().join("missing"));
        assert!(!unknown.is_moved("a.rs", (1, 4), "a", "b"), "the lines may be others");
    }
}
