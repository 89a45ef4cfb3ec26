//! nexus-slab 2, whose slots are freed explicitly: a dropped slot leaks. Its constructor is unsafe.

use nexus_slab::{bounded, unbounded};

use crate::slab::subject::{Edits, Grows, Holds, by_deref, links_by_pointer};

macro_rules! nexus {
    ($Subject:ident, $name:literal, $module:ident, |$capacity:ident| $new:expr) => {
        pub(in crate::slab) struct $Subject;

        impl<T: 'static> Holds<T> for $Subject {
            const NAME: &'static str = $name;
            type Storage = $module::Slab<T>;
            type Slot = nexus_slab::Slot<T>;

            fn storage($capacity: usize) -> Self::Storage {
                // SAFETY: the workloads free each slot in the slab that it came from, on one thread.
                unsafe { $new }
            }

            #[inline(always)]
            fn insert(slab: &mut Self::Storage, value: T) -> Self::Slot {
                slab.alloc(value)
            }

            by_deref!(get: T);

            #[inline(always)]
            fn remove(slab: &mut Self::Storage, slot: Self::Slot) {
                slab.free(slot);
            }
        }

        impl<T: 'static> Edits<T> for $Subject {
            by_deref!(get_mut: T);
        }

        links_by_pointer!($Subject, |slot| std::ptr::from_mut(&mut **slot));
    };
}

nexus!(Bounded, "nexus-slab 2.4.0/bounded", bounded, |capacity| bounded::Slab::with_capacity(capacity));
// One chunk for the workloads that state a capacity. Those that do not grow to a million values, and a free looks for the
// value's chunk in all of them.
nexus!(Unbounded, "nexus-slab 2.4.0/unbounded", unbounded, |capacity| {
    let slab = unbounded::Slab::with_chunk_capacity(if capacity == 0 { 1 << 16 } else { capacity });
    slab.reserve_chunks(usize::from(capacity != 0));
    slab
});

impl<T: 'static> Grows<T> for Unbounded {}
