//! serde: a `Sparse<T>` serialises exactly as a `T`.

use super::{IsEmpty, Sparse};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Serialises as `T` does. An empty `Sparse` serialises as `T::default()`, so a field of type `Sparse<Self>` needs
/// `skip_serializing_if` or [`nullable`].
impl<T: Default + Serialize> Serialize for Sparse<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.read(|value| value.serialize(serializer))
    }
}

/// Deserialises as `T` does, and boxes the value unless it is empty.
///
/// Use `#[serde(default)]` for a field that may be missing, and [`nullable`] for a field that may be `null`.
impl<'de, T: IsEmpty + Deserialize<'de>> Deserialize<'de> for Sparse<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::new)
    }
}

/// Functions for a [`Sparse<T>`] field that may be `null`: `#[serde(default, with = "dwell::sparse::nullable")]`.
///
/// The format is that of an `Option<T>`: `null` and, with `default`, a missing field are read as an empty value, and an
/// empty value is written as `null`. A `T` that itself serialises as `null` is read as an empty value too.
pub mod nullable {
    use super::{Deserialize, Deserializer, IsEmpty, Serialize, Serializer, Sparse};

    /// Serialises `value` as an `Option<T>`, which is `None` if `value` is empty.
    pub fn serialize<T: IsEmpty + Serialize, S: Serializer>(
        value: &Sparse<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.get().filter(|value| !value.is_empty()).serialize(serializer)
    }

    /// Deserialises an `Option<T>` and converts `None` to an empty value.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Sparse<T>, D::Error>
    where
        T: IsEmpty + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Option::<T>::deserialize(deserializer).map(Sparse::from)
    }
}

/// Functions for a field that stays an `Option<Box<T>>` and never holds an empty `T`:
/// `#[serde(default, with = "dwell::sparse::option_box")]`.
pub mod option_box {
    use super::{Deserialize, Deserializer, IsEmpty, Serialize, Serializer};
    use std_alloc::boxed::Box;

    /// Serialises as an `Option<Box<T>>` does.
    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Box<T>>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    /// Deserialises as an `Option<Box<T>>` does. An empty `T` becomes `None` without an allocation.
    pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<Box<T>>, D::Error>
    where
        T: IsEmpty + Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Option::<T>::deserialize(deserializer)?.filter(|value| !value.is_empty()).map(Box::new))
    }
}
