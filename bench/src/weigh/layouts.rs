//! The types of the article, with the derives of the crates that measure sizes.
//!
//! The hash maps have std's hasher here, since not every peer supports others. Their tables have the same size.

use dwell::Sparse;
use dwell::sparse::{IsEmpty, SortedMap, ThinSlice, ThinStr};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

use crate::sparse::layouts::{BoxedIfAny, ShapeType};

/// A model that can lose shapes.
pub(super) trait Thinned {
    /// Deletes about three quarters of the shapes, selected by name.
    fn delete_three_quarters(&mut self);
}

/// Returns whether the shape with a name stays. The FNV-1a hash of the name decides, which is the same in every run.
fn stays(name: &str) -> bool {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    (hash >> 32).is_multiple_of(4)
}

/// Defines the structs with a module's aliases.
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

/// The first draft: nothing is boxed.
pub(super) mod unboxed {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = HashMap<Text, V>;
    type Link<T> = T;
    type Always<T> = T;
    type Rarely<T> = Option<T>;
    weighed_types!(peers: true);
}

/// The layout that the article arrives at.
pub(super) mod boxed {
    type Text = String;
    type List<T> = Vec<T>;
    type Map<V> = HashMap<Text, V>;
    type Link<T> = Box<T>;
    type Always<T> = BoxedIfAny<T>;
    type Rarely<T> = Option<T>;
    weighed_types!(peers: true);
}

/// The leanest layout with types of std.
pub(super) mod btree {
    type Text = Box<str>;
    type List<T> = Box<[T]>;
    type Map<V> = BTreeMap<Text, V>;
    type Link<T> = Box<T>;
    type Always<T> = BoxedIfAny<T>;
    type Rarely<T> = BoxedIfAny<T>;
    weighed_types!(peers: true);
}

/// The leanest layout with types of Dwell and without an interner. No peer supports these types.
pub(super) mod lean {
    type Text = ThinStr;
    type List<T> = ThinSlice<T>;
    type Map<V> = SortedMap<Text, V>;
    type Link<T> = Box<T>;
    type Always<T> = Sparse<T>;
    type Rarely<T> = Sparse<T>;
    weighed_types!();
}
