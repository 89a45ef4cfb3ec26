//! bytes: estimates, since a `Bytes` does not report whether its bytes are static, owned, or a part of a larger block.

use crate::weigh::{Kind, Type, Walk, Weigh};
use ::bytes::{Bytes, BytesMut};

// Counts the visible bytes, once a walk for each start address.
impl Weigh for Bytes {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: false });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.at_least();
        if !self.is_empty() {
            walk.at_most();
            if walk.is_first_at(self.as_ptr().addr()) {
                walk.block(self.len(), 1, 0);
            }
        }
    }
}

// Counts the block of a value that was never split or advanced. A `BytesMut` does not report whether it was.
impl Weigh for BytesMut {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Text { growable: true });

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        walk.block(self.capacity(), 1, self.capacity() - self.len());
        walk.at_least();
        walk.at_most();
    }
}
