//! A value does not leave its scope.
use dwell::Bump;

fn main() {
    let bump = Bump::new();
    let value = bump.scope(|scope| scope.alloc(1));
    println!("{value}");
}
