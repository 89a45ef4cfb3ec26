//! semver: identifiers of up to eight bytes are stored inline, longer ones in a block.

use crate::weigh::{Kind, Type, Walk, Weigh};
use ::semver::{BuildMetadata, Comparator, Op, Prerelease, Version, VersionReq};
use std_alloc::vec::Vec;

plain! {
    Op;
}

/// The most bytes of an inline identifier.
const INLINE: usize = 8;

/// Returns the size of a longer identifier's block: the length with seven bits a byte, then the text; aligned to 2.
const fn block_size(len: usize) -> usize {
    (usize::BITS - len.leading_zeros()).div_ceil(7) as usize + len
}

macro_rules! identifiers {
    ($($ty:ident)*) => {$(
        impl Weigh for $ty {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

            #[inline]
            fn is_vacant(&self) -> bool {
                self.is_empty()
            }

            #[inline]
            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                if self.len() > INLINE {
                    walk.block(block_size(self.len()), 2, 0);
                    walk.text(self.as_bytes());
                }
            }
        }
    )*};
}
identifiers!(Prerelease BuildMetadata);

fields! {
    [] Version {
        0 "major": u64 = |version| &version.major,
        1 "minor": u64 = |version| &version.minor,
        2 "patch": u64 = |version| &version.patch,
        3 "pre": Prerelease = |version| &version.pre,
        4 "build": BuildMetadata = |version| &version.build,
    }
    [] Comparator {
        0 "op": Op = |comparator| &comparator.op,
        1 "major": u64 = |comparator| &comparator.major,
        2 "minor": Option<u64> = |comparator| &comparator.minor,
        3 "patch": Option<u64> = |comparator| &comparator.patch,
        4 "pre": Prerelease = |comparator| &comparator.pre,
    }
    [] VersionReq {
        0 "comparators": Vec<Comparator> = |requirement| &requirement.comparators,
    }
}
