//! Fat pointers, split into address and metadata and joined again. No other file knows their layout.
//!
//! Stable Rust has no API for this (`ptr_metadata` is unstable). The code relies on three facts that no documentation guarantees:
//!
//! 1. A `*const T` is one word, or two: the address, then the metadata. The metadata is the length of a slice or `str`, or
//!    the address of a vtable; that of a struct with an unsized tail is the tail's.
//! 2. The compiler knows that a vtable's address is not null, so `Option<*const dyn Trait>` needs no third word. A length may
//!    be 0, so `Option<*const [T]>` does. This distinguishes the two kinds of metadata.
//! 3. A vtable's address is even.
//!
//! The constant at the end of this file checks 1 and 2 at compile time for one type of each kind. [`Meta::new`] checks all
//! three for the pointer it gets: it joins the parts again and compares. Optimised code does not pay for that check.

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
    /// There is no second word: `T` is sized.
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
/// The two views of the parts have one type for each word, because const evaluation reads a word only with its own type: an address
/// has provenance and no integer value there.
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

/// A length is stored multiplied by 8 where words have bits to spare, because most slices have elements of 8 bytes: to address
/// one, the stored length is then used as it is. `slices/hot` of `cargo run --release -p dwell-bench -- small` took 1.36 of a
/// `Box`'s time without the factor and 1.26 with it, in encodings that were equal otherwise (`docs/small.md`, "What lost").
const SCALE: u32 = if usize::BITS == 64 { 3 } else { 0 };

/// The bits below a length. One shift by 2 moves the upper of them to the carry flag and leaves the length by itself.
const FLAG_BITS: u32 = 2;

/// All that a length is shifted by.
const SHIFT: u32 = SCALE + FLAG_BITS;

/// The metadata of a `*const T` and one bit more, the heap bit, in a word that is not zero.
///
/// The heap bit says that the owner stores the value's address instead of the value. An owner that has no use for it leaves
/// it clear.
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
    // 1. `word` is what the table above says, for metadata that is valid for `T`.
    //
    // A pointer, not a number: it has the provenance of the vtable.
    word: NonNull<()>,
    // Covariant, and no owner.
    of: PhantomData<*const T>,
}

impl<T: ?Sized> Clone for Meta<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Meta<T> {}

impl<T: ?Sized> Meta<T> {
    /// The metadata of `like`, whose address does not matter.
    ///
    /// # Panics
    ///
    /// When `like` is a slice of more than `usize::MAX >> SHIFT` elements, or when an assumption of this file does not hold.
    #[inline]
    pub(crate) fn new(like: *const T, heap: bool) -> Self {
        let Some(inline) = Self::encode(like) else { too_many_elements() };
        inline.checked(like, heap)
    }

    /// [`new`](Self::new), or `None` for a slice of too many elements.
    ///
    /// # Panics
    ///
    /// When an assumption of this file does not hold.
    #[inline]
    pub(crate) fn try_new(like: *const T, heap: bool) -> Option<Self> {
        Some(Self::encode(like)?.checked(like, heap))
    }

    /// The metadata that `encode` made of `like`, with the heap bit as given.
    ///
    /// # Panics
    ///
    /// When an assumption of this file does not hold.
    #[inline]
    fn checked(self, like: *const T, heap: bool) -> Self {
        assert!(ptr::eq(self.decode(like.cast()), like) && !self.is_heap(), "a pointer is not what dwell knows");
        // The heap bit is clear, so the addition sets it. An `|` would hide the sum of a known vtable from the optimiser.
        let word = self.word.as_ptr().wrapping_byte_add(Self::heap_bit(heap));
        Self { word: NonNull::new(word).expect("of the bits below, one is set"), of: PhantomData }
    }

    /// [`new`](Self::new) with a clear heap bit, for constants.
    ///
    /// Addresses have no numbers while a constant is evaluated, so assumption 3 is not checked here. The word of a vtable is
    /// its address unchanged.
    ///
    /// # Panics
    ///
    /// When `like` is a slice of more than `usize::MAX >> SHIFT` elements.
    #[inline]
    pub(crate) const fn new_inline(like: *const T) -> Self {
        match Self::encode(like) {
            Some(meta) => meta,
            None => too_many_elements(),
        }
    }

    /// With a clear heap bit, or `None` for a slice of too many elements.
    #[inline]
    const fn encode(like: *const T) -> Option<Self> {
        let parts = Parts { pointer: like };
        let word = match Kind::of::<T>() {
            Kind::Absent => ptr::without_provenance(0b10),
            Kind::Length => {
                // SAFETY: `T`'s pointer has two words and no niche in the second, so that is a length (assumptions 1 and 2);
                // this reads it and not the address before it.
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
        Some(Self { word: NonNull::new(word.cast_mut()).expect("no metadata is encoded as 0"), of: PhantomData })
    }

    /// The bit that says "heap".
    const HEAP: usize = match Kind::of::<T>() {
        Kind::Length => 1 << (FLAG_BITS - 1),
        Kind::Absent | Kind::Vtable => 1,
    };

    /// The heap bit, if it is to be set.
    #[inline]
    const fn heap_bit(heap: bool) -> usize {
        if heap { Self::HEAP } else { 0 }
    }

    /// Whether the heap bit is set.
    #[inline]
    pub(crate) fn is_heap(self) -> bool {
        self.word.as_ptr().addr() & Self::HEAP != 0
    }

    /// The value of an owner with this metadata: at `storage`, or with the heap bit where the address stored there says.
    ///
    /// This has no branch, so that a walk over values of both kinds mispredicts nothing.
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
        // Each `asm!` block stands for `if self.is_heap() { data = storage.cast::<*mut ()>().read() }`, which is sound: with
        // the heap bit the word is an initialised pointer. The instruction loads the word in either case, which Rust could
        // not: an inline value may be uninitialised there, or be an atomic that another thread stores to, and such a read is
        // undefined whether its result is used or not. To the processor it is a load like any other from memory that is
        // there, and its result is dropped.
        //
        // The reason, by `cargo run --release -p dwell-bench -- small`: in Rust (`locate_portable`) a call takes 14
        // instructions instead of 11, and a hot slice 30 instead of 25; a branch mispredicts on mixed boxes (`docs/small.md`,
        // "What lost").
        if let Kind::Length = Kind::of::<T>() {
            let mut scaled = self.word.as_ptr().addr();
            // SAFETY: `data` ends as that branch leaves it, and `scaled` as `scaled >> FLAG_BITS`. The block reads memory,
            // writes none and uses no stack, which are its options.
            unsafe {
                core::arch::asm!(
                    "shr {scaled}, {bits}", // the heap bit leaves last, to the carry flag
                    "cmovc {data}, qword ptr [{data}]",
                    scaled = inout(reg) scaled,
                    bits = const FLAG_BITS,
                    data = inout(reg) data,
                    options(pure, readonly, nostack)
                );
            }
            // SAFETY: `encode` shifted the length by `SHIFT`, so `SCALE` zeros are left below it.
            unsafe { assert_unchecked(scaled.is_multiple_of(1 << SCALE)) };
            // SAFETY: `T`'s metadata is a length, and this is the one in `word`.
            return unsafe { Self::join_length(data, scaled >> SCALE) };
        }
        // SAFETY: `data` ends as that branch leaves it. The block reads memory, writes none and uses no stack, which are its
        // options.
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

    /// [`locate`](Self::locate) in Rust, for other targets and for Miri.
    ///
    /// # Safety
    ///
    /// With the heap bit, `storage` is valid for reads of an initialised pointer that no thread writes.
    #[inline]
    #[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri))))]
    pub(crate) unsafe fn locate(&self, storage: *mut ()) -> *const T {
        // SAFETY: with the heap bit there is an initialised pointer at `storage`, which is what this function asks for too.
        self.decode(unsafe { self.locate_portable(storage) })
    }

    /// The address that [`locate`](Self::locate) finds, without a branch and without a read of an inline value: the word that
    /// is read is the one at `storage` with the heap bit, and otherwise `self`.
    ///
    /// # Safety
    ///
    /// With the heap bit, `storage` is valid for reads of an initialised pointer that no thread writes.
    #[inline]
    #[cfg(any(test, not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))))]
    unsafe fn locate_portable(&self, storage: *mut ()) -> *mut () {
        let source = select_unpredictable(self.is_heap(), storage.cast_const(), (&raw const *self).cast());
        // SAFETY: with the heap bit this is the pointer at `storage`; otherwise it is `self`, which is a pointer as well.
        let word = unsafe { source.cast::<*mut ()>().read() };
        select_unpredictable(self.is_heap(), word, storage)
    }

    /// The same metadata with the heap bit as given.
    #[inline]
    pub(crate) fn with_heap(self, heap: bool) -> Self {
        let word = self.word.map_addr(|addr| {
            // Some other bit is set in each row of `Meta`'s table, so this is not 0.
            core::num::NonZero::new(addr.get() & !Self::HEAP | Self::heap_bit(heap)).unwrap_or(addr)
        });
        Self { word, of: PhantomData }
    }

    /// The same word as the metadata of a `V`.
    ///
    /// # Safety
    ///
    /// The metadata, of the same kind, is valid for a `V`.
    #[inline]
    pub(crate) const unsafe fn cast<V: ?Sized>(self) -> Meta<V> {
        const { assert!(Kind::of::<T>() as u8 == Kind::of::<V>() as u8, "the metadata is of one kind") };
        Meta { word: self.word, of: PhantomData }
    }

    /// The pointer to `data` with this metadata.
    #[inline]
    pub(crate) fn decode(self, data: *const ()) -> *const T {
        let word = self.word.as_ptr().cast_const();
        match Kind::of::<T>() {
            // SAFETY: `T` has no metadata.
            Kind::Absent => unsafe { Self::join_thin(data) },
            // SAFETY: `T`'s metadata is a length, and this is the one in `word`.
            Kind::Length => unsafe { Self::join_length(data, word.addr() >> SHIFT) },
            // SAFETY: `T`'s metadata is a vtable, and without the heap bit `word` is its address.
            Kind::Vtable => unsafe { Self::join_vtable(data, word.map_addr(|addr| addr & !Self::HEAP)) },
        }
    }

    /// [`decode`](Self::decode) where the heap bit is known. If the vtable is known as well, the optimiser can fold
    /// `vtable + 1 - 1`, and then call its functions directly.
    #[inline]
    pub(crate) fn decode_known(self, heap: bool, data: *const ()) -> *const T {
        debug_assert!(self.is_heap() == heap);
        match Kind::of::<T>() {
            Kind::Absent | Kind::Length => self.decode(data),
            Kind::Vtable => {
                let vtable = self.word.as_ptr().cast_const().wrapping_byte_sub(Self::heap_bit(heap));
                // SAFETY: `T`'s metadata is a vtable, and without the heap bit `word` is its address.
                unsafe { Self::join_vtable(data, vtable) }
            }
        }
    }

    /// # Safety
    ///
    /// `T` has no metadata.
    #[inline]
    unsafe fn join_thin(data: *const ()) -> *const T {
        let parts: Parts<T> = Parts { object: ObjectParts { address: data, vtable: ptr::null() } };
        // SAFETY: a `*const T` is one word, the address, which is the first of the two (assumption 1).
        unsafe { parts.pointer }
    }

    /// # Safety
    ///
    /// `T`'s metadata is a length, and this one is valid for it.
    #[inline]
    unsafe fn join_length(data: *const (), length: usize) -> *const T {
        let parts: Parts<T> = Parts { slice: SliceParts { address: data, length } };
        // SAFETY: a `*const T` whose metadata is a length is the address and then the length (assumption 1).
        unsafe { parts.pointer }
    }

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

#[cold]
#[track_caller]
const fn too_many_elements() -> ! {
    panic!("the slice has too many elements for a SmallBox")
}

/// The layout of the value at `value`. The value itself is not read.
///
/// # Safety
///
/// `value` is aligned for `T`, has metadata that is valid for `T`, and is valid for reads and writes of that layout: a live
/// value, or one whose bytes are about to be moved.
#[inline]
pub(crate) unsafe fn layout_of<T: ?Sized>(value: *mut T) -> Layout {
    // A `&T` would assert that the value is not written while the reference lives, which invalidates pointers that the value
    // has to itself. A `&UnsafeCell<T>` makes no such claim, and has the layout of a `T` ("Memory layout" of `UnsafeCell`).
    // Under Stacked Borrows it cannot be made from a pointer without write permission, so this function asks for that; for a
    // borrowed value there is `Layout::for_value`.
    let value = value as *const UnsafeCell<T>;
    // SAFETY: the pointer is aligned, valid for reads and writes of its layout and has valid metadata, which is what this
    // function asks for; an `UnsafeCell` has no other requirement.
    Layout::for_value(unsafe { &*value })
}

/// Assumptions 1 and 2, for one type of each kind.
const _: () = {
    const fn is_length<T: ?Sized>() -> bool {
        matches!(Kind::of::<T>(), Kind::Length)
    }
    const fn is_vtable<T: ?Sized>() -> bool {
        matches!(Kind::of::<T>(), Kind::Vtable)
    }
    #[expect(dead_code, reason = "only its pointer is looked at")]
    struct Tail<T: ?Sized>(u8, T);
    assert!(is_length::<[u8]>() && is_length::<[()]>() && is_length::<str>() && is_length::<Tail<[u64]>>());
    assert!(is_vtable::<dyn core::any::Any>() && is_vtable::<dyn Fn() + Send>());
    assert!(is_vtable::<Tail<dyn core::fmt::Debug>>());
    assert!(matches!(Kind::of::<u8>(), Kind::Absent));
    let parts = Parts { pointer: ptr::slice_from_raw_parts(ptr::null::<u8>(), 5) };
    // SAFETY: the second word of a pointer to a slice is initialised, and any initialised word without provenance is a
    // number; if it were the null address, the assertion would fail.
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
    fn round_trip() {
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

    /// Inline and with the heap bit, by both functions.
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
    fn locate_agrees_with_its_portable_form() {
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
    fn too_long() {
        let _ = Meta::new(ptr::slice_from_raw_parts(ptr::dangling::<()>(), (usize::MAX >> SHIFT) + 1), true);
    }

    #[test]
    #[should_panic = "too many elements"]
    fn much_too_long() {
        let _ = Meta::new(ptr::slice_from_raw_parts(ptr::dangling::<()>(), usize::MAX), false);
    }

    #[test]
    fn too_long_is_none() {
        let of = |len| Meta::try_new(ptr::slice_from_raw_parts(ptr::dangling::<()>(), len), false).is_some();
        assert!(of(usize::MAX >> SHIFT) && !of((usize::MAX >> SHIFT) + 1) && !of(usize::MAX));
    }
}
