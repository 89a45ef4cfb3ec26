//! `Sparse`, `ThinSlice`, `ThinStr` and `SortedMap`: one word, and a block unless the value is empty.

use crate::sparse::{SortedMap, Sparse, ThinSlice, ThinStr, layout};
use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};

impl<T: Weigh> Weigh for Sparse<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Pointer { to: type_of::<T>, shared: false });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.get().is_none()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let Some(value) = self.get() else { return };
        if TREE {
            open(self, value, walk);
        } else {
            open_out_of_line(self, value, walk);
        }
    }
}

/// Weighs a value that is present. Out of line, so that a total tests for absence without a call. A tree tests it
/// before any call.
#[inline(never)]
fn open_out_of_line<'a, 'v, T: Weigh + 'v, const TREE: bool>(
    pointer: &'a Sparse<T>,
    value: &'a T,
    walk: &mut Walk<'a, 'v, TREE>,
) {
    open(pointer, value, walk);
}

#[inline]
fn open<'a, 'v, T: Weigh + 'v, const TREE: bool>(pointer: &'a Sparse<T>, value: &'a T, walk: &mut Walk<'a, 'v, TREE>) {
    walk.open(pointer, |walk| {
        walk.block(size_of::<T>(), align_of::<T>(), 0);
        walk.pointee_here(value);
    });
}

impl<T: Weigh> Weigh for ThinSlice<T> {
    const TYPE: &'static Type =
        &Type::new::<Self>(Kind::Sequence { element: type_of::<T>, growable: false, contiguous: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.is_empty() || walk.defer(self) {
            return;
        }
        if let Ok(block) = layout::slice::<T>(self.len()) {
            walk.block(block.size(), block.align(), 0);
        }
        walk.slots::<T>(0, self.len(), self.len());
        walk.elements(0, self);
    }
}

impl Weigh for ThinStr {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if !self.is_empty()
            && let Ok(block) = layout::str(self.len())
        {
            walk.block(block.size(), block.align(), 0);
            walk.text(self.as_bytes());
        }
    }
}

impl<K: Weigh, V: Weigh> Weigh for SortedMap<K, V> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<K>,
        value: type_of::<V>,
        entry: size_of::<(K, V)>(),
        map: MapKind::Sorted,
    });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let len = self.len();
        if len == 0 || walk.defer(self) {
            return;
        }
        if let Ok(block) = layout::slice::<(K, V)>(len) {
            walk.block(block.size(), block.align(), 0);
        }
        walk.slots::<K>(0, len, len);
        walk.slots::<V>(1, len, len);
        walk.entries(self);
    }
}
