use dwell::Sparse;

#[derive(Sparse)]
struct Traits {
    title: Option<String>,
}

fn main() {}
