//! A function with a lifetime of its own in a type that is invariant.
use dwell::Weigh;
use std::sync::Mutex;

#[derive(Weigh)]
struct Calls {
    all: Mutex<Vec<fn(&str) -> usize>>,
}

fn main() {}
