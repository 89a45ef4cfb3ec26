//! Walks from block to block by the types of their contents.
//!
//! The walk has two passes. The first follows every pointer of every block with a known type, and records which blocks
//! have an owner. The second starts at the blocks without an owner, which belong to a stack or a static. It assigns
//! each block to the first owner that it meets, and counts. Raw pointers and references are followed last, and become
//! weak owners.
//!
//! Each pass reads a block at most once, so it terminates for any contents. It reads memory only inside live blocks and
//! statics, and never more elements than a collection's length. A collection larger than its block is not decoded.
//!
//! A decoder calls `read` (memory, runs of values, texts) and `claim` (owners of blocks). The fields of [`Walk`] are
//! private to this folder, so that a decoder cannot break these rules.

mod claim;
mod decoder;
mod fields;
pub(crate) mod found;
mod growth;
mod guess;
mod hints;
mod holders;
mod index;
mod leaks;
mod locals;
mod own;
pub(crate) mod owners;
mod read;
mod requested;
pub(crate) mod roots;
mod structure;
mod tally;
mod types;
mod unowned;
mod weak;

pub(crate) use claim::{Start, Use};
pub(crate) use decoder::{Blocks, Decoded, Decoder, Entries, Family, Holds, InModel, Value};
pub(crate) use fields::{
    VecHeader, fields, find, first_element, header_of, is_text, named, of_type, pointee, vec_header, wide,
};
pub(crate) use growth::Movable;
pub(crate) use leaks::Leak;
pub(crate) use owners::{BlockType, CallStack, Origin, argument};
pub(crate) use read::{AT_ONCE, TOGETHER, length};
pub(crate) use structure::{Array, Declared, Opaque, Parts, Plain, Pointer, Slots, StdEnum, searched};
pub(crate) use tally::{Holding, HoldingId, Owner, Range, SHORT, Tally};

use crate::capture::Snapshot;
use crate::capture::variables::Variable;
pub(crate) use types::{
    DefId, Meta, Part, Schema, Site, SiteId, TagDecode, Variant, WORD, head, is_std, number, sub, word,
};

use crate::capture::pieces::Image;
use crate::capture::python;
use crate::debuginfo::Kind;
use claim::TraitObjects;
use dwell_model::Counts;
use hints::Hints;
use holders::{Current, Holders};
use index::Index;
use read::{CHUNK, Queue};
use roots::Root;
use std::collections::HashMap;
use tally::Counted;
use unowned::Unowned;
use weak::{Deferred, Inner};

/// The flags of a block, which the first pass sets.
const SEEN: u8 = 1;
const OWNED: u8 = 2;
const POINTED_AT: u8 = 4;
/// No code can drop the block.
const LEAKED: u8 = 8;

/// The most owners that are followed to find a counted one.
const LONGEST_RING: usize = 64;

/// What the walk does with the pointers and values that it meets.
enum Pass {
    /// Follows every pointer.
    Find,
    /// The same, and notes the requested size of each block as its owner shows it; 0 if that is not known.
    Measure(Vec<u64>),
    /// Assigns owners, and counts.
    Count,
}

/// What the passes note of each block.
struct Marks {
    flags: Vec<u8>,
    /// The number plus one of the first variable of a frame that leads to each block; 0 if there is none.
    local_of: Vec<u32>,
    /// The index of each block's holding plus one; 0 if it has none.
    claims: Vec<HoldingId>,
}

/// The earlier snapshots of the run.
#[derive(Default)]
pub(crate) struct History<'s> {
    /// The number of the snapshot since which each block lives; empty if there is one snapshot only.
    pub(crate) ages: &'s [u32],
    /// The moments of all snapshots up to this one.
    pub(crate) moments: &'s [String],
}

/// A walk through a snapshot, with its counts.
pub(crate) struct Walk<'s, 'p> {
    snapshot: &'s Snapshot,
    origins: &'s [Origin],
    pub(crate) history: History<'s>,
    image: Image<'s>,
    pub(crate) schema: Schema<'p>,
    index: Index,
    trait_objects: TraitObjects,
    hints: Hints,
    pass: Pass,
    current: Current,
    queue: Queue,
    deferred: Deferred,
    inner: Inner,
    marks: Marks,
    /// The pointers to each block that own or share it.
    holders: Holders,
    unowned: Unowned,
    pub(crate) counted: Counted,
    /// The values that are looked for.
    pub(crate) found: Option<found::Found>,
}

impl<'s, 'p> Walk<'s, 'p> {
    pub(crate) fn new(snapshot: &'s Snapshot, origins: &'s [Origin], schema: Schema<'p>) -> Self {
        let program = schema.program;
        let vtables = program
            .statics
            .iter()
            .filter_map(|variable| match &program.get(variable.ty).kind {
                Kind::Vtable(vtable) => Some((snapshot.in_process(variable.address)?.0, vtable.concrete)),
                _ => None,
            })
            .collect();
        let blocks = snapshot.blocks.len();
        Self {
            snapshot,
            origins,
            history: History::default(),
            image: Image::new(&*snapshot.memory),
            schema,
            index: Index::new(&snapshot.blocks),
            trait_objects: TraitObjects::new(vtables),
            hints: Hints::default(),
            pass: Pass::Find,
            current: Current::default(),
            queue: Queue::default(),
            deferred: Deferred::default(),
            inner: Inner::default(),
            marks: Marks { flags: vec![0; blocks], local_of: vec![0; blocks], claims: vec![0; blocks] },
            holders: Holders::new(blocks),
            unowned: Unowned::default(),
            counted: Counted::default(),
            found: None,
        }
    }

    fn is_counting(&self) -> bool {
        matches!(self.pass, Pass::Count)
    }

    /// Assigns an owner and a type to each block, if they can be determined.
    pub(crate) fn walk(&mut self, variables: &[Variable]) {
        let statics = self.statics();
        let roots: Vec<Root<'_>> = self.roots(variables);
        self.first_pass(&statics, &roots);
        self.second_pass(&statics, &roots);
    }

    /// Follows every pointer.
    fn first_pass(&mut self, statics: &[(u64, SiteId)], roots: &[Root<'_>]) {
        let blocks = self.snapshot.blocks.len();
        self.start_at_statics(statics);
        self.start_at_alive(roots);
        self.drain();
        let mut waiting = Vec::new();
        for block in 0..blocks {
            if self.marks.flags[block] & SEEN != 0 {
                continue;
            }
            if self.may_be_copy(block) {
                waiting.push(block);
            } else {
                self.start(block, Owner::Stack);
                self.drain();
            }
        }
        self.follow_pointers();
        self.find_trait_objects();
        self.start_at_frames(roots, false);
        self.start_at_stacks();
        self.start_at_trait_objects();
        self.find_copies(&waiting);
        for block in waiting {
            if self.marks.flags[block] & SEEN == 0 && !self.hints.copies.contains_key(&block) {
                self.start(block, Owner::Stack);
                self.drain();
            }
        }
        self.follow_pointers();
        self.guess_lengths();
    }

    /// Assigns owners, and counts.
    fn second_pass(&mut self, statics: &[(u64, SiteId)], roots: &[Root<'_>]) {
        let blocks = self.snapshot.blocks.len();
        self.find_leaks();
        self.pass = Pass::Count;
        self.inner = Inner::default();
        self.start_at_statics(statics);
        self.drain();
        self.start_at_alive(roots);
        for block in 0..blocks {
            if self.marks.flags[block] & OWNED == 0 && self.is_root(block) {
                self.start_unclaimed(block, Owner::Task);
            }
        }
        self.start_at_frames(roots, false);
        for (without, owner) in [(OWNED | POINTED_AT, Owner::Stack), (OWNED, Owner::Unowned)] {
            for block in 0..blocks {
                if self.marks.flags[block] & without == 0 {
                    self.start_unclaimed(block, owner.clone());
                }
            }
            self.follow_pointers();
        }
        self.start_at_frames(roots, true);
        self.claim_copies();
        // The other blocks are in a cycle of owners, or an owner in a cycle leads to them.
        let mut passed = vec![false; blocks];
        for block in 0..blocks {
            if self.marks.claims[block] == 0 {
                let owner = if self.is_leaked(block) { Owner::Leaked } else { Owner::Unowned };
                let first = self.first_owner(block, &mut passed);
                self.start_unclaimed(self.counted_owner(first), owner.clone());
                self.start_unclaimed(block, owner);
            }
        }
        self.follow_pointers();
        self.holders.complete();
        for block in 0..blocks {
            if self.marks.claims[block] == 0 {
                self.untyped(block);
            }
        }
        self.count_roots();
        // The graph of a large heap needs the memory.
        (self.marks.local_of, self.queue.work) = (Vec::new(), Vec::new());
        self.image.forget();
        for tally in &mut self.counted.tallies {
            for texts in [&mut tally.texts, &mut tally.contents].into_iter().flatten() {
                texts.complete();
            }
        }
    }

    /// Decodes a block without an owner as the type from its call stack, if that is known.
    fn start_unclaimed(&mut self, block: usize, owner: Owner) {
        if self.marks.claims[block] == 0 && self.type_of(block).is_some() && !self.hints.copies.contains_key(&block) {
            self.start(block, owner);
            self.drain();
        }
    }

    /// Follows the owners of a block until one repeats or has no owner, and returns that one. Stops at blocks that an
    /// earlier call has passed.
    fn first_owner(&self, block: usize, passed: &mut [bool]) -> usize {
        let mut at = block;
        while !std::mem::replace(&mut passed[at], true)
            && let Some(owner) = self.holders.first_of(at).and_then(|hold| (hold.from as usize).checked_sub(1))
            && owner < passed.len()
        {
            at = owner;
        }
        at
    }

    /// Returns the first block of an `Rc` or `Arc` among a block and its owners. Its call stack tells its length, which
    /// that of a `Vec` does not.
    fn counted_owner(&self, block: usize) -> usize {
        let owner = |at: &usize| {
            let from = (self.holders.first_of(*at)?.from as usize).checked_sub(1)?;
            // A root has no holder.
            (from < self.marks.flags.len()).then_some(from)
        };
        let mut owners = std::iter::successors(Some(block), owner).take(LONGEST_RING);
        owners.find(|at| self.holders.strong(*at) > 0).unwrap_or(block)
    }

    /// Returns the site of the values in each holding's blocks, for holdings without an owning field.
    pub(crate) fn roots_of_holdings(&self) -> Vec<Option<SiteId>> {
        let mut all = vec![None; self.counted.holdings.len()];
        for ((owner, site, _), holding) in &self.counted.holding_of {
            let is_root = |all: &Vec<(String, SiteId)>| all.iter().any(|(_, root)| root == site);
            if !matches!(owner, Owner::Untyped(_)) && self.unowned.roots.values().any(is_root) {
                all[*holding as usize] = Some(*site);
            }
        }
        all
    }

    /// Counts the blocks of collections without an owning field at their sites, as those of fields are counted.
    fn count_roots(&mut self) {
        let counted: Vec<(SiteId, Counts)> = self
            .roots_of_holdings()
            .iter()
            .zip(&self.counted.holdings)
            .filter_map(|(site, holding)| {
                let site = site.filter(|_| holding.is_counted_as_root())?;
                self.schema.sites[site].decoder.shape_of_block()?;
                let counts = Counts {
                    requested: holding.bytes,
                    allocations: holding.blocks,
                    waste: holding.unused,
                    element_slots: holding.capacity,
                    used: holding.len,
                    ..Counts::default()
                };
                Some((site, counts))
            })
            .collect();
        for (site, counts) in counted {
            self.tally(site).counts.add(&counts);
        }
    }

    /// Returns the index of a block's holding.
    pub(crate) fn holding(&self, block: usize) -> HoldingId {
        self.marks.claims[block].saturating_sub(1)
    }

    /// Returns the statics of the program, as sites with their addresses.
    fn statics(&mut self) -> Vec<(u64, SiteId)> {
        let program = self.schema.program;
        let mut all = Vec::new();
        for variable in &program.statics {
            let ty = program.get(variable.ty);
            let Some((address, end)) = self.snapshot.in_process(variable.address) else { continue };
            if matches!(ty.kind, Kind::Vtable(_)) || ty.size == 0 || ty.size > end - address {
                continue;
            }
            let path = format!("(static {})", owners::shown(&variable.path));
            let site = self.schema.root(variable.ty, &path);
            if let Some((krate, _)) = variable.path.split_once("::").filter(|_| !is_std(&variable.path)) {
                self.schema.in_crate(site, krate);
            }
            all.push((address, site));
        }
        let mut sites = HashMap::new();
        for (address, ty) in python::values(self.snapshot, program) {
            let path = || format!("(static {} in Python)", program.get(ty).name);
            all.push((address, *sites.entry(ty).or_insert_with(|| self.schema.root(ty, &path()))));
        }
        all
    }

    fn start_at_statics(&mut self, statics: &[(u64, SiteId)]) {
        for &(address, site) in statics {
            let size = self.schema.sites[site].size;
            let mut bytes = Vec::new();
            // Later parts of the mapping are zero-initialised and not in the file.
            if size <= CHUNK && self.image.read(address, usize::try_from(size).unwrap_or(0), &mut bytes) {
                self.at_root(site);
                self.value(site, &bytes, 1);
                self.place(0);
            }
        }
    }
}
