//! `lists`: skip lists with a known number of entries.

use crossbeam_skiplist::{SkipMap, SkipSet};
use std::hint::black_box;

struct Lists {
    map: SkipMap<u64, String>,
    set: SkipSet<Box<[u8; 24]>>,
}

fn main() {
    let lists = Lists { map: SkipMap::new(), set: SkipSet::new() };
    (0..200).for_each(|i| drop(lists.map.insert(i, format!("this is value {i:08}"))));
    (0..70).for_each(|i| drop(lists.set.insert(Box::new([i; 24]))));
    Box::leak(black_box(Box::new(lists)));
}
