//! A local variable that a statement moves into a value: another statement can change it before.

use super::syntax::Bytes;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Where the variable can be changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Local {
    /// The start of the statement that moves it.
    statement: usize,
    /// The place of its name in its declaration, if that has no `mut`.
    immutable: Option<usize>,
}

impl Local {
    /// Returns the edits that put a statement before the one that moves the variable.
    pub(super) fn edits(&self, text: &str, statement: &str) -> Vec<(Bytes, String)> {
        let at = self.statement;
        let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = &text[line..at];
        let between = if indent.trim().is_empty() { format!("\n{indent}") } else { " ".to_owned() };
        let mut all = vec![(at..at, format!("{statement}{between}"))];
        all.extend(self.immutable.map(|at| (at..at, "mut ".to_owned())));
        all
    }
}

/// Finds the local variable that is all of an expression at `value`. `None`: it is none, or the statement does not always move it.
pub(super) fn find(source: &syn::File, text: &str, value: &Bytes) -> Option<Local> {
    let name = syn::parse_str::<syn::Ident>(text.get(value.clone())?).ok()?.to_string();
    let mut search = Search { name, value, declared: None, statement: None };
    search.visit_file(source);
    let (by_value, immutable) = search.declared?;
    by_value.then_some(Local { statement: search.statement?, immutable })
}

struct Search<'a> {
    name: String,
    value: &'a Bytes,
    /// Whether the last declaration before the value binds by value, and where its name stands if it has no `mut`.
    declared: Option<(bool, Option<usize>)>,
    /// The statement of the innermost block.
    statement: Option<usize>,
}

impl Search<'_> {
    fn has_value(&self, node: &impl syn::spanned::Spanned) -> bool {
        let range = node.span().byte_range();
        range.start <= self.value.start && self.value.end <= range.end
    }

    /// Returns `true` if an expression moves the value whenever it runs, with no code between that could not.
    fn moves(&self, node: &syn::Expr) -> bool {
        let inside = |node: &syn::Expr| self.has_value(node) && self.moves(node);
        match node {
            _ if node.span().byte_range() == *self.value => true,
            syn::Expr::Struct(node) => node.fields.iter().any(|field| {
                let is_shorthand = field.colon_token.is_none() && field.span().byte_range() == *self.value;
                is_shorthand || inside(&field.expr)
            }),
            syn::Expr::Call(node) => node.args.iter().any(inside),
            syn::Expr::MethodCall(node) => inside(&node.receiver) || node.args.iter().any(inside),
            syn::Expr::Return(syn::ExprReturn { expr: Some(node), .. })
            | syn::Expr::Break(syn::ExprBreak { expr: Some(node), .. }) => inside(node),
            syn::Expr::Paren(syn::ExprParen { expr, .. })
            | syn::Expr::Try(syn::ExprTry { expr, .. })
            | syn::Expr::Cast(syn::ExprCast { expr, .. }) => inside(expr),
            syn::Expr::Assign(node) => inside(&node.right),
            syn::Expr::Tuple(node) => node.elems.iter().any(inside),
            syn::Expr::Array(node) => node.elems.iter().any(inside),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item(&mut self, node: &'ast syn::Item) {
        if self.has_value(node) {
            self.declared = None;
            visit::visit_item(self, node);
        }
    }

    fn visit_impl_item(&mut self, node: &'ast syn::ImplItem) {
        if self.has_value(node) {
            visit::visit_impl_item(self, node);
        }
    }

    fn visit_pat_ident(&mut self, node: &'ast syn::PatIdent) {
        let at = node.ident.span().byte_range().start;
        if node.ident == self.name && at < self.value.start {
            let is_plain = node.by_ref.is_none() && node.subpat.is_none();
            self.declared = Some((is_plain, node.mutability.is_none().then_some(at)));
        }
    }

    /// The name without a pattern: `Point { x }`.
    fn visit_field_pat(&mut self, node: &'ast syn::FieldPat) {
        let before = self.declared;
        visit::visit_field_pat(self, node);
        if node.colon_token.is_none() && self.declared != before {
            self.declared = Some((true, self.declared.and_then(|(_, at)| at)));
        }
    }

    fn visit_block(&mut self, node: &'ast syn::Block) {
        if let Some(statement) = node.stmts.iter().find(|statement| self.has_value(*statement)) {
            let moves = match statement {
                syn::Stmt::Expr(node, _) => self.moves(node),
                syn::Stmt::Local(syn::Local { init: Some(init), .. }) => self.moves(&init.expr),
                _ => false,
            };
            self.statement = moves.then(|| statement.span().byte_range().start);
            visit::visit_block(self, node);
        } else if node.span().byte_range().end > self.value.start {
            visit::visit_block(self, node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_stands_before_the_move() {
        let with = |text: &str| {
            let at = text.rfind("lines").unwrap();
            let local = find(&syn::parse_file(text).unwrap(), text, &(at..at + 5))?;
            let mut text = text.to_owned();
            let mut edits = local.edits(&text, "S;");
            edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            for (range, with) in edits {
                text.replace_range(range, &with);
            }
            Some(text)
        };
        for (before, after) in [
            (
                "fn f() {\n    let mut lines = g();\n    Some(D { lines })\n}",
                "fn f() {\n    let mut lines = g();\n    S;\n    Some(D { lines })\n}",
            ),
            ("fn f(lines: V) -> D { D { a: 1, b: lines } }", "fn f(mut lines: V) -> D { S; D { a: 1, b: lines } }"),
            (
                "fn f() { let (a, lines) = g(); return Ok(D(a, lines)); }",
                "fn f() { let (a, mut lines) = g(); S; return Ok(D(a, lines)); }",
            ),
            (
                "fn f() { if x { let lines = y(); all.push(D { lines }); } }",
                "fn f() { if x { let mut lines = y(); S; all.push(D { lines }); } }",
            ),
        ] {
            assert_eq!(with(before).as_deref(), Some(after), "{before}");
        }
        for text in [
            "fn f() { let lines = g(); match x { A => D { lines }, B => e } }",
            "fn f() { let lines = g(); h(|| D { lines }) }",
            "fn f() { let ref lines = g(); D { lines } }",
            "static lines: V = V; fn f() -> D { D { lines } }",
        ] {
            assert_eq!(with(text), None, "{text}");
        }
    }
}
