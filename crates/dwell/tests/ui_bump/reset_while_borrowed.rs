//! A value that was allocated is in use.
use dwell::Bump;

fn main() {
    let mut bump = Bump::new();
    let value = bump.alloc(1);
    bump.reset();
    println!("{value}");
}
