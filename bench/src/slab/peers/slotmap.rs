//! slotmap: a vector whose entries have generations, so that it detects stale keys.

use slotmap::{DefaultKey, Key, KeyData, SlotMap};

use crate::slab::subject::{Books, Edits, Grows, Holds, Links, Names, Order, Visits};

pub(in crate::slab) struct Slotmap;

impl<T: 'static> Holds<T> for Slotmap {
    const NAME: &'static str = "slotmap 1.1.1";
    type Storage = SlotMap<DefaultKey, T>;
    type Slot = DefaultKey;

    fn storage(capacity: usize) -> Self::Storage {
        SlotMap::with_capacity(capacity)
    }

    #[inline(always)]
    fn insert(map: &mut Self::Storage, value: T) -> DefaultKey {
        map.insert(value)
    }

    #[inline(always)]
    fn get<R>(map: &Self::Storage, slot: &DefaultKey, f: impl FnOnce(&T) -> R) -> R {
        f(&map[*slot])
    }

    #[inline(always)]
    fn remove(map: &mut Self::Storage, slot: DefaultKey) {
        drop(map.remove(slot));
    }
}

impl<T: 'static> Edits<T> for Slotmap {
    #[inline(always)]
    fn get_mut<R>(map: &mut Self::Storage, slot: &mut DefaultKey, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut map[*slot])
    }
}

impl<T: 'static> Names<T> for Slotmap {
    type Key = DefaultKey;

    fn name(_: &mut Self::Storage, slot: DefaultKey) -> DefaultKey {
        slot
    }

    #[inline(always)]
    fn contains(map: &Self::Storage, key: DefaultKey) -> bool {
        map.contains_key(key)
    }

    #[inline(always)]
    fn find<R>(map: &Self::Storage, key: DefaultKey, f: impl FnOnce(&T) -> R) -> R {
        f(map.get(key).expect("inserted"))
    }

    fn take(map: &mut Self::Storage, key: DefaultKey) {
        drop(map.remove(key));
    }
}

impl<T: 'static> Grows<T> for Slotmap {}

impl<T: 'static> Visits<T> for Slotmap {
    #[inline(always)]
    fn visit(map: &Self::Storage, f: impl FnMut(&T)) {
        map.values().for_each(f);
    }
}

impl Links for Slotmap {
    type Link = u64;
    const NIL: u64 = u64::MAX;
}

impl Books for Slotmap {
    #[inline(always)]
    fn link(slot: &mut DefaultKey) -> u64 {
        slot.data().as_ffi()
    }

    #[inline(always)]
    unsafe fn at(map: &mut Self::Storage, link: u64) -> &mut Order<u64> {
        &mut map[DefaultKey::from(KeyData::from_ffi(link))]
    }
}
