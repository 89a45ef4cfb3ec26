//! What a value would take if some of its fields were of other types.
#![forbid(unsafe_code)]

use super::texts::Texts;
use super::tree::{Edge, Node, Tree};
use super::types::{Field, Kind, MapKind, Repr, Type};
use core::fmt;
use std_alloc::collections::BTreeMap;
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// Bytes of a pointer, and of each of a string's or vector's three words.
const WORD: u64 = size_of::<usize>() as u64;

/// A place in the program's text that can be changed: a field of a type, or what that field's type is made of.
pub(super) type SiteId = usize;

/// What was found at all nodes of one place in the program's text.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) ty: &'static Type,
    /// Number of `ty` among the types.
    pub(super) type_id: usize,
    pub(super) edge: Edge,
    /// As a person writes it: `Shape.traits`, `Shape.members key`.
    pub(super) path: String,
    pub(super) slots: u64,
    pub(super) instances: u64,
    pub(super) filled: u64,
    pub(super) heap: u64,
    pub(super) allocations: u64,
    pub(super) waste: u64,
    /// The strings, if they were read.
    pub(super) texts: Option<Texts>,
}

/// Another type for a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Change {
    /// `Option<Box<T>>` for a `T` or an `Option<T>`.
    Boxed,
    /// `Box<str>` for a `String`, `Box<[T]>` for a `Vec<T>`.
    Exact,
    /// `Box<(A, B)>` for the fields of a variant.
    Variant,
    /// `repr(Rust)` for `repr(C)`: of the type, wherever it is.
    Reordered,
}

/// What a value of a type needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    size: u64,
    align: u64,
    /// How many bit patterns are no value, at least; more than a byte has are `MANY`.
    niche: u32,
}

const MANY: u32 = 1 << 16;

/// What a value would take if some of its fields were of other types.
///
/// The prediction is made from the tree: each place of a changed type has another size, each filled box is a block more,
/// and what is given up as spare room is gone. Changes are predicted together, so that a box in a box counts once. The
/// sizes are those of `rustc` for `repr(Rust)`, where padding comes last; they are checked against the sizes that the
/// types have now, see [`is_exact`](Self::is_exact).
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use dwell::Weigh;
/// use dwell::weigh::{WhatIf, tree};
///
/// #[derive(Default, Weigh)]
/// struct Page {
///     title: String,
///     author: Option<[u64; 20]>,
/// }
///
/// let pages: Vec<Page> = (0..10).map(|_| Page::default()).collect();
/// let tree = tree(&pages);
/// let mut what_if = WhatIf::new(&tree);
/// what_if.boxed("Page.author")?; // `Option<Box<[u64; 20]>>`
/// assert_eq!(what_if.total(), 24 + 10 * (24 + 8));
/// # }
/// # Ok::<_, dwell::weigh::NoSuchField>(())
/// ```
#[derive(Debug)]
pub struct WhatIf<'t> {
    tree: &'t Tree,
    /// The types met, each once.
    pub(super) types: Vec<&'static Type>,
    pub(super) sites: Vec<Site>,
    /// The site of each node.
    site_of: Vec<SiteId>,
    keys: BTreeMap<Key, SiteId>,
    pub(super) changes: BTreeMap<SiteId, Change>,
    reordered: Vec<bool>,
}

/// No field is called so, or it cannot be changed in that way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoSuchField {
    path: String,
}

impl fmt::Display for NoSuchField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no field `{}` that can be changed so", self.path)
    }
}

impl core::error::Error for NoSuchField {}

/// The bytes and allocations of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) bytes: u64,
    pub(super) allocations: u64,
}

impl<'t> WhatIf<'t> {
    /// Nothing is changed yet.
    pub fn new(tree: &'t Tree) -> Self {
        let mut what_if = Self {
            tree,
            types: Vec::new(),
            sites: Vec::new(),
            site_of: Vec::with_capacity(tree.nodes.len()),
            keys: BTreeMap::new(),
            changes: BTreeMap::new(),
            reordered: Vec::new(),
        };
        for node in &tree.nodes {
            // A parent stands before its children.
            let owner = node.parent.map(|parent| what_if.site_of[parent]);
            let site = what_if.site(owner, node.edge, node.ty);
            what_if.site_of.push(site);
            let site = &mut what_if.sites[site];
            site.slots = site.slots.saturating_add(node.slots);
            site.instances = site.instances.saturating_add(node.instances);
            site.filled = site.filled.saturating_add(node.filled);
            site.heap = site.heap.saturating_add(node.requested);
            site.allocations = site.allocations.saturating_add(node.allocations);
            site.waste = site.waste.saturating_add(node.waste);
            if let Some(texts) = &node.texts {
                site.texts.get_or_insert_default().merge(texts);
            }
        }
        let mut next = 0;
        while next < what_if.sites.len() {
            what_if.add_inside(next);
            next += 1;
        }
        what_if.reordered = vec![false; what_if.types.len()];
        what_if
    }

    /// The field `Type.field` or `Enum::Variant.field` becomes `Option<Box<T>>`, and what is vacant becomes `None`.
    ///
    /// The type goes by its last name.
    ///
    /// # Errors
    ///
    /// If there is no such field.
    pub fn boxed(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Boxed, Site::can_be_boxed)
    }

    /// The field `Type.field`, a `String` or `Vec`, becomes `Box<str>` or `Box<[T]>`.
    ///
    /// # Errors
    ///
    /// If there is no such field.
    pub fn exact(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Exact, Site::can_be_exact)
    }

    /// The fields of the variant `Enum::Variant` move into a box.
    ///
    /// # Errors
    ///
    /// If there is no such variant.
    pub fn boxed_variant(&mut self, path: &str) -> Result<(), NoSuchField> {
        self.change(path, Change::Variant, |site| matches!(site.edge, Edge::Variant(_)))
    }

    fn change(&mut self, path: &str, change: Change, fits: fn(&Site) -> bool) -> Result<(), NoSuchField> {
        let found = self.sites.iter().position(|site| site.path == path && fits(site));
        let site = found.ok_or_else(|| NoSuchField { path: path.into() })?;
        self.apply(site, change);
        Ok(())
    }

    pub(super) fn apply(&mut self, site: SiteId, change: Change) {
        if change == Change::Reordered {
            let id = self.sites[site].type_id;
            self.reordered[id] = true;
        } else {
            self.changes.insert(site, change);
        }
    }

    pub(super) fn undo(&mut self, site: SiteId, change: Change) {
        if change == Change::Reordered {
            let id = self.sites[site].type_id;
            self.reordered[id] = false;
        } else {
            self.changes.remove(&site);
        }
    }

    /// The bytes asked for, inline and on the heap, with all changes made.
    pub fn total(&self) -> u64 {
        self.sum().bytes
    }

    /// How many allocations there would be.
    pub fn allocations(&self) -> u64 {
        self.sum().allocations
    }

    /// Whether the sizes of all changed types are known to be what `rustc` makes of them.
    ///
    /// That is so when the types as they are now have the sizes that the same rules give.
    pub fn is_exact(&self) -> bool {
        (0..self.types.len()).all(|id| {
            let now = self.modelled(id, false);
            now == self.modelled(id, true) || now.is_none_or(|layout| layout.size == self.types[id].size as u64)
        })
    }

    pub(super) fn sum(&self) -> Sum {
        let nodes = &self.tree.nodes;
        let now = nodes.iter().map(|node| i128::from(node.requested)).sum::<i128>();
        let mut bytes = i128::from(self.tree.weight.inline) + now;
        let mut allocations = self.tree.weight.allocations;

        // Places that are in line with nothing but places of their own kind.
        let alone = |node: &Node| if node.edge.is_inline() { 0 } else { i128::from(node.slots) };
        let mut places: Vec<i128> = nodes.iter().map(alone).collect();
        for node in nodes {
            bytes += self.blocks(node, &mut places);
        }
        for (index, &places) in places.iter().enumerate() {
            if places > 0 {
                bytes += places * self.growth(index);
            }
        }
        for (&site, &change) in &self.changes {
            let filled = self.sites[site].filled;
            match change {
                Change::Boxed => {
                    bytes += i128::from(filled) * i128::from(self.inner(site).size);
                    allocations += filled;
                }
                Change::Variant => {
                    bytes += i128::from(filled) * i128::from(self.variant_block(site).size);
                    allocations += filled;
                }
                Change::Exact => {
                    // The spare places of a vector are of the element's new size.
                    let waste = i128::from(self.sites[site].waste);
                    bytes -= match self.element(site) {
                        Some((new, old)) if old != 0 => waste * i128::from(new) / i128::from(old),
                        _ => waste,
                    };
                }
                Change::Reordered => {}
            }
        }
        Sum { bytes: u64::try_from(bytes.max(0)).unwrap_or(u64::MAX), allocations }
    }

    /// The bytes of an element, changed and as it is.
    fn element(&self, site: SiteId) -> Option<(u64, u64)> {
        let Kind::Sequence { element, .. } = self.sites[site].ty.kind else { return None };
        let ty = element();
        let new = match self.keys.get(&Key::Part(site, code(Edge::Element))) {
            Some(&element) => self.at(element, true),
            // Of a recursive type, whose site is elsewhere.
            None => self.of_type(self.types.iter().position(|known| known.is(ty))?),
        };
        Some((new.size, ty.size as u64))
    }

    /// By how much the blocks of `node` grow that hold more than places side by side; takes those out of `places`.
    fn blocks(&self, node: &Node, places: &mut [i128]) -> i128 {
        let child = |edge| node.children.iter().copied().find(|&child| self.edge_of(node, child, edge));
        match node.ty.kind {
            Kind::Map { map, .. } => {
                let (Some(key), Some(value)) = (child(Edge::Key), child(Edge::Value)) else { return 0 };
                let entries = i128::from(self.tree.nodes[key].slots);
                places[key] -= entries;
                places[value] -= entries;
                let old = [self.site_at(key, false), self.site_at(value, false)];
                let new = [self.site_at(key, true), self.site_at(value, true)];
                if map == MapKind::BTree {
                    return i128::from(node.allocations) * (leaf(new) - leaf(old));
                }
                entries * (i128::from(structure(&new).size) - i128::from(structure(&old).size))
            }
            // Two links or counters stand before the value.
            Kind::Sequence { contiguous: false, .. } | Kind::Pointer { shared: true, .. } => {
                let Some(&child) = node.children.first() else { return 0 };
                let block = |layout: Layout| {
                    let words = Layout { size: 2 * WORD, align: WORD, niche: 0 };
                    i128::from(up(up(words.size, layout.align) + layout.size, layout.align.max(WORD)))
                };
                if !self.tree.nodes[child].ty.is_sized {
                    return 0;
                }
                places[child] -= i128::from(node.allocations);
                i128::from(node.allocations) * (block(self.site_at(child, true)) - block(self.site_at(child, false)))
            }
            _ => 0,
        }
    }

    /// Whether `child` is that part of `node`; of a recursive type it may stand elsewhere under another name.
    fn edge_of(&self, node: &Node, child: usize, edge: Edge) -> bool {
        let own = self.tree.nodes[child].edge;
        own == edge || (edge == Edge::Value && own != Edge::Key && node.children.len() <= 2)
    }

    /// How much larger each place of a node gets.
    fn growth(&self, node: usize) -> i128 {
        i128::from(self.site_at(node, true).size) - i128::from(self.tree.nodes[node].size)
    }

    fn site_at(&self, node: usize, changed: bool) -> Layout {
        self.at(self.site_of[node], changed)
    }

    /// The site's own layout.
    fn at(&self, site: SiteId, changed: bool) -> Layout {
        let kind = if changed { self.changes.get(&site) } else { None };
        match kind {
            Some(Change::Boxed) => Layout { size: WORD, align: WORD, niche: 0 },
            Some(Change::Exact) => Layout { size: 2 * WORD, align: WORD, niche: 1 },
            _ => self.unboxed(site, changed),
        }
    }

    /// What a box in place of the site holds.
    fn inner(&self, site: SiteId) -> Layout {
        match self.sites[site].ty.kind {
            Kind::Optional { some } => match self.keys.get(&Key::Part(site, code(Edge::Optional))) {
                Some(&inner) => self.at(inner, true),
                None => own(some()),
            },
            _ => self.unboxed(site, true),
        }
    }

    fn unboxed(&self, site: SiteId, changed: bool) -> Layout {
        let Site { ty, type_id, .. } = self.sites[site];
        if !changed {
            return own(ty);
        }
        let part = |edge| {
            self.keys.get(&Key::Part(site, code(edge))).map(|&part| (self.at(part, true), own(self.sites[part].ty)))
        };
        match ty.kind {
            Kind::Struct { .. } | Kind::Enum { .. } => self.of_type(type_id),
            Kind::Optional { .. } => {
                part(Edge::Optional).map_or(own(ty), |(new, old)| changed_by(own(ty), option(new), option(old)))
            }
            Kind::Wrapper { .. } => part(Edge::Inner).map_or(own(ty), |(new, old)| changed_by(own(ty), new, old)),
            Kind::Array { len, .. } => part(Edge::Array)
                .map_or(own(ty), |(new, _)| Layout { size: new.size.saturating_mul(len as u64), ..new }),
            _ => own(ty),
        }
    }

    /// The layout of a type with all changes, checked against what it is without.
    fn of_type(&self, id: usize) -> Layout {
        let own = own(self.types[id]);
        match (self.modelled(id, false), self.modelled(id, true)) {
            (Some(old), Some(new)) if old != new => changed_by(own, new, old),
            _ => own,
        }
    }

    /// What the rules make of a struct or enum; `None` for other types.
    fn modelled(&self, id: usize, changed: bool) -> Option<Layout> {
        let ty = self.types[id];
        match ty.kind {
            Kind::Struct { fields, repr } => {
                let fields = self.fields(id, 0, fields, changed);
                Some(match repr {
                    Repr::C if !(changed && self.reordered[id]) => declared(&fields),
                    Repr::Packed => Layout { size: fields.iter().map(|field| field.size).sum(), align: 1, niche: 0 },
                    _ => structure(&fields),
                })
            }
            Kind::Enum { variants } => {
                let variants: Vec<Vec<Layout>> = variants
                    .iter()
                    .enumerate()
                    .map(|(index, variant)| {
                        let fields = self.fields(id, index, variant.fields, changed);
                        let boxed =
                            self.keys.get(&Key::Variant(id, index)).is_some_and(|site| self.changes.contains_key(site));
                        if changed && boxed { vec![Layout { size: WORD, align: WORD, niche: 1 }] } else { fields }
                    })
                    .collect();
                Some(enumeration(&variants))
            }
            _ => None,
        }
    }

    fn fields(&self, id: usize, variant: usize, fields: &[Field], changed: bool) -> Vec<Layout> {
        let of = |(index, field): (usize, &Field)| match self.keys.get(&Key::Field(id, variant, index)) {
            Some(&site) => self.at(site, changed),
            None => of_field(field),
        };
        fields.iter().enumerate().map(of).collect()
    }

    /// What a box for the fields of a variant holds.
    fn variant_block(&self, site: SiteId) -> Layout {
        let Site { ty, type_id, edge, .. } = self.sites[site];
        match (&ty.kind, edge) {
            (Kind::Enum { variants }, Edge::Variant(index)) => {
                structure(&self.fields(type_id, index, variants[index].fields, true))
            }
            _ => own(ty),
        }
    }

    /// What a site is made of.
    pub(super) fn part(&self, site: SiteId, edge: Edge) -> Option<&Site> {
        self.keys.get(&Key::Part(site, code(edge))).map(|&part| &self.sites[part])
    }

    /// The bytes of a variant's fields.
    pub(super) fn variant_size(&self, site: SiteId) -> u64 {
        self.variant_block(site).size
    }

    fn type_id(&mut self, ty: &'static Type) -> usize {
        self.types.iter().position(|known| known.is(ty)).unwrap_or_else(|| {
            self.types.push(ty);
            self.types.len() - 1
        })
    }

    /// The site of part `edge` of `owner`, which is of type `ty`; made if it is new.
    fn site(&mut self, owner: Option<SiteId>, edge: Edge, ty: &'static Type) -> SiteId {
        let type_id = self.type_id(ty);
        let Some(owner) = owner else {
            return self.add(type_id, edge, "value".into());
        };
        let of = &self.sites[owner];
        let variant = match of.edge {
            Edge::Variant(variant) => variant,
            _ => 0,
        };
        let key = match edge {
            Edge::Field(field) => Key::Field(of.type_id, variant, field),
            Edge::Variant(variant) => Key::Variant(type_id, variant),
            edge => Key::Part(owner, code(edge)),
        };
        if let Some(&found) = self.keys.get(&key) {
            return found;
        }
        let path = match (edge, &of.ty.kind, of.edge) {
            (Edge::Field(field), Kind::Enum { variants }, _) => {
                format!("{}.{}", of.path, variants[variant].fields[field].name)
            }
            (Edge::Field(field), Kind::Struct { fields, .. }, _) => {
                format!("{}.{}", short(of.ty.name()), fields[field].name)
            }
            (Edge::Variant(variant), Kind::Enum { variants }, _) => {
                format!("{}::{}", short(ty.name()), variants[variant].name)
            }
            (edge, ..) => format!("{} {}", of.path, super::tree::label_of(edge)),
        };
        let id = self.add(type_id, edge, path);
        self.keys.insert(key, id);
        id
    }

    fn add(&mut self, type_id: usize, edge: Edge, path: String) -> SiteId {
        let ty = self.types[type_id];
        let (slots, instances, filled, heap, allocations, waste) = (0, 0, 0, 0, 0, 0);
        self.sites.push(Site {
            ty,
            type_id,
            edge,
            path,
            slots,
            instances,
            filled,
            heap,
            allocations,
            waste,
            texts: None,
        });
        self.sites.len() - 1
    }

    /// Makes the sites of all that lies inside site `id`, whether a value of it was met or not.
    fn add_inside(&mut self, id: SiteId) {
        let Site { ty, edge, .. } = self.sites[id];
        let mut add_fields = |fields: &[Field]| {
            for (index, field) in fields.iter().enumerate() {
                if let Some(part) = field.part {
                    self.site(Some(id), Edge::Field(index), part());
                }
            }
        };
        match (&ty.kind, edge) {
            (Kind::Enum { variants }, Edge::Variant(variant)) => add_fields(variants[variant].fields),
            (Kind::Struct { fields, .. }, _) => add_fields(fields),
            (Kind::Enum { variants }, _) => {
                (0..variants.len()).for_each(|variant| _ = self.site(Some(id), Edge::Variant(variant), ty));
            }
            (Kind::Optional { some }, _) => _ = self.site(Some(id), Edge::Optional, some()),
            (Kind::Wrapper { inner }, _) => _ = self.site(Some(id), Edge::Inner, inner()),
            (Kind::Array { element, .. }, _) => _ = self.site(Some(id), Edge::Array, element()),
            _ => {}
        }
    }
}

/// What makes two nodes the same site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Of a type, variant (0 of a struct) and field.
    Field(usize, usize, usize),
    /// Of a type and variant.
    Variant(usize, usize),
    /// What a site is made of.
    Part(SiteId, u8),
}

impl Site {
    /// Whether it is a field that `Option<Box<_>>` can stand for.
    pub(super) fn can_be_boxed(&self) -> bool {
        // Other types that may hold nothing are no `Option`.
        let is_option = self.ty.name().starts_with("core::option::Option<");
        matches!(self.edge, Edge::Field(_)) && (is_option || !matches!(self.ty.kind, Kind::Optional { .. }))
    }

    /// Whether it is a `String` or a `Vec`.
    pub(super) fn can_be_exact(&self) -> bool {
        let name = self.ty.name();
        match self.ty.kind {
            Kind::Text { growable } => growable && name == "alloc::string::String",
            Kind::Sequence { growable, .. } => growable && name.starts_with("alloc::vec::Vec<"),
            _ => false,
        }
    }
}

/// A name without the paths in it: `Vec<Reference>` for `alloc::vec::Vec<smithy::Reference>`.
pub(super) fn short(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut word = 0;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("::") {
            // What stands before is a module, unless it is a `<T as Trait>`.
            if word < out.len() {
                out.truncate(word);
            } else {
                out.push_str("::");
            }
            rest = after;
            continue;
        }
        out.push(c);
        if !(c.is_alphanumeric() || c == '_') {
            word = out.len();
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// A number for what kind of part it is.
fn code(edge: Edge) -> u8 {
    match edge {
        Edge::Root | Edge::Field(_) | Edge::Variant(_) => 0,
        Edge::Optional => 1,
        Edge::Inner => 2,
        Edge::Array => 3,
        Edge::Element => 4,
        Edge::Key => 5,
        Edge::Value => 6,
        Edge::Pointee => 7,
    }
}

/// A type as it is.
fn own(ty: &Type) -> Layout {
    Layout { size: ty.size as u64, align: (ty.align as u64).max(1), niche: niche(ty) }
}

fn of_field(field: &Field) -> Layout {
    match field.part {
        Some(part) => own(part()),
        None => Layout { size: field.size as u64, align: (field.align as u64).max(1), niche: 0 },
    }
}

/// At least how many bit patterns are no value of a type.
fn niche(ty: &Type) -> u32 {
    if !ty.has_niche {
        return 0;
    }
    let of_fields = |fields: &[Field]| fields.iter().map(|field| of_field(field).niche).max().unwrap_or(0);
    let known = match ty.kind {
        Kind::Text { growable: true } | Kind::Sequence { growable: true, .. } => MANY,
        Kind::Plain => match ty.name() {
            "bool" => 254,
            "char" => MANY,
            _ => 1,
        },
        Kind::Optional { some } => match niche(some()) {
            0 => 254,
            more => more - 1,
        },
        Kind::Struct { fields, .. } => of_fields(fields),
        Kind::Enum { variants } => 256_u32.saturating_sub(u32::try_from(variants.len()).unwrap_or(256)),
        Kind::Array { element, .. } => niche(element()),
        _ => 1,
    };
    known.max(1)
}

/// `own` as far as the rules say, the rest kept.
fn changed_by(own: Layout, new: Layout, old: Layout) -> Layout {
    let size = if old.size == own.size { new.size } else { (own.size + new.size).saturating_sub(old.size) };
    let align = if old.align == own.align { new.align } else { own.align.max(new.align) };
    Layout { size: up(size, align), align, niche: new.niche }
}

/// Fields in the best order: padding is only at the end.
fn structure(fields: &[Layout]) -> Layout {
    let align = fields.iter().map(|field| field.align).max().unwrap_or(1);
    let size = fields.iter().map(|field| field.size).sum();
    let niche = fields.iter().map(|field| field.niche).max().unwrap_or(0);
    Layout { size: up(size, align), align, niche }
}

/// Fields in order of declaration.
fn declared(fields: &[Layout]) -> Layout {
    let size = fields.iter().fold(0, |at, field| up(at, field.align) + field.size);
    let Layout { align, niche, .. } = structure(fields);
    Layout { size: up(size, align), align, niche }
}

fn option(some: Layout) -> Layout {
    if some.niche > 0 {
        Layout { niche: some.niche - 1, ..some }
    } else {
        Layout { size: some.size + some.align, niche: 254, ..some }
    }
}

/// With a tag in front of each variant, or, if smaller, with the other variants in a niche of the largest.
fn enumeration(variants: &[Vec<Layout>]) -> Layout {
    let align = variants.iter().flatten().map(|field| field.align).max().unwrap_or(1);
    if variants.len() <= 1 {
        return variants.first().map_or(Layout { size: 0, align: 1, niche: 0 }, |fields| structure(fields));
    }
    let others = u32::try_from(variants.len() - 1).unwrap_or(u32::MAX);
    // Small fields come first, beside the tag.
    let tagged = variants.iter().map(|fields| {
        let mut fields = fields.clone();
        fields.sort_by_key(|field| field.align);
        fields.iter().fold(1, |at, field| up(at, field.align) + field.size)
    });
    let tagged = up(tagged.max().unwrap_or(1), align);
    let tagged = Layout { size: tagged, align, niche: 255_u32.saturating_sub(others) };

    let Some(largest) = variants.iter().max_by_key(|fields| structure(fields).size) else { return tagged };
    let whole = Layout { align, ..structure(largest) };
    let around = |niche: &&Layout| {
        // The niche lies at one end of its struct, and the others at the other end.
        let room = whole.size - niche.size.min(WORD).min(whole.size);
        let is_largest = |fields: &&Vec<Layout>| core::ptr::eq(*fields, largest);
        variants.iter().filter(|fields| !is_largest(fields)).all(|fields| structure(fields).size <= room)
    };
    let filled = largest.iter().filter(|field| field.niche >= others).find(around);
    match filled {
        Some(niche) if up(whole.size, align) < tagged.size => {
            Layout { size: up(whole.size, align), align, niche: niche.niche - others }
        }
        _ => tagged,
    }
}

/// The bytes of a node of a B-tree, but for the edges.
fn leaf([key, value]: [Layout; 2]) -> i128 {
    let keys = Layout { size: key.size * 11, ..key };
    let values = Layout { size: value.size * 11, ..value };
    let parent = Layout { size: WORD, align: WORD, niche: 0 };
    let lens = Layout { size: 4, align: 2, niche: 0 };
    i128::from(structure(&[parent, keys, values, lens]).size)
}

fn up(size: u64, align: u64) -> u64 {
    size.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_paths() {
        for (name, is) in [
            ("u8", "u8"),
            ("alloc::vec::Vec<a::b::C>", "Vec<C>"),
            ("(core::option::Option<a::B>, &str)", "(Option<B>, &str)"),
            ("dyn core::fmt::Debug + core::marker::Send", "dyn Debug + Send"),
            ("<a::B as c::D>::E", "<B as D>::E"),
            ("[a::B; 3]", "[B; 3]"),
            ("a::S<'_, é::Ü>", "S<'_, Ü>"),
        ] {
            assert_eq!(short(name), is);
        }
    }

    fn int(size: u64) -> Layout {
        Layout { size, align: size, niche: 0 }
    }

    /// The rules against the compiler.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn sizes_are_the_compilers() {
        let pointer = Layout { size: 8, align: 8, niche: 1 };
        let text = Layout { size: 24, align: 8, niche: MANY };
        assert_eq!(structure(&[int(1), int(8), int(2)]).size, size_of::<(u8, u64, u16)>() as u64);
        assert_eq!(option(structure(&[int(1), int(8)])).size, size_of::<Option<(u8, u64)>>() as u64);
        assert_eq!(option(text).size, size_of::<Option<String>>() as u64);
        assert_eq!(option(option(pointer)).size, size_of::<Option<Option<&u8>>>() as u64);
        assert_eq!(enumeration(&[vec![], vec![int(8)], vec![int(1), int(4)]]).size, {
            #[expect(dead_code, reason = "only its size is asked for")]
            enum E {
                A,
                B(u64),
                C(u8, u32),
            }
            size_of::<E>() as u64
        });
        assert_eq!(enumeration(&[vec![pointer], vec![text, int(8)], vec![int(8), int(8)]]).size, {
            #[expect(dead_code, reason = "only its size is asked for")]
            enum E<'a> {
                A(&'a u8),
                B(String, u64),
                C(u64, u64),
            }
            size_of::<E<'_>>() as u64
        });
        assert_eq!(enumeration(&[vec![pointer], vec![pointer]]).size, size_of::<Result<&u8, &u8>>() as u64);
        assert_eq!(declared(&[int(1), int(8), int(1)]).size, 24);
    }
}
