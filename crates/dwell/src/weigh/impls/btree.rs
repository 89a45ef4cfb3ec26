//! B-trees in the layout of std: leaves of up to 11 keys, and inner nodes with 12 more edges.
//!
//! The addresses of the keys determine the number of nodes, since the keys of a node are contiguous. The iterator
//! yields the keys of a leaf, then one key of an inner node, then the keys of the next leaf. The keys of the inner
//! nodes follow the same pattern among themselves.

use super::side_by_side;
use crate::prefetch::prefetch;
use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};
use core::alloc::Layout;
use core::ptr;
use std_alloc::collections::{BTreeMap, BTreeSet};

const KEYS: usize = 11;
/// The least number of keys in a node other than the root. A root with nodes below it has at least one key.
const LEAST_KEYS: usize = 5;
/// The most levels of a tree of `usize::MAX` keys: each level has at least six times as many nodes as the level
/// above, and below the root twice as many.
const LEVELS: usize = 25;

/// Returns size and alignment of a leaf: a pointer to its parent, its index in the parent, its length, keys and values.
const fn leaf<K, V>() -> (usize, usize) {
    let (keys, values) = (Layout::new::<[K; KEYS]>(), Layout::new::<[V; KEYS]>());
    side_by_side(&[Layout::new::<usize>(), Layout::new::<[u16; 2]>(), keys, values])
}

/// Returns size and alignment of an inner node: a leaf, then pointers to the nodes below.
const fn internal<K, V>() -> (usize, usize) {
    let (size, align) = leaf::<K, V>(); // at least a pointer's alignment
    ((size + (KEYS + 1) * size_of::<usize>()).next_multiple_of(align), align)
}

/// A counter of nodes, from the addresses of the keys in order.
struct Nodes {
    levels: [Level; LEVELS],
}

#[derive(Clone, Copy)]
struct Level {
    nodes: usize,
    /// The address of the last key, if the next key may be in the same node; otherwise 0.
    last: usize,
}

impl Nodes {
    const fn new() -> Self {
        Self { levels: [Level { nodes: 0, last: 0 }; LEVELS] }
    }

    #[inline]
    fn meet(&mut self, address: usize, size: usize) {
        // Mostly, the key is the next one of the same leaf.
        if address.wrapping_sub(self.levels[0].last) == size {
            self.levels[0].last = address;
        } else {
            self.step(address, size);
        }
    }

    #[cold]
    fn step(&mut self, address: usize, size: usize) {
        for level in &mut self.levels {
            if level.last == 0 {
                level.nodes += 1;
                level.last = address;
                return;
            }
            // Keys of different nodes are farther apart, since the length field of a node is between them.
            if address.wrapping_sub(level.last) == size {
                level.last = address;
                return;
            }
            // The key is in a node above, and the next key on this level is in a new node.
            level.last = 0;
        }
    }

    /// Returns the numbers of leaves and of inner nodes.
    fn counts(&self) -> (usize, usize) {
        (self.levels[0].nodes, self.levels[1..].iter().map(|level| level.nodes).sum())
    }
}

/// Weighs a tree of `K` and `V` by its entries in order.
#[inline]
pub(super) fn weigh<'a, 'v, M, K, V, I, const TREE: bool>(
    walk: &mut Walk<'a, 'v, TREE>,
    map: &'a M,
    len: usize,
    entries: impl Fn(&'a M) -> I,
) where
    M: Weigh + 'v,
    K: Weigh + 'v,
    V: Weigh + 'v,
    I: Iterator<Item = (&'a K, &'a V)>,
{
    if len == 0 {
        // A map may keep its root node after all entries have been removed.
        return walk.at_least();
    }
    // A tree of several nodes has at least this many keys in two leaves and one more in the root, so this is a single
    // leaf.
    if len <= 2 * LEAST_KEYS {
        walk.open_map(map, move |walk| {
            if const { !K::REACH.is_skipped(TREE) || !V::REACH.is_skipped(TREE) } {
                walk.entries_ahead(len, entries(map));
            }
            let (size, align) = const { leaf::<K, V>() };
            walk.block(size, align, (size_of::<K>() + size_of::<V>()) * (KEYS - len));
            walk.slots::<K>(0, KEYS, len);
            walk.slots::<V>(1, KEYS, len);
        });
    } else {
        walk.open_map(map, move |walk| follow_many(walk, len, entries(map)));
    }
}

#[inline]
fn follow_many<'a, 'v, K, V, const TREE: bool>(
    walk: &mut Walk<'a, 'v, TREE>,
    len: usize,
    entries: impl Iterator<Item = (&'a K, &'a V)>,
) where
    K: Weigh + 'v,
    V: Weigh + 'v,
{
    let mut nodes = Nodes::new();
    let mut meet = |key: &K, value: &V| {
        if size_of::<K>() != 0 {
            nodes.meet(ptr::from_ref(key).addr(), size_of::<K>());
        } else {
            nodes.meet(ptr::from_ref(value).addr(), size_of::<V>());
        }
    };
    if const { !K::REACH.is_skipped(TREE) || !V::REACH.is_skipped(TREE) } {
        walk.entries_ahead(len, entries.inspect(|(key, value)| meet(key, value)));
    } else {
        entries.for_each(|(key, value)| meet(key, value));
    }
    let (leaves, internals) = nodes.counts();
    let slots = (leaves + internals).saturating_mul(KEYS);
    let spare = (size_of::<K>() + size_of::<V>()) as u64 * slots.saturating_sub(len) as u64;
    let (size, align) = const { leaf::<K, V>() };
    walk.blocks(size, align, leaves, spare);
    let (size, align) = const { internal::<K, V>() };
    walk.blocks(size, align, internals, 0);
    walk.slots::<K>(0, slots, len);
    walk.slots::<V>(1, slots, len);
}

impl<K: Weigh, V: Weigh> Weigh for BTreeMap<K, V> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<K>,
        value: type_of::<V>,
        entry: size_of::<K>() + size_of::<V>(),
        map: MapKind::BTree,
    });
    const PREFETCHES: bool = true;
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn prefetch(value: Option<&Self>) {
        if let Some((key, _)) = value.and_then(|map| map.iter().next()) {
            prefetch(ptr::from_ref(key).cast());
        }
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        weigh(walk, self, self.len(), Self::iter);
    }
}

impl<T: Weigh> Weigh for BTreeSet<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<T>,
        value: type_of::<()>,
        entry: size_of::<T>(),
        map: MapKind::BTree,
    });
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        weigh(walk, self, self.len(), |set| set.iter().map(|key| (key, &())));
    }
}
