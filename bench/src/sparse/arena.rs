//! Containers whose contents are in a bump arena until the process ends, as all data of a measured run is.
//!
//! serde's derive cannot pass a context, so the arena is in a thread local.

use dwell::sparse::{IsEmpty, SortedMap};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// An arena that lives as long as the process.
pub(super) trait Arena: Copy + Ord {
    fn text(text: &str) -> &'static str;
    fn value<T>(value: T) -> &'static T;
    fn slice<T>(values: Vec<T>) -> &'static [T];
}

/// Dwell's arena with a minimum alignment of 1, since most of its contents are text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dwell;

impl Dwell {
    fn arena() -> &'static dwell::Bump<1> {
        thread_local! {
            static ARENA: &'static dwell::Bump<1> = Box::leak(Box::new(dwell::Bump::with_min_align()));
        }
        ARENA.with(|arena| *arena)
    }
}

impl Arena for Dwell {
    fn text(text: &str) -> &'static str {
        Self::arena().alloc_str(text)
    }

    fn value<T>(value: T) -> &'static T {
        Self::arena().alloc(value)
    }

    fn slice<T>(values: Vec<T>) -> &'static [T] {
        Self::arena().alloc_iter(values)
    }
}

/// Arenas of bumpalo with one chunk each. A single arena doubles its chunks, which leaves up to half of them unused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bumpalo;

impl Bumpalo {
    /// Returns an arena with a free capacity of at least `bytes`.
    fn with_capacity(bytes: usize) -> &'static bumpalo::Bump {
        const CHUNK: usize = 1 << 20;
        thread_local! {
            static ARENA: Cell<Option<&'static bumpalo::Bump>> = const { Cell::new(None) };
        }
        match ARENA.get() {
            // Alignment takes up to 16 bytes.
            Some(arena) if arena.chunk_capacity() >= bytes + 16 => arena,
            _ => {
                let arena = Box::leak(Box::new(bumpalo::Bump::with_capacity(CHUNK.max(bytes + 16))));
                ARENA.set(Some(arena));
                arena
            }
        }
    }
}

impl Arena for Bumpalo {
    fn text(text: &str) -> &'static str {
        Self::with_capacity(text.len()).alloc_str(text)
    }

    fn value<T>(value: T) -> &'static T {
        Self::with_capacity(size_of::<T>()).alloc(value)
    }

    fn slice<T>(values: Vec<T>) -> &'static [T] {
        Self::with_capacity(size_of_val(&*values)).alloc_slice_fill_iter(values)
    }
}

/// A string in the arena.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent, bound = "")]
pub(super) struct Str<P>(&'static str, PhantomData<P>);

impl<'de, P: Arena> Deserialize<'de> for Str<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Copied<P>(PhantomData<P>);
        impl<P: Arena> Visitor<'_> for Copied<P> {
            type Value = Str<P>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Str<P>, E> {
                Ok(Str(P::text(text), PhantomData))
            }
        }
        deserializer.deserialize_str(Copied(PhantomData))
    }
}

/// A slice in the arena.
#[derive(Clone, Copy, Serialize)]
#[serde(transparent, bound(serialize = "T: Serialize"))]
pub(super) struct Slice<T: 'static, P>(&'static [T], PhantomData<P>);

impl<T, P> Default for Slice<T, P> {
    fn default() -> Self {
        Self(&[], PhantomData)
    }
}

impl<T, P> IsEmpty for Slice<T, P> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: Deserialize<'de>, P: Arena> Deserialize<'de> for Slice<T, P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::<T>::deserialize(deserializer)?;
        Ok(Self(P::slice(values), PhantomData))
    }
}

/// A slice of entries in the arena, sorted by key.
#[derive(Clone, Copy)]
pub(super) struct Map<V: 'static, P: 'static>(&'static [(Str<P>, V)]);

impl<V, P> Default for Map<V, P> {
    fn default() -> Self {
        Self(&[])
    }
}

impl<V, P> IsEmpty for Map<V, P> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<V: Serialize, P> Serialize for Map<V, P> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, V: Deserialize<'de>, P: Arena> Deserialize<'de> for Map<V, P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A repeated key keeps its last value, as in std's maps.
        let entries = SortedMap::<Str<P>, V>::deserialize(deserializer)?;
        Ok(Self(P::slice(entries.into_iter().collect())))
    }
}

/// A value in the arena.
#[derive(Serialize)]
#[serde(transparent, bound(serialize = "T: Serialize"))]
pub(super) struct Ref<T: 'static, P>(&'static T, PhantomData<P>);

impl<'de, T: Deserialize<'de>, P: Arena> Deserialize<'de> for Ref<T, P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self(P::value(value), PhantomData))
    }
}

/// A value in the arena, or `None` if it is empty.
#[derive(Serialize)]
#[serde(transparent, bound(serialize = "T: Serialize"))]
pub(super) struct Sparse<T: 'static, P>(Option<&'static T>, PhantomData<P>);

impl<T, P> Default for Sparse<T, P> {
    fn default() -> Self {
        Self(None, PhantomData)
    }
}

impl<T, P> IsEmpty for Sparse<T, P> {
    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl<'de, T: Deserialize<'de> + IsEmpty, P: Arena> Deserialize<'de> for Sparse<T, P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        Ok(Self((!value.is_empty()).then(|| P::value(value)), PhantomData))
    }
}
