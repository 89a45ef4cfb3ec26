//! The chain of owners from a root to one block.

use super::names::{around, has_inline, is_named};
use super::summary::{self, owner};
use super::walk::{Holding, Walk};
use crate::capture::Snapshot;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A chain of owners from a root to a block.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Path {
    /// What was asked for: a type, an address, or a value with its text.
    #[serde(rename = "of")]
    pub target: String,
    /// The static, local or thread-local variable that the chain begins at; missing if nothing holds the first block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The blocks from the root to the one that was asked for.
    pub steps: Vec<Step>,
}

/// A block on the way from a root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    /// The field that holds the block, or its owner as in the rows.
    pub owner: String,
    /// The address of its first byte.
    pub address: u64,
    /// The number of its bytes.
    pub bytes: u64,
    /// What it is: `Vec<Node>`.
    pub content: String,
}

/// Returns the chains that were asked for: to a block, and to the values that were found.
pub(crate) fn answers(walk: &Walk<'_, '_>, snapshot: &Snapshot, asked: Option<&str>) -> Vec<Path> {
    let path = asked.and_then(|asked| find(walk, snapshot, asked));
    let values = walk.found.iter().flat_map(|found| &found.values).map(|(from, value)| {
        let place = (*from as usize).checked_sub(1);
        if let Some(block) = place.filter(|block| *block < snapshot.blocks.len()) {
            return to(walk, snapshot, block, value.clone());
        }
        let root = place.and_then(|place| walk.holders().roots().get(place.checked_sub(snapshot.blocks.len())?));
        let root = root.map(|site| walk.schema.sites[*site].path.clone());
        Path { target: value.clone(), root, steps: Vec::new() }
    });
    path.into_iter().chain(values).collect()
}

/// Returns the path to the block at an address such as `0x5581c0de`, or to the largest block with values of a type; `None`
/// if there is none.
fn find(walk: &Walk<'_, '_>, snapshot: &Snapshot, asked: &str) -> Option<Path> {
    let block = match asked.strip_prefix("0x") {
        Some(digits) => walk.block_around(u64::from_str_radix(digits, 16).ok()?)?,
        None => largest(walk, snapshot, asked)?,
    };
    Some(to(walk, snapshot, block, asked.to_owned()))
}

/// Returns the largest block with values of a type, or else the largest of which the elements have such values inside.
fn largest(walk: &Walk<'_, '_>, snapshot: &Snapshot, name: &str) -> Option<usize> {
    let largest = |is_it: &dyn Fn(&Holding) -> bool| {
        let is_of_type: Vec<bool> = walk.counted.holdings.iter().map(is_it).collect();
        let all = (0..snapshot.blocks.len())
            .filter(|block| is_of_type.get(walk.holding(*block) as usize).copied().unwrap_or(false));
        // Of equal ones the first.
        all.max_by_key(|block| (snapshot.blocks[*block].size, std::cmp::Reverse(*block)))
    };
    largest(&|holding| is_named(&holding.element, name) || is_named(&holding.content, name)).or_else(|| {
        let fields = summary::fields(walk);
        let around = around(&fields, name);
        largest(&|holding| around.iter().any(|name| has_inline(&holding.element, name)))
    })
}

/// Returns the shortest path from a root to a block.
fn to(walk: &Walk<'_, '_>, snapshot: &Snapshot, block: usize, target: String) -> Path {
    let blocks = snapshot.blocks.len();
    let holders = walk.holders();
    // What each block was reached from, with the site of the pointer to that one.
    let mut below: foldhash::HashMap<usize, (usize, usize)> = foldhash::HashMap::default();
    let mut open = VecDeque::from([block]);
    let (mut top, mut root) = ((block, None), None);
    below.insert(block, (usize::MAX, usize::MAX));
    'all: while let Some(at) = open.pop_front() {
        let mut is_held = false;
        for hold in holders.pointers_to(at) {
            let Some(from) = (hold.from as usize).checked_sub(1) else { continue };
            is_held = true;
            if from >= blocks {
                root = holders.roots().get(from - blocks).copied();
                top = (at, Some(hold.site as usize));
                break 'all;
            }
            below.entry(from).or_insert_with(|| {
                open.push_back(from);
                (at, hold.site as usize)
            });
        }
        if !is_held {
            // Only a stack, a task or nothing holds it; a root is better.
            top = if top.0 == block { (at, None) } else { top };
        }
    }
    let name = |site: usize| walk.schema.sites.get(site).map_or_else(String::new, |field| field.path.clone());
    let step = |block: usize, site: Option<usize>| {
        let holding = walk.counted.holdings.get(walk.holding(block) as usize);
        let Some(allocation) = snapshot.blocks.get(block) else { return Step::default() };
        Step {
            owner: site.map(name).or_else(|| holding.map(|holding| owner(walk, holding).0)).unwrap_or_default(),
            address: allocation.addr,
            bytes: allocation.size,
            content: holding.map(|holding| holding.content.clone()).unwrap_or_default(),
        }
    };
    let (mut at, site) = top;
    let mut steps = vec![step(at, site)];
    while let Some(&(next, site)) = below.get(&at).filter(|(next, _)| *next != usize::MAX) {
        steps.push(step(next, Some(site)));
        at = next;
    }
    Path { target, root: root.map(name), steps }
}
