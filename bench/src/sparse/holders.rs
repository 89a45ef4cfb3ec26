//! Holders that neither std nor dwell has.

use dwell::sparse::IsEmpty;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// The write-up's: `Option<Box<T>>` whose deserialisation leaves out a `T` that says nothing.
#[derive(Serialize)]
pub(super) struct BoxedIfAny<T>(Option<Box<T>>);

impl<T> Default for BoxedIfAny<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> IsEmpty for BoxedIfAny<T> {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl<'de, T: Deserialize<'de> + IsEmpty> Deserialize<'de> for BoxedIfAny<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self((!value.is_empty()).then(|| Box::new(value))))
    }
}

/// The entries of a map in the order of their keys. A repeated key keeps its last value, as std's maps do.
pub(super) fn sorted_entries<'de, K, V, D>(deserializer: D) -> Result<Vec<(K, V)>, D::Error>
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

/// A map as sorted entries in a box.
#[derive(Clone)]
pub(super) struct SortedMap<K, V>(Box<[(K, V)]>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self(Box::default())
    }
}

impl<K, V> IsEmpty for SortedMap<K, V> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(sorted_entries(deserializer)?.into_boxed_slice()))
    }
}
