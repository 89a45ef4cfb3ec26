use dwell::Weigh;

#[derive(Weigh)]
struct File {
    #[weigh(skipped)]
    name: String,
}

fn main() {}
