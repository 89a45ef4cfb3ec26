//! A repair that compiles and is wrong: what the program changes in place became a copy, `change(&mut self.details.map(Box::new))`.

use super::super::syntax::dense;
use super::super::tree::Change;
use super::Left;
use std::collections::BTreeMap;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Methods that change their receiver.
const CHANGES: [&str; 12] = [
    "as_mut",
    "as_deref_mut",
    "get_or_insert",
    "get_or_insert_with",
    "insert",
    "iter_mut",
    "push",
    "replace",
    "retain",
    "take",
    "clear",
    "extend",
];

/// Returns the places where a changed file changes a copy of a value that stands in a variable or a field, and did not before.
pub(super) fn find(changes: &[Change]) -> Vec<Left> {
    let mut all = Vec::new();
    for change in changes {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for (_, text) in copies(&change.before) {
            *known.entry(text).or_default() += 1;
        }
        for (line, text) in copies(&change.after) {
            if let Some(count) = known.get_mut(&text).filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            let source = change.after.lines().nth(line - 1).unwrap_or_default().trim().to_owned();
            let message = "a copy would be changed instead of the value".to_owned();
            all.push(Left { at: format!("{}:{line}", change.file.display()), source, message });
        }
    }
    all
}

fn copies(text: &str) -> Vec<(usize, String)> {
    struct Copies<'t> {
        text: &'t str,
        found: Vec<(usize, String)>,
    }
    impl Copies<'_> {
        fn add(&mut self, span: proc_macro2::Span) {
            self.found.push((span.start().line, dense(&self.text[span.byte_range()])));
        }
    }
    impl<'ast> Visit<'ast> for Copies<'_> {
        fn visit_expr_reference(&mut self, node: &'ast syn::ExprReference) {
            if node.mutability.is_some() && is_copy(&node.expr, self.text) {
                self.add(node.span());
            }
            visit::visit_expr_reference(self, node);
        }

        fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
            if CHANGES.iter().any(|name| node.method == *name) && is_copy(&node.receiver, self.text) {
                self.add(node.span());
            }
            visit::visit_expr_method_call(self, node);
        }
    }
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let mut copies = Copies { text, found: Vec::new() };
    copies.visit_file(&file);
    copies.found
}

/// Returns `true` for a variable or a field that a repair wraps: `Box::new(value)`, `option.map(Box::new)`.
fn is_copy(expr: &syn::Expr, text: &str) -> bool {
    wrapped(expr, text).is_some_and(|inner| is_place(inner) || is_copy(inner, text))
}

fn wrapped<'e>(expr: &'e syn::Expr, text: &str) -> Option<&'e syn::Expr> {
    let source = |expr: &syn::Expr| dense(&text[expr.span().byte_range()]);
    match expr {
        syn::Expr::Paren(paren) => wrapped(&paren.expr, text),
        syn::Expr::Call(call) => {
            let is_box = source(&call.func).ends_with("Box::new");
            call.args.first().filter(|_| is_box && call.args.len() == 1)
        }
        syn::Expr::MethodCall(call) => {
            let takes = call.args.first().map(source);
            let is_wrapper = match takes.as_deref() {
                Some("Box::new" | "|value|*value") => call.method == "map",
                None => call.method == "copied" || call.method == "cloned" || call.method == "clone",
                Some(_) => false,
            };
            is_wrapper.then_some(&*call.receiver)
        }
        _ => None,
    }
}

fn is_place(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Paren(paren) => is_place(&paren.expr),
        syn::Expr::Path(_) | syn::Expr::Field(_) | syn::Expr::Index(_) | syn::Expr::Unary(_) => true,
        syn::Expr::MethodCall(call) => call.method == "as_deref" && is_place(&call.receiver),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_places_are_found() {
        let after = "fn f() { g(&mut a.b.map(Box::new)); g(&mut Box::new(x)); g(&mut Box::new(X::new())); a.b.map(|value| *value).take(); \
                     a.b.take().map(Box::new); g(&mut a.b.as_deref().copied()); g(&mut **a); g(&mut y.clone()); }";
        let change =
            Change { file: "a.rs".into(), before: "fn f() { g(&mut y.clone()); }".to_owned(), after: after.to_owned() };
        assert_eq!(find(&[change]).len(), 4);
    }
}
