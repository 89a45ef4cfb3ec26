//! `Weigh` for types that are not ours to derive it for.

/// Types of which all values are the same to a walk.
macro_rules! plain {
    ($($(#[$meta:meta])* $([$($generics:tt)*])? $ty:ty;)*) => {$(
        $(#[$meta])*
        impl $(<$($generics)*>)? $crate::weigh::Weigh for $ty {
            const REACH: $crate::weigh::Reach = $crate::weigh::Reach::Plain;
            const TYPE: &'static $crate::weigh::Type = &$crate::weigh::Type::new::<Self>($crate::weigh::Kind::Plain);

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, _: &mut $crate::weigh::Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
            }
        }
    )*};
}

mod alloc;
mod core;
