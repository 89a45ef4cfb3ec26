//! slab: a vector with a free list of vacant entries. Values move when it grows.

use slab::Slab;

use crate::slab::subject::{Books, Edits, Grows, Holds, Links, Names, Order, Visits};

pub(in crate::slab) struct SlabCrate;

impl<T: 'static> Holds<T> for SlabCrate {
    const NAME: &'static str = "slab 0.4.12";
    type Storage = Slab<T>;
    type Slot = usize;

    fn storage(capacity: usize) -> Slab<T> {
        Slab::with_capacity(capacity)
    }

    #[inline(always)]
    fn insert(slab: &mut Slab<T>, value: T) -> usize {
        slab.insert(value)
    }

    #[inline(always)]
    fn get<R>(slab: &Slab<T>, slot: &usize, f: impl FnOnce(&T) -> R) -> R {
        f(&slab[*slot])
    }

    #[inline(always)]
    fn remove(slab: &mut Slab<T>, slot: usize) {
        drop(slab.remove(slot));
    }
}

impl<T: 'static> Edits<T> for SlabCrate {
    #[inline(always)]
    fn get_mut<R>(slab: &mut Slab<T>, slot: &mut usize, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut slab[*slot])
    }
}

impl<T: 'static> Names<T> for SlabCrate {
    type Key = usize;

    fn name(_: &mut Slab<T>, slot: usize) -> usize {
        slot
    }

    #[inline(always)]
    fn contains(slab: &Slab<T>, key: usize) -> bool {
        slab.contains(key)
    }

    #[inline(always)]
    fn find<R>(slab: &Slab<T>, key: usize, f: impl FnOnce(&T) -> R) -> R {
        f(slab.get(key).expect("inserted"))
    }

    fn take(slab: &mut Slab<T>, key: usize) {
        drop(slab.remove(key));
    }
}

impl<T: 'static> Grows<T> for SlabCrate {}

impl<T: 'static> Visits<T> for SlabCrate {
    #[inline(always)]
    fn visit(slab: &Slab<T>, mut f: impl FnMut(&T)) {
        slab.iter().for_each(|(_, value)| f(value));
    }
}

impl Links for SlabCrate {
    type Link = usize;
    const NIL: usize = usize::MAX;
}

impl Books for SlabCrate {
    #[inline(always)]
    fn link(slot: &mut usize) -> usize {
        *slot
    }

    #[inline(always)]
    unsafe fn at(slab: &mut Slab<Order<usize>>, link: usize) -> &mut Order<usize> {
        &mut slab[link]
    }
}
