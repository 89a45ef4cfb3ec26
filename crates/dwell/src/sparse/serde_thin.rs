//! serde: the thin types serialise as a sequence, a string and a map.

use super::collect::TRUSTED_BYTES;
use super::{SortedMap, SortedSet, ThinSlice, ThinStr};
use core::fmt;
use core::marker::PhantomData;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std_alloc::vec::Vec;

/// Serialises as a `Vec<T>` does.
impl<T: Serialize> Serialize for ThinSlice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

/// Deserialises as a `Vec<T>` does, then copies the elements into a block of their own size.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for ThinSlice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let elements = Vec::deserialize(deserializer)?;
        Self::try_from_vec(elements).map_err(Error::custom)
    }
}

/// Serialises as a `str` does.
impl Serialize for ThinStr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

/// Deserialises the same input as a `String`, with one copy.
impl<'de> Deserialize<'de> for ThinStr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = ThinStr;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ThinStr, E> {
                ThinStr::try_new(text).map_err(E::custom)
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<ThinStr, E> {
                match core::str::from_utf8(bytes) {
                    Ok(text) => self.visit_str(text),
                    Err(_) => Err(E::invalid_value(Unexpected::Bytes(bytes), &self)),
                }
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// Serialises as a map, in order of the keys.
impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// Deserialises a map: collects the entries and sorts them once. The last value of equal keys wins, as in std's maps.
impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<K, V>(PhantomData<(K, V)>);

        impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
            type Value = SortedMap<K, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<SortedMap<K, V>, A::Error> {
                let trusted = TRUSTED_BYTES / size_of::<(K, V)>().max(1);
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0).min(trusted));
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(SortedMap::from(entries))
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Serialises as a sequence, in order.
impl<T: Serialize> Serialize for SortedSet<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(serializer)
    }
}

/// Deserialises a sequence: collects the values and sorts them once. The first of equal values stays.
impl<'de, T: Ord + Deserialize<'de>> Deserialize<'de> for SortedSet<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
