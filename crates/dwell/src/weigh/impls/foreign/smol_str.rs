//! `smol_str`: strings stored inline, in a static, or in an `Arc<str>`, whose block counts once a walk.

use crate::weigh::{Kind, Type, Walk, Weigh};
use ::smol_str::SmolStr;

impl Weigh for SmolStr {
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
        if self.is_heap_allocated() && walk.is_first_at(self.as_ptr().addr()) {
            // The block of the `Arc`: two counts, then the text.
            let size = (2 * size_of::<usize>() + self.len()).next_multiple_of(align_of::<usize>());
            walk.block(size, align_of::<usize>(), 0);
            walk.text(self.as_bytes());
        }
    }
}
