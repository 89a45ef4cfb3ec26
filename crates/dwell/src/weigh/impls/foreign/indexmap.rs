//! indexmap: a hash table of indices, and a block of entries.
//!
//! A map reports only the smaller of the two capacities. They differ if entries were removed, or if the map was created
//! by `with_capacity` with a number between two capacities of the table. So the count is a lower bound.

use super::super::hash;
use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};
use ::indexmap::{IndexMap, IndexSet};

/// A struct with the size and alignment of indexmap's entries.
#[expect(dead_code, reason = "only its layout is asked for")]
struct Bucket<K, V> {
    hash: usize,
    key: K,
    value: V,
}

fn blocks<K: Weigh, V: Weigh, const TREE: bool>(walk: &mut Walk<'_, '_, TREE>, len: usize, capacity: usize) {
    walk.at_least();
    let (size, align) = hash::layout_for(capacity, size_of::<usize>(), align_of::<usize>());
    walk.block(size, align, 0);
    let bucket = size_of::<Bucket<K, V>>();
    walk.block(bucket.saturating_mul(capacity), align_of::<Bucket<K, V>>(), bucket.saturating_mul(capacity - len));
}

impl<K: Weigh, V: Weigh, S> Weigh for IndexMap<K, V, S> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<K>,
        value: type_of::<V>,
        entry: size_of::<Bucket<K, V>>(),
        map: MapKind::Hash,
    });
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.capacity() == 0 {
            return walk.at_least(); // tombstones may take all of it
        }
        if walk.defer(self) {
            return;
        }
        blocks::<K, V, TREE>(walk, self.len(), self.capacity());
        walk.slots::<K>(0, self.capacity(), self.len());
        walk.slots::<V>(1, self.capacity(), self.len());
        walk.entries(self);
    }
}

impl<T: Weigh, S> Weigh for IndexSet<T, S> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<T>,
        value: type_of::<()>,
        entry: size_of::<Bucket<T, ()>>(),
        map: MapKind::Hash,
    });
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.capacity() == 0 {
            return walk.at_least(); // tombstones may take all of it
        }
        if walk.defer(self) {
            return;
        }
        blocks::<T, (), TREE>(walk, self.len(), self.capacity());
        walk.slots::<T>(0, self.capacity(), self.len());
        walk.slots::<()>(1, self.capacity(), self.len());
        walk.entries(self.iter().map(|key| (key, &())));
    }
}
