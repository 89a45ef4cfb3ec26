//! States the capacity where a collection is made that grows on another line: `let mut list = Vec::with_capacity(16);`.

use super::syntax::Bytes;
use crate::source::Edit;
use anyhow::{Result, bail};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Returns the source in which the collection that grows on the line of the edit is made with a capacity.
///
/// # Errors
/// Returns an error if no local variable grows on the line, or if it is not made empty in the same function.
pub(super) fn edit(text: &str, edit: &Edit) -> Result<String> {
    let place = format!("{}:{}", edit.file, edit.line);
    let Ok(source) = syn::parse_file(text) else { bail!("{place}: the file cannot be read as Rust") };
    let mut search = Search { line: edit.line as usize, text, from: &edit.from, locals: Vec::new(), found: Vec::new() };
    search.visit_file(&source);
    search.found.dedup();
    let [range] = &search.found[..] else {
        bail!("{place}: no local variable that is made by `{}` grows there; state the capacity by hand", edit.from);
    };
    let mut text = text.to_owned();
    text.replace_range(range.clone(), &edit.to);
    Ok(text)
}

struct Search<'a> {
    line: usize,
    text: &'a str,
    from: &'a str,
    /// The variables of the function that are made empty, with the bytes of the call.
    locals: Vec<(String, Bytes)>,
    found: Vec<Bytes>,
}

impl Search<'_> {
    /// Visits a function, whose variables no other one has.
    fn function(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.locals);
        visit(self);
        self.locals = outer;
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, of: &'ast syn::ItemFn) {
        self.function(|search| visit::visit_item_fn(search, of));
    }

    fn visit_impl_item_fn(&mut self, of: &'ast syn::ImplItemFn) {
        self.function(|search| visit::visit_impl_item_fn(search, of));
    }

    fn visit_local(&mut self, of: &'ast syn::Local) {
        visit::visit_local(self, of);
        let pattern = match &of.pat {
            syn::Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        let (syn::Pat::Ident(name), Some(init)) = (pattern, &of.init) else { return };
        let range = init.expr.span().byte_range();
        let is_empty = self.text.get(range.clone()).is_some_and(|made| made == self.from || made == "vec![]");
        if is_empty {
            self.locals.push((name.ident.to_string(), range));
        }
    }

    fn visit_expr_method_call(&mut self, of: &'ast syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, of);
        let (first, last) = (of.span().start().line, of.span().end().line);
        let grows =
            ["push", "push_str", "extend", "extend_from_slice", "insert", "write_str", "write_fmt", "push_back"];
        if !(first..=last).contains(&self.line) || !grows.iter().any(|name| of.method == *name) {
            return;
        }
        let syn::Expr::Path(receiver) = &*of.receiver else { return };
        let name = receiver.path.get_ident().map(ToString::to_string);
        let local = self.locals.iter().rev().find(|(local, _)| Some(local) == name.as_ref());
        self.found.extend(local.map(|(_, range)| range.clone()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_stated_where_the_collection_is_made() {
        let text = "fn f() {\n    let mut a = Vec::new();\n    let mut b: Vec<u8> = Vec::new();\n    for x in 0..9 {\n        b.push(x);\n    }\n    a.push(b);\n}\n\
                    fn g(a: &mut Vec<u8>) {\n    a.push(1);\n}\n";
        let of = |line| {
            let (from, to) = ("Vec::new()".into(), "Vec::with_capacity(16)".into());
            edit(text, &Edit { file: "a.rs".into(), line, item: "Vec".into(), from, to })
        };
        assert!(of(5).unwrap().contains("let mut b: Vec<u8> = Vec::with_capacity(16);"));
        assert!(of(7).unwrap().contains("let mut a = Vec::with_capacity(16);"));
        assert!(of(10).unwrap_err().to_string().contains("state the capacity by hand"));
        assert!(of(4).is_err());
    }
}
