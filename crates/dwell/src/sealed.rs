//! Implements the sealed supertrait of [`Allocator`] for arenas. This is a separate module so that
//! [`alloc`](crate::alloc) does not depend on [`bump`](crate::bump).

use crate::alloc::Allocator;
use crate::alloc::sealed::Sealed;
use crate::bump::{Bump, First};

impl<const MIN_ALIGN: usize, A: Allocator> Sealed for Bump<MIN_ALIGN, A> {}
impl<A: Allocator> Sealed for First<'_, A> {}
