//! Builds a [`Program`] of the model from a tree.

use super::tally::Counter;
use super::tree::Tree;
use super::types::{Field, Kind, MapKind, Reach, Repr, Type, short};
use crate::weigh::sorted::Map;
use dwell_model::{
    Counts, Def, DefId, Edge, FieldDef, Holder, Layout, Program, ReprOf, Shape, Site, SiteId, VariantDef, layout,
};
use std_alloc::format;
use std_alloc::string::String;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// Bytes of a pointer.
const WORD: usize = size_of::<usize>();

/// A program, with the types and counters it was built from.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) program: Program,
    /// The type of each site.
    pub(super) types: Vec<&'static Type>,
    /// The site of each counter; `None` for the counters of variants.
    pub(super) site_of: Vec<Option<SiteId>>,
}

/// The part of a program that a counter belongs to.
#[derive(Clone, Copy)]
enum Location {
    Site(SiteId),
    Variant(DefId, usize),
}

struct Builder {
    program: Program,
    types: Vec<&'static Type>,
    /// The structs and enums, each with its description. The compiler may emit several copies of a description, so a
    /// lookup compares the contents.
    defs: Vec<(&'static Type, DefId)>,
    /// The types around the next site, up to the struct or enum that contains it.
    around: Vec<&'static Type>,
    layouts: Map<usize, Layout>,
}

pub(super) fn build(tree: &Tree) -> Built {
    let mut builder = Builder {
        program: Program::default(),
        types: Vec::new(),
        defs: Vec::new(),
        around: Vec::new(),
        layouts: Map::new(),
    };
    let root = &tree.counters[0];
    builder.site(root.ty, Edge::Root, None, true, "value");
    builder.program.inline = tree.weight.inline;
    let site_of = builder.count(&tree.counters);
    Built { program: builder.program, types: builder.types, site_of }
}

impl Builder {
    /// Adds a site for a type, and sites for the parts of the type.
    fn site(&mut self, ty: &'static Type, edge: Edge, def: Option<DefId>, is_editable: bool, path: &str) -> SiteId {
        let own = self.layout(ty);
        let id = self.program.sites.len();
        self.types.push(ty);
        self.program.sites.push(Site {
            path: path.into(),
            ty: short(ty.name()),
            shape: Shape::Leaf,
            own,
            edge,
            def,
            is_editable,
            counts: Counts::default(),
        });
        let is_inside_itself = !ty.is_named() && self.around.iter().any(|outer| outer.is(ty));
        self.around.push(ty);
        let mut part = |ty: &'static Type, edge| {
            let path = match edge {
                Edge::Tuple(index) => format!("{path}.{index}"),
                edge => format!("{path} {}", label(edge)),
            };
            self.site(ty, edge, def, is_editable, &path)
        };
        let shape = match ty.kind {
            Kind::Plain | Kind::Opaque => Shape::Leaf,
            // A collection that contains itself, written by hand. Its inner site is the outer one.
            _ if is_inside_itself => Shape::Leaf,
            Kind::Struct { fields, .. } if ty.is_tuple() => Shape::Tuple(
                fields
                    .iter()
                    .enumerate()
                    .filter_map(|(index, field)| Some(part(field.part?(), Edge::Tuple(index))))
                    .collect(),
            ),
            Kind::Struct { .. } | Kind::Enum { .. } => Shape::Def(self.def(ty)),
            Kind::Optional { some } => Shape::Optional {
                some: part(some(), Edge::Optional),
                is_option: ty.full_name().starts_with("core::option::Option<"),
            },
            Kind::Wrapper { inner } => Shape::Wrapper(part(inner(), Edge::Inner)),
            Kind::Array { element, len } => Shape::Array(part(element(), Edge::Array), len as u64),
            Kind::Text { .. } => Shape::Text(holder(ty)),
            Kind::Sequence { element, .. } => Shape::Sequence(holder(ty), part(element(), Edge::Element)),
            Kind::Map { key, value, .. } => {
                let key = part(key(), Edge::Key);
                Shape::Map(holder(ty), key, part(value(), Edge::Value))
            }
            Kind::Pointer { to, .. } => Shape::Pointer(holder(ty), part(to(), Edge::Pointee)),
        };
        self.around.pop();
        self.program.sites[id].shape = shape;
        id
    }

    fn def(&mut self, ty: &'static Type) -> DefId {
        if let Some(&(_, def)) = self.defs.iter().find(|(known, _)| known.is(ty)) {
            return def;
        }
        let own = self.layout(ty);
        let around = core::mem::take(&mut self.around);
        let def = self.program.defs.len();
        self.defs.push((ty, def));
        let name = short(ty.name());
        let (is_enum, repr) = match ty.kind {
            Kind::Enum { .. } => (true, ReprOf::Rust),
            _ if ty.has_tail => (false, ReprOf::Tail),
            Kind::Struct { repr: Repr::C, .. } => (false, ReprOf::C),
            Kind::Struct { repr: Repr::Packed, .. } => (false, ReprOf::Packed),
            _ => (false, ReprOf::Rust),
        };
        let is_editable = ty.is_derived;
        // The derive checks it: a `Weigh` does not know.
        let (name_of, is_shareable, variants) = (name.clone(), true, Vec::new());
        self.program.defs.push(Def { name: name_of, own, is_editable, is_shareable, is_enum, repr, variants });
        let variants_of = match ty.kind {
            Kind::Struct { fields, .. } => vec![(name.clone(), name.clone(), fields)],
            Kind::Enum { variants } => variants
                .iter()
                .map(|variant| (variant.name.into(), format!("{name}::{}", variant.name), variant.fields))
                .collect(),
            _ => Vec::new(),
        };
        for (number, (name, path, fields)) in variants_of.into_iter().enumerate() {
            // The variant precedes its fields, since the types of the fields may contain this type.
            self.program.defs[def].variants.push(VariantDef { name, fields: Vec::new(), counts: Counts::default() });
            for (index, field) in fields.iter().enumerate() {
                let (edge, path) = (Edge::Field(number, index), format!("{path}.{}", field.name));
                let site = match field.part {
                    Some(part) => self.site(part(), edge, Some(def), is_editable, &path),
                    None => self.skipped(field, edge, def, path),
                };
                let made = FieldDef { name: field.name.into(), attributes: field.attributes, site };
                self.program.defs[def].variants[number].fields.push(made);
            }
        }
        self.around = around;
        def
    }

    /// Adds a site for a field of which only the size and alignment are known.
    fn skipped(&mut self, field: &Field, edge: Edge, def: DefId, path: String) -> SiteId {
        const UNKNOWN: &Type = super::types::opaque_type_of_unit();
        let id = self.program.sites.len();
        self.types.push(UNKNOWN);
        self.program.sites.push(Site {
            path,
            ty: short(field.type_name()),
            shape: Shape::Leaf,
            own: of_skipped(field),
            edge,
            def: Some(def),
            is_editable: false,
            counts: Counts::default(),
        });
        id
    }

    /// Returns the layout of a type: its actual size and alignment, and the niche by the layout rules if these
    /// reproduce the size, the alignment and whether the type has a niche.
    fn layout(&mut self, ty: &'static Type) -> Layout {
        let address = core::ptr::from_ref(ty).addr();
        if let Some(&known) = self.layouts.get(&address) {
            return known;
        }
        let is = Layout::plain(ty.size as u64, (ty.align as u64).max(1));
        let by_rules = match ty.kind {
            Kind::Struct { fields, repr } => {
                let fields: Vec<Layout> = fields.iter().map(|field| self.of_field(field)).collect();
                match repr {
                    _ if ty.is_tuple() || ty.has_tail => layout::tuple(&fields),
                    Repr::Rust => layout::structure(&fields),
                    Repr::C => layout::declared(&fields),
                    Repr::Packed => is.with_unknown_niche(ty.has_niche),
                }
            }
            Kind::Enum { variants } => {
                let fields =
                    |variant: &super::Variant| variant.fields.iter().map(|field| self.of_field(field)).collect();
                layout::enumeration(&variants.iter().map(fields).collect::<Vec<_>>())
            }
            Kind::Optional { some } => layout::option(self.layout(some())),
            Kind::Array { element, len } => layout::array(self.layout(element()), len as u64),
            _ => known(ty, is),
        };
        let is_it = (by_rules.size, by_rules.align) == (is.size, is.align)
            && by_rules.niche.is_some() == ty.has_niche
            && ty.is_regular;
        let found = if is_it { by_rules } else { is.with_unknown_niche(ty.has_niche) };
        let found = if ty.is_regular { found } else { Layout { niche_sure: false, ..found } };
        self.layouts.insert(address, found);
        found
    }

    fn of_field(&mut self, field: &Field) -> Layout {
        match field.part {
            Some(part) => self.layout(part()),
            None => of_skipped(field),
        }
    }

    /// Adds the counters to the sites.
    fn count(&mut self, counters: &[Counter]) -> Vec<Option<SiteId>> {
        let mut locations: Vec<Option<Location>> = vec![None; counters.len()];
        // The slots of each counter. The loop over the links adds those in heap blocks, the loop over the parts those
        // inline.
        let mut slots: Vec<u64> = vec![0; counters.len()];
        let mut instances: Vec<u64> = vec![0; counters.len()];
        let mut links: Vec<u32> = vec![0; counters.len()];
        for counter in counters {
            for link in &counter.links {
                let Some(to) = link.to else { continue };
                slots[to] = slots[to].saturating_add(link.used.saturating_add(link.free));
                instances[to] = instances[to].saturating_add(link.used);
                links[to] += 1;
            }
        }
        if let Some(first) = locations.first_mut() {
            *first = Some(Location::Site(0));
            (slots[0], instances[0]) = (slots[0].saturating_add(1), instances[0].saturating_add(1));
            let root = &mut self.program.sites[0].counts;
            (root.slots, root.instances, root.filled) = (1, 1, 1);
        }
        for (number, counter) in counters.iter().enumerate() {
            let Some(location) = locations[number] else { continue };
            if let Location::Site(site) = location {
                let counts = &mut self.program.sites[site].counts;
                counts.add(&Counts {
                    requested: counter.requested,
                    allocations: counter.blocks,
                    waste: counter.spare,
                    hollow: counter.odd.hollow,
                    long: counter.odd.long,
                    // A recursive type has one counter for several sites, so the number at each site is unknown.
                    defaults: if links[number] <= 1 { counter.odd.defaults } else { 0 },
                    ..Counts::default()
                });
            }
            for part in 0..self.parts(location) {
                let (inner, inline) = self.part(location, part);
                let link = counter.links.get(part).copied();
                let (entered, used, free) = link.map_or((0, 0, 0), |link| (link.entered, link.used, link.free));
                let to = link.and_then(|link| link.to);
                let mut counts = Counts { filled: entered, ..Counts::default() };
                if inline {
                    let times = match location {
                        Location::Site(site) => match self.program.sites[site].shape {
                            Shape::Array(_, len) => len,
                            _ => 1,
                        },
                        Location::Variant(..) => 1,
                    };
                    let there = match (location, inner) {
                        (_, Location::Variant(..)) => entered,
                        (Location::Variant(..), _) => counter.entered,
                        (Location::Site(site), _)
                            if matches!(self.program.sites[site].shape, Shape::Optional { .. }) =>
                        {
                            counter.entered
                        }
                        _ => instances[number],
                    };
                    // Variants overlap, so the slots of a variant are its values.
                    let inner_slots = if matches!(inner, Location::Variant(..)) { entered } else { slots[number] };
                    counts.slots = inner_slots.saturating_mul(times);
                    counts.instances = there.saturating_mul(times);
                    if let Some(to) = to {
                        slots[to] = slots[to].saturating_add(counts.slots);
                        instances[to] = instances[to].saturating_add(counts.instances);
                    }
                } else {
                    (counts.slots, counts.instances) = (used.saturating_add(free), used);
                    if let (Location::Site(outer), Location::Site(inner)) = (location, inner) {
                        self.blocks(outer, inner, counter, part, &mut counts);
                    }
                }
                match inner {
                    Location::Site(site) => {
                        if self.types[site].reach == Reach::Plain {
                            counts.filled = counts.instances;
                        }
                        self.program.sites[site].counts.add(&counts);
                        if to.is_none() && inline {
                            self.unmet(site, counts.slots, counts.instances);
                        }
                    }
                    Location::Variant(def, variant) => self.program.defs[def].variants[variant].counts.add(&counts),
                }
                if let Some(to) = to
                    && counters[to].parent == Some(number)
                {
                    locations[to] = Some(inner);
                }
            }
        }
        let site = |location: Option<Location>| match location {
            Some(Location::Site(site)) => Some(site),
            _ => None,
        };
        locations.into_iter().map(site).collect()
    }

    /// Adds the slots of parts without values.
    fn unmet(&mut self, site: SiteId, slots: u64, instances: u64) {
        let add = |this: &mut Self, part: SiteId, slots: u64, instances: u64| {
            let filled = if this.types[part].reach == Reach::Plain { instances } else { 0 };
            this.program.sites[part].counts.add(&Counts { slots, instances, filled, ..Counts::default() });
            this.unmet(part, slots, instances);
        };
        match self.program.sites[site].shape.clone() {
            Shape::Optional { some, .. } => add(self, some, slots, 0),
            Shape::Wrapper(inner) => add(self, inner, slots, instances),
            Shape::Array(element, len) => add(self, element, slots.saturating_mul(len), instances.saturating_mul(len)),
            Shape::Tuple(parts) => parts.into_iter().for_each(|part| add(self, part, slots, instances)),
            // There is no value, so no variant has slots.
            Shape::Def(def) if self.program.defs[def].is_enum => {}
            Shape::Def(def) => {
                for field in 0..self.program.defs[def].variants[0].fields.len() {
                    let part = self.program.defs[def].variants[0].fields[field].site;
                    add(self, part, slots, instances);
                }
            }
            _ => {}
        }
    }

    /// Adds the slots of a part in the blocks of its owner.
    fn blocks(&mut self, outer: SiteId, inner: SiteId, counter: &Counter, part: usize, counts: &mut Counts) {
        let (shape, ty) = (self.program.sites[outer].shape.clone(), self.types[inner]);
        if ty.reach == Reach::Plain && counts.slots == 0 {
            match shape {
                // The walk counts only the blocks of these boxes, not the slots in them.
                Shape::Pointer(Holder::Box, _) if ty.is_sized => {
                    (counts.slots, counts.instances) = (counter.entered, counter.entered);
                }
                Shape::Pointer(Holder::Box, _) => {
                    if let Shape::Sequence(_, element) = self.program.sites[inner].shape {
                        let size = self.program.sites[element].own.size.max(1);
                        let len = counter.requested / size;
                        let many = Counts { slots: len, instances: len, filled: len, ..Counts::default() };
                        self.program.sites[element].counts.add(&many);
                        let slice = &mut self.program.sites[inner].counts;
                        slice.add(&Counts { element_slots: len, used: len, ..Counts::default() });
                    }
                }
                _ => {}
            }
        }
        if part == 0 {
            let more = Counts { element_slots: counts.slots, used: counts.instances, ..Counts::default() };
            self.program.sites[outer].counts.add(&more);
        }
    }

    fn parts(&self, location: Location) -> usize {
        match location {
            Location::Variant(def, variant) => self.program.defs[def].variants[variant].fields.len(),
            Location::Site(site) => match &self.program.sites[site].shape {
                Shape::Def(def) => {
                    let def = &self.program.defs[*def];
                    if def.is_enum { def.variants.len() } else { def.variants[0].fields.len() }
                }
                Shape::Tuple(parts) => parts.len(),
                Shape::Map(..) => 2,
                Shape::Leaf | Shape::Text(_) => 0,
                _ => 1,
            },
        }
    }

    /// Returns a part, and whether it is stored inline.
    fn part(&self, location: Location, part: usize) -> (Location, bool) {
        match location {
            Location::Variant(def, variant) => {
                (Location::Site(self.program.defs[def].variants[variant].fields[part].site), true)
            }
            Location::Site(site) => match &self.program.sites[site].shape {
                Shape::Def(def) if self.program.defs[*def].is_enum => (Location::Variant(*def, part), true),
                Shape::Def(def) => (Location::Site(self.program.defs[*def].variants[0].fields[part].site), true),
                Shape::Tuple(parts) => (Location::Site(parts[part]), true),
                Shape::Optional { some: inner, .. } | Shape::Wrapper(inner) | Shape::Array(inner, _) => {
                    (Location::Site(*inner), true)
                }
                Shape::Map(_, key, value) => (Location::Site(if part == 0 { *key } else { *value }), false),
                Shape::Sequence(_, inner) | Shape::Pointer(_, inner) => (Location::Site(*inner), false),
                Shape::Leaf | Shape::Text(_) => (location, true),
            },
        }
    }
}

fn of_skipped(field: &Field) -> Layout {
    let plain = Layout::plain(field.size as u64, (field.align as u64).max(1));
    Layout { niche_sure: field.size == 0, ..plain }
}

/// Adds the known niches of types without parts.
fn known(ty: &Type, is: Layout) -> Layout {
    let name = ty.full_name();
    let niche_of = |layout: Layout| Layout { size: is.size, align: is.align, ..layout };
    let unknown = is.with_unknown_niche(ty.has_niche);
    if !ty.has_niche || !ty.is_sized {
        return is;
    }
    match ty.kind {
        Kind::Plain => match name {
            "bool" => Layout::BOOL,
            "char" => Layout::CHAR,
            "core::cmp::Ordering" => Layout::scalar(1, 253),
            _ if name.starts_with("core::num::nonzero::NonZero<") => Layout::scalar(is.size, 1),
            _ if name.starts_with('&') || name.starts_with("core::ptr::non_null::NonNull<") => {
                niche_of(Layout::POINTER)
            }
            _ if is_of(name, &["fn(", "unsafe fn(", "extern ", "unsafe extern "]) => niche_of(Layout::POINTER),
            _ => unknown,
        },
        Kind::Text { .. } | Kind::Sequence { .. } => match ty.size / WORD {
            1 => Layout::POINTER,
            2 if name.starts_with("alloc::ffi::c_str::CString") => Layout::WIDE_POINTER,
            3 if is_of(name, &["alloc::string::String", "alloc::vec::Vec<", "alloc::collections::binary_heap"]) => {
                Layout::VECTOR
            }
            3 if is_of(name, &["std::ffi::os_str::OsString", "std::path::PathBuf"]) => Layout::VECTOR,
            4 if name.starts_with("alloc::collections::vec_deque::VecDeque<") => niche_of(Layout::VECTOR),
            _ => unknown,
        },
        Kind::Map { map, .. } => match map {
            MapKind::Hash if is_of(name, &["std::collections::hash::", "hashbrown::"]) => niche_of(Layout::POINTER),
            MapKind::Sorted if ty.size == WORD => Layout::POINTER,
            _ => unknown,
        },
        Kind::Pointer { .. } => match ty.size / WORD {
            1 | 2
                if is_of(
                    name,
                    &["alloc::boxed::Box<", "alloc::rc::Rc<", "alloc::sync::Arc<", "core::pin::Pin<alloc::"],
                ) =>
            {
                niche_of(Layout::POINTER)
            }
            1 if name.starts_with("dwell::sparse::Sparse<") => Layout::POINTER,
            _ => unknown,
        },
        _ => unknown,
    }
}

fn is_of(name: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| name.starts_with(start))
}

/// Returns the kind of a collection or pointer, by the name of its type.
fn holder(ty: &Type) -> Holder {
    let name = ty.full_name();
    if !ty.is_sized {
        return Holder::Unsized;
    }
    match ty.kind {
        Kind::Text { .. } => match name {
            "alloc::string::String" => Holder::Growable,
            _ if name.starts_with("dwell::sparse::") => Holder::Thin,
            _ => Holder::LikeGrowable,
        },
        Kind::Sequence { .. } => {
            if name.starts_with("alloc::vec::Vec<") {
                Holder::Growable
            } else if is_of(name, &["alloc::collections::vec_deque::", "alloc::collections::binary_heap::"]) {
                Holder::LikeGrowable
            } else if name.starts_with("alloc::collections::linked_list::") {
                Holder::Linked
            } else if name.starts_with("dwell::sparse::") {
                Holder::Thin
            } else {
                Holder::Other
            }
        }
        Kind::Map { map, .. } => match map {
            MapKind::Hash if is_of(name, &["std::collections::hash::", "hashbrown::map", "hashbrown::set"]) => {
                Holder::Growable
            }
            MapKind::BTree if name.starts_with("alloc::collections::btree::") => Holder::BTree,
            MapKind::Sorted if name.starts_with("dwell::sparse::") => Holder::Thin,
            MapKind::Hash if name.starts_with("indexmap::") => Holder::LikeGrowable,
            _ => Holder::Other,
        },
        Kind::Pointer { shared, .. } => {
            if name.starts_with("alloc::boxed::Box<") {
                Holder::Box
            } else if is_of(name, &["dwell::sparse::Sparse<", "core::pin::Pin<alloc::boxed::Box<"]) {
                Holder::Sparse
            } else if shared && is_of(name, &["alloc::rc::Rc<", "alloc::sync::Arc<", "core::pin::Pin<alloc::"]) {
                Holder::Counted
            } else {
                Holder::Other
            }
        }
        _ => Holder::Other,
    }
}

/// Returns the label of a part without a name.
pub(super) fn label(edge: Edge) -> &'static str {
    match edge {
        Edge::Root | Edge::Field(..) | Edge::Tuple(_) => "",
        Edge::Optional => "Some",
        Edge::Inner => "inner",
        Edge::Array | Edge::Element => "[]",
        Edge::Key => "key",
        Edge::Value => "value",
        Edge::Pointee => "*",
    }
}
