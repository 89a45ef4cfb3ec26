//! sharded-slab, which all threads share: it finds values by key, and its values cannot be changed in place.

use sharded_slab::Slab;
use std::sync::Arc;

use crate::slab::subject::{Grows, Holds, Sends};

pub(in crate::slab) struct Sharded;

// `T` must be `Sync`, because any thread may read a value.
impl<T: Sync + Send + 'static> Holds<T> for Sharded {
    const NAME: &'static str = "sharded-slab 0.1.7";
    type Storage = Arc<Slab<T>>;
    type Slot = usize;

    // The slab cannot reserve capacity.
    fn storage(_: usize) -> Self::Storage {
        Arc::new(Slab::new())
    }

    #[inline(always)]
    fn insert(slab: &mut Self::Storage, value: T) -> usize {
        slab.insert(value).expect("not full")
    }

    #[inline(always)]
    fn get<R>(slab: &Self::Storage, slot: &usize, f: impl FnOnce(&T) -> R) -> R {
        f(&slab.get(*slot).expect("inserted"))
    }

    #[inline(always)]
    fn remove(slab: &mut Self::Storage, slot: usize) {
        slab.remove(slot);
    }
}

impl<T: Sync + Send + 'static> Grows<T> for Sharded {}

impl<T: Sync + Send + 'static> Sends<T> for Sharded {
    type Remote = Arc<Slab<T>>;

    fn remote(slab: &Self::Storage) -> Self::Remote {
        slab.clone()
    }

    #[inline(always)]
    fn free(slab: &Self::Remote, slot: usize) {
        slab.remove(slot);
    }
}
