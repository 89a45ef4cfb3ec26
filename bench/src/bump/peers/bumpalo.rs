use bumpalo::Bump;
use bumpalo::collections::{String, Vec};
use std::alloc::Layout;
use std::fmt::Write;

use crate::bump::subject::{Allocates, Arena, Line, Slices, Subject, Text, Vector, line, push};
use crate::sink;

pub(in crate::bump) struct Bumpalo<const MIN_ALIGN: usize>(Bump<MIN_ALIGN>);

impl<const MIN_ALIGN: usize> Subject for Bumpalo<MIN_ALIGN> {
    const NAME: &'static str = match MIN_ALIGN {
        1 => "bumpalo 3.20.4/1",
        8 => "bumpalo 3.20.4/8",
        16 => "bumpalo 3.20.4/16",
        _ => panic!("not measured"),
    };

    fn new() -> Self {
        Self(Bump::with_min_align())
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}

impl<const MIN_ALIGN: usize> Arena for Bumpalo<MIN_ALIGN> {
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

impl<const MIN_ALIGN: usize> Slices for Bumpalo<MIN_ALIGN> {
    #[inline]
    fn collect(&self, count: usize) {
        sink::pointer::<[usize]>(self.0.alloc_slice_fill_iter(0..count));
    }
}

impl<const MIN_ALIGN: usize> Allocates for Bumpalo<MIN_ALIGN> {
    type Allocator<'a> = &'a Bump<MIN_ALIGN>;

    fn allocator(&self) -> &Bump<MIN_ALIGN> {
        &self.0
    }
}

/// bumpalo's own vector and string accept only arenas of the default alignment.
impl Vector for Bumpalo<1> {
    #[inline]
    fn push(&self, count: u64) {
        push!(Vec::new_in(&self.0), count);
    }
}

impl Text for Bumpalo<1> {
    #[inline]
    fn format(&self, line: &Line<'_>) {
        // `bumpalo::format!` does the same.
        let mut text = String::new_in(&self.0);
        line!(line, |arguments| text.write_fmt(arguments).expect("the string grows"));
        sink::pointer(text.into_bump_str());
    }

    #[inline]
    fn pieces(&self, pieces: &[&str]) {
        let mut text = String::new_in(&self.0);
        for piece in pieces {
            text.push_str(piece);
        }
        sink::pointer(text.as_str());
    }
}

/// For other alignments, the vector of allocator-api2 is measured.
impl Vector for Bumpalo<8> {
    #[inline]
    fn push(&self, count: u64) {
        push!(allocator_api2::vec::Vec::new_in(&self.0), count);
    }
}
