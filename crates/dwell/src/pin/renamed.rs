//! The names of earlier versions, so that programs that use them still compile.

use super::{ErasedInlineFuture, InlineBox, InlineFuture, LocalInlineFuture};

#[doc(hidden)]
#[deprecated = "renamed to `InlineBox`"]
pub type InPlace<T, const N: usize, L = usize> = InlineBox<T, N, L>;

#[doc(hidden)]
#[deprecated = "renamed to `InlineFuture`"]
pub type InPlaceFuture<'a, T, const N: usize, L = usize> = InlineFuture<'a, T, N, L>;

#[doc(hidden)]
#[deprecated = "renamed to `LocalInlineFuture`"]
pub type LocalInPlaceFuture<'a, T, const N: usize, L = usize> = LocalInlineFuture<'a, T, N, L>;

#[doc(hidden)]
#[deprecated = "renamed to `ErasedInlineFuture`"]
pub type FutureInPlace<T, D, const N: usize, L = usize> = ErasedInlineFuture<T, D, N, L>;
