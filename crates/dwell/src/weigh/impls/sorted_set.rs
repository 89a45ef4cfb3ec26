//! `SortedSet`: one block with the length and the values.

use crate::sparse::{SortedSet, layout};
use crate::weigh::{Kind, MapKind, Type, Walk, Weigh, type_of};

impl<T: Weigh> Weigh for SortedSet<T> {
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Map {
        key: type_of::<T>,
        value: type_of::<()>,
        entry: size_of::<T>(),
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
        if let Ok(block) = layout::slice::<T>(len) {
            walk.block(block.size(), block.align(), 0);
        }
        walk.slots::<T>(0, len, len);
        walk.slots::<()>(1, len, len);
        walk.entries(self.iter().map(|value| (value, &())));
    }
}
