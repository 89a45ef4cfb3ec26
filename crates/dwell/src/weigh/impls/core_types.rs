//! `Weigh` for the types of `core`.

use crate::weigh::{Field, Kind, Reach, Repr, Type, Walk, Weigh, type_of};
use core::any::{Any, TypeId};
use core::cell::{Cell, LazyCell, OnceCell, RefCell, UnsafeCell};
use core::cmp::{self, Reverse};
use core::convert::Infallible;
use core::error::Error;
use core::ffi::CStr;
use core::fmt::{Debug, Display};
use core::hash::BuildHasherDefault;
use core::marker::{PhantomData, PhantomPinned};
use core::mem::{Discriminant, ManuallyDrop, MaybeUninit};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use core::num::{NonZero, Saturating, Wrapping};
use core::ops::{Bound, ControlFlow, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use core::panic::{AssertUnwindSafe, Location};
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::Poll;
use core::time::Duration;
use core::{alloc, str, sync::atomic};

/// Implements `Weigh` for numbers and the like, with the expression that compares a value to the default.
macro_rules! numbers {
    ($($ty:ty: |$value:ident| $is_default:expr;)*) => {$(
        impl Weigh for $ty {
            const REACH: Reach = Reach::Plain;
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Plain);

            #[inline]
            fn is_default(&self) -> bool {
                let $value = *self;
                $is_default
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
            }
        }
    )*};
}

numbers! {
    u8: |n| n == 0; u16: |n| n == 0; u32: |n| n == 0; u64: |n| n == 0; u128: |n| n == 0; usize: |n| n == 0;
    i8: |n| n == 0; i16: |n| n == 0; i32: |n| n == 0; i64: |n| n == 0; i128: |n| n == 0; isize: |n| n == 0;
    f32: |n| n.to_bits() == 0; f64: |n| n.to_bits() == 0; bool: |is| !is; char: |c| c == '\0';
}

plain! {
    ();
    NonZero<u8>; NonZero<u16>; NonZero<u32>; NonZero<u64>; NonZero<u128>; NonZero<usize>;
    NonZero<i8>; NonZero<i16>; NonZero<i32>; NonZero<i64>; NonZero<i128>; NonZero<isize>;
    #[cfg(target_has_atomic = "8")] atomic::AtomicBool;
    #[cfg(target_has_atomic = "8")] atomic::AtomicU8;
    #[cfg(target_has_atomic = "8")] atomic::AtomicI8;
    #[cfg(target_has_atomic = "16")] atomic::AtomicU16;
    #[cfg(target_has_atomic = "16")] atomic::AtomicI16;
    #[cfg(target_has_atomic = "32")] atomic::AtomicU32;
    #[cfg(target_has_atomic = "32")] atomic::AtomicI32;
    #[cfg(target_has_atomic = "64")] atomic::AtomicU64;
    #[cfg(target_has_atomic = "64")] atomic::AtomicI64;
    #[cfg(target_has_atomic = "ptr")] atomic::AtomicUsize;
    #[cfg(target_has_atomic = "ptr")] atomic::AtomicIsize;
    #[cfg(target_has_atomic = "ptr")] @[T] atomic::AtomicPtr<T>;
    atomic::Ordering; cmp::Ordering;
    Duration; alloc::Layout; alloc::LayoutError; TypeId; Infallible; RangeFull; PhantomPinned; Location<'_>;
    core::fmt::Error; str::Utf8Error; core::num::ParseIntError; core::num::ParseFloatError;
    IpAddr; Ipv4Addr; Ipv6Addr; SocketAddr; SocketAddrV4; SocketAddrV6;
    @[T: ?Sized] PhantomData<T>;
    @[T] Discriminant<T>;
    @[H] BuildHasherDefault<H>;
    // The value may be uninitialised, so the walk cannot read it.
    @[T] MaybeUninit<T>;
    // References and raw pointers own nothing.
    @[T: ?Sized] &T; @[T: ?Sized] &mut T; @[T: ?Sized] *const T; @[T: ?Sized] *mut T; @[T: ?Sized] NonNull<T>;
    @[T: ?Sized] Pin<&T>; @[T: ?Sized] Pin<&mut T>;
}

opaque! {
    CStr: Kind::Text { growable: false };
    dyn Any: Kind::Opaque; dyn Any + Send: Kind::Opaque; dyn Any + Send + Sync: Kind::Opaque;
    dyn Error + '_: Kind::Opaque; dyn Error + Send + '_: Kind::Opaque; dyn Error + Send + Sync + '_: Kind::Opaque;
    dyn Debug + '_: Kind::Opaque; dyn Debug + Send + '_: Kind::Opaque; dyn Debug + Send + Sync + '_: Kind::Opaque;
    dyn Display + '_: Kind::Opaque; dyn Display + Send + '_: Kind::Opaque; dyn Display + Send + Sync + '_: Kind::Opaque;
    @[T] dyn Future<Output = T> + '_: Kind::Opaque; @[T] dyn Future<Output = T> + Send + '_: Kind::Opaque;
    @[T] dyn Future<Output = T> + Send + Sync + '_: Kind::Opaque;
    @[T] dyn Iterator<Item = T> + '_: Kind::Opaque; @[T] dyn Iterator<Item = T> + Send + '_: Kind::Opaque;
    @[T] dyn Iterator<Item = T> + Send + Sync + '_: Kind::Opaque;
}

impl Weigh for str {
    const REACH: Reach = Reach::Plain;
    const TYPE: &'static Type = &Type::new_unsized::<Self>(Kind::Text { growable: false });

    #[inline]
    fn is_default(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.text(self.as_bytes());
    }
}

fields! {
    [T: Weigh] Range<T> { 0 "start": T = |range| &range.start, 1 "end": T = |range| &range.end }
    [T: Weigh] RangeInclusive<T> { 0 "start": T = |range| range.start(), 1 "end": T = |range| range.end() }
    [T: Weigh] RangeFrom<T> { 0 "start": T = |range| &range.start }
    [T: Weigh] RangeTo<T> { 0 "end": T = |range| &range.end }
    [T: Weigh] RangeToInclusive<T> { 0 "end": T = |range| &range.end }
    [T: Weigh] Reverse<T> { 0 "0": T = |value| &value.0 }
    [T: Weigh] Wrapping<T> { 0 "0": T = |value| &value.0 }
    [T: Weigh] Saturating<T> { 0 "0": T = |value| &value.0 }
    [T: Weigh] AssertUnwindSafe<T> { 0 "0": T = |value| &value.0 }
    [T: Weigh] ManuallyDrop<T> { 0 "0": T = |value| value }
}

variants! {
    [T: Weigh, E: Weigh] Result<T, E> { 0 "Ok": Ok(value) => [value: T], 1 "Err": Err(error) => [error: E] }
    [T: Weigh] Bound<T> {
        0 "Included": Bound::Included(value) => [value: T],
        1 "Excluded": Bound::Excluded(value) => [value: T],
        2 "Unbounded": Bound::Unbounded => [],
    }
    [B: Weigh, C: Weigh] ControlFlow<B, C> {
        0 "Continue": ControlFlow::Continue(value) => [value: C],
        1 "Break": ControlFlow::Break(value) => [value: B],
    }
    [T: Weigh] Poll<T> { 0 "Ready": Poll::Ready(value) => [value: T], 1 "Pending": Poll::Pending => [] }
}

impl<T: Weigh> Weigh for Option<T> {
    const REACH: Reach = T::REACH.max(Reach::of_parts(size_of::<Self>()));
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Optional { some: type_of::<T> });
    const PREFETCHES: bool = T::PREFETCHES;

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_none()
    }

    #[inline]
    fn prefetch(value: Option<&Self>) {
        T::prefetch(value.and_then(Self::as_ref));
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if let Some(value) = self {
            walk.field(0, value);
        }
    }
}

impl<T: Weigh> Weigh for OnceCell<T> {
    const REACH: Reach = T::REACH.max(Reach::Inline);
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Optional { some: type_of::<T> });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.get().is_none()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if let Some(value) = self.get() {
            walk.field(0, value);
        }
    }
}

impl<T: Weigh + ?Sized> Weigh for RefCell<T>
where
    Self: Sized,
{
    const REACH: Reach = T::REACH;
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<T> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if const { T::REACH.is_skipped(TREE) } {
            return;
        }
        match self.try_borrow() {
            Ok(value) => walk.guarded::<T>(&value),
            Err(_) => walk.opaque(),
        }
    }
}

/// Implements `Weigh` for cells whose value cannot be borrowed. They are opaque if the value may own memory.
macro_rules! closed {
    ($([$($generics:tt)*] $ty:ty: $inner:ty;)*) => {$(
        impl<$($generics)*> Weigh for $ty {
            const REACH: Reach = <$inner>::REACH;
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<$inner> });

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if matches!(<$inner>::REACH, Reach::Heap) {
                    walk.opaque();
                }
            }
        }
    )*};
}

closed! {
    [T: Weigh] Cell<T>: T;
    [T: Weigh] UnsafeCell<T>: T;
}

impl<T: Weigh, F> Weigh for LazyCell<T, F> {
    const REACH: Reach = T::REACH;
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<T> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        // An access would initialise the value.
        if matches!(T::REACH, Reach::Heap) {
            walk.opaque();
        }
    }
}

/// Returns the values that may differ: of zero-size values, which are all alike, at most one. There may be `usize::MAX`.
fn distinct<T>(values: &[T]) -> &[T] {
    if size_of::<T>() == 0 { &values[..values.len().min(1)] } else { values }
}

impl<T: Weigh, const N: usize> Weigh for [T; N] {
    const REACH: Reach = if N == 0 { Reach::Plain } else { T::REACH };
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Array { element: type_of::<T>, len: N });
    const VACANT_MAPS: u64 = T::VACANT_MAPS.saturating_mul(N as u64);

    #[inline]
    fn is_vacant(&self) -> bool {
        distinct(self).iter().all(Weigh::is_vacant)
    }

    #[inline]
    fn is_default(&self) -> bool {
        distinct(self).iter().all(Weigh::is_default)
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.inline(0, self);
    }
}

impl<T: Weigh> Weigh for [T] {
    const REACH: Reach = T::REACH;
    const TYPE: &'static Type =
        &Type::new_unsized::<Self>(Kind::Sequence { element: type_of::<T>, growable: false, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.slots::<T>(0, self.len(), self.len());
        walk.elements(0, self);
    }
}

macro_rules! tuples {
    ($(($($index:tt $name:ident)*))*) => {$(
        impl<$($name: Weigh),*> Weigh for ($($name,)*) {
            const REACH: Reach = Reach::Plain $(.max($name::REACH))*;
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Struct {
                fields: &[$(Field::new::<$name>(stringify!($index), Some(core::mem::offset_of!(Self, $index)))),*],
                repr: Repr::Rust,
            });
            const VACANT_MAPS: u64 = 0_u64 $(.saturating_add($name::VACANT_MAPS))*;

            #[inline]
            fn is_vacant(&self) -> bool {
                true $(&& self.$index.is_vacant())*
            }

            #[inline]
            fn is_default(&self) -> bool {
                true $(&& self.$index.is_default())*
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                $(walk.field($index, &self.$index);)*
            }
        }
    )*};
}

tuples! {
    (0 A)
    (0 A 1 B)
    (0 A 1 B 2 C)
    (0 A 1 B 2 C 3 D)
    (0 A 1 B 2 C 3 D 4 E)
    (0 A 1 B 2 C 3 D 4 E 5 F)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H 8 I)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H 8 I 9 J)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H 8 I 9 J 10 K)
    (0 A 1 B 2 C 3 D 4 E 5 F 6 G 7 H 8 I 9 J 10 K 11 L)
}
