//! The bytes of an arena are read while it is not used.
use dwell::Bump;

fn main() {
    let mut bump = Bump::new();
    let mut chunks = bump.chunks();
    let first = chunks.next();
    bump.alloc(1);
    println!("{}", first.is_some());
}
