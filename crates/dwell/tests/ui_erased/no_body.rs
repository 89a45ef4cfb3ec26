//! A function without a body in an impl.
#[dwell::erased]
trait Trait {
    async fn method(&self);
}

struct Thing;

#[dwell::erased]
impl Trait for Thing {
    async fn method(&self);
}

fn main() {}
