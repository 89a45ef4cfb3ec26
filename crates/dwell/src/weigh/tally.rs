//! The counters of a walk, by type and field.

use super::texts::Texts;
use super::types::{Kind, Type};
use std_alloc::vec::Vec;

/// The index of a node's first cell, or 0 for no node.
pub(super) type Cursor = usize;

/// The cell of the link to the root, which precedes the root's own cells.
const TO_ROOT: usize = 0;
const ROOT: Cursor = TO_ROOT + 1;
/// The number of nodes from which on each struct and enum behind pointers has one node, and each other type behind
/// pointers has one in a field, wherever they occur. This bounds the tree of types that contain each other.
const MOST_NODES: usize = 1 << 14;

/// Four counters that the walk reads and writes together, with one bounds check.
type Cell = [u64; 4];

// The first cell of a node counts its blocks: requested bytes, unused bytes, bytes that the model's allocator adds by
// rounding, and the number of blocks.
const REQUESTED: usize = 0;
const SPARE: usize = 1;
const BEYOND: usize = 2;
const BLOCKS: usize = 3;

/// The distance from the cursor to the cells of the node's links. Each part has one link.
const LINKS: usize = 1;
/// The cursor of the part, or 0 if the walk has found no value of it.
const TO: usize = 0;
/// The number of values of the part that are not vacant.
const ENTERED: usize = 1;
/// The numbers of vacant and of occupied slots for the part in this node's blocks.
const FREE: usize = 2;
const USED: usize = 3;

/// The counters of all nodes and the links from nodes to their parts, in one table.
///
/// A step of the walk reads and updates one link.
#[derive(Debug, Default)]
pub(super) struct Tally {
    cells: Vec<Cell>,
    /// The nodes, in the order of their cells.
    nodes: Vec<Made>,
    /// The rare counters, by node. Nodes after the last that has any are left out.
    odd: Vec<Odd>,
    /// The distinct strings of each node, if the walk reads strings.
    pub(super) texts: Option<Vec<Option<Texts>>>,
    /// The current node of the walk.
    pub(super) cursor: Cursor,
}

/// Counters for rare properties of values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Odd {
    /// The number of values that are not vacant and yet equal their type's default.
    pub(super) defaults: u64,
    /// The number of blocks of which no byte is in use.
    pub(super) hollow: u64,
    /// The number of strings for which a `ThinStr` would need its longer header.
    pub(super) long: u64,
}

/// The counters of the link to a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The part's node, if it exists.
    pub(super) to: Option<usize>,
    pub(super) entered: u64,
    pub(super) used: u64,
    pub(super) free: u64,
}

/// The data of a node that the steps of the walk do not access.
#[derive(Debug)]
struct Made {
    at: Cursor,
    parts: usize,
    ty: &'static Type,
    variant: Option<usize>,
    parent: Option<usize>,
    /// The number of the part in the parent.
    part: usize,
}

impl Made {
    /// Returns whether the node is for values of the type, not for a variant of it.
    fn is_of(&self, ty: &Type) -> bool {
        self.variant.is_none() && self.ty.is(ty)
    }
}

/// The counters of one node, with the sums over the links to it.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) ty: &'static Type,
    /// The variant of the enum `ty`, if the node is a variant.
    pub(super) variant: Option<usize>,
    /// The node from which the walk first reached this node.
    pub(super) parent: Option<usize>,
    pub(super) entered: u64,
    pub(super) slots: u64,
    pub(super) used: u64,
    pub(super) requested: u64,
    pub(super) taken: u64,
    pub(super) blocks: u64,
    pub(super) spare: u64,
    /// The distinct strings, if the walk read strings.
    pub(super) texts: Option<Texts>,
    /// The nodes of the parts; `None` for a part without values.
    pub(super) children: Vec<Option<usize>>,
    /// The counters of the links to the parts.
    pub(super) links: Vec<Link>,
    pub(super) odd: Odd,
}

impl Tally {
    pub(super) fn new(root: &'static Type) -> Self {
        let mut to_root = Cell::default();
        (to_root[TO], to_root[USED]) = (ROOT as u64, 1);
        let mut tally =
            Self { cells: Vec::from([to_root]), nodes: Vec::new(), odd: Vec::new(), texts: None, cursor: ROOT };
        tally.add(root, None, None, 0);
        tally
    }

    /// Counts the root as a value that is not vacant.
    pub(super) fn enter_root(&mut self) {
        self.cells[TO_ROOT][ENTERED] = 1;
    }

    /// Adds a node and returns its cursor.
    #[cold]
    #[inline(never)]
    fn add(&mut self, ty: &'static Type, variant: Option<usize>, parent: Option<usize>, part: usize) -> Cursor {
        let parts = match (&ty.kind, variant) {
            (Kind::Enum { variants }, Some(variant)) => variants[variant].fields.len(),
            _ => ty.parts(),
        };
        let at = self.cells.len();
        self.cells.resize(at + LINKS + parts, Cell::default());
        self.nodes.push(Made { at, parts, ty, variant, parent, part });
        at
    }

    /// Returns the number of the node at `cursor`.
    fn number(&self, cursor: Cursor) -> usize {
        self.nodes.partition_point(|node| node.at < cursor)
    }

    #[inline]
    fn cell(&mut self, at: usize) -> &mut Cell {
        match self.cells.get_mut(at) {
            Some(cell) => cell,
            None => no_such_part(),
        }
    }

    /// Returns the link to part `index` of the current node.
    #[inline]
    fn link(&mut self, index: usize) -> &mut Cell {
        self.cell(self.cursor + LINKS + index)
    }

    /// Counts a value and moves the cursor to its node. Returns the old cursor.
    #[inline]
    pub(super) fn enter(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let link = self.link(index);
        link[ENTERED] += 1;
        // The cold function returns no value, so that a step keeps no register alive across the call.
        match of_cell(link[TO]) {
            0 => self.enter_new(index, ty),
            to => self.cursor = to,
        }
        outer
    }

    /// Counts a variant of the current enum and moves the cursor to its node. Returns the old cursor.
    #[inline]
    pub(super) fn enter_variant(&mut self, index: usize) -> Cursor {
        let outer = self.cursor;
        let link = self.link(index);
        link[ENTERED] += 1;
        match of_cell(link[TO]) {
            0 => self.enter_new_variant(index),
            to => self.cursor = to,
        }
        outer
    }

    /// Counts an occupied slot for part 0 and moves the cursor to the part's node. Returns the old cursor.
    #[inline]
    pub(super) fn enter_pointee(&mut self, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let link = self.link(0);
        link[USED] += 1;
        link[ENTERED] += 1;
        match of_cell(link[TO]) {
            0 => self.enter_new_on_heap(ty),
            to => self.cursor = to,
        }
        outer
    }

    /// Returns the node of part `index`, which is stored inline.
    #[inline]
    pub(super) fn inline(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match of_cell(self.link(index)[TO]) {
            0 => self.make(index, ty, None),
            to => to,
        }
    }

    /// Returns the node of part `index`, which is stored in a heap block. A recursive type reuses the node of the
    /// enclosing value.
    #[inline]
    pub(super) fn on_heap(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match of_cell(self.link(index)[TO]) {
            0 => self.make_on_heap(index, ty),
            to => to,
        }
    }

    #[cold]
    #[inline(never)]
    fn enter_new(&mut self, index: usize, ty: &'static Type) {
        self.cursor = self.make(index, ty, None);
    }

    #[cold]
    #[inline(never)]
    fn enter_new_variant(&mut self, index: usize) {
        let ty = self.nodes[self.number(self.cursor)].ty;
        self.cursor = self.make(index, ty, Some(index));
    }

    #[cold]
    #[inline(never)]
    fn enter_new_on_heap(&mut self, ty: &'static Type) {
        self.cursor = self.make_on_heap(0, ty);
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, index: usize, ty: &'static Type, variant: Option<usize>) -> Cursor {
        let made = self.add(ty, variant, Some(self.number(self.cursor)), index);
        self.cells[self.cursor + LINKS + index][TO] = made as u64;
        made
    }

    #[cold]
    #[inline(never)]
    fn make_on_heap(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match self.same_type_around(ty, index) {
            Some(found) => {
                self.cells[self.cursor + LINKS + index][TO] = found as u64;
                found
            }
            None => self.make(index, ty, None),
        }
    }

    /// Returns a node that part `index` of the current node, of type `ty`, can share, if the type contains itself.
    fn same_type_around(&self, ty: &'static Type, index: usize) -> Option<Cursor> {
        let here = self.number(self.cursor);
        let around = || core::iter::successors(Some(&self.nodes[here]), |node| Some(&self.nodes[node.parent?]));
        let anywhere = if self.nodes.len() >= MOST_NODES { &self.nodes[..] } else { &[] };
        let mut known = anywhere.iter().chain(around()).filter(|node| node.is_of(ty));
        let found = if ty.is_named() {
            known.next()
        } else {
            // Two fields of type `Vec<T>` have two nodes, so a collection, option or tuple shares only the node of the
            // same field of an enclosing struct or enum. A collection that is written by hand may contain itself
            // without a struct between.
            let mut between = around().take_while(|node| !node.ty.is_named());
            between.find(|node| node.is_of(ty)).or_else(|| known.find(|node| self.is_same_field(node, here, index)))
        };
        found.map(|node| node.at)
    }

    /// Returns whether a node is for the same part of the same field as part `part` of the node with number `parent`.
    fn is_same_field(&self, node: &Made, parent: usize, part: usize) -> bool {
        let (mut one, mut other) = ((node.parent, node.part), (Some(parent), part));
        loop {
            let ((Some(a), a_part), (Some(b), b_part)) = (one, other) else { return false };
            let (a, b) = (&self.nodes[a], &self.nodes[b]);
            if a_part != b_part || a.variant != b.variant || !a.ty.is(b.ty) {
                return false;
            }
            if a.at == b.at || a.ty.is_named() {
                return true;
            }
            (one, other) = ((a.parent, a.part), (b.parent, b.part));
        }
    }

    /// Counts values of part `index` that are not vacant.
    #[inline]
    pub(super) fn count(&mut self, index: usize, values: u64) {
        self.link(index)[ENTERED] += values;
    }

    /// Counts blocks of the current node.
    #[inline]
    pub(super) fn block(&mut self, requested: u64, blocks: u64, spare: u64) {
        let cell = self.cell(self.cursor);
        cell[REQUESTED] = cell[REQUESTED].wrapping_add(requested);
        cell[BLOCKS] += blocks;
        cell[SPARE] = cell[SPARE].wrapping_add(spare);
    }

    /// Adds numbers that a user's function returned. The sums saturate, since the numbers may be wrong.
    pub(super) fn add_custom(&mut self, requested: u64, blocks: u64) {
        let cell = &mut self.cells[self.cursor];
        cell[REQUESTED] = cell[REQUESTED].saturating_add(requested);
        cell[BLOCKS] = cell[BLOCKS].saturating_add(blocks);
    }

    /// Counts the bytes that an allocator adds to the requested ones.
    pub(super) fn add_beyond(&mut self, bytes: u64) {
        let cell = &mut self.cells[self.cursor][BEYOND];
        *cell = cell.saturating_add(bytes);
    }

    /// Counts slots for part `index` in blocks of the current node.
    #[inline]
    pub(super) fn slots(&mut self, index: usize, ty: &'static Type, used: u64, free: u64) {
        let link = self.link(index);
        link[USED] = link[USED].saturating_add(used);
        link[FREE] = link[FREE].saturating_add(free);
        if link[TO] == 0 {
            self.make_on_heap(index, ty);
        }
    }

    /// Returns the rare counters of the current node.
    #[cold]
    #[inline(never)]
    pub(super) fn odd(&mut self) -> &mut Odd {
        let number = self.number(self.cursor);
        if self.odd.len() <= number {
            self.odd.resize(number + 1, Odd::default());
        }
        &mut self.odd[number]
    }

    /// Adds a string to the sample of distinct strings of the current node.
    #[cold]
    #[inline(never)]
    pub(super) fn read(&mut self, text: &[u8]) {
        let number = self.number(self.cursor);
        if let Some(texts) = &mut self.texts {
            texts.resize(texts.len().max(number + 1), None);
            texts[number].get_or_insert_default().meet(text);
        }
    }

    /// Returns the counters of all nodes. A parent precedes its children.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let mut counters: Vec<Counter> =
            self.nodes.iter().enumerate().map(|(number, made)| self.own(number, made)).collect();
        let links = self.nodes.iter().flat_map(|made| self.links(made));
        for link in links.chain(self.cells.get(TO_ROOT)).filter(|link| link[TO] != 0) {
            let counter = &mut counters[self.number(of_cell(link[TO]))];
            counter.entered += link[ENTERED];
            counter.used = counter.used.saturating_add(link[USED]);
            counter.slots = counter.slots.saturating_add(link[USED].saturating_add(link[FREE]));
        }
        counters
    }

    /// Returns the counters of a node, without those of the links to it.
    fn own(&self, number: usize, made: &Made) -> Counter {
        let cell = &self.cells[made.at];
        let child = |link: &Cell| Some(of_cell(link[TO])).filter(|to| *to != 0).map(|to| self.number(to));
        Counter {
            ty: made.ty,
            variant: made.variant,
            parent: made.parent,
            entered: 0,
            slots: 0,
            used: 0,
            requested: cell[REQUESTED],
            taken: cell[REQUESTED].saturating_add(cell[BEYOND]),
            blocks: cell[BLOCKS],
            spare: cell[SPARE],
            texts: self.texts.as_ref().and_then(|texts| texts.get(number)?.clone()),
            children: self.links(made).iter().map(child).collect(),
            links: self
                .links(made)
                .iter()
                .map(|link| Link { to: child(link), entered: link[ENTERED], used: link[USED], free: link[FREE] })
                .collect(),
            odd: self.odd.get(number).copied().unwrap_or_default(),
        }
    }

    fn links(&self, made: &Made) -> &[Cell] {
        &self.cells[made.at + LINKS..][..made.parts]
    }
}

#[cold]
#[inline(never)]
fn no_such_part() -> ! {
    panic!("an implementation of `Weigh` reported a part number that its `TYPE` does not have");
}

/// Reads a cursor from a cell.
#[expect(clippy::cast_possible_truncation, reason = "it came from a `usize`")]
#[inline]
fn of_cell(cell: u64) -> usize {
    cell as usize
}
