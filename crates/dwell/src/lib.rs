//! Where values live.
//!
//! Every `Box`, every `Option<Struct>` and every `String` is a decision about where a value lives, and most programs
//! take the default. Dwell offers the other places, one type each:
//!
//! | the value | its place | module |
//! |---|---|---|
//! | small, of a type not known here | inside its owner, no allocation | [`small`]: [`SmallBox`] |
//! | one of many of all types, dropped together | an arena | [`bump`]: [`Bump`] |
//! | many of one type, made and dropped all the time, at an address that does not change | a place of a slab | [`slab`](mod@slab): [`Slab`], [`slab!`] |
//! | an optional struct that is mostly empty | one word until it is needed | [`sparse`]: [`Sparse`](struct@Sparse) |
//! | a string or slice that no longer grows, a map of a few entries | one word | [`sparse`]: [`ThinStr`](sparse::ThinStr), [`ThinSlice`](sparse::ThinSlice), [`SortedMap`](sparse::SortedMap) |
//! | a future, or another value that must not move | pinned by suffix, erased without `malloc` | [`mod@pin`]: [`PinExt`](pin::PinExt), [`ErasedExt`](pin::ErasedExt) |
//! | any, and how big is it, really? | measured by following every pointer | [`mod@weigh`]: [`weigh()`] |
//!
//! and the command-line tool `cargo dwell` to find out which values need one.
//!
//! # Example
//!
//! ```
//! use dwell::Sparse;
//!
//! struct Order {
//!     id: u64,
//!     notes: Sparse<Vec<String>>, // 8 bytes; a `Vec` has 24
//! }
//!
//! let mut order = Order { id: 1, notes: Sparse::empty() };
//! order.notes.edit(|notes| notes.push("fragile".into())); // allocates
//! order.notes.edit(|notes| notes.clear()); // gives the box back
//! assert!(order.notes.get().is_none());
//! # assert_eq!(order.id, 1);
//! ```
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `std` (default) | what threads have or share: [`slab!`], `slab::sync`, `bump::Pool`, `.pooled()`; and the traits of this crate for the types of std. Without it the crate is `no_std` and needs `alloc` |
//! | `derive` | `#[derive(Sparse)]`, `#[derive(Weigh)]` |
//! | `serde` | `Serialize` and `Deserialize` |
//! | `futures` | streams, sinks, readers and writers pinned and erased as futures are |
//! | `tower` | `pin::tower`: services erased without `malloc` |
//! | `allocator-api2` | allocators of one's own, by the trait of allocator-api2 0.2, which hashbrown and bumpalo speak |
//! | `allocator-api2-04` | the same by the trait of allocator-api2 0.4, the newest, in an `alloc::V04`; both may be on |
//! | `ahash`, `arrayvec`, `bumpalo`, `bytes`, `chrono`, `compact_str`, `hashbrown`, `indexmap`, `rustc-hash`, `serde_json`, `slab`, `slotmap`, `smallvec`, `time`, `uuid` | [`Weigh`] for the types of these crates |
//! | `nightly` | `core`'s `Allocator`, `Unsize` constructors, `Fn*` for boxes of closures, drop check by `may_dangle`; needs a nightly compiler and promises no stability |
//!
//! # Guarantees
//!
//! - **Sound in safe code.** No sequence of safe calls reaches undefined behaviour, whatever user code panics, is
//!   forgotten or re-enters. Each type's invariants stand at its definition; `docs/` argues them in prose.
//! - **Failure comes back.** Every call that allocates has a `try_` twin that returns what it was given in an [`AllocError`].
//!   For `clone`, `from`, `extend` and `collect`, which abort as std's do, that is a function of the type: `try_clone`,
//!   `try_from_vec`, `try_extend`, `try_from_iter`. Deserialising has none.
//! - **No required dependency**, no build script, no network. No global state besides what the derives remember of a
//!   type's default, the slabs and pools of threads that [`slab!`] and `.pooled()` stand for, and a count of the threads
//!   that made a [`slab::sync`] slab.
//! - The minimum supported Rust version is the `rust-version` of `Cargo.toml`; raising it is a minor release.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    feature = "nightly",
    feature(allocator_api, dropck_eyepatch, fn_traits, tuple_trait, unboxed_closures, unsize)
)]

// Named so because the module `alloc` is ours.
extern crate alloc as std_alloc;

pub mod alloc;
pub mod bump;
#[doc(hidden)]
pub mod model;
pub mod pin;
mod prefetch;
mod raw;
pub mod slab;
pub mod small;
pub mod sparse;
pub mod weigh;

pub use crate::alloc::AllocError;
pub use crate::bump::Bump;
pub use crate::slab::Slab;
pub use crate::small::SmallBox;
pub use crate::sparse::Sparse;
#[doc(inline)]
pub use crate::weigh::{Weigh, weigh};
#[cfg(feature = "derive")]
pub use dwell_derive::Sparse;
