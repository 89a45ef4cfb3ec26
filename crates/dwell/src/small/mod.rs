//! A box that stores small values inline.
//!
//! A `Box<dyn Trait>` allocates for every value, and most values are small: a closure with one captured pointer, a node
//! with two fields. A [`SmallBox<dyn Trait>`](SmallBox) has an inline capacity of two words and allocates only for
//! values that are larger.
//!
//! ```
//! use dwell::{SmallBox, small_box};
//!
//! trait Shape {
//!     fn area(&self) -> f64;
//! }
//!
//! struct Square(f64);
//!
//! impl Shape for Square {
//!     fn area(&self) -> f64 {
//!         self.0 * self.0
//!     }
//! }
//!
//! let shape: SmallBox<dyn Shape> = small_box!(Square(3.0)); // no allocation
//! assert_eq!(shape.area(), 9.0);
//! assert!(shape.is_inline());
//! assert_eq!(size_of_val(&shape), 24);
//! ```
//!
//! # When to use something else
//!
//! - Values that are nearly always large: a `Box` is a word smaller and as fast.
//! - A closed set of types: an `enum` needs no vtable.
//! - An address that must not change while the box moves (`Pin<Box<T>>`): a small box moves its value. The box itself
//!   can be pinned, and a `SmallBox<dyn Future>` can be awaited as it is.
//!
//! `docs/small.md` in the repository describes the representation, the comparison with other crates, and the
//! implemented traits.

mod any;
mod call;
mod coerce;
mod convert;
mod forward;
mod iter;
mod macros;
mod new;
#[cfg(feature = "nightly")]
mod nightly;
mod push;
#[cfg(feature = "serde")]
mod serde;
mod size_message;
mod slice;
mod small_box;
mod storage;

pub use self::call::{CallOnce, OnceFn, SendOnceFn};
#[doc(hidden)]
pub use self::coerce::{Incomes, Incoming, IncomingStorage, fill};
#[doc(hidden)]
pub use self::forward::IntoSmall;
pub use self::iter::{BoxedIterator, IntoIter};
pub use self::push::PushCoerced;
pub use self::small_box::SmallBox;
pub(crate) use self::storage::InlineStorage;
pub use crate::coerce::Coercible;
