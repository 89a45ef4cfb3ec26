//! Splits fat pointers into address and metadata, and joins them again. No other file depends on their layout.
//!
//! Stable Rust has no API for this (`ptr_metadata` is unstable). The code relies on three facts that no documentation guarantees:
//!
//! 1. A `*const T` is one word, or two: the address, then the metadata. The metadata is the length of a slice or `str`,
//!    or the address of a vtable; a struct with an unsized tail has the metadata of its tail.
//! 2. The compiler knows that a vtable's address is not null, so `Option<*const dyn Trait>` needs no third word. A length may
//!    be 0, so `Option<*const [T]>` does. This distinguishes the two kinds of metadata.
//! 3. A vtable's address is even.
//!
//! The constant at the end of this file checks 1 and 2 at compile time for one type of each kind. [`Meta::new`] checks
//! all three for its argument: it joins the parts again and compares. Optimised code does not contain that check.

use core::alloc::Layout;
use core::cell::UnsafeCell;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
use core::hint::assert_unchecked;
#[cfg(any(test, not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))))]
use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

/// The kind of the second word of a `*const T`.
#[derive(Clone, Copy)]
enum Kind {
    /// `T` is sized, so there is no second word.
    Absent,
    Length,
    Vtable,
}

impl Kind {
    const fn of<T: ?Sized>() -> Self {
        if size_of::<*const T>() == size_of::<usize>() {
            return Self::Absent;
        }
        assert!(size_of::<*const T>() == 2 * size_of::<usize>(), "a fat pointer is two words");
        if size_of::<Option<*const T>>() == size_of::<*const T>() { Self::Vtable } else { Self::Length }
    }
}

/// A `*const T`, or its parts.
///
/// There is one view for each kind of metadata, because const evaluation can read a word only as the type that it was
/// written as: an address has provenance there and no integer value.
#[repr(C)] // every field at offset 0
union Parts<T: ?Sized> {
    pointer: *const T,
    slice: SliceParts,
    object: ObjectParts,
}

/// The words of a pointer to a slice or `str`.
#[derive(Clone, Copy)]
#[repr(C)] // in this order
struct SliceParts {
    address: *const (),
    length: usize,
}

/// The words of a pointer to a trait object.
#[derive(Clone, Copy)]
#[repr(C)] // in this order
struct ObjectParts {
    address: *const (),
    vtable: *const (),
}

/// The bits that a length is shifted by in addition to [`FLAG_BITS`], where words have bits to spare. Most slices have
/// elements of 8 bytes, and code that addresses them uses `len * 8`, which is then the stored number as it is.
/// `slices/hot` of `cargo run --release -p dwell-bench -- small` took 1.36 of a `Box`'s time without the factor and
/// 1.26 with it, in encodings that were equal otherwise (`docs/small.md`, "Rejected designs").
const SCALE: u32 = if usize::BITS == 64 { 3 } else { 0 };

/// The number of flag bits below a length. One right shift by 2 moves the upper flag bit to the carry flag and leaves
/// the length by itself.
const FLAG_BITS: u32 = 2;

/// The number of bits that a length is shifted by in all.
const SHIFT: u32 = SCALE + FLAG_BITS;

/// The metadata of a `*const T` and one more bit, the *heap bit*, in a word that is not zero.
///
/// The heap bit says that the owner stores the value's address instead of the value. An owner that does not use it
/// leaves it clear.
///
/// | metadata | the word |
/// |---|---|
/// | none | `0b10 \| heap` |
/// | a length | `len << SHIFT \| heap << 1 \| 0b1`, for lengths up to `usize::MAX >> SHIFT` |
/// | a vtable | `address \| heap` |
#[repr(transparent)] // keeps the niche at null
pub(crate) struct Meta<T: ?Sized> {
    // # Invariants
    //
    // 1. `word` encodes metadata that is valid for `T`, as the table above says.
    //
    // A pointer and not a number, because it has the provenance of the vtable.
    word: NonNull<()>,
    // Covariant in `T`. It owns no `T`.
    of: PhantomData<*const T>,
}

impl<T: ?Sized> Clone for Meta<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Meta<T> {}

impl<T: ?Sized> Meta<T> {
    /// Encodes the metadata of `like`, whose address does not matter.
    ///
    /// # Panics
    ///
    /// Panics if `like` is a slice of more than `usize::MAX >> SHIFT` elements, or if an assumption of this file does
    /// not hold.
    #[inline]
    pub(crate) fn new(like: *const T, heap: bool) -> Self {
        let Some(inline) = Self::encode(like) else { too_many_elements() };
        inline.checked(like, heap)
    }

    /// Like [`new`](Self::new), but returns `None` for a slice of too many elements.
    ///
    /// # Panics
    ///
    /// Panics if an assumption of this file does not hold.
    #[inline]
    pub(crate) fn try_new(like: *const T, heap: bool) -> Option<Self> {
        Some(Self::encode(like)?.checked(like, heap))
    }

    /// Checks that `self`, which `encode` made of `like`, decodes to `like`, and sets the heap bit as given.
    ///
    /// # Panics
    ///
    /// Panics if an assumption of this file does not hold.
    #[inline]
    fn checked(self, like: *const T, heap: bool) -> Self {
        assert!(ptr::eq(self.decode(like.cast()), like) && !self.is_heap(), "unsupported layout of a fat pointer");
        // The heap bit is clear, so the addition sets it. An `|` would hide the sum of a known vtable from the optimiser.
        let word = self.word.as_ptr().wrapping_byte_add(Self::heap_bit(heap));
        Self { word: NonNull::new(word).expect("encoded metadata is never zero"), of: PhantomData }
    }

    /// Like [`new`](Self::new) with a clear heap bit, but usable in constants.
    ///
    /// During constant evaluation addresses have no integer value, so assumption 3 is not checked here. The word of a
    /// vtable is its address unchanged.
    ///
    /// # Panics
    ///
    /// Panics if `like` is a slice of more than `usize::MAX >> SHIFT` elements.
    #[inline]
    pub(crate) const fn new_inline(like: *const T) -> Self {
        match Self::encode(like) {
            Some(meta) => meta,
            None => too_many_elements(),
        }
    }

    /// Encodes the metadata of `like` with a clear heap bit, or returns `None` for a slice of too many elements.
    #[inline]
    const fn encode(like: *const T) -> Option<Self> {
        let parts = Parts { pointer: like };
        let word = match Kind::of::<T>() {
            Kind::Absent => ptr::without_provenance(0b10),
            Kind::Length => {
                // SAFETY: `T`'s pointer has two words and no niche in the second, so the second word is a length
                // (assumptions 1 and 2). The field `length` is that word.
                let length = unsafe { parts.slice.length };
                if length > usize::MAX >> SHIFT {
                    return None;
                }
                ptr::without_provenance(length << SHIFT | 0b1)
            }
            // SAFETY: `T`'s pointer has two words and a niche in the second, so that is a vtable's address (assumptions 1
            // and 2).
            Kind::Vtable => unsafe { parts.object.vtable },
        };
        Some(Self { word: NonNull::new(word.cast_mut()).expect("encoded metadata is never zero"), of: PhantomData })
    }

    /// The heap bit.
    const HEAP: usize = match Kind::of::<T>() {
        Kind::Length => 1 << (FLAG_BITS - 1),
        Kind::Absent | Kind::Vtable => 1,
    };

    /// Returns the heap bit if `heap` is true, or else 0.
    #[inline]
    const fn heap_bit(heap: bool) -> usize {
        if heap { Self::HEAP } else { 0 }
    }

    /// Returns whether the heap bit is set.
    #[inline]
    pub(crate) fn is_heap(self) -> bool {
        self.word.as_ptr().addr() & Self::HEAP != 0
    }

    /// Returns a pointer to the value of an owner with this metadata. The value is at `storage`, or with the heap bit
    /// at the address that is stored there.
    ///
    /// This has no branch, so a loop over inline and spilled values has no mispredictions.
    ///
    /// # Safety
    ///
    /// - `storage` is valid for reads of a word by its owner. The word may be uninitialised, and another thread may store to
    ///   it atomically.
    /// - With the heap bit, the word is an initialised pointer that no thread writes.
    #[inline]
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    pub(crate) unsafe fn locate(&self, storage: *mut ()) -> *const T {
        let mut data = storage;
        // Each `asm!` block stands for `if self.is_heap() { data = storage.cast::<*mut ()>().read() }`, which is sound:
        // with the heap bit the word is an initialised pointer. The instruction loads the word in either case, which
        // Rust code must not do: the word of an inline value may be uninitialised, or an atomic that another thread
        // stores to, and such a read is undefined behaviour whether its result is used or not. For the processor it is
        // an ordinary load from mapped memory, whose result is discarded.
        //
        // The reason, measured by `cargo run --release -p dwell-bench -- small`: in Rust (`locate_portable`) a call
        // takes 14 instructions instead of 11, and a hot slice 30 instead of 25. A branch is mispredicted on mixed
        // boxes (`docs/small.md`, "Rejected designs").
        if let Kind::Length = Kind::of::<T>() {
            let mut scaled = self.word.as_ptr().addr();
            // SAFETY: the caller guarantees that the word at `storage`, which the block loads, is readable. The block
            // leaves in `data` what the branch above would, and in `scaled` the value `scaled >> FLAG_BITS`. As its options
            // declare, it reads memory, writes none and uses no stack, and its results depend only on its operands and on
            // that memory.
            unsafe {
                core::arch::asm!(
                    "shr {scaled}, {bits}", // the last bit shifted out is the heap bit; it goes to the carry flag
                    "cmovc {data}, qword ptr [{data}]",
                    scaled = inout(reg) scaled,
                    bits = const FLAG_BITS,
                    data = inout(reg) data,
                    options(pure, readonly, nostack)
                );
            }
            // SAFETY: `encode` shifted the length left by `SHIFT`, and the block above shifted it right by `FLAG_BITS`,
            // so the lowest `SCALE` bits are zeros.
            unsafe { assert_unchecked(scaled.is_multiple_of(1 << SCALE)) };
            // SAFETY: the kind of `T`'s metadata is a length, and this is the length in `word`, which is valid for `T`
            // (invariant 1).
            return unsafe { Self::join_length(data, scaled >> SCALE) };
        }
        // SAFETY: the caller guarantees that the word at `storage`, which the block loads, is readable. The block
        // leaves in `data` what the branch above would. As its options declare, it reads memory, writes none and uses no
        // stack, and its result depends only on its operands and on that memory.
        unsafe {
            core::arch::asm!(
                "test {meta:l}, 1",
                "cmovnz {data}, qword ptr [{data}]",
                meta = in(reg) self.word.as_ptr(),
                data = inout(reg) data,
                options(pure, readonly, nostack)
            );
        }
        self.decode(data)
    }

    /// Does the same as the other [`locate`](Self::locate), in Rust, for other targets and for Miri.
    ///
    /// # Safety
    ///
    /// With the heap bit, `storage` is valid for reads of an initialised pointer that no thread writes.
    #[inline]
    #[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri))))]
    pub(crate) unsafe fn locate(&self, storage: *mut ()) -> *const T {
        // SAFETY: the caller guarantees that with the heap bit `storage` is valid for reads of an initialised pointer
        // that no thread writes, which is all that `locate_portable` requires.
        self.decode(unsafe { self.locate_portable(storage) })
    }

    /// Returns the address that [`locate`](Self::locate) finds, without a branch and without a read of an inline value.
    /// With the heap bit it reads the word at `storage`, and otherwise `self`.
    ///
    /// # Safety
    ///
    /// With the heap bit, `storage` is valid for reads of an initialised pointer that no thread writes.
    #[inline]
    #[cfg(any(test, not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))))]
    unsafe fn locate_portable(&self, storage: *mut ()) -> *mut () {
        let source = select_unpredictable(self.is_heap(), storage.cast_const(), (&raw const *self).cast());
        // SAFETY: with the heap bit `source` is `storage`, and the caller guarantees that this is an initialised
        // pointer that no thread writes. Otherwise `source` points to `self`, which is one pointer
        // (`repr(transparent)`).
        let word = unsafe { source.cast::<*mut ()>().read() };
        select_unpredictable(self.is_heap(), word, storage)
    }

    /// Returns the same metadata with the heap bit as given.
    #[inline]
    pub(crate) fn with_heap(self, heap: bool) -> Self {
        let word = self.word.map_addr(|addr| {
            // In each row of `Meta`'s table a bit other than the heap bit is set, so this is not 0.
            core::num::NonZero::new(addr.get() & !Self::HEAP | Self::heap_bit(heap)).unwrap_or(addr)
        });
        Self { word, of: PhantomData }
    }

    /// Converts to the metadata of a `V`, with the same word.
    ///
    /// # Safety
    ///
    /// A `V` has metadata of the same kind, and this metadata is valid for it.
    #[inline]
    pub(crate) const unsafe fn cast<V: ?Sized>(self) -> Meta<V> {
        const { assert!(Kind::of::<T>() as u8 == Kind::of::<V>() as u8, "the metadata is of one kind") };
        Meta { word: self.word, of: PhantomData }
    }

    /// Joins `data` and this metadata to a pointer.
    #[inline]
    pub(crate) fn decode(self, data: *const ()) -> *const T {
        let word = self.word.as_ptr().cast_const();
        match Kind::of::<T>() {
            // SAFETY: the kind says that `T` has no metadata.
            Kind::Absent => unsafe { Self::join_thin(data) },
            // SAFETY: the kind of `T`'s metadata is a length, and this is the length in `word`, which is valid for `T`
            // (invariant 1).
            Kind::Length => unsafe { Self::join_length(data, word.addr() >> SHIFT) },
            // SAFETY: the kind of `T`'s metadata is a vtable, and without the heap bit `word` is the address of one
            // that is valid for `T` (invariant 1).
            Kind::Vtable => unsafe { Self::join_vtable(data, word.map_addr(|addr| addr & !Self::HEAP)) },
        }
    }

    /// Like [`decode`](Self::decode), but for a heap bit that the caller knows. If the compiler knows the vtable as
    /// well, it can fold `vtable + 1 - 1` and call the functions of the vtable directly.
    #[inline]
    pub(crate) fn decode_known(self, heap: bool, data: *const ()) -> *const T {
        debug_assert!(self.is_heap() == heap);
        match Kind::of::<T>() {
            Kind::Absent | Kind::Length => self.decode(data),
            Kind::Vtable => {
                let vtable = self.word.as_ptr().cast_const().wrapping_byte_sub(Self::heap_bit(heap));
                // SAFETY: the kind of `T`'s metadata is a vtable, and without the heap bit `word` is the address of one
                // that is valid for `T` (invariant 1).
                unsafe { Self::join_vtable(data, vtable) }
            }
        }
    }

    /// Makes a pointer without metadata.
    ///
    /// # Safety
    ///
    /// `T` has no metadata.
    #[inline]
    unsafe fn join_thin(data: *const ()) -> *const T {
        let parts: Parts<T> = Parts { object: ObjectParts { address: data, vtable: ptr::null() } };
        // SAFETY: a `*const T` is one word, the address, which is the first of the two (assumption 1).
        unsafe { parts.pointer }
    }

    /// Joins an address and a length to a pointer.
    ///
    /// # Safety
    ///
    /// `T`'s metadata is a length, and this one is valid for it.
    #[inline]
    unsafe fn join_length(data: *const (), length: usize) -> *const T {
        let parts: Parts<T> = Parts { slice: SliceParts { address: data, length } };
        // SAFETY: a `*const T` whose metadata is a length is the address and then the length (assumption 1).
        unsafe { parts.pointer }
    }

    /// Joins an address and a vtable to a pointer.
    ///
    /// # Safety
    ///
    /// `T`'s metadata is a vtable, and this is the address of one that is valid for it.
    #[inline]
    unsafe fn join_vtable(data: *const (), vtable: *const ()) -> *const T {
        let parts: Parts<T> = Parts { object: ObjectParts { address: data, vtable } };
        // SAFETY: a `*const T` whose metadata is a vtable is the address and then the vtable's (assumption 1).
        unsafe { parts.pointer }
    }
}

/// Returns a pointer with the address and provenance of `data`, and the metadata of `like`.
///
/// # Panics
///
/// Panics if an assumption of this file does not hold.
#[inline]
pub(crate) fn with_metadata<T: ?Sized>(data: *const (), like: *const T) -> *const T {
    let parts = Parts { pointer: like };
    let join = |data| match Kind::of::<T>() {
        // SAFETY: the kind says that `T` has no metadata.
        Kind::Absent => unsafe { Meta::<T>::join_thin(data) },
        Kind::Length => {
            // SAFETY: the kind says that the second word is a length.
            let length = unsafe { parts.slice.length };
            // SAFETY: the length is that of `like`, so it is valid for `T`.
            unsafe { Meta::<T>::join_length(data, length) }
        }
        Kind::Vtable => {
            // SAFETY: the kind says that the second word is the address of a vtable.
            let vtable = unsafe { parts.object.vtable };
            // SAFETY: the vtable is that of `like`, so it is valid for `T`.
            unsafe { Meta::<T>::join_vtable(data, vtable) }
        }
    };
    assert!(ptr::eq(join(like.cast()), like), "unsupported layout of a fat pointer");
    join(data)
}

#[cold]
#[track_caller]
const fn too_many_elements() -> ! {
    panic!("the slice has too many elements")
}

/// Returns the layout of the value at `value`, without reading the value.
///
/// # Safety
///
/// `value` is aligned for `T`, has metadata that is valid for `T`, and is valid for reads and writes of that layout: a live
/// value, or one whose bytes are about to be moved.
#[inline]
pub(crate) unsafe fn layout_of<T: ?Sized>(value: *mut T) -> Layout {
    // A `&T` would assert that the value is not written while the reference lives, which invalidates pointers that the
    // value has to itself. A `&UnsafeCell<T>` makes no such assertion, and has the layout of a `T` ("Memory layout" of
    // `UnsafeCell`). Under Stacked Borrows it cannot be made from a pointer without write permission, so this function
    // requires that permission. For a borrowed value use `Layout::for_value`.
    let value = value as *const UnsafeCell<T>;
    // SAFETY: the caller guarantees that the pointer is aligned, has valid metadata and is valid for reads and writes
    // of its layout. A reference to an `UnsafeCell` requires no more here, because nothing reads the value through it.
    Layout::for_value(unsafe { &*value })
}

/// Checks assumptions 1 and 2 for one type of each kind.
const _: () = {
    const fn is_length<T: ?Sized>() -> bool {
        matches!(Kind::of::<T>(), Kind::Length)
    }
    const fn is_vtable<T: ?Sized>() -> bool {
        matches!(Kind::of::<T>(), Kind::Vtable)
    }
    #[expect(dead_code, reason = "only the metadata of its pointer is read")]
    struct Tail<T: ?Sized>(u8, T);
    assert!(is_length::<[u8]>() && is_length::<[()]>() && is_length::<str>() && is_length::<Tail<[u64]>>());
    assert!(is_vtable::<dyn core::any::Any>() && is_vtable::<dyn Fn() + Send>());
    assert!(is_vtable::<Tail<dyn core::fmt::Debug>>());
    assert!(matches!(Kind::of::<u8>(), Kind::Absent));
    let parts = Parts { pointer: ptr::slice_from_raw_parts(ptr::null::<u8>(), 5) };
    // SAFETY: the second word of a pointer to a slice is initialised. Both words of this pointer have no provenance, so
    // each can be read as a number. If this were the null address, the assertion would fail.
    assert!(unsafe { parts.slice.length } == 5, "the address comes first");
};

#[cfg(test)]
mod tests {
    use super::{Meta, SHIFT};
    use core::any::Any;
    use core::ptr;

    fn check<T: ?Sized>(pointer: *const T) {
        for heap in [false, true] {
            let meta = Meta::new(pointer, heap);
            assert_eq!(meta.is_heap(), heap);
            assert!(ptr::eq(meta.decode(pointer.cast()), pointer));
            let other = meta.with_heap(!heap);
            assert_eq!(other.is_heap(), !heap);
            assert!(ptr::eq(other.decode(pointer.cast()), pointer));
        }
        let inline = Meta::new_inline(pointer);
        assert!(!inline.is_heap() && ptr::eq(inline.decode(pointer.cast()), pointer));
        assert_eq!(size_of::<Option<Meta<T>>>(), size_of::<usize>());
    }

    #[test]
    fn metadata_round_trips() {
        check(&7_u8);
        check("text");
        check("");
        check::<[u64]>(&[1, 2, 3]);
        check::<dyn Any>(&7_u8);
        check::<dyn Any + Send>(&std_alloc::string::String::new());
        let longest = usize::MAX >> SHIFT;
        check(ptr::slice_from_raw_parts(ptr::dangling::<()>(), longest));
        check(ptr::slice_from_raw_parts(ptr::dangling::<u8>(), longest));
    }

    /// Checks both functions, for inline values and with the heap bit.
    fn find<T: ?Sized>(value: *mut T) {
        let address = value.cast::<()>();
        let mut storage = address;
        let storage = (&raw mut storage).cast::<()>();
        for (heap, expected) in [(false, storage), (true, address)] {
            let meta = Meta::new(value, heap);
            // SAFETY: `storage` is an initialised pointer, local to this function, and not written.
            let located = unsafe { meta.locate(storage) };
            // SAFETY: `storage` is an initialised pointer, local to this function, and not written.
            let portable = meta.decode(unsafe { meta.locate_portable(storage) });
            assert_eq!(located.cast_mut().cast(), expected);
            assert!(ptr::eq(located, portable) && ptr::eq(portable, meta.decode(expected)));
        }
    }

    #[test]
    fn locate_matches_the_portable_version() {
        find(&mut 7_u64);
        find::<[u64]>(&mut [1, 2, 3]);
        find::<[u8]>(&mut []);
        find::<[u8; 3]>(&mut [1, 2, 3]);
        find::<[(u32, u8)]>(&mut [(1, 2); 5]);
        find::<[()]>(ptr::slice_from_raw_parts_mut(ptr::dangling_mut(), usize::MAX >> SHIFT));
        find::<dyn Any>(&mut 7_u8);
    }

    #[test]
    #[should_panic = "too many elements"]
    fn slice_one_too_long_panics() {
        let _ = Meta::new(ptr::slice_from_raw_parts(ptr::dangling::<()>(), (usize::MAX >> SHIFT) + 1), true);
    }

    #[test]
    #[should_panic = "too many elements"]
    fn slice_much_too_long_panics() {
        let _ = Meta::new(ptr::slice_from_raw_parts(ptr::dangling::<()>(), usize::MAX), false);
    }

    #[test]
    fn try_new_returns_none_for_too_long_slices() {
        let fits = |len| Meta::try_new(ptr::slice_from_raw_parts(ptr::dangling::<()>(), len), false).is_some();
        assert!(fits(usize::MAX >> SHIFT) && !fits((usize::MAX >> SHIFT) + 1) && !fits(usize::MAX));
    }
}
