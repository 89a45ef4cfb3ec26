use dwell::Sparse;

#[derive(Default)]
struct Foreign;

#[derive(Default, Sparse)]
struct Traits {
    title: Option<String>,
    foreign: Foreign,
}

fn main() {}
