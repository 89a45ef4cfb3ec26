//! `serde_json`: values, maps and numbers.

use super::super::btree;
use crate::weigh::{Kind, MapKind, Reach, Type, Walk, Weigh, type_of};
use ::serde_json::{Map, Number, Value};
use core::fmt;
use std_alloc::collections::BTreeMap;
use std_alloc::string::String;
use std_alloc::vec::Vec;

/// With the feature `arbitrary_precision` of `serde_json`, a number is a string of which only the length is known.
impl Weigh for Number {
    const REACH: Reach = if size_of::<Number>() == size_of::<String>() { Reach::Heap } else { Reach::Plain };
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Plain);

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        /// Counts bytes.
        struct Length(usize);

        impl fmt::Write for Length {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0 += text.len();
                Ok(())
            }
        }

        if const { matches!(Self::REACH, Reach::Heap) } {
            let mut length = Length(0);
            let _ = fmt::Write::write_fmt(&mut length, format_args!("{self}"));
            walk.block(length.0, 1, 0);
            walk.at_least();
        }
    }
}

variants! {
    [] Value {
        0 "Null": Value::Null => [],
        1 "Bool": Value::Bool(value) => [value: bool],
        2 "Number": Value::Number(value) => [value: Number],
        3 "String": Value::String(value) => [value: String],
        4 "Array": Value::Array(values) => [values: Vec<Value>],
        5 "Object": Value::Object(map) => [map: Map<String, Value>],
    }
}

/// Whether a map is a `BTreeMap`. With the feature `preserve_order` it is larger, and its blocks are unknown.
const IS_BTREE: bool = size_of::<Map<String, Value>>() == size_of::<BTreeMap<String, Value>>();

impl Weigh for Map<String, Value> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<String>,
        value: type_of::<Value>,
        entry: size_of::<String>() + size_of::<Value>(),
        map: if IS_BTREE { MapKind::BTree } else { MapKind::Hash },
    });
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if IS_BTREE {
            btree::weigh(walk, self, self.len(), Self::iter);
        } else if self.is_empty() {
            walk.at_least();
        } else if !walk.defer(self) {
            walk.opaque();
            walk.entries(self);
        }
    }
}
