//! What `weigh` says of other crates' types against what the allocator counted. Run with the features of those crates.
#![cfg(feature = "std")]
#![allow(dead_code, reason = "each feature uses a part of it")]
#![allow(clippy::cast_possible_truncation, reason = "numbers of any kind")]

mod common;

use common::live;
use dwell::weigh::Weigh;
// Where a table's entries lie is the same in each run.
#[allow(unused_imports, reason = "each feature uses a part of it")]
use std::hash::{BuildHasherDefault, DefaultHasher};

fn exact<T: Weigh>(make: impl FnOnce() -> T) {
    let before = live();
    let value = make();
    let after = live();
    let weight = dwell::weigh(&value);
    let name = std::any::type_name::<T>();
    assert_eq!(weight.heap.cast_signed(), (after.1 - before.1) as i64, "bytes of a {name}");
    assert_eq!(weight.allocations.cast_signed(), (after.0 - before.0) as i64, "blocks of a {name}");
    assert_eq!(dwell::weigh::tree(&value).weight, weight);
}

/// Lengths that meet every kind of growth.
fn lengths() -> impl Iterator<Item = usize> {
    (0..70).chain((70..2000).step_by(113))
}

fn text(n: usize) -> String {
    "t".repeat(n % 41)
}

#[cfg(feature = "hashbrown-0_17")]
#[test]
fn hashbrown() {
    use ::hashbrown::{HashMap, HashSet, HashTable};
    type State = BuildHasherDefault<DefaultHasher>;
    for n in lengths() {
        exact(|| (0..n).map(|n| (n, text(n))).collect::<HashMap<_, _, State>>());
        exact(|| {
            let mut map: HashMap<u16, u8, State> = (0..n as u16).map(|n| (n, 1)).collect();
            map.retain(|key, _| key % 4 == 0);
            map
        });
        exact(|| (0..n).map(text).collect::<HashSet<_, State>>());
        exact(|| {
            let mut table = HashTable::with_capacity(n / 2);
            for n in 0..n as u64 {
                table
                    .insert_unique(n.wrapping_mul(0x9E37_79B9_7F4A_7C15), n, |n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            }
            table
        });
    }
}

#[cfg(feature = "indexmap")]
#[test]
fn indexmap() {
    use ::indexmap::{IndexMap, IndexSet};
    type State = BuildHasherDefault<DefaultHasher>;
    for n in lengths() {
        exact(|| (0..n).map(|n| (n, text(n))).collect::<IndexMap<_, _, State>>());
        exact(|| {
            let mut map = IndexMap::<u8, [u8; 3], State>::default();
            for n in 0..n {
                map.insert(n as u8, [0; 3]);
            }
            map
        });
        exact(|| (0..n).map(text).collect::<IndexSet<_, State>>());
        exact(|| {
            let mut set = (0..n).collect::<IndexSet<_, State>>();
            set.shrink_to_fit();
            set
        });
    }
}

#[cfg(feature = "smallvec")]
#[test]
fn smallvec() {
    use ::smallvec::SmallVec;
    for n in lengths() {
        exact(|| (0..n).map(text).collect::<SmallVec<[String; 4]>>());
        exact(|| {
            let mut vec = SmallVec::<[u8; 8]>::new();
            (0..n).for_each(|n| vec.push(n as u8));
            vec.truncate(3);
            vec
        });
        exact(|| (0..n).map(|_| ()).collect::<SmallVec<[(); 4]>>());
    }
}

#[cfg(feature = "arrayvec-0_7")]
#[test]
fn arrayvec() {
    use ::arrayvec::{ArrayString, ArrayVec};
    for n in 0..=20 {
        exact(|| (0..n).map(text).collect::<ArrayVec<_, 20>>());
        exact(|| ArrayString::<20>::from(&"x".repeat(n)).unwrap());
    }
    let tree = dwell::weigh::tree(&(0..5).map(text).collect::<ArrayVec<_, 20>>());
    assert_eq!((tree.nodes[1].slots, tree.nodes[1].instances), (20, 5));
}

#[cfg(feature = "bytes")]
#[test]
fn bytes() {
    use ::bytes::{Bytes, BytesMut};
    for n in lengths() {
        // One owner without room to spare: exact.
        exact(|| Bytes::from(vec![0; n].into_boxed_slice()));
        exact(|| BytesMut::with_capacity(n));
    }
    let one = Bytes::from(vec![0; 100]);
    let clones = vec![one; 3];
    assert_eq!(dwell::weigh(&clones).heap, 3 * size_of::<Bytes>() as u64 + 100);
}

#[cfg(feature = "compact_str-0_9")]
#[test]
fn compact_str() {
    use ::compact_str::CompactString;
    for n in lengths() {
        exact(|| CompactString::from("x".repeat(n).as_str()));
        exact(|| {
            let mut text = CompactString::with_capacity(n);
            text.push_str("some");
            text
        });
    }
}

#[cfg(feature = "serde_json")]
#[test]
fn serde_json() {
    use ::serde_json::{Value, json};
    fn value(n: usize) -> Value {
        match n % 7 {
            0 => Value::Null,
            1 => json!(n),
            2 => json!(text(n)),
            3 => Value::Array((0..n / 9).map(value).collect()),
            _ => Value::Object((0..n / 5).map(|n| (format!("{n}{}", text(n)), value(n))).collect()),
        }
    }
    for n in lengths().filter(|n| *n < 400) {
        exact(|| value(n));
        let text = value(n).to_string();
        exact(|| ::serde_json::from_str::<Value>(&text).unwrap());
    }
}

#[cfg(feature = "slab-0_4")]
#[test]
fn slab() {
    use ::slab::Slab;
    for n in lengths() {
        exact(|| {
            let mut slab = Slab::new();
            let keys: Vec<_> = (0..n).map(|n| slab.insert(text(n))).collect();
            keys.iter().step_by(3).for_each(|key| drop(slab.remove(*key)));
            slab
        });
        exact(|| (0..n).map(|n| (n, n as u8)).collect::<Slab<_>>());
    }
}

#[cfg(feature = "slotmap")]
#[test]
fn slotmap() {
    use ::slotmap::{DefaultKey, SecondaryMap, SlotMap};
    for n in lengths() {
        exact(|| {
            let mut map: SlotMap<DefaultKey, String> = SlotMap::new();
            let keys: Vec<_> = (0..n).map(|n| map.insert(text(n))).collect();
            keys.iter().step_by(3).for_each(|key| drop(map.remove(*key)));
            map
        });
        exact(|| SlotMap::<DefaultKey, u8>::with_capacity(n));
        let mut map: SlotMap<DefaultKey, ()> = SlotMap::new();
        let keys: Vec<_> = (0..n).map(|_| map.insert(())).collect();
        exact(|| {
            let mut second = SecondaryMap::new();
            for key in &keys {
                second.insert(*key, Box::new(1_u8));
            }
            second
        });
    }
}

#[cfg(feature = "bumpalo")]
#[test]
fn bumpalo() {
    use ::bumpalo::Bump;
    for n in lengths() {
        exact(|| {
            let bump = Bump::new();
            (0..n).for_each(|n| {
                bump.alloc_slice_fill_copy(n, 1_u8);
            });
            bump
        });
    }
}

/// That they are `Weigh` and own nothing.
fn plain<T: Weigh>() {
    assert_eq!(T::REACH, dwell::weigh::Reach::Plain);
}

#[cfg(feature = "ahash-0_8")]
#[test]
fn ahash() {
    plain::<::ahash::RandomState>();
    exact(|| {
        let mut map = std::collections::HashMap::with_hasher(::ahash::RandomState::with_seeds(1, 2, 3, 4));
        map.extend((0..100).map(|n| (n, text(n))));
        map
    });
}

#[cfg(feature = "rustc-hash")]
#[test]
fn rustc_hash() {
    plain::<::rustc_hash::FxBuildHasher>();
    exact(|| (0..100).map(|n| (n, text(n))).collect::<::rustc_hash::FxHashMap<_, _>>());
}

#[cfg(feature = "chrono-0_4")]
#[test]
fn chrono() {
    plain::<::chrono::DateTime<::chrono::Utc>>();
}

#[cfg(feature = "time-0_3")]
#[test]
fn time() {
    plain::<::time::OffsetDateTime>();
    plain::<::time::Duration>();
}

#[cfg(feature = "uuid")]
#[test]
fn uuid() {
    plain::<::uuid::Uuid>();
}
