//! Slabs: values of one type at stable addresses, without a call to the allocator.
//!
//! A [`Slab<T>`](Slab) has memory for many values of one type. A [`Slot<T>`](Slot) owns a value as a `Box<T>` does: 8
//! bytes for a value whose address does not change. An insert pops a vacant cell from the slab's free stack, and a drop
//! pushes the cell back: a dozen instructions instead of a call to the allocator.
//!
//! ```
//! use dwell::slab::{Slab, Slot};
//!
//! struct Order {
//!     price: u64,
//!     next: Option<Slot<Order>>, // 8 bytes
//! }
//!
//! let orders = Slab::new();
//! let first = orders.insert(Order { price: 100, next: None });
//! let second = orders.insert(Order { price: 101, next: Some(first) });
//! assert_eq!(orders.len(), 2);
//! drop(second); // both
//! assert_eq!((orders.len(), size_of::<Slot<Order>>()), (0, 8));
//! ```
//!
//! # Which slab
//!
//! | slab | memory | slots |
//! |---|---|---|
//! | [`Slab`] | grows in chunks that never move | stay on their thread; may outlive the slab |
//! | [`Bounded`] | allocated at once; a full slab panics or returns the value in an error | the same |
//! | [`slab!`](crate::slab!) | a module with one slab a thread, growing or bounded | the same, in fewer instructions |
//! | `sync::Slab` (feature `std`) | grows | `Send`: may be dropped on any thread |
//! | [`Pool`], the pool of each thread (feature `std`) | grows; values of all types, by size class | [`Pooled`]: `Send`, may outlive the pool |
//!
//! # Keys
//!
//! [`Slot::leak`] gives a value to its slab and returns a 4-byte [`Key`]. [`Slab::reclaim`] and [`Slab::with`] find the
//! value by its key. Keys are safe, because a key finds only leaked values, and they cost nothing in slabs that do not
//! use them. An 8-byte [`StampedKey`] finds one value, and no later value in the same cell.
//!
//! # Shared values
//!
//! A reference count beside the value turns a key into a 4-byte `Rc`. The other values of the slab have no count.
//!
//! ```
//! use dwell::slab::Key;
//! use std::marker::PhantomData;
//!
//! dwell::slab!(mod texts: (u32, String));
//!
//! /// Not `Send`, since each thread has a slab of its own, where the key belongs to another value.
//! struct Shared(Key, PhantomData<*const ()>);
//!
//! impl Shared {
//!     fn new(text: &str) -> Self {
//!         Self(texts::insert((1, text.to_owned())).leak(), PhantomData)
//!     }
//!     fn len(&self) -> usize {
//!         texts::with(self.0, |(_, text)| text.len()).expect("not used within `with`")
//!     }
//! }
//!
//! impl Clone for Shared {
//!     fn clone(&self) -> Self {
//!         texts::with(self.0, |(count, _)| *count += 1).expect("not used within `with`");
//!         Self(self.0, PhantomData)
//!     }
//! }
//!
//! impl Drop for Shared {
//!     fn drop(&mut self) {
//!         let left = texts::with(self.0, |(count, _)| {
//!             *count -= 1;
//!             *count
//!         });
//!         if left == Some(0) {
//!             drop(texts::reclaim(self.0));
//!         }
//!     }
//! }
//!
//! let one = Shared::new("shared");
//! let two = one.clone();
//! drop(one);
//! assert_eq!((two.len(), texts::len()), (6, 1));
//! drop(two);
//! assert!(texts::is_empty());
//! ```
//!
//! # When to use something else
//!
//! - Values that are all dropped together: an arena.
//! - Values of a type that is not known at compile time: a `Box` or a [`SmallBox`](crate::SmallBox). A slot can be a
//!   `Slot<dyn Trait>` ([`Slot::coerce`]), but its slab is for one type.
//! - A few small values: a slab of ten 64-byte values takes nearly twice the bytes of ten boxes, and with smaller
//!   values more than twice.
//! - Thousands of small slabs: the memory of each begins at a multiple of 64 KiB. Use one slab for all, or a
//!   [`SlabMap`].
//!
//! `docs/slab.md` in the repository describes the representation, argues its soundness, and lists the measurements.

#![expect(clippy::inline_always, reason = "a call would copy the value twice and costs more than a pop")]
#![cfg_attr(not(feature = "std"), allow(unreachable_pub, reason = "`slab!` reaches these items, and needs std"))]

// The parts, from the engine to the handles. `T` is the type of the values; the engine does not know it.
//
// - `geometry.rs`, `classes.rs`: where cells lie in a block, and the size classes of a pool: arithmetic,
//   `forbid(unsafe_code)`
// - `stack.rs`: `FreeStack`: `pop`, `push`, growth
// - `memory/`: `Memory`: chunks, blocks, their headers and numbers, leaked bits, stamps; generic over `W`, the word
//   in a header that names the owner
// - `engine.rs`: `Core<O>`: a stack and memory; `CoreRef<O>`; `Owners`, `OneThread`; generic over `O: Owners`
// - `remote/`: `AnyThread`, the `Owners` of slots that are `Send`: thread numbers, the list of returned cells
// - `lazy.rs`: `LazyCore`: a core that the first insert allocates, with its first cells; generic over `O: Owners`
// - `insert.rs`: `CellAllocator`, `insert`, `try_insert`, `insert_with`, `try_insert_with`: all code that pops,
//   refills and writes values; generic over allocator of cells, `T`
// - `remote/surplus.rs`: `Surplus`: when a pool gives chunks back
// - `keyed.rs`: `KeyedCells`, `reclaim`, `with`, `drop_leaked`: all code that makes slots and references of leaked
//   values; generic over slab or module, `T`
// - `owner.rs`, `kind.rs`, `coerce.rs`: `Owner<T, K>`, the engine of `Slot` and `Pooled`: all code that reads,
//   drops and frees a value; `K: SlotKind` says where a freed cell goes; generic over `T`, `K`
// - `slot.rs`, `pooled.rs`, `forward.rs`: the handles that users see: `Slot<T, K>`, invariant in `T`, and
//   `Pooled<T>`, covariant; generic over `T`, `K`
// - `typed.rs`: the engine of `Slab` and `sync::Slab`, and their methods; generic over `T`, `O`
// - `bounded.rs`: `Bounded`: a `Slab` with a limit; generic over `T`
// - `thread_core.rs`, `thread.rs`: a core in thread-local storage with a cached cell, without its type; `slab!`
// - `pool.rs`, `dedicated.rs`: `Pool`: a core for each size class, and dedicated blocks
// - `thread_pool.rs`, `boxed.rs`: the `Pool` of each thread, for `Pooled::new` and `.pooled()`; `pooled!`,
//   `.boxed_iter()`
// - `counted/`: `PoolRc` and `PoolArc`: counts in front of a value in a cell of a pool; generic over `T`, counts

mod bounded;
#[cfg(feature = "std")]
mod boxed;
#[cfg(feature = "std")]
mod classes;
mod coerce;
#[cfg(feature = "std")]
mod conversions;
#[cfg(feature = "std")]
mod counted;
#[cfg(feature = "std")]
mod dedicated;
mod engine;
mod error;
mod forward;
mod geometry;
pub(crate) mod insert;
mod key;
mod keyed;
pub(crate) mod kind;
mod lazy;
pub mod map;
mod memory;
mod owner;
#[cfg(feature = "std")]
mod pool;
#[cfg(feature = "std")]
mod pooled;
#[cfg(feature = "std")]
mod primitive;
#[cfg(feature = "std")]
mod remote;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "std")]
pub(crate) mod size_classes;
mod slot;
mod stack;
#[cfg(feature = "std")]
pub mod sync;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod thread;
#[cfg(feature = "std")]
mod thread_core;
#[cfg(feature = "std")]
mod thread_pool;
mod typed;

pub use self::bounded::Bounded;
#[cfg(feature = "std")]
pub use self::boxed::{BoxedIterExt, PoolIter};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use self::boxed::{Pooling, pool, unsize};
#[cfg(feature = "std")]
pub use self::counted::{PoolArc, PoolArcWeak, PoolRc, PoolRcWeak};
pub use self::error::{Full, SlotsRemaining};
pub use self::key::{Key, StampedKey};
pub use self::map::SlabMap;
#[cfg(feature = "std")]
pub use self::pool::Pool;
#[cfg(feature = "std")]
pub use self::pooled::Pooled;
pub use self::slot::Slot;
#[cfg(feature = "std")]
pub use self::thread::Init;
#[cfg(feature = "std")]
pub use self::thread_pool::trim;
pub use self::typed::{Builder, Slab};

/// The maximum number of values in a slab: the number of distinct keys.
///
/// A slab with a `chunk_capacity` below that of a whole block has fewer, since each of its chunks reserves the keys of a block:
/// with one `u64` in a chunk, for example, 533,147.
pub const MAX_CAPACITY: usize = Key::LIMIT;
