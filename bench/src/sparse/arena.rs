//! Containers whose contents live in a bump arena to the end of the process, as all data of a measured run does.
//!
//! serde's derive has no place for a context, so the arena is found through a thread local.

use bumpalo::Bump;
use dwell::sparse::IsEmpty;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

thread_local! {
    static ARENA: Cell<Option<&'static Bump>> = const { Cell::new(None) };
}

/// An arena with room for `bytes`.
///
/// bumpalo doubles its chunks and so leaves up to half of all of them unused. Arenas of one chunk each leave less.
fn room(bytes: usize) -> &'static Bump {
    const CHUNK: usize = 1 << 20;
    match ARENA.get() {
        // What alignment may take of it.
        Some(arena) if arena.chunk_capacity() >= bytes + 16 => arena,
        _ => {
            let arena = Box::leak(Box::new(Bump::with_capacity(CHUNK.max(bytes + 16))));
            ARENA.set(Some(arena));
            arena
        }
    }
}

/// A string in the arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Str(&'static str);

impl<'de> Deserialize<'de> for Str {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Copied;
        impl Visitor<'_> for Copied {
            type Value = Str;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str, E> {
                Ok(Str(room(text.len()).alloc_str(text)))
            }
        }
        deserializer.deserialize_str(Copied)
    }
}

/// Values side by side in the arena.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Slice<T: 'static>(&'static [T]);

impl<T> Default for Slice<T> {
    fn default() -> Self {
        Self(&[])
    }
}

impl<T> IsEmpty for Slice<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Slice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::<T>::deserialize(deserializer)?;
        Ok(Self(room(size_of_val(&*values)).alloc_slice_fill_iter(values)))
    }
}

/// Entries sorted by key, side by side in the arena.
#[derive(Clone, Copy)]
pub(super) struct Map<V: 'static>(&'static [(Str, V)]);

impl<V> Default for Map<V> {
    fn default() -> Self {
        Self(&[])
    }
}

impl<V> IsEmpty for Map<V> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V: Serialize> Serialize for Map<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Map<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries: Vec<(Str, V)> = sorted_entries(deserializer)?;
        Ok(Self(room(size_of_val(&*entries)).alloc_slice_fill_iter(entries)))
    }
}

/// The entries of a map in the order of their keys. A repeated key keeps its last value, as std's maps do.
fn sorted_entries<'de, K, V, D>(deserializer: D) -> Result<Vec<(K, V)>, D::Error>
where
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct Entries<K, V>(PhantomData<(K, V)>);

    impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
        type Value = Vec<(K, V)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            entries.sort_by(|(a, _), (b, _): &(K, V)| a.cmp(b));
            // Of equal keys the last one stays.
            entries.reverse();
            entries.dedup_by(|(a, _), (b, _)| a == b);
            entries.reverse();
            Ok(entries)
        }
    }

    deserializer.deserialize_map(Entries(PhantomData))
}

/// A value in the arena.
#[derive(Serialize)]
pub(super) struct Ref<T: 'static>(&'static T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ref<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self(room(size_of::<T>()).alloc(value)))
    }
}

/// A value in the arena, if it says anything.
#[derive(Serialize)]
pub(super) struct Sparse<T: 'static>(Option<&'static T>);

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> IsEmpty for Sparse<T> {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl<'de, T: Deserialize<'de> + IsEmpty> Deserialize<'de> for Sparse<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self((!value.is_empty()).then(|| &*room(size_of::<T>()).alloc(value))))
    }
}
