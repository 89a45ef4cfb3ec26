//! Ours: slabs of their own.

use dwell::slab::{Bounded, Slab, Slot};

use crate::slab::subject::{Edits, Grows, Holds, links_by_pointer};

macro_rules! dwell {
    ($Subject:ident, $name:literal, $Slab:ident, |$capacity:ident| $new:expr) => {
        pub(in crate::slab) struct $Subject;

        impl<T: 'static> Holds<T> for $Subject {
            const NAME: &'static str = $name;
            type Place = $Slab<T>;
            type Slot = Slot<T>;

            fn place($capacity: usize) -> Self::Place {
                $new
            }

            #[inline(always)]
            fn insert(slab: &mut Self::Place, value: T) -> Self::Slot {
                slab.insert(value)
            }

            #[inline(always)]
            fn get<R>(_: &Self::Place, slot: &Self::Slot, f: impl FnOnce(&T) -> R) -> R {
                f(slot)
            }

            #[inline(always)]
            fn remove(_: &mut Self::Place, slot: Self::Slot) {
                drop(slot);
            }
        }

        impl<T: 'static> Edits<T> for $Subject {
            #[inline(always)]
            fn get_mut<R>(_: &mut Self::Place, slot: &mut Self::Slot, f: impl FnOnce(&mut T) -> R) -> R {
                f(slot)
            }
        }

        links_by_pointer!($Subject, |slot| slot.as_mut_ptr());
    };
}

dwell!(Direct, "dwell/direct", Slab, |capacity| Slab::builder().preallocate(capacity).build());
dwell!(Fixed, "dwell/bounded", Bounded, |capacity| Bounded::with_capacity(capacity));

impl<T: 'static> Grows<T> for Direct {}
