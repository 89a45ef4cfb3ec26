//! plurality: a pool whose slots can be dropped on any thread.

use plurality::Pool;

use crate::slab::subject::{Edits, Grows, Holds, Sends, by_deref, links_by_pointer};

pub(in crate::slab) struct Plurality;

impl<T: 'static> Holds<T> for Plurality {
    const NAME: &'static str = "plurality 0.2.3";
    type Storage = Pool<T>;
    type Slot = plurality::Box<T>;

    // The pool cannot reserve capacity.
    fn storage(_: usize) -> Pool<T> {
        Pool::new()
    }

    #[inline(always)]
    fn insert(pool: &mut Pool<T>, value: T) -> Self::Slot {
        pool.alloc_box(value)
    }

    by_deref!(get: T);
}

impl<T: Unpin + 'static> Edits<T> for Plurality {
    by_deref!(get_mut: T);
}

impl<T: 'static> Grows<T> for Plurality {}

impl<T: Send + 'static> Sends<T> for Plurality {
    type Remote = ();

    fn remote(_: &Pool<T>) {}
}

links_by_pointer!(Plurality, |slot| plurality::Box::as_mut_ptr(slot));
