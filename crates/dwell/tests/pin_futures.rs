//! Tests of streams, sinks, readers and writers in every kind of storage, and of tower services.
#![cfg(all(feature = "futures", feature = "tower"))]

mod common;

use common::failing_after;
use dwell::pin::tower::{PoolCallsLayer, PoolCloneService, PoolCloneSyncService, PoolService};
use dwell::pin::{ErasedReadExt, ErasedSinkExt, ErasedStreamExt, ErasedWriteExt, InlineBox, Reusable};
use dwell::slab::{Pool, Pooled, Slab};
use dwell::{SmallBox, small_box};
use futures::executor::{block_on, block_on_stream};
use futures::future::FusedFuture;
use futures::io::Cursor;
use futures::stream::FusedStream;
use futures::{
    AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncSeekExt, AsyncWriteExt, FutureExt, SinkExt, Stream, StreamExt,
    stream,
};
use std::io::SeekFrom;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};

/// Returns a stream of numbers that is pending once before each.
fn numbers(to: u32) -> impl Stream<Item = u32> + Send {
    stream::iter(0..to).then(|n| async move {
        futures::pending!();
        n
    })
}

/// Sums a stream. Polls without waiting for a wake-up, since `pending!` does not wake the task.
fn sum<S: Stream<Item = u32> + ?Sized>(mut stream: Pin<&mut S>) -> u32 {
    let mut context = Context::from_waker(Waker::noop());
    let mut sum = 0;
    loop {
        match stream.as_mut().poll_next(&mut context) {
            Poll::Ready(Some(n)) => sum += n,
            Poll::Ready(None) => return sum,
            Poll::Pending => {}
        }
    }
}

#[test]
fn streams_in_all_storages() {
    let pool = Pool::new();
    let inline: InlineBox<dyn Stream<Item = u32> + Send, 16> = numbers(4).inline();
    assert_eq!(inline.size_hint(), numbers(4).size_hint());
    assert_eq!(sum(pin!(inline)), 6);
    assert_eq!(sum(pin!(numbers(4).small_local::<2>())), 6);
    assert_eq!(sum(numbers(4).pooled_in(&pool).as_mut()), 6);
    let mut pooled = ErasedStreamExt::pooled(numbers(4));
    assert_eq!(thread::spawn(move || sum(pooled.as_mut())).join().unwrap(), 6);
    // A slot whose value is an `Unpin` stream is a stream without being pinned.
    let slab = Slab::new();
    assert_eq!(block_on_stream(slab.insert(stream::iter(0..4))).sum::<u32>(), 6);
}

#[test]
fn reusable_holds_streams_one_after_another() {
    let mut reusable = Reusable::<dyn Stream<Item = u32>>::new();
    assert_eq!(reusable.size_hint(), (0, Some(0)));
    assert_eq!(sum(Pin::new(&mut reusable)), 0);
    reusable.set_coerced(stream::iter(0..4), |value| value);
    assert_eq!(reusable.size_hint(), (4, Some(4)));
    reusable.set_coerced(numbers(4), |value| value);
    assert_eq!(reusable.size_hint(), numbers(4).size_hint());
    assert_eq!(sum(Pin::new(&mut reusable)), 6);
    reusable.set_coerced(stream::once(async { 5 }), |value| value);
    assert_eq!(sum(Pin::new(&mut reusable)), 5);
}

#[test]
fn sinks_in_inline_and_pooled_storage() {
    let mut received = Vec::new();
    block_on(async {
        let mut inline = pin!(ErasedSinkExt::<u32>::inline_local::<4>(&mut received));
        inline.send(1).await.unwrap();
        inline.send_all(&mut stream::iter([Ok(2), Ok(3)])).await.unwrap();
        inline.close().await.unwrap();
    });
    assert_eq!(received, [1, 2, 3]);
    let (to_pool, from_pool) = futures::channel::mpsc::unbounded::<u32>();
    let mut pooled = ErasedSinkExt::pooled(to_pool);
    block_on(pooled.send(7)).unwrap();
    drop(pooled);
    assert_eq!(block_on_stream(from_pool).collect::<Vec<_>>(), [7]);
}

#[test]
fn readers_and_writers_in_pooled_and_small_storage() {
    let pool = Pool::new();
    let mut text = String::new();
    let mut reader = ErasedReadExt::pooled_in(Cursor::new("in a pool"), &pool);
    block_on(reader.read_to_string(&mut text)).unwrap();
    assert_eq!(text, "in a pool");

    let mut bytes = Vec::new();
    block_on(async {
        let mut writer = pin!(ErasedWriteExt::small_local::<2>(&mut bytes));
        writer.write_all(b"in ").await.unwrap();
        let parts = [std::io::IoSlice::new(b"pla"), std::io::IoSlice::new(b"ce")];
        assert_eq!(writer.write_vectored(&parts).await.unwrap(), 5);
        writer.close().await.unwrap();
    });
    assert_eq!(bytes, b"in place");
}

#[test]
fn buffered_readers_and_seeks_in_all_storages() {
    type Inline = InlineBox<dyn AsyncBufRead + Send, 8>;
    fn text() -> Cursor<Vec<u8>> {
        Cursor::new(b"one\ntwo".to_vec())
    }
    async fn lines(reader: impl AsyncBufRead) -> Vec<String> {
        pin!(reader).lines().map(Result::unwrap).collect().await
    }
    let pool = Pool::new();
    let slot: Pooled<dyn AsyncBufRead + Send + Unpin> = pool.insert(text()).coerce(|value| value as _);
    let small: SmallBox<dyn AsyncBufRead> = small_box!(text());
    block_on(async {
        assert_eq!(lines(Inline::new_coerced(text(), |value| value as _)).await, ["one", "two"]);
        assert_eq!(lines(small).await, ["one", "two"]);
        assert_eq!(lines(slot).await, ["one", "two"]);
        let pinned: Pin<Pooled<Cursor<Vec<u8>>>> = pool.insert(text()).into_pin();
        assert_eq!(lines(pinned).await, ["one", "two"]);

        let mut rest = String::new();
        let mut seek = pin!(SmallBox::<Cursor<Vec<u8>>, 8>::from(text()));
        assert_eq!(seek.seek(SeekFrom::End(-2)).await.unwrap(), 5);
        seek.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "wo");
        let mut seek = pool.insert(text()).into_pin();
        assert_eq!(seek.seek(SeekFrom::Start(6)).await.unwrap(), 6);
        seek.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "woo");
    });
}

#[test]
fn fused_futures_and_streams_in_all_storages() {
    let mut context = Context::from_waker(Waker::noop());
    macro_rules! check {
        ($future:expr) => {
            let mut future = $future;
            assert!(!future.is_terminated());
            assert!(future.as_mut().poll(&mut context).is_ready());
            assert!(future.is_terminated());
        };
    }
    type Fused = dyn FusedFuture<Output = u8>;
    fn seven() -> impl FusedFuture<Output = u8> {
        async { 7 }.fuse()
    }
    let pool = Pool::new();
    check!(pin!(InlineBox::<Fused, 8>::new_coerced(seven(), |value| value as _)));
    check!(pin!(SmallBox::<Fused, 8>::new_coerced(seven(), |value| value)));
    check!(pool.insert(seven()).coerce::<Fused, _>(|value| value).into_pin());
    let mut reusable = Reusable::<Fused>::new();
    assert!(reusable.is_terminated());
    reusable.set_coerced(seven(), |value| value as _);
    check!(Pin::new(&mut reusable));

    macro_rules! check_stream {
        ($stream:expr) => {
            let mut stream = $stream;
            assert!(!stream.is_terminated());
            assert_eq!(stream.as_mut().poll_next(&mut context), Poll::Ready(Some(1)));
            assert_eq!(stream.as_mut().poll_next(&mut context), Poll::Ready(None));
            assert!(stream.is_terminated());
        };
    }
    type FusedS = dyn FusedStream<Item = u8>;
    fn one() -> impl FusedStream<Item = u8> {
        stream::iter([1]).fuse()
    }
    check_stream!(pin!(InlineBox::<FusedS, 8>::new_coerced(one(), |value| value as _)));
    check_stream!(pin!(SmallBox::<FusedS, 8>::new_coerced(one(), |value| value)));
    check_stream!(pool.insert(one()).coerce::<FusedS, _>(|value| value).into_pin());
    let mut reusable = Reusable::<FusedS>::new();
    assert!(reusable.is_terminated());
    reusable.set_coerced(one(), |value| value as _);
    check_stream!(Pin::new(&mut reusable));
}

/// In `select!`, which takes fused futures.
#[test]
fn pooled_futures_in_select() {
    let pool = Pool::new();
    let mut ready = pool.insert(async { 1 }.fuse()).into_pin();
    let mut never = pool.insert(std::future::pending::<u8>().fuse()).into_pin();
    let won = block_on(async {
        futures::select! { n = ready => n, n = never => n }
    });
    assert_eq!(won, 1);
}

/// Polls a future until it is ready.
fn finish<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
}

#[test]
fn pool_services_can_be_called() {
    async fn add_one(n: u32) -> Result<u32, String> {
        n.checked_add(1).ok_or_else(|| "too many".to_owned())
    }
    let mut erased = PoolService::new(service_fn(add_one));
    assert_eq!(finish(async { erased.ready().await?.call(1).await }), Ok(2));
    let mut cloned = PoolCloneService::new(service_fn(add_one)).clone();
    assert_eq!(finish(cloned.call(u32::MAX)), Err("too many".to_owned()));
    let synced = PoolCloneSyncService::new(service_fn(add_one));
    thread::scope(|scope| {
        for n in 0..2 {
            let synced = &synced;
            scope.spawn(move || assert_eq!(finish(synced.clone().call(n)), Ok(n + 1)));
        }
    });
    let mut called = ServiceBuilder::new().layer(PoolCallsLayer).service_fn(add_one);
    let call = called.call(4);
    assert_eq!(finish(call), Ok(5));
}

#[test]
fn failed_allocation_returns_the_service() {
    thread::spawn(|| {
        // This thread's pool is empty.
        let service = service_fn(|n: u32| async move { Ok::<_, ()>(n + 1) });
        let error = failing_after(0, || PoolService::try_new(service).err()).expect("there is no memory");
        let service =
            failing_after(0, || PoolCloneSyncService::try_new(error.into_inner()).err()).unwrap().into_inner();
        assert_eq!(finish(PoolCloneService::try_new(service).unwrap().call(1)), Ok(2));
    })
    .join()
    .unwrap();
}

#[test]
fn eight_layers_allocate_nothing() {
    type Erased = PoolCloneService<u64, u64, ()>;
    {
        let mut service = Erased::new(service_fn(|n: u64| async move { Ok(n) }));
        for _ in 0..8 {
            service = Erased::new(service.map_response(|n: u64| n + 1));
        }
        assert_eq!(finish(service.clone().call(1)), Ok(9)); // grows the pool
        failing_after(0, || {
            for n in 0..if cfg!(miri) { 4 } else { 100 } {
                assert_eq!(finish(service.call(n)), Ok(n + 8));
                assert_eq!(finish(service.clone().oneshot(n)), Ok(n + 8));
            }
        });
    }
}

#[test]
fn auto_traits() {
    fn send<T: Send>() {}
    fn sync<T: Sync>() {}
    use std::cell::Cell;
    send::<PoolService<Cell<u8>, u8, ()>>();
    sync::<PoolService<Cell<u8>, u8, ()>>();
    send::<PoolCloneService<Cell<u8>, u8, ()>>();
    send::<PoolCloneSyncService<Cell<u8>, u8, ()>>();
    sync::<PoolCloneSyncService<Cell<u8>, u8, ()>>();
}
