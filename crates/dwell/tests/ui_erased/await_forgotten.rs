//! Calls without `.await`, of each kind of function.
#![deny(unused_must_use)]

#[dwell::erased]
trait Store {
    async fn load(&self);
    async fn stored(&self) -> u8 {
        1
    }
}

struct Memory;

#[dwell::erased]
impl Store for Memory {
    async fn load(&self) {}
}

#[dwell::erased]
impl Memory {
    async fn own(&self) {}
}

#[dwell::erased(?Send)]
async fn local() {}

#[dwell::erased(Sync)]
async fn sync() {}

fn main() {
    Memory.load();
    Memory.stored();
    let object: &dyn Store = &Memory;
    object.load();
    Memory.own();
    local();
    sync();
}
