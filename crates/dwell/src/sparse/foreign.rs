//! `IsEmpty` and `DefaultRef` for the types of other crates.
//!
//! Types with interior mutability have no `DefaultRef`. Types whose `Default` differs from call to call
//! (`ahash::RandomState`) have neither.
#![allow(unused_imports, unused_macros, reason = "each feature uses a part of it")]

use super::empty::{const_default, is_empty};
use super::{ConstDefault, DefaultCell, DefaultRef, GenericDefaultCell, IsEmpty};

/// Implements [`DefaultRef`] for types with a lazily created default.
macro_rules! made_default {
    ($($type:ty;)*) => {$(
        impl DefaultRef for $type {
            fn default_ref<'a>() -> &'a Self {
                static DEFAULT: DefaultCell<$type> = DefaultCell::new();
                DEFAULT.get()
            }
        }
    )*};
    ($({$($generics:tt)*} $type:ty;)*) => {$(
        impl<$($generics)*> DefaultRef for $type
        where
            Self: Default + Send + Sync + 'static,
        {
            fn default_ref<'a>() -> &'a Self {
                static DEFAULTS: GenericDefaultCell = GenericDefaultCell::new();
                DEFAULTS.get()
            }
        }
    )*};
}

#[cfg(feature = "arrayvec-0_7")]
mod arrayvec {
    use super::{ConstDefault, DefaultRef, GenericDefaultCell, IsEmpty, const_default, is_empty};
    use ::arrayvec::{ArrayString, ArrayVec};

    is_empty! {
        {T, const N: usize} ArrayVec<T, N>: self => self.is_empty();
        {const N: usize} ArrayString<N>: self => self.as_str().is_empty();
    }
    const_default! {
        {const N: usize} ArrayString<N> = ArrayString::new_const();
    }
    made_default! {
        {T, const N: usize} ArrayVec<T, N>;
    }
}

#[cfg(feature = "bumpalo")]
is_empty! {
    {} ::bumpalo::Bump: self => self.allocated_bytes() == 0;
}

#[cfg(feature = "bytes")]
mod bytes {
    use super::{ConstDefault, DefaultCell, DefaultRef, IsEmpty, is_empty};
    use ::bytes::{Bytes, BytesMut};

    is_empty! {
        {} Bytes: self => self.is_empty();
        {} BytesMut: self => self.is_empty();
    }
    made_default! {
        Bytes;
        BytesMut;
    }
}

#[cfg(feature = "camino")]
mod camino {
    use super::{DefaultCell, DefaultRef, IsEmpty, is_empty};
    use ::camino::{Utf8Path, Utf8PathBuf};

    is_empty! {
        {} Utf8Path: self => self.as_str().is_empty();
        {} Utf8PathBuf: self => self.as_str().is_empty();
    }
    made_default! {
        Utf8PathBuf;
    }
}

#[cfg(feature = "chrono-0_4")]
mod chrono {
    use super::{DefaultCell, DefaultRef, IsEmpty, is_empty};
    use ::chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};

    is_empty! {
        {} TimeDelta: self => self.is_zero();
        {} NaiveDate: self => *self == Self::default();
        {} NaiveDateTime: self => *self == Self::default();
        {} NaiveTime: self => *self == Self::default();
        {} DateTime<Utc>: self => *self == Self::default();
    }
    made_default! {
        TimeDelta;
        NaiveDate;
        NaiveDateTime;
        NaiveTime;
        DateTime<Utc>;
    }
}

#[cfg(feature = "compact_str-0_9")]
mod compact_str {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::compact_str::CompactString;

    is_empty! {
        {} CompactString: self => self.is_empty();
    }
    const_default! {
        {} CompactString = CompactString::const_new("");
    }
}

#[cfg(feature = "compact_str-0_10")]
mod compact_str_010 {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::compact_str_010::CompactString;

    is_empty! {
        {} CompactString: self => self.is_empty();
    }
    const_default! {
        {} CompactString = CompactString::const_new("");
    }
}

// The tests do not wait for locks: a map with a locked shard is not empty.
#[cfg(feature = "dashmap")]
mod dashmap {
    use super::{IsEmpty, is_empty};
    use ::dashmap::{DashMap, DashSet};
    use core::hash::{BuildHasher, Hash};

    is_empty! {
        {K: Eq + Hash, V, S: BuildHasher + Clone} DashMap<K, V, S>: self =>
            self.shards().iter().all(|shard| shard.try_read().is_some_and(|table| table.is_empty()));
        {K: Eq + Hash, S: BuildHasher + Clone} DashSet<K, S>: self =>
            self.shards().iter().all(|shard| shard.try_read().is_some_and(|table| table.is_empty()));
    }
}

#[cfg(feature = "hashbrown-0_17")]
mod hashbrown {
    use super::{ConstDefault, DefaultRef, GenericDefaultCell, IsEmpty, const_default, is_empty};
    use ::hashbrown::{HashMap, HashSet, HashTable};

    is_empty! {
        {K, V, S} HashMap<K, V, S>: self => self.is_empty();
        {T, S} HashSet<T, S>: self => self.is_empty();
        {T} HashTable<T>: self => self.is_empty();
    }
    const_default! {
        {T} HashTable<T> = HashTable::new();
    }
    made_default! {
        {K, V, S} HashMap<K, V, S>;
        {T, S} HashSet<T, S>;
    }
}

#[cfg(feature = "http")]
mod http {
    use super::{ConstDefault, DefaultCell, DefaultRef, GenericDefaultCell, IsEmpty, const_default, is_empty};
    use ::http::{Extensions, HeaderMap, Method, StatusCode, Uri, Version};

    is_empty! {
        {} Extensions: self => self.is_empty();
        {T} HeaderMap<T>: self => self.is_empty();
        {} Method: self => *self == Self::GET;
        {} StatusCode: self => *self == Self::OK;
        {} Uri: self => *self == Self::default();
        {} Version: self => *self == Self::HTTP_11;
    }
    const_default! {
        {} Method = Method::GET;
        {} StatusCode = StatusCode::OK;
        {} Version = Version::HTTP_11;
    }
    made_default! {
        {T} HeaderMap<T>;
    }
    made_default! {
        Extensions;
        Uri;
    }
}

#[cfg(feature = "indexmap")]
mod indexmap {
    use super::{DefaultRef, GenericDefaultCell, IsEmpty, is_empty};
    use ::indexmap::{IndexMap, IndexSet};

    is_empty! {
        {K, V, S} IndexMap<K, V, S>: self => self.is_empty();
        {T, S} IndexSet<T, S>: self => self.is_empty();
    }
    made_default! {
        {K, V, S} IndexMap<K, V, S>;
        {T, S} IndexSet<T, S>;
    }
}

// The tests do not wait for locks: a locked value is not empty.
#[cfg(feature = "parking_lot-0_12")]
is_empty! {
    {T: IsEmpty} ::parking_lot::Mutex<T>: self => self.try_lock().is_some_and(|value| T::is_empty(&value));
    {T: IsEmpty} ::parking_lot::RwLock<T>: self => self.try_read().is_some_and(|value| T::is_empty(&value));
}

#[cfg(feature = "rustc-hash")]
mod rustc_hash {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::rustc_hash::FxBuildHasher;

    is_empty! {
        {} FxBuildHasher: self => true;
    }
    const_default! {
        {} FxBuildHasher = FxBuildHasher;
    }
}

#[cfg(feature = "semver")]
mod semver {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::semver::{BuildMetadata, Prerelease, VersionReq};

    is_empty! {
        {} BuildMetadata: self => self.as_str().is_empty();
        {} Prerelease: self => self.as_str().is_empty();
        {} VersionReq: self => self.comparators.is_empty(); // `*`
    }
    const_default! {
        {} BuildMetadata = BuildMetadata::EMPTY;
        {} Prerelease = Prerelease::EMPTY;
        {} VersionReq = VersionReq::STAR;
    }
}

#[cfg(feature = "serde_json")]
mod serde_json {
    use super::{ConstDefault, DefaultCell, DefaultRef, IsEmpty, const_default, is_empty};
    use ::serde_json::{Map, Value};
    use std_alloc::string::String;

    is_empty! {
        {} Value: self => self.is_null();
        {} Map<String, Value>: self => self.is_empty();
    }
    const_default! {
        {} Value = Value::Null;
    }
    made_default! {
        Map<String, Value>;
    }
}

#[cfg(feature = "slab-0_4")]
mod slab {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::slab::Slab;

    is_empty! {
        {T} Slab<T>: self => self.is_empty();
    }
    const_default! {
        {T} Slab<T> = Slab::new();
    }
}

#[cfg(feature = "slotmap")]
mod slotmap {
    use super::{DefaultCell, DefaultRef, GenericDefaultCell, IsEmpty, is_empty};
    use ::slotmap::{DefaultKey, Key, SecondaryMap, SlotMap};

    is_empty! {
        {} DefaultKey: self => self.is_null();
        // A map that was used remembers the keys that it returned, so only one without capacity equals the default.
        {K: Key, V} SlotMap<K, V>: self => self.capacity() == 0;
        {K: Key, V} SecondaryMap<K, V>: self => self.is_empty();
    }
    made_default! {
        DefaultKey;
    }
    made_default! {
        {K: Key, V} SecondaryMap<K, V>;
    }
}

#[cfg(feature = "smallvec")]
mod smallvec {
    use super::{DefaultRef, GenericDefaultCell, IsEmpty, is_empty};
    use ::smallvec::{Array, SmallVec};

    is_empty! {
        {A: Array} SmallVec<A>: self => self.is_empty();
    }
    made_default! {
        {A: Array} SmallVec<A>;
    }
}

#[cfg(feature = "smol_str-0_3")]
mod smol_str {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::smol_str::SmolStr;

    is_empty! {
        {} SmolStr: self => self.is_empty();
    }
    const_default! {
        {} SmolStr = SmolStr::new_static("");
    }
}

#[cfg(feature = "time-0_3")]
mod time {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::time::Duration;

    is_empty! {
        {} Duration: self => self.is_zero();
    }
    const_default! {
        {} Duration = Duration::ZERO;
    }
}

#[cfg(feature = "uuid")]
mod uuid {
    use super::{ConstDefault, DefaultRef, IsEmpty, const_default, is_empty};
    use ::uuid::Uuid;

    is_empty! {
        {} Uuid: self => self.is_nil();
    }
    const_default! {
        {} Uuid = Uuid::nil();
    }
}
