//! Traits that boxes, vectors and strings of an arena forward to their values, and `Default` and `Debug` of arenas.

use super::{Box, Bump, String, Vec};
use crate::alloc::Allocator;
use core::borrow::{Borrow, BorrowMut};
use core::cmp::Ordering;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::iter::FusedIterator;
use core::ops::AddAssign;
use core::pin::Pin;
use core::task::{Context, Poll};

/// Trait impls that forward to the target of `Deref`. A comparison accepts arenas of different alignments and
/// allocators.
macro_rules! forward {
    ($([$($generics:tt)*] [$($others:tt)*] $Type:ty, $Other:ty => $Target:ty: $Element:ident;)*) => {$(
        impl<$($generics)*> AsRef<$Target> for $Type {
            fn as_ref(&self) -> &$Target {
                self
            }
        }

        impl<$($generics)*> Borrow<$Target> for $Type {
            fn borrow(&self) -> &$Target {
                self
            }
        }

        impl<$($generics)* $($others)*> PartialEq<$Other> for $Type
        where
            $Element: PartialEq,
        {
            fn eq(&self, other: &$Other) -> bool {
                **self == **other
            }
        }

        impl<$($generics)*> Eq for $Type where $Element: Eq {}

        impl<$($generics)* $($others)*> PartialOrd<$Other> for $Type
        where
            $Element: PartialOrd,
        {
            fn partial_cmp(&self, other: &$Other) -> Option<Ordering> {
                (**self).partial_cmp(&**other)
            }
        }

        impl<$($generics)*> Ord for $Type
        where
            $Element: Ord,
        {
            fn cmp(&self, other: &Self) -> Ordering {
                (**self).cmp(&**other)
            }
        }

        // Hashes like the target of `Borrow`, which lookups in maps require.
        impl<$($generics)*> Hash for $Type
        where
            $Element: Hash,
        {
            fn hash<H: Hasher>(&self, state: &mut H) {
                (**self).hash(state);
            }
        }

        #[cfg(feature = "serde")]
        impl<$($generics)*> serde::Serialize for $Type
        where
            $Element: serde::Serialize,
        {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                (**self).serialize(serializer)
            }
        }
    )*};
}
forward! {
    [T: ?Sized,] [] Box<'_, T>, Box<'_, T> => T: T;
    [T, const M: usize, A: Allocator,] [const N: usize, B: Allocator] Vec<'_, T, M, A>, Vec<'_, T, N, B> => [T]: T;
    [const M: usize, A: Allocator,] [const N: usize, B: Allocator] String<'_, M, A>, String<'_, N, B> => str: str;
}

impl<T: ?Sized> AsMut<T> for Box<'_, T> {
    fn as_mut(&mut self) -> &mut T {
        self
    }
}

impl<T: ?Sized> BorrowMut<T> for Box<'_, T> {
    fn borrow_mut(&mut self) -> &mut T {
        self
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> AsMut<[T]> for Vec<'_, T, MIN_ALIGN, A> {
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T, const MIN_ALIGN: usize, A: Allocator> BorrowMut<[T]> for Vec<'_, T, MIN_ALIGN, A> {
    fn borrow_mut(&mut self) -> &mut [T] {
        self
    }
}

macro_rules! compares_with_slices {
    ($([$($generics:tt)*] $Slice:ty;)*) => {$(
        impl<T: PartialEq<U>, U, const MIN_ALIGN: usize, A: Allocator, $($generics)*> PartialEq<$Slice>
            for Vec<'_, T, MIN_ALIGN, A>
        {
            fn eq(&self, other: &$Slice) -> bool {
                **self == other[..]
            }
        }
    )*};
}
compares_with_slices! {
    [] [U];
    [] &[U];
    [] &mut [U];
    [const N: usize] [U; N];
    [const N: usize] &[U; N];
    [] std_alloc::vec::Vec<U>;
}

macro_rules! compares_with_text {
    ($($Text:ty)*) => {$(
        impl<const MIN_ALIGN: usize, A: Allocator> PartialEq<$Text> for String<'_, MIN_ALIGN, A> {
            fn eq(&self, other: &$Text) -> bool {
                **self == other[..]
            }
        }

        impl<const MIN_ALIGN: usize, A: Allocator> PartialEq<String<'_, MIN_ALIGN, A>> for $Text {
            fn eq(&self, other: &String<'_, MIN_ALIGN, A>) -> bool {
                self[..] == **other
            }
        }
    )*};
}
compares_with_text!(str &str std_alloc::string::String);

impl<const MIN_ALIGN: usize, A: Allocator> AddAssign<&str> for String<'_, MIN_ALIGN, A> {
    fn add_assign(&mut self, text: &str) {
        self.push_str(text);
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Extend<char> for String<'_, MIN_ALIGN, A> {
    fn extend<I: IntoIterator<Item = char>>(&mut self, characters: I) {
        characters.into_iter().for_each(|character| self.push(character));
    }
}

impl<'t, const MIN_ALIGN: usize, A: Allocator> Extend<&'t str> for String<'_, MIN_ALIGN, A> {
    fn extend<I: IntoIterator<Item = &'t str>>(&mut self, texts: I) {
        texts.into_iter().for_each(|text| self.push_str(text));
    }
}

impl<T: ?Sized> fmt::Pointer for Box<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (&raw const **self).fmt(f)
    }
}

impl<F: Future + Unpin + ?Sized> Future for Box<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        Pin::new(&mut **self).poll(context)
    }
}

impl<I: Iterator + ?Sized> Iterator for Box<'_, I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        (**self).next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (**self).size_hint()
    }

    fn nth(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth(n)
    }
}

impl<I: DoubleEndedIterator + ?Sized> DoubleEndedIterator for Box<'_, I> {
    fn next_back(&mut self) -> Option<I::Item> {
        (**self).next_back()
    }

    fn nth_back(&mut self, n: usize) -> Option<I::Item> {
        (**self).nth_back(n)
    }
}

impl<I: ExactSizeIterator + ?Sized> ExactSizeIterator for Box<'_, I> {
    fn len(&self) -> usize {
        (**self).len()
    }
}

impl<I: FusedIterator + ?Sized> FusedIterator for Box<'_, I> {}

/// Forwards the methods for numbers, since a hasher may override them and not hash the bytes of the number.
macro_rules! forward_writes {
    ($($write:ident: $Number:ty),* $(,)?) => {$(
        fn $write(&mut self, number: $Number) {
            (**self).$write(number);
        }
    )*};
}

impl<H: Hasher + ?Sized> Hasher for Box<'_, H> {
    fn finish(&self) -> u64 {
        (**self).finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        (**self).write(bytes);
    }

    forward_writes! {
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize,
        write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_i128: i128, write_isize: isize,
    }
}

impl<const MIN_ALIGN: usize, A: Allocator + Default> Default for Bump<MIN_ALIGN, A> {
    fn default() -> Self {
        Self::new_in(A::default())
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> fmt::Debug for Bump<MIN_ALIGN, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bump").field("allocated_bytes", &self.allocated_bytes()).finish_non_exhaustive()
    }
}
