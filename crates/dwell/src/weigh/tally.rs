//! What a walk counts by type and field.

use super::texts::Texts;
use super::types::{Kind, Type};
use std_alloc::vec::Vec;

/// Where a node's cells begin: what a walk holds of it. 0 is none.
pub(super) type Cursor = usize;

const ROOT: Cursor = 1;
/// Nodes from which on recursive types share one node each, wherever they occur: bounds what many types that hold each
/// other could make of a tree.
const MOST_NODES: usize = 1 << 14;

// The cells of a node, by their distance from the cursor.
/// Values found that are not vacant.
const ENTERED: usize = 0;
/// Places in blocks of the parent's that are in use, and those that are not.
const USED: usize = 1;
const FREE: usize = 2;
/// Blocks owned: bytes asked for, bytes that the model's allocator takes beyond those, how many, bytes not in use.
const REQUESTED: usize = 3;
const BEYOND: usize = 4;
const BLOCKS: usize = 5;
const SPARE: usize = 6;
/// Its number.
const NUMBER: usize = 7;
/// From here on the cursors of its parts.
const LINKS: usize = 8;

/// Counters for each node met, and the links from nodes to parts, in one table: a step of the walk is a look at one link
/// and an addition where it leads.
#[derive(Debug, Default)]
pub(super) struct Tally {
    cells: Vec<u64>,
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
        let mut tally = Self { cells: Vec::from([0; ROOT]), nodes: Vec::new(), texts: None, cursor: ROOT };
        tally.add(root, None, None);
        tally.cells[ROOT + USED] = 1;
        tally
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
        self.cells.resize(at + LINKS + parts, 0);
        self.cells[at + NUMBER] = self.nodes.len() as u64;
        self.nodes.push(Made { at, parts, ty, variant, parent });
        at
    }

    /// The number of the node at hand.
    fn number(&self) -> usize {
        of_cell(self.cells[self.cursor + NUMBER])
    }

    /// Counts a value, and leads on to its parts; gives back the cursor to return to.
    #[inline]
    pub(super) fn enter(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.descend(index, ty);
        self.count(1);
        outer
    }

    /// Leads on to part `index`, which lies in the value itself.
    #[inline]
    pub(super) fn descend(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        let found = of_cell(self.cells[outer + LINKS + index]);
        self.cursor = if found == 0 { self.link(index, ty, None) } else { found };
        outer
    }

    /// Leads on to part `index`, which lies in a block of its own: only here does a recursive type come round again.
    #[inline]
    pub(super) fn descend_apart(&mut self, index: usize, ty: &'static Type) -> Cursor {
        let outer = self.cursor;
        self.cursor = self.apart(index, ty);
        outer
    }

    /// Counts a variant of the enum at hand, and leads on to its fields.
    #[inline]
    pub(super) fn enter_variant(&mut self, index: usize) -> Cursor {
        let outer = self.cursor;
        let found = of_cell(self.cells[outer + LINKS + index]);
        self.cursor = if found == 0 { self.link_variant(index) } else { found };
        self.count(1);
        outer
    }

    #[inline]
    fn apart(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match of_cell(self.cells[self.cursor + LINKS + index]) {
            0 => self.link_apart(index, ty),
            found => found,
        }
    }

    #[cold]
    #[inline(never)]
    fn link(&mut self, index: usize, ty: &'static Type, variant: Option<usize>) -> Cursor {
        let made = self.add(ty, variant, Some(self.number()));
        self.cells[self.cursor + LINKS + index] = made as u64;
        made
    }

    #[cold]
    #[inline(never)]
    fn link_variant(&mut self, index: usize) -> Cursor {
        let ty = self.nodes[self.number()].ty;
        self.link(index, ty, Some(index))
    }

    #[cold]
    #[inline(never)]
    fn link_apart(&mut self, index: usize, ty: &'static Type) -> Cursor {
        match self.same_type_around(ty) {
            Some(found) => {
                self.cells[self.cursor + LINKS + index] = found as u64;
                found
            }
            None => self.link(index, ty, None),
        }
    }

    fn same_type_around(&self, ty: &'static Type) -> Option<Cursor> {
        let is_of = |node: &&Made| node.variant.is_none() && node.ty.is(ty);
        if self.nodes.len() >= MOST_NODES
            && let Some(found) = self.nodes.iter().find(is_of)
        {
            return Some(found.at);
        }
        let around = core::iter::successors(Some(&self.nodes[self.number()]), |node| Some(&self.nodes[node.parent?]));
        around.into_iter().find(is_of).map(|node| node.at)
    }

    /// Counts values of the node at hand.
    #[inline]
    pub(super) fn count(&mut self, values: u64) {
        self.cells[self.cursor + ENTERED] += values;
    }

    /// Counts blocks of the node at hand.
    #[inline]
    pub(super) fn block(&mut self, requested: u64, blocks: u64, spare: u64) {
        let Some(cells) = self.cells[self.cursor..].first_chunk_mut::<LINKS>() else { return };
        cells[REQUESTED] = cells[REQUESTED].saturating_add(requested);
        cells[BLOCKS] += blocks;
        cells[SPARE] = cells[SPARE].saturating_add(spare);
    }

    /// Counts what an allocator takes for them beyond the bytes asked for.
    pub(super) fn add_beyond(&mut self, bytes: u64) {
        let cell = &mut self.cells[self.cursor + BEYOND];
        *cell = cell.saturating_add(bytes);
    }

    #[inline]
    pub(super) fn places(&mut self, index: usize, ty: &'static Type, used: u64, free: u64) {
        let at = self.apart(index, ty);
        let Some(cells) = self.cells[at..].first_chunk_mut::<LINKS>() else { return };
        cells[USED] = cells[USED].saturating_add(used);
        cells[FREE] = cells[FREE].saturating_add(free);
    }

    /// Counts a place for part 0, and leads on to it.
    #[inline]
    pub(super) fn enter_pointee(&mut self, ty: &'static Type, is_vacant: bool) -> Cursor {
        let outer = self.descend_apart(0, ty);
        if let Some(cells) = self.cells[self.cursor..].first_chunk_mut::<LINKS>() {
            cells[USED] += 1;
            cells[ENTERED] += u64::from(!is_vacant);
        }
        outer
    }

    /// Takes a string of the node at hand for one of those that are told apart.
    #[cold]
    #[inline(never)]
    pub(super) fn read(&mut self, text: &[u8]) {
        let number = self.number();
        if let Some(texts) = &mut self.texts {
            texts.resize(texts.len().max(number + 1), None);
            texts[number].get_or_insert_default().meet(text);
        }
    }

    /// All nodes; a parent stands before its children.
    pub(super) fn counters(&self) -> Vec<Counter> {
        let number = |link: &u64| Some(of_cell(*link)).filter(|at| *at != 0).map(|at| of_cell(self.cells[at + NUMBER]));
        let texts = |number: usize| self.texts.as_ref()?.get(number)?.clone();
        let counter = |(number_of, made): (usize, &Made)| {
            let (cells, links) = self.cells[made.at..made.at + LINKS + made.parts].split_at(LINKS);
            Counter {
                ty: made.ty,
                variant: made.variant,
                parent: made.parent,
                entered: cells[ENTERED],
                slots: cells[USED].saturating_add(cells[FREE]),
                used: cells[USED],
                requested: cells[REQUESTED],
                taken: cells[REQUESTED].saturating_add(cells[BEYOND]),
                blocks: cells[BLOCKS],
                spare: cells[SPARE],
                texts: texts(number_of),
                children: links.iter().map(number).collect(),
            }
        };
        self.nodes.iter().enumerate().map(counter).collect()
    }
}

/// A cursor or number in a cell: an index of memory that is there.
#[expect(clippy::cast_possible_truncation, reason = "it came from a `usize`")]
#[inline]
fn of_cell(cell: u64) -> usize {
    cell as usize
}
