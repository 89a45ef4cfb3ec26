//! Fat pointers taken apart and put together. No other file knows their layout.
//!
//! What is assumed, because no documentation promises it:
//!
//! 1. A `*const T` is one word, or two words: the address, then the metadata. The metadata is the length of a slice or
//!    `str`, or the address of a vtable; that of a struct with such a tail is the tail's.
//! 2. A vtable's address is not null, and the compiler knows it: `Option<*const T>` then needs no third word. A length
//!    has no such value. So the two are told apart.
//! 3. A vtable's address is even.
//!
//! 1 and 2 are checked at compile time for the types at the end of this file. 3, and 1 and 2 for the type at hand, are
//! checked by [`Meta::new`], which puts the pointer together again and compares; optimised code does not pay for it.

use core::alloc::Layout;
use core::cell::UnsafeCell;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
use core::hint::assert_unchecked;
#[cfg(any(test, not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))))]
use core::hint::select_unpredictable;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};

/// What the second word of a `*const T` is.
#[derive(Clone, Copy)]
enum Kind {
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

/// A pointer and its words, for taking it apart and putting it together.
#[repr(C)] // every field at offset 0
union Parts<T: ?Sized> {
    pointer: *const T,
    words: [*const (); 2],
    numbers: [usize; 2],
}

/// What a length is multiplied by, as a power of two. Where words have bits to spare it is what most elements have in bytes:
/// of a slice of 8-byte words, whose length is divided by this and multiplied again, nothing is left.
const SCALE: u32 = if usize::BITS == 64 { 3 } else { 0 };

/// The bits below a length: of the two, one shift takes the upper one to the carry flag and leaves the length by itself.
const BITS: u32 = 2;

/// Both.
const SHIFT: u32 = SCALE + BITS;

/// The metadata of a `*const T` and one bit more, in a word that is not zero.
///
/// The bit says whether the value is outside its owner: "heap".
///
/// - no metadata: `0b10 | heap`
/// - a length: `len << SHIFT | heap << 1 | 0b1`, for lengths of so many bits less than a word
/// - a vtable: `address | heap`
#[repr(transparent)] // a niche at null, and nothing else
pub(crate) struct Meta<T: ?Sized> {
    // # Invariants
    //
    // 1. `word` is what `encode` made of a pointer whose metadata is valid for `T`; `decode` gives that metadata back.
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
    /// When `like` is a slice of more than `usize::MAX >> SHIFT` elements, or when the assumptions of this file do not hold.
    #[inline]
    pub(crate) fn new(like: *const T, heap: bool) -> Self {
        let inline = Self::encode(like);
        assert!(ptr::eq(inline.decode(like.cast()), like) && !inline.is_heap(), "a pointer is not what dwell knows");
        // The bit is clear, so that this sets it. No `|`: of a vtable's address the compiler can fold the sum.
        let word = inline.word.as_ptr().wrapping_byte_add(Self::bit(heap));
        Self { word: NonNull::new(word).expect("of the bits below, one is set"), of: PhantomData }
    }

    /// [`new`](Self::new) for a value that is not outside its owner, at compile time.
    ///
    /// Addresses are not known then, so that only lengths are checked; but the word of a vtable is its address as it is.
    #[inline]
    pub(crate) const fn new_inline(like: *const T) -> Self {
        Self::encode(like)
    }

    /// With the bit clear.
    #[inline]
    const fn encode(like: *const T) -> Self {
        let parts = Parts { pointer: like };
        let word = match Kind::of::<T>() {
            Kind::Absent => ptr::without_provenance(0b10),
            Kind::Length => {
                // SAFETY: by assumptions 1 and 2 the pointer fills both words and its second is a length.
                let length = unsafe { parts.numbers }[1];
                assert!(length <= usize::MAX >> SHIFT, "the slice has too many elements for a SmallBox");
                ptr::without_provenance(length << SHIFT | 0b1)
            }
            Kind::Vtable => {
                // SAFETY: by assumptions 1 and 2 the pointer fills both words and its second is a vtable's address.
                let [_, vtable] = unsafe { parts.words };
                vtable // even, by assumption 3
            }
        };
        Self { word: NonNull::new(word.cast_mut()).expect("no metadata is encoded as 0"), of: PhantomData }
    }

    /// The bit that says "heap".
    const HEAP: usize = match Kind::of::<T>() {
        Kind::Length => 1 << (BITS - 1),
        Kind::Absent | Kind::Vtable => 1,
    };

    /// The bit, if it is to be set.
    #[inline]
    const fn bit(heap: bool) -> usize {
        if heap { Self::HEAP } else { 0 }
    }

    /// Whether the value is outside its owner.
    #[inline]
    pub(crate) fn is_heap(self) -> bool {
        self.word.as_ptr().addr() & Self::HEAP != 0
    }

    /// The value: at `room`, or where the pointer that is kept there says.
    ///
    /// There is no branch, so that a walk over mixed boxes mispredicts nothing.
    ///
    /// # Safety
    ///
    /// - `room` is valid for reads of a word, if only its owner were to read.
    /// - If the bit says "heap", there is an initialised pointer.
    #[inline]
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    pub(crate) unsafe fn locate(&self, room: *mut ()) -> *const T {
        let mut place = room;
        // What each block does is `if self.is_heap() { place = room.cast::<*mut ()>().read() }`, and that is what it stands
        // for: the caller says that such a read is valid. The instruction loads the word in either case. Rust could not: a
        // value in place may be uninitialised there, or be an atomic that another thread is storing to, and to read it
        // is then undefined whether it is used or not. To the processor it is a load like any other, from memory that is
        // there; its result reaches nothing but the register it is thrown out of.
        if let Kind::Length = Kind::of::<T>() {
            let mut scaled = self.word.as_ptr().addr();
            // SAFETY: `place` ends as the branch above would leave it, and `scaled` as `scaled >> BITS`; memory is read and no
            // more; no stack is used.
            unsafe {
                core::arch::asm!(
                    "shr {scaled}, {bits}", // the bit that says "heap" is the last to leave, to the carry flag
                    "cmovc {place}, qword ptr [{place}]",
                    scaled = inout(reg) scaled,
                    bits = const BITS,
                    place = inout(reg) place,
                    options(pure, readonly, nostack)
                );
            }
            // SAFETY: `encode` has shifted the length by so many bits more.
            unsafe { assert_unchecked(scaled.is_multiple_of(1 << SCALE)) };
            return Self::join(place, ptr::without_provenance(scaled >> SCALE));
        }
        // SAFETY: `place` ends as the branch above would leave it; memory is read and no more; no stack is used.
        unsafe {
            core::arch::asm!(
                "test {meta:l}, 1",
                "cmovnz {place}, qword ptr [{place}]",
                meta = in(reg) self.word.as_ptr(),
                place = inout(reg) place,
                options(pure, readonly, nostack)
            );
        }
        self.decode(place)
    }

    /// [`locate`](Self::locate) as Rust can say it, for other targets and for Miri.
    ///
    /// # Safety
    ///
    /// As there.
    #[inline]
    #[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri))))]
    pub(crate) unsafe fn locate(&self, room: *mut ()) -> *const T {
        // SAFETY: the caller says so.
        self.decode(unsafe { self.place_by_choice(room) })
    }

    /// There is no branch, so that a walk over mixed boxes mispredicts nothing; and no word of an inline value is read, since
    /// it may be uninitialised or under somebody's atomic store. The word that is read is that at `room`, or else `self`.
    ///
    /// # Safety
    ///
    /// If the bit says "heap", `room` is valid for reads of an initialised pointer.
    #[inline]
    #[cfg(any(test, not(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))))]
    unsafe fn place_by_choice(&self, room: *mut ()) -> *mut () {
        let source = select_unpredictable(self.is_heap(), room.cast_const(), (&raw const *self).cast());
        // SAFETY: either the caller's pointer, or this word, which is one.
        let word = unsafe { source.cast::<*mut ()>().read() };
        select_unpredictable(self.is_heap(), word, room)
    }

    /// The same metadata with the bit as given.
    #[inline]
    pub(crate) fn with_heap(self, heap: bool) -> Self {
        let word = self.word.map_addr(|addr| {
            // Another bit is set, whatever it is.
            core::num::NonZero::new(addr.get() & !Self::HEAP | Self::bit(heap)).unwrap_or(addr)
        });
        Self { word, of: PhantomData }
    }

    /// The same word as the metadata of a `V`.
    ///
    /// # Safety
    ///
    /// It is metadata that is valid for a `V`, of the same kind.
    #[inline]
    pub(crate) const unsafe fn cast<V: ?Sized>(self) -> Meta<V> {
        const { assert!(Kind::of::<T>() as u8 == Kind::of::<V>() as u8, "the metadata is of one kind") };
        Meta { word: self.word, of: PhantomData }
    }

    /// The pointer to `data` with this metadata.
    #[inline]
    pub(crate) fn decode(self, data: *const ()) -> *const T {
        let word = self.word.as_ptr().cast_const();
        Self::join(
            data,
            match Kind::of::<T>() {
                Kind::Absent => ptr::null(),
                Kind::Length => ptr::without_provenance(word.addr() >> SHIFT),
                Kind::Vtable => word.map_addr(|addr| addr & !Self::HEAP),
            },
        )
    }

    /// [`decode`](Self::decode) where the bit is known: of a vtable that is known as well, the compiler can fold the
    /// difference, and then what the vtable says.
    #[inline]
    pub(crate) fn decode_known(self, heap: bool, data: *const ()) -> *const T {
        debug_assert!(self.is_heap() == heap);
        match Kind::of::<T>() {
            Kind::Absent | Kind::Length => self.decode(data),
            Kind::Vtable => Self::join(data, self.word.as_ptr().cast_const().wrapping_byte_sub(Self::bit(heap))),
        }
    }

    /// The pointer of these two words, of which the second is looked at only if there is metadata.
    #[inline]
    fn join(data: *const (), metadata: *const ()) -> *const T {
        let parts: Parts<T> = Parts { words: [data, metadata] };
        // SAFETY: by assumption 1 these words are a `*const T`: its address and, if it has any, its metadata, which by
        // invariant 1 is valid.
        unsafe { parts.pointer }
    }
}

/// The layout of the value at `value`, which is not looked at.
///
/// # Safety
///
/// `value` is a live `T`, or one that is being moved: its address is aligned, its memory there and ours to write, and its
/// metadata valid.
#[inline]
pub(crate) unsafe fn layout_of<T: ?Sized>(value: *mut T) -> Layout {
    // A `&T` would say that nobody writes to the value while it is there, and end what pointers the value has to itself. A
    // `&UnsafeCell<T>` says neither: it gives no access that others would notice, and has the layout of a `T`, as
    // `UnsafeCell`'s documentation promises. It may be written through, so that under Stacked Borrows it cannot be made of
    // a pointer that may not be: for a value that is only lent there is `Layout::for_value`.
    let value = value as *const UnsafeCell<T>;
    // SAFETY: the caller says that it is aligned, in memory that is there, and has valid metadata.
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
    // SAFETY: both words are numbers: a null address and a length.
    let numbers = unsafe { parts.numbers };
    assert!(numbers[0] == 0 && numbers[1] == 5, "the address comes first");
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

    /// In place and outside, by both ways to the value.
    fn find<T: ?Sized>(value: *mut T) {
        let address = value.cast::<()>();
        let mut room = address;
        let room = (&raw mut room).cast::<()>();
        for (heap, expected) in [(false, room), (true, address)] {
            let meta = Meta::new(value, heap);
            // SAFETY: the room holds an initialised pointer.
            let located = unsafe { meta.locate(room) };
            // SAFETY: as above.
            let chosen = meta.decode(unsafe { meta.place_by_choice(room) });
            assert_eq!(located.cast_mut().cast(), expected);
            assert!(ptr::eq(located, chosen) && ptr::eq(chosen, meta.decode(expected)));
        }
    }

    #[test]
    fn both_ways_to_the_value_agree() {
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
}
