//! `queues`: channels, maps with shards and inline vectors of other crates, with a known number of values.

use bytes::{Bytes, BytesMut};
use dashmap::DashMap;
use std::hint::black_box;
use std::sync::mpsc;

/// A message: 24 B of text on the heap, and 40 B of numbers.
struct Message {
    text: String,
    numbers: Vec<u64>,
    number: u64,
}

fn message(number: u64) -> Message {
    Message { text: format!("this is message {number:08}"), numbers: vec![number; 5], number }
}

struct OfTokio(Message);
struct OfBounded(Message);
struct OfStd(Message);
struct OfSync(Message);
struct OfBroadcast(Message);
struct OfCrossbeam(Message);
struct OfFlume(Message);

impl Clone for OfBroadcast {
    fn clone(&self) -> Self {
        Self(message(self.0.number))
    }
}

struct Queues {
    few: Vec<heapless::Vec<String, 8>>,
    tokio: (tokio::sync::mpsc::UnboundedSender<OfTokio>, tokio::sync::mpsc::UnboundedReceiver<OfTokio>),
    bounded: (tokio::sync::mpsc::Sender<OfBounded>, tokio::sync::mpsc::Receiver<OfBounded>),
    std: (mpsc::Sender<OfStd>, mpsc::Receiver<OfStd>),
    sync: (mpsc::SyncSender<OfSync>, mpsc::Receiver<OfSync>),
    broadcast: (tokio::sync::broadcast::Sender<OfBroadcast>, tokio::sync::broadcast::Receiver<OfBroadcast>),
    crossbeam: (crossbeam_channel::Sender<OfCrossbeam>, crossbeam_channel::Receiver<OfCrossbeam>),
    flume: (flume::Sender<OfFlume>, flume::Receiver<OfFlume>),
    shards: DashMap<u64, String>,
    /// It was large once.
    emptied: DashMap<u64, [u64; 4]>,
    pins: Vec<Bytes>,
}

/// Fills the channels, and takes some of the messages out again.
fn queues() -> Queues {
    let (tokio, mut of_tokio) = tokio::sync::mpsc::unbounded_channel();
    (0..100).for_each(|i| tokio.send(OfTokio(message(i))).ok().unwrap());
    (0..40).for_each(|_| drop(of_tokio.try_recv().unwrap()));
    let (bounded, mut of_bounded) = tokio::sync::mpsc::channel(64);
    (0..50).for_each(|i| bounded.try_send(OfBounded(message(i))).ok().unwrap());
    (0..10).for_each(|_| drop(of_bounded.try_recv().unwrap()));
    let (std, of_std) = mpsc::channel();
    (0..100).for_each(|i| std.send(OfStd(message(i))).unwrap());
    (0..45).for_each(|_| drop(of_std.recv().unwrap()));
    let (sync, of_sync) = mpsc::sync_channel(64);
    (0..30).for_each(|i| sync.send(OfSync(message(i))).unwrap());
    (0..5).for_each(|_| drop(of_sync.recv().unwrap()));
    let (broadcast, of_broadcast) = tokio::sync::broadcast::channel(32);
    (0..20).for_each(|i| assert!(broadcast.send(OfBroadcast(message(i))).is_ok()));
    let (crossbeam, of_crossbeam) = crossbeam_channel::unbounded();
    (0..70).for_each(|i| crossbeam.send(OfCrossbeam(message(i))).unwrap());
    (0..35).for_each(|_| drop(of_crossbeam.recv().unwrap()));
    let (flume, of_flume) = flume::unbounded();
    (0..25).for_each(|i| flume.send(OfFlume(message(i))).unwrap());
    (0..3).for_each(|_| drop(of_flume.recv().unwrap()));
    let pins = (0..10).map(|_| {
        let mut buffer = BytesMut::with_capacity(4096);
        buffer.extend_from_slice(&[1; 4000]);
        buffer.freeze().slice(100..120)
    });
    Queues {
        few: (0..20).map(|i| (0..i % 4).map(|i| format!("inline {i}")).collect()).collect(),
        tokio: (tokio, of_tokio),
        bounded: (bounded, of_bounded),
        std: (std, of_std),
        sync: (sync, of_sync),
        broadcast: (broadcast, of_broadcast),
        crossbeam: (crossbeam, of_crossbeam),
        flume: (flume, of_flume),
        shards: (0..500).map(|i| (i, format!("value {i}"))).collect(),
        emptied: {
            let map: DashMap<u64, [u64; 4]> = (0..20_000).map(|i| (i, [i; 4])).collect();
            map.retain(|key, _| *key < 100);
            map
        },
        pins: pins.collect(),
    }
}

fn main() {
    let queues = Box::leak(black_box(Box::new(queues())));
    // Uses the fields, so that the optimiser keeps their types.
    black_box((&queues.emptied, &queues.few[1], &queues.shards, &queues.pins[0], &queues.tokio.0, &queues.bounded.0, &queues.std.0));
    black_box((&queues.sync.0, &queues.broadcast.0, &queues.crossbeam.0, &queues.flume.0));
    let used = |message: &Message| message.number + message.numbers.len() as u64 + message.text.len() as u64;
    let queues = (OfTokio(message(0)), OfBounded(message(0)), OfStd(message(0)), OfSync(message(0)), OfFlume(message(0)));
    black_box([used(&queues.0.0), used(&queues.1.0), used(&queues.2.0), used(&queues.3.0), used(&queues.4.0)]);
    black_box(used(&OfBroadcast(message(0)).0) + used(&OfCrossbeam(message(0)).0));
}
