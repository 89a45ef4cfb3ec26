//! The arena of a scope stays in it.
use dwell::Bump;

fn main() {
    let bump = Bump::new();
    let mut scope = bump.scope_guard();
    let _taken = std::mem::take(&mut *scope);
}
