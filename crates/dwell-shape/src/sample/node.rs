//! JSON values whose objects keep the order in which they were filled.

use super::draw::chance;
use fastrand::Rng;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A JSON value whose objects keep the order in which they were filled.
#[derive(Clone)]
pub(super) enum Node {
    Bool(bool),
    Number(i64),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Number(value) => serializer.serialize_i64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(values) => serializer.collect_seq(values),
            Self::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

impl From<&str> for Node {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Node {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Node {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Node {
    fn from(value: i64) -> Self {
        Self::Number(value)
    }
}

impl From<Map> for Node {
    fn from(map: Map) -> Self {
        Self::Map(map.0)
    }
}

impl<T: Into<Node>> From<Vec<T>> for Node {
    fn from(values: Vec<T>) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

/// An object under construction.
#[derive(Default)]
pub(super) struct Map(pub(super) Vec<(String, Node)>);

impl Map {
    pub(super) fn with(mut self, key: impl Into<String>, value: impl Into<Node>) -> Self {
        self.add(key, value);
        self
    }

    pub(super) fn add(&mut self, key: impl Into<String>, value: impl Into<Node>) {
        self.0.push((key.into(), value.into()));
    }

    /// Adds an entry with probability `rate`.
    pub(super) fn maybe<T: Into<Node>>(
        &mut self,
        rng: &mut Rng,
        rate: f64,
        key: &str,
        value: impl FnOnce(&mut Rng) -> T,
    ) {
        if chance(rng, rate) {
            let value = value(rng);
            self.add(key, value);
        }
    }

    /// Adds `traits`, unless it is empty.
    pub(super) fn traits(self, traits: Map) -> Self {
        if traits.0.is_empty() { self } else { self.with("traits", traits) }
    }
}
