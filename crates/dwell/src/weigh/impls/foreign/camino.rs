//! camino: UTF-8 paths.

use crate::weigh::{Kind, Reach, Type, Walk, Weigh};
use ::camino::{Utf8Path, Utf8PathBuf};

opaque! {
    Utf8Path: Kind::Text { growable: false };
}

impl Weigh for Utf8PathBuf {
    const REACH: Reach = Reach::Heap;
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
        walk.text_block(self.as_str().as_bytes(), self.capacity());
    }
}
