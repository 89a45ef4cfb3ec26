use dwell::Weigh;

#[derive(Weigh)]
#[repr(C, packed)]
struct Header {
    length: u32,
}

fn main() {}
