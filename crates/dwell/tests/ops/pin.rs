//! Random operations on futures that are stored inline, in boxes, in a pool and one after another in a [`Reusable`]:
//! they are polled, replaced and dropped at any time, and some panic. The model test and the fuzz target share this
//! file.

use dwell::SmallBox;
use dwell::pin::{ErasedExt, LocalInlineFuture, LocalPoolFuture, LocalReusableFuture};
use dwell::slab::Pool;
use std::cell::{Cell, RefCell};
use std::marker::PhantomPinned;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The state that all futures of a run share.
#[derive(Default)]
struct Seen {
    made: Cell<u32>,
    dropped: Cell<u32>,
    /// Futures that others made when they were polled or dropped, and which others drop.
    others: RefCell<Vec<LocalPoolFuture<'static, u64>>>,
    pool: Pool,
    ended: Cell<bool>,
}

/// A future that is ready with the sum of its bytes at poll `pending + 1`. It asserts that it does not move after it
/// was pinned.
struct Program<const N: usize> {
    seen: Rc<Seen>,
    bytes: [u8; N],
    pending: u8,
    panics: bool,
    pinned_at: Option<usize>,
    _pinned: PhantomPinned,
}

impl<const N: usize> Program<N> {
    fn new(seen: &Rc<Seen>, n: u8, panics: bool) -> Self {
        seen.made.set(seen.made.get() + 1);
        Self { seen: Rc::clone(seen), bytes: [n; N], pending: n % 4, panics, pinned_at: None, _pinned: PhantomPinned }
    }

    /// Makes a future in the pool that may hold this one, or drops one.
    fn reenter(&self) {
        if self.seen.ended.get() {
            return;
        }
        let taken = self.seen.others.borrow_mut().pop();
        match taken {
            Some(taken) => drop(taken),
            None if N > 1 => {
                let other = Program::<1>::new(&self.seen, 1, false).pooled_local_in(&self.seen.pool);
                self.seen.others.borrow_mut().push(other);
            }
            None => {}
        }
    }
}

impl<const N: usize> Future for Program<N> {
    type Output = u64;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u64> {
        // SAFETY: no field is moved out of the pinned value.
        let this = unsafe { self.get_unchecked_mut() };
        let here = (&raw const *this).addr();
        assert_eq!(*this.pinned_at.get_or_insert(here), here);
        this.reenter();
        match this.pending.checked_sub(1) {
            Some(left) => this.pending = left,
            None if this.panics => std::panic::resume_unwind(Box::new("intentional")), // prints nothing
            None => return Poll::Ready(this.bytes.iter().map(|byte| u64::from(*byte)).sum()),
        }
        Poll::Pending
    }
}

impl<const N: usize> Drop for Program<N> {
    fn drop(&mut self) {
        assert!(self.pinned_at.is_none_or(|at| at == (&raw const *self).addr()));
        self.seen.dropped.set(self.seen.dropped.get() + 1);
        self.reenter();
        if self.panics && self.pending % 2 == 1 && !std::thread::panicking() {
            std::panic::resume_unwind(Box::new("intentional"));
        }
    }
}

/// Stores a future of one of three sizes, selected by `kind`.
macro_rules! program {
    ($seen:expr, $kind:expr, $n:expr, |$future:ident| $store:expr) => {{
        let panics = $kind >= 240;
        match $kind % 3 {
            0 => {
                let $future = Program::<0>::new($seen, $n, panics);
                $store
            }
            1 => {
                let $future = Program::<20>::new($seen, $n, panics);
                $store
            }
            _ => {
                let $future = Program::<300>::new($seen, $n, panics);
                $store
            }
        }
    }};
}

/// A future in one of the type-erased storages.
enum Erased {
    Inline(Pin<Box<LocalInlineFuture<'static, u64, 48>>>),
    Small(Pin<Box<SmallBox<dyn Future<Output = u64>, 8>>>),
    Pooled(LocalPoolFuture<'static, u64>),
}

impl Erased {
    fn poll(&mut self) -> Poll<u64> {
        let mut context = Context::from_waker(Waker::noop());
        match self {
            Self::Inline(future) => future.as_mut().poll(&mut context),
            Self::Small(future) => future.as_mut().poll(&mut context),
            Self::Pooled(future) => future.as_mut().poll(&mut context),
        }
    }
}

/// Returns whether `f` returned instead of panicking. After a panic its operation may be half done.
fn returns(f: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_ok()
}

/// Runs the operations encoded in `bytes`, three bytes each: the operation, the kind of future, and the operand.
pub(crate) fn run(bytes: &[u8]) {
    let seen = Rc::new(Seen::default());
    let mut futures: Vec<Erased> = Vec::new();
    let mut reusable = LocalReusableFuture::new();
    let mut is_set = false;
    for step in bytes.chunks_exact(3) {
        let (kind, n) = (step[1], step[2]);
        let at = usize::from(n) % futures.len().max(1);
        match step[0] % 9 {
            0 => futures.push(program!(&seen, kind, n, |future| Erased::Inline(Box::pin(future.inline_local())))),
            1 => futures.push(program!(&seen, kind, n, |future| Erased::Small(Box::pin(future.small_local())))),
            2 => futures.push(program!(&seen, kind, n, |future| Erased::Pooled(future.pooled_local_in(&seen.pool)))),
            3 | 4 if !futures.is_empty() => {
                returns(|| _ = futures[at].poll());
            }
            5 if !futures.is_empty() => {
                let future = futures.swap_remove(at);
                returns(|| drop(future));
            }
            6 => {
                is_set = returns(|| program!(&seen, kind, n, |future| reusable.set_local(future)));
            }
            7 if is_set => {
                let mut context = Context::from_waker(Waker::noop());
                returns(|| _ = reusable.get().expect("one was set").poll(&mut context));
            }
            8 => {
                returns(|| reusable.clear());
                is_set = false;
            }
            _ => {}
        }
        assert_eq!(reusable.get().is_some(), is_set);
    }
    for future in futures {
        returns(|| drop(future));
    }
    returns(|| drop(reusable));
    seen.ended.set(true);
    let others = seen.others.take();
    drop(others);
    assert_eq!(seen.made, seen.dropped);
}
