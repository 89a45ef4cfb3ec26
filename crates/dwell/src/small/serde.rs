//! The implementations of serde's traits: a box serialises as its value.

use super::SmallBox;
use crate::alloc::{Allocator, Global};
use core::fmt;
use core::marker::PhantomData;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std_alloc::string::String;
use std_alloc::vec::Vec;

impl<T: ?Sized + Serialize, const N: usize, A: Allocator, L> Serialize for SmallBox<T, N, A, L> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>, const N: usize, L> Deserialize<'de> for SmallBox<T, N, Global, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

impl<'de, const N: usize, L> Deserialize<'de> for SmallBox<str, N, Global, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text<const N: usize, L>(PhantomData<L>);

        impl<const N: usize, L> Visitor<'_> for Text<N, L> {
            type Value = SmallBox<str, N, Global, L>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(text.into())
            }

            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(text.into())
            }

            // Formats without a string type pass bytes, as for `String`.
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                match core::str::from_utf8(bytes) {
                    Ok(text) => Ok(text.into()),
                    Err(_) => Err(E::invalid_value(Unexpected::Bytes(bytes), &self)),
                }
            }

            fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Self::Value, E> {
                match String::from_utf8(bytes) {
                    Ok(text) => Ok(text.into()),
                    Err(error) => Err(E::invalid_value(Unexpected::Bytes(error.as_bytes()), &self)),
                }
            }
        }

        deserializer.deserialize_string(Text(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>, const N: usize, L> Deserialize<'de> for SmallBox<[T], N, Global, L> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Elements<T, const N: usize, L>(PhantomData<(T, L)>);

        impl<'de, T: Deserialize<'de>, const N: usize, L> Visitor<'de> for Elements<T, N, L> {
            type Value = SmallBox<[T], N, Global, L>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sequence")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<Self::Value, S::Error> {
                core::iter::from_fn(|| elements.next_element().transpose()).collect()
            }
        }

        deserializer.deserialize_seq(Elements(PhantomData))
    }
}
