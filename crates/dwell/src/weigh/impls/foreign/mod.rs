//! `Weigh` for the types of other crates. Each needs a feature with the crate's name, and its version if it is below
//! 1.0.

#[cfg(feature = "ahash-0_8")]
mod ahash;
#[cfg(feature = "arrayvec-0_7")]
mod arrayvec;
#[cfg(feature = "bumpalo")]
mod bumpalo;
#[cfg(feature = "bytes")]
mod bytes;
#[cfg(feature = "camino")]
mod camino;
#[cfg(feature = "chrono-0_4")]
mod chrono;
#[cfg(any(feature = "compact_str-0_9", feature = "compact_str-0_10"))]
mod compact_str;
#[cfg(feature = "dashmap")]
mod dashmap;
#[cfg(feature = "hashbrown-0_17")]
mod hashbrown;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "indexmap")]
mod indexmap;
#[cfg(feature = "parking_lot-0_12")]
mod parking_lot;
#[cfg(feature = "rustc-hash")]
mod rustc_hash;
#[cfg(feature = "semver")]
mod semver;
#[cfg(feature = "serde_json")]
mod serde_json;
#[cfg(feature = "slab-0_4")]
mod slab;
#[cfg(feature = "slotmap")]
mod slotmap;
#[cfg(feature = "smallvec")]
mod smallvec;
#[cfg(feature = "smol_str-0_3")]
mod smol_str;
#[cfg(feature = "time-0_3")]
mod time;
#[cfg(feature = "url")]
mod url;
#[cfg(feature = "uuid")]
mod uuid;
