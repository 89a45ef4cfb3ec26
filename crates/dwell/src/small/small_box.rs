//! [`SmallBox`]: the representation, and the only code that accesses its fields.

use super::storage::{BlockGuard, InlineStorage, allocate};
use crate::alloc::{Allocator, Global, Refused, is_global};
use crate::raw::{Meta, layout_of};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::{ManuallyDrop, MaybeUninit, offset_of};
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::{self, NonNull};
use std_alloc::alloc::handle_alloc_error;
use std_alloc::boxed::Box;

/// A box that stores a value of up to `N` words inline and allocates for a larger one.
///
/// It has `N + 1` words: on a 64-bit target 24 bytes with the default `N` of 2, and 16 bytes for `SmallBox<T, 1>`. With an `L`
/// of a larger alignment both parts are rounded up to that, and an allocator that is not zero-sized is added. An
/// `Option<SmallBox<T>>` has the same size. `T` may be a `dyn Trait`, a slice, `str`, a struct that ends in one of
/// these, or a sized type.
///
/// ```
/// use dwell::{SmallBox, small_box};
/// use std::fmt::Display;
///
/// let values: Vec<SmallBox<dyn Display>> = vec![small_box!(1), small_box!('c'), small_box!([b'x'; 3].escape_ascii())];
/// assert_eq!(values[0].to_string(), "1");
/// assert!(values[1].is_inline());
///
/// let text: SmallBox<str> = "up to 16 bytes".into();
/// assert!(text.is_inline());
/// ```
///
/// # Closures
///
/// Call a box of a `dyn Fn` or `dyn FnMut` like the closure itself. Call a box of a `dyn FnOnce` with
/// [`call_once`](Self::call_once), which takes the arguments as a tuple. For a `FnOnce` that takes a reference, write
/// `dyn for<'a> CallOnce<(&'a mut T,), Output = R>`: stable Rust cannot call an inline `dyn FnOnce`.
///
/// ```
/// use dwell::small::CallOnce;
/// use dwell::{SmallBox, small_box};
/// use std::collections::VecDeque;
///
/// #[derive(Default)]
/// struct World {
///     log: Vec<String>,
/// }
///
/// let mut on_tick: SmallBox<dyn FnMut(u32) -> u32> = small_box!(|n: u32| n + 1);
/// assert_eq!(on_tick(1), 2);
///
/// let mut events: VecDeque<SmallBox<dyn for<'a> CallOnce<(&'a mut World,), Output = ()> + Send>> = VecDeque::new();
/// for id in 0..3 {
///     events.push_back(small_box!(move |world: &mut World| world.log.push(format!("event {id}"))));
/// }
/// let mut world = World::default();
/// while let Some(event) = events.pop_front() {
///     event.call_once((&mut world,));
/// }
/// assert_eq!(world.log.len(), 3);
/// ```
///
/// # The parameters
///
/// - `N`: the inline capacity in words. A larger `N` makes containers larger, and may push their blocks over a limit of the
///   allocator: `std::sync::mpsc` allocates 31 messages at a time, in 1,000 bytes with `N` = 2 and in 1,248 with `N` = 3, more
///   than the 1,032 up to which glibc keeps freed blocks for a thread. `cargo dwell dyn` names such blocks of a program.
///   `N` must be at least 1, for the address of a spilled value:
///
/// ```compile_fail
/// let byte: dwell::SmallBox<u8, 0> = dwell::SmallBox::from(7);
/// ```
///
/// - `A`: the allocator for spilled values. See [`alloc`](crate::alloc).
/// - `L`: a type that raises the alignment of the inline buffer. A value is stored inline only if its alignment is at
///   most that of `L` or of a word, whichever is larger. Only the alignment of `L` matters:
///
/// ```
/// # #![cfg_attr(feature = "nightly", feature(allocator_api))]
/// use dwell::{SmallBox, alloc::Global};
///
/// assert!(!SmallBox::<u128>::from(1).is_inline()); // aligned to 16, the box to 8
/// assert!(SmallBox::<u128, 2, Global, u128>::from(1).is_inline());
/// ```
///
/// # Pinning
///
/// A `SmallBox` is `Unpin` only if `T` is, because an inline value moves with the box. In return a pinned `SmallBox`
/// pins its value, so `SmallBox<dyn Future>` is a `Future` for every future.
// `repr(C)`: the storage is at offset 0, so an inline value has the address of its box and reading it needs no offset.
#[must_use = "dropping a box drops its value, and futures do nothing unless you `.await` or poll them"]
#[repr(C)]
pub struct SmallBox<T: ?Sized, const N: usize = 2, A: Allocator = Global, L = usize> {
    // # Invariants
    //
    // The box owns one live `T`, the value.
    //
    // 1. `meta` is the value's metadata. Its heap bit is set if the value is spilled, and clear if it is inline.
    // 2. An inline value begins at `storage.words`, and `fits` holds for its layout.
    // 3. The address of a spilled value is stored at `storage.words` as an initialised pointer. The value fills a block
    //    of its own layout from `alloc`. A value of size 0 has no block, and its address is dangling and aligned.
    // 4. The box itself never reads or writes the bytes of an inline value except to move all of them.
    //
    //   word  0           1           2
    //         ┌───────────┬───────────┬────────┐
    // inline  │ value ..              │ meta|0 │
    //         ├───────────┼───────────┼────────┤
    // spilled │ address   │ (uninit)  │ meta|1 │      `L` may put padding before and after `meta`.
    //         └───────────┴───────────┴────────┘
    storage: InlineStorage<N, L>,
    meta: Meta<T>,
    alloc: A,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

// SAFETY: a `SmallBox` owns its value and its allocator, which are `Send`, and nothing else, as a `Box<T, A>` does.
unsafe impl<T: ?Sized + Send, const N: usize, A: Allocator + Send, L> Send for SmallBox<T, N, A, L> {}

// SAFETY: a `&SmallBox` gives only shared access to the value and the allocator, which are `Sync`.
unsafe impl<T: ?Sized + Sync, const N: usize, A: Allocator + Sync, L> Sync for SmallBox<T, N, A, L> {}

// An inline value moves with the box, so it is pinned only if the box is (see `project`).
impl<T: ?Sized + Unpin, const N: usize, A: Allocator, L> Unpin for SmallBox<T, N, A, L> {}

// As `Box`: the `UnsafeCell` lets the value have interior mutability and adds none of its own.
impl<T: ?Sized + UnwindSafe, const N: usize, A: Allocator + UnwindSafe, L> UnwindSafe for SmallBox<T, N, A, L> {}
impl<T: ?Sized + RefUnwindSafe, const N: usize, A: Allocator + RefUnwindSafe, L> RefUnwindSafe
    for SmallBox<T, N, A, L>
{
}

impl<T: ?Sized, const N: usize, A: Allocator, L> SmallBox<T, N, A, L> {
    /// Returns whether the value is stored inline.
    #[inline]
    pub fn is_inline(&self) -> bool {
        !self.meta.is_heap()
    }

    /// Returns the allocator.
    #[inline]
    pub fn allocator(&self) -> &A {
        &self.alloc
    }

    /// Returns whether a value of this size and alignment, in bytes, is stored inline.
    #[inline]
    pub const fn fits(size: usize, align: usize) -> bool {
        InlineStorage::<N, L>::fits(size, align)
    }

    /// Returns the metadata of the value, with the heap bit.
    #[inline]
    pub(super) fn meta(&self) -> Meta<T> {
        self.meta
    }

    /// Moves the allocator out of a box that will not be dropped.
    ///
    /// # Safety
    ///
    /// The box is not dropped, and its allocator is not used again.
    #[inline]
    pub(super) unsafe fn take_alloc(this: &ManuallyDrop<Self>) -> A {
        // SAFETY: the caller guarantees that nothing uses the allocator in the box again, so this moves it.
        unsafe { ptr::read(&raw const this.alloc) }
    }

    /// Allocates the block for a value of this layout, or returns `None` if it is stored inline.
    #[inline]
    pub(super) fn block_for(layout: Layout, alloc: &A) -> Result<Option<NonNull<()>>, Refused> {
        if Self::fits(layout.size(), layout.align()) {
            return Ok(None);
        }
        allocate(layout, alloc).map(Some)
    }

    /// Like [`block_for`](Self::block_for), but calls [`handle_alloc_error`] if the allocation fails.
    #[inline]
    pub(super) fn block_or_abort(layout: Layout, alloc: &A) -> Option<NonNull<()>> {
        match Self::block_for(layout, alloc) {
            Ok(block) => block,
            Err(_) => handle_alloc_error(layout),
        }
    }

    /// Creates a box whose storage begins with `stored`.
    ///
    /// # Safety
    ///
    /// - `fits` holds for a `U`.
    /// - Either `stored` is the value, and `meta` is the metadata of a `U` as a `T` without the heap bit; or `stored`
    ///   is the address of a block, and the block and `meta` are as [`from_block`](Self::from_block) requires.
    #[inline]
    pub(super) const unsafe fn new_storing<U>(stored: U, meta: Meta<T>, alloc: A) -> Self {
        // Writes each field separately: an uninitialised `InlineStorage` that is passed by value goes through
        // registers, which costs a store of zeros (`create+drop/small` of
        // `cargo run --release -p dwell-bench -- small`).
        let mut this = MaybeUninit::<Self>::uninit();
        let fields = this.as_mut_ptr();
        // SAFETY: the pointer is to the field `meta` of `this`, so it is aligned and valid for writes of a `Meta<T>`.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, meta)).cast::<Meta<T>>().write(meta) };
        // SAFETY: the pointer is to the field `alloc` of `this`, so it is aligned and valid for writes of an `A`.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, alloc)).cast::<A>().write(alloc) };
        // SAFETY: the pointer is to the field `storage` of `this`, which begins with the words. The caller guarantees
        // that `fits` holds for a `U`, so the words are large and aligned enough for one.
        unsafe { fields.wrapping_byte_add(offset_of!(Self, storage)).cast::<U>().write(stored) };
        // SAFETY: `meta` and `alloc` are written. The other fields are `MaybeUninit` words and types of size 0, which
        // need no initialisation.
        unsafe { this.assume_init() }
    }

    /// Creates a box of a spilled value.
    ///
    /// # Safety
    ///
    /// - `allocate` returned `block` for the value's layout and for `alloc`, which may have been moved since. The block
    ///   holds the live value, which has no other owner.
    /// - `meta` is the value's metadata with the heap bit.
    #[inline]
    pub(super) unsafe fn from_block(block: NonNull<()>, meta: Meta<T>, alloc: A) -> Self {
        const { assert!(N > 0, "the inline capacity `N` of a SmallBox must be at least 1") };
        // SAFETY: an address fits, because `N` is at least 1, as asserted above. The caller guarantees that `block` is
        // the address of the value and that `meta` is the value's metadata with the heap bit, which is all that
        // `new_storing` requires.
        unsafe { Self::new_storing(block, meta, alloc) }
    }

    /// Creates a box of `value`.
    ///
    /// # Safety
    ///
    /// - [`block_for`](Self::block_for) returned `block` for the layout of a `U` and `alloc`.
    /// - `meta` is the metadata of a `U` as a `T`, with the heap bit if there is a block.
    #[inline]
    pub(super) unsafe fn write_new<U>(value: U, meta: Meta<T>, block: Option<NonNull<()>>, alloc: A) -> Self {
        debug_assert!(meta.is_heap() == block.is_some());
        let Some(block) = block else {
            // SAFETY: `block_for` returned no block, so a `U` fits. The caller guarantees that `meta` then has no heap
            // bit and is the metadata of a `U` as a `T`.
            return unsafe { Self::new_storing(value, meta, alloc) };
        };
        // SAFETY: the caller guarantees that `block_for` returned the block for the layout of a `U`, so it is valid for
        // writes of one and aligned.
        unsafe { block.cast::<U>().write(value) };
        // SAFETY: `block_for` returned the block for the layout of a `U` and `alloc`, and it now holds the live value.
        // The caller guarantees that `meta` is the value's metadata, with the heap bit because there is a block.
        unsafe { Self::from_block(block, meta, alloc) }
    }

    /// Creates a box of a value that it moves from `value`.
    ///
    /// # Safety
    ///
    /// - `value` points to a live `T` of `size` bytes. It is not used as a `T` afterwards, unless a copy of its bytes
    ///   is a value as well.
    /// - `meta` is the metadata of the value. Its heap bit is ignored.
    /// - `block` is `None` if the value fits inline. Otherwise it is the block that contains `value`, or a new block of
    ///   the value's layout. Either came from `alloc`, which may have been moved since.
    #[inline]
    pub(super) unsafe fn move_from(
        value: *const T,
        size: usize,
        meta: Meta<T>,
        block: Option<NonNull<()>>,
        alloc: A,
    ) -> Self {
        let meta = meta.with_heap(block.is_some());
        if let Some(block) = block {
            // SAFETY: the value and the block, which has its layout, are valid for `size` bytes. They may be the same
            // memory, so this is `copy`.
            unsafe { ptr::copy(value.cast::<u8>(), block.as_ptr().cast::<u8>(), size) };
            // SAFETY: the caller guarantees that the block has the value's layout and came from `alloc`. It now holds
            // the value, and `meta` has the heap bit.
            return unsafe { Self::from_block(block, meta, alloc) };
        }
        let mut storage = InlineStorage::new();
        let to = storage.words.get_mut().as_mut_ptr().cast::<u8>();
        // SAFETY: the value is valid for reads of `size` bytes. Without a block it fits inline, so the words, which are
        // new, are valid for writes of as many bytes.
        unsafe { ptr::copy_nonoverlapping(value.cast::<u8>(), to, size) };
        // SAFETY: the words now begin with the value, which fits inline, and `meta` has no heap bit without a block.
        unsafe { Self::from_inline(storage, meta, alloc) }
    }

    /// Creates a box of an inline value.
    ///
    /// # Safety
    ///
    /// The storage begins with a live value, which may be uninitialised bytes if those are a live `T`. `fits` holds for
    /// its layout, and `meta` is its metadata without the heap bit.
    #[inline]
    pub(super) unsafe fn from_inline(storage: InlineStorage<N, L>, meta: Meta<T>, alloc: A) -> Self {
        debug_assert!(!meta.is_heap());
        Self { meta, storage, alloc, owns: PhantomData }
    }

    /// Replaces the metadata.
    ///
    /// # Safety
    ///
    /// With the metadata `meta`, the value is a live `V`. Its layout is unchanged or, if the value is inline, any
    /// layout that fits. The heap bit of `meta` is that of the box.
    #[inline]
    pub(super) unsafe fn with_meta<V: ?Sized>(self, meta: Meta<V>) -> SmallBox<V, N, A, L> {
        debug_assert!(self.meta.is_heap() == meta.is_heap());
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not dropped and its storage is not used again, so this moves it with the value or address
        // in it.
        let storage = unsafe { ptr::read(&raw const this.storage) };
        // SAFETY: `this` is not dropped, and its allocator is not used again.
        let alloc = unsafe { Self::take_alloc(&this) };
        SmallBox { meta, storage, alloc, owns: PhantomData }
    }

    /// Replaces the metadata with that of the pointer that `view` returns.
    ///
    /// # Safety
    ///
    /// `view` returns its argument's address with metadata that makes the value a live `V`. The value's layout is
    /// unchanged or, if the value is inline, any layout that fits.
    #[inline]
    pub(super) unsafe fn cast<V: ?Sized>(self, view: impl FnOnce(*const T) -> *const V) -> SmallBox<V, N, A, L> {
        let meta = Meta::new(view(self.value()), self.meta.is_heap());
        // SAFETY: the caller guarantees that `view` returned metadata that makes the value a live `V` of the same
        // layout or, if it is inline, of a layout that fits. The heap bit is the same.
        unsafe { self.with_meta(meta) }
    }

    /// Converts to a box of a `V` that has the same metadata, such as a wrapper of a `T`.
    ///
    /// # Safety
    ///
    /// A `V` has the layout and the metadata of a `T`, and the value is a live `V`.
    #[inline]
    pub(super) unsafe fn retype<V: ?Sized>(self) -> SmallBox<V, N, A, L> {
        // SAFETY: the caller guarantees that a `V` has the metadata of a `T`.
        let meta = unsafe { self.meta.cast::<V>() };
        // SAFETY: the caller guarantees that the value is a live `V` of the same layout. The word of `meta`, and with
        // it the heap bit, is the same.
        unsafe { self.with_meta(meta) }
    }

    /// Returns a pointer to the value. It may be written through if `self` is borrowed exclusively or owned.
    #[inline]
    pub(super) fn value(&self) -> *mut T {
        const { assert!(N > 0, "the inline capacity `N` of a SmallBox must be at least 1") };
        // SAFETY: `N` is at least 1, as asserted above, so the storage has a word. With the heap bit, that word is an
        // initialised pointer (invariant 3), which only a function with `&mut self` or `self` writes.
        unsafe { self.meta.locate(self.storage.words.get().cast()) }.cast_mut()
    }

    /// Converts to a box that does not drop its value.
    #[inline]
    pub(super) fn without_drop(self) -> SmallBox<ManuallyDrop<T>, N, A, L> {
        // SAFETY: `ManuallyDrop` is `repr(transparent)`: it has the layout and the metadata of a `T`, and a live `T` is
        // a live `ManuallyDrop<T>`.
        unsafe { self.retype() }
    }

    /// Returns the layout of the value.
    #[inline]
    pub(super) fn layout(&self) -> Layout {
        // SAFETY: the box owns a live value, and `value` returns a pointer that has write permission: to the storage
        // through its `UnsafeCell`, or as the allocator returned it.
        unsafe { layout_of(self.value()) }
    }

    /// Returns the address of the inline buffer with the value's metadata.
    #[inline]
    fn inline_value(&self) -> *mut T {
        self.meta.decode_known(false, self.storage.words.get().cast()).cast_mut()
    }

    /// Returns the address of a spilled value.
    ///
    /// # Safety
    ///
    /// The value is spilled.
    #[inline]
    pub(super) unsafe fn heap_address(&self) -> NonNull<()> {
        debug_assert!(self.meta.is_heap());
        // SAFETY: the caller guarantees that the value is spilled, so the storage begins with its address as an
        // initialised pointer (invariant 3), which is not null.
        unsafe { self.storage.words.get().cast::<NonNull<()>>().read() }
    }

    /// Converts to a `Box` if the value is spilled and the allocator is [`Global`]: nothing is allocated or moved.
    #[inline]
    pub(super) fn try_unspill(self) -> Result<Box<T>, Self> {
        if self.is_inline() || !is_global::<A>() {
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: the value is live, in a block of its own layout from the global allocator (invariant 3), as
        // `Box::from_raw` requires. `this` is not dropped, so the `Box` is its only owner. `Global` needs no drop.
        Ok(unsafe { Box::from_raw(this.value()) })
    }

    /// Drops a spilled value and frees its block.
    ///
    /// # Safety
    ///
    /// The value is spilled, and neither it nor its block is used afterwards.
    #[inline]
    unsafe fn drop_spilled(&mut self) {
        // SAFETY: the caller guarantees that the value is spilled.
        let block = unsafe { self.heap_address() };
        let value = self.meta.decode_known(true, block.as_ptr()).cast_mut();
        if is_global::<A>() {
            // A `Box` drops the value: this needs no guard and reads the size after the drop, which takes 166
            // instructions instead of 184 (`create+drop/large` of `cargo run --release -p dwell-bench -- small`).
            // SAFETY: the value is live, in a block of its own layout from the global allocator (invariant 3), as
            // `Box::from_raw` requires. The caller guarantees that nothing uses it afterwards.
            drop(unsafe { Box::from_raw(value) });
            return;
        }
        // SAFETY: the value is live until `drop_in_place` below, and the pointer, which the allocator returned, may be
        // written through.
        let layout = unsafe { layout_of(value) };
        // SAFETY: `allocate` returned the block for this layout and allocator (invariant 3), and nothing else frees it.
        let guard = unsafe { BlockGuard::new(block, layout, &self.alloc) };
        // SAFETY: the value is live, and the caller guarantees that nothing uses it afterwards.
        unsafe { ptr::drop_in_place(value) };
        guard.free();
    }
}

macro_rules! drop_glue {
    ($($unsafe:ident)? $(#[$may_dangle:meta])?) => {
        // SAFETY (nightly): `drop` does nothing with the value but drop it, and because of the field `owns` the drop
        // check treats the box as the owner of a `T`.
        $($unsafe)? impl<$(#[$may_dangle])? T: ?Sized, const N: usize, A: Allocator, L> Drop for SmallBox<T, N, A, L> {
            #[inline]
            fn drop(&mut self) {
                if self.meta.is_heap() {
                    // SAFETY: the heap bit is set, so the value is spilled. The box is not used after its drop.
                    unsafe { self.drop_spilled() };
                } else {
                    // SAFETY: the heap bit is clear, so the live value is inline. The box is not used after its drop.
                    unsafe { ptr::drop_in_place(self.inline_value()) };
                }
            }
        }
    };
}
#[cfg(feature = "nightly")]
drop_glue!(unsafe #[may_dangle]);
#[cfg(not(feature = "nightly"))]
drop_glue!();

impl<T: ?Sized, const N: usize, A: Allocator, L> Deref for SmallBox<T, N, A, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the box owns a live value, which is borrowed for as long as `self` is.
        unsafe { &*self.value() }
    }
}

impl<T: ?Sized, const N: usize, A: Allocator, L> DerefMut for SmallBox<T, N, A, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the box owns a live value, which is borrowed for as long as `self` is, exclusively. The storage is an
        // `UnsafeCell`, so `value`, which borrows `self` shared, returns a pointer that may be written through.
        unsafe { &mut *self.value() }
    }
}
