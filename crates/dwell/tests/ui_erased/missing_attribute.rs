//! An impl without the attribute.
#[dwell::erased]
pub trait Trait {
    async fn method(&self) -> u8;
}

pub struct Struct;

impl Trait for Struct {
    async fn method(&self) -> u8 {
        7
    }
}

fn main() {}
