//! Serialization of a [`SlabMap`] with serde: as a map from keys to values, like the crate slab.

use super::SlabMap;
use core::fmt;
use core::marker::PhantomData;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl<T: Serialize> Serialize for SlabMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

/// Deserializes a map from keys to values.
///
/// The map has an entry for every key up to the largest: a few bytes of input with a large key allocate and write gigabytes. Do
/// not deserialize one from input that you do not trust.
///
/// # Errors
///
/// When a key is so large that there is no memory for the vacant entries before it: the map has an entry for every key
/// up to the largest.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for SlabMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = SlabMap<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from keys to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<SlabMap<T>, A::Error> {
                SlabMap::from_entries(
                    || access.next_entry(),
                    |entries, more| {
                        entries.try_reserve(more).map_err(|_| {
                            A::Error::custom(format_args!("key too large: cannot allocate {more} more entries"))
                        })
                    },
                )
            }
        }

        deserializer.deserialize_map(Entries(PhantomData))
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::SlabMap;

    #[test]
    fn serializes_as_a_map() {
        let map: SlabMap<char> = [(1, 'b'), (4, 'e')].into_iter().collect();
        let json = serde_json::to_string(&map).unwrap();
        assert_eq!(json, r#"{"1":"b","4":"e"}"#);
        let again: SlabMap<char> = serde_json::from_str(&json).unwrap();
        assert!(again.iter().eq(map.iter()));
        assert_eq!(again.vacant_key(), 3);
    }

    #[test]
    fn too_large_key_is_an_error() {
        let error = serde_json::from_str::<SlabMap<u64>>(r#"{"18446744073709551615":1}"#).unwrap_err();
        assert!(error.to_string().starts_with("key too large"), "{error}");
    }
}
