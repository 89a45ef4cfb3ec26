//! Futures of public reports, rebuilt small from their text. Each has its changed form beside it.

use std::future::{Future, poll_fn};
use std::hint::black_box;
use std::pin::pin;
use std::task::Poll;

fn step() -> impl Future<Output = ()> {
    let mut waits = true;
    poll_fn(move |context| {
        context.waker().wake_by_ref();
        if std::mem::take(&mut waits) { Poll::Pending } else { Poll::Ready(()) }
    })
}

async fn timeout<F: Future>(left: u32, future: F) -> Result<F::Output, u32> {
    let mut future = pin!(future);
    let mut left = left;
    poll_fn(move |context| match future.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Ok(value)),
        Poll::Pending if left == 0 => Poll::Ready(Err(left)),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// pgdog 1376: a timeout around each exchange, by value through two functions.
async fn safe_timeout<F: Future>(left: u32, future: F) -> Option<F::Output> {
    step().await;
    timeout(left, future).await.ok()
}
async fn exchange(number: u8) -> usize {
    let message = black_box([number; 4000]);
    step().await;
    message.iter().filter(|byte| **byte == number).count()
}
pub async fn client(number: u8) -> usize {
    safe_timeout(9, exchange(number)).await.unwrap_or(0)
}
pub async fn client_changed(number: u8) -> usize {
    safe_timeout(9, Box::pin(exchange(number))).await.unwrap_or(0)
}

/// xet-core 908: a limit of tasks takes each transfer by value and awaits it after its own `.await`.
async fn limited<T>(permits: &mut u32, task: impl Future<Output = T>) -> T {
    step().await;
    *permits -= 1;
    let result = task.await;
    *permits += 1;
    step().await;
    result
}
async fn transfer(number: u8) -> usize {
    let chunk = black_box([number; 5800]);
    step().await;
    chunk.len()
}
pub async fn upload(number: u8) -> usize {
    let mut permits = 3;
    limited(&mut permits, transfer(number)).await
}
pub async fn upload_changed(number: u8) -> usize {
    let mut permits = 3;
    limited(&mut permits, Box::pin(transfer(number))).await
}

/// ipa 1329: protocols that only pass their inputs on.
pub struct Shares([u64; 380]);
async fn semi_honest(record: u32, left: Shares, right: Shares) -> Result<u64, String> {
    step().await;
    let sum = left.0[0] + right.0[0];
    step().await;
    if record == 0 { Err(String::from("no record")) } else { Ok(sum) }
}
pub async fn multiply(record: u32, left: Shares, right: Shares) -> Result<u64, String> {
    semi_honest(record, left, right).await
}
pub fn multiply_changed(record: u32, left: Shares, right: Shares) -> impl Future<Output = Result<u64, String>> {
    semi_honest(record, left, right)
}

pub fn shares() -> Shares {
    Shares(black_box([1; 380]))
}
