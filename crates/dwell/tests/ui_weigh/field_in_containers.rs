use dwell::Weigh;

struct Handle(u32);

#[derive(Weigh)]
struct File {
    handles: Vec<Option<Handle>>,
    file: Handle,
}

#[derive(Weigh)]
enum Either<T> {
    Left(T, Handle),
    Right { boxed: Box<Handle> },
}

fn main() {}
