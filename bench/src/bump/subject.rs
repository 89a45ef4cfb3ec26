//! The traits that subjects implement. Each peer implements them in its own file, and the workloads use only these.

use std::alloc::Layout;
use std::ops::Deref;
use std::ptr;

/// A container for values that are freed together.
pub(super) trait Subject: Sized + 'static {
    const NAME: &'static str;

    fn new() -> Self;

    /// Frees all values. Keeps the memory if the subject can.
    fn reset(&mut self);
}

/// A subject for values of one type.
pub(super) trait Put<T>: Subject {
    /// Allocates `value` and passes it to the sink. A subject without `reset` frees it again.
    fn put(&self, value: T);
}

/// A subject for values of any type.
pub(super) trait Arena: Subject {
    type Ref<'a, T: 'a>: Deref<Target = T>;
    type Bytes<'a>: Deref<Target = [u8]>;

    fn alloc<'a, T: 'a>(&'a self, value: T) -> Self::Ref<'a, T>;

    fn copy<'a>(&'a self, bytes: &[u8]) -> Self::Bytes<'a>;

    /// Allocates a block of `layout` and passes it to the sink. A subject without `reset` frees the block again.
    fn block(&self, layout: Layout);
}

impl<A: Arena, T> Put<T> for A {
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the loop around it is measured, not a call")]
    fn put(&self, value: T) {
        crate::sink::address(ptr::from_ref(&*self.alloc(value)).cast());
    }
}

/// A subject with a growing vector.
pub(super) trait Vector: Subject {
    /// Pushes the numbers below `count` one by one and passes the vector to the sink.
    fn push(&self, count: u64);
}

/// The body of [`Vector::push`] for a given vector.
macro_rules! push {
    ($vector:expr, $count:expr) => {{
        let mut vector = $vector;
        for number in 0..$count {
            vector.push(number);
            $crate::sink::word(number); // keeps the compiler from replacing the loop
        }
        $crate::sink::pointer::<[u64]>(&vector);
    }};
}
pub(super) use push;

/// A subject that allocates slices from iterators of known length.
pub(super) trait Slices: Subject {
    /// Collects the numbers below `count` into a slice and passes it to the sink.
    fn collect(&self, count: usize);
}

/// The values to format: as a typical key, or with all kinds of arguments that `fmt` supports.
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    pub(super) number: u64,
    pub(super) all_kinds: bool,
}

/// A subject with `format!`.
pub(super) trait Text: Subject {
    /// Formats a line and passes the text to the sink.
    fn format(&self, line: &Line<'_>);

    /// Pushes the pieces to a string one by one and passes the string to the sink.
    fn pieces(&self, pieces: &[&str]);
}

/// Evaluates `$write` with the format arguments of a line.
macro_rules! line {
    ($line:expr, |$arguments:ident| $write:expr) => {{
        let $crate::bump::subject::Line { name, number, all_kinds } = $line;
        let (third, low, pair) = (number / 3, number & 0xff, (number, name));
        if *all_kinds {
            match format_args!("{name}-{number}: [{pair:?}, {third}, {low:#06x}] = \"{name}\" and {all_kinds}") {
                $arguments => $write,
            }
        } else {
            match format_args!("{name}-{number}/{third}.{low}") {
                $arguments => $write,
            }
        }
    }};
}
pub(super) use line;

/// A subject that implements the trait `Allocator`.
pub(super) trait Allocates: Subject {
    type Allocator<'a>: allocator_api2::alloc::Allocator + Copy;

    fn allocator(&self) -> Self::Allocator<'_>;
}
