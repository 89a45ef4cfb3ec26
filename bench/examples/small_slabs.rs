//! The resident memory of many small slabs: `cargo run -p dwell-bench --example small_slabs`.
//!
//! The requested bytes of a slab do not show how many pages they touch. So a separate process for each subject creates
//! ten thousand slabs of ten values, or as many boxes, and prints its resident memory.

use dwell::slab::{Slab, Slot};
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout, System};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{env, fs, iter};

type Value = [u64; 9];

const GROUPS: u64 = 10_000;
const EACH: u64 = 10;

static ON_MIMALLOC: AtomicBool = AtomicBool::new(false);

/// glibc's allocator, or mimalloc after `ON_MIMALLOC` is set.
struct Chosen;

impl Chosen {
    fn inner() -> &'static dyn GlobalAlloc {
        if ON_MIMALLOC.load(Relaxed) { &MiMalloc } else { &System }
    }
}

// SAFETY: both are allocators, and each block is freed by the one that allocated it: `main` frees nothing after the switch
// that was allocated before it.
unsafe impl GlobalAlloc for Chosen {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees that the layout's size is not 0.
        unsafe { Self::inner().alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block has this layout and came from the allocator in use, as argued above.
        unsafe { Self::inner().dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Chosen = Chosen;

/// Returns the resident memory of this process in KiB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line of resident memory");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

fn values(group: u64) -> impl Iterator<Item = Value> {
    (0..EACH).map(move |n| [group + n; 9])
}

fn boxes() -> u64 {
    let before = resident();
    let all: Vec<Vec<Box<Value>>> = (0..GROUPS).map(|group| values(group).map(Box::new).collect()).collect();
    let after = resident();
    assert_eq!(all.iter().flatten().count() as u64, GROUPS * EACH);
    after - before
}

fn slabs() -> u64 {
    let before = resident();
    let all: Vec<(Slab<Value>, Vec<Slot<Value>>)> = iter::repeat_with(Slab::new)
        .zip(0..GROUPS)
        .map(|(slab, group)| {
            let slots = values(group).map(|value| slab.insert(value)).collect();
            (slab, slots)
        })
        .collect();
    let after = resident();
    assert_eq!(all.iter().flat_map(|(_, slots)| slots).count() as u64, GROUPS * EACH);
    after - before
}

fn one_slab() -> u64 {
    let before = resident();
    let slab = Slab::new();
    let all: Vec<Vec<Slot<Value>>> =
        (0..GROUPS).map(|group| values(group).map(|value| slab.insert(value)).collect()).collect();
    let after = resident();
    assert_eq!(all.iter().flatten().count() as u64, GROUPS * EACH);
    after - before
}

type Subject = (&'static str, fn() -> u64);

const SUBJECTS: [Subject; 3] = [("boxes", boxes), ("a slab a group", slabs), ("one slab", one_slab)];

fn main() -> ExitCode {
    if let Ok(subject) = env::var("SMALL_SLABS") {
        // Leaked, like all earlier allocations: mimalloc cannot free blocks of glibc.
        let subject = subject.leak();
        let (name, allocator) = subject.split_once('/').expect("SUBJECT/ALLOCATOR");
        ON_MIMALLOC.store(allocator == "mimalloc", Relaxed);
        let measure = SUBJECTS.iter().find(|(known, _)| *known == name).expect("a subject's name").1;
        println!("{}", measure());
        // The runtime's clean-up at the end of `main` would pass blocks of glibc to mimalloc.
        // SAFETY: the call ends the process, and all output was flushed.
        unsafe { libc::_exit(0) };
    }
    println!("{GROUPS} groups of {EACH} values of {} bytes; resident memory in KiB", size_of::<Value>());
    for allocator in ["glibc", "mimalloc"] {
        let mut boxes = None;
        for (name, _) in SUBJECTS {
            let program = env::current_exe().expect("this program's path");
            let run = Command::new(program)
                .env("SMALL_SLABS", format!("{name}/{allocator}"))
                .output()
                .expect("it runs again");
            let Some(size) = String::from_utf8_lossy(&run.stdout).trim().parse::<u64>().ok() else {
                eprintln!("{name} on {allocator}: {}", String::from_utf8_lossy(&run.stderr));
                return ExitCode::FAILURE;
            };
            let of = boxes.get_or_insert(size);
            #[expect(clippy::cast_precision_loss, reason = "a ratio of two digits")]
            let ratio = size as f64 / *of as f64;
            println!("{allocator:8}  {name:15} {size:8}  {ratio:5.2}");
        }
    }
    ExitCode::SUCCESS
}
