use blink_alloc::Blink;
use std::alloc::Layout;

use crate::bump::subject::{Arena, Subject, Vector, push};
use crate::sink;

/// blink-alloc has no `format!`, and implements the `Allocator` of another allocator-api2 than hashbrown uses.
pub(in crate::bump) struct BlinkAlloc(Blink);

impl Subject for BlinkAlloc {
    const NAME: &'static str = "blink-alloc 0.4.0";

    fn new() -> Self {
        Self(Blink::new())
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

impl Arena for BlinkAlloc {
    type Ref<'a, T: 'a> = &'a mut T;
    type Bytes<'a> = &'a mut [u8];

    #[inline]
    fn alloc<'a, T: 'a>(&'a self, value: T) -> &'a mut T {
        self.0.put_no_drop(value)
    }

    #[inline]
    fn copy<'a>(&'a self, bytes: &[u8]) -> &'a mut [u8] {
        self.0.copy_slice(bytes)
    }

    #[inline]
    fn block(&self, layout: Layout) {
        let block = self.0.allocator().allocate(layout).expect("memory");
        sink::address(block.as_ptr().cast());
    }
}

impl Vector for BlinkAlloc {
    #[inline]
    fn push(&self, count: u64) {
        push!(allocator_api2_04::vec::Vec::new_in(self.0.allocator()), count);
    }
}
