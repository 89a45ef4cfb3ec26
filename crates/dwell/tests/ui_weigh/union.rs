use dwell::Weigh;

#[derive(Weigh)]
union Either {
    a: u32,
    b: f32,
}

fn main() {}
