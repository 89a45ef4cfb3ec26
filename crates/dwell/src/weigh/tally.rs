//! What a walk counts by type and field.

use super::texts::Texts;
use super::types::{Kind, Type};
use std_alloc::vec::Vec;

/// Where a node's cells begin: what a walk holds of it. 0 is none.
pub(super) type Cursor = usize;

/// The link that leads to the root stands alone before it.
const TO_ROOT: usize = 0;
const ROOT: Cursor = TO_ROOT + 1;
/// Nodes from which on recursive types share one node each, wherever they occur: bounds what many types that hold each
/// other could make of a tree.
const MOST_NODES: usize = 1 << 14;

/// What is read and written together, so that one look at where it is will do.
type Cell = [u64; 4];

// The first cell of a node has its blocks: bytes asked for, bytes not in use, bytes that the model's allocator takes beyond
// those asked for, how many.
const REQUESTED: usize = 0;
const SPARE: usize = 1;
const BEYOND: usize = 2;
const BLOCKS: usize = 3;

/// From here on the cells of its links, by their distance from the cursor: one a part.
const LINKS: usize = 1;
/// The cursor of the part, 0 if none was met.
const TO: usize = 0;
/// Values found by this link that are not vacant.
const ENTERED: usize = 1;
/// Places for them in blocks of this node's that are not in use, and those that are.
const FREE: usize = 2;
const USED: usize = 3;

/// Counters for each node met, and the links from nodes to parts, in one table: a step of the walk is a look at one link,
/// which counts what goes along it.
#[derive(Debug, Default)]
pub(super) struct Tally {
    cells: Vec<Cell>,
    /// In the order of their cells.
    nodes: Vec<Made>,
    /// Of each node, if strings are read.
    pub(super) texts: Option<Vec<Option<Texts>>>,
    /// Where the walk is.
    pub(super) cursor: Cursor,
}

/// What only matters when a node is made, and when all is read.
#[derive(Debug)]
struct Made {
    at: Cursor,
    parts: usize,
    ty: &'static Type,
    variant: Option<usize>,
    parent: Option<usize>,
}

/// What was counted at one node.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) ty: &'static Type,
    /// Which variant of the enum `ty` this is, if it is one.
    pub(super) variant: Option<usize>,
    /// The node this was first reached from.
    pub(super) parent: Option<usize>,
    pub(super) entered: u64,
    pub(super) slots: u64,
    pub(super) used: u64,
    pub(super) requested: u64,
    pub(super) taken: u64,
    pub(super) blocks: u64,
    pub(super) spare: u64,
    /// Its strings, if they were read.
    pub(super) texts: Option<Texts>,
    /// The nodes of the parts, `None` where none was met.
    pub(super) children: Vec<Option<usize>>,
}

impl Tally {
    pub(super) fn new(root: &'static Type) -> Self {
        let mut to_root = Cell::default();
        (to_root[TO], to_root[USED]) = (ROOT as u64, 1);
        let mut tally = Self { cells: Vec::from([to_root]), nodes: Vec::new(), texts: None, cursor: ROOT };
        tally.add(root, None, None);
        tally
    }

    /// Counts the root as a value that is not vacant.
    pub(super) fn enter_root(&mut self) {
        self.cells[TO_ROOT][ENTERED] = 1;
    }

    /// Makes a node.
    #[cold]
    #[inline(never)]
    fn add(&mut self, ty: &'static Type, variant: Option<usize>, parent: Option<usize>) -> Cursor {
        let parts = match (&ty.kind, variant) {
            (Kind::Enum { variants }, Some(variant)) => variants[variant].fields.len(),
            _ => ty.parts(),
        };
        let at = self.cells.len();
        self.cells.resize(at + LINKS + parts, Cell::default());
        self.nodes.push(Made { at, parts, ty, variant, parent });
        at
    }

    /// The number of the node at `cursor`.
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

    /// The link to part `index` of the node at hand.
    #[inline]
    fn link(&mut self, index: usize) -> &mut Cell {
        self.cell(self.cursor + LINKS + index)
    }

    /// Counts a value, and leads on to its parts; gives back the cursor to return to.
    #[inline]
    pub(super) fn enter(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let link = self.link(index);
        link[ENTERED] += 1;
        // What is made anew gives nothing back: so a step has nothing to keep while that is done.
        match of_cell(link[TO]) {
            0 => self.enter_new(index, ty),
            to => self.cursor = to,
        }
        outer
    }

    /// Counts a variant of the enum at hand, and leads on to its fields.
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

    /// Counts a place for part 0 with a value, and leads on to it.
    #[inline]
    pub(super) fn enter_pointee(&mut self, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let link = self.link(0);
        link[USED] += 1;
        link[ENTERED] += 1;
        match of_cell(link[TO]) {
            0 => self.enter_new_apart(ty),
            to => self.cursor = to,
        }
        outer
    }

    /// Where part `index` is, which lies in the value itself.
    #[inline]
    pub(super) fn inline(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match of_cell(self.link(index)[TO]) {
            0 => self.make(index, ty, None),
            to => to,
        }
    }

    /// Where part `index` is, which lies in a block of its own: only here does a recursive type come round again.
    #[inline]
    pub(super) fn apart(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match of_cell(self.link(index)[TO]) {
            0 => self.make_apart(index, ty),
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
    fn enter_new_apart(&mut self, ty: &'static Type) {
        self.cursor = self.make_apart(0, ty);
    }

    #[cold]
    #[inline(never)]
    fn make(&mut self, index: usize, ty: &'static Type, variant: Option<usize>) -> Cursor {
        let made = self.add(ty, variant, Some(self.number(self.cursor)));
        self.cells[self.cursor + LINKS + index][TO] = made as u64;
        made
    }

    #[cold]
    #[inline(never)]
    fn make_apart(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match self.same_type_around(ty) {
            Some(found) => {
                self.cells[self.cursor + LINKS + index][TO] = found as u64;
                found
            }
            None => self.make(index, ty, None),
        }
    }

    fn same_type_around(&self, ty: &'static Type) -> Option<Cursor> {
        let is_of = |node: &&Made| node.variant.is_none() && node.ty.is(ty);
        if self.nodes.len() >= MOST_NODES
            && let Some(found) = self.nodes.iter().find(is_of)
        {
            return Some(found.at);
        }
        let here = &self.nodes[self.number(self.cursor)];
        let around = core::iter::successors(Some(here), |node| Some(&self.nodes[node.parent?]));
        around.into_iter().find(is_of).map(|node| node.at)
    }

    /// Counts values of part `index` that are not vacant.
    #[inline]
    pub(super) fn count(&mut self, index: usize, values: u64) {
        self.link(index)[ENTERED] += values;
    }

    /// Counts blocks of the node at hand.
    #[inline]
    pub(super) fn block(&mut self, requested: u64, blocks: u64, spare: u64) {
        let cell = self.cell(self.cursor);
        cell[REQUESTED] = cell[REQUESTED].wrapping_add(requested);
        cell[BLOCKS] += blocks;
        cell[SPARE] = cell[SPARE].wrapping_add(spare);
    }

    /// Counts what a function of the user's says, which may be any numbers.
    pub(super) fn said(&mut self, requested: u64, blocks: u64) {
        let cell = &mut self.cells[self.cursor];
        cell[REQUESTED] = cell[REQUESTED].saturating_add(requested);
        cell[BLOCKS] = cell[BLOCKS].saturating_add(blocks);
    }

    /// Counts what an allocator takes for them beyond the bytes asked for.
    pub(super) fn add_beyond(&mut self, bytes: u64) {
        let cell = &mut self.cells[self.cursor][BEYOND];
        *cell = cell.saturating_add(bytes);
    }

    /// Counts places for part `index` in blocks of the node at hand.
    #[inline]
    pub(super) fn places(&mut self, index: usize, ty: &'static Type, used: u64, free: u64) {
        let link = self.link(index);
        link[USED] = link[USED].saturating_add(used);
        link[FREE] = link[FREE].saturating_add(free);
        if link[TO] == 0 {
            self.make_apart(index, ty);
        }
    }

    /// Takes a string of the node at hand for one of those that are told apart.
    #[cold]
    #[inline(never)]
    pub(super) fn read(&mut self, text: &[u8]) {
        let number = self.number(self.cursor);
        if let Some(texts) = &mut self.texts {
            texts.resize(texts.len().max(number + 1), None);
            texts[number].get_or_insert_default().meet(text);
        }
    }

    /// All nodes; a parent stands before its children.
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

    /// What was counted at a node itself, without what the links to it say.
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
        }
    }

    fn links(&self, made: &Made) -> &[Cell] {
        &self.cells[made.at + LINKS..][..made.parts]
    }
}

#[cold]
#[inline(never)]
fn no_such_part() -> ! {
    panic!("a `Weigh` reports a part that its `TYPE` does not have");
}

/// A cursor in a cell: an index of memory that is there.
#[expect(clippy::cast_possible_truncation, reason = "it came from a `usize`")]
#[inline]
fn of_cell(cell: u64) -> usize {
    cell as usize
}
