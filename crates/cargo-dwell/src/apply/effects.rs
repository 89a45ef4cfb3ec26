//! Effects of another type of a field that neither the compiler nor the tests need to see: what is known by its type, by its size,
//! by its bytes, or by an order. Each is named with its place.

use super::identity::{MAPS, Seen, aliases, words};
use super::moves::Becomes;
use super::syntax::{Bytes, dense, is_of_tests};
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
const RAW: [&str; 23] = [
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
    "assume_init_read",
    "assume_init_ref",
    "write_bytes",
    "swap_nonoverlapping",
    "copy_to_nonoverlapping",
    "copy_from_nonoverlapping",
    "align_to",
    "cast_ref",
    "from_bytes",
    "try_from_bytes",
];

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
    for change in changed {
        if let Some(subject) = Subject::of(change, &files) {
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
        let mut inner: BTreeSet<String> = inner.map(str::to_owned).collect();
        // The other names of these types.
        for (name, target) in files.iter().flat_map(|file| aliases(&file.source)) {
            if inner.contains(&name) || inner.contains(&target) {
                inner.extend([name, target]);
            }
        }
        Some(Self { changed, owner, member, is_tuple, holders, inner })
    }

    fn look(&self, files: &[File<'_>], is_published: bool, found: &mut BTreeSet<Place>) {
        let seen = Seen::of(&files.iter().map(|file| (file.text.as_str(), &file.source)));
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
            let uses = || text.lines().filter(|line| line.trim_start().starts_with("use "));
            let imported = uses().any(|line| {
                dense(line).contains("std::collections::")
                    && words(line).any(|word| word == "HashMap" || line.contains("::*"))
            });
            imported && !uses().any(|line| line.contains("as HashMap") || line.contains("HashMap as"))
                || of_std.iter().any(|path| dense(&self.changed.from).contains(path))
        };
        let has_hasher = dense(&self.changed.from).split_once('<').is_some_and(|(_, arguments)| {
            let mut depth = 0;
            let commas = arguments.chars().filter(|letter| {
                depth += i32::from("<([".contains(*letter)) - i32::from(">)]".contains(*letter));
                *letter == ',' && depth == 0
            });
            commas.count() > 1 && !arguments.contains("RandomState")
        });
        if has_hasher || file.is_some_and(|file| !is_std(&file.text)) {
            let why = format!("{} has the order of its hasher, and gets that of its keys", self.changed.item);
            found.insert(Place { file: self.changed.file.clone(), line: self.changed.line as usize, why });
        }
    }
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
    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.inside(&node.ident, |search| node.fields.iter().for_each(|field| search.visit_type(&field.ty)));
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        let fields = || node.variants.iter().flat_map(|variant| &variant.fields);
        self.inside(&node.ident, |search| fields().for_each(|field| search.visit_type(&field.ty)));
    }

    fn visit_item_union(&mut self, node: &'ast syn::ItemUnion) {
        self.inside(&node.ident, |search| node.fields.named.iter().for_each(|field| search.visit_type(&field.ty)));
    }

    fn visit_type_path(&mut self, node: &'ast syn::TypePath) {
        let Some(last) = node.path.segments.last() else { return };
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
            visit::visit_type_path(self, node);
        }
    }

    fn visit_type_reference(&mut self, _: &'ast syn::TypeReference) {}
    fn visit_type_ptr(&mut self, _: &'ast syn::TypePtr) {}
    fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
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
    /// Returns `true` if a word is the name of a function of the package that is not std's too.
    fn is_own(&self, name: &str) -> bool {
        self.seen.plain.contains(name) && !self.file.text.contains(&format!("ptr::{name}"))
    }

    fn add(&mut self, line: usize, why: String) {
        self.found.insert(Place { file: self.file.path.to_owned(), line, why });
    }

    fn attributes(&mut self, name: &syn::Ident, attributes: &[syn::Attribute]) {
        if !self.subject.holders.contains(&name.to_string()) {
            return;
        }
        for (attribute, text, line) in attributes.iter().flat_map(lists) {
            if attribute == "repr" {
                let is_layout = |word: &str| word != "align" && word.parse::<u64>().is_err();
                if words(&text).any(is_layout) {
                    self.add(line, format!("`repr({})`: the bytes of {name} change", dense(&text)));
                }
            } else if attribute == "derive"
                && let Some(derive) = words(&text).find(|word| BYTES.contains(word))
            {
                self.add(line, format!("`derive({derive})`: the bytes of {name} change"));
            }
        }
    }

    /// An error that another one has as its source is known by its type.
    fn source(&mut self, derives: &[syn::Attribute], variant: Option<&syn::Variant>, fields: &syn::Fields) {
        let is_derived = derives.iter().any(|derive| match &derive.meta {
            syn::Meta::List(list) if list.path.is_ident("derive") => {
                words(&list.tokens.to_string()).any(|word| ["Error", "Snafu", "Diagnostic", "Fail"].contains(&word))
            }
            _ => false,
        });
        if !is_derived {
            return;
        }
        let is_transparent = |attribute: &syn::Attribute| matches!(&attribute.meta, syn::Meta::List(list) if words(&list.tokens.to_string()).any(|word| word == "transparent"));
        let transparent = variant.map_or(derives, |of_variant| &of_variant.attrs).iter().any(is_transparent);
        for (index, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            let is_it = if self.subject.is_tuple {
                fields.len() == 1 || self.subject.changed.item.ends_with(&format!(".{name}"))
            } else {
                name == self.subject.member
            };
            let marked = field
                .attrs
                .iter()
                .any(|attr| ["source", "from", "cause"].iter().any(|word| attr.path().is_ident(word)));
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
        self.code(sig.span().byte_range().start..block.span().byte_range().end, Some(sig));
    }

    /// Looks at a function, or at another item without one.
    fn code(&mut self, range: Bytes, sig: Option<&syn::Signature>) {
        let Some(text) = self.file.text.get(range.clone()) else { return };
        let (subject, own) = (self.subject, self.own.last().cloned().unwrap_or_default());
        let is_holder = |word: &str| subject.holders.contains(word) || word == "Self" && subject.holders.contains(&own);
        let has_receiver = sig.is_some_and(|sig| sig.receiver().is_some());
        let has_holder = words(text).any(is_holder) || has_receiver && subject.holders.contains(&own);
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
            let with = |set: &dyn Fn(&str) -> bool| words(&arguments).any(set);
            match name.as_str() {
                "size_of" | "align_of" if with(&is_holder) => {
                    all.push((line, format!("`{name}::<{}>()` is another number", dense(&arguments))));
                }
                "needs_drop" if with(&is_holder) => {
                    all.push((line, format!("`needs_drop::<{}>()` may be true now", dense(&arguments))));
                }
                "new" | "array" if with(&is_holder) && words(text).any(|word| word == "Layout") => {
                    all.push((line, format!("the layout of {} is another one", dense(&arguments))));
                }
                "for_value" | "for_value_raw" if has_member || has_holder => {
                    all.push((line, format!("`{name}` may see the box instead of {}", dense(&subject.changed.from))));
                }
                "forget" if has_holder || has_member => {
                    all.push((line, format!("`forget` leaks the memory that {} owns now", subject.owner)));
                }
                name if has_member && self.seen.of_box.contains(name) => {
                    all.push((line, format!("`{name}` may be that of the box, which does something else")));
                }
                "size_of_val" | "align_of_val" if has_member || has_holder => {
                    all.push((line, format!("`{name}` may see the box instead of {}", dense(&subject.changed.from))));
                }
                "offset_of" if with(&is_holder) => {
                    all.push((line, format!("`offset_of!` of {} is another number", subject.owner)));
                }
                name if RAW.contains(&name) && !self.is_own(name) && (has_holder || has_member) => {
                    all.push((line, format!("`{name}`: the bytes of {} change", subject.owner)));
                }
                name if self.seen.of_bytes.contains(name) && (has_holder || has_member) => {
                    all.push((
                        line,
                        format!("`{name}` may see, or make, the bytes of {}, which change", subject.owner),
                    ));
                }
                "downcast_ref" | "downcast_mut" | "downcast" | "is" if with(&|word| subject.inner.contains(word)) => {
                    all.push((line, format!("`{name}::<{}>` may find a box instead", dense(&arguments))));
                }
                "of" | "get" | "get_mut" | "remove" | "contains" | "take" | "insert" | "resource" | "resource_mut"
                | "extension"
                    if self.seen.has_keys && with(&|word| subject.inner.contains(word)) =>
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
            ("ptr::read(", "the value that it copies owns memory now"),
            ("ptr::write(", "the value that it hides owns memory now"),
            ("ptr::copy(", "the value that it copies owns memory now"),
            ("ManuallyDrop", "a value in it owns memory now"),
        ] {
            let is_whole = word.ends_with("u8>") || word.starts_with("ptr") || word == "ManuallyDrop";
            let is_near = has_member || has_holder && is_whole;
            if let (true, Some(at)) = (is_near, text.find(word)) {
                all.push((body.line(at), format!("`{}`: {why}", word.trim_end_matches('('))));
            }
        }
        for name in self.seen.traits_of_box.iter().filter(|name| has_member && text.contains(&format!("dyn {name}"))) {
            all.push((body.line(0), format!("a `dyn {name}` may be one of the box, which does something else")));
        }
        // A method of another trait may have the name: that of an error returns one.
        let gives_error = |sig: &syn::Signature| {
            let whole = sig.output.span().byte_range();
            sig.ident == "provide"
                || self.file.text.get(whole).is_some_and(|ty| ty.contains("Error") || ty.contains("Fail"))
        };
        if let Some(sig) = sig
            && ["source", "cause", "provide"].iter().any(|name| sig.ident == name)
            && has_member
            && gives_error(sig)
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
        let is_test = is_of_tests(attributes);
        self.tests += usize::from(is_test);
        if self.tests == 0 {
            visit(self);
        }
        self.tests -= usize::from(is_test);
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        self.test(&node.attrs, |search| visit::visit_item_mod(search, node));
    }

    fn visit_item_const(&mut self, node: &'ast syn::ItemConst) {
        self.test(&node.attrs, |search| search.code(node.span().byte_range(), None));
    }

    fn visit_item_static(&mut self, node: &'ast syn::ItemStatic) {
        self.test(&node.attrs, |search| search.code(node.span().byte_range(), None));
    }

    fn visit_item_macro(&mut self, node: &'ast syn::ItemMacro) {
        self.test(&node.attrs, |search| search.code(node.span().byte_range(), None));
    }

    fn visit_impl_item_const(&mut self, node: &'ast syn::ImplItemConst) {
        self.test(&node.attrs, |search| search.code(node.span().byte_range(), None));
    }

    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.attributes(&node.ident, &node.attrs);
        node.fields.iter().for_each(|field| self.code(field.ty.span().byte_range(), None));
        if node.ident == self.subject.owner {
            self.source(&node.attrs, None, &node.fields);
        }
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.attributes(&node.ident, &node.attrs);
        if node.ident == self.subject.owner {
            for variant in &node.variants {
                let is_it = words(&self.subject.changed.item).any(|word| variant.ident == word);
                if is_it {
                    self.source(&node.attrs, Some(variant), &variant.fields);
                }
            }
        }
    }

    fn visit_item_union(&mut self, node: &'ast syn::ItemUnion) {
        if self.subject.holders.contains(&node.ident.to_string()) {
            self.add(node.span().start().line, format!("a union: the bytes of {} change", node.ident));
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let name = match &*node.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let name = name.unwrap_or_default();
        if let Some((_, path, _)) = &node.trait_
            && self.subject.holders.contains(&name)
        {
            let of_trait = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            let line = node.span().start().line;
            if node.unsafety.is_some() && !["Send", "Sync"].contains(&of_trait.as_str()) {
                self.add(line, format!("`unsafe impl {of_trait} for {name}` promises what may no longer hold"));
            } else if self.seen.of_bytes.contains(&of_trait) {
                self.add(line, format!("a method of {of_trait} sees, or makes, the bytes of {name}, which change"));
            }
        }
        self.own.push(name);
        visit::visit_item_impl(self, node);
        self.own.pop();
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.test(&node.attrs, |search| search.function(&node.sig, &node.block));
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.test(&node.attrs, |search| search.function(&node.sig, &node.block));
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
    }
}

/// Returns an attribute with what is in its parentheses, and its line; those that a `cfg_attr` may give.
fn lists(attribute: &syn::Attribute) -> Vec<(String, String, usize)> {
    let syn::Meta::List(list) = &attribute.meta else { return Vec::new() };
    let line = attribute.span().start().line;
    let last_segment = |path: &syn::Path| path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    if !list.path.is_ident("cfg_attr") {
        return vec![(last_segment(&list.path), list.tokens.to_string(), line)];
    }
    let given = list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated);
    let given = given.into_iter().flatten().skip(1);
    given
        .filter_map(|of_cfg| {
            of_cfg.require_list().ok().map(|list| (last_segment(&list.path), list.tokens.to_string(), line))
        })
        .collect()
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
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let mut all = Vec::new();
        let mut word: Option<Bytes> = None;
        let text = self.text;
        for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
            if is_word(letter) {
                word = Some(word.map_or(at, |word| word.start)..at + letter.len_utf8());
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
    for (at, letter) in text.char_indices() {
        depth += i32::from(letter == open) - i32::from(letter == close);
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
        found.into_iter().map(|item| item.line).collect()
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
            ("E.d", "fn f() -> E { any() } fn any<T>() -> T { g() } fn g<T>() -> T { unsafe { zeroed() } }"),
            (
                "K::V",
                "impl Z for K {} trait Z: Sized { unsafe fn z() -> Self { unsafe { MaybeUninit::zeroed().assume_init() } } }",
            ),
            (
                "E.d",
                "fn f(e: &E) -> &[u8] { e.raw() } trait R { fn raw(&self) -> &[u8] { from_raw_parts(self as *const _ as *const u8, 8) } } impl<T> R for T {}",
            ),
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
            "fn write_bytes(b: &[u8]) {} fn f(e: &E) { write_bytes(e.d.name()) }",
            "fn f() -> E { new() } fn new<T>() -> T { unsafe { zeroed() } } fn z() -> u8 { unsafe { zeroed() } }",
        ] {
            assert_eq!(seen("E.d", &format!("{types}{text}")), [0; 0], "{text}");
        }
    }

    #[test]
    fn layouts_and_drops_are_named() {
        let types = "struct E { d: D }\nenum K { V(D), W }\n";
        for (item, text) in [
            ("E.d", "const N: usize = size_of::<E>();"),
            ("E.d", "impl E { const N: usize = size_of::<Self>(); }"),
            ("E.d", "struct P([u8; size_of::<E>()]);"),
            ("E.d", "static L: Layout = Layout::new::<E>();"),
            ("E.d", "const_assert!(size_of::<E>() == 8);"),
            ("E.d", "#[cfg_attr(windows, derive(Clone), repr(C))] struct P { e: E }"),
            ("E.d", "fn f() -> bool { needs_drop::<E>() }"),
            ("E.d", "fn f(e: &E) -> E { unsafe { ptr::read(e) } }"),
            ("E.d", "fn f(e: E) { forget(e) }"),
            ("E.d", "fn f(e: E) -> ManuallyDrop<E> { g(e) }"),
            ("E.d", "type O = D; fn f(x: &dyn Error) -> bool { x.downcast_ref::<O>().is_some() }"),
        ] {
            assert_eq!(seen(item, &format!("{types}{text}")), [3], "{text}");
        }
        for text in [
            "const N: usize = size_of::<D>();",
            "#[cfg(test)] const N: usize = size_of::<E>();",
            "#[cfg_attr(windows, repr(align(64)))] struct P { e: E }",
            "type O = Other; fn f(x: &dyn Error) -> bool { x.downcast_ref::<O>().is_some() }",
        ] {
            assert_eq!(seen("E.d", &format!("{types}{text}")), [0; 0], "{text}");
        }
    }

    /// What an `impl` for boxes does not pass on is another method for a box.
    #[test]
    fn other_methods_of_a_box_are_named() {
        let with = |of_box: &str, uses: &str| {
            let text = "enum K { V(D), W }\ntrait T { fn a(&self) -> u8 { 1 } fn b(&self) -> u8; fn c(&self) {} } impl T for D { fn a(&self) -> u8 { 2 } }\n";
            seen("K::V", &format!("{text}{of_box}\n{uses}"))
        };
        let uses = |call: &str| format!("fn f(k: &K) -> u8 {{ match k {{ K::V(d) => {call}, K::W => 0 }} }}");
        let passes = "impl<X: T> T for Box<X> { fn b(&self) -> u8 { (**self).b() } }";
        assert_eq!(with(passes, &uses("d.a()")), [4], "`a` is not passed on");
        assert!(with(passes, &uses("d.b()")).is_empty() && with(passes, &uses("d.c()")).is_empty());
        assert!(with("", &uses("d.a()")).is_empty());
        assert_eq!(with("impl T for Box<D> { fn b(&self) -> u8 { 2 } }", &uses("d.b()")), [4]);
        assert_eq!(with(passes, &format!("fn g<X: T>(x: &X) -> u8 {{ x.a() }} {}", uses("g(d)"))), [4]);
        let named = "impl<X> T for X { fn b(&self) -> u8 { type_name::<X>().len() as u8 } }";
        assert_eq!(with(named, &uses("d.b()")), [4]);
        assert_eq!(with("fn g(x: &dyn Any) -> bool { x.is::<u8>() }", &uses("u8::from(g(d))")), [4]);
    }

    #[test]
    fn sources_of_errors_are_named_if_something_downcasts() {
        let with = |attribute: &str, rest: &str| {
            seen("K::V", &format!("#[derive(Debug, Error)]\nenum K {{\n#[error(\"x\")] V({attribute} D) }}\n{rest}"))
        };
        let asks = "fn f(x: &dyn Error) { x.downcast_ref::<Other>(); }";
        assert_eq!(with("#[source]", asks), [3]);
        assert_eq!(with("#[from]", asks), [3]);
        assert!(with("", asks).is_empty() && with("#[source]", "").is_empty());
    }

    #[test]
    fn a_fixed_hasher_has_an_order() {
        let with = |from: &str, text: &str| {
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
        assert!(!with("HashMap<String, (u8, u8)>", std) && !with("BTreeMap<u8, u8>", ""));
        assert!(!with("std::collections::HashMap<u8, u8>", "") && !with("HashMap<u8, u8, RandomState>", std));
        assert!(
            with("HashMap<u8, u8, BuildHasherDefault<F>>", std)
                && with("HashMap<u8, u8>", "use fxhash::FxHashMap as HashMap;")
        );
        assert!(with("HashMap<u8, u8>", &format!("{std}\nuse fxhash::FxHashMap as HashMap;")));
        assert!(with("HashMap<u8, u8>", "type HashMap<K, V> = std::collections::HashMap<K, V, F>;"));
    }
}
