//! hashbrown: maps and sets in the layout of std's, and `HashTable`.

use super::super::hash::{self, Table};
use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};
use ::hashbrown::{HashMap, HashSet, HashTable};

macro_rules! tables {
    ($([$($generics:tt)*] $ty:ty: $key:ty, $value:ty, $hasher:ty, $vacant:literal, |$table:ident| $entries:expr, $bytes:expr;)*) => {$(
        impl<$($generics)*> Weigh for $ty {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
                key: type_of::<$key>,
                value: type_of::<$value>,
                entry: size_of::<($key, $value)>(),
                map: MapKind::Hash,
            });
            const VACANT_MAPS: u64 = $vacant;

            #[inline]
            fn is_vacant(&self) -> bool {
                let $table = self;
                $table.capacity() == 0 && $bytes == 0
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if self.capacity() == 0 && const { $vacant != 0 } {
                    return walk.at_least();
                }
                if self.is_vacant() {
                    return;
                }
                let said = |$table: &Self| Table {
                    len: $table.len(),
                    capacity: $table.capacity(),
                    bytes: $bytes,
                    mixes: hash::mixes::<$hasher>,
                };
                hash::weigh(walk, self, said, |$table| $entries);
            }
        }
    )*};
}

// `allocation_size` of a map and of a set requires `K: Eq + Hash`, so they pass 0 for the bytes of the block.
tables! {
    [K: Weigh, V: Weigh, S] HashMap<K, V, S>: K, V, S, 1, |map| map.iter(), 0;
    [T: Weigh, S] HashSet<T, S>: T, (), S, 1, |set| set.iter().map(|key| (key, &())), 0;
    [T: Weigh] HashTable<T>: T, (), (), 0, |table| table.iter().map(|key| (key, &())), table.allocation_size();
}
