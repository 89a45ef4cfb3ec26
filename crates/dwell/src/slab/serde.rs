//! Serialization with serde: a key as its number, a slot as its value.

use super::{Key, Slot, SlotKind, StampedKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.into_raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u32::deserialize(deserializer).map(Self::from_raw)
    }
}

impl Serialize for StampedKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.into_raw().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StampedKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u64::deserialize(deserializer).map(Self::from_raw)
    }
}

impl<T: ?Sized + Serialize, K: SlotKind, V> Serialize for Slot<T, K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}
