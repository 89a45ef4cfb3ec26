use dwell::Weigh;

#[derive(Weigh)]
struct File {
    #[weigh(shared)]
    length: u64,
}

fn main() {}
