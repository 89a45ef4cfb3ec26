use dwell::Sparse;

// A `&mut` in it could be given a shorter lifetime than the default's.
#[derive(Default, Sparse)]
struct Lines<'a, T> {
    text: Vec<T>,
    to: Option<&'a mut Vec<&'a str>>,
}

fn main() {}
