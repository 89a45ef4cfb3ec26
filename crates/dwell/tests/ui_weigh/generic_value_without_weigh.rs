use dwell::Weigh;

#[derive(Weigh)]
struct Page<T> {
    items: Vec<T>,
}

struct Opaque;

fn main() {
    dwell::weigh(&Page { items: vec![Opaque] });
}
