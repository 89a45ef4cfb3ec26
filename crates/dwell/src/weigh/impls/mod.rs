//! Implementations of `Weigh` for types of other crates.

/// Implements `Weigh` for types that own no memory and have no optional parts.
macro_rules! plain {
    ($($(#[$meta:meta])* $(@[$($generics:tt)*])? $ty:ty;)*) => {$(
        $(#[$meta])*
        impl $(<$($generics)*>)? $crate::weigh::Weigh for $ty {
            const REACH: $crate::weigh::Reach = $crate::weigh::Reach::Plain;
            const TYPE: &'static $crate::weigh::Type = &$crate::weigh::Type::new::<Self>($crate::weigh::Kind::Plain);

            #[inline]
            fn is_vacant(&self) -> bool {
                size_of::<Self>() == 0
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut $crate::weigh::Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
            }
        }
    )*};
}

/// Implements `Weigh` for unsized types without known parts.
macro_rules! opaque {
    ($($(#[$meta:meta])* $(@[$($generics:tt)*])? $ty:ty: $kind:expr;)*) => {$(
        $(#[$meta])*
        impl $(<$($generics)*>)? $crate::weigh::Weigh for $ty {
            const REACH: $crate::weigh::Reach = $crate::weigh::Reach::Plain;
            const TYPE: &'static $crate::weigh::Type = &$crate::weigh::Type::new_unsized::<Self>($kind);

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut $crate::weigh::Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
            }
        }
    )*};
}

/// Implements `Weigh` for structs with public fields, or with methods that return their parts.
macro_rules! fields {
    ($($(#[$meta:meta])* [$($generics:tt)*] $ty:ty { $($index:literal $name:literal: $part:ty = |$value:ident| $get:expr),* $(,)? })*) => {$(
        $(#[$meta])*
        impl<$($generics)*> $crate::weigh::Weigh for $ty {
            const REACH: $crate::weigh::Reach =
                $crate::weigh::Reach::Plain $(.max(<$part as $crate::weigh::Weigh>::REACH))*;
            const TYPE: &'static $crate::weigh::Type = &$crate::weigh::Type::new::<Self>($crate::weigh::Kind::Struct {
                fields: &[$($crate::weigh::Field::new::<$part>($name, None)),*],
                repr: $crate::weigh::Repr::Rust,
            });
            const VACANT_MAPS: u64 = 0_u64 $(.saturating_add(<$part as $crate::weigh::Weigh>::VACANT_MAPS))*;

            #[inline]
            fn is_vacant(&self) -> bool {
                true $(&& {
                    let $value = self;
                    <$part as $crate::weigh::Weigh>::is_vacant($get)
                })*
            }

            #[inline]
            fn is_default(&self) -> bool {
                true $(&& {
                    let $value = self;
                    <$part as $crate::weigh::Weigh>::is_default($get)
                })*
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut $crate::weigh::Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                $({
                    let $value = self;
                    walk.field::<$part>($index, $get);
                })*
            }
        }
    )*};
}

/// Implements `Weigh` for enums with public variants.
macro_rules! variants {
    ($($(#[$meta:meta])* [$($generics:tt)*] $ty:ty {
        $($index:literal $name:literal: $pattern:pat => [$($field:ident: $part:ty),*]),* $(,)?
    })*) => {$(
        $(#[$meta])*
        impl<$($generics)*> $crate::weigh::Weigh for $ty {
            const REACH: $crate::weigh::Reach =
                $crate::weigh::Reach::of_parts(size_of::<Self>()) $($(.max(<$part as $crate::weigh::Weigh>::REACH))*)*;
            const TYPE: &'static $crate::weigh::Type = &$crate::weigh::Type::new::<Self>($crate::weigh::Kind::Enum {
                variants: &[$($crate::weigh::Variant::new(
                    $name,
                    &[$($crate::weigh::Field::new::<$part>("0", None)),*],
                )),*],
            });

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut $crate::weigh::Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                match self {
                    $($pattern => walk.variant($index, |walk| {
                        let _ = &walk;
                        $(walk.field::<$part>(0, $field);)*
                    }),)*
                }
            }
        }
    )*};
}

mod alloc;
mod btree;
#[cfg(feature = "bump")]
mod bump;
mod core_types;
mod foreign;
mod functions;
mod hash;
#[cfg(feature = "pin")]
mod pin;
#[cfg(feature = "slab")]
mod slab;
#[cfg(feature = "slab")]
mod slab_map;
#[cfg(feature = "small")]
mod small;
#[cfg(feature = "sparse")]
mod sorted_set;
#[cfg(feature = "sparse")]
mod sparse;
#[cfg(feature = "std")]
mod std;
#[cfg(feature = "std")]
mod std_io;

/// Returns size and alignment of a struct of std with these fields, which the compiler orders without padding.
///
/// A struct of this crate with the same fields could not stand in for it, since compiler flags may lay it out
/// differently.
const fn side_by_side(fields: &[::core::alloc::Layout]) -> (usize, usize) {
    let (mut size, mut align, mut at) = (0, 1, 0);
    while at < fields.len() {
        size += fields[at].size();
        if fields[at].align() > align {
            align = fields[at].align();
        }
        at += 1;
    }
    (size.next_multiple_of(align), align)
}
