//! A function that is not `async` in the trait.
#[dwell::erased]
pub trait Trait {
    fn method();
}

pub struct Struct;

#[dwell::erased]
impl Trait for Struct {
    async fn method() {}
}

fn main() {}
