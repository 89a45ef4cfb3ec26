//! Where a value that was filled step by step is complete: a function returns it, or a list takes it.

use super::syntax::Bytes;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Calls that move a value into a collection.
const TAKES: [&str; 6] = ["push", "push_back", "push_front", "insert", "send", "push_within_capacity"];

/// A place where a value of the struct is complete.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Complete {
    /// The value: `parser.ast`, `doc`.
    pub(super) value: String,
    /// The statement or the expression that moves it.
    pub(super) moved: Bytes,
    /// Whether `moved` is a statement or the end of a block, so that another statement can stand before it.
    pub(super) is_statement: bool,
    /// The `self` that must become `mut self`.
    pub(super) receiver: Option<usize>,
}

/// Finds the places where values of the struct `of` are complete, with their field `field`:
///
/// - the value that a function with `of` in its result returns, if it is a variable or a field of one;
/// - a variable that was made by `of::new()` or the like, where a collection takes it.
pub(super) fn find(source: &syn::File, text: &str, name: &str, field: &str) -> Vec<Complete> {
    let mut search = Search { text, of: name, field, own: Vec::new(), made: Vec::new(), found: Vec::new() };
    search.visit_file(source);
    search.found.sort_by_key(|complete| complete.moved.start);
    search.found.dedup();
    search.found
}

/// Puts the statement `call(value)` before each place that moves a value.
pub(super) fn insert(text: &mut String, places: &[Complete], call: &dyn Fn(&str) -> String) {
    let mut edits: Vec<(usize, String)> = Vec::new();
    for place in places {
        let call = call(&place.value);
        let at = place.moved.start;
        if place.is_statement {
            let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let indent: String = text[line..].chars().take_while(|letter| *letter == ' ' || *letter == '\t').collect();
            // `if done { return Ok(doc); }` stays on its line.
            let is_first = line + indent.len() == at;
            let between = if is_first { format!("\n{indent}") } else { " ".to_owned() };
            edits.push((at, format!("{call}{between}")));
        } else {
            edits.push((place.moved.end, " }".to_owned()));
            edits.push((at, format!("{{ {call} ")));
        }
        edits.extend(place.receiver.map(|at| (at, "mut ".to_owned())));
    }
    edits.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    edits.dedup();
    for (at, with) in edits {
        text.insert_str(at, &with);
    }
}

/// Adds `statement` to the method `shrink_to_fit` of the struct `of`, which is made after the struct if there is none.
/// `None`: the struct is not in this file.
pub(super) fn with_method(text: &str, name: &str, statement: &str) -> Option<String> {
    let source = syn::parse_file(text).ok()?;
    let mut search = Method { text, of: name, block: None, own: false, declared: None };
    search.visit_file(&source);
    let mut changed = text.to_owned();
    if let Some(block) = search.block {
        if !text[block.clone()].contains(statement) {
            changed.insert_str(block.end - 1, &format!("    {statement}\n    "));
        }
        return Some(changed);
    }
    let (end, generics) = search.declared?;
    let method = format!(
        "\n\nimpl{generics} {name}{} {{\n    /// Gives unused capacity back.\n    pub(crate) fn shrink_to_fit(&mut self) {{\n        \
         {statement}\n    }}\n}}",
        arguments(&generics)
    );
    changed.insert_str(end, &method);
    Some(changed)
}

/// Returns `<'a, T>` for `<'a, T: Clone>`.
fn arguments(generics: &str) -> String {
    let Ok(parsed) = syn::parse_str::<syn::Generics>(generics) else { return String::new() };
    let names = parsed.params.iter().map(|param| match param {
        syn::GenericParam::Lifetime(lifetime) => lifetime.lifetime.to_string(),
        syn::GenericParam::Type(type_param) => type_param.ident.to_string(),
        syn::GenericParam::Const(const_param) => const_param.ident.to_string(),
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() { String::new() } else { format!("<{}>", names.join(", ")) }
}

/// Finds the struct and its method `shrink_to_fit`.
struct Method<'a> {
    text: &'a str,
    of: &'a str,
    block: Option<Bytes>,
    /// Inside of an `impl` block of the struct.
    own: bool,
    /// The end of the declaration, and its generics.
    declared: Option<(usize, String)>,
}

impl<'ast> Visit<'ast> for Method<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let declared = &item.generics;
        if item.ident == self.of
            && declared.where_clause.is_none()
            && declared.type_params().all(|parameter| parameter.default.is_none())
        {
            let generics =
                declared.lt_token.map(|_| self.text[declared.span().byte_range()].to_owned()).unwrap_or_default();
            self.declared = Some((item.span().byte_range().end, generics));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.own = item.trait_.is_none() && last_name(&item.self_ty).is_some_and(|name| name == self.of);
        visit::visit_item_impl(self, item);
        self.own = false;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if self.own && item.sig.ident == "shrink_to_fit" {
            self.block = Some(item.block.span().byte_range());
        }
    }
}

/// Returns the last name of a type's path.
fn last_name(ty: &syn::Type) -> Option<String> {
    let syn::Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|last| last.ident.to_string())
}

/// Finds the places.
struct Search<'a> {
    text: &'a str,
    of: &'a str,
    field: &'a str,
    /// The types of the `impl` blocks around, for `Self`.
    own: Vec<String>,
    /// The variables of the function that hold a value of the struct.
    made: Vec<String>,
    found: Vec<Complete>,
}

impl Search<'_> {
    fn is_it(&self, name: &syn::Ident) -> bool {
        name == self.of || (name == "Self" && self.own.last().is_some_and(|own| own == self.of))
    }

    /// Returns `true` if a function's result has the struct by value.
    fn is_in(&self, ty: &syn::Type) -> bool {
        match ty {
            syn::Type::Path(path) => path.path.segments.iter().any(|segment| {
                self.is_it(&segment.ident)
                    || is_wrapper(&segment.ident) && arguments_of(segment).any(|argument| self.is_in(argument))
            }),
            syn::Type::Tuple(tuple) => tuple.elems.iter().any(|elem| self.is_in(elem)),
            syn::Type::Paren(paren) => self.is_in(&paren.elem),
            _ => false,
        }
    }

    /// Looks at a function: what it returns, and what it gives to collections.
    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let before = std::mem::take(&mut self.made);
        let mut mutable = Mutable { names: Vec::new() };
        mutable.visit_signature(sig);
        mutable.visit_block(block);
        if let syn::ReturnType::Type(_, ty) = &sig.output
            && self.is_in(ty)
        {
            let mut ends = Ends { found: Vec::new() };
            ends.block(block);
            ends.visit_block(block);
            // `fn into_doc(self) -> Doc` gets `mut self`.
            let receiver = sig
                .receiver()
                .filter(|receiver_arg| receiver_arg.reference.is_none() && receiver_arg.mutability.is_none());
            let receiver = receiver.map(|receiver_arg| receiver_arg.self_token.span().byte_range().start);
            for (expr, moved, is_statement) in ends.found {
                let Some(value) = self.value(expr, ty) else { continue };
                let of_self = receiver.filter(|_| value.starts_with("self."));
                if mutable.has(&value) || of_self.is_some() {
                    self.found.push(Complete { value, moved, is_statement, receiver: of_self });
                }
            }
        }
        visit::visit_block(self, block);
        self.made = before;
    }

    /// Returns the variable, or the field of one, that an expression of a type returns.
    fn value(&self, expr: &syn::Expr, ty: &syn::Type) -> Option<String> {
        match expr {
            syn::Expr::Call(call) => {
                let syn::Expr::Path(path) = &*call.func else { return None };
                let mut names = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
                let (last, before) = (names.next()?, names.next());
                let is_wrapper = ["Ok", "Err", "Some"].contains(&last.as_str())
                    || last == "new" && before.is_some_and(|name| name == "Box");
                if !is_wrapper || call.args.len() != 1 {
                    return None;
                }
                let inner = match ty {
                    syn::Type::Path(path) => path.path.segments.last().and_then(|segment| {
                        let mut own = arguments_of(segment).filter(|argument| self.is_in(argument));
                        // `Result<u8, Doc>` has none in its `Ok`.
                        let is_other = last == "Ok" || last == "Err";
                        let place = is_other && segment.ident == "Result" && arguments_of(segment).count() == 2;
                        let at = arguments_of(segment).nth(usize::from(last == "Err"));
                        if place { Some(at.filter(|argument| self.is_in(argument))) } else { own.next().map(Some) }
                    }),
                    _ => None,
                };
                // An alias such as `ParseResult`.
                self.value(&call.args[0], inner.unwrap_or(Some(ty))?)
            }
            syn::Expr::Tuple(tuple) => {
                let value = match ty {
                    syn::Type::Tuple(types) => {
                        let mut both = tuple.elems.iter().zip(&types.elems);
                        both.find_map(|(elem, ty)| self.is_in(ty).then(|| self.value(elem, ty))?)
                    }
                    // A parser's result is what is left of its text, and the value.
                    _ => self.value(tuple.elems.last()?, ty),
                };
                // `into_parts` takes a value apart that was complete before.
                value.filter(|value| !value.starts_with("self."))
            }
            syn::Expr::Field(_) | syn::Expr::Path(_) => {
                let root = root(expr)?;
                // A method that returns `self` changes a value that may grow further.
                let is_self = root == "self" && matches!(expr, syn::Expr::Path(_));
                (!is_self).then(|| self.text[expr.span().byte_range()].to_owned())
            }
            // `Doc { name, ..doc }` has the other fields of `doc`.
            syn::Expr::Struct(expr_struct) => {
                let is_it = |member: &syn::Member| matches!(member, syn::Member::Named(name) if name == self.field);
                let is_given = expr_struct.fields.iter().any(|field| is_it(&field.member));
                expr_struct.rest.as_ref().filter(|_| !is_given).and_then(|rest| self.value(rest, ty))
            }
            _ => None,
        }
    }
}

/// Returns `true` for `Option`, `Box`, `Result`, and aliases such as `ParseResult`.
fn is_wrapper(name: &syn::Ident) -> bool {
    name == "Option" || name == "Box" || name.to_string().ends_with("Result")
}

/// Returns the types in the angle brackets of a path's segment.
fn arguments_of(segment: &syn::PathSegment) -> impl Iterator<Item = &syn::Type> {
    let arguments = match &segment.arguments {
        syn::PathArguments::AngleBracketed(angle_bracketed) => Some(&angle_bracketed.args),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the variable that a path or the fields of one begin with.
fn root(expr: &syn::Expr) -> Option<&syn::Ident> {
    match expr {
        syn::Expr::Field(field) => root(&field.base),
        syn::Expr::Path(expr_path) => {
            expr_path.path.get_ident().filter(|name| !name.to_string().starts_with(char::is_uppercase))
        }
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.own.push(last_name(&item.self_ty).unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.own.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let name = match &local.pat {
            syn::Pat::Ident(ident) if ident.mutability.is_some() => Some(&ident.ident),
            syn::Pat::Type(typed) => match (&*typed.pat, last_name(&typed.ty)) {
                (syn::Pat::Ident(name), Some(ty)) if name.mutability.is_some() && ty == self.of => {
                    self.made.push(name.ident.to_string());
                    None
                }
                _ => None,
            },
            _ => None,
        };
        if let (Some(name), Some(init)) = (name, &local.init) {
            let path = match &*init.expr {
                syn::Expr::Struct(expr_struct) => Some((&expr_struct.path, 1)),
                syn::Expr::Call(call) => match &*call.func {
                    syn::Expr::Path(path) => Some((&path.path, 2)),
                    _ => None,
                },
                _ => None,
            };
            // `Doc { .. }`, `Doc::new()`.
            let segment = path.and_then(|(path, from_end)| path.segments.iter().rev().nth(from_end - 1));
            if segment.is_some_and(|segment| self.is_it(&segment.ident)) {
                self.made.push(name.to_string());
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(syn::Expr::MethodCall(call), Some(_)) = stmt
            && TAKES.iter().any(|name| call.method == *name)
            && let Some(syn::Expr::Path(path)) = call.args.last()
            && let Some(name) = path.path.get_ident()
            && self.made.iter().any(|made| name == made)
        {
            let moved = stmt.span().byte_range();
            self.found.push(Complete { value: name.to_string(), moved, is_statement: true, receiver: None });
        }
        visit::visit_stmt(self, stmt);
    }
}

/// The names that a function can change.
struct Mutable {
    names: Vec<String>,
}

impl Mutable {
    /// Returns `true` if the variable of a value can be changed.
    fn has(&self, value: &str) -> bool {
        let root = value.split('.').next().unwrap_or_default().trim();
        self.names.iter().any(|name| name == root)
    }
}

impl<'ast> Visit<'ast> for Mutable {
    fn visit_pat_ident(&mut self, node: &'ast syn::PatIdent) {
        if node.mutability.is_some() {
            self.names.push(node.ident.to_string());
        }
        visit::visit_pat_ident(self, node);
    }

    fn visit_receiver(&mut self, node: &'ast syn::Receiver) {
        if node.mutability.is_some() && node.reference.is_none() {
            self.names.push("self".to_owned());
        }
    }
}

/// The expressions that a function's value is.
struct Ends<'ast> {
    /// An expression, what moves it, and whether a statement can stand before that.
    found: Vec<(&'ast syn::Expr, Bytes, bool)>,
}

impl<'ast> Ends<'ast> {
    fn block(&mut self, block: &'ast syn::Block) {
        if let Some(syn::Stmt::Expr(expr, None)) = block.stmts.last() {
            self.expr(expr, true);
        }
    }

    fn expr(&mut self, expr: &'ast syn::Expr, is_statement: bool) {
        match expr {
            syn::Expr::Block(block) => self.block(&block.block),
            syn::Expr::Unsafe(unsafe_block) => self.block(&unsafe_block.block),
            syn::Expr::If(branch) => {
                self.block(&branch.then_branch);
                if let Some((_, other)) = &branch.else_branch {
                    self.expr(other, false);
                }
            }
            syn::Expr::Match(matching) => matching.arms.iter().for_each(|arm| self.expr(&arm.body, false)),
            syn::Expr::Loop(expr_loop) => {
                let mut breaks = Breaks { found: Vec::new() };
                breaks.visit_block(&expr_loop.body);
                self.found.extend(breaks.found);
            }
            syn::Expr::Return(_) => {}
            _ => self.found.push((expr, expr.span().byte_range(), is_statement)),
        }
    }
}

impl<'ast> Visit<'ast> for Ends<'ast> {
    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(syn::Expr::Return(returned), _) = stmt
            && let Some(expr) = &returned.expr
        {
            self.found.push((expr, stmt.span().byte_range(), true));
            return self.visit_expr(expr);
        }
        visit::visit_stmt(self, stmt);
    }

    // The body of an arm.
    fn visit_expr_return(&mut self, node: &'ast syn::ExprReturn) {
        self.found.extend(node.expr.as_deref().map(|expr| (expr, node.span().byte_range(), false)));
        visit::visit_expr_return(self, node);
    }

    // What these return is not the function's value.
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The values of a `loop`.
struct Breaks<'ast> {
    found: Vec<(&'ast syn::Expr, Bytes, bool)>,
}

impl<'ast> Visit<'ast> for Breaks<'ast> {
    fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(syn::Expr::Break(node), _) = stmt
            && let Some(expr) = &node.expr
        {
            return self.found.push((expr, stmt.span().byte_range(), true));
        }
        visit::visit_stmt(self, stmt);
    }

    fn visit_expr_break(&mut self, node: &'ast syn::ExprBreak) {
        self.found.extend(node.expr.as_deref().map(|expr| (expr, node.span().byte_range(), false)));
    }

    // These have values of their own.
    fn visit_expr_loop(&mut self, _: &'ast syn::ExprLoop) {}
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
struct Ast<'a> { nodes: Vec<&'a u8> }
impl<'a> Ast<'a> {
    fn new() -> Self { Self { nodes: Vec::new() } }
    fn with(mut self, node: &'a u8) -> Self { self.nodes.push(node); self }
}
struct Parser<'a> { ast: Ast<'a> }
impl<'a> Parser<'a> {
    fn parse(text: &'a [u8]) -> ParseResult<Option<Ast<'a>>> {
        let mut parser = Parser { ast: Ast::new() };
        if text.is_empty() { return Ok(Some(parser.ast)); }
        match text.len() { 1 => Ok(Some(parser.ast)), _ => { parser.ast.nodes.push(&text[0]); Ok(Some(parser.ast)) } }
    }
    fn ast(&self) -> &Ast<'a> { &self.ast }
}
fn all(text: &[u8]) -> Vec<Ast<'_>> {
    let mut all = Vec::new();
    for byte in text {
        let mut one = Ast::new();
        one.nodes.push(byte);
        all.push(one);
    }
    let fixed = Ast::new();
    all.push(fixed);
    all
}
";

    #[test]
    fn values_are_complete_where_they_are_returned_or_taken() {
        let source = syn::parse_file(TEXT).unwrap();
        let found = find(&source, TEXT, "Ast", "nodes");
        let texts: Vec<(&str, &str)> = found.iter().map(|item| (&*item.value, &TEXT[item.moved.clone()])).collect();
        assert_eq!(
            texts,
            [
                ("parser.ast", "return Ok(Some(parser.ast));"),
                ("parser.ast", "Ok(Some(parser.ast))"),
                ("parser.ast", "Ok(Some(parser.ast))"),
                ("one", "all.push(one);"),
            ]
        );
        let mut text = TEXT.to_owned();
        insert(&mut text, &found, &|value| format!("{value}.nodes.shrink_to_fit();"));
        assert!(syn::parse_file(&text).is_ok(), "{text}");
        assert!(text.contains("{ parser.ast.nodes.shrink_to_fit(); return Ok(Some(parser.ast)); }"), "{text}");
        assert!(text.contains("1 => { parser.ast.nodes.shrink_to_fit(); Ok(Some(parser.ast)) }"), "{text}");
        assert!(text.contains("        one.nodes.shrink_to_fit();\n        all.push(one);"), "{text}");
    }

    #[test]
    fn a_method_is_made_once_and_gets_each_statement_once() {
        let add = |text: &str, statement: &str| with_method(text, "Ast", statement).unwrap();
        let once = add(TEXT, "self.nodes.shrink_to_fit();");
        assert!(
            once.contains(
                "impl<'a> Ast<'a> {\n    /// Gives unused capacity back.\n    pub(crate) fn shrink_to_fit(&mut self) {\n        \
                 self.nodes.shrink_to_fit();\n    }\n}"
            ),
            "{once}"
        );
        assert_eq!(add(&once, "self.nodes.shrink_to_fit();"), once);
        let twice = add(&once, "self.spans.shrink_to_fit();");
        assert!(
            twice.contains("        self.nodes.shrink_to_fit();\n        self.spans.shrink_to_fit();\n    }\n}"),
            "{twice}"
        );
    }

    #[test]
    fn a_method_that_gives_its_value_may_change_it() {
        let text = "impl Parser {\n    fn into_doc(self, end: bool) -> Doc {\n        if end { return self.doc; }\n        self.doc\n    }\n    \
                    fn doc(&self) -> &Doc { &self.doc }\n}\n";
        let found = find(&syn::parse_file(text).unwrap(), text, "Doc", "lines");
        let mut changed = text.to_owned();
        insert(&mut changed, &found, &|value| format!("{value}.lines.shrink_to_fit();"));
        let call = "self.doc.lines.shrink_to_fit();";
        assert!(changed.contains("fn into_doc(mut self, end: bool)"), "{changed}");
        assert!(
            changed.contains(&format!("if end {{ {call} return self.doc; }}\n        {call}\n        self.doc")),
            "{changed}"
        );
        assert_eq!(changed.matches(call).count(), 2, "{changed}");
    }

    #[test]
    fn exits_of_arms_loops_and_wrappers_are_found() {
        let all = [
            "fn f(n: u8) -> Option<Doc> { let mut doc = Doc::default(); match n { 0 => return Some(doc), _ => {} } loop { if n > 1 { break Some(doc); } } }",
            "fn f(n: u8) -> Result<Box<Doc>, E> { let mut doc = Box::new(Doc::default()); let n = match n { 0 => return Ok(doc), n => n }; Ok(doc) }",
            "fn f(n: u8) -> Result<Doc, Doc> { let mut doc = Doc::default(); if n > 1 { return Err(doc) } Ok(doc) }",
            "fn f(t: &str) -> IResult<&str, Doc> { let mut doc = Doc::default(); if t.is_empty() { return Ok((t, doc)); } Ok((t, doc)) }",
            "fn f(n: u8) -> (u8, Doc) { let mut doc = Doc::default(); if n > 1 { return (n, doc); } (n, doc) }",
            "fn f(n: u8) -> Box<Doc> { let mut doc = Doc::default(); let Some(n) = g(n) else { return Box::new(doc) }; Box::new(doc) }",
        ];
        for own in all {
            let text = format!("struct Doc {{ lines: Vec<u8>, name: u8 }}\n{own}\n");
            let found = find(&syn::parse_file(&text).unwrap(), &text, "Doc", "lines");
            let mut changed = text.clone();
            insert(&mut changed, &found, &|value| format!("{value}.lines.shrink_to_fit();"));
            assert_eq!(changed.matches("doc.lines.shrink_to_fit();").count(), 2, "{changed}");
            assert!(found.len() == 2 && syn::parse_file(&changed).is_ok(), "{changed}");
        }
        let text = "struct Doc { lines: Vec<u8> }\nfn f(n: u8) -> Result<u8, Doc> { let mut doc = Doc::default(); if n > 1 { return Err(doc) } Ok(n) }\n";
        assert_eq!(find(&syn::parse_file(text).unwrap(), text, "Doc", "lines").len(), 1);
    }

    #[test]
    fn every_exit_is_found() {
        let text = "struct Doc { lines: Vec<u8>, name: u8 }\nfn f(end: bool) -> Option<Doc> {\n    let mut doc = Doc::default();\n    \
                    if end { return Some(doc); }\n    if doc.lines.is_empty() { Some(Doc { lines: Vec::new(), ..doc }) } else { Some(Doc { name: 1, ..doc }) }\n}\n";
        let found = find(&syn::parse_file(text).unwrap(), text, "Doc", "lines");
        let mut changed = text.to_owned();
        insert(&mut changed, &found, &|value| format!("{value}.lines.shrink_to_fit();"));
        let call = "doc.lines.shrink_to_fit();";
        assert!(changed.contains(&format!("if end {{ {call} return Some(doc); }}")), "{changed}");
        assert!(changed.contains(&format!("else {{ {call} Some(Doc {{ name: 1, ..doc }}) }}")), "{changed}");
        assert_eq!(changed.matches(call).count(), 2, "{changed}");
    }
}
