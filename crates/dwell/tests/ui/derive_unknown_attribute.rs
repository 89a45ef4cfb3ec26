use dwell::Sparse;

#[derive(Default, Sparse)]
#[sparse(equal)]
struct Traits {
    #[sparse(skip)]
    title: Option<String>,
}

fn main() {}
