//! The public items of a library with their types, read from its source, and what differs between two states of it.
//!
//! An item is public if code outside of the library can reach it: by a path of public modules, by a re-export, or because the
//! signature of a public item names its type. Names decide, so of two items with one name both count.

use super::syntax::dense;
use super::tree::normal;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::spanned::Spanned as _;

/// The public items of a library: their names with their types.
pub(super) type Api = BTreeMap<String, BTreeSet<String>>;

/// Returns the public items of the library whose root is a file. `read` returns the text of a file.
pub(super) fn of(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Api {
    let mut reader = Reader { read, modules: Vec::new(), items: Vec::new(), seen: BTreeSet::new() };
    reader.file(root, &[], true);
    let mut all = Api::new();
    for item in reachable(&reader.modules, reader.items) {
        for (name, ty) in item.parts.into_iter().filter(|(name, _)| !name.is_empty()) {
            all.entry(name).or_default().insert(ty);
        }
    }
    all
}

/// Returns the public types of a library by paths that its root can name, those with type parameters left out.
pub(super) fn types(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut reader = Reader { read, modules: Vec::new(), items: Vec::new(), seen: BTreeSet::new() };
    reader.file(root, &[], true);
    let public: BTreeSet<Vec<String>> = reader
        .modules
        .iter()
        .filter(|module| module.is_public || module.path.len() < 2)
        .map(|module| module.path.clone())
        .collect();
    let all = reachable(&reader.modules, reader.items).into_iter().filter_map(|item| {
        let is_visible = (0..=item.module.len()).all(|length| public.contains(&item.module[..length]));
        let path =
            std::iter::once("crate").chain(item.module.iter().map(String::as_str)).collect::<Vec<_>>().join("::");
        item.ty.filter(|_| is_visible).map(|ty| format!("{path}::{ty}"))
    });
    let all: BTreeSet<String> = all.collect();
    all.into_iter().collect()
}

/// Returns the names of what is public before, and gone or of another type after.
pub(super) fn changed(before: &Api, after: &Api) -> Vec<String> {
    let is_same =
        |(name, types): &(&String, &BTreeSet<String>)| after.get(*name).is_some_and(|now| now.is_superset(types));
    before.iter().filter(|entry| !is_same(entry)).map(|(name, _)| name.clone()).collect()
}

/// Returns the names of functions whose signature differs between two texts of a file, or that are in one only.
pub(super) fn changed_functions(before: &str, after: &str) -> BTreeSet<String> {
    struct Functions<'t>(&'t str, BTreeSet<(String, String)>);
    impl<'ast> syn::visit::Visit<'ast> for Functions<'_> {
        fn visit_signature(&mut self, node: &'ast syn::Signature) {
            let text = self.0.get(node.span().byte_range()).unwrap_or_default();
            self.1.insert((node.ident.to_string(), dense(text)));
        }
    }
    let with = |text| {
        let mut functions = Functions(text, BTreeSet::new());
        if let Ok(source) = syn::parse_file(text) {
            syn::visit::Visit::visit_file(&mut functions, &source);
        }
        functions.1
    };
    with(before).symmetric_difference(&with(after)).map(|(name, _)| name.clone()).collect()
}

/// A module.
struct Module {
    path: Vec<String>,
    is_public: bool,
    /// The last names of what it re-exports.
    names: Vec<String>,
    /// The last names of the modules of which it re-exports all.
    globs: Vec<String>,
}

/// An item.
#[derive(Debug)]
struct Item {
    /// The name of a type, trait or function; for an `impl` block the names in its head.
    names: Vec<String>,
    module: Vec<String>,
    is_public: bool,
    /// An `impl` block is as public as what it is for.
    is_impl: bool,
    /// The parts that users see: `Entry.details` and its type.
    parts: Vec<(String, String)>,
    /// The name of a type without type parameters, with its lifetimes: `Entry<'static>`.
    ty: Option<String>,
}

impl Item {
    /// Returns the names that its public parts mention.
    fn mentions(&self) -> BTreeSet<&str> {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words = self.parts.iter().flat_map(|(_, ty)| ty.split(move |letter| !is_word(letter)));
        words.filter(|word| word.starts_with(|letter: char| letter.is_alphabetic())).collect()
    }
}

/// Returns the items that code outside of the library reaches.
fn reachable(modules: &[Module], items: Vec<Item>) -> Vec<Item> {
    let mut open: BTreeSet<&[String]> =
        modules.iter().filter(|module| module.path.is_empty()).map(|module| &module.path[..]).collect();
    let (mut names, mut found) = (BTreeSet::<String>::new(), vec![false; items.len()]);
    loop {
        let before = (open.len(), names.len(), found.iter().filter(|item| **item).count());
        for module in modules {
            let is_in = module.path.split_last().is_some_and(|(_, parent)| open.contains(parent));
            let last = module.path.last();
            let exported = last.is_some_and(|last| {
                let mut exporting = modules.iter().filter(|module| open.contains(&module.path[..]));
                exporting.any(|module| module.globs.contains(last) || module.names.contains(last))
            });
            if module.is_public && is_in || exported {
                open.insert(&module.path);
            }
            if open.contains(&module.path[..]) {
                names.extend(module.names.iter().cloned());
            }
        }
        for (item, found) in items.iter().zip(&mut found) {
            let is_named = item.names.iter().any(|name| names.contains(name));
            let is_here = item.is_public && open.contains(&item.module[..]);
            if !*found && (is_here || is_named && (item.is_public || item.is_impl)) {
                *found = true;
                names.extend(item.names.iter().filter(|_| !item.is_impl).cloned());
                names.extend(item.mentions().into_iter().map(str::to_owned));
            }
        }
        if before == (open.len(), names.len(), found.iter().filter(|item| **item).count()) {
            break;
        }
    }
    items.into_iter().zip(found).filter(|(_, found)| *found).map(|(item, _)| item).collect()
}

struct Reader<'r> {
    read: &'r dyn Fn(&Path) -> Option<String>,
    modules: Vec<Module>,
    items: Vec<Item>,
    seen: BTreeSet<PathBuf>,
}

impl Reader<'_> {
    /// Reads the file of a module.
    fn file(&mut self, file: &Path, path: &[String], is_public: bool) {
        if !self.seen.insert(file.to_owned()) {
            return;
        }
        let Some(text) = (self.read)(file) else { return };
        let Ok(source) = syn::parse_file(&text) else { return };
        let folder = file.parent().unwrap_or(Path::new(""));
        let stem = file.file_stem().unwrap_or_default();
        let is_root = path.is_empty() || stem == "mod";
        let below = if is_root { folder.to_owned() } else { folder.join(stem) };
        let text = Text { source: &text, folder, below };
        self.module(&source.items, &text, path, is_public);
    }

    fn module(&mut self, items: &[syn::Item], text: &Text<'_>, path: &[String], is_public: bool) {
        let mut module = Module { path: path.to_vec(), is_public, names: Vec::new(), globs: Vec::new() };
        for item in items {
            match item {
                syn::Item::Use(import) if is_pub(&import.vis) => exports(&import.tree, None, &mut module),
                syn::Item::ExternCrate(extern_crate) if is_pub(&extern_crate.vis) => {
                    module.names.push(extern_crate.ident.to_string());
                }
                syn::Item::Mod(item_mod) => {
                    let inner = [path, &[item_mod.ident.to_string()]].concat();
                    self.submodule(item_mod, text, &inner);
                }
                _ => self.items.extend(text.item(item, path)),
            }
        }
        self.modules.push(module);
    }

    fn submodule(&mut self, module: &syn::ItemMod, text: &Text<'_>, path: &[String]) {
        let (name, is_public) = (module.ident.to_string(), is_pub(&module.vis));
        let name = name.trim_start_matches("r#");
        if let Some((_, items)) = &module.content {
            let inner = Text { source: text.source, folder: text.folder, below: text.below.join(name) };
            self.module(items, &inner, path, is_public);
            return;
        }
        let named = module.attrs.iter().filter(|attr| attr.path().is_ident("path")).find_map(|attr| match &attr.meta {
            syn::Meta::NameValue(name_value) => match &name_value.value {
                syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }) => Some(name.value()),
                _ => None,
            },
            _ => None,
        });
        match named {
            Some(named) => self.file(&normal(&text.folder.join(named)), path, is_public),
            None => {
                for file in [text.below.join(format!("{name}.rs")), text.below.join(name).join("mod.rs")] {
                    self.file(&file, path, is_public);
                }
            }
        }
    }
}

/// Adds what a public `use` exports.
fn exports(tree: &syn::UseTree, before: Option<&syn::Ident>, to: &mut Module) {
    match tree {
        syn::UseTree::Path(expr_path) => exports(&expr_path.tree, Some(&expr_path.ident), to),
        syn::UseTree::Name(name) if name.ident == "self" => to.names.extend(before.map(ToString::to_string)),
        syn::UseTree::Name(name) => to.names.push(name.ident.to_string()),
        syn::UseTree::Rename(rename) if rename.ident == "self" => to.names.extend(before.map(ToString::to_string)),
        syn::UseTree::Rename(rename) => to.names.push(rename.ident.to_string()),
        syn::UseTree::Glob(_) => to.globs.extend(before.map(ToString::to_string)),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| exports(tree, before, to)),
    }
}

/// Returns `true` if a derive, or an attribute of a field, makes public functions or traits with the types of private fields: a getter, a
/// setter of a builder, `From`.
fn shows_fields(attributes: &[syn::Attribute]) -> bool {
    const DERIVES: [&str; 26] = [
        "From",
        "TryFrom",
        "Into",
        "TryInto",
        "Deref",
        "DerefMut",
        "AsRef",
        "AsMut",
        "Index",
        "IndexMut",
        "IntoIterator",
        "Constructor",
        "new",
        "Builder",
        "TypedBuilder",
        "Getters",
        "MutGetters",
        "CopyGetters",
        "CloneGetters",
        "Setters",
        "WithSetters",
        "Getter",
        "Setter",
        "Dissolve",
        "Unwrap",
        "TryUnwrap",
    ];
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("derive") || list.path.is_ident("cfg_attr") => {
            let text = list.tokens.to_string();
            text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).any(|word| DERIVES.contains(&word))
        }
        meta => ["from", "getset", "get", "get_mut", "set", "builder", "accessors"]
            .iter()
            .any(|word| meta.path().is_ident(word)),
    })
}

fn is_pub(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// The text of a file, and where its modules are.
struct Text<'t> {
    source: &'t str,
    folder: &'t Path,
    below: PathBuf,
}

impl Text<'_> {
    fn of(&self, part: &impl syn::spanned::Spanned) -> String {
        dense(self.source.get(part.span().byte_range()).unwrap_or_default())
    }

    /// Returns an item with its public parts; `None` if it has none.
    fn item(&self, item: &syn::Item, module: &[String]) -> Option<Item> {
        let public = |name: &syn::Ident, visibility: &syn::Visibility, parts: Vec<(String, String)>| {
            Some(Item {
                names: vec![name.to_string()],
                module: module.to_vec(),
                is_public: is_pub(visibility),
                is_impl: false,
                parts,
                ty: None,
            })
        };
        let public_type = |name: &syn::Ident, visibility: &syn::Visibility, generics: &syn::Generics, parts| {
            let lifetimes = vec!["'static"; generics.lifetimes().count()].join(", ");
            let arguments = if lifetimes.is_empty() { lifetimes } else { format!("<{lifetimes}>") };
            let is_plain = generics.type_params().next().is_none() && generics.const_params().next().is_none();
            let ty = is_plain.then(|| format!("{name}{arguments}"));
            public(name, visibility, parts).map(|item| Item { ty, ..item })
        };
        match item {
            syn::Item::Struct(item_struct) => {
                let mut parts = self.head(&item_struct.ident, &item_struct.generics, &item_struct.attrs);
                let shown = shows_fields(&item_struct.attrs);
                let fields = item_struct.fields.iter().enumerate();
                let fields = fields.filter(|(_, field)| is_pub(&field.vis) || shown || shows_fields(&field.attrs));
                parts.extend(fields.map(|(index, field)| self.field(&item_struct.ident.to_string(), index, field)));
                public_type(&item_struct.ident, &item_struct.vis, &item_struct.generics, parts)
            }
            syn::Item::Union(union) => {
                let mut parts = self.head(&union.ident, &union.generics, &union.attrs);
                let fields = union.fields.named.iter().enumerate().filter(|(_, field)| is_pub(&field.vis));
                parts.extend(fields.map(|(index, field)| self.field(&union.ident.to_string(), index, field)));
                public_type(&union.ident, &union.vis, &union.generics, parts)
            }
            syn::Item::Enum(item_enum) => {
                let mut parts = self.head(&item_enum.ident, &item_enum.generics, &item_enum.attrs);
                for variant in &item_enum.variants {
                    let name = format!("{}::{}", item_enum.ident, variant.ident);
                    let fields = variant.fields.iter().enumerate();
                    parts.extend(fields.map(|(index, field)| self.field(&name, index, field)));
                    parts.push((name, String::new()));
                }
                public_type(&item_enum.ident, &item_enum.vis, &item_enum.generics, parts)
            }
            syn::Item::Type(alias) => public(&alias.ident, &alias.vis, vec![(alias.ident.to_string(), self.of(alias))]),
            syn::Item::Fn(function) => public(
                &function.sig.ident,
                &function.vis,
                vec![(function.sig.ident.to_string(), self.of(&function.sig))],
            ),
            syn::Item::Const(constant) => {
                public(&constant.ident, &constant.vis, vec![(constant.ident.to_string(), self.of(&*constant.ty))])
            }
            syn::Item::Static(item_static) => public(
                &item_static.ident,
                &item_static.vis,
                vec![(item_static.ident.to_string(), self.of(&*item_static.ty))],
            ),
            syn::Item::Trait(item_trait) => public(&item_trait.ident, &item_trait.vis, self.of_trait(item_trait)),
            syn::Item::Impl(implementation) => Some(self.of_impl(implementation, module)),
            syn::Item::Macro(item_macro) => {
                let is_exported = item_macro.attrs.iter().any(|attr| attr.path().is_ident("macro_export"));
                let is_call = item_macro.ident.is_none();
                let name =
                    item_macro.ident.clone().or_else(|| Some(item_macro.mac.path.segments.last()?.ident.clone()))?;
                // Its names become public, its own text is no part of a signature.
                let mut parts = vec![(format!("{name}!"), String::new())];
                let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
                let text = item_macro.mac.tokens.to_string();
                parts.extend(
                    text.split(|letter| !is_word(letter))
                        .filter(|word| !word.is_empty())
                        .map(|word| (String::new(), word.to_owned())),
                );
                // A call may declare items.
                let declares = is_call && text.split(|letter| !is_word(letter)).any(|word| word == "pub");
                (is_exported || declares).then(|| Item {
                    names: vec![name.to_string()],
                    module: if is_exported { Vec::new() } else { module.to_vec() },
                    is_public: true,
                    is_impl: false,
                    parts,
                    ty: None,
                })
            }
            _ => None,
        }
    }

    /// Returns the parameters of a type, what it derives, and how it is represented.
    fn head(
        &self,
        name: &syn::Ident,
        generics: &syn::Generics,
        attributes: &[syn::Attribute],
    ) -> Vec<(String, String)> {
        let mut all = vec![(name.to_string(), self.of(generics))];
        for attribute in attributes {
            let syn::Meta::List(list) = &attribute.meta else { continue };
            if list.path.is_ident("derive") {
                let words = list.tokens.to_string();
                all.extend(words.split(',').map(|word| (format!("{} for {name}", dense(word)), String::new())));
            } else if list.path.is_ident("repr") {
                all.push((format!("repr of {name}"), dense(&list.tokens.to_string())));
            }
        }
        all
    }

    fn field(&self, owner: &str, index: usize, field: &syn::Field) -> (String, String) {
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        (format!("{owner}.{name}"), self.of(&field.ty))
    }

    fn of_trait(&self, item_trait: &syn::ItemTrait) -> Vec<(String, String)> {
        let mut parts = self.head(&item_trait.ident, &item_trait.generics, &[]);
        for item in &item_trait.items {
            let (name, text) = match item {
                syn::TraitItem::Fn(item) => (&item.sig.ident, self.of(&item.sig)),
                syn::TraitItem::Type(item) => (&item.ident, self.of(item)),
                syn::TraitItem::Const(item) => (&item.ident, self.of(&item.ty)),
                _ => continue,
            };
            parts.push((format!("{}::{name}", item_trait.ident), text));
        }
        parts
    }

    fn of_impl(&self, implementation: &syn::ItemImpl, module: &[String]) -> Item {
        let ty = self.of(&*implementation.self_ty);
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let words = |text: &str| -> Vec<String> {
            text.split(|letter| !is_word(letter)).filter(|word| !word.is_empty()).map(str::to_owned).collect()
        };
        let mut parts = Vec::new();
        let own = ty.split('<').next().and_then(|path| path.rsplit("::").next()).unwrap_or_default();
        match &implementation.trait_ {
            None => {
                for item in &implementation.items {
                    let (name, text) = match item {
                        syn::ImplItem::Fn(item) if is_pub(&item.vis) => (&item.sig.ident, self.of(&item.sig)),
                        syn::ImplItem::Const(item) if is_pub(&item.vis) => (&item.ident, self.of(&item.ty)),
                        _ => continue,
                    };
                    parts.push((format!("{own}::{name}"), text));
                }
            }
            Some((not, name, _)) => {
                let head = format!("{}{} for {ty}", if not.is_some() { "!" } else { "" }, self.of(name));
                for item in &implementation.items {
                    match item {
                        syn::ImplItem::Type(item) => {
                            parts.push((format!("{head}::{}", item.ident), self.of(&item.ty)));
                        }
                        syn::ImplItem::Const(item) => {
                            parts.push((format!("{head}::{}", item.ident), self.of(&item.ty)));
                        }
                        // A type in an argument of the trait is public too: `From<Inner>`.
                        _ => {}
                    }
                }
                parts.push((head, self.of(name)));
            }
        }
        Item { names: words(&ty), module: module.to_vec(), is_public: false, is_impl: true, parts, ty: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(files: &[(&str, &str)]) -> Api {
        let files: BTreeMap<PathBuf, String> =
            files.iter().map(|(name, text)| ((*name).into(), (*text).to_owned())).collect();
        of(Path::new("src/lib.rs"), &|file| files.get(file).cloned())
    }

    /// A derive makes public functions and traits with the types of private fields.
    #[test]
    fn what_derives_show_is_public() {
        for (text, is_shown) in [
            ("#[derive(Clone, derive_more::From)] pub struct E(D);", true),
            ("#[derive(Debug, Error)] pub struct E { #[from] source: D }", true),
            ("#[derive(Getters)] #[getset(get = \"pub\")] pub struct E { d: D }", true),
            ("#[cfg_attr(feature = \"b\", derive(TypedBuilder))] pub struct E { d: D }", true),
            ("#[derive(Setters)] struct E { d: D }", false),
            ("#[derive(Debug, Error)] pub struct E { #[source] source: D }", false),
        ] {
            let boxed = text.replace(": D ", ": Box<D> ").replace("(D)", "(Box<D>)");
            let with = |text: &str| api(&[("src/lib.rs", text)]);
            assert_eq!(!changed(&with(text), &with(&boxed)).is_empty(), is_shown, "{text}");
        }
    }

    /// Each library has `Entry.details`, which users of some reach, whose type changes.
    #[test]
    fn what_users_reach_is_public() {
        let entry = "pub struct Entry { pub details: Option<Details> } pub enum Kind { A(Entry) }";
        let hidden = |root: &str| {
            let before = api(&[("src/lib.rs", root), ("src/model.rs", entry)]);
            let boxed = entry.replace("Option<Details>", "Option<Box<Details>>");
            changed(&before, &api(&[("src/lib.rs", root), ("src/model.rs", &boxed)]))
        };
        for root in [
            "pub mod model;",
            "mod model; pub use model::Entry;",
            "mod model; pub use crate::model::{Entry as Item, self};",
            "mod model; pub use model::*;",
            "mod model; pub mod api { pub use super::model as data; }",
            "mod model; pub type Entries = Vec<model::Entry>;",
            "mod model; pub fn make() -> model::Entry { todo!() }",
            "mod model; pub struct Api; impl Iterator for Api { type Item = model::Entry; }",
            "mod model; pub struct Api; impl Api { pub fn kinds(&self) -> &[model::Kind] { &[] } }",
            "mod model; pub trait Of { fn of(&self) -> model::Entry; }",
            "mod model; #[macro_export] macro_rules! entry { () => { $crate::model::Entry { details: None } } }",
            "#[path = \"model.rs\"] pub mod other;",
        ] {
            assert_eq!(hidden(root), ["Entry.details"], "{root}");
        }
        for root in [
            "mod model;",
            "pub(crate) mod model; pub fn f() { let _: model::Entry; }",
            "mod model; pub(crate) use model::Entry; struct Api { of: model::Entry }",
            "mod model; pub struct Api { of: model::Entry } impl Api { fn of(&self) -> &model::Entry { &self.of } }",
        ] {
            assert_eq!(hidden(root), [""; 0], "{root}");
        }
    }

    #[test]
    fn types_are_named_from_the_root() {
        let root = "mod a; pub mod b { pub struct B<'x>(&'x u8); mod c { pub struct C; } pub use c::C; pub struct D<T>(T); } pub use a::A;";
        let read = |file: &Path| match file.to_str()? {
            "src/lib.rs" => Some(root.to_owned()),
            "src/a.rs" => Some("pub enum A {} struct Own;".to_owned()),
            _ => None,
        };
        assert_eq!(types(Path::new("src/lib.rs"), &read), ["crate::a::A", "crate::b::B<'static>"]);
    }

    #[test]
    fn parts_of_items_are_compared() {
        let before = "#[derive(Clone, Copy)] pub struct A { b: u8, pub(in crate::x) c: u8, pub d: u8 } impl A { pub fn e(&self) -> &Option<u8> { &None } fn f(&self) {} }
            pub enum K { L(u8), M { n: u8 } } pub trait T { type U; fn v(&self) -> u8; } impl T for A { type U = u8; fn v(&self) -> u8 { 1 } } pub const W: u8 = 1;";
        let differ = |from: &str, to: &str| {
            let with = |text: &str| api(&[("src/lib.rs", text)]);
            assert!(before.contains(from), "{from}");
            changed(&with(before), &with(&before.replace(from, to)))
        };
        for (from, to, expected) in [
            ("b: u8", "b: u16", &[][..]),
            ("c: u8", "c: u16", &[]),
            ("d: u8", "d: u16", &["A.d"]),
            (", Copy", "", &["Copy for A"]),
            ("&Option<u8>", "Option<&u8>", &["A::e"]),
            ("fn f(&self)", "fn f(&self, _: u8)", &[]),
            ("L(u8)", "L(Box<u8>)", &["K::L.0"]),
            ("{ n: u8 }", "{ n: u16 }", &["K::M.n"]),
            ("fn v(&self) -> u8;", "fn v(&self) -> u16;", &["T::v"]),
            ("type U = u8", "type U = u16", &["T for A::U"]),
            ("impl T for A", "impl T for B", &["T for A", "T for A::U"]),
            ("W: u8", "W: u16", &["W"]),
        ] {
            assert_eq!(differ(from, to), expected, "{from}");
        }
    }
}
