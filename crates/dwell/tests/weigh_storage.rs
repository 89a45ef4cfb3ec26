//! `weigh` of slabs, arenas and pinned values against the allocator's counts: each byte is counted once, at its owner.
#![cfg(feature = "std")]
#![expect(clippy::large_stack_arrays, reason = "large values are tested")]

mod common;

use common::live;
use dwell::bump::{self, Bump};
use dwell::pin::{InlineBox, Reusable};
use dwell::slab::{self, Bounded, Pool, Pooled, Slab, Slot};
use dwell::weigh::{Model, Weigh, tree, weigh, weigh_as};
use proptest::prelude::*;
use std::collections::HashMap;
use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

fn cases() -> u32 {
    if cfg!(miri) {
        return 2;
    }
    std::env::var("DWELL_TEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: cases(), ..ProptestConfig::default() }
}

/// Asserts that `value` weighs all blocks allocated since `before`.
#[track_caller]
fn assert_weighs_all<T: Weigh + ?Sized>(value: &T, before: (isize, isize)) {
    let now = live();
    let weight = weigh(value);
    assert_eq!(weight.heap.cast_signed(), (now.1 - before.1) as i64, "bytes");
    assert_eq!(weight.allocations.cast_signed(), (now.0 - before.0) as i64, "blocks");
    assert_eq!(weight.opaque, 0);
    let tree = tree(value);
    assert_eq!(tree.weight, weight);
    assert_eq!(tree.heap_below()[0], weight.heap);
    for node in &tree.nodes {
        assert!(node.instances <= node.slots && node.filled <= node.slots && node.waste <= node.requested, "{node:?}");
    }
    assert!(weigh_as(value, Model::Glibc).heap >= weight.heap);
    drop(tree);
    assert_eq!(live(), now, "the walk itself leaves nothing");
}

/// An operation on a slab and its slots, whose values own heap blocks.
#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(u8),
    Drop(usize),
    Leak(usize),
    Stamp(usize),
    Reclaim(usize),
    Reserve(u16),
    Shrink,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => any::<u8>().prop_map(Op::Insert),
        3 => any::<usize>().prop_map(Op::Drop),
        1 => any::<usize>().prop_map(Op::Leak),
        1 => any::<usize>().prop_map(Op::Stamp),
        1 => any::<usize>().prop_map(Op::Reclaim),
        1 => (0..5000_u16).prop_map(Op::Reserve),
        1 => Just(Op::Shrink),
    ];
    prop::collection::vec(op, 0..120)
}

fn text(n: u8) -> String {
    "t".repeat(n.into())
}

/// An entry large enough that some slabs have several chunks.
type Entry = (String, [u64; 400]);

fn run(slab: &Slab<Entry>, slots: &mut Vec<Slot<Entry>>, op: Op) {
    let at = |n: usize, len: usize| (len != 0).then(|| n % len);
    match op {
        Op::Insert(n) => slots.push(slab.insert((text(n), [0; 400]))),
        Op::Drop(n) => drop(at(n, slots.len()).map(|n| slots.swap_remove(n))),
        Op::Leak(n) => drop(at(n, slots.len()).map(|n| slots.swap_remove(n).leak())),
        Op::Stamp(n) => drop(at(n, slots.len()).map(|n| slots.swap_remove(n).leak_stamped())),
        Op::Reclaim(n) => {
            let keys: Vec<_> = slab.leaked().collect();
            if let Some(n) = at(n, keys.len()) {
                slots.extend(slab.reclaim(keys[n]));
            }
        }
        Op::Reserve(n) => slab.reserve(usize::from(n) % 100),
        Op::Shrink => slab.shrink_to_fit(),
    }
}

#[test]
fn slab_and_slots_weigh_all_blocks() {
    proptest!(config(), |(ops in ops())| {
        let before = live();
        let mut all = (Slab::new(), Vec::new());
        for op in &ops {
            run(&all.0, &mut all.1, *op);
        }
        assert_weighs_all(&all, before);
        all.1.clear();
        assert_weighs_all(&all, before);
        all.0.shrink_to_fit();
        assert_weighs_all(&all, before);
    });
}

#[test]
fn slab_owns_cells_and_slot_owns_the_blocks_of_its_value() {
    let slab = Slab::new();
    let empty = weigh(&slab).heap;
    let slot = slab.insert(text(100));
    let slab_alone = weigh(&slab).heap;
    assert!(slab_alone > empty);
    assert_eq!((weigh(&slot).heap, weigh(&slot).allocations), (100, 1));
    drop(slot);
    assert_eq!(weigh(&slab).heap, slab_alone);
    let key = slab.insert(text(100)).leak();
    assert_eq!(weigh(&slab).heap, slab_alone + 100);
    assert_eq!(slab.with(key, |text| text.len()), Some(100));
    // Vacant cells count as waste.
    let (node, free) = (&tree(&slab).nodes[0], ((slab.capacity() - 1) * size_of::<String>()) as u64);
    assert!(free != 0 && node.waste >= free && node.waste < node.heap, "{node:?}");
}

#[test]
fn bounded_and_sync_slabs_weigh_all_blocks() {
    proptest!(config(), |(sizes in prop::collection::vec(any::<u8>(), 0..60), drops in 0..60_usize)| {
        let before = live();
        let mut bounded = (Bounded::with_capacity(60), Vec::new());
        bounded.1.extend(sizes.iter().map(|n| bounded.0.insert(text(*n))));
        bounded.1.truncate(sizes.len() - drops.min(sizes.len()));
        assert_weighs_all(&bounded, before);
        drop(bounded);

        let before = live();
        let mut sync = (slab::sync::Slab::with_capacity(drops), Vec::new());
        sync.1.extend(sizes.iter().map(|n| sync.0.insert((text(*n), [0_u64; 300]))));
        sync.1.truncate(sizes.len() - drops.min(sizes.len()));
        assert_weighs_all(&sync, before);
    });
}

#[test]
fn pools_and_dedicated_blocks_weigh_all_blocks() {
    #[repr(align(128))]
    struct Wide;

    impl Weigh for Wide {
        const REACH: dwell::weigh::Reach = dwell::weigh::Reach::Plain;
        const TYPE: &'static dwell::weigh::Type = &dwell::weigh::Type::new::<Self>(dwell::weigh::Kind::Opaque);
        fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut dwell::weigh::Walk<'a, 'v, TREE>)
        where
            Self: 'v,
        {
        }
    }

    let before = live();
    let pool = Pool::new();
    assert_weighs_all(&pool, before);
    let shown: Vec<Pooled<dyn Display>> =
        vec![pool.insert(7_u8).coerce(|view| view as _), pool.insert(7_u64).coerce(|view| view as _)];
    let kept = (pool.insert(text(9)), pool.insert([0_u8; 20_000]), pool.insert(Wide), pool.insert(()));
    let future: Pooled<dyn Future<Output = u8>> = pool.insert(async { 1_u8 }).coerce(|view| view as _);
    let pinned = future.into_pin();
    assert_weighs_all(&(pool, shown, kept, pinned), before);
}

#[test]
fn arenas_weigh_all_chunks() {
    proptest!(config(), |(sizes in prop::collection::vec(0..3000_usize, 0..40), capacity in 0..9000_usize)| {
        let before = live();
        let mut bump = Bump::with_capacity(capacity);
        assert_weighs_all(&bump, before);
        {
            let mut grown = bump::Vec::new_in(&bump);
            for size in &sizes {
                bump.alloc_slice_fill_with(*size, |_| 0_u8);
                grown.extend([*size; 20]);
            }
            assert_weighs_all(&bump, before);
            let chunks = bump.allocated_bytes() as u64;
            assert_eq!(weigh(&bump).heap, chunks);
            // A vector in the arena owns no heap memory itself.
            assert_eq!(weigh(&grown).heap, 0);
        }
        bump.reset();
        assert_weighs_all(&bump, before);
    });
}

#[test]
fn arena_box_weighs_the_blocks_of_its_value() {
    let bump = Bump::with_capacity(1000);
    let before = live();
    let mut texts = bump::Vec::new_in(&bump);
    texts.push(text(10));
    texts.push(text(20));
    let boxed = bump::Box::new_in((text(30), 1_u8), &bump);
    assert_weighs_all(&(texts, boxed), before);
    let text = bump.alloc_thin_str(1_u8, "thin");
    assert_eq!(weigh(&(text, bump::String::new_in(&bump))).heap, 0);
}

#[test]
fn free_part_of_an_arena_is_waste() {
    let bump = Bump::<8>::with_capacity(10_000);
    let free = |bump: &Bump| tree(bump).nodes[0].waste;
    let before = free(&bump);
    assert!(before >= 10_000);
    bump.alloc([0_u8; 4000]);
    assert_eq!(free(&bump), before - 4000);
    bump.alloc([0_u8; 100_000]);
    assert!(free(&bump) <= before - 4000 + 200_000);
    bump.scope(|inner| {
        inner.alloc([0_u64; 5000]);
        assert!(free(&bump) <= tree(&bump).nodes[0].heap);
    });
}

#[test]
fn pool_of_arenas_weighs_all_chunks() {
    let before = live();
    let pool = bump::BumpPool::new();
    assert_weighs_all(&pool, before);
    {
        let (one, two) = (pool.get(), pool.get());
        one.alloc([0_u8; 5000]);
        two.alloc(1_u8);
    }
    assert_weighs_all(&pool, before);
}

#[test]
fn pinned_values_weigh_all_blocks() {
    let before = live();
    let inline = InlineBox::<String, 3>::new_coerced(text(50), |value| value);
    assert_weighs_all(&inline, before);

    let before = live();
    let mut reusable = Reusable::<String>::new();
    assert_weighs_all(&reusable, before);
    reusable.set_coerced(text(60), |value| value);
    assert_weighs_all(&reusable, before);
    reusable.clear();
    assert_weighs_all(&reusable, before);

    let before = live();
    let mut futures = HashMap::new();
    for n in 0..10_usize {
        let future: Pin<Box<dyn Future<Output = usize> + Send>> = Box::pin(async move { n });
        futures.insert(n, future);
    }
    assert_weighs_all(&futures, before);
}
