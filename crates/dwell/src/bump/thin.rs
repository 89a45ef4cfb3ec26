//! A header and a slice behind one word.

use super::Bump;
use crate::alloc::{AllocError, Allocator};
use core::alloc::Layout;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::{self, NonNull};
use core::{slice, str};
use std_alloc::alloc::handle_alloc_error;

/// A shared reference of one word to a header and a slice or string.
///
/// ```
/// use dwell::{Bump, bump::Thin};
///
/// /// A node of a syntax tree: 16 bytes for any name and any number of children.
/// #[derive(Clone, Copy)]
/// struct Node<'a> {
///     name: Thin<'a, (), str>,
///     children: Option<Thin<'a, u32, [Node<'a>]>>, // with its line
/// }
///
/// let bump = Bump::new();
/// let x = Node { name: bump.alloc_thin_str((), "x"), children: None };
/// let f = Node { name: bump.alloc_thin_str((), "f"), children: Some(bump.alloc_thin(7, &[x, x])) };
/// let children = f.children.unwrap();
/// assert_eq!((&*f.name, children.len(), *children.header()), ("f", 2, 7));
/// assert_eq!(size_of::<Node<'_>>(), 16);
/// ```
///
/// Neither the header nor the elements are dropped.
pub struct Thin<'a, H, T: ?Sized> {
    // # Invariants
    //
    // 1. `head` points to an initialised `Head<H>`. Its `len` initialised elements (for `str`: UTF-8) lie
    //    `Head::<H>::offset(align)` bytes behind it, where `align` is their alignment. All of it is valid for reads for
    //    `'a`, and nothing changes it except interior mutability of `H`.
    head: NonNull<Head<H>>,
    // Behaves as a shared reference to both.
    refers: PhantomData<(&'a H, &'a T)>,
}

/// The length and the header, which lie before the elements.
struct Head<H> {
    len: usize,
    header: H,
}

impl<H> Head<H> {
    /// Returns the offset of elements of this alignment from the head.
    const fn offset(align: usize) -> usize {
        size_of::<Self>().next_multiple_of(align)
    }

    /// Returns the layout of a head followed by elements of this layout.
    fn layout(elements: Layout) -> Option<Layout> {
        let (whole, offset) = Layout::new::<Self>().extend(elements).ok()?;
        debug_assert_eq!(offset, Self::offset(elements.align()));
        Some(whole)
    }
}

impl<H, T: ?Sized> Clone for Thin<'_, H, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H, T: ?Sized> Copy for Thin<'_, H, T> {}

// SAFETY: a `Thin` gives the access of a `&(H, T)`, which is `Send` if `H` and `T` are `Sync`.
unsafe impl<H: Sync, T: ?Sized + Sync> Send for Thin<'_, H, T> {}
// SAFETY: sharing a `Thin` shares the header and the elements by reference, which `Sync` allows.
unsafe impl<H: Sync, T: ?Sized + Sync> Sync for Thin<'_, H, T> {}

impl<'a, H, T: ?Sized> Thin<'a, H, T> {
    /// Returns the header.
    #[inline]
    pub fn header(self) -> &'a H {
        // SAFETY: `head` points to an initialised `Head<H>`, which is valid for shared reads for `'a` (invariant 1).
        unsafe { &(*self.head.as_ptr()).header }
    }

    #[inline]
    fn len(self) -> usize {
        // SAFETY: `head` points to an initialised `Head<H>`, which is valid for shared reads for `'a` (invariant 1).
        unsafe { (*self.head.as_ptr()).len }
    }
}

impl<'a, H, T> Thin<'a, H, [T]> {
    /// Returns the slice, for as long as the arena is borrowed.
    #[inline]
    pub fn slice(self) -> &'a [T] {
        // SAFETY: the elements lie `offset` bytes behind `head`, in the same block (invariant 1).
        let first = unsafe { self.head.cast::<u8>().add(Head::<H>::offset(align_of::<T>())) };
        // SAFETY: `len` initialised elements begin at `first`, and nothing changes them for `'a` (invariant 1).
        unsafe { slice::from_raw_parts(first.cast().as_ptr(), self.len()) }
    }
}

impl<'a, H> Thin<'a, H, str> {
    /// Returns the text, for as long as the arena is borrowed.
    #[inline]
    pub fn text(self) -> &'a str {
        let bytes = Thin::<H, [u8]> { head: self.head, refers: PhantomData }.slice();
        // SAFETY: the elements of a `Thin` of a `str` are UTF-8 (invariant 1).
        unsafe { str::from_utf8_unchecked(bytes) }
    }
}

impl<H, T> Deref for Thin<'_, H, [T]> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.slice()
    }
}

impl<H> Deref for Thin<'_, H, str> {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.text()
    }
}

impl<H: fmt::Debug, T: ?Sized + fmt::Debug> fmt::Debug for Thin<'_, H, T>
where
    Self: Deref<Target = T>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Thin").field(self.header()).field(&&**self).finish()
    }
}

impl<const MIN_ALIGN: usize, A: Allocator> Bump<MIN_ALIGN, A> {
    /// Allocates a header and a copy of a slice.
    #[inline]
    pub fn alloc_thin<H, T: Copy>(&self, header: H, values: &[T]) -> Thin<'_, H, [T]> {
        self.try_alloc_thin(header, values).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`alloc_thin`](Self::alloc_thin) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the header is returned in the error.
    #[inline]
    pub fn try_alloc_thin<H, T: Copy>(&self, header: H, values: &[T]) -> Result<Thin<'_, H, [T]>, AllocError<H>> {
        let elements = Layout::for_value(values);
        let Some(layout) = Head::<H>::layout(elements) else { return Err(AllocError::new(header, elements)) };
        let Some(block) = self.take_or_refill(layout) else { return Err(AllocError::new(header, layout)) };
        let head = block.cast::<Head<H>>();
        // SAFETY: the block has the layout of a head and the elements, so it begins with memory for a head.
        unsafe { head.write(Head { len: values.len(), header }) };
        // SAFETY: by the same layout the elements begin at this offset in the block.
        let first = unsafe { block.add(Head::<H>::offset(align_of::<T>())) };
        // SAFETY: the block has capacity for the elements from `first` on. It is new, so it does not overlap `values`.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), first.cast().as_ptr(), values.len()) };
        Ok(Thin { head, refers: PhantomData })
    }

    /// Allocates a header and a copy of a string.
    #[inline]
    pub fn alloc_thin_str<H>(&self, header: H, text: &str) -> Thin<'_, H, str> {
        self.try_alloc_thin_str(header, text).unwrap_or_else(|error| handle_alloc_error(error.layout()))
    }

    /// [`alloc_thin_str`](Self::alloc_thin_str) that reports a failed allocation.
    ///
    /// # Errors
    ///
    /// When there is no memory; the header is returned in the error.
    #[inline]
    pub fn try_alloc_thin_str<H>(&self, header: H, text: &str) -> Result<Thin<'_, H, str>, AllocError<H>> {
        let Thin { head, .. } = self.try_alloc_thin(header, text.as_bytes())?;
        // The bytes are UTF-8, as invariant 1 requires.
        Ok(Thin { head, refers: PhantomData })
    }
}
