//! Who holds each block: the graph of the owning pointers that the first pass has met.

use super::roots::Reading;
use super::{SiteId, Walk};
use std::collections::HashMap;

/// A pointer that owns a block, or shares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The index plus one of the block that has the pointer, or the number of a root; 0 if the place is unknown.
    pub(crate) from: u32,
    /// The site of the pointer.
    pub(crate) site: u32,
}

const NONE: Hold = Hold { from: 0, site: u32::MAX };
/// A bit in the site of a block's first pointer: there are further ones.
const MORE: u32 = 1 << 31;

/// The owning pointers to each block: 12 bytes a block, and 12 more for each further pointer.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    /// The first pointer to each block.
    first: Vec<Hold>,
    /// The further ones with their block, sorted by block.
    more: Vec<(u32, Hold)>,
    /// The strong count of each block of an `Rc` or `Arc`; 0 for other blocks.
    strong: Vec<u32>,
    /// The sites of statics, locals and other places outside of blocks, by the number of the root.
    roots: Vec<SiteId>,
    root_of: HashMap<SiteId, u32>,
}

impl Holders {
    pub(super) fn new(blocks: usize) -> Self {
        Self { first: vec![NONE; blocks], strong: vec![0; blocks], ..Self::default() }
    }

    /// Returns the number of a root as [`Hold::from`].
    pub(super) fn root(&mut self, site: SiteId) -> u32 {
        *self.root_of.entry(site).or_insert_with(|| {
            self.roots.push(site);
            u32::try_from(self.first.len() + self.roots.len()).unwrap_or(0)
        })
    }

    pub(super) fn add(&mut self, block: usize, hold: Hold) {
        if self.first[block] == NONE {
            self.first[block] = hold;
        } else if let Ok(number) = u32::try_from(block) {
            self.first[block].site |= MORE;
            self.more.push((number, hold));
        }
    }

    pub(super) fn set_strong(&mut self, block: usize, strong: u64) {
        self.strong[block] = u32::try_from(strong).unwrap_or(u32::MAX);
    }

    /// Sorts the further pointers when all are known.
    pub(super) fn complete(&mut self) {
        self.more.sort_unstable_by_key(|(block, hold)| (*block, hold.from, hold.site));
    }

    /// Returns the pointers to a block.
    pub(crate) fn pointers_to(&self, block: usize) -> impl Iterator<Item = Hold> {
        let first = self.first_of(block);
        let has_more = first.is_some() && self.first[block].site & MORE != 0;
        let from =
            if has_more { self.more.partition_point(|(held, _)| (*held as usize) < block) } else { self.more.len() };
        let more = self.more[from..].iter().take_while(move |(held, _)| *held as usize == block).map(|(_, hold)| *hold);
        first.into_iter().chain(more)
    }

    /// Returns the first pointer to a block.
    pub(crate) fn first_of(&self, block: usize) -> Option<Hold> {
        let first = self.first[block];
        (first != NONE).then_some(Hold { site: first.site & !MORE, ..first })
    }

    /// Reads what is known of a block.
    pub(super) fn touch(&self, block: usize) -> u64 {
        u64::from(self.first[block].from)
    }

    /// Returns the strong count of the block of an `Rc` or `Arc`, and 0 for another block.
    pub(crate) fn strong(&self, block: usize) -> u32 {
        self.strong[block]
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.first.len()
    }

    /// Returns the sites of the roots.
    pub(crate) fn roots(&self) -> &[SiteId] {
        &self.roots
    }

    /// Returns `true` if something holds a block that the walk has not found: a local, a register, another library.
    pub(crate) fn is_held_elsewhere(&self, block: usize) -> bool {
        match self.strong[block] {
            0 => self.first[block] == NONE,
            strong => self.pointers_to(block).count() != strong as usize,
        }
    }

    /// Returns the blocks that each block and root holds.
    pub(crate) fn successors(&self) -> Successors {
        let nodes = self.first.len() + self.roots.len() + 1;
        let all = || {
            let blocks = 0..u32::try_from(self.first.len()).unwrap_or(u32::MAX);
            let first = blocks.zip(&self.first).filter(|(_, hold)| **hold != NONE).map(|(block, hold)| (block, *hold));
            first.chain(self.more.iter().copied())
        };
        // The ends, and after the second loop the starts.
        let mut starts = vec![0_u32; nodes + 1];
        for (_, hold) in all() {
            starts[hold.from as usize] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut targets = vec![0; starts[nodes] as usize];
        for (block, hold) in all().rev() {
            let at = &mut starts[hold.from as usize];
            *at -= 1;
            targets[*at as usize] = block + 1;
        }
        Successors { starts, targets, blocks: self.first.len() }
    }
}

/// The edges of the graph. Node 0 stands for unknown places, the blocks follow, and then the roots.
pub(crate) struct Successors {
    starts: Vec<u32>,
    targets: Vec<u32>,
    blocks: usize,
}

impl Successors {
    /// Returns the nodes of the blocks that a node holds.
    pub(crate) fn held_by(&self, node: u32) -> &[u32] {
        let (from, to) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.targets[from as usize..to as usize]
    }

    /// Returns the number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Returns the number of nodes.
    pub(crate) fn nodes(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Where the value is that is being read.
#[derive(Default)]
pub(super) struct Current {
    /// The place of the value, as in [`Hold::from`].
    pub(super) from: u32,
    /// Whether its block is leaked. Its values do not count.
    pub(super) is_in_leak: bool,
    pub(super) reading: Reading,
    /// The number of values around it, up to its block.
    pub(super) depth: u32,
}

impl Walk<'_, '_> {
    /// Sets the place of the values that are read next.
    pub(super) fn place(&mut self, from: u32) {
        self.current.from = from;
        let block = (from as usize).checked_sub(1).filter(|block| *block < self.marks.flags.len());
        self.current.is_in_leak = block.is_some_and(|block| self.is_leaked(block));
    }

    /// Sets the place of the values that are read next, until the next [`drain`](Self::drain), to a root.
    pub(super) fn at_root(&mut self, site: SiteId) {
        let root = self.holders.root(site);
        self.place(root);
    }

    /// Records that the value which is being read holds a block.
    pub(super) fn hold(&mut self, block: usize, site: SiteId) {
        let hold = Hold { from: self.current.from, site: u32::try_from(site).unwrap_or(0) & !MORE };
        self.holders.add(block, hold);
    }

    /// Records the strong count of an `Rc`'s or `Arc`'s block.
    pub(in crate::heap) fn strong(&mut self, block: usize, strong: u64) {
        // A variable of a frame may be stale, and its type that of another value.
        if !self.is_counting() && self.current.reading == Reading::Other {
            self.holders.set_strong(block, strong);
        }
    }

    /// Returns the pointers to each block.
    pub(crate) fn holders(&self) -> &Holders {
        &self.holders
    }
}
