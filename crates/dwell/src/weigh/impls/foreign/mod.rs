//! `Weigh` for the types of other crates, each behind a feature of the crate's name.

#[cfg(feature = "ahash")]
mod ahash;
#[cfg(feature = "arrayvec")]
mod arrayvec;
#[cfg(feature = "bumpalo")]
mod bumpalo;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "compact_str")]
mod compact_str;
#[cfg(feature = "hashbrown")]
mod hashbrown;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "rustc-hash")]
mod rustc_hash;
#[cfg(feature = "serde_json")]
mod serde_json;
#[cfg(feature = "slab")]
mod slab;
#[cfg(feature = "slotmap")]
mod slotmap;
#[cfg(feature = "smallvec")]
mod smallvec;
#[cfg(feature = "time")]
mod time;
#[cfg(feature = "uuid")]
mod uuid;
