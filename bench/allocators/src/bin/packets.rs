//! A node that forwards packets between threads, with a backlog at times (EasyTier#2428).
use dwell_bench_allocators::{Random, block, serve};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::{thread, time::Duration};

fn send(number: u64, sender: &SyncSender<Vec<u8>>) {
    let mut random = Random(number + 1);
    for _ in 0..40_000 {
        sender.send(block(60 + random.below(1440))).expect("it receives");
    }
}

fn main() {
    let (sender, receiver) = sync_channel::<Vec<u8>>(30_000);
    let mut all: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
    for number in 0..4 {
        let sender = sender.clone();
        all.push(Box::new(move || send(number, &sender)));
    }
    drop(sender);
    all.push(Box::new(move || {
        thread::sleep(Duration::from_millis(100));
        let bytes: usize = receiver.iter().map(|packet| packet.len()).sum();
        assert!(bytes > 0);
    }));
    serve(all);
}
