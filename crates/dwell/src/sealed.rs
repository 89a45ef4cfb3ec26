//! The arenas among the implementors of the sealed [`Allocator`]. They are listed here so that [`alloc`](crate::alloc) does not
//! depend on [`bump`](crate::bump).

use crate::alloc::Allocator;
use crate::alloc::sealed::Sealed;
use crate::bump::{Bump, First};

impl<const MIN_ALIGN: usize, A: Allocator> Sealed for &Bump<MIN_ALIGN, A> {}
impl<A: Allocator> Sealed for First<'_, A> {}
