//! What a walk found, by type and field.

use super::Weight;
use super::model::Model;
use super::tally::{Counter, Odd};
use super::texts::Texts;
use super::types::{Field, Kind, Reach, Type};
use std_alloc::vec::Vec;

/// What a value owns, by type and field: the answer of [`tree`](super::tree).
///
/// A node is a place in the program's types: the field of a struct, the elements of a vector, what a box points to. There
/// are as many as the types have such places, however many values there are: a recursive type comes back to the node
/// where it was first met.
///
/// `nodes[0]` is the value itself; a parent stands before its children. A node's blocks are those that its values own
/// themselves, so that the sum of [`heap`](Node::heap) over all nodes is the total's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tree {
    /// The nodes; the first is the value.
    pub nodes: Vec<Node>,
    /// The total.
    pub weight: Weight,
    /// Whose bytes were counted.
    pub model: Model,
    /// What was counted, for predictions.
    pub(super) counters: Vec<Counter>,
}

/// A place in the types of what was weighed, and what was found at all such places.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The node that this is a part of; `None` for the first.
    pub parent: Option<usize>,
    /// Which part of it.
    pub edge: Edge,
    /// The type of the values; of a variant, the enum's.
    pub ty: &'static Type,
    /// The parts, each below this node or, where a recursive type comes round, above it.
    pub children: Vec<usize>,
    /// Bytes of each place: the size of the type.
    pub size: u64,
    /// Places that hold a value.
    pub instances: u64,
    /// Places that there are, whether they hold a value or not: capacities, buckets, the insides of options.
    ///
    /// The variants of an enum overlap: each has as many places as values.
    pub slots: u64,
    /// Values that have something in them: that are not `None` and not an empty collection without a block.
    pub filled: u64,
    /// Bytes of the blocks that these values own themselves, as the model counts them.
    pub heap: u64,
    /// Bytes of those blocks as asked for.
    pub requested: u64,
    /// How many blocks.
    pub allocations: u64,
    /// Bytes asked for that hold nothing: capacity beyond the length, free buckets, free places in a B-tree.
    pub waste: u64,
    /// The strings at this place, those in boxes of it too, if [they were read](super::tree_with_texts).
    pub texts: Option<Texts>,
}

/// Which part of its parent a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edge {
    /// Of nothing: it is the value.
    Root,
    /// The field of this number.
    Field(usize),
    /// The variant of this number.
    Variant(usize),
    /// What an option holds.
    Optional,
    /// What a cell or lock holds.
    Inner,
    /// The elements of an array, in place.
    Array,
    /// The elements of a collection.
    Element,
    /// The keys of a map.
    Key,
    /// The values of a map.
    Value,
    /// What a pointer points to.
    Pointee,
}

impl Edge {
    /// Whether the part lies in the parent's own bytes, not in a block of the parent's.
    pub fn is_inline(self) -> bool {
        matches!(self, Self::Field(_) | Self::Variant(_) | Self::Optional | Self::Inner | Self::Array)
    }
}

impl Edge {
    fn part(self) -> usize {
        match self {
            Self::Field(part) | Self::Variant(part) => part,
            Self::Value => 1,
            _ => 0,
        }
    }
}

impl Node {
    /// Bytes of all places.
    pub fn inline(&self) -> u64 {
        self.size.saturating_mul(self.slots)
    }

    /// How many of a hundred places hold nothing.
    pub fn percent_empty(&self) -> f64 {
        if self.slots == 0 { 0.0 } else { self.slots.saturating_sub(self.filled) as f64 / self.slots as f64 * 100.0 }
    }

    /// Bytes of the places that hold nothing.
    pub fn empty(&self) -> u64 {
        self.slots.saturating_sub(self.filled).saturating_mul(self.size)
    }
}

impl Tree {
    /// What a node is called: the field, the variant, or how the parent holds it.
    pub fn label(&self, node: usize) -> &'static str {
        let node = &self.nodes[node];
        match node.edge {
            Edge::Field(_) => self.field(node).map_or("", |field| field.name),
            Edge::Variant(index) => match node.ty.kind {
                Kind::Enum { variants } => variants[index].name,
                _ => "",
            },
            edge => label_of(edge),
        }
    }

    /// What is known of the field that a node is.
    pub fn field(&self, node: &Node) -> Option<&'static Field> {
        let Edge::Field(index) = node.edge else { return None };
        fields_of(&self.nodes[node.parent?]).map(|fields| &fields[index])
    }

    /// The blocks of a node and of all below it, as the model counts them.
    pub fn heap_below(&self) -> Vec<u64> {
        let mut sums: Vec<u64> = self.nodes.iter().map(|node| node.heap).collect();
        // A parent stands before its children.
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent {
                sums[parent] = sums[parent].saturating_add(sums[index]);
            }
        }
        sums
    }

    pub(super) fn new(counters: Vec<Counter>, weight: Weight, model: Model) -> Self {
        let mut tree = Self { nodes: Vec::with_capacity(counters.len() * 2), weight, model, counters: Vec::new() };
        tree.grow(&counters);
        tree.counters = counters;
        tree
    }

    /// Brings the nodes met in order, with those beside them that were not met.
    fn grow(&mut self, counters: &[Counter]) {
        // Where in the tree each counter has gone; a parent's before its children's.
        let mut places: Vec<Option<usize>> = counters.iter().map(|_| None).collect();
        let mut links: Vec<(usize, usize)> = Vec::new();
        // Counters to bring, last first.
        let mut todo: Vec<(usize, Option<usize>, Edge)> = Vec::new();
        todo.push((0, None, Edge::Root));
        while let Some((counter, parent, edge)) = todo.pop() {
            let counted = &counters[counter];
            let index = self.push(counted, parent, edge);
            places[counter] = Some(index);
            for (part, &child) in counted.children.iter().enumerate().rev() {
                let Some(edge) = edge_of(counted, part) else { continue };
                match child {
                    Some(child) if counters[child].parent == Some(counter) => {
                        todo.push((child, Some(index), edge));
                    }
                    // A recursive type comes round.
                    Some(child) => links.push((index, child)),
                    None => {}
                }
            }
            self.add_unmet(counted, index);
        }
        for (parent, child) in links {
            if let Some(child) = places[child] {
                self.nodes[parent].children.push(child);
            }
        }
        self.finish();
    }

    fn push(&mut self, counted: &Counter, parent: Option<usize>, edge: Edge) -> usize {
        let index = self.nodes.len();
        self.nodes.push(Node {
            parent,
            edge,
            ty: counted.ty,
            children: Vec::new(),
            size: counted.ty.size as u64,
            instances: counted.used,
            slots: counted.slots,
            filled: counted.entered,
            heap: counted.taken,
            requested: counted.requested,
            allocations: counted.blocks,
            waste: counted.spare,
            texts: counted.texts.clone(),
        });
        if let Some(parent) = parent {
            self.nodes[parent].children.push(index);
        }
        index
    }

    /// The fields and variants of which no value was met, and what the walk had no need to look at.
    fn add_unmet(&mut self, counted: &Counter, parent: usize) {
        for (part, child) in counted.children.iter().enumerate() {
            if child.is_some() {
                continue;
            }
            let (Some(edge), Some(ty)) = (edge_of(counted, part), type_of_part(counted, part)) else { continue };
            // Behind each box is a place, which the walk did not count if all its values are the same.
            let pointees = match counted.ty.kind {
                Kind::Pointer { to, .. } if counted.ty.is_box() && to().reach == Reach::Plain => counted.entered,
                _ => 0,
            };
            // What else no pointer and no block leads to has no place either; and the variants of an enum that is all the same
            // to a walk were not counted.
            if pointees != 0
                || edge.is_inline() && !(matches!(edge, Edge::Variant(_)) && counted.ty.reach == Reach::Plain)
            {
                let unmet = Counter {
                    ty,
                    entered: 0,
                    slots: pointees,
                    used: pointees,
                    requested: 0,
                    taken: 0,
                    blocks: 0,
                    spare: 0,
                    variant: counted.variant,
                    parent: counted.parent,
                    texts: None,
                    children: Vec::new(),
                    links: Vec::new(),
                    odd: Odd::default(),
                };
                self.push(&unmet, Some(parent), edge);
            }
        }
    }

    /// What lies in its parent has the parent's places.
    fn finish(&mut self) {
        let order: Vec<usize> = self.nodes.iter().map(|node| node.edge.part()).collect();
        for node in &mut self.nodes {
            node.children.sort_by_key(|child| order[*child]);
        }
        for index in 0..self.nodes.len() {
            let node = &self.nodes[index];
            let (mut slots, mut instances) = (node.slots, node.instances);
            if let (Some(parent), true) = (node.parent, node.edge.is_inline()) {
                let parent = &self.nodes[parent];
                let times = match (node.edge, &parent.ty.kind) {
                    (Edge::Array, Kind::Array { len, .. }) => *len as u64,
                    _ => 1,
                };
                let there = match (node.edge, parent.edge) {
                    (Edge::Variant(_), _) => node.filled,
                    (Edge::Optional, _) | (Edge::Field(_), Edge::Variant(_)) => parent.filled,
                    _ => parent.instances,
                };
                let places = if matches!(node.edge, Edge::Variant(_)) { there } else { parent.slots };
                slots = slots.saturating_add(places.saturating_mul(times));
                instances = instances.saturating_add(there.saturating_mul(times));
            }
            let node = &mut self.nodes[index];
            node.slots = slots;
            node.instances = instances;
            // Those were passed by, since none of them can be vacant.
            if node.ty.reach == Reach::Plain && !matches!(node.edge, Edge::Variant(_)) {
                node.filled = instances;
            }
        }
    }
}

fn fields_of(node: &Node) -> Option<&'static [Field]> {
    match (&node.ty.kind, node.edge) {
        (Kind::Enum { variants }, Edge::Variant(index)) => Some(variants[index].fields),
        (Kind::Struct { fields, .. }, _) => Some(fields),
        _ => None,
    }
}

/// What a part is called that has no name.
pub(super) fn label_of(edge: Edge) -> &'static str {
    match edge {
        Edge::Root | Edge::Field(_) | Edge::Variant(_) => "",
        Edge::Optional => "Some",
        Edge::Inner => "inner",
        Edge::Array | Edge::Element => "[]",
        Edge::Key => "key",
        Edge::Value => "value",
        Edge::Pointee => "*",
    }
}

/// Which part of a counter's type the number is.
fn edge_of(counted: &Counter, part: usize) -> Option<Edge> {
    Some(match &counted.ty.kind {
        Kind::Plain | Kind::Opaque | Kind::Text { .. } => return None,
        Kind::Struct { .. } => Edge::Field(part),
        Kind::Enum { .. } if counted.variant.is_some() => Edge::Field(part),
        Kind::Enum { .. } => Edge::Variant(part),
        Kind::Optional { .. } => Edge::Optional,
        Kind::Wrapper { .. } => Edge::Inner,
        Kind::Array { .. } => Edge::Array,
        Kind::Sequence { .. } => Edge::Element,
        Kind::Map { .. } if part == 0 => Edge::Key,
        Kind::Map { .. } => Edge::Value,
        Kind::Pointer { .. } => Edge::Pointee,
    })
}

/// The type of a part that was not met, inline or behind a pointer; `None` for those left out.
fn type_of_part(counted: &Counter, part: usize) -> Option<&'static Type> {
    Some(match (&counted.ty.kind, counted.variant) {
        (Kind::Struct { fields, .. }, _) => fields[part].part?(),
        (Kind::Enum { variants }, Some(variant)) => variants[variant].fields[part].part?(),
        (Kind::Enum { .. }, None) => counted.ty,
        (Kind::Optional { some }, _) => some(),
        (Kind::Wrapper { inner }, _) => inner(),
        (Kind::Array { element, .. }, _) => element(),
        (Kind::Pointer { to, .. }, _) => to(),
        _ => return None,
    })
}
