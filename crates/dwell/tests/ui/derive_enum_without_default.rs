use dwell::Sparse;

#[derive(Sparse)]
enum Level {
    Off,
    On(u8),
}

fn main() {}
