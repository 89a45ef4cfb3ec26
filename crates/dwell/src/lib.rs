//! Types that store values inline, in slabs, in arenas or behind one word, and a function that measures values.
//!
//! Every `Box`, `Option<Struct>` and `String` decides where a value is stored, and most programs use the default. Dwell
//! has a type for each of the alternatives:
//!
//! | your values | are stored | module |
//! |---|---|---|
//! | small trait objects and closures | inline in their owner, without an allocation | [`small`]: [`SmallBox`] |
//! | many of all types, dropped together | in an arena | [`bump`]: [`Bump`] |
//! | boxes of many types, created and dropped all the time | in slots of a pool of the thread | [`slab`](mod@slab): [`Pooled`](slab::Pooled), [`pooled!`] |
//! | many of one type, created and dropped all the time | in slots of a slab, at stable addresses | [`slab`](mod@slab): [`Slab`], [`slab!`] |
//! | values that you find by a small integer key | in slots of a slab, by number, as in the crate slab | [`slab`](mod@slab): [`SlabMap`](slab::SlabMap) |
//! | optional structs that are mostly absent | on the heap, behind one word | [`sparse`]: [`Sparse`](struct@Sparse) |
//! | strings and slices that no longer grow, maps of a few entries | in one exact block, behind one word | [`sparse`]: [`ThinStr`](sparse::ThinStr), [`ThinSlice`](sparse::ThinSlice), [`SortedMap`](sparse::SortedMap) |
//! | futures, and other values that must not move | pinned inline, in a box or in a slab | [`mod@pin`]: [`PinExt`](pin::PinExt), [`ErasedExt`](pin::ErasedExt) |
//!
//! [`weigh()`] measures how much memory a value uses, with all that it owns. With the feature `advice`, [`mod@weigh`] suggests which
//! types to change.
//!
//! The command-line tool `cargo dwell` finds the types of a program that would gain from one of these.
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
//! | `std` (default) | everything that needs threads or thread-local variables: [`slab!`], `slab::sync`, `slab::Pool`, `bump::BumpPool`, `.pooled()`; and the traits of this crate for the types of std. Without it the crate is `no_std` and needs `alloc` |
//! | `small`, `slab`, `bump`, `pin`, `sparse`, `weigh` (default) | the module of that name; `pin` enables `small` and `slab` |
//! | `advice` | the suggestions of [`mod@weigh`], `Tree::advise` and `WhatIf`: most of the module's build time |
//! | `derive` | `#[derive(Sparse)]`, `#[derive(Weigh)]`, `#[erased]` for `async fn`s |
//! | `serde` | `Serialize` and `Deserialize` |
//! | `futures` | the methods of [`mod@pin`] for streams, sinks, readers and writers |
//! | `tokio` | `pin::spawn_erased`: tasks of tokio whose futures are in slots of the thread's pool |
//! | `tower` | `pin::tower`: type-erased services that allocate from pools |
//! | `allocator-api2` | custom allocators that implement the trait of allocator-api2 0.2, which hashbrown and bumpalo use |
//! | `allocator-api2-04` | custom allocators that implement the trait of allocator-api2 0.4, wrapped in an `alloc::V04`; both features may be enabled |
//! | `ahash-0_8`, `arrayvec-0_7`, `bumpalo`, `bytes`, `camino`, `chrono-0_4`, `compact_str-0_9`, `compact_str-0_10`, `dashmap`, `hashbrown-0_17`, `http`, `indexmap`, `parking_lot-0_12`, `rustc-hash`, `semver`, `serde_json`, `slab-0_4`, `slotmap`, `smallvec`, `smol_str-0_3`, `time-0_3`, `url`, `uuid` | [`Weigh`] and `IsEmpty` for the types of these crates |
//! | `nightly` | `core`'s `Allocator`, `Unsize` constructors, `Fn*` for boxes of closures, drop check by `may_dangle`; requires a nightly compiler and has no stability guarantee |
//!
//! # Guarantees
//!
//! - **Sound in safe code.** No sequence of safe calls leads to undefined behaviour, even if user code panics, re-enters the
//!   container, or forgets values. Each type lists its invariants at its definition; `docs/soundness.md` in the repository
//!   explains them.
//! - **Failed allocations are reported.** A function that allocates calls `handle_alloc_error` if the allocation fails, as
//!   in std. Its variant whose name begins with `try_` returns an [`AllocError`] or [`Full`](slab::Full) instead, with the
//!   arguments that it took by value, and does not panic for want of memory. The variants of `clone`, `default`, `from`, `extend` and `collect` are inherent functions: `try_clone`,
//!   `try_new`, `try_from_vec`, `try_from_string`, `try_extend`, `try_from_iter`. These have no variant:
//!   - deserialisation, and the calls and clones of tower's services, because the traits of serde and tower define none
//!   - `pinned_rc` and `pinned_arc`, because stable std has no fallible constructor of `Rc` and `Arc`
//!   - the conversion of text to a `dyn Error`, `#[erased]`, `pooled!`, the `clone` and `collect` of a `SlabMap`, the
//!     operators of sets, the clone of the iterator of a `ThinSlice`, `call_once` of a slot with a `dyn FnOnce`, which
//!     stable Rust calls only in a box, the functions of [`mod@weigh`], and the first read of a type's default through an empty
//!     [`Sparse`](struct@Sparse)
//! - **No required dependency**, no build script, no network access. The global state consists of the defaults that the
//!   derives cache for each type, the thread-local slabs and pools of [`slab!`] and `.pooled()`, and a counter of the
//!   threads that created a [`slab::sync`] slab.
//! - The minimum supported Rust version is the `rust-version` of `Cargo.toml`. A minor release may raise it.

#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    feature = "nightly",
    feature(allocator_api, dropck_eyepatch, fn_traits, tuple_trait, unboxed_closures, unsize)
)]
// Items that the modules share are unused if some modules are disabled.
#![cfg_attr(
    not(all(feature = "bump", feature = "pin", feature = "sparse", feature = "advice")),
    allow(dead_code, unused_imports, unused_macros)
)]

// The name `alloc` is taken by a module of this crate.
extern crate alloc as std_alloc;

pub mod alloc;
#[cfg(feature = "bump")]
pub mod bump;
#[cfg(any(feature = "bump", feature = "small"))]
mod coerce;
#[cfg(any(feature = "slab", feature = "small"))]
mod forward;
#[cfg(feature = "pin")]
pub mod pin;
mod prefetch;
#[cfg(any(feature = "bump", feature = "slab", feature = "small"))]
mod raw;
#[cfg(all(feature = "bump", not(any(feature = "allocator-api2", feature = "nightly"))))]
mod sealed;
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
