//! An argument of a type that need not be `Send`.
#[dwell::erased]
trait Publish {
    async fn publish<T>(&self, value: T);
}

struct To;

#[dwell::erased]
impl Publish for To {
    async fn publish<T>(&self, _value: T) {}
}

fn main() {}
