use dwell::Sparse;
use std::cell::Cell;
use std::rc::Rc;

fn send<T: Send>(_: T) {}
fn sync<T: Sync>(_: T) {}

fn main() {
    send(Sparse::<Rc<u8>>::empty());
    sync(Sparse::<Cell<u8>>::empty());
}
