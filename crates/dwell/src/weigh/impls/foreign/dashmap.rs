//! dashmap: a block of shards, each of which has a lock and a hash table.
//!
//! The walk tries the lock of each shard and never waits, since this thread may hold a reference into a shard. While
//! the walk holds all shards for reading, the map's own iterator does not wait either: the locks admit readers unless a
//! writer holds them.

use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};
use ::dashmap::{DashMap, DashSet};
use core::hash::{BuildHasher, Hash};
use std_alloc::vec::Vec;

macro_rules! maps {
    ($([$($generics:tt)*] $ty:ty: $key:ty, $value:ty, |$entry:ident| $pair:expr;)*) => {$(
        impl<$($generics)*, S: BuildHasher + Clone> Weigh for $ty {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
                key: type_of::<$key>,
                value: type_of::<$value>,
                entry: size_of::<($key, $value)>(),
                map: MapKind::Hash,
            });

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                let shards = self.shards();
                walk.block(size_of_val(shards), align_of_val(shards), 0);
                let held: Vec<_> = shards.iter().filter_map(|shard| shard.try_read()).collect();
                let (mut slots, mut len) = (0, 0);
                for table in &held {
                    let (_, layout) = table.allocation_info();
                    if layout.size() != 0 {
                        let spare = (table.buckets() - table.len()) * size_of::<($key, $value)>();
                        walk.block(layout.size(), layout.align(), spare);
                        slots += table.buckets();
                        len += table.len();
                    }
                }
                walk.slots::<$key>(0, slots, len);
                walk.slots::<$value>(1, slots, len);
                if held.len() < shards.len() {
                    // The iterator would wait for the other shards, so the walk follows no entry.
                    (held.len()..shards.len()).for_each(|_| walk.opaque());
                } else if const { !<$key>::REACH.is_skipped(TREE) || !<$value>::REACH.is_skipped(TREE) } {
                    for $entry in self.iter() {
                        walk.behind_guard(|walk| walk.entries([$pair]));
                    }
                }
            }
        }
    )*};
}

maps! {
    [K: Weigh + Eq + Hash, V: Weigh] DashMap<K, V, S>: K, V, |entry| (entry.key(), entry.value());
    [K: Weigh + Eq + Hash] DashSet<K, S>: K, (), |entry| (entry.key(), &());
}
