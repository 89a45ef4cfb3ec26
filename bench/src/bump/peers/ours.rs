use dwell::{Bump, bump};
use std::alloc::Layout;

use crate::bump::subject::{Allocates, Arena, Line, Slices, Subject, Text, Vector, line, push};
use crate::sink;

pub(in crate::bump) struct Dwell<const MIN_ALIGN: usize>(Bump<MIN_ALIGN>);

impl<const MIN_ALIGN: usize> Subject for Dwell<MIN_ALIGN> {
    const NAME: &'static str = match MIN_ALIGN {
        1 => "dwell/1",
        8 => "dwell",
        16 => "dwell/16",
        _ => panic!("not measured"),
    };

    fn new() -> Self {
        Self(Bump::with_min_align())
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

impl<const MIN_ALIGN: usize> Arena for Dwell<MIN_ALIGN> {
    type Ref<'a, T: 'a> = &'a mut T;
    type Bytes<'a> = &'a mut [u8];

    #[inline]
    fn alloc<'a, T: 'a>(&'a self, value: T) -> &'a mut T {
        self.0.alloc(value)
    }

    #[inline]
    fn copy<'a>(&'a self, bytes: &[u8]) -> &'a mut [u8] {
        self.0.alloc_slice_copy(bytes)
    }

    #[inline]
    fn block(&self, layout: Layout) {
        sink::address(self.0.alloc_layout(layout).as_ptr());
    }
}

impl<const MIN_ALIGN: usize> Vector for Dwell<MIN_ALIGN> {
    #[inline]
    fn push(&self, count: u64) {
        push!(bump::Vec::new_in(&self.0), count);
    }
}

impl<const MIN_ALIGN: usize> Text for Dwell<MIN_ALIGN> {
    #[inline]
    fn format(&self, line: &Line<'_>) {
        let text = line!(line, |arguments| self.0.alloc_fmt(arguments));
        sink::pointer::<str>(text);
    }

    #[inline]
    fn pieces(&self, pieces: &[&str]) {
        let mut text = bump::String::new_in(&self.0);
        for piece in pieces {
            text.push_str(piece);
        }
        sink::pointer::<str>(&text);
    }
}

impl<const MIN_ALIGN: usize> Slices for Dwell<MIN_ALIGN> {
    #[inline]
    fn collect(&self, count: usize) {
        sink::pointer::<[usize]>(self.0.alloc_iter(0..count));
    }
}

impl<const MIN_ALIGN: usize> Allocates for Dwell<MIN_ALIGN> {
    type Allocator<'a> = &'a Bump<MIN_ALIGN>;

    fn allocator(&self) -> &Bump<MIN_ALIGN> {
        &self.0
    }
}
