//! The traits that define when a value is empty and that provide a default to borrow.

use crate::alloc::{AllocError, try_box};
use core::any::TypeId;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};
use std_alloc::borrow::{Cow, ToOwned};
use std_alloc::boxed::Box;
use std_alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use std_alloc::rc::Rc;
use std_alloc::string::String;
use std_alloc::sync::Arc;
use std_alloc::vec::Vec;

use super::{SortedMap, SortedSet, Sparse, ThinSlice, ThinStr};
#[cfg(feature = "std")]
use core::hash::BuildHasherDefault;

/// A type that can tell whether a value equals the default.
///
/// An empty value must not differ from `Default::default()` in any way that a program can observe: [`Sparse`] drops it
/// and later reads, hashes, compares and serialises the default instead. `-0.0` is therefore not empty.
///
/// A collection of std is empty if its `is_empty` returns `true`. Its capacity, the state of its hasher, and the
/// identity of an `Rc` are ignored.
///
/// `#[derive(Sparse)]` (feature `derive`) implements it field by field. By hand:
///
/// ```
/// use dwell::sparse::IsEmpty;
///
/// #[derive(Default)]
/// struct Span { from: u32, to: u32 }
///
/// impl IsEmpty for Span {
///     fn is_empty(&self) -> bool {
///         self.from == 0 && self.to == 0
///     }
/// }
/// ```
///
/// A wrong implementation loses values. It cannot cause undefined behaviour.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not implement `IsEmpty`",
    label = "needs `IsEmpty`",
    note = "derive it with `#[derive(Sparse)]`, implement `dwell::sparse::IsEmpty` by hand, or mark the field \
            `#[sparse(eq)]` to compare it with its default"
)]
pub trait IsEmpty {
    /// Returns whether `self` equals its type's default.
    fn is_empty(&self) -> bool;

    /// Returns whether `self` is empty, provided that a value of the same type with empty parts is known to be.
    ///
    /// The derive tests the default of a type by this function, after it has tested the parts of another value. Then it
    /// need not test the defaults of their types again, which would take exponential time in nested types.
    #[doc(hidden)]
    #[inline]
    fn has_empty_parts(&self) -> bool {
        self.is_empty()
    }
}

/// A type with a static default, which an empty [`Sparse`] dereferences to.
///
/// `#[derive(Sparse)]` (feature `derive`) implements it. By hand, with a [`DefaultCell`]:
///
/// ```
/// use dwell::sparse::{DefaultCell, DefaultRef, IsEmpty, Sparse};
///
/// #[derive(Default)]
/// struct Span { from: u32, to: u32 }
///
/// impl DefaultRef for Span {
///     fn default_ref<'a>() -> &'a Self {
///         static DEFAULT: DefaultCell<Span> = DefaultCell::new();
///         DEFAULT.get()
///     }
/// }
///
/// assert_eq!(Sparse::<Span>::empty().to, 0);
/// ```
///
/// A type that is not `Sync` has no static default, and its `Sparse` has no `Deref`. [`Sparse::get`] works for all
/// types.
///
/// # Interior mutability
///
/// All empty values of a type lend the same default. If `Self` can be written through `&Self` (it has an atomic, a
/// `Mutex`, a `OnceLock`), a write through one empty `Sparse` changes what all others read:
///
/// ```
/// # use dwell::sparse::{DefaultCell, DefaultRef, Sparse};
/// # use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// #[derive(Default)]
/// struct Counter(AtomicU32);
///
/// impl DefaultRef for Counter { // do not
///     fn default_ref<'a>() -> &'a Self {
///         static DEFAULT: DefaultCell<Counter> = DefaultCell::new();
///         DEFAULT.get()
///     }
/// }
///
/// Sparse::<Counter>::empty().0.fetch_add(1, Relaxed);
/// assert_eq!(Sparse::<Counter>::empty().0.load(Relaxed), 1); // another `Sparse`
/// ```
///
/// This is sound but never intended. `#[derive(Sparse)]` refuses fields with interior mutability. It cannot refuse them
/// behind a pointer (`Box<AtomicU32>`, `Arc<Mutex<_>>`) or in a field whose type names a type parameter, and no check
/// covers an implementation by hand. Do not implement `DefaultRef` for these types; read with [`Sparse::get`].
#[diagnostic::on_unimplemented(
    message = "`Sparse<{Self}>` cannot be dereferenced, because `{Self}` has no static default",
    label = "needs `DefaultRef`",
    note = "derive it with `#[derive(Sparse)]` or implement `dwell::sparse::DefaultRef` by hand; `Sparse::get` works \
            without"
)]
pub trait DefaultRef {
    /// Returns the type's default.
    fn default_ref<'a>() -> &'a Self
    where
        Self: 'a;
}

/// A type whose default is a constant, so that a read of an empty [`Sparse`] needs no lazy initialisation.
///
/// `#[derive(Sparse)]` with `#[sparse(const)]` implements it for a struct if all of its fields implement it. The
/// primitive types, `String` and the collections of std implement it, except boxes and collections that hash with
/// `RandomState`.
#[diagnostic::on_unimplemented(
    message = "the default of `{Self}` is not a constant",
    label = "needs `ConstDefault`",
    note = "remove `#[sparse(const)]` and derive `Default`: the default is then created when it is first read"
)]
pub trait ConstDefault: Default {
    /// The value that `Default::default` returns.
    const DEFAULT: Self;
}

/// A lazily created default for a `static`.
///
/// The first [`get`](Self::get) creates the default and leaks it: one value for each type. Threads that race create one
/// each, and all but one are dropped. No thread waits.
pub struct DefaultCell<T> {
    // # Invariants
    //
    // 1. `value` is null, or points to a valid `T` in a leaked box. It is written once, from null, with release
    //    ordering; the `T` is shared from then on and never freed.
    value: AtomicPtr<T>,
}

impl<T> DefaultCell<T> {
    /// Creates a cell without a default. The first `get` creates the default.
    pub const fn new() -> Self {
        Self { value: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Returns the default, which the first call creates.
    ///
    /// # Panics
    ///
    /// Panics only if `T::default` panics; the next call tries again. Aborts if the allocation of the default fails;
    /// [`try_get`](Self::try_get) returns an error instead.
    #[inline]
    pub fn get(&'static self) -> &'static T
    where
        T: Default + Send + Sync,
    {
        let value = self.value.load(Ordering::Acquire);
        if value.is_null() {
            return self.init();
        }
        // SAFETY: `value` is not null, so it points to a valid, leaked `T` (invariant 1). The acquire load makes the
        // writes of the thread that created it visible here. That may be another thread, so `T` must be `Sync`.
        unsafe { &*value }
    }

    /// Like [`get`](Self::get), but returns an error if the allocation fails. `T::default` itself may still abort.
    ///
    /// # Errors
    ///
    /// If there is no default yet and the allocation of a box for it fails. The error contains the default, and the
    /// next call tries again.
    pub fn try_get(&'static self) -> Result<&'static T, AllocError<T>>
    where
        T: Default + Send + Sync,
    {
        if self.value.load(Ordering::Acquire).is_null() {
            return Ok(self.set(try_box(T::default())?));
        }
        Ok(self.get())
    }

    #[cold]
    fn init(&'static self) -> &'static T
    where
        T: Default + Send + Sync,
    {
        self.set(Box::default())
    }

    /// Publishes `made`, unless another thread has published a default, and returns the published one.
    fn set(&'static self, made: Box<T>) -> &'static T
    where
        T: Send + Sync,
    {
        let made = Box::into_raw(made);
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        let published = match self.value.compare_exchange(ptr::null_mut(), made, success, failure) {
            Ok(_) => made,
            Err(first) => {
                // SAFETY: `made` came from `Box::into_raw` in this call, and the exchange failed, so nothing else has
                // the pointer.
                drop(unsafe { Box::from_raw(made) });
                first
            }
        };
        // SAFETY: `published` is not null: it is `made`, or what the exchange found instead of null. So it points to a
        // valid, leaked `T` (invariant 1). Either this thread has written it, or the acquire ordering of the exchange
        // makes the writes of the thread that created it visible here.
        unsafe { &*published }
    }
}

impl<T> Default for DefaultCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> core::fmt::Debug for DefaultCell<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("DefaultCell").finish_non_exhaustive()
    }
}

/// A [`DefaultCell`] for all instances of one generic type, because they share each `static` of a generic function.
///
/// It is a linked list with a node for each instance that was read. A program has few instances of a generic type.
#[doc(hidden)]
#[derive(Debug)]
pub struct GenericDefaultCell {
    // # Invariants
    //
    // 1. `head` and each `Node::next` are null or point to a valid `Node` in a leaked box. A node is written before it
    //    is published in `head` with release ordering, and never afterwards; it is never freed.
    // 2. `Node::value` points to a valid value of the type `Node::id` in a leaked box, shared from then on and never
    //    freed. That type is `Sync` and `'static`.
    head: AtomicPtr<Node>,
}

#[derive(Debug)]
struct Node {
    id: TypeId,
    value: *const (),
    next: *const Node,
}

impl GenericDefaultCell {
    pub const fn new() -> Self {
        Self { head: AtomicPtr::new(ptr::null_mut()) }
    }

    pub fn get<T: Default + Send + Sync + 'static>(&'static self) -> &'static T {
        let head = self.head.load(Ordering::Acquire);
        Self::find(head).unwrap_or_else(|| self.init(head))
    }

    fn find<T: 'static>(mut node: *const Node) -> Option<&'static T> {
        // SAFETY: `node` is null or points to a valid, leaked node (invariant 1). `head` was loaded with acquire
        // ordering, which makes the writes of all nodes that were published before visible, and a node's `next` was
        // published before it.
        while let Some(Node { id, value, next }) = unsafe { node.as_ref() } {
            if *id == TypeId::of::<T>() {
                // SAFETY: `T` has the id of the value's type and both are `'static`, so it is the same type: `value`
                // points to a valid, leaked `T` that threads may share (invariant 2).
                return Some(unsafe { &*value.cast::<T>() });
            }
            node = *next;
        }
        None
    }

    #[cold]
    fn init<T: Default + Send + Sync + 'static>(&'static self, seen: *mut Node) -> &'static T {
        let value: &'static T = Box::leak(Box::default());
        let node = Box::leak(Box::new(Node { id: TypeId::of::<T>(), value: ptr::from_ref(value).cast(), next: seen }));
        // Two threads may both add a node for `T`, which is harmless: each returns a reference to a valid default.
        while let Err(newer) =
            self.head.compare_exchange_weak(node.next.cast_mut(), node, Ordering::Release, Ordering::Acquire)
        {
            node.next = newer;
        }
        value
    }
}

impl Default for GenericDefaultCell {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns a value of any type, for constants that are type-checked and never evaluated.
#[doc(hidden)]
pub const fn any_value<T>() -> T {
    panic!("`any_value` is only type-checked")
}

/// A cache for whether all fields of a type's own `Default` are empty.
///
/// A hand-written `Default` may have fields that are not empty (`retries: 3`). A value of empty fields then differs
/// from the default and must be stored.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct DefaultIsEmpty(AtomicU8);

impl DefaultIsEmpty {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;

    pub const fn new() -> Self {
        Self(AtomicU8::new(Self::UNKNOWN))
    }

    #[inline]
    pub fn get(&self, find_out: impl FnOnce() -> bool) -> bool {
        // Relaxed: every thread computes the same answer, and the answer guards no other memory.
        match self.0.load(Ordering::Relaxed) {
            Self::UNKNOWN => {
                let answer = find_out();
                self.0.store(if answer { Self::YES } else { Self::NO }, Ordering::Relaxed);
                answer
            }
            answer => answer == Self::YES,
        }
    }
}

/// Implements the traits for types whose default is a constant. `default_ref` returns a reference to read-only memory.
macro_rules! const_default {
    ($({$($generics:tt)*} $type:ty = $default:expr;)*) => {$(
        impl<$($generics)*> ConstDefault for $type {
            const DEFAULT: Self = $default;
        }

        impl<$($generics)*> DefaultRef for $type {
            #[inline]
            fn default_ref<'a>() -> &'a Self
            where
                Self: 'a,
            {
                // Not `&Self::DEFAULT`: the compiler does not know that an associated constant of a generic type has no
                // interior mutability.
                const { &$default }
            }
        }
    )*};
}

const_default! {
    {} () = ();
    {} bool = false;
    {} char = '\0';
    {} f32 = 0.0;
    {} f64 = 0.0;
    {} &str = "";
    {} String = String::new();
    {T} Option<T> = None;
    {T} Vec<T> = Vec::new();
    {T} VecDeque<T> = VecDeque::new();
    {T} LinkedList<T> = LinkedList::new();
    {T: Ord} BinaryHeap<T> = BinaryHeap::new();
    {T} BTreeSet<T> = BTreeSet::new();
    {K, V} BTreeMap<K, V> = BTreeMap::new();
    {T} ThinSlice<T> = ThinSlice::empty();
    {} ThinStr = ThinStr::empty();
    {K, V} SortedMap<K, V> = SortedMap::new();
    {T} SortedSet<T> = SortedSet::new();
    {} core::time::Duration = core::time::Duration::ZERO;
}

impl<T> ConstDefault for Sparse<T> {
    const DEFAULT: Self = Self::empty();
}

impl<T: ?Sized> ConstDefault for PhantomData<T> {
    const DEFAULT: Self = Self;
}

#[cfg(feature = "std")]
impl<K, V, H: Default> ConstDefault for std::collections::HashMap<K, V, BuildHasherDefault<H>> {
    const DEFAULT: Self = Self::with_hasher(BuildHasherDefault::new());
}

#[cfg(feature = "std")]
impl<T, H: Default> ConstDefault for std::collections::HashSet<T, BuildHasherDefault<H>> {
    const DEFAULT: Self = Self::with_hasher(BuildHasherDefault::new());
}

#[cfg(feature = "std")]
impl<K, V, S> DefaultRef for std::collections::HashMap<K, V, S>
where
    Self: Default + Send + Sync + 'static,
{
    fn default_ref<'a>() -> &'a Self {
        static DEFAULTS: GenericDefaultCell = GenericDefaultCell::new();
        DEFAULTS.get()
    }
}

#[cfg(feature = "std")]
impl<T, S> DefaultRef for std::collections::HashSet<T, S>
where
    Self: Default + Send + Sync + 'static,
{
    fn default_ref<'a>() -> &'a Self {
        static DEFAULTS: GenericDefaultCell = GenericDefaultCell::new();
        DEFAULTS.get()
    }
}

macro_rules! is_empty {
    ($({$($generics:tt)*} $type:ty: $self:ident => $empty:expr;)*) => {$(
        impl<$($generics)*> IsEmpty for $type {
            #[inline]
            fn is_empty(&$self) -> bool {
                $empty
            }
        }
    )*};
}

is_empty! {
    {} (): self => true;
    {} bool: self => !*self;
    {} char: self => *self == '\0';
    {} f32: self => self.to_bits() == 0;
    {} f64: self => self.to_bits() == 0;
    {} str: self => self.is_empty();
    {} String: self => self.is_empty();
    {T} [T]: self => self.is_empty();
    {T} Option<T>: self => self.is_none();
    {T} Vec<T>: self => self.is_empty();
    {T} VecDeque<T>: self => self.is_empty();
    {T} LinkedList<T>: self => self.is_empty();
    {T} BinaryHeap<T>: self => self.is_empty();
    {T} BTreeSet<T>: self => self.is_empty();
    {K, V} BTreeMap<K, V>: self => self.is_empty();
    {T: ?Sized} PhantomData<T>: self => true;
    {T: IsEmpty} Sparse<T>: self => self.is_empty();
    {} core::time::Duration: self => self.is_zero();
}

#[cfg(feature = "std")]
is_empty! {
    {T, S} std::collections::HashSet<T, S>: self => self.is_empty();
    {K, V, S} std::collections::HashMap<K, V, S>: self => self.is_empty();
    {} std::ffi::OsString: self => self.as_os_str().is_empty();
    {} std::path::PathBuf: self => self.as_os_str().is_empty();
}

pub(super) use {const_default, is_empty};

impl<T: IsEmpty, const N: usize> IsEmpty for [T; N] {
    #[inline]
    fn is_empty(&self) -> bool {
        self.iter().all(T::is_empty)
    }

    #[inline]
    fn has_empty_parts(&self) -> bool {
        self.iter().all(T::has_empty_parts)
    }
}

/// Implements `IsEmpty` for values that are empty if each of their parts is.
macro_rules! parts {
    ($({$($generics:tt)*} $type:ty: $self:ident => $($part:expr),+;)*) => {$(
        impl<$($generics)*> IsEmpty for $type {
            #[inline]
            fn is_empty(&$self) -> bool {
                $(IsEmpty::is_empty($part))&&+
            }

            #[inline]
            fn has_empty_parts(&$self) -> bool {
                $(part_has_empty_parts($part))&&+
            }
        }
    )*};
}

/// Returns whether a part has empty parts. The known value may have a trait object of another type, so a trait object is
/// tested in full.
#[inline]
fn part_has_empty_parts<T: IsEmpty + ?Sized>(part: &T) -> bool {
    if size_of::<&T>() == size_of::<usize>() { part.has_empty_parts() } else { part.is_empty() }
}

parts! {
    {T: IsEmpty + ?Sized} Box<T>: self => &**self;
    {T: IsEmpty + ?Sized} Rc<T>: self => &**self;
    {T: IsEmpty + ?Sized} Arc<T>: self => &**self;
    {T: IsEmpty + ToOwned + ?Sized} Cow<'_, T>: self => &**self;
    {T: IsEmpty + ?Sized} &T: self => &**self;
    {T: IsEmpty} core::num::Wrapping<T>: self => &self.0;
}

macro_rules! integers {
    ($($type:ty)*) => {
        is_empty! { $({} $type: self => *self == 0;)* }
        const_default! { $({} $type = 0;)* }
    };
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! tuples {
    ($(($($name:ident $index:tt),+))*) => {
        parts! { $({$($name: IsEmpty),+} ($($name,)+): self => $(&self.$index),+;)* }
    };
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
