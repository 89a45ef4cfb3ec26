//! `compact_str`: strings stored inline or in one block.

use crate::weigh::{Kind, Type, Walk, Weigh};
use ::compact_str::CompactString;

impl Weigh for CompactString {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: true });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_empty() && !self.is_heap_allocated()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if self.is_heap_allocated() {
            walk.block(self.capacity(), 1, self.capacity() - self.len());
        }
    }
}
