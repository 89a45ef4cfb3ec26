//! Random programs on slab 0.4 and on this crate: results, keys, the order of the free list and panics are the same.

use dwell_slab::Slab;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Random numbers, the same for both slabs.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % bound
    }

    fn value(&mut self) -> u32 {
        u32::try_from(self.below(100)).expect("less than 100")
    }
}

/// Returns what `f` returns, or `None` if it panics.
fn outcome<R: Debug>(random: &Random, f: impl FnOnce(&mut Random) -> R) -> Option<String> {
    catch_unwind(AssertUnwindSafe(|| format!("{:?}", f(&mut random.clone())))).ok()
}

/// Runs the same code on both slabs and compares the outcomes.
macro_rules! both {
    ($random:ident, $old:ident, $new:ident, |$slab:ident, $r:ident| $body:expr) => {{
        let before = $random.clone();
        let old = outcome(&before, |$r| {
            let $slab = &mut *$old;
            $body
        });
        let new = outcome(&before, |$r| {
            let $slab = &mut *$new;
            $body
        });
        assert_eq!(old, new, "after {before:?}", before = before.0);
        $random.below(2);
    }};
}

#[test]
fn behaves_like_slab() {
    // Prints only what fails this test, not the panics of the slabs, which are expected.
    std::panic::set_hook(Box::new(|info| {
        if info.location().is_some_and(|at| at.file() == file!())
            && info.payload().downcast_ref() != Some(&"on purpose")
        {
            eprintln!("{info}");
        }
    }));
    for seed in 0..300 {
        let mut random = Random(seed);
        let mut old: slab::Slab<u32> = slab::Slab::new();
        let mut new: Slab<u32> = Slab::new();
        for _ in 0..100 {
            run(&mut random, &mut old, &mut new);
            assert_eq!((old.len(), old.vacant_key()), (new.len(), new.vacant_key()), "seed {seed}");
            assert!(old.iter().eq(new.iter()) && old.iter().rev().eq(new.iter().rev()), "seed {seed}");
            assert_eq!(format!("{old:#?} {:?}", old.iter()), format!("{new:#?} {:?}", new.iter()));
        }
        // The order of the free list, and where the slab grows.
        (0..40).for_each(|n| assert_eq!(old.insert(n), new.insert(n), "seed {seed}"));
        assert!(old.into_iter().eq(new));
    }
}

fn run(random: &mut Random, old: &mut slab::Slab<u32>, new: &mut Slab<u32>) {
    match random.below(16) {
        0..5 => both!(random, old, new, |slab, r| slab.insert(r.value())),
        5 | 6 => both!(random, old, new, |slab, r| slab.try_remove(r.below(20))),
        7 => both!(random, old, new, |slab, r| slab.remove(r.below(20))),
        8 => both!(random, old, new, |slab, r| {
            let entry = slab.vacant_entry();
            let key = entry.key();
            if r.below(2) == 0 {
                *entry.insert(7) += 1;
            }
            key
        }),
        9 => both!(random, old, new, |slab, r| {
            let left = r.value();
            slab.retain(|_, value| {
                *value += 1;
                !(*value + left).is_multiple_of(3)
            });
        }),
        10 => both!(random, old, new, |slab, r| {
            let (stays, panics) = (r.below(8), r.below(12));
            slab.compact(|value, from, to| {
                assert!(from != panics, "on purpose");
                *value += 1;
                (from + to) % 8 != stays
            });
        }),
        11 => both!(random, old, new, |slab, r| {
            let mut drain = slab.drain();
            let first = (drain.len(), drain.next(), drain.next_back(), drain.len());
            if r.below(2) == 0 {
                std::mem::forget(drain);
            }
            first
        }),
        12 => both!(random, old, new, |slab, r| {
            // Out of bounds slab's `get2_mut` panics.
            let bound = slab.iter().next_back().map_or(1, |(key, _)| key + 1);
            slab.get2_mut(r.below(bound), r.below(bound)).map(|(left, right)| {
                std::mem::swap(left, right);
                (*left, *right)
            })
        }),
        13 => both!(random, old, new, |slab, r| {
            let values = slab.get_disjoint_mut([r.below(9), r.below(9), r.below(9)]);
            values.map(|values| values.map(|value| *value)).map_err(|error| format!("{error:?}"))
        }),
        14 => both!(random, old, new, |slab, r| {
            let key = r.below(20);
            slab[key] += 1;
            (slab[key], slab.key_of(&slab[key]), slab.contains(key + 1))
        }),
        _ => match random.below(4) {
            0 => both!(random, old, new, |slab, _r| slab.clear()),
            1 | 2 => both!(random, old, new, |slab, _r| slab.shrink_to_fit()),
            _ => {
                let mut pairs: Vec<(usize, u32)> = (0..random.below(12)).map(|_| (random.below(30), 7)).collect();
                if random.below(2) == 0 {
                    pairs.sort_unstable();
                }
                (*old, *new) = (pairs.iter().copied().collect(), pairs.into_iter().collect());
            }
        },
    }
}
