//! Effects of another type of a field that neither the compiler nor the tests need to see: what is known by its type, by its size,
//! by its bytes, or by an order. Each is named with its place.

use super::moves::Becomes;
use super::syntax::{Bytes, dense};
use super::tree::Tree;
use super::unbuilt::{Names, Place};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// Derives whose code depends on the bytes, or on the identity, of the fields' types.
const BYTES: [&str; 20] = [
    "Pod",
    "Zeroable",
    "AnyBitPattern",
    "NoUninit",
    "CheckedBitPattern",
    "TransparentWrapper",
    "FromBytes",
    "IntoBytes",
    "AsBytes",
    "FromZeros",
    "FromZeroes",
    "TryFromBytes",
    "Immutable",
    "KnownLayout",
    "Unaligned",
    "Archive",
    "StableAbi",
    "Reflect",
    "ByteValued",
    "Plain",
];

/// Words of functions that see the bytes of a value.
const RAW: [&str; 13] = [
    "transmute",
    "transmute_copy",
    "zeroed",
    "from_raw_parts",
    "from_raw_parts_mut",
    "read_unaligned",
    "write_unaligned",
    "read_volatile",
    "write_volatile",
    "copy_nonoverlapping",
    "bytes_of",
    "cast_slice",
    "assume_init",
];

/// Words of code that tells values apart by their type.
const KEYED: [&str; 5] = ["TypeId", "type_id", "type_name_of_val", "downcast_ref", "downcast_mut"];

/// Types of other crates that keep a value for each type.
const MAPS: [&str; 6] = ["Extensions", "AnyMap", "TypeMap", "Extension", "Resource", "Resources"];

/// Calls that give a value to such a map.
const GIVES: [&str; 8] =
    ["insert", "get_or_insert_with", "get_or_insert", "with", "set", "extension", "insert_resource", "entry"];

/// A changed field.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    /// As the edit names it.
    pub(super) item: String,
    pub(super) file: PathBuf,
    pub(super) line: u32,
    /// The old type.
    pub(super) from: String,
    pub(super) becomes: Becomes,
}

/// Returns `true` if a line, or one of four before it, names a map of values by their types: `extensions`, `req.ext()`, `AnyMap`.
fn is_near_map(text: &str, line: usize) -> bool {
    let is_map = |word: &str| {
        let lower = word.to_lowercase();
        ["ext", "exts"].contains(&lower.as_str()) || lower.ends_with("extensions") || MAPS.contains(&word)
    };
    text.lines().skip(line.saturating_sub(5)).take(5).flat_map(words).any(is_map)
}

/// Returns the places where a change of fields may have an effect that no test sees. `sources` are those of the packages that may use
/// the fields, and `is_published` tells whether other crates may.
pub(super) fn find(tree: &Tree, sources: &[PathBuf], changed: &[Changed], is_published: bool) -> Vec<Place> {
    let mut files = Vec::new();
    for file in sources {
        let Some(text) = tree.read(file) else { continue };
        let Ok(source) = syn::parse_file(&text) else { continue };
        files.push(File { path: file, text, source });
    }
    let mut found = BTreeSet::new();
    for of in changed {
        if let Some(subject) = Subject::of(of, &files) {
            subject.look(&files, is_published, &mut found);
        }
    }
    found.into_iter().collect()
}

struct File<'a> {
    path: &'a Path,
    text: String,
    source: syn::File,
}

/// What a changed field is part of.
struct Subject<'a> {
    changed: &'a Changed,
    /// The struct or enum.
    owner: String,
    /// The field or the variant by which code reaches the value.
    member: String,
    is_tuple: bool,
    /// The owner, and the types that have it in their own memory.
    holders: BTreeSet<String>,
    /// The type names in the old type.
    inner: BTreeSet<String>,
}

impl<'a> Subject<'a> {
    /// `None`: the move changes no type of a field.
    fn of(changed: &'a Changed, files: &[File<'_>]) -> Option<Self> {
        if matches!(changed.becomes, Becomes::Wrapped | Becomes::Capacity | Becomes::Hoisted | Becomes::Shrunk) {
            return None;
        }
        let mut names = Names::default();
        names.add(&changed.item);
        let head = changed.item.split('.').next().unwrap_or_default();
        let parts: Vec<&str> = head.split('<').next()?.split("::").collect();
        let is_variant = parts.len() > 1 && parts[parts.len() - 2].starts_with(char::is_uppercase);
        let owner = (*parts.get(parts.len() - 1 - usize::from(is_variant))?).to_owned();
        let is_tuple = names.fields.is_empty();
        let member = names.fields.iter().chain(&names.tuples).next()?.clone();
        let mut holders = BTreeSet::from([owner.clone()]);
        loop {
            let before = holders.len();
            for file in files {
                Holders { holders: &mut holders, name: None }.visit_file(&file.source);
            }
            if holders.len() == before {
                break;
            }
        }
        let std = ["Option", "Vec", "String", "Box", "HashMap", "BTreeMap", "Self", "Pin", "Arc", "Rc", "PhantomData"];
        let inner = words(&changed.from).filter(|word| word.starts_with(char::is_uppercase) && !std.contains(word));
        let inner = inner.map(str::to_owned).collect();
        Some(Self { changed, owner, member, is_tuple, holders, inner })
    }

    fn look(&self, files: &[File<'_>], is_published: bool, found: &mut BTreeSet<Place>) {
        let mut seen = Seen::default();
        for file in files {
            let mut keyed = Keyed { text: &file.text, seen: &mut seen };
            keyed.visit_file(&file.source);
            let downcasts = ["downcast_ref", "downcast_mut", "downcast", "is"];
            seen.has_downcast |= downcasts.iter().any(|name| file.text.contains(&format!(".{name}::<")))
                || downcasts[..3].iter().any(|name| file.text.contains(&format!(".{name}(")));
            seen.has_keys |= words(&file.text).any(|word| KEYED.contains(&word) || MAPS.contains(&word));
        }
        for file in files {
            let mut search =
                Search { subject: self, file, seen: &seen, is_published, own: Vec::new(), tests: 0, found };
            search.visit_file(&file.source);
        }
        self.order(files, found);
    }

    /// A sorted map has another order than a map with a hasher that is the same in each run.
    fn order(&self, files: &[File<'_>], found: &mut BTreeSet<Place>) {
        if self.changed.becomes != Becomes::Sorted || self.changed.from.contains("BTreeMap") {
            return;
        }
        let file = files.iter().find(|file| file.path == self.changed.file);
        let of_std = ["std::collections::HashMap", "collections::HashMap", "std::collections::hash_map::HashMap"];
        let is_std = |text: &str| {
            let imported = text.lines().filter(|line| line.trim_start().starts_with("use ")).any(|line| {
                dense(line).contains("std::collections::")
                    && words(line).any(|word| word == "HashMap" || line.contains("::*"))
            });
            imported || of_std.iter().any(|path| dense(&self.changed.from).contains(path))
        };
        let has_hasher = dense(&self.changed.from).split_once('<').is_some_and(|(_, arguments)| {
            let mut depth = 0;
            let commas = arguments.chars().filter(|of| {
                depth += i32::from("<([".contains(*of)) - i32::from(">)]".contains(*of));
                *of == ',' && depth == 0
            });
            commas.count() > 1 && !arguments.contains("RandomState")
        });
        if has_hasher || file.is_some_and(|file| !is_std(&file.text)) {
            let why = format!("{} has the order of its hasher, and gets that of its keys", self.changed.item);
            found.insert(Place { file: self.changed.file.clone(), line: self.changed.line as usize, why });
        }
    }
}

/// What the sources have.
#[derive(Default)]
struct Seen {
    has_downcast: bool,
    has_keys: bool,
    /// The own functions that tell values apart by their type.
    functions: BTreeSet<String>,
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|of: char| !(of.is_alphanumeric() || of == '_')).filter(|word| !word.is_empty())
}

/// Finds types that have one of the holders in their own memory.
struct Holders<'a> {
    holders: &'a mut BTreeSet<String>,
    name: Option<String>,
}

impl Holders<'_> {
    fn inside(&mut self, name: &syn::Ident, visit: impl FnOnce(&mut Self)) {
        self.name = Some(name.to_string());
        visit(self);
        self.name = None;
    }
}

impl<'ast> Visit<'ast> for Holders<'_> {
    fn visit_item_struct(&mut self, of: &'ast syn::ItemStruct) {
        self.inside(&of.ident, |search| of.fields.iter().for_each(|field| search.visit_type(&field.ty)));
    }

    fn visit_item_enum(&mut self, of: &'ast syn::ItemEnum) {
        let fields = || of.variants.iter().flat_map(|variant| &variant.fields);
        self.inside(&of.ident, |search| fields().for_each(|field| search.visit_type(&field.ty)));
    }

    fn visit_item_union(&mut self, of: &'ast syn::ItemUnion) {
        self.inside(&of.ident, |search| of.fields.named.iter().for_each(|field| search.visit_type(&field.ty)));
    }

    fn visit_type_path(&mut self, of: &'ast syn::TypePath) {
        let Some(last) = of.path.segments.last() else { return };
        if let Some(name) = &self.name
            && self.holders.contains(&last.ident.to_string())
        {
            self.holders.insert(name.clone());
        }
        // What is elsewhere in memory is no part of a type's bytes.
        let elsewhere = [
            "Box",
            "Vec",
            "Rc",
            "Arc",
            "HashMap",
            "BTreeMap",
            "VecDeque",
            "HashSet",
            "BTreeSet",
            "PhantomData",
            "NonNull",
        ];
        if !elsewhere.iter().any(|name| last.ident == name) {
            visit::visit_type_path(self, of);
        }
    }

    fn visit_type_reference(&mut self, _: &'ast syn::TypeReference) {}
    fn visit_type_ptr(&mut self, _: &'ast syn::TypePtr) {}
    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
}

/// Finds the own functions that tell values apart by their type: those with a type parameter whose body asks for its identity.
struct Keyed<'a> {
    text: &'a str,
    seen: &'a mut Seen,
}

impl Keyed<'_> {
    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let is_generic = sig.generics.type_params().next().is_some()
            || sig
                .inputs
                .iter()
                .any(|of| matches!(of, syn::FnArg::Typed(of) if matches!(*of.ty, syn::Type::ImplTrait(_))));
        let body = self.text.get(block.span().byte_range()).unwrap_or_default();
        let asks =
            ["TypeId", "type_name", "Any", "size_of", "size_of_val", "downcast_ref", "needs_drop", "type_name_of_val"];
        let head = self.text.get(sig.span().byte_range()).unwrap_or_default();
        if is_generic && words(body).chain(words(head)).any(|word| asks.contains(&word)) {
            self.seen.functions.insert(sig.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Keyed<'_> {
    fn visit_item_fn(&mut self, of: &'ast syn::ItemFn) {
        self.function(&of.sig, &of.block);
    }

    fn visit_impl_item_fn(&mut self, of: &'ast syn::ImplItemFn) {
        self.function(&of.sig, &of.block);
    }
}

/// Looks for the effects in a file.
struct Search<'a> {
    subject: &'a Subject<'a>,
    file: &'a File<'a>,
    seen: &'a Seen,
    is_published: bool,
    /// The types of the `impl` blocks around.
    own: Vec<String>,
    /// The number of tests around, whose outcomes say what they see.
    tests: usize,
    found: &'a mut BTreeSet<Place>,
}

impl Search<'_> {
    fn add(&mut self, line: usize, why: String) {
        self.found.insert(Place { file: self.file.path.to_owned(), line, why });
    }

    fn attributes(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        if !self.subject.holders.contains(&name.to_string()) {
            return;
        }
        for attribute in attributes {
            let syn::Meta::List(list) = &attribute.meta else { continue };
            let text = list.tokens.to_string();
            let line = attribute.span().start().line;
            if list.path.is_ident("repr") {
                let is_layout = |word: &str| word != "align" && word.parse::<u64>().is_err();
                if words(&text).any(is_layout) {
                    self.add(line, format!("`repr({})`: the bytes of {name} change", dense(&text)));
                }
            } else if list.path.is_ident("derive")
                && let Some(of) = words(&text).find(|word| BYTES.contains(word))
            {
                self.add(line, format!("`derive({of})`: the bytes of {name} change"));
            }
        }
    }

    /// An error that another one has as its source is known by its type.
    fn source(&mut self, derives: &[syn::Attribute], variant: Option<&syn::Variant>, fields: &syn::Fields) {
        let is_derived = derives.iter().any(|of| match &of.meta {
            syn::Meta::List(list) if list.path.is_ident("derive") => {
                words(&list.tokens.to_string()).any(|word| ["Error", "Snafu", "Diagnostic", "Fail"].contains(&word))
            }
            _ => false,
        });
        if !is_derived {
            return;
        }
        let is_transparent = |of: &syn::Attribute| matches!(&of.meta, syn::Meta::List(list) if words(&list.tokens.to_string()).any(|word| word == "transparent"));
        let transparent = variant.map_or(derives, |of| &of.attrs).iter().any(is_transparent);
        for (index, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            let is_it = if self.subject.is_tuple {
                fields.len() == 1 || self.subject.changed.item.ends_with(&format!(".{name}"))
            } else {
                name == self.subject.member
            };
            let marked =
                field.attrs.iter().any(|of| ["source", "from", "cause"].iter().any(|word| of.path().is_ident(word)));
            if is_it && (marked || transparent || name == "source") && (self.seen.has_downcast || self.is_published) {
                let line = field.ty.span().start().line;
                let ty = dense(&self.subject.changed.from);
                self.add(
                    line,
                    format!("the error's `source()` is another type: `downcast_ref::<{ty}>()` no longer finds it"),
                );
            }
        }
    }

    fn function(&mut self, sig: &syn::Signature, block: &syn::Block) {
        let range = sig.span().byte_range().start..block.span().byte_range().end;
        let Some(text) = self.file.text.get(range.clone()) else { return };
        let (subject, own) = (self.subject, self.own.last().cloned().unwrap_or_default());
        let is_holder = |word: &str| subject.holders.contains(word) || word == "Self" && subject.holders.contains(&own);
        let has_holder = words(text).any(is_holder) || sig.receiver().is_some() && subject.holders.contains(&own);
        let has_member = words(text).any(|word| word == subject.member)
            && (!subject.is_tuple
                || text.contains(&format!("{}(", subject.member))
                || text.contains(&format!("::{}", subject.member)));
        let has_inner = words(text).any(|word| subject.inner.contains(word));
        if !(has_holder || has_member || has_inner) {
            return;
        }
        let body = Body { text, start: range.start, whole: &self.file.text };
        let mut all = Vec::new();
        for (name, arguments, line) in body.calls() {
            let of = |set: &dyn Fn(&str) -> bool| words(&arguments).any(set);
            match name.as_str() {
                "size_of" | "align_of" if of(&is_holder) => {
                    all.push((line, format!("`{name}::<{}>()` is another number", dense(&arguments))));
                }
                "size_of_val" | "align_of_val" if has_member || has_holder => {
                    all.push((line, format!("`{name}` may see the box instead of {}", dense(&subject.changed.from))));
                }
                "offset_of" if of(&is_holder) => {
                    all.push((line, format!("`offset_of!` of {} is another number", subject.owner)));
                }
                name if RAW.contains(&name) && (has_holder || has_member) => {
                    all.push((line, format!("`{name}`: the bytes of {} change", subject.owner)));
                }
                "downcast_ref" | "downcast_mut" | "downcast" | "is" if of(&|word| subject.inner.contains(word)) => {
                    all.push((line, format!("`{name}::<{}>` may find a box instead", dense(&arguments))));
                }
                "of" | "get" | "get_mut" | "remove" | "contains" | "take" | "insert" | "resource" | "resource_mut"
                | "extension"
                    if self.seen.has_keys && of(&|word| subject.inner.contains(word)) =>
                {
                    all.push((
                        line,
                        format!(
                            "`{name}::<{}>` tells values apart by their type, and a box has another",
                            dense(&arguments)
                        ),
                    ));
                }
                name if has_member && arguments.is_empty() && self.seen.functions.contains(name) => {
                    all.push((line, format!("`{name}` asks for the type of its argument, which may be a box now")));
                }
                name if has_member
                    && self.seen.has_keys
                    && GIVES.contains(&name)
                    && is_near_map(&self.file.text, line) =>
                {
                    all.push((
                        line,
                        format!("`{name}` may keep the box under another type than {}", dense(&subject.changed.from)),
                    ));
                }
                "type_id" | "type_name_of_val" if has_member => {
                    all.push((line, format!("`{name}` may see the box instead of {}", dense(&subject.changed.from))));
                }
                _ => {}
            }
        }
        for (word, why) in [
            ("dyn Any", "a value may be a box now"),
            ("as *const", "the pointer may be one to the box"),
            ("as *mut", "the pointer may be one to the box"),
            (".cast::<u8>", "the bytes change"),
            ("addr_of", "the address may be that of the box"),
        ] {
            let is_near =
                if word == "dyn Any" { has_member } else { has_member || has_holder && word.ends_with("u8>") };
            if let (true, Some(at)) = (is_near, text.find(word)) {
                all.push((body.line(at), format!("`{word}`: {why}")));
            }
        }
        // A method of another trait may have the name: that of an error returns one.
        let gives_error = || {
            let whole = sig.output.span().byte_range();
            sig.ident == "provide"
                || self.file.text.get(whole).is_some_and(|ty| ty.contains("Error") || ty.contains("Fail"))
        };
        if ["source", "cause", "provide"].iter().any(|name| sig.ident == name)
            && has_member
            && gives_error()
            && (self.seen.has_downcast || self.is_published)
        {
            all.push((
                sig.span().start().line,
                format!(
                    "`{}` may give the box: `downcast_ref` no longer finds {}",
                    sig.ident,
                    dense(&subject.changed.from)
                ),
            ));
        }
        for (line, why) in all {
            self.add(line, why);
        }
    }

    fn test(&mut self, attributes: &[syn::Attribute], visit: impl FnOnce(&mut Self)) {
        let is_test = |of: &syn::Attribute| match &of.meta {
            syn::Meta::Path(path) => path.segments.last().is_some_and(|last| last.ident == "test"),
            syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
            syn::Meta::NameValue(_) => false,
        };
        let is_test = attributes.iter().any(is_test);
        self.tests += usize::from(is_test);
        if self.tests == 0 {
            visit(self);
        }
        self.tests -= usize::from(is_test);
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_mod(&mut self, of: &'ast syn::ItemMod) {
        self.test(&of.attrs, |search| visit::visit_item_mod(search, of));
    }

    fn visit_item_struct(&mut self, of: &'ast syn::ItemStruct) {
        self.attributes(&of.ident, &of.attrs);
        if of.ident == self.subject.owner {
            self.source(&of.attrs, None, &of.fields);
        }
    }

    fn visit_item_enum(&mut self, of: &'ast syn::ItemEnum) {
        self.attributes(&of.ident, &of.attrs);
        if of.ident == self.subject.owner {
            for variant in &of.variants {
                let is_it = words(&self.subject.changed.item).any(|word| variant.ident == word);
                if is_it {
                    self.source(&of.attrs, Some(variant), &variant.fields);
                }
            }
        }
    }

    fn visit_item_union(&mut self, of: &'ast syn::ItemUnion) {
        if self.subject.holders.contains(&of.ident.to_string()) {
            self.add(of.span().start().line, format!("a union: the bytes of {} change", of.ident));
        }
    }

    fn visit_item_impl(&mut self, of: &'ast syn::ItemImpl) {
        let name = match &*of.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let name = name.unwrap_or_default();
        if let (Some(_), Some((_, path, _))) = (of.unsafety, &of.trait_)
            && self.subject.holders.contains(&name)
        {
            let of_trait = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            if !["Send", "Sync"].contains(&of_trait.as_str()) {
                self.add(
                    of.span().start().line,
                    format!("`unsafe impl {of_trait} for {name}` promises what may no longer hold"),
                );
            }
        }
        self.own.push(name);
        visit::visit_item_impl(self, of);
        self.own.pop();
    }

    fn visit_item_fn(&mut self, of: &'ast syn::ItemFn) {
        self.test(&of.attrs, |search| search.function(&of.sig, &of.block));
    }

    fn visit_impl_item_fn(&mut self, of: &'ast syn::ImplItemFn) {
        self.test(&of.attrs, |search| search.function(&of.sig, &of.block));
    }

    fn visit_trait_item_fn(&mut self, of: &'ast syn::TraitItemFn) {
        if let Some(block) = &of.default {
            self.function(&of.sig, block);
        }
    }
}

/// The text of a function.
struct Body<'a> {
    text: &'a str,
    start: usize,
    whole: &'a str,
}

impl Body<'_> {
    fn line(&self, at: usize) -> usize {
        self.whole[..self.start + at].matches('\n').count() + 1
    }

    /// Returns the calls of functions, methods and macros: the name, the type arguments or what a macro is given, and the line.
    fn calls(&self) -> Vec<(String, String, usize)> {
        let is_word = |of: char| of.is_alphanumeric() || of == '_';
        let mut all = Vec::new();
        let mut word: Option<Bytes> = None;
        let text = self.text;
        for (at, of) in text.char_indices().chain([(text.len(), ' ')]) {
            if is_word(of) {
                word = Some(word.map_or(at, |word| word.start)..at + of.len_utf8());
                continue;
            }
            let Some(name) = word.take() else { continue };
            let rest = &text[name.end..];
            let arguments = if let Some(rest) = rest.strip_prefix("::<") {
                Some(up_to_end(rest, '<', '>'))
            } else if let Some(rest) = rest.strip_prefix("!(") {
                Some(up_to_end(rest, '(', ')'))
            } else {
                rest.starts_with('(').then_some("")
            };
            if let Some(arguments) = arguments {
                let line = self.line(name.start);
                all.push((text[name].to_owned(), arguments.to_owned(), line));
            }
        }
        all
    }
}

/// Returns the text up to the bracket that closes one before it.
fn up_to_end(text: &str, open: char, close: char) -> &str {
    let mut depth = 1;
    for (at, of) in text.char_indices() {
        depth += i32::from(of == open) - i32::from(of == close);
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines at which an effect is seen of boxing `E.d`, or `K::V`, of type `D`.
    fn seen(item: &str, text: &str) -> Vec<usize> {
        let path = PathBuf::from("src/a.rs");
        let files = [File { path: &path, text: text.to_owned(), source: syn::parse_file(text).unwrap() }];
        let changed = Changed {
            item: item.to_owned(),
            file: path.clone(),
            line: 1,
            from: "D".into(),
            becomes: Becomes::Boxed("D".into()),
        };
        let mut found = BTreeSet::new();
        Subject::of(&changed, &files).unwrap().look(&files, false, &mut found);
        found.into_iter().map(|of| of.line).collect()
    }

    #[test]
    fn effects_that_tests_do_not_see_are_named() {
        let types = "struct E { d: D }\nenum K { V(D), W }\n";
        for (item, text) in [
            ("E.d", "#[repr(C)] struct P { e: E }"),
            ("K::V", "#[repr(transparent)] struct P([K; 2]);"),
            ("E.d", "#[derive(Clone, Pod)] struct P(Option<E>);"),
            ("E.d", "unsafe impl Pod for E {}"),
            ("E.d", "union U { e: ManuallyDrop<E>, b: u8 }"),
            ("E.d", "fn f() -> usize { std::mem::size_of::<E>() }"),
            ("E.d", "impl E { fn f(&self) -> usize { size_of::<Self>() } }"),
            ("E.d", "fn f(e: &E) -> usize { size_of_val(&e.d) }"),
            ("E.d", "fn f(e: &E) -> usize { offset_of!(E, d) }"),
            ("E.d", "fn f(e: &E) -> &[u8] { unsafe { from_raw_parts(p(e), 4) } }"),
            ("K::V", "fn f(k: K) -> u64 { unsafe { transmute(k) } }"),
            ("E.d", "fn f(e: &E) -> usize { &e.d as *const _ as usize }"),
            ("E.d", "fn f(e: E) -> Box<dyn Any> { Box::new(e.d) }"),
            ("E.d", "fn f(x: &dyn Error) -> bool { x.downcast_ref::<D>().is_some() }"),
            ("E.d", "fn f(x: &Extensions) -> Option<&D> { x.get::<D>() }"),
            ("E.d", "fn f(e: E, x: &mut Extensions) { x.extensions_mut().insert(e.d); }"),
            ("K::V", "fn put<T: 'static>(t: T) { TypeId::of::<T>(); } fn f(k: K) { if let K::V(d) = k { put(d) } }"),
            ("E.d", "fn f(e: &E) -> TypeId { e.d.type_id() }"),
        ] {
            assert_eq!(seen(item, &format!("{types}{text}")), [3], "{text}");
        }
        for text in [
            "#[repr(C)] struct P { e: Box<E>, v: Vec<K> }",
            "#[repr(align(64))] struct P { e: E }",
            "unsafe impl Send for E {}",
            "fn f() -> usize { std::mem::size_of::<D>() + size_of::<u8>() }",
            "fn f(x: &dyn Error) -> bool { x.downcast_ref::<Other>().is_some() }",
            "fn f(e: E, m: &mut Map) { m.insert(e.d); }",
            "#[cfg(test)] mod tests { fn f() { assert_eq!(size_of::<E>(), 8); } }",
            "#[test] fn f() { assert_eq!(size_of::<E>(), 8); }",
        ] {
            assert_eq!(seen("E.d", &format!("{types}{text}")), [0; 0], "{text}");
        }
    }

    #[test]
    fn sources_of_errors_are_named_if_something_downcasts() {
        let of = |attribute: &str, rest: &str| {
            seen("K::V", &format!("#[derive(Debug, Error)]\nenum K {{\n#[error(\"x\")] V({attribute} D) }}\n{rest}"))
        };
        let asks = "fn f(x: &dyn Error) { x.downcast_ref::<Other>(); }";
        assert_eq!(of("#[source]", asks), [3]);
        assert_eq!(of("#[from]", asks), [3]);
        assert!(of("", asks).is_empty() && of("#[source]", "").is_empty());
    }

    #[test]
    fn a_fixed_hasher_has_an_order() {
        let of = |from: &str, text: &str| {
            let path = PathBuf::from("src/a.rs");
            let files = [File { path: &path, text: text.to_owned(), source: syn::parse_file(text).unwrap() }];
            let changed = Changed {
                item: "E.d".into(),
                file: path.clone(),
                line: 7,
                from: from.into(),
                becomes: Becomes::Sorted,
            };
            let mut found = BTreeSet::new();
            Subject::of(&changed, &files).unwrap().order(&files, &mut found);
            !found.is_empty()
        };
        let std = "use std::collections::HashMap;";
        assert!(!of("HashMap<String, (u8, u8)>", std) && !of("BTreeMap<u8, u8>", ""));
        assert!(!of("std::collections::HashMap<u8, u8>", "") && !of("HashMap<u8, u8, RandomState>", std));
        assert!(
            of("HashMap<u8, u8, BuildHasherDefault<F>>", std)
                && of("HashMap<u8, u8>", "use fxhash::FxHashMap as HashMap;")
        );
        assert!(of("HashMap<u8, u8>", "type HashMap<K, V> = std::collections::HashMap<K, V, F>;"));
    }
}
