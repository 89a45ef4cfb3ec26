use dwell::Sparse;
use std::cell::Cell;

// A default that threads share must not have a `Cell` in it.
#[derive(Default, Sparse)]
struct Traits {
    #[sparse(eq)]
    uses: Cell<u8>,
}

fn main() {}
