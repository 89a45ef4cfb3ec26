//! An arena goes to another thread with its allocator, or not at all; so does a pool of them.
use dwell::{Bump, bump};

fn main() {
    fn sync<T: Sync>() {}
    fn send<T: Send>() {}
    // The allocator here is a reference to an arena, which may not be shared.
    send::<Bump<8, &Bump>>();
    send::<bump::First<'_, &Bump>>();
    send::<bump::BumpPool<8, &Bump>>();
    sync::<bump::BumpPool<8, &Bump>>();
    send::<bump::BumpPoolGuard<'_, 8, &Bump>>();
}
