//! Containers that find values by key and move them when they grow: the slab crate, slotmap, and Dwell's `SlabMap`.

use dwell::slab::SlabMap;
use slab::Slab;
use slotmap::{DefaultKey, Key, KeyData, SlotMap};

use crate::slab::subject::{Books, Edits, Grows, Holds, Links, Names, Order, Visits};

/// Declares a subject whose slot is its key. The last arguments convert a key to a link of the order book, and back.
macro_rules! by_key {
    ($(#[$doc:meta])* $Subject:ident, $name:literal, $Storage:ty, $Key:ty,
     $Link:ty, |$key:ident| $to:expr, |$link:ident| $from:expr) => {
        $(#[$doc])*
        pub(in crate::slab) struct $Subject;

        impl<T: 'static> Holds<T> for $Subject {
            const NAME: &'static str = $name;
            type Storage = $Storage;
            type Slot = $Key;

            fn storage(capacity: usize) -> Self::Storage {
                <$Storage>::with_capacity(capacity)
            }

            #[inline(always)]
            fn insert(storage: &mut Self::Storage, value: T) -> $Key {
                storage.insert(value)
            }

            #[inline(always)]
            fn get<R>(storage: &Self::Storage, key: &$Key, f: impl FnOnce(&T) -> R) -> R {
                f(&storage[*key])
            }

            #[inline(always)]
            fn remove(storage: &mut Self::Storage, key: $Key) {
                drop(storage.remove(key));
            }
        }

        impl<T: 'static> Edits<T> for $Subject {
            #[inline(always)]
            fn get_mut<R>(storage: &mut Self::Storage, key: &mut $Key, f: impl FnOnce(&mut T) -> R) -> R {
                f(&mut storage[*key])
            }
        }

        impl<T: 'static> Names<T> for $Subject {
            type Key = $Key;

            fn name(_: &mut Self::Storage, key: $Key) -> $Key {
                key
            }

            #[inline(always)]
            fn find<R>(storage: &Self::Storage, key: $Key, f: impl FnOnce(&T) -> R) -> R {
                f(storage.get(key).expect("inserted"))
            }

            #[inline(always)]
            fn contains(storage: &Self::Storage, key: $Key) -> bool {
                storage.get(key).is_some()
            }

            fn take(storage: &mut Self::Storage, key: $Key) {
                drop(storage.remove(key));
            }
        }

        impl<T: 'static> Grows<T> for $Subject {}

        impl<T: 'static> Visits<T> for $Subject {
            #[inline(always)]
            fn visit(storage: &Self::Storage, mut f: impl FnMut(&T)) {
                storage.iter().for_each(|(_, value)| f(value));
            }
        }

        impl Links for $Subject {
            type Link = $Link;
            const NIL: $Link = <$Link>::MAX;
        }

        impl Books for $Subject {
            #[inline(always)]
            fn link($key: &mut $Key) -> $Link {
                $to
            }

            #[inline(always)]
            unsafe fn at(storage: &mut <Self as Holds<Order<$Link>>>::Storage, $link: $Link) -> &mut Order<$Link> {
                &mut storage[$from]
            }
        }
    };
}

by_key!(Map, "dwell/map", SlabMap<T>, usize, usize, |key| *key, |link| link);
by_key!(
    /// A vector with a free list of vacant entries.
    SlabCrate, "slab 0.4.12", Slab<T>, usize, usize, |key| *key, |link| link
);
by_key!(
    /// A vector whose entries have generations, so that it detects stale keys.
    Slotmap, "slotmap 1.1.1", SlotMap<DefaultKey, T>, DefaultKey,
    u64, |key| key.data().as_ffi(), |link| DefaultKey::from(KeyData::from_ffi(link))
);
