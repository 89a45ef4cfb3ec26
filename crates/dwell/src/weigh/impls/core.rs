//! `core`.

use crate::weigh::{Kind, Reach, Type, Walk, Weigh, type_of};

plain! {
    u8; u16; u32; u64; u128; usize; i8; i16; i32; i64; i128; isize; f32; f64; bool; char; ();
}

impl<T: Weigh> Weigh for Option<T> {
    const REACH: Reach = T::REACH.max(Reach::Inline);
    const TYPE: &'static Type = &Type::new::<Self>(Kind::Option { some: type_of::<T> });

    #[inline]
    fn is_vacant(&self) -> bool {
        self.is_none()
    }

    #[inline]
    fn weigh<'a, 'v, const TREE: bool>(&'a self, walk: &mut Walk<'a, 'v, TREE>)
    where
        Self: 'v,
    {
        if let Some(value) = self {
            walk.field(0, value);
        }
    }
}
