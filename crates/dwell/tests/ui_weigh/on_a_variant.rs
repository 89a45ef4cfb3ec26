use dwell::Weigh;

#[derive(Weigh)]
enum Shape {
    #[weigh(skip)]
    Circle(String),
}

fn main() {}
