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

/// The size from which on a block is counted by the saturating function.
const LARGE: u64 = 1 << 24;
/// The largest sum in a cell. Sums of large numbers saturate here, and those of small numbers, which do not saturate, cannot reach
/// `u64::MAX` from here: that would take 2^39 blocks.
const MOST: u64 = 1 << 63;

/// Returns the sum in a cell: `u64::MAX` if it has saturated.
pub(super) fn whole(sum: u64) -> u64 {
    if sum >= MOST { u64::MAX } else { sum }
}

/// Adds to a sum in a cell.
fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more).min(MOST);
}

#[cold]
#[inline(never)]
fn add_slots(link: &mut Cell, used: u64, free: u64) {
    add(&mut link[USED], used);
    add(&mut link[FREE], free);
}

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
        while self.cells.len() < at + LINKS + parts {
            self.cells.push(Cell::default());
        }
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
        // Two fields of type `Vec<T>` have two nodes, so a collection, option or tuple shares only the node of the same field
        // of an enclosing struct or enum. A collection that is written by hand may contain itself without a struct between.
        let is_named = ty.is_named();
        let is_known = |node: &Made| node.is_of(ty) && (is_named || self.is_same_field(node, here, index));
        if !is_named && let Some(found) = self.around(here, &|node| node.ty.is_named(), &|node| node.is_of(ty)) {
            return Some(found);
        }
        if self.nodes.len() >= MOST_NODES {
            for node in &self.nodes {
                if is_known(node) {
                    return Some(node.at);
                }
            }
        }
        self.around(here, &|_| false, &is_known)
    }

    /// Returns the first node that `is_one`, from node `number` outwards, or `None` if a node `ends` the search before.
    fn around(&self, number: usize, ends: &dyn Fn(&Made) -> bool, is_one: &dyn Fn(&Made) -> bool) -> Option<Cursor> {
        let mut next = Some(number);
        while let Some(number) = next {
            let node = &self.nodes[number];
            if ends(node) {
                return None;
            }
            if is_one(node) {
                return Some(node.at);
            }
            next = node.parent;
        }
        None
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
        // The walk has met each of these values.
        self.link(index)[ENTERED] += values;
    }

    /// Counts a block of the current node, or none if `is_one` is `false`.
    #[inline]
    pub(super) fn block(&mut self, requested: u64, is_one: bool, spare: u64) {
        if (requested | spare) >= LARGE {
            return self.large_blocks(requested, u64::from(is_one), spare);
        }
        let cell = self.cell(self.cursor);
        cell[REQUESTED] += requested;
        cell[BLOCKS] += u64::from(is_one);
        cell[SPARE] += spare;
    }

    /// Counts blocks of the current node by numbers of any size.
    #[inline]
    pub(super) fn blocks(&mut self, requested: u64, blocks: u64, spare: u64) {
        if (requested | blocks | spare) >= LARGE {
            return self.large_blocks(requested, blocks, spare);
        }
        let cell = self.cell(self.cursor);
        cell[REQUESTED] += requested;
        cell[BLOCKS] += blocks;
        cell[SPARE] += spare;
    }

    #[cold]
    #[inline(never)]
    fn large_blocks(&mut self, requested: u64, blocks: u64, spare: u64) {
        let cell = self.cell(self.cursor);
        add(&mut cell[REQUESTED], requested);
        add(&mut cell[BLOCKS], blocks);
        add(&mut cell[SPARE], spare);
    }

    /// Adds numbers that a user's function returned. The sums saturate, since the numbers may be wrong.
    pub(super) fn add_custom(&mut self, requested: u64, blocks: u64) {
        self.blocks(requested, blocks, 0);
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
        if (used | free) < LARGE {
            link[USED] += used;
            link[FREE] += free;
        } else {
            add_slots(link, used, free);
        }
        if link[TO] == 0 {
            self.make_on_heap(index, ty);
        }
    }

    /// Returns the rare counters of the current node.
    #[cold]
    #[inline(never)]
    pub(super) fn odd(&mut self) -> &mut Odd {
        let number = self.number(self.cursor);
        while self.odd.len() <= number {
            self.odd.push(Odd::default());
        }
        &mut self.odd[number]
    }

    /// Adds a string to the sample of distinct strings of the current node.
    #[cold]
    #[inline(never)]
    pub(super) fn read(&mut self, text: &[u8]) {
        let number = self.number(self.cursor);
        if let Some(texts) = &mut self.texts {
            while texts.len() <= number {
                texts.push(None);
            }
            texts[number].get_or_insert_default().meet(text);
        }
    }

    /// Returns the counters of all nodes. A parent precedes its children.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let mut counters = Vec::with_capacity(self.nodes.len());
        for (number, made) in self.nodes.iter().enumerate() {
            counters.push(self.own(number, made));
        }
        if let Some(to_root) = self.cells.get(TO_ROOT) {
            self.add_link(&mut counters, to_root);
        }
        for made in &self.nodes {
            for link in self.links(made) {
                self.add_link(&mut counters, link);
            }
        }
        counters
    }

    /// Adds the counters of a link to those of its node.
    fn add_link(&self, counters: &mut [Counter], link: &Cell) {
        if let Some(to) = self.target(link) {
            let counter = &mut counters[to];
            let (used, free) = (whole(link[USED]), whole(link[FREE]));
            counter.entered = counter.entered.saturating_add(whole(link[ENTERED]));
            counter.used = counter.used.saturating_add(used);
            counter.slots = counter.slots.saturating_add(used.saturating_add(free));
        }
    }

    /// Returns the number of the node of a link.
    fn target(&self, link: &Cell) -> Option<usize> {
        match of_cell(link[TO]) {
            0 => None,
            to => Some(self.number(to)),
        }
    }

    /// Returns the counters of a node, without those of the links to it.
    fn own(&self, number: usize, made: &Made) -> Counter {
        let cell = &self.cells[made.at];
        let (mut children, mut links) = (Vec::with_capacity(made.parts), Vec::with_capacity(made.parts));
        for link in self.links(made) {
            let to = self.target(link);
            children.push(to);
            let [entered, used, free] = [ENTERED, USED, FREE].map(|counter| whole(link[counter]));
            links.push(Link { to, entered, used, free });
        }
        Counter {
            ty: made.ty,
            variant: made.variant,
            parent: made.parent,
            entered: 0,
            slots: 0,
            used: 0,
            requested: whole(cell[REQUESTED]),
            taken: whole(cell[REQUESTED]).saturating_add(cell[BEYOND]),
            blocks: whole(cell[BLOCKS]),
            spare: whole(cell[SPARE]),
            texts: self.texts.as_ref().and_then(|texts| texts.get(number)?.clone()),
            children,
            links,
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
