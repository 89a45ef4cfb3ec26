//! Sixteen threads, one after the other, allocate 4 MB in small blocks and free all but the last. glibc's malloc gives each an arena of
//! its own, whose top is kept by that block. With an argument it creates this file then, and waits for ever.

use std::sync::mpsc::channel;

fn main() {
    let mut threads = Vec::new();
    for _ in 0..16 {
        let (done, is_done) = channel::<()>();
        let (end, ends) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let mut all: Vec<Box<[u8; 2000]>> = (0..2000).map(|_| Box::new([1; 2000])).collect();
            let last = all.pop();
            drop(all);
            drop(done);
            // Until all threads are done, so that none gets the arena of one that ended.
            let _ = ends.recv();
            drop(last);
        });
        let _ = is_done.recv();
        threads.push((end, thread));
    }
    if let Some(file) = std::env::args_os().nth(1) {
        std::fs::write(file, "").expect("a file");
        loop {
            std::thread::park();
        }
    }
    for (end, thread) in threads {
        drop(end);
        thread.join().expect("it ends");
    }
}
