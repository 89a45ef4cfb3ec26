//! bumpalo: the chunks of an arena. The values in them count at their owners.

use crate::weigh::{Kind, Type, Walk, Weigh};
use ::bumpalo::Bump;

/// The size of the footer of each chunk.
const FOOTER: usize = (6 * size_of::<usize>()).next_multiple_of(16);

impl Weigh for Bump {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Opaque);

    #[inline]
    fn is_vacant(&self) -> bool {
        self.allocated_bytes() == 0
    }

    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        let (bytes, all) = (self.allocated_bytes(), self.allocated_bytes_including_metadata());
        let chunks = (all - bytes) / FOOTER;
        if chunks == 0 {
            return;
        }
        // The sizes differ, but only their sum is known. All chunks but one count with the mean size, which affects
        // only an allocator model.
        let each = all / chunks;
        walk.blocks(each, 16, chunks - 1, 0);
        walk.block(all - each * (chunks - 1), 16, self.chunk_capacity());
    }
}
