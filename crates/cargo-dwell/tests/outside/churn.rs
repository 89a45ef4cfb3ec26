//! `churn`: four threads allocate and free without pause, and check what they wrote, until the standard input ends. Then it
//! prints `fine` and the number of rounds of the slowest thread.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

struct Node {
    name: String,
    next: Option<Box<Node>>,
}

fn churn(seed: u64, end: &AtomicBool, rounds: &AtomicU64) {
    let mut state = seed;
    let mut held: Vec<Vec<u8>> = Vec::new();
    let mut list: Option<Box<Node>> = None;
    while !end.load(Ordering::Relaxed) {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let size = (state >> 33) as usize % if state >> 60 == 0 { 200_000 } else { 900 };
        if held.len() > 200 {
            let block = held.swap_remove((state >> 40) as usize % held.len());
            assert!(block.iter().all(|byte| *byte == block[0]), "a block was changed");
        }
        held.push(vec![(state >> 20) as u8; size.max(1)]);
        list = if state >> 58 == 0 { None } else { Some(Box::new(Node { name: format!("{state:x}"), next: list })) };
        assert!(list.as_ref().is_none_or(|node| node.name == format!("{state:x}")));
        rounds.fetch_add(1, Ordering::Relaxed);
    }
}

fn main() {
    let end = Arc::new(AtomicBool::new(false));
    let rounds: Arc<[AtomicU64; 4]> = Arc::default();
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (end, rounds) = (Arc::clone(&end), Arc::clone(&rounds));
            std::thread::spawn(move || churn(number as u64 + 1, &end, &rounds[number]))
        })
        .collect();
    while rounds.iter().any(|round| round.load(Ordering::Relaxed) == 0) {
        std::thread::yield_now();
    }
    println!("ready");
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).unwrap();
    end.store(true, Ordering::Relaxed);
    for thread in threads {
        thread.join().unwrap();
    }
    println!("fine {}", rounds.iter().map(|round| round.load(Ordering::Relaxed)).min().unwrap());
}
