//! What a pool keeps is in its arena.
use dwell::{Bump, bump::BumpPool};

fn main() {
    let pool = Pool::new();
    let kept = {
        let other = Bump::new();
        let bump = pool.get();
        bump.keep(|_| other.alloc(1))
    };
    println!("{kept}");
}
