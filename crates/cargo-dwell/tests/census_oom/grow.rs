//! A program that grows: `grow FILE MIB` allocates until it has so many MiB, and keeps the number of its live bytes in FILE.
//! `grow FILE MIB threads` does that in many threads at once, `grow FILE MIB boxes` in small boxes.

use std::ffi::c_void;
use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    fn mmap(addr: *mut c_void, len: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut c_void;
}

struct Session {
    name: String,
    history: Vec<u64>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, most, shape @ ..] = arguments.as_slice() else { panic!("two arguments") };
    let most: u64 = most.parse::<u64>().expect("a number") << 20;
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(file).expect("a file");
    file.set_len(8).expect("its length");
    let live = unsafe { mmap(std::ptr::null_mut(), 8, 3, 1, file.as_raw_fd(), 0) }.cast::<u64>();
    assert!(live.addr() as isize > 0);
    if shape.first().is_some_and(|shape| shape == "threads") {
        let live: &AtomicU64 = unsafe { AtomicU64::from_ptr(live) };
        std::thread::scope(|scope| {
            for number in 0..16 {
                scope.spawn(move || {
                    let mut all = Vec::new();
                    while live.fetch_add(6000, Ordering::Relaxed) < most {
                        all.push(vec![number as u8; 6000]);
                    }
                    std::thread::sleep(std::time::Duration::from_secs(20));
                    std::hint::black_box(all);
                });
            }
        });
        return;
    }
    if shape.first().is_some_and(|shape| shape == "boxes") {
        let mut all: Vec<Box<Session>> = Vec::new();
        while (all.len() as u64) * 50 < most {
            all.push(Box::new(Session { name: String::new(), history: Vec::new() }));
            unsafe { live.write_volatile((all.len() * size_of::<Session>() + all.capacity() * 8) as u64) };
        }
        std::thread::sleep(std::time::Duration::from_secs(20));
        std::hint::black_box(all);
        return;
    }
    let mut all: Vec<Box<Session>> = Vec::new();
    let mut sum = 0_u64;
    for number in 0_u64.. {
        let name = format!("session {number}");
        // Small blocks and large ones.
        let history = vec![number; if number % 40 == 0 { 20_000 } else { 30 }];
        sum += (name.capacity() + history.capacity() * 8 + size_of::<Session>()) as u64;
        all.push(Box::new(Session { name, history }));
        unsafe { live.write_volatile(sum + all.capacity() as u64 * 8) };
        if sum > most {
            break;
        }
    }
    // Whoever kills it needs some time.
    std::thread::sleep(std::time::Duration::from_secs(20));
    println!("{}", all.iter().map(|session| session.name.len() + session.history.len()).sum::<usize>());
}
