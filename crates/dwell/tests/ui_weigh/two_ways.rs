use dwell::Weigh;

#[derive(Weigh)]
struct File {
    #[weigh(skip, shared)]
    name: &'static str,
}

fn main() {}
