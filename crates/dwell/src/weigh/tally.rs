//! What a walk counts by type and field.

use super::types::{Kind, Type};
use std_alloc::vec::Vec;

/// No node yet.
const NONE: u32 = u32::MAX;
/// Nodes from which on recursive types share one node each, wherever they occur: bounds what many types that hold each
/// other could make of a tree.
const MOST_NODES: usize = 1 << 14;

/// A node, and where the links to its children begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    node: u32,
    links: u32,
}

/// Counters for each node met, and the links from nodes to children.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) nodes: Vec<Counter>,
    /// The children of all nodes: `parts` of each from its `links` on.
    pub(super) links: Vec<u32>,
    /// Where the walk is.
    pub(super) cursor: Cursor,
}

/// What was counted at one node.
///
/// In order of declaration, so that all that a walk touches again and again is in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Counter {
    /// Values found that are not vacant.
    pub(super) entered: u64,
    /// Places in blocks of the parent's, and those in use.
    pub(super) slots: u64,
    pub(super) used: u64,
    /// Blocks owned: bytes asked for, bytes taken by the model, how many, bytes not in use.
    pub(super) requested: u64,
    pub(super) taken: u64,
    pub(super) blocks: u64,
    pub(super) spare: u64,
    /// Where the links to its parts begin, and how many there are.
    pub(super) links: u32,
    pub(super) parts: u32,
    // From here on only for who makes a node.
    pub(super) ty: &'static Type,
    /// Which variant of the enum `ty` this is, if it is one.
    pub(super) variant: Option<u32>,
    /// The node this was first reached from.
    pub(super) parent: u32,
}

impl Tally {
    pub(super) fn new(root: &'static Type) -> Self {
        let mut tally = Self::default();
        tally.add(root, None, NONE);
        tally.nodes[0].slots = 1;
        tally.nodes[0].used = 1;
        tally
    }

    pub(super) fn count_root(&mut self) {
        self.nodes[0].entered += 1;
    }

    /// Makes a node.
    #[cold]
    fn add(&mut self, ty: &'static Type, variant: Option<u32>, parent: u32) -> u32 {
        let parts = match (&ty.kind, variant) {
            (Kind::Enum { variants }, Some(variant)) => variants[variant as usize].fields.len(),
            _ => ty.parts(),
        };
        let links = narrow(self.links.len());
        self.links.resize(self.links.len() + parts, NONE);
        self.nodes.push(Counter {
            ty,
            variant,
            parent,
            links,
            parts: narrow(parts),
            entered: 0,
            slots: 0,
            used: 0,
            requested: 0,
            taken: 0,
            blocks: 0,
            spare: 0,
        });
        narrow(self.nodes.len() - 1)
    }

    /// Counts a value, and leads on to its parts; gives back the cursor to return to.
    #[inline]
    pub(super) fn enter(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.descend(index, ty);
        self.count();
        outer
    }

    /// Leads on to part `index`, which lies in the value itself.
    #[inline]
    pub(super) fn descend(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let at = outer.links as usize + index;
        let mut node = self.links[at];
        if node == NONE {
            node = self.add(ty, None, outer.node);
            self.links[at] = node;
        }
        self.cursor = Cursor { node, links: self.nodes[node as usize].links };
        outer
    }

    /// Leads on to part `index`, which lies in a block of its own: only here does a recursive type come round again.
    #[inline]
    pub(super) fn descend_apart(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let node = self.apart(index, ty);
        self.cursor = Cursor { node, links: self.nodes[node as usize].links };
        outer
    }

    #[inline]
    fn apart(&mut self, index: usize, ty: &'static Type) -> u32 {
        let at = self.cursor.links as usize + index;
        let node = self.links[at];
        if node != NONE {
            return node;
        }
        let node = self.same_type_around(ty).unwrap_or_else(|| self.add(ty, None, self.cursor.node));
        self.links[at] = node;
        node
    }

    #[cold]
    fn same_type_around(&self, ty: &'static Type) -> Option<u32> {
        let is_of = |node: &Counter| node.variant.is_none() && node.ty.is(ty);
        if self.nodes.len() >= MOST_NODES
            && let Some(found) = self.nodes.iter().position(is_of)
        {
            return Some(narrow(found));
        }
        let mut node = self.cursor.node;
        while node != NONE {
            if is_of(&self.nodes[node as usize]) {
                return Some(node);
            }
            node = self.nodes[node as usize].parent;
        }
        None
    }

    /// Counts a variant of the enum at hand, and leads on to its fields.
    #[inline]
    pub(super) fn enter_variant(&mut self, index: usize) -> Cursor {
        let outer = self.cursor;
        let at = outer.links as usize + index;
        let mut node = self.links[at];
        if node == NONE {
            node = self.add(self.nodes[outer.node as usize].ty, Some(narrow(index)), outer.node);
            self.links[at] = node;
        }
        self.cursor = Cursor { node, links: self.nodes[node as usize].links };
        self.count();
        outer
    }

    #[inline]
    pub(super) fn count(&mut self) {
        self.nodes[self.cursor.node as usize].entered += 1;
    }

    #[inline]
    pub(super) fn block(&mut self, requested: u64, taken: u64, blocks: u64, spare: u64) {
        let node = &mut self.nodes[self.cursor.node as usize];
        node.requested = node.requested.saturating_add(requested);
        node.taken = node.taken.saturating_add(taken);
        node.blocks += blocks;
        node.spare = node.spare.saturating_add(spare);
    }

    #[inline]
    pub(super) fn places(&mut self, index: usize, ty: &'static Type, slots: u64, used: u64) {
        let node = self.apart(index, ty);
        let node = &mut self.nodes[node as usize];
        node.slots = node.slots.saturating_add(slots);
        node.used = node.used.saturating_add(used);
    }

    /// The children of a node by part, `None` where none was met.
    pub(super) fn children(&self, node: &Counter) -> impl Iterator<Item = Option<usize>> {
        let links = node.links as usize;
        self.links[links..links + node.parts as usize].iter().map(|child| (*child != NONE).then_some(*child as usize))
    }
}

/// As many nodes as fit in memory are fewer than this.
fn narrow(n: usize) -> u32 {
    u32::try_from(n).expect("fewer than 2^32 nodes")
}
