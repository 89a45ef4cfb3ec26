use typed_arena::Arena;

use crate::bump::subject::{Put, Subject};
use crate::sink;

/// typed-arena has no `reset`, so a new arena replaces the old one.
pub(in crate::bump) struct TypedArena<T>(pub(in crate::bump) Arena<T>);

impl<T: 'static> Subject for TypedArena<T> {
    const NAME: &'static str = "typed-arena 2.0.2";

    fn new() -> Self {
        Self(Arena::new())
    }

    fn reset(&mut self) {
        self.0 = Arena::new();
    }
}

impl<T: 'static> Put<T> for TypedArena<T> {
    #[inline]
    fn put(&self, value: T) {
        sink::address(std::ptr::from_mut(self.0.alloc(value)).cast());
    }
}
