//! A function with a lifetime inside an argument, in a type that is invariant.
use dwell::Weigh;
use std::fmt;
use std::sync::Mutex;

#[derive(Weigh)]
struct Calls {
    all: Mutex<Vec<fn(&mut fmt::Formatter<'_>) -> fmt::Result>>,
}

fn main() {}
