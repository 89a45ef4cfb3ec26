//! A program with a counting allocator: `truth MODE FILE` behaves as MODE selects and writes the number of its live
//! blocks and bytes to FILE.

use std::alloc::{GlobalAlloc, Layout};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

#[cfg(jemalloc)]
use tikv_jemallocator::Jemalloc as Inner;
#[cfg(mimalloc)]
use mimalloc::MiMalloc as Inner;
#[cfg(not(any(jemalloc, mimalloc, bump)))]
use std::alloc::System as Inner;

/// An allocator written in Rust that never calls malloc.
#[cfg(bump)]
struct Bump;
#[cfg(bump)]
use Bump as Inner;
#[cfg(bump)]
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        static mut MEMORY: [u8; 16 << 20] = [0; 16 << 20];
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let at = NEXT.fetch_add(layout.size() + layout.align(), Relaxed);
        let start = &raw mut MEMORY;
        unsafe { start.cast::<u8>().add((at + start.addr()).next_multiple_of(layout.align()) - start.addr()) }
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

struct Counting;

static BLOCKS: AtomicI64 = AtomicI64::new(0);
static BYTES: AtomicI64 = AtomicI64::new(0);
static PEAK: AtomicI64 = AtomicI64::new(0);

fn count(blocks: i64, bytes: i64) {
    BLOCKS.fetch_add(blocks, Relaxed);
    let live = BYTES.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(live, Relaxed);
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { Inner.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as i64);
        unsafe { Inner.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(0, size as i64 - layout.size() as i64);
        unsafe { Inner.realloc(block, layout, size) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-1, -(layout.size() as i64));
        unsafe { Inner.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[repr(align(256))]
struct Aligned([u8; 300]);

/// Allocates blocks of many sizes and alignments.
fn make(seed: u64) -> impl Sized {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let boxes: Vec<Box<[u8]>> = (0..2000).map(|_| vec![1; next() % 3000].into_boxed_slice()).collect();
    let mut map = HashMap::new();
    for _ in 0..1000 {
        map.insert(next(), format!("{:0width$}", 1, width = next() % 60));
    }
    for key in map.keys().copied().filter(|key| key % 3 == 0).collect::<Vec<_>>() {
        map.remove(&key);
    }
    let mut grown = Vec::new();
    for index in 0..5000_u64 {
        grown.push(index);
    }
    grown.shrink_to_fit();
    let aligned: Vec<Box<Aligned>> = (0..20).map(|_| Box::new(Aligned([0; 300]))).collect();
    let zeroed = vec![0_u8; 1 << 20];
    let small: Vec<Box<u8>> = (0..100).map(Box::new).collect();
    black_box((boxes, map, grown, aligned, zeroed, small))
}

/// Writes the numbers of live blocks and bytes to the file, without allocating.
fn report(file: &str) {
    use std::io::Write;
    let mut buffer = [0_u8; 64];
    let mut rest = &mut buffer[..];
    write!(rest, "{} {}", BLOCKS.load(Relaxed), BYTES.load(Relaxed)).unwrap();
    let used = 64 - rest.len();
    std::fs::write(file, &buffer[..used]).unwrap();
}

unsafe extern "C" {
    fn _exit(code: i32) -> !;
}

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, flags: i32) -> i32;
    fn kill(pid: i32, signal: i32) -> i32;
    fn getpid() -> i32;
}

/// The size of the block that every mode leaks, in bytes.
const LEAKED: usize = 123_457;

fn leak(bytes: usize) {
    black_box(Box::leak(black_box(vec![7_u8; bytes].into_boxed_slice())));
}

fn main() {
    let mut args = std::env::args();
    args.next();
    let mode = args.next().unwrap();
    let file = args.next().unwrap_or_default();
    leak(LEAKED);
    match mode.as_str() {
        "exit" => {
            std::mem::forget(make(1));
            let threads: Vec<_> = (0..4).map(|seed| std::thread::spawn(move || std::mem::forget(make(seed)))).collect();
            for thread in threads {
                thread.join().unwrap();
            }
            drop(make(2));
            // `black_box` keeps the optimiser from removing the allocations.
            std::mem::forget(black_box((mode.clone(), file.clone())));
            report(&file);
            unsafe { _exit(7) };
        }
        "sampled" => {
            for seed in 0..20 {
                std::mem::forget(make(seed));
            }
            report(&file);
            unsafe { _exit(0) };
        }
        // Threads that free and reallocate blocks of other threads, of many sizes, and keep some of them.
        "churn" => {
            static POOL: std::sync::Mutex<Vec<Vec<u8>>> = std::sync::Mutex::new(Vec::new());
            let threads: Vec<_> = (1..=4_u64)
                .map(|seed| {
                    std::thread::spawn(move || {
                        let mut state = seed;
                        let mut next = |below: usize| {
                            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                            (state >> 33) as usize % below
                        };
                        for _ in 0..10_000 {
                            let size = if next(10) == 0 { next(20_000) } else { next(200) };
                            let mut block = Vec::with_capacity(size);
                            block.resize(size / 2, 1_u8);
                            let mut pool = POOL.lock().unwrap();
                            if pool.len() > 500 {
                                let index = next(pool.len());
                                let mut other = pool.swap_remove(index);
                                other.reserve_exact(next(300));
                                other.shrink_to_fit();
                                if next(2) == 0 {
                                    pool.push(other);
                                }
                            }
                            pool.push(block);
                        }
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
            report(&file);
            unsafe { _exit(0) };
        }
        // Allocations in a signal handler on an alternate stack, and in deep recursion on the main and another thread.
        "stacks" => {
            #[repr(C)]
            struct Action {
                handler: usize,
                mask: [u64; 16],
                flags: i32,
                restorer: usize,
            }
            #[repr(C)]
            struct Stack {
                memory: *mut u8,
                flags: i32,
                bytes: usize,
            }
            unsafe extern "C" {
                fn sigaltstack(new: *const Stack, old: *mut Stack) -> i32;
                fn sigaction(signal: i32, new: *const Action, old: *mut Action) -> i32;
                fn raise(signal: i32) -> i32;
            }
            extern "C" fn handle(_: i32) {
                leak(777);
            }
            fn deep(calls: u32) {
                let frame = [calls; 1000];
                black_box(&frame);
                if calls == 0 {
                    leak(778);
                } else {
                    deep(calls - 1);
                }
                black_box(&frame);
            }
            const USR2: i32 = 12;
            const ON_STACK: i32 = 0x0800_0000;
            let mut memory = vec![0_u8; 1 << 16];
            let stack = Stack { memory: memory.as_mut_ptr(), flags: 0, bytes: memory.len() };
            let action = Action { handler: handle as extern "C" fn(i32) as usize, mask: [0; 16], flags: ON_STACK, restorer: 0 };
            unsafe {
                assert_eq!(sigaltstack(&stack, std::ptr::null_mut()), 0);
                assert_eq!(sigaction(USR2, &action, std::ptr::null_mut()), 0);
                assert_eq!(raise(USR2), 0);
            }
            deep(300);
            std::thread::spawn(|| deep(300)).join().unwrap();
            std::mem::forget(memory);
        }
        // The live bytes rise to a new peak and fall again six times, then rise once more to 90 % of the peak.
        "peak" => {
            for round in 1..=6_usize {
                let mut boxes = Vec::new();
                for _ in 0..round * 4000 {
                    boxes.push(vec![1_u8; 100]);
                }
                black_box(&boxes);
                while boxes.len() > round * 1000 {
                    boxes.pop();
                }
                black_box(&boxes);
            }
            let most = PEAK.load(Relaxed);
            let mut less = Vec::new();
            while BYTES.load(Relaxed) < most * 9 / 10 {
                less.push(vec![1_u8; 100]);
            }
            drop(black_box(less));
            let mut buffer = [0_u8; 64];
            use std::io::Write;
            let mut rest = &mut buffer[..];
            write!(rest, "0 {}", PEAK.load(Relaxed)).unwrap();
            let used = 64 - rest.len();
            std::fs::write(&file, &buffer[..used]).unwrap();
        }
        "return" => {}
        // Threads wait in `epoll_wait`, in `nanosleep`, in `read`, and for a lock. None of these calls may fail.
        "waits" => {
            unsafe extern "C" {
                fn epoll_create1(flags: i32) -> i32;
                fn epoll_wait(file: i32, events: *mut u64, most: i32, millis: i32) -> i32;
                fn pipe(files: *mut i32) -> i32;
                fn read(file: i32, bytes: *mut u8, len: usize) -> isize;
                fn write(file: i32, bytes: *const u8, len: usize) -> isize;
                fn nanosleep(time: *const [u64; 2], rest: *mut [u64; 2]) -> i32;
            }
            let mut files = [0; 2];
            assert_eq!(unsafe { pipe(files.as_mut_ptr()) }, 0);
            let sleeper = std::thread::spawn(|| {
                for _ in 0..20 {
                    assert_eq!(unsafe { nanosleep(&[0, 100_000_000], &mut [0, 0]) }, 0);
                }
            });
            let poller = std::thread::spawn(|| {
                let file = unsafe { epoll_create1(0) };
                // Waits that are long, and short ones that begin while a snapshot is made. On aarch64 these cannot be set back.
                let short = if cfg!(target_arch = "x86_64") { 1000 } else { 0 };
                for millis in [100; 10].into_iter().chain(std::iter::repeat_n(1, short)) {
                    let mut events = [0; 4];
                    assert_eq!(unsafe { epoll_wait(file, events.as_mut_ptr(), 1, millis) }, 0);
                }
            });
            let reader = std::thread::spawn(move || {
                let mut byte = 0;
                assert_eq!(unsafe { read(files[0], &mut byte, 1) }, 1);
            });
            sleeper.join().unwrap();
            poller.join().unwrap();
            assert_eq!(unsafe { write(files[1], &1, 1) }, 1);
            reader.join().unwrap();
        }
        // Locks all present and future memory.
        "lock" => {
            unsafe extern "C" {
                fn mlockall(flags: i32) -> i32;
            }
            assert_eq!(unsafe { mlockall(3) }, 0);
        }
        // An allocation fails: the program reports it, and the runtime aborts.
        "refused" => {
            assert!(Vec::<u8>::new().try_reserve(black_box(1 << 62)).is_err());
            std::alloc::handle_alloc_error(std::alloc::Layout::new::<u64>());
        }
        "crash" => unsafe { black_box(std::ptr::without_provenance_mut::<u64>(8)).write_volatile(1) },
        // Loads a library while it runs.
        "dlopen" => {
            unsafe extern "C" {
                fn dlopen(file: *const std::ffi::c_char, flags: i32) -> *mut u8;
            }
            let library = unsafe { dlopen(c"libm.so.6".as_ptr(), 2) };
            assert!(!library.is_null());
        }
        "abort" => std::process::abort(),
        "panic" => panic!("on purpose"),
        "kill" => {
            unsafe { kill(getpid(), 9) };
        }
        "exec" => {
            use std::os::unix::process::CommandExt;
            // The shell must not inherit the agent's variables.
            let command = "test -z \"$LD_PRELOAD$CARGO_DWELL_CENSUS\" && exit 9";
            panic!("{}", std::process::Command::new("sh").args(["-c", command]).exec());
        }
        "fork" => {
            let child = unsafe { fork() };
            if child == 0 {
                for _ in 0..1000 {
                    leak(10_000);
                }
                drop(make(3));
                unsafe { _exit(5) };
            }
            let mut status = 0;
            // The process has no child and no thread of the agent.
            assert_eq!(unsafe { waitpid(-1, &mut status, 0) }, child);
            assert_eq!(status, 5 << 8);
            assert_eq!(unsafe { waitpid(-1, &mut status, 0) }, -1);
            assert_eq!(std::fs::read_dir("/proc/self/task").unwrap().count(), 1);
            let output = std::process::Command::new("env").output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(!text.contains("CARGO_DWELL_CENSUS") && !text.contains("census-agent"), "{text}");
        }
        // 200 threads that end at the same time, each with a thread-local destructor that allocates and frees.
        "threads" => {
            struct Late;
            impl Drop for Late {
                fn drop(&mut self) {
                    drop(black_box(vec![1_u8; 5000]));
                    leak(10);
                }
            }
            thread_local!(static LATE: Late = const { Late });
            let barrier = std::sync::Arc::new(std::sync::Barrier::new(200));
            let threads: Vec<_> = (0..200)
                .map(|_| {
                    let barrier = barrier.clone();
                    std::thread::spawn(move || {
                        LATE.with(|_| ());
                        leak(100);
                        barrier.wait();
                    })
                })
                .collect();
            for thread in threads {
                thread.join().unwrap();
            }
        }
        // Reads standard input to its end and prints the number of bytes.
        "wait" => {
            use std::io::Read;
            println!("ready");
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).unwrap();
            eprintln!("{} bytes", bytes.len());
            std::process::exit(3);
        }
        // Runs until the tool has three child processes named `dwell-census`: the helper and two copies of the program.
        "copies" => loop {
            let parent = std::os::unix::process::parent_id();
            let of_tool = |status: String| status.contains("dwell-census") && status.contains(&format!("PPid:\t{parent}\n"));
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let found = processes.filter_map(|process| std::fs::read_to_string(process.path().join("status")).ok());
            if found.filter(|status| of_tool(status.clone())).count() >= 3 {
                break;
            }
        },
        _ => panic!("no such mode"),
    }
}
