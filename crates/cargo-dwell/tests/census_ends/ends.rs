//! A program that ends in the way that its first argument names when it reads a line. Some threads allocate without pause, and
//! the one that reads is never stopped for a snapshot.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

unsafe extern "C" {
    fn pthread_exit(value: *mut ()) -> !;
    fn signal(signal: i32, handler: usize) -> usize;
}

static OVER: AtomicBool = AtomicBool::new(false);

fn allocate(number: u8) {
    let mut all = Vec::new();
    while !OVER.load(Ordering::Relaxed) {
        all.push(vec![number; 300]);
        if all.len() > 20_000 {
            all.clear();
        }
    }
}

fn read() {
    let _ = std::io::stdin().read(&mut [0]);
}

fn main() {
    let mode = std::env::args().nth(1).expect("an argument");
    let threads: Vec<_> = (0..8).map(|number| std::thread::spawn(move || allocate(number))).collect();
    match &*mode {
        "exit" => {
            read();
            std::process::exit(0)
        }
        "thread" => {
            std::thread::spawn(|| {
                read();
                std::process::exit(0)
            });
            allocate(9);
        }
        "abort" => {
            read();
            std::process::abort()
        }
        "exec" => {
            std::thread::spawn(|| {
                read();
                panic!("{}", Command::new("true").exec())
            });
            allocate(9);
        }
        "threads" => {
            read();
            OVER.store(true, Ordering::Relaxed);
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        }
        // The last thread is another one than the main thread.
        "leader" => {
            std::thread::spawn(|| {
                read();
                OVER.store(true, Ordering::Relaxed);
            });
            unsafe { pthread_exit(std::ptr::null_mut()) }
        }
        // Ends by nothing but a kill.
        _ => {
            for number in [1, 2, 3, 15] {
                unsafe { signal(number, 1) };
            }
            std::thread::sleep(Duration::from_secs(600));
        }
    }
}
