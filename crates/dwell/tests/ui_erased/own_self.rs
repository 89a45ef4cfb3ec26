//! `self` and `Self` of the wrong type, where they stand.
pub struct Struct {}

#[dwell::erased]
pub trait Trait {
    async fn method(self);
}

#[dwell::erased]
impl Trait for Struct {
    async fn method(self) {
        let _: () = self;
        let _: Self = Self;
    }
}

fn main() {}
