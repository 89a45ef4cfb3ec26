use dwell::Sparse;

#[derive(Default)]
struct Traits {
    title: Option<String>,
}

fn main() {
    let traits = Sparse::<Traits>::empty();
    let _ = traits.title;
}
