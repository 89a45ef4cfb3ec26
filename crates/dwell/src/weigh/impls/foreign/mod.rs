//! `Weigh` for the types of other crates, each behind a feature of the crate's name.

#[cfg(feature = "ahash-0_8")]
mod ahash;
#[cfg(feature = "arrayvec-0_7")]
mod arrayvec;
#[cfg(feature = "bumpalo")]
mod bumpalo;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "chrono-0_4")]
mod chrono;
#[cfg(feature = "compact_str-0_9")]
mod compact_str;
#[cfg(feature = "hashbrown-0_17")]
mod hashbrown;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "rustc-hash")]
mod rustc_hash;
#[cfg(feature = "serde_json")]
mod serde_json;
#[cfg(feature = "slab-0_4")]
mod slab;
#[cfg(feature = "slotmap")]
mod slotmap;
#[cfg(feature = "smallvec")]
mod smallvec;
#[cfg(feature = "time-0_3")]
mod time;
#[cfg(feature = "uuid")]
mod uuid;
