//! `Slab` as its users see it.

mod common;

use dwell::slab::{Key, Slab, Slot};

#[test]
fn sizes() {
    assert_eq!(size_of::<Slot<[u64; 8]>>(), 8);
    assert_eq!(size_of::<Option<Slot<[u64; 8]>>>(), 8);
    assert_eq!(size_of::<Option<Slot<dyn std::fmt::Debug>>>(), 16);
    assert_eq!((size_of::<Key>(), size_of::<Slab<String>>()), (4, 8));
}

#[test]
fn grows_and_comes_back() {
    let left = common::left_by(|| {
        let slab = Slab::new();
        let slots: Vec<Slot<Box<usize>>> = (0..100_000).map(|n| slab.insert(Box::new(n))).collect();
        assert_eq!(slab.len(), 100_000);
        assert!(slots.iter().enumerate().all(|(n, slot)| ***slot == n));
        let capacity = slab.capacity();
        drop(slots);
        assert!(slab.is_empty());
        let again: Vec<Slot<Box<usize>>> = (0..100_000).map(|n| slab.insert(Box::new(n))).collect();
        assert_eq!(slab.capacity(), capacity);
        drop(slab);
        assert_eq!(**again[77], 77);
    });
    assert_eq!(left, (0, 0));
}
