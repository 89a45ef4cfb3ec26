//! A value as if it were under a key: `{"Order": ..}`.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Reads a value as an object with it as the only entry.
pub(super) struct Under<'k, D> {
    pub(super) key: &'k str,
    pub(super) inner: D,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Under<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_map(Entry { key: Some(self.key), inner: Some(self.inner) })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Entry<'k, D> {
    key: Option<&'k str>,
    inner: Option<D>,
}

impl<'de, D: Deserializer<'de>> MapAccess<'de> for Entry<'_, D> {
    type Error = D::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, D::Error> {
        self.key.take().map(|key| seed.deserialize(StrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, D::Error> {
        let inner = self.inner.take().ok_or_else(|| D::Error::custom("there is one value"))?;
        seed.deserialize(inner)
    }
}
