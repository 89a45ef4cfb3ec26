//! Leaks: rings of `Rc` or `Arc` that nothing outside holds.
//!
//! A block is reachable if a root holds it, a variable of a frame has a pointer to it, if nothing is found that holds it, or if its strong count is not that of the
//! pointers that were found: then a local variable, a register or another library holds it. All that these hold is
//! reachable too. Of the other blocks every count is explained by a block which is not reachable either, so no code can
//! drop them.

use super::holders::Successors;
use super::{LEAKED, SiteId, Walk};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Rings whose pointers have the same sites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Leak {
    /// The sites of the pointers between blocks of a ring.
    pub(crate) sites: Vec<SiteId>,
    /// The number of rings.
    pub(crate) rings: u64,
    /// The blocks of the rings, and those that only they hold.
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
    /// The call stack that allocated most of the counted blocks in the rings.
    pub(crate) stack: Option<u32>,
}

impl Walk<'_, '_> {
    /// Finds the leaked blocks, and marks them, so that findings are about others.
    pub(super) fn find_leaks(&mut self) {
        self.holders.complete();
        let blocks = self.holders.blocks();
        if (0..blocks).all(|block| self.holders.strong(block) == 0) {
            return;
        }
        let next = self.holders.successors();
        let is_live =
            reachable(&next, |block| self.marks.local_of[block] != 0 || self.holders.is_held_elsewhere(block));
        let leaked: Vec<u32> =
            (0..blocks).filter(|block| !is_live[block + 1]).filter_map(|block| u32::try_from(block + 1).ok()).collect();
        for &node in &leaked {
            self.marks.flags[node as usize - 1] |= LEAKED;
        }
        let rings = components(&leaked, &next, &is_live);
        self.counted.leaks = self.group(&rings, &next);
    }

    /// Returns the leaks of each set of sites. Components come before those that hold them.
    fn group(&self, components: &[Vec<u32>], next: &Successors) -> Vec<Leak> {
        let mut leaks: Vec<(Leak, BTreeMap<u32, u64>)> = Vec::new();
        let mut by_sites: HashMap<Vec<SiteId>, usize> = HashMap::new();
        let mut leak_of: HashMap<u32, usize> = HashMap::new();
        for component in components.iter().rev() {
            let inside: BTreeSet<u32> = component.iter().copied().collect();
            let mut sites = BTreeSet::new();
            for &node in component {
                let holds = self.holders.pointers_to(node as usize - 1).filter(|hold| inside.contains(&hold.from));
                sites.extend(holds.map(|hold| hold.site as SiteId));
            }
            let is_ring = !sites.is_empty();
            let number = if is_ring {
                let sites: Vec<SiteId> = sites.into_iter().collect();
                *by_sites.entry(sites.clone()).or_insert_with(|| {
                    leaks.push((Leak { sites, ..Leak::default() }, BTreeMap::new()));
                    leaks.len() - 1
                })
            } else {
                // A block that a ring holds: damaged memory may have others.
                let Some(&number) = leak_of.get(&component[0]) else { continue };
                number
            };
            let (leak, stacks) = &mut leaks[number];
            leak.rings += u64::from(is_ring);
            for &node in component {
                let block = node as usize - 1;
                let allocation = self.snapshot.blocks[block];
                let bytes = allocation.size.saturating_mul(u64::from(allocation.weight));
                leak.blocks = leak.blocks.saturating_add(u64::from(allocation.weight));
                leak.bytes = leak.bytes.saturating_add(bytes);
                if is_ring && self.holders.strong(block) > 0 {
                    let sum = stacks.entry(allocation.stack).or_default();
                    *sum = sum.saturating_add(bytes);
                }
                for &held in next.held_by(node) {
                    leak_of.entry(held).or_insert(number);
                }
            }
        }
        let mut leaks: Vec<Leak> = leaks
            .into_iter()
            .map(|(leak, stacks)| Leak {
                stack: stacks
                    .iter()
                    .max_by_key(|(stack, bytes)| (**bytes, std::cmp::Reverse(**stack)))
                    .map(|largest| *largest.0),
                ..leak
            })
            .collect();
        leaks.sort_by(|a, b| (b.bytes, &a.sites).cmp(&(a.bytes, &b.sites)));
        leaks
    }

    /// Returns `true` if nothing can drop a block.
    pub(crate) fn is_leaked(&self, block: usize) -> bool {
        self.marks.flags[block] & LEAKED != 0
    }

    /// Returns the call site of a call stack.
    pub(crate) fn call_site(&self, stack: u32) -> Option<&str> {
        self.origins.get(stack as usize)?.at.as_deref()
    }
}

/// Marks the nodes that something outside of the rings holds.
fn reachable(next: &Successors, is_held: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut is_live = vec![false; next.nodes()];
    let mut open: Vec<u32> = Vec::new();
    let outside = |node: usize| node == 0 || node > next.blocks() || is_held(node - 1);
    for node in (0..next.nodes()).filter(|node| outside(*node)) {
        is_live[node] = true;
        open.push(u32::try_from(node).unwrap_or(0));
    }
    while let Some(node) = open.pop() {
        for &held in next.held_by(node) {
            if !std::mem::replace(&mut is_live[held as usize], true) {
                open.push(held);
            }
        }
    }
    is_live
}

/// Returns the strongly connected components of the nodes that are not live, each before those that hold it (Tarjan,
/// 1972).
fn components(nodes: &[u32], next: &Successors, is_live: &[bool]) -> Vec<Vec<u32>> {
    #[derive(Clone, Copy, Default)]
    struct Node {
        /// The order of the visit, from 1.
        number: u32,
        low: u32,
        is_open: bool,
    }
    let mut visited: HashMap<u32, Node> = HashMap::with_capacity(nodes.len());
    let mut found = Vec::new();
    let mut stack: Vec<u32> = Vec::new();
    let mut number = 0;
    for &start in nodes {
        if visited.contains_key(&start) {
            continue;
        }
        // A node, and how many of the nodes that it holds were visited.
        let mut path: Vec<(u32, usize)> = vec![(start, 0)];
        while let Some(&mut (node, ref mut done)) = path.last_mut() {
            if *done == 0 && !visited.contains_key(&node) {
                number += 1;
                visited.insert(node, Node { number, low: number, is_open: true });
                stack.push(node);
            }
            let held = next.held_by(node).get(*done).copied();
            *done += 1;
            match held {
                Some(held) if is_live[held as usize] => {}
                Some(held) => match visited.get(&held).copied() {
                    None => path.push((held, 0)),
                    Some(other) if other.is_open => {
                        let this = visited.entry(node).or_default();
                        this.low = this.low.min(other.number);
                    }
                    Some(_) => {}
                },
                None => {
                    path.pop();
                    let this = visited[&node];
                    if let Some(&(parent, _)) = path.last() {
                        let parent = visited.entry(parent).or_default();
                        parent.low = parent.low.min(this.low);
                    }
                    if this.low == this.number {
                        let from = stack.iter().rposition(|other| *other == node).unwrap_or(0);
                        let component = stack.split_off(from);
                        for node in &component {
                            visited.entry(*node).or_default().is_open = false;
                        }
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}
