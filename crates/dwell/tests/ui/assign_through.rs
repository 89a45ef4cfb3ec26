//! Writing to a field of an empty or stored value without `edit`.
use dwell::Sparse;

#[derive(Default, Sparse)]
struct Traits {
    title: Option<String>,
    tags: Vec<String>,
}

struct Shape {
    traits: Sparse<Traits>,
}

fn main() {
    let mut traits = Sparse::<Traits>::empty();
    traits.title = None;
    traits.tags.push("x".into());
    *traits = Traits::default();
    let title = &mut traits.title;
    *title = None;
    let mut shape = Shape { traits };
    shape.traits.title = Some("y".into());
}
