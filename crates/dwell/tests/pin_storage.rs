//! Tests of values pinned in slabs, pools and a `Reusable`, also type-erased: the pinning guarantees hold if a pool is
//! dropped first, if a value is forgotten, if user code panics, and if another thread completes a future.

mod common;

use common::{Counts, failing_after, forget, left_by, panics};
use dwell::pin::{ErasedExt, LocalPoolFuture, LocalReusableFuture, PinExt, PoolFuture, Reusable, ReusableFuture};
use dwell::slab::{self, Pool, Pooled, Slab, Slot, sync};
use std::cell::RefCell;
use std::fmt::Debug;
use std::future::{poll_fn, ready};
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

/// Polls a future until it is ready.
fn block_on<F: Future + ?Sized>(mut future: Pin<&mut F>) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

/// Polls a future once.
fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits for `n` polls: the future is ready at poll `n + 1`.
async fn pending(n: u32) {
    let mut left = n;
    poll_fn(|_| {
        left = left.wrapping_sub(1);
        if left == u32::MAX { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// A future that borrows from itself across an await point.
async fn borrows_itself(n: u32) -> u32 {
    let numbers = [n; 4];
    let third = &numbers[2];
    pending(3).await;
    *third
}

/// A value that asserts that it is dropped where it was pinned, and records that address.
struct DropAddress<'a> {
    pinned_at: usize,
    dropped_at: &'a RefCell<Vec<usize>>,
    _pinned: PhantomPinned,
}

impl<'a> DropAddress<'a> {
    fn new(dropped_at: &'a RefCell<Vec<usize>>) -> Self {
        Self { pinned_at: 0, dropped_at, _pinned: PhantomPinned }
    }

    fn pin(self: Pin<&mut Self>) -> usize {
        // SAFETY: no field is moved out of the pinned value.
        let this = unsafe { self.get_unchecked_mut() };
        this.pinned_at = (&raw const *this).addr();
        this.pinned_at
    }
}

impl Drop for DropAddress<'_> {
    fn drop(&mut self) {
        assert_eq!(self.pinned_at, (&raw const *self).addr());
        self.dropped_at.borrow_mut().push(self.pinned_at);
    }
}

#[test]
fn pinned_slots_outlive_their_slab_or_pool() {
    let pool: Pool = Pool::new();
    let (slab, shared, shared_pool) = (Slab::new(), sync::Slab::new(), Pool::new());
    let mut in_slab: Pin<Slot<_>> = borrows_itself(1).pinned_in(&slab);
    let mut in_pool = borrows_itself(2).pinned_in(&pool);
    let mut in_shared: Pin<sync::Slot<_>> = borrows_itself(3).pinned_in(&shared);
    let mut in_shared_pool: Pin<Pooled<_>> = borrows_itself(4).pinned_in(&shared_pool);
    assert!(poll(in_slab.as_mut()).is_pending());
    assert!(poll(in_pool.as_mut()).is_pending());
    drop((slab, pool, shared, shared_pool)); // their slots stay valid
    let other = thread::spawn(move || (block_on(in_shared.as_mut()), block_on(in_shared_pool.as_mut())));
    assert_eq!((block_on(in_slab.as_mut()), block_on(in_pool.as_mut())), (1, 2));
    assert_eq!(other.join().unwrap(), (3, 4));
}

#[test]
fn pinned_values_do_not_move_until_dropped() {
    let dropped_at = RefCell::new(Vec::new());
    let slab = Slab::builder().chunk_capacity(4).build();
    let mut at = Vec::new();
    let mut kept = Vec::new();
    for _ in 0..20 {
        let mut value = DropAddress::new(&dropped_at).pinned_in(&slab);
        at.push(value.as_mut().pin());
        kept.push(value);
    }
    kept.reverse();
    drop(slab);
    drop(kept); // each asserts its address
    at.reverse();
    assert_eq!(*dropped_at.borrow(), at);
}

#[test]
fn forgotten_value_keeps_its_slot() {
    let dropped_at = RefCell::new(Vec::new());
    let slab = Slab::builder().chunk_capacity(2).build();
    let mut forgotten = DropAddress::new(&dropped_at).pinned_in(&slab);
    let address = forgotten.as_mut().pin();
    forget(forgotten, address);
    for _ in 0..10 {
        let mut other = DropAddress::new(&dropped_at).pinned_in(&slab);
        assert_ne!(other.as_mut().pin(), address);
    }
    assert_eq!(slab.len(), 1);
    slab.shrink_to_fit();
    drop(slab);
    assert_eq!(dropped_at.borrow().len(), 10);
    // The forgotten value's memory is not reused after the slab was dropped.
    let reused: Vec<Box<[u8; 64]>> = (0..100).map(|_| Box::new([0xAA; 64])).collect();
    assert!(reused.iter().all(|block| block.as_ptr().addr() != address));
}

#[test]
fn pool_futures_outlive_the_pool() {
    let pool = Pool::new();
    let mut future: PoolFuture<u32> = borrows_itself(5).pooled_in(&pool);
    assert!(poll(future.as_mut()).is_pending());
    drop(pool);
    assert_eq!(thread::spawn(move || block_on(future.as_mut())).join().unwrap(), 5);

    let local = Pool::new();
    let text = Rc::new(7);
    let borrowed = &text;
    let mut future: LocalPoolFuture<u32> = async move { **borrowed }.pooled_local_in(&local);
    assert_eq!(block_on(future.as_mut()), 7);
    assert_eq!((size_of_val(&future), size_of::<Option<PoolFuture<u32>>>()), (16, 16));
}

#[test]
fn pooled_futures_of_all_sizes_and_alignments() {
    async fn sized<const N: usize>(bytes: [u8; N]) -> u32 {
        pending(1).await;
        bytes.iter().map(|byte| u32::from(*byte)).sum()
    }
    let pool = Pool::new();
    let mut futures: Vec<PoolFuture<u32>> = vec![
        sized([1; 0]).pooled_in(&pool),
        sized([1; 1]).pooled_in(&pool),
        sized([1; 100]).pooled_in(&pool),
        sized([1; 5000]).pooled_in(&pool),
        sized([1; 40_000]).pooled(), // a dedicated block
        ready(1).pooled(),
    ];
    let sums: Vec<u32> = futures.iter_mut().map(|future| block_on(future.as_mut())).collect();
    assert_eq!(sums, [0, 1, 100, 5000, 40_000, 1]);

    #[repr(align(256))]
    struct Aligned(u8);
    let aligned = Aligned(9);
    let mut future = async move { (&raw const aligned).addr().is_multiple_of(256) && aligned.0 == 9 }.pooled();
    assert!(block_on(future.as_mut()));
}

/// An erased value takes its layout from its vtable: its slot is freed in the size class of that layout, and the last
/// slot frees the memory with the layout of its allocation.
#[test]
fn futures_of_all_sizes_outlive_the_pool() {
    async fn sized<const N: usize>(bytes: [u8; N]) -> u32 {
        pending(1).await;
        bytes.iter().map(|byte| u32::from(*byte)).sum()
    }
    macro_rules! futures {
        ($method:ident, $pool:expr) => {
            vec![
                sized([1; 0]).$method($pool),
                sized([1; 9]).$method($pool),
                sized([1; 1000]).$method($pool),
                sized([1; 2000]).$method($pool),
                sized([1; 2048]).$method($pool),
                sized([1; 2049]).$method($pool),
                sized([1; 4000]).$method($pool),
                sized([1; 8000]).$method($pool),
                sized([1; 16_000]).$method($pool),
            ]
        };
    }
    let left = left_by(|| {
        let pool = Pool::new();
        let futures: Vec<LocalPoolFuture<u32>> = futures!(pooled_local_in, &pool);
        drop(pool);
        for mut future in futures {
            assert!(poll(future.as_mut()).is_pending());
        }
    });
    assert_eq!(left, (0, 0));
    // The test allocator checks on every thread that each block is freed with the layout of its allocation.
    let pool = Pool::new();
    let (mut here, there): (Vec<PoolFuture<u32>>, Vec<PoolFuture<u32>>) =
        (futures!(pooled_in, &pool), futures!(pooled_in, &pool));
    here.truncate(5);
    let far = thread::spawn(move || there.into_iter().map(|mut future| block_on(future.as_mut())).sum::<u32>());
    assert_eq!(far.join().unwrap(), 9 + 1000 + 2000 + 2048 + 2049 + 4000 + 8000 + 16_000);
    drop(pool);
    drop(here);
}

/// A value whose drop panics frees its slot for the next one, typed or erased.
#[test]
fn panic_in_drop_of_an_erased_future_frees_the_slot() {
    struct Panics<'a>(&'a Counts, [u8; 40]);
    impl Future for Panics<'_> {
        type Output = usize;
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<usize> {
            Poll::Ready((&raw const self.1).addr())
        }
    }
    impl Drop for Panics<'_> {
        fn drop(&mut self) {
            self.0.dropped.set(self.0.dropped.get() + 1);
            panic!("intentional panic in drop");
        }
    }
    let counts = Counts::default();
    let pool = Pool::new();
    let mut first: LocalPoolFuture<usize> = Panics(&counts, [0; 40]).pooled_local_in(&pool);
    let Poll::Ready(at) = poll(first.as_mut()) else { panic!("it is ready at once") };
    assert!(panics(|| drop(first)));
    let mut second: LocalPoolFuture<usize> = Panics(&counts, [0; 40]).pooled_local_in(&pool);
    assert_eq!(poll(second.as_mut()), Poll::Ready(at));
    drop(pool);
    assert!(panics(|| drop(second)));
    assert_eq!(counts.dropped.get(), 2);
}

#[test]
fn pool_slots_are_reused_without_allocating() {
    let pool = Pool::new();
    drop(borrows_itself(1).pooled_in(&pool));
    drop(borrows_itself(1).pooled());
    failing_after(0, || {
        for n in 0..if cfg!(miri) { 10 } else { 100 } {
            assert_eq!(block_on(borrows_itself(n).pooled_in(&pool).as_mut()), n);
            assert_eq!(block_on(borrows_itself(n).pooled().as_mut()), n);
        }
    });
}

#[test]
fn failed_allocation_returns_the_value() {
    let (slab, pool, local) = (Slab::<[u64; 4]>::new(), Pool::new(), Pool::new());
    let error = failing_after(0, || [7_u64; 4].try_pinned_in(&slab)).unwrap_err();
    assert_eq!(error.into_inner(), [7; 4]);
    let error = failing_after(0, || ready([7_u64; 4]).try_pooled_in(&pool)).err().unwrap();
    assert_eq!(error.into_inner().into_inner(), [7; 4]);
    let error = failing_after(0, || ready([7_u64; 4]).try_pooled_local_in(&local)).err().unwrap();
    assert_eq!(error.into_inner().into_inner(), [7; 4]);
    assert!([7_u64; 4].try_pinned_in(&slab).is_ok());

    let mut reusable = ReusableFuture::new();
    reusable.set(ready([1_u64; 2]));
    let error = failing_after(0, || {
        reusable.try_set(async {
            pending(1).await;
            [7_u64; 2]
        })
    })
    .err()
    .unwrap();
    assert_eq!(block_on(pin!(reusable)), [1; 2]); // the old future is unchanged
    assert_eq!(block_on(pin!(error.into_inner())), [7; 2]);

    let mut local = LocalReusableFuture::new();
    let future = ready(Rc::new(7));
    let error = failing_after(0, || local.try_set_local(future).err()).unwrap();
    assert_eq!(*error.into_inner().into_inner(), 7);
    let error = failing_after(0, || ready([7_u64; 4]).try_small::<2>().err()).unwrap();
    assert_eq!(error.into_inner().into_inner(), [7; 4]);
    assert!(failing_after(0, || ready([7_u64; 1]).try_small::<3>()).is_ok());
    let shared = Rc::new(7);
    let pair = ready([Rc::clone(&shared), Rc::clone(&shared)]);
    let error = failing_after(0, || pair.try_small_local::<1>().err()).unwrap();
    assert_eq!((Rc::strong_count(&shared), *error.into_inner().into_inner()[1]), (3, 7));
}

/// `try_set_coerced` also returns the value if it is coerced to a slice that is too long.
#[test]
fn reusable_refuses_too_long_slices() {
    let mut slice = Reusable::<[()]>::new();
    slice.set_coerced([(); 3], |value| value);
    let error = slice.try_set_coerced([(); usize::MAX], |value| value).unwrap_err();
    assert_eq!(error.into_inner().len(), usize::MAX);
    assert!(panics(|| slice.set_coerced([(); usize::MAX], |value| value)));
    assert_eq!(slice.get().unwrap().len(), 3, "as it was");
}

/// The owner pointer in a block's header was derived from a reference, and the last future freed the pool through it:
/// undefined behaviour, which Miri reports.
#[test]
fn pooled_future_outlives_its_thread() {
    let mut future: PoolFuture<u32> = thread::spawn(|| borrows_itself(7).pooled()).join().unwrap();
    assert_eq!(block_on(future.as_mut()), 7);
    drop(future);
    let both = thread::spawn(|| (borrows_itself(1).pooled(), borrows_itself(2).pooled())).join().unwrap();
    drop(both.0);
    thread::spawn(move || drop(both.1)).join().unwrap();
}

#[test]
fn try_pooled_returns_the_value() {
    thread::spawn(|| {
        let error = failing_after(0, || ready([7_u64; 4]).try_pooled()).err().unwrap();
        assert_eq!(error.into_inner().into_inner(), [7; 4]);
        assert_eq!(block_on(ready([8_u64; 4]).try_pooled().unwrap().as_mut()), [8; 4]);
    })
    .join()
    .unwrap();
}

/// A future in a pool owns the pool, and a second future of that pool.
#[test]
fn future_may_own_its_pool() {
    let left = left_by(|| {
        let pool = Rc::new(Pool::new());
        let owned = Rc::clone(&pool);
        let mut future = async move {
            let inner = async { 3 }.pooled_local_in(&owned);
            pending(1).await;
            inner.await
        }
        .pooled_local_in(&pool);
        drop(pool);
        assert!(poll(future.as_mut()).is_pending());
        drop(future); // cancelled: drops the pool while its slot is freed
    });
    assert_eq!(left, (0, 0));

    let left = left_by(|| {
        type Any = Box<dyn Future<Output = bool>>;
        let futures = Rc::new(Slab::<Any>::new());
        let owned = Rc::clone(&futures);
        let future = (Box::new(async move { owned.is_empty() }) as Any).pinned_in(&*futures);
        drop(futures);
        drop(future);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn cancellation_at_every_await_drops_once() {
    let counts = Counts::default();
    let pool = Pool::new();
    for polls in 0..5 {
        let work = async {
            let _a = counts.spy(1);
            pending(1).await;
            let _b = counts.spy(2);
            pending(1).await;
            let _c = counts.spy(3);
        };
        let mut future = work.pooled_local_in(&pool);
        for _ in 0..polls {
            if poll(future.as_mut()).is_ready() {
                break;
            }
        }
    }
    assert!(counts.balanced());
    assert_eq!(counts.made.get(), 1 + 2 + 3 + 3);
}

#[test]
fn panics_in_poll_and_drop_free_the_slot() {
    let counts = Counts::default();
    let slab = Slab::new();
    let make = || counts.spy(1);
    assert!(panics(|| {
        let mut value = make().pinned_in(&slab);
        counts.panic_at_drop.set(counts.dropped.get() + 1);
        let _ = value.as_mut();
        drop(value);
    }));
    assert!(slab.is_empty() && counts.balanced());
    let pool = Pool::new();
    assert!(panics(|| {
        let in_poll = async {
            let _a = counts.spy(1);
            pending(1).await;
            panic!("intentional panic in poll");
        };
        let mut future: LocalPoolFuture<()> = in_poll.pooled_local_in(&pool);
        block_on(future.as_mut());
    }));
    assert!(counts.balanced());
}

#[test]
fn pooled_futures_can_be_sent_before_and_after_thread_exit() {
    const FUTURES: u32 = if cfg!(miri) { 40 } else { 1000 };
    let barrier = Arc::new(Barrier::new(2));
    let (sender, receiver) = mpsc::channel::<PoolFuture<'static, u32>>();
    let maker = thread::spawn({
        let barrier = Arc::clone(&barrier);
        move || {
            for n in 0..FUTURES {
                sender.send(borrows_itself(n).pooled()).unwrap();
            }
            barrier.wait(); // some are dropped while this thread makes more, others after it ended
        }
    });
    let mut sum = 0;
    for (index, mut future) in (0_u32..).zip(receiver) {
        if index == FUTURES / 2 {
            barrier.wait();
        }
        sum += block_on(future.as_mut());
    }
    maker.join().unwrap();
    assert_eq!(sum, (0..FUTURES).sum::<u32>());
}

#[test]
fn futures_can_be_pooled_during_thread_exit() {
    struct AtExit;
    impl Drop for AtExit {
        fn drop(&mut self) {
            assert_eq!(block_on(borrows_itself(8).pooled().as_mut()), 8);
        }
    }
    std::thread_local! {
        static FIRST: AtExit = const { AtExit };
    }
    for pool_first in [false, true] {
        thread::spawn(move || {
            if pool_first {
                drop(ready(1).pooled());
            }
            FIRST.with(|_| ());
            drop(ready(1).pooled());
        })
        .join()
        .unwrap();
    }
}

#[test]
fn reusable_reuses_its_block() {
    let left = left_by(|| {
        let mut future = ReusableFuture::new();
        assert!(future.get().is_none());
        future.set(borrows_itself(1));
        assert_eq!(block_on(pin!(&mut future)), 1);
        future.set(async { ready([3_u32; 200]).await[0] });
        failing_after(0, || {
            for n in 0..10 {
                future.set(borrows_itself(n)); // smaller, in the same block
                assert_eq!(block_on(future.get().unwrap()), n);
                future.set(async { 4 });
                assert_eq!(block_on(future.get().unwrap()), 4);
            }
        });
        future.clear();
        assert!(future.get().is_none());
        future.clear();
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn local_reusable_holds_futures_that_are_not_send() {
    let left = left_by(|| {
        let shared = Rc::new(7);
        let mut future = LocalReusableFuture::new();
        for _ in 0..2 {
            let shared = Rc::clone(&shared);
            future.set_local(async move {
                pending(1).await;
                *shared
            });
        }
        assert_eq!(Rc::strong_count(&shared), 2, "the first is dropped");
        assert_eq!(block_on(pin!(&mut future)), 7);
        assert_eq!(Rc::strong_count(&shared), 1, "it has ended");
        let returned = failing_after(0, || {
            let large = [(); 200].map(|()| Rc::clone(&shared));
            let set = future.try_set_coerced(async move { *large[0] }, |value| value as _);
            set.is_err_and(|_large| Rc::strong_count(&shared) == 1 + 200)
        });
        assert!(returned);
        drop(future);
        assert_eq!(Rc::strong_count(&shared), 1);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn reusable_holds_all_layouts() {
    #[derive(Debug)]
    #[repr(align(64))]
    struct Nothing;
    #[derive(Debug)]
    #[repr(align(128))]
    #[expect(dead_code, reason = "read by `Debug` only")]
    struct Aligned(u8);
    let left = left_by(|| {
        let mut value = Reusable::<dyn Debug>::new();
        value.set_coerced(Nothing, |value| value);
        assert_eq!((&raw const *value.get().unwrap()).addr() % 64, 0);
        value.set_coerced([1_u8; 3], |value| value);
        assert_eq!((&raw const *value.get().unwrap()).addr() % 64, 0); // the block keeps the larger alignment
        value.set_coerced(Aligned(7), |value| value);
        assert_eq!((&raw const *value.get().unwrap()).addr() % 128, 0);
        assert_eq!(format!("{value:?}"), "Reusable(Some(Aligned(7)))");
        assert_eq!(value.get().map(|value| format!("{value:?}")).unwrap(), "Aligned(7)");
        failing_after(0, || {
            value.set_coerced([2_u8; 128], |value| value);
            value.set_coerced((), |value| value);
        });
        let mut slice = Reusable::<[String]>::new();
        slice.set_coerced([String::from("a"), String::from("b")], |value| value);
        assert_eq!(slice.get().unwrap().len(), 2);
    });
    assert_eq!(left, (0, 0));
}

#[test]
fn reusable_survives_panics() {
    let counts = Counts::default();
    let left = left_by(|| {
        let mut value = Reusable::<dyn Debug + '_>::new();
        value.set_coerced(counts.spy(1), |value| value);
        // The drop of the old value panics: the `Reusable` is then empty, and the new value is dropped.
        counts.panic_at_drop.set(counts.dropped.get() + 1);
        assert!(panics(|| value.set_coerced(counts.spy(2), |value| value)));
        assert!(value.get().is_none() && counts.balanced());
        // The same if a new block is needed.
        value.set_coerced(counts.spy(3), |value| value);
        counts.panic_at_drop.set(counts.dropped.get() + 1);
        assert!(panics(|| value.set_coerced((counts.spy(4), [0_u8; 1000]), |value| value)));
        assert!(value.get().is_none() && counts.balanced());
        // The closure panics: the old value stays.
        value.set_coerced(counts.spy(5), |value| value);
        assert!(panics(|| value.set_coerced(counts.spy(6), |_| panic!("intentional"))));
        assert!(value.get().is_some());
        counts.panic_at_drop.set(counts.dropped.get() + 1);
        assert!(panics(|| drop(value)));
    });
    assert!(counts.balanced());
    assert_eq!(left, (0, 0));
}

/// The drop of a future uses the `Reusable` that holds it, as far as safe code can.
#[test]
fn future_re_enters_its_reusable_in_drop() {
    type Shared = Rc<RefCell<LocalReusableFuture<'static, u32>>>;
    struct Reenters(Shared, Rc<RefCell<Vec<bool>>>);
    impl Future for Reenters {
        type Output = u32;
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<u32> {
            // The cell is borrowed, since the poll goes through it.
            self.1.borrow_mut().push(self.0.try_borrow_mut().is_ok());
            Poll::Pending
        }
    }
    impl Drop for Reenters {
        fn drop(&mut self) {
            let free = match self.0.try_borrow_mut() {
                Ok(mut future) => {
                    future.set_local(ready(2));
                    true
                }
                Err(_) => false,
            };
            self.1.borrow_mut().push(free);
        }
    }
    let left = left_by(|| {
        let shared = Shared::default();
        let seen = Rc::default();
        shared.borrow_mut().set_local(Reenters(Rc::clone(&shared), Rc::clone(&seen)));
        assert!(poll(shared.borrow_mut().get().unwrap()).is_pending());
        shared.borrow_mut().set_local(ready(1)); // drops the future while the cell is borrowed
        assert_eq!(poll(shared.borrow_mut().get().unwrap()), Poll::Ready(1));
        // If the `Reusable` is taken out of the cell first, the drop of its future finds another one there and replaces
        // its future.
        shared.borrow_mut().set_local(Reenters(Rc::clone(&shared), Rc::clone(&seen)));
        let taken = shared.take();
        shared.borrow_mut().set_local(ready(3));
        drop(taken);
        assert_eq!(poll(shared.borrow_mut().get().unwrap()), Poll::Ready(2));
        assert_eq!(*seen.borrow(), [false, false, true]);
    });
    assert_eq!(left, (0, 0));
}

/// After a panic in a poll the future can still be polled, replaced and dropped, in every kind of storage.
#[test]
fn future_stays_usable_after_a_panic_in_poll() {
    let counts = Counts::default();
    let bad = || async {
        let _spy = counts.spy(1);
        pending(1).await;
        panic!("intentional");
    };
    fn check(mut future: Pin<&mut dyn Future<Output = ()>>) {
        assert!(poll(future.as_mut()).is_pending());
        assert!(panics(|| _ = poll(future.as_mut())));
        assert!(panics(|| _ = poll(future.as_mut()))); // an async block that has panicked panics again
    }
    let left = left_by(|| {
        check(pin!(bad().inline_local::<16>()));
        check(pin!(bad().small_local::<16>()));
        check(pin!(bad().small_local::<1>()));
        let pool = Pool::new();
        check(bad().pooled_local_in(&pool).as_mut());
        let mut reusable = LocalReusableFuture::new();
        reusable.set_local(bad());
        check(reusable.get().unwrap());
        reusable.set_local(bad());
        check(pin!(&mut reusable));
        reusable.set_local(pending(2));
        block_on(pin!(&mut reusable));
    });
    assert!(counts.balanced());
    assert_eq!((counts.made.get(), left), (6, (0, 0)));
}

/// `set_coerced` drops the old value at its pinned address before it stores the new one.
#[test]
fn replaced_values_are_dropped_in_place() {
    let dropped_at = RefCell::new(Vec::new());
    let mut reusable = Reusable::<DropAddress<'_>>::new();
    let mut at = Vec::new();
    for _ in 0..3 {
        reusable.set_coerced(DropAddress::new(&dropped_at), |value| value);
        at.push(reusable.get().unwrap().pin());
    }
    reusable.clear();
    assert_eq!(*dropped_at.borrow(), at);
}

#[test]
fn forgotten_reusable_only_leaks() {
    let counts = Counts::default();
    let mut value = Reusable::<dyn Debug + '_>::new();
    value.set_coerced(counts.spy(1), |value| value);
    let address = (&raw const *value.get().unwrap()).addr();
    forget(value, address);
    assert_eq!(counts.dropped.get(), 0);
}

#[test]
#[should_panic = "polled without a future"]
fn polling_an_empty_reusable_panics() {
    let mut future = ReusableFuture::<()>::new();
    let _ = poll(Pin::new(&mut future));
}

#[test]
fn auto_traits() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    fn unpin<T: Unpin>() {}
    fn unwind<T: UnwindSafe + RefUnwindSafe>() {}
    send::<PoolFuture<'_, Rc<u8>>>(); // the output is not stored in the future
    send::<ReusableFuture<'_, u8>>();
    sync::<Reusable<dyn Debug + Sync>>();
    unpin::<Reusable<PhantomPinned>>();
    unpin::<PoolFuture<'_, u8>>();
    unwind::<Reusable<dyn Debug + UnwindSafe + RefUnwindSafe>>();
    assert_eq!(size_of::<ReusableFuture<'_, ()>>(), 4 * size_of::<usize>());
    let _: fn() -> slab::Pool = slab::Pool::new;
}
