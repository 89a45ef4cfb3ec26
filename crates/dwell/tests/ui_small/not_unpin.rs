//! A future that must not move, pinned without a pinned owner.
use dwell::{SmallBox, small_box};
use std::pin::Pin;
use std::task::{Context, Waker};

fn main() {
    let mut future: SmallBox<dyn Future<Output = u8>> = small_box!(async { 7_u8 });
    let _poll = Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop()));
}
