//! A future that is not awaited.
#![deny(unused_must_use)]

#[dwell::erased]
async fn nothing() {}

fn main() {
    nothing();
}
