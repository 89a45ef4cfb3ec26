use dwell::Sparse;

#[derive(Default, Sparse)]
#[sparse(const)]
struct Traits {
    title: Option<String>,
}

fn main() {}
