//! The model of `dwell::weigh`, filled with the counts of a walk.

use super::shareable;
use crate::debuginfo::{Kind, TypeId};
use crate::heap::walk::{DefId, Holds, InModel, Owner, SiteId, Walk, head, is_std};
use crate::source::{Item, Items};
use dwell_model::{
    Counts, Def, Edge, FieldDef, Holder, Layout, Niche, Program, ReprOf, Shape, Site, VariantDef, layout,
};
use std::collections::HashMap;

const WORD: u64 = 8;
/// The deepest nesting for which layouts are computed.
pub(super) const DEEPEST: u32 = 32;

/// Returns the model of a walk.
pub(super) fn build(walk: &Walk<'_, '_>, items: &Items) -> Program {
    Builder::new(walk, items).build()
}

/// Returns the model of a walk in which only types of dependencies can change, whose values take at least `least` bytes.
pub(super) fn of_dependencies(walk: &Walk<'_, '_>, items: &Items, least: u64) -> Program {
    let mut program = build(walk, items);
    let schema = &walk.schema;
    for (number, (def, definition)) in program.defs.iter_mut().zip(&schema.defs).enumerate() {
        let values = walk.counted.def_tallies.get(number).map_or(0, |tally| tally.instances);
        let ty = schema.get(definition.ty);
        let is_declared = matches!(ty.kind, Kind::Struct(_) | Kind::Enum(_)) && !is_std(&ty.path);
        def.is_editable = is_declared
            && definition.is_ready
            && values.saturating_mul(ty.size) >= least
            && schema.dependency_of(number).is_some();
    }
    for (number, site) in program.sites.iter_mut().enumerate() {
        let is_field = number > 0 && site.def.is_some_and(|def| program.defs[def].is_editable);
        site.is_editable = is_field && !schema.is_scratch(number - 1);
    }
    program
}

/// Returns the model's index of a site. Site 0 of the model is the whole program; the sites of the walk follow.
pub(super) fn in_model(site: SiteId) -> usize {
    site + 1
}

struct Builder<'w, 's, 'p> {
    walk: &'w Walk<'s, 'p>,
    items: &'w Items,
    program: Program,
    layouts: HashMap<TypeId, Layout>,
    /// The sites of each struct and enum.
    of_def: Vec<Vec<SiteId>>,
    slots: Vec<Option<u64>>,
    /// The site of each holding without an owning field.
    roots: Vec<Option<SiteId>>,
}

impl<'w, 's, 'p> Builder<'w, 's, 'p> {
    fn new(walk: &'w Walk<'s, 'p>, items: &'w Items) -> Self {
        let mut of_def = vec![Vec::new(); walk.schema.defs.len()];
        for (site, field) in walk.schema.sites.iter().enumerate() {
            if let Holds::Def(def) = field.decoder.holds() {
                of_def[def].push(site);
            }
        }
        let slots = vec![None; walk.schema.sites.len()];
        Self {
            walk,
            items,
            program: Program::default(),
            layouts: HashMap::new(),
            of_def,
            slots,
            roots: walk.roots_of_holdings(),
        }
    }

    fn build(mut self) -> Program {
        let walk = self.walk;
        let schema = &walk.schema;
        // No value that lives elsewhere fits into a `Copy` type.
        let items = self.items;
        let is_copy = |def: DefId| items.at(&schema.get(schema.defs[def].ty).path).is_some_and(Item::is_copy);
        let unshareable = shareable::unshareable(schema.program);
        self.program.sites.push(site(String::new(), "", Shape::Leaf, Layout::NOTHING, Edge::Root));
        for (number, field) in schema.sites.iter().enumerate() {
            let own = match field.ty {
                Some(ty) => self.layout(ty, 0),
                None => Layout::plain(field.size, field.align.max(1)),
            };
            self.program.sites.push(Site {
                def: field.def,
                is_editable: field.is_editable && !field.def.is_some_and(&is_copy) && !schema.is_scratch(number),
                ..site(field.path.clone(), &field.name, Shape::Leaf, own, field.edge)
            });
        }
        for (number, def) in schema.defs.iter().enumerate() {
            let tally = walk.counted.def_tallies.get(number);
            let variants = def.variants.iter().enumerate().map(|(variant, data)| {
                let of_variant = tally.filter(|_| def.is_enum).and_then(|tally| tally.variants.get(variant));
                let values = of_variant.copied().unwrap_or(0);
                VariantDef {
                    name: data.name.to_string(),
                    fields: data
                        .fields
                        .iter()
                        .map(|field| FieldDef {
                            name: field.name.to_string(),
                            attributes: "",
                            site: in_model(field.site),
                        })
                        .collect(),
                    counts: Counts { slots: values, instances: values, filled: values, ..Counts::default() },
                }
            });
            let own = self.layout(def.ty, 0);
            let mut variants: Vec<VariantDef> = variants.collect();
            // The walk met no value of this struct.
            if variants.is_empty() && !def.is_enum {
                variants.push(VariantDef { name: def.name.to_string(), fields: Vec::new(), counts: Counts::default() });
            }
            let repr = if self.is_declared_order(def.ty) { ReprOf::C } else { ReprOf::Rust };
            self.program.defs.push(Def {
                name: def.name.to_string(),
                own,
                is_editable: def.is_editable && def.is_ready && !(def.is_enum && is_copy(number)),
                is_shareable: !unshareable.contains(&def.ty),
                is_enum: def.is_enum,
                repr,
                variants,
            });
        }
        for number in 0..schema.sites.len() {
            let shape = self.shape(number);
            let slots = self.slots_of(number, 0);
            let site = &mut self.program.sites[in_model(number)];
            site.shape = shape;
            if let Some(tally) = walk.counted.tallies.get(number) {
                site.counts = tally.counts;
                let decoder = &schema.sites[number].decoder;
                if decoder.holds() == (Holds::Enum { is_option: true }) {
                    let some = decoder.variants().iter().position(|variant| !variant.parts.is_empty());
                    site.counts.filled = some.and_then(|some| tally.variants.get(some)).copied().unwrap_or(0);
                }
            }
            site.counts.slots = slots;
        }
        self.roots();
        self.program
    }

    /// Adds the blocks without an owning field. The model has a pointer to each.
    fn roots(&mut self) {
        let walk = self.walk;
        let mut made: HashMap<SiteId, usize> = HashMap::new();
        for (holding, root) in walk.counted.holdings.iter().zip(self.roots.clone()) {
            if matches!(holding.owner, Owner::Site(_) | Owner::Leaked) {
                continue;
            }
            let value = root.filter(|_| holding.unknown == 0);
            // A collection on a stack is counted at its site.
            if value.is_some_and(|value| walk.schema.sites[value].decoder.shape_of_block().is_some()) {
                continue;
            }
            let counts = Counts {
                slots: holding.blocks,
                instances: holding.blocks,
                filled: holding.blocks,
                requested: holding.bytes,
                allocations: holding.blocks,
                element_slots: holding.blocks,
                used: holding.blocks,
                waste: holding.unused,
                ..Counts::default()
            };
            let location = value.unwrap_or(usize::MAX);
            let number = *made.entry(location).or_insert_with(|| {
                let shape = match value {
                    Some(value) => Shape::Pointer(Holder::Box, in_model(value)),
                    None => Shape::Leaf,
                };
                self.program.sites.push(site("(stack)".into(), "", shape, Layout::POINTER, Edge::Root));
                self.program.sites.len() - 1
            });
            self.program.sites[number].counts.add(&counts);
        }
    }

    fn shape(&mut self, number: SiteId) -> Shape {
        let schema = &self.walk.schema;
        let field = &schema.sites[number];
        if field.decoder.holds() == Holds::Plain
            && let Some(Kind::Array { element, count }) = field.ty.map(|ty| &schema.get(ty).kind)
        {
            let (element, count) = (*element, *count);
            let own = self.layout(element, 0);
            let of_element = &schema.get(element).name;
            let path = format!("{} []", field.path);
            self.program.sites.push(site(path, of_element, Shape::Leaf, own, Edge::Array));
            return Shape::Array(self.program.sites.len() - 1, count);
        }
        let is_met = self.walk.counted.tallies.get(number).is_some_and(|tally| tally.counts.allocations > 0);
        let shape = shifted(field.decoder.shape(&InModel { schema, name: &field.name, is_met }));
        // A collection with spare capacity may still grow. Types that cannot grow are only for complete ones.
        let is_complete =
            self.walk.counted.tallies.get(number).is_none_or(|tally| tally.counts.waste == 0) && !self.grows(number);
        match shape {
            Shape::Sequence(Holder::Growable, element) if !is_complete => {
                Shape::Sequence(Holder::LikeGrowable, element)
            }
            Shape::Text(Holder::Growable) if !is_complete => Shape::Text(Holder::LikeGrowable),
            shape => shape,
        }
    }

    /// Returns `true` if code changes the length of a field's collection after it is made.
    fn grows(&self, number: SiteId) -> bool {
        let schema = &self.walk.schema;
        let mut site = &schema.sites[number];
        while let (Edge::Optional | Edge::Inner, Some(parent)) = (site.edge, site.parent) {
            site = &schema.sites[parent];
        }
        let (Edge::Field(..), Some(def), Some((_, field))) = (site.edge, site.def, site.path.rsplit_once('.')) else {
            return false;
        };
        let head = schema.defs[def].name.split('<').next().unwrap_or_default();
        self.items.grows(head.rsplit("::").next().unwrap_or(head), field)
    }

    /// Returns `true` if a struct has its fields in the order of declaration although the compiler's order takes fewer
    /// bytes.
    fn is_declared_order(&mut self, ty: TypeId) -> bool {
        let definition = self.walk.schema.get(ty);
        let Kind::Struct(fields) = &definition.kind else { return false };
        if fields.is_empty() || !fields.is_sorted_by_key(|field| field.offset) {
            return false;
        }
        let layouts: Vec<Layout> = fields.iter().map(|field| self.layout(field.ty, 1)).collect();
        let (declared, ordered) = (layout::declared(&layouts), layout::structure(&layouts));
        declared.size == definition.size && declared.align == definition.align && ordered.size < definition.size
    }

    /// Returns the number of slots in the blocks of a site.
    fn element_slots(&self, site: SiteId) -> u64 {
        self.walk.counted.tallies.get(site).map_or(0, |tally| tally.counts.element_slots)
    }

    /// Returns the number of slots of a site, in use or not.
    fn slots_of(&mut self, number: SiteId, depth: u32) -> u64 {
        if let Some(known) = self.slots[number] {
            return known;
        }
        let field = &self.walk.schema.sites[number];
        let tally = |site: SiteId| self.walk.counted.tallies.get(site);
        let instances = tally(number).map_or(0, |tally| tally.counts.instances);
        let slots = if depth > DEEPEST {
            instances
        } else {
            match (field.edge, field.parent) {
                (Edge::Array, Some(parent)) => {
                    let times = match self.walk.schema.sites[parent].decoder.holds() {
                        Holds::Array(count) => count,
                        _ => 1,
                    };
                    self.slots_of(parent, depth + 1).saturating_mul(times)
                }
                (Edge::Optional | Edge::Inner | Edge::Tuple(_), Some(parent)) => self.slots_of(parent, depth + 1),
                (Edge::Element | Edge::Key | Edge::Value | Edge::Pointee, Some(parent)) => self.element_slots(parent),
                (Edge::Field(variant, _), _) => {
                    let Some(def) = field.def else { return instances };
                    if self.walk.schema.defs[def].is_enum {
                        let values =
                            self.walk.counted.def_tallies.get(def).and_then(|tally| tally.variants.get(variant));
                        values.copied().unwrap_or(0)
                    } else {
                        let sites = self.of_def[def].clone();
                        let all = sites.into_iter().map(|site| self.slots_of(site, depth + 1));
                        all.fold(0, u64::saturating_add)
                    }
                }
                _ => instances,
            }
        };
        let slots = slots.max(instances);
        self.slots[number] = Some(slots);
        slots
    }

    /// Returns the layout of a type. It has a niche only if the layout rules give the size and alignment of the debug
    /// info.
    fn layout(&mut self, ty: TypeId, depth: u32) -> Layout {
        if let Some(&known) = self.layouts.get(&ty) {
            return known;
        }
        let definition = self.walk.schema.get(ty);
        let is = Layout::plain(definition.size, definition.align.max(1));
        if depth > DEEPEST {
            return Layout { niche_sure: false, ..is };
        }
        let fields = |this: &mut Self, fields: &[crate::debuginfo::Field]| -> Vec<Layout> {
            fields.iter().map(|field| this.layout(field.ty, depth + 1)).collect()
        };
        let word_niche = |free: u128| Some(Niche { offset: 0, size: WORD, free });
        let by_rules = match (head(&definition.path), &definition.kind) {
            (_, Kind::Primitive) => match &*definition.path {
                "bool" => Layout::BOOL,
                "char" => Layout::CHAR,
                _ => is,
            },
            ("alloc::vec::Vec" | "alloc::string::String", _) => Layout { size: definition.size, ..Layout::VECTOR },
            ("core::cell::UnsafeCell" | "core::mem::maybe_uninit::MaybeUninit", _) | (_, Kind::Union(_)) => is,
            ("core::ptr::non_null::NonNull", _) => Layout { niche: word_niche(1), ..is },
            (path, _) if path.starts_with("core::num::nonzero::NonZero") => Layout::scalar(definition.size, 1),
            (path, _) if path.ends_with("UsizeNoHighBit") => Layout { niche: word_niche(1 << 63), ..is },
            (path, _) if path.ends_with("::Nanoseconds") => {
                Layout { niche: Some(Niche { offset: 0, size: 4, free: (1 << 32) - 1_000_000_000 }), ..is }
            }
            (path, Kind::Pointer { .. } | Kind::WidePointer { .. }) => {
                let has_niche = path.starts_with('&') || path.starts_with("alloc::boxed::Box");
                Layout { niche: if has_niche { word_niche(1) } else { None }, ..is }
            }
            (path, Kind::Struct(of_struct)) if path.starts_with('(') => layout::tuple(&fields(self, of_struct)),
            (_, Kind::Struct(_)) if self.is_declared_order(ty) => {
                let Kind::Struct(of_struct) = &definition.kind else { return is };
                layout::declared(&fields(self, of_struct))
            }
            (_, Kind::Struct(of_struct) | Kind::Closure(of_struct)) => layout::structure(&fields(self, of_struct)),
            (_, Kind::Enum(of_enum)) => {
                let variants: Vec<Vec<Layout>> =
                    of_enum.variants.iter().map(|variant| fields(self, &variant.fields)).collect();
                layout::enumeration(&variants)
            }
            (_, Kind::Array { element, count }) => layout::array(self.layout(*element, depth + 1), *count),
            _ => Layout { niche_sure: false, ..is },
        };
        let found = if (by_rules.size, by_rules.align) == (is.size, is.align) {
            Layout { sure: true, ..by_rules }
        } else {
            Layout { niche_sure: false, ..is }
        };
        self.layouts.insert(ty, found);
        found
    }
}

/// Returns a shape with the model's indices instead of the walk's sites.
fn shifted(shape: Shape) -> Shape {
    match shape {
        Shape::Leaf | Shape::Def(_) | Shape::Text(_) => shape,
        Shape::Tuple(parts) => Shape::Tuple(parts.into_iter().map(in_model).collect()),
        Shape::Optional { some, is_option } => Shape::Optional { some: in_model(some), is_option },
        Shape::Wrapper(inner) => Shape::Wrapper(in_model(inner)),
        Shape::Array(element, count) => Shape::Array(in_model(element), count),
        Shape::Sequence(holder, element) => Shape::Sequence(holder, in_model(element)),
        Shape::Map(holder, key, value) => Shape::Map(holder, in_model(key), in_model(value)),
        Shape::Pointer(holder, value) => Shape::Pointer(holder, in_model(value)),
    }
}

fn site(path: String, ty: &str, shape: Shape, own: Layout, edge: Edge) -> Site {
    Site { path, ty: ty.into(), shape, own, edge, def: None, is_editable: false, counts: Counts::default() }
}

pub(super) fn without_option(ty: &str) -> &str {
    ty.strip_prefix("Option<").and_then(|name| name.strip_suffix('>')).unwrap_or(ty)
}

pub(super) fn arguments(ty: &str) -> &str {
    ty.split_once('<').and_then(|(_, rest)| rest.strip_suffix('>')).unwrap_or("_")
}
