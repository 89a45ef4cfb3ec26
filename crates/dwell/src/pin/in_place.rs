//! The strict one: in place, or refused by the compiler.

use crate::raw::Meta;
use crate::small::{Place, Room};
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr;
use core::task::{Context, Poll};

/// A value of an erased type in `N` words, and never elsewhere.
///
/// It has `N + 1` words, 8 bytes each on a 64-bit target. `L` is a type as aligned as the value may be. A value that does not fit is
/// refused when the program is compiled:
///
/// ```compile_fail
/// use dwell::pin::InPlace;
/// use std::fmt::Debug;
///
/// // error: a value of 24 bytes aligned to 8 does not fit in place: there are 16 aligned to 8
/// let text = InPlace::<dyn Debug, 2>::new_with(String::from("text"), |place| place);
/// ```
///
/// The value moves with its owner, so an `InPlace` is `Unpin` only if `T` is. In return a pinned one pins its value, and
/// an `InPlace<dyn Future>` is a future, which can be awaited:
///
/// ```
/// use dwell::pin::InPlace;
///
/// type Call<'a> = InPlace<dyn Future<Output = u32> + 'a, 6>;
///
/// fn double(x: &u32) -> Call<'_> {
///     InPlace::new_with(async move { *x * 2 }, |place| place as _)
/// }
///
/// async fn quadruple(x: u32) -> u32 {
///     double(&double(&x).await).await
/// }
/// # let future = std::pin::pin!(quadruple(2));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(future.poll(&mut context), std::task::Poll::Ready(8));
/// ```
// In this order, so that the value is at the address of its owner.
#[repr(C)]
pub struct InPlace<T: ?Sized, const N: usize, L = usize> {
    // # Invariants
    //
    // 1. `room.words` begins with a live `T`, owned, which fits there.
    // 2. `meta` is that value's metadata, with its bit clear.
    room: Room<N, L>,
    meta: Meta<T>,
    // Owns a `T`: drop check and auto traits are those of a `Box<T>`.
    owns: PhantomData<T>,
}

// SAFETY: an `InPlace` owns its value and nothing else, as a `Box<T>` does.
unsafe impl<T: ?Sized + Send, const N: usize, L> Send for InPlace<T, N, L> {}

// SAFETY: a shared `InPlace` gives access to the value as shared, and nothing else.
unsafe impl<T: ?Sized + Sync, const N: usize, L> Sync for InPlace<T, N, L> {}

// The value moves with its owner, so it is pinned with it, and only then (see `project`).
impl<T: ?Sized + Unpin, const N: usize, L> Unpin for InPlace<T, N, L> {}

// As `Box`: the room's `UnsafeCell` is there for the value's sake and says nothing of its own.
impl<T: ?Sized + UnwindSafe, const N: usize, L> UnwindSafe for InPlace<T, N, L> {}
impl<T: ?Sized + RefUnwindSafe, const N: usize, L> RefUnwindSafe for InPlace<T, N, L> {}

impl<T: ?Sized, const N: usize, L> InPlace<T, N, L> {
    /// Whether a value of this size and alignment, in bytes, has room.
    pub const fn fits(size: usize, align: usize) -> bool {
        size <= size_of::<[usize; N]>() && align <= align_of::<Room<N, L>>()
    }

    /// Takes a value in, seen as what the closure coerces it to.
    ///
    /// ```
    /// use dwell::pin::InPlace;
    /// use std::fmt::Display;
    ///
    /// let number = InPlace::<dyn Display, 1>::new_with(7, |place| place);
    /// assert_eq!(number.to_string(), "7");
    /// ```
    ///
    /// That it fits is checked when the program is compiled.
    ///
    /// # Panics
    ///
    /// If the closure does; the value is then dropped.
    #[inline]
    pub fn new_with<U, F>(value: U, unsize: F) -> Self
    where
        F: for<'a> FnOnce(&'a Place<U, U>) -> &'a Place<U, T>,
    {
        const {
            if !Self::fits(size_of::<U>(), align_of::<U>()) {
                panic!("{}", Refusal::of::<U, N, L>().text());
            }
        }
        let place = Place::new(value);
        let meta = Meta::new(unsize(&place).as_ptr(), false);
        let room = Room::<N, L>::new();
        let to = room.words.get().cast::<U>();
        let value = place.into_inner();
        // SAFETY: the assertion above says that the room is large and aligned enough for a `U`.
        unsafe { to.write(value) };
        Self { room, meta, owns: PhantomData }
    }

    /// Where the value is, by invariants 1 and 2.
    #[inline]
    fn value(&self) -> *mut T {
        self.meta.decode_known(false, self.room.words.get().cast::<()>().cast_const()).cast_mut()
    }

    /// The value of a pinned one, pinned.
    ///
    /// ```
    /// use dwell::pin::InPlace;
    /// use std::pin::pin;
    ///
    /// let future = InPlace::<dyn Future<Output = ()>, 2>::new_with(async {}, |place| place);
    /// let mut future = pin!(future);
    /// let _: std::pin::Pin<&mut dyn Future<Output = ()>> = future.as_mut().project();
    /// ```
    #[inline]
    pub fn project(self: Pin<&mut Self>) -> Pin<&mut T> {
        // Structural pinning, as `core::pin` asks for it: it is `Unpin` only if `T` is; its drop drops the value where it
        // is, before anything else happens to its memory; and nothing moves the value out of a `Pin<&mut Self>`.
        // SAFETY: nothing is moved out of the reference; the only use is the pinned one below.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: the value is pinned with its owner, as said above, and stays there until it has been dropped.
        unsafe { Pin::new_unchecked(&mut **this) }
    }
}

impl<T: ?Sized, const N: usize, L> Deref for InPlace<T, N, L> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: by the invariants a live value is there, borrowed as `self` is.
        unsafe { &*self.value() }
    }
}

impl<T: ?Sized, const N: usize, L> DerefMut for InPlace<T, N, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: by the invariants a live value is there, borrowed as `self` is.
        unsafe { &mut *self.value() }
    }
}

impl<T: ?Sized, const N: usize, L> Drop for InPlace<T, N, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the value is owned and live, and not used after this.
        unsafe { ptr::drop_in_place(self.value()) };
    }
}

impl<F: ?Sized + Future, const N: usize, L> Future for InPlace<F, N, L> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().poll(context)
    }
}

impl<T: ?Sized + fmt::Debug, const N: usize, L> fmt::Debug for InPlace<T, N, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// What the compiler says of a value that does not fit. Constants cannot format numbers.
pub(super) struct Refusal {
    text: [u8; Self::ROOM],
    len: usize,
}

impl Refusal {
    /// Enough for the words below and four numbers.
    const ROOM: usize = 192;

    /// Of a `U` in `N` words.
    pub(super) const fn of<U, const N: usize, L>() -> Self {
        Self::new([size_of::<U>(), align_of::<U>(), size_of::<[usize; N]>(), align_of::<Room<N, L>>()])
    }

    /// `[size, align, room, room's align]` in bytes.
    const fn new(numbers: [usize; 4]) -> Self {
        let words = ["a value of ", " bytes aligned to ", " does not fit in place: there are ", " aligned to "];
        let mut this = Self { text: [0; Self::ROOM], len: 0 };
        let mut index = 0;
        while index < words.len() {
            this.word(words[index].as_bytes());
            this.number(numbers[index]);
            index += 1;
        }
        this
    }

    const fn word(&mut self, mut word: &[u8]) {
        while let [first, rest @ ..] = word {
            self.text[self.len] = *first;
            self.len += 1;
            word = rest;
        }
    }

    const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        self.word(&[b'0' + (number % 10) as u8]);
    }

    pub(super) const fn text(&self) -> &str {
        match core::str::from_utf8(self.text.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "the value does not fit in place",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn refusal_has_the_numbers() {
        let text = "a value of 1024 bytes aligned to 16 does not fit in place: there are 0 aligned to 8";
        assert_eq!(Refusal::new([1024, 16, 0, 8]).text(), text);
        let largest = usize::MAX;
        assert!(Refusal::new([largest; 4]).text().ends_with(&std_alloc::format!("aligned to {largest}")));
    }
}
