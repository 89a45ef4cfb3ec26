use dwell::Weigh;

struct Handle(u32);

#[derive(Weigh)]
struct File {
    name: String,
    handle: Handle,
}

fn main() {}
