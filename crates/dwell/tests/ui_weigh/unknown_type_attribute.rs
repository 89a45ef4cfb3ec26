use dwell::Weigh;

#[derive(Weigh)]
#[weigh(skip)]
struct File {
    name: String,
}

fn main() {}
