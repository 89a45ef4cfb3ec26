//! Futures that are not awaited.
#![deny(unused_must_use)]
use dwell::pin::{ErasedExt, InlineFuture, PoolFuture};
use dwell::{SmallBox, small_box};

fn inline() -> InlineFuture<'static, (), 1> {
    async {}.inline()
}

fn small() -> SmallBox<dyn Future<Output = ()>> {
    small_box!(async {})
}

fn pooled() -> PoolFuture<'static, ()> {
    async {}.pooled()
}

async fn caller() {
    inline();
    small();
    pooled();
    async {}.inline::<4>();
    async {}.small::<2>();
    async {}.try_small::<2>().unwrap();
    async {}.pooled();
}

fn main() {
    let _ = caller();
}
