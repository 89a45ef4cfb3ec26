use bump_scope::alloc::Global;
use bump_scope::settings::{BumpAllocatorSettings, BumpSettings, True};
use bump_scope::traits::BumpAllocatorTyped;
use bump_scope::{Bump, BumpString, BumpVec};
use std::alloc::Layout;

use crate::bump::subject::{Allocates, Arena, Line, Slices, Subject, Text, Vector, line, push};
use crate::sink;

/// bump-scope with an alignment and a direction; the other settings have their defaults.
pub(in crate::bump) struct BumpScope<S: BumpAllocatorSettings>(Bump<Global, S>);
pub(in crate::bump) type Upwards<const MIN_ALIGN: usize> = BumpScope<BumpSettings<MIN_ALIGN, true>>;
pub(in crate::bump) type Downwards<const MIN_ALIGN: usize> = BumpScope<BumpSettings<MIN_ALIGN, false>>;

impl<S: BumpAllocatorSettings<GuaranteedAllocated = True> + 'static> Subject for BumpScope<S> {
    const NAME: &'static str = match (S::MIN_ALIGN, S::UP) {
        (1, true) => "bump-scope 2.4.1/up/1",
        (8, true) => "bump-scope 2.4.1/up/8",
        (16, true) => "bump-scope 2.4.1/up/16",
        (1, false) => "bump-scope 2.4.1/down/1",
        (8, false) => "bump-scope 2.4.1/down/8",
        (16, false) => "bump-scope 2.4.1/down/16",
        _ => panic!("not measured"),
    };

    fn new() -> Self {
        Self(Bump::new())
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

/// Returns plain references, as the other arenas do. A `BumpBox` would drop its value.
impl<S: BumpAllocatorSettings<GuaranteedAllocated = True> + 'static> Arena for BumpScope<S> {
    type Ref<'a, T: 'a> = &'a mut T;
    type Bytes<'a> = &'a mut [u8];

    #[inline]
    fn alloc<'a, T: 'a>(&'a self, value: T) -> &'a mut T {
        bump_scope::BumpBox::leak(self.0.alloc(value))
    }

    #[inline]
    fn copy<'a>(&'a self, bytes: &[u8]) -> &'a mut [u8] {
        bump_scope::BumpBox::leak(self.0.alloc_slice_copy(bytes))
    }

    #[inline]
    fn block(&self, layout: Layout) {
        sink::address(self.0.allocate_layout(layout).as_ptr());
    }
}

impl<S: BumpAllocatorSettings<GuaranteedAllocated = True> + 'static> Vector for BumpScope<S> {
    #[inline]
    fn push(&self, count: u64) {
        push!(BumpVec::new_in(&self.0), count);
    }
}

impl<S: BumpAllocatorSettings<GuaranteedAllocated = True> + 'static> Text for BumpScope<S> {
    #[inline]
    fn format(&self, line: &Line<'_>) {
        let text = line!(line, |arguments| self.0.alloc_fmt(arguments));
        sink::pointer::<str>(&text);
    }

    #[inline]
    fn pieces(&self, pieces: &[&str]) {
        let mut text = BumpString::new_in(&self.0);
        for piece in pieces {
            text.push_str(piece);
        }
        sink::pointer::<str>(&text);
    }
}

impl<S: BumpAllocatorSettings<GuaranteedAllocated = True> + 'static> Slices for BumpScope<S> {
    #[inline]
    fn collect(&self, count: usize) {
        sink::pointer::<[usize]>(&*self.0.alloc_iter_exact(0..count));
    }
}

impl<S: BumpAllocatorSettings<GuaranteedAllocated = True> + 'static> Allocates for BumpScope<S> {
    type Allocator<'a> = &'a Bump<Global, S>;

    fn allocator(&self) -> &Bump<Global, S> {
        &self.0
    }
}
