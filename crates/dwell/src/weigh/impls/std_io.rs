//! `Weigh` for the types of `std::io` and the channels of `std::sync::mpsc`.

use crate::weigh::{Kind, Type, Walk, Weigh, type_of};
use std::boxed::Box;
use std::error::Error;
use std::io::{self, BufReader, BufWriter, Cursor, ErrorKind, LineWriter};
use std::sync::mpsc::{Receiver, Sender, SyncSender};

plain! {
    io::Empty; io::Repeat; io::Sink; io::Stderr; io::Stdin; io::Stdout;
}

/// A struct with the size and alignment of the block that an `io::Error` with a custom error points to.
#[expect(dead_code, reason = "only its layout is asked for")]
struct Custom {
    kind: ErrorKind,
    error: Box<dyn Error + Send + Sync>,
}

/// Counts the blocks of the error, but not the memory that the inner error owns.
impl Weigh for io::Error {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    #[inline]
    fn is_vacant(&self) -> bool {
        self.get_ref().is_none()
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if let Some(error) = self.get_ref() {
            walk.block(size_of::<Custom>(), align_of::<Custom>(), 0);
            walk.block(size_of_val(error), align_of_val(error), 0);
            if size_of_val(error) != 0 {
                walk.at_least();
            }
        }
    }
}

impl<R: Weigh> Weigh for BufReader<R> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<R> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.block(self.capacity(), 1, self.capacity() - self.buffer().len());
        walk.field(0, self.get_ref());
    }
}

impl<W: io::Write + Weigh> Weigh for BufWriter<W> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<W> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.block(self.capacity(), 1, self.capacity() - self.buffer().len());
        walk.field(0, self.get_ref());
    }
}

/// Counts no buffer, since a `LineWriter` does not report the capacity.
impl<W: io::Write + Weigh> Weigh for LineWriter<W> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Wrapper { inner: type_of::<W> });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.at_least();
        walk.field(0, self.get_ref());
    }
}

fields! {
    [T: Weigh] Cursor<T> {
        0 "inner": T = |cursor| cursor.get_ref(),
    }
}

/// Implements `Weigh` for both ends of a channel. They are opaque: the queued values cannot be read.
macro_rules! channels {
    ($($ty:ident)*) => {$(
        impl<T> Weigh for $ty<T> {
            const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

            fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
            where
                Self: 'v,
            {
                walk.opaque();
            }
        }
    )*};
}

channels!(Receiver Sender SyncSender);
