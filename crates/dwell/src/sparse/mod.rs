//! One-word storage for structs that are mostly empty, and one-word strings, slices and sorted maps.
//!
//! A field of type `Option<Settings>` has the size of `Settings` even if it is `None`. A [`Sparse<Settings>`](Sparse)
//! has one word, allocates only for a value that differs from the default, and reads as the struct itself:
//!
//! ```
//! # #[cfg(feature = "derive")] {
//! use dwell::Sparse;
//!
//! #[derive(Default, Sparse)]
//! struct Traits {
//!     title: Option<String>,
//!     documentation: Option<String>,
//!     tags: Vec<String>,
//! }
//!
//! #[derive(Default)]
//! struct Shape {
//!     traits: Sparse<Traits>, // 8 bytes, where `Traits` has 72
//! }
//!
//! let mut shape = Shape::default();
//! assert_eq!(shape.traits.title, None); // reads the type's default, no allocation
//!
//! shape.traits.edit(|t| t.title = Some("Mainframe".into())); // allocates
//! assert_eq!(shape.traits.title.as_deref(), Some("Mainframe"));
//!
//! shape.traits.edit(|t| t.title = None); // equal to the default: frees the box
//! assert!(shape.traits.get().is_none());
//! # }
//! ```
//!
//! # When to use something else
//!
//! - A struct that is never empty if it is present: use an `Option<Box<T>>`, which says so in its type and costs the
//!   same. `Sparse` is for structs whose *default* means "absent".
//! - A struct that is present in most owners: store it inline. A box costs an allocation, 8 bytes for the pointer, 8 to
//!   16 bytes of allocator overhead, and a cache miss. It pays if the fraction of owners with a value is below about
//!   `(size - 8) / (size + 16)`.
//! - A struct of up to two words: store it inline.
//!
//! # Strings, slices and maps
//!
//! [`ThinStr`] and [`ThinSlice`] are `Box<str>` and `Box<[T]>` with a handle of one word. [`SortedMap`] and
//! [`SortedSet`] are a map and a set for few entries, with the same handle.
//!
//! `docs/sparse.md` in the repository explains the representation and lists the measurements.

mod collect;
mod empty;
mod entry;
mod foreign;
pub(crate) mod layout;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "serde")]
mod serde_thin;
mod sorted;
pub mod sorted_map;
pub mod sorted_set;
pub mod thin_slice;
mod thin_str;

use crate::alloc::{AllocError, try_box};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::Deref;
use core::panic::UnwindSafe;
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

pub use self::empty::{ConstDefault, DefaultCell, DefaultRef, IsEmpty};
#[doc(hidden)]
pub use self::empty::{DefaultIsEmpty, GenericDefaultCell, any_value};
#[cfg(feature = "serde")]
pub use self::serde::{nullable, option_box};
#[doc(inline)]
pub use self::sorted_map::SortedMap;
#[doc(inline)]
pub use self::sorted_set::SortedSet;
#[doc(inline)]
pub use self::thin_slice::ThinSlice;
pub use self::thin_str::ThinStr;

/// A one-word owner of a `T`, which stores the value on the heap, or nothing if the value equals the default.
///
/// A `Sparse<T>` has 8 bytes on a 64-bit target, and so has `Option<Sparse<T>>`. An empty one owns no memory; any other
/// owns one heap block of `size_of::<T>()` bytes.
///
/// ```
/// use dwell::Sparse;
///
/// let mut names: Sparse<Vec<String>> = Sparse::empty();
/// assert_eq!(names.len(), 0); // reads the default
///
/// names.get_mut_or_default().push("Ada".into()); // allocates
/// assert_eq!(names.len(), 1);
/// assert_eq!(names[0], "Ada");
/// assert_eq!(size_of::<Option<Sparse<Vec<String>>>>(), size_of::<usize>());
/// ```
///
/// [`Deref`] requires [`DefaultRef`], and functions that test for empty values require [`IsEmpty`]. The primitive types,
/// `String` and the collections of std implement both, and `#[derive(Sparse)]` (feature `derive`) implements them for a struct.
/// [`get`](Self::get) requires neither.
///
/// Two values are equal if they dereference to equal values: an empty one equals one that holds a boxed default.
///
/// # Interior mutability
///
/// All empty values of a type dereference to the same default. If a type can be written through `&T` (an atomic, a
/// `Mutex`), `counter.fetch_add(1)` on an empty `Sparse` would change the value of all other empty ones.
/// `#[derive(Sparse)]` refuses such fields; [`DefaultRef`] lists the cases that it cannot refuse.
pub struct Sparse<T> {
    // # Invariants
    //
    // 1. `ptr` is either `SENTINEL`, and then this `Sparse` owns nothing; or it came from `Box::<T>::into_raw`, is not
    //    `SENTINEL`, and this `Sparse` is the only owner of that box.
    ptr: NonNull<T>,
    // Owns a `T`: the drop check and the auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

// SAFETY: a `Sparse<T>` owns a `Box<T>` or nothing (invariant 1). Sending it sends that box, which is sound for
// `T: Send`.
unsafe impl<T: Send> Send for Sparse<T> {}

// SAFETY: `&Sparse<T>` gives out `&T` of its own box, as `&Box<T>` does, which is sound for `T: Sync`; no method writes
// through `&Sparse<T>`. The default that `Deref` lends comes from the safe trait `DefaultRef`, whose implementation
// returns a `&T`.
unsafe impl<T: Sync> Sync for Sparse<T> {}

// The value is on the heap and does not move with the `Sparse`, as in a `Box`.
impl<T> Unpin for Sparse<T> {}

// As `Box`: owning a `T` is as unwind safe as the `T` (a bare `NonNull` would require `RefUnwindSafe`).
impl<T: UnwindSafe> UnwindSafe for Sparse<T> {}

impl<T> Sparse<T> {
    /// The pointer of an empty `Sparse`.
    ///
    /// No box that `from_stored` takes has this address. A block of at least one byte does not begin at `usize::MAX`,
    /// since the address of its end is at most `usize::MAX` (`core::ptr`, "Allocation"). For a box of a zero-sized
    /// type, `from_stored` stores a dangling address that differs from this one.
    const SENTINEL: NonNull<T> = NonNull::new(ptr::without_provenance_mut(usize::MAX)).expect("usize::MAX is not null");

    /// Creates an empty value, which reads as the default and owns no memory.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// static NONE: Sparse<String> = Sparse::empty();
    /// assert!(NONE.get().is_none());
    /// ```
    pub const fn empty() -> Self {
        Self { ptr: Self::SENTINEL, owns: PhantomData }
    }

    /// Takes ownership of a box, without testing whether its value is empty.
    fn from_stored(value: Box<T>) -> Self {
        let raw = Box::into_raw(value);
        // A box of a zero-sized type owns no memory, so any aligned address that is not null can represent it.
        // `dangling` is not `usize::MAX`: it is `align_of::<T>()`, which is at most 2^29.
        let raw = if size_of::<T>() == 0 { ptr::dangling_mut() } else { raw };
        let ptr = NonNull::new(raw).expect("a box is not null");
        debug_assert_ne!(ptr.addr(), Self::SENTINEL.addr());
        Self { ptr, owns: PhantomData }
    }

    /// Returns whether this is empty, that is, owns no box.
    fn is_vacant(&self) -> bool {
        self.ptr.addr() == Self::SENTINEL.addr()
    }

    /// Returns the stored value, or `None` if this is empty and reads as the default.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// assert_eq!(Sparse::new(7).get(), Some(&7));
    /// assert_eq!(Sparse::new(0).get(), None); // 0 is the default, nothing is stored
    /// ```
    pub fn get(&self) -> Option<&T> {
        if self.is_vacant() {
            return None;
        }
        // SAFETY: `ptr` is not `SENTINEL`, so it points to a box that `self` owns (invariant 1). The box holds a valid
        // `T`, which lives and is not written as long as `self` is borrowed: every function that writes or frees it
        // takes `self` by `&mut` or by value.
        Some(unsafe { self.ptr.as_ref() })
    }

    /// Returns the stored value mutably, or `None` if this is empty.
    ///
    /// [`get_mut_or_default`](Self::get_mut_or_default) stores a default first if this is empty, and
    /// [`edit`](Self::edit) frees the box if the value is empty afterwards.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        if self.is_vacant() {
            return None;
        }
        // SAFETY: `ptr` is not `SENTINEL`, so it points to a box of which `self` is the only owner (invariant 1), and
        // `self` is borrowed exclusively for as long as the reference lives.
        Some(unsafe { self.ptr.as_mut() })
    }

    /// Converts to the box, without moving the value.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// assert_eq!(Sparse::new(7).into_box(), Some(Box::new(7)));
    /// assert_eq!(Sparse::new(0).into_box(), None);
    /// ```
    pub fn into_box(self) -> Option<Box<T>> {
        let this = ManuallyDrop::new(self);
        if this.is_vacant() {
            return None;
        }
        // SAFETY: `ptr` is not `SENTINEL`, so it came from `Box::into_raw` and has no other owner (invariant 1). `this`
        // is in a `ManuallyDrop` and not used again, so the box is returned once. For a zero-sized `T`, `from_raw`
        // accepts any aligned pointer that is not null.
        Some(unsafe { Box::from_raw(this.ptr.as_ptr()) })
    }

    /// Takes the box out, without moving the value, and leaves an empty `Sparse`.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// let mut count = Sparse::new(7);
    /// assert_eq!(count.take_box(), Some(Box::new(7)));
    /// assert_eq!(count.take_box(), None);
    /// ```
    pub fn take_box(&mut self) -> Option<Box<T>> {
        mem::take(self).into_box()
    }

    /// Drops the value, frees its memory and leaves an empty `Sparse`.
    pub fn clear(&mut self) {
        drop(mem::take(self));
    }
}

impl<T: IsEmpty> Sparse<T> {
    /// Moves a value to a box, or drops it if it is empty.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// assert!(Sparse::new(String::new()).get().is_none());
    /// assert!(Sparse::new(String::from("x")).get().is_some());
    /// ```
    pub fn new(value: T) -> Self {
        if value.is_empty() { Self::empty() } else { Self::from_stored(Box::new(value)) }
    }

    /// Like [`new`](Self::new), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If the value is not empty and the allocation of a box for it fails. The error contains the value.
    pub fn try_new(value: T) -> Result<Self, AllocError<T>> {
        if value.is_empty() { Ok(Self::empty()) } else { try_box(value).map(Self::from_stored) }
    }

    /// Takes ownership of a box without moving its value, or frees the box if the value is empty.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// assert_eq!(Sparse::from_box(Box::new(7)).get(), Some(&7));
    /// ```
    pub fn from_box(value: Box<T>) -> Self {
        if value.is_empty() { Self::empty() } else { Self::from_stored(value) }
    }

    /// Returns whether this stores no value, or an empty one.
    ///
    /// For serde: `#[serde(skip_serializing_if = "Sparse::is_empty")]`.
    pub fn is_empty(&self) -> bool {
        self.get().is_none_or(T::is_empty)
    }

    /// Frees the box if the stored value has become empty.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// let mut list = Sparse::new(vec![1]);
    /// list.get_mut().unwrap().clear();
    /// assert!(list.get().is_some()); // still boxed
    /// list.compact();
    /// assert!(list.get().is_none());
    /// ```
    pub fn compact(&mut self) {
        if self.get().is_some_and(T::is_empty) {
            self.clear();
        }
    }
}

impl<T: Default> Sparse<T> {
    /// Returns the stored value mutably, after storing the default if this is empty.
    ///
    /// The box stays even if the value ends up empty: see [`compact`](Self::compact) and [`edit`](Self::edit).
    #[doc(alias = "deref_mut")]
    #[doc(alias = "get_or_insert_default")]
    pub fn get_mut_or_default(&mut self) -> &mut T {
        if self.is_vacant() {
            *self = Self::from_stored(Box::default());
        }
        // SAFETY: a box has just been stored if there was none, so `ptr` points to a box of which `self` is the only
        // owner (invariant 1), and `self` is borrowed exclusively for as long as the reference lives.
        unsafe { self.ptr.as_mut() }
    }

    /// Like [`get_mut_or_default`](Self::get_mut_or_default), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If this is empty and the allocation of a box fails. The error contains the default, and `self` stays empty.
    pub fn try_get_mut_or_default(&mut self) -> Result<&mut T, AllocError<T>> {
        if self.is_vacant() {
            *self = Self::from_stored(try_box(T::default())?);
        }
        // SAFETY: a box has just been stored if there was none, so `ptr` points to a box of which `self` is the only
        // owner (invariant 1), and `self` is borrowed exclusively for as long as the reference lives.
        Ok(unsafe { self.ptr.as_mut() })
    }

    /// Converts to the value, or to the default if this is empty.
    pub fn into_inner(self) -> T {
        self.into_box().map_or_else(T::default, |value| *value)
    }

    /// Takes the value out, or creates the default if this is empty, and leaves an empty `Sparse`.
    ///
    /// This is [`mem::take`] of a field of type `T`; [`take_box`](Self::take_box) is [`Option::take`].
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// let mut name = Sparse::new(String::from("Ada"));
    /// assert_eq!(name.take(), "Ada");
    /// assert!(name.get().is_none());
    /// assert_eq!(name.take(), "");
    /// ```
    pub fn take(&mut self) -> T {
        mem::take(self).into_inner()
    }

    /// Calls `f` with the value, or with a temporary default.
    fn read<R>(&self, f: impl FnOnce(&T) -> R) -> R {
        match self.get() {
            Some(value) => f(value),
            None => f(&T::default()),
        }
    }
}

impl<T: Default + IsEmpty> Sparse<T> {
    /// Stores another value and returns the old one, or the default if this was empty.
    ///
    /// This is [`mem::replace`] of a field of type `T`. It reuses an existing box; an empty `value` frees the box.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// let mut count = Sparse::<u32>::empty();
    /// assert_eq!(count.replace(7), 0);
    /// assert_eq!(count.replace(0), 7);
    /// assert!(count.get().is_none());
    /// ```
    #[doc(alias = "set")]
    pub fn replace(&mut self, value: T) -> T {
        self.try_replace(value).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// Like [`replace`](Self::replace), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If this is empty, `value` is not, and the allocation of a box fails. The error contains `value`, and `self`
    /// stays empty.
    pub fn try_replace(&mut self, value: T) -> Result<T, AllocError<T>> {
        if let Some(stored) = self.get_mut()
            && !value.is_empty()
        {
            return Ok(mem::replace(stored, value));
        }
        let new = Self::try_new(value)?;
        Ok(mem::replace(self, new).into_inner())
    }

    /// Changes the value in a closure, and keeps it in a box only if it is not empty afterwards.
    ///
    /// If this is empty, the value is created on the stack, so an edit that leaves it empty does not allocate.
    ///
    /// ```
    /// use dwell::Sparse;
    ///
    /// let mut count = Sparse::<u64>::empty();
    /// count.edit(|n| *n += 1);
    /// assert_eq!(count.get(), Some(&1));
    /// count.edit(|n| *n -= 1);
    /// assert_eq!(count.get(), None);
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the closure, `T::default` or `T::is_empty` panics. If the closure does, changes to a stored value remain,
    /// and changes to an empty one are lost.
    #[doc(alias = "DerefMut")]
    #[doc(alias = "assign")]
    #[doc(alias = "modify")]
    pub fn edit<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> R {
        if let Some(value) = self.get_mut() {
            let result = f(value);
            self.compact();
            result
        } else {
            let mut value = T::default();
            let result = f(&mut value);
            *self = Self::new(value);
            result
        }
    }

    /// Like [`edit`](Self::edit), but returns an error if the allocation fails.
    ///
    /// # Errors
    ///
    /// If this is empty, the edited value is not, and the allocation of a box fails. The error contains the edited
    /// value and the closure's result, and `self` stays empty.
    pub fn try_edit<R>(&mut self, f: impl FnOnce(&mut T) -> R) -> Result<R, AllocError<(T, R)>> {
        if let Some(value) = self.get_mut() {
            let result = f(value);
            self.compact();
            return Ok(result);
        }
        let mut value = T::default();
        let result = f(&mut value);
        match Self::try_new(value) {
            Ok(stored) => {
                *self = stored;
                Ok(result)
            }
            Err(error) => Err(error.map(|value| (value, result))),
        }
    }
}

impl<T: Clone> Sparse<T> {
    /// Like [`Clone::clone`], but returns an error if the allocation of the box fails. `T::clone` itself may still
    /// abort.
    ///
    /// # Errors
    ///
    /// If this is not empty and the allocation of a box fails. The error contains the cloned value.
    pub fn try_clone(&self) -> Result<Self, AllocError<T>> {
        match self.get() {
            None => Ok(Self::empty()),
            Some(value) => try_box(value.clone()).map(Self::from_stored),
        }
    }
}

macro_rules! drop_glue {
    ($($unsafe:ident)? $(#[$may_dangle:meta])?) => {
        // SAFETY (nightly): `T` may dangle, since this only drops the `T` in its box; `owns: PhantomData<T>` tells the
        // drop check that a `T` is dropped.
        $($unsafe)? impl<$(#[$may_dangle])? T> Drop for Sparse<T> {
            fn drop(&mut self) {
                if !self.is_vacant() {
                    // SAFETY: `ptr` is not `SENTINEL`, so it came from `Box::into_raw` and has no other owner
                    // (invariant 1); `self` is not used after `drop`. For a zero-sized `T`, `from_raw` accepts any
                    // aligned pointer that is not null.
                    drop(unsafe { Box::from_raw(self.ptr.as_ptr()) });
                }
            }
        }
    };
}
#[cfg(feature = "nightly")]
drop_glue!(unsafe #[may_dangle]);
#[cfg(not(feature = "nightly"))]
drop_glue!();

impl<T: DefaultRef> Deref for Sparse<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self.get() {
            Some(value) => value,
            None => T::default_ref(),
        }
    }
}

impl<T: DefaultRef> AsRef<T> for Sparse<T> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self::empty()
    }
}

impl<T: Clone> Clone for Sparse<T> {
    fn clone(&self) -> Self {
        match self.get() {
            None => Self::empty(),
            Some(value) => Self::from_stored(Box::new(value.clone())),
        }
    }

    fn clone_from(&mut self, source: &Self) {
        match (self.get_mut(), source.get()) {
            (Some(to), Some(from)) => to.clone_from(from), // keeps the block
            _ => *self = source.clone(),
        }
    }
}

impl<T: IsEmpty> From<T> for Sparse<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: IsEmpty> From<Box<T>> for Sparse<T> {
    /// Converts as [`Sparse::from_box`] does.
    fn from(value: Box<T>) -> Self {
        Self::from_box(value)
    }
}

impl<T: IsEmpty> From<Option<T>> for Sparse<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::empty, Self::new)
    }
}

impl<T: IsEmpty> From<Option<Box<T>>> for Sparse<T> {
    fn from(value: Option<Box<T>>) -> Self {
        value.map_or_else(Self::empty, Self::from_box)
    }
}

impl<T> From<Sparse<T>> for Option<Box<T>> {
    fn from(value: Sparse<T>) -> Self {
        value.into_box()
    }
}

impl<T: Default + IsEmpty + PartialEq> PartialEq for Sparse<T> {
    fn eq(&self, other: &Self) -> bool {
        // Without this test, a comparison of defaults of a type that contains a `Sparse<Self>` would not end. A test
        // with `is_empty` would repeat the comparison below, at each level of a recursive type.
        (self.get().is_none() && other.get().is_none()) || self.read(|a| other.read(|b| a == b))
    }
}

impl<T: Default + IsEmpty + Eq> Eq for Sparse<T> {}

impl<T: Default + IsEmpty + PartialOrd> PartialOrd for Sparse<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        if self.get().is_none() && other.get().is_none() {
            return Some(Ordering::Equal);
        }
        self.read(|a| other.read(|b| a.partial_cmp(b)))
    }
}

impl<T: Default + IsEmpty + Ord> Ord for Sparse<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.get().is_none() && other.get().is_none() {
            return Ordering::Equal;
        }
        self.read(|a| other.read(|b| a.cmp(b)))
    }
}

/// Equal values have equal hashes, stored or not, if no empty `T` equals a value that is not empty. The hash differs
/// from that of a `T`.
impl<T: Default + IsEmpty + Hash> Hash for Sparse<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // An empty value hashes as `None`. Otherwise, hashing the default of a type that contains a `Sparse<Self>`
        // would not end.
        self.read(|value| Some(value).filter(|value| !value.is_empty()).hash(state));
    }
}

/// Formats the value, or writes `Empty` if nothing is stored.
impl<T: fmt::Debug> fmt::Debug for Sparse<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.get() {
            Some(value) => value.fmt(f),
            None => f.write_str("Empty"),
        }
    }
}
