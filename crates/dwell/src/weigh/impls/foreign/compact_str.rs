//! `compact_str`: strings stored inline or in one block.

use crate::weigh::{Kind, Type, Walk, Weigh};

macro_rules! compact {
    ($String:ty) => {
        impl Weigh for $String {
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
    };
}
#[cfg(feature = "compact_str-0_9")]
compact!(::compact_str::CompactString);
#[cfg(feature = "compact_str-0_10")]
compact!(::compact_str_010::CompactString);
