//! A narrower integer: each value is checked where the field gets it, and read as one of the old type, so that no sum or product is one of
//! narrower numbers.
//!
//! The compiler tells where the uses are: the field gets another name for one check, and each error is a use.

use super::edit;
use super::moves::{Becomes, Move};
use super::package::{package_of, sources_of_package};
use super::session::Session;
use super::syntax::Bytes;
use super::{allocator, builds, definition};
use anyhow::{Result, bail};
use dwell_source::Edit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Macros that print an integer as they print a wider one.
const PRINTS: [&str; 13] = [
    "format", "print", "println", "eprint", "eprintln", "write", "writeln", "panic", "trace", "debug", "info", "warn",
    "error",
];

impl Session<'_> {
    /// Makes the edits of a move in the copy, and rewrites the uses of integers.
    ///
    /// # Errors
    /// Returns an error if an edit must not be made.
    pub(super) fn edit(&mut self, change: &Move) -> Result<edit::Made> {
        if let Some(program) = &change.program {
            allocator::set(self, program)?;
            return Ok(edit::Made {
                becomes: Becomes::Capacity,
                changed: Vec::new(),
                everywhere: Vec::new(),
                asking: Vec::new(),
            });
        }
        for edit in &change.edits {
            if let Some(Becomes::Narrowed(narrow)) = change.becomes(edit) {
                self.rewrite(edit, &narrow)?;
            }
        }
        edit::make(&mut self.tree, &self.workspace, self.args, change)
    }

    /// Rewrites the uses of a field that becomes narrower.
    fn rewrite(&mut self, edit: &Edit, narrow: &str) -> Result<()> {
        let file = Path::new(&edit.file);
        let place = format!("{}:{}", edit.file, edit.line);
        let name = edit.item.rsplit_once('.').map_or("", |(_, name)| name);
        let text = self.tree.read(file).unwrap_or_default();
        let Some(found) = definition::find(&text, &edit.item, edit.line) else { return Ok(()) };
        if syn::parse_str::<syn::Ident>(name).is_err() || text[found.range.clone()] != edit.from {
            bail!("{place}: {}: only a named field of this type is made narrower", edit.item);
        }
        self.refuse_outside(file, name, &place)?;
        let before = text[..found.range.start].trim_end().trim_end_matches(':').trim_end();
        let Some(start) = before.strip_suffix(name).map(str::len) else {
            bail!("{place}: {} is not declared by its name", edit.item);
        };
        let other = format!("dwell_{name}");
        let mut renamed = text.clone();
        renamed.replace_range(start..start + name.len(), &other);
        self.tree.write(file, &renamed)?;
        let errors = self.cargo.check();
        self.tree.write(file, &text)?;
        let shift = |path: &Path, at: usize| {
            if path == file && at > start { at - (other.len() - name.len()) } else { at }
        };
        let mut uses: BTreeMap<PathBuf, BTreeSet<(usize, usize)>> = BTreeMap::new();
        for error in errors?.errors {
            let code = error.code.as_ref().map_or("", |code| &code.code);
            for span in error.spans.iter().filter(|span| span.is_primary) {
                let path = PathBuf::from(&span.file_name);
                let [from, to] = [span.byte_start, span.byte_end].map(|at| shift(&path, at as usize));
                let is_name = self.tree.read(&path).is_some_and(|text| text.get(from..to) == Some(name));
                match code {
                    "E0609" | "E0560" if is_name => _ = uses.entry(path).or_default().insert((from, to)),
                    "E0026" if is_name => bail!(
                        "{}:{}: a pattern takes {} out; make it narrower by hand",
                        span.file_name,
                        span.line_start,
                        edit.item
                    ),
                    _ => {}
                }
            }
        }
        for (path, places) in uses {
            let text = self.tree.read(&path).unwrap_or_default();
            match rewritten(&text, &places, &edit.from, narrow, name) {
                Ok(text) => self.tree.write(&path, &text)?,
                Err(at) => {
                    let line = text[..at].matches('\n').count() + 1;
                    bail!(
                        "{}:{line}: {} is borrowed to be changed; make it narrower by hand",
                        path.display(),
                        edit.item
                    )
                }
            }
        }
        Ok(())
    }

    /// A crate that uses the field of another is not compiled while the field has another name.
    fn refuse_outside(&self, file: &Path, name: &str, place: &str) -> Result<()> {
        let root = self.tree.crate_root(file);
        let used = format!(".{name}");
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut packages: Vec<PathBuf> = sources_of_package(&self.tree, &self.workspace, file);
        let own = package_of(&self.workspace, file).map(|package| package.id.clone());
        let others = builds::affected(&self.workspace, &[file.to_owned()]);
        for package in others.iter().filter(|package| Some(&package.id) != own.as_ref()) {
            if let Ok(manifest) = package.manifest_path.strip_prefix(&self.workspace.workspace_root) {
                packages.extend(sources_of_package(&self.tree, &self.workspace, manifest.as_std_path()));
            }
        }
        for other in packages.iter().filter(|other| self.tree.crate_root(other) != root) {
            let text = self.tree.read(other).unwrap_or_default();
            let is_used = text.match_indices(&used).any(|(at, _)| !text[at + used.len()..].starts_with(is_word));
            if is_used {
                bail!("{place}: {} may use it too; make it narrower by hand", other.display());
            }
        }
        Ok(())
    }
}

/// Returns a source in which the uses of a field, whose name stands at the places, check what they give and widen what they read. An error
/// is the place of a use that needs a person.
fn rewritten(
    text: &str,
    places: &BTreeSet<(usize, usize)>,
    wide: &str,
    narrow: &str,
    name: &str,
) -> Result<String, usize> {
    let Ok(source) = syn::parse_file(text) else { return Ok(text.to_owned()) };
    let mut uses = Uses { text, places, fields: Vec::new(), given: Vec::new(), borrowed: None, plain: BTreeSet::new() };
    uses.visit_file(&source);
    if let Some(at) = uses.borrowed {
        return Err(at);
    }
    let checked = |value: &str| match syn::parse_str::<syn::Expr>(value) {
        // The compiler checks a literal, and `parse` reads one of the new type.
        Ok(syn::Expr::Lit(_)) => value.to_owned(),
        _ if value.contains(".parse()") || value.ends_with("::default()") => value.to_owned(),
        _ => format!("{narrow}::try_from({value}).expect(\"{name} fits into {narrow}\")"),
    };
    let widened = |range: &Bytes| {
        let value = &text[range.clone()];
        if wide.ends_with("size") && !narrow.ends_with('8') && narrow != "u16" {
            let is_alone = text[..range.start].ends_with(['(', '[']) && text[range.end..].starts_with([')', ']']);
            return if is_alone { format!("{value} as {wide}") } else { format!("({value} as {wide})") };
        }
        format!("{wide}::from({value})")
    };
    let mut edits: Vec<(Bytes, String)> = Vec::new();
    let mut outer: Vec<(Bytes, Given)> = uses.given;
    outer.sort_by_key(|(range, _)| range.len());
    let within = |range: &Bytes, edits: &mut Vec<(Bytes, String)>| {
        let mut part = text[range.clone()].to_owned();
        let mut inside: Vec<(Bytes, String)> = Vec::new();
        edits.retain(|edit| {
            let is_inside = range.start <= edit.0.start && edit.0.end <= range.end;
            if is_inside {
                inside.push(edit.clone());
            }
            !is_inside
        });
        inside.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        for (at, with) in inside {
            part.replace_range(at.start - range.start..at.end - range.start, &with);
        }
        part
    };
    for range in uses.fields.iter().filter(|range| !uses.plain.contains(&range.start)) {
        edits.push((range.clone(), widened(range)));
    }
    for (range, given) in outer {
        let with = match given {
            Given::Value => checked(&within(&range, &mut edits)),
            Given::Shorthand => format!("{name}: {}", checked(name)),
            Given::Changed { field, operator, value } => {
                let value = within(&value, &mut edits);
                let new = format!("{} {operator} {value}", widened(&field));
                format!("{} = {}", &text[field], checked(&new))
            }
        };
        edits.push((range, with));
    }
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut text = text.to_owned();
    for (range, with) in edits {
        text.replace_range(range, &with);
    }
    Ok(text)
}

/// How a field gets a value.
enum Given {
    /// The value of a struct expression or of an assignment.
    Value,
    /// The name of the field alone.
    Shorthand,
    /// `self.count += value`
    Changed { field: Bytes, operator: String, value: Bytes },
}

/// The uses of a field.
struct Uses<'a> {
    text: &'a str,
    places: &'a BTreeSet<(usize, usize)>,
    /// What is read.
    fields: Vec<Bytes>,
    given: Vec<(Bytes, Given)>,
    /// Where it is borrowed to be changed.
    borrowed: Option<usize>,
    /// Where what is read need not be wider.
    plain: BTreeSet<usize>,
}

impl Uses<'_> {
    /// Returns the bytes of an expression that is the field.
    fn field(&self, expr: &syn::Expr) -> Option<Bytes> {
        let syn::Expr::Field(field) = expr else { return None };
        let name = field.member.span().byte_range();
        self.places.contains(&(name.start, name.end)).then(|| expr.span().byte_range())
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_field(&mut self, node: &'ast syn::ExprField) {
        let name = node.member.span().byte_range();
        if self.places.contains(&(name.start, name.end)) {
            self.fields.push(node.span().byte_range());
        }
        visit::visit_expr_field(self, node);
    }

    fn visit_expr_assign(&mut self, node: &'ast syn::ExprAssign) {
        match self.field(&node.left) {
            Some(_) => {
                self.given.push((node.right.span().byte_range(), Given::Value));
                if let syn::Expr::Field(field) = &*node.left {
                    self.visit_expr(&field.base);
                }
                self.visit_expr(&node.right);
            }
            None => visit::visit_expr_assign(self, node),
        }
    }

    fn visit_expr_binary(&mut self, node: &'ast syn::ExprBinary) {
        let operator = self.text.get(node.op.span().byte_range()).unwrap_or_default();
        if let Some(field) = self.field(&node.left)
            && let Some(operator) = operator.strip_suffix('=').filter(|rest| !["=", "!", "<", ">", ""].contains(rest))
        {
            let value = node.right.span().byte_range();
            let given = Given::Changed { field, operator: operator.to_owned(), value };
            self.given.push((node.span().byte_range(), given));
            return self.visit_expr(&node.right);
        }
        if ["==", "!=", "<", ">", "<=", ">="].contains(&operator) {
            let sides = [&*node.left, &*node.right];
            let is_plain = |side: &&syn::Expr| matches!(side, syn::Expr::Lit(_)) || self.field(side).is_some();
            if sides.iter().all(is_plain) {
                let starts: Vec<usize> = sides.iter().filter_map(|side| Some(self.field(side)?.start)).collect();
                self.plain.extend(starts);
            }
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_reference(&mut self, node: &'ast syn::ExprReference) {
        if let Some(field) = self.field(&node.expr).filter(|_| node.mutability.is_some()) {
            self.borrowed = Some(field.start);
        }
        visit::visit_expr_reference(self, node);
    }

    fn visit_field_value(&mut self, node: &'ast syn::FieldValue) {
        let name = node.member.span().byte_range();
        if self.places.contains(&(name.start, name.end)) {
            match node.colon_token {
                Some(_) => self.given.push((node.expr.span().byte_range(), Given::Value)),
                None => return self.given.push((node.span().byte_range(), Given::Shorthand)),
            }
        }
        visit::visit_field_value(self, node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        let list = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        let Ok(all) = list.parse2(node.tokens.clone()) else { return };
        let prints = node.path.segments.last().is_some_and(|last| PRINTS.contains(&&*last.ident.to_string()));
        for expr in &all {
            if let Some(field) = self.field(expr).filter(|_| prints) {
                self.plain.insert(field.start);
            }
            self.visit_expr(expr);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(text: &str, wide: &str, narrow: &str) -> Result<String, usize> {
        let is_use =
            |at: usize| text[..at].ends_with('.') || text[at..].starts_with("at:") || text[at..].starts_with("at }");
        let places = text.match_indices("at").filter(|(at, _)| is_use(*at)).map(|(at, _)| (at, at + 2)).collect();
        rewritten(text, &places, wide, narrow, "at")
    }

    #[test]
    fn values_are_checked_and_read_as_wider_ones() {
        for (before, after) in [
            ("a.at * 1000", "u64::from(a.at) * 1000"),
            ("a.at == 3 && a.at < b.at", "a.at == 3 && a.at < b.at"),
            ("println!(\"{}\", a.at)", "println!(\"{}\", a.at)"),
            ("a.at = 3", "a.at = 3"),
            ("a.at = b.at + n", "a.at = u32::try_from(u64::from(b.at) + n).expect(\"at fits into u32\")"),
            ("a.at += n", "a.at = u32::try_from(u64::from(a.at) + n).expect(\"at fits into u32\")"),
            ("A { at: n, b }", "A { at: u32::try_from(n).expect(\"at fits into u32\"), b }"),
            ("A { at }", "A { at: u32::try_from(at).expect(\"at fits into u32\") }"),
            ("A { at: \"1\".parse().unwrap() }", "A { at: \"1\".parse().unwrap() }"),
        ] {
            let whole = |body: &str| format!("fn f() {{ let _ = {body}; }}");
            assert_eq!(with(&whole(before), "u64", "u32"), Ok(whole(after)));
        }
        assert_eq!(
            with("fn f() { g(list[a.at], a.at.min(1)); }", "usize", "u32").as_deref(),
            Ok("fn f() { g(list[a.at as usize], (a.at as usize).min(1)); }")
        );
        assert!(with("fn f() { g(&mut a.at); }", "u64", "u32").is_err());
    }
}
