use dwell::Sparse;
use std::collections::HashMap;

#[derive(Sparse)]
#[sparse(const)]
struct Traits {
    codes: HashMap<String, u16>,
}

fn main() {}
