//! The user's types: declarations as they stand in the source, and types with their arguments in place.

use super::items::{Item, Shape, Struct};
use super::source::Source;
use dwell_model::Layout;
use dwell_model::layout::{array, enumeration, option, structure, tuple};
use std::collections::{BTreeSet, HashMap};
use syn::{Expr, ExprLit, GenericArgument, Lit, PathArguments, Type};

/// An index into [`Types::defs`].
pub(super) type DefId = usize;

/// A type with its arguments in place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ty {
    Unit,
    Bool,
    Char,
    Int {
        bits: u32,
        signed: bool,
        nonzero: bool,
    },
    Float {
        bits: u32,
    },
    Number,
    Value,
    String,
    /// `Box<str>`, `Rc<str>`, `Arc<str>`: the bytes before the text in its block.
    BoxStr(u64),
    ThinStr,
    /// `&'a str`
    Borrowed,
    Option(Box<Ty>),
    /// `Box<T>`, `Rc<T>`, `Arc<T>`: the bytes before the value in its block.
    Boxed(Box<Ty>, u64),
    Seq(Seq, Box<Ty>),
    /// The key and the value.
    Map(Map, Box<Ty>, Box<Ty>),
    Array(Box<Ty>, u64),
    Tuple(Vec<Ty>),
    Named(DefId),
    /// A type that the source does not declare. It takes any value, and its size is not known.
    Unknown(String),
}

impl Ty {
    /// Calls `f` with the declarations that a type names.
    fn each_named(&self, f: &mut impl FnMut(DefId)) {
        match self {
            Self::Named(id) => f(*id),
            Self::Option(inner) | Self::Boxed(inner, _) | Self::Seq(_, inner) | Self::Array(inner, _) => {
                inner.each_named(f);
            }
            Self::Map(_, key, value) => [key, value].into_iter().for_each(|ty| ty.each_named(f)),
            Self::Tuple(all) => all.iter().for_each(|ty| ty.each_named(f)),
            _ => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seq {
    Vec,
    VecDeque,
    BoxSlice,
    ThinSlice,
    HashSet,
    BTreeSet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Map {
    Hash,
    BTree,
    Index,
    Sorted,
    /// `serde_json::Map`
    Json,
}

/// The most types inside each other.
const DEEPEST: usize = 512;
/// The most declarations with their arguments.
const MOST: usize = 4096;

/// A declaration with arguments.
#[derive(Debug)]
pub(super) struct Def<'s> {
    pub(super) name: String,
    pub(super) item: &'s Item,
    /// The types of the fields; for an enum, of each variant's.
    pub(super) parts: Vec<Vec<Ty>>,
}

/// The module of a declaration, and its parameters with their types.
type Scope<'b> = (&'b str, &'b HashMap<String, Ty>);

/// The types that are reached from one.
pub(super) struct Types<'s> {
    source: &'s Source,
    pub(super) defs: Vec<Def<'s>>,
    known: HashMap<String, DefId>,
    /// The number of types around the present one.
    depth: usize,
    /// The names of types that the source does not declare.
    pub(super) unknown: Vec<String>,
}

impl<'s> Types<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        Self { source, defs: Vec::new(), known: HashMap::new(), depth: 0, unknown: Vec::new() }
    }

    /// Returns the type with this name or path, without arguments.
    pub(super) fn named(&mut self, name: &str) -> Option<Ty> {
        let path: Vec<String> = name.split("::").map(ToOwned::to_owned).collect();
        let found = self.source.find("", &path)?.to_owned();
        Some(self.declared(&found, &[]))
    }

    fn declared(&mut self, name: &str, arguments: &[Ty]) -> Ty {
        let Some(item) = self.source.items.get(name) else { return self.not_known(name) };
        let bound: HashMap<String, Ty> = item.parameters.iter().cloned().zip(arguments.iter().cloned()).collect();
        if let Shape::Alias(alias) = &item.shape {
            return self.resolve(alias, (&item.module, &bound));
        }
        let key = format!("{name}{arguments:?}");
        if let Some(&known) = self.known.get(&key) {
            return Ty::Named(known);
        }
        let id = self.defs.len();
        self.known.insert(key, id);
        self.defs.push(Def { name: item.name.clone(), item, parts: Vec::new() });
        let mut types =
            |body: &Struct| body.fields.iter().map(|field| self.resolve(&field.ty, (&item.module, &bound))).collect();
        let parts = match &item.shape {
            Shape::Struct(body) => vec![types(body)],
            Shape::Enum(body) => body.variants.iter().map(|variant| types(&variant.content)).collect(),
            Shape::Alias(_) => Vec::new(),
        };
        self.defs[id].parts = parts;
        Ty::Named(id)
    }

    /// Returns these types and all in them.
    pub(super) fn within(&self, roots: &BTreeSet<DefId>) -> BTreeSet<DefId> {
        let (mut all, mut open) = (roots.clone(), roots.iter().copied().collect::<Vec<_>>());
        while let Some(id) = open.pop() {
            for ty in self.defs[id].parts.iter().flatten() {
                ty.each_named(&mut |id| {
                    if all.insert(id) {
                        open.push(id);
                    }
                });
            }
        }
        all
    }

    fn not_known(&mut self, name: &str) -> Ty {
        if !self.unknown.iter().any(|known| known == name) {
            self.unknown.push(name.to_owned());
        }
        Ty::Unknown(name.to_owned())
    }

    fn resolve(&mut self, ty: &Type, bound: Scope<'_>) -> Ty {
        // A generic type may contain itself with ever larger arguments, and a wrong alias itself.
        if self.depth == DEEPEST || self.defs.len() == MOST {
            return self.not_known("a type inside too many others");
        }
        self.depth += 1;
        let found = self.resolve_one(ty, bound);
        self.depth -= 1;
        found
    }

    fn resolve_one(&mut self, ty: &Type, bound: Scope<'_>) -> Ty {
        match ty {
            Type::Paren(inner) => self.resolve(&inner.elem, bound),
            Type::Group(inner) => self.resolve(&inner.elem, bound),
            Type::Tuple(all) if all.elems.is_empty() => Ty::Unit,
            Type::Tuple(all) => Ty::Tuple(all.elems.iter().map(|element| self.resolve(element, bound)).collect()),
            Type::Array(array) => match &array.len {
                Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => {
                    let length = length.base10_parse().unwrap_or(0);
                    Ty::Array(Box::new(self.resolve(&array.elem, bound)), length)
                }
                _ => self.not_known("an array whose length is a constant"),
            },
            Type::Reference(reference) => match &*reference.elem {
                Type::Path(path) if path.path.is_ident("str") => Ty::Borrowed,
                _ => self.not_known("a reference"),
            },
            Type::Path(path) => self.path(path, bound),
            _ => self.not_known("a type of another kind"),
        }
    }

    fn path(&mut self, path: &syn::TypePath, bound: Scope<'_>) -> Ty {
        let Some(last) = path.path.segments.last() else { return self.not_known("?") };
        let name = last.ident.to_string();
        let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if let Some(argument) = bound.1.get(&name).filter(|_| segments.len() == 1) {
            return argument.clone();
        }
        let is_str = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident("str"));
        let arguments: Vec<&Type> = match &last.arguments {
            PathArguments::AngleBracketed(all) => {
                let types = all.args.iter().filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
                types.collect()
            }
            _ => Vec::new(),
        };
        if let Some(found) = self.source.find(bound.0, &segments) {
            let arguments: Vec<Ty> = arguments.iter().map(|argument| self.resolve(argument, bound)).collect();
            return self.declared(found, &arguments);
        }
        let is_json = path.path.segments.len() > 1 && path.path.segments[0].ident == "serde_json";
        let mut inner = |index: usize| Box::new(self.resolve(arguments[index], bound));
        let slice = |ty: &Type| match ty {
            Type::Slice(slice) => Some((*slice.elem).clone()),
            _ => None,
        };
        let scalar = match &*name {
            "bool" => Some(Ty::Bool),
            "char" => Some(Ty::Char),
            "String" => Some(Ty::String),
            "ThinStr" => Some(Ty::ThinStr),
            "Value" => Some(Ty::Value),
            "Number" => Some(Ty::Number),
            "f64" => Some(Ty::Float { bits: 64 }),
            "f32" => Some(Ty::Float { bits: 32 }),
            "Map" if is_json => Some(Ty::Map(Map::Json, Box::new(Ty::String), Box::new(Ty::Value))),
            _ => integer(&name, false).or_else(|| integer(&name.strip_prefix("NonZero")?.to_ascii_lowercase(), true)),
        };
        if let Some(scalar) = scalar {
            return scalar;
        }
        let before = match &*name {
            "Rc" | "Arc" => 16,
            _ => 0,
        };
        match (&*name, &arguments[..]) {
            ("Box" | "Rc" | "Arc", [inner]) if is_str(inner) => Ty::BoxStr(before),
            ("Cow", [inner]) if is_str(inner) => Ty::String,
            ("Box", [inner]) if slice(inner).is_some() => {
                let element = slice(inner).map_or(Ty::Unit, |element| self.resolve(&element, bound));
                Ty::Seq(Seq::BoxSlice, Box::new(element))
            }
            ("Box" | "Rc" | "Arc" | "Sparse", [_]) => Ty::Boxed(inner(0), before),
            ("Option", [_]) => Ty::Option(inner(0)),
            ("Vec", [_]) => Ty::Seq(Seq::Vec, inner(0)),
            ("VecDeque", [_]) => Ty::Seq(Seq::VecDeque, inner(0)),
            ("ThinSlice", [_]) => Ty::Seq(Seq::ThinSlice, inner(0)),
            ("HashSet", [_, ..]) => Ty::Seq(Seq::HashSet, inner(0)),
            ("BTreeSet", [_]) => Ty::Seq(Seq::BTreeSet, inner(0)),
            ("HashMap", [_, _, ..]) => Ty::Map(Map::Hash, inner(0), inner(1)),
            ("BTreeMap", [_, _]) => Ty::Map(Map::BTree, inner(0), inner(1)),
            ("IndexMap", [_, _, ..]) => Ty::Map(Map::Index, inner(0), inner(1)),
            ("SortedMap", [_, _]) => Ty::Map(Map::Sorted, inner(0), inner(1)),
            ("NonZero", [_]) => match *inner(0) {
                Ty::Int { bits, signed, .. } => Ty::Int { bits, signed, nonzero: true },
                other => other,
            },
            _ => self.not_known(&segments.join("::")),
        }
    }

    /// Returns the layouts of all declarations, and whether all are certain.
    pub(super) fn layouts(&self) -> Layouts<'_, 's> {
        Layouts { types: self, named: vec![None; self.defs.len()], is_exact: true }
    }
}

/// Returns the integer with this name.
fn integer(name: &str, nonzero: bool) -> Option<Ty> {
    let signed = name.starts_with('i');
    let bits = match name.strip_prefix(['i', 'u'])? {
        "size" => 64,
        bits @ ("8" | "16" | "32" | "64") => bits.parse().ok()?,
        _ => return None,
    };
    Some(Ty::Int { bits, signed, nonzero })
}

/// The layouts of the user's types.
pub(super) struct Layouts<'t, 's> {
    types: &'t Types<'s>,
    named: Vec<Option<Layout>>,
    /// Whether no layout was guessed.
    pub(super) is_exact: bool,
}

impl Layouts<'_, '_> {
    pub(super) fn size(&mut self, ty: &Ty) -> u64 {
        self.layout(ty).size
    }

    pub(super) fn layout(&mut self, ty: &Ty) -> Layout {
        match ty {
            Ty::Unit => Layout::NOTHING,
            Ty::Bool => Layout::BOOL,
            Ty::Char => Layout::scalar(4, (1 << 32) - 0x0011_0000),
            Ty::Int { bits, nonzero, .. } => Layout::scalar(u64::from(bits / 8), u128::from(*nonzero)),
            Ty::Float { bits } => Layout::scalar(u64::from(bits / 8), 0),
            Ty::Number => Layout::words(2, (1 << 64) - 3),
            Ty::Value => Layout { niche: Layout::scalar(1, 250).niche, ..Layout::words(4, 0) },
            Ty::String | Ty::Seq(Seq::Vec, _) => Layout::VECTOR,
            Ty::BoxStr(_) | Ty::Borrowed | Ty::Seq(Seq::BoxSlice, _) => Layout::WIDE_POINTER,
            Ty::ThinStr | Ty::Boxed(..) | Ty::Seq(Seq::ThinSlice, _) | Ty::Map(Map::Sorted, ..) => Layout::POINTER,
            Ty::Seq(Seq::VecDeque, _) => Layout::words(4, 1 << 63),
            Ty::Seq(Seq::HashSet, _) | Ty::Map(Map::Hash, ..) => Layout::words(6, 1),
            // The root is an `Option` of a pointer with a height; the length follows.
            Ty::Seq(Seq::BTreeSet, _) | Ty::Map(Map::BTree | Map::Json, ..) => Layout::words(3, 0),
            Ty::Map(Map::Index, ..) => Layout::words(9, 1 << 63),
            Ty::Option(inner) => option(self.layout(inner)),
            Ty::Array(inner, length) => array(self.layout(inner), *length),
            Ty::Tuple(all) => {
                let all: Vec<Layout> = all.iter().map(|ty| self.layout(ty)).collect();
                tuple(&all)
            }
            Ty::Named(id) => self.named(*id),
            Ty::Unknown(_) => {
                self.is_exact = false;
                Layout::words(1, 0)
            }
        }
    }

    fn named(&mut self, id: DefId) -> Layout {
        if let Some(known) = self.named[id] {
            return known;
        }
        // A type that contains itself inline does not compile; this ends the recursion.
        self.named[id] = Some(Layout::NOTHING);
        let def = &self.types.defs[id];
        self.is_exact &= !def.item.has_repr;
        let parts: Vec<Vec<Layout>> =
            def.parts.iter().map(|fields| fields.iter().map(|ty| self.layout(ty)).collect()).collect();
        let layout = match (&def.item.shape, &parts[..]) {
            (Shape::Struct(_), [fields]) => structure(fields),
            _ => enumeration(&parts),
        };
        self.named[id] = Some(layout);
        layout
    }
}
