//! What a package's sources have by which values are told apart: functions that ask for the type of their argument, and methods that
//! are others for a box.

use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Words of code that tells values apart by their type.
const KEYED: [&str; 5] = ["TypeId", "type_id", "type_name_of_val", "downcast_ref", "downcast_mut"];

/// Types of other crates that keep a value for each type.
pub(super) const MAPS: [&str; 6] = ["Extensions", "AnyMap", "TypeMap", "Extension", "Resource", "Resources"];

/// Words of a function that asks for the type of its argument.
const ASKS: [&str; 9] = [
    "TypeId",
    "type_name",
    "Any",
    "size_of",
    "size_of_val",
    "downcast_ref",
    "needs_drop",
    "type_name_of_val",
    "type_id",
];

/// Words of a function that sees, or makes, the bytes of any type's values.
const BYTES: [&str; 7] =
    ["zeroed", "transmute", "transmute_copy", "write_bytes", "align_to", "read_unaligned", "from_raw_parts"];

/// Names that own functions share with those of std's collections.
const COMMON: [&str; 12] =
    ["new", "push", "insert", "get", "get_mut", "pop", "clone", "len", "iter", "extend", "from", "default"];

/// What the sources have.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) has_downcast: bool,
    pub(super) has_keys: bool,
    /// The own functions without type parameters, as a writer's `write_bytes`: they see no bytes of a value's type.
    pub(super) plain: BTreeSet<String>,
    /// The own functions that tell values apart by their type.
    pub(super) functions: BTreeSet<String>,
    /// The own functions for any type that see the bytes of its values, or make a value of bytes, and the traits that provide one.
    pub(super) of_bytes: BTreeSet<String>,
    /// The methods that an `impl` for boxes does not pass on to the value, and functions with parameters of these traits.
    pub(super) of_box: BTreeSet<String>,
    /// The traits with such an `impl`.
    pub(super) traits_of_box: BTreeSet<String>,
}

impl Seen {
    /// Looks at sources with their texts.
    pub(super) fn of<'f>(files: &(impl Iterator<Item = (&'f str, &'f syn::File)> + Clone)) -> Self {
        let mut seen = Self::default();
        let mut methods: BTreeMap<String, Provided> = BTreeMap::new();
        for (text, source) in files.clone() {
            let downcasts = ["downcast_ref", "downcast_mut", "downcast", "is"];
            seen.has_downcast |= downcasts.iter().any(|name| text.contains(&format!(".{name}::<")))
                || downcasts[..3].iter().any(|name| text.contains(&format!(".{name}(")));
            seen.has_keys |= words(text).any(|word| KEYED.contains(&word) || MAPS.contains(&word));
            Traits { methods: &mut methods }.visit_file(source);
            let declared = text.split("fn ").skip(1).filter_map(|rest| rest.split_once('('));
            let is_name = |name: &str| name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
            seen.plain.extend(declared.map(|(name, _)| name.to_owned()).filter(|name| is_name(name)));
        }
        for own in methods.values_mut() {
            own.all.retain(|name| own.own.contains(name));
        }
        for (text, source) in files.clone() {
            Boxes { text, methods: &methods, seen: &mut seen }.visit_file(source);
        }
        loop {
            let before = seen.of_bytes.len();
            for (text, source) in files.clone() {
                Keyed { text, is_generic: false, seen: &mut seen }.visit_file(source);
            }
            // A function that calls one of these is one too.
            if seen.of_bytes.len() == before {
                break;
            }
        }
        seen
    }
}

pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).filter(|word| !word.is_empty())
}

/// Returns the other names that a source gives to types, each with the type's: `type D = m::Details`, `use m::Details as D`.
pub(super) fn aliases(source: &syn::File) -> Vec<(String, String)> {
    fn renamed(tree: &syn::UseTree, to: &mut Vec<(String, String)>) {
        match tree {
            syn::UseTree::Path(expr_path) => renamed(&expr_path.tree, to),
            syn::UseTree::Rename(rename) => to.push((rename.rename.to_string(), rename.ident.to_string())),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| renamed(tree, to)),
            _ => {}
        }
    }
    let mut all = Vec::new();
    for item in &source.items {
        match item {
            syn::Item::Type(alias) => {
                if let syn::Type::Path(path) = &*alias.ty {
                    all.extend(path.path.segments.last().map(|last| (alias.ident.to_string(), last.ident.to_string())));
                }
            }
            syn::Item::Use(import) => renamed(&import.tree, &mut all),
            _ => {}
        }
    }
    all
}

/// The methods that a trait provides.
#[derive(Default)]
struct Provided {
    all: Vec<String>,
    /// The methods that an `impl` for another type than a box has.
    own: BTreeSet<String>,
}

/// Finds the methods that own traits provide, and those that types have in their place.
struct Traits<'a> {
    methods: &'a mut BTreeMap<String, Provided>,
}

impl<'ast> Visit<'ast> for Traits<'_> {
    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        let provided = node.items.iter().filter_map(|item| match item {
            syn::TraitItem::Fn(function) if function.default.is_some() => Some(function.sig.ident.to_string()),
            _ => None,
        });
        self.methods.entry(node.ident.to_string()).or_default().all.extend(provided);
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let Some(name) = node.trait_.as_ref().and_then(|(_, path, _)| path.segments.last()) else { return };
        if last_name(&node.self_ty).is_some_and(|own| own != "Box") {
            let own = node.items.iter().filter_map(|item| match item {
                syn::ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
                _ => None,
            });
            self.methods.entry(name.ident.to_string()).or_default().own.extend(own);
        }
    }
}

fn last_name(ty: &syn::Type) -> Option<&syn::Ident> {
    let syn::Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|last| &last.ident)
}

/// Finds what the `impl` blocks for boxes do not pass on.
struct Boxes<'a> {
    text: &'a str,
    methods: &'a BTreeMap<String, Provided>,
    seen: &'a mut Seen,
}

impl<'ast> Visit<'ast> for Boxes<'_> {
    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let name = node.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        let Some(name) = name.map(|last| last.ident.to_string()) else { return };
        if last_name(&node.self_ty).is_none_or(|own| own != "Box") || name == "From" {
            return;
        }
        let mut provided = self.methods.get(&name).map(|methods| methods.all.clone()).unwrap_or_default();
        let mut all = Vec::new();
        for item in &node.items {
            let syn::ImplItem::Fn(method) = item else { continue };
            provided.retain(|name| method.sig.ident != name);
            let body = self.text.get(method.block.span().byte_range()).unwrap_or_default();
            let passes =
                ["*self", "self.as_ref()", "self.as_mut()", "self.deref"].iter().any(|call| body.contains(call));
            let names_value = |param: &syn::TypeParam| {
                [format!("{}::", param.ident), format!("<{} as ", param.ident)]
                    .iter()
                    .any(|prefix| body.contains(prefix))
            };
            if !passes && !node.generics.type_params().any(names_value) {
                all.push(method.sig.ident.to_string());
            }
        }
        all.extend(provided);
        if !all.is_empty() {
            self.seen.traits_of_box.insert(name);
            self.seen.of_box.extend(all);
        }
    }
}

/// Finds the own functions that tell values apart by their type: those with a type parameter, or a parameter of any type, whose body asks
/// for its identity.
struct Keyed<'a> {
    text: &'a str,
    /// Whether the `impl` block around is for all types.
    is_generic: bool,
    seen: &'a mut Seen,
}

impl Keyed<'_> {
    fn sees_bytes(&self, body: &str) -> bool {
        let is_it = |word: &str| match word {
            "from_raw_parts" => body.contains("u8"),
            word => BYTES.contains(&word) || self.seen.of_bytes.contains(word),
        };
        words(body).any(is_it)
    }

    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let head = self.text.get(sig.span().byte_range()).unwrap_or_default();
        let is_any = |argument: &syn::FnArg| match argument {
            syn::FnArg::Typed(typed) => {
                matches!(*typed.ty, syn::Type::ImplTrait(_))
                    || self.text.get(typed.ty.span().byte_range()).is_some_and(|ty| ty.contains("dyn "))
            }
            syn::FnArg::Receiver(_) => false,
        };
        let is_generic =
            self.is_generic || sig.generics.type_params().next().is_some() || sig.inputs.iter().any(is_any);
        let body = self.text.get(block.span().byte_range()).unwrap_or_default();
        if is_generic && words(body).chain(words(head)).any(|word| ASKS.contains(&word)) {
            self.seen.functions.insert(sig.ident.to_string());
        }
        if is_generic && !COMMON.iter().any(|name| sig.ident == name) && self.sees_bytes(body) {
            self.seen.of_bytes.insert(sig.ident.to_string());
        }
        let has_trait = is_generic && words(head).any(|word| self.seen.traits_of_box.contains(word));
        if has_trait && words(body).any(|word| self.seen.of_box.contains(word)) {
            self.seen.of_box.insert(sig.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Keyed<'_> {
    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let own = match &*node.self_ty {
            syn::Type::Path(path) => path.path.get_ident(),
            _ => None,
        };
        self.is_generic = node.generics.type_params().any(|param| Some(&param.ident) == own);
        visit::visit_item_impl(self, node);
        self.is_generic = false;
    }

    /// `Self` of a trait may be any type.
    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.is_generic = true;
        for item in &node.items {
            let syn::TraitItem::Fn(syn::TraitItemFn { sig, default: Some(block), .. }) = item else { continue };
            self.function(sig, block);
            if self.seen.of_bytes.contains(&sig.ident.to_string()) {
                self.seen.of_bytes.insert(node.ident.to_string());
            }
        }
        self.is_generic = false;
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.function(&node.sig, &node.block);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.function(&node.sig, &node.block);
    }
}
