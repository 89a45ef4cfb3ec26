//! The strict one for futures: in place, or refused by the compiler, with a table of its own.

use super::in_place::{InPlace, Refusal};
use crate::small::Room;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::pin::Pin;
use core::ptr::{self, NonNull};
use core::task::{Context, Poll};

/// A future in `N` words, its type erased: what [`in_place`](super::ErasedExt::in_place) returns.
///
/// It has `N + 1` words, and is a future itself. `L` is a type as aligned as the future may be.
///
/// ```
/// use dwell::pin::{ErasedExt, InPlaceFuture};
///
/// fn double(x: &u32) -> InPlaceFuture<'_, u32, 2> {
///     async move { *x * 2 }.in_place()
/// }
///
/// async fn quadruple(x: u32) -> u32 {
///     double(&double(&x).await).await
/// }
/// # let future = std::pin::pin!(quadruple(2));
/// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// # assert_eq!(future.poll(&mut context), std::task::Poll::Ready(8));
/// ```
pub type InPlaceFuture<'a, T, const N: usize, L = usize> = FutureInPlace<T, dyn Future<Output = T> + Send + 'a, N, L>;

/// An [`InPlaceFuture`] that need not be `Send`: what [`in_place_local`](super::ErasedExt::in_place_local) returns.
///
/// ```compile_fail,E0277
/// use dwell::pin::ErasedExt;
///
/// let future = std::future::ready(1).in_place_local::<2>();
/// std::thread::spawn(move || drop(future));
/// ```
pub type LocalInPlaceFuture<'a, T, const N: usize, L = usize> = FutureInPlace<T, dyn Future<Output = T> + 'a, N, L>;

/// An [`InPlaceFuture`] or a [`LocalInPlaceFuture`]: a future whose output is a `T`, known to be what `D` says of it.
///
/// An [`InPlace<dyn Future>`](InPlace) can do more, a few instructions slower: its table is the compiler's, which may have no
/// function for the drop, so that a drop asks.
// In this order, so that the value is at the address of its owner.
#[repr(C)]
pub struct FutureInPlace<T, D: ?Sized, const N: usize, L = usize> {
    // # Invariants
    //
    // 1. `room.words` begins with a live future, owned, which fits there, and is what `D` is: `Send` if that is, alive as long.
    // 2. `table` is that of this future, and always there.
    room: Room<N, L>,
    table: NonNull<Table<T>>,
    // Owns such a future: drop check and auto traits are those of a `Box<D>`.
    owns: PhantomData<D>,
}

/// What is called of a future in place.
struct Table<T> {
    /// The future is live and pinned.
    poll: unsafe fn(*mut (), &mut Context<'_>) -> Poll<T>,
    /// The future is live, and not used again. There always is one, though it may do nothing.
    drop: unsafe fn(*mut ()),
}

impl<T> Table<T> {
    const fn of<F: Future<Output = T>>() -> Self {
        let poll: fn(Pin<&mut F>, &mut Context<'_>) -> Poll<T> = F::poll;
        let drop: unsafe fn(*mut F) = ptr::drop_in_place::<F>;
        Self {
            // SAFETY: a function of such a type may be called as one of the other: a `Pin<&mut F>` is passed as a `&mut F`
            // ("Layout and ABI" of `Pin`), and that as a `*mut ()` ("ABI compatibility" of `fn`).
            poll: unsafe {
                mem::transmute::<
                    fn(Pin<&mut F>, &mut Context<'_>) -> Poll<T>,
                    unsafe fn(*mut (), &mut Context<'_>) -> Poll<T>,
                >(poll)
            },
            // SAFETY: as above, a `*mut F` is passed as a `*mut ()`.
            drop: unsafe { mem::transmute::<unsafe fn(*mut F), unsafe fn(*mut ())>(drop) },
        }
    }
}

// SAFETY: it owns its future and nothing else, as a `Box<D>` does.
unsafe impl<T, D: ?Sized + Send, const N: usize, L> Send for FutureInPlace<T, D, N, L> {}

// SAFETY: a shared one gives access to nothing.
unsafe impl<T, D: ?Sized + Sync, const N: usize, L> Sync for FutureInPlace<T, D, N, L> {}

// The future moves with its owner, so it is pinned with it, and only then (see `poll`).
impl<T, D: ?Sized + Unpin, const N: usize, L> Unpin for FutureInPlace<T, D, N, L> {}

// As `Box`: the room's `UnsafeCell` is there for the future's sake and says nothing of its own.
impl<T, D: ?Sized + UnwindSafe, const N: usize, L> UnwindSafe for FutureInPlace<T, D, N, L> {}
impl<T, D: ?Sized + RefUnwindSafe, const N: usize, L> RefUnwindSafe for FutureInPlace<T, D, N, L> {}

impl<'a, T, const N: usize, L> InPlaceFuture<'a, T, N, L> {
    /// Takes a future in. That it fits is checked when the program is compiled.
    ///
    /// ```
    /// use dwell::pin::InPlaceFuture;
    ///
    /// let aligned = InPlaceFuture::<u128, 4, u128>::new(core::future::ready(7_u128));
    /// # assert_eq!(align_of_val(&aligned), 16);
    /// ```
    #[inline]
    pub fn new<F: Future<Output = T> + Send + 'a>(future: F) -> Self {
        // SAFETY: the bounds are what the type says.
        unsafe { Self::hold(future) }
    }
}

impl<'a, T, const N: usize, L> LocalInPlaceFuture<'a, T, N, L> {
    /// [`new`](InPlaceFuture::new) for a future that is not `Send`.
    #[inline]
    pub fn new_local<F: Future<Output = T> + 'a>(future: F) -> Self {
        // SAFETY: the bounds are what the type says.
        unsafe { Self::hold(future) }
    }
}

impl<T, D: ?Sized, const N: usize, L> FutureInPlace<T, D, N, L> {
    /// # Safety
    ///
    /// An `F` is what `D` is.
    #[inline]
    unsafe fn hold<F: Future<Output = T>>(future: F) -> Self {
        const {
            if !InPlace::<F, N, L>::fits(size_of::<F>(), align_of::<F>()) {
                panic!("{}", Refusal::of::<F, N, L>().text());
            }
        }
        let room = Room::<N, L>::new();
        // SAFETY: the assertion above says that the room is large and aligned enough for an `F`.
        unsafe { room.words.get().cast::<F>().write(future) };
        Self { room, table: NonNull::from(const { &Table::<T>::of::<F>() }), owns: PhantomData }
    }

    #[inline]
    fn table(&self) -> &Table<T> {
        // SAFETY: by invariant 2 it is there.
        unsafe { self.table.as_ref() }
    }

    /// Where the future is.
    #[inline]
    fn value(&self) -> *mut () {
        self.room.words.get().cast()
    }
}

impl<T, D: ?Sized, const N: usize, L> Drop for FutureInPlace<T, D, N, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: by the invariants the future is live and the table its own; it is not used after this.
        unsafe { (self.table().drop)(self.value()) };
    }
}

impl<T, D: ?Sized, const N: usize, L> Future for FutureInPlace<T, D, N, L> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // Structural pinning, as `core::pin` asks for it: it is `Unpin` only if the future is; its drop drops the future where
        // it is, before anything else happens to its memory; and nothing moves the future out.
        // SAFETY: nothing is moved out of the reference.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: by the invariants the future is live and the table its own; it is pinned with its owner, as said above.
        unsafe { (this.table().poll)(this.value(), context) }
    }
}

impl<T, D: ?Sized, const N: usize, L> fmt::Debug for FutureInPlace<T, D, N, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPlaceFuture").finish_non_exhaustive()
    }
}
