use dwell::Sparse;

#[derive(Sparse)]
union Either {
    a: u8,
    b: i8,
}

fn main() {}
