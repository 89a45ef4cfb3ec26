//! Changes the place where a collection is made that grows on another line: its capacity is stated,
//! `let mut list = Vec::with_capacity(16);`, or it is made before the loop and cleared in each round.

use super::syntax::{Bytes, dense};
use anyhow::{Result, bail};
use dwell_source::Edit;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Returns the source in which the collection that grows on the line of the edit is made with a capacity.
///
/// # Errors
/// Returns an error if no local variable grows on the line, or if it is not made empty in the same function.
pub(super) fn edit(text: &str, edit: &Edit) -> Result<String> {
    let local = local(text, edit)?;
    let mut text = text.to_owned();
    let made = &text[local.made.clone()];
    // The types of its items, where it names them, stay: `Vec::<u8>::new()`.
    let to = match (made.split_once("::<"), edit.to.split_once("::")) {
        (Some((_, rest)), Some((name, call))) if rest.contains(">::") => {
            let items = &rest[..rest.rfind(">::").unwrap_or_default()];
            format!("{name}::<{items}>::{call}")
        }
        _ => edit.to.clone(),
    };
    text.replace_range(local.made, &to);
    Ok(text)
}

/// Returns the source in which the collection is made before its loop.
///
/// # Errors
/// Returns an error as [`edit`] does, or if the collection is not made by a statement of a loop's body.
pub(super) fn hoist(text: &str, edit: &Edit) -> Result<String> {
    let local = local(text, edit)?;
    let (Some(before), true) = (local.before, local.is_mutable) else {
        bail!("{}:{}: `{}` is not made in a loop; reuse a buffer by hand", edit.file, edit.line, local.name);
    };
    // Before the loop it would hide another value with its name, which what stands here uses, also in a text: `{line}`.
    let visible = [before..local.statement.start, local.body.end..local.function.end];
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let uses = |range: &Bytes| {
        text.get(range.clone()).is_some_and(|part| part.split(|letter| !is_word(letter)).any(|word| word == local.name))
    };
    if visible.iter().any(uses) {
        bail!(
            "{}:{}: `{}` is also the name of a value outside of the loop; reuse a buffer by hand",
            edit.file,
            edit.line,
            local.name
        );
    }
    let mut text = text.to_owned();
    let statement = text[local.statement.clone()].to_owned();
    text.replace_range(local.statement, &format!("{}.clear();", local.name));
    let line = text[..before].rfind('\n').map_or(0, |end| end + 1);
    let indent: String = text[line..before].chars().take_while(|letter| letter.is_whitespace()).collect();
    text.insert_str(before, &format!("{statement}\n{indent}"));
    Ok(text)
}

/// Returns the variable that grows on the line of an edit.
fn local(text: &str, edit: &Edit) -> Result<Local> {
    let place = format!("{}:{}", edit.file, edit.line);
    let Ok(source) = syn::parse_file(text) else { bail!("{place}: the file cannot be read as Rust") };
    let mut search = Search {
        line: edit.line as usize,
        text,
        from: &edit.from,
        loops: Vec::new(),
        function: 0..0,
        locals: Vec::new(),
        found: Vec::new(),
    };
    search.visit_file(&source);
    search.found.dedup();
    match <[Local; 1]>::try_from(search.found) {
        Ok([local]) if asks_capacity(text.get(local.function.clone()).unwrap_or_default(), &local.name) => {
            bail!(
                "{place}: the function asks for the capacity of `{}`, which would be another; change it by hand",
                local.name
            )
        }
        Ok([local]) => Ok(local),
        Err(_) => {
            bail!("{place}: no local variable that is made by `{}` grows there; change it by hand", edit.from)
        }
    }
}

/// Returns `true` if a text asks for the capacity of a variable or field, or fills all of it.
pub(super) fn asks_capacity(text: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    ["capacity()", "spare_capacity_mut()"].iter().any(|call| {
        let call = format!("{name}.{call}");
        text.match_indices(&call).any(|(at, _)| !text[..at].ends_with(is_word))
    }) || ["read_buf", "try_read_buf"].iter().any(|call| text.contains(&format!("{call}(&mut {name})")))
        || text.contains(&format!("{name}.chunk_mut()"))
}

/// A variable that is made empty.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Local {
    name: String,
    is_mutable: bool,
    /// The call that makes it.
    made: Bytes,
    /// The `let` statement.
    statement: Bytes,
    /// Where the loop begins whose body has the statement.
    before: Option<usize>,
    /// The body of the innermost loop.
    body: Bytes,
    /// The function.
    function: Bytes,
}

struct Search<'a> {
    line: usize,
    text: &'a str,
    from: &'a str,
    /// The bodies of loops, and where the loops begin.
    loops: Vec<(Bytes, usize)>,
    function: Bytes,
    /// The variables of the function that are made empty.
    locals: Vec<Local>,
    found: Vec<Local>,
}

impl Search<'_> {
    /// Visits a function, whose variables no other one has.
    fn function(&mut self, range: Bytes, visit: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.locals);
        let around = std::mem::replace(&mut self.function, range);
        visit(self);
        self.locals = outer;
        self.function = around;
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(node.span().byte_range(), |search| visit::visit_item_fn(search, node));
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(node.span().byte_range(), |search| visit::visit_impl_item_fn(search, node));
    }

    fn visit_local(&mut self, node: &'ast syn::Local) {
        visit::visit_local(self, node);
        let pattern = match &node.pat {
            syn::Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        let (syn::Pat::Ident(name), Some(init)) = (pattern, &node.init) else { return };
        let made = init.expr.span().byte_range();
        if self.text.get(made.clone()).is_some_and(|made| is_empty(made, self.from)) {
            let statement = node.span().byte_range();
            let is_in = |body: &Bytes| body.start <= statement.start && statement.end <= body.end;
            // The innermost loop, if the statement is one of its body and not of a block in it.
            let inner = self.loops.iter().rev().find(|(body, _)| is_in(body));
            let body = inner.map_or(0..0, |(body, _)| body.clone());
            let before = inner.filter(|(body, _)| is_direct(self.text, body, &statement)).map(|(_, start)| *start);
            let is_mutable = name.mutability.is_some();
            let (name, function) = (name.ident.to_string(), self.function.clone());
            self.locals.push(Local { name, is_mutable, made, statement, before, body, function });
        }
    }

    fn visit_expr_for_loop(&mut self, node: &'ast syn::ExprForLoop) {
        self.loops.push((node.body.span().byte_range(), node.span().byte_range().start));
        visit::visit_expr_for_loop(self, node);
        self.loops.pop();
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.loops.push((node.body.span().byte_range(), node.span().byte_range().start));
        visit::visit_expr_while(self, node);
        self.loops.pop();
    }

    fn visit_expr_loop(&mut self, node: &'ast syn::ExprLoop) {
        self.loops.push((node.body.span().byte_range(), node.span().byte_range().start));
        visit::visit_expr_loop(self, node);
        self.loops.pop();
    }

    fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, node);
        let (first, last) = (node.span().start().line, node.span().end().line);
        let grows =
            ["push", "push_str", "extend", "extend_from_slice", "insert", "write_str", "write_fmt", "push_back"];
        if !(first..=last).contains(&self.line) || !grows.iter().any(|name| node.method == *name) {
            return;
        }
        let syn::Expr::Path(receiver) = &*node.receiver else { return };
        let name = receiver.path.get_ident().map(ToString::to_string);
        let local = self.locals.iter().rev().find(|local| Some(&local.name) == name.as_ref());
        self.found.extend(local.cloned());
    }
}

/// Returns `true` if an expression makes the same empty collection as another: `Vec::<u8>::new()` and `Vec::default()` as `Vec::new()`.
fn is_empty(made: &str, from: &str) -> bool {
    let (made, from) = (dense(made), dense(from));
    let name = from.strip_suffix("::new()").unwrap_or(&from);
    let rest = made.strip_prefix(name).unwrap_or_default();
    let rest = match rest.strip_prefix("::<").and_then(|rest| rest.rsplit_once(">::")) {
        Some((_, call)) => call,
        None => rest.trim_start_matches("::"),
    };
    made == from || ["new()", "default()"].contains(&rest) || made == "vec![]" && name == "Vec"
}

/// Returns `true` if no brace opens between the begin of a loop's body and a statement of it that is not closed again.
fn is_direct(text: &str, body: &Bytes, statement: &Bytes) -> bool {
    // With a brace that is not closed it is no sequence of tokens.
    let before = text.get(body.start + 1..statement.start).unwrap_or_default();
    before.parse::<proc_macro2::TokenStream>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_stated_where_the_collection_is_made() {
        let text = "fn f() {\n    let mut a = Vec::new();\n    let mut b: Vec<u8> = Vec::new();\n    for x in 0..9 {\n        b.push(x);\n    }\n    a.push(b);\n}\n\
                    fn g(a: &mut Vec<u8>) {\n    a.push(1);\n}\n";
        let with = |line| {
            let (from, to) = ("Vec::new()".into(), "Vec::with_capacity(16)".into());
            edit(text, &Edit { file: "a.rs".into(), line, item: "Vec".into(), from, to })
        };
        assert!(with(5).unwrap().contains("let mut b: Vec<u8> = Vec::with_capacity(16);"));
        assert!(with(7).unwrap().contains("let mut a = Vec::with_capacity(16);"));
        assert!(with(10).unwrap_err().to_string().contains("change it by hand"));
        assert!(with(4).is_err());
    }

    #[test]
    fn a_collection_is_made_empty_in_several_ways() {
        let with = |made: &str| {
            let text = format!("fn f() {{\n    let mut a = {made};\n    a.push(1);\n}}\n");
            let (from, to) = ("Vec::new()".into(), "Vec::with_capacity(6)".into());
            let edited = edit(&text, &Edit { file: "a.rs".into(), line: 3, item: "Vec".into(), from, to }).ok()?;
            Some(edited.split_once("a = ")?.1.split_once(";\n")?.0.to_owned())
        };
        assert_eq!(with("Vec::<(K, Vec<V>)>::new()").as_deref(), Some("Vec::<(K, Vec<V>)>::with_capacity(6)"));
        for made in ["Vec::new()", "Vec::default()", "vec![]", "Vec :: new ( )"] {
            assert_eq!(with(made).as_deref(), Some("Vec::with_capacity(6)"), "{made}");
        }
        for other in ["Vec::from([1])", "VecDeque::new()", "Vec::<u8>::from([1])", "vec![1]", "make()"] {
            assert_eq!(with(other), None, "{other}");
        }
    }

    #[test]
    fn a_capacity_that_is_asked_for_stays() {
        for (uses, stays) in [
            ("if a.len() == a.capacity() { flush(&a) }", true),
            ("file.read_buf(&mut a).await", true),
            ("let n = aa.capacity(); a.len()", false),
        ] {
            let text = format!("fn f() {{\n    let mut a = Vec::new();\n    a.push(1);\n    {uses}\n}}\n");
            let (from, to) = ("Vec::new()".into(), "Vec::with_capacity(16)".into());
            let edited = edit(&text, &Edit { file: "a.rs".into(), line: 3, item: "Vec".into(), from, to });
            assert_eq!(
                edited.is_err_and(|error| error.to_string().contains("asks for the capacity of `a`")),
                stays,
                "{uses}"
            );
        }
    }

    #[test]
    fn buffers_leave_their_loop() {
        let text = "fn f() {\n    'a: for x in 0..9 {\n        let mut line: String = String::new();\n        line.push_str(x);\n        \
                    if x { let mut b = String::new(); b.push('x'); }\n    }\n}\n";
        let with = |line| {
            let (from, to) = ("String::new()".into(), "clear()".into());
            hoist(text, &Edit { file: "a.rs".into(), line, item: "String".into(), from, to })
        };
        assert!(with(4).unwrap().contains(
            "    let mut line: String = String::new();\n    'a: for x in 0..9 {\n        line.clear();\n        line.push_str(x);"
        ));
        assert!(with(5).unwrap_err().to_string().contains("is not made in a loop"));
    }

    #[test]
    fn a_buffer_that_would_hide_another_value_stays() {
        let with = |before: &str, head: &str, after: &str| {
            let text = format!(
                "fn f() {{\n    {before}\n    for x in {head} {{\n        let mut line = String::new();\n        line.push_str(x);\n    }}\n    {after}\n}}\n"
            );
            let (from, to) = ("String::new()".into(), "clear()".into());
            hoist(&text, &Edit { file: "a.rs".into(), line: 5, item: "String".into(), from, to })
        };
        assert!(with("let line = 1; g(line);", "0..9", "g(lines);").is_ok());
        for (head, after) in [("0..9", "g(line);"), ("0..9", "format!(\"{line} {all}\")"), ("line.iter()", "")] {
            let error = with("let line = 1;", head, after).unwrap_err().to_string();
            assert!(error.contains("name of a value outside"), "{error}");
        }
    }
}
