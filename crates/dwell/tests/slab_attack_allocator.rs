//! A global allocator that uses slabs itself and fails at random: see `ops/slab_allocator.rs`.

#[path = "ops/slab_allocator.rs"]
mod allocator;

use std::sync::mpsc::channel;

/// Prints the seed of a program that fails.
struct Failed(u64);

impl Drop for Failed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("to repeat: DWELL_TEST_SEED={} cargo test -p dwell --test slab_attack_allocator", self.0);
        }
    }
}

#[test]
fn global_allocator_re_enters_slabs() {
    let number = |name| std::env::var(name).ok().and_then(|n| n.parse::<u64>().ok());
    let programs = (number("DWELL_TEST_CASES").unwrap_or(500) / 20).max(2);
    let seeds = number("DWELL_TEST_SEED").map_or(0..programs, |seed| seed..seed + 1);
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let slabs = allocator::set_up();
        for seed in seeds {
            let _failed = Failed(seed);
            allocator::program(slabs, seed, if cfg!(miri) { 100 } else { 1000 });
            allocator::clear_all(slabs);
        }
        if !cfg!(miri) {
            // Found by fuzzing: a cell that was freed while the free stack grew was lost.
            allocator::program(slabs, 0xff00_f900_ffff_00fe, 1020);
            allocator::clear_all(slabs);
        }
        send.send(()).unwrap();
        // The thread never ends, so leaked memory stays reachable for leak checkers.
        loop {
            std::thread::park();
            std::hint::black_box(slabs);
        }
    });
    receive.recv().unwrap();
}
