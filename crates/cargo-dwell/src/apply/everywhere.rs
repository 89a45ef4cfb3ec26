//! Replaces a type wherever a package names it: a `Box` whose values should all live elsewhere.

use super::moves::{Becomes, Owner};
use super::package::sources_of_package;
use super::syntax::{Bytes, dense};
use super::tree::Tree;
use super::types::with_paths;
use anyhow::{Result, bail};
use cargo_metadata::Metadata;
use dwell_source::Edit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Replaces the type `edit.from` by `edit.to` in all sources of the package. Returns the fields and variants with the type: code that no
/// build compiles may use them.
///
/// # Errors
/// Returns an error if the package does not name the type, or if it names several that differ in their arguments.
pub(super) fn replace(tree: &mut Tree, workspace: &Metadata, edit: &Edit, becomes: &Becomes) -> Result<Vec<String>> {
    let wanted = Wanted::of(&edit.from);
    let mut found: Vec<(PathBuf, String, Vec<Named>)> = Vec::new();
    let mut items = Vec::new();
    for file in sources_of_package(tree, workspace, Path::new(&edit.file)) {
        let Some(text) = tree.read(&file) else { continue };
        let Ok(source) = syn::parse_file(&text) else { continue };
        let mut search = Search { wanted: &wanted, text: &text, found: Vec::new(), items: Vec::new() };
        search.visit_file(&source);
        items.extend(search.items);
        let named = search.found;
        if !named.is_empty() {
            found.push((file, text, named));
        }
    }
    let item = &edit.item;
    let all = || found.iter().flat_map(|(file, text, named)| named.iter().map(move |item| (file, text, item)));
    let texts: BTreeSet<String> = all().map(|(_, text, named)| without_lifetimes(&text[named.value.clone()])).collect();
    let is_future = matches!(becomes, Becomes::Owner(Owner::Future, _));
    match texts.len() {
        0 => bail!("{item}: no type of the package has this name; an alias or a macro may write it"),
        1 => {}
        _ if is_future || matches!(wanted, Wanted::Box(Boxed::Value(_))) => {}
        _ => bail!(
            "{item}: the package names several such types: {}; change one by hand",
            Vec::from_iter(texts).join(", ")
        ),
    }
    for (file, mut text, mut named) in found {
        named.sort_by_key(|place| std::cmp::Reverse(place.whole.start));
        for place in named {
            let value = &text[place.value.clone()];
            let (new, function) = match becomes {
                Becomes::Owner(Owner::Future, _) => (place.future.clone().unwrap_or_default(), ""),
                Becomes::Owner(Owner::Small, _) => {
                    let words = edit.to.rsplit(',').next().unwrap_or_default().trim_end_matches('>').trim();
                    (format!("dwell::SmallBox<{value}, {words}>"), "dwell::small_box!")
                }
                Becomes::Owner(Owner::PoolDyn, _) => (format!("{}<{value}>", with_paths("Pooled")), "dwell::pooled!"),
                _ => (format!("{}<{value}>", with_paths("Pooled")), "dwell::slab::Pooled::new"),
            };
            match place.cast.filter(|_| !is_future) {
                Some(cast) => {
                    let value = &text[cast.value];
                    let block = format!("{{ let value: {new} = {function}({value}); value }}");
                    text.replace_range(cast.whole, &block);
                }
                None => text.replace_range(place.whole, &new),
            }
        }
        tree.write(&file, &text)?;
    }
    Ok(items)
}

/// Returns a type's text without the lifetimes: one type may be named with several.
fn without_lifetimes(text: &str) -> String {
    let text = dense(text);
    let mut rest = &*text;
    let mut out = String::new();
    while let Some(at) = rest.find('\'') {
        out.push_str(rest[..at].trim_end_matches('+'));
        let after = &rest[at + 1..];
        let end = after.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(after.len());
        rest = &after[end..];
    }
    out + rest
}

/// The type to replace.
enum Wanted {
    Box(Boxed),
    /// A pinned box with a future.
    Future,
}

/// The contents of a box.
enum Boxed {
    /// The last name of a type's path.
    Value(String),
    /// The last name of a trait's path.
    Trait(String),
}

impl Wanted {
    fn of(from: &str) -> Self {
        let inside = |ty: &syn::Type| match ty {
            syn::Type::Path(path) => argument(&path.path, "Box").cloned(),
            _ => None,
        };
        match syn::parse_str(from).ok().as_ref().and_then(inside) {
            Some(ty) => Self::Box(boxed(&ty).unwrap_or_else(|| Boxed::Value(String::new()))),
            None => Self::Future,
        }
    }
}

fn boxed(ty: &syn::Type) -> Option<Boxed> {
    match ty {
        syn::Type::Path(path) => Some(Boxed::Value(path.path.segments.last()?.ident.to_string())),
        syn::Type::TraitObject(trait_object) => Some(Boxed::Trait(trait_name(trait_object)?)),
        syn::Type::Paren(paren) => boxed(&paren.elem),
        _ => None,
    }
}

/// Returns the last name of a trait object's first trait.
fn trait_name(object: &syn::TypeTraitObject) -> Option<String> {
    object.bounds.iter().find_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
        _ => None,
    })
}

/// Returns the first type argument of a path with the last name `name`.
fn argument<'t>(path: &'t syn::Path, name: &str) -> Option<&'t syn::Type> {
    let last = path.segments.last().filter(|last| last.ident == name)?;
    let syn::PathArguments::AngleBracketed(all) = &last.arguments else { return None };
    all.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// A place that names the type.
struct Named {
    whole: Bytes,
    /// What the box contains.
    value: Bytes,
    /// The type of a future in a pool.
    future: Option<String>,
    /// The cast to the type, which no other owner allows: `Box::new(value) as Box<dyn Op>`.
    cast: Option<Cast>,
}

/// A cast of a new box.
struct Cast {
    whole: Bytes,
    /// What is boxed.
    value: Bytes,
}

struct Search<'a> {
    wanted: &'a Wanted,
    text: &'a str,
    found: Vec<Named>,
    /// The fields and variants whose types name it.
    items: Vec<String>,
}

impl Search<'_> {
    /// Visits the fields of a struct or variant.
    fn fields(&mut self, owner: &str, fields: &syn::Fields) {
        for (index, field) in fields.iter().enumerate() {
            let before = self.found.len();
            self.visit_field(field);
            if self.found.len() > before {
                let is_only = fields.len() == 1 && field.ident.is_none() && owner.contains("::");
                let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
                self.items.push(if is_only { owner.to_owned() } else { format!("{owner}.{name}") });
            }
        }
    }

    fn named(&self, path: &syn::Path) -> Option<(Bytes, Option<String>)> {
        match self.wanted {
            Wanted::Box(wanted) => {
                let value = argument(path, "Box")?;
                let is_same = match (wanted, boxed(value)?) {
                    (Boxed::Value(wanted), Boxed::Value(value)) | (Boxed::Trait(wanted), Boxed::Trait(value)) => {
                        *wanted == value
                    }
                    _ => false,
                };
                is_same.then(|| (value.span().byte_range(), None))
            }
            Wanted::Future => Some((path.span().byte_range(), Some(future(path, self.text)?))),
        }
    }
}

/// Returns the type of the pool for a pinned box with a future: `BoxFuture<'a, T>`, `Pin<Box<dyn Future<Output = T> + Send>>`.
fn future(path: &syn::Path, text: &str) -> Option<String> {
    let source = |ty: &syn::Type| text.get(ty.span().byte_range());
    if let Some(output) = argument(path, "BoxFuture") {
        let syn::PathArguments::AngleBracketed(all) = &path.segments.last()?.arguments else { return None };
        let lifetime = all.args.iter().find_map(|arg| match arg {
            syn::GenericArgument::Lifetime(lifetime) => Some(lifetime.to_string()),
            _ => None,
        });
        let lifetime = lifetime.unwrap_or_else(|| "'_".into());
        return Some(format!("dwell::pin::PoolFuture<{lifetime}, {}>", source(output)?));
    }
    let syn::Type::Path(inner) = argument(path, "Pin")? else { return None };
    let syn::Type::TraitObject(object) = argument(&inner.path, "Box")? else { return None };
    let (mut output, mut lifetime, mut is_send) = (None, "'static".to_owned(), false);
    for bound in &object.bounds {
        match bound {
            syn::TypeParamBound::Lifetime(bound) => lifetime = bound.to_string(),
            syn::TypeParamBound::Trait(bound_trait) => match bound_trait.path.segments.last()? {
                last if last.ident == "Send" => is_send = true,
                last if last.ident == "Future" => output = output_of(last),
                _ => return None,
            },
            _ => return None,
        }
    }
    let name = if is_send { "PoolFuture" } else { "LocalPoolFuture" };
    Some(format!("dwell::pin::{name}<{lifetime}, {}>", source(output?)?))
}

/// Returns `T` of `Future<Output = T>`.
fn output_of(last: &syn::PathSegment) -> Option<&syn::Type> {
    let syn::PathArguments::AngleBracketed(all) = &last.arguments else { return None };
    all.args.iter().find_map(|arg| match arg {
        syn::GenericArgument::AssocType(assoc_type) if assoc_type.ident == "Output" => Some(&assoc_type.ty),
        _ => None,
    })
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.visit_generics(&item.generics);
        self.fields(&item.ident.to_string(), &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.visit_generics(&item.generics);
        for variant in &item.variants {
            self.fields(&format!("{}::{}", item.ident, variant.ident), &variant.fields);
        }
    }

    fn visit_type_path(&mut self, ty: &'ast syn::TypePath) {
        match self.named(&ty.path) {
            Some((value, future)) => {
                let whole = ty.span().byte_range();
                self.found.push(Named { whole, value, future, cast: None });
            }
            None => visit::visit_type_path(self, ty),
        }
    }

    fn visit_expr_cast(&mut self, node: &'ast syn::ExprCast) {
        let before = self.found.len();
        self.visit_expr(&node.expr);
        // The text of a value that names the type itself changes too.
        let is_plain = self.found.len() == before;
        self.visit_type(&node.ty);
        let named = self.found.get_mut(before).filter(|named| named.whole == node.ty.span().byte_range() && is_plain);
        let value = match &*node.expr {
            syn::Expr::Call(call) => call.args.first(),
            _ => None,
        };
        if let (Some(named), Some(value)) = (named, value) {
            named.cast = Some(Cast { whole: node.span().byte_range(), value: value.span().byte_range() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(from: &str, text: &str) -> Vec<(String, Option<String>)> {
        let wanted = Wanted::of(from);
        let mut search = Search { wanted: &wanted, text, found: Vec::new(), items: Vec::new() };
        search.visit_file(&syn::parse_file(text).unwrap());
        let with = |named: Named| (text[named.whole].to_owned(), named.future);
        search.found.into_iter().map(with).collect()
    }

    #[test]
    fn boxes_are_found_in_all_types() {
        let text = "pub struct A { pub a: Option<Box<dyn m::Op + Send>>, b: Box<dyn Other> }\n\
                    pub fn f(of: Box<dyn Op>) { let x: Vec<Box<dyn Op + 'static>> = Vec::new(); }\nfn g(x: Box<Op>) {}\n\
                    pub enum E { V(Box<dyn Op>) }\n";
        let all = found("Box<dyn Op>", text);
        let all: Vec<&str> = all.iter().map(|(text, _)| &**text).collect();
        assert_eq!(all, ["Box<dyn m::Op + Send>", "Box<dyn Op>", "Box<dyn Op + 'static>", "Box<dyn Op>"]);
        assert_eq!(found("Box<Op>", text).len(), 1);
        let wanted = Wanted::of("Box<dyn Op>");
        let mut search = Search { wanted: &wanted, text, found: Vec::new(), items: Vec::new() };
        search.visit_file(&syn::parse_file(text).unwrap());
        assert_eq!(search.items, ["A.a", "E::V"]);
    }

    #[test]
    fn futures_become_those_of_the_pool() {
        let text = "type A = Pin<Box<dyn Future<Output = Result<(), E>> + Send + 'a>>;\ntype B = BoxFuture<'static, u8>;\n\
                    type C = std::pin::Pin<Box<dyn std::future::Future<Output = u8>>>; type D = Pin<Box<dyn Stream>>;\n";
        let all: Vec<String> =
            found("Pin<Box<dyn Future>>", text).into_iter().filter_map(|(_, future)| future).collect();
        assert_eq!(
            all,
            [
                "dwell::pin::PoolFuture<'a, Result<(), E>>",
                "dwell::pin::PoolFuture<'static, u8>",
                "dwell::pin::LocalPoolFuture<'static, u8>"
            ]
        );
    }

    #[test]
    fn lifetimes_do_not_tell_types_apart() {
        assert_eq!(without_lifetimes("dyn Op<'a> + Send + 'static"), without_lifetimes("dyn Op<'_> + Send"));
        assert_ne!(without_lifetimes("dyn Fn(u8)"), without_lifetimes("dyn Fn(u16)"));
    }
}
