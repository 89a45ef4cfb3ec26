use dwell::Sparse;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

fn is_zero(uses: &AtomicU32) -> bool {
    uses.load(Ordering::Relaxed) == 0
}

// Every empty `Sparse` would count in the one default.
#[derive(Default, Sparse)]
struct Counted {
    #[sparse(is_empty = "is_zero")]
    uses: AtomicU32,
}

#[derive(Sparse)]
struct Generic<'a, T: Clone, const N: usize> {
    name: &'a str,
    values: Vec<T>,
    #[sparse(eq)]
    locks: [Option<Mutex<&'a str>>; N],
}

#[derive(Default, PartialEq, Sparse)]
#[sparse(eq)]
enum Level {
    #[default]
    Off,
    On([AtomicU8; 2]),
}

fn main() {}
