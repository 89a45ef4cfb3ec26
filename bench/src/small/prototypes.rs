//! Rejected representations, kept for measurements. They are sound only as the workloads use them.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr;

type Words = UnsafeCell<[MaybeUninit<usize>; 2]>;

fn fits<U>() -> bool {
    size_of::<U>() <= size_of::<Words>() && align_of::<U>() <= align_of::<Words>()
}

/// Moves a value to a new heap block.
fn spill<U>(value: U) -> *mut u8 {
    let layout = Layout::new::<U>();
    // SAFETY: the callers spill only values that do not fit inline. Such a value has a nonzero size, or is of a
    // zero-size type with a larger alignment than a word, which no workload uses.
    let block = unsafe { alloc(layout) };
    if block.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: the block is new and has the layout of a `U`.
    unsafe { block.cast::<U>().write(value) };
    block
}

fn write_inline<U>(value: U, words: &Words) {
    // SAFETY: the callers write a value that `fits`, or a pointer, which fits too.
    unsafe { words.get().cast::<U>().write(value) };
}

macro_rules! prototype {
    ($Box:ident) => {
        impl<T: ?Sized> Deref for $Box<T> {
            type Target = T;

            #[inline]
            fn deref(&self) -> &T {
                // SAFETY: `value` returns a pointer to the live value, which is borrowed as long as `self`.
                unsafe { &*self.value() }
            }
        }

        impl<T: ?Sized> DerefMut for $Box<T> {
            #[inline]
            fn deref_mut(&mut self) -> &mut T {
                // SAFETY: `value` returns a pointer to the live value, which is mutably borrowed as long as `self`.
                unsafe { &mut *self.value() }
            }
        }

        impl<T: ?Sized> Drop for $Box<T> {
            #[inline]
            fn drop(&mut self) {
                let value = self.value();
                if self.is_inline() {
                    // SAFETY: the value is live and is not used after this drop.
                    unsafe { ptr::drop_in_place(value) };
                } else {
                    let layout = Layout::for_value(&**self);
                    // SAFETY: the value is live and is not used after this drop.
                    unsafe { ptr::drop_in_place(value) };
                    // SAFETY: `spill` allocated the block with the layout of the value, and nothing uses it again.
                    unsafe { dealloc(value.cast(), layout) };
                }
            }
        }
    };
}

/// A box of the layout `[address or null][metadata][word][word]`. Like smallbox it contains a `*const T`, so it is one
/// word larger than `SmallBox`.
pub(super) struct Sentinel<T: ?Sized> {
    pointer: *const T,
    words: Words,
    owns: PhantomData<T>,
}

impl<T: ?Sized> Sentinel<T> {
    #[inline]
    pub(super) fn new<U>(value: U, unsize: fn(*const U) -> *const T) -> Self {
        let words = UnsafeCell::new([MaybeUninit::uninit(); 2]);
        let address = if fits::<U>() {
            write_inline(value, &words);
            ptr::null()
        } else {
            spill(value).cast_const().cast()
        };
        Self { pointer: unsize(address), words, owns: PhantomData }
    }

    #[inline]
    fn is_inline(&self) -> bool {
        self.pointer.is_null()
    }

    #[inline]
    fn value(&self) -> *mut T {
        let difference = self.words.get().addr();
        let address = std::hint::select_unpredictable(self.is_inline(), difference, self.pointer.addr());
        let base = std::hint::select_unpredictable(
            self.is_inline(),
            self.words.get().cast::<u8>().cast_const(),
            self.pointer.cast::<u8>(),
        );
        debug_assert_eq!(base.addr(), address);
        with_address(self.pointer, base).cast_mut()
    }
}
prototype!(Sentinel);

/// Returns `pointer` with another address.
#[inline]
fn with_address<T: ?Sized>(mut pointer: *const T, address: *const u8) -> *const T {
    // SAFETY: the first word of a pointer is its address, which `dwell`'s raw.rs checks.
    unsafe { (&raw mut pointer).cast::<*const u8>().write(address) };
    pointer
}

/// A box with the library's parts in another order, `[metadata | tag][word][word]`, read with a branch instead of a conditional move. Here
/// the tag is the top bit, both for vtables and for lengths.
pub(super) struct Branching<T: ?Sized> {
    metadata: usize,
    words: Words,
    of: PhantomData<T>,
}

const SPILLED: usize = 1 << (usize::BITS - 1);

impl<T: ?Sized> Branching<T> {
    #[inline]
    pub(super) fn new<U>(value: U, unsize: fn(*const U) -> *const T) -> Self {
        let words = UnsafeCell::new([MaybeUninit::uninit(); 2]);
        let metadata = metadata(unsize(ptr::null()));
        if fits::<U>() {
            write_inline(value, &words);
            Self { metadata, words, of: PhantomData }
        } else {
            write_inline(spill(value), &words);
            Self { metadata: metadata | SPILLED, words, of: PhantomData }
        }
    }

    #[inline]
    fn is_inline(&self) -> bool {
        self.metadata & SPILLED == 0
    }

    #[inline]
    fn value(&self) -> *mut T {
        let address = if self.is_inline() {
            self.words.get().cast::<u8>()
        } else {
            // SAFETY: the value is spilled, so `new` wrote its address to the first word.
            unsafe { self.words.get().cast::<*mut u8>().read() }
        };
        pointer(address, self.metadata & !SPILLED)
    }
}
prototype!(Branching);

/// Returns the second word of a fat pointer.
#[inline]
fn metadata<T: ?Sized>(pointer: *const T) -> usize {
    assert_eq!(size_of::<*const T>(), 2 * size_of::<usize>());
    // SAFETY: the assertion above says that the pointer has two words.
    let metadata = unsafe { (&raw const pointer).cast::<[*const (); 2]>().read() };
    metadata[1].expose_provenance()
}

#[inline]
fn pointer<T: ?Sized>(address: *mut u8, metadata: usize) -> *mut T {
    let words = [address.cast::<()>(), ptr::with_exposed_provenance_mut(metadata)];
    // SAFETY: `metadata` returned the second word of such a pointer, so the address and this word are a valid one.
    unsafe { (&raw const words).cast::<*mut T>().read() }
}
