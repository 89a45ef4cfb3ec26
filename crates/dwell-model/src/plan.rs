//! A set of changes, and the resulting bytes.

use super::blocks;
use super::known::{Graph, Known, Node, Part, Tried, Wide, change_of, wide};
use super::layout::{Layout, OfVariant, WORD, array, declared, of_variants, option, structure, tuple, up};
use super::program::{Counts, DefId, Holder, Program, ReprOf, Shape, SiteId};
use super::sorted::{Map, Set, sorted};
use core::cell::{Cell, RefCell};
use core::num::Saturating;
use std_alloc::rc::Rc;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// A change of a site's type. Of changes with the same saving, the search takes the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// `Box<T>` for a `T`.
    BoxedAlways,
    /// `Sparse<T>` for a `T` or an `Option<T>`; values that equal the default take no block. It reads as a `T`. It
    /// never takes a block for an empty value; an `Option<Box<T>>` does unless the code that makes it avoids that.
    Sparse,
    /// `Option<Box<T>>` for a `T` or an `Option<T>`; empty values become `None`.
    Boxed,
    /// `Box<str>` for a `String`, `Box<[T]>` for a `Vec<T>`.
    Exact,
    /// `ThinStr` for a `String` or `Box<str>`, `ThinSlice<T>` for a `Vec<T>` or `Box<[T]>`.
    Thin,
    /// `SortedMap<K, V>` for a hash map or B-tree.
    Sorted,
}

impl Change {
    /// Returns the costs of the change besides bytes, in words.
    pub const fn cost(self) -> &'static str {
        match self {
            Self::Boxed | Self::BoxedAlways => "an indirection, and a block for each value",
            Self::Sparse => "an indirection; writing goes through `edit`; `None` and a default are the same",
            Self::Exact => "cannot grow in place",
            Self::Thin => "cannot grow in place; the length is read from the block",
            Self::Sorted => "lookups by binary search; an insertion moves the entries after it; keys must be `Ord`",
        }
    }
}

/// Bytes and allocations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The requested bytes; for a program, including those of the root value itself.
    pub bytes: u64,
    /// The number of blocks.
    pub allocations: u64,
}

impl Sum {
    /// Returns the cost by which changes are compared: the bytes, and `blocks::BLOCK` for each block.
    pub const fn cost(self) -> i128 {
        self.bytes as i128 + self.allocations as i128 * blocks::BLOCK as i128
    }
}

impl core::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.allocations = self.allocations.saturating_add(other.allocations);
    }
}

/// A program with some of its types changed.
///
/// A change affects the layouts of its target and of the types that store it inline, as far as these change, and the blocks of all
/// of them. A plan evaluates only these again, because a search tries thousands of edits.
#[derive(Debug, Clone)]
pub struct Plan<'p> {
    /// The unchanged program.
    pub program: &'p Program,
    /// The sites with a changed type.
    changes: Map<SiteId, Change>,
    /// The variants whose fields move into a box.
    variants: Set<(DefId, usize)>,
    /// The structs that lose their `repr(C)`.
    reordered: Set<DefId>,
    /// The scalars with a changed type, with the new layout.
    scalars: Map<SiteId, Layout>,
    /// The layout of each unchanged struct and enum by the rules.
    old: Rc<[Layout]>,
    /// The variants of each unchanged enum.
    old_variants: Rc<[Vec<OfVariant>]>,
    graph: Rc<Graph>,
    known: RefCell<Known>,
    /// What the last trial has computed.
    tried: Tried,
    /// What was computed of each variant of each enum: a search comes to the same layouts again and again.
    computed: Rc<[Vec<Computed>]>,
}

/// A variant by the layouts of its fields, for the last few of these.
type Computed = RefCell<Vec<(Vec<Layout>, OfVariant)>>;
/// The most that are kept.
const KEPT: usize = 8;

impl<'p> Plan<'p> {
    /// Creates a plan without changes.
    pub fn new(program: &'p Program) -> Self {
        let (changes, variants, reordered, scalars) = (Map::new(), Set::new(), Set::new(), Map::new());
        let graph = Rc::new(Graph::new(program));
        let known = RefCell::new(Known::nothing(program, &graph));
        let mut plan = Self {
            program,
            changes,
            variants,
            reordered,
            scalars,
            old: Rc::new([]),
            old_variants: Rc::new([]),
            graph,
            known,
            tried: Tried::default(),
            computed: program.defs.iter().map(|def| vec![Computed::default(); def.variants.len()]).collect(),
        };
        let old_variants = |def: DefId| -> Vec<OfVariant> {
            let number = if program.defs[def].is_enum { program.defs[def].variants.len() } else { 0 };
            (0..number).map(|variant| OfVariant::new(&plan.old_fields(def, variant), number)).collect()
        };
        plan.old_variants = (0..program.defs.len()).map(old_variants).collect();
        plan.old = (0..program.defs.len()).map(|def| plan.rules(def, false)).collect();
        plan
    }

    /// Returns the change of a site.
    pub fn change(&self, site: SiteId) -> Option<Change> {
        self.changes.get(&site).copied()
    }

    /// Changes a site, or undoes its change.
    pub fn set_change(&mut self, site: SiteId, change: Option<Change>) {
        match change {
            Some(change) => self.changes.insert(site, change),
            None => self.changes.remove(&site),
        }
        self.known.get_mut().open(Node::Site(site), &self.graph);
    }

    /// Returns whether the fields of a variant are in a box.
    pub fn is_boxed(&self, def: DefId, variant: usize) -> bool {
        self.variants.contains(&(def, variant))
    }

    /// Moves the fields of a variant into a box, or back.
    pub fn set_boxed(&mut self, def: DefId, variant: usize, is_boxed: bool) {
        if is_boxed {
            self.variants.insert((def, variant));
        } else {
            self.variants.remove(&(def, variant));
        }
        self.known.get_mut().open(Node::Def(def), &self.graph);
    }

    /// Returns whether a struct loses its `repr(C)`.
    pub fn is_reordered(&self, def: DefId) -> bool {
        self.reordered.contains(&def)
    }

    /// Removes the `repr(C)` of a struct, or adds it again.
    pub fn set_reordered(&mut self, def: DefId, is_reordered: bool) {
        if is_reordered {
            self.reordered.insert(def);
        } else {
            self.reordered.remove(&def);
        }
        self.known.get_mut().open(Node::Def(def), &self.graph);
    }

    /// Returns the new layout of a scalar.
    pub fn scalar(&self, site: SiteId) -> Option<Layout> {
        self.scalars.get(&site).copied()
    }

    /// Changes the layout of a scalar, or undoes that.
    pub fn set_scalar(&mut self, site: SiteId, layout: Option<Layout>) {
        match layout {
            Some(layout) => self.scalars.insert(site, layout),
            None => self.scalars.remove(&site),
        }
        self.known.get_mut().open(Node::Site(site), &self.graph);
    }

    /// Returns bytes and allocations after all changes.
    pub fn sum(&self) -> Sum {
        self.evaluate();
        let sum = self.known.borrow().sum();
        let whole = |n: Wide| u64::try_from(n.0.max(0)).unwrap_or(u64::MAX);
        Sum { bytes: whole(wide(self.program.inline) + sum.bytes), allocations: whole(sum.allocations) }
    }

    /// Returns whether the sum is exact and not an estimate.
    pub fn is_exact(&self) -> bool {
        self.evaluate();
        self.known.borrow().sum().guesses == Saturating(0)
    }

    /// Returns the layout of a site after all changes.
    pub fn layout(&self, site: SiteId) -> Layout {
        self.evaluate();
        self.site(site)
    }

    /// Returns the layout of a struct or enum after all changes.
    pub fn def(&self, def: DefId) -> Layout {
        self.evaluate();
        self.of_def(def)
    }

    /// Returns the bytes of a variant's fields after all changes.
    pub fn variant_size(&self, def: DefId, variant: usize) -> u64 {
        self.evaluate();
        structure(&self.fields(def, variant)).size
    }

    /// Returns the variants of an enum with unboxed fields of more than `least` bytes, the largest first.
    pub fn largest_variants(&self, def: DefId, least: u64) -> Vec<usize> {
        self.evaluate();
        let variants = (0..self.program.defs[def].variants.len()).filter(|&variant| !self.is_boxed(def, variant));
        let mut by_size: Vec<(u64, usize)> =
            variants.map(|variant| (structure(&self.fields(def, variant)).size, variant)).collect();
        by_size.retain(|&(size, _)| size > least);
        sorted(by_size, &|a, b| b.0.cmp(&a.0)).into_iter().map(|(_, variant)| variant).collect()
    }

    /// Returns the size of the block that a box in place of the site's type would need.
    pub fn boxed_size(&self, site: SiteId) -> u64 {
        self.evaluate();
        self.bare(self.program.without_option(site)).size
    }

    /// Begins a trial, after which all is as before.
    pub(super) fn begin(&mut self) {
        self.evaluate();
        self.known.get_mut().begin();
    }

    /// Ends a trial whose edits were undone.
    pub(super) fn end(&mut self) {
        self.tried = self.known.get_mut().end();
    }

    /// Returns what the last trial has computed.
    pub(super) fn tried(&self) -> &Tried {
        &self.tried
    }

    /// Returns `true` if an earlier trial would have the same effect again.
    pub(super) fn is_same(&self, tried: &Tried) -> bool {
        self.evaluate();
        self.known.borrow().is_same(tried)
    }

    /// Computes what is open. All that is read afterwards is known.
    fn evaluate(&self) {
        self.known.borrow_mut().change();
        let take = || self.known.borrow_mut().take_open(&self.graph);
        while let Some(node) = take() {
            let layout = match node {
                Node::Site(site) => self.changed(site),
                Node::Def(def) => self.changed_def(def),
            };
            self.known.borrow_mut().set_layout(node, layout, &self.graph);
        }
        let take = || self.known.borrow_mut().take_open_part(&self.graph);
        while let Some(node) = take() {
            let part = match node {
                Node::Site(site) => self.blocks(site),
                Node::Def(def) => self.boxes(def),
            };
            self.known.borrow_mut().set_part(node, part, &self.graph);
        }
    }

    fn own(&self, site: SiteId) -> Layout {
        self.program.sites[site].own
    }

    /// Returns a site's layout after all changes, and marks a guess if it differs from the old one and is not certain.
    fn noted(&self, site: SiteId, is_guess: &Cell<bool>) -> Layout {
        note(self.own(site), self.site(site), is_guess)
    }

    /// Returns a site's layout after all changes.
    fn site(&self, site: SiteId) -> Layout {
        self.known.borrow().layout(Node::Site(site), &self.graph)
    }

    /// Returns the layout of a struct or enum after all changes.
    fn of_def(&self, def: DefId) -> Layout {
        self.known.borrow().layout(Node::Def(def), &self.graph)
    }

    /// Computes a site's layout after all changes.
    fn changed(&self, site: SiteId) -> Layout {
        match self.changes.get(&site) {
            Some(Change::Boxed) => Layout::OPTIONAL_POINTER,
            Some(Change::BoxedAlways | Change::Sparse | Change::Thin | Change::Sorted) => Layout::POINTER,
            Some(Change::Exact) => Layout::WIDE_POINTER,
            None => self.bare(site),
        }
    }

    /// Computes a site's layout after all changes except that of the site itself.
    fn bare(&self, site: SiteId) -> Layout {
        let field = &self.program.sites[site];
        if let Some(&scalar) = self.scalars.get(&site) {
            return scalar;
        }
        let part = |part: SiteId| self.site(part);
        let has_changed = |parts: &[SiteId]| parts.iter().any(|&part| self.site(part) != self.own(part));
        match &field.shape {
            Shape::Def(def) => self.of_def(*def),
            Shape::Tuple(parts) if has_changed(parts) => {
                let old: Vec<Layout> = parts.iter().map(|&part| self.own(part)).collect();
                let new: Vec<Layout> = parts.iter().map(|&site| part(site)).collect();
                checked(field.own, tuple(&old), tuple(&new))
            }
            &Shape::Optional { some, .. } if has_changed(&[some]) => {
                checked(field.own, option(self.own(some)), option(part(some)))
            }
            &Shape::Wrapper(inner) if has_changed(&[inner]) => {
                let (old, new) = (self.own(inner), part(inner));
                let bytes = up(resized(field.own.size, old.size, new.size), field.own.align.max(new.align));
                // The flags of a lock or cell may fit into the padding of its value.
                let is_sure = old.align == new.align && old.size % old.align == 0;
                let align = field.own.align.max(new.align);
                let layout = Layout { sure: is_sure && new.sure, ..Layout::plain(bytes, align) };
                layout.with_unknown_niche(field.own.niche.is_some())
            }
            &Shape::Array(element, len) if has_changed(&[element]) => array(part(element), len),
            _ => field.own,
        }
    }

    /// Computes the layout of a struct or enum after all changes.
    fn changed_def(&self, def: DefId) -> Layout {
        let definition = &self.program.defs[def];
        let old = self.old[def];
        let same = |field: &super::FieldDef| self.site(field.site) == self.own(field.site);
        let is_same = self.variants.since(&(def, 0)).first().is_none_or(|&(other, _)| other != def)
            && !self.reordered.contains(&def)
            && definition.variants.iter().all(|variant| variant.fields.iter().all(same));
        let new = if is_same { old } else { self.rules(def, true) };
        if new == old { definition.own } else { checked(definition.own, old, new) }
    }

    /// Returns the layout of a struct or enum by the rules.
    fn rules(&self, def: DefId, changed: bool) -> Layout {
        let definition = &self.program.defs[def];
        if definition.is_enum {
            if !changed {
                return of_variants(&self.old_variants[def]);
            }
            let same = |field: &super::FieldDef| self.site(field.site) == self.own(field.site);
            let number = definition.variants.len();
            let of_variant = |variant: usize| {
                if self.variants.contains(&(def, variant)) {
                    OfVariant::new(&[Layout::POINTER], number)
                } else if definition.variants[variant].fields.iter().all(same) {
                    self.old_variants[def][variant]
                } else {
                    self.computed(def, variant)
                }
            };
            return of_variants(&(0..number).map(of_variant).collect::<Vec<_>>());
        }
        let fields = if changed { self.fields(def, 0) } else { self.old_fields(def, 0) };
        match definition.repr {
            ReprOf::C if !(changed && self.reordered.contains(&def)) => declared(&fields),
            ReprOf::Packed => {
                let size = fields.iter().fold(0, |sum: u64, field| sum.saturating_add(field.size));
                Layout { align: definition.own.align, ..Layout::plain(size, 1) }
            }
            ReprOf::Tail => tuple(&fields),
            _ => structure(&fields),
        }
    }

    /// Returns a variant by the layouts that its fields have after all changes.
    fn computed(&self, def: DefId, variant: usize) -> OfVariant {
        let fields = self.fields(def, variant);
        let mut known = self.computed[def][variant].borrow_mut();
        if let Some((_, found)) = known.iter().find(|(other, _)| *other == fields) {
            return *found;
        }
        let new = OfVariant::new(&fields, self.program.defs[def].variants.len());
        if known.len() == KEPT {
            known.clear();
        }
        known.push((fields, new));
        new
    }

    fn old_fields(&self, def: DefId, variant: usize) -> Vec<Layout> {
        self.program.defs[def].variants[variant].fields.iter().map(|field| self.own(field.site)).collect()
    }

    fn fields(&self, def: DefId, variant: usize) -> Vec<Layout> {
        self.program.defs[def].variants[variant].fields.iter().map(|field| self.site(field.site)).collect()
    }
}

// The blocks that values own.
impl Plan<'_> {
    /// Returns the blocks of the boxed variants of an enum.
    fn boxes(&self, def: DefId) -> Part {
        let mut sum = Part::default();
        let boxed = self.variants.since(&(def, 0)).iter().take_while(|&&(other, _)| other == def);
        for &(_, variant) in boxed {
            let filled = self.program.defs[def].variants[variant].counts.filled;
            sum.add(filled, structure(&self.fields(def, variant)).size);
        }
        sum
    }

    /// Returns the blocks that the values of a site own, with the change in size of the root value itself.
    fn blocks(&self, site: SiteId) -> Part {
        let (mut sum, is_guess) = (Part::default(), Cell::new(false));
        if site == 0 {
            sum.bytes += change_of(self.noted(site, &is_guess).size, self.own(site).size);
        }
        let field = &self.program.sites[site];
        let counts = &field.counts;
        let old = |part: SiteId| self.own(part);
        let new = |part: SiteId| self.noted(part, &is_guess);
        let change = self.changes.get(&site).copied();
        match change {
            Some(Change::Boxed) => sum.add(counts.filled, self.boxed(site, &is_guess)),
            Some(Change::BoxedAlways) => sum.add(counts.instances, self.boxed(site, &is_guess)),
            Some(Change::Sparse) => {
                let inner = &self.program.sites[self.program.without_option(site)].counts;
                sum.add(inner.filled.saturating_sub(inner.defaults), self.boxed(site, &is_guess));
            }
            _ => {}
        }
        // A value that moves into a box still owns its own blocks.
        let change = change.filter(|change| matches!(change, Change::Exact | Change::Thin | Change::Sorted));
        let full = counts.allocations.saturating_sub(counts.hollow);
        let used = wide(counts.used);
        let requested = wide(counts.requested);
        let (bytes, blocks) = match (&field.shape, change) {
            (Shape::Text(_), Some(change)) => {
                let text = wide(counts.requested.saturating_sub(counts.waste));
                let header = match change {
                    Change::Thin => wide(blocks::thin_texts(full, counts.long)),
                    _ => wide(0),
                };
                (text + header, full)
            }
            // A boxed slice or string has no spare capacity, so its bytes are those of its contents.
            (&Shape::Pointer(Holder::Box, inner), Some(Change::Thin)) => {
                if let Shape::Sequence(_, element) = self.program.sites[inner].shape {
                    // The site of the slice counts the growth of the elements.
                    let header = blocks::thin_header(new(element));
                    let used = wide(self.program.sites[inner].counts.used);
                    (used * wide(old(element).size) + wide(full) * wide(header), full)
                } else {
                    (requested + wide(blocks::thin_texts(full, counts.long)), full)
                }
            }
            (&Shape::Sequence(_, element), Some(change)) => {
                let header = if change == Change::Thin { blocks::thin_header(new(element)) } else { 0 };
                (used * wide(new(element).size) + wide(full) * wide(header), full)
            }
            (&Shape::Map(_, key, value), Some(_)) => {
                let entry = blocks::entry(new(key), new(value));
                let maps = counts.filled.saturating_sub(counts.hollow);
                (used * wide(entry.size) + wide(maps) * wide(blocks::thin_header(entry)), maps)
            }
            (&Shape::Sequence(holder, element), None) => {
                (requested + grown(holder, counts, old(element), new(element), &is_guess), counts.allocations)
            }
            (&Shape::Map(holder, key, value), None) => {
                let (old, new) = ([old(key), old(value)], [new(key), new(value)]);
                (requested + map_grown(holder, counts, old, new, &is_guess), counts.allocations)
            }
            (&Shape::Pointer(holder, to), None) => {
                // The site of an unsized target counts its elements.
                let is_thin = self.program.sites[site].own.size == WORD;
                let thin_box = matches!(holder, Holder::Box | Holder::Sparse) && self.is_sized(to);
                let counted = holder == Holder::Counted && self.is_sized(to);
                let more = if old(to) == new(to) {
                    // The block of a slice in an `Rc` is rounded up to a word.
                    if holder == Holder::Counted && self.slice_changes(to) {
                        is_guess.set(true);
                    }
                    wide(0)
                } else if thin_box {
                    used * change_of(new(to).size, old(to).size)
                } else if counted {
                    wide(counts.allocations) * change_of(blocks::counted(new(to)), blocks::counted(old(to)))
                } else {
                    is_guess.set(true);
                    if is_thin { used * change_of(new(to).size, old(to).size) } else { wide(0) }
                };
                (requested + more, counts.allocations)
            }
            _ => (requested, counts.allocations),
        };
        sum.bytes += bytes;
        sum.allocations += wide(blocks);
        if is_guess.get() {
            sum.guess();
        }
        sum
    }

    fn boxed(&self, site: SiteId, is_guess: &Cell<bool>) -> u64 {
        let inner = self.program.without_option(site);
        // If the value in an `Option` has its own change, the box contains the changed type.
        let layout = if inner == site { self.bare(site) } else { self.site(inner) };
        note(self.own(inner), layout, is_guess).size
    }

    fn is_sized(&self, site: SiteId) -> bool {
        !matches!(self.program.sites[site].shape, Shape::Text(Holder::Unsized) | Shape::Sequence(Holder::Unsized, _))
            && self.own(site).size != 0
    }

    fn slice_changes(&self, site: SiteId) -> bool {
        match self.program.sites[site].shape {
            Shape::Sequence(Holder::Unsized, element) => {
                let (old, new) = (self.own(element), self.site(element));
                old.size != new.size && !(old.size.is_multiple_of(WORD) && new.size.is_multiple_of(WORD))
            }
            _ => false,
        }
    }
}

/// Returns the new layout, and marks a guess if it differs from the old one and is not certain.
fn note(old: Layout, new: Layout, is_guess: &Cell<bool>) -> Layout {
    if !new.sure && (new.size, new.align, new.niche) != (old.size, old.align, old.niche) {
        is_guess.set(true);
    }
    new
}

/// Returns the bytes by which the blocks of a sequence grow with the size of its elements.
fn grown(holder: Holder, counts: &Counts, old: Layout, new: Layout, is_guess: &Cell<bool>) -> Wide {
    if old == new {
        return wide(0);
    }
    let element_slots = wide(counts.element_slots);
    match holder {
        Holder::Linked => wide(counts.allocations) * change_of(blocks::link(new), blocks::link(old)),
        Holder::Thin => {
            let header = change_of(blocks::thin_header(new), blocks::thin_header(old));
            element_slots * change_of(new.size, old.size) + wide(counts.allocations) * header
        }
        Holder::Other => {
            if old.size != new.size {
                is_guess.set(true);
            }
            element_slots * change_of(new.size, old.size)
        }
        _ => element_slots * change_of(new.size, old.size),
    }
}

/// Returns the bytes by which the blocks of a map grow with the size of its keys and values.
fn map_grown(holder: Holder, counts: &Counts, old: [Layout; 2], new: [Layout; 2], is_guess: &Cell<bool>) -> Wide {
    if old == new {
        return wide(0);
    }
    let element_slots = wide(counts.element_slots);
    let entries = [blocks::entry(old[0], old[1]), blocks::entry(new[0], new[1])];
    let more = change_of(entries[1].size, entries[0].size);
    match holder {
        Holder::BTree => {
            let ends = |[key, value]: [Layout; 2]| [blocks::leaf(key, value), blocks::internal(key, value)].map(wide);
            let ([old_leaf, old_internal], [leaf, internal]) = (ends(old), ends(new));
            let nodes = wide(counts.allocations);
            // The bytes of all nodes determine the number of inner nodes.
            let internals = (wide(counts.requested) - nodes * old_leaf) / (old_internal - old_leaf).max(Saturating(1));
            (nodes - internals) * (leaf - old_leaf) + internals * (internal - old_internal)
        }
        Holder::Growable => {
            if !blocks::table_is_regular(entries[0], entries[1]) {
                is_guess.set(true);
            }
            element_slots * more
        }
        Holder::Thin => {
            let header = change_of(blocks::thin_header(entries[1]), blocks::thin_header(entries[0]));
            element_slots * more + wide(counts.allocations) * header
        }
        _ => {
            if entries[0] != entries[1] {
                is_guess.set(true);
            }
            element_slots * more
        }
    }
}

/// Returns the size of a whole, of which one part changes its size.
fn resized(whole: u64, old: u64, new: u64) -> u64 {
    whole.saturating_add(new).saturating_sub(old)
}

/// Returns the layout of a changed type by the rules, or an estimate if the rules do not reproduce the present layout.
fn checked(own: Layout, old: Layout, new: Layout) -> Layout {
    let same = (old.size, old.align) == (own.size, own.align)
        && (old.niche.is_some() == own.niche.is_some() || !own.niche_sure);
    if same {
        return new;
    }
    // The estimate adds the change in size by the rules to the present size.
    let align = if old.align == own.align { new.align } else { own.align.max(new.align) };
    let size = if old.size == own.size { new.size } else { resized(own.size, old.size, new.size) };
    Layout { size: up(size, align), align, niche: new.niche, ..Layout::NOTHING.guess() }
}
