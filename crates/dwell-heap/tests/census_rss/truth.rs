//! A program whose resident memory has known parts: `truth MODE FILE` writes the resident bytes of the process to FILE
//! before it ends.

use std::ffi::c_void;
use std::fs;
use std::hint::black_box;
use std::sync::Mutex;

#[cfg(jemalloc)]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
#[cfg(mimalloc)]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

unsafe extern "C" {
    fn mmap(addr: *mut c_void, len: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut c_void;
    fn munmap(addr: *mut c_void, len: usize) -> i32;
    fn mremap(addr: *mut c_void, len: usize, new: usize, flags: i32, ...) -> *mut c_void;
    fn malloc_trim(pad: usize) -> i32;
}

const MIB: usize = 1 << 20;

struct Session {
    id: u64,
    data: [u8; 200],
}

#[derive(Default)]
struct Table {
    open: Vec<Box<Session>>,
    names: Vec<String>,
}

static TABLE: Mutex<Table> = Mutex::new(Table { open: Vec::new(), names: Vec::new() });

/// The resident bytes, by the page table.
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/smaps_rollup").expect("it can be read");
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:")).expect("its sum");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

/// Keeps one session of `every`, and frees the others.
#[inline(never)]
fn burst(count: u64, every: u64) {
    let all: Vec<Box<Session>> = (0..count).map(|id| Box::new(Session { id, data: [id as u8; 200] })).collect();
    let kept: Vec<Box<Session>> = all.into_iter().filter(|session| session.id % every == every / 2).collect();
    TABLE.lock().unwrap().open = kept;
}

/// Maps memory and writes to each of its pages.
fn map(len: usize, protection: i32, flags: i32, file: i32) -> *mut u8 {
    let start = unsafe { mmap(std::ptr::null_mut(), len, protection, flags, file, 0) };
    assert!(start.addr() as isize > 0);
    start.cast()
}

#[inline(never)]
fn deep(bytes: usize) -> u8 {
    let frame = black_box([1_u8; 4096]);
    if bytes < frame.len() { frame[0] } else { deep(bytes - frame.len()).wrapping_add(black_box(frame)[7]) }
}

const PRIVATE_ANONYMOUS: i32 = 0x22;

/// Maps 4 MiB, moves them to 8, and unmaps the first and the last. Wrong calls fail as without census.
#[inline(never)]
fn remapped() {
    const MAY_MOVE: i32 = 1;
    let start = map(4 * MIB, 3, PRIVATE_ANONYMOUS, -1);
    let moved = unsafe { mremap(start.cast(), 4 * MIB, 8 * MIB, MAY_MOVE) }.cast::<u8>();
    assert!(moved.addr() as isize > 0);
    for at in (0..8 * MIB).step_by(4096) {
        unsafe { moved.add(at).write_volatile(1) };
    }
    assert_eq!(unsafe { munmap(moved.cast(), MIB) }, 0);
    assert_eq!(unsafe { munmap(moved.add(7 * MIB).cast(), MIB) }, 0);
    let failed = |error: i32| assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(error));
    assert_eq!(unsafe { munmap(moved.add(1).cast(), 4096) }, -1);
    failed(22);
    assert_eq!(unsafe { mmap(std::ptr::null_mut(), 0, 3, PRIVATE_ANONYMOUS, -1, 0) }.addr(), usize::MAX);
    failed(22);
    assert_eq!(unsafe { mremap(std::ptr::null_mut(), 4096, 8192, MAY_MOVE) }.addr(), usize::MAX);
    failed(14);
}

/// One part of each kind.
fn parts(folder: &str) {
    let by_hand = map(24 * MIB, 3, PRIVATE_ANONYMOUS, -1);
    // One half stays untouched.
    for at in (0..12 * MIB).step_by(4096) {
        unsafe { by_hand.add(at).write_volatile(1) };
    }
    let path = format!("{folder}/mapped.bin");
    fs::write(&path, vec![7; 8 * MIB]).expect("it is written");
    let file = fs::File::open(&path).expect("it exists");
    let of_file = map(8 * MIB, 1, 1, std::os::fd::AsRawFd::as_raw_fd(&file));
    let sum: u64 = (0..8 * MIB).step_by(4096).map(|at| u64::from(unsafe { of_file.add(at).read_volatile() })).sum();
    assert_eq!(sum, 7 * 2048);
    // Capacity that is never touched, and zeros that are only read.
    let mut spare: Vec<u8> = Vec::with_capacity(32 * MIB);
    spare.push(1);
    let zeros = vec![0_u8; 16 * MIB];
    assert_eq!(zeros.iter().step_by(512).map(|byte| u64::from(*byte)).sum::<u64>(), 0);
    let full = vec![3_u8; 10 * MIB];
    black_box([spare.leak().as_ptr(), zeros.leak().as_ptr(), full.leak().as_ptr()]);
    // A thread whose stack was deep, and that waits.
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .stack_size(32 * MIB)
        .spawn(move || {
            black_box(deep(6 * MIB));
            ready.send(()).expect("it waits");
            std::thread::sleep(std::time::Duration::from_secs(1000));
        })
        .expect("a thread");
    is_ready.recv().expect("it is ready");
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, mode, file] = arguments.as_slice() else { panic!("two arguments") };
    let folder = file.rsplit_once('/').expect("a folder").0;
    let text = match mode.as_str() {
        "fragments" => {
            burst(200_000, 20);
            resident().to_string()
        }
        "holes" => {
            burst(300_000, 500);
            TABLE.lock().unwrap().names.push("x".repeat(100));
            resident().to_string()
        }
        // The same, and what a call really returns. Without census.
        "trimmed" => {
            burst(300_000, 500);
            TABLE.lock().unwrap().names.push("x".repeat(100));
            let before = resident();
            unsafe { malloc_trim(0) };
            (before - resident()).to_string()
        }
        "arenas" => {
            let barrier = std::sync::Arc::new(std::sync::Barrier::new(4));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let barrier = barrier.clone();
                    std::thread::spawn(move || {
                        let all: Vec<Box<Session>> =
                            (0..30_000).map(|id| Box::new(Session { id, data: [1; 200] })).collect();
                        barrier.wait();
                        let last = all.into_iter().next_back();
                        TABLE.lock().unwrap().open.extend(last);
                    })
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
            resident().to_string()
        }
        // Four threads that wait, each with a cache of seven blocks of each size.
        "cached" => {
            let (ready, is_ready) = std::sync::mpsc::channel();
            for _ in 0..4 {
                let ready = ready.clone();
                std::thread::spawn(move || {
                    let all: Vec<Vec<u8>> =
                        (0..64).flat_map(|class| (0..7).map(move |_| vec![1_u8; 24 + 16 * class])).collect();
                    drop(all);
                    ready.send(()).expect("it waits");
                    std::thread::sleep(std::time::Duration::from_secs(1000));
                });
            }
            (0..4).for_each(|_| is_ready.recv().expect("it is ready"));
            resident().to_string()
        }
        "parts" => {
            parts(folder);
            resident().to_string()
        }
        "remapped" => {
            remapped();
            resident().to_string()
        }
        // Two threads with deep stacks wait while the peak is copied.
        "named" => {
            let (ready, is_ready) = std::sync::mpsc::channel();
            for _ in 0..2 {
                let (ready, builder) = (ready.clone(), std::thread::Builder::new().name("deep".into()));
                let wait = move || {
                    black_box(deep(6 * MIB));
                    ready.send(()).expect("it waits");
                    std::thread::sleep(std::time::Duration::from_secs(1000));
                };
                builder.stack_size(32 * MIB).spawn(wait).expect("a thread");
            }
            (0..2).for_each(|_| is_ready.recv().expect("it is ready"));
            drop(black_box(vec![1_u8; 4 * MIB]));
            resident().to_string()
        }
        _ => panic!("{mode}"),
    };
    fs::write(file, text).expect("it is written");
    std::process::exit(0);
}
