//! The expressions and patterns of a source file with their byte ranges.
//!
//! The syntax tree only tells where things are: every change is made in the text, so that comments and formatting stay.
//! The arguments of macros such as `assert_eq!` and `matches!` are read as expressions if they are, and the parts of others, such as a
//! grammar, and of attributes as far as they are.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::ops::Range;
use syn::parse::{ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Expr, Pat, Token};

/// A range of bytes in a file.
pub(super) type Bytes = Range<usize>;

/// Returns a text without spaces.
pub(super) fn dense(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_whitespace()).collect()
}

/// A part of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// Its bytes.
    pub(super) range: Bytes,
    /// What it is.
    pub(super) kind: Kind,
}

/// The kinds of nodes that the rules tell apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An expression that needs no parentheses before `.method()`.
    Postfix,
    /// Any other expression.
    Expr,
    /// `&of` or `&mut of`.
    Ref { of: Bytes },
    /// A comparison of two expressions.
    Compare { left: Bytes, right: Bytes },
    /// `receiver.method(..)`.
    Method { receiver: Bytes, name: String, arguments: Vec<Bytes> },
    /// `function(..)`.
    Call { arguments: Vec<Bytes> },
    /// A path, such as `Expr::Call`.
    Path,
    /// `match scrutinee { .. }`.
    Match { scrutinee: Bytes },
    /// `pattern if guard => body`.
    Arm { pattern: Bytes, guard: Option<Bytes>, body: Bytes, is_block: bool },
    /// `let pattern = scrutinee` in a condition, where `body` is the block that runs if it matches; `None` in a chain.
    Let { pattern: Bytes, scrutinee: Bytes, body: Option<Bytes> },
    /// `let pattern = scrutinee;`, with the end of the statement.
    Local { pattern: Bytes, scrutinee: Option<Bytes> },
    /// The field of a struct expression, without a value: `Point { x }`.
    Shorthand { name: String },
    /// The field of a struct pattern, without a pattern: `Point { x }`.
    ShorthandPat,
    /// `matches!(scrutinee, pattern if guard)`.
    Matches { scrutinee: Bytes, pattern: Bytes, guard: Option<Bytes> },
    /// A pattern.
    Pat(Bindings),
    /// Alternatives: `A | B`.
    Or { cases: Vec<Bytes> },
}

/// How a pattern binds a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// `name`
    Value,
    /// `ref name`
    Ref,
    /// `ref mut name`
    RefMut,
}

/// What a pattern binds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bindings {
    /// The names.
    pub(super) names: Vec<(String, By)>,
    /// Whether a value can fail to match: literals, ranges, and paths of variants.
    pub(super) is_refutable: bool,
}

impl Bindings {
    /// Returns `true` if a name is bound in this way.
    pub(super) fn has(&self, by: By) -> bool {
        self.names.iter().any(|(_, mode)| *mode == by)
    }
}

/// The nodes of a file.
#[derive(Debug, Default)]
pub(super) struct Syntax {
    nodes: Vec<Node>,
}

impl Syntax {
    /// Reads a file. `None`: it is no Rust source that `syn` knows.
    pub(super) fn of(text: &str) -> Option<Self> {
        let file = read(text)?;
        let mut reader = Reader { nodes: Vec::new(), body: None };
        reader.visit_file(&file);
        // The smallest first, and of equals the innermost, which is visited last.
        reader.nodes.reverse();
        reader.nodes.sort_by_key(|node| node.range.len());
        Some(Self { nodes: reader.nodes })
    }

    /// Returns the nodes that contain a range, the innermost first.
    pub(super) fn around<'a>(&'a self, range: &Bytes) -> impl Iterator<Item = &'a Node> + use<'a> {
        let Bytes { start, end } = *range;
        self.nodes.iter().filter(move |node| node.range.start <= start && end <= node.range.end)
    }

    /// Returns the nodes inside of a range, the smallest first.
    pub(super) fn within<'a>(&'a self, range: &Bytes) -> impl Iterator<Item = &'a Node> + use<'a> {
        let Bytes { start, end } = *range;
        self.nodes.iter().filter(move |node| start <= node.range.start && node.range.end <= end)
    }

    /// Returns the nodes with exactly this range, the innermost first.
    pub(super) fn at<'a>(&'a self, range: &Bytes) -> impl Iterator<Item = &'a Node> + use<'a> {
        let Bytes { start, end } = *range;
        self.nodes.iter().filter(move |node| node.range.start == start && node.range.end == end)
    }

    /// Returns `true` if the range is an expression that takes a method call as it is.
    pub(super) fn is_postfix(&self, range: &Bytes) -> bool {
        self.at(range).any(|node| {
            matches!(
                node.kind,
                Kind::Postfix | Kind::Path | Kind::Method { .. } | Kind::Call { .. } | Kind::Shorthand { .. }
            )
        })
    }

    /// Returns `true` if the range is an expression.
    pub(super) fn is_expr(&self, range: &Bytes) -> bool {
        self.is_postfix(range)
            || self.at(range).any(|node| {
                matches!(node.kind, Kind::Expr | Kind::Ref { .. } | Kind::Compare { .. } | Kind::Match { .. })
            })
    }

    /// Returns the `let` statements that end before a position, the nearest first: their patterns and values.
    pub(super) fn locals(&self, before: usize) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        let mut all: Vec<(&Bytes, &Bytes)> = self
            .nodes
            .iter()
            .filter_map(|node| match &node.kind {
                Kind::Local { pattern, scrutinee: Some(value) } if node.range.end <= before => Some((pattern, value)),
                _ => None,
            })
            .collect();
        all.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.start));
        all.into_iter()
    }

    /// Returns the bindings of the pattern with exactly this range.
    pub(super) fn pattern(&self, range: &Bytes) -> Option<&Bindings> {
        self.at(range).find_map(|node| if let Kind::Pat(bindings) = &node.kind { Some(bindings) } else { None })
    }
}

/// The number of lines that a source may have in the syntax of an old edition.
const OLD: usize = 16;

/// Parses a file. A line that `syn` does not know, such as a trait object without `dyn`, is left out.
fn read(text: &str) -> Option<syn::File> {
    let mut text = text.to_owned();
    for _ in 0..OLD {
        let error = match syn::parse_file(&text) {
            Ok(file) => return Some(file),
            Err(error) => error,
        };
        let line = error.span().start().line.checked_sub(1)?;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let part = text[start..].lines().next().filter(|part| !part.trim().is_empty())?;
        let blank = " ".repeat(part.len());
        text.replace_range(start..start + blank.len(), &blank);
    }
    None
}

/// Collects the nodes.
struct Reader {
    nodes: Vec<Node>,
    /// The block that runs if the condition in which the reader is holds.
    body: Option<Bytes>,
}

impl Reader {
    fn add(&mut self, range: Bytes, kind: Kind) {
        self.nodes.push(Node { range, kind });
    }

    /// Reads a macro's tokens as `scrutinee, pattern`, or as expressions that are separated by commas.
    fn read_macro(&mut self, name: &str, tokens: TokenStream) {
        if matches!(name, "matches" | "assert_matches" | "debug_assert_matches") {
            let parts = |input: ParseStream<'_>| {
                let scrutinee: Expr = input.parse()?;
                input.parse::<Token![,]>()?;
                let pattern = Pat::parse_multi_with_leading_vert(input)?;
                let guard = if input.peek(Token![if]) {
                    input.parse::<Token![if]>()?;
                    Some(input.parse::<Expr>()?)
                } else {
                    None
                };
                input.parse::<Option<Token![,]>>()?;
                Ok((scrutinee, pattern, guard))
            };
            if let Ok((scrutinee, pattern, guard)) = parts.parse2(tokens) {
                let range = bytes(&scrutinee).start
                    ..guard.as_ref().map_or(bytes(&pattern).end, |condition| bytes(condition).end);
                let guard_bytes = guard.as_ref().map(bytes);
                self.add(
                    range,
                    Kind::Matches { scrutinee: bytes(&scrutinee), pattern: bytes(&pattern), guard: guard_bytes },
                );
                self.visit_expr(&scrutinee);
                self.visit_pat(&pattern);
                if let Some(guard) = &guard {
                    self.visit_expr(guard);
                }
            }
            return;
        }
        if (name.ends_with("assert_eq") || name.ends_with("assert_ne"))
            && let Ok(all) = LIST.parse2(tokens.clone())
            && let [left, right, ..] = &all.iter().collect::<Vec<_>>()[..]
        {
            let (left, right) = (bytes(left), bytes(right));
            self.add(left.start..right.end, Kind::Compare { left, right });
        }
        visit_tokens(self, tokens);
    }
}

/// Expressions that commas separate.
const LIST: fn(ParseStream<'_>) -> syn::Result<Punctuated<Expr, Token![,]>> = Punctuated::parse_terminated;

/// Visits what a macro is given: expressions that commas separate, statements, or the parts of a syntax of its own.
pub(super) fn visit_tokens<V: for<'ast> Visit<'ast>>(visitor: &mut V, tokens: TokenStream) {
    if let Ok(all) = LIST.parse2(tokens.clone()) {
        for expr in &all {
            visitor.visit_expr(expr);
        }
    } else if let Ok(block) = syn::Block::parse_within.parse2(tokens.clone()) {
        for statement in &block {
            visitor.visit_stmt(statement);
        }
    } else {
        visit_parts(visitor, tokens);
    }
}

/// Visits what stands between the separators of a syntax that is a macro's own: `rule node() -> Node = name:text() { Node { name } }`,
/// `b'0' => number(text)`.
fn visit_parts<V: for<'ast> Visit<'ast>>(visitor: &mut V, tokens: TokenStream) {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let mut start = 0;
    for (at, token) in all.iter().enumerate() {
        let TokenTree::Punct(punct) = token else { continue };
        // `==` and `..=` are no separators.
        let is_joint = |punct: Option<&TokenTree>| matches!(punct, Some(TokenTree::Punct(punct)) if punct.spacing() == Spacing::Joint);
        let next = all.get(at + 1).map(ToString::to_string);
        let is_arrow = punct.as_char() == '=' && is_joint(Some(token)) && next.as_deref() == Some(">");
        let is_alone = punct.spacing() == Spacing::Alone && (at == 0 || !is_joint(all.get(at - 1)));
        if is_arrow || is_alone && matches!(punct.as_char(), ',' | ';' | '=') {
            visit_part(visitor, &all[start..at], is_arrow);
            start = at + 1 + usize::from(is_arrow);
        }
    }
    visit_part(visitor, &all[start.min(all.len())..], false);
}

fn visit_part<V: for<'ast> Visit<'ast>>(visitor: &mut V, part: &[TokenTree], is_pattern: bool) {
    let tokens = || part.iter().cloned().collect::<TokenStream>();
    if is_pattern && let Ok(pattern) = Pat::parse_multi_with_leading_vert.parse2(tokens()) {
        return visitor.visit_pat(&pattern);
    }
    if !is_pattern && let Ok(expr) = syn::parse2::<Expr>(tokens()) {
        return visitor.visit_expr(&expr);
    }
    for token in part {
        let TokenTree::Group(group) = token else { continue };
        let mut tokens = group.stream();
        // `{? .. }` of a grammar may fail.
        let is_mark = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '?');
        if group.delimiter() == Delimiter::Brace
            && tokens.clone().into_iter().next().is_some_and(|first| is_mark(&first))
        {
            tokens = tokens.into_iter().skip(1).collect();
        }
        visit_tokens(visitor, tokens);
    }
}

/// Returns the bytes of a part of the source.
fn bytes(part: &impl syn::spanned::Spanned) -> Bytes {
    part.span().byte_range()
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let kind = match expr {
            Expr::Reference(reference) => Kind::Ref { of: bytes(&*reference.expr) },
            Expr::Binary(binary) if is_comparison(&binary.op) => {
                Kind::Compare { left: bytes(&*binary.left), right: bytes(&*binary.right) }
            }
            Expr::MethodCall(method_call) => Kind::Method {
                receiver: bytes(&*method_call.receiver),
                name: method_call.method.to_string(),
                arguments: method_call.args.iter().map(bytes).collect(),
            },
            Expr::Call(call) => Kind::Call { arguments: call.args.iter().map(bytes).collect() },
            Expr::Path(_) => Kind::Path,
            Expr::Match(matching) => Kind::Match { scrutinee: bytes(&*matching.expr) },
            Expr::Let(binding) => {
                Kind::Let { pattern: bytes(&*binding.pat), scrutinee: bytes(&*binding.expr), body: self.body.clone() }
            }
            Expr::Array(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Lit(_)
            | Expr::Macro(_)
            | Expr::Paren(_)
            | Expr::Await(_)
            | Expr::Struct(_)
            | Expr::Try(_)
            | Expr::Tuple(_) => Kind::Postfix,
            _ => Kind::Expr,
        };
        self.add(bytes(expr), kind);
        visit::visit_expr(self, expr);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        // In a chain of conditions a later one may use the names too.
        let body = matches!(*node.cond, Expr::Let(_)).then(|| bytes(&node.then_branch));
        let before = std::mem::replace(&mut self.body, body);
        self.visit_expr(&node.cond);
        self.body = before;
        self.visit_block(&node.then_branch);
        if let Some((_, other)) = &node.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        let body = matches!(*node.cond, Expr::Let(_)).then(|| bytes(&node.body));
        let before = std::mem::replace(&mut self.body, body);
        self.visit_expr(&node.cond);
        self.body = before;
        self.visit_block(&node.body);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let kind = Kind::Arm {
            pattern: bytes(&arm.pat),
            guard: arm.guard.as_ref().map(|(_, guard)| bytes(&**guard)),
            body: bytes(&*arm.body),
            is_block: matches!(*arm.body, Expr::Block(_)),
        };
        self.add(bytes(arm), kind);
        visit::visit_arm(self, arm);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => bytes(&*typed.pat),
            other => bytes(other),
        };
        let scrutinee = local.init.as_ref().map(|init| bytes(&*init.expr));
        self.add(bytes(local), Kind::Local { pattern, scrutinee });
        visit::visit_local(self, local);
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if field.colon_token.is_none() {
            if let syn::Member::Named(name) = &field.member {
                self.add(bytes(field), Kind::Shorthand { name: name.to_string() });
            }
            return;
        }
        visit::visit_field_value(self, field);
    }

    fn visit_field_pat(&mut self, field: &'ast syn::FieldPat) {
        if field.colon_token.is_none() {
            self.add(bytes(field), Kind::ShorthandPat);
        }
        visit::visit_field_pat(self, field);
    }

    fn visit_pat(&mut self, pat: &'ast Pat) {
        if let Pat::Or(or) = pat {
            self.add(bytes(pat), Kind::Or { cases: or.cases.iter().map(bytes).collect() });
        }
        let mut bindings = Bindings::default();
        bind(pat, &mut bindings);
        self.add(bytes(pat), Kind::Pat(bindings));
        visit::visit_pat(self, pat);
    }

    fn visit_attribute(&mut self, node: &'ast syn::Attribute) {
        // Values of fields: `#[builder(default = Details::new())]`.
        if let (syn::Meta::List(list), false) = (&node.meta, node.path().is_ident("derive")) {
            visit_parts(self, list.tokens.clone());
        }
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        let name = node.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        self.read_macro(&name, node.tokens.clone());
    }
}

fn is_comparison(op: &syn::BinOp) -> bool {
    use syn::BinOp::{Eq, Ge, Gt, Le, Lt, Ne};
    matches!(op, Eq(_) | Ne(_) | Lt(_) | Le(_) | Gt(_) | Ge(_))
}

/// Adds what a pattern binds. A struct's pattern alone is irrefutable; a name with an upper-case letter may be a constant.
fn bind(pat: &Pat, to: &mut Bindings) {
    match pat {
        Pat::Ident(ident) => {
            let name = ident.ident.to_string();
            if name.starts_with(char::is_uppercase) && ident.by_ref.is_none() && ident.subpat.is_none() {
                to.is_refutable = true;
                return;
            }
            let by = match (&ident.by_ref, &ident.mutability) {
                (Some(_), Some(_)) => By::RefMut,
                (Some(_), None) => By::Ref,
                (None, _) => By::Value,
            };
            to.names.push((name, by));
            if let Some((_, inner)) = &ident.subpat {
                bind(inner, to);
            }
        }
        Pat::Struct(pat_struct) => pat_struct.fields.iter().for_each(|field| bind(&field.pat, to)),
        Pat::Tuple(tuple) => tuple.elems.iter().for_each(|part| bind(part, to)),
        Pat::Reference(reference) => bind(&reference.pat, to),
        Pat::Paren(paren) => bind(&paren.pat, to),
        Pat::Type(typed) => bind(&typed.pat, to),
        Pat::TupleStruct(tuple_struct) => tuple_struct.elems.iter().for_each(|part| bind(part, to)),
        Pat::Wild(_) | Pat::Rest(_) => {}
        _ => to.is_refutable = true,
    }
}

/// Returns `true` for the path of a variant: `Kind::Let`, and not `kinds::Let`.
fn is_variant(path: &syn::Path) -> bool {
    let owner = path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
    owner.is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// Returns `true` if a pattern, or one inside of it, may fail to match: one of a variant, in the place of a struct's field.
pub(super) fn has_inner_path(text: &str) -> bool {
    fn inner(pat: &Pat, is_outer: bool) -> bool {
        match pat {
            Pat::Struct(pat_struct) => {
                !is_outer
                    || is_variant(&pat_struct.path)
                    || pat_struct.fields.iter().any(|field| inner(&field.pat, false))
            }
            Pat::TupleStruct(tuple_struct) => {
                !is_outer || is_variant(&tuple_struct.path) || tuple_struct.elems.iter().any(|part| inner(part, false))
            }
            Pat::Tuple(tuple) => tuple.elems.iter().any(|part| inner(part, false)),
            Pat::Reference(reference) => inner(&reference.pat, is_outer),
            Pat::Paren(paren) => inner(&paren.pat, is_outer),
            Pat::Ident(ident) => ident.subpat.as_ref().is_some_and(|(_, pat)| inner(pat, false)),
            Pat::Wild(_) | Pat::Rest(_) => false,
            _ => true,
        }
    }
    Pat::parse_multi_with_leading_vert.parse_str(text).map_or(true, |pat| inner(&pat, true))
}

/// Returns `true` if attributes say that an item is a test, or that only tests have it.
pub(super) fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.segments.last().is_some_and(|last| last.ident == "test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        syn::Meta::NameValue(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds<'a>(text: &str, part: &str, syntax: &'a Syntax) -> Vec<&'a Kind> {
        let start = text.find(part).unwrap();
        syntax.at(&(start..start + part.len())).map(|node| &node.kind).collect()
    }

    #[test]
    fn lines_of_an_old_edition_are_left_out() {
        let text = "type Rule<'a> = Fn(u8) -> u8 + 'a;\nfn f() { g(x) }\n";
        let syntax = Syntax::of(text).unwrap();
        let at = text.find("g(x)").unwrap();
        assert!(syntax.at(&(at..at + 4)).any(|node| matches!(node.kind, Kind::Call { .. })));
        assert!(Syntax::of(&"fn (\n".repeat(40)).is_none());
    }

    #[test]
    fn expressions_and_patterns_have_their_bytes() {
        let text = "fn f() {\n    // é\n    if let Some(P { x, ref y, .. }) = &self.a { g(x) }\n    \
                    match b { A(P { x: 1 }) | B => c.map(D), _ if e => {} }\n    assert_eq!(h.i, J { k });\n    \
                    let m = matches!(n, O(P { .. }));\n}\n";
        let syntax = Syntax::of(text).unwrap();
        let bindings = Bindings { names: vec![("x".into(), By::Value), ("y".into(), By::Ref)], is_refutable: false };
        assert_eq!(kinds(text, "P { x, ref y, .. }", &syntax), [&Kind::Pat(bindings)]);
        assert!(matches!(kinds(text, "P { x: 1 }", &syntax)[..], [Kind::Pat(pat)] if pat.is_refutable));
        assert!(
            matches!(kinds(text, "A(P { x: 1 }) | B", &syntax)[..], [Kind::Pat(_), Kind::Or { cases }] if cases.len() == 2)
        );
        assert!(matches!(kinds(text, "k", &syntax)[..], [Kind::Shorthand { name }] if name == "k"));
        assert!(matches!(kinds(text, "h.i, J { k }", &syntax)[..], [Kind::Compare { .. }]));
        assert!(matches!(kinds(text, "n, O(P { .. })", &syntax)[..], [Kind::Matches { .. }]));
        assert!(matches!(kinds(text, "D", &syntax)[..], [Kind::Path]));
        let at = text.find("{ g(x) }").unwrap();
        let pattern = text.find("Some(P").unwrap();
        let range = pattern..pattern + 4;
        let found = syntax
            .around(&range)
            .find_map(|node| if let Kind::Let { body, .. } = &node.kind { body.clone() } else { None });
        assert_eq!(found, Some(at..at + 8));
    }

    #[test]
    fn parts_of_grammars_and_attributes_are_read() {
        let text = "struct S {\n    #[builder(default = a.b, setter(into))]\n    f: F,\n}\npeg::parser! { grammar g() for str {\n    \
                    rule node() -> Node = n:name() [' ' | ',']* d:(x() / y())? { Node { name: n.text, d } }\n    \
                    rule z() -> u8 = q:$(['0'..='9']+) {? q.parse().or(Err(e.f)) }\n} }\n\
                    fn f() { dispatch! { peek(any); Kind::A(P { x }) => g(i.j), _ => fail } }\n";
        let syntax = Syntax::of(text).unwrap();
        for part in ["a.b", "n.text", "e.f", "i.j"] {
            assert!(matches!(kinds(text, part, &syntax)[..], [Kind::Postfix]), "{part}");
        }
        assert!(matches!(kinds(text, "d }", &syntax)[..], []) && kinds(text, "P { x }", &syntax).len() == 1);
        let field = text.find("d } }").unwrap();
        assert!(
            syntax.at(&(field..field + 1)).any(|node| matches!(&node.kind, Kind::Shorthand { name } if name == "d"))
        );
    }

    #[test]
    fn inner_variants_are_refutable() {
        assert!(!has_inner_path("P { x, y: (_, z), .. }"));
        assert!(has_inner_path("P { x: Kind::A, .. }"));
        assert!(has_inner_path("P { x: Some(y), .. }"));
        assert!(has_inner_path("P { x: 1 }"));
        assert!(!has_inner_path("P(x, _)") && !has_inner_path("p::P { x }"));
        assert!(has_inner_path("Kind::P(x)") && has_inner_path("m::Kind::P { x }"));
    }
}
