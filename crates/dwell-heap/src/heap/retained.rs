//! What each static, local variable, field and key of a map keeps: the blocks that would be freed without it.
//!
//! A block that several places hold is kept by the one that dominates all of them, and by none of them alone. A field
//! keeps a block if all pointers to it are in values of this field, and what such blocks dominate. So the fields of a
//! value are parts of what the value's own field keeps.

use super::dominators::Search;
use super::keys;
use super::rows::{Retained, RetainedKey};
use super::walk::owners::field_of;
use super::walk::{Entries, HoldingId, Origin, Owner, SiteId, Walk};
use crate::capture::Snapshot;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Owners that keep less than this part of the live bytes are not listed.
const LEAST: u64 = 1000;
/// The keys of a map are listed if it keeps at least this part of the live bytes.
const LEAST_MAP: u64 = 100;
/// The number of keys that are listed.
const KEYS: usize = 5;
/// The number that stands for no field.
const NO_FIELD: u32 = u32::MAX;
/// The most fields that are listed together for what they share.
const TOGETHER: usize = 4;
/// Between the names of such fields.
const SHARED: &str = " and ";

/// The blocks by what dominates them.
struct Tree {
    search: Search,
    /// The number of the immediate dominator of each number.
    dominator: Vec<u32>,
    /// The bytes and blocks that each number dominates, with itself.
    bytes: Vec<u64>,
    blocks: Vec<u32>,
}

/// Returns what keeps the most bytes. A sampled run has no such rows, because most blocks are unknown.
pub(crate) fn find(walk: &mut Walk<'_, '_>, snapshot: &Snapshot, origins: &[Origin]) -> Vec<Retained> {
    if snapshot.blocks.is_empty() || snapshot.blocks.iter().any(|block| block.weight != 1) {
        return Vec::new();
    }

    let mut tree = Tree::new(walk, snapshot);
    let least = (snapshot.live_bytes / LEAST).max(1);
    let mut found: BTreeMap<(String, String, Option<String>), Retained> = BTreeMap::new();
    let mut add = |owner: String, by: &str, content: String, at: Option<String>, bytes: u64, blocks: u64| {
        let row = found.entry((owner.clone(), content.clone(), at.clone())).or_insert_with(|| Retained {
            owner,
            by: by.into(),
            content,
            at,
            ..Retained::default()
        });
        row.bytes = row.bytes.saturating_add(bytes);
        row.blocks = row.blocks.saturating_add(blocks);
    };
    let blocks = snapshot.blocks.len();
    for (number, &site) in walk.holders().roots().iter().enumerate() {
        if let Some(at) = u32::try_from(blocks + 1 + number).ok().and_then(|node| tree.search.number(node)) {
            let owner = walk.schema.sites[site].path.clone();
            let by = match () {
                () if owner.starts_with("(local ") => "local",
                () if owner.starts_with("(thread-local ") => "thread-local",
                () => "static",
            };
            add(owner, by, String::new(), None, tree.bytes[at as usize], u64::from(tree.blocks[at as usize]));
        }
    }
    for block in 0..blocks {
        let owner = walk.counted.holdings.get(walk.holding(block) as usize).map(|holding| &holding.owner);
        if walk.holders().first_of(block).is_none()
            && let Some(owner @ (Owner::Stack | Owner::Unowned | Owner::Task)) = owner
            && let Some(at) = u32::try_from(block + 1).ok().and_then(|node| tree.search.number(node))
        {
            let content = walk.counted.holdings[walk.holding(block) as usize].content.clone();
            let site = origins.get(snapshot.blocks[block].stack as usize).and_then(|origin| origin.at.clone());
            let (bytes, blocks) = (tree.bytes[at as usize], u64::from(tree.blocks[at as usize]));
            let (owner, by) = if *owner == Owner::Task { ("(task)", "task") } else { ("(stack)", "stack") };
            add(owner.into(), by, content, site, bytes, blocks);
        }
    }
    for (owner, (bytes, blocks)) in fields(walk, &tree) {
        let by = if owner.contains(SHARED) { "shared" } else { "field" };
        add(owner, by, String::new(), None, bytes, blocks);
    }
    let mut rows: Vec<Retained> = found.into_values().filter(|row| row.bytes >= least).collect();
    // The keys of a large map need the memory.
    tree.blocks = Vec::new();
    of_keys(walk, snapshot, origins, &tree, &mut rows);
    rows.sort_by(|a, b| (b.bytes, &a.owner, &a.content, &a.at).cmp(&(a.bytes, &b.owner, &b.content, &b.at)));
    rows
}

impl Tree {
    fn new(walk: &Walk<'_, '_>, snapshot: &Snapshot) -> Self {
        let holders = walk.holders();
        let next = holders.successors();
        let blocks = snapshot.blocks.len();
        let nodes = u32::try_from(next.nodes()).unwrap_or(u32::MAX);
        let first_root = u32::try_from(blocks + 1).unwrap_or(u32::MAX);
        let mut search = Search::new(next.nodes());
        search.visit(0, 0, |node| next.held_by(node));
        for root in first_root..nodes {
            search.visit(root, 0, |node| next.held_by(node));
        }
        // The blocks that something outside of the graph holds.
        let mut is_top: Vec<bool> =
            (0..blocks).map(|block| !walk.is_leaked(block) && holders.is_held_elsewhere(block)).collect();
        for block in (0..blocks).filter(|block| is_top[*block]) {
            search.visit(u32::try_from(block + 1).unwrap_or(0), 0, |node| next.held_by(node));
        }
        // Raw pointers may hold each other.
        for block in (0..blocks).filter(|block| !walk.is_leaked(*block)) {
            let node = u32::try_from(block + 1).unwrap_or(0);
            if search.number(node).is_none() {
                is_top[block] = true;
                search.visit(node, 0, |node| next.held_by(node));
            }
        }
        drop(next);
        let dominator =
            search.dominators(|node, each| match (node as usize).checked_sub(1).filter(|block| *block < blocks) {
                Some(block) => {
                    if is_top[block] {
                        each(0);
                    }
                    holders.pointers_to(block).for_each(|hold| each(hold.from));
                }
                None => each(0),
            });
        let own = |node: &u32| (*node as usize).checked_sub(1).and_then(|block| snapshot.blocks.get(block));
        let mut bytes: Vec<u64> = search.order.iter().map(|node| own(node).map_or(0, |block| block.size)).collect();
        let mut counts: Vec<u32> = search.order.iter().map(|node| u32::from(own(node).is_some())).collect();
        // A node comes after its dominator.
        for at in (1..dominator.len()).rev() {
            let above = dominator[at] as usize;
            bytes[above] = bytes[above].saturating_add(bytes[at]);
            counts[above] += counts[at];
        }
        search.complete();
        Self { search, dominator, bytes, blocks: counts }
    }

    /// Returns the number of a block.
    fn of_block(&self, block: usize) -> Option<u32> {
        self.search.number(u32::try_from(block + 1).ok()?)
    }
}

/// Fields by number, with sets of fields that share blocks.
struct Fields {
    /// The field of each site.
    of_site: Vec<u32>,
    names: Vec<String>,
    sets: HashMap<Vec<u32>, u32>,
}

impl Fields {
    fn new(walk: &Walk<'_, '_>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut names: Vec<String> = Vec::new();
        let of_site = walk.schema.sites.iter().map(|site| {
            let name = field_of(&site.path);
            // The parts of blocks that no field owns have no name of their own.
            if site.def.is_none() && !name.starts_with('(') {
                return NO_FIELD;
            }
            let next = u32::try_from(names.len()).unwrap_or(NO_FIELD);
            *numbers.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                next
            })
        });
        Self { of_site: of_site.collect(), names, sets: HashMap::new() }
    }

    /// Returns the field or set of fields of all pointers to a block.
    fn holding(&mut self, walk: &Walk<'_, '_>, block: usize) -> u32 {
        let holders = walk.holders();
        if holders.is_held_elsewhere(block) {
            return NO_FIELD;
        }
        let mut set: Vec<u32> = Vec::new();
        for hold in holders.pointers_to(block) {
            let field = self.of_site.get(hold.site as usize).copied().unwrap_or(NO_FIELD);
            if !set.contains(&field) {
                set.push(field);
            }
            if field == NO_FIELD || set.len() > TOGETHER {
                return NO_FIELD;
            }
        }
        if let [] | [_] = set[..] {
            return set.first().copied().unwrap_or(NO_FIELD);
        }
        set.sort_unstable_by(|a, b| self.names[*a as usize].cmp(&self.names[*b as usize]));
        let Self { names, sets, .. } = self;
        *sets.entry(set).or_insert_with_key(|set| {
            let all: Vec<&str> = set.iter().map(|field| &*names[*field as usize]).collect();
            names.push(all.join(SHARED));
            u32::try_from(names.len() - 1).unwrap_or(NO_FIELD)
        })
    }
}

/// Returns the bytes and blocks that each field keeps.
fn fields(walk: &Walk<'_, '_>, tree: &Tree) -> Vec<(String, (u64, u64))> {
    let blocks = walk.holders().blocks();
    let mut fields = Fields::new(walk);
    let count = tree.dominator.len();
    let (mut child, mut sibling) = (vec![0_u32; count], vec![0_u32; count]);
    for at in (1..count).rev() {
        let above = tree.dominator[at] as usize;
        sibling[at] = std::mem::replace(&mut child[above], u32::try_from(at).unwrap_or(0));
    }
    // The bytes and blocks of each field or set of fields, and how many blocks above the present one it keeps.
    let mut sums: Vec<(u64, u64, u32)> = Vec::new();
    let mut open: Vec<(u32, u32)> = Vec::new();
    // In the order of the blocks, which are together in memory.
    let mut field_of = vec![NO_FIELD; count];
    for block in 0..blocks {
        if let Some(at) = tree.of_block(block) {
            field_of[at as usize] = fields.holding(walk, block);
        }
    }
    let mut at = 0_u32;
    loop {
        let field = field_of[at as usize];
        if field != NO_FIELD {
            if sums.len() <= field as usize {
                sums.resize(field as usize + 1, (0, 0, 0));
            }
            let sum = &mut sums[field as usize];
            if sum.2 == 0 {
                sum.0 = sum.0.saturating_add(tree.bytes[at as usize]);
                sum.1 += u64::from(tree.blocks[at as usize]);
            }
            sum.2 += 1;
        }
        open.push((at, field));
        let mut next = child[at as usize];
        while next == 0 {
            let Some((done, field)) = open.pop() else { break };
            if let Some(sum) = sums.get_mut(field as usize) {
                sum.2 -= 1;
            }
            next = sibling[done as usize];
        }
        if next == 0 {
            break;
        }
        at = next;
    }
    // Statics have rows of their own.
    let is_static = |name: &str| name.starts_with('(') && !name.contains(SHARED);
    let all = fields.names.into_iter().zip(sums).filter(|(name, sum)| sum.0 > 0 && !is_static(name));
    all.map(|(name, sum)| (name, (sum.0, sum.1))).collect()
}

/// Adds the keys of maps that keep the most bytes.
fn of_keys(walk: &mut Walk<'_, '_>, snapshot: &Snapshot, origins: &[Origin], tree: &Tree, rows: &mut [Retained]) {
    let least = snapshot.live_bytes / LEAST_MAP;
    let large: HashMap<(&str, &str, Option<&str>), usize> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.bytes >= least)
        .map(|(number, row)| ((&*row.owner, &*row.content, row.at.as_deref()), number))
        .collect();
    // The row of the blocks of a holding, and of a call stack if nothing holds them.
    let mut row_of: foldhash::HashMap<(HoldingId, Option<u32>), Option<usize>> = foldhash::HashMap::default();
    // The entries of each row with the most bytes: bytes, the address and site of the key.
    let mut most: BTreeMap<usize, Vec<(u64, u64, SiteId)>> = BTreeMap::new();
    let mut entry_of = Vec::new();
    for block in 0..snapshot.blocks.len() {
        let number = walk.holding(block);
        let Some(holding) = walk.counted.holdings.get(number as usize) else { continue };
        // Blocks of an unknown type have no site.
        if matches!(holding.owner, Owner::Untyped(_)) {
            continue;
        }
        let site = holding.site;
        let stack = snapshot.blocks[block].stack;
        let is_stack = walk.holders().first_of(block).is_none();
        let row = *row_of.entry((number, is_stack.then_some(stack))).or_insert_with(|| {
            let at = origins.get(stack as usize).and_then(|origin| origin.at.as_deref());
            let name = field_of(&walk.schema.sites[site].path);
            let key = if is_stack { ("(stack)", &*holding.content, at) } else { (name, "", None) };
            large.get(&key).copied()
        });
        let Some(row) = row else { continue };
        let decoder = Rc::clone(&walk.schema.sites[site].decoder);
        let Some(entries) = decoder.entries(walk, block) else { continue };
        let found = most.entry(row).or_default();
        for (bytes, key) in kept(walk, tree, block, &entries, &mut entry_of) {
            found.push((bytes, key, entries.key));
        }
        if found.len() > 64 * KEYS {
            shorten(found);
        }
    }
    for (row, mut found) in most {
        shorten(&mut found);
        let keys = found.into_iter().map(|(bytes, at, site)| RetainedKey {
            key: keys::shown(walk, site, at).unwrap_or_else(|| format!("a {}", walk.schema.sites[site].name)),
            bytes,
        });
        rows[row].keys = keys.collect();
    }
}

fn shorten(found: &mut Vec<(u64, u64, SiteId)>) {
    let order = |(bytes, at, _): &(u64, u64, SiteId)| (Reverse(*bytes), *at);
    if found.len() > KEYS {
        found.select_nth_unstable_by_key(KEYS, order);
        found.truncate(KEYS);
    }
    found.sort_unstable_by_key(order);
}

/// Returns the bytes that each entry of a map's block keeps, with the address of its key. `entry_of` has space for a number for
/// each number of the tree, all 0.
fn kept(
    walk: &mut Walk<'_, '_>,
    tree: &Tree,
    block: usize,
    entries: &Entries,
    entry_of: &mut Vec<u32>,
) -> Vec<(u64, u64)> {
    /// The entries that are read at once, so that the processor waits for the memory of all of them together.
    const GROUP: usize = 64;
    /// More than one entry holds the block.
    const SEVERAL: u32 = u32::MAX;
    let Some(map) = tree.of_block(block) else { return Vec::new() };
    let sizes = [entries.key, entries.value].map(|site| walk.schema.sites[site].size);
    entry_of.resize(tree.dominator.len(), 0);
    // The numbers of the tree that any entry holds.
    let mut all: Vec<u32> = Vec::new();
    let mut words: Vec<(usize, u64, u32)> = Vec::new();
    let mut held: Vec<(u32, u32)> = Vec::new();
    let mut bytes = Vec::new();
    for (first, group) in (1_u32..).step_by(GROUP).zip(entries.at.chunks(GROUP)) {
        words.clear();
        for (entry, &(key, value)) in (first..).zip(group) {
            for (at, size) in [key, value].into_iter().zip(sizes) {
                let Ok(size) = usize::try_from(size) else { continue };
                if walk.memory(at, size, &mut bytes) {
                    let all = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                    words.extend(all.filter_map(|word| Some((walk.block_before(word)?, word, entry))));
                }
            }
        }
        words.retain(|(block, word, _)| walk.contains(*block, *word));
        held.clear();
        held.extend(words.iter().filter_map(|(block, _, entry)| Some((tree.of_block(*block)?, *entry))));
        held.retain(|(held, _)| tree.dominator[*held as usize] == map);
        for &(held, entry) in &held {
            let known = &mut entry_of[held as usize];
            match *known {
                0 => {
                    *known = entry;
                    all.push(held);
                }
                other if other != entry => *known = SEVERAL,
                _ => {}
            }
        }
    }
    let mut sums = vec![0_u64; entries.at.len()];
    for held in all {
        let entry = std::mem::take(&mut entry_of[held as usize]);
        if let Some(sum) = sums.get_mut(entry as usize - 1).filter(|_| entry != SEVERAL) {
            *sum = sum.saturating_add(tree.bytes[held as usize]);
        }
    }
    sums.into_iter().zip(&entries.at).filter(|(bytes, _)| *bytes > 0).map(|(bytes, at)| (bytes, at.0)).collect()
}
