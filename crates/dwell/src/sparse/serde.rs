//! serde: a `Sparse<T>` serialises exactly as a `T`.

use super::{IsEmpty, Sparse};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serialises as `T` does; an empty one as `T::default()`.
impl<T: Default + Serialize> Serialize for Sparse<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.read(|value| value.serialize(serializer))
    }
}

/// Deserialises as `T` does, and boxes the value unless it is empty.
///
/// A field that may be missing takes `#[serde(default)]`; one that may be `null` takes [`nullable`].
impl<'de, T: IsEmpty + Deserialize<'de>> Deserialize<'de> for Sparse<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

/// For a [`Sparse<T>`] field that may be `null`: `#[serde(default, with = "dwell::sparse::nullable")]`.
///
/// A `T` that serialises as `null` is read as an empty one.
///
/// The format is that of an `Option<T>`: `null` and, with `default`, a missing field are read as an empty value, and an empty
/// value is written as `null`.
pub mod nullable {
    use super::{Deserialize, Deserializer, IsEmpty, Serialize, Serializer, Sparse};

    /// Writes an `Option<T>`: none when `value` is empty.
    pub fn serialize<T: IsEmpty + Serialize, S: Serializer>(
        value: &Sparse<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.get().filter(|value| !value.is_empty()).serialize(serializer)
    }

    /// Reads an `Option<T>`.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Sparse<T>, D::Error>
    where
        T: IsEmpty + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Option::<T>::deserialize(deserializer).map(Sparse::from)
    }
}

/// For a field that stays an `Option<Box<T>>`, never holding an empty box:
/// `#[serde(default, with = "dwell::sparse::option_box")]`.
pub mod option_box {
    use super::{Deserialize, Deserializer, IsEmpty, Serialize, Serializer};
    use std_alloc::boxed::Box;

    /// Writes what `Option<Box<T>>` writes.
    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Box<T>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    /// Reads what `Option<Box<T>>` reads; a `T` that is empty becomes `None` without an allocation.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<Box<T>>, D::Error>
    where
        T: IsEmpty + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Option::<T>::deserialize(deserializer)?.filter(|value| !value.is_empty()).map(Box::new))
    }
}
