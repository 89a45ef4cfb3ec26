//! Types that decide where values live.
//!
//! Every `Box`, every `Option<Struct>` and every `String` is a decision about where a value lives, and most programs take the
//! default. Dwell has a type for each of the alternatives:
//!
//! | the value | where it lives | module |
//! |---|---|---|
//! | small, of a type that is not known at compile time | inline in its owner, without an allocation | [`small`]: [`SmallBox`] |
//! | one of many of all types, dropped together | in an arena | [`bump`]: [`Bump`] |
//! | one of many of one type, made and dropped all the time, at a stable address | in a slot of a slab | [`slab`](mod@slab): [`Slab`], [`slab!`] |
//! | an optional struct that is mostly empty | in one word until it has a value | [`sparse`]: [`Sparse`](struct@Sparse) |
//! | a string or slice that no longer grows, a map of a few entries | behind one word | [`sparse`]: [`ThinStr`](sparse::ThinStr), [`ThinSlice`](sparse::ThinSlice), [`SortedMap`](sparse::SortedMap) |
//! | a future, or another value that must not move | pinned inline, in a box or in a slab | [`mod@pin`]: [`PinExt`](pin::PinExt), [`ErasedExt`](pin::ErasedExt) |
//! | any; how big is it, really? | measured by following every pointer | [`mod@weigh`]: [`weigh()`] |
//!
//! The command-line tool `cargo dwell` finds the values that gain by one of them.
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
//! order.notes.edit(|notes| notes.clear()); // frees the allocation
//! assert!(order.notes.get().is_none());
//! # assert_eq!(order.id, 1);
//! ```
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `std` (default) | what belongs to a thread or is shared by threads: [`slab!`], `slab::sync`, `bump::Pool`, `.pooled()`; and the traits of this crate for the types of std. Without it the crate is `no_std` and needs `alloc` |
//! | `small`, `slab`, `bump`, `pin`, `sparse`, `weigh` (default) | the module of that name; `bump` brings `small`, and `pin` brings `small` and `slab` |
//! | `derive` | `#[derive(Sparse)]`, `#[derive(Weigh)]`, `#[erased]` for `async fn`s |
//! | `serde` | `Serialize` and `Deserialize` |
//! | `futures` | streams, sinks, readers and writers are pinned and erased as futures are |
//! | `tokio` | `pin::spawn_erased`: tasks of tokio's whose futures are in slots of the thread's pool |
//! | `tower` | `pin::tower`: services of an erased type without `malloc` |
//! | `allocator-api2` | custom allocators, by the trait of allocator-api2 0.2, which hashbrown and bumpalo use |
//! | `allocator-api2-04` | custom allocators by the trait of allocator-api2 0.4, wrapped in an `alloc::V04`; both features may be on |
//! | `ahash-0_8`, `arrayvec-0_7`, `bumpalo`, `bytes`, `camino`, `chrono-0_4`, `compact_str-0_9`, `dashmap`, `hashbrown-0_17`, `http`, `indexmap`, `parking_lot-0_12`, `rustc-hash`, `semver`, `serde_json`, `slab-0_4`, `slotmap`, `smallvec`, `smol_str-0_3`, `time-0_3`, `url`, `uuid` | [`Weigh`] and `IsEmpty` for the types of these crates |
//! | `allocator-api2-0_2`, `allocator-api2-0_4`, `futures-0_3`, `tower-0_3` | the four features above by the versions that they bind to |
//! | `nightly` | `core`'s `Allocator`, `Unsize` constructors, `Fn*` for boxes of closures, drop check by `may_dangle`; requires a nightly compiler and has no stability guarantee |
//!
//! # Guarantees
//!
//! - **Sound in safe code.** No sequence of safe calls reaches undefined behaviour, even if user code panics, re-enters, or
//!   forgets values. The invariants of each type stand at its definition, and `docs/` explains them.
//! - **Failed allocations are reported.** Every function that allocates has a twin whose name begins with `try_`. It returns an
//!   [`AllocError`] with what it was given, and does not panic. For `clone`, `from`, `extend` and `collect`, which abort as
//!   those of std do, the twin is a function of the type: `try_clone`, `try_from_vec`, `try_from_string`, `try_extend`,
//!   `try_from_iter`. There is none where a trait of another crate has none, for deserialising and for the calls and clones
//!   of tower's services; nor for text that becomes a `dyn Error` and for `#[erased]`; nor for `pinned_rc` and `pinned_arc`,
//!   because stable std has none for `Rc` and `Arc`.
//! - **No required dependency**, no build script, no network. The only global state is the defaults that the derives cache for
//!   a type, the slabs and pools of threads that [`slab!`] and `.pooled()` stand for, and a count of the threads that made a
//!   [`slab::sync`] slab.
//! - The minimum supported Rust version is the `rust-version` of `Cargo.toml`; raising it is a minor release.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    feature = "nightly",
    feature(allocator_api, dropck_eyepatch, fn_traits, tuple_trait, unboxed_closures, unsize)
)]
// What the modules share is there in full if some of them are not.
#![cfg_attr(
    not(all(feature = "bump", feature = "pin", feature = "sparse", feature = "weigh")),
    allow(dead_code, unused_imports, unused_macros)
)]

// This crate has a module `alloc` of its own.
extern crate alloc as std_alloc;

pub mod alloc;
#[cfg(feature = "bump")]
pub mod bump;
#[cfg(feature = "weigh")]
#[doc(hidden)]
pub mod model;
#[cfg(feature = "pin")]
pub mod pin;
mod prefetch;
mod raw;
#[cfg(feature = "slab")]
pub mod slab;
#[cfg(feature = "small")]
pub mod small;
#[cfg(feature = "sparse")]
pub mod sparse;
#[cfg(feature = "weigh")]
pub mod weigh;

pub use crate::alloc::AllocError;
#[cfg(feature = "bump")]
pub use crate::bump::Bump;
#[cfg(feature = "slab")]
pub use crate::slab::Slab;
#[cfg(feature = "small")]
pub use crate::small::SmallBox;
#[cfg(feature = "sparse")]
pub use crate::sparse::Sparse;
#[cfg(feature = "weigh")]
#[doc(inline)]
pub use crate::weigh::{Weigh, weigh};
#[cfg(all(feature = "derive", feature = "sparse"))]
pub use dwell_derive::Sparse;
#[cfg(all(feature = "derive", feature = "pin", feature = "std"))]
pub use dwell_derive::erased;
