//! A function that is not `async` in the impl.
#[dwell::erased]
pub trait Trait {
    async fn method();
}

pub struct Struct;

#[dwell::erased]
impl Trait for Struct {
    fn method() {}
}

fn main() {}
