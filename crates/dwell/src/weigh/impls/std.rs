//! `Weigh` for the types of `std` that are not in `core` or `alloc`.

use super::hash::{self, Table};
use crate::weigh::{Kind, MapKind, Reach, Type, Walk, Weigh, type_of};
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::hash::{DefaultHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError};
use std::thread::ThreadId;
use std::time::{Instant, SystemTime};

plain! {
    Instant; SystemTime; ThreadId; RandomState; DefaultHasher; Condvar; Barrier; Once;
    std::process::ExitStatus; std::process::ExitCode; std::io::ErrorKind; std::fs::FileType; std::fs::File;
    std::net::TcpStream; std::net::TcpListener; std::net::UdpSocket;
}

opaque! {
    OsStr: Kind::Text { growable: false };
    Path: Kind::Text { growable: false };
}

macro_rules! texts {
    ($($ty:ty: |$text:ident| $len:expr;)*) => {$(
        impl Weigh for $ty {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: true });

            #[inline]
            fn is_vacant(&self) -> bool {
                self.capacity() == 0
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                let $text = self;
                walk.block(self.capacity(), 1, self.capacity() - $len);
            }
        }
    )*};
}

texts! {
    OsString: |text| text.len();
    PathBuf: |path| path.as_os_str().len();
}

impl<K: Weigh, V: Weigh, S> Weigh for HashMap<K, V, S> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<K>,
        value: type_of::<V>,
        entry: size_of::<(K, V)>(),
        map: MapKind::Hash,
    });
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    #[inline]
    fn is_default(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.capacity() == 0 {
            return walk.at_least();
        }
        let said = |map: &Self| Table { len: map.len(), capacity: map.capacity(), bytes: 0, mixes: hash::mixes::<S> };
        hash::weigh(walk, self, said, Self::iter);
    }
}

impl<T: Weigh, S> Weigh for HashSet<T, S> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<T>,
        value: type_of::<()>,
        entry: size_of::<T>(),
        map: MapKind::Hash,
    });
    const VACANT_MAPS: u64 = 1;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    #[inline]
    fn is_default(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.capacity() == 0 {
            return walk.at_least();
        }
        let said = |set: &Self| Table { len: set.len(), capacity: set.capacity(), bytes: 0, mixes: hash::mixes::<S> };
        hash::weigh(walk, self, said, |set| set.iter().map(|key| (key, &())));
    }
}

/// Implements `Weigh` for locks.
///
/// The walk tries a lock and never waits for it, since this thread may hold it. It weighs the value of a poisoned lock
/// too.
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
                    Ok(value) => walk.guarded::<T>(&value),
                    Err(TryLockError::Poisoned(error)) => walk.guarded::<T>(error.get_ref()),
                    Err(TryLockError::WouldBlock) => walk.opaque(),
                }
            }
        }
    )*};
}

locks! {
    Mutex: try_lock;
    RwLock: try_read;
}

impl<T: Weigh> Weigh for OnceLock<T> {
    const REACH: Reach = T::REACH.max(Reach::Inline);
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Optional { some: type_of::<T> });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.get().is_none()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if let Some(value) = self.get() {
            walk.field(0, value);
        }
    }
}

impl<T: Weigh, F> Weigh for LazyLock<T, F> {
    const REACH: Reach = T::REACH;
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<T> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        // An access would initialise the value.
        if matches!(T::REACH, Reach::Heap) {
            walk.opaque();
        }
    }
}
