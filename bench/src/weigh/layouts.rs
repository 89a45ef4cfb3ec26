//! The article's types once more, for the crates that measure sizes.
//!
//! The hash maps have std's hasher here, for not every peer knows a map by another; their tables are the same bytes.

use dwell::Sparse;
use dwell::sparse::{IsEmpty, SortedMap, ThinSlice, ThinStr};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use crate::sparse::layouts::{BoxedIfAny, ShapeType};

/// A model that can lose shapes.
pub(super) trait Thinned {
    /// Deletes all shapes but about a fourth; their names decide which.
    fn delete_three_quarters(&mut self);
}

/// Whether the shape of that name stays: by FNV-1a, which is the same in every run.
fn stays(name: &str) -> bool {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash >> 32).is_multiple_of(4)
}

/// The structs on top of a module's aliases.
macro_rules! weighed_types {
    ($($attributes:tt)*) => {
        crate::sparse::layouts::smithy_types!(#[derive(dwell::Weigh)] $($attributes)*);

        impl Thinned for Model {
            fn delete_three_quarters(&mut self) {
                self.shapes.retain(|name, _| stays(name));
            }
        }
    };
}

/// The structs as one writes them first.
pub(super) mod naive {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = HashMap<Text, V>;
    type Link<T> = T;
    type Always<T> = T;
    type Rarely<T> = Option<T>;
    weighed_types!(peers: "Weighed by all.");
}

/// The article's answer.
pub(super) mod boxed {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = HashMap<Text, V>;
    type Link<T> = Box<T>;
    type Always<T> = BoxedIfAny<T>;
    type Rarely<T> = Option<T>;
    weighed_types!(peers: "Weighed by all.");
}

/// As lean as std gets.
pub(super) mod btree {
    type Text = Box<str>;
    type List<T> = Box<[T]>;
    type Map<V> = BTreeMap<Text, V>;
    type Link<T> = Box<T>;
    type Always<T> = BoxedIfAny<T>;
    type Rarely<T> = BoxedIfAny<T>;
    weighed_types!(peers: "Weighed by all.");
}

/// As lean as Dwell gets without an interner. No peer knows its types.
pub(super) mod lean {
    type Text = ThinStr;
    type List<T> = ThinSlice<T>;
    type Map<V> = SortedMap<Text, V>;
    type Link<T> = Box<T>;
    type Always<T> = Sparse<T>;
    type Rarely<T> = Sparse<T>;
    weighed_types!();
}
