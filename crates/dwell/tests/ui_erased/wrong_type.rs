//! A body of another type than the signature says.
#[dwell::erased]
trait Interface {
    async fn nothing(&self);
    async fn number(&self) -> u8;
}

struct Thing;

#[dwell::erased]
impl Interface for Thing {
    async fn nothing(&self) {
        0
    }

    async fn number(&self) -> u8 {
        return "text";
    }
}

fn main() {}
