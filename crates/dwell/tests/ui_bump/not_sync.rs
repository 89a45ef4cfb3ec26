//! An arena is used by one thread at a time, and so is what holds a reference to it.
use dwell::{Bump, bump};

fn main() {
    fn sync<T: Sync>() {}
    fn send<T: Send>() {}
    sync::<Bump>();
    send::<bump::Vec<'_, u8>>();
    send::<bump::Scope<'_>>();
    send::<bump::Box<'_, std::rc::Rc<u8>>>();
}
