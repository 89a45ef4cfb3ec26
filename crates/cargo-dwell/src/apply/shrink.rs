//! Gives unused capacity back where a field gets its value, `tokens: { let mut tokens: Vec<_> = lex(); tokens.shrink_to_fit(); tokens }`,
//! before the statement that moves a local variable there, or where a struct that was filled step by step is complete.

use super::package::sources_of_package;
use super::syntax::{Bytes, dense, is_of_tests, visit_tokens};
use super::tree::Tree;
use super::unbuilt;
use super::{capacity, complete, local};
use anyhow::{Result, bail};
use cargo_metadata::Metadata;
use dwell_source::Edit;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// The collections with `shrink_to_fit`, with a type that annotates them.
const COLLECTIONS: [(&str, &str); 7] = [
    ("String", "String"),
    ("Vec", "Vec<_>"),
    ("VecDeque", "std::collections::VecDeque<_>"),
    ("BinaryHeap", "std::collections::BinaryHeap<_>"),
    ("HashMap", "std::collections::HashMap<_, _, _>"),
    ("HashSet", "std::collections::HashSet<_, _>"),
    ("PathBuf", "std::path::PathBuf"),
];

/// Calls that make a collection without unused capacity, or an empty one that is filled later.
const EXACT: [&str; 9] =
    ["new", "default", "with_capacity", "clone", "to_vec", "to_owned", "to_string", "into_vec", "empty"];

/// Adds `shrink_to_fit` where the field `edit.item` gets its value, in all sources of the package. Returns the places that ask for its
/// capacity.
///
/// # Errors
/// Returns an error if the field is not found, if it is no collection, or if no place gives it a complete value.
pub(super) fn edit(tree: &mut Tree, workspace: &Metadata, edit: &Edit) -> Result<Vec<unbuilt::Place>> {
    let item = &edit.item;
    let by_hand = format!("call `shrink_to_fit` where it is complete; it is allocated at {}:{}", edit.file, edit.line);
    let Some(field) = Field::of(item) else { bail!("{item}: is no field; {by_hand}") };
    let mut sources: Vec<(PathBuf, String, syn::File)> = Vec::new();
    let mut types = Vec::new();
    let mut declared = PathBuf::new();
    for file in sources_of_package(tree, workspace, Path::new(&edit.file)) {
        let Some(text) = tree.read(&file) else { continue };
        let Ok(source) = syn::parse_file(&text) else { continue };
        let mut search = Declared { field: &field, text: &text, types: Vec::new() };
        search.visit_file(&source);
        if !search.types.is_empty() {
            declared.clone_from(&file);
        }
        types.extend(search.types);
        sources.push((file, text, source));
    }
    let [ty] = &types[..] else {
        bail!(
            "{item}: {} of this name are declared; {by_hand}",
            if types.is_empty() { "no fields" } else { "several" }
        );
    };
    let mut aliases = Aliases { text: "", all: BTreeMap::new() };
    for (_, text, source) in &sources {
        aliases.text = text;
        aliases.visit_file(source);
    }
    let Some(wrap) = field.part.map_or_else(|| Wrap::of(ty, &aliases), |part| Wrap::of_part(ty, part, &aliases)) else {
        bail!("{item}: {ty} is no collection that apply can shrink; {by_hand}")
    };
    let asking = sources.iter().flat_map(|(file, text, _)| {
        let lines = text.lines().enumerate().filter(|(_, line)| capacity::asks_capacity(line, &field.name));
        lines.map(|(index, _)| unbuilt::Place {
            file: file.clone(),
            line: index + 1,
            why: format!("asks for the capacity of {}, which is another", edit.item),
        })
    });
    let asking: Vec<unbuilt::Place> = asking.collect();
    let mut is_changed = false;
    // A value that is moved out of a field of another one was made elsewhere, and is the last choice.
    for moved in [false, true] {
        for (file, text, source) in &sources {
            let mut search = Made::new(&field, moved);
            search.visit_file(source);
            let mut text = text.clone();
            let mut edits = Vec::new();
            for place in &search.found {
                let value = &text[place.value.clone()];
                match local::find(source, &text, &place.value) {
                    Some(local) => edits.extend(local.edits(&text, &wrap.statement(value))),
                    None => edits.push((place.value.clone(), wrap.around(&field, value, place.is_shorthand))),
                }
            }
            edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            edits.dedup();
            for (range, with) in edits {
                text.replace_range(range, &with);
            }
            if !search.found.is_empty() {
                is_changed = true;
                tree.write(file, &text)?;
            }
        }
        if is_changed {
            return Ok(asking);
        }
    }
    if field.variant.is_some() || !where_complete(tree, &sources, &declared, &field, &wrap)? {
        bail!("{item}: is filled after its value is made; {by_hand}");
    }
    Ok(asking)
}

/// Gives the capacity back where functions return the struct, and where collections take it. Returns `false` if there is no such
/// place. A private field of another file is reached by a method of the struct.
fn where_complete(
    tree: &mut Tree,
    sources: &[(PathBuf, String, syn::File)],
    declared: &Path,
    field: &Field,
    wrap: &Wrap,
) -> Result<bool> {
    let (mut is_changed, mut is_method) = (false, false);
    // Examples and tests are other crates, which cannot call the method.
    for (file, text, source) in sources.iter().filter(|(file, ..)| target_of(file) == target_of(declared)) {
        let places = complete::find(source, text, &field.of, &field.name);
        if places.is_empty() {
            continue;
        }
        let mut text = text.clone();
        let is_own = file == declared;
        let call = |value: &str| if is_own { wrap.shrinks(value, field) } else { format!("{value}.shrink_to_fit();") };
        complete::insert(&mut text, &places, &call);
        tree.write(file, &text)?;
        is_changed = true;
        is_method |= !is_own;
    }
    if is_method {
        let text = tree.read(declared).unwrap_or_default();
        let method = complete::with_method(&text, &field.of, &wrap.shrinks("self", field));
        let Some(text) = method else { return Ok(false) };
        tree.write(declared, &text)?;
    }
    Ok(is_changed)
}

/// Returns the folder of a target's sources: `src`, `examples`.
fn target_of(file: &Path) -> &Path {
    let is_folder = |folder: &&Path| {
        folder
            .file_name()
            .is_some_and(|name| ["src", "examples", "tests", "benches"].iter().any(|known| name == *known))
    };
    file.ancestors().find(is_folder).unwrap_or(file)
}

/// A field of a struct or of a variant.
struct Field {
    /// The struct or enum.
    of: String,
    variant: Option<String>,
    name: String,
    /// The method that gives the values of the map, or the elements of the list, if these are meant.
    part: Option<&'static str>,
}

impl Field {
    /// Reads `module::Type.field` or `Type::Variant.field`, `Type.field value` for the values of a map, and `Type.field []` for the
    /// elements of a list. `None` for another part of a field.
    fn of(item: &str) -> Option<Self> {
        let parts = [(" value", "values_mut"), (" []", "iter_mut")];
        let part = parts.iter().find_map(|(suffix, method)| Some((item.strip_suffix(suffix)?, *method)));
        let (item, part) = part.map_or((item, None), |(item, method)| (item, Some(method)));
        let (path, name) = item.rsplit_once('.')?;
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|name| name.is_alphanumeric() || name == '_');
        let path = path.split('<').next().unwrap_or_default();
        let mut parts = path.rsplit("::").filter(|part| part.starts_with(char::is_uppercase));
        let (last, before) = (parts.next()?, parts.next());
        let (owner, variant) = match before {
            Some(owner) => (owner, Some(last.to_owned())),
            None => (last, None),
        };
        let name = name.trim_start_matches("__");
        (is_name(owner) && is_name(name)).then(|| Self { of: owner.to_owned(), variant, name: name.to_owned(), part })
    }

    fn is_of(&self, fields: &syn::Fields) -> Option<syn::Type> {
        let with = |(index, field): (usize, &syn::Field)| {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            (name == self.name).then(|| field.ty.clone())
        };
        fields.iter().enumerate().find_map(with)
    }
}

/// Finds the declarations of the field.
struct Declared<'a> {
    field: &'a Field,
    text: &'a str,
    types: Vec<String>,
}

impl<'ast> Visit<'ast> for Declared<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if item.ident == self.field.of && self.field.variant.is_none() {
            let ty = self.field.is_of(&item.fields);
            self.types.extend(ty.and_then(|ty| Some(self.text.get(ty.span().byte_range())?.to_owned())));
        }
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if item.ident != self.field.of {
            return;
        }
        for variant in
            item.variants.iter().filter(|variant| self.field.variant.as_ref().is_some_and(|name| variant.ident == name))
        {
            let ty = self.field.is_of(&variant.fields);
            self.types.extend(ty.and_then(|ty| Some(self.text.get(ty.span().byte_range())?.to_owned())));
        }
    }
}

/// The other names of types, without parameters, with the types that they stand for.
struct Aliases<'a> {
    text: &'a str,
    all: BTreeMap<String, BTreeSet<&'a str>>,
}

impl<'a> Aliases<'a> {
    /// Returns the type that a name stands for, or the type itself.
    fn resolved<'t>(&self, ty: &'t str) -> &'t str
    where
        'a: 't,
    {
        let name = ty.trim().rsplit("::").next().unwrap_or_default();
        match self.all.get(name) {
            // One of several could be another.
            Some(types) if types.len() == 1 => types.first().copied().unwrap_or(ty),
            _ => ty,
        }
    }
}

impl<'ast> Visit<'ast> for Aliases<'_> {
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let ty = self.text.get(item.ty.span().byte_range()).filter(|_| item.generics.params.is_empty());
        if let Some(ty) = ty {
            self.all.entry(item.ident.to_string()).or_default().insert(ty);
        }
    }
}

/// How a value is wrapped.
struct Wrap {
    /// The type of the collection with its arguments left out.
    ty: &'static str,
    is_optional: bool,
    /// The method that gives the collections in it.
    part: Option<&'static str>,
}

impl Wrap {
    /// Of a map's values, or of a list's elements.
    fn of_part(ty: &str, part: &'static str, aliases: &Aliases<'_>) -> Option<Self> {
        let ty = aliases.resolved(ty);
        let Ok(syn::Type::Path(path)) = syn::parse_str(ty) else { return None };
        let last = path.path.segments.last()?;
        let syn::PathArguments::AngleBracketed(angle_bracketed) = &last.arguments else { return None };
        let types: Vec<&syn::Type> = angle_bracketed
            .args
            .iter()
            .filter_map(|argument| if let syn::GenericArgument::Type(ty) = argument { Some(ty) } else { None })
            .collect();
        let inner = types.get(usize::from(part == "values_mut"))?;
        let inner = ty.get(inner.span().byte_range())?;
        let outer = [("BTreeMap", "std::collections::BTreeMap<_, _>")];
        let (_, ty) = COLLECTIONS.iter().chain(&outer).find(|(name, _)| last.ident == *name)?;
        let is_plain = Self::of(inner, aliases).is_some_and(|wrap| !wrap.is_optional);
        is_plain.then_some(Self { ty, is_optional: false, part: Some(part) })
    }

    fn of(ty: &str, aliases: &Aliases<'_>) -> Option<Self> {
        let ty = dense(aliases.resolved(ty));
        let inside = ty.split_once("Option<").filter(|(path, _)| path.is_empty() || path.ends_with("::"));
        let inner = aliases.resolved(inside.and_then(|(_, rest)| rest.strip_suffix('>')).unwrap_or(&ty));
        let name = inner.split('<').next()?.rsplit("::").next()?;
        let (_, ty) = COLLECTIONS.iter().find(|(known, _)| *known == name)?;
        Some(Self { ty, is_optional: inside.is_some(), part: None })
    }

    /// Returns the statement that shrinks the field of a value.
    fn shrinks(&self, value: &str, field: &Field) -> String {
        self.statement(&format!("{value}.{}", field.name))
    }

    /// Returns the statement that shrinks a place.
    fn statement(&self, place: &str) -> String {
        if let Some(part) = self.part {
            format!("for part in {place}.{part}() {{ part.shrink_to_fit(); }}")
        } else if self.is_optional {
            format!("if let Some(inner) = &mut {place} {{ inner.shrink_to_fit(); }}")
        } else {
            format!("{place}.shrink_to_fit();")
        }
    }

    /// Returns the field's value with `shrink_to_fit`.
    fn around(&self, field: &Field, value: &str, is_shorthand: bool) -> String {
        let name = &field.name;
        let is_index = name.starts_with(|letter: char| letter.is_ascii_digit());
        let local = if is_index { "value" } else { name };
        let wrapped = if let Some(part) = self.part {
            format!(
                "{{ let mut {local}: {} = {value}; for part in {local}.{part}() {{ part.shrink_to_fit(); }} {local} }}",
                self.ty
            )
        } else if self.is_optional {
            format!("({value}).map(|mut {local}| {{ {local}.shrink_to_fit(); {local} }})")
        } else {
            format!("{{ let mut {local}: {} = {value}; {local}.shrink_to_fit(); {local} }}", self.ty)
        };
        if is_shorthand { format!("{name}: {wrapped}") } else { wrapped }
    }
}

/// A place that gives the field a value.
struct Place {
    value: Bytes,
    is_shorthand: bool,
}

/// Finds the places that give the field a value.
struct Made<'a> {
    field: &'a Field,
    /// Only values that are moved out of a field of another one.
    moved: bool,
    /// The types of the `impl` blocks around, for `Self`.
    own: Vec<String>,
    found: Vec<Place>,
}

impl<'a> Made<'a> {
    fn new(field: &'a Field, moved: bool) -> Self {
        Self { field, moved, own: Vec::new(), found: Vec::new() }
    }

    /// Returns `true` if a value is one that is searched for.
    fn is_wanted(&self, value: &syn::Expr) -> bool {
        matches!(value, syn::Expr::Field(_)) == self.moved && !is_exact(value)
    }

    /// Returns `true` if a path names the struct, or the variant.
    fn is_named(&self, path: &syn::Path) -> bool {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let resolved =
            |name: &String| if name == "Self" { self.own.last().cloned().unwrap_or_default() } else { name.clone() };
        match (&self.field.variant, &names[..]) {
            // `Kind::Doc` is a variant of another type.
            (None, [.., ty, last_name]) => !ty.starts_with(char::is_uppercase) && *last_name == self.field.of,
            (None, [only]) => resolved(only) == self.field.of,
            (Some(variant), [.., owner, last]) => last == variant && resolved(owner) == self.field.of,
            (Some(variant), [last]) => last == variant,
            _ => false,
        }
    }
}

/// Returns `true` if an expression makes a collection without unused capacity, or an empty one.
fn is_exact(value: &syn::Expr) -> bool {
    match value {
        syn::Expr::Call(call) => match &*call.func {
            syn::Expr::Path(path) => {
                path.path.segments.last().is_some_and(|last| EXACT.iter().any(|name| last.ident == *name))
            }
            _ => false,
        },
        syn::Expr::MethodCall(method_call) => EXACT.iter().any(|name| method_call.method == *name),
        syn::Expr::Macro(call) => call.mac.path.is_ident("vec"),
        syn::Expr::Path(expr_path) => expr_path.path.is_ident("None"),
        syn::Expr::Lit(_) => true,
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Made<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        self.own.push(name.unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.own.pop();
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_of_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_of_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        // What a test expects is no value that a program keeps.
        let name = node.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        if !name.contains("assert") && !name.contains("matches") {
            visit_tokens(self, node.tokens.clone());
        }
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        visit::visit_expr_struct(self, node);
        if !self.is_named(&node.path) {
            return;
        }
        for field in &node.fields {
            let is_it = match &field.member {
                syn::Member::Named(name) => *name == self.field.name,
                syn::Member::Unnamed(index) => index.index.to_string() == self.field.name,
            };
            let is_shorthand = field.colon_token.is_none();
            if is_it && self.is_wanted(&field.expr) {
                let value = if is_shorthand { field.span().byte_range() } else { field.expr.span().byte_range() };
                self.found.push(Place { value, is_shorthand });
            }
        }
    }

    fn visit_expr_call(&mut self, node: &'ast syn::ExprCall) {
        visit::visit_expr_call(self, node);
        let (syn::Expr::Path(path), Ok(index)) = (&*node.func, self.field.name.parse::<usize>()) else { return };
        if self.is_named(&path.path) {
            let value = node.args.iter().nth(index).filter(|value| self.is_wanted(value));
            self.found.extend(value.map(|value| Place { value: value.span().byte_range(), is_shorthand: false }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_the_rules_of_a_grammar_are_found() {
        let text = "peg::parser! { grammar shell<'a>() for Tokens<'a> {\n    \
                    rule suffix() -> Suffix = (w:word() { Item::Word(w) } / i:io() { Item::Io(i) })+ { Suffix(s) }\n    \
                    rule pipeline() -> Pipeline = t:timed()? seq:commands() {? if seq.is_empty() { Err(\"\") } else { Ok(Pipeline { t, seq }) } }\n} }\n\
                    fn f() { assert_eq!(g(), Suffix(all())); all.push(wrap!(Suffix(all()))); }\n";
        let made = |item: &str| {
            let field = Field::of(item).unwrap();
            let mut search = Made::new(&field, false);
            search.visit_file(&syn::parse_file(text).unwrap());
            search.found.iter().map(|item| text[item.value.clone()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(made("ast::Suffix.0"), ["s", "all()"]);
        assert_eq!(made("ast::Pipeline.seq"), ["seq"]);
    }

    #[test]
    fn values_are_wrapped_where_they_are_made() {
        let text = "impl Doc { fn f(tokens: Vec<u8>) -> Self { let a = Self { tokens, other: x() }; Doc { tokens: lex().collect(), ..a } } }\n\
                    fn g() { m::Doc { tokens: Vec::new() }; Kind::Doc { tokens: lex() }; Other { tokens: lex() }; E::V(lex()); E::W(lex()); }\n";
        let made = |item: &str| {
            let field = Field::of(item).unwrap();
            let mut search = Made::new(&field, false);
            search.visit_file(&syn::parse_file(text).unwrap());
            search.found.iter().map(|item| text[item.value.clone()].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(made("app::Doc.tokens"), ["tokens", "lex().collect()"]);
        assert_eq!(made("app::E::V.0"), ["lex()"]);
        let field = Field::of("Doc.tokens").unwrap();
        let text = "pub type Lines = Vec<String>; mod m { type Map = BTreeMap<u8, super::Lines>; type P<T> = Vec<T>; }";
        let mut aliases = Aliases { text, all: BTreeMap::new() };
        aliases.visit_file(&syn::parse_file(text).unwrap());
        assert!(Wrap::of("crate::Lines", &aliases).is_some() && Wrap::of_part("Map", "values_mut", &aliases).is_some());
        assert!(Wrap::of("Option<Lines>", &aliases).is_some_and(|wrap| wrap.is_optional));
        assert!(Wrap::of("P", &aliases).is_none());
        let wrap = Wrap::of("Vec<u8>", &aliases).unwrap();
        assert_eq!(
            wrap.around(&field, "tokens", true),
            "tokens: { let mut tokens: Vec<_> = tokens; tokens.shrink_to_fit(); tokens }"
        );
        let wrap = Wrap::of("Option<std::string::String>", &aliases).unwrap();
        assert_eq!(
            wrap.around(&field, "text()", false),
            "(text()).map(|mut tokens| { tokens.shrink_to_fit(); tokens })"
        );
        assert!(
            Wrap::of("SmallVec<[u8; 4]>", &aliases).is_none()
                && Field::of("Vec<u8>").is_none()
                && Field::of("A.b[]").is_none()
        );
        let field = Field::of("app::Doc.lines value").unwrap();
        let with = |ty: &str| Wrap::of_part(ty, field.part.unwrap(), &aliases);
        assert_eq!(
            with("BTreeMap<u8, Vec<u8>>").unwrap().shrinks("doc", &field),
            "for part in doc.lines.values_mut() { part.shrink_to_fit(); }"
        );
        assert_eq!(
            with("HashMap<u8, String>").unwrap().around(&field, "lines", true),
            "lines: { let mut lines: std::collections::HashMap<_, _, _> = lines; for part in lines.values_mut() { part.shrink_to_fit(); } lines }"
        );
        assert!(with("HashMap<Vec<u8>, u8>").is_none() && with("HashMap<u8, Option<Vec<u8>>>").is_none());
        let field = Field::of("Doc.lines []").unwrap();
        assert!(Wrap::of_part("Vec<String>", field.part.unwrap(), &aliases).is_some());
    }
}
