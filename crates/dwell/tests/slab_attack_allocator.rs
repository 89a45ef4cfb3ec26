//! A global allocator that uses slabs itself and fails at random: see `ops/slab_allocator.rs`.

#[path = "ops/slab_allocator.rs"]
mod allocator;

use std::sync::mpsc::channel;

#[test]
fn global_allocator_re_enters_slabs() {
    let cases = std::env::var("DWELL_TEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(2000);
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let slabs = allocator::set_up();
        for seed in 0..(cases / 20).max(2) {
            allocator::program(slabs, seed, if cfg!(miri) { 100 } else { 1000 });
        }
        allocator::clear_all(slabs);
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
