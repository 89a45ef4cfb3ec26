//! A program that ends in the way that its first argument names when it reads a line. Some threads allocate without pause, and
//! the one that reads is never stopped for a snapshot.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

unsafe extern "C" {
    fn syscall(number: i64, ...) -> i64;
    fn signal(signal: i32, handler: usize) -> usize;
}

static OVER: AtomicBool = AtomicBool::new(false);

fn allocate(number: u8) {
    let mut all = Vec::new();
    while !OVER.load(Ordering::Relaxed) {
        all.push(vec![number; 300]);
        if all.len() > 2_000 {
            all.clear();
        }
    }
}

fn read() {
    let _ = std::io::stdin().read(&mut [0]);
}

fn main() {
    let mode = std::env::args().nth(1).expect("an argument");
    let threads: Vec<_> = (0..3).map(|number| std::thread::spawn(move || allocate(number))).collect();
    match &*mode {
        "exit" => {
            read();
            std::process::exit(0)
        }
        "grow" => {
            read();
            let all: Vec<Vec<u8>> = (0..2000).map(|_| vec![7; 32 << 10]).collect();
            std::process::exit(i32::from(std::hint::black_box(all).len() != 2000))
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
            // Only this thread ends, without the unwinding of `pthread_exit`.
            unsafe { syscall(if cfg!(target_arch = "x86_64") { 60 } else { 93 }, 0) };
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
