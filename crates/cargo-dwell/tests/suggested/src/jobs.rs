//! Trait objects in a channel and in a list.

use std::hint::black_box;
use std::mem::size_of;
use std::sync::mpsc::{Receiver, Sender, channel};

pub trait Job {
    fn run(&self) -> u64;
}

struct Small(u64);
struct Large([u64; 3]);
struct Other([u64; 3]);

impl Job for Small {
    fn run(&self) -> u64 {
        self.0
    }
}
impl Job for Large {
    fn run(&self) -> u64 {
        self.0[0]
    }
}
impl Job for Other {
    fn run(&self) -> u64 {
        self.0[1]
    }
}

pub struct Queue {
    sender: Sender<Box<dyn Job>>,
    receiver: Receiver<Box<dyn Job>>,
    waiting: Vec<Box<dyn Job>>,
}

/// A block of the channel, as std has it: 31 messages, each with a state, and the next block.
struct Block<T>([(T, usize); 31], usize);

pub fn run() -> u64 {
    let (sender, receiver) = channel();
    let mut queue = Queue { sender, receiver, waiting: Vec::new() };
    let jobs: [Box<dyn Job>; 3] = [Box::new(Small(1)), Box::new(Large([2; 3])), Box::new(Other([3; 3]))];
    jobs.into_iter().for_each(|job| queue.sender.send(job).unwrap());
    queue.waiting.push(queue.receiver.recv().unwrap());
    println!("block N=3 {} {}", size_of::<Block<[u64; 2]>>(), size_of::<Block<[u64; 4]>>());
    println!("block N=2 {} {}", size_of::<Block<[u64; 2]>>(), size_of::<Block<[u64; 3]>>());
    black_box(&queue).waiting[0].run()
}
