//! The closure returns the value that it was given.
use dwell::{Bump, bump};
use std::fmt::Debug;

fn main() {
    let bump = Bump::new();
    let mut kept = None;
    let first: bump::Box<dyn Debug> = bump::Box::new_in(1, &bump).coerce(|value| {
        kept = Some(value);
        value as _
    });
    let second: bump::Box<dyn Debug> = bump::Box::new_in("two", &bump).coerce(|_| kept.unwrap() as _);
    println!("{first:?} {second:?}");
}
