//! A subject without an allocator: only the cost of writing and reading the values.

use crate::slab::subject::{Edits, Holds, Words};

/// Writes values one after the other into a ring.
pub(in crate::slab) struct Bare;

pub(in crate::slab) struct Ring<T> {
    values: Box<[T; LEN]>,
    at: u8,
}

const LEN: usize = 256;

impl<const N: usize> Holds<Words<N>> for Bare {
    const NAME: &'static str = "value alone";
    type Storage = Ring<Words<N>>;
    type Slot = u8;

    fn storage(_: usize) -> Self::Storage {
        let values: Box<[_]> = vec![Words([0; N]); LEN].into();
        Ring { values: values.try_into().ok().expect("of this length"), at: 0 }
    }

    #[inline(always)]
    fn insert(ring: &mut Self::Storage, value: Words<N>) -> u8 {
        let at = ring.at;
        ring.values[usize::from(at)] = value;
        ring.at = at.wrapping_add(1);
        at
    }

    #[inline(always)]
    fn get<R>(ring: &Self::Storage, slot: &u8, f: impl FnOnce(&Words<N>) -> R) -> R {
        f(&ring.values[usize::from(*slot)])
    }

    #[inline(always)]
    fn remove(_: &mut Self::Storage, _: u8) {}
}

impl<const N: usize> Edits<Words<N>> for Bare {
    #[inline(always)]
    fn get_mut<R>(ring: &mut Self::Storage, slot: &mut u8, f: impl FnOnce(&mut Words<N>) -> R) -> R {
        f(&mut ring.values[usize::from(*slot)])
    }
}
