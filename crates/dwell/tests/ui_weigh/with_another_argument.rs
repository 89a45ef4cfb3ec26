use dwell::Weigh;
use dwell::weigh::Weight;

#[derive(Weigh)]
struct File {
    #[weigh(with = "owned")]
    handle: Handle,
}

struct Handle(u32);

fn owned(_: &u64) -> Weight {
    Weight::of_blocks(1, 1)
}

fn main() {}
