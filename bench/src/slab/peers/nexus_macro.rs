//! nexus-slab 0.10.2, the version of the article: a macro declares a thread-local allocator.

use crate::slab::subject::{Edits, Grows, Holds, Names, Words, by_deref, links_by_pointer};

/// Declares an allocator with `create_allocator!` for each type of a subject.
macro_rules! nexus_macro {
    ($Subject:ident, $folder:ident, $name:literal, |$module:ident, $capacity:ident| $build:expr,
     $($allocator:ident: $T:ty,)*) => {
        mod $folder {
            $(nexus_slab_0_10::create_allocator!($allocator, $T);)*
        }

        pub(in crate::slab) struct $Subject;

        $(const _: () = {
            use $folder::$allocator as $module;

            /// The thread's slab, until it is shut down.
            pub(in crate::slab) struct Installed;

            impl Drop for Installed {
                fn drop(&mut self) {
                    // The shutdown fails if an interrupted run left slots. Then the slab stays.
                    let _ = $module::shutdown();
                }
            }

            impl Holds<$T> for $Subject {
                const NAME: &'static str = $name;
                type Storage = Installed;
                type Slot = $module::Slot;

                fn storage($capacity: usize) -> Installed {
                    $build;
                    Installed
                }

                #[inline(always)]
                fn insert(_: &mut Installed, value: $T) -> Self::Slot {
                    $module::insert(value)
                }

                by_deref!(get: $T);
            }

            impl Edits<$T> for $Subject {
                by_deref!(get_mut: $T);
            }
        };)*

        links_by_pointer!($Subject, |slot| slot.as_mut_ptr());
    };
}

nexus_macro!(
    Bounded, bounded, "nexus-slab 0.10.2", |slab, capacity| slab::init().bounded(capacity).build(),
    words8: crate::slab::subject::Words<8>,
    words32: crate::slab::subject::Words<32>,
    words512: crate::slab::subject::Words<512>,
    orders: crate::slab::subject::Order<*mut ()>,
);
nexus_macro!(
    Unbounded, unbounded, "nexus-slab 0.10.2/unbounded",
    |slab, capacity| slab::init().unbounded().capacity(capacity).build(),
    words8: crate::slab::subject::Words<8>,
    words32: crate::slab::subject::Words<32>,
    words512: crate::slab::subject::Words<512>,
    orders: crate::slab::subject::Order<*mut ()>,
);

impl Grows<Words<8>> for Unbounded {}

impl Names<Words<8>> for Bounded {
    type Key = nexus_slab_0_10::Key;

    fn name(_: &mut Self::Storage, slot: Self::Slot) -> Self::Key {
        slot.leak()
    }

    #[inline(always)]
    fn find<R>(_: &Self::Storage, key: Self::Key, f: impl FnOnce(&Words<8>) -> R) -> R {
        // SAFETY: workloads pass only keys of live values, and nothing changes a value while `f` reads it.
        f(unsafe { bounded::words8::get(key) }.expect("leaked"))
    }

    #[inline(always)]
    fn contains(_: &Self::Storage, key: Self::Key) -> bool {
        bounded::words8::contains_key(key)
    }

    fn take(_: &mut Self::Storage, key: Self::Key) {
        // SAFETY: references to a value exist only during `find`, so none exists now.
        let _ = unsafe { bounded::words8::remove_by_key(key) };
    }
}
