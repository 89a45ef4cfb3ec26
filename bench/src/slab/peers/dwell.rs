//! Dwell: slabs, thread-local slabs, pools, and slabs with `Send` slots. `SlabMap` is in `by_key`.

use dwell::slab::{self, Bounded, Key, Pool, Slab, Slot, sync};

use crate::slab::subject::{Edits, Grows, Holds, Names, Order, Sends, Visits, Words, by_deref, links_by_pointer};

macro_rules! dwell {
    ($Subject:ident, $name:literal, $Slab:ty, $Slot:ty, |$capacity:ident| $new:expr) => {
        pub(in crate::slab) struct $Subject;

        impl<T: 'static> Holds<T> for $Subject {
            const NAME: &'static str = $name;
            type Storage = $Slab;
            type Slot = $Slot;

            fn storage($capacity: usize) -> Self::Storage {
                $new
            }

            #[inline(always)]
            fn insert(slab: &mut Self::Storage, value: T) -> Self::Slot {
                slab.insert(value)
            }

            by_deref!(get: T);
        }

        impl<T: 'static> Edits<T> for $Subject {
            by_deref!(get_mut: T);
        }

        links_by_pointer!($Subject, |slot| slot.as_mut_ptr());
    };
}

dwell!(Direct, "dwell/direct", Slab<T>, Slot<T>, |capacity| Slab::builder().preallocate(capacity).build());
dwell!(Fixed, "dwell/bounded", Bounded<T>, Slot<T>, |capacity| Bounded::with_capacity(capacity));
dwell!(Sync, "dwell/sync", sync::Slab<T>, sync::Slot<T>, |capacity| sync::Slab::with_capacity(capacity));
// Its slots are freed together by `drop_all` on the other thread.
dwell!(SyncTogether, "dwell/sync/drop_all", sync::Slab<T>, sync::Slot<T>, |len| sync::Slab::with_capacity(len));
dwell!(Pooled, "dwell/pool", Pool, slab::Pooled<T>, |_capacity| Pool::new());

impl<T: 'static> Names<T> for Direct {
    type Key = Key;

    fn name(_: &mut Slab<T>, slot: Slot<T>) -> Key {
        slot.leak()
    }

    #[inline(always)]
    fn find<R>(slab: &Slab<T>, key: Key, f: impl FnOnce(&T) -> R) -> R {
        slab.with(key, |value| f(value)).expect("leaked")
    }

    #[inline(always)]
    fn contains(slab: &Slab<T>, key: Key) -> bool {
        slab.contains_key(key)
    }

    fn take(slab: &mut Slab<T>, key: Key) {
        drop(slab.reclaim(key));
    }
}

impl<T: 'static> Grows<T> for Direct {}

impl<T: 'static> Visits<T> for Direct {
    #[inline(always)]
    fn visit(slab: &Slab<T>, mut f: impl FnMut(&T)) {
        slab.leaked().for_each(|key| slab.with(key, |value| f(value)).expect("leaked"));
    }
}
impl<T: 'static> Grows<T> for Sync {}

impl<T: Send + 'static> Sends<T> for Sync {
    type Remote = ();

    fn remote(_: &Self::Storage) {}
}

impl<T: Send + 'static> Sends<T> for SyncTogether {
    type Remote = ();

    fn remote(_: &Self::Storage) {}

    fn free_all((): &(), slots: impl Iterator<Item = Self::Slot>) {
        sync::drop_all(slots);
    }
}

/// Declares a `slab!` for each type. Each workload starts with a new thread-local slab, as it does with other subjects.
macro_rules! modules {
    ($($module:ident: $T:ty,)*) => {
        $(dwell::slab! { pub(in crate::slab) mod $module: $T; })*

        pub(in crate::slab) struct Thread;

        $(impl Holds<$T> for Thread {
            const NAME: &'static str = "dwell";
            type Storage = ();
            type Slot = $module::Slot;

            fn storage(capacity: usize) {
                // The shutdown fails if another workload still has values; then both share the slab.
                let _ = $module::shutdown();
                $module::reserve(capacity);
            }

            #[inline(always)]
            fn insert((): &mut (), value: $T) -> Self::Slot {
                $module::insert(value)
            }

            by_deref!(get: $T);
        }

        impl Edits<$T> for Thread {
            by_deref!(get_mut: $T);
        })*
    };
}

modules! {
    words8: Words<8>,
    words32: Words<32>,
    words512: Words<512>,
    orders: Order<*mut ()>,
}

links_by_pointer!(Thread, |slot| slot.as_mut_ptr());

impl Grows<Words<8>> for Thread {
    fn empty() {
        words8::shutdown().expect("other workloads have given back what they had");
    }
}

impl Names<Words<8>> for Thread {
    type Key = Key;

    fn name((): &mut (), slot: Self::Slot) -> Key {
        slot.leak()
    }

    #[inline(always)]
    fn find<R>((): &(), key: Key, f: impl FnOnce(&Words<8>) -> R) -> R {
        words8::with(key, |value| f(value)).expect("leaked")
    }

    #[inline(always)]
    fn contains((): &(), key: Key) -> bool {
        words8::contains_key(key)
    }

    fn take((): &mut (), key: Key) {
        drop(words8::reclaim(key));
    }
}
