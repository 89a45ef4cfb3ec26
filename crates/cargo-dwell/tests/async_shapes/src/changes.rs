//! Futures before and after a change that `cargo dwell futures` suggests. The change must save the bytes that the
//! suggestion predicts.

use crate::poll::step;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;

async fn twice(large: [u8; 1000], text: String) -> usize {
    step().await;
    step().await;
    usize::from(large[3]) + text.len()
}

fn twice_changed(large: [u8; 1000], text: String) -> impl Future<Output = usize> {
    async move {
        step().await;
        step().await;
        usize::from(large[3]) + text.len()
    }
}

async fn unused(data: [u8; 400]) -> u8 {
    let first = data[3];
    step().await;
    first
}

fn unused_changed(data: [u8; 400]) -> impl Future<Output = u8> {
    let first = data[3];
    async move {
        step().await;
        first
    }
}

async fn ended() -> usize {
    let values = black_box([7u8; 500]);
    let number = values.iter().count();
    step().await;
    number
}

async fn ended_changed() -> usize {
    let number = {
        let values = black_box([7u8; 500]);
        values.iter().count()
    };
    step().await;
    number
}

async fn large() {
    let values = black_box([1u8; 2000]);
    step().await;
    black_box(values);
}

async fn middle() {
    let values = black_box([1u8; 600]);
    step().await;
    black_box(values);
}

async fn branches(which: bool) {
    let kept = black_box([1u8; 100]);
    if which {
        large().await;
    } else {
        middle().await;
    }
    black_box(kept);
}

async fn branches_changed(which: bool) {
    let kept = black_box([1u8; 100]);
    if which {
        Box::pin(large()).await;
    } else {
        middle().await;
    }
    black_box(kept);
}

async fn waits<F: Future<Output = ()>>(future: F) {
    future.await;
}

async fn waits_changed<F: Future<Output = ()>>(future: Pin<Box<F>>) {
    future.await;
}

async fn buffer() -> usize {
    let buffer = black_box([0u8; 4096]);
    step().await;
    buffer.len()
}

async fn buffer_changed() -> usize {
    let buffer = black_box(Box::new([0u8; 4096]));
    step().await;
    buffer.len()
}

pub fn print() {
    macro_rules! change {
        ($kind:literal, $name:literal, $before:expr, $after:expr) => {
            let (before, after) = ($before, $after);
            println!("change {} {} {} {}", $kind, $name, size_of_val(&before), size_of_val(&after));
            let _ = (crate::poll::run(before), crate::poll::run(after));
        };
    }
    let (array, text) = ([1; 1000], String::new);
    change!("held-twice", "twice", twice(array, text()), twice_changed(array, text()));
    change!("unused-argument", "unused", unused([1; 400]), unused_changed([1; 400]));
    change!("drop-before-await", "ended", ended(), ended_changed());
    change!("box-future", "branches", branches(true), branches_changed(true));
    change!("held-twice", "waits", waits(middle()), waits_changed(Box::pin(middle())));
    change!("box-value", "buffer", buffer(), buffer_changed());
}
