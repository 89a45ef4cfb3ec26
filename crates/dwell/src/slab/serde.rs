//! Serialization with serde: a key as its number, a slot or a counted pointer as its value.

use super::kind::SlotKind;
use super::{Key, Slot, StampedKey};
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

impl<T: ?Sized + Serialize, K: SlotKind> Serialize for Slot<T, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(feature = "std")]
impl<T: ?Sized + Serialize> Serialize for super::Pooled<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

#[cfg(feature = "std")]
impl<'de, T: Deserialize<'de>> Deserialize<'de> for super::Pooled<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

#[cfg(feature = "std")]
macro_rules! counted {
    ($($Rc:ident)*) => {$(
        impl<T: ?Sized + Serialize> Serialize for super::$Rc<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (**self).serialize(serializer)
            }
        }

        /// Each value gets a cell of its own: that two pointers were to one value is not serialized.
        impl<'de, T: Deserialize<'de>> Deserialize<'de> for super::$Rc<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                T::deserialize(deserializer).map(Self::new)
            }
        }
    )*};
}
#[cfg(feature = "std")]
counted!(PoolRc PoolArc);
