//! hashbrown, laid out as std's maps.

use super::super::hash::{self, Table};
use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};
use ::hashbrown::{HashMap, HashSet, HashTable};

macro_rules! tables {
    ($([$($generics:tt)*] $ty:ty: $key:ty, $value:ty, |$table:ident| $entries:expr, $bytes:expr;)*) => {$(
        impl<$($generics)*> Weigh for $ty {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
                key: type_of::<$key>,
                value: type_of::<$value>,
                entry: size_of::<($key, $value)>(),
                map: MapKind::Hash,
            });

            #[inline]
            fn is_vacant(&self) -> bool {
                self.capacity() == 0
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if self.capacity() != 0 {
                    let said =
                        |$table: &Self| Table { len: $table.len(), capacity: $table.capacity(), bytes: $bytes };
                    hash::weigh(walk, self, said, |$table| $entries);
                }
            }
        }
    )*};
}

// A map and a set say how large they are to those alone who can hash their keys.
tables! {
    [K: Weigh, V: Weigh, S] HashMap<K, V, S>: K, V, |map| map.iter(), 0;
    [T: Weigh, S] HashSet<T, S>: T, (), |set| set.iter().map(|key| (key, &())), 0;
    [T: Weigh] HashTable<T>: T, (), |table| table.iter().map(|key| (key, &())), table.allocation_size();
}
