//! `alloc`.

use crate::weigh::{Kind, Type, Walk, Weigh, type_of};
use std_alloc::boxed::Box;
use std_alloc::string::String;
use std_alloc::vec::Vec;

impl Weigh for String {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.block(self.capacity(), 1, self.capacity() - self.len());
    }
}

impl<T: Weigh> Weigh for Vec<T> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: true, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.capacity() == 0
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.puts_off(self) {
            return;
        }
        let (size, len) = (size_of::<T>(), self.len());
        // Of a zero-sized type there are as many places as there is use for.
        let capacity = if size == 0 { len } else { self.capacity() };
        walk.block(capacity * size, align_of::<T>(), (capacity - len) * size);
        walk.places::<T>(0, capacity, len);
        walk.elements(0, self);
    }
}

impl<T: Weigh + ?Sized> Weigh for Box<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if walk.puts_off(self) {
            return;
        }
        walk.block(size_of_val::<T>(self), align_of_val::<T>(self), 0);
        walk.pointee::<T>(self);
    }
}
