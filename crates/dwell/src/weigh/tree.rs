//! The result of a walk, by type and field.

use super::Weight;
use super::tally::Counter;
use super::texts::Texts;
use super::types::{Field, Kind, Reach, Type};
use crate::weigh::malloc::Model;
use crate::weigh::sorted::sort;
use core::mem;
use std_alloc::vec;
use std_alloc::vec::Vec;

/// The bytes of a value and of all that it owns, by type and field: the result of [`tree`](super::tree).
///
/// A node is a part of a type: a field of a struct, the elements of a vector, the target of a box. The number of
/// nodes depends on the types and not on the number of values. A recursive type reuses the nodes of enclosing values.
///
/// `nodes[0]` is the value itself; a parent precedes its children. A node counts only the blocks that its values own
/// directly, so that the sum of [`heap`](Node::heap) over all nodes is the total.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tree {
    /// The nodes; the first is the value.
    pub nodes: Vec<Node>,
    /// The total.
    pub weight: Weight,
    /// The allocator model of the bytes.
    pub model: Model,
    /// The counters of the walk, for predictions.
    pub(super) counters: Vec<Counter>,
}

/// A part of a type, with the sums over all its values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Node {
    /// The node that contains this part; `None` for the first node.
    pub parent: Option<usize>,
    /// The part's position in the parent.
    pub edge: Edge,
    /// The type of the values; for a variant, the type of the enum.
    pub ty: &'static Type,
    /// The nodes of the parts. A child that precedes this node is an enclosing value of a recursive type.
    pub children: Vec<usize>,
    /// Bytes of each slot: the size of the type.
    pub size: u64,
    /// The number of slots that hold a value.
    pub instances: u64,
    /// The number of slots, occupied or not: capacities, buckets, the payloads of options.
    ///
    /// The variants of an enum overlap, so the slots of a variant are its values.
    pub slots: u64,
    /// The number of values that are neither `None` nor an empty collection without a block.
    pub filled: u64,
    /// Bytes of the blocks that these values own directly, as the model counts them.
    pub heap: u64,
    /// Requested bytes of those blocks.
    pub requested: u64,
    /// The number of those blocks.
    pub allocations: u64,
    /// Requested bytes that are unused: spare capacity, free buckets, free slots of a B-tree.
    pub waste: u64,
    /// The distinct strings of this node and of boxes in it, if the walk [read strings](super::tree_with_texts).
    pub texts: Option<Texts>,
}

/// The position of a node in its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edge {
    /// The value itself, without a parent.
    Root,
    /// The field with this number.
    Field(usize),
    /// The variant with this number.
    Variant(usize),
    /// The value of an option.
    Optional,
    /// The value of a cell or lock.
    Inner,
    /// The elements of an array, which are stored inline.
    Array,
    /// The elements of a collection.
    Element,
    /// The keys of a map.
    Key,
    /// The values of a map.
    Value,
    /// The target of a pointer.
    Pointee,
}

impl Edge {
    /// Returns whether the part is stored inline in its parent, not in a heap block.
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
    /// Creates a node without values.
    fn new(parent: Option<usize>, edge: Edge, ty: &'static Type) -> Self {
        Self {
            parent,
            edge,
            ty,
            children: Vec::new(),
            size: ty.size as u64,
            instances: 0,
            slots: 0,
            filled: 0,
            heap: 0,
            requested: 0,
            allocations: 0,
            waste: 0,
            texts: None,
        }
    }

    /// Returns the bytes of all slots.
    pub fn inline(&self) -> u64 {
        self.size.saturating_mul(self.slots)
    }

    /// Returns the percentage of slots that are empty.
    pub fn percent_empty(&self) -> f64 {
        if self.slots == 0 { 0.0 } else { self.slots.saturating_sub(self.filled) as f64 / self.slots as f64 * 100.0 }
    }

    /// Returns the bytes of the empty slots.
    pub fn empty(&self) -> u64 {
        self.slots.saturating_sub(self.filled).saturating_mul(self.size)
    }
}

impl Tree {
    /// Returns the label of a node: the name of the field or variant, or `key`, `value`, `[]`, `*` and the like.
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

    /// Returns the description of a node's field, or `None` if the node is not a field.
    pub fn field(&self, node: &Node) -> Option<&'static Field> {
        let Edge::Field(index) = node.edge else { return None };
        fields_of(&self.nodes[node.parent?]).map(|fields| &fields[index])
    }

    /// Returns for each node the bytes of the blocks of the node and its descendants, as the model counts them.
    pub fn heap_below(&self) -> Vec<u64> {
        let mut sums: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            sums.push(node.heap);
        }
        // A parent precedes its children.
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

    /// Adds the nodes in order, including nodes for parts without values.
    fn grow(&mut self, counters: &[Counter]) {
        // The node of each counter. A parent's node precedes the nodes of its children. All counters are reached through
        // their parents.
        let mut nodes_of: Vec<usize> = vec![0; counters.len()];
        let mut links: Vec<(usize, usize)> = Vec::new();
        // The counters to add, in reverse order.
        let mut todo: Vec<(usize, Option<usize>, Edge)> = Vec::new();
        todo.push((0, None, Edge::Root));
        while let Some((counter, parent, edge)) = todo.pop() {
            let counted = &counters[counter];
            let index = self.push(Node {
                instances: counted.used,
                slots: counted.slots,
                filled: counted.entered,
                heap: counted.taken,
                requested: counted.requested,
                allocations: counted.blocks,
                waste: counted.spare,
                texts: counted.texts.clone(),
                ..Node::new(parent, edge, counted.ty)
            });
            nodes_of[counter] = index;
            for (part, &child) in counted.children.iter().enumerate().rev() {
                let Some(edge) = edge_of(counted, part) else { continue };
                match child {
                    Some(child) if counters[child].parent == Some(counter) => {
                        todo.push((child, Some(index), edge));
                    }
                    // A recursive type.
                    Some(child) => links.push((index, child)),
                    None => {}
                }
            }
            self.add_unmet(counted, index);
        }
        for (parent, child) in links {
            self.nodes[parent].children.push(nodes_of[child]);
        }
        self.finish();
    }

    fn push(&mut self, node: Node) -> usize {
        let index = self.nodes.len();
        if let Some(parent) = node.parent {
            self.nodes[parent].children.push(index);
        }
        self.nodes.push(node);
        index
    }

    /// Adds the fields and variants without values, and the parts that the walk skipped.
    fn add_unmet(&mut self, counted: &Counter, parent: usize) {
        for (part, child) in counted.children.iter().enumerate() {
            if child.is_some() {
                continue;
            }
            let (Some(edge), Some(ty)) = (edge_of(counted, part), type_of_part(counted, part)) else { continue };
            // Each box has a slot for its target. The walk does not count the slot if the target's type is plain.
            let pointees = match counted.ty.kind {
                Kind::Pointer { to, .. } if counted.ty.is_box() && to().reach == Reach::Plain => counted.entered,
                _ => 0,
            };
            // Without values, other parts behind pointers and in blocks have no slots. The walk skips the variants of a
            // plain enum.
            if pointees != 0
                || edge.is_inline() && !(matches!(edge, Edge::Variant(_)) && counted.ty.reach == Reach::Plain)
            {
                self.push(Node { instances: pointees, slots: pointees, ..Node::new(Some(parent), edge, ty) });
            }
        }
    }

    /// Adds the slots of parents to the parts that are stored inline in them.
    fn finish(&mut self) {
        for index in 0..self.nodes.len() {
            let mut children = mem::take(&mut self.nodes[index].children);
            sort(&mut children, &mut |a, b| self.nodes[a].edge.part().cmp(&self.nodes[b].edge.part()));
            self.nodes[index].children = children;
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
                let outer_slots = if matches!(node.edge, Edge::Variant(_)) { there } else { parent.slots };
                slots = slots.saturating_add(outer_slots.saturating_mul(times));
                instances = instances.saturating_add(there.saturating_mul(times));
            }
            let node = &mut self.nodes[index];
            node.slots = slots;
            node.instances = instances;
            // The walk skipped these values. None of them can be vacant.
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

/// Returns the label of a part without a name.
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

/// Returns the edge of part `part` of a counter's type, or `None` if the type has no parts.
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

/// Returns the type of a part without values, inline or behind a pointer, or `None` if the walk skips the part.
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
