use dwell::SmallBox;
use dwell::alloc::Global;

fn future<T: Future>(_: T) {}

// A box that is pinned and forgotten must keep its value's memory, so its allocator must not be a borrowed one.
fn in_arena<F: Future, A: dwell::alloc::Allocator>(boxed: SmallBox<F, 2, A>) {
    future(boxed);
}

fn main() {
    in_arena::<_, Global>(SmallBox::new(async {}));
}
