//! Reads declarations of types with serde attributes from Rust source.

use super::items::{Case, Enum, Field, Item, Place, Shape, Struct, Tagging, Variant};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprLit, Fields, Lit, Meta, Token, UseTree};

/// The declarations of a file and its modules, by path: `a::Name`.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) items: BTreeMap<String, Item>,
    /// What `use` brings into a module: its path and the name there, with the segments of the path.
    uses: HashMap<(String, String), Vec<String>>,
    /// The paths of which a module takes all names.
    globs: BTreeMap<String, Vec<Vec<String>>>,
    modules: BTreeSet<String>,
}

/// Returns a path inside a module.
fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The most `use` declarations that lead from one name to another.
const USES: usize = 16;

/// A file with the path of its module.
type Files = Vec<(PathBuf, String)>;

impl Source {
    /// Reads a file and the modules that it declares.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let mut source = Self::default();
        let root = root(file);
        let mut files: Files = vec![(file.to_owned(), String::new())];
        let mut known = Vec::new();
        while let Some((file, module)) = files.pop() {
            if known.contains(&(file.clone(), module.clone())) {
                continue;
            }
            let text = fs::read_to_string(&file).with_context(|| format!("{}: cannot be read", file.display()))?;
            let parsed = syn::parse_file(&text).map_err(|error| {
                let start = error.span().start();
                anyhow::anyhow!("{}:{}:{}: {error}", file.display(), start.line, start.column + 1)
            })?;
            let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
            let lines: Vec<&str> = text.lines().collect();
            source.add(&parsed.items, &Text { file: name, lines: &lines }, (&file, &root), &module, &mut files);
            known.push((file, module));
        }
        Ok(source)
    }

    fn add(&mut self, items: &[syn::Item], text: &Text<'_>, at: (&Path, &Path), module: &str, files: &mut Files) {
        let (file, root) = at;
        self.modules.insert(module.to_owned());
        for item in items {
            match item {
                syn::Item::Struct(item_struct) => {
                    let attributes = Attributes::from_list(&item_struct.attrs);
                    let fields = fields(&item_struct.fields, &item_struct.ident.to_string(), &attributes, text);
                    let shape = Shape::Struct(fields);
                    self.put(module, &item_struct.ident, &item_struct.generics, &attributes, shape, text);
                }
                syn::Item::Enum(item_enum) => {
                    let attributes = Attributes::from_list(&item_enum.attrs);
                    let shape = Shape::Enum(variants(item_enum, &attributes, text));
                    self.put(module, &item_enum.ident, &item_enum.generics, &attributes, shape, text);
                }
                syn::Item::Type(alias) => {
                    let shape = Shape::Alias(alias.ty.clone());
                    self.put(module, &alias.ident, &alias.generics, &Attributes::derived(), shape, text);
                }
                syn::Item::Use(import) => self.add_use(module, &mut Vec::new(), &import.tree),
                syn::Item::Mod(module_item) => {
                    let name = module_item.ident.to_string();
                    let inner = joined(module, &name);
                    match &module_item.content {
                        Some((_, items)) => self.add(items, text, at, &inner, files),
                        None => files.extend(file_of(file, &name).map(|file| (file, inner))),
                    }
                }
                syn::Item::Macro(call) if call.mac.path.is_ident("include") => {
                    files.extend(included(&call.mac.tokens, file, root).map(|file| (file, module.to_owned())));
                }
                _ => {}
            }
        }
    }

    fn add_use(&mut self, module: &str, path: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.add_use(module, path, &step.tree);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_use(module, path, tree)),
            UseTree::Glob(_) => self.globs.entry(module.to_owned()).or_default().push(path.clone()),
            UseTree::Name(leaf) if leaf.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                self.uses.insert((module.to_owned(), name), path.clone());
            }
            UseTree::Name(name) => {
                let all = path.iter().cloned().chain([name.ident.to_string()]).collect();
                self.uses.insert((module.to_owned(), name.ident.to_string()), all);
            }
            UseTree::Rename(rename) => {
                let all = path.iter().cloned().chain([rename.ident.to_string()]).collect();
                self.uses.insert((module.to_owned(), rename.rename.to_string()), all);
            }
        }
    }

    fn put(
        &mut self,
        module: &str,
        name: &syn::Ident,
        generics: &syn::Generics,
        attributes: &Attributes,
        shape: Shape,
        text: &Text<'_>,
    ) {
        let name = name.to_string();
        let parameters = generics.type_params().map(|parameter| parameter.ident.to_string()).collect();
        let place = Place { file: text.file.clone(), line: 0, from: String::new() };
        let is_opaque = !attributes.derives || attributes.converts;
        let path = joined(module, &name);
        let module = module.to_owned();
        let item = Item { name, module, parameters, shape, is_opaque, has_repr: attributes.repr, place };
        self.items.entry(path).or_insert(item);
    }

    /// Returns the declaration that a path means in a module. A name alone may also come from a `use` that is not
    /// understood: then the only declaration with that name is meant.
    pub(super) fn find(&self, module: &str, path: &[String]) -> Option<&str> {
        let found = self.resolve(module, path, USES);
        let name = path.last()?;
        let known = || path.len() > 1 || self.uses.contains_key(&(module.to_owned(), name.clone()));
        found.or_else(|| {
            let mut all = self.items.iter().filter(|(_, item)| item.name == *name && !known());
            all.next().filter(|_| all.next().is_none()).map(|(path, _)| &**path)
        })
    }

    fn resolve(&self, module: &str, path: &[String], left: usize) -> Option<&str> {
        let (first, rest) = path.split_first().filter(|_| left > 0)?;
        let above = || module.rsplit_once("::").map_or("", |(above, _)| above);
        match &**first {
            "crate" => return self.resolve("", rest, left - 1),
            "self" => return self.resolve(module, rest, left - 1),
            "super" => return self.resolve(above(), rest, left - 1),
            _ => {}
        }
        if rest.is_empty()
            && let Some((path, _)) = self.items.get_key_value(&joined(module, first))
        {
            return Some(path);
        }
        let inner = joined(module, first);
        if !rest.is_empty() && self.modules.contains(&inner) {
            return self.resolve(&inner, rest, left - 1);
        }
        // A path of a `use` begins at the crate, in the module, or in another crate.
        let of_use = |used: &[String]| {
            let all: Vec<String> = used.iter().chain(rest).cloned().collect();
            let is_self = all == path;
            let here = || self.resolve(module, &all, left - 1).filter(|_| !is_self);
            here().or_else(|| self.resolve("", &all, left - 1).filter(|_| !is_self || !module.is_empty()))
        };
        if let Some(used) = self.uses.get(&(module.to_owned(), first.clone())) {
            return of_use(used);
        }
        let globs = self.globs.get(module).into_iter().flatten();
        globs.map(|glob| [glob, &path[..1]].concat()).find_map(|used| of_use(&used))
    }
}

/// Returns the file that `include!` names: beside the file, or written by a build script.
fn included(tokens: &proc_macro2::TokenStream, file: &Path, root: &Path) -> Option<PathBuf> {
    let text = tokens.to_string();
    let literals: Vec<String> = tokens.clone().into_iter().flat_map(strings).collect();
    let name = literals.last()?.trim_start_matches('/').to_owned();
    if !text.contains("OUT_DIR") {
        return Some(file.parent()?.join(name)).filter(|file| file.is_file());
    }
    let builds = walkdir::WalkDir::new(root.join("target")).min_depth(2).max_depth(4);
    let out = |entry: walkdir::DirEntry| {
        let found = entry.path().join(&name);
        (entry.file_name() == "out").then_some(found).filter(|file| file.is_file())
    };
    let found = builds.into_iter().filter_map(Result::ok).filter_map(out);
    found.max_by_key(|file| file.metadata().and_then(|meta| meta.modified()).ok())
}

/// Returns the string literals of a token.
fn strings(token: proc_macro2::TokenTree) -> Vec<String> {
    match token {
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().flat_map(strings).collect(),
        proc_macro2::TokenTree::Literal(literal) => {
            syn::parse_str::<syn::LitStr>(&literal.to_string()).ok().map(|text| text.value()).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// The folder that the paths of edits start from: the nearest with a `Cargo.lock`, or else with a `Cargo.toml`.
fn root(file: &Path) -> PathBuf {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let with = |name: &str| file.ancestors().skip(1).find(|folder| folder.join(name).is_file()).map(Path::to_owned);
    let here = || std::env::current_dir().unwrap_or_default();
    with("Cargo.lock").or_else(|| with("Cargo.toml")).unwrap_or_else(here)
}

/// Returns the file of a module that a file declares.
fn file_of(file: &Path, name: &str) -> Option<PathBuf> {
    let folder = file.parent()?;
    let stem = file.file_stem()?.to_string_lossy();
    let folder = if matches!(&*stem, "mod" | "lib" | "main") { folder.to_owned() } else { folder.join(&*stem) };
    [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")].into_iter().find(|file| file.is_file())
}

/// A file as lines, to find the text of a type.
struct Text<'t> {
    file: String,
    lines: &'t [&'t str],
}

impl Text<'_> {
    /// Returns the place of a part of the source; its text, if it is on one line.
    fn place(&self, from: proc_macro2::Span, to: proc_macro2::Span) -> Place {
        let (start, end) = (from.start(), to.end());
        let line = self.lines.get(start.line.wrapping_sub(1)).copied().unwrap_or_default();
        let part = |text: &str| -> String {
            text.chars().skip(start.column).take(end.column.saturating_sub(start.column)).collect()
        };
        let from = if start.line == end.line { part(line) } else { String::new() };
        Place { file: self.file.clone(), line: u32::try_from(start.line).unwrap_or(0), from }
    }
}

/// The attributes of a type, field or variant that change how serde reads it.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an attribute of serde")]
struct Attributes {
    derives: bool,
    /// `from`, `try_from` or `remote`: the type is read as another one.
    converts: bool,
    repr: bool,
    rename: Option<String>,
    rename_all: Option<String>,
    rename_all_fields: Option<String>,
    aliases: Vec<String>,
    tag: Option<String>,
    content: Option<String>,
    untagged: bool,
    transparent: bool,
    default: bool,
    flatten: bool,
    skip: bool,
    other: bool,
    deny: bool,
    /// A function reads the value.
    with: bool,
}

impl Attributes {
    fn derived() -> Self {
        Self { derives: true, ..Self::default() }
    }

    fn from_list(attributes: &[Attribute]) -> Self {
        let mut all = Self::default();
        for attribute in attributes {
            all.add(&attribute.meta);
        }
        all
    }

    fn add(&mut self, meta: &Meta) {
        let Meta::List(list) = meta else { return };
        let parse = || list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
        if list.path.is_ident("derive") {
            let is = |meta: &Meta| meta.path().segments.last().is_some_and(|segment| segment.ident == "Deserialize");
            self.derives |= parse().iter().any(is);
        } else if list.path.is_ident("cfg_attr") {
            parse().iter().skip(1).for_each(|meta| self.add(meta));
        } else if list.path.is_ident("repr") {
            self.repr = true;
        } else if list.path.is_ident("serde") {
            parse().iter().for_each(|meta| self.add_serde(meta));
        }
    }

    fn add_serde(&mut self, meta: &Meta) {
        let name = meta.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let value = match meta {
            Meta::NameValue(pair) => string(&pair.value),
            // `rename(serialize = "..", deserialize = "..")`
            Meta::List(list) => {
                let all = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
                all.iter().find_map(|meta| match meta {
                    Meta::NameValue(pair) if pair.path.is_ident("deserialize") => string(&pair.value),
                    _ => None,
                })
            }
            Meta::Path(_) => None,
        };
        match (&*name, value) {
            ("rename", Some(value)) => self.rename = Some(value),
            ("rename_all", Some(value)) => self.rename_all = Some(value),
            ("rename_all_fields", Some(value)) => self.rename_all_fields = Some(value),
            ("alias", Some(value)) => self.aliases.push(value),
            ("tag", Some(value)) => self.tag = Some(value),
            ("content", Some(value)) => self.content = Some(value),
            ("untagged", _) => self.untagged = true,
            ("transparent", _) => self.transparent = true,
            ("default", _) => self.default = true,
            ("flatten", _) => self.flatten = true,
            ("skip" | "skip_deserializing", _) => self.skip = true,
            ("other", _) => self.other = true,
            ("deny_unknown_fields", _) => self.deny = true,
            ("with" | "deserialize_with", _) => self.with = true,
            ("from" | "try_from" | "remote", _) => self.converts = true,
            _ => {}
        }
    }
}

fn string(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

fn fields(fields: &Fields, owner: &str, container: &Attributes, text: &Text<'_>) -> Struct {
    let case = container.rename_all.as_deref().and_then(Case::from_name);
    let new = |(index, field): (usize, &syn::Field)| {
        let own = Attributes::from_list(&field.attrs);
        let ident = field.ident.as_ref().map(|ident| ident.to_string().trim_start_matches("r#").to_owned());
        let name = ident.clone().unwrap_or_else(|| index.to_string());
        let from = field.ident.as_ref().map_or_else(|| field.ty.span(), Spanned::span);
        let place = text.place(from, field.ty.span());
        let key = own.rename.unwrap_or_else(|| case.map_or_else(|| name.clone(), |case| case.field(&name)));
        Field {
            item: format!("{owner}.{name}"),
            key,
            aliases: own.aliases,
            ty: field.ty.clone(),
            has_default: own.default || container.default,
            is_flat: own.flatten,
            is_skipped: own.skip,
            is_opaque: own.with,
            place,
        }
    };
    Struct {
        is_named: matches!(fields, Fields::Named(_)),
        // `transparent` reads the only field.
        is_transparent: container.transparent
            || matches!(fields, Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1),
        denies_unknown: container.deny,
        fields: fields.iter().enumerate().map(new).collect(),
        tag: container.tag.clone(),
    }
}

fn variants(item_enum: &syn::ItemEnum, container: &Attributes, text: &Text<'_>) -> Enum {
    let case = container.rename_all.as_deref().and_then(Case::from_name);
    let new = |variant: &syn::Variant| {
        let own = Attributes::from_list(&variant.attrs);
        let name = variant.ident.to_string();
        let inner = Attributes {
            rename_all: own.rename_all.clone().or_else(|| container.rename_all_fields.clone()),
            deny: container.deny,
            ..Attributes::default()
        };
        let item = format!("{}::{name}", item_enum.ident);
        let mut content = fields(&variant.fields, &item, &inner, text);
        if let [only] = &mut content.fields[..]
            && !content.is_named
        {
            // Of `File(Attachment)`, the variant is the item.
            let span = variant.fields.iter().next().map_or_else(|| variant.span(), |field| field.ty.span());
            only.item.clone_from(&item);
            only.place = text.place(variant.ident.span(), span);
        }
        Variant {
            tag: own.rename.unwrap_or_else(|| case.map_or_else(|| name.clone(), |case| case.variant(&name))),
            item,
            aliases: own.aliases,
            content,
            is_other: own.other,
            is_untagged: own.untagged,
            is_skipped: own.skip,
            is_opaque: own.with,
        }
    };
    let tagging = match (&container.tag, &container.content, container.untagged) {
        (_, _, true) => Tagging::Untagged,
        (Some(tag), Some(content), _) => Tagging::Adjacent(tag.clone(), content.clone()),
        (Some(tag), None, _) => Tagging::Internal(tag.clone()),
        (None, ..) => Tagging::External,
    };
    Enum { tagging, variants: item_enum.variants.iter().map(new).collect() }
}
