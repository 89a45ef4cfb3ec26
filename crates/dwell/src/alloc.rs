//! Fallible allocation: the error, and the [`Allocator`] trait that this crate uses.
//!
//! A function whose name begins with `try_` returns its argument in the error if the allocation fails:
//!
//! ```
//! use dwell::{Bump, alloc::AllocError};
//!
//! let bump = Bump::new();
//! bump.set_allocation_limit(Some(1000)); // bytes
//! let error: AllocError<[u8; 5000]> = bump.try_alloc([7; 5000]).unwrap_err();
//! assert_eq!(error.layout().size(), 5000);
//! assert_eq!(error.into_inner()[0], 7);
//! ```
//!
//! # Which trait
//!
//! | features | `Allocator` and `Global` are |
//! |---|---|
//! | `nightly` | those of `core` and `alloc` |
//! | `allocator-api2` | those of allocator-api2 0.2; with `nightly` these are `core`'s |
//! | neither | those of this crate: a sealed trait that only `Global`, `V04` and arenas implement, so that enabling a feature breaks no code |
//!
//! allocator-api2 0.4 has another trait of the same name, and a blanket implementation could support only one of the two
//! versions. The feature `allocator-api2-04` therefore adds a wrapper, `V04`, for an allocator of version 0.4. The wrapper
//! implements whichever of the three traits is in use.

use core::any::TypeId;
use core::fmt;
use core::iter::{Chain, Fuse};
use core::marker::PhantomData;
use core::mem;
use core::option;
use core::ptr::NonNull;
use std_alloc::alloc::{Layout, alloc};
use std_alloc::boxed::Box;
use std_alloc::string::String;
use std_alloc::vec::{self, Vec};

#[cfg(all(feature = "allocator-api2", not(feature = "nightly")))]
pub use allocator_api2::alloc::{Allocator, Global};
#[cfg(feature = "nightly")]
pub use std_alloc::alloc::{Allocator, Global};

// The error of `Allocator::allocate`.
#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
pub(crate) use self::fallback::Refused;
#[cfg(all(feature = "allocator-api2", not(feature = "nightly")))]
pub(crate) use allocator_api2::alloc::AllocError as Refused;
#[cfg(feature = "nightly")]
pub(crate) use core::alloc::AllocError as Refused;

#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
pub(crate) use self::fallback::sealed;
#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
pub use self::fallback::{Allocator, Global};

#[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
mod fallback {
    use core::alloc::Layout;
    use core::ptr::{self, NonNull};
    use std_alloc::alloc::{alloc, dealloc, realloc};

    /// An allocator. Without the features `allocator-api2` and `nightly` the trait is sealed.
    ///
    /// # Safety
    ///
    /// The contract is that of `core::alloc::Allocator`.
    pub unsafe trait Allocator: sealed::Sealed {
        /// Allocates a block of at least this layout.
        #[doc(hidden)]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused>;

        /// Frees a block.
        ///
        /// # Safety
        ///
        /// `allocate` or `grow` of this allocator returned `block` for this layout, and it has not been freed.
        #[doc(hidden)]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout);

        /// Grows a block, and moves it if necessary. After `Ok` the old block is freed.
        ///
        /// # Safety
        ///
        /// `allocate` or `grow` of this allocator returned `block` for the layout `old`, and it has not been freed. The size of
        /// `new` is not smaller.
        #[doc(hidden)]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, Refused> {
            let larger = self.allocate(new)?;
            // SAFETY: both blocks have at least `old.size()` bytes, because the caller guarantees that `new` is not
            // smaller. The old block is not freed yet, so the new one does not overlap it.
            unsafe { ptr::copy_nonoverlapping(block.as_ptr(), larger.as_ptr().cast(), old.size()) };
            // SAFETY: the caller guarantees that this allocator returned the block for the layout `old` and that it has
            // not been freed.
            unsafe { self.deallocate(block, old) };
            Ok(larger)
        }
    }

    /// The error of [`Allocator`]: it cannot provide a block of the layout.
    #[doc(hidden)]
    #[derive(Debug)]
    pub struct Refused;

    /// The supertrait that seals [`Allocator`]. The module `sealed` implements it for arenas.
    pub(crate) mod sealed {
        pub trait Sealed {}
        impl Sealed for super::Global {}
        impl<A: Sealed> Sealed for &A {}
        #[cfg(feature = "allocator-api2-04")]
        impl<A> Sealed for crate::alloc::V04<A> {}
    }

    // SAFETY: every function is that of `A`, whose blocks stay valid while the reference lives: an allocator may end them only
    // when it is mutated or dropped. A copy refers to the same allocator.
    unsafe impl<A: Allocator> Allocator for &A {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused> {
            (**self).allocate(layout)
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: the caller guarantees it for this allocator, whose blocks are those of `A`.
            unsafe { (**self).deallocate(block, layout) };
        }

        #[inline]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, Refused> {
            // SAFETY: the caller guarantees it for this allocator, whose blocks are those of `A`.
            unsafe { (**self).grow(block, old, new) }
        }
    }

    /// The global allocator, as `Box` and `Vec` use it.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Global;

    // SAFETY: blocks come from the global allocator, stay valid until they are freed, and can be freed through any `Global`. A
    // block of size 0 is a dangling aligned address.
    unsafe impl Allocator for Global {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused> {
            if layout.size() == 0 {
                let dangling = NonNull::new(ptr::without_provenance_mut(layout.align())).ok_or(Refused)?;
                return Ok(NonNull::slice_from_raw_parts(dangling, 0));
            }
            // SAFETY: the layout's size is not zero, as checked above.
            let block = NonNull::new(unsafe { alloc(layout) }).ok_or(Refused)?;
            Ok(NonNull::slice_from_raw_parts(block, layout.size()))
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            if layout.size() != 0 {
                // SAFETY: the caller guarantees that `allocate` or `grow` returned the block for this layout and that
                // it has not been freed. The size is not 0, so the block came from `alloc` or `realloc`.
                unsafe { dealloc(block.as_ptr(), layout) };
            }
        }

        #[inline]
        unsafe fn grow(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, Refused> {
            if old.size() == 0 || old.align() != new.align() {
                let larger = self.allocate(new)?;
                // SAFETY: both blocks have at least `old.size()` bytes, because the caller guarantees that `new` is not
                // smaller. The old block is not freed yet, so the new one does not overlap it.
                unsafe { ptr::copy_nonoverlapping(block.as_ptr(), larger.as_ptr().cast(), old.size()) };
                // SAFETY: the caller guarantees that `allocate` or `grow` returned the block for the layout `old` and
                // that it has not been freed.
                unsafe { self.deallocate(block, old) };
                return Ok(larger);
            }
            // SAFETY: `old.size()` is not 0, so `alloc` or `realloc` returned the block for the layout `old`. The
            // caller guarantees that the new size is not smaller, so it is not 0 either. It is the size of a valid
            // layout of the same alignment.
            let larger = NonNull::new(unsafe { realloc(block.as_ptr(), old, new.size()) }).ok_or(Refused)?;
            Ok(NonNull::slice_from_raw_parts(larger, new.size()))
        }
    }
}

/// Returns whether `A` is [`Global`], whose blocks a `Box` can own.
#[inline(always)]
pub(crate) fn is_global<A>() -> bool {
    // `TypeId::of` requires `'static`, because types that differ only in lifetimes have the same id. `Global` has no lifetime, so
    // a type with its id is `Global`.
    trait Identified {
        fn id(&self) -> TypeId
        where
            Self: 'static;
    }
    impl<T> Identified for PhantomData<T> {
        fn id(&self) -> TypeId
        where
            Self: 'static,
        {
            TypeId::of::<T>()
        }
    }
    let this: &dyn Identified = &PhantomData::<A>;
    // SAFETY: the two types differ only in the lifetime bound of the trait object, which its vtable does not depend on. The value
    // is a `PhantomData`, so there is no data that the longer bound could claim to be alive.
    let this = unsafe { mem::transmute::<&dyn Identified, &(dyn Identified + 'static)>(this) };
    this.id() == TypeId::of::<Global>()
}

/// A wrapper that lets the types of this crate use an allocator of allocator-api2 0.4.
///
/// ```
/// # use allocator_api2_04 as allocator_api2; // its name in this crate's Cargo.toml
/// use allocator_api2::alloc::Global;
/// use dwell::{SmallBox, alloc::V04};
///
/// let large = SmallBox::<_, 2, _>::new_in([7_u64; 5], V04(Global));
/// assert!(!large.is_inline());
/// ```
#[cfg(feature = "allocator-api2-04")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct V04<A>(
    /// The allocator.
    pub A,
);

#[cfg(feature = "allocator-api2-04")]
mod v04 {
    use super::{Allocator, V04};
    use allocator_api2_04::alloc::Allocator as Inner;
    use core::alloc::Layout;
    use core::ptr::NonNull;

    #[cfg(not(any(feature = "allocator-api2", feature = "nightly")))]
    use super::fallback::Refused;
    #[cfg(all(feature = "allocator-api2", not(feature = "nightly")))]
    use allocator_api2::alloc::AllocError as Refused;
    #[cfg(feature = "nightly")]
    use core::alloc::AllocError as Refused;

    /// Forwards the functions that take a block and return one.
    #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
    macro_rules! moves {
        ($($name:ident)*) => {$(
            #[inline]
            unsafe fn $name(&self, block: NonNull<u8>, old: Layout, new: Layout) -> Result<NonNull<[u8]>, Refused> {
                // SAFETY: each block of this allocator is a block of `self.0`. So what the caller guarantees about
                // `block`, `old` and `new` holds for `self.0` as well.
                unsafe { self.0.$name(block, old, new) }.map_err(|_| Refused {})
            }
        )*};
    }

    // SAFETY: the two traits have the same contract, and every function forwards to `self.0`: the blocks of this
    // allocator are those of `self.0`. A clone of the wrapper contains a clone of `self.0`, and a move of the wrapper
    // moves `self.0`, so both keep the blocks valid.
    unsafe impl<A: Inner> Allocator for V04<A> {
        #[inline]
        fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused> {
            self.0.allocate(layout).map_err(|_| Refused {})
        }

        #[inline]
        unsafe fn deallocate(&self, block: NonNull<u8>, layout: Layout) {
            // SAFETY: the caller guarantees that this allocator returned the block for this layout and that it has not
            // been freed. Every function forwards to `self.0`, so the block came from there.
            unsafe { self.0.deallocate(block, layout) };
        }

        #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
        #[inline]
        fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, Refused> {
            self.0.allocate_zeroed(layout).map_err(|_| Refused {})
        }

        #[cfg(any(feature = "allocator-api2", feature = "nightly"))]
        moves!(grow grow_zeroed shrink);
    }
}

/// The error of a failed allocation, with the value that was to be stored.
///
/// ```
/// use dwell::Sparse;
///
/// match Sparse::try_new(String::from("kept")) {
///     Ok(value) => assert_eq!(value.get().unwrap(), "kept"),
///     Err(error) => {
///         let value: String = error.into_inner();
///         assert_eq!(value, "kept");
///     }
/// }
/// ```
pub struct AllocError<T> {
    value: T,
    layout: Layout,
}

impl<T> AllocError<T> {
    pub(crate) fn new(value: T, layout: Layout) -> Self {
        Self { value, layout }
    }

    /// Returns the value that was to be stored.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Returns the size and the alignment, in bytes, of the block that could not be allocated. If the size exceeds
    /// `isize::MAX`, which no [`Layout`] can express, or the number of elements the limit of the container, the size of the
    /// result has no meaning.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Replaces the value by `f(value)`.
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> AllocError<U> {
        AllocError::new(f(self.value), self.layout)
    }
}

impl<T> fmt::Debug for AllocError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AllocError").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for AllocError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to allocate {} bytes with alignment {}", self.layout.size(), self.layout.align())
    }
}

impl<T> core::error::Error for AllocError<T> {}

/// Returns the largest layout of this alignment, which no allocator can provide. The error for a slice or text of more
/// than `isize::MAX` bytes contains it.
pub(crate) const fn largest_layout(align: usize) -> Layout {
    // The size of a layout, rounded up to its alignment, must not exceed `isize::MAX`.
    match Layout::from_size_align(isize::MAX.unsigned_abs() + 1 - align, align) {
        Ok(layout) => layout,
        Err(_) => panic!("the alignment is that of a type"),
    }
}

/// Allocates a block from the global allocator, or returns `None` if the allocation fails.
///
/// # Panics
///
/// Panics if the size of the layout is 0, which `alloc` does not allow.
#[inline]
pub(crate) fn try_alloc(layout: Layout) -> Option<NonNull<u8>> {
    assert!(layout.size() != 0);
    // SAFETY: the layout's size is not zero, as checked above.
    NonNull::new(unsafe { alloc(layout) })
}

/// Like `Box::new`, but returns the value in an error if the allocation fails.
pub(crate) fn try_box<T>(value: T) -> Result<Box<T>, AllocError<T>> {
    let layout = Layout::new::<T>();
    if layout.size() == 0 {
        return Ok(Box::new(value));
    }
    let Some(block) = try_alloc(layout) else {
        return Err(AllocError::new(value, layout));
    };
    let block = block.cast::<T>();
    // SAFETY: `block` was allocated with the layout of a `T`, so it is valid for writes of one and aligned.
    unsafe { block.write(value) };
    // SAFETY: `block` came from the global allocator with the layout of a `T` and holds one, which is what `from_raw` requires
    // ("Memory layout" in the documentation of `Box`). There is no other pointer to it.
    Ok(unsafe { Box::from_raw(block.as_ptr()) })
}

/// The values of a failed collection: those collected so far, the one that did not fit, and the rest of the iterator.
pub(crate) type Rest<I> = Chain<
    Chain<vec::IntoIter<<I as IntoIterator>::Item>, option::IntoIter<<I as IntoIterator>::Item>>,
    Fuse<<I as IntoIterator>::IntoIter>,
>;

/// Pushes all values onto `vec`. If an allocation fails, returns the value that did not fit and the layout that it
/// needed.
///
/// The iterator's `size_hint` may be wrong, so it only decides how much is reserved when `vec` is full: at most 1 MiB,
/// or one element if that reservation fails.
pub(crate) fn try_push_all<T>(vec: &mut Vec<T>, values: &mut impl Iterator<Item = T>) -> Result<(), (T, Layout)> {
    let most = (1 << 20) / size_of::<T>().max(1);
    while let Some(value) = values.next() {
        if vec.len() == vec.capacity() {
            let hint = values.size_hint().0.saturating_add(1).min(most).max(1);
            if vec.try_reserve(hint).is_err() && vec.try_reserve(1).is_err() {
                let layout = Layout::array::<T>(vec.len().saturating_add(1)).unwrap_or(largest_layout(align_of::<T>()));
                return Err((value, layout));
            }
        }
        vec.push(value);
    }
    Ok(())
}

/// Collects into a `Vec` and passes it to `finish`. If either fails, the error contains all values.
pub(crate) fn try_collect<I: IntoIterator, R>(
    values: I,
    finish: impl FnOnce(Vec<I::Item>) -> Result<R, AllocError<Vec<I::Item>>>,
) -> Result<R, AllocError<Rest<I>>> {
    let mut values = values.into_iter().fuse();
    let mut taken = Vec::new();
    if let Err((value, layout)) = try_push_all(&mut taken, &mut values) {
        return Err(AllocError::new(taken.into_iter().chain(Some(value)).chain(values), layout));
    }
    finish(taken).map_err(|error| error.map(|taken| taken.into_iter().chain(None).chain(values)))
}

/// The pieces that a failed text does not contain: the one that failed, and those after it.
pub(crate) type Pieces<I> = Chain<option::IntoIter<<I as IntoIterator>::Item>, Fuse<<I as IntoIterator>::IntoIter>>;

/// Writes the pieces to a text and passes it to `finish`. If an allocation or a piece's `fmt` fails, the error contains
/// the text so far and the remaining pieces. In the second case its layout is that of the text so far.
pub(crate) fn try_write<I: IntoIterator<Item: fmt::Display>, R>(
    pieces: I,
    finish: impl FnOnce(&str) -> Result<R, Layout>,
) -> Result<R, AllocError<(String, Pieces<I>)>> {
    struct Text {
        text: String,
        refused: Option<Layout>,
    }
    impl fmt::Write for Text {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            if self.text.try_reserve(part.len()).is_err() {
                let size = self.text.len().saturating_add(part.len());
                self.refused = Some(Layout::from_size_align(size, 1).unwrap_or(Layout::new::<String>()));
                return Err(fmt::Error);
            }
            self.text.push_str(part);
            Ok(())
        }
    }
    let mut pieces = pieces.into_iter().fuse();
    let mut to = Text { text: String::new(), refused: None };
    while let Some(piece) = pieces.next() {
        let len = to.text.len();
        let written = fmt::Write::write_fmt(&mut to, format_args!("{piece}"));
        // A `fmt` may ignore the error of a failed allocation; the text would then lack a part.
        if written.is_err() || to.refused.is_some() {
            to.text.truncate(len); // removes the part of the piece that was written
            let layout = to.refused.unwrap_or(Layout::for_value(to.text.as_str()));
            return Err(AllocError::new((to.text, Some(piece).into_iter().chain(pieces)), layout));
        }
    }
    finish(&to.text).map_err(|layout| AllocError::new((to.text, None.into_iter().chain(pieces)), layout))
}

#[cfg(test)]
mod tests {
    use super::{Global, is_global};
    #[cfg(feature = "bump")]
    use crate::bump::{Bump, First};

    #[test]
    fn is_global_holds_only_for_global() {
        assert!(is_global::<Global>());
        assert!(!is_global::<&Global>());
        #[cfg(feature = "bump")]
        assert!(!is_global::<&Bump>() && !is_global::<First<'_>>());
        #[cfg(feature = "allocator-api2-04")]
        assert!(!is_global::<super::V04<Global>>());
    }
}
