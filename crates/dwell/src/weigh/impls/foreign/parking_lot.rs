//! `parking_lot`: the walk tries locks and never waits for them, since this thread may hold them.

use crate::weigh::{Kind, Reach, Type, Walk, Weigh, type_of};
use ::parking_lot::{Condvar, FairMutex, Mutex, Once, ReentrantMutex, RwLock};

plain! {
    Condvar; Once;
}

macro_rules! locks {
    ($($ty:ident: $try:ident;)*) => {$(
        impl<T: Weigh> Weigh for $ty<T> {
            const REACH: Reach = T::REACH;
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<T> });

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if const { T::REACH.is_skipped(TREE) } {
                    return;
                }
                match self.$try() {
                    Some(value) => walk.guarded::<T>(&value),
                    None => walk.opaque(),
                }
            }
        }
    )*};
}

locks! {
    Mutex: try_lock;
    FairMutex: try_lock;
    ReentrantMutex: try_lock;
    RwLock: try_read;
}
