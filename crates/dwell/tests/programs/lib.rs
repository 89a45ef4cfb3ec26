//! Programs of random types, and the same programs with random changes, for the test `weigh_what_if`.
//!
//! They are the same in every build: the seeds are fixed.
#![allow(
    clippy::format_push_string,
    clippy::missing_panics_doc,
    clippy::range_plus_one,
    clippy::write_with_newline,
    reason = "a generator of programs"
)]

use proc_macro::TokenStream;
use std::fmt::Write;

const PROGRAMS: u64 = 48;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n as u64).unwrap()
    }
}

#[derive(Clone, PartialEq)]
enum Ty {
    Leaf(&'static str),
    Opt(Box<Ty>),
    Bx(Box<Ty>),
    Vec(Box<Ty>),
    Hash(&'static str, Box<Ty>),
    BTree(&'static str, Box<Ty>),
    List(Box<Ty>),
    Rc(Box<Ty>),
    Slice(Box<Ty>),
    Tup(Vec<Ty>),
    Arr(Box<Ty>),
    Named(usize),
    /// `G<T>`
    Generic(Box<Ty>),
}

struct Def {
    /// The variants; a struct has one.
    variants: Vec<Vec<Ty>>,
    is_enum: bool,
    is_c: bool,
    /// Whether a `Sparse` may hold the type.
    is_default: bool,
}

/// A change of a field of a definition, of a part of a field, or of a variant.
#[derive(Clone)]
struct Change {
    def: usize,
    variant: usize,
    /// `None`: all fields of the variant.
    field: Option<usize>,
    parts: Vec<&'static str>,
    kind: &'static str,
}

const LEAVES: &[&str] = &[
    "u8",
    "u16",
    "u32",
    "u64",
    "f64",
    "bool",
    "char",
    "String",
    "String",
    "Box<str>",
    "[u8; 3]",
    "[u64; 9]",
    "()",
    "std::num::NonZero<u32>",
];
const DEFAULTS: &[&str] = &["u8", "u16", "u64", "bool", "String", "[u64; 9]", "f64", "char"];

struct Module<'r> {
    rng: &'r mut Rng,
    defs: Vec<Def>,
    count: usize,
    changes: Vec<Change>,
}

/// Returns the name of a field of the generic struct that each module has: `G<T> { a: T, b: Option<Box<T>>, c: String,
/// d: [u64; 9] }`. Its number follows those of the other definitions.
fn generic_field(field: usize) -> &'static str {
    ["a", "b", "c", "d"][field]
}

impl Module<'_> {
    /// Returns a random type; `of` is the number of the definition that contains it. Types that are not behind a
    /// pointer are defined before it.
    fn ty(&mut self, def: usize, depth: usize, is_behind: bool, is_last_resort: bool) -> Ty {
        let roll = if depth == 0 { self.rng.below(5) } else { self.rng.below(16) };
        let inner = |behind: bool, this: &mut Self| Box::new(this.ty(def, depth - 1, behind, is_last_resort));
        match roll {
            0..=2 => Ty::Leaf(LEAVES[self.rng.below(LEAVES.len())]),
            3 | 4 => {
                let named = if is_behind { self.rng.below(self.count) } else { self.rng.below(def.max(1)) };
                if !is_behind && def == 0 { Ty::Leaf("u64") } else { Ty::Named(named) }
            }
            5..=7 => Ty::Opt(inner(is_behind, self)),
            8 => {
                // A plain box must not close a cycle, which would have no finite value; an enum has a variant that ends
                // it.
                let inside = inner(is_last_resort, self);
                if is_last_resort { Ty::Bx(inside) } else { Ty::Opt(Box::new(Ty::Bx(inner(true, self)))) }
            }
            9 => Ty::Vec(inner(true, self)),
            10 => Ty::Hash("u32", inner(true, self)),
            11 => Ty::BTree("u16", inner(true, self)),
            12 => match self.rng.below(3) {
                0 => Ty::List(inner(true, self)),
                1 => Ty::Rc(inner(false, self)),
                _ => Ty::Slice(inner(true, self)),
            },
            13 => Ty::Tup(vec![*inner(is_behind, self), *inner(is_behind, self)]),
            14 => Ty::Arr(inner(is_behind, self)),
            _ => Ty::Generic(inner(is_behind, self)),
        }
    }

    fn make_defs(&mut self) {
        for def in 0..self.count {
            let kind = self.rng.below(8);
            let (is_enum, is_c, is_default) = (kind < 3, kind == 3, kind > 5);
            let variants = if is_enum { 2 + self.rng.below(4) } else { 1 };
            let mut made = Vec::new();
            for variant in 0..variants {
                let fields = if is_enum { self.rng.below(4) } else { 1 + self.rng.below(5) };
                let fields: Vec<Ty> = (0..fields)
                    .map(|_| {
                        if is_default || is_enum && variant == 0 {
                            let leaf = Ty::Leaf(DEFAULTS[self.rng.below(DEFAULTS.len())]);
                            if self.rng.below(3) == 0 { Ty::Opt(Box::new(leaf)) } else { leaf }
                        } else {
                            self.ty(def, 3, false, is_enum)
                        }
                    })
                    .collect();
                made.push(fields);
            }
            self.defs.push(Def { variants: made, is_enum, is_c, is_default });
        }
    }

    /// Collects all possible changes in a type, with the path of parts that leads to each.
    fn sites(
        &self,
        ty: &Ty,
        parts: &mut Vec<&'static str>,
        is_top: bool,
        found: &mut Vec<(Vec<&'static str>, &'static str)>,
    ) {
        let mut note = |kind| found.push((parts.clone(), kind));
        let is_defaulted = |ty: &Ty| matches!(ty, Ty::Named(def) if self.defs[*def].is_default);
        match ty {
            Ty::Leaf("String") => ["exact", "thin"].into_iter().for_each(&mut note),
            Ty::Leaf("Box<str>") => note("thin"),
            Ty::Vec(element) => {
                note("exact");
                if **element != Ty::Leaf("()") {
                    note("thin");
                }
            }
            Ty::Slice(element) if **element != Ty::Leaf("()") => note("thin"),
            Ty::Hash(..) | Ty::BTree(..) => note("sorted"),
            _ => {}
        }
        if is_top || matches!(parts.last(), Some(&"[]" | &"value")) {
            match ty {
                Ty::Opt(inner) if matches!(**inner, Ty::Named(_) | Ty::Tup(_) | Ty::Arr(_) | Ty::Leaf("[u64; 9]")) => {
                    note("boxed");
                    if is_defaulted(inner) {
                        note("sparse");
                    }
                }
                Ty::Named(_) | Ty::Tup(_) | Ty::Leaf("[u64; 9]") => {
                    note("boxed");
                    note("boxed_always");
                    if is_defaulted(ty) {
                        note("sparse");
                    }
                }
                _ => {}
            }
        }
        let mut go = |inner: &Ty, part| {
            parts.push(part);
            self.sites(inner, parts, false, found);
            parts.pop();
        };
        match ty {
            Ty::Opt(inner) => go(inner, "Some"),
            Ty::Bx(inner) | Ty::Rc(inner) => go(inner, "*"),
            Ty::Vec(inner) | Ty::List(inner) | Ty::Arr(inner) => go(inner, "[]"),
            Ty::Hash(_, inner) | Ty::BTree(_, inner) => go(inner, "value"),
            _ => {}
        }
    }

    fn choose_changes(&mut self) {
        let mut all: Vec<Change> = Vec::new();
        for (number, def) in self.defs.iter().enumerate() {
            for (variant, fields) in def.variants.iter().enumerate() {
                if def.is_enum && !fields.is_empty() {
                    let kind = "boxed_variant";
                    all.push(Change { def: number, variant, field: None, parts: Vec::new(), kind });
                }
                for (field, ty) in fields.iter().enumerate().filter(|_| !def.is_default) {
                    let mut found = Vec::new();
                    self.sites(ty, &mut Vec::new(), true, &mut found);
                    all.extend(found.into_iter().map(|(parts, kind)| Change {
                        def: number,
                        variant,
                        field: Some(field),
                        parts,
                        kind,
                    }));
                }
            }
        }
        // The fields of the generic struct itself.
        let of_generic =
            |field, kind| Change { def: self.count, variant: 0, field: Some(field), parts: Vec::new(), kind };
        all.extend([
            of_generic(2, "exact"),
            of_generic(2, "thin"),
            of_generic(3, "boxed"),
            of_generic(3, "boxed_always"),
        ]);
        for _ in 0..1 + self.rng.below(5) {
            let change = all[self.rng.below(all.len())].clone();
            let is_same = |other: &Change| {
                other.def == change.def
                    && other.variant == change.variant
                    && other.field == change.field
                    && other.parts == change.parts
            };
            if !self.changes.iter().any(is_same) {
                self.changes.push(change);
            }
        }
    }

    fn change(&self, def: usize, variant: usize, field: Option<usize>, parts: &[&str]) -> Option<&'static str> {
        let is_it = |change: &&Change| {
            change.def == def && change.variant == variant && change.field == field && change.parts == parts
        };
        self.changes.iter().find(is_it).map(|change| change.kind)
    }

    /// Returns the source of a type, and an expression that makes a value of it.
    fn written(
        &self,
        ty: &Ty,
        at: (usize, usize, usize),
        parts: &mut Vec<&'static str>,
        changed: bool,
    ) -> (String, String) {
        let mut part = |inner: &Ty, name| {
            parts.push(name);
            let made = self.written(inner, at, parts, changed);
            parts.pop();
            made
        };
        let (text, make) = match ty {
            Ty::Leaf(name) => ((*name).to_owned(), format!("m::<{name}>(g)")),
            Ty::Named(def) => (format!("T{def}"), format!("T{def}::make(g)")),
            Ty::Opt(inner) => {
                let (ty, make) = part(inner, "Some");
                (format!("Option<{ty}>"), format!("option(g, |g| {make})"))
            }
            Ty::Bx(inner) => {
                let (ty, make) = part(inner, "*");
                (format!("Box<{ty}>"), format!("Box::new({make})"))
            }
            Ty::Rc(inner) => {
                let (ty, make) = part(inner, "*");
                (format!("Rc<{ty}>"), format!("Rc::new({make})"))
            }
            Ty::Vec(inner) => {
                let (ty, make) = part(inner, "[]");
                (format!("Vec<{ty}>"), format!("vec(g, |g| {make})"))
            }
            Ty::Slice(inner) => {
                let (ty, make) = part(inner, "slice");
                (format!("Box<[{ty}]>"), format!("vec(g, |g| {make}).into_boxed_slice()"))
            }
            Ty::List(inner) => {
                let (ty, make) = part(inner, "[]");
                (format!("LinkedList<{ty}>"), format!("list(g, |g| {make})"))
            }
            Ty::Hash(key, inner) => {
                let (ty, make) = part(inner, "value");
                (format!("Map<{key}, {ty}>"), format!("map::<{key}, _>(g, |g| {make})"))
            }
            Ty::BTree(key, inner) => {
                let (ty, make) = part(inner, "value");
                (format!("BTreeMap<{key}, {ty}>"), format!("sorted::<{key}, _>(g, |g| {make})"))
            }
            Ty::Tup(all) => {
                let all: Vec<(String, String)> = all.iter().map(|inner| part(inner, "tuple")).collect();
                let join = |part: fn(&(String, String)) -> &String| {
                    all.iter().map(part).cloned().collect::<Vec<_>>().join(", ")
                };
                (format!("({})", join(|it| &it.0)), format!("({})", join(|it| &it.1)))
            }
            Ty::Arr(inner) => {
                let (ty, make) = part(inner, "[]");
                (format!("[{ty}; 2]"), format!("[{make}, {make}]"))
            }
            Ty::Generic(inner) => {
                let (ty, make) = part(inner, "generic");
                (format!("G<{ty}>"), format!("G::make(g, |g| {make})"))
            }
        };
        match self.change(at.0, at.1, Some(at.2), parts).filter(|_| changed) {
            None => (text, make),
            Some(kind) => after(ty, kind, &text, &make),
        }
    }

    fn module(&self, changed: bool) -> String {
        let mut out = String::new();
        let at = |field| (self.count, 0, field);
        let (c, make_c) = self.written(&Ty::Leaf("String"), at(2), &mut Vec::new(), changed);
        let (d, make_d) = self.written(&Ty::Leaf("[u64; 9]"), at(3), &mut Vec::new(), changed);
        let _ = write!(
            out,
            "#[derive(Weigh)] pub struct G<T> {{ a: T, b: Option<Box<T>>, c: {c}, d: {d} }}\n\
             impl<T> G<T> {{ fn make(g: &mut Gen, mut inner: impl FnMut(&mut Gen) -> T) -> Self {{ g.nested(|g| G {{ \
             a: inner(g), b: option(g, |g| Box::new(inner(g))), c: {make_c}, d: {make_d} }}) }} }}\n"
        );
        for (number, def) in self.defs.iter().enumerate() {
            self.def(number, def, changed, &mut out);
        }
        let fields: Vec<String> = (0..self.count).map(|def| format!("T{def}")).collect();
        let makes: Vec<String> = (0..self.count).map(|def| format!("vec(g, |g| T{def}::make(g))")).collect();
        let types: Vec<String> = fields.iter().map(|ty| format!("Vec<{ty}>")).collect();
        let _ = write!(
            out,
            "pub fn make(g: &mut Gen) -> ({}, Vec<G<String>>) {{ ({}, vec(g, |g| G::make(g, m::<String>))) }}\n",
            types.join(", "),
            makes.join(", ")
        );
        out
    }

    fn def(&self, number: usize, def: &Def, changed: bool, out: &mut String) {
        let derive =
            if def.is_default && !def.is_enum { "#[derive(Weigh, Default, DeriveSparse)]" } else { "#[derive(Weigh)]" };
        let repr = if def.is_c { " #[repr(C)]" } else { "" };
        let field = |variant: usize, field: usize, ty: &Ty| {
            self.written(ty, (number, variant, field), &mut Vec::new(), changed)
        };
        let fields = |variant: usize, fields: &[Ty]| -> (Vec<String>, Vec<String>) {
            fields.iter().enumerate().map(|(index, ty)| field(variant, index, ty)).unzip()
        };
        if !def.is_enum {
            let (types, makes) = fields(0, &def.variants[0]);
            let types: Vec<String> = types.iter().enumerate().map(|(n, ty)| format!("f{n}: {ty}")).collect();
            let makes: Vec<String> = makes.iter().enumerate().map(|(n, make)| format!("f{n}: {make}")).collect();
            let rare = if def.is_default { "if g.below(3) != 0 { return T::default() } " } else { "" };
            let rare = rare.replace("T::", &format!("T{number}::"));
            let _ = write!(
                out,
                "{derive}{repr} pub struct T{number} {{ {} }}\nimpl T{number} {{ fn make(g: &mut Gen) -> Self {{ {rare}g.nested(|g| \
                 T{number} {{ {} }}) }} }}\n",
                types.join(", "),
                makes.join(", ")
            );
            return;
        }
        let (mut variants, mut arms) = (Vec::new(), Vec::new());
        for (variant, all) in def.variants.iter().enumerate() {
            let (types, makes) = fields(variant, all);
            let (types, makes) = (types.join(", "), makes.join(", "));
            let is_boxed = changed && self.change(number, variant, None, &[]).is_some();
            let (types, makes) = match (all.len(), is_boxed) {
                (0, _) => (String::new(), String::new()),
                (1, true) => (format!("(Box<{types}>)"), format!("(Box::new({makes}))")),
                (_, true) => (format!("(Box<({types})>)"), format!("(Box::new(({makes})))")),
                _ => (format!("({types})"), format!("({makes})")),
            };
            variants.push(format!("V{variant}{types}"));
            let pattern = if variant + 1 == def.variants.len() { "_".to_owned() } else { variant.to_string() };
            arms.push(format!("{pattern} => T{number}::V{variant}{makes}"));
        }
        let count = def.variants.len();
        let _ = write!(
            out,
            "{derive} pub enum T{number} {{ {} }}\nimpl T{number} {{ fn make(g: &mut Gen) -> Self {{ let n = g.below({count}); \
             let n = if g.is_deep() {{ 0 }} else {{ n }}; g.nested(|g| match n {{ {} }}) }} }}\n",
            variants.join(", "),
            arms.join(", ")
        );
    }

    fn path(&self, change: &Change) -> String {
        let mut path = if change.def == self.count {
            "G".to_owned()
        } else if self.defs[change.def].is_enum {
            format!("T{}::V{}", change.def, change.variant)
        } else {
            format!("T{}", change.def)
        };
        if let Some(field) = change.field {
            path.push('.');
            if change.def == self.count {
                path.push_str(generic_field(field));
            } else if self.defs[change.def].is_enum {
                path.push_str(&field.to_string());
            } else {
                path.push_str(&format!("f{field}"));
            }
        }
        for part in &change.parts {
            path.push(' ');
            path.push_str(part);
        }
        path
    }
}

/// Returns the type and the expression after a change.
fn after(ty: &Ty, kind: &str, text: &str, make: &str) -> (String, String) {
    let inner = text.strip_prefix("Option<").and_then(|text| text.strip_suffix('>'));
    let argument = || text.split_once('<').unwrap().1.strip_suffix('>').unwrap();
    match (kind, ty) {
        ("exact", Ty::Leaf(_)) => ("Box<str>".into(), format!("{make}.into_boxed_str()")),
        ("exact", _) => (format!("Box<[{}]>", argument()), format!("{make}.into_boxed_slice()")),
        ("thin", Ty::Slice(_)) => {
            let element = argument().strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap();
            (format!("ThinSlice<{element}>"), format!("ThinSlice::from({make})"))
        }
        ("thin", Ty::Leaf(_)) => ("ThinStr".into(), format!("ThinStr::new(&{make})")),
        ("thin", _) => (format!("ThinSlice<{}>", argument()), format!("ThinSlice::from({make})")),
        ("sorted", _) => (format!("SortedMap<{}>", argument()), format!("{make}.into_iter().collect()")),
        ("boxed", Ty::Opt(_)) => (format!("Option<Box<{}>>", inner.unwrap()), format!("{make}.map(Box::new)")),
        ("boxed", _) => (format!("Option<Box<{text}>>"), format!("boxed({make})")),
        ("boxed_always", _) => (format!("Box<{text}>"), format!("Box::new({make})")),
        ("sparse", Ty::Opt(_)) => {
            (format!("Sparse<{}>", inner.unwrap()), format!("{make}.map_or_else(Sparse::empty, Sparse::new)"))
        }
        ("sparse", _) => (format!("Sparse<{text}>"), format!("Sparse::new({make})")),
        _ => unreachable!("no change `{kind}` of `{text}`"),
    }
}

/// Declares a module for each program, with the modules `before` and `after`, and lists them with their changes as the
/// argument of `programs!`.
#[proc_macro]
pub fn declare(_: TokenStream) -> TokenStream {
    let mut out = String::new();
    let mut table = String::from("programs! {\n");
    for number in 0..PROGRAMS {
        let mut rng = Rng((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let count = 4 + rng.below(4);
        let mut module = Module { rng: &mut rng, defs: Vec::new(), count, changes: Vec::new() };
        module.make_defs();
        module.choose_changes();
        for (name, changed) in [("before", false), ("after", true)] {
            let head = if changed {
                String::new()
            } else {
                format!("#[rustfmt::skip] #[allow(warnings, clippy::all, clippy::pedantic)] mod p{number} {{\n")
            };
            let _ = write!(out, "{head}pub mod {name} {{ use super::super::*;\n{}}}\n", module.module(changed));
        }
        out.push_str("}\n");
        let changes: Vec<String> =
            module.changes.iter().map(|change| format!("({:?}, {:?})", change.kind, module.path(change))).collect();
        let _ = writeln!(table, "    p{number}: [{}];", changes.join(", "));
    }
    out.push_str(&table);
    out.push_str("}\n");
    out.parse().expect("the programs are written in Rust")
}
